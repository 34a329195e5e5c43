"""Checks of the arrays of `Hits`: whole numbers, ranks that rise, grades that belong to them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from toplist import parallel
from toplist.checks import Ints, no_mask
from toplist.inputs.lists import first_repeat, name_user, offsets_of
from toplist.inputs.truths import LARGEST

# How many relevant items there may be in all: sums of them do not overflow.
MOST = 2.0**62


def integers(name: str, values: ArrayLike) -> Ints:
    """Return whole numbers as int64 that nobody can change; ValueError for others."""
    no_mask(values, f"Hits: {name}")
    array = np.asarray(values)
    if array.dtype.kind not in "iub" and not np.all(np.isfinite(array) & (array % 1 == 0)):
        raise ValueError(f"Hits: {name} must be whole numbers")
    array = np.ascontiguousarray(array, np.int64).view()
    array.flags.writeable = False
    return array


def whole_ranks(ranks: ArrayLike) -> Ints:
    """Return the ranks of held-out items; ValueError for others, mean ranks among them."""
    no_mask(ranks, "rank_of_the_item")
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


def rows_of(hits: Any, rows: ArrayLike) -> Ints:
    """Return the rows of some users, by number or as a mask; an error names what is no row."""
    no_mask(rows, "Hits.subset: rows")
    given, n_users = np.asarray(rows), len(hits)
    if given.dtype.kind == "b" and given.shape == (n_users,):
        return np.flatnonzero(given)
    numbers = given.dtype.kind in "iu" or not given.size
    if given.ndim != 1 or not numbers:
        raise TypeError(
            f"Hits.subset: rows are {given.dtype} of shape {given.shape}: give row numbers, or a "
            f"mask of {n_users:,}"
        )
    bad = given[(given < 0) | (given >= n_users)]
    if len(bad):
        raise ValueError(f"Hits.subset: there is no row {bad[0]}: there are {n_users:,}")
    given = given.astype(np.int64)
    counts = np.bincount(given, minlength=1)
    if counts.max() > 1:
        user = name_user(hits.users, int(counts.argmax()))
        raise ValueError(f"Hits.subset: {user} is in rows twice: a user has one row")
    return given


def check(hits: Any) -> None:
    """Raise ValueError if the arrays contradict each other."""
    n_users = len(hits.n_truth)
    n_hits = np.diff(hits.offsets)
    if not len(hits.offsets) - 1 == n_users == len(hits.n_listed):
        raise ValueError("Hits: offsets, n_truth and n_listed disagree on the number of users")
    if hits.offsets[0] != 0 or hits.offsets[-1] != len(hits.ranks) or np.any(n_hits < 0):
        raise ValueError("Hits: offsets must rise from 0 to the number of ranks")
    if hits.n_truth.sum(dtype=float) > MOST:
        raise ValueError("Hits: the ground truths have more items than can be")
    if (hits.grades is None) != (hits.truth_grades is None):
        raise ValueError("Hits: grades and truth_grades go together; one of them is missing")
    if hits.users is not None and len(hits.users) != n_users:
        raise ValueError(f"Hits: {len(hits.users)} users for {n_users} rows")
    if hits.users is not None and len(set(hits.users)) < n_users:
        twice, _ = first_repeat(hits.users) or (0, 0)
        raise ValueError(f"Hits: user {hits.users[twice]!r} is there twice: a user has one row")
    bad = (hits.n_listed < 0) | (n_hits > hits.n_truth) | (n_hits > hits.n_listed)
    if hits.unjudged == "miss" and not hits.listed_only:
        bad |= hits.n_listed > hits.k
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
            f"{hits.n_truth[user]} items of the truth in a list of {hits.n_listed[user]} "
            f"read to k={hits.k}: ranks rise from 1, within the list, at most one per item"
        )
    if hits.grades is not None:
        _check_grades(hits)
    for hashes in (hits.about.truth_hashes, hits.about.judged_hashes):
        if hashes is not None and len(hashes) != n_users:
            raise ValueError(f"Hits: {len(hashes):,} hashes for {n_users:,} ground truths")
    if hits.coverage is not None and not _fits(hits.coverage, hits):
        raise ValueError("Hits: the groups are not those of the hits")


def _check_grades(hits: Any) -> None:
    """Raise ValueError for grades that are none, gain too much, or are of other items."""
    sizes = len(hits.grades), len(hits.truth_grades)
    if sizes != (len(hits.ranks), hits.n_truth.sum()):
        raise ValueError(
            f"Hits: {sizes[0]} grades and {sizes[1]} of truths for {len(hits.ranks)} hits and "
            f"{hits.n_truth.sum()} items of the truths"
        )
    for name in ("grades", "truth_grades"):
        values = getattr(hits, name)
        finite = bool(np.all(np.isfinite(values)))
        if not finite or not np.all(hits.grading.gains_of(np.maximum(values, 0.0)) <= LARGEST):
            raise ValueError(f"Hits: {name} must be finite, and gain at most {LARGEST:g}")
    inner = np.ones(sizes[1], bool)
    inner[offsets_of(hits.n_truth)[:-1][hits.n_truth > 0]] = False
    rises = np.flatnonzero(inner[1:] & (np.diff(hits.truth_grades) > 0))
    if len(rises):
        raise ValueError("Hits: truth_grades must not rise within a user: best first")
    ends = offsets_of(hits.n_truth), hits.offsets

    def first_other(lo: int, hi: int) -> int:
        """Return the first user with a hit whose grade is of no item of the truth, or -1."""
        mine = [slice(one[lo], one[hi]) for one in ends]
        both = np.concatenate([hits.truth_grades[mine[0]], hits.grades[mine[1]]])
        both = both.astype(np.float32)  # as either side may have been
        rows = [np.repeat(np.arange(hi - lo), np.diff(one[lo : hi + 1])) for one in ends]
        several = np.unique(both)
        # one number for each grade of a user; the last bit says which are hits
        cells = 2 * (np.concatenate(rows) * len(several) + np.searchsorted(several, both))
        cells[len(rows[0]) :] += 1
        cells.sort()
        starts = np.flatnonzero(np.diff(cells >> 1, prepend=-1))
        lacks = np.add.reduceat(1 - 2 * (cells & 1), starts) < 0  # fewer items than hits
        return lo + int(cells[starts[lacks][0]] >> 1) // len(several) if lacks.any() else -1

    # blocks that stay in the cache took a quarter of the time
    for user in parallel.run(first_other, parallel.bounds(ends[0], parallel.BLOCK >> 3), None):
        if user >= 0:
            raise ValueError(
                f"Hits: {name_user(hits.users, user)}: the grades of its hits are not among those "
                "of its truth"
            )


def _fits(coverage: Any, hits: Any) -> bool:
    """Return whether groups are numbers within the users, and items are those of the users."""
    n_items, n_hits = hits.n_truth.sum(), np.diff(hits.offsets)
    sizes, n_groups = coverage.sizes, coverage.n_groups
    numbers = n_groups, coverage.items, coverage.groups
    if sizes.min(initial=1) < 1 or any(one.min(initial=0) < 0 for one in numbers):
        return False
    lengths = len(sizes) == len(coverage.order) == n_items and len(n_groups) == len(hits)
    if not lengths or sizes.sum(dtype=float) != len(coverage.groups):
        return False
    # how many groups the items of each user name, at most
    named = np.diff(offsets_of(sizes)[offsets_of(hits.n_truth)])
    fits = len(coverage.items) == len(hits.ranks) and (n_groups <= named).all()
    fits = fits and (coverage.items < np.repeat(hits.n_truth, n_hits)).all()
    return bool(fits and (coverage.groups < np.repeat(n_groups, named)).all())
