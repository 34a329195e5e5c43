"""`Sides`: both sides of an evaluation validated, aligned and encoded: the input of the join."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.inputs import grades
from toplist.inputs.flatten import Flat, compact, trim
from toplist.inputs.grades import Grading
from toplist.inputs.ids import padding_code
from toplist.inputs.lists import Lists


@dataclass(frozen=True, eq=False)
class Sides:
    """Both sides validated, aligned and encoded: integer ids, one row per user of the truth.

    `lengths` says how much of each ranked list counts: at most `depth` ids, without padding.
    `users` are the keys of keyed inputs, else None. `single` says that one user was given bare.
    `sources` are both sides as the caller wrote them; `hashed` says that the integers are hashes,
    so that the hits have to be verified.
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


def sides_of(
    users: Sequence[Any],
    listed: Flat,
    relevant: Flat,
    n_extra: int,
    k: int | None,
    padding: Any,
    grading: Grading,
) -> Sides:
    """Return keyed sides that are aligned and encoded: cut, without padding, with their gains."""
    if k is not None:
        listed = listed.cut(k)
    if padding is not None:
        listed, relevant = (trim(f, padding_code(padding, f), users) for f in (listed, relevant))
    lengths = listed.lengths
    return Sides(
        ranked=Lists(listed.offsets, listed.ids),
        lengths=lengths,
        truth=grades.apply(compact(relevant), relevant, grading, users),
        grading=grading,
        depth=int(lengths.max(initial=0)) if k is None else k,
        users=users,
        single=False,
        n_extra=n_extra,
        sources=(listed, relevant),
        hashed=False,
    )
