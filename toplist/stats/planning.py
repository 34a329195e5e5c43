"""Margins and power: equivalence, non-inferiority, what n users can detect, how many are needed.

And means of few labels by people and many by an automatic judge: prediction-powered inference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from toplist.checks import Floats, Ints, distinct, readable
from toplist.stats import FEW, Difference, difference
from toplist.stats import distributions as dist
from toplist.stats.distributions import Parts, normal_ppf, probability, t_ppf, t_sf
from toplist.stats.units import TIE, Units, checked, numbered, over, pair, snap

Verdict = Literal["not worse", "worse", "undecided"]
# The chance with which the number of users that is needed decides.
POWER = 0.8
# Below so many times its squared skewness, n is small for a t test of one side.
SKEWED = 100
# With ten labels of people an interval by t covers 91 % in place of 95 where the judge is often
# wrong (benchmarks/sizes.py), 69 to 74 % where it is right in 90 to 97 %; with fewer much less.
FEWEST = 10
# Standard deviations from the mean within which a saddlepoint loses its digits.
NEAR = 1e-4
# Of the standard deviation: a difference that 10^19 users would be needed for.
HOPELESS = 1e-9


class Equivalence(NamedTuple):
    """Two one-sided tests of a difference against a margin.

    `p_not_worse` is small where the difference is above -margin, `p_not_better` where it is below
    +margin; `p`, the larger one, is small where it is within both. `low` and `high` are the
    interval that lies within the margin exactly when p < 1 - level.
    """

    p: float
    p_not_worse: float
    p_not_better: float
    low: float
    high: float


def tost(
    difference: float,
    error: float,
    df: float | Parts,
    margin: float,
    level: float = 0.95,
    n: float | None = None,
) -> Equivalence:
    """Return the two one-sided t tests of Schuirmann (1987).

    P(T > (D + m) / se) and P(T > (m - D) / se), with the interval D ± t(level) se, which is the
    90 % one at level 0.95. Where se is 0, all n users have the same difference, most often none.
    Then metrics in [0, 1] allow a mean that is as far off as rare users of ±1 may make it:

        ((1 - m) / (1 + D))^n and ((1 - m) / (1 - D))^n

    are the p, and NaN where that does not show |D| < m: with D = 0, m must be above
    1 - (1 - level)^(1/n), which is 0.139 for 20 users at level 0.95.

    Parameters
    ----------
    difference, error, df : float
        The mean difference D, its standard error se and the degrees of freedom; of several runs
        the variances that se² is made of, each with its own.
    margin : float
        Above 0: differences within ±margin do not matter.
    level : float
        Of each of the two tests.
    n : float, optional
        Of users whose values lie in [0, 1]: by default df + 1. With 0, which stands for values
        without bounds, nothing follows from differences that are all the same.

    Examples
    --------
    >>> result = tost(0.03, 0.01, 49, margin=0.05)
    >>> round(result.p, 4), round(result.low, 4), round(result.high, 4)
    (0.0255, 0.0132, 0.0468)
    """
    if error == 0.0:  # by bounds of values alone
        alpha, n = 1.0 - level, dist.least(df) + 1.0 if n is None else n
        sides = [margin + difference, margin - difference]
        most = max(1.0 - margin, 0.0)
        sides = [(most / (1.0 - margin + one)) ** n if one > 0.0 else 1.0 for one in sides]
        if abs(difference) < margin and not max(sides) < alpha:
            sides = [math.nan, math.nan]
        rare = 1.0 - alpha ** (1.0 / n) if n else math.nan
        ends = difference - rare * (1.0 + difference), difference + rare * (1.0 - difference)
        return Equivalence(max(sides), sides[0], sides[1], *ends)
    not_worse = dist.mixed_t_sf((difference + margin) / error, df)
    not_better = dist.mixed_t_sf((margin - difference) / error, df)
    reach = dist.mixed_t_ppf(level, df) * error
    p = max(not_worse, not_better)
    return Equivalence(p, not_worse, not_better, difference - reach, difference + reach)


def check_margin(margin: Any, what: str = "margin") -> None:
    """Raise ValueError unless a margin is a number above 0.

    Examples
    --------
    >>> check_margin(-0.1)
    Traceback (most recent call last):
    ValueError: margin must be a number above 0, not -0.1
    """
    number = isinstance(margin, Real) and not isinstance(margin, bool)
    if not number or not 0.0 < margin < math.inf:
        raise ValueError(f"{what} must be a number above 0, not {margin!r}")


def power(difference: float, std: float, n: float, level: float = 0.95) -> float:
    """Return the power of the two-sided t test: the chance that it finds a difference.

    ``P(|T'| > t)``, T' noncentral t with n - 1 degrees of freedom and centre √n difference / std,
    t the quantile of Student's t at 1/2 + level/2. (Of a difference that matters, never of the
    observed one: that says the same as p.)

    Parameters
    ----------
    difference, std : float
        The true mean difference and the standard deviation of the users' differences.
    n : float
        The number of users; NaN is returned for fewer than 2.

    Examples
    --------
    >>> round(power(0.5, 1.0, 34), 4)
    0.8078
    """
    _check(std, level)
    if not n > 1 or math.isnan(std) or math.isnan(difference):
        return math.nan
    if difference == 0.0 and std == 0.0:
        return 0.0  # p is 1 where no user differs
    return _found(over(abs(difference), std) * math.sqrt(n), n, level)


def detectable(std: float, n: float, power: float = 0.8, level: float = 0.95) -> float:
    """Return the least true difference that the two-sided t test over n users finds with `power`.

    The inverse of `power` in its difference; NaN for fewer than 2 users.

    Examples
    --------
    >>> round(detectable(0.1096, 240), 5)
    0.0199
    """
    _check(std, level, power)
    if not n > 1 or math.isnan(std):
        return math.nan
    guess = t_ppf(0.5 + level / 2.0, n - 1.0) + max(normal_ppf(power), 0.0)
    return (
        dist.root(lambda centre: _found(centre, n, level) - power, 0.0, guess) * std / math.sqrt(n)
    )


def n_needed(difference: float, std: float, power: float = 0.8, level: float = 0.95) -> float:
    """Return the least number of users over which the t test finds a difference with `power`.

    The inverse of `power` in n, a whole number from 2 on; NaN where the standard deviation is.

    Examples
    --------
    >>> n_needed(0.5, 1.0), n_needed(0.005, 0.1096, power=0.9)
    (34, 5051)
    """
    _check(std, level, power)
    if math.isnan(std) or math.isnan(difference):
        return math.nan
    effect = over(abs(difference), std)
    if not effect > HOPELESS:
        raise ValueError(f"difference {difference!r} is too small: no number of users finds it")
    low, high = 1, 2
    while _found(effect * math.sqrt(high), high, level) < power:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        enough = _found(effect * math.sqrt(middle), middle, level) >= power
        low, high = (low, middle) if enough else (middle, high)
    return high


def _found(centre: float, n: float, level: float) -> float:
    """Return the chance that the two-sided t test rejects, given √n difference / std."""
    t = t_ppf(0.5 + level / 2.0, n - 1.0)
    return dist.noncentral_t_sf(t, n - 1.0, centre) + dist.noncentral_t_sf(t, n - 1.0, -centre)


def _check(std: float, level: float, power: float | None = None) -> None:
    probability(level, "level")
    if power is not None:
        probability(power, "power", above=1.0 - level)
    if std < 0.0:
        raise ValueError(f"std must be 0 or more, not {std!r}")


class MarginTest(NamedTuple):
    """A difference d against a margin, from both sides.

    `test` is the t test of the difference, with its interval; `p_not_worse` and `p_worse` are
    one-sided: small where the mean of d is above -margin, and below it. `differ` users, or
    clusters, have a difference that is not 0. Where `bound` is above 0, losses or gains that were
    not drawn may matter, and the p of the side that is nearer is at least this (`unseen`).
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
) -> MarginTest:
    """Test whether the mean of d = new - base is above -margin, or below it, each at (1 - level)/2.

        t = (D + margin) / se,  p_not_worse = P(T > t),  p_worse = P(T < t)

    (One of the two tests of Schuirmann 1987, from both sides.) So *not worse* is an interval of D
    that lies above -margin, *worse* one that lies below it, and all else is *undecided*.

    Where fewer than 30 users differ, or losses are so skewed that n < 100 skewness², t alone passes
    losses that it cannot see; where gains are, it calls worse what unseen gains make up for. There
    p is the larger one of that by t and of `unseen`, a bound that allows for users who lose all, or
    gain all, and were not drawn, of mean size by weight, Σw²/Σw. They lose the best value of base,
    or gain 1, or the best value seen where that is more. With n users of whom none differs, it
    passes from (1 - margin / best)^n < (1 - level) / 2 on.

    An undecided test says over how many users like these it would decide with 80 % power, if the
    true difference were the one seen: by the t test, and at least so many that the bound lets it,
    or where there is none, that 30 of them differ. Of few users it is rather low.

    Parameters
    ----------
    new, base : (n,) float
        A value per user, more being better; the same users in the same order.
    margin : float
        Above 0: the loss that does not matter.
    units : Units, optional
        Weights and clusters of the users.
    level : float
        Of the two-sided interval.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> base, noise = rng.random(400), rng.normal(0, 0.02, 400)
    >>> [not_worse(base + noise - loss, base, 0.005).verdict for loss in (0, 0.005, 0.01)]
    ['not worse', 'undecided', 'worse']
    >>> [not_worse(np.zeros(n), np.ones(n), 0.005).verdict for n in (5, 6)]
    ['undecided', 'worse']
    """
    check_margin(margin)
    test = difference(new, base, units, level=level)
    if not test.n:
        raise ValueError("there is no user to test")
    units = Units(test.n) if units is None else units
    d, margin = snap(new, base), float(margin)
    alpha, differ = (1 - level) / 2, test.differ
    p = q = 0.0
    if test.error > 0:
        t = (test.difference + margin) / test.error
        p, q = t_sf(t, test.df), t_sf(-t, test.df)
    worst = min(0.0, float(np.min(new))) - float(np.max(base))
    best = max(1.0, float(np.max(new)), float(np.max(base))) - min(0.0, float(np.min(base)))
    few = differ < FEW or not test.error > 0
    losses, gains = unseen_beside(d, -margin, units, (worst, best), few)
    p, q = max(p, losses), max(q, gains)
    bound = losses if p < q else gains
    verdict: Verdict = "not worse" if p < alpha else "worse" if q < alpha else "undecided"
    needed = math.nan
    if verdict == "undecided" and len(units.sizes) > 1:  # one says nothing of others
        std, gap = test.error * math.sqrt(test.n), float(snap(test.difference, -margin))
        of_few = test.n * FEW / differ if differ else 0.0
        if alpha <= bound < 1:  # the bound falls by as much with every user
            of_few = test.n * math.log(alpha) / math.log(bound)
        by_t = n_to_decide(gap, std, level) if std > 0 or gap <= 0 else 0.0
        needed = max(math.ceil(of_few), by_t)
    return MarginTest(verdict, test, p, q, differ, bound, needed)


