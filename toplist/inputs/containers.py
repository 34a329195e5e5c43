"""Containers of ids, told from ids by their type, and rows of them as one flat run."""

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np

from toplist.inputs import grades
from toplist.inputs.flatten import Flat
from toplist.inputs.lists import Lists

CONTAINERS = (list, tuple, range)


def is_frame(value: Any) -> bool:
    """Whether `value` is a table with named columns (pandas, polars, Arrow, or their like)."""
    return hasattr(value, "__arrow_c_stream__") and (
        hasattr(value, "columns") or hasattr(value, "column_names")
    )


def is_container(value: Any) -> bool:
    """Return whether a value holds ranked ids."""
    return isinstance(value, CONTAINERS) or (isinstance(value, np.ndarray) and value.ndim == 1)


def is_truth_container(value: Any) -> bool:
    """Return whether a value holds relevant ids."""
    return is_container(value) or isinstance(value, (Set, Mapping))


def truth_type(kind: type) -> bool:
    """Return whether a type holds relevant ids; the shape of arrays is looked at later."""
    return issubclass(kind, (*CONTAINERS, np.ndarray, Set, Mapping))


def swapped(row: Any) -> str:
    """Return a question to add to a message about a row that has no order."""
    return " (are the arguments swapped?)" if isinstance(row, (Set, Mapping)) else ""


def flatten(rows: Any, depth: int | None, side: str) -> Flat:
    """Bring the rows of one side into one flat run of ids, each list cut at `depth`."""
    if isinstance(rows, Lists):
        flat = Flat(side, rows.items, rows.offsets, np.diff(rows.offsets), rows.gains)
    elif isinstance(rows, np.ndarray) and rows.dtype == object:
        return flatten([row if is_container(row) else [row] for row in rows], depth, side)
    elif isinstance(rows, np.ndarray):
        width = rows.shape[1] if rows.ndim == 2 else 1
        offsets = np.arange(len(rows) + 1, dtype=np.int64) * width
        flat = Flat(
            side, np.ascontiguousarray(rows).reshape(-1), offsets, np.full(len(rows), width)
        )
    else:
        return _flatten_rows(rows, depth, side)
    return flat if depth is None else flat.cut(depth)


def _flatten_rows(rows: Sequence[Any], depth: int | None, side: str) -> Flat:
    accepted = is_container if side == "ranks" else is_truth_container
    known = CONTAINERS if side == "ranks" else (*CONTAINERS, set, frozenset, dict)
    if not all(issubclass(kind, known) for kind in set(map(type, rows))):
        for user, row in enumerate(rows):
            if not accepted(row):
                raise TypeError(
                    f"{side}: user {user} has {row!r} where a container of ids belongs"
                    + swapped(row)
                )
    if depth is not None:
        rows = [row if len(row) <= depth else row[:depth] for row in rows]
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    if rows and all(type(row) is np.ndarray for row in rows):
        filled = [row for row in rows if len(row)]  # numpy makes an empty list one of floats
        if len({row.dtype.kind for row in filled}) == 1:  # else 1 and True, or "1", would mix
            return Flat(side, np.concatenate(filled), offsets, lengths)
    as_lists = [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]
    return Flat(side, as_lists, offsets, lengths, grades.of_rows(rows))


def refuse_unranked(ranks: Mapping[Any, Any]) -> None:
    """Raise for a user whose ranked list is none."""
    for user, row in ranks.items():
        if not is_container(row):
            raise TypeError(
                f"user {user!r}: the ranked list is a {type(row).__name__}, not a list of ids"
                + swapped(row)
            )
