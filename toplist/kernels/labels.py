"""The labels of a list beside those of a history; an item may have several."""

import numpy as np
from numpy import float64, int64, uint64

from toplist.kernels import kernel


@kernel
def calibration(
    codes: int64, offsets: int64, lengths: int64, rows: int64,
    history: int64, own_offsets: int64, starts: int64, labels: int64,
    weights: float64, alpha, hellinger, n_labels, n_found, out,
):  # fmt: skip
    """Fill `out` (users, K) with the distance of the labels of a history and of the first k items.

    Parameters
    ----------
    codes, offsets, lengths : int64
        Items as indices, below 0 where a place does not count; of each user in turn.
    rows : int64 (users,)
        The history of each user, -1 where there is none: then NaN.
    history, own_offsets : int64
        The items of history h are ``history[own_offsets[h]:own_offsets[h + 1]]``.
    starts, labels : int64
        Item i has ``labels[starts[i]:starts[i + 1]]``.
    weights : float64 (K,)
        What the item at each rank counts, shared among its labels.
    alpha, hellinger
        Of KL(p || (1 - alpha) q + alpha p), or Hellinger's distance of p and q.
    n_found : int
        Not fewer than the labels in a list.
    """
    depth = out.shape[1]
    p, slot, mine = np.zeros(n_labels), np.full(n_labels, -1, int64), np.empty(n_labels, int64)
    # of the n labels that are in both: share of the history, what the list has so far, and of each
    # at every rank, one after the other, what is added up
    own, found, x = np.empty(n_found), np.empty(n_found), np.empty(depth * n_found)
    others, high, low = np.empty(depth), np.empty(len(x)), np.empty(len(x))
    for u in range(len(lengths)):
        n_mine, n_items = 0, 0
        first = own_offsets[rows[u]] if rows[u] >= 0 else 0
        last = own_offsets[rows[u] + 1] if rows[u] >= 0 else 0
        for at in range(first, last):
            item = history[at]
            if item >= 0 and starts[item + 1] > starts[item]:
                n_items += 1
                for place in range(starts[item], starts[item + 1]):
                    label = labels[place]
                    if p[label] == 0.0:
                        mine[n_mine] = label
                        n_mine += 1
                    p[label] += 1.0 / (starts[item + 1] - starts[item])
        for at in range(n_mine):
            p[mine[at]] /= n_items
        begin, end, n = offsets[u] - offsets[0], min(lengths[u], depth), 0
        for item in codes[begin : begin + end]:
            for place in range(starts[item], starts[item + 1] if item >= 0 else 0):
                label = labels[place]
                if p[label] > 0.0 and slot[label] < 0:
                    slot[label], own[n], found[n] = n, p[label], 0.0
                    n += 1
        known, total, other = 0, 0.0, 0.0  # known: how many ranks are before a labelled item
        for r in range(end):
            item = codes[begin + r]
            if item >= 0 and starts[item + 1] > starts[item]:
                share = weights[r] / (starts[item + 1] - starts[item])
                total += weights[r]
                for place in range(starts[item], starts[item + 1]):
                    if slot[labels[place]] >= 0:
                        found[slot[labels[place]]] += share
                    else:
                        other += share
            known += total == 0.0
            scale = 1.0 / total if total > 0 else 0.0
            others[r] = other * scale
            for j in range(n):
                x[r * n + j] = found[j] * scale
            if not hellinger:
                for j in range(n):
                    x[r * n + j] = alpha + (1 - alpha) / own[j] * x[r * n + j]
        rest = 0.0  # labels of the history that are not in the list
        for at in range(n_mine):
            rest += p[mine[at]] if slot[mine[at]] < 0 else 0.0
            p[mine[at]], slot[mine[at]] = 0.0, -1
        if not hellinger:
            _logarithms(x[: end * n], high, low)
        value = np.nan
        for r in range(depth):
            if r < end and r >= known and n_mine > 0:
                value = _apart(x[r * n : r * n + n], own, rest, others[r], alpha, hellinger)
            out[u, r] = value


@kernel
def _apart(x, own, rest, others, alpha, hellinger):
    """Return the distance, given q, or the logarithms, of the labels that are in both."""
    total, even = 0.0, 0.0  # two sums take half the time of one
    if hellinger:
        for j in range(len(x)):
            apart = np.sqrt(own[j]) - np.sqrt(x[j])
            total += apart * apart
        return np.sqrt((total + rest + others) / 2)
    for j in range(0, len(x) - 1, 2):
        total += own[j] * x[j]
        even += own[j + 1] * x[j + 1]
    if len(x) % 2:
        total += own[len(x) - 1] * x[-1]
    return max(-rest * np.log(alpha) - (total + even), 0.0)


# ln 2 in two parts, and the coefficients of log(1 + f), as in fdlibm's e_log.c (Sun 1993).
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_L1, _L2, _L3 = 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01
_L4, _L5, _L6 = 2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01
_L7 = 1.479819860511658591e-01


@kernel
def _logarithms(x, high, low):
    """Write the logarithms of numbers in their place; they are above 0 and finite.

    Without calls and branches, so that several are computed at once: 2 ns each, not 7.
    """
    bits, exponents, fractions = x.view(uint64), high.view(uint64), low.view(uint64)
    for j in range(len(x)):  # x = 2^e (1 + f), as the bits of 2^52 + e + 1023, and of 1 + f
        exponents[j] = (bits[j] >> uint64(52)) | uint64(0x4330000000000000)
        fractions[j] = (bits[j] & uint64(0xFFFFFFFFFFFFF)) | uint64(0x3FF0000000000000)
    for j in range(len(x)):
        large = low[j] > 1.4142135623730951
        e = high[j] - (4503599627370496.0 + 1023.0) + (1.0 if large else 0.0)
        f = (0.5 * low[j] if large else low[j]) - 1.0
        s = f / (2.0 + f)
        z = s * s
        series = z * (_L1 + z * (_L2 + z * (_L3 + z * (_L4 + z * (_L5 + z * (_L6 + z * _L7))))))
        half = 0.5 * f * f
        x[j] = e * _LN2_HIGH - ((half - (s * (half + series) + e * _LN2_LOW)) - f)
