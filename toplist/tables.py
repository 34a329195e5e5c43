"""How a result is shown: text table, accounts of the users, data frames."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from toplist.conventions import CONVENTIONS
from toplist.metrics import PARAMETRIC

if TYPE_CHECKING:
    from toplist.list_metrics import ListMetric
    from toplist.metrics import Metric
    from toplist.results import TopKResult

SUMMARY = ["metric", "k", "mean", "std", "low", "high", "n"]
COUNTS = ["n_users", "n_evaluated", "n_skipped", "n_missing", "n_extra"]


def account(result: "TopKResult") -> str:
    """Say in words which users the means are over."""
    terms = result.terms
    parts = [f"{result.n_evaluated:,} of {result.n_users:,} users evaluated"]
    if result.n_skipped:
        why = "no relevant items" if terms.missing != "skip" else "no relevant items or no list"
        parts.append(f"{result.n_skipped:,} skipped ({why})")
    if result.n_missing:
        fate = "left out" if terms.missing == "skip" else "counted as 0"
        parts.append(f"{result.n_missing:,} without a list ({fate})")
    if result.n_extra:
        parts.append(f"{result.n_extra:,} with a list but no ground truth (ignored)")
    told = ", ".join(parts)
    if result.n_evaluated and not result.population.each.any():
        told += "; NO HIT AT ALL: are the item ids of both sides written alike?"
    return told


def rules(result: "TopKResult", metric: "Metric | None" = None) -> str:
    """Name the convention, and what is not of it; for one metric, or for all."""
    terms = result.terms
    have = CONVENTIONS[terms.convention].metrics
    asked = terms.metrics.values() if metric is None else [metric]
    own = [one.name for one in asked if have.get(one.name.split("(")[0]) != one and not _tuned(one)]
    told = f"convention {terms.convention}"
    if len(own) == len(list(asked)):
        told = f"own definition, policies of {told}"
    elif own:
        told += f" (but {', '.join(own)}: own definition)"
    if terms.grading.relevant_from is not None:
        told += f", relevant from grade {terms.grading.relevant_from:g}"
    if terms.grading.gains != "linear" and any(one.graded for one in asked):
        told += ", gain 2^grade - 1"
    return told


def _tuned(metric: "Metric") -> bool:
    """Whether this is a metric of the tables with a parameter of its own."""
    return metric.name.split("(")[0] in PARAMETRIC and "(" in metric.name


def averaging(result: "TopKResult", metric: "Metric | None" = None) -> str:
    """Say in words what is done over users; for one metric, or for all."""
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


def of_lists(result: "TopKResult", metric: "ListMetric") -> str:
    """Say in words which lists a metric of the lists themselves is over."""
    n = result.n_of(metric.name)
    if metric.of_users:
        return f"{metric.text}; mean over {n:,} users with a list"
    return f"{metric.text}; of all {n:,} lists together"


def grid(result: "TopKResult", markup: str = "{mean} ±{half}") -> list[list[str]]:
    """Return the cells of metrics x k: a header row, then a row per metric."""
    ks = result.ks
    asked: dict[str, set[int]] = {}
    for entry in result.terms.entries:
        asked.setdefault(entry.metric.name, set()).update(entry.ks)
    rows = [["", *(f"@{k}" for k in ks)]]
    for name, wanted in asked.items():
        cells = (cell(result, f"{name}@{k}", markup) if k in wanted else "" for k in ks)
        rows.append([name, *cells])
    return rows


def cell(result: "TopKResult", name: str, markup: str = "{mean} ±{half}") -> str:
    """Return a mean with half of its interval."""
    mean = result[name]
    half = result.interval(name)[1] - mean
    if np.isnan(half):
        return f"{mean:.4f}"
    return markup.format(mean=f"{mean:.4f}", half=f"{half:.4f}")


def columns(rows: list[list[str]]) -> str:
    """Line up cells: the first column to the left, the others to the right."""
    first, *widths = (max(map(len, column)) for column in zip(*rows, strict=True))
    lines = []
    for name, *cells in rows:
        padded = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        lines.append("  ".join([name.ljust(first), *padded]).rstrip())
    return "\n".join(lines)


def text(result: "TopKResult") -> str:
    """Return the result as a table for a terminal."""
    return "\n".join([columns(grid(result)), *rule_lines(result)])


def rule_lines(result: "TopKResult") -> list[str]:
    """Say by which rules the means were made, and who is in them."""
    interval = ", ± half of the 95 % interval" if result.n_evaluated > 1 else ""
    lines = [f"{rules(result)}: {averaging(result)}{interval}"] if result.terms.metrics else []
    lines += [f"{name}: {of_lists(result, one)}" for name, one in result.terms.list_metrics.items()]
    return [*lines, *sampling(result), account(result)]


def sampling(result: "TopKResult") -> list[str]:
    """Say how the candidates were drawn, if they were."""
    sampled = result.terms.sampled
    return [] if sampled is None else [sampled.words]


def summary(result: "TopKResult") -> list[tuple[Any, ...]]:
    """Return a row per metric and k, in the columns of `SUMMARY`."""
    rows = []
    for name in result.names():
        metric, k = name.rsplit("@", 1)
        low, high = result.interval(name)
        rows.append((metric, int(k), result[name], result.std(name), low, high, result.n_of(name)))
    return rows


def to_pandas(result: "TopKResult", per_user: bool) -> Any:
    """Return a DataFrame of the means, or of the users' values."""
    import pandas

    if per_user:
        columns = _of_users(result)
        return pandas.DataFrame({"user_id": list(result.users), **columns})
    return pandas.DataFrame(summary(result), columns=SUMMARY)


def as_json(result: "TopKResult") -> str:
    """Return the means asked for as a JSON object, with spread, intervals and counts."""
    import json

    def number(value: float) -> float | None:
        return None if np.isnan(value) else float(value)

    names = result.names()
    intervals = {name: result.interval(name) for name in names}
    content = {
        "convention": result.terms.convention,
        "k": list(result.ks),
        **({"sampled": vars(sampled)} if (sampled := result.terms.sampled) else {}),
        **{name: getattr(result, name) for name in COUNTS},
        "values": {name: number(result[name]) for name in names},
        "std": {name: number(result.std(name)) for name in names},
        "interval": {name: list(map(number, ends)) for name, ends in intervals.items()},
    }
    return json.dumps(content, indent=1)


def as_csv(result: "TopKResult") -> str:
    """Return a row per metric and k: metric, k, mean, std, low, high, n."""
    return _csv(SUMMARY, (map(_cell_of, row) for row in summary(result)))


def per_user_csv(result: "TopKResult") -> str:
    """Return a row per user: user_id and one column per metric and k; NaN as an empty cell."""
    columns = _of_users(result)
    cells = (map(_cell_of, column.tolist()) for column in columns.values())
    rows = zip(result.users, *cells, strict=True)
    return _csv(["user_id", *columns], rows)


def _of_users(result: "TopKResult") -> dict[str, Any]:
    """Return the values of users, of every metric that has them."""
    together = {name for name, one in result.terms.list_metrics.items() if not one.of_users}
    names = (name for name in result.names() if name.rpartition("@")[0] not in together)
    return {name: result.per_user(name) for name in names}


def _cell_of(value: Any) -> Any:
    return "" if value != value else value


def _csv(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()
