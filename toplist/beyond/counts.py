"""Counts of listings: how many lists have each item at each rank, and the sums of these at a k."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toplist import kernels
from toplist.checks import Floats, Ints


class Curves(NamedTuple):
    """The sums from which the metrics of a whole population are computed, (K,) over all lists.

    `total` listings of `covered` distinct items; with x an item's listings, `spread` is the sum of
    x^2; with G_m the number of items of at least m listings, `squares` is the sum of G_m^2;
    `entropy` is in nats. The whole numbers are int64, or Python's integers where they pass 2^63.
    """

    total: NDArray[Any]
    covered: Ints
    squares: NDArray[Any]
    spread: NDArray[Any]
    entropy: Floats

    def down_to(self, k: int) -> Curves:
        """Return the first k places of each."""
        return Curves._make(sums[:k] for sums in self)

    @classmethod
    def of(cls, counts: Iterable[tuple[Ints, Ints]]) -> Curves:
        """Return the sums from counts of counts, a pair (levels, sizes) at every k.

        `levels` are the distinct numbers of listings, rising from 1; `sizes` says how many items
        have each.
        """
        rows = [_sums(levels, sizes) for levels, sizes in counts]
        total, covered, squares, spread, entropy = np.array(rows, object).reshape(-1, 5).T
        total, squares, spread = (  # Python's integers as int64, if all fit
            sums if max(sums, default=0) >= 2**63 else sums.astype(np.int64)
            for sums in (total, squares, spread)
        )
        return cls(total, covered.astype(np.int64), squares, spread, entropy.astype(np.float64))


class UserItemPairs(NamedTuple):
    """The items at each rank r, ``items[starts[r - 1]:starts[r]]``, and how many lists have them.

    `items` are places in the catalogue; it is what parts are merged by.
    """

    starts: Ints
    items: NDArray[Any]
    counts: Ints

    def down_to(self, k: int) -> UserItemPairs:
        """Return those at the first k ranks."""
        end = self.starts[k]
        return UserItemPairs(self.starts[: k + 1], self.items[:end], self.counts[:end])

    @property
    def ranks(self) -> Ints:
        """The rank of each, from 0 on."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


def counts_of_counts(
    ranks: Iterable[tuple[NDArray[np.int32], Ints]], n_items: int
) -> Iterator[tuple[Ints, Ints]]:
    """Yield at every k the distinct counts of listed items, rising, and how many have each."""
    x = np.zeros(n_items, np.int64)
    for items, counts in ranks:
        x[items] += counts
        yield np.unique(x[x > 0], return_counts=True)


def _sums(levels: Ints, sizes: Ints) -> tuple[int, int, int, int, float]:
    """Return the numbers of `Curves` at one k, the whole ones exactly."""
    covered = int(sizes.sum())
    largest = float(levels.astype(np.float64) @ sizes) * max(covered, int(levels.max(initial=0)))
    kind: Any = np.int64 if largest < 2**62 else object  # Python's integers do not wrap
    x, n = levels.astype(kind), sizes.astype(kind)
    reach = np.cumsum(n[::-1])[::-1]  # items of at least each level
    total, spread = int((x * n).sum()), int((x**2 * n).sum())
    squares = int((np.diff(x, prepend=0) * reach**2).sum())
    return total, covered, squares, spread, kernels.exposure.entropy_of(levels, sizes, float(total))


def counted(items: NDArray[Any], n_items: int) -> tuple[NDArray[np.int32], Ints]:
    """Return the distinct items, and how often each occurs."""
    items = items[items >= 0]
    if n_items > 8 * len(items):
        distinct, counts = np.unique(items, return_counts=True)
        return distinct.astype(np.int32), counts.astype(np.int64, copy=False)
    listed = np.bincount(items, minlength=n_items)
    found = np.flatnonzero(listed)
    return found.astype(np.int32), listed[found].astype(np.int64, copy=False)


def merged(a: UserItemPairs, b: UserItemPairs, n_items: int) -> UserItemPairs:
    """Add up the counts of each item at each rank."""
    known, items = np.unique(np.concatenate([a.items, b.items]), return_inverse=True)
    n = max(len(known), 1)
    ranks = np.concatenate([a.ranks, b.ranks])
    both, place = np.unique(ranks * n + items, return_inverse=True)
    counts = np.zeros(len(both), np.int64)
    np.add.at(counts, place, np.concatenate([a.counts, b.counts]))
    ranks, items = np.divmod(both, n)
    starts = np.searchsorted(ranks, np.arange(len(a.starts)))
    return UserItemPairs(starts.astype(np.int64), narrow(known[items], n_items), counts)


def narrow(items: Ints, n_items: int) -> NDArray[Any]:
    """Return places in a catalogue as int32, where it is not larger than that."""
    return items.astype(np.int32 if n_items <= np.iinfo(np.int32).max else np.int64)
