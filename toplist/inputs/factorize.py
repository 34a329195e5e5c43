"""Factorize ids: numbers 0, 1, ... in order of appearance, without a Python object per row.

Integers are numbered by a hash table (`Numbering`), text by its bytes (`numbered`). `Column` is a
column of ids as integers, or as codes and the distinct values they refer to.
"""

from collections import defaultdict
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
# Integers that are numbered at a time, so that the table grows with the distinct ones.
CHUNK = 1 << 16


class Numbering:
    """Integers as numbers 0, 1, ... in order of appearance.

    The table grows with the distinct integers, not with all that are looked up: one for all ids
    of the benchmark would take 268 MB, and a cache miss per id. Integers that were chosen to share
    places of the table, which would take quadratic time, are sorted instead.

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
        self._table: Ints | None = _empty_table(2 * CHUNK)
        self._n = 0
        self._order: Ints | None = None

    def __len__(self) -> int:
        """Return how many distinct integers there are."""
        return self._n

    @property
    def codes(self) -> Ints:
        """The distinct integers, by number."""
        return self._codes[: self._n]

    def number(self, codes: NDArray[Any]) -> Ints:
        """Return the number of each integer; new ones follow the last."""
        from toplist.kernels import grouping

        numbers = np.empty(len(codes), np.int64)
        for lo in range(0, len(codes), CHUNK):
            part, n = slice(lo, lo + CHUNK), -1
            self._grow(self._n + min(CHUNK, len(codes) - lo))
            if self._table is not None:
                n = grouping.number(codes[part], self._table, self._codes, self._n, numbers[part])
            if n < 0:  # they were chosen to share places of the table
                self._table = None
                numbers[lo:] = self._number_sorted(codes[lo:].astype(np.int64))
                break
            self._n = n
        return numbers

    def find(self, codes: NDArray[Any]) -> Ints:
        """Return the number of each integer, -1 for those that have none."""
        from toplist.kernels import grouping

        numbers = np.empty(len(codes), np.int64)
        table = self._table
        if table is not None and grouping.find(codes, table, self._codes, numbers):
            return numbers
        return self._find_sorted(codes.astype(np.int64))

    def _number_sorted(self, codes: Ints) -> Ints:
        """Return the number of each integer, without a table."""
        distinct, first, which = np.unique(codes, return_index=True, return_inverse=True)
        numbers = self._find_sorted(distinct)
        new = np.flatnonzero(numbers < 0)
        new = new[np.argsort(first[new])]  # in order of appearance
        numbers[new] = self._n + np.arange(len(new))
        self._codes = np.concatenate([self.codes, distinct[new]])
        self._n = len(self._codes)
        return numbers[which]

    def _find_sorted(self, codes: Ints) -> Ints:
        """Return the number of each integer, -1 for those that have none, without the table."""
        order = self._order
        if order is None or len(order) < self._n:
            order = self._order = np.argsort(self.codes)
        if not len(order):
            return np.full(len(codes), -1)
        places = order[np.minimum(np.searchsorted(self.codes, codes, sorter=order), self._n - 1)]
        return np.where(self._codes[places] == codes, places, -1)

    def _grow(self, n: int) -> None:
        """Make room for `n` integers in a table that stays half empty."""
        from toplist.kernels import grouping

        if n <= len(self._codes) or self._table is None:
            return
        size = 1 << n.bit_length()
        codes = np.empty(size, np.int64)
        codes[: self._n] = self.codes
        self._codes, self._table = codes, _empty_table(size)
        again = np.empty(self._n, np.int64)
        if grouping.number(codes[: self._n].copy(), self._table, codes, 0, again) < 0:
            self._table = None


def _empty_table(n: int) -> Ints:
    """Return an open-addressing table with room for n numbers, -1 where free."""
    return np.full(1 << (2 * n - 1).bit_length(), -1, np.int64)


def joined(text: str, n: int) -> tuple[NDArray[np.int64], list[Any]] | None:
    """Factorize `n` strings joined by NUL; None if one of them contains a NUL itself."""
    data = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    ends = np.append(np.flatnonzero(data == 0), len(data))
    if len(ends) != n:
        return None
    return numbered(data, np.concatenate([[0], ends[:-1] + 1]), ends)


def numbered(
    data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int64], list[Any]]:
    """Return the code of each string ``data[starts[i]:ends[i]]``, and the distinct strings."""
    from toplist import kernels
    from toplist.kernels import strings

    codes = np.empty(len(starts), np.int64)
    at, n_known, size, table = 0, 0, 1 << 12, None
    first, hashes = np.empty(0, np.int64), np.empty(0, np.uint64)
    while at < len(starts):  # the table grows with the distinct strings, not with the rows
        if table is None:
            table = np.full(size, -1, np.int64)
            if not strings.place_hashes(hashes[:n_known], table):
                return _numbered_by_dict(data, starts, ends)
            first, hashes = np.resize(first, size), np.resize(hashes, size)
        part = slice(min(at + kernels.STEP, len(starts)))
        at, n_known = strings.number_strings(
            data, starts[part], ends[part], at, table, first, hashes, n_known, codes
        )
        if at < 0:  # they were chosen to share places of the table, or hashes
            return _numbered_by_dict(data, starts, ends)
        if at < part.stop:
            size, table = 8 * size, None
    places = zip(starts[first[:n_known]].tolist(), ends[first[:n_known]].tolist(), strict=True)
    whole = data.tobytes() if n_known else b""
    return codes, [whole[start:end].decode("utf-8", "surrogatepass") for start, end in places]


def _numbered_by_dict(
    data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int64], list[Any]]:
    """Do as `numbered` does by a dict: nobody can foresee Python's hashes of text."""
    whole, numbers = data.tobytes(), defaultdict[bytes, int](count().__next__)
    texts = map(whole.__getitem__, map(slice, starts.tolist(), ends.tolist()))
    codes = np.fromiter(map(numbers.__getitem__, texts), np.int64, len(starts))
    return codes, [text.decode("utf-8", "surrogatepass") for text in numbers]


@dataclass(frozen=True, eq=False)
class Column:
    """Ids of one column: integers, or codes of `names`.

    These are a list of the distinct ids, or whatever returns the id of a code by ``names[code]``.
    """

    name: str
    codes: NDArray[Any]
    names: Any = None

    def decode(self, code: Any) -> Any:
        """Return an id as it was written in the column."""
        return int(code) if self.names is None else self.names[code]

    def decoded(self, codes: NDArray[Any]) -> list[Any]:
        """Return many ids as they were written in the column."""
        found: list[Any] = codes.tolist()
        return found if self.names is None else list(map(self.names.__getitem__, found))


def textual(column: Column) -> Column:
    """Return integers as their decimal text, as in a text file; text unchanged."""
    if column.names is not None:
        return column
    values, places = np.unique(column.codes, return_inverse=True)
    return Column(column.name, places, list(map(str, values.tolist())))