def unseen_beside(
    values: Floats, limit: float, units: Units, ends: tuple[float, float], few: bool = False
) -> tuple[float, float]:
    """Return `unseen` p of a mean above a limit, and below it; 0 where t sees enough of a side.

    That is where `few` is false, and few values do not lie far to this side. No value is beyond the
    ends. Who was not drawn is of mean size by weight, Σw²/Σw, as of those drawn.
    """
    skewness, sizes = units.skewness(values), units.sizes
    if not few and not len(sizes) < SKEWED * skewness**2:
        return 0.0, 0.0
    size = (sizes**2).sum() / sizes.sum()
    above = snap(units.sums(values), limit * sizes)
    low, high = (size * min(one, 0.0) for one in (ends[0] - limit, limit - ends[1]))
    losses = unseen(above, low) if few or skewness < 0 else 0.0
    return losses, unseen(-above, high) if few or skewness > 0 else 0.0


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
    t = dist.root(slope, low * (1 - TIE), high * (1 - TIE))
    curve = -float(np.log1p(-t * x).sum())
    u = t * math.sqrt(float(((x / (1 - t * x)) ** 2).sum()))
    w = math.copysign(math.sqrt(max(-2 * curve, 0.0)), t)
    if abs(w) < NEAR:  # the mean is 0
        return 0.5
    density = math.exp(-w * w / 2) / math.sqrt(2 * math.pi)
    return min(max(dist.normal_sf(-w) - density * (1 / u - 1 / w), 0.0), 1.0)


