"""What is said of one result: who was counted, by which rules; its table, its rows, its frames."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from toplist.checks import counted
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.conventions import policies, same_formula
from toplist.metrics.definitions import Metric
from toplist.metrics.formulas import GAIN_WORDS, SYMBOLS, Style, formula
from toplist.metrics.properties import equal_names
from toplist.results.markup import Cell, Look, Page, Table
from toplist.results.means import Means, fingerprints_of, has_keys, unmatched

if TYPE_CHECKING:
    from pandas import DataFrame


def account(result: Means) -> str:
    """Return who was counted: the users in the means, those left out, and why."""
    terms = result.terms
    parts = [f"{result.n_evaluated:,} of {counted(result.n_users, 'user')} evaluated"]
    n_empty = result.n_evaluated - result.histograms.n_of("skip")
    if n_empty:
        score = {"zero": 0, "one": 1}.get(terms.empty)
        parts.append(f"{n_empty:,} of them without relevant items (counted as {score})")
    listless = result.n_missing if terms.missing == "skip" else 0  # skipped, and told below
    if result.n_skipped > listless:
        parts.append(f"{result.n_skipped - listless:,} skipped (no relevant items)")
    if result.n_missing:
        policy = "left out" if terms.missing == "skip" else "counted as 0"
        parts.append(f"{result.n_missing:,} without a list ({policy})")
    if result.n_extra:
        parts.append(f"{result.n_extra:,} with a list but no ground truth (ignored)")
    parts += _other_numbers(result)
    n_parts = 0 if has_keys(result) else len(fingerprints_of(result))
    if n_parts > 1:
        parts.append(f"merged by position from {n_parts:,} parts")
    text = ", ".join(parts)
    if result.n_evaluated and not result.histograms.each.any():
        # nobody has a hit: an item of each side and the likely cause, where known
        found = result.unmatched if result.hits is None else unmatched(result.hits)
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


def _other_numbers(result: Means) -> list[str]:
    """Return which metrics are over another number of users, or score other users 1."""
    terms = result.terms
    n_empty = result.histograms.n_of(None) - result.histograms.n_of("skip")
    names: dict[str, list[str]] = {}
    for name, policy in terms.empty_of.items():
        if n_empty and policy != terms.empty:
            names.setdefault(policy, []).append(name)
    one = n_empty == 1
    words = {
        "skip": "is left out" if one else "are left out",
        "zero": f"count{'s' * one} as 0",
        "one": f"count{'s' * one} as 1",
    }
    return [
        f"{', '.join(some)}: over {result.n_of(some[0]):,}, as {n_empty:,} without relevant items "
        f"{words[policy]}"
        for policy, some in names.items()
    ]


def averaging(result: Means, metric: Metric | None = None) -> str:
    """Return how users are averaged; for one metric, or for all."""
    terms = result.terms
    mean = "weighted mean over users" if terms.weighted else "mean over users"
    ratio = f"ratio of {'weighted ' if terms.weighted else ''}sums over users"
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
        return policies(terms.empty_of[metric.name], terms.missing)
    return policies(terms.empty, terms.missing, terms.empty_of)


def of_lists(result: Means, metric: ListMetric) -> str:
    """Return which lists a metric of the lists themselves is over."""
    n = result.n_of(metric.name)
    if metric.of_users:
        return f"{metric.text}; mean over {counted(n, 'user')} with a list"
    return f"{metric.text}; of {'the one list' if n == 1 else f'all {n:,} lists together'}"


def explanation(result: Means, metric: Metric | ListMetric, style: Style) -> str:
    """Return the formula of a metric, its rules and policies, and who was counted."""
    if isinstance(metric, ListMetric):
        words = metric.formula if style == "text" else metric.latex
        return f"{words}\n{of_lists(result, metric)}"
    terms = result.terms
    same = same_formula(metric, terms.relevant, terms.grading.gains)
    peers = [name for name in same if name != terms.convention]
    if metric.graded and terms.grading.relevant_from is not None:
        peers = []  # conventions differ in what the threshold does to gains
    lines = [
        formula(metric, style),
        SYMBOLS[style],
        *([GAIN_WORDS[terms.grading.gains]] if metric.graded else []),
        result.terms.rules(metric) + (f"; the same in {', '.join(peers)}" if peers else ""),
        f"{averaging(result, metric)}; {treatment(result, metric)}",
        *sampling(result),
        account(result),
    ]
    return "\n".join(lines)


def rule_lines(result: Means, parts: Sequence[Means] = ()) -> list[str]:
    """Return the notes below a table: by which rules the means were made, and who was counted.

    `parts` are the segments that are in the table with the result.
    """
    lines = [f"{result.terms.rules()}: {averaging(result)}"] if result.terms.metrics else []
    lines += result.terms.other_formulas()
    lines += intervals([result, *parts])
    lines += [f"{name}: {of_lists(result, one)}" for name, one in result.terms.list_metrics.items()]
    return [*lines, *sampling(result), account(result)]


# Below this number of users a normal interval is called rough.
FEW_USERS = 30


def intervals(results: Sequence[Means]) -> list[str]:
    """Say in a line which interval is which, and where they are rough; none without intervals.

    Examples
    --------
    >>> from toplist import top_k_eval
    >>> intervals([top_k_eval([[1], [2]], [{1}, {9, 8}], k=1, metrics=["hit", "mrr"])])
    ['95 % interval, ± half or [low, high]: Wilson for hit; normal for mrr (rough: only 2 users)']
    """
    kinds: dict[str, list[str]] = {}
    rough = []
    for name in results[0].terms.asked:
        held = [(_interval(result, name), result.n_of(name)) for result in results]
        words = " or ".join(dict.fromkeys(kind for kind, _ in held if kind))
        if words:
            kinds.setdefault(words, []).append(name)
        rough += [n for kind, n in held if kind in ("normal", "delta method") and n < FEW_USERS]
    if not kinds:
        return []
    which = [f"{words} for {', '.join(names)}" for words, names in kinds.items()]
    text = "; ".join(which if len(which) > 1 else kinds)
    few = f" (rough: only {min(rough):,} users)" if rough else ""
    return [f"95 % interval, ± half or [low, high]: {text}{few}"]


def _interval(result: Means, name: str) -> str:
    """Return the kind of the interval of a metric, in a word; empty if it has none."""
    ends = (result.interval(f"{name}@{k}") for k in result.terms.ks_of[name])
    if all(math.isnan(low) and math.isnan(high) for low, high in ends):
        return ""
    if name in result.terms.pooled:
        return "delta method"
    return "Wilson" if result.is_proportion(name) else "normal"


def sampling(result: Means) -> list[str]:
    """Return how the candidates were sampled, in a line; none if they were not."""
    sampled = result.terms.sampled
    return [] if sampled is None else [sampled.words]


# With more columns, several results have a table per metric.
WIDE = 8

LOOK = Look()
COLUMNS = ["metric", "k", "mean", "std", "low", "high", "n"]


def cell(result: Means, name: str, look: Look = LOOK) -> Cell:
    """Return a mean as it is printed, with its interval if it has one.

    That is half of the interval where it is symmetric, else its ends.
    """
    mean = result[name]
    low, high = result.interval(name)
    if math.isnan(low):
        return Cell(look.number(mean))
    if abs((high - mean) - (mean - low)) <= 1e-12 + 1e-6 * abs(mean - low):
        return Cell(look.number(mean), half=look.number(high - mean))
    return Cell(look.number(mean), ends=(look.number(low), look.number(high)))


def page(result: Means, every_metric: bool = False) -> Page:
    """Return a table of metrics x k, with the convention and the number of users below it."""
    shown = result.terms.ks_of
    names = list(shown)
    groups = [(name,) for name in names] if every_metric else equal_names([result], names)
    rows = []
    for group in groups:
        first = group[0]
        cells = [cell(result, f"{first}@{k}") if k in shown[first] else Cell() for k in result.ks]
        rows.append((" = ".join(group), cells))
    table = Table("", [f"@{k}" for k in result.ks], rows)
    formulas = [*map(formula, result.terms.metrics.values()), SYMBOLS["text"]]
    return Page([table], rule_lines(result), formulas=formulas)


def rows(result: Means) -> list[tuple[Any, ...]]:
    """Return a row per metric and k, with the columns of `COLUMNS`."""
    rows = []
    for name in result.names():
        metric, k = name.rsplit("@", 1)
        low, high = result.interval(name)
        rows.append((metric, int(k), result[name], result.std(name), low, high, result.n_of(name)))
    return rows


def to_pandas(result: Means, per_user: bool) -> "DataFrame":
    """Return a DataFrame of the means, or of the users' values."""
    import pandas

    if per_user:
        columns = of_users(result)
        return pandas.DataFrame({"user_id": list(result.users), **columns})
    return pandas.DataFrame(rows(result), columns=COLUMNS)


def of_users(result: Means) -> dict[str, Any]:
    """Return the values of each user by ``name@k``, for the metrics that have such values."""
    together = {name for name, one in result.terms.list_metrics.items() if not one.of_users}
    names = (name for name in result.names() if name.rpartition("@")[0] not in together)
    return {name: result.per_user(name) for name in names}
