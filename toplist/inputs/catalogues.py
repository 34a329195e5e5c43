"""Data beside lists: ids of a catalogue, a number per item, features of each, and counts.

Counts are what a database makes: rows of two whole numbers, in every form that holds such rows
(`counts_of`), for `toplist.loo.from_rank_counts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from toplist.checks import Floats, check_positive_int
from toplist.inputs import columns as cols
from toplist.inputs.flatten import is_frame, of_column
from toplist.inputs.keyed import dict_of, is_series
from toplist.inputs.objects import to_builtin


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


def values_of(values: Any, name: str, probabilities: float | None = None) -> tuple[Any, Floats]:
    """Return the ids of the items that have a value, and the values: numbers from 0 on.

    With `probabilities`, the least, they are such.
    """
    values = _by_item(values, name, "dict(zip(table['item_id'], table['COUNT']))")
    if isinstance(values, Mapping):
        ids: Any = list(values)
        numbers = _numbers(list(values.values()), name, values.items())
    else:
        if _is_column(values):
            values = values.to_numpy()
        ids, numbers = _by_place(values, name, 1, "a dict item -> number, or an array whose places")
    valid, needed = (numbers >= 0) & (numbers < np.inf), "a finite number of at least 0 is needed"
    if probabilities is not None:
        valid = (numbers >= probabilities) & (numbers <= 1)
        needed = "give a probability above 0, 1 at most, as {item: 0.2}"
    bad = np.flatnonzero(~valid)
    if len(bad):
        item = _plain(ids[bad[0]])
        raise ValueError(f"{name}: item {item!r} has {numbers[bad[0]]:g}: {needed}")
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


def distances_of(given: Any, name: str = "distances") -> tuple[Any, Floats]:
    """Return the ids of items, and the distance of any two: a square table, or an array.

    Also a dict item -> its distances to all items of the dict, in their order.

    Raises
    ------
    TypeError, ValueError
        For what is not square, not symmetric, or not of finite numbers.

    Examples
    --------
    >>> distances_of([[0, 0.5], [0.5, 0]])[1].tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    ids: Any = None
    if is_frame(given) and hasattr(given, "index"):
        ids, others = given.index.tolist(), given.columns.tolist()
        if len(set(ids)) < len(ids) or set(ids) != set(others):
            raise ValueError(f"{name}: the items of its index are not those of its columns")
        given = given[ids].to_numpy()
    elif isinstance(given, Mapping):
        ids, given = list(given), list(given.values())
    matrix = np.asarray(given)
    if matrix.dtype.kind not in "biuf" or matrix.ndim != 2 or len(matrix) != matrix.shape[1]:
        raise TypeError(
            f"{name}: give a square array, whose places are the ids 0..n-1, or a square pandas "
            "DataFrame with the items as index and columns"
        )
    matrix = np.ascontiguousarray(matrix, np.float64)
    if not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T, rtol=1e-9, atol=1e-12):
        raise ValueError(f"{name}: distances must be finite, and the same in both directions")
    return np.arange(len(matrix)) if ids is None else ids, matrix


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
    way = f"; {name}.groupby(level=0).sum() adds up counts" if name.endswith("counts") else ""
    return dict_of(data, name, "item", way) if is_series(data) else data


def _by_place(data: Any, name: str, ndim: int, ways: str) -> tuple[Any, Floats]:
    """Return the ids 0..n-1 and the numbers of an array of so many dimensions."""
    if not isinstance(data, (list, tuple, np.ndarray)) or np.ndim(data) != ndim:
        raise TypeError(f"{name} is {_described(data)}: give {ways} are the ids 0..n-1")
    numbers = _numbers(data, name)
    return np.arange(len(numbers)), numbers


def _numbers(values: Any, name: str, items: Iterable[tuple[Any, Any]] = ()) -> Floats:
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "biuf":
        odd = [one for one in items if not isinstance(one[1], (int, float, np.number))]
        of = ": item {!r} has {!r}".format(*odd[0]) if odd else f", not {array.dtype}"
        raise TypeError(f"{name} must hold numbers{of}")
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


@dataclass(frozen=True)
class CountColumns:
    """What the two columns of counts hold, for messages.

    Attributes
    ----------
    key, number : str
        "rank" and "number of users".
    example : str
        Counts as a dict.
    more : str
        Further forms.
    null : int or None
        The key that null, None and NaN stand for; None where they are refused.
    """

    key: str
    number: str
    example: str
    more: str = ""
    null: int | None = None

    @property
    def forms(self) -> str:
        """The forms of counts, in words."""
        return (
            f"a dict of {self.key} -> {self.number}, such as {self.example}, a list of such pairs, "
            f"a table of two columns, or a tuple of two arrays{self.more}"
        )


