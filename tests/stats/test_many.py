"""Many comparisons at once: corrections, MaxT and bands, Tukey's test, the best of many systems."""

import itertools
import math
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from paired_data import SIDES, data_sets, estimated, paired, patterns

from toplist.stats import difference, simultaneous
from toplist.stats import randomization as draws
from toplist.stats.distributions import range_ppf, t_ppf
from toplist.stats.randomization import best_of_many
from toplist.stats.simultaneous import adjust, band, maxt_flips, maxt_t
from toplist.stats.units import Units, snap

NAN, INF = math.nan, math.inf
P_VALUES = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.05, 1.0])), max_size=9)
STATSMODELS = {"holm": "holm", "bonferroni": "bonferroni", "bh": "fdr_bh"}

# Corrections


@pytest.mark.slow
@settings(deadline=None, max_examples=30)
@given(P_VALUES)
def test_corrections_agree_with_statsmodels(p):
    tests = pytest.importorskip("statsmodels.stats.multitest")
    assume(p)
    for method, name in STATSMODELS.items():
        expected = tests.multipletests(p, method=name)[1]
        np.testing.assert_allclose(adjust(p, method), expected, rtol=1e-12, atol=1e-300)


@given(P_VALUES, st.lists(st.integers(0, 9)))
@settings(deadline=None, max_examples=30)
def test_corrections_keep_the_order_and_ignore_nan(p, places):
    found = {method: adjust(p, method) for method in ("none", "bh", "holm", "bonferroni")}
    order, gaps = np.argsort(p, kind="stable"), np.array(p)
    for place in places:
        gaps = np.insert(gaps, min(place, len(gaps)), NAN)
    for method, adjusted in found.items():
        assert (np.diff(adjusted[order]) >= 0).all() and (adjusted <= 1).all()
        got = adjust(gaps, method)
        assert (np.isnan(got) == np.isnan(gaps)).all()
        assert got[~np.isnan(got)].tolist() == adjusted.tolist()
    assert all((a <= b).all() for a, b in itertools.pairwise(found.values()))
    assert found["none"].tolist() == p


def test_corrections_keep_shape_and_input():
    p = np.array([[0.01, 0.04], [NAN, 0.03]])
    kept = p.copy()
    np.testing.assert_allclose(adjust(p), [[0.03, 0.06], [NAN, 0.06]])
    np.testing.assert_array_equal(p, kept)
    assert adjust([], "holm").shape == (0,) and adjust([], "holm").dtype == np.float64


# MaxT and bands


@pytest.mark.parametrize("side", SIDES.values())
@pytest.mark.parametrize("seed", range(2))
def test_joint_flips_over_all_patterns(seed, side):
    columns = np.random.default_rng(seed).integers(-3, 6, (4, 9)) / 10
    columns[1] = 0
    columns[3] = columns[0]
    found = maxt_flips(columns, alternative=side)
    norms = np.sqrt((columns**2).sum(axis=1))
    norms[norms == 0] = 1
    towards = {"two-sided": np.abs, "greater": np.array, "less": np.negative}[side]
    z, flips = towards(columns.sum(axis=1) / norms), towards(patterns(9) @ columns.T / norms)
    steps = [(flips[:, z <= one + 1e-9].max(axis=1) >= one - 1e-9).mean() for one in z]
    risen = [max(p for p, other in zip(steps, z, strict=True) if other >= one - 1e-9) for one in z]
    assert found.step_down == pytest.approx(risen)
    own = [draws.randomization(column, alternative=side).p for column in columns]
    assert found.p.tolist() == own


def test_critical_value_against_scipy():
    """The distribution of the largest of two t, integrated by scipy."""
    stats = pytest.importorskip("scipy.stats")
    d = np.random.default_rng(3).normal(size=(30, 2))
    d[:, 1] += d[:, 0]
    joint = estimated(d)
    c = band(joint, n_resamples=50_000).critical
    t = stats.multivariate_t(shape=joint.correlation, df=29)
    inside = t.cdf([c, c], lower_limit=[-c, -c], random_state=1)
    assert inside == pytest.approx(0.95, abs=0.002)


@given(data_sets(), st.integers(0, 10**6))
@settings(deadline=None, max_examples=10)
def test_adjusted_p(data, seed):
    a, b = data
    c = np.where(np.random.default_rng(seed).random(len(a)) < 0.5, a, b)
    columns = [snap(a, b), snap(a, c), snap(b, c)]
    flips, t = maxt_flips(columns, n_resamples=299), maxt_t(estimated(np.transpose(columns)))
    assert all(np.all((one.p <= one.step_down) & (one.step_down <= 1)) for one in (flips, t))
    assert maxt_flips(columns[:2], n_resamples=299).p.tolist() == flips.p[:2].tolist()


