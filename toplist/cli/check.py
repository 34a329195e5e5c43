"""`toplist check`: flaws of ranked lists, ground truths and a training log.

Lists and ground truths are files as toplist eval reads them. The training log
is a CSV, TSV or Parquet file with the columns user_id and item_id. One line is
printed per flaw: errors, warnings, notes.

examples:
  toplist check recs.csv truth.csv
  toplist check recs.csv truth.csv -k 10 --train train.csv
  toplist check recs.csv truth.csv --strict --quiet || echo "look at the data"
"""

import argparse
from collections.abc import Sequence
from typing import Any

from toplist import audit, files
from toplist.audit import by_user
from toplist.checks import printable
from toplist.cli.options import Parser, add_columns, add_formats, check_sides, names_of_columns
from toplist.cli.streams import add_output
from toplist.inputs.options import SIDES
from toplist.loo.logs import COLUMNS

USAGE = "RECS TRUTH [--train LOG] [-k K] [options]"


def add(parser: Parser) -> None:
    """Add the arguments to the parser."""
    add = parser.group("files")
    add("recs", "file of ranked lists; - is stdin", metavar="RECS")
    add("truth", "file of relevant items", metavar="TRUTH")
    add("--train", "file of the interactions that systems were trained on", metavar="LOG")
    add = parser.group("what to look for")
    add("-k", "also look for lists shorter than k", type=int)
    add("--strict", "exit with status 1 for an error or a warning", action="store_true")
    add = parser.group("how files are read")
    add_columns(add, (*files.COLUMNS, "timestamp"), sides="ranks, ground_truths or train")
    add_formats(add, files.FORMATS)
    add_output(parser.group("output"))


def check(options: argparse.Namespace) -> None:
    """Raise ValueError for the columns of a file that there is not."""
    check_sides(options, [*SIDES, "train"])


def run(options: argparse.Namespace) -> str:
    """Read the files and return the flaws; with --strict, they are an error."""
    of_recs, of_truth = (_among(files.COLUMNS, names_of_columns(options, side)) for side in SIDES)
    ranks = files.read_ranks(
        options.recs, format=options.ranks_format, columns=of_recs, order=options.order
    )
    truths = files.read_truths(options.truth, format=options.ground_truths_format, columns=of_truth)
    of_log = _among(COLUMNS, names_of_columns(options, "train"))
    train = None if options.train is None else _as_text(by_user(options.train, "train", of_log))
    found = audit.check(_as_text(ranks), _as_text(truths), train, k=options.k)
    if options.strict and not found.ok:
        raise ValueError("; ".join(one.text for one in found.findings if one.level != "note"))
    return "\n".join(map(printable, str(found).split("\n")))


def _among(valid: Sequence[str], columns: dict[str, str]) -> dict[str, str]:
    """Return the names of those columns that a file of one kind may have."""
    return {ours: name for ours, name in columns.items() if ours in valid}


def _as_text(side: Any) -> Any:
    """Return the same with ids as text: else a number in one file is not its text in another."""
    return {
        str(user): (
            {str(item): grade for item, grade in row.items()}
            if isinstance(row, dict)
            else list(map(str, row))
        )
        for user, row in side.items()
    }
