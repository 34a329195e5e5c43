"""Ids that come in parts, as integers that are alike in all of them; users, numbered."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.inputs.factorize import Column, Numbering, textual


class Codes:
    """One code for every id, in whatever part it stands: integers are their own.

    With `as_text`, integers are taken as their decimal text: what stands in a text file beside.
    """

    def __init__(self, as_text: bool) -> None:
        self._as_text = as_text
        self._codes: dict[Any, int] = {}
        self._example: tuple[str, str] | None = None
        self.names: list[Any] | None = None

    def encode(self, column: Column, source: str) -> NDArray[np.int64]:
        """Return the codes of a column; `source` names the file in messages."""
        if not len(column.codes):
            return np.empty(0, np.int64)
        column = textual(column) if self._as_text else column
        self._refuse_second_kind(column, source)
        if column.names is None:
            if column.codes.dtype == np.uint64 and column.codes.max() > np.iinfo(np.int64).max:
                raise ValueError(f"{source}: integers from 2^63 on do not stream")
            own: NDArray[np.int64] = column.codes.astype(np.int64, copy=False)
            return own
        if self.names is None:
            self.names = []
        codes = np.empty(len(column.names), np.int64)
        for i, name in enumerate(column.names):
            code = self._codes.get(name)
            if code is None:
                code = self._codes[name] = len(self.names)
                self.names.append(name)
            codes[i] = code
        found: NDArray[np.int64] = codes[column.codes]
        return found

    def decode(self, code: int) -> Any:
        """Return an id as it was written."""
        return code if self.names is None else self.names[code]

    def _refuse_second_kind(self, column: Column, source: str) -> None:
        example = column.decode(column.codes[0])
        kind = "integer" if column.names is None else type(example).__name__
        known = self._example
        if known is None:
            self._example = kind, f"{example!r} in {source}"
        elif known[0] != kind:
            raise TypeError(
                f"column {column.name!r} holds ids of two kinds, {example!r} in {source} "
                f"beside {known[1]}: they are never equal; convert one side"
            )


class Users:
    """The users met so far, numbered as they came."""

    def __init__(self, as_text: bool) -> None:
        self._codes = Codes(as_text)
        self._numbering = Numbering()

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._numbering)

    def __getitem__(self, number: int) -> Any:
        """Return a user's id as it was written."""
        return self._codes.decode(int(self._numbering.codes[number]))

    def number(self, column: Column, source: str) -> NDArray[np.int64]:
        """Return the numbers of a column of users; new ones follow the last."""
        return self._numbering.number(self._codes.encode(column, source))
