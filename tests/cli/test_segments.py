"""toplist eval --segments FILE:COLUMN."""

import csv
import io
import json
from pathlib import Path

import pytest


@pytest.fixture
def split(files, cli):
    """Evaluate three users by the segments of an option."""
    for name, text in (
        ("users", "u1,UK\nu2,FR\nu4,\nu9,UK\n"),
        ("other", "x,UK\n"),
        ("twice", "u1,UK\nu1,FR\n"),
    ):
        Path(f"{name}.csv").write_text(f"user_id,country\n{text}")
    return lambda *option: cli(
        *("eval", "recs.csv", "truth.csv", "-k", 2, "-m", "hit", "--segments", *option)
    )


def test_segments_on_the_command_line(split):
    status, out, _ = split("users.csv:country")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()[1:5]] == ["FR", "UK", "(no", "all"]
    assert "1 label of users who are not in the result" in out
    _, out, _ = split("users.csv:country", "--format", "json")
    content = json.loads(out)
    assert [(one["segment"], one["values"]["hit@2"]) for one in content["segments"]] == [
        *(("FR", 0), ("UK", 1), (None, 0))
    ]
    assert content["n_users"] == sum(one["n_users"] for one in content["segments"])
    _, out, _ = split("users.csv:country", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["segment"], row["n"]) for row in rows] == [("FR", "1"), ("UK", "1"), ("", "1")]
    assert split("more.csv:rank")[0] == 0  # of any file with a row by user


def test_what_does_not_split_is_told(files, good):
    Path("items.csv").write_text("item_id\na\nb\nc\nd\ne\n")
    asked = "-m", "hit@2", "item_coverage@2", "--catalogue", "items.csv"
    out = good("eval", "recs.csv", "truth.csv", *asked, "--segments", "users.csv:country")
    assert "of all lists together, left out: item_coverage" in out


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("users.csv:age", "users.csv: no column 'age'; columns found: ['user_id', 'country']"),
        ("none.csv:age", "none.csv: No such file"),
        ("other.csv:country", "other.csv: has none of the users of the result; it has 'x'"),
        ("twice.csv:country", "user 'u1' has two labels, 'UK' and 'FR'"),
    ],
)
def test_bad_segments_are_one_line(split, option, message):
    status, _, err = split(option)
    assert status == 1 and message in err and err.count("\n") == 1


@pytest.fixture
def by_item(files, cli):
    """Evaluate three users by slices of the items."""
    for name, text in (("items", "a,x\nb,y\nd,\nq,x\n"), ("twice", "a,x\na,y\n"), ("n", "1,x\n")):
        Path(f"{name}.csv").write_text(f"item_id,genre\n{text}")
    return lambda option, *more, recs=("recs.csv", "truth.csv"): cli(
        *("eval", *recs, "-k", 2, "-m", "hit", "--item-segments", option, *more)
    )


def test_slices_of_items_on_the_command_line(by_item):
    status, out, _ = by_item("items.csv:genre", "--every-metric")
    assert status == 0
    assert [line.split()[:2] for line in out.splitlines()[1:5]] == [
        *(["x", "1"], ["y", "1"], ["(no", "label)"], ["all", "3"])
    ]
    assert "1 label of items that are relevant to no user (unused)" in out
    _, out, _ = by_item("items.csv:genre", "--format", "json")
    found = json.loads(out)["segments"]
    assert [(one["segment"], one["values"]["hit@2"]) for one in found] == [
        *(("x", 0), ("y", 1), (None, 0))
    ]
    several = "recs.csv", "more.csv", "truth.csv"
    _, out, _ = by_item("items.csv:genre", "--format", "csv", recs=several)
    rows = [
        (row["system"], row["segment"], row["mean"]) for row in csv.DictReader(io.StringIO(out))
    ]
    assert rows[:4] == [
        *(("recs", "x", "0.0"), ("recs", "y", "1.0"), ("recs", "", "0.0"), ("more", "x", "1.0"))
    ]


def test_items_that_are_numbers_in_the_lists_are_so_in_the_labels(by_item):
    Path("r.jsonl").write_text('{"user_id": 1, "item_id": [1, 2]}\n')
    Path("t.jsonl").write_text('{"user_id": 1, "item_id": [1, 3]}\n')
    _, out, _ = by_item("n.csv:genre", "--format", "csv", recs=("r.jsonl", "t.jsonl"))
    assert [line.split(",")[:4] for line in out.splitlines()[1:]] == [
        *(["x", "hit", "2", "1.0"], ["", "hit", "2", "0.0"])
    ]
    _, _, err = by_item("items.csv:genre", recs=("r.jsonl", "t.jsonl"))
    assert "items.csv: the ids of the lists are numbers, but not all ids here are" in err


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("items.csv:age", "items.csv: no column 'age'; columns found: ['item_id', 'genre']"),
        ("n.csv:genre", "n.csv: no relevant item has a label: there is '1' in labels"),
        ("twice.csv:genre", "twice.csv: item 'a' has two labels, 'x' and 'y'"),
    ],
)
def test_bad_slices_are_one_line(by_item, option, message):
    status, _, err = by_item(option)
    assert status == 1 and message in err and err.count("\n") == 1


def test_slices_are_checked_before_files_are_read(by_item):
    for more, message in (
        (("--segments", "users.csv:country"), "--segments splits the users, --item-segments the"),
        (("-o", "items.csv"), "--out items.csv would overwrite an input file"),
    ):
        status, _, err = by_item("items.csv:genre", *more)
        assert status == 2 and message in err
    assert "--item-segments 'items.csv': write FILE:COLUMN" in by_item("items.csv")[2]
