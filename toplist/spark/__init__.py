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
its partition as a stream, evaluates 32 MB of complete users at a time
(`toplist.spark.work`), and sends one result without users, some kilobytes however many users it
holds. So memory hardly depends on the number of users or the size of a partition (10,000,000 rows
took 1.2 x that of 1,000,000). Only the DataFrame API is used: no RDD, no SparkContext, so classic
Spark and Spark Connect are served alike.

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

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, NoReturn

from toplist.checks import check_positive_int, no_attribute
from toplist.evaluation.plan import NOTHING_TO_DROP, Plan, plan_of
from toplist.inputs.options import GROUP, Options
from toplist.inputs.options import Ranks as RanksOfAny
from toplist.metrics.definitions import Metric
from toplist.results.result import TopKResult
from toplist.results.saved import check_storable
from toplist.spark.frames import (
    Side,
    column,
    has_misses,
    perhaps_systems,
    rows_of,
    sides_of,
    systems_of,
    users_of,
)
from toplist.spark.work import FAN, SENT, Merge, Work, collected

__all__ = ["Ranks"]


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
        As in `toplist.Ranks`; ties are "item" or "item_desc", since rows have no order.
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
    sides = ranked, relevant = sides_of(ranks, truths, options.columns, system)
    # no worker knows whether others have items that are judged not relevant
    if options.unjudged == "drop" and not has_misses(relevant, options.relevant_from):
        raise ValueError(NOTHING_TO_DROP)
    own = replace(  # what workers do: they read names of ours, and each is one of many
        plan.options,
        columns={"ground_truths": {GROUP: GROUP}} if relevant.value == GROUP else None,
        system=None,
        partitions=None,
        paired=True,
        n_threads=1,
    )
    sent = {side.argument: side.sent for side in sides}
    systems = (None,) if system is None else systems_of(ranked, system)
    paired = options.paired and len(systems) > 1
    hint = perhaps_systems(ranked) if system is None else ""
    cut = () if partitions is None else (partitions,)
    rows = rows_of(*sides, system).repartition(*cut, "user_id").sortWithinPartitions("user_id")
    parts = rows.mapInArrow(Work(k, own, sent, systems, paired, hint), SENT)
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
    these = None if system is None else column(system).cast("string") == name
    users = users_of(sides[0], these), users_of(sides[1])
    firsts = [some.first() for some in users]
    for argument, first in zip(("ranks", "ground_truths"), firsts, strict=True):
        if first is None:
            raise ValueError(f"{argument} has no rows")
    if users[0].join(users[1], "user_id", "leftsemi").isEmpty():
        listed, relevant = (first[0] for first in firsts)
        whose = "" if system is None else f"system {name!r}: "
        raise ValueError(
            f"{whose}no user is in both: ranks has {listed!r}, ground_truths has {relevant!r}; are "
            "the user ids of both written in the same way?"
        )
