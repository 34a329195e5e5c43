"""Read the values of systems: arrays in one order of users, or dicts, Series, tables by user.

A Series that counts its rows has no users. It is taken by position where something says that these
are alike: beside arrays, and of the columns of one table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from toplist.checks import Floats, Ints, doubles
from toplist.comparing.samples import Rows
from toplist.inputs import columns as cols
from toplist.inputs.keyed import counts_rows, is_series, keys_of, values_by_user
from toplist.inputs.lists import first_repeat, is_frame, name_user
from toplist.inputs.objects import to_builtin
from toplist.inputs.texts import hashes_of
from toplist.stats.units import Units, numbered, weights_of

# The column of users in a table.
USER = "user_id"


@dataclass(frozen=True, eq=False)
class OwnValues(Rows):
    """Values as they were given, by system: (n,) each, or (n_runs, n)."""

    found: Mapping[str, Floats]
    units: Units
    of_users: bool
    n_runs: tuple[int, ...] = ()

    def values(self, system: str, name: str) -> Floats:
        """Return those of a system, whatever they are called."""
        return self.found[system]


def read(
    values: Any,
    weights: Any = None,
    clusters: Any = None,
    runs: bool = False,
    users: Any = None,
    ndim: int = 1,
) -> OwnValues:
    """Read values by system: arrays of equal length, or dicts user -> value with the same users.

    `users` are the keys of the rows of arrays. Users of weight 0 are left out. Values of two
    dimensions are curves.

    Raises
    ------
    TypeError, ValueError
        For what is no dict of systems, other users in one than in another, NaN.
    """
    if not isinstance(values, Mapping):
        raise TypeError(f"give a dict of system -> values, not {type(values).__name__}")
    if not values:
        raise ValueError("the dict of systems is empty: give system -> values")
    flat: Mapping[Any, Any] = values
    if runs:
        flat = {(name, i): one for name, some in values.items() for i, one in enumerate(some)}
    found, users = _aligned(flat, users, ndim)
    n = len(next(iter(found.values())))
    if runs:
        found = {
            name: np.stack([found[name, i] for i in range(len(some))])
            for name, some in values.items()
        }
    w, places = by_user(weights, users, n, "weights"), None
    if clusters is not None:
        places = numbered(by_user(clusters, users, n, "clusters"), users)
    if w is not None:
        w = weights_of(w, n, users, zeros=True)
        some = np.asarray(w > 0)  # a weight of 0 counts nothing
        found = {name: one[..., some] for name, one in found.items()}
        n, w, places = int(some.sum()), w[some], None if places is None else places[some]
    n_runs = tuple(map(len, found.values())) if runs else ()
    return OwnValues(found, Units.of(n, w, places), users is not None, n_runs)


def _aligned(
    values: Mapping[Any, Any], keys: Any = None, ndim: int = 1
) -> tuple[dict[Any, Floats], list[Any] | None]:
    """Return the values of all systems in one order of users, and the users if they have keys.

    `keys` are those of the rows of arrays.
    """
    read: dict[Any, Any] = {system: _opened(system, one) for system, one in values.items()}
    if keys is None:
        _check_not_counted(read)
    for system, one in read.items() if keys is not None else ():
        if not isinstance(one, Mapping):
            rows = np.asarray(one).tolist()
            read[system] = dict(zip(keys_of(keys, len(rows)), rows, strict=True))
    keyed, first = {isinstance(one, Mapping) for one in read.values()}, next(iter(read))
    users: list[Any] | None = None
    if len(keyed) > 1:
        raise TypeError(
            "some systems have values by user and some by position: give all alike, by user or, if "
            "their order is the same, as arrays"
        )
    if keyed == {True}:
        given = list(read[first])
        users = [given[place] for place in order_of(given).tolist()]
        for system, one in read.items():
            missing, known = [user for user in users if user not in one], set(users)
            more = [user for user in one if user not in known]
            if missing or more:
                raise ValueError(
                    f"{_named(system)} has other users than {_named(first)}: {len(missing):,} are "
                    f"missing and {len(more):,} are new, {[*missing, *more][0]!r} first"
                )
            read[system] = [one[user] for user in users]
    found = {system: _floats(system, one, users, ndim) for system, one in read.items()}
    for system, array in found.items():
        if array.shape != found[first].shape:
            n, m = (" x ".join(f"{n:,}" for n in one.shape) for one in (found[first], array))
            raise ValueError(
                f"{_named(first)} has {n} values and {_named(system)} {m}: give one per user, in "
                "one order, or dicts user -> value"
            )
    return found, users


def order_of(keys: Sequence[Any]) -> Ints:
    """Return the places of keys in the order of their words, so that no figure hangs on another."""
    words = hashes_of(keys) if keys else np.empty(0, np.uint64)
    order: Ints = np.argsort(words, kind="stable")
    if np.any(np.diff(words[order]) == 0):  # two keys of one word
        order = np.array(sorted(range(len(keys)), key=lambda i: (int(words[i]), repr(keys[i]))))
    return order


def _opened(system: Any, values: Any) -> Any:
    """Return a table, and a Series with keys of its own, as a dict; all else as it is."""
    place = system if isinstance(system, tuple) else (system,)
    name = "values" + "".join(f"[{part!r}]" for part in place)
    values = to_builtin(values, name)
    if hasattr(values, "collect"):  # lazy
        raise TypeError(f"{name} is a {type(values).__name__}: give {name}.collect()")
    if is_frame(values):
        users, found = _of_table(system, values)
    elif not is_series(values) or counts_rows(values.index):
        return values
    else:
        users, found = values.index.tolist(), values.tolist()
    if twice := first_repeat(users):
        raise ValueError(
            f"the {'table' if is_frame(values) else 'Series'} of {_named(system)} has user "
            f"{users[twice[0]]!r} twice: one value per user, or give the values alone, "
            ".to_numpy(), and the users as clusters"
        )
    return dict(zip(users, found, strict=True))


def _of_table(system: Any, table: Any) -> tuple[list[Any], list[Any]]:
    """Return the users of a table, and its one column of values."""
    frame = cols.readable(table)
    names = cols.names_of(frame)
    found, pandas = [name for name in names if name != USER], hasattr(table, "iloc")
    if len(names) == 2 and len(found) == 1:
        return cols.read(frame, USER).objects(), cols.read(frame, found[0]).objects()
    way = f"{USER} and one column of values"
    if USER in names and found:
        both = f"[{USER!r}, {found[0]!r}]"
        way += f", such as table[{both}]" if pandas else f", such as table.select({both})"
    elif pandas and found:
        way += f"; or, if its index has the users, table[{found[0]!r}]"
    raise TypeError(
        f"the values of {_named(system)} are a table of {', '.join(map(repr, names))}: give {way}"
    )


def _check_not_counted(read: Mapping[Any, Any]) -> None:
    """Raise TypeError for Series that count their rows, where nothing says whose rows these are."""
    counted = {system: one for system, one in read.items() if is_series(one)}
    keyed = next((one for one in read.values() if isinstance(one, Mapping) and one), None)
    if not counted or (keyed is None and len(counted) < len(read)):
        return
    first, *others = counted
    whose = f"the values of {_named(first)} are a Series that counts its rows, "
    by_user = f"make each Series of a table by user, table.set_index({USER!r})[COLUMN]"
    if keyed is not None:
        raise TypeError(f"{whose}but the users have keys, like {next(iter(keyed))!r}: {by_user}")
    for other in others:
        if not counted[first].index.is_(counted[other].index):  # not columns of one table
            raise TypeError(
                f"{whose}as those of {_named(other)} do, and nothing says that both tables have "
                f"one order of users: {by_user}; or give .to_numpy() of each, if they have"
            )


def _named(system: Any) -> str:
    if not isinstance(system, tuple):
        return str(system)
    name, part = system
    return f"{part} of {name}" if isinstance(part, str) else f"run {part + 1} of {name}"


def _floats(system: Any, values: Any, users: list[Any] | None, ndim: int) -> Floats:
    """Return values as a float64 array; TypeError or ValueError where they are none."""
    try:
        array = doubles(values)
    except (TypeError, ValueError):
        raise TypeError(f"the values of {_named(system)} are no numbers") from None
    if array.ndim != ndim:
        needed = "one per user is" if ndim == 1 else "users x k are"
        raise ValueError(
            f"the values of {_named(system)} have shape {array.shape}: {needed} needed"
        )
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        user, value = name_user(users, int(bad[0][0])), array[tuple(bad[0])]
        raise ValueError(f"the value of {user} of {_named(system)} is {value}")
    return array


def by_user(values: Any, users: Sequence[Any] | None, n: int, what: str) -> Any:
    """Return weights or clusters in the order of the users."""
    if values is None:
        return None
    by_key = is_series(values) or is_frame(values) or isinstance(values, Mapping)
    if users is not None and not by_key:
        raise TypeError(
            f"{what} are by position, but the values are by user, like "
            f"{next(iter(users), 'none')!r}: give a dict user -> value"
        )
    return values_by_user(values, users, n, what)[0]
