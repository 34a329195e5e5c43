"""`--catalogue`, `--item-counts` and `--features` of `toplist eval`: what is known of the items."""

import argparse
from typing import Any

from toplist import files
from toplist.files import tables
from toplist.files.batches import Stream
from toplist.files.lists import TEXT_FORMATS


def known_items(options: argparse.Namespace, recs: str) -> dict[str, Any]:
    """Read what is known of the items, their ids written as in the lists."""
    paths = {name: getattr(options, name) for name in ("catalogue", "item_counts", "features")}
    known = {}
    numbers = any(paths.values()) and _hold_numbers(options, recs)
    for name, path in paths.items():
        if path is not None:
            found = getattr(tables, name)(path)
            ids = _whole(path, found) if numbers else list(found)
            values = found.values() if isinstance(found, dict) else ids
            known[name] = dict(zip(ids, values, strict=True))
    return known


def padding_of(options: argparse.Namespace, recs: str) -> Any:
    """Return the padding, written as the ids of the lists are read."""
    if options.padding is None or not _hold_numbers(options, recs):
        return options.padding
    return _whole("--padding", [options.padding])[0]


def _hold_numbers(options: argparse.Namespace, recs: str) -> bool:
    """Say whether the ids of the lists are read as numbers: of typed files alone."""
    sides = (recs, options.recs_format), (options.truth, options.truth_format)
    if any((given or files.format_of(path)) in TEXT_FORMATS for path, given in sides):
        return False
    stream = Stream(recs, "ranks", options.recs_format, dict(options.columns), "file")
    return next(iter(stream.parts(lambda users, places: None))).items.names is None


def _whole(path: str, ids: Any) -> list[int]:
    try:
        return [int(item) for item in ids]
    except ValueError:
        raise ValueError(
            f"{path}: the ids of the lists are numbers, not all of these are"
        ) from None
