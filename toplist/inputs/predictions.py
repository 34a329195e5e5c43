"""Rows of user, label and prediction: arrays, or columns of a table, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from toplist.checks import Floats, require
from toplist.inputs import columns as cols
from toplist.inputs.factorize import Column
from toplist.inputs.ids import signed
from toplist.inputs.keyed import column_of
from toplist.inputs.objects import to_builtin
from toplist.inputs.options import renamed

COLUMNS = ("user_id", "label", "prediction")


@dataclass(frozen=True, eq=False)
class Predictions:
    """Labels and predictions, row by row: arrays of floats of one length.

    `users` are their ids as a column. Without weights every row counts the same.
    """

    labels: Floats
    predictions: Floats
    weights: Floats | None = None
    users: Column | None = None

    def binary(self) -> Predictions:
        """Raise ValueError for labels other than 0 and 1."""
        bad = np.flatnonzero((self.labels != 0) & (self.labels != 1))
        if len(bad):
            raise ValueError(
                f"label {self.labels[bad[0]]:g} in row {bad[0]}: labels are 0 or 1; of ratings, "
                "compare first (ratings >= 4)"
            )
        return self


def read(
    given: tuple[Any, ...],
    columns: Mapping[str, str] | None = None,
    weights: Any = None,
    *,
    of_users: bool = False,
    finite: bool = True,
) -> Predictions:
    """Read (labels, predictions), with `of_users` (users, labels, predictions), or (table, ...).

    In place of a table there may be predictions of Surprise, with their own users.

    Raises
    ------
    TypeError
        For an argument that is missing, or does not hold numbers (users: ids).
    ValueError
        For columns that are missing, lengths that differ, and numbers that are NaN or infinite.
    """
    wanted = COLUMNS if of_users else COLUMNS[1:]
    names, first = renamed(columns, COLUMNS), to_builtin(given[0], "table")
    is_table = cols.is_frame(first)
    fields = getattr(first[0], "_fields", ()) if isinstance(first, (list, tuple)) and first else ()
    of_surprise = {"uid", "r_ui", "est"} <= set(fields)
    if (is_table or of_surprise) and any(one is not None for one in given[1:]):
        what = "a table holds labels" if is_table else "predictions of Surprise hold ratings"
        raise TypeError(f"{what} and predictions: give {'it' if is_table else 'them'} alone")
    users: Column | None = None
    if is_table:
        table, own = cols.readable(first), isinstance(weights, str)
        asked = [names[name] for name in wanted] + [weights] * own
        way = "columns={'label': 'NAME'} names another"
        require("the table", asked, cols.names_of(table), way)
        labels, predictions = (_column(table, names[name]) for name in COLUMNS[1:])
        weights = _column(table, weights) if own else weights
        if of_users:
            users = cols.read(table, names["user_id"]).ids("the table")
    else:
        if of_surprise:
            unrated = next((row for row in first if row.r_ui is None), None)
            if unrated is not None:
                raise ValueError(
                    f"the prediction of user {unrated.uid!r}, item {unrated.iid!r} has no rating, "
                    "r_ui is None: give predictions of a test set, [one for one in predictions if "
                    "one.r_ui is not None]"
                )
            rows = zip(*((row.uid, row.r_ui, row.est) for row in first), strict=True)
            given = tuple(map(list, rows))[-len(wanted) :]
        missing = next((n for n, one in zip(wanted, given, strict=True) if one is None), None)
        if missing:
            every = ", ".join(f"{name}s" for name in wanted)
            raise TypeError(
                f"{missing}s is missing: give {every}, each one per row, or a table with these "
                "columns"
            )
        labels, predictions = map(_numbers, given[-2:], COLUMNS[1:])
        users = _users(given[0]) if of_users else None
    if weights is not None:
        weights = _numbers(weights, "weight")
    for what, one in (("predictions", predictions), ("weights", weights), ("users", users)):
        if one is not None and len(one) != len(labels):
            raise ValueError(f"{len(one)} {what} for {len(labels)} labels: one per row is needed")
    valid = np.isfinite(predictions) if finite else ~np.isnan(predictions)
    checked = [("label", labels, np.isfinite(labels), "a finite number")]
    checked += [("prediction", predictions, valid, "a finite number" if finite else "a number")]
    if weights is not None:
        valid = (weights >= 0) & (weights < np.inf)
        checked += [("weight", weights, valid, "a finite number of at least 0")]
    for name, one, good, needed in checked:
        if not good.all():
            row = int(np.argmin(good))
            raise ValueError(f"row {row} has {name} {one[row]}: {needed} is needed")
    return Predictions(labels, predictions, weights, users)


def _column(table: Any, name: str) -> Floats:
    values = cols.values(table, name)
    if values.dtype.kind != "b":
        values = cols.read(table, name).numbers("the table")
    return values.astype(np.float64, copy=False)


def _numbers(values: Any, name: str) -> Floats:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "biuf"):
        raise TypeError(
            f"{name}s must be numbers, one per row, not {array.dtype} of {array.ndim} dimensions"
        )
    return np.ascontiguousarray(array, np.float64)


def _users(values: Any) -> Column:
    """Return users as a column of ids."""
    if hasattr(values, "to_numpy"):  # a column of a table
        values = values.to_numpy()
    if isinstance(values, np.ndarray) and values.dtype.kind in "fbc":
        raise TypeError(f"users are {values.dtype}: ids are integers or strings")
    if not isinstance(values, (list, tuple, range, np.ndarray)) or np.ndim(values) != 1:
        raise TypeError("users must be ids, one per row, in a list or a 1-D array")
    if not isinstance(values, np.ndarray):
        return column_of("users", values, "users")
    if values.dtype.kind in "iu":
        return Column("users", signed(values, "users"))
    return column_of("users", values.tolist(), "users")
