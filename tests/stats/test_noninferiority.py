"""The test against a margin: by the formula, by scipy, by all sign patterns, and its edges."""

import itertools
import math

import numpy as np
import pytest
from paired_data import of_units

from toplist.stats.planning import n_to_decide, not_worse, unseen


def drawn(n, mean, std=0.1, seed=0):
    rng = np.random.default_rng(seed)
    base = rng.random(n)
    return base + rng.normal(mean, std, n), base


@pytest.mark.parametrize("mean", [-0.05, -0.01, -0.005, 0.0, 0.01])
@pytest.mark.parametrize("n", [30, 400])
def test_p_is_that_of_scipy_where_30_differ(mean, n):
    stats = pytest.importorskip("scipy.stats")
    new, base = drawn(n, mean)
    found = not_worse(new, base, 0.005)
    for p, side in ((found.p_not_worse, "greater"), (found.p_worse, "less")):
        expected = stats.ttest_1samp(new - base, -0.005, alternative=side).pvalue
        assert p == pytest.approx(expected, rel=1e-9)
    assert not found.bound and found.differ == n


@pytest.mark.parametrize("seed", range(20))
def test_the_verdict_is_the_place_of_the_interval(seed):
    new, base = drawn(200, -0.004, std=0.02, seed=seed)
    for margin in (0.001, 0.004, 0.008):
        found = not_worse(new, base, margin)
        above, below = found.test.low > -margin, found.test.high < -margin
        verdict = "not worse" if above else "worse" if below else "undecided"
        assert found.verdict == verdict
        assert math.isnan(found.n_needed) == (verdict != "undecided")


def p_of_patterns(values, side):
    """Return p over all signs, by plain sums."""
    values = [side * one for one in values]
    signs = itertools.product((-1, 1), repeat=len(values))
    sums = [sum(s * v for s, v in zip(some, values, strict=True)) for some in signs]
    return sum(one >= sum(values) - 1e-9 for one in sums) / len(sums)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("differ", [3, 12])
def test_flips_and_a_bound_must_agree_where_few_differ(seed, differ):
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(seed)
    d, n = np.zeros(15), 15
    d[:differ] = rng.integers(-5, 4, differ) / 10 - 0.05
    flipped = d[d != 0] + 0.1 * n / differ if differ > 5 else d + 0.1  # 2^-5 is above .025
    found = not_worse(d + 1, np.ones(n), 0.1)
    assert found.bound > 0 and found.differ == differ
    by_t = stats.ttest_1samp(d, -0.1, alternative="less").pvalue
    assert found.p_worse == pytest.approx(max(by_t, p_of_patterns(flipped, -1)), rel=1e-9)
    by_t = stats.ttest_1samp(d, -0.1, alternative="greater").pvalue
    assert found.p_not_worse == pytest.approx(max(by_t, found.bound), rel=1e-9)


@pytest.mark.parametrize("n", [5, 20, 80])
def test_the_bound_of_what_was_not_drawn_is_that_of_drawn_weights(n):
    rng = np.random.default_rng(n)
    x = rng.choice([0.02, 0.3, -0.4], n, p=[0.8, 0.15, 0.05])
    weights = rng.exponential(size=(100_000, n + 1))
    expected = (weights @ np.append(x, -0.9) <= 0).mean()
    assert unseen(x, -0.9) == pytest.approx(expected, abs=0.01)
    assert unseen(np.full(n, 0.1), 0.1 - 1) == pytest.approx(0.9**n, rel=0.03)
    assert unseen(-np.abs(x), -0.9) == 1 and unseen(np.abs(x), 0.0) == 0


@pytest.mark.parametrize("n", [20, 100, 300])
def test_a_gate_passes_no_loss_that_it_cannot_see(n):
    """3 % of the users lose all, and the margin is just this loss."""
    rng, passed = np.random.default_rng(n), 0
    for _ in range(300):
        new = (rng.random(n) >= 0.03).astype(float)
        passed += not_worse(new, np.ones(n), 0.03).verdict == "not worse"
    assert passed / 300 <= 0.035 + 0.01  # one standard deviation


def test_many_flips_are_drawn_by_a_seed_on_any_number_of_threads():
    new, base = drawn(29, -0.02)
    found = not_worse(new, base, 0.005, seed=3)
    assert found == not_worse(new, base, 0.005, seed=3, n_threads=1)
    assert found.bound > 0 and 0 < found.p_worse < 1


@pytest.mark.parametrize("n", [29, 30, 3000])
def test_a_collapse_of_29_users_is_worse(n):
    base = np.ones(n)
    new = base.copy()
    new[:29] = 0
    found = not_worse(new, base, 0.005)
    assert (found.verdict, found.differ) == ("worse", 29)
    if n == 29:
        assert found.p_worse == 0.5**29 and math.isnan(found.test.low)


