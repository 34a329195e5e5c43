"""Hashing and numbering of strings, given as bytes; no Python object per string."""

import numpy as np

from toplist.kernels import kernel
from toplist.kernels.hashing import GOLDEN, most_probes_of_rows


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
def number_strings(
    text: np.uint8, starts: np.int64, ends: np.int64, begin, table, first, hashes, n_known, codes
):
    """Fill `codes` with the number of each string, in order of appearance, from `begin` on.

    Parameters
    ----------
    table : int64 (a power of two), -1 where free; written
        Open addressing: numbers of the known strings.
    first, hashes : (at least half of the table,), written
        The first position of each known string, and its hash.

    Returns
    -------
    int, int
        The string at which it stopped because the table is half full, else the number of
        strings; or -1, given up, where so many strings share places of the table, or even hashes,
        that it would take too long. And the number of known strings.
    """
    last = np.uint64(len(table) - 1)
    probes, most = 0, most_probes_of_rows(len(starts) - begin)
    for i in range(begin, len(starts)):
        if i > 0 and equal(text, starts[i], ends[i], starts[i - 1], ends[i - 1]):
            codes[i] = codes[i - 1]  # a table sorted by user
            continue
        hashed = hash_of(text, starts[i], ends[i])
        slot = hashed & last
        while table[slot] >= 0:
            known = table[slot]
            one = first[known]
            if hashes[known] == hashed:
                if equal(text, starts[i], ends[i], starts[one], ends[one]):
                    break
                probes += (ends[i] - starts[i]) >> 3  # all words may have been compared
            slot = (slot + np.uint64(1)) & last
            probes += 1
            if probes > most:
                return -1, n_known
        if table[slot] < 0:
            if 2 * n_known >= len(table):
                return i, n_known
            table[slot] = n_known
            first[n_known] = i
            hashes[n_known] = hashed
            n_known += 1
        codes[i] = table[slot]
    return len(starts), n_known


@kernel
def place_hashes(hashes: np.uint64, table):
    """Put the numbers of distinct strings into an empty table, by their hashes.

    Return whether it was done: not where so many share places that it would take too long.
    """
    last = np.uint64(len(table) - 1)
    probes, most = 0, most_probes_of_rows(len(hashes))
    for known in range(len(hashes)):
        slot = hashes[known] & last
        while table[slot] >= 0:
            slot = (slot + np.uint64(1)) & last
            probes += 1
            if probes > most:
                return False
        table[slot] = known
    return True
