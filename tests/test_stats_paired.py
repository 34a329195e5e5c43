"""Two systems: t, effect sizes, flips, bootstrap, ranks, runs, MaxT and bands.

Against `../shared/stats/cases.json` where it lies, scipy where it is installed, brute force over
all sign patterns, and what must hold for any data.
"""

import itertools
import json
import math
import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toplist.stats import paired as two
from toplist.stats import randomization as draws
from toplist.stats import simultaneous as many
from toplist.stats.paired import Pairs, linearised, paired, ratio, runs, snap, units
from toplist.stats.simultaneous import Joint, band, maxt_flips, maxt_t

FILE = Path(__file__).resolve().parents[2] / "shared" / "stats" / "cases.json"
SIDES = {"p": "two-sided", "p_greater": "greater", "p_less": "less"}
SAKAI_A = [7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1]


# ---- the cases of the specification


@lru_cache
def specification():
    return json.loads(FILE.read_text()) if FILE.exists() else {"cases": [], "datasets": {}}


def generated(n, shift, system):
    """Return the values of the made-up systems that the file describes."""
    u = np.uint64

    def h(i):
        return (i * u(2654435761)) & u(0xFFFFFFFF)

    i = np.arange(1, n + 1, dtype=u)
    a = h(i) / 2.0**32
    changed = (h(i * u(11) + u(shift)) >> u(30)) == 0
    other = 0.75 * a + 0.25 * (h(i * u(7) + u(shift)) / 2.0**32)
    return a if system == "a" else np.where(changed, other, a)


def values(dataset, system):
    found = specification()["datasets"][dataset]
    if "generator" in found:
        return generated(found["generator"]["n"], found["generator"]["shift"], system)
    for kind in ("systems", "curves", "runs"):
        if kind in found:
            return np.array(found[kind][system], float)
    raise KeyError(dataset)


def sided(test, *arguments, expected, **options):
    return {
        key: test(*arguments, alternative=side, **options).p
        for key, side in SIDES.items()
        if key in expected
    }


def of_t(a, b, expected, **options):
    test = paired(a, b, **options).test
    p = sided(lambda *x, **o: paired(*x, **o).test, a, b, expected=expected, **options)
    names = {"t": test.statistic, "mean_a": test.mean, "mean_b": test.baseline_mean}
    return {**test._asdict(), **names, **p}


def of_policy(inputs, expected):
    a, b = inputs["a"], inputs["b"]
    d = snap(a, b)
    methods = ("randomization", "sign", "wilcoxon", "bootstrap")
    p = {f"{name}_p": getattr(draws, name)(d).p for name in methods if f"{name}_p" in expected}
    return {**of_t(a, b, expected), **paired(a, b).effects._asdict(), **p}


def of_columns(case):
    columns = [snap(values(c["dataset"], c["a"]), values(c["dataset"], c["b"])) for c in case]
    return np.array(columns)


def of_maxt(found):
    names = {"step_down": "p_step_down", "single_step": "p_single_step", "statistic": "t"}
    plain = {name: value for name, value in found._asdict().items() if name not in names}
    return {**plain, "p_raw": found.p, **{names[old]: getattr(found, old) for old in names}}


def of_runs(case, kind):
    found = runs(values(case["dataset"], case["a"]), values(case["dataset"], case["b"]), kind)
    users, anew = found.trained.test, found.anew
    more = {"error_users": users.error, "p_users": users.p, "t_users": users.statistic}
    return {**anew._asdict(), **more, "t": anew.statistic}