def test_the_largest_statistic_has_the_smallest_p_after_correction():
    """Of two columns that are nearly as large, the first step alone would turn them round."""
    d = np.random.default_rng(0).normal(size=(60, 2))
    d = (d - d.mean(axis=0)) / d.std(axis=0, ddof=1) + np.array([2.0, 2.01]) / math.sqrt(60)
    for family in (maxt_t(estimated(d)), maxt_flips(d.T)):
        assert family.step_down[0] == family.step_down[1] > 1.5 * family.p[0]


def test_bands():
    curves = np.random.default_rng(0).normal(size=(500, 8)).cumsum(axis=1)
    curves[:, 3] = 0.25  # does not vary
    found = band(estimated(curves), n_resamples=2000)
    test = paired(curves[:, 5], np.zeros(500)).test
    assert (found.low[5], found.high[5]) == pytest.approx((test.low, test.high))
    assert found.difference[3] == 0.25 and np.isnan([found.low_all[3], found.low[3]]).all()
    assert t_ppf(0.975, 499) < found.critical < 2.8
    inner, outer = found.high - found.low, found.high_all - found.low_all
    assert np.delete(inner <= outer, 3).all()
    # over one k, or several that are one, it is the t interval
    d = np.random.default_rng(0).normal(size=(40, 1))
    for columns in (d, np.hstack([d, 2 * d, 0 * d])):
        found = band(estimated(columns), n_resamples=199)
        assert found.critical == t_ppf(0.975, 39) and found.low_all[0] == found.low[0]
    # past every list the correlation is singular, and by rounding not even that
    noise = 1e-9 * np.random.default_rng(1).normal(size=(40, 60)).cumsum(axis=1)
    seeds = [band(estimated(d + noise), n_resamples=199, seed=seed) for seed in range(5)]
    assert all(t_ppf(0.975, 39) <= one.critical < t_ppf(0.975, 39) + 0.3 for one in seeds)


def test_the_direction_changes_no_bit_either():
    columns = np.random.default_rng(0).normal(0.05, 1, (200, 5)).cumsum(axis=1)
    flip = np.array([1, -1, 1, -1, -1])
    one, other = (maxt_t(estimated(c), n_resamples=999) for c in (columns, columns * flip))
    assert one.step_down.tolist() == other.step_down.tolist()
    far = maxt_t(estimated(columns + 99), n_resamples=99)
    assert far.step_down.tolist() == [0.01] * 5  # no draw is as large, and the data are one more
    for side in ("greater", "less"):
        t = maxt_t(estimated(columns * flip), alternative=side)
        flips = maxt_flips((columns * flip).T, alternative=side)
        assert t.step_down == pytest.approx(flips.step_down, abs=0.03)


OF_BLAS = """
import numpy as np
from toplist.stats import Sums
from toplist.stats.simultaneous import band
sums = Sums.of(np.random.default_rng(0).normal(size=(1500, 66)))
found = sums.cross.tobytes().hex(), repr(band(sums.estimate, n_resamples=999))
"""


