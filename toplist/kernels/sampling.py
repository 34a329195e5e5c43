"""Candidates drawn at random for every user, without replacement."""

import numpy as np

from toplist.kernels import kernel
from toplist.kernels.hashing import mix

# Draws per wanted item; after them the rest is drawn in one pass (`_finish`). Where few items are
# left, or few have nearly all the weight, drawing again and again would not end.
PATIENCE = 16


@kernel
def draw(
    keys: np.uint64,
    seed,
    held: np.int64,
    excluded: np.int64,
    offsets: np.int64,
    cumulative: np.float64,
    banned,
    times,
    out,
):
    """Draw items for every user, each in proportion to its weight among those not drawn yet.

    Parameters
    ----------
    keys : uint64 (n_users,)
        A key per user. Random numbers are hashes of seed, key and a counter.
    seed : uint64
    held : int64 (n_users,)
        The held-out items, never drawn.
    excluded, offsets : int64
        User u never draws ``excluded[offsets[u] - offsets[0] : ...]``.
    cumulative : float64 (n_items,)
        Weights, added up.
    banned : uint8 (n_items,), zeros
        Room to mark items; zeros again on return.
    times : float64 (n_items,)
        Room for the order of the remaining items.
    out : int64 (n_users, n), written

    Returns
    -------
    int
        The first user with fewer than n items of positive weight to draw, or -1.
    """
    n_items, n = len(cumulative), out.shape[1]
    total = cumulative[-1]
    for u in range(len(keys)):
        key = mix(seed ^ mix(keys[u]))
        first, last = offsets[u] - offsets[0], offsets[u + 1] - offsets[0]
        for e in range(first, last):
            banned[excluded[e]] = 1
        banned[held[u]] = 1
        found, counter = 0, np.uint64(0)
        while found < n and counter < np.uint64(PATIENCE * n):
            item = np.searchsorted(cumulative, _uniform(key, counter) * total, side="right")
            counter += np.uint64(1)
            if item < n_items and not banned[item]:
                banned[item] = 1
                out[u, found] = item
                found += 1
        if found < n:
            found = _finish(key, counter, cumulative, banned, times, out[u], found)
        for e in range(first, last):
            banned[excluded[e]] = 0
        banned[held[u]] = 0
        for i in range(found):
            banned[out[u, i]] = 0
        if found < n:
            return u
    return -1


@kernel
def _finish(key, counter, cumulative, banned, times, out, found):
    """Draw the rest in one pass; return the number of all items drawn.

    Every item gets an exponential waiting time with its weight as rate. In order of these times
    the items are as if drawn one by one in proportion to weight (Efraimidis and Spirakis 2006).
    """
    for item in range(len(cumulative)):
        weight = cumulative[item] - (cumulative[item - 1] if item else 0.0)
        times[item] = np.inf
        if weight > 0 and not banned[item]:
            draw = _uniform(key, counter + np.uint64(item))
            times[item] = -np.log1p(-draw) / weight
    for item in np.argsort(times, kind="mergesort"):
        if found == len(out) or times[item] == np.inf:
            break
        out[found] = item
        found += 1
    return found


@kernel
def _uniform(key, counter):
    """Return a number in [0, 1) with 53 random bits."""
    return np.float64(mix(key + counter) >> np.uint64(11)) * 2.0**-53
