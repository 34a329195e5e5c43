"""Items to leave out of ranked lists: seen in training, say."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.inputs.lists import Lists, offsets_of


def columns_to_leave_out(exclude: Any, n_users: int, n_items: int) -> Lists:
    """Return the columns to leave out, per user."""
    if exclude is None:
        return Lists(np.zeros(n_users + 1, np.int64), np.empty(0, np.int64))
    if isinstance(exclude, np.ndarray) and exclude.ndim == 2:
        if exclude.dtype != bool or exclude.shape != (n_users, n_items):
            raise ValueError(
                f"exclude must be an array of bool of shape {(n_users, n_items)}, not "
                f"{exclude.dtype} of {exclude.shape}: for 0/1, .astype(bool)"
            )
        exclude = Lists.from_matrix(exclude)
    if isinstance(exclude, Lists):
        lists = exclude
    else:
        rows = [_columns_of(user, row) for user, row in enumerate(_rows_of(exclude))]
        lists = Lists(offsets_of(np.array(list(map(len, rows)), np.int64)), np.concatenate(rows))
    if len(lists) != n_users:
        raise ValueError(f"exclude has {len(lists)} rows for {n_users} users")
    bad = np.flatnonzero((lists.items < 0) | (lists.items >= n_items))
    if len(bad):
        raise ValueError(f"exclude: item {lists.items[bad[0]]} is no column of 0..{n_items - 1}")
    return lists


def _rows_of(exclude: Any) -> list[Any]:
    if isinstance(exclude, (Mapping, str)) or not isinstance(exclude, Iterable):
        raise TypeError(
            f"exclude is a {type(exclude).__name__}: give one container of columns per user, "
            "Lists, or an array of bool"
        )
    return list(exclude)


def _columns_of(user: int, row: Any) -> NDArray[np.int64]:
    if not isinstance(row, (list, tuple, range, set, frozenset, np.ndarray)):
        raise TypeError(f"exclude: user {user} has {row!r} where a container of columns belongs")
    columns = np.array(list(row))
    if columns.size and (columns.dtype.kind not in "iu" or any(type(c) is bool for c in row)):
        raise TypeError(f"exclude: user {user} has {next(iter(row))!r}: columns are whole numbers")
    return columns.astype(np.int64)
