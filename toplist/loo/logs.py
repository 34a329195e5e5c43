"""`Log`: who chose what, and when; from a table, arrays or a file, parts in the form it was given.

Timestamps of any kind are numbers that compare as the times do. Numbers are kept: integers exactly,
others as float64. Dates and times become nanoseconds since 1970 in int64, as numpy's
``datetime64[ns]``, so the order of a log is the same whether its times come from a table, an array
or a text file.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toplist.checks import LARGEST_INT, Bools, Ints, cached, no_mask, prefixed, require
from toplist.inputs import columns as cols
from toplist.inputs.factorize import Column, by_value, numbered, numbered_by
from toplist.inputs.objects import to_builtin
from toplist.inputs.options import renamed

COLUMNS = ("user_id", "item_id", "timestamp")

# Nanoseconds of day, hour, minute and second; and of all units of a length of time.
UNITS = [seconds * 10**9 for seconds in (86_400, 3_600, 60, 1)]
_NAMED = dict(zip(("d", "h", "min", "s"), UNITS, strict=True))
_NAMED |= {"w": 7 * UNITS[0], "ms": 10**6, "us": 10**3, "ns": 1}
_DURATION = re.compile(f"([0-9]{{1,18}})({'|'.join(_NAMED)})")
_EPOCH = datetime(1970, 1, 1)
# How libraries print a missing value.
_NOTHING = {"", "nat", "<na>", "nan", "none", "null"}
# Seconds with decimals, of ISO text: datetime.fromisoformat drops all after the sixth, and takes
# decimals of minutes for seconds.
_DECIMALS = re.compile(r"([^.,]{7,10}[^0-9.,](?:[0-9:]{8}|[0-9]{6}))[.,]([0-9]+)(Z|[+-][0-9:]+)?")


@dataclass(frozen=True, eq=False)
class Times:
    """Times of rows: int64, uint64 or float64; `missing` flags rows without a time.

    `dated`: they are nanoseconds since 1970, and not numbers in a unit of the caller; `zoned`:
    they had a time zone.
    """

    values: NDArray[Any]
    missing: Bools
    dated: bool
    zoned: bool = False

    @property
    def kind(self) -> str:
        """What they are, in messages."""
        return "dates" if self.dated else "numbers"

    def limit(self, time: Any) -> float:
        """Return the first number of their kind that is not before a time, any of Python."""
        return float(time) if self.values.dtype.kind == "f" else math.ceil(time)

    def since(self, time: Any) -> Bools:
        """Flag the times that are not before a time."""
        found: Bools = self.values >= self.limit(time)
        return found

    def written(self, value: Any) -> Any:
        """Return a number as it is, and nanoseconds as ISO text, to be read again by `instant`."""
        number = value.numerator if value.denominator == 1 else float(value)
        if not self.dated:
            return number
        at = np.datetime64(min(int(number), LARGEST_INT), "ns")
        short = (at.astype(f"M8[{unit}]") for unit in ("D", "s", "us", "ns")[self.zoned :])
        return f"{next(one for one in short if one == at)}{'+00:00' if self.zoned else ''}"


class Instant(NamedTuple):
    """One time: a number, or of a date the nanoseconds since 1970."""

    value: int | float
    dated: bool = False
    zoned: bool = False


@dataclass(frozen=True, eq=False)
class Log:
    """An interaction log: a row per choice.

    The codes of `users` and of `items` count 0, 1, ... in order of appearance, and each has a name.
    `given` are the rows in the caller's form; `rows`, if any, those of them that are left.
    """

    users: Column
    items: Column
    times: Times | None
    given: Any
    rows: Ints | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.users.codes)

    @property
    def known_times(self) -> Times | None:
        """The times, if there is one in every row."""
        return None if self.times is None or self.times.missing.any() else self.times

    @cached
    def ordinals(self) -> Ints:
        """Integers in the order of the times; all 0 without one in every row."""
        times = self.known_times
        if times is None:
            return np.zeros(len(self), np.int64)
        if times.values.dtype == np.int64:
            return times.values
        return np.unique(times.values, return_inverse=True)[1].astype(np.int64, copy=False)

    def take(self, rows: Ints) -> Any:
        """Return some rows in the caller's form."""
        rows = rows if self.rows is None else self.rows[rows]
        if cols.is_frame(self.given):
            return cols.take(self.given, rows)
        named = isinstance(self.given, Mapping)
        taken = [
            column[rows]
            if isinstance(column, np.ndarray)
            else type(column)(map(column.__getitem__, rows.tolist()))
            for column in (self.given.values() if named else self.given)
        ]
        return dict(zip(self.given, taken, strict=True)) if named else tuple(taken)

    def only(self, rows: Ints) -> Log:
        """Return the log of some rows, its ids numbered anew."""
        users, items = (
            _numbered(Column(ids.name, ids.codes[rows], ids.names))
            for ids in (self.users, self.items)
        )
        of = self.times
        if of is not None:
            of = replace(of, values=of.values[rows], missing=of.missing[rows])
        return Log(users, items, of, self.given, rows)

    def by_user(self, rows: Any = slice(None)) -> dict[Any, list[Any]]:
        """Return the items of each user, in the order of the rows; of some rows if given."""
        users, items = self.users, self.items
        found: dict[Any, list[Any]] = {}
        for user, item in zip(users.codes[rows].tolist(), items.codes[rows].tolist(), strict=True):
            found.setdefault(users.names[user], []).append(items.names[item])
        return found


