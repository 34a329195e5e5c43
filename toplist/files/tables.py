"""Tables in files, CSV, TSV or Parquet: read, written, and what they say of items."""

import csv
import io
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from toplist.files import parquet, text
from toplist.files.formats import (
    LARGEST,
    TABLES,
    TEXT_TABLES,
    PathLike,
    find_format,
    parse,
    short,
    way_out,
)
from toplist.files.jsonl import text_tables
from toplist.inputs.columns import Cells, Table
from toplist.inputs.facts import DOCUMENT, NUMBER, VECTOR, Facts, by_item
from toplist.inputs.texts import Texts
from toplist.results.saved import Content, write_all

# Names of columns, or what returns them from the header.
Wanted = Sequence[str] | Callable[[list[str]], Sequence[str]]


def read_table(path: PathLike) -> Any:
    """Read a table: CSV and TSV as a dict of columns of text, Parquet as a pyarrow table."""
    if not find_format(path, valid=TABLES).is_text:
        return parquet.read_table(path)
    columns, _ = _read(path, lambda header: header)
    if not any(columns.values()):
        raise ValueError(f"{os.fspath(path)}: no rows")
    return columns


def write_tables(tables: Mapping[PathLike, Any]) -> None:
    """Write tables as `read_table` reads them, or some rows of these: all of them or none.

    Each is in the format of its extension.
    """
    write_all({path: _content(path, table) for path, table in tables.items()})


def _content(path: PathLike, table: Any) -> Content:
    format = find_format(path, valid=TABLES)
    if not format.is_text:
        return partial(parquet.pyarrow().parquet.write_table, table)
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


# What returns the error of a row of a file, with its line.
Wrong = Callable[[int, str], ValueError]


def _read(path: PathLike, wanted: Wanted) -> tuple[dict[str, Any], Wrong]:
    """Return the wanted columns, and what makes the error of one of their rows."""

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

    return {name: decoded(cells) for name, cells in whole.cells.items()}, wrong


def facts(path: PathLike, kind: str) -> Facts:
    r"""Read what a file says of each item, or each user.

    Parameters
    ----------
    path : path
        Of one fact, ``FILE:COLUMN`` names its column where there are several.
    kind : {"ids", "counts", "number", "numbers", "labels", "document", "matrix", "items"}
        The column item_id, and: nothing; count, or a row for each interaction, so that the training
        data itself can be given; one number; numbers, one or several; a label, with several rows of
        an item and an empty cell for none; the document; a column of distances for each item. Of
        "items": user_id and item_id.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/items.csv", "item_id,price,size\na,1.5,3\n")
    ...     facts(f"{folder}/items.csv:price", "number")
    Facts(items=['a'], values=[1.5], columns=('price',), order=None)
    """
    file, name = os.fspath(path), ""
    if kind in ("number", "labels") and not os.path.exists(path):
        file, _, name = file.rpartition(":") if ":" in file else (file, "", "")

    def wanted(header: list[str]) -> list[str]:
        fixed = {"ids": [], "document": ["document"], "items": ["item_id"]}
        rest = fixed.get(kind, [name] if name else [one for one in header if one != "item_id"])
        if kind == "counts":
            rest = ["count"] if "count" in header else []
        return [key, *rest]

    key = "user_id" if kind == "items" else "item_id"
    columns, wrong = _read(file, wanted)
    ids, rest = columns[key], list(columns)[1:]
    if kind in ("items", "labels") and len(rest) == 1:
        grouped = _grouped(ids, columns[rest[0]])
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


def grades_of(path: PathLike) -> Iterator[tuple[str, str, float, Callable[[str], ValueError]]]:
    """Yield user, item and grade of each row that has a grade, and what makes an error of it."""
    columns, wrong = _read(path, ("user_id", "item_id", "relevance"))
    for row, (user, item, cell) in enumerate(zip(*columns.values(), strict=True)):
        if not cell.strip():
            continue
        grade, at = parse(cell), partial(wrong, row)
        if grade is None or not abs(grade) <= LARGEST:
            raise at(f"relevance {cell!r:.60} is not a number{way_out(cell)}")
        yield user, item, float(grade), at


def _grouped(keys: list[str], values: list[str]) -> dict[str, list[str]]:
    """Return the values of each key, without empty ones."""
    found: dict[str, list[str]] = {}
    for key, value in zip(keys, values, strict=True):
        found.setdefault(key, []).extend([value] if value else [])
    return found
