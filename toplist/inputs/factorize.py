"""Integers as codes: their numbers 0, 1, ... in order of appearance, runs of equal ones, `Column`.

Integers are numbered by a hash table (`Numbering`), text by its bytes (`toplist.inputs.texts`).
`Column` is a column of ids as integers, or as codes and the distinct values they refer to. Equal
rows are together in a table that is sorted by user.

Scores and ids become numbers that order alike: no score is rounded, and ties are broken by item.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from toplist import kernels, parallel
from toplist.checks import Ints, doubles

Key = TypeVar("Key", bound=Hashable)

# Integers that are numbered at a time, so that the table grows with the distinct ones.
CHUNK = 1 << 16
FIRST = 1 << 16  # rows that are looked at before all are
BLOCK = 1 << 20  # rows that a thread compares at a time: 2^18 took 5 ms more for 10,000,000 rows
EXACT = 2**53  # doubles hold every integer up to here
_TOP = np.uint64(1 << 63)
_BELOW = np.int64(2**63 - 1)


def blocks(n: int, size: int = BLOCK) -> list[tuple[int, int]]:
    """Return the first row of each block of `n` rows, and the row after its last."""
    return [(lo, min(lo + size, n)) for lo in range(0, n, size)]


def in_runs(codes: NDArray[Any]) -> bool:
    """Return whether equal integers seem to be together, in runs of two or more."""
    first = codes[:FIRST]
    return bool(2 * np.count_nonzero(first[1:] != first[:-1]) <= len(first))


def starts_of_runs(codes: NDArray[Any]) -> Ints:
    """Return where each run of equal integers begins.

    Examples
    --------
    >>> starts_of_runs(np.array([7, 7, 5, 7])).tolist()
    [0, 2, 3]
    """

    def find(lo: int, hi: int, out: Ints) -> int:
        return int(kernels.grouping.starts_of_runs(codes[lo:hi], lo, out))

    return starts_by(find, len(codes))


def starts_by(find: Callable[[int, int, Ints], int], n: int, size: int = BLOCK) -> Ints:
    """Return where each run of `n` rows begins.

    ``find(lo, hi, out)`` writes the rows from ``lo + 1`` to ``hi - 1`` that differ from the row
    before, and returns how many these are.
    """
    out = np.empty(n, np.int64)  # its pages are only used where runs begin

    def found(lo: int, hi: int) -> Ints:
        return out[lo : lo + find(max(lo - 1, 0), hi, out[lo:hi])]

    parts = list(parallel.run(found, blocks(n, size), None))
    return np.concatenate([np.zeros(min(n, 1), np.int64), *parts])


class Numbering:
    """Integers as numbers 0, 1, ... in order of appearance.

    The table grows with the distinct integers, not with all that are looked up: one for all ids
    of the benchmark would take 268 MB, and a cache miss per id. Where integers were chosen to share
    places of the table, which would take quadratic time, a dictionary takes its place.

    Examples
    --------
    >>> numbering = Numbering()
    >>> numbering.number(np.array([7, 5, 7])).tolist(), numbering.find(np.array([5, 6])).tolist()
    ([0, 1, 0], [1, -1])
    >>> numbering.codes.tolist()
    [7, 5]
    """

    def __init__(self) -> None:
        self._codes = np.empty(2 * CHUNK, np.int64)
        self._table = _empty_table(2 * CHUNK)
        self._n = 0
        self._slow: dict[int, int] | None = None  # in place of the table

    def __len__(self) -> int:
        """Return how many distinct integers there are."""
        return self._n

    @property
    def codes(self) -> Ints:
        """The distinct integers, by number."""
        return self._codes[: self._n]

    def number(self, codes: NDArray[Any]) -> Ints:
        """Return the number of each integer; new ones follow the last.

        What the first integers do not settle is looked up on all cores first.
        """
        if len(codes) <= 4 * CHUNK:
            return self._number(codes)
        numbers = np.concatenate([self._number(codes[:CHUNK]), self.find(codes[CHUNK:])])
        new = np.flatnonzero(numbers < 0)
        if len(new):
            numbers[new] = self._number(codes[new])
        return numbers

    def _number(self, codes: NDArray[Any]) -> Ints:
        """Return the number of each integer, in one thread."""
        numbers = np.empty(len(codes), np.int64)
        for lo, hi in blocks(len(codes), CHUNK):
            part = codes[lo:hi]
            self._grow(self._n + hi - lo)
            n = -1
            if self._slow is None:
                known = self._table, self._codes, self._n
                n = kernels.grouping.number(part, *known, numbers[lo:hi])
            if n < 0:
                keys = part.astype(np.int64, copy=False).tolist()
                numbers[lo:hi], new = numbered_by(self._places(), keys)
                n = self._n + len(new)
                self._codes[self._n : n] = part[new]
            self._n = n
        return numbers

    def find(self, codes: NDArray[Any]) -> Ints:
        """Return the number of each integer, -1 for those that have none."""
        numbers = np.empty(len(codes), np.int64)

        def find(lo: int, hi: int) -> bool:
            known = self._table, self._codes
            return bool(kernels.grouping.find(codes[lo:hi], *known, numbers[lo:hi]))

        if self._slow is not None or False in list(parallel.run(find, blocks(len(codes)), None)):
            places = self._places()
            for lo, hi in blocks(len(codes), CHUNK):
                part = codes[lo:hi].astype(np.int64, copy=False).tolist()
                numbers[lo:hi] = [places.get(code, -1) for code in part]
        return numbers

    def _places(self) -> dict[int, int]:
        """Return the dictionary of the integers, from now on in place of the table."""
        if self._slow is None:
            self._slow = dict(zip(self.codes.tolist(), range(self._n), strict=True))
        return self._slow

    def _grow(self, n: int) -> None:
        """Make room for `n` integers in a table that stays half empty."""
        if n <= len(self._codes):
            return
        size = 1 << n.bit_length()
        codes, again = np.empty(size, np.int64), np.empty(self._n, np.int64)
        codes[: self._n] = known = self.codes
        self._codes, self._table = codes, _empty_table(size if self._slow is None else 0)
        if self._slow is None and kernels.grouping.number(known, self._table, codes, 0, again) < 0:
            self._places()


def _empty_table(n: int) -> Ints:
    """Return an open-addressing table with room for n numbers, -1 where free."""
    return np.full(1 << (2 * n - 1).bit_length(), -1, np.int64)


def numbered(codes: NDArray[Any]) -> tuple[Ints, NDArray[Any]]:
    """Return the number of each integer, in order of appearance, and the distinct integers.

    Examples
    --------
    >>> numbers, distinct = numbered(np.array([7, 5, 7]))
    >>> numbers.tolist(), distinct.tolist()
    ([0, 1, 0], [7, 5])
    """
    if len(codes) and codes.min() >= 0 and codes.max() < len(codes):
        used, first = used_codes(codes)  # codes of texts, or users 0, 1, ...: without hashing
        if len(used) == used[-1] + 1 and np.all(first[1:] > first[:-1]):  # they are the numbers
            return codes.astype(np.int64, copy=False), used.astype(codes.dtype)
        place = np.empty(int(used[-1]) + 1, np.int64)
        is_first = np.zeros(len(codes), bool)
        is_first[first] = True
        used = codes[is_first]
        place[used] = np.arange(len(used))
        return recoded(codes, place), used
    numbering = Numbering()
    numbers = numbering.number(codes)
    return numbers, numbering.codes.astype(codes.dtype)


@dataclass(frozen=True, eq=False, repr=False)
class Column(Sequence[Any]):
    """Ids of one column: integers, or codes of `names`; a sequence of the ids as written.

    Names are a list of the distinct ids, or what returns the id of a code by ``names[code]``.

    Examples
    --------
    >>> column = Column("user_id", np.array([1, 0, 1]), ["ann", "bob"])
    >>> column[0], column[1:], len(column)
    ('bob', ['ann', 'bob'], 3)
    """

    name: str
    codes: NDArray[Any]
    names: Any = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.codes)

    def __getitem__(self, at: Any) -> Any:
        """Return one id, or a list of some."""
        codes = self.codes[at]
        return self.decoded(codes) if isinstance(at, slice) else self.decode(codes)

    def __repr__(self) -> str:
        """Return the ids, as those of a list."""
        return repr(self[:])

    def __iter__(self) -> Iterator[Any]:
        """Return the ids one after another, all of which are decoded at once."""
        return iter(self[:])

    def take(self, rows: Any) -> Column:
        """Return the ids of some rows."""
        return replace(self, codes=self.codes[rows])

    def hashes(self) -> NDArray[np.uint64] | None:
        """Return the words of integers and texts that know theirs, else None.

        See `toplist.inputs.texts.hashes_of`.
        """
        if self.names is None:
            return self.codes.astype(np.int64, copy=False).view(np.uint64)
        return self.names.hashes(self.codes) if hasattr(self.names, "hashes") else None

    def decode(self, code: Any) -> Any:
        """Return an id as it was written in the column."""
        return int(code) if self.names is None else self.names[code]

    def decoded(self, codes: NDArray[Any]) -> list[Any]:
        """Return many ids as they were written in the column."""
        return written(codes, self.names)


def written(codes: NDArray[Any], names: Any) -> list[Any]:
    """Return ids as they were written: integers themselves, or the names that they are codes of."""
    if hasattr(names, "decoded"):
        return names.decoded(codes)  # type: ignore[no-any-return]
    found: list[Any] = codes.tolist()
    return found if names is None else list(map(names.__getitem__, found))


def recoded(codes: NDArray[Any], new: Ints) -> Ints:
    """Return ``new[codes]``, on all cores."""
    out = np.empty(len(codes), np.int64)

    def recode(lo: int, hi: int) -> None:
        kernels.texts.recode(codes[lo:hi], new, out[lo:hi])

    list(parallel.run(recode, blocks(len(codes)), None))
    return out


def used_codes(codes: NDArray[Any]) -> tuple[Ints, Ints]:
    """Return the distinct codes, ascending, and the first row of each; codes are not negative."""
    rows = np.full(int(codes.max()) + 1, -1)
    for lo, hi in blocks(len(codes)):
        kernels.texts.first_rows(codes[lo:hi], lo, rows)
    used = np.flatnonzero(rows >= 0)
    return used, rows[used]


def distinct_ids(codes: NDArray[Any], names: Any) -> tuple[NDArray[Any], Ints, list[Any]]:
    """Return ids as codes, which of these are used, and the id that each of them stands for.

    Examples
    --------
    >>> distinct_ids(np.array([7, 5, 7]), None), distinct_ids(np.array([-7, 5]), None)
    ((array([7, 5, 7]), array([5, 7]), [5, 7]), (array([0, 1]), array([0, 1]), [-7, 5]))
    """
    near_0 = len(codes) == 0 or 0 <= codes.min() <= codes.max() < len(codes) + FIRST
    if names is None and not near_0:
        codes, distinct = numbered(codes)
        return codes, np.arange(len(distinct)), distinct.tolist()
    used = used_codes(codes)[0] if len(codes) else np.empty(0, np.int64)
    return codes, used, written(used, names)


def numbered_by(places: dict[Key, int], keys: Iterable[Key]) -> tuple[Ints, Ints]:
    """Return the number of each key by a dictionary that new ones are added to, and their rows.

    Examples
    --------
    >>> numbers, new = numbered_by({"a": 0}, ["b", "a", "b", "c"])
    >>> numbers.tolist(), new.tolist()
    ([1, 0, 1, 2], [0, 3])
    """
    known = len(places)
    numbers = np.array([places.setdefault(key, len(places)) for key in keys], np.int64)
    highest = np.maximum.accumulate(np.append(known - 1, numbers))
    return numbers, np.flatnonzero(numbers > highest[:-1])


def comparable(scores: NDArray[Any], *, single: bool = False) -> NDArray[Any]:
    """Return numbers as float64 or int64 in the same order, with the same ties.

    Integers stay integers: as floats, those beyond 2^53 would tie. Unsigned ones beyond 2^63 - 1
    are moved down by 2^63. With `single`, float32 stays as it is.

    Examples
    --------
    >>> comparable(np.array([2**64 - 1, 2**63, 0], np.uint64)).tolist()
    [9223372036854775807, 0, -9223372036854775808]
    """
    if single and scores.dtype.type is np.float32:
        return scores.astype(np.float32, copy=False)  # of this machine's byte order
    if scores.dtype.kind not in "biu":
        return scores.astype(np.float64, copy=False)
    if scores.dtype.itemsize == 8 and scores.dtype.kind == "u":
        native = scores.astype(np.uint64, copy=False)
        if native.max(initial=0) >= _TOP:
            return (native ^ _TOP).view(np.int64)
    return scores.astype(np.int64, copy=False)


def exact(values: Any, name: str) -> NDArray[Any]:
    """Return numbers as an array; ValueError for integers that numpy rounds beside others."""
    array = np.asarray(values)
    of_floats = array.dtype.kind == "f" and array is not values
    if array.dtype.kind == "O" or (of_floats and np.any(np.abs(array) >= EXACT)):  # of lists
        cells = np.array(values, object).flat
        whole = (one for one in cells if isinstance(one, (int, np.integer)))
        if (one := next((one for one in whole if abs(int(one)) > EXACT), None)) is not None:
            why = "beyond 2^53, where floats round integers"
            raise ValueError(f"{name}: {one} is {why}: give an array of int64")
    return array


def by_value(values: Sequence[Any], exact: bool = False) -> NDArray[Any] | None:
    """Return numbers of Python as an array of their values; None where one is no number.

    Of ranks and grades the value counts; of scores only the order, which has to be `exact`: None
    where neither 64 bits nor a double hold it, as of Decimals and floats of 128 bits.

    Examples
    --------
    >>> by_value([3, 0.5, Decimal("0.25")]).tolist(), by_value([2, 1]).tolist()
    ([3.0, 0.5, 0.25], [2, 1])
    >>> by_value([3, True]), by_value([3, None]), by_value([0.5, 2**53 + 1], exact=True)
    (None, None, None)
    >>> by_value([np.longdouble(1)], exact=True) is None
    True
    """
    kinds = set(map(type, values))
    # of floats, those that a double holds, unless rounding does no harm
    floats = (np.float16, np.float32) if exact else (np.floating, Decimal)
    numeric = int, float, np.integer, *floats
    if bool in kinds or not all(issubclass(kind, numeric) for kind in kinds):
        return None
    if all(issubclass(kind, (int, np.integer)) for kind in kinds):
        array = np.array(values)
        if array.dtype.kind in "iu":  # else some need 64 bits and others a sign, or more bits
            return array
    if all(issubclass(kind, (float, np.float32)) for kind in kinds):
        return np.fromiter(values, np.float64, len(values))
    if exact and any(issubclass(kind, (int, np.integer)) for kind in kinds):
        whole = (one for one in values if isinstance(one, (int, np.integer)))
        if any(abs(int(one)) > EXACT for one in whole):
            return None
    return doubles(values)


def as_held(scores: Any, ties: str) -> Any:
    """Return scores as they are compared: of ties as in trec_eval, an array rounded to float32.

    Examples
    --------
    >>> low, high = as_held(np.array([30.1, 30.10000001]), "trec_eval").tolist()
    >>> low == high
    True
    """
    if ties != "trec_eval":
        return scores
    with np.errstate(over="ignore"):
        return doubles(scores).astype(np.float32).astype(np.float64)


def as_integers(scores: NDArray[Any]) -> Ints:
    """Return comparable scores as int64 in the same order, with the same ties; none is NaN."""
    if scores.dtype.kind == "i":
        return scores
    bits = (scores + 0.0).view(np.int64)  # -0.0 becomes 0.0
    found: Ints = np.where(bits < 0, bits ^ _BELOW, bits)
    return found


def order_of_ids(items: Column, side: str) -> Ints:
    """Return a number for each id of a column, in the order of the ids: numbers, or code points.

    Raises
    ------
    TypeError
        For ids that have no order.
    """
    if items.names is None:
        return comparable(items.codes)
    if not isinstance(items.names, list):  # looked up by code: of the distinct ones
        numbering = Numbering()
        places = numbering.number(items.codes)
        items = Column(items.name, places, items.decoded(numbering.codes))
    order = places_by_id(items.names, f"{side}: ")
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    found: Ints = places[items.codes]
    return found


def places_by_id(ids: Sequence[Any], where: str, descending: bool = False) -> list[int]:
    """Return the places of ids in their own order; TypeError, which begins `where`, for others."""
    try:
        return sorted(range(len(ids)), key=ids.__getitem__, reverse=descending)
    except TypeError:
        raise TypeError(
            f"{where}ties by item need ids that have an order, numbers or text, unlike {ids[0]!r}"
        ) from None
