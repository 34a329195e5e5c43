"""Any side of an evaluation, or a training log, as plain lists by user: to be looked at.

Nothing is refused here that an audit should report: repeats, ids of two types, padding.
"""

import os
from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from toplist.inputs import dataframes as cols
from toplist.inputs.lists import Lists
from toplist.loo.logs import read_log

Sides = dict[Any, list[Any]]


def by_user(value: Any, name: str, columns: Mapping[str, str] | None = None) -> Sides:
    """Return user -> items, repeats and all, in order.

    Parameters
    ----------
    value : dict user -> ids, list of lists of ids, 2-D array, Lists, or a log
        A log is a table, a dict of columns, a tuple of columns, or a path; lists by position have
        their positions as users.
    """
    if is_log(value, columns):
        return _of_log(value, columns)
    if isinstance(value, Mapping):
        return {user: _items(row) for user, row in value.items()}
    if isinstance(value, Lists):
        return {user: value[user].tolist() for user in range(len(value))}
    if isinstance(value, np.ndarray) and value.ndim in (1, 2):
        return {user: _items(row) for user, row in enumerate(value.tolist())}
    if isinstance(value, (list, tuple)):
        return {user: _items(row) for user, row in enumerate(value)}
    raise TypeError(
        f"{name} is a {type(value).__name__}: give a dict user -> ids, a list of lists, an array, "
        "Lists, a table, or the path of a log"
    )


def is_log(value: Any, columns: Mapping[str, str] | None) -> bool:
    """Whether a side is a log: a table, a dict or tuple of columns, or a path."""
    if isinstance(value, (str, os.PathLike)) or cols.is_frame(value):
        return True
    if isinstance(value, tuple):
        return len(value) in (2, 3) and all(np.ndim(column) == 1 for column in value)
    names = dict(columns or {})
    wanted = {names.get("user_id", "user_id"), names.get("item_id", "item_id")}
    return isinstance(value, Mapping) and wanted <= set(value)


def _of_log(value: Any, columns: Mapping[str, str] | None) -> Sides:
    log = read_log(value, columns)
    found: Sides = {user: [] for user in log.users.names}
    rows = zip(log.users.codes.tolist(), log.items.codes.tolist(), strict=True)
    users, items = log.users.names, log.items.names
    for user, item in rows:
        found[users[user]].append(items[item])
    return found


def _items(row: Any) -> list[Any]:
    """Return the ids of a container, those of positive grade of a dict; a bare id alone."""
    if isinstance(row, Mapping):
        return [item for item, grade in row.items() if grade > 0]
    if isinstance(row, np.ndarray):
        return list(np.atleast_1d(row).tolist())
    return list(row) if isinstance(row, (list, tuple, range, Set)) else [row]
