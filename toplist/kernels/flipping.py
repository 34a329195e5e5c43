"""Sums of differences whose signs are flipped at random."""

import numpy as np
from numpy import float64, uint64

from toplist.kernels import kernel
from toplist.kernels.hashing import mix

# A word has a sign for each of this many users.
GROUP = 64
BYTE = uint64(255)


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
