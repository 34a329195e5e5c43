"""Padding ends a list or a truth, in every form, and is compared exactly."""

import numpy as np
import pytest
from doors import by_words
from shared_inputs import NAN, evaluate, library, read_only, rows

import toplist as tl
from toplist import match
from toplist.inputs import Lists

PADDED = [[5, 7, -1], [-1, -1, -1], [1, 2, 3]]
PADDED_TRUTHS = [[7, -1], [1, -1], [3, 2]]


def as_texts(table):
    return [["" if item == -1 else str(item) for item in row] for row in table]


@pytest.mark.parametrize(
    "form", [list, lambda table: read_only(np.array(table)), lambda table: np.array(table, object)]
)
@pytest.mark.parametrize("padding", [-1, "", np.int64(-1)], ids=repr)
def test_padding_is_dropped_from_the_ends(form, padding):
    tables = [PADDED, PADDED_TRUTHS]
    if padding == "":
        tables = map(as_texts, tables)
    ranks, truths = map(form, tables)
    hits = match(ranks, truths, padding=padding)
    assert rows(hits) == [([2], 1, 2), ([], 1, 0), ([2, 3], 2, 3)]
    assert rows(match(ranks[0], truths[0], padding=padding)) == [([2], 1, 2)]  # one user
    keyed = match(dict(enumerate(ranks)), dict(enumerate(truths)), padding=padding)
    assert rows(keyed) == rows(hits)
    assert evaluate(ranks, truths, padding=padding).n_missing == 1
    assert tl.hit(ranks, truths, padding=padding)[:, 2].tolist() == [1.0, 0.0, 1.0]


def test_padding_with_grades():
    truths = Lists([0, 3, 5], [1, 2, -1, 3, -1], gains=[1, 2, 5, 3, 5])
    hits = match([[2, 1], [3, 4]], truths, padding=-1)
    assert rows(hits) == [([1, 2], 2, 2), ([1], 1, 2)]
    assert hits.grades.tolist() == [2.0, 1.0, 3.0]


def test_without_padding_named_it_is_an_id():
    assert rows(match([[5, -1]], [[-1]])) == [([2], 1, 2)]
    with pytest.raises(ValueError, match="item -1 at ranks 2 and 3"):
        match([[5, -1, -1]], [[5]])


def test_padding_that_does_not_occur():
    assert rows(match([[5, 7]], [[7]], padding=0)) == [([2], 1, 2)]
    assert rows(match([["a", "b"]], [["b"]], padding="")) == [([2], 1, 2)]
    assert rows(match([[]], [[]], padding="")) == rows(match([[]], [[]], padding=-1))


@pytest.mark.parametrize(
    ("ranks", "truths", "message"),
    [
        ([[5, 7], [-1, 4]], [[7], [4]], "ranks: user 1 has padding at rank 1, before a real id"),
        ([[5, -1, -1, 4]], [[4]], "ranks: user 0 has padding at rank 2, before a real id"),
        (np.array([[5, -1, 4]]), [4], "ranks: user 0 has padding at rank 2"),
        ({"ann": [5], "bob": [-1, 4]}, {"ann": [5], "bob": [4]}, "ranks: user 'bob' has padding"),
        ([[4]], [[-1, 4]], "ground_truths: user 0 has padding"),
        ({"ann": [4]}, {"ann": [-1, 4]}, "ground_truths: user 'ann' has padding"),
    ],
)
def test_padding_before_a_real_id(ranks, truths, message):
    with pytest.raises(ValueError, match=message):
        match(ranks, truths, padding=-1)


def test_text_padding_and_padding_below_k():
    with pytest.raises(ValueError, match="ranks: user 0 has padding at rank 2"):
        match([["a", "", "b"]], [["b"]], padding="")
    assert rows(match([[5, -1, 7]], [[7]], 2, padding=-1)) == [([], 1, 1)]


@pytest.mark.parametrize(
    ("ids", "padding"),
    [([5, 7], "x"), ([5, 7], -1.0), ([5, 7], False), ([5, 7], NAN), (["a"], -1), (["a"], b"")],
)
def test_padding_of_another_kind(ids, padding):
    with pytest.raises(TypeError, match="padding") as caught:
        match([ids], [ids], padding=padding)
    assert repr(padding) in str(caught.value)


