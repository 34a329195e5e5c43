"""Probabilities of the t, F, χ², normal, binomial, noncentral t and studentised range.

Scalars in, floats out; NaN in, or no degrees of freedom, gives NaN where values of one's own may
come. Own formulas, since toplist needs numpy and numba only. All tails are computed as such, never
as 1 - p: small ones keep their digits.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from toplist import kernels

# Up to this many trials a binomial tail is a ratio of whole numbers.
COUNTED = 1000
# More degrees of freedom than this are infinitely many: the two differ by less than rounding.
ENDLESS = 1e14
# Reach of the sums over chi: nine standard deviations, and exp(-40) where the tail is longer.
DEVIATIONS = 9.0
LOG_TAIL_CUTOFF = 40.0
# Tails of a mixture below this one count as this one.
TINY = 1e-300
# Variances that add up, each with its degrees of freedom.
Parts = tuple[tuple[float, float], ...]


def normal_sf(z: float) -> float:
    """Return P(Z > z) of the standard normal distribution, erfc(z / √2) / 2.

    Examples
    --------
    >>> round(normal_sf(1.959964), 6)
    0.025
    """
    return 0.5 * math.erfc(z / math.sqrt(2.0))


def normal_ppf(q: float) -> float:
    """Return the quantile of the standard normal distribution: P(Z <= quantile) = q.

    Examples
    --------
    >>> round(normal_ppf(0.975), 6)
    1.959964
    """
    if not 0.0 < q < 1.0:
        return {0.0: -math.inf, 1.0: math.inf}.get(float(q), math.nan)
    from statistics import NormalDist  # a tenth of the import of toplist

    return NormalDist().inv_cdf(q)


def t_sf(t: float, df: float) -> float:
    """Return P(T > t) of Student's t distribution; df need not be whole, and may be infinite.

    I_x(df/2, 1/2) / 2 with x = df / (df + t²) and the incomplete beta function I (DLMF 8.17).
    Relative error 1e-12 for df up to 10^6, also where the tail is small.

    Examples
    --------
    >>> round(t_sf(2.0, 10), 6), t_sf(0.0, 10)
    (0.036694, 0.5)
    """
    if math.isnan(t) or not df > 0.0:
        return math.nan
    if math.isinf(t) or math.isinf(df):
        return normal_sf(t)
    above = 0.5 * _beta_ratio(float(df) / 2.0, 0.5, *_t_shares(float(t), df))
    return above if t >= 0.0 else 1.0 - above


@functools.lru_cache(maxsize=256)  # each number of a table asks for the same few
def t_ppf(q: float, df: float) -> float:
    """Return the quantile of Student's t distribution: P(T <= quantile) = q.

    Newton's method for the logarithm of the tail against log t: both tails are straight lines or
    bend down, so that it converges from anywhere. Beyond 1e150 it is infinite.

    Examples
    --------
    >>> round(t_ppf(0.975, 10), 6), t_ppf(0.5, 10)
    (2.228139, 0.0)
    """
    if not 0.0 < q < 1.0 or not df > 0.0 or math.isinf(df) or q == 0.5:
        return normal_ppf(q) if df > 0.0 else math.nan
    tail = min(q, 1.0 - q)
    t = abs(normal_ppf(tail))
    for _ in range(100):
        above, slope = t_sf(t, df), _beta_front(df / 2.0, 0.5, *_t_shares(t, df))
        if above > 0.0 and slope > 0.0:
            step = _log(above / tail, (above - tail) / tail) * above / slope
        else:  # beyond what floats can hold
            step = -0.5
        t *= math.exp(min(step, 50.0))
        if abs(step) < 1e-14:
            break
    t = t if t < 1e150 else math.inf
    return t if q > 0.5 else -t


def least(df: float | Parts) -> float:
    """Return the degrees of freedom, of parts of a variance the fewest."""
    return df if isinstance(df, (int, float)) else min(own for _, own in df)


def mixed_t_ppf(q: float, df: float | Parts) -> float:
    """Return the quantile of D / √Σv, where each variance v of D has degrees of freedom of its own.

        Σ v t_q(df) / Σ v

    (Cochran, Cox 1957: by Welch's one number of degrees of freedom, tests of two variances, of
    which the larger has few, reject too often.) That of t for a plain df.

    Parameters
    ----------
    q : float
    df : float, or tuple of (v, df)

    Examples
    --------
    >>> round(mixed_t_ppf(0.975, ((1.0, 499.0), (3.0, 2.0))), 4)
    3.7182
    """
    if isinstance(df, (int, float)):
        return t_ppf(q, df)
    total = sum(v for v, _ in df)
    if not total > 0:
        return math.nan
    return sum(v / total * t_ppf(q, of_one) for v, of_one in df if v > 0)


def mixed_t_sf(t: float, df: float | Parts) -> float:
    """Return the p whose quantile, 1 - p of `mixed_t_ppf`, is t.

    Examples
    --------
    >>> round(mixed_t_sf(3.7182, ((1.0, 499.0), (3.0, 2.0))), 5)
    0.025
    """
    if isinstance(df, (int, float)):
        return t_sf(t, df)
    if t < 0:
        return 1 - mixed_t_sf(-t, df)
    tails = [t_sf(t, of_one) for v, of_one in df if v > 0]
    if not max(tails, default=math.nan) > 0:
        return max(tails, default=math.nan)

    def excess(x: float) -> float:  # of p = exp(-x)
        return -mixed_t_ppf(math.exp(-x), df) - t

    low, high = (-math.log(max(tail, TINY)) for tail in (max(tails), min(tails)))
    if excess(low) >= 0 or excess(high) <= 0:  # at the tail of one part, by rounding, or beyond
        return math.exp(-low if excess(low) >= 0 else -high)
    return math.exp(-root(excess, low, high))


def f_sf(f: float, df1: float, df2: float) -> float:
    """Return P(F > f) of the F distribution with df1 and df2 degrees of freedom.

    I_x(df2/2, df1/2) with x = df2 / (df2 + df1 f) (DLMF 8.17).

    Examples
    --------
    >>> round(f_sf(2.475, 2, 38), 6)
    0.097631
    """
    if math.isnan(f) or not (df1 > 0.0 and df2 > 0.0):
        return math.nan
    if f <= 0.0 or math.isinf(f):
        return 1.0 if f <= 0.0 else 0.0
    f, df1, df2 = float(f), min(float(df1), ENDLESS), min(float(df2), ENDLESS)
    odds = min(df1 / df2 * f, 1e300)
    return _beta_ratio(df2 / 2.0, df1 / 2.0, 1.0 / (1.0 + odds), odds / (1.0 + odds))


def chi2_sf(x: float, df: float) -> float:
    """Return P(X > x) of the χ² distribution: that of F = x / df with df and infinitely many.

    Examples
    --------
    >>> round(chi2_sf(7.815, 3), 6)
    0.049994
    """
    return f_sf(x / df, df, math.inf) if df > 0.0 else math.nan


def binomial_sf(wins: float, n: float) -> float:
    """Return P(X >= wins) for X wins in n trials, each won with probability 1/2.

    Examples
    --------
    >>> binomial_sf(4, 5), binomial_sf(0, 5)
    (0.1875, 1.0)
    """
    if wins <= 0:
        return 1.0
    if n > COUNTED:
        return _beta_ratio(float(wins), n - wins + 1.0, 0.5, 0.5)
    ways, total = math.comb(int(n), int(wins)), 0
    for i in range(int(wins), int(n) + 1):
        total += ways
        ways = ways * (int(n) - i) // (i + 1)
    return total / (1 << int(n))


def noncentral_t_sf(t: float, df: float, nc: float) -> float:
    """Return P((Z + nc) / S > t), Z normal and S = chi / √df: the power of a t test.

    The mean of Φ(nc - t S) over S, summed at equal steps of log S: where a function fades out at
    both ends, that is exact almost to rounding (Trefethen, Weideman 2014). Absolute error 1e-12.

    Examples
    --------
    >>> round(noncentral_t_sf(2.0, 20, 3.0), 6), round(noncentral_t_sf(2.0, 10, 0.0), 6)
    (0.835899, 0.036694)
    """
    if math.isinf(nc):
        return float(nc > 0)
    if df > ENDLESS:
        return normal_sf(t - nc)
    log_scale, step, lowest, highest = _chi_steps(df, max(abs(nc), 1.0))
    total = 0.0
    for i in range(math.floor(lowest / step), math.floor(highest / step) + 1):
        x = i * step
        weight = math.exp(log_scale + df * (x - 0.5 * math.expm1(2.0 * x)))
        total += weight * normal_sf(t * math.exp(x) - nc)
    return min(total * step, 1.0)


def range_sf(q: float, n_groups: float, df: float) -> float:
    """Return P(Q > q) of the studentised range: that of n_groups normal numbers, by S = chi / √df.

    The mean over S of P(range > q S), as in `noncentral_t_sf`; the range by 64 points of
    Gauss and Legendre. Absolute error 1e-9 for up to 1,000 groups; small tails keep 8 digits.

    Examples
    --------
    >>> round(range_sf(3.314, 3, 38), 6)
    0.061823
    """
    if math.isnan(q) or not (2.0 <= n_groups < math.inf and df > 0.0):
        return math.nan
    if q <= 0.0 or math.isinf(q):
        return 1.0 if q <= 0.0 else 0.0

    nodes, weights = _gauss()
    # the largest of n_groups numbers is below this with a probability of 1e-18
    lowest = normal_ppf(math.pow(1e-18, 1.0 / n_groups))
    if df > ENDLESS:
        tail = kernels.chance.range_tail(float(q), float(n_groups), lowest, nodes, weights)
    else:
        log_scale, step, _, _ = _chi_steps(df, 5.0)
        tail = kernels.chance.studentised_range_tail(
            float(q), float(n_groups), lowest, float(df), log_scale, step, nodes, weights
        )
    return min(float(tail), 1.0)


def range_ppf(q: float, n_groups: float, df: float) -> float:
    """Return the quantile of the studentised range: P(Q <= quantile) = q.

    Examples
    --------
    >>> round(range_ppf(0.95, 3, 38), 4)
    3.449
    """
    if not df > 0.0:
        return math.nan
    tail = math.log(1.0 - q)

    def excess(x: float) -> float:
        return tail - math.log(max(range_sf(x, n_groups, df), 1e-300))

    return root(excess, 0.0, 4.0)


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a rising function is 0, from `low` on; `high`, above `low`, is a first guess.

    The guess is doubled until the function is above 0; from there by Ridders' method (1979): the
    function is taken at the middle, and where the exponential curve through the three points is 0.

    Examples
    --------
    >>> round(root(lambda x: x * x - 2, 0.0, 1.0), 9)
    1.414213562
    """
    below, above = function(low), function(high)
    while above < 0.0 and high < 1e300:
        low, below, high = high, above, 2.0 * high
        above = function(high)
    x = high
    for _ in range(100):
        middle = 0.5 * (low + high)
        value = function(middle)
        bend = math.sqrt(value * value - below * above)
        before, x = x, middle - (middle - low) * (value / bend if bend > 0.0 else 0.0)
        for point, at in ((middle, value), (x, function(x))):
            if low < point < high:
                low, below = (point, at) if at < 0.0 else (low, below)
                high, above = (point, at) if at >= 0.0 else (high, above)
        if abs(x - before) <= 1e-13 * abs(x):
            break
    return x


