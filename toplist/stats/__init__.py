"""Estimates, tests and intervals: arrays of values per user in, numbers out.

`units` are what is drawn or flipped as one: rows, or clusters of them, with weights. Here are
means, ratios and differences with their errors, and the t test; `randomization` has the tests by
sign flips, resamples and ranks, and how far the best of many systems leads by chance;
`simultaneous` what many comparisons need: corrected p, the distribution of the largest of many
statistics, and Tukey's test; `planning` margins, losses within them, power, and means of few labels
by people and many by an automatic judge; `systems` what parts of the users send in place of their
values; `datasets` what holds over several data sets or groups; and `distributions` the
probabilities behind them.

Every number is θ = Σ w x / Σ w y over rows, a mean where y = 1. What a row adds to the error of θ,
w (x - θ y) / Σ w y, is all that intervals and tests need: the rows of a cluster are added up, two
systems are subtracted, squares add up to error², products to covariances.

    error² = Σ_u (Σ_{i in u} w_i (x_i - θ y_i))² / (1 - π_u) / (Σ w y)²        (CR2)
    df = 1 / (Σ π² + (Σ a)² - Σ a²),  a = π² / (1 - π)                         (Satterthwaite)

over units u, which are rows, or clusters of rows; π_u is the unit's share of the weights. A large
unit pulls θ towards itself: what is left of it is too small, by 1 - π (Bell, McCaffrey 2002). Of
rows alone π = 1 / n: that is s² / n with n - 1 degrees of freedom, Student's. So there is one
formula for means, pooled ratios, weights and clusters; and `Sums` is what is left of it where rows
are gone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from toplist import parallel
from toplist.checks import Floats, readable
from toplist.stats import distributions as dist
from toplist.stats.distributions import Parts
from toplist.stats.units import TIE, Units, checked, over, p_of, pair, product, snap

RunsAre = Literal["independent", "paired"]
RUNS: tuple[RunsAre, ...] = get_args(RunsAre)
# Numbers of a block of units whose products are added up together, and its fewest units.
BLOCK, UNITS = 1 << 15, 1 << 10
# Fewer users who differ are few for a t test; and n are few below so many times skewness².
FEW, SKEWED = 30, 25
# What `cautions` may return, and what it means.
CAUTIONS = {
    "SKEWED": "few users lie far to one side: p and intervals are rough",
    "UNEQUAL": "weights or clusters are so few or unequal that intervals are rough",
    "FEW DIFFER": f"fewer than {FEW} users differ",
    "ONE RUN": "says nothing of other seeds",
    "OTHER SIDE": "the test and the difference of the means lean to different sides: no sign",
    "ALL ALIKE": "all differences are the same: too few users to show this margin, or no bounds",
}


class Estimate(NamedTuple):
    """Estimates θ of m columns over the same units.

    `value` (m,) are the estimates, `cov` (m, m) their covariances, `df` their degrees of freedom,
    and `n` the number of units.
    """

    value: Floats
    cov: Floats
    df: float
    n: int

    @classmethod
    def of(
        cls,
        values: Sequence[float],
        pulls: Sequence[Floats],
        df: float,
        n_threads: int | None = None,
    ) -> Estimate:
        """Return estimates from what each unit adds to their errors, (units,) per column.

        Blocks of units are added up in their order: the same bits for any number of threads.
        """
        n, m = len(pulls[0]), len(pulls)

        def products(low: int, high: int) -> Floats:
            left = np.stack([one[low:high] for one in pulls])
            return product(left)

        size = max(UNITS, BLOCK // m)
        blocks = [(low, min(low + size, n)) for low in range(0, n, size)]
        cov = np.zeros((m, m)) if n > 1 else np.full((m, m), math.nan)
        for part in parallel.run(products, blocks, n_threads):
            cov += part
        return cls(np.array(values), cov, df, n)

    @property
    def error(self) -> Floats:
        """The standard errors, (m,), exactly 0 where they are rounding."""
        error = np.sqrt(np.diagonal(self.cov))
        flat = error * math.sqrt(self.n) <= TIE * np.abs(self.value)
        found: Floats = np.where(flat, 0.0, error)
        return found

    @property
    def correlation(self) -> Floats:
        """The correlations; NaN where a column does not vary.

        They are rounded to 9 digits, so that draws do not hang on how the sums were added up.
        """
        error = np.where(self.error > 0, self.error, math.nan)
        correlation: Floats = (self.cov / (error[:, np.newaxis] * error)).round(9)
        np.fill_diagonal(correlation, error / error)
        return correlation

    def at(self, columns: Any) -> Estimate:
        """Return some of the columns."""
        return Estimate(self.value[columns], self.cov[columns][:, columns], self.df, self.n)


def estimate(columns: Sequence[Floats], units: Units, n_threads: int | None = None) -> Estimate:
    """Return the means Σ w x / Σ w of columns x, each (n,).

    Examples
    --------
    >>> values = np.array([0.3, 0.1, -0.2, 0.4, 0.0, 0.2])
    >>> found = estimate([values], Units.of(6, clusters=list("aaabbc")))
    >>> found.error.round(4), round(found.df, 4)
    (array([0.0558]), 1.6667)
    """
    values, pulls = zip(*map(units.pulls, columns), strict=True)
    return Estimate.of(values, pulls, units.df, n_threads)


@dataclass(frozen=True, eq=False)
class Sums:
    """What is left of rows that are units: their number, means, and centred products of columns.

    `mean` (m,) are the means, and `cross` (m, m) the sums over rows of products of deviations from
    them. Parts of the rows can be added (Chan, Golub, LeVeque 1979).

    Examples
    --------
    >>> found = Sums.of([[0.0, 1.0], [1.0, 1.0]]) + Sums.of([[2.0, 4.0]])
    >>> found.mean, found.estimate.error.round(3), found.estimate.correlation[0, 1].round(3)
    (array([1., 2.]), array([0.577, 1.   ]), np.float64(0.866))
    """

    n: int
    mean: Floats
    cross: Floats

    @classmethod
    def of(cls, rows: ArrayLike, n_threads: int | None = None) -> Sums:
        """Return the sums of rows (n, m)."""
        table = np.asarray(rows, np.float64)
        return cls.over(lambda low, high: table[low:high], len(table), table.shape[1], n_threads)

    @classmethod
    def over(
        cls, fill: Callable[[int, int], Floats], n: int, m: int, n_threads: int | None = None
    ) -> Sums:
        """Return the sums of rows that a function makes block by block.

        Blocks of rows are merged in their order: the same bits for any number of threads.

        Parameters
        ----------
        fill : callable
            ``fill(first, last)`` returns these rows, (last - first, m).
        n, m : int
            The numbers of rows and of columns.
        """

        def block(first: int, last: int) -> Sums:
            rows = np.asarray(fill(first, last), np.float64)
            mean = rows.sum(axis=0) / (last - first)
            if not np.isfinite(mean).all():
                user = first + int(np.argmin(np.isfinite(rows).all(axis=1)))
                raise ValueError(f"a difference of user {user} is not finite")
            rows = rows - mean
            return cls(last - first, mean, product(rows.T))

        blocks = [(low, min(low + UNITS, n)) for low in range(0, n, UNITS)]
        nobody = cls(0, np.full(m, math.nan), np.zeros((m, m)))
        return cls.merged([nobody, *parallel.run(block, blocks, n_threads)])

    @classmethod
    def merged(cls, parts: Sequence[Sums]) -> Sums:
        """Return the sums of the rows of all parts."""
        some = [part for part in parts if part.n]
        if not some:
            return parts[0]
        counts = np.array([part.n for part in some], np.float64)
        means = np.stack([part.mean for part in some])
        n, cross = int(counts.sum()), np.zeros_like(some[0].cross)
        for part in some:
            cross += part.cross
        mean = (means * counts[:, np.newaxis]).sum(axis=0) / n
        apart = (means - mean) * np.sqrt(counts)[:, np.newaxis]
        return cls(n, mean, cross + product(apart.T))

    def __add__(self, other: Sums) -> Sums:
        """Return the sums of the rows of both."""
        return Sums.merged([self, other])

    @property
    def estimate(self) -> Estimate:
        """The means of the columns, with covariances s² / n."""
        cov = self.cross / ((self.n - 1) * self.n) if self.n > 1 else self.cross * math.nan
        return Estimate(self.mean, cov, self.n - 1.0, self.n)


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


def t_test(
    value: float,
    error: float,
    df: float | Parts,
    alternative: str = "two-sided",
    level: float = 0.95,
    n: int | None = None,
) -> tuple[float, float, float, float]:
    """Return t, p and both ends of the interval of an estimate against 0.

        t = θ / error,  interval θ ± t_(1 - a/2) error

    (Student 1908.) Where all values are 0, p is 1. Where they are all the same, by the 1e-12th
    part, t is infinite, p that of sign flips, 2^(1 - n) (2^-n one-sided), and there is no interval.
    A NaN error gives NaN. `df` may be the variances that error² is made of, each with its own, and
    `n` is the number of units, df + 1 by default.

    Examples
    --------
    >>> t, p, low, high = t_test(0.55, 0.25, 1)
    >>> round(t, 4), round(p, 4)
    (2.2, 0.2716)
    """
    if math.isnan(error):
        return math.nan, math.nan, math.nan, math.nan
    t = over(value, error)
    if error == 0 and t == 0:
        return t, 1.0, value, value
    if error == 0:  # by sign flips: all values alike say no more of how they spread
        wrong = (alternative == "greater" and t < 0) or (alternative == "less" and t > 0)
        flips = dist.least(df) if n is None else n - 1
        p = 0.5 ** (flips + (alternative != "two-sided"))
        return t, 1.0 if wrong else p, math.nan, math.nan
    half = dist.mixed_t_ppf(0.5 + level / 2, df) * error
    p = p_of(dist.mixed_t_sf(t, df), dist.mixed_t_sf(-t, df), alternative)
    return t, p, value - half, value + half


class Difference(NamedTuple):
    """A system less its baseline: t test, effect sizes, and names of `CAUTIONS`.

    The first fields are those of `TTest`. `wins`, `ties` and `losses` count rows, without weights.
    `relative` is mean / baseline_mean - 1 and `d_z` the difference over `std`. `n_bounded` are the
    rows (without weights) of values that all lie in [0, 1], and 0 of others. `differ` is the number
    of units that differ: rows, or clusters of them.
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
    wins: int
    ties: int
    losses: int
    relative: float
    d_z: float
    cautions: tuple[str, ...]
    n_bounded: float
    differ: int

    @property
    def test(self) -> TTest:
        """The t test alone."""
        return TTest(*self[:11])


