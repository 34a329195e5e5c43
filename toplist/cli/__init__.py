"""The command line: files in, a table out; exit status 0 fine, 1 bad input, 2 wrong usage."""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence

from toplist import __version__
from toplist.checks import Keyword
from toplist.cli import check, definitions, evaluate, split, values

COMMANDS = (evaluate, split, check, values, definitions)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        options.check(options)
    except ValueError as error:  # of the words, before any file is opened
        parser.error(_one_line(error))
    try:
        text = options.run(options)
    except KeyboardInterrupt:
        print("toplist: interrupted", file=sys.stderr)
        return 130
    except (ValueError, TypeError, OSError, MemoryError, ImportError) as error:
        print(f"toplist: {_one_line(error)}", file=sys.stderr)
        return 1
    return _say(text)


def _say(text: str) -> int:
    """Print the answer; a reader who has left is no error, a full disk is."""
    try:
        print(text.rstrip("\n"), flush=True)
    except OSError as error:
        # what is left in the buffer must not fail again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            print(f"toplist: {_one_line(error)}", file=sys.stderr)
            return 1
    return 0


def _one_line(error: Exception) -> str:
    """Return the message of an error in one line, its keywords written as options."""
    if isinstance(error, OSError) and error.filename is not None:
        return " ".join(f"{error.filename}: {error.strerror}".split())
    parts = getattr(error, "parts", (str(error),))
    return " ".join("".join(_option(p) if isinstance(p, Keyword) else p for p in parts).split())


def _option(keyword: Keyword) -> str:
    """Write a keyword of Python as an option of the command line.

    Examples
    --------
    >>> _option(Keyword("in_memory", True)), _option(Keyword("columns", {"user_id": "uid"}))
    ('--in-memory', '--columns user_id=uid')
    """
    name, value = "--" + keyword.name.replace("_", "-"), keyword.value
    if value is None or value is True:
        return name
    if isinstance(value, Mapping):
        return " ".join([name, *(f"{ours}={theirs}" for ours, theirs in value.items())])
    return f"{name} {value}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="toplist", description="Ranked item-id lists + ground truths -> metrics at every k."
    )
    parser.add_argument("--version", action="version", version=f"toplist {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for module in COMMANDS:
        module.add(commands)
    return parser
