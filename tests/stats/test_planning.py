"""Margins, power and the users needed, and few labels by people beside many by a judge.

Against scipy, statsmodels, golden values, simulations, and at the edges.
"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from paired_data import of_units

from toplist.stats import planning
from toplist.stats.planning import n_to_decide, not_worse, ppi, unseen
from toplist.stats.units import Units

NAN, INF = math.nan, math.inf
LEVELS, POWERS = st.floats(0.91, 0.999), st.floats(0.1, 0.99)

# Within a margin


@given(st.floats(-1, 1), st.floats(0.01, 1), st.integers(1, 500), st.floats(0.01, 2))
def test_equivalence_is_an_interval_within_the_margin(difference, error, df, margin):
    for level in (0.95, 0.8):
        got = planning.tost(difference, error, df, margin, level)
        room = min(got.low + margin, margin - got.high)
        assume(abs(room) > 1e-9)
        assert (got.p < 1 - level) == (room > 0)
        assert got.p == max(got.p_not_worse, got.p_not_better)
    mirrored = planning.tost(-difference, error, df, margin, level)
    assert (mirrored.p_not_worse, mirrored.p_not_better) == (got.p_not_better, got.p_not_worse)
    assert (mirrored.low, mirrored.high) == (-got.high, -got.low)


def test_equivalence_without_spread():
    least = 1 - 0.05**0.1  # what ten users without a difference leave open
    for n in (None, 10):
        none = planning.tost(0.0, 0.0, 9, least * 0.999, n=n)
        assert all(map(math.isnan, none[:3])) and none[3:] == pytest.approx((-least, least))
    found = planning.tost(0.0, 0.0, 9, least * 1.001)
    assert found.p == found.p_not_worse == found.p_not_better < 0.05
    assert found.p == pytest.approx((1 - least * 1.001) ** 10)
    # beyond the margin, and at the margin itself
    assert planning.tost(0.3, 0.0, 9, 0.1)[0::2][:2] == (1, 1)
    assert planning.tost(-0.1, 0.0, 9, 0.1).p_not_worse == 1
    # every user differs by D, so that a rare one of -1 moves the mean by 1 + D
    one = planning.tost(0.2, 0.0, 19, 0.5)
    assert one[1:3] == pytest.approx(((0.5 / 1.2) ** 20, (0.5 / 0.8) ** 20))
    rare = 1 - 0.05 ** (1 / 20)
    assert one[3:] == pytest.approx((0.2 - rare * 1.2, 0.2 + rare * 0.8))
    assert all(map(math.isnan, planning.tost(0.0, 0.0, 9, 5.0, n=0)))  # values without bounds
    assert all(map(math.isnan, planning.tost(0.1, NAN, 0, 0.1)))


# Power


@pytest.mark.parametrize("n", [2, 10, 10_000])
def test_power_agrees_with_statsmodels(n):
    tests = pytest.importorskip("statsmodels.stats.power").TTestPower()
    for effect, level in itertools.product((0.01, 0.1, 0.5), (0.9, 0.95, 0.99)):
        expected = tests.power(effect, n, 1 - level)
        if math.isfinite(expected):  # scipy gives up at times
            got = planning.power(effect * 3, 3.0, n, level)
            assert got == pytest.approx(expected, abs=1e-8)
        assert planning.power(-effect, 1.0, n, level) == planning.power(effect, 1.0, n, level)


@settings(deadline=None, max_examples=30)
@given(st.floats(1e-6, 1e3), st.integers(2, 10**7), st.floats(0.003, 20), POWERS, LEVELS)
def test_what_is_found_with_that_power_by_just_enough_users(std, n, effect, power, level):
    difference = planning.detectable(std, n, power, level)
    assert difference > 0
    assert planning.power(difference, std, n, level) == pytest.approx(power, abs=1e-9)
    n = planning.n_needed(-effect * 2, 2.0, power, level)
    assert isinstance(n, int) and n >= 2
    assert planning.power(effect, 1.0, n, level) >= power
    assert n == 2 or planning.power(effect, 1.0, n - 1, level) < power


def test_ends_of_power():
    assert planning.power(0.0, 1.0, 10) == pytest.approx(0.05, abs=1e-10)
    assert planning.power(0.1, 0.0, 10) == 1 and planning.power(0.0, 0.0, 10) == 0
    assert planning.detectable(0.0, 10) == 0 and planning.n_needed(0.1, 0.0) == 2
    unknown = [planning.power(0.1, NAN, 9), planning.power(NAN, 0.1, 9)]
    unknown += [planning.detectable(NAN, 9), planning.n_needed(0.1, NAN)]
    unknown += [planning.n_needed(NAN, 0.1)]
    for n in (1, 0, NAN):
        unknown += [planning.power(0.1, 1.0, n), planning.detectable(1.0, n)]
    assert np.isnan(unknown).all()


# Not worse than a margin


def drawn(n, mean, std=0.1, seed=0):
    rng = np.random.default_rng(seed)
    base = rng.random(n)
    return base + rng.normal(mean, std, n), base


@pytest.mark.parametrize(("mean", "n"), [(-0.05, 30), (-0.005, 400), (0.01, 30)])
def test_p_is_that_of_scipy_where_30_differ(mean, n):
    stats = pytest.importorskip("scipy.stats")
    new, base = drawn(n, mean)
    found = not_worse(new, base, 0.005)
    for p, side in ((found.p_not_worse, "greater"), (found.p_worse, "less")):
        expected = stats.ttest_1samp(new - base, -0.005, alternative=side).pvalue
        assert p == pytest.approx(expected, rel=1e-9)
    assert not found.bound and found.differ == n


@pytest.mark.parametrize("seed", range(4))
def test_the_verdict_is_the_place_of_the_interval(seed):
    new, base = drawn(200, -0.004, std=0.02, seed=seed)
    for margin in (0.001, 0.004, 0.008):
        found = not_worse(new, base, margin)
        above, below = found.test.low > -margin, found.test.high < -margin
        verdict = "not worse" if above else "worse" if below else "undecided"
        assert found.verdict == verdict
        assert math.isnan(found.n_needed) == (verdict != "undecided")


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("differ", [3, 12])
def test_a_bound_of_either_side_must_agree_where_few_differ(seed, differ):
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(seed)
    d, n = np.zeros(15), 15
    d[:differ] = rng.integers(-5, 4, differ) / 10 - 0.05
    found = not_worse(d + 0.6, np.full(n, 0.6), 0.1)
    assert found.bound > 0 and found.differ == differ
    for p, side, bound in (
        (found.p_worse, "less", unseen(-0.1 - d, -1.1)),  # who gains 1 was not drawn
        (found.p_not_worse, "greater", unseen(d + 0.1, -0.5)),  # who loses .6 was not
    ):
        by_t = stats.ttest_1samp(d, -0.1, alternative=side).pvalue
        assert p == pytest.approx(max(by_t, bound), rel=1e-9)


RARE = {  # what 3 %, most of the others and the rest gain; the true loss is the margin
    "worse": ((0.9, -0.1, 0.0), 0.1, 0.0603),
    "not worse": ((-0.9, 0.0, 0.0), 0.9, 0.027),
}


@pytest.mark.parametrize("verdict", RARE)
def test_rare_users_who_were_not_drawn_are_allowed_for_on_either_side(verdict):
    gains, base, margin = RARE[verdict]
    rng, wrong, by_t = np.random.default_rng(4), 0, 0
    for _ in range(100):
        d = rng.choice(gains, 100, p=[0.03, 0.873, 0.097])
        found = not_worse(base + d, np.full(100, base), margin)
        ends = found.test.low > -margin, found.test.high < -margin
        wrong += found.verdict == verdict
        by_t += ends[verdict == "worse"]
    assert wrong <= 3 < by_t


@pytest.mark.parametrize("n", [5, 20, 80])
def test_the_bound_of_what_was_not_drawn_is_that_of_drawn_weights(n):
    rng = np.random.default_rng(n)
    x = rng.choice([0.02, 0.3, -0.4], n, p=[0.8, 0.15, 0.05])
    weights = rng.exponential(size=(40_000, n + 1))
    expected = (weights @ np.append(x, -0.9) <= 0).mean()
    assert unseen(x, -0.9) == pytest.approx(expected, abs=0.01)
    assert unseen(np.full(n, 0.1), 0.1 - 1) == pytest.approx(0.9**n, rel=0.03)
    assert unseen(-np.abs(x), -0.9) == 1 and unseen(np.abs(x), 0.0) == 0


def few(n, *values, base=1.0):
    """Return a base of one value, and a new system of which the first users differ by these."""
    d = np.zeros(n)
    d[: len(values)] = values
    return base + d, np.full(n, base)


LINE = np.linspace(0, 0.5, 100)
# New and base, the margin, the verdict, and other fields.
SITUATIONS = {
    "a collapse of all 29": (few(29, *[-1] * 29), 0.005, "worse", {"differ": 29}),
    "a collapse of 29 of 30": (few(30, *[-1] * 29), 0.005, "worse", {"differ": 29}),
    "a collapse of 29 of 3,000": (few(3000, *[-1] * 29), 0.005, "worse", {"differ": 29}),
    "all lose more": ((LINE - 0.1, LINE), 0.05, "worse", {"differ": 100}),
    "all lose as much": ((LINE - 0.05, LINE), 0.05, "undecided", {"n_needed": INF}),
    "all lose less": ((LINE - 0.01, LINE), 0.05, "not worse", {"differ": 100}),
    "one who does not differ": (few(1), 0.01, "undecided", {"differ": 0, "p_worse": 1}),
    "100 who do not differ": (few(100), 0.01, "undecided", {"differ": 0, "p_worse": 1}),
    "400 who do not differ": (few(400), 0.01, "not worse", {"differ": 0, "p_worse": 1}),
    "rounding": ((np.full(9, 0.1 + 0.2), np.full(9, 0.3)), 1e-6, "undecided", {"differ": 0}),
    "five who lose": (
        *(few(5, -1, -0.9, -0.95, -1, -0.9), 0.005, "undecided"),
        {"differ": 5, "n_needed": 6},
    ),
    "small losses of five": (few(1000, *[-0.01] * 5, base=0), 0.005, "not worse", {"differ": 5}),
    # nobody who loses was drawn
    "two who win": (few(50, 1, 1, base=0), 0.005, "undecided", {"differ": 2}),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_verdicts(name):
    (new, base), margin, verdict, more = SITUATIONS[name]
    found = not_worse(new, base, margin)
    assert found.verdict == verdict
    assert {field: getattr(found, field) for field in more} == more


def test_users_needed():
    for n in (1, 100, 400):
        assert not_worse(*few(n), 0.01).p_not_worse == pytest.approx(0.99**n, rel=0.02)
    assert not_worse(*few(100), 0.01).n_needed == pytest.approx(367, rel=0.02)
    assert not_worse(*few(50, 1, 1, base=0), 0.005).n_needed >= 50 * 30 / 2
    new, base = drawn(200, -0.001)  # by the power of the t test
    found = not_worse(new, base, 0.005)
    gap, std = found.test.difference + 0.005, (new - base).std(ddof=1)
    assert found.verdict == "undecided" and found.n_needed == n_to_decide(gap, std)
    assert found.n_needed == pytest.approx(((1.96 + 0.8416) * std / gap) ** 2, rel=0.02)


def test_heavy_users_who_lose_and_were_not_drawn_are_allowed_for():
    # 12 of 270 light users lose all: of 30 heavy ones, who hold half of the weight, nobody does
    weights = np.repeat([1.0, 10.0], [270, 30])
    new, base = few(300, *[-1.0] * 12)
    found = not_worse(new, base, 0.05, Units(300, weights))
    t = (found.test.difference + 0.05) / found.test.error
    assert found.test.difference == pytest.approx(-12 / 570) and t > 4
    assert found.verdict == "undecided" and found.p_not_worse == found.bound > 0.025
    alike = not_worse(new, base, 0.05, Units(300, np.full(300, 3.0)))
    assert alike.bound == pytest.approx(not_worse(new, base, 0.05).bound, abs=1e-12)


# Eight of twenty units differ, each with a weight of its own, or of many rows
EIGHT = np.array([-0.4, 0.1, 0.3, -0.2, -0.5, 0.1, 0.2, -0.3])


def test_weights_and_clusters_are_as_in_the_t_test_and_share_the_margin_by_their_size():
    new, base = drawn(300, -0.003, std=0.02)
    weights = np.random.default_rng(1).integers(1, 4, 300)
    once = of_units(not_worse, new, base, 0.005, weights=weights)
    assert once.test.difference == pytest.approx(np.average(new - base, weights=weights))
    plain = not_worse(new, base, 0.005)
    thrice = np.repeat(new, 3), np.repeat(base, 3)
    for alike in (
        of_units(not_worse, new, base, 0.005, weights=np.full(300, 7.0)),
        of_units(not_worse, *thrice, 0.005, clusters=np.arange(900) // 3),
    ):
        assert alike.p_not_worse == pytest.approx(plain.p_not_worse)
    sizes = np.r_[np.arange(1, 9), np.ones(12)]
    d = np.r_[EIGHT, np.zeros(12)]
    unit = (sizes**2).sum() / sizes.sum()
    gains = unseen(-sizes * (d + 0.05), -1.05 * unit)
    rows = np.repeat(np.arange(20), sizes.astype(int))
    for found in (
        of_units(not_worse, d, np.zeros(20), 0.05, weights=sizes),
        of_units(not_worse, d[rows], np.zeros(len(rows)), 0.05, clusters=rows),
    ):
        assert found.differ == 8 and found.bound
        assert found.p_worse >= gains - 1e-12


# A judge corrected by people

Y = [0.5, 1, 0, 0.3, 0.8]
Y_HAT = [0.6, 0.9, 0.2, 0.3, 1]
U_HAT = [0.4, 0.9, 0.1, 0.7, 0.5, 0.6, 1, 0, 0.3, 0.8]


def test_the_golden_values_of_a_judge():
    """Of each value twice: variances, which divide by n, stay, and errors are smaller by √2.

    λ is over a variance of 15 values that divides by 14, and of twice as many that divides by 29.
    """
    twice = Y * 2, Y_HAT * 2, U_HAT * 2
    for lam, expected in (
        (1, (0.45, 0.228863, 0.671137)),
        (0.652021, (0.474359, 0.276097, 0.672620)),
    ):
        found, (mean, low, high) = ppi(*twice, lam=lam), expected
        half = (high - low) / 2 / math.sqrt(2)
        expected = mean, mean - half, mean + half
        assert (found.estimate, found.low, found.high) == pytest.approx(expected, abs=1e-6)
    assert ppi(*twice).lam == pytest.approx(0.652021 * 29 / 28, abs=1e-5)


def test_the_judge_is_corrected_by_the_formula():
    """Sums of plain Python, of another sample and level."""
    rng = np.random.default_rng(0)
    y, y_hat, u = rng.random(11).tolist(), rng.random(11).tolist(), rng.random(20).tolist()
    y_hat = [(a + b) / 2 for a, b in zip(y, y_hat, strict=True)]

    def mean(values):
        return math.fsum(values) / len(values)

    def squares(values):
        return math.fsum((one - mean(values)) ** 2 for one in values)

    both = math.fsum((a - mean(y)) * (b - mean(y_hat)) for a, b in zip(y, y_hat, strict=True)) / 11
    lam = both / ((1 + 11 / 20) * squares(y_hat + u) / 30)
    left = [a - lam * b for a, b in zip(y, y_hat, strict=True)]
    error = math.sqrt(lam**2 * squares(u) / 20 / 20 + squares(left) / 11 / 11)
    found = ppi(y, y_hat, u, level=0.9)
    assert 0 < lam < 1 and found.lam == pytest.approx(lam)
    assert found.estimate == pytest.approx(lam * mean(u) + mean(left))
    assert found.error == pytest.approx(error)
    assert found.high - found.low == pytest.approx(2 * 1.6448536 * error)
    assert (found.human, found.judge) == pytest.approx((mean(y), mean(y_hat + u)))
    assert found.human_error == pytest.approx(math.sqrt(squares(y)) / 11)
    assert found.judge_error == pytest.approx(math.sqrt(squares(y_hat + u)) / 31)
    assert found.n_effective == pytest.approx(squares(y) / 11 / error**2)
    assert (found.n, found.n_unlabelled) == (11, 20)


def test_judges_of_no_use_and_of_full_use():
    for judge in ([0.3] * 10, [0.5, 0, 1, 0.7, 0.2] * 2):  # the same for all, and against people
        found = ppi(Y * 2, judge, U_HAT if judge[1] == 0 else [0.3] * 10)
        assert found.lam == 0 and found.estimate == found.human
        assert found.n_effective == pytest.approx(10) and found.error == found.human_error
    # of 2,000 queries 100 are judged by people: the judge, 0.2 too high, makes them 1,900 more
    truth = np.random.default_rng(1).random(2000)
    found = ppi(truth[:100], truth[:100] + 0.2, truth[100:] + 0.2)
    assert found.n_effective == pytest.approx(2000, rel=0.1)
    assert abs(found.estimate - truth.mean()) < 2 * found.error < 0.02
    # values without spread have no interval
    found = ppi([0.1] * 10, [0.1] * 10, U_HAT)
    assert found.estimate == pytest.approx(0.1) and np.isnan([found.low, found.n_effective]).all()


def test_of_values_in_clusters_the_error_is_that_of_sums_over_clusters():
    """By the definition, in plain loops; a cluster may have values of both kinds."""
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 12, 90)
    y, judge = rng.random(90), rng.random(90)
    some = rng.random(90) < 0.4
    given_ = y[some], judge[some], judge[~some]
    found = ppi(*given_, lam=0.5, clusters=(labels[some], labels[~some]))
    pulls = dict.fromkeys(labels.tolist(), 0.0)
    for chosen, values in ((some, (y - 0.5 * judge)[some]), (~some, 0.5 * judge[~some])):
        mine = labels[chosen]
        for label in np.unique(mine).tolist():
            share = (mine == label).mean()
            left = (values[mine == label] - values.mean()).sum() / len(values)
            pulls[label] += left / math.sqrt(1 - share)
    assert found.error == pytest.approx(math.sqrt(sum(one**2 for one in pulls.values())))
    best = ppi(*given_, clusters=(labels[some], labels[~some]))
    assert best.error <= found.error and 0 <= best.lam <= 1
