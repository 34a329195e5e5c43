"""The values of each user: a metric at every k, or at one k."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from toplist import parallel
from toplist.inputs.lists import offsets_of
from toplist.matching.hits import Hits
from toplist.metrics.definitions import COUNTS, Metric

Floats = NDArray[np.float64]


def curves(
    hits: Hits,
    counted: NDArray[np.bool_],
    metric: Metric,
    depth: int,
    n_threads: int | None = None,
) -> Floats:
    """Return one metric of every user at every k, (n_users, depth); NaN for users not counted."""
    out = np.empty((len(hits), depth))
    fill = filler(hits, counted, metric, depth)
    work = hits.offsets + np.arange(len(hits.offsets)) * depth
    for _ in parallel.run(
        lambda lo, hi: fill(lo, hi, out[lo:hi]), parallel.bounds(work), n_threads
    ):
        pass
    return out


def values(hits: Hits, counted: NDArray[np.bool_], metric: Metric, k: int) -> Floats:
    """Return one metric of every user at one k, (n_users,); NaN for users not counted."""
    from toplist.kernels import curves as kernels

    if metric.graded and hits.graded:
        fill = filler(hits, counted, metric, k)
        out = np.empty(len(hits))
        for lo, hi in parallel.bounds(np.arange(len(hits) + 1) * k):
            block = np.empty((hi - lo, k))
            fill(lo, hi, block)
            out[lo:hi] = block[:, -1]
        return out
    rows = rows_of(hits, counted, metric.dividing.by_length, k)
    divisors = metric.divisors(rows.n_relevant, rows.n_listed, k)[:, -1]
    out = np.empty(len(hits))
    kernels.values(
        *(hits.offsets, hits.ranks, rows.of_user),
        *(COUNTS.index(metric.counts), metric.discounts(k)),
        *(divisors, out),
    )
    return out


def filler(
    hits: Hits, counted: NDArray[np.bool_], metric: Metric, depth: int
) -> Callable[[int, int, Floats], None]:
    """Return a function that writes the curves of users ``lo..hi`` to an array (hi - lo, depth)."""
    from toplist.kernels import curves as kernels

    rows = rows_of(hits, counted, metric.dividing.by_length, depth)
    code = COUNTS.index(metric.counts)

    if hits.gains is None or hits.ideal_gains is None or not metric.graded:
        table = metric.divisors(rows.n_relevant, rows.n_listed, depth)
        discounts = metric.discounts(depth)

        def fill(lo: int, hi: int, out: Floats) -> None:
            offsets, ranks, _ = hits.block(lo, hi)
            kernels.curves(offsets, ranks, rows.of_user[lo:hi], code, discounts, table, out)

        return fill

    ideal_gains = hits.ideal_gains
    best = offsets_of(hits.n_relevant)
    ideal = metric.dividing.ideal
    table = metric.table(rows.n_relevant, rows.n_listed, depth)
    deepest = max(depth, int(table.max(initial=0))) if ideal else depth
    discounts = metric.discounts(deepest)

    def fill_graded(lo: int, hi: int, out: Floats) -> None:
        offsets, ranks, gains = hits.block(lo, hi)
        kernels.graded_curves(
            *(offsets, ranks, gains),
            *(best[lo : hi + 1], ideal_gains[best[lo] : best[hi]]),
            *(rows.of_user[lo:hi], code, discounts, table, ideal, out),
        )

    return fill_graded


def divisor_filler(
    hits: Hits, counted: NDArray[np.bool_], metric: Metric, depth: int
) -> Callable[[int, int], Floats]:
    """Return a function of ``lo, hi``: the divisors of these users at every k, (hi - lo, depth)."""
    rows = rows_of(hits, counted, metric.dividing.by_length, depth)
    if not (metric.graded and hits.graded and metric.dividing.ideal):
        table = metric.divisors(rows.n_relevant, rows.n_listed, depth)
        table[np.isinf(table)] = 0.0
        table = np.vstack([table, np.zeros(depth)])  # the last row is for users not counted, -1
        return lambda lo, hi: table[rows.of_user[lo:hi]]
    places = metric.table(rows.n_relevant, rows.n_listed, depth).astype(np.int64)
    places = np.vstack([places, np.zeros(depth, np.int64)])
    deepest = max(1, int(places.max(initial=0)))
    # an ideal list has its hits at the first ranks, best gains first
    best = offsets_of(hits.n_relevant)
    ranks = np.arange(best[-1]) - np.repeat(best[:-1], hits.n_relevant) + 1
    ideal = Hits(best, ranks, hits.n_relevant, hits.n_relevant, hits.ideal_gains, hits.ideal_gains)
    of_ones = np.concatenate([[0.0], np.cumsum(1.0 / metric.discounts(deepest))])
    fill = filler(ideal, counted, replace(metric, divisor="1"), deepest)

    def divisors(lo: int, hi: int) -> Floats:
        earned = np.zeros((hi - lo, deepest + 1))
        fill(lo, hi, earned[:, 1:])
        # places past the last relevant item hold items of gain 1, as without grades
        last = np.minimum(hits.n_relevant[lo:hi, np.newaxis], deepest)
        earned += np.maximum(of_ones - of_ones[last], 0.0)
        return np.take_along_axis(earned, places[rows.of_user[lo:hi]], axis=1)

    return divisors


@dataclass(frozen=True, eq=False)
class Rows:
    """Groups of users with equal (R, n); the users of a group share their divisors.

    `n_relevant` and `n_listed` are the R and n of each group; `n_listed` is 0 where the length of
    the list does not matter. `of_user` is the group of each user, -1 if not counted.
    """

    n_relevant: NDArray[np.int64]
    n_listed: NDArray[np.int64]
    of_user: NDArray[np.int64]


def rows_of(hits: Hits, counted: NDArray[np.bool_], by_length: bool, depth: int) -> Rows:
    """Group the counted users by R, and by the length of their lists where it matters.

    A million users with Pareto-distributed lengths have 1,615 distinct R, but 20,872 (R, n).
    """
    span = depth + 1 if by_length else 1
    keys = hits.n_relevant * span
    if by_length:
        keys = keys + np.minimum(hits.n_listed, depth)
    distinct, of_user = _distinct(np.where(counted, keys, -1))
    n_listed = distinct % span if by_length else np.zeros_like(distinct)
    return Rows(distinct // span, n_listed, of_user)


def _distinct(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct keys from 0 on, and the place of each key among them (-1 for -1).

    Small keys are marked in a table, which takes a tenth of the time of sorting.
    """
    largest = int(keys.max(initial=-1))
    if largest > 8 * len(keys) + 1024:
        distinct, place = np.unique(keys, return_inverse=True)
        n_negative = int(np.searchsorted(distinct, 0))
        return distinct[n_negative:], np.maximum(place - n_negative, -1)
    present = np.zeros(largest + 2, bool)
    present[keys] = True  # -1 marks the last place
    present[-1] = False
    place = np.cumsum(present) - 1
    place[-1] = -1
    return np.flatnonzero(present), place[keys]
