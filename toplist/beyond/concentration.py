"""How recommendations spread over the items: coverage, Gini, entropy, and overlap of users.

How many items are listed how often is all that this needs. A database counts that itself, in some
dozen rows, however many lists and items there are. In DuckDB, for k = 10::

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
from typing import Any, Literal, NoReturn, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from toplist.beyond.exposure import Curves, Exposure, exposure
from toplist.beyond.indexing import ListingCounts
from toplist.checks import Floats, Ints, check_positive_int, choice
from toplist.inputs.catalogues import CountColumns, are_columns, counts_of, ids_of, whole_number
from toplist.inputs.items import Unknown, needs
from toplist.inputs.options import Reading

Over = Literal["catalogue", "recommended"]
OVER: tuple[Over, ...] = get_args(Over)
GiniDivisor = Literal["n", "n-1"]
DIVISORS: tuple[GiniDivisor, ...] = get_args(GiniDivisor)
Unit = Literal["nats", "bits"]
UNITS: tuple[Unit, ...] = get_args(Unit)
EntropyVariant = Literal["shannon", "recbole"]
VARIANTS: tuple[EntropyVariant, ...] = get_args(EntropyVariant)


class Counting(Reading, total=False):
    """How lists are read and counted: the keywords of `toplist.beyond.exposure`."""

    catalogue: Any
    unknown: Unknown


def item_coverage(ranks: Any, k: int | None = None, **reading: Unpack[Counting]) -> Floats:
    """Return the share of the catalogue that is in any list, at every k.

        item_coverage@k = distinct items in all lists down to k / size of the catalogue

    (Ge, Delgado-Battenfeld, Jannach 2010; RecBole's ItemCoverage.)

    Parameters
    ----------
    ranks : ranked lists of ids, Exposure, or CountsOfCounts
        In every form that `toplist.match` takes for ranks; or what `exposure` or
        `from_counts_of_counts` returned.
    k : int, optional
        The largest k wanted; default the longest list. May exceed every list. Counts of counts
        have their own k's, and give a value for each.
    **reading
        catalogue (needed), unknown, duplicates, padding, columns, n_threads, items_as: as in
        `exposure`.

    Returns
    -------
    (K,) float64

    Raises
    ------
    TypeError, ValueError
        As `exposure`; and without a catalogue.

    Examples
    --------
    >>> item_coverage([[5, 7, 3], [4, 5, 2], [2, 3, 5], [1, 4, 6], [5, 3, 7]], catalogue=8).tolist()
    [0.5, 0.75, 0.875]
    """
    _, n_items, curves = _curves(ranks, k, reading, "item_coverage")
    return curves.covered / n_items


def gini(
    ranks: Any,
    k: int | None = None,
    *,
    over: Over = "catalogue",
    divisor: GiniDivisor = "n",
    **reading: Unpack[Counting],
) -> Floats:
    """Return Gini's index of how often items are listed, at every k: 0 alike, towards 1 unequal.

        gini@k = sum over i of (2 i - n - 1) x_(i), divided by n (or n - 1) times sum of x_i

    x_(i) are the numbers of lists that hold the item within k, rising; i = 1..n. Libraries
    differ: over the catalogue with n (RecBole, irspack, LensKit), over what is recommended with
    n - 1 (Evidently), one minus it over the catalogue with n - 1 (Elliot).

    Parameters
    ----------
    ranks, k, **reading
        As in `item_coverage`.
    over : {"catalogue", "recommended"}
        The n items: all of a stated catalogue, or those that are listed within k.
    divisor : {"n", "n-1"}
        With n - 1, one item of several that gets everything gives exactly 1; if there is
        only one item, the index is 0.

    Returns
    -------
    (K,) float64
        Exact up to one rounding; NaN where nothing is listed.

    Examples
    --------
    >>> lists = [[5, 7, 3], [4, 5, 2], [2, 3, 5], [1, 4, 6], [5, 3, 7]]
    >>> gini(lists, catalogue=8).round(6).tolist()
    [0.575, 0.425, 0.341667]
    >>> gini(lists, over="recommended", divisor="n-1").round(6).tolist()
    [0.2, 0.28, 0.288889]
    """
    choice("over", over, OVER)
    choice("divisor", divisor, DIVISORS)
    needing = "gini over the catalogue" if over == "catalogue" else None
    _, n_items, curves = _curves(ranks, k, reading, needing)
    n, total = curves.covered, curves.total
    if over == "catalogue":
        n = np.full_like(n, n_items)
    if int(n.max(initial=0)) * int(total.max(initial=0)) >= 2**53:
        n, total = n.astype(object), total.astype(object)  # Python's integers: one rounding
    below = (n if divisor == "n" else n - 1) * total
    return _ratio(n * total - curves.squares, below, curves)


def shannon_entropy(
    ranks: Any,
    k: int | None = None,
    *,
    unit: Unit = "nats",
    normalised: Over | None = None,
    variant: EntropyVariant = "shannon",
    **reading: Unpack[Counting],
) -> Floats:
    """Return the Shannon entropy of how often items are listed, at every k: high is even.

        shannon_entropy@k = - sum over listed items of p log p,  p = x / sum of x

    x are the numbers of lists that hold the item within k.

    Parameters
    ----------
    ranks, k, **reading
        As in `item_coverage`; no catalogue is needed, unless to normalise by it.
    unit : {"nats", "bits"}
        Logarithms to base e, or 2.
    normalised : {"catalogue", "recommended"}, optional
        Divide by the largest entropy possible, the logarithm of the number of these items.
    variant : {"shannon", "recbole"}
        "recbole" divides by the number of listed items, as RecBole 1.2 does (its documented
        formula does not: RUCAIBox/RecBole, pull request 2165).

    Returns
    -------
    (K,) float64
        NaN where nothing is listed; normalised, 0 where there is one item only.

    Examples
    --------
    >>> lists = [[5, 7, 3], [4, 5, 2], [2, 3, 5], [1, 4, 6], [5, 3, 7]]
    >>> shannon_entropy(lists).round(6).tolist()
    [1.332179, 1.695743, 1.84139]
    >>> shannon_entropy(lists, 3, unit="bits")[-1].round(6)
    np.float64(2.656565)
    >>> shannon_entropy(lists, 3, variant="recbole")[-1].round(6)
    np.float64(0.263056)
    """
    choice("unit", unit, UNITS)
    choice("variant", variant, VARIANTS)
    if normalised is not None:
        choice("normalised", normalised, OVER)
    if normalised and variant != "shannon":
        raise ValueError(f"normalised={normalised!r} is for variant='shannon', not {variant!r}")
    needing = "shannon_entropy normalised by the catalogue" if normalised == "catalogue" else None
    _, n_items, curves = _curves(ranks, k, reading, needing)
    ones = np.ones_like(curves.entropy)
    if normalised:
        n = ones * n_items if normalised == "catalogue" else np.maximum(curves.covered, 1)
        return _ratio(curves.entropy, np.log(n), curves)
    base = np.log(2.0) if unit == "bits" else 1.0
    return _ratio(curves.entropy, (curves.covered if variant == "recbole" else ones) * base, curves)


def personalisation(ranks: Any, k: int | None = None, **reading: Unpack[Counting]) -> Floats:
    """Return one minus the mean overlap of two users' lists, at every k: 1 is nothing shared.

        personalisation@k = 1 - mean over pairs of users of |both lists down to k| / k

    For lists of k items that is one minus the cosine of the users' 0/1 rows, as recmetrics
    computes it from a matrix of users x users; here the pairs are counted by item, x (x - 1) / 2
    for an item in x lists. Past the end of a short list, the places are misses.

    Parameters
    ----------
    ranks, k, **reading
        As in `item_coverage`; no catalogue is needed. Counts of counts need to be by k, and the
        number of lists.

    Returns
    -------
    (K,) float64
        NaN for fewer than two lists; an empty list is none.

    Examples
    --------
    >>> personalisation([[1, 2], [1, 3], [1, 2]]).round(4).tolist()
    [0.0, 0.3333]
    """
    found, _, curves = _curves(ranks, k, reading, None)
    n, ks = found.n_users, [k for k in found.ks if k is not None]
    if n is None or len(ks) < len(found.ks):
        raise ValueError(
            "personalisation needs k and the number of lists: from_counts_of_counts({k: counts}, "
            "n_users=...)"
        )
    if n < 2:
        return np.full(len(curves.total), np.nan)
    shared = curves.spread - curves.total  # of every pair twice
    overlap: Floats = (shared / (n * (n - 1))).astype(np.float64)
    return np.asarray(1.0 - overlap / ks[: len(shared)])


def _curves(
    ranks: Any, k: int | None, reading: Counting, needing: str | None
) -> tuple[Exposure | CountsOfCounts, int, Curves]:
    """Return the exposure, the size of its catalogue (0: none), and its curves down to k.

    `needing` names what needs a catalogue.
    """
    if isinstance(ranks, (Exposure, CountsOfCounts)):
        named = "an Exposure" if isinstance(ranks, Exposure) else "of type CountsOfCounts"
        counted_already(named, reading)
        found: Exposure | CountsOfCounts = ranks
    else:
        if needing and reading.get("catalogue") is None:
            raise needs(needing, "catalogue")
        found = exposure(ranks, k, **reading)
    stated = None if isinstance(found, Exposure) and found.catalogue is None else found.n_items
    if needing and stated is None:
        raise needs(needing, "catalogue")
    return found, stated or 0, found.curves.down_to(found.depth(k))


def counted_already(named: str, reading: Counting) -> None:
    """Raise TypeError for keywords of lists beside what holds none."""
    given = [name for name in reading if name != "n_threads"]
    if given:
        raise TypeError(f"ranks is {named}, counted already: it takes no {given[0]}")


def _ratio(above: NDArray[Any], below: NDArray[Any], curves: Curves) -> Floats:
    """Return the ratio: 0 for 0 / 0, NaN where nothing is listed."""
    out, some = np.zeros(len(curves.total)), below != 0
    out[some] = above[some] / below[some]
    out[curves.total == 0] = np.nan
    return out


# k -> count -> number of items, both rising; the k None where none was given.
Frequencies = Mapping[int | None, Mapping[int, int]]
_COLUMNS = CountColumns(
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
    held = counts.values() if isinstance(counts, Mapping) else ()
    several = any(  # counts of counts, rather than numbers of items
        (hasattr(one, "__len__") and not isinstance(one, (str, bytes))) or hasattr(one, "collect")
        for one in held
    )
    if several and not are_columns(counts):
        alone = set(counts) == {None}  # as `frequencies` of counts without a k
        by_k = {None if alone else check_positive_int(k, "k"): one for k, one in counts.items()}
        frequencies: Frequencies = {
            k: _read(by_k[k], _name(k)) for k in sorted(by_k, key=lambda k: k or 0)
        }
    else:
        frequencies = {None: _read(counts, _name(None))}
    if n_users is not None:
        n_users = whole_number(n_users, "n_users")
    _check(frequencies, n_users)
    n_items = _size(catalogue, frequencies)
    if n_items is not None:
        frequencies = {k: {0: n_items - _listed(one), **one} for k, one in frequencies.items()}
    return CountsOfCounts(frequencies, n_items, n_users)


def _read(counts: Any, name: str) -> dict[int, int]:
    """Return the number of items of each count, rising; none for a count of no item, but for 0."""
    found = counts_of(counts, name, _COLUMNS)
    return {count: found[count] for count in sorted(found) if found[count] or not count}


def _check(frequencies: Frequencies, n_users: int | None) -> None:
    """Raise ValueError for more listings than lists can hold, and for fewer at a larger k."""
    if n_users is not None:
        for k, one in frequencies.items():
            most, total = max(one, default=0), _listings(one)
            if most > n_users:
                raise ValueError(
                    f"{_name(k)}: an item is in {most:,} lists, but there are {n_users:,} lists: "
                    "count an item once per list"
                )
            if k is not None and total > n_users * k:
                raise ValueError(
                    f"{_name(k)}: {total:,} listings, but {n_users:,} lists of {k} hold at most "
                    f"{n_users * k:,}"
                )
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
        stated = whole_number(check_positive_int(catalogue, "catalogue"), "catalogue")
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


def _levels(one: Mapping[int, int]) -> tuple[Ints, Ints]:
    """Return the counts from 1 on, rising, and how many items have each."""
    levels, sizes = np.array([*one.items()], np.int64).reshape(-1, 2).T
    return levels[levels > 0], sizes[levels > 0]
