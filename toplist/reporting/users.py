"""The users with the largest differences of two systems, and some at random, with their lists.

`shown_user` needs a row (`UserRow`) and the lists of this user alone: whatever chooses users may
give these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from toplist.checks import Floats
from toplist.comparing.aligning import Aligned
from toplist.reporting.words import Words

# How many users are drawn at random, of those that are neither the worst nor the best.
DRAWN, SEED = 10, 0


class UserRow(NamedTuple):
    """A user: both values, value - baseline value, how many items are relevant; ranks of hits."""

    user: Any
    value: float
    baseline_value: float
    difference: float
    n_relevant: int
    hits: Sequence[int]
    baseline_hits: Sequence[int]


class Place(NamedTuple):
    """An item of a list: its rank, whether it is relevant, how it is called, where it was."""

    rank: int
    hit: bool
    item: Any
    title: str
    moved: str


class Missed(NamedTuple):
    """A relevant item that is in neither first k: its rank in both lists, 0 for none."""

    item: Any
    title: str
    baseline_rank: int
    rank: int


class ShownUser(NamedTuple):
    """A user of the page, the `number`-th; without lists `places` is None."""

    number: int
    row: UserRow
    places: tuple[list[Place], list[Place]] | None
    missed: Sequence[Missed]
    nowhere: Sequence[tuple[Any, str]]


def movers(
    aligned: Aligned, system: str, name: str, baseline: str, n: int, higher: bool
) -> dict[str, list[UserRow]]:
    """Return the n users for whom the system is worst and best, and some at random.

    Equal differences are in the order of more relevant items, then of the users' ids.
    """
    values, others = (aligned.values(one, name) for one in (system, baseline))
    differences = values - others
    hits = [aligned.results[one].hits for one in (system, baseline)]
    places = [aligned.rows[one] for one in (system, baseline)]
    assert hits[0] is not None
    n_relevant = hits[0].n_relevant[places[0]]
    users: Sequence[Any] = places[0].tolist() if aligned.users is None else aligned.users

    def row(i: int) -> UserRow:
        found = []
        for one, rows in zip(hits, places, strict=True):
            start, end = one.offsets[rows[i] : rows[i] + 2].tolist()  # type: ignore[union-attr]
            found.append(one.ranks[start:end].tolist())  # type: ignore[union-attr]
        of_user = float(values[i]), float(others[i]), float(differences[i]), int(n_relevant[i])
        return UserRow(users[i], *of_user, *found)

    def first(by: Floats) -> list[int]:
        """Return who has the least numbers below 0."""
        some = np.flatnonzero(by < 0)
        if not n:
            return []
        if len(some) > n:
            some = some[by[some] <= np.partition(by[some], n - 1)[n - 1]]
        key = {i: (float(by[i]), -int(n_relevant[i]), _order(users[i])) for i in some.tolist()}
        return sorted(key, key=key.__getitem__)[:n]

    signed = differences if higher else -differences
    worse, better = first(signed), first(-signed)
    taken = {*worse, *better}
    most = min(len(users), DRAWN + len(taken)) if n else 0
    draw = np.random.default_rng(SEED).choice(len(users), most, replace=False).tolist()
    drawn = [i for i in draw if i not in taken][:DRAWN]
    groups = {"worse": worse, "better": better, "at random": drawn}
    return {word: [row(i) for i in some] for word, some in groups.items()}


def _order(user: Any) -> tuple[bool, Any]:
    """Return what users are sorted by: numbers as such, others as text."""
    return (False, user) if isinstance(user, int) else (True, str(user))


def shown_user(
    number: int,
    row: UserRow,
    lists: Sequence[Sequence[Any]] | None,
    relevant: Sequence[Any],
    k: int,
    depth: int,
    words: Words,
) -> ShownUser:
    """Return a user with both lists, baseline first, down to a depth, and what both miss at k.

    Without lists the ranks of the hits are all there is.
    """
    if lists is None:
        return ShownUser(number, row, None, (), ())
    both = lists
    ranks = [{item: rank for rank, item in reversed([*enumerate(one, 1)])} for one in both]
    hits, known = ({*row.baseline_hits}, {*row.hits}), {*relevant}

    def places(side: int) -> list[Place]:
        found = []
        for rank, item in enumerate(both[side][:depth], 1):
            moved = _moved(rank, ranks[1 - side].get(item, 0), side == 1)
            below = rank > k and item in known and ranks[side][item] == rank
            hit = rank in hits[side] or below
            found.append(Place(rank, hit, item, words.title(item), moved))
        return found

    missed, nowhere = [], []
    for item in sorted(relevant, key=_order):
        at = [one.get(item, 0) for one in ranks]
        if not any(at):
            nowhere.append((item, words.title(item)))
        elif not any(0 < rank <= k for rank in at):
            missed.append(Missed(item, words.title(item), *at))
    return ShownUser(number, row, (places(0), places(1)), missed, nowhere)


def _moved(rank: int, other: int, was: bool) -> str:
    """Return that an item is in this list alone; or, if the other one `was`, how it moved."""
    if not other:
        return "only here"
    if other == rank or not was:
        return ""
    return f"{'▲' if rank < other else '▼'}{abs(other - rank)} (was {other})"
