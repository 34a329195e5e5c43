"""Chance: signs flipped, users drawn again, candidates drawn; and the tails of a range.

Of differences of users, of items, and of normal numbers, plain and studentised; and products of
matrices, of which covariances and correlated draws are made.
"""

import math
from functools import partial

import numpy as np
from numpy import float64, int64, uint64

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


# Draws per wanted item; after them the rest is drawn in one pass (`_finish`). Where few items are
# left, or few have nearly all the weight, drawing again and again would not end.
MAX_TRIES = 16
# Items looked at by `_finish` in one call: a second of work, since Ctrl-C is heard between calls.
MOST_ITEMS = 1 << 23
TINY = np.finfo(float64).tiny


@kernel
def draw(
    keys: uint64, seed, held: int64, excluded: int64, offsets: int64,
    weights: float64, cumulative: float64, banned, times, out,
):  # fmt: skip
    """Draw items for every user, each in proportion to its weight among those not drawn yet.

    Parameters
    ----------
    keys : uint64 (n_users,)
        A key per user. Random numbers are hashes of seed, key and a counter.
    seed : uint64
    held : int64 (n_users,)
        The held-out items, never drawn.
    excluded, offsets : int64
        User u never draws ``excluded[offsets[u] - offsets[0] : ...]``.
    weights, cumulative : float64 (n_items,)
        Weights; and added up, all times a power of two where the sum would overflow.
    banned : uint8 (n_items,), zeros
        Room to mark items; zeros again on return.
    times : float64 (n_items,)
        Room for the order of the remaining items.
    out : int64 (n_users, n), written

    Returns
    -------
    int, bool
        The number of users who are done, fewer than all where it takes long; and whether the next
        one has fewer than n items of positive weight to draw.
    """
    n_items, n = len(cumulative), out.shape[1]
    total, looked_at = cumulative[-1], 0
    for u in range(len(keys)):
        key = mix(seed ^ mix(keys[u]))
        first, last = offsets[u] - offsets[0], offsets[u + 1] - offsets[0]
        for e in range(first, last):
            banned[excluded[e]] = 1
        banned[held[u]] = 1
        found, counter = 0, uint64(0)
        while found < n and counter < uint64(MAX_TRIES * n):
            item = np.searchsorted(cumulative, _uniform(key, counter) * total, side="right")
            counter += uint64(1)
            if item < n_items and not banned[item]:
                banned[item] = 1
                out[u, found] = item
                found += 1
        if found < n:
            found = _finish(key, counter, weights, banned, times, out[u], found)
            looked_at += n_items
        for e in range(first, last):
            banned[excluded[e]] = 0
        banned[held[u]] = 0
        for i in range(found):
            banned[out[u, i]] = 0
        if found < n:
            return u, True
        if looked_at > MOST_ITEMS:
            return u + 1, False
    return len(keys), False


@kernel
def _finish(key, counter, weights, banned, times, out, found):
    """Draw the rest in one pass; return the number of all items drawn.

    Every item gets an exponential waiting time with its weight as rate. In order of these times
    the items are as if drawn one by one in proportion to weight (Efraimidis and Spirakis 2006).
    Times too long or too short for a float64 are compared by their logarithms.
    """
    extreme = False
    for item in range(len(weights)):
        times[item] = np.inf
        if weights[item] > 0 and not banned[item]:
            times[item] = _exponential(key, counter + uint64(item)) / weights[item]
            extreme |= not TINY <= times[item] < np.inf
    for item in range(len(weights) if extreme else 0):
        if weights[item] > 0 and not banned[item]:
            time = _exponential(key, counter + uint64(item))
            times[item] = np.log(time) - np.log(weights[item])
    for item in np.argsort(times, kind="mergesort"):
        if found == len(out) or times[item] == np.inf:
            break
        out[found] = item
        found += 1
    return found


@kernel
def _exponential(key, counter):
    """Return a waiting time of rate 1."""
    return -np.log1p(-_uniform(key, counter))


@kernel
def _uniform(key, counter):
    """Return a number in [0, 1) with 53 random bits."""
    return float64(mix(key + counter) >> uint64(11)) * 2.0**-53


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


@partial(kernel, fastmath={"reassoc", "contract"})
def product(a: float64, b: float64, symmetric, out):
    """Write a @ b.T to `out`; a symmetric one is computed from the diagonal on.

    `a` has a multiple of 4 rows, `b` of 2. Sums are added up as this machine does it fastest, in
    the order that it has for so many columns: the same bits whatever thread computes them.
    """
    for i in range(0, len(a), 4):
        a0, a1, a2, a3 = a[i], a[i + 1], a[i + 2], a[i + 3]
        for k in range(i if symmetric else 0, len(b), 2):
            one, other = b[k], b[k + 1]
            s0, s1, s2, s3, t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for j in range(a.shape[1]):
                x, y = one[j], other[j]
                s0 += a0[j] * x
                s1 += a1[j] * x
                s2 += a2[j] * x
                s3 += a3[j] * x
                t0 += a0[j] * y
                t1 += a1[j] * y
                t2 += a2[j] * y
                t3 += a3[j] * y
            for r, (s, t) in enumerate(((s0, t0), (s1, t1), (s2, t2), (s3, t3))):
                out[i + r, k], out[i + r, k + 1] = s, t
                if symmetric:
                    out[k, i + r], out[k + 1, i + r] = s, t
