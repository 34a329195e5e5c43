"""Hashes of 64-bit words: factors, splitmix64, and how long a table is probed."""

import os
from collections.abc import Iterator

import numpy as np

from toplist.kernels import kernel

# 2^64 / golden ratio (Knuth, TAOCP 3, 6.4): the top bits of id * GOLDEN spread any ids evenly.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
# Ids chosen to share places in a table would make its use quadratic. So probes (looks at a place
# beyond the first) are counted, and after this many per entry, and for so many entries more, the
# work is done again by another factor. Other ids need less than one each.
PROBES = 2
FREE_ENTRIES = 32
# Tables that are looked up by row have this many times the probes, since many rows may ask for one
# id that lies some places away, and these for nothing.
OF_ROWS = 8
FREE_PROBES = 2048
# What a kernel returns instead of a user.
GAVE_UP = -2


def factors() -> Iterator[tuple[np.uint64, int]]:
    """Yield factors of hashes to try in turn, each with the probes per entry that it is given.

    The golden constant comes first. Who knows it can choose ids that share its top bits, so the
    next ones are odd numbers that nobody can know: under those any two ids share a place of m with
    a probability of at most 2 / m, whatever they are (Dietzfelbinger et al. 1997, A reliable
    randomized algorithm for the closest-pair problem). Where a draw does badly all the same,
    the next one is given twice the probes.
    """
    factor, patience = GOLDEN, PROBES
    while True:
        yield factor, patience
        factor, patience = np.uint64(int.from_bytes(os.urandom(8), "little") | 1), 2 * patience


@kernel
def most_probes(n, patience):
    """Return how many probes may be made for n entries of a table."""
    return patience * (n + FREE_ENTRIES)


@kernel
def most_probes_of_rows(n, patience):
    """Return how many probes may be made for n rows looked up in a table."""
    return OF_ROWS * patience * n + FREE_PROBES


@kernel
def mix(word):
    """Scramble a word (uint64): splitmix64 (Steele, Lea, Flood 2014)."""
    word += GOLDEN
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@kernel
def mix_in(words: np.uint64, hashes):
    """Mix one word into each of `hashes` (uint64), which is written."""
    for i in range(len(words)):
        hashes[i] = mix(hashes[i] ^ words[i])
