"""Two ranked lists of each user compared: items in both at every depth, rank-biased overlap."""

import numpy as np
from numpy import float64, int32, int64

from toplist.kernels import kernel


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


@kernel
def lowest(shared: int32, long: int64, powers: float64, tails: float64, p, out):
    """Fill `out` (users, K) with RBO_min, if no item below is in both; NaN of two empty lists.

    `tails` is the sum of p^i / i over i > n, for n from 0 on.
    """
    for u in range(len(long)):
        above, value = 0.0, np.nan
        for d in range(1, out.shape[1] + 1):
            if d <= long[u]:
                items = shared[u, d - 1]
                above += (1 - p) * powers[d - 1] * (items / d)
                value = above + (1 - p) / p * items * tails[d]
            out[u, d - 1] = value


@kernel
def residual(shared: int32, short: int64, long: int64, powers: float64, tails: float64, p, out):
    """Fill `out` (users, K) with RBO_res, by how much the value may still rise above RBO_min.

    `powers` and `tails` reach to the sum of both lengths.
    """
    for u in range(len(long)):
        value = np.nan
        for d in range(1, out.shape[1] + 1):
            if d <= long[u]:
                s, n, items = min(d, short[u]), d, shared[u, d - 1]
                full = s + n - items  # from here on, all items could be in both
                value = s * (tails[s] - tails[full]) + n * (tails[n] - tails[full])
                value = (1 - p) / p * (value + items * tails[full])
                value = max(powers[s] + powers[n] - powers[full] - value, 0.0)
            out[u, d - 1] = value
