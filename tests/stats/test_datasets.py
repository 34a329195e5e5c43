"""Several data sets and groups: cases of the statistics, plain Python, and resampled users."""

import math

import numpy as np
import pytest

from toplist.stats import datasets, difference
from toplist.stats.datasets import welch
from toplist.stats.distributions import chi2_sf
from toplist.stats.units import Units

# AUC of C4.5, with m, with cf, with both (Demšar 2006, table 6), voting untied as its ranks are.
TABLE_6 = """
    .763 .768 .771 .798  .599 .591 .590 .569  .954 .971 .968 .967  .628 .661 .654 .657
    .882 .888 .886 .898  .936 .931 .916 .931  .661 .668 .609 .685  .583 .583 .563 .625
    .775 .838 .866 .875  1 1 1 1              .940 .962 .965 .962  .619 .666 .614 .669
    .972 .981 .97501 .975  .957 .978 .946 .970
"""
DEMSAR = np.array(TABLE_6.split(), float).reshape(14, 4)
# Systems A, B, C over four data sets, and the Borda votes of MTEB.
THREE = np.array([[0.5, 0.4, 0.3], [0.6, 0.6, 0.5], [0.4, 0.5, 0.6], [0.7, 0.6, 0.5]])
# Of an issue that asks for one contrast over five data sets.
D = [0.0045, 0.0120, -0.0010, 0.0080, 0.0060]
ERRORS = [0.0020, 0.0050, 0.0030, 0.0025, 0.0040]
DF = [3331, 941, 599, 6039, 499]
P = [0.168, 0.297, 0.357, 0.019, 0.218, 0.001]


def test_figures_that_are_published():
    found = datasets.friedman(DEMSAR)
    assert found.mean_ranks.round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    assert round(found.statistic * found.ties, 2) == 9.28
    assert round(found.critical_difference, 2) == 1.25
    tied = found.statistic, found.p, found.f, found.p_f
    expected = 10.228346456692913, 0.016721580328441413, 4.185130111524163, 0.011620659515311067
    assert tied == pytest.approx(expected, rel=1e-9)
    assert found.p_nemenyi[0, 1] == found.p_nemenyi[1, 0] == pytest.approx(0.08867270928888271)
    assert datasets.borda(THREE).tolist() == [5.5, 4.5, 2.0]


# difference, error, df, statistic, p and the ends of the interval
OVER_SETS = {
    "these": (0.0059, 0.0015524175, 2742.3393, 3.8005241, 0.00014753156, 0.002855974, 0.008944026),
    "sample": (0.0059, 0.0021354157, 4, 2.7629281, 0.050697124, -2.8864330e-05, 0.011828864),
}


@pytest.mark.parametrize("of", OVER_SETS)
def test_a_difference_over_data_sets(of):
    given = {"of": of} if of == "sample" else {"errors": ERRORS, "df": DF}
    found = datasets.over_datasets(D, **given)
    got = (found.difference, found.error, found.df, found.statistic, found.p, found.low, found.high)
    assert got == pytest.approx(OVER_SETS[of], rel=1e-6) and found.n == 5
    alike = datasets.over_datasets([0.1, 0.2], [0.0, 0.01], [1, 999])  # how sure the first is?
    assert np.isnan([alike.error, alike.p, alike.low]).all()
    same = datasets.over_datasets([0.0, 0.2], [0.0, 0.01], [1, 999])  # where no user differs
    assert (same.error, same.df) == (0.005, 999)


def test_replicability_is_its_formula():
    """Also with p of 0, without any finding, and by Fisher's sums."""
    p = sorted([0.2, 0.03, 0.0, 0.6])
    found = datasets.replicability(p, level=0.9)
    each = [(4 - v) * one for v, one in enumerate(p)]
    expected = [min(max(each[: u + 1]), 1.0) for u in range(4)]
    assert found.p == pytest.approx(expected) and found.k == sum(one <= 0.1 for one in expected)
    assert datasets.replicability(p, "fisher").p[0] == 0
    assert datasets.replicability([0.3, 0.9]).k == 0
    fisher = datasets.replicability(P, "fisher")
    first = [0.0010236562707984724, 0.03989813646206071, 0.19597603158808116]
    assert fisher.p[:3] == pytest.approx(first) and fisher.k == 2
    equal = datasets.over_datasets([0.0, 0.0], [0.0, 0.0], [9, 9])
    assert (equal.p, equal.difference) == (1.0, 0.0)


def plain_ranks(values):
    """1 for the best, equal ones their mean; None, which is NaN, last."""
    key = [-math.inf if value != value else value for value in values]
    return [
        1 + sum(other > one for other in key) + (sum(other == one for other in key) - 1) / 2
        for one in key
    ]


