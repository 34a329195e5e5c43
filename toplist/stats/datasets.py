"""Several data sets or groups: a difference over them, ranks of systems, in how many it holds.

Tables of means have a row per data set and a column per system; NaN where a system misses a data
set: there it is last. Users are never merged across data sets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from toplist import kernels, parallel
from toplist.checks import Bools, Floats, choice, doubles, readable
from toplist.stats import TTest, difference, t_test
from toplist.stats.distributions import chi2_sf, f_sf, probability, range_ppf, range_sf
from toplist.stats.randomization import DRAWS, How
from toplist.stats.simultaneous import adjust
from toplist.stats.units import TIE, Units, over, snap

# What the data sets are: all there are, or a sample of sets like them.
DatasetsAre = Literal["these", "sample"]
OF: tuple[DatasetsAre, ...] = get_args(DatasetsAre)
ReplicabilityMethod = Literal["bonferroni", "fisher"]
# Means that differ by less than this share of the largest one are equal, in digits.
DIGITS = -round(math.log10(TIE))
# Users that are drawn together: their values stay in the cache. Of a million users in one, a draw
# took 50 ns, and not 4.
STRATUM = 1 << 12


@readable
class Friedman(NamedTuple):
    """Whether any systems differ in their ranks, of S systems in J data sets.

    `mean_ranks` are in the order of the systems; `statistic` is Friedman's χ² with `df` degrees of
    freedom and `p`, corrected for ties by `ties` (1 without any), and `f` with `p_f` that of Iman
    and Davenport, with df and (J - 1) df. Two mean ranks that are further apart than
    `critical_difference` differ by Nemenyi's test, of which `p_nemenyi` (S, S) has the p of every
    pair.
    """

    mean_ranks: Floats
    statistic: float
    df: int
    p: float
    ties: float
    f: float
    p_f: float
    critical_difference: float
    p_nemenyi: Floats


@readable
class Replicability(NamedTuple):
    """In how many data sets at least a finding holds: `k`; `p` (J,), of 1, 2, ... J of them."""

    k: int
    p: Floats


def over_datasets(
    differences: ArrayLike,
    errors: ArrayLike | None = None,
    df: ArrayLike | None = None,
    *,
    of: DatasetsAre = "these",
    level: float = 0.95,
) -> TTest:
    """Test the mean of one difference over J data sets.

        "these"   error = √Σ se² / J,  df = (Σ se²)² / Σ (se⁴ / df)
        "sample"  error = s / √J,      df = J - 1

    of differences D_j with standard error se_j and df_j degrees of freedom, s the standard
    deviation of the D_j. "these" takes users for a sample and these data sets for all there are
    (Welch 1947, Satterthwaite 1946); "sample" asks about other sets like these, of which these are
    a sample. Where se_j is 0 and D_j is not, all users differ alike, and nothing says how sure D_j
    is: then "these" has neither error, p nor interval.

    Parameters
    ----------
    differences : (J,) float
        Of two systems, one per data set.
    errors, df : (J,) float, optional
        Their standard errors and degrees of freedom, for "these".
    of : {"these", "sample"}
        What the result is about: these data sets, or sets like these.
    level : float
        Of the interval.

    Returns
    -------
    TTest
        A named tuple: difference, error, df, statistic, p, low, high; n counts data sets.

    Raises
    ------
    ValueError
        For other numbers of errors than of differences, errors below 0 and df that are not above
        it; for "these" without errors.

    Examples
    --------
    >>> differences = [0.0045, 0.0120, -0.0010, 0.0080, 0.0060]
    >>> errors, df = [0.0020, 0.0050, 0.0030, 0.0025, 0.0040], [3331, 941, 599, 6039, 499]
    >>> these = over_datasets(differences, errors, df)
    >>> others = over_datasets(differences, of="sample")
    >>> [(round(one.difference, 4), round(one.p, 6)) for one in (these, others)]
    [(0.0059, 0.000148), (0.0059, 0.050697)]
    """
    choice("of", of, OF)
    d = doubles(differences)
    test = difference(d, np.zeros(len(d)), level=level).test
    if of == "sample":
        return test
    if errors is None or df is None:
        raise ValueError("of='these' needs errors= and df=, one per data set; of='sample' does not")
    squares, each = doubles(errors) ** 2, doubles(df)
    if not squares.shape == each.shape == d.shape:
        raise ValueError(
            f"{len(d)} differences, {squares.size} errors and {each.size} df: one of each per data "
            "set is needed"
        )
    if (doubles(errors) < 0).any() or (each <= 0).any():
        raise ValueError("a standard error is not below 0, and degrees of freedom are above 0")
    squares[(squares == 0) & (d != 0)] = math.nan
    total = float(squares.sum())
    whole = over(total**2, float((squares**2 / each).sum()))
    error = math.sqrt(total) / len(d)
    found = t_test(test.difference, error, whole, level=level)
    return TTest(*test[:5], error, whole, *found)


def mid_ranks(values: ArrayLike, *, higher_is_better: bool = True) -> Floats:
    """Return ranks along the last axis, 1 for the best; equal values share their mean rank.

    Values are equal that differ by less than a 1e-12th part of the largest. NaN is last.

    Examples
    --------
    >>> mid_ranks([[0.5, 0.4, 0.3], [0.6, 0.6, 0.5]])
    array([[1. , 2. , 3. ],
           [1.5, 1.5, 3. ]])
    """
    x = doubles(values)
    largest = np.nan_to_num(np.abs(x)).max(axis=-1, keepdims=True, initial=0.0)
    x = np.round(x / np.where(largest > 0, largest, 1.0), DIGITS)
    x = np.where(np.isnan(x), -np.inf, x if higher_is_better else -x)
    ranks = np.full(x.shape, 0.5)
    for place in range(x.shape[-1]):
        other = x[..., place : place + 1]
        ranks += (other > x) + 0.5 * (other == x)
    return ranks


def friedman(values: ArrayLike, *, higher_is_better: bool = True, level: float = 0.95) -> Friedman:
    """Test whether any systems differ in their ranks over data sets; and which pairs do.

        χ² = (S - 1) Σ_s (R_s - J (S + 1) / 2)² / Σ_js (r_js - (S + 1) / 2)²
        F = (J - 1) χ² / (J (S - 1) - χ²)
        critical difference = q √(S (S + 1) / 6 J)

    of mid-ranks r_js of S systems in J data sets, R_s their sums, q the quantile of the studentised
    range over √2. The χ² is corrected for ties: χ² times `ties` is the one without. (Friedman 1937;
    Iman, Davenport 1980; Nemenyi 1963; Demšar 2006, JMLR 7.) It takes the data sets for a sample,
    and no account of how surely each of its means is known.

    Parameters
    ----------
    values : (J, S) float
        A row per data set; NaN: the system is last there.
    higher_is_better : bool
    level : float
        Of the critical difference.

    Returns
    -------
    Friedman

    Raises
    ------
    ValueError
        For fewer than two data sets or systems.

    Examples
    --------
    >>> found = friedman([[.5, .4, .3], [.6, .6, .5], [.4, .5, .6], [.7, .6, .5]])
    >>> found.mean_ranks, round(found.statistic, 4), round(found.p, 5)
    (array([1.625, 1.875, 2.5  ]), 1.7333, 0.42035)
    >>> round(found.critical_difference, 5), round(float(found.p_nemenyi[0, 2]), 4)
    (1.65725, 0.431)
    """
    probability(level, "level")
    ranks = mid_ranks(_table(values), higher_is_better=higher_is_better)
    (n_sets, n), mean = ranks.shape, ranks.mean(axis=0)
    apart = ranks - (n + 1) / 2
    spread = float((apart**2).sum())
    statistic = over((n - 1) * float((apart.sum(axis=0) ** 2).sum()), spread)
    rest = float(snap(n_sets * (n - 1), statistic))
    f = over((n_sets - 1) * statistic, rest)
    unit = math.sqrt(n * (n + 1) / (12 * n_sets))  # of the studentised range, in mean ranks
    gaps = np.abs(mean - mean[:, np.newaxis]) / unit
    p = np.array([[range_sf(q, n, math.inf) for q in row] for row in gaps.tolist()])
    return Friedman(
        *(mean, statistic, n - 1, chi2_sf(statistic, n - 1)),
        *(spread / (n_sets * n * (n * n - 1) / 12), f, f_sf(f, n - 1, (n - 1) * (n_sets - 1))),
        *(unit * range_ppf(level, n, math.inf), p),
    )


def borda(values: ArrayLike, *, higher_is_better: bool = True) -> Floats:
    """Return Borda's votes of every system, as MTEB counts them: systems beaten, over data sets.

    Ties are half a vote. A system without a value (NaN) has no votes there, and each of the others
    one for having beaten it.

    Parameters
    ----------
    values : (J, S) float
        A row per data set.
    higher_is_better : bool

    Examples
    --------
    >>> borda([[.5, .4, .3], [.6, .6, .5], [.4, .5, .6], [.7, .6, .5]])
    array([5.5, 4.5, 2. ])
    """
    table = _table(values)
    votes = table.shape[1] - mid_ranks(table, higher_is_better=higher_is_better)
    total: Floats = np.where(np.isnan(table), 0.0, votes).sum(axis=0)
    return total


def replicability(
    p: ArrayLike, method: ReplicabilityMethod = "bonferroni", *, level: float = 0.95
) -> Replicability:
    """Return in how many of J data sets at least a finding holds (partial conjunction).

        p_u = max over v <= u of  (J - v + 1) p_(v)                        "bonferroni"
                                  P(χ²_2(J-v+1) > -2 Σ_(i >= v) ln p_(i))  "fisher"

    of p_(1) <= ... <= p_(J), cut at 1; k is the number of p_u of at most 1 - level. That it holds
    in k data sets at least is wrong with a chance of at most 1 - level (Benjamini, Heller 2008;
    Dror, Baumer, Bogomolov, Reichart 2017). Fisher's takes the data sets for independent.

    Parameters
    ----------
    p : (J,) float
        One-sided: of the same finding in every data set.
    method : {"bonferroni", "fisher"}
    level : float

    Examples
    --------
    >>> p = [0.168, 0.297, 0.357, 0.019, 0.218, 0.001]
    >>> replicability(p).k, replicability(p, "fisher").k
    (1, 2)
    """
    choice("method", method, get_args(ReplicabilityMethod))
    alpha = 1 - probability(level, "level")
    each = np.sort(adjust(p, "holm"))
    if method == "fisher":
        rising = np.sort(adjust(p, "none"))
        with np.errstate(divide="ignore"):
            sums = -2 * np.cumsum(np.log(rising)[::-1])
        tails = [chi2_sf(x, 2 * (i + 1)) for i, x in enumerate(sums.tolist())]
        each = np.maximum.accumulate(tails[::-1])
    return Replicability(int((each <= alpha).sum()), each)


def resampled(
    values: Sequence[ArrayLike],
    units: Units | None = None,
    *,
    n_resamples: int = 2000,
    seed: int = 0,
    n_threads: int | None = None,
) -> Floats:
    """Return the means of all systems less that of the first, of users drawn with replacement.

    A resample has the same users for all systems; where there are clusters, whole ones are drawn.
    Of more than 4,096 users, strata of about as many are drawn at random, and as many users of each
    as it has: they stay in the cache, and the variance is smaller by a 4096th part. The draws
    depend on the seed alone.

    Parameters
    ----------
    values : sequence of (n,) float
        Of the same users, a row per system.
    units : Units, optional
        Weights and clusters: the means are ratios of sums, linearised.
    n_resamples, seed, n_threads
        As in `toplist.stats.randomization.bootstrap`.

    Returns
    -------
    (n_resamples, S) float64

    Examples
    --------
    >>> drawn = resampled([np.zeros(100), np.arange(100) % 2], n_resamples=999)
    >>> drawn.shape, drawn.mean(axis=0).round(1), drawn.std(axis=0).round(2)
    ((999, 2), array([0. , 0.5]), array([0.  , 0.05]))
    """
    how = How(n_resamples, seed=seed, n_threads=n_threads)
    first, *others = (doubles(one) for one in values)
    units = Units(len(first)) if units is None else units
    columns = [units.linearised(snap(one, first)) for one in others]
    n = len(units.sizes)
    table = np.reshape(columns, (len(columns), n)).T[np.random.default_rng(seed).permutation(n)]
    edges = np.linspace(0, n, -(-n // STRATUM) + 1).astype(int).tolist()
    strata = [table[low:high] for low, high in pairwise(edges)]
    rows = [np.vstack([one[one.any(axis=1)], np.zeros_like(one[:1])]) for one in strata]
    means = np.zeros((n_resamples, len(columns)))

    def add(low: int, high: int) -> None:
        for ends, differ in zip(pairwise(edges), rows, strict=True):
            kernels.chance.add_resampled(differ, *ends, low, how.key, means[low:high])

    parallel.each(add, parallel.bounds(np.arange(n_resamples + 1) * n, DRAWS), n_threads)
    means /= n
    return np.hstack([np.zeros((n_resamples, 1)), means])


def rank_intervals(
    values: Floats, drawn: Sequence[Floats], *, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Return intervals of the mean rank of every system; higher values are better.

    In data set j, system s is surely behind all systems that are better by more than c standard
    errors of the difference, and ahead of all that are as much worse; c is the quantile of the
    largest resampled t, without sign, of s against any other in any data set. The means of both
    ranks over the data sets hold the true mean rank with a chance of at least `level`, however near
    the systems are (Mogstad, Romano, Shaikh, Wilhelm 2024, Inference for ranks). Quantiles of
    resampled ranks do not: ranks of systems that are near are drawn to the middle, in every set.

    Parameters
    ----------
    values : (J, S) float
        The means; NaN: the system is last there.
    drawn : sequence of (n_resamples, S) float
        As `resampled` returns them, NaN as in `values`; one per data set.
    level : float

    Returns
    -------
    low, high : (S,) float64

    Examples
    --------
    >>> users = np.random.default_rng(0).random((2, 3, 400)) + [[[0.3], [0.28], [0.0]]]
    >>> low, high = rank_intervals(users.mean(axis=2), [resampled(one) for one in users])
    >>> low, high
    (array([1., 1., 3.]), array([2., 2., 3.]))
    """
    probability(level, "level")
    there = ~np.isnan(values)
    low = mid_ranks(values)
    high = low.copy()
    for system in range(values.shape[1]):
        largest, limits = np.zeros(len(drawn[0])), []
        for seen, of_set in zip(values - values[:, [system]], drawn, strict=True):
            apart = of_set - of_set[:, [system]]
            error = apart.std(axis=0)
            with np.errstate(invalid="ignore"):
                t = np.nan_to_num(np.abs(apart - apart.mean(axis=0)) / error)
            np.maximum(largest, t.max(axis=1), out=largest)
            limits.append((seen, error))
        critical = float(np.quantile(largest, level))
        for j in np.flatnonzero(there[:, system]):
            seen, error = limits[j]
            low[j, system] = 1 + (seen > critical * error).sum()
            high[j, system] = there[j].sum() - (seen < -critical * error).sum()
    return low.mean(axis=0), high.mean(axis=0)


