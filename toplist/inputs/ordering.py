"""Scores and ids as numbers that order alike: no score is rounded, and ties are broken by item."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.checks import Ints, doubles
from toplist.inputs.factorize import Column, Numbering

EXACT = 2**53  # doubles hold every integer up to here
_TOP = np.uint64(1 << 63)
_BELOW = np.int64(2**63 - 1)


def comparable(scores: NDArray[Any], *, single: bool = False) -> NDArray[Any]:
    """Return numbers as float64 or int64 in the same order, with the same ties.

    Integers stay integers: as floats, those beyond 2^53 would tie. Unsigned ones beyond 2^63 - 1
    are moved down by 2^63. With `single`, float32 stays as it is.

    Examples
    --------
    >>> comparable(np.array([2**64 - 1, 2**63, 0], np.uint64)).tolist()
    [9223372036854775807, 0, -9223372036854775808]
    """
    if single and scores.dtype.type is np.float32:
        return scores.astype(np.float32, copy=False)  # of this machine's byte order
    if scores.dtype.kind not in "biu":
        return scores.astype(np.float64, copy=False)
    if scores.dtype.itemsize == 8 and scores.dtype.kind == "u":
        native = scores.astype(np.uint64, copy=False)
        if native.max(initial=0) >= _TOP:
            return (native ^ _TOP).view(np.int64)
    return scores.astype(np.int64, copy=False)


def by_value(values: Sequence[Any], exact: bool = False) -> NDArray[Any] | None:
    """Return numbers of Python as an array of their values; None where one is no number.

    Of ranks and grades the value counts; of scores only the order, which has to be `exact`: None
    where neither 64 bits nor a double hold it, as of Decimals and floats of 128 bits.

    Examples
    --------
    >>> by_value([3, 0.5, Decimal("0.25")]).tolist(), by_value([2, 1]).tolist()
    ([3.0, 0.5, 0.25], [2, 1])
    >>> by_value([3, True]), by_value([3, None]), by_value([0.5, 2**53 + 1], exact=True)
    (None, None, None)
    >>> by_value([np.longdouble(1)], exact=True) is None
    True
    """
    kinds = set(map(type, values))
    # of floats, those that a double holds, unless rounding does no harm
    floats = (np.float16, np.float32) if exact else (np.floating, Decimal)
    numeric = int, float, np.integer, *floats
    if bool in kinds or not all(issubclass(kind, numeric) for kind in kinds):
        return None
    if all(issubclass(kind, (int, np.integer)) for kind in kinds):
        array = np.array(values)
        if array.dtype.kind in "iu":  # else some need 64 bits and others a sign, or more bits
            return array
    if all(issubclass(kind, (float, np.float32)) for kind in kinds):
        return np.fromiter(values, np.float64, len(values))
    if exact and any(issubclass(kind, (int, np.integer)) for kind in kinds):
        whole = (one for one in values if isinstance(one, (int, np.integer)))
        if any(abs(int(one)) > EXACT for one in whole):
            return None
    return doubles(values)


def as_integers(scores: NDArray[Any]) -> Ints:
    """Return comparable scores as int64 in the same order, with the same ties; none is NaN."""
    if scores.dtype.kind == "i":
        return scores
    bits = (scores + 0.0).view(np.int64)  # -0.0 becomes 0.0
    found: Ints = np.where(bits < 0, bits ^ _BELOW, bits)
    return found


def order_of_ids(items: Column, side: str) -> Ints:
    """Return a number for each id of a column, in the order of the ids: numbers, or code points.

    Raises
    ------
    TypeError
        For ids that have no order.
    """
    if items.names is None:
        return comparable(items.codes)
    if not isinstance(items.names, list):  # looked up by code: of the distinct ones
        numbering = Numbering()
        places = numbering.number(items.codes)
        items = Column(items.name, places, items.decoded(numbering.codes))
    order = places_by_id(items.names, f"{side}: ")
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    found: Ints = places[items.codes]
    return found


def places_by_id(ids: Sequence[Any], where: str, descending: bool = False) -> list[int]:
    """Return the places of ids in their own order; TypeError, which begins `where`, for others."""
    try:
        return sorted(range(len(ids)), key=ids.__getitem__, reverse=descending)
    except TypeError:
        raise TypeError(
            f"{where}ties by item need ids that have an order, numbers or text, unlike {ids[0]!r}"
        ) from None
