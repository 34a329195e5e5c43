"""Grades of relevant items: from which grade on an item is relevant, and the gain of a hit."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from toplist import kernels
from toplist.checks import Bools, Floats, OptionRef, about, choice, doubles, option_error, plain
from toplist.inputs.flatten import Flat, name_user, user_of
from toplist.inputs.lists import NEGATIVE, Lists, offsets_of
from toplist.metrics.definitions import GAINS as GAINS
from toplist.metrics.definitions import Gains

# The largest gain: squares of it, summed over 10^14 users who have 10^7 relevant items each, are
# still finite.
LARGEST = 1e140
# Below this grade, 2^grade - 1 is computed as expm1(grade ln 2): the difference would lose digits,
# all of them below 10^-16.
SMALL = 2.0**-10


# Columns, spelt by their letters, that look like grades.
_LIKE_GRADES = {"rating", "ratings", "grade", "grades", "rel", "gain"}


@dataclass(frozen=True)
class Grading:
    """From which grade on an item is relevant (None: above 0), and how a grade becomes a gain."""

    relevant_from: float | None = None
    gains: Gains = "linear"

    def __post_init__(self) -> None:
        """Check the options."""
        choice("gains", self.gains, GAINS)
        number = isinstance(self.relevant_from, (int, float, np.number))
        valid = number and 0 <= doubles(self.relevant_from) < np.inf
        if self.relevant_from is not None and not valid:
            keyword = OptionRef("relevant_from", self.relevant_from)
            raise option_error(ValueError, keyword, ": give a grade, 0 or more, and finite")
        if isinstance(self.relevant_from, np.number):  # a number of Python, as JSON holds it
            object.__setattr__(self, "relevant_from", self.relevant_from.item())


STANDARD = Grading()


def warn_of_ignored(columns: Iterable[Any], names: Mapping[str, str]) -> None:
    """Warn where ground truths have no column of grades, and one that looks like it is not named.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     warn_of_ignored(["user_id", "item_id", "Rating"], {"relevance": "relevance"})
    >>> print(found[0].message)
    ground_truths: column 'Rating' is ignored, all rows are relevant alike;
    columns={'ground_truths': {'relevance': 'Rating'}} reads it as grades
    """
    named = set(names.values())
    texts = (name for name in columns if isinstance(name, str) and name not in named)
    ignored = next((name for name in texts if plain(name) in _LIKE_GRADES), None)
    if ignored is not None:
        warning: UserWarning = option_error(
            UserWarning,
            f"ground_truths: column {ignored!r} is ignored, all rows are relevant alike; ",
            OptionRef("columns", {"ground_truths": {"relevance": ignored}}),
            " reads it as grades",
        )
        warnings.warn(warning, stacklevel=2)


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
        if grading.relevant_from is not None and len(truth.items):
            raise option_error(
                ValueError,
                OptionRef("relevant_from", grading.relevant_from),
                " needs ground truths with grades: dicts item -> grade, or Lists with gains",
            )
        return truth
    check(truth, source, users)
    gains = _gains(grades, grading)
    large = np.flatnonzero(~(gains <= LARGEST))
    if len(large):
        bound = f"beyond {LARGEST:g} the sums of squares over users overflow"
        grade = f"grade {grades[large[0]]:g} is too large"
        wrong = f"{{}}, item {{!r}}: {grade}: {bound}"
        more: tuple[str | OptionRef, ...] = ()
        if grading.gains == "exponential":
            wrong = f"{{}}, item {{!r}}: 2^grade of {grade} a gain: {bound}; "
            more = OptionRef("gains", "linear"), " takes the grade"
        raise _refused(truth, source, users, large[0], wrong, *more)
    least = grading.relevant_from
    return _kept(truth, gains, grades > 0 if least is None else grades >= least)


def check(truth: Lists, source: Flat, users: Sequence[Any] | None) -> None:
    """Raise ValueError for a grade that is none, and for an item with two."""
    grades = truth.gains
    if grades is None:
        return
    bad = np.flatnonzero(~((grades >= 0) & (grades < np.inf)))
    if len(bad):
        way_out = NEGATIVE if grades[bad[0]] < 0 else ""
        wrong = f"{{}}, item {{!r}}: grade {grades[bad[0]]}; a grade is 0 or more, and finite"
        raise _refused(truth, source, users, bad[0], wrong + way_out)
    if isinstance(source.ids, np.ndarray):  # a dict has one grade for an item
        twice = kernels.join.two_grades(truth.offsets, truth.items, grades)
        if twice >= 0:
            wrong = "{} has item {!r} twice in the ground truth, with different grades"
            raise _refused(truth, source, users, twice, wrong)


def judged(truth: Lists, grading: Grading) -> Lists | None:
    """Return all items with a grade, 0 included, where some are not relevant; else None.

    The grades are those that `apply` has checked.
    """
    grades, least = truth.gains, grading.relevant_from
    if grades is None or np.all(grades > 0 if least is None else grades >= least):
        return None
    return _kept(truth, _gains(grades, grading), np.ones(len(grades), bool))


def _gains(grades: Floats, grading: Grading) -> Floats:
    """Return the gains of grades: 2^grade - 1 keeps the digits of grades near 0."""
    if grading.gains == "linear":
        return grades
    with np.errstate(over="ignore"):
        gains = np.exp2(grades) - 1
    small = grades < SMALL
    gains[small] = np.expm1(grades[small] * np.log(2))
    return gains


def _kept(truth: Lists, gains: Floats, kept: Bools) -> Lists:
    """Return some items of the truth with their gains; without where all are 1."""
    offsets, gains = offsets_of(kept)[truth.offsets], gains[kept]
    return Lists(offsets, truth.items[kept], None if np.all(gains == 1) else gains)


def _refused(
    truth: Lists,
    source: Flat,
    users: Sequence[Any] | None,
    position: int,
    words: str,
    *more: str | OptionRef,
) -> ValueError:
    """Return the error of a grade at a position of the flat ids: words with its user and item."""
    user = int(np.searchsorted(truth.offsets, position, side="right")) - 1
    item = source.row(user)[position - truth.offsets[user]]
    error = option_error(ValueError, words.format(name_user(users, user), item), *more)
    return about(error, side="ground_truths", user=user_of(users, user), item=item)
