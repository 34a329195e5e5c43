"""The best of many systems over the same users: how far it leads, and how far by chance alone."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from toplist import parallel
from toplist.checks import Floats
from toplist.stats.estimates import TIE, Units, snap
from toplist.stats.randomization import differences, flipped_sums, resamples, seeded, share

# The mean of the largest of 40 means is known to 1 % of itself.
FLIPS = 1_000


class Best(NamedTuple):
    """The best of S systems over n users.

    `place` is that of the best, `mean` its mean, `mean_of_all` the mean of all means, `lead` how
    much better it is than that, and `by_chance` how much better the best of S equal systems would
    be. `p` is how often chance leads as far.
    """

    place: int
    mean: float
    mean_of_all: float
    lead: float
    by_chance: float
    p: float
    n: int
    n_systems: int

    @property
    def share(self) -> float:
        """The part of the lead that chance alone gives; NaN without a lead."""
        return self.by_chance / self.lead if self.lead else math.nan


def best_of_many(
    values: Sequence[ArrayLike],
    units: Units | None = None,
    *,
    higher_is_better: bool = True,
    n_resamples: int = FLIPS,
    seed: int = 0,
    n_threads: int | None = None,
) -> Best:
    """Return how far the best of S systems leads the mean of all, and how far by chance alone.

        lead = max_s m_s - m,  m_s the mean of x_us over users u, m the mean of all m_s
        r_us = (x_us - x_u) - (m_s - m),  x_u the mean of user u over the systems
        by chance = mean over b of max_s T_bs,  T_bs = √(n / (n - 1)) / n Σ_u e_bu r_us
        p = (1 + #{max_s T_bs >= lead}) / (B + 1)

    with random signs e_bu = ±1, the same for all systems. What makes a user easy for all systems is
    no part of a lead, and is taken out; so is what the systems differ by, so that all have equal
    means. T_b then varies as the means of S equal systems with these users do: its covariances are
    those of the m_s - m. (Centred, so that the best of equal ones is drawn: White 2000, A reality
    check for data snooping. Signs as multipliers: Liu 1988, Bootstrap procedures under some non-iid
    models.) Of systems that are not equal it is a bound: on average, the mean of the best is at
    most so much higher than that of the truly best, as max m_s <= max μ_s + max (m_s - μ_s).

    Parameters
    ----------
    values : sequence of (n,) float
        Of the same users, a row per system.
    units : Units, optional
        Weights w, and clusters: sums of w r over these are flipped, n is their number, and T is
        divided by Σ w.
    higher_is_better : bool
        False: the smallest mean is the best.
    n_resamples : int
        Flips B, at least 99.
    seed : int
        From 0 on.
    n_threads : int, optional
        The result is the same for any.

    Examples
    --------
    >>> equal = np.random.default_rng(0).normal(0.5, 0.1, (20, 100))
    >>> found = best_of_many(equal)   # of 20 normal ones: 1.87 standard errors of 0.01
    >>> round(found.lead, 3), round(found.by_chance, 3), found.p > 0.05
    (0.018, 0.019, True)
    """
    key, n_resamples = seeded(seed), resamples(n_resamples)
    systems = [differences(x) if higher_is_better else -differences(x) for x in values]
    of_user = functools.reduce(np.add, systems) / len(systems)
    whose = Units(len(of_user)) if units is None else units
    total, sizes = whose.sums(of_user), whose.sizes
    n, size = len(total), whose.whole or math.nan

    def flips(first: int, _: int) -> tuple[float, Floats]:
        sums = whose.sums(snap(systems[first], of_user))
        ahead = float(sums.sum()) / size
        return ahead, flipped_sums(snap(sums, ahead * sizes), n_resamples, key, 1)

    # a system at a time, in any thread: each has the same signs
    drawn, ahead = np.full(n_resamples, -math.inf), []
    for found, sums in parallel.run(flips, [(i, i + 1) for i in range(len(systems))], n_threads):
        ahead.append(found)
        np.maximum(drawn, sums, out=drawn)
    drawn *= math.sqrt(n / (n - 1)) / size if n > 1 else math.nan
    place, sign = int(np.argmax(ahead)), 1.0 if higher_is_better else -1.0
    lead, mean = ahead[place], float(total.sum()) / size
    p = share(drawn >= lead - TIE * abs(mean), exact=False) if n > 1 else math.nan
    means = sign * (mean + lead), sign * mean
    return Best(place, *means, lead, float(drawn.mean()), p, n, len(systems))
