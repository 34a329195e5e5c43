"""`TextIds`: ids of text files as int64, without a Python object per cell or per distinct id.

A text that an integer is written as has this integer as its code (``"007"`` and ``"+7"`` are other
texts than ``"7"``). All other texts are numbered in the order in which they are read, in one
thread: the other core scans the next block.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toplist.inputs.factorize import Column, Numbering
from toplist.inputs.texts import Keys, Spans, Texts, joined


class Cells(NamedTuple):
    """Texts, and the code of each that an integer is written as.

    Instead of other codes it holds `OTHER` or `SAME`, as `read_ids` does; `others` are the keys of
    the texts that are `OTHER`.
    """

    codes: NDArray[np.int64]
    others: Keys

    @classmethod
    def read(cls, text: NDArray[np.uint8], starts: NDArray[Any], ends: NDArray[Any]) -> "Cells":
        """Read the texts ``text[starts[i]:ends[i]]``, which takes no table: in any thread."""
        from toplist.kernels import cells

        codes, begins, stops = (np.empty(len(starts), np.int64) for _ in range(3))
        n = cells.read_ids(text, starts, ends, codes, begins, stops)
        return cls(codes, Spans(text, begins[:n], stops[:n]).keys(0, n))


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

        self._texts, self._first = Texts(), cells.FIRST

    def encode(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Return the codes of texts."""
        spans = joined(texts)
        return self.codes(spans.text, spans.starts, spans.ends)

    def codes(
        self, text: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the codes of the texts ``text[starts[i]:ends[i]]``, of UTF-8."""
        cells = Cells.read(text, starts, ends)
        self.number(cells)
        return cells.codes

    def number(self, cells: Cells) -> None:
        """Give a code to the texts that no integer is written as."""
        from toplist.kernels import cells as kernels

        if not len(cells.others):
            return
        numbers = np.empty(len(cells.others), np.int64)
        self._texts.number(cells.others, numbers)
        kernels.give_codes(numbers, cells.codes)

    def __getitem__(self, code: int) -> str:
        """Return the text of a code."""
        number = int(code) - self._first
        return self._texts[number] if 0 <= number < len(self._texts) else str(code)

    def decoded(self, codes: NDArray[np.int64]) -> list[str]:
        """Return the texts of many codes."""
        numbers = codes - self._first
        texts = (numbers >= 0) & (numbers < len(self._texts))
        if texts.all():
            return self._texts.decoded(numbers)
        return list(map(self.__getitem__, codes.tolist()))

    def __contains__(self, text: Any) -> bool:
        """Whether a text may be among the ids."""
        return isinstance(text, str)

    def index(self, text: str) -> int:
        """Return the code of a text."""
        return int(self.encode([text])[0])

    @property
    def n_texts(self) -> int:
        """How many texts are known, those of integers aside."""
        return len(self._texts)

    def since(self, n: int) -> list[str]:
        """Return the texts that are known, without the first `n`."""
        return self._texts.decoded(np.arange(n, len(self._texts)))

    def words(self, codes: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return the words of the texts of codes: their hashes."""
        from toplist.kernels import cells

        words, numbers = np.empty(len(codes), np.uint64), codes - self._first
        texts = (numbers >= 0) & (numbers < len(self._texts))
        words[texts] = self._texts.words(numbers[texts])
        decimals = np.empty(len(codes) - np.count_nonzero(texts), np.uint64)
        cells.hash_decimals(codes[~texts], decimals)
        words[~texts] = decimals
        return words


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