def difference(
    a: ArrayLike,
    b: ArrayLike,
    units: Units | None = None,
    alternative: str = "two-sided",
    level: float = 0.95,
) -> Difference:
    """Return the paired t test of a system less its baseline, with how large the difference is.

        d_z = D / s,  relative = mean a / mean b - 1

    Infinite where D is divided by 0, and 0 where D is 0, too; `relative` is NaN for a mean b that
    is not above 0.

    Parameters
    ----------
    a, b : (n,) float
        A value per row; the same rows in the same order.
    units : Units, optional
        Their weights and clusters.
    alternative : {"two-sided", "greater", "less"}
        Of the first system's mean against the second's.
    level : float
        Of the intervals.

    Examples
    --------
    >>> found = difference([0.5, 0.9, 0.1, 0.4], [0.2, 0.1, 0.2, 0.1])
    >>> round(found.p, 4), found.wins, found.cautions
    (0.176, 3, ('FEW DIFFER',))
    >>> units = Units.of(4, clusters=["ann", "ann", "bob", "cid"])
    >>> found = difference([0.5, 0.9, 0.1, 0.4], [0.2, 0.1, 0.2, 0.1], units)
    >>> round(found.df, 3), round(found.error, 4)
    (1.8, 0.201)
    """
    checked(alternative, level)
    x, y = pair(a, b)
    n = len(x)
    units = Units(n) if units is None else units
    d = snap(x, y)
    one, base = estimate([d], units, n_threads=1), units.mean(y)
    value, rows = float(one.value[0]), Units(n, units.weights)
    squares, kish = rows.sums((d - value) ** 2), rows.effective
    spread = n - 1.0 if rows.plain else rows.whole * (1 - 1 / kish)
    std = math.sqrt(float(squares.sum()) / spread) if n > 1 else math.nan
    bounded = n > 0 and min(x.min(), y.min()) >= 0 and max(x.max(), y.max()) <= 1
    counts = int((d > 0).sum()), int((d < 0).sum()), int(np.count_nonzero(units.sums(d)))
    std = 0.0 if std <= TIE * abs(value) else std
    n_bounded = min(units.df + 1, kish) if bounded else 0.0
    means, sided = (units.mean(x), base), (alternative, level)
    # of differences that are all the same it would be that of their rounding
    skewness = units.skewness(d) if std > 0 else math.nan
    more = cautions(counts[0] + counts[1], len(units.sizes), skewness, bool(units.rough))
    return described(n, means, one, std, counts, n_bounded, more, *sided)


