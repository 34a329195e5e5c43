"""`Lists` and `Flat`: lists of many users in one array, as they are given and as they are joined.

Containers of ids and arrays are recognised by type.
"""

from __future__ import annotations

from array import array as array_of
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain, compress, count, repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toplist import kernels, parallel
from toplist.checks import Bools, Floats, Ints, Once, about, doubles, no_mask
from toplist.inputs.factorize import Column, Numbering, written


class RankedDict:
    """The items of a dict item -> score, best first: put in order only when they are asked for.

    The join looks relevant items up in `scores` instead. `places` are where the items stand in the
    dict, best first, as deep as they are read; `keys` are integers in the order of the scores, all
    of them, best first, with scores as `ties` holds them.
    """

    __slots__ = ("keys", "places", "scores", "ties")

    def __init__(
        self, scores: Mapping[Any, Any], places: Ints, keys: Ints, ties: str = "order"
    ) -> None:
        self.scores, self.places, self.keys, self.ties = scores, places, keys, ties

    def __len__(self) -> int:
        """Return how many items are read."""
        return len(self.places)

    def __getitem__(self, place: Any) -> Any:
        """Return an item, or some, in order."""
        return list(self)[place]

    def __iter__(self) -> Iterator[Any]:
        """Return the items in order."""
        return map([*self.scores].__getitem__, self.places.tolist())


CONTAINERS = (list, tuple, range, RankedDict)
# The usual ones first: to ask an abstract class takes five times as long.
KEYED = (dict, set, frozenset, Set, Mapping)
# Ids that a thread copies at a time.
COPIED = 1 << 18


