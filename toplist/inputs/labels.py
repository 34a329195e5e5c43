"""`ItemLabels`: labels of items (genres, shelves) in any form; an item may have several."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist import kernels, parallel
from toplist.checks import Floats, Ints, cached, is_missing
from toplist.inputs.catalogues import LABEL, by_item
from toplist.inputs.factorize import Numbering, blocks, numbered, numbered_by, used_codes
from toplist.inputs.flatten import CONTAINERS, written
from toplist.inputs.ids import kinds_of
from toplist.inputs.lists import offsets_of

# Integer ids below this are looked up by themselves, in a table of 8 MB at most.
DENSE = 1 << 20
ONE = (
    "an item is in one slice; for one label at a time, give whether an item has it: "
    "{item: 'LABEL' in found for item, found in labels.items()}"
)
SEVERAL = (*CONTAINERS, Set, np.ndarray)  # what holds the labels of one item


@dataclass(frozen=True, eq=False)
class ItemLabels:
    """The labels of items: item i of `ids` has ``codes[offsets[i]:offsets[i + 1]]`` of `labels`.

    An item without labels has none, and None, NaN and "" are none; a label that is there twice
    counts once. Labels are in the order of first appearance; `categories` are those of an ordered
    type, in their order: a Categorical of pandas, an Enum of polars.
    """

    ids: list[Any]
    offsets: Ints
    codes: Ints
    labels: tuple[Any, ...]
    categories: list[Any] | None = None

    @classmethod
    def of(cls, given: Any, name: str = "labels") -> ItemLabels:
        """Read labels in any form: a dict item -> label or several, a pandas Series, a table.

        Raises
        ------
        TypeError
            For other forms, ids that are none or of two kinds, and labels that are not hashable.
        ValueError
            For a table of other columns than item_id and a label, and for two labels that are
            written alike, such as 1 and "1".

        Examples
        --------
        >>> found = ItemLabels.of({"a": ["war", "drama"], "b": None, "c": "war"})
        >>> found.labels, found.offsets.tolist(), found.codes.tolist()
        (('war', 'drama'), [0, 2, 2, 3], [0, 1, 0])
        """
        if isinstance(given, cls):
            return given
        facts = by_item(given, LABEL, name)
        items, rows, order = facts.items, facts.values, facts.order
        kinds_of(items, name)
        items, rows = _one_each(items, rows, name)
        ids, kinds = list(dict.fromkeys(items)), dict[Any, int]()
        several = len(ids) < len(items)
        entries = numbered_by({}, items)[0] if several else np.arange(len(ids))
        codes, _ = numbered_by(kinds, rows)
        some = np.array([not (is_missing(one) or one == "") for one in kinds], bool)[codes]
        entries, codes = entries[some], codes[some]
        if several:  # in the order of the items, and of equal ones the first
            _, first = np.unique(entries * len(kinds) + codes, return_index=True)
            first = np.sort(first)
            first = first[np.argsort(entries[first], kind="stable")]
            entries, codes = entries[first], codes[first]
        codes, used = numbered(codes)
        known = list(kinds)
        labels = tuple(known[code] for code in used.tolist())
        alike: dict[str, Any] = {}
        for one in labels:  # tables and names of metrics hold labels as text
            if (other := alike.setdefault(str(one), one)) != one:
                raise ValueError(
                    f"{name}: {other!r} and {one!r} are written alike: give one of both"
                )
        offsets = offsets_of(np.bincount(entries, minlength=len(ids)))
        return cls(ids, offsets, codes, labels, order)

    def slices(self, order: Iterable[Any] | None = None) -> tuple[NDArray[np.int32], list[Any]]:
        """Return the place of each item's only label, and labels in order, None of others last.

        The last place is that of all other items.

        Examples
        --------
        >>> ItemLabels.of({"tea": "drink", "rye": "food", "cup": None}).slices()
        (array([0, 1, 2, 2], dtype=int32), ['drink', 'food', None])
        """
        n = np.diff(self.offsets)
        several = np.flatnonzero(n > 1)
        if len(several):
            item, first = self.ids[several[0]], self.offsets[several[0]]
            one, two = (self.labels[code] for code in self.codes[first : first + 2].tolist())
            raise ValueError(f"labels: item {item!r} has two labels, {one!r} and {two!r}: {ONE}")
        found = ordered(self.labels, self.categories if order is None else list(order))
        codes = np.full(len(n) + 1, len(found) - 1, np.int32)
        place = {one: at for at, one in enumerate(found)}
        codes[:-1][n == 1] = np.array([place[one] for one in self.labels], np.int32)[self.codes]
        return codes, found

    @cached
    def _places(self) -> dict[Any, int]:
        """The entry of each item."""
        return {item: entry for entry, item in enumerate(self.ids)}

    def entries(self, ids: NDArray[Any], names: Any) -> NDArray[np.int32]:
        """Return the entry of each item, -1 for none; ids are integers, or codes of names."""
        if names is None:
            return self._of_integers(ids)
        if not len(ids):
            return np.empty(0, np.int32)
        used, _ = used_codes(ids)
        entries = np.full(int(used[-1]) + 2, -1, np.int32)
        entries[used] = [self._places.get(name, -1) for name in written(used, names)]
        return _looked_up(ids, entries)

    def _of_integers(self, ids: NDArray[Any]) -> NDArray[np.int32]:
        """Return the entry of each integer."""
        if not self.ids or not isinstance(self.ids[0], (int, np.integer)):
            return np.full(len(ids), -1, np.int32)
        known = np.array(self.ids, np.int64)
        if known.min() >= 0 and known.max() < DENSE:
            entries = np.full(int(known.max()) + 2, -1, np.int32)
            entries[known] = np.arange(len(known))
            return _looked_up(ids, entries)
        numbering = Numbering()
        numbering.number(known)
        return numbering.find(ids).astype(np.int32)

    def shares(self, label: Any) -> Floats:
        """Return the share of each item that belongs to a label: 1 / n of an item with n labels.

        `label` may be written as text. ValueError if no item has it.
        """
        code = next((i for i, one in enumerate(self.labels) if str(one) == str(label)), None)
        if code is None:
            shown = ", ".join(map(repr, self.labels[:8])) + ", ..." * (len(self.labels) > 8)
            raise ValueError(f"labels: no item is labelled {label!r}: there are {shown or 'none'}")
        n = np.diff(self.offsets)
        of_label = np.repeat(np.arange(len(n)), n)[self.codes == code]
        found = np.zeros(len(n))
        found[of_label] = 1 / n[of_label]
        return found


def _looked_up(ids: NDArray[Any], table: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the number of each id in a table, of which the last is that of all other ids."""
    out = np.empty(len(ids), np.int32)

    def look_up(lo: int, hi: int) -> None:
        kernels.slices.look_up(ids[lo:hi].view(np.uint64), table, out[lo:hi])

    parallel.each(look_up, blocks(len(ids), parallel.BLOCK >> 2), None)
    return out


