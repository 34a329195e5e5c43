"""Evaluation on Spark: one shuffle by user, partial results as bytes, one ``collect``.

Both sides are put into one table, shuffled by user and sorted within the partitions; a worker reads
its partition as a stream, evaluates some hundred thousand rows of complete users at a time, and
sends one result without users, some kilobytes however many users it holds. So memory hardly depends
on the number of users or the size of a partition (10,000,000 rows took 1.2 x that of 1,000,000).
Only the DataFrame API is used: no RDD, no SparkContext, so classic Spark and Spark Connect are
served alike.

On paper, 10^9 users with 100 items each: 1.65 TB are shuffled as rows; 1,000 partitions send 1.1 GB
of results in all where R is of many sizes, which is why above `FAN` partitions the results are
merged on workers before the driver sees them. Set ``partitions`` so that one has some million rows;
cut ranks beyond the largest k before you come here, and leave-one-out needs no worker at all:
`toplist.loo.from_rank_counts`; nor do coverage, Gini and entropy:
`toplist.beyond.from_counts_of_counts`.

Several systems in one table (``system=``) can be compared as on one machine::

    by_model = toplist.spark.top_k_eval(recs, truth, k=[10, 50], system="model")
    compared = toplist.compare(by_model, baseline="popularity")
    compared.test("ndcg@10")

The workers then send moments of the users' differences, too, with the same shuffle and the same
``collect``: those of every pair of systems at every k asked for, and their covariances over k.
From them follow `test` by ``method="t"`` with any correction, ``equivalence``, ``band``, ``power``,
``anova``, ``tukey`` and the marks of the table, to 12 digits those of the users' values, with the
same wins, ties and losses. Other methods, clusters, segments and k's that were not asked for need
the values: write those of each system (`per_user`) to Parquet, for `toplist.paired_tests`.

For S systems, M metrics down to K and N ``name@k`` a part sends 8 (S (S - 1) / 2 (13 N +
M K (K + 3) / 2) + (S N)^2 / 2) bytes, hardly compressible, however many users it has: six metrics
of 5 systems 0.03 MB at K = 10, 0.6 MB at 50, 2.1 MB at 100. They cost 0.1 to 0.2 ms for a user of
5 systems, 1 ms for one of 20: it is the pairs that cost. Covariances over k of more than 2^19
numbers (4 MB) are not sent; then there are no bands, and all else works. ``paired=False`` saves all
of it where nothing is to be tested.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, get_args, overload

import numpy as np

from toplist.checks import choice
from toplist.evaluation.evaluate import DEFAULT
from toplist.evaluation.plan import Aggregate, plan_of
from toplist.inputs.options import DUPLICATES, TIES, Duplicates, columns_of
from toplist.metrics.conventions import ConventionName, Missing, Relevant
from toplist.metrics.definitions import Empty, Gains
from toplist.metrics.names import Metrics
from toplist.results.merging import merge
from toplist.results.moments import Place, of_results, shape_of
from toplist.results.result import TopKResult
from toplist.stats.systems import PairedMoments

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["per_user", "top_k_eval"]

# Rows of complete users that a worker evaluates at a time.
ROWS = 1 << 19
# Results that are merged by one task.
FAN = 64
SparkTies = Literal["item", "item_desc"]
SPARK_TIES: tuple[SparkTies, ...] = get_args(SparkTies)
_SENT = "system string, result binary, moments binary, error string"
_RANKED, _RELEVANT = 0, 1
_WITH_ARTICLE = {"item_id": "an item_id"} | {n: f"a {n}" for n in ("rank", "score", "relevance")}
_WHOLE = ("tinyint", "smallint", "int", "bigint")


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)


class Policies(TypedDict, total=False):
    """Keywords of `top_k_eval` that `per_user` has too."""

    empty: Empty | None
    missing: Missing | None
    relevant: Relevant | None
    duplicates: Duplicates
    padding: Any
    relevant_from: float | None
    gains: Gains | None


class Options(Policies, total=False):
    """All keywords of `top_k_eval` but `system`, on which the type of its result depends."""

    metrics: Metrics
    convention: ConventionName
    aggregate: Aggregate | None
    ties: SparkTies
    columns: Mapping[str, Any] | None
    paired: bool
    partitions: int | None


@overload
def top_k_eval(
    recs: Any,
    truth: Any,
    k: int | Iterable[int],
    *,
    system: None = None,
    **options: Unpack[Options],
) -> TopKResult: ...
@overload
def top_k_eval(
    recs: Any, truth: Any, k: int | Iterable[int], *, system: str, **options: Unpack[Options]
) -> dict[str, TopKResult]: ...
def top_k_eval(
    recs: Any,
    truth: Any,
    k: int | Iterable[int],
    *,
    metrics: Metrics = DEFAULT,
    convention: ConventionName = "standard",
    aggregate: Aggregate | None = None,
    empty: Empty | None = None,
    missing: Missing | None = None,
    relevant: Relevant | None = None,
    duplicates: Duplicates = "raise",
    padding: Any = None,
    relevant_from: float | None = None,
    gains: Gains | None = None,
    ties: SparkTies = "item",
    columns: Mapping[str, Any] | None = None,
    system: str | None = None,
    paired: bool = True,
    partitions: int | None = None,
) -> TopKResult | dict[str, TopKResult]:
    """Evaluate two DataFrames of Spark; the result is that of `toplist.top_k_eval`.

    Parameters
    ----------
    recs : pyspark.sql.DataFrame
        user_id, item_id and rank (1..n) or score, a number that a double holds; or item_id an
        array, best first.
    truth : pyspark.sql.DataFrame
        user_id, item_id and, with grades, relevance; or item_id an array, and relevance with it.
    k, metrics, convention, aggregate, empty, missing, relevant, duplicates, padding
        As in `toplist.top_k_eval`; k is needed.
    relevant_from, gains, columns
        As in `toplist.top_k_eval`.
    ties : {"item", "item_desc"}
        Equal scores: by item. "order" has no meaning on Spark, whose rows have none.
    system : str, optional
        A column of recs that names systems: then a dict system -> result is returned, sorted by
        name, which `toplist.compare` takes and tests. A user of the truth for whom a system has no
        rows is one without a list, as `missing` says.
    paired : bool
        Whether tests of several systems are wanted. False saves the moments of their differences,
        which cost more than the rest.
    partitions : int, optional
        Of the shuffle; default: Spark's own.

    Returns
    -------
    TopKResult, or dict of system -> TopKResult
        Means bit for bit those of a local run; with grades, pooling or a divisor of hits so far,
        and in all spreads, to 1e-12. Without users, so without values per user; of several
        systems, each knows the moments of their differences (`TopKResult.paired`).

    Raises
    ------
    TypeError, ValueError
        In one line on the driver: for columns of other types on both sides, and for what a worker
        refuses, with the user and the item.

    Examples
    --------
    >>> result = top_k_eval(spark.table("recs"), spark.table("truth"), k=10)  # doctest: +SKIP
    >>> by_model = top_k_eval(recs, truth, k=[10, 50], system="model")  # doctest: +SKIP
    >>> toplist.compare(by_model, baseline="popularity")  # doctest: +SKIP
    """
    options: dict[str, Any] = {
        "metrics": metrics,
        "convention": convention,
        "aggregate": aggregate,
        "empty": empty,
        "missing": missing,
        "relevant": relevant,
    }
    plan_of(metrics, k, convention, None, aggregate, empty, missing, relevant)
    choice("duplicates", duplicates, DUPLICATES)
    choice("ties", ties, TIES)
    if ties == "order":  # type: ignore[comparison-overlap]
        raise ValueError("ties='order': rows of Spark have no order; give 'item' or 'item_desc'")
    options |= {"duplicates": duplicates, "padding": padding, "relevant_from": relevant_from}
    options |= {"gains": gains, "ties": ties, "n_threads": 1}
    both = _union(recs, truth, columns, system)
    systems: list[Any] = [None]
    if system is not None:
        systems = _systems(recs, system)
    work = _Work(k, options, both.values, tuple(systems), paired and len(systems) > 1)
    parts = _by_user(both.frame, partitions).mapInArrow(work.evaluate, _SENT)
    n_parts = partitions or int(both.frame.sparkSession.conf.get("spark.sql.shuffle.partitions"))
    if n_parts > FAN:
        parts = parts.repartition(ceil(n_parts / FAN)).mapInArrow(_Merge(work.systems), _SENT)
    found = _collected(parts.collect(), systems)
    return found if system is not None else found[None]


def _systems(recs: Any, system: str) -> list[str]:
    """Return the names of all systems; ValueError for rows without one."""
    from pyspark.sql import functions as F

    found = [row[0] for row in recs.select(F.col(system).cast("string")).distinct().collect()]
    if None in found:
        raise ValueError(f"ranks: the column {system!r} of systems is null in some rows")
    return sorted(found)


def per_user(
    recs: Any,
    truth: Any,
    k: int | Iterable[int],
    *,
    metrics: Metrics = DEFAULT,
    convention: ConventionName = "standard",
    columns: Mapping[str, Any] | None = None,
    partitions: int | None = None,
    ties: SparkTies = "item",
    **options: Unpack[Policies],
) -> DataFrame:
    """Return the values of every user as a DataFrame of Spark, computed when it is used.

    Parameters
    ----------
    recs, truth, k, metrics, convention, columns, partitions, ties
        As in `top_k_eval`.
    **options
        empty, missing, relevant, duplicates, padding, relevant_from, gains, as in `top_k_eval`.

    Returns
    -------
    pyspark.sql.DataFrame
        A row per user of the truth: user_id, and a column per ``name@k``, null for users who are
        left out. What a worker refuses is an error of Spark, with the same words in it.

    Examples
    --------
    >>> values = per_user(recs, truth, k=10, metrics="ndcg")  # doctest: +SKIP
    >>> values.where("`ndcg@10` = 0").count()  # doctest: +SKIP
    """
    for name in options:
        choice("option", name, tuple(Policies.__annotations__))
    given: dict[str, Any] = dict(options)
    policies = options.get("empty"), options.get("missing"), options.get("relevant")
    plan = plan_of(metrics, k, convention, None, None, *policies)
    choice("ties", ties, SPARK_TIES)
    given |= {"metrics": metrics, "convention": convention, "ties": ties, "n_threads": 1}
    both = _union(recs, truth, columns, None)
    names = [f"{one.metric.name}@{cut}" for one in plan.entries for cut in one.ks]
    work = _Work(k, given, both.values, (None,), False)
    kind = both.frame.schema["user_id"].dataType.simpleString()
    schema = ", ".join([f"user_id {kind}", *(f"`{name}` double" for name in names)])
    return _by_user(both.frame, partitions).mapInArrow(_Values(work, tuple(names)), schema)


@dataclass(frozen=True)
class _Values:
    """What a worker does for values of users."""

    work: _Work
    names: tuple[str, ...]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the values of the users of a partition."""
        import pyarrow as pa

        for table in _complete(batches):
            result = self.work.part(table, None, keep="hits")
            kind = table.schema.field("user_id").type
            arrays = [pa.array(list(result.users), kind)]
            for name in self.names:
                values = result.per_user(name)
                arrays.append(pa.array(values, mask=np.isnan(values)))
            yield pa.RecordBatch.from_arrays(arrays, ["user_id", *self.names])


