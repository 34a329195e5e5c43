"""`Exposure`: how often each item is listed at each rank. Coverage, Gini and entropy follow."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toplist import kernels, parallel
from toplist.beyond.indexing import FREE, Index, Listed
from toplist.checks import Floats, Ints, cached, check_positive_int, choice, is_missing
from toplist.inputs.facts import Fact, by_item, ids_of, plain
from toplist.inputs.lists import offsets_of
from toplist.inputs.options import UNKNOWN, Reading, Unknown, needs
from toplist.metrics.conventions import CONVENTIONS
from toplist.metrics.definitions import DISCOUNTS, Metric
from toplist.metrics.names import parse

GROUP = Fact("group", dimensions=1, more=", or an array whose places are those of the catalogue")


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


class UserItemPairs(NamedTuple):
    """The items at each rank r, ``items[starts[r - 1]:starts[r]]``, and how many lists have them.

    `items` are places in the catalogue, which rise at each rank; it is what parts are merged by.
    """

    starts: Ints
    items: NDArray[Any]
    counts: Ints

    @classmethod
    def of(cls, ranks: Ints, items: Ints, counts: Ints, k: int, n_items: int) -> UserItemPairs:
        """Return items and counts by rank, from 0 on, in any order."""
        if not _rising(ranks, items):
            order = np.lexsort((items, ranks))
            ranks, items, counts = ranks[order], items[order], counts[order]
        starts = np.searchsorted(ranks, np.arange(k + 1)).astype(np.int64)
        kind = np.int32 if n_items <= np.iinfo(np.int32).max else np.int64
        return cls(starts, items.astype(kind), counts)

    def down_to(self, k: int) -> UserItemPairs:
        """Return those at the first k ranks."""
        end = self.starts[k]
        return UserItemPairs(self.starts[: k + 1], self.items[:end], self.counts[:end])

    @property
    def ranks(self) -> Ints:
        """The rank of each, from 0 on."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def merged(self, other: UserItemPairs) -> UserItemPairs:
        """Add up the counts of each item at each rank."""
        most = max(int(one.items.max(initial=0)) for one in (self, other)) + 1
        pairs = self.items, other.items
        if most * len(self.starts) >= 1 << 63:  # the keys below would wrap
            known, both = np.unique(np.concatenate(pairs), return_inverse=True)
            most, pairs = len(known), (both[: len(self.items)], both[len(self.items) :])
        here, there = (
            one.ranks * most + items for one, items in zip((self, other), pairs, strict=True)
        )
        at = np.searchsorted(here, there)
        new = np.append(here, -1)[at] != there
        counts = self.counts.copy()
        counts[at[~new]] += other.counts[~new]
        more = np.bincount(other.ranks[new], minlength=len(self.starts) - 1)
        return UserItemPairs(
            self.starts + offsets_of(more),
            np.insert(self.items, at[new], other.items[new]),
            np.insert(counts, at[new], other.counts[new]),
        )


