"""Rows ``(user, item, value)`` of CSV, TSV, JSONL and TREC files, gzipped or not.

Every text format is one stream of rows, the value a rank, a score or a relevance; the rest is the
same for all. What cannot be read is a `ValueError` of one line.
"""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, NamedTuple, NoReturn

from toplist.checks import OptionRef, header_hint, no_columns
from toplist.files.errors import short
from toplist.files.formats import ColumnNames, FileFormat, Id, PathLike
from toplist.files.lines import JSON_LINE, LINE, TextFile, csv_rows, row_blocks
from toplist.files.numbers import EXACT, LARGEST, Number, parse, way_out
from toplist.inputs.grades import check_ignored
from toplist.inputs.options import COLUMNS, GROUP, named_in, renamed
from toplist.inputs.tables import check_no_grades
from toplist.inputs.texts import Texts, joined

_KNOWN = 1 << 12  # texts whose numbers are remembered

# A TREC file is a table without a header; like trec_eval, nothing reads the rank of a run.
_TREC_COLUMNS = {"user_id": "qid", "item_id": "docno", "relevance": "rel"}
# What their second field is called, where it names groups.
_ITERATION = "iteration"
TREC_RUN = ("qid", "Q0", "docno", "(rank)", "score", "tag")
TREC_QRELS = ("qid", "0", "docno", "rel")

Row = tuple[Id, Id | None, Number]  # an item of None: a user without items
RawRow = tuple[Id, Id | None, Any]


class Valid(NamedTuple):
    """The numbers that a column may hold, and how a message describes them; all are finite."""

    lowest: float
    highest: float
    text: str


NUMBER = Valid(-LARGEST, LARGEST, "a number")
FINITE = Valid(-LARGEST, LARGEST, "a finite number")


class RowSource(TextFile):
    """A text file of users and items being read: its columns, and which of them has the values."""

    def __init__(
        self, path: PathLike, format: FileFormat, columns: ColumnNames, *candidates: str
    ) -> None:
        super().__init__(path, JSON_LINE if format.name == "jsonl" else LINE)
        self.format = format
        own = columns or {}
        self.names = renamed(columns, (*COLUMNS, GROUP))
        if format.name == "trec":
            if own.get(GROUP, _ITERATION) != _ITERATION:
                raise ValueError(
                    f"columns: groups of TREC qrels are in their second field: write "
                    f"{GROUP!r}: {_ITERATION!r}, not {own[GROUP]!r}"
                )
            own = {**_TREC_COLUMNS, GROUP: TREC_QRELS[1]}
            self.names = renamed(own, (*COLUMNS, GROUP))
        self._named = self.names
        self._header: tuple[str, ...] = ()  # by which `names` are those of the file
        self.needed = ["user_id", "item_id", *(name for name in candidates if name in own)]
        self.candidates = candidates  # for the values; the first that is found has them
        self.system: str | None = None  # a column of systems: users are pairs of system and user
        self.value: str | None = None
        self.labels = Texts()  # of groups
        self._known_labels: dict[str, float] = {}

    @property
    def _is_truth(self) -> bool:
        return bool({"relevance", GROUP} & {*self.candidates})

    @property
    def trec_header(self) -> tuple[str, ...]:
        """What the fields of a line of TREC are called."""
        return TREC_QRELS if self._is_truth else TREC_RUN

    def label(self, value: Any) -> float:
        """Return the number of a group, whose label is compared as text."""
        text = str(value)
        if text not in self._known_labels:
            if type(value) not in (int, str) or not text:
                raise self.error(f"{json.dumps(value):.60} names no group: use integers or texts")
            self._known_labels[text] = float(self.labels.encode(joined([text]))[0])
        return self._known_labels[text]

    def choose(self, found: Collection[str], *, optional: bool = False) -> str | None:
        """Return the column that has the values, once the columns found are checked."""
        if self._header != (header := (*found,)):
            side = "ground_truths" if self._is_truth else "ranks"
            self.names, self._header = named_in(self._named, header, side), header
        if GROUP in self.candidates and self.format.name != "trec":
            self._check(check_no_grades, "ground_truths", found, self.names)
        missing = [name for name in self.needed if self.names[name] not in found]
        value = next((name for name in self.candidates if self.names[name] in found), None)
        unranked = value is None and "rank" in self.candidates and not optional
        reason: tuple[str | OptionRef, ...]
        if missing:
            absent = no_columns([short(self.names[name]) for name in missing])
            absent += header_hint([self.names[name] for name in missing], found)
            # in JSONL an item_id of another name may be a whole list, which needs no rank
            known = bool(self.format.delimiter) or "item_id" not in missing
            if unranked and known and not {*missing} & {*self.candidates}:
                missing.append("rank")
                absent += ", neither rank nor score"
            other = OptionRef("columns", dict.fromkeys(missing, "NAME"))
            reason = f"{absent}, ", other, f" names {'others' if len(missing) > 1 else 'another'}"
        elif unranked:
            as_is = OptionRef("order", "file")
            hint = header_hint([self.names[name] for name in ("rank", "score")], found)
            reason = f"neither rank nor score{hint}, ", as_is, " takes the items as they come"
        else:
            if value is None and self._is_truth:
                self._check(check_ignored, found, self.names)
            return value
        raise self.error(*reason, f"; columns found: {short([*found])}")

    def _check(self, check: Callable[..., None], *given: Any) -> None:
        """Call what checks the columns; its error gets the line of the header."""
        try:
            check(*given)
        except ValueError as error:
            raise self.error(*getattr(error, "parts", error.args)) from None

    def admitted(self, number: Number | None, value: Any, valid: Valid) -> Number:
        """Return the number of a cell; ValueError unless it is valid, and a rank whole."""
        if number is None or not valid.lowest <= number <= valid.highest:
            raise self.error(f"{self.value} {value!r:.60} is not {valid.text}{way_out(value)}")
        if self.value == "rank" and type(number) is float:
            if abs(number) > EXACT or not number.is_integer():
                raise self.error(f"{self.value} {value!r:.60} is not a whole number")
            return int(number)
        return number


