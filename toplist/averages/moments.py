"""Averages over users that can be merged, at every k: their errors, and intervals of means."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from toplist import parallel
from toplist.averages.per_user import fillers, gains_of
from toplist.checks import Bools, Floats, Ints
from toplist.matching.hits import Hits
from toplist.metrics.definitions import Metric

if TYPE_CHECKING:  # what only intervals need is imported by them
    from toplist.stats.units import Units


@dataclass(frozen=True, eq=False)
class Moments:
    """The mean over users, sum of w x / sum of w, at every k.

    `n` is the number of users, `weight` the sum of their weights, and `weight2` the sum of the
    squared weights; without weights, both are n. `mean` and `deviation`, the weighted sum of
    squared deviations from the mean, are (K,). So are `mean2` and `deviation2`, the same with the
    squared weights; None without weights.
    """

    n: int
    weight: float
    weight2: float
    mean: Floats
    deviation: Floats
    mean2: Floats | None = None
    deviation2: Floats | None = None

    def divided(self, by: Floats) -> Moments:
        """Return the moments of values that are divided by a number at each k."""
        found = replace(self, mean=self.mean / by, deviation=self.deviation / by**2)
        if self.mean2 is None or self.deviation2 is None:
            return found
        return replace(found, mean2=self.mean2 / by, deviation2=self.deviation2 / by**2)

    @property
    def std(self) -> Floats:
        """The standard deviation over users (ddof = 1); NaN for fewer than two."""
        spread = self.weight - self.weight2 / self.weight if self.n > 1 else np.nan
        if not spread > 0:
            return np.full_like(self.mean, np.nan)
        std: Floats = np.sqrt(self.deviation / spread)
        return std

    @property
    def error(self) -> Floats:
        """The standard error of the mean, √(Σ w² (x - m)² n / (n - 1)) / Σ w: linearised.

        Weights may go with the values, as where users are drawn by their activity and weighted
        back; Kish's effective number of users is for weights that do not.
        """
        if self.n < 2:
            return np.full_like(self.mean, np.nan)
        error: Floats = np.sqrt(self._residual * self.n / (self.n - 1)) / self.weight
        return error

    @property
    def effective(self) -> Any:
        """The number of users without weights whose mean of proportions would be as certain.

        p (1 - p) over the variance of p, or Kish's (Σ w)² / Σ w² where p is 0 or 1.
        """
        spread, residual = self.mean * (1 - self.mean) * self.weight**2, self._residual
        kish, known = np.full_like(self.mean, self.kish), (spread > 0) & (residual > 0)
        return np.divide(spread, residual, out=kish, where=known)

    @property
    def kish(self) -> float:
        """Kish's effective number of users, by their weights."""
        return self.weight**2 / self.weight2 if self.n else np.nan

    @property
    def _squares(self) -> Sums:
        """The sums with the squared weights; without weights they are the same."""
        if self.mean2 is None or self.deviation2 is None:
            return self.weight2, self.mean, self.deviation
        return self.weight2, self.mean2, self.deviation2

    @property
    def _residual(self) -> Floats:
        """Σ w² (x - m)²."""
        weight2, mean2, deviation2 = self._squares
        return deviation2 + weight2 * (mean2 - self.mean) ** 2

    def __add__(self, other: Moments) -> Moments:
        """Return the moments of both sets of users together (Chan, Golub, LeVeque 1979)."""
        if not (self.n and other.n):
            return self if self.n else other
        counts = self.n + other.n, self.weight + other.weight, self.weight2 + other.weight2
        both = ((one.weight, one.mean, one.deviation) for one in (self, other))
        alike = self.mean2 is None and other.mean2 is None
        more = () if alike else together(self._squares, other._squares)
        return Moments(*counts, *together(*both), *more)

    @classmethod
    def of(cls, values: Floats, weights: Floats | None) -> Moments:
        """Return the moments of values (n, K) with weights (n,) that are positive."""
        n = len(values)
        if n == 0:
            nothing = np.full(values.shape[1], np.nan)
            return cls(0, 0.0, 0.0, nothing, nothing)
        if weights is None:
            mean = values.sum(axis=0) / n
            return cls(n, float(n), float(n), mean, ((values - mean) ** 2).sum(axis=0))
        (weight, *own), (weight2, *squares) = (_spread(values, w) for w in (weights, weights**2))
        return cls(n, weight, weight2, *own, *squares)


