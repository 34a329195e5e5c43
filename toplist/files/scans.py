"""The cells of a block of text, found by compiled code; None where only a reader of rows can judge.

That is where a quote is within a cell, a line end within quotes, a lone carriage return, NUL, a row
of another width, an empty id, a number written in an odd way; in JSON also an escape, another
order of keys, or other blanks than in the first line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.files.numbers import EXACT, parse
from toplist.files.text import TREC_RUN, Source, record_of
from toplist.files.text_ids import Cells
from toplist.inputs.lists import offsets_of

Ints = NDArray[np.int64]
Places = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Block:
    """The cells of a block."""

    ids: list[Cells]  # of users, items and, in runs of TREC, tags
    values: NDArray[Any] | None
    lines: Ints  # counted from the first of the block
    n_lines: int
    is_text: tuple[bool, ...] = (True, True, True)  # of the ids; else they are integers
    offsets: Ints | None = None  # of lists of items and values, one for each line


Scan = Callable[[bytes], Block | None]
# Fills where cells begin and end, and their lines; returns the number of rows, or -1.
_Find = Callable[[NDArray[np.uint8], Places, Places, Ints], int]


def of_table(source: Source, header: Sequence[str]) -> Scan:
    """Return the scan of a CSV, TSV or TREC file with the columns of a header."""
    wanted = [source.names[name] for name in ("user_id", "item_id", source.value) if name]
    wanted += ["tag"] * (header is TREC_RUN)
    places = [source.place(name, header) for name in wanted]
    value = None if source.value is None else 2
    if source.format.delimiter:
        return of_columns(source.format.delimiter, len(header), places, value)

    def find(text: Any, *found: Any) -> int:
        from toplist.kernels import cells

        rows = _rows_of(places, len(header))
        return int(cells.scan_fields(text, len(header), header is TREC_RUN, rows, 1, *found))

    return partial(_scanned, find, len(wanted), value)


def of_columns(delimiter: str, width: int, places: Sequence[int], value: int | None = None) -> Scan:
    """Return the scan of some columns of a CSV or TSV file; `value` is that of the values."""
    rows = _rows_of(places, width)

    def find(text: Any, *found: Any) -> int:
        from toplist.kernels import cells

        return int(cells.scan_table(text, ord(delimiter), rows, 1, *found))

    return partial(_scanned, find, len(places), value)


def _rows_of(places: Sequence[int], width: int) -> Ints:
    """Return the row of cells that each of `width` columns fills, or -1."""
    rows = np.full(width, -1)
    rows[list(places)] = np.arange(len(places))
    return rows


def of_objects(source: Source, line: bytes) -> tuple[Scan, bool] | None:
    """Return the scan of a JSONL file whose lines are like a first one, and whether they are lists.

    None if that line is odd. The scan wants the bytes between the values to be the same in all.
    """
    parts = _PLAIN_VALUE.split(line.decode().strip(" \t\r\n"))
    between, values = parts[::2], parts[1::2]
    keys = [_KEY.search(text) for text in between[:-1]]
    if not all(keys) or between[-1].strip(" ") != "}":
        return None
    names = [json.loads(key[1]) for key in keys if key]
    wanted = [source.names[name] for name in ("user_id", "item_id", source.value) if name]
    if [*record_of(source, line.decode())] != names or not set(wanted) <= set(names):
        return None
    kinds = [2 * (text[0] == "[") + ('"' in text) for text in values]
    user, *rest = (kinds[names.index(name)] for name in wanted)
    are_lists = rest[0] > 1
    if user > 1 or "[]" in values or rest[1:] not in ([], [2 * are_lists]):
        return None
    parts = [*zip(*_parts(between, kinds), strict=True)]

    def find(text: Any, *found: Any) -> int:
        from toplist.kernels import cells

        return int(cells.scan_objects(text, *parts, 1, *found))

    places = [names.index(name) for name in wanted]
    is_text = bool(user), bool(rest[0] & 1)
    return partial(_scanned_objects, find, kinds, places, is_text), are_lists


def _parts(between: Sequence[str], kinds: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield the kind of every part of a line, and the word and the size of a literal."""
    from toplist.kernels import cells

    closing = ""
    for text, kind in zip_longest(between, kinds):
        opening = _QUOTES.get(kind, "")
        literal = (closing + text + opening[:1]).encode()
        for at in range(0, len(literal), 8):
            piece = literal[at : at + 8]
            yield cells.LITERAL, int.from_bytes(piece, "little"), len(piece)
        if kind is not None:
            yield kind, 0, 0
        closing = opening[1:]


