"""Ranked lists and ground truths from CSV, TSV, JSONL and TREC files, gzipped or not.

Every format is one stream of rows ``(user, item, value)``, the value a rank, a score or a
relevance; the rest is the same for all. What cannot be read is a `ValueError` of one line.
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
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, repeat
from typing import Any

import numpy as np

FORMATS = ("csv", "tsv", "jsonl", "trec")

_EXTENSIONS = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl"}
_EXTENSIONS |= dict.fromkeys((".run", ".qrels", ".trec"), "trec")
COLUMNS = ("user_id", "item_id", "rank", "score", "relevance")
# A TREC file is a table without a header; like trec_eval, nothing reads the rank of a run.
_TREC_COLUMNS = {"user_id": "qid", "item_id": "docno", "relevance": "rel"}
_TREC_RUN = ("qid", "Q0", "docno", "(rank)", "score", "tag")
_TREC_QRELS = ("qid", "0", "docno", "rel")

# What a value must lie between, and how to say so; NaN lies nowhere.
_NUMBER = (-math.inf, math.inf, "a number")
_FINITE = (-sys.float_info.max, sys.float_info.max, "a finite number")
_GRADE = (0.0, sys.float_info.max, "a finite number of at least 0")

PathLike = str | os.PathLike[str]
Format = str | None
Columns = Mapping[str, str] | None
Id = str | int
Row = tuple[Id, Id | None, Any]  # an item of None: a user without items
Group = tuple[Id, list[Id], list[float]]


def format_of(path: PathLike) -> str:
    """Return the format that the extension of a file name stands for."""
    extension = os.path.splitext(os.fspath(path).lower().removesuffix(".gz"))[1]
    if extension not in _EXTENSIONS:
        raise ValueError(
            f"{os.fspath(path)}: the extension names no format: use {', '.join(_EXTENSIONS)}, each "
            f"also .gz, or --recs-format/--truth-format (format= in Python): {', '.join(FORMATS)}"
        )
    return _EXTENSIONS[extension]


def read_ranks(
    path: PathLike, *, format: Format = None, columns: Columns = None, order: str | None = None
) -> dict[Id, list[Id]]:
    r"""Read the ranked list of every user, best item first; users as they first appear.

    A rank, 1..n for each user, decides the order; without one the score, descending, ties in
    file order (in a TREC run by document id, descending); ``order="file"`` takes the items as
    they come. ``format`` is one of `FORMATS`, by default what the extension says; ``columns``
    gives the file's own names of ``user_id``, ``item_id``, ``rank`` and ``score`` (TREC columns
    have none). A file that ends in ``.gz`` is unpacked.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/lists.csv", "user_id,item_id,rank\nann,tea,2\nann,jam,1\n")
    ...     read_ranks(f"{folder}/lists.csv")
    {'ann': ['jam', 'tea']}
    """
    if order not in (None, "file"):
        raise ValueError(f"order {order!r} is not valid: 'file', or None for rank or score")
    source = _Source(path, format, columns, *(() if order else ("rank", "score")))
    return {user: items for user, items, _ in _groups(source, *_NUMBER)}


def read_truths(
    path: PathLike, *, format: Format = None, columns: Columns = None
) -> dict[Id, set[Id]] | dict[Id, dict[Id, float]]:
    r"""Read the relevant items of every user; users as they first appear.

    The parameters are those of `read_ranks`. Truths are sets, or dicts item to grade if there
    is a ``relevance`` column. A TREC file is read as qrels: relevance below 1 is not relevant,
    a query without a relevant document is a user with an empty truth, and truths are dicts only
    if some relevant grade is not 1.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/test.qrels", "q1 0 d7 1\nq1 0 d8 0\nq2 0 d7 0\n")
    ...     read_truths(f"{folder}/test.qrels")
    {'q1': {'d7'}, 'q2': set()}
    """
    source = _Source(path, format, columns, "relevance")
    trec = source.format == "trec"
    groups = _groups(source, *(_FINITE if trec else _GRADE))
    if source.value is None:
        return {user: set(items) for user, items, _ in groups}
    truths = {user: _grades(source, user, items, values) for user, items, values in groups}
    if trec and all(grade == 1 for grades in truths.values() for grade in grades.values()):
        return {user: set(grades) for user, grades in truths.items()}
    return truths


def write_text(path: PathLike, text: str) -> None:
    """Write a UTF-8 file, gzipped if its name ends in ``.gz``: complete, or not at all."""
    target = os.path.realpath(path)  # a link goes on pointing to its file
    data = text.encode()
    if target.lower().endswith(".gz"):
        data = gzip.compress(data, mtime=0)  # no time: the same text gives the same bytes
    replaced = os.path.isfile(path) or not os.path.exists(path)  # a pipe or a device is not
    written = f"{os.path.dirname(target)}/.{os.urandom(8).hex()}.tmp" if replaced else path
    try:
        with open(written, "xb" if replaced else "wb") as stream:
            stream.write(data)
        if replaced:
            os.replace(written, target)
    except BaseException as error:
        if replaced and os.path.exists(written):
            os.unlink(written)
        if (
            isinstance(error, OSError) and error.errno
        ):  # of the file that was asked for, not the temporary one
            raise OSError(error.errno, error.strerror, os.fspath(path)) from None
        raise


class _Source:
    """A file being read: its columns, which of them gives the values, and the line reached."""

    def __init__(self, path: PathLike, format: Format, columns: Columns, *candidates: str) -> None:
        self.path = os.fspath(path)
        self.format = format_of(path) if format is None else format
        if self.format not in FORMATS:
            raise ValueError(f"format {format!r} is not valid: {', '.join(FORMATS)}")
        for name in set(columns or ()).difference(COLUMNS):
            raise ValueError(f"columns: {name!r} is not valid: {', '.join(COLUMNS)}")
        renamed = _TREC_COLUMNS if self.format == "trec" else columns or {}
        self.names = {name: renamed.get(name, name) for name in COLUMNS}
        self.needed = ["user_id", "item_id", *(name for name in candidates if name in renamed)]
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
        with gzip.open(self.path) if packed else open(self.path, "rb") as stream:
            # GzipFile iterates in Python, BufferedReader in C
            for self.line, line in enumerate(io.BufferedReader(stream) if packed else stream, 1):
                yield line.removeprefix(codecs.BOM_UTF8) if self.line == 1 else line


def _groups(source: _Source, lowest: float, highest: float, expected: str) -> Iterator[Group]:
    """Read the file and return items and values of each user, in the order asked for."""
    users: dict[Id, int] = {}  # each numbered as it first appears
    items: dict[Id, int] = {}
    owners, places, values = array("q"), array("q"), array("d")
    try:
        for user, item, value in _READERS[source.format](source, source.lines()):
            owner = users.setdefault(user, len(users))
            if item is None:
                continue
            try:
                number = float(value)
            except (ValueError, OverflowError):
                number = math.nan
            if not lowest <= number <= highest:
                raise source.error(f"{source.value} {value!r:.60} is not {expected}")
            owners.append(owner)
            places.append(items.setdefault(item, len(items)))
            values.append(number)
    except (UnicodeDecodeError, csv.Error, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise source.error(f"not readable: {error}") from None
    source.line = 0
    if not users:
        raise source.error("no rows")
    return _sorted(source, list(users), list(items), *map(np.asarray, (owners, places, values)))


def _sorted(source: _Source, users: list[Id], ids: list[Id], *columns: Any) -> Iterator[Group]:
    owners, items, values = columns
    keys = {"rank": [values], "score": [-values]}.get(source.value or "", [])
    if source.value == "score" and source.format == "trec":
        # trec_eval's order: ties by id, descending in bytes, which is how str compares
        place = np.argsort(np.argsort(np.array(ids, dtype=object)))
        keys.insert(0, -place[items])
    order = np.lexsort([*keys, owners])  # stable: ties stay in file order
    owners, items, values = owners[order], items[order], values[order]
    bounds = np.searchsorted(owners, np.arange(len(users) + 1))
    if source.value == "rank":
        ranks = np.arange(len(owners)) - bounds[owners] + 1
        for i in np.flatnonzero(values != ranks)[:1]:
            found = f"user {users[owners[i]]!r} has rank {values[i]:.15g} in place of {ranks[i]}"
            hint = " (these are zero-based)" if values[i] == 0 else ""
            raise source.error(f"{found}: ranks must be 1..n for each user, each once{hint}")
    for user, (start, stop) in zip(users, pairwise(bounds.tolist()), strict=True):
        yield user, [ids[i] for i in items[start:stop].tolist()], values[start:stop].tolist()


def _grades(source: _Source, user: Id, items: list[Id], values: list[float]) -> dict[Id, float]:
    grades = dict(zip(items, values, strict=True))
    for item, value in zip(items, values, strict=True) if len(grades) < len(items) else ():
        if value != grades[item]:
            both = f"{value:g} and {grades[item]:g}"
            raise source.error(f"user {user!r}: item {item!r} has relevance {both}")
    # TREC: the query stays, what is not relevant goes
    return {i: g for i, g in grades.items() if g >= 1} if source.format == "trec" else grades


def _csv_rows(source: _Source, lines: Iterator[bytes]) -> Iterator[Row]:
    delimiter = "\t" if source.format == "tsv" else ","
    # strict: a stray quote is an error, it does not swallow the lines that follow
    table = csv.reader(map(bytes.decode, lines), delimiter=delimiter, strict=True)
    for header in filter(None, table):  # the first line; the rows take the rest
        yield from _table_rows(source, header, table)


def _trec_rows(source: _Source, lines: Iterator[bytes]) -> Iterator[Row]:
    header = _TREC_QRELS if "relevance" in source.candidates else _TREC_RUN
    # bytes are split at ASCII white space only, text would be at any
    table = ([field.decode() for field in line.split()] for line in lines)
    return _table_rows(source, header, (row for row in table if row and row[0][0] != "#"))


def _table_rows(source: _Source, header: Sequence[str], rows: Iterable[list[str]]) -> Iterator[Row]:
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


def _jsonl_rows(source: _Source, lines: Iterator[bytes]) -> Iterator[Row]:
    forms, listed = set(), set()
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
            raise source.error(f"user {user!r} has a list already")
        if whole:
            listed.add(user)
        # what is no JSON number stays JSON, which float() refuses
        cells = [cell if type(cell) in (int, float) else json.dumps(cell) for cell in cells]
        yield from zip(repeat(user), items or (None,), cells or (None,), strict=False)


_READERS = {"csv": _csv_rows, "tsv": _csv_rows, "jsonl": _jsonl_rows, "trec": _trec_rows}
