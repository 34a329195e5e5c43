"""Hashing and comparison of strings, given as bytes; no Python object per string."""

import numpy as np

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
def hash_strings(text: np.uint8, ends: np.int64, hashes):
    """Fill `hashes` (int64) with a hash of each string in `text` (uint8).

    String i ends before ``ends[i]``, where one byte separates it from the next.
    """
    at = 0
    for i in range(len(ends)):
        hashes[i] = np.int64(hash_of(text, at, ends[i]))
        at = ends[i] + 1
