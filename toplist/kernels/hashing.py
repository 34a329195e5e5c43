"""Hashes of 64-bit words: the golden constant, and splitmix64."""

import numpy as np

from toplist.kernels import kernel

# 2^64 / golden ratio (Knuth, TAOCP 3, 6.4): the top bits of id * GOLDEN spread any ids evenly.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


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
