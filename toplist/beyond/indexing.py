"""Ranked lists without a ground truth, as indices of a catalogue: the input of `toplist.beyond`.

The lists enter in every form that `toplist.match` takes for ranks. Ids of any kind become the
indices 0..n_items-1 of the catalogue, exactly; a place that does not count has a code below 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from toplist import kernels, parallel
from toplist.checks import Ints, check_positive_int, prefixed
from toplist.inputs.factorize import Numbering, written
from toplist.inputs.flatten import Flat, item_twice, name_user
from toplist.inputs.forms import read_ranks
from toplist.inputs.ids import alone, encode
from toplist.inputs.options import Duplicates, Joining, Reading, repeats_of
from toplist.inputs.shaping import shaped, unpadded
from toplist.inputs.texts import Texts
from toplist.matching.hits import Hits

# Items of a catalogue that cost nothing to speak of, however few are listed: tables of 12 MB.
FREE = 1 << 20


@dataclass(frozen=True, eq=False)
class IndexedLists:
    """Lists of many users as indices of `n_items` items; a code below 0 does not count.

    User u's are the `lengths[u]` codes from ``offsets[u]`` on, at most `depth`. `users` are the
    keys of keyed inputs; `single` says that one user was given bare. Of a catalogue far larger than
    the lists only listed items are indexed; `places` are then their places in the catalogue.
    """

    codes: Ints
    offsets: Ints
    lengths: Ints
    n_items: int
    depth: int
    users: Sequence[Any] | None
    single: bool
    places: Ints | None = None

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self.lengths)

    def block(self, lo: int, hi: int) -> tuple[Ints, Ints, Ints]:
        """Return codes, offsets and lengths of the users ``lo..hi``, as kernels take them."""
        offsets = self.offsets[lo : hi + 1]
        codes = self.codes[offsets[0] : offsets[-1]]
        return codes, offsets, self.lengths[lo:hi]


@dataclass(frozen=True, eq=False)
class ReadLists:
    """Ranked lists that are read and cut at `k`: integers, or codes and their distinct ids.

    The input of `indexed`, so that metrics over several catalogues read the lists once. `settled`
    says that they hold documents, or each id once, and no padding.
    """

    flat: Flat
    k: int | None
    single: bool
    settled: bool = False

    @property
    def users(self) -> Any:
        """The keys of keyed inputs, else None."""
        return self.flat.users


class ListingCounts:
    """What holds counts of listings, and no lists: it is refused where lists belong."""


def read_lists(ranks: Any, k: int | None, how: Reading) -> ReadLists:
    """Read ranked lists in any form; `ReadLists` are returned unchanged.

    Padding is not dropped here, unless lists are collapsed or mapped: a pair (ids, scores) with the
    id -1 asks for it.

    Raises
    ------
    TypeError
        For forms and ids that are not accepted.
    ValueError
        For a bad `k`.
    """
    if isinstance(ranks, ReadLists):
        return ranks
    k = None if k is None else check_positive_int(k, "k")
    if isinstance(ranks, Hits):
        raise TypeError("ranks is a Hits, which holds no ids: give the ranked lists themselves")
    if isinstance(ranks, ListingCounts):
        name = type(ranks).__name__
        raise TypeError(f"ranks is of type {name}, which holds no lists: give the lists themselves")
    joining = Joining(**how)
    flat, single = read_ranks(ranks, joining.depth(k), joining.columns, joining.padding)
    flat = alone(flat)
    if joining.items_as is not None:
        from toplist.inputs.documents import ItemMap  # what few need, so that imports are quick

        flat = ItemMap.of(joining.items_as).mapped(flat, joining.padding)
    if joining.collapses:
        flat = shaped(flat, k, joining)
    return ReadLists(flat, k, single, joining.collapses or joining.items_as is not None)


@dataclass(frozen=True)
class Indexing:
    """How ids become indices: which items there are, and what is done with others and repeats.

    `name` is the keyword that gave the `ids` of the items (None: those that are listed).
    `unknown` is the code of any other item: -1 leaves it out, `n_items` is an item of its own with
    its own value; None refuses it, and `way_out` says what else to do. `kept` has what is made of
    the ids once, for all parts of the lists.
    """

    ids: Any
    name: str = "catalogue"
    unknown: int | None = None
    way_out: str = "unknown='skip' leaves such places out"
    duplicates: Duplicates = "raise"
    padding: Any = None
    n_threads: int | None = None
    kept: dict[str, Any] = field(default_factory=dict, compare=False)

    def reading(self, how: Reading) -> Indexing:
        """Return the same with the caller's keywords; the columns are used by `read_lists`."""
        used = ("padding", "n_threads")
        given: Any = {name: value for name, value in how.items() if name in used}
        repeats = repeats_of(how.get("duplicates"), how.get("items_as"))
        return replace(self, duplicates=repeats, **given)

    def of(self, lists: ReadLists) -> Indexing:
        """Return the same for lists that may be without padding."""
        return replace(self, padding=None) if lists.settled and self.padding is not None else self


