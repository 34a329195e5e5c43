"""`toplist check`: flaws of ranked lists, ground truths and a training log."""

import argparse
from typing import Any

from toplist import audit, files
from toplist.audit import by_user
from toplist.checks import printable
from toplist.cli.options import add_columns, command, names_of_columns
from toplist.loo.logs import COLUMNS

_EPILOG = """
Lists and ground truths are files as `toplist eval` reads them. The training log is a CSV, TSV or
Parquet file with the columns user_id and item_id. One line is printed per flaw: errors, warnings,
notes.

  toplist check recs.csv truth.csv --train train.csv
"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    add = command(commands, "check", run=_check, epilog=_EPILOG)
    add("recs", metavar="RECS", help="file of ranked lists")
    add("truth", metavar="TRUTH", help="file of relevant items")
    add("--train", metavar="LOG", help="file of the interactions that systems were trained on")
    add("-k", type=int, help="also look for lists shorter than k")
    add_columns(add, COLUMNS, by_side=True)
    add("--strict", action="store_true", help="exit with status 1 for an error or a warning")


def _check(options: argparse.Namespace) -> str:
    """Read the files and return the flaws; with --strict, they are an error."""
    of_log = names_of_columns(options)
    ranks, truths = (
        read(path, columns=_without_time(names_of_columns(options, side)))
        for read, path, side in (
            (files.read_ranks, options.recs, "ranks"),
            (files.read_truths, options.truth, "ground_truths"),
        )
    )
    train = None if options.train is None else _as_text(by_user(options.train, "train", of_log))
    found = audit.check(_as_text(ranks), _as_text(truths), train, k=options.k)
    if options.strict and not found.ok:
        raise ValueError("; ".join(one.text for one in found.findings if one.level != "note"))
    return "\n".join(map(printable, str(found).split("\n")))


def _without_time(columns: dict[str, str]) -> dict[str, str]:
    """Return the names of columns without that of the timestamp, which only logs have."""
    return {ours: name for ours, name in columns.items() if ours != "timestamp"}


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
