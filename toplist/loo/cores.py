"""The k-core of a log: what is left when users and items with few rows are removed, repeatedly."""

from typing import Any, NamedTuple

import numpy as np

from toplist.checks import Ints, check_positive_int, counted

# Rows that each user and each item needs: one number for both, or one each.
KCore = int | tuple[int, int]


class Core(NamedTuple):
    """What was left out of a log to get its k-core. Printed, it is a line of a report.

    Attributes
    ----------
    k_users, k_items : int
        The rows that each user and each item has at least.
    n_rows, n_users, n_items : int
        How many were left out.

    Examples
    --------
    >>> from toplist import loo
    >>> log = [1, 1, 2, 2, 3], [5, 6, 5, 6, 5], [1, 2, 3, 4, 5]
    >>> print(loo.leave_one_out(log, k_core=2).report.core)
    k-core (users 2, items 2): 1 row, 1 user and 0 items left out
    """

    k_users: int
    k_items: int
    n_rows: int
    n_users: int
    n_items: int

    def __str__(self) -> str:
        """Return what was left out, in words."""
        users, items = counted(self.n_users, "user"), counted(self.n_items, "item")
        left_out = f"{counted(self.n_rows, 'row')}, {users} and {items} left out"
        return f"k-core (users {self.k_users}, items {self.k_items}): {left_out}"


def core_of(users: Ints, items: Ints, k: Any) -> tuple[Ints, Core]:
    """Return the rows of the k-core, ascending, and what was left out.

    The k-core is the largest set of rows of which every user has k_users and every item k_items;
    the order of removal does not matter.

    Raises
    ------
    ValueError
        For another k than a whole number or two, or if nothing is left.
    """
    both = k if isinstance(k, (tuple, list)) else (k, k)
    if len(both) != 2:
        raise ValueError(f"k_core={k!r}: give k, or (k_users, k_items)")
    of_users, of_items = (check_positive_int(one, "k_core") for one in both)
    before, rows = _sizes(users, items), np.arange(len(users))
    while True:
        few = np.bincount(users)[users] < of_users
        few |= np.bincount(items)[items] < of_items
        if not few.any():
            break
        rows, users, items = (one[~few] for one in (rows, users, items))
    if before[0] and not len(rows):
        raise ValueError(f"k_core={k!r} leaves nothing of {counted(before[0], 'row')}")
    left_out = (b - a for b, a in zip(before, _sizes(users, items), strict=True))
    return rows, Core(of_users, of_items, *left_out)


def _sizes(*ids: Ints) -> list[int]:
    """Return the number of rows, of users and of items."""
    return [len(ids[0]), *(int(np.count_nonzero(np.bincount(one))) for one in ids)]
