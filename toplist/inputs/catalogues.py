"""Data beside lists: ids of a catalogue, a fact of each item (`by_item`), and counts.

Counts are what a database makes: rows of two whole numbers, in every form that holds such rows
(`counts_of`), for `toplist.loo.from_rank_counts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from toplist.checks import Floats, about, check_positive_int, require
from toplist.inputs import columns as cols
from toplist.inputs.flatten import first_repeat, is_frame, of_column
from toplist.inputs.keyed import counts_rows, is_series
from toplist.inputs.objects import to_builtin


class Fact(NamedTuple):
    """What is said of each item, for `by_item`.

    Attributes
    ----------
    name : str
        What it is called, in the singular.
    dimensions : int
        Of an array whose places are the ids 0..n-1; 0 where none is taken.
    several : bool
        Whether an item may have several rows.
    columns : bool
        Whether it has several columns in a table.
    column : str
        The column of a table that holds it, if there are others.
    more : str
        Further forms, for messages.
    """

    name: str
    dimensions: int = 0
    several: bool = False
    columns: bool = False
    column: str = ""
    more: str = ""


_PLACES = ", or a {} array whose places are the ids 0..n-1"
NUMBER = Fact("number", dimensions=1, more=_PLACES.format("1-D"))
VECTOR = Fact("vector", dimensions=2, columns=True, more=_PLACES.format("2-D"))
LABEL = Fact("label", several=True)
_FUNCTION = ", or a function that takes ids and returns as many documents"
DOCUMENT = Fact("document", column="document", more=_FUNCTION)


class Facts(NamedTuple):
    """Items in the order given, and a fact of each.

    `columns` are the names of the columns of a table, `order` are the categories of an ordered
    type: a Categorical of pandas, an Enum of polars.
    """

    items: Any
    values: Any
    columns: tuple[Any, ...] = ()
    order: list[Any] | None = None


def by_item(given: Any, fact: Fact, name: str = "", key: str = "item_id") -> Facts:
    """Return the items, and a fact of each, from any form; files are read as tables first.

    Parameters
    ----------
    given : dict item -> fact, pandas Series, table, or array
        A Series has the items as its index; a table a column `key`, and one other (of vectors: one
        or several). An array, where `fact` takes it, has a row for each of the ids 0..n-1.
    fact : Fact
    name : str
        Of the argument, for messages: "labels", or "items_as=".
    key : {"item_id", "user_id"}

    Raises
    ------
    TypeError
        For other forms, and a Series that counts its rows where no array is taken.
    ValueError
        For a table of other columns, and an item with two rows.

    Examples
    --------
    >>> by_item({"tea": 3}, NUMBER)
    Facts(items=['tea'], values=[3], columns=(), order=None)
    >>> by_item([0.5, 1], NUMBER).items.tolist()
    [0, 1]
    """
    if isinstance(given, Facts):
        return given
    what = key.removesuffix("_id")
    argument = name.removesuffix("=")
    if is_frame(given):
        return _of_table(given, fact, name, key)
    if is_series(given):
        if counts_rows(given.index) and not fact.dimensions:
            text = (
                f"{name} is a Series that counts its rows: give it by {what}, "
                f"table.set_index('{key}')[COLUMN], or dict(enumerate({argument})) if its rows are "
                "the ids 0, 1, 2, ..."
            )
            raise TypeError(text)
        if not (fact.several or given.index.is_unique):
            twice = given.index[given.index.duplicated()].tolist()[0]
            text = f"{name}: {what} {twice!r} is in the index of the Series twice"
            way = f"; {argument}.groupby(level=0).sum() adds up counts"
            raise ValueError(text + (way if argument.endswith("counts") else ""))
        return Facts(given.index.tolist(), given.tolist(), (), categories(given.dtype))
    if isinstance(given, Mapping):
        return Facts(list(given), list(given.values()))
    if _is_column(given) and fact.dimensions:
        given = given.to_numpy()
    listed = fact.dimensions and isinstance(given, (list, tuple, np.ndarray))
    if listed and np.ndim(given) == fact.dimensions:
        return Facts(np.arange(len(given)), given)
    text = (
        f"{name} is {_described(given)}: give a dict {what} -> {fact.name}, a pandas Series whose "
        f"index has the {what}s, a table of {key} and a column of {fact.name}s{fact.more}"
    )
    raise TypeError(text)


def _of_table(given: Any, fact: Fact, name: str, key: str) -> Facts:
    """Return the items of a table, and a fact of each."""
    frame = cols.readable(given)
    names = cols.names_of(frame)
    rest = [fact.column] if fact.column in names else [one for one in names if one != key]
    argument = name.removesuffix("=")
    way = f"give a table of {key} and one column of {fact.name}s, {argument}[['{key}', 'COLUMN']]"
    require(name, [key], names, way)
    if not rest or (len(rest) > 1 and not fact.columns):
        raise ValueError(f"{name}: {way}; columns found: {names}")
    items = cols.read(frame, key).objects()
    if not fact.several and (twice := first_repeat(items)) is not None:
        item = items[twice[1]]
        error = ValueError(f"{name}: {key.removesuffix('_id')} {item!r} has two rows")
        raise about(error, item=item, row=twice[1])
    cells = [cols.read(frame, one) for one in rest]
    if not fact.columns:
        return Facts(items, cells[0].objects(), tuple(rest), categories(cells[0].kind))
    arrays = [one.array for one in cells]
    if any(one is None for one in arrays):
        return Facts(items, list(zip(*(one.objects() for one in cells), strict=True)), tuple(rest))
    return Facts(items, np.stack(arrays, axis=1), tuple(rest))  # type: ignore[arg-type]


def categories(dtype: Any) -> list[Any] | None:
    """Return the categories of an ordered type."""
    ordered = getattr(dtype, "ordered", type(dtype).__name__ == "Enum")
    return list(dtype.categories) if ordered and hasattr(dtype, "categories") else None


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
    facts = by_item(values, NUMBER, name)
    ids = facts.items
    numbers = _numbers(facts, name)
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
    facts = by_item(features, VECTOR, name)
    ids, rows = facts.items, facts.values
    if not isinstance(ids, np.ndarray):
        lengths = list(map(np.size, rows))
        odd = next((row for row, n in enumerate(lengths) if n != lengths[0]), None)
        if odd is not None:
            raise ValueError(
                f"{name}: item {ids[0]!r} has {lengths[0]} numbers, item {ids[odd]!r} "
                f"{lengths[odd]}: every item needs as many"
            )
        facts = facts._replace(values=[np.ravel(row) for row in rows])
    numbers = _numbers(facts, name).reshape(len(ids), -1)
    bad = np.flatnonzero(~np.isfinite(numbers).all(axis=1))
    if len(bad):
        raise ValueError(f"{name}: item {_plain(ids[bad[0]])!r} has a number that is not finite")
    return ids, numbers


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
    if is_frame(given):
        ids, others, given = _square(given, name)
        if len(set(ids)) < len(ids) or set(ids) != set(others):
            raise ValueError(f"{name}: the items of its rows are not those of its columns")
        given = np.asarray(given)[:, [others.index(one) for one in ids]]
    elif isinstance(given, Mapping):
        ids, given = list(given), list(given.values())
    matrix = np.asarray(given)
    if matrix.dtype.kind not in "biuf" or matrix.ndim != 2 or len(matrix) != matrix.shape[1]:
        raise TypeError(
            f"{name}: give a square array, whose places are the ids 0..n-1, or a square table, a "
            "column for each item, and the items as item_id or the index of pandas"
        )
    matrix = np.ascontiguousarray(matrix, np.float64)
    if not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T, rtol=1e-9, atol=1e-12):
        raise ValueError(f"{name}: distances must be finite, and the same in both directions")
    return np.arange(len(matrix)) if ids is None else ids, matrix


def _square(frame: Any, name: str) -> tuple[list[Any], list[Any], Any]:
    """Return the items of the rows of a table, those of its columns, and its numbers."""
    if hasattr(frame, "index") and "item_id" not in frame.columns:
        return frame.index.tolist(), frame.columns.tolist(), frame.to_numpy()
    facts = by_item(frame, VECTOR, name)
    return facts.items, list(facts.columns), facts.values


def _numbers(facts: Facts, name: str) -> Floats:
    """Return facts as doubles; TypeError where one is no number."""
    array = np.asarray(facts.values)
    if array.size and array.dtype.kind not in "biuf":
        pairs = zip(facts.items, facts.values, strict=True)
        odd = [one for one in pairs if not isinstance(one[1], (int, float, np.number))]
        one = array.ndim == 1 and not isinstance(facts.items, np.ndarray) and odd
        of = ": item {!r} has {!r}".format(*odd[0]) if one else f", not {array.dtype}"
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
    null : int or None
        The key that null, None and NaN stand for; None where they are refused.
    """

    key: str
    number: str
    example: str
    null: int | None = None

    @property
    def forms(self) -> str:
        """The forms of counts, in words."""
        return (
            f"a dict of {self.key} -> {self.number}, such as {self.example}, a list of such pairs, "
            f"a table of two columns, or a tuple of two arrays"
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


def _are_columns(counts: Any) -> bool:
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
    if _are_columns(counts):
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
