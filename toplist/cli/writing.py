"""What a command gives back: a text for the screen or ``--out``, and files; all or none."""

import argparse
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:  # a command that writes no file does not load what writes them
    from toplist.writing import Content

# Options that name a file to write, and those that name files to read.
TARGETS = {"output": "--out", "per_user": "--per-user", "plot": "--plot"}
SOURCES = (
    *("recs", "truth", "log", "file", "train", "segments"),
    *("catalogue", "item_counts", "features"),
)


# The formats of --out FILE by its extension, where --format is not given.
EXTENSIONS = {".json": "json", ".csv": "csv", ".md": "markdown", ".tex": "latex"}


class Report(NamedTuple):
    """The text that a command prints, the files that it writes, and a note on standard error."""

    text: str
    files: "Mapping[str, Content]" = {}  # noqa: RUF012 (nothing changes it)
    note: str = ""


def add_output(add: Callable[..., Any], formats: Any = ()) -> None:
    """Add the options of what is printed and where to; with `formats`, how."""
    if formats:
        endings = [ending for ending, name in EXTENSIONS.items() if name in formats]
        text = f"{', '.join(formats)} (default: by the extension of FILE, {' '.join(endings)}; else"
        # a tuple stands for no choice, until `settle_format`
        default = tuple(formats)
        add("--format", default=default, choices=formats, metavar="FORMAT", help=f"{text} table)")
    add("-o", "--out", dest="output", metavar="FILE", help="write to FILE, not to the screen")
    add_quiet(add)


def settle_format(options: argparse.Namespace) -> None:
    """Choose the format by the extension of ``--out``, where ``--format`` is not given."""
    formats = getattr(options, "format", None)
    if isinstance(formats, tuple):
        extension = os.path.splitext(options.output or "")[1].lower()
        named = EXTENSIONS.get(extension, "table")
        options.format = named if named in formats else "table"


def add_quiet(add: Callable[..., Any]) -> None:
    """Add ``--quiet`` and ``--help``."""
    add("-q", "--quiet", action="store_true", help="print nothing but errors")
    add("-h", "--help", action="help", help="show this page")


def check_targets(options: argparse.Namespace) -> None:
    """Raise ValueError if an output would replace an input, or another output."""
    given = [getattr(options, name, None) or [] for name in SOURCES]
    paths = [path for one in given for path in ([one] if isinstance(one, str) else one)]
    if getattr(options, "segments", None):
        paths.append(options.segments.rpartition(":")[0])
    sources = {os.path.realpath(path) for path in paths}
    taken: dict[str, str] = {}
    for name, flag in TARGETS.items():
        target = getattr(options, name, None)
        if target in (None, "-"):
            continue
        place = os.path.realpath(target)
        if place in sources:
            raise ValueError(f"{flag} {target} would overwrite an input file")
        if place in taken:
            raise ValueError(f"{taken[place]} and {flag} both write {target}")
        taken[place] = flag


def written(report: Report, options: argparse.Namespace) -> str:
    """Write the files of a report, all or none; return what is left to print."""
    text, files, _ = report
    text = text.rstrip("\n") + "\n"
    to_file = getattr(options, "output", None) not in (None, "-")
    contents = {**files, **({options.output: text} if to_file else {})}
    if contents:
        from toplist.writing import write_all

        write_all(contents)
    return "" if options.quiet or to_file else text