def test_all_differ_by_the_same():
    base = np.linspace(0, 0.5, 100)
    for loss, verdict in ((0.1, "worse"), (0.05, "undecided"), (0.01, "not worse")):
        found = not_worse(base - loss, base, 0.05)
        assert (found.verdict, found.differ) == (verdict, 100)
    assert not_worse(base - 0.05, base, 0.05).n_needed == math.inf


def test_of_few_users_who_do_not_differ_nothing_follows():
    for n, verdict in ((1, "undecided"), (100, "undecided"), (400, "not worse")):
        found = not_worse(np.ones(n), np.ones(n), 0.01)
        assert (found.verdict, found.differ, found.p_worse) == (verdict, 0, 1)
        assert found.p_not_worse == pytest.approx(0.99**n, rel=0.02)
    assert not_worse(np.ones(100), np.ones(100), 0.01).n_needed == pytest.approx(367, rel=0.02)


def test_rounding_is_no_difference():
    found = not_worse(np.full(9, 0.1 + 0.2), np.full(9, 0.3), 1e-6)
    assert (found.verdict, found.differ) == ("undecided", 0)


def test_five_users_decide_nothing_by_signs():
    found = not_worse([0.0, 0.1, 0.05, 0.0, 0.1], np.ones(5), 0.005)
    assert found.test.high < -0.5 and found.p_worse == 1 / 32
    assert (found.verdict, found.n_needed) == ("undecided", 30)


def test_a_few_small_losses_among_many_users_are_not_worse():
    d = np.zeros(1000)
    d[:5] = -0.01
    assert not_worse(d, np.zeros(1000), 0.005).verdict == "not worse"


def test_a_few_winners_alone_show_nothing():
    """By flips of d + margin of all users p would be 2^-50: nobody who loses was drawn."""
    d = np.zeros(50)
    d[:2] = 1
    found = not_worse(d, np.zeros(50), 0.005)
    assert found.verdict == "undecided" and found.n_needed >= 50 * 30 / 2


def test_users_needed_are_those_of_the_power_of_the_t_test():
    new, base = drawn(200, -0.001)
    found = not_worse(new, base, 0.005)
    gap, std = found.test.difference + 0.005, (new - base).std(ddof=1)
    assert found.verdict == "undecided"
    assert found.n_needed == n_to_decide(gap, std)
    assert found.n_needed == pytest.approx(((1.96 + 0.8416) * std / gap) ** 2, rel=0.02)


def test_weights_are_as_in_the_t_test():
    new, base = drawn(300, -0.003, std=0.02)
    weights = np.random.default_rng(1).integers(1, 4, 300)
    once = of_units(not_worse, new, base, 0.005, weights=weights)
    assert once.test.difference == pytest.approx(np.average(new - base, weights=weights))
    alike = of_units(not_worse, new, base, 0.005, weights=np.full(300, 7.0))
    assert alike.p_not_worse == pytest.approx(not_worse(new, base, 0.005).p_not_worse)


def test_weights_of_few_who_differ_share_the_margin_by_their_size():
    d, weights = np.zeros(20), np.ones(20)
    d[:8], weights[:8] = [-0.4, 0.1, 0.3, -0.2, -0.5, 0.1, 0.2, -0.3], np.arange(1, 9)
    found = of_units(not_worse, d, np.zeros(20), 0.05, weights=weights)
    w = weights[:8]
    flipped = w * d[:8] + 0.05 * w * weights.sum() / w.sum()
    assert found.p_worse >= p_of_patterns(flipped, -1) - 1e-12


def test_rows_of_a_cluster_are_one():
    new, base = drawn(60, -0.02)
    clusters = np.arange(60) // 5
    found = of_units(not_worse, new, base, 0.005, clusters=clusters)
    assert found.differ == 12 and found.bound and found.test.n == 60
    sums = [(new - base + 0.005)[clusters == one].sum() for one in range(12)]
    assert found.p_worse >= p_of_patterns(sums, -1) - 1e-12
    twice = of_units(
        not_worse, np.repeat(new, 3), np.repeat(base, 3), 0.005, clusters=np.arange(180) // 3
    )
    assert twice.p_worse == pytest.approx(not_worse(new, base, 0.005).p_worse)


@pytest.mark.parametrize("margin", [0, -0.1, math.nan, math.inf, True, "0.1", None])
def test_a_margin_is_a_number_above_0(margin):
    with pytest.raises(ValueError, match="margin must be a number above 0, not "):
        not_worse([0.1, 0.2], [0.1, 0.1], margin)


def test_nobody_is_an_error():
    with pytest.raises(ValueError, match="no user to test"):
        not_worse([], [], 0.1)
