"""Labels of items (genres, providers), of which an item may have several, and given distances."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from toplist.checks import Floats, Ints, is_missing
from toplist.inputs import dataframes
from toplist.inputs.flatten import is_frame, is_truth_container
from toplist.inputs.keyed import dict_of, is_series
from toplist.inputs.lists import offsets_of

NAME = "item_labels"


@dataclass(frozen=True, eq=False)
class ItemLabels:
    """The labels of items: item i of `ids` has ``codes[offsets[i]:offsets[i + 1]]`` of `labels`.

    An item without labels has none, and None, NaN and "" are none; a label that is there twice
    counts once. Labels are in the order of first appearance.
    """

    ids: list[Any]
    offsets: Ints
    codes: Ints
    labels: tuple[Any, ...]

    @classmethod
    def of(cls, given: Any) -> ItemLabels:
        """Read labels in any form: a dict, a pandas Series, a table, or an array by item 0..n-1.

        Raises
        ------
        TypeError
            For other forms, and labels that are not hashable.
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
        rows = _by_item(given)
        places: dict[Any, int] = {}
        codes = []
        for item, labels in rows.items():
            if not all(isinstance(one, Hashable) for one in labels):
                raise TypeError(f"{NAME}: item {item!r} has {labels!r}: give text or numbers")
            some = dict.fromkeys(one for one in labels if not is_missing(one) and one != "")
            codes.append([places.setdefault(one, len(places)) for one in some])
        alike: dict[str, Any] = {}
        for one in places:  # names of metrics hold labels as text
            if (other := alike.setdefault(str(one), one)) != one:
                raise ValueError(
                    f"{NAME}: labels {other!r} and {one!r} are written alike: give one of both"
                )
        flat = np.array([code for row in codes for code in row], np.int64)
        return cls(list(rows), offsets_of(list(map(len, codes))), flat, tuple(places))

    def shares(self, label: Any) -> Floats:
        """Return the share of each item that belongs to a label: 1 / n of an item with n labels.

        `label` may be written as text. ValueError if no item has it.
        """
        code = next((i for i, one in enumerate(self.labels) if str(one) == str(label)), None)
        if code is None:
            shown = ", ".join(map(repr, self.labels[:8])) + ", ..." * (len(self.labels) > 8)
            raise ValueError(f"{NAME}: no item is labelled {label!r}: there are {shown or 'none'}")
        n = np.diff(self.offsets)
        of_label = np.repeat(np.arange(len(n)), n)[self.codes == code]
        found = np.zeros(len(n))
        found[of_label] = 1 / n[of_label]
        return found


def _by_item(given: Any) -> dict[Any, Any]:
    """Return the labels of each item, as a list."""
    if is_frame(given):
        return _of_table(dataframes.readable(given))
    if is_series(given):
        if not given.index.is_unique:  # a row per item and label
            return _collected(given.index.tolist(), given.tolist())
        given = dict_of(given, NAME, "item")
    if not isinstance(given, Mapping):
        listed = given.tolist() if isinstance(given, np.ndarray) else given
        if not isinstance(listed, (list, tuple)):
            raise TypeError(
                f"{NAME} is a {type(given).__name__}: give a dict item -> label or list of labels, "
                "a table of item_id and label, or a list whose places are the ids 0..n-1"
            )
        given = dict(enumerate(listed))
    return {item: _listed(labels) for item, labels in given.items()}


def _listed(labels: Any) -> list[Any]:
    """Return the labels of one item as a list: a container of several, or one label itself."""
    if is_truth_container(labels) and not isinstance(labels, Mapping):
        return labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    return [labels]


def _of_table(frame: Any) -> dict[Any, Any]:
    names = dataframes.names_of(frame)
    rest = [name for name in names if name != "item_id"]
    if "item_id" not in names or len(rest) != 1:
        shown = ", ".join(map(repr, names))
        raise ValueError(
            f"{NAME} is a table of columns {shown}: give two, item_id and that of the labels"
        )
    return _collected(*(dataframes.objects(frame, name) for name in ("item_id", rest[0])))


def _collected(items: list[Any], labels: list[Any]) -> dict[Any, Any]:
    """Return the labels of each item, from rows of an item and a label or several."""
    found: dict[Any, list[Any]] = {}
    for item, label in zip(items, labels, strict=True):
        found.setdefault(item, []).extend(_listed(label))
    return found


def distances_of(given: Any, name: str = "item_distances") -> tuple[Any, Floats]:
    """Return the ids of items, and the distance of any two: a square table, or an array.

    Also a dict item -> its distances to all items of the dict, in their order.

    Raises
    ------
    TypeError, ValueError
        For what is not square, not symmetric, or not of finite numbers.

    Examples
    --------
    >>> distances_of([[0, 0.5], [0.5, 0]])[1].tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    ids: Any = None
    if is_frame(given) and hasattr(given, "index"):
        ids, others = given.index.tolist(), given.columns.tolist()
        if len(set(ids)) < len(ids) or set(ids) != set(others):
            raise ValueError(f"{name}: the items of its index are not those of its columns")
        given = given[ids].to_numpy()
    elif isinstance(given, Mapping):
        ids, given = list(given), list(given.values())
    matrix = np.asarray(given)
    if matrix.dtype.kind not in "biuf" or matrix.ndim != 2 or len(matrix) != matrix.shape[1]:
        raise TypeError(
            f"{name}: give a square array, whose places are the ids 0..n-1, or a square pandas "
            "DataFrame with the items as index and columns"
        )
    matrix = np.ascontiguousarray(matrix, np.float64)
    if not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T, rtol=1e-9, atol=1e-12):
        raise ValueError(f"{name}: distances must be finite, and the same in both directions")
    return np.arange(len(matrix)) if ids is None else ids, matrix
