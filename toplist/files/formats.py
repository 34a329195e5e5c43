"""File formats, errors of files, progress, and what a number is in a file of text.

Errors stay short whatever is in a file.

A number is an ASCII sign, ASCII digits, a point and an exponent, spaces or tabs around it.
Whatever else Python reads as a number (``1_0``, full-width and Arabic digits, ``inf``, ``nan``) is
none. Without point and exponent it is an integer, of any size; else a double.
"""

from __future__ import annotations

import codecs
import math
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from toplist.checks import about, choice
from toplist.inputs.factorize import EXACT as EXACT
from toplist.inputs.factorize import by_value
from toplist.inputs.options import FormatName as FormatName
from toplist.results.saved import PathLike as PathLike

ColumnNames = Mapping[str, str] | None  # the file's own names of user_id, item_id, ...
Id = str | int

E = TypeVar("E", bound=Exception)

LONGEST = 1600  # characters of a message, after the name of its file
VALUE = 300  # characters of a list of columns, or of a name


@dataclass(frozen=True)
class FileFormat:
    """A file format; `toplist.files.text` reads text, `toplist.files.tables` Parquet."""

    name: FormatName
    extensions: tuple[str, ...]
    is_text: bool = True  # lines of UTF-8 text, which may be gzipped
    delimiter: str = ""  # of a text table with a header: what separates its columns
    typed_ids: bool = False  # ids are integers or texts; without it every id is text

    @property
    def is_table(self) -> bool:
        """Whether the file has columns of any name."""
        return bool(self.delimiter) or not self.is_text


# A file without a header: by its columns, those that say whose row it is, of what, and its value.
TREC = FileFormat("trec", (".run", ".qrels", ".trec"))
TREC_COLUMNS = {4: ["user_id", "item_id"], 6: ["user_id", "item_id", "score"]}
PARQUET = FileFormat("parquet", (".parquet",), is_text=False, typed_ids=True)
ALL = (
    FileFormat("csv", (".csv",), delimiter=","),
    FileFormat("tsv", (".tsv",), delimiter="\t"),
    FileFormat("jsonl", (".jsonl",), typed_ids=True),
    TREC,
    PARQUET,
)
# Of a side that is in no file.
IN_MEMORY = replace(PARQUET, extensions=())
#: The formats of files by name.
FORMATS = tuple(format.name for format in ALL)
TEXT_IDS = tuple(format.name for format in ALL if not format.typed_ids)
TABLES = tuple(format for format in ALL if format.is_table)
TEXT_TABLES = tuple(format for format in TABLES if format.is_text)


def format_of(path: PathLike) -> FormatName:
    """Return the format that the extension of a file name stands for.

    Examples
    --------
    >>> format_of("recs.csv.gz"), format_of("qrels.trec")
    ('csv', 'trec')
    """
    return find_format(path).name


def find_format(
    path: PathLike, given: str | None = None, way: str = "", valid: Sequence[FileFormat] = ALL
) -> FileFormat:
    """Return the format that is given by name, else the one of the extension, one of the valid.

    `way` is how to give the name, for messages.
    """
    if not isinstance(path, (str, os.PathLike)):
        way_out = " (os.fsdecode makes text of a path in bytes)" if type(path) is bytes else ""
        raise TypeError(f"{path!r:.60} is no path of a file: give text or a Path{way_out}")
    if given is not None:
        choice("format", given, [format.name for format in valid])
        return next(format for format in valid if format.name == given)
    name = os.fspath(path).lower()
    plain = name.removesuffix(".gz")
    extension = os.path.splitext(plain)[1]
    if extension == ".txt" and TREC in valid and os.path.isfile(path):
        try:
            n = len(first_line(path).split())
        except zlib.error as error:
            raise ValueError(f"{os.fspath(path)}: not readable: {error}") from None
        if n in TREC_COLUMNS:  # 6, a run, or 4, qrels
            return TREC
        raise ValueError(
            f"{os.fspath(path)}: a .txt file is of TREC, 6 columns in a run and 4 in qrels, and "
            f"its first line has {n}: name another format by {way or 'format='}"
        )
    for format in valid:
        if extension in format.extensions and (format.is_text or plain == name):
            return format
    if PARQUET in valid and os.path.isdir(path):
        return PARQUET
    text = [ending for format in valid if format.is_text for ending in format.extensions]
    other = [ending for format in valid if not format.is_text for ending in format.extensions]
    endings = ", ".join([*text[:-1], f"{text[-1]} (all of them also .gz)", *other])
    named = ", ".join(format.name for format in valid)
    way_out = f", or name it by {way} (one of {named})" if way else ""
    raise ValueError(f"{os.fspath(path)}: the extension names no format: use {endings}{way_out}")


MOST = 1 << 16  # bytes that are read of a file to see what it is
GZIP = b"\x1f\x8b"  # the first bytes of a packed file, whatever its name


