"""Equality of what holds arrays: value by value, where NaN equals NaN."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def equal(a: Any, b: Any) -> bool:
    """Return whether two values are equal: numbers, arrays, mappings, tuples, dataclasses.

    Examples
    --------
    >>> nan = float("nan")
    >>> equal((1, np.array([nan, 2.0])), (1, np.array([nan, 2.0]))), equal({"a": nan}, {"a": 1.0})
    (True, False)
    >>> equal(np.ones(1), None), equal(np.ones(1), np.ones(2))
    (False, False)
    """
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return type(a) is type(b) and np.array_equal(a, b, equal_nan=True)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(equal, a, b))
    if is_dataclass(a) and type(a) is type(b):
        return all(equal(getattr(a, one.name), getattr(b, one.name)) for one in fields(a))
    return bool(a == b) or (a != a and b != b)
