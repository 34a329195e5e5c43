"""Moments of several systems, packed to be sent."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toplist.stats import systems as in_systems
from toplist.stats.paired import Pairs
from toplist.stats.simultaneous import Joint

VALUES = st.lists(st.tuples(*[st.floats(0, 1, width=16)] * 2), min_size=1, max_size=30)


@given(VALUES)
def test_pairs_the_other_way_round(values):
    a, b = np.array(values).T
    found, expected = Pairs.of(a, b).reversed, Pairs.of(b, a)
    for name in ("n", "wins", "losses", "mean_a", "mean_b", "mean", "aa", "bb", "dd", "db", "ddd"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=1e-12)
    assert Pairs.of(a, b).own == Pairs.of(a, a)


@given(st.integers(1, 8), st.integers(0, 5))
def test_packed_moments(k, n):
    joints = [Joint.of(np.random.default_rng(i).random((n, k))) for i in range(3)]
    for one, other in zip(joints, in_systems._unpacked(in_systems._packed(joints)), strict=True):
        assert one.n == other.n
        assert np.array_equal(one.mean, other.mean, equal_nan=True)
        assert np.allclose(one.cross, other.cross, rtol=1e-15)
        assert not math.isnan(other.cross.sum())