def answer(case):
    """Return what toplist says, by the names of the file."""
    method, inputs, options, expected = (
        case[name] for name in ("method", "inputs", "options", "expected")
    )
    if method == "policy":
        return of_policy(inputs, expected)
    if method == "pooled":
        found = ratio(*(inputs[name] for name in ("x_a", "y_a", "x_b", "y_b")))
        return {**found._asdict(), "t": found.statistic}
    if method == "runs":
        return of_runs(inputs, options["runs"])
    if method == "maxt_t":
        return of_maxt(maxt_t(Joint.of(of_columns(inputs["columns"]).T)))
    if method == "maxt_randomization":
        return of_maxt(maxt_flips(of_columns(inputs["columns"])))
    a, b = (values(inputs["dataset"], inputs[side]) for side in "ab")
    if method == "paired_t":
        return of_t(a, b, expected, **({"level": options["level"]} if "level" in options else {}))
    if method == "effects":
        return paired(a, b).effects._asdict()
    if method == "band":
        found = band(Joint.of(snap(a, b)))
        return {**vars(found), "mean": found.difference}
    d = snap(a, b)
    if method in ("clusters", "weights"):
        found = paired(d, np.zeros(len(d)), **{method: inputs[method]}).test
        return {**found._asdict(), "t": found.statistic, "n_clusters": found.df + 1}
    if method.startswith("bootstrap"):
        return draws.bootstrap(d)._asdict()
    test = getattr(draws, method)
    found = test(d)
    wins = {"wins": int((d > 0).sum()), "losses": int((d < 0).sum())}
    rest = found.n_nonzero * (found.n_nonzero + 1) / 2 - found.statistic
    ranks = {"w_plus": found.statistic, "w_minus": rest}
    return {**found._asdict(), **sided(test, d, expected=expected), **wins, **ranks}


OURS = {
    *("paired_t", "effects", "randomization", "wilcoxon", "sign", "bootstrap_t", "bootstrap_t_p"),
    *("policy", "clusters", "weights", "pooled", "runs", "maxt_t", "maxt_randomization", "band"),
}
OF_THE_ORACLE = {"method", "flips_of_oracle", "resamples_of_oracle"}


def tolerance(case, name, want):
    tol = case["tol"]
    if name == "critical" and "critical_abs" in tol:
        return tol["critical_abs"]
    if "mc" in tol and name.startswith("p"):
        drawn, oracle = tol["mc"], tol.get("mc_oracle", 1e6)
        v = max(want * (1 - want), 1 / drawn)
        twice = 2 if case["method"] == "bootstrap_t_p" else 1
        return twice * (4 * math.sqrt(v / drawn + v / oracle) + 2 / drawn)
    return tol.get("abs", 0) + tol.get("rel", 0) * abs(want)


@pytest.mark.parametrize(
    "case",
    [case for case in specification()["cases"] if case["method"] in OURS],
    ids=lambda case: case["id"],
)
def test_cases(case):
    got = answer(case)
    for name in case["expected"].keys() - OF_THE_ORACLE:
        wanted = np.atleast_1d(np.array(case["expected"][name], float))
        for mine, want in zip(np.atleast_1d(got[name]), wanted, strict=True):
            if math.isnan(want):
                assert math.isnan(mine), name
            else:
                assert mine == pytest.approx(want, abs=tolerance(case, name, want), rel=0), name


# ---- scipy


@pytest.fixture
def scipy_stats():
    return pytest.importorskip("scipy.stats")


def example(n=60, seed=0):
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(0, 11, n) / 10 for _ in range(2))
    return a + 0.05 * rng.random(n), b


@pytest.mark.parametrize("side", SIDES.values())
def test_against_scipy(scipy_stats, side):
    a, b = example()
    d = snap(a, b)
    theirs = scipy_stats.ttest_rel(a, b, alternative=side)
    ours = paired(a, b, alternative=side, level=0.9).test
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-12)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-10)
    ends = scipy_stats.ttest_rel(a, b).confidence_interval(0.9)
    assert (ours.low, ours.high) == pytest.approx(tuple(ends), rel=1e-10)
    wins = int((d > 0).sum())
    expected = scipy_stats.binomtest(wins, int((d != 0).sum()), alternative=side).pvalue
    assert draws.sign(d, alternative=side).p == pytest.approx(expected, rel=1e-10)
    for m, method in ((40, "exact"), (60, "asymptotic")):
        theirs = scipy_stats.wilcoxon(d[:m], alternative=side, method=method, correction=False)
        assert draws.wilcoxon(d[:m], alternative=side).p == pytest.approx(theirs.pvalue, rel=1e-9)


