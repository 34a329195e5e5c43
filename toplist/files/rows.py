"""Rows of text files in parts: users and items as codes, read by pyarrow or by the plain reader.

CSV, TSV and TREC come in blocks (`toplist.files.blocks`); a block that is not simple, JSONL, and
all files where pyarrow is not installed are read by `toplist.files.text`. Both give the same ids to
the last character and the same numbers. Text is numbered once, by the `Texts` that both files of an
evaluation share.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist import parallel
from toplist.checks import about
from toplist.files import blocks
from toplist.files.errors import named
from toplist.files.formats import Id
from toplist.files.lines import csv_rows, lines_of, row_blocks
from toplist.files.numbers import in_column, packed
from toplist.files.text import (
    TREC_QRELS,
    TREC_RUN,
    Objects,
    Row,
    RowSource,
    Valid,
    lines_of_kinds,
    numbered,
    object_rows,
    rows_of_lines,
    table_rows,
    trec_rows,
)
from toplist.inputs.columns import spans_of
from toplist.inputs.factorize import Column, starts_of_runs
from toplist.inputs.keyed import column_of
from toplist.inputs.lists import offsets_of
from toplist.inputs.options import GROUP
from toplist.inputs.texts import TextColumn, Texts, joined

CHUNK = 1 << 17  # rows at a time that are Python objects: some 30 MB
Ints = NDArray[np.int64]
# The texts by which users and items are numbered.
IdTexts = tuple[Texts, Texts]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a file by runs of one user: run i has the items from ``offsets[i]`` on."""

    users: Column  # one for each run
    offsets: Ints
    items: Column
    values: NDArray[Any] | None

    def user(self, run: int) -> Any:
        """Return the user of a run."""
        return self.users.decode(self.users.codes[run])

    def cut(self, lo: int, hi: int) -> Rows:
        """Return the runs from `lo` to before `hi`."""
        offsets = self.offsets[lo : hi + 1]
        rows = slice(offsets[0], offsets[-1])
        return Rows(
            replace(self.users, codes=self.users.codes[lo:hi]),
            offsets - offsets[0],
            replace(self.items, codes=self.items.codes[rows]),
            None if self.values is None else self.values[rows],
        )


def of_complete_users(parts: Iterable[Rows], source: RowSource) -> Iterator[Rows]:
    """Cut rows where a user ends; those of the last user wait for the next part."""
    waiting: list[Rows] = []
    for part in parts:
        last = len(part.users.codes) - 1
        if last or (waiting and waiting[-1].user(-1) != part.user(0)):
            yield together([*waiting, part.cut(0, last)], source)
            waiting = []
        waiting.append(part.cut(last, last + 1))
    if waiting:
        yield together(waiting, source)


def together(parts: Sequence[Rows], source: RowSource) -> Rows:
    """Return the rows of parts of a file as one; a run that was cut is one again."""
    users = _one_column([part.users for part in parts], source)
    items = _one_column([part.items for part in parts], source)
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    starts = starts_of_runs(users.codes)
    if len(starts) < len(lengths):
        users = replace(users, codes=users.codes[starts])
        lengths = np.add.reduceat(lengths, starts)
    values = [part.values for part in parts if part.values is not None]
    column = in_column(values, source.value) if values else None
    return Rows(users, offsets_of(lengths), items, column)


def _one_column(columns: Sequence[Column], source: RowSource) -> Column:
    """Return columns of ids as one."""
    first, *others = [column for column in columns if len(column.codes)] or columns[:1]
    if all(one.names is first.names and one.codes.dtype == first.codes.dtype for one in others):
        return replace(first, codes=np.concatenate([one.codes for one in (first, *others)]))
    every = [column.decoded(column.codes) for column in columns]
    return _column(first.name, [one for ids in every for one in ids], None, source)


def _column(name: str, ids: Sequence[Id], texts: Texts | None, source: RowSource) -> Column:
    """Return a column of ids of one kind; text has the codes of `texts`, if they are given."""
    if texts is not None and set(map(type, ids)) <= {str}:
        return Column(name, texts.encode(joined(ids)), texts)  # type: ignore[arg-type]
    try:
        return column_of(name, ids, f"column {name!r}")
    except (TypeError, ValueError) as error:
        first, line = (*lines_of_kinds(source, name), 0, 0)[:2]
        place = f"{source.path}:{line}: " if line else f"{source.path}: "
        unlike = f"unlike line {first}, " if first < line else ""
        raise about(named(place + unlike, error), path=source.path, line=line) from None


