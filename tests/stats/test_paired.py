"""Two systems by t: effects, weights, clusters, ratios and runs, by their formulas and scipy."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paired_data import SIDES, data_sets, example, linearised, of_units, paired

from toplist.stats import distributions as two
from toplist.stats import randomization as draws
from toplist.stats.estimates import Sums, estimate, ratio, runs
from toplist.stats.systems import PairSums, merged, sums_of
from toplist.stats.units import Units, snap


@pytest.fixture
def scipy_stats():
    return pytest.importorskip("scipy.stats")


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


def test_sums_against_numpy():
    a, b = example(9000)
    found = PairSums.of(a, b)
    assert found.difference().std == pytest.approx((a - b).std(ddof=1), rel=1e-12)
    for ours, theirs in ((found.aa, a), (found.bb, b)):
        assert ours == pytest.approx(len(a) * theirs.var(), rel=1e-12)


@given(data_sets(), st.integers(1, 49))
@settings(deadline=None, max_examples=60)
def test_parts_merge(data, cut):
    a, b = data
    some = [sums_of(a[None, part], b[None, part]) for part in (slice(cut), slice(cut, None))]
    found = PairSums.of_column(merged(np.array(some))[:, 0]).difference()
    assert found[:20] == pytest.approx(paired(a, b)[:20], rel=1e-9, abs=1e-12, nan_ok=True)
    curves = np.cumsum([snap(a, b), snap(b, a) ** 2], axis=0).T
    both, whole = Sums.of(curves[:cut]) + Sums.of(curves[cut:]), Sums.of(curves)
    assert both.mean == pytest.approx(whole.mean, abs=1e-12)
    assert both.cross == pytest.approx(whole.cross, abs=1e-12)


def test_effects_of_a_baseline_of_zero():
    assert math.isnan(paired([0.5, 0.9, 0.1], [0, 0, 0]).relative)


def test_relative_interval_without_loss_of_digits():
    """The influence of mean a / mean b, computed from all users at once."""
    rng = np.random.default_rng(0)
    b = 1000 + rng.random(300)
    a = b + 1e-6 * rng.random(300)
    effects = paired(a, b)
    values = linearised(snap(a, b), b)  # of mean a / mean b - 1
    error = values.std(ddof=1) / math.sqrt(300)
    assert effects.relative == pytest.approx(values.mean(), rel=1e-6)
    half = two.t_ppf(0.975, 299) * error
    assert effects.relative_high - effects.relative == pytest.approx(half, rel=1e-6)


def test_cautions():
    d = np.zeros(1000)
    d[:5] = 1
    assert paired(d, np.zeros(1000)).cautions == ("SKEWED", "FEW DIFFER")
    assert paired(np.arange(1000.0), np.zeros(1000)).cautions == ()
    assert runs([[1, 2, 4]], [[0, 1, 1]]).anew.cautions[-1] == "ONE RUN"


def plain_df(sizes):
    """Return 2 mean² / variance of the squared error, from the covariances of what is left."""
    share = sizes / sizes.sum()
    left = np.eye(len(sizes)) - share[:, None]  # sums of rows with variance 1 and one mean
    left = left / np.sqrt(1 - share)[:, None]
    covariance = left @ np.diag(sizes) @ left.T
    return np.trace(covariance) ** 2 / (covariance**2).sum()


def test_weights_by_their_formula():
    rng = np.random.default_rng(0)
    a, b, w = rng.random((3, 40))
    d = a - b
    test = paired(a, b, weights=w).test
    mean, share = (w * d).sum() / w.sum(), w / w.sum()
    error = math.sqrt((share**2 * (d - mean) ** 2 / (1 - share)).sum())
    assert (test.difference, test.error) == pytest.approx((mean, error))
    assert test.df == pytest.approx(plain_df(w)) and 20 < test.df < 39
    assert test.mean - test.baseline_mean == pytest.approx(mean)
    one = estimate([d], Units.of(40, w))
    assert (one.value[0], one.error[0], one.df) == pytest.approx((mean, error, test.df))
    assert of_units(draws.bootstrap, d, weights=w).statistic == pytest.approx(mean / error)


def test_equal_weights_and_single_users_as_clusters_change_nothing():
    a, b = example()
    plain = paired(a, b)
    for options in ({"weights": np.full(60, 0.7)}, {"clusters": np.arange(60)}):
        other = paired(a, b, **options)
        assert other.test == pytest.approx(plain.test, rel=1e-9)
        assert other[11:20] == pytest.approx(plain[11:20], rel=1e-9)
    d = snap(a, b)
    boot = of_units(draws.bootstrap, d, clusters=np.arange(60))
    assert boot == pytest.approx(draws.bootstrap(d), rel=1e-9)


def test_clusters_by_their_formula_in_any_order():
    rng = np.random.default_rng(0)
    d, labels = rng.random(50) - 0.4, rng.integers(0, 9, 50)
    test = paired(d, np.zeros(50), clusters=labels).test
    sums = np.array([(d[labels == c] - d.mean()).sum() for c in range(9)])
    sizes = np.bincount(labels)
    error = math.sqrt((sums**2 / (1 - sizes / 50)).sum()) / 50
    assert (test.error, test.df) == pytest.approx((error, plain_df(sizes)))
    names = np.array(["x", "a", "q", "b", "z", "c", "d", "e", "y"])
    order = rng.permutation(50)
    again = paired(d[order], np.zeros(50), clusters=names[labels][order]).test
    assert again[3:] == pytest.approx(test[3:], rel=1e-12)
    units = Units.of(50, None, labels)
    sums, sizes = units.sums(d), units.sizes
    assert sums.sum() == pytest.approx(d.sum()) and sizes.sum() == 50


def test_unequal_clusters_have_the_published_error_and_degrees_of_freedom():
    d = np.array([0.3, 0.1, -0.2, 0.4, 0, 0.2, 0.5, -0.1, 0.3, 0.1, 0.2, 0.6])
    found = paired(d, np.zeros(12), clusters=list("aaaaabbcccde"))
    test, expected = found.test, (0.06855812461128476, 2.736377342235624, 0.06893250700868928)
    assert (test.error, test.df, test.p) == pytest.approx(expected, rel=1e-9)
    ends = -0.030569590247743916, 0.4305695902477439
    assert (test.low, test.high) == pytest.approx(ends, rel=1e-9)
    half = paired(d + 1, np.ones(12), clusters=list("aaaaabbcccde"))
    assert (half.relative_low, half.relative_high) == pytest.approx(ends)  # of a baseline of 1


def test_one_unit_that_is_nearly_all_leaves_one_degree_of_freedom():
    w = np.array([1e12, 1.0, 1.0])
    test = paired([0.2, 0.5, 0.1], [0, 0, 0], weights=w).test
    assert test.df == pytest.approx(1, rel=1e-9) and 0 < test.error < 1e-6


@pytest.mark.parametrize(
    "labels",
    [["a", "a\0", "b", "c"], [1, "1", 2, "2"], [1.5, "a", (1, "x"), (1, 2)], [True, 2, 3, "True"]],
)
def test_labels_are_as_many_clusters_as_python_tells_apart(labels):
    five = np.arange(1.0, 6)
    units = Units.of(5, None, [*labels, labels[1]])
    sums, sizes = units.sums(five), units.sizes
    assert sorted(sums.tolist()) == [1, 3, 4, 7] and sizes.sum() == 5
    turned = Units.of(5, None, [labels[1], *labels[::-1]]).sums(five[::-1])
    assert turned.tolist() == sums.tolist()


@pytest.mark.parametrize("missing", [None, math.nan])
def test_a_row_without_a_cluster_is_refused(missing):
    with pytest.raises(ValueError, match=f"clusters: user 2 has none, {missing}"):
        Units.of(3, None, ["a", "b", missing])
    with pytest.raises(TypeError, match="a label cannot be compared: unhashable type: 'list'"):
        Units.of(2, None, [["a"], ["b"]])


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
    of_runs = sum(part for part, _ in parts[1:])
    df = of_runs**2 / sum(part**2 / few for part, few in parts[1:])
    parts = [users, (max(of_runs - within(a, b, kind), 0.0), df)]
    v = sum(part for part, _ in parts)
    assert found.trained.error == pytest.approx(math.sqrt(users[0]))
    assert found.anew.error == pytest.approx(math.sqrt(v))
    assert found.anew.df == pytest.approx(v**2 / sum(part**2 / df for part, df in parts))
    assert found.n_runs == 4 and "ONE RUN" not in found.anew.cautions


@pytest.mark.parametrize("kind", ["independent", "paired"])
@pytest.mark.parametrize("n_runs", [2, 3, 9])
def test_few_runs_have_the_critical_value_of_cochran_and_cox(kind, n_runs):
    rng = np.random.default_rng(n_runs)
    a, b = rng.normal(0, 1, (2, n_runs, 40)) + rng.normal(0, 0.1, (2, n_runs, 1))
    a += 0.05 * n_runs  # to be far from 0 where there are many
    found = runs(a, b, kind)
    means = a.mean(axis=1), b.mean(axis=1)
    v = [mean.var(ddof=1) / n_runs for mean in means]
    if kind == "paired":
        v = [(means[0] - means[1]).var(ddof=1) / n_runs]
    df = sum(v) ** 2 / sum(part**2 / (n_runs - 1) for part in v)
    of_runs = max(sum(v) - within(a, b, kind), 0.0), df
    of_users = found.trained.error**2, 39
    assert np.allclose(found.parts, (of_users, of_runs))

    def critical(p):
        terms = [v * two.t_ppf(1 - p / 2, df) for v, df in found.parts]
        return sum(terms) / sum(v for v, _ in found.parts)

    anew = found.anew
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


def test_float32_is_added_up_in_float64():
    a = np.full(100_000, 0.1, np.float32)
    assert paired(a, np.zeros_like(a)).test.mean == pytest.approx(float(np.float32(0.1)), rel=1e-12)


@given(st.lists(st.tuples(*[st.floats(0, 1, width=16)] * 2), min_size=1, max_size=30))
def test_pairs_the_other_way_round(values):
    a, b = np.array(values).T
    found, expected = PairSums.of(a, b).reversed, PairSums.of(b, a)
    for name in ("n", "wins", "losses", "mean_a", "mean_b", "mean", "aa", "bb", "dd", "db"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=1e-12)