def test_moments_against_scipy(scipy_stats):
    a, b = example(9000)
    pairs = Pairs.of(a, b)
    assert pairs.skewness == pytest.approx(scipy_stats.skew(a - b), rel=1e-9)
    for ours, theirs in zip((pairs.std, pairs.std_a, pairs.std_b), (a - b, a, b), strict=True):
        assert ours == pytest.approx(theirs.std(ddof=1), rel=1e-12)


def test_critical_value_against_scipy(scipy_stats):
    """The distribution of the largest of two t, integrated by scipy."""
    rng = np.random.default_rng(3)
    d = rng.normal(size=(30, 2))
    d[:, 1] += d[:, 0]
    joint = Joint.of(d)
    c = band(joint, n_resamples=200_000).critical
    t = scipy_stats.multivariate_t(shape=joint.correlation, df=29)
    inside = t.cdf([c, c], lower_limit=[-c, -c], random_state=1)
    assert inside == pytest.approx(0.95, abs=0.002)


# ---- brute force


def patterns(n):
    return np.array(list(itertools.product([-1, 1], repeat=n)), float)


def share_as_extreme(statistics, observed, side):
    """Return the share at least as extreme; statistics are exact in binary, or have slack."""
    if side == "two-sided":
        statistics, observed = np.abs(statistics), abs(observed)
    elif side == "less":
        statistics, observed = -statistics, -observed
    return float((statistics >= observed - 1e-9).mean())


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


def test_weights_and_clusters_are_flipped_as_such():
    rng = np.random.default_rng(2)
    d, w, clusters = rng.integers(-3, 5, 12), rng.integers(1, 4, 12), rng.integers(0, 6, 12)
    sums = np.array([d[clusters == c].sum() for c in np.unique(clusters)])
    for options, flipped in (({"weights": w}, w * d), ({"clusters": clusters}, sums)):
        expected = share_as_extreme(patterns(len(flipped)) @ flipped, flipped.sum(), "two-sided")
        assert draws.randomization(d, **options).p == pytest.approx(expected)
        assert maxt_flips([d, d], **options).p.tolist() == pytest.approx([expected] * 2)


# ---- the kernels, against slow twins


def mix(word):
    mask = (1 << 64) - 1
    word = (word + 0x9E3779B97F4A7C15) & mask
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & mask
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & mask
    return word ^ (word >> 31)


def test_flips_are_hashes_of_seed_user_and_flip():
    d = np.random.default_rng(0).normal(size=150)
    d[64:128] = 0  # a group without differences is passed over
    sums = draws.flipped_sums(d, 99, np.uint64(5), 1)
    for b in (0, 1, 98):
        total = 0.0
        for user, value in enumerate(d):
            word = mix((mix(5 ^ mix(user - user % 64)) + b) % 2**64)
            total += value if word >> (user % 64) & 1 else -value
        assert sums[b] == pytest.approx(total, rel=1e-12)


def test_long_columns_are_flipped_in_steps(monkeypatch):
    d = np.random.default_rng(0).normal(size=1000)
    whole = draws.flipped_sums(d, 500, np.uint64(1), 2)
    monkeypatch.setattr(draws, "STEP", 500 * 130)
    assert draws.flipped_sums(d, 500, np.uint64(1), 2).tobytes() == whole.tobytes()


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
    from toplist.kernels.randomization import studentised_means

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
    from toplist.kernels.randomization import studentised_ratios

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
    from toplist.kernels.randomization import studentised_means, studentised_ratios

    e = np.full(n, -1 / 3)
    e[0] = (n - 1) / 3
    for kernel, sizes in ((studentised_means, ()), (studentised_ratios, (np.ones(n),))):
        out = np.empty(200)
        kernel(e, *sizes, 0, np.uint64(0), out)
        assert (out == -math.inf).mean() > 0.2
        assert not np.isnan(out).any() and np.abs(out[np.isfinite(out)]).max() < 1e4


# ---- what must hold for any data


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
        "t": paired(a, b, alternative=side).test.p,
        "flips": draws.randomization(d, alternative=side, n_resamples=499, seed=7).p,
        "bootstrap": draws.bootstrap(d, alternative=side, n_resamples=499, seed=7).p,
        "wilcoxon": draws.wilcoxon(d, alternative=side).p,
        "sign": draws.sign(d, alternative=side).p,
    }


