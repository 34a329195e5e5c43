"""Hits split by an attribute of items: the ground truth of a slice are the items of its label.

Lists stay as they are, and so do ranks. A slice has the users with a relevant item of the label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from toplist import kernels, parallel
from toplist.checks import Bools, Ints
from toplist.inputs.factorize import Column
from toplist.inputs.facts import ItemLabels
from toplist.inputs.ids import two_kinds
from toplist.inputs.lists import offsets_of
from toplist.inputs.texts import hashes_of
from toplist.matching.hit_items import HitItems
from toplist.matching.hits import Hits, above

HOW = (
    "evaluate lists and ground truths; neither Hits made by hand nor saved results nor slices know "
    "their items"
)


# The users (rows) with a relevant item of a label, and their hits of such items.
Slice = tuple[Ints, Hits]
Make = Callable[[], Slice]  # so that slices are made where they are used, on all cores


def sliced(
    hits: Hits, labels: ItemLabels, order: Iterable[Any] | None = None
) -> tuple[dict[Any, Make], int]:
    """Return what makes the slice of each label of relevant items, and how many entries none has.

    Raises
    ------
    TypeError, ValueError
        If it is not known which item each hit is, or no relevant item has a label.
    """
    items = hits.items
    if hits.coverage is not None:
        raise ValueError("ground truths of groups are not split by item: a group has several items")
    if hits.unjudged == "drop":
        raise ValueError(
            "with unjudged items dropped, results are not split by item: in a slice, the items of "
            "all others are unjudged; evaluate with unjudged='miss'"
        )
    if items is None:
        raise ValueError(f"it is not known which items were hit: {HOW}")
    found, used = _parts(hits, items, labels, *labels.slices(order))
    if labels.ids and not used.any() and (relevant := items.example()) is not None:
        raise _strangers(labels.ids[0], relevant)
    return found, int(np.count_nonzero(~used))


def _strangers(labelled: Any, relevant: Any) -> Exception:
    """Return the error of labels that no relevant item has."""
    one, other = f"{labelled!r} in labels", f"{relevant!r} in ground_truths"
    if isinstance(labelled, str) != isinstance(relevant, str):
        return two_kinds("ids", one, other, "convert the items of labels")
    return ValueError(f"no relevant item has a label: there is {one}, and {other}")


def _parts(
    hits: Hits, items: HitItems, labels: ItemLabels, label_of: Any, names: Sequence[Any]
) -> tuple[dict[Any, Make], Bools]:
    """Return what makes the slice of each label, and which entries some relevant item has."""
    codes, n_labels = items.entries(labels), len(names)  # entries, which become labels
    used = np.zeros(len(label_of), bool)
    (starts, sizes), counted = items.starts(), items.distinct()
    graded, relevant = hits.grades is not None, np.empty(0, bool)
    if graded:
        grades = items.grades()
        relevant = above(grades, hits.grading.relevant_from)
    blocks = parallel.bounds(offsets_of(sizes), max(parallel.BLOCK >> 2, 8 * n_labels))

    def block(lo: int, hi: int) -> tuple[Any, ...]:
        own = starts[lo:hi], sizes[lo:hi], codes, counted, relevant
        return *own, hits.offsets[lo : hi + 1], items.places

    def count(lo: int, hi: int) -> Ints:
        found = np.zeros((3, n_labels), np.int64)
        kernels.truths.count_slices(*block(lo, hi), label_of, used, *found)
        return found

    # users, items of their truths and hits by label, those of a label one after another: where
    # each block begins, of each label
    counts = np.stack(list(parallel.run(count, blocks, None)), axis=-1)
    begins = np.stack([offsets_of(some) for some in counts.reshape(3, -1)])
    n_users, n_items, n_hits = begins[:, -1].tolist()
    users, n_truth = np.zeros((2, n_users), np.int64)
    n_hits_of = np.zeros(n_users, np.int32)
    judged = np.empty(n_items if graded else 0, np.int64)  # items, as places
    order = np.empty(n_hits, np.int64)

    def fill(lo: int, hi: int) -> None:
        at = begins[:, blocks.index((lo, hi)) : -1 : len(blocks)].copy()
        numbers = users, n_truth, n_hits_of, judged, order
        kernels.truths.fill_slices(*block(lo, hi), lo, *at, *numbers)

    parallel.each(fill, blocks, None)
    bounds = begins[:, :: len(blocks)]
    ranks, of_hits, best = hits.ranks.take(order), None, None
    if graded and hits.grades is not None:
        of_hits, best = hits.grades[order], np.empty(n_items)
        kernels.join.ideals(judged, offsets_of(n_truth), grades[judged], n_truth, best)
    keys = None if hits.users is None else hits.users[:]

    def part(at: int) -> Slice:
        its_users, its_items, its_hits = (slice(*ends[at : at + 2]) for ends in bounds)
        rows = users[its_users]
        about = hits.about.subset(rows)
        for hashes in (about.truth_hashes, about.judged_hashes):
            if hashes is not None:
                kernels.hashing.mix_in(hashes_of([repr(names[at])]), hashes)
        return rows, hits.of_part(
            offsets=offsets_of(n_hits_of[its_users]),
            ranks=ranks[its_hits],
            n_truth=n_truth[its_users],
            n_listed=hits.n_listed.take(rows),
            grades=None if of_hits is None else of_hits[its_hits],
            truth_grades=None if best is None else best[its_items],
            users=Column("user_id", rows, keys),
            items=None,
            about=about,
        )

    some = np.flatnonzero(np.diff(bounds[0])).tolist()
    return {names[at]: partial(part, at) for at in some}, used[:-1]