def rows(source: RowSource, valid: Valid, known: IdTexts) -> Iterator[Rows]:
    """Yield the rows of a file in parts."""
    n = 0
    with source.stream() as (stream, show):
        if source.format.name == "jsonl":
            parts = _object_parts(source, valid, known, stream)
        elif blocks.pyarrow_csv() is None:
            lines = source.counted(lines_of(stream, source.longest), show)
            parts = plain_rows(source, known, numbered(source, valid, rows_of_lines(source, lines)))
        elif source.format.name == "trec":
            parts = _trec_parts(source, valid, known, stream)
        else:
            parts = _table_parts(source, valid, known, stream)
        for part in parts:
            n += len(part.users.codes)
            yield part
            show()
    source.line = 0
    if not n:
        raise source.error("no rows")


def _table_parts(source: RowSource, valid: Valid, known: IdTexts, stream: Any) -> Iterator[Rows]:
    """Read CSV or TSV: the header by the plain reader, all else in blocks."""
    delimiter = source.format.delimiter
    lines = source.counted(lines_of(stream, source.longest))
    header = next(filter(None, csv_rows(lines, delimiter)), None)
    if header is None:
        return
    source.row = source.line
    source.value = source.choose(header)
    wanted = [source.names[name] for name in ("user_id", "item_id", source.value) if name]
    places = source.places(wanted, header)
    read = partial(blocks.read_table, delimiter=delimiter, header=header, places=places)
    read = partial(read, value=None if source.value == GROUP else source.value)
    texts = row_blocks(stream, source.longest, delimiter)
    for block in parallel.ahead(read, texts, None):
        part = _simple(source, valid, known, block, wanted[:2])
        if part is None:
            table = csv_rows(source.counted(io.BytesIO(block.text)), delimiter)
            cells = table_rows(source, header, table)
            yield from plain_rows(source, known, numbered(source, valid, cells))
        else:
            yield part


def _trec_parts(source: RowSource, valid: Valid, known: IdTexts, stream: Any) -> Iterator[Rows]:
    """Read a run or qrels of TREC in blocks; a query of a run has one tag."""
    header = source.trec_header
    source.value = source.choose(header)
    wanted = [source.names[name] for name in ("user_id", "item_id", source.value) if name]
    wanted += ["tag"] * (header is TREC_RUN)
    places = source.places(wanted, header)
    tags: dict[str, Any] = {}
    value = None if source.value == GROUP else source.value
    read = partial(blocks.read_fields, width=len(header), places=places, value=value)
    texts = row_blocks(stream, source.longest, "")
    for block in parallel.ahead(read, texts, None):
        part = None
        plain = source.value == GROUP  # which rows are relevant is another column
        if not plain and (header is TREC_QRELS or not block.ids or _one_tag(block.ids, tags)):
            part = _simple(source, valid, known, block)
        if part is None:
            cells = trec_rows(source, source.counted(io.BytesIO(block.text)), tags)
            yield from plain_rows(source, known, numbered(source, valid, cells))
        else:
            yield part


def _object_parts(source: RowSource, valid: Valid, known: IdTexts, stream: Any) -> Iterator[Rows]:
    """Read JSONL in blocks of lines; those of one plain object each are decoded together."""
    seen = Objects()
    for text in row_blocks(stream, source.longest, ""):
        found = blocks.objects(text.removeprefix(codecs.BOM_UTF8) if not source.line else text)
        part = None if found is None else _of_objects(source, valid, known, found, seen)
        if part is None:
            cells = object_rows(source, source.counted(io.BytesIO(text)), seen)
            yield from plain_rows(source, known, numbered(source, valid, cells))
        else:
            source.skip(text.count(b"\n") + (not text.endswith(b"\n")))
            yield part


