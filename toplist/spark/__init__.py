"""Evaluation on Spark: one shuffle by user, partial results as bytes, one ``collect``.

Two DataFrames are evaluated where they are, and `top_k_eval` returns what a local run would::

    from toplist import spark as on_spark
    result = on_spark.top_k_eval(recs, truth, k=[10, 50])

Both sides are put into one table, shuffled by user and sorted within the partitions; a worker reads
its partition as a stream, evaluates half a million rows of complete users at a time
(`toplist.spark.work`), and sends one result without users, some kilobytes however many users it
holds. So memory hardly depends on the number of users or the size of a partition (10,000,000 rows
took 1.2 x that of 1,000,000). Only the DataFrame API is used: no RDD, no SparkContext, so classic
Spark and Spark Connect are served alike.

Workers import toplist, pyarrow and pandas: install them where the workers run, and set
``PYSPARK_PYTHON`` to that Python if it is not the default one. "No module named 'toplist'" at the
end of a long error says that it is another.

**Partitions.** Give one about a million rows of both sides: ``partitions=rows // 1_000_000``, and
at least the number of cores. Each pays for a task and a result to merge: of little data, 200 took
12 s on two cores, 7 less than 2 s. Without ``partitions``, Spark's setting holds, 200 unless it was
changed, of which Spark itself joins small ones.

On paper, 10^9 users with 100 items each: 1.65 TB are shuffled as rows; 1,000 partitions send 1.1 GB
of results in all where R is of many sizes, which is why the results of more than 64 partitions are
merged on workers before the driver sees them. Cut ranks beyond the largest k before you come here,
and leave-one-out needs no worker at all: `toplist.loo.from_rank_counts`; nor do coverage, Gini and
entropy: `toplist.beyond.from_counts_of_counts`.

Several systems in one table (``system=``) can be compared as on one machine::

    by_model = on_spark.top_k_eval(recs, truth, k=[10, 50], system="model")
    compared = toplist.compare(by_model, baseline="popularity")
    compared.test("ndcg@10")

The workers then send moments of the users' differences, too, with the same shuffle and the same
``collect``: those of every pair of systems at every k asked for, and their covariances over k.
From them follow `test` by ``method="t"`` with any correction, ``equivalence``, ``band``, ``power``,
``anova``, ``tukey`` and the marks of the table, to 12 digits those of the users' values, with the
same wins, ties and losses. Other methods, clusters, segments and k's that were not asked for need
the values of `per_user`, matched by user::

    values = on_spark.per_user(recs, truth, k=10, metrics="ndcg", system="model").toPandas()
    wide = values.pivot(index="user_id", columns="system", values="ndcg@10").dropna()
    toplist.paired_tests(dict(wide.items()), method="wilcoxon", name="ndcg@10")

For S systems, M metrics down to K and N ``name@k`` a part sends 8 (S (S - 1) / 2 (13 N +
M K (K + 3) / 2) + (S N)^2 / 2) bytes, hardly compressible, however many users it has: six metrics
of 5 systems 0.03 MB at K = 10, 0.6 MB at 50, 2.1 MB at 100. They cost 0.1 to 0.2 ms for a user of
5 systems, 1 ms for one of 20: it is the pairs that cost. Covariances over k of more than 2^19
numbers (4 MB) are not sent; then there are no bands, and all else works. ``paired=False`` saves all
of it where nothing is to be tested.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, get_args, overload

from toplist.averages.stored import metric_content
from toplist.checks import choice, whole
from toplist.evaluation.evaluate import DEFAULT
from toplist.evaluation.plan import Aggregate, Plan, plan_of
from toplist.inputs.grades import Grading
from toplist.inputs.options import DUPLICATES, Duplicates
from toplist.metrics.conventions import ConventionName, Missing, Relevant
from toplist.metrics.definitions import Empty, Gains
from toplist.metrics.names import Metrics
from toplist.results.result import TopKResult
from toplist.spark.frames import (
    Side,
    column,
    first_user,
    perhaps_systems,
    rows_of,
    sides_of,
    systems_of,
)
from toplist.spark.partials import FAN, SENT, Merge, collected
from toplist.spark.work import Means, Values, Work

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["per_user", "top_k_eval"]

SparkTies = Literal["item", "item_desc"]
SPARK_TIES: tuple[SparkTies, ...] = get_args(SparkTies)


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
    k: int | Iterable[int] | None = None,
    *,
    system: None = None,
    **options: Unpack[Options],
) -> TopKResult: ...
@overload
def top_k_eval(
    recs: Any,
    truth: Any,
    k: int | Iterable[int] | None = None,
    *,
    system: str,
    **options: Unpack[Options],
) -> dict[str, TopKResult]: ...
def top_k_eval(
    recs: Any,
    truth: Any,
    k: int | Iterable[int] | None = None,
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
        user_id, item_id and rank (1..n) or score, a number of any type, by which items are ordered
        without rounding; or a row per user, item_id an array, best first, or with an array of ranks
        or scores.
    truth : pyspark.sql.DataFrame
        user_id, item_id and, with grades, relevance; or a row per user with arrays of these.
    k, metrics
        As in `toplist.top_k_eval`; each metric needs a k, here or as ``"ndcg@10"``, and is one of
        hits without functions of your own.
    convention, aggregate, empty, missing, relevant, duplicates, padding
        As in `toplist.top_k_eval`.
    relevant_from, gains
        As in `toplist.top_k_eval`.
    ties : {"item", "item_desc"}
        Equal scores: by item. "order" has no meaning on Spark, whose rows have none.
    columns : mapping, optional
        Your names of user_id, item_id, rank, score and relevance; for one side,
        ``{"recs": {...}, "truth": {...}}``.
    system : str, optional
        A column of recs that names systems: then a dict system -> result is returned, sorted by
        name, which `toplist.compare` takes and tests. The names are looked up first, in a job of
        their own. A user of the truth for whom a system has no rows is one without a list, as
        `missing` says.
    paired : bool
        Whether tests of several systems are wanted. False saves the moments of their differences,
        which cost more than the rest.
    partitions : int, optional
        Of the shuffle, one for about a million rows; default: Spark's own setting.

    Returns
    -------
    TopKResult, or dict of system -> TopKResult
        Means bit for bit those of a local run; with grades, pooling or a divisor of hits so far,
        and in all spreads, to 1e-12. Without users, so without values per user; of several
        systems, each knows the moments of their differences (`TopKResult.paired`).

    Raises
    ------
    TypeError, ValueError
        In one line on the driver: before any job for bad options and columns of other names or
        types; then for what a worker refuses, with the user and the item, and for a side without
        rows. What Spark itself cannot do, such as a cast in your own query, is an error of Spark.

    Examples
    --------
    >>> result = top_k_eval(spark.table("recs"), spark.table("truth"), k=10)  # doctest: +SKIP
    >>> by_model = top_k_eval(recs, truth, k=[10, 50], system="model")  # doctest: +SKIP
    >>> toplist.compare(by_model, baseline="popularity")  # doctest: +SKIP
    """
    policies: Policies = {
        "empty": empty,
        "missing": missing,
        "relevant": relevant,
        "duplicates": duplicates,
        "padding": padding,
        "relevant_from": relevant_from,
        "gains": gains,
    }
    asked = {"metrics": metrics, "convention": convention, "aggregate": aggregate, "ties": ties}
    plan = _plan(k, asked, policies, partitions)
    _refuse_unsent(plan)
    sides = sides_of(recs, truth, columns, system)
    work = _work(sides, k, {**asked, **policies}, system)
    several = paired and len(work.systems) > 1
    parts = _by_user(sides, system, partitions).mapInArrow(Means(work, several), SENT)
    n_parts = partitions or int(parts.sparkSession.conf.get("spark.sql.shuffle.partitions"))
    if n_parts > FAN:
        parts = parts.repartition(ceil(n_parts / FAN)).mapInArrow(Merge(work.systems), SENT)
    found = collected(parts.collect(), work.systems)
    for name in work.systems:
        _refuse_strangers(found.get(name), sides, system, name)
    return found if system is not None else found[None]


