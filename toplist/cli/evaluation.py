"""`toplist eval`: two files in, a table out."""

import argparse
import os
from collections.abc import Callable, Iterator
from typing import Any

from toplist import files, tables, text_columns
from toplist.conventions import CONVENTIONS, EMPTY, MISSING
from toplist.evaluate import DEFAULT, entries_of, top_k_eval
from toplist.exposure import UNKNOWN
from toplist.grades import GAINS, Grading
from toplist.matching import DUPLICATES

TEXT_FORMATS = ("csv", "tsv", "trec")
DEFAULT_KS = [1, 5, 10, 20]

_EPILOG = """
Files are CSV, TSV, JSONL or TREC (run and qrels), by extension, each also .gz. CSV and TSV have a
header with user_id, item_id and rank or score (relevance in the truth); JSONL objects have the
same names, and item_id may be a whole ranked list.

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
    add("--catalogue", metavar="FILE", help="items (CSV, TSV: item_id), for item_coverage and gini")
    add("--item-counts", metavar="FILE", help="item_id and count, or the training data itself, for "
        "average_popularity, tail_percentage and novelty")  # fmt: skip
    add("--features", metavar="FILE", help="item_id and numbers, for intra_list_diversity")
    add("--unknown", default="raise", choices=UNKNOWN, help="listed items these files lack")
    add("--format", default="table", choices=_FORMATS, help="of the output")
    add("--per-user", metavar="FILE", help="also write the values of every user (CSV)")
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


def _eval(options: argparse.Namespace) -> str:
    ranks, truths = _read(options)
    result = top_k_eval(
        ranks,
        truths,
        k=options.k,
        metrics=options.metrics,
        convention=options.convention,
        empty=options.empty,
        missing=options.missing,
        duplicates=options.duplicates,
        relevant_from=options.relevant_from,
        gains=options.gains,
        unknown=options.unknown,
        **_known_items(options, ranks),
    )
    if options.per_user:
        files.write_text(options.per_user, tables.per_user_csv(result))
    return _FORMATS[options.format](result)


def _read(options: argparse.Namespace) -> tuple[Any, Any]:
    """Read both files; a typed one beside a text one has its ids written as text."""
    formats = (
        options.recs_format or files.format_of(options.recs),
        options.truth_format or files.format_of(options.truth),
    )
    columns = dict(options.columns)
    recs_columns = {ours: name for ours, name in columns.items() if ours != "relevance"}
    truth_columns = {ours: name for ours, name in columns.items() if ours not in ("rank", "score")}
    ranks: Any = files.read_ranks(
        options.recs, format=formats[0], columns=recs_columns, order=options.order
    )
    truths: Any = files.read_truths(options.truth, format=formats[1], columns=truth_columns)
    if formats[0] in TEXT_FORMATS and formats[1] not in TEXT_FORMATS:
        truths = _as_text(options.truth, truths)
    elif formats[1] in TEXT_FORMATS and formats[0] not in TEXT_FORMATS:
        ranks = _as_text(options.recs, ranks)
    return ranks, truths


def _known_items(options: argparse.Namespace, ranks: Any) -> dict[str, Any]:
    """Read what is known of the items, their ids written as in the lists."""
    number = any(isinstance(item, int) for row in ranks.values() for item in row[:1])
    known = {}
    for name in ("catalogue", "item_counts", "features"):
        path = getattr(options, name)
        if path is not None:
            found = getattr(text_columns, name)(path)
            ids = _whole(path, found) if number else list(found)
            values = found.values() if isinstance(found, dict) else ids
            known[name] = dict(zip(ids, values, strict=True))
    return known


def _whole(path: str, ids: Any) -> list[int]:
    try:
        return [int(item) for item in ids]
    except ValueError:
        raise ValueError(
            f"{path}: the ids of the lists are numbers, not all of these are"
        ) from None


def _as_text(path: str, sides: dict[Any, Any]) -> dict[str, Any]:
    """Write users and items as decimal text, as they stand in a text file."""
    rows = {}
    for user, row in _textual(path, "user", sides):
        if isinstance(row, dict):
            rows[user] = dict(_textual(path, "item", row))
        else:
            rows[user] = type(row)(map(str, row))
    return rows


def _textual(path: str, what: str, mapping: dict[Any, Any]) -> Iterator[tuple[str, Any]]:
    seen = set()
    for key, value in mapping.items():
        if str(key) in seen:
            raise ValueError(f"{path}: {what} {str(key)!r} stands there as number and as text")
        seen.add(str(key))
        yield str(key), value


_FORMATS: dict[str, Callable[[Any], str]] = {
    "table": tables.text,
    "json": tables.as_json,
    "csv": tables.as_csv,
}
