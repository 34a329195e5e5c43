"""One value per user: weights, labels, clusters; by key where there are keys, never by accident."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np

from toplist.checks import Floats
from toplist.inputs.flatten import first_repeat, is_frame, of_column
from toplist.inputs.ids import kinds_of
from toplist.inputs.keyed import counts_rows, dict_of, is_series


class UserValues(np.ndarray[Any, np.dtype[np.float64]]):
    """Values by user that know whose they are: an array, (n_users,) or (n_users, K).

    `users` has one key per row. Slices and arithmetic keep them; what has no row per user is a
    plain array. Values of other users, or in another order, do not add up: they are refused.

    Examples
    --------
    >>> import toplist as tl
    >>> found = tl.hit({"ann": [1, 2], "bob": [3, 4]}, {"bob": [3], "ann": [2]})
    >>> found.users, found[:, 0].users, found[1:, 0].users, found.mean(axis=0)
    (['bob', 'ann'], ['bob', 'ann'], ['ann'], array([0.5, 1. ]))
    >>> found[:, 0].by_user()
    {'bob': 1.0, 'ann': 0.0}
    """

    users: Sequence[Any] | None

    def __array_finalize__(self, made_of: Any) -> None:
        """Have no users until they are known: numpy may have sorted the rows."""
        self.users = None

    def __getitem__(self, index: Any) -> Any:
        """Return a part, with its users if it has a row for each."""
        found = np.asarray(self)[index]
        rows, *columns = index if isinstance(index, tuple) and index else (index,)
        if rows is Ellipsis and len(columns) == self.ndim - 1:
            rows = slice(None)
        plain = all(isinstance(one, (slice, int, np.integer)) for one in columns)
        if self.users is None or not plain:
            return found
        if isinstance(rows, slice):
            return by_users(found, self.users if rows == slice(None) else self.users[rows])
        if not (isinstance(rows, (list, np.ndarray)) and np.ndim(rows) == 1):
            return found
        return by_users(found, [self.users[row] for row in np.arange(len(self))[rows].tolist()])

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Return what arithmetic makes of it, with the users; ValueError for other users."""
        given = (one.users for one in inputs if isinstance(one, UserValues))
        known = [users for users in given if users is not None]
        plain = [np.asarray(one) if isinstance(one, UserValues) else one for one in inputs]
        if "out" in options:
            options["out"] = tuple(map(np.asarray, options["out"]))
        found = getattr(ufunc, method)(*plain, **options)
        if not known or method != "__call__":
            return found
        users = known[0]
        if any(others is not users and list(others) != list(users) for others in known):
            raise ValueError(
                "these are values of other users, or of the same in another order: by_user() gives "
                "each as a dict, np.asarray() as an array without users"
            )
        fits = isinstance(found, np.ndarray) and found.shape[:1] == (len(users),)
        return by_users(found, users) if fits else found

    def __repr__(self) -> str:
        """Return the array as it is printed."""
        return repr(np.asarray(self))

    def __reduce__(self) -> Any:
        """Pickle with the users."""
        return by_users, (np.asarray(self), self.users)

    def round(self, *digits: Any, **options: Any) -> Any:
        """Return the rounded values, with the users."""
        return by_users(np.asarray(self).round(*digits, **options), self.users)

    def sort(self, *how: Any, **options: Any) -> None:
        """Raise TypeError: in place, the users would stay where they were."""
        if self.users is None:  # a copy, as np.sort makes
            return super().sort(*how, **options)
        raise TypeError("values of users are not sorted in place: np.sort(values) has no users")

    def by_user(self) -> dict[Any, Any]:
        """Return the value of each user, or the array of values."""
        if self.users is None:
            raise ValueError(
                "it is not known whose values these are, after what numpy did to them: sort or "
                "join dicts, or np.asarray() of them if their order is right"
            )
        return dict(zip(self.users, np.asarray(self).tolist(), strict=True))


def by_users(values: Floats, users: Sequence[Any] | None) -> Floats:
    """Return values with the keys of their rows; by position, as they are."""
    if users is None:
        return values
    found = values.view(UserValues)
    found.users = users
    return found


def values_by_user(
    values: Any, users: Sequence[Any] | None, n_rows: int, what: str
) -> tuple[list[Any], int]:
    """Return the value of every row (None where it has none), and how many belong to no row.

    Parameters
    ----------
    values : dict user -> value, pandas Series, `UserValues`, or one value per row
        A dict, a Series and what has users are matched by key. A Series with a default RangeIndex
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
    if isinstance(values, UserValues):
        values = values.by_user()
    if is_series(values):
        by_position = users is None and counts_rows(values.index)
        values = values.to_numpy() if by_position else _keyed(values, users, what)
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


def _keyed(series: Any, users: Sequence[Any] | None, what: str) -> dict[Any, Any]:
    """Return a Series as a dict, if its index holds the users."""
    if users is not None and counts_rows(series.index):
        raise TypeError(
            f"{what} is a Series that counts its rows, but the users have keys, like "
            f"{next(iter(users), 'none')!r}: give it by user, table.set_index('user_id')[COLUMN], "
            f"{what}.set_axis(users) or a dict user -> value; or {what}.to_numpy() if its order is "
            "that of result.users"
        )
    if users is None:
        raise TypeError(
            f"{what} is a Series with an index of its own, but the users are known by position: "
            f"name the rows by users=, or give {what}.to_numpy() in the order of the rows"
        )
    return dict_of(series, what, "user")


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
    keys = _listed(users)
    kinds_of(keys, "users")
    if len(keys) != n_rows:
        raise ValueError(f"users: {len(keys):,} keys for {n_rows:,} rows: one per row is needed")
    if len(set(keys)) < len(keys):
        first, second = first_repeat(keys) or (0, 0)
        raise ValueError(
            f"users: {keys[second]!r} is the key of rows {first} and {second}: a user has one row"
        )
    return keys


def _listed(users: Any) -> list[Any]:
    if isinstance(users, (list, tuple, range)):
        return list(users)
    if is_frame(users):
        raise TypeError("users is a table: give its column of keys, table['user_id']")
    if is_series(users) and not counts_rows(users.index):
        raise TypeError(
            "users is a Series with an index of its own, but names the rows by position: give "
            "users.to_numpy() in the order of the rows"
        )
    found = of_column(users)
    if found is not None:
        return found
    raise TypeError(
        f"users is a {type(users).__name__}: give one key per row, in a list, an array or a column"
    )
