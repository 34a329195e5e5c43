"""Checks of the arrays of `Hits`: whole numbers, ranks that rise, gains that belong to them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from toplist.checks import Ints
from toplist.inputs.flatten import first_repeat, name_user
from toplist.inputs.grades import LARGEST


def integers(name: str, values: ArrayLike) -> Ints:
    """Return whole numbers as int64 that nobody can change; ValueError for others."""
    array = np.asarray(values)
    if array.dtype.kind not in "iub" and not np.all(np.isfinite(array) & (array % 1 == 0)):
        raise ValueError(f"Hits: {name} must be whole numbers")
    array = np.ascontiguousarray(array, np.int64).view()
    array.flags.writeable = False
    return array


def whole_ranks(ranks: ArrayLike) -> Ints:
    """Return the ranks of held-out items; ValueError for others, mean ranks among them."""
    array = np.asarray(ranks)
    half = array.dtype.kind == "f" and array.ndim == 1 and (array % 1 == 0.5)
    if np.any(half):
        user = int(np.argmax(half))
        raise ValueError(
            f"Hits: rank_of_the_item must be whole numbers, user {user} has {array[user]}: "
            "a metric at a mean rank is not the mean over the orders of tied items; ties='best' "
            "and ties='worst' bound it, ties='order' ranks as scores.top_k does"
        )
    return integers("rank_of_the_item", array)


def check(hits: Any) -> None:
    """Raise ValueError if the arrays contradict each other."""
    n_users = len(hits.n_relevant)
    n_hits = np.diff(hits.offsets)
    if not len(hits.offsets) - 1 == n_users == len(hits.n_listed):
        raise ValueError("Hits: offsets, n_relevant and n_listed disagree on the number of users")
    if hits.offsets[0] != 0 or hits.offsets[-1] != len(hits.ranks) or np.any(n_hits < 0):
        raise ValueError("Hits: offsets must rise from 0 to the number of ranks")
    if (hits.gains is None) != (hits.ideal_gains is None):
        raise ValueError("Hits: gains and ideal_gains go together; one of them is missing")
    if hits.gains is not None and hits.ideal_gains is not None:
        for name, values in (("gains", hits.gains), ("ideal_gains", hits.ideal_gains)):
            if not np.all((values >= 0) & (values <= LARGEST)):
                raise ValueError(f"Hits: {name} must be 0 or more, and at most {LARGEST:g}")
        sizes = len(hits.gains), len(hits.ideal_gains)
        if sizes != (len(hits.ranks), hits.n_relevant.sum()):
            raise ValueError(
                f"Hits: {sizes[0]} gains and {sizes[1]} ideal gains for {len(hits.ranks)} hits "
                f"and {hits.n_relevant.sum()} relevant items"
            )
    if hits.users is not None and len(hits.users) != n_users:
        raise ValueError(f"Hits: {len(hits.users)} users for {n_users} rows")
    if hits.users is not None and len(set(hits.users)) < n_users:
        twice, _ = first_repeat(hits.users) or (0, 0)
        raise ValueError(f"Hits: user {hits.users[twice]!r} is there twice: a user has one row")
    bad = (hits.n_listed < 0) | (hits.n_listed > hits.k)
    bad |= (n_hits > hits.n_relevant) | (n_hits > hits.n_listed)
    held = np.flatnonzero(n_hits)
    bad[held] |= hits.ranks[hits.offsets[held]] < 1
    bad[held] |= hits.ranks[hits.offsets[held + 1] - 1] > hits.n_listed[held]
    inner = np.ones(len(hits.ranks), bool)
    inner[hits.offsets[held]] = False
    falls = np.flatnonzero(inner[1:] & (np.diff(hits.ranks) <= 0)) + 1
    bad[np.searchsorted(hits.offsets, falls, side="right") - 1] = True
    if np.any(bad):
        user = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"Hits: {name_user(hits.users, user)}: ranks "
            f"{hits.ranks[hits.offsets[user] : hits.offsets[user + 1]].tolist()} of "
            f"{hits.n_relevant[user]} relevant items in a list of {hits.n_listed[user]} "
            f"read to k={hits.k}: ranks rise from 1, within the list, at most one per relevant item"
        )