def indexed(lists: ReadLists, rules: Indexing) -> IndexedLists:
    """Write ranked lists as indices of a catalogue.

    Raises
    ------
    TypeError
        For ids of another kind than the catalogue's.
    ValueError
        For an id that is not in the catalogue, an id twice in a list, misplaced padding.
    """
    rules, places = rules.of(lists), None
    if isinstance(rules.ids, range):
        places = _listed_places(lists.flat, rules.ids)
        if places is None:
            rules = replace(rules, ids=np.arange(len(rules.ids)))
        else:  # of these lists alone
            rules = replace(rules, ids=places, kept={})
    codes, offsets, lengths, n_items = _indices(lists.flat, rules)
    depth = int(lengths.max(initial=0)) if lists.k is None else lists.k
    found = IndexedLists(codes, offsets, lengths, n_items, depth, lists.users, lists.single, places)
    return _cleaned(found, lists.flat, rules)


def codes_of(flat: Flat, rules: Indexing) -> Ints:
    """Return the index of every id of some users, also of repeated ones; below 0 if left out.

    Raises
    ------
    ValueError
        For an id that is none of the items, unless `rules` say what it is, and if all are none.
    """
    codes, _, _, n_items = _indices(flat, replace(rules, padding=None))
    others = np.flatnonzero(codes.view(np.uint64) >= n_items)
    if not len(others):
        return codes
    if rules.unknown is None:
        user = flat.user_at(others[0])
        item = flat.row(user)[others[0] - flat.offsets[user]]
        raise ValueError(
            f"{flat.side}: {flat.name_user(user)} has item {item!r}, which is not in "
            f"{rules.name} ({len(others):,} such places); "
            f"{rules.way_out}"
        )
    if rules.unknown < 0 and len(others) == len(codes):
        raise strangers(flat, rules)
    return np.where(codes.view(np.uint64) < n_items, codes, rules.unknown)


def strangers(flat: Flat, rules: Indexing) -> ValueError:
    """Return the error of ids of which no one is known."""
    item = written(flat.ids[:1], flat.names)[0]
    there = f"it has {np.array(rules.ids[:1], object)[0]!r}, " if len(rules.ids) else ""
    return ValueError(f"no item of {flat.side} is in {rules.name}: {there}{flat.side} has {item!r}")


def _listed_places(flat: Flat, catalogue: range) -> Ints | None:
    """Return the ids 0..n-1 that are listed, and 0; None where all n are no more work."""
    n = len(catalogue)
    if n <= FREE + 2 * len(flat.ids):
        return None
    known = np.empty(0, np.int64)
    if flat.names is None:
        known = np.unique(flat.ids[(flat.ids >= 0) & (flat.ids < n)]).astype(np.int64)
    return np.union1d([0], known).astype(np.int64)  # at least one, to show in a message


