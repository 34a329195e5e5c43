"""Pairs of systems and brute force over all sign patterns, for the tests of two systems."""

import itertools

import numpy as np
from hypothesis import strategies as st

from toplist.stats import Sums, difference
from toplist.stats import randomization as draws
from toplist.stats.units import Units, snap


def paired(a, b, *, weights=None, clusters=None, **how):
    return difference(a, b, Units.of(len(a), weights, clusters), **how)


def of_units(test, d, *more, weights=None, clusters=None, **how):
    """Return a test of differences, or of two systems, over units."""
    return test(d, *more, Units.of(len(d), weights, clusters), **how)


def estimated(rows, **how):
    return Sums.of(rows, **how).estimate


def linearised(x, y):
    ratio = np.sum(x) / np.sum(y)
    return ratio + (x - ratio * np.asarray(y)) / np.mean(y)


SIDES = {"p": "two-sided", "p_greater": "greater", "p_less": "less"}


def example(n=60, seed=0):
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(0, 11, n) / 10 for _ in range(2))
    return a + 0.05 * rng.random(n), b


def patterns(n):
    return np.array(list(itertools.product([-1, 1], repeat=n)), float)


def share_as_extreme(statistics, observed, side):
    """Return the share at least as extreme; statistics are exact in binary, or have slack."""
    if side == "two-sided":
        statistics, observed = np.abs(statistics), abs(observed)
    elif side == "less":
        statistics, observed = -statistics, -observed
    return float((statistics >= observed - 1e-9).mean())


def mix(word):
    mask = (1 << 64) - 1
    word = (word + 0x9E3779B97F4A7C15) & mask
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & mask
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & mask
    return word ^ (word >> 31)


@st.composite
def data_sets(draw):
    """Draw two systems over 2 to 50 users: ties, constants, few who differ."""
    n = draw(st.integers(2, 50))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    kind = draw(st.sampled_from(["grid", "hits", "floats", "same", "shifted", "sparse", "flat"]))
    a = rng.integers(0, 6, n) / 5
    if kind == "grid":
        return a, rng.integers(0, 6, n) / 5
    if kind == "hits":
        return np.round(a), np.round(rng.random(n))
    if kind == "floats":
        return rng.random(n), rng.random(n)
    if kind == "sparse":
        return a, np.where(rng.random(n) < 0.1, rng.random(n), a)
    if kind == "flat":
        return a, np.full(n, 0.4)
    return a, a + (0.3 if kind == "shifted" else 0)


def all_p(a, b, side="two-sided"):
    d = snap(a, b)
    return {
        "t": paired(a, b, alternative=side).p,
        "flips": draws.randomization(d, alternative=side, n_resamples=499, seed=7).p,
        "bootstrap": draws.bootstrap(d, alternative=side, n_resamples=499, seed=7).p,
        "wilcoxon": draws.wilcoxon(d, alternative=side).p,
        "sign": draws.sign(d, alternative=side).p,
    }
