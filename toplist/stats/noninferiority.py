"""Is a system not worse than another by more than a margin? A non-inferiority test of two sides."""

from __future__ import annotations

import math
from functools import partial
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from toplist.stats import planning, randomization
from toplist.stats.distributions import t_sf
from toplist.stats.estimates import FEW, Difference, Units, difference, snap

Verdict = Literal["not worse", "worse", "undecided"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
# The chance with which the number of users that is needed decides.
POWER = 0.8


class MarginTest(NamedTuple):
    """A difference d against a margin, from both sides.

    `test` is the t test of the difference, with its interval; `p_not_worse` and `p_worse` are
    one-sided: small where the mean of d is above -margin, and below it. `differ` users, or
    clusters, have a difference that is not 0; if none has, `p_not_worse` is NaN. `by_flips` says
    whether sign flips had to agree.
    `n_needed` users would decide; NaN where the verdict stands, infinite where none would.
    """

    verdict: Verdict
    test: Difference
    p_not_worse: float
    p_worse: float
    differ: int
    by_flips: bool
    n_needed: float


def not_worse(
    new: ArrayLike,
    base: ArrayLike,
    margin: float,
    units: Units | None = None,
    *,
    level: float = 0.95,
    seed: int = 0,
    n_threads: int | None = None,
) -> MarginTest:
    """Test whether the mean of d = new - base is above -margin, or below it, each at (1 - level)/2.

        t = (D + margin) / se,  p_not_worse = P(T > t),  p_worse = P(T < t)

    (One of the two tests of Schuirmann 1987, from both sides.) So *not worse* is an interval of D
    that lies above -margin, *worse* one that lies below it, and all else is *undecided*.

    Where fewer than 30 users differ, t alone is rough, and sign flips must agree: p is the larger
    of both. Flipped, one-sided, are d + margin n/m of the m users who differ, whose sum is that of
    d + margin over all n; where so few differ that their signs cannot decide (5 at level 0.95),
    d + margin of all users. Where all differences are the same there is no t, and flips alone
    decide. Where no user differs, new is not worse, whatever the number of users.

    An undecided test says over how many users like these it would decide with 80 % power, if the
    true difference were the one seen: by the t test, and at least so many that 30 of them differ.

    Parameters
    ----------
    new, base : (n,) float
        A value per user, more being better; the same users in the same order.
    margin : float
        Above 0: the loss that does not matter.
    units : Units, optional
        Weights and clusters of the users; whole clusters are flipped.
    level : float
        Of the two-sided interval.
    seed : int
        Of the sign flips: 10,000 are drawn where more than 20 users differ.
    n_threads : int, optional

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> base, noise = rng.random(400), rng.normal(0, 0.02, 400)
    >>> [not_worse(base + noise - loss, base, 0.005).verdict for loss in (0, 0.005, 0.01)]
    ['not worse', 'undecided', 'worse']
    >>> not_worse(np.zeros(29), np.ones(29), 0.005).p_worse == 0.5**29
    True
    """
    planning.check_margin(margin)
    test = difference(new, base, units, level=level)
    if not test.n:
        raise ValueError("there is no user to test")
    units = Units(test.n) if units is None else units
    sums, sizes = units.sums(snap(new, base)), units.sizes
    alpha, differ = (1 - level) / 2, int(np.count_nonzero(sums))
    if not differ:
        return MarginTest("not worse", test, math.nan, 1.0, 0, False, math.nan)
    p = q = 0.0
    if test.error > 0:
        t = (test.difference + margin) / test.error
        p, q = t_sf(t, test.df), t_sf(-t, test.df)
    by_flips = differ < FEW or not test.error > 0
    if by_flips:
        some = sums != 0 if 0.5**differ < alpha else np.ones(len(sums), bool)
        share = sizes[some] * (sizes.sum() / sizes[some].sum())
        flips = partial(randomization.randomization, snap(sums[some], -margin * share), seed=seed)
        p = max(p, flips(alternative="greater", n_threads=n_threads).p)
        q = max(q, flips(alternative="less", n_threads=n_threads).p)
    verdict: Verdict = "not worse" if p < alpha else "worse" if q < alpha else "undecided"
    needed = math.nan
    if verdict == "undecided":
        std, gap = test.error * math.sqrt(test.n), float(snap(test.difference, -margin))
        needed = max(math.ceil(test.n * FEW / differ), n_to_decide(gap, std, level))
    return MarginTest(verdict, test, p, q, differ, by_flips, needed)


def n_to_decide(gap: float, std: float, level: float = 0.95) -> float:
    """Return how many users show that a mean is not a limit, if both are as far apart as seen.

    With 80 % power, by a t test with (1 - level) / 2 on each side; infinite where they are equal.

    Examples
    --------
    >>> n_to_decide(0.5, 1.0), n_to_decide(0.0, 1.0)
    (34, inf)
    """
    if abs(gap) <= planning.HOPELESS * std:
        return math.inf
    return planning.n_needed(gap, std, POWER, level)
