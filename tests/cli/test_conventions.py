"""toplist conventions: one list by every convention."""

import csv
import io
import json
import re

import pytest

import toplist as tl
from toplist import CONVENTIONS


@pytest.fixture
def found():
    return tl.audit.conformance([["a", "b"]], [{"b"}], 2)


CASE = "conventions", "--list", "a", "b", "--truth", "b", "-k", 2


def test_conventions_stand_with_their_value(good, found):
    out = good(*CASE)
    assert max(map(len, out.splitlines())) < 80
    metric, listed = "", {}
    for line in re.sub(r"\n {10}", " ", out).splitlines()[1:]:
        if line.startswith("  "):
            value, names = line.split(maxsplit=1)
            listed |= {(name, metric): value for name in names.split(", ")}
        else:
            metric = line.removesuffix("@2")
    assert listed == {
        (name, metric): f"{value:.4f}"
        for name, values in found.items()
        for metric, value in values.items()
    }


def test_conventions_in_whole(good, found):
    case = *CASE, "-m", "map", "ndcg"
    assert json.loads(good(*case, "--format", "json")) == {
        name: {"map@2": values.get("map"), "ndcg@2": values.get("ndcg")}
        for name, values in found.items()
    }
    rows = list(csv.DictReader(io.StringIO(good(*case, "--format", "csv"))))
    assert [row["convention"] for row in rows] == list(CONVENTIONS)
    assert [row["map@2"] for row in rows] == [str(one.get("map", "")) for one in found.values()]
    lines = good(*case, "--format", "markdown").splitlines()
    assert lines[:3] == [
        "| convention | map@2 | ndcg@2 |",
        "| --- | ---: | ---: |",
        f"| standard | 0.5000 | {found['standard']['ndcg']:.4f} |",
    ]
    assert len(lines) == 2 + len(CONVENTIONS)


@pytest.mark.parametrize(
    ("name", "metrics"),
    [
        ("xgboost", ["precision", "map", "ndcg"]),
        ("kaggle", ["precision", "recall", "map", "ndcg"]),
        ("standard", ["hit", "precision", "recall", "map", "ndcg", "mrr"]),
    ],
)
def test_the_default_metrics_are_those_that_a_convention_has(files, good, name, metrics):
    ask = "eval", "recs.csv", "truth.csv", "-k", 2, "--convention", name, "--format", "json"
    assert list(json.loads(good(*ask))["values"]) == [f"{one}@2" for one in metrics]
