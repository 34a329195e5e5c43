"""Read data of the items: the ids of a catalogue, a number per item, or features of each."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from toplist.checks import Floats, check_positive_int
from toplist.inputs.flatten import is_frame
from toplist.inputs.keyed import dict_of, is_series


def ids_of(catalogue: Any, name: str = "catalogue") -> Any:
    """Return the ids of a catalogue, in an order that does not change between processes.

    A number n means the ids 0..n-1, which stay a range; else an array, list, tuple, range, set,
    mapping (its keys), or a column of a table. An id that is there twice counts once.
    """
    if isinstance(catalogue, (int, np.integer, np.bool_)):
        return range(check_positive_int(catalogue, name))
    if isinstance(catalogue, range):
        return catalogue if catalogue == range(len(catalogue)) else np.asarray(catalogue)
    if isinstance(catalogue, Set):
        try:
            return sorted(catalogue)
        except TypeError:
            return list(catalogue)
    if _is_column(catalogue):
        catalogue = catalogue.to_numpy()
    if isinstance(catalogue, np.ndarray) and catalogue.ndim == 1 and catalogue.dtype != object:
        return np.unique(catalogue)
    if isinstance(catalogue, (list, tuple, Mapping)) or np.ndim(catalogue) == 1:
        return list(dict.fromkeys(catalogue))
    raise TypeError(
        f"{name} is {_described(catalogue)}: give the number of items (ids 0..n-1), or their ids "
        "in a list, a set or a 1-D array"
    )


def values_of(values: Any, name: str) -> tuple[Any, Floats]:
    """Return the ids of the items that have a value, and the values: numbers from 0 on."""
    values = _by_item(values, name, "dict(zip(table['item_id'], table['COUNT']))")
    if isinstance(values, Mapping):
        ids: Any = list(values)
        numbers = _numbers(list(values.values()), name)
    else:
        if _is_column(values):
            values = values.to_numpy()
        ids, numbers = _by_place(values, name, 1, "a dict item -> number, or an array whose places")
    bad = np.flatnonzero(~((numbers >= 0) & (numbers < np.inf)))
    if len(bad):
        raise ValueError(
            f"{name}: item {_plain(ids[bad[0]])!r} has {numbers[bad[0]]:g}: a finite number of at "
            "least 0 is needed"
        )
    return ids, numbers


def features_of(features: Any, name: str = "features") -> tuple[Any, Floats]:
    """Return the ids of the items that have features, and the features, (n_items, d)."""
    line = "dict(zip(table['item_id'], table[['FIRST', 'SECOND']].to_numpy()))"
    features = _by_item(features, name, line)
    if isinstance(features, Mapping):
        ids: Any = list(features)
        lengths = {item: np.size(row) for item, row in features.items()}
        odd = next((item for item in ids if lengths[item] != lengths[ids[0]]), None)
        if odd is not None:
            raise ValueError(
                f"{name}: item {ids[0]!r} has {lengths[ids[0]]} numbers, item {odd!r} "
                f"{lengths[odd]}: every item needs as many"
            )
        rows = _numbers([np.ravel(row) for row in features.values()], name)
        rows = rows.reshape(len(ids), -1)
    else:
        ways = "a dict item -> vector, or a 2-D array whose rows"
        ids, rows = _by_place(features, name, 2, ways)
    bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(bad):
        raise ValueError(f"{name}: item {_plain(ids[bad[0]])!r} has a number that is not finite")
    return ids, rows


def _by_item(data: Any, name: str, line: str) -> Any:
    """Return data of the items, a Series of them as a dict.

    Raises
    ------
    TypeError
        For a table, with the line to write.
    ValueError
        For a Series with an item twice.
    """
    if is_frame(data):
        names = list(data.column_names if hasattr(data, "column_names") else data.columns)
        shown = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
        raise TypeError(
            f"{name} is a table (columns {shown}): give {name}={line}, by the names of its columns"
        )
    way = f"; {name}.groupby(level=0).sum() adds up counts"
    return dict_of(data, name, "item", way) if is_series(data) else data


def _by_place(data: Any, name: str, ndim: int, ways: str) -> tuple[Any, Floats]:
    """Return the ids 0..n-1 and the numbers of an array of so many dimensions."""
    if not isinstance(data, (list, tuple, np.ndarray)) or np.ndim(data) != ndim:
        raise TypeError(f"{name} is {_described(data)}: give {ways} are the ids 0..n-1")
    numbers = _numbers(data, name)
    return np.arange(len(numbers)), numbers


def _numbers(values: Any, name: str) -> Floats:
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold numbers, not {array.dtype}")
    return np.ascontiguousarray(array, np.float64)


def _plain(item: Any) -> Any:
    """Return an id as Python writes it."""
    return item.item() if isinstance(item, np.generic) else item


def _is_column(value: Any) -> bool:
    """Whether `value` is a column of a table (of pandas or polars, say)."""
    return hasattr(value, "to_numpy") and not is_frame(value)


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.ndim} dimensions"
    return f"a {type(value).__name__}"
