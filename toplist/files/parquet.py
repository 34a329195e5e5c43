"""Parquet files, whole and in parts of complete users, through pyarrow (the extra ``io``)."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from toplist.checks import optional, require
from toplist.files.formats import PARQUET, PathLike, bar, refused, short

IDS = 1 << 20  # ids in a part: 8 MB of them
# What a value takes that is read as a whole and sorted, and a byte of the file in addition.
OF_VALUE, OF_TEXT = 32, 2


def pyarrow() -> Any:
    """Return pyarrow, its Parquet reader and writer loaded.

    Raises
    ------
    ImportError
        If it cannot be imported, with what to do.
    """
    return optional("pyarrow", "Parquet files are read through pyarrow", "io", "compute", "parquet")


def read_table(path: PathLike) -> Any:
    """Return a file with all its columns as a pyarrow table; ValueError for invalid text."""
    arrow, name = pyarrow(), os.fspath(path)
    with _readable(name):
        if not os.path.isdir(name):
            names = arrow.parquet.read_schema(name).names
            require(name, names, names)
        table = arrow.parquet.read_table(name)
        check_text(name, table, table.column_names)
    return table


def joined(where: str, tables: Sequence[Any]) -> Any:
    """Return the rows of tables as one table; columns may differ in the width of their numbers."""
    try:
        return pyarrow().concat_tables(tables, promote_options="permissive")
    except MemoryError:
        raise
    except pyarrow().ArrowException as error:
        raise refused(where, f"not readable: {error}") from None


def is_long(table: Any) -> bool:
    """Return whether a table is of a row per user and item: none of its columns holds lists."""
    nested = pyarrow().types.is_nested
    return not any(nested(one.type) for one in table.schema)


@contextmanager
def _readable(path: str) -> Iterator[None]:
    """Let what pyarrow cannot do be an error that names the file; a lack of memory stays one."""
    os.stat(path)  # what is wrong with the path itself is an OSError that names it
    try:
        yield
    except MemoryError:
        raise
    except (pyarrow().ArrowException, OSError) as error:
        raise refused(path, f"not readable: {error}") from None


def check_text(path: PathLike, table: Any, names: Sequence[str], first: int = 0) -> None:
    """Raise for text that is not UTF-8 in some columns; `first` numbers the first row."""
    for name in names:
        row = first
        for chunk in table.column(name).chunks if name in table.column_names else ():
            try:
                chunk.validate(full=True)
            except pyarrow().ArrowInvalid:
                places = (at for at in range(len(chunk)) if not _is_valid(chunk[at]))
                where = next((f"row {row + at}: " for at in places), "")
                words = f"{where}column {short(name)} is not valid UTF-8"
                raise refused(os.fspath(path), words) from None
            row += len(chunk)


def _is_valid(scalar: Any) -> bool:
    try:
        scalar.as_py()
    except UnicodeDecodeError:
        return False
    return True


def column_names(path: PathLike) -> list[str]:
    """Return the names of the columns of a file, or of the first file of a folder."""
    name = _files(os.fspath(path))[0]
    with _readable(name):
        return list(pyarrow().parquet.read_schema(name).names)


def size(path: PathLike, wanted: set[str]) -> int:
    """Return about how many bytes the columns take that are wanted, read and sorted as a whole."""
    n = 0
    for name in _files(os.fspath(path)):
        with _readable(name):
            found = pyarrow().parquet.read_metadata(name)
        for group in map(found.row_group, range(found.num_row_groups)):
            for column in map(group.column, range(group.num_columns)):
                if column.path_in_schema.partition(".")[0] in wanted:
                    n += OF_VALUE * column.num_values + OF_TEXT * column.total_uncompressed_size
    return n


def tables(path: PathLike, wanted: set[str], may_be_empty: bool = False) -> Iterator[Any]:
    """Yield the wanted columns of a file as tables of some thousand rows; those of all of a folder.

    The files of a folder are read in the order of their names. ValueError for a file that cannot
    be read, and one without rows, unless it may be empty.
    """
    first: tuple[str, dict[str, str]] | None = None
    whole, n_rows = os.fspath(path), 0
    for name in _files(whole):
        with _readable(name):
            schema = pyarrow().parquet.read_schema(name)
        columns = columns_read(schema.names, wanted)
        require(name, columns, schema.names)
        kinds = {one: _kind(schema.field(one).type) for one in columns}
        first = first or (name, kinds)
        _check_same_columns(name, kinds, *first)
        for table in _tables_of(name, columns):
            n_rows += len(table)
            yield table
    if not n_rows and not may_be_empty:
        raise refused(whole, "no rows")


def columns_read(names: Sequence[str], wanted: set[str]) -> list[str]:
    """Return the columns to read: those wanted; without any, all."""
    return [name for name in names if name in wanted] or list(names)


def _kind(type: Any) -> str:
    """Return what a type holds, whatever its width; "" for nothing but nulls."""
    types = pyarrow().types
    if types.is_dictionary(type) or (types.is_nested(type) and hasattr(type, "value_type")):
        inner = _kind(type.value_type)
        return inner if types.is_dictionary(type) else f"lists of {inner}"
    if types.is_null(type):
        return ""
    if types.is_integer(type) or types.is_floating(type) or types.is_decimal(type):
        return "numbers"
    text = types.is_string(type) or types.is_large_string(type) or types.is_string_view(type)
    return "text" if text else str(type)


def _check_same_columns(
    path: str, found: dict[str, str], first: str, expected: dict[str, str]
) -> None:
    """Raise for a file of a folder whose columns are not those of the first one."""
    for name in [*expected, *found]:
        a, b = expected.get(name), found.get(name)
        if a is None or b is None:
            has, lacks = (path, first) if a is None else (first, path)
            raise refused(path, f"unlike the other files of its folder: {lacks} has no column "
                                f"{short(name)}, {has} has one")  # fmt: skip
        if not (a.startswith(b) or b.startswith(a)):
            raise refused(path, f"unlike the other files of its folder: column {short(name)} "
                                f"holds {b}, in {first} {a}")  # fmt: skip


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
        raise refused(path, "a folder without .parquet files")
    return sorted(found, key=lambda name: [_number(part) for part in re.split(r"(\d+)", name)])


def _number(text: str) -> tuple[int, str]:
    return (int(text), "") if text.isdecimal() else (0, text)


def _tables_of(path: str, columns: Sequence[str]) -> Iterator[Any]:
    """Yield tables of about `IDS` ids; a column of lists has many values in a row."""
    arrow = pyarrow()
    # a buffer: without it a whole column of a row group is in memory at once
    with _readable(path), arrow.parquet.ParquetFile(path, buffer_size=1 << 20) as file:
        size, n_groups = IDS, file.num_row_groups
        if n_groups:
            group = file.metadata.row_group(0)
            values = max(group.column(i).num_values for i in range(group.num_columns))
            size = int(max(1, IDS * group.num_rows // max(1, values)))
        with bar(os.path.basename(path), file.metadata.num_rows, " rows", least=1 << 20) as advance:
            # group by group: one iteration over all keeps what it has read (220 MB per million
            # users with 100 ids each)
            for group in range(n_groups):
                for batch in file.iter_batches(size, row_groups=[group], columns=columns):
                    yield arrow.Table.from_batches([batch])
                    if advance:
                        advance(batch.num_rows)
