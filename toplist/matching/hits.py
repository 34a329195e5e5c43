"""`Hits`: the ranks of the judged items of each user. After the join no id is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toplist.checks import Bools, Floats, Ints, cached, no_mask
from toplist.inputs.keyed import keys_of
from toplist.inputs.lists import offsets_of, places_of
from toplist.inputs.options import Unjudged
from toplist.inputs.truths import STANDARD, Coverage, Grading
from toplist.matching.about import NOTHING, About
from toplist.matching.relevant import RelevantHits

if TYPE_CHECKING:
    from toplist.matching.hit_items import HitItems


# The depth of lists that are kept whole: no k reaches below it.
WHOLE = int(np.iinfo(np.int32).max)


@dataclass(frozen=True, eq=False)
class Hits:
    """The ranks of the judged items in each user's list: all that the metrics need.

    Which of them are relevant is a threshold of their grades, so that a metric with another
    threshold, or one that reads what is judged not relevant, needs no other join: `relevant` has
    the hits that most metrics count, with their gains; `judged` and `from_grade` have others.

    Parameters
    ----------
    offsets : (n_users + 1,) integers
        User u's hits are ``ranks[offsets[u]:offsets[u + 1]]``.
    ranks : (n_hits,) integers
        Ranks from 1, rising within a user.
    n_truth : (n_users,) integers
        Size of the ground truth (distinct ids).
    n_listed : (n_users,) integers
        Length of the list, as far as it was read.
    grades : (n_hits,) floats, optional
        The grade of each hit; default 1.
    truth_grades : (sum of n_truth,) floats, optional
        The grades of all items of the ground truths, user after user, best first; goes with
        `grades`.
    k : int, optional
        The depth that metrics look to; default the longest list.
    grading : Grading
        From which grade on an item is relevant, and how grades become gains.
    unjudged : {"miss", "drop"}
        What is done with listed items that have no grade: see `judged_only`.
    listed_only : bool
        Whether ground truths are known for listed items only: see `listed`.
    users : sequence, optional
        The users' keys, one per row.
    coverage : Coverage, optional
        Where ground truths are made of groups (`toplist.Groups`), which groups the hits are in; R
        counts the ids of all groups.
    items : HitItems, optional
        Which item each hit is, for `TopKResult.by_item`; None for hits made by hand, and of groups.
    about : About
        What is known of the join beside the hits.

    Raises
    ------
    ValueError
        If the arrays contradict each other.

    Examples
    --------
    >>> from toplist import match
    >>> hits = match([[5, 7, 8, 9, 3], [4, 6, 2, 1, 10]], [{7, 3, 5}, {4, 2, 8, 7}])
    >>> hits.ranks.tolist(), hits.offsets.tolist(), hits.n_relevant.tolist()
    ([1, 2, 5, 1, 3], [0, 3, 5], [3, 4])
    >>> graded = match(["a", "b", "c"], {"a": 0, "b": 3, "d": 1})
    >>> graded.ranks.tolist(), graded.relevant.ranks.tolist(), graded.relevant.gains.tolist()
    ([1, 2], [2], [3.0])
    """

    offsets: Ints
    ranks: NDArray[np.int32]
    n_truth: Ints
    n_listed: Ints
    grades: Floats | None = None
    truth_grades: Floats | None = None
    k: int = -1
    grading: Grading = STANDARD
    unjudged: Unjudged = "miss"
    listed_only: bool = False
    users: Sequence[Any] | None = None
    coverage: Coverage | None = None
    items: HitItems | None = None
    about: About = NOTHING

    def __post_init__(self) -> None:
        """Check and normalise the arrays."""
        from toplist.matching.hit_arrays import check, integers  # the join's hits are trusted

        set_ = object.__setattr__  # frozen: normalised once, here
        for name in ("offsets", "ranks", "n_truth", "n_listed"):
            set_(self, name, integers(name, getattr(self, name)))
        if self.k == -1:
            set_(self, "k", int(self.n_listed.max(initial=0)))
        elif isinstance(self.k, bool) or not isinstance(self.k, (int, np.integer)) or self.k < 0:
            raise ValueError(f"Hits: k must be a whole number, not {self.k!r}")
        for name in ("grades", "truth_grades"):
            if getattr(self, name) is not None:
                no_mask(getattr(self, name), f"Hits: {name}")
                set_(self, name, np.ascontiguousarray(getattr(self, name), np.float64))
        known = isinstance(self.users, Sequence) and not isinstance(self.users, str)
        if self.users is not None and not known:
            set_(self, "users", keys_of(self.users, len(self.n_truth)))
        check(self)
        set_(self, "ranks", np.minimum(self.ranks, WHOLE).astype(np.int32))

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self.n_truth)

    def __repr__(self) -> str:
        """Return the sizes."""
        return f"Hits({len(self):,} users, {len(self.ranks):,} hits, lists read to k={self.k})"

    @cached
    def relevant(self) -> RelevantHits:
        """The hits of relevant items, with their gains: what most metrics count."""
        return self._counting(self.grading.relevant_from)

    @cached
    def judged(self) -> RelevantHits:
        """The hits of all items with a grade of 0 or more, those that are not relevant too.

        Without the items below 0: trec_eval takes these for unjudged, in bpref and where unjudged
        items leave.
        """
        everything = np.array_equal(self.relevant.n_relevant, self._known[0])
        return self.relevant if everything else self._counting(0.0)

    @cached
    def every_judged(self) -> RelevantHits:
        """The hits of all items with a grade in the lists as given; R counts all that were judged.

        Those below 0 gain what those of grade 0 do.
        """
        everything = np.array_equal(self.relevant.n_relevant, self.n_truth)
        if everything and self.unjudged == "miss" and not self.listed_only:
            return self.relevant
        grades, best = (
            None if one is None else np.maximum(one, 0.0)
            for one in (self.grades, self.truth_grades)
        )
        lengths = self.n_listed  # as given, down to k; whole where unjudged items leave
        lengths = lengths if self.unjudged == "drop" else np.minimum(lengths, self.k)
        return self._counted((self.offsets, self.ranks, self.n_truth, lengths), grades, best)

    def from_grade(self, least: float) -> RelevantHits:
        """Return the hits of the items with this grade or a higher one, whatever is relevant.

        Examples
        --------
        >>> from toplist import match
        >>> match(["a", "b", "c"], {"a": 1, "b": 0, "c": 3}).from_grade(2).ranks.tolist()
        [3]
        """
        known: dict[float, RelevantHits] = vars(self).setdefault("_from_grade", {})
        return known[least] if least in known else known.setdefault(least, self._counting(least))

    def _counting(self, least: float | None) -> RelevantHits:
        """Return the hits of items that are relevant from a grade on; None: above 0."""
        found = self._above(least)
        if self.unjudged == "drop":
            found = found.closed_up(self._above(0.0))
        # lists were read below k, where what is there changes the ranks, or R
        return found.cut(self.k) if self.unjudged == "drop" or self.listed_only else found

    def _above(self, least: float | None) -> RelevantHits:
        """Return the same of the lists as given, down to their ends."""
        offsets, ranks, coverage = self.offsets, self.ranks, self.coverage
        (n_relevant, best), grades = self._known, self.grades
        if coverage is not None and self.listed_only:
            coverage = coverage.listed(offsets, self.n_truth, self.n_listed > 0)
        if best is None and (least or 0.0) > 1:
            grades, best = np.ones(len(ranks)), np.ones(int(n_relevant.sum()))
        if grades is not None and best is not None:
            kept = above(best, least)
            if not kept.all():
                hit = above(grades, least)
                offsets, ranks, grades = offsets_of(hit)[offsets], ranks[hit], grades[hit]
                n_relevant = np.diff(offsets_of(kept)[offsets_of(n_relevant)])
                best = best[kept]
        return self._counted((offsets, ranks, n_relevant, self.n_listed), grades, best, coverage)

    def _counted(
        self, arrays: Any, grades: Floats | None, best: Floats | None, coverage: Any = None
    ) -> RelevantHits:
        """Return hits of these offsets, ranks, R and lengths of lists, with their grades."""
        offsets, ranks, n_relevant, n_listed = arrays
        graded = best is not None and not np.all(self.grading.gains_of(best) == 1)
        how = graded, self.grading, self.deepest, coverage
        return RelevantHits(offsets, ranks, n_relevant, n_listed, grades, best, *how)

    @cached
    def _known(self) -> tuple[Ints, Floats | None]:
        """How many items of each truth may count, and their grades, best first.

        All, or where ground truths are known for listed items only, these.
        """
        if not self.listed_only:
            return self.n_truth, self.truth_grades
        n_hits, listed = np.diff(self.offsets), self.n_listed > 0
        n_known = np.where(listed, n_hits, self.n_truth)
        if self.grades is None or self.truth_grades is None:
            return n_known, None
        users = np.arange(len(self))
        of_truth = np.repeat(users, self.n_truth)
        unlisted = ~listed[of_truth]
        grades = np.concatenate([self.grades, self.truth_grades[unlisted]])
        whose = np.concatenate([np.repeat(users, n_hits), of_truth[unlisted]])
        return n_known, grades[np.lexsort((-grades, whose))]

    def all_grades(self) -> tuple[Floats, Floats]:
        """Return the grades of the hits, and of all items of the truths; 1 where there are none.

        ValueError where they have none, and a table of gains has no grade 1.
        """
        if self.grades is not None and self.truth_grades is not None:
            return self.grades, self.truth_grades
        if self.n_truth.any() and np.isnan(self.grading.gains_of(np.ones(1))).any():
            raise ValueError(
                "items without a grade have grade 1, which has no gain: add it, "
                "convention.replace(gains={1: ...})"
            )
        return np.ones(len(self.ranks)), np.ones(int(self.n_truth.sum()))

    @property
    def n_relevant(self) -> Ints:
        """The number of relevant items of each user, (n_users,)."""
        return self.relevant.n_relevant

    @property
    def graded(self) -> bool:
        """Whether some relevant item gains another number than 1."""
        return self.relevant.graded

    def has_misses(self, least: float | None = None) -> bool:
        """Return whether some item with a grade of 0 or more is judged not relevant.

        An item is relevant from the `least` grade on, by default as always.
        """
        grades = self.truth_grades
        least = self.grading.relevant_from if least is None else least
        return grades is not None and bool(np.any((grades >= 0) & ~above(grades, least)))

    @property
    def largest_grade(self) -> float:
        """The largest grade of a ground truth; 0 where none is relevant."""
        return self.judged.largest_grade

    @property
    def given(self) -> Hits:
        """The same of the lists as they were given: whole, with unjudged items."""
        return self.of_part(unjudged="miss", k=WHOLE)

    @property
    def deepest(self) -> int:
        """The length of the longest list as given, as far as it was read."""
        longest = int(self.n_listed.max(initial=0))
        return longest if self.unjudged == "drop" else min(longest, self.k)

    @property
    def longest(self) -> int:
        """The length of the longest list as it was given: before unjudged items left it."""
        return self.k if self.unjudged == "miss" else self.deepest

    def __add__(self, other: Hits) -> Hits:
        """Return the hits of both sets of users, one after the other.

        Raises
        ------
        ValueError
            If the depths differ, only one has users' keys, or a user is in both.
        """
        return self.merged(other) if isinstance(other, Hits) else NotImplemented

    def merged(self, other: Hits, disjoint: bool = False) -> Hits:
        """Return ``self + other``; if `disjoint`, equal ground truths are of different users."""
        both = self, other
        for name in ("k", "grading", "unjudged", "listed_only"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise ValueError(f"Hits of {name} {mine} and of {name} {theirs} do not merge")
        grades = truth_grades = coverage = None
        if self.grades is not None or other.grades is not None:
            parts = [one.all_grades() for one in both]
            grades, truth_grades = (np.concatenate(part) for part in zip(*parts, strict=True))
        if self.coverage is not None or other.coverage is not None:
            # one without relevant items has no groups
            mine, theirs = (
                one.coverage or Coverage.plain(len(one.ranks), one.n_truth) for one in both
            )
            coverage = mine.merged(theirs)
        found = any(one.about.unmatched is None and len(one.relevant.ranks) for one in both)
        return self.of_part(
            offsets=np.concatenate([self.offsets, other.offsets[1:] + self.offsets[-1]]),
            ranks=np.concatenate([self.ranks, other.ranks]),
            n_truth=np.concatenate([self.n_truth, other.n_truth]),
            n_listed=np.concatenate([self.n_listed, other.n_listed]),
            grades=grades,
            truth_grades=truth_grades,
            users=_joined_users(self.users, other.users),
            coverage=coverage,
            items=self.items.merged(other.items) if self.items and other.items else None,
            about=self.about.merged(other.about, disjoint, found),
        )

    def subset(self, rows: ArrayLike) -> Hits:
        """Return the hits of some of the users, with their keys; by position, with their rows.

        Parameters
        ----------
        rows : integers, or (n_users,) bool
            Row numbers in any order, each once; or a mask.

        Raises
        ------
        TypeError, ValueError
            For what is neither, a row that there is not, and one that is named twice.

        Examples
        --------
        >>> from toplist import match
        >>> match([[1], [2], [3]], [{1}, {9}, {3}]).subset([2, 0]).users
        [2, 0]
        """
        from toplist.matching.hit_arrays import rows_of

        rows = rows_of(self, rows)

        def taken(offsets: Ints, values: Any) -> Any:
            return None if values is None else values[places_of(offsets, rows)]

        of_truth, coverage = offsets_of(self.n_truth), self.coverage
        if coverage is not None:
            items = taken(self.offsets, coverage.items)
            coverage = coverage.subset(rows, self.n_truth, items, taken)
        users = range(len(self)) if self.users is None else self.users
        return self.of_part(
            offsets=offsets_of(np.diff(self.offsets)[rows]),
            ranks=taken(self.offsets, self.ranks),
            n_truth=self.n_truth[rows],
            n_listed=self.n_listed[rows],
            grades=taken(self.offsets, self.grades),
            truth_grades=taken(of_truth, self.truth_grades),
            users=[users[row] for row in rows.tolist()],
            coverage=coverage,
            items=None if self.items is None else self.items.subset(self.offsets, rows),
            about=self.about.subset(rows),
        )

    def listed(self, k: int | None = None) -> Hits:
        """Return the same hits of ground truths that are known for listed items only.

        R is then the number of hits in the list, as far as it was read (a `Hits` of the first k
        ids knows no others); what is not listed has no part in any metric. So do libraries that
        take labels beside scores: torchmetrics, LightGBM, TensorFlow Ranking, Evidently. A list may
        score 1 with half of the relevant items missing. Users without a list keep their R: the
        policy for missing lists is about them. The metric `judged`, which is over what was
        retrieved, stays as it is.

        Parameters
        ----------
        k : int, optional
            Leave out what is below this rank, though it counts in R.

        Examples
        --------
        >>> import toplist as tl
        >>> hits = tl.match([5, 7, 8], {8, 1, 2})
        >>> tl.recall(hits).round(4).tolist(), tl.recall(hits.listed()).tolist()
        ([[0.0, 0.0, 0.3333]], [[0.0, 0.0, 1.0]])
        """
        return self.of_part(listed_only=True, k=self.k if k is None else k)

    def judged_only(self, k: int | None = None) -> Hits:
        """Return the hits of the lists without the items that have no grade; ranks close up.

        As trec_eval -J (Sakai, SIGIR 2007): what nobody judged is not taken for a miss. The ranks
        of `relevant` are then places among the judged items of the list, of any grade from 0 on; R
        is as before. An item graded below 0 leaves, as in trec_eval, which takes it for unjudged.
        Later copies of an item leave too. Metrics refuse ground truths of which no item of grade 0
        or more is judged not relevant (sets, grades above 0): only hits would be left, and every
        list be perfect.
        The lists must have been read whole: ``match(..., unjudged="drop")`` does both.

        Parameters
        ----------
        k : int, optional
            Leave out what is then below this rank; default nothing.

        Examples
        --------
        >>> from toplist import match
        >>> hits = match(["x", "a", "y", "b", "c"], {"a": 1, "b": 0, "c": 2}).judged_only()
        >>> hits.relevant.ranks.tolist()
        [1, 3]
        """
        if k is None:
            k = int(np.diff(self._above(0.0).offsets).max(initial=0))
        return self.of_part(unjudged="drop", k=k)

    def of_part(self, **changed: Any) -> Hits:
        """Return the hits with other values of some fields, also of those of `about`."""
        names = {field.name for field in fields(About)}
        about = {name: changed.pop(name) for name in names & changed.keys()}
        if about:
            changed["about"] = replace(self.about, **about)
        return trusted(**self.__getstate__() | changed)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without what was computed once."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_matrix(cls, hit_matrix: ArrayLike, n_relevant: ArrayLike, users: Any = None) -> Hits:
        """Return the hits of a matrix of 0/1 that says which ranks hold a relevant item.

        Parameters
        ----------
        hit_matrix : (n_users, K) array of bool or 0/1
            What RecBole calls ``pos_index``.
        n_relevant : (n_users,) integers
            Size of each ground truth (``pos_len``).
        users : keys, one per row, optional
            Names the users; else they are known by position.

        Examples
        --------
        >>> Hits.from_matrix([[0, 1, 1], [0, 0, 0]], [3, 1]).ranks.tolist()
        [2, 3]
        """
        matrix = np.asarray(hit_matrix)
        if matrix.ndim != 2 or not np.all((matrix == 0) | (matrix == 1)):
            raise ValueError("Hits.from_matrix: a 2-D array of 0 and 1 is needed (users x ranks)")
        rows, places = np.nonzero(matrix)
        n_users, k = matrix.shape
        counts = np.bincount(rows, minlength=n_users)
        ranks: Any = places + 1
        sizes: Any = n_relevant
        keys = None if users is None else keys_of(users, n_users)
        return cls(offsets_of(counts), ranks, sizes, np.full(n_users, k), k=k, users=keys)

    @classmethod
    def from_ranks(
        cls, rank_of_the_item: ArrayLike, n_listed: ArrayLike, users: Any = None
    ) -> Hits:
        """Return the hits of leave-one-out: one relevant item per user, at a known rank.

        Parameters
        ----------
        rank_of_the_item : (n_users,) integers
            Rank of the held-out item from 1; 0 where it is not listed.
        n_listed : int or (n_users,) integers
            Length of each list.
        users : keys, one per row, optional
            Names the users; else they are known by position.

        Examples
        --------
        >>> Hits.from_ranks([1, 0, 3], 10)
        Hits(3 users, 2 hits, lists read to k=10)
        """
        from toplist.matching.hit_arrays import integers, whole_ranks

        ranks = whole_ranks(rank_of_the_item)
        listed = integers("n_listed", n_listed)
        if listed.shape not in ((), (1,), ranks.shape):
            raise ValueError(f"Hits.from_ranks: n_listed is {listed.shape}, ranks {ranks.shape}")
        listed = np.broadcast_to(listed, ranks.shape)
        if np.any((ranks < 0) | (ranks > listed)):
            user = int(np.flatnonzero((ranks < 0) | (ranks > listed))[0])
            raise ValueError(
                f"Hits.from_ranks: user {user}: rank {ranks[user]} in a list of {listed[user]}; "
                "ranks run from 1 to the length of the list, 0 means not listed"
            )
        found = ranks > 0
        keys = None if users is None else keys_of(users, len(ranks))
        return cls(offsets_of(found), ranks[found], np.ones(len(ranks)), listed, users=keys)  # type: ignore[arg-type]


def _joined_users(a: Sequence[Any] | None, b: Sequence[Any] | None) -> list[Any] | None:
    if a is None and b is None:
        return None
    if a is None or b is None:
        raise ValueError("one part has its users by key, the other by position: they do not merge")
    firsts = [users[0] for users in (a, b) if len(users)]
    kinds = {int if isinstance(one, (int, np.integer)) else type(one) for one in firsts}
    if len(kinds) > 1:
        raise ValueError(
            f"the users of one part are like {firsts[0]!r}, of the other like {firsts[1]!r}: these "
            "are never equal; convert one of them"
        )
    few, many = sorted((a, b), key=len)  # parts are added to the sum of all before them
    twice = set(few).intersection(many)
    if twice:
        raise ValueError(f"user {min(twice, key=repr)!r} is in both parts: a user counts once")
    return [*a, *b]


def above(grades: Floats, least: float | None) -> Bools:
    """Return which grades make an item relevant: from the least on; None: above 0."""
    return grades > 0 if least is None else grades >= least


def trusted(**fields: Any) -> Hits:
    """Return hits that the join made: the checks of `Hits` took as long as a third of the join."""
    hits = object.__new__(Hits)
    for name, value in fields.items():
        if isinstance(value, np.ndarray):
            value = value.view()
            value.flags.writeable = False
        object.__setattr__(hits, name, value)
    return hits
