"""Tests that draw: random sign flips and the studentised bootstrap; tests of ranks and signs.

Each takes the differences of two systems, user by user. The draws depend on the seed alone, never
on the number of threads.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toplist import kernels, parallel
from toplist.checks import Floats, check_positive_int
from toplist.stats import estimate, t_test
from toplist.stats.distributions import binomial_sf, normal_sf
from toplist.stats.units import TIE, Units, checked, over, p_of, pair, snap

FLIPS = 10_000
# Of the best of many systems: the mean of the largest of 40 means is known to 1 % of itself.
LEAD_FLIPS = 1_000
RESAMPLES = 9_999
FEWEST = 99
# All sign patterns are gone through for up to so many differences that are not 0.
EXACT = 20
# Wilcoxon's p is counted for up to so many differences, and for more it is the normal limit.
RANKED = 50
# Flips in one task of a thread, whose sums stay in its cache, and additions between two moments at
# which Ctrl-C is heard.
TASK = 1250
STEP = 1 << 33
# A t* that differs from t by less is the same: differences of few values give few values of t*.
SAME = 1e-9
# Draws in one task of a thread.
DRAWS = 1 << 24


@dataclass(frozen=True)
class How:
    """How a test that draws is made.

    Attributes
    ----------
    n_resamples : int
        Flips, resamples or draws B, at least 99.
    alternative : {"two-sided", "greater", "less"}
        Of the mean difference against 0.
    level : float
        Of intervals and critical values, which are two-sided.
    seed : int
        From 0 to 2^64 - 1.
    n_threads : int, optional
        The result is the same for any.

    Raises
    ------
    ValueError
        For values out of range.

    Examples
    --------
    >>> How(FLIPS, seed=7).key
    np.uint64(7)
    """

    n_resamples: int
    alternative: str = "two-sided"
    level: float = 0.95
    seed: int = 0
    n_threads: int | None = None

    def __post_init__(self) -> None:
        """Check all of them."""
        checked(self.alternative, self.level)
        seeded(self.seed)
        resamples(self.n_resamples)

    @property
    def key(self) -> np.uint64:
        """The seed as the kernels take it."""
        return np.uint64(self.seed)

    @classmethod
    def of(cls, n_resamples: int, options: dict[str, Any]) -> How:
        """Return options of a caller, with the number of resamples where they give none."""
        return cls(**{"n_resamples": n_resamples} | options)


class Outcome(NamedTuple):
    """A test by flips, ranks or signs.

    `statistic` is Σd, the sum of the ranks of positive differences, or the number of wins, and
    `exact` says whether `p` is counted over all patterns, not drawn or approximated.
    """

    statistic: float
    p: float
    exact: bool


class Bootstrapped(NamedTuple):
    """A studentised bootstrap: the t of the data, p, and an interval that agrees with p.

    It is `exact` where all units differ by the same number: then nothing is drawn.
    """

    statistic: float
    p: float
    low: float
    high: float
    exact: bool = False


def randomization(d: ArrayLike, units: Units | None = None, **options: Any) -> Outcome:
    """Return Fisher's randomization test: the signs of the differences are flipped at random.

        T_b = Σ ±d,  p = (1 + #{|T_b| >= |T|}) / (B + 1)      (Phipson, Smyth 2010)

    Up to rounding: 1e-12 Σ|d|. Exact, and without draws, where at most 20 differences are not 0
    (all their sign patterns), or where all of these are as large (binomial). Fisher 1935, The
    Design of Experiments, 21.

    Parameters
    ----------
    d : (n,) float
        Differences of the users, as `snap` returns them.
    units : Units, optional
        Weights w and clusters of the users: w d are flipped, and whole clusters.
    **options
        Fields of `How`; 10,000 flips by default.

    Examples
    --------
    >>> randomization([0.3, 0.8, -0.1, 0.0])
    Outcome(statistic=1.0, p=0.5, exact=True)
    >>> randomization(np.arange(-10, 30) / 100, alternative="greater").p < 0.01
    True
    """
    how = How.of(FLIPS, options)
    values = differences(d) if units is None else units.sums(differences(d))
    if len(values) == 0:
        return Outcome(math.nan, math.nan, True)
    total, p = float(values.sum()), exact_p(values, how.alternative)
    if p is not None:
        return Outcome(total, p, True)
    p = share(extreme(flipped_sums(values, how), values, how.alternative), exact=False)
    return Outcome(total, p, False)


def bootstrap(d: ArrayLike, units: Units | None = None, **options: Any) -> Bootstrapped:
    """Return the studentised bootstrap of the mean difference D (Efron 1979; Hall 1988).

        t* = (m* - D) / (s* / √n),  interval [D - q_hi se, D - q_lo se]
        p = 2 min(1 + #{t* >= t}, 1 + #{t* <= t}) / (B + 1)

    with q the (B+1) a/2-th and (B+1)(1 - a/2)-th of the B sorted t*, so that the interval leaves
    out 0 exactly where p is at most a. Where s* is 0, t* is 0 or infinite.

    Parameters
    ----------
    d, units
        As in `randomization`; whole clusters are drawn.
    **options
        Fields of `How`; 9,999 resamples by default, which must be enough for the level.

    Examples
    --------
    >>> test = bootstrap(np.arange(-10, 30) / 100)
    >>> round(test.statistic, 2), test.p < 0.001, 0.05 < test.low < 0.07 < 0.12 < test.high < 0.14
    (5.14, True, True)
    """
    how = How.of(RESAMPLES, options)
    n_resamples, level = how.n_resamples, how.level
    rank = math.floor(round((n_resamples + 1) * (1 - level) / 2, 9))
    if rank < 1:
        raise ValueError(f"n_resamples={n_resamples} are too few for level={level}")
    values = differences(d)
    units = Units(len(values)) if units is None else units
    sums, sizes = units.sums(values), units.sizes
    # t and t* by the same factor: without the correction of each unit for its size
    alike = estimate([units.linearised(values)], Units(len(sums)), n_threads=1)
    mean, error = float(alike.value[0]), float(alike.error[0])
    if abs(mean) * len(values) <= TIE * float(np.abs(values).sum()):
        mean = 0.0  # gains and losses cancel, but for rounding
    t, p, low, high = t_test(mean, error, alike.df, how.alternative, level)
    if not error > 0:  # one user, or all the same: there is nothing to draw
        return Bootstrapped(t, p, low, high, exact=True)
    drawn = np.empty(n_resamples)
    centred = snap(sums, mean * sizes)
    plain = bool((sizes == 1).all())

    def fill(low: int, high: int) -> None:
        if plain:
            kernels.chance.studentised_means(centred, low, how.key, drawn[low:high])
        else:
            kernels.chance.studentised_ratios(centred, sizes, low, how.key, drawn[low:high])

    tasks = parallel.bounds(np.arange(n_resamples + 1) * len(sums), DRAWS)
    parallel.each(fill, tasks, how.n_threads)
    drawn.sort()
    drawn[np.abs(drawn - t) <= SAME * max(abs(t), 1.0)] = t
    above = 1 + n_resamples - int(np.searchsorted(drawn, t, "left"))
    below = 1 + int(np.searchsorted(drawn, t, "right"))
    p = p_of(above / (n_resamples + 1), below / (n_resamples + 1), how.alternative)
    # (t - q) se is D - q se, and 0 exactly where q is t
    low, high = (float((t - drawn[place]) * error) for place in (-rank, rank - 1))
    if not units.plain:  # as the t test has it
        t = over(mean, float(estimate([values], units, n_threads=1).error[0]))
    return Bootstrapped(t, p, low, high)


def wilcoxon(d: ArrayLike, *, alternative: str = "two-sided") -> Outcome:
    """Return Wilcoxon's signed-rank test (1945): zeros are dropped, ties share their mean rank.

    It does not test the mean: with skewed differences it rejects where the mean is 0, ever more
    often for more users. |d| are ranked after rounding to 12 digits of the largest, as ties split
    by rounding would change p. Up to 50 differences all sign patterns are counted; for more it is

        z = (W - m(m+1)/4) / √(Σ r² / 4), without a correction for continuity

    Parameters
    ----------
    d : (n,) float
        As `snap` returns them.
    alternative : {"two-sided", "greater", "less"}

    Examples
    --------
    >>> wilcoxon([0.3, 0.8, -0.1, 0.0, 0.3])
    Outcome(statistic=9.0, p=0.25, exact=True)
    """
    values = differences(d)
    n, values = len(values), values[values != 0]
    m = len(values)
    if m == 0:
        return Outcome(0.0 if n else math.nan, 1.0 if n else math.nan, True)
    rounded = np.round(np.abs(values) / np.abs(values).max(), 12)
    _, places, sizes = np.unique(rounded, return_inverse=True, return_counts=True)
    doubled = (2 * np.cumsum(sizes) - sizes + 1)[places]  # twice the mid-ranks of |d|
    statistic = int(doubled[values > 0].sum())
    if m <= RANKED:
        counts = np.zeros(m * (m + 1) + 1, np.int64)  # patterns by their doubled sum of ranks
        counts[0] = 1
        for rank in doubled:
            counts[rank:] += counts[:-rank].copy()
        above, below = float(counts[statistic:].sum()), float(counts[: statistic + 1].sum())
        above, below = above / 2**m, below / 2**m
    else:
        deviation = math.sqrt(float((doubled.astype(np.float64) ** 2).sum())) / 4
        z = (statistic / 2 - m * (m + 1) / 4) / deviation
        above, below = normal_sf(z), normal_sf(-z)
    return Outcome(statistic / 2, p_of(above, below, alternative), m <= RANKED)


def sign(d: ArrayLike, *, alternative: str = "two-sided") -> Outcome:
    """Return the sign test: wins among the m users who differ are binomial with m and 1/2.

    It does not test the mean (see `wilcoxon`).

    Examples
    --------
    >>> sign([0.3, 0.8, -0.1, 0.0, 0.3])
    Outcome(statistic=3.0, p=0.625, exact=True)
    """
    values = differences(d)
    if len(values) == 0:
        return Outcome(math.nan, math.nan, True)
    wins, losses = int((values > 0).sum()), int((values < 0).sum())
    return Outcome(float(wins), sign_p(wins, losses, alternative), True)


def differences(d: ArrayLike) -> Floats:
    """Return differences as float64, one per user, all finite.

    Examples
    --------
    >>> differences([1, 2])
    array([1., 2.])
    """
    return pair(d, d)[0]


def resamples(n_resamples: Any) -> None:
    """Raise ValueError unless the number of resamples is a whole one from 99 on.

    Examples
    --------
    >>> resamples(99)
    """
    check_positive_int(n_resamples, "n_resamples", FEWEST)


def seeded(seed: Any) -> np.uint64:
    """Return a seed as the kernels take it: a whole number from 0 to 2^64 - 1.

    Examples
    --------
    >>> int(seeded(7))
    7
    """
    number = isinstance(seed, (int, np.integer)) and not isinstance(seed, bool)
    if not number or not 0 <= seed < 1 << 64:
        raise ValueError(f"seed must be a whole number from 0 to 2^64 - 1, not {seed!r}")
    return np.uint64(seed)


def exact_p(values: Floats, alternative: str) -> float | None:
    """Return p over all sign patterns, or None where these are too many.

    Examples
    --------
    >>> exact_p(np.array([1.0, 1.0, -1.0]), "greater"), exact_p(np.arange(30.0), "greater")
    (0.5, None)
    """
    values = values[values != 0]
    sizes = np.abs(values)
    if len(sizes) == 0 or sizes.max() - sizes.min() <= TIE * sizes.max():
        wins = int((values > 0).sum())
        return sign_p(wins, len(values) - wins, alternative)
    if len(sizes) > EXACT:
        return None
    return share(extreme(all_sums(values), values, alternative), True)


def extreme(sums: Floats, values: Floats, alternative: str) -> NDArray[np.bool_]:
    """Return which sums of flipped values are at least as extreme as the sum of the values.

    Examples
    --------
    >>> extreme(np.array([-5.0, -3.0, 3.0, 5.0]), np.array([1.0, -4.0]), "less")
    array([ True,  True, False, False])
    """
    slack = TIE * float(np.abs(values).sum())
    least = sided_of(values.sum(), alternative) - slack
    return np.asarray(sided_of(sums, alternative) >= least)


def all_sums(values: Floats) -> Floats:
    """Return the sums of the values under all their sign patterns.

    Examples
    --------
    >>> all_sums(np.array([1.0, 4.0]))
    array([-5., -3.,  3.,  5.])
    """
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums - value, sums + value])
    return sums


def flipped_sums(values: Floats, how: How) -> Floats:
    """Return the sum of the values in each of the random flips.

    Examples
    --------
    >>> np.unique(flipped_sums(np.array([1.0, 4.0]), How(99)))
    array([-5., -3.,  3.,  5.])
    """
    sums = np.zeros(how.n_resamples)
    tasks = parallel.bounds(np.arange(len(sums) + 1), TASK)
    users = max(STEP // len(sums) // kernels.chance.GROUP, 1) * kernels.chance.GROUP
    for first in range(0, len(values), users):
        part = values[first : first + users]

        def add(low: int, high: int, part: Floats = part, first: int = first) -> None:
            kernels.chance.add_flips(part, first, low, how.key, sums[low:high])

        parallel.each(add, tasks, how.n_threads)
    return sums


def sided_of(statistic: Any, alternative: str) -> Any:
    """Return a statistic so that more is further towards the alternative.

    Examples
    --------
    >>> sided_of(np.array([-2.0, 1.0]), "two-sided"), sided_of(np.array([-2.0, 1.0]), "less")
    (array([2., 1.]), array([ 2., -1.]))
    """
    if alternative == "two-sided":
        return np.abs(statistic)
    return statistic if alternative == "greater" else -statistic


def share(found: NDArray[np.bool_], exact: bool) -> float:
    """Return the share of patterns found; of random ones, with the data counted as one more.

    Examples
    --------
    >>> share(np.array([True, False]), exact=True), share(np.array([False] * 99), exact=False)
    (0.5, 0.01)
    """
    count = int(np.count_nonzero(found))
    return count / len(found) if exact else (count + 1) / (len(found) + 1)


def sign_p(wins: int, losses: int, alternative: str) -> float:
    """Return p of wins and losses that are as likely.

    Examples
    --------
    >>> sign_p(1, 4, "two-sided"), sign_p(1, 4, "less"), sign_p(0, 0, "two-sided")
    (0.375, 0.1875, 1.0)
    """
    n = wins + losses
    return p_of(binomial_sf(wins, n), binomial_sf(losses, n), alternative)


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
    **options: Any,
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
    most so much higher than that of the truly best, as max m_s <= max μ_s + max (m_s - μ_s). Where
    the systems differ alike for all users, T is 0: by chance is NaN, and p 2^(1 - n), as of flips.

    Parameters
    ----------
    values : sequence of (n,) float
        Of the same users, a row per system.
    units : Units, optional
        Weights w, and clusters: sums of w r over these are flipped, n is their number, and T is
        divided by Σ w.
    higher_is_better : bool
        False: the smallest mean is the best.
    **options
        Fields of `How`; 1,000 flips by default.

    Examples
    --------
    >>> equal = np.random.default_rng(0).normal(0.5, 0.1, (20, 100))
    >>> found = best_of_many(equal)   # of 20 normal ones: 1.87 standard errors of 0.01
    >>> round(found.lead, 3), round(found.by_chance, 3), found.p > 0.05
    (0.018, 0.019, True)
    """
    how = How.of(LEAD_FLIPS, options)
    systems = [differences(x) if higher_is_better else -differences(x) for x in values]
    of_user = functools.reduce(np.add, systems) / len(systems)
    whose = Units(len(of_user)) if units is None else units
    total, sizes = whose.sums(of_user), whose.sizes
    n, size = len(total), whose.whole or math.nan

    def flips(first: int, _: int) -> tuple[float, Floats]:
        sums = whose.sums(snap(systems[first], of_user))
        ahead = float(sums.sum()) / size
        return ahead, flipped_sums(snap(sums, ahead * sizes), replace(how, n_threads=1))

    # a system at a time, in any thread: each has the same signs
    drawn, ahead, each = np.full(how.n_resamples, -math.inf), [], range(len(systems))
    for found, sums in parallel.run(flips, [(i, i + 1) for i in each], how.n_threads):
        ahead.append(found)
        np.maximum(drawn, sums, out=drawn)
    drawn *= math.sqrt(n / (n - 1)) / size if n > 1 else math.nan
    place, sign = int(np.argmax(ahead)), 1.0 if higher_is_better else -1.0
    lead, mean = ahead[place], float(total.sum()) / size
    slack, by_chance = TIE * max(abs(mean), lead), float(drawn.mean())
    p = share(drawn >= lead - slack, exact=False) if n > 1 else math.nan
    if drawn.max() <= slack < lead:  # nothing varies
        p, by_chance = 0.5 ** (n - 1), math.nan
    means = sign * (mean + lead), sign * mean
    return Best(place, *means, lead, by_chance, p, n, len(systems))
