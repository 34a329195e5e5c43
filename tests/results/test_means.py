"""Standard deviations and intervals of means: which, of whom, and how far they reach."""

import math
import statistics
from dataclasses import replace

import numpy as np
import pytest
from doors import by_words
from systems import RANKS, TRUTHS

import toplist as tl
from toplist import top_k_eval
from toplist.stats.distributions import t_ppf

SIX = ("hit", "precision", "recall", "map", "ndcg", "mrr")


@pytest.fixture
def result():
    return top_k_eval(RANKS, TRUTHS, k=[1, 3, 5])


def test_std_and_interval_by_hand(result):
    for name in SIX:
        values = tl.curves(name, RANKS, TRUTHS)[:, 4].tolist()
        std = statistics.stdev(values)
        assert result.std(f"{name}@5") == pytest.approx(std, abs=1e-12)
        assert result.interval(f"{name}@5") == result.interval(f"{name}@5", 0.95)
        for level in (0.5, 0.95, 0.99):
            half = t_ppf(0.5 + level / 2, 1) * std / math.sqrt(2)
            wanted = statistics.mean(values) - half, statistics.mean(values) + half
            if name != "hit":  # a proportion, whose interval is Wilson's
                wanted = max(wanted[0], 0), min(wanted[1], 1)
                assert result.interval(f"{name}@5", level) == pytest.approx(wanted, abs=1e-12)


def test_std_and_interval_of_a_curve(result):
    low, high = result.interval("map")
    assert {type(one) for one in (result.std("map@3"), *result.interval("map@3"))} == {float}
    assert result.std("map").tolist() == [result.std(f"map@{k}") for k in range(1, 6)]
    assert list(zip(low, high, strict=True)) == [result.interval(f"map@{k}") for k in range(1, 6)]


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, math.nan])
def test_level(result, level):
    with pytest.raises(ValueError, match=f"level must be between 0 and 1, not {level}"):
        result.interval("map@3", level)


def test_equal_users_have_no_spread():
    result = top_k_eval([[7, 8, 9]] * 30, [{8, 5, 6}] * 30, k=3, metrics=[*SIX, "dcg", "rbp"])
    assert [result.std(name) for name in result.names()] == [0.0] * 8


Z = 1.959963984540054


def hits_at_1(n_hits, n_users, **options):
    """Return the result of some users, the first of whom have a hit."""
    lists = [[user] for user in range(n_users)]
    truths = [{user if user < n_hits else -1} for user in range(n_users)]
    return by_words(lists, truths, **{"k": 1, "metrics": "hit", **options})


def wilson(p, n, z=Z):
    """Return the interval by the formula of the field's textbooks."""
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return centre - half, centre + half


@pytest.mark.parametrize(("n_hits", "n"), [(0, 1), (1, 2), (3, 3), (0, 7), (5, 50), (50, 50)])
def test_hit_has_wilsons_interval(n_hits, n):
    result = hits_at_1(n_hits, n, metrics=["hit", "recall"])
    expected = wilson(n_hits / n, n)
    assert result.interval("hit@1") == pytest.approx(expected, abs=1e-12)
    recall = result["recall@1"], result.std("recall@1")  # is one too, but not by its definition
    half = t_ppf(0.975, max(n - 1, 1)) * recall[1] / math.sqrt(n)
    ends = max(recall[0] - half, 0.0), min(recall[0] + half, 1.0)
    assert result.interval("recall@1") == pytest.approx(ends, abs=1e-12, nan_ok=True)
    low, high = result.interval("hit@1")
    assert 0 <= low <= result["hit@1"] <= high <= 1 and low < high
    parts = [hits_at_1(n_hits, n), hits_at_1(0, 3)]
    assert tl.merge(parts).interval("hit@1") == pytest.approx(wilson(n_hits / (n + 3), n + 3))
    stream = replace(result, hits=None, counted=None)
    assert stream.interval("hit@1") == result.interval("hit@1")


def test_wilson_by_definition_and_never_by_values():
    """All values are 0 or 1, but those of recall and mrr need not be."""
    lists, truths = [[1, 2], [3, 4], [5, 6]], [{1, 2}, {3, 4}, {9, 8}]
    result = tl.top_k_eval(lists, truths, k=2)
    assert set(result.per_user("recall@2")) == {0, 1}
    assert result.interval("recall@2") == (0.0, 1.0)  # by t, of three users
    assert result.interval("hit@2") == pytest.approx(wilson(2 / 3, 3))
    own = tl.Metric("own", "first", lambda r: np.ones_like(r), "1")
    unknown = tl.top_k_eval(lists, truths, 2, metrics=own)
    assert unknown.interval("own@2")[1] == 1.0
    assert "Student's t" in repr(unknown)


def test_only_metrics_that_cannot_leave_0_and_1_are_cut():
    lists, truths = [[1, 2], [3, 4]], [{1, 2}, {8}]
    beyond = tl.Metric("beyond", "each", "1", lambda k, R, n: np.maximum(R - 1, 1))
    metrics = [*(name for name, one in tl.METRICS.items() if one.cut != "n"), beyond]
    result = tl.top_k_eval(lists, truths, k=2, metrics=metrics)
    past = {name for name in result.terms.metrics if result.interval(f"{name}@2")[1] > 1}
    assert past == {"dcg", "cg", "beyond", "alpha_ndcg"}  # its ideal is greedy, not the best
    for name in set(result.terms.metrics) - past:
        assert result.interval(f"{name}@2")[0] >= 0
    for convention in tl.CONVENTIONS.values():
        names = [
            name
            for name, metric in convention.metrics.items()
            if name not in ("dcg", "cg", "alpha_ndcg") and metric.cut != "n"
        ]
        found = tl.top_k_eval(lists, truths, k=2, metrics=names, convention=convention.name)
        for name in names:
            low, high = found.interval(name)  # NaN where one user is left in the mean
            assert np.all(np.isnan(low) | ((low >= 0) & (high <= 1)))
    graded = tl.top_k_eval(lists, [{1: 3, 2: 1}, {8: 1}], 2, metrics=["ndcg", "cg"])
    assert graded.interval("ndcg@2")[1] == 1 and graded.interval("cg@2")[1] > 1


def test_an_interval_does_not_hang_on_a_metric_beside_it():
    """In leave-one-out dcg is within 1, also where ERR is asked, whose gains are of its own."""
    lists = {"a": [1, 2], "b": [2, 3], "c": [3, 4], "d": [4, 1]}
    truths = {"a": 1, "b": 3, "c": 3, "d": 2}
    alone = tl.top_k_eval(lists, truths, 2, metrics="dcg")
    for other in ("err", "nerr", "ndcg", "judged"):
        beside = tl.top_k_eval(lists, truths, 2, metrics=["dcg", other])
        assert beside.interval("dcg@2") == alone.interval("dcg@2")
    assert alone.interval("dcg@2")[1] == 1
