"""What is said of one result: who was counted, by which rules; its table, rows, frames, JSON."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from toplist.checks import counted, worded
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.conventions import KNOWN, known_of, policies, same_formula
from toplist.metrics.definitions import Metric
from toplist.metrics.formulas import GAIN_WORDS, SYMBOLS, WEIGHT_WORDS, Style, formula
from toplist.metrics.properties import equal_names
from toplist.results.markup import LOOK as LOOK
from toplist.results.markup import NOTHING, Cell, Grid, Look, Page, Table
from toplist.results.means import Means, has_keys
from toplist.results.merging import fingerprints_of

if TYPE_CHECKING:
    from pandas import DataFrame


def account(result: Means) -> str:
    """Return who was counted: the users in the means, those left out, and why."""
    terms = result.terms
    users = worded(counted(result.n_users, "user"), terms.unit)
    parts = [f"{result.n_evaluated:,} of {users} evaluated"]
    if result.clusters is not None:
        parts.append(f"of {counted(result.n_clusters, 'cluster')}")
    n_empty = result.n_evaluated - result.histograms.n_of("skip")
    if n_empty and (terms.empty in terms.empty_of.values() or not terms.metrics):
        score = {"zero": 0, "one": 1}.get(terms.empty)
        what = "an observed item" if terms.weighting == "ips" else "relevant items"
        parts.append(f"{n_empty:,} of them without {what} (counted as {score})")
    listless = result.n_missing if terms.missing == "skip" else 0  # skipped, and told below
    if result.n_skipped > listless:
        ips, weights = terms.weighting == "ips", result.weights
        why = "neither a list nor an observed item" if ips else "no relevant items"
        if terms.weighted and terms.weighting is None and (weights is None or not weights.all()):
            why += ", or a weight of 0"
        parts.append(f"{result.n_skipped - listless:,} skipped ({why})")
    if result.n_missing:
        policy = "left out" if terms.missing == "skip" else "counted as 0"
        parts.append(f"{result.n_missing:,} without a list ({policy})")
    if result.n_extra:
        parts.append(f"{result.n_extra:,} with a list but no ground truth (ignored)")
    parts += _other_numbers(result)
    parts += _judgements(result)
    n_parts = 0 if has_keys(result) else len(fingerprints_of(result))
    if n_parts > 1:
        parts.append(f"merged by position from {n_parts:,} parts")
    text = ", ".join(parts)
    if result.n_evaluated and not result.histograms.each.any():
        # nobody has a hit: an item of each side and the likely cause, where known
        found = result.unmatched if result.hits is None else result.hits.about.unmatched
        text += "; NO HIT AT ALL: "
        asked = "are the item ids of both sides written in the same way?"
        if found is None:
            text += asked
        elif found.listed == found.relevant:
            text += f"no listed item is relevant, {found.listed!r} for one"
        else:
            text += f"the lists hold items such as {found.listed!r}, the ground truths "
            likely = f"likely cause: {found.cause}" if found.cause else asked
            text += f"{found.relevant!r}; {likely}"
    return text


def _judgements(result: Means) -> list[str]:
    """Return how much of the lists was judged, where the rest leaves them."""
    if result.terms.unjudged == "miss":
        return []
    name, share = result.judged_share()
    return [f"{name} {share:.4f} before unjudged items left"]


def _other_numbers(result: Means) -> list[str]:
    """Return which metrics are over another number of users, or score other users 1."""
    terms = result.terms
    n_empty = result.histograms.n_of(None) - result.histograms.n_of("skip")
    names: dict[str, list[str]] = {}
    for name, policy in terms.empty_of.items():
        if n_empty and policy != terms.empty and known_of(terms.metrics[name]) == KNOWN:
            names.setdefault(policy, []).append(name)
    one = n_empty == 1
    words = {
        "skip": "is left out" if one else "are left out",
        "zero": f"count{'s' * one} as 0",
        "one": f"count{'s' * one} as 1",
    }
    judged = [
        f"{name}: {_over(result, name)}, those with {known_of(terms.metrics[name])}"
        for name, (policy, *_) in terms.counting.items()
        if policy == "skip"
        and known_of(terms.metrics[name]) != KNOWN
        and result.n_of(name) != result.n_evaluated
    ]
    return judged + [
        f"{', '.join(some)}: {_over(result, some[0])}, as {n_empty:,} without relevant items "
        f"{words[policy]}"
        for policy, some in names.items()
    ]


def _over(result: Means, name: str) -> str:
    """Return over how many users a metric is, and of how many clusters these are."""
    clusters = counted(result.n_clusters_of(name), "cluster")
    return f"over {result.n_of(name):,}" + f" of {clusters}" * (result.clusters is not None)


def rules(result: Means, metric: Metric | None = None) -> str:
    """Return the convention, and whether grades are gains; of one metric, or of all."""
    asked = [metric] if metric else result.terms.metrics.values()
    of_grades = result.graded and any(one.graded for one in asked)
    of_grades &= result.terms.weighting is None
    linear = result.terms.grading.gains == "linear"  # terms.rules names another gain
    text, name = result.terms.rules(metric), f"convention {result.terms.convention}"
    if result.terms.known_as:
        text = text.replace(name, f"{name} (as {result.terms.known_as})", 1)
    return text + ", gain = grade" * (of_grades and linear)


def averaging(result: Means, metric: Metric | None = None) -> str:
    """Return how users are averaged; for one metric, or for all."""
    terms = result.terms
    mean = "weighted mean over users" if terms.weighted else "mean over users"
    ratio = f"ratio of {'weighted ' if terms.weighted else ''}sums over users"
    mean, ratio = (worded(words, terms.unit) for words in (mean, ratio))
    if metric is not None:
        return ratio if metric.name in terms.pooled else mean
    if not terms.pooled:
        return mean
    if set(terms.pooled) == set(terms.metrics):
        return ratio
    return f"{mean} ({', '.join(terms.pooled)}: {ratio})"


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
        more += ", without weights" * result.terms.weighted
        users = f"{least:,} to " * (least < n) + counted(n, "user")
        words = worded(f"mean over {users} {metric.whom}{more}", result.terms.unit)
        return f"{metric.text}; {words}"
    return f"{metric.text}; of {'the one list' if n == 1 else f'all {n:,} lists together'}"


def explanation(result: Means, metric: Metric | ListMetric, style: Style) -> str:
    """Return the formula of a metric, its rules and policies, and who was counted."""
    if isinstance(metric, ListMetric):
        words = metric.formula if style == "text" else metric.latex
        return f"{words}\n{of_lists(result, metric)}"
    terms = result.terms
    gains = terms.grading.gains if isinstance(terms.grading.gains, str) else ""
    same = same_formula(metric, terms.relevant, gains)
    peers = [name for name in same if name != terms.convention]
    if terms.weighting or (metric.graded and terms.grading.relevant_from is not None):
        peers = []  # conventions differ in what the threshold does to gains
    of_gains = metric.graded and not metric.earning
    gain_words = WEIGHT_WORDS.get(terms.weighting or "", GAIN_WORDS.get(gains, terms.grading.words))
    if reads_all_grades(result, metric):
        gain_words += f"; items of lower grades than {terms.grading.relevant_from:g} gain, too"
    lines = [
        formula(metric, style),
        worded(SYMBOLS[style], terms.unit),
        *([gain_words] if of_gains else []),
        rules(result, metric) + (f"; the same in {', '.join(peers)}" if peers else ""),
        f"{averaging(result, metric)}; {treatment(result, metric)}",
        *sampling(result),
        *equal_scores(result),
        *result.notes,
        account(result),
    ]
    return "\n".join(lines)


def reads_all_grades(result: Means, metric: Metric) -> bool:
    """Return whether the gains of a metric ignore from which grade on items are relevant."""
    terms = result.terms
    ignored = terms.grading.relevant_from is not None and not terms.threshold_in_gains
    return ignored and metric.graded and metric.relevant_from is None


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


def equal_scores(result: Means) -> list[str]:
    """Return how many scores are equal, if many are, and that they stand as the rows do.

    Any other order is among the rules.
    """
    if result.scored is None or not result.scored.tied:
        return []
    tied, listed = result.scored
    parts = ["equal scores in the order of the rows"] if result.terms.ties == "order" else []
    if tied > MANY_TIED * listed:
        share = f"{100 * tied / listed:.1f} %"
        parts.append(f"{share} of the listed items share a score with a neighbour")
    return ["; ".join(parts)] if parts else []


def rule_lines(result: Means, parts: Sequence[Means] = ()) -> list[str]:
    """Return the notes below a table: by which rules the means were made, and who was counted.

    `parts` are the segments that are in the table with the result.
    """
    lines = [f"{rules(result)}: {averaging(result)}"] if result.terms.metrics else []
    lines += result.terms.other_formulas()
    lines += intervals([result, *parts])
    lines += [result.exposed.words(result.terms.clip)] if result.exposed else []
    lines += [f"{name}: {of_lists(result, one)}" for name, one in result.terms.list_metrics.items()]
    said = *sampling(result), *equal_scores(result), *result.notes, *deeper([result])
    return [*lines, *said, account(result)]


# With fewer users who have another value than 0 an interval by t is called rough.
FEW_USERS = 30


def intervals(results: Sequence[Means]) -> list[str]:
    """Say in a line which interval is which, and where they are rough; none without intervals.

    Examples
    --------
    >>> from toplist import top_k_eval
    >>> print(*intervals([top_k_eval([[1], [2]], [{1}, {9}], k=1, metrics=["hit", "map"])]))
    95 % interval, ± half or [low, high]: Wilson for hit; Student's t for map (rough: only 2 users)
    """
    kinds: dict[str, list[str]] = {}
    rough, dashes = [], False
    for name in results[0].terms.asked:
        held = []
        for result in results:
            kind, cuts = _kind(result, name), result.terms.ks_of[name]
            said = {k: _says(*result.interval(f"{name}@{k}")) for k in cuts}
            dashes |= False in said.values()
            telling = [k for k in cuts if said[k]]
            held += [kind] * bool(telling)
            if kind != "Wilson" and telling:
                rough.append(_fewest(result, name, telling))
        words = " or ".join(dict.fromkeys(held))
        if words:
            kinds.setdefault(words, []).append(name)
    none, lacking = f"{NOTHING} where all values are equal", list[str]()
    by_rows = bool(results[0].by_rows)
    if by_rows and results[0].hits is None:
        lacking = ["no interval of weighted means: they need the users, whom keep='users' keeps"]
    if results[0].clusters is not None and results[0].n_clusters == 1:
        return ["no interval: all are of one cluster"]
    if not kinds:
        return [*[f"95 % interval: {none}"] * dashes, *lacking]
    which = [f"{words} for {', '.join(names)}" for words, names in kinds.items()]
    text = "; ".join(which if len(which) > 1 else kinds)
    more = _few(rough, results[0].terms.unit)
    if by_rows and not lacking:
        more = _few_units(results) or more
    more += f"; {none}" * dashes
    return [f"95 % interval, ± half or [low, high]: {text}{more}", *lacking]


def _few_units(results: Sequence[Means]) -> str:
    """Say that intervals are rough: where few units, or a few large ones, are in them.

    Where units are of very different size, values often go with size: then intervals cover less.
    """
    names: list[tuple[str, ...]] = [(name,) for name in results[0].terms.metrics]
    every = [result.units_of(*name) for result in results for name in names or [()]]
    least = min(every, key=lambda one: one.df if one.df > 0 else math.inf)
    what = "weights" if least.clusters is None else "clusters"
    return f" (rough: {what} {least.rough})" if least.rough else ""


def _kind(result: Means, name: str) -> str:
    """Return the kind of the interval of a metric, in a word."""
    if name in result.by_rows and result.clusters is not None:
        return "by clusters (CR2)"
    if name in result.by_rows and name in result.terms.metrics:
        return "Student's t, weighted (CR2)"
    if name in result.terms.pooled:
        return "delta method"
    if result.is_proportion(name):
        return "Wilson"
    return "Student's t"


def _says(low: float, high: float) -> bool | None:
    """Return whether an interval says something: not of equal values; None where there is none."""
    return None if math.isnan(low) else high - low > 1e-12 * abs(high)


def _fewest(result: Means, name: str, cuts: Sequence[int]) -> tuple[int, int, str]:
    """Return the number of users of a metric, and of the fewest with a value other than 0."""
    metric, terms = result.terms.asked[name], result.terms
    n = min(result.n_of(f"{name}@{k}") for k in cuts)
    of_judged = not terms.threshold_in_gains and terms.grading.relevant_from is not None
    if n < FEW_USERS or not isinstance(metric, Metric):
        return n, n, name
    if metric.counts_others or (metric.graded and of_judged):  # other hits are read
        return n, n, name
    fewest, k = min((result.histograms.n_with_value(metric, k), k) for k in cuts)
    return n, fewest, f"{name}@{k}"


def _few(rough: Sequence[tuple[int, int, str]], unit: str) -> str:
    """Say that intervals are rough: where few users, or few values other than 0, are in them."""
    users = min((n for n, _, _ in rough), default=FEW_USERS)
    if users < FEW_USERS:
        return worded(f" (rough: only {counted(users, 'user')})", unit)
    _, fewest, where = min(rough, key=lambda one: one[1], default=(0, FEW_USERS, ""))
    if fewest >= FEW_USERS:
        return ""
    words = worded("rough where few users have a value other than 0", unit)
    return f" ({words}: {fewest} for {where})"


def sampling(result: Means) -> list[str]:
    """Return how the candidates were sampled, in a line; none if they were not."""
    sampled = result.terms.sampled
    return [] if sampled is None else [sampled.words]


# With more columns, several results have a table per metric.
WIDE = 8

COLUMNS = ["metric", "k", "mean", "std", "low", "high", "n"]


def cell(result: Means, name: str, look: Look = LOOK) -> Cell:
    """Return a mean as it is printed, with its interval if it has one.

    That is half of the interval where it is symmetric, else its ends.
    """
    mean = result[name]
    low, high = result.interval(name)
    said = _says(low, high)
    if not said:
        return Cell(look.number(mean), half="" if said is None else NOTHING)
    if abs((high - mean) - (mean - low)) <= 1e-12 + 1e-6 * abs(mean - low):
        return Cell(look.number(mean), half=look.number(high - mean))
    return Cell(look.number(mean), ends=(look.number(low), look.number(high)))


def page(result: Means, every_metric: bool = False) -> Page:
    """Return a table of metrics x k, with the convention and the number of users below it."""
    shown = result.terms.ks_of
    names = list(shown)
    groups = [(name,) for name in names] if every_metric else equal_names([result], names, True)
    rows = []
    for group in groups:
        first = group[0]
        cells = [cell(result, f"{first}@{k}") if k in shown[first] else Cell() for k in result.ks]
        rows.append((" = ".join(group), cells))
    with_k = {k for name, one in result.terms.asked.items() for k in shown[name] if has_k(one)}
    table = Table("", [f"@{k}" if k in with_k else "whole list" for k in result.ks], rows)
    symbols = worded(SYMBOLS["text"], result.terms.unit)
    formulas = [*map(formula, result.terms.metrics.values()), symbols]
    return Page([table], rule_lines(result), formulas=formulas)


def has_k(metric: Metric | ListMetric) -> bool:
    """Return whether a metric has a k; others are of whole lists, as bpref."""
    return not isinstance(metric, Metric) or metric.cut != "n"


def grid(result: Means) -> Grid:
    """Return a row per metric and k, with the columns of `COLUMNS`."""
    rows = []
    for name in result.names():
        metric, k = name.rsplit("@", 1)
        low, high = result.interval(name)
        rows.append((metric, int(k), result[name], result.std(name), low, high, result.n_of(name)))
    return Grid.of(COLUMNS, rows)


def to_pandas(result: Means, per_user: bool) -> "DataFrame":
    """Return a DataFrame of the means, or of the users' values."""
    if per_user:
        return Grid({"user_id": list(result.users), **of_users(result)}).to_pandas()
    return grid(result).to_pandas()


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
        **_judged(result),
        "values": {name: result[name] for name in names},
        "std": {name: result.std(name) for name in names},
        "interval": {name: result.interval(name) for name in names},
        "n": {name: result.n_of(name) for name in names},
        "formulas": {
            name: formula(one) if isinstance(one, Metric) else one.formula
            for name, one in terms.asked.items()
        },
    }


def _judged(result: Means) -> dict[str, Any]:
    """Return how much was judged before the rest left the lists."""
    if result.terms.unjudged == "miss":
        return {}
    name, share = result.judged_share()
    return {"judged": {name: share}}


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