@dataclass(frozen=True)
class _Both:
    """Both sides in one frame, and the name of the values of each, if it has some."""

    frame: Any
    values: tuple[str | None, str | None]


def _union(recs: Any, truth: Any, columns: Mapping[str, Any] | None, system: str | None) -> _Both:
    """Return both sides as rows of side, user_id, item_id, value and system."""
    from pyspark.sql import functions as F

    frames, values = [], []
    kinds: dict[str, str] = {}
    for side, frame, what in ((_RANKED, recs, "ranks"), (_RELEVANT, truth, "ground_truths")):
        names = columns_of(columns, what)
        lists = _is_list(frame, names, what)
        wanted = ("relevance",) if side == _RELEVANT else () if lists else ("rank", "score")
        given = next((name for name in wanted if names[name] in frame.columns), None)
        if side == _RANKED and given is None and not lists:
            raise ValueError(f"{what}: neither {names['rank']!r} nor {names['score']!r} is there")
        _same_kind(frame, names, what, kinds)
        whose = F.col(system) if system is not None and side == _RANKED else F.lit(None)
        column = None if given is None else names[given]
        frames.append(_rows(frame, names, column, lists, side, whose))
        values.append("rank" if side == _RANKED and lists else given)
    return _Both(frames[0].unionByName(frames[1]), (values[0], values[1]))


