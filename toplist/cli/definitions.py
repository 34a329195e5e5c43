"""`toplist metrics` and `toplist conventions`: the definitions behind the numbers."""

import argparse
import json
import textwrap
from collections.abc import Mapping
from typing import Any

from toplist.checks import Keyword, whole
from toplist.cli.options import add_convention, csv_text, option
from toplist.cli.parser import WIDTH, command
from toplist.cli.writing import add_output
from toplist.evaluation.evaluate import conformance
from toplist.metrics.beyond_accuracy import LIST_METRICS, ListMetric
from toplist.metrics.conventions import CONVENTIONS, Convention, policies, same_formula
from toplist.metrics.definitions import METRICS, Metric
from toplist.metrics.formulas import GAIN_WORDS, SYMBOLS, formula
from toplist.metrics.names import parse

_METRICS_EPILOG = """
examples:
  toplist metrics
  toplist metrics ndcg
  toplist metrics map --convention lenskit
  toplist metrics "rbp(p=0.5)"
"""
_CONVENTIONS_EPILOG = """
A line per value that a metric has for this list, with the conventions whose
value it is. The formulas: toplist metrics METRIC --convention NAME

examples:
  toplist conventions
  toplist conventions -m map ndcg
  toplist conventions --list a b c d --truth b x y -k 3 -m map
  toplist conventions --format csv -o conventions.csv
"""
FORMATS = ("table", "json", "csv", "markdown")


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    parser = command(
        *(commands, "metrics"),
        run=_metrics,
        check=_check_metrics,
        usage="[METRIC] [--convention NAME] [options]",
        epilog=_METRICS_EPILOG,
    )
    add = parser.group("what to show")
    names = {*CONVENTIONS["standard"].metrics, *LIST_METRICS}
    text = "one metric, as ndcg; without it all of them"
    add("name", nargs="?", words=names, metavar="METRIC", help=text)
    add_convention(add)
    add_output(parser.group("output"))
    parser = command(
        *(commands, "conventions"),
        run=_conventions,
        check=_check_conventions,
        usage="[--list ITEM ...] [--truth ITEM ...] [options]",
        epilog=_CONVENTIONS_EPILOG,
    )
    add = parser.group("what to evaluate")
    text = "the ranked list, best first (default: 1 2 3 4 5)"
    add("--list", nargs="+", default=["1", "2", "3", "4", "5"], metavar="ITEM", help=text)
    text = "the relevant items (default: 1 3 9)"
    add("--truth", nargs="+", default=["1", "3", "9"], metavar="ITEM", help=text)
    add("-k", type=int, default=5, help="the cut-off (default: 5)")
    text = "only these metrics (default: all)"
    add("-m", "--metrics", nargs="+", action="extend", metavar="METRIC", help=text)
    add_output(parser.group("output"), FORMATS)


def _check_metrics(options: argparse.Namespace) -> None:
    """Raise ValueError for an unknown metric."""
    if options.name and options.name not in LIST_METRICS:
        parse(options.name, CONVENTIONS[options.convention])


def _check_conventions(options: argparse.Namespace) -> None:
    """Raise ValueError for a wrong k or an unknown metric."""
    whole(options.k, "k")
    known = dict.fromkeys(name for one in CONVENTIONS.values() for name in one.metrics)
    for name in options.metrics or ():
        if name not in known:
            raise ValueError(f"unknown metric {name!r}: choose from {', '.join(known)}")


def _metrics(options: argparse.Namespace) -> str:
    """Return the metrics of a convention with their formulas, or all about one metric."""
    convention = CONVENTIONS[options.convention]
    if options.name in LIST_METRICS:
        return _of_lists(LIST_METRICS[options.name])
    if options.name:
        return _one_metric(options.name, convention)
    width = max(map(len, convention.metrics))
    lines = [
        f"{name:{width}}  {_words(metric)}\n{'':{width}}  {formula(metric)}"
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
        _words(metric),
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


def _words(metric: Metric) -> str:
    """Return what a metric is in words, which are those of its standard divisor."""
    usual = METRICS.get(metric.name)
    if usual is None or metric.dividing.ideal or metric.dividing == usual.dividing:
        return metric.text
    return f"{metric.text}; here over {metric.dividing.name}"


def _conventions(options: argparse.Namespace) -> str:
    """Evaluate one list under every convention."""
    found = conformance([options.list], [set(options.truth)], options.k)
    names = options.metrics or dict.fromkeys(name for values in found.values() for name in values)
    if options.format == "table":
        case = f"list {' '.join(options.list)}; relevant {' '.join(options.truth)}; k = {options.k}"
        groups = (_grouped(f"{name}@{options.k}", name, found) for name in names)
        return "\n".join([case, *groups])
    header = [f"{name}@{options.k}" for name in names]
    rows = [(row, [values.get(name) for name in names]) for row, values in found.items()]
    if options.format == "json":
        named = {row: dict(zip(header, values, strict=True)) for row, values in rows}
        return json.dumps(named, indent=1)
    if options.format == "csv":
        return csv_text(["convention", *header], ([row, *values] for row, values in rows))
    lines = [["convention", *header], ["---", *("---:" for _ in header)]]
    for row, values in rows:
        lines.append([row, *("-" if one is None else f"{one:.4f}" for one in values)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _grouped(title: str, name: str, found: Mapping[str, Mapping[str, float]]) -> str:
    """Return the values of a metric, each with the conventions that print it.

    Examples
    --------
    >>> print(_grouped("map@5", "map", {"a": {"map": 0.5}, "b": {"map": 0.25}, "c": {"map": 0.5}}))
    map@5
      0.5000  a, c
      0.2500  b
    """
    groups: dict[str, list[str]] = {}
    for convention, values in found.items():
        if name in values:
            groups.setdefault(f"{values[name]:.4f}", []).append(convention)
    lines = [
        textwrap.fill(
            ", ".join(conventions),
            width=WIDTH - 1,
            initial_indent=f"  {value}  ",
            subsequent_indent=" " * len(f"  {value}  "),
            break_on_hyphens=False,
        )
        for value, conventions in groups.items()
    ]
    return "\n".join([title, *lines])
