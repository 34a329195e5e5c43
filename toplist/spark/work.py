"""What workers do: they evaluate the users of a partition; parts are merged, and errors sent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.comparing.moments import of_results, shape_of
from toplist.files.loop import evaluate_part
from toplist.files.parquet import start_of_last
from toplist.inputs.options import Keep, Options
from toplist.inputs.tables import WITHOUT_GAPS
from toplist.results.result import TopKResult, merge
from toplist.results.saved import dump, read
from toplist.spark.frames import EMPTY, PLACE, RANKED, RELEVANT
from toplist.stats.systems import PairedMoments, SystemRef

# Rows of complete users that a worker evaluates at a time.
ROWS = 1 << 19
_ON_SPARK = 'ranks.withColumn("score", -ranks["rank"]).drop("rank")'
_TWO_LISTS = re.compile(r"^ranks: user .* (at ranks|has ranks|has \d+ lists) ")


@dataclass(frozen=True)
class Work:
    """How some users are evaluated; it is sent to each worker.

    Attributes
    ----------
    k, options
        Of `toplist.top_k_eval`.
    values : (str or None, str or None)
        The columns of values of both sides.
    systems : tuple of str, or (None,)
    hint : str
        What an error adds that may come from several systems in one table.
    """

    k: Any
    options: Options
    values: tuple[str | None, str | None]
    systems: tuple[str | None, ...] = (None,)
    hint: str = ""

    def results(self, table: Any, keep: Keep | None) -> dict[str | None, TopKResult]:
        """Return the result of every system over some complete users."""
        import pyarrow.compute as pc

        ranked, truth = (table.filter(pc.equal(table["side"], one)) for one in (RANKED, RELEVANT))
        truths = _lists(truth, self.values[1], "ground_truths")
        found = {}
        for name in self.systems:
            rows = ranked if name is None else ranked.filter(pc.equal(ranked["system"], name))
            try:
                found[name] = self._result(_lists(rows, self.values[0], "ranks"), truths, keep)
            except (ValueError, TypeError) as error:
                kind = TypeError if isinstance(error, TypeError) else ValueError
                raise kind(self._worded(str(error), name)) from None
        return found

    def _result(self, lists: Any, truths: Any, keep: Keep | None) -> TopKResult:

        options = replace(self.options, keep=keep)
        if self.values[0] != "score":
            options = replace(options, ties="order")  # ranks have none: the result is silent
        return evaluate_part(lists, truths, self.k, options)

    def _worded(self, words: str, system: str | None) -> str:
        """Return an error in the words of Spark: of arguments, and of no place in a chunk."""
        words = re.sub(r"\brow \d+: ", "", words)
        words = re.sub(r"^(ranks|ground_truths): (ranks|ground_truths): ", r"\1: ", words)
        if WITHOUT_GAPS in words:
            words = words.replace(WITHOUT_GAPS, _ON_SPARK)
        elif _TWO_LISTS.match(words) and not words.endswith("ranks start at 1"):
            words += self.hint
        of_all = system is None or words.startswith("ground_truths: ")
        return words if of_all else f"system {system!r}: {words}"


@dataclass(frozen=True)
class PartialMeans:
    """Evaluates a partition: one result of each system, and the moments of their differences."""

    work: Work
    paired: bool

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the results of a partition, or its error."""
        found: dict[Any, list[TopKResult]] = {name: [] for name in self.work.systems}
        paired: list[PairedMoments] = []
        try:
            for table in _complete(batches):
                parts = self.work.results(table, "users" if self.paired else None)
                if self.paired:
                    paired.append(of_results({str(name): one for name, one in parts.items()}))
                for name, part in parts.items():
                    found[name].append(part.without_users())
        except (ValueError, TypeError) as error:
            yield error_row(error)
            return
        results = {name: merge(parts, disjoint=True) for name, parts in found.items() if parts}
        yield from sent(results, PairedMoments.merged(paired) if paired else None)


