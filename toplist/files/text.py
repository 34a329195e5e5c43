"""Text files as tables: CSV, TSV, JSONL and TREC, gzipped or not, in blocks of rows.

All are read by pyarrow where that reads what is written: every column of CSV, TSV and TREC as text,
but one of numbers, so that 007 stays 007 and NA stays NA; every key of JSONL as what it is in the
first line of a block. pyarrow takes what Python's csv and json refuse (a quote within a cell, a
lone carriage return, 0x1F as a number, two objects in a line); a block that holds anything of that
kind, and all where pyarrow is not installed, is read by Python's csv and json. Both give the same
cells to the last character, and the same numbers, and the line of each row. What the columns
are called is chosen by who reads: see `Wanted`. What cannot be read is a `ValueError` of one line,
with the name of the file and the line.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toplist import kernels, parallel
from toplist.checks import Ints, about, optional, require
from toplist.files.formats import (
    EXACT,
    GZIP,
    LARGEST,
    FileFormat,
    PathLike,
    bar,
    located,
    packed,
    parse,
    short,
    together,
    way_out,
)
from toplist.inputs.columns import Cells, Table, spans_of
from toplist.inputs.lists import offsets_of

PROGRESS_MIN_BYTES = 1 << 24  # bytes: some ten seconds of reading
# The longest line in bytes. What becomes of a line in memory is up to twenty times as large, so
# that no file, however small it is packed, takes more than some hundred MB.
LINE = 1 << 24
JSON_LINE = 1 << 26  # one line may be a list: a million ids of 60 bytes
SIZE = 1 << 22  # bytes in a block of rows: some 200,000
STEP = 1 << 20  # bytes after which progress is shown, and a row that goes on noticed
UNREADABLE = (UnicodeDecodeError, csv.Error, EOFError, zlib.error, gzip.BadGzipFile)
_ENDS = "write line ends as \\n or \\r\\n"
LONG = 1 << 16  # bytes without a line end: there may be a long cell
_MARK = codecs.BOM_UTF8.decode()

# A TREC file is a table without a header; like trec_eval, nothing reads the rank of a run.
TREC_RUN = ("qid", "Q0", "docno", "(rank)", "score", "tag")
TREC_QRELS = ("qid", "iteration", "docno", "rel")


class Wanted(NamedTuple):
    """What is read of a file.

    Attributes
    ----------
    names : sequence of str
        The columns: of users or items in lines of JSON the first two.
    rule : {"rank", "score", "relevance", "group"}, optional
        What the last column is: a rank is whole, scores keep their order to the last digit, and the
        labels of groups are text. Other columns are ids.
    called : mapping
        For who reads: what our columns are called.
    filled : bool
        Whether no id is empty.
    """

    names: Sequence[str]
    rule: str | None = None
    called: Mapping[str, Any] = {}
    filled: bool = True

    @property
    def value(self) -> str | None:
        """The column of numbers."""
        return None if self.rule in (None, "group") else self.names[-1]

    @property
    def ids(self) -> Sequence[str]:
        """The columns of ids and labels."""
        return self.names if self.value is None else self.names[:-1]

    @property
    def keys(self) -> list[str]:
        """What the columns are called in a table: that of numbers, if ids have its name, anew."""
        if self.value not in self.ids:
            return [*self.names]
        return [*self.ids, f"{self.value} (numbers)"]


# What returns it, given the names in a header and, of JSONL, the line.
Choose = Callable[[Sequence[str], Mapping[str, Any]], Wanted]
# What returns the line of a cell of a column.
Line = Callable[[int], int]


class TextTables:
    """A text file being read in tables, which know the line of each row.

    Parameters
    ----------
    path : path
    format : FileFormat
    choose : function
        Returns what is wanted, see `Choose`; its errors get the line of the header.
    header : sequence of str
        Of a TREC file: what its columns are called.
    may_be_empty : bool
        Whether a file without rows is no error.
    """

    def __init__(
        self,
        path: PathLike,
        format: FileFormat,
        choose: Choose,
        header: Sequence[str] = (),
        may_be_empty: bool = False,
    ) -> None:
        self.path, self.longest = os.fspath(path), JSON_LINE if format.name == "jsonl" else LINE
        self.line = self.row = 0  # the line that was read last, and that of the last row
        self._last = b""  # what it is
        self.format, self.header = format, header
        self.wanted = Wanted(())
        self._choose, self._may_be_empty = choose, may_be_empty

    def error(self, reason: str, line: int | None = None) -> ValueError:
        """Return an error about a line, by default the last; at line 0, the whole file."""
        line = self.line if line is None else line
        place = f"{self.path}:{line}: " if line else f"{self.path}: "
        return about(located(ValueError, place, reason), path=self.path, line=line)

    @contextmanager
    def stream(self) -> Iterator[tuple[Any, Callable[[], object]]]:
        """Open the file for its bytes, unpacked, and a function that shows how many were read.

        Bad UTF-8, CSV or gzip is an error that names the line.
        """
        size, shown, self.line, self.row = os.path.getsize(self.path), 0, 0, 0
        try:
            with (
                open(self.path, "rb") as raw,
                bar(os.path.basename(self.path), size, "B", least=PROGRESS_MIN_BYTES) as advance,
            ):

                def show() -> None:
                    nonlocal shown
                    if advance:
                        advance(raw.tell() - shown)
                        shown = raw.tell()

                packed = self.path.lower().endswith(".gz") or raw.peek(2)[:2] == GZIP
                stream: Any = io.BufferedReader(gzip.GzipFile(fileobj=raw)) if packed else raw
                start = stream.peek()
                if b"\r" in start[:-1] and b"\n" not in start:  # its end may be cut
                    raise self.error(f"lines end in \\r alone: {_ENDS}")
                yield stream, show
        except UNREADABLE as error:
            if isinstance(error, csv.Error) and b"\r" in self._last.rstrip(b"\r\n"):
                raise self.error(f"a carriage return within the line: {_ENDS}") from None
            if isinstance(error, csv.Error) and self.line > self.row + 1 > 1:
                words = f"a quote opens in this row and does not end before line {self.line}"
                raise self.error(f"not readable: {words}: {error}", self.row + 1) from None
            of_line = isinstance(error, (UnicodeDecodeError, csv.Error))  # else of whole blocks
            raise self.error(f"not readable: {error}", None if of_line else 0) from None

    def counted(self, lines: Iterable[bytes], show: Callable[[], object] = bool) -> Iterator[bytes]:
        """Yield the next lines, without a byte order mark, and count them."""
        longest, size, row, in_row = self.longest, 0, self.row, 0
        for line in lines:
            self.line += 1
            self._last = line
            if len(line) > longest:
                raise self.error(f"the line has no end after {longest:,} bytes")
            yield line.removeprefix(codecs.BOM_UTF8) if self.line == 1 else line
            size += len(line)
            if size >= STEP:
                in_row = in_row + size if row == self.row else 0
                if in_row > longest:  # line after line, within quotes
                    words = f"the row has no end after {longest:,} bytes"
                    raise self.error(words, self.row + 1)
                row, size = self.row, 0
                show()

    def row_blocks(self, stream: Any, delimiter: str) -> Iterator[bytes]:
        """Yield the rows of a stream in blocks; one that is longer than the longest may be cut."""
        rest = b""
        while chunk := stream.read(SIZE):
            text = rest + chunk
            if not text.endswith(b"\n"):
                text += stream.readline(self.longest + 1)
            end = complete_rows(text, delimiter)[0] if b'"' in text and delimiter else len(text)
            # a row that is too long is refused by who reads it
            if end or len(text) > 2 * self.longest:
                end = end or len(text)
                yield text[:end]
            rest = text[end:]
        if rest:
            yield rest

    def tables(self) -> Iterator[Table]:
        """Yield the wanted columns of all rows, some rows at a time."""
        n = 0
        with self.stream() as (stream, show):
            # pyarrow reads beside Python
            for text, found in parallel.ahead(self._together, self._texts(stream), None):
                table = None
                if found is not None:
                    lines = np.arange(self.line + 1, self.line + found[-1] + 1)
                    table = self._of_columns(found, lines)
                if table is None:
                    rows = self._rows(text)  # kept until the next are read, into fresh memory
                    table = self._of_rows(*rows)
                else:
                    self.line = self.row = int(lines[-1])
                if len(table):
                    n += len(table)
                    yield table
                show()
        if not n and not self._may_be_empty:
            raise self.error("no rows", 0)

    def _texts(self, stream: Any) -> Iterator[bytes]:
        """Yield complete rows in blocks, once the header is read."""
        delimiter = self.format.delimiter
        if delimiter:
            lines = self.counted(iter(partial(stream.readline, self.longest + 1), b""))
            header = next(filter(None, csv_rows(lines, delimiter)), None)
            if header is None:
                return
            self.row = self.line
            self._want(header)
        elif self.format.name == "trec":
            self._want(self.header)
        yield from self.row_blocks(stream, delimiter)

    def _want(self, header: Sequence[str], record: Mapping[str, Any] | None = None) -> Wanted:
        """Choose what is read, by the names in a header or a line of JSON."""
        try:
            self.header, self.wanted = header, self._choose(header, record or {})
            require("", self.wanted.names, header)
        except ValueError as error:
            raise about(self.error(str(error)), **vars(error)) from None
        return self.wanted

    def _together(self, text: bytes) -> tuple[bytes, Any]:
        """Return a block, and its columns where all are read together."""
        return text, _columns(text, self.format.delimiter, self.header, self.wanted)

    def _of_columns(self, found: Any, lines: Ints) -> Table | None:
        """Return what was read together as a table; None for what Python has to judge."""
        columns, rows, _ = found
        return self._named(columns, lines if rows is None else lines[rows])

    def _named(self, columns: Sequence[Any], lines: Any, offsets: Any = None) -> Table:
        """Return the wanted columns as a table; with `offsets`, items and values are lists."""
        cells = {}
        for place, (name, column) in enumerate(zip(self.wanted.keys, columns, strict=True)):
            one = Cells(name, column, "text")
            is_last = place == len(columns) - 1 and self.wanted.rule is not None
            is_list = offsets is not None and (place == 1 or is_last)
            cells[name] = Cells(name, one, "lists", offsets=offsets) if is_list else one
        return Table(cells, np.asarray(lines, np.int64))

    def _rows(self, text: bytes) -> tuple[list[Any], Sequence[int]]:
        """Return the rows of a block that are not blank, in Python, and the line of each."""
        counted, delimiter = self.counted(io.BytesIO(text)), self.format.delimiter
        rows, lines = list[list[str]](), list[int]()
        for row in csv_rows(counted, delimiter) if delimiter else map(self._fields, counted):
            self.row = self.line
            if row:
                rows.append(row)
                lines.append(self.line)
        return rows, lines

    def _fields(self, line: bytes) -> list[str]:
        """Return the fields of a line of TREC."""
        fields = line.split()  # bytes at ASCII white space only, text would be at any
        if len(fields) > len(TREC_RUN) and b"\r" in line.strip():
            # what follows a tag is ignored; this would be a row of its own
            raise self.error("a carriage return within the line: write line ends of one kind")
        return [field.decode() for field in fields]

    def _of_rows(self, rows: list[Any], lines: Sequence[int]) -> Table:
        """Return the wanted cells of rows as a table, once every row is checked."""
        header, wanted = self.header, self.wanted
        width = len(header)
        for row, line in zip(rows, lines, strict=True):
            if len(row) != width and not self._ends_with_tag(row):
                raise self.error(self._wrong_width(row), line)
        places = [header.index(name) for name in wanted.names]
        columns: list[Any] = [[row[place] for row in rows] for place in places]
        for name, column in zip(wanted.ids if wanted.filled else (), columns, strict=False):
            if "" in column:
                raise self.error(f"empty {short(name)[1:-1]}", lines[column.index("")])
        titles = (*wanted.names[:2],) if self.format.delimiter else ()
        for column in columns[: len(titles)]:
            for row, line, cell in zip(rows, lines, column, strict=True):
                if cell.endswith(titles):  # only such a row may be a second header
                    self._check_no_header(row, places, line)
        if wanted.value is not None:
            known = {cell: parse(cell) for cell in {*columns[-1]}}
            values = [known[cell] for cell in columns[-1]]
            columns[-1] = self._numbers(values, columns[-1], lines.__getitem__)
        return self._named(columns, lines)

    def _ends_with_tag(self, row: Sequence[str]) -> bool:
        """Return whether a row of a run is too long by what follows a tag, which is ignored.

        Not by an id of several words: then the rank is no number.
        """
        is_long = self.header is TREC_RUN and len(row) > len(TREC_RUN)
        return is_long and isinstance(parse(row[TREC_RUN.index("(rank)")]), int)

    def _wrong_width(self, row: Sequence[str]) -> str:
        """Say what is wrong with a row that is shorter or longer than the header."""
        header = self.header
        if not self.format.delimiter and row[0].startswith("#"):
            return f"{short(row[0], 60)}: TREC files have no comments, remove the line"
        joined = len(header) > 1 and row[len(header) :] == header[1:]
        cause = " (a second file joined to this one, its header to the last row?)" if joined else ""
        other = TREC_QRELS if header is TREC_RUN else TREC_RUN
        if not self.format.delimiter and len(row) >= len(TREC_QRELS):
            cause = ": no id has blanks"
            if len(row) == len(other):
                cause = (
                    f" (a line of {'qrels' if other is TREC_QRELS else 'a run'}: swapped files?)"
                )
        return f"{len(row)} columns instead of {len(header)}: {short([*header])}{cause}"

    def _check_no_header(self, row: Sequence[str], places: Sequence[int], line: int) -> None:
        """Raise if a row is a header: if most of the cells at `places` are their columns' names."""
        header = self.header
        if self.wanted.value is not None and parse(row[places[-1]]) is not None:
            return
        same = [row[place].removeprefix(_MARK) == header[place] for place in places]
        if 2 * sum(same) > len(places) or (len(header) > 1 and sorted(row) == sorted(header)):
            words = f"a second header, {short([*row])}: was the file joined from several, as by "
            raise self.error(f"{words}cat a.csv b.csv? Remove the line", line)

    def _numbers(self, values: list[Any], cells: Sequence[Any], line: Line) -> NDArray[Any]:
        """Return numbers as an array; ValueError for what is none, which the cells show."""
        rule, kinds = self.wanted.rule, {*map(type, values)}
        if kinds <= {int} or (kinds <= {int, float} and rule != "rank"):
            found = packed(values)
            if found.dtype.kind == "i" or (
                found.dtype.kind == "f" and np.all(np.abs(found) <= LARGEST)
            ):
                return found
        for at, one in enumerate(values):
            wrong = ""
            if one is None or not -LARGEST <= one <= LARGEST:
                what = "a finite number" if rule == "relevance" else "a number"
                wrong = f"{what}{way_out(cells[at])}"
            elif rule == "rank" and type(one) is float:
                wrong = "" if abs(one) <= EXACT and one.is_integer() else "a whole number"
            if wrong:
                raise self.error(f"{rule} {cells[at]!r:.60} is not {wrong}", line(at))
        return packed([int(one) for one in values] if rule == "rank" else values)


