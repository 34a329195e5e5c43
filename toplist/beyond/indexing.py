"""Ranked lists without a ground truth, their items numbered once: the input of `toplist.beyond`.

The lists enter in every form that `toplist.match` takes for ranks. What is known of items has ids
of its own, an `Index`: where each distinct item is among these is looked up once, however many
lists hold it. A place that does not count has a number below 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from toplist import kernels, parallel
from toplist.checks import Ints, Once, check_positive_int, no_mask, prefixed
from toplist.inputs import columns as cols
from toplist.inputs.factorize import Numbering, numbered, written
from toplist.inputs.forms import read_ranks, side_to_builtin, truths_of_many
from toplist.inputs.ids import alone, encode, shaped, unpadded
from toplist.inputs.keyed import CountedItems
from toplist.inputs.lists import (
    CONTAINERS,
    Flat,
    Lists,
    flatten,
    in_containers,
    is_frame,
    item_twice,
)
from toplist.inputs.options import Joining, Reading, columns_of, named_in
from toplist.inputs.tables import SideTable, read
from toplist.inputs.texts import Texts
from toplist.matching.hits import Hits

# Items of a catalogue that cost nothing to speak of, however few are listed: tables of 12 MB.
FREE = 1 << 20


def numbers_of(flat: Flat) -> tuple[Ints, Any]:
    """Return the number of each id of a side without gaps, and the distinct ids by number.

    Integers that are few apart are their own numbers, a range.
    """
    ids = np.asarray(flat.ids, np.int64)
    if flat.names is not None:
        return ids, flat.names
    size = int(ids.max(initial=-1)) + 1
    if ids.min(initial=0) >= 0 and size <= FREE + 2 * len(ids):
        return ids, range(size)
    return numbered(ids)


@dataclass(frozen=True, eq=False)
class Index:
    """The ids that something is known of; the place of an id is its index.

    `name` is the keyword that gave them. `unknown` is the index of any other id: -1 leaves it out,
    ``len(ids)`` is an item of its own with its own value; None refuses it, and `way_out` says what
    else to do. `kept` has what is made of the ids once, for all parts of the lists. Of a range,
    which may hold more ids than were given, `shown` is one of these.
    """

    ids: Any
    name: str = "catalogue"
    unknown: int | None = None
    way_out: str = "unknown='skip' leaves such places out"
    kept: dict[str, Any] = field(default_factory=dict)
    shown: int = 0

    @property
    def key(self) -> tuple[Any, ...]:
        """What is equal where lists become the same indices."""
        return self.name, len(self.ids), self.unknown

    def coded(self, lists: Listed) -> Listed:
        """Return lists as indices of the items; see `indices`."""
        size = len(self.ids)
        if lists.padding is not None and size and lists.padding in self.ids:
            raise ValueError(f"{self.name} holds the padding id {lists.padding!r}")
        whole = lists.whole and not lists.single
        codes = self.indices(lists.codes, lists.ids, lists.flat, whole)
        return replace(lists, codes=codes, n_items=size)

    def places(self, ids: Any, flat: Flat) -> Ints:
        """Return the place of each of the distinct ids of a side, -1 for one that is not there.

        Raises
        ------
        TypeError
            For ids of another kind.
        """
        if not isinstance(ids, Texts):
            return self._places(ids, flat)
        texts, known = self.kept.get("texts", (ids, np.empty(0, np.int64)))
        if texts is not ids:
            known = np.empty(0, np.int64)
        known = np.concatenate([known, self._places(ids[len(known) :], flat, shared=True)])
        self.kept["texts"] = ids, known  # which grow with the parts of a file
        return known

    def _places(self, ids: Any, flat: Flat, shared: bool = False) -> Ints:
        dense, n = isinstance(ids, range), len(self.ids)
        ids, own = np.arange(len(ids)) if dense else ids, self.ids
        if isinstance(own, range):
            if isinstance(ids, np.ndarray):
                return np.where((ids >= 0) & (ids < n), ids, -1)
            own = np.arange(self.shown, min(n, self.shown + 1))  # to show in a message
        if "ids" not in self.kept:
            self.kept["ids"] = _in_one_row(own, self.name)
        if dense or shared:  # not each of these is there: an error shows one that is
            shown = written(flat.ids[:1], flat.names)
            encode(_in_one_row(shown, flat.side), self.kept["ids"], False)
        found, known = encode(_in_one_row(ids, flat.side), self.kept["ids"], hashing=False)
        places = known.once(Numbering, partial(_numbering_of, known.ids)).find(found.ids)
        return np.where((places >= 0) & (places < n), places, -1)

    def indices(self, numbers: Ints, ids: Any, flat: Flat, whole: bool = True) -> Ints:
        """Return the index of the item at every place of some lists.

        Parameters
        ----------
        numbers, ids
            The number of the item at each place, -1 where it does not count; the items by number.
        whole : bool
            Whether these are all lists, of several users, so that one of their items is known.

        Raises
        ------
        TypeError
            For ids of another kind.
        ValueError
            For an unknown item that is refused, and where no item is known and all are left out.
        """
        places = self.places(ids, flat)
        codes = placed(places, numbers)
        if codes is numbers:
            return codes
        lost = np.flatnonzero((codes < 0) & (numbers >= 0))
        if len(lost) and self.unknown is None:
            user = flat.user_at(lost[0])
            place, who = lost[0] - flat.offsets[user], flat.name_user(user)
            item = flat.row(user)[place]
            what = f"{flat.side}: {who} has item {item!r}"
            if flat.side == "ranks":
                what = f"{who} lists item {item!r} at rank {place + 1}"
            raise ValueError(
                f"{what}, which is not in {self.name} ({len(lost):,} such places); {self.way_out}"
            )
        codes[lost] = -1 if self.unknown is None else self.unknown
        if whole and self.unknown == -1 and len(lost) and codes.max(initial=-1) < 0:
            item = written(flat.ids[:1], flat.names)[0]
            there = f"it has {np.array(self.ids[:1], object)[0]!r}, " if len(self.ids) else ""
            raise ValueError(
                f"no item of {flat.side} is in {self.name}: {there}{flat.side} has {item!r}"
            )
        return codes


def _in_one_row(ids: Any, side: str) -> Flat:
    """Return distinct ids as those of one user."""
    rows = ids if isinstance(ids, np.ndarray) else [ids]
    return Flat(side, rows, np.array([0, len(ids)]), np.array([len(ids)]))


def _numbering_of(ids: Ints) -> Numbering:
    """Return the numbers of distinct ids."""
    numbering = Numbering()
    numbering.number(ids)
    return numbering


@dataclass(frozen=True, eq=False)
class Listed:
    """Lists of many users as numbers of `n_items` items; one below 0 does not count.

    The codes of `flat`, place by place, are `codes`, its first `depth` ranks count, and `ids` are
    its items by number. `single` says that one user was given bare, `whole` that these are all
    lists, not a part. `hits` are those of the ground truth, for what reads it. Of a catalogue far
    larger than the lists, items keep their numbers, and `places` are their places in it.
    """

    codes: Ints
    ids: Any
    flat: Flat
    n_items: int
    depth: int
    single: bool = False
    padding: Any = None
    places: Ints | None = None
    n_threads: int | None = None
    hits: Hits | None = None
    whole: bool = True

    @classmethod
    def of(cls, ranks: Any, k: int | None, how: Reading, side: str = "ranks") -> Listed:
        """Read ranked lists in any form; `Listed` are returned unchanged.

        Of repeats the first place counts. `side` is what they are called in messages.

        Raises
        ------
        TypeError
            For forms and ids that are not accepted.
        ValueError
            For a bad `k`, an id twice in a list, where that is refused, and misplaced padding.
        """
        if isinstance(ranks, cls):
            return ranks
        for word in [one for one in how if one not in Reading.__annotations__]:
            known = ", ".join(Reading.__annotations__)
            raise TypeError(f"no keyword is named {word!r}: lists are read by {known}")
        k = None if k is None else check_positive_int(k, "k")
        if isinstance(ranks, Hits):
            raise TypeError("ranks is a Hits, which holds no ids: give the ranked lists themselves")
        joining = Joining(**how)
        padding, mapped = joining.padding, joining.items_as is not None
        flat, single = read_ranks(ranks, joining.depth(k), joining.columns, padding)
        flat = replace(alone(flat), side=side)
        if mapped:
            from toplist.inputs.facts import ItemMap  # few need it: imports stay quick

            flat = ItemMap.of(joining.items_as).mapped(flat, padding)
        flat = shaped(flat, k, joining).compact()
        codes, ids = numbers_of(flat)
        depth = int(flat.lengths.max(initial=0)) if k is None else k
        padding = None if mapped or joining.collapses else padding
        lists = cls(
            *(codes, ids, flat, len(ids), depth, single, padding), n_threads=joining.n_threads
        )
        return lists._once(joining.repeats)

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self.flat.lengths)

    @property
    def users(self) -> Any:
        """The keys of keyed inputs, else None."""
        return self.flat.users

    def block(self, lo: int, hi: int) -> tuple[Ints, Ints, Ints]:
        """Return codes, offsets and lengths of the users ``lo..hi``, as kernels take them."""
        offsets = self.flat.offsets[lo : hi + 1]
        return self.codes[offsets[0] : offsets[-1]], offsets, self.flat.lengths[lo:hi]

    def cut(self, k: int) -> Listed:
        """Return the first k places of every list."""
        return replace(self, flat=self.flat.cut(k), depth=k)

    def blocks(self, function: Any) -> list[Any]:
        """Return what a function of (first, last) returns of each block of users."""
        return list(parallel.run(function, parallel.bounds(self.flat.offsets), self.n_threads))

    def _once(self, repeats: str) -> Listed:
        """Return the lists with -1 in place of repeats; raise where these are refused."""

        def holds_twice(lo: int, hi: int) -> bool:
            last = np.full(self.n_items, -1, np.int32)
            return bool(kernels.grouping.holds_twice(*self.block(lo, hi), last))

        if not any(self.blocks(holds_twice)):
            return self
        order, again = kernels.hashing.order_of_rows(self.codes, self.flat.offsets)
        places = np.sort(order[again])
        if repeats == "raise":
            user = self.flat.user_at(places[0])
            row, start = self.flat.row(user), self.flat.offsets[user]
            codes, place = self.codes[start : start + len(row)], places[0] - start
            first = int(np.flatnonzero(codes == codes[place])[0])
            fills = bool((codes[first:] == codes[first]).all())
            who = self.flat.name_user(user)
            raise item_twice(who, row[place], first + 1, int(place) + 1, fills)
        codes = self.codes.copy()
        codes[places] = -1
        return replace(self, codes=codes)

    def of_catalogue(self, index: Index | None) -> Listed:
        """Return the lists as indices of a catalogue; without one, of their items as they appear.

        Of one far larger than the lists, items keep their numbers, beside their `places` in it.
        """
        if index is None:
            some = self.codes >= 0
            codes, known = numbered(self.codes if some.all() else self.codes[some])
            if len(codes) < len(some):
                codes, counted = np.full(len(some), -1), codes
                codes[some] = counted
            return replace(self, codes=codes, n_items=len(known))
        found = index.coded(self)
        if found.n_items <= FREE + 2 * len(found.codes):
            return found
        codes = np.where(found.codes < 0, -1, self.codes)
        return replace(self, codes=codes, places=index.places(self.ids, self.flat))


def together(a: Listed, b: Listed) -> tuple[Listed, Listed]:
    """Return two sets of lists with one number for each item that either holds.

    Raises
    ------
    TypeError
        For ids of two kinds.
    """
    n = len(a.ids)
    one, other = (
        _in_one_row(written(side.flat.ids[:1], side.flat.names), side.flat.side) for side in (a, b)
    )
    encode(one, other, hashing=False)  # for an error that shows ids that are there
    places = Index(a.ids, a.flat.side).places(b.ids, b.flat)
    only_b = np.flatnonzero(places < 0)
    places[only_b] = n + np.arange(len(only_b))
    n_items = n + len(only_b)
    return replace(a, n_items=n_items), replace(b, codes=placed(places, b.codes), n_items=n_items)


def placed(places: Ints, codes: Ints) -> Ints:
    """Return the place of each code, -1 for -1; the codes themselves where each is its place."""
    if np.array_equal(places, np.arange(len(places))):
        return codes
    return np.append(places, -1)[codes]


@dataclass(frozen=True, eq=False)
class UserItems(Once):
    """Items of each user, by key or by position, or one set of items for everyone.

    Attributes
    ----------
    name : str
        The keyword that gave them, for messages.
    flat : Flat
        The items as integers or codes, without padding; an item counts as often as it is there.
    everyone : bool
        Whether the only row is for every user.
    """

    name: str
    flat: Flat
    everyone: bool = False

    @classmethod
    def of(cls, given: Any, name: str, how: Reading, single: bool = False) -> UserItems:
        """Read items of users in the forms of ground truths.

        `single` says that they are beside the list of one bare user.

        Raises
        ------
        TypeError, ValueError
            For other forms, and ids that are none.

        Examples
        --------
        >>> UserItems.of({"ann": ["a", "b", "a"], "bob": "b"}, "history", {}).flat.lengths.tolist()
        [3, 1]
        """
        if isinstance(given, cls):
            return given
        no_mask(given, name)
        everyone = isinstance(given, (set, frozenset))
        try:
            flat = _flat_of([given] if everyone else given, name, how, single)
            flat = unpadded(alone(flat), how.get("padding")).compact()
            if flat.grades is not None:  # below and at 0: judged, not liked
                flat = replace(flat.where(flat.grades > 0), grades=None)
            if how.get("items_as") is not None:
                from toplist.inputs.facts import ItemMap  # few need it: imports stay quick

                flat = ItemMap.of(how["items_as"]).mapped(flat, repeats=True)
        except (TypeError, ValueError) as error:
            raise error if str(error).startswith(name) else prefixed(f"{name}: ", error) from None
        return cls(name, flat, everyone)

    def rows(self, users: Any, n: int, whole: bool = True) -> Ints:
        """Return the row of each of n users of lists, as `rows_by_user`; the one for everyone."""
        if self.everyone:
            return np.zeros(n, np.int64)
        return rows_by_user(self.flat, "ranks", users, n, whole)


def rows_by_user(given: Flat, side: str, users: Any, n: int, whole: bool = True) -> Ints:
    """Return the given row of each of n users of a side (None: by position), -1 without one.

    `whole` says that these are all users, so that one of them should have a row.

    Raises
    ------
    TypeError
        If one of both is by key and the other by position.
    ValueError
        For another number of users by position, or none in common.
    """
    own = given.users
    if (own is None) != (users is None):
        keyed, other = (side, given.side) if own is None else (given.side, side)
        raise TypeError(
            f"{keyed} is keyed by user, {other} is by position: give both as dicts (or tables), "
            f"such as {other}=dict(zip(USERS, {other})), or both by position"
        )
    if users is None:
        if len(given.lengths) != n:
            raise ValueError(
                f"{side} has {n:,} lists, {given.side} has {len(given.lengths):,}: lists by "
                "position belong to the same users in the same order; give dicts user -> list to "
                "match by key"
            )
        return np.arange(n)
    places = given.once("rows", lambda: {user: row for row, user in enumerate(own)})
    found = np.array([places.get(user, -1) for user in users], np.int64)
    if whole and n and own and not (found >= 0).any():
        alike = type(own[0]) is type(users[0])
        hint = "" if alike else " (a number and its text are two keys)"
        raise ValueError(
            f"no user is in both: {side} has {users[0]!r}, {given.side} has {own[0]!r}{hint}"
        )
    return found


def _flat_of(given: Any, name: str, how: Reading, single: bool) -> Flat:
    """Return the items of users, flat."""
    value, padding = side_to_builtin(given, "ground_truths"), how.get("padding")
    if is_frame(value):
        frame = cols.readable(value)
        names = columns_of(how.get("columns"), "ground_truths")
        names = named_in(names, cols.names_of(frame), "ground_truths")
        lists = read(SideTable(frame, name, names, order="file"))
        return replace(lists, users=lists.keys)
    if isinstance(value, Mapping):
        rows = in_containers(value.values())
        users = None if isinstance(value, CountedItems) else list(value)
        return flatten(rows, None, name, padding, users)
    if not isinstance(value, (Lists, np.ndarray, *CONTAINERS)):
        raise TypeError(
            f"{name} is a {type(given).__name__}: give a dict user -> items, a table of user_id "
            "and item_id, or a list of items for each list by position"
        )
    rows = truths_of_many(value)
    if single and rows is not value and all(map(len, rows)):  # bare ids, of one user then
        rows = [value]
    return flatten(rows, None, name, padding)
