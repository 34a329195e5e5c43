"""Means over users: from counts, divided once; with weights; as ratios of sums.

That they are those of the plain formulas, under all options, is said by properties.
"""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from doors import by_words

import toplist as tl

LISTED = [[1, 1, 1], [1, 2, 3], [2, 3, 3]]


def pooled(ranks, truths, k, **options):
    return by_words(ranks, truths, k, aggregate="pooled", **options)


# From counts: whole numbers are added up as such


@pytest.mark.parametrize("ranks", LISTED, ids=str)
def test_where_the_hits_stand_does_not_change_a_mean_of_proportions(ranks):
    hits = tl.Hits.from_ranks(ranks + [0] * 7, 3)
    result = tl.top_k_eval(hits, k=3, metrics=["hit", "precision", "recall", "f1"])
    assert list(result) == [0.3, 0.1, 0.3, 0.15]
    assert result.std("hit@3") == result.std("recall@3")
    parts = [tl.top_k_eval(hits.subset(some), k=3) for some in ([0, 3, 4], [1, 2, 5, 6, 7, 8, 9])]
    assert tl.merge(parts, disjoint=True)["hit@3"] == 0.3


@pytest.mark.parametrize("weights", [None, np.arange(1, 41) / 7])
def test_a_mean_of_proportions_never_passes_one(weights):
    hits = tl.Hits.from_ranks(np.arange(1, 41), 40)
    result = tl.top_k_eval(hits, k=40, metrics=["hit", "recall"], weights=weights)
    for name in ("hit", "recall"):
        assert result[name].max() == result[f"{name}@40"] == 1.0
        assert result.interval(f"{name}@40")[1] == 1.0


def test_a_mean_over_truths_of_many_sizes_is_rounded_once_whatever_else_is_asked():
    """Metrics that divide by the length of the list have users of one R counted apart."""
    rng = np.random.default_rng(1)
    truths = [set(range(size)) for size in rng.integers(0, 9, 67).tolist()]
    lists = [rng.permutation(12)[: rng.integers(1, 9)].tolist() for _ in truths]
    names = ["precision", "cg", "hit", "recall", "f1"]
    by_length = tl.Metric("by_length", "each", "1", "min(k,n)")
    alone, beside = (
        by_words(lists, truths, 8, metrics=some, empty="zero")
        for some in (names, [*names, by_length])
    )
    for k in range(1, 9):
        found = [len(truth & set(some[:k])) for some, truth in zip(lists, truths, strict=True)]
        n_hits, first = sum(found), sum(map(bool, found))
        assert alone[f"precision@{k}"] == float(Fraction(n_hits, 67 * k))
        assert (alone[f"cg@{k}"], alone[f"hit@{k}"]) == (n_hits / 67, first / 67)
    for name in names:
        np.testing.assert_array_equal(alone[name], beside[name])
    mean = beside.per_user("by_length").mean(axis=0)
    np.testing.assert_allclose(beside["by_length"], mean, rtol=1e-14)


# With weights


def test_the_interval_of_a_metric_that_grows_with_the_rank():
    """A hit at the first rank counts 1/2 and one below counts 2: the mean may pass 1."""
    late = tl.Metric("late", "first", lambda r: np.where(r == 1, 2.0, 0.5), "1")
    result = tl.top_k_eval([[1, 2], [1, 2], [1, 2]], [{1}, {2}, {2}], 2, metrics=late)
    low, high = result.interval("late@2")
    assert low < result["late@2"] == 1.5 < high


# Ratios of sums


def test_a_pooled_ideal_beyond_the_relevant_items():
    """An ideal of k ranks goes on with gains of 1 where the relevant items end."""
    metric = dataclasses.replace(tl.METRICS["ndcg"], divisor="ideal(k)")
    result = pooled([[1, 2, 3], [4, 5, 6]], [{1: 3, 9: 2}, {5: 2}], 3, metrics=metric)
    of_rank = [1, math.log2(3), 2]
    ideal = sum(
        g / d for best in ([3, 2, 1], [2, 1, 1]) for g, d in zip(best, of_rank, strict=True)
    )
    assert result["ndcg@3"] == pytest.approx((3 + 2 / of_rank[1]) / ideal, abs=1e-15)


@pytest.mark.parametrize("n", [2, 3, 50, 1000])
def test_a_pooled_ratio_of_users_who_are_all_alike_has_no_error(n):
    """Σx² - 2 r Σxy + r² Σy² is 0 there, and 1e-17 as it is summed."""
    result = pooled([[7]] * n, [{7}] * n, None, metrics=["f1@12", "precision@3"])
    for name in result.names():
        assert result.interval(name) == (result[name], result[name])
    assert pooled([[7]], [{7}], 3, metrics="precision")["precision@3"] == 1 / 3
    mixed = pooled([[7], [8]] * n, [{7}] * 2 * n, None, metrics=["f1@12"])
    low, high = mixed.interval("f1@12")
    assert low < mixed["f1@12"] < high
