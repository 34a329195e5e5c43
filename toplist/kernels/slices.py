"""Hits split by the label of their item: one pass counts, one fills, whatever the number of labels.

Each label has its users, those with a relevant item of the label, one after another. (Places are
unsigned: numba would look for negative ones, which took three times as long.)
"""

import numpy as np
from numpy import int32, int64, uint8, uint64

from toplist.kernels import kernel


@kernel
def count(
    starts: int64, sizes: int64, labels, counted: uint8, relevant: uint8, offsets: int64,
    places: int32, label_of: int32, used, n_rows, n_items, n_hits,
):  # fmt: skip
    """Count users, items of their truths and hits of each label, of a block of users.

    Parameters
    ----------
    starts, sizes : (n_users,)
        Where the items of each user's truth begin, and how many they are.
    labels : (n_items,), written
        The entry of each of these items, -1 for none; then its label.
    counted, relevant : (n_items,)
        Whether it counts, as one that is there twice does once; whether it is relevant, and empty
        where all are. A label has the users with a relevant item of it.
    offsets, places : (n_users + 1,), (n_hits,)
        Where the hits of each user begin; which item of the user's truth each is.
    label_of : (n_entries + 1,)
        The label of each entry; the last is that of items without.
    used : bool (n_entries + 1,), written
        Which entries some relevant item has.
    n_rows, n_items, n_hits : int64 (n_labels,), written
    """
    last, held = np.full(len(n_rows), -1), np.full(len(n_rows), -1)
    all_relevant = len(relevant) == 0
    for u in range(len(starts)):
        first = uint64(starts[u])
        end = first + uint64(sizes[u])
        if not all_relevant:
            for t in range(first, end):
                if relevant[t]:
                    held[label_of[labels[t] if labels[t] >= 0 else len(used) - 1]] = u
        for t in range(first, end):
            entry = uint64(labels[t]) if labels[t] >= 0 else uint64(len(used) - 1)
            labels[t] = label_of[entry]
            label = uint64(labels[t])
            if all_relevant or held[label] == u:
                used[entry] |= all_relevant or relevant[t]
                n_items[label] += counted[t]
                n_rows[label] += last[label] != u
                last[label] = u
        for h in range(uint64(offsets[u]), uint64(offsets[u + 1])):
            label = uint64(labels[first + uint64(places[h])])
            n_hits[label] += last[label] == u


@kernel
def fill(
    starts: int64, sizes: int64, labels: int32, counted: uint8, relevant: uint8, offsets: int64,
    places: int32, user, row, item, hit, rows, n_truth, n_hits, items, hits,
):  # fmt: skip
    """Fill the parts of a block of users in the arrays of all labels.

    Parameters
    ----------
    starts, sizes, labels, counted, relevant, offsets, places
        As in `count`.
    user : int
        The number of the first user.
    row, item, hit : int64 (n_labels,), written
        Where the users, items and hits of each label begin, in this block.
    rows, n_truth, n_hits : int64, int64, int32, written
        The users of each label, and how many items and hits each has: 0 so far.
    items, hits : int64, written
        Of each label the items that count, and the hits, as places; `items` may be empty.
    """
    last, held = np.full(len(row), -1), np.full(len(row), -1)
    all_relevant = len(relevant) == 0
    for u in range(len(starts)):
        first = uint64(starts[u])
        end = first + uint64(sizes[u])
        if not all_relevant:
            for t in range(first, end):
                if relevant[t]:
                    held[labels[t]] = u
        for t in range(first, end):
            label = uint64(labels[t])
            if all_relevant or held[label] == u:
                row[label] += last[label] != u  # it is the row after this one, then
                last[label] = u
                at = uint64(row[label] - 1)
                rows[at] = user + u
                n_truth[at] += counted[t]
                if len(items) and counted[t]:
                    items[uint64(item[label])] = t
                    item[label] += 1
        for h in range(uint64(offsets[u]), uint64(offsets[u + 1])):
            label = uint64(labels[first + uint64(places[h])])
            if last[label] == u:
                n_hits[uint64(row[label] - 1)] += 1
                hits[uint64(hit[label])] = h
                hit[label] += 1
