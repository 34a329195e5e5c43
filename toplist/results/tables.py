"""What is shown of a result: its table, accounts of the users, data frames."""

from typing import Any

import numpy as np

from toplist.averages.describe import asked, folded, numbers, rule_lines
from toplist.averages.means import Means
from toplist.metrics.formulas import SYMBOLS, formula
from toplist.results.markup import Cell, Page, Table

# The columns that stand in one table of several results; more make a table per metric.
WIDE = 8

SUMMARY = ["metric", "k", "mean", "std", "low", "high", "n"]


def cell(result: Means, name: str, best: bool = False) -> Cell:
    """Return a mean as it is printed, with half of its interval where it has one."""
    mean = result[name]
    half = result.interval(name)[1] - mean
    return Cell(f"{mean:.4f}", "" if np.isnan(half) else f"{half:.4f}", best)


def report(result: Means) -> Page:
    """Return the result as a table of metrics x k, with its convention and its users."""
    shown = asked(result)
    rows = []
    for names in folded({name: numbers(result, name, ks) for name, ks in shown.items()}):
        first = names[0]
        cells = [cell(result, f"{first}@{k}") if k in shown[first] else Cell() for k in result.ks]
        rows.append((" = ".join(names), tuple(cells)))
    table = Table("", tuple(f"@{k}" for k in result.ks), tuple(rows))
    formulas = (*map(formula, result.terms.metrics.values()), SYMBOLS["text"])
    return Page((table,), tuple(rule_lines(result)), formulas=formulas)


def summary(result: Means) -> list[tuple[Any, ...]]:
    """Return a row per metric and k, in the columns of `SUMMARY`."""
    rows = []
    for name in result.names():
        metric, k = name.rsplit("@", 1)
        low, high = result.interval(name)
        rows.append((metric, int(k), result[name], result.std(name), low, high, result.n_of(name)))
    return rows


def to_pandas(result: Means, per_user: bool) -> Any:
    """Return a DataFrame of the means, or of the users' values."""
    import pandas

    if per_user:
        columns = of_users(result)
        return pandas.DataFrame({"user_id": list(result.users), **columns})
    return pandas.DataFrame(summary(result), columns=SUMMARY)


def of_users(result: Means) -> dict[str, Any]:
    """Return the values of users, of every metric that has them."""
    together = {name for name, one in result.terms.list_metrics.items() if not one.of_users}
    names = (name for name in result.names() if name.rpartition("@")[0] not in together)
    return {name: result.per_user(name) for name in names}
