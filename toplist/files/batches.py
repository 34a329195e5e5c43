"""Files and streams in parts: lists of complete users, one part after another, however many.

A part ends where a user ends, so that it can be read like a table of its own. A user whose rows
are not together has several lists; only the caller, who knows the users of all parts, notices.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toplist.checks import about, cached, optional
from toplist.files import parquet
from toplist.files.errors import named, refused
from toplist.files.formats import GZIP, ColumnNames, FileFormat, FormatName, PathLike, find_format
from toplist.files.rows import IdTexts, Rows, of_complete_users, plain_rows, rows, together
from toplist.files.tables import numbers, read_table
from toplist.files.text import (
    FINITE,
    NUMBER,
    Row,
    RowSource,
    Valid,
    lines_of_user,
    numbered,
    rows_of_lines,
)
from toplist.inputs import tables
from toplist.inputs.keyed import ListsByUser
from toplist.inputs.objects import CURSORS, one_result_at_a_time
from toplist.inputs.options import (
    COLUMNS,
    GROUP,
    Options,
    Order,
    Ties,
    columns_of,
    is_composite,
    named_in,
    refuse_composite,
)
from toplist.inputs.tables import Groups, SideTable, grouped, put_in_order

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
    #: Whether the file can be read in parts; without it always as a whole.
    in_parts = True
    #: What `places_of` counts.
    unit = "row"
    #: Whether `places_of` knows what has not been read yet only.
    is_read_once = False

    def parts(self, known: IdTexts) -> Iterator[UserPart]:
        """Yield the lists of complete users; text is numbered by `known`, for users and items.

        Errors know the `user` or the `row` that they are about, but not its place in the file.
        """
        raise NotImplementedError

    def read_all(self, known: IdTexts) -> ListsByUser:
        """Return all lists, the rows of a user in any place."""
        raise NotImplementedError

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
    def in_parts(self) -> bool:  # type: ignore[override]
        """As the format has it."""
        return self.format.in_parts

    @property
    def ordering(self) -> Ties:
        """As trec_eval does it, in its files."""
        return self.ties or ("item_desc" if self.format.name == "trec" else "order")

    def parts(self, known: IdTexts) -> Iterator[UserPart]:
        """Yield the lists of complete users."""
        source, first = self.source(), 0
        for part in of_complete_users(rows(source, self.valid, known), source):
            groups = Groups(part.users, part.offsets, None)
            yield UserPart(self._lists(source, part, groups), first + part.offsets[:-1])
            first += int(part.offsets[-1])

    def read_all(self, known: IdTexts) -> ListsByUser:
        """Return all lists, the rows of a user in any place."""
        source = self.source()
        found = together(list(rows(source, self.valid, known)), source)
        lists = self._lists(source, found, grouped(found.users, ends=found.offsets))
        if self.format.name == "trec" and self.side == "ground_truths" and not lists.grouped:
            return _relevant(lists)
        return lists

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

    def source(self) -> RowSource:
        """Return the file to be read."""
        names = self.names.items()
        own = {ours: theirs for ours, theirs in names if ours != theirs or ours == GROUP}
        of_truth = GROUP if GROUP in own else "relevance"
        wanted: tuple[str, ...] = ("rank", "score") if self.side == "ranks" else (of_truth,)
        return RowSource(self.path, self.format, own, *(() if self.order else wanted))

    @property
    def valid(self) -> Valid:
        """The numbers that a column of values may hold."""
        return NUMBER if self.side == "ranks" else FINITE

    def _lists(self, source: RowSource, found: Rows, groups: Groups) -> ListsByUser:
        ordering = self.side, source.value, self.ordering
        return put_in_order(ordering, groups, found.items, found.values)

    def places_of(self, user: Any, item: Any = None) -> list[int]:
        """Return the lines at which rows of a user begin, or those of an item; read again."""
        return list(lines_of_user(self.source(), user, item))

    def at(self, place: int | None) -> str:
        """Return how a message begins that is about a line."""
        return f"{self.path}: " if place is None else f"{self.path}:{place}: "


@dataclass(frozen=True)
class ParquetStream(Stream):
    """A Parquet file, or a folder of such files."""

    @cached
    def names(self) -> dict[str, str]:
        """What each column is called."""
        return named_in(columns_of(self.columns, self.side), self._columns(), self.side)

    def parts(self, known: IdTexts) -> Iterator[UserPart]:
        """Yield the lists of complete users."""
        for first, frame in self._tables():
            table = self._table(frame, first, known)
            try:
                lists = tables.read(table, in_runs=True)
            except (ValueError, TypeError):
                self._check_text(table)
                raise
            is_long = parquet.is_long(frame.schema, frame.column_names)
            rows = lists.offsets[:-1] if is_long else np.arange(len(frame))
            yield UserPart(lists, first + rows, is_long)

    def read_all(self, known: IdTexts) -> ListsByUser:
        """Return all lists, the rows of a user in any place."""
        frames = [frame for _, frame in self._tables()]
        table = self._table(parquet.joined(os.fspath(self.path), frames), 0, known)
        try:
            return tables.read(table)
        except (ValueError, TypeError):
            self._check_text(table)
            raise

    def size(self) -> int:
        """Return about how many bytes `read_all` takes, at its peak."""
        return parquet.size(self.path, {*self.names.values()})

    def _readers(self, path: str, target: str) -> tuple[str, str, str]:
        """Return what reads and writes the file, lazily: two words of polars, one of DuckDB."""
        path = os.path.join(path, "**", "*.parquet") if os.path.isdir(path) else path
        return f"scan_parquet({path!r})", f"sink_parquet({target!r})", f"read_parquet({path!r})"

    def places_of(self, user: Any, item: Any = None) -> list[int]:
        """Return the rows at which those of a user begin; read again."""
        try:
            return list(_rows_of_user(self._tables(), self.names["user_id"], user))
        except (ValueError, KeyError):
            return []

    def _tables(self) -> Iterator[tuple[int, Any]]:
        """Yield the number of the first row, and a table of the rows of complete users."""
        return parquet.parts(self.path, self.names)

    def _table(self, frame: Any, first: int, known: IdTexts) -> SideTable:
        names, order = self.names, self.order if self.side == "ranks" else None
        if self.side == "ranks" and names["score"] in frame.column_names:
            parquet.check_finite(self.path, frame, names["score"], first)
            frame = parquet.ordered(frame, names["score"])
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

    batches: Iterator[Any] = field(default_factory=lambda: iter(()))
    column_names: tuple[str, ...] = ()
    seen: list[tuple[int, Any]] = field(default_factory=list)  # the last table
    is_read_once = True

    def _tables(self) -> Iterator[tuple[int, Any]]:
        found = parquet.of_complete_users(str(self.path), self._read(), self.names["user_id"])
        for first, table in found:
            self.seen[:] = [(first, table)]
            yield first, table

    def _read(self) -> Iterator[tuple[Any, bool]]:
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
        left = [*self.seen, *self._tables()]
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
    if is_composite(columns, side):
        if found.is_text and not found.is_table:
            refuse_composite(columns, f"files of {found.name}")
        return CompositeStream(path, side, columns, order, ties, format=found)
    if found.is_text:
        return TextStream(path, side, columns, order, ties, format=found)
    return ParquetStream(path, side, columns, order, ties)


@dataclass(frozen=True)
class CompositeStream(ParquetStream):
    """A table in a file whose rows have keys of several columns; it is read whole."""

    format: FileFormat = field(kw_only=True)
    in_parts = False

    @property
    def typed_ids(self) -> bool:  # type: ignore[override]
        """As the format has it."""
        return self.format.typed_ids

    @cached
    def table(self) -> Any:
        """The whole table, in Arrow."""
        if not self.format.is_text:
            return parquet.read_table(self.path)
        arrow = optional("pyarrow", "keys of several columns are read through pyarrow", "io")
        found: dict[str, Any] = dict(read_table(self.path))
        names = named_in(columns_of(self.columns, self.side), found, self.side)
        for name in {names[one] for one in COLUMNS[2:]} & found.keys():
            found[name] = numbers(self.path, name, found[name])
        return arrow.table(found)

    def _columns(self) -> list[str]:
        return list(self.table.column_names)

    def parts(self, known: IdTexts) -> Iterator[UserPart]:
        """Yield all lists."""
        lists = self.read_all(known)
        yield UserPart(lists, np.zeros(len(lists.users.codes), np.int64))

    def read_all(self, known: IdTexts) -> ListsByUser:
        """Return all lists, the rows of a user in any place."""
        return tables.read(self._table(self.table, 0, known))

    def places_of(self, user: Any, item: Any = None) -> list[int]:
        """Return nothing: rows are not looked up by several columns."""
        return []


def loaded(stream: Stream, known: IdTexts) -> ListsByUser:
    """Return all lists of a file; errors name the file and the place."""
    try:
        return stream.read_all(known)
    except (ValueError, TypeError) as error:
        raise stream.located(error) from None


@dataclass(frozen=True)
class SystemOfText(TextStream):
    """The rows of one system of a text file; `system` is the column and the name."""

    system: tuple[str, str] = field(kw_only=True)
    rows: Rows = field(kw_only=True)
    value: str | None = field(kw_only=True)

    def read_all(self, known: IdTexts) -> ListsByUser:
        """Return all lists, the rows of a user in any place."""
        source = self.source()
        source.value = self.value
        return self._lists(source, self.rows, grouped(self.rows.users, ends=self.rows.offsets))

    def places_of(self, user: Any, item: Any = None) -> list[int]:
        """Return the lines at which rows of a user begin, or those of an item; read again."""
        source = self.source()
        source.system, name = self.system
        return list(lines_of_user(source, (name, user), item))


@dataclass(frozen=True)
class SystemOfParquet(ParquetStream):
    """The rows of one system of a Parquet file."""

    table: Any = None

    def _columns(self) -> list[str]:
        return list(self.table.column_names)

    def read_all(self, known: IdTexts) -> ListsByUser:
        """Return all lists, the rows of a user in any place."""
        return tables.read(self._table(self.table, 0, known))

    def places_of(self, user: Any, item: Any = None) -> list[int]:
        """Return nothing: a row of the table is none of the file."""
        return []


def by_system(stream: Stream, system: str, known: IdTexts) -> Iterator[tuple[str, Stream]]:
    """Yield the rows of each system of a file, in order of first appearance."""
    given = stream.path, stream.side, stream.columns, stream.order, stream.ties
    if not isinstance(stream, TextStream):
        whole = stream.table if isinstance(stream, CompositeStream) else None
        whole = parquet.read_table(stream.path) if whole is None else whole
        for name, part in tables.by_column(whole, system, "ranks"):
            yield name, SystemOfParquet(*given, part)
        return
    source, found = stream.source(), dict[str, list[Row]]()
    source.system = system
    if not (stream.format.is_table or stream.format.typed_ids):
        raise source.error("a run of TREC has no column of systems: a file holds one run")
    with source.opened() as lines:
        whose: Any  # a pair of system and user
        for whose, item, value in numbered(source, stream.valid, rows_of_lines(source, lines)):
            found.setdefault(whose[0], []).append((whose[1], item, value))
    source.line = 0
    if not found:
        raise source.error("no rows")
    for name, part in found.items():
        rows = together(list(plain_rows(source, known, iter(part))), source)
        more: dict[str, Any] = {"format": stream.format, "rows": rows, "value": source.value}
        yield name, SystemOfText(*given, system=(system, name), **more)


def stream_of_batches(given: Any, side: str, options: Options, is_part: bool) -> Stream:
    """Return record batches of one side, one after another; those of a part may have no row."""
    refuse_composite(options.columns, "streams")
    batches, names = _opened(given, side)
    batches = batches if is_part else _with_rows(batches, side)
    return BatchStream(side, side, options.columns, None, options.ties, batches, names)


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


def _relevant(lists: ListsByUser) -> ListsByUser:
    """Return ground truths as TREC reads them: below 1 not relevant."""
    grades = lists.grades
    assert grades is not None  # a column that qrels have
    return replace(lists, grades=np.where((grades > 0) & (grades < 1), 0.0, grades))
