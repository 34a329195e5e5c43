"""How unlike the items of one list are, and how unlike what was to be expected."""

from collections.abc import Callable, Mapping
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from toplist.catalogues import features_of
from toplist.checks import choice, whole
from toplist.columns import is_frame
from toplist.grades import STANDARD
from toplist.hits import Hits
from toplist.item_values import Reading, curves_of
from toplist.listed import DUPLICATES, Admission, Listed, admit_listed
from toplist.matching import joined

Floats = NDArray[np.float64]

DISTANCES = ("cosine", "hamming", "euclidean")
UNKNOWN = ("raise", "skip", "nan")
DIVISORS = ("k", "n", "unexpected")


def intra_list_diversity(
    ranks: Any,
    k: int | None = None,
    *,
    features: Any,
    distance: str = "cosine",
    single: float = 0.0,
    unknown: str = "raise",
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
        A row per user of the baseline (as `toplist.match` has one per user of the truth); NaN
        where nothing is listed.

    Examples
    --------
    >>> unexpectedness([[1, 2, 3], [3, 4]], baseline={1, 2, 9}).round(4).tolist()
    [[0.0, 0.0, 0.3333], [1.0, 1.0, 1.0]]
    """
    expected, single = _hits(ranks, _of_everyone(baseline, ranks), k, reading)
    present = _present(expected)
    out = np.full(present.shape, np.nan)
    np.divide(_counts(expected, ~_nobody(expected)), present, out=out, where=present > 0)
    out = 1.0 - out
    return out[0] if single else out


def serendipity(
    ranks: Any,
    ground_truths: Any,
    k: int | None = None,
    *,
    baseline: Any,
    divisor: str = "k",
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
        A row per user of the ground truth; NaN for users without relevant items.

    Examples
    --------
    >>> serendipity([[1, 2, 3]], [{1, 3}], baseline=[{1, 9}]).round(4).tolist()
    [[0.0, 0.0, 0.3333]]
    """
    choice("divisor", divisor, DIVISORS)
    hits, single = _hits(ranks, ground_truths, k, reading)
    expected, _ = _hits(ranks, _of_everyone(baseline, ground_truths), hits.k, reading)
    expected_keys = _row_of_user(hits, expected)[_user_of_hit(expected)], expected.ranks
    found = ~np.isin(_keys(hits, _user_of_hit(hits), hits.ranks), _keys(hits, *expected_keys))
    above = _counts(hits, found).astype(np.float64)
    below = np.broadcast_to(np.arange(1, hits.k + 1), above.shape)
    if divisor != "k":
        below = _present(hits)
    if divisor == "unexpected":
        inside = np.zeros_like(below)
        np.add.at(inside, (expected_keys[0], expected.ranks - 1), 1)
        below = below - np.cumsum(inside, axis=1)
    out = np.zeros(above.shape)
    np.divide(above, below, out=out, where=below > 0)
    out[hits.n_relevant == 0] = np.nan
    return out[0] if single else out


class Diversity:
    """The mean distance between items of one list, as a metric of the user."""

    def __init__(self, features: Any, distance: str, single: float, unknown: str) -> None:
        choice("distance", distance, DISTANCES)
        choice("unknown", unknown, UNKNOWN)
        self.ids, rows = features_of(features)
        if distance == "cosine":
            length = np.sqrt((rows**2).sum(axis=1, keepdims=True))
            rows = np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)
        self.rows = np.vstack([rows, np.full((1, rows.shape[1]), np.nan)])
        self.distance, self.single, self.unknown = distance, float(single), unknown

    def admit(self, ranks: Any, k: int | None, reading: Reading) -> Listed:
        """Return the lists as indices of the items that have features."""
        code = {"raise": None, "skip": -1, "nan": len(self.ids)}[self.unknown]
        way_out = "unknown='skip' leaves such items out, 'nan' gives NaN"
        rules = Admission(self.ids, "features", code, way_out, **reading)
        return admit_listed(ranks, k, rules)

    def filler(self, listed: Listed) -> Callable[[int, int, Floats], None]:
        """Return what writes the curves of the users ``lo..hi`` into an array (hi - lo, K)."""
        from toplist.kernels import pairing, readonly

        rows = readonly(self.rows, np.float64)

        def fill(lo: int, hi: int, out: Floats) -> None:
            lists = listed.block(lo, hi)
            if self.distance == "cosine":
                pairing.mean_cosine(*lists, rows, self.single, out)
            else:
                pairing.mean_distance(*lists, rows, self.distance == "hamming", self.single, out)

        return fill

    def curves(self, ranks: Any, k: int | None, reading: Reading) -> Floats:
        """Return the metric of every user at every k."""
        return curves_of(self, ranks, k, reading)


def _hits(ranks: Any, side: Any, k: int | None, reading: Reading) -> tuple[Hits, bool]:
    """Return where ids of the other side stand in the lists, and whether a bare user was given."""
    duplicates = reading.get("duplicates", "raise")
    choice("duplicates", duplicates, DUPLICATES)
    k = None if k is None else whole(k, "k")
    options = reading.get("padding"), STANDARD, reading.get("columns"), duplicates
    return joined(ranks, side, k, *options, reading.get("n_threads"))


def _of_everyone(baseline: Any, beside: Any) -> Any:
    """Return the baseline of each user, where one set is meant for all."""
    if not isinstance(baseline, (set, frozenset)) or is_frame(beside):
        return baseline
    if isinstance(beside, Mapping):
        return dict.fromkeys(beside, baseline)
    many = isinstance(beside, (list, tuple)) and len(beside) and _holds(beside[0])
    many = many or getattr(beside, "ndim", 1) == 2 or hasattr(beside, "offsets")
    return [baseline] * len(beside) if many else baseline


def _holds(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes))


def _nobody(hits: Hits) -> NDArray[np.bool_]:
    return np.zeros(len(hits.ranks), bool)


def _user_of_hit(hits: Hits) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(hits)), np.diff(hits.offsets))


def _keys(hits: Hits, users: NDArray[Any], ranks: NDArray[Any]) -> NDArray[np.int64]:
    """Return one number for user and rank."""
    keys: NDArray[np.int64] = users * (hits.k + 1) + ranks
    return keys


def _row_of_user(hits: Hits, other: Hits) -> NDArray[np.int64]:
    """Return which row of `hits` each row of `other` is of; users who have none come after."""
    if hits.users is None or other.users is None:
        return np.arange(len(other))
    place = {user: row for row, user in enumerate(hits.users)}
    return np.array([place.get(user, len(hits)) for user in other.users], np.int64)


def _present(hits: Hits) -> NDArray[np.int64]:
    """Return how many items are listed within each k, (n_users, K)."""
    return np.minimum(hits.n_listed[:, np.newaxis], np.arange(1, hits.k + 1))


def _counts(hits: Hits, these: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return how many of these hits stand within each k, (n_users, K)."""
    at = np.zeros((len(hits), hits.k), np.int64)
    at[_user_of_hit(hits)[these], hits.ranks[these] - 1] = 1
    return np.cumsum(at, axis=1)
