"""Hashing and comparison of strings, given as bytes; no Python object per string."""

from numpy import int64, uint8, uint64

from toplist.kernels import kernel
from toplist.kernels.hashing import GOLDEN


@kernel
def hash_of(text, start, end):
    """Return a hash (uint64) of ``text[start:end]``: a multiplication and a shift per 8 bytes."""
    hashed = uint64(end - start) * GOLDEN
    at = start
    while at + 8 <= end:
        word = uint64(0)
        for b in range(8):
            word |= uint64(text[uint64(at + b)]) << uint64(8 * b)
        hashed = (hashed ^ word) * GOLDEN
        hashed ^= hashed >> uint64(32)
        at += 8
    tail = uint64(0)
    while at < end:
        tail = (tail << uint64(8)) | uint64(text[uint64(at)])
        at += 1
    hashed = (hashed ^ tail) * GOLDEN
    return hashed ^ (hashed >> uint64(29))


@kernel
def hash_strings(text: uint8, ends: int64, hashes):
    """Fill `hashes` (int64) with a hash of each string in `text` (uint8).

    String i ends before ``ends[i]``, where one byte separates it from the next.
    """
    at = 0
    for i in range(len(ends)):
        hashes[i] = int64(hash_of(text, at, ends[i]))
        at = ends[i] + 1
