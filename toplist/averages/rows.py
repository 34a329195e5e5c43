"""Users fall into rows: those with the same number of relevant items share their divisors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toplist.matching.hits import Hits


@dataclass(frozen=True, eq=False)
class Rows:
    """The distinct (R, n) of users, and which of them each user has (-1: not counted).

    `n_listed` is 0 where the length of the list does not matter.
    """

    n_relevant: NDArray[np.int64]
    n_listed: NDArray[np.int64]
    of_user: NDArray[np.int64]


def rows_of(hits: Hits, counted: NDArray[np.bool_], by_length: bool, depth: int) -> Rows:
    """Group the counted users by R, and by the length of their lists where it matters.

    A million users with Pareto-distributed lengths have 1,615 distinct R, but 20,872 (R, n).
    """
    span = depth + 1 if by_length else 1
    keys = hits.n_relevant * span
    if by_length:
        keys = keys + np.minimum(hits.n_listed, depth)
    distinct, of_user = _distinct(np.where(counted, keys, -1))
    n_listed = distinct % span if by_length else np.zeros_like(distinct)
    return Rows(distinct // span, n_listed, of_user)


def _distinct(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct keys from 0 on, and the place of each key among them (-1 for -1).

    By marks where the keys are small, which takes a tenth of the time of sorting.
    """
    largest = int(keys.max(initial=-1))
    if largest > 8 * len(keys) + 1024:
        distinct, place = np.unique(keys, return_inverse=True)
        n_negative = int(np.searchsorted(distinct, 0))
        return distinct[n_negative:], np.maximum(place - n_negative, -1)
    present = np.zeros(largest + 2, bool)
    present[keys] = True  # -1 marks the last place
    present[-1] = False
    place = np.cumsum(present) - 1
    place[-1] = -1
    return np.flatnonzero(present), place[keys]
