"""Integers as codes: their numbers 0, 1, ... in order of appearance, runs of equal ones, `Column`.

Integers are numbered by a hash table (`Numbering`), text by its bytes (`toplist.inputs.texts`).
`Column` is a column of ids as integers, or as codes and the distinct values they refer to. Equal
rows are together in a table that is sorted by user.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from toplist import kernels, parallel
from toplist.checks import Ints

Key = TypeVar("Key", bound=Hashable)

# Integers that are numbered at a time, so that the table grows with the distinct ones.
CHUNK = 1 << 16
FIRST = 1 << 16  # rows that are looked at before all are
BLOCK = 1 << 20  # rows that a thread compares at a time: 2^18 took 5 ms more for 10,000,000 rows


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
            self._grow(self._n + hi - lo)
            n = -1
            if self._slow is None:
                n = kernels.grouping.number(
                    *(codes[lo:hi], self._table, self._codes, self._n, numbers[lo:hi])
                )
            if n < 0:
                numbers[lo:hi], new = numbered_by(self._places(), _integers(codes[lo:hi]))
                n = self._n + len(new)
                self._codes[self._n : n] = codes[lo + new]
            self._n = n
        return numbers

    def find(self, codes: NDArray[Any]) -> Ints:
        """Return the number of each integer, -1 for those that have none."""
        numbers = np.empty(len(codes), np.int64)

        def find(lo: int, hi: int) -> bool:
            return bool(
                kernels.grouping.find(codes[lo:hi], self._table, self._codes, numbers[lo:hi])
            )

        if self._slow is not None or False in list(parallel.run(find, blocks(len(codes)), None)):
            places = self._places()
            for lo, hi in blocks(len(codes), CHUNK):
                numbers[lo:hi] = [places.get(code, -1) for code in _integers(codes[lo:hi])]
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


def _integers(codes: NDArray[Any]) -> list[int]:
    found: list[int] = codes.astype(np.int64, copy=False).tolist()
    return found


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
        """Return the ids one after another."""
        return iter(self[:])

    def hashes(self) -> NDArray[np.uint64] | None:
        """Return the words of integers and texts that know theirs, else None.

        See `toplist.inputs.id_hashes`.
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
