"""Where nobody has a hit: an id of each side, chosen so that the likely cause shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from toplist.inputs.flatten import Flat
from toplist.inputs.sides import Sides

# Ids of each side that are compared.
COMPARED = 4096


# What may be all that keeps ids apart, in words, and what takes it away.
CAUSES: dict[str, Callable[[str], str]] = {
    "a trailing .0": lambda text: text.removesuffix(".0"),
    "blanks": str.strip,
    "upper and lower case": str.casefold,
    "leading zeros": lambda text: text.lstrip("0") or "0",
}


def unmatched(sides: Sides) -> dict[str, Any]:
    """Return the fields `examples` and `cause` of `Hits` without a hit; {} if a side has no id."""
    ranked, truth = sides.sources
    listed = _some(ranked, sides.lengths)
    relevant = _some(truth, truth.lengths)
    if not listed or not relevant or not np.any(np.diff(sides.truth.offsets)):
        return {}
    if isinstance(listed[0], str) and isinstance(relevant[0], str):
        found = _cause(listed, relevant)
        if found is not None:
            cause, a, b = found
            return {"examples": (a, b), "cause": cause}
    return {"examples": (str(listed[0]), str(relevant[0])), "cause": ""}


def _cause(listed: list[str], relevant: list[str]) -> tuple[str, str, str] | None:
    """Return what keeps ids of both sides apart, with an example of each; None if not known.

    Where an id is on both sides, they are written alike: the users just have no hit.
    """
    if not set(listed).isdisjoint(relevant):
        return None
    for cause, simplify in CAUSES.items():
        written = {simplify(one): one for one in reversed(listed)}
        for one in relevant:
            if simplify(one) in written:
                return cause, written[simplify(one)], one
    return None


def _some(flat: Flat, lengths: Any) -> list[Any]:
    """Return some thousand ids of one side, as written; only one if they are no text."""

    def ids() -> Iterator[Any]:
        for user in np.flatnonzero(lengths[:COMPARED]).tolist():
            yield from islice(flat.row(user), int(lengths[user]))

    found = ids()
    first = list(islice(found, 1))
    if not first or not isinstance(first[0], str):
        return first
    return [*first, *islice(found, COMPARED - 1)]
