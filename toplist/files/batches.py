"""Files in parts: lists of complete users, one part after another, however long the file.

A part ends where a user ends, so that it can be read like a table of its own. A user whose rows
are not together has several lists; only the caller, who knows the users of all parts, notices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from toplist.checks import prefixed
from toplist.files import parquet
from toplist.files.formats import Columns, FileFormat, Id, PathLike, find_format
from toplist.files.text import GRADE, NUMBER, Source, rows
from toplist.inputs import tables
from toplist.inputs.dataframes import PlainTable
from toplist.inputs.factorize import Column
from toplist.inputs.keyed import Keyed
from toplist.inputs.lists import offsets_of
from toplist.inputs.options import renamed
from toplist.inputs.tables import Table

ROWS = 1 << 17  # rows in a part of a text file: some 30 MB of Python objects

U = TypeVar("U")
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

    With an `order` of "file", ranked items are in the order of the file.
    """

    path: PathLike
    side: str
    format: str | None = None
    columns: Columns = None
    order: str | None = None

    @property
    def kind(self) -> FileFormat:
        """The format of the file."""
        keyword = "recs_format" if self.side == "ranks" else "truth_format"
        return find_format(self.path, self.format, keyword)

    @property
    def unit(self) -> str:
        """What the places of users count."""
        return "line" if self.kind.is_text else "row"

    def whole(self) -> Keyed:
        """Return all lists of a file that is not text, the rows of a user in any place."""
        return self._read(self._table(parquet.read(self.path, renamed(self.columns))))

    def parts(self, meet: Meet[U]) -> Iterator[Part[U]]:
        """Yield the parts of the file.

        Parameters
        ----------
        meet : callable
            Called for each part, before its items are read, with its users and the line (in
            Parquet the row) where the list of each user begins. It returns what the part shall
            have as `users`, such as their numbers, and may raise SplitUserError.
        """
        yield from self._parts_of_text(meet) if self.kind.is_text else self._parts_of_tables(meet)

    def _parts_of_tables(self, meet: Meet[U]) -> Iterator[Part[U]]:
        parts = parquet.parts(self.path, renamed(self.columns))
        tables = (self._table(frame, first) for first, frame in parts)
        for table in tables:
            try:
                yield self._part(table, meet)
            except SplitUserError:
                raise
            except ValueError:
                self._find_split_user(tables, meet)
                raise

    def _find_split_user(self, tables: Iterator[Table], meet: Meet[U]) -> None:
        """Raise SplitUserError if a later part has one: it explains a list that was cut in two."""
        for table in tables:
            try:
                self._part(replace(table, order="file"), meet)
            except SplitUserError:
                raise
            except (ValueError, TypeError):
                continue

    def _parts_of_text(self, meet: Meet[U]) -> Iterator[Part[U]]:
        for runs, value in self._runs():
            lines = np.array([run.line for run in runs], np.int64)
            table = Table(_table_of_lists(runs, value), self.side, renamed(None))
            yield self._part(table, meet, lines)

    def _runs(self) -> Iterator[tuple[list[_Run], str | None]]:
        """Yield the rows of some users, and the name of their values."""
        ranked = self.side == "ranks"
        wanted = ("rank", "score") if ranked else ("relevance",)
        source = Source(self.path, self.kind, self.columns, *(() if self.order else wanted))
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
        order = self.order if self.side == "ranks" else None
        in_file = partial(parquet.column_names, self.path)
        return Table(frame, self.side, renamed(self.columns), order, first, in_file)

    def _part(self, table: Table, meet: Meet[U], lines: NDArray[np.int64] | None = None) -> Part[U]:
        """Read a table of the file; of text, `lines` are those where the lists begin."""
        met: list[U] = []

        def meet_users(users: Column, rows: NDArray[np.int64]) -> None:
            met.append(meet(users, table.first + rows if lines is None else lines[rows]))

        lists = self._read(table, meet_users)
        return Part(met[0], lists)

    def _read(self, table: Table, meet: Meet[None] | None = None) -> Keyed:
        try:
            return tables.read(table, meet)
        except (ValueError, TypeError) as error:
            raise prefixed(f"{self.path}: ", error) from None


def _table_of_lists(runs: list[_Run], value: str | None) -> PlainTable:
    """Return a table with a row per user and columns of lists."""
    lists = [[row for row in run.rows if row[1] is not None] for run in runs]
    offsets = offsets_of(np.array([len(rows) for rows in lists], np.int64))
    data: dict[str, Any] = {
        "user_id": [run.user for run in runs],
        "item_id": (offsets, [row[1] for rows in lists for row in rows]),
    }
    if value is not None:
        values = [row[2] for rows in lists for row in rows]
        data[value] = (offsets, np.array(values, np.float64))
    return PlainTable(data)
