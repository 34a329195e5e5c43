"""The join: ranked ids and relevant ids become hits, in blocks of users over threads."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist import parallel
from toplist.checks import choice
from toplist.inputs import ids
from toplist.inputs.flatten import name_user
from toplist.inputs.forms import read_sides
from toplist.inputs.grades import STANDARD, Grading
from toplist.inputs.lists import offsets_of
from toplist.inputs.options import DUPLICATES
from toplist.inputs.sides import Sides
from toplist.matching.hits import Hits, trusted


def match(
    ranks: Any,
    ground_truths: Any,
    k: int | None = None,
    *,
    duplicates: str = "raise",
    padding: Any = None,
    relevant_from: float | None = None,
    gains: str = "linear",
    columns: Mapping[str, str] | None = None,
    n_threads: int | None = None,
) -> Hits:
    """Join ranked lists with ground truths, once; every metric then takes the `Hits`.

    Parameters
    ----------
    ranks : lists of ids, best first
        One user: a list, tuple, range or 1-D array of ids. Many by position: a list of those, a
        2-D array of ids, `Lists`, an Arrow array or polars Series of lists. Many by key: a dict
        user -> list, a pandas Series of lists, or a table (pandas, polars, pyarrow, or any that
        speaks Arrow) with user_id, item_id and rank (1..n) or score; or with a row per user,
        whose item_id is a list, or which has the columns 1 to K. Tensors are read where they
        lie; one on a device is copied to the host by its own ``cpu()`` or ``get()``.
    ground_truths : relevant ids of the same users
        In the same form, though keyed forms mix; a user's may be a set, a dict item -> grade, or
        one bare id. A table has user_id, item_id and, with grades, relevance. Or a scipy sparse
        matrix, users x items, of 1s or grades.
    k : int, optional
        Read the first k ids of each list only; default all.
    duplicates : {"raise", "first"}
        An id twice in one list: refused, or only its first place counts.
    padding : id, optional
        An id that fills rectangular arrays: dropped from the ends of lists and ground truths.
    relevant_from : float, optional
        An item is relevant if its grade is at least this; default: above 0.
    gains : {"linear", "exponential"}
        What a hit is worth in graded metrics: the grade, or 2^grade - 1.
    columns : mapping, optional
        Of tables: their own names of user_id, item_id, rank, score and relevance.
    n_threads : int, optional
        Default: the CPUs this process may use. The result does not depend on it.

    Returns
    -------
    Hits
        One row per user of the ground truth, in its order.

    Raises
    ------
    TypeError
        For forms and ids that are not accepted (floats, bools, None, ids of two kinds, a set
        where ranks belong).
    ValueError
        For an id twice in a list, sides of different length or without a common user,
        misplaced padding, a bad `k` or option.

    Examples
    --------
    >>> match({"ann": ["a", "b"], "bob": ["b", "c"]}, {"bob": {"c"}, "eve": {"a"}})
    Hits(2 users, 1 hits, lists read to k=2)
    """
    grading = Grading(relevant_from, gains)
    choice("duplicates", duplicates, DUPLICATES)
    return joined(ranks, ground_truths, k, padding, grading, columns, duplicates, n_threads)[0]


class HashCollisionError(Exception):
    """Two strings of one hash met in the join; it has to be made again with exact numbers."""


def joined(
    ranks: Any,
    truths: Any,
    k: int | None,
    padding: Any = None,
    grading: Grading = STANDARD,
    columns: Mapping[str, str] | None = None,
    duplicates: str = "raise",
    n_threads: int | None = None,
) -> tuple[Hits, bool]:
    """Return the hits, and whether one user was given bare."""
    sides = read_sides(ranks, truths, k, padding, grading, columns)
    try:
        return join(sides, duplicates, n_threads), sides.single
    except HashCollisionError:
        sides = read_sides(ranks, truths, k, padding, grading, hashing=False)
        return join(sides, duplicates, n_threads), sides.single


def join(sides: Sides, duplicates: str, n_threads: int | None) -> Hits:
    """Join what the door let through, in blocks of users."""
    bounds = parallel.bounds(sides.ranked.offsets + sides.truth.offsets)
    parts = list(parallel.run(partial(_join_block, sides, duplicates), bounds, n_threads))
    ranks, n_hits, n_relevant, gains, ideal = map(np.concatenate, zip(*parts, strict=True))
    offsets = offsets_of(n_hits)
    if sides.hashed and not ids.agree(*sides.sources, offsets, ranks, n_relevant):
        raise HashCollisionError
    graded = sides.truth.gains is not None
    return trusted(
        offsets=offsets,
        ranks=ranks,
        n_relevant=n_relevant,
        n_listed=sides.lengths,
        gains=gains if graded else None,
        ideal_gains=ideal if graded else None,
        k=sides.depth,
        grading=sides.grading,
        users=sides.users,
        n_extra=sides.n_extra,
    )


def _join_block(sides: Sides, duplicates: str, lo: int, hi: int) -> tuple[NDArray[Any], ...]:
    """Return ranks of hits, numbers of hits and of relevant items, gains, and ideal gains."""
    from toplist.kernels import join as kernels

    items, listed, _ = sides.ranked.block(lo, hi)
    truths, relevant, worth = sides.truth.block(lo, hi)
    lengths = sides.lengths[lo:hi]
    most, longest = int(np.diff(relevant).max(initial=0)), int(lengths.max(initial=0))
    arrays = items, listed, lengths, truths, relevant
    join = _seek if most <= 1 else _mark
    tables = kernels.tables_for(most, longest)
    user, *found = join(arrays, worth, duplicates == "raise", tables)
    if user >= 0:
        raise _repeated(sides, lo + user)
    return *found, _ideal_gains(sides, lo, hi) if sides.truth.gains is not None else worth


# (first user with a repeat or -1, ranks of hits, numbers of hits and of relevant items, gains)
_Found = tuple[int, NDArray[Any], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


def _mark(
    arrays: tuple[NDArray[Any], ...], worth: NDArray[Any], distinct: bool, tables: tuple[Any, ...]
) -> _Found:
    """Join any truths, by a table that marks the relevant ids of a user."""
    from toplist.kernels import join as kernels

    _, _, lengths, _, relevant = arrays
    # as many hits as the shorter of list and truth, for each user
    room = int(np.minimum(lengths, np.diff(relevant)).sum())
    ranks, gains = np.empty(room, np.int32), np.empty(room if len(worth) else 0)
    n_hits, n_relevant = np.empty((2, len(lengths)), np.int64)
    user = kernels.join(
        *(*arrays, worth, distinct, tables),
        *(ranks, gains, n_hits, n_relevant),
    )
    n = int(n_hits.sum()) if user < 0 else 0
    return user, ranks[:n].copy(), n_hits, n_relevant, gains[:n].copy()


def _seek(
    arrays: tuple[NDArray[Any], ...], worth: NDArray[Any], distinct: bool, tables: tuple[Any, ...]
) -> _Found:
    """Join truths of one id or none: that id is looked for, and nothing marked."""
    from toplist.kernels import join as kernels

    lengths, relevant = arrays[2], arrays[4]
    ranks = np.empty(len(lengths), np.int32)
    n_hits, n_relevant = np.empty((2, len(lengths)), np.int64)
    user = kernels.seek(*arrays, distinct, tables, ranks, n_hits, n_relevant)
    n = int(n_hits.sum()) if user < 0 else 0
    gains = worth if len(worth) == 0 else worth[(relevant[:-1] - relevant[0])[n_hits > 0]]
    return user, ranks[:n].copy(), n_hits, n_relevant, gains


def _repeated(sides: Sides, user: int) -> Exception:
    """Return the error of a list that holds an id twice."""
    first: dict[Any, int] = {}
    written = sides.sources[0].row(user)
    for rank, item in enumerate(written, start=1):
        if first.setdefault(item, rank) != rank:
            fills = all(other == item for other in written[first[item] - 1 :])
            return ValueError(
                f"{name_user(sides.users, user)} has item {item!r} at ranks {first[item]} and "
                f"{rank}: a ranked list holds an item once; duplicates='first' counts the first "
                "place and ignores the others"
                + (f" (if it fills up the list: padding={item!r})" if fills else "")
            )
    return HashCollisionError()


def _ideal_gains(sides: Sides, lo: int, hi: int) -> NDArray[np.float64]:
    """Return the gains of the distinct relevant items of a block of users, each's best first."""
    from toplist.kernels import join as kernels

    truths, offsets, gains = sides.truth.block(lo, hi)
    out = np.empty(len(truths))
    n = kernels.ideals(truths, offsets, gains, out)
    return out[:n]
