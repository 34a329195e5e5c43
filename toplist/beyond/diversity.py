"""How unlike the items of one list are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Unpack, get_args

import numpy as np

from toplist.beyond.indexing import IndexedLists, Indexing, indexed, read_lists
from toplist.beyond.popularity import curves_of
from toplist.checks import Floats, Keyword, choice
from toplist.inputs.catalogues import features_of
from toplist.inputs.options import Known, Reading

Distance = Literal["cosine", "hamming", "euclidean"]
DISTANCES: tuple[Distance, ...] = get_args(Distance)
UnknownItem = Literal["raise", "skip", "nan"]
UNKNOWN: tuple[UnknownItem, ...] = get_args(UnknownItem)
# Numbers between 2^-SQUARED and 2^SQUARED have squares, and sums of squares, in range.
SQUARED = 450


def intra_list_diversity(
    ranks: Any,
    k: int | None = None,
    *,
    features: Any,
    distance: Distance = "cosine",
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
    distance : {"cosine", "hamming", "euclidean"}
        One minus the cosine (an item without any feature is like no other), the number of
        features that differ, or the length of the difference.
    single : float
        The value of a list of one item, which has no pairs.
    unknown : {"raise", "skip", "nan"}
        An item without features: refused, left out, or making the value NaN from there on.
    **reading
        duplicates ("first": later places of an item are left out), padding, columns, n_threads:
        as in `toplist.beyond.exposure`.

    Returns
    -------
    (K,) or (n_users, K) float64
        Past the end of a list the mean stays; NaN where nothing is listed.

    Raises
    ------
    TypeError, ValueError
        As `toplist.beyond.exposure`; and for features of different lengths or not finite.

    Examples
    --------
    >>> features = {"a": [1, 0], "b": [0, 1], "c": [0, 2]}
    >>> intra_list_diversity([["a", "b", "c"]], features=features).round(4).tolist()
    [[0.0, 1.0, 0.6667]]
    """
    return Diversity(features, distance, single, unknown).curves(ranks, k, reading)


class Diversity:
    """The mean distance between items of one list, as a metric of the user."""

    def __init__(
        self, features: Any, distance: Distance, single: float, unknown: UnknownItem
    ) -> None:
        choice("distance", distance, DISTANCES)
        choice("unknown", unknown, UNKNOWN)
        self.ids, rows = features_of(features)
        if distance == "cosine":
            rows = _within_range(rows)
            length = np.sqrt((rows**2).sum(axis=1, keepdims=True))
            rows = np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)
        elif distance == "euclidean":
            _refuse_overflow(self.ids, rows)
        self.rows = np.vstack([rows, np.full((1, rows.shape[1]), np.nan)])
        self.distance, self.single, self.unknown = distance, float(single), unknown

    def index(self, ranks: Any, k: int | None, reading: Reading) -> IndexedLists:
        """Return the lists as indices of the items that have features."""
        code = {"raise": None, "skip": -1, "nan": len(self.ids)}[self.unknown]
        way_out = Keyword("unknown", "skip"), " leaves such items out, 'nan' gives NaN"
        rules = Indexing(self.ids, "features", code, way_out).reading(reading)
        given = reading.get("columns"), reading.get("padding")
        return indexed(read_lists(ranks, k, *given), rules)

    def filler(self, listed: IndexedLists) -> Callable[[int, int, Floats], None]:
        """Return what writes the curves of the users ``lo..hi`` into an array (hi - lo, K)."""
        from toplist.kernels import list_values

        rows = self.rows

        def fill(lo: int, hi: int, out: Floats) -> None:
            lists = listed.block(lo, hi)
            if self.distance == "cosine":
                list_values.mean_cosine(*lists, rows, self.single, out)
            else:
                list_values.mean_distance(
                    *lists, rows, self.distance == "hamming", self.single, out
                )

        return fill

    def curves(self, ranks: Any, k: int | None, reading: Reading) -> Floats:
        """Return the metric of every user at every k."""
        return curves_of(self, ranks, k, reading)


# What computes each metric inside an evaluation, by the defaults of its function.
OF_USERS: Mapping[str, Callable[[Known], Any]] = {
    "intra_list_diversity": lambda known: Diversity(
        known.items["features"], "cosine", 0.0, known.unknown
    ),
}


def _within_range(rows: Floats) -> Floats:
    """Return vectors with those multiplied by a power of 2 whose squares are not in range."""
    largest = np.abs(rows).max(axis=1, initial=0.0)
    _, exponents = np.frexp(largest)
    extreme = (largest > 0) & (np.abs(exponents) > SQUARED)
    if not extreme.any():
        return rows
    return np.ldexp(rows, np.where(extreme, -exponents, 0)[:, np.newaxis])


def _refuse_overflow(ids: Any, rows: Floats) -> None:
    """Raise ValueError for features whose squared differences would not be in range."""
    bad = np.flatnonzero(np.abs(rows).max(axis=1, initial=0.0) > 2.0**SQUARED)
    if len(bad):
        item = ids[bad[0]]
        raise ValueError(
            f"features: item {item.item() if isinstance(item, np.generic) else item!r} has a "
            f"number beyond {2.0**SQUARED:.0e}, whose square overflows: divide all features by it"
        )
