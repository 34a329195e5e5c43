"""pandas Series as one side of an evaluation: by position where they count rows, else by key."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from toplist.checks import Keyword, worded
from toplist.inputs.flatten import is_frame

Rows = dict[Any, Any]


class Counted(Rows):
    """The rows of a Series whose index only counts them, 0, 1, 2, ..., as a dict."""


def is_series(value: Any) -> bool:
    """Whether a value is a pandas Series, or works like one."""
    return hasattr(value, "to_dict") and hasattr(value, "index") and not is_frame(value)


def counts_rows(index: Any) -> bool:
    """Return whether an index is pandas' default one: 0, 1, 2, ... of unnamed rows."""
    default = type(index).__name__ == "RangeIndex" and index.name is None
    return default and index.start == 0 and index.step == 1


def beside(ranks: Any, truths: Any) -> tuple[Any, Any]:
    """Return both sides, with a Series as a list or array where the other side has positions.

    A Series that counts its rows has positions. One with keys of its own is left for `keyed_rows`
    beside keys, and refused beside positions.
    """
    sides = {"ranks": ranks, "ground_truths": truths}
    if not any(map(is_series, sides.values())):
        return ranks, truths
    keyed = {name: _has_keys(side) for name, side in sides.items()}
    if any(keyed.values()):
        for name, side in sides.items():
            if not keyed[name] and not is_series(side):
                other = next(one for one in sides if one != name)
                if is_series(sides[other]):
                    raise _refused(other, sides[other], name)
        return ranks, truths
    return _values(ranks), _values(truths)


def _has_keys(side: Any) -> bool:
    if is_series(side):
        return not counts_rows(side.index)
    return isinstance(side, Mapping) or is_frame(side) or hasattr(side, "users")


def _values(side: Any) -> Any:
    if not is_series(side):
        return side
    array = side.to_numpy()
    plain = isinstance(array, np.ndarray) and array.dtype.kind in "iufb"
    return array if plain else side.to_list()


def _refused(name: str, series: Any, other: str) -> TypeError:
    key = series.index[0] if len(series) else "its index"
    return worded(
        TypeError,
        f"{name} is a Series with keys of its own, like {key!r}, but {other} is by position: give "
        f"{name}.to_numpy() if its rows are in the order of {other}, and ",
        Keyword("users"),
        f"{name}.index to name them",
    )


def keyed_rows(series: Any, side: str) -> Rows:
    """Return a Series as a dict; one whose index holds a user twice is refused."""
    if not series.index.is_unique:
        twice = series.index[series.index.duplicated()].tolist()[0]
        raise ValueError(f"{side}: user {twice!r} is in the index twice: a user has one row")
    rows = (Counted if counts_rows(series.index) else dict)(series.to_dict())
    if side == "ranks" and rows and not hasattr(next(iter(rows.values())), "__len__"):
        raise TypeError(
            "ranks is a Series with one id per user: a Series of lists is keyed by its index; one "
            "user's list enters as .to_list()"
        )
    return rows


def refuse_counted(side: str, rows: Any, other: str, users: Any) -> None:
    """Raise TypeError for a Series that counts its rows beside other keys than 0, 1, 2, ..."""
    if not isinstance(rows, Counted):
        return
    known = list(users)
    unknown = [user for user in known if user not in rows]
    if unknown or len(set(known)) < len(rows):
        user = [*unknown, *known, "no user"][0]
        raise TypeError(
            f"{side} is a Series that counts its rows, but {other} has keys, like {user!r}: "
            f"{side}.set_axis(USERS) gives it the users of its rows"
        )


def unique_items(series: Any, name: str) -> Rows:
    """Return a Series of values by item as a dict; ValueError for an item that is there twice."""
    if not series.index.is_unique:
        twice = series.index[series.index.duplicated()].tolist()[0]
        raise ValueError(
            f"{name}: item {twice!r} is in the index of the Series twice; "
            f"{name}.groupby(level=0).sum() adds up counts"
        )
    rows: Rows = series.to_dict()
    return rows
