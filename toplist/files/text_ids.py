"""`TextIds`: ids of text files as int64, without a Python object per cell or per distinct id.

A text that an integer is written as has this integer as its code (``"007"`` and ``"+7"`` are other
texts than ``"7"``). All other texts are numbered in the order in which they are read, in one
thread: the other core scans the next block. Through `toplist.inputs.texts`, which looks up on all
cores, the numbering of 5,000,000 rows of text took 0.34 s instead of 0.19.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toplist.inputs.factorize import Column, Numbering
from toplist.inputs.lists import offsets_of

if TYPE_CHECKING:
    from toplist.kernels.strings import KeyedHash

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
        self._secret: KeyedHash | None = None
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
        at, codes, hashes = 0, cells.codes, self._hashes(cells)
        while at < len(codes):
            part = slice(min(at + kernels.STEP, len(codes)))  # Ctrl-C is heard between calls
            stopped, self._n = found.number_texts(
                *(cells.text, cells.starts[part], cells.ends[part], hashes[part], at),
                *(self._table, self._arena, self._bounds, self._known, self._n, codes),
            )
            if stopped < 0:  # they were chosen to share places of the table, or hashes
                self._use_key()
                hashes = self._hashes(cells)
                continue  # with those that have no code yet
            if stopped < part.stop:
                self._grow(8 * len(self._table))
            at = stopped

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
        from toplist.kernels import cells, strings

        words, at = np.empty(len(codes), np.uint64), codes - cells.FIRST
        numbered = (at >= 0) & (at < self._n)
        hashes = self._known
        if self._secret is not None:
            bounds, hashes = self._bounds[: self._n + 1], np.empty(self._n, np.uint64)
            strings.hash_spans(self._arena, bounds[:-1], bounds[1:], hashes)
        words[numbered] = hashes[at[numbered]]
        decimals = np.empty(len(codes) - np.count_nonzero(numbered), np.uint64)
        cells.hash_decimals(codes[~numbered], decimals)
        words[~numbered] = decimals
        return words

    def _bytes(self, number: int) -> bytes:
        return self._arena[self._bounds[number] : self._bounds[number + 1]].tobytes()

    def _hashes(self, cells: Cells) -> NDArray[np.uint64]:
        """Return the hashes of cells, by the key if there is one."""
        if self._secret is None:
            return cells.hashes
        return self._secret(cells.text, cells.starts, cells.ends)

    def _grow(self, size: int) -> None:
        """Make a table of a size, and room for half as many texts."""
        self._bounds = np.resize(self._bounds, size // 2 + 1)
        self._known = np.resize(self._known, size // 2)
        self._table = np.empty(size, np.uint64)
        if not self._place():
            self._use_key()

    def _place(self) -> bool:
        """Put the known texts into an empty table; return whether it was done."""
        from toplist.kernels import cells

        self._table = np.zeros(len(self._table), np.uint64)
        return bool(cells.place_texts(self._known[: self._n], self._table))

    def _use_key(self) -> None:
        """Hash all texts by a key from now on."""
        from toplist.kernels.strings import KeyedHash

        placed = False
        while not placed:
            self._secret = KeyedHash()
            bounds = self._bounds[: self._n + 1]
            self._known[: self._n] = self._secret(self._arena, bounds[:-1], bounds[1:])
            placed = self._place()


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
