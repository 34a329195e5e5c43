"""`toplist eval`: files of ranked lists and of relevant items in, a table out."""

import argparse
import os
from typing import Any

from toplist import files
from toplist.checks import prefixed
from toplist.cli import output, segments
from toplist.cli.items import add_items, known_items, padding_of
from toplist.cli.options import add_columns, columns_of, command, names_of_columns
from toplist.evaluation.evaluate import DEFAULT
from toplist.evaluation.plan import entries_of
from toplist.files.formats import PathLike
from toplist.files.streaming import top_k_eval_files
from toplist.inputs.grades import GAINS, Grading
from toplist.inputs.options import DUPLICATES, TIES
from toplist.metrics.conventions import CONVENTIONS, MISSING, RELEVANT
from toplist.metrics.definitions import EMPTY
from toplist.plots import axes
from toplist.results.result import TopKResult
from toplist.writing import Content, write_all

DEFAULT_KS = [1, 5, 10, 20]
# As a cut-off: whole lists, k=None in Python.
ALL = "all"

_EPILOG = """
Files are CSV, TSV, JSONL, TREC (run and qrels), each also .gz, or Parquet (a file or a folder), by
extension. They have columns user_id, item_id and rank or score (relevance in the truth); in JSONL
and Parquet, item_id may be a whole ranked list. Files of any size are read part by part; the rows
of a user must follow each other. --in-memory reads files whole, with rows in any order; TREC files
are always read so.

  toplist eval recs.csv truth.csv -k 10 20 -m ndcg recall
  toplist eval bpr.csv itemknn.csv truth.csv -k 10 --plot curves.png
  toplist eval run.trec qrels.trec -m ndcg@10 --convention trec_eval --format json
"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    add = command(commands, "eval", run=_eval, check=_check, epilog=_EPILOG)
    add_reading(add)
    add("--in-memory", action="store_true", help="read files whole: rows in any order")
    add("--every-metric", action="store_true", help="a line each for metrics that are one here")
    add("--format", default="table", choices=output.FORMATS, help="of the output")
    add("--per-user", metavar="FILE", help="also write every user's values (CSV); reads in memory")
    add(
        "--segments",
        metavar="FILE:COLUMN",
        help="also the results by a label of users; reads in memory",
    )
    add("--plot", metavar="FILE", help="also draw the curves over k (.png, .svg, .pdf)")


def add_reading(add: Any) -> None:
    """Add the files, and all options of how they are read and evaluated."""
    add("recs", metavar="RECS", nargs="+", help="file of ranked lists, one per system")
    add("truth", metavar="TRUTH", help="file of relevant items, the last one")
    add("-k", type=_cut_off, nargs="+", help="cut-offs (default 1 5 10 20), or all: whole lists")
    add("-m", "--metrics", nargs="+", default=DEFAULT, help="names, also name@k (default: six)")
    add("--convention", default="standard", choices=CONVENTIONS, help="whose formulas")
    add("--empty", choices=EMPTY, help="users with an empty truth (default: the convention's)")
    add("--missing", choices=MISSING, help="users without a list (default: the convention's)")
    add("--relevant", choices=RELEVANT, help="R of all relevant items (default), or listed ones")
    add("--duplicates", default="raise", choices=DUPLICATES, help="an item twice in a list")
    add("--relevant-from", type=float, metavar="GRADE", help="relevant from this grade on")
    add("--gains", choices=GAINS, help="of a grade in nDCG (default: the convention's)")
    add("--recs-format", choices=files.FORMATS, help="default: by the extension")
    add("--truth-format", choices=files.FORMATS, help="default: by the extension")
    add_columns(add, files.COLUMNS, by_side=True)
    add("--ties", default="order", choices=TIES, help="equal scores: as the rows are, or by item")
    add("--order", choices=["file"], help="lists without rank or score: the first row is the best")
    add_items(add)


def _cut_off(argument: str) -> int | str:
    """Read one argument of ``-k``."""
    if argument == ALL:
        return ALL
    try:
        return int(argument)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{argument!r} is no whole number: give cut-offs, or {ALL} for whole lists"
        ) from None


def _check(options: argparse.Namespace) -> None:
    """Check the options before any file is opened."""
    check_asked(options)
    for option, target in (("--per-user", options.per_user), ("--plot", options.plot)):
        check_target(options, option, target)
    if options.plot:
        output.check_picture(options.plot)
    if options.segments:
        segments.check(options.segments)
        if len(options.recs) > 1:
            raise ValueError("--segments splits the result of one file of lists, not of several")


def check_target(options: argparse.Namespace, option: str, target: str | None) -> None:
    """Refuse to write over an input file."""
    sources = map(os.path.realpath, (*options.recs, options.truth))
    if target and os.path.realpath(target) in sources:
        raise ValueError(f"{option} {target} would overwrite an input file")


def check_asked(options: argparse.Namespace) -> None:
    """Check what is asked; the default k is for the metrics without a k of their own."""
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
    Grading(options.relevant_from)


def _eval(options: argparse.Namespace) -> str:
    """Evaluate all systems, write what was asked for, and return the text to print."""
    if options.plot:
        axes.need_matplotlib()
    missing = options.missing or CONVENTIONS[options.convention].missing
    # all systems count the same users of the truth, except where users without a list are left
    # out: then the comparison must know the users themselves, not only their number
    whole = bool(options.per_user or options.segments)
    whole |= len(options.recs) > 1 and missing == "skip"
    results = evaluated(options, options.in_memory or whole)
    if options.segments:
        user_id = names_of_columns(options).get("user_id", "user_id")
        split = segments.split(next(iter(results.values())), options.segments, user_id)
        text = segments.FORMATS[options.format](split)
    else:
        text = output.FORMATS[options.format](results, options.every_metric)
    _write(options, results)
    return text


def _write(options: argparse.Namespace, results: dict[str, TopKResult]) -> None:
    """Write the files that were asked for, all or none."""
    contents: dict[PathLike, Content] = {}
    if options.per_user:
        contents[options.per_user] = output.per_user_csv(results)
    if options.plot:
        contents[options.plot] = lambda path: output.draw(results, path)
    write_all(contents)


def evaluated(options: argparse.Namespace, in_memory: bool) -> dict[str, TopKResult]:
    """Evaluate all systems, by the names of their files."""
    names = output.names_of(options.recs)
    return {
        name: _evaluate(options, recs, in_memory)
        for name, recs in zip(names, options.recs, strict=True)
    }


def _evaluate(options: argparse.Namespace, recs: str, in_memory: bool) -> TopKResult:
    """Evaluate one system; with several systems, an error names the file."""
    several = len(options.recs) > 1
    try:
        return top_k_eval_files(
            recs,
            options.truth,
            k=options.k,
            metrics=options.metrics,
            convention=options.convention,
            empty=options.empty,
            missing=options.missing,
            relevant=options.relevant,
            duplicates=options.duplicates,
            padding=padding_of(options, recs),
            relevant_from=options.relevant_from,
            gains=options.gains,
            columns=columns_of(options),
            recs_format=options.recs_format,
            truth_format=options.truth_format,
            order=options.order,
            in_memory=in_memory,
            unknown=options.unknown,
            ties=options.ties,
            **known_items(options, recs),
        )
    except (ValueError, TypeError) as error:
        if not several or recs in str(error):
            raise
        raise prefixed(f"{recs}: ", error) from None
