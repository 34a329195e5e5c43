"""Ranked lists and ground truths from files; texts written as a whole or not at all."""

from toplist.files.formats import FORMATS, format_of
from toplist.files.lists import read_ranks, read_truths
from toplist.files.tables import write_text
from toplist.inputs.options import COLUMNS

__all__ = [
    "COLUMNS",
    "FORMATS",
    "format_of",
    "read_ranks",
    "read_truths",
    "write_text",
]


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