def test_ranks_votes_and_friedman_are_their_formulas():
    rng = np.random.default_rng(0)
    for _ in range(9):
        table = rng.integers(0, 4, (6, 5)) / 3
        table[rng.random((6, 5)) < 0.1] = np.nan
        ranks = [plain_ranks(row) for row in table.tolist()]
        assert datasets.mid_ranks(table).tolist() == ranks
        assert datasets.mid_ranks(-table, higher_is_better=False).tolist() == ranks
        pairs = zip(table.tolist(), ranks, strict=True)
        votes = [[0 if v != v else 5 - r for v, r in zip(*both, strict=True)] for both in pairs]
        assert datasets.borda(table).tolist() == [sum(some) for some in zip(*votes, strict=True)]
        sums = [sum(some) for some in zip(*ranks, strict=True)]
        spread = sum((r - 3) ** 2 for row in ranks for r in row)
        found = datasets.friedman(table)
        assert found.statistic == pytest.approx(4 * sum((r - 18) ** 2 for r in sums) / spread)
        assert found.df == 4 and found.p == chi2_sf(found.statistic, 4)


def test_the_ends_of_ranks():
    assert datasets.mid_ranks([0.1 + 0.2, 0.3, 0.2]).tolist() == [1.5, 1.5, 3.0]
    assert datasets.mid_ranks([0.3 + 1e-9, 0.3]).tolist() == [1.0, 2.0]
    one_order = datasets.friedman([[3.0, 2.0, 1.0]] * 5)
    assert (one_order.statistic, one_order.f, one_order.p_f) == (10.0, math.inf, 0.0)
    nothing = datasets.friedman(np.ones((3, 3)))
    assert (nothing.statistic, nothing.p, nothing.ties) == (0.0, 1.0, 0.0)


# Users drawn again


def users(rng, n_systems, n):
    return (rng.random((n_systems, n)) < rng.beta(1, 3, n)) * rng.random((n_systems, n))


def test_resampled_means_vary_as_means_do(monkeypatch):
    """Their covariances, in one stratum and in many; without a first who is any special."""
    values = users(np.random.default_rng(2), 4, 1500)
    expected = np.cov(values - values[0], bias=True) / 1500
    for stratum in (1 << 12, 300):
        monkeypatch.setattr(datasets, "STRATUM", stratum)
        drawn = datasets.resampled(values, n_resamples=8_000)
        assert drawn.shape == (8_000, 4) and not drawn[:, 0].any()
        error = np.sqrt(np.diag(expected))
        assert (np.abs(drawn.mean(0) - (values - values[0]).mean(1)) <= 0.05 * error + 1e-15).all()
        np.testing.assert_allclose(np.cov(drawn.T), expected, rtol=0.09, atol=1e-9)


def test_resamples_depend_on_the_seed_alone(monkeypatch):
    values = users(np.random.default_rng(3), 3, 501)
    monkeypatch.setattr(datasets, "DRAWS", 5000)
    first = datasets.resampled(values, n_resamples=200, n_threads=1)
    assert np.array_equal(first, datasets.resampled(values, n_resamples=200, n_threads=3))
    assert not np.array_equal(first, datasets.resampled(values, n_resamples=200, seed=1))
    more = datasets.resampled(values, n_resamples=300)
    assert np.array_equal(first, more[:200])


def test_weights_are_as_users_twice():
    """Of whole weights: the spread of the ratio is that of users with their weights."""
    rng = np.random.default_rng(4)
    values, weights = users(rng, 2, 2000), rng.integers(1, 4, 2000).astype(float)
    drawn = datasets.resampled(values, Units.of(len(weights), weights), n_resamples=4000)[:, 1]
    d = values[1] - values[0]
    mean = np.average(d, weights=weights)
    error = math.sqrt((weights**2 * (d - mean) ** 2).sum()) / weights.sum()
    assert drawn.mean() == pytest.approx(mean, abs=0.1 * error)
    assert drawn.std() == pytest.approx(error, rel=0.05)


def plain_intervals(values, drawn, level=0.95):
    """Mean ranks of who is surely ahead and behind, one system and data set after the other."""
    ends = []
    for s in range(values.shape[1]):
        largest, sure = [0.0] * len(drawn[0]), []
        for seen, of_set in zip(values, drawn, strict=True):
            for other in range(len(seen)):
                gaps = of_set[:, other] - of_set[:, s]
                error = gaps.std()
                if error > 0:
                    t = np.abs(gaps - gaps.mean()) / error
                    largest = np.maximum(largest, t)
                sure.append((seen[other] - seen[s], error))
        c = np.quantile(largest, level)
        ahead = sum(gap > c * error for gap, error in sure) / len(values)
        behind = sum(gap < -c * error for gap, error in sure) / len(values)
        ends.append((1 + ahead, values.shape[1] - behind))
    return ends


