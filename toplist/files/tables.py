"""Tables in files, CSV, TSV or Parquet: read, written, and what they say of items."""

import csv
import io
import os
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from toplist.files import parquet
from toplist.files.blocks import Blocks
from toplist.files.errors import located, short
from toplist.files.formats import TABLES, TEXT_TABLES, PathLike, find_format
from toplist.files.lines import TextFile, csv_rows, is_split_by_returns, split
from toplist.files.numbers import LARGEST, parse, way_out
from toplist.files.scans import Block, of_columns
from toplist.files.text_ids import TextIds, listed
from toplist.inputs.factorize import Column
from toplist.writing import Content, write_all

# Names of columns, or what returns them from the header.
Wanted = Sequence[str] | Callable[[list[str]], Sequence[str]]
T = TypeVar("T")


def read_table(path: PathLike) -> Any:
    """Read a table: CSV and TSV as a dict of columns of text, Parquet as a pyarrow table."""
    if not find_format(path, valid=TABLES).is_text:
        return parquet.read_table(path)
    columns = read(path, lambda header: header)
    if not any(columns.values()):
        raise ValueError(f"{os.fspath(path)}: no rows")
    return columns


def write_table(path: PathLike, table: Any) -> None:
    """Write what `read_table` read, or some rows of it, in the format of the extension."""
    write_tables({path: table})


def write_tables(tables: Mapping[PathLike, Any]) -> None:
    """Write several tables, all of them or none, each in the format of its extension."""
    write_all({path: _content(path, table) for path, table in tables.items()})


def _content(path: PathLike, table: Any) -> Content:
    format = find_format(path, valid=TABLES)
    if not format.is_text:
        return partial(parquet.write_table, table=table)
    out = io.StringIO()
    writer = csv.writer(out, delimiter=format.delimiter, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*table.values(), strict=True))
    return out.getvalue()


def write_text(path: PathLike, text: str) -> None:
    r"""Write a UTF-8 file, gzipped if its name ends in ``.gz``: complete, or not at all.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/truth.csv", "user_id,item_id\nann,tea\n")
    ...     read_table(f"{folder}/truth.csv")
    {'user_id': ['ann'], 'item_id': ['tea']}
    """
    write_all({path: text})


class Cells(list[str]):
    """A column as it is written, and the line that each cell ends in."""

    lines: Sequence[int] = ()


def read(path: PathLike, wanted: Wanted) -> dict[str, Cells]:
    r"""Return the wanted columns of a CSV or TSV file, as they are written, by their names.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/items.csv", "item_id,price\na,1.5\nb,2\n")
    ...     read(f"{folder}/items.csv", ["item_id"])
    {'item_id': ['a', 'b']}
    """
    file, delimiter = TextFile(path), find_format(path, valid=TEXT_TABLES).delimiter
    with file.stream() as (stream, show), closing(Blocks(stream, file.longest)) as blocks:
        by_returns = is_split_by_returns(stream)
        lines = file.counted(split(stream, file.longest) if by_returns else blocks.lines())
        rows = csv_rows(lines, delimiter)
        header = next(filter(None, rows), None)
        if header is None:
            raise ValueError(f"{file.path}: no rows")
        file.row = file.line
        names = wanted(header) if callable(wanted) else wanted
        places = file.places(names, header)
        table = _Columns(file, header, names, places)
        if by_returns:
            table.read(rows, bool)
        elif places:
            blocks.scan(of_columns(delimiter, len(header), places))
        while blocks.more():
            if not table.take(blocks.cells):
                rows = csv_rows(file.counted(blocks.lines()), delimiter)
                table.read(rows, partial(blocks.left, blocks.text))
                blocks.scan_rest()
            else:
                blocks.skip()
            show()
    return table.found()


