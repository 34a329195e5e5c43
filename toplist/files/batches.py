"""Files and streams in parts: lists of complete users, one part after another, however many.

A part ends where a user ends, so that it can be read like a table of its own. A user whose rows
are not together has several lists; only the caller, who knows the users of all parts, notices.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toplist.checks import about, cached
from toplist.files import parquet
from toplist.files.errors import named, refused
from toplist.files.formats import GZIP, ColumnNames, FileFormat, FormatName, PathLike, find_format
from toplist.files.text import TREC_QRELS, TREC_RUN, TextTables, Wanted
from toplist.inputs import tables
from toplist.inputs.columns import Cells, Table
from toplist.inputs.keyed import ListsByUser
from toplist.inputs.lists import offsets_of
from toplist.inputs.objects import CURSORS, one_result_at_a_time
from toplist.inputs.options import (
    GROUP,
    Options,
    Order,
    columns_of,
    is_composite,
    named_in,
    refuse_composite,
    renamed,
)
from toplist.inputs.tables import SideTable
from toplist.inputs.texts import Texts
from toplist.metrics.conventions import Ties

# The texts by which users and items are numbered.
IdTexts = tuple[Texts, Texts]

# What a byte of a text file takes that is read as a whole, and how far a packed one unpacks.
OF_TEXT, PACKED = 10, 8


class UserPart(NamedTuple):
    """Lists of complete users, and the row of the file where each begins, counted from 0.

    `is_long` says that the file has a row per user and item, so that more of a user may follow.
    """

    lists: ListsByUser
    begins: NDArray[np.int64]
    is_long: bool = True


@dataclass(frozen=True)
class Stream:
    """One side of an evaluation that is read part by part: "ranks", or "ground_truths".

    `path` is what messages call it. With an `order` of "file", ranked items are in the order of
    the file. `ties` is how items of equal scores are ordered; None: as the format has it.
    """

    path: PathLike
    side: str
    columns: ColumnNames = None
    order: Order | None = None
    ties: Ties | None = None
    #: Of the rows of one system of the file: the column of systems, its name, and the rows.
    of_system: tuple[str, str, SideTable] | None = field(default=None, kw_only=True)

    @property
    def names(self) -> dict[str, str]:
        """What each column is called."""
        return columns_of(self.columns, self.side)

    @property
    def ordering(self) -> Ties:
        """How items of equal scores are ordered."""
        return self.ties or "order"

    #: Whether ids are integers or texts; without it every id is text.
    typed_ids = True
    #: What `places_of` counts.
    unit = "row"
    #: Whether `places_of` knows what has not been read yet only.
    is_read_once = False

    @property
    def in_parts(self) -> bool:
        """Whether the file can be read in parts: not where its keys are of several columns."""
        return not is_composite(self.columns, self.side)

    def parts(self, known: IdTexts) -> Iterator[UserPart]:
        """Yield the lists of complete users; those of a file that is read whole at once.

        Text is numbered by `known`, for users and items. Errors know the `user` or the `row` that
        they are about, but not its place in the file.
        """
        if not self.in_parts:
            lists = self.read_all(known)
            yield UserPart(lists, np.zeros(len(lists.users.codes), np.int64))
            return
        for table in self._tables(known):
            lists, n = self._read(table, in_runs=True), len(table.frame)
            rows = lists.offsets[:-1] if len(lists.users.codes) < n else np.arange(n)
            yield UserPart(lists, table.first + rows, self._is_long(table.frame))

    def read_all(self, known: IdTexts) -> ListsByUser:
        """Return all lists, the rows of a user in any place."""
        if self.of_system is not None:
            return self._read(replace(self.of_system[2], known=known))
        return self._read(self._whole(known))

    def by_system(self, system: str) -> Iterator[tuple[str, Stream]]:
        """Yield the rows of each system, in order of first appearance."""
        whole = self._whole((Texts(), Texts()), system)
        for name, part in tables.by_column(whole.frame, system, "ranks"):
            yield name, replace(self, of_system=(system, name, replace(whole, frame=part)))

    def _tables(self, known: IdTexts) -> Iterator[SideTable]:
        """Yield tables of complete users."""
        raise NotImplementedError

    def _whole(self, known: IdTexts, system: str | None = None) -> SideTable:
        """Return all rows as a table, with the column of systems if there is one."""
        raise NotImplementedError

    def _read(self, table: SideTable, in_runs: bool = False) -> ListsByUser:
        """Return the lists of a table."""
        return tables.read(table, in_runs)

    def _is_long(self, frame: Any) -> bool:
        """Whether a table has a row per user and item, as far as `UserPart` has to know."""
        return True

    def places_of(self, user: Any, item: Any = None) -> list[int]:
        """Return the places at which rows of a user begin, or those of an item; read again."""
        return []

    def size(self) -> int:
        """Return about how many bytes `read_all` takes, at its peak."""
        return 0

    def way_out(self, needed: int, free: int) -> str:
        """Say what to do with a file whose rows are in no order, and which does not fit."""
        user, path = self.names["user_id"], os.fspath(self.path)
        base, extension = os.path.splitext(path)
        target = f"{base}-sorted{extension}"
        scan, sink, read = self._readers(path, target)
        polars = f"pl.{scan}.sort({user!r}, maintain_order=True).{sink}"
        column = '"' + user.replace('"', '""') + '"'
        duckdb = f"COPY (FROM {read} ORDER BY {column}) TO {target!r}"
        either = "" if self.order else f", or in DuckDB, {duckdb}"
        return (
            f", and reading it whole takes about {needed / 1e9:.1f} GB, more than a quarter of the "
            f"{free / 1e9:.1f} GB that are free: sort it by user, in polars, {polars}{either}"
        )

    def _readers(self, path: str, target: str) -> tuple[str, str, str]:
        """Return what reads and writes the file, lazily: two words of polars, one of DuckDB."""
        raise NotImplementedError

    def located(self, error: Exception) -> Exception:
        """Return an error with the path before it and, if it is about a list, its place."""
        if hasattr(error, "path"):
            return error
        place = None
        if (user := getattr(error, "user", None)) is not None:
            item = getattr(error, "item", None)
            found = self.places_of(user, item) or self.places_of(user)
            # of an item that is there twice, the second place is the one that is wrong
            place = next(iter(found[1:2] if item is not None else ()), next(iter(found), None))
        error = about(error, path=str(self.path), **self._fact(place))
        return error if str(error).startswith(self.at(place)) else named(self.at(place), error)

    def at(self, place: int | None) -> str:
        """Return how a message begins that is about a place."""
        return f"{self.path}: " if place is None else f"{self.path}: row {place}: "

    def _fact(self, place: int | None) -> dict[str, int]:
        return {} if place is None else {self.unit: place}


@dataclass(frozen=True)
class TextStream(Stream):
    """A text file: lines of CSV, TSV, JSONL or TREC."""

    format: FileFormat = field(kw_only=True)
    unit = "line"

    @property
    def typed_ids(self) -> bool:  # type: ignore[override]
        """As the format has it."""
        return self.format.typed_ids

    @property
    def in_parts(self) -> bool:
        """As the format has it; keys of several columns are read as a whole."""
        return self.format.in_parts and super().in_parts

    @property
    def ordering(self) -> Ties:
        """As trec_eval does it, in its files."""
        return self.ties or ("item_desc" if self.format.name == "trec" else "order")

    def read_all(self, known: IdTexts) -> ListsByUser:
        """Return all lists, the rows of a user in any place."""
        lists = super().read_all(known)
        if self._is_qrels and lists.grades is not None and not lists.grouped:
            # below 1: not relevant
            grades = np.where((lists.grades > 0) & (lists.grades < 1), 0.0, lists.grades)
            return replace(lists, grades=grades)
        return lists

    @property
    def _is_qrels(self) -> bool:
        return self.format.name == "trec" and self.side == "ground_truths"

    def _tables(self, known: IdTexts) -> Iterator[SideTable]:
        file, first = self._file(), 0
        for table in file.of_complete_users():
            yield self._table(file, table, first, known)
            first += len(table)

    def _whole(self, known: IdTexts, system: str | None = None) -> SideTable:
        file = self._file(system)
        if system is not None and self.format.name == "trec":
            raise file.error("a run of TREC has no column of systems: a file holds one run")
        table = file.joined(file.tables())
        if self._is_qrels and GROUP in self.names:
            table = _relevant_groups(table)
        return self._table(file, table, 0, known)

    def size(self) -> int:
        """Return about how many bytes `read_all` takes, at its peak."""
        with open(self.path, "rb") as file:
            unpacked = PACKED if file.read(2) == GZIP else 1
        return OF_TEXT * os.path.getsize(self.path) * unpacked

    def _readers(self, path: str, target: str) -> tuple[str, str, str]:
        """Return what reads and writes the file, lazily: two words of polars, one of DuckDB."""
        if self.format.name == "jsonl":
            return f"scan_ndjson({path!r})", f"sink_ndjson({target!r})", f"read_json({path!r})"
        tabs = self.format.delimiter == "\t"
        more, also = (", separator='\\t'", ", delim='\\t'") if tabs else ("", "")
        scan = f"scan_csv({path!r}, infer_schema=False{more})"
        read = f"read_csv({path!r}, all_varchar=true{also})"
        return scan, f"sink_csv({target!r}{more})", read

    def _file(self, system: str | None = None) -> TextTables:
        """Return the file to be read, with the column of systems if there is one."""
        header: tuple[str, ...] = ()
        if self.format.name == "trec":
            header = TREC_RUN if self.side == "ranks" else TREC_QRELS
        return TextTables(self.path, self.format, partial(self._choose, system), header)

    def _choose(
        self, system: str | None, header: Sequence[str], record: Mapping[str, Any]
    ) -> Wanted:
        """Return which columns are read of those in a header, or a line of JSON."""
        names, columns = self.names, [*header]
        more: tuple[str, ...] = () if system is None else (system,)
        if self.format.name == "trec":  # its columns have no names of one's own
            if names.get(GROUP, TREC_QRELS[1]) != TREC_QRELS[1]:
                raise ValueError(
                    f"columns: groups of TREC qrels are in their second field: write "
                    f"{GROUP!r}: {TREC_QRELS[1]!r}, not {names[GROUP]!r}"
                )
            names = renamed({GROUP: TREC_QRELS[1]} if GROUP in names else {}, tuple(names))
            if GROUP in names:  # which are relevant is read beside
                columns.remove(TREC_QRELS[-1])
                more, rule = (TREC_QRELS[1],), "relevance"
        called = named_in(names, columns, self.side)
        empty = Table({name: Cells(name, [], "text") for name in columns})
        order = self.order if self.side == "ranks" else None
        side = SideTable(empty, self.side, called, order, 0, lambda: columns)
        value = side.check(type(record.get(called["item_id"])) is list)
        ids = *side.parts("user_id"), called["item_id"], *more
        if GROUP in names and self.format.name == "trec":
            return Wanted((*ids, TREC_QRELS[-1]), ids, TREC_QRELS[-1], rule, called)
        if value == GROUP:
            return Wanted((*ids, called[GROUP]), (*ids, called[GROUP]), None, value, called)
        if value is None:
            return Wanted(ids, ids, called=called)
        found = Wanted((*ids, called[value]), ids, called[value], value)
        return found._replace(called=called | {value: found.key})

    def _table(self, file: TextTables, table: Table, first: int, known: IdTexts) -> SideTable:
        how = self.order if self.side == "ranks" else None, first, None, self.ordering, known
        return SideTable(table, self.side, file.wanted.called, *how)

    def places_of(self, user: Any, item: Any = None) -> list[int]:
        """Return the lines at which rows of a user begin, or those of an item; read again."""
        if is_composite(self.columns, self.side):
            return []
        column, name = (None, None) if self.of_system is None else self.of_system[:2]
        return list(self._file(column).lines_of_user(user, item, name))

    def at(self, place: int | None) -> str:
        """Return how a message begins that is about a line."""
        return f"{self.path}: " if place is None else f"{self.path}:{place}: "


@dataclass(frozen=True)
class ParquetStream(Stream):
    """A Parquet file, or a folder of such files; keys of several columns are read as a whole."""

    @cached
    def names(self) -> dict[str, str]:
        """What each column is called."""
        return named_in(columns_of(self.columns, self.side), self._columns(), self.side)

    def _tables(self, known: IdTexts) -> Iterator[SideTable]:
        for first, frame in self._frames():
            yield self._table(frame, first, known)

    def _whole(self, known: IdTexts, system: str | None = None) -> SideTable:
        if system is not None or not self.in_parts:
            return self._table(parquet.read_table(self.path), 0, known)
        frames = [frame for _, frame in self._frames()]
        return self._table(parquet.joined(os.fspath(self.path), frames), 0, known)

    def _read(self, table: SideTable, in_runs: bool = False) -> ListsByUser:
        try:
            return super()._read(table, in_runs)
        except (ValueError, TypeError):
            self._check_text(table)
            raise

    def _is_long(self, frame: Any) -> bool:
        return parquet.is_long(frame.schema, frame.column_names)

    def size(self) -> int:
        """Return about how many bytes `read_all` takes, at its peak."""
        return parquet.size(self.path, {*self.names.values()})

    def _readers(self, path: str, target: str) -> tuple[str, str, str]:
        """Return what reads and writes the file, lazily: two words of polars, one of DuckDB."""
        path = os.path.join(path, "**", "*.parquet") if os.path.isdir(path) else path
        return f"scan_parquet({path!r})", f"sink_parquet({target!r})", f"read_parquet({path!r})"

    def places_of(self, user: Any, item: Any = None) -> list[int]:
        """Return the rows at which those of a user begin; read again."""
        if self.of_system is not None or not self.in_parts:
            return []
        try:
            return list(_rows_of_user(self._frames(), self.names["user_id"], user))
        except (ValueError, KeyError):
            return []

    def _frames(self) -> Iterator[tuple[int, Any]]:
        """Yield the number of the first row, and a table of the rows of complete users."""
        return parquet.parts(self.path, self.names)

    def _table(self, frame: Any, first: int, known: IdTexts) -> SideTable:
        names, order = self.names, self.order if self.side == "ranks" else None
        return SideTable(frame, self.side, names, order, first, self._columns, self.ordering, known)

    def _columns(self) -> list[str]:
        """Return the names of all columns, for messages."""
        return parquet.column_names(self.path)

    def _check_text(self, table: SideTable) -> None:
        names = [table.names[name] for name in ("user_id", "item_id")]
        parquet.check_text(self.path, table.frame, names, table.first)


@dataclass(frozen=True)
class BatchStream(ParquetStream):
    """Record batches, which cannot be read again; `path` is what messages call them."""

    batches: Iterator[Any] = field(kw_only=True)
    column_names: tuple[str, ...] = field(kw_only=True)
    #: The last table.
    seen: list[tuple[int, Any]] = field(default_factory=list, kw_only=True)
    is_read_once = True

    def _frames(self) -> Iterator[tuple[int, Any]]:
        found = parquet.of_complete_users(str(self.path), self._opened(), self.names["user_id"])
        for first, table in found:
            self.seen[:] = [(first, table)]
            yield first, table

    def _opened(self) -> Iterator[tuple[Any, bool]]:
        arrow, wanted = parquet.pyarrow(), set(self.names.values())
        for batch in self.batches:
            table = batch
            if isinstance(batch, arrow.RecordBatch):
                table = arrow.Table.from_batches([batch])
            names = parquet.columns_read(table.column_names, wanted)
            yield table.select(names), parquet.is_long(table.schema, names)

    def way_out(self, needed: int, free: int) -> str:
        """Say what to do with a stream whose rows are in no order."""
        user = self.names["user_id"]
        return (
            f": a stream is read once, with the rows of a user together: sort it, ORDER BY {user} "
            f"in DuckDB, .sort({user!r}, maintain_order=True) in polars, or give a file"
        )

    def places_of(self, user: Any, item: Any = None) -> list[int]:
        """Return the rows at which those of a user begin, from the last table on."""
        left = [*self.seen, *self._frames()]
        return list(_rows_of_user(left, self.names["user_id"], user))

    def _columns(self) -> list[str]:
        return list(self.column_names)


def _rows_of_user(parts: Iterable[tuple[int, Any]], name: str, user: Any) -> Iterator[int]:
    """Yield the rows at which those of a user begin, compared as text."""
    is_before = False
    for first, frame in parts:
        for row, one in enumerate(frame[name].to_pylist(), first):
            is_user = str(one) == str(user)
            if is_user and not is_before:
                yield row
            is_before = is_user


def stream_of(
    path: PathLike,
    side: str,
    format: FormatName | None = None,
    columns: ColumnNames = None,
    order: Order | None = None,
    ties: Ties | None = None,
    keyword: str = "",
) -> Stream:
    """Return the file of one side, by its format, which a keyword may name."""
    found = find_format(path, format, keyword or f"{side}_format")
    columns_of(columns, side)  # refuses wrong names before any file is read
    if found.is_text:
        if not found.is_table:
            refuse_composite(columns, f"files of {found.name}")
        return TextStream(path, side, columns, order, ties, format=found)
    return ParquetStream(path, side, columns, order, ties)


def loaded(stream: Stream, known: IdTexts) -> ListsByUser:
    """Return all lists of a file; errors name the file and the place."""
    try:
        return stream.read_all(known)
    except (ValueError, TypeError) as error:
        raise stream.located(error) from None


def stream_of_batches(given: Any, side: str, options: Options, is_part: bool) -> Stream:
    """Return record batches of one side, one after another; those of a part may have no row."""
    refuse_composite(options.columns, "streams")
    batches, names = _opened(given, side)
    batches = batches if is_part else _with_rows(batches, side)
    given = side, side, options.columns, None, options.ties
    return BatchStream(*given, batches=batches, column_names=names)


def _opened(given: Any, what: str) -> tuple[Iterator[Any], tuple[str, ...]]:
    with one_result_at_a_time(what):
        reader = parquet.pyarrow().RecordBatchReader.from_stream(given)
    return _streamed(reader, what), tuple(reader.schema.names)


def _streamed(reader: Any, what: str) -> Iterator[Any]:
    with one_result_at_a_time(what):
        yield from reader


def _with_rows(batches: Iterator[Any], what: str) -> Iterator[Any]:
    """Return batches one after another; ValueError once they have ended without a row."""
    n_rows = 0
    for batch in batches:
        n_rows += batch.num_rows
        yield batch
    if n_rows == 0:
        raise refused(
            what,
            "no rows; keep='part' takes an empty part. A connection of DuckDB 1 ends the first of "
            f"two streams: {CURSORS}",
        )


def _relevant_groups(table: Table) -> Table:
    """Return the groups of qrels by query: rows of a grade below 1 are left out."""
    queries, items, labels, grades = (cells.objects() for cells in table.cells.values())
    found: dict[Any, list[tuple[Any, Any]]] = {query: [] for query in queries}
    for query, *row, grade in zip(queries, items, labels, grades, strict=True):
        if grade >= 1:
            found[query].append((row[0], row[1]))
    offsets = offsets_of([*map(len, found.values())])
    rows = [pair for pairs in found.values() for pair in pairs]
    query, item, label, _ = table.cells

    def lists(name: str, cells: list[Any]) -> Cells:
        return Cells(name, Cells(name, cells, "text"), "lists", offsets=offsets)

    item_lists = lists(item, [one for one, _ in rows])
    group_lists = lists(label, [one for _, one in rows])
    return Table({query: Cells(query, [*found], "text"), item: item_lists, label: group_lists})