def csv_rows(lines: Iterable[bytes], delimiter: str) -> Iterator[list[str]]:
    """Read lines as rows of CSV; a blank line is an empty row."""
    # strict: a stray quote is an error, it does not swallow the lines that follow
    return csv.reader(map(bytes.decode, lines), delimiter=delimiter, strict=True)


def complete_rows(text: bytes, delimiter: str) -> tuple[int, bool]:
    """Return how much of a text is complete rows, and whether their quotes are simple."""
    if b'"' not in text:
        return text.rfind(b"\n") + 1, True

    return kernels.texts.complete_rows(np.frombuffer(text, np.uint8), ord(delimiter))  # type: ignore[no-any-return]


def _columns(
    text: bytes, delimiter: str, header: Sequence[str], wanted: Wanted
) -> tuple[list[Any], Ints | None, int] | None:
    """Return the wanted columns of a block, the lines that are rows (None: all), and how many are.

    Numbers are float64 or, of ranks, int64, all else is text in Arrow. None for what Python has to
    read, or to judge. Fields of TREC are separated by any number of blanks.
    """
    names, n = wanted.names, n_lines(text)
    try:
        pa = optional("pyarrow", "", "io", "csv")
        if not text.isascii():
            text.decode()
            if codecs.BOM_UTF8 in text:  # pyarrow would drop it
                return None
    except (ImportError, UnicodeDecodeError):
        return None
    if not names or len({*names}) < len(names):  # numbers that are ids as well are read twice
        return None
    if delimiter and not _is_simple(text if text.endswith(b"\n") else text + b"\n", delimiter):
        return None
    fields = text
    # one blank between two fields, and none before the first or after the last
    if not delimiter and (
        text.strip(b" ") != text
        or any(one in text for one in (b"\t", b"\r", b"\v", b"\f"))
        or any(_has_pair(text, pair) for pair in (b"  ", b" \n", b"\n "))
    ):
        fields = b"\n".join(b" ".join(line.split()) for line in text.split(b"\n"))
    places = [str(header.index(name)) for name in names]
    types = dict.fromkeys(places, pa.large_string())  # of 2^31 bytes and more together
    if wanted.value is not None:
        types[places[-1]] = pa.float64()  # none is read from 0x1F, which is taken as an integer
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(fields),
            pa.csv.ReadOptions(
                use_threads=False,
                block_size=len(fields) + 1,
                column_names=[str(place) for place in range(len(header))],
            ),
            pa.csv.ParseOptions(
                delimiter=delimiter or " ",
                quote_char='"' if delimiter else False,
                newlines_in_values=True,
            ),
            pa.csv.ConvertOptions(
                check_utf8=False,
                column_types=types,
                include_columns=places,
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowException:
        return None
    if not len(table):
        return None
    found: list[Any] = [table.column(place).chunk(0) for place in places]
    # what Python has to judge: an empty cell, and one of a second header, whose value is no number
    odd = [""] * wanted.filled + [*names[:2]] * bool(delimiter and wanted.value is None)
    if odd and any(holds(column, odd) for column in found[: len(wanted.ids)]):
        return None
    if wanted.value is not None:
        found[-1] = exact(found[-1], wanted.rule == "rank")
        if found[-1] is None:
            return None
    return found, None if len(table) == n else _lines_of_rows(text, not delimiter), n


def _is_simple(text: bytes, delimiter: str) -> bool:
    """Whether rows have no carriage return or quote where none belongs.

    Nor a cell that is longer than Python's csv module takes: 2^17 characters.
    """
    if b"\r" in text and text.count(b"\r") != text.count(b"\r\n"):
        return False
    if any(text.find(b"\n", at, at + LONG) < 0 for at in range(0, len(text) - LONG, LONG)):
        return False
    return complete_rows(text, delimiter) == (len(text), True)


def exact(column: Any, whole: bool) -> NDArray[Any] | None:
    """Return a column as numbers; None where only Python's are exact, or are numbers at all.

    If they have to be `whole`, all are integers, though they may be written as 2.0.
    """
    found: NDArray[Any] = np.from_dlpack(column)  # to_numpy would import pandas
    # beyond 2^53 a whole number may lose digits as a double; infinite: 1e999, inf and nan
    if not np.all(np.abs(found) < EXACT):
        return None
    integers = found.astype(np.int64)
    return (integers if np.array_equal(integers, found) else None) if whole else found


def holds(column: Any, texts: Sequence[str]) -> bool:
    """Whether a column holds one of some texts. What pyarrow has for it would import pandas."""
    cells = spans_of(column)
    lengths = cells.ends - cells.starts
    for text in map(str.encode, texts):
        starts = cells.starts[lengths == len(text)]
        for place in reversed(range(len(text))):  # ids differ in their last bytes
            starts = starts[cells.text[starts + place] == text[place]]
        if len(starts):
            return True
    return False


def _has_pair(text: bytes, pair: bytes) -> bool:
    """Whether two bytes stand together, ten times as fast as ``pair in text`` of blanks."""
    word = np.frombuffer(pair, np.uint16)
    words = (np.frombuffer(text, np.uint16, (len(text) - at) // 2, at) for at in (0, 1))
    return any(bool(np.any(one == word)) for one in words)


def n_lines(text: bytes) -> int:
    """Return the number of lines, of which the last one may have no end."""
    ends = np.frombuffer(text, np.uint8) == ord("\n")  # three times as fast as text.count
    return int(np.count_nonzero(ends)) + (not text.endswith(b"\n"))


def _lines_of_rows(text: bytes, is_trec: bool) -> Ints:
    """Return the line of each row, counted from 0, without blank lines; no row is of two lines."""
    if is_trec:
        rows = enumerate(text.split(b"\n"))
        return np.array([at for at, line in rows if line.split()], np.int64)
    data = np.frombuffer(text if text.endswith(b"\n") else text + b"\n", np.uint8)
    ends = np.flatnonzero(data == ord("\n"))
    starts = np.append(0, ends[:-1] + 1)
    blank = (ends == starts) | ((ends == starts + 1) & (data[starts] == ord("\r")))
    return np.flatnonzero(~blank)


def joined(tables: Sequence[Table]) -> Table:
    """Return the rows of tables as one."""
    found = {name: _joined([one.cells[name] for one in tables]) for name in tables[0].cells}
    return Table(found, np.concatenate([one.lines for one in tables]))


def _joined(cells: Sequence[Cells]) -> Cells:
    """Return the rows of one column of several tables; numbers as one array."""
    first = cells[0]
    if first.offsets is not None:
        offsets = np.concatenate([np.diff(one.offsets) for one in cells if one.offsets is not None])
        inner = _joined([one.data for one in cells])
        return Cells(first.name, inner, first.kind, offsets=offsets_of(offsets))
    parts = [one.data for one in cells if len(one)] or [first.data]
    if all(isinstance(part, np.ndarray) for part in parts):
        return Cells(first.name, together(parts), first.kind)
    if all(isinstance(part, list) for part in parts):
        return Cells(first.name, [*chain.from_iterable(parts)], first.kind)
    import pyarrow as pa

    some = [pa.array(part, pa.large_string()) if type(part) is list else part for part in parts]
    return Cells(first.name, pa.concat_arrays(some), first.kind)
