"""Rows of user, label and prediction: arrays, or columns of a table, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from toplist.checks import Floats, Ints, require
from toplist.inputs import columns as cols
from toplist.inputs.factorize import Column
from toplist.inputs.flatten import Flat
from toplist.inputs.ids import encode_alone
from toplist.inputs.objects import to_builtin
from toplist.inputs.options import renamed

COLUMNS = ("user_id", "label", "prediction")


@dataclass(frozen=True, eq=False)
class Predictions:
    """Labels and predictions, row by row: arrays of floats of one length.

    `users` are integers, equal where the users are equal; `name_of` returns the user of a row as
    the caller wrote it. Without weights every row counts the same.
    """

    labels: Floats
    predictions: Floats
    weights: Floats | None = None
    users: Ints | None = None
    column: Any = None

    def name_of(self, row: int) -> Any:
        """Return the user of a row as the caller wrote it."""
        if isinstance(self.column, Column):
            return self.column.decode(self.column.codes[row])
        user = self.column[row]
        return user.item() if isinstance(user, np.generic) else user

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
    names = renamed(columns, COLUMNS)
    first = to_builtin(given[0], "table")
    if cols.is_frame(first):
        return _of_table((first, *given[1:]), [names[name] for name in wanted], weights, finite)
    if _are_of_surprise(first):
        given = _of_surprise(given)[-len(wanted) :]
    missing = next((n for n, one in zip(wanted, given, strict=True) if one is None), None)
    if missing:
        raise TypeError(f"{missing}s is missing: give {', '.join(f'{n}s' for n in wanted)}, each "
                        "one per row, or a table with these columns")  # fmt: skip
    numbers = [_numbers(one, name) for name, one in zip(COLUMNS[1:], given[-2:], strict=True)]
    users = _users(given[0]) if of_users else None
    return _checked(numbers, weights, users, given[0], finite)


def _are_of_surprise(value: Any) -> bool:
    """Whether a value is a list of Surprise's ``Prediction(uid, iid, r_ui, est, details)``."""
    fields = getattr(value[0], "_fields", ()) if isinstance(value, (list, tuple)) and value else ()
    return {"uid", "r_ui", "est"} <= set(fields)


def _of_surprise(given: tuple[Any, ...]) -> tuple[list[Any], list[Any], list[Any]]:
    """Return users, ratings and estimates of Surprise's predictions, the only argument."""
    rows = given[0]
    if any(one is not None for one in given[1:]):
        raise TypeError("predictions of Surprise hold ratings and estimates: give them alone")
    unrated = next((row for row in rows if row.r_ui is None), None)
    if unrated is not None:
        raise ValueError(
            f"the prediction of user {unrated.uid!r}, item {unrated.iid!r} has no rating, r_ui is "
            "None: give predictions of a test set, [one for one in predictions if one.r_ui is not "
            "None]"
        )
    return [row.uid for row in rows], [row.r_ui for row in rows], [row.est for row in rows]


def _of_table(given: tuple[Any, ...], names: list[str], weights: Any, finite: bool) -> Predictions:
    """Read the columns of a table, the only argument."""
    table = cols.readable(given[0])
    if any(one is not None for one in given[1:]):
        raise TypeError("a table holds labels and predictions in its columns: give it alone")
    found = cols.names_of(table)
    if isinstance(weights, str):
        names = [*names, weights]
    require("the table", names, found, "columns={'label': 'NAME'} names another")
    if isinstance(weights, str):
        weights = _column(table, names.pop())
    numbers = [_column(table, name) for name in names[-2:]]
    if len(names) < len(COLUMNS):
        return _checked(numbers, weights, None, None, finite)
    column = cols.read(table, names[0]).ids("the table")
    return _checked(numbers, weights, column.codes.astype(np.int64), column, finite)


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


def _users(values: Any) -> Ints:
    """Return numbers that are equal where the users are."""
    if hasattr(values, "to_numpy"):  # a column of a table
        values = values.to_numpy()
    if isinstance(values, np.ndarray) and values.dtype.kind in "fbc":
        raise TypeError(f"users are {values.dtype}: ids are integers or strings")
    if not isinstance(values, (list, tuple, range, np.ndarray)) or np.ndim(values) != 1:
        raise TypeError("users must be ids, one per row, in a list or a 1-D array")
    plain = isinstance(values, np.ndarray) and values.dtype != object
    rows = values if plain else [list(values)]
    end = np.array([len(values)])
    codes, _ = encode_alone(Flat("users", rows, np.append(0, end), end))
    return codes.astype(np.int64, copy=False)


def _checked(
    numbers: list[Floats], weights: Any, users: Any, column: Any, finite: bool
) -> Predictions:
    labels, predictions = numbers
    if weights is not None:
        weights = _numbers(weights, "weight")
    for name, one in (("predictions", predictions), ("weights", weights), ("users", users)):
        if one is not None and len(one) != len(labels):
            raise ValueError(f"{len(one)} {name} for {len(labels)} labels: one per row is needed")
    checked = [("label", labels, np.isfinite(labels), "a finite number")]
    valid = np.isfinite(predictions) if finite else ~np.isnan(predictions)
    checked += [("prediction", predictions, valid, "a finite number" if finite else "a number")]
    if weights is not None:
        valid = (weights >= 0) & (weights < np.inf)
        checked += [("weight", weights, valid, "a finite number of at least 0")]
    for name, one, good, needed in checked:
        if not good.all():
            row = int(np.argmin(good))
            raise ValueError(f"row {row} has {name} {one[row]}: {needed} is needed")
    return Predictions(labels, predictions, weights, users, column)
