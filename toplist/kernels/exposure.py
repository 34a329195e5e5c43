"""How often items are listed: the items at each rank, their concentration and entropy."""

import numpy as np
from numpy import int32, int64, uint32, uint64

from toplist.kernels import kernel

# Ranks that are read at a time: two lines of the cache in every list.
RANKS = 16


@kernel
def at_ranks(codes: int64, offsets: int64, lengths: int64, first, out):
    """Write the items at `RANKS` consecutive ranks, one row per rank; below 0 for none.

    Parameters
    ----------
    codes : int64
        Indices of the catalogue, or below 0.
    first : int
        Position of the first of these ranks in the lists.
    out : int32 (RANKS, users), written

    Returns
    -------
    int
        How many users reach the first of these ranks; `out` is written up to there.
    """
    n = 0
    for u in range(len(lengths)):
        begin, here = offsets[u] + first, lengths[u] - first
        if here >= RANKS:
            for r in range(RANKS):
                out[r, n] = codes[begin + r]
            n += 1
        elif here > 0:
            for r in range(RANKS):
                out[r, n] = codes[begin + r] if r < here else -1
            n += 1
    return n


@kernel
def concentrate(items: int32, counts: int64, at, reach, sums):
    """Count more listings of items, and update the sums that coverage and Gini's index need.

    Parameters
    ----------
    items : int32
        The items at a rank; those below 0 are left out.
    counts : int64
        How often each of them is listed there; no counts: once each.
    at : int64 (n_items,), written
        How often an item is listed so far.
    reach : int64 (largest count + 2,), written
        How many items are listed at least m times.
    sums : int64 (4,), written
        The number of all listings; of the items that are listed; the sum over m of reach[m]^2;
        the sum over items of at^2.

    Notes
    -----
    One more listing of an item moves it from c to c + 1, and so changes reach[c + 1] alone. With
    T listings in all and x the items' counts, the sum of |x_i - x_j| over pairs of items is
    n T - sum of reach[m]^2, so that Gini's index needs neither a sort nor a float.
    """
    n, reached, levels = 0, 0, 0  # sums over the listings: of 1, reach[m], m
    if len(counts) == 0:
        for item in items:
            if item >= 0:
                m = uint64(at[uint32(item)] + 1)  # unsigned: no check for negative indices
                at[uint32(item)] = m
                here = reach[m]
                reach[m] = here + 1
                reached += here
                levels += int64(m)
                n += 1
    for i in range(len(counts)):
        before = at[items[i]]
        after = before + counts[i]
        at[items[i]] = after
        n += counts[i]
        for m in range(before + 1, after + 1):
            here = reach[m]
            reach[m] = here + 1
            reached += here
            levels += m
    sums[0] += n
    sums[1] = reach[1]
    sums[2] += 2 * reached + n
    sums[3] += 2 * levels - n


@kernel
def entropy(reach: int64, total):
    """Return the entropy, in nats, of the counts whose numbers of items `reach` holds.

    `reach` never rises, and it falls at the counts that occur. A search that doubles its steps
    finds them, so the cost grows with the number of distinct counts, not with the largest.
    """
    found, m = 0.0, 1
    while reach[m] > 0:
        step = 1
        while m + step < len(reach) and reach[m + step] == reach[m]:
            step *= 2
        low, high = m + step // 2, min(m + step, len(reach) - 1)
        while low < high - 1:  # reach[low] is as reach[m], reach[high] below
            middle = (low + high) // 2
            if reach[middle] == reach[m]:
                low = middle
            else:
                high = middle
        found -= _part(low, reach[m] - reach[low + 1], total)
        m = low + 1
    return found


@kernel
def entropy_of(levels: int64, sizes: int64, total):
    """Return the entropy, in nats, of ascending counts `levels`, each that of `sizes` items."""
    found = 0.0
    for i in range(len(levels)):
        found -= _part(levels[i], sizes[i], total)
    return found


@kernel
def _part(level, n, total):
    """Return the part of `n` items that are listed `level` times each."""
    share = level / total
    return n * share * np.log(share)
