"""`Plan`: the arguments of an evaluation, checked before any id is read; and who is averaged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.averages import per_user
from toplist.checks import USERS, cached, check_positive_int
from toplist.inputs.keyed import values_by_user, weights_of
from toplist.inputs.lists import name_user
from toplist.inputs.options import (
    DEFAULT_METRICS,
    SIDES,
    ItemData,
    Items,
    Options,
    columns_of,
    needs,
)
from toplist.matching.hits import Hits
from toplist.metrics.beyond_accuracy import ListMetric, distance_by, takes, variant
from toplist.metrics.conventions import CONVENTIONS, Convention, Ties, rules_of
from toplist.metrics.declared import Preference
from toplist.metrics.definitions import METRICS, Metric
from toplist.metrics.names import Metrics, of_trec_eval, parse
from toplist.metrics.properties import SCORED, is_scored, weighed
from toplist.results.result import TopKResult
from toplist.results.terms import Entry, Terms

NO_MISS = (
    "bpref needs judged items that are not relevant, and no ground truth has one: give those with "
    "grade 0, {item: 0}"
)
NOTHING_TO_DROP = (
    "to drop unjudged items needs judged items that are not relevant, and no ground truth has one, "
    "so that every list would be perfect: give those with grade 0, {item: 0}, or count unjudged "
    "items as misses"
)
# What is said of these metrics where ground truths of several items have no groups.
OF_GROUPS = "group_recall", "alpha_ndcg"
NO_GROUPS = "the ground truths name no groups (subtopics, nuggets): each item is its own"


@dataclass(frozen=True, eq=False)
class Plan:
    """The metrics and their k's, the convention, what is known of items, and all options.

    `options` has the items and the propensities that were given, once read.
    """

    entries: tuple[Entry, ...]
    rules: Convention
    pooled: tuple[str, ...]
    options: Options
    made_by: Mapping[str, str]

    @property
    def depth(self) -> int | None:
        """The largest k; None where lists are read whole."""
        ks = [entry.ks for entry in self.entries]
        return max(k for some in ks for k in some) if all(ks) else None

    @property
    def list_metrics(self) -> tuple[ListMetric, ...]:
        """The metrics of the lists themselves."""
        metrics = (entry.metric for entry in self.entries)
        return tuple({one.name: one for one in metrics if isinstance(one, ListMetric)}.values())

    @cached
    def item_data(self) -> ItemData:
        """What the metrics of the lists know of the items."""
        items = self.options.items
        return ItemData(items.given, items.unknown, self.options.joining.reading)

    @property
    def counts_all(self) -> bool:
        """Whether users count who have a list alone: under IPS, with 0 where nothing was seen."""
        propensities = self.options.propensities
        return propensities is not None and propensities.weighting == "ips"

    def lacking(self, hits: Hits, before: Mapping[str, str] | None) -> dict[str, str]:
        """Say what the ground truths of a part lack, and of those before it, by metric."""
        metrics = (entry.metric for entry in self.entries)
        found = {m.name: lacks(m, hits) for m in metrics if isinstance(m, Metric)}
        return {name: words and (before or found)[name] for name, words in found.items()}

    def result(self, hits: Hits, lists: Any = None) -> TopKResult:
        """Evaluate hits; `lists` are the `ListResult` of metrics of the lists themselves."""
        entries = tuple(replace(one, metric=settled(one.metric, hits)) for one in self.entries)
        found = replace(self, entries=entries).part(hits, max(hits.longest, 1))
        return replace(found, terms=found.terms.with_depth(hits.k, hits.longest), lists=lists)

    def part(self, hits: Hits, depth: int = per_user.MIN_TABLE_DEPTH) -> TopKResult:
        """Evaluate the hits of some users, whose result is to be merged with others.

        Where the plan has no k, its terms have none yet, and averages that need the users' curves
        are kept down to `depth`, or the longest list.
        """
        rules, weights, exposed = self.rules, self.options.weights, None
        propensities, asked_as = self.options.propensities, self.options.convention
        known: dict[str, Any] = {}
        if propensities is not None:
            known = {name: getattr(propensities, name) for name in ("weighting", "clip")}
            known["propensities"] = propensities.digest
        terms = Terms(
            *(self.entries, rules.name, rules.empty, rules.missing, hits.grading, self.pooled),
            weighted=weights is not None or known.get("weighting") == "snips",
            relevant=rules.relevant,
            ties=self.options.ties or "order",
            unjudged=hits.unjudged,
            unit=self.options.unit or (USERS if self.options.clusters is None else "rows"),
            known_as=asked_as if isinstance(asked_as, str) and asked_as != rules.name else "",
            made_by=self.made_by,
            own=None if rules.name in CONVENTIONS else rules,
            **known,
        )
        own = None
        if propensities is not None:
            hits, own, exposed = propensities.weigh(hits, list(terms.metrics.values()))
        counted = counted_users(hits, rules, terms.metrics.values())
        if self.counts_all:  # who has a list, or an item that was observed
            counted &= (hits.n_relevant > 0) | (hits.n_listed > 0)
        given = None
        if weights is not None:
            given = weights_of(weights, hits.users, len(hits))
        if own is not None:
            given = own if given is None else own * given
        more: Any = {"clusters": _clusters(self.options, hits), "depth": depth}
        found = TopKResult.of(
            *(terms, hits, counted, given), **more, n_threads=self.options.n_threads
        )
        of_groups = any(one.base in OF_GROUPS for one in terms.metrics.values())
        if of_groups and hits.coverage is None and hits.n_relevant.max(initial=0) > 1:
            found = replace(found, notes=(NO_GROUPS,))
        return found if exposed is None else replace(found, exposed=exposed)


def settled(metric: Any, hits: Hits) -> Any:
    """Return a metric with what follows from all ground truths together: ERR's largest grade.

    Raises
    ------
    ValueError
        If the ground truths lack what it needs.
    """
    if isinstance(metric, ListMetric):
        return metric
    words = lacks(metric, hits)
    if words:
        raise ValueError(words)
    earning = metric.earning
    settle = None if earning is None else getattr(earning.function, "settled", None)
    if earning is None or settle is None:
        return metric
    return replace(metric, counts=replace(earning, function=settle(hits)))


def lacks(metric: Metric, hits: Hits) -> str:
    """Say what the ground truths lack that a metric needs; "" if nothing, or if there are none.

    It is an item of the grade from which on it counts items as relevant, or one of grade 0, which
    all metrics need of lists that unjudged items leave.
    """
    least, earning = metric.relevant_from, metric.earning
    if hits.unjudged == "drop" and len(hits) and not hits.has_misses():
        return NOTHING_TO_DROP
    if hits.coverage is not None and (least is not None or metric.name == "bpref"):
        return f"{metric.name} reads grades, and ground truths of groups have none"
    if least is not None and len(hits) and not per_user.truths_of(hits, metric).n_relevant.any():
        return (
            f"{metric.name}: no ground truth has a grade of {least:g} or more, the largest is "
            f"{hits.largest_grade:g}: give a lower rel="
        )
    needs_misses = earning is not None and isinstance(earning.function, Preference)
    needs_misses = needs_misses and len(hits) > 0
    return NO_MISS if needs_misses and not hits.has_misses(least) else ""


def plan_of(
    options: Options, k: int | Iterable[int] | None, ties: Ties = "order", single: bool = False
) -> Plan:
    """Check what is asked for.

    `ties` is how the source orders equal scores; `single` says that it is one bare list.
    """
    options, rules = replace(options, ties=options.ties or ties), rules_of(options.convention)
    metrics = options.metrics
    if metrics is None:
        metrics = [name for name in DEFAULT_METRICS if name in rules.metrics]
    entries = entries_of(metrics, k, rules)
    options, entries, rules, scored = _weighed(options, entries, rules)
    asked = {e.metric.name: e.metric for e in entries if isinstance(e.metric, Metric)}
    pooled = tuple(n for n, one in asked.items() if rules.is_pooled(one) or one.base in scored)
    for name in pooled:
        if asked[name].empty == "one":
            raise ValueError(
                f"{name} is a ratio of sums over users, in which no user scores 1: give "
                "convention.replace(empty='zero') or convention.replace(empty='skip')"
            )
    if options.unit is not None and not (isinstance(options.unit, str) and options.unit.strip()):
        raise TypeError(f"unit is {options.unit!r}: give what the rows are called, as 'sessions'")
    if options.items_as is not None:
        from toplist.inputs.facts import ItemMap  # what few need, so that imports are quick

        options = replace(options, items_as=ItemMap.of(options.items_as))
    if any(isinstance(entry.metric, ListMetric) for entry in entries):
        from toplist.beyond.listed import facts_of

        known = facts_of(options.items, options.joining.reading, single)
        options = replace(options, items=replace(options.items, **known))
        entries = tuple(one for entry in entries for one in _of_lists(entry, options.items))
    # options that leave no trace in a result, where they are not the usual ones
    words = {"duplicates": options.joining.repeats, "unknown": options.items.unknown}
    made_by: dict[str, str] = {name: word for name, word in words.items() if word != "raise"}
    if options.items_as is not None:
        made_by["items_as"] = options.items_as.digest
    return Plan(entries, rules, pooled, options, made_by)


def _weighed(
    options: Options, entries: tuple[Entry, ...], rules: Convention
) -> tuple[Options, tuple[Entry, ...], Convention, list[str]]:
    """Return options with propensities that are read, and what becomes of metrics and policies.

    Then the names of those that are propensity-scored.
    """
    names = {entry.metric.name for entry in entries}
    if options.propensities is None and names.isdisjoint(SCORED):
        return options, entries, rules, []
    from toplist.averages.propensities import Propensities  # what few need: imports stay quick

    scored = [entry.metric.name for entry in entries if is_scored(entry.metric)]
    if options.propensities is None:
        what = "give {item: p}, how likely each item is to be observed"
        raise ValueError(f"{scored[0]} needs propensities=: {what}")
    refused = ["unjudged='drop'"] if options.unjudged == "drop" else []
    for name, words in (("aggregate", ()), ("empty", ("skip", "zero"))):
        value = getattr(rules, name)
        if name in rules.replaced and value not in words:
            refused.append(f"convention.replace({name}={value!r})")
    if refused:
        raise ValueError(f"propensities= does not go with {refused[0]}: leave it out")
    found = Propensities.of(options.propensities)
    if found.weighting == "ips":
        if "empty" in rules.replaced and rules.empty == "skip":
            raise ValueError(
                "toplist.Propensities(weighting='ips') does not go with "
                "convention.replace(empty='skip'): a user counts as 0 where nothing was observed, "
                "else the mean is of those observed"
            )
        # all users with a list count, with 0 where nothing was observed
        rules = replace(rules, empty="zero", empty_of={})
    estimated = []
    for entry in entries:
        metric = weighed(entry.metric, found.weighting)
        if found.weighting == "ips" and isinstance(metric, Metric):
            metric = metric.with_policy("zero")
        estimated.append(replace(entry, metric=metric))
    return replace(options, propensities=found), tuple(estimated), rules, scored


def _of_lists(entry: Entry, items: Items) -> list[Entry]:
    """Return an entry whose metric knows what is given of the items; one for each label."""
    metric = entry.metric
    if not isinstance(metric, ListMetric):
        return [entry]
    own = dict(metric.given)
    if metric.base == "intra_list_diversity" and "distance" not in own:
        found = variant(metric.base, own | {"distance": distance_by(items.given)})
        return [replace(entry, metric=replace(found, name=metric.name))]
    if "label" not in takes(metric.base) or "label" in own:
        return [entry]
    if items.labels is None:
        raise needs(metric.name, "labels")
    labels = list(map(str, items.labels.data.labels))
    if not labels:
        raise ValueError(f"{metric.name}: labels has no label")
    return [replace(entry, metric=variant(metric.base, {"label": one})) for one in labels]


def _clusters(options: Options, hits: Hits) -> list[Any] | None:
    """Return the label of the cluster of every row; None where no clusters are given."""
    given = options.clusters
    if given is None:
        return None
    from toplist.stats.units import numbered

    if isinstance(given, str):
        keys = [columns_of(options.columns, side)["user_id"] for side in reversed(SIDES)]
        parts = next((one for one in keys if not isinstance(one, str) and given in one), None)
        if parts is None or hits.users is None:
            raise ValueError(
                f"clusters={given!r} is no column of the keys of the rows, {keys[0]!r}; "
                "columns={'user_id': ['user', 'time']} makes keys of several columns, or give the "
                "cluster of each row"
            )
        place = parts.index(given)
        return [key[place] for key in hits.users]
    labels, _ = values_by_user(given, hits.users, len(hits), "clusters")
    numbered(labels, hits.users)  # refuses rows without a cluster
    return labels


def entries_of(
    metrics: Metrics, k: int | Iterable[int] | None, rules: Convention
) -> tuple[Entry, ...]:
    """Read what was asked for into entries, each with its k's."""
    if not (isinstance(metrics, Metric) or np.iterable(metrics)):
        raise ValueError(f"metrics={metrics!r}: give names, or Metric objects")
    asked = [metrics] if isinstance(metrics, (str, Metric)) else list(metrics)
    if not asked:
        raise ValueError("metrics is empty: name at least one")
    ks, scalar = _cut_offs(k), not np.iterable(k)
    if rules is CONVENTIONS.get(rules.name) and all(type(spec) is str for spec in asked):
        return _named_entries(tuple(asked), ks, scalar, rules.name)
    return _entries(asked, ks, scalar, rules)


