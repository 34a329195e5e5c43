"""MaxT and bands: all comparisons and all k together."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paired_data import SIDES, data_sets, estimated, paired, patterns

from toplist.stats import distributions as two
from toplist.stats import randomization as draws
from toplist.stats.simultaneous import band, maxt_flips, maxt_t
from toplist.stats.units import snap


def columns_of(seed, n=9, k=4):
    rng = np.random.default_rng(seed)
    return rng.integers(-3, 6, (k, n)) / 10


@pytest.mark.parametrize("side", SIDES.values())
@pytest.mark.parametrize("seed", range(5))
def test_joint_flips_over_all_patterns(seed, side):
    columns = columns_of(seed)
    columns[1] = 0
    columns[3] = columns[0]
    found = maxt_flips(columns, alternative=side)
    norms = np.sqrt((columns**2).sum(axis=1))
    norms[norms == 0] = 1
    z = columns.sum(axis=1) / norms
    flips = patterns(columns.shape[1]) @ columns.T / norms
    towards = {"two-sided": np.abs, "greater": np.array, "less": np.negative}[side]
    z, flips = towards(z), towards(flips)
    single = [(flips.max(axis=1) >= one - 1e-9).mean() for one in z]
    steps = [(flips[:, z <= one + 1e-9].max(axis=1) >= one - 1e-9).mean() for one in z]
    risen = [max(p for p, other in zip(steps, z, strict=True) if other >= one - 1e-9) for one in z]
    assert found.exact
    assert found.single_step == pytest.approx(single)
    assert found.step_down == pytest.approx(risen)
    own = [draws.randomization(column, alternative=side).p for column in columns]
    assert found.p.tolist() == own


def test_critical_value_of_joint_flips():
    """|t| beyond it has at most 5 % of the patterns, and a bit less would have more."""
    columns = np.random.default_rng(1).normal(size=(3, 10))
    signs = patterns(10)
    flipped = signs[:, None, :] * columns
    t = flipped.mean(axis=2) / (flipped.std(axis=2, ddof=1) / math.sqrt(10))
    largest = np.abs(t).max(axis=1)
    c = maxt_flips(columns).critical
    assert (largest > c * 1.000001).mean() <= 0.05 < (largest >= c * 0.999999).mean()


def test_critical_value_against_scipy():
    """The distribution of the largest of two t, integrated by scipy."""
    scipy_stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(3)
    d = rng.normal(size=(30, 2))
    d[:, 1] += d[:, 0]
    joint = estimated(d)
    c = band(joint, n_resamples=200_000).critical
    t = scipy_stats.multivariate_t(shape=joint.correlation, df=29)
    inside = t.cdf([c, c], lower_limit=[-c, -c], random_state=1)
    assert inside == pytest.approx(0.95, abs=0.002)


@given(data_sets(), st.integers(0, 10**6))
@settings(deadline=None, max_examples=60)
def test_adjusted_p(data, seed):
    a, b = data
    rng = np.random.default_rng(seed)
    c = np.where(rng.random(len(a)) < 0.5, a, b)
    columns = [snap(a, b), snap(a, c), snap(b, c)]
    for family in (maxt_flips(columns, n_resamples=299), maxt_t(estimated(np.transpose(columns)))):
        assert (family.p <= family.step_down).all()
        assert (family.step_down <= family.single_step).all()
        assert (family.single_step <= 1).all()
    fewer = maxt_flips(columns[:2], n_resamples=299)
    assert fewer.p.tolist() == maxt_flips(columns, n_resamples=299).p[:2].tolist()


def test_bands():
    rng = np.random.default_rng(0)
    curves = rng.normal(size=(500, 8)).cumsum(axis=1)
    curves[:, 3] = 0.25  # does not vary
    found = band(estimated(curves), n_resamples=2000)
    test = paired(curves[:, 5], np.zeros(500)).test
    assert (found.low[5], found.high[5]) == pytest.approx((test.low, test.high))
    assert found.difference[3] == 0.25 and np.isnan([found.low_all[3], found.low[3]]).all()
    assert two.t_ppf(0.975, 499) < found.critical < 2.8
    inner, outer = found.high - found.low, found.high_all - found.low_all
    assert np.delete(inner <= outer, 3).all()


def test_band_over_one_k_is_the_t_interval():
    d = np.random.default_rng(0).normal(size=(40, 1))
    for columns in (d, np.hstack([d, 2 * d, 0 * d])):
        found = band(estimated(columns))
        assert found.critical == two.t_ppf(0.975, 39)
        assert found.low_all[0] == found.low[0]


def test_band_of_curves_that_are_nearly_one():
    """K past every list: the correlation is singular, and by rounding not even that."""
    d = np.random.default_rng(0).normal(size=(300, 1))
    noise = 1e-9 * np.random.default_rng(1).normal(size=(300, 60))
    found = band(estimated(d + noise.cumsum(axis=1)), n_resamples=999)
    assert found.critical == pytest.approx(two.t_ppf(0.975, 299), abs=0.2)


def test_the_direction_changes_no_bit_either():
    columns = np.random.default_rng(0).normal(0.05, 1, (200, 5)).cumsum(axis=1)
    flip = np.array([1, -1, 1, -1, -1])
    one, other = (maxt_t(estimated(c), n_resamples=999) for c in (columns, columns * flip))
    assert one.step_down.tolist() == other.step_down.tolist()
    assert one.critical == other.critical


def test_the_threads_of_blas_do_not_matter():
    code = """if True:
        import numpy as np
        from toplist.stats.estimates import Sums
        from toplist.stats.simultaneous import band
        rng = np.random.default_rng(0)
        sums = Sums.of(rng.normal(size=(1500, 66)))
        print(sums.cross.tobytes().hex(), band(sums.estimate, n_resamples=5000))
    """
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {f"{blas}_NUM_THREADS": n for blas in ("OPENBLAS", "MKL", "OMP")},
            capture_output=True,
            check=True,
            timeout=600,
        ).stdout
        for n in ("1", "2", "4")
    }
    assert len(found) == 1 and b"nan" not in found.pop()
