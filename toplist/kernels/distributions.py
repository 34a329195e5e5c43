"""Tails of the range of normal numbers, plain and studentised."""

import math

from numpy import float64, int64

from toplist.kernels import kernel

# How far from half the range its largest number can lie, in standard deviations.
REACH = 8.0
# Terms below this share of the sum end it.
NOTHING = 1e-17


@kernel
def range_tail(w, n_groups, lowest, nodes: float64, weights: float64):
    """Return P(range > w) for the range of n_groups normal numbers.

    The integral over the largest number z:

        n phi(z) (Phi(z)^(n-1) - (Phi(z) - Phi(z - w))^(n-1))

    By Gauss and Legendre's points within `REACH` of w / 2, but not below `lowest`, where no largest
    number lies. The difference is written as Phi(z)^(n-1) (1 - (1 - Phi(z - w) / Phi(z))^(n-1)),
    so that small tails keep their digits.
    """
    low, high = max(0.5 * w - REACH, lowest), 0.5 * w + REACH
    total = 0.0
    for i in range(len(nodes)):
        z = 0.5 * (low + high) + 0.5 * (high - low) * nodes[i]
        below = 0.5 * math.erfc(-z / math.sqrt(2.0))
        share = 0.5 * math.erfc((w - z) / math.sqrt(2.0)) / below
        rest = -math.expm1((n_groups - 1.0) * math.log1p(-share)) if share < 1.0 else 1.0
        total += weights[i] * math.exp(-0.5 * z * z) * below ** (n_groups - 1.0) * rest
    return min(total * 0.5 * (high - low) * n_groups / math.sqrt(2.0 * math.pi), 1.0)


_range_tail = range_tail.compiled  # what a kernel calls


@kernel
def studentised_range_tail(
    q, n_groups, lowest, df, log_scale, step, nodes: float64, weights: float64
):
    """Return P(range > q S) for S = chi / sqrt(df), summed over x = log S at equal steps.

    The density of x is exp(log_scale + df (x - (exp(2 x) - 1) / 2)). Density times tail has one
    peak, since both have concave logarithms. The sum starts where the peak would be if the
    tail were exp(-q^2 S^2 / 4), which is at the peak or below it, and goes both ways until nothing
    is added.
    """
    start = int64(math.floor(0.5 * math.log(df / (df + 0.5 * q * q)) / step))
    total = 0.0
    for way in (-1, 1):
        i = start if way == 1 else start - 1
        while True:
            x = i * step
            term = math.exp(log_scale + df * (x - 0.5 * math.expm1(2.0 * x)))
            if term > 0.0:
                term *= _range_tail(q * math.exp(x), n_groups, lowest, nodes, weights)
            total += term
            if not term > NOTHING * total:
                break
            i += way
    return total * step
