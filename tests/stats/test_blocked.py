"""Tukey's test of all pairs of systems, against plain formulas."""

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


def plain_variance(values):
    """Return the pooled variance by its formula."""
    user, system = values.mean(axis=1), values.mean(axis=0)
    rest = values - user[:, None] - system + values.mean()
    return (rest**2).sum() / ((values.shape[1] - 1) * (len(values) - 1))


@given(st.integers(0, 10**6), st.integers(2, 30), st.integers(2, 6), st.integers(0, 30))
def test_moments_of_parts_add_up(seed, n, n_systems, cut):
    values = random_values(seed, n, n_systems)
    whole = blocked.moments_of(values)
    parts = blocked.moments_of(values[:cut]) + blocked.moments_of(values[cut:])
    for got in (whole, parts):
        assert got.n == n and got.means == pytest.approx(values.mean(axis=0))
        assert got.variance == pytest.approx(plain_variance(values), abs=1e-12)


def test_moments_do_not_depend_on_the_size_of_blocks(monkeypatch):
    values = random_values(1, 1000, 4)
    whole = blocked.moments_of(values)
    monkeypatch.setattr(blocked, "USERS", 7)
    assert blocked.moments_of(values).variance == pytest.approx(whole.variance, rel=1e-12)


def test_twins_keep_their_digits():
    values = np.repeat(random_values(2, 500, 1), 3, axis=1) + 1.0
    values[3, 1] += 1e-7
    moments = blocked.moments_of(values)
    assert moments.variance == pytest.approx(1e-14 * 2 / 3 * 499 / 500 / 998, rel=1e-6)
    halves = blocked.moments_of(values[:200]) + blocked.moments_of(values[200:])
    assert halves.variance == pytest.approx(moments.variance, rel=1e-9)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 40))
def test_two_systems_give_the_paired_t_test(seed, n):
    values = random_values(seed, n, 2)
    d = values[:, 0] - values[:, 1]
    assume(d.std() > 1e-6)
    t = d.mean() / (d.std(ddof=1) / math.sqrt(n))
    pairs = blocked.tukey_hsd(blocked.moments_of(values))
    p, reach = 2 * t_sf(abs(t), n - 1), t_ppf(0.975, n - 1) * d.std(ddof=1) / math.sqrt(n)
    assert pairs.statistic == pytest.approx([abs(t) * math.sqrt(2)]) and pairs.p == pytest.approx(p)
    assert pairs.difference == pytest.approx([d.mean()])
    assert (pairs.low[0], pairs.high[0]) == pytest.approx((d.mean() - reach, d.mean() + reach))


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
    pairs = blocked.tukey_hsd(blocked.moments_of(values))
    for array, number in ((pairs.difference, 0), (pairs.p, 1), (pairs.low, 0)):
        assert array.tolist() == [number] * 6


def test_systems_that_differ_by_a_constant():
    values = random_values(4, 50, 1) + np.array([0.0, 0.0, 0.5])
    pairs = blocked.tukey_hsd(blocked.moments_of(values))
    assert pairs.p.tolist() == [1, 0, 0]
    assert pairs.statistic.tolist() == [0, INF, INF]
    assert pairs.low == pytest.approx([0, -0.5, -0.5]) and (pairs.low == pairs.high).all()


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_users_for_a_variance(n):
    moments = blocked.moments_of(np.arange(3.0 * n).reshape(n, 3))
    pairs = blocked.tukey_hsd(moments)
    assert pairs.df == 0 and math.isnan(moments.variance)
    for array in (pairs.statistic, pairs.p, pairs.low, pairs.high):
        assert np.isnan(array).all() and len(array) == 3


def test_wrong_values_of_systems():
    for values in (np.zeros(3), np.zeros((3, 1)), np.zeros((3, 2, 2))):
        with pytest.raises(ValueError, match="values must have a row per user and a column"):
            blocked.moments_of(values)
    for number in (NAN, INF):
        with pytest.raises(ValueError, match="values must be finite: leave out users"):
            blocked.moments_of([[0.0, number]])
    with pytest.raises(ValueError, match="level must be between 0 and 1, not 1"):
        blocked.tukey_hsd(blocked.moments_of(np.eye(3)), 1)
