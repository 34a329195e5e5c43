"""Lists that are given as the ground truth: its file has ranks."""

import argparse
import json
import os
from collections.abc import Collection
from contextlib import suppress

from toplist.cli.options import names_of_columns
from toplist.files import parquet
from toplist.files.formats import TREC_COLUMNS, find_format, first_line
from toplist.files.lines import csv_rows
from toplist.inputs.options import columns_of


def ranked_truth(options: argparse.Namespace) -> str:
    """Return what to say of a ground truth that has ranks, as only lists have; else ""."""
    rank = columns_of(names_of_columns(options, "ground_truths"), "ground_truths")["rank"]
    with suppress(Exception):  # no note is worth an error
        if rank in _columns(options.truth, options.ground_truths_format):
            return (
                f"{options.truth}, the last file, is taken as the ground truth, and it has a "
                f"column {rank!r} as files of ranked lists have"
            )
    return ""


def _columns(path: str, given: str | None) -> Collection[str]:
    """Return the names of the columns of a file, by its beginning."""
    if not (os.path.isfile(path) or os.path.isdir(path)):
        return ()  # a pipe, which has been read
    format = find_format(path, given)
    if not format.is_text:
        return parquet.column_names(path)
    line = first_line(path)
    if format.delimiter:
        return next(csv_rows([line], format.delimiter), [])
    if format.name == "trec":
        return TREC_COLUMNS.get(len(line.split()), [])
    return list(json.loads(line))
