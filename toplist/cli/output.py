"""What `toplist eval` prints and writes, of one system or of several side by side."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from toplist import plots
from toplist.cli.options import csv_text
from toplist.plots.charts import panels
from toplist.results import summary
from toplist.results.comparison import compare
from toplist.results.display import Display
from toplist.results.result import TopKResult
from toplist.results.saved import content, text_of

Results = Mapping[str, TopKResult]

PICTURES = (".png", ".svg", ".pdf")


def names_of(paths: Sequence[str]) -> list[str]:
    """Name systems by their files, without folder and extension where the names still differ.

    Examples
    --------
    >>> names_of(["runs/bpr.csv.gz", "runs/knn.v2.csv"])
    ['bpr', 'knn.v2']
    >>> names_of(["a/recs.csv", "b/recs.csv"])
    ['a/recs.csv', 'b/recs.csv']
    """
    short = [os.path.splitext(os.path.basename(path).removesuffix(".gz"))[0] for path in paths]
    return short if len(set(short)) == len(short) else list(paths)


def _displayed(results: Results) -> Display:
    """Return one system as a table of metrics x k, or several as a row each."""
    return compare(results) if len(results) > 1 else next(iter(results.values()))


def as_json(results: Results) -> str:
    """Return means, standard deviations, intervals and counts; several systems by name."""
    return json_by_system({name: content(result) for name, result in results.items()})


def as_csv(results: Results) -> str:
    """Return a row per metric and k: metric, k, mean, std, low, high, n; several by system."""
    return csv_by_system(
        summary.COLUMNS, {name: summary.rows(one) for name, one in results.items()}
    )


def per_user_csv(results: Results) -> str:
    """Return a row per user: user_id and one column per metric and k; several by system."""
    values = {system: summary.of_users(one) for system, one in results.items()}
    names = list(dict.fromkeys(name for columns in values.values() for name in columns))
    rows = {
        system: zip(one.users, *(values[system][name].tolist() for name in names), strict=True)
        for system, one in results.items()
    }
    return csv_by_system(["user_id", *names], rows)


def json_by_system(contents: Mapping[str, Any]) -> str:
    """Return what is known of one system as JSON; of several by name."""
    return text_of(contents if len(contents) > 1 else next(iter(contents.values())))


def csv_by_system(header: Iterable[str], rows: Mapping[str, Iterable[Iterable[Any]]]) -> str:
    """Return the rows of every system as CSV; with several, the first column is the system."""
    if len(rows) == 1:
        return csv_text(header, next(iter(rows.values())))
    labelled = ([system, *row] for system, some in rows.items() for row in some)
    return csv_text(["system", *header], labelled)


# Each takes the results, and whether metrics that are equal by definition have a line each.
FORMATS: dict[str, Callable[[Results, bool], str]] = {
    "table": lambda results, every_metric: _displayed(results).to_text(every_metric),
    "json": lambda results, every_metric: as_json(results),
    "csv": lambda results, every_metric: as_csv(results),
    "markdown": lambda results, every_metric: _displayed(results).to_markdown(every_metric),
    "latex": lambda results, every_metric: _displayed(results).to_latex(every_metric),
}


def check_picture(path: str) -> None:
    """Raise if no picture can be written, or none under this name."""
    if not path.endswith(PICTURES):
        raise ValueError(f"--plot {path}: the name must end in {', '.join(PICTURES)}")


def draw(results: Results, path: str) -> None:
    """Write curves over k: of one system in one picture, of several a picture per metric."""
    alone = len(results) == 1
    figure: Any = plots.curves(next(iter(results.values()))).figure if alone else panels(results)
    figure.savefig(path, dpi=150)
