"""Hashing and comparison of strings, given as bytes; no Python object per string.

Who knows `hash_of` can choose strings that share a hash. Where so many do that a table becomes
slow, they are hashed again by a `KeyedHash`.
"""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.kernels import kernel
from toplist.kernels.hashing import GOLDEN


@kernel
def hash_of(text, start, end):
    """Return a hash (uint64) of ``text[start:end]``: a multiplication and a shift per 8 bytes."""
    hashed = np.uint64(end - start) * GOLDEN
    at = start
    while at + 8 <= end:
        word = np.uint64(0)
        for b in range(8):
            word |= np.uint64(text[np.uint64(at + b)]) << np.uint64(8 * b)
        hashed = (hashed ^ word) * GOLDEN
        hashed ^= hashed >> np.uint64(32)
        at += 8
    tail = np.uint64(0)
    while at < end:
        tail = (tail << np.uint64(8)) | np.uint64(text[np.uint64(at)])
        at += 1
    hashed = (hashed ^ tail) * GOLDEN
    return hashed ^ (hashed >> np.uint64(29))


@kernel
def equal(text, start, end, other, other_end):
    """Return whether two ranges of bytes are equal."""
    if end - start != other_end - other:
        return False
    for i in range(end - start - 1, -1, -1):  # ids differ at their ends
        if text[np.uint64(start + i)] != text[np.uint64(other + i)]:
            return False
    return True


@kernel
def hash_strings(text: np.uint8, ends: np.int64, hashes):
    """Fill `hashes` (int64) with a hash of each string in `text` (uint8).

    String i ends before ``ends[i]``, where one byte separates it from the next.
    """
    at = 0
    for i in range(len(ends)):
        hashes[i] = np.int64(hash_of(text, at, ends[i]))
        at = ends[i] + 1


@kernel
def hash_by_key(text: np.uint8, starts: np.int64, ends: np.int64, key: np.uint64, hashes):
    """Fill `hashes` (uint64) with the `KeyedHash` of each ``text[starts[i]:ends[i]]``."""
    low, half = np.uint64(2**32 - 1), np.uint64(32)
    for i in range(len(starts)):
        word = np.uint64(ends[i] - starts[i])
        one, two, at, place = np.uint64(0), np.uint64(0), starts[i], 0
        while True:
            one += (key[place] + (word & low)) * (key[place + 1] + (word >> half))
            two += (key[place + 2] + (word & low)) * (key[place + 3] + (word >> half))
            if at >= ends[i]:
                break
            word = np.uint64(0)
            for b in range(min(8, ends[i] - at)):
                word |= np.uint64(text[np.uint64(at + b)]) << np.uint64(8 * b)
            at, place = at + 8, place + 4
        hashes[i] = (one >> half) | (two & ~low)


class KeyedHash:
    """A hash by a random key, so that nobody can choose strings that share it.

    Two different strings share each half of their hash (uint64) with a probability of 2^-32,
    whatever they are: pair-multiply-shift (Thorup 2015, High speed hashing for integers and
    strings, arXiv:1504.06804), of the length and the words of 8 bytes.

    Examples
    --------
    >>> text, secret = np.frombuffer(b"tea ten tea", np.uint8), KeyedHash()
    >>> a, b, c = secret(text, np.array([0, 4, 8]), np.array([3, 7, 11]))
    >>> a == c, a == b, a == KeyedHash()(text, np.array([0]), np.array([3]))[0]
    (np.True_, np.False_, np.False_)
    """

    def __init__(self) -> None:
        self._key = np.empty(0, np.uint64)

    def __call__(
        self, text: NDArray[np.uint8], starts: NDArray[Any], ends: NDArray[Any]
    ) -> NDArray[np.uint64]:
        """Return the hash of each ``text[starts[i]:ends[i]]``."""
        longest = int(np.max(np.subtract(ends, starts), initial=0))
        missing = 4 * (-(-longest // 8) + 1) - len(self._key)
        if missing > 0:  # what is there stays, and so do the hashes of shorter strings
            more = np.frombuffer(os.urandom(8 * missing), np.uint64)
            self._key = np.concatenate([self._key, more])
        hashes = np.empty(len(starts), np.uint64)
        hash_by_key(text, starts, ends, self._key, hashes)
        return hashes
