"""Containers of ids and arrays, recognised by type; `Flat`: the lists of one side, in one array."""

from array import array as array_of
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain, compress, count, repeat
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from toplist import kernels, parallel
from toplist.checks import Floats, Ints, about, doubles
from toplist.inputs.factorize import Column, Numbering, written
from toplist.inputs.lists import Lists, offsets_of

T = TypeVar("T")


class RankedDict:
    """The items of a dict item -> score, best first: put in order only when they are asked for.

    The join looks relevant items up in `scores` instead. `places` are where the items stand in the
    dict, best first, as deep as they are read; `keys` are integers in the order of the scores, all
    of them, best first.
    """

    __slots__ = ("keys", "places", "scores")

    def __init__(self, scores: Mapping[Any, Any], places: Ints, keys: Ints) -> None:
        self.scores, self.places, self.keys = scores, places, keys

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
# Floats that numpy has no type for: float32 holds every one of them exactly.
_NARROW = ("bfloat16", "float8")


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
    def of(cls, groups: Sequence[Sequence[Any]]) -> "GroupedIds":
        """Return the ids of groups."""
        found = cls(chain.from_iterable(groups))
        numbers = chain.from_iterable(map(repeat, count(), map(len, groups)))
        found.numbers = array_of("i", numbers).tobytes()
        return found

    def without(self, padding: Any) -> "GroupedIds":
        """Return the ids without those that only fill an array."""
        kept = [one != padding for one in self]
        found = GroupedIds(compress(self, kept))
        found.numbers = array_of("i", compress(array_of("i", self.numbers), kept)).tobytes()
        return found


class GroupedRows:
    """What has `rows` of `GroupedIds`."""

    rows: Any


@dataclass(frozen=True, eq=False)
class Flat:
    """The lists of one side: user u's ids are the `lengths[u]` from `offsets[u]` on.

    `ids` is an array, or (before encoding) the rows as Python containers. `grades`, if any, has
    a place for each id. With `names`, the ids are codes of these; with `source`, they are hashes of
    the strings there. `scored` is known of lists that came with scores. If `grouped`, the grades
    are no grades, but the group of each id: a number that is the same for the ids of one group of
    a user. `users` are the keys of the users: a list, a `Column` of lists that were read from a
    table, or None where they are known by position. `column` is what a table calls its items.
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
    source: "Flat | None" = None
    column: str = "item_id"

    @classmethod
    def of(cls, side: str, users: Column, items: Column, offsets: Ints, **more: Any) -> "Flat":
        """Return the lists of a table: list i is ``items.codes[offsets[i]:offsets[i + 1]]``."""
        lists = items.codes, offsets, np.diff(offsets)
        return cls(side, *lists, names=items.names, users=users, column=items.name, **more)

    def under(self, users: Column, items: Column) -> "Flat":
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
            self.check_no_two((found := Numbering()).number(self.users.codes))
            return found

        return self.once(Numbering, numbered)

    def check_no_two(self, numbers: Ints) -> None:
        """Raise ValueError for a user with two lists; `numbers` are those of the users."""
        counts = np.bincount(numbers, minlength=1)
        if counts.max() > 1:
            first, second = np.flatnonzero(numbers == np.argmax(counts > 1))[:2].tolist()
            raise user_in_two_rows(self.side, self.users[first], first, second)

    def take(self, places: Ints) -> "Flat":
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

    def once(self, what: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` returns, computed once: many lists may meet the same truths."""
        known: dict[Hashable, T] = vars(self).setdefault("_known", {})
        return known[what] if what in known else known.setdefault(what, make())

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without what was computed once."""
        return {name: value for name, value in vars(self).items() if name != "_known"}

    def cut(self, depth: int) -> "Flat":
        """Keep the first `depth` ids of every list."""
        return replace(self, lengths=np.minimum(self.lengths, depth))

    def block(self, lo: int, hi: int) -> tuple[NDArray[Any], Ints, Ints]:
        """Return ids, offsets among all ids and lengths of the users ``lo..hi``, for kernels."""
        offsets = self.offsets[lo : hi + 1]
        ids = np.ascontiguousarray(self.ids[offsets[0] : offsets[-1]])
        return ids, offsets, self.lengths[lo:hi]

    def compact(self) -> Lists:
        """Return the lists without the gaps that padding left."""
        if self.lengths.sum() == len(self.ids):
            return Lists(self.offsets, self.ids, self.grades)
        offsets = offsets_of(self.lengths)
        kept = np.arange(offsets[-1]) + np.repeat(self.offsets[:-1] - offsets[:-1], self.lengths)
        return Lists(offsets, self.ids[kept], None if self.grades is None else self.grades[kept])

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

    def given(self, user: int) -> Any:
        """Return the container of ids that one user was given as, or a list of them."""
        if self.source is not None:
            return self.source.given(user)
        if not self.is_array:
            return self.ids[user]
        start = self.offsets[user]
        return written(self.ids[start : start + self.lengths[user]], self.names)

    def row(self, user: int) -> Sequence[Any]:
        """Return the ids of one user as a list of Python objects, as they were written."""
        return list(self.given(user))

    def name_user(self, user: int) -> str:
        """Name a user in a message: by key, or by position."""
        return name_user(self.users, user)

    def about(self, error: Exception, user: int, **more: Any) -> Any:
        """Return an error of one user with the side, the user's key or position, and more."""
        return about(error, side=self.side, user=user_of(self.users, user), **more)

    def user_at(self, place: Any) -> int:
        """Return the row of the user whose id is at a place of all ids."""
        return int(np.searchsorted(self.offsets, place, side="right")) - 1