@lru_cache(maxsize=256)
def _named_entries(
    asked: tuple[str, ...], ks: tuple[int, ...], scalar: bool, name: str
) -> tuple[Entry, ...]:
    """Return the entries of names, read once: it took a tenth of a tiny evaluation."""
    return _entries(asked, ks, scalar, CONVENTIONS[name])


def _entries(
    asked: Iterable[str | Metric], ks: tuple[int, ...], scalar: bool, rules: Convention
) -> tuple[Entry, ...]:
    """Return the entries; ValueError for two metrics of one name, or one twice at one k."""
    entries, metrics, names = list[Entry](), dict[str, Metric | ListMetric](), set[str]()
    for spec in asked:
        metric, own = parse(spec, rules)
        if isinstance(metric, Metric):
            metric = metric.with_policy(rules.policy_of(metric))
        at, one = ((own,), True) if own else (ks, scalar)
        if isinstance(metric, Metric) and metric.cut == "n":
            at, one = (), True
        entries.append(Entry(metric, at, one, of_trec_eval(spec)))
        name = metric.name
        if metrics.setdefault(name, metric) != metric:
            raise ValueError(
                f"two metrics are named {name!r}: give one another name, for example with "
                f"dataclasses.replace(metric, name={name + '_2'!r})"
            )
        for full in [f"{name}@{k}" for k in at] or [name]:
            if full in names:
                raise ValueError(f"{full!r} is asked for twice, by its own k or by the common one")
            names.add(full)
    return tuple(entries)


