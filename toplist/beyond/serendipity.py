"""Unexpected items: those that a baseline does not recommend, and the relevant ones of these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from toplist.checks import Floats, choice, whole
from toplist.inputs.dataframes import is_frame
from toplist.inputs.options import Joining, Reading
from toplist.matching.hits import Hits
from toplist.matching.match import joined

SerendipityDivisor = Literal["k", "n", "unexpected"]
DIVISORS: tuple[SerendipityDivisor, ...] = get_args(SerendipityDivisor)


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
    present, known = _present(expected), np.zeros((len(expected), expected.k), np.int64)
    known[_user_of_hit(expected), expected.ranks - 1] = 1
    out = np.full(present.shape, np.nan)
    np.divide(present - np.cumsum(known, axis=1), present, out=out, where=present > 0)
    return out[0] if single else out


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
        A row per user of the ground truth; NaN for users without relevant items.

    Examples
    --------
    >>> serendipity([[1, 2, 3]], [{1, 3}], baseline=[{1, 9}]).round(4).tolist()
    [[0.0, 0.0, 0.3333]]
    """
    choice("divisor", divisor, DIVISORS)
    hits, single = _hits(ranks, ground_truths, k, reading)
    expected, _ = _hits(ranks, _of_everyone(baseline, ground_truths), hits.k or None, reading)
    shape = len(hits), hits.k
    relevant, known = np.zeros((2, *shape), bool)  # by user and rank
    relevant[_user_of_hit(hits), hits.ranks - 1] = True
    rows = _row_of_user(hits, expected)[_user_of_hit(expected)]
    known[rows[rows >= 0], expected.ranks[rows >= 0] - 1] = True
    above = np.cumsum(relevant & ~known, axis=1).astype(np.float64)
    below = np.broadcast_to(np.arange(1, hits.k + 1), shape)
    if divisor != "k":
        below = _present(hits)
    if divisor == "unexpected":
        below = below - np.cumsum(known, axis=1)
    out = np.zeros(above.shape)
    np.divide(above, below, out=out, where=below > 0)
    out[hits.n_relevant == 0] = np.nan
    return out[0] if single else out


def _hits(ranks: Any, side: Any, k: int | None, reading: Reading) -> tuple[Hits, bool]:
    """Return the ranks of the other side's ids in the lists, and whether a bare user was given."""
    return joined(ranks, side, None if k is None else whole(k, "k"), Joining(**reading))


def _of_everyone(baseline: Any, side: Any) -> Any:
    """Return the baseline of each user of the other side, if one set is meant for all."""
    if not isinstance(baseline, (set, frozenset)) or is_frame(side):
        return baseline
    if isinstance(side, Mapping):
        return dict.fromkeys(side, baseline)
    many = isinstance(side, (list, tuple)) and len(side) and _holds(side[0])
    many = many or getattr(side, "ndim", 1) == 2 or hasattr(side, "offsets")
    return [baseline] * len(side) if many else baseline


def _holds(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes))


def _user_of_hit(hits: Hits) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(hits)), np.diff(hits.offsets))


def _row_of_user(hits: Hits, other: Hits) -> NDArray[np.int64]:
    """Return which row of `hits` each row of `other` is of; -1 where none is."""
    if hits.users is None or other.users is None:
        return np.arange(len(other))
    place = {user: row for row, user in enumerate(hits.users)}
    return np.array([place.get(user, -1) for user in other.users], np.int64)


def _present(hits: Hits) -> NDArray[np.int64]:
    """Return how many items are listed within each k, (n_users, K)."""
    return np.minimum(hits.n_listed[:, np.newaxis], np.arange(1, hits.k + 1))
