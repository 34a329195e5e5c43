"""Tables become lists keyed by user: long ones, ones with a column of lists, and wide ones.

A long table (a row per user and item) needs no work where the rows of a user stand together and in
order. Elsewhere, grouping and ordering are a numbering and one or two passes that put each row in
its place, not a sort.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist import columns as cols
from toplist.columns import Column
from toplist.hits import offsets_of
from toplist.keyed import Keyed, numbered

COLUMNS = ("user_id", "item_id", "rank", "score", "relevance")


def read(frame: Any, side: str, columns: Mapping[str, str] | None) -> Keyed | dict[Any, list[Any]]:
    """Return the lists of a table; rows of Python objects come as a dict user -> list.

    Parameters
    ----------
    frame : table
        user_id and item_id, and on the side of ranks rank (1..n) or score, on that of
        ground_truths, with grades, relevance. Or a row per user, item_id holding its list of ids
        (relevance that of its grades). Or a row per user and a column per rank, 1 to K.
    side : {"ranks", "ground_truths"}
    columns : mapping of these names to the table's own, optional

    Raises
    ------
    TypeError
        For columns of ids that are floats or of two kinds, or of numbers that are text.
    ValueError
        For a missing column, a null, ranks that are not 1..n, a NaN score.
    """
    table = _Table(frame, side, renamed(columns))
    wide = table.wide()
    if wide:
        return _wide(table, wide)
    users = table.ids("user_id")
    name = table.names[table.one_of("item_id")]
    rows = cols.python_lists(frame, name, side)
    if rows is not None:
        return _by_user(users, _graded_rows(table, rows) if table.graded else rows, side)
    lists = cols.lists(frame, name, side)
    if lists is None:
        return _long(table, users)
    offsets, values = lists
    grades = _grades(table, offsets) if table.graded else None
    return Keyed(side, users, cols.ids(values, name, side, offsets), offsets, grades)


def renamed(columns: Mapping[str, str] | None) -> dict[str, str]:
    """Return what each of `COLUMNS` is called in the tables."""
    unknown = [name for name in columns or {} if name not in COLUMNS]
    if unknown:
        raise ValueError(f"columns: {unknown[0]!r} is none of {', '.join(COLUMNS)}")
    return {name: name for name in COLUMNS} | dict(columns or {})


@dataclass(frozen=True, eq=False)
class _Table:
    """One side: a frame, what to call it in messages, and what its columns are called."""

    frame: Any
    side: str
    names: Mapping[str, str]

    @property
    def columns(self) -> list[Any]:
        return cols.names_of(self.frame)

    @property
    def graded(self) -> bool:
        return self.side == "ground_truths" and self.names["relevance"] in self.columns

    def one_of(self, *wanted: str) -> str:
        """Return the first of the wanted columns that is there."""
        for name in wanted:
            if self.names[name] in self.columns:
                return name
        told = " or ".join(repr(self.names[name]) for name in wanted)
        raise ValueError(
            f"{self.side} has no column {told}, but {', '.join(map(repr, self.columns))}; other "
            f"names: columns={{{wanted[0]!r}: '...'}}"
        )

    def ids(self, wanted: str) -> Column:
        return cols.ids(self.frame, self.names[self.one_of(wanted)], self.side)

    def numbers(self, wanted: str) -> NDArray[Any]:
        return cols.numbers(self.frame, self.names[wanted], self.side)

    def wide(self) -> list[Any]:
        """Return the columns 1 to K in order, if the others (but user_id) are these."""
        rest = [name for name in self.columns if name != self.names["user_id"]]
        if not rest or not all(str(name).isdecimal() for name in rest):
            return []
        rest.sort(key=int)
        first = int(rest[0])
        return rest if [int(name) for name in rest] == [*range(first, first + len(rest))] else []


def _wide(table: _Table, ranks: list[Any]) -> Keyed | dict[Any, list[Any]]:
    """Read a row per user and a column per rank; nulls end a list."""
    frame, side = table.frame, table.side
    if table.names["user_id"] in table.columns:
        users = table.ids("user_id")
    else:
        users = cols.index(frame, side)
    arrays = [cols.integers(frame, name) for name in ranks]
    if all(array is not None for array in arrays):
        items = np.stack(arrays, axis=1)  # type: ignore[arg-type]
        offsets = np.arange(len(items) + 1, dtype=np.int64) * len(ranks)
        return Keyed(side, users, Column("item_id", items.ravel()), offsets)
    rows = [list(row) for row in zip(*(cols.objects(frame, name) for name in ranks), strict=True)]
    for user, row in enumerate(rows):
        while row and row[-1] is None:
            row.pop()
        if None in row:
            raise ValueError(
                f"{side}: column {ranks[row.index(None)]!r} is null in row {user}, before a real id"
            )
    return _by_user(users, rows, side)


def _by_user(users: Column, rows: list[Any], side: str) -> dict[Any, Any]:
    keys = users.decoded(users.codes)
    keyed = dict(zip(keys, rows, strict=True))
    if len(keyed) < len(keys):
        first: dict[Any, int] = {}
        second = next(row for row, key in enumerate(keys) if first.setdefault(key, row) != row)
        raise ValueError(
            f"{side}: user {keys[second]!r} stands in rows {first[keys[second]]} and {second}: a "
            "user has one list"
        )
    return keyed


def _graded_rows(table: _Table, rows: list[Any]) -> list[dict[Any, Any]]:
    """Join lists of items, as Python objects, with those of their grades."""
    name = table.names["relevance"]
    grades = cols.python_lists(table.frame, name, table.side) or []
    if list(map(len, grades)) != list(map(len, rows)):
        raise _unlike(table)
    graded = []
    for place, (row, worth) in enumerate(zip(rows, grades, strict=True)):
        graded.append(dict(zip(row, worth, strict=True)))
        if len(graded[-1]) < len(row):
            raise ValueError(f"{table.side}: row {place} holds an item twice, with a grade each")
    return graded


def _unlike(table: _Table) -> ValueError:
    return ValueError(
        f"{table.side}: column {table.names['relevance']!r} must hold a list of grades per user, "
        f"as long as the list in {table.names['item_id']!r}"
    )


def _grades(table: _Table, offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the grades of a column of lists, which are as long as those of the items."""
    name = table.names["relevance"]
    found = cols.lists(table.frame, name, table.side)
    if found is None or not np.array_equal(found[0], offsets):
        raise _unlike(table)
    return cols.numbers(found[1], name, table.side).astype(np.float64)