def probability(value: float, name: str, above: float = 0.0) -> float:
    """Return `value` if it lies between `above` and 1, both exclusive.

    Examples
    --------
    >>> probability(0.95, "level")
    0.95
    """
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not number or not above < value < 1:
        raise ValueError(f"{name} must be a number between {above:g} and 1, not {value!r}")
    return float(value)


def _chi_steps(df: float, steepness: float) -> tuple[float, float, float, float]:
    """Return how to sum over x = log S for S = chi / √df.

    Returns
    -------
    log_scale : float
        The density of x is exp(log_scale + df (x - (exp(2 x) - 1) / 2)).
    step : float
        Fine enough for this density, and for functions that change by 1 / steepness of S.
    lowest, highest : float
        Outside of these the density counts for nothing.

    Examples
    --------
    >>> [round(number, 3) for number in _chi_steps(200.0, 1.0)]
    [2.076, 0.025, -0.65, 0.45]
    """
    log_scale = 0.5 * math.log(df / math.pi) - _stirling_rest(df / 2.0)
    deviation = 1.0 / math.sqrt(2.0 * df)
    lowest = -DEVIATIONS * deviation - LOG_TAIL_CUTOFF / df
    highest = min(DEVIATIONS * deviation, max(1.0, 0.5 * math.log(5.0 * LOG_TAIL_CUTOFF / df)))
    finest = (highest - lowest) / 20_000  # so that no argument can make it slow
    return log_scale, max(0.5 * min(deviation, 1.0 / steepness, 0.2), finest), lowest, highest


