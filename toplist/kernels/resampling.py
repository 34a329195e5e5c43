"""Studentised means of resamples: users, or clusters of them, drawn with replacement."""

import numpy as np
from numpy import float64, uint64

from toplist.kernels import kernel
from toplist.kernels.hashing import mix

# Draws are added up in parts of this size: a resample of one number, drawn 10^6 times, has to show
# that it does not vary. Even, since a word has two draws.
PART = 1024
HALF = uint64(32)
LOW = uint64(0xFFFFFFFF)
# A sum of squares less than this share of what it was before centring is rounding.
NOISE = 1e-12


@kernel
def studentised_means(values: float64, first, seed, out):
    """Write t* of resample ``first + b`` to ``out[b]``.

        t* = m* / (s* / √n), m* and s* of n draws; 0 where both are 0, ±inf where only s* is

    A draw depends on seed, resample and its place alone. It is the top of a product of 32 random
    bits and n: no user has a chance off 1 / n by more than the share n / 2^32.

    Parameters
    ----------
    values : float64 (n,)
        Differences less their mean; n < 2^31.
    first : int
        The number of the first resample.
    seed : uint64
    out : float64 (n_resamples,), written
    """
    n, size = len(values), uint64(len(values))
    for b in range(len(out)):
        key = mix(seed ^ mix(uint64(first + b)))
        total, squares = 0.0, 0.0
        for low in range(0, n, PART):
            high = min(low + PART, n)
            sum1, sum2, square1, square2 = 0.0, 0.0, 0.0, 0.0
            for place in range(low, high - 1, 2):
                word = mix(key + uint64(place))
                one, two = (
                    values[(word >> HALF) * size >> HALF],
                    values[(word & LOW) * size >> HALF],
                )
                sum1 += one
                sum2 += two
                square1 += one * one
                square2 += two * two
            if (high - low) % 2:
                one = values[(mix(key + uint64(high - 1)) >> HALF) * size >> HALF]
                sum1 += one
                square1 += one * one
            total += sum1 + sum2
            squares += square1 + square2
        out[b] = _studentised(total, squares - total * total / n, squares, n)


@kernel
def studentised_ratios(values: float64, sizes: float64, first, seed, out):
    """Write t* of a ratio of sums, of resample ``first + b``, to ``out[b]``.

        r* = Σx* / Σy*,  t* = r* / √(n/(n-1) Σ(x* - r* y*)² / (Σy*)²)

    Parameters
    ----------
    values, sizes : float64 (n,)
        Numerators x, less the ratio of all times y; and positive divisors y. n < 2^31.
    first, seed, out
        As in `studentised_means`.
    """
    n, size = len(values), uint64(len(values))
    for b in range(len(out)):
        key = mix(seed ^ mix(uint64(first + b)))
        x, y, xx, xy, yy = 0.0, 0.0, 0.0, 0.0, 0.0
        for low in range(0, n, PART):
            part_x, part_y, part_xx, part_xy, part_yy = 0.0, 0.0, 0.0, 0.0, 0.0
            for place in range(low, min(low + PART, n)):
                user = (mix(key + uint64(place)) >> HALF) * size >> HALF
                value, divisor = values[user], sizes[user]
                part_x += value
                part_y += divisor
                part_xx += value * value
                part_xy += value * divisor
                part_yy += divisor * divisor
            x += part_x
            y += part_y
            xx += part_xx
            xy += part_xy
            yy += part_yy
        ratio = x / y
        squares = xx + ratio * ratio * yy
        out[b] = _studentised(x, squares - 2.0 * ratio * xy, squares, n)


@kernel
def _studentised(total, spread, squares, n):
    """Return a sum over its standard error, by its spread; `squares` are those not centred."""
    if spread > NOISE * squares:
        return total / np.sqrt(n * spread / (n - 1))
    return 0.0 if total == 0.0 else np.copysign(np.inf, total)
