"""The lists themselves: how often items are listed, values of each list, how alike two are."""

import numpy as np
from numpy import float64, int32, int64, uint32, uint64

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
def concentrate(items: int32, at, reach, sums):
    """Count more listings of items, and update the sums that coverage and Gini's index need.

    Parameters
    ----------
    items : int32
        The items at a rank; those below 0 are left out.
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
    for item in items:
        if item >= 0:
            m = uint64(at[uint32(item)] + 1)  # unsigned: no check for negative indices
            at[uint32(item)] = m
            here = reach[m]
            reach[m] = here + 1
            reached += here
            levels += int64(m)
            n += 1
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


@kernel
def mean_cosine(codes: int64, offsets: int64, lengths: int64, units: float64, single, out):
    """Fill `out` (users, K) with the mean of 1 - cosine over pairs of the first k items.

    `units` (n_items, d) are vectors of length 1 or 0. The cosines of an item with all items before
    it are one product, with the sum of their vectors. Codes below 0 are left out; `single` is the
    value of a list of one item; without items it is NaN.
    """
    before = np.zeros(units.shape[1])
    for u in range(len(lengths)):
        begin = offsets[u] - offsets[0]
        before[:] = 0.0
        total, n = 0.0, 0
        for r in range(out.shape[1]):
            if r < lengths[u] and codes[begin + r] >= 0:
                unit = units[codes[begin + r]]
                alike = 0.0
                for f in range(len(before)):
                    alike += before[f] * unit[f]
                    before[f] += unit[f]
                total += n - alike
                n += 1
            out[u, r] = mean_of_pairs(total, n, single)


@kernel
def mean_distance(
    codes: int64, offsets: int64, lengths: int64,
    numbers: float64, sets: uint64, kind, n_items, single, out,
):  # fmt: skip
    """Fill `out` (users, K) with the mean distance over pairs of the first k items.

    Parameters
    ----------
    numbers, sets
        Features (n_items, d), distances (n_items, n_items), or sets of labels as bits (n_items,
        words).
    kind : int
        0: the number of features that differ; 1: their Euclidean distance; 2: that of `numbers`;
        3: 1 - Jaccard's index of `sets`, where two items without labels are unlike.
    n_items : int
        As an index it is an unknown item: NaN from there on.
    """
    kept = np.empty(out.shape[1], int64)
    for u in range(len(lengths)):
        begin = offsets[u] - offsets[0]
        total, n = 0.0, 0
        for r in range(out.shape[1]):
            if r < lengths[u] and codes[begin + r] >= 0:
                kept[n] = codes[begin + r]
                if kept[n] == n_items:
                    total = np.nan
                for other in range(n if total == total else 0):
                    if kind == 3:
                        total += _jaccard(sets[kept[n]], sets[kept[other]])
                    elif kind == 2:
                        total += numbers[kept[n], kept[other]]
                    else:
                        total += _distance(numbers[kept[n]], numbers[kept[other]], kind == 0)
                n += 1
            out[u, r] = mean_of_pairs(total, n, single)


@kernel
def _distance(a, b, hamming):
    total = 0.0
    for f in range(len(a)):
        apart = a[f] - b[f]
        total += float64(apart != 0) if hamming else apart * apart
    return total if hamming else np.sqrt(total)


@kernel
def _jaccard(a, b):
    both, either = 0, 0
    for word in range(len(a)):
        both += _ones(a[word] & b[word])
        either += _ones(a[word] | b[word])
    return 1.0 - both / either if either > 0 else 1.0


@kernel
def _ones(word):
    """Count the bits that are set (Wilkes, Wheeler, Gill 1957)."""
    word -= (word >> uint64(1)) & uint64(0x5555555555555555)
    word = (word & uint64(0x3333333333333333)) + ((word >> uint64(2)) & uint64(0x3333333333333333))
    word = (word + (word >> uint64(4))) & uint64(0x0F0F0F0F0F0F0F0F)
    return int64((word * uint64(0x0101010101010101)) >> uint64(56))


@kernel
def mean_of_pairs(total, n, single):
    """Return the mean of a total over the pairs of n items; `single` of one item, NaN of none."""
    if n > 1:
        return 0.0 if total < 0 else total / (n * (n - 1) / 2)
    return single if n == 1 else np.nan


@kernel
def means(codes: int64, offsets: int64, lengths: int64, values: float64, weights: float64, out):
    """Fill `out` (users, K) with the mean value of the first k items of each list, by rank weights.

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


