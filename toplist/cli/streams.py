"""What goes in by standard input, and what comes out: a text for the screen or a file; files."""

import argparse
import csv
import io
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:  # a command that writes no file does not load what writes them
    from toplist.results.writing import Content

from toplist.inputs.items import ITEMS

# Arguments that may be `-`, and the option that names the format of each, if there is one.
PLACES = {
    "recs": "ranks_format",
    "new": "ranks_format",
    "base": "ranks_format",
    "truth": "ground_truths_format",
    "log": "",
    "file": "",
    "train": "",
}
NAME = "stdin"
DEFAULT = "csv"


# Options that name a file to write, and those that name files to read.
TARGETS = {"output": "--out", "per_user": "--per-user", "plot": "--plot", "save": "--save"}
SOURCES = (*PLACES, *ITEMS, "items_as", "propensities", "saved")
# Options that read FILE:COLUMN.
LABELS = "segments", "item_segments", "clusters", "propensities", "titles"
# The formats of --out FILE by its extension, where --format is not given.
EXTENSIONS = {".json": "json", ".csv": "csv", ".md": "markdown", ".tex": "latex"}


class StandardInput:
    """Standard input as a file in a folder of its own, since files may be read more than once.

    Its name is ``stdin`` with the extension of its format, which is CSV where no option says
    another. It may be gzipped. What only standard input needs is imported where it is used.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self._folder = self._path = ""
        self._options = options

    def take_place(self) -> None:
        """Put the path of the file in place of ``-``; ValueError if it is given twice."""
        for place, option in PLACES.items():
            given = getattr(self._options, place, None)
            paths = given if isinstance(given, list) else [given]
            if "-" not in paths:
                continue
            if self._path or paths.count("-") > 1:
                raise ValueError("- is standard input: it can be one of the files, not two")
            import tempfile

            format = getattr(self._options, option, None) or DEFAULT
            extension = "run" if format == "trec" else format
            self._folder = tempfile.mkdtemp(prefix="toplist-")
            self._path = os.path.join(self._folder, f"{NAME}.{extension}")
            found = [self._path if one == "-" else one for one in paths]
            setattr(self._options, place, found if isinstance(given, list) else self._path)

    def read(self) -> None:
        """Read standard input to its end, if it is given."""
        if not self._path:
            return
        import gzip
        import shutil
        import zlib

        stream: Any = sys.stdin.buffer
        if stream.peek(2)[:2] == b"\x1f\x8b":
            stream = gzip.GzipFile(fileobj=stream)
        try:
            with open(self._path, "wb") as file:
                shutil.copyfileobj(stream, file)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"{self._path}: not readable: {error}") from None

    def named(self, text: str) -> str:
        """Return a message with the plain name of the file."""
        return text.replace(self._folder + os.sep, "") if self._folder else text

    def remove(self) -> None:
        """Remove the folder."""
        if self._folder:
            import shutil

            shutil.rmtree(self._folder, ignore_errors=True)


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


class Output(NamedTuple):
    """What a command prints, the files that it writes, a note on standard error, its status."""

    text: str
    files: "Mapping[str, Content]" = {}  # noqa: RUF012 (nothing changes it)
    note: str = ""
    status: int = 0


def add_output(add: Callable[..., Any], formats: Any = ()) -> None:
    """Add the options of what is printed and where to; with `formats`, how."""
    if formats:
        endings = [ending for ending, name in EXTENSIONS.items() if name in formats]
        text = f"{', '.join(formats)} (default: by the extension of FILE, {' '.join(endings)}; else"
        # a tuple stands for no choice, until `settle_format`
        default = tuple(formats)
        add("--format", f"{text} table)", default=default, choices=formats, metavar="FORMAT")
    add("-o --out", "write to FILE, not to the screen", dest="output", metavar="FILE")
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
    add("-q --quiet", "print nothing but errors", action="store_true")
    add("-h --help", "show this page", action="help")


def check_targets(options: argparse.Namespace) -> None:
    """Raise ValueError if an output would replace an input, or another output."""
    given = [getattr(options, name, None) or [] for name in SOURCES]
    paths = [path for one in given for path in ([one] if isinstance(one, str) else one)]
    labels = (getattr(options, name, None) or "" for name in LABELS)
    paths += [one.rpartition(":")[0] for one in labels if ":" in one]
    sources = {os.path.realpath(path) for path in paths}
    taken: dict[str, str] = {}
    for name, flag in TARGETS.items():
        target = getattr(options, name, None)
        if target == "-" and name != "output":
            raise ValueError(f"{flag} -: the table goes to standard output, so name a file")
        if target in (None, "-"):
            continue
        place = os.path.realpath(target)
        if place in sources:
            raise ValueError(f"{flag} {target} would overwrite an input file")
        if place in taken:
            raise ValueError(f"{taken[place]} and {flag} both write {target}")
        taken[place] = flag


def screen_width(options: argparse.Namespace) -> int | None:
    """Return how wide a table may be: as the terminal it goes to; None for files and pipes."""
    from toplist.results.markup import terminal_width

    return None if _to_file(options) else terminal_width()


def _to_file(options: argparse.Namespace) -> bool:
    return getattr(options, "output", None) not in (None, "-")


def written(report: Output, options: argparse.Namespace) -> str:
    """Write the files of a report, all or none; return what is left to print."""
    text, files = report.text, report.files
    text = text.rstrip("\n") + "\n"
    to_file = _to_file(options)
    contents = {**files, **({options.output: text} if to_file else {})}
    if contents:
        from toplist.results.writing import write_all

        write_all(contents)
    return "" if options.quiet or to_file else text
