"""Standard input in place of a file."""

import argparse
import gzip
import os
import shutil
import sys
import tempfile
import zlib
from typing import Any

# Arguments that may be `-`, and the option that names the format of each, if there is one.
PLACES = {
    **dict.fromkeys(("recs", "new", "base"), "ranks_format"),
    "truth": "ground_truths_format",
    **dict.fromkeys(("log", "train"), ""),
}


class StandardInput:
    """Standard input as a file in a folder of its own, since files may be read more than once.

    Its name is ``stdin`` with the extension of its format, which is CSV where no option says
    another. It may be gzipped.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self._folder = self._path = ""
        self._options = options

    def take_place(self) -> None:
        """Put the path of the file in place of ``-``; ValueError if it is given twice."""
        for place, format_option in PLACES.items():
            given = getattr(self._options, place, None)
            paths = given if isinstance(given, list) else [given]
            if "-" not in paths:
                continue
            if self._path or paths.count("-") > 1:
                raise ValueError("- is standard input: it can be one of the files, not two")
            format = getattr(self._options, format_option, None) or "csv"
            self._folder = tempfile.mkdtemp(prefix="toplist-")
            extension = "run" if format == "trec" else format
            self._path = os.path.join(self._folder, f"stdin.{extension}")
            found = [self._path if one == "-" else one for one in paths]
            setattr(self._options, place, found if isinstance(given, list) else self._path)

    def read(self) -> None:
        """Read standard input to its end, if it is given."""
        if not self._path:
            return
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
            shutil.rmtree(self._folder, ignore_errors=True)