def flatten(rows: Any, depth: int | None, side: str, padding: Any = None) -> Flat:
    """Put the rows of one side into one flat array, each list cut at `depth`.

    A set is rid of `padding` here, since it has no end to drop it from; and so are groups.
    """
    if isinstance(rows, np.ndarray) and rows.dtype == object:
        rows = [row if is_container(row) else [row] for row in rows]
    if isinstance(rows, (Lists, np.ndarray)):
        if isinstance(rows, Lists):
            items, offsets, gains = rows.items, rows.offsets, rows.gains
        else:
            items, gains = np.ascontiguousarray(rows).reshape(-1), None
            offsets = np.arange(len(rows) + 1, dtype=np.int64) * (len(items) // max(len(rows), 1))
        flat = Flat(side, items, offsets, np.diff(offsets), gains)
        return flat if depth is None else flat.cut(depth)
    if padding is not None:
        rows = [_without(padding, row) for row in rows]
    kinds = set(map(type, rows))
    is_known, known = is_container, tuple[type, ...](CONTAINERS)
    if side != "ranks":
        is_known, known = is_truth_container, (*CONTAINERS, set, frozenset, dict)
    if not all(issubclass(kind, known) for kind in kinds):
        for user, row in enumerate(rows):
            if not is_known(row):
                words = f"{side}: user {user} has {row!r} where a container of ids belongs"
                raise TypeError(words + swapped(row))
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    if depth is not None and (lengths > depth).any():
        rows = [row if len(row) <= depth else row[:depth] for row in rows]
        lengths = np.minimum(lengths, depth)
    offsets = offsets_of(lengths)
    if kinds == {np.ndarray}:
        filled = [row for row in rows if len(row)]  # numpy makes an empty list one of floats
        if len({row.dtype.kind for row in filled}) == 1:  # else 1 and True, or "1", would mix
            return Flat(side, np.concatenate(filled), offsets, lengths)
    if any(issubclass(kind, np.ndarray) for kind in kinds):
        rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]
    if GroupedIds in kinds:
        numbers = np.frombuffer(b"".join([row.numbers for row in rows]), np.int32)
        return Flat(side, rows, offsets, lengths, numbers.astype(np.float64), grouped=True)
    graded = any(issubclass(kind, Mapping) for kind in kinds)
    return Flat(side, rows, offsets, lengths, _grades_of(rows) if graded else None)


