"""`toplist eval`: the means of systems, whole or by segment."""

import argparse
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from toplist import plots
from toplist.checks import prefixed, printable
from toplist.cli import options as cli
from toplist.cli import reading
from toplist.metrics.conventions import convention_of
from toplist.results import describe
from toplist.results.describe import content, text_of
from toplist.results.markup import in_markdown
from toplist.results.result import TopKResult
from toplist.results.saved import check_name, dump
from toplist.results.segments import Segments
from toplist.results.tables import Grid

Results = Mapping[str, TopKResult]
# What is shown of every system: its result, or that by segment.
Shown = Mapping[str, TopKResult | Segments[TopKResult]]
# What stands above each of several systems.
TITLES = {"table": "system {}\n", "markdown": "**{}**\n\n", "latex": "% system {}\n"}


def check_eval(options: argparse.Namespace) -> None:
    """Check the options before any file is opened."""
    reading.check_asked(options)
    if options.segments and options.item_segments:
        raise ValueError("--segments splits the users, --item-segments the items: give one of them")
    if not options.save:
        return
    if any(map(reading.is_saved, options.recs)):
        raise ValueError(f"--save {options.save}: a saved result is among the files")
    if not os.path.isdir(options.save):
        check_name("--save ", options.save)
        if options.system or len(options.recs) > 1:
            way = "of several systems, name a folder that is there"
            raise ValueError(f"--save {options.save}: {way}")


def run_eval(options: argparse.Namespace) -> cli.Output:
    """Evaluate all systems; return the text to print and the files to write.

    examples:
      toplist eval recs.csv truth.csv
      toplist eval recs.csv truth.csv -k 10 20 -m ndcg recall
      toplist eval bpr.csv itemknn.csv truth.csv -k 10 --plot curves.png
      toplist eval run.trec qrels.trec -m ndcg@10 --convention trec_eval
      toplist eval recs.csv truth.csv --columns user_id=uid ground_truths:item_id=id
      toplist eval recs.csv truth.csv -m ndcg@10 --save base.npz
      toplist eval recs.csv truth.csv --segments users.csv:country -o table.txt
      toplist eval recs.csv truth.csv --item-segments items.csv:genre
      zcat recs.jsonl.gz | toplist eval - truth.csv --ranks-format jsonl

    the files:
      CSV, TSV, JSONL, TREC (run and qrels), each also .gz, or Parquet (a file or a
      folder), by extension. Columns: user_id, item_id and rank or score (in the
      truth, if there are grades, relevance). In JSONL and Parquet item_id may be a
      whole ranked list. Files of any size are read block by block; lists in which
      the rows of a user are apart are read whole and sorted, where they fit into
      memory. Results that --save kept (.npz) may
      stand among the lists; of such alone no truth is given. They keep the options
      that they were made with: other ones beside them are an error.
    """
    # all systems count the same users of the truth, except where users without a list are left
    # out, and under ips, where those count who have a list alone: then the comparison must know
    # the users themselves, not only their number
    split = options.segments or options.item_segments
    whole = any((options.per_user, split, options.weights, options.clusters, options.save))
    missing = options.missing or convention_of(options.convention).missing
    other_users = missing == "skip" or options.weighting == "ips"
    tested = options.format == "latex"  # user by user, as `Comparison.to_latex` does
    several = len(options.recs) > 1 or options.system is not None
    results = reading.evaluated(options, whole or (several and (other_users or tested)))
    if split:
        text = systems(options, _split(options, results))
    else:
        text = systems(options, results, every_metric=options.every_metric)
    one = results if len(results) > 1 else next(iter(results.values()))
    contents = cli.drawn(options, lambda: plots.curves(one), dpi=150)
    if options.per_user:
        contents[options.per_user] = per_user_csv(options, results)
    for name, result in results.items() if options.save else ():
        path = options.save
        if os.path.isdir(path):
            if os.path.basename(name) != name:
                raise ValueError(f"--save {path}: {name!r} is no name of a file: evaluate it alone")
            path = os.path.join(path, f"{name}.npz")
        contents[path] = dump(result)
    return cli.Output(text, contents, reading.ranked_truth(options))


def _split(options: argparse.Namespace, results: Mapping[str, TopKResult]) -> dict[str, Any]:
    """Split the result of every system by a column of a file with a row per user, or per item."""
    if options.segments:
        known = reading.labels(options, "segments")
        return {s: result.by(reading.of_users(result, known)) for s, result in results.items()}
    known = reading.labels(options, "item_segments")
    by_item = reading.of_items(results.values(), known)
    try:
        return {name: result.by_item(by_item) for name, result in results.items()}
    except (ValueError, TypeError) as error:
        raise prefixed(f"{known.path}: ", error) from None


def systems(options: argparse.Namespace, found: Shown, **how: Any) -> str:
    """Return results, or those by segment, in the format that was asked for.

    Several results are side by side; several ones by segment are one below the other.
    """
    shown: Mapping[str, Any] = found
    split = any(isinstance(one, Segments) for one in found.values())
    if options.format == "json":  # means, spreads, intervals, counts
        contents = {name: content(one.whole if split else one) for name, one in shown.items()}
        for name, one in shown.items() if split else ():
            parts = [{"segment": label, **content(part)} for label, part in one.items()]
            contents[name]["segments"] = parts
        return text_of(contents if len(contents) > 1 else next(iter(contents.values())))
    if options.format == "csv":
        return _by_system({name: one._grid() for name, one in shown.items()}).to_csv()
    if len(shown) == 1:
        return cli.formatted(options, shown, **how)
    if not split:
        from toplist.comparing.comparison import compare  # a tenth of the time of one result

        return cli.formatted(options, {"": compare(shown)}, **how)
    title = TITLES[options.format]
    written = in_markdown if options.format == "markdown" else printable
    texts = ((name, cli.formatted(options, {name: one})) for name, one in shown.items())
    return "\n\n".join(title.format(written(name)) + text for name, text in texts)


def _by_system(grids: Mapping[str, Grid]) -> Grid:
    """Return the rows of every system; with several, the first column is the system."""
    return Grid.stacked("system", grids) if len(grids) > 1 else next(iter(grids.values()))


def per_user_csv(options: argparse.Namespace, results: Results) -> str:
    """Return a row per user: the key and one column per metric and k; several by system.

    A metric that a saved result lacks has no values there.
    """
    values = {system: describe.of_users(one) for system, one in results.items()}
    names = dict.fromkeys(name for columns in values.values() for name in columns)
    grids = {}
    for system, one in results.items():
        lacking = np.full(len(one.users), np.nan)
        columns = {name: values[system].get(name, lacking).tolist() for name in names}
        keys = reading.columns_of_users(options, one.users, ["system", *names])
        grids[system] = Grid(keys | columns)
    return _by_system(grids).to_csv()


EVALUATED = cli.table(
    """
    --segments FILE:COLUMN  the results by a label of users; keeps all users
    --item-segments FILE:COLUMN  by a label of relevant items; keeps all users
    --every-metric  a line each for metrics that are one here
    --per-user FILE  also write every user's values (CSV); keeps all users
    --plot FILE  also draw the curves over k (.png, .svg, .pdf)
    --save PATH  also save the result with its users, FILE.npz; of several systems, in a folder
    """
)


COMMANDS = {
    "eval": cli.Command(
        "RECS [RECS ...] [TRUTH] [-k K ...] [-m METRIC ...] [options]",
        reading.evaluation() | {"output": [*EVALUATED, *cli.output(cli.PRINTED)]},
        run_eval,
        check_eval,
    ),
}
