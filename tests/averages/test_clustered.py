"""Standard errors of rows in clusters: the specification's case, and blocks of any size."""

import json
from pathlib import Path

import numpy as np
import pytest
from cluster_case import DF, ERROR, LABELS, D
from doors import by_words

import toplist as tl
from toplist import parallel

CASES = Path(__file__).resolve().parents[3] / "shared" / "stats" / "next" / "cases.json"


def test_the_specification_says_so():
    if not CASES.exists():
        pytest.skip("needs ../shared, which stands beside the repository")
    case = json.loads(CASES.read_text())["clusters"]
    assert [case["error"], case["df"]] == pytest.approx([ERROR, DF], abs=1e-10)
    a, b = np.array(D) + 0.3, np.full(12, 0.3)
    found = tl.inference.paired_tests({"b": b, "a": a}, baseline="b", clusters=LABELS)["a", "value"]
    for name in ("difference", "error", "df", "p", "low", "high"):
        assert getattr(found, name) == pytest.approx(case[name], rel=1e-9)


@pytest.mark.parametrize("size", [1, 7, 40, 1000])
def test_no_figure_depends_on_the_blocks(monkeypatch, size):
    rng = np.random.default_rng(0)
    n = 60
    labels = np.sort(rng.integers(0, 6, n)) * (np.arange(n) > 25)  # one of many blocks
    ranks = [rng.permutation(9)[:5].tolist() for _ in range(n)]
    truths = [set(rng.integers(0, 9, 2).tolist()) for _ in range(n)]
    options = {"k": 5, "metrics": ["ndcg", "precision"], "clusters": labels}
    expected = by_words(ranks, truths, n_threads=1, **options).interval("ndcg")
    plain = parallel.bounds
    monkeypatch.setattr(parallel, "bounds", lambda work, *_: plain(work, size))
    found = by_words(ranks, truths, **options).interval("ndcg")
    assert np.allclose(found, expected, rtol=1e-13)
