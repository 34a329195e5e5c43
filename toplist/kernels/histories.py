"""Rows of a log: ordered by time within every user, repeats counted."""

import numpy as np
from numpy import int64

from toplist.kernels import in_steps


@in_steps
def order_within(offsets: int64, times: int64, numbers: int64, rows):
    """Order the rows of every user by time, and rows of one time by their numbers.

    Parameters
    ----------
    offsets : int64 (n_users + 1,)
        User u's rows are ``rows[offsets[u]:offsets[u + 1]]``.
    times, numbers : int64, by row
    rows : int64, written
    """
    for u in range(len(offsets) - 1):
        part = rows[offsets[u] : offsets[u + 1]]
        for key in (numbers, times):  # each sort keeps the order of equal rows
            rising = True
            for i in range(1, len(part)):
                rising &= key[part[i - 1]] <= key[part[i]]
            if not rising:
                part[:] = part[np.argsort(key[part], kind="mergesort")]


@in_steps
def occurrences(offsets: int64, items: int64, rows: int64, nth, later):
    """Count how often the item of a row occurs in earlier and later rows of its user.

    Parameters
    ----------
    offsets, rows : int64, as `order_within` leaves them
    items : int64, by row
    nth, later : int64, by row, written
    """
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
