"""`top_k_eval_batches`: two streams of Arrow record batches, joined part by part.

The engine is that of `toplist.files.streaming`; what comes from DuckDB, Polars, Dask, a Flight
server or a worker of Spark needs no file. Recipes: `toplist.files`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from toplist.checks import choice
from toplist.evaluation.evaluate import DEFAULT, ruled
from toplist.evaluation.plan import Aggregate, plan_of
from toplist.files.batches import stream_of_batches
from toplist.files.streaming import KEEP, Join, Keep
from toplist.inputs.options import (
    DUPLICATES,
    Duplicates,
    Items,
    Joining,
    Ties,
    Unknown,
    known_of,
    shows_items,
)
from toplist.metrics.conventions import ConventionName, Missing, Relevant
from toplist.metrics.definitions import Empty, Gains
from toplist.metrics.names import Metrics
from toplist.results.result import TopKResult


@shows_items
def top_k_eval_batches(
    recs: Any,
    truth: Any,
    k: int | Iterable[int] | None = None,
    *,
    metrics: Metrics = DEFAULT,
    convention: ConventionName = "standard",
    weights: Mapping[Any, float] | None = None,
    aggregate: Aggregate | None = None,
    empty: Empty | None = None,
    missing: Missing | None = None,
    relevant: Relevant | None = None,
    duplicates: Duplicates = "raise",
    padding: Any = None,
    relevant_from: float | None = None,
    gains: Gains | None = None,
    ties: Ties | None = None,
    columns: Mapping[str, Any] | None = None,
    unknown: Unknown = "raise",
    n_threads: int | None = None,
    keep: Keep | None = None,
    part: bool = False,
    **items: Unpack[Items],
) -> TopKResult:
    r"""Evaluate two streams of Arrow record batches, with little of them in memory at a time.

    Parameters
    ----------
    recs : pyarrow.RecordBatchReader, iterable of record batches, or what has __arrow_c_stream__
        Ranked lists: user_id, item_id and rank (1..n) or score, the rows of a user together; or a
        row per user, item_id holding the list. Where the users of both streams come in the same
        order, only what waits for the other side is held.
    truth : as recs
        Relevant ids: user_id, item_id and, with grades, relevance, in either form.
    k, metrics, convention, weights, aggregate, empty, missing, relevant
        As in `toplist.top_k_eval`; weights by user only.
    duplicates, padding, relevant_from, gains, ties, columns, n_threads, keep
        As in `toplist.top_k_eval_files`.
    **items, unknown
        As in `toplist.top_k_eval`.
    part : bool
        Whether this is a part of a larger evaluation, such as one hash bucket of the users: it may
        be empty, and have no user in both streams. `toplist.merge` makes the whole.

    Returns
    -------
    TopKResult
        Without `keep` it holds no hits, so `per_user` raises.

    Raises
    ------
    ValueError, TypeError
        As `toplist.top_k_eval_files`; "recs" and "truth" stand for the names of files. A stream
        without rows is refused, unless this is a part.

    Examples
    --------
    >>> import pyarrow as pa
    >>> recs = pa.table({"user_id": ["ann", "ann"], "item_id": ["tea", "jam"], "rank": [1, 2]})
    >>> truth = pa.table({"user_id": ["ann"], "item_id": ["jam"]})
    >>> top_k_eval_batches(recs.to_reader(), truth.to_reader(), k=2)["mrr@2"]
    0.5
    """
    options = Joining(duplicates, padding, relevant_from, gains, columns, n_threads)
    known = known_of("top_k_eval_batches", items, unknown, options)
    asked = empty, missing, relevant, ties or "order"
    plan = plan_of(metrics, k, convention, weights, aggregate, *asked)
    options = ruled(None, options, plan.rules)
    if keep is not None:
        choice("keep", keep, KEEP)
    choice("duplicates", duplicates, DUPLICATES)
    _ = options.grading  # refuses a wrong word before any batch is read
    if weights is not None and not isinstance(weights, Mapping):
        raise TypeError("weights must be a dict user -> number: streams have no rows to count by")
    streams = (
        stream_of_batches(recs, "ranks", columns, ties, part),
        stream_of_batches(truth, "ground_truths", columns, None, part),
    )
    return Join(streams, plan, options, known, keep is not None, part).run()
