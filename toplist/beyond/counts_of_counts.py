"""Concentration from counts of counts: how many items are listed how often is all it needs.

A database counts that itself, in some dozen rows, however many lists and items there are. In
DuckDB, for k = 10::

    rows = con.sql("WITH seen AS (SELECT COUNT(*) n FROM recs WHERE rank <= 10 GROUP BY item_id) "
                   "SELECT n, COUNT(*) FROM seen GROUP BY n").fetchall()
    found = beyond.from_counts_of_counts({10: rows}, catalogue=100_000_000)

and in Spark::

    seen = recs.where("rank <= 10").groupBy("item_id").count()
    rows = seen.groupBy("count").agg({"*": "count"}).collect()
    found = beyond.from_counts_of_counts({10: rows}, catalogue=100_000_000)

Both count rows: where a list may hold an item twice, count distinct users instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from toplist.beyond.exposure import Curves
from toplist.beyond.indexing import ListingCounts
from toplist.checks import whole
from toplist.inputs.catalogues import ids_of
from toplist.inputs.counts import Columns, are_columns, read, whole_number

# k -> count -> number of items, both rising; the k None where none was given.
Frequencies = Mapping[int | None, Mapping[int, int]]
_COLUMNS = Columns(
    "count", "number of items", "{0: 20, 1: 7, 2: 3}", "; or a dict of k -> one of these"
)


@dataclass(frozen=True, eq=False)
class CountsOfCounts(ListingCounts):
    """How many items are in how many lists, within each of some k's.

    Made by `from_counts_of_counts`; `item_coverage`, `gini`, `shannon_entropy` and, where the
    number of lists is known, `personalisation` take it in place of the lists, and return one
    value per k. Which items are listed, and at which ranks, it cannot say. Two of these do not add
    up, since an item may be in both: add the counts of the items, and count those.

    There is no other stored form: `frequencies` is small, and `from_counts_of_counts` takes it.

    Attributes
    ----------
    frequencies : dict of k -> dict of count -> number of items
        Rising; with the count 0, if `n_items` is known. Counts that were given without a k have
        the k None.
    n_items : int or None
        Size of the catalogue.
    n_users : int or None
        Number of lists.

    Examples
    --------
    >>> from toplist import beyond
    >>> beyond.from_counts_of_counts({10: {1: 7, 2: 3}}, catalogue=30, n_users=2)
    CountsOfCounts(k=10, 30 items, 2 lists)
    """

    frequencies: Frequencies
    n_items: int | None
    n_users: int | None

    @property
    def ks(self) -> tuple[int | None, ...]:
        """Each k, rising."""
        return tuple(self.frequencies)

    @property
    def curves(self) -> Curves:
        """The sums from which the metrics are computed, at each k."""
        return Curves.of(map(_levels, self.frequencies.values()))

    def depth(self, k: int | None) -> int:
        """Return the number of k's; TypeError if one is asked for."""
        if k is not None:
            raise TypeError("counts of counts are of some k's already, and give a value for each")
        return len(self.frequencies)

    def __repr__(self) -> str:
        """Return the k's and the sizes."""
        known = [f"k={k}" for k in self.ks if k is not None]
        known += ["no stated catalogue" if self.n_items is None else f"{self.n_items:,} items"]
        known += [] if self.n_users is None else [f"{self.n_users:,} lists"]
        return f"CountsOfCounts({', '.join(known)})"

    def __add__(self, other: Any) -> NoReturn:
        """Refuse: it is not known which items are in both."""
        raise TypeError(
            "counts of counts do not add up, since an item may be in both: add the counts of each "
            "item, and count those"
        )

    __radd__ = __add__


