"""The rank of each user's held-out item: from lists or scores, and what its counts say.

How many users have the held-out item at each rank is all there is to an evaluation. A database
counts that itself, in one row per rank, however many users there are::

    SELECT rank, COUNT(*) FROM held_out LEFT JOIN recs USING (user_id, item_id) GROUP BY rank
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toplist import kernels
from toplist.averages import Histograms, spread_of_first, sums_of
from toplist.checks import LARGEST_INT, choice, is_missing, no_mask
from toplist.evaluation.plan import plan_of
from toplist.inputs import columns as cols
from toplist.inputs.keyed import is_series
from toplist.inputs.lists import name_user, of_column
from toplist.inputs.objects import array, to_builtin
from toplist.inputs.options import DEFAULT_METRICS, Duplicates, Options
from toplist.inputs.truths import Grading
from toplist.matching import match
from toplist.metrics.conventions import Convention, ConventionName, rules_of
from toplist.metrics.definitions import Metric
from toplist.metrics.names import Metrics
from toplist.results.result import TopKResult
from toplist.results.terms import Terms
from toplist.scores import columns_to_leave_out, run_blocks

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
    no_mask(ranks, "ranks")
    whole = ties is not None or exclude is not None
    kinds = "fiu" if whole else "f"
    ranks = ranks if hasattr(ranks, "to_numpy") else array(ranks)  # no Series: it has keys
    if isinstance(ranks, np.ndarray) and ranks.ndim == 2 and ranks.dtype.kind in kinds:
        if duplicates != "raise" or columns is not None:
            raise TypeError("ranks are scores: duplicates and columns go with lists")
        ties = ties or "order"
        choice("ties", ties, TIES)
        n_users, n_items = ranks.shape
        held = columns_of(held_out, n_users, n_items)
        excluded = columns_to_leave_out(exclude, n_users, n_items)
        counts = np.empty((3, n_users), np.int64)

        def block(part: NDArray[Any], lo: int, hi: int) -> Any:
            items, offsets, _ = excluded.block(lo, hi)
            of_block = np.zeros(n_items, np.uint8), *counts[:, lo:hi]
            return kernels.scores.place(part, held[lo:hi], items, offsets, *of_block)

        run_blocks(block, ranks, n_threads)
        return rank_among(counts, ties)
    given = [name for name, value in (("exclude", exclude), ("ties", ties)) if value is not None]
    if given:
        what = f"{' and '.join(given)} go with scores, a 2-D array of numbers"
        raise TypeError(f"{what}; ranks is a {type(ranks).__name__}")
    hits = match(ranks, held_out, duplicates=duplicates, columns=columns, n_threads=n_threads)
    bad = np.flatnonzero(hits.n_relevant != 1)
    if len(bad):
        user, n = name_user(hits.users, int(bad[0])), hits.n_relevant[bad[0]]
        raise ValueError(f"{user} has {n} held-out items: a rank needs exactly one")
    found = np.zeros(len(hits), np.int64)
    found[np.diff(hits.relevant.offsets) > 0] = hits.relevant.ranks
    return found


def rank_among(counts: Iterable[NDArray[np.int64]], ties: HeldOutTies) -> NDArray[Any]:
    """Return ranks from the numbers of items above, tied, and tied but before; 0 for above = -1."""
    above, tied, tied_before = counts
    if ties == "average":
        return np.where(above < 0, 0.0, above + 1 + tied / 2)
    more = {"order": tied_before, "best": np.zeros_like(tied), "worst": tied}[ties]
    return np.where(above < 0, 0, above + 1 + more)


def columns_of(held_out: ArrayLike, n_users: int, n_items: int) -> NDArray[np.int64]:
    """Return the held-out column of every user."""
    no_mask(held_out, "held_out")
    columns = np.asarray(held_out)
    if columns.shape != (n_users,) or (columns.size and columns.dtype.kind not in "iu"):
        given = f"an array of {columns.dtype} of shape {columns.shape}"
        needed = f"one column per user is needed, {n_users} integers"
        raise ValueError(f"held_out is {given}: {needed}")
    bad = np.flatnonzero((columns < 0) | (columns >= n_items))
    if len(bad):
        has = f"user {bad[0]} has item {columns[bad[0]]}"
        raise ValueError(f"held_out: {has}, no column of 0..{n_items - 1}")
    return columns.astype(np.int64)


def from_rank_counts(
    counts: Any,
    k: int | Iterable[int] | None = None,
    *,
    metrics: Metrics = DEFAULT_METRICS,
    convention: ConventionName | Convention = "standard",
    n_listed: int | None = None,
) -> TopKResult:
    """Evaluate leave-one-out from the number of users at each rank of the held-out item.

    Parameters
    ----------
    counts : dict of rank -> number of users, list of pairs, table, or tuple of two arrays
        Ranks from 1; 0, None or NaN: the item is not in the list. Every user counts once, also
        those without a list: where the convention knows relevant items of the list only, as
        lightgbm does, both have an empty ground truth. Pairs are rows as a database returns them,
        whole Decimals too. A table (also a relation of DuckDB, and what ``fetchnumpy()`` returns)
        has two columns, the rank first; a Series has the ranks in its index, as
        ``value_counts(dropna=False)`` makes it.
    k, metrics, convention
        As in `toplist.top_k_eval`.
    n_listed : int, optional
        The length of the lists, one for all; for metrics that divide by it.

    Returns
    -------
    TopKResult
        The means, spreads and intervals of all users, to the last bit those of `toplist.Hits`
        by rank; no values per user.

    Raises
    ------
    TypeError, ValueError
        For counts in another form, ranks and numbers that are not whole or below 0, a rank twice,
        and for metrics that need more.

    Examples
    --------
    >>> result = from_rank_counts({1: 2_000_000_000, 3: 1_000_000_000, None: 1_000_000_000}, k=10)
    >>> result["hit@10"], round(result["mrr@10"], 4), result.n_evaluated
    (0.75, 0.5833, 4000000000)

    The rows of the query above, where NULL is the rank of those without a hit:

    >>> from_rank_counts([(1, 20), (2, 7), (None, 73)], k=10)["hit@10"]
    0.27
    """
    asked = Options(metrics=metrics, convention=rules_of(convention).replace(missing="zero"))
    plan = plan_of(asked, k)
    at = _by_rank(counts)
    n_users = sum(at.values())
    metrics_of_hits: tuple[Metric, ...] = ()
    for metric in (entry.metric for entry in plan.entries):
        name = metric.name
        if (
            not isinstance(metric, Metric)
            or metric.earning is not None
            or (metric.dividing.by_hits or name in plan.pooled)
        ):
            raise ValueError(f"{name} needs more than the ranks of the held-out items")
        if metric.dividing.by_length and n_listed is None:
            raise ValueError(f"{name} divides by the length of the lists: give n_listed=")
        metrics_of_hits += (metric,)
    rules = plan.rules
    terms = Terms(plan.entries, rules.name, rules.empty, "zero", Grading(), plan.pooled)
    terms = replace(terms, relevant=rules.relevant, ties=rules.ties or "order")
    depth = terms.depth
    if not depth:
        raise ValueError("k is missing: give the largest rank that counts")
    n_empty = at.get(0, 0) if rules.relevant == "listed" else 0
    n_counted = 0 if set(terms.empty_of.values()) == {"skip"} else n_empty
    users = np.array([n_counted, n_users - n_empty], np.int64)  # of 0 and of 1 relevant item
    n_relevant = np.flatnonzero(users)  # nobody has no row, as in every evaluation
    users = users[n_relevant]
    table = np.zeros((len(users), depth), np.int64)
    for rank, n in at.items():
        if n and 0 < rank <= depth:
            table[-1, rank - 1] = n  # of R = 1
    sums = sums_of(metrics_of_hits)
    spreads = [spread_of_first(table, users[:, np.newaxis], one.discounts(depth)) for one in sums]
    histograms = Histograms(
        metrics_of_hits,
        n_relevant=n_relevant,
        n_listed=np.full(len(users), depth if n_listed is None else n_listed),
        n_users=users,
        each=table,
        nth=table,  # each user has one hit at most: it is the first, and the first of all
        first=table,
        spreads=np.reshape(spreads, (len(sums), *table.shape)),
        gathered={},
        cuts=np.arange(1, depth + 1),
    )
    return TopKResult(terms, histograms, None, None, n_users=n_users, n_missing=0, n_extra=0)


def _by_rank(counts: Any) -> dict[int, int]:
    """Return the number of users at each rank, from any form; NULL and NaN are rank 0."""
    found: dict[int, int] = {}
    for given, number in _rows(to_builtin(counts, "counts")):
        rank = 0 if is_missing(given) else given
        if isinstance(rank, float) and rank.is_integer():  # beside a null, pandas makes floats
            rank = int(rank)
        rank = _whole(rank, "rank")
        if rank and rank in found:
            raise ValueError(f"counts: rank {rank} is there twice: give one row per rank")
        found[rank] = found.get(rank, 0) + _whole(number, "number of users")
    return found


def _rows(counts: Any) -> Iterable[tuple[Any, Any]]:
    """Return pairs of a rank and a number of users."""
    if isinstance(counts, list) and all(isinstance(row, tuple) and len(row) == 2 for row in counts):
        return counts
    columns: Mapping[Any, Any] = {}
    if is_series(counts):
        columns = {"rank": counts.index, "n": counts}
    elif cols.is_frame(counts):
        frame = cols.readable(counts)
        columns = {name: cols.read(frame, name).objects() for name in cols.names_of(frame)}
    elif isinstance(counts, tuple) and len(counts) == 2:
        columns = dict(enumerate(counts))
    elif isinstance(counts, Mapping):
        if not counts or any(not hasattr(one, "__len__") for one in counts.values()):
            return counts.items()
        columns = counts  # arrays by name, as fetchnumpy() of DuckDB
    lists: list[Any] = [
        one if isinstance(one, list) else of_column(one) for one in columns.values()
    ]
    if not lists or None in lists:
        forms = "a dict of rank -> number of users, pairs of both, or two columns, in a table "
        forms += "(what .collect() returns of a lazy one) or a tuple"
        raise TypeError(f"counts is a {type(counts).__name__}: give {forms}")
    if len(lists) != 2:
        shown = ", ".join(map(repr, columns))
        raise ValueError(f"counts: columns {shown}: give two of different names, the rank first")
    ranks, numbers = lists
    if len(ranks) != len(numbers):
        raise ValueError(f"counts: {len(ranks):,} ranks, but {len(numbers):,} numbers of users")
    return zip(ranks, numbers, strict=True)


def _whole(value: Any, what: str) -> int:
    """Return a whole number from 0 on; also a whole Decimal, as sums in a database are."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST_INT:
        way = ": CAST(n AS BIGINT), n.astype('int64')" if isinstance(value, float) else ""
        needed = f"whole numbers from 0 to 2^63 - 1 are needed, of an integer type{way}"
        raise ValueError(f"counts: {what} {value!r}: {needed}")
    return value
