"""`Log`: who chose what, and when; from a table, arrays or a file.

Parts of a log are returned in the form in which it was given.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.checks import Keyword, header_hint, no_columns, worded
from toplist.inputs import dataframes as cols
from toplist.inputs.factorize import Column, Numbering, numbered_by
from toplist.inputs.ids import kinds_of
from toplist.inputs.objects import opened
from toplist.inputs.options import renamed
from toplist.loo.timestamps import Times, times_of

COLUMNS = ("user_id", "item_id", "timestamp")
# Gives rows back in the caller's form.
Take = Callable[[NDArray[np.int64]], Any]


@dataclass(frozen=True, eq=False)
class Ids(Column):
    """A column of ids whose codes count 0, 1, ... in order of appearance; a name for every code."""

    names: list[Any]

    @classmethod
    def of(cls, column: Column) -> Ids:
        """Return the ids of any column, numbered."""
        numbering = Numbering()
        codes = numbering.number(column.codes)
        known = numbering.codes.astype(column.codes.dtype)
        return cls(column.name, codes, column.decoded(known))


@dataclass(frozen=True, eq=False)
class Log:
    """An interaction log: a row per choice. `take(rows)` gives rows back in the caller's form."""

    users: Ids
    items: Ids
    times: Times | None
    take: Take

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.users.codes)

    @property
    def known_times(self) -> Times | None:
        """The times, if there is one in every row."""
        return None if self.times is None or self.times.missing.any() else self.times

    def by_user(self, rows: Any = slice(None)) -> dict[Any, list[Any]]:
        """Return the items of each user, in the order of the rows; of some rows if given."""
        users, items = self.users, self.items
        found: dict[Any, list[Any]] = {}
        for user, item in zip(users.codes[rows].tolist(), items.codes[rows].tolist(), strict=True):
            found.setdefault(users.names[user], []).append(items.names[item])
        return found


def read_log(log: Any, columns: Mapping[str, str] | None = None) -> Log:
    """Read a log in any accepted form.

    Parameters
    ----------
    log : table, dict of columns, tuple of columns, or path
        A table of pandas, polars or pyarrow, or a dict of arrays or lists, with columns user_id,
        item_id and, where times matter, timestamp; a tuple (users, items) or (users, items,
        times) of arrays or lists; the path of a CSV, TSV (also .gz) or Parquet file.
    columns : mapping, optional
        The log's own names of user_id, item_id and timestamp.

    Raises
    ------
    TypeError, ValueError
        For other forms, a missing column, columns of different length, an id that is null or of
        another kind than the others.
    """
    names = renamed(columns, COLUMNS)
    if isinstance(log, (str, os.PathLike)):
        # gzip and csv: an eighth of the import of toplist
        from toplist.files.tables import read_table

        return read_log(read_table(log), columns)
    log = opened(log, "log")
    if cols.is_frame(log):
        return _of_frame(cols.readable(log), names)
    if isinstance(log, Mapping):
        return _of_columns(log, names, partial(_columns_at, log))
    if isinstance(log, tuple) and len(log) in (2, 3):
        named = dict(zip(COLUMNS, log, strict=False))
        return _of_columns(named, renamed(None, COLUMNS), partial(_tuple_at, log))
    raise TypeError(
        f"a log is a table, a dict of columns, a tuple (users, items, times) of columns, or the "
        f"path of a file, not a {type(log).__name__}"
    )


def _of_frame(frame: Any, names: Mapping[str, str]) -> Log:
    found = cols.names_of(frame)
    _require(names, found)
    users, items = (Ids.of(cols.ids(frame, names[name], "log")) for name in COLUMNS[:2])
    times = None
    if names["timestamp"] in found:
        times = times_of(cols.values(frame, names["timestamp"]))
        kind = cols.type_of(frame, names["timestamp"])
        zone = any(getattr(kind, name, None) for name in ("tz", "time_zone"))
        times = replace(times, zoned=times.zoned or zone)

    return Log(users, items, times, partial(cols.take, frame))


def _of_columns(log: Mapping[str, Any], names: Mapping[str, str], take: Take) -> Log:
    _require(names, list(log))
    sizes = {name: len(column) for name, column in log.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"log: columns of different length, {sizes}")
    users, items = (_numbered(log[names[name]], name) for name in COLUMNS[:2])
    times = times_of(log[names["timestamp"]]) if names["timestamp"] in log else None
    return Log(users, items, times, take)


# Functions of a module, and none inside a function, so that a split can be pickled.
def _columns_at(log: Mapping[str, Any], rows: NDArray[np.int64]) -> dict[str, Any]:
    return {name: _selected(column, rows) for name, column in log.items()}


def _tuple_at(log: tuple[Any, ...], rows: NDArray[np.int64]) -> tuple[Any, ...]:
    return tuple(_selected(column, rows) for column in log)


def _selected(column: Any, rows: NDArray[np.int64]) -> Any:
    if isinstance(column, np.ndarray):
        return column[rows]
    return type(column)(map(column.__getitem__, rows.tolist()))


def _require(names: Mapping[str, str], found: Collection[Any]) -> None:
    absent = [name for name in COLUMNS[:2] if names[name] not in found]
    if absent:
        raise worded(
            ValueError,
            f"log has {no_columns([repr(names[name]) for name in absent])}"
            f"{header_hint([names[name] for name in absent], found)}; it has "
            f"{', '.join(map(repr, found)) or 'none'}; other names: ",
            Keyword("columns", dict.fromkeys(absent, "...")),
        )


def _numbered(values: Any, name: str) -> Ids:
    """Return the ids of an array or a list, numbered."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        return Ids.of(Column(name, values))
    if not isinstance(values, (list, tuple, range, np.ndarray)) or np.ndim(values) > 1:
        raise TypeError(f"log: column {name!r} is a {type(values).__name__}: give an array or list")
    as_list = values.tolist() if isinstance(values, np.ndarray) else values
    empty = next((row for row, value in enumerate(as_list) if value is None or value == ""), None)
    if empty is not None:
        raise ValueError(f"log: column {name!r} is empty in row {empty}")
    kinds_of(as_list, f"log, column {name!r}")
    places: dict[Any, int] = {}
    return Ids(name, numbered_by(places, as_list)[0], list(places))
