"""From scores to ranks, DCG averaged over ties, pairs won by positives; sums of losses."""

import numpy as np
from numpy import bool_, float64, generic, int64, uint64

from toplist.kernels import kernel

# Number of scores that are compared with the threshold at a time, without a branch.
STRIDE = 64


@kernel
def top_k(scores: generic, excluded: int64, offsets: int64, banned, best, out, counts):
    """Fill `out` with the columns of the k highest scores of each row, highest first.

    Of equal scores the higher column comes first; excluded columns and scores of minus infinity
    are left out.

    Parameters
    ----------
    scores : float32, float64 or int64 (n_rows, n_columns)
    excluded, offsets : int64
        Row r leaves out the columns ``excluded[offsets[r] - offsets[0] : ...]``.
    banned : uint8 (n_columns,), zeros
        Room to mark the excluded columns of a row; zeros again on return.
    best : as scores (k,)
        Room for the best scores of a row.
    out : int64 (n_rows, k), counts : int64 (n_rows,), written

    Returns
    -------
    row, column
        Of the first NaN found among the scores compared, or (-1, -1).
    """
    for r in range(len(scores)):
        row, items = scores[r], out[r]
        first, last = offsets[r] - offsets[0], offsets[r + 1] - offsets[0]
        for e in range(first, last):
            banned[excluded[e]] = 1
        n = 0
        # From the last column on: an equal score that comes later never replaces one.
        end = len(row)
        while end > 0:
            begin = max(0, end - STRIDE)
            if n == len(best):
                better = 0
                for c in range(uint64(begin), uint64(end)):
                    better += not (row[c] <= best[0])  # true for NaN, too
                if better == 0:
                    end = begin
                    continue
            for c in range(end - 1, begin - 1, -1):
                score = row[c]
                if score != score:
                    return r, c
                if banned[c] or score == -np.inf:
                    continue
                if n < len(best):
                    n = _push(best, items, n, score, c)
                elif score > best[0]:
                    _replace_worst(best, items, n, score, c)
            end = begin
        counts[r] = n
        _sort_heap(best, items, n)
        for e in range(first, last):
            banned[excluded[e]] = 0
    return -1, -1


@kernel
def _worse(score, item, other, other_item):
    return score < other or (score == other and item < other_item)


@kernel
def _push(best, items, n, score, item):
    """Add to a heap with the worst on top; return its size."""
    at = n
    while at > 0:
        parent = (at - 1) // 2
        if not _worse(score, item, best[parent], items[parent]):
            break
        best[at], items[at] = best[parent], items[parent]
        at = parent
    best[at], items[at] = score, item
    return n + 1


