"""Text files as tables: CSV, TSV, JSONL and TREC, gzipped or not, in blocks of rows.

CSV, TSV and TREC are read by pyarrow where that reads what is written (`toplist.files.blocks`);
what it does not, JSONL, and all where pyarrow is not installed, is read by Python's csv and json,
block by block. Both give the same cells to the last character, and the same numbers. What the
columns are called is chosen by who reads: see `Wanted`. What cannot be read is a `ValueError` of
one line, with the name of the file and the line.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple, NoReturn

import numpy as np

from toplist import parallel
from toplist.checks import about
from toplist.files import blocks
from toplist.files.errors import named, short
from toplist.files.formats import FileFormat, PathLike
from toplist.files.lines import JSON_LINE, LINE, TextFile, csv_rows, lines_of, row_blocks
from toplist.files.numbers import EXACT, LARGEST, Number, in_column, packed, parse, way_out
from toplist.inputs.columns import Cells, Table
from toplist.inputs.ids import kinds_of
from toplist.inputs.lists import offsets_of

_IDS = {int, str}  # in lines of JSON
LIMIT = 2**63  # of integers that are ids
_KNOWN = 1 << 12  # texts whose numbers are remembered

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
Cell = Any  # of a row: text, a number, or of JSON a list of ids or numbers


class TextTables(TextFile):
    """A text file being read in tables.

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
        self._numbers: dict[Any, Number] = {}  # ranks and grades come again and again
        self._form: tuple[bool, str | None] | None = None  # of the lines of JSON
        self._kinds: dict[str, tuple[Any, int]] = {}  # an id of each column of JSON, and its line
        self._kinds_before: tuple[type, ...] = ()
        self._lists: dict[Any, int] = {}  # the users of JSON with a list, and its line

    def tables(self) -> Iterator[Table]:
        """Yield the wanted columns of all rows, some rows at a time."""
        n = 0
        with self.stream() as (stream, show):
            # pyarrow reads beside Python; objects of JSON would wait for it
            n_threads = 1 if self.format.name == "jsonl" else None
            for text, found in parallel.ahead(self._together, self._texts(stream), n_threads):
                table = None
                if found is not None:
                    lines = blocks.n_lines(text)
                    table = (
                        self._of_arrow(text, found)
                        if isinstance(found, dict)
                        else self._of_records(found, range(self.line + 1, self.line + lines + 1))
                    )
                if table is None:
                    table = self._of_rows([*self._rows(text)])
                else:
                    self.skip(lines)
                if len(table):
                    n += len(table)
                    yield table
                show()
        self.line = 0
        if not n:
            raise self.error("no rows")

    def of_complete_users(self) -> Iterator[Table]:
        """Yield tables cut where a user ends; the rows of the last one wait for the next table."""
        waiting, last = list[Table](), list[Any]()
        for table in self.tables():
            names = self.wanted.names
            alone = len(names) == 2 + (self.wanted.value is not None)  # no system beside them
            if alone and not waiting and table.cells[names[1]].offsets is not None:
                yield self.joined([table])  # a line of JSON has the whole list of a user
                continue
            users = table.cells[names[0]]
            start = _start_of_last(users.data)
            if start or (waiting and last != users.slice(0, 1).objects()):
                yield self.joined([*waiting, table.slice(0, start)])
                waiting = []
            last = users.slice(start, start + 1).objects()
            waiting.append(table.slice(start, len(table) - start))
        if waiting:
            yield self.joined(waiting)

    def joined(self, tables: Iterable[Table]) -> Table:
        """Return the rows of tables as one, their numbers as one array."""
        found = [table for table in tables if len(table)]
        every = {name: [table.cells[name] for table in found] for name in found[0].cells}
        rule = {self.wanted.key: self.wanted.rule}
        return Table({name: _joined(cells, rule.get(name)) for name, cells in every.items()})

    def lines_of_user(
        self, user: Any, item: Any = None, system: str | None = None
    ) -> Iterator[int]:
        """Yield the lines in which rows of a user begin, or hold an item: for messages.

        The file is read again row by row, but for blocks without the name; nothing is found in a
        pipe. Ids are compared as text, as they are where the other file holds text.
        """
        if not os.path.isfile(self.path):
            return
        name = str(user)
        # what stands in a file as it is: not in quotes, nor with escapes of JSON
        plain = name.encode() if name.isascii() and name.replace("-", "a").isalnum() else b""
        is_before = False
        with suppress(ValueError), self.stream() as (stream, _):
            for text in self._texts(stream):
                if plain not in text:
                    self.skip(blocks.n_lines(text))
                    is_before = False
                    continue
                for row in self._rows(text):
                    is_user = str(row[0]) == name and system in (None, *map(str, row[2:3]))
                    items = row[1] if type(row[1]) is list else row[1:2]
                    times = sum(str(one) == str(item) for one in items) if item is not None else 1
                    if is_user and (item is not None or not is_before):
                        yield from [self.line] * times
                    is_before = is_user

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
            self.check_columns(self.wanted.names, header)
        elif self.format.name == "trec":
            self._want(self.header)
        yield from row_blocks(stream, self.longest, delimiter)

    def _want(self, header: Sequence[str], record: Mapping[str, Any] | None = None) -> None:
        """Choose what is read, by the names in a header or a line of JSON."""
        try:
            self.header, self.wanted = header, self._choose(header, record or {})
        except ValueError as error:
            raise self.error(str(error)) from None

    def _together(self, text: bytes) -> tuple[bytes, Any]:
        """Return a block, and its columns or objects where all are read together."""
        if self.format.name == "jsonl":
            return text, blocks.objects(text)
        header, names, value = self.header, self.wanted.names, self.wanted.value
        # numbers that are ids as well are read twice
        if not names or len({*names}) < len(names) or blocks.pyarrow_csv() is None:
            return text, None
        if self.format.delimiter:
            return text, blocks.read_table(text, self.format.delimiter, header, names, value)
        return text, blocks.read_fields(text, header, names, value)

    def _of_arrow(self, text: bytes, columns: dict[str, Any]) -> Table | None:
        """Return columns of pyarrow as a table; None where Python has to judge a cell."""
        wanted, found = self.wanted, dict(columns)
        if any(blocks.has_empty(columns[name]) for name in wanted.filled):
            return None
        titles = wanted.names[:2] if self.format.delimiter else ()
        maybe = any(name.encode() in text for name in titles)
        if maybe and any(blocks.holds(columns[name], titles) for name in titles):  # a second header
            return None
        if wanted.value is not None:
            found[wanted.value] = blocks.numbers(columns[wanted.value], wanted.rule == "rank")
            if found[wanted.value] is None:
                return None
        return Table({name: Cells(name, one, "text") for name, one in found.items()})

    def _of_records(self, records: list[dict[str, Any]], lines: Sequence[int]) -> Table | None:
        """Return objects with the same keys as a table; None where each has to be judged."""
        try:
            wanted = self._choose([*records[0]], records[0])
        except ValueError:  # it has no line yet
            return None
        names, is_value = wanted.names, wanted.value is not None
        listed = type(records[0][names[1]]) is list
        form = listed, wanted.rule
        if len(names) > 2 + is_value or len(lines) > len(records) or (self._form or form) != form:
            return None
        users, *columns = ([record[name] for record in records] for name in names)
        offsets = None
        if listed:
            if any({*map(type, column)} != {list} for column in columns):
                return None
            lengths = [*map(len, columns[0])]
            if lengths != [*map(len, columns[-1])]:
                return None
            offsets = offsets_of(lengths)
            columns = [[*chain.from_iterable(column)] for column in columns]
        for name, ids in zip(names, (users, columns[0]), strict=False):
            known = {type(self._kinds[name][0])} if name in self._kinds else set[type]()
            kinds = {*map(type, ids)}
            empty = kinds == {str} and not all(ids)
            if len(kinds | known) > 1 or not kinds <= _IDS or empty:
                return None
        twice = len({*users}) < len(users) or not self._lists.keys().isdisjoint(users)
        if listed and twice:
            return None
        cells: list[Any] = columns
        if is_value:
            if not {*map(type, columns[-1])} <= {int, float}:
                return None
            cells[-1] = found = packed(columns[-1])
            if found.dtype == object or (wanted.rule == "rank" and found.dtype.kind == "f"):
                return None
            if len(found) and not -LARGEST <= found.min() <= found.max() <= LARGEST:
                return None
        numbers = _integers(users), _integers(columns[0])
        if any(isinstance(ids, np.ndarray) and ids.dtype == object for ids in numbers):
            return None
        if listed:
            self._lists.update(zip(users, lines, strict=True))
        for name, ids in zip(names, (users, columns[0]), strict=False):
            if ids:
                self._kinds.setdefault(name, (ids[0], lines[0]))
        users, cells[0] = numbers
        self.header, self.wanted, self._form = tuple(records[0]), wanted, form
        table = {names[0]: Cells(names[0], users, "text")}
        for name, column in zip((*names[1:-1], wanted.key or names[-1]), cells, strict=True):
            one = Cells(name, column, "text")
            table[name] = one if offsets is None else Cells(name, one, "lists", offsets=offsets)
        return Table(table)

    def _of_rows(self, rows: list[list[Cell]]) -> Table:
        """Return rows of Python objects as a table."""
        names = [*self.wanted.names]
        columns = [[*column] for column in zip(*rows, strict=True)] or [[] for _ in names]
        cells = {}
        key = self.wanted.key
        if key:
            names[-1] = key
        for name, column in zip(names, columns, strict=True):
            offsets = None
            if column and type(column[0]) is list:
                offsets = offsets_of([len(row) for row in column])
                column = [one for row in column for one in row]
            one = Cells(name, packed(column) if name == key else column, "text")
            cells[name] = one if offsets is None else Cells(name, one, "lists", offsets=offsets)
        return Table(cells)

    def _rows(self, text: bytes) -> Iterator[list[Cell]]:
        """Yield the wanted cells of each row of a block, in Python."""
        lines = self.counted(io.BytesIO(text))
        if self.format.name == "jsonl":
            return self._of_objects(lines)
        if self.format.delimiter:
            return self._of_table(csv_rows(lines, self.format.delimiter))
        return self._of_table(map(self._fields, lines))

    def _fields(self, line: bytes) -> list[str]:
        """Return the fields of a line of TREC."""
        fields = line.split()  # bytes at ASCII white space only, text would be at any
        if len(fields) > len(TREC_RUN) and b"\r" in line.strip():
            # what follows a tag is ignored; this would be a row of its own
            raise self.error("a carriage return within the line: write line ends of one kind")
        return [field.decode() for field in fields]

    def _of_table(self, rows: Iterable[list[str]]) -> Iterator[list[Cell]]:
        """Yield the wanted cells of the rows of a table."""
        header, wanted, titled = self.header, self.wanted, bool(self.format.delimiter)
        width, longer = len(header), header is TREC_RUN  # trec_eval ignores what follows a tag
        places = [header.index(name) for name in wanted.names]
        filled = [(header.index(name), name) for name in wanted.filled]
        titles = (*wanted.names[:2],) if titled else ()
        titled_places = places[: len(titles)]
        for row in rows:
            self.row = self.line
            if not row:
                continue  # a blank line
            if len(row) != width and not (longer and len(row) > width):
                if not titled and row[0].startswith("#"):
                    comment = short(row[0], 60)
                    raise self.error(f"{comment}: TREC files have no comments, remove the line")
                raise self.wrong_width(row, header)
            for place, name in filled:
                if not row[place]:
                    raise self.error(f"empty {short(name)[1:-1]}")
            for place in titled_places:
                if row[place].endswith(titles):  # only such a row may be a second header
                    self.check_no_header(row, header, places)
            cells: list[Cell] = [row[place] for place in places]
            if wanted.value is not None:
                cells[-1] = self._number(cells[-1])
            yield cells

    def _number(self, cell: Any) -> Number:
        """Return the number of a cell; ValueError for what is none."""
        number = self._numbers.get(cell)
        if number is None:
            found = parse(cell) if type(cell) is str else cell
            rule = self.wanted.rule
            if found is None or not -LARGEST <= found <= LARGEST:
                what = "a finite number" if rule == "relevance" else "a number"
                raise self.error(f"{rule} {cell!r:.60} is not {what}{way_out(cell)}")
            if rule == "rank" and type(found) is float:
                if abs(found) > EXACT or not found.is_integer():
                    raise self.error(f"rank {cell!r:.60} is not a whole number")
                found = int(found)
            number = found
            if len(self._numbers) < _KNOWN:
                self._numbers[cell] = number
        return number

    def _of_objects(self, lines: Iterator[bytes]) -> Iterator[list[Cell]]:
        """Yield the wanted cells of lines of JSON, all of one item or all of lists of items."""
        for line in lines:
            self.row = self.line
            text = line.decode().strip(_BLANKS)
            if not text:
                continue
            record, wanted = self._record(text), self.wanted
            listed = bool(wanted.names) and type(record.get(wanted.names[1])) is list
            if self.header != (keys := tuple(record)) or self._form != (listed, wanted.rule):
                self._want(keys, record)
                wanted = self.wanted
                listed = type(record[wanted.names[1]]) is list
                self._form = form = self._form or (listed, wanted.rule)
                if form != (listed, wanted.rule):
                    raise self.error(
                        "unlike the lines before: an item or a list, with the same keys"
                    )
            user: Any
            items: Any
            user, items, *others = [record.get(name) for name in wanted.names]
            self._check_ids(user, items if listed else [items])
            if others and wanted.rule is not None:
                others[-1] = self._values(items, others[-1], listed)
            if len(others) > (wanted.rule is not None):
                if type(others[0]) not in (int, str) or others[0] == "":
                    raise self.error(f"no {short(wanted.names[2])} that names a system")
                others[0] = str(others[0])
                user = others[0], user
            if user in self._lists:
                first = f"in line {self._lists[user]}"
                user = user[1] if type(user) is tuple else user
                raise self.error(f"user {short(user)} has a list already, {first}")
            if listed:
                self._lists[user] = self.line
            yield [user[1] if type(user) is tuple else user, items, *others]

    def _record(self, text: str) -> dict[str, Any]:
        """Return the JSON object of a line."""
        try:
            record = _JSON.decode(text)
        except (ValueError, RecursionError) as error:
            reason = str(error).replace("line 1 column", "column")
            raise self.error(f"not valid JSON: {reason}") from None
        if type(record) is not dict:
            raise self.error(f"not a JSON object: {text!r:.60}")
        return record

    def _check_ids(self, user: Any, items: list[Any]) -> None:
        """Raise ValueError for what is no id, TypeError for an id of another kind than before."""
        kinds = {*map(type, items)}
        if not (type(user) in _IDS and user != "" and kinds <= _IDS and "" not in items):
            raise self._no_id(user, items)
        wide = [one for one in (user, *items) if type(one) is int and not -LIMIT <= one < LIMIT]
        if wide:
            raise self.error(f"{wide[0]} is an id that int64 does not hold: write ids as text")
        if self._kinds_before != (types := (type(user), *kinds)):
            self._check_kinds(self.wanted.names[0], [user])
            self._check_kinds(self.wanted.names[1], items)
            self._kinds_before = types

    def _no_id(self, user: Any, items: list[Any]) -> ValueError:
        for place, one in enumerate((user, *items)):
            if type(one) not in _IDS or one == "":
                if one is None and place and user is not None:
                    missing = f"user {json.dumps(user):.60} has null at place {place}"
                    return self.error(f"{missing}: an item is missing, leave it out")
                break
        return self.error(f"{json.dumps(one):.60} is not an id: use integers or texts")

    def _check_kinds(self, name: str, ids: list[Any]) -> None:
        for kind in {*map(type, ids)}:
            one = next(other for other in ids if type(other) is kind)
            known, first = self._kinds.setdefault(name, (one, self.line))
            if type(known) is not kind:
                unlike = f"unlike line {first}, " if first < self.line else ""
                try:
                    kinds_of([known, one], f"column {name!r}")
                except TypeError as error:
                    facts = {"path": self.path, "line": self.line}
                    place = f"{self.path}:{self.line}: {unlike}"
                    raise about(named(place, error), **facts) from None

    def _values(self, items: Any, values: Any, listed: bool) -> Any:
        """Return the number, or the label of the group, of an item, or a list of such."""
        if listed and (type(values) is not list or len(values) != len(items)):
            raise self.error(f"{self.wanted.rule} must be a list as long as the list of items")
        one = self._label if self.wanted.rule == "group" else self._json_number
        return [one(value) for value in values] if listed else one(values)

    def _json_number(self, value: Any) -> Number:
        # what is no JSON number stays JSON, which is none either
        if type(value) is float and self.wanted.rule != "rank" and -LARGEST <= value <= LARGEST:
            return value
        return self._number(value if type(value) in (int, float) else json.dumps(value))

    def _label(self, value: Any) -> str:
        """Return the label of a group, which is compared as text."""
        if type(value) not in (int, str) or value == "":
            raise self.error(f"{json.dumps(value):.60} names no group: use integers or texts")
        return str(value)


