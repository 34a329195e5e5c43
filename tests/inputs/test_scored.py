"""Scores that order lists: exactly, whatever their type, with ties as asked."""

import re
from decimal import Decimal

import numpy as np
import pytest
from shared_inputs import LIBRARIES, frame_of, library

import toplist as tl
from toplist import loo
from toplist import scores as tls
from toplist.kernels import grouping


@pytest.mark.parametrize(
    "scores",
    [np.array([-(2**63), 3, 3]), np.array([0, 2**63, 2**63], np.uint64)],
    ids=["int64", "uint64"],
)
def test_the_least_integer_score_is_the_last(scores):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"user_id": 1, "item_id": [5, 7, 6], "score": scores})
    for ties, item in (("item", 6), ("item_desc", 7), ("order", 7)):
        assert tl.match(frame, {1: [5]}, ties=ties).ranks.tolist() == [3]
        assert tl.match(frame, {1: [item]}, ties=ties).ranks.tolist() == [1]


T = 1_700_000_000_000_000_000


def test_integer_scores_are_compared_as_integers():
    for dtype, low in ((np.int64, T), (np.uint64, 2**63 + 5), (np.int64, -(2**63))):
        scores = np.array([[low, low + 100, low + 1]], dtype)
        assert tls.top_k(scores, 3)[0].tolist() == [1, 2, 0]
        assert tls.dcg(scores, relevance=[[0, 1, 0]]).tolist() == [[1, 1, 1]]
        assert tls.ndcg(scores, relevance=[[0, 0, 1]], k=1).tolist() == [[0]]
        assert loo.ranks_of(scores, [2], ties="order").tolist() == [2]
        assert loo.sampled_ranks(scores, [0], n=2).ranks.tolist() == [3]
    assert tls.top_k([[2**53 + 1, 2**53]], 2)[0].tolist() == [0, 1]
    assert tls.top_k([[2**63, -1, 2**63 + 1]], 3)[0].tolist() == [2, 0, 1]
    assert tls.top_k([[2**80, 2**80 + 1, 0.5]], 3)[0].tolist() == [1, 0, 2]
    assert tls.top_k([[2**53, 2**53 + 1, -np.inf]], 3)[0].tolist() == [1, 0]


def test_integers_order_lists_of_a_table():
    scores = np.array([T, T + 100, T + 1, -(2**63), 2**63 - 1, 0])
    offsets, items = np.array([0, 3, 6]), np.arange(6)
    assert not grouping.scores_in_order(scores, offsets, False)
    assert grouping.sort_by_score(offsets, scores, items) == -1
    assert items.tolist() == [1, 2, 0, 4, 5, 3]
    assert grouping.scores_in_order(scores[items], offsets, False)


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_ties_keep_the_order_of_the_table_in_long_lists(dtype):
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 4, 600).astype(dtype)
    offsets, items = np.array([0, 100, 600]), np.arange(600)
    grouping.sort_by_score(offsets, scores, items)
    expected = [
        *sorted(range(100), key=lambda i: -scores[i]),
        *sorted(range(100, 600), key=lambda i: -scores[i]),
    ]
    assert items.tolist() == expected


@pytest.mark.parametrize("grouped", [True, False])
def test_ties_of_long_lists_in_frames_and_streams(tmp_path, grouped):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    users, items = np.repeat(np.arange(3), 200), np.tile(np.arange(200), 3)
    order = np.arange(600) if grouped else rng.permutation(600)
    frame = pandas.DataFrame(
        {"user_id": users, "item_id": items, "score": rng.integers(0, 3, 600)}
    ).iloc[order]
    wanted = frame.sort_values("score", ascending=False, kind="stable")
    lists = {user: part["item_id"].tolist() for user, part in wanted.groupby("user_id")}
    truth = {user: [5, 50, 150, 199] for user in range(3)}
    expected = tl.top_k_eval(lists, truth, k=200).per_user("map")
    pairs = [(user, item) for user, row in truth.items() for item in row]
    truths = pandas.DataFrame(pairs, columns=["user_id", "item_id"])
    assert np.array_equal(tl.top_k_eval(frame, truths, k=200).per_user("map"), expected)
    if grouped:
        frame.to_csv(tmp_path / "lists.csv", index=False)
        truths.to_csv(tmp_path / "truth.csv", index=False)
        found = tl.top_k_eval(tmp_path / "lists.csv", tmp_path / "truth.csv", k=200)
        assert found["map"].tolist() == tl.top_k_eval(lists, truth, k=200)["map"].tolist()


