"""Weights of users, ratios of sums, and their intervals, by the plain formulas."""

import dataclasses
import math
from statistics import NormalDist

import numpy as np
import pytest
import strategies
from doors import by_words
from file_helpers import sent as sent_one
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import hits as oracle
from oracle import intervals

import toplist as tl
from toplist.stats.estimates import ratio
from toplist.stats.units import Units

Z = NormalDist().inv_cdf(0.975)

NAMES = ["precision", "recall", "map", "ndcg", "mrr"]


def values_of(ranks, truths, k, name):
    """Compute the values of the users that count, plainly."""
    return oracle.evaluate(ranks, truths, k, oracle.METRICS[name]).per_user


@settings(deadline=None)
@given(strategies.populations(), st.integers(1, 6), st.data())
def test_weighted_means(population, k, data):
    ranks, truths = population
    weight = st.sampled_from([0.0, 0.25, 1.0, 3.0])
    weights = [data.draw(weight) for _ in truths]
    result = tl.top_k_eval(ranks, truths, k, metrics=["hit", *NAMES], weights=weights)
    for name in ["hit", *NAMES]:
        pairs = [
            (w, x)
            for w, x in zip(weights, values_of(ranks, truths, k, name), strict=True)
            if w > 0 and not math.isnan(x)
        ]
        total = math.fsum(w for w, _ in pairs)
        if not pairs:
            assert math.isnan(result[f"{name}@{k}"])
            continue
        mean = math.fsum(w * x for w, x in pairs) / total
        assert result[f"{name}@{k}"] == pytest.approx(mean, abs=1e-12)
        if len(pairs) > 1:
            squares = math.fsum(w * w for w, _ in pairs)
            spread = math.fsum(w * (x - mean) ** 2 for w, x in pairs) / (total - squares / total)
            assert result.std(f"{name}@{k}") == pytest.approx(math.sqrt(spread), abs=1e-12)
            low, high = result.interval(f"{name}@{k}")
            rows = [intervals.Row(x, w=w, cluster=i) for i, (w, x) in enumerate(pairs)]
            of = intervals.of_clusters
            if intervals.are_alike(rows):
                of = intervals.of_proportion if name == "hit" else intervals.of_mean
            assert (low, high) == pytest.approx(of(rows), abs=1e-9)


def coverage(places, listed, seed, n, times=500):
    """Return how often intervals cover the mean, where users are drawn by their activity.

    Of two equal groups, one is ten times as active: its users are ten times as many in a sample,
    have a tenth of the weight, and never a hit. Half of the others have one, at the k given.
    """
    rng = np.random.default_rng(seed)
    covered = 0
    for _ in range(times):
        quiet = rng.random(n) < 1 / 11
        ranks = np.where(quiet & (rng.random(n) < 0.5), places, 0)
        weights = np.where(quiet, 1.0, 0.1)
        result = tl.top_k_eval(tl.Hits.from_ranks(ranks, listed), k=listed, weights=weights)
        ends = [result.interval(f"{name}@{listed}") for name in ("hit", "mrr")]
        covered += np.array([low <= 0.25 / place <= high for (low, high), place in
                             zip(ends, (1, places), strict=True)])  # fmt: skip
    return covered / times


def test_intervals_cover_where_users_are_drawn_by_activity_and_weighted_back():
    of_hit, of_mrr = coverage(2, 3, seed=1, n=1_000)
    assert 0.93 <= of_hit <= 0.97 and 0.93 <= of_mrr <= 0.97


def test_equal_weights_have_the_intervals_of_none():
    ranks = [1, 2, 0, 3, 0, 0, 1, 0, 5, 0]
    hits = tl.Hits.from_ranks(ranks, 5)
    plain, equal = (tl.top_k_eval(hits, k=5, weights=w) for w in (None, [0.7] * 10))
    for name in plain.names():
        assert equal.interval(name) == pytest.approx(plain.interval(name), abs=1e-14)