def _rows(
    frame: Any, names: Mapping[str, str], value: str | None, lists: bool, side: int, system: Any
) -> Any:
    """Return a side as rows of a user and an item; of an empty list, a row with listed false."""
    from pyspark.sql import functions as F

    item, number = F.col(names["item_id"]), F.lit(None) if value is None else F.col(value)
    listed = F.lit(True)
    if lists:
        zipped = [item.alias("item")] + ([number.alias("number")] if value is not None else [])
        frame = frame.select("*", F.posexplode_outer(F.arrays_zip(*zipped)).alias("_at", "_of"))
        item, listed = F.col("_of.item"), F.col("_at").isNotNull()
        number = F.col("_at") + 1 if side == _RANKED else F.lit(None)
        number = F.col("_of.number") if value is not None else number
    user = F.col(names["user_id"])
    return frame.select(
        F.lit(side).alias("side"),
        _wide(user, _kind(frame, names["user_id"])).alias("user_id"),
        _wide(item, _kind(frame, names["item_id"])).alias("item_id"),
        number.cast("double").alias("value"),
        system.cast("string").alias("system"),
        listed.alias("listed"),
    )


def _kind(frame: Any, name: str) -> str:
    """Return the type of a column, or of the elements of its lists."""
    kind = str(frame.schema[name].dataType.simpleString())
    return kind.removeprefix("array<").removesuffix(">") if kind.startswith("array<") else kind


