"""Ranked lists and ground truths from files, as dicts; texts written whole or not at all."""

from __future__ import annotations

import gzip
import os
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from toplist import files
from toplist.files import parquet
from toplist.files.text import FINITE, GRADE, NUMBER, Columns, Format, Id, PathLike, Source, rows
from toplist.files.text import FORMATS as FORMATS
from toplist.files.text import format_of as format_of
from toplist.inputs import tables
from toplist.inputs.factorize import textual
from toplist.inputs.keyed import Keyed
from toplist.inputs.options import COLUMNS as COLUMNS
from toplist.inputs.options import renamed
from toplist.inputs.tables import Table

Group = tuple[Id, list[Id], list[float]]


def read_ranks(
    path: PathLike, *, format: Format = None, columns: Columns = None, order: str | None = None
) -> dict[Id, list[Id]]:
    r"""Read the ranked list of every user, best item first; users as they first appear.

    A rank, 1..n for each user, decides the order; without one the score, descending, ties in
    file order (in a TREC run by document id, descending); ``order="file"`` takes the items as
    they come. ``format`` is csv, tsv, jsonl or trec, by default what the extension says;
    ``columns`` gives the file's own names of ``user_id``, ``item_id``, ``rank`` and ``score``
    (TREC columns have none). A file that ends in ``.gz`` is unpacked.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/lists.csv", "user_id,item_id,rank\nann,tea,2\nann,jam,1\n")
    ...     read_ranks(f"{folder}/lists.csv")
    {'ann': ['jam', 'tea']}
    """
    if order not in (None, "file"):
        raise ValueError(f"order {order!r} is not valid: 'file', or None for rank or score")
    source = Source(path, format, columns, *(() if order else ("rank", "score")))
    return {user: items for user, items, _ in _groups(source, *NUMBER)}


def read_truths(
    path: PathLike, *, format: Format = None, columns: Columns = None
) -> dict[Id, set[Id]] | dict[Id, dict[Id, float]]:
    r"""Read the relevant items of every user; users as they first appear.

    The parameters are those of `read_ranks`. Truths are sets, or dicts item to grade if there
    is a ``relevance`` column. A TREC file is read as qrels: relevance below 1 is not relevant,
    a query without a relevant document is a user with an empty truth, and truths are dicts only
    if some relevant grade is not 1.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/test.qrels", "q1 0 d7 1\nq1 0 d8 0\nq2 0 d7 0\n")
    ...     read_truths(f"{folder}/test.qrels")
    {'q1': {'d7'}, 'q2': set()}
    """
    source = Source(path, format, columns, "relevance")
    trec = source.format == "trec"
    groups = _groups(source, *(FINITE if trec else GRADE))
    if source.value is None:
        return {user: set(items) for user, items, _ in groups}
    truths = {user: _grades(source, user, items, values) for user, items, values in groups}
    if trec and all(grade == 1 for grades in truths.values() for grade in grades.values()):
        return {user: set(grades) for user, grades in truths.items()}
    return truths


def write_text(path: PathLike, text: str) -> None:
    r"""Write a UTF-8 file, gzipped if its name ends in ``.gz``: complete, or not at all.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/truth.csv", "user_id,item_id\nann,tea\n")
    ...     read_truths(f"{folder}/truth.csv")
    {'ann': {'tea'}}
    """
    target = os.path.realpath(path)  # a link goes on pointing to its file
    data = text.encode()
    if target.lower().endswith(".gz"):
        data = gzip.compress(data, mtime=0)  # no time: the same text gives the same bytes
    replaced = os.path.isfile(path) or not os.path.exists(path)  # a pipe or a device is not
    written = f"{os.path.dirname(target)}/.{os.urandom(8).hex()}.tmp" if replaced else path
    try:
        with open(written, "xb" if replaced else "wb") as stream:
            stream.write(data)
        if replaced:
            os.replace(written, target)
    except BaseException as error:
        if replaced and os.path.exists(written):
            os.unlink(written)
        if (
            isinstance(error, OSError) and error.errno
        ):  # of the file that was asked for, not the temporary one
            raise OSError(error.errno, error.strerror, os.fspath(path)) from None
        raise


