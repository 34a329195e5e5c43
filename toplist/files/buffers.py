"""What a join of two files remembers: codes of ids, numbers of users, lists that wait.

A list waits as long as its user has not been seen in the other file.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.checks import OptionRef, about, option_error
from toplist.files.errors import short
from toplist.inputs.factorize import Column, Numbering, recoded
from toplist.inputs.flatten import Flat
from toplist.inputs.id_hashes import hashes_of
from toplist.inputs.keyed import ListsByUser
from toplist.inputs.lists import offsets_of
from toplist.inputs.texts import Texts, joined


class Codes:
    """One code for every id, the same in all parts of both files; an integer is its own code.

    Text has its number among `texts`, anything else (bytes, dates) that of a dict. With `as_text`,
    integers are read as decimal text, as the ids of a text file are.
    """

    def __init__(self, as_text: bool) -> None:
        self.texts = Texts()
        self.names: Any = self.texts if as_text else None
        self._as_text = as_text
        self._others: dict[Any, int] = {}
        self._kinds: dict[str, tuple[type, str]] = {}  # and an example, by file where that matters

    def encode(self, column: Column, source: str) -> NDArray[np.int64]:
        """Return the codes of a column; `source` names the file in messages."""
        if not len(column.codes):
            return np.empty(0, np.int64)
        kind = self._kind_of(column, source)
        if self._as_text or kind is str:
            self.names = self.texts
            return text_codes(self.texts, column)
        if kind is int:
            return _signed(column, source)
        names = column.names if isinstance(column.names, list) else list(column.names)
        codes = [self._others.setdefault(name, len(self._others)) for name in names]
        self.names = list(self._others)
        return recoded(column.codes, np.array(codes, np.int64))

    def _kind_of(self, column: Column, source: str) -> type:
        """Return the type of the ids of a column; TypeError for a second one."""
        example = column.decode(column.codes[0])
        kind, shown = type(example), f"{short(example)} in {source}"
        known = self._kinds.setdefault(source if self._as_text else "", (kind, shown))
        if known[0] is not kind:
            error = TypeError(
                f"column {short(column.name)} holds ids of two kinds, {shown} and {known[1]}: they "
                "are never equal; convert one side"
            )
            raise about(error, path=source)
        return kind


def _signed(column: Column, source: str) -> NDArray[np.int64]:
    codes = column.codes
    if column.names is not None or (codes.dtype == np.uint64 and codes.max() >= 2**63):
        error = option_error(
            ValueError,
            f"integers from 2^63 on, as in {source}, cannot be read in parts; ",
            OptionRef("in_memory", True),
            " reads them",
        )
        raise about(error, path=source)
    signed: NDArray[np.int64] = codes.astype(np.int64, copy=False)
    return signed


def text_codes(texts: Texts, column: Column) -> NDArray[np.int64]:
    """Return the numbers of a column among texts; integers are read as decimal text."""
    if column.names is texts:
        return column.codes
    if not len(column.codes):
        return np.empty(0, np.int64)
    column = in_list(column, True)
    return recoded(column.codes, texts.encode(joined(column.names)))


def in_list(column: Column, as_text: bool = False) -> Column:
    """Return a column whose names are a list; if `as_text`, integers as decimal text.

    Examples
    --------
    >>> in_list(Column("item_id", np.array([7, 5, 7])), as_text=True).names
    ['7', '5']
    """
    names = column.names
    if isinstance(names, Texts) or (names is None and as_text):
        numbering = Numbering()  # np.unique takes fifteen times as long
        codes = numbering.number(column.codes)
        names = column.decoded(numbering.codes.astype(column.codes.dtype))
        column = Column(column.name, codes, names)
    if as_text and names is not None:
        column = replace(column, names=list(map(str, names)))
    return column


class Users:
    """The users of both files, numbered in the order in which they are read."""

    def __init__(self, as_text: bool) -> None:
        self._codes = Codes(as_text)
        self._integers = Numbering()

    @property
    def texts(self) -> Texts:
        """The users that are text."""
        return self._codes.texts

    def __len__(self) -> int:
        """Return how many there are."""
        names = self._codes.names
        return len(self._integers) if names is None else len(names)

    def __getitem__(self, number: int) -> Any:
        """Return a user's id as it was written."""
        return self.decoded(np.array([number]))[0]

    def decoded(self, numbers: NDArray[np.int64]) -> list[Any]:
        """Return the ids of some users, as they were written."""
        names = self._codes.names
        codes = self._integers.codes[numbers] if names is None else numbers
        return Column("user_id", codes, names).decoded(codes)

    def hashes(self, numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return the words of some users: what fingerprints are made of."""
        names = self._codes.names
        if names is self.texts:
            found: NDArray[np.uint64] = self.texts.hashes(numbers)
            return found
        if names is None:
            words: NDArray[np.uint64] = self._integers.codes[numbers].view(np.uint64)
            return words
        return hashes_of(self.decoded(numbers))

    def number(self, column: Column, source: str) -> NDArray[np.int64]:
        """Return the numbers of a column of users; new ones follow the last."""
        codes = self._codes.encode(column, source)
        return self._integers.number(codes) if self._codes.names is None else codes


class Waiting:
    """Lists whose user has not been seen in the other file: added in parts, taken by user."""

    def __init__(self, side: str) -> None:
        self._side = side
        self._parts: list[ListsByUser | None] = []  # None: all its lists were taken
        self._starts = np.empty(0, np.int64)  # the row of each part's first list
        self._left = np.empty(0, np.int64)  # lists not yet taken, of each part
        self._rows = np.empty(0, np.int64)  # of each user's list, by number; -1: none
        self._n_rows = 0
        self.n_ids = 0

    @property
    def reached(self) -> bool:
        """Whether any list of the last part was taken, or there is none."""
        if not len(self._parts):
            return True
        return bool(self._left[-1] < self._n_rows - self._starts[-1])

    def users(self) -> NDArray[np.int64]:
        """Return the numbers of the users whose lists are here."""
        return np.flatnonzero(self._rows >= 0)

    def has(self, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of these users have a list here."""
        known = np.minimum(numbers, len(self._rows))
        return np.append(self._rows, -1)[known] >= 0

    def add(self, numbers: NDArray[np.int64], lists: ListsByUser, n_users: int) -> None:
        """Keep lists of users who have none here; `n_users` are numbered so far."""
        if not len(numbers):
            return
        if len(self._rows) < n_users:
            rows = np.full(max(n_users, 2 * len(self._rows)), -1)
            rows[: len(self._rows)] = self._rows
            self._rows = rows
        self._rows[numbers] = self._n_rows + np.arange(len(numbers))
        self._starts = np.append(self._starts, self._n_rows)
        self._left = np.append(self._left, len(numbers))
        self._parts.append(lists)
        self._n_rows += len(numbers)
        self.n_ids += int(lists.offsets[-1])

    def take(self, numbers: NDArray[np.int64]) -> Flat:
        """Return the lists of users, and forget them."""
        rows = self._rows[numbers]
        self._rows[numbers] = -1
        of_part = np.searchsorted(self._starts, rows, side="right") - 1
        groups = [(int(part), np.flatnonzero(of_part == part)) for part in np.unique(of_part)]
        lengths = np.empty(len(numbers), np.int64)
        for part, these in groups:
            lengths[these] = np.diff(self._part(part).offsets)[rows[these] - self._starts[part]]
        offsets = offsets_of(lengths)
        graded = any(self._part(part).grades is not None for part, _ in groups)
        grouped = any(self._part(part).grouped for part, _ in groups)
        items = np.empty(offsets[-1], np.int64)
        grades = np.empty(offsets[-1]) if graded else None
        for part, these in groups:
            places = rows[these] - self._starts[part]
            self._part(part).copy_to(places, offsets[these], items, grades)
            self._left[part] -= len(these)
            if self._left[part] == 0:
                self._parts[part] = None
        self.n_ids -= int(offsets[-1])
        return Flat(self._side, items, offsets, lengths, grades, grouped=grouped)

    def _part(self, part: int) -> ListsByUser:
        found = self._parts[part]
        assert found is not None  # no user of a forgotten part is asked for
        return found
