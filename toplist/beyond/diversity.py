"""How unlike the items of one list are: by their features, their labels, or given distances."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from toplist import kernels
from toplist.beyond.indexing import IndexedLists, Indexing, read_lists
from toplist.beyond.user_metrics import OfUser
from toplist.checks import Floats, choice
from toplist.inputs.facts import ItemLabels, distances_of, features_of
from toplist.inputs.items import needs
from toplist.inputs.options import Reading
from toplist.metrics.beyond_accuracy import Distance, distance_by, variant

UnknownItem = Literal["raise", "skip", "nan"]
UNKNOWN: tuple[UnknownItem, ...] = get_args(UnknownItem)
# Numbers between 2^-SQUARED and 2^SQUARED have squares, and sums of squares, in range.
SQUARED = 450


def intra_list_diversity(
    ranks: Any,
    k: int | None = None,
    *,
    features: Any = None,
    labels: Any = None,
    distances: Any = None,
    distance: Distance | None = None,
    single: float = 0.0,
    unknown: UnknownItem = "raise",
    **reading: Unpack[Reading],
) -> Floats:
    """Return the mean distance between two items of each list, at every k.

        intra_list_diversity@k of a user = mean over pairs of the first k items of distance(i, j)

    (Smyth, McClave 2001; with cosines, one minus the mean of the similarities that Ziegler et
    al. 2005 add up.)

    Parameters
    ----------
    ranks : ranked lists of ids
        In every form that `toplist.match` takes for ranks.
    k : int, optional
        The largest k wanted; default the longest list. May exceed every list.
    features : dict item -> vector, or 2-D array
        Of every item as many numbers; an array's rows are the ids 0..n-1.
    labels : dict item -> label or list of labels, pandas Series, or table
        Genres, say; a table has item_id and one other column, and a row per item and label.
    distances : square pandas DataFrame, or 2-D array
        The distance of any two items, by the ids of its index and columns, or of the ids 0..n-1:
        of similarities, ``1 - similarities``.
    distance : {"cosine", "hamming", "euclidean", "jaccard", "given"}, optional
        Of features, one minus the cosine (an item without any feature is like no other), the number
        of features that differ, or the length of the difference; of labels, one minus Jaccard's
        index, the labels that two items share over all that they have (an item without a label is
        like no other); or that of `distances`. Default: "cosine" of features; without these
        "given", or else "jaccard".
    single : float
        The value of a list of one item, which has no pairs.
    unknown : {"raise", "skip", "nan"}
        An item without features, labels or distances: refused, left out, or making the value NaN
        from there on.
    **reading
        duplicates ("first": later places of an item are left out), padding, columns, n_threads,
        items_as: as in `toplist.beyond.exposure`.

    Returns
    -------
    (K,) or (n_users, K) float64
        A row per user, in the order of the lists. Past the end of a list the mean stays; NaN where
        nothing is listed.

    Raises
    ------
    TypeError, ValueError
        As `toplist.beyond.exposure`; and for features of different lengths or not finite.

    Examples
    --------
    >>> features = {"a": [1, 0], "b": [0, 1], "c": [0, 2]}
    >>> intra_list_diversity([["a", "b", "c"]], features=features).round(4).tolist()
    [[0.0, 1.0, 0.6667]]
    >>> labels = {"a": ["war", "love"], "b": ["war"], "c": ["fun"]}
    >>> intra_list_diversity([["a", "b", "c"]], labels=labels).round(4).tolist()
    [[0.0, 0.5, 0.8333]]
    """
    keywords = {"features": features, "labels": labels, "distances": distances}
    given = {name: one for name, one in keywords.items() if one is not None}
    distance = distance or distance_by(given)
    found = Diversity(given, unknown, distance, single)
    return found.curves(read_lists(ranks, k, reading), k, reading)


# Fills an array with the mean distances: codes, offsets, lengths, the value of one item, the array.
Distances = Callable[..., None]


class Diversity(OfUser):
    """The mean distance between items of one list, as a metric of the user."""

    def __init__(
        self,
        given: Mapping[str, Any],
        unknown: UnknownItem,
        distance: Distance = "cosine",
        single: float = 0.0,
    ) -> None:
        choice("unknown", unknown, UNKNOWN)
        (name,) = variant("intra_list_diversity", {"distance": distance}).needs
        if given.get(name) is None:
            raise needs(f"intra_list_diversity(distance={distance})", name)
        make = {"features": _of_features, "labels": _of_labels, "distances": _of_given}
        ids, self._fill = make[name](given[name], distance)
        self.single = float(single)
        code = {"raise": None, "skip": -1, "nan": len(ids)}[unknown]
        way_out = "unknown='skip' leaves such items out, 'nan' gives NaN"
        self.items = Indexing(ids, name, code, way_out)

    def fill(self, listed: IndexedLists, lo: int, hi: int, out: Floats) -> None:
        """Write the curves of the users ``lo..hi`` into an array (hi - lo, K)."""
        self._fill(*listed.block(lo, hi), self.single, out)


def _of_features(features: Any, distance: Distance) -> tuple[Any, Distances]:
    """Return the ids of items that have features, and what fills in their distances."""
    ids, rows = features_of(features)
    if distance == "cosine":
        rows = _within_range(rows)
        length = np.sqrt((rows**2).sum(axis=1, keepdims=True))
        rows = np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)
    elif distance == "euclidean":
        bad = np.flatnonzero(np.abs(rows).max(axis=1, initial=0.0) > 2.0**SQUARED)
        if len(bad):
            item = ids[bad[0]]
            item = item.item() if isinstance(item, np.generic) else item
            raise ValueError(
                f"features: item {item!r} has a number beyond {2.0**SQUARED:.0e}, whose square "
                "overflows: divide all features by it"
            )
    rows = np.vstack([rows, np.full((1, rows.shape[1]), np.nan)])  # the last: of unknown items

    def fill(codes: Any, offsets: Any, lengths: Any, single: float, out: Floats) -> None:
        if distance == "cosine":
            kernels.list_values.mean_cosine(codes, offsets, lengths, rows, single, out)
        else:
            given = codes, offsets, lengths, rows, distance == "hamming"
            kernels.list_values.mean_distance(*given, single, out)

    return ids, fill


def _of_labels(labels: Any, distance: Distance) -> tuple[Any, Distances]:
    """Return the ids of items, and what fills in Jaccard's distance of their labels."""
    labels = ItemLabels.of(labels)
    sets: NDArray[np.uint64] = np.zeros((len(labels.ids), -(-len(labels.labels) // 64)), np.uint64)
    rows = np.repeat(np.arange(len(labels.ids)), np.diff(labels.offsets))
    word, bit = np.divmod(labels.codes, 64)
    np.bitwise_or.at(sets, (rows, word), np.uint64(1) << bit.astype(np.uint64))
    return labels.ids, partial(_fill, sets, np.empty((0, 0)))


def _of_given(distances: Any, distance: Distance) -> tuple[Any, Distances]:
    """Return the ids of items, and what fills in their given distances."""
    ids, matrix = distances_of(distances)
    return ids, partial(_fill, np.empty((0, 0), np.uint64), matrix)


def _fill(
    sets: Any, matrix: Any, codes: Any, offsets: Any, lengths: Any, single: float, out: Floats
) -> None:
    kernels.labels.mean_distance(codes, offsets, lengths, sets, matrix, single, out)


def _within_range(rows: Floats) -> Floats:
    """Return vectors with those multiplied by a power of 2 whose squares are not in range."""
    largest = np.abs(rows).max(axis=1, initial=0.0)
    _, exponents = np.frexp(largest)
    extreme = (largest > 0) & (np.abs(exponents) > SQUARED)
    if not extreme.any():
        return rows
    return np.ldexp(rows, np.where(extreme, -exponents, 0)[:, np.newaxis])
