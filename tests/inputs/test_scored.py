"""Scores that order lists: exactly, whatever their type, with ties as asked."""

from decimal import Decimal

import numpy as np
import pytest
from shared_inputs import LIBRARIES, csv_of, frame_of, library, same

import toplist as tl

T = 1_700_000_000_000_000_000  # nanoseconds: beyond 2^53 neighbours are one float


def ranks_of(table, truth="new"):
    return tl.match(table, {"u": {truth}}).ranks.tolist()


FALLING = {  # two numbers that a float does not tell apart, in the type of a column
    "int64": (T + 1, T),
    "the least int64": (-(2**63) + 1, -(2**63)),
    "uint64": (2**64 - 1, 2**64 - 2),
    "both halves of uint64": (2**63, 5),
}


def column(values):
    """Return integers beyond int64 as an array, which a library would refuse or make floats of."""
    return np.array(values, np.uint64) if max(values) >= 2**63 else values


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("falling", FALLING.values(), ids=FALLING)
def test_scores_keep_their_order(name, falling):
    high, low = falling
    for users, items, scores in (
        ("uu", ["old", "new"], [low, high]),
        ("uvu", ["old", "old", "new"], [low, low, high]),
    ):
        columns = {"user_id": list(users), "item_id": items}
        assert ranks_of(frame_of(name, columns | {"score": column(scores)})) == [1]
        assert ranks_of(frame_of(name, columns | {"score": column(scores[::-1])})) == [2]


def test_scores_of_pandas_with_nulls_and_of_128_bits():
    pandas, polars = library("pandas"), library("polars")
    names = {"user_id": ["u", "u"], "item_id": ["old", "new"]}
    assert ranks_of(pandas.DataFrame(names | {"score": pandas.array([T, T + 1], "Int64")})) == [1]
    score = polars.Series("score", [2**62, 2**62 + 1], dtype=polars.Int128)
    assert ranks_of(polars.DataFrame(names).with_columns(score)) == [1]
    assert ranks_of(polars.DataFrame(names).with_columns(score.reverse())) == [2]


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("listed", [False, True])
def test_scores_that_are_neither_of_64_bits_nor_floats(name, listed, tmp_path):
    columns = {"user_id": ["u", "u"], "item_id": ["old", "new"]}
    columns |= {"score": [Decimal("0.1"), Decimal("0.2")]}
    if listed:
        columns = {key: ["u"] if key == "user_id" else [one] for key, one in columns.items()}
    table = frame_of(name, columns)
    with pytest.raises(TypeError, match=r"'score' must hold .*of 64 bits, or (to )?floats"):
        ranks_of(table)
    if name == "pyarrow":
        library("pyarrow.parquet").write_table(table, tmp_path / "a.parquet")
        with pytest.raises(TypeError, match=r"a\.parquet: ranks: column 'score' must hold"):
            tl.top_k_eval(tmp_path / "a.parquet", {"u": {"new"}}, 1)


def test_scores_of_python_that_no_array_holds_exactly():
    pandas = library("pandas")
    for low in (2**70, -1, 0.5):
        scores = pandas.Series([low, 2**63 + 1], dtype=object)
        table = pandas.DataFrame({"user_id": ["u", "u"], "item_id": ["old", "new"]})
        with pytest.raises(TypeError, match="cast it to integers of 64 bits, or to floats"):
            ranks_of(table.assign(score=scores))
    with pytest.raises(TypeError, match=r"the score Decimal\('0.2'\) is no number"):
        tl.match({"u": {"a": 0.1, "b": Decimal("0.2")}}, {"u": {"a"}})


@pytest.mark.parametrize(
    "scores",
    [[T, T + 100], [2**63, 2**63 + 1], [0.5, 2**53]],
    ids=str,
)
def test_scores_in_lists(scores):
    columns = {"user_id": ["u"], "item_id": [["old", "new"]], "score": [scores]}
    for name in ("pandas", "polars") if scores[0] == T else ("pandas",):
        assert ranks_of(frame_of(name, columns)) == [1]


ITEMS = {
    "below zero": -np.arange(200),
    "int8": np.arange(-100, 100, dtype=np.int8),
    "uint64": np.arange(2**63 - 200, 2**63, dtype=np.uint64),
    "text": np.array([*(f"d{n}" for n in range(198)), "é", "ee"], object),
}


