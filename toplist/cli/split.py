"""`toplist split`: an interaction log in, train and test files out."""

import argparse
import os
from typing import Any

from toplist.checks import prefixed, printable
from toplist.cli.options import add_columns, command, names_of_columns
from toplist.files.formats import table_format
from toplist.files.tables import read_table, write_tables
from toplist.loo import split
from toplist.loo.histories import REPEATS
from toplist.loo.logs import COLUMNS
from toplist.loo.split import Split

_EPILOG = """
Files are CSV, TSV (also .gz) or Parquet; the parts have the format and all columns of the log. CSV
and TSV have a header with user_id, item_id and timestamp (numbers, or ISO 8601 dates). Rows of a
user with the same timestamp are put in a random order by --seed; the order of the rows in the file
does not matter.

  toplist split log.csv --out parts                       # leave one out: the last by time
  toplist split log.csv --out parts --by random --seed 7
  toplist split log.csv --out parts --ratio 0.2 --validation 0.1
  toplist split log.csv --out parts --time 2011-11-01
"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    add = command(commands, "split", run=_split, check=_check, epilog=_EPILOG)
    add("log", metavar="LOG", help="file of interactions: user_id, item_id, timestamp")
    add(
        "--out",
        metavar="DIR",
        required=True,
        help="folder of the parts; created if it does not exist",
    )
    add("--by", default="last", choices=split.WAYS, help="what is held out (default: last)")
    add("--ratio", type=float, help="hold out this share of the rows of each user, not one row")
    add("--time", help="hold out all rows from this time on")
    add(
        "--validation",
        nargs="?",
        const=True,
        help="also hold out a validation part; with --ratio its share, with --time its beginning",
    )
    add("--min-history", type=int, metavar="N", help="rows that must stay in train (default 1)")
    add(
        "--repeats",
        default="first",
        choices=REPEATS,
        help="which row is kept of an item that a user has twice",
    )
    add(
        "--short",
        default="train",
        choices=split.SHORT,
        help="what happens to users with too few rows",
    )
    add("--seed", type=int, default=0, help="of the random choices (default: 0)")
    add_columns(add, COLUMNS)


def _check(options: argparse.Namespace) -> None:
    """Raise ValueError for options that do not go together."""
    table_format(options.log)
    one = options.ratio is None and options.time is None
    if one and options.validation not in (None, True):
        raise ValueError("--validation takes a value only with --ratio or --time")
    if not one and options.validation is True:
        raise ValueError("--validation needs a value: a share with --ratio, a time with --time")
    if options.ratio is not None and options.time is not None:
        raise ValueError("give --ratio or --time, not both")
    if options.time is not None and options.by != "last":
        raise ValueError(f"--by {options.by} does not go with --time")
    for part in ("train", "test", "validation"):
        if os.path.realpath(_path(options, part)) == os.path.realpath(options.log):
            raise ValueError(f"--out {options.out} would overwrite the log")


def _path(options: argparse.Namespace, part: str) -> str:
    """Return the path of a part."""
    return os.path.join(options.out, part + table_format(options.log))


def _split(options: argparse.Namespace) -> str:
    """Split the log, write the parts, and return the report."""
    table = read_table(options.log)
    rules = {"repeats": options.repeats, "seed": options.seed, "columns": names_of_columns(options)}
    if options.min_history is not None:
        rules["min_history"] = options.min_history
    try:
        made = _made(options, table, rules)
    except (ValueError, TypeError) as error:
        raise prefixed(f"{options.log}: ", error) from None
    stale = _path(options, "validation")
    if made.validation is None and os.path.exists(stale):
        raise ValueError(f"{stale} is left from another split: remove it")
    parts = {"train": made.train, "test": made.test}
    parts |= {} if made.validation is None else {"validation": made.validation}
    _write(options, parts)
    paths = printable(", ".join(_path(options, part) for part in parts))
    return f"{made.report}\nwritten: {paths}"


def _made(options: argparse.Namespace, table: Any, rules: dict[str, Any]) -> Split:
    """Split the log as the options say."""
    if options.time is not None:
        return split.holdout(table, time=options.time, validation=options.validation, **rules)
    rules["short"] = options.short
    if options.ratio is not None:
        share = None if options.validation is None else float(options.validation)
        return split.holdout(table, options.ratio, by=options.by, validation=share, **rules)
    return split.leave_one_out(table, options.by, validation=bool(options.validation), **rules)


def _write(options: argparse.Namespace, parts: dict[str, Any]) -> None:
    """Write all parts, or none."""
    os.makedirs(options.out, exist_ok=True)
    write_tables({_path(options, part): rows for part, rows in parts.items()})
