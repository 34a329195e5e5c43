"""Options of `toplist eval` about items: a file for each of `ITEMS`, unknown items, padding."""

import argparse
from collections.abc import Callable
from typing import Any

from toplist import files
from toplist.checks import Keyword
from toplist.cli.options import option
from toplist.files import tables
from toplist.files.batches import stream_of
from toplist.files.formats import TEXT_IDS
from toplist.inputs.options import ITEMS
from toplist.inputs.texts import Texts


def add_items(add: Callable[..., Any]) -> None:
    """Add the options to a parser."""
    for name, row in ITEMS.items():
        add(option(Keyword(name)), metavar="FILE", help=row.help)


def known_items(options: argparse.Namespace, recs: str, columns: dict[str, str]) -> dict[str, Any]:
    """Read the files of the keywords about items; ids have the type that they have in the lists.

    `columns` are the names of columns in the file of the lists.
    """
    paths = {name: getattr(options, name) for name in ITEMS}
    known = {}
    numbers = any(paths.values()) and _hold_numbers(options, recs, columns)
    for name, path in paths.items():
        if path is not None:
            found = tables.READERS[ITEMS[name].file](path)
            ids = _integers(path, found) if numbers else list(found)
            values = found.values() if isinstance(found, dict) else ids
            known[name] = dict(zip(ids, values, strict=True))
    return known


def padding_of(options: argparse.Namespace, recs: str, columns: dict[str, str]) -> Any:
    """Return the padding id with the type of the ids in the lists."""
    if options.padding is None or not _hold_numbers(options, recs, columns):
        return options.padding
    return _integers("--padding", [options.padding])[0]


def _hold_numbers(options: argparse.Namespace, recs: str, columns: dict[str, str]) -> bool:
    """Return whether the ids of the lists are numbers: only formats with types have such."""
    sides = (recs, options.ranks_format), (options.truth, options.ground_truths_format)
    if any((given or files.format_of(path)) in TEXT_IDS for path, given in sides):
        return False
    stream = stream_of(recs, "ranks", options.ranks_format, columns, "file")
    return next(iter(stream.parts((Texts(), Texts())))).lists.items.names is None


def _integers(source: str, ids: Any) -> list[int]:
    """Return ids read as text as integers; `source` is named in the error."""
    try:
        return [int(item) for item in ids]
    except ValueError:
        raise ValueError(
            f"{source}: the ids of the lists are numbers, but not all ids here are"
        ) from None
