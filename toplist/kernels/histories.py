"""Rows of a log: ordered by time within every user, repeats counted."""

from typing import Any

import numpy as np
from numpy import int64

from toplist.kernels import kernel, steps


def order_within(offsets: Any, times: Any, numbers: Any, rows: Any) -> None:
    """Order the rows of every user by time, and rows of one time by their numbers.

    Parameters
    ----------
    offsets : int64 (n_users + 1,)
        User u's rows are ``rows[offsets[u]:offsets[u + 1]]``.
    times, numbers : int64, by row
    rows : int64, written
    """
    for lo, hi in steps(offsets):
        _order_within(offsets[lo : hi + 1], times, numbers, rows)


@kernel
def _order_within(offsets: int64, times: int64, numbers: int64, rows):
    for u in range(len(offsets) - 1):
        part = rows[offsets[u] : offsets[u + 1]]
        for key in (numbers, times):  # each sort keeps the order of equal rows
            rising = True
            for i in range(1, len(part)):
                rising &= key[part[i - 1]] <= key[part[i]]
            if not rising:
                part[:] = part[np.argsort(key[part], kind="mergesort")]


def occurrences(offsets: Any, items: Any, rows: Any, nth: Any, later: Any) -> None:
    """Count how often the item of a row occurs in earlier and later rows of its user.

    Parameters
    ----------
    offsets, rows : int64, as `order_within` leaves them
    items : int64, by row
    nth, later : int64, by row, written
    """
    for lo, hi in steps(offsets):
        _occurrences(offsets[lo : hi + 1], items, rows, nth, later)


@kernel
def _occurrences(offsets: int64, items: int64, rows: int64, nth, later):
    for u in range(len(offsets) - 1):
        part = rows[offsets[u] : offsets[u + 1]]
        part = part[np.argsort(items[part], kind="mergesort")]
        begin = 0
        for i in range(1, len(part) + 1):
            if i == len(part) or items[part[i]] != items[part[begin]]:
                for j in range(begin, i):
                    nth[part[j]] = j - begin
                    later[part[j]] = i - 1 - j
                begin = i
