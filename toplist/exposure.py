"""`Exposure`: how often each item is listed at each rank. Coverage, Gini and entropy follow."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toplist import blocks
from toplist.catalogues import ids_of
from toplist.checks import choice
from toplist.hits import offsets_of
from toplist.listed import Admission, Listed, admit_listed

UNKNOWN = ("raise", "skip")
# Counters that a thread holds at a time, 4 bytes each: ranks x items, eight ranks at most, which
# are one line of the cache in every list.
ROOM = 1 << 22
RANKS = 8


class Curves(NamedTuple):
    """What the metrics of a whole population follow from, each (K,): at k, over all lists.

    `total` listings of `covered` distinct items; with x an item's listings, `spread` is the sum of
    x^2; with G_m the number of items of at least m listings, `squares` is the sum of G_m^2;
    `entropy` is in nats.
    """

    total: NDArray[np.int64]
    covered: NDArray[np.int64]
    squares: NDArray[np.int64]
    spread: NDArray[np.int64]
    entropy: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Exposure:
    """How often each item of a catalogue stands at each rank, counted over many lists.

    Made by `toplist.beyond.exposure`; every metric of `toplist.beyond` that is of the whole
    population takes it in place of the lists. Two parts over different users, but of one
    catalogue and one k, add up: ``a + b`` is exactly the exposure of all users.

    Attributes
    ----------
    starts : (K + 1,) int64
        The items at rank r are ``items[starts[r - 1]:starts[r]]``.
    items, counts : int32
        Places in the catalogue, and how many lists have them at this rank.
    n_users : int
        Number of lists, empty ones included.
    n_items : int
        Size of the catalogue; without a stated one, of all ids met.
    catalogue : array or list, or None
        The ids of the catalogue, or that none was stated.

    Examples
    --------
    >>> from toplist import beyond
    >>> a, b = (beyond.exposure(lists, k=2, catalogue=4) for lists in ([[0, 1]], [[1, 2], [1, 0]]))
    >>> beyond.item_coverage(a + b).tolist()
    [0.5, 0.75]
    """

    starts: NDArray[np.int64]
    items: NDArray[np.int32]
    counts: NDArray[np.int32]
    n_users: int
    n_items: int
    catalogue: Any = None

    @property
    def k(self) -> int:
        """The largest k."""
        return len(self.starts) - 1

    def __repr__(self) -> str:
        """Return the sizes."""
        of = f"{self.n_items:,} items" if self.catalogue is not None else "no stated catalogue"
        return f"Exposure({self.n_users:,} lists, {of}, read to k={self.k})"

    def __add__(self, other: "Exposure") -> "Exposure":
        """Return the exposure of both sets of users.

        Raises
        ------
        ValueError
            If k or the catalogue differ, or no catalogue was stated: then each has numbered the
            items in its own way.
        """
        if not isinstance(other, Exposure):
            return NotImplemented
        if self.k != other.k:
            raise ValueError(f"Exposure of k={self.k} and of k={other.k} do not merge")
        if self.catalogue is None or other.catalogue is None:
            raise ValueError("Exposure without a stated catalogue does not merge: state catalogue=")
        if not _same(self.catalogue, other.catalogue):
            raise ValueError("Exposure over two catalogues do not merge")
        keys, counts = zip(self._keyed(), other._keyed(), strict=True)
        both, place = np.unique(np.concatenate(keys), return_inverse=True)
        added = np.zeros(len(both), np.int64)
        np.add.at(added, place, np.concatenate(counts))
        rank, items = np.divmod(both, max(self.n_items, 1))
        starts = np.searchsorted(rank, np.arange(self.k + 1))
        return Exposure(
            starts.astype(np.int64),
            items.astype(np.int32),
            added.astype(np.int32),
            self.n_users + other.n_users,
            self.n_items,
            self.catalogue,
        )

    def __radd__(self, other: Any) -> "Exposure":
        """Let ``sum(parts)`` start from 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def _keyed(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return one number for rank and item of every pair, and the counts."""
        rank = np.repeat(np.arange(self.k), np.diff(self.starts))
        return rank * max(self.n_items, 1) + self.items, self.counts

    @cached_property
    def curves(self) -> Curves:
        """What the metrics follow from, at every k."""
        from toplist.kernels import exposing, readonly

        covered, squares, spread = np.empty((3, self.k), np.int64)
        entropy = np.empty(self.k)
        exposing.concentrate(
            *(readonly(self.starts), readonly(self.items, np.int32)),
            *(readonly(self.counts, np.int32), np.zeros(self.n_items, np.int64)),
            *(np.zeros(self.n_users + 2, np.int64), covered, squares, spread, entropy),
        )
        total = offsets_of(self.counts)[self.starts[1:]]
        return Curves(total, covered, squares, spread, entropy)


def exposure(
    ranks: Any,
    k: int | None = None,
    *,
    catalogue: Any = None,
    unknown: str = "raise",
    duplicates: str = "raise",
    padding: Any = None,
    columns: Mapping[str, str] | None = None,
    n_threads: int | None = None,
) -> Exposure:
    """Count how often each item stands at each rank, once; `item_coverage` and others take it.

    Parameters
    ----------
    ranks : ranked lists of ids
        In every form that `toplist.match` takes for ranks.
    k : int, optional
        Read the first k ids of each list only; default all.
    catalogue : int or ids, optional
        All items that could be listed: their number n (the ids are 0..n-1), or their ids in a
        list, a set, an array, a column. Without it, only what is listed is known.
    unknown : {"raise", "skip"}
        An id that is not in the catalogue: refused, or its place counts for nothing.
    duplicates : {"raise", "first"}
        An id twice in one list: refused, or only its first place counts.
    padding : id, optional
        An id that fills rectangular arrays: dropped from the ends of lists.
    columns : mapping, optional
        Of tables: their own names of user_id, item_id, rank and score.
    n_threads : int, optional
        Default: the CPUs this process may use. The result does not depend on it.

    Raises
    ------
    TypeError
        For forms and ids that are not accepted.
    ValueError
        For an id that is not in the catalogue or stands in a list twice, misplaced padding, a bad
        `k` or option.

    Examples
    --------
    >>> exposure([[5, 7, 3], [4, 5, 2]], catalogue=8)
    Exposure(2 lists, 8 items, read to k=3)
    """
    choice("unknown", unknown, UNKNOWN)
    ids = None if catalogue is None else ids_of(catalogue)
    rules = Admission(
        ids,
        unknown=-1 if unknown == "skip" else None,
        duplicates=duplicates,
        padding=padding,
        columns=columns,
        n_threads=n_threads,
    )
    return counted(admit_listed(ranks, k, rules), ids, n_threads)


def counted(listed: Listed, ids: Any, n_threads: int | None = None) -> Exposure:
    """Count admitted lists, a few ranks at a time."""
    from toplist.kernels import exposing

    width = max(1, min(RANKS, ROOM // max(listed.n_items, 1)))
    n = min(listed.n_items, len(listed)) + 1

    def count(lo: int, hi: int) -> list[tuple[NDArray[np.int32], NDArray[np.int32]]]:
        counts = np.zeros((hi - lo, listed.n_items), np.int32)
        items, n_distinct = np.empty((hi - lo, n), np.int32), np.zeros(hi - lo, np.int64)
        exposing.count_at_ranks(*listed.block(0, len(listed)), lo, counts, items, n_distinct)
        found = (row[:size].copy() for row, size in zip(items, n_distinct, strict=True))
        return [(row, here[row]) for row, here in zip(found, counts, strict=True)]

    longest = int(listed.lengths.max(initial=0))  # no list reaches below
    steps = [(lo, min(lo + width, longest)) for lo in range(0, longest, width)]
    ranks = [rank for part in blocks.run(count, steps, n_threads) for rank in part]
    sizes = [len(items) for items, _ in ranks] + [0] * (listed.depth - longest)
    nothing = np.empty(0, np.int32)
    items = np.concatenate([nothing, *(items for items, _ in ranks)])
    counts = np.concatenate([nothing, *(counts for _, counts in ranks)])
    starts = offsets_of(np.array(sizes, np.int64))
    return Exposure(starts, items, counts, len(listed), listed.n_items, ids)


def _same(a: Any, b: Any) -> bool:
    """Whether two catalogues are the same ids in the same order."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype.kind == b.dtype.kind and np.array_equal(a, b)
    return type(a) is type(b) and list(a) == list(b)
