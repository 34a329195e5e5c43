"""Results as values: what is equal to the last bit, and what is not."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from doors import by_words
from file_helpers import sent
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import populations

import toplist as tl

RANKS, TRUTHS = [[5, 7, 8, 9, 3], [4, 6, 2, 1, 10], [1]], [{7, 3, 5}, {4, 2, 8, 7}, set()]


def evaluated(ranks=RANKS, truths=TRUTHS, k=3, **options):
    return by_words(ranks, truths, k, **options)


@settings(deadline=None, max_examples=40)
@given(populations(), st.integers(1, 8), st.sampled_from(list(tl.CONVENTIONS)))
def test_the_same_evaluation_is_equal_and_another_is_not(population, k, convention):
    metrics = tl.CONVENTIONS[convention].metrics
    names = [name for name, metric in metrics.items() if metric.cut != "n"]  # of sets, too
    asked = {"metrics": names, "convention": convention, "empty": "zero", "missing": "zero"}
    result = evaluated(*population, k, **asked)
    assert result == evaluated(*population, k, **asked, n_threads=1)
    assert result == result.without_users() == sent(result)
    assert result == pickle.loads(pickle.dumps(result)) == copy.deepcopy(result)
    assert result != evaluated(*population, k + 1, **asked)
    assert result != evaluated(*population, [k], **asked)
    assert result != evaluated(*population, k, **asked | {"missing": "skip"})


def test_equal_is_what_is_equal_to_the_last_bit():
    result = evaluated()
    assert result == evaluated(RANKS[::-1], TRUTHS[::-1])  # the order of users is no part of it
    assert result != evaluated([[7, 5, 8], *RANKS[1:]], TRUTHS, metrics=["hit"])
    moved = result.histograms.spreads.copy()
    moved[0] = np.nextafter(moved[0], 9)
    histograms = dataclasses.replace(result.histograms, spreads=moved)
    assert result != dataclasses.replace(result, histograms=histograms)
    assert result != dataclasses.replace(result, n_extra=1)
    assert result != evaluated(gains="exponential")
    assert result != result.to_dict() and result != 3 and result is not None


def test_nan_equals_nan():
    nobody = evaluated([], [])
    assert np.isnan(nobody["ndcg@3"]) and nobody == evaluated([], [])
    alone = evaluated([[1]], [{1}])
    assert np.isnan(alone.std("ndcg@3")) and alone == evaluated([[1]], [{1}])


def test_metrics_of_the_lists_are_compared_too():
    def found(first):
        lists = [[first, 7], [4, 6]]
        return evaluated(lists, [{9}, {9}], 2, metrics=["hit", "item_coverage"], catalogue=10)

    assert found(5) == found(5) == found(3)  # as many items
    assert found(5) != found(4)
    assert found(5) == found(5).without_users() and found(5) != evaluated(metrics="hit")


def test_merged_parts_have_the_same_means():
    pairs = zip(RANKS, TRUTHS, strict=True)
    parts = [evaluated([ranks], [truth], metrics=["hit"]) for ranks, truth in pairs]
    assert sum(parts) == evaluated(metrics=["hit"]) == tl.merge(parts)


def test_segments_and_comparisons_are_equal_with_their_parts():
    def compared(**options):
        return tl.compare({"a": evaluated(), "b": evaluated(k=[1, 3])}, **options)

    assert compared() == compared() == pickle.loads(pickle.dumps(compared()))
    assert compared() != compared(baseline="a")
    assert compared() != tl.compare({"b": evaluated(k=[1, 3]), "a": evaluated()})
    assert compared() != tl.compare({"a": evaluated()}) and compared() != {"a": evaluated()}
    labels = ["x", "y", "y"]
    assert evaluated().by(labels) == evaluated().by(labels) != evaluated().by(["x"] * 3)
    runs = tl.compare({"a": [evaluated(), evaluated()]})
    assert runs == tl.compare({"a": [evaluated(), evaluated()]}) != tl.compare({"a": evaluated()})


def test_what_is_compared_is_not_hashable():
    for one in (evaluated(), tl.compare({"a": evaluated()}), evaluated().by([1, 1, 1])):
        with pytest.raises(TypeError, match="unhashable"):
            hash(one)
