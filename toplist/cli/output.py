"""What `toplist eval` prints and writes: of one system, or of several side by side."""

import csv
import io
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from toplist import plots
from toplist.plots import axes
from toplist.results import tables
from toplist.results.comparison import compare
from toplist.results.markup import Display
from toplist.results.result import TopKResult

Results = Mapping[str, TopKResult]

PICTURES = (".png", ".svg", ".pdf")
COUNTS = ["n_users", "n_evaluated", "n_skipped", "n_missing", "n_extra"]


def names_of(paths: Sequence[str]) -> list[str]:
    """Name systems by their files: without folder and extensions, where that tells them apart.

    Examples
    --------
    >>> names_of(["runs/bpr.csv.gz", "runs/knn.v2.csv"])
    ['bpr', 'knn.v2']
    >>> names_of(["a/recs.csv", "b/recs.csv"])
    ['a/recs.csv', 'b/recs.csv']
    """
    short = [os.path.splitext(os.path.basename(path).removesuffix(".gz"))[0] for path in paths]
    return short if len(set(short)) == len(short) else list(paths)


def _shown(results: Results) -> Display:
    """Return what is printed: one system as a table of metrics x k, several as a row each."""
    return compare(results) if len(results) > 1 else next(iter(results.values()))


def as_json(results: Results) -> str:
    """Return the means asked for, with spread, intervals and counts; several by their names."""
    contents = {name: content(result) for name, result in results.items()}
    whole: Any = contents if len(contents) > 1 else next(iter(contents.values()))
    return json.dumps(whole, indent=1)


def content(result: TopKResult) -> dict[str, Any]:
    """Return what JSON tells of a result."""

    def number(value: float) -> float | None:
        return None if np.isnan(value) else float(value)

    names = result.names()
    intervals = {name: result.interval(name) for name in names}
    return {
        "convention": result.terms.convention,
        "k": list(result.ks),
        **({"sampled": vars(sampled)} if (sampled := result.terms.sampled) else {}),
        **{name: getattr(result, name) for name in COUNTS},
        "values": {name: number(result[name]) for name in names},
        "std": {name: number(result.std(name)) for name in names},
        "interval": {name: list(map(number, ends)) for name, ends in intervals.items()},
    }


def as_csv(results: Results) -> str:
    """Return a row per metric and k: metric, k, mean, std, low, high, n; several by system."""
    return _csv(tables.SUMMARY, {name: tables.summary(one) for name, one in results.items()})


def per_user_csv(results: Results) -> str:
    """Return a row per user: user_id and one column per metric and k; several by system."""
    values = {system: tables.of_users(one) for system, one in results.items()}
    names = list(dict.fromkeys(name for columns in values.values() for name in columns))
    rows = {
        system: zip(one.users, *(values[system][name].tolist() for name in names), strict=True)
        for system, one in results.items()
    }
    return _csv(["user_id", *names], rows)


def _csv(header: Iterable[str], rows: Mapping[str, Iterable[Iterable[Any]]]) -> str:
    """Write rows, with a first column for the system if there are several; NaN is empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    several = len(rows) > 1
    writer.writerow([*["system"] * several, *header])
    for system, some in rows.items():
        label = [system] if several else []
        writer.writerows([*label, *("" if cell != cell else cell for cell in row)] for row in some)
    return out.getvalue()


FORMATS: dict[str, Callable[[Results], str]] = {
    "table": lambda results: repr(_shown(results)),
    "json": as_json,
    "csv": as_csv,
    "markdown": lambda results: _shown(results).to_markdown(),
    "latex": lambda results: _shown(results).to_latex(),
}


def check_picture(path: str) -> None:
    """Raise if no picture can be written, or none under this name."""
    if not path.endswith(PICTURES):
        raise ValueError(f"--plot {path}: the name must end in {', '.join(PICTURES)}")


def draw(results: Results, path: str) -> None:
    """Write curves over k: of one system in one picture, of several a picture per metric."""
    alone = len(results) == 1
    figure: Any = plots.curves(next(iter(results.values()))).figure if alone else _panels(results)
    figure.savefig(path, dpi=150)


def _panels(results: Results) -> Any:
    """Return a figure with a small picture per metric, all with the same colours."""
    names = list(dict.fromkeys(name for one in results.values() for name in one.terms.metrics))
    groups = axes.equal(results, names)
    across = min(3, len(groups))
    down = -(-len(groups) // across)
    figure = axes.figure(3.2 * across, 0.5 + 2.5 * down)
    places = list(figure.subplots(down, across, squeeze=False).flat)
    for ax, group in zip(places, groups, strict=False):
        plots.curves(results, group[0], ax=ax)
        ax.set_ylabel(" = ".join(group) + "@k")
        axes.caption(ax)
        ax.get_legend().remove()
    for ax in places[len(groups) :]:
        ax.remove()
    handles, labels = places[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=4, frameon=False)
    shown = list(results.values())
    told = (axes.users_of(shown), axes.rules_of(shown), axes.band(places[0], 0.95))
    figure.supxlabel("; ".join(told), fontsize="small", color=axes.GREY)
    return figure
