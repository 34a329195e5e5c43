"""The values of each user: a metric at every k, or at one k."""

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

from toplist import kernels, parallel
from toplist.checks import Bools, Floats, Ints
from toplist.inputs.lists import offsets_of
from toplist.matching.hits import Hits
from toplist.matching.relevant import RelevantHits
from toplist.metrics.definitions import COUNTS, METRICS, Metric

# Tables reach down to this rank even where every list is shorter: they cost little, and parts of
# results whose longest lists differ have the same columns.
MIN_TABLE_DEPTH = 1024
# Columns below every list that are written at a time.
PART = 1 << 16


def curves(
    hits: RelevantHits, counted: Bools, metric: Metric, depth: int, n_threads: int | None = None
) -> Floats:
    """Return one metric of every user at every k, (n_users, depth); NaN for users not counted."""
    out, near = empty((len(hits), depth)), reach(hits, depth)
    blocks = parallel.bounds(hits.offsets + np.arange(len(hits.offsets)) * near)

    def write(fill: Callable[..., Floats], columns: Floats, lo: int, hi: int) -> None:
        fill(lo, hi, columns[lo:hi])

    # below every list, where only the divisor changes, in parts
    for first, last in pairwise([0, *range(near, depth, PART), depth]):
        fill = filler(hits, counted, metric, np.arange(first, last) + 1)
        parallel.each(partial(write, fill, out[:, first:last]), blocks, n_threads)
    return out


def values(hits: RelevantHits, counted: Bools, metric: Metric, k: int) -> Floats:
    """Return one metric of every user at one k, (n_users,); NaN for users not counted."""
    out, fill = np.empty((len(hits), 1)), filler(hits, counted, metric, np.array([k]))
    for lo, hi in kernels.steps(hits.offsets + np.arange(len(hits.offsets)) * reach(hits, k)):
        fill(lo, hi, out[lo:hi])
    return out[:, 0]


def truths_of(hits: Hits, metric: Metric) -> RelevantHits:
    """Return the hits of what counts as a hit: relevant items, all that were judged, or groups.

    How many were judged is counted before those that were not leave the lists.
    """
    if metric.of == "judged":
        return hits.every_judged
    least = metric.relevant_from
    found = hits.relevant if least is None else hits.from_grade(least)
    return found.groups if metric.of == "groups" else found


def counted_in(hits: Hits, counted: Bools, metric: Metric) -> Bools:
    """Return who is in the mean of a metric, of those who are in any."""
    if metric.empty != "skip":
        return counted
    return counted & (truths_of(hits, metric).n_relevant > 0)


def weighing(counted: Bools, weights: Floats | None) -> Bools:
    """Return the users in `counted` who weigh something: a weight of 0 counts nothing."""
    return counted if weights is None else counted & (weights > 0)


def have_values(values: Floats) -> Bools:
    """Return who has a value, of values at one k, or at every k."""
    known = np.isfinite(values).reshape(len(values), -1)
    return np.asarray(known.all(axis=1), bool)


def gains_of(hits: Hits, metric: Metric, threshold_in_gains: bool) -> RelevantHits:
    """Return the hits that a metric reads: of all judged items, where gains ignore the threshold.

    In trec_eval `relevant_from` decides what is relevant, and nDCG does not read it; who has
    nothing relevant scores 1 where the metric's policy says so. Where the metric is cut at R, hits
    below are left out.
    """
    read = truths_of(hits, metric)
    own_threshold = hits.grading.relevant_from is not None and metric.relevant_from is None
    if metric.graded and own_threshold and not threshold_in_gains:
        has, read = read.n_relevant > 0, hits.judged
        if metric.empty == "one" and read.graded and not has.all():
            read = read.of_some(has)
    if metric.earning is not None:
        read = replace(read, judged=hits.judged).earning(metric.earning.function)
    return read.down_to(read.n_relevant) if metric.cut == "R" else read


def read_by(
    metric: Metric, hits: Hits, counted: Bools, threshold_in_gains: bool
) -> tuple[RelevantHits, Bools]:
    """Return the hits that a metric reads, and who is in its mean."""
    return gains_of(hits, metric, threshold_in_gains), counted_in(hits, counted, metric)


