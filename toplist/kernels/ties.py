"""Lists ordered by score, equal scores by a second key."""

import numpy as np

from toplist.kernels import kernel


@kernel
def sort_by_score_and_key(offsets: np.int64, scores: np.int64, keys: np.int64, items):
    """Order every list by score, highest first; equal scores by key, lowest first.

    Items of equal score and key keep their order.
    """
    for row in range(len(offsets) - 1):
        start, end = offsets[row], offsets[row + 1]
        order = np.argsort(~scores[start:end], kind="mergesort") + start
        begin = 0
        for i in range(1, len(order) + 1):
            if i < len(order) and scores[order[i]] == scores[order[begin]]:
                continue
            if i > begin + 1:
                tied = order[begin:i].copy()
                order[begin:i] = tied[np.argsort(keys[tied], kind="mergesort")]
            begin = i
        items[start:end] = items[order]
