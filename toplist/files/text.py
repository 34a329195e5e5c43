"""Text files as tables: CSV, TSV, JSONL and TREC, gzipped or not, in blocks of rows.

CSV, TSV and TREC are read by pyarrow where that reads what is written: every column as text, but
one of numbers, so that 007 stays 007 and NA stays NA. pyarrow takes what Python's csv refuses (a
quote within a cell, a lone carriage return, 0x1F as a number); a block that holds anything of that
kind, JSONL, and all where pyarrow is not installed, is read by Python's csv and json. Both give the
same cells to the last character, and the same numbers, and the line of each row. What the columns
are called is chosen by who reads: see `Wanted`. What cannot be read is a `ValueError` of one line,
with the name of the file and the line.
"""

from __future__ import annotations

import codecs
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from toplist import parallel
from toplist.checks import Ints, about, optional, require
from toplist.files.formats import (
    EXACT,
    JSON_LINE,
    LARGEST,
    LINE,
    FileFormat,
    PathLike,
    TextFile,
    complete_rows,
    csv_rows,
    named,
    packed,
    parse,
    short,
    together,
    way_out,
)
from toplist.inputs.columns import Cells, Table, spans_of
from toplist.inputs.ids import kinds_of
from toplist.inputs.lists import offsets_of

LONG = 1 << 16  # bytes without a line end: there may be a long cell
_IDS = {int, str}  # in lines of JSON
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