def n_to_decide(gap: float, std: float, level: float = 0.95) -> float:
    """Return how many users show that a mean is not a limit, if both are as far apart as seen.

    With 80 % power, by a t test with (1 - level) / 2 on each side; infinite where they are equal.

    Examples
    --------
    >>> n_to_decide(0.5, 1.0), n_to_decide(0.0, 1.0)
    (34, inf)
    """
    if abs(gap) <= HOPELESS * std:
        return math.inf
    return n_needed(gap, std, POWER, level)


@readable
@dataclass(frozen=True)
class Corrected:
    """A mean by a judge, corrected by the labels of people; and what either says alone.

    `n` values have labels of people, `n_unlabelled` only those of the judge. `estimate` has the
    standard error `error` and the interval from `low` to `high`; `lam` is the weight λ of the
    judge. `n_effective` is how many labels of people alone would give this error. `human` is the
    mean of people alone, with `human_error`, and `judge`, with `judge_error`, that of the judge
    over all values. In `differ` of the n values, or their clusters, the judge is not of one mind
    with people: below ten, the error is rough.
    """

    estimate: float
    error: float
    low: float
    high: float
    lam: float
    n: int
    n_unlabelled: int
    n_effective: float
    human: float
    human_error: float
    judge: float
    judge_error: float
    differ: int


