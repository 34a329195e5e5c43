"""Is a system not worse than another by more than a margin? A non-inferiority test of two sides."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from toplist.checks import Floats
from toplist.stats import planning, randomization
from toplist.stats.distributions import normal_sf, root, t_sf
from toplist.stats.estimates import FEW, TIE, Difference, Units, difference, snap

Verdict = Literal["not worse", "worse", "undecided"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
# The chance with which the number of users that is needed decides.
POWER = 0.8
# Below so many times its squared skewness, n is small for a t test of one side.
SKEWED = 100
# Standard deviations from the mean within which a saddlepoint loses its digits.
NEAR = 1e-4


class MarginTest(NamedTuple):
    """A difference d against a margin, from both sides.

    `test` is the t test of the difference, with its interval; `p_not_worse` and `p_worse` are
    one-sided: small where the mean of d is above -margin, and below it. `differ` users, or
    clusters, have a difference that is not 0. Where `bound` is above 0, losses that were not drawn
    may matter, and `p_not_worse` is at least this (`unseen`).
    `n_needed` users would decide; NaN where the verdict stands, infinite where none would.
    """

    verdict: Verdict
    test: Difference
    p_not_worse: float
    p_worse: float
    differ: int
    bound: float
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

    Where fewer than 30 users differ, or losses are so skewed that n < 100 skewness², t alone passes
    losses that it cannot see. There p_not_worse is the larger of that by t and `unseen`, a bound
    that allows for users who lose all and were not drawn: with n users of whom none differs, it
    passes from (1 - margin / most)^n < (1 - level) / 2 on, most being the best value of base. Of
    p_worse, where fewer than 30 differ, sign flips must agree. Flipped, one-sided, are
    d + margin n/m of the m users who differ, whose sum is that of d + margin over all n; where so
    few differ that their signs cannot decide (5 at level 0.95), d + margin of all users. Where all
    differences are the same there is no t.

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
    d, margin = snap(new, base), float(margin)
    sums, sizes = units.sums(d), units.sizes
    alpha, differ = (1 - level) / 2, int(np.count_nonzero(sums))
    p = q = 0.0
    if test.error > 0:
        t = (test.difference + margin) / test.error
        p, q = t_sf(t, test.df), t_sf(-t, test.df)
    by_flips = differ < FEW or not test.error > 0
    skew, bound = units.skewness(d), 0.0
    if by_flips or (skew < 0 and len(sums) < SKEWED * skew**2):
        most = min(0.0, float(np.min(new))) - float(np.max(base))
        bound = unseen(snap(sums, -margin * sizes), sizes.mean() * min(most + margin, 0.0))
    p = max(p, bound)
    if by_flips and differ:
        some = sums != 0 if 0.5**differ < alpha else np.ones(len(sums), bool)
        share = sizes[some] * (sizes.sum() / sizes[some].sum())
        flips = snap(sums[some], -margin * share)
        q = max(
            q,
            randomization.randomization(
                flips, alternative="less", seed=seed, n_threads=n_threads
            ).p,
        )
    elif not differ:
        q = 1.0
    verdict: Verdict = "not worse" if p < alpha else "worse" if q < alpha else "undecided"
    needed = math.nan
    if verdict == "undecided":
        std, gap = test.error * math.sqrt(test.n), float(snap(test.difference, -margin))
        of_few = test.n * FEW / differ if differ else 0.0
        if gap > 0 and alpha <= bound < 1:  # the bound falls by as much with every user
            of_few = test.n * math.log(alpha) / math.log(bound)
        by_t = n_to_decide(gap, std, level) if std > 0 or gap <= 0 else 0.0
        needed = max(math.ceil(of_few), by_t)
    return MarginTest(verdict, test, p, q, differ, bound, needed)


def unseen(values: Floats, worst: float) -> float:
    """Return p of a mean above 0, allowing for one more unit, the worst that there may be.

        P(Σ e_u x_u + e_0 worst <= 0),  e exponential

    of n values x and weights e that are drawn: the mean of all has the weights e / Σ e. With one
    value x for all it is (1 + x / (worst - x))^n, the chance that n users miss all who differ. The
    bound holds for bounded values whatever their distribution, as far as is known (Gaffke 2005;
    Learned-Miller, Thomas 2019). Computed by a saddlepoint (Lugannani, Rice 1980), within 1 %.

    Parameters
    ----------
    values : (n,) float64
    worst : float
        Below 0, else nothing is unseen.

    Examples
    --------
    >>> round(unseen(np.full(316, 0.0116), 0.0116 - 1), 3), round((1 - 0.0116) ** 316, 3)
    (0.025, 0.025)
    """
    x = np.append(values, worst)
    if not (x > 0).any():
        return 1.0
    if not (x < 0).any():
        return 0.0

    def slope(t: float) -> float:
        return float((x / (1 - t * x)).sum())

    low, high = 1 / float(x.min()), 1 / float(x.max())
    t = root(slope, low * (1 - TIE), high * (1 - TIE))
    curve = -float(np.log1p(-t * x).sum())
    u = t * math.sqrt(float(((x / (1 - t * x)) ** 2).sum()))
    w = math.copysign(math.sqrt(max(-2 * curve, 0.0)), t)
    if abs(w) < NEAR:  # the mean is 0
        return 0.5
    density = math.exp(-w * w / 2) / math.sqrt(2 * math.pi)
    return min(max(normal_sf(-w) - density * (1 / u - 1 / w), 0.0), 1.0)


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
