"""Long tables: a row per user and item, with a rank or a score, or a relevance.

Two tables become lists in the order in which users first appear in the truth. Grouping and
ordering are a numbering and one or two passes that put each row in its place, not a sort.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist import columns as cols
from toplist.admitted import Admitted
from toplist.columns import Column
from toplist.flat import Flat
from toplist.grades import Grading, apply
from toplist.hits import offsets_of
from toplist.lists import Lists

COLUMNS = ("user_id", "item_id", "rank", "score", "relevance")


def admit_tables(
    ranks: Any, truths: Any, k: int | None, grading: Grading, columns: Mapping[str, str] | None
) -> Admitted:
    """Admit two long tables."""
    for side, value in (("ranks", ranks), ("ground_truths", truths)):
        if not cols.is_frame(value):
            other = "ground_truths" if side == "ranks" else "ranks"
            raise TypeError(
                f"{other} is a table keyed by user, {side} is a {type(value).__name__}: give both "
                "as tables, or both as dicts"
            )
    users, ranked, truth, n_extra = align(ranks, truths, columns)
    lengths = ranked.lengths if k is None else np.minimum(ranked.lengths, k)
    return Admitted(
        ranked=Lists(ranked.offsets, ranked.ids),
        lengths=lengths,
        truth=apply(Lists(truth.offsets, truth.ids, truth.grades), truth, grading, users),
        grading=grading,
        depth=int(lengths.max(initial=0)) if k is None else k,
        users=users,
        single=False,
        n_extra=n_extra,
        sources=(ranked, truth),
        hashed=False,
    )


def align(
    ranks: Any, truths: Any, columns: Mapping[str, str] | None
) -> tuple[list[Any], Flat, Flat, int]:
    """Bring two long tables into lists: users, ranked and relevant ids of each, users left over.

    Parameters
    ----------
    ranks, truths : tables
        Of pandas, polars or pyarrow. `ranks` has user_id, item_id and rank (1..n) or score;
        `truths` has user_id, item_id and, with grades, relevance.
    columns : mapping of these names to the tables' own, optional

    Raises
    ------
    TypeError
        For columns of ids that are floats or of two kinds, or of numbers that are text.
    ValueError
        For a missing column, a null, ranks that are not 1..n, a NaN score, no common user.
    """
    names = _renamed(columns)
    table, truth = _Table(ranks, "ranks", names), _Table(truths, "ground_truths", names)
    order = table.one_of("rank", "score")
    graded = names["relevance"] in truth.columns
    grades = truth.numbers(names["relevance"]) if graded else None
    item_ids = _alike(table.ids("item_id"), truth.ids("item_id"))
    user_ids = _alike(table.ids("user_id"), truth.ids("user_id"))
    (rows, truth_rows), known, n_users = _numbered(*user_ids)
    users = [user_ids[1].decode(code) for code in known[:n_users]]
    if len(rows) and n_users and int(rows.min()) >= n_users:
        raise ValueError(
            f"no user is in both: ranks has {user_ids[0].decode(known[n_users])!r}, "
            f"ground_truths has {users[0]!r}"
        )
    lists = _ranked(table, order, rows, item_ids[0], n_users, users)
    relevant = _in_order(truth_rows, item_ids[1], n_users, grades)
    sides = _flat("ranks", lists, item_ids[0]), _flat("ground_truths", relevant, item_ids[1])
    return users, *sides, len(known) - n_users


@dataclass(frozen=True, eq=False)
class _Table:
    """One side: a frame, what to call it in messages, and what its columns are called."""

    frame: Any
    side: str
    names: Mapping[str, str]

    @property
    def columns(self) -> list[Any]:
        return cols.names_of(self.frame)

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

    def numbers(self, name: str) -> NDArray[Any]:
        return cols.numbers(self.frame, name, self.side)


def _renamed(columns: Mapping[str, str] | None) -> dict[str, str]:
    unknown = [name for name in columns or {} if name not in COLUMNS]
    if unknown:
        raise ValueError(f"columns: {unknown[0]!r} is none of {', '.join(COLUMNS)}")
    return {name: name for name in COLUMNS} | dict(columns or {})


def _alike(a: Column, b: Column) -> tuple[Column, Column]:
    """Return two columns whose codes are equal exactly where the ids are."""
    if (a.names is None) != (b.names is None):
        raise TypeError(
            f"column {b.name!r} holds ids of two kinds, {_example(a)} in ranks and {_example(b)} "
            "in ground_truths: they are never equal; convert one side"
        )
    if a.names is None or b.names is None:
        return _same_width(a, b)
    place = {name: code for code, name in enumerate(b.names)}
    codes = np.array([place.setdefault(name, len(place)) for name in a.names], np.int64)
    names = list(place)
    return Column(a.name, codes[a.codes] if len(codes) else a.codes, names), Column(
        b.name, b.codes, names
    )


def _example(column: Column) -> str:
    return repr(column.decode(column.codes[0])) if len(column.codes) else "no id"


def _same_width(a: Column, b: Column) -> tuple[Column, Column]:
    """Bring integers to int64; beyond it, to codes."""
    top = np.iinfo(np.int64).max
    if all(c.codes.dtype != np.uint64 or c.codes.max(initial=0) <= top for c in (a, b)):
        return Column(a.name, a.codes.astype(np.int64)), Column(b.name, b.codes.astype(np.int64))
    columns = []
    for column in (a, b):
        values, codes = np.unique(column.codes, return_inverse=True)
        columns.append(Column(column.name, codes, values.tolist()))
    return _alike(*columns)


def _numbered(
    ranked: Column, truth: Column
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64], int]:
    """Return the users as numbers in order of appearance, the truth's first.

    The numbers of both columns, the code of each number, and how many the truth has.
    """
    from toplist.kernels import grouping, readonly

    n = len(ranked.codes) + len(truth.codes)
    table, known = np.full(1 << (2 * n + 1).bit_length(), -1, np.int64), np.empty(n, np.int64)
    rows = np.empty(len(ranked.codes), np.int64), np.empty(len(truth.codes), np.int64)
    n_users = grouping.number(readonly(truth.codes), table, known, 0, rows[1])
    n_known = grouping.number(readonly(ranked.codes), table, known, n_users, rows[0])
    return rows, known[:n_known], n_users


def _ranked(
    table: _Table,
    order: str,
    rows: NDArray[np.int64],
    items: Column,
    n_users: int,
    users: list[Any],
) -> Lists:
    from toplist.kernels import grouping, readonly

    values = table.numbers(table.names[order])
    if order == "score":
        lists = _in_order(rows, items, n_users, values)
        scores = readonly(np.empty(0) if lists.gains is None else lists.gains, np.float64)
        at = grouping.sort_by_score(readonly(lists.offsets), scores, lists.items)
        if at >= 0:
            user = int(np.searchsorted(lists.offsets, at, side="right")) - 1
            raise ValueError(f"ranks: user {users[user]!r} has a score that is NaN")
        return Lists(lists.offsets, lists.items)
    whole = values.astype(np.int64)
    if values.dtype.kind == "f" and not np.array_equal(whole, values):
        raise ValueError(f"ranks: column {table.names[order]!r} holds ranks that are not whole")
    offsets = _offsets(rows, n_users)
    out = np.empty(offsets[-1], np.int64)
    at = grouping.place_by_rank(
        *(readonly(rows), readonly(whole), readonly(items.codes), readonly(offsets)),
        *(np.zeros(len(out), np.uint8), out),
    )
    if at >= 0:
        user = rows[at]
        found = np.sort(whole[rows == user])
        shown = ", ".join(map(str, found[:8])) + (", ..." if len(found) > 8 else "")
        zero = "; ranks start at 1" if found[0] == 0 else ""
        raise ValueError(
            f"ranks: user {users[user]!r} has ranks {shown} where 1 to {len(found)} belong, each "
            f"once{zero}"
        )
    return Lists(offsets, out)


def _offsets(rows: NDArray[np.int64], n_users: int) -> NDArray[np.int64]:
    from toplist.kernels import grouping, readonly

    counts = np.zeros(n_users, np.int64)
    grouping.count(readonly(rows), counts)
    return offsets_of(counts)


def _in_order(
    rows: NDArray[np.int64], items: Column, n_users: int, values: NDArray[Any] | None
) -> Lists:
    """Return the items of every row in the order of the table, with the values as gains."""
    from toplist.kernels import grouping, readonly

    offsets = _offsets(rows, n_users)
    out = np.empty(offsets[-1], np.int64)
    beside = np.empty(0 if values is None else offsets[-1])
    given = readonly(np.empty(0) if values is None else values, np.float64)
    grouping.place_in_order(
        *(readonly(rows), readonly(items.codes), given, offsets[:-1].copy(), out, beside)
    )
    return Lists(offsets, out, None if values is None else beside)


def _flat(side: str, lists: Lists, items: Column) -> Flat:
    return Flat(side, lists.items, lists.offsets, np.diff(lists.offsets), lists.gains, items.names)
