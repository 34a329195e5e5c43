"""Edges where a number was silently wrong: scores, ties, columns, grades, matrices, extremes."""

import sys
from decimal import Decimal

import numpy as np
import pytest

import toplist as tl

T = 1_700_000_000_000_000_000  # nanoseconds: beyond 2^53 neighbours are one float


def library(name):
    return pytest.importorskip(name)


def frame_of(name, columns):
    if name == "pyarrow":
        return library("pyarrow").table(columns)
    return library(name).DataFrame(columns)


LIBRARIES = ["pandas", "polars", "pyarrow"]


def ranks_of(table, truth="new"):
    return tl.match(table, {"u": {truth}}).ranks.tolist()


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("shuffled", [False, True])
def test_a4_integer_scores_keep_their_order(name, shuffled):
    users, items, scores = ["u", "u", "v"], ["old", "new", "old"], [T, T + 100, T]
    if shuffled:
        users, items, scores = ["u", "v", "u"], ["old", "old", "new"], [T, T, T + 100]
    table = frame_of(name, {"user_id": users, "item_id": items, "score": scores})
    assert ranks_of(table) == [1]


@pytest.mark.parametrize(
    ("scores", "dtype"),
    [
        ([2**64 - 2, 2**64 - 1], "uint64"),
        ([5, 2**63], "uint64"),
        ([-(2**63), -(2**63) + 1], "int64"),
        ([T, T + 1], "Int64"),
    ],
)
def test_a4_integers_at_their_limits(scores, dtype):
    pandas = library("pandas")
    table = pandas.DataFrame({"user_id": ["u", "u"], "item_id": ["old", "new"]})
    table["score"] = pandas.array(scores, dtype=dtype)
    assert ranks_of(table) == [1]
    table["score"] = table["score"].to_numpy()[::-1]
    assert ranks_of(table) == [2]


def test_a4_scores_in_lists():
    pandas, polars = library("pandas"), library("polars")
    columns = {"user_id": ["u"], "item_id": [["old", "new"]], "score": [[T, T + 100]]}
    assert ranks_of(pandas.DataFrame(columns)) == [1]
    assert ranks_of(polars.DataFrame(columns)) == [1]
    columns["score"] = [[-1, 2**63 + 1]]  # numpy makes floats of these
    assert ranks_of(pandas.DataFrame(columns)) == [1]
    columns["score"] = [[2**63, 2**63 + 1]]
    assert ranks_of(pandas.DataFrame(columns)) == [1]
    columns["score"] = [[2.0**63, 2**63 + 1]]
    assert ranks_of(pandas.DataFrame(columns)) == [1]


@pytest.mark.parametrize("name", LIBRARIES)
def test_a4_decimals(name):
    scores = [Decimal("1.00000000000000000001"), Decimal("1.00000000000000000002")]
    columns = {"user_id": ["u", "u"], "item_id": ["old", "new"], "score": scores}
    assert ranks_of(frame_of(name, columns)) == [1]


def test_a4_integers_of_128_bits():
    polars = library("polars")
    table = polars.DataFrame({"user_id": ["u", "u"], "item_id": ["old", "new"]})
    score = polars.Series("score", [2**70, 2**70 + 1], dtype=polars.Int128)
    assert ranks_of(table.with_columns(score)) == [1]
    assert ranks_of(table.with_columns(score.reverse())) == [2]


