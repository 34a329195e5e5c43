"""The join of ranked ids and relevant ids to hits, and what it needs of both sides.

`join` takes any truths, `join_single_relevant` truths of one id (leave-one-out), which is faster.
`trim` removes padding, `collapse` later copies of an id; `two_grades` and `ideals` are about truths
with grades.

Ids may be chosen so that many share a place of the tables. Looks at places beyond the first are
counted, and past `most_probes` that user alone is joined by sorting: slower, never quadratic.
"""

from typing import Any

import numpy as np
from numpy import int32, int64, uint16, uint32, uint64

from toplist.kernels import kernel, steps
from toplist.kernels.hashing import GOLDEN, most_probes, order_of_rows

# Slots of two bytes for the relevant ids, of four for both sides: 8 kB fit in the first-level cache
# together with the ids that are read.
SLOT_BITS, MARK_BITS = 12, 11
# Longer lists are searched for repeats by open addressing: their ids would fill the slots.
LONG = 2048
# An entry from here on is a relevant id, one below it a place in the list.
HALF = 1 << 15
# The bits of a float but for its sign.
SIZE = (1 << 63) - 1


def tables_for(most: int, longest: int) -> tuple[Any, ...]:
    """Return the tables that `join` works in: truths of up to `most` ids, lists of `longest`."""
    bits, marked = bits_for.py_func, min(longest, LONG)
    taken = np.zeros(1 << bits(most, SLOT_BITS), uint16 if most < HALF else uint32)
    slots = np.zeros(1 << bits(max(min(most, LONG), marked), MARK_BITS), uint32)
    replaced, hashes = np.empty(marked, uint32), np.empty(marked, uint16)
    chain, finder = np.empty(most, int32), np.full(most, -1, int32)
    candidates = np.empty(longest + 1, int32)
    table = np.empty(1 << (2 * longest).bit_length(), int32)
    return taken, slots, replaced, hashes, chain, finder, candidates, table


@kernel
def bits_for(n_entries, bits):
    """Return the bits of a table for so many entries, at least `bits`."""
    while n_entries > 1 << (bits - 3):  # at most one slot in eight taken: few false candidates
        bits += 1
    return bits


def join(
    items: Any, offsets: Any, lengths: Any, truths: Any, truth_offsets: Any,
    distinct: bool, tables: Any, ranks: Any, places: Any, n_hits: Any, n_relevant: Any,
) -> int:  # fmt: skip
    """Fill `ranks`, `places`, `n_hits` and `n_relevant` with the hits of a block of users.

    Parameters
    ----------
    items : int64 array
        The block's ranked ids; user u's list is the `lengths[u]` ids from
        `offsets[u] - offsets[0]` on.
    truths, truth_offsets : int64 arrays
        The relevant ids of the same users, in the same form. Repeats count once.
    distinct : bool
        Whether to check that no list holds an id twice.
    tables : tuple from `tables_for`
        Work arrays. (Made there, since numba takes long to compile an allocation.)
    ranks : int32 array, written
        Ranks of the hits, one user after another, in ascending order.
    places : int32 array, written
        Which of the user's relevant ids each hit is, from 0; of one that is there twice, the first.
    n_hits, n_relevant : int64 arrays, written
        Per user: number of hits, number of distinct relevant ids.

    Returns
    -------
    int
        The first user whose list holds an id twice, or -1.

    Notes
    -----
    A user's relevant ids are entered in a table addressed by the top bits of the multiplied id.
    The list is then swept without a branch, collecting the positions whose slot is taken, and only
    these few candidates are compared exactly. Where repeats are looked for, each position is
    entered too, and the entry that it replaces is kept, so that a chain leads to all earlier ids of
    the slot; entries bear the user's stamp in their upper half, so that this table is cleared once
    in 65,535 users.

    """
    sides = items, offsets, lengths, truths, truth_offsets
    user, total = 0, 0
    while True:
        user, total = _join(
            *sides, distinct, tables, user, total, ranks, places, n_hits, n_relevant
        )
        if user == len(lengths):
            return -1
        begin, first = offsets[user] - offsets[0], truth_offsets[user] - truth_offsets[0]
        last = truth_offsets[user + 1] - truth_offsets[0]
        listed, truth = items[begin : begin + lengths[user]], truths[first:last]
        at, found, n_relevant[user] = _by_sorting(listed, truth)
        if distinct and len(np.unique(listed)) < len(listed):
            return user
        n_hits[user] = n = len(at)
        ranks[total : total + n], places[total : total + n] = at + 1, found
        user, total = user + 1, total + n


def _by_sorting(listed: Any, truth: Any) -> tuple[Any, Any, int]:
    """Return the places of hits in the list and in the truth, and how many relevant ids differ."""
    (items, places), (relevant, found) = (np.unique(ids, True) for ids in (listed, truth))
    _, a, b = np.intersect1d(items, relevant, assume_unique=True, return_indices=True)
    order = np.argsort(places[a])
    return places[a][order], found[b][order], len(relevant)


