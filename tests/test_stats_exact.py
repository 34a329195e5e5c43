"""Distributions, corrections, planning and blocked tests, against scipy, statsmodels and formulas.

scipy and statsmodels are read by the tests only; the cases of the specification are read where
they lie beside the repository.
"""

import itertools
import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from toplist.stats import blocked, corrections, distributions, planning
from toplist.stats.corrections import adjust
from toplist.stats.distributions import (
    binomial_sf,
    binomial_two_sided,
    f_sf,
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

CASES = Path(__file__).parents[2] / "shared" / "stats" / "cases.json"
FILE = json.loads(CASES.read_text()) if CASES.exists() else {"cases": [], "datasets": {}}
NAN, INF = math.nan, math.inf
DFS = [1, 1.5, 2, 3, 5, 10, 30, 99.5, 999, 1e4, 1e6]


def cases(*kinds):
    """Mark a test to run once per case of these kinds; skipped where there is no file."""
    chosen = [pytest.param(one, id=one["id"]) for one in FILE["cases"] if one["method"] in kinds]
    nothing = pytest.param(None, marks=pytest.mark.skip("no cases.json"))
    return pytest.mark.parametrize("case", chosen or [nothing])


def same(case, got, expected, factor=1.0):
    """Compare numbers within the tolerance of a case."""
    tolerance = case["tol"]
    assert got == pytest.approx(
        expected, rel=factor * tolerance.get("rel", 0), abs=tolerance.get("abs", 0), nan_ok=True
    )


def systems_of(case):
    """Return (n_users, S) values of a case, and the names of the pairs."""
    names = case["inputs"]["systems"]
    data = FILE["datasets"][case["inputs"]["dataset"]]["systems"]
    pairs = [f"{a} - {b}" for a, b in itertools.combinations(names, 2)]
    return np.array([data[name] for name in names], float).T, pairs


def difference_of(case):
    """Return the differences of a case, those that are rounding being 0."""
    data = FILE["datasets"][case["inputs"]["dataset"]]["systems"]
    a, b = (np.array(data[case["inputs"][side]], float) for side in "ab")
    return np.where(abs(a - b) <= 1e-12 * np.maximum(abs(a), abs(b)), 0.0, a - b)


# --- the cases of the specification ---------------------------------------------------------------


@cases("distributions")
def test_cases_of_distributions(case):
    functions = {"t": t_sf, "q": t_ppf, "f": f_sf, "range": range_sf}
    ((name, rows),) = case["inputs"].items()
    (expected,) = case["expected"].values()
    same(case, [functions[name](*row) for row in rows], expected)


@cases("corrections")
def test_cases_of_corrections(case):
    p = [NAN if one is None else one for one in case["inputs"]["p"]]
    for method, number in case["expected"].get("rejected_at_05", {}).items():
        assert (adjust(p, method) <= 0.05).sum() == number
    for method in set(case["expected"]) & set(corrections.METHODS):
        expected = [NAN if one is None else one for one in case["expected"][method]]
        same(case, adjust(p, method).tolist(), expected)


@cases("tost")
def test_cases_of_tost(case):
    d = difference_of(case)
    error = d.std(ddof=1) / math.sqrt(len(d))
    got = planning.tost(d.mean(), error, len(d) - 1, case["options"]["margin"])
    same(case, got._asdict(), {name.replace("90", ""): x for name, x in case["expected"].items()})


@cases("power")
def test_cases_of_power(case):
    d, delta = difference_of(case), case["options"]["delta"]
    expected, std = dict(case["expected"]), d.std(ddof=1)
    n = expected.pop("n_needed")
    assert abs(planning.n_needed(delta, std) - n) <= case["tol"]["n_needed_abs"]
    detectable, power = planning.detectable(std, len(d)), planning.power(delta, std, len(d))
    same(case, {"std": std, "detectable": detectable, "power": power}, expected)


@cases("anova")
def test_cases_of_anova(case):
    got = blocked.anova(blocked.moments_of(systems_of(case)[0])).to_dict()
    same(case, {name: got[name] for name in case["expected"]}, case["expected"])


@cases("tukey_hsd")
def test_cases_of_tukey(case):
    values, names = systems_of(case)
    got = blocked.tukey_hsd(blocked.moments_of(values))
    assert set(case["expected"]) == set(names)
    for i, name in enumerate(names):
        row = {"q": got.statistic[i], "difference": got.difference[i], "effect": got.effect[i]}
        row |= {"p": got.p[i], "low": got.low[i], "high": got.high[i]}
        expected = case["expected"][name]
        same(case, {field: row[field] for field in expected}, expected)


@cases("randomized_tukey")
def test_cases_of_randomized_tukey(case):
    values, names = systems_of(case)
    B, oracle = case["tol"]["mc"], case["tol"]["mc_oracle"]
    p = blocked.randomized_tukey(values, B)
    for name, got in zip(names, p, strict=True):
        expected = case["expected"][name]
        v = max(expected * (1 - expected), 1 / B)
        assert abs(got - expected) <= 4 * math.sqrt(v / B + v / oracle) + 2 / B


# --- distributions --------------------------------------------------------------------------------


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
    assert binomial_two_sided(wins, n) == float(min(2 * smaller, Fraction(1)))
    assert binomial_two_sided(n - wins, n) == binomial_two_sided(wins, n)


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
        (binomial_two_sided, (3,)),
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
        with pytest.raises(ValueError, match=f"level must be between 0 and 1, not {value}"):
            probability(value, "level")


# --- corrections ----------------------------------------------------------------------------------

P_VALUES = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.05, 1.0])), max_size=9)


