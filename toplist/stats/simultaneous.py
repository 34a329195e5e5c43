"""Many comparisons at once: p adjusted for their number, and by the largest of them (MaxT).

Of t statistics the distribution follows from the moments of the differences alone: it is the
multivariate t with their correlation. Of sign flips it is drawn with the same signs for all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike

from toplist import parallel
from toplist.checks import Floats, Ints, choice, doubles
from toplist.stats import Difference, Estimate
from toplist.stats import randomization as draws
from toplist.stats.distributions import probability, range_ppf, range_sf, t_ppf, t_sf
from toplist.stats.randomization import How, share, sided_of
from toplist.stats.units import TIE, Units, over, p_of, product

T = TypeVar("T")

# Normal draws in one task of a thread, which stay in cache.
TASK = 1 << 17
# So many draws leave the critical value uncertain by 0.006.
DRAWS = 100_000
# A direction with less than this share of the largest variance is rounding.
FLAT = 1e-12

Correction = Literal["holm", "bh", "bonferroni", "none"]
CORRECTIONS: tuple[Correction, ...] = get_args(Correction)


def adjust(p: ArrayLike, method: Correction = "holm") -> Floats:
    """Return p values that hold for all comparisons together.

    With p(1) <= ... <= p(m) in ascending order, cut at 1:

        "bonferroni"  m p
        "holm"        the largest of (m - j + 1) p(j) over j <= i (Holm 1979)
        "bh"          the least of m p(j) / j over j >= i (Benjamini, Hochberg 1995)
        "none"        p

    Holm's and Bonferroni's bound the chance of one false discovery or more, Holm's never being the
    larger; "bh" bounds the share of false ones among the discoveries.

    Parameters
    ----------
    p : array of float
        Of any shape: all of it is one family. NaN stays NaN and does not count.
    method : {"holm", "bh", "bonferroni", "none"}

    Examples
    --------
    >>> adjust([0.01, 0.04, 0.03, 0.005])
    array([0.03, 0.06, 0.06, 0.02])
    >>> adjust([0.01, np.nan, 0.04], "bonferroni")
    array([0.02,  nan, 0.08])
    """
    choice("method", method, CORRECTIONS)
    adjusted = doubles(p).copy()
    counted = ~np.isnan(adjusted)
    family = adjusted[counted]
    if (wrong := (family < 0) | (family > 1)).any():
        raise ValueError(f"p values lie between 0 and 1, not {float(family[wrong][0])!r}")
    if method != "none":
        order = np.argsort(family, kind="stable")
        rising, places = family[order], np.arange(1.0, len(family) + 1)
        stepwise = len(family) * rising
        if method == "holm":
            stepwise = np.maximum.accumulate((len(family) - places + 1) * rising)
        elif method == "bh":
            stepwise = np.minimum.accumulate((len(family) / places * rising)[::-1])[::-1]
        family[order] = np.minimum(stepwise, 1.0)
    adjusted[counted] = family
    return adjusted


class MaxT(NamedTuple):
    """Many comparisons at once, by the distribution of their largest statistic.

    `p` is each one's own; `step_down` is adjusted (Westfall and Young 1993), and at least p.
    """

    p: Floats
    step_down: Floats


@dataclass(frozen=True, eq=False)
class BandValues:
    """A difference at every k, with intervals at this k, and ones that hold at all k together.

    `low` to `high` are the pointwise intervals, `low_all` to `high_all` the simultaneous ones,
    difference ± `critical` times `error`.
    """

    n: int
    difference: Floats
    std: Floats
    error: Floats
    low: Floats
    high: Floats
    critical: float
    low_all: Floats
    high_all: Floats
    n_resamples: int


def maxt_t(found: Estimate, **options: Any) -> MaxT:
    """Return many t tests over the same users, adjusted by the multivariate t.

        step-down: p_i = (1 + #{max over j with |t_j| <= |t_i| of |T_bj| >= |t_i|}) / (B + 1)

    made to rise, where T_b are draws of the multivariate t with the columns' correlation and n - 1
    degrees of freedom, of weights and clusters their own (Hothorn, Bretz, Westfall 2008). Only
    covariances are needed, so that a million users cost no more than a thousand. A column that
    does not vary has p 1 where it is 0, else that of sign flips, corrected by Bonferroni.

    Parameters
    ----------
    found : Estimate
        The mean differences.
    **options
        Fields of `How`; 100,000 draws by default.

    Examples
    --------
    >>> from toplist.stats import Sums
    >>> d = np.random.default_rng(0).normal([0.2, 0.1], 1.0, (100, 2))
    >>> both = maxt_t(Sums.of(d).estimate)
    >>> both.p.round(3), both.step_down.round(2)
    (array([0.188, 0.036]), array([0.19, 0.07]))
    """
    how = How.of(DRAWS, options)
    df, error = found.df, found.error
    t = np.array([over(*pair) for pair in zip(found.value.tolist(), error.tolist(), strict=True)])
    sided, two_sided = sided_of(t, how.alternative), how.alternative == "two-sided"
    p = np.array([p_of(t_sf(one, df), t_sf(-one, df), how.alternative) for one in t.tolist()])
    settled = error == 0  # by sign flips
    p[settled] = np.where(sided > 0, (1 + two_sided) * 0.5**found.n, 1.0)[settled]
    # neither the order nor the direction in which systems were given changes the draws
    columns = np.flatnonzero(error > 0)
    keys = error, np.abs(found.value), np.abs(t)
    columns = columns[np.lexsort([one[columns] for one in keys])]
    signs = np.where(t[columns] < 0, -1.0, 1.0)
    correlation = found.at(columns).correlation * signs * signs[:, None]
    root, observed = _root(correlation), sided[columns]
    step_down = np.where(settled, np.minimum(len(p) * p, 1.0), p)
    if len(columns) > 1:
        order = np.argsort(observed, kind="stable")
        columns, observed = columns[order], observed[order]

        def counts(draws: Floats) -> Ints:
            """Count how often the largest of 1, ..., K draws (K, m) is as large as the last's t."""
            if two_sided:
                np.abs(draws, out=draws)
            else:
                draws *= np.where(observed < 0, -1.0, 1.0)[:, None]
            for i in range(1, len(draws)):  # half the time of np.maximum.accumulate
                np.maximum(draws[i], draws[i - 1], out=draws[i])
            reached: Ints = np.count_nonzero(draws >= observed[:, None], axis=1)
            return reached

        steps = (1 + sum(_drawn(counts, root[order], df, how))) / (how.n_resamples + 1)
        step_down[columns] = rising(np.maximum(steps, p[columns]), observed)
    return MaxT(p, step_down)


def maxt_flips(columns: Sequence[ArrayLike], units: Units | None = None, **options: Any) -> MaxT:
    """Return many comparisons over the same users, flipped together.

        z = |Σ d| / √Σ d²,  step-down: P(max of z_b over all with smaller z, and itself, >= z)

    (Westfall, Young 1993; Romano, Wolf 2005.) A flip changes the sign of a user in all columns.
    Flips do not change Σ d², so z ranks as |t| does. With fewer than 200 users it is liberal: of
    12 true nulls one was rejected in 8 to 12 % of samples, where 5 % were asked for.

    Parameters
    ----------
    columns : sequence of (n,) float
        Differences of the same users, a column per comparison.
    units, **options
        As in `randomization`, whose p of each column is `p`.

    Examples
    --------
    >>> both = maxt_flips([[0.3, 0.8, 0.1, 0.5, 0.2, 0.1], [0.1, -0.2, 0.1, 0.3, 0.2, 0.1]])
    >>> both.p, both.step_down
    (array([0.03125, 0.28125]), array([0.0625 , 0.28125]))
    """
    how = How.of(draws.FLIPS, options)
    all_values = [draws.differences(d) for d in columns]
    all_values = all_values if units is None else [units.sums(one) for one in all_values]
    n = len(all_values[0]) if all_values else 0
    if n == 0:
        nothing = np.full(len(all_values), math.nan)
        return MaxT(nothing, nothing)
    differ = np.any([values != 0 for values in all_values], axis=0)
    exact = int(differ.sum()) <= draws.EXACT
    norms = [math.sqrt(float((v**2).sum())) or 1.0 for v in all_values]  # 0 differences: z is 0
    z = np.array([v.sum() / norm for v, norm in zip(all_values, norms, strict=True)])
    sided = sided_of(z, how.alternative)
    own, steps, best = np.empty(len(z)), np.empty(len(z)), np.full(1, -math.inf)
    slack = TIE * math.sqrt(n)  # Σ|d| <= √n √Σd²
    for place in np.argsort(sided, kind="stable"):
        values, part = all_values[place], all_values[place][differ]
        sums = draws.all_sums(part) if exact else draws.flipped_sums(values, how)
        best = np.maximum(best, sided_of(sums / norms[place], how.alternative))
        p = draws.exact_p(values, how.alternative)
        if p is None:
            p = share(draws.extreme(sums, values, how.alternative), exact)
        own[place] = p
        steps[place] = share(best >= sided[place] - slack, exact)
    return MaxT(own, rising(np.maximum(steps, own), sided))


def band(found: Estimate, **options: Any) -> BandValues:
    """Return the band of a difference over k: intervals at every k, and ones for all k together.

        D_k ± c s_k / √n,  c the ceil(level (B + 1))-th of B sorted max_k |T_bk|

    T_b are draws of the multivariate t with the correlation of the columns and n - 1 degrees of
    freedom (sup-t; Montiel Olea, Plagborg-Møller 2017). Given the data this is the distribution of
    a bootstrap with normal multipliers, without going over the users again. Where a difference
    does not vary, it has no interval, but for [0, 0]; if only one column does, it is that of the t
    test.

    Parameters
    ----------
    found : Estimate
        The mean differences, one per k.
    **options
        As in `maxt_t`.

    Examples
    --------
    >>> from toplist.stats import Sums
    >>> d = np.random.default_rng(0).normal(0.5, 1.0, (100, 5)).cumsum(axis=1)
    >>> found = band(Sums.of(d).estimate)
    >>> found.difference.round(1), round(found.critical, 1)
    (array([0.4, 0.8, 1.4, 1.7, 2.4]), 2.5)
    """
    how = How.of(DRAWS, options)
    df, error = found.df, found.error
    varies = error > 0
    root, critical = _root(found.at(varies).correlation), t_ppf(0.5 + how.level / 2, df)
    half = critical * error
    # of one column, or columns that are one up to a factor, it is that of t; else never below that
    if varies.any() and root.shape[1] > 1 and not math.isnan(critical):
        largest = np.concatenate(_drawn(lambda t: np.abs(t).max(axis=0), root, df, how))
        critical = max(critical, quantile(largest, how.level))
    known = np.where(varies | (found.value == 0), found.value, math.nan)
    ends = (known + sign * width for width in (half, critical * error) for sign in (-1, 1))
    low, high, low_all, high_all = ends
    points = found.value, error * math.sqrt(found.n), error, low, high
    return BandValues(found.n, *points, critical, low_all, high_all, how.n_resamples)


def tukey(pairs: Sequence[Difference], level: float = 0.95) -> list[Difference]:
    """Compare all pairs of systems by Tukey's studentised range (1953), users as blocks.

        q = |D| / √(V / n),   p = P(Q > q),   D ± q(level) √(V / n)

    of Q for S systems and (S - 1) (n - 1) degrees of freedom: the chance that any p of a pair that
    does not differ is below 1 - level is at most that. The model is x_ui = mean + user u + system i
    + rest; V, the variance of the rest of all systems, is half of the mean variance of the pairs'
    differences, so that two systems that are nearly twins make the others look more alike than
    they are. Where V is 0, p is that of each pair's sign flips, corrected by Bonferroni, without an
    interval (`t_test`).

    Parameters
    ----------
    pairs : sequence of Difference
        Of all S (S - 1) / 2 pairs, over the same users.
    level : float

    Returns
    -------
    list of Difference
        q as statistic, p, its interval, and the degrees of freedom; the rest is of each pair alone.

    Examples
    --------
    >>> from itertools import combinations
    >>> from toplist.stats import difference
    >>> values = (np.random.default_rng(0).random((50, 3)) + [0.0, 0.0, 0.3]).T
    >>> found = tukey([difference(a, b) for a, b in combinations(values, 2)])
    >>> [round(one.p, 3) for one in found], found[0].df
    ([0.674, 0.0, 0.003], 98)
    """
    probability(level, "level")
    n, n_systems = pairs[0].n, (1 + math.isqrt(1 + 8 * len(pairs))) // 2
    variance = sum(one.std**2 for one in pairs) / (2 * len(pairs))
    df, error = (n_systems - 1) * max(n - 1, 0), math.sqrt(variance / max(n, 1))
    half, found = range_ppf(level, n_systems, df) * error, []
    for one in pairs:
        q, d = over(abs(one.difference), error), one.difference
        p, low, high = range_sf(q, n_systems, df), d - half, d + half
        if error == 0:  # there is none to studentise by
            p, low, high = min(len(pairs) * one.p, 1.0), one.low, one.high
        found.append(one._replace(statistic=q, p=p, low=low, high=high, df=df))
    return found


def _root(correlation: Floats) -> Floats:
    """Return A (K, rank) with A A' = R; R may be singular, and off by rounding."""
    if len(correlation) == 0:
        return correlation
    values, vectors = np.linalg.eigh(correlation)
    kept = values > FLAT * values[-1]
    root: Floats = vectors[:, kept] * np.sqrt(values[kept])
    return root


def _drawn(use: Callable[[Floats], T], root: Floats, df: float, how: How) -> list[T]:
    """Return ``use(t)`` of blocks of draws t (K, m) of the multivariate t, in their order."""

    def block(low: int, high: int) -> T:
        # a generator of its own per block, so that threads do not matter
        rng = np.random.default_rng([how.seed, low])
        normal = rng.standard_normal((root.shape[1], high - low))
        normal /= np.sqrt(rng.chisquare(df, high - low) / df)
        return use(product(root, normal.T))

    blocks = parallel.bounds(np.arange(how.n_resamples + 1), max(TASK // len(root), 1))
    return list(parallel.run(block, blocks, how.n_threads))


def rising(p: Floats, statistics: Floats) -> Floats:
    """Return p made to rise as statistics fall.

    Examples
    --------
    >>> rising(np.array([0.03, 0.01, 0.02]), np.array([1.0, 2.0, 3.0]))
    array([0.03, 0.02, 0.02])
    """
    order = np.argsort(-statistics, kind="stable")
    out = np.empty_like(p)
    out[order] = np.maximum.accumulate(p[order])
    return out


def quantile(drawn: Floats, level: float) -> float:
    """Return the ceil(level (B + 1))-th of B numbers drawn.

    Examples
    --------
    >>> quantile(np.arange(99.0), 0.95), quantile(np.arange(99.0), 0.999)
    (94.0, inf)
    """
    place = math.ceil(round(level * (len(drawn) + 1), 9))
    if place > len(drawn):
        return math.inf
    return float(np.partition(drawn, place - 1)[place - 1])
