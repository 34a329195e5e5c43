r"""`toplist across`: systems over several data sets, from results that were saved.

The files are those of result.save() in Python. Either one table.json,

  {"ml-20m": {"knn": "ml-20m/knn.npz", "ease": "ml-20m/ease.npz"}, ...}

whose file names are relative to it; or the files themselves: then a data set
is the folder of a file, and a system the file's name without its extension.
Within a data set the systems have the same users; across data sets users have
nothing to do with each other. Ranks have intervals where the files hold users.

examples:
  toplist across table.json -m ndcg@10
  toplist across -m ndcg@10 --baseline knn ml-1m/*.npz ml-20m/*.npz
  toplist across table.json -m ndcg@10 --plot ranks.png --format latex
"""

import argparse
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from toplist.cli import output
from toplist.cli.eval import NAMES
from toplist.cli.options import Parser
from toplist.cli.streams import Output, add_output, csv_text, screen_width
from toplist.comparing.datasets import MISSING, RESAMPLES, across
from toplist.plots import axes
from toplist.results.json_text import text_of
from toplist.results.result import TopKResult
from toplist.results.writing import Content
from toplist.stats import randomization
from toplist.stats.datasets import OF

USAGE = "TABLE.json | RESULT RESULT [...] -m METRIC@K [options]"

FORMATS = ("table", "json", "csv", "markdown", "latex")
# A data set's systems, each with its file.
Files = Mapping[str, Mapping[str, str]]


def add(parser: Parser) -> None:
    """Add the arguments to the parser."""
    add = parser.group("files")
    add("saved", "a table of saved results, or these", nargs="+", metavar="FILE")
    add = parser.group("what to compute")
    add("-m --metric", "one name@k, such as ndcg@10", words=NAMES, required=True, metavar="METRIC")
    add("--baseline", "compare the others with it", metavar="SYSTEM")
    text = "a system that a data set lacks: refused, or last there (default: error)"
    add("--missing", text, default="error", choices=MISSING)
    text = "the interval of differences: for these data sets, or sets like these"
    add("--of", f"{text} (default: these)", default="these", choices=OF)
    text = f"users drawn again, for intervals of ranks (default: {RESAMPLES})"
    add("--resamples", text, type=int, default=RESAMPLES, metavar="N")
    add("--seed", "of what is drawn (default: 0)", type=int, default=0)
    add = parser.group("output")
    add("--plot", "also draw the mean ranks (.png, .svg, .pdf)", metavar="FILE")
    add_output(add, FORMATS)


def check(options: argparse.Namespace) -> None:
    """Check the options before any file is opened."""
    for path in options.saved:
        if "@" in path and not os.path.exists(path):
            raise ValueError(f"{path} is no file; across is of one metric: -m {options.metric}")
    if options.plot:
        output.check_picture(options.plot)
    if options.of != "these" and options.baseline is None:
        raise ValueError(f"--of {options.of} is of differences from a baseline: add --baseline")
    randomization.resamples(options.resamples)
    randomization.seeded(options.seed)


def run(options: argparse.Namespace) -> Output:
    """Load the results and put them side by side; return the text and the picture to write."""
    if options.plot:
        axes.need_matplotlib()
    several = len(options.saved) > 1
    files = by_folder(options.saved) if several else table_of(options.saved[0])
    results = {
        dataset: {system: TopKResult.load(path) for system, path in systems.items()}
        for dataset, systems in files.items()
    }
    how = {name: getattr(options, name) for name in ("baseline", "missing", "of", "seed")}
    try:
        found = across(results, options.metric, n_resamples=options.resamples, **how)
    except KeyError as error:  # a name that a system lacks
        raise ValueError(error.args[0]) from None
    if options.format == "json":
        text = text_of(found.to_dict())
    elif options.format == "csv":
        rows = found.to_dict()["systems"]
        means = [row.pop("means") for row in rows.values()]
        header = ["system", *found.datasets, *rows[found.systems[0]]]
        both = zip(rows.items(), means, strict=True)
        text = csv_text(header, ([s, *one.values(), *row.values()] for (s, row), one in both))
    elif options.format == "table":
        text = found.to_text(width=screen_width(options))
    else:
        text = found.to_markdown() if options.format == "markdown" else found.to_latex()
    drawn: dict[str, Content] = {}
    if options.plot:
        draw: Callable[[], Any] = found.plot
        drawn[options.plot] = lambda path: draw().figure.savefig(path, bbox_inches="tight")
    return Output(text, drawn)


def by_folder(paths: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return files by their folders and names; ValueError for two of one name.

    Examples
    --------
    >>> by_folder(["runs/ml/knn.npz", "runs/ml/ease.npz", "runs/yelp/knn.npz"])["ml"]
    {'knn': 'runs/ml/knn.npz', 'ease': 'runs/ml/ease.npz'}
    """
    folders = dict.fromkeys(os.path.dirname(os.path.abspath(path)) for path in paths)
    short = {folder: os.path.basename(folder) for folder in folders}
    named = short if len({*short.values()}) == len(short) else {one: one for one in folders}
    found: dict[str, dict[str, str]] = {}
    for path in paths:
        dataset = found.setdefault(named[os.path.dirname(os.path.abspath(path))], {})
        (system,) = output.names_of([path])
        if system in dataset:
            raise ValueError(
                f"{dataset[system]} and {path} are both system {system} of one data set: give one, "
                "or a table.json with other names"
            )
        dataset[system] = path
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; ValueError for a name that is there twice, of which one is lost."""
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{twice!r} is there twice: give each a name of its own")
    return dict(pairs)


def table_of(path: str) -> dict[str, dict[str, str]]:
    """Return the files of a table of saved results, found from where it is."""
    table_form = '{"data set": {"system": "file", ...}, ...}'
    way = f"{path}: give several saved results, or a table of them, {table_form}"
    try:
        with open(path, encoding="utf-8") as file:
            table: Any = json.load(file, object_pairs_hook=_once)
    except ValueError as error:
        raise ValueError(f"{way}: it is not read as such: {error}") from None
    folder = os.path.dirname(path)
    found: dict[str, dict[str, str]] = {}
    for dataset, systems in table.items() if isinstance(table, dict) else [("", table)]:
        if not dataset or not isinstance(systems, dict) or not systems:
            raise ValueError(f"{way}: here {dataset or path!r} has no systems")
        for system, file in systems.items():
            if not isinstance(file, str):
                raise ValueError(f"{way}: here {system!r} of {dataset!r} is no file: {file!r}")
            found.setdefault(dataset, {})[system] = os.path.join(folder, file)
    return found
