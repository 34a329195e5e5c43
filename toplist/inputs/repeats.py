"""Lists without repeats: later copies of an id leave, and ranks close up."""

from dataclasses import replace

import numpy as np

from toplist import kernels, parallel
from toplist.checks import Ints
from toplist.inputs.flatten import Flat


def collapsed(flat: Flat, n_threads: int | None, *, own: bool = False) -> Flat:
    """Return lists of integers, or codes, that hold each id once: its first place counts.

    `own` says that nobody else has the ids, which are written then.

    Examples
    --------
    >>> from toplist.inputs.flatten import flatten
    >>> lists = collapsed(flatten(np.array([[7, 7, 5, 7], [1, 2, 3, 4]]), None, "ranks"), 1)
    >>> list(lists.rows)
    [[7, 5], [1, 2, 3, 4]]
    """
    wide = flat.ids.dtype == np.uint64
    ids = flat.ids.view(np.int64) if wide else flat.ids
    n_kept, bounds = np.empty(len(flat.lengths), np.int64), parallel.bounds(flat.offsets)
    nothing = np.empty(0, np.int64)

    def collapse(out: Ints, lo: int, hi: int) -> None:
        starts, part = flat.offsets[lo : hi + 1], slice(flat.offsets[lo], flat.offsets[hi])
        rows = ids[part], starts, flat.lengths[lo:hi]
        kernels.repeats.collapse(*rows, out[part], n_kept[lo:hi], out is ids)

    if not own:  # most lists have no repeats, and need no copy: the first block often tells
        collapse(nothing, *bounds[0])
        first = slice(*bounds[0])
        if np.array_equal(n_kept[first], flat.lengths[first]):
            parallel.each(lambda lo, hi: collapse(nothing, lo, hi), bounds[1:], n_threads)
            if np.array_equal(n_kept, flat.lengths):
                return flat
    out = ids if own else np.empty(len(ids), np.int64)
    parallel.each(lambda lo, hi: collapse(out, lo, hi), bounds, n_threads)
    return replace(flat, ids=out.view(np.uint64) if wide else out, lengths=n_kept)
