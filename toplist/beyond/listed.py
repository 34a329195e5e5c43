"""What is computed of each user's list: means of what is known of items, pairs, shares of labels.

A metric of `toplist.metrics.beyond_accuracy` is declared in the words of `Listwise`. Each says how
lists become indices of the items that something is known of, and what writes curves of these. What
is known has a short digest, so that two results tell whether it is the same: a sum over rows, so
that neither their order matters nor their form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from toplist import kernels, parallel
from toplist.beyond.indexing import Index, Listed, UserItems, numbers_of
from toplist.checks import Bools, Floats, Ints, Once, no_mask
from toplist.inputs.facts import ItemLabels, distances_of, features_of, ids_of, plain, values_of
from toplist.inputs.options import ItemData, Items, Reading
from toplist.inputs.texts import Words, hashes_of, total_of
from toplist.matching.hits import Hits
from toplist.metrics.beyond_accuracy import ListMetric

# Writes the curves of the users lo..hi into an array (hi - lo, K).
Fill = Callable[[int, int, Floats], None]
# Returns what writes curves, given lists as indices.
Fills = Callable[[Listed], Fill]
# Values of users that are computed at a time: 2 MB. A quarter of it took 1.3 x as long.
BLOCK = 1 << 18
# Makes the words of texts others than those of integers: that of "" is 0.
_TEXT = np.uint64(0x9E3779B97F4A7C15)
# Numbers between 2^-SQUARED and 2^SQUARED have squares, and sums of squares, in range.
SQUARED = 450
# What else to do with an item that is not among the labels.
NO_LABEL = "None is no label"
# Of two items, in the order in which the kernel knows them.
_PAIRS = "hamming", "euclidean", "given", "jaccard"


@dataclass(frozen=True, eq=False)
class Fact(Once):
    """What one keyword of `toplist.Items` says of items: `data` has a row for each of the `ids`.

    Integers of Python are an array here.
    """

    name: str
    ids: Any
    data: Any = None

    def __post_init__(self) -> None:
        """Put integers into an array, but for those that int64 does not hold."""
        if isinstance(self.ids, list) and set(map(type, self.ids)) == {int}:
            array = np.array(self.ids)
            object.__setattr__(self, "ids", array if array.dtype == np.int64 else self.ids)

    @classmethod
    def of(cls, name: str, given: Any) -> Fact:
        """Read what a keyword gave."""
        if isinstance(given, cls):
            return given
        if name != "labels":  # of which what is masked has none
            no_mask(given, name)
        if name == "catalogue":
            return cls(name, ids_of(given))
        if name == "labels":
            labels = ItemLabels.of(given)
            return cls(name, labels.ids, labels)
        read = {"distances": distances_of, "features": features_of}.get(name, values_of)
        return cls(name, *read(given, name))

    def where(self, rows: Bools) -> Fact:
        """Return what is known of some items alone."""
        if isinstance(self.ids, np.ndarray):
            return replace(self, ids=self.ids[rows], data=self.data[rows])
        ids = [self.ids[row] for row in np.flatnonzero(rows)]
        return replace(self, ids=ids, data=self.data[rows])

    def lowest(self, share: float, n_items: float | None) -> Bools:
        """Flag a share of the items, or so many, with the least numbers; of equal ones, by id."""
        # as it is written: 0.29 of 100 is 29, in floats 28.999999999999996
        least = max(int(len(self.data) * Fraction(str(share))), 1)
        size = least if n_items is None else int(n_items)
        if isinstance(self.ids, np.ndarray):
            order = np.lexsort((self.ids, self.data))  # by number, then by id
        else:
            keys = [(one, _sort_key(item)) for one, item in zip(self.data, self.ids, strict=True)]
            order = np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)
        flags = np.zeros(len(self.data), bool)
        flags[order[:size]] = True
        return flags


def _sort_key(one: Any) -> Any:
    """Return the key that orders an id: text of a whole number, as in a CSV file, by the number."""
    if isinstance(one, str):
        number = one.isascii() and one.isdigit() and str(int(one)) == one
        return (0, int(one), "") if number else (1, 0, one)
    return one


def facts_of(items: Items, how: Reading, single: bool = False) -> dict[str, Any]:
    """Return all that is given, by keyword, read: facts of items once for many evaluations.

    `single` says that items of users are beside the list of one bare user.
    """
    return {
        name: UserItems.of(given, name, how, single)
        if name in ("history", "expected")
        else items.once(name, partial(Fact.of, name, given))
        for name, given in items.given.items()
    }


def digest_of(given: Fact | UserItems) -> str:
    """Return the digest of what a keyword of `toplist.Items` gave, once read.

    Examples
    --------
    >>> given = [{"a": 1, "b": 2.0}, {"b": 2, "a": 1}, {"a": 2, "b": 1}]
    >>> one, same, other = (digest_of(Fact.of("counts", counts)) for counts in given)
    >>> one == same, one == other
    (True, False)
    """
    return "-".join(f"{total:x}" for total in _totals(given))


def _totals(given: Fact | UserItems) -> list[int]:
    """Return sums over the rows of what is given, which neither order nor form changes."""
    if isinstance(given, UserItems):
        flat, by_position = given.flat, given.flat.users is None
        users = _words(range(len(flat.lengths)) if by_position else flat.users)
        if flat.names is None:
            words = flat.ids.astype(np.int64).view(np.uint64)
        elif hasattr(flat.names, "hashes"):  # of texts
            words = flat.names.hashes(flat.ids) ^ _TEXT
        else:
            words = _words(flat.names)[flat.ids]
        own = total_of(np.repeat(users, flat.lengths), words)
        return [given.everyone + 2 * by_position, total_of(users), own]
    ids, data = given.ids, given.data
    items = _words(() if isinstance(ids, range) else ids)
    if given.name == "catalogue":
        dense = np.array_equal(np.sort(items), np.arange(len(items)))  # 0..n-1, of any size
        return [len(ids)] if dense else [len(ids), total_of(items)]
    if given.name == "labels":
        words = hashes_of(list(map(str, data.labels)))  # as metrics are named by them
        whose = np.repeat(items, np.diff(data.offsets))
        return [total_of(items), total_of(whose, words[data.codes])]
    if given.name == "distances":
        totals = np.array([total_of(items, row) for row in data], np.uint64)
        return [total_of(items, totals)]
    return [total_of(items, *np.atleast_2d(data.T))]


def _words(ids: Any) -> Words:
    """Return the words of ids, also of an array."""
    ids = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
    words = hashes_of(ids)
    return words ^ _TEXT if ids and isinstance(ids[0], str) else words


@dataclass(frozen=True, eq=False)
class OfUsers:
    """A metric of each user: how lists become indices, and what fills in the curves.

    `values` are those of the items, of a mean of values. `of_truth` says that the users are those
    of the truth, in their order.
    """

    items: Index | Expected
    fills: Fills
    values: Any = None
    of_truth: bool = False

    @classmethod
    def of(cls, metric: ListMetric, known: ItemData) -> OfUsers:
        """Return a metric of users beside what is known of the items, made once."""
        made = partial(metric.of, Listwise(known), known.facts)
        found: OfUsers = known.once(f"metric {metric.name}", made)
        return found

    def rows(self, lists: Listed) -> Listed | Hits:
        """Return what has a row for each user: the lists, or the hits."""
        return lists if lists.hits is None or not self.of_truth else lists.hits

    def blocks(self, listed: Listed, made: Callable[[int, Floats], Any]) -> list[Any]:
        """Return what is made of the first user and the curves of each block, (users, K)."""
        fill, depth, n = self.fills(listed), listed.depth, len(self.rows(listed))

        def block(lo: int, hi: int) -> Any:
            out = np.empty((hi - lo, depth))
            fill(lo, hi, out)
            return made(lo, out)

        bounds = parallel.bounds(np.arange(n + 1) * depth, BLOCK)
        return list(parallel.run(block, bounds, listed.n_threads))


@dataclass(frozen=True, eq=False)
class Expected:
    """Lists become 0 for an item that was expected, 1 for another.

    `left_out` says that users without an expected list have no value. `own` are the numbers of
    the expected items, `items` which these are.
    """

    given: UserItems
    left_out: bool
    own: Ints
    items: Index

    @property
    def key(self) -> tuple[Any, ...]:
        """What is equal where lists become the same numbers."""
        return "expected", self.left_out

    def coded(self, lists: Listed) -> Listed:
        """Return the lists as 0 and 1; -1 where a place does not count."""
        rows = self.given.rows(lists.users, len(lists), lists.whole)
        listed = self.items.coded(replace(lists, padding=None))
        n, out, offsets = len(self.items.ids) + 1, np.full(len(lists.codes), -1), lists.flat.offsets

        def flag(lo: int, hi: int) -> None:
            own = rows[lo:hi], self.own, self.given.flat.offsets, np.full(n, -1, np.int32)
            part = out[slice(*offsets[[lo, hi]])]
            kernels.lists.flag_known(*listed.block(lo, hi), *own, part)

        listed.blocks(flag)
        if self.left_out:
            out[np.repeat(rows < 0, np.diff(offsets))] = -1
        return replace(listed, codes=out, n_items=2)


@dataclass(frozen=True, eq=False)
class Listwise:
    """The words of metrics of users: each takes facts, and returns a metric of each user."""

    known: ItemData

    def mean(
        self,
        fact: Fact | UserItems,
        values: Floats,
        other: float | None = None,
        way_out: str = NO_LABEL,
        by_rank: bool = False,
    ) -> OfUsers:
        """Return running means of the values of items, of which unknown ones may have another.

        Of items of users, of whether they are others; users who have none are left out. `way_out`
        says what else to do with unknown items; `by_rank` weighs ranks by 1 / log2(r + 1).
        """
        values = np.append(values, 0.0 if other is None else other)

        def fills(listed: Listed) -> Fill:
            return _filled(kernels.lists.means, listed, values, _weights(listed.depth, by_rank))

        if isinstance(fact, UserItems):
            return OfUsers(_expected(fact, left_out=True), fills, values)
        return OfUsers(self._items(fact, other is not None, way_out), fills, values)

    def lift(self, means: OfUsers, history: UserItems) -> OfUsers:
        """Return by which share of it means of the list are above that of the user's history."""
        assert isinstance(means.items, Index)
        flat = history.flat
        codes = means.items.indices(*numbers_of(flat), flat)
        row = np.repeat(np.arange(len(flat.lengths)), flat.lengths)[codes >= 0]
        values = means.values[codes[codes >= 0]]
        n, total = (np.bincount(row, one, len(flat.lengths)) for one in (None, values))
        known = np.full(len(n) + 1, np.nan)  # the last: of a user without a history
        np.divide(total, n, out=known[:-1], where=total > 0)

        def fills(listed: Listed) -> Fill:
            mine = known[history.rows(listed.users, len(listed), listed.whole), np.newaxis]
            mean = means.fills(listed)

            def fill(lo: int, hi: int, out: Floats) -> None:
                mean(lo, hi, out)
                out -= mine[lo:hi]
                out /= mine[lo:hi]

            return fill

        return replace(means, fills=fills)

    def pairs(self, fact: Fact, distance: str, single: float, nan: bool) -> OfUsers:
        """Return mean distances of two items of a list; `nan`: none with an unknown item."""
        numbers, sets = np.empty((0, 0)), np.empty((0, 0), np.uint64)
        if distance == "jaccard":
            sets = _bits(fact.data)
        else:
            numbers = _in_range(fact, distance)
        if distance == "cosine":  # the last: of an unknown item
            numbers = np.vstack([numbers, np.full((1, numbers.shape[1]), np.nan)])

        def fills(listed: Listed) -> Fill:
            if distance == "cosine":
                return _filled(kernels.lists.mean_cosine, listed, numbers, single)
            given = numbers, sets, _PAIRS.index(distance), len(fact.ids), single
            return _filled(kernels.lists.mean_distance, listed, *given)

        return OfUsers(self._items(fact, nan, "intra_list_diversity(unknown=nan) gives NaN"), fills)

    def calibration(
        self, history: UserItems, fact: Fact, hellinger: bool, by_rank: bool, alpha: float
    ) -> OfUsers:
        """Return the distance of the labels of a list from those of the user's history."""
        labels, items, flat = fact.data, self._items(fact), history.flat
        codes = items.indices(*numbers_of(flat), flat)
        own = codes, flat.offsets, labels.offsets, labels.codes
        n_labels, most = len(labels.labels), int(np.diff(labels.offsets).max(initial=0))

        def fills(listed: Listed) -> Fill:
            rows = history.rows(listed.users, len(listed), listed.whole)
            weights = _weights(listed.depth, by_rank)
            sizes = n_labels, min(n_labels, most * listed.depth)
            given = *own, weights, alpha, hellinger, *sizes
            return _filled(kernels.lists.calibration, listed, *given, of_user=[rows])

        return OfUsers(items, fills)

    def share(self, fact: Fact | UserItems, above: Floats, below: Floats, over: str) -> OfUsers:
        """Return sums over hits, divided, as `kernels.lists.shares_of_hits` has them.

        Of items of users, of whether they are others. NaN of users without relevant items.
        """
        code = ("k", "places", "hits").index(over)

        def fills(listed: Listed) -> Fill:
            hits = listed.hits
            assert hits is not None
            read = hits.given.relevant
            starts, lengths = listed.flat.offsets[:-1], listed.flat.lengths
            if listed.users is not None and hits.users is not None:
                place = {user: row for row, user in enumerate(listed.users)}
                rows = np.array([place.get(user, -1) for user in hits.users], np.int64)
                starts, lengths = (np.append(one, 0)[rows] for one in (starts, lengths))

            def fill(lo: int, hi: int, out: Floats) -> None:
                offsets, ranks, _ = read.block(lo, hi)
                given = listed.codes, starts[lo:hi], lengths[lo:hi], offsets, ranks
                kernels.lists.shares_of_hits(*given, above, below, code, out)
                out[read.n_relevant[lo:hi] == 0] = np.nan

            return fill

        if isinstance(fact, UserItems):
            return OfUsers(_expected(fact, left_out=False), fills, of_truth=True)
        return OfUsers(self._items(fact), fills, of_truth=True)

    def _items(self, fact: Fact, as_one: bool = False, way_out: str = NO_LABEL) -> Index:
        """Return which items something is known of; others may be `as_one`, of its own."""
        ids = fact.ids
        if isinstance(ids, np.ndarray) and np.array_equal(ids, np.arange(len(ids))):
            ids = range(len(ids))
        code = len(ids) if as_one else (-1 if self.known.unknown == "skip" else None)
        return Index(ids, fact.name, code, f"unknown='skip' leaves such items out, {way_out}")


