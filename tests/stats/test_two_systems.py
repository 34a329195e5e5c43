"""Two systems: t, effects, weights, clusters, ratios and runs, flips, ranks and the bootstrap.

By their formulas, scipy, all sign patterns, slow twins of the kernels, and what must hold for all.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paired_data import (
    SIDES,
    all_p,
    data_sets,
    estimated,
    example,
    linearised,
    mix,
    of_units,
    paired,
    patterns,
    share_as_extreme,
)

from toplist.kernels.chance import studentised_means, studentised_ratios
from toplist.stats import Sums, estimate, ratio, runs
from toplist.stats import randomization as draws
from toplist.stats.distributions import t_ppf
from toplist.stats.simultaneous import band, maxt_flips, maxt_t
from toplist.stats.systems import SIGNS, TURNED, difference_of, merged, sums_of
from toplist.stats.units import Units, snap

NUMBERS = st.lists(st.integers(-6, 6), min_size=1, max_size=9)
KINDS = ["independent", "paired"]

# What must hold for every test


@given(data_sets(), st.integers(1, 49))
@settings(deadline=None, max_examples=15)
def test_relations(data, cut):
    a, b = data
    one, other = paired(a, b), paired(b, a)
    # swapped
    assert other.test.difference == -one.test.difference
    assert other.test.statistic == -one.test.statistic
    ends = pytest.approx((-one.test.high, -one.test.low), rel=0, abs=0, nan_ok=True)
    assert (other.test.low, other.test.high) == ends
    assert other.wins == one.losses and other.d_z == -one.d_z
    assert all_p(a, b) == all_p(b, a)
    assert all_p(a, b, "greater") == all_p(b, a, "less")
    # another scale
    scaled = paired(7 * a + 0.3, 7 * b + 0.3)
    for name in ("statistic", "p", "d_z"):
        mine = getattr(one, name)
        assert getattr(scaled, name) == pytest.approx(mine, rel=1e-9, abs=1e-12)
    assert all_p(7 * a + 0.3, 7 * b + 0.3) == pytest.approx(all_p(a, b), rel=1e-9, abs=1e-12)
    for power in (-400, 400):  # of 2: nothing is rounded
        assert all_p(np.ldexp(a, power), np.ldexp(b, power)) == all_p(a, b)
    # intervals and p agree
    boot = draws.bootstrap(snap(a, b), n_resamples=999)
    for test, limit in ((one.test, 0.05), (boot, 0.05 + 1e-12)):
        known = not math.isnan(test.low)  # none where all differ by the same
        assert not known or (test.low > 0 or test.high < 0) == (test.p < limit)
    if not snap(a, b).any():
        assert {*all_p(a, b).values()} == {1.0}
    # parts merge, also the other way round
    some = [sums_of(a[None, part], b[None, part]) for part in (slice(cut), slice(cut, None))]
    both, near = merged(np.array(some))[:, 0], {"rel": 1e-9, "abs": 1e-12, "nan_ok": True}
    assert difference_of(both)[:16] == pytest.approx(one[:16], **near)
    assert difference_of(both[TURNED] * SIGNS)[:16] == pytest.approx(other[:16], **near)
    curves = np.cumsum([snap(a, b), snap(b, a) ** 2], axis=0).T
    joined, whole = Sums.of(curves[:cut]) + Sums.of(curves[cut:]), Sums.of(curves)
    assert joined.mean == pytest.approx(whole.mean, abs=1e-12)
    assert joined.cross == pytest.approx(whole.cross, abs=1e-12)


def test_nobody_and_one_user():
    nothing, empty = paired([], []), runs(np.empty((2, 0)), np.empty((2, 0)))
    assert nothing.test.n == 0 and nothing.cautions == ()
    one, alone = paired([0.5], [0.2]), band(estimated([[0.1, 0.2]]))
    unknown = [
        *(*nothing.test[1:6], *nothing.test[7:], *nothing[14:16], empty.anew.p, empty.trained.p),
        *(test([]).p for test in (draws.randomization, draws.wilcoxon, draws.sign)),
        *(draws.bootstrap([]).p, ratio([], [], [], []).p, *maxt_flips([[], []]).p),
        *maxt_t(estimated(np.empty((0, 2)))).step_down,
        *(*band(estimated(np.empty((0, 3)))).low_all, *alone.low),
        *(one.p, one.low, one.d_z, draws.bootstrap([0.3]).p),
    ]
    assert np.isnan(unknown).all() and one.difference == 0.3 and one.wins == 1
    assert draws.randomization([0.3]).p == 1 and maxt_flips([[0.3], [0.1]]).p.tolist() == [1, 1]


def test_no_differences():
    none = paired([0.1, 0.5, 0.9], [0.1, 0.5, 0.9])
    assert none.test[3:] == (0, 0, 0, 2, 0, 1, 0, 0) and none.cautions == ()
    assert (none.wins, none.ties, none.losses) == (0, 3, 0)
    assert not any(none[14:16]) and math.isnan(paired([0.5, 0.9, 0.1], [0, 0, 0]).relative)
    for side in SIDES.values():
        assert {*all_p(np.arange(5.0), np.arange(5.0), side).values()} == {1.0}
    boot, family = draws.bootstrap(np.zeros(5)), maxt_t(estimated(np.zeros((5, 2))))
    assert (boot.low, boot.high) == (0, 0)
    assert family.p.tolist() == family.step_down.tolist() == [1, 1]


def test_differences_that_are_all_the_same():
    a = np.array([0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
    same, d = paired(a, a - 0.3), snap(a, a - 0.3)
    assert same.statistic == math.inf == same.d_z
    for side, p in (("two-sided", 2**-5), ("greater", 2**-6), ("less", 1)):
        assert paired(a, a - 0.3, alternative=side).p == p
        assert draws.randomization(d, alternative=side).p == p
        boot = draws.bootstrap(d, alternative=side)
        assert boot.p == p and np.isnan([boot.low, boot.high, same.low, same.high]).all()
    both = maxt_t(estimated(np.column_stack([d, [1, -1, 2, 3, 0, 1]])))
    assert (both.p[0], both.step_down[0]) == (2**-5, 2**-4)
    assert both.step_down[1] == both.p[1]


def all_results(n_threads, seed=7, turn=1):
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 9, (3, 5001)) / 8
    clusters, options = rng.integers(0, 999, 5001), {"seed": seed, "n_threads": n_threads}
    columns = [snap(a, b), snap(a, c), snap(b, c), snap(a, 0.4 * b + 0.6 * c)]
    joint = estimated(np.transpose(columns[::turn]), n_threads=n_threads)
    families = [
        maxt_flips(columns[::turn], **options, n_resamples=2000),
        maxt_t(joint, **options, n_resamples=5000),
    ]
    curves = np.cumsum(columns, axis=0).T
    along = band(estimated(curves, n_threads=n_threads), **options)
    return [
        paired(a, b),
        paired(a, b, weights=c + 1),
        draws.randomization(columns[0], **options),
        of_units(draws.randomization, columns[0], clusters=clusters, **options),
        draws.bootstrap(columns[0], **options, n_resamples=999),
        of_units(draws.bootstrap, columns[0], clusters=clusters, **options, n_resamples=999),
        [[part[::turn].tolist() for part in family] for family in families],
        {name: np.array(part).tolist() for name, part in vars(along).items()},
    ]


def test_neither_threads_nor_the_order_of_systems_change_a_bit():
    expected = repr(all_results(1))
    assert repr(all_results(16)) == expected == repr(all_results(2, turn=-1))


# By formulas and scipy


@pytest.mark.parametrize("side", SIDES.values())
def test_against_scipy(side):
    stats = pytest.importorskip("scipy.stats")
    a, b = example()
    d = snap(a, b)
    theirs = stats.ttest_rel(a, b, alternative=side)
    ours = paired(a, b, alternative=side, level=0.9).test
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-12)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-10)
    ends = stats.ttest_rel(a, b).confidence_interval(0.9)
    assert (ours.low, ours.high) == pytest.approx(tuple(ends), rel=1e-10)
    assert paired(a, b).d_z == pytest.approx(d.mean() / d.std(ddof=1), rel=1e-12)
    wins = int((d > 0).sum())
    expected = stats.binomtest(wins, int((d != 0).sum()), alternative=side).pvalue
    assert draws.sign(d, alternative=side).p == pytest.approx(expected, rel=1e-10)
    for m, method in ((40, "exact"), (60, "asymptotic")):
        theirs = stats.wilcoxon(d[:m], alternative=side, method=method, correction=False)
        assert draws.wilcoxon(d[:m], alternative=side).p == pytest.approx(theirs.pvalue, rel=1e-9)


def plain_df(sizes):
    """Return 2 mean² / variance of the squared error, from the covariances of what is left."""
    share = sizes / sizes.sum()
    left = np.eye(len(sizes)) - share[:, None]  # sums of rows with variance 1 and one mean
    left = left / np.sqrt(1 - share)[:, None]
    covariance = left @ np.diag(sizes) @ left.T
    return np.trace(covariance) ** 2 / (covariance**2).sum()


@pytest.mark.parametrize("unit", ["weights", "clusters", "both"])
def test_weights_and_clusters_by_their_formula_in_any_order(unit):
    rng = np.random.default_rng(0)
    d, w, labels = rng.random(50) - 0.4, rng.random(50), rng.integers(0, 9, 50)
    w = np.ones(50) if unit == "clusters" else w
    labels = np.arange(50) if unit == "weights" else labels
    test = paired(d, np.zeros(50), weights=w, clusters=labels).test
    mean, sizes = (w * d).sum() / w.sum(), np.bincount(labels, w)
    sums = np.bincount(labels, w * (d - mean))
    error = math.sqrt((sums**2 / (1 - sizes / w.sum())).sum()) / w.sum()
    df = plain_df(sizes)
    assert (test.difference, test.error, test.df) == pytest.approx((mean, error, df))
    one = estimate([d], Units.of(50, w, labels))
    assert (one.value[0], one.error[0], one.df) == pytest.approx((mean, error, df))
    order, names = rng.permutation(50), np.array([f"{one:x}" for one in 37 * labels % 101])
    some = {"weights": w[order], "clusters": names[order]}
    assert paired(d[order], np.zeros(50), **some)[3:11] == pytest.approx(test[3:], rel=1e-12)
    boot = of_units(draws.bootstrap, d, weights=w, clusters=labels)
    assert boot.statistic == pytest.approx(mean / error)


def test_unequal_clusters_have_the_published_error_and_degrees_of_freedom():
    d = np.array([0.3, 0.1, -0.2, 0.4, 0, 0.2, 0.5, -0.1, 0.3, 0.1, 0.2, 0.6])
    found = paired(d, np.zeros(12), clusters=list("aaaaabbcccde"))
    test, expected = found.test, (0.06855812461128476, 2.736377342235624, 0.06893250700868928)
    assert (test.error, test.df, test.p) == pytest.approx(expected, rel=1e-9)
    ends = -0.030569590247743916, 0.4305695902477439
    assert (test.low, test.high) == pytest.approx(ends, rel=1e-9)
    # one unit that is nearly all leaves one degree of freedom
    test = paired([0.2, 0.5, 0.1], [0, 0, 0], weights=np.array([1e12, 1.0, 1.0])).test
    assert test.df == pytest.approx(1, rel=1e-9) and 0 < test.error < 1e-6


def test_ratios():
    rng = np.random.default_rng(0)
    y = rng.integers(1, 9, 80)
    xa, xb = rng.integers(0, y + 1), rng.integers(0, y + 1)
    test = ratio(xa, y, xb, y)
    e = (xa - xa.sum() / y.sum() * y - xb + xb.sum() / y.sum() * y) / y.mean()
    expected = (xa.sum() - xb.sum()) / y.sum(), e.std(ddof=1) / math.sqrt(80)
    assert (test.difference, test.error) == pytest.approx(expected)
    flips = draws.randomization(snap(xa, xb), seed=3)  # the divisors are the same
    assert flips.p == pytest.approx(test.p, abs=0.05)  # few values can occur


def within(a, b, kind):
    """Return the part of the variance of runs' means that is of users in runs."""
    sides = [a - b] if kind == "paired" else [a, b]
    left = [x - x.mean(axis=0) - x.mean(axis=1, keepdims=True) + x.mean() for x in sides]
    (r, n), squares = a.shape, sum(float((x**2).sum()) for x in left)
    return squares / (n * (n - 1) * r * (r - 1))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_runs", [2, 3, 4, 9])
