"""Metrics of lists by the labels of their items, which may have several."""

import numpy as np
from numpy import float64, int64, uint64

from toplist.kernels import kernel
from toplist.kernels.list_values import mean_of_pairs


@kernel
def calibration(
    codes: int64, offsets: int64, lengths: int64, starts: int64, labels: int64,
    rows: int64, own_starts: int64, own_labels: int64, own_shares: float64,
    weights: float64, alpha, hellinger, n_labels, out,
):  # fmt: skip
    """Fill `out` (users, K) with the distance of the labels of a history and of the first k items.

    Parameters
    ----------
    codes, offsets, lengths : int64
        Items as indices, below 0 where a place does not count; of each user in turn.
    starts, labels : int64
        Item i has ``labels[starts[i]:starts[i + 1]]``.
    rows : int64 (users,)
        The history of each user, -1 where there is none: then NaN.
    own_starts, own_labels, own_shares
        History h has ``own_labels[own_starts[h]:own_starts[h + 1]]``, and their shares.
    weights : float64 (K,)
        What the item at each rank counts, shared among its labels.
    alpha, hellinger
        Of KL(p || (1 - alpha) q + alpha p), or Hellinger's distance of p and q.
    """
    place, found = np.full(n_labels, -1, int64), np.zeros(n_labels)
    for u in range(len(lengths)):
        begin = offsets[u] - offsets[0]
        first = own_starts[rows[u]] if rows[u] >= 0 else 0
        n = own_starts[rows[u] + 1] - first if rows[u] >= 0 else 0
        for j in range(n):
            place[own_labels[first + j]] = j
            found[j] = 0.0
        # of labels that are not in the history only their sum matters
        total, others, value = 0.0, 0.0, np.nan
        for r in range(out.shape[1]):
            item = codes[begin + r] if r < lengths[u] else -1
            n_own = starts[item + 1] - starts[item] if item >= 0 else 0
            if n > 0 and n_own > 0:
                share = weights[r] / n_own
                for at in range(starts[item], starts[item + 1]):
                    if place[labels[at]] >= 0:
                        found[place[labels[at]]] += share
                    else:
                        others += share
                total += weights[r]
                value = _apart(
                    own_shares[first : first + n], found[:n], total, others, alpha, hellinger
                )
            out[u, r] = value
        for j in range(n):
            place[own_labels[first + j]] = -1


@kernel
def _apart(p, found, total, others, alpha, hellinger):
    value = 0.0
    if hellinger:
        for j in range(len(p)):
            apart = np.sqrt(p[j]) - np.sqrt(found[j] / total)
            value += apart * apart
        return np.sqrt((value + others / total) / 2)
    for j in range(len(p)):
        value -= p[j] * np.log(alpha + (1 - alpha) * (found[j] / (total * p[j])))
    return max(value, 0.0)


@kernel
def weighted_means(
    codes: int64, offsets: int64, lengths: int64, values: float64, weights: float64, out
):
    """Fill `out` (users, K) with the mean value of the first k items, each rank with its weight.

    Codes below 0 are left out; NaN where no item is left.
    """
    for u in range(len(lengths)):
        begin = offsets[u] - offsets[0]
        above, below = 0.0, 0.0
        for r in range(out.shape[1]):
            if r < lengths[u] and codes[begin + r] >= 0:
                above += weights[r] * values[codes[begin + r]]
                below += weights[r]
            out[u, r] = above / below if below > 0 else np.nan