def behind_first(ranks: Sequence[Floats], first: int, *, level: float = 0.95) -> Bools:
    """Return which systems are behind the first in mean rank, by more than chance.

    Those whose mean rank is as good in at most (1 - level) / 2 of the resamples, by Bonferroni over
    the others. Resampled ranks are nearer to each other than true ones, so that this is cautious.

    Examples
    --------
    >>> ranks = [np.tile([1.0, 2.0], (999, 1)), np.tile([1.0, 2.0], (999, 1))]
    >>> behind_first(ranks, 0)
    array([False,  True])
    """
    mean = np.mean(ranks, axis=0)
    as_good = (mean <= mean[:, [first]]).mean(axis=0)
    found: Bools = as_good * max(mean.shape[1] - 1, 1) <= (1 - level) / 2
    return found


class Welch(NamedTuple):
    """Welch's F with its degrees of freedom and p; `pooled` is the mean of all, by precision."""

    f: float
    df1: float
    df2: float
    p: float
    pooled: float


def welch(means: ArrayLike, errors: ArrayLike, df: ArrayLike) -> Welch:
    """Return Welch's F of the means of G independent groups.

        w = 1 / error²,  W = Σw,  m = Σ w mean / W,  L = Σ (1 - w/W)² / df
        F = Σ w (mean - m)² / (G - 1) / (1 + 2 (G - 2) L / (G² - 1))
        df1 = G - 1,  df2 = (G² - 1) / 3L

    (Welch 1951, On the comparison of several mean values.) Of n values with the standard deviation
    s, the error is s / √n and df is n - 1; weighted means have others (`Units.df`). NaN for
    fewer than two groups.

    Parameters
    ----------
    means, errors, df : (G,) float
        Of each group: the mean, its standard error above 0, and the degrees of freedom of that.

    Examples
    --------
    >>> import numpy as np
    >>> n, s = np.array([966, 1260, 1106]), np.array([0.135, 0.103, 0.1])
    >>> found = welch([0.0073, 0.0058, 0.0006], s / np.sqrt(n), n - 1)
    >>> round(found.f, 4), found.df1, round(found.df2, 1), round(found.p, 4)
    (1.1196, 2, 2074.8, 0.3266)
    """
    m, w, dfs = doubles(means), 1 / doubles(errors) ** 2, doubles(df)
    n = len(m)
    if n < 2:
        return Welch(*[math.nan] * 5)
    shares = w / w.sum()
    pooled = float((shares * m).sum())
    spread = float(((1 - shares) ** 2 / dfs).sum())
    between = float((w * (m - pooled) ** 2).sum()) / (n - 1)
    f = between / (1 + 2 * (n - 2) * spread / (n**2 - 1))
    df2 = (n**2 - 1) / (3 * spread)
    return Welch(f, n - 1, df2, f_sf(f, n - 1, df2), pooled)


def _table(values: ArrayLike) -> Floats:
    """Return values as float64 (J, S), or raise."""
    table = doubles(values)
    if table.ndim != 2 or min(table.shape) < 2:
        raise ValueError(
            "values must have a row per data set and a column per system, two or more of each, not "
            f"shape {table.shape}"
        )
    return table
