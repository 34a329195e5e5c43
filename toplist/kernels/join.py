"""The join of ranked ids and relevant ids to hits, and what it needs of both sides.

`join` takes any truths, `join_single_relevant` truths of one id (leave-one-out), which is faster.
`trim` removes padding, `two_grades` and `ideals` are about truths with grades.

Ids may be chosen so that many share a place of the tables. Looks at places beyond the first are
counted, and past `most_probes` that user alone is joined by sorting: slower, never quadratic.
"""

from typing import Any

import numpy as np
from numpy import float64, int32, int64, uint16, uint64

from toplist.kernels import kernel, steps
from toplist.kernels.hashing import GOLDEN, most_probes
from toplist.kernels.sorting import order_of_rows

# 4,096 slots of two bytes fit in the first-level cache together with the ids that are read.
SLOT_BITS = 12
# Lists up to this length are searched for repeats by `_repeats`, longer ones by hashing, as are
# lists with so many suspects that comparing each with each would take more than `most_probes`.
SHORT = 2048


def tables_for(most: int, longest: int) -> tuple[Any, ...]:
    """Return the tables that `join` works in: truths of up to `most` ids, lists of `longest`."""
    slots = np.zeros(1 << _slot_bits.py_func(most), uint16 if most < 1 << 16 else int32)
    chain, finder = np.empty(most, int32), np.full(most, -1, int32)
    candidates, suspects = np.empty((2, longest + 1), int32)
    hashes, places = np.empty(SHORT, uint16), np.empty(1 << 16, uint16)
    table = np.empty(1 << (2 * longest).bit_length(), int32)
    return slots, chain, finder, candidates, suspects, hashes, places, table


@kernel
def _slot_bits(n_truth):
    bits = SLOT_BITS
    while n_truth > 1 << (bits - 3):  # at most one slot in eight taken: few false candidates
        bits += 1
    return bits


@kernel
def join(
    items: int64, offsets: int64, lengths: int64,
    truths: int64, truth_offsets: int64, gains: float64,
    distinct, tables, ranks, hit_gains, n_hits, n_relevant,
):  # fmt: skip
    """Fill `ranks`, `n_hits` and `n_relevant` with the hits of a block of users.

    Parameters
    ----------
    items : int64 array
        The block's ranked ids; user u's list is the `lengths[u]` ids from
        `offsets[u] - offsets[0]` on.
    truths, truth_offsets : int64 arrays
        The relevant ids of the same users, in the same form. Repeats count once.
    gains : float64 array
        The gain of each relevant id; empty where every gain is 1.
    distinct : bool
        Whether to check that no list holds an id twice.
    tables : tuple from `tables_for`
        Work arrays. (Made there, since numba takes long to compile an allocation.)
    ranks : int32 array, written
        Ranks of the hits, one user after another, in ascending order.
    hit_gains : float64 array, written
        Gains of the hits, where there are gains.
    n_hits, n_relevant : int64 arrays, written
        Per user: number of hits, number of distinct relevant ids.

    Returns
    -------
    int
        The first user whose list holds an id twice, or -1.

    Notes
    -----
    A user's relevant ids are entered in a small table addressed by the top bits of the
    multiplied id. The list is then swept without a branch, collecting the positions whose slot
    is taken, and only these few candidates are compared exactly. Per id on one thread: 1.4 ns,
    of which the sweep 0.6; a dense table of all ids took 1.7 (and needs an id map), open
    addressing 5, a linear search through 20 relevant ids 10.
    """
    slots, chain, finder, candidates, suspects, hashes, places, table = tables
    total = 0
    for u in range(len(lengths)):
        first = truth_offsets[u] - truth_offsets[0]
        truth = truths[first : first + truth_offsets[u + 1] - truth_offsets[u]]
        begin = offsets[u] - offsets[0]
        listed = items[begin : begin + lengths[u]]
        if distinct and _repeats(listed, hashes, places, suspects, table):
            return u
        shift = uint64(64 - _slot_bits(len(truth)))
        n_relevant[u] = _enter(truth, shift, slots, chain)
        n, left = 0, most_probes(len(listed))  # counted down: a register less
        n_candidates = _sweep(listed, shift, slots, candidates) if n_relevant[u] >= 0 else 0
        for c in range(n_candidates):
            i = candidates[c]
            t = int64(slots[(uint64(listed[i]) * GOLDEN) >> shift]) - 1
            while t >= 0 and truth[t] != listed[i]:
                t = chain[t]
                left -= 1
            if t >= 0 and finder[t] != u:  # relevant, and no copy of an earlier hit
                finder[t] = u
                ranks[total + n] = i + 1
                if len(gains):
                    hit_gains[total + n] = gains[first + t]
                n += 1
            if left < 0:
                break
        for t in range(len(truth)):
            slots[(uint64(truth[t]) * GOLDEN) >> shift] = 0
        if n_relevant[u] < 0 or left < 0:
            n_relevant[u] = _sort(truth, chain)
            for t in range(len(truth)):
                finder[t] = -1  # what was found before it gave up
            n = 0
            for i in range(len(listed)):
                t = _search(truth, chain, listed[i])
                if t >= 0 and finder[t] != u:
                    finder[t] = u
                    ranks[total + n] = i + 1
                    if len(gains):
                        hit_gains[total + n] = gains[first + t]
                    n += 1
        n_hits[u] = n
        total += n
    return -1


