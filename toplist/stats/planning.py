"""Margins and power: equivalence tests, what n users can detect, and how many are needed."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, NamedTuple

from toplist.stats.distributions import (
    Parts,
    least,
    mixed_t_ppf,
    mixed_t_sf,
    noncentral_t_sf,
    normal_ppf,
    probability,
    root,
    t_ppf,
)

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
    probability(level, "level")
    check_margin(margin)
    if error == 0.0:
        return _all_alike(difference, margin, 1.0 - level, least(df) + 1.0 if n is None else n)
    not_worse = mixed_t_sf(_ratio(difference + margin, error), df)
    not_better = mixed_t_sf(_ratio(margin - difference, error), df)
    reach = mixed_t_ppf(level, df) * error
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


def _all_alike(difference: float, margin: float, alpha: float, n: float) -> Equivalence:
    """Return what n users with one and the same difference show, by bounds of values alone."""

    def above(left: float) -> float:
        return (max(1.0 - margin, 0.0) / (1.0 - margin + left)) ** n if left > 0.0 else 1.0

    not_worse, not_better = above(margin + difference), above(margin - difference)
    p = max(not_worse, not_better)
    if abs(difference) < margin and not p < alpha:
        p = not_worse = not_better = math.nan
    rare = 1.0 - alpha ** (1.0 / n) if n else math.nan
    ends = difference - rare * (1.0 + difference), difference + rare * (1.0 - difference)
    return Equivalence(p, not_worse, not_better, *ends)


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
    return _found(_ratio(abs(difference), std) * math.sqrt(n), n, level)


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
    return root(lambda centre: _found(centre, n, level) - power, 0.0, guess) * std / math.sqrt(n)


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
    effect = _ratio(abs(difference), std)
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
    return noncentral_t_sf(t, n - 1.0, centre) + noncentral_t_sf(t, n - 1.0, -centre)


def _ratio(number: float, error: float) -> float:
    """Return number / error; without error ±inf, and -inf for 0, which is not beyond any bound."""
    if error == 0.0:
        return math.inf if number > 0.0 else -math.inf
    return number / error


def _check(std: float, level: float, power: float | None = None) -> None:
    probability(level, "level")
    if power is not None:
        probability(power, "power", above=1.0 - level)
    if std < 0.0:
        raise ValueError(f"std must be 0 or more, not {std!r}")
