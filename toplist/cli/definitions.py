"""`toplist metrics` and `toplist conventions`: the definitions behind the numbers."""

import argparse
from typing import Any

from toplist.checks import Keyword, whole
from toplist.cli.options import command, option
from toplist.evaluation.evaluate import conformance
from toplist.metrics.beyond_accuracy import LIST_METRICS, ListMetric
from toplist.metrics.conventions import CONVENTIONS, Convention, policies, same_formula
from toplist.metrics.formulas import GAIN_WORDS, SYMBOLS, formula
from toplist.metrics.names import parse
from toplist.results.markup import aligned


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    add = command(commands, "metrics", run=_metrics, check=_check_metrics)
    add("name", nargs="?", help="one metric, for example ndcg or rbp(p=0.5)")
    add("--convention", default="standard", choices=CONVENTIONS, help="whose formulas")
    add = command(commands, "conventions", run=_conventions, check=_check_conventions)
    add("--list", nargs="+", default=["1", "2", "3", "4", "5"], metavar="ITEM", help="best first")
    add("--truth", nargs="+", default=["1", "3", "9"], metavar="ITEM", help="relevant items")
    add("-k", type=int, default=5, help="the cut-off (default: 5)")


def _check_metrics(options: argparse.Namespace) -> None:
    """Raise ValueError for an unknown metric."""
    if options.name and options.name not in LIST_METRICS:
        parse(options.name, CONVENTIONS[options.convention])


def _check_conventions(options: argparse.Namespace) -> None:
    """Raise ValueError for a wrong k."""
    whole(options.k, "k")


def _metrics(options: argparse.Namespace) -> str:
    """Return the metrics of a convention with their formulas, or all about one metric."""
    convention = CONVENTIONS[options.convention]
    if options.name in LIST_METRICS:
        return _of_lists(LIST_METRICS[options.name])
    if options.name:
        return _one_metric(options.name, convention)
    width = max(map(len, convention.metrics))
    lines = [
        f"{name:{width}}  {metric.text}\n{'':{width}}  {formula(metric)}"
        for name, metric in convention.metrics.items()
    ]
    of_lists = f"{'':{width}}  of the lists themselves: {', '.join(LIST_METRICS)}"
    return "\n".join([*lines, of_lists])


def _of_lists(metric: ListMetric) -> str:
    """Return what one metric of the lists themselves is, in words and formulas."""
    over = "mean over users with a list" if metric.of_users else "of all lists together"
    needs = f"needs {option(Keyword(metric.needs))}" if metric.needs else "needs only the lists"
    return "\n".join([metric.text, metric.formula, metric.latex, f"{over}; {needs}"])


def _one_metric(name: str, convention: Convention) -> str:
    """Return what one metric is under one convention, in words and formulas."""
    metric, _ = parse(name, convention)
    ratio = "ratio of sums over users" if metric.name in convention.pooled else "mean over users"
    same = same_formula(metric, convention.relevant, convention.gains)
    lines = [
        metric.text,
        formula(metric),
        formula(metric, "latex"),
        SYMBOLS["text"],
        GAIN_WORDS[convention.gains] if metric.graded else "",
        f"{ratio}; {policies(convention.policy_of(metric), convention.missing)}",
        f"convention {convention.name}: {convention.text}",
        f"source: {convention.source}" if convention.source else "",
        f"the same formula in: {', '.join(same) or 'none of the others'}",
    ]
    return "\n".join(filter(None, lines))


def _conventions(options: argparse.Namespace) -> str:
    """Evaluate one list under every convention."""
    found = conformance([options.list], [set(options.truth)], options.k)
    names = list(dict.fromkeys(name for values in found.values() for name in values))
    rows = [["", *(f"{name}@{options.k}" for name in names)]]
    for convention, values in found.items():
        cells = (f"{values[name]:.4f}" if name in values else "-" for name in names)
        rows.append([convention, *cells])
    case = f"list {' '.join(options.list)}; relevant {' '.join(options.truth)}; k = {options.k}"
    return f"{case}\n{aligned(rows)}"
