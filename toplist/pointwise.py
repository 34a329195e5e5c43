"""Metrics of predicted values: AUC of all rows or per user, log loss, MAE, RMSE.

Every function takes arrays with one value per row, or instead of them one table of pandas, polars
or pyarrow with the columns label and prediction (and user_id); ``columns={"label": "clicked"}``
gives other names. Or one list of Surprise's predictions, ``rmse(algo.test(testset))``: the rating
is the label, the estimate the prediction.

>>> users, labels = ["a", "a", "b", "b", "c"], [1, 0, 1, 0, 1]
>>> predictions = [0.9, 0.1, 0.5, 0.5, 0.3]
>>> gauc(users, labels, predictions)                # weighted by positives, ties count half
0.75
>>> user_auc(users, labels, predictions)            # and who was left out
UserAUC(2 of 3 users evaluated, 1 with only positives, 0 with only negatives left out)
>>> round(log_loss(labels, predictions), 4), mae([4, 2], [3, 2])
(0.5602, 0.5)

`gauc` takes ``weights="positives"`` (as RecBole), ``"rows"`` or ``"equal"``, `log_loss` ``clip=``;
all but the grouped ones take ``weights=`` per row. GAUC of 10,000,000 rows of 100,000 users takes
half a second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from toplist import kernels, parallel
from toplist.checks import Floats, Ints, choice, no_mask, require
from toplist.inputs import columns as cols
from toplist.inputs.factorize import EXACT, Column, Numbering, exact
from toplist.inputs.ids import signed
from toplist.inputs.keyed import column_of
from toplist.inputs.lists import offsets_of
from toplist.inputs.objects import to_builtin
from toplist.inputs.options import ColumnNames, renamed

__all__ = ["UserAUC", "auc", "gauc", "log_loss", "mae", "rmse", "user_auc"]


UserWeights = Literal["positives", "rows", "equal"]
WEIGHTS: tuple[UserWeights, ...] = get_args(UserWeights)
COLUMNS = ("user_id", "label", "prediction")

# The log loss clips predictions to [CLIP, 1 - CLIP], as scikit-learn does for float64.
CLIP = float(np.finfo(np.float64).eps)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)


def auc(
    labels: Any, predictions: Any = None, *, weights: Any = None, columns: ColumnNames = None
) -> float:
    """Return the area under the ROC curve over all rows, of any user.

        AUC = pairs of a positive and a negative row in which the positive is predicted higher,
              ties counting half / all such pairs

    It is RecBole's (M (N + 1) - M (M + 1) / 2 - sum of ranks) / (M (N - M)) with the mean rank
    for ties, and scikit-learn's roc_auc_score.

    Parameters
    ----------
    labels : (n,) of 0 and 1, or a table
    predictions : (n,) numbers
        The higher, the more likely positive; infinite ones compare, NaN is refused.
    weights : (n,) numbers from 0 on, optional
        A pair counts the product. Of a table: numbers, or the name of a column.
    columns : mapping, optional
        A table's own names of label and prediction.

    Returns
    -------
    float
        An exact ratio of whole numbers without weights; NaN without a positive or a negative row.

    Raises
    ------
    TypeError
        For values that are not numbers.
    ValueError
        For labels other than 0 and 1, lengths that differ, NaN.

    Examples
    --------
    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    rows = _read((labels, predictions), columns, weights, finite=False).binary()
    positive = rows.labels > 0
    if rows.weights is None:
        sides = [np.sort(rows.predictions[side]) for side in (positive, ~positive)]
        pairs = 2 * len(sides[0]) * len(sides[1])
        twice = kernels.scores.wins(*sides)
        return float(twice / pairs) if pairs else math.nan
    arrays, sums = [], []
    for side in (positive, ~positive):
        values, weight = rows.predictions[side], rows.weights[side]
        order = np.lexsort([weight, values])
        arrays += [values[order], weight[order]]
        sums.append(math.fsum(weight))
    wins, of_pairs = kernels.scores.weighted_wins(*arrays), 2 * sums[0] * sums[1]
    return float(wins / of_pairs) if of_pairs else math.nan


