"""The command line: files in, a table out; exit status 0 fine, 1 bad input, 2 wrong usage."""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

from toplist import files, tables
from toplist.conventions import (
    CONVENTIONS,
    EMPTY,
    MISSING,
    Convention,
    policies,
    same_formula,
)
from toplist.evaluate import DEFAULT, conformance, top_k_eval
from toplist.formulas import SYMBOLS, formula
from toplist.grades import GAINS
from toplist.matching import DUPLICATES
from toplist.spelling import parse

TEXT_FORMATS = ("csv", "tsv", "trec")

_EPILOG = """
Files are CSV, TSV, JSONL or TREC (run and qrels), by extension, each also .gz. CSV and TSV have a
header with user_id, item_id and rank or score (relevance in the truth); JSONL objects have the
same names, and item_id may be a whole ranked list.

  toplist eval recs.csv truth.csv -k 10 20 -m ndcg recall
  toplist eval run.trec qrels.trec -m ndcg@10 --convention trec_eval --format json
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    options = _parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], str] = options.run
    try:
        print(run(options))
    except BrokenPipeError:
        sys.stderr.close()  # the reader has left: nothing to say, and nowhere to say it
    except (ValueError, TypeError, OSError) as error:
        print(f"toplist: {_one_line(error)}", file=sys.stderr)
        return 1
    return 0


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="toplist", description="Ranked item-id lists + ground truths -> metrics at every k."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_eval(commands)
    show = commands.add_parser("metrics", help="print the metrics and their formulas")
    show.add_argument("name", nargs="?", help="one metric, for example ndcg or rbp(p=0.5)")
    show.add_argument("--convention", default="standard", choices=CONVENTIONS)
    show.set_defaults(run=_metrics)
    compare = commands.add_parser(
        "conventions", help="print what every convention makes of one list"
    )
    compare.add_argument("--list", nargs="+", default=["1", "2", "3", "4", "5"], metavar="ITEM")
    compare.add_argument("--truth", nargs="+", default=["1", "3", "9"], metavar="ITEM")
    compare.add_argument("-k", type=int, default=5)
    compare.set_defaults(run=_conventions)
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
    parser.set_defaults(run=_eval)


def _renaming(argument: str) -> tuple[str, str]:
    ours, equals, theirs = argument.partition("=")
    if not (ours and equals and theirs):
        raise argparse.ArgumentTypeError(f"{argument!r}: write user_id=NAME_IN_THE_FILE")
    return ours, theirs


def _eval(options: argparse.Namespace) -> str:
    ranks, truths = _read(options)
    with_own_k = all("@" in metric for metric in options.metrics)
    result = top_k_eval(
        ranks,
        truths,
        k=options.k or (None if with_own_k else [1, 5, 10, 20]),
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
        truths = _as_text(truths)
    elif formats[1] in TEXT_FORMATS and formats[0] not in TEXT_FORMATS:
        ranks = _as_text(ranks)
    return ranks, truths


def _as_text(sides: dict[Any, Any]) -> dict[str, Any]:
    """Write users and items as decimal text, as they stand in a text file."""
    return {
        str(user): {str(item): grade for item, grade in row.items()}
        if isinstance(row, dict)
        else type(row)(map(str, row))
        for user, row in sides.items()
    }


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
        f"the same formula in: {', '.join(same_formula(metric))}",
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
    return tables.columns(rows)


_FORMATS: dict[str, Callable[[Any], str]] = {
    "table": tables.text,
    "json": tables.as_json,
    "csv": tables.as_csv,
}
