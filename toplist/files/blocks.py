"""Rows of text files, block by block: read ahead, their cells found by compiled code.

Where that code cannot judge (a quote within a cell, a line end within quotes, a lone carriage
return, an empty id, a number that is written in an odd way), this block alone is read by the reader
of `toplist.files.text`, which knows what is meant, or names the line of the error. Measured on
5,000,000 rows of three columns: 35 ns per row on one thread; pyarrow's streaming reader took 41 ns
on two, with texts for numbers; Python's csv 900.
"""

from __future__ import annotations

import codecs
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist import parallel
from toplist.files.lines import csv_rows, is_split_by_returns, split
from toplist.files.numbers import EXACT, Number, in_column, packed, parse
from toplist.files.text import (
    TREC_QRELS,
    TREC_RUN,
    Row,
    Source,
    Valid,
    numbered,
    table_rows,
)
from toplist.files.text_ids import Cells, TextIds
from toplist.inputs.factorize import Numbering

SIZE = 1 << 22  # bytes in a block: some 200,000 rows
WORKERS = 1  # threads that scan; with one, 5,000,000 rows took 1.3 times as long
ROWS = 1 << 17  # rows at a time that are read as Python objects: some 30 MB
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a file: codes of users and items, their values if any, and their lines."""

    users: Ints
    items: Ints
    values: NDArray[Any] | None
    lines: Ints

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.users)

    def cut(self, lo: int, hi: int) -> Rows:
        """Return the rows from `lo` to before `hi`."""
        part = slice(lo, hi)
        values = None if self.values is None else self.values[part]
        return Rows(self.users[part], self.items[part], values, self.lines[part])


def of_complete_users(parts: Iterable[Rows], source: Source) -> Iterator[Rows]:
    """Cut rows where a user ends; those of the last user wait for the next part."""
    waiting: list[Rows] = []
    for part in parts:
        changes = np.flatnonzero(part.users[1:] != part.users[:-1])
        last = int(changes[-1]) + 1 if len(changes) else 0
        if last or (waiting and waiting[-1].users[-1] != part.users[0]):
            yield _joined([*waiting, part.cut(0, last)], source.value)
            waiting = []
        waiting.append(part.cut(last, len(part)))
    if waiting:
        yield _joined(waiting, source.value)


def whole(source: Source, valid: Valid, users: TextIds, items: TextIds) -> Rows:
    """Return all `rows` of a file."""
    return _joined(list(rows(source, valid, users, items)), source.value)


def _joined(parts: Sequence[Rows], value: str | None) -> Rows:
    """Return the rows of parts; `value` is the name of their values."""
    users, items, lines = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("users", "items", "lines")
    )
    values = [part.values for part in parts if part.values is not None]
    return Rows(users, items, in_column(values, value) if values else None, lines)


@dataclass(frozen=True, eq=False)
class _Block:
    """The cells of a block that is plain: no more than a scan is needed to tell them apart."""

    ids: list[Cells]  # of users, items and, in runs of TREC, tags
    values: NDArray[Any] | None
    lines: Ints  # counted from the first of the block
    n_lines: int


class OddError(ValueError):
    """A TREC file is not plain: only a reader of rows knows what is meant, or wrong."""


def rows(source: Source, valid: Valid, users: TextIds, items: TextIds) -> Iterator[Rows]:
    """Yield the rows of a CSV, TSV or TREC file; their ids are codes of `users` and `items`.

    Raises
    ------
    OddError
        For a TREC file with lines that only a reader of rows can judge.
    """
    ids, n = (users, items), 0
    parts = _parts if source.format.delimiter else _parts_of_trec
    with source.stream() as (stream, show), closing(_Blocks(stream, source.longest)) as blocks:
        for part in parts(source, valid, blocks, ids):
            n += len(part)
            if len(part):
                yield part
            show()
    source.line = 0
    if not n:
        raise source.error("no rows")


def _parts(
    source: Source, valid: Valid, blocks: _Blocks, ids: tuple[TextIds, TextIds]
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
    blocks.scan(source, header)
    while blocks.more():
        plain = _plain(source, valid, blocks.cells, ids)
        if plain is not None:
            blocks.skip()
            yield plain
            continue
        table = csv_rows(source.counted(blocks.lines()), delimiter)
        some = numbered(source, valid, table_rows(source, header, table))
        yield _read(source, some, ids, partial(blocks.left, blocks.text))
        blocks.scan_rest()


def _parts_of_trec(
    source: Source, valid: Valid, blocks: _Blocks, ids: tuple[TextIds, TextIds]
) -> Iterator[Rows]:
    if is_split_by_returns(blocks.stream):
        raise OddError
    header = TREC_QRELS if "relevance" in source.candidates else TREC_RUN
    source.value = source.choose(header)
    if blocks.stream.peek(3).startswith(codecs.BOM_UTF8):
        blocks.stream.read(3)
    blocks.scan(source, header)
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

    def fit(self, cells: _Block, rows: Rows) -> bool:
        """Return whether each query of a part has one tag, the one that it had before."""
        self._texts.number(cells.ids[2])
        tags = cells.ids[2].codes
        first = np.ones(min(len(rows), 1), bool)
        starts = np.flatnonzero(np.append(first, rows.users[1:] != rows.users[:-1]))
        n_known = len(self._queries)
        queries = self._queries.number(rows.users[starts])
        new = np.flatnonzero(queries >= n_known)
        new = new[np.unique(queries[new], return_index=True)[1]]
        self._of_query = np.append(self._of_query, tags[starts[new]])
        tag_of_row = np.repeat(self._of_query[queries], np.diff(np.append(starts, len(tags))))
        return bool(np.array_equal(tag_of_row, tags))


class _Blocks:
    """A file in blocks of whole lines; the next one is read and scanned while one is used."""

    def __init__(self, stream: Any, longest: int) -> None:
        self.stream, self._longest = stream, longest
        self._scan: Callable[[bytes], _Block | None] = lambda text: None
        self._blocks: Iterator[tuple[bytes, _Block | None]] = map(self._scanned, self._texts())
        self.close: Callable[[], object] = bool  # ends what is read ahead
        self.text, self.at = b"", 0
        self.cells: _Block | None = None  # of the block, as long as none of it is read

    def scan(self, source: Source, header: Sequence[str]) -> None:
        """Scan what follows the header, and read ahead."""
        wanted = [source.names[name] for name in ("user_id", "item_id", source.value) if name]
        wanted += ["tag"] * (header is TREC_RUN)
        places = np.full(len(header), -1)
        for row, name in enumerate(wanted):
            places[source.place(name, header)] = row
        scan = partial(_scan_cells, source.format.delimiter, header is TREC_RUN, places)
        self._scan = partial(_scanned, scan, len(wanted), None if source.value is None else 2)
        self._blocks = ahead = parallel.ahead(self._scanned, self._texts(), None, WORKERS)
        self.close = ahead.close
        self.scan_rest()

    def scan_rest(self) -> None:
        """Scan what is left of a block of which some lines were read."""
        if self.at:
            self.text, self.at = self.text[self.at :], 0
            self.cells = self._scan(self.text)

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

    def _scanned(self, text: bytes) -> tuple[bytes, _Block | None]:
        return text, self._scan(text)


def _scan_cells(delimiter: str, longer: bool, places: Ints, text: Any, *found: Ints) -> int:
    from toplist.kernels import cells

    if delimiter:
        return int(cells.scan_table(text, ord(delimiter), places, 1, *found))
    return int(cells.scan_fields(text, len(places), longer, places, 1, *found))


def _scanned(
    scan: Callable[..., int], n_wanted: int, value: int | None, text: bytes
) -> _Block | None:
    """Find the cells of a block; None where it is not plain. `value` is the row of the values."""
    data = np.frombuffer(text, np.uint8)
    most = text.count(b"\n") + (not text.endswith(b"\n"))
    starts, ends = np.empty((2, n_wanted, most), np.int32)
    lines = np.empty(most, np.int64)
    n = scan(data, starts, ends, lines)
    if n < 0 or not (text.isascii() or _is_utf8(text)):
        return None
    starts, ends = starts[:, :n], ends[:, :n]
    values = None
    if value is not None:
        values = _numbers(data, starts[value], ends[value])
        if values is None:
            return None
        starts, ends = np.delete(starts, value, 0), np.delete(ends, value, 0)
    ids = [Cells.read(data, *column) for column in zip(starts, ends, strict=True)]
    return _Block(ids, values, lines[:n], most)


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _numbers(text: NDArray[np.uint8], starts: Ints, ends: Ints) -> NDArray[Any] | None:
    """Return cells as int64 or float64; None if one is no number, or both types are needed."""
    from toplist.kernels import cells

    whole = np.empty(len(starts), np.int64)
    cells.integers(text, starts, ends, whole)
    if whole.min(initial=0) != cells.OTHER:
        return whole
    rest = np.flatnonzero(whole == cells.OTHER)
    if len(rest) < len(whole) and np.abs(np.delete(whole, rest)).max() > EXACT:
        return None
    found, left = whole.astype(np.float64), np.empty_like(rest)
    n_left = cells.decimals(text, starts, ends, rest, found, left)
    for cell in left[:n_left].tolist():  # of more digits than a double has
        number = parse(text[starts[cell] : ends[cell]].tobytes().decode())
        if type(number) is not float:
            return None
        found[cell] = number
    return found


def _plain(
    source: Source, valid: Valid, cells: _Block | None, ids: tuple[TextIds, TextIds]
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
    for texts, column in zip(ids, cells.ids[:2], strict=True):
        texts.number(column)
        one, other = texts.encode(titles)
        if source.format.delimiter and np.any((column.codes == one) | (column.codes == other)):
            return None
    lines = cells.lines + source.line
    source.line += cells.n_lines
    source.row = source.line
    return Rows(cells.ids[0].codes, cells.ids[1].codes, values, lines)


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
    return Rows(ids[0].encode(users), ids[1].encode(items), numbers, places)
