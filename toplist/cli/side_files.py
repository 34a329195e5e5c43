"""Files beside the lists: facts of items, and labels of users and items.

Their ids are texts. Facts become numbers where the ids of the lists are; labels are joined as text.
"""

import argparse
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from toplist import files
from toplist.checks import USERS, require
from toplist.cli.options import names_of_columns
from toplist.files import tables
from toplist.files.batches import stream_of
from toplist.files.formats import TEXT_IDS
from toplist.inputs.items import ITEMS
from toplist.inputs.texts import Texts
from toplist.results.result import TopKResult


def facts_of_items(
    options: argparse.Namespace,
    numbers: tuple[bool, bool],
    names: Iterable[str],
    as_documents: bool | None = None,
) -> dict[str, Any]:
    """Read files of `Items`; `numbers` says whether users, and items, of the lists are numbers.

    So are items that the lists are evaluated as, by default those of the lists.
    """
    users, items = numbers
    known: dict[str, Any] = {}
    for name in names:
        path = getattr(options, name)
        if path is None:
            continue
        keys, values, *_ = tables.facts(path, ITEMS[name].file)
        if ITEMS[name].file == "items":  # of each user
            values = [integers(path, some) for some in values] if items else values
            keys = integers(path, keys) if users else keys
        elif items if as_documents is None else as_documents:
            keys = integers(path, keys)
        known[name] = dict(zip(keys, values, strict=True))
    return known


def numbered(options: argparse.Namespace, recs: str, columns: dict[str, str]) -> tuple[bool, bool]:
    """Return whether users, and items, of the lists are numbers: only formats with types."""
    sides = (recs, options.ranks_format), (options.truth, options.ground_truths_format)
    if any((given or files.format_of(path)) in TEXT_IDS for path, given in sides):
        return False, False
    stream = stream_of(recs, "ranks", options.ranks_format, columns, "file")
    first = next(iter(stream.blocks((Texts(), Texts())))).lists
    return first.users.names is None, first.items.names is None


def integers(source: str, ids: Iterable[str]) -> list[int]:
    """Return ids read as text as integers; `source` is named in the error."""
    try:
        return [int(item) for item in ids]
    except ValueError:
        raise ValueError(
            f"{source}: the ids of the lists are numbers, but not all ids here are"
        ) from None


def labels(
    options: argparse.Namespace, name: str, path: str, column: str, what: str
) -> dict[Any, Any]:
    """Return the label of each user or item, as `what` says, by its key as text.

    The key may be several columns; `name` is that of the option.
    """
    id_ = "item_id" if what == "item" else "user_id"
    key = names_of_columns(options, name).get(id_, id_)
    table = tables.read_table(path)
    parts = key if isinstance(key, list) else [key]
    require(path, (*parts, column), list(getattr(table, "column_names", table)))
    *keys, values = (
        table[name] if isinstance(table, dict) else table.column(name).to_pylist()
        for name in (*parts, column)
    )
    found: dict[Any, Any] = {}
    users = zip(*keys, strict=True) if len(parts) > 1 else keys[0]
    for key, value in zip(map(as_text, users), values, strict=True):
        label = None if value == "" else value
        if found.setdefault(key, label) != label:
            raise ValueError(f"{path}: {what} {key!r} has two labels, {found[key]!r} and {label!r}")
    return found


def labels_of(options: argparse.Namespace, result: TopKResult) -> tuple[dict[Any, Any], int]:
    """Return the labels of the users of a result by ``--segments``, and how many are of no user."""
    path, _, column = options.segments.rpartition(":")
    by_text = labels(options, "segments", path, column, "user")
    known = _of_users(result, by_text, path)
    return known, len(by_text) - len(known)


def labels_of_items(
    options: argparse.Namespace, results: Iterable[TopKResult]
) -> tuple[dict[Any, Any], str]:
    """Return the labels of items by ``--item-segments``, and their file."""
    path, _, column = options.item_segments.rpartition(":")
    by_text = labels(options, "segments", path, column, "item")
    known = (one.hits.items for one in results if one.hits is not None)
    if any(isinstance(items.example(), int) for items in known if items is not None):
        by_text = dict(zip(integers(path, by_text), by_text.values(), strict=True))
    return by_text, path


def clustered(result: TopKResult, by_text: Mapping[Any, Any], path: str) -> TopKResult:
    """Return a result with the clusters of its rows."""
    known = _of_users(result, by_text, path)
    without = next((one for one in result.users if known.get(one) is None), None)
    if without is not None:
        raise ValueError(f"{path}: has no cluster of row {without!r}")
    unit = "rows" if result.terms.unit == USERS else result.terms.unit
    terms = replace(result.terms, unit=unit)
    return replace(result, terms=terms, clusters=[known[one] for one in result.users])


def _of_users(result: TopKResult, by_text: Mapping[Any, Any], path: str) -> dict[Any, Any]:
    """Return labels by the users of a result: its keys may be numbers, a file's are text."""
    keys = {user: as_text(user) for user in result.users}
    known = {user: by_text[key] for user, key in keys.items() if key in by_text}
    if by_text and result.n_users and not known:
        raise ValueError(
            f"{path}: has none of the users of the result; it has {next(iter(by_text))!r}"
        )
    return known


def as_text(user: Any) -> Any:
    """Return an id as text; of several columns, each of them."""
    return tuple(map(str, user)) if isinstance(user, tuple) else str(user)


def title_of(
    options: argparse.Namespace, of: str = "titles", what: str = "item"
) -> Callable[[Any], Any]:
    """Return what gives the title of an item, or of a user, whose id may be a number; or None."""
    path, _, column = (getattr(options, of) or "").rpartition(":")
    known = labels(options, of, path, column, what) if path else {}
    return lambda one: known.get(as_text(one))