def test_runs_by_their_formulas_with_the_critical_value_of_cochran_and_cox(kind, n_runs):
    rng = np.random.default_rng(n_runs)
    a, b = rng.normal(0, 1, (2, n_runs, 40)) + rng.normal(0, 0.1, (2, n_runs, 1))
    a += 0.05 * n_runs  # to be far from 0 where there are many
    found = runs(a, b, kind)
    users = (a.mean(axis=0) - b.mean(axis=0)).var(ddof=1) / 40
    means = a.mean(axis=1), b.mean(axis=1)
    v = [mean.var(ddof=1) / n_runs for mean in means]
    if kind == "paired":
        v = [(means[0] - means[1]).var(ddof=1) / n_runs]
    df = sum(v) ** 2 / sum(part**2 / (n_runs - 1) for part in v)
    parts = (users, 39), (max(sum(v) - within(a, b, kind), 0.0), df)
    assert np.allclose(found.parts, parts)
    total, anew = sum(part for part, _ in parts), found.anew
    assert found.trained.error**2 == pytest.approx(users) and anew.error**2 == pytest.approx(total)
    assert anew.df == pytest.approx(total**2 / sum(part**2 / df for part, df in parts))
    assert "ONE RUN" not in anew.cautions

    def critical(p):
        return sum(v * t_ppf(1 - p / 2, df) for v, df in parts) / total

    assert critical(anew.p) == pytest.approx(abs(anew.statistic), rel=1e-9)
    assert anew.high - anew.difference == pytest.approx(critical(0.05) * anew.error, rel=1e-12)
    one_sided = [runs(a, b, kind, alternative=way).anew.p for way in ("greater", "less")]
    assert sum(one_sided) == pytest.approx(1) and 2 * min(one_sided) == pytest.approx(anew.p)


