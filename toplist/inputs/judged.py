"""`Judged`: what the join needs to know of ground truths, made once for all lists they meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toplist.checks import Ints, about
from toplist.inputs import grades
from toplist.inputs.flatten import Flat, name_user, user_of
from toplist.inputs.grades import Grading
from toplist.inputs.lists import Lists, offsets_of
from toplist.inputs.shaping import compact

if TYPE_CHECKING:
    from toplist.inputs.groups import Coverage

Words = Callable[[Ints], NDArray[np.uint64]]  # of codes
# Ids that are looked at before all are.
FIRST = 64


@dataclass(frozen=True, eq=False)
class Judged:
    """The judged items of ground truths, and the relevant ones among them.

    `truth` has all judged items with their grades, `relevant` those that are relevant with their
    gains. `words` returns the words of codes; None where the integers are ids, or hashes. `groups`
    are those of the relevant items, which then are distinct. `known` is what the join knows of them
    from other lists that met them.
    """

    truth: Lists
    relevant: Lists
    words: Words | None = None
    groups: Coverage | None = None
    known: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Flat, grading: Grading, whole: bool = True) -> Judged:
        """Read ground truths of integers, codes or hashes.

        `whole` says that these are all users, so that the truth may be seen to be a matrix.
        """
        truth, groups = compact(given), None
        if given.grouped:
            from toplist.inputs.groups import Coverage  # what few need, so that imports are quick

            truth, groups = Coverage.of(truth, given)
        elif whole and given.source is None and given.names is None:
            check_no_matrix(truth, given.users)
        judged, relevant = grades.apply(truth, given, grading)
        return cls(judged, relevant, hashes_behind(given.names, truth), groups)


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
