"""Standard errors of means over rows in clusters, such as the sessions of users, at every k."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from toplist import parallel
from toplist.averages.moments import Moments, Pooled
from toplist.averages.per_user import counted_in, cut_offs, filler, gains_of, ratio_fillers
from toplist.checks import Bools, Floats, Ints
from toplist.matching.hits import Hits
from toplist.matching.relevant import RelevantHits
from toplist.metrics.definitions import Metric
from toplist.stats.estimates import Units, estimate


class ClusterErrors(NamedTuple):
    """Standard errors at every k, (K,), and their degrees of freedom, (K,)."""

    error: Floats
    df: Floats


def of_hits(
    hits: Hits,
    counted: Bools,
    metric: Metric,
    cuts: Ints,
    average: Moments | Pooled,
    clusters: Ints,
    weights: Floats | None,
    threshold_in_gains: bool,
) -> ClusterErrors:
    """Return the standard errors (CR2) of an average of the rows in `counted`, at some k's.

        error² = Σ_c (Σ_{i in c} w_i (x_i - D y_i))² / (1 - π_c) / (Σ w y)²

    with y = 1 but for ratios of sums; π_c is the share of the weights (`stats.estimates`).
    Rows are filled block by block in the order of their clusters: no array has all rows and k's.

    Parameters
    ----------
    average : Moments or Pooled
        Of these rows at these k's, which rise.
    clusters : (n,) int64
        The number of the cluster of every row.
    """
    mine = counted_in(hits, counted, metric)
    kept = np.flatnonzero(mine if weights is None else mine & (weights > 0))
    rows = kept[np.argsort(clusters[kept], kind="stable")]
    begins = np.flatnonzero(np.diff(clusters[rows], prepend=-1))
    if len(begins) < 2:
        nothing = np.full(len(cuts), np.nan)
        return ClusterErrors(nothing, nothing)
    w = np.ones(len(rows)) if weights is None else weights[rows]
    sizes, some = np.add.reduceat(w, begins), hits.subset(rows)
    left = _residuals(gains_of(some, metric, threshold_in_gains), metric, cuts, average)

    def sums(lo: int, hi: int) -> tuple[int, Floats]:
        """Return the first cluster of a block of rows, and the sums over each in the block."""
        first = np.searchsorted(begins, lo, "right") - 1
        bounds = np.maximum(begins[first : np.searchsorted(begins, hi)] - lo, 0)
        return int(first), np.add.reduceat(w[lo:hi, np.newaxis] * left(lo, hi), bounds, axis=0)

    pulls = np.sqrt(sizes.sum() / (sizes.sum() - sizes))[:, np.newaxis]
    squares, whole, last = np.zeros(len(cuts)), np.zeros(len(cuts)), 0
    blocks = parallel.bounds(np.arange(len(rows) + 1) * len(cuts))
    for first, parts in parallel.run(sums, blocks, None):
        if first == last:  # a cluster that goes on from the block before
            parts[0] += whole
        else:
            squares += (whole * pulls[last]) ** 2
        squares += ((parts[:-1] * pulls[first : first + len(parts) - 1]) ** 2).sum(axis=0)
        whole, last = parts[-1], first + len(parts) - 1
    squares += (whole * pulls[last]) ** 2
    total: Any = average.y if isinstance(average, Pooled) else sizes.sum()
    error = np.sqrt(squares) / np.where(total > 0, total, 1.0)
    return ClusterErrors(error, np.full(len(cuts), Units(len(sizes), sizes).df))


def _residuals(
    read: RelevantHits, metric: Metric, cuts: Ints, average: Moments | Pooled
) -> Callable[[int, int], Floats]:
    """Return a function of ``lo, hi``: what is left of the values of these rows, (hi - lo, K)."""
    every, columns = np.ones(len(read), bool), cut_offs(read, cuts.tolist())
    at, mean = np.searchsorted(columns, cuts), average.mean
    if not isinstance(average, Pooled):
        values = filler(read, every, metric, columns)
        return lambda lo, hi: values(lo, hi)[:, at] - mean
    numerators, divisors = ratio_fillers(read, every, metric, columns)
    return lambda lo, hi: numerators(lo, hi)[:, at] - mean * divisors(lo, hi)[:, at]


def by_kish(average: Moments | Pooled) -> ClusterErrors:
    """Return the standard errors of an average, as of Kish's effective number n' of users.

        error² = Σ w² (x - D y)² n' / (n' - 1) / (Σ w y)²,  n' = (Σ w y)² / Σ (w y)²,  df = n' - 1

    with y = 1 but for ratios of sums. Below 2, n' is taken for 2.
    """
    n = np.broadcast_to(np.maximum(average.kish, 2.0), average.mean.shape)
    users = max(average.n, 2)
    error = average.error * np.sqrt(n / (n - 1) * ((users - 1) / users))
    return ClusterErrors(error, n - 1)


def of_values(values: Floats, clusters: Ints) -> ClusterErrors:
    """Return the standard errors of the means of values (n, K), of the rows that have one.

    Examples
    --------
    >>> values = np.array([[0.3], [0.1], [-0.2], [0.4], [0.0], [0.2], [np.nan]])
    >>> error, df = of_values(values, np.array([0, 0, 0, 1, 1, 2, 3]))
    >>> error.round(4), df.round(4)
    (array([0.0558]), array([1.6667]))
    """
    found = []
    for column in values.T:
        known = ~np.isnan(column)
        one = estimate([column[known]], Units.of(len(column[known]), None, clusters[known]))
        found.append((float(one.error[0]), one.df))
    return ClusterErrors(*np.array(found).reshape(-1, 2).T)