@dataclass(frozen=True, eq=False)
class Lists:
    """Lists of ids of many users: user u's ids are ``items[offsets[u]:offsets[u + 1]]``.

    For ranked lists (best first) and ground truths alike; no Python object per id is needed.

    Parameters
    ----------
    offsets : (n_users + 1,) integers
        Where each list starts; begins with 0, never falls, ends with ``len(items)``.
    items : (n_ids,) array
        The ids, one list after another: integers of any width, or strings.
    gains : (n_ids,) floats, optional
        Grades of the ids (ground truths only).

    Raises
    ------
    ValueError
        If the offsets do not describe `items`, or `gains` has another length.

    Examples
    --------
    >>> lists = Lists([0, 3, 3, 5], [5, 7, 8, 4, 6])
    >>> len(lists), lists[0].tolist(), lists[1].tolist()
    (3, [5, 7, 8], [])
    """

    offsets: Ints
    items: NDArray[Any]
    gains: Floats | None = None

    def __post_init__(self) -> None:
        """Check and normalise the arrays."""
        for name in ("offsets", "items", "gains"):
            no_mask(getattr(self, name), f"Lists: {name}", "leave out what is masked")
        offsets, items = np.asarray(self.offsets), np.asarray(self.items)
        if items.size and items.dtype.kind in "fbc":
            raise TypeError(f"Lists: items are {items.dtype}: ids are integers or strings")
        if not isinstance(self.items, np.ndarray) and items.ndim == 1:
            kinds = set(map(type, self.items))
            if bool in kinds or (str in kinds and len(kinds) > 1):  # numpy has made them alike
                names = ", ".join(sorted(kind.__name__ for kind in kinds))
                raise TypeError(f"Lists: items are of several kinds, {names}: ids are of one")
        if offsets.ndim != 1 or items.ndim != 1 or offsets.dtype.kind not in "iu":
            raise ValueError("Lists: offsets must be a 1-D array of integers, items a 1-D array")
        if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(items):
            raise ValueError(
                f"Lists: offsets must begin with 0 and end with len(items) = {len(items)}"
            )
        falls = np.flatnonzero(offsets[1:] < offsets[:-1])
        if len(falls):
            raise ValueError(f"Lists: offsets fall after position {falls[0]}")
        if self.gains is not None and np.shape(self.gains) != items.shape:
            raise ValueError(f"Lists: {np.size(self.gains)} gains for {len(items)} items")
        set_ = object.__setattr__  # frozen: normalised once, here
        set_(self, "offsets", np.ascontiguousarray(offsets, np.int64))
        set_(self, "items", np.ascontiguousarray(items))
        if self.gains is not None:
            set_(self, "gains", np.ascontiguousarray(doubles(self.gains)))

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self.offsets) - 1

    def __getitem__(self, user: int) -> NDArray[Any]:
        """Return the ids of the user at position `user`."""
        if not -len(self) <= user < len(self):
            raise IndexError(f"user {user} of {len(self)}")
        user %= len(self)
        return self.items[self.offsets[user] : self.offsets[user + 1]]

    def block(self, lo: int, hi: int) -> tuple[NDArray[Any], Ints, NDArray[Any]]:
        """Return items, offsets and gains of the users ``lo..hi``, as kernels take them.

        The offsets are those among all items; the gains are empty where there are none.
        """
        offsets = self.offsets[lo : hi + 1]
        part = slice(offsets[0], offsets[-1])
        return self.items[part], offsets, np.empty(0) if self.gains is None else self.gains[part]

    def __repr__(self) -> str:
        """Return the sizes."""
        return f"Lists({len(self):,} users, {len(self.items):,} ids of {self.items.dtype})"

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Lists:
        """Return, per row, the columns whose entry is not zero, with the entries as grades.

        Parameters
        ----------
        matrix : (n_users, n_items) array or sparse matrix
            Relevance of every item to every user: 0/1, bool, or grades. A sparse matrix (scipy's,
            of any format) is never made dense; an item that is stored as 0 is not relevant. One
            below 0 was judged, and is not relevant either.

        Returns
        -------
        Lists
            Item ids are column numbers; `gains` is None when every entry is 0 or 1.

        Raises
        ------
        ValueError
            For an array that is not 2-D, or an entry that is NaN or infinite.

        Examples
        --------
        >>> truth = Lists.from_matrix([[0, 0, 1, 1], [0, 2, 0, 0]])
        >>> truth[0].tolist(), truth[1].tolist(), truth.gains.tolist()
        ([2, 3], [1], [1.0, 1.0, 2.0])
        """
        sparse = hasattr(matrix, "tocsr")
        entries: Any = matrix.tocsr() if sparse else np.asarray(matrix)  # type: ignore[union-attr]
        if entries.ndim != 2 or entries.dtype.kind not in "biuf":
            raise ValueError(
                "Lists.from_matrix: a 2-D array of numbers is needed (users x items), "
                f"not {entries.ndim}-D of {entries.dtype}"
            )
        n_users = entries.shape[0]
        if sparse:
            if not entries.has_canonical_format:  # an entry stored twice is the sum of both
                entries = entries.copy()  # not the caller's
                entries.sum_duplicates()
            stored = entries.data != 0
            users = np.repeat(np.arange(n_users), np.diff(entries.indptr))[stored]
            items, values = entries.indices[stored], entries.data[stored]
        else:
            users, items = np.nonzero(entries)
            values = entries[users, items]
        gains = values.astype(np.float64)
        bad = np.flatnonzero(~np.isfinite(gains))
        if len(bad):
            raise ValueError(
                f"Lists.from_matrix: entry {gains[bad[0]]:g} of user {users[bad[0]]}, item "
                f"{items[bad[0]]}: a grade is finite"
            )
        offsets = offsets_of(np.bincount(users, minlength=n_users))
        return cls(offsets, items.astype(np.int64), None if np.all(gains == 1) else gains)