@given(data_sets())
@settings(deadline=None, max_examples=150)
def test_relations(data):
    a, b = data
    one, other = paired(a, b), paired(b, a)
    # swapped
    assert other.test.difference == -one.test.difference
    assert other.test.statistic == -one.test.statistic
    assert (other.test.low, other.test.high) == (-one.test.high, -one.test.low)
    assert other.effects.wins == one.effects.losses and other.effects.d_z == -one.effects.d_z
    assert all_p(a, b) == all_p(b, a)
    assert all_p(a, b, "greater") == all_p(b, a, "less")
    # another scale
    scaled = paired(7 * a + 0.3, 7 * b + 0.3)
    for name in ("statistic", "p"):
        mine = getattr(one.test, name)
        assert getattr(scaled.test, name) == pytest.approx(mine, rel=1e-9, abs=1e-12)
    assert scaled.effects.d_z == pytest.approx(one.effects.d_z, rel=1e-9, abs=1e-12)
    assert all_p(7 * a + 0.3, 7 * b + 0.3) == pytest.approx(all_p(a, b), rel=1e-9, abs=1e-12)
    # intervals and p agree
    boot = draws.bootstrap(snap(a, b), n_resamples=999)
    for test, limit in ((one.test, 0.05), (boot, 0.05 + 1e-12)):
        assert (test.low > 0 or test.high < 0) == (test.p < limit)
    if not snap(a, b).any():
        assert {*all_p(a, b).values()} == {1.0}


@given(data_sets(), st.integers(0, 10**6))
@settings(deadline=None, max_examples=60)
def test_adjusted_p(data, seed):
    a, b = data
    rng = np.random.default_rng(seed)
    c = np.where(rng.random(len(a)) < 0.5, a, b)
    columns = [snap(a, b), snap(a, c), snap(b, c)]
    for family in (maxt_flips(columns, n_resamples=299), maxt_t(Joint.of(np.transpose(columns)))):
        assert (family.p <= family.step_down).all()
        assert (family.step_down <= family.single_step).all()
        assert (family.single_step <= 1).all()
    fewer = maxt_flips(columns[:2], n_resamples=299)
    assert fewer.p.tolist() == maxt_flips(columns, n_resamples=299).p[:2].tolist()


@given(data_sets(), st.integers(1, 49), st.booleans())
@settings(deadline=None, max_examples=60)
def test_parts_merge(data, cut, weighted):
    a, b = data
    w = np.arange(1.0, len(a) + 1) if weighted else None
    parts = [
        Pairs.of(a[part], b[part], None if w is None else w[part])
        for part in (slice(0, cut), slice(cut, None))
    ]
    whole, merged = Pairs.of(a, b, w), parts[0] + parts[1]
    assert merged.n == whole.n and merged.wins == whole.wins and merged.ties == whole.ties
    for name in ("mean", "mean_a", "std", "std_a", "std_b", "db", "ddd", "weight2"):
        expected = getattr(whole, name)
        assert getattr(merged, name) == pytest.approx(expected, rel=1e-9, abs=1e-12), name
    curves = np.cumsum([snap(a, b), snap(b, a) ** 2], axis=0).T
    both = Joint.of(curves[:cut]) + Joint.of(curves[cut:])
    assert both.mean == pytest.approx(Joint.of(curves).mean, abs=1e-12)
    assert both.cross == pytest.approx(Joint.of(curves).cross, abs=1e-12)


# ---- edges


def test_nobody():
    nothing = paired([], [])
    assert nothing.test.n == 0 and nothing.cautions == []
    numbers = [*nothing.test[1:6], *nothing.test[7:], *nothing.effects[3:]]
    assert all(math.isnan(number) for number in numbers)
    for test in (draws.randomization, draws.wilcoxon, draws.sign, draws.bootstrap):
        assert math.isnan(test([]).p)
    assert np.isnan(maxt_flips([[], []]).p).all()
    assert np.isnan(maxt_t(Joint.of(np.empty((0, 2)))).step_down).all()
    assert np.isnan(band(Joint.of(np.empty((0, 3)))).low_all).all()
    assert math.isnan(ratio([], [], [], []).p)
    empty = runs(np.empty((2, 0)), np.empty((2, 0)))
    assert math.isnan(empty.anew.p) and math.isnan(empty.trained.test.p)