def _without(padding: Any, row: Any) -> Any:
    """Return a set or groups without padding; other rows unchanged."""
    if isinstance(row, GroupedIds):
        return row.without(padding)
    return row - {padding} if isinstance(row, (set, frozenset)) else row


def _grades_of(rows: Sequence[Any]) -> Floats:
    """Return the grades in ground truths that are dicts item -> grade, flat; sets grade 1."""
    values: Iterable[Any] = chain.from_iterable(
        row.values() if isinstance(row, (dict, Mapping)) else [1.0] * len(row) for row in rows
    )
    flat = list(values)
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


def swapped(row: Any) -> str:
    """Return a question to add to a message about a row that has no order."""
    return " (are the arguments swapped?)" if isinstance(row, (Set, Mapping)) else ""


def check_ranked(ranks: Mapping[Any, Any]) -> None:
    """Raise for a user whose ranked list has no order, or is no list."""
    if set(map(type, ranks.values())) <= {*CONTAINERS}:
        return
    for user, row in ranks.items():
        if not is_container(row):
            way = swapped(row)
            if isinstance(row, (float, np.number)):
                way = "; one user's scores by item enter as {user: {item: score}}, beside {user: "
                way += "relevant items}"
            kind = type(row).__name__
            raise TypeError(f"user {user!r}: the ranked list is a {kind}, not a list of ids{way}")


def name_user(users: Sequence[Any] | None, position: int) -> str:
    """Name a user in a message: by key, or by position."""
    return f"user {position}" if users is None else f"user {users[position]!r}"


def user_of(users: Sequence[Any] | None, position: int) -> Any:
    """Return a user's key, or the position."""
    return position if users is None else users[position]


def user_in_two_rows(side: str, user: Any, first: int, second: int) -> ValueError:
    """Return the error of a user with two lists."""
    error = ValueError(
        f"{side}: user {user!r} is in rows {first} and {second}: a user has one list"
    )
    return about(error, side=side, user=user)


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


def is_tensor(value: Any) -> bool:
    """Whether a value is an array of another library, on this or another device."""
    if isinstance(value, (np.ndarray, np.generic)):
        return False
    return hasattr(value, "__dlpack__") or hasattr(value, "__array__")


def is_row(value: Any) -> bool:
    """Whether a value is an array of numbers, of any library, not a single one."""
    is_array = isinstance(value, np.ndarray) or is_tensor(value)
    return is_array and len(getattr(value, "shape", ())) > 0


def array(tensor: Any) -> Any:
    """Return a tensor as a numpy array, a view if it is in the host's memory; others unchanged.

    Floats of 8 or 16 bits that numpy has no type for (bfloat16) become float32.
    """
    if not is_tensor(tensor):
        return tensor
    if hasattr(tensor, "to_numpy"):  # a pandas Series or Index
        return tensor.to_numpy()
    if hasattr(tensor, "detach"):  # torch: numbers without their gradients
        tensor = tensor.detach()
    for copying in ("cpu", "get"):  # torch; cupy
        if hasattr(tensor, copying):
            tensor = getattr(tensor, copying)()
            break
    if hasattr(tensor, "float") and _is_narrow(getattr(tensor, "dtype", "")):  # torch
        tensor = tensor.float()
    found = np.asarray(tensor) if hasattr(tensor, "__array__") else np.from_dlpack(tensor)
    return found.astype(np.float32) if _is_narrow(found.dtype) else found  # JAX, TensorFlow


def _is_narrow(dtype: Any) -> bool:
    """Whether a type of numbers is one of `_NARROW`, by whatever library."""
    return str(dtype).removeprefix("torch.").startswith(_NARROW)
