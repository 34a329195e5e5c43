"""Distributions against scipy and formulas; scipy is read by the tests only."""

import itertools
import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toplist.stats import distributions
from toplist.stats.distributions import (
    binomial_sf,
    f_sf,
    mixed_t_ppf,
    mixed_t_sf,
    noncentral_t_sf,
    normal_ppf,
    normal_sf,
    probability,
    range_ppf,
    range_sf,
    root,
    t_ppf,
    t_sf,
)
from toplist.stats.randomization import sign_p

NAN, INF = math.nan, math.inf

DFS = [1, 1.5, 2, 3, 5, 10, 30, 99.5, 999, 1e4, 1e6]


@pytest.mark.parametrize("df", DFS)
def test_t_agrees_with_scipy(df):
    t = pytest.importorskip("scipy.stats").t
    for x in (0.01, 0.3, 1, 1.96, 4, 8, 20, 100, 1e5):
        if (expected := t.sf(x, df)) > 1e-300:
            assert t_sf(x, df) == pytest.approx(expected, rel=4e-11)
            assert t_sf(-x, df) == pytest.approx(t.cdf(x, df), rel=1e-13)
    for q in (1e-100, 1e-20, 1e-9, 0.025, 0.4, 0.6, 0.975, 0.99995):
        assert t_ppf(q, df) == pytest.approx(t.ppf(q, df), rel=1e-10)


def test_t_of_few_degrees_of_freedom_has_closed_forms():
    for t in (1e-8, 0.1, 3.0, 1e7, 1e100):
        assert t_sf(t, 1) == pytest.approx(math.atan2(1, t) / math.pi, rel=1e-13)
        root2 = math.hypot(t, math.sqrt(2))
        assert t_sf(t, 2) == pytest.approx(1 / (root2 * (root2 + t)), rel=1e-13)


@given(st.floats(1e-12, 1 - 1e-12), st.floats(1, 1e7))
def test_the_quantile_of_t_inverts_its_tail(q, df):
    assert t_sf(-t_ppf(q, df), df) == pytest.approx(q, rel=1e-11)


@given(st.floats(-50, 50), st.floats(0.5, 1e6))
def test_t_is_symmetric_and_between_its_neighbours(t, df):
    assert t_sf(t, df) + t_sf(-t, df) == pytest.approx(1)
    if t > 0:  # fewer degrees of freedom have longer tails
        assert t_sf(t, df) >= t_sf(t, 2 * df) * (1 - 1e-12) >= normal_sf(t) * (1 - 1e-11)


def test_ends_of_t():
    assert (t_sf(0.0, 7), t_sf(INF, 7), t_sf(-INF, 7)) == (0.5, 0, 1)
    assert (t_ppf(0.5, 7), t_ppf(0, 7), t_ppf(1, 7)) == (0, -INF, INF)
    assert t_sf(1.5, INF) == normal_sf(1.5) and t_ppf(0.9, INF) == normal_ppf(0.9)
    assert t_sf(1.5, 1e12) == pytest.approx(normal_sf(1.5), rel=1e-11)
    assert t_ppf(1e-200, 1) == -INF  # beyond 1e150
    assert t_sf(1e200, 1) == 0


@pytest.mark.parametrize("df1", [1, 2, 5, 50, 1e3, 1e6])
@pytest.mark.parametrize("df2", [1, 2, 10, 1e3, 1e5])
def test_f_agrees_with_scipy(df1, df2):
    f = pytest.importorskip("scipy.stats").f
    for x in (0.01, 0.3, 0.9, 1, 1.1, 2, 4, 20, 100):
        if (expected := f.sf(x, df1, df2)) > 1e-290:
            assert f_sf(x, df1, df2) == pytest.approx(expected, rel=1e-9)


def test_f_of_one_degree_of_freedom_is_t_squared():
    for t in (1e-9, 0.1, 2.0, 30.0):
        assert f_sf(t * t, 1, 1e6) == pytest.approx(2 * t_sf(t, 1e6), rel=1e-12)