def rows_of_lines(source: RowSource, lines: Iterator[bytes]) -> Iterator[RawRow]:
    """Read the lines of a file of any text format."""
    return _READERS.get(source.format.name, _csv_rows)(source, lines)


def lines_of_user(source: RowSource, user: Any, item: Any = None) -> Iterator[int]:
    """Yield the lines in which rows of a user begin, or hold an item: for messages.

    The file is read again by the plain reader, but for blocks without the name; nothing is found in
    a pipe. Ids are compared as text, as they are where the other file holds text.
    """
    if not os.path.isfile(source.path):
        return
    source, name = copy(source), str(user)
    # what stands in a file as it is: not in quotes, nor with escapes of JSON
    plain = name.encode() if name.isascii() and name.replace("-", "a").isalnum() else b""
    is_before = False
    with suppress(ValueError), source.stream() as (stream, _):
        blocks = row_blocks(stream, source.longest, source.format.delimiter)
        for one, other, _ in rows_of_lines(source, _lines_with(source, blocks, plain)):
            is_user = str(one) == name
            if is_user and (not is_before if item is None else str(other) == str(item)):
                yield source.line
            is_before = is_user


def lines_of_kinds(source: RowSource, column: str) -> list[int]:
    """Return the lines of the first ids of either kind, integers and text; read again."""
    source, found = copy(source), dict[type, int]()
    with suppress(ValueError, OSError), source.opened() as lines:
        for user, item, _ in rows_of_lines(source, lines):
            one: Any = user if column == "user_id" else item
            one = one[1] if isinstance(one, tuple) else one  # of a system
            if one is not None:
                found.setdefault(type(one), source.line)
            if len(found) > 1:
                break
    return [*found.values()]


def _lines_with(source: RowSource, blocks: Iterator[bytes], name: bytes) -> Iterator[bytes]:
    """Yield the lines of blocks with a name, and of the first, which may have the header."""
    for number, text in enumerate(blocks):
        if number == 0 or name in text:
            yield from source.counted(io.BytesIO(text))
        else:
            source.skip(text.count(b"\n"))


