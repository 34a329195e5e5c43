"""`toplist metrics`: the definitions behind the numbers.

examples:
  toplist metrics
  toplist metrics ndcg
  toplist metrics map --convention lenskit
  toplist metrics "rbp(p=0.5)"
"""

import argparse

from toplist.cli.options import Parser, add_convention, option
from toplist.cli.streams import add_output
from toplist.metrics.beyond_accuracy import LIST_METRICS, ListMetric
from toplist.metrics.conventions import (
    CONVENTIONS,
    Convention,
    convention_of,
    known_of,
    policies,
    same_formula,
)
from toplist.metrics.definitions import METRICS, Metric
from toplist.metrics.formulas import GAIN_WORDS, SYMBOLS, WEIGHT_WORDS, formula
from toplist.metrics.names import named, parse
from toplist.metrics.weighing import SCORED, is_scored

USAGE = "[METRIC] [--convention NAME] [options]"


def add(parser: Parser) -> None:
    """Add the arguments to the parser."""
    add = parser.group("what to show")
    names = {*CONVENTIONS["standard"].metrics, *LIST_METRICS, *SCORED}
    text = "one metric, as ndcg; without it all of them"
    add("name", text, nargs="?", words=names, metavar="METRIC")
    add_convention(add)
    add_output(parser.group("output"))


def check(options: argparse.Namespace) -> None:
    """Raise ValueError for an unknown metric."""
    if options.name and named(options.name) is None:
        parse(options.name, convention_of(options.convention))


def run(options: argparse.Namespace) -> str:
    """Return the metrics of a convention with their formulas, or all about one metric."""
    convention = convention_of(options.convention)
    of_lists = named(options.name)
    if of_lists is not None:
        return _of_lists(of_lists[0])
    if options.name:
        return _one_metric(options.name, convention)
    width = max(map(len, convention.metrics))
    lines = [
        f"{name:{width}}  {_words(metric)}\n{'':{width}}  {formula(metric)}"
        for name, metric in convention.metrics.items()
    ]
    others = f"{'':{width}}  of the lists themselves: {', '.join(LIST_METRICS)}"
    scored = f"{'':{width}}  with --propensities: {', '.join(SCORED)}"
    return "\n".join([*lines, others, scored])


def _of_lists(metric: ListMetric) -> str:
    """Return what one metric of the lists themselves is, in words and formulas."""
    over = f"mean over users {metric.whom}" if metric.of_users else "of all lists together"
    options = " and ".join(option(one) for one in metric.needs)
    needs = f"needs {options}" if options else "needs only the lists"
    return "\n".join([metric.text, metric.formula, metric.latex, f"{over}; {needs}"])


def _one_metric(name: str, convention: Convention) -> str:
    """Return what one metric is under one convention, in words and formulas."""
    metric, _ = parse(name, convention)
    gains = WEIGHT_WORDS["ips"] if is_scored(metric) else GAIN_WORDS[str(convention.gains)]
    pooled = convention.is_pooled(metric) or is_scored(metric)
    ratio = "ratio of sums over users" if pooled else "mean over users"
    whom = policies(convention.policy_of(metric), convention.missing, of=known_of(metric))
    same = same_formula(metric, convention.relevant, convention.gains)
    lines = [
        _words(metric),
        formula(metric),
        formula(metric, "latex"),
        SYMBOLS["text"],
        gains if metric.graded and not metric.earning else "",
        f"{ratio}; {whom}",
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
