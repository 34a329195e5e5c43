"""What the means and spreads of a set of users follow from: a few histograms of their hits.

Per distinct number R of relevant items (and length n of the list, where a divisor uses it):
how many hits stand at each rank, the sum of their j, how many are first hits. These are integers,
so they come out the same for any order of users, any number of threads and any sharding, and two
parts merge by addition. The mean of any metric at any k, under any divisor, follows from them.
Its variance does too for hit, precision, recall, f1 and mrr; other sums over hits need one more
histogram, of squares, in floats. Metrics with grades are divided by each user's own ideal, so
their means and spreads are gathered from the users' curves.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist import blocks
from toplist.hits import Hits
from toplist.metrics import COUNTS, Metric
from toplist.per_user import filler
from toplist.rows import Rows, rows_of

Floats = NDArray[np.float64]

# A spread this small beside the squares it is the difference of is their rounding error.
ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class Moments:
    """Number of users, and the mean and the sum of squared deviations of a metric, (K,) each."""

    n: int
    mean: Floats
    deviation: Floats

    @property
    def std(self) -> Floats:
        """The standard deviation (ddof = 1); NaN for fewer than two users."""
        if self.n < 2:
            return np.full_like(self.mean, np.nan)
        return np.sqrt(self.deviation / (self.n - 1))

    def __add__(self, other: "Moments") -> "Moments":
        """Return the moments of both sets of users together (Chan, Golub, LeVeque 1979)."""
        if not (self.n and other.n):
            return self if self.n else other
        n = self.n + other.n
        mean = (self.n * self.mean + other.n * other.mean) / n
        apart = (other.mean - self.mean) ** 2 * (self.n * other.n / n)
        return Moments(n, mean, self.deviation + other.deviation + apart)


@dataclass(frozen=True, eq=False)
class Population:
    """Histograms of the hits of many users, one row per distinct (R, n), or R.

    `n_relevant`, `n_listed` (0 where the length does not matter) and `n_users` are (rows,);
    `each`, `nth` and `first` are (rows, K) integers; `squares` is (m, rows, K), one table per
    metric in `sums_of(metrics)`. `graded` holds the moments of graded metrics, if there are
    grades.
    """

    metrics: tuple[Metric, ...]
    n_relevant: NDArray[np.int64]
    n_listed: NDArray[np.int64]
    n_users: NDArray[np.int64]
    each: NDArray[np.int64]
    nth: NDArray[np.int64]
    first: NDArray[np.int64]
    squares: Floats
    graded: Mapping[str, Moments]

    @property
    def n_evaluated(self) -> int:
        """Number of users in the means."""
        return int(self.n_users.sum())

    def __add__(self, other: "Population") -> "Population":
        """Return the histograms of both sets of users together."""
        keys = [np.stack([p.n_relevant, p.n_listed]) for p in (self, other)]
        both, place = np.unique(np.concatenate(keys, axis=1), axis=1, return_inverse=True)
        places = np.split(place.ravel(), [len(self.n_users)])

        def added(name: str) -> NDArray[Any]:
            mine, theirs = getattr(self, name), getattr(other, name)
            axis = 1 if name == "squares" else 0  # where the rows are
            shape = list(mine.shape)
            shape[axis] = both.shape[1]
            total = np.zeros(shape, mine.dtype)
            for part, at in zip((mine, theirs), places, strict=True):
                total[(slice(None),) * axis + (at,)] += part
            return total

        names = ("n_users", "each", "nth", "first", "squares")
        graded = {
            metric.name: self.moments(metric) + other.moments(metric)
            for metric in self.metrics
            if metric.name in {*self.graded, *other.graded}
        }
        tables = {name: added(name) for name in names}
        return Population(self.metrics, both[0], both[1], **tables, graded=graded)

    def moments(self, metric: Metric) -> Moments:
        """Return the mean and spread of one of the metrics at every k.

        Counts are divided by the users of their row before they are weighted, so that a
        population of perfect lists has a mean of exactly 1.
        """
        if metric.name in self.graded:
            return self.graded[metric.name]
        n, depth = self.n_evaluated, self.each.shape[1]
        if n == 0:
            return Moments(0, np.full(depth, np.nan), np.full(depth, np.nan))
        n_users = self.n_users[:, np.newaxis]
        discounts = metric.discounts(depth)
        sums = np.cumsum(getattr(self, metric.counts) / n_users / discounts, axis=1)
        divisors = metric.divisors(self.n_relevant, self.n_listed, depth)
        means = sums / divisors
        mean = (n_users * means).sum(axis=0) / n
        squared = np.cumsum(self._steps_of_squares(metric, discounts), axis=1)
        within = squared - n_users * sums**2
        within[within < ROUNDING * squared] = 0.0
        between = n_users * (means - mean) ** 2
        return Moments(n, mean, (within / divisors**2 + between).sum(axis=0))

    def _steps_of_squares(self, metric: Metric, discounts: Floats) -> Floats:
        """Return by how much the sum of squared sums over hits rises at each rank, (rows, K)."""
        if metric.counts == "first":
            return self.first / discounts**2
        if _undiscounted(metric):  # the j-th hit raises the square by j^2 - (j - 1)^2
            return (2 * self.nth - self.each).astype(np.float64)
        keys = [(one.counts, one.discounting) for one in sums_of(self.metrics)]
        steps: Floats = self.squares[keys.index((metric.counts, metric.discounting))]
        return steps


def sums_of(metrics: tuple[Metric, ...]) -> list[Metric]:
    """Return one metric per distinct sum over hits whose squares need a histogram of their own."""
    sums: dict[Any, Metric] = {}
    for metric in metrics:
        if metric.counts != "first" and not _undiscounted(metric):
            sums.setdefault((metric.counts, metric.discounting), metric)
    return list(sums.values())


def _undiscounted(metric: Metric) -> bool:
    return metric.counts == "each" and metric.discounting.name == "1"


def count(
    hits: Hits,
    counted: NDArray[np.bool_],
    metrics: tuple[Metric, ...],
    depth: int,
    n_threads: int | None,
) -> Population:
    """Make the histograms of the users in `counted`."""
    by_length = any(metric.dividing.by_length for metric in metrics)
    rows = rows_of(hits, counted, by_length, depth)
    integers, squares = _tables(hits, rows, sums_of(metrics), depth, n_threads)
    each, nth, first = integers
    n_users = np.bincount(rows.of_user[rows.of_user >= 0], minlength=len(rows.n_relevant))
    graded = {
        metric.name: _graded_moments(hits, counted, metric, depth, n_threads)
        for metric in metrics
        if metric.graded and hits.gains is not None
    }
    return Population(
        metrics, rows.n_relevant, rows.n_listed, n_users, each, nth, first, squares, graded
    )


def _tables(
    hits: Hits, rows: Rows, sums: list[Metric], depth: int, n_threads: int | None
) -> tuple[NDArray[np.int64], Floats]:
    from toplist.kernels import curves, readonly

    codes = readonly([COUNTS.index(metric.counts) for metric in sums])
    weights = np.array([metric.discounts(depth) for metric in sums]).reshape(-1, depth)
    weights = readonly(weights, np.float64)
    shape = (len(rows.n_relevant), depth)

    def empty() -> tuple[NDArray[np.int64], Floats]:
        return np.zeros((3, *shape), np.int64), np.zeros((len(sums), *shape))

    def block(lo: int, hi: int) -> tuple[NDArray[np.int64], Floats]:
        integers, squares = empty()
        offsets = hits.offsets[lo : hi + 1]
        ranks = readonly(hits.ranks[offsets[0] : offsets[-1]], np.int32)
        of_user = readonly(rows.of_user[lo:hi])
        curves.tally(readonly(offsets), ranks, of_user, codes, weights, *integers, squares)
        return integers, squares

    # a block's tables must stay small against the hits it counts
    size = max(1 << 17, 4 * shape[0] * shape[1])
    work = hits.offsets + np.arange(len(hits.offsets))
    integers, squares = empty()
    for more, more_squares in blocks.run(block, blocks.bounds(work, size), n_threads):
        integers += more
        squares += more_squares
    return integers, squares


def _graded_moments(
    hits: Hits, counted: NDArray[np.bool_], metric: Metric, depth: int, n_threads: int | None
) -> Moments:
    """Gather the moments of a graded metric from the curves of blocks of users."""
    fill = filler(hits, counted, metric, depth)

    def block(lo: int, hi: int) -> Moments:
        out = np.empty((hi - lo, depth))
        fill(lo, hi, out)
        out = out[counted[lo:hi]]
        if len(out) == 0:
            return Moments(0, np.full(depth, np.nan), np.full(depth, np.nan))
        mean = out.sum(axis=0) / len(out)
        return Moments(len(out), mean, ((out - mean) ** 2).sum(axis=0))

    bounds = blocks.bounds(np.arange(len(hits) + 1) * depth)
    parts = iter(blocks.run(block, bounds, n_threads))
    total = next(parts)
    for part in parts:
        total = total + part
    return total