def _groups(source: Source, lowest: float, highest: float, expected: str) -> Iterator[Group]:
    """Read the file and return items and values of each user, in the order asked for."""
    users: dict[Id, int] = {}  # each numbered as it first appears
    items: dict[Id, int] = {}
    owners, places, values = array("q"), array("q"), array("d")
    for user, item, number in rows(source, lowest, highest, expected):
        owner = users.setdefault(user, len(users))
        if item is None:
            continue
        owners.append(owner)
        places.append(items.setdefault(item, len(items)))
        values.append(number)
    return _sorted(source, list(users), list(items), *map(np.asarray, (owners, places, values)))


def _sorted(source: Source, users: list[Id], ids: list[Id], *columns: Any) -> Iterator[Group]:
    owners, items, values = columns
    keys = {"rank": [values], "score": [-values]}.get(source.value or "", [])
    if source.value == "score" and source.format == "trec":
        # trec_eval's order: ties by id, descending in bytes, which is how str compares
        place = np.argsort(np.argsort(np.array(ids, dtype=object)))
        keys.insert(0, -place[items])
    order = np.lexsort([*keys, owners])  # stable: ties stay in file order
    owners, items, values = owners[order], items[order], values[order]
    bounds = np.searchsorted(owners, np.arange(len(users) + 1))
    if source.value == "rank":
        ranks = np.arange(len(owners)) - bounds[owners] + 1
        for i in np.flatnonzero(values != ranks)[:1]:
            found = f"user {users[owners[i]]!r} has rank {values[i]:.15g} in place of {ranks[i]}"
            hint = " (these are zero-based)" if values[i] == 0 else ""
            raise source.error(f"{found}: ranks must be 1..n for each user, each once{hint}")
    for user, (start, stop) in zip(users, pairwise(bounds.tolist()), strict=True):
        yield user, [ids[i] for i in items[start:stop].tolist()], values[start:stop].tolist()


def _grades(source: Source, user: Id, items: list[Id], values: list[float]) -> dict[Id, float]:
    grades = dict(zip(items, values, strict=True))
    for item, value in zip(items, values, strict=True) if len(grades) < len(items) else ():
        if value != grades[item]:
            both = f"{value:g} and {grades[item]:g}"
            raise source.error(f"user {user!r}: item {item!r} has relevance {both}")
    # TREC: the query stays, what is not relevant goes
    return {i: g for i, g in grades.items() if g >= 1} if source.format == "trec" else grades


TEXT_FORMATS = ("csv", "tsv", "trec")


def load(
    recs: PathLike,
    truth: PathLike,
    formats: tuple[str, str],
    columns: Mapping[str, str],
    order: str | None = None,
) -> tuple[Any, Any]:
    """Return ranks and ground truths; typed ids beside a text file are written as text."""
    as_text = len({name in TEXT_FORMATS for name in formats}) == 2
    sides: list[Any] = []
    for path, format, other in ((recs, formats[0], "relevance"), (truth, formats[1], "rank score")):
        names = {ours: name for ours, name in columns.items() if ours not in other.split()}
        if format == "parquet":
            side: Any = _of_parquet(path, other == "relevance", columns, order, as_text)
        elif other == "relevance":
            side = files.read_ranks(path, format=format, columns=names, order=order)
        else:
            side = files.read_truths(path, format=format, columns=names)
        if as_text and format == "jsonl":
            side = _as_text(str(path), side)
        sides.append(side)
    return sides[0], sides[1]


def _of_parquet(
    path: PathLike, ranked: bool, columns: Mapping[str, str], order: str | None, as_text: bool
) -> Keyed:
    """Return a Parquet file as lists by user."""
    frame = parquet.read(path, renamed(columns))
    side, order = ("ranks", order) if ranked else ("ground_truths", None)
    try:
        lists = tables.read(Table(frame, side, renamed(columns), order))
    except (ValueError, TypeError) as error:
        raise type(error)(f"{path}: {error}") from None
    if as_text:
        return replace(lists, users=textual(lists.users), items=textual(lists.items))
    return lists


def _as_text(path: str, sides: dict[Any, Any]) -> dict[str, Any]:
    """Write users and items as decimal text, as they stand in a text file."""
    rows = {}
    for user, row in _textual(path, "user", sides):
        if isinstance(row, dict):
            rows[user] = dict(_textual(path, "item", row))
        else:
            rows[user] = type(row)(map(str, row))
    return rows


def _textual(path: str, what: str, mapping: dict[Any, Any]) -> Iterator[tuple[str, Any]]:
    seen = set()
    for key, value in mapping.items():
        if str(key) in seen:
            raise ValueError(f"{path}: {what} {str(key)!r} stands there as number and as text")
        seen.add(str(key))
        yield str(key), value
