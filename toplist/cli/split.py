"""`toplist split`: an interaction log in, train and test files out."""

import argparse
import glob
import math
import os
from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

import numpy as np

from toplist.checks import counted, prefixed, printable
from toplist.cli.options import FLAGS, HELP, Command, names_of_columns, of_files, option, table
from toplist.files.formats import PathLike, table_format
from toplist.files.tables import write_tables
from toplist.loo import split
from toplist.loo.logs import COLUMNS
from toplist.loo.parts import PARTS, REPEATS, Split

# What splits, by the option that says how, which is its first keyword; "" is one row of each user.
WAYS: Mapping[str, Callable[..., Any]] = {
    "": split.leave_one_out,
    **dict.fromkeys(("ratio", "time", "last"), split.holdout),
    "windows": split.windows,
    "held_out_users": split.held_out_users,
}
TAKES = {way: {*signature(function).parameters} for way, function in WAYS.items()}
TAKES["time"] -= {"by", "short", "seed"}  # all rows from a time on, of every user


def number(text: str) -> int | float:
    """Return a whole number, or a share."""
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        raise ValueError(f"invalid number value: {text!r}") from None


def check(options: argparse.Namespace) -> None:
    """Raise ValueError for options that do not go together; the functions check what they take."""
    ways = [way for way in WAYS if getattr(options, way, None) is not None]
    if len(ways) > 1:
        raise ValueError(f"give one of {', '.join(map(option, ways))}")
    options.way = way = ways[0] if ways else ""
    more = options.validation
    if not way and more not in (None, True):
        ways_with_one = "--ratio, --time, --last or --held-out-users"
        raise ValueError(f"--validation takes a value only with {ways_with_one}")
    rules = (one.name for one in HELD_OUT if one.name not in WAYS)
    options.rules = {name: getattr(options, name) for name in rules if name in options.asked}
    for name, value in options.rules.items():
        if name not in TAKES[way]:
            owner = next(option(one) for one, known in TAKES.items() if name in known)
            said = f"does not go with {option(way)}" if way else f"goes with {owner} alone"
            raise ValueError(f"{option(name, value)} {said}")
    if way and more is True:
        kind = f"as {option(way)} has: a share, a number, or a time"
        raise ValueError(f"--validation needs a value {kind}")
    if os.path.isfile(options.out):
        raise ValueError(f"--out {options.out} is a file: give a folder for the parts")
    if os.path.realpath(options.log) in map(os.path.realpath, _found(options)):
        raise ValueError(f"--out {options.out} would overwrite the log")


def _path(options: argparse.Namespace, part: str, folder: str = "") -> str:
    """Return the path of a part."""
    return os.path.join(options.out, folder, part + table_format(options.log))


def _found(options: argparse.Namespace) -> list[str]:
    """Return the parts that are there, also those of windows."""
    folders = sorted(filter(str.isdecimal, glob.glob("[0-9]*", root_dir=options.out)), key=int)
    paths = (_path(options, part, folder) for folder in ("", *folders) for part in PARTS)
    return [path for path in paths if os.path.lexists(path)]


