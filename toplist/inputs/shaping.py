"""What becomes of lists before they are joined: lists again, cut, without padding or copies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from toplist import kernels, parallel
from toplist.checks import Ints
from toplist.inputs.flatten import Flat
from toplist.inputs.ids import padding_code
from toplist.inputs.lists import Lists, offsets_of
from toplist.inputs.options import Joining


def shaped(lists: Flat, k: int | None, joining: Joining) -> Flat:
    """Return ranked lists cut at k, without padding at their ends, and without later copies.

    Lists that collapse are cut when they are rid of repeats, which takes ids or codes: two texts
    may have one hash. (What ``joining.items_as`` maps is mapped already, and without padding.)
    """
    collapses, mapped = joining.collapses, joining.items_as is not None
    if k is not None and not collapses:
        lists = lists.cut(k)
    lists = lists if mapped else unpadded(lists, joining.padding)
    if not collapses:
        return lists
    lists = collapsed(lists, joining.n_threads, own=mapped)
    return lists if k is None else lists.cut(k)


def unpadded(lists: Flat, padding: Any) -> Flat:
    """Return lists of integers, or codes, without the padding at their ends; None is no padding.

    Raises
    ------
    TypeError
        For padding that is no id of their kind.
    ValueError
        For padding before a real id.
    """
    if padding is None or not lists.lengths.any():
        return lists
    code = padding_code(padding, lists)
    if code is None:
        return lists
    lengths, user, place = kernels.join.trim(lists.ids, lists.offsets, lists.lengths, code)
    if user >= 0:
        error = ValueError(
            f"{lists.side}: {lists.name_user(user)} has padding at rank {place + 1}, "
            "before a real id: padding is only dropped from the end"
        )
        raise lists.about(error, user)
    return replace(lists, lengths=lengths)


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
    ids = flat.ids
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
    return replace(flat, ids=out, lengths=n_kept)


def compact(flat: Flat) -> Lists:
    """Close the gaps that padding left."""
    if flat.lengths.sum() == len(flat.ids):
        return Lists(flat.offsets, flat.ids, flat.grades)
    offsets = offsets_of(flat.lengths)
    kept = np.arange(offsets[-1]) + np.repeat(flat.offsets[:-1] - offsets[:-1], flat.lengths)
    return Lists(offsets, flat.ids[kept], None if flat.grades is None else flat.grades[kept])