@settings(deadline=None, max_examples=30)
@given(P_VALUES)
def test_corrections_agree_with_statsmodels(p):
    tests = pytest.importorskip("statsmodels.stats.multitest")
    assume(p)
    for method, name in {"holm": "holm", "bonferroni": "bonferroni", "bh": "fdr_bh"}.items():
        expected = tests.multipletests(p, method=name)[1]
        np.testing.assert_allclose(adjust(p, method), expected, rtol=1e-12, atol=1e-300)


@given(P_VALUES, st.lists(st.integers(0, 9)))
def test_corrections_keep_the_order_and_ignore_nan(p, places):
    none, holm, bh, bonferroni = (adjust(p, m) for m in ("none", "holm", "bh", "bonferroni"))
    order = np.argsort(p, kind="stable")
    for adjusted in (none, holm, bh, bonferroni):
        assert (np.diff(adjusted[order]) >= 0).all() and (adjusted <= 1).all()
    assert (none <= bh).all() and (bh <= holm).all() and (holm <= bonferroni).all()
    assert none.tolist() == p
    gaps = np.array(p)
    for place in places:
        gaps = np.insert(gaps, min(place, len(gaps)), NAN)
    for method, adjusted in {"holm": holm, "bh": bh, "bonferroni": bonferroni}.items():
        got = adjust(gaps, method)
        assert (np.isnan(got) == np.isnan(gaps)).all()
        assert got[~np.isnan(got)].tolist() == adjusted.tolist()


def test_corrections_keep_shape_and_input():
    p = np.array([[0.01, 0.04], [NAN, 0.03]])
    kept = p.copy()
    np.testing.assert_allclose(adjust(p), [[0.03, 0.06], [NAN, 0.06]])
    np.testing.assert_array_equal(p, kept)
    assert adjust([], "holm").shape == (0,) and adjust([], "holm").dtype == np.float64
    assert np.isnan(adjust([NAN], "bh")).all()


def test_corrections_that_do_not_exist():
    with pytest.raises(ValueError, match="'x': choose from 'holm', 'bh', 'bonferroni', 'none'"):
        adjust([0.1], "x")
    for p in (-0.1, 1.5, INF):
        with pytest.raises(ValueError, match=f"p values lie between 0 and 1, not {p}"):
            adjust([0.1, p, NAN], "none")


# --- equivalence and power ------------------------------------------------------------------------


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
    assert planning.tost(0.0, 0.0, 9, 0.1) == (0, 0, 0, 0, 0)
    assert planning.tost(0.3, 0.0, 9, 0.1) == (1, 0, 1, 0.3, 0.3)
    # at the margin itself it is not within
    assert planning.tost(-0.1, 0.0, 9, 0.1) == (1, 1, 0, -0.1, -0.1)
    assert all(map(math.isnan, planning.tost(0.1, NAN, 0, 0.1)))


@pytest.mark.parametrize("margin", [0, -0.1, NAN, INF])
def test_margins_are_above_zero(margin):
    with pytest.raises(ValueError, match=f"margin must be a number above 0, not {margin}"):
        planning.tost(0.1, 0.1, 9, margin)


@pytest.mark.parametrize("n", [2, 3, 10, 100, 10_000])
def test_power_agrees_with_statsmodels(n):
    tests = pytest.importorskip("statsmodels.stats.power").TTestPower()
    for effect, level in itertools.product((0.01, 0.1, 0.5), (0.9, 0.95, 0.99)):
        expected = tests.power(effect, n, 1 - level)
        if math.isfinite(expected):  # scipy gives up at times
            got = planning.power(effect * 3, 3.0, n, level)
            assert got == pytest.approx(expected, abs=1e-8)
        assert planning.power(-effect, 1.0, n, level) == planning.power(effect, 1.0, n, level)