def _complete(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield tables of complete users of a sorted stream, of some `ROWS` rows."""
    import pyarrow as pa

    waiting: list[Any] = []
    for batch in batches:
        waiting.append(pa.Table.from_batches([batch]))
        if sum(map(len, waiting)) < ROWS:
            continue
        table = pa.concat_tables(waiting).combine_chunks()
        end = start_of_last(table["user_id"])
        if end:
            yield table.slice(0, end)
        waiting = [table.slice(end)]
    if any(map(len, waiting)):
        yield pa.concat_tables(waiting).combine_chunks()


def _lists(table: Any, value: str | None, argument: str) -> Any:
    """Return rows that are sorted by user as a table with a row per user, and lists."""
    import pyarrow as pa

    names = dict.fromkeys(["user_id", "item_id", PLACE, value or PLACE])
    columns = {name: table[name].combine_chunks() for name in names}
    users = columns["user_id"]
    places = _places(columns, value, argument)
    changes = np.flatnonzero(np.asarray(pa.compute.not_equal(users[1:], users[:-1]))) + 1
    starts = np.concatenate([[0], changes])[: len(users)].astype(np.int64)
    _check_one_list(users, places, starts, argument)
    listed = places != EMPTY
    offsets = np.concatenate([[0], np.cumsum(listed)])[np.append(starts, len(users))]
    data = {"user_id": users.take(pa.array(starts))}
    for name in filter(None, ("item_id", value)):
        kept = columns[name].filter(pa.array(listed))
        lists = pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), kept)
        data["rank" if name == PLACE else name] = lists
    return pa.table(data)


def _places(columns: Mapping[str, Any], value: str | None, argument: str) -> NDArray[np.int32]:
    """Return where items stand in their lists; ValueError for a null, which names the user."""
    users, places = columns["user_id"], columns[PLACE]
    if users.null_count:
        raise ValueError(f"{argument}: a user_id is null")
    lacking = np.flatnonzero(places.is_null())
    if len(lacking):
        user = users[int(lacking[0])].as_py()
        raise ValueError(f"{argument}: user {user!r} has a list that is null: write an empty one")
    found: NDArray[np.int32] = np.asarray(places)
    for name in filter(None, ("item_id", value)):
        lacking = np.flatnonzero(np.asarray(columns[name].is_null(), bool) & (found != EMPTY))
        if len(lacking):
            at = int(lacking[0])
            article = "an" if name == "item_id" else "a"
            longer = found[at] > EMPTY and value not in (None, PLACE)
            more = ", or lists of different lengths" if longer else ""
            user = users[at].as_py()
            raise ValueError(f"{argument}: user {user!r} has {article} {name} that is null{more}")
    return found


def _check_one_list(
    users: Any, places: NDArray[np.int32], starts: NDArray[np.int64], argument: str
) -> None:
    """Raise ValueError for a user with two rows of lists."""
    first = np.flatnonzero((places == EMPTY) | (places == EMPTY + 1))  # a row of every list
    n_lists = np.bincount(np.searchsorted(starts, first, side="right") - 1)
    twice = np.flatnonzero(n_lists > 1)
    if len(twice):
        user = users[int(starts[twice[0]])].as_py()
        raise ValueError(
            f"{argument}: user {user!r} has {n_lists[twice[0]]} lists where a user has one"
        )


SENT = "system string, result binary, moments binary, error string"
# Results that are merged by one task.
FAN = 64


def sent(results: Mapping[Any, TopKResult], paired: PairedMoments | None) -> Iterator[Any]:
    """Yield a row per system; the first has the moments of their differences.

    They do not stand alone, since rows are dealt to the workers that merge them one by one, and
    moments are read by the terms of a result.
    """
    rows: list[dict[str, Any]]
    rows = [{"system": name, "result": dump(one)} for name, one in results.items()]
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
            found[name] = merge([read(TopKResult, one) for one in parts], disjoint=True)
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
