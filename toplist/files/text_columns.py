"""Columns of CSV and TSV files, gzipped or not: catalogues, item counts, features, predictions.

What cannot be read is a `ValueError` of one line that names the file and, where it can, the line.
"""

import os
from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from toplist.files.tables import PathLike, Wanted, read_text

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
