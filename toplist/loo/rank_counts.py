"""Leave-one-out from counts: how many users have the held-out item at each rank is all there is.

A database counts that itself, in one row per rank, however many users there are::

    SELECT rank, COUNT(*) FROM held_out LEFT JOIN recs USING (user_id, item_id) GROUP BY rank
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from toplist.averages.histograms import Histograms, spread_of_first, sums_of
from toplist.averages.terms import Terms
from toplist.evaluation.evaluate import DEFAULT
from toplist.evaluation.plan import Plan, plan_of
from toplist.inputs.grades import Grading
from toplist.metrics.conventions import ConventionName
from toplist.metrics.definitions import Metric
from toplist.metrics.names import Metrics
from toplist.results.result import TopKResult


def from_rank_counts(
    counts: Mapping[Any, int],
    k: int | Iterable[int] | None = None,
    *,
    metrics: Metrics = DEFAULT,
    convention: ConventionName = "standard",
    n_listed: int | None = None,
) -> TopKResult:
    """Evaluate leave-one-out from the number of users at each rank of the held-out item.

    Parameters
    ----------
    counts : dict of rank -> number of users
        Ranks from 1; 0 or None: the item is not in the list. Every user counts once, also those
        without a list.
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
        For ranks and counts that are no whole numbers from 0 on, and for metrics that need more.

    Examples
    --------
    >>> result = from_rank_counts({1: 2_000_000_000, 3: 1_000_000_000, None: 1_000_000_000}, k=10)
    >>> result["hit@10"], round(result["mrr@10"], 4), result.n_evaluated
    (0.75, 0.5833, 4000000000)
    """
    plan = plan_of(metrics, k, convention, None, None, "zero", "zero")
    n_users, at = _read(counts)
    metrics_of_hits = _checked(plan, n_listed)
    terms = Terms(plan.entries, plan.rules.name, "zero", "zero", Grading(), plan.pooled)
    depth = terms.depth
    if not depth:
        raise ValueError("k is missing: give the largest rank that counts")
    table = np.zeros((1, depth), np.int64)
    for rank, n in at.items():
        if rank <= depth:
            table[0, rank - 1] += n
    users = np.array([n_users], np.int64)
    sums = sums_of(metrics_of_hits)
    spreads = [spread_of_first(table, users[:, np.newaxis], one.discounts(depth)) for one in sums]
    found = Histograms(
        metrics_of_hits,
        np.ones(1, np.int64),
        np.array([depth if n_listed is None else n_listed], np.int64),
        *(users, table, table, table),
        np.reshape(spreads, (len(sums), 1, depth)),
        {},
        np.arange(1, depth + 1),
    )
    return TopKResult(terms, found, None, None, n_users=n_users, n_missing=0, n_extra=0)


def _read(counts: Mapping[Any, int]) -> tuple[int, dict[int, int]]:
    """Return the number of users, and how many have the item at each rank."""
    if not isinstance(counts, Mapping):
        raise TypeError(
            f"counts is {type(counts).__name__}: give a dict of rank -> number of users, such as "
            "{1: 20, 2: 7, 0: 73}"
        )
    at: dict[int, int] = {}
    for rank, n in counts.items():
        rank = 0 if rank is None or rank != rank else rank
        for what, value in (("rank", rank), ("number of users", n)):
            whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
            if not whole or value < 0:
                raise ValueError(f"{what} {value!r}: whole numbers from 0 on are needed")
        at[int(rank)] = at.get(int(rank), 0) + int(n)
    n_users = sum(at.values())
    at.pop(0, None)
    return n_users, at


def _checked(plan: Plan, n_listed: int | None) -> tuple[Metric, ...]:
    """Return the metrics; ValueError for those that need more than ranks."""
    found = []
    for entry in plan.entries:
        metric = entry.metric
        name = metric.name
        if not isinstance(metric, Metric) or metric.dividing.by_hits or name in plan.pooled:
            raise ValueError(f"{name} needs more than the ranks of the held-out items")
        if metric.dividing.by_length and n_listed is None:
            raise ValueError(f"{name} divides by the length of the lists: give n_listed=")
        found.append(metric)
    return tuple(found)
