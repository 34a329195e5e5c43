"""Results of partitions as rows of bytes: sent by workers, merged by others, and on the driver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toplist.comparing.moments import shape_of
from toplist.results.result import TopKResult, merge
from toplist.stats.systems import PairedMoments, SystemRef

SENT = "system string, result binary, moments binary, error string"
# Results that are merged by one task.
FAN = 64


def sent(results: Mapping[Any, TopKResult], paired: PairedMoments | None) -> Iterator[Any]:
    """Yield a row per system; the first has the moments of their differences.

    They do not stand alone, since rows are dealt to the workers that merge them one by one, and
    moments are read by the terms of a result.
    """
    rows: list[dict[str, Any]]
    rows = [{"system": name, "result": one.to_bytes()} for name, one in results.items()]
    if rows and paired is not None:
        rows[0]["moments"] = paired.to_bytes()
    if rows:
        yield _batch(rows)


def error_row(error: Exception) -> Any:
    """Return the row of an error, to be raised on the driver."""
    kind = "TypeError" if isinstance(error, TypeError) else "ValueError"
    return _batch([{"error": f"{kind}: {error}"}])


def _batch(rows: list[dict[str, Any]]) -> Any:
    import pyarrow as pa

    fields = [tuple(field.split()) for field in SENT.split(", ")]
    return pa.RecordBatch.from_pylist(rows, pa.schema(fields))


@dataclass(frozen=True)
class Merge:
    """Merges the results of some partitions, on a worker."""

    systems: tuple[Any, ...]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the merged results of some partitions, or the first error."""
        rows = [row for batch in batches for row in batch.to_pylist()]
        try:
            merged = _merged(rows, self.systems)
        except (ValueError, TypeError) as error:
            yield error_row(error)
        else:
            yield from sent(*merged)


def _merged(
    rows: Sequence[Any], systems: Sequence[Any]
) -> tuple[dict[Any, TopKResult], PairedMoments | None]:
    """Return the results of all systems, and the moments of their differences.

    Rows are merged in the order of their bytes, so that no bit depends on when they came. What a
    worker refused is raised: of several errors, the first by their words.
    """
    wrong = min((row["error"] for row in rows if row["error"] is not None), default=None)
    if wrong is not None:
        kind, _, words = wrong.partition(": ")
        raise (TypeError if kind == "TypeError" else ValueError)(words)
    found = {}
    for name in systems:
        own = [row["result"] for row in rows if row["system"] == name]
        parts = sorted(bytes(one) for one in own if one is not None)
        if parts:
            found[name] = merge([TopKResult.from_bytes(one) for one in parts], disjoint=True)
    moments = sorted(bytes(row["moments"]) for row in rows if row["moments"] is not None)
    if not moments:
        return found, None
    shape = shape_of(list(systems), next(iter(found.values())).terms)
    return found, PairedMoments.merged(PairedMoments.from_bytes(shape, one) for one in moments)


def collected(rows: list[Any], systems: Sequence[Any]) -> dict[Any, TopKResult]:
    """Return the result of every system; raise what a worker refused."""
    found, moments = _merged(rows, systems)
    # many parts by key are one evaluation, none by position
    found = {name: one.without_users() for name, one in found.items()}
    if moments is None:
        return found
    return {name: replace(one, paired=SystemRef(moments, name)) for name, one in found.items()}
