"""`About`: what is known of a join that is no hit, row by row or of all rows together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toplist.checks import Ints
from toplist.inputs.lists import Scored

if TYPE_CHECKING:
    from toplist.matching.fingerprints import Fingerprint

Hashes = NDArray[np.uint64]


class Unmatched(NamedTuple):
    """Why nobody has a hit: an item of the lists, one of the ground truths, the likely cause."""

    listed: str
    relevant: str
    cause: str


@dataclass(frozen=True, eq=False)
class About:
    """What is known of a join beside its hits.

    Attributes
    ----------
    n_extra : int
        Users with a list and no ground truth; they have no row.
    fingerprints : tuple of Fingerprint
        One for the ground truths of each part that was joined; none for hits made by hand.
    truth_hashes : (n_users,) uint64, optional
        A hash of the relevant items of each user, of their ids and gains; None for hits made by
        hand.
    judged_hashes : (n_users,) uint64, optional
        The same of all judged items and their grades; None where these are no others.
    unmatched : Unmatched, optional
        Where nobody has a hit: a listed and a relevant id as written, and what seems to keep these
        apart, such as "a trailing .0"; "" if that is not known.
    scored : Scored, optional
        Of lists that came with scores, how many items have equal ones.
    """

    n_extra: int = 0
    fingerprints: tuple[Fingerprint, ...] = ()
    truth_hashes: Hashes | None = field(default=None, repr=False)
    judged_hashes: Hashes | None = field(default=None, repr=False)
    unmatched: Unmatched | None = None
    scored: Scored | None = None

    @property
    def of_judged(self) -> Hashes | None:
        """The hashes of all judged items, which may be the relevant ones alone."""
        return self.truth_hashes if self.judged_hashes is None else self.judged_hashes

    def subset(self, rows: Ints) -> About:
        """Return what is known of some rows."""
        hashes, judged = (
            None if one is None else one[rows] for one in (self.truth_hashes, self.judged_hashes)
        )
        return About(truth_hashes=hashes, judged_hashes=judged)

    def merged(self, other: About, disjoint: bool, found: bool) -> About:
        """Return what is known of both; `found` says that one of them has a relevant hit.

        ValueError for the same ground truths again, unless they are `disjoint`.
        """
        from toplist.matching import fingerprints

        unmatched = (one.unmatched for one in (self, other) if one.unmatched is not None)
        known = sorted(unmatched, key=lambda one: not one.cause)
        judged = None
        if self.judged_hashes is not None or other.judged_hashes is not None:
            judged = _joined(self.of_judged, other.of_judged)
        return About(
            n_extra=self.n_extra + other.n_extra,
            fingerprints=fingerprints.merged(self.fingerprints, other.fingerprints, disjoint),
            truth_hashes=_joined(self.truth_hashes, other.truth_hashes),
            judged_hashes=judged,
            unmatched=known[0] if known and not found else None,
            scored=self.scored + other.scored if self.scored and other.scored else None,
        )


# Of hits made by hand.
NOTHING = About()


def _joined(a: Any, b: Any) -> Any:
    return None if a is None or b is None else np.concatenate([a, b])