def read_log(
    log: Any,
    columns: Mapping[str, str] | None = None,
    timed: bool = False,
    where: str = "log",
    side: str = "",
) -> Log:
    """Read a log in any accepted form.

    Parameters
    ----------
    log : table, dict of columns, tuple of columns, or path
        A table of pandas, polars or pyarrow, or a dict of arrays or lists, with columns user_id,
        item_id and, where times matter, timestamp; a tuple (users, items) or (users, items,
        times) of arrays or lists; the path of a CSV, TSV (also .gz) or Parquet file.
    columns : mapping, optional
        The log's own names of user_id, item_id and timestamp.
    timed : bool
        Whether every row must have a time, as all rules except "random" need.
    where : str
        The argument, for messages.
    side : str
        What its own names of columns are given by, for messages; "" where they are given alone.

    Raises
    ------
    TypeError, ValueError
        For other forms, a missing column, columns of different length, an id that is null or of
        another kind than the others, a missing time.
    """
    names = renamed(columns, COLUMNS)
    if isinstance(log, (str, os.PathLike)):
        # gzip and csv: an eighth of the import of toplist
        from toplist.files.tables import read_table

        log, where = read_table(log), os.fspath(log)
    log = to_builtin(log, where)
    is_frame, named = cols.is_frame(log), log
    if is_frame:
        log = named = cols.readable(log)
        found = cols.names_of(log)
    elif isinstance(log, Mapping):
        found = list(log)
    elif isinstance(log, tuple) and len(log) in (2, 3):
        if columns:
            raise TypeError(f"{where} is a tuple of columns, without names: leave columns= out")
        named = dict(zip(COLUMNS, log, strict=False))
        found = list(named)
    else:
        forms = "a table, a dict of columns, a tuple (users, items, times) of columns, or a path"
        raise TypeError(f"{where} is {forms}, not a {type(log).__name__}")
    needed = COLUMNS if timed else COLUMNS[:2]
    absent = {name: "NAME" for name in needed if names[name] not in found}
    ours = {side: absent} if side else absent
    ways = f"columns={ours!r} names {'others' if len(absent) > 1 else 'another'}"
    ways += "; by='random' needs no timestamp" * ("timestamp" in absent)
    require(where, [names[name] for name in needed], found, ways)
    (user, item, time), times = (names[name] for name in COLUMNS), None
    for name in () if is_frame else (user, item, time):
        if name in found:
            no_mask(named[name], f"{where}, column {name!r}")
    read = partial(cols.read, log) if is_frame else partial(_read, named)
    users, items = (_numbered(read(name, where).ids()) for name in (user, item))
    if time in found:
        try:
            times = times_of(np.asarray(log[time]) if is_frame else named[time])
        except (TypeError, ValueError) as error:
            raise prefixed(f"{where}, column {time!r}: ", error) from None
        kind = cols.read(log, time).kind if is_frame else None
        zone = any(getattr(kind, name, None) for name in ("tz", "time_zone"))
        times = replace(times, zoned=times.zoned or zone)
    if not is_frame and len({*map(len, named.values())}) > 1:
        sizes = {name: len(column) for name, column in named.items()}
        raise ValueError(f"{where}: columns of different length, {sizes}")
    if timed and times is not None and (missing := np.flatnonzero(times.missing)).size:
        first = f"row {missing[0]}, of user {users.names[users.codes[missing[0]]]!r}"
        lacks = f"{first}, has no timestamp ({len(missing):,} such rows)"
        raise ValueError(f"{where}: {lacks}: leave them out, or hold out with by='random'")
    return Log(users, items, times, log)


