"""All systems at once: analysis of variance, Tukey, and permutations, against plain formulas."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from toplist.stats import blocked
from toplist.stats.distributions import (
    t_ppf,
    t_sf,
)

NAN, INF = math.nan, math.inf


def random_values(seed, n, n_systems, levels=None):
    """Return values with ties where `levels` are given, and users that are all equal."""
    rng = np.random.default_rng(seed)
    values = rng.random((n, n_systems)) + rng.random((n, 1))
    if levels:
        values = rng.integers(0, levels, (n, n_systems)) / levels
    values[rng.random(n) < 0.2] = 0.25
    return values


def plain_squares(values):
    """Return the sums of squares of systems, users and residual by their formulas."""
    n, n_systems = values.shape
    user, system, mean = values.mean(axis=1), values.mean(axis=0), values.mean()
    rest = values - user[:, None] - system + mean
    return (
        n * ((system - mean) ** 2).sum(),
        n_systems * ((user - mean) ** 2).sum(),
        (rest**2).sum(),
    )


@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(2, 6), st.integers(0, 30))
def test_moments_of_parts_add_up(seed, n, n_systems, cut):
    values = random_values(seed, n, n_systems)
    whole = blocked.moments_of(values)
    parts = blocked.moments_of(values[:cut]) + blocked.moments_of(values[cut:])
    for got in (whole, parts):
        assert got.n == n and got.means == pytest.approx(values.mean(axis=0))
        assert got.squares == pytest.approx(plain_squares(values), abs=1e-12)


def test_moments_do_not_depend_on_the_size_of_blocks(monkeypatch):
    values = random_values(1, 1000, 4)
    whole = blocked.moments_of(values)
    monkeypatch.setattr(blocked, "USERS", 7)
    assert blocked.moments_of(values).squares == pytest.approx(whole.squares, rel=1e-12)


def test_twins_keep_their_digits():
    values = np.repeat(random_values(2, 500, 1), 3, axis=1) + 1.0
    values[3, 1] += 1e-7
    moments = blocked.moments_of(values)
    assert moments.squares[2] == pytest.approx(1e-14 * 2 / 3 * 499 / 500, rel=1e-6)
    halves = blocked.moments_of(values[:200]) + blocked.moments_of(values[200:])
    assert halves.squares[2] == pytest.approx(moments.squares[2], rel=1e-9)


@given(st.integers(0, 10**6), st.integers(3, 40))
def test_two_systems_give_the_paired_t_test(seed, n):
    values = random_values(seed, n, 2)
    d = values[:, 0] - values[:, 1]
    assume(d.std() > 1e-6)
    t = d.mean() / (d.std(ddof=1) / math.sqrt(n))
    moments = blocked.moments_of(values)
    result, pairs = blocked.anova(moments), blocked.tukey_hsd(moments)
    p, reach = 2 * t_sf(abs(t), n - 1), t_ppf(0.975, n - 1) * d.std(ddof=1) / math.sqrt(n)
    assert result.f_systems == pytest.approx(t * t) and result.p_systems == pytest.approx(p)
    assert pairs.statistic == pytest.approx([abs(t) * math.sqrt(2)]) and pairs.p == pytest.approx(p)
    assert pairs.difference == pytest.approx([d.mean()])
    assert (pairs.low[0], pairs.high[0]) == pytest.approx((d.mean() - reach, d.mean() + reach))
    assert pairs.effect[0] == pytest.approx(math.sqrt(2) * d.mean() / d.std(ddof=1))


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.integers(2, 30), st.integers(3, 6), st.sampled_from([0.9, 0.95]))
def test_tukey_of_systems_in_another_order(seed, n, n_systems, level):
    values = random_values(seed, n, n_systems)
    pairs = blocked.tukey_hsd(blocked.moments_of(values), level)
    turned = blocked.tukey_hsd(blocked.moments_of(values[:, ::-1]), level)
    names = list(itertools.combinations(range(n_systems), 2))
    assert list(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)) == names
    back = [names.index((n_systems - 1 - j, n_systems - 1 - i)) for i, j in names]
    assert pairs.difference == pytest.approx(-turned.difference[back], abs=1e-12)
    assert pairs.p == pytest.approx(turned.p[back], rel=1e-6, abs=1e-12)
    clear = abs(pairs.p - (1 - level)) > 1e-9
    apart = (pairs.low > 0) | (pairs.high < 0)
    assert ((pairs.p < 1 - level) == apart)[clear].all()
    scaled = blocked.tukey_hsd(blocked.moments_of(values * 7 + 0.3), level)
    assert scaled.statistic == pytest.approx(pairs.statistic, rel=1e-6, abs=1e-9)


def test_systems_that_never_differ():
    values = np.repeat(random_values(3, 50, 1), 4, axis=1) * 0.1 + 1e6
    result, pairs = (f(blocked.moments_of(values)) for f in (blocked.anova, blocked.tukey_hsd))
    assert (result.f_systems, result.p_systems, result.ss_residual) == (0, 1, 0)
    assert (result.f_users, result.p_users) == (INF, 0)
    for array, number in ((pairs.difference, 0), (pairs.p, 1), (pairs.low, 0), (pairs.effect, 0)):
        assert array.tolist() == [number] * 6
    assert blocked.randomized_tukey(values, 99).tolist() == [1] * 6
    nothing = blocked.anova(blocked.moments_of(np.full((5, 3), 0.1)))
    assert (nothing.f_systems, nothing.f_users, nothing.p_users) == (0, 0, 1)


def test_systems_that_differ_by_a_constant():
    values = random_values(4, 50, 1) + np.array([0.0, 0.0, 0.5])
    moments = blocked.moments_of(values)
    result, pairs = blocked.anova(moments), blocked.tukey_hsd(moments)
    assert (result.f_systems, result.p_systems) == (INF, 0)
    assert pairs.p.tolist() == [1, 0, 0] and pairs.effect.tolist() == [0, -INF, -INF]
    assert pairs.statistic.tolist() == [0, INF, INF]
    assert pairs.low == pytest.approx([0, -0.5, -0.5]) and (pairs.low == pairs.high).all()


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_users_for_a_variance(n):
    moments = blocked.moments_of(np.arange(3.0 * n).reshape(n, 3))
    result, pairs = blocked.anova(moments), blocked.tukey_hsd(moments)
    assert result.df_residual == 0
    for number in (result.f_systems, result.p_systems, result.f_users, result.ms_residual):
        assert math.isnan(number)
    for array in (pairs.statistic, pairs.p, pairs.low, pairs.high, pairs.effect):
        assert np.isnan(array).all() and len(array) == 3
    p = blocked.randomized_tukey(np.arange(3.0 * n).reshape(n, 3), 99)
    assert np.isnan(p).all() if n == 0 else p.tolist() == [1, 1, 1]


def test_anova_against_statsmodels():
    frames = pytest.importorskip("pandas")
    formula = pytest.importorskip("statsmodels.formula.api")
    linear = pytest.importorskip("statsmodels.stats.anova")
    values = random_values(5, 20, 4)
    user, system = np.indices(values.shape)
    frame = frames.DataFrame({"x": values.ravel(), "user": user.ravel(), "system": system.ravel()})
    table = linear.anova_lm(formula.ols("x ~ C(system) + C(user)", frame).fit())
    got = blocked.anova(blocked.moments_of(values))
    assert got.f_systems == pytest.approx(table["F"].iloc[0])
    assert got.p_users == pytest.approx(table["PR(>F)"].iloc[1])
    assert got.ms_residual == pytest.approx(table["mean_sq"].iloc[2])


def exact_tukey(values):
    """Return randomized Tukey's p by all orders of all users' values."""
    n_systems = values.shape[1]
    orders = np.array(list(itertools.permutations(range(n_systems))))
    sums = np.zeros((1, n_systems))
    for row in values:
        sums = (sums[:, None, :] + row[orders]).reshape(-1, n_systems)
    ranges, total = np.ptp(sums, axis=1), values.sum(axis=0)
    pairs = itertools.combinations(range(n_systems), 2)
    return [(ranges >= abs(total[a] - total[b]) - 1e-9).mean() for a, b in pairs]


@pytest.mark.parametrize(
    ("n", "n_systems"), [(1, 3), (6, 2), (5, 3), (3, 4), (2, 5), (1, 6), (1, 7)]
)
@pytest.mark.parametrize("levels", [None, 3])
def test_permutations_against_all_orders(n, n_systems, levels):
    values = random_values(n_systems, n, n_systems, levels)
    expected, B = exact_tukey(values), 20_000
    for p, q in zip(blocked.randomized_tukey(values, B, seed=3), expected, strict=True):
        assert abs(p - q) <= 4 * math.sqrt(q * (1 - q) / B) + 2 / B


@pytest.mark.parametrize("n_systems", [2, 3, 5, 6, 7, 8])
def test_every_order_is_as_likely(n_systems):
    chi2 = pytest.importorskip("scipy.stats").chi2
    places, B = np.arange(n_systems), 20_000
    # two users whose values can be told apart in the sums
    values = np.array([places, places * n_systems], float)
    sums = blocked._permuted_sums(values, np.array([0, 7]), 5, 0, B).astype(int)
    one, two = sums % n_systems, sums // n_systems
    assert (np.sort(one, axis=0) == places[:, None]).all()
    assert (np.sort(two, axis=0) == places[:, None]).all()

    def spread(*numbers):
        """Return the p of the hypothesis that each combination of the numbers is as likely."""
        counts = np.unique(np.array(numbers), axis=1, return_counts=True)[1]
        statistic = ((counts - counts.mean()) ** 2 / counts.mean()).sum()
        return len(counts), chi2.sf(statistic, max(len(counts) - 1, 1))

    n_pairs = n_systems * (n_systems - 1)
    for i, j in itertools.permutations({0, 1, n_systems // 2, n_systems - 1}, 2):
        for numbers, n_cells in (
            ((one[i], one[j]), n_pairs),
            ((one[i], two[j]), n_systems**2),
            ((one[i, ::2], one[j, 1::2]), n_systems**2),  # halves of one word
            ((one[i, 1:], one[j, :-1]), n_systems**2),
        ):
            got, p = spread(*numbers)
            assert got == n_cells and p > 1e-6
    if n_systems <= 6:
        got, p = spread(*one)
        assert got == math.factorial(n_systems) and p > 1e-6


@pytest.mark.parametrize("n_systems", [5, 8])
def test_permutations_are_the_same_for_any_number_of_threads(n_systems, monkeypatch):
    values = random_values(6, 300, n_systems)
    expected = blocked.randomized_tukey(values, 2500, seed=7, n_threads=1).tolist()
    for n_threads in (2, 3, None):
        got = blocked.randomized_tukey(values, 2500, seed=7, n_threads=n_threads)
        assert got.tolist() == expected
    whole = blocked._permuted_sums(values, np.arange(300), 7, 0, 100)
    part = blocked._permuted_sums(values, np.arange(300), 7, 40, 60)
    assert (whole[:, 40:60] == part).all()
    monkeypatch.setattr(blocked, "STEP", 64)
    assert (blocked._permuted_sums(values, np.arange(300), 7, 0, 100) == whole).all()
    monkeypatch.setattr(blocked, "PERMUTATIONS", 6)
    assert blocked.randomized_tukey(values, 2500, seed=7).tolist() == expected


def test_seeds_move_p_a_little():
    values = random_values(8, 60, 4)
    first, again, other = (blocked.randomized_tukey(values, 5000, seed) for seed in (1, 1, 2))
    assert first.tolist() == again.tolist() != other.tolist()
    spread = np.sqrt(2 * first * (1 - first) / 5000) + 1e-3
    assert (abs(first - other) < 4 * spread).all()


def test_permutations_count_ties_that_rounding_splits():
    # the sums of 0.1, 0.2 and 0.3 over users differ by rounding with their order
    values = np.array([[0.1, 0.2, 0.3], [0.2, 0.3, 0.1], [0.3, 0.1, 0.2 + 1e-16]] * 3)
    assert blocked.randomized_tukey(values, 999).tolist() == [1, 1, 1]
    # one user: each of the 6 orders has the same range
    assert blocked.randomized_tukey(np.array([[0.7, 0.1, 0.4]]), 999)[0] == 1


def test_p_of_permutations_is_never_zero():
    values = random_values(9, 200, 3) * 0.1 + [0.0, 1.0, 2.0]
    assert blocked.randomized_tukey(values, 999).tolist() == [1 / 1000] * 3


def test_users_that_are_all_equal_change_no_permutation():
    values = random_values(10, 40, 4, levels=5)
    more = np.concatenate([values, np.full((30, 4), 3.0)])
    assert blocked.randomized_tukey(more, 999).tolist() == (
        blocked.randomized_tukey(values, 999).tolist()
    )


def test_wrong_values_of_systems():
    for function in (blocked.moments_of, blocked.randomized_tukey):
        for values in (np.zeros(3), np.zeros((3, 1)), np.zeros((3, 2, 2))):
            with pytest.raises(ValueError, match="values must have a row per user and a column"):
                function(values)
        for number in (NAN, INF):
            with pytest.raises(ValueError, match="values must be finite: leave out users"):
                function([[0.0, number]])
    with pytest.raises(ValueError, match="level must be between 0 and 1, not 1"):
        blocked.tukey_hsd(blocked.moments_of(np.eye(3)), 1)
