"""Lists without repeats: later copies of an id leave, and ranks close up.

Ids may be chosen so that many share a slot of the tables: looks at earlier ids are counted, and
past `most_probes` that list alone is sorted.
"""

from typing import Any

import numpy as np
from numpy import int32, int64, uint16, uint32, uint64

from toplist.kernels import kernel
from toplist.kernels.hashing import most_probes
from toplist.kernels.join import HALF, LONG, MARK_BITS, bits_for, mark_places, search


def collapse(
    items: Any, offsets: Any, lengths: Any, out: Any, n_kept: Any, in_place: bool = False
) -> None:
    """Fill `n_kept` with the number of distinct ids of each list of a block of users.

    Parameters
    ----------
    items, offsets, lengths : int64 arrays
        User u's list is the `lengths[u]` ids from ``offsets[u] - offsets[0]`` on.
    out : int64 array, written
        The first copies of each list, in their order, from where the list begins in `items`, and
        then what stands in `items`; or empty, to only count.
    n_kept : int64 (n_users,), written
    in_place : bool
        Whether `out` is `items` itself.
    """
    longest = int(lengths.max(initial=0))
    bits, marked = bits_for.py_func(min(longest, LONG), MARK_BITS), min(longest, LONG)
    tables = (
        *(np.zeros(1 << bits, uint32), np.empty(marked, uint32), np.empty(marked, uint16)),
        *(np.empty(longest + 1, int32), np.empty(1 << (2 * longest).bit_length(), int32)),
    )
    user = 0
    while True:
        user = _collapse(items, offsets, lengths, tables, user, out, n_kept, in_place)
        if user == len(lengths):
            return
        begin = offsets[user] - offsets[0]
        row = items[begin : begin + lengths[user]]
        kept = row[np.sort(np.unique(row, return_index=True)[1])]
        n_kept[user] = len(kept)
        if len(out):
            end = offsets[user + 1] - offsets[0]
            out[begin:end] = items[begin:end]
            out[begin : begin + len(kept)] = kept
        user += 1


@kernel
def _collapse(
    items: int64, offsets: int64, lengths: int64, tables, begin_at, out, n_kept, in_place
):
    """Do what `collapse` does from a user on; return the user whose ids share too many slots.

    Or the number of users.
    """
    slots, replaced, hashes, repeats, table = tables
    stamp = uint64(0)
    slots[:] = 0
    for u in range(begin_at, len(lengths)):
        begin, n = offsets[u] - offsets[0], lengths[u]
        if n <= LONG:
            stamp += uint64(1)
            if stamp == uint64(2 * HALF):
                slots[:] = 0
                stamp = uint64(1)
            shift, mark = uint64(64 - bits_for(n, MARK_BITS)), stamp * uint64(2 * HALF)
            found = mark_places(
                items, begin, begin + n, shift, slots, mark, replaced, hashes, repeats
            )
            found = _confirm(items, begin, n, replaced, found, repeats)
        else:
            found = search(items, begin, n, table, repeats)
        if found < 0:
            return u
        n_kept[u] = n - found
        if len(out) and (found or not in_place):
            place, at = begin, 0
            for r in range(found + 1):  # what stands between two repeats
                end = repeats[r] if r < found else n
                for i in range(uint64(begin + at), uint64(begin + end)):
                    out[uint64(place)] = items[i]
                    place += 1
                at = end + 1
            if not in_place:  # codes are looked up wherever they stand
                for i in range(place, offsets[u + 1] - offsets[0]):
                    out[i] = items[i]
    return len(lengths)


@kernel
def _confirm(items, begin, n, replaced, n_candidates, candidates):
    """Keep those candidates whose id is in the list before; return how many, -1 for too long."""
    found, left = 0, most_probes(n)
    for c in range(n_candidates):
        i = candidates[c]
        item, entry = items[begin + i], replaced[i]
        while entry < HALF and items[begin + entry] != item:
            entry = replaced[entry]
            left -= 1
        if left < 0:
            return -1
        if entry < HALF:
            candidates[found] = i
            found += 1
    return found