class TextTables(TextFile):
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
        super().__init__(path, JSON_LINE if format.name == "jsonl" else LINE)
        self.format, self.header = format, header
        self.wanted = Wanted(())
        self._choose, self._may_be_empty = choose, may_be_empty
        self._form: Any = None  # of the lines of JSON: whether they hold lists, and the rule
        self._kinds: dict[str, tuple[Any, int]] = {}  # an id of each column of JSON, and its line

    def tables(self) -> Iterator[Table]:
        """Yield the wanted columns of all rows, some rows at a time."""
        n, is_json = 0, self.format.name == "jsonl"
        with self.stream() as (stream, show):
            # pyarrow reads beside Python; objects of JSON would wait for it
            n_threads = 1 if is_json else None
            for text, found in parallel.ahead(self._together, self._texts(stream), n_threads):
                if found is not None:
                    every = range(self.line + 1, self.line + found[-1] + 1)
                    self.line = self.row = self.line + found[-1]
                if is_json and found is not None:
                    table = self._of_records(found[0], every, alike=True)
                elif is_json:
                    table = self._of_records(*self._records(text))
                elif found is not None:
                    columns, rows, _ = found
                    lines = np.arange(every.start, every.stop)
                    table = self._named(columns, lines if rows is None else lines[rows])
                else:
                    table = self._of_rows(*self._rows(text))
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
            raise self.error(str(error)) from None
        return self.wanted

    def _together(self, text: bytes) -> tuple[bytes, Any]:
        """Return a block, and its columns or objects where all are read together."""
        if self.format.name == "jsonl":
            return text, _objects(text)
        return text, _columns(text, self.format.delimiter, self.header, self.wanted)

    def _named(self, columns: Sequence[Any], lines: Any, offsets: Any = None) -> Table:
        """Return the wanted columns as a table; with `offsets`, items and values are lists."""
        cells = {}
        for place, (name, column) in enumerate(zip(self.wanted.keys, columns, strict=True)):
            one = Cells(name, column, "text")
            is_last = place == len(columns) - 1 and self.wanted.rule is not None
            is_list = offsets is not None and (place == 1 or is_last)
            cells[name] = Cells(name, one, "lists", offsets=offsets) if is_list else one
        return Table(cells, np.asarray(lines, np.int64))

    def _rows(self, text: bytes) -> tuple[list[list[str]], list[int]]:
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

    def _of_rows(self, rows: list[list[str]], lines: list[int]) -> Table:
        """Return the wanted cells of rows as a table, once every row is checked."""
        header, wanted = self.header, self.wanted
        width, longer = len(header), header is TREC_RUN  # trec_eval ignores what follows a tag
        for row, line in zip(rows, lines, strict=True):
            if len(row) != width and not (longer and len(row) > width):
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

    def _wrong_width(self, row: Sequence[str]) -> str:
        """Say what is wrong with a row that is shorter or longer than the header."""
        header = self.header
        if not self.format.delimiter and row[0].startswith("#"):
            return f"{short(row[0], 60)}: TREC files have no comments, remove the line"
        joined = len(header) > 1 and row[len(header) :] == header[1:]
        cause = " (a second file joined to this one, its header to the last row?)" if joined else ""
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

    def _records(self, text: bytes) -> tuple[list[dict[str, Any]], list[int]]:
        """Return the JSON objects of lines, and the line of each."""
        records, lines = list[dict[str, Any]](), list[int]()
        for line in self.counted(io.BytesIO(text)):
            self.row = self.line
            one = line.decode().strip(_BLANKS)
            if not one:
                continue
            try:
                record = _JSON.decode(one)
            except (ValueError, RecursionError) as error:
                reason = str(error).replace("line 1 column", "column")
                raise self.error(f"not valid JSON: {reason}") from None
            if type(record) is not dict:
                raise self.error(f"not a JSON object: {one!r:.60}")
            records.append(record)
            lines.append(self.line)
        return records, lines

    def _of_records(
        self, records: list[dict[str, Any]], lines: Sequence[int], alike: bool = False
    ) -> Table:
        """Return objects as a table: all of one item, or all of lists; `alike`: of equal keys."""
        if not records:
            return Table({})
        last, forms = self.line, set[tuple[str, ...]]()
        for record, line in zip(records[: 1 if alike else None], lines, strict=False):
            keys = tuple(record)
            if keys not in forms:
                forms.add(keys)
                self.line, before = line, self.wanted.names
                wanted = self._want(keys, record)
                form = type(record[wanted.names[1]]) is list, wanted.rule
                self._form = self._form or form
                if form != self._form or before not in ((), wanted.names):
                    raise self.error(UNLIKE)
        self.line = last
        wanted, (listed, rule) = self.wanted, self._form
        users, items, *others = ([record[name] for record in records] for name in wanted.names)
        if {*map(type, items)} != {list} if listed else list in {*map(type, items)}:
            at = next(at for at, one in enumerate(items) if (type(one) is list) != listed)
            raise self.error(UNLIKE, lines[at])
        offsets = offsets_of([*map(len, items)]) if listed else np.arange(len(items) + 1)
        if listed and rule is not None:
            for line, row, values in zip(lines, items, others[-1], strict=True):
                if type(values) is not list or len(values) != len(row):
                    raise self.error(f"{rule} must be a list as long as the list of items", line)

        def row_of(at: int) -> int:
            return int(np.searchsorted(offsets, at, side="right")) - 1

        def line_of(at: int) -> int:
            return lines[row_of(at)]

        def missing(at: int) -> str:
            row = row_of(at)
            where = f"user {json.dumps(users[row]):.60} has null at place {at - offsets[row] + 1}"
            return f"{where}: an item is missing, leave it out"

        def flat(column: list[Any]) -> list[Any]:
            return [*chain.from_iterable(column)] if listed else column

        columns: list[Any] = [
            self._ids(wanted.names[0], users, lines.__getitem__),
            self._ids(wanted.names[1], flat(items), line_of, missing),
        ]
        if len(others) > (rule is not None):  # a column of systems
            what = f"is no {short(wanted.names[2])} that names a system"
            columns.append(self._texts_of(others[0], lines.__getitem__, what))
        if rule == "group":
            what = "names no group: use integers or texts"
            columns.append(self._texts_of(flat(others[-1]), line_of, what))
        elif rule is not None:
            values = cells = flat(others[-1])
            if not {*map(type, cells)} <= {int, float}:
                cells = [one if type(one) in (int, float) else json.dumps(one) for one in cells]
                values = [one if type(one) in (int, float) else None for one in cells]
            columns.append(self._numbers(values, cells, line_of))
        return self._named(columns, lines, offsets if listed else None)

    def _ids(
        self, name: str, ids: list[Any], line: Line, missing: Callable[[int], str] | None = None
    ) -> Any:
        """Return a column of ids of JSON, integers as an array; errors for what is no id."""
        kinds = {*map(type, ids)}
        if not kinds <= _IDS or (str in kinds and "" in ids):
            at = next(at for at, one in enumerate(ids) if type(one) not in _IDS or one == "")
            if ids[at] is None and missing is not None:
                raise self.error(missing(at), line(at))
            words = f"{json.dumps(ids[at]):.60} is not an id: use integers or texts"
            raise self.error(words, line(at))
        if not ids:
            return ids
        known, first = self._kinds.setdefault(name, (ids[0], line(0)))
        if kinds != {type(known)}:
            at = next(at for at, one in enumerate(ids) if type(one) is not type(known))
            unlike = f"unlike line {first}, " if first < line(at) else ""
            try:
                kinds_of([known, ids[at]], f"column {name!r}")
            except TypeError as error:
                place = f"{self.path}:{line(at)}: {unlike}"
                raise about(named(place, error), path=self.path, line=line(at)) from None
        if str in kinds:
            return ids
        found = packed(ids)
        if found.dtype == object:
            at = next(at for at, one in enumerate(ids) if not -(2**63) <= one < 2**63)
            words = f"{ids[at]} is an id that int64 does not hold: write ids as text"
            raise self.error(words, line(at))
        return found

    def _texts_of(self, labels: list[Any], line: Line, what: str) -> list[str]:
        """Return labels of JSON as texts, by which they are compared."""
        for at, one in enumerate(labels):
            if type(one) not in _IDS or one == "":
                raise self.error(f"{json.dumps(one):.60} {what}", line(at))
        return [str(one) for one in labels]