@kernel
def _join(
    items: int64, offsets: int64, lengths: int64, truths: int64, truth_offsets: int64,
    distinct, tables, begin_at, total, ranks, places, n_hits, n_relevant,
):  # fmt: skip
    """Do what `join` does from a user on, up to one whose list holds an id twice, if one does.

    Or whose ids share so many slots that it would take too long. Return this user, or the number
    of users, and the number of hits so far.

    Arrays are passed whole, with places: a slice per user is counted by numba, which takes as long
    as ten ids.
    """
    taken, slots, replaced, hashes, chain, finder, candidates, table = tables
    half = uint64(HALF if taken.itemsize == 2 else 1 << 31)
    stamp = uint64(0)
    slots[:] = 0
    for u in range(begin_at, len(lengths)):
        first, last = truth_offsets[u] - truth_offsets[0], truth_offsets[u + 1] - truth_offsets[0]
        begin, end = offsets[u] - offsets[0], offsets[u] - offsets[0] + lengths[u]
        n, left = 0, most_probes(end - begin)  # counted down: a register less
        if distinct and end - begin <= LONG and last - first <= LONG:
            stamp += uint64(1)
            if stamp == uint64(2 * HALF):
                slots[:] = 0
                stamp = uint64(1)
            mark = stamp * uint64(2 * HALF)
            shift = uint64(64 - bits_for(max(last - first, end - begin), MARK_BITS))
            n_relevant[u] = _enter(truths, first, last, shift, slots, mark, uint64(HALF), chain)
            n_candidates = 0
            if n_relevant[u] >= 0:
                n_candidates = mark_places(
                    items, begin, end, shift, slots, mark, replaced, hashes, candidates
                )
            for c in range(n_candidates):
                i = candidates[c]
                item, entry = items[begin + i], replaced[i]
                while entry < HALF:  # of this list
                    if items[begin + entry] == item:
                        return u, total
                    entry = replaced[entry]
                    left -= 1
                t = int64(entry) - HALF if entry < 2 * HALF else -1
                while t >= 0 and truths[first + t] != item:
                    t = chain[t]
                    left -= 1
                if t >= 0:
                    ranks[total + n], places[total + n] = i + 1, t
                    n += 1
                if left < 0:
                    break
        else:
            if distinct and search(items, begin, end - begin, table, candidates) != 0:
                return u, total
            shift = uint64(64 - bits_for(last - first, SLOT_BITS))
            n_relevant[u] = _enter(truths, first, last, shift, taken, uint64(0), half, chain)
            n_candidates = 0
            if n_relevant[u] >= 0:
                n_candidates = _sweep(items, begin, end, shift, taken, candidates)
            for c in range(n_candidates):
                i = candidates[c]
                item = items[begin + i]
                t = int64(uint64(taken[(uint64(item) * GOLDEN) >> shift]) - half)
                while t >= 0 and truths[first + t] != item:
                    t = chain[t]
                    left -= 1
                if t >= 0 and finder[t] != u:  # relevant, and no copy of an earlier hit
                    finder[t] = u
                    ranks[total + n], places[total + n] = i + 1, t
                    n += 1
                if left < 0:
                    break
            for t in range(first, last):
                taken[(uint64(truths[t]) * GOLDEN) >> shift] = 0
        if n_relevant[u] < 0 or left < 0:
            return u, total
        n_hits[u] = n
        total += n
    return len(lengths), total


@kernel
def _enter(truths, first, last, shift, slots, mark, half, chain):
    """Enter the distinct ids of a truth into the slots, chained; return how many.

    Or -1, where so many share slots that it would take too long.
    """
    n_distinct, left = 0, most_probes(last - first)
    for t in range(uint64(last - first)):
        item = truths[uint64(first) + t]
        slot = (uint64(item) * GOLDEN) >> shift
        entry = uint64(slots[slot]) ^ mark
        other = int64(entry - half) if entry < half + half else -1
        chain[t] = other
        while other >= 0 and truths[first + other] != item:
            other = chain[other]
            left -= 1
        if other < 0:
            slots[slot] = mark | half | t
            n_distinct += 1
        if left < 0:
            return -1
    return n_distinct


@kernel
def _sweep(items, begin, end, shift, taken, candidates):
    """Collect the positions of ids whose slot is taken; return their number."""
    n = uint64(0)
    for i in range(uint64(end - begin)):
        candidates[n] = i
        n += uint64(taken[(uint64(items[uint64(begin) + i]) * GOLDEN) >> shift] != 0)
    return n


@kernel
def mark_places(items, begin, end, shift, slots, mark, replaced, hashes, candidates):
    """Do what `_sweep` does, and enter every position; keep the entries it replaces."""
    n = uint64(0)
    for i in range(uint64(end - begin)):  # alone: several ids are multiplied at a time
        hashes[i] = uint16((uint64(items[uint64(begin) + i]) * GOLDEN) >> shift)
    for i in range(uint64(end - begin)):
        slot = hashes[i]
        entry = slots[slot] ^ mark
        replaced[i] = entry
        candidates[n] = i
        n += uint64(entry < uint64(2 * HALF))
        slots[slot] = mark | i
    return n