@kernel
def _enter(truth, shift, slots, chain):
    """Enter the distinct ids of `truth` into the slots, chained; return how many.

    Or -1, where so many share slots that it would take too long.
    """
    n_distinct, probes = 0, 0
    for t in range(uint64(len(truth))):
        slot = (uint64(truth[t]) * GOLDEN) >> shift
        other = int64(slots[slot]) - 1
        chain[t] = other
        while other >= 0 and truth[other] != truth[t]:
            other = chain[other]
            probes += 1
        if other < 0:
            slots[slot] = t + 1
            n_distinct += 1
        if probes > most_probes(len(truth)):
            return -1
    return n_distinct


@kernel
def _sweep(listed, shift, slots, candidates):
    """Collect the positions of ids whose slot is taken; return their number."""
    n = uint64(0)
    for i in range(uint64(len(listed))):
        candidates[n] = i
        n += uint64(slots[(uint64(listed[i]) * GOLDEN) >> shift] != 0)
    return n


@kernel
def _search(ids, order, wanted):
    """Return the first position of an id among ids that `order` sorts, or -1."""
    low, high = 0, len(ids)
    while low < high:
        middle = (low + high) >> 1
        if ids[order[middle]] < wanted:
            low = middle + 1
        else:
            high = middle
    return order[low] if low < len(ids) and ids[order[low]] == wanted else -1


@kernel
def _sort(ids, order):
    """Fill `order` with the positions of ids, sorted by id and position; return how many differ.

    Shellsort by the gaps of Sedgewick (1986, A new upper bound for Shellsort), which takes at most
    n^(4/3): `np.argsort` would take numba long to compile.
    """
    n, level = len(ids), 0
    for i in range(n):
        order[i] = i
    while 1 << 2 * level < n:
        level += 1
    while level >= 0:
        gap = (1 << 2 * level) + (3 << level >> 1) + 1 if level else 1
        for i in range(gap, n):
            one, place = order[i], i
            while place >= gap and _before(ids, one, order[place - gap]):
                order[place] = order[place - gap]
                place -= gap
            order[place] = one
        level -= 1
    n_distinct = min(n, 1)
    for i in range(1, n):
        n_distinct += ids[order[i]] != ids[order[i - 1]]
    return n_distinct


@kernel
def _before(ids, a, b):
    return ids[a] < ids[b] or (ids[a] == ids[b] and a < b)


@kernel
def _place_shift(n):
    bits = 8
    while bits < 16 and 4 << bits < n * n:
        bits += 1
    return uint64(64 - bits)


@kernel
def _repeats(listed, hashes, places, suspects, table):
    """Return whether an id is in the list twice.

    Every id writes its position to the slot of its hash. An id that does not find its position
    there afterwards shares the slot with another id, perhaps an equal one. With n^2 / 4 slots (8 kB
    for a list of 100, which fits in the first-level cache) a list has about two such suspects, and
    only they are compared. Per id: 1.0 ns. Marking slots by user, and hashing each list that shares
    a slot, took 1.6; computing the hashes twice instead of keeping them took 1.3.
    """
    n = uint64(len(listed))
    if n > uint64(SHORT):
        return _repeats_hashed(listed, table)
    shift = _place_shift(len(listed))
    for i in range(n):  # alone in its loop, so that several ids are multiplied at a time
        hashes[i] = uint16((uint64(listed[i]) * GOLDEN) >> shift)
    for i in range(n):
        places[hashes[i]] = i
    found = uint64(0)
    for i in range(n):
        suspects[found] = i
        found += uint64(places[hashes[i]] != i)
    if found * found > uint64(most_probes(len(listed))):
        return _repeats_hashed(listed, table)
    same = False
    for s in range(found):
        item = listed[suspects[s]]
        same |= item == listed[places[hashes[suspects[s]]]]
        for other in range(s):
            same |= item == listed[suspects[other]]
    return same


