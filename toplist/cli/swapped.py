"""Files in each other's place: a ground truth among the lists, lists as the ground truth."""

import argparse
import json
from collections.abc import Collection
from typing import NamedTuple

from toplist.cli.options import names_of_columns
from toplist.files import parquet
from toplist.files.formats import find_format
from toplist.files.lines import TextFile, csv_rows
from toplist.inputs.options import renamed

# What reading the beginning of a file that is no table of users and items may raise.
_FAULTS = (ValueError, TypeError, AttributeError, OSError, ImportError)


class _Beginning(NamedTuple):
    """The names of the columns of a file, and whether items are in lists."""

    columns: Collection[str]
    of_lists: bool = False


# The path of a file, and its format if an option names it.
File = tuple[str, str | None]


def swapped(recs: File, truth: File, columns: dict[str, str]) -> str:
    """Return what to say if a file of lists looks like a ground truth and the truth like lists.

    `columns` are the names of columns in the file of lists. Only a run that has failed is looked
    at; "" is returned where the files do not show it.
    """
    names = renamed(columns)
    try:
        first, last = _begin(*recs), _begin(*truth)
    except _FAULTS:  # the error of the run itself says more
        return ""
    ids, values = {names["user_id"], names["item_id"]}, {names["rank"], names["score"]}
    if not (ids <= {*first.columns} and ids <= {*last.columns}):
        return ""
    if first.of_lists or values & {*first.columns} or not values & {*last.columns}:
        return ""
    return (
        f"{recs[0]} has neither rank nor score, {truth[0]} has: is the ground truth given first? "
        "It is the last file, after the ranked lists"
    )


def ranked_truth(options: argparse.Namespace) -> str:
    """Return what to say of a ground truth that has ranks, as only lists have; else ""."""
    rank = renamed(names_of_columns(options, "ground_truths"))["rank"]
    try:
        found = rank in _begin(options.truth, options.ground_truths_format).columns
    except _FAULTS:
        return ""
    if not found:
        return ""
    return (
        f"{options.truth}, the last file, is taken as the ground truth, and it has a column "
        f"{rank!r} as files of ranked lists have"
    )


def _begin(path: str, given: str | None) -> _Beginning:
    """Read what the beginning of a file says of its columns."""
    format = find_format(path, given)
    if not format.is_text:
        schema = parquet.schema_of(path)
        return _Beginning(schema.names, not parquet.is_long(schema, schema.names))
    with TextFile(path).opened() as lines:
        if format.delimiter:
            return _Beginning(next(csv_rows(lines, format.delimiter), []))
        first = next(lines, b"").decode()
    if format.name == "trec":
        columns = {4: ["user_id", "item_id"], 6: ["user_id", "item_id", "score"]}
        return _Beginning(columns.get(len(first.split()), []))
    record = json.loads(first)
    return _Beginning(list(record), isinstance(record.get("item_id"), list))
