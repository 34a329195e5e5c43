"""`toplist conventions`: the values of one list by the formulas of every library.

A line per value that a metric has for this list, with the conventions whose
value it is. The formulas: toplist metrics METRIC --convention NAME

examples:
  toplist conventions
  toplist conventions -m map ndcg
  toplist conventions --list a b c d --truth b x y -k 3 -m map
  toplist conventions --format csv -o conventions.csv
"""

import argparse
import json
import textwrap
from collections.abc import Mapping

from toplist.audit import conformance
from toplist.checks import check_positive_int
from toplist.cli.options import WIDTH, Parser
from toplist.cli.streams import add_output, csv_text
from toplist.metrics.conventions import CONVENTIONS, SYNONYMS

USAGE = "[--list ITEM ...] [--truth ITEM ...] [options]"
FORMATS = ("table", "json", "csv", "markdown")


def add(parser: Parser) -> None:
    """Add the arguments to the parser."""
    add = parser.group("what to evaluate")
    text = "the ranked list, best first (default: 1 2 3 4 5)"
    add("--list", text, nargs="+", default=["1", "2", "3", "4", "5"], metavar="ITEM")
    text = "the relevant items (default: 1 3 9)"
    add("--truth", text, nargs="+", default=["1", "3", "9"], metavar="ITEM")
    add("-k", "the cut-off (default: 5)", type=int, default=5)
    add("-m --metrics", "only these metrics (default: all)", several=True, metavar="METRIC")
    add_output(parser.group("output"), FORMATS)


def check(options: argparse.Namespace) -> None:
    """Raise ValueError for a wrong k or an unknown metric."""
    check_positive_int(options.k, "k")
    known = dict.fromkeys(name for one in CONVENTIONS.values() for name in one.metrics)
    for name in options.metrics or ():
        if name not in known:
            raise ValueError(f"unknown metric {name!r}: choose from {', '.join(known)}")


def run(options: argparse.Namespace) -> str:
    """Evaluate one list under every convention."""
    found = conformance([options.list], [set(options.truth)], options.k)
    names = options.metrics or dict.fromkeys(name for values in found.values() for name in values)
    if options.format == "table":
        case = f"list {' '.join(options.list)}; relevant {' '.join(options.truth)}; k = {options.k}"
        groups = (_grouped(f"{name}@{options.k}", name, found) for name in names)
        return "\n".join([case, *groups, *_synonyms()])
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


def _synonyms() -> list[str]:
    """Return a line for each convention that other libraries share."""
    shared: dict[str, list[str]] = {}
    for other, name in SYNONYMS.items():
        shared.setdefault(name, []).append(other)
    return [f"the same as {name}: {', '.join(others)}" for name, others in shared.items()]


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
