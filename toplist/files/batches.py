"""Files in parts: lists of complete users, one part after another, however long the file.

A part ends where a user ends, so that it can be read like a table of its own. A user whose rows
do not stand together has several lists; whoever knows all users finds out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.files import parquet
from toplist.files.text import GRADE, NUMBER, Columns, Format, PathLike, Source, format_of, rows
from toplist.inputs import tables
from toplist.inputs.dataframes import PlainTable
from toplist.inputs.factorize import Column
from toplist.inputs.keyed import Keyed
from toplist.inputs.options import renamed
from toplist.inputs.tables import Meet, Table

TEXT = 1 << 17  # rows in a part of a text file: some 30 MB of Python objects


class SplitUserError(ValueError):
    """A user's rows do not stand together; raised by whoever knows all users."""


def _met(meet: Meet, first: int, users: Column, rows: NDArray[np.int64]) -> None:
    meet(users, first + rows)


@dataclass(frozen=True)
class Stream:
    """A file that is read part by part: of "ranks", or of "ground_truths".

    An `order` of "file" takes ranked items as they stand.
    """

    path: PathLike
    side: str
    format: Format = None
    columns: Columns = None
    order: str | None = None

    @property
    def is_parquet(self) -> bool:
        """Whether this is a Parquet file, or a folder of such."""
        return (self.format or format_of(self.path)) == "parquet"

    @property
    def unit(self) -> str:
        """What the places of users count."""
        return "row" if self.is_parquet else "line"

    def parts(self, meet: Meet) -> Iterator[Keyed]:
        """Yield the lists of the parts.

        `meet` is told the users of each part first, with the line or the row of Parquet where
        each user's list begins, and may refuse them.
        """
        yield from self._of_parquet(meet) if self.is_parquet else self._of_text(meet)

    def _of_parquet(self, meet: Meet) -> Iterator[Keyed]:
        names, order = renamed(self.columns), self.order if self.side == "ranks" else None
        in_file = partial(parquet.column_names, self.path)
        tables = (
            Table(frame, self.side, names, order, first, in_file)
            for first, frame in parquet.parts(self.path, names)
        )
        for table in tables:
            try:
                yield self._read(table, partial(_met, meet, table.first))
            except SplitUserError:
                raise
            except ValueError:
                self._look_further(tables, meet)
                raise

    def _look_further(self, tables: Iterator[Table], meet: Meet) -> None:
        """Raise SplitUserError if a later part has one: it tells more of a list that is cut."""
        for table in tables:
            try:
                self._read(replace(table, order="file"), partial(_met, meet, table.first))
            except SplitUserError:
                raise
            except (ValueError, TypeError):
                continue

    def _of_text(self, meet: Meet) -> Iterator[Keyed]:
        wanted = ("relevance",) if self.side == "ground_truths" else ("rank", "score")
        source = Source(self.path, self.format, self.columns, *(() if self.order else wanted))
        limits = GRADE if self.side == "ground_truths" else NUMBER
        part: list[tuple[Any, int, list[Any]]] = []  # user, line, rows
        size = 0
        for user, group in groupby(rows(source, *limits), key=itemgetter(0)):
            part.append((user, source.line, list(group)))
            size += len(part[-1][2])
            if size >= TEXT:
                yield self._of_rows(part, source.value, meet)
                part, size = [], 0
        if part:
            yield self._of_rows(part, source.value, meet)

    def _of_rows(
        self, part: list[tuple[Any, int, list[Any]]], value: str | None, meet: Meet
    ) -> Keyed:
        lists = [[row for row in entries if row[1] is not None] for _, _, entries in part]
        offsets = np.concatenate([[0], np.cumsum([len(entries) for entries in lists])])
        data: dict[str, Any] = {
            "user_id": [user for user, _, _ in part],
            "item_id": (offsets, [row[1] for entries in lists for row in entries]),
        }
        if value is not None:
            values = [row[2] for entries in lists for row in entries]
            data[value] = (offsets, np.array(values, np.float64))
        lines = np.array([line for _, line, _ in part], np.int64)
        table = Table(PlainTable(data), self.side, renamed(None))
        return self._read(table, lambda users, _: meet(users, lines))

    def _read(self, table: Table, meet: Meet) -> Keyed:
        try:
            return tables.read(table, meet)
        except (ValueError, TypeError) as error:
            raise type(error)(f"{os.fspath(self.path)}: {error}") from None