def test_a4_long_lists_with_ties_keep_their_order():
    pandas = library("pandas")
    n = 40
    scores = [T + i // 10 for i in range(n)]
    table = pandas.DataFrame({"user_id": ["u"] * n, "item_id": range(n), "score": scores})
    expected = [i for top in (30, 20, 10, 0) for i in range(top, top + 10)]
    found = [tl.match(table, {"u": {i}}).ranks.tolist()[0] for i in expected]
    assert found == list(range(1, n + 1))
    reverse = table[::-1].reset_index(drop=True)
    assert tl.match(reverse, {"u": {39}}).ranks.tolist() == [1]


TIED = {
    "user_id": ["v", "u", "u", "v", "u", "u"],
    "item_id": ["10", "9", "10", "9", "2", "é"],
    "score": [1.0, 0.5, 0.5, 1.0, 0.7, 0.5],
}


def listed(table, ties, items, user="u"):
    hits = [tl.match(table, {user: {item}}, ties=ties) for item in items]
    return [item for _, item in sorted((h.ranks.tolist()[0], i) for h, i in zip(hits, items))]  # noqa: B905


@pytest.mark.parametrize("name", LIBRARIES)
def test_ties_by_item(name):
    table = frame_of(name, TIED)
    items = ["2", "9", "10", "é"]
    assert listed(table, "order", items) == ["2", "9", "10", "é"]
    assert listed(table, "item", items) == ["2", "10", "9", "é"]
    assert listed(table, "item_desc", items) == ["2", "é", "9", "10"]
    assert listed(table, "item", ["9", "10"], "v") == ["10", "9"]


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int8"])
def test_ties_of_numbers_by_number(dtype):
    pandas = library("pandas")
    table = pandas.DataFrame(TIED | {"item_id": np.array([10, 9, 10, 9, 2, 100], dtype)})
    assert listed(table, "item", [2, 9, 10, 100]) == [2, 9, 10, 100]
    assert listed(table, "item_desc", [2, 9, 10, 100]) == [2, 100, 10, 9]


def test_ties_of_integer_scores_and_of_zeros():
    pandas = library("pandas")
    table = pandas.DataFrame({"user_id": [1] * 3, "item_id": [3, 1, 2], "score": [T, T, T + 1]})
    assert tl.match(table, {1: {1}}, ties="item").ranks.tolist() == [2]
    table["score"] = [0.0, -0.0, -1.0]
    assert tl.match(table, {1: {1}}, ties="item").ranks.tolist() == [1]
    scores = {"user_id": [1] * 2, "item_id": [3, 1], "score": [0.0, float("nan")]}
    with pytest.raises(ValueError, match="user 1 has a score that is NaN"):
        tl.match(library("polars").DataFrame(scores), {1: {1}}, ties="item")


def test_ties_in_lists_and_where_nothing_ties():
    pandas, polars = library("pandas"), library("polars")
    columns = {"user_id": ["u"], "item_id": [[3, 1, 2]], "score": [[1.0, 1.0, 2.0]]}
    for table in (pandas.DataFrame(columns), polars.DataFrame(columns)):
        assert tl.match(table, {"u": {1}}, ties="item").ranks.tolist() == [2]
        assert tl.match(table, {"u": {1}}, ties="order").ranks.tolist() == [3]
    for ranks in ({"u": [3, 1]}, pandas.DataFrame({"user_id": ["u"] * 2, "item_id": [3, 1],
                                                   "rank": [1, 2]})):  # fmt: skip
        assert tl.match(ranks, {"u": {1}}, ties="item_desc").ranks.tolist() == [2]
    with pytest.raises(ValueError, match="ties='id': choose from 'order', 'item', 'item_desc'"):
        tl.match([[1]], [{1}], ties="id")


def test_d2_columns_by_side():
    pandas = library("pandas")
    recs = pandas.DataFrame({"userId": ["u"], "movieId": ["a"], "rank": [1]})
    truth = pandas.DataFrame({"user_id": ["u"], "item_id": ["a"]})
    columns = {"ranks": {"user_id": "userId", "item_id": "movieId"}}
    assert tl.match(recs, truth, columns=columns).ranks.tolist() == [1]
    back = truth.rename(columns={"user_id": "userId"})
    columns["user_id"] = "userId"  # of both sides, unless a side says otherwise
    assert tl.match(recs, back, columns=columns).ranks.tolist() == [1]
    assert tl.beyond.item_coverage(recs, columns=columns, catalogue=["a"]).tolist() == [1.0]


def test_d2_the_error_shows_the_side():
    pandas = library("pandas")
    recs = pandas.DataFrame({"userId": ["u"], "movieId": ["a"], "rank": [1]})
    truth = pandas.DataFrame({"user_id": ["u"], "item_id": ["a"]})
    with pytest.raises(ValueError, match=r"columns=\{'ranks': \{'user_id': 'NAME'\}\} names"):
        tl.match(recs, truth)
    with pytest.raises(ValueError, match=r"columns=\{'ground_truths': \{'user_id': 'NAME'\}\}"):
        tl.match(recs, truth, columns={"user_id": "userId", "item_id": "movieId"})
    with pytest.raises(ValueError, match="columns: 'item' is none of user_id"):
        tl.match(recs, truth, columns={"ranks": {"item": "movieId"}})
    with pytest.raises(ValueError, match="columns: 'recs' is none of .*'ranks'"):
        tl.match(recs, truth, columns={"recs": {"item_id": "movieId"}})
    with pytest.raises(TypeError, match="columns: 'ranks' is a side: give a dict"):
        tl.match(recs, truth, columns={"ranks": "movieId"})
