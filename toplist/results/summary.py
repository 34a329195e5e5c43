"""The table of one result, its rows for CSV, and its data frames."""

import math
from typing import TYPE_CHECKING, Any

from toplist.metrics.formulas import SYMBOLS, formula
from toplist.metrics.properties import equal_names
from toplist.results.describe import rule_lines
from toplist.results.markup import Cell, Look, Page, Table
from toplist.results.means import Means

if TYPE_CHECKING:
    from pandas import DataFrame

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
