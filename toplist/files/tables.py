"""Tables in files, CSV, TSV or Parquet: read, written, and what they say of items."""

import csv
import gzip
import io
import os
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from toplist.files import parquet
from toplist.files.formats import TABLES, TEXT_TABLES, PathLike, find_format
from toplist.files.lines import TextFile, csv_rows

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
    format = find_format(path, valid=TABLES)
    if not format.is_text:
        parquet.write_table(path, table)
        return
    out = io.StringIO()
    writer = csv.writer(out, delimiter=format.delimiter, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*table.values(), strict=True))
    write_text(path, out.getvalue())


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
        if isinstance(error, OSError) and error.errno:
            # it names the file that was asked for, not the temporary one
            raise OSError(error.errno, error.strerror, os.fspath(path)) from None
        raise


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
    file, delimiter = TextFile(path), find_format(path, valid=TEXT_TABLES).delimiter
    with file.opened() as lines:
        rows = csv_rows(lines, delimiter)
        header = next(filter(None, rows), None)
        if header is None:
            raise ValueError(f"{file.path}: no rows")
        names = wanted(header) if callable(wanted) else wanted
        places = [file.place(name, header) for name in names]
        columns: list[list[str]] = [[] for _ in places]
        for row in filter(None, rows):
            if len(row) != len(header):
                raise file.wrong_width(row, header)
            for column, place in zip(columns, places, strict=True):
                column.append(row[place])
    return dict(zip(names, columns, strict=True))


def numbers(path: PathLike, name: str, column: Sequence[str]) -> NDArray[np.float64]:
    """Return a column as numbers."""
    try:
        return np.array(column, np.float64)
    except ValueError:
        pass
    for row, cell in enumerate(column, start=1):
        try:
            float(cell)
        except ValueError:
            raise ValueError(
                f"{os.fspath(path)}: row {row}: {name} {cell!r:.60} is not a number"
            ) from None
    return np.array([float(cell) for cell in column])


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


def _by_item(path: PathLike, items: list[str], values: list[T]) -> dict[str, T]:
    found = dict(zip(items, values, strict=True))
    if len(found) < len(items):
        twice = next(item for item, n in Counter(items).items() if n > 1)
        raise ValueError(f"{os.fspath(path)}: item {twice!r} has two rows")
    return found