def test_runs_that_do_not_vary():
    same = [[0.5, 0.1, 0.9]] * 3
    found = runs(same, same)
    assert found.anew.p == found.trained.p == 1
    fixed = runs(np.array(same) + np.c_[[0.1, 0.2, 0.3]], same)  # a baseline without chance
    assert fixed.anew.df == pytest.approx(2)
    single = runs(same, [[0.5, 0.2, 0.1]])
    assert math.isnan(single.anew.p) and not math.isnan(single.trained.test.p)


# Flips, ranks, signs and resamples


@given(NUMBERS, st.sampled_from([*SIDES.values()]))
@settings(deadline=None, max_examples=25)
def test_flips_and_ranks_over_all_patterns(numbers, side):
    d = np.array(numbers) / 10
    found = draws.randomization(d, alternative=side)
    flips = patterns(len(d)) @ d
    assert found.exact
    assert found.p == pytest.approx(share_as_extreme(flips, d.sum(), side), abs=1e-12)
    nonzero = np.array([number for number in numbers if number])
    sizes = np.abs(nonzero)
    ranks = np.array([(sizes < size).sum() + ((sizes == size).sum() + 1) / 2 for size in sizes])
    for test, worth in ((draws.wilcoxon, ranks), (draws.sign, np.ones(len(ranks)))):
        every, own = patterns(len(ranks)) @ worth, np.sign(nonzero) @ worth
        expected = share_as_extreme(every, own, side)
        assert test(d, alternative=side).p == pytest.approx(expected, abs=1e-12)