Sums = tuple[float, Floats, Floats]


def _spread(values: Floats, weights: Floats) -> Sums:
    """Return the sum of the weights, the weighted mean, and the squared deviations from it."""
    weight, column = weights.sum(), weights[:, np.newaxis]
    mean = (column * values).sum(axis=0) / weight
    mean = np.clip(mean, values.min(axis=0), values.max(axis=0))  # both sums are rounded
    return float(weight), mean, (column * (values - mean) ** 2).sum(axis=0)


def together(
    one: tuple[Any, Floats, Floats], other: tuple[Any, Floats, Floats]
) -> tuple[Floats, Floats]:
    """Return mean and squared deviations of both sets (Chan, Golub, LeVeque 1979)."""
    weight = one[0] + other[0]
    mean = (one[0] * one[1] + other[0] * other[1]) / weight
    apart = (other[1] - one[1]) ** 2 * (one[0] * other[0] / weight)
    return mean, one[2] + other[2] + apart


# A difference of sums that is below this share of them is rounding.
ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class Pooled:
    """The ratio of sums over users, sum of w x / sum of w y, at every k.

    `n` is the number of users; `x` and `y` are the sums of numerators and divisors, and `xx`,
    `xy` and `yy` the sums of their products.
    """

    n: int
    x: Floats
    y: Floats
    xx: Floats
    xy: Floats
    yy: Floats

    def divided(self, by: Floats) -> Pooled:
        """Return the sums where every divisor is multiplied by a number at each k."""
        return replace(self, y=self.y * by, xy=self.xy * by, yy=self.yy * by**2)

    @property
    def mean(self) -> Floats:
        """The ratio; 0 where the divisors are 0, NaN without users."""
        if self.n == 0:
            return np.full_like(self.x, np.nan)
        return np.divide(self.x, self.y, out=np.zeros_like(self.x), where=self.y > 0)

    @property
    def std(self) -> Floats:
        """NaN: a ratio of sums is not a mean of users' values."""
        return np.full_like(self.x, np.nan)

    @property
    def kish(self) -> Floats:
        """Kish's effective number of users, by their divisors."""
        found: Floats = np.divide(self.y**2, self.yy, out=np.zeros_like(self.y), where=self.yy > 0)
        return found

    @property
    def error(self) -> Floats:
        """The standard error of the ratio by the delta method."""
        if self.n < 2:
            return np.full_like(self.x, np.nan)
        ratio = self.mean
        residual = self.xx - 2 * ratio * self.xy + ratio**2 * self.yy
        rounding = ROUNDING * (self.xx + ratio**2 * self.yy)  # what is left where all are alike
        spread = np.sqrt(np.where(residual > rounding, residual, 0.0) * self.n / (self.n - 1))
        return np.divide(spread, self.y, out=np.zeros_like(spread), where=self.y > 0)

    def __add__(self, other: Pooled) -> Pooled:
        """Return the sums of both sets of users together."""
        both = (getattr(self, one.name) + getattr(other, one.name) for one in fields(self))
        return Pooled(*both)

    @classmethod
    def of(cls, numerators: Floats, divisors: Floats, weights: Floats | None) -> Pooled:
        """Return the sums of numerators and divisors, (n, K) each."""
        column = 1.0 if weights is None else weights[:, np.newaxis]
        x, y = numerators * column, divisors * column
        return cls(len(x), *(part.sum(axis=0) for part in (x, y, x * x, x * y, y * y)))


A = TypeVar("A", bound=Any)


def at(average: A, columns: Any) -> A:
    """Return an average at some of the k's, of hits or of the lists themselves."""
    arrays = {name: one[columns] for name, one in vars(average).items() if np.ndim(one)}
    return replace(average, **arrays)


