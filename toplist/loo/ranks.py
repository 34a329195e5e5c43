"""`ranks_of`: the rank of each user's held-out item, from ranked lists or from scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toplist.checks import choice
from toplist.inputs.flatten import array, name_user
from toplist.inputs.options import Duplicates
from toplist.inputs.ordering import comparable
from toplist.matching.match import match
from toplist.scores import columns_to_leave_out, refuse_nan, run_blocks

HeldOutTies = Literal["order", "best", "worst", "average"]
TIES: tuple[HeldOutTies, ...] = get_args(HeldOutTies)


def ranks_of(
    ranks: Any,
    held_out: Any,
    *,
    exclude: Any = None,
    ties: HeldOutTies | None = None,
    duplicates: Duplicates = "raise",
    columns: Mapping[str, str] | None = None,
    n_threads: int | None = None,
) -> NDArray[Any]:
    """Return the rank of each user's held-out item, from ranked lists or from scores.

    Parameters
    ----------
    ranks : ranked lists, or (n_users, n_items) array of scores
        Lists of ids in any form that `toplist.match` takes, or the scores of all items: floats
        are never ids. Integers are scores where `ties` or `exclude` is given, which go with
        scores only (``ties="order"``), and are compared as integers.
    held_out : one id per user, or one column per user
        With lists, ids in the form that goes with them; with scores, (n_users,) integers.
    exclude : optional
        With scores, items to leave out of the ranking (seen in training, say), as in
        `toplist.scores.top_k`.
    ties : {"order", "best", "worst", "average"}, optional
        With scores, where the item is ranked among items of equal score: as in
        `toplist.scores.top_k`, the higher column first (the default); before all of them; after
        all; or at the mean of these two ranks, which may end in .5.
    duplicates, columns
        With lists, as in `toplist.match`.
    n_threads : int, optional

    Returns
    -------
    (n_users,) int64
        Ranks from 1; 0 where the item is not listed: not in the list; or excluded, or scored
        -inf. float64 for ``ties="average"``.

    Raises
    ------
    ValueError
        For a user without exactly one held-out item, a column that does not exist, a NaN score.
    TypeError
        For options that do not go with lists, or with scores.

    Notes
    -----
    ``Hits.from_ranks(ranks, n_items)`` gives every metric. It refuses ranks that end in .5: a
    metric at a mean rank is not the mean of the metric over the orders of tied items. "best" and
    "worst" bound that mean; a model that gives all items one score is perfect by "best", and
    useless by "worst". No temporary array is larger than a block of users.

    Examples
    --------
    >>> ranks_of([["a", "b"], ["b", "c"]], ["b", "x"]).tolist()
    [2, 0]
    >>> scores = np.array([[0.1, 0.9, 0.9, 0.5], [0.3, 0.2, 0.1, 0.0]])
    >>> [ranks_of(scores, [1, 0], ties=ties).tolist() for ties in ("order", "best", "worst")]
    [[2, 1], [1, 1], [2, 1]]
    >>> ranks_of(scores, [1, 0], ties="average").tolist()
    [1.5, 1.0]
    >>> ranks_of(scores, [3, 3], exclude=[{1, 2}, {0}]).tolist()
    [1, 3]
    """
    whole = ties is not None or exclude is not None
    kinds = "fiu" if whole else "f"
    ranks = ranks if hasattr(ranks, "to_numpy") else array(ranks)  # no Series: it has keys
    if isinstance(ranks, np.ndarray) and ranks.ndim == 2 and ranks.dtype.kind in kinds:
        if duplicates != "raise" or columns is not None:
            raise TypeError("ranks are scores: duplicates and columns go with lists")
        return _of_scores(ranks, held_out, exclude, ties or "order", n_threads)
    given = [name for name, value in (("exclude", exclude), ("ties", ties)) if value is not None]
    if given:
        raise TypeError(
            f"{' and '.join(given)} go with scores, a 2-D array of numbers; ranks is a "
            f"{type(ranks).__name__}"
        )
    hits = match(ranks, held_out, duplicates=duplicates, columns=columns, n_threads=n_threads)
    bad = np.flatnonzero(hits.n_relevant != 1)
    if len(bad):
        raise ValueError(
            f"{name_user(hits.users, int(bad[0]))} has {hits.n_relevant[bad[0]]} held-out items: "
            "a rank needs exactly one"
        )
    found = np.zeros(len(hits), np.int64)
    found[np.diff(hits.offsets) > 0] = hits.ranks
    return found


def _of_scores(
    scores: NDArray[Any], held_out: Any, exclude: Any, ties: HeldOutTies, n_threads: int | None
) -> NDArray[Any]:
    """Return ranks from scores."""
    from toplist.kernels import scores as kernels

    choice("ties", ties, TIES)
    n_users, n_items = scores.shape
    held = columns_of(held_out, n_users, n_items)
    excluded = columns_to_leave_out(exclude, n_users, n_items)
    counts = np.empty((3, n_users), np.int64)

    def block(lo: int, hi: int) -> None:
        items, offsets, _ = excluded.block(lo, hi)
        part, banned = comparable(scores[lo:hi], single=True), np.zeros(n_items, np.uint8)
        nan = kernels.place(part, held[lo:hi], items, offsets, banned, *counts[:, lo:hi])
        refuse_nan(nan, lo)

    run_blocks(block, n_users, n_items, n_threads)
    return rank_among(counts, ties)


def rank_among(counts: NDArray[np.int64], ties: HeldOutTies) -> NDArray[Any]:
    """Return ranks from the numbers of items above, tied, and tied but before; 0 for above = -1."""
    above, tied, tied_before = counts
    if ties == "average":
        return np.where(above < 0, 0.0, above + 1 + tied / 2)
    more = {"order": tied_before, "best": np.zeros_like(tied), "worst": tied}[ties]
    return np.where(above < 0, 0, above + 1 + more)


def columns_of(held_out: ArrayLike, n_users: int, n_items: int) -> NDArray[np.int64]:
    """Return the held-out column of every user."""
    columns = np.asarray(held_out)
    if columns.shape != (n_users,) or (columns.size and columns.dtype.kind not in "iu"):
        raise ValueError(
            f"held_out is an array of {columns.dtype} of shape {columns.shape}: one column per "
            f"user is needed, {n_users} integers"
        )
    bad = np.flatnonzero((columns < 0) | (columns >= n_items))
    if len(bad):
        raise ValueError(
            f"held_out: user {bad[0]} has item {columns[bad[0]]}, no column of 0..{n_items - 1}"
        )
    return columns.astype(np.int64)