def reach(hits: RelevantHits, k: int) -> int:
    """Return down to which rank tables are kept: k, or where k is large, the longest list.

    Below every list no rank holds a hit, and only the divisor of a metric changes with k. So cost
    and memory follow the lists, not k.
    """
    return min(k, max(hits.longest, MIN_TABLE_DEPTH))


def empty(shape: tuple[int, ...]) -> Floats:
    """Return room for an array; MemoryError that names its shape if it cannot fit."""
    needed = 8.0 * math.prod(shape)
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if needed > memory:
            raise MemoryError(
                f"an array of shape {shape} needs {needed / 1e9:,.0f} GB, this machine has "
                f"{memory / 1e9:,.0f}: ask for single values, such as per_user('ndcg@10')"
            )
    return np.empty(shape)


def filler(hits: RelevantHits, counted: Bools, metric: Metric, cuts: Ints) -> Callable[..., Floats]:
    """Return a function of ``lo, hi, out=None``: the curves of these users, (hi - lo, K).

    They are written to `out` where it is given. `cuts` are the k's of the columns: from any k on,
    each the next one, down to `reach`, and any that are beyond.
    """
    metric, depth = metric.summed, int(cuts.max(initial=0))
    if metric.dividing.by_hits:
        sums = filler(hits, counted, replace(metric, divisor="1", empty=None), cuts)
        n_hits = filler(hits, counted, _N_HITS, cuts)

        def over_hits(lo: int, hi: int, out: Floats | None = None) -> Floats:
            out = sums(lo, hi, out)
            out /= np.maximum(n_hits(lo, hi), 1.0)
            return _score_empty(hits, counted, metric, out, lo)

        return over_hits
    rows = size_groups(hits, counted, metric.dividing.by_length, depth)
    sizes, first = (rows.n_relevant, rows.n_listed, cuts), int(cuts.min(initial=depth))
    code, deepest, ideal = COUNTS.index(metric.counts), reach(hits, depth), metric.dividing.ideal
    if hits.gains is None or hits.ideal_gains is None or not metric.graded:
        how = code, metric.discounts(deepest), metric.divisors(*sizes), first

        def write(lo: int, hi: int, out: Floats) -> None:
            offsets, ranks, _ = hits.block(lo, hi)
            kernels.curves.curves(offsets, ranks, rows.of_user[lo:hi], *how, out)

    else:
        best, ideal_gains = offsets_of(hits.n_relevant), hits.ideal_gains
        table = metric.table(*sizes)
        deepest = max(deepest, int(table.max(initial=0))) if ideal else deepest
        graded_how = code, metric.discounts(deepest), table, ideal, first

        def write(lo: int, hi: int, out: Floats) -> None:
            of_ideal = best[lo : hi + 1], ideal_gains[best[lo] : best[hi]]
            given = *hits.block(lo, hi), *of_ideal, rows.of_user[lo:hi]
            kernels.curves.graded_curves(*given, *graded_how, out)

    def fill(lo: int, hi: int, out: Floats | None = None) -> Floats:
        out = np.empty((hi - lo, len(cuts))) if out is None else out
        write(lo, hi, out)
        return _score_empty(hits, counted, metric, out, lo)

    return fill


# The number of hits down to k.
_N_HITS = replace(METRICS["cg"], graded=False)


def _score_empty(
    hits: RelevantHits, counted: Bools, metric: Metric, out: Floats, lo: int = 0
) -> Floats:
    """Let users with an empty ground truth score 1 where the metric says so, from user `lo` on."""
    if metric.empty == "one":
        part = slice(lo, lo + len(out))
        out[(hits.n_relevant[part] == 0) & counted[part]] = 1.0
    return out


