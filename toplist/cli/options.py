"""What the commands share: ``--columns``, the options of an evaluation, keywords as options."""

import argparse
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from toplist.checks import Keyword
from toplist.inputs.options import OPTIONS, SIDES
from toplist.metrics.conventions import CONVENTIONS


def add_columns(add: Callable[..., Any], valid: Sequence[str], *, sides: str | None = None) -> None:
    """Add ``--columns``: names of columns in the files, where they are not the usual ones.

    With `sides`, in words, a name may be that of one side or file alone: ``ranks:user_id=uid``.
    """
    alone = f"; in one file alone: {sides}:COLUMN=NAME" if sides else ""
    text = f"other names of {', '.join(valid)}{alone}"
    read = renaming(valid, by_side=sides is not None)
    add("--columns", text, several=True, type=read, default=[], metavar="COLUMN=NAME")


def add_convention(add: Callable[..., Any]) -> None:
    """Add ``--convention``."""
    text = "whose formulas (default: standard); toplist conventions lists them"
    add("--convention", text, default="standard", choices=CONVENTIONS, metavar="NAME")


def add_formats(add: Callable[..., Any], formats: Sequence[str]) -> None:
    """Add the formats of both sides, and the order of lists that have no ranks."""
    text = f"{', '.join(formats)} (default: by the extension; - is csv)"
    for side in SIDES:
        add(option(Keyword(f"{side}_format")), text, choices=formats, metavar="FORMAT")
    add("--order", "lists without rank or score: the first row is the best", choices=["file"])


def add_options(add: Callable[..., Any]) -> None:
    """Add the options of an evaluation: those of the table that have a help."""
    for name, row in OPTIONS.items():
        text, choices = row.metadata["help"], row.metadata["choices"]
        if text and choices:
            add(option(Keyword(name)), text, choices=choices)
        elif text:
            metavar = name.rpartition("_")[2].upper()
            add(option(Keyword(name)), text, type=row.metadata["read"], metavar=metavar)


def given_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options of an evaluation that are given."""
    found = {n: getattr(options, n) for n, row in OPTIONS.items() if row.metadata["help"]}
    return {name: one for name, one in found.items() if one is not None}


def renaming(
    valid: Sequence[str], *, by_side: bool = False
) -> Callable[[str], tuple[str, str, str]]:
    """Return a function that reads one argument of ``--columns``: side, column, and its name.

    Examples
    --------
    >>> renaming(["user_id", "item_id"])("user_id=uid")
    ('', 'user_id', 'uid')
    >>> renaming(["user_id", "item_id"], by_side=True)("ground_truths:user_id=uid")
    ('ground_truths', 'user_id', 'uid')
    """

    def read(argument: str) -> tuple[str, str, str]:
        ours, equals, theirs = argument.partition("=")
        side, colon, column = ours.rpartition(":")
        if not (ours and equals and theirs):
            raise argparse.ArgumentTypeError(f"{argument!r}: write {valid[0]}=NAME_IN_THE_FILE")
        if colon and not by_side:
            raise argparse.ArgumentTypeError(
                f"{argument!r}: there is one file: write {column}={theirs}"
            )
        if column not in valid:
            raise argparse.ArgumentTypeError(
                f"{column!r} is not a column to rename: {', '.join(valid)}"
            )
        return side, column, theirs

    return read


def check_sides(options: argparse.Namespace, sides: Iterable[str]) -> None:
    """Raise ValueError for a name of a column in a file that is none of these."""
    for side, column, theirs in options.columns:
        if side and side not in sides:
            raise ValueError(
                f"--columns {side}:{column}={theirs}: {side!r} is no side: {', '.join(sides)}"
            )


def names_of_columns(options: argparse.Namespace, *sides: str) -> dict[str, str]:
    """Return the names of columns given for all files, and those for one, by its names."""
    return {
        column: name
        for wanted in ("", *sides)
        for side, column, name in options.columns
        if side == wanted
    }


def option(keyword: Keyword) -> str:
    """Return a keyword of Python as the option of the command line that does the same.

    Examples
    --------
    >>> option(Keyword("catalogue")), option(Keyword("in_memory", True))
    ('--catalogue', '--in-memory')
    >>> option(Keyword("duplicates", "first")), option(Keyword("k", [5, 10]))
    ('--duplicates first', '-k 5 10')
    >>> option(Keyword("columns", {"user_id": "uid"})), option(Keyword("columns", {"label": "..."}))
    ('--columns user_id=uid', '--columns label=NAME')
    >>> option(Keyword("columns", {"ranks": {"user_id": "uid"}}))
    '--columns ranks:user_id=uid'
    """
    name, value = keyword.name.replace("_", "-"), keyword.value
    name = f"--{name}" if len(name) > 1 else f"-{name}"
    if value is None or value is True:
        return name
    if value is False:
        return f"no {name}"
    if isinstance(value, Mapping):
        values = [f"{ours}={'NAME' if one == '...' else one}" for ours, one in _flat(value)]
    else:
        values = list(value) if isinstance(value, (list, tuple)) else [value]
    return " ".join([name, *(shlex.quote(str(one)) for one in values)])


def _flat(columns: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the names of columns; those of one side have its name before them."""
    for ours, theirs in columns.items():
        if isinstance(theirs, Mapping):
            yield from ((f"{ours}:{column}", name) for column, name in theirs.items())
        else:
            yield ours, theirs
