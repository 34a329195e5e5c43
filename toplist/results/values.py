"""Read anybody's values by system: arrays in one order of users, or dicts and Series by user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Units(NamedTuple):
    """What belongs to the users, by row: their weights and clusters, if there are any."""

    weights: Floats | None = None
    clusters: Any = None

    @property
    def given(self) -> dict[str, Any]:
        """Both as keywords."""
        return {"weights": self.weights, "clusters": self.clusters}


class Given(NamedTuple):
    """Values as they were given, by system: (n,) each, or (n_runs, n)."""

    values: dict[str, Floats]
    units: Units
    of_users: bool


def read(values: Any, weights: Any = None, clusters: Any = None, runs: bool = False) -> Given:
    """Read values by system: arrays of equal length, or dicts user -> value with the same users.

    Raises
    ------
    TypeError, ValueError
        For what is no dict of systems, other users in one than in another, NaN.
    """
    if not isinstance(values, Mapping):
        raise TypeError(f"give a dict of system -> values, not {type(values).__name__}")
    if not values:
        raise ValueError("the dict of systems is empty: give system -> values")
    if runs:
        flat = {(name, i): one for name, some in values.items() for i, one in enumerate(some)}
        rows, users = _aligned(flat)
        found = {
            name: np.stack([rows[name, i] for i in range(len(some))])
            for name, some in values.items()
        }
    else:
        found, users = _aligned(values)
    n = next(iter(found.values())).shape[-1]
    units = Units(_by_user(weights, users, n, "weights"), _by_user(clusters, users, n, "clusters"))
    if units.weights is not None:
        units = units._replace(weights=np.asarray(units.weights, np.float64))
    return Given(found, units, users is not None)


def _aligned(values: Mapping[Any, Any]) -> tuple[dict[Any, Floats], list[Any] | None]:
    """Return the values of all systems in one order of users, and the users if they have keys."""
    from toplist.inputs.keyed import counts_rows, is_series

    read: dict[Any, Any] = {}
    for system, one in values.items():
        if is_series(one) and counts_rows(one.index):
            one = one.to_numpy()
        elif is_series(one):
            if not one.index.is_unique:
                twice = one.index[one.index.duplicated()].tolist()[0]
                raise ValueError(
                    f"the Series of {_named(system)} has user {twice!r} twice: one value per user, "
                    "or give .to_numpy() and the users as clusters"
                )
            one = one.to_dict()
        read[system] = one
    keyed = [isinstance(one, Mapping) for one in read.values()]
    first = next(iter(read))
    if all(keyed):
        users = _in_order(list(read[first]))
        for system, one in read.items():
            _same(first, users, system, one)
        lists = {s: [one[user] for user in users] for s, one in read.items()}
        return {s: _floats(s, one, users) for s, one in lists.items()}, users
    if any(keyed):
        raise TypeError("some systems have values by user and some by position: give all alike")
    arrays = {system: _floats(system, one, None) for system, one in read.items()}
    for system, array in arrays.items():
        if len(array) != len(arrays[first]):
            raise ValueError(
                f"{_named(first)} has {len(arrays[first]):,} values and {_named(system)} "
                f"{len(array):,}: give one per user, in one order, or dicts user -> value"
            )
    return arrays, None


def _in_order(users: list[Any]) -> list[Any]:
    """Return users in the order of the words of their keys: no figure depends on another order."""
    from toplist.inputs.words import words_of

    words = words_of(users).tolist() if users else []
    return [user for _, _, user in sorted(zip(words, map(repr, users), users, strict=True))]


def _same(first: Any, users: list[Any], system: Any, values: Mapping[Any, Any]) -> None:
    missing = [user for user in users if user not in values]
    more = len(values) - (len(users) - len(missing))
    if missing or more:
        example = missing[0] if missing else next(u for u in values if u not in set(users))
        raise ValueError(
            f"{_named(system)} has other users than {_named(first)}: {len(missing):,} are missing "
            f"and {more:,} are new, {example!r} first"
        )


def _named(system: Any) -> str:
    return f"run {system[1] + 1} of {system[0]}" if isinstance(system, tuple) else str(system)


def _floats(system: Any, values: Any, users: list[Any] | None) -> Floats:
    """Return values as a float64 array; TypeError or ValueError where they are none."""
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"the values of {_named(system)} are no numbers") from None
    if array.ndim != 1:
        raise ValueError(
            f"the values of {_named(system)} have shape {array.shape}: one per user is needed"
        )
    bad = np.flatnonzero(~np.isfinite(array))
    if len(bad):
        row = int(bad[0])
        user = row if users is None else users[row]
        raise ValueError(f"the value of user {user!r} of {_named(system)} is {array[row]}")
    return array


def _by_user(values: Any, users: list[Any] | None, n: int, what: str) -> Any:
    """Return weights or clusters in the order of the users."""
    if values is None:
        return None
    from toplist.inputs.user_values import values_by_user

    found, _ = values_by_user(values, users, n, what)
    if any(one is None for one in found):
        row = next(i for i, one in enumerate(found) if one is None)
        raise ValueError(f"{what}: user {row if users is None else users[row]!r} has none")
    return found