@pytest.mark.parametrize("cuts", [[3, 7], [1, 2, 9], [5, 6, 7, 8, 9]])
def test_intervals_of_weighted_parts_are_those_of_the_whole(cuts):
    rng = np.random.default_rng(2)
    ranks, weights = rng.integers(0, 5, 40), rng.lognormal(0, 2, 40)
    rows = np.split(np.arange(40), [4 * cut for cut in cuts])
    hits = tl.Hits.from_ranks(ranks, 5)
    whole = tl.top_k_eval(hits, k=5, weights=weights)
    parts = [tl.top_k_eval(hits.subset(some), k=5, weights=weights[some]) for some in rows]
    merged, sent = tl.merge(parts), tl.merge(map(sent_one, parts), disjoint=True)
    for name in whole.names():
        assert merged.interval(name) == pytest.approx(whole.interval(name), abs=1e-14)
        assert np.isnan(sent.interval(name)).all()  # they hold no rows
    assert "no interval of weighted means" in str(sent)
    assert sent.to_dict() == pytest.approx(whole.to_dict(), rel=1e-14)


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_intervals_of_means_are_those_of_tests_of_the_same_values(weighted, clustered, pooled):
    rng, n = np.random.default_rng(5), 60
    ranks = [rng.permutation(12)[:6].tolist() for _ in range(n)]
    truths = [set(rng.permutation(12)[: rng.integers(1, 5)].tolist()) for _ in range(n)]
    units = {
        "weights": rng.lognormal(0, 1.5, n) if weighted else None,
        "clusters": rng.integers(0, 9, n) if clustered else None,
    }
    rules = tl.CONVENTIONS["standard"].replace(aggregate="pooled") if pooled else "standard"
    metrics = ["recall", "ndcg", "precision"] + ["hit"] * (weighted or clustered)
    result = tl.top_k_eval(ranks, truths, 6, metrics=metrics, convention=rules, **units)
    sizes = np.array([len(truth) for truth in truths], float)
    for k in (1, 4):
        if pooled:
            hits = result.per_user(f"recall@{k}") * sizes
            test = ratio(hits, sizes, 0 * hits, sizes, Units.of(n, *units.values()))
            found = result.interval(f"recall@{k}")
            assert found == pytest.approx((max(test.low, 0), min(test.high, 1)), rel=1e-9)
            continue
        for name in metrics:
            values = result.per_user(f"{name}@{k}")
            both = {"nothing": 0 * values, "it": values}
            test = tl.inference.paired_tests(both, **units)[0]
            found = result.interval(f"{name}@{k}")
            assert found == pytest.approx((max(test.low, 0), min(test.high, 1)), rel=1e-9)


def test_weights_by_key():
    ranks, truths = {"a": [1, 2], "b": [3]}, {"b": {3}, "a": {2}}
    result = tl.top_k_eval(ranks, truths, 2, metrics="mrr", weights={"a": 3, "b": 1})
    assert result["mrr@2"] == (3 * 0.5 + 1 * 1.0) / 4
    assert "weighted mean over users" in repr(result)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "1 weights for 2 users: one per user is needed"),
        ([1.0, -1.0], "user 'b' has weight -1: a number from 0 to 1e\\+100 is needed"),
        ([math.nan, 1.0], "user 'a' has weight nan"),
        ({"a": 1.0}, "no entry for user 'b'"),
    ],
)
def test_weights_that_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        tl.top_k_eval({"a": [1], "b": [2]}, {"a": {1}, "b": {2}}, 1, weights=weights)


def test_nobody_has_weight():
    result = tl.top_k_eval([[1], [2]], [{1}, {2}], 1, metrics="mrr", weights=[0, 0])
    assert math.isnan(result["mrr@1"])
    assert math.isnan(result.std("mrr@1"))
    assert (result.n_evaluated, result.n_skipped) == (0, 2)