def first_line(path: PathLike) -> bytes:
    """Return the first line of a file, gzipped or not; of a long one the first 64 kB."""
    with open(path, "rb") as file:
        start = file.read(MOST)
    if start.startswith(GZIP):
        start = zlib.decompressobj(zlib.MAX_WBITS + 16).decompress(start, MOST)
    return start.removeprefix(codecs.BOM_UTF8).partition(b"\n")[0]


def table_format(path: PathLike) -> str:
    """Return the extension of a table's file, with ``.gz`` if it has that.

    Examples
    --------
    >>> table_format("log.TSV.gz")
    '.tsv.gz'
    """
    find_format(path, valid=TABLES)
    name = os.fspath(path).lower()
    plain = name.removesuffix(".gz")
    return os.path.splitext(plain)[1] + name[len(plain) :]


def short(value: Any, most: int = VALUE) -> str:
    """Return the repr of a value, cut where it is long.

    Examples
    --------
    >>> short("a" * 1000, 12)
    "'aaaa...aaa'"
    """
    return cut(repr(value), most)


def cut(text: str, most: int) -> str:
    """Return a text, without its middle where it is long."""
    if len(text) <= most:
        return text
    head = (most - 3 + 1) // 2
    return f"{text[:head]}...{text[len(text) - (most - 3 - head) :]}"


def located(kind: type[E], place: str, reason: str) -> E:
    """Return an error that begins with a place; its words are cut to what a person reads."""
    return kind(f"{place}{cut(reason, LONGEST)}")


def named(place: str, error: E) -> E:
    """Return an error with a place before its message, and the message cut."""
    return about(located(type(error), place, str(error)), **vars(error))


def refused(path: str, reason: str) -> ValueError:
    """Return the error of a file as a whole."""
    return about(located(ValueError, f"{path}: ", reason), path=path)


DELAY = 1.0  # seconds: what takes less stays silent


@contextmanager
def bar(title: str, total: int, unit: str, least: int) -> Iterator[Callable[[int], object] | None]:
    """Show how much of `total` is done; yields the function to call with every advance.

    Yields None where nothing is shown: the work is under `least`, standard error is neither a
    terminal nor a notebook, or tqdm is not installed. A notebook has a line of text as well:
    widgets need more libraries, and warn where they are missing.
    """
    in_notebook = type(sys.stderr).__module__.startswith("ipykernel.")
    if total < least or not (in_notebook or getattr(sys.stderr, "isatty", bool)()):
        yield None
        return
    try:
        from tqdm import tqdm
    except ImportError:
        yield None
        return
    with tqdm(
        desc=title, total=total, unit=unit, unit_scale=True, delay=DELAY, leave=False
    ) as shown:
        yield shown.update


Number = int | float

LARGEST = sys.float_info.max

# What Python reads as a number, and is written with these characters alone, is one.
_FOREIGN = re.compile(r"[^0-9+\-.eE \t]")
_foreign = _FOREIGN.search


def parse(text: str) -> Number | None:
    """Return the number that a text is by the rule, None for another text; 1e999 is infinite.

    Examples
    --------
    >>> parse("17"), parse(" -1.5e3 "), parse("1_7"), parse("inf")
    (17, -1500.0, None, None)
    """
    if _foreign(text):
        return None
    whole = not ("." in text or "e" in text or "E" in text)
    try:
        return int(text) if whole else float(text)
    except ValueError:
        return None


def way_out(value: Any) -> str:
    """Return what a message adds for what Python takes for a number and the rule does not.

    Examples
    --------
    >>> way_out("1_0"), way_out("ten")
    (': write ASCII digits, as in 12, -0.5 or 1e-3', '')
    """
    try:
        looks = isinstance(value, str) and math.isfinite(float(value)) and parse(value) is None
    except ValueError:
        return ""
    return ": write ASCII digits, as in 12, -0.5 or 1e-3" if looks else ""


def packed(values: Sequence[Number]) -> NDArray[Any]:
    """Return numbers as int64 or float64 where none loses a digit by it, else as objects.

    Examples
    --------
    >>> [packed(some).dtype.name for some in ([1, 2**60], [1, 0.5], [2**60, 0.5], [2**70])]
    ['int64', 'float64', 'object', 'object']
    """
    found = by_value(values, exact=True)
    if found is None or found.dtype.kind not in "if":
        found = np.empty(len(values), object)
        found[:] = values
    return found


def together(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return `packed` parts as one array that holds every number exactly.

    Examples
    --------
    >>> together([packed([2**53 + 1]), packed([0.5])]).tolist(), together([packed([7])]).dtype.name
    ([9007199254740993, 0.5], 'int64')
    """
    if len({part.dtype for part in parts}) == 1:
        return np.concatenate(parts)
    return packed([*chain.from_iterable(part.tolist() for part in parts)])
