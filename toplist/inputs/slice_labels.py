"""`SliceLabels`: one label of each item, in any form, and the label of encoded items."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.checks import cached, is_missing, no_columns
from toplist.inputs import dataframes
from toplist.inputs.factorize import Numbering, numbered_by, used_codes
from toplist.inputs.flatten import is_frame, written
from toplist.inputs.ids import kinds_of
from toplist.inputs.keyed import counts_rows, is_series

# Integer ids below this are looked up by themselves, in a table of 8 MB at most.
DENSE = 1 << 20
SEVERAL = (
    "an item is in one slice; for one label at a time, give whether an item has it: "
    "{item: 'LABEL' in found for item, found in labels.items()}"
)

HOLD_SEVERAL = tuple, frozenset  # as lists and sets do, which are no keys of a dict


@dataclass(frozen=True, eq=False)
class SliceLabels:
    """One label of each of some items.

    Attributes
    ----------
    ids : list
        The items, of one kind, each once: the entries.
    codes : (n_entries + 1,) int32
        The label of each entry, by its place in `labels`; the last is that of all other items.
    labels : tuple
        In their order; the last is None, of items without a label.

    Examples
    --------
    >>> found = SliceLabels.of({"tea": "drink", "rye": "food", "cup": None})
    >>> found.labels, found.codes.tolist()
    (('drink', 'food', None), [0, 1, 2, 2])
    """

    ids: list[Any]
    codes: NDArray[np.int32]
    labels: tuple[Any, ...]

    @classmethod
    def of(cls, labels: Any, order: Iterable[Any] | None = None) -> SliceLabels:
        """Read labels of items in any form; `order` is that of the labels, if it is given.

        Raises
        ------
        TypeError
            For other forms, ids that are none or of two kinds, and several labels of an item.
        ValueError
            For a table without its columns, two labels of an item, and a label that `order` lacks.
        """
        if isinstance(labels, cls):
            return labels
        ids, given, categories = _columns(labels)
        kinds_of(ids, "labels")
        kinds: dict[Any, int] = {}
        try:
            codes, first = numbered_by(kinds, given)
        except TypeError:  # one of them is a list, say
            raise _several(ids, given) from None
        whole = [None if is_missing(label) else label for label in kinds]
        if any(isinstance(label, HOLD_SEVERAL) for label in whole):
            raise _several(ids, given)
        found = _ordered(dict.fromkeys(whole), categories if order is None else list(order))
        place = {label: at for at, label in enumerate(found)}
        label_of = np.array([place[label] for label in whole], np.int32)[codes]
        entries, first = numbered_by({}, ids)
        other = np.flatnonzero(label_of != label_of[first[entries]])
        if len(other):
            one, two = (found[label_of[row]] for row in (first[entries[other[0]]], other[0]))
            raise ValueError(
                f"labels: item {ids[other[0]]!r} has two labels, {one!r} and {two!r}: {SEVERAL}"
            )
        kept = [ids[row] for row in first.tolist()]
        return cls(kept, np.append(label_of[first], place[None]).astype(np.int32), found)

    @cached
    def places(self) -> dict[Any, int]:
        """The entry of each item."""
        return {item: entry for entry, item in enumerate(self.ids)}

    def entries(self, ids: NDArray[Any], names: Any) -> NDArray[Any]:
        """Return the entry of each item, -1 for none; ids are integers, or codes of names."""
        if names is None:
            return self._of_integers(ids)
        if not len(ids):
            return np.empty(0, np.int64)
        used, _ = used_codes(ids)
        of_codes: NDArray[Any] = np.full(int(used[-1]) + 1, -1)
        of_codes[used] = [self.places.get(name, -1) for name in written(used, names)]
        entries: NDArray[Any] = of_codes[ids]
        return entries

    def _of_integers(self, ids: NDArray[Any]) -> NDArray[Any]:
        """Return the entry of each integer, signed or not."""
        if not self.ids or not isinstance(self.ids[0], (int, np.integer)):
            return np.full(len(ids), -1)
        known, limits = np.array(self.ids), np.iinfo(ids.dtype)
        plain = known.dtype.kind in "iu" and known.max() <= limits.max
        if not plain or known.min() < limits.min:
            return np.array([self.places.get(one, -1) for one in ids.tolist()])
        known = known.astype(ids.dtype).view(np.int64)
        if known.min() >= 0 and known.max() < DENSE:
            table = np.full(int(known.max()) + 2, -1, np.int32)
            table[known] = np.arange(len(known))
            last = np.uint64(len(table) - 1)
            return table[np.minimum(ids.view(np.uint64), last).view(np.int64)]
        numbering = Numbering()
        numbering.number(known)
        return numbering.find(ids.view(np.int64))


def _several(ids: list[Any], given: list[Any]) -> TypeError:
    """Return the error of an item with several labels."""
    one, of = next(
        (label, item)
        for item, label in zip(ids, given, strict=True)
        if not isinstance(label, Hashable) or isinstance(label, HOLD_SEVERAL)
    )
    kind = type(one).__name__
    return TypeError(f"labels: item {of!r} has {one!r:.60}, a {kind}: {SEVERAL}")


def _columns(labels: Any) -> tuple[list[Any], list[Any], list[Any] | None]:
    """Return items, their labels, and the labels in order where their type is ordered."""
    if is_frame(labels):
        frame = dataframes.readable(labels)
        names = dataframes.names_of(frame)
        rest = [name for name in names if name != "item_id"]
        if len(rest) == len(names) or len(rest) != 1:
            lacks = "" if len(rest) < len(names) else f"{no_columns([repr('item_id')])}; "
            raise ValueError(
                f"labels: {lacks}give a table of item_id and one column of labels, "
                f"labels[['item_id', 'COLUMN']]; columns found: {', '.join(map(repr, names))}"
            )
        ids, given = (dataframes.objects(frame, name) for name in ("item_id", rest[0]))
        return ids, given, _categories(dataframes.type_of(frame, rest[0]))
    if is_series(labels):
        if counts_rows(labels.index):
            raise TypeError(
                "labels is a Series that counts its rows: give it by item, "
                "table.set_index('item_id')[COLUMN], or dict(enumerate(labels)) if its rows are "
                "the ids 0, 1, 2, ..."
            )
        return labels.index.tolist(), labels.tolist(), _categories(labels.dtype)
    if isinstance(labels, Mapping):
        return list(labels), list(labels.values()), None
    raise TypeError(
        f"labels is a {type(labels).__name__}: give a dict item -> label, a pandas Series whose "
        "index has the items, or a table of item_id and a column of labels"
    )


def _categories(dtype: Any) -> list[Any] | None:
    """Return the categories of an ordered type: a Categorical of pandas, an Enum of polars."""
    ordered = getattr(dtype, "ordered", type(dtype).__name__ == "Enum")
    return list(dtype.categories) if ordered and hasattr(dtype, "categories") else None


def _ordered(labels: Iterable[Any], order: Sequence[Any] | None) -> tuple[Any, ...]:
    """Return labels in an order, sorted by default, None last."""
    named = [label for label in labels if label is not None]
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
    return (*named, None)
