"""Hashes of 64-bit words: the golden factor, splitmix64, and how long a table is probed."""

from numpy import uint64

from toplist.kernels import kernel

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
    """Mix one word into each of `hashes` (uint64), which is written."""
    for i in range(len(words)):
        hashes[i] = mix(hashes[i] ^ words[i])
