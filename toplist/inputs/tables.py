"""Tables become lists keyed by user: long ones, ones with a column of lists, and wide ones.

A long table (a row per user and item) needs no work where the rows of a user stand together and in
order. Elsewhere, grouping and ordering are a numbering and one or two passes that put each row in
its place, not a sort.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.inputs import dataframes as cols
from toplist.inputs.factorize import Column
from toplist.inputs.grouped import Groups, by_rank, by_score, grouped, in_order
from toplist.inputs.keyed import Keyed, keyed
from toplist.inputs.named import Table

# Called with the users of the lists, and the row where each list begins.
Meet = Callable[[Column, NDArray[np.int64]], None]


def read(table: Table, meet: Meet | None = None) -> Keyed:
    """Return the lists of a table.

    Parameters
    ----------
    table : Table
        user_id and item_id, and on the side of ranks rank (1..n) or score, on that of
        ground_truths, with grades, relevance. Or a row per user, item_id holding its list of ids
        (the others, if they are there, the lists that go with it). Or a row per user and a column
        per rank, 1 to K.
    meet : callable, optional
        Of a part of a table: is told the users before their items are read, and may refuse a user
        met before. Every run of rows of one user is then a list.

    Raises
    ------
    TypeError
        For columns of ids that are floats or of two kinds, or of numbers that are text.
    ValueError
        For a missing column, a null, ranks that are not 1..n, a NaN score.
    """
    wide = table.wide()
    if wide:
        return _wide(table, wide, meet)
    users = table.ids("user_id")
    name = table.names[table.one_of("item_id")]
    rows = cols.python_lists(table.frame, name, table.side)
    lists = cols.lists(table.frame, name, table.side, table.first) if rows is None else None
    if meet is not None and (rows is not None or lists is not None):
        meet(users, np.arange(len(users.codes)))
    if rows is not None:
        return _of_python(table, users, rows)
    if lists is not None:
        return _of_lists(table, users, *lists)
    if table.side == "ranks" and table.order is None:
        table.one_of("rank", "score")
    values = None if table.beside is None else table.numbers(table.beside)
    groups = grouped(users, adjacent=meet is not None)
    if meet is not None:
        meet(groups.users, groups.offsets[:-1])
    return _put_in_order(table, groups, table.ids("item_id"), values)


def _put_in_order(
    table: Table, groups: Groups, items: Column, values: NDArray[Any] | None
) -> Keyed:
    """Put items in the order of their ranks or scores, or, with their grades, as they stand."""
    if values is not None and table.beside == "rank":
        items = by_rank(table.side, values, groups, items)
    elif values is not None and table.beside == "score":
        items = by_score(table.side, values, groups, items)
    else:
        grades = None if values is None else values.astype(np.float64)
        if groups.rows is not None:
            items, moved = in_order(groups, items, grades)
            grades = None if grades is None else moved
        return Keyed(table.side, groups.users, items, groups.offsets, grades)
    return Keyed(table.side, groups.users, items, groups.offsets)


def _of_lists(table: Table, users: Column, offsets: NDArray[np.int64], frame: Any) -> Keyed:
    """Read a column of lists, and the lists of ranks, scores or grades beside it."""
    items = cols.ids(frame, table.names["item_id"], table.side, offsets, table.first)
    values = None
    if table.beside is not None:
        name = table.names[table.beside]
        found = cols.lists(table.frame, name, table.side)
        if found is None or not np.array_equal(found[0], offsets):
            raise _unlike(table, name)
        values = cols.numbers(found[1], name, table.side)
    return _put_in_order(table, Groups(users, offsets, None), items, values)


def _wide(table: Table, ranks: list[Any], meet: Meet | None) -> Keyed:
    """Read a row per user and a column per rank; nulls end a list."""
    frame, side = table.frame, table.side
    if table.names["user_id"] in table.columns:
        users = table.ids("user_id")
    else:
        users = cols.index(frame, side)
    if meet is not None:
        meet(users, np.arange(len(users.codes)))
    arrays = [cols.integers(frame, name) for name in ranks]
    if all(array is not None for array in arrays):
        items = np.stack(arrays, axis=1)  # type: ignore[arg-type]
        offsets = np.arange(len(items) + 1, dtype=np.int64) * len(ranks)
        return Keyed(side, users, Column("item_id", items.ravel()), offsets)
    rows = [list(row) for row in zip(*(cols.objects(frame, name) for name in ranks), strict=True)]
    for user, row in enumerate(rows):
        while row and row[-1] is None:
            row.pop()
        if None in row:
            raise ValueError(
                f"{side}: column {ranks[row.index(None)]!r} is null in row {user}, before a real id"
            )
    return keyed(_by_user(users, rows, side), side)


def _by_user(users: Column, rows: list[Any], side: str) -> dict[Any, Any]:
    keys = users.decoded(users.codes)
    keyed = dict(zip(keys, rows, strict=True))
    if len(keyed) < len(keys):
        first: dict[Any, int] = {}
        second = next(row for row, key in enumerate(keys) if first.setdefault(key, row) != row)
        raise ValueError(
            f"{side}: user {keys[second]!r} stands in rows {first[keys[second]]} and {second}: a "
            "user has one list"
        )
    return keyed


def _of_python(table: Table, users: Column, rows: list[Any]) -> Keyed:
    """Read lists that are Python objects, and the lists of ranks, scores or grades beside them."""
    lists = keyed(_by_user(users, rows, table.side), table.side)
    if table.beside is None:
        return lists
    name = table.names[table.beside]
    beside = cols.python_lists(table.frame, name, table.side) or []
    if list(map(len, beside)) != list(map(len, rows)):
        raise _unlike(table, name)
    values = np.array([value for row in beside for value in row])
    if values.dtype.kind not in "iuf":
        raise TypeError(f"{table.side}: column {name!r} must hold lists of numbers")
    return _put_in_order(table, Groups(lists.users, lists.offsets, None), lists.items, values)


def _unlike(table: Table, name: str) -> ValueError:
    return ValueError(
        f"{table.side}: column {name!r} must hold a list per user, as long as the one in "
        f"{table.names['item_id']!r}"
    )