class _Columns:
    """Columns of a file that is being read in blocks: codes of their cells."""

    def __init__(
        self, file: TextFile, header: list[str], names: Sequence[str], places: list[int]
    ) -> None:
        self._file, self._header, self._names, self._places = file, header, names, places
        self._texts = [TextIds() for _ in names]
        self._codes: list[list[NDArray[np.int64]]] = [[] for _ in names]
        self._lines: list[NDArray[np.int64]] = []

    def take(self, block: Block | None) -> bool:
        """Add the cells of a block; False if a reader of rows is needed."""
        if block is None or self._names[0].lstrip("-").isdecimal():
            return False
        first = self._texts[0].n_texts
        for texts, cells in zip(self._texts, block.ids, strict=True):
            texts.number(cells)
        if any(text.endswith(self._names[0]) for text in self._texts[0].since(first)):
            return False  # there may be a second header
        for codes, cells in zip(self._codes, block.ids, strict=True):
            codes.append(cells.codes)
        self._lines.append(block.lines + self._file.line)
        self._file.line += block.n_lines
        self._file.row = self._file.line
        return True

    def read(self, rows: Iterator[list[str]], ended: Callable[[], bool]) -> None:
        """Add rows until `ended`."""
        file, cells, lines = self._file, list[list[str]](), array("q")
        for row in filter(None, rows):
            file.row = file.line
            if len(row) != len(self._header):
                raise file.wrong_width(row, self._header)
            if self._names and row[self._places[0]].endswith(self._names[0]):
                file.refuse_header(row, self._header, self._places)
            lines.append(file.line)
            cells.append([row[place] for place in self._places])
            if ended():
                break
        columns = zip(*cells, strict=True) if cells else [()] * len(self._names)
        for texts, codes, column in zip(self._texts, self._codes, columns, strict=True):
            codes.append(texts.encode(column))
        self._lines.append(np.array(lines, np.int64))

    def found(self) -> dict[str, Cells]:
        """Return the columns as texts."""
        lines = np.concatenate([np.empty(0, np.int64), *self._lines])
        found = {}
        for name, texts, codes in zip(self._names, self._texts, self._codes, strict=True):
            column = listed(Column(name, np.concatenate([np.empty(0, np.int64), *codes]), texts))
            found[name] = Cells(column.decoded(column.codes))
            found[name].lines = lines.tolist()
        return found


def numbers(path: PathLike, name: str, column: Sequence[str]) -> NDArray[np.float64]:
    """Return a column as numbers; the error of another text names its line."""
    found = [parse(cell) for cell in column]
    for place, number in enumerate(found):
        if number is None or not abs(number) <= LARGEST:
            cell = column[place]
            raise _error(path, column, place, f"{name} {cell!r:.60} is not a number{way_out(cell)}")
    return np.array(found, np.float64)


def _error(path: PathLike, column: Sequence[str], place: int, reason: str) -> ValueError:
    """Return an error about a cell, with its line, or of any list of text its row."""
    lines = getattr(column, "lines", ())
    where = f"{lines[place]}" if len(lines) else f" row {place + 1}"
    return located(ValueError, f"{os.fspath(path)}:{where}: ", reason)


def catalogue(path: PathLike) -> list[str]:
    """Read the ids of a catalogue: the column item_id."""
    return read(path, ["item_id"])["item_id"]


def item_counts(path: PathLike) -> dict[str, float]:
    """Read how often each item occurs in the training data.

    The columns item_id and count; without a count, a row is one interaction, so that a file of
    the training data itself can be given.
    """
    columns = read(path, lambda header: ["item_id", "count"][: 1 + ("count" in header)])
    if "count" not in columns:
        return dict(Counter(columns["item_id"]))
    counts = numbers(path, "count", columns["count"]).tolist()
    return _by_item(path, columns["item_id"], counts)


def features(path: PathLike) -> dict[str, NDArray[np.float64]]:
    """Read the features of each item: the column item_id, and numbers in all others."""
    columns = read(path, lambda header: ["item_id", *(one for one in header if one != "item_id")])
    items = columns.pop("item_id")
    rest = [numbers(path, name, cells) for name, cells in columns.items()]
    if not rest:
        raise ValueError(f"{os.fspath(path)}: no column of features besides 'item_id'")
    return _by_item(path, items, list(np.stack(rest, axis=1)))


def number(path: PathLike) -> dict[str, float]:
    """Read a number of each item: the column item_id, and the one other column."""
    columns = read(path, lambda header: ["item_id", *(one for one in header if one != "item_id")])
    items = columns.pop("item_id")
    if len(columns) != 1:
        raise ValueError(
            f"{os.fspath(path)}: {len(columns)} columns besides 'item_id': one number is needed"
        )
    [(name, cells)] = columns.items()
    return _by_item(path, items, numbers(path, name, cells).tolist())


# Readers of files about items, by what these have of each item.
READERS: Mapping[str, Callable[[PathLike], list[str] | dict[str, Any]]] = {
    "ids": catalogue,
    "counts": item_counts,
    "number": number,
    "numbers": features,
}


def _by_item(path: PathLike, items: list[str], values: list[T]) -> dict[str, T]:
    found = dict(zip(items, values, strict=True))
    if len(found) < len(items):
        first: dict[str, int] = {}
        place = next(i for i, item in enumerate(items) if first.setdefault(item, i) != i)
        raise _error(path, items, place, f"item {short(items[place])} has two rows")
    return found
