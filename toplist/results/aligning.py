"""The values of each user of several systems, user by user: what tests of differences need.

Users are matched by key, and put in the order of the hashes of their keys, so that no figure
depends on the order in which they came. Users by position are those of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from toplist.averages.means import Means, has_keys, hits_of, in_means
from toplist.checks import Floats, Ints, choice
from toplist.results.comparability import truths_of

Counted = Mapping[str, NDArray[np.bool_]]  # whom each system counts

# Which users are tested: those of all systems, which must be the same; or those that all count.
SameUsers = Literal["same", "common"]
USERS: tuple[SameUsers, ...] = get_args(SameUsers)
# Where results without users may be tested: they know the moments of their differences.
TOGETHER = "evaluate all systems in one toplist.top_k_eval(..., system=...)"


@dataclass(frozen=True, eq=False)
class Aligned:
    """Several results over the same users.

    ``rows[system]`` are the rows of the users in this result; `users` are their keys, None where
    they are known by position. `n_left_out` users are counted by some of the systems only.
    """

    results: Mapping[str, Means]
    rows: Mapping[str, Ints]
    users: Sequence[Any] | None
    n_left_out: int = 0

    @property
    def n(self) -> int:
        """The number of users."""
        return len(next(iter(self.rows.values())))

    def values(self, system: str, name: str) -> Floats:
        """Return the values of a system, (n,) for ``"name@k"`` and (n, K) for ``"name"``."""
        return np.ascontiguousarray(self.results[system].per_user(name)[self.rows[system]])

    @property
    def weights(self) -> Floats | None:
        """The weights of the users; None without any."""
        first = next(iter(self.results))
        given = self.results[first].weights
        return None if given is None else given[self.rows[first]]


def align(
    results: Mapping[str, Means],
    users: str = "same",
    alike: Sequence[Sequence[str]] = (),
    metrics: Sequence[str] = (),
) -> Aligned:
    """Match the users that the results count.

    Parameters
    ----------
    results : dict of system -> result
        With hits; with one set of rules (`toplist.results.comparability`).
    users : {"same", "common"}
        "same": the systems must count the same users. "common": those that all of them count.
    alike : sequence of sequences of names, optional
        Whose ground truths and weights must be the same; default: those of all.
    metrics : sequence of str, optional
        The metrics, without ``@``, whose means must count a user.

    Raises
    ------
    ValueError
        If a result holds no hits, if the users are others or unknown, if a user has other relevant
        items or another weight in one result than in another.
    """
    choice("users", users, USERS)
    for system, result in results.items():
        hits_of(result, f"the users of {system} are unknown", f"{TOGETHER} with paired=True")
    keyed = {system: has_keys(result) for system, result in results.items()}
    if len(set(keyed.values())) > 1:
        one, other = (next(s for s in keyed if keyed[s] is kind) for kind in (True, False))
        raise ValueError(
            f"the users of {one} have keys, those of {other} are known by position: name them by "
            "users= where the lists are evaluated"
        )
    counted = {system: in_means(result, metrics) for system, result in results.items()}
    match = _by_key if all(keyed.values()) else _by_position
    found = match(results, counted, users)
    if not found.n:
        nobody = [system for system, one in results.items() if not one.n_evaluated]
        what = f"no user of {nobody[0]} is in the means" if nobody else "no user is in all of them"
        raise ValueError(f"nobody to test: {what} ({', '.join(found.results)})")
    for first, *others in alike or [list(results)]:
        for other in others:
            _check(found, first, other)
    return found


def _by_position(results: Mapping[str, Means], counted: Counted, users: str) -> Aligned:
    """Return the rows that all results count, in their order."""
    first, *_ = results
    n = {system: result.n_users for system, result in results.items()}
    for system, n_users in n.items():
        if n_users != n[first]:
            raise ValueError(
                f"{first} has {n[first]:,} users and {system} {n_users:,}, by position: without "
                "keys, users= where they are evaluated, they cannot be matched"
            )
    every = np.array(list(counted.values()), bool)
    rows = np.flatnonzero(every.all(axis=0))
    n_left_out = int(every.any(axis=0).sum()) - len(rows)
    if users == "same" and n_left_out:
        raise _others(results, n_left_out)
    return Aligned(results, dict.fromkeys(results, rows), None, n_left_out)


def _by_key(results: Mapping[str, Means], counted: Counted, users: str) -> Aligned:
    """Return the rows of the users that all results count, in the order of their words."""
    from toplist.inputs.id_hashes import words_of

    first, *others = results
    rows = {first: np.flatnonzero(counted[first])}
    whole = results[first].users
    keys = [whole[row] for row in rows[first].tolist()]
    n_all = len(keys)
    if all(_same_users(results, counted, first, other) for other in others):
        rows |= dict.fromkeys(others, rows[first])
        kept = np.arange(len(keys))
    else:
        places = {system: _places(results[system], counted[system]) for system in others}
        kept = np.array([i for i, key in enumerate(keys) if all(key in p for p in places.values())])
        kept = kept.astype(np.int64)
        n_all = len(set(keys).union(*places.values()))
        rows[first] = rows[first][kept]
        keys = [keys[i] for i in kept.tolist()]
        rows |= {
            system: np.array([p[key] for key in keys], np.int64) for system, p in places.items()
        }
    if users == "same" and n_all > len(kept):
        raise _others(results, n_all - len(kept))
    words = words_of(keys)
    order = np.argsort(words, kind="stable")
    if np.any(np.diff(words[order]) == 0):  # two keys of one word
        order = np.array(sorted(range(len(keys)), key=lambda i: (int(words[i]), repr(keys[i]))))
    sorted_rows = {system: some[order] for system, some in rows.items()}
    return Aligned(results, sorted_rows, [keys[i] for i in order.tolist()], n_all - len(kept))


def _same_users(results: Mapping[str, Means], counted: Counted, first: str, other: str) -> bool:
    if not np.array_equal(counted[first], counted[other]):
        return False
    one, two = results[first].users, results[other].users
    return one is two or list(one) == list(two)


def _places(result: Means, counted: NDArray[np.bool_]) -> dict[Any, int]:
    """Return the row of every user that a result counts."""
    users = result.users
    return {users[row]: row for row in np.flatnonzero(counted).tolist()}


def _others(results: Mapping[str, Means], n: int) -> ValueError:
    return ValueError(
        f"{', '.join(results)} count other users: {n:,} are in some of them only; "
        'users="common" tests over those that all systems count'
    )


def _check(found: Aligned, first: str, system: str) -> None:
    """Refuse other ground truths and weights of the same users."""
    one, other = found.results[first], found.results[system]
    rows, others = found.rows[first], found.rows[system]
    changed = one.hits.n_relevant[rows] != other.hits.n_relevant[others]  # type: ignore[union-attr]
    # of listed items only, R belongs to the list
    if changed.any() and other.terms.relevant != "listed":
        row = int(np.flatnonzero(changed)[0])
        user = row if found.users is None else found.users[row]
        raise ValueError(
            f"{first} and {system} have other ground truths: {int(changed.sum()):,} of "
            f"{found.n:,} users have another number of relevant items, user {user!r} first"
        )
    sums = {truths_of(one), truths_of(other)} - {None}
    if one.n_users == other.n_users and not found.n_left_out and len(sums) > 1:
        raise ValueError(
            f"{first} and {system} have other ground truths of the same sizes: the relevant "
            "items of some users, or their grades, are others"
        )
    if not _equal(one.weights, other.weights, rows, others):
        raise ValueError(f"{first} and {system} have other weights of the same users")


def _equal(one: Any, other: Any, rows: Ints, others: Ints) -> bool:
    if one is None or other is None:
        return one is other
    return bool(np.array_equal(one[rows], other[others]))
