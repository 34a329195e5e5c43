"""`top_k_eval_batches`: two streams of Arrow record batches, joined part by part.

The engine is that of `toplist.files.streaming`; what comes from DuckDB, Polars, Dask, a Flight
server or a worker of Spark needs no file. Recipes: `toplist.files`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Unpack

from toplist.checks import choice
from toplist.evaluation.evaluate import DEFAULT, ruled
from toplist.evaluation.plan import Aggregate, plan_of
from toplist.files import parquet
from toplist.files.batches import Meet, Part, Stream, U
from toplist.files.formats import PARQUET, FileFormat
from toplist.files.streaming import KEEP, Join, Keep
from toplist.inputs.objects import CURSORS, one_result_at_a_time
from toplist.inputs.options import (
    DUPLICATES,
    Duplicates,
    Items,
    Joining,
    Ties,
    Unknown,
    columns_of,
    known_of,
    shows_items,
)
from toplist.metrics.conventions import ConventionName, Missing, Relevant
from toplist.metrics.definitions import Empty, Gains
from toplist.metrics.names import Metrics
from toplist.results.result import TopKResult


@dataclass(frozen=True)
class BatchStream(Stream):
    """Record batches that are read part by part; `path` is what messages call them."""

    batches: Iterator[Any] = field(default_factory=lambda: iter(()))
    names: tuple[str, ...] = ()

    @property
    def kind(self) -> FileFormat:
        """As Parquet: columns of Arrow."""
        return PARQUET

    def _parts_of_tables(self, meet: Meet[U]) -> Iterator[Part[U]]:
        names = columns_of(self.columns, self.side)
        parts = parquet.of_complete_users(str(self.path), self._tables(), names["user_id"])
        read = ((self._table(frame, first), None, None) for first, frame in parts)
        return self._read_parts(read, meet)

    def _tables(self) -> Iterator[tuple[Any, bool]]:
        arrow, wanted = parquet.pyarrow(), set(columns_of(self.columns, self.side).values())
        for batch in self.batches:
            table = (
                arrow.Table.from_batches([batch]) if hasattr(batch, "to_struct_array") else batch
            )
            names = parquet.columns_read(table.column_names, wanted)
            yield table.select(names), parquet.is_long(table.schema, names)

    def _column_names(self) -> list[str]:
        return list(self.names)

    def find(self, user: Any) -> str:
        """Return how a message begins that is about a user: batches are not read again."""
        return f"{self.path}: "


def batches_of(given: Any, what: str, part: bool) -> tuple[Iterator[Any], tuple[str, ...]]:
    """Return record batches one after another, and the names of their columns if known."""
    batches, names = _opened(given, what)
    return batches if part else _with_rows(batches, what), names


def _opened(given: Any, what: str) -> tuple[Iterator[Any], tuple[str, ...]]:
    arrow = parquet.pyarrow()
    if hasattr(given, "__arrow_c_stream__"):
        with one_result_at_a_time(what):
            reader = arrow.RecordBatchReader.from_stream(given)
        return _streamed(reader, what), tuple(reader.schema.names)
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes, Mapping)):
        return _checked(given, what), ()
    raise TypeError(
        f"{what} is {type(given).__name__}: give a pyarrow.RecordBatchReader, an iterable of "
        "record batches, or what has __arrow_c_stream__; files go to top_k_eval_files"
    )


def _streamed(reader: Any, what: str) -> Iterator[Any]:
    with one_result_at_a_time(what):
        yield from reader


def _checked(given: Iterable[Any], what: str) -> Iterator[Any]:
    arrow = parquet.pyarrow()
    for batch in given:
        if not isinstance(batch, (arrow.RecordBatch, arrow.Table)):
            raise TypeError(f"{what} holds {type(batch).__name__}: give record batches of pyarrow")
        yield batch


def _with_rows(batches: Iterator[Any], what: str) -> Iterator[Any]:
    """Return batches one after another; ValueError once they have ended without a row."""
    n_rows = 0
    for batch in batches:
        n_rows += batch.num_rows
        yield batch
    if n_rows == 0:
        raise ValueError(
            f"{what}: no rows; part=True takes an empty part. A connection of DuckDB 1 ends the "
            f"first of two streams: {CURSORS}"
        )


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
    ties: Ties = "order",
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
    plan = plan_of(metrics, k, convention, weights, aggregate, empty, missing, relevant, ties)
    options = ruled(None, options, plan.rules)
    if keep is not None:
        choice("keep", keep, KEEP)
    choice("duplicates", duplicates, DUPLICATES)
    _ = options.grading  # refuses a wrong word before any batch is read
    if weights is not None and not isinstance(weights, Mapping):
        raise TypeError("weights must be a dict user -> number: streams have no rows to count by")
    lists, truths = batches_of(recs, "recs", part), batches_of(truth, "truth", part)
    streams = (
        BatchStream("recs", "ranks", None, columns, None, ties, lists[0], lists[1]),
        BatchStream("truth", "ground_truths", None, columns, None, "order", truths[0], truths[1]),
    )
    return Join(streams, plan, options, known, False, keep is not None, part).run()