def _one_each(items: list[Any], rows: list[Any], name: str) -> tuple[list[Any], list[Any]]:
    """Return a row for each item and label; None is that of an item without."""
    types = set(map(type, rows))
    if any(issubclass(one, SEVERAL) for one in types):
        apart = [list(row) or [None] if isinstance(row, SEVERAL) else [row] for row in rows]
        items = [item for item, row in zip(items, apart, strict=True) for _ in row]
        rows = [one for row in apart for one in row]
        types = set(map(type, rows))
    odd = [one for one in types if issubclass(one, SEVERAL) or not issubclass(one, Hashable)]
    if odd:
        item, one = next(pair for pair in zip(items, rows, strict=True) if type(pair[1]) in odd)
        raise TypeError(
            f"{name}: item {item!r} has the label {one!r:.60}, a {type(one).__name__}: give text "
            "or numbers"
        )
    return items, rows


def ordered(labels: Iterable[Any], order: Sequence[Any] | None) -> list[Any]:
    """Return labels in an order, sorted by default, None last."""
    named = list(labels)
    if order is not None:
        known = dict.fromkeys(order)
        absent = [label for label in named if label not in known]
        if absent:
            raise ValueError(
                f"order lacks the label {absent[0]!r}: it has {', '.join(map(repr, known))}"
            )
        named = [label for label in known if label is not None]
    else:
        with suppress(TypeError):  # labels of several types stay in order of appearance
            named = sorted(named)
    return [*named, None]
