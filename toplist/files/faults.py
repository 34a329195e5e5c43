"""Which list of a file an error is about, found by evaluating fewer and fewer of them again."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from toplist.inputs.flatten import Flat


def first_fault(n: int, fails: Callable[[int, int], bool]) -> int | None:
    """Return the first of n lists that fails, found by halves; None if none does.

    Examples
    --------
    >>> first_fault(10, lambda lo, hi: lo <= 7 < hi)
    7
    """
    lo, hi = 0, n
    if not n or not fails(lo, hi):
        return None
    while hi - lo > 1:
        middle = (lo + hi) // 2
        lo, hi = (lo, middle) if fails(lo, middle) else (middle, hi)
    return lo if fails(lo, hi) else None


def faulty_pair(
    ranked: Flat, truth: Flat, join: Callable[[slice, Flat, Flat], object]
) -> tuple[int, bool] | None:
    """Return the first user whom `join` refuses, and whether the fault is in the ranked list.

    `join` is called with some of the users and with their lists. None if nobody is refused, or
    if it refuses users without any items: then an option is wrong, not a list.
    """

    def fails(ranked: Flat, truth: Flat, lo: int, hi: int) -> bool:
        try:
            join(slice(lo, hi), _cut(ranked, lo, hi), _cut(truth, lo, hi))
        except (ValueError, TypeError):
            return True
        return False

    place = first_fault(len(ranked.lengths), lambda lo, hi: fails(ranked, truth, lo, hi))
    if place is None or fails(_emptied(ranked), _emptied(truth), place, place + 1):
        return None
    return place, fails(ranked, _emptied(truth), place, place + 1)


def _cut(flat: Flat, lo: int, hi: int) -> Flat:
    """Return the lists of some users."""
    offsets, lengths = flat.offsets[lo : hi + 1], flat.lengths[lo:hi]
    start, end = offsets[0], offsets[-1]
    grades = None if flat.grades is None else flat.grades[start:end]
    ids = flat.ids[start:end]
    return replace(flat, ids=ids, offsets=offsets - start, lengths=lengths, grades=grades)


def _emptied(flat: Flat) -> Flat:
    """Return as many lists without items."""
    none = np.zeros(len(flat.lengths), np.int64)
    grades = None if flat.grades is None else flat.grades[:0]
    offsets = np.zeros(len(none) + 1, np.int64)
    return replace(flat, ids=flat.ids[:0], offsets=offsets, lengths=none, grades=grades)
