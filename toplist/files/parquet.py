"""Parquet files, whole and in parts of complete users, through pyarrow (the extra ``io``)."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from toplist.files.formats import PARQUET, PathLike
from toplist.files.progress import bar

IDS = 1 << 20  # ids in a part: 8 MB of them


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


def read_table(path: PathLike) -> Any:
    """Return a file with all its columns as a pyarrow table."""
    return pyarrow().parquet.read_table(os.fspath(path))


def write_table(path: PathLike, table: Any) -> None:
    """Write a pyarrow table."""
    pyarrow().parquet.write_table(table, os.fspath(path))


def read(path: PathLike, names: Mapping[str, str]) -> Any:
    """Return all `parts` of a file as one table."""
    return _joined([table for _, table in parts(path, names)])


def parts(path: PathLike, names: Mapping[str, str]) -> Iterator[tuple[int, Any]]:
    """Yield the number of the first row, and a table of the rows of complete users.

    Parameters
    ----------
    path : path of a file, or of a folder of files, which are read in the order of their names
    names : mapping
        What user_id, item_id, rank, score and relevance are called; of the other columns only
        those of wide tables are read.

    Raises
    ------
    ValueError
        For a file that cannot be read, and one without rows.
    """
    first, rest = 0, None
    user = names["user_id"]
    for table, long in _tables(os.fspath(path), set(names.values())):
        if long and user in table.column_names:
            table = table if rest is None else _joined([rest, table])
            end = _start_of_last(table[user])
            rest, table = table.slice(end), table.slice(0, end)
        if len(table):
            yield first, table
            first += len(table)
    if rest is not None and len(rest):
        yield first, rest
        first += len(rest)
    if not first:
        raise ValueError(f"{os.fspath(path)}: no rows")


def _joined(tables: Sequence[Any]) -> Any:
    """Return the rows of tables as one table; columns may differ in the width of their numbers."""
    return pyarrow().concat_tables(tables, promote_options="permissive")


def _start_of_last(users: Any) -> int:
    """Return where the rows of the last user begin."""
    import pyarrow.compute

    other = pyarrow.compute.not_equal(users, users[-1]).fill_null(True)
    found = np.flatnonzero(other.to_numpy())
    return int(found[-1]) + 1 if len(found) else 0


def column_names(path: PathLike) -> list[str]:
    """Return the names of the columns of a file, or of the first file of a folder."""
    names: list[str] = pyarrow().parquet.read_schema(_files(os.fspath(path))[0]).names
    return names


def _tables(path: str, wanted: set[str]) -> Iterator[tuple[Any, bool]]:
    """Yield the tables of all files, and whether they are long: a row per user and item."""
    arrow = pyarrow()
    for name in _files(path):
        os.stat(name)  # what is wrong with the path itself is an OSError that names it
        try:
            yield from _tables_of(name, wanted)
        except (arrow.ArrowException, OSError) as error:
            raise ValueError(f"{name}: not readable: {error}") from None


def _files(path: str) -> list[str]:
    """Return a file, or the files of a folder and its folders: part-9 before part-10."""
    if not os.path.isdir(path):
        return [path]
    found = []
    for folder, folders, names in os.walk(path):
        # without what writers leave there too: _SUCCESS, _temporary, .crc
        folders[:] = [name for name in folders if name[0] not in "_."]
        kept = (n for n in names if n[0] not in "_." and n.lower().endswith(PARQUET.extensions))
        found += [os.path.join(folder, name) for name in kept]
    if not found:
        raise ValueError(f"{path}: a folder without .parquet files")
    return sorted(found, key=lambda name: [_number(part) for part in re.split(r"(\d+)", name)])


def _number(text: str) -> tuple[int, str]:
    return (int(text), "") if text.isdecimal() else (0, text)


def _rows_in_part(metadata: Any) -> int:
    """Return how many rows hold about `IDS` ids; a column of lists has many values in a row."""
    if not metadata.num_row_groups:
        return IDS
    group = metadata.row_group(0)
    values = max(group.column(i).num_values for i in range(group.num_columns))
    return int(max(1, IDS * group.num_rows // max(1, values)))


def _tables_of(path: str, wanted: set[str]) -> Iterator[tuple[Any, bool]]:
    arrow = pyarrow()
    # a buffer: without it a whole column of a row group is in memory at once
    with arrow.parquet.ParquetFile(path, buffer_size=1 << 20) as file:
        schema = file.schema_arrow
        columns = [name for name in schema.names if name in wanted or name.isdecimal()]
        columns = columns or schema.names
        long = not any(arrow.types.is_nested(schema.field(n).type) for n in columns)
        long &= not any(name.isdecimal() for name in columns)
        rows = file.metadata.num_rows
        with bar(os.path.basename(path), rows, " rows", least=1 << 20) as advance:
            size = _rows_in_part(file.metadata)
            # group by group: one iteration over all keeps what it has read (220 MB per million
            # users with 100 ids each)
            for group in range(file.num_row_groups):
                for batch in file.iter_batches(size, row_groups=[group], columns=columns):
                    yield arrow.Table.from_batches([batch]), long
                    if advance:
                        advance(len(batch))