def _t_shares(t: float, df: float) -> tuple[float, float]:
    """Return df / (df + t²) and t² / (df + t²); the squares are taken last, against overflow."""
    root = math.sqrt(df)
    length = math.hypot(root, t)
    return (root / length) ** 2, (t / length) ** 2


def _beta_ratio(a: float, b: float, x: float, y: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b), given x and y = 1 - x."""
    if x <= 0.0 or y <= 0.0:
        return 0.0 if x <= 0.0 else 1.0
    if x < (a + 1.0) / (a + b + 2.0):  # here the fraction converges fast
        return _beta_front(a, b, x, y) * _beta_fraction(a, b, x, y)
    return 1.0 - _beta_front(a, b, x, y) * _beta_fraction(b, a, y, x)


def _beta_front(a: float, b: float, x: float, y: float) -> float:
    """Return x^a y^b / B(a, b), by the distance of x from its mean a / (a + b).

    Logarithms of gamma functions of 10^6 would cancel: 10 of 16 digits were left. What is left of
    Stirling's formula for B is small.
    """
    if x <= 0.0 or y <= 0.0:
        return 0.0
    gap = x * b - y * a
    near = a * _log(x * (a + b) / a, gap / a) + b * _log(y * (a + b) / b, -gap / b)
    rests = _stirling_rest(a + b) - _stirling_rest(a) - _stirling_rest(b)
    return math.sqrt(a / (a + b) * b / (2.0 * math.pi)) * math.exp(near + rests)


def _log(ratio: float, excess: float) -> float:
    """Return log(ratio), given also excess = ratio - 1, which has more digits near 1."""
    return math.log1p(excess) if abs(excess) < 0.5 else math.log(ratio)


def _stirling_rest(z: float) -> float:
    """Return log Γ(z) less Stirling's (z - 1/2) log z - z + log(2 π) / 2 (DLMF 5.11.1)."""
    if z < 10.0:
        return math.lgamma(z) - ((z - 0.5) * math.log(z) - z + 0.5 * math.log(2.0 * math.pi))
    total = 0.0
    for factor in (-691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12):
        total = total / (z * z) + factor
    return total / z


def _beta_fraction(a: float, b: float, x: float, y: float) -> float:
    """Return I_x(a, b) B(a, b) / (x^a y^b) by a continued fraction, for x up to its mean.

    The even part of DLMF 8.17.22, which has half the terms and, while n < b, nothing but sums of
    positive numbers (DiDonato, Morris 1992), from the front by Lentz' method (1976). At most some
    √(a + b) terms are needed.
    """
    short = y * a - x * b + 1.0
    up = value = a / (a + 1.0) * short
    down = 0.0
    for n in range(1, 1_000_000):
        odd = a + 2 * n - 1
        above = (a + n - 1) / odd * ((a + b + n - 1) / odd) * (n * (b - n) * x * x)
        beside = n + n * (b - n) * x / odd + (a + n) / (odd + 2) * (short + n * (1.0 + y))
        down, up = 1.0 / (beside + above * down), beside + above / up
        value *= down * up
        if abs(down * up - 1.0) < 2e-16:
            break
    return 1.0 / value


@functools.lru_cache(maxsize=1)
def _gauss() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the 64 points and weights of Gauss and Legendre on [-1, 1]."""
    return np.polynomial.legendre.leggauss(64)
