"""Digests of what metrics of the lists were given: of the data, whatever its form and order."""

import pickle

import numpy as np
import pytest

import toplist as tl
from toplist.beyond.listed import digest_of, facts_of
from toplist.inputs.facts import ItemLabels
from toplist.inputs.options import ITEMS

LABELS = {0: "war", 1: ["war", "love"], 2: None, 3: "fun"}
OWN = {"ann": [1, 2, 2], "bob": [3], "eve": []}
MATRIX = np.array([[0, 0.25, 0.5], [0.25, 0, 1], [0.5, 1, 0]])


def digest(name, data):
    return digest_of(facts_of(tl.Items(**{name: data}), {})[name])


def forms():
    """Return, by keyword, forms of one thing, and other things."""
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    rows = [(0, "war"), (1, "love"), (3, "fun"), (1, "war"), (2, None)]
    columns = dict(zip(("item_id", "label"), map(list, zip(*rows, strict=True)), strict=True))
    pairs = [("bob", 3), ("ann", 2), ("ann", 1), ("ann", 2)]
    owned = dict(zip(("user_id", "item_id"), map(list, zip(*pairs, strict=True)), strict=True))
    full = {user: items for user, items in OWN.items() if items}
    frame = pd.DataFrame(MATRIX, index=list("abc"), columns=list("abc"))
    counts = {0: 3, 1: 0, 2: 5}
    counted = {"item_id": [2, 0, 1], "count": [5, 3, 0]}
    vectors = {"item_id": [1, 0], "x": [3, 1], "y": [4, 2]}
    return {
        "catalogue": (
            [4, np.int64(4), range(4), [3, 1, 2, 0], {0, 1, 2, 3}, np.arange(4),
             pl.Series(range(4)), pd.Series([3, 1, 2, 0])],
            [5, [1, 2, 3, 4], ["0", "1", "2", "3"], [0, 1, 2, 2**40]],
        ),
        "counts": (
            [counts, {2: 5, 1: 0, 0: 3}, [3, 0, 5], np.array([3.0, -0.0, 5]), pd.Series(counts),
             pd.DataFrame(counted), pl.DataFrame(counted)],
            [{0: 3, 1: 5, 2: 0}, {0: 3, 2: 5}, [3, 0, 5, 0], {"0": 3, "1": 0, "2": 5}],
        ),
        "features": (
            [[[1, 2], [3, 4]], {1: [3, 4], 0: (1, 2)}, np.array([[1.0, 2], [3, 4]]),
             pd.Series({1: [3, 4], 0: [1, 2]}), pd.DataFrame(vectors), pl.DataFrame(vectors)],
            [[[2, 1], [3, 4]], [[3, 4], [1, 2]], [[1], [3]], [[1, 2, 3], [3, 4, 0]]],
        ),
        "labels": (
            [LABELS, dict(reversed(LABELS.items())), {**LABELS, 1: ["love", "war", "war"]},
             pd.DataFrame(columns), pl.DataFrame(columns), pd.Series(LABELS)[::-1],
             ItemLabels.of(LABELS)],
            [{**LABELS, 2: "war"}, {**LABELS, 3: "love", 0: "fun"}, {**LABELS, 4: None}],
        ),
        "distances": (
            [{"a": MATRIX[0], "b": MATRIX[1], "c": MATRIX[2]}, frame, frame.loc[["b", "c", "a"]],
             frame.loc[["c", "b", "a"], ["b", "a", "c"]]],
            [MATRIX, {"b": MATRIX[0], "a": MATRIX[1], "c": MATRIX[2]}, frame * 2],
        ),
        "history": (
            [full, pd.DataFrame(owned), pl.DataFrame(owned), {"bob": 3, "ann": [2, 2, 1]},
             pd.Series([*full.values()], index=[*full]), pd.DataFrame(owned | {"rating": 5})],
            [OWN, {**full, "ann": [1, 2]}, {"ann": [3], "bob": [1, 2, 2]}, [[1, 2, 2], [3]]],
        ),
        "expected": (
            [{1, 5}, frozenset([5, 1])],
            [{1, 6}, [{1, 5}], {0: {1, 5}}, {1}],
        ),
    }  # fmt: skip


@pytest.mark.parametrize("name", ITEMS)
def test_the_same_data_in_another_form(name):
    alike, others = forms()[name]
    assert {digest(name, one) for one in alike} == {digest(name, alike[0])}
    found = [digest(name, one) for one in (alike[0], *others)]
    assert len(set(found)) == len(found)


def test_an_empty_text_is_not_0():
    assert digest("counts", {"": 1}) != digest("counts", {0: 1})
    assert digest("history", {"ann": [""]}) != digest("history", {"ann": [0]})


def test_labels_of_numbers_are_told_as_metrics_are_named():
    assert digest("labels", {"a": 1}) == digest("labels", {"a": "1"})


def test_facts_of_items_are_read_once_for_many_evaluations():
    counts = {"a": 3, "b": 1}
    items = tl.Items(counts=counts, catalogue=counts)

    def values(items):
        return tl.top_k_eval([["a", "b"]], [{"a"}], 2, metrics="novelty", items=items).to_dict()

    before = values(items)
    counts["b"] = 7  # as the documentation says: after a change, give new Items
    assert values(items) == before != values(tl.Items(counts=counts))
    assert values(pickle.loads(pickle.dumps(items))) == values(tl.Items(counts=counts))


def test_ids_of_files_are_those_of_memory(tmp_path):
    (tmp_path / "own.csv").write_text("user_id,item_id\nann,a\nbob,b\nann,b\n")
    own = {"bob": ["b"], "ann": ["b", "a"]}
    lists, truths = {"ann": ["a"], "bob": ["b"]}, {"ann": {"a"}, "bob": {"a"}}
    pl = pytest.importorskip("polars")
    results = [
        tl.top_k_eval(lists, truths, 1, metrics="unexpectedness", items=tl.Items(expected=baseline))
        for baseline in (own, pl.read_csv(tmp_path / "own.csv"))
    ]
    assert results[0].lists.given == results[1].lists.given != {}