def test_ends_of_f():
    assert (f_sf(0, 2, 3), f_sf(-1, 2, 3), f_sf(INF, 2, 3)) == (1, 1, 0)
    assert (f_sf(1e-310, 2, 3), f_sf(1e305, 2, 3)) == (1, 0)
    assert f_sf(2.0, 2, INF) == pytest.approx(math.exp(-2))  # chi-square of 2, halved


def test_normal():
    assert normal_sf(40) == pytest.approx(3.65589354e-350, rel=1e-6, abs=0)
    assert normal_sf(10) == pytest.approx(7.61985302416e-24, rel=1e-11)
    assert (normal_ppf(0), normal_ppf(1), normal_ppf(0.5)) == (-INF, INF, 0)
    assert normal_ppf(0.975) == pytest.approx(1.959963984540054, rel=1e-14)


@given(st.integers(0, 60), st.data())
def test_binomial_tails_are_exact(n, data):
    wins = data.draw(st.integers(0, n))
    tail = Fraction(sum(math.comb(n, i) for i in range(wins, n + 1)), 2**n)
    assert binomial_sf(wins, n) == float(tail)
    smaller = min(tail, 1 - tail + Fraction(math.comb(n, wins), 2**n))
    assert sign_p(wins, n - wins, "two-sided") == float(min(2 * smaller, Fraction(1)))
    assert sign_p(n - wins, wins, "two-sided") == sign_p(wins, n - wins, "two-sided")
    assert sign_p(wins, n - wins, "greater") == sign_p(n - wins, wins, "less") == float(tail)