def test_one_user():
    one = paired([0.5], [0.2])
    assert one.test.difference == 0.3 and one.effects.wins == 1
    assert all(math.isnan(number) for number in (one.test.p, one.test.low, one.effects.d_z))
    assert draws.randomization([0.3]).p == 1 and math.isnan(draws.bootstrap([0.3]).p)
    assert np.isnan(band(Joint.of([[0.1, 0.2]])).low).all()
    assert maxt_flips([[0.3], [0.1]]).p.tolist() == [1, 1]


def test_no_differences():
    none = paired([0.1, 0.5, 0.9], [0.1, 0.5, 0.9])
    assert none.test[3:] == (0, 0, 0, 2, 0, 1, 0, 0) and none.cautions == []
    effects = none.effects
    assert (effects.wins, effects.ties, effects.losses, effects.superiority) == (0, 3, 0, 0.5)
    assert not any(effects[4:])
    for side in SIDES.values():
        assert {*all_p(np.arange(5.0), np.arange(5.0), side).values()} == {1.0}
    boot = draws.bootstrap(np.zeros(5))
    assert (boot.low, boot.high) == (0, 0)
    family = maxt_t(Joint.of(np.zeros((5, 2))))
    assert family.p.tolist() == family.step_down.tolist() == [1, 1]


