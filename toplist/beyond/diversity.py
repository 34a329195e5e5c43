"""How unlike the items of one list are, and how unexpected: what a baseline does not recommend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Unpack, get_args

import numpy as np

from toplist import kernels
from toplist.beyond.indexing import IndexedLists, Indexing
from toplist.beyond.popularity import OfUser
from toplist.checks import Bools, Floats, Ints, OptionRef, check_positive_int, choice
from toplist.inputs.catalogues import features_of
from toplist.inputs.dataframes import is_frame
from toplist.inputs.options import Joining, Reading
from toplist.inputs.user_values import by_users
from toplist.matching.hits import Hits
from toplist.matching.match import joined

Distance = Literal["cosine", "hamming", "euclidean"]
DISTANCES: tuple[Distance, ...] = get_args(Distance)
UnknownItem = Literal["raise", "skip", "nan"]
UNKNOWN: tuple[UnknownItem, ...] = get_args(UnknownItem)
SerendipityDivisor = Literal["k", "n", "unexpected"]
DIVISORS: tuple[SerendipityDivisor, ...] = get_args(SerendipityDivisor)
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
        duplicates ("first": later places of an item are left out), padding, columns, n_threads,
        items_as: as in `toplist.beyond.exposure`.

    Returns
    -------
    (K,) or (n_users, K) float64
        Past the end of a list the mean stays; NaN where nothing is listed. Of keyed lists the
        rows know their ``users``.

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
    return Diversity(features, unknown, distance, single).curves(ranks, k, reading)


class Diversity(OfUser):
    """The mean distance between items of one list, as a metric of the user."""

    def __init__(
        self,
        features: Any,
        unknown: UnknownItem,
        distance: Distance = "cosine",
        single: float = 0.0,
    ) -> None:
        choice("distance", distance, DISTANCES)
        choice("unknown", unknown, UNKNOWN)
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
        self.rows = np.vstack([rows, np.full((1, rows.shape[1]), np.nan)])
        self.distance, self.single = distance, float(single)
        code = {"raise": None, "skip": -1, "nan": len(ids)}[unknown]
        way_out = OptionRef("unknown", "skip"), " leaves such items out, 'nan' gives NaN"
        self.items = Indexing(ids, "features", code, way_out)

    def fill(self, listed: IndexedLists, lo: int, hi: int, out: Floats) -> None:
        """Write the curves of the users ``lo..hi`` into an array (hi - lo, K)."""
        given = *listed.block(lo, hi), self.rows
        if self.distance == "cosine":
            kernels.list_values.mean_cosine(*given, self.single, out)
        else:
            kernels.list_values.mean_distance(*given, self.distance == "hamming", self.single, out)


def _within_range(rows: Floats) -> Floats:
    """Return vectors with those multiplied by a power of 2 whose squares are not in range."""
    largest = np.abs(rows).max(axis=1, initial=0.0)
    _, exponents = np.frexp(largest)
    extreme = (largest > 0) & (np.abs(exponents) > SQUARED)
    if not extreme.any():
        return rows
    return np.ldexp(rows, np.where(extreme, -exponents, 0)[:, np.newaxis])


def unexpectedness(
    ranks: Any, k: int | None = None, *, baseline: Any, **reading: Unpack[Reading]
) -> Floats:
    """Return the share of each list that a baseline does not recommend, at every k.

        unexpectedness@k of a user = items among the first k that are not in the baseline / how
        many these are

    (Ge, Delgado-Battenfeld, Jannach 2010, of Murakami, Mori, Orihara 2008.)

    Parameters
    ----------
    ranks, k, **reading
        As in `intra_list_diversity`.
    baseline : lists of ids
        What each user could expect, in the forms of ground truths: the lists of a primitive
        recommender, what the user has seen; one set of ids is meant for everyone.

    Returns
    -------
    (K,) or (n_users, K) float64
        A row per user of the baseline (as `toplist.match` has one per user of the truth), which
        know their ``users`` if keyed; NaN where nothing is listed.

    Examples
    --------
    >>> unexpectedness([[1, 2, 3], [3, 4]], baseline={1, 2, 9}).round(4).tolist()
    [[0.0, 0.0, 0.3333], [1.0, 1.0, 1.0]]
    """
    expected, single = _hits(ranks, _of_everyone(baseline, ranks), k, reading)
    present, known = _present(expected), _flags(expected)
    out = np.full(present.shape, np.nan)
    np.divide(present - np.cumsum(known, axis=1), present, out=out, where=present > 0)
    return out[0] if single else by_users(out, expected.users)


def serendipity(
    ranks: Any,
    ground_truths: Any,
    k: int | None = None,
    *,
    baseline: Any,
    divisor: SerendipityDivisor = "k",
    **reading: Unpack[Reading],
) -> Floats:
    """Return the share of each list that is relevant and was not to be expected, at every k.

        serendipity@k of a user = items among the first k that are relevant and not in the
        baseline / k

    (Ge, Delgado-Battenfeld, Jannach 2010: useful and unexpected recommendations.)

    Parameters
    ----------
    ranks, ground_truths, k
        As in `toplist.match`.
    baseline, **reading
        As in `unexpectedness`.
    divisor : {"k", "n", "unexpected"}
        k; the number of items listed within k; or that of the unexpected ones among these (0
        where there are none).

    Returns
    -------
    (K,) or (n_users, K) float64
        A row per user of the ground truth, which know their ``users`` if keyed; NaN for users
        without relevant items.

    Examples
    --------
    >>> serendipity([[1, 2, 3]], [{1, 3}], baseline=[{1, 9}]).round(4).tolist()
    [[0.0, 0.0, 0.3333]]
    """
    choice("divisor", divisor, DIVISORS)
    hits, single = _hits(ranks, ground_truths, k, reading)
    expected, _ = _hits(ranks, _of_everyone(baseline, ground_truths), hits.k or None, reading)
    relevant = _flags(hits)
    known, rows = np.zeros_like(relevant), _row_of_user(hits, expected)
    known[rows[rows >= 0]] = _flags(expected)[rows >= 0]
    above = np.cumsum(relevant & ~known, axis=1).astype(np.float64)
    below = np.broadcast_to(np.arange(1, hits.k + 1), above.shape)
    if divisor != "k":
        below = _present(hits)
    if divisor == "unexpected":
        below = below - np.cumsum(known, axis=1)
    out = np.zeros(above.shape)
    np.divide(above, below, out=out, where=below > 0)
    out[hits.n_relevant == 0] = np.nan
    return out[0] if single else by_users(out, hits.users)


def _hits(ranks: Any, side: Any, k: int | None, reading: Reading) -> tuple[Hits, bool]:
    """Return the ranks of the other side's ids in the lists, and whether a bare user was given."""
    return joined(
        ranks, side, None if k is None else check_positive_int(k, "k"), Joining(**reading)
    )