def _joined(cells: Sequence[Cells], rule: str | None) -> Cells:
    """Return the rows of one column of several tables; of numbers, by their rule, as one array."""
    first = cells[0]
    if first.offsets is not None:
        offsets = np.concatenate([np.diff(one.offsets) for one in cells if one.offsets is not None])
        inner = _joined([one.data for one in cells], rule)
        return Cells(first.name, inner, first.kind, offsets=offsets_of(offsets))
    parts = [one.data for one in cells]
    if rule is None and all(isinstance(part, np.ndarray) for part in parts):
        return Cells(first.name, np.concatenate(parts), first.kind)
    if rule is not None:
        return Cells(first.name, in_column(parts, rule), first.kind)
    if len(parts) == 1:
        return first
    if not any(hasattr(part, "null_count") for part in parts):
        return Cells(first.name, [one for part in cells for one in part.objects()], first.kind)
    import pyarrow as pa

    some = [pa.array(part, pa.large_string()) if type(part) is list else part for part in parts]
    return Cells(first.name, pa.concat_arrays(some), first.kind)


def _integers(ids: list[Any]) -> Any:
    """Return ids of JSON of one kind, integers as an array."""
    return packed(ids) if ids and type(ids[0]) is int else ids


def _start_of_last(users: Any) -> int:
    """Return where the rows of the last user begin."""
    n, last, size = len(users), users[-1], 1 << 6
    if isinstance(users, np.ndarray):
        return int(np.append(np.flatnonzero(users != last), -1).max()) + 1
    if isinstance(users, list):
        return next((at + 1 for at in range(n - 2, -1, -1) if users[at] != last), 0)
    from pyarrow import compute

    while True:
        lo = max(0, n - size)
        others = compute.not_equal(users[lo:], last).cast("uint8")  # to_numpy imports pandas
        found = np.flatnonzero(np.from_dlpack(others))
        if len(found) or not lo:
            return lo + int(found[-1]) + 1 if len(found) else 0
        size *= 8


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
