"""Numbers in files: the one rule for how they are written, and arrays that hold them exactly.

A number is an ASCII sign, ASCII digits, a point and an exponent, spaces or tabs around it.
Whatever else Python reads as a number (``1_0``, full-width and Arabic digits, ``inf``, ``nan``) is
none. Without point and exponent it is an integer, of any size; else a double.
"""

import math
import re
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.inputs.factorize import EXACT as EXACT

Number = int | float

LARGEST = sys.float_info.max

# What Python reads as a number, and is written with these characters alone, is one.
_FOREIGN = re.compile(r"[^0-9+\-.eE \t]")
_foreign = _FOREIGN.search


def parse(text: str) -> Number | None:
    """Return the number that a text is by the rule, None for another text; 1e999 is infinite.

    Examples
    --------
    >>> parse("17"), parse(" -1.5e3 "), parse("1_7"), parse("inf")
    (17, -1500.0, None, None)
    """
    if _foreign(text):
        return None
    whole = not ("." in text or "e" in text or "E" in text)
    try:
        return int(text) if whole else float(text)
    except ValueError:
        return None


def way_out(value: Any) -> str:
    """Return what a message adds for what Python takes for a number and the rule does not.

    Examples
    --------
    >>> way_out("1_0"), way_out("ten")
    (': write ASCII digits, as in 12, -0.5 or 1e-3', '')
    """
    try:
        looks = isinstance(value, str) and math.isfinite(float(value)) and parse(value) is None
    except ValueError:
        return ""
    return ": write ASCII digits, as in 12, -0.5 or 1e-3" if looks else ""


def packed(values: Sequence[Number]) -> NDArray[Any]:
    """Return numbers as int64 or float64 where none loses a digit by it, else as objects.

    Examples
    --------
    >>> [packed(some).dtype.name for some in ([1, 2**60], [1, 0.5], [2**60, 0.5], [2**70])]
    ['int64', 'float64', 'object', 'object']
    """
    types = set(map(type, values))
    if types == {int}:
        try:
            return np.array(values, np.int64)
        except OverflowError:
            return _objects(values)
    if types == {float, int} and any(type(v) is int and not -EXACT <= v <= EXACT for v in values):
        return _objects(values)
    return np.array(values, np.float64)


def _objects(values: Sequence[Number]) -> NDArray[Any]:
    found = np.empty(len(values), object)
    found[:] = values
    return found


def together(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return `packed` parts as one array that holds every number exactly.

    Examples
    --------
    >>> together([packed([2**53 + 1]), packed([0.5])]).tolist(), together([packed([7])]).dtype.name
    ([9007199254740993, 0.5], 'int64')
    """
    kinds = {part.dtype.kind for part in parts}
    if len(kinds) > 1 and not ("O" not in kinds and all(map(_fits, parts))):
        parts = [part.astype(object) for part in parts]
    return np.concatenate(parts)


def _fits(part: NDArray[Any]) -> bool:
    """Whether every number of a part is exact as a double."""
    return part.dtype.kind == "f" or bool(np.all(np.abs(part) <= EXACT))
