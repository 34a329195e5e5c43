"""Corrections of many p values for their number: Bonferroni, Holm, Benjamini and Hochberg."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from toplist.checks import Floats, choice

Correction = Literal["holm", "bh", "bonferroni", "none"]
METHODS: tuple[Correction, ...] = get_args(Correction)


def adjust(p: ArrayLike, method: Correction = "holm") -> Floats:
    """Return p values that hold for all comparisons together.

    With p(1) <= ... <= p(m) in ascending order, cut at 1:

        "bonferroni"  m p
        "holm"        the largest of (m - j + 1) p(j) over j <= i (Holm 1979)
        "bh"          the least of m p(j) / j over j >= i (Benjamini, Hochberg 1995)
        "none"        p

    Holm's and Bonferroni's bound the chance of one false discovery or more, Holm's never being the
    larger; "bh" bounds the share of false ones among the discoveries.

    Parameters
    ----------
    p : array of float
        Of any shape: all of it is one family. NaN stays NaN and does not count.
    method : {"holm", "bh", "bonferroni", "none"}

    Examples
    --------
    >>> adjust([0.01, 0.04, 0.03, 0.005])
    array([0.03, 0.06, 0.06, 0.02])
    >>> adjust([0.01, np.nan, 0.04], "bonferroni")
    array([0.02,  nan, 0.08])
    """
    choice("method", method, METHODS)
    adjusted = np.array(p, np.float64)
    counted = ~np.isnan(adjusted)
    family = adjusted[counted]
    if (wrong := (family < 0) | (family > 1)).any():
        raise ValueError(f"p values lie between 0 and 1, not {float(family[wrong][0])!r}")
    if method != "none":
        order = np.argsort(family, kind="stable")
        rising, places = family[order], np.arange(1.0, len(family) + 1)
        stepwise = len(family) * rising
        if method == "holm":
            stepwise = np.maximum.accumulate((len(family) - places + 1) * rising)
        elif method == "bh":
            stepwise = np.minimum.accumulate((len(family) / places * rising)[::-1])[::-1]
        family[order] = np.minimum(stepwise, 1.0)
    adjusted[counted] = family
    return adjusted