def run(options: argparse.Namespace) -> str:
    """Split the log, write the parts, and return the report.

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
      toplist split log.csv --out parts --last 5 --k-core 5
      toplist split log.csv --out parts --held-out-users 0.1 --hold 0.2
      toplist split log.csv --out parts --windows 7d --start 2011-11-01

    --windows writes folders 1, 2, ... into DIR, one for each window. With
    --held-out-users the part history is what the model is given of the test users.
    """
    found = _found(options)
    if found and not options.force:
        does, them = ("exists", "it") if len(found) == 1 else ("exist", "them")
        raise ValueError(f"{', '.join(found)} {does}: --force replaces {them}")
    try:
        way, rules = options.way, options.rules | {"columns": names_of_columns(options)}
        if "k_core" in rules:
            k = options.k_core
            rules["k_core"] = k[0] if len(k) == 1 else tuple(k)
        if "validation" in rules and way in ("ratio", "last", "held_out_users"):
            rules["validation"] = number(options.validation)
        if way:
            keyword = next((name for name, flag in FLAGS.items() if flag == way), way)
            rules[keyword] = getattr(options, way)
        made = WAYS[way](options.log, **rules)
        splits = {str(i): one for i, one in enumerate(made, 1)} if options.windows else {"": made}
        for one in splits.values():
            for part, n in one.report.rows.items():
                if n == 0 and one.report.n_rows:
                    remedy = _remedy(options, one, part)
                    raise ValueError(f"the {part} part would be empty: {remedy}")
    except (ValueError, TypeError) as error:
        named = str(error).startswith(options.log)
        raise error if named else prefixed(f"{options.log}: ", error) from None
    parts: dict[PathLike, Any] = {
        _path(options, part, folder): getattr(one, part)
        for folder, one in splits.items()
        for part in one.report.rows
    }
    stale = [path for path in found if path not in parts]
    if stale:
        raise ValueError(f"{stale[0]} is left from another split: remove it")
    for path in parts:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    write_tables(parts)
    reports = "\n\n".join(str(one.report) for one in splits.values())
    return f"{reports}\nwritten: {printable(', '.join(map(str, parts)))}"


def _remedy(options: argparse.Namespace, made: Split, part: str) -> str:
    """Return why a part is empty, and what to give."""
    flag = "--validation" if part == "validation" else "--ratio"
    given = options.validation if part == "validation" else options.ratio
    if options.time is not None and not made.report.n_short:
        first = options.time if options.validation is None else options.validation
        return {
            "train": f"no row is before {first}: give a later time",
            "test": f"no row is from {options.time} on: give an earlier time",
            "validation": f"no row is from {first} on, before {options.time}: give an earlier one",
        }[part]
    if part == "train" and not made.report.n_short:
        return "nothing is left for it: hold out less, or give a larger --min-history"
    most = int(np.bincount(made.log.users.codes).max())
    if options.ratio is not None and float(given) * most < 1:
        digits = 10 ** (2 + len(str(most)))
        least = math.ceil(digits / most) / digits
        of_most = f"{flag} {given} of {counted(most, 'row')}, the most that a user has"
        return f"{of_most}, is less than one row: give at least {flag} {least:g}"
    left = f"no user has enough rows for all parts, with {made.report.min_history} left for train"
    return f"{left}: give less to hold out, or a smaller --min-history"


FILES = table(
    """
    LOG  interactions: user_id, item_id, timestamp; - is stdin
    -o --out DIR  folder of the parts; created if it does not exist
    --force  replace parts that exist in the folder
    """,
    log={"check": table_format},
    out={"required": True},
)
HELD_OUT = table(
    """
    --by {}  which row (default: last)
    --ratio SHARE  hold out this share of the rows of each user, not one row
    --time WHEN  hold out all rows from this time on
    --last N  hold out the last rows of each user
    --windows EVERY  cut the log again and again: from one cut to the next, such as 7d, 12h
    --horizon LENGTH  how long the test of a window is (default: EVERY)
    --start WHEN  the first cut (default: half of the rows are before it)
    --held-out-users N  hold out users, so many or this share; their earlier rows are a part,
        history
    --hold N  so many rows of each held-out user, or this share (default: 0.2)
    --validation [VALIDATION]  also hold out a validation part; as --ratio, --last, --held-out-users
        or --time
    --min-history N  rows that must stay in train (default: 1)
    --repeats {}  which row is kept of an item that a user has twice (default: first)
    --short {}  what happens to users with too few rows (default: train)
    --k-core K...  first leave out users and items with fewer rows, again and again; or one number
        each
    --seed SEED  of the random choices (default: 0)
    """,
    by={"choices": split.WAYS},
    held_out_users={"type": number},
    hold={"type": number},
    validation={"const": True},
    repeats={"choices": REPEATS},
    short={"choices": split.SHORT},
)
COMMANDS = {
    "split": Command(
        "LOG --out DIR [options]",
        {"files": [*FILES, *of_files(COLUMNS)], "what is held out": HELD_OUT, "output": HELP},
        run,
        check,
    )
}
