"""Hits split by an attribute of items: the ground truth of a slice are the items of its label.

Lists stay as they are, and so do ranks. A slice has the users with a relevant item of the label.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from toplist import kernels, parallel
from toplist.checks import Bools, Ints
from toplist.inputs.id_hashes import hashes_of
from toplist.inputs.ids import two_kinds
from toplist.inputs.item_labels import ItemLabels
from toplist.inputs.lists import offsets_of, places_of
from toplist.matching.hits import Hits, trusted

HOW = (
    "evaluate lists and ground truths; neither Hits made by hand nor saved results nor slices know "
    "their items"
)


@dataclass(frozen=True, eq=False)
class Slice:
    """The users (rows) with a relevant item of a label, and their hits of such items."""

    rows: Ints
    hits: Hits


class _Chosen(Sequence[Any]):
    """The keys of some users, looked up where they are needed."""

    def __init__(self, users: Sequence[Any], rows: Ints) -> None:
        self._users, self._rows = users, rows

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self._rows)

    def __iter__(self) -> Iterator[Any]:
        """Yield the keys."""
        return iter(self[:])

    def __getitem__(self, at: Any) -> Any:
        """Return one key, or a list of some."""
        rows = self._rows[at].tolist()
        return [self._users[row] for row in rows] if isinstance(at, slice) else self._users[rows]


def sliced(hits: Hits, labels: ItemLabels) -> tuple[dict[Any, Slice], int]:
    """Return the slice of each label that some relevant item has, and how many entries none has.

    Raises
    ------
    TypeError, ValueError
        If it is not known which item each hit is, or no relevant item has a label.
    """
    items = hits.items
    if hits.coverage is not None:
        raise ValueError("ground truths of groups are not split by item: a group has several items")
    if hits.before is not None:
        raise ValueError(
            "with unjudged items dropped, results are not split by item: in a slice, the items of "
            "all others are unjudged; evaluate with unjudged='miss'"
        )
    if items is None:
        raise ValueError(f"it is not known which items were hit: {HOW}")
    found, used = _parts(hits, labels)
    if labels.ids and not used.any() and (relevant := items.example()) is not None:
        raise _strangers(labels.ids[0], relevant)
    judged = {} if hits.judged is None else _parts(hits.judged, labels)[0]
    for label, part in found.items():
        if label in judged:
            object.__setattr__(part.hits, "judged", _beside(part, judged[label]))
    return found, int(np.count_nonzero(~used))


def _strangers(labelled: Any, relevant: Any) -> Exception:
    """Return the error of labels that no relevant item has."""
    one, other = f"{labelled!r} in labels", f"{relevant!r} in ground_truths"
    if isinstance(labelled, str) != isinstance(relevant, str):
        return two_kinds("ids", one, other, "convert the items of labels")
    return ValueError(f"no relevant item has a label: there is {one}, and {other}")


def _beside(part: Slice, judged: Slice) -> Hits | None:
    """Return the hits of all judged items of a slice; None where they are all relevant."""
    hits = judged.hits
    if len(judged.rows) > len(part.rows):
        hits = hits.subset(np.searchsorted(judged.rows, part.rows))
    return hits if hits.n_relevant.sum() > part.hits.n_relevant.sum() else None


def _parts(hits: Hits, labels: ItemLabels) -> tuple[dict[Any, Slice], Bools]:
    """Return the slice of each label, and which entries some relevant item has."""
    items, n_labels = hits.items, len(labels.labels)
    assert items is not None
    starts, sizes = items.starts()
    entries, used = items.entries(labels), np.zeros(len(labels.codes), bool)
    used[entries] = True
    codes, counted = labels.codes[entries], items.counting()
    blocks = parallel.bounds(offsets_of(sizes), max(parallel.BLOCK, 8 * n_labels))

    def block(lo: int, hi: int) -> tuple[Any, ...]:
        own = starts[lo:hi], sizes[lo:hi], codes, counted
        return *own, hits.offsets[lo : hi + 1], items.places

    def count(lo: int, hi: int) -> Ints:
        found = np.zeros((3, n_labels), np.int64)
        kernels.slices.count(*block(lo, hi), *found)
        return found

    # where the users, items and hits of each label begin, those of each block after another
    counts = np.stack(list(parallel.run(count, blocks, None)), axis=-1)
    begins = np.stack([offsets_of(some) for some in counts.reshape(3, -1)])
    n_rows, n_items, n_hits = begins[:, -1].tolist()
    rows, sizes_of, hits_of = np.zeros((3, n_rows), np.int64)
    order, relevant = np.empty(n_hits, np.int64), np.empty(n_items if hits.graded else 0, np.int64)

    def fill(lo: int, hi: int) -> None:
        at = begins[:, blocks.index((lo, hi)) : -1 : len(blocks)].copy()
        filled = rows, sizes_of, hits_of, relevant, order
        kernels.slices.fill(*block(lo, hi), lo, *at, *filled)

    parallel.each(fill, blocks, None)
    ranks, gains, ideal = hits.ranks[order], None, None
    graded = np.zeros(n_labels, bool)
    if hits.gains is not None:
        of_truth, best = items.gains(), offsets_of(sizes_of)
        gains, ideal = hits.gains[order], np.empty(len(relevant))
        kernels.join.ideals(relevant, best, of_truth[relevant], sizes_of, ideal)
        own = slice(None) if items.rows is None else places_of(items.offsets, items.rows)
        graded[codes[own][of_truth[own] != 1]] = True
    users = range(len(hits)) if hits.users is None else hits.users
    found, bounds = {}, begins[:, :: len(blocks)]
    for at, label in enumerate(labels.labels):
        some, of_items, of_hits = (slice(*ends[at : at + 2]) for ends in bounds)
        if some.start == some.stop:
            continue
        hashes = None
        if hits.truth_hashes is not None:
            hashes = hits.truth_hashes[rows[some]]
            word = hashes_of([repr(label)]).repeat(len(hashes))
            kernels.hashing.mix_in(word, hashes)
        found[label] = Slice(
            rows[some],
            trusted(
                offsets=offsets_of(hits_of[some]),
                ranks=ranks[of_hits],
                n_relevant=sizes_of[some],
                n_listed=hits.n_listed[rows[some]],
                gains=gains[of_hits] if gains is not None and graded[at] else None,
                ideal_gains=ideal[of_items] if ideal is not None and graded[at] else None,
                k=hits.k,
                grading=hits.grading,
                users=_Chosen(users, rows[some]),
                truth_hashes=hashes,
            ),
        )
    return found, used[:-1]