@pytest.mark.parametrize("name", ["dcg", "ndcg"])
def test_relevance_is_named(name):
    function = getattr(tls, name)
    line = re.escape(f"scores.{name}(scores, relevance=relevance)")
    with pytest.raises(TypeError, match=f"keyword only, since sklearn.*reverse order.*{line}"):
        function([[3, 1]], [[1, 0]])
    with pytest.raises(TypeError, match="relevance=relevance, k=10"):
        function([[3, 1]], [[1, 0]], 2)
    with pytest.raises(TypeError, match="needs the grades"):
        function([[3, 1]])


T = 1_700_000_000_000_000_000  # nanoseconds: beyond 2^53 neighbours are one float


def ranks_of(table, truth="new"):
    return tl.match(table, {"u": {truth}}).ranks.tolist()


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("shuffled", [False, True])
def test_integer_scores_keep_their_order(name, shuffled):
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
def test_integers_at_their_limits(scores, dtype):
    pandas = library("pandas")
    table = pandas.DataFrame({"user_id": ["u", "u"], "item_id": ["old", "new"]})
    table["score"] = pandas.array(scores, dtype=dtype)
    assert ranks_of(table) == [1]
    table["score"] = table["score"].to_numpy()[::-1]
    assert ranks_of(table) == [2]


def test_scores_in_lists():
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
def test_decimals(name):
    scores = [Decimal("1.00000000000000000001"), Decimal("1.00000000000000000002")]
    columns = {"user_id": ["u", "u"], "item_id": ["old", "new"], "score": scores}
    assert ranks_of(frame_of(name, columns)) == [1]


def test_integers_of_128_bits():
    polars = library("polars")
    table = polars.DataFrame({"user_id": ["u", "u"], "item_id": ["old", "new"]})
    score = polars.Series("score", [2**70, 2**70 + 1], dtype=polars.Int128)
    assert ranks_of(table.with_columns(score)) == [1]
    assert ranks_of(table.with_columns(score.reverse())) == [2]


def test_long_lists_with_ties_keep_their_order():
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
    assert tl.match(table, {"u": {"é"}}).ranks.tolist() == [4]
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


def test_scores_are_as_many_as_the_items_of_each_list():
    """Not only in all: a score would go to an item of another user."""
    pandas, polars = library("pandas"), library("polars")
    columns = {"user_id": ["u", "v"], "item_id": [[3, 1], [2]], "score": [[1.0], [2.0, 3.0]]}
    for table in (pandas.DataFrame(columns), polars.DataFrame(columns)):
        with pytest.raises(ValueError, match="'score' must hold a list per user, as long as the"):
            tl.match(table, {"u": {1}})


@pytest.mark.parametrize(("ties", "rank"), [("item", 1), ("item_desc", 2)])
def test_ties_order_unsigned_ids_as_unsigned(ties, rank):
    """Ids on both sides of 2^63: the larger ones came first, as if they were negative."""
    pandas = pytest.importorskip("pandas")
    ids = np.array([2**63 + 9, 2**63 - 5], np.uint64)
    table = pandas.DataFrame({"user_id": ["a", "a"], "item_id": ids, "score": [0.0, 0.0]})
    result = tl.top_k_eval(table, {"a": {2**63 - 5}}, k=2, metrics="mrr", ties=ties)
    assert result["mrr@2"] == 1 / rank
