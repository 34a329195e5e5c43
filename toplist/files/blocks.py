"""Rows of text files, block by block: read ahead, their cells found by compiled code.

Where that code cannot judge (`toplist.files.scans`), this block alone is read by the reader of
`toplist.files.text`, which knows what is meant, or names the line of the error. Measured on
5,000,000 rows of three columns: 35 ns per row on one thread; pyarrow's streaming reader took 41 ns
on two, with texts for numbers; Python's csv 900.
"""

from __future__ import annotations

import codecs
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist import parallel
from toplist.files import scans
from toplist.files.errors import named
from toplist.files.formats import Id
from toplist.files.lines import csv_rows, is_split_by_returns, split
from toplist.files.numbers import Number, in_column, packed
from toplist.files.scans import Block, Scan
from toplist.files.text import (
    TREC_QRELS,
    TREC_RUN,
    Cell,
    Row,
    Source,
    Valid,
    numbered,
    object_rows,
    record_of,
    table_rows,
)
from toplist.files.text_ids import TextIds
from toplist.inputs.dataframes import PlainTable
from toplist.inputs.factorize import Column, Numbering
from toplist.inputs.ids import kinds_of
from toplist.inputs.lists import offsets_of

SIZE = 1 << 22  # bytes in a block: some 200,000 rows
ROWS = 1 << 17  # rows at a time that are read as Python objects: some 30 MB
_IDS = ("user_id", "item_id")
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a file: users and items, their values if any, and their lines.

    With `offsets`, each row is a user with a list: as many users and lines, and the items and
    values of all lists one after another.
    """

    users: Column
    items: Column
    values: NDArray[Any] | None
    lines: Ints
    offsets: Ints | None = None  # of lists of items and values, one for each user

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.lines)

    def user(self, row: int) -> Any:
        """Return the user of a row."""
        return self.users.decode(self.users.codes[row])

    def cut(self, lo: int, hi: int) -> Rows:
        """Return the rows from `lo` to before `hi`."""
        part = slice(lo, hi)
        values = None if self.values is None else self.values[part]
        users, items = (replace(ids, codes=ids.codes[part]) for ids in (self.users, self.items))
        return Rows(users, items, values, self.lines[part])


def of_complete_users(parts: Iterable[Rows], source: Source) -> Iterator[Rows]:
    """Cut rows where a user ends; those of the last user wait for the next part."""
    waiting: list[Rows] = []
    for part in parts:
        if part.offsets is not None:
            values = None if part.values is None else in_column([part.values], source.value)
            yield replace(part, values=values)
            continue
        users = part.users.codes
        changes = np.flatnonzero(users[1:] != users[:-1])
        last = int(changes[-1]) + 1 if len(changes) else 0
        if last or (waiting and waiting[-1].user(-1) != part.user(0)):
            yield _joined([*waiting, part.cut(0, last)], source)
            waiting = []
        waiting.append(part.cut(last, len(part)))
    if waiting:
        yield _joined(waiting, source)


def whole(source: Source, valid: Valid, users: TextIds, items: TextIds) -> Rows:
    """Return all `rows` of a file; OddError for lists in JSONL."""
    parts = []
    for part in rows(source, valid, users, items):
        if part.offsets is not None:
            raise OddError
        parts.append(part)
    return _joined(parts, source)


def _joined(parts: Sequence[Rows], source: Source) -> Rows:
    """Return the rows of parts of a file."""
    users = _together([part.users for part in parts], source)
    items = _together([part.items for part in parts], source)
    lines = np.concatenate([part.lines for part in parts])
    values = [part.values for part in parts if part.values is not None]
    return Rows(users, items, in_column(values, source.value) if values else None, lines)


def _together(columns: Sequence[Column], source: Source) -> Column:
    """Return columns of ids as one."""
    first = columns[0]
    if all(column.names is first.names for column in columns):
        return replace(first, codes=np.concatenate([column.codes for column in columns]))
    every = [column.decoded(column.codes) for column in columns]
    return _column(first.name, [one for ids in every for one in ids], None, source)


def _column(name: str, ids: Sequence[Id], texts: TextIds | None, source: Source) -> Column:
    """Return a column of ids of one kind; `texts` has the codes of texts, if they have any."""
    if texts is not None and all(type(one) is str for one in ids):
        return Column(name, texts.encode(ids), texts)  # type: ignore[arg-type]
    try:
        kinds_of({type(one): one for one in ids}.values(), f"column {name!r}")
    except TypeError as error:
        raise named(f"{source.path}: ", error) from None
    if all(type(one) is int and -(2**63) <= one < 2**63 for one in ids):
        return Column(name, np.array(ids, np.int64))
    return Column(name, *PlainTable.codes(PlainTable({name: ids}), name))


class OddError(ValueError):
    """Only a reader of rows knows what is meant, or wrong."""


def rows(source: Source, valid: Valid, users: TextIds, items: TextIds) -> Iterator[Rows]:
    """Yield the rows of a file; ids that are text are codes of `users` and `items`.

    Raises
    ------
    OddError
        For a TREC file with lines that only a reader of rows can judge, and, before any row is
        read, for a JSONL file whose first line is not plain.
    """
    ids, n = (users, items), 0
    parts = {"trec": _parts_of_trec, "jsonl": _parts_of_objects}.get(source.format.name, _parts)
    with source.stream() as (stream, show), closing(Blocks(stream, source.longest)) as blocks:
        for part in parts(source, valid, blocks, ids):
            n += len(part)
            if len(part):
                yield part
            show()
    source.line = 0
    if not n:
        raise source.error("no rows")


def _parts(
    source: Source, valid: Valid, blocks: Blocks, ids: tuple[TextIds, TextIds]
) -> Iterator[Rows]:
    delimiter, stream = source.format.delimiter, blocks.stream
    by_returns = is_split_by_returns(stream)  # as in old files of the Mac: read line by line
    lines = source.counted(split(stream, source.longest) if by_returns else blocks.lines())
    table = csv_rows(lines, delimiter)
    header = next(filter(None, table), None)
    if header is None:
        return
    source.row = source.line
    source.value = source.choose(header)
    some = numbered(source, valid, table_rows(source, header, table))
    while by_returns and len(part := _read(source, some, ids, bool)):
        yield part
    blocks.scan(scans.of_table(source, header))

    def read(lines: Iterable[bytes]) -> Iterator[Cell]:
        return table_rows(source, header, csv_rows(lines, delimiter))

    yield from _mixed(source, valid, blocks, ids, read)


def _parts_of_objects(
    source: Source, valid: Valid, blocks: Blocks, ids: tuple[TextIds, TextIds]
) -> Iterator[Rows]:
    if is_split_by_returns(blocks.stream) or not blocks.more():
        raise OddError
    line = next(blocks.lines()).removeprefix(codecs.BOM_UTF8)
    try:
        record = record_of(source, line.decode())
        is_list = type(record.get(source.names["item_id"])) is list
        source.value = source.choose(record, optional=is_list)
        found = scans.of_objects(source, line)
    except ValueError:
        found = None
    if found is None:
        raise OddError
    blocks.at = 0
    blocks.scan(found[0])
    if not found[1]:
        forms = {(False, source.value)}
        yield from _mixed(source, valid, blocks, ids, partial(object_rows, source, forms=forms))
        return
    while blocks.more():
        plain = _plain(source, valid, blocks.cells, ids)
        if plain is None:
            yield _read_lists(source, valid, blocks, ids)
            blocks.scan_rest()
        else:
            blocks.skip()
            yield plain


def _read_lists(source: Source, valid: Valid, blocks: Blocks, ids: tuple[TextIds, TextIds]) -> Rows:
    """Read lists, one in a line, to the end of a block."""
    users, items, values = list[Any](), list[Any](), list[Number]()
    lines, counts, text = array("q"), array("q"), blocks.text
    forms = {(True, source.value)}
    for line in source.counted(blocks.lines()):
        found = [*numbered(source, valid, object_rows(source, iter([line]), forms))]
        kept = [row for row in found if row[1] is not None]
        if found:
            users.append(found[0][0])
            items += [row[1] for row in kept]
            values += [row[2] for row in kept]
            counts.append(len(kept))
            lines.append(source.line)
        if blocks.left(text):
            break
    numbers = None if source.value is None else packed(values)
    columns = _column("user_id", users, ids[0], source), _column("item_id", items, ids[1], source)
    offsets = offsets_of(np.array(counts, np.int64))
    return Rows(*columns, numbers, np.array(lines, np.int64), offsets)


def _mixed(
    source: Source,
    valid: Valid,
    blocks: Blocks,
    ids: tuple[TextIds, TextIds],
    read: Callable[[Iterator[bytes]], Iterator[Cell]],
) -> Iterator[Rows]:
    """Yield the rows of blocks; those of a block that is not plain are read by `read`."""
    while blocks.more():
        plain = _plain(source, valid, blocks.cells, ids)
        if plain is not None:
            blocks.skip()
            yield plain
            continue
        some = numbered(source, valid, read(source.counted(blocks.lines())))
        yield _read(source, some, ids, partial(blocks.left, blocks.text))
        blocks.scan_rest()


def _parts_of_trec(
    source: Source, valid: Valid, blocks: Blocks, ids: tuple[TextIds, TextIds]
) -> Iterator[Rows]:
    if is_split_by_returns(blocks.stream):
        raise OddError
    header = TREC_QRELS if "relevance" in source.candidates else TREC_RUN
    source.value = source.choose(header)
    if blocks.stream.peek(3).startswith(codecs.BOM_UTF8):
        blocks.stream.read(3)
    blocks.scan(scans.of_table(source, header))
    tags = _Tags()
    while blocks.more():
        cells = blocks.cells
        part = _plain(source, valid, cells, ids)
        if part is None or cells is None or (header is TREC_RUN and not tags.fit(cells, part)):
            raise OddError
        blocks.skip()
        yield part


class _Tags:
    """The tag of every query of a run, which has one."""

    def __init__(self) -> None:
        self._texts, self._queries = TextIds(), Numbering()
        self._of_query = np.empty(0, np.int64)

    def fit(self, cells: Block, rows: Rows) -> bool:
        """Return whether each query of a part has one tag, the one that it had before."""
        self._texts.number(cells.ids[2])
        tags = cells.ids[2].codes
        users, first = rows.users.codes, np.ones(min(len(rows), 1), bool)
        starts = np.flatnonzero(np.append(first, users[1:] != users[:-1]))
        n_known = len(self._queries)
        queries = self._queries.number(users[starts])
        new = np.flatnonzero(queries >= n_known)
        new = new[np.unique(queries[new], return_index=True)[1]]
        self._of_query = np.append(self._of_query, tags[starts[new]])
        tag_of_row = np.repeat(self._of_query[queries], np.diff(np.append(starts, len(tags))))
        return bool(np.array_equal(tag_of_row, tags))


class Blocks:
    """A file in blocks of whole lines; the next one is read and scanned while one is used."""

    def __init__(self, stream: Any, longest: int) -> None:
        self.stream, self._longest = stream, longest
        self._scan: Scan = lambda text: None
        self._blocks: Iterator[tuple[bytes, Block | None]] = map(self._scanned, self._texts())
        self.close: Callable[[], object] = bool  # ends what is read ahead
        self.text, self.at = b"", 0
        self.cells: Block | None = None  # of the block, as long as none of it is read

    def scan(self, scan: Scan) -> None:
        """Scan what follows, and read ahead."""
        self._scan = scan
        self._blocks = ahead = parallel.ahead(self._scanned, self._texts(), None)
        self.close = ahead.close
        self.scan_rest()

    def scan_rest(self) -> None:
        """Scan what is left of a block of which some lines were read."""
        self.text, self.at = self.text[self.at :], 0
        self.cells = self._scan(self.text) if self.text else None

    def more(self) -> bool:
        """Go on to the next block where this one ends; False at the end of the file."""
        if self.at == len(self.text):
            self.text, self.cells = next(self._blocks, (b"", None))
            self.at = 0
        return bool(self.text)

    def left(self, text: bytes) -> bool:
        """Whether a block has been read to its end, given its text."""
        return self.text is not text or self.at == len(text)

    def skip(self) -> None:
        """Go to the end of the block."""
        self.at = len(self.text)

    def lines(self) -> Iterator[bytes]:
        """Yield the lines from here on, one after another, in this block and those that follow."""
        while self.more():
            start, self.at = self.at, self.text.find(b"\n", self.at) + 1 or len(self.text)
            yield self.text[start : self.at]

    def _texts(self) -> Iterator[bytes]:
        while text := self.stream.read(SIZE):
            if not text.endswith(b"\n"):
                # a line that is too long is cut here, and refused by who counts the lines
                text += self.stream.readline(self._longest + 1)
            yield text

    def _scanned(self, text: bytes) -> tuple[bytes, Block | None]:
        return text, self._scan(text)


def _plain(
    source: Source, valid: Valid, cells: Block | None, ids: tuple[TextIds, TextIds]
) -> Rows | None:
    """Return the rows of a block; None if a value is not valid, or a row may be a header."""
    if cells is None:
        return None
    values = cells.values
    if values is not None and len(values):
        in_range = valid.lowest <= values.min() and values.max() <= valid.highest
        if not in_range or (source.value == "rank" and values.dtype.kind == "f"):
            return None
    titles = [source.names[name] for name in ("user_id", "item_id")]
    columns = []
    for name, texts, these, is_text in zip(_IDS, ids, cells.ids, cells.is_text, strict=False):
        texts.number(these)
        if source.format.delimiter:
            one, other = texts.encode(titles)
            if np.any((these.codes == one) | (these.codes == other)):
                return None
        columns.append(Column(name, these.codes, texts if is_text else None))
    lines = cells.lines + source.line
    source.line += cells.n_lines
    source.row = source.line
    return Rows(columns[0], columns[1], values, lines, cells.offsets)


def _read(
    source: Source, found: Iterable[Row], ids: tuple[TextIds, TextIds], ended: Callable[[], bool]
) -> Rows:
    """Read rows until `ended`."""
    users, items, values, lines = list[Any](), list[Any](), list[Number](), array("q")
    for user, item, value in found:
        users.append(user)
        items.append(item)
        values.append(value)
        lines.append(source.line)
        if ended() or len(users) == ROWS:
            break
    numbers = None if source.value is None else packed(values)
    places = np.array(lines, np.int64)
    columns = _column("user_id", users, ids[0], source), _column("item_id", items, ids[1], source)
    return Rows(*columns, numbers, places)