def described(
    n: int,
    means: tuple[float, float],
    one: Estimate,
    std: float,
    counts: tuple[int, int, int],
    n_bounded: float,
    more: tuple[str, ...],
    alternative: str,
    level: float,
) -> Difference:
    """Return all that is said of a difference, from numbers that rows, or sums of them, have.

    `means` are those of the system and its baseline, and `one` is the estimate of their difference;
    `counts` are wins, losses, and units that differ, and `more` the cautions.
    """
    (mean, base), (wins, losses, differ) = means, counts
    value, error, df = float(one.value[0]), float(one.error[0]), one.df
    if abs(value) <= min(TIE * max(abs(mean), abs(base)), error):
        value = 0.0  # gains and losses cancel, but for rounding
    relative = 0.0 if n > 1 and not wins + losses else value / base if base > 0 else math.nan
    tested = t_test(value, error, df, alternative, level, one.n)
    return Difference(
        *(n, mean, base, value, std, error, df, *tested),
        *(wins, n - wins - losses, losses, relative, over(value, std), more, n_bounded, differ),
    )


def ratio(
    x_a: ArrayLike,
    y_a: ArrayLike,
    x_b: ArrayLike,
    y_b: ArrayLike,
    *,
    alternative: str = "two-sided",
    level: float = 0.95,
) -> TTest:
    """Return the t test of a difference of ratios of sums, Σ x_a / Σ y_a - Σ x_b / Σ y_b.

        e = (x_a - r_a y_a) / mean y_a - (x_b - r_b y_b) / mean y_b,  error = s_e / √n

    (The delta method.)

    Parameters
    ----------
    x_a, y_a, x_b, y_b : (n,) float
        Numerators and divisors of each row in both systems.

    Examples
    --------
    >>> test = ratio([2, 0, 1], [4, 1, 1], [1, 0, 1], [4, 1, 1])
    >>> round(test.difference, 4), round(test.error, 4)
    (0.1667, 0.0833)
    """
    checked(alternative, level)
    (xa, ya), (xb, yb) = pair(x_a, y_a), pair(x_b, y_b)
    pair(xa, xb)
    units = Units(len(xa))
    (a, first), (b, second) = units.pulls(xa, ya), units.pulls(xb, yb)
    one = Estimate.of([float(snap(a, b))], [first - second], units.df, 1)
    value, error = float(one.value[0]), float(one.error[0])
    t = t_test(value, error, units.df, alternative, level)
    return TTest(len(xa), a, b, value, error * math.sqrt(one.n), error, units.df, *t)


