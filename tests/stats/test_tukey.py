"""Tukey's test of all pairs of systems, against plain formulas."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from toplist.stats import simultaneous
from toplist.stats.distributions import (
    t_ppf,
    t_sf,
)
from toplist.stats.estimates import difference

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


def tukey(values, level=0.95):
    pairs = itertools.combinations(np.transpose(values), 2)
    found = [difference(a, b) for a, b in pairs]
    return simultaneous.tukey(found, level), np.array([one.difference for one in found])


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 30), st.integers(2, 6))
def test_the_pooled_variance_by_its_formula(seed, n, n_systems):
    values = random_values(seed, n, n_systems)
    found, _ = tukey(values)
    half = found.critical * math.sqrt(plain_variance(values) / n)
    assert found.high - found.low == pytest.approx(2 * half, abs=1e-9)


def test_twins_keep_their_digits():
    values = np.repeat(random_values(2, 500, 1), 3, axis=1) + 1.0
    values[3, 1] += 1e-7
    found, _ = tukey(values)
    variance = ((found.high - found.low)[0] / 2 / found.critical) ** 2 * 500
    assert variance == pytest.approx(1e-14 * 2 / 3 * 499 / 500 / 998, rel=1e-6)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 40))
def test_two_systems_give_the_paired_t_test(seed, n):
    values = random_values(seed, n, 2)
    d = values[:, 0] - values[:, 1]
    assume(d.std() > 1e-6)
    t = d.mean() / (d.std(ddof=1) / math.sqrt(n))
    pairs, pairs_d = tukey(values)
    p, reach = 2 * t_sf(abs(t), n - 1), t_ppf(0.975, n - 1) * d.std(ddof=1) / math.sqrt(n)
    assert pairs.statistic == pytest.approx([abs(t) * math.sqrt(2)]) and pairs.p == pytest.approx(p)
    assert pairs_d == pytest.approx([d.mean()])
    assert (pairs.low[0], pairs.high[0]) == pytest.approx((d.mean() - reach, d.mean() + reach))


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.integers(2, 30), st.integers(3, 6), st.sampled_from([0.9, 0.95]))
def test_tukey_of_systems_in_another_order(seed, n, n_systems, level):
    values = random_values(seed, n, n_systems)
    pairs, pairs_d = tukey(values, level)
    turned, turned_d = tukey(values[:, ::-1], level)
    names = list(itertools.combinations(range(n_systems), 2))
    back = [names.index((n_systems - 1 - j, n_systems - 1 - i)) for i, j in names]
    assert pairs_d == pytest.approx(-turned_d[back], abs=1e-12)
    assert pairs.p == pytest.approx(turned.p[back], rel=1e-6, abs=1e-12)
    clear = abs(pairs.p - (1 - level)) > 1e-9
    apart = (pairs.low > 0) | (pairs.high < 0)
    assert ((pairs.p < 1 - level) == apart)[clear].all()
    scaled, _ = tukey(values * 7 + 0.3, level)
    assert scaled.statistic == pytest.approx(pairs.statistic, rel=1e-6, abs=1e-9)


def test_systems_that_never_differ():
    values = np.repeat(random_values(3, 50, 1), 4, axis=1) * 0.1 + 1e6
    pairs, pairs_d = tukey(values)
    for array, number in ((pairs_d, 0), (pairs.p, 1), (pairs.low, 0)):
        assert array.tolist() == [number] * 6


def test_systems_that_differ_by_a_constant():
    values = random_values(4, 50, 1) + np.array([0.0, 0.0, 0.5])
    pairs, _ = tukey(values)
    assert pairs.p.tolist() == [1, 0, 0]
    assert pairs.statistic.tolist() == [0, INF, INF]
    assert pairs.low == pytest.approx([0, -0.5, -0.5]) and (pairs.low == pairs.high).all()


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_users_for_a_variance(n):
    pairs, _ = tukey(np.arange(3.0 * n).reshape(n, 3))
    assert pairs.df == 0
    for array in (pairs.statistic, pairs.p, pairs.low, pairs.high):
        assert np.isnan(array).all() and len(array) == 3


def test_a_level_is_between_0_and_1():
    with pytest.raises(ValueError, match="level must be a number between 0 and 1, not 1"):
        tukey(np.eye(3), 1)