def _numbered(column: Column) -> Column:
    """Return ids by codes that count 0, 1, ... in order of appearance, with a name for each."""
    codes, distinct = numbered(column.codes)
    return Column(column.name, codes, column.decoded(distinct))


def _read(columns: Mapping[str, Any], name: str, where: str) -> cols.Cells:
    """Return a column that is an array or a list."""
    values, kind = columns[name], type(columns[name]).__name__
    if not isinstance(values, (list, tuple, range, np.ndarray)):
        raise TypeError(f"{where}, column {name!r} is a {kind}: give an array or list")
    if not (isinstance(values, np.ndarray) and values.dtype.kind in "iu" and values.ndim == 1):
        values = values.tolist() if isinstance(values, np.ndarray) else list(values)
        if {list, tuple} & {*map(type, values)}:
            row = next(one for one in values if isinstance(one, (list, tuple)))
            words = f"holds {row!r:.60}, a {type(row).__name__}: give integers or text"
            raise TypeError(f"{where}, column {name!r} {words}, one per row")
    return cols.Cells(name, values, kind, side=where)


def times_of(values: Any) -> Times:
    """Read a column of times.

    Parameters
    ----------
    values : array or list
        Numbers, dates, datetimes, or text of either.

    Raises
    ------
    TypeError, ValueError
        For values that are no times, or that 64 bits do not hold; for numbers and dates in one
        column, and for times with and without a time zone.

    Examples
    --------
    >>> times_of(["1970-01-01 00:00:01", "1970-01-01T01:00:00.5"]).values.tolist()
    [1000000000, 3600500000000]
    >>> times_of([3, None, 1]).missing.tolist()
    [False, True, False]
    """
    if not isinstance(values, np.ndarray):
        plain = set(map(type, values)) <= {int, float}
        return times_of(_numbers(values)) if plain else _parsed(values)
    if values.dtype.kind in "iu":
        wide = np.uint64 if values.dtype == np.uint64 else np.int64
        return Times(values.astype(wide, copy=False), np.zeros(len(values), bool), dated=False)
    if values.dtype.kind == "f":
        if np.isinf(values).any():
            row = int(np.flatnonzero(np.isinf(values))[0])
            raise ValueError(f"row {row}: {_refused(values[row].item())}")
        return Times(values.astype(np.float64), np.isnan(values), dated=False)
    if values.dtype.kind == "M":
        return Times(_nanoseconds(values), np.isnat(values), dated=True)
    return _parsed(values.tolist())


def _numbers(values: Sequence[int | float]) -> NDArray[Any]:
    """Return integers exactly, and others as floats."""
    found = by_value(values, exact=True)
    if found is not None:
        return found
    bits, beside = (53, "decimals") if float in {*map(type, values)} else (63, "others")
    whole = ((row, value) for row, value in enumerate(values) if type(value) is int)
    row, value = next(one for one in whole if not -(1 << bits) <= one[1] < 1 << bits)
    beyond = f"is beyond {bits} bits beside {beside}: give integers below 2^63 alone"
    raise ValueError(f"row {row}: timestamp {value} {beyond}")


def instant(value: Any) -> Instant | None:
    """Read one time, for example a threshold; None for a missing one."""
    if isinstance(value, np.datetime64):
        if np.isnat(value):
            return None
        return Instant(int(_nanoseconds(np.array([value]), "")[0]), dated=True)
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return Instant(int(value))
    if isinstance(value, (float, np.floating)) and math.isfinite(value):
        return Instant(float(value))
    text = str(value).strip()  # of dates and times, of any library: ISO
    if text.lower() in _NOTHING:
        return None
    found = None
    if text.isascii() and not isinstance(value, (bool, np.bool_)):
        for kind in () if "_" in text else (int, float):
            with suppress(ValueError):
                found = found or Instant(kind(text))
        if found is None or not abs(found.value) < math.inf:  # nor is NaN
            found = _iso(text)
    if found is None:
        raise _refused(value)
    return found


