"""`toplist check`: what is wrong with lists, ground truths and a training log."""

import argparse
from typing import Any

from toplist import audit, files
from toplist.audit import Rows, by_user
from toplist.cli.options import renaming
from toplist.loo.logs import COLUMNS

_EPILOG = """
Lists and ground truths are files as `toplist eval` reads them, the training log a CSV, TSV or
Parquet file with user_id and item_id. Prints a line per flaw: errors, warnings, notes.

  toplist check recs.csv truth.csv --train train.csv
"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "check",
        help="look for what makes an evaluation fail or mislead",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("recs", metavar="RECS", help="file of ranked lists")
    add("truth", metavar="TRUTH", help="file of relevant items")
    add("--train", metavar="LOG", help="file of the interactions that systems were trained on")
    add("-k", type=int, help="also look for lists shorter than k")
    add("--columns", nargs="+", type=renaming(COLUMNS), default=[], metavar="user_id=NAME")
    add("--strict", action="store_true", help="exit with status 1 for an error or a warning")
    parser.set_defaults(run=_check, check=lambda options: None)


def _check(options: argparse.Namespace) -> str:
    columns = {ours: name for ours, name in options.columns if ours != "timestamp"}
    ranks = files.read_ranks(options.recs, columns=columns)
    truths = files.read_truths(options.truth, columns=columns)
    train = None if options.train is None else _log(options.train, dict(options.columns))
    found = audit.check(_texts(ranks), _texts(truths), train, k=options.k)
    if options.strict and not found.ok:
        raise ValueError("; ".join(one.text for one in found.findings if one.level != "note"))
    return str(found)


def _log(path: str, columns: dict[str, str]) -> Rows:
    texts: Rows = _texts(by_user(path, "train", columns))
    return texts


def _texts(side: Any) -> Any:
    """Write ids as text, as most files have them: else 17 of one file is not 17 of the other."""
    return {
        str(user): (
            {str(item): grade for item, grade in row.items()}
            if isinstance(row, dict)
            else list(map(str, row))
        )
        for user, row in side.items()
    }
