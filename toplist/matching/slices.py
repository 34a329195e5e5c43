"""Hits of other ground truths: of a slice of the items, or with holes of the judgements filled.

The ground truth of a slice are the items of its label. Lists stay as they are, and so do ranks. A
slice has the users with a relevant item of the label. Holes are listed items that nobody judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from toplist import kernels, parallel
from toplist.checks import Floats, Ints
from toplist.inputs.factorize import Column
from toplist.inputs.facts import ItemLabels
from toplist.inputs.ids import two_kinds
from toplist.inputs.lists import offsets_of
from toplist.inputs.texts import hashes_of
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
    label_of, names = labels.slices(order)
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
    known = used[:-1]  # without the place of all other items
    if labels.ids and not known.any() and (example := items.example()) is not None:
        labelled = labels.ids[0]
        one, other = f"{labelled!r} in labels", f"{example!r} in ground_truths"
        if isinstance(labelled, str) != isinstance(example, str):
            raise two_kinds("ids", one, other, "convert the items of labels")
        raise ValueError(f"no relevant item has a label: there is {one}, and {other}")
    begins = np.stack([offsets_of(some) for some in counts.reshape(3, -1)])
    n_users, n_items, n_hits = begins[:, -1].tolist()
    users, n_truth = np.zeros((2, n_users), np.int64)
    n_hits_of = np.zeros(n_users, np.int32)
    judged = np.empty(n_items if graded else 0, np.int64)  # items, as places
    places = np.empty(n_hits, np.int64)

    def fill(lo: int, hi: int) -> None:
        at = begins[:, blocks.index((lo, hi)) : -1 : len(blocks)].copy()
        numbers = users, n_truth, n_hits_of, judged, places
        kernels.truths.fill_slices(*block(lo, hi), lo, *at, *numbers)

    parallel.each(fill, blocks, None)
    bounds = begins[:, :: len(blocks)]
    ranks, of_hits, best = hits.ranks.take(places), None, None
    if graded and hits.grades is not None:
        of_hits, best = hits.grades[places], np.empty(n_items)
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
    return {names[at]: partial(part, at) for at in some}, int(np.count_nonzero(~known))


def filled(hits: Hits, users: Ints, ranks: Ints) -> Hits:
    """Return the hits if some holes were relevant: unjudged items at ranks of users (rows).

    Each gains as much as the best item of all ground truths, 1 without grades. R and the ideal grow
    by these items.

    Examples
    --------
    >>> from toplist import match
    >>> hits = match(["x", "a", "b", "y"], {"a": 2, "b": 0})
    >>> best = filled(hits, *holes(hits, 3)).relevant
    >>> best.ranks.tolist(), best.gains.tolist(), best.n_relevant.tolist()
    ([1, 2], [2.0, 2.0], [2])
    """
    least, table = hits.grading.relevant_from, hits.grading.table
    grade = hits.largest_grade  # and at least one that is relevant
    if grade <= 0 or grade < (least or 0.0):
        grade = max(least or 0.0, 1.0) if table is None else float(table[0][-1])
    n_more = np.bincount(users, minlength=len(hits))
    rows = np.arange(len(hits))
    known = np.repeat(rows, np.diff(hits.offsets))
    deepest = max(hits.ranks.max(initial=0), ranks.max(initial=0))
    places = (known * (deepest + 1) + hits.ranks, users * (deepest + 1) + ranks)
    order = np.argsort(np.concatenate(places), kind="stable")  # which merges rows that are sorted
    graded: dict[str, Floats] = {}
    if hits.grades is not None or grade != 1:
        grades, best = hits.all_grades()
        more = np.full(len(users), grade)
        whose = np.append(users, np.repeat(rows, hits.n_truth))
        graded["grades"] = np.append(grades, more)[order]
        graded["truth_grades"] = np.append(more, best)[np.argsort(whose, kind="stable")]
    return hits.of_part(
        offsets=hits.offsets + offsets_of(n_more),
        ranks=np.append(hits.ranks, ranks)[order].astype(np.int32),
        n_truth=hits.n_truth + n_more,
        items=None,
        **graded,
    )


def holes(hits: Hits, k: int) -> tuple[Ints, Ints]:
    """Return the users (rows) and ranks, down to k, of the listed items that have no grade."""
    depths = np.minimum(hits.n_listed, k)
    starts = offsets_of(depths)
    is_hole = np.ones(starts[-1], bool)
    users = np.repeat(np.arange(len(hits)), np.diff(hits.offsets))
    near = hits.ranks <= depths[users]
    is_hole[starts[users[near]] + hits.ranks[near] - 1] = False
    places = np.flatnonzero(is_hole)
    users = np.repeat(np.arange(len(hits)), depths)[places]
    return users, places - starts[users] + 1