def _wide(column: Any, kind: str) -> Any:
    """Return whole numbers as bigint, so that int and bigint are one user."""
    return column.cast("bigint") if kind in _WHOLE else column


def _is_list(frame: Any, names: Mapping[str, str], what: str) -> bool:
    for name in ("user_id", "item_id"):
        if names[name] not in frame.columns:
            raise ValueError(
                f"{what}: no column {names[name]!r}; columns found: {', '.join(frame.columns)}"
            )
    return bool(frame.schema[names["item_id"]].dataType.simpleString().startswith("array<"))


def _same_kind(frame: Any, names: Mapping[str, str], what: str, kinds: dict[str, str]) -> None:
    """Raise TypeError where ids of one side are numbers and those of the other text."""
    for name in ("user_id", "item_id"):
        kind = _kind(frame, names[name])
        family = "whole numbers" if kind in _WHOLE else "text" if kind == "string" else ""
        if not family:
            raise TypeError(f"{what}: {names[name]!r} is {kind}: ids are whole numbers or text")
        if kinds.setdefault(name, family) != family:
            column, target = names[name], "bigint" if family == "text" else "string"
            raise TypeError(
                f"{name} holds {kinds[name]} in recs and {family} in truth: they are never equal; "
                f'cast one side: truth.withColumn({column!r}, truth[{column!r}].cast("{target}"))'
            )


def _by_user(frame: Any, partitions: int | None) -> Any:
    cut = () if partitions is None else (partitions,)
    return frame.repartition(*cut, "user_id").sortWithinPartitions("user_id")


