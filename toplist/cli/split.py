"""`toplist split`: an interaction log in, train and test files out.

The log is CSV, TSV (also .gz) or Parquet; - is standard input, as CSV. The
parts have its format and all its columns. CSV and TSV have a header with
user_id, item_id and timestamp (numbers, or ISO 8601 dates). Rows of a user
with the same timestamp are put in a random order by --seed; the order of the
rows in the file does not matter.

examples:
  toplist split log.csv --out parts             the newest row of each user
  toplist split log.csv --out parts --by random --seed 7
  toplist split log.csv --out parts --ratio 0.2 --validation 0.1
  toplist split log.csv --out parts --time 2011-11-01
"""

import argparse
import math
import os
from typing import Any

import numpy as np

from toplist.checks import (
    OptionRef,
    counted,
    header_hint,
    no_columns,
    option_error,
    prefixed,
    printable,
)
from toplist.cli.options import Parser, add_columns, names_of_columns
from toplist.cli.streams import add_quiet
from toplist.files.formats import table_format
from toplist.files.tables import read_table, write_tables
from toplist.loo import split
from toplist.loo.histories import REPEATS
from toplist.loo.logs import COLUMNS
from toplist.loo.split import Split

USAGE = "LOG --out DIR [options]"
PARTS = ("train", "test", "validation")


def add(parser: Parser) -> None:
    """Add the arguments to the parser."""
    add = parser.group("files")
    add("log", "interactions: user_id, item_id, timestamp; - is stdin", metavar="LOG")
    text = "folder of the parts; created if it does not exist"
    add("-o --out", text, metavar="DIR", required=True)
    add("--force", "replace parts that exist in the folder", action="store_true")
    add_columns(add, COLUMNS)
    add = parser.group("what is held out")
    add("--by", "which row (default: last)", default="last", choices=split.WAYS)
    text = "hold out this share of the rows of each user, not one row"
    add("--ratio", text, type=float, metavar="SHARE")
    add("--time", "hold out all rows from this time on", metavar="WHEN")
    text = "also hold out a validation part; with --ratio its share, with --time its beginning"
    add("--validation", text, nargs="?", const=True)
    add("--min-history", "rows that must stay in train (default: 1)", type=int, metavar="N")
    text = "which row is kept of an item that a user has twice (default: first)"
    add("--repeats", text, default="first", choices=REPEATS)
    text = "what happens to users with too few rows (default: train)"
    add("--short", text, default="train", choices=split.SHORT)
    add("--seed", "of the random choices (default: 0)", type=int, default=0)
    add_quiet(parser.group("output"))


def check(options: argparse.Namespace) -> None:
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
    if os.path.isfile(options.out):
        raise ValueError(f"--out {options.out} is a file: give a folder for the parts")
    for part in PARTS:
        if os.path.realpath(_path(options, part)) == os.path.realpath(options.log):
            raise ValueError(f"--out {options.out} would overwrite the log")


def _path(options: argparse.Namespace, part: str) -> str:
    """Return the path of a part."""
    return os.path.join(options.out, part + table_format(options.log))


def run(options: argparse.Namespace) -> str:
    """Split the log, write the parts, and return the report."""
    found = [path for part in PARTS if os.path.lexists(path := _path(options, part))]
    if found and not options.force:
        does, them = ("exists", "it") if len(found) == 1 else ("exist", "them")
        raise ValueError(f"{', '.join(found)} {does}: --force replaces {them}")
    table = read_table(options.log)
    rules = {"repeats": options.repeats, "seed": options.seed, "columns": names_of_columns(options)}
    if options.min_history is not None:
        rules["min_history"] = options.min_history
    try:
        _require_columns(options, table)
        made = _made(options, table, rules)
        for part, n in made.report.rows.items():
            if n == 0 and made.report.n_rows:
                raise ValueError(f"the {part} part would be empty: {_remedy(options, made, part)}")
    except (ValueError, TypeError) as error:
        raise prefixed(f"{options.log}: ", error) from None
    stale = _path(options, "validation")
    if made.validation is None and os.path.exists(stale):
        raise ValueError(f"{stale} is left from another split: remove it")
    parts = {"train": made.train, "test": made.test}
    parts |= {} if made.validation is None else {"validation": made.validation}
    os.makedirs(options.out, exist_ok=True)
    write_tables({_path(options, part): rows for part, rows in parts.items()})
    paths = printable(", ".join(_path(options, part) for part in parts))
    return f"{made.report}\nwritten: {paths}"


def _require_columns(options: argparse.Namespace, table: Any) -> None:
    """Raise ValueError for several columns that the log has not; one is found by the split."""
    names = {name: name for name in COLUMNS} | names_of_columns(options)
    needed = [name for name in COLUMNS if name != "timestamp" or options.by != "random"]
    found = list(getattr(table, "column_names", table))
    absent = [name for name in needed if names[name] not in found]
    if len(absent) > 1:
        raise option_error(
            ValueError,
            f"{no_columns([repr(names[name]) for name in absent])}"
            f"{header_hint([names[name] for name in absent], found)}, ",
            OptionRef("columns", dict.fromkeys(absent, "NAME")),
            f" names others; columns found: {found}",
        )


def _made(options: argparse.Namespace, table: Any, rules: dict[str, Any]) -> Split:
    """Split the log as the options say."""
    if options.time is not None:
        return split.holdout(table, time=options.time, validation=options.validation, **rules)
    rules["short"] = options.short
    if options.ratio is not None:
        share = None if options.validation is None else float(options.validation)
        return split.holdout(table, options.ratio, by=options.by, validation=share, **rules)
    return split.leave_one_out(table, options.by, validation=bool(options.validation), **rules)


def _remedy(options: argparse.Namespace, made: Split, part: str) -> str:
    """Return why a part is empty, and what to give."""
    flag = "--validation" if part == "validation" else "--ratio"
    given = options.validation if part == "validation" else options.ratio
    if options.time is not None and not made.report.n_short:
        last = options.time if options.validation is None else options.validation
        return {
            "train": f"no row is before {last}: give a later time",
            "test": f"no row is from {options.time} on: give an earlier --time",
            "validation": f"no row is from {last} on and before {options.time}: "
            "give an earlier --validation",
        }[part]
    if part == "train" and not made.report.n_short:
        return "nothing is left for it: hold out less, or give a larger --min-history"
    most = int(np.bincount(made.log.users.codes).max())
    if options.ratio is not None and float(given) * most < 1:
        digits = 10 ** (2 + len(str(most)))
        least = math.ceil(digits / most) / digits
        return (
            f"{flag} {given} of {counted(most, 'row')}, the most that a user has, is less than one "
            f"row: give at least {flag} {least:g}"
        )
    return (
        f"no user has enough rows for all parts, with {made.report.min_history} left for train: "
        "give less to hold out, or a smaller --min-history"
    )