def test_the_threads_of_blas_do_not_matter():
    done = subprocess.run(
        [sys.executable, "-c", f"{OF_BLAS}\nprint(found)"],
        env=os.environ | {f"{blas}_NUM_THREADS": "1" for blas in ("OPENBLAS", "MKL", "OMP")},
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    here = {}
    exec(OF_BLAS, here)
    assert done.stdout == f"{here['found']}\n" and "nan" not in done.stdout


# Tukey's test


def values_of(seed, n, n_systems):
    """Return values of users, some of whom are all equal."""
    rng = np.random.default_rng(seed)
    values = rng.random((n, n_systems)) + rng.random((n, 1))
    values[rng.random(n) < 0.2] = 0.25
    return values


def tukey(values, level=0.95):
    """Return what is found of all pairs, as arrays, and their differences."""
    pairs = [difference(a, b) for a, b in itertools.combinations(np.transpose(values), 2)]
    found = simultaneous.tukey(pairs, level)
    names = "difference", "statistic", "p", "low", "high", "df"
    columns = {name: np.array([getattr(one, name) for one in found]) for name in names}
    return SimpleNamespace(**columns), columns["difference"]


def critical(found, n_systems, level=0.95):
    return range_ppf(level, n_systems, found.df[0])


@settings(deadline=None, max_examples=6)
@given(st.integers(0, 10**6), st.integers(2, 30), st.integers(2, 5), st.sampled_from([0.9, 0.95]))
def test_tukey_by_its_formula_and_of_systems_in_another_order(seed, n, n_systems, level):
    values = values_of(seed, n, n_systems)
    pairs, d = tukey(values, level)
    rest = values - values.mean(axis=1)[:, None] - values.mean(axis=0) + values.mean()
    variance = (rest**2).sum() / ((n_systems - 1) * (n - 1))
    half = critical(pairs, n_systems, level) * math.sqrt(variance / n)
    assert pairs.high - pairs.low == pytest.approx(2 * half, abs=1e-9)
    turned, turned_d = tukey(values[:, ::-1], level)
    names = list(itertools.combinations(range(n_systems), 2))
    back = [names.index((n_systems - 1 - j, n_systems - 1 - i)) for i, j in names]
    assert d == pytest.approx(-turned_d[back], abs=1e-12)
    assert pairs.p == pytest.approx(turned.p[back], rel=1e-6, abs=1e-12)
    clear, apart = abs(pairs.p - (1 - level)) > 1e-9, (pairs.low > 0) | (pairs.high < 0)
    assert ((pairs.p < 1 - level) == apart)[clear].all()
    scaled, _ = tukey(values * 7 + 0.3, level)
    assert scaled.statistic == pytest.approx(pairs.statistic, rel=1e-6, abs=1e-9)


def test_systems_that_are_nearly_or_wholly_alike():
    values = np.repeat(values_of(2, 500, 1), 3, axis=1) + 1.0
    values[3, 1] += 1e-7
    found, _ = tukey(values)
    variance = ((found.high - found.low)[0] / 2 / critical(found, 3)) ** 2 * 500
    assert variance == pytest.approx(1e-14 * 2 / 3 * 499 / 500 / 998, rel=1e-6)
    pairs, d = tukey(np.repeat(values_of(3, 50, 1), 4, axis=1) * 0.1 + 1e6)
    for array, number in ((d, 0), (pairs.p, 1), (pairs.low, 0)):
        assert array.tolist() == [number] * 6
    pairs, _ = tukey(values_of(4, 50, 1) + np.array([0.0, 0.0, 0.5]))
    flips = 3 * 0.5**49  # of three pairs: there is no error to studentise by
    assert pairs.p.tolist() == [1, flips, flips] and pairs.statistic.tolist() == [0, INF, INF]
    assert pairs.low[0] == pairs.high[0] == 0 and np.isnan([pairs.low[1:], pairs.high[1:]]).all()


# The best of many


def test_normal_means_lead_by_what_tables_say():
    """1.5388 standard errors of 10 (Tippett 1925); sharing 3/4 of the variance halves it."""
    rng = np.random.default_rng(1)
    own, common = rng.normal(size=(10, 5_000)), rng.normal(size=5_000)
    both = own / 2 + common * math.sqrt(3) / 2
    alone, shared = (best_of_many(one, n_resamples=4000).by_chance for one in (own, both))
    assert alone * math.sqrt(5_000) == pytest.approx(1.5388, rel=0.03)
    assert shared == pytest.approx(alone / 2, rel=1e-9)


def test_the_best_is_its_definition():
    """All signs of 8 users, gone through; and what stays the same."""
    x = np.random.default_rng(3).random((4, 8))
    apart = x - x.mean(axis=0)
    lead = apart.mean(axis=1).max()
    centred = apart - apart.mean(axis=1, keepdims=True)
    every = patterns(8) @ centred.T / 8 * math.sqrt(8 / 7)
    found, plain = best_of_many(x, n_resamples=50_000), best_of_many(x)
    assert found.lead == pytest.approx(lead) and found.mean == pytest.approx(x.mean(axis=1).max())
    assert found.place == x.mean(axis=1).argmax() and found.share == found.by_chance / found.lead
    assert found.by_chance == pytest.approx(every.max(axis=1).mean(), rel=0.01)
    assert found.p == pytest.approx((every.max(axis=1) >= lead).mean(), abs=0.01)
    assert [best_of_many(x, n_threads=n) for n in (1, 2, 16)] == [plain] * 3
    assert best_of_many(x, seed=1) != plain
    low = best_of_many(-x, higher_is_better=False)
    assert low == plain._replace(mean=low.mean, mean_of_all=low.mean_of_all)
    assert low.mean == -plain.mean
    assert best_of_many(x, Units(8, np.full(8, 3.0))) == pytest.approx(plain, rel=1e-9)


def test_the_best_of_nobody_of_one_user_and_of_equal_values():
    same = best_of_many(np.full((12, 30), 0.1))
    assert (same.lead, same.by_chance, same.p) == (0.0, 0.0, 1.0) and math.isnan(same.share)
    alone = best_of_many([[0.1], [0.3]])
    assert alone.place == 1 and alone.lead == pytest.approx(0.1) and math.isnan(alone.by_chance)
    assert math.isnan(best_of_many(np.empty((3, 0))).lead)
    for n, p in ((2, 0.5), (30, 0.5**29)):  # all differ alike: p is that of the t test
        values = np.linspace(0.1, 0.7, n) + np.array([[0.1], [0.2]])
        found = best_of_many(values)
        assert found.p == p == difference(*values[::-1]).p and math.isnan(found.by_chance)
        assert found.lead == pytest.approx(0.05)
