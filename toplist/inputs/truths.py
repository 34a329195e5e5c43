"""What ground truths say of their items: grades, or groups of which any item will do.

`Grading` says from which grade on an item is relevant, and the gain of a hit. `Groups` are truths
made of groups, `Coverage` the groups of relevant items and of hits. `Judged` is what the join needs
to know of ground truths, made once for all lists they meet.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist import kernels
from toplist.checks import Bools, Floats, Ints, choice, counted, doubles, plain
from toplist.inputs.factorize import Column, Numbering, order_of_ids
from toplist.inputs.lists import Flat, GroupedIds, is_container, name_user, offsets_of
from toplist.metrics.definitions import GAINS as GAINS
from toplist.metrics.definitions import Gains, GainTable

Words = Callable[[Ints], NDArray[np.uint64]]  # of codes
# Ids that are looked at before all are.
FIRST = 64
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
    """From which grade on an item is relevant (None: above 0), and how a grade becomes a gain.

    `gains` is a word, or pairs (grade, gain) that rise.
    """

    relevant_from: float | None = None
    gains: Gains | GainTable = "linear"

    def __post_init__(self) -> None:
        """Check the options."""
        if isinstance(self.gains, str) or not isinstance(self.gains, (Mapping, tuple, list)):
            choice("gains", self.gains, GAINS)
        else:
            given: Any = self.gains.items() if isinstance(self.gains, Mapping) else self.gains
            try:
                pairs = sorted((float(grade), float(gain)) for grade, gain in given)
            except (TypeError, ValueError):
                pairs = []
            table, what = np.array(pairs), f"gains={self.gains!r}:"
            if not pairs:
                raise ValueError(f"{what} give 'linear', 'exponential', or {{grade: gain}}")
            if not (np.isfinite(table).all() and (table >= 0).all()):
                raise ValueError(f"{what} grades and gains are 0 or more, and finite")
            if (np.diff(table[:, 0]) == 0).any() or (np.diff(table[:, 1]) < 0).any():
                raise ValueError(f"{what} a higher grade must not have a lower gain")
            object.__setattr__(self, "gains", tuple(pairs))
        number = isinstance(self.relevant_from, (int, float, np.number))
        valid = number and 0 <= doubles(self.relevant_from) < np.inf
        if self.relevant_from is not None and not valid:
            given = f"relevant_from={self.relevant_from!r}"
            raise ValueError(f"{given}: give a grade, 0 or more, and finite")
        if isinstance(self.relevant_from, np.number):  # a number of Python, as JSON holds it
            object.__setattr__(self, "relevant_from", self.relevant_from.item())

    @property
    def words(self) -> str:
        """What the gain of a grade is, in words."""
        if self.table is None:
            return "gain = grade" if self.gains == "linear" else "gain 2^grade - 1"
        pairs: Any = self.gains
        return "gains " + ", ".join(f"{gain:g} of grade {grade:g}" for grade, gain in pairs)

    @property
    def table(self) -> tuple[Floats, Floats] | None:
        """The grades that have gains, rising, and these, 0 of grade 0; None for a word."""
        if isinstance(self.gains, str):
            return None
        pairs: Any = self.gains
        grades, gains = np.array(pairs if pairs[0][0] == 0 else ((0.0, 0.0), *pairs)).T
        return grades, gains

    def gains_of(self, grades: Floats) -> Floats:
        """Return the gains of grades; NaN where a table has none.

        2^grade - 1 keeps the digits of grades near 0.
        """
        if self.gains == "linear":
            return grades
        if self.table is not None:
            known, gains = self.table
            place = np.minimum(np.searchsorted(known, grades), len(known) - 1)
            return np.where(known[place] == grades, gains[place], np.nan)
        with np.errstate(over="ignore"):
            gains = np.exp2(grades) - 1
        small = grades < SMALL
        gains[small] = np.expm1(grades[small] * np.log(2))
        return gains


def read_gains(text: str) -> Any:
    """Read gains from a command line: a word, or the gain of each grade.

    Examples
    --------
    >>> read_gains("1=1,2=4"), read_gains("linear")
    ({1.0: 1.0, 2.0: 4.0}, 'linear')
    """
    pairs = [one.partition("=") for one in text.split(",")]
    try:
        gains: Any = {float(grade): float(gain) for grade, _, gain in pairs}
    except ValueError:
        gains = text
    return Grading(gains=gains) and gains


STANDARD = Grading()


def check_ignored(columns: Iterable[Any], names: Mapping[str, Any], in_file: bool = False) -> None:
    """Look for a column of grades among those of ground truths that have none by its name.

    One that only looks like it is a warning. One that is called score may be grades, as in BEIR, or
    a score that a system gave: neither is taken for granted.

    Raises
    ------
    ValueError
        For a column of scores.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     check_ignored(["user_id", "item_id", "Rating"], {"relevance": "relevance"})
    >>> print(found[0].message)
    ground_truths: column 'Rating' is ignored, all rows are relevant alike;
    columns={'ground_truths': {'relevance': 'Rating'}} reads it as grades
    """
    named, columns = {*names.values()}, list(columns)
    score = score_in(columns, names)
    if score is not None:
        how = "" if in_file else f", in pandas ground_truths.drop(columns={score!r})"
        way = {"ground_truths": {"relevance": score}}
        raise ValueError(
            f"ground_truths: column {score!r} is not read: if it is the relevance of the items, "
            f"columns={way!r} reads it; if it is not, leave the column out{how}"
        )
    texts = (name for name in columns if isinstance(name, str) and name not in named)
    ignored = next((name for name in texts if plain(name) in _LIKE_GRADES), None)
    if ignored is not None:
        way = {"ground_truths": {"relevance": ignored}}
        warnings.warn(
            f"ground_truths: column {ignored!r} is ignored, all rows are relevant alike; "
            f"columns={way!r} reads it as grades",
            stacklevel=2,
        )


def score_in(columns: Iterable[Any], names: Mapping[str, Any]) -> str | None:
    """Return the column of ground truths that is called score, if it holds no ids."""
    users = names.get("user_id", "")
    ids = {*(users if isinstance(users, tuple) else (users,)), names.get("item_id")}
    for name in columns:
        is_score = isinstance(name, str) and (plain(name) == "score" or name == names.get("score"))
        if is_score and name not in ids:
            return str(name)
    return None


def apply(truth: Flat, grading: Grading) -> tuple[Flat, Flat]:
    """Check the grades of a truth; return all its items, and the relevant ones with their gains.

    An item is relevant if its grade is above 0, or at least `relevant_from`. Its gain is the
    grade, or 2^grade - 1 with exponential gains; one whose grade is below 0 is never relevant.
    `Flat.grades` are grades of all items, and gains of the relevant ones: None where each is 1.
    Both are one object where that is so.

    Raises
    ------
    ValueError
        For a grade that is NaN or infinite, or a `relevant_from` without grades.
    """
    grades, least = truth.grades, grading.relevant_from
    if grades is None:
        if least is not None and len(truth.ids):
            raise ValueError(
                f"relevant_from={least!r} needs ground truths with grades: dicts item -> grade, or "
                "Lists with gains"
            )
        return truth, truth
    check(truth)
    gains = grading.gains_of(np.maximum(grades, 0.0))
    wrong = np.flatnonzero(~(gains <= LARGEST))
    if len(wrong):
        at, bound = wrong[0], f"beyond {LARGEST:g} the sums of squares over users overflow"
        grade = f"{grades[at]:g}"
        words = f"grade {grade} is too large: {bound}"
        if np.isnan(gains[at]):
            words = f"grade {grade} has no gain; add it, convention.replace(gains={{{grade}: ...}})"
        elif grading.gains == "exponential":
            words = f"2^grade of grade {grade} is too large a gain: {bound}; "
            words += "convention.replace(gains='linear') takes the grade"
        raise _refused(truth, at, f": {words}")
    kept = grades > 0 if least is None else grades >= least
    if kept.all():
        if np.all(gains == 1):
            plain = replace(truth, grades=None)
            return plain if np.all(grades == 1) else truth, plain
        same = grading.gains == "linear"
        return truth, truth if same else replace(truth, grades=gains)
    relevant = replace(truth, grades=gains).where(kept)
    if np.all(relevant.grades == 1):
        relevant = replace(relevant, grades=None)
    return replace(truth, grades=grades + 0.0), relevant  # no -0.0, which would stand last


def check(truth: Flat) -> None:
    """Raise ValueError for a grade that is none, and for an item with two."""
    grades = truth.grades
    if grades is None:
        return
    bad = np.flatnonzero(~np.isfinite(grades))
    if len(bad):
        raise _refused(truth, bad[0], f": grade {grades[bad[0]]}; a grade is finite")
    twice = -1 if truth.distinct else kernels.join.two_grades(truth.offsets, truth.ids, grades)
    if twice >= 0:
        words = " twice in the ground truth, with different grades"
        raise _refused(truth, twice, words, " has item ")


def _refused(truth: Flat, position: int, words: str, of: str = ", item ") -> ValueError:
    """Return the error of a grade at a position of all ids: words behind its user and item."""
    user = truth.user_at(position)
    item = truth.row(user)[position - truth.offsets[user]]
    error = ValueError(f"{truth.name_user(user)}{of}{item!r}{words}")
    found: ValueError = truth.about(error, user, item=item)
    return found


class Groups:
    """Ground truths made of groups: any id of a group will do, and all groups are wanted.

    Facts of an answer (nuggets), hops of a question, near-duplicates. It stands wherever
    `ground_truths` does. The metrics group_recall and alpha_ndcg are of the groups; all others are
    of the ids of all groups, each of which counts once.

    Parameters
    ----------
    groups : dict user -> list of groups, or list of these by position
        A group is a list, tuple, set or 1-D array of ids. An id may be in several groups, which it
        covers all. A user without groups has an empty ground truth.

    Raises
    ------
    TypeError
        For a user's groups that are no list, and a group that is none (a bare id, or grades).
    ValueError
        For a group without ids.

    Examples
    --------
    >>> import toplist as tl
    >>> truth = tl.Groups({"q1": [["a", "x"], ["c"]], "q2": [["b"]]})
    >>> truth
    Groups(2 users, 3 groups)
    >>> lists = {"q1": ["x", "a", "d"], "q2": ["b"]}
    >>> tl.curves("group_recall", lists, truth), tl.recall(lists, truth).round(4)
    (array([[0.5, 0.5, 0.5],
           [1. , 1. , 1. ]]), array([[0.3333, 0.6667, 0.6667],
           [1.    , 1.    , 1.    ]]))
    """

    def __init__(
        self, groups: Mapping[Any, Sequence[Sequence[Any]]] | Sequence[Sequence[Sequence[Any]]]
    ) -> None:
        if not isinstance(groups, (Mapping, list, tuple)):
            raise TypeError(
                f"Groups: give a dict user -> list of groups, or a list of these, not a "
                f"{type(groups).__name__}"
            )
        given = list(groups.values()) if isinstance(groups, Mapping) else groups
        users = list(groups) if isinstance(groups, Mapping) else None
        rows = list[GroupedIds]()
        for user, row in enumerate(given):
            name = name_user(users, user)
            if not isinstance(row, (list, tuple)):
                raise TypeError(
                    f"Groups: {name} has {row!r:.60} where a list of groups belongs: write "
                    "[[...], [...]], and [] for none"
                )
            if not set(map(type, row)) <= _PLAIN:
                row = [_ids(one, f"{name}, group {at}") for at, one in enumerate(row)]
            if not all(row):
                at = next(at for at, one in enumerate(row) if not one)
                raise ValueError(
                    f"Groups: {name}, group {at} has no id: leave it out, or write its ids"
                )
            rows.append(GroupedIds.of(row))
        self.rows = rows if users is None else dict(zip(users, rows, strict=True))
        self._n_groups = sum(map(len, given))

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self.rows)

    def __repr__(self) -> str:
        """Return the sizes."""
        return f"Groups({counted(len(self), 'user')}, {counted(self._n_groups, 'group')})"


_PLAIN = {list, tuple, set, frozenset, range}


def _ids(group: Any, name: str) -> Any:
    """Return the ids of one group; TypeError for what is none."""
    if is_container(group) or isinstance(group, Set):
        return group.tolist() if isinstance(group, np.ndarray) else group
    way = f"write [{group!r:.40}]"
    if isinstance(group, Mapping):
        way = "groups have no grades, write a list of what is relevant"
    raise TypeError(f"Groups: {name} is {group!r:.60}, no list of ids: {way}")


@dataclass(frozen=True, eq=False)
class Coverage:
    """The groups of the relevant items, user after user, and which of these the hits are.

    Attributes
    ----------
    items : (n_hits,) int32
        Which of the user's relevant items each hit is, from 0; empty before the join.
    sizes : (sum of n_relevant,) integers
        How many groups each relevant item is in, user after user.
    groups : (sum of sizes,) int32
        The groups of each relevant item, as numbers from 0 within the user.
    n_groups : (n_users,) integers
        How many groups each user has.
    order : (sum of n_relevant,) integers
        Numbers of the relevant items, in the order of their ids.
    """

    items: NDArray[np.int32]
    sizes: Ints
    groups: NDArray[np.int32]
    n_groups: Ints
    order: Ints

    @classmethod
    def of(cls, truth: Flat) -> tuple[Flat, Coverage]:
        """Return the distinct relevant items, and their groups: those in place of grades."""
        ids, offsets, labels = truth.graded_block(0, len(truth.lengths))
        order = _ranked(truth)
        numbers, n_groups = np.empty(len(ids), np.int64), np.empty(len(truth.lengths), np.int64)
        if not kernels.truths.number_runs(offsets, labels, numbers, n_groups):
            rows, _ = kernels.hashing.order_of_rows(labels.astype(np.int64), offsets)
            ids, order = ids[rows], order[rows]
            kernels.truths.number_runs(offsets, labels[rows], numbers, n_groups)
        items, places, sizes = np.empty((3, len(ids)), np.int64)
        groups = np.empty(len(ids), np.int32)
        lengths = np.empty(len(truth.lengths), np.int64)
        n = kernels.truths.by_item(offsets, ids, numbers, items, lengths, sizes, groups, places)
        if order is not truth.ids:
            order_of_items = np.empty(n, np.int64)
            order_of_items[places[places >= 0]] = order[places >= 0]
        else:
            order_of_items = items[:n]
        of_groups = cls(groups[:0], sizes[:n], groups[: sizes[:n].sum()], n_groups, order_of_items)
        offsets = offsets_of(lengths)
        items_alone = replace(truth, ids=items[:n], offsets=offsets, lengths=lengths, grades=None)
        return items_alone, of_groups

    def hashes(self, offsets: Ints, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return a hash of each user's groups, by the words of their ids."""
        found = np.empty(len(self.n_groups), np.uint64)
        starts = offsets_of(self.sizes)
        kernels.truths.hash_groups(offsets, words, starts, self.groups, self.n_groups, found)
        return found

    @classmethod
    def plain(cls, n_hits: int, n_relevant: Ints) -> Coverage:
        """Return the coverage of users without relevant items."""
        if n_hits or n_relevant.any():
            raise ValueError("Hits of truths made of groups and of plain ones do not merge")
        none, nothing = np.empty(0, np.int32), np.empty(0, np.int64)
        return cls(none, nothing, none, np.zeros(len(n_relevant), np.int64), nothing)

    def merged(self, other: Coverage) -> Coverage:
        """Return the coverage of both sets of users, one after the other."""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Coverage(*map(np.concatenate, pairs))

    def subset(
        self, rows: Ints, n_relevant: Ints, items: NDArray[np.int32], taken: Callable[..., Any]
    ) -> Coverage:
        """Return the coverage of some users, given the items of their hits."""
        ideal = offsets_of(n_relevant)
        groups = taken(offsets_of(self.sizes)[ideal], self.groups)
        sizes, order = taken(ideal, self.sizes), taken(ideal, self.order)
        return Coverage(items, sizes, groups, self.n_groups[rows], order)

    def hit(self, kept: Bools) -> Coverage:
        """Return the coverage of some of the hits."""
        return replace(self, items=self.items[kept])

    def listed(self, offsets: Ints, n_relevant: Ints, listed: Bools) -> Coverage:
        """Return the coverage of relevant items that are hit, and of users without a list.

        What no list has is in no group; a group of which no item is left is none, and the others
        are numbered again.
        """
        ideal, users = offsets_of(n_relevant), np.arange(len(n_relevant))
        places = ideal[np.repeat(users, np.diff(offsets))] + self.items
        kept = ~np.repeat(listed, n_relevant)
        kept[places] = True
        before = offsets_of(kept)
        items = before[places] - before[ideal[:-1]][np.repeat(users, np.diff(offsets))]
        groups = self.groups[np.repeat(kept, self.sizes)]
        sizes = self.sizes[kept]
        ends = offsets_of(sizes)[before[ideal]]
        whose = np.repeat(users, np.diff(ends))
        left, numbers = np.unique(whose << 32 | groups, return_inverse=True)
        n_groups = np.bincount(left >> 32, minlength=len(users))
        groups = (numbers - offsets_of(n_groups)[whose]).astype(np.int32)
        return Coverage(items.astype(np.int32), sizes, groups, n_groups, self.order[kept])

    def found(
        self, offsets: Ints, ranks: NDArray[np.int32], n_relevant: Ints
    ) -> tuple[Ints, NDArray[np.int32]]:
        """Return the ranks at which groups are first found, and where those of each user begin."""
        starts = offsets_of(self.sizes)
        # a hit finds the groups of its item, at most
        places = offsets_of(n_relevant)[:-1]
        most = self.sizes[np.repeat(places, np.diff(offsets)) + self.items].sum()
        found, n_found = np.empty(most, np.int32), np.empty(len(n_relevant), np.int64)
        n = kernels.truths.first_found(
            *(offsets, ranks, self.items, offsets_of(n_relevant), starts, self.groups),
            *(self.n_groups, found, n_found),
        )
        return offsets_of(n_found), found[:n]

    def novelty(self, offsets: Ints, n_relevant: Ints, alpha: float) -> tuple[Floats, Floats]:
        """Return the gains of hits and of a greedy ideal order, as `kernels.truths.novelty`."""
        gains, ideal = np.empty(len(self.items)), np.empty(len(self.sizes))
        best = offsets_of(n_relevant)
        order, _ = kernels.hashing.order_of_rows(~self.order, best)  # the highest id first
        kernels.truths.novelty(
            *(offsets, self.items, best, order, offsets_of(self.sizes), self.groups),
            *(1.0 - alpha, gains, ideal),
        )
        return gains, ideal


