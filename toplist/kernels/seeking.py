"""The join of leave-one-out: one relevant id per user needs one comparison per listed id."""

import numpy as np

from toplist.kernels import kernel
from toplist.kernels.join import _repeats


@kernel
def seek(
    items, offsets, lengths, truths, truth_offsets, distinct, tables, ranks, n_hits, n_relevant
):
    """Fill `ranks`, `n_hits` and `n_relevant` as `joining.join` does.

    Parameters
    ----------
    items, offsets, lengths, truths, truth_offsets : int64 arrays
        As in `joining.join`; a truth holds one id, or none.
    distinct : bool
        Whether to make sure that no list holds an id twice.
    tables : tuple from `joining.tables_for`
    ranks : int32 array, written
        Room for one rank per user; the hits stand first, one user after another.
    n_hits, n_relevant : int64 arrays, written

    Returns
    -------
    int
        The first user whose list holds an id twice, or -1.

    Notes
    -----
    The comparison has no branch, so that it runs at the speed of reading: 0.3 ns per id on one
    thread, a fifth of the general join. The check for repeats takes 1.0 more.
    """
    suspects, hashes, places, table = tables[4:]
    total = 0
    for u in range(len(lengths)):
        begin = offsets[u] - offsets[0]
        listed = items[begin : begin + lengths[u]]
        if distinct and _repeats(listed, hashes, places, suspects, table):
            return u
        n_relevant[u] = truth_offsets[u + 1] - truth_offsets[u]
        n_hits[u] = 0
        if n_relevant[u]:
            ranks[total] = _first(listed, truths[truth_offsets[u] - truth_offsets[0]])
            n_hits[u] = ranks[total] > 0
            total += n_hits[u]
    return -1


@kernel
def _first(listed, item):
    """Return the rank of the first copy of `item`, or 0."""
    n = np.int32(len(listed))
    first = n
    for i in range(n):
        first = min(first, i if listed[i] == item else n)
    return np.int32(0) if first == n else np.int32(first + 1)