def gauc(
    users: Any,
    labels: Any = None,
    predictions: Any = None,
    *,
    weights: UserWeights = "positives",
    columns: ColumnNames = None,
    n_threads: int | None = None,
) -> float:
    """Return the mean over users of their AUC, weighted by their positives.

        GAUC = sum over users of positives(u) AUC(u) / sum over users of positives(u)

    over the users with positives and negatives; `user_auc` counts the others. Ties count half.
    (RecBole's GAUC; Zhou et al. 2018, "Deep Interest Network", weight by impressions.)

    Parameters
    ----------
    users, labels, predictions, columns, n_threads
        As in `user_auc`.
    weights : {"positives", "rows", "equal"}
        The weight of a user: positive rows (RecBole), all rows (impressions), or 1.

    Returns
    -------
    float
        NaN where no user has both.

    Examples
    --------
    >>> gauc(["a", "a", "b", "b", "c"], [1, 0, 1, 0, 1], [0.9, 0.1, 0.5, 0.5, 0.3])
    0.75
    """
    choice("weights", weights, WEIGHTS)
    found = user_auc(users, labels, predictions, columns=columns, n_threads=n_threads)
    return found.mean(weights)


def user_auc(
    users: Any,
    labels: Any = None,
    predictions: Any = None,
    *,
    columns: ColumnNames = None,
    n_threads: int | None = None,
) -> UserAUC:
    """Return the AUC of each user, and the user's numbers of positive and negative rows.

    Parameters
    ----------
    users : (n,) ids, or a table
    labels, predictions, columns
        As in `auc`.
    n_threads : int, optional
        Default: the CPUs this process may use. The result does not depend on it.

    Examples
    --------
    >>> found = user_auc(["a", "a", "b", "b", "c"], [1, 0, 1, 0, 1], [0.9, 0.1, 0.5, 0.5, 0.3])
    >>> found
    UserAUC(2 of 3 users evaluated, 1 with only positives, 0 with only negatives left out)
    >>> found.auc.tolist()
    [1.0, 0.5, nan]
    """
    rows = _read((users, labels, predictions), columns, finite=False).binary()
    assert rows.users is not None
    numbering = Numbering()
    row_of = numbering.number(rows.users.codes)
    positive = rows.labels > 0
    n_rows = np.bincount(row_of, minlength=len(numbering))
    n_positives = np.bincount(row_of[positive], minlength=len(numbering))
    offsets = offsets_of(n_rows)
    front, back, placed = offsets[:-1].copy(), offsets[1:].copy(), np.empty(len(row_of))
    kernels.scores.place_by_label(row_of, positive, rows.predictions, front, back, placed)
    twice = np.zeros(len(numbering), np.int64)

    def count(lo: int, hi: int) -> None:
        part = placed[offsets[lo] : offsets[hi]]
        kernels.scores.wins_by_user(offsets[lo : hi + 1], front[lo:hi], part, twice[lo:hi])

    parallel.each(count, parallel.bounds(offsets), n_threads)
    pairs = 2 * n_positives * (n_rows - n_positives)
    values = np.full(len(numbering), np.nan)
    np.divide(twice, pairs, out=values, where=pairs > 0)
    first = np.empty(len(numbering), np.int64)
    first[row_of[::-1]] = np.arange(len(row_of))[::-1]
    names = rows.users.decoded(rows.users.codes[first])  # as they were given
    return UserAUC(names, values, n_positives, n_rows - n_positives)


