"""Users with weights, or in clusters: what is drawn or flipped as one, and its standard error.

A unit is a user with its weight, or a cluster of users. Few units, or a few large ones, leave a
standard error that is too small, and far fewer degrees of freedom than units: both are adjusted
(`spread`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from toplist.checks import Floats, Ints, doubles, is_missing

# Below so many degrees of freedom, intervals and tests are rough.
FEW_DF = 20


def units(
    values: ArrayLike, weights: ArrayLike | None = None, clusters: Any = None
) -> tuple[Floats, Floats]:
    """Return what is drawn or flipped as one: a sum of w d and of w per user, or per cluster.

    Clusters come in the order of their labels, whatever the order of the users.

    Examples
    --------
    >>> units([1, 2, 4], clusters=["y", "x", "y"])
    (array([2., 5.]), array([1., 2.]))
    """
    d = np.asarray(values, np.float64)
    w = np.ones(len(d)) if weights is None else weights_of(weights, len(d))
    if clusters is None:
        return d * w, w
    places = numbered(clusters)
    if places.shape != d.shape:
        raise ValueError(f"clusters has shape {places.shape}: one label per user, {d.shape}")
    used = np.flatnonzero(np.bincount(places))
    sums, sizes = (np.bincount(places, part)[used] for part in (d * w, w))
    return sums.astype(np.float64, copy=False), sizes.astype(np.float64, copy=False)


def numbered(labels: Any, users: Sequence[Any] | None = None) -> Ints:
    """Return a number from 0 on for each label, in the order of the labels.

    Labels are equal where Python says so. In an array of numpy 1 and "1" would be, too. What is
    numbered already is returned as it is; `users` are for the message where one has no label.

    Examples
    --------
    >>> numbered(["b", "a", "b"]), numbered([1, "1"])
    (array([1, 0, 1]), array([1, 0]))
    """
    if isinstance(labels, np.ndarray) and labels.dtype == np.int64 and labels.ndim == 1:
        dense = len(labels) == 0 or (labels.min() >= 0 and labels.max() < 2 * len(labels))
        return labels if dense else np.unique(labels, return_inverse=True)[1]
    given: Sequence[Any] = labels.tolist() if hasattr(labels, "tolist") else list(labels)
    try:
        found = dict.fromkeys(given)
    except TypeError as error:
        raise TypeError(f"clusters: a label cannot be compared: {error}") from None
    if any(map(is_missing, found)):
        row = next(i for i, one in enumerate(given) if is_missing(one))
        user = row if users is None else users[row]
        raise ValueError(f"clusters: user {user!r} has none, {given[row]!r}")
    try:
        order = sorted(found)
    except TypeError:  # of several kinds
        order = sorted(found, key=repr)
    places = {label: place for place, label in enumerate(order)}
    return np.fromiter(map(places.__getitem__, given), np.int64, len(given))


def linearised(numerators: ArrayLike, divisors: ArrayLike) -> Floats:
    """Return a value per user whose plain mean and standard error are those of Σx / Σy.

        r + (x - r y) / mean y,  r = Σx / Σy

    (The delta method by its influence function; Särndal, Swensson, Wretman 1992, 5.6.) With the
    weights as y and w d as x this is a weighted mean, with sizes and sums of clusters a mean over
    clusters of users: then its squared error is n / (n - 1) Σ (x - r y)² / (Σy)².

    Examples
    --------
    >>> values = linearised([2, 0, 1], [4, 1, 1])
    >>> values.round(3), float(values.mean().round(3))
    (array([0.5 , 0.25, 0.75]), 0.5)
    """
    x, y = np.asarray(numerators, np.float64), np.asarray(divisors, np.float64)
    if len(y) == 0:
        return np.empty(0)
    total = float(y.sum())
    if total == 0:
        raise ValueError("the divisors add up to 0: there is no ratio")
    ratio = float(x.sum()) / total
    values: Floats = ratio + (x - ratio * y) * (len(y) / total)
    return values


def spread(
    numerators: Floats, sizes: Floats, divisors: Floats | None = None
) -> tuple[float, float]:
    """Return the standard error of r = Σx / Σy over units, and its degrees of freedom (CR2).

        error² = Σ (x - r y)² / (1 - π) / (Σy)²,  π = size / Σ sizes
        df = 1 / (Σπ² + (Σa)² - Σa²),             a = π² / (1 - π)

    (Bell, McCaffrey 2002; Satterthwaite 1946.) A large unit pulls r towards itself: what is left
    of it is too small, by 1 - π. With units of one size this is n / (n - 1) Σ(x - r y)² / (Σy)²
    and n - 1. NaN for fewer than two units.

    Parameters
    ----------
    numerators, sizes : (n,) float
        As `units` returns them.
    divisors : (n,) float, optional
        The y; default: the sizes.

    Examples
    --------
    >>> sums, sizes = units([0.3, 0.1, -0.2, 0.4, 0.0, 0.2], clusters=list("aaabbc"))
    >>> error, df = spread(sums, sizes)
    >>> round(error, 4), round(df, 4)
    (0.0558, 1.6667)
    """
    if len(sizes) < 2:
        return math.nan, len(sizes) - 1.0
    left = residuals(numerators, sizes, divisors)
    return math.sqrt(float((left**2).sum())), degrees_of_freedom(sizes)


def residuals(numerators: Floats, sizes: Floats, divisors: Floats | None = None) -> Floats:
    """Return a number per unit, of at least two; their squares add up to error² (see `spread`)."""
    y = sizes if divisors is None else divisors
    total, whole = float(y.sum()), float(sizes.sum())
    left: Floats = numerators - float(numerators.sum()) / total * y
    left *= np.sqrt(whole / (whole - sizes)) / abs(total)
    return left


def degrees_of_freedom(sizes: Floats) -> float:
    """Return Satterthwaite's degrees of freedom of units of these sizes, at least two."""
    whole = float(sizes.sum())
    shares = sizes / whole
    pulls = np.sort(shares * sizes / (whole - sizes))
    # (Σa)² - Σa² without loss of digits where one unit is nearly all
    pairs = 2 * float((pulls[1:] * np.cumsum(pulls)[:-1]).sum())
    return 1 / (float((shares**2).sum()) + pairs)


def weights_of(
    weights: ArrayLike, n: int, users: Sequence[Any] | None = None, zeros: bool = False
) -> Floats:
    """Return weights as float64, one per user, all positive; with `zeros`, 0 or more.

    Examples
    --------
    >>> weights_of([2, 1], 2)
    array([2., 1.])
    """
    w = doubles(weights)
    if w.shape != (n,):
        raise ValueError(f"weights has shape {w.shape}: one per user is needed, ({n},)")
    good = ((w >= 0) if zeros else (w > 0)) & np.isfinite(w)
    if not good.all():
        row = int(np.argmin(good))
        user = row if users is None else repr(users[row])
        least = "0 or more" if zeros else "positive"
        raise ValueError(f"the weight of user {user} is {w[row]}: it must be {least} and finite")
    return w
