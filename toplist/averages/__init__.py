"""From hits to numbers; all can be merged. Here are `Histograms`: counts of hits at each rank.

`per_user` computes the values of each user, `moments` has averages that merge, their errors, and
intervals; `propensities` what counts 1 / p. The means that people see are in `toplist.results`.

Means and variances over users follow from counts: for each distinct number R of relevant items (and
length n of the list, where a divisor uses it), the number of hits at each rank, the sum of their j,
and the number of first hits. These are integers, so they are the same for any order of users, any
number of threads and any sharding, and two parts merge by addition. The mean of any metric at any
k, under any divisor, follows from them. So does the variance of hit, precision, recall, f1 and mrr;
other sums over hits need one more table, of squared deviations, in floats. Where users differ in
more than R and n (grades, weights, a divisor of the hits so far), and for ratios of sums, the
averages are computed from the users' curves instead.
"""

import operator
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist import kernels, parallel
from toplist.averages import per_user
from toplist.averages.moments import Moments, Pooled, at
from toplist.checks import Bools, Floats, Ints, cached
from toplist.inputs.lists import offsets_of
from toplist.matching.hits import Hits
from toplist.matching.relevant import RelevantHits
from toplist.metrics.definitions import COUNTS, Metric
from toplist.metrics.properties import is_scored

Average = Moments | Pooled

# Below this ratio of spread to sum of squares, the subtraction cancels more than four digits.
CLOSE = 1e-4
_COUNTS = ("each", "nth", "first")