@kernel
def _replace_worst(best, items, n, score, item):
    """Put an item in place of the worst of a heap of n."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= n:
            break
        right = child + 1
        if right < n and _worse(best[right], items[right], best[child], items[child]):
            child = right
        if not _worse(best[child], items[child], score, item):
            break
        best[at], items[at] = best[child], items[child]
        at = child
    best[at], items[at] = score, item


@kernel
def _sort_heap(best, items, n):
    """Order a heap, best first."""
    for size in range(n - 1, 0, -1):
        score, item = best[0], items[0]
        last, last_item = best[size], items[size]
        _replace_worst(best, items, size, last, last_item)
        best[size], items[size] = score, item


@kernel
def discounted_gains(scores: generic, gains: float64, discount: float64, average, out):
    """Fill `out` (n_rows, K) with the DCG at every k of items ranked by score.

    Scores are float64 or int64. Tied items share their mean gain with `average` (McSherry and
    Najork 2008, equation 5); otherwise the higher column comes first.

    Returns
    -------
    row, column
        Of the first NaN among the scores, or (-1, -1).
    """
    n_columns = scores.shape[1]
    depth = out.shape[1]
    for r in range(len(scores)):
        row = scores[r]
        for c in range(n_columns):
            if row[c] != row[c]:
                return r, c
        order = np.argsort(row, kind="mergesort")
        total = 0.0
        begin = 0
        while begin < depth:
            score = row[order[n_columns - 1 - begin]]
            end = begin + 1
            shared = gains[r, order[n_columns - 1 - begin]]
            while average and end < n_columns and row[order[n_columns - 1 - end]] == score:
                shared += gains[r, order[n_columns - 1 - end]]
                end += 1
            shared /= end - begin
            for place in range(begin, min(end, depth)):
                total += shared / discount[place]
                out[r, place] = total
            begin = end
    return -1, -1


@kernel
def place(
    scores: generic, held: int64, excluded: int64, offsets: int64, banned, above, tied, tied_before
):
    """Count the items above the held-out item of each row, and those tied with it.

    Parameters
    ----------
    scores : float32, float64 or int64 (n_rows, n_columns)
    held : int64 (n_rows,)
        The column of each row's item.
    excluded, offsets : int64
        Row r leaves out the columns ``excluded[offsets[r] - offsets[0] : ...]``.
    banned : uint8 (n_columns,), zeros
        Room to mark the excluded columns of a row; zeros again on return.
    above, tied, tied_before : int64 (n_rows,), written
        Items with a higher score; with the same; and of these, in a higher column. `above` is -1
        where the item itself is excluded, or scored minus infinity.

    Returns
    -------
    row, column
        Of the first NaN, or (-1, -1).
    """
    for r in range(len(scores)):
        row, column = scores[r], held[r]
        score = row[column]
        higher, equal, later, unordered = 0, 0, 0, 0
        for c in range(uint64(len(row))):
            higher += row[c] > score
            equal += row[c] == score
            unordered += row[c] != row[c]
        for c in range(uint64(column + 1), uint64(len(row))):
            later += row[c] == score
        if unordered:
            for c in range(len(row)):
                if row[c] != row[c]:
                    return r, c
        first, last = offsets[r] - offsets[0], offsets[r + 1] - offsets[0]
        for e in range(first, last):
            c = excluded[e]
            if not banned[c]:
                banned[c] = 1
                higher -= row[c] > score
                equal -= row[c] == score
                later -= c > column and row[c] == score
        listed = not banned[column] and score > -np.inf
        above[r], tied[r], tied_before[r] = higher if listed else -1, equal - 1, later
        for e in range(first, last):
            banned[excluded[e]] = 0
    return -1, -1


# What `loss` adds up.
LOG, ABSOLUTE, SQUARED = 0, 1, 2


@kernel
def wins(positives: float64, negatives: float64):
    """Return twice the pairs in which the positive is above, ties counting half; both sorted."""
    twice, below, up_to = 0, 0, 0
    for value in positives:
        while below < len(negatives) and negatives[below] < value:
            below += 1
        while up_to < len(negatives) and negatives[up_to] <= value:
            up_to += 1
        twice += below + up_to
    return twice


_wins = wins.compiled  # what a kernel calls


@kernel
def weighted_wins(
    positives: float64, weights: float64, negatives: float64, negative_weights: float64
):
    """Return twice the weight of the pairs in which the positive is above; both sorted."""
    twice, below, up_to, lighter, not_heavier = 0.0, 0, 0, 0.0, 0.0
    for i in range(len(positives)):
        while below < len(negatives) and negatives[below] < positives[i]:
            lighter += negative_weights[below]
            below += 1
        while up_to < len(negatives) and negatives[up_to] <= positives[i]:
            not_heavier += negative_weights[up_to]
            up_to += 1
        twice += weights[i] * (lighter + not_heavier)
    return twice


@kernel
def place_by_label(rows: int64, positive: bool_, predictions: float64, front, back, out):
    """Put the predictions of each user's positives from `front` on, of negatives before `back`.

    `front` holds where a user's places start, `back` where they end; on return, both where the
    negatives start.
    """
    for i in range(len(rows)):
        row = rows[i]
        if positive[i]:
            out[front[row]] = predictions[i]
            front[row] += 1
        else:
            back[row] -= 1
            out[back[row]] = predictions[i]


@kernel
def wins_by_user(offsets: int64, negatives: int64, predictions, twice):
    """Fill `twice` with the `wins` of each user of a block; sorts their predictions.

    `negatives` holds where the negatives of each user start; all positions count from
    ``offsets[0]``.
    """
    for u in range(len(twice)):
        start, end = offsets[u] - offsets[0], offsets[u + 1] - offsets[0]
        middle = negatives[u] - offsets[0]
        if start < middle < end:
            above, below = predictions[start:middle], predictions[middle:end]
            above.sort()
            below.sort()
            twice[u] = _wins(above, below)


@kernel
def loss(kind, labels: float64, predictions: float64, weights: float64, clip):
    """Return the sum of the losses of all rows, and of their weights (none: 1 each).

    Added up in two floats: the second holds what the first has rounded off, so that the order of
    the rows does not matter.
    """
    total, rest, weight, weight_rest = 0.0, 0.0, 0.0, 0.0
    for i in range(len(labels)):
        if kind == LOG:
            p = min(max(predictions[i], clip), 1.0 - clip)
            x = -np.log(p) if labels[i] > 0 else -np.log1p(-p)
        elif kind == ABSOLUTE:
            x = abs(predictions[i] - labels[i])
        else:
            x = (predictions[i] - labels[i]) ** 2
        w = 1.0
        if len(weights):
            w = weights[i]
            x *= w
        total, rest = _add(total, rest, x)
        weight, weight_rest = _add(weight, weight_rest, w)
    # with an infinite loss the rest is NaN
    return (total if np.isinf(total) else total + rest), weight + weight_rest


@kernel
def _add(total, rest, x):
    """Add x, keeping what is rounded off (Knuth, TAOCP 2, 4.2.2)."""
    added = total + x
    back = added - total
    return added, rest + (total - (added - back)) + (x - back)