def ppi(
    y: ArrayLike,
    y_hat: ArrayLike,
    u_hat: ArrayLike,
    *,
    lam: float | None = None,
    level: float = 0.95,
    clusters: tuple[Any, Any] | None = None,
) -> Corrected:
    """Return the mean of what people would say of all values: PPI++.

        estimate = λ mean(Ũ) + mean(Y - λ Ŷ)
        error² = λ² var(Ũ) / N + var(Y - λ Ŷ) / n
        λ = cov(Y, Ŷ) / ((1 + n/N) var(Ŷ and Ũ)),  cut to [0, 1]
        interval: estimate ± z error,  n_effective = var(Y) / error²

    (Angelopoulos, Duchi, Zrnic 2023, PPI++, arXiv 2311.01453.) Variances and the covariance divide
    by their number, but var(Ŷ and Ũ) by one less, as in ppi_py. A judge may be wrong everywhere by
    as much, or on another scale: the n values with both labels correct it. One that goes with
    people in nothing gets λ = 0, and the mean of people alone is left.

    Of values in clusters, the error is that of sums over clusters (CR2, `toplist.stats`), which
    may have values of both kinds; λ is then the one with the smallest such error.

    The n values must be a random sample of all. The interval is normal: it covered 93, 94 and 95 %
    with n = 30, 50 and 200 where the judge is often wrong (benchmarks/sizes.py), and 69, 84, 90 and
    94 % with n = 10, 20, 50 and 200 labels of 0 or 1 of which it has 90 to 97 % right; 65 to 93 %
    of four grades. How wrong it is must be seen in the sample: where fewer than ten `differ`, the
    error is rough. The interval is NaN where the values do not vary.

    Parameters
    ----------
    y, y_hat : (n,) float
        Labels of people, and of the judge, of the same values; at least ten, in as many clusters.
    u_hat : (N,) float
        Labels of the judge of all others; at least one.
    lam : float, optional
        λ, from 0 (people alone) to 1 (PPI); default: the one with the smallest error.
    level : float
        Of the interval, between 0 and 1.
    clusters : (n labels, N labels), optional
        Of the values with both labels, and of all others, such as whose query each is.

    Raises
    ------
    ValueError
        For fewer than ten labels of people, no label of the judge alone, other lengths of `y` and
        `y_hat`, and values that are not finite.

    Examples
    --------
    >>> people = [0.5, 1, 0, 0.3, 0.8, 0.2, 0.6, 0.1, 0.9, 0.4]
    >>> judge = [0.6, 0.9, 0.2, 0.3, 1, 0.2, 0.8, 0.1, 0.8, 0.6]
    >>> found = ppi(people, judge, [0.4, 0.9, 0.1, 0.7, 0.5, 0.6, 1, 0, 0.3, 0.8] * 2)
    >>> [round(one, 4) for one in (found.estimate, found.low, found.high, found.lam)]
    [0.4678, 0.3357, 0.5999, 0.612]
    >>> round(found.human, 4), round(found.judge, 4), round(found.n_effective, 1)
    (0.48, 0.5367, 23.2)
    """
    checked("two-sided", level)
    (values, own), (others, _) = pair(y, y_hat), pair(u_hat, u_hat)
    n, n_others = len(values), len(others)
    labels = None if clusters is None else numbered([*clusters[0], *clusters[1]])
    if labels is not None and len(distinct(labels)) == len(labels):  # each a cluster by itself
        labels = None
    n_units = n if labels is None else len(distinct(labels[:n]))
    if n_units < FEWEST:
        what = f"{n} values" if labels is None else f"values of {n_units} clusters"
        raise ValueError(
            f"people judged {what}: at least {FEWEST} are needed for an interval that holds"
        )
    if not n_others:
        raise ValueError("nothing is judged by the judge alone: take the mean of people as it is")
    every = np.append(own, others)
    if lam is not None and (not isinstance(lam, (int, float, np.number)) or not 0 <= lam <= 1):
        raise ValueError(f"lam must be a number from 0 to 1, not {lam!r}")
    # What each cluster adds to the errors of mean Y, of mean Ŷ, and of mean Ũ.
    sides = (values, slice(None, n)), (own, slice(None, n)), (others, slice(n, None))
    human, with_human, alone = (_pulls(x, some, n + n_others, labels) for x, some in sides)
    judge = with_human - alone
    if lam is None:
        together, spread = float((human * judge).sum()), float((judge**2).sum())
        if labels is None:  # as in ppi_py
            spread = (1 / n + 1 / n_others) * float(every.var(ddof=1))
        varies = spread > (TIE * float(np.abs(every).max())) ** 2
        lam = min(max(together / spread, 0.0), 1.0) if varies else 0.0
    of_all = _pulls(every, slice(None), len(every), labels)
    human_error, error, judge_error = (
        math.sqrt(float((one**2).sum())) for one in (human, human - lam * judge, of_all)
    )
    estimate = lam * float(others.mean()) + float((values - lam * own).mean())
    wrong = np.flatnonzero(snap(values, own))
    differ = len(wrong) if labels is None else len(distinct(labels[wrong]))
    known = error > TIE * float(np.abs(values).max())
    half = normal_ppf(0.5 + level / 2) * error if known else math.nan
    return Corrected(
        *(estimate, error, estimate - half, estimate + half, float(lam), n, n_others),
        *(n * (human_error / error) ** 2 if known else math.nan, float(values.mean()), human_error),
        *(float(every.mean()), judge_error, differ),
    )


def _pulls(x: Floats, some: slice, n: int, labels: Ints | None) -> Floats:
    """Return what n rows, or their clusters, add to the error of the mean of x, which some have.

    Of rows alone the squares add up to var(x) / n: variances divide by their number here.
    """
    if labels is None:
        pulls = np.zeros(n)
        pulls[some] = (x - x.mean()) / len(x)
        return pulls
    there, places = np.unique(labels[some], return_inverse=True)
    pulls = np.zeros(int(labels.max()) + 1)
    pulls[there] = Units(len(x), None, places).pulls(x)[1]
    return pulls