def duration(value: Any) -> Instant | None:
    """Read a length of time: a number, or nanoseconds (`dated`); None for anything else.

    Examples
    --------
    >>> duration("2h"), duration(7.5), duration("soon")
    (Instant(value=7200000000000, dated=True, zoned=False),
     Instant(value=7.5, dated=False, zoned=False), None)
    """
    if isinstance(value, np.timedelta64):
        unit, count = np.datetime_data(value.dtype)
        name = {"W": "w", "D": "d", "m": "min"}.get(unit, unit)
        value = f"{int(value.astype(np.int64)) * count}{name}"
    if isinstance(value, timedelta):
        seconds = value.days * 86_400 + value.seconds
        rest = value.microseconds * 1_000 + getattr(value, "nanoseconds", 0)
        return Instant(seconds * 10**9 + rest, dated=True)
    match = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if match:
        return Instant(int(match[1]) * _NAMED[match[2]], dated=True)
    try:
        found = instant(value)
    except ValueError:
        return None
    return None if found is None or found.dated else found


def _parsed(values: Sequence[Any]) -> Times:
    """Read times one by one, each distinct value once."""
    kinds = set(map(type, values))
    if bool in kinds or np.bool_ in kinds:  # they would hide among 0 and 1
        row = next(row for row, one in enumerate(values) if isinstance(one, (bool, np.bool_)))
        raise ValueError(f"row {row}: {_refused(values[row])}")
    numbers: dict[Any, int] = {}
    codes, rows = numbered_by(numbers, values)
    parsed = []
    for row, value in zip(rows.tolist(), numbers, strict=True):
        try:
            parsed.append(instant(value))
        except ValueError as error:
            raise ValueError(f"row {row}: {error}") from None
    present = {one[1:]: value for one, value in zip(parsed, numbers, strict=True) if one}
    of_kind = {dated: value for (dated, _), value in present.items()}
    if len(of_kind) > 1:
        raise TypeError(f"timestamps of two kinds: {of_kind[False]!r} and {str(of_kind[True])!r}")
    if len(present) > 1:
        raise TypeError("timestamps with a time zone and timestamps without one in one column")
    dated, zoned = next(iter(present), (False, False))
    found = _numbers([0 if one is None else one.value for one in parsed])
    missing = np.array([one is None for one in parsed], bool)
    return Times(found[codes], missing[codes], dated, zoned)


def _refused(value: Any) -> ValueError:
    return ValueError(f"timestamp {value!r:.60} is neither a number nor an ISO 8601 date")


def _nanoseconds(array: NDArray[Any], where: str = "row {}: ") -> NDArray[np.int64]:
    """Return datetime64 of any unit as nanoseconds; ValueError where they cannot hold it."""
    found = array.astype("datetime64[ns]", copy=False)
    lost = (found.astype(array.dtype, copy=False) != array) & ~np.isnat(array)
    if lost.any():
        row = int(np.argmax(lost))
        raise ValueError(f"{where.format(row)}{_beyond(array[row])}")
    return found.view(np.int64)


def _beyond(value: Any) -> ValueError:
    return ValueError(
        f"timestamp {str(value)!r:.60}: dates are kept in nanoseconds, from 1677-09-22 to "
        "2262-04-11; give others as integers, such as seconds since 1970"
    )


def _iso(text: str) -> Instant | None:
    """Return the date or time of ISO 8601 text, with all decimals of its seconds."""
    plain, decimals = text, "0"
    if "." in text or "," in text:
        match = _DECIMALS.fullmatch(text)
        if match is None:
            return None
        plain, decimals = match[1] + (match[3] or ""), match[2].rstrip("0")
    try:
        found = datetime.fromisoformat(plain)
    except ValueError:
        return None
    zoned = found.tzinfo is not None
    since = (found.astimezone(UTC).replace(tzinfo=None) if zoned else found) - _EPOCH
    count = (since.days * 86_400 + since.seconds) * 10**9 + int(decimals[:9].ljust(9, "0"))
    if len(decimals) > 9 or not -(2**63) < count < 2**63:
        raise _beyond(text)
    return Instant(count, dated=True, zoned=zoned)
