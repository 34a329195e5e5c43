"""Do the means of independent groups differ? Welch's F, which needs no equal variances."""

from __future__ import annotations

import math
from typing import NamedTuple

from numpy.typing import ArrayLike

from toplist.checks import doubles
from toplist.stats.distributions import f_sf


class Welch(NamedTuple):
    """Welch's F with its degrees of freedom and p; `pooled` is the mean of all, by precision."""

    f: float
    df1: float
    df2: float
    p: float
    pooled: float


def welch(means: ArrayLike, errors: ArrayLike, df: ArrayLike) -> Welch:
    """Return Welch's F of the means of G independent groups.

        w = 1 / error²,  W = Σw,  m = Σ w mean / W,  L = Σ (1 - w/W)² / df
        F = Σ w (mean - m)² / (G - 1) / (1 + 2 (G - 2) L / (G² - 1))
        df1 = G - 1,  df2 = (G² - 1) / 3L

    (Welch 1951, On the comparison of several mean values.) Of n values with the standard deviation
    s, the error is s / √n and df is n - 1; weighted means have others (`clustered.spread`). NaN for
    fewer than two groups.

    Parameters
    ----------
    means, errors, df : (G,) float
        Of each group: the mean, its standard error above 0, and the degrees of freedom of that.

    Examples
    --------
    >>> import numpy as np
    >>> n, s = np.array([966, 1260, 1106]), np.array([0.135, 0.103, 0.1])
    >>> found = welch([0.0073, 0.0058, 0.0006], s / np.sqrt(n), n - 1)
    >>> round(found.f, 4), found.df1, round(found.df2, 1), round(found.p, 4)
    (1.1196, 2, 2074.8, 0.3266)
    """
    m, w, dfs = doubles(means), 1 / doubles(errors) ** 2, doubles(df)
    n = len(m)
    if n < 2:
        return Welch(*[math.nan] * 5)
    shares = w / w.sum()
    pooled = float((shares * m).sum())
    spread = float(((1 - shares) ** 2 / dfs).sum())
    between = float((w * (m - pooled) ** 2).sum()) / (n - 1)
    f = between / (1 + 2 * (n - 2) * spread / (n**2 - 1))
    df2 = (n**2 - 1) / (3 * spread)
    return Welch(f, n - 1, df2, f_sf(f, n - 1, df2), pooled)