def parts_of(ranks, truths, k, name):
    """List numerator and divisor of every user with relevant items."""
    parts = []
    for value, relevant in zip(values_of(ranks, truths, k, name), truths, strict=True):
        if n := len(relevant):
            ideal = math.fsum(1 / math.log2(i + 1) for i in range(1, min(k, n) + 1))
            divisors = {"precision": k, "recall": n, "map": min(k, n), "ndcg": ideal, "mrr": 1}
            parts.append((value * divisors[name], divisors[name]))
    return parts


@settings(deadline=None)
@given(strategies.populations(), st.integers(1, 6), st.data())
def test_pooled_ratios(population, k, data):
    ranks, truths = population
    weights = [data.draw(st.sampled_from([1.0, 2.0])) for _ in truths]
    plain = tl.top_k_eval(
        ranks,
        truths,
        k,
        metrics=NAMES,
        convention=tl.CONVENTIONS["standard"].replace(aggregate="pooled"),
    )
    weighted = tl.top_k_eval(
        ranks,
        truths,
        k,
        metrics=NAMES,
        weights=weights,
        convention=tl.CONVENTIONS["standard"].replace(aggregate="pooled"),
    )
    worth = [w for w, truth in zip(weights, truths, strict=True) if truth]
    for name in NAMES:
        parts = parts_of(ranks, truths, k, name)
        check_ratio(plain, f"{name}@{k}", parts)
        of_weights = [(w * x, w * y) for w, (x, y) in zip(worth, parts, strict=True)]
        check_ratio(weighted, f"{name}@{k}", of_weights, worth)


def check_ratio(result, name, parts, weights=None):
    """Compare a ratio of sums, and its interval by the delta method, with the plain formula."""
    assert math.isnan(result.std(name))
    if not parts:
        assert math.isnan(result[name])
        return
    n, total = len(parts), math.fsum(y for _, y in parts)
    ratio = math.fsum(x for x, _ in parts) / total
    assert result[name] == pytest.approx(ratio, abs=1e-12)
    low, high = result.interval(name)
    if n > 1:
        ends = intervals.of_clusters(
            [
                intervals.Row(x / w, y / w, w, cluster=i)
                for i, ((x, y), w) in enumerate(zip(parts, weights or [1.0] * n, strict=True))
            ]
        )
        assert (low, high) == pytest.approx(ends, abs=1e-6)


@pytest.mark.parametrize("gains", ["linear", "exponential"])
def test_pooled_ratios_with_grades(gains):
    ranks, truths = [[1, 2, 3], [4, 5, 6]], [{1: 3, 3: 1, 9: 2}, {5: 2, 6: 1}]
    result = tl.top_k_eval(
        ranks,
        truths,
        2,
        metrics="ndcg",
        convention=tl.CONVENTIONS["standard"].replace(aggregate="pooled", gains=gains),
    )
    options = {"exponential": gains == "exponential"}
    earned = [oracle.dcg(r, t, 2, **options) for r, t in zip(ranks, truths, strict=True)]
    ideal = [oracle.dcg(oracle.best_list(t), t, 2, **options) for t in truths]
    assert result["ndcg@2"] == pytest.approx(sum(earned) / sum(ideal), abs=1e-15)


def test_a_pooled_ideal_beyond_the_relevant_items():
    """An ideal of k ranks goes on with gains of 1 where the relevant items end."""
    metric = dataclasses.replace(tl.METRICS["ndcg"], divisor="ideal(k)")
    ranks, truths = [[1, 2, 3], [4, 5, 6]], [{1: 3, 9: 2}, {5: 2}]
    result = tl.top_k_eval(
        ranks,
        truths,
        3,
        metrics=metric,
        convention=tl.CONVENTIONS["standard"].replace(aggregate="pooled"),
    )
    of_rank = [1, math.log2(3), 2]
    earned = 3 + 2 / of_rank[1]
    ideal = sum(
        g / d for best in ([3, 2, 1], [2, 1, 1]) for g, d in zip(best, of_rank, strict=True)
    )
    assert result["ndcg@3"] == pytest.approx(earned / ideal, abs=1e-15)