def wilson(mean: Floats, n: float | Floats, z: float) -> tuple[Floats, Floats]:
    """Return the ends of Wilson's interval of proportions (1927), always within [0, 1].

        (p + z²/2n ± z √(p (1 - p) / n + z²/4n²)) / (1 + z²/n)

    Parameters
    ----------
    mean : float64
        The proportions p; NaN stays NaN.
    n : float or float64
        The number of users; with weights, `Moments.effective`.
    z : float
        The quantile of the normal distribution, 1.96 for 95 %.

    Examples
    --------
    >>> low, high = wilson(np.array([0.0, 0.5]), 2, 1.959964)
    >>> low.round(4), high.round(4)
    (array([0.    , 0.0945]), array([0.6576, 0.9055]))
    """
    p = np.clip(mean, 0.0, 1.0)
    share = z * z / n
    half = np.sqrt(p * (1 - p) * share + share**2 / 4)
    low, high = ((p + share / 2 + sign * half) / (1 + share) for sign in (-1, 1))
    # exactly, where rounding would leave 1e-17
    low, high = np.where(p == 0, 0.0, low), np.where(p == 1, 1.0, high)
    return np.minimum(low, p), np.maximum(high, p)


def normal(
    mean: Floats, error: Floats, z: float | Floats, within_one: bool
) -> tuple[Floats, Floats]:
    """Return mean ± z standard errors, cut to [0, 1] where the metric cannot leave it.

    Examples
    --------
    >>> normal(np.array([0.9]), np.array([0.1]), 2, within_one=True)
    (array([0.7]), array([1.]))
    """
    low, high = mean - z * error, mean + z * error
    if not within_one:
        return low, high
    return np.maximum(low, np.minimum(mean, 0.0)), np.minimum(high, np.maximum(mean, 1.0))


def least_skewness(mean: float, std: float, cubes: float, within_one: bool) -> float:
    """Return the least skewness, without its sign, that values from 0 on have.

        E x³ >= (E x²)² / E x   (Schwarz), and at least `cubes`; within [0, 1] of 1 - x, too

    Examples
    --------
    >>> round(least_skewness(0.1, 0.3, 0.0, within_one=True), 3)  # of one 1 and nine 0
    2.667
    """
    found = [0.0]
    for m, third in ((mean, cubes), (1 - mean, 0.0))[: 1 + within_one]:
        if m > 0:
            squares = std**2 + m**2
            third = max(third, squares**2 / m)
            found.append((third - 3 * m * squares + 2 * m**3) / std**3)
    return max(found)


class Errors(NamedTuple):
    """Standard errors at every k, (K,), and their degrees of freedom, (K,).

    `skew` (K,) is skewness² / n of what n rows or clusters add to the error, where these were read.
    """

    error: Floats
    df: Floats
    skew: Any = np.nan


