"""The rows of a long table, brought together by user and put in order."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.inputs.factorize import Column, Numbering
from toplist.inputs.lists import offsets_of


@dataclass(frozen=True, eq=False)
class Groups:
    """The rows of a long table by user: whose they are, and where each user's list goes.

    `rows` holds the number of the user of each row; None where the rows of every user stand
    together, so that nothing has to be moved.
    """

    users: Column
    offsets: NDArray[np.int64]
    rows: NDArray[np.int64] | None

    @property
    def every_row(self) -> NDArray[np.int64]:
        """The number of the user of each row."""
        if self.rows is not None:
            return self.rows
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


def grouped(users: Column, adjacent: bool = False) -> Groups:
    """Group the rows of a table by the column of users; only those that stand together, if so."""
    from toplist.kernels import grouping, readonly

    codes = users.codes
    starts = np.flatnonzero(np.concatenate([[len(codes) > 0], codes[1:] != codes[:-1]]))
    ends = np.append(starts, len(codes))
    if adjacent:
        return Groups(Column(users.name, codes[starts], users.names), ends, None)
    numbering = Numbering()
    runs = numbering.number(codes[starts])
    whose = Column(users.name, numbering.codes.astype(codes.dtype), users.names)
    n_users = len(numbering)
    if n_users == len(starts):
        return Groups(whose, ends, None)
    rows, counts = np.repeat(runs, np.diff(ends)), np.zeros(n_users, np.int64)
    grouping.count(readonly(rows), counts)
    return Groups(whose, offsets_of(counts), rows)


def by_rank(side: str, ranks: NDArray[Any], groups: Groups, items: Column) -> Column:
    """Return the items of every user by rank; ValueError for ranks that are not 1..n."""
    from toplist.kernels import grouping, readonly

    given, ranks = ranks, ranks.astype(np.int64, copy=False)
    if given.dtype.kind == "f" and not np.array_equal(ranks, given):
        raise ValueError(f"{side}: the column of ranks holds some that are not whole")
    offsets = readonly(groups.offsets)
    if groups.rows is None and grouping.ranks_in_order(readonly(ranks), offsets):
        return items
    rows = readonly(groups.every_row)
    out, taken = np.empty(len(ranks), np.int64), np.zeros(len(ranks), np.uint8)
    at = grouping.place_by_rank(rows, readonly(ranks), readonly(items.codes), offsets, taken, out)
    if at >= 0:
        found = np.sort(ranks[rows == rows[at]])
        shown = ", ".join(map(str, found[:8])) + (", ..." if len(found) > 8 else "")
        zero = "; ranks start at 1" if found[0] == 0 else ""
        user = groups.users.decode(groups.users.codes[rows[at]])
        raise ValueError(
            f"{side}: user {user!r} has ranks {shown} where 1 to {len(found)} belong, each "
            f"once{zero}"
        )
    return replace(items, codes=out.astype(items.codes.dtype, copy=False))


def by_score(side: str, scores: NDArray[Any], groups: Groups, items: Column) -> Column:
    """Return the items of every user by score, falling; equal scores keep their order."""
    from toplist.kernels import grouping, readonly

    scores = scores.astype(np.float64, copy=False)
    offsets = readonly(groups.offsets)
    if groups.rows is None and grouping.scores_in_order(readonly(scores, np.float64), offsets):
        return items
    if groups.rows is None:
        moved = replace(items, codes=items.codes.astype(np.int64))
    else:
        moved, scores = in_order(groups, items, scores)
    at = grouping.sort_by_score(offsets, readonly(scores, np.float64), moved.codes)
    if at >= 0:
        place = int(np.searchsorted(offsets, at, side="right")) - 1
        user = groups.users.decode(groups.users.codes[place])
        raise ValueError(f"{side}: user {user!r} has a score that is NaN")
    return replace(moved, codes=moved.codes.astype(items.codes.dtype, copy=False))


def in_order(
    groups: Groups, items: Column, values: NDArray[np.float64] | None
) -> tuple[Column, NDArray[np.float64]]:
    """Return items and values grouped by user, in the order of the table."""
    from toplist.kernels import grouping, readonly

    out = np.empty(len(items.codes), np.int64)
    beside = np.empty(0 if values is None else len(items.codes))
    given = readonly(np.empty(0) if values is None else values, np.float64)
    ends = groups.offsets[:-1].copy()
    grouping.place_in_order(
        readonly(groups.every_row), readonly(items.codes), given, ends, out, beside
    )
    return replace(items, codes=out.astype(items.codes.dtype, copy=False)), beside
