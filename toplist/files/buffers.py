"""What a join of two files remembers: codes of ids, numbers of users, lists that wait.

A list waits as long as its user has not been seen in the other file.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.checks import Keyword, worded
from toplist.files.errors import short
from toplist.files.text_ids import TextIds, listed
from toplist.inputs.factorize import Column, Numbering, textual
from toplist.inputs.flatten import Flat
from toplist.inputs.keyed import Keyed
from toplist.inputs.lists import offsets_of
from toplist.inputs.words import words_of

# Codes of integers beyond 64 bits; an integer that is one of these has a code of its own, too.
FIRST, LAST = -(2**62) - 2**40, -(2**62)


class Codes:
    """One code for every id, the same in all parts of both files; an integer is its own code.

    With `as_text`, integers are read as decimal text, as the ids of a text file are: `texts` has
    the codes. Integers beyond 64 bits are numbered from `FIRST` on.
    """

    def __init__(self, as_text: bool) -> None:
        self.texts = TextIds()
        self._as_text = self._is_text = as_text
        self._codes: dict[Any, int] = {}
        self._examples: dict[str, tuple[str, str]] = {}  # a kind, by file where that matters
        self._wide: list[int] = []

    @property
    def names(self) -> Any:
        """The ids by their codes; None if every code is the id itself."""
        if self._is_text:
            return self.texts
        return _Wide(self._wide, self._codes) if self._wide else None

    def encode(self, column: Column, source: str) -> NDArray[np.int64]:
        """Return the codes of a column; `source` names the file in messages."""
        if not len(column.codes):
            return np.empty(0, np.int64)
        self._refuse_second_kind(column, source)
        self._is_text |= isinstance(column.decode(column.codes[0]), str)
        if self._is_text:
            return text_codes(self.texts, column)
        if column.names is None:
            if column.codes.dtype == np.uint64 and column.codes.max() > np.iinfo(np.int64).max:
                raise worded(
                    ValueError,
                    f"integers from 2^63 on, as in {source}, cannot be read in parts; ",
                    Keyword("in_memory", True),
                    " reads them",
                )
            own: NDArray[np.int64] = column.codes.astype(np.int64, copy=False)
            return self._integers(own)
        codes = np.array([self._number(name) for name in column.names], np.int64)
        found: NDArray[np.int64] = codes[column.codes]
        return found

    def decode(self, code: int) -> Any:
        """Return an id as it was written."""
        names = self.names
        return code if names is None else names[code]

    def _integers(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        reserved = (codes >= FIRST) & (codes < LAST)
        if not reserved.any():
            return codes
        found = codes.copy()
        found[reserved] = [self._number(code) for code in codes[reserved].tolist()]
        return found

    def _number(self, name: int) -> int:
        """Return the code of an integer: itself, where it can be."""
        if -(2**63) <= name < 2**63 and not FIRST <= name < LAST:
            return name
        code = self._codes.get(name)
        if code is None:
            code = self._codes[name] = FIRST + len(self._wide)
            self._wide.append(name)
        return code

    def _refuse_second_kind(self, column: Column, source: str) -> None:
        example = column.decode(column.codes[0])
        kind = "integer" if isinstance(example, int) else type(example).__name__
        known = self._examples.setdefault(
            source if self._as_text else "", (kind, f"{short(example)} in {source}")
        )
        if known[0] != kind:
            raise two_kinds(column.name, f"{short(example)} in {source}", known[1])


def text_codes(texts: TextIds, column: Column) -> NDArray[np.int64]:
    """Return the codes of a column whose integers are read as decimal text."""
    if column.names is texts:
        return column.codes
    if column.names is None:
        small = column.codes.astype(np.int64, copy=False)
        most = 10**TextIds.DIGITS
        if small.min() > -most and small.max() < most and column.codes.max() < most:
            return small  # an integer is the code of its text
        column = as_texts(column)
    codes: NDArray[np.int64] = texts.encode(list(map(str, column.names or ())))[column.codes]
    return codes


def two_kinds(column: str, one: str, other: str) -> TypeError:
    """Return the error of a column with ids of two kinds, an example of each and its file given."""
    return TypeError(
        f"column {short(column)} holds ids of two kinds, {one} and {other}: they are never equal; "
        "convert one side"
    )


def as_texts(column: Column) -> Column:
    """Return integers of any size as their decimal text; text as it is."""
    if column.names is None:
        return textual(column)
    return replace(column, names=list(map(str, column.names)))


def in_list(column: Column, as_text: bool = True) -> Column:
    """Return a column of ids whose names are a list; if `as_text`, integers as decimal text."""
    if isinstance(column.names, TextIds):
        return listed(column)
    return as_texts(column) if as_text else column


class _Wide:
    """What codes of integers stand for: themselves, or integers beyond 64 bits."""

    def __init__(self, wide: list[int], codes: dict[Any, int]) -> None:
        self._wide, self._codes = wide, codes

    def __getitem__(self, code: int) -> int:
        """Return the integer of a code."""
        return self._wide[code - FIRST] if FIRST <= code < LAST else code

    def __contains__(self, name: int) -> bool:
        """Whether an integer may be among the ids."""
        return name in self._codes or (-(2**63) <= name < 2**63 and not FIRST <= name < LAST)

    def index(self, name: int) -> int:
        """Return the code of an integer."""
        return self._codes.get(name, name)


class Users:
    """The users of both files, numbered in the order in which they are read."""

    def __init__(self, as_text: bool) -> None:
        self._codes = Codes(as_text)
        self._numbering = Numbering()

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._numbering)

    def __getitem__(self, number: int) -> Any:
        """Return a user's id as it was written."""
        return self._codes.decode(int(self._numbering.codes[number]))

    def decoded(self, numbers: NDArray[np.int64]) -> list[Any]:
        """Return the ids of some users, as they were written."""
        codes = self._numbering.codes[numbers]
        return Column("user_id", codes, self._codes.names).decoded(codes)

    def words(self, numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return the words of some users: what fingerprints are made of."""
        codes, names = self._numbering.codes[numbers], self._codes.names
        if names is self.texts:
            return self.texts.words(codes)  # type: ignore[no-any-return]
        if names is None:
            words: NDArray[np.uint64] = codes.view(np.uint64)
            return words
        return words_of([names[code] for code in codes.tolist()])

    @property
    def texts(self) -> TextIds:
        """The codes of users that are text."""
        return self._codes.texts

    def number(self, column: Column, source: str) -> NDArray[np.int64]:
        """Return the numbers of a column of users; new ones follow the last."""
        return self._numbering.number(self._codes.encode(column, source))


class Waiting:
    """Lists whose user has not been seen in the other file: added in parts, taken by user."""

    def __init__(self, side: str) -> None:
        self._side = side
        self._parts: list[Keyed | None] = []  # None: all its lists were taken
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

    def add(self, numbers: NDArray[np.int64], lists: Keyed, n_users: int) -> None:
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
        items = np.empty(offsets[-1], np.int64)
        grades = np.empty(offsets[-1]) if graded else None
        for part, these in groups:
            places = rows[these] - self._starts[part]
            self._part(part).copy_to(places, offsets[these], items, grades)
            self._left[part] -= len(these)
            if self._left[part] == 0:
                self._parts[part] = None
        self.n_ids -= int(offsets[-1])
        return Flat(self._side, items, offsets, lengths, grades)

    def _part(self, part: int) -> Keyed:
        found = self._parts[part]
        assert found is not None  # no user of a forgotten part is asked for
        return found