def per_user(
    recs: Any,
    truth: Any,
    k: int | Iterable[int] | None = None,
    *,
    metrics: Metrics = DEFAULT,
    convention: ConventionName = "standard",
    columns: Mapping[str, Any] | None = None,
    system: str | None = None,
    partitions: int | None = None,
    ties: SparkTies = "item",
    **options: Unpack[Policies],
) -> DataFrame:
    """Return the values of every user as a DataFrame of Spark, computed when it is used.

    Parameters
    ----------
    recs, truth, k, convention, columns, system, partitions, ties
        As in `top_k_eval`.
    metrics
        As in `top_k_eval`, and metrics of your own.
    **options
        empty, missing, relevant, duplicates, padding, relevant_from, gains, as in `top_k_eval`.

    Returns
    -------
    pyspark.sql.DataFrame
        A row per user of the truth: user_id (whole numbers as bigint), and a column per ``name@k``,
        null for users who are left out. With `system`, a row per user and system, whose name is in
        the column system, all from one shuffle.

    Raises
    ------
    TypeError, ValueError
        At once for bad options, and columns of other names or types. What a worker refuses is an
        error of Spark when the values are used: some twenty lines, with the words of `top_k_eval`
        among them.

    Examples
    --------
    >>> values = per_user(recs, truth, k=10, metrics="ndcg")  # doctest: +SKIP
    >>> values.where("`ndcg@10` = 0").count()  # doctest: +SKIP

    Any test of several systems, by values that are matched by user:

    >>> values = per_user(recs, truth, 10, metrics="ndcg", system="model")  # doctest: +SKIP
    >>> wide = values.toPandas().pivot(
    ...     index="user_id", columns="system", values="ndcg@10"
    ... )  # doctest: +SKIP
    >>> toplist.paired_tests(dict(wide.dropna().items()), method="wilcoxon")  # doctest: +SKIP
    """
    for name in options:
        choice("option", name, tuple(Policies.__annotations__))
    asked = {"metrics": metrics, "convention": convention, "ties": ties}
    plan = _plan(k, asked, options, partitions)
    names = tuple(f"{one.metric.name}@{cut}" for one in plan.entries for cut in one.ks)
    sides = sides_of(recs, truth, columns, system)
    work = _work(sides, k, {**asked, **options}, system)
    rows = _by_user(sides, system, partitions)
    fields = [f"user_id {rows.schema['user_id'].dataType.simpleString()}"]
    fields += ["system string"] if system is not None else []
    fields += [f"`{name}` double" for name in names]
    return rows.mapInArrow(Values(work, names), ", ".join(fields))


