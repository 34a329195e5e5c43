"""What the commands share: their parsers, ``--columns``, CSV and JSON, and keywords as options."""

import argparse
import csv
import io
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from toplist.checks import Keyword


def command(
    commands: Any,
    name: str,
    summary: str,
    *,
    run: Callable[[argparse.Namespace], str],
    check: Callable[[argparse.Namespace], object] = lambda options: None,
    epilog: str | None = None,
) -> Callable[..., Any]:
    """Add a command to the parser and return the function that adds its arguments.

    `check` looks at the arguments before any file is opened; `run` returns the text to print.
    """
    parser = commands.add_parser(
        name,
        help=summary,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run, check=check)
    add: Callable[..., Any] = parser.add_argument
    return add


def add_columns(add: Callable[..., Any], valid: Sequence[str]) -> None:
    """Add ``--columns``: names of columns in the files, where they are not the usual ones."""
    add(
        "--columns",
        nargs="+",
        type=renaming(valid),
        default=[],
        metavar="COLUMN=NAME",
        help=f"other names of the columns {', '.join(valid)}",
    )


def renaming(valid: Sequence[str]) -> Callable[[str], tuple[str, str]]:
    """Return a function that reads one argument of ``--columns``, COLUMN=NAME.

    Examples
    --------
    >>> renaming(["user_id", "item_id"])("user_id=uid")
    ('user_id', 'uid')
    """

    def read(argument: str) -> tuple[str, str]:
        ours, equals, theirs = argument.partition("=")
        if not (ours and equals and theirs):
            raise argparse.ArgumentTypeError(f"{argument!r}: write {valid[0]}=NAME_IN_THE_FILE")
        if ours not in valid:
            raise argparse.ArgumentTypeError(
                f"{ours!r} is not a column to rename: {', '.join(valid)}"
            )
        return ours, theirs

    return read


def csv_text(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    r"""Return rows as CSV; None and NaN are empty cells.

    Examples
    --------
    >>> csv_text(["metric", "value"], [("auc", 0.5), ("gauc", float("nan"))])
    'metric,value\nauc,0.5\ngauc,\n'
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(["" if cell is None or cell != cell else cell for cell in row] for row in rows)
    return out.getvalue()


def json_number(value: float) -> float | None:
    """Return a number as JSON can hold it: None (null) for NaN."""
    return None if value != value else float(value)


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
    """
    name, value = keyword.name.replace("_", "-"), keyword.value
    name = f"--{name}" if len(name) > 1 else f"-{name}"
    if value is None or value is True:
        return name
    if value is False:
        return f"no {name}"
    if isinstance(value, Mapping):
        values = [f"{ours}={'NAME' if one == '...' else one}" for ours, one in value.items()]
    else:
        values = list(value) if isinstance(value, (list, tuple)) else [value]
    return " ".join([name, *(shlex.quote(str(one)) for one in values)])
