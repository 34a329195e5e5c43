"""Sums of squared deviations that follow from integer counts alone."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def spread_of_counts(
    each: NDArray[np.int64], nth: NDArray[np.int64], n_users: NDArray[np.int64]
) -> Floats:
    """Return the sum of squared deviations of the numbers of hits, from integers."""
    total = np.cumsum(each, axis=1)
    squares = np.cumsum(2 * nth - each, axis=1)  # the j-th hit raises j^2 by 2 j - 1
    # deviations from a whole number near the mean are exact, and small
    whole, rest = np.divmod(total, n_users)
    near: Floats = squares - 2 * whole * total + n_users * whole**2 - rest * (rest / n_users)
    return near


def spread_of_first(
    first: NDArray[np.int64], n_users: NDArray[np.int64], discounts: Floats
) -> Floats:
    """Return the sum of squared deviations of 1 / discount(first hit), 0 for none."""
    worth = 1.0 / discounts
    # deviations from the commonest value, if it is reached at k: exact where all share it
    ranks = np.arange(first.shape[1])
    common = np.argmax(first, axis=1)[:, np.newaxis]
    missed = n_users - np.cumsum(first, axis=1)

    def deviations(value: Floats) -> Floats:
        found = np.cumsum(first * (worth - value) ** 2, axis=1) + missed * value**2
        mean = (np.cumsum(first * (worth - value), axis=1) - missed * value) / n_users
        spread: Floats = found - n_users * mean**2
        return np.maximum(spread, 0.0)

    return np.where(ranks < common, deviations(np.zeros((1, 1))), deviations(worth[common]))
