"""Welch's F of several means: published and golden values, and the t test of two groups."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from toplist.stats.estimates import difference, welch
from toplist.stats.units import Units

NEXT = Path(__file__).resolve().parents[3] / "shared" / "stats" / "next" / "cases.json"


def of(groups):
    """Return Welch's F of arrays, as `welch` takes them."""
    n = np.array([len(one) for one in groups])
    std = np.array([np.std(one, ddof=1) for one in groups])
    return welch([np.mean(one) for one in groups], std / np.sqrt(n), n - 1)


@pytest.mark.skipif(not NEXT.exists(), reason="needs ../shared, which stands beside the repository")
def test_the_golden_values():
    n, s = np.array([966, 1260, 1106]), np.array([0.135, 0.103, 0.100])
    expected = json.loads(NEXT.read_text())["heterogeneity"]
    found = welch([0.0073, 0.0058, 0.0006], s / np.sqrt(n), n - 1)
    assert found._asdict() == pytest.approx(expected, rel=1e-9)


def test_of_two_groups_it_is_the_square_of_welchs_t():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.3, 1, 12), rng.normal(0, 3, 40)
    va, vb = a.var(ddof=1) / 12, b.var(ddof=1) / 40
    found = of([a, b])
    assert found.f == pytest.approx((a.mean() - b.mean()) ** 2 / (va + vb), rel=1e-12)
    assert found.df1 == 1
    assert found.df2 == pytest.approx((va + vb) ** 2 / (va**2 / 11 + vb**2 / 39), rel=1e-12)
    assert found.pooled == pytest.approx((a.mean() / va + b.mean() / vb) / (1 / va + 1 / vb))


def test_it_is_that_of_scipy():
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(1)
    groups = [rng.gamma(2, scale, n) for scale, n in ((1, 9), (2, 30), (1.5, 80), (3, 15))]
    found = of(groups)
    try:
        expected = stats.f_oneway(*groups, equal_var=False)
    except TypeError:
        pytest.skip("scipy before 1.16 has no Welch's F")
    assert found.f == pytest.approx(expected.statistic, rel=1e-9)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-8)


def test_weighted_means_come_with_their_own_errors():
    """Weights of one size are none; others give the errors and degrees of freedom of CR2."""
    rng = np.random.default_rng(2)
    groups = [rng.normal(size=n) for n in (20, 50)]
    tests = [difference(d, np.zeros(len(d)), Units(len(d), np.full(len(d), 3.0))) for d in groups]
    found = welch(*np.array([(one.difference, one.error, one.df) for one in tests]).T)
    assert found == pytest.approx(of(groups), rel=1e-9)


def test_fewer_than_two_groups_have_no_test():
    assert all(math.isnan(one) for one in welch([1.0], [0.5], [3.0]))
    assert all(math.isnan(one) for one in welch([], [], []))