def numbered(source: RowSource, valid: Valid, cells: Iterable[RawRow]) -> Iterator[Row]:
    """Read the values of rows as numbers."""
    known: dict[Any, Number] = {}  # ranks and grades come again and again
    lowest, highest, _ = valid
    is_rank = True  # as long as the column is not known
    for user, item, value in cells:
        number = known.get(value)
        if number is None:
            number = parse(value) if type(value) is str else value
            if type(number) is not float or not lowest <= number <= highest or is_rank:
                is_rank = source.value == "rank"
                number = 0.0 if item is None else source.admitted(number, value, valid)
            if len(known) < _KNOWN:
                known[value] = number
        yield user, item, number


def _csv_rows(source: RowSource, lines: Iterator[bytes]) -> Iterator[RawRow]:
    table = csv_rows(lines, source.format.delimiter)
    for header in filter(None, table):  # the first line; the rows take the rest
        source.row = source.line
        yield from table_rows(source, header, table)


def trec_rows(
    source: RowSource, lines: Iterator[bytes], tags: dict[str, tuple[str, int]] | None = None
) -> Iterator[RawRow]:
    """Yield query, document and value of the rows of a run or of qrels.

    `tags` are those of the queries that were read before, and the line of each if it is known.
    """
    header = source.trec_header
    # bytes are split at ASCII white space only, text would be at any
    table: Iterator[list[str]] = (
        [field.decode() for field in _fields_of(source, line)] for line in lines
    )
    if header is TREC_RUN:
        table = _one_run(source, table, {} if tags is None else tags)
    if GROUP in source.candidates:
        return _groups_of_qrels(source, table)
    return table_rows(source, header, table)


def _groups_of_qrels(source: RowSource, table: Iterator[list[str]]) -> Iterator[RawRow]:
    """Yield query, document and group; a query without the document where the grade is below 1."""
    grade = ""

    def noted() -> Iterator[list[str]]:
        nonlocal grade
        for row in table:
            grade = row[-1]
            yield row

    for user, item, group in table_rows(source, TREC_QRELS, noted()):
        number = parse(grade)
        if number is None or not math.isfinite(number):
            raise source.error(f"relevance {grade!r:.60} is not a finite number")
        yield (user, item, group) if number >= 1 else (user, None, 0.0)


def _one_run(
    source: RowSource, table: Iterator[list[str]], tags: dict[str, tuple[str, int]]
) -> Iterator[list[str]]:
    """Yield the rows of a run; ValueError for a query with two tags: two runs, one file."""
    query, tag = TREC_RUN.index("qid"), TREC_RUN.index("tag")
    for row in table:
        if len(row) > tag:
            known, line = tags.setdefault(row[query], (row[tag], source.line))
            if known != row[tag]:
                line = line or next(lines_of_user(source, row[query]), 0)
                first = f" (line {line})" if line else ""
                raise source.error(
                    f"query {short(row[query])} has the tags {short(known)}{first} and "
                    f"{short(row[tag])}: a file holds one run, evaluate two runs from two files"
                )
        yield row


def _fields_of(source: RowSource, line: bytes) -> list[bytes]:
    fields = line.split()
    if len(fields) > len(TREC_RUN) and b"\r" in line.strip():
        # what follows a tag is ignored; this would be a row of its own
        raise source.error("a carriage return within the line: write line ends of one kind")
    return fields


def table_rows(
    source: RowSource, header: Sequence[str], rows: Iterable[list[str]]
) -> Iterator[RawRow]:
    """Yield user, item and value of the rows of a table, as they are written."""
    source.value = source.choose(header)
    used = [source.names[name] for name in ("user_id", "item_id", source.value) if name]
    places = user, item, *rest = [source.place(name, header) for name in used]
    longer = header is TREC_RUN  # what follows the tag is ignored, as trec_eval does
    titled = bool(source.format.delimiter)
    titles = used[:2] if titled else []  # only a row with one of them may be a second header
    value, width = rest[0] if rest else None, len(header)
    is_group = source.value == GROUP
    system = None if source.system is None else source.place(source.system, header)
    for row in rows:
        source.row = source.line
        n = len(row)
        fits = n == width or (longer and n > width)
        if fits and (one := row[user]) and (other := row[item]):
            if one in titles or other in titles:
                source.check_no_header(row, header, places)
            whose: Any = one
            if system is not None:
                whose = row[system], one
                if not row[system]:
                    raise source.error(f"empty {short(source.system)[1:-1]}")
            if is_group:
                yield whose, other, source.label(row[rest[0]])
            else:
                yield whose, other, 1.0 if value is None else row[value]
        elif fits:
            raise source.error(f"empty {short(used[1] if row[user] else used[0])[1:-1]}")
        elif row and not titled and row[0].startswith("#"):
            raise source.error(f"{short(row[0], 60)}: TREC files have no comments, remove the line")
        elif row:  # not a blank line
            raise source.wrong_width(row, header)


