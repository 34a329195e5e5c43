"""Ids chosen against the tables that look them up, by the constants of the code as it is."""

import time
from functools import cache

import numpy as np

from toplist.kernels import hashing, texts


def inverse(odd):
    """Return the inverse of an odd number modulo 2^64."""
    return pow(int(odd), -1, 1 << 64)


def colliding_ids(n, factor=hashing.GOLDEN):
    """Return ids that all have the same top bits after multiplication by the factor."""
    return np.arange(1, n + 1, dtype=np.uint64) * np.uint64(inverse(factor))


def unhash(hashed, words):
    """Return the eight bytes that make `hashed` out of the first words of a text of 16 bytes."""
    golden, back = np.uint64(hashing.GOLDEN), np.uint64(inverse(hashing.GOLDEN))
    state = (np.full(len(words), 16, np.uint64) * golden ^ words) * golden
    state ^= state >> np.uint64(32)
    wanted = hashed.copy()
    wanted ^= (wanted >> np.uint64(29)) ^ (wanted >> np.uint64(58))
    wanted = wanted * back  # the tail is empty
    wanted ^= wanted >> np.uint64(32)
    return wanted * back ^ state


@cache
def colliding_texts(n, low_bits=64):
    """Return n ASCII texts of one hash, or whose hashes share the low bits, by the code in use."""
    random, found = np.random.default_rng(0), set()
    while len(found) < n:
        words = random.integers(33, 127, (1 << 20, 8)).astype(np.uint8).view(np.uint64).ravel()
        high = random.integers(0, 1 << 20, len(words)).astype(np.uint64) << np.uint64(low_bits % 64)
        last = unhash(high * np.uint64(low_bits < 64) + np.uint64(12345), words)
        both = np.stack([words, last], axis=1).view(np.uint8).reshape(-1, 16)
        plain = ((both > 0) & (both < 128)).all(axis=1)
        found |= {row.tobytes().decode("ascii") for row in both[plain]}
    return sorted(found)[:n]


@cache
def neighbouring_texts(n):
    """Return n ASCII texts of 12 bytes whose slots in a table of 2^17 are the first 128."""
    random, found = np.random.default_rng(0), set()
    first = np.uint64(12 | int.from_bytes(b"item", "little") << 32)
    while len(found) < n:
        words = random.integers(33, 127, (1 << 20, 8)).astype(np.uint8).view(np.uint64).ravel()
        hashes = texts._hash.py_func(np.full_like(words, first), words)
        near = words[hashes & np.uint64((1 << 17) - 1) < 128]
        found |= {"item" + one.tobytes().decode("ascii") for one in near}
    return sorted(found)[:n]


PLAIN = np.random.default_rng(0).permutation(1 << 20)[:100_000] * 9_973
CHOSEN = colliding_ids(len(PLAIN)).view(np.int64)


def spent(function, *arguments):
    """Return the least time of three calls after a first one."""
    times = []
    for _ in range(4):
        start = time.perf_counter()
        function(*arguments)
        times.append(time.perf_counter() - start)
    return min(times[1:])


def not_quadratic(function, plain, chosen):
    """Check that chosen ids give what plain ones do, and that 4 x as many take no 16 x as long."""
    assert np.array_equal(function(chosen), function(plain))
    quarter = chosen[: len(chosen) // 4]
    assert any(  # three times, since other programs run beside
        spent(function, chosen) < 9 * spent(function, quarter) + 0.05 for _ in range(3)
    )