def _ranked(truth: Flat) -> Ints:
    """Return a number for each id, in the order of the ids as they were written."""
    column = Column("item_id", truth.ids, truth.names)
    if truth.source is not None:
        written = list(chain.from_iterable(truth.rows))
        numbering = Numbering()
        codes = numbering.number(truth.ids)
        places = np.empty(len(numbering), np.int64)
        places[codes[::-1]] = np.arange(len(codes))[::-1]  # the first of each
        column = Column("item_id", codes, [written[at] for at in places.tolist()])
    return order_of_ids(column, "ground_truths")


@dataclass(frozen=True, eq=False)
class Judged:
    """The judged items of ground truths, and the relevant ones among them.

    `truth` has all judged items with their grades, `relevant` those that are relevant with their
    gains. `words` returns the words of codes; None where the integers are ids, or hashes. `groups`
    are those of the relevant items, which then are distinct. `known` is what the join knows of them
    from other lists that met them.
    """

    truth: Flat
    relevant: Flat
    words: Words | None = None
    groups: Coverage | None = None
    known: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Flat, grading: Grading, whole: bool = True) -> Judged:
        """Read ground truths of integers, codes or hashes.

        `whole` says that these are all users, so that the truth may be seen to be a matrix.
        """
        truth, groups = given.compact(), None
        if given.grouped:
            truth, groups = Coverage.of(truth)
        elif whole and given.source is None and given.names is None:
            check_no_matrix(truth)
        judged, relevant = apply(truth, grading)
        words: Words | None = getattr(given.names, "hashes", None)
        if isinstance(given.names, list):  # else integers themselves, or texts that know theirs
            from toplist.inputs.texts import hashes_of

            words = hashes_of(given.names).__getitem__
        return cls(judged, relevant, words, groups)