def _indices(flat: Flat, rules: Indexing) -> tuple[Ints, Ints, Ints, int]:
    """Return codes, offsets, lengths and the number of items; ids of no item have codes above."""
    size = 0 if rules.ids is None else len(rules.ids)
    ids = np.empty(0, np.int64) if rules.ids is None else rules.ids
    if rules.padding is not None and size and rules.padding in ids:
        raise ValueError(f"{rules.name} holds the padding id {rules.padding!r}")
    if flat.names is not None:
        places, n_items = _places_of(flat.names, rules)
        flat = unpadded(flat, rules.padding)
        return places[flat.ids], flat.offsets, flat.lengths, n_items
    if "ids" not in rules.kept:
        rows = ids if isinstance(ids, np.ndarray) else [ids]
        rules.kept["ids"] = Flat(rules.name, rows, np.array([0, size]), np.array([size]))
    ranked, catalogue = encode(flat, rules.kept["ids"], hashing=False)
    ranked = unpadded(ranked, rules.padding)
    if rules.ids is None:
        own = Numbering()
        codes = own.number(ranked.ids)
        return codes, ranked.offsets, ranked.lengths, len(own)
    listed = ranked.ids
    numbering = catalogue.once(Numbering, partial(_numbering_of, catalogue.ids))
    if numbering is None:  # the ids are the indices
        codes = np.asarray(listed, np.int64)
    else:
        starts = range(0, len(listed), parallel.BLOCK)
        bounds = [(lo, min(lo + parallel.BLOCK, len(listed))) for lo in starts]
        parts = parallel.run(lambda lo, hi: numbering.find(listed[lo:hi]), bounds, rules.n_threads)
        codes = np.concatenate([np.empty(0, np.int64), *parts])  # -1 where an id has no place
    others = np.flatnonzero(codes.view(np.uint64) >= size)
    if len(others):  # one code each, so that repeats of them are seen
        codes = codes.copy()
        codes[others] = size + Numbering().number(listed[others])
    return codes, ranked.offsets, ranked.lengths, size


def _numbering_of(ids: Ints) -> Numbering | None:
    """Return the numbers of ids; None where each id is its own."""
    if np.array_equal(ids, np.arange(len(ids))):
        return None
    numbering = Numbering()
    numbering.number(ids)
    return numbering


def _places_of(names: Sequence[Any], rules: Indexing) -> tuple[Ints, int]:
    """Return the indices of distinct ids, and the number of items.

    Texts, which grow with the parts of a file, are looked up when they are new.
    """
    texts, places = rules.kept.get("names", (None, None))
    if texts is not names:
        places = np.empty(0, np.int64)
    new, size = names[len(places) :], 0 if rules.ids is None else len(rules.ids)
    row = Flat("ranks", [new], np.array([0, len(new)]), np.array([len(new)]))
    codes, _, _, n_items = _indices(row, replace(rules, padding=None))
    codes = codes + np.where(codes < size, 0, np.count_nonzero(places >= size))
    places = np.concatenate([places, codes])
    if isinstance(names, Texts) and rules.ids is not None:
        rules.kept["names"] = names, places
    return places, n_items


