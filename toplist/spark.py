"""Evaluation on Spark: one shuffle by user, partial results as bytes, one ``collect``.

Two DataFrames are evaluated where they are, and `toplist.top_k_eval` returns what a local run
would: the same means bit for bit; with grades, pooling or a divisor of hits so far, and in all
spreads, to 1e-12. The result has no users, so no values per user::

    import toplist
    result = toplist.top_k_eval(recs, truth, k=[10, 50])

A side has user_id, item_id and rank (1..n), score or relevance, a number of any type, by which
items are ordered without rounding; or a row per user with arrays of these, best first. Each metric
needs a k, and is one of hits without functions of your own. What a worker refuses is an error of
one line on the driver, with the user and the item; what Spark itself cannot do is one of Spark.

Both sides are put into one table, shuffled by user and sorted within the partitions; a worker reads
its partition as a stream, evaluates 32 MB of complete users at a time, and sends one result without
users, some kilobytes however many users it holds. So memory hardly depends on the number of users
or the size of a partition (10,000,000 rows took 1.2 x that of 1,000,000). Only the DataFrame API is
used: no RDD, no SparkContext, so classic Spark and Spark Connect are served alike.

Workers import toplist, pyarrow and pandas: install them where the workers run, and set
``PYSPARK_PYTHON`` to that Python if it is not the default one. "No module named 'toplist'" at the
end of a long error says that it is another.

**Partitions.** Give one about a million rows of both sides, and at least the number of cores:
``toplist.spark.Ranks(recs, partitions=rows // 1_000_000)``. Each pays for a task and a result to
merge: of little data, 200 took 12 s on two cores, 7 less than 2 s. Without ``partitions``, Spark's
setting holds, 200 unless it was changed, of which Spark itself joins small ones.

On paper, 10^9 users with 100 items each: 1.65 TB are shuffled as rows; 1,000 partitions send 1.1 GB
of results in all where R is of many sizes, which is why the results of more than 64 partitions are
merged on workers before the driver sees them. Cut ranks beyond the largest k before you come here,
and leave-one-out needs no worker at all: `toplist.loo.from_rank_counts`; nor do coverage, Gini and
entropy: `toplist.beyond.Exposure.from_counts`.

Several systems in one table (``system=``) can be compared as on one machine::

    by_model = toplist.top_k_eval(recs, truth, k=[10, 50], system="model")
    compared = toplist.compare(by_model, baseline="popularity")
    compared.test("ndcg@10")

The workers then send moments of the users' differences, too, with the same shuffle and the same
``collect``: those of every pair of systems at every k asked for, and their covariances over k.
From them follow `test` by ``method="t"`` with any correction, ``equivalence``, ``band``, ``power``,
``tukey`` and the marks of the table, to 12 digits those of the users' values, with the
same wins, ties and losses. Other methods, clusters, segments and k's that were not asked for need
the values of users: collect the DataFrames, ``recs.toArrow()``.

For S systems, M metrics down to K and N ``name@k`` a part sends 8 (S (S - 1) / 2 (12 N +
M K (K + 3) / 2) + (S N)^2 / 2) bytes, hardly compressible, however many users it has: six metrics
of 5 systems 0.03 MB at K = 10, 0.6 MB at 50, 2.1 MB at 100. They cost 0.1 to 0.2 ms for a user of
5 systems, 1 ms for one of 20: it is the pairs that cost. Covariances over k of more than 2^19
numbers (4 MB) are not sent; then there are no bands, and all else works.
``toplist.spark.Ranks(recs, paired=False)`` saves all of it where nothing is to be tested.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import Any, NoReturn

from toplist.checks import check_positive_int, no_attribute, require
from toplist.comparing.samples import moments_of, shape_of
from toplist.evaluation.plan import NOTHING_TO_DROP, Plan, plan_of
from toplist.files.loop import evaluate_part
from toplist.inputs import columns as cols
from toplist.inputs.keyed import KeptTruths
from toplist.inputs.options import GROUP, SIDES, Options, columns_of, named_in, refuse_composite
from toplist.inputs.options import Ranks as RanksOfAny
from toplist.inputs.tables import WITHOUT_GAPS, SideTable
from toplist.metrics.definitions import Metric
from toplist.results.means import merge
from toplist.results.result import TopKResult
from toplist.results.saved import check_storable, dump, read
from toplist.stats.systems import PairedMoments, SystemRef

__all__ = ["Ranks"]

_WHOLE = ("tinyint", "smallint", "int", "bigint")
# Bytes of rows of complete users that a worker evaluates at a time: half a million of one item.
BYTES = 1 << 25
# What workers send, and how many such results one task merges.
SENT = "system string, result binary, moments binary, error string"
FAN = 64
# The result of every system, and the moments of their differences.
Merged = tuple[dict[Any, TopKResult], PairedMoments | None]
_ON_SPARK = 'ranks.withColumn("score", -ranks["rank"]).drop("rank")'
# What an error of a side begins with, and that of a user with two lists.
_PLACE = re.compile(r"^(ranks|ground_truths): row \d+: (?:\1: )?")
_TWO_ROWS = re.compile(r"(?<=: )(user .*) is in rows? \d+ and (?:again in row )?\d+: .*$")
_TWO_LISTS = re.compile(r"^ranks: user .* (at ranks|has ranks|has several lists) ")


def __getattr__(name: str) -> NoReturn:
    """Raise AttributeError; for a name of 0.3 it says what to write instead."""
    raise no_attribute("toplist.spark", name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)


@dataclass(frozen=True, eq=False, repr=False)
class Ranks(RanksOfAny):
    """A DataFrame of ranked lists, and what only Spark knows of it.

    Parameters
    ----------
    ranks : pyspark.sql.DataFrame
    columns, ties, unit : optional
        As in `toplist.Ranks`; ties are not "order", since rows have none.
    partitions : int, optional
        Of the shuffle, one for about a million rows; default: Spark's own setting.
    paired : bool
        Whether tests of several systems are wanted. False saves the moments of their differences,
        which cost more than the rest.

    Examples
    --------
    >>> recs = Ranks(recs, partitions=200)  # doctest: +SKIP
    >>> toplist.top_k_eval(recs, truth, k=10)  # doctest: +SKIP
    """

    partitions: int | None = None
    paired: bool = True


def evaluate(
    ranks: Any, truths: Any, k: int | Iterable[int] | None, options: Options
) -> TopKResult | dict[str, TopKResult]:
    """Evaluate two DataFrames: the part of `toplist.top_k_eval` that is for Spark."""
    plan = _plan(k, options)
    system, partitions = options.system, options.partitions
    sides = ranked, relevant = _sides_of(ranks, truths, options.columns, system)
    # no worker knows whether others have items that are judged not relevant
    if options.unjudged == "drop" and not _has_misses(relevant, options.relevant_from):
        raise ValueError(NOTHING_TO_DROP)
    of_workers = replace(  # what workers do: they read names of ours, and each is one of many
        plan.options,
        columns={"ground_truths": {GROUP: GROUP}} if relevant.value == GROUP else None,
        system=None,
        partitions=None,
        paired=True,
        n_threads=1,
    )
    sent = {side.argument: side.sent for side in sides}
    systems = (None,) if system is None else _systems_of(ranked, system)
    paired = options.paired and len(systems) > 1
    hint = _perhaps_systems(ranked) if system is None else ""
    from pyspark.sql import functions as F

    # both sides as rows of one DataFrame; "side" is 0 for ranks, 1 for ground truths
    cells = [[F.lit(at).alias("side"), *side.cells()] for at, side in enumerate(sides)]
    if system is not None:
        cells[0].append(column(system).cast("string").alias("system"))
    frames = [side.frame.select(*own) for side, own in zip(sides, cells, strict=True)]
    rows = frames[0].unionByName(frames[1], allowMissingColumns=True)
    cut = () if partitions is None else (partitions,)
    rows = rows.repartition(*cut, "user_id").sortWithinPartitions("user_id")
    parts = rows.mapInArrow(Work(k, of_workers, sent, systems, paired, hint), SENT)
    n_parts = partitions or int(parts.sparkSession.conf.get("spark.sql.shuffle.partitions"))
    if n_parts > FAN:
        parts = parts.repartition(ceil(n_parts / FAN)).mapInArrow(Merge(systems), SENT)
    found = collected(parts.collect(), systems)
    for name in systems:
        _check_known_users(found.get(name), sides, system, name)
    return found if system is not None else found[None]


def _plan(k: int | Iterable[int] | None, options: Options) -> Plan:
    """Check what is asked for, before any DataFrame is looked at."""
    if options.ties == "order":
        raise ValueError("ties='order': rows of Spark have no order; give 'item' or 'item_desc'")
    if options.partitions is not None:
        check_positive_int(options.partitions, "partitions")
    plan = plan_of(options, k, "item")
    for one in plan.list_metrics:
        raise ValueError(
            f"{one.name} is a metric of the lists themselves, which toplist.spark has not: "
            "toplist.beyond.Exposure.from_counts gives coverage, Gini and entropy from counts "
            "that Spark makes"
        )
    for metric, ks in ((entry.metric, entry.ks) for entry in plan.entries):
        why = ""
        if isinstance(metric, Metric) and metric.cut == "n":
            why = f"{metric.name} is of whole lists, and no worker knows the longest of all"
        try:
            check_storable(metric)
        except ValueError:
            why = (
                f"metric {metric.name!r} has a function of its own, which the bytes that workers "
                "send cannot hold"
            )
        if why:
            way = "toplist.top_k_eval(recs.toArrow(), truth.toArrow(), ...)"
            raise ValueError(f"{why}: collect the DataFrames, {way}")
        if not ks:
            raise ValueError(
                f"{metric.name} needs a k, since no worker knows the longest list of all: give "
                f"k=10, or '{metric.name}@10'"
            )
    return plan


def _check_known_users(
    found: TopKResult | None, sides: tuple[Side, Side], system: str | None, name: str | None
) -> None:
    """Raise ValueError for a side without rows, and for sides without a common user.

    Only where no user of the truth has a list, some rows of both sides are looked at again.
    """
    if found is not None and found.n_missing < found.n_users:
        return
    frames = [side.frame for side in sides]
    if system is not None:
        frames[0] = frames[0].where(column(system).cast("string") == name)
    pairs = zip(frames, sides, strict=True)
    users = [frame.select(side.cells()[0]) for frame, side in pairs]
    firsts = [some.first() for some in users]
    for argument, first in zip(SIDES, firsts, strict=True):
        if first is None:
            raise ValueError(f"{argument} has no rows")
    if users[0].join(users[1], "user_id", "leftsemi").isEmpty():
        listed, relevant = (first[0] for first in firsts)
        whose = "" if system is None else f"system {name!r}: "
        raise ValueError(
            f"{whose}no user is in both: ranks has {listed!r}, ground_truths has {relevant!r}; are "
            "the user ids of both written in the same way?"
        )


# From two DataFrames to one of rows. What their schemas tell is refused before any job.


@dataclass(frozen=True)
class Side:
    """One of the two DataFrames, the names of its columns, and the argument that it is.

    `value` is the column of values of the items, by our name: "rank", "score", "relevance" or
    "group"; None where there is none.
    """

    frame: Any
    names: Mapping[str, str]
    argument: str
    value: str | None = None

    def kind(self, name: str) -> str:
        """Return the type of a column, called by our name."""
        return str(self.frame.schema[self.names[name]].dataType.simpleString())

    def element(self, name: str) -> str:
        """Return the type of a column, or of the elements of its lists."""
        return self.kind(name).removeprefix("array<").removesuffix(">" if self.has_lists else "")

    @property
    def has_lists(self) -> bool:
        """Whether a row is a user with a list."""
        return self.kind("item_id").startswith("array<")

    @property
    def sent(self) -> dict[str, str]:
        """The columns that workers read, by our names, and what each is called there."""
        names = ("item_id",) if self.value is None else ("item_id", self.value)
        return {"user_id": "user_id"} | {name: f"{self.argument}_{name}" for name in names}

    def cells(self) -> list[Any]:
        """Return the columns as workers read them: whole numbers as bigint, so that they compare.

        Scores keep their type, since none is rounded.
        """
        found = []
        for name, sent in self.sent.items():
            kind = self.kind(name) if name == "user_id" else self.element(name)
            if name == GROUP:
                kind = "string"
            elif kind in _WHOLE:
                kind = "bigint"
            elif kind.startswith("decimal("):
                kind = "double"
            listed = self.has_lists and name != "user_id"
            own = column(self.names[name]).cast(f"array<{kind}>" if listed else kind)
            found.append(own.alias(sent))
        return found


def _sides_of(
    recs: Any, truth: Any, columns: Mapping[str, Any] | None, system: str | None
) -> tuple[Side, Side]:
    """Return both sides; ValueError or TypeError for columns that cannot be evaluated."""
    if system is not None and not isinstance(system, str):
        raise TypeError(f"system={system!r}: give the name of one column of ranks")
    refuse_composite(columns, "DataFrames of Spark")
    names_of = {side: columns_of(columns, side) for side in SIDES}
    if isinstance(truth, KeptTruths) and hasattr(recs, "sparkSession"):
        if truth.users is not None and truth.lists.grouped:
            names_of["ground_truths"].setdefault(GROUP, GROUP)
        truth = _frame_of(truth, recs.sparkSession, names_of["ground_truths"])
    ranked, relevant = (
        _side(frame, argument, names_of[argument])
        for frame, argument in zip((recs, truth), SIDES, strict=True)
    )
    if system is not None:
        require("ranks", [system], recs.columns)
    for name in ("user_id", "item_id"):
        families = [_family(side, name) for side in (ranked, relevant)]
        if families[0] != families[1]:
            theirs, target = relevant.names[name], "string" if families[0] == "text" else "bigint"
            if name == "item_id" and relevant.has_lists:
                target = f"array<{target}>"
            raise TypeError(
                f"{name} holds {families[0]} in ranks and {families[1]} in ground_truths: they are "
                f"never equal; cast one side: ground_truths.withColumn({theirs!r}, "
                f'ground_truths[{theirs!r}].cast("{target}"))'
            )
    return ranked, relevant


def _frame_of(kept: KeptTruths, session: Any, names: Mapping[str, str]) -> Any:
    """Return ground truths as a DataFrame with a list for each user, which may be empty."""
    import pyarrow as pa

    if kept.users is None:
        raise TypeError("ground_truths have no users: Spark needs them keyed, or from a table")
    offsets, lists = pa.array(kept.lists.offsets, pa.int32()), kept.lists
    columns = {names["user_id"]: kept.users}
    items = lists.items.decoded(lists.items.codes)
    columns[names["item_id"]] = pa.ListArray.from_arrays(offsets, pa.array(items))
    if lists.grades is not None:
        grades = pa.ListArray.from_arrays(offsets, pa.array(lists.grades))
        columns[names[GROUP if lists.grouped else "relevance"]] = grades
    return session.createDataFrame(pa.table(columns))


def _side(frame: Any, argument: str, names: Mapping[str, Any]) -> Side:
    """Return one side; its columns are those of an empty table, which is checked as all tables."""
    modules = [kind.__module__ for kind in type(frame).__mro__]
    if not any(name.startswith("pyspark.sql") for name in modules):
        package = type(frame).__module__.partition(".")[0]
        given = repr(frame) if isinstance(frame, str) else f"a {package}.{type(frame).__name__}"
        raise TypeError(
            f"{argument} is {given}: toplist.spark takes DataFrames of Spark; give "
            "spark.table('NAME') of a table, .to_spark() of pyspark.pandas; toplist.top_k_eval "
            "takes pandas and polars"
        )
    import pyarrow as pa

    names = named_in(names, frame.columns, argument)
    found = Side(frame, names, argument)
    empty = pa.Table.from_arrays([pa.nulls(0)] * len(frame.columns), names=frame.columns)
    table = SideTable(empty, argument, names)
    table.one_of("item_id")
    value = table.check(found.has_lists)
    if value is None:
        return found
    name, kind = names[value], found.kind(value)
    if kind.startswith("array<") != found.has_lists:
        raise TypeError(
            f"{argument}: {name!r} is {kind}, {names['item_id']!r} {found.kind('item_id')}: "
            f"give both as lists of one length, or drop {name!r}"
        )
    element = found.element(value)
    is_decimal = element.startswith("decimal(")
    if value == "score" and is_decimal:
        way = f"frame.withColumn({name!r}, frame[{name!r}].cast('double'))"
        raise TypeError(f"{argument}: {name!r} is {kind}: cast scores to doubles, {way}")
    if value != GROUP and element not in (*_WHOLE, "float", "double") and not is_decimal:
        raise TypeError(f"{argument}: {name!r} is {kind}: a {value} is a number")
    return Side(frame, names, argument, value)


def _family(side: Side, name: str) -> str:
    """Return what ids are, in words; TypeError for other than whole numbers and text."""
    kind = side.kind(name) if name == "user_id" else side.element(name)
    if kind not in (*_WHOLE, "string"):
        raise TypeError(
            f"{side.argument}: {side.names[name]!r} is {kind}: ids are whole numbers or text"
        )
    return "text" if kind == "string" else "whole numbers"


def column(name: str) -> Any:
    """Return a column by its name, which may hold dots."""
    from pyspark.sql import functions as F

    return F.col("`" + name.replace("`", "``") + "`")


def _systems_of(recs: Side, system: str) -> tuple[str, ...]:
    """Return the names of all systems, sorted; ValueError for rows without one."""
    names = recs.frame.select(column(system).cast("string")).distinct().collect()
    found = [row[0] for row in names]
    if not found:
        raise ValueError("ranks has no rows, so no systems")
    if None in found:
        raise ValueError(f"ranks: the column {system!r} of systems is null in some rows")
    return tuple(sorted(found))


def _perhaps_systems(recs: Side) -> str:
    """Return what an error says of a user with two lists, if a column may name systems."""
    used = set(recs.names.values())
    others = [field for field in recs.frame.schema.fields if field.name not in used]
    others.sort(key=lambda field: field.dataType.simpleString() != "string")
    if not others:
        return ""
    return f"; if its rows are of several systems, name their column: system={others[0].name!r}"


def _has_misses(truth: Side, relevant_from: float | None) -> bool:
    """Return whether an item of grade 0 or more is judged not relevant; a job of Spark."""
    from pyspark.sql import functions as F

    if truth.value is None:
        return False

    def is_miss(grade: Any) -> Any:
        low = grade == 0 if relevant_from is None else grade < relevant_from
        return low & (grade >= 0)

    grades = column(truth.names[truth.value])
    misses = F.exists(grades, is_miss) if truth.has_lists else is_miss(grades)
    return not truth.frame.where(misses).isEmpty()


# What workers do: they evaluate the users of a partition; parts are merged, and errors sent.


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


def collected(rows: Sequence[Any], systems: Sequence[Any]) -> dict[Any, TopKResult]:
    """Return the result of every system; raise what a worker refused."""
    found, moments = _merged(rows, systems)
    # many parts by key are one evaluation, none by position
    found = {name: one.without_users() for name, one in found.items()}
    if moments is None:
        return found
    return {name: replace(one, paired=SystemRef(moments, name)) for name, one in found.items()}


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