@kernel
def moments(values: float64, users, mean, deviation):
    """Compute number, mean and sum of squared deviations over users at every k, without NaN.

    Parameters
    ----------
    values : float64 (users, K)
    users : int64 (K,), 0; written
        How many users have a value.
    mean, deviation : float64 (K,), 0; written
        Their mean (NaN of none), and the sum of squared deviations from it.
    """
    # without branches, so that several k's are added up at once: 0.4 ns per value, not 1.0
    for u in range(len(values)):
        for k in range(len(users)):
            value = values[u, k]
            there = value == value
            users[k] += there
            mean[k] += value if there else 0.0
    for k in range(len(users)):
        mean[k] = mean[k] / users[k] if users[k] else np.nan
    for u in range(len(values)):
        for k in range(len(users)):
            apart = values[u, k] - mean[k]
            deviation[k] += apart * apart if apart == apart else 0.0


@kernel
def count_shared(
    codes_a: int64, starts_a: int64, lengths_a: int64,
    codes_b: int64, starts_b: int64, lengths_b: int64,
    seen, shared, union,
):  # fmt: skip
    """Count the items in both lists, and in any of them, among the first d of each.

    Parameters
    ----------
    codes_a, starts_a, lengths_a : int64
        Items as indices, below 0 where a place does not count; user u's list in `a` is the
        `lengths_a[u]` codes from `starts_a[u]` on, in which no index is twice.
    codes_b, starts_b, lengths_b : int64
        The same of `b`.
    seen : int32 (n_items,), -1; written
        The last user who has the item in a list.
    shared, union : int32 (users, K), written
        How many items are in both lists, and in any.

    Notes
    -----
    A list holds an item once, so an item that this user had before is in the other list.
    """
    for u in range(len(starts_a)):
        both, n = 0, 0
        for d in range(shared.shape[1]):
            for side in range(2):
                if side == 0:
                    code = codes_a[starts_a[u] + d] if d < lengths_a[u] else -1
                else:
                    code = codes_b[starts_b[u] + d] if d < lengths_b[u] else -1
                if code >= 0:
                    if seen[code] == u:
                        both += 1
                    else:
                        seen[code] = u
                        n += 1
            shared[u, d] = both
            union[u, d] = n


@kernel
def extrapolated(shared: int32, short: int64, long: int64, powers: float64, p, out):
    """Fill `out` (users, K) with RBO_ext of the lists cut at every depth, NaN of two empty lists.

    Parameters
    ----------
    shared : int32 (users, K)
        Items in both lists among the first d of each.
    short, long : int64 (users,)
        Length of the shorter and of the longer list.
    powers : float64
        p^0, p^1, ..., p^K.

    Notes
    -----
    Divided by the sum of the weights, which is 1, added up in the same order: two equal lists
    give exactly 1.
    """
    for u in range(len(short)):
        above, below, value = 0.0, 0.0, np.nan
        at_end = shared[u, short[u] - 1] if 0 < short[u] <= out.shape[1] else 0
        for d in range(1, out.shape[1] + 1):
            if d <= long[u]:
                items = float64(shared[u, d - 1])
                if d > short[u] > 0:  # the shorter list goes on as it was down to its end
                    items += at_end * (d - short[u]) / short[u]
                weight = (1 - p) * powers[d - 1]
                above += weight * (items / d)
                below += weight
                value = (above + powers[d] * (items / d)) / (below + powers[d])
            out[u, d - 1] = value


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
    # in turn, at every rank, what is added up
    own, found, x = np.empty(n_found), np.empty(n_found), np.empty(depth * n_found)
    scale, others, odd, even = np.empty((4, depth))
    high, low = np.empty(depth), np.empty(depth)
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
            scale[r] = 1.0 / total if total > 0 else 0.0
            others[r] = other * scale[r]
            for j in range(n):
                x[j * end + r] = found[j]
        rest = 0.0  # labels of the history that are not in the list
        for at in range(n_mine):
            rest += p[mine[at]] if slot[mine[at]] < 0 else 0.0
            p[mine[at]], slot[mine[at]] = 0.0, -1
        odd[:], even[:] = 0.0, 0.0
        for j in range(n):
            q, sums = x[j * end : j * end + end], odd if j % 2 and not hellinger else even
            if hellinger:
                for r in range(end):
                    apart = np.sqrt(own[j]) - np.sqrt(q[r] * scale[r])
                    sums[r] += apart * apart
            else:
                for r in range(end):
                    q[r] = alpha + (1 - alpha) / own[j] * (q[r] * scale[r])
                _logarithms(q, high, low)
                for r in range(end):
                    sums[r] += own[j] * q[r]
        value = np.nan
        for r in range(depth):
            if r < end and r >= known and n_mine > 0:
                value = even[r] + odd[r]
                if hellinger:
                    value = np.sqrt((value + rest + others[r]) / 2)
                else:
                    value = max(-rest * np.log(alpha) - value, 0.0)
            out[u, r] = value


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
