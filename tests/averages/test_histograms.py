"""Means from counts: whole numbers are added up as such, and divided once."""

from fractions import Fraction

import numpy as np
import pytest
from doors import by_words

import toplist as tl

LISTED = [[1, 1, 1], [1, 2, 3], [2, 3, 3]]


@pytest.mark.parametrize("ranks", LISTED, ids=str)
def test_where_the_hits_stand_does_not_change_a_mean_of_proportions(ranks):
    hits = tl.Hits.from_ranks(ranks + [0] * 7, 3)
    result = tl.top_k_eval(hits, k=3, metrics=["hit", "precision", "recall", "f1"])
    assert list(result) == [0.3, 0.1, 0.3, 0.15]
    assert result.std("hit@3") == result.std("recall@3")
    parts = [tl.top_k_eval(hits.subset(some), k=3) for some in ([0, 3, 4], [1, 2, 5, 6, 7, 8, 9])]
    assert tl.merge(parts, disjoint=True)["hit@3"] == 0.3


def test_systems_of_equal_hit_rates_are_both_the_best():
    systems = {
        str(ranks): tl.top_k_eval(tl.Hits.from_ranks(ranks + [0] * 7, 3), k=3, metrics="hit")
        for ranks in LISTED
    }
    assert repr(tl.compare(systems)).count("*0.3000") == len(LISTED)


@pytest.mark.parametrize("weights", [None, np.arange(1, 41) / 7])
def test_a_mean_of_proportions_never_passes_one(weights):
    hits = tl.Hits.from_ranks(np.arange(1, 41), 40)
    result = tl.top_k_eval(hits, k=40, metrics=["hit", "recall"], weights=weights)
    for name in ("hit", "recall"):
        assert result[name].max() == result[f"{name}@40"] == 1.0
        assert result.interval(f"{name}@40")[1] == 1.0


def test_a_mean_over_truths_of_many_sizes_is_rounded_once():
    rng = np.random.default_rng(1)
    n_relevant = rng.integers(0, 9, 67)
    truths = [set(range(size)) for size in n_relevant.tolist()]
    lists = [rng.permutation(12)[: rng.integers(1, 9)].tolist() for _ in truths]
    result = tl.top_k_eval(
        lists,
        truths,
        8,
        metrics=["precision", "cg", "hit"],
        convention=tl.CONVENTIONS["standard"].replace(empty="zero"),
    )
    for k in range(1, 9):
        found = [len(truth & set(some[:k])) for some, truth in zip(lists, truths, strict=True)]
        n_hits, first = sum(found), sum(map(bool, found))
        assert result[f"precision@{k}"] == float(Fraction(n_hits, 67 * k))
        assert (result[f"cg@{k}"], result[f"hit@{k}"]) == (n_hits / 67, first / 67)


def test_a_mean_does_not_depend_on_what_else_was_asked():
    """Metrics that divide by the length of the list have users of one R counted apart."""
    rng = np.random.default_rng(4)
    truths = [set(range(size)) for size in rng.integers(0, 4, 90).tolist()]
    lists = [rng.permutation(9)[: rng.integers(1, 9)].tolist() for _ in truths]
    by_length = tl.Metric("by_length", "each", "1", "min(k,n)")
    asked = {"k": 8, "empty": "zero"}
    alone = by_words(lists, truths, metrics=["recall", "f1", "hit"], **asked)
    beside = by_words(lists, truths, metrics=["recall", "f1", "hit", by_length], **asked)
    for name in ("recall", "f1", "hit"):
        np.testing.assert_array_equal(alone[name], beside[name])
    mean = beside.per_user("by_length").mean(axis=0)
    np.testing.assert_allclose(beside["by_length"], mean, rtol=1e-14)
