"""Candidates drawn at random for every user, without replacement, and histories of users."""

import numpy as np
from numpy import float64, int64, uint64

from toplist.kernels import in_steps, kernel
from toplist.kernels.hashing import mix

# Draws per wanted item; after them the rest is drawn in one pass (`_finish`). Where few items are
# left, or few have nearly all the weight, drawing again and again would not end.
MAX_TRIES = 16
# Items looked at by `_finish` in one call: a second of work, since Ctrl-C is heard between calls.
MOST_ITEMS = 1 << 23
TINY = np.finfo(float64).tiny


@kernel
def draw(
    keys: uint64, seed, held: int64, excluded: int64, offsets: int64,
    weights: float64, cumulative: float64, banned, times, out,
):  # fmt: skip
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
    weights, cumulative : float64 (n_items,)
        Weights; and added up, all times a power of two where the sum would overflow.
    banned : uint8 (n_items,), zeros
        Room to mark items; zeros again on return.
    times : float64 (n_items,)
        Room for the order of the remaining items.
    out : int64 (n_users, n), written

    Returns
    -------
    int, bool
        The number of users who are done, fewer than all where it takes long; and whether the next
        one has fewer than n items of positive weight to draw.
    """
    n_items, n = len(cumulative), out.shape[1]
    total, looked_at = cumulative[-1], 0
    for u in range(len(keys)):
        key = mix(seed ^ mix(keys[u]))
        first, last = offsets[u] - offsets[0], offsets[u + 1] - offsets[0]
        for e in range(first, last):
            banned[excluded[e]] = 1
        banned[held[u]] = 1
        found, counter = 0, uint64(0)
        while found < n and counter < uint64(MAX_TRIES * n):
            item = np.searchsorted(cumulative, _uniform(key, counter) * total, side="right")
            counter += uint64(1)
            if item < n_items and not banned[item]:
                banned[item] = 1
                out[u, found] = item
                found += 1
        if found < n:
            found = _finish(key, counter, weights, banned, times, out[u], found)
            looked_at += n_items
        for e in range(first, last):
            banned[excluded[e]] = 0
        banned[held[u]] = 0
        for i in range(found):
            banned[out[u, i]] = 0
        if found < n:
            return u, True
        if looked_at > MOST_ITEMS:
            return u + 1, False
    return len(keys), False


@kernel
def _finish(key, counter, weights, banned, times, out, found):
    """Draw the rest in one pass; return the number of all items drawn.

    Every item gets an exponential waiting time with its weight as rate. In order of these times
    the items are as if drawn one by one in proportion to weight (Efraimidis and Spirakis 2006).
    Times too long or too short for a float64 are compared by their logarithms.
    """
    extreme = False
    for item in range(len(weights)):
        times[item] = np.inf
        if weights[item] > 0 and not banned[item]:
            times[item] = _exponential(key, counter + uint64(item)) / weights[item]
            extreme |= not TINY <= times[item] < np.inf
    for item in range(len(weights) if extreme else 0):
        if weights[item] > 0 and not banned[item]:
            time = _exponential(key, counter + uint64(item))
            times[item] = np.log(time) - np.log(weights[item])
    for item in np.argsort(times, kind="mergesort"):
        if found == len(out) or times[item] == np.inf:
            break
        out[found] = item
        found += 1
    return found


@kernel
def _exponential(key, counter):
    """Return a waiting time of rate 1."""
    return -np.log1p(-_uniform(key, counter))


@kernel
def _uniform(key, counter):
    """Return a number in [0, 1) with 53 random bits."""
    return float64(mix(key + counter) >> uint64(11)) * 2.0**-53


@in_steps
def order_ties(offsets: int64, times: int64, numbers: int64, rows):
    """Order rows of one user and one time by their numbers.

    Parameters
    ----------
    offsets : int64 (n_users + 1,)
        User u's rows are ``rows[offsets[u]:offsets[u + 1]]``, by time.
    times, numbers : int64, by row
    rows : int64, written
        Of equal numbers too, the first stays the first.
    """
    for u in range(len(offsets) - 1):
        begin = offsets[u]
        for i in range(begin + 1, offsets[u + 1] + 1):
            if i == offsets[u + 1] or times[rows[i]] != times[rows[begin]]:
                if i - begin > 1:
                    part = rows[begin:i]
                    part[:] = part[np.argsort(numbers[part], kind="mergesort")]
                begin = i


@in_steps
def occurrences(offsets: int64, items: int64, rows: int64, room, nth, later):
    """Count how often the item of a row occurs in earlier and later rows of its user.

    Parameters
    ----------
    offsets, rows : int64, as `order_ties` leaves them
    items : int64, by row
    room : int64 (n_items,), -1, written
        ``offsets[u]`` and how often user u has had the item: no user before has come further.
    nth, later : int32, by row, written
    """
    for u in range(len(offsets) - 1):
        first = offsets[u]
        for i in range(first, offsets[u + 1]):
            item = items[rows[i]]
            room[item] = max(room[item], first) + 1
            nth[rows[i]] = room[item] - first - 1
        for i in range(first, offsets[u + 1]):
            later[rows[i]] = room[items[rows[i]]] - first - 1 - nth[rows[i]]
