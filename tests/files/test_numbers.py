"""Numbers in files of text: which cells are numbers, and that scores and ranks stay exact."""

import re

import numpy as np
import pytest
from file_helpers import both, fault, faults, jsonl, write_parquet

from toplist.files import batches, numbers, read_ranks, read_truths, tables
from toplist.inputs.texts import Texts

BAD = [
    *("1_0", "１", "٣", "1_000", "0x1", "inf", "-inf", "nan", "1e400", "1,5"),
    *("", "1 0", "\u00a01", "1\n", "high"),
]


@pytest.mark.parametrize("cell", BAD)
def test_cells_that_are_no_numbers(put, cell):
    """One rule for ranks, scores, grades, counts, features and predictions."""
    quoted, shown = f'"{cell}"', re.escape(repr(cell))
    line = 4 if "\n" in cell else 3
    for name in ("rank", "score"):
        for kind, comma in (("csv", ","), ("tsv", "\t")):
            text = f"user_id,item_id,{name}\nu,b,1\nu,a,".replace(",", comma) + f"{quoted}\n"
            error = fault(read_ranks, put(f"a.{kind}", text))
            assert error.startswith(f"a.{kind}:{line}: {name} {cell!r} is not a number")
    path = put("b.csv", f"user_id,item_id,relevance\nu,a,{quoted}\n")
    error = fault(read_truths, path)
    assert re.match(rf"b.csv:[23]: relevance {shown} is not a finite number", error)
    for kind, name in (("counts", "count"), ("numbers", "f")):
        path = put("c.csv", f"item_id,{name}\nb,1\na,{quoted}\n")
        assert re.match(rf"c.csv:[34]: {name} .* is not a number", fault(tables.facts, path, kind))
    if cell.strip() == cell and cell and " " not in cell:
        run, qrels = put("a.run", f"u Q0 a 1 {cell} t\n"), put("a.qrels", f"u 0 a {cell}\n")
        assert fault(read_ranks, run).startswith(f"a.run:1: score {cell!r} is not a number")
        expected = f"a.qrels:1: relevance {cell!r} is not a finite number"
        assert fault(read_truths, qrels).startswith(expected)


def test_grades_may_be_negative(put):
    truths = read_truths(put("a.csv", "user_id,item_id,relevance\nu,a,-1\nu,b,1\n"))
    assert truths == {"u": {"a": -1, "b": 1}}


@pytest.mark.parametrize("value", ["1.5", "1_0", None, True, [1], {}, 10**400])
def test_numbers_of_jsonl(put, value):
    for read, name in ((read_ranks, "score"), (read_truths, "relevance")):
        path = put("a.jsonl", jsonl({"user_id": 1, "item_id": 2, name: value}))
        error = fault(read, path)
        assert error.startswith(f"a.jsonl:1: {name} ") and "number" in error
    path = put("a.jsonl", jsonl({"user_id": 1, "item_id": 2, "score": "1.5"}))
    assert fault(read_ranks, path) == """a.jsonl:1: score '"1.5"' is not a number"""


@pytest.mark.parametrize(
    ("cell", "number"),
    [("1e2", 100), (" 1 ", 1), ("+.5", 0.5), ("5.", 5), ("007", 7), ("\t-0", 0)],
)
def test_numbers_that_stay(put, cell, number):
    assert numbers.parse(cell) == number
    path = put("a.csv", f"item_id,count\na,{cell}\n")
    assert tables.numbers(path, "count", [cell]).tolist() == [number]


def test_the_way_to_write_a_number(put):
    error = fault(read_ranks, put("a.csv", "user_id,item_id,score\nu,a,1_0\n"))
    assert error.endswith("'1_0' is not a number: write ASCII digits, as in 12, -0.5 or 1e-3")


@pytest.mark.parametrize(
    ("ranks", "found"),
    [
        ([0, 1], "has ranks 0, 1 where 1 to 2 belong, each once; ranks start at 1"),
        ([1, 0, 2], "has ranks 0, 1, 2 where 1 to 3 belong, each once; ranks start at 1"),
        ([1, 1], "has ranks 1, 1 where 1 to 2 belong, each once"),
        ([1, 2, 2], "has ranks 1, 2, 2 where 1 to 3 belong, each once"),
        ([3, 1], "has ranks 1, 3 where 1 to 2 belong, each once: where rows were left out"),
        ([2, 3], "has ranks 2, 3 where 1 to 2 belong, each once: where rows were left out"),
        ([2], "has rank"),
        ([-1, 1], "has ranks -1, 1 where 1 to 2 belong, each once"),
        ([1, 1.5], ":4: rank '1.5' is not a whole number"),
        ([1, 2.0**60], f":4: rank '{2.0**60}' is not a whole number"),
        ([1, float("inf")], ":4: rank 'inf' is not a number"),
    ],
)
def test_ranks_are_one_to_n(put, ranks, found):
    rows = "".join(f"bob,{place},{rank}\n" for place, rank in enumerate(ranks))
    path = put("a.csv", f"user_id,item_id,rank\nann,a,1\n{rows}eve,e,1\n")
    truth = put("t.csv", "user_id,item_id\nann,a\nbob,b\n")
    expected = f"a.csv{found}" if found[0] == ":" else f"a.csv:3: ranks: user 'bob' {found}"
    for error in (fault(read_ranks, path), *faults(path, truth)):
        assert error.startswith(expected)
    if found[0] != ":":
        users, items = ["ann", *["bob"] * len(ranks), "eve"], [*"abcde"][: len(ranks) + 2]
        write_parquet("a.parquet", user_id=users, item_id=items, rank=[1, *ranks, 1])
        for error in faults("a.parquet", truth):
            assert error.startswith(f"a.parquet: row 1: ranks: user 'bob' {found}")


