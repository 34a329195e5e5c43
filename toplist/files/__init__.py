"""Ranked lists and ground truths from files; texts written whole or not at all."""

from toplist.files.lists import COLUMNS, FORMATS, format_of, read_ranks, read_truths, write_text

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