@dataclass(frozen=True, eq=False)
class Histograms:
    """Histograms of the hits of many users, one row per distinct (R, n), or R.

    `n_relevant`, `n_listed` (0 where the length does not matter) and `n_users` are (rows,);
    `each`, `nth` and `first` are (rows, K) integers: the number of hits at each rank, the sum of
    their j, the number of first hits. `spreads` is (m, rows, K): for each metric in
    `sums_of(metrics)`, the squared deviations of the sums over hits from their mean in the row,
    summed. Below rank K there are no hits. `gathered` holds the averages that do not follow from
    these tables, at the k's in `cuts`.
    """

    metrics: tuple[Metric, ...]
    n_relevant: Ints
    n_listed: Ints
    n_users: Ints
    each: Ints
    nth: Ints
    first: Ints
    spreads: Floats
    gathered: Mapping[str, Average]
    cuts: Ints

    @property
    def depth(self) -> int:
        """The rank down to which hits are counted."""
        return int(self.each.shape[1])

    def n_of(self, empty: str | None, metric: Metric | None = None) -> int:
        """Return the number of users in a mean that does this with empty ground truths.

        A metric of judged items, where it counts other users, has its own number.
        """
        if metric is not None and metric.counts_others and metric.name in self.gathered:
            return self.gathered[metric.name].n
        return int(self.n_users[(self.n_relevant > 0) | (empty != "skip")].sum())

    @property
    def n_empty(self) -> int:
        """The number of users without relevant items."""
        return int(self.n_users[self.n_relevant == 0].sum())

    @cached
    def near(self) -> int:
        """The rank down to which every average is known at every k."""
        far = np.flatnonzero(self.cuts != np.arange(1, len(self.cuts) + 1))
        known = int(far[0]) if len(far) else len(self.cuts)
        return min(self.depth, known) if self.gathered else self.depth

    def cubes(self, metric: Metric, k: int) -> float:
        """Return the mean of users' values at k, cubed; less where users have several hits.

        These are cubed one by one. Of averages of users' curves it is 0.
        """
        if metric.name in self.gathered:
            return 0.0
        depth = min(k, self.depth)
        divisors = metric.divisors(self.n_relevant, self.n_listed, np.array([k]))
        of_hits = (1 / (metric.discounts(depth) * divisors)) ** 3
        if metric.cut == "R":
            of_hits *= np.arange(1, depth + 1) <= self.n_relevant[:, np.newaxis]
        total = float((getattr(self, metric.word)[:, :depth] * of_hits).sum())
        total += self.n_empty * (metric.empty == "one")
        return total / max(self.n_of(metric.empty), 1)

    @cached
    def _single(self) -> NDArray[np.intp]:
        """The rows in which no user has a second hit."""
        return np.flatnonzero((self.each == self.first).all(axis=1))

    def sums(self, metric: Metric) -> Floats:
        """Return the mean sum over hits of the users of each row at every k, (rows, K).

        Counts are divided by the users of their row before they are weighted, so that a
        population of perfect lists has a mean of exactly 1.
        """
        counts: Ints = getattr(self, metric.word)
        discounts = metric.discounts(counts.shape[1])
        return np.cumsum(counts / self.n_users[:, np.newaxis] / discounts, axis=1)

    def moments(self, metric: Metric, cuts: Ints) -> Any:
        """Return the `Average` of one of the metrics at some k's, which rise."""
        if metric.name in self.gathered:  # computed from the users' curves
            places = np.minimum(np.searchsorted(self.cuts, cuts), len(self.cuts) - 1)
            lost = self.cuts[places] != cuts
            if lost.any():
                raise ValueError(
                    f"{metric.name}@{cuts[lost][0]} is not known: it was not asked for, and lies "
                    "below the lists of some of the users; ask for this k in the evaluation"
                )
            found = at(self.gathered[metric.name], places)
            if is_scored(metric) and isinstance(found, Pooled) and not found.y.any():
                found = replace(found, n=0)  # all count 0 and add to neither sum
            return found
        n = self.n_of(metric.empty)
        if n < self.n_of(None):  # those with relevant items
            kept = self.n_relevant > 0
            names = ("n_relevant", "n_listed", "n_users", *_COUNTS)
            tables = {name: getattr(self, name)[kept] for name in names}
            some = replace(self, **tables, spreads=self.spreads[:, kept])
            return some.moments(metric, cuts)
        if n == 0:
            return Moments.of(np.empty((0, len(cuts))), None)
        n_users = self.n_users[:, np.newaxis]
        divisors = metric.divisors(self.n_relevant, self.n_listed, cuts)
        # all k's down to a rank, as usual: no copy of the columns
        near = len(cuts) <= self.depth and (not len(cuts) or cuts[-1] == len(cuts))
        columns = slice(len(cuts)) if near else np.minimum(cuts, self.depth) - 1

        def at_cuts(table: Any, R: Ints = self.n_relevant) -> Any:
            if metric.cut == "k":
                return table[:, columns]
            last = np.minimum(np.minimum(cuts, self.depth), R[:, np.newaxis])
            return np.take_along_axis(table, np.maximum(last, 1) - 1, axis=1)

        empty = self.n_relevant == 0 if metric.empty == "one" else np.zeros(len(n_users), bool)
        divisors[empty] = 1.0
        counts, discounts = getattr(self, metric.word), metric.discounts(self.depth)
        # rows of one R, unless they differ in their divisors: no bit hangs on what else was asked
        first = np.flatnonzero(
            metric.dividing.by_length | (np.diff(self.n_relevant, prepend=-1) != 0)
        )
        users, R = np.add.reduceat(n_users, first, axis=0), self.n_relevant[first]
        whole = np.add.reduceat(counts, first, axis=0)
        if np.any(discounts != 1):
            means = at_cuts(self.sums(metric)) / divisors
            of_rows = at_cuts(np.cumsum(whole / users / discounts, axis=1), R) / divisors[first]
            of_rows[empty[first]] = 1.0
            mean = (users * of_rows).sum(axis=0) / n
        else:  # whole numbers: divided once where all rows share the divisor, else once for each R
            means = at_cuts(np.cumsum(counts, axis=1)) / (n_users * divisors)
            totals = at_cuts(np.cumsum(whole, axis=1), R)
            totals[empty[first]] = users[empty[first]]
            of_rows = totals / (users * divisors[first])
            once = totals.sum(axis=0) / (n * divisors[0])
            shared = (divisors == divisors[0]).all(axis=0)
            mean = np.where(shared, once, (totals / divisors[first]).sum(axis=0) / n)
        means[empty] = 1.0
        mean = np.where((of_rows == of_rows[0]).all(axis=0), of_rows[0], mean)  # not rounded again
        between = n_users * (means - mean) ** 2
        within = at_cuts(self._spread(metric)) / divisors**2
        return Moments(n, n, n, mean, (within + between).sum(axis=0))

    def deeper(self, metric: Metric, cuts: Ints, judged: bool) -> Average | None:
        """Return an average at some k's, also at such that were not asked for, below all lists.

        There no hit is added, and the divisors change alike for all users, if at all; None where
        they do not, and the users' curves would be needed. `judged` says that R counts judged
        items, of which these rows have no number.
        """
        if metric.name not in self.gathered:
            return self.moments(metric, cuts)  # type: ignore[no-any-return]
        known = np.isin(cuts, self.cuts)
        columns = np.searchsorted(self.cuts, np.where(known, cuts, self.near))
        found = at(self.gathered[metric.name], columns)
        if known.all() or metric.dividing.by_hits:
            return found
        R, n = self.n_relevant, self.n_listed
        if judged:
            R = np.append(R, np.iinfo(np.int32).max)
            n = np.resize(n, len(R))  # the first again; 0 where nobody has a row
        # the ideals of users have their grades
        graded = metric.summed.graded and metric.dividing.ideal
        deep = np.append(self.near, cuts[~known])
        table = metric.table(R, n, deep) if graded else metric.divisors(R, n, deep)
        table = table[(table[:, 0] > 0) & (table[:, 0] < np.inf)]
        growth = np.ones(len(cuts))
        if len(table):
            growth[~known] = table[0, 1:] / table[0, 0]
        alike = np.allclose(table[:, 1:], table[:, :1] * growth[~known], rtol=1e-14, atol=0)
        if not alike or ((graded or metric.empty == "one") and (growth != 1).any()):
            return None
        return found.divided(growth)

    def _spread(self, metric: Metric) -> Floats:
        """Return the squared deviations of the sums over hits from their mean in the row."""
        n_users = self.n_users[:, np.newaxis]
        discounts = metric.discounts(self.first.shape[1])
        if metric.counts == "first":
            return spread_of_first(self.first, n_users, discounts)
        if _undiscounted(metric):
            total = np.cumsum(self.each, axis=1)
            squares = np.cumsum(2 * self.nth - self.each, axis=1)  # the j-th hit adds 2 j - 1
            # deviations from a whole number near the mean are exact, and small
            whole, rest = np.divmod(total, n_users)
            near = squares - 2 * whole * total + n_users * whole**2
            spread: Floats = near - rest * (rest / n_users)
        else:
            keys = [(one.counts, one.discounting) for one in sums_of(self.metrics)]
            spread = self.spreads[keys.index((metric.counts, metric.discounting))].copy()
        # where no user has a second hit, as in leave-one-out, every hit is a first hit: the same
        # arithmetic makes the spread of recall that of hit, and map's that of mrr, to the last bit
        single = self._single
        if len(single):
            spread[single] = spread_of_first(self.first[single], n_users[single], discounts)
        return spread


