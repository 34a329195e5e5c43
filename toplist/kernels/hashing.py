"""What the tables of other kernels stand on: hashes of words, limits of probes, and a sort.

Who would probe a table for too long sorts instead; and the rows of each user are sorted where their
order or their repeats are asked for.
"""

from typing import Any

import numpy as np
from numpy import float64, int64, uint64

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


# Keys that are sorted by insertion, before they are merged.
RUN = 16


def order_of_rows(keys: Any, offsets: Any) -> tuple[Any, Any]:
    """Return the positions of the keys (int64) of each row, from its lowest key to its highest.

    Equal keys keep their order. The rows are one after another; offsets begin with any number.
    Return as well the places in this order of keys that are equal to the one before.

    Examples
    --------
    >>> order_of_rows(np.array([5, 3, 3, 2, 2]), np.array([0, 2, 5]))
    (array([1, 0, 3, 4, 2]), array([3]))
    """
    order = np.arange(len(keys), dtype=uint64)
    spare = np.empty(np.diff(offsets).max(initial=0), uint64)
    again = np.zeros(len(keys), np.bool_)
    some = _sort(keys, offsets, order, spare, again)
    return order.view(int64), np.flatnonzero(again) if some else np.empty(0, int64)


@kernel
def _sort(keys: int64, offsets: int64, order, spare, again):
    """Sort the positions in `order` (uint64: numba takes no time to look for negative ones)."""
    some = False
    for row in range(len(offsets) - 1):
        start, end = offsets[row] - offsets[0], offsets[row + 1] - offsets[0]
        for first in range(start, end, RUN):
            for i in range(first + 1, min(first + RUN, end)):
                one, place = order[i], i
                while place > first and keys[order[place - 1]] > keys[one]:
                    order[place] = order[place - 1]
                    place -= 1
                order[place] = one
        width = RUN
        while width < end - start:
            for low in range(start, end - width, 2 * width):
                left, right, place, high = 0, low + width, low, min(low + 2 * width, end)
                if keys[order[right - 1]] <= keys[order[right]]:
                    continue
                for i in range(width):
                    spare[i] = order[low + i]
                while left < width and right < high:  # without a branch
                    lower = keys[order[right]] < keys[spare[left]]
                    order[place] = order[right] if lower else spare[left]
                    left += not lower
                    right += lower
                    place += 1
                for i in range(left, width):
                    order[place] = spare[i]
                    place += 1
            width *= 2
        for i in range(start + 1, end):
            again[i] = keys[order[i]] == keys[order[i - 1]]
            some |= again[i]
    return some


@kernel
def find_in_rows(sought: int64, offsets: int64, keys: int64, key_offsets: int64, ranks):
    """Fill `ranks` with the rank, from 1, of each sought key among the sorted keys of its row.

    Of a key that its row holds more than once it is that of the first, with a minus.
    """
    for row in range(len(offsets) - 1):
        start, end = key_offsets[row], key_offsets[row + 1]
        for place in range(offsets[row], offsets[row + 1]):
            low, high = start, end
            while low < high:
                middle = (low + high) // 2
                if keys[middle] < sought[place]:
                    low = middle + 1
                else:
                    high = middle
            again = low + 1 < end and keys[low + 1] == sought[place]
            ranks[place] = start - low - 1 if again else low + 1 - start
