"""Whole files of ranked lists and of ground truths, as dicts: `read_ranks`, `read_truths`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from toplist.checks import about
from toplist.files.batches import Source, loaded, stream_of
from toplist.files.errors import short
from toplist.files.formats import ColumnNames, Id, PathLike, TextFormatName
from toplist.inputs.groups import Groups
from toplist.inputs.options import GROUP, Order, Ranks
from toplist.inputs.texts import Texts
from toplist.metrics.conventions import Ties


def read_ranks(
    path: PathLike,
    *,
    format: TextFormatName | None = None,
    columns: ColumnNames = None,
    order: Order | None = None,
    ties: Ties | None = None,
) -> dict[Id, list[Id]]:
    r"""Read the ranked list of every user, best item first; users as they first appear.

    A rank, 1..n for each user, decides the order; without one the score, descending, ties in
    file order (in a TREC run by document id, descending) or, with ``ties`` of "order", "item" or
    "item_desc", in file order or by item id. ``order="file"`` keeps the order of the file.
    ``format`` is csv, tsv, jsonl or trec, by default what the extension says; ``columns`` gives the
    file's own names of ``user_id``, ``item_id``, ``rank`` and ``score`` (TREC columns have none). A
    packed file (gzip) is unpacked.

    Examples
    --------
    >>> import tempfile
    >>> from toplist.files import write_text
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/lists.csv", "user_id,item_id,rank\nann,tea,2\nann,jam,1\n")
    ...     read_ranks(f"{folder}/lists.csv")
    {'ann': ['jam', 'tea']}
    """
    Ranks(path, order=order, ties=ties)  # refuses other words
    return {
        user: items for user, items, _ in _lists(_text(path, "ranks", format, columns, order, ties))
    }


def read_truths(
    path: PathLike, *, format: TextFormatName | None = None, columns: ColumnNames = None
) -> dict[Id, set[Id]] | dict[Id, dict[Id, float]] | Groups:
    r"""Read the relevant items of every user; users as they first appear.

    The parameters are those of `read_ranks`. Truths are sets, or dicts item to grade if there
    is a ``relevance`` column. A TREC file is read as qrels: a grade from 0 to 1 is 0, judged and
    not relevant, and so is one below 0, as of spam. Its truths are sets only if every grade is 1. A
    column of groups that `columns` names makes them `toplist.Groups`.

    Examples
    --------
    >>> import tempfile
    >>> from toplist.files import write_text
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/test.qrels", "q1 0 d7 1\nq1 0 d8 0\nq2 0 d7 0\n")
    ...     read_truths(f"{folder}/test.qrels")
    {'q1': {'d7': 1.0, 'd8': 0.0}, 'q2': {'d7': 0.0}}
    """
    stream = _text(path, "ground_truths", format, columns, None, None)
    if GROUP in stream.names:
        return Groups({user: _groups(items, numbers) for user, items, numbers in _lists(stream)})
    truths: dict[Id, Any] = {}
    for user, items, grades in _lists(stream):
        truths[user] = set(items) if grades is None else _grades(stream, user, items, grades)
    if not stream.is_trec or any(set(row.values()) - {1} for row in truths.values()):
        return truths
    return {user: set(row) for user, row in truths.items()}


def _text(path: PathLike, side: str, format: TextFormatName | None, *how: Any) -> Source:
    columns, order, ties = how
    stream = stream_of(path, side, format, columns, order, ties, "format")
    if not stream.is_text:
        raise ValueError(f"{stream.path}: Parquet is read by top_k_eval, or with pyarrow")
    return stream


def _lists(stream: Source) -> Iterator[tuple[Id, list[Id], list[float] | None]]:
    """Yield each user of a file, the items in order, and the grades."""
    found = loaded(stream, (Texts(), Texts()))
    users, items = found.users.decoded(found.users.codes), found.items.decoded(found.items.codes)
    grades = None if found.grades is None else found.grades.tolist()
    for user, (start, end) in zip(users, pairwise(found.offsets.tolist()), strict=True):
        yield user, items[start:end], None if grades is None else grades[start:end]


def _groups(items: list[Id], numbers: list[float] | None) -> list[list[Id]]:
    """Return the items of each group."""
    groups: dict[float, list[Id]] = {}
    for item, number in zip(items, numbers or (), strict=True):
        groups.setdefault(number, []).append(item)
    return list(groups.values())


def _grades(stream: Source, user: Id, items: list[Id], values: list[float]) -> dict[Id, float]:
    grades: dict[Id, float] = {}
    for item, value in zip(items, values, strict=True):
        first = grades.setdefault(item, value)
        if first != value:
            both = f"{first:g} and {value:g}"
            error = ValueError(f"user {short(user)}: item {short(item)} has relevance {both}")
            raise stream.located(about(error, user=user, item=item))
    return grades
