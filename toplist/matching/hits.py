"""`Hits`: the ranks of the relevant items of each user. After the join no id is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toplist import kernels
from toplist.checks import Bools, Floats, Ints, cached
from toplist.inputs.flatten import Scored
from toplist.inputs.grades import STANDARD, Grading
from toplist.inputs.lists import offsets_of, places_of
from toplist.inputs.options import Unjudged

if TYPE_CHECKING:
    from toplist.matching.coverage import Coverage
    from toplist.matching.fingerprints import Fingerprint
    from toplist.matching.hit_items import HitItems


# The depth of lists that are kept whole: no k reaches below it.
WHOLE = int(np.iinfo(np.int32).max)


@dataclass(frozen=True, eq=False)
class Hits:
    """The ranks of the relevant items in each user's list: all that the metrics need.

    Parameters
    ----------
    offsets : (n_users + 1,) integers
        User u's hits are ``ranks[offsets[u]:offsets[u + 1]]``.
    ranks : (n_hits,) integers
        Ranks from 1, rising within a user.
    n_relevant : (n_users,) integers
        Size of the ground truth (distinct ids).
    n_listed : (n_users,) integers
        Length of the list, down to depth `k`.
    gains : (n_hits,) floats, optional
        The gain of each hit in graded metrics; default 1.
    ideal_gains : (sum of n_relevant,) floats, optional
        The gains of all relevant items, user after user, best first; goes with `gains`.
    k : int, optional
        The depth the lists were read to; default the longest list.
    grading : Grading
        How grades became gains.
    users : sequence, optional
        The users' keys, one per row.
    n_extra : int
        Users with a list and no ground truth; they have no row.
    fingerprints : tuple of Fingerprint
        One for the ground truths of each part that was joined; none for hits made by hand.
    truth_hashes : (n_users,) uint64, optional
        A hash of each ground truth, of its ids and gains; None for hits made by hand.
    judged : Hits, optional
        The hits of all items with a grade of 0 or more, where some item is not relevant: same users
        and lists. What is relevant decides counts; the convention says whose gains. Where some
        grades are below 0, it has `judged` itself: the hits of these items too.
    no_miss : bool
        Whether only items below 0 are judged not relevant, so that `judged` has the same hits.
    coverage : Coverage, optional
        Where ground truths are made of groups (`toplist.Groups`), which groups the hits are in; R
        counts the ids of all groups.
    items : HitItems, optional
        Which relevant item each hit is, for `TopKResult.by_item`; None for hits made by hand, and
        of groups.
    before : Hits, optional
        Where unjudged items left the lists (see `judged_only`), the hits of the whole lists.
    n_judged : (n_users,) integers, optional
        Where R counts listed items only (see `listed`), how many were judged, listed or not.
    examples : (str, str), optional
        Where nobody has a hit: a listed and a relevant id as written.
    scored : Scored, optional
        Of lists that came with scores, how many items have equal ones.
    cause : str
        What seems to keep these apart, such as "a trailing .0"; "" if that is not known.

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
    >>> match(["a", "b"], {"b": 3, "c": 1}).gains.tolist()
    [3.0]
    """

    offsets: Ints
    ranks: NDArray[np.int32]
    n_relevant: Ints
    n_listed: Ints
    gains: Floats | None = None
    ideal_gains: Floats | None = None
    k: int = -1
    grading: Grading = STANDARD
    users: Sequence[Any] | None = None
    n_extra: int = 0
    fingerprints: tuple[Fingerprint, ...] = ()
    truth_hashes: NDArray[np.uint64] | None = None
    judged: Hits | None = None
    no_miss: bool = False
    before: Hits | None = None
    n_judged: Ints | None = None
    examples: tuple[str, str] | None = None
    cause: str = ""
    scored: Scored | None = None
    coverage: Coverage | None = None
    items: HitItems | None = None

    def __post_init__(self) -> None:
        """Check and normalise the arrays."""
        from toplist.matching.hit_arrays import check, integers  # the join's hits are trusted

        set_ = object.__setattr__  # frozen: normalised once, here
        for name in ("offsets", "ranks", "n_relevant", "n_listed"):
            set_(self, name, integers(name, getattr(self, name)))
        if self.k == -1:
            set_(self, "k", int(self.n_listed.max(initial=0)))
        elif isinstance(self.k, bool) or not isinstance(self.k, (int, np.integer)) or self.k < 0:
            raise ValueError(f"Hits: k must be a whole number, not {self.k!r}")
        for name in ("gains", "ideal_gains"):
            if getattr(self, name) is not None:
                set_(self, name, np.ascontiguousarray(getattr(self, name), np.float64))
        known = isinstance(self.users, Sequence) and not isinstance(self.users, str)
        if self.users is not None and not known:
            set_(self, "users", _keys_of(self.users, len(self.n_relevant)))
        check(self)
        set_(self, "ranks", np.minimum(self.ranks, WHOLE).astype(np.int32))

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self.n_relevant)

    def __repr__(self) -> str:
        """Return the sizes."""
        return f"Hits({len(self):,} users, {len(self.ranks):,} hits, lists read to k={self.k})"

    @property
    def graded(self) -> bool:
        """Whether the hits have gains of their own."""
        return self.gains is not None

    @property
    def unjudged(self) -> Unjudged:
        """What was done with items without a grade: "miss", or "drop" by `judged_only`."""
        return "miss" if self.before is None else "drop"

    @property
    def given(self) -> Hits:
        """The hits of the lists as they were given: before unjudged items left them."""
        return self if self.before is None else self.before

    @property
    def of_judged(self) -> Hits:
        """The hits of all judged items in the lists as given; R counts all that were judged."""
        given = self.given
        found = given.every_judged
        if given.n_judged is None:
            return found
        return found._changed(n_relevant=given.n_judged, gains=None, ideal_gains=None)

    @property
    def has_misses(self) -> bool:
        """Whether some item with a grade of 0 or more is judged not relevant."""
        return self.judged is not None and not self.no_miss

    @property
    def longest(self) -> int:
        """The length of the longest list as it was given: before unjudged items left it."""
        return self.k if self.before is None else int(self.before.n_listed.max(initial=0))

    def block(self, lo: int, hi: int) -> tuple[Ints, NDArray[np.int32], NDArray[Any]]:
        """Return offsets, ranks and gains of the users ``lo..hi``, as kernels take them.

        The offsets are those among all hits; the gains are empty where there are none.
        """
        offsets = self.offsets[lo : hi + 1]
        part = slice(offsets[0], offsets[-1])
        return offsets, self.ranks[part], np.empty(0) if self.gains is None else self.gains[part]

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
        from toplist.matching import fingerprints

        for name in ("k", "grading", "unjudged"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise ValueError(f"Hits of {name} {mine} and of {name} {theirs} do not merge")
        if self.before is not None:
            return self.before.merged(other.given, disjoint).judged_only(self.k)
        gains, ideal_gains = None, None
        if self.gains is not None or other.gains is not None:
            parts = [hits.all_gains() for hits in (self, other)]
            gains, ideal_gains = (np.concatenate(part) for part in zip(*parts, strict=True))
        return trusted(
            offsets=np.concatenate([self.offsets, other.offsets[1:] + self.offsets[-1]]),
            ranks=np.concatenate([self.ranks, other.ranks]),
            n_relevant=np.concatenate([self.n_relevant, other.n_relevant]),
            n_listed=np.concatenate([self.n_listed, other.n_listed]),
            gains=gains,
            ideal_gains=ideal_gains,
            k=self.k,
            grading=self.grading,
            users=_joined_users(self.users, other.users),
            n_extra=self.n_extra + other.n_extra,
            fingerprints=fingerprints.merged(self.fingerprints, other.fingerprints, disjoint),
            truth_hashes=_joined_hashes(self.truth_hashes, other.truth_hashes),
            judged=_merged_judged(self, other, disjoint),
            no_miss=_merged_no_miss(self, other),
            n_judged=_merged_n_judged(self, other),
            coverage=_merged_coverage(self, other),
            items=self.items.merged(other.items) if self.items and other.items else None,
            **_merged_examples(self, other),
            scored=self.scored + other.scored if self.scored and other.scored else None,
        )

    def subset(self, rows: Ints) -> Hits:
        """Return the hits of some of the users, with their keys; by position, with their rows.

        Examples
        --------
        >>> from toplist import match
        >>> match([[1], [2], [3]], [{1}, {9}, {3}]).subset([2, 0]).users
        [2, 0]
        """
        if self.before is not None:
            return self.before.subset(rows).judged_only(self.k)
        rows = np.asarray(rows, np.int64)

        def taken(offsets: Ints, values: Any) -> Any:
            return None if values is None else values[places_of(offsets, rows)]

        ideal, coverage = offsets_of(self.n_relevant), self.coverage
        if coverage is not None:
            items = taken(self.offsets, coverage.items)
            coverage = coverage.subset(rows, self.n_relevant, items, taken)
        users = range(len(self)) if self.users is None else self.users
        gains, best = taken(self.offsets, self.gains), taken(ideal, self.ideal_gains)
        if best is not None and np.all(best == 1):  # as in ground truths of these users alone
            gains, best = None, None
        return trusted(
            offsets=offsets_of(np.diff(self.offsets)[rows]),
            ranks=taken(self.offsets, self.ranks),
            n_relevant=self.n_relevant[rows],
            n_listed=self.n_listed[rows],
            gains=gains,
            ideal_gains=best,
            k=self.k,
            grading=self.grading,
            users=[users[row] for row in rows.tolist()],
            truth_hashes=None if self.truth_hashes is None else self.truth_hashes[rows],
            judged=None if self.judged is None else self.judged.subset(rows),
            no_miss=self.no_miss,
            n_judged=None if self.n_judged is None else self.n_judged[rows],
            coverage=coverage,
            items=None if self.items is None else self.items.subset(self.offsets, rows),
        )

    def listed(self, k: int | None = None) -> Hits:
        """Return the same hits of ground truths that are known for listed items only.

        R is then the number of hits in the list, as far as it was read (a `Hits` of the first k
        ids knows no others); what is not listed has no part in any metric. So do libraries that
        take labels beside scores: torchmetrics, LightGBM, TensorFlow Ranking, Evidently. A list may
        score 1 with half of the relevant items missing. Users without a list keep their R: the
        policy for missing lists is about them. `judged`, which is over what was retrieved, stays as
        it is.

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
        if self.before is not None:
            return self.before.listed().judged_only(self.k if k is None else k)
        n_hits = np.diff(self.offsets)
        ideal, listed = None, self.n_listed > 0
        if self.gains is not None and self.ideal_gains is not None:
            users = np.arange(len(self))
            relevant = np.repeat(users, self.n_relevant)
            unlisted = ~listed[relevant]
            gains = np.concatenate([self.gains, self.ideal_gains[unlisted]])
            whose = np.concatenate([np.repeat(users, n_hits), relevant[unlisted]])
            ideal = gains[np.lexsort((-gains, whose))]
        judged = None if self.judged is None else self.judged.listed(k)
        coverage = self.coverage
        if coverage is not None:
            coverage = coverage.listed(self.offsets, self.n_relevant, listed)
        items = self.items and self.items.listed(n_hits, listed)
        within = self._changed(coverage=coverage, items=items)
        within = within if k is None else within._cut(k)
        n_relevant = np.where(listed, n_hits, self.n_relevant)
        own = {"n_relevant": n_relevant, "n_judged": self.of_judged.n_relevant}
        return within._changed(**own, ideal_gains=ideal, judged=judged)

    @property
    def every_judged(self) -> Hits:
        """The hits of all items with a grade, those below 0 too."""
        return self if self.judged is None else self.judged.every_judged

    def judged_only(self, k: int | None = None, always: bool = False) -> Hits:
        """Return the hits of the lists without the items that have no grade; ranks close up.

        As trec_eval -J (Sakai, SIGIR 2007): what nobody judged is not taken for a miss. A rank is
        then the place among the judged items of the list, of any grade from 0 on; R is as before.
        An item graded below 0 leaves, as in trec_eval, which takes it for unjudged.
        Later copies of an item leave too. Where no item of grade 0 or more is judged not relevant,
        of all users (sets, grades above 0, these and some below 0), nothing leaves: only hits would
        be left, and every list be perfect.
        The lists must have been read whole: ``match(..., unjudged="drop")`` does both.

        Parameters
        ----------
        k : int, optional
            Leave out what is then below this rank; default nothing.
        always : bool
            Let unjudged items leave even if all judged ones are relevant.

        Examples
        --------
        >>> from toplist import match
        >>> match(["x", "a", "y", "b", "c"], {"a": 1, "b": 0, "c": 2}).judged_only().ranks.tolist()
        [1, 3]
        """
        whole = self.given.read_to(WHOLE)
        judged = whole.judged
        if not whole.has_misses:
            judged = (whole if judged is None else judged) if always else None
        closed = [whole]
        if judged is not None:
            judged = judged.read_to(WHOLE)
            whole, n = whole._changed(judged=judged, no_miss=False), np.diff(judged.offsets)
            both = whole, judged
            closed = [one._changed(ranks=one.places_among(judged), n_listed=n) for one in both]
        k = int(closed[0].n_listed.max(initial=0)) if k is None else k
        hits, *of_judged = (one._cut(k) for one in closed)
        judged = of_judged[0]._changed(judged=None) if of_judged else None
        return hits._changed(judged=judged, no_miss=False, before=whole)

    def _cut(self, k: int) -> Hits:
        """Return the hits of lists that end at rank k; judged ones are left as they are."""
        n_listed = np.minimum(self.n_listed, k)
        return self.kept(self.ranks <= k)._changed(k=k, n_listed=n_listed)

    def read_to(self, k: int) -> Hits:
        """Return the hits of whole lists, none of which is longer than k."""
        judged = None if self.judged is None else self.judged.read_to(k)
        return self._changed(k=k, judged=judged)

    def down_to(self, depths: Ints) -> Hits:
        """Return the hits of each user down to a rank of the user's own; lists stay as long.

        Examples
        --------
        >>> from toplist import match
        >>> match([[1, 2, 3], [4, 5]], [{1, 3}, {5}]).down_to(np.array([2, 2])).ranks.tolist()
        [1, 2]
        """
        return self.kept(self.ranks <= np.repeat(depths, np.diff(self.offsets)))

    def places_among(self, others: Hits) -> NDArray[np.int32]:
        """Return the place of each hit, from 1, among other hits of the same lists, which it is."""
        places = np.empty(len(self.ranks), np.int32)
        kernels.curves.places(self.offsets, self.ranks, others.offsets, others.ranks, places)
        return places

    @property
    def largest_grade(self) -> float:
        """The largest grade of a ground truth; 0 where none is relevant."""
        _, ideal = (self if self.judged is None else self.judged).all_gains()
        return self.grading.grade_of(float(ideal.max(initial=0.0)))

    def from_grade(self, least: float) -> Hits:
        """Return the hits of the items with this grade or a higher one, whatever was relevant.

        Examples
        --------
        >>> from toplist import match
        >>> match(["a", "b", "c"], {"a": 1, "b": 0, "c": 3}).from_grade(2).ranks.tolist()
        [3]
        """
        every = self if self.judged is None else self.judged
        gains, ideal = every.all_gains()
        gain = self.grading.gain_of(least)
        counts = offsets_of(ideal >= gain)[offsets_of(every.n_relevant)]
        found = every.kept(gains >= gain)
        graded: dict[str, Any] = {}
        if every.gains is not None:  # as in ground truths that hold these items alone
            ideal = ideal[ideal >= gain]
            graded = {"ideal_gains": ideal}
            if np.all(ideal == 1):
                graded = {"gains": None, "ideal_gains": None}
        n_relevant = np.diff(counts)
        no_miss = np.array_equal(n_relevant, every.n_relevant)
        return found._changed(n_relevant=n_relevant, judged=every, no_miss=no_miss, **graded)

    def earning(self, earned: Callable[[Hits], Any]) -> Hits:
        """Return the same hits with what they earn as their gains: `counts` of `toplist.Metric`."""
        found = earned(self)
        if isinstance(found, Hits):  # of which each earns 1
            return found._changed(gains=None, ideal_gains=None)
        gains, ideal = found if isinstance(found, tuple) else (found, np.empty(0))
        if np.shape(gains) != self.ranks.shape:
            raise ValueError(
                f"what hits earn is of shape {np.shape(gains)}: one number for each of "
                f"{len(self.ranks):,} hits is needed"
            )
        return self._changed(gains=np.asarray(gains, np.float64), ideal_gains=ideal)

    def weighed(self, gains: Floats | None, ideal: Floats | None, truth_hashes: Any) -> Hits:
        """Return the same hits with the weights of items as gains, of relevant items alone."""
        changed = {"gains": gains, "ideal_gains": ideal, "truth_hashes": truth_hashes}
        return self._changed(**changed, judged=None, no_miss=False)

    def of_part(self, **changed: Any) -> Hits:
        """Return the hits with other users or fingerprints, those of judged items alike."""
        for name in ("judged", "before"):
            one = getattr(self, name)
            changed[name] = None if one is None else one.of_part(**changed)
        return self._changed(**changed)

    def kept(self, kept: Bools) -> Hits:
        """Return some of the hits of the same lists and truths."""
        gains = None if self.gains is None else self.gains[kept]
        offsets = offsets_of(kept)[self.offsets]
        coverage = None if self.coverage is None else self.coverage.hit(kept)
        items = None if self.items is None else self.items.kept(kept)
        more = {"gains": gains, "coverage": coverage, "items": items}
        return self._changed(offsets=offsets, ranks=self.ranks[kept], **more)

    @cached
    def groups(self) -> Hits:
        """The hits of groups: each at the rank where one of its ids is first found.

        Ranks may repeat, R counts groups. Of plain ground truths, each id is a group of its own.
        """
        if self.coverage is None:
            return self
        offsets, ranks = self.coverage.found(self.offsets, self.ranks, self.n_relevant)
        n_groups = self.coverage.n_groups
        return self._changed(offsets=offsets, ranks=ranks, n_relevant=n_groups, coverage=None)

    def novelty(self, alpha: float) -> Hits:
        """Return hits whose gains fall with every id of a group that stands above.

        The gain of a hit is the sum, over its groups, of (1 - alpha)^m, where m is how often the
        list had the group above. The ideal is built greedily: the item of the highest gain next,
        of equally good ones that with the highest id, numbers as numbers, text by code points. Of
        plain ground truths every gain is 1.

        Examples
        --------
        >>> import toplist as tl
        >>> hits = tl.match([["a", "b", "c"]], tl.Groups([[["a", "b"], ["b", "d"]]]))
        >>> hits.novelty(0.5).gains.tolist(), hits.novelty(0.5).ideal_gains.tolist()
        ([1.0, 1.5], [2.0, 0.5, 0.5])
        """
        if self.coverage is None and self.gains is None:
            return self
        known: dict[float, Hits] = vars(self).setdefault("_novelty", {})
        if alpha not in known:
            gains: tuple[Floats | None, Floats | None] = None, None
            if self.coverage is not None:
                gains = self.coverage.novelty(self.offsets, self.n_relevant, alpha)
            found = self._changed(gains=gains[0], ideal_gains=gains[1], coverage=None)
            known.setdefault(alpha, found)
        return known[alpha]

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without what was computed once."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def _changed(self, **changed: Any) -> Hits:
        """Return the hits with other values of some fields."""
        return trusted(
            **{field.name: getattr(self, field.name) for field in fields(self)} | changed
        )

    def all_gains(self) -> tuple[Floats, Floats]:
        """Return the gains of the hits, and of all relevant items; 1 where there are none."""
        if self.gains is None or self.ideal_gains is None:
            return np.ones(len(self.ranks)), np.ones(int(self.n_relevant.sum()))
        return self.gains, self.ideal_gains

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
        keys = _keys_of(users, n_users)
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
        keys = _keys_of(users, len(ranks))
        return cls(offsets_of(found), ranks[found], np.ones(len(ranks)), listed, users=keys)  # type: ignore[arg-type]


