"""Whole files of ranked lists and of ground truths, as dicts: `read_ranks`, `read_truths`."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.checks import choice
from toplist.files import blocks
from toplist.files.batches import Stream
from toplist.files.buffers import as_texts
from toplist.files.errors import named, short
from toplist.files.formats import Columns, FileFormat, Id, PathLike, TextFormatName, find_format
from toplist.files.numbers import Number, in_column, packed
from toplist.files.text import FINITE, GRADE, NUMBER, Source, Valid, rows
from toplist.files.text_ids import TextIds
from toplist.inputs.factorize import Numbering
from toplist.inputs.ids import kinds_of
from toplist.inputs.options import ORDERS, TIES, Order, Ties

# The items of a user, and the number of each; beside each the place of its row in the file.
Group = tuple[Id, list[Id], list[Number], NDArray[np.int64]]
CHUNK = 1 << 16  # rows whose numbers are Python objects at a time


def read_ranks(
    path: PathLike,
    *,
    format: TextFormatName | None = None,
    columns: Columns = None,
    order: Order | None = None,
    ties: Ties = "order",
) -> dict[Id, list[Id]]:
    r"""Read the ranked list of every user, best item first; users as they first appear.

    A rank, 1..n for each user, decides the order; without one the score, descending, ties in
    file order (in a TREC run by document id, descending) or, with ``ties`` of "item" and
    "item_desc", by item id. ``order="file"`` keeps the order of the file. ``format`` is csv, tsv,
    jsonl or trec, by default what the extension says; ``columns`` gives the file's own names of
    ``user_id``, ``item_id``, ``rank`` and ``score`` (TREC columns have none). A file that ends in
    ``.gz`` is unpacked.

    Examples
    --------
    >>> import tempfile
    >>> from toplist.files import write_text
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/lists.csv", "user_id,item_id,rank\nann,tea,2\nann,jam,1\n")
    ...     read_ranks(f"{folder}/lists.csv")
    {'ann': ['jam', 'tea']}
    """
    if order is not None:
        choice("order", order, ORDERS)
    choice("ties", ties, TIES)
    wanted = () if order else ("rank", "score")
    source = Source(path, _text_format(path, format), columns, *wanted)
    return {user: items for user, items, *_ in _groups(source, NUMBER, ties)}


def read_truths(
    path: PathLike, *, format: TextFormatName | None = None, columns: Columns = None
) -> dict[Id, set[Id]] | dict[Id, dict[Id, float]]:
    r"""Read the relevant items of every user; users as they first appear.

    The parameters are those of `read_ranks`. Truths are sets, or dicts item to grade if there
    is a ``relevance`` column. A TREC file is read as qrels: relevance below 1 is not relevant,
    a query without a relevant document is a user with an empty truth, and truths are dicts only
    if some relevant grade is not 1.

    Examples
    --------
    >>> import tempfile
    >>> from toplist.files import write_text
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/test.qrels", "q1 0 d7 1\nq1 0 d8 0\nq2 0 d7 0\n")
    ...     read_truths(f"{folder}/test.qrels")
    {'q1': {'d7'}, 'q2': set()}
    """
    source = Source(path, _text_format(path, format), columns, "relevance")
    trec = source.format.name == "trec"
    groups = _groups(source, FINITE if trec else GRADE)
    if source.value is None:
        return {user: set(items) for user, items, *_ in groups}
    truths = {group[0]: _grades(source, *group) for group in groups}
    if trec and all(grade == 1 for grades in truths.values() for grade in grades.values()):
        return {user: set(grades) for user, grades in truths.items()}
    return truths


def _text_format(path: PathLike, given: str | None) -> FileFormat:
    format = find_format(path, given, "format")
    if not format.is_text:
        raise ValueError(f"{os.fspath(path)}: Parquet is read by top_k_eval_files, or with pyarrow")
    return format


def _groups(source: Source, valid: Valid, ties: Ties = "order") -> Iterator[Group]:
    """Read the file and return items and numbers of each user, in the order asked for."""
    if source.format.name == "trec" and ties == "order":
        ties = "item_desc"  # trec_eval's
    try:
        return _sorted(source, ties, *_coded(source, valid))
    except (blocks.OddError, TypeError):  # lists; ids of two kinds, which a dict may hold
        pass
    users: dict[Id, int] = {}  # each numbered as it first appears
    items: dict[Id, int] = {}
    owners, places = array("q"), array("q")
    numbers = []
    found = rows(source, valid)
    while chunk := list(islice(found, CHUNK)):
        values = []
        for user, item, number in chunk:
            owner = users.setdefault(user, len(users))
            if item is None:
                continue
            owners.append(owner)
            places.append(items.setdefault(item, len(items)))
            values.append(number)
        numbers.append(packed(values))
    column = in_column(numbers, source.value)
    columns = np.asarray(owners), np.asarray(places), column
    return _sorted(source, ties, list(users), list(items), *columns)


def _coded(source: Source, valid: Valid) -> tuple[Any, ...]:
    """Return users and items as they first appear; and their numbers and the value of each row."""
    rows = blocks.whole(source, valid, TextIds(), TextIds())
    users, items = Numbering(), Numbering()
    numbers = users.number(rows.users.codes), items.number(rows.items.codes)
    names = rows.users.decoded(users.codes), rows.items.decoded(items.codes)
    values = np.ones(len(rows)) if rows.values is None else rows.values
    return *names, *numbers, values


def _sorted(
    source: Source, ties: Ties, users: list[Id], ids: list[Id], *columns: Any
) -> Iterator[Group]:
    owners, items, values = columns
    falling = ~values if values.dtype.kind == "i" else -values  # - of the lowest integer is itself
    keys = {"rank": [values], "score": [falling]}.get(source.value or "", [])
    if source.value == "score" and ties != "order":  # str compares as its bytes in UTF-8 do
        place = np.argsort(np.argsort(np.array(ids, dtype=object)))
        keys.insert(0, place[items] if ties == "item" else -place[items])
    order = np.lexsort([*keys, owners])  # stable: ties stay in file order
    owners, items, values = owners[order], items[order], values[order]
    bounds = np.searchsorted(owners, np.arange(len(users) + 1))
    if source.value == "rank":
        ranks = np.arange(len(owners)) - bounds[owners] + 1
        for i in np.flatnonzero(values != ranks)[:1]:
            found = f"user {short(users[owners[i]])} has rank {values[i]} in place of {ranks[i]}"
            hint = " (these are zero-based)" if values[i] == 0 else ""
            source.line = _line_of(source, NUMBER, int(order[i]))
            raise source.error(f"{found}: ranks must be 1..n for each user, each once{hint}")
    for user, (start, stop) in zip(users, pairwise(bounds.tolist()), strict=True):
        these = slice(start, stop)
        listed = [ids[i] for i in items[these].tolist()]
        yield user, listed, values[these].tolist(), order[these].astype(np.int64)


def _line_of(source: Source, valid: Valid, place: int) -> int:
    """Return the line of the row with an item at a place, read again; 0 if that cannot be."""
    if not os.path.isfile(source.path):  # a pipe
        return 0
    again = copy(source)
    found = (again.line for _, item, _ in rows(again, valid) if item is not None)
    return next(islice(found, place, None), 0)


def _grades(
    source: Source, user: Id, items: list[Id], values: list[Number], places: Any
) -> dict[Id, float]:
    grades: dict[Id, float] = {}
    for item, value, place in zip(items, values, places, strict=True):
        first = grades.setdefault(item, float(value))
        if first != value:
            source.line = _line_of(source, FINITE, int(place))
            both = f"{first:g} and {value:g}"
            raise source.error(f"user {short(user)}: item {short(item)} has relevance {both}")
    # TREC: the query stays, what is not relevant goes
    return {i: g for i, g in grades.items() if g >= 1} if source.format.name == "trec" else grades


def load(stream: Stream, as_text: bool) -> Any:
    """Return one side of an evaluation as a whole; `as_text` writes integer ids as text."""
    if not stream.kind.is_text:
        lists = stream.whole()
        if as_text:
            return replace(lists, users=as_texts(lists.users), items=as_texts(lists.items))
        return lists
    text: Any = stream.kind.name
    found: dict[Any, Any]
    if stream.side == "ranks":
        found = read_ranks(
            stream.path,
            format=text,
            columns=stream.own_names,
            order=stream.order,
            ties=stream.ties,
        )
    else:
        found = read_truths(stream.path, format=text, columns=stream.own_names)
    return _as_text(os.fspath(stream.path), found) if as_text else found


def _as_text(path: str, sides: dict[Any, Any]) -> dict[str, Any]:
    """Write users and items as decimal text, as a text file has them."""
    try:
        kinds_of(sides, "column 'user_id'")
        kinds_of({type(item): item for row in sides.values() for item in row}.values(),
                 "column 'item_id'")  # fmt: skip
    except TypeError as error:
        raise named(f"{path}: ", error) from None
    return {
        str(user): (
            {str(item): grade for item, grade in row.items()}
            if isinstance(row, dict)
            else type(row)(map(str, row))
        )
        for user, row in sides.items()
    }
