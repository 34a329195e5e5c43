"""`RelevantHits`: the hits that one metric counts, with what they gain: all that its formula needs.

They are those of the relevant items, of all judged ones, or of groups. `toplist.Hits.relevant` and
its neighbours make them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toplist import kernels
from toplist.checks import Bools, Floats, Ints, cached
from toplist.inputs.lists import offsets_of
from toplist.inputs.truths import STANDARD, Coverage, Grading

if TYPE_CHECKING:
    from toplist.metrics.definitions import Gains


@dataclass(frozen=True, eq=False)
class RelevantHits:
    """The hits that a metric counts as relevant.

    Attributes
    ----------
    offsets : (n_users + 1,) integers
        User u's hits are ``ranks[offsets[u]:offsets[u + 1]]``.
    ranks : (n_hits,) int32
        Ranks from 1, rising within a user. Those of groups may repeat.
    n_relevant : (n_users,) integers
        R, the number of relevant items of each user.
    n_listed : (n_users,) integers
        The length of each list.
    grades, ideal_grades : floats, or None
        Of each hit, and of all relevant items, user after user, best first; None without grades.
    graded : bool
        Whether some relevant item gains another number than 1.
    grading : Grading
        How grades become gains.
    longest : int
        The length of the longest list as it was given: before unjudged items left it.
    coverage : Coverage, or None
        Where ground truths are made of groups, which groups the hits are in.
    judged : RelevantHits, or None
        Where what hits earn is asked for, the hits of all judged items, of which these are.
    """

    offsets: Ints
    ranks: NDArray[np.int32]
    n_relevant: Ints
    n_listed: Ints
    grades: Floats | None
    ideal_grades: Floats | None
    graded: bool
    grading: Grading
    longest: int
    coverage: Coverage | None = None
    judged: RelevantHits | None = None

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self.n_relevant)

    @cached
    def gains(self) -> Floats | None:
        """The gain of each hit; None where all relevant items gain 1."""
        return self._gains(self.grades)

    @cached
    def ideal_gains(self) -> Floats | None:
        """The gains of all relevant items, user after user, best first; None where all are 1."""
        return self._gains(self.ideal_grades)

    def _gains(self, grades: Floats | None) -> Floats | None:
        return None if grades is None or not self.graded else self.grading.gains_of(grades)

    def all_gains(self) -> tuple[Floats, Floats]:
        """Return the gains of the hits, and of all relevant items; 1 where there are none."""
        if self.gains is None or self.ideal_gains is None:
            return np.ones(len(self.ranks)), np.ones(int(self.n_relevant.sum()))
        return self.gains, self.ideal_gains

    def under(self, gains: Gains) -> RelevantHits:
        """Return the same hits with other gains of their grades."""
        return replace(self, grading=Grading(gains=gains), graded=self.grades is not None)

    @property
    def largest_grade(self) -> float:
        """The largest grade of a relevant item; 0 where there is none."""
        if self.ideal_grades is None:
            return float(self.n_relevant.any())
        return float(self.ideal_grades.max(initial=0.0))

    def block(self, lo: int, hi: int) -> tuple[Ints, NDArray[np.int32], NDArray[Any]]:
        """Return offsets, ranks and gains of the users ``lo..hi``, as kernels take them.

        The offsets are those among all hits; the gains are empty where there are none.
        """
        offsets = self.offsets[lo : hi + 1]
        part = slice(offsets[0], offsets[-1])
        return offsets, self.ranks[part], np.empty(0) if self.gains is None else self.gains[part]

    def kept(self, kept: Bools) -> RelevantHits:
        """Return some of the hits of the same lists and truths."""
        return replace(
            self,
            offsets=offsets_of(kept)[self.offsets],
            ranks=self.ranks[kept],
            grades=None if self.grades is None else self.grades[kept],
            coverage=None if self.coverage is None else self.coverage.hit(kept),
        )

    def down_to(self, depths: Ints) -> RelevantHits:
        """Return the hits of each user down to a rank of the user's own; lists stay as long.

        Examples
        --------
        >>> from toplist import match
        >>> hits = match([[1, 2, 3], [4, 5]], [{1, 3}, {5}]).relevant
        >>> hits.down_to(np.array([2, 2])).ranks.tolist()
        [1, 2]
        """
        return self.kept(self.ranks <= np.repeat(depths, np.diff(self.offsets)))

    def closed_up(self, judged: RelevantHits) -> RelevantHits:
        """Return the same hits of lists that hold judged items alone."""
        return replace(self, ranks=self.places_among(judged), n_listed=np.diff(judged.offsets))

    def cut(self, k: int) -> RelevantHits:
        """Return the hits of lists that end at rank k."""
        return replace(self.kept(self.ranks <= k), n_listed=np.minimum(self.n_listed, k))

    def of_some(self, users: Bools) -> RelevantHits:
        """Return the same where the other users have no relevant item, and no hit."""
        ideal = self.ideal_grades
        return replace(
            self.down_to(np.where(users, self.n_listed, 0)),
            n_relevant=np.where(users, self.n_relevant, 0),
            ideal_grades=None if ideal is None else ideal[np.repeat(users, self.n_relevant)],
        )

    def places_among(self, others: RelevantHits) -> NDArray[np.int32]:
        """Return the place of each hit, from 1, among other hits of the same lists, which it is."""
        places = np.empty(len(self.ranks), np.int32)
        kernels.curves.places(self.offsets, self.ranks, others.offsets, others.ranks, places)
        return places

    def earning(self, earned: Callable[[RelevantHits], Any]) -> RelevantHits:
        """Return the same hits with what they earn as their gains: `counts` of `toplist.Metric`."""
        found = earned(self)
        if isinstance(found, RelevantHits):  # of which each earns 1
            return replace(found, grades=None, ideal_grades=None, graded=False)
        gains, ideal = found if isinstance(found, tuple) else (found, np.empty(0))
        if np.shape(gains) != self.ranks.shape:
            raise ValueError(
                f"what hits earn is of shape {np.shape(gains)}: one number for each of "
                f"{len(self.ranks):,} hits is needed"
            )
        return self._with_gains(np.asarray(gains, np.float64), ideal)

    @cached
    def groups(self) -> RelevantHits:
        """The hits of groups: each at the rank where one of its ids is first found.

        Ranks may repeat, R counts groups. Of plain ground truths, each id is a group of its own.
        """
        if self.coverage is None:
            return self
        offsets, ranks = self.coverage.found(self.offsets, self.ranks, self.n_relevant)
        n_groups = self.coverage.n_groups
        return replace(self, offsets=offsets, ranks=ranks, n_relevant=n_groups, coverage=None)

    def novelty(self, alpha: float) -> RelevantHits:
        """Return hits whose gains fall with every id of a group that stands above.

        The gain of a hit is the sum, over its groups, of (1 - alpha)^m, where m is how often the
        list had the group above. The ideal is built greedily: the item of the highest gain next,
        of equally good ones that with the highest id, numbers as numbers, text by code points. Of
        plain ground truths every gain is 1.

        Examples
        --------
        >>> import toplist as tl
        >>> hits = tl.match([["a", "b", "c"]], tl.Groups([[["a", "b"], ["b", "d"]]])).relevant
        >>> hits.novelty(0.5).gains.tolist(), hits.novelty(0.5).ideal_gains.tolist()
        ([1.0, 1.5], [2.0, 0.5, 0.5])
        """
        if self.coverage is None and not self.graded:
            return self
        known: dict[float, RelevantHits] = vars(self).setdefault("_novelty", {})
        if alpha not in known:
            found = replace(self, grades=None, ideal_grades=None, graded=False)
            if self.coverage is not None:
                found = found._with_gains(
                    *self.coverage.novelty(self.offsets, self.n_relevant, alpha)
                )
            known.setdefault(alpha, replace(found, coverage=None))
        return known[alpha]

    def _with_gains(self, gains: Floats, ideal: Floats) -> RelevantHits:
        """Return the same hits with gains that are no grades."""
        return replace(self, grades=gains, ideal_grades=ideal, graded=True, grading=STANDARD)
