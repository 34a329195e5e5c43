"""Blocks of complete rows of text tables, read by pyarrow where that reads what is written.

Some 4 MB at a time are cut at the end of a row and given to `pyarrow.csv` with every column as
text: 007 stays 007 and NA stays NA. pyarrow takes what the reader of `toplist.files.text` refuses
(a quote within a cell, a lone carriage return, a second header, 0x1F as a number), so a block with
anything of that kind is read by that reader, which alone knows what is meant or words what is
wrong. The next block is read while one is used.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.checks import optional
from toplist.files.lines import complete_rows
from toplist.files.numbers import EXACT
from toplist.files.text import JSON

LONG = 1 << 16  # bytes without a line end: there may be a long cell


@dataclass(frozen=True)
class Block:
    """Complete rows of a file.

    `ids` are columns of text, as arrays of Arrow, and `values` numbers, if a column has them; or
    `ids` is None, where only the plain reader knows what is meant.
    """

    text: bytes
    n_lines: int
    ids: list[Any] | None = None
    values: NDArray[Any] | None = None


def pyarrow_csv() -> Any:
    """Return pyarrow's reader of CSV; None where pyarrow cannot be imported."""
    try:
        return optional("pyarrow", "", "io", "csv").csv
    except ImportError:
        return None


def read_table(
    text: bytes,
    delimiter: str,
    header: Sequence[str],
    places: Sequence[int],
    value: str | None = None,
) -> Block:
    """Return a block of CSV or TSV, with the columns at `places`; the third one has the values."""
    columns = None
    if _is_simple(text if text.endswith(b"\n") else text + b"\n", delimiter):
        columns = _columns(text, delimiter, len(header), places, value)
    return _block(text, columns, value)


def _block(text: bytes, columns: list[Any] | None, value: str | None) -> Block:
    """Return a block with its values as numbers, if the third column has some."""
    ends = np.frombuffer(text, np.uint8) == ord("\n")  # three times as fast as text.count
    n_lines = int(np.count_nonzero(ends)) + (not text.endswith(b"\n"))
    if columns is None or value is None:
        return Block(text, n_lines, columns)
    values = _numbers(columns.pop(2), value == "rank")
    return Block(text, n_lines, None if values is None else columns, values)


def _is_simple(text: bytes, delimiter: str) -> bool:
    """Whether rows have no carriage return, quote or byte order mark where none belongs.

    Nor a cell that is longer than Python's csv module takes: 2^17 characters.
    """
    if not text.isascii() and codecs.BOM_UTF8 in text:
        return False
    if b"\r" in text and text.count(b"\r") != text.count(b"\r\n"):
        return False
    if any(text.find(b"\n", at, at + LONG) < 0 for at in range(0, len(text) - LONG, LONG)):
        return False
    return complete_rows(text, delimiter) == (len(text), True)


def read_fields(text: bytes, width: int, places: Sequence[int], value: str | None) -> Block:
    """Return a block of TREC, whose fields are separated by any number of blanks."""
    columns = None
    has_mark = not text.isascii() and codecs.BOM_UTF8 in text  # pyarrow would drop it
    if not any(blank in text for blank in (b"\t", b"\r", b"\v", b"\f", b"  ")) and not has_mark:
        columns = _columns(text, " ", width, places, value, quotes=False)
    if columns is None and not has_mark:
        fields = b"\n".join(b" ".join(line.split()) for line in text.split(b"\n"))
        columns = _columns(fields, " ", width, places, value, quotes=False)
    return _block(text, columns, value)


def objects(text: bytes) -> list[dict[str, Any]] | None:
    """Return the objects of lines of JSON with the same keys; None if a line is not plain.

    A plain line is one object without another in it, and without a colon or a brace in its texts.
    Many are decoded at once; that none has a key twice is seen by the number of colons.
    """
    text = text.strip(b"\n")
    n = text.count(b"\n") + 1
    if text.count(b"}\n{") != n - 1:  # there are blanks around objects, or more than one in a line
        lines = (line.strip(b" \t\r") for line in text.split(b"\n"))
        text = b"\n".join(filter(None, lines))
        n = text.count(b"\n") + 1
    braces = text.count(b"}\n{") + 1, text.count(b"{"), text.count(b"}")
    if not text.startswith(b"{") or not text.endswith(b"}") or braces != (n, n, n):
        return None
    try:
        found: list[dict[str, Any]] = JSON.decode(f"[{text.decode()}]".replace("}\n{", "},\n{"))
    except (ValueError, RecursionError):
        return None
    keys = tuple(found[0])
    if len(found) != n or set(map(tuple, found)) != {keys} or text.count(b":") != n * len(keys):
        return None
    return found


def _columns(
    text: bytes,
    delimiter: str,
    width: int,
    places: Sequence[int],
    value: str | None,
    quotes: bool = True,
) -> list[Any] | None:
    """Return columns of a table, the values as float64, all others as text.

    None for what pyarrow cannot read. It reads no double from 0x1F, which it takes as an integer.
    """
    import pyarrow as pa
    from pyarrow import csv

    if not (text.isascii() or _is_utf8(text)):
        return None
    names = [str(place) for place in range(width)]
    wanted = [names[place] for place in dict.fromkeys(places)]
    types = dict.fromkeys(wanted, pa.string())
    if value is not None:
        if places[2] in places[:2]:  # its cells are ids as well
            return None
        types[names[places[2]]] = pa.float64()
    try:
        table = csv.read_csv(
            pa.BufferReader(text),
            csv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=names),
            csv.ParseOptions(
                delimiter=delimiter, quote_char='"' if quotes else False, newlines_in_values=True
            ),
            csv.ConvertOptions(
                check_utf8=False,
                column_types=types,
                include_columns=wanted,
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowException:
        return None
    if not len(table):
        return None
    return [table.column(names[place]).chunk(0) for place in places]


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def has_empty(column: Any) -> bool:
    """Whether a column of text holds an empty one."""
    ends = np.frombuffer(column.buffers()[1], np.int32, len(column) + 1, 4 * column.offset)
    return bool(np.any(ends[1:] == ends[:-1]))


def _numbers(column: Any, whole: bool) -> NDArray[Any] | None:
    """Return a column as numbers; None where only Python's are exact, or are numbers at all.

    With `read_all`, all must be integers, though they may be written as 2.0.
    """
    found: NDArray[Any] = np.from_dlpack(column)  # to_numpy would import pandas
    # beyond 2^53 a whole number may lose digits as a double; infinite: 1e999, inf and nan
    if not np.all(np.abs(found) < EXACT):
        return None
    integers = found.astype(np.int64)
    return (integers if np.array_equal(integers, found) else None) if whole else found
