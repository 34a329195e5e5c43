"""What is said of one result: who was counted, by which rules; its table, rows, frames, JSON."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from toplist.checks import counted, in_latex, worded
from toplist.metrics import properties
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.conventions import CONVENTIONS, KNOWN, known_of, policies, same_formula
from toplist.metrics.definitions import Metric
from toplist.results.means import FAR, Means, says
from toplist.results.tables import LOOK, NOTHING, Cell, Grid, Look, Page, Table


def account(result: Means) -> str:
    """Return who was counted: the users in the means, those left out, and why."""
    terms, n_skipped = result.terms, result.n_skipped
    users, ips = worded(counted(result.n_users, "user"), terms.unit), terms.weighting == "ips"
    n_empty, score = result.histograms.n_empty, {"zero": 0, "one": 1}.get(terms.empty)
    what = "an observed item" if ips else "relevant items"
    is_told = score is not None and (terms.empty in terms.empty_of.values() or not terms.metrics)
    policy = "left out" if terms.missing == "skip" else "counted as 0"
    n_skipped -= result.n_missing if terms.missing == "skip" else 0  # skipped, and told below
    why = "neither a list nor an observed item" if ips else "no relevant items"
    weights, hits = result.weights, result.hits
    if terms.weighting == "snips":  # who has no relevant item has no weight
        has = None if hits is None else hits.n_relevant > 0
        of_none = weights is not None and has is not None and not weights[has].all()
    else:
        of_none = terms.weighted and (weights is None or not weights.all())
    why += ", or a weight of 0" * of_none
    n_parts = 0 if result.has_keys else len(result.prints)
    told = {
        f"{result.n_evaluated:,} of {users} evaluated": True,
        f"of {counted(result.n_clusters, 'cluster')}": result.clusters is not None,
        f"{n_empty:,} of them without {what} (counted as {score})": n_empty * is_told,
        f"{n_skipped:,} skipped ({why})": n_skipped > 0,
        f"{result.n_missing:,} without a list ({policy})": result.n_missing > 0,
        f"{result.n_extra:,} with a list but no ground truth (ignored)": result.n_extra > 0,
        **dict.fromkeys(_other_numbers(result), True),
        **{f"{name} {one:.4f} before unjudged items left": True for name, one in judged(result)},
        f"merged by position from {n_parts:,} parts": n_parts > 1,
    }
    text = ", ".join(words for words, holds in told.items() if holds)
    if not result.n_evaluated or result.histograms.each.any():
        return text
    if n_empty == result.n_evaluated:
        if hits is not None and hits.n_relevant.any():  # to users of weight 0
            return text
        return f"{text}; NO ITEM IS RELEVANT: look at the grades of the ground truths"
    # nobody has a hit: an item of each side and the likely cause, where known
    found = result.unmatched if result.hits is None else result.hits.about.unmatched
    asked = "are the item ids of both sides written in the same way?"
    if found is None:
        return f"{text}; NO HIT AT ALL: {asked}"
    if found.listed == found.relevant:
        return f"{text}; NO HIT AT ALL: no listed item is relevant, {found.listed!r} for one"
    likely = f"likely cause: {found.cause}" if found.cause else asked
    return (
        f"{text}; NO HIT AT ALL: the lists hold items such as {found.listed!r}, the ground truths "
        f"{found.relevant!r}; {likely}"
    )


def judged(result: Means) -> list[tuple[str, float]]:
    """Return how much of the lists was judged, by ``judged@k``, where the rest leaves them."""
    return [] if result.terms.unjudged == "miss" else [result.judged_share()]


def _other_numbers(result: Means) -> list[str]:
    """Return which metrics are over another number of users, or score other users 1."""
    terms, n_empty = result.terms, result.histograms.n_empty
    clusters = result.clusters is not None
    lines, names = list[str](), dict[str, list[str]]()

    def over(name: str) -> str:
        within = f" of {counted(result.n_clusters_of(name), 'cluster')}" if clusters else ""
        return f"over {result.n_of(name):,}{within}"

    for name, policy in terms.empty_of.items():
        known = known_of(terms.metrics[name])
        if known == KNOWN and n_empty and policy != terms.empty:
            names.setdefault(policy, []).append(name)
        elif known != KNOWN and policy == "skip" and result.n_of(name) != result.n_evaluated:
            lines.append(f"{name}: {over(name)}, those with {known}")
    verb = ("is", "counts") if n_empty == 1 else ("are", "count")
    words = {"skip": f"{verb[0]} left out", "zero": f"{verb[1]} as 0", "one": f"{verb[1]} as 1"}
    return lines + [
        f"{', '.join(some)}: {over(some[0])}, as {n_empty:,} without relevant items {words[policy]}"
        for policy, some in names.items()
    ]


def rules(result: Means, metric: Metric | None = None) -> str:
    """Return the convention, and whether grades are gains; of one metric, or of all."""
    terms = result.terms
    asked = [metric] if metric else terms.metrics.values()
    text, name = terms.rules(metric), f"convention {terms.convention}"
    if terms.known_as:
        text = text.replace(name, f"{name} (as {terms.known_as})", 1)
    # terms.rules names another gain
    of_grades = result.graded and terms.weighting is None and terms.grading.gains == "linear"
    return text + ", gain = grade" * (of_grades and any(one.graded for one in asked))


def averaging(result: Means, metric: Metric | None = None) -> str:
    """Return how users are averaged; for one metric, or for all."""
    terms, names = result.terms, [metric.name] if metric else [*result.terms.metrics]
    weighted = "weighted " * terms.weighted
    mean = worded(f"{weighted}mean over users", terms.unit)
    ratio = worded(f"ratio of {weighted}sums over users", terms.unit)
    pooled = [name for name in terms.pooled if name in names]
    if len(pooled) == len(names) > 0:
        return ratio
    return f"{mean} ({', '.join(pooled)}: {ratio})" if pooled else mean


def treatment(result: Means, metric: Metric | None = None) -> str:
    """Return what is done with users who have no relevant items, or no list."""
    terms = result.terms
    if metric is not None:
        words = policies(terms.empty_of[metric.name], terms.missing, of=known_of(metric))
        return worded(words, terms.unit)
    others = {n: p for n, p in terms.empty_of.items() if known_of(terms.metrics[n]) == KNOWN}
    return policies(terms.empty, terms.missing, others)


def of_lists(result: Means, metric: ListMetric) -> str:
    """Return which lists a metric of the lists themselves is over."""
    at = [result.n_of(f"{metric.name}@{k}") for k in result.terms.ks_of[metric.name]]
    n = at[-1]
    if metric.of_users:
        least, deepest = min(at), result._moments[metric.name]
        left_out = deepest.n + deepest.n_left_out - n
        more = f" ({left_out:,} left out)" if left_out else ""
        users = f"{least:,} to " * (least < n) + counted(n, "user")
        mean = "weighted " * (deepest.weight is not None) + f"mean over {users} {metric.whom}{more}"
        return f"{metric.text}; {worded(mean, result.terms.unit)}"
    together = "the one list" if n == 1 else f"all {n:,} lists together"
    return f"{metric.text}; of {together}{', without weights' * result.terms.weighted}"


def explanation(result: Means, metric: Metric | ListMetric, style: properties.Style) -> str:
    """Return the formula of a metric, its rules and policies, and who was counted."""
    terms, gain_words = result.terms, ""
    if isinstance(metric, ListMetric):
        lines = [of_lists(result, metric)]
    else:
        gain_words, lines = _gains_of(result, metric), _rules_of(result, metric)
    symbols = properties.symbols(metric, gain_words, terms.unit, style)
    words = properties.formula(metric, style)
    if style == "text":
        return "\n".join([words, *symbols, *lines])
    return "\n\n".join([rf"\[{words}\]", *symbols, *map(in_latex, lines)])


def _rules_of(result: Means, metric: Metric) -> list[str]:
    """Return the rules and policies of a metric, and who was counted."""
    terms = result.terms
    gains = terms.grading.gains if isinstance(terms.grading.gains, str) else ""
    same = same_formula(metric, terms.relevant, gains)
    peers = [name for name in same if name != terms.convention]
    if terms.weighting or (metric.graded and terms.grading.relevant_from is not None):
        peers = []  # conventions differ in what the threshold does to gains
    return [
        rules(result, metric) + (f"; the same in {', '.join(peers)}" if peers else ""),
        f"{averaging(result, metric)}; {treatment(result, metric)}",
        *reading(result),
        account(result),
    ]


def _gains_of(result: Means, metric: Metric) -> str:
    """Return what the gain of a hit is, in words."""
    terms = result.terms
    gains = terms.grading.gains if isinstance(terms.grading.gains, str) else ""
    of_table = terms.grading.words.replace("gains", "gain_j:")
    words = properties.WEIGHT_WORDS.get(
        terms.weighting or "", properties.GAIN_WORDS.get(gains, of_table)
    )
    ignored = terms.grading.relevant_from is not None and not terms.threshold_in_gains
    if ignored and metric.relevant_from is None:
        words += f"; items of lower grades than {terms.grading.relevant_from:g} gain, too"
    return words


def deeper(results: Sequence[Means]) -> list[str]:
    """Return that some k are deeper than every list of the results, where they are.

    Of whole lists no k is; nothing is said where the length of a list may be unknown.
    """
    lengths = [result.longest for result in results if result.longest is not None]
    longest = max(lengths, default=0)
    if not longest or len(lengths) < len(results):
        return []
    ks = sorted({k for result in results for k in result.ks if k > longest})
    if not ks:
        return []
    which = f"k = {ks[0]:,}" + f" to {ks[-1]:,}" * (len(ks) > 1)
    return [f"no list has more than {counted(longest, 'item')}: {which} finds no more"]


# From this share of the listed items on, equal scores are named.
MANY_TIED = 0.01


def reading(result: Means) -> list[str]:
    """Return how the lists were made and read: sampled candidates, equal scores, and notes.

    Of scores, how many are equal, if many are, and that they stand as the rows do; any other order
    is among the rules.
    """
    tied, listed = result.scored or (0, 0)
    in_order = tied and result.terms.ties == "order"
    parts = ["equal scores in the order of the rows"] if in_order else []
    if tied > MANY_TIED * listed:
        share = f"{100 * tied / listed:.1f} %"
        parts.append(f"{share} of the listed items share a score with a neighbour")
    return [*sampling(result), *(["; ".join(parts)] if parts else []), *result.notes]


def rule_lines(result: Means, look: Look, parts: Mapping[str, Means] | None = None) -> list[str]:
    """Return the notes below a table: by which rules the means were made, and who was counted.

    `parts` are the segments that are in the table with the result, by their names.
    """
    terms, theirs = result.terms, CONVENTIONS["trec_eval"].metrics
    lines = [f"{rules(result)}: {averaging(result)}"] if terms.metrics else []
    # names of trec_eval that were read as metrics that it computes otherwise
    written = {one.written: one.metric.name for one in terms.entries if one.written}
    for other, name in written.items():
        ours = terms.metrics[name].dividing.name
        divisor = theirs[name].dividing.name if name in theirs else ours
        if divisor != ours:
            theirs_is = f"in trec_eval and ir_measures over {divisor}"
            lines.append(f"{other} is {name}, over {ours}; {theirs_is}")
    lines += [] if look.intervals is False else intervals({"": result, **(parts or {})})
    lines += [result.exposed.words(terms.clip)] if result.exposed else []
    lines += [f"{name}: {of_lists(result, one)}" for name, one in terms.list_metrics.items()]
    return [*lines, *reading(result), *deeper([result]), account(result)]


def intervals(results: Mapping[str, Means]) -> list[str]:
    """Say in a line which interval is which, and where they are rough; none without intervals.

    The roughest mean is named, with its result unless that is "".

    Examples
    --------
    >>> from toplist import top_k_eval
    >>> found = top_k_eval([[1], [2]], [{1}, {9}], k=1, metrics=["hit", "map"])
    >>> print(*intervals({"": found}))
    95 % interval, ± half or [low, high]: Wilson for hit; Student's t for map (rough: only 2 users)
    """
    whole, kinds, dashes = next(iter(results.values())), dict[str, list[str]](), False
    if whole.n_clusters == 1:
        return ["no interval: all are of one cluster"]
    # how many times too few users, why, of which mean, and whether by Wilson
    whys: list[tuple[float, str, str, bool]] = []
    for name in dict.fromkeys(name for one in results.values() for name in one.terms.asked):
        held: dict[str, None] = {}
        for label, result in results.items():
            for at_k in (f"{name}@{k}" for k in result.terms.ks_of.get(name, ())):
                said = says(*result.interval(at_k))
                dashes |= said is False
                if not said:
                    continue
                kind, why = result.interval_kind(name), result.roughness(at_k)
                held[kind] = None
                where = at_k + f" of {label}" * bool(label)
                if kind != "Wilson" or why[1]:
                    whys.append((*why, where, kind == "Wilson"))
        if held:
            kinds.setdefault(" or ".join(held), []).append(name)
    none, lacking = f"{NOTHING} where all values are equal", list[str]()
    if any(one.by_rows and one.hits is None for one in results.values()):
        lacking = ["no interval of weighted means: they need the users, whom keep='users' keeps"]
    if not kinds:
        return [*[f"95 % interval: {none}"] * dashes, *lacking]
    in_order = sorted(kinds, key="Wilson".__ne__)  # what is rough stands beside others
    which = [f"{words} for {', '.join(kinds[words])}" for words in in_order]
    text = "; ".join(which if len(which) > 1 else kinds) + _worst(whys, whole.terms.unit)
    return [f"95 % interval, ± half or [low, high]: {text}" + f"; {none}" * dashes, *lacking]


def _worst(whys: Sequence[tuple[float, str, str, bool]], unit: str) -> str:
    """Return why the roughest of some means is so, which it is, and how many more are rough."""
    some = [one for one in whys if one[1]]
    if not some:
        return ""
    _, why, where, _ = max(some, key=lambda one: one[0])
    where += f" and {len(some) - 1:,} more" * (len(some) > 1)
    if why == worded(FAR, unit):
        return f" (rough where {why}: {where})"
    alike = len({(why, by_wilson) for _, why, _, by_wilson in whys}) == 1
    return f" (rough: {why}{'' if alike else f', {where}'})"


def sampling(result: Means) -> list[str]:
    """Return how the candidates were sampled, in a line; none if they were not."""
    sampled = result.terms.sampled
    return [] if sampled is None else [sampled.words]


# With more columns, several results have a table per metric.
WIDE = 8


def cell(result: Means, name: str, look: Look = LOOK) -> Cell:
    """Return a mean as it is printed, with its interval if it has one.

    That is half of the interval where it is symmetric, else its ends.
    """
    mean = result[name]
    low, high = result.interval(name)
    said = None if look.intervals is False else says(low, high)
    if not said:
        return Cell(look.number(mean), NOTHING * (said is False))
    if abs((high - mean) - (mean - low)) <= 1e-12 + 1e-6 * abs(mean - low):
        return Cell(look.number(mean), f"±{look.number(high - mean)}")
    return Cell(look.number(mean), look.ends(low, high))


def page(result: Means, look: Look) -> Page:
    """Return a table of metrics x k, with the convention and the number of users below it."""
    shown = result.terms.ks_of
    groups: list[tuple[str, ...]] = [(name,) for name in shown]
    if not look.every_metric:
        groups = properties.equal_names([result], [*shown], intervals=True)
    rows = []
    for group in groups:
        first = group[0]
        cells = [
            cell(result, f"{first}@{k}", look) if k in shown[first] else Cell() for k in result.ks
        ]
        rows.append((" = ".join(group), cells))
    with_k = {k for one in result.terms.entries if not one.whole for k in one.ks}
    table = Table("", [f"@{k}" if k in with_k else "whole list" for k in result.ks], rows)
    symbols = worded(properties.SYMBOLS, result.terms.unit)
    formulas = [*map(properties.formula, result.terms.metrics.values()), symbols]
    return Page([table], rule_lines(result, look), formulas=formulas)


def grid(result: Means) -> Grid:
    """Return a row per metric and k: mean, deviation, interval and why it is rough, users."""
    rows = []
    for name in result.names():
        metric, k = name.rsplit("@", 1)
        (low, high), why = result.interval(name), result.roughness(name)[1]
        row = {"metric": metric, "k": int(k), "mean": result[name], "std": result.std(name)}
        more = {"low": low, "high": high, "n": result.n_of(name), "rough": why}
        rows.append(row | more)
    return Grid.of(rows)


def of_users(result: Means) -> dict[str, Any]:
    """Return the values of each user by ``name@k``, for the metrics that have such values."""
    together = {name for name, one in result.terms.list_metrics.items() if not one.of_users}
    names = (name for name in result.names() if name.rpartition("@")[0] not in together)
    return {name: result.per_user(name) for name in names}


# JSON, which people and other programs read

COUNTS = ("n_users", "n_evaluated", "n_skipped", "n_missing", "n_extra")
POLICIES = ("empty", "missing", "relevant", "ties", "unjudged", "weighted", "pooled")


def content(result: Means) -> dict[str, Any]:
    """Return what JSON says of a result: what was asked, by which rules, of whom; every mean.

    Examples
    --------
    >>> from toplist import top_k_eval
    >>> found = content(top_k_eval([[1, 2], [3]], [{2}, {3}], k=[1, 2], metrics="mrr"))
    >>> found["convention"], found["k"], found["values"], found["n"]
    ('standard', [1, 2], {'mrr@1': 0.5, 'mrr@2': 0.75}, {'mrr@1': 2, 'mrr@2': 2})
    >>> found["formulas"]
    {'mrr': 'mrr@k = sum over r_j <= k of [j = 1] / r_j'}
    """
    version = import_module("toplist").__version__  # of the package, which imports all others
    names, terms = result.names(), result.terms
    weighing = {"weighting": terms.weighting, "clip": terms.clip}
    weighing |= result.exposed._asdict() if result.exposed else {}
    policies = {name: getattr(terms, name) for name in POLICIES} | vars(terms.grading)
    return {
        "toplist": version,
        "convention": terms.convention,
        "policies": policies | {"pooled": list(terms.pooled), "graded": result.graded},
        "k": list(result.ks),
        **({"sampled": vars(terms.sampled)} if terms.sampled else {}),
        **{name: getattr(result, name) for name in COUNTS},
        **({} if result.clusters is None else {"n_clusters": result.n_clusters}),
        **({"scores": result.scored._asdict()} if result.scored else {}),
        **({"propensities": weighing} if terms.weighting else {}),
        **({"judged": dict(share)} if (share := judged(result)) else {}),
        "values": {name: result[name] for name in names},
        "std": {name: result.std(name) for name in names},
        "interval": {name: result.interval(name) for name in names},
        "rough": {name: result.roughness(name)[1] for name in names},
        "n": {name: result.n_of(name) for name in names},
        "formulas": {name: properties.formula(one) for name, one in terms.asked.items()},
    }


def text_of(found: Any) -> str:
    r"""Return JSON for readers: a line per field, and lists in one line.

    Examples
    --------
    >>> print(text_of({"k": [1, 2], "values": {"mrr@1": 0.5}}))
    {
     "k": [1, 2],
     "values": {
      "mrr@1": 0.5
     }
    }
    """
    # no text of JSON holds a line break: what begins and ends so is a list
    return re.sub(
        r"\[\n([^\[\]{}]*)\n *\]",
        lambda one: f"[{' '.join(map(str.strip, one[1].splitlines()))}]",
        json.dumps(_plain(found), indent=1),
    )


def _plain(found: Any) -> Any:
    """Return what JSON can hold: null for NaN and infinity."""
    if isinstance(found, Mapping):
        return {name: _plain(one) for name, one in found.items()}
    if isinstance(found, (list, tuple)):
        return list(map(_plain, found))
    return json_number(found) if isinstance(found, float) else found


def json_number(value: float) -> float | None:
    """Return a number as JSON can hold it: None (null) for NaN and infinity."""
    return float(value) if math.isfinite(value) else None
