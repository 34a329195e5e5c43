"""Tables in files, CSV, TSV or Parquet: read, written, and what they say of items."""

import csv
import io
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from toplist.files import parquet, text
from toplist.files.errors import short
from toplist.files.formats import TABLES, TEXT_TABLES, PathLike, find_format
from toplist.files.lines import TextFile, csv_rows
from toplist.files.numbers import LARGEST, parse, way_out
from toplist.inputs.texts import Texts
from toplist.results.writing import Content, write_all

Ints = NDArray[np.int64]
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


def write_text(path: PathLike, content: str) -> None:
    r"""Write a UTF-8 file, gzipped if its name ends in ``.gz``: complete, or not at all.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/truth.csv", "user_id,item_id\nann,tea\n")
    ...     read_table(f"{folder}/truth.csv")
    {'user_id': ['ann'], 'item_id': ['tea']}
    """
    write_all({path: content})


def read(path: PathLike, wanted: Wanted) -> dict[str, list[str]]:
    r"""Return the wanted columns of a CSV or TSV file, as they are written, by their names.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/items.csv", "item_id,price\na,1.5\nb,2\n")
    ...     read(f"{folder}/items.csv", ["item_id"])
    {'item_id': ['a', 'b']}
    """

    def choose(header: Sequence[str], _: Mapping[str, Any]) -> text.Wanted:
        return text.Wanted(wanted(list(header)) if callable(wanted) else wanted)

    file = text.TextTables(path, find_format(path, valid=TEXT_TABLES), choose)
    found: dict[str, tuple[Texts, list[Ints]]] = {}
    for table in file.tables():
        for name, cells in table.cells.items():
            known, codes = found.setdefault(name, (Texts(), []))
            texts = cells.texts
            assert texts is not None  # as all cells of a file are
            codes.append(texts.encode(known))
    return {name: _decoded(*found[name]) for name in file.wanted.names}


def _decoded(texts: Texts, codes: list[Ints]) -> list[str]:
    """Return a column as texts, one object for each distinct one."""
    names = list(texts)
    return [names[code] for part in codes for code in part.tolist()]


def numbers(path: PathLike, name: str, column: Sequence[str]) -> NDArray[np.float64]:
    """Return a column as numbers; the error of another text names its line."""
    found = [parse(cell) for cell in column]
    for place, number in enumerate(found):
        if number is None or not abs(number) <= LARGEST:
            cell = column[place]
            raise _error(path, place, f"{name} {cell!r:.60} is not a number{way_out(cell)}")
    return np.array(found, np.float64)


def _error(path: PathLike, place: int, reason: str) -> ValueError:
    """Return an error about a row of a file, with its line."""
    file = TextFile(path)
    delimiter = find_format(path, valid=TEXT_TABLES).delimiter
    if os.path.isfile(file.path):
        with file.opened() as lines:
            for _ in islice(filter(None, csv_rows(lines, delimiter)), 1 + place + 1):
                pass
    return file.error(reason)


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


def documents(path: PathLike) -> dict[str, str]:
    """Read the document of each chunk: the columns item_id and document."""
    columns = read(path, ["item_id", "document"])
    return _by_item(path, columns["item_id"], columns["document"])


def features(path: PathLike) -> dict[str, NDArray[np.float64]]:
    """Read the features of each item: the column item_id, and numbers in all others."""
    columns = read(path, lambda header: ["item_id", *(one for one in header if one != "item_id")])
    items = columns.pop("item_id")
    rest = [numbers(path, name, cells) for name, cells in columns.items()]
    if not rest:
        raise ValueError(f"{os.fspath(path)}: no column of features besides 'item_id'")
    return _by_item(path, items, list(np.stack(rest, axis=1)))


def number(path: PathLike) -> dict[str, float]:
    """Read a number of each item: the column item_id, and another, as `_of_items` does."""
    path, name, items, cells = _of_items(path, "number")
    return _by_item(path, items, numbers(path, name, cells).tolist())


def labels(path: PathLike) -> dict[str, list[str]]:
    """Read the labels of each item, which may have several rows; an empty cell is no label."""
    return _grouped(*_of_items(path, "label")[2:])


def _of_items(path: PathLike, what: str) -> tuple[str, str, list[str], list[str]]:
    """Read item_id and the one other column, or of several that of ``FILE:COLUMN``.

    Returns the file, the name of the column, and both columns.
    """
    file, _, name = os.fspath(path).rpartition(":")
    if not (file and name) or os.path.exists(path):
        file, name = os.fspath(path), ""

    def wanted(header: Sequence[str]) -> list[str]:
        return ["item_id", *([name] if name else [one for one in header if one != "item_id"])]

    columns = read(file, wanted)
    items = columns.pop("item_id")
    if len(columns) != 1:
        raise ValueError(
            f"{file}: {len(columns)} columns besides 'item_id': one {what} is needed, {file}:COLUMN"
        )
    [(name, cells)] = columns.items()
    return file, name, items, cells


def distances(path: PathLike) -> dict[str, NDArray[np.float64]]:
    """Read the distances of all items: the column item_id, and a column for each item."""
    rows = features(path)
    named = read(path, lambda header: [one for one in header if one != "item_id"])
    if set(named) != set(rows):
        raise ValueError(f"{os.fspath(path)}: the columns are not those of its items")
    places = [list(named).index(item) for item in rows]
    return {item: row[places] for item, row in rows.items()}


def items_of_users(path: PathLike) -> dict[str, list[str]]:
    """Read the items of each user: the columns user_id and item_id, with a row for each item."""
    return _grouped(*read(path, ["user_id", "item_id"]).values())


def _grouped(keys: list[str], values: list[str]) -> dict[str, list[str]]:
    """Return the values of each key, without empty ones."""
    found: dict[str, list[str]] = {}
    for key, value in zip(keys, values, strict=True):
        found.setdefault(key, []).extend([value] if value else [])
    return found


# Readers of files about items, or items of users, by what these have of each.
READERS: Mapping[str, Callable[[PathLike], list[str] | dict[str, Any]]] = {
    "ids": catalogue,
    "counts": item_counts,
    "number": number,
    "numbers": features,
    "labels": labels,
    "matrix": distances,
    "items": items_of_users,
}


def _by_item(path: PathLike, items: list[str], values: list[T]) -> dict[str, T]:
    found = dict(zip(items, values, strict=True))
    if len(found) < len(items):
        first: dict[str, int] = {}
        place = next(i for i, item in enumerate(items) if first.setdefault(item, i) != i)
        raise _error(path, place, f"item {short(items[place])} has two rows")
    return found
