"""The door for tables, and for what stands beside one: both sides are keyed by user."""

from collections.abc import Mapping
from typing import Any

from toplist.inputs import tables
from toplist.inputs.containers import is_frame, refuse_unranked
from toplist.inputs.dataframes import known
from toplist.inputs.grades import Grading
from toplist.inputs.keyed import Keyed, admit_keyed, keyed
from toplist.inputs.named import Table
from toplist.inputs.options import renamed
from toplist.inputs.sides import Admitted


def admit_tables(
    ranks: Any,
    truths: Any,
    k: int | None,
    padding: Any,
    grading: Grading,
    columns: Mapping[str, str] | None,
) -> Admitted:
    """Admit two sides of which at least one is a table."""
    ranked, truth = lists_of(ranks, "ranks", columns), lists_of(truths, "ground_truths", columns)
    return admit_keyed(ranked, truth, k, padding, grading)


def lists_of(value: Any, side: str, columns: Mapping[str, str] | None) -> Keyed:
    """Return one side of which the other is a table."""
    if is_frame(value):
        return tables.read(Table(known(value), side, renamed(columns)))
    if isinstance(value, Keyed):
        return value
    if not isinstance(value, Mapping):
        other = "ground_truths" if side == "ranks" else "ranks"
        raise TypeError(
            f"{other} is a table keyed by user, {side} is a {type(value).__name__}: give both "
            "as tables or dicts"
        )
    if side == "ranks":
        refuse_unranked(value)
    return keyed(value, side)
