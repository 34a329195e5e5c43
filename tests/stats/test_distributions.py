"""Distributions against scipy and formulas; scipy is read by the tests only."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toplist.stats.distributions import (
    binomial_sf,
    chi2_sf,
    f_sf,
    mixed_t_ppf,
    mixed_t_sf,
    noncentral_t_sf,
    normal_ppf,
    normal_sf,
    range_ppf,
    range_sf,
    root,
    t_ppf,
    t_sf,
)
from toplist.stats.randomization import sign_p

NAN, INF = math.nan, math.inf
DFS = [1, 1.5, 2, 3, 5, 10, 30, 99.5, 999, 1e4, 1e6]
TAILS = 1e-100, 1e-20, 1e-9, 0.025, 0.4, 0.6, 0.975, 0.99995
TS = 0.01, 0.3, 1, 1.96, 4, 8, 20, 100, 1e5
DF2 = 1, 2, 10, 1e3, 1e5
N = 1000, 1001, 10**4, 10**6
WINS = 1e-9, 1 / 3, 0.493, 0.5, 0.5001, 0.504, 0.55, 0.62
# Ours, scipy's, points, rows of parameters, and how near they are.
PEERS = {
    "t": (t_sf, lambda s: s.t.sf, (*TS, *(-t for t in TS)), product(DFS), {"rel": 4e-11}),
    "quantile of t": (t_ppf, lambda s: s.t.ppf, TAILS, product(DFS), {"rel": 1e-10}),
    "f": (
        *(f_sf, lambda s: s.f.sf, (0.01, 0.3, 0.9, 1, 1.1, 2, 4, 20, 100)),
        *(product((1, 2, 5, 50, 1e3, 1e6), DF2), {"rel": 1e-9}),
    ),
    "χ²": (chi2_sf, lambda s: s.chi2.sf, (0.01, 1, 7.5, 60), product((1, 2, 5, 40)), {"rel": 1e-9}),
    "binomial": (
        lambda share, n: binomial_sf(math.ceil(share * n), n),
        lambda s: lambda share, n: s.binom.sf(math.ceil(share * n) - 1, n, 0.5),
        *(WINS, product(N), {"rel": 1e-10}),
    ),
    "noncentral t": (
        *(noncentral_t_sf, lambda s: s.nct.sf, (-3, 0.5, 1.96, 12.7, 63)),
        *(product((1, 2, 5, 30, 1e3, 1e5), (0, 0.5, 2.8, 10)), {"rel": 0, "abs": 1e-10}),
    ),
    "range": (
        *(range_sf, lambda s: s.studentized_range.sf, (3.3, 8)),
        *(product((3, 20, 100), (2, 20, INF)), {"rel": 0, "abs": 1e-9}),
    ),
}


@pytest.mark.parametrize("name", PEERS)
def test_scipy_agrees(name):
    ours, theirs, points, shapes, near = PEERS[name]
    theirs = theirs(pytest.importorskip("scipy.stats"))
    for shape, x in product([*shapes], points):
        expected = theirs(x, *shape)
        if math.isfinite(expected) and abs(expected) > 1e-280:  # scipy gives up at times
            assert ours(x, *shape) == pytest.approx(expected, **near), (x, shape)


ENDS = [
    *((t_sf, (0.0, 7), 0.5), (t_sf, (INF, 7), 0), (t_sf, (-INF, 7), 1), (t_sf, (1e200, 1), 0)),
    *((t_sf, (1.5, INF), normal_sf(1.5)), (t_sf, (1.5, 1e12), normal_sf(1.5))),
    *((t_ppf, (0.5, 7), 0), (t_ppf, (0, 7), -INF), (t_ppf, (1, 7), INF), (t_ppf, (1.5, 3), NAN)),
    *((t_ppf, (1e-200, 1), -INF), (t_ppf, (1 - 1e-12, 0.01), INF)),  # beyond 1e150
    (t_ppf, (0.9, INF), normal_ppf(0.9)),
    *((f_sf, (0, 2, 3), 1), (f_sf, (-1, 2, 3), 1), (f_sf, (INF, 2, 3), 0)),
    *((f_sf, (1e-310, 2, 3), 1), (f_sf, (1e305, 2, 3), 0), (f_sf, (2.0, 2, INF), math.exp(-2))),
    *((normal_sf, (40,), 3.65589354e-350), (normal_sf, (10,), 7.61985302416e-24)),
    *((normal_ppf, (0,), -INF), (normal_ppf, (1,), INF), (normal_ppf, (0.5,), 0)),
    *((normal_ppf, (0.975,), 1.959963984540054), (normal_ppf, (-0.1,), NAN)),
    *((binomial_sf, (0, 5000), 1), (sign_p, (0, 0, "less"), 1)),
    *((noncentral_t_sf, (2, 9, INF), 1), (noncentral_t_sf, (2, 9, -INF), 0)),
    *((noncentral_t_sf, (2, INF, 1), normal_sf(1)), (noncentral_t_sf, (2, 1e13, 1), normal_sf(1))),
    (noncentral_t_sf, (12.7, 1, 1e6), 1),  # steep, and yet no endless sum
    *((range_sf, (0, 3, 9), 1), (range_sf, (-1, 3, 9), 1), (range_sf, (INF, 3, 9), 0)),
    (range_sf, (1e9, 3, 1e6), 0),
    *((range_sf, (3, n, 9), NAN) for n in (1, 1.5, INF)),
    (range_ppf, (0.9, 3, 0), NAN),
    # of variances that add up; far out the part with one degree of freedom is all there is
    (mixed_t_ppf, (0.975, ((0.0, 1.0), (2.0, 7.0))), t_ppf(0.975, 7.0)),
    (mixed_t_sf, (2.0, ((0.0, 1.0), (2.0, 7.0))), t_sf(2.0, 7.0)),
    *((mixed_t_sf, (2.0, 7.0), t_sf(2.0, 7.0)), (mixed_t_ppf, (0.9, 7.0), t_ppf(0.9, 7.0))),
    *((mixed_t_sf, (x, ((1.0, 1e6), (0.001, 1.0))), p) for x, p in ((INF, 0), (0.0, 0.5))),
    *((mixed_t_ppf, (0.9, one), NAN) for one in (((NAN, 1.0), (1.0, 2.0)), ((0.0, 1.0),), ())),
    (mixed_t_sf, (NAN, ((1.0, 1e6), (0.001, 1.0))), NAN),
]


@pytest.mark.parametrize(("function", "arguments", "expected"), ENDS)
def test_ends(function, arguments, expected):
    assert function(*arguments) == pytest.approx(expected, rel=2e-11, abs=0, nan_ok=True)


SHAPES = {  # a good point, and parameters
    **{normal_sf: (0.5,), normal_ppf: (0.5,), t_sf: (0.5, 3), t_ppf: (0.5, 3)},
    **{f_sf: (0.5, 2, 3), range_sf: (0.5, 3, 9)},
}


@pytest.mark.parametrize("function", SHAPES)
def test_nan_and_no_degrees_of_freedom_give_nan(function):
    good = SHAPES[function]
    assert not math.isnan(function(*good)) and type(function(np.float64(0.5), *good[1:])) is float
    for place in range(len(good)):
        assert math.isnan(function(*good[:place], NAN, *good[place + 1 :]))
    of_df = {t_sf: [1], t_ppf: [1], f_sf: [1, 2], range_sf: [2]}
    for place, df in product(of_df.get(function, ()), (0, -1)):
        for x in (0.5, INF):
            assert math.isnan(function(x, *good[1:place], df, *good[place + 1 :]))


@given(st.floats(1e-12, 1 - 1e-12), st.floats(-50, 50), st.floats(1, 1e6))
def test_t_and_its_quantile(q, t, df):
    assert t_sf(-t_ppf(q, df), df) == pytest.approx(q, rel=1e-11)
    assert t_sf(t, df) + t_sf(-t, df) == pytest.approx(1)
    if t > 0:  # fewer degrees of freedom have longer tails
        assert t_sf(t, df) >= t_sf(t, 2 * df) * (1 - 1e-12) >= normal_sf(t) * (1 - 1e-11)


def test_closed_forms():
    for t in (1e-8, 0.1, 3.0, 1e7, 1e100):
        assert t_sf(t, 1) == pytest.approx(math.atan2(1, t) / math.pi, rel=1e-13)
        root2 = math.hypot(t, math.sqrt(2))
        assert t_sf(t, 2) == pytest.approx(1 / (root2 * (root2 + t)), rel=1e-13)
    for t in (1e-9, 0.1, 2.0, 30.0):
        assert f_sf(t * t, 1, 1e6) == pytest.approx(2 * t_sf(t, 1e6), rel=1e-12)
    for df, q in product(DFS, (1e-3, 0.1, 1, 3, 8, 20, 100)):
        assert noncentral_t_sf(1.96, df, 0) == pytest.approx(t_sf(1.96, df), abs=1e-12)
        mirrored = 1 - noncentral_t_sf(-1.96, df, 2)
        assert noncentral_t_sf(1.96, df, -2) == pytest.approx(mirrored, abs=1e-12)
        if (expected := 2 * t_sf(q / math.sqrt(2), df)) > 1e-280:  # a range of two
            assert range_sf(q, 2, df) == pytest.approx(expected, rel=1e-9)
    for n, q in ((3, 14.0), (5, 20.0), (30, 30.0)):  # small tails are those of all pairs
        expected = n * (n - 1) * normal_sf(q / math.sqrt(2))
        assert range_sf(q, n, INF) == pytest.approx(expected, rel=1e-8)


@given(st.integers(0, 60), st.data())
def test_binomial_tails_are_exact(n, data):
    wins = data.draw(st.integers(0, n))
    tail = Fraction(sum(math.comb(n, i) for i in range(wins, n + 1)), 2**n)
    assert binomial_sf(wins, n) == float(tail)
    smaller = min(tail, 1 - tail + Fraction(math.comb(n, wins), 2**n))
    assert sign_p(wins, n - wins, "two-sided") == float(min(2 * smaller, Fraction(1)))
    assert sign_p(wins, n - wins, "greater") == sign_p(n - wins, wins, "less") == float(tail)


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


@settings(deadline=None, max_examples=5)
@given(st.floats(0.001, 0.9999), st.integers(2, 40), st.floats(1, 1e5))
def test_the_quantile_of_the_range_inverts_its_tail(q, n_groups, df):
    assert range_sf(range_ppf(q, n_groups, df), n_groups, df) == pytest.approx(1 - q, rel=1e-9)


@settings(deadline=None)
@given(st.floats(1e-3, 1e6), st.floats(1e-3, 1e3))
def test_roots(target, guess):
    assert root(lambda x: math.log1p(x) - math.log1p(target), 0, guess) == pytest.approx(target)
    assert root(lambda x: x**3 - target**3, 0, guess) == pytest.approx(target)
    assert root(lambda x: math.copysign(1, x - target), 0, guess) == pytest.approx(target)


PARTS = st.lists(st.tuples(st.floats(1e-9, 1e9), st.floats(1, 1e6)), min_size=1, max_size=3)


@given(PARTS, st.floats(1e-12, 0.49))
@settings(deadline=None, max_examples=30)
def test_the_tail_of_added_variances_is_that_of_their_quantile(parts, p):
    t = mixed_t_ppf(1 - p, tuple(parts))
    alone = [t_ppf(1 - p, df) for _, df in parts]
    assert min(alone) * (1 - 1e-9) <= t <= max(alone) * (1 + 1e-9)
    # the quantile has the digits of 1 - p
    assert mixed_t_sf(t, tuple(parts)) == pytest.approx(p, rel=1e-9 + 1e-15 / p)
    assert mixed_t_sf(-t, tuple(parts)) == pytest.approx(1 - p)
    far = mixed_t_sf(1e5, ((1.0, 1e6), (0.001, 1.0)))
    assert far == pytest.approx(t_sf(1e5 * 1001, 1.0), rel=1e-3)
