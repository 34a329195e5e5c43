"""Fingerprints of ground truths: which parts of results are over the same users."""

from collections.abc import Sequence
from dataclasses import dataclass

from toplist.checks import Keyword, worded


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
    """Return the fingerprints of two results that merge; ValueError if one part is in both.

    Parts with equal truths throughout (two single users who chose the same item) are not told
    apart, and merge.

    Examples
    --------
    >>> seed_1, seed_2 = Fingerprint(7, 2, True), Fingerprint(7, 2, True)
    >>> merged([seed_1], [seed_2])
    Traceback (most recent call last):
        ...
    ValueError: both parts have the same ground truths (2 users): these are the same users, who \
count once; merge(..., disjoint=True) merges them as different users
    """
    twice = set(a).intersection(b)
    for one in twice if not disjoint else ():
        if one.varied:
            raise worded(
                ValueError,
                f"both parts have the same ground truths ({one.n_users:,} users): these are the "
                "same users, who count once; merge(..., ",
                Keyword("disjoint", True),
                ") merges them as different users",
            )
    return (*a, *b)


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