def check_no_matrix(truth: Flat) -> None:
    """Raise ValueError for integer ids that are all 0 or 1, where a row holds one of them twice.

    A set of ids holds each once, so this is a row of a matrix, or nothing that can be told from it.

    Examples
    --------
    >>> from toplist.inputs.lists import flatten
    >>> check_no_matrix(flatten(np.array([[0, 1, 1]]), None, "ground_truths"))
    Traceback (most recent call last):
        ...
    ValueError: ground_truths: user 0 has 1 twice, and all ids are 0 or 1: if this is a matrix of \
users x items, give Lists.from_matrix(matrix); if 0 and 1 are ids, give each once, as sets
    """
    items = truth.ids
    if np.any(items[:FIRST] >> 1) or np.any(items >> 1):
        return
    ones = np.diff(offsets_of(items)[truth.offsets])
    zeros = np.diff(truth.offsets) - ones
    rows = np.flatnonzero((ones > 1) | (zeros > 1))
    if len(rows):
        user = int(rows[0])
        error = ValueError(
            f"ground_truths: {truth.name_user(user)} has {int(ones[user] > 1)} twice, and all ids "
            "are 0 or 1: if this is a matrix of users x items, give Lists.from_matrix(matrix); if "
            "0 and 1 are ids, give each once, as sets"
        )
        raise truth.about(error, user)
