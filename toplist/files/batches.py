"""`Source`: files and streams as lists, whole or in blocks of complete users, however many.

`read_ranks` and `read_truths` return those of a whole file as dicts.
A block ends where a user ends, so that it can be read like a table of its own. A user whose rows
are not together has several lists; only the caller, who knows the users of all blocks, notices.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from toplist.checks import E, Ints, about, cached
from toplist.files import tables, text
from toplist.files.formats import (
    GZIP,
    IN_MEMORY,
    PARQUET,
    TREC,
    ColumnNames,
    FileFormat,
    FormatName,
    Id,
    PathLike,
    find_format,
    named,
    refused,
    short,
)
from toplist.files.jsonl import text_tables
from toplist.files.text import TREC_QRELS, TREC_RUN, Wanted
from toplist.inputs.columns import Cells, Table
from toplist.inputs.factorize import Column, numbered
from toplist.inputs.lists import Flat, is_stream
from toplist.inputs.objects import CURSORS, one_result_at_a_time
from toplist.inputs.options import (
    GROUP,
    Options,
    Order,
    Ranks,
    columns_of,
    named_in,
    refuse_composite,
    renamed,
)
from toplist.inputs.tables import SideTable, by_column
from toplist.inputs.tables import read as lists_of_table
from toplist.inputs.texts import IdTexts
from toplist.inputs.truths import Groups
from toplist.metrics.conventions import Ties

# What a byte of a text file takes that is read as a whole, and how far a packed one unpacks.
OF_TEXT, PACKED = 10, 8
# Rows of small tables that are evaluated together: a block of one row took 0.4 ms.
LEAST = 1 << 14
# How the format of a file is given.
BY_NAME = {
    "ranks": "toplist.Ranks(path, format=...)",
    "ground_truths": "toplist.GroundTruths(path, format=...)",
}


class Block(NamedTuple):
    """Lists of complete users, and the row or line of the file where each begins.

    `is_long` says that the file has a row per user and item, so that more of a user may follow.
    """

    lists: Flat
    begins: Ints
    is_long: bool = True


class Batches:
    """Record batches, which can be read once.

    Attributes
    ----------
    tables : iterator of tables of pyarrow
    names : list of str
        Of the columns.
    seen : list of SideTable
        The table that is being read.
    left : iterable of SideTable
        Those that follow.
    """

    def __init__(self, given: Any, side: str, is_part: bool) -> None:
        with one_result_at_a_time(side):
            reader = tables.pyarrow().RecordBatchReader.from_stream(given)
        self.names = list(reader.schema.names)
        self.tables = self._read(reader, side, is_part)
        self.seen = list[SideTable]()
        self.left: Iterable[SideTable] = ()

    def _read(self, reader: Any, side: str, is_part: bool) -> Iterator[Any]:
        n_rows = 0
        with one_result_at_a_time(side):
            for batch in reader:
                n_rows += batch.num_rows
                yield tables.pyarrow().Table.from_batches([batch])
        if n_rows == 0 and not is_part:
            raise refused(
                side,
                "no rows; keep='part' takes an empty part. A connection of DuckDB 1 ends the first "
                f"of two streams: {CURSORS}",
            )


@dataclass(frozen=True)
class Source:
    """One side of an evaluation that is read in blocks: "ranks", or "ground_truths".

    `path` is what messages call it. With an `order` of "file", ranked items are in the order of
    the file. `ties` is how items of equal scores are ordered; None: as the format has it. `held`
    are the rows of one system of a file. A file that `may_be_empty` is a part of the lists.
    """

    path: PathLike
    side: str
    columns: ColumnNames = None
    order: Order | None = None
    ties: Ties | None = None
    format: FileFormat = PARQUET
    batches: Batches | None = None
    held: SideTable | None = None
    may_be_empty: bool = False

    @property
    def unit(self) -> str:
        """What `place` counts."""
        return "line" if self.format.is_text else "row"

    @cached
    def names(self) -> dict[str, Any]:
        """What each column is called; of a file of text, as it is said."""
        said = columns_of(self.columns, self.side)
        return said if self.format.is_text else named_in(said, self._columns(), self.side)

    @property
    def ordering(self) -> Ties:
        """How items of equal scores are ordered: as trec_eval does it, in its files."""
        return self.ties or ("item_desc" if self.format is TREC else "order")

    def blocks(self, known: IdTexts | None = None) -> Iterator[Block]:
        """Yield the lists of complete users.

        Text is numbered by `known`, for users and items. Errors know the `user` or the `row` that
        they are about, but not its place in the file.
        """
        least = 1 if self.format.is_text else LEAST
        found = complete_users(str(self.path), self._tables(known), least)
        for table in found:
            if self.batches is not None:
                self.batches.seen, self.batches.left = [table], found
            lists, is_long = self._read(table, in_runs=True), _is_long(table.frame)
            rows = lists.offsets[:-1] if is_long else np.arange(len(table.frame))
            yield Block(lists, table.places(rows), is_long)

    def whole(self, known: IdTexts | None = None) -> Flat:
        """Return all lists, the rows of a user in any place; errors name the file and the place."""
        try:
            table = joined(str(self.path), [*self._tables(known)])
            lists = self._read(table)
            if not _is_long(table.frame):
                numbers, distinct = numbered(lists.users.codes)
                users, places = replace(lists.users, codes=distinct), np.arange(len(numbers))
                self.check_one_list(users, numbers, table.places(places))
        except (ValueError, TypeError) as error:
            raise self.located(error) from None
        return lists

    def by_system(self, system: str | None) -> Iterator[tuple[str | None, Source]]:
        """Yield the rows of each system, in order of first appearance; all, without one."""
        if system is None:
            yield None, self
            return
        whole = joined(str(self.path), [*self._tables(None, system)])
        for name, part in by_column(whole.frame, system, "ranks"):
            yield name, replace(self, held=replace(whole, frame=part))

    def check_one_list(self, users: Column, numbers: Ints, places: Ints) -> None:
        """Raise ValueError for a user with two of the lists that begin at `places`.

        `numbers` say whose each list is.
        """
        counts = np.bincount(numbers, minlength=1)
        if counts.max() > 1:
            twice = int(np.argmax(counts > 1))
            raise self.two_lists(users[twice], *places[numbers == twice][:2])

    def two_lists(self, user: Any, first: int, second: int) -> ValueError:
        """Return the error of a user with two lists, which begin at some rows."""
        rows = f"{self.unit}s {first} and {second}"
        error = ValueError(f"{self.side}: user {user!r:.300} is in {rows}: a user has one list")
        return self._at(int(second), about(error, side=self.side, user=user))

    def place(self, user: Any, item: Any = None) -> list[int]:
        """Return the first two lines or rows where rows of a user begin, or an item's; read again.

        Ids are compared as text, as they are where the other file holds text. Of a stream, what
        has not been read yet is known only. Nothing is found in a pipe.
        """
        left: Iterable[SideTable] = ()
        if self.batches is not None:
            left = chain(self.batches.seen, self.batches.left)
        elif self.format is not IN_MEMORY and (
            os.path.isfile(self.path) or os.path.isdir(self.path)
        ):
            left = self._tables()
        found, before = list[int](), False
        with suppress(ValueError, TypeError, KeyError):
            for table in left:
                rows = table.is_of(user)
                if item is None:
                    begins = rows & ~np.append(before, rows)[:-1]
                    found += table.places(np.flatnonzero(begins)).tolist()
                else:
                    found += table.places(table.rows_of(item, np.flatnonzero(rows))).tolist()
                before = bool(rows[-1]) if len(rows) else before
                if len(found) > 1:  # of rows that are apart, a block or two, not the whole file
                    return found[:2]
        return found

    def _tables(
        self, known: IdTexts | None = None, system: str | None = None
    ) -> Iterator[SideTable]:
        """Yield the rows as tables, with the column of systems if there is one."""
        known = known or IdTexts()
        if self.held is not None:
            yield replace(self.held, known=known)
            return
        if self.format.is_text:
            header: tuple[str, ...] = ()
            if self.format is TREC:
                header = TREC_RUN if self.side == "ranks" else TREC_QRELS
            choose = partial(self._choose, system)
            file = text_tables(self.path, self.format, choose, header, self.may_be_empty)
            if self.format is TREC and system is not None:
                raise file.error("a run of TREC has no column of systems: a file holds one run")
            how: tuple[Any, ...] = self.order, 0, None, self.ordering, known
            for table in file.tables():
                yield SideTable(table, self.side, file.wanted.called, *how)
            return
        if system is not None:
            found: Iterable[Any] = [tables.read_parquet(self.path)]
        elif self.batches is None:
            found = tables.parquet_tables(self.path, self._wanted, self.may_be_empty)
        else:
            names = tables.columns_read(self.batches.names, self._wanted)
            found = (table.select(names) for table in self.batches.tables)
        first = 0
        for table in found:
            how = self.order, first, self._columns, self.ordering, known
            yield SideTable(table, self.side, self.names, *how)
            first += len(table)

    @property
    def _wanted(self) -> set[str]:
        """The columns that are read of tables of Arrow."""
        parts = (one if isinstance(one, tuple) else (one,) for one in self.names.values())
        return {*chain.from_iterable(parts)}

    def _columns(self) -> list[str]:
        """Return the names of all columns, for messages."""
        return tables.parquet_columns(self.path) if self.batches is None else self.batches.names

    def _choose(
        self, system: str | None, header: Sequence[str], record: Mapping[str, Any]
    ) -> Wanted:
        """Return which columns are read of those in a header, or a line of JSON."""
        names, columns = self.names, [*header]
        if self.format is TREC:  # its columns have no names of one's own
            group = TREC_QRELS[1]
            if names.get(GROUP, group) != group:
                raise ValueError(
                    f"columns: groups of TREC qrels are in their second field: write "
                    f"{GROUP!r}: {group!r}, not {names[GROUP]!r}"
                )
            names = renamed({GROUP: group} if GROUP in names else {}, tuple(names))
            if GROUP in names:  # which are relevant is read beside
                columns.remove(TREC_QRELS[-1])
        called = named_in(names, columns, self.side)
        empty = Table({name: Cells(name, [], "text") for name in columns})
        side = SideTable(empty, self.side, called, self.order, 0, lambda: columns)
        rule = side.check(type(record.get(called["item_id"])) is list)
        ids = *side.parts("user_id"), called["item_id"], *(() if system is None else (system,))
        if rule is None:
            return Wanted(ids, called=called)
        if rule == GROUP and self.format is TREC:
            return Wanted((*ids, called[GROUP], TREC_QRELS[-1]), "relevance", called)
        found = Wanted((*ids, called[rule]), rule)
        return found._replace(called=called | {rule: found.keys[-1]})

    def _read(self, table: SideTable, in_runs: bool = False) -> Flat:
        """Return the lists of a table; in qrels, what is below 1 is not relevant."""
        try:
            lists = lists_of_table(table, in_runs)
        except (ValueError, TypeError):
            if not self.format.is_text:
                names = [table.names[name] for name in ("user_id", "item_id")]
                tables.check_text(self.path, table.frame, names, table.first)
            raise
        if self.format is not TREC or lists.grades is None:
            return lists
        if not lists.grouped:
            low = (lists.grades > 0) & (lists.grades < 1)
            return replace(lists, grades=np.where(low, 0.0, lists.grades))
        called = {name: one for name, one in table.names.items() if name != GROUP}
        graded = replace(table, names=called | {"relevance": TREC_QRELS[-1]})
        grades = lists_of_table(graded, in_runs).grades
        return lists.where(np.asarray(grades) >= 1)

    def located(self, error: Exception) -> Exception:
        """Return an error with the path before it and, if it is about a list, its place."""
        if hasattr(error, "path"):
            return error
        place = None
        if (user := getattr(error, "user", None)) is not None:
            item = getattr(error, "item", None)
            found = (self.place(user, item) if item is not None else []) or self.place(user)
            # of an item that is there twice, the second place is the one that is wrong
            place = next(iter(found[1:2] if item is not None else ()), next(iter(found), None))
        return self._at(place, error)

    def _at(self, place: int | None, error: E) -> E:
        """Return an error with the path before it, and a line or row."""
        error = about(error, path=str(self.path), **({} if place is None else {self.unit: place}))
        before = f"{self.path}: "
        if place is not None:
            before = f"{self.path}:{place}: " if self.format.is_text else f"{before}row {place}: "
        return error if str(error).startswith(before) else named(before, error)

    def size(self) -> int:
        """Return about how many bytes `whole` takes, at its peak; 0 for what is read once."""
        if self.batches is not None:
            return 0
        if not self.format.is_text:
            return tables.parquet_size(self.path, self._wanted)
        with open(self.path, "rb") as file:
            unpacked = PACKED if file.read(2) == GZIP else 1
        return OF_TEXT * os.path.getsize(self.path) * unpacked

    def way_out(self, needed: int, free: int) -> str:
        """Say what to do with rows in no order that are read once, or do not fit into memory."""
        user, path = self.names["user_id"], os.fspath(self.path)
        if self.batches is not None:
            return (
                f": a stream is read once, with the rows of a user together: sort it, ORDER BY "
                f"{user} in DuckDB, .sort({user!r}, maintain_order=True) in polars, or give a file"
            )
        base, extension = os.path.splitext(path.removesuffix(".gz"))
        target = f"{base}-sorted{extension}"
        too_large = (
            f", and reading it whole takes about {needed / 1e9:.1f} GB, more than a quarter of the "
            f"{free / 1e9:.1f} GB that are free: sort it by user, "
        )
        if self.format is TREC:  # which has no header
            source, target = shlex.quote(path), shlex.quote(target)
            unpacked = f"gzip -dcf {source} | sort" if path.endswith(".gz") else f"sort {source}"
            return f"{too_large}in a shell, {unpacked} -s -k 1,1 > {target}"
        if os.path.isdir(path):
            path = os.path.join(path, "**", "*.parquet")
        scan, sink, read = (one.format(path, target) for one in SORTED[self.format.name])
        polars = f"pl.{scan}.sort({user!r}, maintain_order=True).{sink}"
        column = '"' + user.replace('"', '""') + '"'
        duckdb = f"COPY (FROM {read} ORDER BY {column}) TO {target!r}"
        either = "" if self.order else f", or in DuckDB, {duckdb}"
        return f"{too_large}in polars, {polars}{either}"


# How a file is read and written lazily: two words of polars, one of DuckDB; {0} is it, {1} a copy.
SORTED = {
    "csv": (
        "scan_csv({0!r}, infer_schema=False)",
        "sink_csv({1!r})",
        "read_csv({0!r}, all_varchar=true)",
    ),
    "tsv": (
        "scan_csv({0!r}, infer_schema=False, separator='\\t')",
        "sink_csv({1!r}, separator='\\t')",
        "read_csv({0!r}, all_varchar=true, delim='\\t')",
    ),
    "jsonl": ("scan_ndjson({0!r})", "sink_ndjson({1!r})", "read_json({0!r})"),
    "parquet": ("scan_parquet({0!r})", "sink_parquet({1!r})", "read_parquet({0!r})"),
}


def _is_long(frame: Any) -> bool:
    """Whether a table has a row per user and item: none of its columns holds lists."""
    if isinstance(frame, Table):
        return all(one.offsets is None for one in frame.cells.values())
    nested = tables.pyarrow().types.is_nested
    return not any(nested(one.type) for one in frame.schema)


def joined(where: str, found: Sequence[SideTable]) -> SideTable:
    """Return the rows of tables of one file as one table; `where` is for messages."""
    if len(found) == 1:
        return found[0]
    frames = [table.frame for table in found]
    if isinstance(frames[0], Table):
        return replace(found[-1], frame=text.joined(frames), first=found[0].first)
    pyarrow = tables.pyarrow()
    try:  # columns may differ in the width of their numbers
        whole = pyarrow.concat_tables(frames, promote_options="permissive")
    except MemoryError:
        raise
    except pyarrow.ArrowException as error:
        raise refused(where, f"not readable: {error}") from None
    return replace(found[0], frame=whole)


def complete_users(where: str, found: Iterable[SideTable], least: int) -> Iterator[SideTable]:
    """Cut tables where a user ends; small ones are joined first, to `least` rows.

    `where` is for messages.
    """
    held, n, most = list[SideTable](), 0, least
    for table in found:
        if not (table.has("user_id") and _is_long(table.frame)):
            if len(table.frame):
                yield table
            continue
        held.append(table)
        n += len(table.frame)
        if n < most:
            continue
        whole = joined(where, held)
        parts = whole.parts("user_id") if n else ()
        end = max((whole.column(part).start_of_last() for part in parts), default=0)
        if end:
            yield replace(whole, frame=whole.frame.slice(0, end))
        held = [replace(whole, frame=whole.frame.slice(end), first=whole.first + end)]
        n -= end
        most = max(least, 2 * n)  # a user of many tables is not looked at for each of them
    if n:
        yield joined(where, held)


def stream_of(
    path: PathLike,
    side: str,
    format: FormatName | None = None,
    columns: ColumnNames = None,
    order: Order | None = None,
    ties: Ties | None = None,
    way: str = "",
) -> Source:
    """Return the file of one side, by its format, which may be named: see `find_format`."""
    found = find_format(path, format, way or BY_NAME[side])
    columns_of(columns, side)  # refuses wrong names before any file is read
    if not found.is_table:
        refuse_composite(columns, f"files of {found.name}")
    return Source(path, side, columns, order if side == "ranks" else None, ties, found)


def source_of(side: Any, name: str, options: Options) -> Any:
    """Return a file, or what gives record batches, as a source; all else as it is."""
    is_ranks = name == "ranks"
    is_part = options.keep == "part"
    if isinstance(side, (str, os.PathLike)):
        form = options.format if is_ranks else None
        source = stream_of(side, name, form, options.columns, options.order, options.ties)
        return replace(source, may_be_empty=is_part and is_ranks)
    if is_stream(side, of_part=is_part and is_ranks):
        return stream_of_batches(side, name, options, is_part)
    return side


def stream_of_batches(given: Any, side: str, options: Options, is_part: bool) -> Source:
    """Return record batches of one side, one after another; those of a part may have no row."""
    refuse_composite(options.columns, "streams")
    batches = Batches(given, side, is_part)
    return Source(side, side, options.columns, None, options.ties, batches=batches)


def read_ranks(
    path: PathLike,
    *,
    format: FormatName | None = None,
    columns: ColumnNames = None,
    order: Order | None = None,
    ties: Ties | None = None,
) -> dict[Id, list[Id]]:
    r"""Read the ranked list of every user, best item first; users as they first appear.

    A rank, 1..n for each user, decides the order; without one the score, descending, ties in
    file order (in a TREC run by document id, descending) or, with ``ties`` of "order", "item" or
    "item_desc", in file order or by item id. ``order="file"`` keeps the order of the file.
    ``format`` is csv, tsv, jsonl, trec or parquet, by default what the extension says; ``columns``
    gives the file's own names of ``user_id``, ``item_id``, ``rank`` and ``score`` (TREC columns
    have none). A packed file (gzip) is unpacked.

    Examples
    --------
    >>> import tempfile
    >>> from toplist.files import write_text
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/lists.csv", "user_id,item_id,rank\nann,tea,2\nann,jam,1\n")
    ...     read_ranks(f"{folder}/lists.csv")
    {'ann': ['jam', 'tea']}
    """
    Ranks(path, order=order, ties=ties)  # refuses other words
    way = "toplist.files.read_ranks(path, format=...)"
    source = stream_of(path, "ranks", format, columns, order, ties, way)
    return {user: items for user, items, _ in _lists(source)}


def read_truths(
    path: PathLike, *, format: FormatName | None = None, columns: ColumnNames = None
) -> dict[Id, set[Id]] | dict[Id, dict[Id, float]] | Groups:
    r"""Read the relevant items of every user; users as they first appear.

    The parameters are those of `read_ranks`. Truths are sets, or dicts item to grade if there
    is a ``relevance`` column. A TREC file is read as qrels: a grade between 0 and 1 is 0, judged
    and not relevant; one below 0, as of spam, is kept. Its truths are sets only if every grade is
    1, without grades and with gain 1; `top_k_eval` of the path keeps these grades, for gains such
    as ``{1: 2}``. A column of groups that `columns` names makes them `toplist.Groups`.

    Examples
    --------
    >>> import tempfile
    >>> from toplist.files import write_text
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/test.qrels", "q1 0 d7 1\nq1 0 d8 0\nq2 0 d7 0\n")
    ...     read_truths(f"{folder}/test.qrels")
    {'q1': {'d7': 1.0, 'd8': 0.0}, 'q2': {'d7': 0.0}}
    """
    way = "toplist.files.read_truths(path, format=...)"
    source = stream_of(path, "ground_truths", format, columns, way=way)
    truths: dict[Id, Any] = {}
    for user, items, values in _lists(source):
        found: dict[Any, Any] = {}
        for item, value in zip(items, values or (), strict=False):
            if GROUP in source.names:
                found.setdefault(value, []).append(item)
            elif (first := found.setdefault(item, value)) != value:
                both = f"{first:g} and {value:g}"
                error = ValueError(f"user {short(user)}: item {short(item)} has relevance {both}")
                raise source.located(about(error, user=user, item=item))
        truths[user] = set(items) if values is None else found
    if GROUP in source.names:
        return Groups({user: list(groups.values()) for user, groups in truths.items()})
    if source.format is not TREC or any(set(row.values()) - {1} for row in truths.values()):
        return truths
    return {user: set(row) for user, row in truths.items()}


def _lists(source: Source) -> Iterator[tuple[Id, list[Id], list[float] | None]]:
    """Yield each user of a file, the items in order, and the grades."""
    found = source.whole()
    users, items = found.users.decoded(found.users.codes), found.items.decoded(found.items.codes)
    grades = None if found.grades is None else found.grades.tolist()
    for user, (start, end) in zip(users, pairwise(found.offsets.tolist()), strict=True):
        yield user, items[start:end], None if grades is None else grades[start:end]