@dataclass(frozen=True)
class _Work:
    """What a worker does: it is sent to each, with the options."""

    k: Any
    options: Mapping[str, Any]
    values: tuple[str | None, str | None]
    systems: tuple[str | None, ...]
    paired: bool

    def evaluate(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the results of a partition, or its error."""
        found: dict[Any, list[TopKResult]] = {name: [] for name in self.systems}
        paired: list[PairedMoments] = []
        keep = "hits" if self.paired else None
        try:
            for table in _complete(batches):
                parts: dict[Any, TopKResult] = {}
                for name in self.systems:
                    parts[name] = self.part(table, name, keep=keep)
                if self.paired:
                    paired.append(of_results(parts))
                for name, part in parts.items():
                    found[name].append(part.without_users())
        except (ValueError, TypeError) as error:
            # places in a chunk say nothing; the user is named
            words = re.sub(r"^(recs|truth): |\brow \d+: ", "", str(error))
            kind = "TypeError" if isinstance(error, TypeError) else "ValueError"
            yield _batch([{"error": f"{kind}: {words}"}])
            return
        results = {name: merge(parts, disjoint=True) for name, parts in found.items() if parts}
        yield from _sent(results, PairedMoments.merged(paired) if paired else None)

    def part(self, table: Any, system: str | None, **more: Any) -> TopKResult:
        """Evaluate some complete users."""
        import pyarrow.compute as pc

        from toplist.files.record_batches import top_k_eval_batches

        ranked = table.filter(pc.equal(table["side"], _RANKED))
        if system is not None:
            ranked = ranked.filter(pc.equal(ranked["system"], system))
        truth = table.filter(pc.equal(table["side"], _RELEVANT))
        lists = _lists(ranked, self.values[0], "ranks")
        truths = _lists(truth, self.values[1], "ground_truths")
        options: dict[str, Any] = {**self.options, **more}
        if self.values[0] != "score":
            options["ties"] = "order"  # ranks have none, and the result need not speak of them
        return top_k_eval_batches(lists, truths, self.k, part=True, **options)


def _complete(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield tables of complete users of a sorted stream, of some `ROWS` rows."""
    import pyarrow as pa

    from toplist.files.parquet import start_of_last

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
    table = pa.concat_tables(waiting).combine_chunks() if waiting else None
    if table is not None and len(table):
        yield table


def _lists(table: Any, value: str | None, what: str) -> Any:
    """Return rows that are sorted by user as a table with a row per user, and lists.

    What is null in a row that is listed is an error that names the user.
    """
    import pyarrow as pa

    users, items, values, listed = (
        table[name].combine_chunks() if table[name].num_chunks else pa.array([], table[name].type)
        for name in ("user_id", "item_id", "value", "listed")
    )
    if users.null_count:
        raise ValueError(f"{what}: a user_id is null")
    there = np.asarray(listed, bool)
    for name, column in (("item_id", items), (value, values)):
        lacking = np.flatnonzero(there & np.asarray(column.is_null(), bool))
        if name is not None and len(lacking):
            user = users[int(lacking[0])].as_py()
            raise ValueError(f"{what}: user {user!r} has {_WITH_ARTICLE[name]} that is null")
    changes = np.flatnonzero(np.asarray(pa.compute.not_equal(users[1:], users[:-1]))) + 1
    starts = np.concatenate([[0], changes])[: len(users)].astype(np.int64)
    before = np.concatenate([[0], np.cumsum(there)])
    offsets = pa.array(before[np.append(starts, len(users))], pa.int64())
    data = {"user_id": users.take(pa.array(starts))}
    data["item_id"] = pa.LargeListArray.from_arrays(offsets, items.filter(listed))
    if value is not None:
        numbers = np.asarray(values.filter(listed))
        if value == "rank" and np.all(numbers == np.floor(numbers)):
            numbers = numbers.astype(np.int64)
        data[value] = pa.LargeListArray.from_arrays(offsets, pa.array(numbers))
    return pa.table(data)


def _sent(results: Mapping[Any, TopKResult], paired: PairedMoments | None) -> Iterator[Any]:
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


def _batch(rows: list[dict[str, Any]]) -> Any:
    import pyarrow as pa

    kinds = {"system": pa.string(), "error": pa.string()}
    kinds |= {"result": pa.binary(), "moments": pa.binary()}
    names = [word.split()[0] for word in _SENT.split(", ")]
    columns = {name: pa.array([row.get(name) for row in rows], kinds[name]) for name in names}
    return pa.RecordBatch.from_pydict(columns)


@dataclass(frozen=True)
class _Merge:
    """What a worker does that merges the results of some partitions."""

    systems: tuple[Any, ...]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the merged results of some partitions, or the first error."""
        rows = [row for batch in batches for row in batch.to_pylist()]
        wrong = [row for row in rows if row["error"] is not None]
        if wrong:
            yield _batch([{"error": wrong[0]["error"]}])
        elif rows:
            yield from _sent(*_merged(rows, self.systems))


def _merged(
    rows: Sequence[Any], systems: Sequence[Any]
) -> tuple[dict[Any, TopKResult], PairedMoments | None]:
    """Return the results of all systems, and the moments of their differences.

    Rows are merged in the order of their bytes, so that no bit depends on when they came.
    """
    found = {}
    for name in systems:
        sent = sorted(
            bytes(row["result"])
            for row in rows
            if row["system"] == name and row["result"] is not None
        )
        if sent:
            found[name] = merge([TopKResult.from_bytes(one) for one in sent], disjoint=True)
    moments = sorted(bytes(row["moments"]) for row in rows if row["moments"] is not None)
    if not moments:
        return found, None
    shape = shape_of(list(systems), next(iter(found.values())).terms)
    return found, PairedMoments.merged(PairedMoments.from_bytes(shape, one) for one in moments)


def _collected(rows: list[Any], systems: Sequence[Any]) -> dict[Any, TopKResult]:
    """Return the result of every system; raise what a worker refused."""
    wrong = sorted(row["error"] for row in rows if row["error"] is not None)
    if wrong:
        kind, _, words = wrong[0].partition(": ")
        raise (TypeError if kind == "TypeError" else ValueError)(words)
    if not rows:
        raise ValueError("recs and truth have no rows")
    found, moments = _merged(rows, systems)
    for one in found.values():
        if one.n_extra and one.n_missing == one.n_users:
            raise ValueError(
                "no user is in both: are the user ids of recs and truth written in the same way?"
            )
    # many parts by key are one evaluation, none by position
    found = {name: one.without_users() for name, one in found.items()}
    if moments is None:
        return found
    return {name: replace(one, paired=Place(moments, name)) for name, one in found.items()}
