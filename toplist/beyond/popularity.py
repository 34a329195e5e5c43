"""Values of items averaged over lists: average popularity, share of the tail, novelty.

Metrics of hits reward the popular too: `toplist.propensities` takes that out.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal, Unpack, get_args

import numpy as np

from toplist import kernels
from toplist.beyond.indexing import (
    IndexedLists,
    Indexing,
    codes_of,
    read_lists,
)
from toplist.beyond.user_items import UserItems
from toplist.beyond.user_metrics import Fill, OfUser
from toplist.checks import Floats, check_positive_int, choice
from toplist.inputs.facts import values_of
from toplist.inputs.items import Unknown
from toplist.inputs.options import Reading
from toplist.matching.hits import Hits

UnknownToTail = Literal["raise", "skip", "tail", "head"]
UNKNOWN_TO_TAIL: tuple[UnknownToTail, ...] = get_args(UnknownToTail)


def average_popularity(
    ranks: Any,
    k: int | None = None,
    *,
    counts: Any,
    unknown: Unknown | float = "raise",
    **reading: Unpack[Reading],
) -> Floats:
    """Return the mean number of interactions of the items in each list, at every k.

        average_popularity@k of a user = sum of counts of the first k items / how many these are

    (RecBole's AveragePopularity, with unknown=0; ARP in Abdollahpouri, Burke, Mobasher 2019.)
    To have shares in place of counts, give shares as `counts`.

    Parameters
    ----------
    ranks : ranked lists of ids
        In every form that `toplist.match` takes for ranks.
    k : int, optional
        The largest k wanted; default the longest list. May exceed every list.
    counts : dict item -> number, or array
        Interactions of each item in the training data; an array's places are the ids 0..n-1, a
        pandas Series is indexed by the ids.
    unknown : "raise", "skip", or a number
        An item without a count: refused, left out of the mean, or taken to have this count.
    **reading
        duplicates ("first": later places of an item are left out of the mean), padding, columns,
        n_threads, items_as: as in `toplist.beyond.exposure`.

    Returns
    -------
    (K,) or (n_users, K) float64
        Of one user, or a row per user, in the order of the lists. Past the end of a list the mean
        stays; NaN where nothing is listed.

    Raises
    ------
    TypeError, ValueError
        As `toplist.beyond.exposure`; and for counts that are negative or not finite.

    Examples
    --------
    >>> average_popularity([[5, 7, 3]], counts={3: 2, 5: 4}, unknown=0).tolist()
    [[4.0, 2.0, 2.0]]
    """
    return popularity_of(counts, unknown).curves(ranks, k, reading)


def tail_percentage(
    ranks: Any,
    k: int | None = None,
    *,
    counts: Any,
    share: float | None = None,
    n_items: int | None = None,
    max_count: float | None = None,
    unknown: UnknownToTail = "raise",
    **reading: Unpack[Reading],
) -> Floats:
    """Return the share of long-tail items in each list, at every k.

        tail_percentage@k of a user = items of the tail among the first k / how many these are

    The tail is of the items in `counts`, by one of three arguments. (RecBole's
    TailPercentage with ``unknown="head"``: its tail_ratio up to 1 is `share`, above 1
    `max_count`. APLT in Abdollahpouri, Burke, Mobasher 2019.)

    Parameters
    ----------
    ranks, k, counts, **reading
        As in `average_popularity`.
    share : float, optional
        The tail is this share of the items, the least popular, rounded down, at least one;
        among equal counts the smaller id comes first, text of whole numbers by these, so that ids
        of a CSV file go as the numbers do: "9" before "11". Default 0.1.
    n_items : int, optional
        The tail is this number of items, the least popular.
    max_count : number, optional
        The tail is all items with at most this count.
    unknown : {"raise", "skip", "tail", "head"}
        An item without a count: refused, left out of the mean, or taken to be of the tail or not.

    Returns
    -------
    (K,) or (n_users, K) float64

    Examples
    --------
    >>> counts = {1: 0, 2: 1, 3: 2, 4: 3, 5: 4, 6: 5}
    >>> tail_percentage([[1, 4, 6]], counts=counts, share=0.1).round(4).tolist()
    [[1.0, 0.5, 0.3333]]
    >>> tail_percentage([[1, 4, 6]], counts=counts, max_count=3).round(4).tolist()
    [[1.0, 1.0, 0.6667]]
    """
    return tail_of(counts, unknown, share, n_items, max_count).curves(ranks, k, reading)


def popularity_lift(
    ranks: Any,
    k: int | None = None,
    *,
    history: Any,
    counts: Any,
    unknown: Unknown | float = "raise",
    **reading: Unpack[Reading],
) -> Floats:
    """Return how much more popular each list is than the user's history, at every k.

        popularity_lift@k of a user = (mean count of the first k items - m) / m,
        m: mean count of the items in the user's history

    0 is a list as popular as what the user had, 1 one that is twice as popular. (Abdollahpouri,
    Mansoury, Burke, Mobasher 2019, "The unfairness of popularity bias in recommendation", where
    the means are over a group of users first.)

    Parameters
    ----------
    ranks, k, counts, **reading
        As in `average_popularity`.
    history : dict user -> items, pandas Series, or table
        What each user had before, by key, or by position if the lists are. An item counts as often
        as it is there.
    unknown : "raise", "skip", or a number
        As in `average_popularity`; of items of the history too.

    Returns
    -------
    (K,) or (n_users, K) float64
        NaN of users without a history, or of one whose items all have the count 0, and where
        nothing is listed.

    Examples
    --------
    >>> lists, history = {"ann": ["a", "b"]}, {"ann": ["b", "c"]}
    >>> popularity_lift(lists, history=history, counts={"a": 9, "b": 3, "c": 3}).tolist()
    [[2.0, 1.0]]
    """
    lists = read_lists(ranks, k, reading)
    own = UserItems.of(history, "history", reading, lists.single)
    listed = popularity_of(counts, unknown)
    return PopularityLift(own, listed, reading).curves(lists, k, reading)


def novelty(
    ranks: Any,
    k: int | None = None,
    *,
    counts: Any,
    total: float | None = None,
    unknown: Unknown | float = "raise",
    **reading: Unpack[Reading],
) -> Floats:
    """Return the mean self-information of the items in each list, in bits, at every k.

        novelty@k of a user = mean over the first k items of -log2(count / total)

    (Zhou et al. 2010, "Solving the apparent diversity-accuracy dilemma of recommender systems",
    with total = number of users; RecTools' MeanInvUserFreq, with unknown=1.)

    Parameters
    ----------
    ranks, k, counts, **reading
        As in `average_popularity`.
    total : number, optional
        What the counts are shares of: the number of users, for counts of users. Default: the sum
        of the counts, so that p is the share of all interactions.
    unknown : "raise", "skip", or a number
        An item without a count, or with 0, whose self-information would be infinite: refused,
        left out of the mean, or taken to have this count.

    Returns
    -------
    (K,) or (n_users, K) float64
        From 0 on, where no count exceeds the total.

    Examples
    --------
    >>> novelty([["a", "b"]], counts={"a": 8, "b": 1}, total=8).tolist()
    [[0.0, 1.5]]
    """
    return novelty_of(counts, unknown, total).curves(ranks, k, reading)


class ItemValues(OfUser):
    """A value for each item, the mean of which over a list is a metric of the user.

    `way_out` says what else to do with unknown items.
    """

    def __init__(self, ids: Any, values: Floats, unknown: float | None, way_out: str) -> None:
        code = None  # refused
        if unknown is not None:
            code = -1 if np.isnan(unknown) else len(ids)  # left out, or an item of its own
        if set(map(type, ids)) == {int} and np.array(ids).dtype == np.int64:
            ids = np.array(ids)  # once for all parts of the lists
        self.items = Indexing(ids, "counts", code, way_out)
        self.values = np.append(values, 0.0 if unknown is None else unknown)

    def fill(self, listed: IndexedLists, lo: int, hi: int, out: Floats) -> None:
        """Write the curves of the users ``lo..hi`` into an array (hi - lo, K)."""
        kernels.list_values.means(*listed.block(lo, hi), self.values, out)


class PopularityLift(OfUser):
    """How much more popular a list is than the user's history."""

    def __init__(self, history: UserItems, listed: ItemValues, reading: Reading) -> None:
        self.items, self._listed, self._history = listed.items, listed, history
        codes = codes_of(history.flat, listed.items.reading(reading))
        row = np.repeat(np.arange(len(history.flat.lengths)), history.flat.lengths)[codes >= 0]
        values = listed.values[codes[codes >= 0]]
        n, total = (np.bincount(row, one, len(history.flat.lengths)) for one in (None, values))
        self._known = np.full(len(n) + 1, np.nan)  # the last: of a user without a history
        np.divide(total, n, out=self._known[:-1], where=total > 0)

    def fills(self, listed: IndexedLists, hits: Hits | None, whole: bool) -> tuple[int, Fill]:
        """Return the number of users, and what writes their curves."""
        known = self._known[self._history.rows(listed, len(listed), whole)]

        def fill(lo: int, hi: int, out: Floats) -> None:
            self._listed.fill(listed, lo, hi, out)
            own = known[lo:hi, np.newaxis]
            out -= own
            out /= own

        return len(listed), fill


def popularity_of(counts: Any, unknown: Unknown | float) -> ItemValues:
    """Return the counts as values."""
    ids, counts = values_of(counts, "counts")
    way_out = "unknown='skip' leaves such items out, a number is their count"
    return ItemValues(ids, counts, _unknown(unknown), way_out)


def tail_of(
    counts: Any,
    unknown: UnknownToTail,
    share: float | None = None,
    n_items: int | None = None,
    max_count: float | None = None,
) -> ItemValues:
    """Return 1 for the items of the tail, else 0."""
    words = dict(zip(UNKNOWN_TO_TAIL, (None, np.nan, 1.0, 0.0), strict=True))
    choice("unknown", unknown, UNKNOWN_TO_TAIL)
    if sum(given is not None for given in (share, n_items, max_count)) > 1:
        raise ValueError("the tail is given twice: by one of share, n_items, max_count")
    ids, counts = values_of(counts, "counts")
    if max_count is not None:
        tail = counts <= max_count
    else:
        share = 0.1 if share is None else share
        if not 0 < share <= 1:
            raise ValueError(f"share must be above 0 and at most 1, not {share!r}")
        # as it is written: 0.29 of 100 is 29, in floats 28.999999999999996
        least = max(int(len(counts) * Fraction(str(share))), 1)
        size = least if n_items is None else check_positive_int(n_items, "n_items")
        tail = np.zeros(len(counts), bool)
        order = np.argsort(counts, kind="stable")  # by count, then by id
        if not isinstance(ids, np.ndarray):
            keys = [(count, _sort_key(one)) for count, one in zip(counts, ids, strict=True)]
            order = np.array(sorted(range(len(ids)), key=keys.__getitem__), np.int64)
        tail[order[:size]] = True
    way_out = "unknown='skip' leaves such items out, 'tail' and 'head' count them"
    return ItemValues(ids, tail.astype(np.float64), words[unknown], way_out)


def novelty_of(counts: Any, unknown: Unknown | float, total: float | None = None) -> ItemValues:
    """Return the self-information of the items, in bits."""
    ids, counts = values_of(counts, "counts")
    all_counts = counts.sum() if total is None else float(total)
    if not 0 < all_counts < np.inf and len(counts):
        raise ValueError(f"total must be a finite number above 0, not {all_counts:g}")
    seen = counts > 0
    ids = ids[seen] if isinstance(ids, np.ndarray) else [ids[i] for i in np.flatnonzero(seen)]
    given = _unknown(unknown)
    if given == 0:
        raise ValueError("unknown=0: a count of 0 has no self-information; give a count above 0")
    information = np.log2(all_counts / counts[seen])
    way_out = "with a count above 0; unknown='skip' leaves such items out, a number is their count"
    other = None if given is None else float(np.log2(all_counts / given))
    return ItemValues(ids, information, other, way_out)


def _unknown(unknown: Unknown | float) -> float | None:
    """Return the count of unknown items; NaN to leave them out, None to refuse them."""
    if unknown == "raise":
        return None
    if unknown == "skip":
        return np.nan
    number = isinstance(unknown, (int, float, np.number)) and not isinstance(unknown, bool)
    if not number or not 0 <= float(unknown) < np.inf:
        raise ValueError(f"unknown={unknown!r}: give 'raise', 'skip', or a count from 0 on")
    return float(unknown)


def _sort_key(one: Any) -> Any:
    """Return the key that orders an id: text of a whole number, as in a CSV file, by the number."""
    if isinstance(one, str):
        number = one.isascii() and one.isdigit() and str(int(one)) == one
        return (0, int(one), "") if number else (1, 0, one)
    return one
