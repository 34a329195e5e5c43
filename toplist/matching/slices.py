"""Hits split by an attribute of items: the ground truth of a slice are the items of its label.

Lists stay as they are, and so do ranks. A slice has the users with a relevant item of the label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from toplist import kernels
from toplist.checks import Ints
from toplist.inputs.id_hashes import hashes_of
from toplist.inputs.ids import two_kinds
from toplist.inputs.item_labels import ItemLabels
from toplist.inputs.lists import offsets_of
from toplist.matching.hits import Hits, trusted

HOW = "evaluate lists and ground truths together, and take the result as it is"


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
        raise ValueError(
            f"these hits do not know their items, so they are not split by item: {HOW}"
        )
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


def _parts(hits: Hits, labels: ItemLabels) -> tuple[dict[Any, Slice], Any]:
    """Return the slice of each label, and which entries some relevant item has."""
    items = hits.items
    assert items is not None
    entries, counted = items.entries(labels), items.counting()
    given = *items.starts(), entries, labels.codes, hits.offsets, items.places, counted
    sizes, used = np.zeros((3, len(labels.labels)), np.int64), np.zeros(len(labels.codes), bool)
    kernels.slices.count(*given, *sizes, used)
    bounds = np.stack([offsets_of(some) for some in sizes])
    rows, n_relevant, n_hits = np.empty((3, bounds[0, -1]), np.int64)
    relevant, order = (
        np.empty(bounds[1, -1] if hits.graded else 0, np.int64),
        np.empty(bounds[2, -1], np.int64),
    )
    kernels.slices.fill(*given, *bounds[:, :-1].copy(), rows, n_relevant, n_hits, relevant, order)
    ranks, gains, ideal = hits.ranks[order], None, None
    if hits.gains is not None:
        gains, ideal = hits.gains[order], np.empty(len(relevant))
        best = offsets_of(n_relevant)
        kernels.join.ideals(relevant, best, items.gains()[relevant], n_relevant, ideal)
    users = range(len(hits)) if hits.users is None else hits.users
    found = {}
    for at, label in enumerate(labels.labels):
        some, of_items, of_hits = (slice(*ends[at : at + 2]) for ends in bounds)
        if some.start == some.stop:
            continue
        graded = ideal is not None and not np.all(ideal[of_items] == 1)
        hashes = None
        if hits.truth_hashes is not None:
            hashes = hits.truth_hashes[rows[some]]
            word = hashes_of([repr(label)]).repeat(len(hashes))
            kernels.hashing.mix_in(word, hashes)
        found[label] = Slice(
            rows[some],
            trusted(
                offsets=offsets_of(n_hits[some]),
                ranks=ranks[of_hits],
                n_relevant=n_relevant[some],
                n_listed=hits.n_listed[rows[some]],
                gains=gains[of_hits] if graded else None,
                ideal_gains=ideal[of_items] if graded else None,
                k=hits.k,
                grading=hits.grading,
                users=_Chosen(users, rows[some]),
                truth_hashes=hashes,
            ),
        )
    return found, used[:-1]