def test_differences_that_are_all_the_same():
    a = np.array([0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
    same = paired(a, a - 0.3)
    assert same.test.p == 0 and same.test.statistic == math.inf == same.effects.d_z
    assert same.test.low == same.test.high == same.test.difference
    assert paired(a, a - 0.3, alternative="less").test.p == 1
    assert draws.randomization(snap(a, a - 0.3)).p == 2**-5
    boot = draws.bootstrap(snap(a, a - 0.3))
    assert boot.p == 2 / 10_000 and boot.low == boot.high == same.test.difference
    both = maxt_t(Joint.of(np.column_stack([snap(a, a - 0.3), [1, -1, 2, 3, 0, 1]])))
    assert both.step_down[0] == 0 and both.step_down[1] == both.p[1]


def test_effects_of_a_baseline_of_zero():
    effects = paired([0.5, 0.9, 0.1], [0, 0, 0]).effects
    assert effects.glass == math.inf and math.isnan(effects.relative)


def test_relative_interval_without_loss_of_digits():
    """The influence of mean a / mean b, computed from all users at once."""
    rng = np.random.default_rng(0)
    b = 1000 + rng.random(300)
    a = b + 1e-6 * rng.random(300)
    effects = paired(a, b).effects
    values = linearised(snap(a, b), b)  # of mean a / mean b - 1
    error = values.std(ddof=1) / math.sqrt(300)
    assert effects.relative == pytest.approx(values.mean(), rel=1e-6)
    half = two.t_ppf(0.975, 299) * error
    assert effects.relative_high - effects.relative == pytest.approx(half, rel=1e-6)


def test_cautions():
    d = np.zeros(1000)
    d[:5] = 1
    assert paired(d, np.zeros(1000)).cautions == ["SKEWED", "FEW DIFFER"]
    assert paired(np.arange(1000.0), np.zeros(1000)).cautions == []
    assert runs([[1, 2, 4]], [[0, 1, 1]]).cautions[-1] == "ONE RUN"


def test_weights_by_their_formula():
    rng = np.random.default_rng(0)
    a, b, w = rng.random((3, 40))
    d, n = a - b, 40
    test = paired(a, b, weights=w).test
    mean = (w * d).sum() / w.sum()
    error = math.sqrt(n / (n - 1) * (w**2 * (d - mean) ** 2).sum()) / w.sum()
    assert (test.difference, test.error, test.df) == pytest.approx((mean, error, 39))
    assert test.mean - test.baseline_mean == pytest.approx(mean)
    joint = Joint.of(linearised(*units(d, w))[:, None])
    assert (joint.mean[0], joint.error[0]) == pytest.approx((mean, error))
    assert draws.bootstrap(d, weights=w).statistic == pytest.approx(mean / error)


def test_equal_weights_and_single_users_as_clusters_change_nothing():
    a, b = example()
    plain = paired(a, b)
    for options in ({"weights": np.full(60, 0.7)}, {"clusters": np.arange(60)}):
        other = paired(a, b, **options)
        assert other.test == pytest.approx(plain.test, rel=1e-9)
        assert other.effects == pytest.approx(plain.effects, rel=1e-9)
    d = snap(a, b)
    boot = draws.bootstrap(d, clusters=np.arange(60))
    assert boot == pytest.approx(draws.bootstrap(d), rel=1e-9)


def test_clusters_by_their_formula_in_any_order():
    rng = np.random.default_rng(0)
    d, labels = rng.random(50) - 0.4, rng.integers(0, 9, 50)
    test = paired(d, np.zeros(50), clusters=labels).test
    sums = np.array([(d[labels == c] - d.mean()).sum() for c in range(9)])
    error = math.sqrt(9 / 8 * (sums**2).sum()) / 50
    assert (test.error, test.df) == pytest.approx((error, 8))
    names = np.array(["x", "a", "q", "b", "z", "c", "d", "e", "y"])
    order = rng.permutation(50)
    again = paired(d[order], np.zeros(50), clusters=names[labels][order]).test
    assert again[3:] == pytest.approx(test[3:], rel=1e-12)
    sums, sizes = units(d, clusters=labels)
    assert sums.sum() == pytest.approx(d.sum()) and sizes.sum() == 50


def test_bootstrap_of_clusters_is_near_the_t_test():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 200, 2000)
    d = rng.normal(0.1, 1, 2000) + rng.normal(0, 0.5, 200)[labels]
    test, boot = (
        paired(d, np.zeros(2000), clusters=labels).test,
        draws.bootstrap(d, clusters=labels),
    )
    assert boot.statistic == pytest.approx(test.statistic)
    width = test.high - test.low
    assert (boot.low, boot.high) == pytest.approx((test.low, test.high), abs=0.06 * width)
    assert boot.p == pytest.approx(test.p, abs=0.01)


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


@pytest.mark.parametrize("kind", ["independent", "paired"])
def test_runs_by_their_formulas(kind):
    rng = np.random.default_rng(0)
    a, b = rng.random((4, 30)), rng.random((4, 30))
    found = runs(a, b, kind)
    d = a.mean(axis=0) - b.mean(axis=0)
    users = d.var(ddof=1) / 30, 29
    means = a.mean(axis=1), b.mean(axis=1)
    if kind == "paired":
        parts = [users, ((means[0] - means[1]).var(ddof=1) / 4, 3)]
    else:
        parts = [users, *((mean.var(ddof=1) / 4, 3) for mean in means)]
    v = sum(part for part, _ in parts)
    assert found.trained.test.error == pytest.approx(math.sqrt(users[0]))
    assert found.anew.error == pytest.approx(math.sqrt(v))
    assert found.anew.df == pytest.approx(v**2 / sum(part**2 / df for part, df in parts))
    assert found.n_runs == 4 and "ONE RUN" not in found.cautions


def test_runs_that_do_not_vary():
    same = [[0.5, 0.1, 0.9]] * 3
    found = runs(same, same)
    assert found.anew.p == found.trained.test.p == 1
    fixed = runs(np.array(same) + np.c_[[0.1, 0.2, 0.3]], same)  # a baseline without chance
    assert fixed.anew.df == pytest.approx(2)
    single = runs(same, [[0.5, 0.2, 0.1]])
    assert math.isnan(single.anew.p) and not math.isnan(single.trained.test.p)


def test_bands():
    rng = np.random.default_rng(0)
    curves = rng.normal(size=(500, 8)).cumsum(axis=1)
    curves[:, 3] = 0.25  # does not vary
    found = band(Joint.of(curves), n_resamples=2000)
    test = paired(curves[:, 5], np.zeros(500)).test
    assert (found.low[5], found.high[5]) == pytest.approx((test.low, test.high))
    assert found.low_all[3] == found.high_all[3] == found.low[3] == 0.25
    assert two.t_ppf(0.975, 499) < found.critical < 2.8
    inner, outer = found.high - found.low, found.high_all - found.low_all
    assert (inner <= outer).all()


def test_band_over_one_k_is_the_t_interval():
    d = np.random.default_rng(0).normal(size=(40, 1))
    for columns in (d, np.hstack([d, 2 * d, 0 * d])):
        found = band(Joint.of(columns))
        assert found.critical == two.t_ppf(0.975, 39)
        assert found.low_all[0] == found.low[0]


def test_band_of_curves_that_are_nearly_one():
    """K past every list: the correlation is singular, and by rounding not even that."""
    d = np.random.default_rng(0).normal(size=(300, 1))
    noise = 1e-9 * np.random.default_rng(1).normal(size=(300, 60))
    found = band(Joint.of(d + noise.cumsum(axis=1)), n_resamples=999)
    assert found.critical == pytest.approx(two.t_ppf(0.975, 299), abs=0.2)


# ---- threads, seeds, order


def all_results(n_threads, seed=7, turn=1):
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 9, (3, 9001)) / 8
    clusters, options = rng.integers(0, 999, 9001), {"seed": seed, "n_threads": n_threads}
    columns = [snap(a, b), snap(a, c), snap(b, c), snap(a, 0.4 * b + 0.6 * c)]
    joint = Joint.of(np.transpose(columns[::turn]), n_threads=n_threads)
    families = [
        maxt_flips(columns[::turn], **options, n_resamples=2000),
        maxt_t(joint, **options, n_resamples=5000),
    ]
    curves = np.cumsum(columns, axis=0).T
    along = band(Joint.of(curves, n_threads=n_threads), **options)
    return [
        paired(a, b, n_threads=n_threads),
        paired(a, b, weights=c + 1, n_threads=n_threads),
        draws.randomization(columns[0], **options),
        draws.randomization(columns[0], clusters=clusters, **options),
        draws.bootstrap(columns[0], **options, n_resamples=999),
        draws.bootstrap(columns[0], clusters=clusters, **options, n_resamples=999),
        [[part[::turn].tolist() for part in family[1:4]] for family in families],
        [family.critical for family in families],
        [part.tolist() for part in (along.difference, along.std, along.error, along.low)],
        [along.high.tolist(), along.low_all.tolist(), along.high_all.tolist(), along.critical],
    ]


