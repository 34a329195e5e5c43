"""Tables in files, CSV, TSV or Parquet: read, written, and what they say of items.

Parquet is read whole, or in parts, through pyarrow (the extra ``io``).
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from toplist.checks import no_columns, optional, require
from toplist.files import text
from toplist.files.formats import (
    LARGEST,
    PARQUET,
    TABLES,
    TEXT_TABLES,
    PathLike,
    bar,
    find_format,
    parse,
    refused,
    short,
    way_out,
)
from toplist.files.jsonl import text_tables
from toplist.inputs.columns import Cells, Table
from toplist.inputs.facts import DOCUMENT, NUMBER, VECTOR, Facts, by_item
from toplist.inputs.options import SYNONYMS
from toplist.inputs.texts import Texts
from toplist.results.saved import Content, write_all
from toplist.results.tables import csv_text

# Names of columns, or what returns them from the header.
Wanted = Sequence[str] | Callable[[list[str]], Sequence[str]]
IDS = 1 << 20  # ids in a part of a Parquet file: 8 MB of them
# What a value takes that is read as a whole and sorted, and a byte of the file in addition.
OF_VALUE, OF_TEXT = 32, 2


def read_table(path: PathLike) -> Any:
    """Read a table: CSV and TSV as a dict of columns of text, Parquet as a pyarrow table."""
    if not find_format(path, valid=TABLES).is_text:
        return read_parquet(path)
    columns, _ = _read(path, lambda header: header)
    if not any(columns.values()):
        raise ValueError(f"{os.fspath(path)}: no rows")
    return columns


def write_tables(tables: Mapping[PathLike, Any]) -> None:
    """Write tables as `read_table` reads them, or some rows of these: all of them or none.

    Each is in the format of its extension.
    """
    contents: dict[PathLike, Content] = {}
    for path, table in tables.items():
        format = find_format(path, valid=TABLES)
        if not format.is_text:
            contents[path] = partial(pyarrow().parquet.write_table, table)
            continue
        rows = zip(*table.values(), strict=True)
        contents[path] = csv_text(chain([table], rows), format.delimiter)
    write_all(contents)


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


# What returns the error of a row of a file, with its line.
Wrong = Callable[[int, str], ValueError]


def _read(path: PathLike, wanted: Wanted, ids: Sequence[str] = ()) -> tuple[dict[str, Any], Wrong]:
    """Return the wanted columns, and what makes the error of one of their rows.

    Columns of `ids` have no empty cell.
    """

    def choose(header: Sequence[str], _: Mapping[str, Any]) -> text.Wanted:
        names = wanted(list(header)) if callable(wanted) else wanted
        return text.Wanted(names, filled=False)

    file = text_tables(path, find_format(path, valid=TEXT_TABLES), choose)
    whole = text.joined([*file.tables()])

    def decoded(cells: Cells) -> list[str]:
        assert cells.texts is not None  # as all cells of a file are
        texts = Texts()
        codes, names = cells.texts.encode(texts), list(texts)  # one object for each distinct one
        return [names[code] for code in codes.tolist()]

    def wrong(row: int, reason: str) -> ValueError:
        return file.error(reason, int(whole.lines[row]))

    columns = {name: decoded(cells) for name, cells in whole.cells.items()}
    for name in ids:
        if "" in columns[name]:
            raise wrong(columns[name].index(""), f"empty {name}")
    return columns, wrong


def facts(path: PathLike, kind: str) -> Facts:
    r"""Read what a file says of each item, or each user.

    Parameters
    ----------
    path : path
        Of one fact, ``FILE:COLUMN`` names its column where there are several.
    kind : {"ids", "counts", "number", "numbers", "labels", "document", "matrix", "items"}
        The column item_id, and: nothing; count, or a row for each interaction of a column of users,
        so that the training data itself can be given; one number; numbers, one or several; a label,
        with several rows of an item and an empty cell for none; the document; a column of distances
        for each item. Of "items": user_id and item_id.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/items.csv", "item_id,price,size\na,1.5,3\n")
    ...     facts(f"{folder}/items.csv:price", "number")
    Facts(items=['a'], values=[1.5], columns=('price',), order=None)
    """
    file, name = os.fspath(path), ""
    if kind in ("number", "labels", "counts") and not os.path.exists(path):
        file, _, name = file.rpartition(":") if ":" in file else (file, "", "")

    def wanted(header: list[str]) -> list[str]:
        fixed = {"ids": [], "document": ["document"], "items": ["item_id"]}
        rest = fixed.get(kind, [name] if name else [one for one in header if one != "item_id"])
        if kind == "counts" and not name:
            interactions = {"user_id", *SYNONYMS["user_id"]}.intersection(header)
            if "count" not in header and not interactions and rest:
                way = f"{file}:COLUMN names another, and a column user_id says that rows are "
                raise no_columns("", ["count"], header, f"{way}interactions")
            rest = ["count"] if "count" in header else []
        return [key, *rest]

    key = "user_id" if kind == "items" else "item_id"
    of_ids = {"document": [key, "document"], "items": [key, "item_id"]}.get(kind, [key])
    columns, wrong = _read(file, wanted, of_ids)
    ids, rest = columns[key], list(columns)[1:]
    if kind in ("items", "labels") and len(rest) == 1:
        grouped: dict[str, list[str]] = {}
        for one, value in zip(ids, columns[rest[0]], strict=True):
            grouped.setdefault(one, []).extend([value] if value else [])  # "" is none
        return Facts(list(grouped), list(grouped.values()))
    if kind == "ids":
        return Facts(ids, ids)
    if kind == "counts" and not rest:
        counted = Counter(ids)
        return Facts(list(counted), list(counted.values()))
    fact = {"document": DOCUMENT, "numbers": VECTOR, "matrix": VECTOR}.get(kind, NUMBER)
    if not rest or (len(rest) > 1 and fact.dimensions < 2):
        what = "label" if kind == "labels" else fact.name
        raise ValueError(
            f"{file}: {len(rest)} columns besides 'item_id': one {what} is needed, {file}:COLUMN"
        )
    for one in rest if kind != "document" else ():
        cells = columns[one]
        columns[one] = [parse(cell) for cell in cells]
        for row, number in enumerate(columns[one]):
            if number is None or not abs(number) <= LARGEST:
                cell = cells[row]
                raise wrong(row, f"{one} {cell!r:.60} is not a number{way_out(cell)}")
        columns[one] = np.array(columns[one], np.float64)
    table = Table({one: Cells(one, column, "text") for one, column in columns.items()})
    try:
        found = by_item(table, fact, file)
    except ValueError as error:
        twice = vars(error)
        raise wrong(twice["row"], f"item {short(twice['item'])} has two rows") from None
    if kind == "matrix":
        if {*found.columns} != {*found.items}:
            raise ValueError(f"{file}: the columns are not those of its items")
        places = [found.columns.index(item) for item in found.items]
        return found._replace(values=np.asarray(found.values)[:, places])
    return found


def grades_of(
    path: PathLike, key: Sequence[str]
) -> Iterator[tuple[Any, str, float, Callable[[str], ValueError]]]:
    """Yield user, item and grade of each row that has a grade, and what makes an error of it.

    `key` are the columns of the user, who is a tuple where they are several.
    """
    columns, wrong = _read(path, (*key, "item_id", "relevance"), (*key, "item_id"))
    *parts, items, cells = columns.values()
    users = zip(*parts, strict=True) if len(parts) > 1 else parts[0]
    for row, (user, item, cell) in enumerate(zip(users, items, cells, strict=True)):
        if not cell.strip():
            continue
        grade, at = parse(cell), partial(wrong, row)
        if grade is None or not abs(grade) <= LARGEST:
            raise at(f"relevance {cell!r:.60} is not a number{way_out(cell)}")
        yield user, item, float(grade), at


# Parquet


def pyarrow() -> Any:
    """Return pyarrow, its Parquet reader and writer loaded.

    Raises
    ------
    ImportError
        If it cannot be imported, with what to do.
    """
    return optional("pyarrow", "Parquet files are read through pyarrow", "io", "compute", "parquet")


def read_parquet(path: PathLike) -> Any:
    """Return a file with all its columns as a pyarrow table; ValueError for invalid text."""
    arrow, name = pyarrow(), os.fspath(path)
    with _readable(name):
        if not os.path.isdir(name):
            names = arrow.parquet.read_schema(name).names
            require(name, names, names)
        table = arrow.parquet.read_table(name)
        check_text(name, table, table.column_names)
    return table


@contextmanager
def _readable(path: str) -> Iterator[None]:
    """Let what pyarrow cannot do be an error that names the file; a lack of memory stays one."""
    os.stat(path)  # what is wrong with the path itself is an OSError that names it
    errors = (pyarrow().ArrowException, OSError)  # loaded now: not while one leaves
    try:
        yield
    except MemoryError:
        raise
    except errors as error:
        raise refused(path, f"not readable: {error}") from None


def check_text(path: PathLike, table: Any, names: Sequence[str], first: int = 0) -> None:
    """Raise for text that is not UTF-8 in some columns; `first` numbers the first row."""
    for name in names:
        row = first
        for chunk in table.column(name).chunks if name in table.column_names else ():
            try:
                chunk.validate(full=True)
            except pyarrow().ArrowInvalid:
                where = ""
                for at, one in enumerate(chunk):
                    try:
                        one.as_py()
                    except UnicodeDecodeError:
                        where = f"row {row + at}: "
                        break
                words = f"{where}column {short(name)} is not valid UTF-8"
                raise refused(os.fspath(path), words) from None
            row += len(chunk)


def parquet_columns(path: PathLike) -> list[str]:
    """Return the names of the columns of a file, or of the first file of a folder."""
    name = _files(os.fspath(path))[0]
    with _readable(name):
        return list(pyarrow().parquet.read_schema(name).names)


def parquet_size(path: PathLike, wanted: set[str]) -> int:
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


def parquet_tables(path: PathLike, wanted: set[str], may_be_empty: bool = False) -> Iterator[Any]:
    """Yield the wanted columns of a file as tables of some thousand rows; those of all of a folder.

    The files of a folder are read in the order of their names. ValueError for a file that cannot
    be read, and one without rows, unless it may be empty.
    """
    first, expected = "", dict[str, str]()
    whole, n_rows = os.fspath(path), 0
    for name in _files(whole):
        with _readable(name):
            schema = pyarrow().parquet.read_schema(name)
        columns = columns_read(schema.names, wanted)
        require(name, columns, schema.names)
        kinds = {one: _kind(schema.field(one).type) for one in columns}
        first, expected = (first, expected) if first else (name, kinds)
        unlike = "unlike the other files of its folder: "
        for one in {**expected, **kinds}:
            a, b = expected.get(one), kinds.get(one)
            if a is None or b is None:
                has, lacks = (name, first) if a is None else (first, name)
                words = f"{lacks} has no column {short(one)}, {has} has one"
                raise refused(name, f"{unlike}{words}")
            if not (a.startswith(b) or b.startswith(a)):
                raise refused(name, f"{unlike}column {short(one)} holds {b}, in {first} {a}")
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

    def numbered(name: str) -> list[Any]:
        parts = re.split(r"(\d+)", name)
        return [(int(part), "") if part.isdecimal() else (0, part) for part in parts]

    return sorted(found, key=numbered)


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
