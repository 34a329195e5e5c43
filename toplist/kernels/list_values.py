"""Metrics of the lists themselves: values of each list, and the agreement of two sets of lists."""

import numpy as np
from numpy import float64, int32, int64, uint64

from toplist.kernels import kernel


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
def means(codes: int64, offsets: int64, lengths: int64, values: float64, out):
    """Fill `out` (users, K) with the mean value of the first k items of each list.

    Codes below 0 are left out; NaN where no item is left.
    """
    for u in range(len(lengths)):
        begin = offsets[u] - offsets[0]
        total, n = 0.0, 0
        for r in range(out.shape[1]):
            if r < lengths[u] and codes[begin + r] >= 0:
                total += values[codes[begin + r]]
                n += 1
            out[u, r] = total / n if n > 0 else np.nan


@kernel
def weighted_means(
    codes: int64, offsets: int64, lengths: int64, values: float64, weights: float64, out
):
    """As `means`, each rank with its weight: half as fast."""
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
def count(
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
