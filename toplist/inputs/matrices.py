"""Ground truths that look like a users x items matrix of 0 and 1, read as ids."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from toplist.inputs.flatten import name_user
from toplist.inputs.lists import Lists

# Ids that are looked at before all are.
FIRST = 64


def refuse_matrix(truth: Lists, users: Sequence[Any] | None) -> None:
    """Raise ValueError for integer ids that are all 0 or 1, where a row holds one of them twice.

    A set of ids holds each once, so this is a row of a matrix, or nothing that can be told from it.

    Examples
    --------
    >>> refuse_matrix(Lists([0, 3], [0, 1, 1]), None)
    Traceback (most recent call last):
        ...
    ValueError: ground_truths: user 0 has 1 twice, and all ids are 0 or 1: if this is a matrix of \
users x items, give Lists.from_matrix(matrix); if 0 and 1 are ids, give each once, as sets
    """
    items = truth.items
    if np.any(items[:FIRST] >> 1) or np.any(items >> 1):
        return
    ones = np.diff(np.concatenate([[0], np.cumsum(items)])[truth.offsets])
    zeros = np.diff(truth.offsets) - ones
    rows = np.flatnonzero((ones > 1) | (zeros > 1))
    if len(rows):
        user = int(rows[0])
        raise ValueError(
            f"ground_truths: {name_user(users, user)} has {int(ones[user] > 1)} twice, and all ids "
            "are 0 or 1: if this is a matrix of users x items, give Lists.from_matrix(matrix); if "
            "0 and 1 are ids, give each once, as sets"
        )
