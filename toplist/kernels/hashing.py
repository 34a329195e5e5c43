"""Hashes of 64-bit words: golden factor, splitmix64, sums; how long a table is probed."""

from typing import Any

import numpy as np
from numpy import float64, int64, uint64

from toplist.kernels import kernel
from toplist.kernels.sorting import order_of_rows

# 2^64 / golden ratio (Knuth, TAOCP 3, 6.4): the top bits of id * GOLDEN spread any ids evenly.
GOLDEN = uint64(0x9E3779B97F4A7C15)
# Ids chosen to share places in a table would make its use quadratic. So probes (looks at a place
# beyond the first) are counted, and after this many per entry, and for so many entries more, the
# work is done without the table. Other ids need less than one each.
PROBES = 2
FREE_ENTRIES = 32
# Tables that are looked up by row have this many probes for each, since many rows may ask for one
# id that lies some places away, and these for nothing.
PROBES_OF_ROWS = 16
FREE_PROBES = 2048


@kernel
def most_probes(n):
    """Return how many probes may be made for n entries of a table."""
    return PROBES * (n + FREE_ENTRIES)


@kernel
def most_probes_of_rows(n):
    """Return how many probes may be made for n rows looked up in a table."""
    return PROBES_OF_ROWS * n + FREE_PROBES


@kernel
def mix(word):
    """Scramble a word (uint64): splitmix64 (Steele, Lea, Flood 2014)."""
    word += GOLDEN
    word = (word ^ (word >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> uint64(27))) * uint64(0x94D049BB133111EB)
    return word ^ (word >> uint64(31))


@kernel
def mix_in(words: uint64, hashes):
    """Mix a word into each of `hashes` (uint64), which is written: its own, or one for all."""
    for i in range(len(hashes)):
        hashes[i] = mix(hashes[i] ^ words[min(i, len(words) - 1)])


# The bits of the gain 1.0.
ONE = float64(1.0).view(uint64)


@kernel
def hash_rows(truths: int64, offsets: int64, words: uint64, grades: uint64, row_hashes):
    """Fill `row_hashes` with a hash of the relevant ids of each user and their gains.

    It does not depend on their order. Of users with an id twice, `hash_rows_once` fills it.

    Parameters
    ----------
    truths, offsets : int64
        The relevant ids of user u are those from ``offsets[u] - offsets[0]`` on.
    words : uint64
        The word of each relevant id, where it is a code; empty where ids are ids, or hashes.
    grades : uint64
        The bits of the gains; empty where every gain is 1.
    row_hashes : uint64 (n_users,), written
    """
    for u in range(len(row_hashes)):
        begin, end = offsets[u] - offsets[0], offsets[u + 1] - offsets[0]
        hashed = uint64(0)
        if len(words) == 0 and len(grades) == 0:
            for t in range(begin, end):
                hashed += mix(uint64(truths[t]))
        else:
            for t in range(begin, end):
                word = words[t] if len(words) else uint64(truths[t])
                hashed += _hash(word, grades[t] if len(grades) else ONE)
        row_hashes[u] = mix(hashed)


def hash_rows_once(
    users: Any, truths: Any, offsets: Any, words: Any, grades: Any, row_hashes: Any
) -> None:
    """Fill `row_hashes` of some users as `hash_rows` does; an id that is there twice counts once.

    Which is rare: all rows of the block are sorted.
    """
    order, again = order_of_rows(truths, offsets)
    kept = np.ones(len(truths), bool)
    kept[order[again]] = False
    ends = np.append(0, np.cumsum(kept))[offsets - offsets[0]]
    own = np.empty_like(row_hashes)
    more = (one[kept] if len(one) else one for one in (words, grades))
    hash_rows(truths[kept], ends, *more, own)
    row_hashes[users] = own[users]


@kernel
def _hash(word, grade):
    """Return a hash of a relevant id and its gain; a gain of 1 is as none.

    Given arrays, it took 80 ns instead of 2: numba counts references to them in every call.
    """
    hashed = mix(word)
    return hashed if grade == ONE else mix(hashed ^ grade)
