"""Timestamps of any kind as numbers that can be compared: to the microsecond, in UTC.

Numbers are kept. Dates and times, and ISO 8601 text of them, become microseconds since 1970; text
of numbers becomes numbers. So the order of a log is the same whether its times come from a table,
an array or a text file.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

_EPOCH = datetime(1970, 1, 1)
# How libraries print a missing value.
_NOTHING = {"", "nat", "<na>", "nan", "none", "null"}


@dataclass(frozen=True, eq=False)
class Times:
    """Times of rows: int64, or float64 if some are floats; `missing` flags rows without a time.

    `dated`: they are microseconds since 1970, not numbers in a unit of the caller; `zoned`: they
    had a time zone.
    """

    values: NDArray[Any]
    missing: NDArray[np.bool_]
    dated: bool
    zoned: bool = False

    @property
    def ordinals(self) -> NDArray[np.int64]:
        """The times as integers in the same order."""
        if self.values.dtype == np.int64:
            return self.values
        codes: NDArray[np.int64] = np.unique(self.values, return_inverse=True)[1].astype(np.int64)
        return codes


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
    >>> times_of(["1970-01-01 00:00:01", "1970-01-01T01:00:00+01:00"][:1]).values.tolist()
    [1000000]
    >>> times_of([3, None, 1]).missing.tolist()
    [False, True, False]
    """
    array = values if isinstance(values, np.ndarray) else None
    if array is not None and array.dtype == np.uint64 and array.max(initial=0) >= 2**63:
        raise ValueError(f"timestamp {array.max()} is beyond 64 bits")
    if array is not None and array.dtype.kind in "iu":
        return Times(array.astype(np.int64), np.zeros(len(array), bool), dated=False)
    if array is not None and array.dtype.kind == "f":
        if np.isinf(array).any():
            raise ValueError("timestamp inf is neither a number nor an ISO 8601 date")
        return Times(array.astype(np.float64), np.isnan(array), dated=False)
    if array is not None and array.dtype.kind == "M":
        return Times(array.astype("datetime64[us]").view(np.int64), np.isnat(array), dated=True)
    return _parsed(values if array is None else array.tolist())


def instant(value: Any) -> Times:
    """Read one time, for example a threshold."""
    return times_of(value.reshape(1) if isinstance(value, np.datetime64) else [value])


def _parsed(values: Iterable[Any]) -> Times:
    """Read times one by one, each distinct value once."""
    numbers: dict[Any, int] = {}
    codes = np.array([numbers.setdefault(value, len(numbers)) for value in values], np.int64)
    parsed = [_parse(value) for value in numbers]
    present = [one for one in parsed if one is not None]
    dates = [one for one in present if isinstance(one, datetime)]
    if dates and len(dates) < len(present):
        number = next(one for one in present if not isinstance(one, datetime))
        raise TypeError(f"timestamps of two kinds: {number!r} and {dates[0].isoformat()!r}")
    if len({one.tzinfo is None for one in dates}) > 1:
        raise TypeError("timestamps with a time zone and timestamps without one in one column")
    filled = [_number(0 if one is None else one) for one in parsed]
    dtype = np.float64 if any(isinstance(one, float) for one in filled) else np.int64
    missing = np.array([one is None for one in parsed], bool)
    try:
        found = np.array(filled, dtype)[codes]
    except OverflowError:
        raise ValueError(f"timestamp {max(filled, key=abs)} is beyond 64 bits") from None
    zoned = any(one.tzinfo is not None for one in dates)
    return Times(found, missing[codes], dated=bool(dates), zoned=zoned)


def _parse(value: Any) -> int | float | datetime | None:
    """Return a number, a datetime, or None for a missing value."""
    text = value.isoformat() if hasattr(value, "isoformat") else str(value).strip()
    if text.lower() in _NOTHING:
        return None
    for read in (int, float, datetime.fromisoformat):
        try:
            found: int | float | datetime = read(text)
        except ValueError:
            continue
        if not isinstance(value, bool) and (read is not float or math.isfinite(float(text))):
            return found
    raise ValueError(f"timestamp {value!r:.60} is neither a number nor an ISO 8601 date")


def _number(one: int | float | datetime) -> int | float:
    """Return a time as a number: microseconds since 1970 of a datetime."""
    if not isinstance(one, datetime):
        return one
    naive = one if one.tzinfo is None else one.astimezone(UTC).replace(tzinfo=None)
    since = naive - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
