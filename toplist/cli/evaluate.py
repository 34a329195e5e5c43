"""`toplist eval`: files of ranked lists and of relevant items in, a table out."""

import argparse
import os
import re
from pathlib import Path
from typing import Any

from toplist import files
from toplist.checks import prefixed
from toplist.cli import output, segments
from toplist.cli.items import add_items, known_items, padding_of
from toplist.cli.options import (
    add_columns,
    add_convention,
    add_formats,
    add_options,
    check_sides,
    given_options,
    names_of_columns,
)
from toplist.cli.parser import Parser, command
from toplist.cli.swapped import ranked_truth, swapped
from toplist.cli.writing import Report, add_output
from toplist.evaluation.plan import entries_of
from toplist.inputs.grades import Grading
from toplist.inputs.options import DEFAULT_METRICS, SIDES
from toplist.metrics.beyond_accuracy import LIST_METRICS
from toplist.metrics.conventions import CONVENTIONS
from toplist.plots import axes
from toplist.results.result import TopKResult
from toplist.top_k import top_k_eval
from toplist.writing import Content

DEFAULT_KS = [1, 5, 10, 20]
# As a cut-off: whole lists, k=None in Python.
ALL = "all"
# The names of the metrics of all conventions.
NAMES = {name for one in CONVENTIONS.values() for name in one.metrics} | set(LIST_METRICS)

