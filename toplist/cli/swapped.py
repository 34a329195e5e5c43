"""Files in each other's place: a ground truth among the lists, lists as the ground truth."""

import argparse
import json
from collections.abc import Collection

from toplist.cli.options import names_of_columns
from toplist.files import parquet
from toplist.files.formats import find_format
from toplist.files.lines import TextFile, csv_rows
from toplist.inputs.options import renamed

# What reading the beginning of a file that is no table of users and items may raise.
_FAULTS = (ValueError, TypeError, AttributeError, OSError, ImportError)


def swapped(options: argparse.Namespace, recs: str, columns: dict[str, str]) -> str:
    """Return what to say if a file of lists looks like a ground truth and the truth like lists.

    `columns` are the names of columns in the file of lists. Only a run that has failed is looked
    at; "" is returned where the files do not show it, or need no rank.
    """
    if options.order is not None:
        return ""
    names = renamed(columns)
    try:
        first, in_lists = _begin(recs, options.ranks_format)
        last, _ = _begin(options.truth, options.ground_truths_format)
    except _FAULTS:  # the error of the run itself says more
        return ""
    ids, values = {names["user_id"], names["item_id"]}, {names["rank"], names["score"]}
    if not (ids <= {*first} and ids <= {*last}):
        return ""
    if in_lists or values & {*first} or not values & {*last}:
        return ""
    return (
        f"{recs} has neither rank nor score, {options.truth} has: is the ground truth given "
        "first? It is the last file, after the ranked lists"
    )


def ranked_truth(options: argparse.Namespace) -> str:
    """Return what to say of a ground truth that has ranks, as only lists have; else ""."""
    rank = renamed(names_of_columns(options, "ground_truths"))["rank"]
    try:
        columns, _ = _begin(options.truth, options.ground_truths_format)
    except _FAULTS:
        return ""
    if rank not in columns:
        return ""
    return (
        f"{options.truth}, the last file, is taken as the ground truth, and it has a column "
        f"{rank!r} as files of ranked lists have"
    )


def _begin(path: str, given: str | None) -> tuple[Collection[str], bool]:
    """Read the beginning of a file: the names of its columns, and whether items are in lists."""
    format = find_format(path, given)
    if not format.is_text:
        schema = parquet.schema_of(path)
        return schema.names, not parquet.is_long(schema, schema.names)
    with TextFile(path).opened() as lines:
        if format.delimiter:
            return next(csv_rows(lines, format.delimiter), []), False
        first = next(lines, b"").decode()
    if format.name == "trec":
        columns = {4: ["user_id", "item_id"], 6: ["user_id", "item_id", "score"]}
        return columns.get(len(first.split()), []), False
    record = json.loads(first)
    return list(record), isinstance(record.get("item_id"), list)
