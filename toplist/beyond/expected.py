"""What could not be expected: unexpectedness, and serendipity, where it is relevant too."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, Unpack, get_args

import numpy as np

from toplist import kernels, parallel
from toplist.beyond.indexing import IndexedLists, ReadLists, indexed_together, read_lists
from toplist.beyond.user_items import UserItems
from toplist.beyond.user_metrics import Fill, OfUser, of_hits
from toplist.checks import Floats, check_positive_int, choice
from toplist.inputs.options import Joining, Reading
from toplist.matching.hits import Hits
from toplist.matching.match import joined

SerendipityDivisor = Literal["k", "n", "unexpected"]
DIVISORS: tuple[SerendipityDivisor, ...] = get_args(SerendipityDivisor)


def unexpectedness(
    ranks: Any, k: int | None = None, *, expected: Any, **reading: Unpack[Reading]
) -> Floats:
    """Return the share of each list that could not be expected, at every k.

        unexpectedness@k of a user = items among the first k that are not in the expected list / how
        many these are

    (Ge, Delgado-Battenfeld, Jannach 2010, of Murakami, Mori, Orihara 2008.)

    Parameters
    ----------
    ranks, k, **reading
        As in `intra_list_diversity`.
    expected : lists of ids
        What each user could expect, in the forms of ground truths: the lists of a primitive
        recommender, what the user has seen; one set of ids is meant for everyone.

    Returns
    -------
    (K,) or (n_users, K) float64
        A row per user of `expected`, in its order (as `toplist.match` has one per user of the
        truth); NaN where nothing is listed.

    Examples
    --------
    >>> unexpectedness([[1, 2, 3], [3, 4]], expected={1, 2, 9}).round(4).tolist()
    [[0.0, 0.0, 0.3333], [1.0, 1.0, 1.0]]
    """
    lists = read_lists(ranks, k, reading)
    own = UserItems.of(expected, "expected", reading, lists.single)
    out, users = Unexpectedness(own).of_all(lists, reading)
    if lists.single or users is None or own.users is None:
        return out[0] if lists.single else out
    row = {user: place for place, user in enumerate(users)}
    rows = np.array([row.get(user, len(out)) for user in own.users], np.int64)
    found: Floats = np.vstack([out, np.full((1, out.shape[1]), np.nan)])[rows]
    return found


class Unexpectedness(OfUser):
    """The share of a list that was not expected; 0 stands for an expected item, 1 for others.

    `left_out` says that users without an expected list have no value.
    """

    def __init__(self, expected: UserItems, left_out: bool = True) -> None:
        self._expected, self._left_out = expected, left_out

    @property
    def key(self) -> tuple[str, int]:
        """What is equal for metrics whose lists are the same indices."""
        return "expected", self._left_out

    def index(self, lists: ReadLists, reading: Reading, whole: bool = True) -> IndexedLists:
        """Return the lists as 0 for an expected item, 1 for another."""
        n = len(lists.flat.lengths)
        rows = self._expected.rows(lists, n, whole)
        met, places = np.unique(rows[rows >= 0], return_inverse=True)
        mine, own_rows = self._expected.take(met), np.full(n, -1)
        own_rows[rows >= 0] = places
        # repeats are the business of the lists alone
        apart = mine.flat.offsets, mine.flat.lengths
        each = np.arange(len(mine.flat.ids) + 1)
        alone = replace(mine.flat, offsets=each, lengths=np.ones(len(mine.flat.ids), np.int64))
        both = lists, replace(mine, flat=alone)
        listed, own = indexed_together(both, ("ranks", "expected"), reading)
        out = np.full(len(listed.codes), -1)

        def flag(lo: int, hi: int) -> None:
            last = np.full(listed.n_items, -1, np.int32)
            part = slice(*listed.offsets[[lo, hi]])
            given = own_rows[lo:hi], own.codes, apart[0]
            kernels.labels.flag_known(*listed.block(lo, hi), *given, last, out[part])

        parallel.each(flag, parallel.bounds(listed.offsets), reading.get("n_threads"))
        if self._left_out and (rows < 0).any():
            out[np.repeat(rows < 0, np.diff(listed.offsets))] = -1
        return replace(listed, codes=out, n_items=2)

    def fill(self, listed: IndexedLists, lo: int, hi: int, out: Floats) -> None:
        """Write the curves of the users ``lo..hi`` into an array (hi - lo, K)."""
        kernels.list_values.means(*listed.block(lo, hi), np.array([0.0, 1.0]), out)


def serendipity(
    ranks: Any,
    ground_truths: Any,
    k: int | None = None,
    *,
    expected: Any,
    divisor: SerendipityDivisor = "k",
    **reading: Unpack[Reading],
) -> Floats:
    """Return the share of each list that is relevant and was not to be expected, at every k.

        serendipity@k of a user = items among the first k that are relevant and not in the
        expected / k

    (Ge, Delgado-Battenfeld, Jannach 2010: useful and unexpected recommendations.)

    Parameters
    ----------
    ranks, ground_truths, k
        As in `toplist.match`.
    expected, **reading
        As in `unexpectedness`; of users who have none, nothing was to be expected.
    divisor : {"k", "n", "unexpected"}
        k; the number of items listed within k; or that of the unexpected ones among these (0
        where there are none).

    Returns
    -------
    (K,) or (n_users, K) float64
        A row per user of the ground truth, in its order; NaN for users without relevant items.

    Examples
    --------
    >>> serendipity([[1, 2, 3]], [{1, 3}], expected=[{1, 9}]).round(4).tolist()
    [[0.0, 0.0, 0.3333]]
    """
    depth = None if k is None else check_positive_int(k, "k")
    hits, single = joined(ranks, ground_truths, depth, Joining(**reading))
    lists = read_lists(ranks, hits.k or None, reading)
    own = UserItems.of(expected, "expected", reading, single)
    out, _ = Serendipity(own, divisor).of_all(lists, reading, hits)
    return out[0] if single else out


class Serendipity(Unexpectedness):
    """The share of a list that is relevant and was not expected."""

    def __init__(self, expected: UserItems, divisor: SerendipityDivisor = "k") -> None:
        choice("divisor", divisor, DIVISORS)
        super().__init__(expected, left_out=False)
        self._over = DIVISORS.index(divisor)

    def fills(self, listed: IndexedLists, hits: Hits | None, whole: bool) -> tuple[int, Fill]:
        """Return the number of users of the truth, and what writes their curves."""
        below = np.array([1.0, 1.0] if self._over == 1 else [0.0, 1.0])
        return of_hits(listed, hits, np.array([0.0, 1.0]), below, min(self._over, 1))