_USAGE = "RECS [RECS ...] TRUTH [-k K ...] [-m METRIC ...] [options]"
_EPILOG = """
examples:
  toplist eval recs.csv truth.csv
  toplist eval recs.csv truth.csv -k 10 20 -m ndcg recall
  toplist eval bpr.csv itemknn.csv truth.csv -k 10 --plot curves.png
  toplist eval run.trec qrels.trec -m ndcg@10 --convention trec_eval
  toplist eval recs.csv truth.csv --columns user_id=uid ground_truths:item_id=id
  toplist eval recs.csv truth.csv --segments users.csv:country -o table.txt
  zcat recs.jsonl.gz | toplist eval - truth.csv --ranks-format jsonl

the files:
  CSV, TSV, JSONL, TREC (run and qrels), each also .gz, or Parquet (a file or a
  folder), by extension. Columns: user_id, item_id and rank or score (in the
  truth, if there are grades, relevance). In JSONL and Parquet item_id may be a
  whole ranked list. Files of any size are read part by part; the rows of a
  user must follow each other. --in-memory reads files whole, with rows in any
  order; TREC files are always read so.
"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = command(commands, "eval", run=_eval, check=_check, usage=_USAGE, epilog=_EPILOG)
    add_reading(parser)
    add = parser.group("output")
    text = "the results by a label of users; reads in memory"
    add("--segments", metavar="FILE:COLUMN", help=text)
    add("--every-metric", action="store_true", help="a line each for metrics that are one here")
    add("--per-user", metavar="FILE", help="also write every user's values (CSV); reads in memory")
    add("--plot", metavar="FILE", help="also draw the curves over k (.png, .svg, .pdf)")
    add_output(add, output.FORMATS)


def add_reading(parser: Parser, *, in_memory: bool = False) -> None:
    """Add the files, and all options of how they are read and evaluated."""
    add = parser.group("files")
    add("recs", metavar="RECS", nargs="+", help="ranked lists, a file per system; - is stdin")
    add("truth", metavar="TRUTH", help="relevant items: the last file")
    add = parser.group("what to compute")
    text = "cut-offs (default: 1 5 10 20), or all: whole lists"
    add("-k", type=_cut_off, nargs="+", action="extend", metavar="K", help=text)
    add(
        *("-m", "--metrics"),
        nargs="+",
        action="extend",
        words=NAMES,
        metavar="METRIC",
        help=f"names, also name@k (default: {' '.join(DEFAULT_METRICS)}); see toplist metrics",
    )
    add_convention(add)
    add = parser.group("users and items")
    add_options(add)
    text = "the id that fills up short lists: dropped from their ends"
    add("--padding", metavar="ID", help=text)
    add_items(parser.group("metrics of the lists themselves"))
    add = parser.group("how files are read")
    add_columns(add, files.COLUMNS, sides="ranks, ground_truths or FILE")
    add_formats(add, files.FORMATS)
    if not in_memory:
        add("--in-memory", action="store_true", help="read files whole: rows in any order")


def _cut_off(argument: str) -> int | str:
    """Read one argument of ``-k``."""
    if argument == ALL:
        return ALL
    if "," in argument:
        raise argparse.ArgumentTypeError(f"{argument!r}: write -k {argument.replace(',', ' ')}")
    try:
        return int(argument)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{argument!r} is no whole number: give cut-offs, or {ALL} for whole lists"
        ) from None


def _check(options: argparse.Namespace) -> None:
    """Check the options before any file is opened."""
    check_asked(options)
    if options.plot:
        output.check_picture(options.plot)
    if options.segments:
        segments.check(options.segments)


def check_asked(options: argparse.Namespace) -> None:
    """Check what is asked; the default k is for the metrics without a k of their own."""
    for path in (*options.recs, options.truth):
        if os.path.exists(path):
            continue
        if path.isdecimal():
            raise ValueError(f"{path} is a number, no file: write -k {path}")
        if path.partition("@")[0] in NAMES:
            raise ValueError(f"{path} is a metric, no file: write -m {path}")
    options.metrics = options.metrics or list(DEFAULT_METRICS)
    for name in options.metrics:
        if "," in re.sub(r"\(.*?\)", "", name):  # commas between parameters are in brackets
            raise ValueError(f"-m {name}: write -m {' '.join(filter(None, name.split(',')))}")
    if options.k is None:
        asked = ([m] if "@" in m else [f"{m}@{k}" for k in DEFAULT_KS] for m in options.metrics)
        if any("@" in metric for metric in options.metrics):
            options.metrics = [metric for group in asked for metric in group]
        else:
            options.k = DEFAULT_KS
    elif ALL in options.k:
        if len(options.k) > 1:
            raise ValueError("-k all is the whole list: give no other cut-off with it")
        options.k = None
    entries_of(options.metrics, options.k, CONVENTIONS[options.convention])
    if len(set(options.recs)) < len(options.recs):
        raise ValueError("a file of lists is named twice; the last file is the ground truth")
    check_sides(options, dict.fromkeys([*SIDES, *output.names_of(options.recs), *options.recs]))
    Grading(options.relevant_from)


def _eval(options: argparse.Namespace) -> Report:
    """Evaluate all systems; return the text to print and the files to write."""
    if options.plot:
        axes.need_matplotlib()
    missing = options.missing or CONVENTIONS[options.convention].missing
    # all systems count the same users of the truth, except where users without a list are left
    # out: then the comparison must know the users themselves, not only their number
    whole = bool(options.per_user or options.segments)
    whole |= len(options.recs) > 1 and missing == "skip"
    results = evaluated(options, options.in_memory or whole)
    if options.segments:
        user_id = names_of_columns(options, "segments").get("user_id", "user_id")
        split = segments.split(results, options.segments, user_id)
        text = segments.FORMATS[options.format](split)
    else:
        text = output.FORMATS[options.format](results, options.every_metric)
    contents: dict[str, Content] = {}
    if options.per_user:
        contents[options.per_user] = output.per_user_csv(results)
    if options.plot:
        contents[options.plot] = lambda path: output.draw(results, path)
    return Report(text, contents, ranked_truth(options))


def evaluated(options: argparse.Namespace, in_memory: bool) -> dict[str, TopKResult]:
    """Evaluate all systems, by the names of their files."""
    results: dict[str, TopKResult] = {}
    for name, recs in zip(output.names_of(options.recs), options.recs, strict=True):
        found = _evaluate(options, recs, name, in_memory)
        alone = len(options.recs) == 1
        if isinstance(found, TopKResult):
            results[name] = found
        else:
            results |= {one if alone else f"{name} {one}": it for one, it in found.items()}
    return results


def _evaluate(
    options: argparse.Namespace, recs: str, name: str, in_memory: bool
) -> TopKResult | dict[str, TopKResult]:
    """Evaluate one file of lists; with several files, an error names it."""
    of_lists = names_of_columns(options, "ranks", name, recs)
    of_truth = names_of_columns(options, "ground_truths")
    by_side = {"ranks": of_lists, "ground_truths": of_truth}
    try:
        found: TopKResult | dict[str, TopKResult] = top_k_eval(
            recs,
            Path(options.truth),
            k=options.k,
            metrics=options.metrics,
            convention=options.convention,
            padding=padding_of(options, recs, of_lists),
            columns=of_truth if of_lists == of_truth else by_side,
            ranks_format=options.ranks_format,
            ground_truths_format=options.ground_truths_format,
            order=options.order,
            in_memory=in_memory,
            **given_options(options),
            **known_items(options, recs, of_lists),
        )
        return found
    except (ValueError, TypeError) as error:
        hint = swapped(options, recs, of_lists)
        if hint:
            raise ValueError(hint) from None
        if len(options.recs) == 1 or recs in str(error) or str(error).startswith(options.truth):
            raise
        raise prefixed(f"{recs}: ", error) from None
