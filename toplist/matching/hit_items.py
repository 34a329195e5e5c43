"""`HitItems`: which item of the truth each hit is, so that hits split by an attribute of items."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toplist import kernels
from toplist.checks import Bools, Floats, Ints, cached
from toplist.inputs.factorize import written
from toplist.inputs.lists import Flat, offsets_of, places_of

if TYPE_CHECKING:
    from toplist.inputs.facts import ItemLabels
    from toplist.inputs.truths import Judged

CHANGED = "the ground truths were changed after they were evaluated: evaluate them again"


@dataclass(frozen=True, eq=False)
class TruthItems:
    """The judged items of the users of one join: those that it read, not copied.

    Attributes
    ----------
    truth : Flat
        The items as integers, codes or hashes, in the order of the users, with their grades; one
        may be there twice, unless they are distinct.
    hashes : (n_users,) uint64, or None
        Of the items of each user, as they were when they were joined.
    """

    truth: Flat
    hashes: NDArray[np.uint64] | None

    def ids(self) -> tuple[Ints, Any]:
        """Return the items as integers, or as codes with their names.

        ValueError if the caller has changed them since they were joined.
        """
        items = self.truth.ids
        if self.truth.source is not None:
            from toplist.inputs.texts import Texts, joined

            names, texts = Texts(), list(chain.from_iterable(self.truth.rows))
            alike = all(isinstance(one, str) for one in texts)
            ids = names.encode(joined(texts if alike else []))
            if not np.array_equal(names.hashes(ids).view(np.int64), items):
                raise ValueError(CHANGED)
            return ids, names
        if self.truth.names is None and self.hashes is not None:
            _, offsets, grades = self.truth.graded_block(0, len(self.truth.lengths))
            hashes, words = np.empty_like(self.hashes), np.empty(0, np.uint64)
            kernels.hashing.hash_rows(items, offsets, words, grades.view(np.uint64), hashes)
            changed = hashes != self.hashes
            if changed.any():  # those of users with an item twice are made otherwise
                changed[np.searchsorted(offsets, self.repeats, side="right") - 1] = False
                if changed.any():
                    raise ValueError(CHANGED)
        return items, self.truth.names

    def __getstate__(self) -> dict[str, Any]:
        """Pickle texts as codes: a set of them has another order in another process."""
        truth = self.truth
        if truth.source is not None:
            with suppress(ValueError):  # they were changed, and stay so
                ids, names = self.ids()
                truth = replace(truth, ids=ids, names=names, source=None)
        return vars(TruthItems(truth, self.hashes))

    @cached
    def repeats(self) -> Ints:
        """The places of items that their user has at an earlier place, too."""
        if self.truth.distinct:
            return np.empty(0, np.int64)
        order, again = kernels.hashing.order_of_rows(self.truth.ids, self.truth.offsets)
        places: Ints = order[again]
        return places


@dataclass(frozen=True, eq=False)
class HitItems:
    """Which item of the truth each hit is.

    Attributes
    ----------
    places : (n_hits,) int32
        The place of each hit's item among the judged items of its user, from 0.
    parts : tuple of TruthItems
        Of each part that was joined, all judged items.
    rows : (n_users,) integers, or None
        Which user of these each row is; None if they are the same.
    """

    places: NDArray[np.int32]
    parts: tuple[TruthItems, ...]
    rows: Ints | None = None

    @classmethod
    def of(cls, judged: Judged, places: NDArray[np.int32], n_truth: Ints) -> HitItems:
        """Return the items of hits that were just joined with ground truths."""
        truth, known = judged.truth, judged.known
        if "items" not in known:
            distinct = int(n_truth.sum()) == len(truth.ids)
            of_judged = known.get("judged")
            hashes = known.get("hashes") if of_judged is None else of_judged
            known["items"] = TruthItems(replace(truth, distinct=distinct, users=None), hashes)
        return cls(places, (known["items"],))

    @property
    def offsets(self) -> Ints:
        """Where the items of each user of all parts begin."""
        return offsets_of(_joined([np.diff(part.truth.offsets) for part in self.parts]))

    def starts(self) -> tuple[Ints, Ints]:
        """Return where the items of each row begin, and how many they are."""
        offsets = self.offsets
        rows = slice(None) if self.rows is None else self.rows
        return offsets[:-1][rows], np.diff(offsets)[rows]

    def entries(self, labels: ItemLabels) -> NDArray[np.int32]:
        """Return which entry of the labels each item of all parts has, -1 for none."""
        parts = [part.ids() for part in self.parts]
        names = parts[0][1]
        if all(one is names for _, one in parts):  # parts of one file
            parts = [(_joined([ids for ids, _ in parts]), names)]
        return _joined([labels.entries(*part) for part in parts])

    def example(self) -> Any:
        """Return an item of the truths as it was written; None if there is none."""
        return self.at(0) if any(len(part.truth.ids) for part in self.parts) else None

    def at(self, place: int) -> Any:
        """Return the item at a place of all parts, as it was written."""
        ends = offsets_of([len(part.truth.ids) for part in self.parts])
        at = int(np.searchsorted(ends, place, side="right")) - 1
        ids, names = self.parts[at].ids()
        place -= int(ends[at])
        return written(ids[place : place + 1], names)[0]

    def grades(self) -> Floats:
        """Return the grade of each item of all parts; 1 where there are none."""
        truths = [part.truth for part in self.parts]
        return _joined(
            [np.ones(len(one.ids)) if one.grades is None else one.grades for one in truths]
        )

    def distinct(self) -> Bools:
        """Return which items of all parts count: of one that its user has twice, one."""
        sizes = [len(part.truth.ids) for part in self.parts]
        found = np.ones(sum(sizes), bool)
        for first, part in zip(offsets_of(sizes)[:-1], self.parts, strict=True):
            found[first + part.repeats] = False
        return found

    def subset(self, offsets: Ints, rows: Ints) -> HitItems:
        """Return the items of some of the users, given where the hits of each begin."""
        chosen = rows if self.rows is None else self.rows[rows]
        return replace(self, places=self.places[places_of(offsets, rows)], rows=chosen)

    def merged(self, other: HitItems) -> HitItems:
        """Return the items of the hits of both sets of users, one after the other."""
        both, rows = (self, other), None
        if self.rows is not None or other.rows is not None:
            first = len(self.offsets) - 1
            mine, theirs = (
                np.arange(len(one.offsets) - 1) if one.rows is None else one.rows for one in both
            )
            rows = np.concatenate([mine, first + theirs])
        places = np.concatenate([one.places for one in both])
        return HitItems(places, self.parts + other.parts, rows)


def _joined(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    """Return arrays one after another; one alone as it is."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