def _plan(
    k: int | Iterable[int] | None,
    asked: Mapping[str, Any],
    policies: Policies,
    partitions: int | None,
) -> Plan:
    """Check all options, before any DataFrame is looked at."""
    if asked["ties"] == "order":
        raise ValueError("ties='order': rows of Spark have no order; give 'item' or 'item_desc'")
    choice("ties", asked["ties"], SPARK_TIES)
    choice("duplicates", policies.get("duplicates", "raise"), DUPLICATES)
    Grading(policies.get("relevant_from"), policies.get("gains") or "linear")
    if partitions is not None:
        whole(partitions, "partitions")
    who = policies.get("empty"), policies.get("missing"), policies.get("relevant")
    plan = plan_of(asked["metrics"], k, asked["convention"], None, asked.get("aggregate"), *who)
    for metric in plan.list_metrics:
        raise ValueError(
            f"{metric.name} is a metric of the lists themselves, which toplist.spark has not: "
            "toplist.beyond.from_counts_of_counts gives coverage, Gini and entropy from counts "
            "that Spark makes"
        )
    without = next((one.metric.name for one in plan.entries if not one.ks), None)
    if without is not None:
        raise ValueError(
            f"{without} needs a k, since no worker knows the longest list of all: give k=10, or "
            f"'{without}@10'"
        )
    return plan


def _refuse_unsent(plan: Plan) -> None:
    """Raise ValueError for a metric that is no result in bytes: with functions of one's own."""
    for entry in plan.entries:
        try:
            metric_content(entry.metric)
        except ValueError:
            raise ValueError(
                f"metric {entry.metric.name!r} has a function of its own, which the bytes that "
                "workers send cannot hold: toplist.spark.per_user takes it, and its columns have "
                "the means"
            ) from None


def _work(sides: tuple[Side, Side], k: Any, options: Mapping[str, Any], system: str | None) -> Work:
    recs, truth = sides
    given = {**options, "n_threads": 1}
    values = recs.value, truth.value
    if system is None:
        return Work(k, given, values, hint=perhaps_systems(recs))
    return Work(k, given, values, systems_of(recs, system))


def _by_user(sides: tuple[Side, Side], system: str | None, partitions: int | None) -> Any:
    cut = () if partitions is None else (partitions,)
    return rows_of(*sides, system).repartition(*cut, "user_id").sortWithinPartitions("user_id")


def _refuse_strangers(
    found: TopKResult | None, sides: tuple[Side, Side], system: str | None, name: str | None
) -> None:
    """Raise ValueError for a side without rows, and for sides without a common user.

    Only where no user of the truth has a list, some rows of both sides are looked at again.
    """
    if found is not None and found.n_missing < found.n_users:
        return
    these = None if system is None else column(system).cast("string") == name
    listed, relevant = first_user(sides[0], these), first_user(sides[1])
    for argument, user in (("recs", listed), ("truth", relevant)):
        if user is None:
            raise ValueError(f"{argument} has no rows")
    if found is None or found.n_extra:
        whose = "" if system is None else f"system {name!r}: "
        raise ValueError(
            f"{whose}no user is in both: recs has {listed!r}, truth has {relevant!r}; are the "
            "user ids of both written in the same way?"
        )