def offsets_of(counts: Sequence[int] | NDArray[Any]) -> Ints:
    """Return where each user's part starts, given the sizes of the parts."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, dtype=np.int64, out=offsets[1:])
    return offsets


def places_of(offsets: Ints, rows: Ints) -> Ints:
    """Return the places of the values of some rows, one row after another.

    Examples
    --------
    >>> places_of(np.array([0, 2, 5]), np.array([1, 0])).tolist()
    [2, 3, 4, 0, 1]
    """
    sizes = np.diff(offsets)[rows]
    starts = np.repeat(offsets[rows] - offsets_of(sizes)[:-1], sizes)
    places: Ints = starts + np.arange(len(starts))
    return places


class Scored(NamedTuple):
    """Of lists with scores: how many items share theirs with another of the list, and how many are.

    Examples
    --------
    >>> Scored(2, 10) + Scored(0, 5)
    Scored(tied=2, listed=15)
    """

    tied: int
    listed: int

    def __add__(self, other: Any) -> Any:
        """Return the numbers of both."""
        return Scored(self.tied + other.tied, self.listed + other.listed)


class GroupedIds(tuple[Any, ...]):
    """The relevant ids of one user by group; `numbers` are the groups of the ids, as int32."""

    numbers: bytes

    @classmethod
    def of(cls, groups: Sequence[Sequence[Any]]) -> GroupedIds:
        """Return the ids of groups."""
        found = cls(chain.from_iterable(groups))
        numbers = chain.from_iterable(map(repeat, count(), map(len, groups)))
        found.numbers = array_of("i", numbers).tobytes()
        return found

    def without(self, padding: Any) -> GroupedIds:
        """Return the ids without those that only fill an array."""
        kept = [one != padding for one in self]
        found = GroupedIds(compress(self, kept))
        found.numbers = array_of("i", compress(array_of("i", self.numbers), kept)).tobytes()
        return found


@dataclass(frozen=True, eq=False)
class Flat(Once):
    """The lists of one side: user u's ids are the `lengths[u]` from `offsets[u]` on.

    `ids` is an array, or (before encoding) the rows as Python containers. `grades`, if any, has
    a place for each id. With `names`, the ids are codes of these; with `source`, they are hashes of
    the strings there. `scored` is known of lists that came with scores. If `grouped`, the grades
    are no grades, but the group of each id: a number that is the same for the ids of one group of
    a user. `users` are the keys of the users: a list, a `Column` of lists that were read from a
    table, or None where they are known by position. `column` is what a table calls its items.
    `distinct` says that no list can hold an id twice: dicts and sets.
    """

    side: str
    ids: Any
    offsets: Ints
    lengths: Ints
    grades: Floats | None = None
    names: Any = None
    scored: Scored | None = None
    grouped: bool = False
    users: Any = None
    source: Flat | None = None
    column: str = "item_id"
    distinct: bool = False

    @classmethod
    def of(cls, side: str, users: Column, items: Column, offsets: Ints, **more: Any) -> Flat:
        """Return the lists of a table: list i is ``items.codes[offsets[i]:offsets[i + 1]]``."""
        lists = items.codes, offsets, np.diff(offsets)
        return cls(side, *lists, names=items.names, users=users, column=items.name, **more)

    def under(self, users: Column, items: Column) -> Flat:
        """Return the same lists by other codes of users and items."""
        return replace(self, users=users, ids=items.codes, names=items.names)

    @property
    def items(self) -> Column:
        """The items of lists that are encoded, one list after another."""
        return Column(self.column, self.ids, self.names)

    @property
    def keys(self) -> list[Any]:
        """The users, as they were written."""
        return self.once("keys", lambda: list(self.users))

    @property
    def places(self) -> Numbering:
        """Where the list of each user is, by the code of the user; ValueError for two lists."""

        def numbered() -> Numbering:
            numbers = (found := Numbering()).number(self.users.codes)
            counts = np.bincount(numbers, minlength=1)
            if counts.max() > 1:
                first, second = np.flatnonzero(numbers == np.argmax(counts > 1))[:2].tolist()
                user = self.users[first]
                words = f"user {user!r} is in rows {first} and {second}: a user has one list"
                raise about(ValueError(f"{self.side}: {words}"), side=self.side, user=user)
            return found

        return self.once(Numbering, numbered)

    def take(self, places: Ints) -> Flat:
        """Return the lists at `places` (-1: an empty one); the users are unchanged."""
        starts, lengths = (np.append(one, 0)[places] for one in (self.offsets[:-1], self.lengths))
        offsets = offsets_of(lengths)
        ids = np.empty(offsets[-1], np.int64)
        grades = None if self.grades is None else np.empty(offsets[-1])

        def copy(lo: int, hi: int) -> None:
            where = starts[lo:hi], lengths[lo:hi], offsets[lo:hi]
            kernels.grouping.gather(*where, self.ids, ids)
            if grades is not None and self.grades is not None:
                kernels.grouping.gather(*where, self.grades.view(np.int64), grades.view(np.int64))

        parallel.each(copy, parallel.bounds(offsets, COPIED), None)
        return replace(self, ids=ids, offsets=offsets, lengths=lengths, grades=grades)

    def cut(self, depth: int) -> Flat:
        """Keep the first `depth` ids of every list."""
        return replace(self, lengths=np.minimum(self.lengths, depth))

    def block(self, lo: int, hi: int) -> tuple[NDArray[Any], Ints, Ints]:
        """Return ids, offsets among all ids and lengths of the users ``lo..hi``, for kernels."""
        offsets = self.offsets[lo : hi + 1]
        ids = np.ascontiguousarray(self.ids[offsets[0] : offsets[-1]])
        return ids, offsets, self.lengths[lo:hi]

    def graded_block(self, lo: int, hi: int) -> tuple[NDArray[Any], Ints, Floats]:
        """Return ids, offsets and grades of the users ``lo..hi``; no grades where there are none.

        The offsets are those among all ids.
        """
        ids, offsets, _ = self.block(lo, hi)
        part = slice(offsets[0], offsets[-1])
        return ids, offsets, np.empty(0) if self.grades is None else self.grades[part]

    def compact(self) -> Flat:
        """Return the lists without the gaps that padding left, by arrays of their own or the same.

        The object is a new one: what is known of these lists may hold it.
        """
        if self.lengths.sum() == len(self.ids):
            return replace(self)
        offsets = offsets_of(self.lengths)
        kept = np.arange(offsets[-1]) + np.repeat(self.offsets[:-1] - offsets[:-1], self.lengths)
        grades = None if self.grades is None else self.grades[kept]
        return replace(self, ids=self.ids[kept], offsets=offsets, grades=grades)

    def where(self, kept: Bools) -> Flat:
        """Return lists without gaps with some of their ids."""
        offsets = offsets_of(kept)[self.offsets]
        ids, grades = self.ids[kept], None if self.grades is None else self.grades[kept]
        return replace(self, ids=ids, offsets=offsets, lengths=np.diff(offsets), grades=grades)

    @property
    def rows(self) -> Iterable[Sequence[Any]]:
        """The ids as Python objects, user by user."""
        if self.source is not None:
            return self.source.rows
        return map(self.row, range(len(self.lengths))) if self.is_array else self.ids

    @property
    def is_array(self) -> bool:
        """Whether the ids are in an array, not in rows of Python's."""
        return isinstance(self.ids, np.ndarray)

    def row(self, user: int) -> list[Any]:
        """Return the ids of one user as a list of Python objects, as they were written."""
        if self.source is not None:
            return self.source.row(user)
        if not self.is_array:
            return list(self.ids[user])
        start = self.offsets[user]
        return written(self.ids[start : start + self.lengths[user]], self.names)

    def name_user(self, user: int) -> str:
        """Name a user in a message: by key, or by position."""
        return name_user(self.users, user)

    def about(self, error: Exception, user: int, **more: Any) -> Any:
        """Return an error of one user with the side, the user's key or position, and more."""
        key = user if self.users is None else self.users[user]
        return about(error, side=self.side, user=key, **more)

    def user_at(self, place: Any) -> int:
        """Return the row of the user whose id is at a place of all ids."""
        return int(np.searchsorted(self.offsets, place, side="right")) - 1


