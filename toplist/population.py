"""What the means and spreads of a set of users follow from: a few histograms of their hits.

Per distinct number R of relevant items (and length n of the list, where a divisor uses it):
how many hits stand at each rank, the sum of their j, how many are first hits. These are integers,
so they come out the same for any order of users, any number of threads and any sharding, and two
parts merge by addition. The mean of any metric at any k, under any divisor, follows from them.
Its variance does too for hit, precision, recall, f1 and mrr; other sums over hits need one more
histogram, of squares, in floats. Where users differ in more than R and n (grades, weights), and for
ratios of sums, the moments are gathered from the users' curves instead.
"""

import operator
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist import blocks
from toplist.hits import Hits
from toplist.metrics import COUNTS, Metric
from toplist.moments import Moments, Pooled
from toplist.per_user import divisor_filler, filler
from toplist.rows import Rows, rows_of

Floats = NDArray[np.float64]
Average = Moments | Pooled

# A spread this small beside the squares it is the difference of is their rounding error.
ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class Population:
    """Histograms of the hits of many users, one row per distinct (R, n), or R.

    `n_relevant`, `n_listed` (0 where the length does not matter) and `n_users` are (rows,);
    `each`, `nth` and `first` are (rows, K) integers; `squares` is (m, rows, K), one table per
    metric in `sums_of(metrics)`. `gathered` holds the averages that do not follow from these.
    """

    metrics: tuple[Metric, ...]
    n_relevant: NDArray[np.int64]
    n_listed: NDArray[np.int64]
    n_users: NDArray[np.int64]
    each: NDArray[np.int64]
    nth: NDArray[np.int64]
    first: NDArray[np.int64]
    squares: Floats
    gathered: Mapping[str, Average]

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
        gathered = {
            metric.name: self.moments(metric) + other.moments(metric)
            for metric in self.metrics
            if metric.name in {*self.gathered, *other.gathered}
        }
        tables = {name: added(name) for name in names}
        return Population(self.metrics, both[0], both[1], **tables, gathered=gathered)

    def moments(self, metric: Metric) -> Any:
        """Return the `Average` of one of the metrics at every k.

        Counts are divided by the users of their row before they are weighted, so that a
        population of perfect lists has a mean of exactly 1.
        """
        if metric.name in self.gathered:
            return self.gathered[metric.name]
        n, depth = self.n_evaluated, self.each.shape[1]
        if n == 0:
            return Moments.of(np.empty((0, depth)), None)
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
        return Moments(n, n, n, mean, (within / divisors**2 + between).sum(axis=0))

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
    *,
    pooled: Collection[str] = (),
    weights: Floats | None = None,
    n_threads: int | None = None,
) -> Population:
    """Make the histograms of the users in `counted`, and gather what does not follow from them."""
    by_length = any(metric.dividing.by_length for metric in metrics)
    rows = rows_of(hits, counted, by_length, depth)
    integers, squares = _tables(hits, rows, sums_of(metrics), depth, n_threads)
    each, nth, first = integers
    n_users = np.bincount(rows.of_user[rows.of_user >= 0], minlength=len(rows.n_relevant))
    gathered = {
        metric.name: _gather(
            hits, counted, metric, depth, metric.name in pooled, weights, n_threads
        )
        for metric in metrics
        if metric.name in pooled or weights is not None or (metric.graded and hits.graded)
    }
    return Population(
        metrics, rows.n_relevant, rows.n_listed, n_users, each, nth, first, squares, gathered
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


def _gather(
    hits: Hits,
    counted: NDArray[np.bool_],
    metric: Metric,
    depth: int,
    pooled: bool,
    weights: Floats | None,
    n_threads: int | None,
) -> Average:
    """Gather an average from the curves of blocks of users."""
    values = filler(hits, counted, replace(metric, divisor="1") if pooled else metric, depth)
    divisors = divisor_filler(hits, counted, metric, depth) if pooled else None

    def block(lo: int, hi: int) -> Average:
        out = np.empty((hi - lo, depth))
        values(lo, hi, out)
        kept = counted[lo:hi] if weights is None else counted[lo:hi] & (weights[lo:hi] > 0)
        worth = None if weights is None else weights[lo:hi][kept]
        if divisors is None:
            return Moments.of(out[kept], worth)
        return Pooled.of(out[kept], divisors(lo, hi)[kept], worth)

    bounds = blocks.bounds(np.arange(len(hits) + 1) * depth)
    return reduce(operator.add, blocks.run(block, bounds, n_threads))