def test_power_by_simulation():
    d = np.random.default_rng(0).normal(0.5, 1, (40_000, 12))
    t = d.mean(axis=1) / d.std(axis=1, ddof=1) * math.sqrt(12)
    share = (abs(t) > t_ppf(0.975, 11)).mean()
    assert planning.power(0.5, 1.0, 12) == pytest.approx(share, abs=0.01)


@settings(deadline=None)
@given(st.floats(1e-6, 1e3), st.integers(2, 10**7), st.floats(0.1, 0.99), st.floats(0.91, 0.999))
def test_what_can_be_detected_is_found_with_that_power(std, n, power, level):
    difference = planning.detectable(std, n, power, level)
    assert difference > 0
    assert planning.power(difference, std, n, level) == pytest.approx(power, abs=1e-9)


@settings(deadline=None)
@given(st.floats(0.003, 20), st.floats(0.1, 0.99), st.floats(0.91, 0.999))
def test_the_users_needed_are_just_enough(effect, power, level):
    n = planning.n_needed(-effect * 2, 2.0, power, level)
    assert isinstance(n, int) and n >= 2
    assert planning.power(effect, 1.0, n, level) >= power
    assert n == 2 or planning.power(effect, 1.0, n - 1, level) < power


def test_ends_of_power():
    assert planning.power(0.0, 1.0, 10) == pytest.approx(0.05, abs=1e-10)
    assert planning.power(0.1, 0.0, 10) == 1 and planning.power(0.0, 0.0, 10) == 0
    assert planning.detectable(0.0, 10) == 0 and planning.n_needed(0.1, 0.0) == 2
    for n in (1, 0, NAN):
        assert math.isnan(planning.power(0.1, 1.0, n)) and math.isnan(planning.detectable(1.0, n))
    assert math.isnan(planning.power(0.1, NAN, 9)) and math.isnan(planning.power(NAN, 0.1, 9))
    assert math.isnan(planning.detectable(NAN, 9))
    assert math.isnan(planning.n_needed(0.1, NAN)) and math.isnan(planning.n_needed(NAN, 0.1))


def test_wrong_arguments_of_power():
    for call in (
        lambda level: planning.power(1.0, 1.0, 9, level),
        lambda level: planning.detectable(1.0, 9, level=level),
        lambda level: planning.n_needed(1.0, 1.0, level=level),
        lambda level: planning.tost(1.0, 1.0, 9, 1.0, level),
    ):
        with pytest.raises(ValueError, match="level must be between 0 and 1, not 1"):
            call(1)
    for wrong in (0.04, 1):
        with pytest.raises(ValueError, match=r"power must be between 0\.05 and 1, not"):
            planning.detectable(1.0, 9, power=wrong)
        with pytest.raises(ValueError, match=r"power must be between 0\.05 and 1, not"):
            planning.n_needed(1.0, 1.0, power=wrong)
    for call in (
        lambda: planning.power(1.0, -1.0, 9),
        lambda: planning.detectable(-1.0, 9),
        lambda: planning.n_needed(1.0, -1.0),
    ):
        with pytest.raises(ValueError, match=r"std must be 0 or more, not -1\.0"):
            call()
    for difference, std in ((0.0, 1.0), (1e-300, 1.0), (0.0, 0.0)):
        with pytest.raises(ValueError, match="is too small: no number of users finds it"):
            planning.n_needed(difference, std)


# --- all systems at once --------------------------------------------------------------------------


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


# --- permutations ---------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"n_resamples": 98}, "n_resamples must be at least 99, not 98"),
        ({"n_resamples": 99.5}, "n_resamples must be a whole number from 1 on, not 99.5"),
        ({"seed": -1}, r"seed must be a whole number from 0 to 2\^64 - 1, not -1"),
        ({"seed": 1.5}, r"seed must be a whole number from 0 to 2\^64 - 1, not 1.5"),
        ({"n_threads": 0}, "n_threads must be a whole number from 1 on, not 0"),
    ],
)
def test_wrong_arguments_of_permutations(given_, message):
    with pytest.raises(ValueError, match=message):
        blocked.randomized_tukey(np.eye(3), **given_)


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


def test_the_modules_need_numpy_alone_until_a_kernel_runs():
    code = (
        "import sys; from toplist.stats import blocked, corrections, distributions, planning; "
        "planning.detectable(1.0, 50); corrections.adjust([0.1]); "
        "blocked.anova(blocked.moments_of([[0.0, 1.0], [1.0, 1.0]])); "
        "print({'numba', 'scipy', 'statsmodels', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