def _of_objects(
    source: RowSource, valid: Valid, known: IdTexts, records: list[dict[str, Any]], seen: Objects
) -> Rows | None:
    """Return the rows of objects with the same keys; None if only the plain reader can judge."""
    first = records[0]
    is_list = type(first.get(source.names["item_id"])) is list
    try:
        source.value = source.choose(first, optional=is_list)
    except ValueError:  # it has no line yet
        return None
    if not seen.forms <= {(is_list, source.value)} or source.value == GROUP:
        return None
    users, *columns = (
        [record[source.names[name]] for record in records]
        for name in ("user_id", "item_id", source.value)
        if name
    )
    lengths = None
    if is_list:
        if any(set(map(type, column)) != {list} for column in columns):
            return None
        lengths = list(map(len, columns[0]))
        if lengths != list(map(len, columns[-1])):
            return None
        columns = [list(chain.from_iterable(column)) for column in columns]
    items, *values = columns
    for ids in (users, items):
        if set(map(type, ids)) not in ({int}, {str}, set()) or "" in ids:
            return None
    column = None
    if values:
        if not set(map(type, values[0])) <= {int, float}:
            return None
        column = packed(values[0])
        if column.dtype == object or (source.value == "rank" and column.dtype.kind == "f"):
            return None
        if len(column) and not (valid.lowest <= column.min() <= column.max() <= valid.highest):
            return None
    if is_list:
        if len(set(users)) < len(users) or not seen.lists.keys().isdisjoint(users):
            return None
        seen.lists.update(dict.fromkeys(users, 0))
    seen.forms.add((is_list, source.value))
    return _in_runs(source, known, users, items, column, lengths)


def _one_tag(columns: Sequence[Any], tags: dict[str, Any]) -> bool:
    """Note the tag of each query of a block; False if one has two, or another than before."""
    found: dict[str, Any] = {}
    queries, of_rows = (columns[place].dictionary_encode() for place in (0, 2))
    codes: NDArray[Any] = np.from_dlpack(queries.indices)
    pairs = codes.astype(np.int64) * len(of_rows.dictionary) + np.from_dlpack(of_rows.indices)
    names, words = queries.dictionary.to_pylist(), of_rows.dictionary.to_pylist()
    for pair in np.unique(pairs).tolist():
        query, tag = names[pair // len(words)], words[pair % len(words)]
        if found.setdefault(query, tag) != tag or tags.get(query, (tag,))[0] != tag:
            return False
    tags.update({query: (tag, 0) for query, tag in found.items() if query not in tags})
    return True


def _simple(
    source: RowSource, valid: Valid, known: IdTexts, block: blocks.Block, titles: Sequence[str] = ()
) -> Rows | None:
    """Return the rows of a block; None if only the plain reader can judge a cell.

    `titles` are those of the columns of users and items: a row with one may be a second header.
    """
    values = block.values
    if block.ids is None or any(map(blocks.has_empty, block.ids)):
        return None
    if values is not None and not (valid.lowest <= values.min() <= values.max() <= valid.highest):
        return None
    spans = [spans_of(column) for column in block.ids[:2]]
    found = TextColumn(spans[0]).runs()
    if found is None:
        codes = known[0].encode(spans[0])
        starts = starts_of_runs(codes)
        codes = codes[starts]
    else:
        runs, starts = found
        codes = runs.encode(known[0])
    users, items = Column("user_id", codes, known[0]), known[1].encode(spans[1])
    columns = zip(known, (codes, items), strict=True)
    if titles and any(holds(texts, column, titles) for texts, column in columns):
        return None
    source.skip(block.n_lines)
    if source.value == GROUP:
        values = source.labels.encode(spans_of(block.ids[2])).astype(np.float64)
    return Rows(users, np.append(starts, len(items)), Column("item_id", items, known[1]), values)


def holds(texts: Texts, codes: Ints, titles: Sequence[str]) -> bool:
    """Whether one of some texts is among those that codes refer to."""
    numbers = texts.encode(joined(titles))  # a number of its own does no harm
    return any(np.any(codes == number) for number in numbers)


def plain_rows(source: RowSource, known: IdTexts, rows: Iterator[Row]) -> Iterator[Rows]:
    """Collect rows of the plain reader; an item of None is a user without items."""
    while part := list(islice(rows, CHUNK)):
        kept = [row for row in part if row[1] is not None]
        values = None if source.value is None else packed([value for _, _, value in kept])
        users, items = [user for user, _, _ in part], [item for _, item, _ in kept]
        lengths = [item is not None for _, item, _ in part]
        yield _in_runs(source, known, users, items, values, lengths)


def _in_runs(
    source: RowSource,
    known: IdTexts,
    users: list[Id],
    items: list[Any],
    values: NDArray[Any] | None,
    lengths: list[int] | list[bool] | None,
) -> Rows:
    """Return rows of Python objects; `lengths` are how many items each row has, if not one."""
    whose = _column("user_id", users, known[0], source)
    starts = starts_of_runs(whose.codes)
    ends = np.append(starts, len(users))
    if lengths is not None:
        ends = np.concatenate([[0], np.cumsum(lengths)])[ends]
    column = _column("item_id", items, known[1], source)
    return Rows(replace(whose, codes=whose.codes[starts]), ends, column, values)