def counts_of(counts: Any, name: str, columns: CountColumns) -> dict[int, int]:
    """Return the number that belongs to each key.

    Parameters
    ----------
    counts : dict, list of pairs, table of two columns, tuple or dict of two arrays, or Series
        A dict of two arrays is that of two named columns; a Series has the keys in its index.
    name : str
        Of the counts, for messages.
    columns : CountColumns

    Raises
    ------
    TypeError
        For other forms.
    ValueError
        For numbers that are not whole or below 0, and a key twice.

    Examples
    --------
    >>> columns = CountColumns("rank", "number", "{1: 7}", null=0)
    >>> counts_of([(1, 7), (None, Decimal(20))], "counts", columns)
    {1: 7, 0: 20}
    """
    if hasattr(counts, "collect"):  # of Spark, or lazy
        raise TypeError(
            f"{name}: a {type(counts).__name__} that is not collected: give what its .collect() "
            "returns"
        )
    found: dict[int, int] = {}
    for given, n in _rows(to_builtin(counts, name), name, columns):
        key = whole_number(_present(given, columns.null), f"{name}: {columns.key}")
        if key in found and key != columns.null:
            one = f"give one row per {columns.key}"
            raise ValueError(f"{name}: {columns.key} {key} is there twice: {one}")
        found[key] = found.get(key, 0) + whole_number(n, f"{name}: {columns.number}")
    return found


def whole_number(value: Any, name: str) -> int:
    """Return a whole number from 0 on; also a whole Decimal, as sums in a database are.

    Examples
    --------
    >>> whole_number(Decimal("12.0"), "count"), whole_number(np.uint8(3), "count")
    (12, 3)
    """
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        way = ": CAST(n AS BIGINT), n.astype('int64')" if isinstance(value, float) else ""
        raise ValueError(
            f"{name} {value!r}: whole numbers from 0 to 2^63 - 1 are needed, of an integer type"
            f"{way}"
        )
    return value


def are_columns(counts: Any) -> bool:
    """Return whether counts are a dict of names and arrays, as ``fetchnumpy()`` of DuckDB."""
    if not isinstance(counts, Mapping) or not counts:
        return False
    sized = all(hasattr(one, "__len__") and not isinstance(one, str) for one in counts.values())
    return sized and all(isinstance(name, str) for name in counts)


def _present(key: Any, null: int | None) -> Any:
    """Return a key; that of a null, if there is one, which makes floats of the others in pandas."""
    if null is None:
        return key
    if key is None or key != key:
        return null
    return int(key) if isinstance(key, float) and key.is_integer() else key


def _rows(counts: Any, name: str, columns: CountColumns) -> Iterable[tuple[Any, Any]]:
    """Return pairs of a key and a number."""
    if isinstance(counts, list) and all(isinstance(row, tuple) and len(row) == 2 for row in counts):
        return counts
    if is_series(counts):
        keys, nulls = counts.index.tolist(), counts.index.isna().tolist()
        keys = [None if null else key for key, null in zip(keys, nulls, strict=True)]
        return zip(keys, counts.tolist(), strict=True)
    if are_columns(counts):
        _check_names(list(counts), name, columns)
        counts = tuple(counts.values())
    if isinstance(counts, Mapping):
        return counts.items()
    if is_frame(counts):
        frame = cols.readable(counts)
        names = cols.names_of(frame)
        _check_names(names, name, columns)
        both = [cols.read(frame, one).objects() for one in names]
    elif isinstance(counts, tuple) and len(counts) == 2:
        both = [_listed(column, name, columns) for column in counts]
    else:
        raise TypeError(f"{name} is a {type(counts).__name__}: give {columns.forms}")
    keys, numbers = both
    if len(keys) != len(numbers):
        what = columns.number.replace("number", "numbers", 1)
        raise ValueError(f"{name}: {len(keys):,} {columns.key}s, but {len(numbers):,} {what}")
    return zip(keys, numbers, strict=True)


def _check_names(names: list[Any], name: str, columns: CountColumns) -> None:
    """Raise ValueError for other than two columns."""
    if len(set(names)) != 2 or len(names) != 2:
        shown = ", ".join(map(repr, names))
        raise ValueError(
            f"{name}: a table of columns {shown}: give two of different names, the {columns.key} "
            "first"
        )


def _listed(column: Any, name: str, columns: CountColumns) -> list[Any]:
    """Return an array, a list or a column as Python objects."""
    found = column if isinstance(column, list) else of_column(column)
    if found is None:
        held = type(column).__name__
        raise TypeError(f"{name} is a tuple that holds a {held}: give {columns.forms}")
    return found
