"""Flips, ranks, signs and the bootstrap, by brute force and against slow twins of the kernels."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paired_data import SIDES, linearised, mix, of_units, paired, patterns, share_as_extreme

from toplist.kernels.randomization import studentised_means, studentised_ratios
from toplist.stats import randomization as draws
from toplist.stats.simultaneous import maxt_flips
from toplist.stats.units import Units, snap

NUMBERS = st.lists(st.integers(-6, 6), min_size=1, max_size=9)


@given(NUMBERS, st.sampled_from([*SIDES.values()]))
@settings(deadline=None, max_examples=60)
def test_flips_and_ranks_over_all_patterns(numbers, side):
    d = np.array(numbers) / 10
    found = draws.randomization(d, alternative=side)
    flips = patterns(len(d)) @ d
    assert found.exact and found.n_resamples == 0
    assert found.p == pytest.approx(share_as_extreme(flips, d.sum(), side), abs=1e-12)
    nonzero = np.array([number for number in numbers if number])
    sizes = np.abs(nonzero)
    ranks = np.array([(sizes < size).sum() + ((sizes == size).sum() + 1) / 2 for size in sizes])
    w = patterns(len(ranks)) @ ranks  # the difference of both sums of ranks
    expected = share_as_extreme(w, np.sign(nonzero) @ ranks, side)
    assert draws.wilcoxon(d, alternative=side).p == pytest.approx(expected, abs=1e-12)
    signs = patterns(len(ranks)).sum(axis=1)
    expected = share_as_extreme(signs, np.sign(nonzero).sum(), side)
    assert draws.sign(d, alternative=side).p == pytest.approx(expected, abs=1e-12)


def test_equal_sizes_are_binomial_for_any_n():
    """Hits: 123 users have one with the first system only, 42 with the second."""
    d = np.r_[np.ones(123), -np.ones(42), np.zeros(800)]
    assert draws.randomization(d).p == pytest.approx(2.0392718e-10, rel=1e-7)
    assert draws.randomization(d / 3).exact


def test_wilcoxon_counts_just_as_the_normal_limit_nearly():
    d = np.random.default_rng(0).normal(0.3, 1, 50)
    exact = draws.wilcoxon(d)
    limit = draws.wilcoxon(np.append(d, 1e-9))
    assert exact.exact and not limit.exact
    assert limit.p == pytest.approx(exact.p, abs=1e-3)


def test_ranks_share_ties_that_rounding_splits():
    a = np.array([0.1 + 0.2, 0.7, 0.9, 0.2])
    b = np.array([0.0, 0.4, 0.6, 0.5])  # all differ by 0.3, up to rounding
    assert len({*np.abs(a - b)}) > 1
    assert draws.wilcoxon(snap(a, b)) == draws.wilcoxon(np.array([1, 1, 1, -1]))


def test_weights_and_clusters_are_flipped_as_such():
    rng = np.random.default_rng(2)
    d, w, clusters = rng.integers(-3, 5, 12), rng.integers(1, 4, 12), rng.integers(0, 6, 12)
    sums = np.array([d[clusters == c].sum() for c in np.unique(clusters)])
    for options, flipped in (({"weights": w}, w * d), ({"clusters": clusters}, sums)):
        expected = share_as_extreme(patterns(len(flipped)) @ flipped, flipped.sum(), "two-sided")
        assert of_units(draws.randomization, d, **options).p == pytest.approx(expected)
        assert maxt_flips([d, d], Units.of(12, **options)).p.tolist() == pytest.approx(
            [expected] * 2
        )


def test_flips_are_hashes_of_seed_user_and_flip():
    d = np.random.default_rng(0).normal(size=150)
    d[64:128] = 0  # a group without differences is passed over
    sums = draws.flipped_sums(d, draws.How(99, seed=5))
    for b in (0, 1, 98):
        total = 0.0
        for user, value in enumerate(d):
            word = mix((mix(5 ^ mix(user - user % 64)) + b) % 2**64)
            total += value if word >> (user % 64) & 1 else -value
        assert sums[b] == pytest.approx(total, rel=1e-12)


def test_long_columns_are_flipped_in_steps(monkeypatch):
    d = np.random.default_rng(0).normal(size=1000)
    whole = draws.flipped_sums(d, draws.How(500, seed=1))
    monkeypatch.setattr(draws, "STEP", 500 * 130)
    assert draws.flipped_sums(d, draws.How(500, seed=1)).tobytes() == whole.tobytes()


def drawn_users(key, n):
    """Return the users of a resample: two per word, from its halves."""
    for place in range(0, n - n % 2, 2):
        word = mix((key + place) % 2**64)
        yield (word >> 32) * n >> 32
        yield (word & 0xFFFFFFFF) * n >> 32
    if n % 2:
        yield (mix((key + n - 1) % 2**64) >> 32) * n >> 32


@pytest.mark.parametrize("n", [2, 3, 64, 1025, 1500])
def test_resamples_are_hashes_too(n):

    e = np.random.default_rng(0).normal(size=n)
    out = np.empty(3)
    studentised_means(e, 7, np.uint64(9), out)
    for b, found in enumerate(out):
        x = e[list(drawn_users(mix(9 ^ mix(7 + b)), n))]
        if len({*x}) > 1:
            assert found == pytest.approx(x.mean() / (x.std(ddof=1) / math.sqrt(n)), rel=1e-9)
        else:
            assert found == math.copysign(math.inf, x[0])


def test_resamples_of_ratios():
    """With sizes of 1 it is the plain one, by other draws; with sizes, by the formula."""

    rng = np.random.default_rng(0)
    e, sizes = rng.normal(size=50), rng.integers(1, 5, 50).astype(float)
    out = np.empty(20)
    studentised_ratios(e, sizes, 0, np.uint64(1), out)
    for b, found in enumerate(out):
        key = mix(1 ^ mix(b))
        users = [(mix((key + place) % 2**64) >> 32) * 50 >> 32 for place in range(50)]
        linear = linearised(e[users], sizes[users])
        assert found == pytest.approx(linear.mean() / (linear.std(ddof=1) / math.sqrt(50)))


@pytest.mark.parametrize("n", [2, 40, 5000])
def test_a_resample_that_does_not_vary_is_infinite_whatever_rounding_says(n):
    """Of one user who differs, a third of the resamples have nothing."""

    e = np.full(n, -1 / 3)
    e[0] = (n - 1) / 3
    for kernel, sizes in ((studentised_means, ()), (studentised_ratios, (np.ones(n),))):
        out = np.empty(200)
        kernel(e, *sizes, 0, np.uint64(0), out)
        assert (out == -math.inf).mean() > 0.2
        assert not np.isnan(out).any() and np.abs(out[np.isfinite(out)]).max() < 1e4


def test_bootstrap_of_clusters_is_near_the_t_test():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 200, 2000)
    d = rng.normal(0.1, 1, 2000) + rng.normal(0, 0.5, 200)[labels]
    test, boot = (
        paired(d, np.zeros(2000), clusters=labels).test,
        of_units(draws.bootstrap, d, clusters=labels),
    )
    assert boot.statistic == pytest.approx(test.statistic)
    width = test.high - test.low
    assert (boot.low, boot.high) == pytest.approx((test.low, test.high), abs=0.06 * width)
    assert boot.p == pytest.approx(test.p, abs=0.01)


def test_flips_agree_with_the_t_test():
    d = np.random.default_rng(0).normal(0.05, 1, 2000)
    assert draws.randomization(d).p == pytest.approx(paired(d, 0 * d).test.p, abs=0.01)
