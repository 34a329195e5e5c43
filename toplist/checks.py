"""Checks of single options, with their messages."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def whole(value: Any, name: str) -> int:
    """Return `value` if it is a whole number from 1 on."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name} must be a whole number from 1 on, not {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, not {value}")
    return int(value)


def choice(option: str, value: Any, valid: Sequence[str]) -> None:
    """Raise ValueError unless `value` is one of the valid words."""
    if value not in valid:
        raise ValueError(f"{option}={value!r}: choose from {', '.join(map(repr, valid))}")
