"""`About`: what is known of a join that is no hit, row by row or of all rows together.

`Fingerprint` tells which parts of results are over the same users.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toplist.checks import Ints
from toplist.inputs.lists import Scored

Hashes = NDArray[np.uint64]


class Unmatched(NamedTuple):
    """Why nobody has a hit: an item of the lists, one of the ground truths, the likely cause."""

    listed: str
    relevant: str
    cause: str


@dataclass(frozen=True)
class Fingerprint:
    """The ground truths of some users in one word, whatever the order of users and of items.

    Attributes
    ----------
    total : int
        The sum, modulo 2^64, of one hash per user: of the relevant ids themselves (text or value,
        never codes) and of their grades. Not seeded, so that it can travel between processes.
    n_users : int
    varied : bool
        Whether at least two users have different ground truths.
    """

    total: int
    n_users: int
    varied: bool


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
        unmatched = (one.unmatched for one in (self, other) if one.unmatched is not None)
        known = sorted(unmatched, key=lambda one: not one.cause)
        judged = None
        if self.judged_hashes is not None or other.judged_hashes is not None:
            judged = _joined(self.of_judged, other.of_judged)
        return About(
            n_extra=self.n_extra + other.n_extra,
            fingerprints=merged_fingerprints(self.fingerprints, other.fingerprints, disjoint),
            truth_hashes=_joined(self.truth_hashes, other.truth_hashes),
            judged_hashes=judged,
            unmatched=known[0] if known and not found else None,
            scored=self.scored + other.scored if self.scored and other.scored else None,
        )


# Of hits made by hand.
NOTHING = About()


def _joined(a: Any, b: Any) -> Any:
    return None if a is None or b is None else np.concatenate([a, b])


def merged_fingerprints(
    a: Sequence[Fingerprint], b: Sequence[Fingerprint], disjoint: bool = False
) -> tuple[Fingerprint, ...]:
    """Return the fingerprints of two results that merge; ValueError for the same users again.

    These are a part that is in both, and parts at the end that hold, all together, the truths of
    as many users before them: two seeds of one model, cut into batches in two ways. Parts with
    equal truths throughout (two single users who chose the same item) are not told apart, and
    merge.

    Examples
    --------
    >>> seed_1, seed_2 = Fingerprint(7, 2, True), Fingerprint(7, 2, True)
    >>> merged_fingerprints([seed_1], [seed_2])
    Traceback (most recent call last):
        ...
    ValueError: both parts have the same ground truths (2 users): these are the same users, who \
count once; merge(..., disjoint=True) merges them as different users
    """
    parts = (*a, *b)
    if not disjoint:
        twice = (one.n_users for one in set(a).intersection(b) if one.varied)
        n_users = next(twice, 0) or _repeated_at_end(parts)
        if n_users:
            raise ValueError(
                f"both parts have the same ground truths ({n_users:,} users): these are the "
                "same users, who count once; merge(..., disjoint=True) merges them as different "
                "users"
            )
    return parts


def _repeated_at_end(parts: Sequence[Fingerprint]) -> int:
    """Return how many users of the last parts are those of the parts before them; 0 if none are.

    Parts of equal truths end the search: single users may well choose the same items in turn.

    Examples
    --------
    >>> _repeated_at_end([Fingerprint(total, 2, True) for total in (5, 3, 4, 2, 6)])
    0
    >>> _repeated_at_end([Fingerprint(total, 2, True) for total in (5, 3, 4, 1, 6)])
    4
    """
    total = n_users = 0
    sums: list[tuple[int, int]] = []  # of the last part, the last two, ...
    for part in reversed(parts):
        if not part.varied:
            break
        total, n_users = (total + part.total) % 2**64, n_users + part.n_users
        sums.append((total, n_users))
    known = set(sums)
    return next((n for half, n in sums if (2 * half % 2**64, 2 * n) in known), 0)


def together(parts: Sequence[Fingerprint]) -> Fingerprint:
    """Return the fingerprint of all users of some parts.

    Examples
    --------
    >>> together([Fingerprint(7, 2, True), Fingerprint(8, 1, False)])
    Fingerprint(total=15, n_users=3, varied=True)
    """
    total = sum(part.total for part in parts) % 2**64
    varied = len({part.total for part in parts}) > 1 or any(part.varied for part in parts)
    return Fingerprint(total, sum(part.n_users for part in parts), varied)