def _expected(given: UserItems, left_out: bool) -> Expected:
    """Return which items were expected; without any, users may be `left_out`."""
    own, ids = numbers_of(given.flat)  # numbered once for all parts of the lists
    index = Index(ids, given.name, len(ids), shown=int(own[:1].sum()))
    return Expected(given, left_out, own, index)


def _filled(kernel: Any, listed: Listed, *given: Any, of_user: Sequence[Ints] = ()) -> Fill:
    """Return what writes the curves of a kernel, which takes lists, and what each user has."""

    def fill(lo: int, hi: int, out: Floats) -> None:
        kernel(*listed.block(lo, hi), *(one[lo:hi] for one in of_user), *given, out)

    return fill


def _weights(depth: int, by_rank: bool) -> Floats:
    """Return what the item at each rank counts: 1, or 1 / log2(r + 1)."""
    weights: Floats = 1 / np.log2(np.arange(2, depth + 2))
    return weights if by_rank else np.ones(depth)


def _bits(labels: ItemLabels) -> Any:
    """Return the labels of each item as a row of bits."""
    sets = np.zeros((len(labels.ids), -(-len(labels.labels) // 64)), np.uint64)
    rows = np.repeat(np.arange(len(labels.ids)), np.diff(labels.offsets))
    word, bit = np.divmod(labels.codes, 64)
    np.bitwise_or.at(sets, (rows, word), np.uint64(1) << bit.astype(np.uint64))
    return sets


def _in_range(fact: Fact, distance: str) -> Floats:
    """Return vectors whose squares are in range; for cosines, of length 1 or 0."""
    rows: Floats = fact.data
    largest = np.abs(rows).max(axis=1, initial=0.0)
    if distance == "euclidean" and (largest > 2.0**SQUARED).any():
        item = plain(fact.ids[np.flatnonzero(largest > 2.0**SQUARED)[0]])
        raise ValueError(
            f"features: item {item!r} has a number beyond {2.0**SQUARED:.0e}, whose square "
            "overflows: divide all features by it"
        )
    if distance != "cosine":
        return rows
    _, exponents = np.frexp(largest)
    extreme = (largest > 0) & (np.abs(exponents) > SQUARED)
    if extreme.any():  # multiplied by a power of 2
        rows = np.ldexp(rows, np.where(extreme, -exponents, 0)[:, np.newaxis])
    length = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    units: Floats = np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)
    return units
