"""One value per user: weights, labels, clusters; by key where there are keys, never by accident."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np

from toplist.checks import Floats, doubles
from toplist.inputs.flatten import first_repeat, is_frame, name_user, of_column
from toplist.inputs.ids import kinds_of
from toplist.inputs.keyed import check_unique, counts_rows, is_series

# Squares of weights, summed over users, stay finite up to here.
LARGEST = 1e100


def values_by_user(
    values: Any, users: Sequence[Any] | None, n_rows: int, what: str
) -> tuple[list[Any], int]:
    """Return the value of every row (None where it has none), and how many belong to no row.

    Parameters
    ----------
    values : dict user -> value, pandas Series, or one value per row
        A dict and a Series are matched by key. A Series with a default RangeIndex
        has no keys of its own: it is taken by position where the result has positions, and refused
        beside keys.
    users : sequence or None
        The keys of the rows; None where they are known by position.
    n_rows : int
    what : str
        What the values are, for messages: "weights", "labels".

    Raises
    ------
    TypeError
        For text, sets, tables, and keys where the result has positions only.
    ValueError
        For another number of values than rows, a key twice, or no key in common.

    Examples
    --------
    >>> values_by_user({"ann": 2.0, "eve": 1.0}, ["eve", "bob"], 2, "weights")
    ([1.0, None], 1)
    """
    if is_series(values):
        counted = counts_rows(values.index)
        if users is not None and counted:
            raise TypeError(
                f"{what} is a Series that counts its rows, but the users have keys, like "
                f"{next(iter(users), 'none')!r}: give it by user, "
                f"table.set_index('user_id')[COLUMN], {what}.set_axis(users) or a dict user -> "
                f"value; or {what}.to_numpy() if its order is that of result.users"
            )
        if users is None and not counted:
            raise TypeError(
                f"{what} is a Series with an index of its own, but the users are known by "
                f"position: name the rows by users=, or give {what}.to_numpy() in the order of the "
                "rows"
            )
        check_unique(values, what, "user")
        values = values.to_numpy() if counted else values.to_dict()
    if isinstance(values, Mapping):
        rows: Sequence[Any] = range(n_rows) if users is None else users
        known = sum(user in values for user in rows)
        if values and n_rows and not known:
            by = "positions only (users= names its rows)" if users is None else repr(rows[0])
            raise ValueError(
                f"{what} have none of the users: they are keyed by {next(iter(values))!r}, the "
                f"result has {by}"
            )
        return [values.get(user) for user in rows], len(values) - known
    if is_frame(values):
        raise TypeError(
            f"{what} is a table: give a dict user -> value, "
            "dict(zip(table['user_id'], table['COLUMN']))"
        )
    if isinstance(values, (str, bytes, Set)) or not hasattr(values, "__len__"):
        raise TypeError(
            f"{what} is a {type(values).__name__}: give one value per user, or a dict user -> value"
        )
    if len(values) != n_rows:
        raise ValueError(f"{len(values)} {what} for {n_rows} users: one per user is needed")
    return values.tolist() if hasattr(values, "tolist") else list(values), 0


def weights_of(weights: Any, users: Sequence[Any] | None, n_rows: int) -> Floats:
    """Return one weight per row, as `values_by_user` finds it.

    Raises
    ------
    TypeError, ValueError
        As `values_by_user`; for a row without a weight, and one that is no number from 0 to
        `LARGEST`.

    Examples
    --------
    >>> weights_of({"ann": 2, "bob": 0.5}, ["bob", "ann"], 2).tolist()
    [0.5, 2.0]
    """
    if isinstance(weights, np.ma.MaskedArray):
        raise TypeError("weights is a masked array: fill it")
    values: Any = weights
    if not (isinstance(weights, np.ndarray) and len(weights) == n_rows):  # no Python objects
        values, _ = values_by_user(weights, users, n_rows, "weights")
        absent = [row for row, value in enumerate(values) if value is None]
        if absent:
            user = name_user(users, absent[0])
            raise ValueError(f"weights has no entry for {user} ({len(absent):,} such)")
    plain, of_complex = np.asarray(values), (complex, np.complexfloating)
    objects = plain.dtype.kind == "O" and all(  # Decimals, say
        isinstance(one, (numbers.Number, np.number)) and not isinstance(one, of_complex)
        for one in values
    )
    if plain.size and plain.dtype.kind not in "biuf" and not objects:
        raise ValueError(f"weights must be numbers, one per user, not {plain.dtype}")
    found = doubles(values)
    if found.shape != (n_rows,):
        raise ValueError(f"weights has shape {found.shape}: one per user is needed, {n_rows}")
    bad = np.flatnonzero(~((found >= 0) & (found <= LARGEST)))
    if len(bad):
        raise ValueError(
            f"{name_user(users, int(bad[0]))} has weight {found[bad[0]]:g}: a number from 0 "
            f"to {LARGEST:g} is needed"
        )
    small = found[found > 0]
    if len(small) and small.max() < 1 / LARGEST:
        raise ValueError(
            f"the largest weight is {small.max():g}: give larger ones, they are relative"
        )
    return found


def keys_of(users: Any, n_rows: int) -> list[Any]:
    """Return `users=` as a list: the keys of rows that are known by position otherwise.

    Raises
    ------
    TypeError
        For what is no list, array or column of keys, and keys of two kinds.
    ValueError
        For another number of keys than rows, or a key twice.

    Examples
    --------
    >>> keys_of(("ann", "bob"), 2)
    ['ann', 'bob']
    """
    if is_frame(users):
        raise TypeError("users is a table: give its column of keys, table['user_id']")
    if is_series(users) and not counts_rows(users.index):
        raise TypeError(
            "users is a Series with an index of its own, but names the rows by position: give "
            "users.to_numpy() in the order of the rows"
        )
    keys = list(users) if isinstance(users, (list, tuple, range)) else of_column(users)
    if keys is None:
        kind = type(users).__name__
        raise TypeError(f"users is a {kind}: give one key per row, in a list, an array or a column")
    kinds_of(keys, "users")
    if len(keys) != n_rows:
        raise ValueError(f"users: {len(keys):,} keys for {n_rows:,} rows: one per row is needed")
    if len(set(keys)) < len(keys):
        first, second = first_repeat(keys) or (0, 0)
        raise ValueError(
            f"users: {keys[second]!r} is the key of rows {first} and {second}: a user has one row"
        )
    return keys