def test_ranks_are_not_their_places_in_the_order(put):
    """Ranks 1.5 and 2^53 + 1 have the places 1 and 2 in a file with a rank of 0.5."""
    truth = put("t.csv", "user_id,item_id\na,x\nb,y\n")
    text = "user_id,item_id,rank\nb,x,0.5\na,x,1.5\na,y,9007199254740993\n"
    assert all("rank" in error for error in faults(put("r.csv", text), truth))


T = 1_700_000_000_000_000_000
TIMES = [(T, T + 100), (2**53, 2**53 + 1), (2**63 - 2, 2**63 - 1), (2**64, 2**64 + 1),
         (-(2**63), -(2**63) + 1), (2.5, 2**60), (2.0**60, 2**60 + 1), (-(2**70), 0.5),
         (-(2**53) - 1, -(2.0**53))]  # fmt: skip


@pytest.mark.parametrize(("low", "high"), TIMES)
@pytest.mark.parametrize("format", ["csv", "jsonl", "lists.jsonl", "run"])
def test_integer_scores_beyond_doubles(put, format, low, high):
    """Nanoseconds and larger, and beside fractions: in memory and in parts."""
    jsonl_row = '{"user_id":"u","item_id":%s,"score":%s}\n'
    text = {
        "csv": f"user_id,item_id,score\nu,old,{low}\nu,new,{high}\n",
        "jsonl": jsonl_row % ('"old"', low) + jsonl_row % ('"new"', high),
        "lists.jsonl": jsonl_row % ('["old","new"]', f"[{low},{high}]"),
        "run": f"u Q0 old 1 {low} t\nu Q0 new 1 {high} t\n",
    }[format]
    path, truth = put(f"a.{format}", text), put("t.csv", "user_id,item_id\nu,new\n")
    assert read_ranks(path) == {"u": ["new", "old"]}
    assert [one["mrr@1"] for one in both(path, truth, 1)] == [1.0, 1.0]


@pytest.fixture
def handed_over(monkeypatch):
    """Return the scores that are put in order."""
    from toplist.inputs import tables as inputs

    seen, by_score = [], inputs.by_score

    def put_in_order(side, scores, *others):
        seen.append(scores)
        return by_score(side, scores, *others)

    monkeypatch.setattr(inputs, "by_score", put_in_order)
    return seen


@pytest.mark.parametrize(("low", "high"), TIMES)
def test_streams_hand_over_int64_where_scores_fit(put, handed_over, low, high):
    path = put("a.csv", f"user_id,item_id,score\nu,old,{low}\nu,new,{high}\n")
    list(batches.stream_of(path, "ranks").parts((Texts(), Texts())))
    if all(isinstance(x, int) and -(2**63) <= x < 2**63 for x in (low, high)):
        assert handed_over[0].dtype == np.int64
        assert handed_over[0].tolist() == [low, high]


@pytest.mark.parametrize(
    "scores",
    [
        np.array([T, T + 100], np.int64),
        np.array([2**63 + 1, 2**63 + 2], np.uint64),
        np.array([T, T + 100], np.uint64),
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_parquet_hands_over_integers(put, handed_over, scores, nested):
    pyarrow = pytest.importorskip("pyarrow")
    column = pyarrow.array(scores)
    columns = {"user_id": ["u", "u"], "item_id": ["old", "new"], "score": column}
    if nested:
        offsets = pyarrow.array([0, 2], pyarrow.int32())
        lists = pyarrow.ListArray.from_arrays(offsets, column)
        columns = {"user_id": ["u"], "item_id": [["old", "new"]], "score": lists}
    stream = batches.stream_of(write_parquet("a.parquet", **columns), "ranks")
    list(stream.parts((Texts(), Texts())))
    stream.read_all((Texts(), Texts()))
    assert all(found.dtype.kind in "iu" for found in handed_over)
    assert all(old < new for old, new in handed_over)