@pytest.mark.parametrize("n", [1000, 1001, 10**4, 10**6])
def test_binomial_tails_of_many_agree_with_scipy(n):
    binomial = pytest.importorskip("scipy.stats").binom
    for wins in (1, n // 3, n // 2 - 7, n // 2, n // 2 + 1, n // 2 + int(4 * math.sqrt(n))):
        if (expected := binomial.sf(wins - 1, n, 0.5)) > 1e-290:
            assert binomial_sf(wins, n) == pytest.approx(expected, rel=1e-10)
    assert (binomial_sf(0, n), binomial_sf(n + 1, n)) == (1, 0)


def test_binomial_tails_join_where_the_method_changes(monkeypatch):
    exact = [binomial_sf(wins, 1000) for wins in range(300, 1001, 7)]
    monkeypatch.setattr(distributions, "COUNTED", 10)
    assert [binomial_sf(wins, 1000) for wins in range(300, 1001, 7)] == pytest.approx(exact, 1e-12)


@pytest.mark.parametrize("df", [1, 2, 5, 30, 1e3, 1e5])
def test_noncentral_t_agrees_with_scipy(df):
    noncentral = pytest.importorskip("scipy.stats").nct
    for t, centre in itertools.product((-3, 0.5, 1.96, 12.7, 63), (0, 0.5, 2.8, 10)):
        expected = noncentral.sf(t, df, centre)
        if math.isfinite(expected):  # scipy gives up at times
            assert noncentral_t_sf(t, df, centre) == pytest.approx(expected, abs=1e-10)
    assert noncentral_t_sf(1.96, df, 0) == pytest.approx(t_sf(1.96, df), abs=1e-12)
    assert noncentral_t_sf(1.96, df, -2) == pytest.approx(
        1 - noncentral_t_sf(-1.96, df, 2), abs=1e-12
    )


def test_ends_of_noncentral_t():
    assert (noncentral_t_sf(2, 9, INF), noncentral_t_sf(2, 9, -INF)) == (1, 0)
    assert (noncentral_t_sf(INF, 9, 2), noncentral_t_sf(-INF, 9, 2)) == (0, 1)
    assert noncentral_t_sf(2, INF, 1) == normal_sf(1)
    assert noncentral_t_sf(2, 1e13, 1) == pytest.approx(normal_sf(1), abs=1e-11)
    assert noncentral_t_sf(12.7, 1, 1e6) == 1  # steep, and yet no endless sum


@pytest.mark.parametrize("n_groups", [3, 5, 20, 100])
def test_range_agrees_with_scipy(n_groups):
    studentized = pytest.importorskip("scipy.stats").studentized_range
    for q, df in itertools.product((0.5, 3.3, 8), (2, 20, 999, INF)):
        expected = studentized.sf(q, n_groups, df)
        assert range_sf(q, n_groups, df) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("df", DFS)
def test_the_range_of_two_is_a_difference(df):
    for q in (1e-3, 0.1, 1, 3, 8, 20, 100):
        if (expected := 2 * t_sf(q / math.sqrt(2), df)) > 1e-280:
            assert range_sf(q, 2, df) == pytest.approx(expected, rel=1e-9)


def test_the_range_of_many():
    # 1 - P(all within w of the least one, z)
    step = 1e-3
    z = np.arange(-9, 9, step)
    within = np.array([normal_sf(x) - normal_sf(x + 7.0) for x in z])
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    for n in (2, 100, 1000):
        expected = 1 - n * (density * within ** (n - 1)).sum() * step
        assert range_sf(7.0, n, INF) == pytest.approx(expected, abs=1e-9)
        assert range_sf(7.0, n, 1e13) == pytest.approx(expected, abs=1e-9)


def test_small_tails_of_the_range_are_those_of_all_pairs():
    for n, q in ((3, 14.0), (5, 20.0), (30, 30.0)):
        expected = n * (n - 1) * normal_sf(q / math.sqrt(2))
        assert range_sf(q, n, INF) == pytest.approx(expected, rel=1e-8)


def test_fractions_of_a_degree_of_freedom():
    # Satterthwaite's are never below 1; these need only end
    t = t_ppf(0.6, 0.01)
    assert t_sf(t, 0.01) == pytest.approx(0.4)
    assert t_ppf(1 - 1e-12, 0.01) == INF
    assert noncentral_t_sf(1.0, 0.01, 0.0) == pytest.approx(t_sf(1.0, 0.01), abs=1e-9)
    assert 0 < range_sf(3, 3, 0.01) < 1 and range_ppf(0.01, 3, 0.1) > 0
    assert 0 <= noncentral_t_sf(1.0, 1e-6, 0.0) <= 1


def test_ends_of_the_range():
    assert (range_sf(0, 3, 9), range_sf(-1, 3, 9), range_sf(INF, 3, 9)) == (1, 1, 0)
    assert range_sf(1e9, 3, 1e6) == 0
    assert (range_ppf(0, 3, 9), range_ppf(1, 3, 9)) == (0, INF)
    for n_groups in (1, 1.5, INF):
        assert math.isnan(range_sf(3, n_groups, 9)) and math.isnan(range_ppf(0.9, n_groups, 9))
    assert math.isnan(range_ppf(1.5, 3, 9)) and math.isnan(range_ppf(0.9, 3, 0))


@settings(deadline=None)
@given(st.floats(0.001, 0.9999), st.integers(2, 40), st.floats(1, 1e5))
def test_the_quantile_of_the_range_inverts_its_tail(q, n_groups, df):
    assert range_sf(range_ppf(q, n_groups, df), n_groups, df) == pytest.approx(1 - q, rel=1e-9)


@pytest.mark.parametrize(
    ("function", "rest"),
    [
        (normal_sf, ()),
        (normal_ppf, ()),
        (t_sf, (3,)),
        (t_ppf, (3,)),
        (f_sf, (2, 3)),
        (binomial_sf, (3,)),
        (noncentral_t_sf, (3, 1)),
        (range_sf, (3, 9)),
        (range_ppf, (3, 9)),
    ],
)
def test_nan_gives_nan(function, rest):
    good = 0.5
    assert not math.isnan(function(good, *rest))
    for place in range(1 + len(rest)):
        given_ = [good, *rest]
        given_[place] = NAN
        assert math.isnan(function(*given_))
    assert type(function(np.float64(good), *rest)) is float


@pytest.mark.parametrize("df", [0, -1, NAN])
def test_no_degrees_of_freedom_give_nan(df):
    assert math.isnan(t_sf(1, df)) and math.isnan(t_ppf(0.9, df)) and math.isnan(t_sf(INF, df))
    assert math.isnan(f_sf(1, df, 3)) and math.isnan(f_sf(1, 3, df))
    assert math.isnan(noncentral_t_sf(1, df, 1)) and math.isnan(range_sf(1, 3, df))
    assert math.isnan(t_ppf(1.5, 3)) and math.isnan(normal_ppf(-0.1))


@settings(deadline=None)
@given(st.floats(1e-3, 1e6), st.floats(1e-3, 1e3))
def test_roots(target, guess):
    assert root(lambda x: math.log1p(x) - math.log1p(target), 0, guess) == pytest.approx(target)
    assert root(lambda x: x**3 - target**3, 0, guess) == pytest.approx(target)
    assert root(lambda x: math.copysign(1, x - target), 0, guess) == pytest.approx(target)


def test_probabilities_are_checked():
    assert probability(0.9, "level") == 0.9
    for value in (0, 1, -1, 95, NAN):
        with pytest.raises(
            ValueError, match=f"level must be a number between 0 and 1, not {value}"
        ):
            probability(value, "level")


def test_the_modules_need_numpy_alone_until_a_kernel_runs():
    code = (
        "import sys; from toplist.stats import distributions, estimates, planning, simultaneous; "
        "planning.detectable(1.0, 50); simultaneous.adjust([0.1]); "
        "estimates.difference([0.0, 1.0], [1.0, 1.0]); "
        "print({'numba', 'scipy', 'statsmodels', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600
    )
    assert done.stdout.strip() == "set()"


@given(
    st.lists(
        st.tuples(st.floats(1e-9, 1e9), st.floats(1, 1e6)),
        min_size=1,
        max_size=3,
    ),
    st.floats(1e-12, 0.49),
)
@settings(deadline=None)
def test_the_tail_of_added_variances_is_that_of_their_quantile(parts, p):
    t = mixed_t_ppf(1 - p, tuple(parts))
    alone = [t_ppf(1 - p, df) for _, df in parts]
    assert min(alone) * (1 - 1e-9) <= t <= max(alone) * (1 + 1e-9)
    # the quantile has the digits of 1 - p
    assert mixed_t_sf(t, tuple(parts)) == pytest.approx(p, rel=1e-9 + 1e-15 / p)
    assert mixed_t_sf(-t, tuple(parts)) == pytest.approx(1 - p)


def test_the_tail_of_added_variances_at_its_ends():
    parts = (1.0, 1e6), (0.001, 1.0)
    assert mixed_t_ppf(0.975, ((0.0, 1.0), (2.0, 7.0))) == t_ppf(0.975, 7.0)
    assert mixed_t_sf(2.0, ((0.0, 1.0), (2.0, 7.0))) == pytest.approx(t_sf(2.0, 7.0), rel=1e-12)
    assert mixed_t_sf(2.0, 7.0) == t_sf(2.0, 7.0) and mixed_t_ppf(0.9, 7.0) == t_ppf(0.9, 7.0)
    # far out the part with one degree of freedom is all there is
    far = mixed_t_sf(1e5, parts)
    assert far == pytest.approx(t_sf(1e5 * 1001, 1.0), rel=1e-3)
    assert mixed_t_sf(math.inf, parts) == 0 and mixed_t_sf(0.0, parts) == pytest.approx(0.5)
    for nothing in (((math.nan, 1.0), (1.0, 2.0)), ((0.0, 1.0),), ()):
        assert math.isnan(mixed_t_ppf(0.9, nothing))
    assert math.isnan(mixed_t_sf(math.nan, parts))
