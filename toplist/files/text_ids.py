"""`TextIds`: ids of text files as int64, without a Python object per cell or per distinct id.

A text that an integer is written as has this integer as its code (``"007"`` and ``"+7"`` are other
texts than ``"7"``). All other texts are numbered in the order in which they are read, in one
thread: the other core scans the next block. Through `toplist.inputs.texts`, which looks up on all
cores, the numbering of 5,000,000 rows of text took 0.34 s instead of 0.19.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toplist.inputs.factorize import Column, Numbering
from toplist.inputs.lists import offsets_of

SMALLEST = 1 << 12  # places in the first table


class Cells(NamedTuple):
    """Texts ``text[starts[i]:ends[i]]``, and the code of each that an integer is written as.

    Instead of other codes it holds `OTHER` or `SAME`, as `read_ids` does, which fills the hashes.
    """

    text: NDArray[np.uint8]
    starts: NDArray[Any]
    ends: NDArray[Any]
    codes: NDArray[np.int64]
    hashes: NDArray[np.uint64]
    n_other: int

    @classmethod
    def read(cls, text: NDArray[np.uint8], starts: NDArray[Any], ends: NDArray[Any]) -> Cells:
        """Read texts, which takes no table: in any thread."""
        from toplist.kernels import cells

        codes, hashes = np.empty(len(starts), np.int64), np.empty(len(starts), np.uint64)
        return cls(
            text, starts, ends, codes, hashes, cells.read_ids(text, starts, ends, codes, hashes)
        )


class TextIds:
    """One code for every text, the same in all parts of all files that share the object.

    Examples
    --------
    >>> ids = TextIds()
    >>> codes = ids.encode(["7", "007", "tea", "007"])
    >>> codes[0], codes[1] == codes[3], [ids[code] for code in codes]
    (np.int64(7), np.True_, ['7', '007', 'tea', '007'])
    """

    DIGITS = 18  # of the integers that are their own codes

    def __init__(self) -> None:
        from toplist.kernels import cells

        self._n, self._first = 0, cells.FIRST
        self._table = np.empty(0, np.uint64)
        self._known = np.empty(0, np.uint64)  # hashes, by number
        self._bounds = np.zeros(1, np.int64)  # of each text in the arena
        self._arena = np.empty(0, np.uint8)
        self._numbers: defaultdict[bytes, int] | None = None  # in place of the table
        self._grow(SMALLEST)

    def encode(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Return the codes of texts."""
        parts = [text.encode("utf-8", "surrogatepass") for text in texts]
        bounds = offsets_of(np.fromiter(map(len, parts), np.int64, len(parts)))
        return self.codes(np.frombuffer(b"".join(parts), np.uint8), bounds[:-1], bounds[1:])

    def codes(
        self, text: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the codes of the texts ``text[starts[i]:ends[i]]``, of UTF-8."""
        cells = Cells.read(text, starts, ends)
        self.number(cells)
        return cells.codes

    def number(self, cells: Cells) -> None:
        """Give a code to the texts that no integer is written as."""
        from toplist import kernels
        from toplist.kernels import cells as found

        if not cells.n_other:
            return
        room = int(self._bounds[self._n]) + len(cells.text)
        if room > len(self._arena):
            self._arena = np.resize(self._arena, max(room, 2 * len(self._arena)))
        at, codes = 0, cells.codes
        while self._numbers is None and at < len(codes):
            part = slice(min(at + kernels.STEP, len(codes)))  # Ctrl-C is heard between calls
            at, self._n = found.number_texts(
                *(cells.text, cells.starts[part], cells.ends[part], cells.hashes[part], at),
                *(self._table, self._arena, self._bounds, self._known, self._n, codes),
            )
            if at < 0:  # they were chosen to share places of the table, or hashes
                self._use_dict()
            elif at < part.stop:
                self._grow(8 * len(self._table))
        if self._numbers is not None:
            self._number_by_dict(cells)

    def __getitem__(self, code: int) -> str:
        """Return the text of a code."""
        at = code - self._first
        return self._bytes(at).decode("utf-8", "surrogatepass") if 0 <= at < self._n else str(code)

    def __contains__(self, text: Any) -> bool:
        """Whether a text may be among the ids."""
        return isinstance(text, str)

    def index(self, text: str) -> int:
        """Return the code of a text."""
        return int(self.encode([text])[0])

    @property
    def n_texts(self) -> int:
        """How many texts are known, those of integers aside."""
        return self._n

    def since(self, n: int) -> list[str]:
        """Return the texts that are known, without the first `n`."""
        return [self._bytes(at).decode("utf-8", "surrogatepass") for at in range(n, self._n)]

    def words(self, codes: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return the words of the texts of codes: their hashes."""
        from toplist.kernels import cells

        words, at = np.empty(len(codes), np.uint64), codes - cells.FIRST
        numbered = (at >= 0) & (at < self._n)
        words[numbered] = self._known[at[numbered]]
        decimals = np.empty(len(codes) - np.count_nonzero(numbered), np.uint64)
        cells.hash_decimals(codes[~numbered], decimals)
        words[~numbered] = decimals
        return words

    def _bytes(self, number: int) -> bytes:
        return self._arena[self._bounds[number] : self._bounds[number + 1]].tobytes()

    def _grow(self, size: int) -> None:
        """Make a table of a size, and room for half as many texts."""
        from toplist.kernels import cells

        self._bounds = np.resize(self._bounds, size // 2 + 1)
        self._known = np.resize(self._known, size // 2)
        self._table = np.zeros(size, np.uint64)
        if not cells.place_texts(self._known[: self._n], self._table):
            self._use_dict()

    def _use_dict(self) -> None:
        """Use a dict from now on: nobody can foresee Python's hashes of bytes."""
        self._numbers = defaultdict(lambda: len(self._numbers or ()))
        self._numbers.update((self._bytes(number), number) for number in range(self._n))

    def _number_by_dict(self, cells: Cells) -> None:
        from toplist.kernels import cells as found

        numbers, whole, codes = self._numbers, cells.text.tobytes(), cells.codes
        assert numbers is not None
        rest = np.flatnonzero(codes == found.OTHER)
        places = map(slice, cells.starts[rest].tolist(), cells.ends[rest].tolist())
        texts = map(whole.__getitem__, places)
        these = np.fromiter(map(numbers.__getitem__, texts), np.int64, len(rest))
        codes[rest] = found.FIRST + these
        rows = rest[np.unique(these, return_index=True)[1]]
        self._keep(
            list(numbers)[self._n :], cells.hashes[rows[codes[rows] >= found.FIRST + self._n]]
        )
        same = np.flatnonzero(codes == found.SAME)
        others = np.flatnonzero(codes != found.SAME)
        codes[same] = codes[others[np.searchsorted(others, same) - 1]]

    def _keep(self, texts: list[bytes], hashes: NDArray[np.uint64]) -> None:
        """Add texts to those known; the arena has room for them."""
        ends = self._bounds[self._n] + np.cumsum([*map(len, texts)], dtype=np.int64)
        start, n = self._bounds[self._n], self._n + len(texts)
        joined = np.frombuffer(b"".join(texts), np.uint8)
        self._arena[start : start + len(joined)] = joined
        self._bounds = np.concatenate([self._bounds[: self._n + 1], ends])
        self._known = np.concatenate([self._known[: self._n], hashes])
        self._n = n


def listed(column: Column) -> Column:
    """Return a column whose names are a list of the distinct ids that it holds.

    Examples
    --------
    >>> ids = TextIds()
    >>> listed(Column("item_id", ids.encode(["b", "a", "b"]), ids)).names
    ['b', 'a']
    """
    numbering = Numbering()  # np.unique takes fifteen times as long
    codes = numbering.number(column.codes)
    return Column(column.name, codes, column.decoded(numbering.codes))
