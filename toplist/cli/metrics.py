"""`toplist metrics` and `toplist conventions`: the definitions behind the numbers."""

import argparse
import textwrap
from collections.abc import Mapping
from typing import Any

from toplist.audit import conformance
from toplist.cli.options import CONVENTION, KINDS, WIDTH, Command, option, output, table
from toplist.metrics import conventions
from toplist.metrics.beyond_accuracy import LIST_METRICS, ListMetric, takes
from toplist.metrics.conventions import CONVENTIONS, SYNONYMS, Convention, convention_of
from toplist.metrics.definitions import METRICS, Metric
from toplist.metrics.names import parse
from toplist.metrics.properties import GAIN_WORDS, SCORED, SYMBOLS, WEIGHT_WORDS, formula, is_scored
from toplist.results.describe import text_of
from toplist.results.markup import markdown
from toplist.results.tables import LOOK, Column, Grid, Page, Table


def check_metrics(options: argparse.Namespace) -> None:
    """Raise ValueError for an unknown metric."""
    if options.metric:
        parse(options.metric, convention_of(options.convention))


def run_metrics(options: argparse.Namespace) -> str:
    """Return the metrics of a convention with their formulas, or all about one metric.

    examples:
      toplist metrics
      toplist metrics ndcg
      toplist metrics map --convention lenskit
      toplist metrics "rbp(p=0.5)"
    """
    convention = convention_of(options.convention)
    if options.metric:
        metric, _ = parse(options.metric, convention)
        if isinstance(metric, ListMetric):
            return _of_lists(metric)
        return _one_metric(metric, convention)
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
    given = [f"{name}=: {words}" for name, words in takes(metric.base).items()]
    lines = [metric.text, metric.formula, metric.latex, f"{over}; {needs}"]
    return "\n".join([*lines, *([f"in its name: {'; '.join(given)}"] if given else [])])


def _one_metric(metric: Metric, convention: Convention) -> str:
    """Return what one metric is under one convention, in words and formulas."""
    gains = WEIGHT_WORDS["ips"] if is_scored(metric) else GAIN_WORDS[str(convention.gains)]
    pooled = convention.is_pooled(metric) or is_scored(metric)
    ratio = "ratio of sums over users" if pooled else "mean over users"
    known = conventions.known_of(metric)
    whom = conventions.policies(convention.policy_of(metric), convention.missing, of=known)
    if is_scored(metric):  # under IPS they count, as its text says
        whom = f"under SNIPS {whom}"
    same = conventions.same_formula(metric, convention.relevant, convention.gains)
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


# Every convention beside the others


def _grouped(name: str, values: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the values of a metric in lines, each with the conventions that print it."""
    groups: dict[str, list[str]] = {}
    for one, some in values.items():
        if some[name] is not None:
            groups.setdefault(f"{some[name]:.4f}", []).append(one)
    wrap = textwrap.TextWrapper(WIDTH - 1, break_on_hyphens=False)
    lines = [name]
    for value, names in groups.items():
        wrap.initial_indent = f"  {value}  "
        wrap.subsequent_indent = " " * len(wrap.initial_indent)
        lines += wrap.wrap(", ".join(names))
    return lines


def run_conventions(options: argparse.Namespace) -> str:
    """Evaluate one list under every convention.

    A line per value that a metric has for this list, with the conventions whose
    value it is. The formulas: toplist metrics METRIC --convention NAME

    examples:
      toplist conventions
      toplist conventions -m map ndcg
      toplist conventions --list a b c d --truth b x y -k 3 -m map
      toplist conventions --format csv -o conventions.csv
    """
    values = conformance([options.list], [set(options.truth)], options.k)
    names = options.metrics or dict.fromkeys(name for some in values.values() for name in some)
    titles = {name: f"{name}@{options.k}" for name in names}
    plain = {
        one: {title: some.get(name) for name, title in titles.items()}
        for one, some in values.items()
    }
    rows = [{"convention": name, **some} for name, some in plain.items()]
    if options.format == "json":
        return text_of(plain)
    if options.format == "csv":
        return Grid.of(rows).to_csv()
    if options.format == "markdown":
        columns = map(Column, titles.values())
        return markdown(Page([Table.of("convention", "{convention}", columns, rows, LOOK)]))
    shared: dict[str, list[str]] = {}
    for other, name in SYNONYMS.items():
        shared.setdefault(name, []).append(other)
    case = f"list {' '.join(options.list)}; relevant {' '.join(options.truth)}; k = {options.k}"
    lines = [case, *(line for title in titles.values() for line in _grouped(title, plain))]
    lines += [f"the same as {name}: {', '.join(others)}" for name, others in shared.items()]
    return "\n".join(lines)


EXAMPLE = table(
    """
    --list ITEM...  the ranked list, best first (default: 1 2 3 4 5)
    --truth ITEM...  the relevant items (default: 1 3 9)
    -k K  the cut-off (default: 5)
    -m --metrics METRIC...  only these metrics (default: all)
    """,
    list={"action": "store", "default": ["1", "2", "3", "4", "5"]},
    truth={"action": "store", "default": ["1", "3", "9"]},
    k=KINDS["k"] | {"default": 5},
    metrics={
        "choices": list(dict.fromkeys(name for one in CONVENTIONS.values() for name in one.metrics))
    },
)
METRIC = "[METRIC]  one metric, as ndcg; without it all of them"
COMMANDS = {
    "metrics": Command(
        "[METRIC] [--convention NAME] [options]",
        {"what to show": table(f"{METRIC}\n{CONVENTION}"), "output": output()},
        run_metrics,
        check_metrics,
    ),
    "conventions": Command(
        "[--list ITEM ...] [--truth ITEM ...] [options]",
        {"what to evaluate": EXAMPLE, "output": output(("table", "json", "csv", "markdown"))},
        run_conventions,
    ),
}
