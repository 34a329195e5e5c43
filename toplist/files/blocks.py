"""Blocks of complete rows of text files, read together where that reads what is written.

Every column is read as text, but one of numbers: 007 stays 007 and NA stays NA. pyarrow takes what
Python's csv refuses (a quote within a cell, a lone carriage return, 0x1F as a number), so that what
holds anything of that kind is not read here: `toplist.files.text` reads that block alone. So it is
with lines of JSON, of which many are decoded at once.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from toplist.checks import Ints, optional
from toplist.files.lines import complete_rows
from toplist.files.numbers import EXACT

LONG = 1 << 16  # bytes without a line end: there may be a long cell


def pyarrow_csv() -> Any:
    """Return pyarrow's reader of CSV; None where pyarrow cannot be imported."""
    try:
        return optional("pyarrow", "", "io", "csv").csv
    except ImportError:
        return None


def read_table(
    text: bytes, delimiter: str, header: Sequence[str], wanted: Sequence[str], value: str | None
) -> dict[str, Any] | None:
    """Return the wanted columns of CSV, TSV or TREC, that of values as float64, others as text.

    None for what Python has to read. Fields of TREC are separated by any number of blanks.
    """
    if not delimiter:
        return _read_fields(text, header, wanted, value)
    if not _is_simple(text if text.endswith(b"\n") else text + b"\n", delimiter):
        return None
    return _columns(text, delimiter, header, wanted, value)


def _read_fields(
    text: bytes, header: Sequence[str], wanted: Sequence[str], value: str | None
) -> dict[str, Any] | None:
    if not text.isascii() and codecs.BOM_UTF8 in text:  # pyarrow would drop it
        return None
    columns = None
    # one blank between two fields, and none before the first or after the last
    others = (b"\t", b"\r", b"\v", b"\f", b"  ", b" \n", b"\n ")
    if text.strip(b" ") == text and not any(blank in text for blank in others):
        columns = _columns(text, " ", header, wanted, value, quotes=False)
    if columns is None:
        fields = b"\n".join(b" ".join(line.split()) for line in text.split(b"\n"))
        columns = _columns(fields, " ", header, wanted, value, quotes=False)
    return columns


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


def _columns(
    text: bytes,
    delimiter: str,
    header: Sequence[str],
    wanted: Sequence[str],
    value: str | None,
    quotes: bool = True,
) -> dict[str, Any] | None:
    """Return columns of a table; None for what pyarrow cannot read.

    It reads no double from 0x1F, which it takes as an integer.
    """
    import pyarrow as pa
    from pyarrow import csv

    if not (text.isascii() or _is_utf8(text)):
        return None
    places = {name: str(header.index(name)) for name in wanted}
    types = dict.fromkeys(places.values(), pa.large_string())  # of 2^31 bytes and more together
    if value is not None:
        types[places[value]] = pa.float64()
    try:
        table = csv.read_csv(
            pa.BufferReader(text),
            csv.ReadOptions(
                use_threads=False,
                block_size=len(text) + 1,
                column_names=[str(place) for place in range(len(header))],
            ),
            csv.ParseOptions(
                delimiter=delimiter, quote_char='"' if quotes else False, newlines_in_values=True
            ),
            csv.ConvertOptions(
                check_utf8=False,
                column_types=types,
                include_columns=[*types],
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowException:
        return None
    if not len(table):
        return None
    return {name: table.column(place).chunk(0) for name, place in places.items()}


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


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
        found: list[dict[str, Any]] = _JSON.decode(f"[{text.decode()}]".replace("}\n{", "},\n{"))
    except (ValueError, RecursionError):
        return None
    keys = tuple(found[0])
    if len(found) != n or set(map(tuple, found)) != {keys} or text.count(b":") != n * len(keys):
        return None
    return found


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


_JSON = json.JSONDecoder(parse_constant=_constant)  # a key twice is not seen


def n_lines(text: bytes) -> int:
    """Return the number of lines, of which the last one may have no end."""
    ends = np.frombuffer(text, np.uint8) == ord("\n")  # three times as fast as text.count
    return int(np.count_nonzero(ends)) + (not text.endswith(b"\n"))


def lines_of_rows(text: bytes, quoted: bool) -> Ints:
    """Return the line of each row, counted from 0: not those of blank lines, nor within quotes."""
    if not quoted:  # of TREC
        rows = enumerate(text.split(b"\n"))
        return np.array([at for at, line in rows if line.split()], np.int64)
    data = np.frombuffer(text if text.endswith(b"\n") else text + b"\n", np.uint8)
    ends = np.flatnonzero(data == ord("\n"))
    lines = np.arange(len(ends))
    if b'"' in text:  # a row ends where an even number of quotes is before
        outside = np.cumsum(data == ord('"'), dtype=np.uint8)[ends] % 2 == 0
        lines, ends = lines[outside], ends[outside]
    starts = np.append(0, ends[:-1] + 1)
    blank = (ends == starts) | ((ends == starts + 1) & (data[starts] == ord("\r")))
    found: Ints = lines[~blank]
    return found


def has_empty(column: Any) -> bool:
    """Whether a column of text holds an empty one."""
    ends = np.frombuffer(column.buffers()[1], np.int64, len(column) + 1, 8 * column.offset)
    return bool(np.any(ends[1:] == ends[:-1]))


def holds(column: Any, texts: Sequence[str]) -> bool:
    """Whether one of some texts is in a column."""
    import pyarrow as pa
    from pyarrow import compute

    return bool(compute.any(compute.is_in(column, pa.array(texts, column.type))).as_py())


def numbers(column: Any, whole: bool) -> NDArray[Any] | None:
    """Return a column as numbers; None where only Python's are exact, or are numbers at all.

    If they have to be `whole`, all are integers, though they may be written as 2.0.
    """
    found: NDArray[Any] = np.from_dlpack(column)  # to_numpy would import pandas
    # beyond 2^53 a whole number may lose digits as a double; infinite: 1e999, inf and nan
    if not np.all(np.abs(found) < EXACT):
        return None
    integers = found.astype(np.int64)
    return (integers if np.array_equal(integers, found) else None) if whole else found