class Runs(NamedTuple):
    """Two systems in several runs: what holds for these trained models, and for ones trained anew.

    `trained` compares the users' means over the runs, `anew` takes the runs for a sample, too. Its
    squared error is that of users and that of runs, `parts`, with their degrees of freedom.
    """

    trained: Difference
    anew: Difference
    parts: Parts


def runs(
    a: ArrayLike,
    b: ArrayLike,
    kind: str = "independent",
    units: Units | None = None,
    *,
    alternative: str = "two-sided",
    level: float = 0.95,
) -> Runs:
    """Return the comparison of two systems that were trained several times.

    Users are averaged over runs first. With s_d of these averages, and v_i its parts,

        independent: v = s_d²/n + s_A²/r_A + s_B²/r_B - w   (s_A², s_B²: variances of runs' means)
        paired:      v = s_d²/n + s_diff²/r - w             (of runs' differences; same splits)
        w = Σ_users Σ_runs (x - its user's and its run's mean)² / n (n - 1) r (r - 1)
        t_q = (v_users t_q(df_users) + v_runs t_q(df_runs)) / v          (Cochran, Cox 1957)

    where a variance of two systems' runs has Welch's degrees of freedom. By Satterthwaite's, which
    are `df`, a true null was rejected in up to 13 % of samples of two runs. The variance w within
    user and run is in both others, and is taken from that of runs, down to 0. Of one run there is
    no variance: then `anew` is NaN. A system that comes out the same in every run may be given as
    often. Repeated splits overlap: their variance is a lower bound.

    Parameters
    ----------
    a, b : (n_runs, n) float
        A row per run. Paired runs are as many in both.
    kind : {"independent", "paired"}
    units, alternative, level
        As in `difference`.

    Examples
    --------
    >>> both = runs([[0.5, 0.9, 0.1], [0.3, 0.8, 0.1]], [[0.2, 0.1, 0.2], [0.2, 0.2, 0.1]])
    >>> round(both.trained.error, 4), round(both.anew.error, 4), round(both.anew.df, 2)
    (0.2205, 0.2224, 2.07)
    """
    rows = [np.asarray(side, np.float64) for side in (a, b)]
    n_runs, baseline_runs = map(len, rows)
    if kind == "paired" and n_runs != baseline_runs:
        unlike = f"not {n_runs} and {baseline_runs}"
        raise ValueError(f"runs='paired' needs as many runs of both systems, {unlike}")
    first, second = (side.mean(axis=0) for side in rows)
    trained = difference(first, second, units, alternative, level)
    units = Units(rows[0].shape[1]) if units is None else units
    means = [np.array([units.mean(one) for one in side]) for side in rows]
    if kind == "paired":
        rows, means = [snap(*rows)], [snap(*means)]
    spreads = [estimate([some], Units(len(some)), n_threads=1) for some in means]
    within = 0.0
    for side in rows:
        pulls = [units.pulls(one)[1] for one in side]
        within += float(np.var(pulls, axis=0, ddof=1).sum()) / len(side) if len(side) > 1 else 0.0
    variance, df = added([(float(one.error[0]) ** 2, one.df) for one in spreads])
    of_runs = variance if math.isnan(variance) else max(variance - within, 0.0), df
    parts = (trained.error**2, trained.df), of_runs
    variance, df = added(parts)
    error, value = math.sqrt(variance), trained.difference
    t, p, low, high = t_test(value, error, parts, alternative, level)
    more = ("ONE RUN",) if min(n_runs, baseline_runs) < 2 else ()
    tested = trained._replace(error=error, df=df, statistic=t, p=p, low=low, high=high)
    anew = tested._replace(cautions=(*trained.cautions, *more))
    return Runs(trained, anew, parts)


