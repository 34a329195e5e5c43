"""Leave-one-out from counts: how many users have the held-out item at each rank is all there is.

A database counts that itself, in one row per rank, however many users there are::

    SELECT rank, COUNT(*) FROM held_out LEFT JOIN recs USING (user_id, item_id) GROUP BY rank
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from toplist.averages.histograms import Histograms, spread_of_first, sums_of
from toplist.averages.terms import Terms
from toplist.evaluation.plan import plan_of
from toplist.inputs.catalogues import CountColumns, counts_of
from toplist.inputs.grades import Grading
from toplist.inputs.options import DEFAULT_METRICS, Options
from toplist.metrics.conventions import ConventionName
from toplist.metrics.definitions import Metric
from toplist.metrics.names import Metrics
from toplist.results.result import TopKResult

_COLUMNS = CountColumns("rank", "number of users", "{1: 20, 2: 7, 0: 73}", null=0)


def from_rank_counts(
    counts: Any,
    k: int | Iterable[int] | None = None,
    *,
    metrics: Metrics = DEFAULT_METRICS,
    convention: ConventionName = "standard",
    n_listed: int | None = None,
) -> TopKResult:
    """Evaluate leave-one-out from the number of users at each rank of the held-out item.

    Parameters
    ----------
    counts : dict of rank -> number of users, list of pairs, table, or tuple of two arrays
        Ranks from 1; 0, None or NaN: the item is not in the list. Every user counts once, also
        those without a list. Pairs are rows as a database returns them, whole Decimals too. A
        table (also a relation of DuckDB, and what ``fetchnumpy()`` returns) has two columns, the
        rank first; a Series has the ranks in its index, as ``value_counts(dropna=False)`` makes
        it.
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
    asked = Options(metrics=metrics, convention=convention, empty="zero", missing="zero")
    plan = plan_of(asked, k)
    at = counts_of(counts, "counts", _COLUMNS)
    n_users = sum(at.values())
    checked: list[Metric] = []
    for metric in (entry.metric for entry in plan.entries):
        name = metric.name
        if not isinstance(metric, Metric) or metric.dividing.by_hits or name in plan.pooled:
            raise ValueError(f"{name} needs more than the ranks of the held-out items")
        if metric.dividing.by_length and n_listed is None:
            raise ValueError(f"{name} divides by the length of the lists: give n_listed=")
        checked.append(metric)
    metrics_of_hits = tuple(checked)
    terms = Terms(plan.entries, plan.rules.name, "zero", "zero", Grading(), plan.pooled)
    depth = terms.depth
    if not depth:
        raise ValueError("k is missing: give the largest rank that counts")
    n_rows = min(n_users, 1)  # nobody has no row, as in every evaluation
    table = np.zeros((n_rows, depth), np.int64)
    for rank, n in at.items():
        if n and 0 < rank <= depth:
            table[0, rank - 1] = n
    users = np.full(n_rows, n_users, np.int64)
    sums = sums_of(metrics_of_hits)
    spreads = [spread_of_first(table, users[:, np.newaxis], one.discounts(depth)) for one in sums]
    found = Histograms(
        metrics_of_hits,
        np.ones(n_rows, np.int64),
        np.full(n_rows, depth if n_listed is None else n_listed, np.int64),
        *(users, table, table, table),
        np.reshape(spreads, (len(sums), n_rows, depth)),
        {},
        np.arange(1, depth + 1),
    )
    return TopKResult(terms, found, None, None, n_users=n_users, n_missing=0, n_extra=0)
