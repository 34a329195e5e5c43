"""Timestamps of any kind as integers or floats that compare as the times do, exactly.

Numbers are kept. Dates and times stay integers in the unit they came in, whatever it is; text, and
objects such as datetimes, become integers in a unit that holds the last decimal of all of them. So
no two times are rounded to one, and the order of a log is the same whether its times come from a
table, an array or a text file.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from fractions import Fraction

_EPOCH = datetime(1970, 1, 1)
# How libraries print a missing value.
_NOTHING = {"", "nat", "<na>", "nan", "none", "null"}
# The exponent is short: no time needs 10^1000, and to write one out would take all memory.
_NUMBER = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,3}))?")
# Seconds with decimals, of ISO text: datetime.fromisoformat drops all after the sixth.
_DECIMALS = re.compile(r"([^.,]{7,10}[^0-9.,](?:[0-9:]{8}|[0-9]{6}))[.,]([0-9]+)(Z|[+-][0-9:]+)?")
# Where the point of decimals is in 2011-11-01T00:00:00.5.
_POINT = 19
# Characters of the longest text that can be a time.
_LONGEST = 400

_SECONDS = {"W": 604_800, "D": 86_400, "h": 3_600, "m": 60, "s": 1}
_PARTS = {"ms": 3, "us": 6, "ns": 9, "ps": 12, "fs": 15, "as": 18}
_MONTHS = {"Y": 12, "M": 1}


class Unit(NamedTuple):
    """What times count: so many months, or else a fraction of a second, or of a bare number.

    Examples
    --------
    >>> Unit(7, 1000), Unit(12, months=True)
    (Unit(size=7, per=1000, months=False), Unit(size=12, per=1, months=True))
    """

    size: int = 1
    per: int = 1
    months: bool = False

    @classmethod
    def of(cls, dtype: Any) -> Unit:
        """Return the unit of a datetime64 dtype, which may count several: datetime64[10s]."""
        name, count = np.datetime_data(dtype)
        if name in _MONTHS:
            return cls(count * _MONTHS[name], months=True)
        return cls(count * _SECONDS.get(name, 1), 10 ** _PARTS.get(name, 0))

    def ceil(self, exact: Fraction) -> int:
        """Return the first count that is not before a time (of dates: in seconds since 1970)."""
        if self.months:
            return -(-_month(exact) // self.size)
        return math.ceil(exact * self.per / self.size)

    def exact(self, n: int) -> Fraction:
        """Return n of them, of dates in seconds."""
        from fractions import Fraction

        if self.months:
            return Fraction(_days(n * self.size) * 86_400)
        return Fraction(n * self.size, self.per)


def _days(month: int) -> int:
    """Return the days from 1970-01-01 to the first of a month; months count from January 1970.

    Years are counted from March, so that the leap day is the last (Hinnant, "chrono-compatible
    low-level date algorithms"); exact for any year.
    """
    year, of_year = divmod(month + 10, 12)  # years from March 1969 on
    year += 1969
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * of_year + 2) // 5 - 719_468


def _month(seconds: Fraction) -> int:
    """Return the first month that does not begin before a time."""
    day = seconds / 86_400
    month = math.floor(day * 4_800 / 146_097)  # 400 years: all begin on the same days
    while _days(month) >= day:
        month -= 1
    while _days(month) < day:
        month += 1
    return month


_ONE = Unit()


@dataclass(frozen=True, eq=False)
class Times:
    """Times of rows: int64, uint64 or float64; `missing` flags rows without a time.

    `dated`: they count `unit` since 1970, and are not numbers in a unit of the caller; `zoned`:
    they had a time zone. Where `levels` are given, they are places in these, in order: counts
    beyond 64 bits.
    """

    values: NDArray[Any]
    missing: NDArray[np.bool_]
    dated: bool
    zoned: bool = False
    unit: Unit = _ONE
    levels: list[int] | None = None

    @property
    def ordinals(self) -> NDArray[np.int64]:
        """The times as integers in the same order."""
        if self.values.dtype == np.int64:
            return self.values
        codes: NDArray[np.int64] = np.unique(self.values, return_inverse=True)[1].astype(np.int64)
        return codes

    def since(self, instant: Instant) -> NDArray[np.bool_]:
        """Flag the times that are not before an instant, exactly."""
        first: Any = None
        if self.values.dtype.kind == "f":
            first = _float_from(instant.exact)
        else:
            first = self.unit.ceil(instant.exact)
            if self.levels is not None:
                first = bisect_left(self.levels, first)
            limits = np.iinfo(self.values.dtype)
            if first > limits.max:
                return np.zeros(len(self.values), bool)
            first = max(int(first), limits.min)
        found: NDArray[np.bool_] = self.values >= self.values.dtype.type(first)
        return found


def _float_from(exact: Fraction) -> float:
    """Return the least float that is not below a number."""
    try:
        nearest = float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
    return nearest if nearest >= exact else math.nextafter(nearest, math.inf)


class Instant(NamedTuple):
    """One time, exactly: a number, or of a date the seconds since 1970."""

    exact: Fraction
    dated: bool
    zoned: bool


def times_of(values: Any) -> Times:
    """Read a column of times.

    Parameters
    ----------
    values : array or list
        Numbers, dates, datetimes, or text of either.

    Raises
    ------
    TypeError, ValueError
        For values that are no times, for numbers and dates in one column, and for times with and
        without a time zone.

    Examples
    --------
    >>> times_of(["1970-01-01 00:00:01", "1970-01-01T01:00:00.5"]).values.tolist()
    [1000000, 3600500000]
    >>> times_of([3, None, 1]).missing.tolist()
    [False, True, False]
    """
    array = values if isinstance(values, np.ndarray) else _as_array(values)
    if array is not None and array.dtype.kind in "iu":
        wide = np.uint64 if array.dtype.kind == "u" and array.dtype.itemsize == 8 else np.int64
        return Times(array.astype(wide, copy=False), np.zeros(len(array), bool), dated=False)
    if array is not None and array.dtype.kind == "f":
        if np.isinf(array).any():
            row = int(np.flatnonzero(np.isinf(array))[0])
            raise ValueError(f"row {row}: {_refused(array[row].item())}")
        return Times(array.astype(np.float64), np.isnan(array), dated=False)
    if array is not None and array.dtype.kind == "M":
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        return Times(native.view(np.int64), np.isnat(array), dated=True, unit=Unit.of(native.dtype))
    return _parsed(list(values) if array is None else array.tolist())


def _as_array(values: Sequence[Any]) -> NDArray[Any] | None:
    """Return Python's integers and floats as an array, if it holds them exactly."""
    kinds = set(map(type, values))
    if not kinds <= {int, float}:
        return None
    if kinds == {int} and min(values) >= -(1 << 63) and max(values) < 1 << 63:
        return np.array(values, np.int64)
    if float in kinds and all(type(one) is float or abs(one) <= 1 << 53 for one in values):
        return np.array(values, np.float64)
    return None


def instant(value: Any) -> Instant | None:
    """Read one time, for example a threshold; None for a missing one."""
    found = _parse(value)
    if found is None:
        return None
    exact = Unit(per=10**found.decimals).exact(found.ticks)
    return Instant(exact, found.zoned is not None, bool(found.zoned))


class _Time(NamedTuple):
    """A number, or seconds since 1970: ticks / 10^decimals; `zoned` is None of a number."""

    ticks: int
    decimals: int = 0
    zoned: bool | None = None


def _parsed(values: Sequence[Any]) -> Times:
    """Read times one by one, each distinct value once."""
    distinct, codes = _distinct(values)
    parsed = []
    for place, value in enumerate(distinct):
        try:
            parsed.append(_parse(value))
        except ValueError as error:
            row = int(np.argmax(codes == place))
            raise ValueError(f"row {row}: {error}") from None
    present = [(place, one) for place, one in enumerate(parsed) if one is not None]
    kinds = {one.zoned is not None: distinct[place] for place, one in present}
    if len(kinds) > 1:
        raise TypeError(f"timestamps of two kinds: {kinds[False]!r} and {str(kinds[True])!r}")
    zones = {one.zoned for _, one in present}
    if len(zones) > 1:
        raise TypeError("timestamps with a time zone and timestamps without one in one column")
    decimals = max((one.decimals for _, one in present), default=0)
    counts = [0 if one is None else one.ticks * 10 ** (decimals - one.decimals) for one in parsed]
    missing, levels = np.array([one is None for one in parsed], bool)[codes], None
    try:
        found = np.array(counts, np.int64)
    except OverflowError:
        levels = [count for count, _ in groupby(sorted(counts))]
        found = np.array([bisect_left(levels, count) for count in counts], np.int64)
    dated, unit = True in kinds, Unit(per=10**decimals)
    return Times(found[codes], missing, dated, zones == {True}, unit, levels)


def _distinct(values: Sequence[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the distinct values, and where among them each value is."""
    kinds = set(map(type, values))
    if bool in kinds or np.bool_ in kinds:  # they would hide among 0 and 1
        row = next(row for row, one in enumerate(values) if isinstance(one, (bool, np.bool_)))
        raise ValueError(f"row {row}: {_refused(values[row])}")
    if int in kinds and any(type(one) is int and abs(one) >> 64 for one in values):
        # Python's hash of integers is their remainder: they can be chosen to share one
        return list(values), np.arange(len(values))
    numbers: dict[Any, int] = {}
    codes = [numbers.setdefault(value, len(numbers)) for value in values]
    return list(numbers), np.array(codes, np.int64)


def _parse(value: Any) -> _Time | None:
    """Return a time, or None for a missing value."""
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else _of_numpy(value)
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return _Time(int(value))
    if isinstance(value, (float, np.floating)) and math.isfinite(value):
        numerator, denominator = value.as_integer_ratio()
        twos = denominator.bit_length() - 1  # n / 2^t = n 5^t / 10^t
        return _Time(numerator * 5**twos, twos)
    if type(value) is datetime:
        return _of_datetime(value)
    text = value.isoformat() if hasattr(value, "isoformat") else str(value).strip()
    if text.lower() in _NOTHING:
        return None
    found = None
    if text.isascii() and len(text) <= _LONGEST and not isinstance(value, (bool, np.bool_)):
        found = _iso(text) if text[4:5] == "-" else _plain_number(text) or _iso(text)
    if found is None:
        raise _refused(value)
    return found


def _refused(value: Any) -> ValueError:
    return ValueError(f"timestamp {value!r:.60} is neither a number nor an ISO 8601 date")


def _of_numpy(value: np.datetime64) -> _Time:
    unit = Unit.of(value.dtype)
    count = int(value.view(np.int64))
    if unit.months:
        return _Time(int(unit.exact(count)), 0, zoned=False)
    return _Time(count * unit.size, len(str(unit.per)) - 1, zoned=False)


def _plain_number(text: str) -> _Time | None:
    """Return the number that ASCII text is: sign, digits, point, exponent."""
    match = _NUMBER.fullmatch(text)
    if match is None or not (match[2] or match[3]):
        return None
    decimals = (match[3] or "").rstrip("0")
    count = int(match[1] + (match[2] or "") + decimals or "0")
    shift = len(decimals) - int(match[4] or 0)
    return _Time(count * 10 ** max(0, -shift), max(0, shift))


def _iso(text: str) -> _Time | None:
    """Return the date or time of ISO 8601 text, with all decimals of its seconds."""
    point, decimals = text.replace(",", ".").find("."), ""
    if point >= 0 and (point != _POINT or len(text) > _POINT + 7):
        match = _DECIMALS.fullmatch(text)
        if match is None:  # decimals of minutes, say, which datetime takes for seconds
            return None
        text, decimals = match[1] + (match[3] or ""), match[2].rstrip("0")
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    if decimals:
        scale = int("1" + "0" * len(decimals))
        return _Time(_of_date(found, 1) * scale + int(decimals), len(decimals), _zoned(found))
    return _of_datetime(found)


def _of_datetime(value: datetime) -> _Time:
    if value.microsecond:
        return _Time(_of_date(value, 1_000_000) + value.microsecond, 6, _zoned(value))
    return _Time(_of_date(value, 1), 0, _zoned(value))


def _of_date(value: datetime, scale: int) -> int:
    """Return the whole seconds since 1970, times a scale."""
    since = (value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)) - _EPOCH
    return (since.days * 86_400 + since.seconds) * scale


def _zoned(value: datetime) -> bool:
    return value.tzinfo is not None
