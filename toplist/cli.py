"""The command line: files in, a table out; exit status 0 fine, 1 bad input, 2 wrong usage."""

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from toplist import __version__, files, tables
from toplist.checks import whole
from toplist.comparison import conformance
from toplist.conventions import (
    CONVENTIONS,
    EMPTY,
    MISSING,
    Convention,
    policies,
    same_formula,
)
from toplist.evaluate import DEFAULT, entries_of, top_k_eval
from toplist.formulas import SYMBOLS, formula
from toplist.grades import GAINS, Grading
from toplist.matching import DUPLICATES
from toplist.spelling import parse

TEXT_FORMATS = ("csv", "tsv", "trec")
DEFAULT_KS = [1, 5, 10, 20]

_EPILOG = """
Files are CSV, TSV, JSONL or TREC (run and qrels), by extension, each also .gz. CSV and TSV have a
header with user_id, item_id and rank or score (relevance in the truth); JSONL objects have the
same names, and item_id may be a whole ranked list.

  toplist eval recs.csv truth.csv -k 10 20 -m ndcg recall
  toplist eval run.trec qrels.trec -m ndcg@10 --convention trec_eval --format json
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        options.check(options)
    except ValueError as error:  # of the words, before any file is opened
        parser.error(_one_line(error))
    try:
        text = options.run(options)
    except (ValueError, TypeError, OSError, MemoryError) as error:
        print(f"toplist: {_one_line(error)}", file=sys.stderr)
        return 1
    return _say(text)


def _say(text: str) -> int:
    """Print the answer; a reader who has left is no error, a full disk is."""
    try:
        print(text.rstrip("\n"), flush=True)
    except OSError as error:
        # what is left in the buffer must not fail again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            print(f"toplist: {_one_line(error)}", file=sys.stderr)
            return 1
    return 0


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return " ".join(f"{error.filename}: {error.strerror}".split())
    return " ".join(str(error).split())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="toplist", description="Ranked item-id lists + ground truths -> metrics at every k."
    )
    parser.add_argument("--version", action="version", version=f"toplist {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_eval(commands)
    show = commands.add_parser("metrics", help="print the metrics and their formulas")
    show.add_argument("name", nargs="?", help="one metric, for example ndcg or rbp(p=0.5)")
    show.add_argument("--convention", default="standard", choices=CONVENTIONS)
    show.set_defaults(run=_metrics, check=_check_metrics)
    compare = commands.add_parser(
        "conventions", help="print what every convention makes of one list"
    )
    compare.add_argument("--list", nargs="+", default=["1", "2", "3", "4", "5"], metavar="ITEM")
    compare.add_argument("--truth", nargs="+", default=["1", "3", "9"], metavar="ITEM")
    compare.add_argument("-k", type=int, default=5)
    compare.set_defaults(run=_conventions, check=lambda options: whole(options.k, "k"))
    return parser


def _add_eval(commands: Any) -> None:
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


def _check_metrics(options: argparse.Namespace) -> None:
    if options.name:
        parse(options.name, CONVENTIONS[options.convention])


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


def _metrics(options: argparse.Namespace) -> str:
    convention = CONVENTIONS[options.convention]
    if options.name:
        return _one_metric(options.name, convention)
    width = max(map(len, convention.metrics))
    return "\n".join(
        f"{name:{width}}  {metric.text}\n{'':{width}}  {formula(metric)}"
        for name, metric in convention.metrics.items()
    )


def _one_metric(name: str, convention: Convention) -> str:
    """Say all about one metric under one convention."""
    metric, _ = parse(name, convention)
    ratio = "ratio of sums over users" if metric.name in convention.pooled else "mean over users"
    lines = [
        metric.text,
        formula(metric),
        formula(metric, "latex"),
        SYMBOLS["text"],
        f"{ratio}; {policies(convention.empty, convention.missing)}",
        f"convention {convention.name}: {convention.text}",
        f"source: {convention.source}" if convention.source else "",
        f"the same formula in: {', '.join(same_formula(metric)) or 'none of the others'}",
    ]
    return "\n".join(filter(None, lines))


def _conventions(options: argparse.Namespace) -> str:
    """Evaluate one list under every convention."""
    found = conformance([options.list], [set(options.truth)], options.k)
    names = list(dict.fromkeys(name for values in found.values() for name in values))
    rows = [["", *(f"{name}@{options.k}" for name in names)]]
    for convention, values in found.items():
        cells = (f"{values[name]:.4f}" if name in values else "-" for name in names)
        rows.append([convention, *cells])
    case = f"list {' '.join(options.list)}; relevant {' '.join(options.truth)}; k = {options.k}"
    return f"{case}\n{tables.columns(rows)}"


_FORMATS: dict[str, Callable[[Any], str]] = {
    "table": tables.text,
    "json": tables.as_json,
    "csv": tables.as_csv,
}
