"""Intervals of 95 % of means, from their definitions, in plain Python.

Every mean is a ratio of sums over rows, sum(w x) / sum(w y), with y = 1 but for ratios of sums and
estimates. A `Row` is a user, or a row of a user in a cluster. What is left of a row is x - mean y.
"""

import functools
import math
from typing import NamedTuple

from oracle.population import NAN

NOTHING = NAN, NAN
NORMAL = math.inf  # the degrees of freedom with which t is the normal distribution
# Whose values may be above 1, or below 0. All others are from 0 to 1 by definition.
OPEN = {"cg", "dcg", "alpha_ndcg"}
OPEN |= {"novelty", "average_popularity", "popularity_lift", "intra_list_diversity", "calibration"}
# Whose values are 0 or 1 by definition.
PROPORTIONS = {"hit", "complete"}


class Row(NamedTuple):
    """What a row adds to both sums, its weight, and its cluster if there are clusters."""

    x: float
    y: float = 1.0
    w: float = 1.0
    cluster: object = None


def are_alike(rows):
    """Return whether all rows have one weight.

    >>> are_alike([Row(1.0), Row(0.0)])
    True
    """
    return len({row.w for row in rows}) < 2


def of_mean(rows, within_one=True):
    """Return mean ± t · error of a mean or of a ratio of sums, with the linearised error."""
    if len(rows) < 2:
        return NOTHING
    variance = sum_of_squares(rows) * len(rows) / (len(rows) - 1)
    return around(ratio(rows), math.sqrt(variance), len(rows) - 1, within_one)


def of_proportion(rows):
    """Return Wilson's interval (1927), of as many users as would be as certain without weights.

    >>> [round(end, 4) for end in of_proportion([Row(1.0)] * 3)]
    [0.4385, 1.0]
    """
    if not rows:
        return NOTHING
    p, z = ratio(rows), t_quantile(NORMAL)
    variance = sum_of_squares(rows)
    n = p * (1 - p) / variance if 0 < p < 1 else kish(rows)
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def of_estimate(rows, within_one=True):
    """Return the interval of an estimate under propensities: all by Kish's number of users."""
    if len(rows) < 2:
        return NOTHING
    n = max(kish(rows), 2.0)
    return around(ratio(rows), math.sqrt(sum_of_squares(rows) * n / (n - 1)), n - 1, within_one)


def of_clusters(rows, within_one=True):
    """Return the interval over clusters of rows: CR2 (Bell, McCaffrey 2002; Satterthwaite 1946)."""
    sizes, left, middle = {}, {}, ratio(rows)
    for row in rows:
        sizes[row.cluster] = sizes.get(row.cluster, 0) + row.w
        left[row.cluster] = left.get(row.cluster, 0) + row.w * (row.x - middle * row.y)
    if len(sizes) < 2:
        return NOTHING
    share = {one: size / sum(sizes.values()) for one, size in sizes.items()}
    total = math.fsum(row.w * row.y for row in rows)
    squares = math.fsum(left[one] ** 2 / (1 - share[one]) for one in sizes)
    error = math.sqrt(squares) / total if total else 0.0
    return around(middle, error, degrees_of_freedom(share.values()), within_one)


def degrees_of_freedom(shares):
    """Return Satterthwaite's degrees of freedom of units with these shares of the weight.

    >>> round(degrees_of_freedom([0.25] * 4), 9)
    3.0
    """
    pulls = [one**2 / (1 - one) for one in shares]
    squares = math.fsum(one**2 for one in shares) - math.fsum(one**2 for one in pulls)
    return 1 / (squares + math.fsum(pulls) ** 2)


def ratio(rows):
    """Return sum(w x) / sum(w y); 0 of divisors that are all 0.

    >>> ratio([Row(1.0, 2.0), Row(0.0, 2.0)])
    0.25
    """
    below = math.fsum(row.w * row.y for row in rows)
    return math.fsum(row.w * row.x for row in rows) / below if below else 0.0


def sum_of_squares(rows):
    """Return sum((w (x - mean y))²) / sum(w y)²."""
    middle, below = ratio(rows), math.fsum(row.w * row.y for row in rows)
    left = math.fsum((row.w * (row.x - middle * row.y)) ** 2 for row in rows)
    return left / below**2 if below else 0.0


def kish(rows):
    """Return Kish's effective number of users, by their part in the divisor.

    >>> kish([Row(1.0, w=2.0), Row(0.0, w=1.0)])
    1.8
    """
    below = math.fsum((row.w * row.y) ** 2 for row in rows)
    return math.fsum(row.w * row.y for row in rows) ** 2 / below if below else 0.0


def around(middle, error, df, within_one):
    """Return middle ± t · error; cut at 0 and 1 where values cannot leave them.

    >>> around(0.5, 0.5, NORMAL, True)
    (0.0, 1.0)
    """
    low, high = middle - t_quantile(df) * error, middle + t_quantile(df) * error
    if within_one:
        return max(low, min(middle, 0.0)), min(high, max(middle, 1.0))
    return low, high


@functools.cache
def t_quantile(df, p=0.975):
    """Return the quantile of Student's t, by Newton's method on the integral of its density.

    With t = √df tan(a) the density is that of cos(a)^(df - 1), up to a factor.

    >>> [round(t_quantile(df), 6) for df in (1, 2.5, 10, NORMAL)]
    [12.706205, 3.574655, 2.228139, 1.959964]
    """
    if df == NORMAL:
        return 1.959963984540054
    factor = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(math.pi)
    angle = math.atan(2 / math.sqrt(df))
    for _ in range(50):
        found = 0.5 + factor * simpson(lambda a: math.cos(a) ** (df - 1), angle)
        step = (found - p) / (factor * math.cos(angle) ** (df - 1))
        angle -= step
        if abs(step) < 1e-14:
            break
    return math.sqrt(df) * math.tan(angle)


def simpson(function, end, n=2000):
    """Return the integral of a function from 0 to `end`.

    >>> round(simpson(math.cos, math.pi / 2), 12)
    1.0
    """
    inner = (function(end * row / n) * (4 if row % 2 else 2) for row in range(1, n))
    return (function(0.0) + function(end) + math.fsum(inner)) * end / n / 3
