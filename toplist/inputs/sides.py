"""`Sides`: what the door lets through to the join."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.inputs.flatten import Flat, compact, trim
from toplist.inputs.grades import Grading, apply
from toplist.inputs.ids import integer_padding
from toplist.inputs.lists import Lists


@dataclass(frozen=True, eq=False)
class Sides:
    """What the door lets through: integer ids, one row per user of the ground truth.

    `lengths` says how much of each ranked list counts: at most `depth` ids, without padding.
    `users` are the keys of keyed inputs, else None. `single` says that one user was given bare.
    `sources` are both sides as the caller wrote them; `hashed` says that the integers are hashes,
    so that what the join finds has to be verified.
    """

    ranked: Lists
    lengths: NDArray[np.int64]
    truth: Lists
    grading: Grading
    depth: int
    users: Sequence[Any] | None
    single: bool
    n_extra: int
    sources: tuple[Flat, Flat]
    hashed: bool


def admit_aligned(
    users: Sequence[Any],
    listed: Flat,
    relevant: Flat,
    n_extra: int,
    k: int | None,
    padding: Any,
    grading: Grading,
) -> Sides:
    """Admit the integer ids, or codes, of two sides that are brought into line."""
    if k is not None:
        listed = listed.cut(k)
    if padding is not None:
        listed, relevant = (trim(f, _code_of(padding, f), users) for f in (listed, relevant))
    lengths = listed.lengths
    given = compact(relevant)
    return Sides(
        ranked=Lists(listed.offsets, listed.ids),
        lengths=lengths,
        truth=apply(given, relevant, grading, users),
        grading=grading,
        depth=int(lengths.max(initial=0)) if k is None else k,
        users=users,
        single=False,
        n_extra=n_extra,
        sources=(listed, relevant),
        hashed=False,
    )


def _code_of(padding: Any, flat: Flat) -> int | None:
    """Return how padding is written among the ids of one side; None if it is not there."""
    if flat.names is None:
        return integer_padding(padding, flat.ids.dtype)
    if flat.names and type(padding) is not type(flat.names[0]):
        raise TypeError(
            f"padding is {padding!r}, but the ids of {flat.side} are like {flat.names[0]!r}"
        )
    return flat.names.index(padding) if padding in flat.names else None