@dataclass(frozen=True, eq=False)
class UserAUC:
    """The AUC of each user, with the numbers of positives and negatives.

    Attributes
    ----------
    users : list
        In the order in which they first appear.
    auc : (n_users,) float64
        NaN for users with only positives or only negatives.
    n_positives, n_negatives : (n_users,) int64

    Examples
    --------
    >>> found = user_auc([7, 7, 8, 8, 8], [1, 0, 1, 1, 0], [0.9, 0.1, 0.2, 0.8, 0.5])
    >>> found.users, found.auc.tolist(), found.n_positives.tolist()
    ([7, 8], [1.0, 0.5], [1, 2])
    >>> found.mean(), found.mean("equal")
    (0.6666666666666666, 0.75)
    """

    users: list[Any]
    auc: Floats
    n_positives: Ints
    n_negatives: Ints

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.auc)

    @property
    def n_evaluated(self) -> int:
        """Number of users with positives and negatives."""
        return int(np.sum((self.n_positives > 0) & (self.n_negatives > 0)))

    @property
    def n_only_positives(self) -> int:
        """Number of users left out for having no negatives."""
        return int(np.sum(self.n_negatives == 0))

    @property
    def n_only_negatives(self) -> int:
        """Number of users left out for having no positives."""
        return int(np.sum(self.n_positives == 0))

    def mean(self, weights: UserWeights = "positives") -> float:
        """Return the mean over the users with positives and negatives, as `gauc` does."""
        choice("weights", weights, WEIGHTS)
        there = (self.n_positives > 0) & (self.n_negatives > 0)
        weight = {
            "positives": self.n_positives,
            "rows": self.n_positives + self.n_negatives,
            "equal": np.ones(self.n_users, np.int64),
        }[weights][there]
        # rounded once, so that the order of the users does not matter
        return math.fsum(weight * self.auc[there]) / int(weight.sum()) if there.any() else math.nan

    def __repr__(self) -> str:
        """Return how many users were evaluated, and how many left out."""
        return (
            f"UserAUC({self.n_evaluated:,} of {self.n_users:,} users evaluated, "
            f"{self.n_only_positives:,} with only positives, {self.n_only_negatives:,} with only "
            "negatives left out)"
        )


def log_loss(
    labels: Any,
    predictions: Any = None,
    *,
    clip: float = CLIP,
    weights: Any = None,
    columns: ColumnNames = None,
) -> float:
    """Return the mean negative log likelihood of the labels, in nats.

        log loss = - mean of label log(p) + (1 - label) log(1 - p),
        p the prediction, clipped to [clip, 1 - clip]

    Parameters
    ----------
    labels, weights, columns
        As in `auc`; with weights, the weighted mean.
    predictions : (n,) probabilities from 0 to 1
    clip : float
        Default 2^-52, as scikit-learn; RecBole clips at 1e-15.

    Returns
    -------
    float
        NaN without rows.

    Examples
    --------
    >>> round(log_loss([1, 0], [0.9, 0.2]), 6)
    0.164252
    """
    if not isinstance(clip, (int, float, np.number)) or not 0 <= clip < 0.5:
        raise ValueError(f"clip must be from 0 to below 0.5, not {clip!r}")
    rows = _read((labels, predictions), columns, weights).binary()
    bad = np.flatnonzero((rows.predictions < 0) | (rows.predictions > 1))
    if len(bad):
        wrong = f"row {bad[0]} has prediction {rows.predictions[bad[0]]:g}"
        raise ValueError(f"{wrong}: a probability from 0 to 1 is needed")
    return _mean_loss("LOG", rows, clip)


def mae(
    labels: Any, predictions: Any = None, *, weights: Any = None, columns: ColumnNames = None
) -> float:
    """Return the mean absolute error, the mean of abs(prediction - label).

    Parameters
    ----------
    labels, predictions : (n,) finite numbers, or a table
    weights, columns
        As in `auc`; with weights, the weighted mean.

    Examples
    --------
    >>> mae([4, 2, 5], [3.5, 2, 4])
    0.5
    """
    return _mean_loss("ABSOLUTE", _read((labels, predictions), columns, weights))


def rmse(
    labels: Any, predictions: Any = None, *, weights: Any = None, columns: ColumnNames = None
) -> float:
    """Return the root of the mean squared error, of (prediction - label)^2.

    Parameters
    ----------
    labels, predictions, weights, columns
        As in `mae`.

    Examples
    --------
    >>> rmse([4, 2], [3, 1])
    1.0
    """
    return math.sqrt(_mean_loss("SQUARED", _read((labels, predictions), columns, weights)))


def _mean_loss(kind: str, rows: Predictions, clip: float = 0.0) -> float:
    """Return the weighted mean of a loss, by its name in the kernels; NaN without rows."""
    weights = np.empty(0) if rows.weights is None else rows.weights
    kind = getattr(kernels.scores, kind)
    total, weight = kernels.scores.loss(kind, rows.labels, rows.predictions, weights, clip)
    return float(total / weight) if weight > 0 else math.nan


# Rows of user, label and prediction


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
            wrong = f"label {self.labels[bad[0]]:g} in row {bad[0]}: labels are 0 or 1"
            raise ValueError(f"{wrong}; of ratings, compare first (ratings >= 4)")
        return self


