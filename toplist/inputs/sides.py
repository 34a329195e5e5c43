"""`Sides`: both sides of an evaluation validated, aligned and encoded: the input of the join."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toplist.checks import Ints, about
from toplist.inputs import grades
from toplist.inputs.flatten import Flat, Scored, collapsed, compact, name_user, trim, user_of
from toplist.inputs.grades import Grading
from toplist.inputs.ids import padding_code
from toplist.inputs.lists import Lists, offsets_of
from toplist.inputs.options import Shaping

if TYPE_CHECKING:
    from toplist.inputs.groups import Coverage

Words = Callable[[Ints], NDArray[np.uint64]]  # of codes
# Ids that are looked at before all are.
FIRST = 64
AS_GIVEN = Shaping()


@dataclass(frozen=True, eq=False)
class Sides:
    """Both sides validated, aligned and encoded: integer ids, one row per user of the truth.

    `lengths` says how much of each ranked list counts: at most `depth` ids, without padding.
    `users` are the keys of keyed inputs, else None. `single` says that one user was given bare.
    `sources` are both sides as the caller wrote them; `hashed` says that the integers are hashes,
    so that the hits have to be verified. `names` are those that codes of the truth stand for, and
    `words` returns their words; None where the integers are ids, or hashes. The truth has all
    judged items with their grades, `relevant` those that are relevant with their gains. `groups`
    are those of the relevant items, which then are distinct. `known` is what the join knows of the
    truth from other lists that met it.
    """

    ranked: Lists
    lengths: Ints
    truth: Lists
    relevant: Lists
    grading: Grading
    depth: int
    users: Sequence[Any] | None
    single: bool
    n_extra: int
    sources: tuple[Flat, Flat]
    hashed: bool
    names: Any = None
    words: Words | None = None
    scored: Scored | None = None
    groups: Coverage | None = None
    known: dict[str, Any] = field(default_factory=dict)


def sides_of(
    users: Sequence[Any] | None,
    listed: Flat,
    relevant: Flat,
    n_extra: int,
    k: int | None,
    padding: Any,
    grading: Grading,
    whole: bool = True,
    *,
    sources: tuple[Flat, Flat] | None = None,
    single: bool = False,
    hashed: bool = False,
    shaping: Shaping = AS_GIVEN,
) -> Sides:
    """Return sides that are aligned and encoded: cut, without padding, with their gains.

    With ``shaping.collapse``, the lists are cut when they are rid of repeats, which takes ids or
    codes: two texts may have one hash. (What ``shaping.items_as`` maps is mapped already.)

    `whole` says that these are all users, so that the truth may be seen to be a matrix; the others
    are as in `Sides`, the sources by default both sides as they are.
    """
    if k is not None and not shaping.collapse:
        listed = listed.cut(k)
    if padding is not None:
        listed, relevant = (trim(f, padding_code(padding, f), users) for f in (listed, relevant))
    if shaping.collapse:
        listed = collapsed(listed, shaping.n_threads, own=shaping.items_as is not None)
        listed = listed if k is None else listed.cut(k)
    written = (listed, relevant) if sources is None else sources

    def of_truth() -> dict[str, Any]:
        truth, groups = compact(relevant), None
        if relevant.grouped:
            from toplist.inputs.groups import Coverage  # what few need, so that imports are quick

            truth, groups = Coverage.of(truth, written[1], relevant)
        elif whole and not hashed and relevant.names is None:
            check_no_matrix(truth, users)
        judged, of_relevant = grades.apply(truth, written[1], grading, users)
        words = hashes_behind(relevant.names, truth)
        made = {"truth": judged, "relevant": of_relevant, "words": words}
        return made | {"groups": groups, "known": {}}

    return Sides(
        ranked=Lists(listed.offsets, listed.ids),
        lengths=listed.lengths,
        grading=grading,
        depth=int(listed.lengths.max(initial=0)) if k is None else k,
        users=users,
        single=single,
        n_extra=n_extra,
        sources=written,
        hashed=hashed,
        names=relevant.names,
        scored=listed.scored,
        **relevant.once(grading, of_truth),
    )


def hashes_behind(names: Any, truth: Lists) -> Words | None:
    """Return what gives the hashes of the ids behind codes of a truth; None if they are ids."""
    if hasattr(names, "hashes"):
        return names.hashes  # type: ignore[no-any-return]
    if not isinstance(names, list):  # codes that are integers themselves
        return None
    from toplist.inputs.id_hashes import hashes_of_codes

    return hashes_of_codes(names, truth.items).__getitem__


def check_no_matrix(truth: Lists, users: Sequence[Any] | None) -> None:
    """Raise ValueError for integer ids that are all 0 or 1, where a row holds one of them twice.

    A set of ids holds each once, so this is a row of a matrix, or nothing that can be told from it.

    Examples
    --------
    >>> check_no_matrix(Lists([0, 3], [0, 1, 1]), None)
    Traceback (most recent call last):
        ...
    ValueError: ground_truths: user 0 has 1 twice, and all ids are 0 or 1: if this is a matrix of \
users x items, give Lists.from_matrix(matrix); if 0 and 1 are ids, give each once, as sets
    """
    items = truth.items
    if np.any(items[:FIRST] >> 1) or np.any(items >> 1):
        return
    ones = np.diff(offsets_of(items)[truth.offsets])
    zeros = np.diff(truth.offsets) - ones
    rows = np.flatnonzero((ones > 1) | (zeros > 1))
    if len(rows):
        user = int(rows[0])
        error = ValueError(
            f"ground_truths: {name_user(users, user)} has {int(ones[user] > 1)} twice, and all ids "
            "are 0 or 1: if this is a matrix of users x items, give Lists.from_matrix(matrix); if "
            "0 and 1 are ids, give each once, as sets"
        )
        raise about(error, side="ground_truths", user=user_of(users, user))