@pytest.mark.parametrize("ties", ["order", "item", "item_desc"])
@pytest.mark.parametrize("kind", ITEMS)
def test_equal_scores_as_ties_says(tmp_path, kind, ties):
    """Zeros of both signs are equal; the lists are longer than those sorted by insertion."""
    rng = np.random.default_rng(5)
    items = rng.permutation(ITEMS[kind])
    relevant = set(ITEMS[kind][::3].tolist())
    truth = {"q": relevant, "r": relevant}
    for levels in ([-0.0, 0.0, 0.5, -1.5], [T, T + 1, T - 1, T]):
        scores = np.array(levels)[rng.integers(0, 4, 200)]
        row = dict(zip(items.tolist(), scores.tolist(), strict=True))
        first = list(row) if ties == "order" else sorted(row, reverse=ties == "item_desc")
        ranked = sorted(first, key=lambda item: -row[item])
        expected = tl.match(dict.fromkeys("qr", ranked), truth)
        assert same(tl.match(tl.Ranks(dict.fromkeys("qr", row), ties=ties), truth), expected)
        columns = {"item_id": np.repeat(items, 2), "score": np.repeat(scores, 2)}
        columns["user_id"] = list("qr" * 200)  # the rows of both stand among each other
        for name in LIBRARIES:
            found = tl.match(tl.Ranks(frame_of(name, columns), ties=ties), truth)
            assert same(found, expected)
        if kind == "text":
            lines = [f"{user},{item},{score}" for user in "qr" for item, score in row.items()]
            path = csv_of(tmp_path / "lists.csv", "user_id,item_id,score", *lines)
            rows = [f"{user},{item}" for user in "qr" for item in relevant]
            truths = csv_of(tmp_path / "t.csv", "user_id,item_id", *rows)
            result = tl.top_k_eval(tl.Ranks(path, ties=ties), truths, k=200)
            assert result["map"].tolist() == tl.top_k_eval(expected, k=200)["map"].tolist()
        if ties == "order":  # the default
            assert same(tl.match(dict.fromkeys("qr", row), truth), expected)


@pytest.mark.parametrize(
    "scores",
    [np.array([-(2**63), 3, 3]), np.array([0, 2**63, 2**63], np.uint64)],
    ids=["int64", "uint64"],
)
def test_the_least_integer_score_is_the_last(scores):
    frame = frame_of("pandas", {"user_id": [1] * 3, "item_id": [5, 7, 6], "score": scores})
    for ties, item in (("item", 6), ("item_desc", 7), ("order", 7)):
        assert tl.match(tl.Ranks(frame, ties=ties), {1: [5]}).ranks.tolist() == [3]
        assert tl.match(tl.Ranks(frame, ties=ties), {1: [item]}).ranks.tolist() == [1]


def test_ties_in_lists_and_where_nothing_ties():
    columns = {"user_id": ["u"], "item_id": [[3, 1, 2]], "score": [[1.0, 1.0, 2.0]]}
    for name in ("pandas", "polars"):
        table = frame_of(name, columns)
        assert tl.match(tl.Ranks(table, ties="item"), {"u": {1}}).ranks.tolist() == [2]
        assert tl.match(tl.Ranks(table, ties="order"), {"u": {1}}).ranks.tolist() == [3]
    ranked = frame_of("pandas", {"user_id": ["u"] * 2, "item_id": [3, 1], "rank": [1, 2]})
    for ranks in ({"u": [3, 1]}, ranked):
        assert tl.match(tl.Ranks(ranks, ties="item_desc"), {"u": {1}}).ranks.tolist() == [2]


def test_scores_are_as_many_as_the_items_of_each_list():
    """Not only in all: a score would go to an item of another user."""
    columns = {"user_id": ["u", "v"], "item_id": [[3, 1], [2]], "score": [[1.0], [2.0, 3.0]]}
    for name in ("pandas", "polars"):
        with pytest.raises(ValueError, match="'score' must hold a list per user, as long as the"):
            tl.match(frame_of(name, columns), {"u": {1}})