_QUOTES = {1: '""', 2: "[]", 3: "[]"}  # around the values of a kind
# A number, a string without escapes, or a list of these, where a value of JSON is.
_SCALAR = r'(?:-?[0-9][0-9.eE+-]*|"[^"\\]*")'
_PLAIN_VALUE = re.compile(
    rf"(?:(?<=:)|(?<=: ))({_SCALAR}|\[ *(?:{_SCALAR}(?: *, *{_SCALAR})* *)?\])(?= *[,}}])"
)
_KEY = re.compile(r'("[^"\\]*") *: ?\Z')


def _scanned(find: _Find, n_wanted: int, value: int | None, text: bytes) -> Block | None:
    """Find the cells of a block; `value` is the row of the values."""
    data = np.frombuffer(text, np.uint8)
    most = text.count(b"\n") + (not text.endswith(b"\n"))
    starts, ends = np.empty((2, n_wanted, most), np.int32)
    lines = np.empty(most, np.int64)
    n = find(data, starts, ends, lines)
    if n < 0 or not (text.isascii() or _is_utf8(text)):
        return None
    starts, ends = starts[:, :n], ends[:, :n]
    values = None
    if value is not None:
        values = _numbers(data, starts[value], ends[value])
        if values is None:
            return None
        starts, ends = np.delete(starts, value, 0), np.delete(ends, value, 0)
    ids = [Cells.read(data, *column) for column in zip(starts, ends, strict=True)]
    return Block(ids, values, lines[:n], most)


def _scanned_objects(
    find: Callable[..., int],
    kinds: Sequence[int],
    places: Sequence[int],
    is_text: tuple[bool, ...],
    text: bytes,
) -> Block | None:
    """Find the values of a block of objects; `places` are those of the wanted ones."""
    data = np.frombuffer(text, np.uint8)
    n_lines = text.count(b"\n") + (not text.endswith(b"\n"))
    starts, ends = np.empty((2, len(kinds), n_lines), np.int32)
    lines = np.empty(n_lines, np.int64)
    n = find(data, starts, ends, lines)
    if n < 0 or not (text.isascii() or _is_utf8(text)):
        return None
    most = n + text.count(b",")  # elements of lists
    spans = zip(kinds, starts[:, :n], ends[:, :n], strict=True)
    found = [one for span in spans if (one := _elements(data, most, *span))]
    if len(found) < len(kinds):
        return None
    user, item, *value = (found[place] for place in places)
    counts = item[2]
    if value and not np.array_equal(counts, value[0][2]):
        return None
    values = _numbers(data, *value[0][:2]) if value else None
    if value and values is None:
        return None
    ids = [Cells.read(data, *place[:2]) for place in (user, item)]
    if any(len(cells.others) and not text for cells, text in zip(ids, is_text, strict=True)):
        return None
    offsets = offsets_of(counts) if kinds[places[1]] > 1 else None
    return Block(ids, values, lines[:n], n_lines, is_text, offsets)


def _elements(
    text: NDArray[np.uint8], most: int, kind: int, starts: Places, ends: Places
) -> tuple[Places, Places, Ints] | None:
    """Return where the values of a kind or, if it is one of lists, their elements begin and end.

    And how many elements each has. None for a list that is odd.
    """
    if kind < 2:
        return starts, ends, np.ones(len(starts), np.int64)
    from toplist.kernels import cells

    firsts, lasts = np.empty((2, most), np.int32)
    counts = np.empty(len(starts), np.int64)
    n = cells.scan_elements(text, kind == 3, starts, ends, firsts, lasts, counts)
    return (firsts[:n], lasts[:n], counts) if n >= 0 else None


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _numbers(text: NDArray[np.uint8], starts: Places, ends: Places) -> NDArray[Any] | None:
    """Return cells as int64 or float64; None if one is no number, or both types are needed."""
    from toplist.kernels import cells

    whole = np.empty(len(starts), np.int64)
    cells.integers(text, starts, ends, whole)
    if whole.min(initial=0) != cells.OTHER:
        return whole
    rest = np.flatnonzero(whole == cells.OTHER)
    if len(rest) < len(whole) and np.abs(np.delete(whole, rest)).max() > EXACT:
        return None
    found, left = whole.astype(np.float64), np.empty_like(rest)
    n_left = cells.decimals(text, starts, ends, rest, found, left)
    for cell in left[:n_left].tolist():  # of more digits than an integer holds
        number = parse(text[starts[cell] : ends[cell]].tobytes().decode())
        if type(number) is not float:
            return None
        found[cell] = number
    return found
