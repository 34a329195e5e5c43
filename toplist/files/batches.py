"""Files in parts: lists of complete users, one part after another, however long the file.

A part ends where a user ends, so that it can be read like a table of its own. A user whose rows
are not together has several lists; only the caller, who knows the users of all parts, notices.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from toplist.files import blocks, parquet
from toplist.files.errors import named
from toplist.files.faults import first_fault
from toplist.files.formats import Columns, FileFormat, FormatName, Id, PathLike, find_format
from toplist.files.numbers import in_column, packed
from toplist.files.text import FINITE, GRADE, NUMBER, Source, rows
from toplist.files.text_ids import TextIds
from toplist.inputs import tables
from toplist.inputs.dataframes import PlainTable
from toplist.inputs.factorize import Column
from toplist.inputs.keyed import Keyed
from toplist.inputs.lists import offsets_of
from toplist.inputs.options import Order, Ties, columns_of, renamed
from toplist.inputs.tables import Table

ROWS = 1 << 17  # rows in a part of a text file: some 30 MB of Python objects

U = TypeVar("U")
E = TypeVar("E", bound=Exception)
# From numbers of lists, the first and the one after the last: a table of these alone.
Cut = Callable[[int, int], Any]
# A table, the line of each of its rows or lists, and what cuts it between lists.
_Read = tuple[Table, NDArray[np.int64] | None, Cut | None]
# Called with the users of a part, and the line or row where the list of each user begins.
Meet = Callable[[Column, NDArray[np.int64]], U]


class SplitUserError(ValueError):
    """The rows of a user are not together; raised by the caller who knows all users."""


@dataclass(frozen=True, eq=False)
class Part(Generic[U]):
    """The lists of some complete users, and what the caller made of these users."""

    users: U
    lists: Keyed


@dataclass(frozen=True)
class _Run:
    """Rows of one user that are together in a text file."""

    user: Id
    line: int
    rows: list[Any]


@dataclass(frozen=True)
class Stream:
    """A file that is read part by part: of "ranks", or of "ground_truths".

    With an `order` of "file", ranked items are in the order of the file. `ties` is how items of
    equal scores are ordered.
    """

    path: PathLike
    side: str
    format: FormatName | None = None
    columns: Columns = None
    order: Order | None = None
    ties: Ties = "order"

    @property
    def own_names(self) -> dict[str, str]:
        """The columns that this file calls by another name."""
        names = columns_of(self.columns, self.side)
        return {ours: theirs for ours, theirs in names.items() if ours != theirs}

    @property
    def kind(self) -> FileFormat:
        """The format of the file."""
        keyword = "recs_format" if self.side == "ranks" else "truth_format"
        return find_format(self.path, self.format, keyword)

    @property
    def unit(self) -> str:
        """What the places of users count."""
        return "line" if self.kind.is_text else "row"

    @property
    def _wanted(self) -> tuple[str, ...]:
        """The columns of text that may have the values."""
        if self.order:
            return ()
        return ("rank", "score") if self.side == "ranks" else ("relevance",)

    def whole(self, users: TextIds | None = None, items: TextIds | None = None) -> Keyed:
        """Return all lists of a file that is no JSONL, the rows of a user in any place.

        `users` and `items` are as in `parts`.
        """
        if self.kind.is_text:
            return self._whole_text(users or TextIds(), items or TextIds())
        frame = parquet.read(self.path, columns_of(self.columns, self.side))
        table = self._table(frame)
        try:
            return tables.read(table)
        except (ValueError, TypeError) as error:
            raise self._located(error, table, *self._by_user(table)) from None

    def _whole_text(self, users: TextIds, items: TextIds) -> Keyed:
        source = Source(self.path, self.kind, self.own_names, *self._wanted)
        trec = self.kind.name == "trec"
        truth = self.side == "ground_truths"
        valid = (FINITE if trec else GRADE) if truth else NUMBER
        rows = blocks.whole(source, valid, users, items)
        table = self._table_of_rows(rows, source.value)
        if trec and self.ties == "order":
            table = replace(table, ties="item_desc")  # trec_eval's
        lists = tables.read(table)
        return _relevant(lists) if trec and truth else lists

    def find(self, user: Any) -> str:
        """Return `place` of the first row of a user, read again, for a message."""
        if self.kind.is_text and os.path.isfile(self.path):
            source = Source(self.path, self.kind, self.own_names, *self._wanted)
            for one, _, _ in rows(source, NUMBER):
                if str(one) == str(user):
                    return self.place(source.line)
        elif not self.kind.is_text:
            name = columns_of(self.columns, self.side)["user_id"]
            for first, frame in parquet.parts(self.path, columns_of(self.columns, self.side)):
                users = frame[name].to_pylist() if name in frame.column_names else []
                for row, one in enumerate(users, first):
                    if str(one) == str(user):
                        return self.place(row)
        return f"{self.path}: "

    def parts(
        self, meet: Meet[U], users: TextIds | None = None, items: TextIds | None = None
    ) -> Iterator[Part[U]]:
        """Yield the parts of the file.

        Parameters
        ----------
        users, items : TextIds, optional
            The codes of the ids of a text table, which other files may share.
        meet : callable
            Called for each part, before its items are read, with its users and the line (in
            Parquet the row) where the list of each user begins. It returns what the part shall
            have as `users`, such as their numbers, and may raise SplitUserError.
        """
        if not self.kind.is_text:
            yield from self._parts_of_tables(meet)
            return
        try:
            yield from self._parts_of_rows(meet, users or TextIds(), items or TextIds())
        except blocks.OddError:  # before any part
            yield from self._parts_of_text(meet)

    def _parts_of_tables(self, meet: Meet[U]) -> Iterator[Part[U]]:
        parts = parquet.parts(self.path, columns_of(self.columns, self.side))
        return self._read_parts(
            ((self._table(frame, first), None, None) for first, frame in parts), meet
        )

    def _parts_of_rows(self, meet: Meet[U], users: TextIds, items: TextIds) -> Iterator[Part[U]]:
        source = Source(self.path, self.kind, self.own_names, *self._wanted)
        valid = NUMBER if self.side == "ranks" else GRADE

        def parts() -> Iterator[_Read]:
            for part in blocks.of_complete_users(blocks.rows(source, valid, users, items), source):
                table, codes = self._table_of_rows(part, source.value), part.users.codes
                starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
                cut = _slices(table.frame, starts)
                if part.offsets is not None:
                    cut = partial(_cut_lists, part, source.value)
                yield table, part.lines, cut

        return self._read_parts(parts(), meet)

    def _read_parts(self, parts: Iterator[_Read], meet: Meet[U]) -> Iterator[Part[U]]:
        for part in parts:
            try:
                yield self._part(part[0], meet, *part[1:])
            except SplitUserError:
                raise
            except ValueError:
                self._find_split_user(parts, meet)
                raise

    def _find_split_user(self, parts: Iterator[_Read], meet: Meet[U]) -> None:
        """Raise SplitUserError if a later part has one: it explains a list that was cut in two."""
        for table, lines, cut in parts:
            try:
                self._part(replace(table, order="file"), meet, lines, cut)
            except SplitUserError:
                raise
            except (ValueError, TypeError):
                continue

    def _table_of_rows(self, rows: blocks.Rows, value: str | None) -> Table:
        frame = _frame_of(rows, value)
        return Table(frame, self.side, renamed(None), self.order, ties=self.ties)

    def _parts_of_text(self, meet: Meet[U]) -> Iterator[Part[U]]:
        for runs, value in self._runs():
            lines = np.array([run.line for run in runs], np.int64)

            def cut(lo: int, hi: int, runs: list[_Run] = runs, value: str | None = value) -> Any:
                return _table_of_lists(runs[lo:hi], value)

            table = Table(cut(0, len(runs)), self.side, renamed(None), ties=self.ties)
            yield self._part(table, meet, lines, cut)

    def _runs(self) -> Iterator[tuple[list[_Run], str | None]]:
        """Yield the rows of some users, and the name of their values."""
        ranked = self.side == "ranks"
        source = Source(self.path, self.kind, self.own_names, *self._wanted)
        runs: list[_Run] = []
        size = 0
        for user, group in groupby(rows(source, NUMBER if ranked else GRADE), key=itemgetter(0)):
            runs.append(_Run(user, source.line, list(group)))
            size += len(runs[-1].rows)
            if size >= ROWS:
                yield runs, source.value
                runs, size = [], 0
        if runs:
            yield runs, source.value

    def _table(self, frame: Any, first: int = 0) -> Table:
        names, order = (
            columns_of(self.columns, self.side),
            self.order if self.side == "ranks" else None,
        )
        in_file = self._column_names
        if self.side == "ranks" and names["score"] in frame.column_names:
            frame = parquet.ordered(frame, names["score"])
        return Table(frame, self.side, names, order, first, in_file, self.ties)

    def _column_names(self) -> list[str]:
        """Return the names of the columns of a file that is no text, for messages."""
        return parquet.column_names(self.path)

    def _part(
        self,
        table: Table,
        meet: Meet[U],
        lines: NDArray[np.int64] | None = None,
        cut: Cut | None = None,
    ) -> Part[U]:
        """Read a table of the file; of text, `lines` are those where the lists begin."""
        met: list[U] = []
        begins = [np.empty(0, np.int64)]

        def meet_users(users: Column, rows: NDArray[np.int64]) -> None:
            begins.append(rows)
            met.append(meet(users, table.first + rows if lines is None else lines[rows]))

        try:
            lists = tables.read(table, meet_users)
            return Part(met[0], lists)
        except SplitUserError as error:
            raise named(f"{self.path}: ", error) from None
        except (ValueError, TypeError) as error:
            rows = begins[-1]
            if lines is not None:
                raise self._located(error, table, lines[rows], cut) from None
            found = (rows, _slices(table.frame, rows)) if len(rows) else self._by_user(table)
            raise self._located(error, table, table.first + found[0], found[1]) from None

    def _by_user(self, table: Table) -> tuple[NDArray[np.int64], Cut | None]:
        """Return the first row of every user of a table, and how to cut it between users."""
        try:
            codes = table.ids("user_id").codes
        except (ValueError, TypeError):
            return np.empty(0, np.int64), None
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.append(True, codes[order][1:] != codes[order][:-1]))
        return order[starts], _slices(table.frame.take(order), starts)

    def _located(
        self, error: E, table: Table, places: NDArray[np.int64], cut: Cut | None
    ) -> E | ValueError:
        """Return an error with the file and, where it is about one list, its line or row."""
        text = [] if self.kind.is_text else [table.names[name] for name in ("user_id", "item_id")]
        try:
            parquet.check_text(self.path, table.frame, text, table.first)
        except ValueError as invalid:
            return invalid

        def fails(lo: int, hi: int) -> bool:
            assert cut is not None
            try:
                tables.read(replace(table, frame=cut(lo, hi), first=0), lambda users, rows: None)
            except (ValueError, TypeError):
                return True
            return False

        n = len(places)
        place = None if cut is None or _ROW.search(str(error)) else first_fault(n, fails)
        # a type is of a whole column; what is wrong with every list is not about one
        if place is None or (isinstance(error, TypeError) and place == 0 and fails(n - 1, n)):
            return named(f"{self.path}: ", error)
        return named(self.place(int(places[place])), error)

    def place(self, at: int) -> str:
        """Return how a message begins that is about a line or a row of the file."""
        return f"{self.path}:{at}: " if self.kind.is_text else f"{self.path}: row {at}: "


_ROW = re.compile(r"\brow \d")  # in messages that name the row themselves


def _slices(frame: Any, starts: NDArray[np.int64]) -> Cut:
    """Return what cuts a table of Arrow between lists that begin at some rows."""
    bounds = [*starts.tolist(), len(frame)]
    return lambda lo, hi: frame.slice(bounds[lo], bounds[hi] - bounds[lo])


def _frame_of(rows: blocks.Rows, value: str | None) -> PlainTable:
    """Return rows as a table; `value` is the name of their values."""
    data: dict[str, Any] = {"user_id": rows.users, "item_id": rows.items}
    if value is not None:
        data[value] = rows.values
    if rows.offsets is not None:
        lists = {name: (rows.offsets, column) for name, column in data.items() if name != "user_id"}
        data |= lists
    return PlainTable(data)


def _cut_lists(rows: blocks.Rows, value: str | None, lo: int, hi: int) -> PlainTable:
    """Return a table of some of the lists."""
    offsets = rows.offsets
    assert offsets is not None
    part = slice(offsets[lo], offsets[hi])
    users = replace(rows.users, codes=rows.users.codes[lo:hi])
    items = replace(rows.items, codes=rows.items.codes[part])
    values = None if rows.values is None else rows.values[part]
    bounds = offsets[lo : hi + 1] - offsets[lo]
    return _frame_of(replace(rows, users=users, items=items, values=values, offsets=bounds), value)


def _relevant(lists: Keyed) -> Keyed:
    """Return ground truths as TREC reads them: below 1 not relevant, below 0 not judged."""
    grades = lists.grades
    assert grades is not None  # a column that qrels have
    kept = grades >= 0
    n_kept = np.concatenate([[0], np.cumsum(kept)])[lists.offsets]
    items = replace(lists.items, codes=lists.items.codes[kept])
    grades = np.where(grades < 1, 0.0, grades)[kept]
    left = None if np.all(grades == 1) else grades
    return replace(lists, items=items, offsets=n_kept, grades=left)


def _table_of_lists(runs: list[_Run], value: str | None) -> PlainTable:
    """Return a table with a row per user and columns of lists."""
    lists = [[row for row in run.rows if row[1] is not None] for run in runs]
    offsets = offsets_of(np.array([len(rows) for rows in lists], np.int64))
    data: dict[str, Any] = {
        "user_id": [run.user for run in runs],
        "item_id": (offsets, [row[1] for rows in lists for row in rows]),
    }
    if value is not None:
        values = packed([row[2] for rows in lists for row in rows])
        is_grade = value == "relevance"
        data[value] = (
            offsets,
            values.astype(np.float64) if is_grade else in_column([values], value),
        )
    return PlainTable(data)
