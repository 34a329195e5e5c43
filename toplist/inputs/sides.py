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
from toplist.inputs.matrices import refuse_matrix
from toplist.inputs.words import Words, words_of_codes


@dataclass(frozen=True, eq=False)
class Sides:
    """Both sides validated, aligned and encoded: integer ids, one row per user of the truth.

    `lengths` says how much of each ranked list counts: at most `depth` ids, without padding.
    `users` are the keys of keyed inputs, else None. `single` says that one user was given bare.
    `sources` are both sides as the caller wrote them; `hashed` says that the integers are hashes,
    so that the hits have to be verified. `words` are the hashes of the ids that the codes of the
    truth stand for; None where the integers are ids, or hashes. `judged` is the truth with all
    graded items, where `relevant_from` leaves some of them out.
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
    words: Words | None = None
    judged: Lists | None = None


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
    lengths, truth = listed.lengths, compact(relevant)
    names = relevant.names
    if names is None:
        refuse_matrix(truth, users)
    return Sides(
        ranked=Lists(listed.offsets, listed.ids),
        lengths=lengths,
        truth=grades.apply(truth, relevant, grading, users),
        grading=grading,
        depth=int(lengths.max(initial=0)) if k is None else k,
        users=users,
        single=False,
        n_extra=n_extra,
        sources=(listed, relevant),
        hashed=False,
        words=None if names is None else words_of_codes(names, truth.items),
        judged=grades.judged(truth, grading),
    )