def test_the_interval_of_a_metric_that_grows_with_the_rank():
    """A hit at the first rank counts 1/2 and one below counts 2: the mean may pass 1."""
    late = tl.Metric("late", "first", lambda r: np.where(r == 1, 2.0, 0.5), "1")
    result = tl.top_k_eval([[1, 2], [1, 2], [1, 2]], [{1}, {2}, {2}], 2, metrics=late)
    low, high = result.interval("late@2")
    assert low < result["late@2"] == 1.5 < high


def test_implicit_pools_its_precision_alone():
    ranks, truths = [[1, 2, 3], [4, 5, 6]], [{1}, {5, 6, 7}]
    result = tl.top_k_eval(ranks, truths, 3, metrics=["precision", "map"], convention="implicit")
    assert result["precision@3"] == (1 + 2) / (1 + 3)
    assert result["map@3"] == pytest.approx((1 + (1 / 2 + 2 / 3) / 3) / 2)
    assert "precision: ratio of sums over users" in repr(result)
    plain = tl.top_k_eval(
        ranks,
        truths,
        3,
        metrics="precision",
        convention=tl.CONVENTIONS["implicit"].replace(aggregate="mean"),
    )
    assert plain["precision@3"] == (1 / 1 + 2 / 3) / 2


def test_unknown_aggregate():
    with pytest.raises(ValueError, match=r"did you mean 'mean'\?\): choose from 'mean', 'pooled'"):
        tl.top_k_eval(
            [[1]], [{1}], 1, convention=tl.CONVENTIONS["standard"].replace(aggregate="median")
        )


@pytest.mark.parametrize(
    "options",
    [
        {"weights": [1.0, 2.0, 0.5, 3.0]},
        {"aggregate": "pooled"},
        {"weights": [1, 2, 3, 4], "aggregate": "pooled"},
        {},
        {"gains": "exponential"},
    ],
    ids=str,
)
@pytest.mark.parametrize("graded", [False, True])
def test_merged_parts_equal_the_whole(options, graded):
    ranks = [[1, 2, 3], [4, 5, 6], [7, 8, 9], [3, 2, 1]]
    truths = [{1: 1, 9: 1}, {6: 1}, {9: 2, 8: 1}, {3: 1, 1: 5}]  # of the first, gains of 1 only
    if not graded:
        truths = [set(truth) for truth in truths]

    def evaluate(part):
        chosen = {**options, **{k: v[part] for k, v in options.items() if k == "weights"}}
        return by_words(ranks[part], truths[part], [1, 3], **chosen)

    whole, parts = evaluate(slice(None)), evaluate(slice(0, 1)) + evaluate(slice(1, None))
    for name in whole.terms.metrics:
        assert parts[name] == pytest.approx(whole[name], abs=1e-14)
        assert parts.std(name) == pytest.approx(whole.std(name), abs=1e-12, nan_ok=True)
        assert np.array_equal(parts.per_user(name), whole.per_user(name), equal_nan=True)
        for mine, theirs in zip(parts.interval(name), whole.interval(name), strict=True):
            assert mine == pytest.approx(theirs, abs=1e-7)


def test_a_pooled_ratio_of_users_who_are_all_alike_has_no_error():
    """Σx² - 2 r Σxy + r² Σy² is 0 there, and 1e-17 as it is summed."""
    for n in (2, 3, 50, 1000):
        ranks, truths = [[7]] * n, [{7}] * n
        result = tl.top_k_eval(
            ranks,
            truths,
            metrics=["f1@12", "precision@3"],
            convention=tl.CONVENTIONS["standard"].replace(aggregate="pooled"),
        )
        for name in result.names():
            assert result.interval(name) == (result[name], result[name])
    mixed = tl.top_k_eval(
        [[7], [8]] * 50,
        [{7}] * 100,
        metrics=["f1@12"],
        convention=tl.CONVENTIONS["standard"].replace(aggregate="pooled"),
    )
    low, high = mixed.interval("f1@12")
    assert low < mixed["f1@12"] < high