def test_rank_intervals_are_their_definition():
    rng = np.random.default_rng(5)
    sets = [users(rng, 4, 400) + 0.03 * rng.permutation(4)[:, np.newaxis] for _ in range(3)]
    values = np.array([one.mean(axis=1) for one in sets])
    drawn = [datasets.resampled(one, n_resamples=500) for one in sets]
    low, high = datasets.rank_intervals(values, drawn)
    expected = np.array(plain_intervals(values, drawn))
    np.testing.assert_allclose(np.stack([low, high], axis=1), expected)
    assert (low >= 1).all() and (high <= 4).all() and (low < high).any() and (low > 1).any()
    ranks = datasets.mid_ranks(values).mean(axis=0)
    assert (low <= ranks).all() and (ranks <= high).all()
    wider = datasets.rank_intervals(values, drawn, level=0.999)
    assert (wider[0] <= low).all() and (wider[1] >= high).all()


def test_ranks_that_are_sure_and_ranks_that_never_are():
    """A system that a data set lacks is last there; equal systems are never told apart."""
    values = np.array([[0.9, 0.1, np.nan], [0.9, 0.5, 0.1]])
    drawn = [np.random.default_rng(i).normal(values[i], 0.01, (500, 3)) for i in range(2)]
    low, high = datasets.rank_intervals(values, drawn)
    assert low.tolist() == high.tolist() == [1.0, 2.0, 3.0]
    same = np.random.default_rng(6).random(300)
    drawn = [datasets.resampled([same, same, same + 1], n_resamples=300)] * 2
    low, high = datasets.rank_intervals(np.array([[0.5, 0.5, 1.5]] * 2), drawn)
    assert low.tolist() == [2.0, 2.0, 1.0] and high.tolist() == [3.0, 3.0, 1.0]


def test_who_is_behind_the_first():
    rng = np.random.default_rng(7)
    sets = [users(rng, 3, 2000) + np.array([[0.1], [0.1], [0.0]]) for _ in range(4)]
    ranks = [datasets.mid_ranks(datasets.resampled(one, n_resamples=1000)) for one in sets]
    assert datasets.behind_first(ranks, 0).tolist() == [False, False, True]
    assert not datasets.behind_first(ranks, 2).any()
    # as good in 2 of 100: by Bonferroni of two others, 4 % in place of 2
    some = np.tile([1.0, 2.0, 2.0], (100, 1))
    some[:2, 1:] = 1.0
    for level, behind in ((0.95, False), (0.9, True)):
        assert datasets.behind_first([some], 0, level=level).tolist() == [False, behind, behind]


# Independent groups


def welch_of(groups):
    """Return Welch's F of arrays, as `welch` takes them."""
    rows = [
        (np.mean(one), np.std(one, ddof=1) / math.sqrt(len(one)), len(one) - 1) for one in groups
    ]
    return welch(*np.array(rows).T)


def test_welch_is_that_of_two_groups_of_scipy_and_of_weighted_ones():
    """Of two groups it is the square of the t of Welch; weights of one size are none."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.3, 1, 12), rng.normal(0, 3, 40)
    va, vb = a.var(ddof=1) / 12, b.var(ddof=1) / 40
    found = welch_of([a, b])
    assert found.f == pytest.approx((a.mean() - b.mean()) ** 2 / (va + vb), rel=1e-12)
    assert found.df1 == 1
    assert found.df2 == pytest.approx((va + vb) ** 2 / (va**2 / 11 + vb**2 / 39), rel=1e-12)
    assert found.pooled == pytest.approx((a.mean() / va + b.mean() / vb) / (1 / va + 1 / vb))
    zeros = [(d, np.zeros(len(d)), Units(len(d), np.full(len(d), 3.0))) for d in (a, b)]
    tests = [difference(*one) for one in zeros]
    weighted = welch(*np.array([(one.difference, one.error, one.df) for one in tests]).T)
    assert weighted == pytest.approx(found, rel=1e-9)
    for few in ([[1.0], [0.5], [3.0]], [[], [], []]):
        assert np.isnan(welch(*few)).all()
    groups = [rng.gamma(2, scale, n) for scale, n in ((1, 9), (2, 30), (1.5, 80), (3, 15))]
    pytest.importorskip("scipy", minversion="1.16")  # those before have no Welch's F
    stats = pytest.importorskip("scipy.stats")
    expected, found = stats.f_oneway(*groups, equal_var=False), welch_of(groups)
    assert found.f == pytest.approx(expected.statistic, rel=1e-9)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-8)
