"""Parquet files in parts of complete users, through pyarrow (the extra ``io``)."""

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from toplist.progress import bar

# Ids in a part: 8 MB of them.
IDS = 1 << 20


def library() -> Any:
    """Return pyarrow, its Parquet reader loaded.

    Raises
    ------
    ValueError
        If pyarrow is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ValueError(
            "Parquet files are read through pyarrow, which is not installed: pip install "
            "'toplist[io]'"
        ) from None
    return pyarrow


def read(path: str | os.PathLike[str], names: Mapping[str, str]) -> Any:
    """Return a whole file as a table."""
    pyarrow = library()
    return pyarrow.concat_tables([table for _, table in parts(path, names)])


def parts(path: str | os.PathLike[str], names: Mapping[str, str]) -> Iterator[tuple[int, Any]]:
    """Yield the number of the first row, and a table of the rows of complete users.

    Parameters
    ----------
    path : path of a file, or of a folder of files, which are read in the order of their names
    names : mapping
        What user_id, item_id, rank, score and relevance are called; no other column is read but
        those of wide tables.

    Raises
    ------
    ValueError
        For a file that cannot be read, and one without rows.
    """
    pyarrow = library()
    first, rest = 0, None
    user = names["user_id"]
    for table, long in _tables(os.fspath(path), set(names.values())):
        if long and user in table.column_names:
            table = table if rest is None else pyarrow.concat_tables([rest, table])
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


def _start_of_last(users: Any) -> int:
    """Return where the rows of the last user begin."""
    import pyarrow.compute

    other = pyarrow.compute.not_equal(users, users[-1]).fill_null(True)
    found = np.flatnonzero(other.to_numpy())
    return int(found[-1]) + 1 if len(found) else 0


def _tables(path: str, wanted: set[str]) -> Iterator[tuple[Any, bool]]:
    """Yield the tables of all files, and whether they are long: a row per user and item."""
    pyarrow = library()
    files = [path]
    if os.path.isdir(path):
        files = sorted(entry.path for entry in os.scandir(path) if entry.name.endswith(".parquet"))
        if not files:
            raise ValueError(f"{path}: a folder without .parquet files")
    for name in files:
        os.stat(name)  # what is wrong with the path itself is an OSError that names it
        try:
            yield from _tables_of(name, wanted)
        except (pyarrow.ArrowException, OSError) as error:
            raise ValueError(f"{name}: not readable: {error}") from None


def _rows_in_part(metadata: Any) -> int:
    """Return how many rows hold about `IDS` ids; a column of lists has many values in a row."""
    if not metadata.num_row_groups:
        return IDS
    group = metadata.row_group(0)
    values = max(group.column(i).num_values for i in range(group.num_columns))
    return int(max(1, IDS * group.num_rows // max(1, values)))


def _tables_of(path: str, wanted: set[str]) -> Iterator[tuple[Any, bool]]:
    pyarrow = library()
    # a buffer: without it a whole column of a row group is in memory at once
    with pyarrow.parquet.ParquetFile(path, buffer_size=1 << 20) as file:
        schema = file.schema_arrow
        columns = [name for name in schema.names if name in wanted or name.isdecimal()]
        if len(columns) < 2:
            columns = schema.names  # what is missing will be said beside what is there
        long = not any(pyarrow.types.is_nested(schema.field(n).type) for n in columns)
        long &= not any(name.isdecimal() for name in columns)
        rows = file.metadata.num_rows
        with bar(os.path.basename(path), rows, " rows", least=1 << 20) as advance:
            size = _rows_in_part(file.metadata)
            # group by group: one iteration over all keeps what it has read (220 MB per million
            # users with 100 ids each)
            for group in range(file.num_row_groups):
                for batch in file.iter_batches(size, row_groups=[group], columns=columns):
                    yield pyarrow.Table.from_batches([batch]), long
                    if advance:
                        advance(len(batch))
