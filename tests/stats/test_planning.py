"""Equivalence, power and the users needed, against statsmodels and a simulation."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from toplist.stats import planning
from toplist.stats.distributions import (
    t_ppf,
)

NAN, INF = math.nan, math.inf


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
    assert all(map(math.isnan, planning.tost(0.0, 0.0, 9, 5.0, n=0)))  # values without bounds
    assert all(map(math.isnan, planning.tost(0.1, NAN, 0, 0.1)))


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
        with pytest.raises(ValueError, match="level must be a number between 0 and 1, not 1"):
            call(1)
    for wrong in (0.04, 1):
        with pytest.raises(ValueError, match=r"power must be a number between 0\.05 and 1, not"):
            planning.detectable(1.0, 9, power=wrong)
        with pytest.raises(ValueError, match=r"power must be a number between 0\.05 and 1, not"):
            planning.n_needed(1.0, 1.0, power=wrong)
    for call in (
        lambda: planning.power(1.0, -1.0, 9),
        lambda: planning.detectable(-1.0, 9),
        lambda: planning.n_needed(1.0, -1.0),
    ):
        with pytest.raises(ValueError, match=r"std must be 0 or more, not -1\.0"):
            call()
    for margin in (0, -0.1, NAN, INF):
        with pytest.raises(ValueError, match=f"margin must be a number above 0, not {margin}"):
            planning.tost(0.1, 0.1, 9, margin)
    for difference, std in ((0.0, 1.0), (1e-300, 1.0), (0.0, 0.0)):
        with pytest.raises(ValueError, match="is too small: no number of users finds it"):
            planning.n_needed(difference, std)
