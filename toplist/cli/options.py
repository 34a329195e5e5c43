"""Options that several commands share."""

import argparse
from collections.abc import Callable, Sequence


def renaming(valid: Sequence[str]) -> Callable[[str], tuple[str, str]]:
    """Return what reads an argument of ``--columns``: NAME=NAME_IN_THE_FILE."""

    def read(argument: str) -> tuple[str, str]:
        ours, equals, theirs = argument.partition("=")
        if not (ours and equals and theirs):
            raise argparse.ArgumentTypeError(f"{argument!r}: write {valid[0]}=NAME_IN_THE_FILE")
        if ours not in valid:
            raise argparse.ArgumentTypeError(
                f"{ours!r} is not a column to rename: {', '.join(valid)}"
            )
        return ours, theirs

    return read
