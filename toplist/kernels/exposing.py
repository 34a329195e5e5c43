"""How often items are listed: counts of every item at every rank, and what follows at every k."""

import numpy as np

from toplist.kernels import kernel


@kernel
def count_at_ranks(codes, offsets, lengths, first, counts, items, n_distinct):
    """Count the items that stand at the ranks from position `first` on, one row per rank.

    Parameters
    ----------
    codes : int64
        Indices of the catalogue; below 0 left out.
    counts : int32 (ranks, n_items), 0; written
        How often an item stands at a rank.
    items : int32 (ranks, as many as can differ, + 1), written
        The distinct items at a rank, as they first appear.
    n_distinct : int64 (ranks,), 0; written
        How many these are.
    """
    for u in range(len(lengths)):
        last = min(lengths[u] - first, len(counts))
        for r in range(last):
            code = codes[offsets[u] + first + r]
            if code >= 0:
                n = counts[r, code]
                counts[r, code] = n + 1
                items[r, n_distinct[r]] = code
                n_distinct[r] += n == 0


@kernel
def concentrate(starts, items, counts, at, reach, covered, squares, spread, entropy):
    """Follow how often each item is listed as k grows; fill what coverage, Gini, entropy need.

    Parameters
    ----------
    starts : int64 (K + 1,)
        Where the (item, count) pairs of each rank start.
    items, counts : int32
        The items at each rank, and how often they stand there.
    at : int64 (n_items,), 0; written
        How often an item is listed at ranks up to k.
    reach : int64 (largest count + 2,), 0; written
        How many items are listed at least m times.
    covered, squares, spread : int64 (K,), written
        reach[1]; the sum over m of reach[m]^2; the sum over items of at^2.
    entropy : float64 (K,), written
        In nats.

    Notes
    -----
    One more listing of an item moves it from c to c + 1, and so changes reach[c + 1] alone. With
    T listings in all and x the items' counts, the sum of |x_i - x_j| over pairs of items is
    n T - sum of reach[m]^2, so that Gini's index needs neither a sort nor a float.
    """
    covering, squared, spreading, total = 0, 0, 0, 0
    for k in range(len(covered)):
        for i in range(starts[k], starts[k + 1]):
            before = at[items[i]]
            after = before + counts[i]
            at[items[i]] = after
            total += counts[i]
            spreading += after * after - before * before
            covering += before == 0
            for m in range(before + 1, after + 1):
                squared += 2 * reach[m] + 1
                reach[m] += 1
        covered[k], squares[k], spread[k] = covering, squared, spreading
        entropy[k] = _entropy(reach, total)


@kernel
def _entropy(reach, total):
    """Return the entropy of the counts whose numbers of items `reach` holds.

    `reach` never rises, and it falls at the counts that occur: a search that doubles its steps
    finds them, so that the cost is of the few counts that occur, not of the largest.
    """
    found = 0.0
    m = 1
    while m < len(reach) and reach[m] > 0:
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
        share = low / total
        found -= (reach[m] - reach[low + 1]) * share * np.log(share)
        m = low + 1
    return found