@kernel
def mean_jaccard(codes: int64, offsets: int64, lengths: int64, sets: uint64, single, out):
    """Fill `out` (users, K) with the mean of 1 - Jaccard's index over pairs of the first k items.

    `sets` (n_items, words) has a bit for each label; two items without labels are unlike.
    """
    kept = np.empty(out.shape[1], int64)
    for u in range(len(lengths)):
        begin = offsets[u] - offsets[0]
        total, n = 0.0, 0
        for r in range(out.shape[1]):
            if r < lengths[u] and codes[begin + r] >= 0:
                kept[n] = codes[begin + r]
                if kept[n] == len(sets):  # an unknown item
                    total = np.nan
                for other in range(n * (total == total)):
                    both, either = 0, 0
                    for word in range(sets.shape[1]):
                        a, b = sets[kept[n], word], sets[kept[other], word]
                        both += _ones(a & b)
                        either += _ones(a | b)
                    total += 1.0 - both / either if either > 0 else 1.0
                n += 1
            out[u, r] = mean_of_pairs(total, n, single)


@kernel
def _ones(word):
    """Count the bits that are set (Wilkes, Wheeler, Gill 1957)."""
    word -= (word >> uint64(1)) & uint64(0x5555555555555555)
    word = (word & uint64(0x3333333333333333)) + ((word >> uint64(2)) & uint64(0x3333333333333333))
    word = (word + (word >> uint64(4))) & uint64(0x0F0F0F0F0F0F0F0F)
    return int64((word * uint64(0x0101010101010101)) >> uint64(56))


@kernel
def mean_given(codes: int64, offsets: int64, lengths: int64, distances: float64, single, out):
    """Fill `out` (users, K) with the mean given distance over pairs of the first k items."""
    kept = np.empty(out.shape[1], int64)
    for u in range(len(lengths)):
        begin = offsets[u] - offsets[0]
        total, n = 0.0, 0
        for r in range(out.shape[1]):
            if r < lengths[u] and codes[begin + r] >= 0:
                kept[n] = codes[begin + r]
                if kept[n] == len(distances):  # an unknown item
                    total = np.nan
                for other in range(n * (total == total)):
                    total += distances[kept[n], kept[other]]
                n += 1
            out[u, r] = mean_of_pairs(total, n, single)


@kernel
def flag_known(
    codes: int64, offsets: int64, lengths: int64,
    rows: int64, own_codes: int64, own_offsets: int64, last, out,
):  # fmt: skip
    """Write 0 for each listed item that is among the user's own ones, 1 for others.

    -1 stays where a place does not count. User u's own are those of ``rows[u]``, none for -1.
    `last` is int32 (n_items,), -1; written.
    """
    for u in range(len(lengths)):
        begin = offsets[u] - offsets[0]
        if rows[u] >= 0:
            for at in range(own_offsets[rows[u]], own_offsets[rows[u] + 1]):
                last[own_codes[at]] = u
        for r in range(begin, begin + lengths[u]):
            out[r] = -1 if codes[r] < 0 else (0 if last[codes[r]] == u else 1)


@kernel
def shares_of_hits(
    codes: int64, starts: int64, lengths: int64, offsets: int64, ranks: int64,
    above: float64, below: float64, over, out,
):  # fmt: skip
    """Fill `out` (users, K) with sums over the hits of each user, divided.

    Parameters
    ----------
    codes, starts, lengths : int64
        The list of user u is the `lengths[u]` codes from `starts[u]` on.
    offsets, ranks : int64
        The ranks of the hits of each user.
    above, below : float64
        By code, what a hit adds above; what is added below.
    over : int
        Below are 0: k; 1: `below` of every place; 2: `below` of every hit.
    """
    for u in range(len(lengths)):
        hit, end = offsets[u] - offsets[0], offsets[u + 1] - offsets[0]
        top, bottom = 0.0, 0.0
        for r in range(out.shape[1]):
            code = codes[starts[u] + r] if r < lengths[u] else -1
            is_hit = hit < end and ranks[hit] == r + 1
            if is_hit:
                hit += 1
                if code >= 0:
                    top += above[code]
            if code >= 0 and (over == 1 or (over == 2 and is_hit)):
                bottom += below[code]
            divisor = r + 1.0 if over == 0 else bottom
            out[u, r] = top / divisor if divisor > 0 else (np.nan if over == 2 else 0.0)
