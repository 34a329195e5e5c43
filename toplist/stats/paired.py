"""The difference of two systems over the same users: t test, effect sizes, runs.

A value is a user's; a pair is the two values of one user. Where users have weights, or come in
clusters, see `clustered`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from toplist.checks import Floats, choice, readable
from toplist.stats.clustered import linearised, spread, units, weights_of
from toplist.stats.distributions import Parts, least, mixed_t_ppf, mixed_t_sf, normal_ppf, t_ppf
from toplist.stats.pairs import TIE, Pairs, pair, settled, snap

Alternative = Literal["two-sided", "greater", "less"]
ALTERNATIVES: tuple[Alternative, ...] = get_args(Alternative)
RunsAre = Literal["independent", "paired"]
RUNS: tuple[RunsAre, ...] = get_args(RunsAre)
# Fewer users who differ are few for a t test, and fewer than these where they are skewed.
FEW, SOME = 30, 100
# What `cautions` may return, and what it means.
CAUTIONS = {
    "SKEWED": f"fewer than {SOME} users differ: rough where most differ to one side",
    "FEW DIFFER": f"fewer than {FEW} users differ",
    "ONE RUN": "says nothing of other seeds",
    "ALL ALIKE": "all differences are the same: too few users to show this margin, or no bounds",
}


@readable
class TTest(NamedTuple):
    """A t test of a mean difference, with its interval.

    `n` counts users; `mean` and `baseline_mean` are of the first and the second system, and
    `difference` is the first less the second. `std` is the standard deviation of the users'
    differences, `error` the standard error of their mean, and `df` the degrees of freedom.
    The interval from `low` to `high` is two-sided, whatever the alternative.
    """

    n: int
    mean: float
    baseline_mean: float
    difference: float
    std: float
    error: float
    df: float
    statistic: float
    p: float
    low: float
    high: float


class Effects(NamedTuple):
    """How large a difference is: by users who differ, by standard deviations, and relatively."""

    wins: int
    ties: int
    losses: int
    d_z: float
    d_z_low: float
    d_z_high: float
    relative: float
    relative_low: float
    relative_high: float


class Paired(NamedTuple):
    """A comparison of two systems: `moments`, t test, effect sizes and names of `CAUTIONS`."""

    moments: Pairs
    test: TTest
    effects: Effects
    cautions: list[str]


class Runs(NamedTuple):
    """Two systems in several runs: what holds for these trained models, and for ones trained anew.

    `trained` compares the users' means over the runs, `anew` takes the runs for a sample, too. Its
    squared error is that of users and that of runs, `parts`, with their degrees of freedom.
    """

    trained: Paired
    anew: TTest
    parts: Parts
    n_runs: int
    baseline_runs: int
    cautions: list[str]


def t_test(
    pairs: Pairs,
    alternative: str = "two-sided",
    level: float = 0.95,
    error: float | None = None,
    df: float | None = None,
) -> TTest:
    """Return the paired t test of a mean difference D.

        t = D / (s / √n),  df = n - 1,  interval D ± t_(1 - a/2) s / √n

    (Student 1908.) Where all differences are 0, p is 1. Where they are all the same, by the
    1e-12th part, t is infinite, p that of sign flips, 2^(1 - n) (2^-n one-sided), and there is no
    interval. One user gives NaN.

    Parameters
    ----------
    pairs : Pairs
    alternative : {"two-sided", "greater", "less"}
        Of the first system's mean against the second's.
    level : float
        Of the interval.
    error, df : float, optional
        The standard error and its degrees of freedom, where they are not those of `pairs`.

    Examples
    --------
    >>> test = t_test(Pairs.of([0.5, 0.9], [0.2, 0.1]))
    >>> round(test.difference, 4), round(test.statistic, 4), round(test.p, 4)
    (0.55, 2.2, 0.2716)
    """
    checked(alternative, level)
    error = pairs.error if error is None else error
    df = float(pairs.n - 1) if df is None else df
    statistic, p, low, high = _tested(pairs.mean, error, df, alternative, level)
    means = pairs.mean_a, pairs.mean_b, pairs.mean
    return TTest(pairs.n, *means, pairs.std, error, df, statistic, p, low, high)


def effects(
    pairs: Pairs,
    level: float = 0.95,
    error: float | None = None,
    relative: tuple[float, float, float] | None = None,
) -> Effects:
    """Return the effect sizes of a mean difference D.

        d_z = D / s,  interval d_z ± z √(1/n + d_z²/2n)
        relative = mean a / mean b - 1, by the delta method

    Infinite where D is divided by 0, and 0 where D is 0, too; `relative` is NaN for a mean b
    that is not above 0.

    Parameters
    ----------
    pairs : Pairs
    level : float
        Of both intervals.
    error, relative : optional
        The standard error of D, and the relative difference with its interval, where weights or
        clusters make them other than those of `pairs`.

    Examples
    --------
    >>> sizes = effects(Pairs.of([0.5, 0.9, 0.1], [0.2, 0.1, 0.2]))
    >>> round(sizes.d_z, 4), sizes.wins, round(sizes.relative, 4)
    (0.7392, 2, 2.0)
    """
    checked("two-sided", level)
    n, std, mean = pairs.n, pairs.std, pairs.mean
    d_z = over(mean, std)
    share = (pairs.error if error is None else error) / std if std else 0.0
    spread = math.hypot(share, d_z / math.sqrt(2 * max(n, 1))) if share else 0.0
    half = normal_ppf(0.5 + level / 2) * spread
    return Effects(
        *(pairs.wins, pairs.ties, pairs.losses, d_z, d_z - half, d_z + half),
        *(_relative(pairs, level) if relative is None else relative),
    )


def paired(
    a: ArrayLike,
    b: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    clusters: Any = None,
    alternative: str = "two-sided",
    level: float = 0.95,
    n_threads: int | None = None,
) -> Paired:
    """Return moments, t test, effect sizes and cautions of two systems over the same users.

        weights:  error² = Σ w² (d - D)² / (1 - w/W) / W²,  D = Σ w d / W,  W = Σ w
        clusters: error² = Σ (S_c - n_c D)² / (1 - n_c/n) / n²,  S_c = Σ d of cluster c

    with Satterthwaite's degrees of freedom, see `clustered.spread`; weights w stand for the sizes
    n_c. The number of users who win has no weights.

    Parameters
    ----------
    a, b : (n,) float
        A value per user; the same users in the same order.
    weights : (n,) float, optional
        Positive.
    clusters : (n,), optional
        A label per row, such as the user where the rows are sessions.
    alternative, level
        As in `t_test`.
    n_threads : int, optional

    Examples
    --------
    >>> plain = paired([0.5, 0.9, 0.1, 0.4], [0.2, 0.1, 0.2, 0.1])
    >>> round(plain.test.p, 4), plain.effects.wins, plain.cautions
    (0.176, 3, ['SKEWED', 'FEW DIFFER'])
    >>> clusters = ["ann", "ann", "bob", "cid"]
    >>> test = paired([0.5, 0.9, 0.1, 0.4], [0.2, 0.1, 0.2, 0.1], clusters=clusters).test
    >>> round(test.df, 3), round(test.error, 4)
    (1.8, 0.201)
    """
    checked(alternative, level)
    pairs = Pairs.of(a, b, weights, n_threads)
    if weights is None and clusters is None:
        return of_moments(pairs, alternative, level)
    sums, sizes = units(snap(a, b), weights, clusters)
    error, df = spread(sums, sizes)
    if error * math.sqrt(len(sums)) <= TIE * abs(pairs.mean):  # rounding
        error = 0.0
    test = t_test(pairs, alternative, level, error, df)
    x, y = (units(values, weights, clusters)[0] for values in (a, b))
    of_ratio = spread(x, sizes, y) if pairs.mean_b else (math.nan, df)
    found = effects(pairs, level, error, _relative(pairs, level, of_ratio))
    return Paired(pairs, test, found, cautions(pairs))


def of_moments(pairs: Pairs, alternative: str = "two-sided", level: float = 0.95) -> Paired:
    """Return the same as `paired` from moments, which may have been merged; without weights.

    Examples
    --------
    >>> parts = Pairs.of([0.5, 0.9], [0.2, 0.1]), Pairs.of([0.1, 0.4], [0.2, 0.1])
    >>> round(of_moments(parts[0] + parts[1]).test.p, 4)
    0.176
    """
    test = t_test(pairs, alternative, level)
    return Paired(pairs, test, effects(pairs, level), cautions(pairs))


def ratio(
    x_a: ArrayLike,
    y_a: ArrayLike,
    x_b: ArrayLike,
    y_b: ArrayLike,
    *,
    alternative: str = "two-sided",
    level: float = 0.95,
) -> TTest:
    """Return the t test of a difference of ratios of sums, Σx_a / Σy_a - Σx_b / Σy_b.

        e = (x_a - r_a y_a) / mean y_a - (x_b - r_b y_b) / mean y_b,  error = s_e / √n

    (The delta method.) With weights, give w x and w y; with clusters, sums over each.

    Parameters
    ----------
    x_a, y_a, x_b, y_b : (n,) float
        Numerators and divisors of each user in both systems.

    Examples
    --------
    >>> test = ratio([2, 0, 1], [4, 1, 1], [1, 0, 1], [4, 1, 1])
    >>> round(test.difference, 4), round(test.error, 4)
    (0.1667, 0.0833)
    """
    checked(alternative, level)
    (xa, ya), (xb, yb) = pair(x_a, y_a), pair(x_b, y_b)
    first, second = linearised(xa, ya), linearised(xb, yb)
    return t_test(Pairs.of(first, second, n_threads=1), alternative, level)


def runs(
    a: ArrayLike,
    b: ArrayLike,
    kind: str = "independent",
    *,
    weights: ArrayLike | None = None,
    clusters: Any = None,
    alternative: str = "two-sided",
    level: float = 0.95,
    n_threads: int | None = None,
) -> Runs:
    """Return the comparison of two systems that were trained several times.

    Users are averaged over runs first. With s_d of these averages, and v_i its parts,

        independent: v = s_d²/n + s_A²/r_A + s_B²/r_B    (s_A², s_B²: variances of the runs' means)
        paired:      v = s_d²/n + s_diff²/r              (of the runs' differences; same splits)
        t_q = (v_users t_q(df_users) + v_runs t_q(df_runs)) / v          (Cochran, Cox 1957)

    where a variance of two systems' runs has Welch's degrees of freedom. By Satterthwaite's, which
    are `df`, a true null was rejected in up to 13 % of samples of two runs. v is a bit too large,
    by the variance within user and run. Of one run there is no variance: then `anew` is NaN. A
    system that comes out the same in every run may be given as often. Repeated splits overlap:
    their variance is a lower bound.

    Parameters
    ----------
    a, b : (n_runs, n) float
        A row per run. Paired runs are as many in both.
    kind : {"independent", "paired"}
    weights, clusters, alternative, level, n_threads
        As in `paired`.

    Examples
    --------
    >>> both = runs([[0.5, 0.9, 0.1], [0.3, 0.8, 0.1]], [[0.2, 0.1, 0.2], [0.2, 0.2, 0.1]])
    >>> round(both.trained.test.error, 4), round(both.anew.error, 4), round(both.anew.df, 2)
    (0.2205, 0.2261, 2.2)
    """
    choice("runs", kind, RUNS)
    rows = _rows(a), _rows(b)
    n_runs, baseline_runs = map(len, rows)
    if kind == "paired" and n_runs != baseline_runs:
        unlike = f"not {n_runs} and {baseline_runs}"
        raise ValueError(f"runs='paired' needs as many runs of both systems, {unlike}")
    options: dict[str, Any] = {"alternative": alternative, "level": level, "n_threads": n_threads}
    both = (side.mean(axis=0) for side in rows)
    trained = paired(*both, weights=weights, clusters=clusters, **options)
    test = trained.test
    means = [_run_means(side, weights) for side in rows]
    spreads = [_spread(snap(*means))] if kind == "paired" else [*map(_spread, means)]
    parts = (test.error**2, test.df), _added([(error**2, df) for error, df in spreads])
    variance, df = _added(parts)
    error = math.sqrt(variance)
    tested = _tested(test.difference, error, parts, alternative, level)
    anew = TTest(*test[:5], error, df, *tested)
    found = ["ONE RUN"] if min(n_runs, baseline_runs) < 2 else []
    return Runs(trained, anew, parts, n_runs, baseline_runs, trained.cautions + found)


def cautions(pairs: Pairs) -> list[str]:
    """Return the names of `CAUTIONS` that concern these differences; none where all are 0.

    By counts alone: the skewness that is seen moves with the mean.

    Examples
    --------
    >>> cautions(Pairs.of([0.0] * 99 + [1.0], [0.0] * 100))
    ['SKEWED', 'FEW DIFFER']
    >>> CAUTIONS["FEW DIFFER"]
    'fewer than 30 users differ'
    """
    return few(pairs.wins + pairs.losses)


def few(differ: int) -> list[str]:
    """Return the cautions that concern so many users who differ.

    Examples
    --------
    >>> few(0), few(29), few(99), few(100)
    ([], ['SKEWED', 'FEW DIFFER'], ['SKEWED'], [])
    """
    found = ["SKEWED"] if 0 < differ < SOME else []
    return [*found, "FEW DIFFER"] if 0 < differ < FEW else found


def over(number: float, divisor: float) -> float:
    """Return a ratio: 0 for 0 / 0, infinite for all else over 0.

    Examples
    --------
    >>> over(0.0, 0.0), over(-1.0, 0.0), over(1.0, 2.0)
    (0.0, -inf, 0.5)
    """
    if divisor or math.isnan(divisor):
        return number / divisor
    return math.copysign(math.inf, number) if number else 0.0


def checked(alternative: str, level: float) -> None:
    """Raise ValueError for an unknown alternative, or a level that is not between 0 and 1.

    Examples
    --------
    >>> checked("greater", 95)
    Traceback (most recent call last):
    ValueError: level must be a number between 0 and 1, not 95
    """
    choice("alternative", alternative, ALTERNATIVES)
    number = isinstance(level, (int, float, np.number)) and not isinstance(level, bool)
    if not number or not 0 < level < 1:
        raise ValueError(f"level must be a number between 0 and 1, not {level!r}")


def _rows(values: ArrayLike) -> Floats:
    """Return the values of runs as a matrix with a row per run."""
    rows = np.asarray(values, np.float64)
    if rows.ndim != 2 or len(rows) == 0:
        raise ValueError(f"runs have shape {rows.shape}: a row of users' values per run is needed")
    return rows


def _added(parts: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return a sum of variances, and its degrees of freedom (Satterthwaite 1946)."""
    variance = sum(v for v, _ in parts)
    below = sum(v**2 / df for v, df in parts if v > 0)
    return variance, variance**2 / below if below else parts[0][1] if variance == 0 else math.nan


def _run_means(rows: Floats, weights: ArrayLike | None) -> Floats:
    """Return the mean of each run over users."""
    if rows.shape[1] == 0:
        return np.full(len(rows), math.nan)
    w = None if weights is None else weights_of(weights, rows.shape[1])
    means: Floats = np.average(rows, axis=1, weights=w)
    return means


def _spread(values: Floats) -> tuple[float, float]:
    """Return the standard error of the mean of values, and its degrees of freedom."""
    n = len(values)
    if n < 2:
        return math.nan, n - 1.0
    mean = float(values.mean())
    squares = float(((values - mean) ** 2).sum())
    return settled(squares, n - 1.0, mean) / math.sqrt(n), n - 1.0


def _tested(
    difference: float, error: float, df: float | Parts, alternative: str, level: float
) -> tuple[float, float, float, float]:
    """Return t, p and the ends of the interval."""
    if math.isnan(error):
        return math.nan, math.nan, math.nan, math.nan
    t = over(difference, error)
    if error == 0 and t == 0:
        return t, 1.0, difference, difference
    if error == 0:  # by sign flips: all values alike say no more of how they spread
        wrong = (alternative == "greater" and t < 0) or (alternative == "less" and t > 0)
        p = 0.5 ** (least(df) + (alternative != "two-sided"))
        return t, 1.0 if wrong else p, math.nan, math.nan
    tails = {"two-sided": (2, abs(t)), "greater": (1, t), "less": (1, -t)}
    factor, above = tails[alternative]
    half = mixed_t_ppf(0.5 + level / 2, df) * error
    return t, min(factor * mixed_t_sf(above, df), 1.0), difference - half, difference + half


def _relative(
    pairs: Pairs, level: float, spread: tuple[float, float] | None = None
) -> tuple[float, float, float]:
    """Return mean a / mean b - 1 and its interval, whose error and df may be given."""
    if pairs.n > 1 and pairs.ties == pairs.n:
        return 0.0, 0.0, 0.0
    if not pairs.n or pairs.mean_b <= 0:
        return math.nan, math.nan, math.nan
    relative = pairs.mean / pairs.mean_b
    error, df = math.nan, pairs.n - 1.0
    if spread is not None:
        error, df = spread
    elif df:
        # (mean a / mean b) b is b + relative b: where systems are near, no digits are lost
        squares = pairs.dd - 2 * relative * pairs.db + relative**2 * pairs.bb
        error = math.sqrt(max(squares, 0.0) / df / pairs.n) / abs(pairs.mean_b)
    half = t_ppf(0.5 + level / 2, df) * error
    return relative, relative - half, relative + half
