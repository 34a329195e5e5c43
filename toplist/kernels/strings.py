"""Hashing of strings, given as bytes."""

import numpy as np

from toplist.kernels import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@kernel
def hash_strings(text, ends, hashes):
    """Fill `hashes` (int64) with a hash of each string in `text` (uint8).

    String i ends before ``ends[i]``, where one byte separates it from the next. Eight bytes at a
    time are mixed by a multiplication and a shift.
    """
    at = 0
    for i in range(len(ends)):
        hashed = np.uint64(ends[i] - at) * GOLDEN
        while at + 8 <= ends[i]:
            word = np.uint64(0)
            for b in range(8):
                word |= np.uint64(text[np.uint64(at + b)]) << np.uint64(8 * b)
            hashed = (hashed ^ word) * GOLDEN
            hashed ^= hashed >> np.uint64(32)
            at += 8
        tail = np.uint64(0)
        while at < ends[i]:
            tail = (tail << np.uint64(8)) | np.uint64(text[np.uint64(at)])
            at += 1
        hashed = (hashed ^ tail) * GOLDEN
        hashes[i] = np.int64(hashed ^ (hashed >> np.uint64(29)))
        at = ends[i] + 1
