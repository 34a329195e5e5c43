"""Two files read whole, in whatever order their rows are."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from toplist import files
from toplist.files import parquet
from toplist.files.text import PathLike
from toplist.inputs import tables
from toplist.inputs.factorize import textual
from toplist.inputs.keyed import Keyed
from toplist.inputs.named import Table
from toplist.inputs.options import renamed

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
