"""Truths in parts: groups of which any id will do, and slices by the label of each item.

Of groups: those of each relevant item, what lists cover, the greedy ideal.
"""

from typing import Any

import numpy as np
from numpy import float64, int32, int64, uint8, uint64

from toplist.kernels import kernel
from toplist.kernels.hashing import mix

# Gains that differ by less than this share are equal: sums of powers are rounded.
EQUAL = 1.0 + 1e-12


@kernel
def number_runs(offsets: int64, labels: float64, numbers, n_groups):
    """Fill `numbers` with the group of each row, 0, 1, ... within its user; `n_groups` as well.

    Return whether the labels of each user rise; else the numbers are of no use.
    """
    for u in range(len(n_groups)):
        n = -1
        for i in range(offsets[u], offsets[u + 1]):
            if n < 0 or labels[i] != labels[i - 1]:
                if n >= 0 and labels[i] < labels[i - 1]:
                    return False
                n += 1
            numbers[i] = n
        n_groups[u] = n + 1
    return True


def by_item(
    offsets: Any, ids: Any, numbers: Any, items: Any, n_items: Any, sizes: Any, groups: Any,
    places: Any,
) -> int:  # fmt: skip
    """Fill `items` with the distinct ids of each user, `sizes` and `groups` with their groups.

    The rows of each user are by group. `places` (n_rows,) becomes the item of each row; -1 of an id
    that is in a group twice, which is in it once. Items are in the order of their first rows.
    Return their number.
    """
    whose = np.repeat(np.arange(len(n_items)), np.diff(offsets))
    order = np.lexsort((ids, whose))
    new = np.ones(len(ids), bool)
    new[1:] = (np.diff(ids[order]) != 0) | (np.diff(whose[order]) != 0)
    first = np.empty(len(ids), int64)  # the first row of the item of each row
    first[order] = order[new][np.cumsum(new) - 1]
    distinct = np.sort(order[new])
    again = order[1:][~new[1:] & (np.diff(numbers[order]) == 0)]
    places[:] = np.searchsorted(distinct, first)
    places[again] = -1
    n, kept = len(distinct), places >= 0
    items[:n] = ids[distinct]
    n_items[:] = np.bincount(whose[distinct], minlength=len(n_items))
    sizes[:n] = np.bincount(places[kept], minlength=n)
    groups[: kept.sum()] = numbers[kept][np.argsort(places[kept], kind="stable")]
    return n


@kernel
def hash_groups(
    best: int64, words: uint64, starts: int64, groups: int32, n_groups: int64, row_hashes
):
    """Fill `row_hashes` with a hash of the groups of each user, whatever their order and numbers.

    `words` are those of the relevant items; the other arrays are as in `novelty`.
    """
    sums = np.zeros(max(1, n_groups.max() if len(n_groups) else 1), uint64)
    for u in range(len(n_groups)):
        sums[: n_groups[u]] = 0
        for item in range(best[u], best[u + 1]):
            word = mix(words[item])
            for i in range(starts[item], starts[item + 1]):
                sums[groups[i]] += word
        total = uint64(0)
        for g in range(n_groups[u]):
            total += mix(mix(sums[g]))
        row_hashes[u] = mix(total)


@kernel
def first_found(
    offsets: int64, ranks: int32, items: int32, best: int64, starts: int64, groups: int32,
    n_groups: int64, found, n_found,
):  # fmt: skip
    """Fill `found` with the rank at which each group of each user is first found; return how many.

    The arrays are as in `novelty`; `n_found` is the number of groups that each user has found.
    """
    seen = np.full(max(1, groups.max() + 1 if len(groups) else 1), -1)
    n = 0
    for u in range(len(n_groups)):
        before = n
        for h in range(offsets[u], offsets[u + 1]):
            item = best[u] + items[h]
            for i in range(starts[item], starts[item + 1]):
                if seen[groups[i]] != u:
                    seen[groups[i]] = u
                    found[n] = ranks[h]
                    n += 1
        n_found[u] = n - before
    return n


@kernel
def novelty(
    offsets: int64, items: int32, best: int64, order: int64, starts: int64, groups: int32,
    kept, gains, ideal,
):  # fmt: skip
    """Fill `gains` with what each hit adds where groups are worth less each time they are found.

    Parameters
    ----------
    offsets : int64 (n_users + 1,)
        Where the hits of each user begin.
    items : int32 (n_hits,)
        Which of the user's relevant items each hit is.
    best : int64 (n_users + 1,)
        Where the relevant items of each user begin.
    order : int64 (n_items,)
        The relevant items of each user, in the order in which equally good ones are chosen.
    starts, groups : int64 (n_items + 1,), int32
        The groups of each relevant item, numbers from 0 within the user.
    kept : float
        What is left of a group's worth each time it is found, 1 - alpha.
    gains, ideal : float64 (n_hits,), (n_items,), written
        The gains of the hits; and those of the relevant items, each time the best that is left.

    Notes
    -----
    The search for the best goes from the first item that is left: one that is worth as much as the
    last one chosen ends it, since no gain ever rises; one is looked at closely only where its last
    known gain is above the best so far. So a user takes at most R^2 looks, and few where many items
    are worth alike.
    """
    most = 1
    for u in range(len(best) - 1):
        most = max(most, best[u + 1] - best[u])
    worth = np.ones(max(1, groups.max() + 1 if len(groups) else 1))
    after, bound = np.empty(most, int64), np.empty(most)
    for u in range(len(best) - 1):
        first, n_items = best[u], best[u + 1] - best[u]
        begin, end = starts[first], starts[first + n_items]
        for i in range(begin, end):
            worth[groups[i]] = 1.0
        for h in range(offsets[u], offsets[u + 1]):
            gains[h] = _found(first + items[h], starts, groups, worth, kept)
        for i in range(begin, end):
            worth[groups[i]] = 1.0
        for i in range(n_items):
            item = order[first + i]
            after[i], bound[i] = i + 1, starts[item + 1] - starts[item]
        head, last = 0, np.inf
        for place in range(n_items):
            best_one, before_it, highest = -1, -1, -1.0
            before, i = -1, head
            while i < n_items:
                if bound[i] > highest * EQUAL:
                    bound[i], item = 0.0, order[first + i]
                    for j in range(starts[item], starts[item + 1]):
                        bound[i] += worth[groups[j]]
                    if bound[i] > highest * EQUAL:
                        best_one, before_it, highest = i, before, bound[i]
                    if highest * EQUAL >= last:
                        break
                before, i = i, after[i]
            if before_it < 0:
                head = after[best_one]
            else:
                after[before_it] = after[best_one]
            last = _found(order[first + best_one], starts, groups, worth, kept)
            ideal[first + place] = last


@kernel
def _found(item, starts, groups, worth, kept):
    """Return what an item's groups are worth, and lower it."""
    gain = 0.0
    for i in range(starts[item], starts[item + 1]):
        gain += worth[groups[i]]
        worth[groups[i]] *= kept
    return gain


# Hits split by the label of their item: one pass counts, one fills, whatever the number of labels.
# Each label has its users, those with a relevant item of the label, one after another. (Places are
# unsigned: numba would look for negative ones, which took three times as long.)


@kernel
def count_slices(
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
def fill_slices(
    starts: int64, sizes: int64, labels: int32, counted: uint8, relevant: uint8, offsets: int64,
    places: int32, user, row, item, hit, rows, n_truth, n_hits, items, hits,
):  # fmt: skip
    """Fill the parts of a block of users in the arrays of all labels.

    Parameters
    ----------
    starts, sizes, labels, counted, relevant, offsets, places
        As in `count_slices`.
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