def _read(
    given: tuple[Any, ...], columns: ColumnNames = None, weights: Any = None, *, finite: bool = True
) -> Predictions:
    """Read (labels, predictions), (users, labels, predictions), or (table, None, ...).

    In place of a table there may be predictions of Surprise, with their own users.

    Raises
    ------
    TypeError
        For an argument that is missing, or does not hold numbers (users: ids).
    ValueError
        For columns that are missing, lengths that differ, and numbers that are NaN or infinite.
    """
    wanted = COLUMNS[-len(given) :]
    names, first = renamed(columns, COLUMNS), to_builtin(given[0], "table")
    is_table = cols.is_frame(first)
    fields = getattr(first[0], "_fields", ()) if isinstance(first, (list, tuple)) and first else ()
    of_surprise = {"uid", "r_ui", "est"} <= set(fields)
    if (is_table or of_surprise) and any(one is not None for one in given[1:]):
        way = "holds labels and predictions: give it alone"
        raise TypeError(f"a table, or what Surprise predicts, {way}")
    if is_table:
        table, own = cols.readable(first), [weights] if isinstance(weights, str) else []
        found = cols.names_of(table)
        absent = {name: "NAME" for name in wanted if names[name] not in found}
        way = f"columns={absent!r} names {'others' if len(absent) > 1 else 'another'}"
        asked = [*(names[name] for name in wanted), *own]
        require("the table", asked, found, way * bool(absent))
        given = tuple(_column(table, names[name], name) for name in wanted)
        weights = _column(table, weights) if own else weights
    elif of_surprise:
        unrated = next((row for row in first if row.r_ui is None), None)
        if unrated is not None:
            raise ValueError(
                f"the prediction of user {unrated.uid!r}, item {unrated.iid!r} has no rating, r_ui "
                "is None: give predictions of a test set, [one for one in predictions if one.r_ui "
                "is not None]"
            )
        rows = zip(*((row.uid, row.r_ui, row.est) for row in first), strict=True)
        given = tuple(map(list, rows))[-len(wanted) :]
    if columns and not is_table:
        raise TypeError("columns= names columns of a table: of other forms leave it out")
    missing = next((n for n, one in zip(wanted, given, strict=True) if one is None), None)
    if missing:
        every = ", ".join(f"{name}s" for name in wanted)
        raise TypeError(f"{missing}s is missing: give {every}, one per row, or a table of them")
    labels, predictions = _numbers(given[-2], "label"), _numbers(given[-1], "prediction", finite)
    users = _users(given[0]) if wanted == COLUMNS else None
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


def _column(table: Any, name: str, what: str = "") -> Any:
    """Return a column of numbers, or of ids."""
    cells = cols.read(table, name, "the table")
    if what == "user_id":
        return cells.ids()
    values = np.asarray(table[name])
    return values if values.dtype.kind == "b" else cells.numbers()


def _numbers(values: Any, name: str, by_value: bool = True) -> Floats:
    """Return numbers as doubles; of integers beyond 2^53 the order alone, unless `by_value`."""
    no_mask(values, f"{name}s")
    array = np.asarray(values) if by_value else exact(values, f"{name}s")
    if array.ndim != 1 or (array.size and array.dtype.kind not in "biuf"):
        given = f"{array.dtype} of {array.ndim} dimensions"
        raise TypeError(f"{name}s must be numbers, one per row, not {given}")
    of_integers = not by_value and array.dtype.kind in "iu"
    if of_integers and ((array > EXACT) | (array < -EXACT)).any():
        array = np.unique(array, return_inverse=True)[1]
    return np.ascontiguousarray(array, np.float64)


def _users(values: Any) -> Column:
    """Return users as a column of ids."""
    if isinstance(values, Column):
        return values
    if hasattr(values, "to_numpy"):  # a column of a table
        values = values.to_numpy()
    no_mask(values, "users")
    if not isinstance(values, (list, tuple, range, np.ndarray)) or np.ndim(values) != 1:
        raise TypeError("users must be ids, one per row, in a list or a 1-D array")
    if not isinstance(values, np.ndarray):
        return column_of("users", values, "users")
    if values.dtype.kind in "iu":
        return Column("users", signed(values, "users"))
    return column_of("users", values.tolist(), "users")
