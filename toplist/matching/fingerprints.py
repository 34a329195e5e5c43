"""Fingerprints of ground truths: which parts of results are over the same users."""

from collections.abc import Sequence
from dataclasses import dataclass


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


def merged(
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
    >>> merged([seed_1], [seed_2])
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
