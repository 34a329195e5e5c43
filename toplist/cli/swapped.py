"""Files in each other's place: a ground truth among the lists, lists as the ground truth."""

import argparse
import json
import os
from collections.abc import Collection

from toplist.checks import helped
from toplist.cli.options import names_of_columns
from toplist.files import parquet
from toplist.files.formats import MOST, TREC_COLUMNS, find_format, first_line
from toplist.files.lines import csv_rows
from toplist.inputs.options import columns_of, named_in


def swapped(options: argparse.Namespace, recs: str, columns: dict[str, str]) -> str:
    """Return what to say if a file of lists looks like a ground truth and the truth like lists.

    `columns` are the names of columns in the file of lists. Only a run that has failed is looked
    at; "" is returned where the files do not show it, or need no rank.
    """
    return helped(_swapped, options, recs, columns)


def ranked_truth(options: argparse.Namespace) -> str:
    """Return what to say of a ground truth that has ranks, as only lists have; else ""."""
    return helped(_ranked_truth, options)


def _swapped(options: argparse.Namespace, recs: str, columns: dict[str, str]) -> str:
    if options.order is not None:
        return ""
    first, in_lists = _begin(recs, options.ranks_format)
    names = named_in(columns_of(columns, "ranks"), first, "ranks")
    last, _ = _begin(options.truth, options.ground_truths_format)
    ids, values = {names["user_id"], names["item_id"]}, {names["rank"], names["score"]}
    if not (ids <= {*first} and ids <= {*last}):
        return ""
    if in_lists or values & {*first} or not values & {*last}:
        return ""
    return (
        f"{recs} has neither rank nor score, {options.truth} has: is the ground truth given "
        "first? It is the last file, after the ranked lists"
    )


def _ranked_truth(options: argparse.Namespace) -> str:
    rank = columns_of(names_of_columns(options, "ground_truths"), "ground_truths")["rank"]
    columns, _ = _begin(options.truth, options.ground_truths_format)
    if rank not in columns:
        return ""
    return (
        f"{options.truth}, the last file, is taken as the ground truth, and it has a column "
        f"{rank!r} as files of ranked lists have"
    )


def _begin(path: str, given: str | None) -> tuple[Collection[str], bool]:
    """Read the beginning of a file: the names of its columns, and whether items are in lists.

    Any error may come out of a file that is no table of users and items.
    """
    if not (os.path.isfile(path) or os.path.isdir(path)):  # a pipe, which has been read
        raise ValueError("neither a file nor a folder")
    format = find_format(path, given)
    if not format.is_text:
        schema = parquet.schema_in_end(path, MOST)
        return schema.names, not parquet.is_long(schema, schema.names)
    line = first_line(path)
    if len(line) >= MOST:  # it goes on
        raise ValueError("a long line")
    if format.delimiter:
        return next(csv_rows([line], format.delimiter), []), False
    if format.name == "trec":
        return TREC_COLUMNS.get(len(line.split()), []), False
    record = json.loads(line)
    return list(record), isinstance(record.get("item_id"), list)
