"""Counts as a database makes them: rows of two whole numbers, in every form that holds such rows.

`toplist.loo.from_rank_counts` and `toplist.beyond.from_counts_of_counts` read theirs here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from toplist.inputs import dataframes
from toplist.inputs.flatten import is_frame, of_column
from toplist.inputs.keyed import is_series
from toplist.inputs.objects import to_builtin


@dataclass(frozen=True)
class Columns:
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


def read(counts: Any, name: str, columns: Columns) -> dict[int, int]:
    """Return the number that belongs to each key.

    Parameters
    ----------
    counts : dict, list of pairs, table of two columns, tuple or dict of two arrays, or Series
        A dict of two arrays is that of two named columns; a Series has the keys in its index.
    name : str
        Of the counts, for messages.
    columns : Columns

    Raises
    ------
    TypeError
        For other forms.
    ValueError
        For numbers that are not whole or below 0, and a key twice.

    Examples
    --------
    >>> read([(1, 7), (None, Decimal(20))], "counts", Columns("rank", "number", "{1: 7}", null=0))
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


def _rows(counts: Any, name: str, columns: Columns) -> Iterable[tuple[Any, Any]]:
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
        frame = dataframes.readable(counts)
        names = dataframes.names_of(frame)
        _check_names(names, name, columns)
        both = [dataframes.objects(frame, one) for one in names]
    elif isinstance(counts, tuple) and len(counts) == 2:
        both = [_values(column, name, columns) for column in counts]
    else:
        raise TypeError(f"{name} is a {type(counts).__name__}: give {columns.forms}")
    keys, numbers = both
    if len(keys) != len(numbers):
        what = columns.number.replace("number", "numbers", 1)
        raise ValueError(f"{name}: {len(keys):,} {columns.key}s, but {len(numbers):,} {what}")
    return zip(keys, numbers, strict=True)


def _check_names(names: list[Any], name: str, columns: Columns) -> None:
    """Raise ValueError for other than two columns."""
    if len(set(names)) != 2 or len(names) != 2:
        shown = ", ".join(map(repr, names))
        raise ValueError(
            f"{name}: a table of columns {shown}: give two of different names, the {columns.key} "
            "first"
        )


def _values(column: Any, name: str, columns: Columns) -> list[Any]:
    """Return an array, a list or a column as Python objects."""
    found = column if isinstance(column, list) else of_column(column)
    if found is None:
        held = type(column).__name__
        raise TypeError(f"{name} is a tuple that holds a {held}: give {columns.forms}")
    return found