def _cut_offs(k: int | Iterable[int] | None) -> tuple[int, ...]:
    if k is None:
        return ()
    asked = [*k] if np.iterable(k) and not isinstance(k, str) else [k]
    for word in (one for one in asked if isinstance(one, str)):
        ways = "k=None is whole lists, and metrics= a keyword"
        raise ValueError(f"k must be a whole number from 1 on, not {word!r:.60}: {ways}")
    ks = tuple(check_positive_int(one, "k") for one in asked)
    if len(set(ks)) < len(ks):
        raise ValueError(f"k={list(ks)} holds a cut-off twice")
    if not ks:
        raise ValueError("k is empty: give at least one cut-off")
    return ks


def counted_users(hits: Hits, rules: Convention, metrics: Iterable[Metric]) -> NDArray[np.bool_]:
    """Say which users are in the mean of any of the metrics; raise where a policy is to raise.

    Without metrics, those whom the policies of the rules leave in.
    """
    policies = {
        (one.of, one.relevant_from or -1.0, one.empty or rules.empty): one for one in metrics
    }
    policies = policies or {("relevant", -1.0, rules.empty): METRICS["hit"]}
    has, counted = np.zeros((2, len(hits)), bool)
    for (*_, policy), one in sorted(policies.items(), key=lambda row: row[0]):
        known = per_user.truths_of(hits, one).n_relevant > 0
        if policy == "raise":
            _refuse(hits, ~known, "an empty ground truth", "empty='skip'")
        has |= known
        counted |= known if policy == "skip" else True
    listless = hits.n_listed == 0
    if rules.missing == "raise":
        _refuse(hits, listless & has, "no ranked list", "missing='zero'")
    if rules.missing == "skip":  # whatever the truth: trec_eval never sees such a user
        counted &= ~listless
    return counted


def _refuse(hits: Hits, users: NDArray[np.bool_], what: str, policy: str) -> None:
    """Raise ValueError if there are such users."""
    if users.any():
        who = name_user(hits.users, int(users.argmax()))
        raise ValueError(
            f"{who} has {what} ({int(users.sum()):,} such users); convention.replace({policy}) "
            "continues without an error"
        )
