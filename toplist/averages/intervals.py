"""Confidence intervals of means: Wilson's of proportions, the normal one of all others."""

import numpy as np

from toplist.checks import Floats


def wilson(mean: Floats, n: float, z: float) -> tuple[Floats, Floats]:
    """Return the ends of Wilson's interval of proportions (1927), always within [0, 1].

        (p + z²/2n ± z √(p (1 - p) / n + z²/4n²)) / (1 + z²/n)

    Parameters
    ----------
    mean : float64
        The proportions p; NaN stays NaN.
    n : float
        The number of users; with weights, Kish's effective number.
    z : float
        The quantile of the normal distribution, 1.96 for 95 %.

    Examples
    --------
    >>> low, high = wilson(np.array([0.0, 0.5]), 2, 1.959964)
    >>> low.round(4), high.round(4)
    (array([0.    , 0.0945]), array([0.6576, 0.9055]))
    """
    p = np.clip(mean, 0.0, 1.0)
    share = z * z / n
    half = np.sqrt(p * (1 - p) * share + share**2 / 4)
    low, high = ((p + share / 2 + sign * half) / (1 + share) for sign in (-1, 1))
    # exactly, where rounding would leave 1e-17
    low, high = np.where(p == 0, 0.0, low), np.where(p == 1, 1.0, high)
    return np.minimum(low, p), np.maximum(high, p)


def normal(mean: Floats, error: Floats, z: float, within_one: bool) -> tuple[Floats, Floats]:
    """Return mean ± z standard errors, cut to [0, 1] where the metric cannot leave it.

    Examples
    --------
    >>> normal(np.array([0.9]), np.array([0.1]), 2, within_one=True)
    (array([0.7]), array([1.]))
    """
    low, high = mean - z * error, mean + z * error
    if not within_one:
        return low, high
    return np.maximum(low, np.minimum(mean, 0.0)), np.minimum(high, np.maximum(mean, 1.0))
