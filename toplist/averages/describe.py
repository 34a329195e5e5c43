"""Who was counted and by which rules, in words; which metrics are equal."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from toplist.averages.means import Means
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.conventions import CONVENTIONS, policies, same_formula
from toplist.metrics.definitions import PARAMETRIC, Metric
from toplist.metrics.formulas import GAIN_WORDS, SYMBOLS, formula


def account(result: Means) -> str:
    """Return who was counted: the users in the means, those left out, and why."""
    terms = result.terms
    parts = [f"{result.n_evaluated:,} of {result.n_users:,} users evaluated"]
    if result.n_skipped:
        why = "no relevant items" if terms.missing != "skip" else "no relevant items or no list"
        parts.append(f"{result.n_skipped:,} skipped ({why})")
    if result.n_missing:
        policy = "left out" if terms.missing == "skip" else "counted as 0"
        parts.append(f"{result.n_missing:,} without a list ({policy})")
    if result.n_extra:
        parts.append(f"{result.n_extra:,} with a list but no ground truth (ignored)")
    text = ", ".join(parts)
    if result.n_evaluated and not result.histograms.each.any():
        text += "; NO HIT AT ALL: are the item ids of both sides written in the same way?"
    return text


def rules(result: Means, metric: Metric | None = None) -> str:
    """Return the convention, and which definitions are not its own; of one metric, or of all."""
    terms = result.terms
    standard = CONVENTIONS[terms.convention].metrics
    asked = terms.metrics.values() if metric is None else [metric]
    own = [
        one.name
        for one in asked
        if standard.get(one.name.split("(")[0]) != one and not _parametric(one)
    ]
    text = f"convention {terms.convention}"
    if len(own) == len(list(asked)):
        text = f"own definition, policies of {text}"
    elif own:
        text += f" (except {', '.join(own)}: own definition)"
    if terms.grading.relevant_from is not None:
        text += f", relevant from grade {terms.grading.relevant_from:g}"
    if terms.grading.gains != "linear" and any(one.graded for one in asked):
        text += ", gain 2^grade - 1"
    return text


def _parametric(metric: Metric) -> bool:
    """Return whether this is a metric of the tables with a parameter, such as ``rbp(p=0.5)``."""
    return metric.name.split("(")[0] in PARAMETRIC and "(" in metric.name


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


def of_lists(result: Means, metric: ListMetric) -> str:
    """Return which lists a metric of the lists themselves is over."""
    n = result.n_of(metric.name)
    if metric.of_users:
        return f"{metric.text}; mean over {n:,} users with a list"
    return f"{metric.text}; of all {n:,} lists together"


def explanation(result: Means, metric: Metric | ListMetric, style: str) -> str:
    """Return the formula of a metric, its rules and policies, and who was counted."""
    if isinstance(metric, ListMetric):
        words = metric.formula if style == "text" else metric.latex
        return f"{words}\n{of_lists(result, metric)}"
    terms = result.terms
    peers = [name for name in same_formula(metric) if name != terms.convention]
    if metric.graded and terms.grading.gains != "linear":
        peers = []  # the conventions have linear gains
    lines = [
        formula(metric, style),
        SYMBOLS[style],
        *([GAIN_WORDS[terms.grading.gains]] if metric.graded else []),
        rules(result, metric) + (f"; the same in {', '.join(peers)}" if peers else ""),
        f"{averaging(result, metric)}; {policies(terms.empty, terms.missing)}",
        *sampling(result),
        account(result),
    ]
    return "\n".join(lines)


def equal_names(numbers: Mapping[str, Sequence[ArrayLike]]) -> list[tuple[str, ...]]:
    """Group the names whose numbers are equal, bit for bit; NaN is equal to nothing.

    In leave-one-out, hit equals recall, and map equals mrr.

    Examples
    --------
    >>> equal_names({"hit": [[0.5, 1.0]], "map": [[0.5, 0.75]], "recall": [[0.5, 1.0]]})
    [('hit', 'recall'), ('map',)]
    """
    groups: dict[Any, list[str]] = {}
    for name, arrays in numbers.items():
        values = [np.asarray(one, np.float64) for one in arrays]
        known = not any(np.isnan(one).any() for one in values)
        same = tuple((one.shape, one.tobytes()) for one in values) if known else name
        groups.setdefault(same, []).append(name)
    return [tuple(names) for names in groups.values()]


def ks_by_metric(result: Means) -> dict[str, list[int]]:
    """Return the k's asked for, rising, of every metric."""
    ks: dict[str, set[int]] = {}
    for entry in result.terms.entries:
        ks.setdefault(entry.metric.name, set()).update(entry.ks)
    return {name: sorted(some) for name, some in ks.items()}


def numbers(result: Means, name: str, ks: Sequence[int]) -> list[ArrayLike]:
    """Return the numbers of a row: the k's, the means and the ends of their intervals."""
    means = [result[f"{name}@{k}"] for k in ks]
    return [ks, means, *zip(*(result.interval(f"{name}@{k}") for k in ks), strict=True)]


def rule_lines(result: Means) -> list[str]:
    """Return the notes below a table: by which rules the means were made, and who was counted."""
    interval = ", ± half of the 95 % interval" if result.n_evaluated > 1 else ""
    lines = [f"{rules(result)}: {averaging(result)}{interval}"] if result.terms.metrics else []
    lines += [f"{name}: {of_lists(result, one)}" for name, one in result.terms.list_metrics.items()]
    return [*lines, *sampling(result), account(result)]


def sampling(result: Means) -> list[str]:
    """Return how the candidates were sampled, in a line; none if they were not."""
    sampled = result.terms.sampled
    return [] if sampled is None else [sampled.words]