def divisor_filler(
    hits: RelevantHits, counted: Bools, metric: Metric, cuts: Ints
) -> Callable[[int, int], Floats]:
    """Return a function of ``lo, hi``: the divisors of these users at each k, (hi - lo, K)."""
    if metric.dividing.by_hits:
        return filler(hits, counted, _N_HITS, cuts)
    rows = size_groups(hits, counted, metric.dividing.by_length, int(cuts.max(initial=0)))
    if not (metric.graded and hits.graded and metric.dividing.ideal):
        table = metric.divisors(rows.n_relevant, rows.n_listed, cuts)
        table[np.isinf(table)] = 0.0
        table = np.vstack([table, np.zeros(len(cuts))])  # the last row is for users not counted, -1
        return lambda lo, hi: table[rows.of_user[lo:hi]]
    places = metric.table(rows.n_relevant, rows.n_listed, cuts).astype(np.int64)
    places = np.vstack([places, np.zeros(len(cuts), np.int64)])
    deepest = max(1, int(places.max(initial=0)))
    # an ideal list has its hits at the first ranks, best gains first
    best = offsets_of(hits.n_relevant)
    ranks = np.arange(best[-1]) - np.repeat(best[:-1], hits.n_relevant) + 1
    perfect = replace(hits, offsets=best, ranks=ranks.astype(np.int32), n_listed=hits.n_relevant)
    ideal = replace(perfect, grades=hits.ideal_grades)
    of_ones = np.concatenate([[0.0], np.cumsum(1.0 / metric.discounts(deepest))])
    each = replace(metric, counts="each", divisor="1")  # whatever the metric counts
    fill = filler(ideal, counted, each, np.arange(1, deepest + 1))

    def divisors(lo: int, hi: int) -> Floats:
        earned = np.zeros((hi - lo, deepest + 1))
        fill(lo, hi, earned[:, 1:])
        # places past the last relevant item hold items of gain 1, as without grades
        last = np.minimum(hits.n_relevant[lo:hi, np.newaxis], deepest)
        earned += np.maximum(of_ones - of_ones[last], 0.0)
        return np.take_along_axis(earned, places[rows.of_user[lo:hi]], axis=1)

    return divisors


def fillers(
    hits: RelevantHits, counted: Bools, metric: Metric, cuts: Ints, ratio: bool
) -> tuple[Callable[[int, int], Floats], Callable[[int, int], Floats] | None]:
    """Return functions of ``lo, hi``: the curves of these users; with divisors for a `ratio`.

    That is what these users add to both sums of a ratio of sums; else there is one function.
    """
    if not ratio:
        return filler(hits, counted, metric, cuts), None
    metric = metric.summed  # the ideal, too, is of what hits earn
    sums = filler(hits, counted, replace(metric, divisor="1"), cuts)
    divisors = divisor_filler(hits, counted, metric, cuts)
    if not metric.dividing.balanced:
        return sums, divisors
    plain = divisor_filler(hits, counted, replace(metric, graded=False), cuts)

    def balanced(fill: Callable[[int, int], Floats]) -> Callable[[int, int], Floats]:
        return lambda lo, hi: fill(lo, hi) / np.where((by := plain(lo, hi)) > 0, by, 1.0)

    return balanced(sums), balanced(divisors)


@dataclass(frozen=True, eq=False)
class SizeGroups:
    """Groups of users with equal (R, n); the users of a group share their divisors.

    `n_relevant` and `n_listed` are the R and n of each group; `n_listed` is 0 where the length of
    the list does not matter. `of_user` is the group of each user, -1 if not counted.
    """

    n_relevant: Ints
    n_listed: Ints
    of_user: Ints


def size_groups(hits: RelevantHits, counted: Bools, by_length: bool, depth: int) -> SizeGroups:
    """Group the counted users by R, and by the length of their lists where it matters.

    A million users with Pareto-distributed lengths have 1,615 distinct R, but 20,872 (R, n).
    """
    span = depth + 1 if by_length else 1
    n_keys = (int(hits.n_relevant.max(initial=0)) + 1) * span
    if n_keys > 8 * len(hits) + 1024:
        keys = hits.n_relevant * span + np.minimum(hits.n_listed, span - 1)
        keys = np.where(counted, keys, -1)
        distinct, of_user = np.unique(keys, return_inverse=True)
        n_negative = int(np.searchsorted(distinct, 0))
        distinct, of_user = distinct[n_negative:], np.maximum(of_user - n_negative, -1)
    else:  # small keys are marked in a table, which takes a tenth of the time of sorting
        numbers, of_user = np.full(n_keys, -1), np.empty(len(hits), np.int64)
        given = hits.n_relevant, hits.n_listed, counted, span
        kernels.curves.group(*given, numbers, of_user)
        distinct = np.flatnonzero(numbers >= 0)
    n_listed = distinct % span if by_length else np.zeros_like(distinct)
    return SizeGroups(distinct // span, n_listed, of_user)