def test_any_number_of_threads_gives_the_same_bits():
    expected = repr(all_results(1))
    assert repr(all_results(2)) == expected
    assert repr(all_results(16)) == expected


def test_the_order_of_systems_changes_no_bit():
    assert repr(all_results(2, turn=-1)) == repr(all_results(2))


def test_the_direction_changes_no_bit_either():
    columns = np.random.default_rng(0).normal(0.05, 1, (200, 5)).cumsum(axis=1)
    flip = np.array([1, -1, 1, -1, -1])
    one, other = (maxt_t(Joint.of(c), n_resamples=999) for c in (columns, columns * flip))
    assert one.step_down.tolist() == other.step_down.tolist()
    assert one.critical == other.critical


@pytest.mark.parametrize("seed", [1, 2, 2**64 - 1])
def test_other_seeds_give_nearly_the_same(seed):
    rng = np.random.default_rng(1)
    d = rng.normal(0.1, 1, 400)
    columns = [d, d + rng.normal(size=400), rng.normal(0.1, 1, 400)]
    for test in (draws.randomization, draws.bootstrap):
        one, other = test(d).p, test(d, seed=seed).p
        assert other != one
        assert abs(one - other) < 4 * math.sqrt(2 * 2 * one / 10_000)
    for family in (
        lambda **o: maxt_flips(columns, **o),
        lambda **o: maxt_t(Joint.of(np.transpose(columns)), **o),
    ):
        one, other = family().step_down, family(seed=seed).step_down
        assert (np.abs(one - other) < 4 * np.sqrt(2 * one / 10_000)).all()


def test_flips_agree_with_the_t_test():
    d = np.random.default_rng(0).normal(0.05, 1, 2000)
    assert draws.randomization(d).p == pytest.approx(paired(d, 0 * d).test.p, abs=0.01)