def _keys_of(users: Any, n_rows: int) -> list[Any] | None:
    if users is None:
        return None
    from toplist.inputs.user_values import keys_of

    return keys_of(users, n_rows)


def _kind(user: Any) -> type:
    """Return the type of a key; all integers are of one."""
    return int if isinstance(user, (int, np.integer)) else type(user)


def _joined_users(a: Sequence[Any] | None, b: Sequence[Any] | None) -> list[Any] | None:
    if a is None and b is None:
        return None
    if a is None or b is None:
        raise ValueError("one part has its users by key, the other by position: they do not merge")
    kinds = [next((one for one in users), None) for users in (a, b)]
    if None not in kinds and _kind(kinds[0]) != _kind(kinds[1]):
        raise ValueError(
            f"the users of one part are like {kinds[0]!r}, of the other like {kinds[1]!r}: these "
            "are never equal; convert one of them"
        )
    twice = set(a).intersection(b)
    if twice:
        raise ValueError(f"user {min(twice, key=repr)!r} is in both parts: a user counts once")
    return [*a, *b]


def _joined_hashes(a: Any, b: Any) -> Any:
    return None if a is None or b is None else np.concatenate([a, b])


def _merged_n_judged(a: Hits, b: Hits) -> Ints | None:
    """Return how many items were judged, where R of one side counts listed items only."""
    if a.n_judged is None and b.n_judged is None:
        return None
    return np.concatenate([a.of_judged.n_relevant, b.of_judged.n_relevant])