def from_counts_of_counts(
    counts: Any, *, catalogue: Any = None, n_users: int | None = None
) -> CountsOfCounts:
    """Take from a database how many items are in how many lists; `gini` and others take the result.

    The figures are those of `exposure` of the lists, to the last bit.

    Parameters
    ----------
    counts : dict of count -> number of items, list of pairs, table, or tuple of two arrays
        How many items are in exactly so many lists. Pairs are rows as a database returns them,
        whole Decimals too. A table (also a relation of DuckDB, and what ``fetchnumpy()`` returns)
        has two columns, the count first; a Series has the counts in its index, as
        ``value_counts()`` makes it. The count 0 says how many items of the
        catalogue are never listed; it may be left out. Or a dict of k -> one of these, of what is
        listed within each k.
    catalogue : int or ids, optional
        All items that could be listed, of which only the number counts. It may be left out if the
        count 0 is there, or if a metric needs no catalogue.
    n_users : int, optional
        The number of lists; `personalisation` needs it, and counts are checked against it.

    Returns
    -------
    CountsOfCounts
        Metrics of it are arrays with one value per k, rising: (1,) for counts of one k.

    Raises
    ------
    TypeError
        For counts in another form.
    ValueError
        For numbers that are not whole or below 0, a count twice, other numbers of items than the
        catalogue has, an item in more lists than there are, fewer listings at a larger k.

    Examples
    --------
    Of 8 items 1 is in no list, 2 are in one, 3 in two, 1 in three and 1 in four; then at two k's.

    >>> from toplist import beyond
    >>> found = from_counts_of_counts({0: 1, 1: 2, 2: 3, 3: 1, 4: 1})
    >>> beyond.gini(found).round(6).tolist(), beyond.item_coverage(found).tolist()
    ([0.341667], [0.875])
    >>> found = from_counts_of_counts({1: {1: 3, 2: 1}, 3: {1: 2, 2: 3, 3: 1, 4: 1}}, catalogue=8)
    >>> beyond.item_coverage(found).tolist()
    [0.5, 0.875]

    A billion lists of one item each, and a thousand items, counted by numpy:

    >>> import numpy as np
    >>> listed = np.repeat([500_000, 1_500_000], 500)
    >>> found = from_counts_of_counts(np.unique(listed, return_counts=True), catalogue=1000)
    >>> beyond.gini(found).tolist()
    [0.25]
    """
    several = isinstance(counts, Mapping) and any(map(_holds_counts, counts.values()))
    if several and not are_columns(counts):
        alone = set(counts) == {None}  # as `frequencies` of counts without a k
        by_k = {None if alone else whole(k, "k"): one for k, one in counts.items()}
        frequencies: Frequencies = {
            k: _read(by_k[k], _name(k)) for k in sorted(by_k, key=lambda k: k or 0)
        }
    else:
        frequencies = {None: _read(counts, _name(None))}
    if n_users is not None:
        n_users = whole_number(n_users, "n_users")
        _refuse_more_listings(frequencies, n_users)
    _refuse_falling(frequencies)
    n_items = _size(catalogue, frequencies)
    if n_items is not None:
        frequencies = {k: {0: n_items - _listed(one), **one} for k, one in frequencies.items()}
    return CountsOfCounts(frequencies, n_items, n_users)


def _holds_counts(value: Any) -> bool:
    """Whether a value of a dict is counts of counts, rather than a number of items."""
    sized = hasattr(value, "__len__") and not isinstance(value, (str, bytes))
    return sized or hasattr(value, "collect")


def _read(counts: Any, name: str) -> dict[int, int]:
    """Return the number of items of each count, rising; none for a count of no item, but for 0."""
    found = read(counts, name, _COLUMNS)
    return {count: found[count] for count in sorted(found) if found[count] or not count}


def _refuse_more_listings(frequencies: Frequencies, n_users: int) -> None:
    """Raise ValueError if an item, or all of them, are listed more often than lists can hold."""
    for k, one in frequencies.items():
        most, total = max(one, default=0), _listings(one)
        if most > n_users:
            raise ValueError(
                f"{_name(k)}: an item is in {most:,} lists, but there are {n_users:,} lists: count "
                "an item once per list"
            )
        if k is not None and total > n_users * k:
            raise ValueError(
                f"{_name(k)}: {total:,} listings, but {n_users:,} lists of {k} hold at most "
                f"{n_users * k:,}"
            )


def _refuse_falling(frequencies: Frequencies) -> None:
    """Raise ValueError if there are fewer listings, or listed items, at a larger k."""
    for (a, before), (b, after) in pairwise(frequencies.items()):
        for what, number in (("listings", _listings), ("listed items", _listed)):
            if number(after) < number(before):
                raise ValueError(
                    f"{_name(b)}: {number(after):,} {what}, fewer than the {number(before):,} at "
                    f"k={a}: what is within a smaller k is within a larger one"
                )


def _size(catalogue: Any, frequencies: Frequencies) -> int | None:
    """Return the size of the catalogue, stated or with the count 0; ValueError for another one."""
    sizes = {k: sum(one.values()) for k, one in frequencies.items()}
    if catalogue is None:
        stated = next((sizes[k] for k, one in frequencies.items() if 0 in one), None)
    elif isinstance(catalogue, (int, np.integer)):
        stated = whole_number(whole(catalogue, "catalogue"), "catalogue")
    else:
        stated = len(ids_of(catalogue))
    for k, one in frequencies.items():
        if stated is not None and (sizes[k] > stated or (0 in one and sizes[k] < stated)):
            listed = _listed(one)
            way = f"leave out the count 0, or make it {stated - listed:,}"
            if listed > stated:
                way = f"{listed:,} are listed, and the catalogue is to hold them"
            said = f"{sizes[k]:,} items, but the catalogue has {stated:,}"
            raise ValueError(f"{_name(k)}: {said}: {way}")
    return stated


def _name(k: int | None) -> str:
    return "counts" if k is None else f"counts at k={k}"


def _listings(one: Mapping[int, int]) -> int:
    return sum(count * n for count, n in one.items())


def _listed(one: Mapping[int, int]) -> int:
    return sum(n for count, n in one.items() if count)


def _levels(one: Mapping[int, int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the counts from 1 on, rising, and how many items have each."""
    levels, sizes = np.array([*one.items()], np.int64).reshape(-1, 2).T
    return levels[levels > 0], sizes[levels > 0]