def test_padding_of_another_kind_than_the_ids():
    table = library("polars").DataFrame({"user_id": [1], "item_id": [["a", "-1"]]})
    assert tl.match(table, {1: ["a"]}, padding="-1").n_listed.tolist() == [1]
    with pytest.raises(TypeError, match="padding is -1, but the ids of ranks are like 'a'"):
        tl.match(table, {1: ["a"]}, padding=-1)


@pytest.mark.parametrize("padding", [-1, 7, 1000])
def test_padding_in_a_set_beside_a_table(padding):
    """A set has no end: whether padding came first in it was a matter of its hash."""
    pl = library("polars")
    recs = pl.DataFrame({"user_id": [5] * 3, "item_id": [1, 2, padding], "rank": [1, 2, 3]})
    result = tl.top_k_eval(recs, {5: {2, padding, 9}}, 2, metrics="recall", padding=padding)
    assert result["recall@2"] == 0.5


@pytest.mark.parametrize(
    ("ids", "padding", "n_left"),
    [
        (np.array([[5, -1, -1]]), -1, 1),
        (np.array([[5, -1, -1]]), 2**64 - 1, 3),
        (np.array([[5, -1, -1]]), 2**70, 3),
        (np.array([[5, 255]], np.uint8), -1, 2),
        (np.array([[5, -(2**63)]]), 2**63, 2),
        ([[5, -1]], 2**64 - 1, 2),
        ([[5, 7]], -(2**70), 2),
        ([[-5, 2**63 - 1]], 2**63 - 1, 1),
        ([[5, -1]], 2**70, 2),
    ],
)
def test_padding_of_integers_is_compared_exactly(ids, padding, n_left):
    hits = tl.match(ids, [{5}], padding=padding, duplicates="first")
    assert hits.n_listed.tolist() == [n_left]


@pytest.mark.parametrize(
    "of_item", ["item {}".format, "an item of more than twelve bytes {}".format]
)
def test_padding_of_text_that_comes_late_in_a_stream(of_item):
    pyarrow = library("pyarrow")
    items = [[of_item(i), of_item(i + 1), "" if i > 7 else of_item(i + 50)] for i in range(10)]
    users = [f"u{i}" for i in range(10)]
    ranks = pyarrow.table({"user_id": users, "item_id": items})
    truth = pyarrow.table({"user_id": users, "item_id": [[row[1]] for row in items]})
    options = {"k": 3, "metrics": ["precision", "mrr"], "padding": ""}
    streams = (table.to_reader(1) for table in (ranks, truth))
    streamed = by_words(*streams, convention="ranx", **options)
    whole = by_words(ranks, truth, convention="ranx", **options)
    assert streamed.to_dict() == whole.to_dict()
    assert whole["mrr@3"] == 0.5
    kept = tl.match(ranks, truth, padding="")
    assert kept.n_listed.tolist() == [3] * 8 + [2] * 2


@pytest.mark.parametrize("n_pads", [1, 2, 5])
@pytest.mark.parametrize("pad", [-1, ""])
def test_padding_is_no_item_that_a_baseline_lacks(n_pads, pad):
    """Both listed items are expected, and nothing else is listed."""
    a, b, c = (4, 5, 6) if pad == -1 else "abc"
    ranks, k = [[a, b, *[pad] * n_pads]], 2 + n_pads
    for row in ([a, b], [a, b, pad], {a, b, pad}, (a, b, pad, pad)):
        known = {"expected": [row], "padding": pad}
        names = ["unexpectedness", "serendipity"]
        found = by_words(ranks, [{a}], k, metrics=names, **known)
        assert (found[f"unexpectedness@{k}"], found[f"serendipity@{k}"]) == (0, 0)
        assert not tl.beyond.unexpectedness(ranks, k, **known).any()
    known = {"expected": {b}, "padding": pad}
    found = by_words([[a, b, c, pad]], [{a}], 4, metrics=names, **known)
    assert (found["unexpectedness@4"], found["serendipity@4"]) == (2 / 3, 1 / 4)
