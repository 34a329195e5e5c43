"""What workers do: they evaluate the users of a partition; parts are merged, and errors sent."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from toplist.comparing.samples import moments_of, shape_of
from toplist.files.loop import evaluate_part
from toplist.inputs import columns as cols
from toplist.inputs.options import Options
from toplist.inputs.tables import WITHOUT_GAPS
from toplist.results.merging import merge
from toplist.results.result import TopKResult
from toplist.results.saved import dump, read
from toplist.stats.systems import PairedMoments, SystemRef

# Bytes of rows of complete users that a worker evaluates at a time: half a million of one item.
BYTES = 1 << 25
_ON_SPARK = 'ranks.withColumn("score", -ranks["rank"]).drop("rank")'
# What an error of a side begins with, and that of a user with two lists.
_PLACE = re.compile(r"^(ranks|ground_truths): row \d+: (?:\1: )?")
_TWO_ROWS = re.compile(r"(?<=: )(user .*) is in rows? \d+ and (?:again in row )?\d+: .*$")
_TWO_LISTS = re.compile(r"^ranks: user .* (at ranks|has ranks|has several lists) ")


@dataclass(frozen=True)
class Work:
    """Evaluates a partition: one result of each system, and the moments of their differences.

    It is sent to each worker.

    Attributes
    ----------
    k, options
        Of `toplist.top_k_eval`.
    sent : dict argument -> dict
        The columns of each side by our names, and what they are called in the rows of both.
    systems : tuple of str, or (None,)
    paired : bool
        Whether moments are wanted.
    hint : str
        What an error adds that may come from several systems in one table.
    """

    k: Any
    options: Options
    sent: Mapping[str, Mapping[str, str]]
    systems: tuple[str | None, ...] = (None,)
    paired: bool = False
    hint: str = ""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the results of a partition, or its error."""
        yield from _answer(partial(self._evaluated, batches))

    def _evaluated(self, batches: Iterator[Any]) -> Merged:
        """Return the merged results of a partition."""
        found: dict[Any, list[TopKResult]] = {name: [] for name in self.systems}
        paired: list[PairedMoments] = []
        for table in _complete(batches):
            parts = self._results(table)
            if self.paired:
                paired.append(moments_of({str(name): one for name, one in parts.items()}))
            for name, part in parts.items():
                found[name].append(part.without_users())
        results = {name: merge(parts, disjoint=True) for name, parts in found.items() if parts}
        return results, PairedMoments.merged(paired) if paired else None

    def _results(self, table: Any) -> dict[str | None, TopKResult]:
        """Return the result of every system over some complete users."""
        import pyarrow as pa
        import pyarrow.compute as pc

        def side(rows: Any, argument: str) -> Any:
            names = self.sent[argument].items()
            return pa.table({ours: rows[sent] for ours, sent in names})

        ranked, relevant = (table.filter(pc.equal(table["side"], side)) for side in (0, 1))
        truths = side(relevant, "ground_truths")
        options = replace(self.options, keep="users" if self.paired else None)
        if "score" not in self.sent["ranks"]:
            options = replace(options, ties="order")  # ranks have none: the result is silent
        found = {}
        for name in self.systems:
            rows = ranked if name is None else ranked.filter(pc.equal(ranked["system"], name))
            try:
                found[name] = evaluate_part(side(rows, "ranks"), truths, self.k, options)
            except (ValueError, TypeError) as error:
                kind = TypeError if isinstance(error, TypeError) else ValueError
                raise kind(self._worded(str(error), name)) from None
        return found

    def _worded(self, words: str, system: str | None) -> str:
        """Return an error in the words of Spark: of arguments, and of no place in a chunk."""
        words = _PLACE.sub(r"\1: ", words)
        words = _TWO_ROWS.sub(r"\1 has several lists where a user has one", words)
        words = re.sub(r"\brow \d+", "a row", words)
        if WITHOUT_GAPS in words:
            words = words.replace(WITHOUT_GAPS, _ON_SPARK)
        elif _TWO_LISTS.match(words) and not words.endswith("ranks start at 1"):
            words += self.hint
        of_all = system is None or words.startswith("ground_truths: ")
        return words if of_all else f"system {system!r}: {words}"


def _complete(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield tables of complete users of a sorted stream, of some `BYTES`."""
    import pyarrow as pa

    waiting: list[Any] = []
    for batch in batches:
        waiting.append(pa.Table.from_batches([batch]))
        if sum(one.nbytes for one in waiting) < BYTES:
            continue
        table = pa.concat_tables(waiting).combine_chunks()
        end = cols.read(table, "user_id").start_of_last()
        if end:
            yield table.slice(0, end)
        waiting = [table.slice(end)]
    if any(map(len, waiting)):
        yield pa.concat_tables(waiting).combine_chunks()


SENT = "system string, result binary, moments binary, error string"
# Results that are merged by one task.
FAN = 64


# The result of every system, and the moments of their differences.
Merged = tuple[dict[Any, TopKResult], PairedMoments | None]


def _answer(make: Callable[[], Merged]) -> Iterator[Any]:
    """Yield a row per system, or that of an error, to be raised on the driver.

    The first has the moments. They do not stand alone, since rows are dealt to the workers that
    merge them one by one, and moments are read by the terms of a result.
    """
    import pyarrow as pa

    rows: list[dict[str, Any]]
    try:
        results, paired = make()
        rows = [{"system": name, "result": dump(one)} for name, one in results.items()]
        if rows and paired is not None:
            rows[0]["moments"] = paired.to_bytes()
    except (ValueError, TypeError) as error:
        kind = "TypeError" if isinstance(error, TypeError) else "ValueError"
        rows = [{"error": f"{kind}: {error}"}]
    if rows:
        fields = [tuple(field.split()) for field in SENT.split(", ")]
        yield pa.RecordBatch.from_pylist(rows, pa.schema(fields))


@dataclass(frozen=True)
class Merge:
    """Merges the results of some partitions, on a worker."""

    systems: tuple[Any, ...]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the merged results of some partitions, or the first error."""
        rows = [row for batch in batches for row in batch.to_pylist()]
        yield from _answer(partial(_merged, rows, self.systems))


def _merged(rows: Sequence[Any], systems: Sequence[Any]) -> Merged:
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
            found[name] = merge([read(one, TopKResult) for one in parts], disjoint=True)
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
