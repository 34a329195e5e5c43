"""Grades of relevant items: from which grade on an item is relevant, and the gain of a hit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from toplist.checks import Keyword, choice, worded
from toplist.inputs.flatten import Flat, name_user
from toplist.inputs.lists import Lists

GAINS = ("linear", "exponential")


@dataclass(frozen=True)
class Grading:
    """From which grade on an item is relevant (None: above 0), and how a grade becomes a gain."""

    relevant_from: float | None = None
    gains: str = "linear"

    def __post_init__(self) -> None:
        """Check the options."""
        choice("gains", self.gains, GAINS)
        number = isinstance(self.relevant_from, (int, float, np.number))
        if self.relevant_from is not None and not (number and self.relevant_from >= 0):
            keyword = Keyword("relevant_from", self.relevant_from)
            raise worded(ValueError, keyword, ": give a grade, 0 or more")


STANDARD = Grading()


def apply(truth: Lists, source: Flat, grading: Grading, users: Sequence[Any] | None) -> Lists:
    """Keep the items whose grade makes them relevant, with their gains; `source` is for messages.

    An item is relevant if its grade is above 0, or at least `relevant_from`. Its gain is the
    grade, or 2^grade - 1 with exponential gains; `Lists.gains` is None where all are 1.

    Raises
    ------
    ValueError
        For a grade that is negative, NaN or infinite, or a `relevant_from` without grades.
    """
    grades = truth.gains
    if grades is None:
        if grading.relevant_from is not None:
            raise worded(
                ValueError,
                Keyword("relevant_from", grading.relevant_from),
                " needs ground truths with grades: dicts item -> grade, or Lists with gains",
            )
        return truth
    bad = np.flatnonzero(~((grades >= 0) & (grades < np.inf)))
    if len(bad):
        user, item = _place(truth, source, bad[0])
        raise ValueError(
            f"{name_user(users, user)}, item {item!r}: grade "
            f"{grades[bad[0]]}; a grade is 0 or more, and finite"
        )
    least = grading.relevant_from
    if isinstance(source.ids, np.ndarray):  # a dict has one grade for an item
        _refuse_two_grades(truth, source, users)
    relevant = grades > 0 if least is None else grades >= least
    kept = np.concatenate([[0], np.cumsum(relevant)])[truth.offsets]
    with np.errstate(over="ignore"):
        gains = grades if grading.gains == "linear" else np.exp2(grades) - 1
    large = np.flatnonzero(gains == np.inf)
    if len(large):
        user, item = _place(truth, source, large[0])
        raise worded(
            ValueError,
            f"{name_user(users, user)}, item {item!r}: 2^grade of grade {grades[large[0]]:g} is "
            "too large a gain; ",
            Keyword("gains", "linear"),
            " takes the grade",
        )
    gains = gains[relevant]
    return Lists(kept, truth.items[relevant], None if np.all(gains == 1) else gains)


def _place(truth: Lists, source: Flat, position: int) -> tuple[int, Any]:
    """Return the user and the item, as written, at a position of the flat ids."""
    user = int(np.searchsorted(truth.offsets, position, side="right")) - 1
    return user, source.row(user)[position - truth.offsets[user]]


def _refuse_two_grades(truth: Lists, source: Flat, users: Sequence[Any] | None) -> None:
    from toplist.kernels import join as kernels

    assert truth.gains is not None
    grades = truth.gains
    position = kernels.two_grades(truth.items, truth.offsets, grades)
    if position >= 0:
        user, item = _place(truth, source, position)
        raise ValueError(
            f"{name_user(users, user)} has item {item!r} twice in the ground truth, with "
            "different grades"
        )