def flatten(
    rows: Any, depth: int | None, side: str, padding: Any = None, users: Sequence[Any] | None = None
) -> Flat:
    """Put the rows of one side into one flat array, each list cut at `depth`.

    A set is rid of `padding` here, since it has no end to drop it from; and so are groups. `users`
    are the keys of the rows.
    """
    if isinstance(rows, np.ndarray) and rows.dtype == object:
        rows = [row if is_container(row) else [row] for row in rows]
    if isinstance(rows, (Lists, np.ndarray)):
        if isinstance(rows, Lists):
            items, offsets, gains = rows.items, rows.offsets, rows.gains
        else:
            items, gains = np.ascontiguousarray(rows).reshape(-1), None
            offsets = np.arange(len(rows) + 1, dtype=np.int64) * (len(items) // max(len(rows), 1))
        flat = Flat(side, items, offsets, np.diff(offsets), gains, users=users)
        return flat if depth is None else flat.cut(depth)
    if padding is not None:
        sets = set, frozenset
        rows = [row - {padding} if isinstance(row, sets) else row for row in rows]
        rows = [row.without(padding) if isinstance(row, GroupedIds) else row for row in rows]
    kinds = set(map(type, rows))
    is_known, known = is_container, tuple[type, ...](CONTAINERS)
    if side != "ranks":
        is_known, known = is_truth_container, (*CONTAINERS, set, frozenset, dict)
    if not all(issubclass(kind, known) for kind in kinds):
        for user, row in enumerate(rows):
            if not is_known(row):
                way = " (are the arguments swapped?)" if isinstance(row, (Set, Mapping)) else ""
                if side == "ranks" and isinstance(row, (float, np.number)):
                    way = "; one user's scores by item enter as {user: {item: score}}, beside "
                    way += "{user: relevant items}"
                what = f"{name_user(users, user)} has {row!r:.80} where a list of ids belongs{way}"
                raise TypeError(f"{side}: {what}")
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    if depth is not None and (lengths > depth).any():
        rows = [row if len(row) <= depth else row[:depth] for row in rows]
        lengths = np.minimum(lengths, depth)
    ids, offsets, grades = rows, offsets_of(lengths), None
    filled = [row for row in rows if len(row)] if kinds == {np.ndarray} else []
    if len({row.dtype.kind for row in filled}) == 1:  # else 1 and True, or "1", would mix
        ids = np.concatenate(filled)  # without empty lists, which numpy makes ones of floats
    elif any(issubclass(kind, np.ndarray) for kind in kinds):
        ids = [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]
    if GroupedIds in kinds:
        numbers = np.frombuffer(b"".join([row.numbers for row in ids]), np.int32)
        grades = numbers.astype(np.float64)
    elif any(issubclass(kind, Mapping) for kind in kinds):
        grades = _grades_of(ids)
    flat = Flat(side, ids, offsets, lengths, grades, grouped=GroupedIds in kinds, users=users)
    distinct = all(issubclass(kind, (dict, set, frozenset)) for kind in kinds)
    return replace(flat, distinct=distinct)


def _grades_of(rows: Sequence[Any]) -> Floats:
    """Return the grades in ground truths that are dicts item -> grade, flat; sets grade 1."""
    values = (
        row.values() if isinstance(row, (dict, Mapping)) else [1.0] * len(row) for row in rows
    )
    flat = [*chain.from_iterable(values)]
    for kind in set(map(type, flat)):
        if not issubclass(kind, (int, float, Decimal, np.number, np.bool_)):
            example = next(value for value in flat if type(value) is kind)
            raise TypeError(f"ground_truths: grade {example!r} is a {kind.__name__}, not a number")
    return doubles(flat)


def is_frame(value: Any) -> bool:
    """Whether `value` is a table with named columns: of pandas, polars, Arrow or others like them.

    What has to be collected first (a lazy frame) is none.
    """
    if hasattr(value, "collect"):
        return False
    return hasattr(value, "columns") or hasattr(value, "column_names")


def is_stream(value: Any, of_part: bool = False) -> bool:
    """Whether `value` gives record batches that may be larger than memory, one after another.

    A table of any library is none: it knows its length. A relation of DuckDB counts its rows when
    it is asked, and so is one. With `of_part`, so is a table, whose rows are those of some users.
    A DataFrame of Spark is none: it is evaluated where it is.
    """
    library = type(value).__module__.partition(".")[0]
    if library == "pyspark" or not hasattr(value, "__arrow_c_stream__"):
        return False
    return of_part or library in ("duckdb", "_duckdb") or not hasattr(value, "__len__")


def of_column(column: Any) -> list[Any] | None:
    """Return a 1-D array, or a column of pandas, polars or pyarrow, as a list; None for others."""
    for method in ("tolist", "to_list", "to_pylist"):  # of numpy and pandas; polars; pyarrow
        if hasattr(column, method) and getattr(column, "ndim", 1) == 1:
            return list(getattr(column, method)())
    return None


def is_container(value: Any) -> bool:
    """Return whether a value holds ranked ids."""
    return isinstance(value, CONTAINERS) or (isinstance(value, np.ndarray) and value.ndim == 1)


def is_truth_container(value: Any) -> bool:
    """Return whether a value holds relevant ids."""
    return is_container(value) or isinstance(value, KEYED)


def in_containers(truths: Iterable[Any]) -> list[Any]:
    """Return the ground truths of users, a bare id in a list."""
    rows = [*truths]
    if set(map(type, rows)) <= {list, tuple, set, frozenset, dict}:
        return rows
    return [row if is_truth_container(row) else [row] for row in rows]


def name_user(users: Sequence[Any] | None, position: int) -> str:
    """Name a user in a message: by key, or by position."""
    return f"user {position}" if users is None else f"user {users[position]!r}"


def first_repeat(values: Iterable[Any]) -> tuple[int, int] | None:
    """Return the two places of the first value that is there twice; None if there is none.

    Examples
    --------
    >>> first_repeat(["b", "a", "c", "a", "b"])
    (1, 3)
    """
    first: dict[Any, int] = {}
    for place, value in enumerate(values):
        if first.setdefault(value, place) != place:
            return first[value], place
    return None


def item_twice(user: str, item: Any, first: int, second: int, fills: bool) -> ValueError:
    """Return the error of a ranked list with an item at two ranks.

    `fills` says that the list holds nothing else from the first rank on: the item is padding.
    """
    hint = f" (if it fills up the list: padding={item!r})" if fills else ""
    return ValueError(
        f"{user} has item {item!r} at ranks {first} and {second}: "
        "a ranked list holds an item once; duplicates='first' counts the first place and ignores "
        f"the others{hint}"
    )


def described(value: Any) -> str:
    """Return what a value is, in an error."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.ndim} dimensions"
    named = isinstance(value, Lists)
    return f"Lists of {len(value)} users" if named else f"a {type(value).__name__}"