def _merged_judged(a: Hits, b: Hits, disjoint: bool) -> Hits | None:
    """Return the hits of all graded items of two parts; relevant ones are all where none is."""
    if a.judged is None and b.judged is None:
        return None
    parts = [hits if hits.judged is None else hits.judged for hits in (a, b)]
    return parts[0].merged(parts[1], disjoint)


def _merged_no_miss(a: Hits, b: Hits) -> bool:
    """Return whether two parts have hits of judged items, and no miss among these."""
    judged = a.judged is not None or b.judged is not None
    return judged and not (a.has_misses or b.has_misses)


def _merged_coverage(a: Hits, b: Hits) -> Coverage | None:
    """Return the coverage of two parts; one without relevant items has no groups."""
    if a.coverage is None and b.coverage is None:
        return None
    from toplist.matching.coverage import Coverage

    parts = [one.coverage or Coverage.plain(len(one.ranks), one.n_relevant) for one in (a, b)]
    return parts[0].merged(parts[1])


def _merged_examples(a: Hits, b: Hits) -> dict[str, Any]:
    """Return `examples` and `cause` where neither part has a hit."""
    if len(a.ranks) or len(b.ranks):
        return {}
    known = next((hits for hits in (a, b) if hits.cause), a if a.examples else b)
    return {"examples": known.examples, "cause": known.cause}


def trusted(**fields: Any) -> Hits:
    """Return hits that the join made: the checks of `Hits` took as long as a third of the join."""
    hits = object.__new__(Hits)
    for name, value in fields.items():
        if isinstance(value, np.ndarray):
            value = value.view()
            value.flags.writeable = False
        object.__setattr__(hits, name, value)
    return hits
