"""Tables in files: CSV and TSV are columns of text, Parquet is a pyarrow table."""

import csv
import gzip
import io
import os
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

PathLike = str | os.PathLike[str]
Wanted = Sequence[str] | Callable[[list[str]], Sequence[str]]

TABLES = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet")


def table_format(path: str | os.PathLike[str]) -> str:
    """Return the ending that tells how a table is kept in a file."""
    name = os.fspath(path).lower()
    for ending in sorted(TABLES, key=len, reverse=True):
        if name.endswith(ending):
            return ending
    raise ValueError(f"{os.fspath(path)}: the extension names no table: use {', '.join(TABLES)}")


def read_table(path: str | os.PathLike[str]) -> Any:
    """Read a table: CSV and TSV as a dict of columns of text, Parquet as a pyarrow table."""
    ending = table_format(path)
    if ending == ".parquet":
        return pyarrow().parquet.read_table(os.fspath(path))
    columns = read_text(path, lambda header: header)
    if not any(columns.values()):
        raise ValueError(f"{os.fspath(path)}: no rows")
    return columns


def read_text(path: PathLike, wanted: Wanted) -> dict[str, list[str]]:
    r"""Return the columns that are wanted, as they are written, by their names.

    `wanted` is their names, or what returns these from the header.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/items.csv", "w") as file:
    ...         _ = file.write("item_id,price\na,1.5\nb,2\n")
    ...     read_text(f"{folder}/items.csv", ["item_id"])
    {'item_id': ['a', 'b']}
    """
    name = os.fspath(path)
    try:
        with gzip.open(name) if name.lower().endswith(".gz") else open(name, "rb") as stream:
            text = io.TextIOWrapper(io.BufferedReader(stream), "utf-8-sig", newline="")
            rows = csv.reader(text, delimiter=_delimiter(name), strict=True)
            try:
                return _columns(name, rows, wanted)
            except csv.Error as error:
                raise ValueError(f"{name}:{rows.line_num}: not readable: {error}") from None
    except (UnicodeDecodeError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{name}: not readable: {error}") from None


def _columns(name: str, rows: Any, wanted: Wanted) -> dict[str, list[str]]:
    """Return the columns wanted of the rows of a `csv.reader`."""
    header = next((row for row in rows if row), None)
    if header is None:
        raise ValueError(f"{name}: no rows")
    names = wanted(header) if callable(wanted) else wanted
    for one in names:
        if header.count(one) != 1:
            told = "no column" if one not in header else "two columns"
            raise ValueError(f"{name}: {told} {one!r}; columns found: {header}")
    places = [header.index(one) for one in names]
    columns: list[list[str]] = [[] for _ in places]
    for row in filter(None, rows):
        if len(row) != len(header):
            where = f"{name}:{rows.line_num}"
            raise ValueError(f"{where}: {len(row)} columns instead of {len(header)}")
        for column, place in zip(columns, places, strict=True):
            column.append(row[place])
    return dict(zip(names, columns, strict=True))


def pyarrow() -> Any:
    """Return pyarrow, its Parquet reader and writer loaded.

    Raises
    ------
    ImportError
        If it is not installed, with the extra to install.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError(
            "Parquet files are read through pyarrow, which is not installed: pip install "
            "'toplist[io]'"
        ) from None
    return pyarrow


def write_table(path: str, table: Any) -> None:
    """Write what `read_table` read, or some rows of it, in the form its name tells."""
    if table_format(path) == ".parquet":
        pyarrow().parquet.write_table(table, path)
        return
    out = io.StringIO()
    writer = csv.writer(out, delimiter=_delimiter(path), lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*table.values(), strict=True))
    data = out.getvalue().encode()
    if path.lower().endswith(".gz"):
        data = gzip.compress(data, mtime=0)  # no time: the same rows give the same bytes
    with open(path, "wb") as stream:
        stream.write(data)


def _delimiter(path: str | os.PathLike[str]) -> str:
    return "\t" if table_format(path).startswith(".tsv") else ","


FORMATS = (".csv", ".tsv")

T = TypeVar("T")


def read(path: PathLike, wanted: Wanted) -> dict[str, list[str]]:
    """Return the columns that are wanted of a CSV or TSV file; see `tabular.read_text`."""
    name = os.fspath(path)
    if os.path.splitext(name.lower().removesuffix(".gz"))[1] not in FORMATS:
        raise ValueError(
            f"{name}: the extension names no format: use {', '.join(FORMATS)}, also .gz"
        )
    return read_text(path, wanted)


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
    """Read how often each item stands in the training data.

    The columns item_id and count; without a count, a row is one interaction, so that a file of
    the training data itself will do.
    """
    columns = read(path, lambda header: ["item_id", "count"][: 1 + ("count" in header)])
    if "count" not in columns:
        return dict(Counter(columns["item_id"]))
    counts = numbers(path, "count", columns["count"]).tolist()
    return _once(path, columns["item_id"], counts)


def features(path: PathLike) -> dict[str, NDArray[np.float64]]:
    """Read the features of each item: the column item_id, and numbers in all others."""
    columns = read(path, lambda header: ["item_id", *(one for one in header if one != "item_id")])
    items = columns.pop("item_id")
    rest = [numbers(path, name, cells) for name, cells in columns.items()]
    if not rest:
        raise ValueError(f"{os.fspath(path)}: no column of features beside 'item_id'")
    return _once(path, items, list(np.stack(rest, axis=1)))


def _once(path: PathLike, items: list[str], values: list[T]) -> dict[str, T]:
    found = dict(zip(items, values, strict=True))
    if len(found) < len(items):
        seen: set[str] = set()
        twice = next(item for item in items if item in seen or seen.add(item))  # type: ignore[func-returns-value]
        raise ValueError(f"{os.fspath(path)}: item {twice!r} stands there twice")
    return found
