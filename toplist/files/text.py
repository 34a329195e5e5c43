"""Text files as tables: CSV, TSV, JSONL and TREC, gzipped or not, in blocks of rows.

CSV, TSV and TREC are read by pyarrow where that reads what is written (`toplist.files.blocks`);
what it does not, JSONL, and all where pyarrow is not installed, is read by Python's csv and json,
block by block. Both give the same cells to the last character, and the same numbers, and the line
of each row. What the columns are called is chosen by who reads: see `Wanted`. What cannot be read
is a `ValueError` of one line, with the name of the file and the line.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from toplist import parallel
from toplist.checks import about
from toplist.files import blocks
from toplist.files.errors import named, short
from toplist.files.formats import FileFormat, PathLike
from toplist.files.lines import JSON_LINE, LINE, TextFile, csv_rows, lines_of, row_blocks
from toplist.files.numbers import EXACT, LARGEST, packed, parse, together, way_out
from toplist.inputs.columns import Cells, Table
from toplist.inputs.ids import kinds_of
from toplist.inputs.lists import offsets_of

_IDS = {int, str}  # in lines of JSON

# A TREC file is a table without a header; like trec_eval, nothing reads the rank of a run.
TREC_RUN = ("qid", "Q0", "docno", "(rank)", "score", "tag")
TREC_QRELS = ("qid", "iteration", "docno", "rel")


class Wanted(NamedTuple):
    """What is read of a file.

    Attributes
    ----------
    names : sequence of str
        The columns: of users or items in lines of JSON the first two.
    filled : sequence of str
        Those of which no cell is empty, for errors.
    value : str, optional
        The one of numbers, which is the last.
    rule : {"rank", "score", "relevance", "group"}, optional
        What the values are: a rank is whole, scores keep their order to the last digit, and the
        labels of groups are text.
    called : mapping
        For who reads: what our columns are called.
    """

    names: Sequence[str]
    filled: Sequence[str] = ()
    value: str | None = None
    rule: str | None = None
    called: Mapping[str, Any] = {}

    @property
    def key(self) -> str | None:
        """What the column of numbers is called in a table: its name, if ids have another."""
        if self.value is None:
            return None
        return f"{self.value} (numbers)" if self.value in self.names[:-1] else self.value


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
    """

    def __init__(
        self, path: PathLike, format: FileFormat, choose: Choose, header: Sequence[str] = ()
    ) -> None:
        super().__init__(path, JSON_LINE if format.name == "jsonl" else LINE)
        self.format, self.header = format, header
        self.wanted = Wanted(())
        self._choose = choose
        self._form: tuple[bool, str | None] | None = None  # of the lines of JSON
        self._kinds: dict[str, tuple[Any, int]] = {}  # an id of each column of JSON, and its line

    def tables(self) -> Iterator[Table]:
        """Yield the wanted columns of all rows, some rows at a time."""
        n = 0
        with self.stream() as (stream, show):
            # pyarrow reads beside Python; objects of JSON would wait for it
            n_threads = 1 if self.format.name == "jsonl" else None
            for text, found in parallel.ahead(self._together, self._texts(stream), n_threads):
                table = self._table(text, found)
                if len(table):
                    n += len(table)
                    yield table
                show()
        self.line = 0
        if not n:
            raise self.error("no rows")

    def _texts(self, stream: Any) -> Iterator[bytes]:
        """Yield complete rows in blocks, once the header is read."""
        delimiter = self.format.delimiter
        if delimiter:
            lines = self.counted(lines_of(stream, self.longest))
            header = next(filter(None, csv_rows(lines, delimiter)), None)
            if header is None:
                return
            self.row = self.line
            self._want(header)
        elif self.format.name == "trec":
            self._want(self.header)
        yield from row_blocks(stream, self.longest, delimiter)

    def _want(self, header: Sequence[str], record: Mapping[str, Any] | None = None) -> Wanted:
        """Choose what is read, by the names in a header or a line of JSON."""
        try:
            self.header, self.wanted = header, self._choose(header, record or {})
        except ValueError as error:
            raise self.error(str(error)) from None
        self.check_columns(self.wanted.names, header)
        return self.wanted

    def _together(self, text: bytes) -> tuple[bytes, Any]:
        """Return a block, and its columns or objects where all are read together."""
        if self.format.name == "jsonl":
            return text, blocks.objects(text)
        header, names, value = self.header, self.wanted.names, self.wanted.value
        # numbers that are ids as well are read twice
        if not names or len({*names}) < len(names) or blocks.pyarrow_csv() is None:
            return text, None
        return text, blocks.read_table(text, self.format.delimiter, header, names, value)

    def _table(self, text: bytes, found: Any) -> Table:
        """Return a block as a table; what was not read together is read in Python, row by row."""
        first, n = self.line + 1, blocks.n_lines(text)
        if self.format.name == "jsonl":
            if found is None or len(found) < n:
                return self._of_records(*self._records(text), alike=False)
            self.skip(n)
            return self._of_records(found, range(first, first + n), alike=True)
        table = None if found is None else self._of_arrow(text, found, first, n)
        if table is None:
            return self._of_rows(*self._rows(text))
        self.skip(n)
        return table

    def _named(self, columns: Sequence[Any], lines: Any, offsets: Any = None) -> Table:
        """Return the wanted columns as a table; with `offsets`, items and values are lists."""
        names = [*self.wanted.names]
        lists = {1, len(names) - 1 if self.wanted.rule is not None else 1}
        if self.wanted.key:
            names[-1] = self.wanted.key
        cells = {}
        for place, (name, column) in enumerate(zip(names, columns, strict=True)):
            one = Cells(name, column, "text")
            is_list = offsets is not None and place in lists
            cells[name] = Cells(name, one, "lists", offsets=offsets) if is_list else one
        return Table(cells, np.asarray(lines, np.int64))

    def _of_arrow(self, text: bytes, columns: dict[str, Any], first: int, n: int) -> Table | None:
        """Return columns of pyarrow as a table; None where Python has to judge a cell."""
        wanted, found = self.wanted, [columns[name] for name in self.wanted.names]
        if any(blocks.has_empty(columns[name]) for name in wanted.filled):
            return None
        titles = wanted.names[:2] if self.format.delimiter else ()
        maybe = any(name.encode() in text for name in titles)
        if maybe and any(blocks.holds(columns[name], titles) for name in titles):  # a second header
            return None
        n_rows = len(found[0])
        if wanted.value is not None:
            found[-1] = blocks.numbers(columns[wanted.value], wanted.rule == "rank")
            if found[-1] is None:
                return None
        lines = np.arange(n)
        if n_rows < n:
            lines = blocks.lines_of_rows(text, bool(self.format.delimiter))
        return self._named(found, lines + first)

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
                self.line = line
                if not self.format.delimiter and row[0].startswith("#"):
                    comment = short(row[0], 60)
                    raise self.error(f"{comment}: TREC files have no comments, remove the line")
                raise self.wrong_width(row, header)
        places = [header.index(name) for name in wanted.names]
        columns: list[Any] = [[row[place] for row in rows] for place in places]
        for name, column in zip(wanted.names, columns, strict=True):
            if name in wanted.filled and "" in column:
                self.line = lines[column.index("")]
                raise self.error(f"empty {short(name)[1:-1]}")
        titles = (*wanted.names[:2],) if self.format.delimiter else ()
        for column in columns[: len(titles)]:
            for at, cell in enumerate(column):
                if cell.endswith(titles):  # only such a row may be a second header
                    self.line = lines[at]
                    self.check_no_header(rows[at], header, places)
        if wanted.value is not None:
            known = {cell: parse(cell) for cell in {*columns[-1]}}
            values = [known[cell] for cell in columns[-1]]
            columns[-1] = self._numbers(values, columns[-1], lines.__getitem__)
        return self._named(columns, lines)

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
                self.line = line(at)
                raise self.error(f"{rule} {cells[at]!r:.60} is not {wrong}")
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
        self, records: list[dict[str, Any]], lines: Sequence[int], alike: bool
    ) -> Table:
        """Return objects as a table: all of one item, or all of lists; `alike`: of equal keys."""
        last, forms = self.line, set[tuple[str, ...]]()
        for record, line in zip(records[: 1 if alike else None], lines, strict=False):
            keys = tuple(record)
            if keys not in forms:
                forms.add(keys)
                self.line, before = line, self.wanted
                self._check_form(self._want(keys, record), record, before)
        self.line = last
        if not records:
            return Table({})
        wanted = self.wanted
        users, items, *others = ([record[name] for record in records] for name in wanted.names)
        listed, offsets = self._form is not None and self._form[0], None
        if {*map(type, items)} != {list} if listed else list in {*map(type, items)}:
            at = next(at for at, one in enumerate(items) if (type(one) is list) != listed)
            self.line = lines[at]
            raise self._unlike()
        if listed:
            offsets = offsets_of([*map(len, items)])
            for column in others[-1:] if wanted.rule is not None else ():
                for at, (row, values) in enumerate(zip(items, column, strict=True)):
                    if type(values) is not list or len(values) != len(row):
                        self.line = lines[at]
                        raise self.error(
                            f"{wanted.rule} must be a list as long as the list of items"
                        )

        def row_of(at: int) -> int:
            return at if offsets is None else int(np.searchsorted(offsets, at, side="right")) - 1

        def line_of(at: int) -> int:
            return lines[row_of(at)]

        def flat(column: list[Any]) -> list[Any]:
            return [*chain.from_iterable(column)] if listed else column

        def missing(at: int) -> str:
            row = row_of(at)
            place = 1 if offsets is None else at - int(offsets[row]) + 1
            where = f"user {json.dumps(users[row]):.60} has null at place {place}"
            return f"{where}: an item is missing, leave it out"

        names, items = wanted.names, flat(items)
        columns: list[Any] = [
            self._ids(names[0], users, lines.__getitem__),
            self._ids(names[1], items, line_of, missing),
        ]
        if wanted.rule is not None:
            values = flat(others.pop())
            if wanted.rule == "group":
                what = "names no group: use integers or texts"
                found: Any = self._texts_of(values, line_of, what)
            else:
                cells = (
                    [one if type(one) in (int, float) else json.dumps(one) for one in values]
                    if not {*map(type, values)} <= {int, float}
                    else values
                )
                numbers = [one if type(one) in (int, float) else None for one in cells]
                found = self._numbers(numbers, cells, line_of)
            others.append(found)
        if len(others) > (wanted.rule is not None):
            what = f"is no {short(names[2])} that names a system"
            others[0] = self._texts_of(others[0], lines.__getitem__, what)
        return self._named([*columns, *others], lines, offsets)

    def _check_form(self, wanted: Wanted, record: dict[str, Any], before: Wanted) -> None:
        """Raise ValueError for a line of JSON that has another form than those before."""
        form = type(record[wanted.names[1]]) is list, wanted.rule
        self._form = self._form or form
        if form != self._form or (before.names and before.names != wanted.names):
            raise self._unlike()

    def _unlike(self) -> ValueError:
        return self.error("unlike the lines before: an item or a list, with the same keys")

    def _ids(
        self, name: str, ids: list[Any], line: Line, missing: Callable[[int], str] | None = None
    ) -> Any:
        """Return a column of ids of JSON, integers as an array; errors for what is no id."""
        kinds = {*map(type, ids)}
        if not kinds <= _IDS or (str in kinds and "" in ids):
            at = next(at for at, one in enumerate(ids) if type(one) not in _IDS or one == "")
            self.line = line(at)
            if ids[at] is None and missing is not None:
                raise self.error(missing(at))
            raise self.error(f"{json.dumps(ids[at]):.60} is not an id: use integers or texts")
        if not ids:
            return ids
        known, first = self._kinds.setdefault(name, (ids[0], line(0)))
        if kinds != {type(known)}:
            at = next(at for at, one in enumerate(ids) if type(one) is not type(known))
            self.line = line(at)
            unlike = f"unlike line {first}, " if first < self.line else ""
            try:
                kinds_of([known, ids[at]], f"column {name!r}")
            except TypeError as error:
                place = f"{self.path}:{self.line}: {unlike}"
                raise about(named(place, error), path=self.path, line=self.line) from None
        if str in kinds:
            return ids
        found = packed(ids)
        if found.dtype == object:
            at = next(at for at, one in enumerate(ids) if not -(2**63) <= one < 2**63)
            self.line = line(at)
            raise self.error(f"{ids[at]} is an id that int64 does not hold: write ids as text")
        return found

    def _texts_of(self, labels: list[Any], line: Line, what: str) -> list[str]:
        """Return labels of JSON as texts, by which they are compared."""
        for at, one in enumerate(labels):
            if type(one) not in _IDS or one == "":
                self.line = line(at)
                raise self.error(f"{json.dumps(one):.60} {what}")
        return [str(one) for one in labels]


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
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {short(twice)} twice in an object")
    return found


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


_BLANKS = " \t\n\r"
_JSON = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)