def _of_everyone(baseline: Any, side: Any) -> Any:
    """Return the baseline of each user of the other side, if one set is meant for all."""
    if not isinstance(baseline, (set, frozenset)) or is_frame(side):
        return baseline
    if isinstance(side, Mapping):
        return dict.fromkeys(side, baseline)
    many = isinstance(side, (list, tuple)) and len(side)
    many = many and hasattr(side[0], "__len__") and not isinstance(side[0], (str, bytes))
    many = many or getattr(side, "ndim", 1) == 2 or hasattr(side, "offsets")
    return [baseline] * len(side) if many else baseline


def _flags(hits: Hits) -> Bools:
    """Flag the places of the hits, (n_users, K)."""
    out = np.zeros((len(hits), hits.k), bool)
    out[np.repeat(np.arange(len(hits)), np.diff(hits.offsets)), hits.ranks - 1] = True
    return out


def _row_of_user(hits: Hits, other: Hits) -> Ints:
    """Return which row of `hits` each row of `other` is of; -1 where none is."""
    if hits.users is None or other.users is None:
        return np.arange(len(other))
    place = {user: row for row, user in enumerate(hits.users)}
    return np.array([place.get(user, -1) for user in other.users], np.int64)


def _present(hits: Hits) -> Ints:
    """Return how many items are listed within each k, (n_users, K)."""
    return np.minimum(hits.n_listed[:, np.newaxis], np.arange(1, hits.k + 1))
