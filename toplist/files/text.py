"""Rows ``(user, item, value)`` of CSV, TSV, JSONL and TREC files, gzipped or not.

Every text format is one stream of rows, the value a rank, a score or a relevance; the rest is the
same for all. What cannot be read is a `ValueError` of one line.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import math
import os
import sys
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any

from toplist.files.progress import bar
from toplist.inputs.options import renamed

FORMATS = ("csv", "tsv", "jsonl", "trec", "parquet")
TEXT = FORMATS[:-1]  # what is read row by row here
_EXTENSIONS = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".parquet": "parquet"}
_EXTENSIONS |= dict.fromkeys((".run", ".qrels", ".trec"), "trec")
# A TREC file is a table without a header; like trec_eval, nothing reads the rank of a run.
_TREC_COLUMNS = {"user_id": "qid", "item_id": "docno", "relevance": "rel"}
_TREC_RUN = ("qid", "Q0", "docno", "(rank)", "score", "tag")
_TREC_QRELS = ("qid", "0", "docno", "rel")

# What a value must lie between, and how to say so; NaN lies nowhere.
NUMBER = (-math.inf, math.inf, "a number")
FINITE = (-sys.float_info.max, sys.float_info.max, "a finite number")
GRADE = (0.0, sys.float_info.max, "a finite number of at least 0")

MUCH = 1 << 24  # bytes: some ten seconds of reading

PathLike = str | os.PathLike[str]
Format = str | None
Columns = Mapping[str, str] | None
Id = str | int
Row = tuple[Id, Id | None, float]  # an item of None: a user without items
_Cells = tuple[Id, Id | None, Any]


def format_of(path: PathLike) -> str:
    """Return the format that the extension of a file name stands for.

    Examples
    --------
    >>> format_of("recs.csv.gz"), format_of("qrels.trec")
    ('csv', 'trec')
    """
    extension = os.path.splitext(os.fspath(path).lower().removesuffix(".gz"))[1]
    if extension not in _EXTENSIONS and os.path.isdir(path):
        return "parquet"
    if extension not in _EXTENSIONS:
        raise ValueError(
            f"{os.fspath(path)}: the extension names no format: use {', '.join(_EXTENSIONS)}, "
            "text also with .gz, or --recs-format/--truth-format (format= in Python): "
            + ", ".join(FORMATS)
        )
    return _EXTENSIONS[extension]


class Source:
    """A file being read: its columns, which of them gives the values, and the line reached."""

    def __init__(self, path: PathLike, format: Format, columns: Columns, *candidates: str) -> None:
        self.path = os.fspath(path)
        self.format = format_of(path) if format is None else format
        if self.format == "parquet":
            raise ValueError(f"{self.path}: Parquet is read by top_k_eval_files, or by pyarrow")
        if self.format not in TEXT:
            raise ValueError(f"format {format!r} is not valid: {', '.join(TEXT)}")
        own = columns or {}
        self.names = renamed(columns)
        if self.format == "trec":
            own, self.names = _TREC_COLUMNS, renamed(_TREC_COLUMNS)
        self.needed = ["user_id", "item_id", *(name for name in candidates if name in own)]
        self.candidates = candidates  # for the values; the first that is found gives them
        self.value: str | None = None
        self.line = 0

    def error(self, reason: str) -> ValueError:
        """Return the error to raise, about the line reached or, at line 0, the whole file."""
        return ValueError(f"{self.path}{f':{self.line}' if self.line else ''}: {reason}")

    def choose(self, found: Collection[str], *, optional: bool = False) -> str | None:
        """Return the column that gives the values, once the columns found are checked."""
        missing = next((name for name in self.needed if self.names[name] not in found), None)
        value = next((name for name in self.candidates if self.names[name] in found), None)
        if missing:
            reason = f"no column {self.names[missing]!r}, --columns {missing}=NAME names another"
        elif value is None and "rank" in self.candidates and not optional:
            reason = "neither rank nor score, --order file takes the items as they come"
        else:
            return value
        raise self.error(f"{reason}; columns found: {[*found]}")

    def lines(self) -> Iterator[bytes]:
        """Read the file line by line, counting."""
        packed = self.path.lower().endswith(".gz")
        with open(self.path, "rb") as raw, self._bar() as advance:
            stream = io.BufferedReader(gzip.GzipFile(fileobj=raw)) if packed else raw
            read = 0
            for self.line, line in enumerate(stream, 1):
                yield line.removeprefix(codecs.BOM_UTF8) if self.line == 1 else line
                if advance and self.line % 4096 == 0:
                    advance(raw.tell() - read)
                    read = raw.tell()

    def _bar(self) -> Any:
        name, size = os.path.basename(self.path), os.path.getsize(self.path)
        return bar(name, size, "B", least=MUCH)


def rows(source: Source, lowest: float, highest: float, expected: str) -> Iterator[Row]:
    """Read the file row by row; the error of what cannot be read names the line."""
    n_rows = 0
    try:
        for user, item, value in _READERS[source.format](source, source.lines()):
            n_rows += 1
            try:
                number = float(value) if item is not None else lowest
            except (ValueError, OverflowError):
                number = math.nan
            if not lowest <= number <= highest:
                raise source.error(f"{source.value} {value!r:.60} is not {expected}")
            yield user, item, number
    except (UnicodeDecodeError, csv.Error, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise source.error(f"not readable: {error}") from None
    source.line = 0
    if not n_rows:
        raise source.error("no rows")


def _csv_rows(source: Source, lines: Iterator[bytes]) -> Iterator[_Cells]:
    delimiter = "\t" if source.format == "tsv" else ","
    # strict: a stray quote is an error, it does not swallow the lines that follow
    table = csv.reader(map(bytes.decode, lines), delimiter=delimiter, strict=True)
    for header in filter(None, table):  # the first line; the rows take the rest
        yield from _table_rows(source, header, table)


def _trec_rows(source: Source, lines: Iterator[bytes]) -> Iterator[_Cells]:
    header = _TREC_QRELS if "relevance" in source.candidates else _TREC_RUN
    # bytes are split at ASCII white space only, text would be at any
    table = ([field.decode() for field in line.split()] for line in lines)
    return _table_rows(source, header, (row for row in table if row and row[0][0] != "#"))


def _table_rows(
    source: Source, header: Sequence[str], rows: Iterable[list[str]]
) -> Iterator[_Cells]:
    source.value = source.choose(header)
    used = [source.names[name] for name in ("user_id", "item_id", source.value) if name]
    if any(header.count(name) > 1 for name in used):
        raise source.error(f"a column stands twice in the header: {[*header]}")
    user, item, *rest = map(header.index, used)
    loose = header is _TREC_RUN  # what follows the tag is ignored, as trec_eval does
    value = rest[0] if rest else None
    for row in rows:
        fits = len(row) == len(header) or (loose and len(row) > len(header))
        if fits and row[user] and row[item]:
            yield row[user], row[item], 1.0 if value is None else row[value]
        elif fits:
            raise source.error(f"empty {used[1] if row[user] else used[0]}")
        elif row:  # not a blank line
            raise source.error(f"{len(row)} columns instead of {len(header)}: {[*header]}")


def _jsonl_rows(source: Source, lines: Iterator[bytes]) -> Iterator[_Cells]:
    forms: set[Any] = set()
    listed: dict[Id, int] = {}  # users with a list, and where
    for text in filter(None, (line.decode().strip() for line in lines)):
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            reason = str(error).replace("line 1 column", "column")
            raise source.error(f"not valid JSON: {reason}") from None
        if type(record) is not dict:
            raise source.error(f"not a JSON object: {text!r:.60}")
        whole = type(record.get(source.names["item_id"])) is list
        source.value = source.choose(record, optional=whole)
        forms.add((whole, source.value))
        if len(forms) > 1:
            raise source.error("unlike the lines before: an item or a list, with the same keys")
        user, items = record[source.names["user_id"]], record[source.names["item_id"]]
        cells = record[source.names[source.value]] if source.value else 1.0
        if not whole:
            items, cells = [items], [cells]
        elif source.value is None:
            cells = [cells] * len(items)
        elif type(cells) is not list or len(cells) != len(items):
            raise source.error(f"{source.value} must be a list as long as the list of items")
        for one in (user, *items):
            if type(one) not in (int, str) or one == "":
                raise source.error(f"{json.dumps(one):.60} is not an id: use integers or texts")
        if user in listed:
            raise source.error(f"user {user!r} has a list already, in line {listed[user]}")
        if whole:
            listed[user] = source.line
        # what is no JSON number stays JSON, which float() refuses
        cells = [cell if type(cell) in (int, float) else json.dumps(cell) for cell in cells]
        yield from zip(repeat(user), items or (None,), cells or (None,), strict=False)


_READERS: dict[str, Callable[[Source, Iterator[bytes]], Iterator[_Cells]]] = {
    "csv": _csv_rows,
    "tsv": _csv_rows,
    "jsonl": _jsonl_rows,
    "trec": _trec_rows,
}
