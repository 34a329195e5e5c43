"""Lines of JSON as tables: an object of one item, or of a list of items, in each line.

pyarrow reads blocks of lines whose keys have the same kinds of values as in the first line. All
else is read by Python's json, or judged: see `toplist.files.text`.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, NoReturn

import numpy as np

from toplist.checks import Ints, about, optional
from toplist.files.formats import FileFormat, PathLike, named, packed, short
from toplist.files.text import Line, TextTables, exact, holds, n_lines
from toplist.inputs.columns import Table
from toplist.inputs.ids import kinds_of
from toplist.inputs.lists import offsets_of

UNLIKE = "unlike the lines before: an item or a list, with the same keys"
_IDS = {int, str}
_KINDS = {"large_string": str, "int64": int, "double": float}  # of Arrow


def text_tables(path: PathLike, format: FileFormat, *how: Any) -> TextTables:
    """Return a text file of any format, being read in tables, as `TextTables` takes it."""
    return (JsonTables if format.name == "jsonl" else TextTables)(path, format, *how)


class JsonTables(TextTables):
    """A file of lines of JSON, being read in tables, which know the line of each row."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._form: Any = None  # of the lines: whether they hold lists, and the rule
        self._kinds: dict[str, tuple[Any, int]] = {}  # an id of each column, and its line

    def _together(self, text: bytes) -> tuple[bytes, Any]:
        """Return a block, and its objects where all are read together."""
        return text, _objects(text)

    def _rows(self, text: bytes) -> tuple[list[Any], Sequence[int]]:
        """Return the JSON objects of lines, and the line of each."""
        records = _plain_objects(text)
        if records is not None:
            self.line = self.row = self.line + len(records)
            return records, range(self.line - len(records) + 1, self.line + 1)
        records, lines = [], list[int]()
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

    def _of_columns(self, found: Any, lines: Ints) -> Table | None:
        """Return what was read together as a table; None for what Python has to judge."""
        first, table, _ = found
        self._want_of([first], [int(lines[0])])
        names, (listed, rule) = self.wanted.names, self._form
        columns, offsets = [table.column(name).chunk(0) for name in names], None
        if len({*names}) < len(names):
            return None
        for place in ({1, len(names) - 1} if rule else {1}) if listed else ():
            column, before = columns[place], offsets
            if column.null_count or not str(column.type).startswith("list"):
                return None
            columns[place] = column.values
            offsets = np.from_dlpack(column.offsets).astype(np.int64)
            if before is not None and not np.array_equal(before, offsets):
                return None
        read = [self._of_arrow(*one, first, lines) for one in zip(names, columns, strict=True)]
        return None if any(one is None for one in read) else self._named(read, lines, offsets)

    def _of_arrow(self, name: str, column: Any, first: dict[str, Any], lines: Ints) -> Any:
        """Return a column that was read from objects; None for what Python has to judge."""
        kind = _KINDS.get(str(column.type))
        if column.null_count or kind is None:
            return None
        if name == self.wanted.value:
            return None if kind is str else exact(column, self.wanted.rule == "rank")
        if name in self.wanted.names[:2]:
            example = first[name][0] if type(first[name]) is list else first[name]
            known, _ = self._kinds.setdefault(name, (example, int(lines[0])))
            if type(known) is kind is int:
                return np.from_dlpack(column)
            if type(known) is not kind:
                return None
        return None if kind is not str or holds(column, [""]) else column

    def _want_of(self, records: Sequence[dict[str, Any]], lines: Sequence[int]) -> None:
        """Choose what is read of objects, which are all of one item, or all of lists."""
        last, forms = self.line, set[tuple[str, ...]]()
        if len({*map(tuple, records)}) == 1:  # all have the same keys
            records, lines = records[:1], lines[:1]
        for record, line in zip(records, lines, strict=True):
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

    def _of_rows(self, records: list[Any], lines: Sequence[int]) -> Table:
        """Return objects as a table, once each is checked."""
        if not records:
            return Table({})
        self._want_of(records, lines)
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


def _objects(text: bytes) -> tuple[dict[str, Any], Any, int] | None:
    """Return the first object of lines of JSON, all as an Arrow table, and how many there are.

    None if a line is not one object, or holds what the first one does not, and without pyarrow.
    """
    try:
        pa = optional("pyarrow", "", "io", "json")
        first = _JSON.decode(text.partition(b"\n")[0].decode().strip(_BLANKS))
        schema = pa.schema([(name, _type_in_arrow(pa, value)) for name, value in first.items()])
        if not text.isascii():
            text.decode()
        plain = text.replace(b"\r\n", b"\n") if b"\r" in text else text
        n, between = n_lines(plain), plain.count(b"}\n{")
        found = pa.json.read_json(
            pa.BufferReader(plain),
            pa.json.ReadOptions(use_threads=False, block_size=len(plain) + 1),
            pa.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error"),
        )
    except (ImportError, ValueError, AttributeError, KeyError, RecursionError, NotImplementedError):
        return None
    return (first, found, n) if len(found) == n == between + 1 else None


def _plain_objects(text: bytes) -> list[Any] | None:
    """Return the objects of lines of JSON, decoded together; None if a line is not plain.

    A plain line is one object without another in it, and without a colon or a brace in its texts.
    That none has a key twice is seen by the number of colons.
    """
    n = n_lines(text)
    braces = text.count(b"{"), text.count(b"}"), text.count(b"}\n{") + 1
    if braces != (n, n, n) or not text.startswith(b"{"):
        return None
    try:
        found: list[Any] = _PLAIN.decode(f"[{text.decode()}]".replace("}\n{", "},\n{"))
    except (ValueError, RecursionError):
        return None
    return found if len(found) == n and sum(map(len, found)) == text.count(b":") else None


def _type_in_arrow(pa: Any, value: Any) -> Any:
    """Return the type of a value of JSON; KeyError for an object."""
    if type(value) is list:
        return pa.list_(_type_in_arrow(pa, value[0] if value else None))
    types = {str: pa.large_string, int: pa.int64, float: pa.float64, bool: pa.bool_}
    return {**types, type(None): pa.null}[type(value)]()


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; ValueError for a key that is there twice, of which one is lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
        raise ValueError(f"the key {short(twice)} twice in an object")
    return found


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


_BLANKS = " \t\n\r"
_PLAIN = json.JSONDecoder(parse_constant=_constant)  # a key twice is not seen
_JSON = json.JSONDecoder(object_pairs_hook=unique, parse_constant=_constant)