def _long(table: _Table, users: Column) -> Keyed:
    """Group the rows of a table by user and put them in order."""
    order = table.one_of("rank", "score") if table.side == "ranks" else None
    items = table.ids("item_id")
    groups = _grouped(users)
    if order == "rank":
        items = _by_rank(table, groups, items)
    elif order == "score":
        items = _by_score(table, groups, items)
    grades = table.numbers("relevance").astype(np.float64) if table.graded else None
    if order is None and groups.rows is not None:
        items, moved = _in_order(groups, items, grades)
        grades = None if grades is None else moved
    return Keyed(table.side, groups.users, items, groups.offsets, grades)


@dataclass(frozen=True, eq=False)
class _Groups:
    """The rows of a long table by user: whose they are, and where each user's list goes.

    `rows` holds the number of the user of each row; None where the rows of every user stand
    together, so that nothing has to be moved.
    """

    users: Column
    offsets: NDArray[np.int64]
    rows: NDArray[np.int64] | None

    @property
    def every_row(self) -> NDArray[np.int64]:
        if self.rows is not None:
            return self.rows
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


def _grouped(users: Column) -> _Groups:
    from toplist.kernels import grouping, readonly

    codes = users.codes
    starts = np.flatnonzero(np.concatenate([[len(codes) > 0], codes[1:] != codes[:-1]]))
    (runs,), known, n_users = numbered(codes[starts])
    whose = Column(users.name, known.astype(codes.dtype), users.names)
    ends = np.append(starts, len(codes))
    if n_users == len(starts):
        return _Groups(whose, ends, None)
    rows, counts = np.repeat(runs, np.diff(ends)), np.zeros(n_users, np.int64)
    grouping.count(readonly(rows), counts)
    return _Groups(whose, offsets_of(counts), rows)


def _by_rank(table: _Table, groups: _Groups, items: Column) -> Column:
    from toplist.kernels import grouping, readonly

    values = table.numbers("rank")
    ranks = values.astype(np.int64, copy=False)
    if values.dtype.kind == "f" and not np.array_equal(ranks, values):
        raise ValueError(
            f"{table.side}: column {table.names['rank']!r} holds ranks that are not whole"
        )
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
            f"{table.side}: user {user!r} has ranks {shown} where 1 to {len(found)} belong, each "
            f"once{zero}"
        )
    return replace(items, codes=out.astype(items.codes.dtype, copy=False))


def _by_score(table: _Table, groups: _Groups, items: Column) -> Column:
    from toplist.kernels import grouping, readonly

    scores = table.numbers("score").astype(np.float64, copy=False)
    offsets = readonly(groups.offsets)
    if groups.rows is None and grouping.scores_in_order(readonly(scores, np.float64), offsets):
        return items
    if groups.rows is None:
        moved = replace(items, codes=items.codes.astype(np.int64))
    else:
        moved, scores = _in_order(groups, items, scores)
    at = grouping.sort_by_score(offsets, readonly(scores, np.float64), moved.codes)
    if at >= 0:
        place = int(np.searchsorted(offsets, at, side="right")) - 1
        user = groups.users.decode(groups.users.codes[place])
        raise ValueError(f"{table.side}: user {user!r} has a score that is NaN")
    return replace(moved, codes=moved.codes.astype(items.codes.dtype, copy=False))


def _in_order(
    groups: _Groups, items: Column, values: NDArray[np.float64] | None
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