@dataclass
class Objects:
    """What was seen in the lines of a JSONL file: their one form, and the users with a list.

    A form is whether items are in lists, and what the values are; each user comes with the line of
    the list, or 0.
    """

    forms: set[tuple[bool, str | None]] = field(default_factory=set)
    lists: dict[Id, int] = field(default_factory=dict)


def object_rows(
    source: RowSource, lines: Iterator[bytes], seen: Objects | None = None
) -> Iterator[RawRow]:
    """Yield user, item and value of the rows of JSONL; `seen` is what stands before."""
    seen = Objects() if seen is None else seen
    forms, listed = seen.forms, seen.lists
    for line in lines:
        source.row = source.line
        text = line.decode().strip(_JSON_BLANKS)
        if not text:
            continue
        record = record_of(source, text)
        is_list = type(record.get(source.names["item_id"])) is list
        source.value = source.choose(record, optional=is_list)
        forms.add((is_list, source.value))
        if len(forms) > 1:
            raise source.error("unlike the lines before: an item or a list, with the same keys")
        user: Any
        user, items, values = _fields(source, record, is_list)
        if source.system is not None:
            name = record.get(source.system)
            if type(name) not in (int, str) or name == "":
                raise source.error(f"no {short(source.system)} that names a system")
            user = str(name), user
        if user in listed:
            line_of = listed[user] or next(lines_of_user(source, user), 0)
            raise source.error(f"user {short(user)} has a list already, in line {line_of}")
        if is_list:
            listed[user] = source.line
        yield from zip(repeat(user), items or (None,), values or (None,), strict=False)


def record_of(source: RowSource, text: str) -> dict[str, Any]:
    """Return the JSON object of a line."""
    try:
        record = _JSON.decode(text)
    except (ValueError, RecursionError) as error:
        reason = str(error).replace("line 1 column", "column")
        raise source.error(f"not valid JSON: {reason}") from None
    if type(record) is not dict:
        raise source.error(f"not a JSON object: {text!r:.60}")
    return record


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


_JSON_BLANKS = " \t\n\r"
_JSON = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)
JSON = json.JSONDecoder(parse_constant=_constant)  # twice as fast: a key twice is not seen


def _fields(
    source: RowSource, record: dict[str, Any], is_list: bool
) -> tuple[Id, list[Id], list[Any]]:
    """Return the user of a record, the items and a value for each of them."""
    user, items = record[source.names["user_id"]], record[source.names["item_id"]]
    values = record[source.names[source.value]] if source.value else 1.0
    if not is_list:
        items, values = [items], [values]
    elif source.value is None:
        values = [values] * len(items)
    elif type(values) is not list or len(values) != len(items):
        raise source.error(f"{source.value} must be a list as long as the list of items")
    for place, one in enumerate((user, *items)):
        if type(one) not in (int, str) or one == "":
            if one is None and place and user is not None:
                missing = f"user {json.dumps(user):.60} has null at place {place}"
                raise source.error(f"{missing}: an item is missing, leave it out")
            raise source.error(f"{json.dumps(one):.60} is not an id: use integers or texts")
    if source.value == GROUP:
        return user, items, list(map(source.label, values))
    # what is no JSON number stays JSON, which float() refuses
    return user, items, [v if type(v) in (int, float) else json.dumps(v) for v in values]


# Formats with a reader of their own; the others are tables with a header.
_READERS: dict[str, Callable[[RowSource, Iterator[bytes]], Iterator[RawRow]]] = {
    "jsonl": object_rows,
    "trec": trec_rows,
}