def _cleaned(listed: IndexedLists, flat: Flat, rules: Indexing) -> IndexedLists:
    """Return the lists with -1 where a place does not count; raise for what is refused."""
    n_codes = max(listed.n_items, int(listed.codes.max(initial=-1)) + 1)

    def inspect(lo: int, hi: int) -> tuple[int, ...]:
        last = np.full(n_codes, -1, np.int32)
        n, user, place, more, also, again = kernels.grouping.inspect(
            *listed.block(lo, hi), listed.n_items, last
        )
        return n, lo + user, place, more, lo + also, again

    bounds = parallel.bounds(listed.offsets)
    found = list(parallel.run(inspect, bounds, rules.n_threads))
    n_unknown, n_repeats = (sum(part[at] for part in found) for at in (0, 3))
    if n_unknown and rules.unknown is None:
        user, place = next(part[1:3] for part in found if part[0])
        raise ValueError(
            f"{name_user(listed.users, user)} lists item {flat.row(user)[place]!r} at rank "
            f"{place + 1}, which is not in {rules.name} ({n_unknown:,} such places); "
            f"{rules.way_out}"
        )
    if n_repeats and rules.duplicates == "raise":
        raise _repeat_error(listed, flat, *next(part[4:] for part in found if part[3]))
    if not (n_unknown or n_repeats):
        return listed
    out = np.empty(len(listed.codes), np.int64)
    code = -1 if rules.unknown is None else rules.unknown

    def clean(lo: int, hi: int) -> None:
        last, part = np.full(n_codes, -1, np.int32), slice(*listed.offsets[[lo, hi]])
        kernels.grouping.clean(*listed.block(lo, hi), listed.n_items, code, last, out[part])

    parallel.each(clean, bounds, rules.n_threads)
    return replace(listed, codes=out)


def _repeat_error(listed: IndexedLists, flat: Flat, user: int, place: int) -> ValueError:
    """Return the error of a list that holds an id twice."""
    start, end = listed.offsets[user] + np.array([0, listed.lengths[user]])
    row = listed.codes[start:end]
    first = int(np.flatnonzero(row == row[place])[0])
    fills = bool((row[first:] == row[first]).all())
    item = flat.row(user)[place]
    return item_twice(name_user(listed.users, user), item, first + 1, place + 1, fills)


def indexed_together(
    lists: tuple[ReadLists, ReadLists], names: tuple[str, str], how: Reading
) -> tuple[IndexedLists, IndexedLists]:
    """Write two sets of ranked lists as indices of the items that either holds.

    Raises
    ------
    TypeError
        For ids of two kinds.
    ValueError
        For an id twice in a list, misplaced padding; the message says in which of `names`.
    """
    rules = Indexing(None).reading(how)
    flats = [replace(one.flat, side=name) for one, name in zip(lists, names, strict=True)]
    flats = [  # each side by itself: one may be without padding already
        flat if one.settled else unpadded(flat, rules.padding)
        for flat, one in zip(flats, lists, strict=True)
    ]
    *codes, n_items = _numbered_together(*flats)
    found = []
    for one, flat, numbers, name in zip(lists, flats, codes, names, strict=True):
        depth = int(flat.lengths.max(initial=0)) if one.k is None else one.k
        sizes = flat.offsets, flat.lengths, n_items, depth
        listed = IndexedLists(numbers, *sizes, one.users, one.single)
        try:
            found.append(_cleaned(listed, flat, rules))
        except ValueError as error:
            raise prefixed(f"{name}: ", error) from None
    return found[0], found[1]


def _numbered_together(a: Flat, b: Flat) -> tuple[Ints, Ints, int]:
    """Return the ids of two sides as numbers that are equal where the ids are, and how many."""
    alone = []
    for flat in (a, b):  # the ids in one row, of names the distinct ones
        ids, rows = (flat.ids, flat.ids) if flat.names is None else (flat.names, [flat.names])
        ends = np.array([0, len(ids)])
        alone.append(Flat(flat.side, rows, ends, ends[1:]))
    encoded = encode(alone[0], alone[1], hashing=False)
    codes: list[Any] = [encoded[0].ids, encoded[1].ids]
    low = min(int(part.min(initial=0)) for part in codes)
    high = max(int(part.max(initial=0)) for part in codes)
    if low < 0 or high >= FREE:
        numbering = Numbering()
        codes = [numbering.number(part) for part in codes]
        high = len(numbering) - 1
    a_codes, b_codes = (
        np.asarray(part if flat.names is None else part[flat.ids], np.int64)
        for part, flat in zip(codes, (a, b), strict=True)
    )
    return a_codes, b_codes, high + 1
