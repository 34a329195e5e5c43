"""Predicted values: pairs won by positives, of all rows or per user, and sums of losses."""

import numpy as np
from numpy import bool_, float64, int64

from toplist.kernels import kernel

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
