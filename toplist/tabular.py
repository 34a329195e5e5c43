"""Tables in files: CSV and TSV are columns of text, Parquet is a pyarrow table."""

import codecs
import csv
import gzip
import io
import os
import zlib
from typing import Any

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
    try:
        with gzip.open(path, "rb") if ending.endswith(".gz") else open(path, "rb") as stream:
            text = stream.read().removeprefix(codecs.BOM_UTF8).decode()
    except (UnicodeDecodeError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{os.fspath(path)}: not readable: {error}") from None
    return _columns_of_text(text, _delimiter(path), os.fspath(path))


def _columns_of_text(text: str, delimiter: str, path: str) -> dict[str, list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: list[str] = []
    rows = []
    try:
        for row in filter(None, reader):
            if not header:
                header = row
            elif len(row) != len(header):
                where = f"{path}:{reader.line_num}"
                raise ValueError(f"{where}: {len(row)} columns instead of {len(header)}: {header}")
            else:
                rows.append(row)
    except csv.Error as error:
        raise ValueError(f"{path}:{reader.line_num}: not readable: {error}") from None
    if len(set(header)) < len(header):
        raise ValueError(f"{path}: a column stands twice in the header: {header}")
    if not rows:
        raise ValueError(f"{path}: no rows")
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


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