UNLIKE = "unlike the lines before: an item or a list, with the same keys"


def _columns(
    text: bytes, delimiter: str, header: Sequence[str], wanted: Wanted
) -> tuple[list[Any], Ints | None, int] | None:
    """Return the wanted columns of a block, the lines that are rows (None: all), and how many are.

    Numbers are float64 or, of ranks, int64, all else is text in Arrow. None for what Python has to
    read, or to judge. Fields of TREC are separated by any number of blanks.
    """
    names, n = wanted.names, _n_lines(text)
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
    if odd and any(_holds(column, odd) for column in found[: len(wanted.ids)]):
        return None
    if wanted.value is not None:
        found[-1] = _exact(found[-1], wanted.rule == "rank")
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


def _exact(column: Any, whole: bool) -> NDArray[Any] | None:
    """Return a column as numbers; None where only Python's are exact, or are numbers at all.

    If they have to be `whole`, all are integers, though they may be written as 2.0.
    """
    found: NDArray[Any] = np.from_dlpack(column)  # to_numpy would import pandas
    # beyond 2^53 a whole number may lose digits as a double; infinite: 1e999, inf and nan
    if not np.all(np.abs(found) < EXACT):
        return None
    integers = found.astype(np.int64)
    return (integers if np.array_equal(integers, found) else None) if whole else found


def _holds(column: Any, texts: Sequence[str]) -> bool:
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


def _n_lines(text: bytes) -> int:
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


def _objects(text: bytes) -> tuple[list[dict[str, Any]], int] | None:
    """Return the objects of lines of JSON with the same keys, and how many lines there are.

    None if a line is not plain.

    A plain line is one object without another in it, and without a colon or a brace in its texts.
    Many are decoded at once; that none has a key twice is seen by the number of colons.
    """
    n_lines, text = _n_lines(text), text.strip(b"\n")
    n, between = text.count(b"\n") + 1, text.count(b"}\n{")
    if between != n - 1:  # there are blanks around objects, or more than one in a line
        lines = (line.strip(b" \t\r") for line in text.split(b"\n"))
        text = b"\n".join(filter(None, lines))
        n, between = text.count(b"\n") + 1, text.count(b"}\n{")
    braces = between + 1, text.count(b"{"), text.count(b"}")
    if not text.startswith(b"{") or not text.endswith(b"}") or braces != (n, n, n) or n < n_lines:
        return None
    try:
        found: list[dict[str, Any]] = _PLAIN.decode(f"[{text.decode()}]".replace("}\n{", "},\n{"))
    except (ValueError, RecursionError):
        return None
    keys = tuple(found[0])
    if len(found) != n or set(map(tuple, found)) != {keys} or text.count(b":") != n * len(keys):
        return None
    return found, n_lines


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


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; ValueError for a key that is there twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
        raise ValueError(f"the key {short(twice)} twice in an object")
    return found


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


_BLANKS = " \t\n\r"
_JSON = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)
_PLAIN = json.JSONDecoder(parse_constant=_constant)  # a key twice is not seen