@dataclass(frozen=True, eq=False)
class Exposure:
    """How often each item of a catalogue is at each rank, over many lists.

    Made by `toplist.beyond.exposure`; `toplist.curves` takes it in place of the lists, for metrics
    of all lists together. Two parts over different users, of one catalogue
    and one k, can be added: ``a + b`` is exactly the exposure of all users.

    Attributes
    ----------
    k : int
        The largest k.
    n_users : int
        Number of lists; an empty one is none.
    n_items : int
        Size of the catalogue; without a stated one, of all ids met.
    catalogue : range, array or list, or None
        The ids of the catalogue, or that none was stated.
    source : Listed or UserItemPairs
        The lists, or only how many of them have each item at each rank.
    n_threads : int or None
        Of what is computed from the lists.

    Examples
    --------
    >>> from toplist import beyond
    >>> a, b = (beyond.exposure(lists, k=2, catalogue=4) for lists in ([[0, 1]], [[1, 2], [1, 0]]))
    >>> from toplist import curves
    >>> curves("item_coverage", a + b).tolist()
    [0.5, 0.75]
    """

    k: int
    n_users: int
    n_items: int
    catalogue: Any
    source: Listed | UserItemPairs
    n_threads: int | None = None

    @classmethod
    def from_counts(
        cls, items: Any, ranks: ArrayLike, counts: ArrayLike, *, n_users: int, catalogue: Any
    ) -> Exposure:
        """Return the exposure that a database counted, of any number of lists.

        In SQL: ``SELECT item_id, rank, COUNT(*) FROM recs WHERE rank <= 10 GROUP BY item_id,
        rank``. It counts rows: where a list may hold an item twice, count its first place.

        Parameters
        ----------
        items : (n,) ids
        ranks : (n,) int
            From 1 on; the largest is k.
        counts : (n,) int
            How many lists have the item at the rank; a pair of both is there once.
        n_users : int
            The number of lists, without empty ones.
        catalogue : int or ids
            As in `toplist.beyond.exposure`.

        Raises
        ------
        ValueError
            For columns of different lengths or of numbers that are not whole, an item that is not
            in the catalogue, a pair of item and rank twice, and more items at a rank than lists.

        Examples
        --------
        >>> from toplist import curves
        >>> found = Exposure.from_counts([0, 2, 0], [1, 1, 2], [3, 1, 1], n_users=4, catalogue=4)
        >>> found, curves("item_coverage", found).tolist()
        (Exposure(4 lists, 4 items, read to k=2), [0.5, 0.5])
        """
        ids = ids_of(catalogue)
        listed = _listed(items)
        columns = {"ranks": np.asarray(ranks), "counts": np.asarray(counts)}
        for name, column in columns.items():
            if column.shape != (len(listed),):
                raise ValueError(f"{name}: one of each of the {len(listed):,} items is needed")
            if len(column) and (column.dtype.kind not in "iu" or column.min() < 1):
                raise ValueError(f"{name}: whole numbers from 1 on are needed, of an integer type")
        places = _places_in(ids, listed)
        if (places < 0).any():
            raise ValueError(f"items: {listed[places.argmin()]!r} is not in the catalogue")
        at, n = (column.astype(np.int64) for column in columns.values())
        k = int(at.max(initial=0))
        pairs = UserItemPairs.of(at - 1, places, n, k, len(ids))
        twice = np.flatnonzero((np.diff(pairs.items) == 0) & (np.diff(pairs.ranks) == 0))
        if len(twice):
            item, rank = pairs.items[twice[0]], int(pairs.ranks[twice[0]]) + 1
            raise ValueError(f"item {plain(ids[item])!r} is there twice at rank {rank}")
        most = np.bincount(at, n) if len(at) else np.zeros(1)
        if most.max() > n_users:
            rank = int(most.argmax())
            raise ValueError(
                f"{int(most[rank]):,} items at rank {rank}, but there are {n_users:,} lists"
            )
        return cls(k, n_users, len(ids), ids, pairs)

    @classmethod
    def of_counts(
        cls, k: int, n_users: int, n_items: int, catalogue: Any, source: UserItemPairs
    ) -> Exposure:
        """Return an exposure from counts; ValueError for such that contradict each other."""
        starts, items, counts = source
        fits = len(starts) == k + 1 and starts[0] == 0 and starts[-1] == len(items) == len(counts)
        fits = fits and bool((np.diff(starts) >= 0).all()) and _rising(source.ranks, items)
        inside = 0 <= items.min(initial=0) <= items.max(initial=0) < max(n_items, 1)
        few = counts.min(initial=1) >= 1 and counts.max(initial=0) <= n_users
        size = n_items if catalogue is None else len(catalogue)
        if not (fits and inside and few) or size != n_items:
            raise ValueError("the counts of listed items contradict each other")
        return cls(k, n_users, n_items, catalogue, source)

    def __repr__(self) -> str:
        """Return the sizes."""
        of = f"{self.n_items:,} items" if self.catalogue is not None else "no stated catalogue"
        return f"Exposure({self.n_users:,} lists, {of}, read to k={self.k})"

    def __add__(self, other: Exposure) -> Exposure:
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
            raise ValueError(f"exposures read to k={self.k} and to k={other.k} do not merge")
        if self.catalogue is None or other.catalogue is None:
            raise ValueError("exposures merge over a stated catalogue only: give catalogue=")
        pairs = self.pairs.merged(other._over(self.catalogue))
        return replace(self, n_users=self.n_users + other.n_users, source=pairs)

    def _over(self, catalogue: Any) -> UserItemPairs:
        """Return the pairs over the same ids in another order, or form; ValueError for others."""
        ours = self.catalogue
        if len(ours) == len(catalogue):
            equal = np.array_equal if isinstance(ours, np.ndarray) else operator.eq
            if type(ours) is type(catalogue) and equal(ours, catalogue):  # without a look at each
                return self.pairs
            places = _places_in(catalogue, _listed(ours))
            if (places >= 0).all():
                pairs = self.pairs
                counted = pairs.ranks, places[pairs.items], pairs.counts
                return UserItemPairs.of(*counted, self.k, self.n_items)
        raise ValueError("exposures over two catalogues do not merge")

    def __radd__(self, other: Any) -> Exposure:
        """Let ``sum(parts)`` start from 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle counts, not lists."""
        return Exposure, (self.k, self.n_users, self.n_items, self.catalogue, self.pairs)

    def without_lists(self) -> Exposure:
        """Return the same counts without the lists that they were counted from."""
        return replace(self, source=self.pairs)

    def down_to(self, k: int) -> Exposure:
        """Return the same counts read to a deeper k, which no list reaches."""
        if k == self.k:
            return self
        starts = np.pad(self.pairs.starts, (0, k - self.k), "edge")
        return replace(self, k=k, source=self.pairs._replace(starts=starts))

    def counts(self, k: int | None = None) -> Ints:
        """Return how many lists hold each item among their first k, (n_items,).

        In the order of the catalogue; without a stated one, of the ids as they were met. k is
        the largest one by default, and at most that.

        Examples
        --------
        >>> from toplist import beyond
        >>> beyond.exposure([[5, 7, 3], [4, 5, 2]], catalogue=8).counts(2).tolist()
        [0, 0, 0, 0, 1, 2, 0, 1]
        """
        _, items, counts = self.pairs.down_to(self.depth(k))
        out = np.zeros(self.n_items, np.int64)
        np.add.at(out, items, counts)
        return out

    def discounted(
        self, k: int | None = None, *, discount: Any = "log2(r+1)", normalised: bool = False
    ) -> Floats:
        """Return the exposure of each item, its listings down to k discounted by rank, (n_items,).

            exposure@k of an item = sum over the lists that have it within k of 1 / discount(rank)

        (Singh, Joachims 2018, "Fairness of Exposure in Rankings", with the position bias
        1 / log2(rank + 1).) In the order of `counts`.

        Parameters
        ----------
        k : int, optional
            Default: the largest one, and at most that.
        discount : str or callable
            A name in `DISCOUNTS` (``"log2(r+1)"``, ``"1"``, ``"r"``, ...), ``"rbp(p=0.8)"`` for the
            weight (1 - p) p^(rank - 1) of rank-biased precision, or a function of ranks that
            returns positive numbers.
        normalised : bool
            Divide by the exposure of all items: shares, NaN where nothing is listed.

        Examples
        --------
        >>> from toplist import beyond
        >>> found = beyond.exposure([[0, 1], [2, 0]], catalogue=4)
        >>> found.discounted().round(4).tolist()
        [1.6309, 0.6309, 1.0, 0.0]
        >>> found.discounted(discount="1", normalised=True).tolist()
        [0.5, 0.25, 0.25, 0.0]
        """
        depth = self.depth(k)
        divisors = discounts_of(discount, depth)
        pairs = self.pairs.down_to(depth)
        # an item's parts are added up rank by rank, so that merged parts give the same bits
        parts = pairs.counts / divisors[pairs.ranks]
        out = np.bincount(pairs.items, parts, self.n_items).astype(np.float64)
        if not normalised:
            return out
        at_ranks = np.diff(np.append(0, np.cumsum(pairs.counts))[pairs.starts])
        total = (at_ranks / divisors).sum()
        return out / total if total else np.full(self.n_items, np.nan)

    def ratios(self, groups: Any, *, discount: Any = "log2(r+1)") -> dict[Any, Floats]:
        """Return of each group of items its share of exposure over its share of the catalogue.

            exposure@k of a group = sum over its listings within k of 1 / discount(rank)
            ratio = exposure / exposure of all items / (items of the group / all items)

        1 of all groups is parity: their items have the same mean exposure (Singh, Joachims 2018,
        "Fairness of Exposure in Rankings"). As means over users, with intervals, the metric
        ``exposure_share`` has the shares of each user's list.

        Parameters
        ----------
        groups : dict item -> group, Series, table, or array
            One group of each item; an array's places are those of the catalogue. An item with None
            or NaN, and one that is not there, is of the group None. Items that are not in the
            catalogue are not looked at, nor is a group of these alone.
        discount : str or callable
            As in `discounted`.

        Returns
        -------
        dict of group -> (K,) float64
            At every k, in the order of the catalogue, None last; NaN where nothing is listed.

        Raises
        ------
        TypeError, ValueError
            Without a stated catalogue, for groups of no item of it, or several of one item.

        Examples
        --------
        >>> from toplist import beyond
        >>> found = beyond.exposure([["x", "y"], ["z", "x"]], catalogue=["x", "y", "z"])
        >>> ratios = found.ratios({"x": "new", "y": "old"})
        >>> {group: ratio.round(4).tolist() for group, ratio in ratios.items()}
        {'new': [1.5, 1.5], 'old': [0.0, 0.5803], None: [1.5, 0.9197]}
        """
        if self.catalogue is None:
            raise needs("ratios of groups", "catalogue", "")
        places, names = _groups_of(groups, self.catalogue)
        counts = np.zeros((len(names), self.k), np.int64)
        np.add.at(counts, (places[self.pairs.items], self.pairs.ranks), self.pairs.counts)
        divisors = discounts_of(discount, self.k)
        every = np.cumsum(counts.sum(axis=0) / divisors)
        sizes = np.bincount(places, minlength=len(names)) / self.n_items
        share = np.full(counts.shape, np.nan)
        np.divide(np.cumsum(counts / divisors, axis=1), every, out=share, where=every > 0)
        return dict(zip(names, share / sizes[:, np.newaxis], strict=True))

    @property
    def ks(self) -> range:
        """Every k, from 1 on."""
        return range(1, self.k + 1)

    def depth(self, k: int | None) -> int:
        """Return k, by default the largest; ValueError if it is deeper than the lists were read."""
        wanted = self.k if k is None else check_positive_int(k, "k")
        if wanted > self.k:
            raise ValueError(f"k={wanted} is deeper than this Exposure was read to, k={self.k}")
        return wanted

    @cached
    def pairs(self) -> UserItemPairs:
        """Return the items at each rank with their counts."""
        if isinstance(self.source, UserItemPairs):
            return self.source
        listed = self.source
        found = [_counted(items, listed.n_items) for items in self._items_at_ranks(listed)]
        items, counts = (
            np.concatenate([np.empty(0, np.int64), *(pair[at] for pair in found)]) for at in (0, 1)
        )
        if listed.places is not None:
            items = listed.places[items]
        ranks = np.repeat(np.arange(len(found)), [len(pair[0]) for pair in found])
        return UserItemPairs.of(ranks, items, counts, self.k, self.n_items)

    @cached
    def curves(self) -> Curves:
        """Return the sums from which the metrics are computed, at every k."""
        if isinstance(self.source, UserItemPairs):
            return _curves_of(self.source, self.n_items)
        at, reach = np.zeros(self.source.n_items, np.int64), np.zeros(self.n_users + 2, np.int64)
        sums, shannon = np.zeros((self.k + 1, 4), np.int64), np.zeros(self.k)
        k = 0
        for k, items in enumerate(self._items_at_ranks(self.source), start=1):
            sums[k] = sums[k - 1]
            kernels.lists.concentrate(items, at, reach, sums[k])
            shannon[k - 1] = kernels.lists.entropy(reach, sums[k, 0])
        sums[k:], shannon[k:] = sums[k], shannon[k - 1] if k else 0.0  # no list reaches below
        total, covered, squares, spread = sums[1:].T
        return Curves(total, covered, squares, spread, shannon)

    def _items_at_ranks(self, listed: Listed) -> Iterator[NDArray[np.int32]]:
        """Yield the items at each rank that a list reaches; they are overwritten later.

        A few ranks are read at a time, the next ones while these are looked at.
        """
        everyone, width = listed.block(0, len(listed)), kernels.lists.RANKS
        longest = int(listed.flat.lengths.max(initial=0))
        room = np.empty((2, width, len(listed)), np.int32)  # new room would cost as much again

        def read(step: int) -> list[NDArray[np.int32]]:
            out, first = room[step % 2], step * width
            n = kernels.lists.at_ranks(*everyone, first, out)
            return [row[:n] for row in out[: longest - first]]

        steps = range(-(-longest // width))
        for rows in parallel.ahead(read, steps, self.n_threads):
            yield from rows


def exposure(
    ranks: Any,
    k: int | None = None,
    *,
    catalogue: Any = None,
    unknown: Unknown = "raise",
    **reading: Unpack[Reading],
) -> Exposure:
    """Count how often each item is at each rank, once; `toplist.curves` takes it.

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
    **reading
        How the lists are read. duplicates, {"raise", "first", "collapse"}: an id twice in one list
        is refused; or only its first place counts; or later copies leave and ranks close up, of
        which k counts what is left; default "raise", with `items_as` "collapse". padding: an id
        that fills rectangular arrays, dropped from the ends of lists. columns, a mapping: of
        tables, their own names of user_id, item_id, rank and score. n_threads: default the CPUs
        this process may use; the result does not depend on it. items_as: puts documents in place
        of the ids of lists, see `toplist.match`; the catalogue is then of documents.

    Raises
    ------
    TypeError
        For forms and ids that are not accepted.
    ValueError
        For an id that is not in the catalogue or twice in a list, misplaced padding, a bad `k` or
        option.

    Examples
    --------
    >>> exposure([[5, 7, 3], [4, 5, 2]], catalogue=8)
    Exposure(2 lists, 8 items, read to k=3)
    """
    choice("unknown", unknown, UNKNOWN)
    lists = Listed.of(ranks, k, reading)
    ids = None if catalogue is None else ids_of(catalogue)
    index = None if ids is None else Index(ids, unknown=-1 if unknown == "skip" else None)
    return exposure_of(lists, index)


def exposure_of(lists: Listed, catalogue: Index | None) -> Exposure:
    """Count how often each item is at each rank."""
    listed = lists.of_catalogue(catalogue)
    ids = None if catalogue is None else catalogue.ids
    n_items = listed.n_items if ids is None else len(ids)
    n_lists = int(np.count_nonzero(listed.flat.lengths))
    return Exposure(listed.depth, n_lists, n_items, ids, listed, listed.n_threads)


def _rising(ranks: Ints, items: NDArray[Any]) -> bool:
    """Whether ranks rise, and the items of each."""
    later = np.diff(ranks)
    return bool(((later > 0) | ((later == 0) & (np.diff(items) > 0))).all())


def _counted(items: NDArray[Any], n_items: int) -> tuple[Ints, Ints]:
    """Return the distinct items, and how often each occurs."""
    items = items[items >= 0]
    if n_items > 8 * len(items):
        return np.unique(items, return_counts=True)
    listed = np.bincount(items, minlength=n_items)
    found = np.flatnonzero(listed)
    return found, listed[found]


def _curves_of(pairs: UserItemPairs, n_items: int) -> Curves:
    """Return the sums at every k, the whole ones exactly, from how many items have each count."""
    starts, items, counts = pairs
    if n_items > FREE + 2 * len(items):  # only those that are listed
        listed, items = np.unique(items, return_inverse=True)
        n_items = len(listed)
    x, rows = np.zeros(n_items, np.int64), []
    for lo, hi in pairwise(starts.tolist()):
        x[items[lo:hi]] += counts[lo:hi]
        most = int(x.max(initial=0))
        levels, sizes = _counted(x[x > 0], most + 1)
        covered = int(sizes.sum())
        largest = float(levels.astype(np.float64) @ sizes) * max(covered, most)
        kind: Any = np.int64 if largest < 2**62 else object  # Python's integers do not wrap
        level, n = levels.astype(kind), sizes.astype(kind)
        reach = np.cumsum(n[::-1])[::-1]  # items of at least each level
        total, spread = int((level * n).sum()), int((level**2 * n).sum())
        squares = int((np.diff(level, prepend=0) * reach**2).sum())
        entropy = kernels.lists.entropy_of(levels, sizes, float(total))
        rows.append((total, covered, squares, spread, entropy))
    columns: Any = np.array(rows, object).reshape(-1, 5).T
    total, covered, squares, spread, entropy = columns
    total, squares, spread = (  # Python's integers as int64, if all fit
        sums if max(sums, default=0) >= 2**63 else sums.astype(np.int64)
        for sums in (total, squares, spread)
    )
    return Curves(total, covered.astype(np.int64), squares, spread, entropy.astype(np.float64))


def _groups_of(groups: Any, catalogue: Any) -> tuple[Ints, list[Any]]:
    """Return the place of the group of each item of the catalogue, and the groups, None last."""
    facts, ids = by_item(groups, GROUP, "groups"), _listed(catalogue)
    named = _listed(facts.values)
    if not isinstance(facts.items, np.ndarray):
        given = dict(zip(facts.items, named, strict=True))
        if given and not any(one in given for one in ids):
            raise ValueError(
                f"groups and catalogue have no item in common: groups has {next(iter(given))!r}, "
                f"the catalogue {ids[0]!r}"
            )
        named = [given.get(one) for one in ids]
    elif len(named) != len(ids):
        raise ValueError(
            f"groups has {len(named):,} places, the catalogue {len(ids):,} items: give a dict "
            "item -> group"
        )
    named = [None if is_missing(one) else one for one in named]
    for item, one in zip(ids, named, strict=True):
        if getattr(one, "__hash__", None) is None:
            raise TypeError(f"groups: item {item!r} has {one!r}: an item has one group")
    known = [one for one in dict.fromkeys(named) if one is not None] + [None] * (None in named)
    place = {one: row for row, one in enumerate(known)}
    return np.array([place[one] for one in named], np.int64), known


def _listed(ids: Any) -> list[Any]:
    """Return ids or groups as a list of Python's objects."""
    found: list[Any] = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    return found


def _places_in(catalogue: Any, listed: Sequence[Any]) -> Ints:
    """Return the place of each listed id in a catalogue, -1 of one that is not there.

    The ids 0..n-1 are their own places, however many they are.
    """
    if isinstance(catalogue, range):
        place = {one: one for one in dict.fromkeys(listed) if type(one) is int and one in catalogue}
    else:
        place = {one: row for row, one in enumerate(_listed(catalogue))}
    return np.array([place.get(one, -1) for one in listed], np.int64)


def discounts_of(discount: Any, depth: int) -> Floats:
    """Return what a listing is divided by at the ranks 1..depth.

    Examples
    --------
    >>> discounts_of("r", 3).tolist(), discounts_of("rbp(p=0.5)", 3).tolist()
    ([1.0, 2.0, 3.0], [2.0, 4.0, 8.0])
    """
    if isinstance(discount, str) and discount not in DISCOUNTS:
        if not re.fullmatch(r"rbp(\(.*\))?", discount):
            choice("discount", discount, (*DISCOUNTS, "rbp(p=0.8)"))
        metric, _ = parse(discount, CONVENTIONS["standard"])
        assert isinstance(metric, Metric)
        discount = metric.discount
    return Metric("exposure", "each", discount, "1").discounts(depth)
