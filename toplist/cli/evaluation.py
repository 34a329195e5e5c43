"""`toplist eval`: two files in, a table out."""

import argparse
import os
from collections.abc import Callable
from typing import Any

from toplist import files, tables, text_columns
from toplist.batches import Stream
from toplist.cli import segmenting
from toplist.conventions import CONVENTIONS, EMPTY, MISSING
from toplist.evaluate import DEFAULT
from toplist.exposure import UNKNOWN
from toplist.grades import GAINS, Grading
from toplist.loading import TEXT_FORMATS
from toplist.matching import DUPLICATES
from toplist.plans import entries_of
from toplist.streaming import top_k_eval_files

DEFAULT_KS = [1, 5, 10, 20]

_EPILOG = """
Files are CSV, TSV, JSONL, TREC (run and qrels), each also .gz, or Parquet (a file or a folder), by
extension. They have columns user_id, item_id and rank or score (relevance in the truth); in JSONL
and Parquet, item_id may be a whole ranked list. Files of any size are read part by part, the rows
of a user standing together; --in-memory takes any order, and so are TREC files read.

  toplist eval recs.csv truth.csv -k 10 20 -m ndcg recall
  toplist eval run.trec qrels.trec -m ndcg@10 --convention trec_eval --format json
"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "eval",
        help="evaluate recommendations against a ground truth",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("recs", metavar="RECS", help="file of ranked lists")
    add("truth", metavar="TRUTH", help="file of relevant items")
    add("-k", type=int, nargs="+", help="cut-offs (default 1 5 10 20)")
    add("-m", "--metrics", nargs="+", default=DEFAULT, help="names, also name@k (default: six)")
    add("--convention", default="standard", choices=CONVENTIONS, help="whose formulas")
    add("--empty", choices=EMPTY, help="users with an empty truth (default: the convention's)")
    add("--missing", choices=MISSING, help="users without a list (default: the convention's)")
    add("--duplicates", default="raise", choices=DUPLICATES, help="an item twice in a list")
    add("--relevant-from", type=float, metavar="GRADE", help="relevant from this grade on")
    add("--gains", default="linear", choices=GAINS, help="what a grade is worth in nDCG")
    add("--recs-format", choices=files.FORMATS)
    add("--truth-format", choices=files.FORMATS)
    add("--columns", nargs="+", type=_renaming, default=[], metavar="user_id=NAME")
    add("--order", choices=["file"], help="lists without rank or score: best first as they stand")
    add("--in-memory", action="store_true", help="read files whole: rows of a user in any place")
    add("--catalogue", metavar="FILE", help="items (CSV, TSV: item_id), for item_coverage and gini")
    add("--item-counts", metavar="FILE", help="item_id and count, or the training data itself, for "
        "average_popularity, tail_percentage and novelty")  # fmt: skip
    add("--features", metavar="FILE", help="item_id and numbers, for intra_list_diversity")
    add("--unknown", default="raise", choices=UNKNOWN, help="listed items these files lack")
    add("--format", default="table", choices=_FORMATS, help="of the output")
    add(
        "--per-user",
        metavar="FILE",
        help="also write every user's values (CSV); reads in memory",
    )
    add("--segments", metavar="FILE:COLUMN", help="also by a column of a file; reads in memory")
    parser.set_defaults(run=_eval, check=_check_eval)


def _renaming(argument: str) -> tuple[str, str]:
    ours, equals, theirs = argument.partition("=")
    if not (ours and equals and theirs):
        raise argparse.ArgumentTypeError(f"{argument!r}: write user_id=NAME_IN_THE_FILE")
    if ours not in files.COLUMNS:
        valid = ", ".join(files.COLUMNS)
        raise argparse.ArgumentTypeError(f"{ours!r} is not a column to rename: {valid}")
    return ours, theirs


def _check_eval(options: argparse.Namespace) -> None:
    """Check the words; k by default goes to the metrics that carry none of their own."""
    if options.k is None:
        asked = ([m] if "@" in m else [f"{m}@{k}" for k in DEFAULT_KS] for m in options.metrics)
        if any("@" in metric for metric in options.metrics):
            options.metrics = [metric for group in asked for metric in group]
        else:
            options.k = DEFAULT_KS
    entries_of(options.metrics, options.k, CONVENTIONS[options.convention])
    for source in (options.recs, options.truth):
        if options.per_user and os.path.realpath(source) == os.path.realpath(options.per_user):
            raise ValueError(f"--per-user {options.per_user} would overwrite an input file")
    Grading(options.relevant_from, options.gains)
    if options.segments:
        segmenting.check(options.segments)


def _eval(options: argparse.Namespace) -> str:
    result = top_k_eval_files(
        options.recs,
        options.truth,
        k=options.k,
        metrics=options.metrics,
        convention=options.convention,
        empty=options.empty,
        missing=options.missing,
        duplicates=options.duplicates,
        relevant_from=options.relevant_from,
        gains=options.gains,
        columns=dict(options.columns),
        recs_format=options.recs_format,
        truth_format=options.truth_format,
        order=options.order,
        in_memory=options.in_memory or bool(options.per_user or options.segments),
        unknown=options.unknown,
        **_known_items(options),
    )
    if options.per_user:
        files.write_text(options.per_user, tables.per_user_csv(result))
    if options.segments:
        user_id = dict(options.columns).get("user_id", "user_id")
        split = segmenting.split(result, options.segments, user_id)
        return segmenting.FORMATS[options.format](split)
    return _FORMATS[options.format](result)


def _known_items(options: argparse.Namespace) -> dict[str, Any]:
    """Read what is known of the items, their ids written as in the lists."""
    paths = {name: getattr(options, name) for name in ("catalogue", "item_counts", "features")}
    known = {}
    numbers = any(paths.values()) and _hold_numbers(options)
    for name, path in paths.items():
        if path is not None:
            found = getattr(text_columns, name)(path)
            ids = _whole(path, found) if numbers else list(found)
            values = found.values() if isinstance(found, dict) else ids
            known[name] = dict(zip(ids, values, strict=True))
    return known


def _hold_numbers(options: argparse.Namespace) -> bool:
    """Say whether the ids of the lists are read as numbers: of typed files alone."""
    sides = (options.recs, options.recs_format), (options.truth, options.truth_format)
    if any((given or files.format_of(path)) in TEXT_FORMATS for path, given in sides):
        return False
    stream = Stream(options.recs, "ranks", options.recs_format, dict(options.columns), "file")
    return next(iter(stream.parts(lambda users, places: None))).items.names is None


def _whole(path: str, ids: Any) -> list[int]:
    try:
        return [int(item) for item in ids]
    except ValueError:
        raise ValueError(
            f"{path}: the ids of the lists are numbers, not all of these are"
        ) from None


_FORMATS: dict[str, Callable[[Any], str]] = {
    "table": tables.text,
    "json": tables.as_json,
    "csv": tables.as_csv,
}
