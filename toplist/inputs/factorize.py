"""Factorize ids: numbers 0, 1, ... in order of appearance, without a Python object per row.

Integers are numbered by a hash table (`Numbering`), text by its bytes (`numbered`). `Column` is a
column of ids as integers, or as codes and the distinct values they refer to.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
# Integers that are numbered at a time, so that the table grows with the distinct ones.
CHUNK = 1 << 16


class Numbering:
    """Integers as numbers 0, 1, ... in order of appearance.

    The table grows with the distinct integers, not with all that are looked up: one for all ids
    of the benchmark would take 268 MB, and a cache miss per id.

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
            part = slice(lo, lo + CHUNK)
            self._grow(self._n + min(CHUNK, len(codes) - lo))
            self._n = grouping.number(codes[part], self._table, self._codes, self._n, numbers[part])
        return numbers

    def find(self, codes: NDArray[Any]) -> Ints:
        """Return the number of each integer, -1 for those that have none."""
        from toplist.kernels import grouping

        numbers = np.empty(len(codes), np.int64)
        grouping.find(codes, self._table, self._codes, numbers)
        return numbers

    def _grow(self, n: int) -> None:
        """Make room for `n` integers in a table that stays half empty."""
        from toplist.kernels import grouping

        if n <= len(self._codes):
            return
        size = 1 << n.bit_length()
        codes = np.empty(size, np.int64)
        codes[: self._n] = self.codes
        self._codes, self._table = codes, _empty_table(size)
        again = np.empty(self._n, np.int64)
        grouping.number(codes[: self._n].copy(), self._table, codes, 0, again)


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
    from toplist.kernels import strings

    codes = np.empty(len(starts), np.int64)
    at, n_known, size = 0, 0, 1 << 12
    first, hashes = np.empty(0, np.int64), np.empty(0, np.uint64)
    while at < len(starts):  # the table grows with the distinct strings, not with the rows
        table = np.full(size, -1, np.int64)
        strings.place_hashes(hashes[:n_known], table)
        first, hashes = np.resize(first, size), np.resize(hashes, size)
        at, n_known = strings.number_strings(
            data, starts, ends, at, table, first, hashes, n_known, codes
        )
        size *= 8
    places = zip(starts[first[:n_known]].tolist(), ends[first[:n_known]].tolist(), strict=True)
    whole = data.tobytes() if n_known else b""
    return codes, [whole[start:end].decode("utf-8", "surrogatepass") for start, end in places]


@dataclass(frozen=True, eq=False)
class Column:
    """Ids of one column: integers, or codes 0.. of `names`."""

    name: str
    codes: NDArray[Any]
    names: list[Any] | None = None

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
