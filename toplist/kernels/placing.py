"""The rank of one item of each row, from the row's scores, without sorting."""

import numpy as np

from toplist.kernels import kernel


@kernel
def place(scores, held, excluded, offsets, banned, above, tied, tied_before):
    """Count the items that stand above the held-out item of each row, and those tied with it.

    Parameters
    ----------
    scores : float32 or float64 (n_rows, n_columns)
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
        for c in range(np.uint64(len(row))):
            higher += row[c] > score
            equal += row[c] == score
            unordered += row[c] != row[c]
        for c in range(np.uint64(column + 1), np.uint64(len(row))):
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