def added(parts: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return a sum of variances, and its degrees of freedom (Satterthwaite 1946).

    Examples
    --------
    >>> added([(1.0, 4.0), (1.0, 4.0)])
    (2.0, 8.0)
    """
    variance = sum(v for v, _ in parts)
    below = sum(v**2 / df for v, df in parts if v > 0)
    return variance, variance**2 / below if below else parts[0][1] if variance == 0 else math.nan


def cautions(
    differ: int, n: int = 0, skewness: float = math.nan, rough: bool = False
) -> tuple[str, ...]:
    """Return the names of `CAUTIONS` that concern n units of which so many differ.

    `skewness` is that of what the units add to the error, and `rough` says that some add far more
    than others. None where nobody differs.

    Examples
    --------
    >>> cautions(0), cautions(29), cautions(30)
    ((), ('FEW DIFFER',), ())
    >>> units, gains = Units(200), np.array([1.0] * 10 + [-0.1] * 190)
    >>> [cautions(200, 200, units.skewness(one)) for one in (gains, np.arange(200.0))]
    [('SKEWED',), ()]
    """
    if not differ:
        return ()
    known = {"SKEWED": n < SKEWED * skewness**2, "UNEQUAL": rough, "FEW DIFFER": differ < FEW}
    return tuple(name for name, holds in known.items() if holds)
