"""Lines of text files, gzipped or not: counted, decoded, and read as rows of CSV.

Rows of users and items (`toplist.files.text`) and columns (`toplist.files.tables`) are both read
from here, so that a file that cannot be read is reported alike, with its name and its line.
"""

import codecs
import csv
import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, repeat
from typing import Any

from toplist.checks import Keyword, worded
from toplist.files.formats import PathLike
from toplist.files.progress import bar

MUCH = 1 << 24  # bytes: some ten seconds of reading
UNREADABLE = (UnicodeDecodeError, csv.Error, EOFError, zlib.error, gzip.BadGzipFile)


class TextFile:
    """A text file being read: its path, and the number of the line that was read last."""

    def __init__(self, path: PathLike) -> None:
        self.path = os.fspath(path)
        self.line = 0

    def error(self, *reason: str | Keyword) -> ValueError:
        """Return an error about the line that was read last or, at line 0, the whole file."""
        line = f":{self.line}" if self.line else ""
        return worded(ValueError, f"{self.path}{line}: ", *reason)

    @contextmanager
    def opened(self) -> Iterator[Iterator[bytes]]:
        """Open the file for its lines; bad UTF-8, CSV or gzip is an error that names the line."""
        size = os.path.getsize(self.path)
        try:
            with (
                open(self.path, "rb") as raw,
                bar(os.path.basename(self.path), size, "B", least=MUCH) as advance,
            ):
                yield self._lines(raw, advance)
        except UNREADABLE as error:
            raise self.error(f"not readable: {error}") from None

    def _lines(self, raw: Any, advance: Callable[[int], object] | None) -> Iterator[bytes]:
        """Yield the lines, without a byte order mark, and count them."""
        packed = self.path.lower().endswith(".gz")
        stream = io.BufferedReader(gzip.GzipFile(fileobj=raw)) if packed else raw
        read = 0
        for self.line, line in enumerate(_split(stream), 1):
            yield line.removeprefix(codecs.BOM_UTF8) if self.line == 1 else line
            if advance and self.line % 4096 == 0:
                advance(raw.tell() - read)
                read = raw.tell()

    def place(self, name: str, header: Sequence[str]) -> int:
        """Return the place of a column; ValueError unless the header has it exactly once."""
        if header.count(name) != 1:
            count = "two columns" if name in header else "no column"
            raise self.error(f"{count} {name!r}; columns found: {[*header]}")
        return header.index(name)

    def wrong_width(self, row: Sequence[str], header: Sequence[str]) -> ValueError:
        """Return the error of a row that is shorter or longer than the header."""
        return self.error(f"{len(row)} columns instead of {len(header)}: {[*header]}")


def csv_rows(lines: Iterable[bytes], delimiter: str) -> Iterator[list[str]]:
    """Read lines as rows of CSV; a blank line is an empty row."""
    # strict: a stray quote is an error, it does not swallow the lines that follow
    return csv.reader(map(bytes.decode, lines), delimiter=delimiter, strict=True)


def _split(stream: Any) -> Iterator[bytes]:
    r"""Return the lines of a stream, which end in \n, or all in \r, as in old files of the Mac."""
    start = stream.peek()
    if b"\r" in start and b"\n" not in start:
        stream = chain.from_iterable(map(bytes.splitlines, stream, repeat(True)))
    return iter(stream)