def merged(parts: Sequence[Histograms], judged: Collection[str] = ()) -> Histograms:
    """Return the histograms of the users of all parts together.

    `judged` are the metrics whose R counts judged items. Averages that need the users' curves are
    known at the k's of all parts if they follow at these, else at those that all parts have.

    In one step, whatever their number: the spread of a row is that within the parts, and that of
    their means, sum over parts of n_i (m_i - m)^2 (Chan, Golub, LeVeque 1979).
    """
    first, depth = parts[0], max(part.depth for part in parts)
    keys = np.concatenate([np.stack([part.n_relevant, part.n_listed]) for part in parts], axis=1)
    # np.unique of pairs takes ten times as long
    listed, which = np.unique(keys[1], return_inverse=True)
    codes, place = np.unique(keys[0] * len(listed) + which, return_inverse=True)
    rows = np.stack([codes // len(listed), listed[codes % len(listed)]])
    # where the rows of each part are
    places = np.split(place, np.cumsum([len(part.n_users) for part in parts])[:-1])
    deep = []  # the same, down to one rank
    for part in parts:
        more = (0, depth - part.depth)
        if depth > part.depth:
            tables: dict[str, Any] = {
                name: np.pad(getattr(part, name), ((0, 0), more)) for name in _COUNTS
            }
            spreads = np.pad(part.spreads, ((0, 0), (0, 0), more), "edge")
            part = replace(part, **tables, spreads=spreads)
        deep.append(part)

    def added(name: str) -> Ints:
        out = np.zeros((rows.shape[1], *getattr(deep[0], name).shape[1:]), np.int64)
        for part, rows_of_part in zip(deep, places, strict=True):
            out[rows_of_part] += getattr(part, name)  # a part has a row once
        return out

    names = {name for part in parts for name in part.gathered}
    gathered = [metric for metric in first.metrics if metric.name in names]
    for together in (np.union1d, np.intersect1d):
        cuts: Ints = reduce(together, (part.cuts for part in parts))
        found: dict[str, list[Any]] = {
            one.name: [part.deeper(one, cuts, one.name in judged) for part in parts]
            for one in gathered
        }
        if all(average is not None for some in found.values() for average in some):
            break
    averages: dict[str, Any] = {name: reduce(operator.add, some) for name, some in found.items()}
    n_users, each, nth, hits = (added(name) for name in ("n_users", *_COUNTS))
    spreads = np.zeros((len(sums_of(first.metrics)), *each.shape))
    whole = Histograms(
        *(first.metrics, rows[0], rows[1], n_users, each, nth, hits, spreads, averages, cuts)
    )
    for i, metric in enumerate(sums_of(first.metrics)):
        mean = whole.sums(metric)
        for part, rows_of_part in zip(deep, places, strict=True):
            apart = (part.sums(metric) - mean[rows_of_part]) ** 2
            spreads[i, rows_of_part] += part.spreads[i] + part.n_users[:, np.newaxis] * apart
    return whole


def sums_of(metrics: tuple[Metric, ...]) -> list[Metric]:
    """Return one metric per distinct sum over hits whose spread needs a table of its own."""
    sums: dict[Any, Metric] = {}
    for metric in metrics:
        by_hits = metric.dividing.by_hits or metric.earning is not None
        if metric.counts != "first" and not (_undiscounted(metric) or by_hits):
            sums.setdefault((metric.counts, metric.discounting), metric)
    return list(sums.values())


def _undiscounted(metric: Metric) -> bool:
    """Return whether every hit counts 1 at every rank: then the spread follows from integers."""
    return metric.counts == "each" and metric.discounting.name == "1"


def count(
    hits: Hits,
    counted: Bools,
    metrics: tuple[Metric, ...],
    ks: tuple[int, ...],
    weights: Floats | None = None,
    *,
    pooled: Collection[str] = (),
    threshold_in_gains: bool = True,
    n_threads: int | None = None,
) -> Histograms:
    """Return the histograms of the users in `counted`, with the averages that need the curves."""
    whole = _counts(hits.relevant, counted, metrics, ks, n_threads)
    cuts = whole.cuts

    def gather(read: RelevantHits, metric: Metric, ratio: bool) -> Average:
        """Return an average computed from the curves of blocks of users."""
        mine = per_user.counted_in(hits, counted, metric)
        values, divisors = per_user.fillers(read, mine, metric, cuts, ratio)

        def block(lo: int, hi: int) -> Average:
            out = values(lo, hi)
            kept = mine[lo:hi]
            of_kept = None if weights is None else weights[lo:hi][kept]
            if divisors is None:
                return Moments.of(out[kept], of_kept)
            return Pooled.of(out[kept], divisors(lo, hi)[kept], of_kept)

        bounds = parallel.bounds(np.arange(len(read) + 1) * len(cuts))
        return reduce(operator.add, parallel.run(block, bounds, n_threads))

    gathered: dict[str, Average] = {}
    for metric in metrics:
        read = per_user.gains_of(hits, metric, threshold_in_gains)
        ratio = metric.name in pooled
        of_curves = ratio or weights is not None or metric.dividing.by_hits
        of_curves |= metric.earning is not None and read.graded
        other = read is not hits.relevant and not metric.counts_others
        if of_curves or (metric.graded and (read.graded or other)):
            gathered[metric.name] = gather(read, metric, ratio)
        elif (metric.counts_others or metric.earning is not None) and read is not hits.relevant:
            # in whole numbers, as those of relevant items
            plain = replace(metric.summed, of="relevant", relevant_from=None, cut="k", graded=False)
            mine = per_user.counted_in(hits, counted, metric)
            own = _counts(read, mine, (plain,), ks, n_threads)
            gathered[metric.name] = own.moments(plain, cuts)
    return replace(whole, gathered=gathered)


def _counts(
    hits: RelevantHits,
    counted: Bools,
    metrics: tuple[Metric, ...],
    ks: tuple[int, ...],
    n_threads: int | None,
) -> Histograms:
    """Return the histograms of some hits, without the averages that need the curves."""
    depth = per_user.reach(hits, max(ks))
    beyond = sorted(k for k in {*ks} if k > depth)
    cuts = np.array([*range(1, depth + 1), *beyond], np.int64)
    rows = per_user.size_groups(
        hits, counted, any(one.dividing.by_length for one in metrics), max(ks)
    )
    n_users = np.bincount(rows.of_user + 1, minlength=len(rows.n_relevant) + 1)[1:]
    for metric in metrics:
        # the user's function may be wrong
        if callable(metric.discount) or callable(metric.divisor):
            metric.discounts(depth)
            metric.divisors(rows.n_relevant, rows.n_listed, cuts)
    sums = sums_of(metrics)
    codes = [COUNTS.index(metric.counts) for metric in sums]
    weights = np.array([metric.discounts(depth) for metric in sums]).reshape(-1, depth)
    shape = (len(rows.n_relevant), depth)

    def block(lo: int, hi: int) -> tuple[Ints, Floats]:
        integers, squares = np.zeros((*shape, 3), np.int64), np.zeros((*shape, len(sums)))
        offsets, ranks, _ = hits.block(lo, hi)
        kernels.curves.tally(offsets, ranks, rows.of_user[lo:hi], codes, weights, integers, squares)
        return integers, squares

    # the tables of a block must be small compared with the hits that it counts
    size = max(1 << 17, 4 * shape[0] * shape[1])
    work = hits.offsets + np.arange(len(hits.offsets))
    blocks = parallel.run(block, parallel.bounds(work, size), n_threads)
    integers, squares = next(blocks)
    for more, more_squares in blocks:
        integers += more
        squares += more_squares
    integers = np.ascontiguousarray(integers.transpose(2, 0, 1))
    squares = np.ascontiguousarray(squares.transpose(2, 0, 1))
    column = n_users[:, np.newaxis]
    for i, metric in enumerate(sums):
        mean = np.cumsum(integers[codes[i]] / column / weights[i], axis=1)
        total = np.cumsum(squares[i], axis=1)
        squares[i] = total - column * mean**2
        squares[i][n_users == 1] = 0.0
        # the difference loses digits where the spread is small compared with the mean: a second
        # pass over the users of such rows, who are few, except where all lists are alike
        close = np.any(squares[i] < CLOSE * total, axis=1) & (n_users > 1)
        if not close.any():
            continue
        users = np.flatnonzero(np.append(close, False)[rows.of_user])  # the last is for -1
        users = users[np.argsort(rows.of_user[users], kind="stable")]
        squares[i][close] = 0.0
        for lo, hi in parallel.bounds(np.arange(len(users) + 1) * depth):
            part = users[lo:hi]
            of_user = rows.of_user[part]
            deviations = (_sums_at_every_k(hits, part, metric, depth) - mean[of_user]) ** 2
            starts = np.flatnonzero(np.diff(of_user, prepend=-1))
            squares[i][of_user[starts]] += np.add.reduceat(deviations, starts, axis=0)
    each, nth, first = integers
    sizes = rows.n_relevant, rows.n_listed, n_users
    return Histograms(metrics, *sizes, each, nth, first, squares, gathered={}, cuts=cuts)


def _sums_at_every_k(hits: RelevantHits, users: Ints, metric: Metric, depth: int) -> Floats:
    """Return some users' sums over hits, (len(users), depth), added in the kernels' order."""
    begin, n_hits = hits.offsets[users], np.diff(hits.offsets)[users]
    row = np.repeat(np.arange(len(users)), n_hits)
    j = np.arange(len(row)) - offsets_of(n_hits)[row]
    place = hits.ranks[begin[row] + j].astype(np.int64) - 1
    shallow = place < depth
    row, j, place = row[shallow], j[shallow], place[shallow]
    steps = np.zeros((len(users), depth))
    steps[row, place] = (j + 1 if metric.counts == "nth" else 1) / metric.discounts(depth)[place]
    return np.cumsum(steps, axis=1)


def spread_of_first(first: Ints, n_users: Ints, discounts: Floats) -> Floats:
    """Return the sum of squared deviations of 1 / discount(first hit), 0 for none."""
    gains = 1.0 / discounts
    # deviations from the most common value, if it is reached at k: exact where all users share it
    common = np.argmax(first, axis=1)[:, np.newaxis]
    missed = n_users - np.cumsum(first, axis=1)

    def spread(deviations: Floats, of_missed: Floats | float) -> Floats:
        found = np.cumsum(first * deviations**2, axis=1) + missed * of_missed**2
        mean = (np.cumsum(first * deviations, axis=1) + missed * of_missed) / n_users
        return np.maximum(found - n_users * mean**2, 0.0)

    near_zero = (np.arange(first.shape[1]) < common) | (missed == n_users)
    value = gains[common]
    return np.where(near_zero, spread(gains, 0.0), spread(gains - value, -value))