def test_blas_gets_its_threads_back():
    pytest.importorskip("threadpoolctl")

    def n_threads():  # of those that were loaded before the first use
        return [one["num_threads"] for one in many._blas().info()]

    before = n_threads()
    with many._plain_blas(), many._plain_blas():
        assert set(n_threads()) == {1}
    band(Joint.of(np.random.default_rng(0).normal(size=(50, 3))))
    assert n_threads() == before


def test_without_threadpoolctl_the_threads_of_blas_do_not_matter():
    code = """if True:
        import sys
        sys.modules["threadpoolctl"] = None
        import numpy as np
        from toplist.stats.simultaneous import Joint, _product, band
        rng = np.random.default_rng(0)
        joint = Joint.of(rng.normal(size=(1500, 66)))
        product = _product(joint.correlation, rng.normal(size=(66, 1985)))
        print(product.tobytes().hex(), joint.cross.tobytes().hex(), band(joint, n_resamples=5000))
    """
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {f"{blas}_NUM_THREADS": n for blas in ("OPENBLAS", "MKL", "OMP")},
            capture_output=True,
            check=True,
        ).stdout
        for n in ("1", "2", "4")
    }
    assert len(found) == 1 and b"nan" not in found.pop()


def test_without_threadpoolctl_bands_are_the_same(monkeypatch):
    curves = np.random.default_rng(0).normal(size=(50, 3))
    expected = band(Joint.of(curves)).critical
    monkeypatch.setattr(many, "_blas", lambda: None)
    alone, shared = (band(Joint.of(curves), n_threads=n).critical for n in (1, 3))
    assert alone == shared == pytest.approx(expected, rel=1e-12)


# ---- refusals


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paired([1, 2], [1]), r"shape \(2,\) and \(1,\): one per user in both"),
        (lambda: paired([1, math.nan], [1, 2]), "value of user 1 is nan: it must be finite"),
        (lambda: paired([1, 2], [1, 1], level=1), "level must be a number between 0 and 1, not 1"),
        (lambda: paired([1, 2], [1, 1], level="x"), "between 0 and 1, not 'x'"),
        (
            lambda: paired([1, 2], [1, 1], alternative="better"),
            "alternative='better': choose from 'two-sided', 'greater', 'less'",
        ),
        (lambda: paired([1, 2], [1, 1], weights=[1, 0]), "weight of user 1 is 0.0: it must be pos"),
        (lambda: paired([1, 2], [1, 1], weights=[1]), r"weights has shape \(1,\): one per user"),
        (lambda: paired([1, 2], [1, 1], clusters=[1]), r"clusters has shape \(1,\): one label per"),
        (lambda: ratio([1, 2], [0, 0], [1, 2], [1, 1]), "the divisors add up to 0"),
        (lambda: runs([1, 2], [1, 2]), "a row of users' values per run"),
        (lambda: runs([[1, 2]], [[1, 2]], "both"), "runs='both': choose from 'independent'"),
        (
            lambda: runs([[1, 2]], [[1, 2], [3, 4]], "paired"),
            "runs='paired' needs as many runs of both systems, not 1 and 2",
        ),
        (lambda: draws.randomization([1], n_resamples=98), "n_resamples must be at least 99"),
        (lambda: draws.randomization([1], n_resamples=1e4), "n_resamples must be a whole number"),
        (lambda: draws.randomization([1], seed=-1), "seed must be a whole number from 0 to"),
        (lambda: draws.bootstrap([1], n_resamples=99, level=0.999), "too few for level=0.999"),
        (lambda: maxt_flips([[1, 2], [1]]), "columns of 1 and 2 users: all need the same users"),
        (lambda: Joint.of([1, 2]), r"shape \(2,\): users by columns"),
        (lambda: Joint.of([[1, 2], [math.inf, 1]]), "a difference of user 1 is not finite"),
        (lambda: draws.sign([1, 2], alternative="up"), "alternative='up': choose from"),
        (lambda: draws.randomization([1, 2, 3] * 99, n_threads=0), "n_threads must be a whole"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_float32_is_added_up_in_float64():
    a = np.full(100_000, 0.1, np.float32)
    assert paired(a, np.zeros_like(a)).test.mean == pytest.approx(float(np.float32(0.1)), rel=1e-12)