@kernel
def _repeats_hashed(listed, table):
    """Return what `_repeats` does, by open addressing."""
    bits, probes = 1, 0
    while 1 << bits <= len(listed):
        bits += 1
    bits += 1
    last = uint64((1 << bits) - 1)
    for slot in range(1 << bits):
        table[slot] = -1
    for i in range(len(listed)):
        slot = (uint64(listed[i]) * GOLDEN) >> uint64(64 - bits)
        while table[slot] >= 0:
            if listed[table[slot]] == listed[i]:
                return True
            slot = (slot + uint64(1)) & last
            probes += 1
        if probes > most_probes(len(listed)):
            return _sort(listed, table) < len(listed)
        table[slot] = i
    return False


@kernel
def trim(ids: int64, offsets: int64, lengths: int64, padding):
    """Return the lengths without `padding` at the end.

    Also the first (user, position) where padding comes before an id, or (-1, -1).
    """
    trimmed = np.empty(len(lengths), int64)
    for u in range(len(lengths)):
        end = offsets[u] + lengths[u]
        while end > offsets[u] and ids[end - 1] == padding:
            end -= 1
        trimmed[u] = end - offsets[u]
        for i in range(offsets[u], end):
            if ids[i] == padding:
                return trimmed, u, i - offsets[u]
    return trimmed, -1, -1


def two_grades(offsets: Any, truths: Any, grades: Any) -> int:
    """Return the position of an id that is in its ground truth with another grade, too; else -1."""
    for lo, hi in steps(offsets):
        begin, end = int(offsets[lo]), int(offsets[hi])
        order, again = order_of_rows(truths[begin:end], offsets[lo : hi + 1])
        found = grades[begin:end]
        for i in again[found[order[again]] != found[order[again - 1]]]:
            return begin + int(order[i])
    return -1


def ideals(truths: Any, offsets: Any, gains: Any, n_relevant: Any, out: Any) -> int:
    """Fill `out` with each user's gains of distinct ids, highest first; return their number."""
    # the bits of gains are in the order of the gains, since none is negative
    best, _ = order_of_rows(~gains.view(int64), offsets)
    if n_relevant.sum() < len(truths):
        order, again = order_of_rows(truths, offsets)
        best = best[~np.isin(best, order[again])]
    out[: len(best)] = gains[best]
    return len(best)


@kernel
def join_single_relevant(
    items: int64, offsets: int64, lengths: int64, truths: int64, truth_offsets: int64,
    distinct, tables, ranks, n_hits, n_relevant,
):  # fmt: skip
    """Fill `ranks`, `n_hits` and `n_relevant` as `join` does, for truths of at most one id.

    Parameters
    ----------
    items, offsets, lengths, truths, truth_offsets : int64 arrays
        As in `join`; a truth holds one id, or none.
    distinct : bool
        Whether to check that no list holds an id twice.
    tables : tuple from `tables_for`
    ranks : int32 array, written
        Room for one rank per user; the hits come first, one user after another.
    n_hits, n_relevant : int64 arrays, written

    Returns
    -------
    int
        The first user whose list holds an id twice, or -1.

    Notes
    -----
    The comparison has no branch, so it runs at the speed of reading: 0.3 ns per id on one thread,
    a fifth of the general join. The check for repeats takes 1.0 more.
    """
    suspects, hashes, places, table = tables[4:]
    total = 0
    for u in range(len(lengths)):
        begin = offsets[u] - offsets[0]
        listed = items[begin : begin + lengths[u]]
        if distinct and _repeats(listed, hashes, places, suspects, table):
            return u
        n_relevant[u] = truth_offsets[u + 1] - truth_offsets[u]
        n_hits[u] = 0
        if n_relevant[u]:
            ranks[total] = _first(listed, truths[truth_offsets[u] - truth_offsets[0]])
            n_hits[u] = ranks[total] > 0
            total += n_hits[u]
    return -1


@kernel
def _first(listed, item):
    """Return the rank of the first copy of `item`, or 0."""
    n = int32(len(listed))
    first = n
    for i in range(n):
        first = min(first, i if listed[i] == item else n)
    return int32(0) if first == n else int32(first + 1)
