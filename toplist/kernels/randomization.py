"""Differences of users at random: signs flipped, users drawn again."""

import numpy as np
from numpy import float64, uint64

from toplist.kernels import kernel
from toplist.kernels.hashing import mix

# A word has a sign for each of this many users.
GROUP = 64
BYTE = uint64(255)
# A word has two draws, one in each half.
HALF = uint64(32)
LOW = uint64(0xFFFFFFFF)
# Draws are added up in parts of this size: a resample of one number, drawn 10^6 times, has to show
# that it does not vary. Even, since a word has two draws.
PART = 1024
# A sum of squares less than this share of what it was before centring is rounding.
NOISE = 1e-12


@kernel
def add_flips(values: float64, first, start, seed, out):
    """Add to ``out[b]`` the sum of all values, with the signs of flip ``start + b``.

    8 users have 256 sums, one for each choice of their signs. With these sums in tables, a flip of
    64 users takes one random word, whose bytes are looked up in 8 tables. The sign of a user
    depends on seed, user and flip alone, and so does the order in which a flip is added up.

    Parameters
    ----------
    values : float64 (n,)
    first : int
        The number of the first user, a multiple of 64.
    start : int
        The number of the first flip.
    seed : uint64
    out : float64 (n_flips,), added to
    """
    n, n_flips = len(values), len(out)
    tables = np.empty(8 * 256)
    for low in range(0, n, GROUP):
        high = min(low + GROUP, n)
        differ = False
        for u in range(low, high):
            differ |= values[u] != 0.0
        if not differ:
            continue
        for byte in range(8):
            base = 256 * byte
            tables[base], size = 0.0, 1
            for u in range(low + 8 * byte, low + 8 * byte + 8):
                value = values[u] if u < high else 0.0
                for i in range(base, base + size):
                    tables[i + size] = tables[i] + value
                    tables[i] -= value
                size *= 2
        key = mix(seed ^ mix(uint64(first + low))) + uint64(start)
        for b in range(n_flips):
            word = mix(key + uint64(b))
            left = tables[word & BYTE] + tables[(word >> uint64(8) & BYTE) + uint64(256)]
            left += (
                tables[(word >> uint64(16) & BYTE) + uint64(512)]
                + tables[(word >> uint64(24) & BYTE) + uint64(768)]
            )
            right = (
                tables[(word >> uint64(32) & BYTE) + uint64(1024)]
                + tables[(word >> uint64(40) & BYTE) + uint64(1280)]
            )
            right += (
                tables[(word >> uint64(48) & BYTE) + uint64(1536)]
                + tables[(word >> uint64(56)) + uint64(1792)]
            )
            out[b] += left + right


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
                one = values[(word >> HALF) * size >> HALF]
                two = values[(word & LOW) * size >> HALF]
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
def add_resampled(values: float64, low, high, first, seed, out):
    """Add the sums of all columns over drawn users, of resample ``first + b``, to ``out[b]``.

    As many are drawn as there are users from `low` to `high`, of these; a draw depends on seed,
    resample and its place alone, as those of `studentised_means`.

    Parameters
    ----------
    values : float64 (m + 1, S)
        Of the m of these users whose values are not all 0, and a last row of 0 for the others.
    low, high, first : int
    seed : uint64
    out : float64 (n_resamples, S), added to
    """
    size, last = uint64(high - low), uint64(len(values) - 1)
    for b in range(len(out)):
        key = mix(seed ^ mix(uint64(first + b)))
        for place in range(low, high, 2):
            word = mix(key + uint64(place))
            one = min((word >> HALF) * size >> HALF, last)
            two = min((word & LOW) * size >> HALF, last) if place + 1 < high else last
            for s in range(values.shape[1]):
                out[b, s] += values[one, s] + values[two, s]


@kernel
def _studentised(total, spread, squares, n):
    """Return a sum over its standard error, by its spread; `squares` are those not centred."""
    if spread > NOISE * squares:
        return total / np.sqrt(n * spread / (n - 1))
    return 0.0 if total == 0.0 else np.copysign(np.inf, total)