def of_rows(
    hits: Hits,
    counted: Bools,
    metric: Metric,
    cuts: Ints,
    average: Moments | Pooled,
    units: Units,
    weights: Floats | None,
    threshold_in_gains: bool,
) -> Errors:
    """Return the standard errors (CR2) of an average of the rows in `counted`, at some k's.

        error² = Σ_c (Σ_{i in c} w_i (x_i - D y_i))² / (1 - π_c) / (Σ w y)²

    with y = 1 but for ratios of sums; π_c is the share of the weights (`toplist.stats`).
    Rows are filled block by block in the order of their clusters: no array has all rows and k's.

    Parameters
    ----------
    average : Moments or Pooled
        Of these rows at these k's, each the next one.
    units : Units
        The weights and clusters of the rows in `counted`, in their order.
    weights : of all rows, or None
        As `average` has them: equal ones, which are none in `units`, too.
    """
    sizes, rows = units.sizes, np.flatnonzero(counted)
    if len(sizes) < 2:
        return Errors(*np.full((3, len(cuts)), np.nan))
    w = np.ones(len(rows)) if weights is None else weights[rows]
    total: Any = average.y if isinstance(average, Pooled) else float(w.sum())
    begins = np.arange(len(rows))
    if units.clusters is not None:
        order = np.argsort(units.clusters, kind="stable")
        rows, w, places = rows[order], w[order], units.clusters[order]
        begins = np.flatnonzero(np.diff(places, prepend=-1))
    read, every = gains_of(hits.subset(rows), metric, threshold_in_gains), np.ones(len(rows), bool)
    numerators, divisors = fillers(read, every, metric, cuts, isinstance(average, Pooled))

    def left(lo: int, hi: int) -> Floats:
        """Return what is left of the values of these rows, (hi - lo, K)."""
        y = divisors(lo, hi) if divisors else 1.0
        return numerators(lo, hi) - average.mean * y

    def sums(lo: int, hi: int) -> tuple[int, int, Floats]:
        """Return the clusters that end in a block of rows, and the sums over each in the block."""
        first = np.searchsorted(begins, lo, "right") - 1
        bounds = np.maximum(begins[first : np.searchsorted(begins, hi)] - lo, 0)
        parts = np.add.reduceat(w[lo:hi, np.newaxis] * left(lo, hi), bounds, axis=0)
        return int(first), int(np.searchsorted(ends, hi, "right")), parts

    ends, pulls = np.append(begins[1:], len(rows)), np.sqrt(units.whole / (units.whole - sizes))
    squares, cubes, whole = np.zeros((3, len(cuts)))
    blocks = parallel.bounds(np.arange(len(rows) + 1) * len(cuts))
    for first, last, parts in parallel.run(sums, blocks, None):
        parts[0] += whole  # of a cluster that goes on from the block before
        found = parts[: last - first] * pulls[first:last, np.newaxis]
        squares, whole = squares + (found**2).sum(axis=0), parts[last - first :].sum(axis=0)
        cubes += (found**2 * found).sum(axis=0)
    error = np.sqrt(squares) / np.where(total > 0, total, 1.0)
    skew = np.divide(cubes, squares**1.5, out=np.zeros(len(cuts)), where=squares**1.5 > 0) ** 2
    return Errors(error, np.full(len(cuts), units.df), skew)


def of_values(values: Floats, weights: Floats | None, clusters: Ints | None) -> Errors:
    """Return the standard errors of the means of values (n, K), of the rows that have one.

    Rows of weight 0 are none.

    Examples
    --------
    >>> values = np.array([[0.3], [0.1], [-0.2], [0.4], [0.0], [0.2], [np.nan]])
    >>> found = of_values(values, None, np.array([0, 0, 0, 1, 1, 2, 3]))
    >>> found.error.round(4), found.df.round(4), found.skew.round(4)
    (array([0.0558]), array([1.6667]), array([0.2276]))
    """
    from toplist.stats import estimate
    from toplist.stats.units import Units

    found, n = [], len(values)
    weighing = np.ones(n, bool) if weights is None else weights > 0
    places = None if clusters is None else clusters[:n]
    for column in values.T:
        known = ~np.isnan(column) & weighing
        units = Units(n, weights, places).at(known)
        one = estimate([column[known]], units)
        skew = units.skewness(column[known]) ** 2 / max(one.n, 1)
        found.append((float(one.error[0]), one.df, skew))
    return Errors(*np.array(found).reshape(-1, 3).T)


def by_kish(average: Moments | Pooled) -> Errors:
    """Return the standard errors of an average, as of Kish's effective number n' of users.

        error² = Σ w² (x - D y)² n' / (n' - 1) / (Σ w y)²,  n' = (Σ w y)² / Σ (w y)²,  df = n' - 1

    with y = 1 but for ratios of sums. Below 2, n' is taken for 2. It is for means under
    propensities, in which each relevant item has a weight and counts for itself.
    """
    n = np.broadcast_to(np.maximum(average.kish, 2.0), average.mean.shape)
    users = max(average.n, 2)
    error = average.error * np.sqrt(n / (n - 1) * ((users - 1) / users))
    return Errors(error, n - 1)
