"""Hits split by the label of their item: one pass counts, one fills, whatever the number of labels.

Each label has its users, those with a relevant item of the label, one after another. An item has an
entry of a table of labels; -1 is the last label, of items that have none.
"""

import numpy as np
from numpy import int32, int64, uint8

from toplist.kernels import kernel


@kernel
def count(
    starts: int64, sizes: int64, entries: int64, labels: int64, offsets: int64, places: int32,
    counted: uint8, n_rows, n_items, n_hits, used,
):  # fmt: skip
    """Count users, relevant items and hits of each label.

    Parameters
    ----------
    starts, sizes : (n_users,)
        Where the relevant items of each user begin, and how many they are.
    entries : (n_items,)
        The entry of each relevant item.
    labels : (n_entries + 1,)
        The label of each entry.
    offsets, places : (n_users + 1,), (n_hits,)
        Where the hits of each user begin; which of the user's relevant items each is.
    counted : (n_items,)
        Whether an item counts in R.
    n_rows, n_items, n_hits : int64 (n_labels,), written
    used : bool (n_entries + 1,), written
        Which entries some item has.
    """
    last = np.full(len(n_rows), -1)
    for u in range(len(starts)):
        for t in range(starts[u], starts[u] + sizes[u]):
            entry = entries[t]
            label = labels[entry]
            used[entry] = True
            n_items[label] += counted[t]
            n_rows[label] += last[label] != u
            last[label] = u
        for h in range(offsets[u], offsets[u + 1]):
            n_hits[labels[entries[starts[u] + places[h]]]] += 1


@kernel
def fill(
    starts: int64, sizes: int64, entries: int64, labels: int64, offsets: int64, places: int32,
    counted: uint8, row, item, hit, rows, n_relevant, n_hits, items, hits,
):  # fmt: skip
    """Fill the arrays of all labels: those of a label begin at its `row`, `item` and `hit`.

    Parameters
    ----------
    starts, sizes, entries, labels, offsets, places, counted
        As in `count`.
    row, item, hit : int64 (n_labels,), written
        Where the users, items and hits of each label begin.
    rows, n_relevant, n_hits : int64, written
        The users of each label, and how many relevant items and hits each has.
    items, hits : int64, written
        Of each label the relevant items that count, and the hits, as places; `items` may be empty.
    """
    last = np.full(len(row), -1)
    for u in range(len(starts)):
        for t in range(starts[u], starts[u] + sizes[u]):
            label = labels[entries[t]]
            if last[label] != u:
                last[label] = u
                at = row[label]
                rows[at], n_relevant[at], n_hits[at] = u, 0, 0
                row[label] += 1
            if counted[t]:
                n_relevant[row[label] - 1] += 1
                if len(items):
                    items[item[label]] = t
                    item[label] += 1
        for h in range(offsets[u], offsets[u + 1]):
            label = labels[entries[starts[u] + places[h]]]
            n_hits[row[label] - 1] += 1
            hits[hit[label]] = h
            hit[label] += 1
