"""The command line: files in, a table out. Exit status: 0 success, 1 bad input, 2 wrong usage."""

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from toplist import __version__
from toplist.checks import Keyword, printable
from toplist.cli.options import SUMMARIES, option

# What Python says where the system refuses another thread.
NO_THREAD = "can't start new thread"
# The module of each command; only that of the command that is run is loaded.
MODULES = {
    "eval": "evaluate",
    "compare": "compare",
    "split": "split",
    "check": "check",
    "values": "values",
    "metrics": "definitions",
    "conventions": "definitions",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    if arguments is None:  # a process of our own, which soon ends
        gc.disable()  # 40 ms of looking for cycles among numba's objects
        # numba asks for scipy's BLAS, which no kernel uses, and loads a tenth of a second of it
        sys.modules.setdefault("scipy.linalg", None)  # type: ignore[arg-type]
    given = sys.argv[1:] if arguments is None else arguments
    parser = _parser(given[0] if given else "")
    options = parser.parse_args(given)
    try:
        options.check(options)
    except ValueError as error:  # wrong usage, found before any file is opened
        parser.error(_one_line(error))
    try:
        text = options.run(options)
    except KeyboardInterrupt:
        print("toplist: interrupted", file=sys.stderr)
        return 130
    except MemoryError as error:
        print(f"toplist: not enough memory{_details(error)}", file=sys.stderr)
        return 1
    except (ValueError, TypeError, OSError, ImportError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and str(error) != NO_THREAD:
            raise
        print(f"toplist: {_one_line(error)}", file=sys.stderr)
        return 1
    return _print(text)


def _print(text: str) -> int:
    """Print the result; a closed pipe is no error, a full disk is."""
    try:
        print(text.rstrip("\n"), flush=True)
    except OSError as error:
        # the rest of the buffer must not raise again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            print(f"toplist: {_one_line(error)}", file=sys.stderr)
            return 1
    return 0


def _one_line(error: Exception) -> str:
    """Return the message of an error in one line, with keywords as options."""
    if isinstance(error, OSError) and error.filename is not None:
        return printable(" ".join(f"{error.filename}: {error.strerror}".split()))
    parts = getattr(error, "parts", (str(error),))
    message = "".join(option(part) if isinstance(part, Keyword) else part for part in parts)
    return printable(" ".join(message.split()))


def _details(error: MemoryError) -> str:
    """Return what a lack of memory says of itself, if anything."""
    details = _one_line(error)
    return f" ({details})" if details else ""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors can do nothing to a terminal."""

    def error(self, message: str) -> NoReturn:
        """Print usage and an error, and leave with status 2."""
        super().error(printable(message))


def _parser(name: str) -> argparse.ArgumentParser:
    """Return the parser with all commands, and the options of the one that is named."""
    parser = _Parser(
        prog="toplist", description="Ranked item-id lists + ground truths -> metrics at every k."
    )
    parser.add_argument("--version", action="version", version=f"toplist {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    chosen = MODULES.get(name)
    if chosen is not None:
        import_module(f"toplist.cli.{chosen}").add(commands)
    for other, summary in SUMMARIES.items():
        if MODULES[other] != chosen:
            commands.add_parser(other, help=summary)
    return parser