@kernel
def search(items, begin, n, table, repeats):
    """Fill `repeats` with the places of repeats by open addressing; return how many they are.

    Or -1 for too long.
    """
    bits, probes, found = 1, 0, 0
    while 1 << bits <= n:
        bits += 1
    bits += 1
    last = uint64((1 << bits) - 1)
    for slot in range(1 << bits):
        table[slot] = -1
    for i in range(n):
        item = items[begin + i]
        slot = (uint64(item) * GOLDEN) >> uint64(64 - bits)
        while table[slot] >= 0 and items[begin + table[slot]] != item:
            slot = (slot + uint64(1)) & last
            probes += 1
        if probes > most_probes(n):
            return -1
        if table[slot] < 0:
            table[slot] = i
        else:
            repeats[found] = i
            found += 1
    return found


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


def ideals(truths: Any, offsets: Any, grades: Any, n_truth: Any, out: Any) -> int:
    """Fill `out` with each user's grades of distinct ids, highest first; return their number."""
    # the bits of grades are in the order of the grades; of those below 0, in the opposite one
    bits = grades.view(int64)
    keys = ~bits if bits.min(initial=0) >= 0 else np.where(bits < 0, bits & SIZE, ~bits)
    best, _ = order_of_rows(keys, offsets)
    if n_truth.sum() < len(truths):
        order, again = order_of_rows(truths, offsets)
        best = best[~np.isin(best, order[again])]
    out[: len(best)] = grades[best]
    return len(best)


@kernel
def join_single_relevant(
    items: int64, offsets: int64, lengths: int64, truths: int64, truth_offsets: int64,
    ranks, n_hits, n_relevant,
):  # fmt: skip
    """Fill `ranks`, `n_hits` and `n_relevant` as `join` does, for truths of at most one id.

    It does not look for repeats.

    Parameters
    ----------
    items, offsets, lengths, truths, truth_offsets : int64 arrays
        As in `join`; a truth holds one id, or none.
    ranks : int32 array, written
        Room for one rank per user; the hits come first, one user after another.
    n_hits, n_relevant : int64 arrays, written

    Notes
    -----
    The comparison has no branch, so it runs at the speed of reading: 0.3 ns per id on one thread,
    a fifth of the general join.
    """
    total = 0
    for u in range(len(lengths)):
        begin = offsets[u] - offsets[0]
        listed = items[begin : begin + lengths[u]]
        n_relevant[u] = truth_offsets[u + 1] - truth_offsets[u]
        n_hits[u] = 0
        if n_relevant[u]:
            ranks[total] = _first(listed, truths[truth_offsets[u] - truth_offsets[0]])
            n_hits[u] = ranks[total] > 0
            total += n_hits[u]


@kernel
def _first(listed, item):
    """Return the rank of the first copy of `item`, or 0."""
    n = int32(len(listed))
    first = n
    for i in range(n):
        first = min(first, i if listed[i] == item else n)
    return int32(0) if first == n else int32(first + 1)


def collapse(items: Any, offsets: Any, lengths: Any, out: Any, n_kept: Any) -> None:
    """Fill `n_kept` with the number of distinct ids of each list of a block of users.

    Parameters
    ----------
    items, offsets, lengths : int64 arrays
        User u's list is the `lengths[u]` ids from ``offsets[u] - offsets[0]`` on.
    out : int64 array, written
        The items, of which each list becomes its first copies, in their order, from where it
        begins; what follows up to the next list is of no use. Or empty, to only count.
    n_kept : int64 (n_users,), written
    """
    longest = int(lengths.max(initial=0))
    bits, marked = bits_for.py_func(min(longest, LONG), MARK_BITS), min(longest, LONG)
    tables = (
        *(np.zeros(1 << bits, uint32), np.empty(marked, uint32), np.empty(marked, uint16)),
        *(np.empty(longest + 1, int32), np.empty(1 << (2 * longest).bit_length(), int32)),
    )
    user = 0
    while True:
        user = _collapse(items, offsets, lengths, tables, user, out, n_kept)
        if user == len(lengths):
            return
        begin = offsets[user] - offsets[0]
        row = items[begin : begin + lengths[user]]
        kept = row[np.sort(np.unique(row, return_index=True)[1])]
        n_kept[user] = len(kept)
        if len(out):
            out[begin : begin + len(kept)] = kept
        user += 1


@kernel
def _collapse(items: int64, offsets: int64, lengths: int64, tables, begin_at, out, n_kept):
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
        if len(out) and found:
            place = begin + repeats[0]
            for r in range(found):  # what stands between this repeat and the next
                end = repeats[r + 1] if r + 1 < found else n
                for i in range(uint64(begin + repeats[r] + 1), uint64(begin + end)):
                    out[uint64(place)] = items[i]
                    place += 1
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