def test_where_p_is_counted():
    """Hits: 123 users have one with the first system only, 42 with the second."""
    d = np.r_[np.ones(123), -np.ones(42), np.zeros(800)]
    assert draws.randomization(d).p == pytest.approx(2.0392718e-10, rel=1e-7)
    assert draws.randomization(d / 3).exact and not draws.randomization(np.arange(-9.0, 30)).exact
    d = np.random.default_rng(0).normal(0.3, 1, 50)
    exact, limit = draws.wilcoxon(d), draws.wilcoxon(np.append(d, 1e-9))
    assert exact.exact and not limit.exact and limit.p == pytest.approx(exact.p, abs=1e-3)


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
        both = maxt_flips([d, d], Units.of(12, **options)).p
        assert both.tolist() == pytest.approx([expected] * 2)


def test_flips_are_hashes_of_seed_user_and_flip(monkeypatch):
    d = np.random.default_rng(0).normal(size=150)
    d[64:128] = 0  # a group without differences is passed over
    sums = draws.flipped_sums(d, draws.How(99, seed=5))
    for b in (0, 1, 98):
        total = 0.0
        for user, value in enumerate(d):
            word = mix((mix(5 ^ mix(user - user % 64)) + b) % 2**64)
            total += value if word >> (user % 64) & 1 else -value
        assert sums[b] == pytest.approx(total, rel=1e-12)
    d, how = np.random.default_rng(0).normal(size=1000), draws.How(500, seed=1, n_threads=2)
    whole = draws.flipped_sums(d, how)
    monkeypatch.setattr(draws, "STEP", 500 * 130)  # long columns are flipped in steps
    assert draws.flipped_sums(d, how).tobytes() == whole.tobytes()


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
    e, out = np.random.default_rng(0).normal(size=n), np.empty(3)
    studentised_means(e, 7, np.uint64(9), out)
    for b, found in enumerate(out):
        x = e[list(drawn_users(mix(9 ^ mix(7 + b)), n))]
        if len({*x}) > 1:
            assert found == pytest.approx(x.mean() / (x.std(ddof=1) / math.sqrt(n)), rel=1e-9)
        else:
            assert found == math.copysign(math.inf, x[0])


@pytest.mark.parametrize("side", SIDES.values())
def test_the_ends_and_p_of_the_bootstrap_are_those_of_sorted_resamples(side):
    d, out = np.random.default_rng(1).normal(0.2, 1, 40), np.empty(199)
    studentised_means(d - d.mean(), 0, np.uint64(3), out)
    out.sort()
    error = d.std(ddof=1) / math.sqrt(40)
    t = d.mean() / error
    found = draws.bootstrap(d, alternative=side, n_resamples=199, seed=3)
    ends = d.mean() - out[-5] * error, d.mean() - out[4] * error  # of 200 the fifth
    assert (found.low, found.high) == pytest.approx(ends)
    p = {"greater": (1 + (out >= t).sum()) / 200, "less": (1 + (out <= t).sum()) / 200}
    assert found.p == pytest.approx(p.get(side, 2 * min(p.values())))


def test_resamples_of_ratios():
    """With sizes of 1 it is the plain one, by other draws; with sizes, by the formula."""
    rng = np.random.default_rng(0)
    e, sizes, out = rng.normal(size=50), rng.integers(1, 5, 50).astype(float), np.empty(20)
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
