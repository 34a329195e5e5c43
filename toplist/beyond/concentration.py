"""How recommendations spread over the items: coverage, Gini, entropy, and overlap of users."""

from __future__ import annotations

from typing import Any, Literal, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from toplist.beyond.exposure import Curves, Exposure, exposure
from toplist.checks import Floats, choice
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
    ranks : ranked lists of ids, or Exposure
        In every form that `toplist.match` takes for ranks; or what `exposure` returned.
    k : int, optional
        The largest k wanted; default the longest list. May exceed every list.
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
        As in `item_coverage`; no catalogue is needed.

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
    n, ks = found.n_users, found.ks
    if n < 2:
        return np.full(len(curves.total), np.nan)
    shared = curves.spread - curves.total  # of every pair twice
    overlap: Floats = (shared / (n * (n - 1))).astype(np.float64)
    return np.asarray(1.0 - overlap / ks[: len(shared)])


def _curves(
    ranks: Any, k: int | None, reading: Counting, needing: str | None
) -> tuple[Exposure, int, Curves]:
    """Return the exposure, the size of its catalogue (0: none), and its curves down to k.

    `needing` names what needs a catalogue.
    """
    if isinstance(ranks, Exposure):
        given = [name for name in reading if name != "n_threads"]
        if given:
            raise TypeError(f"ranks is an Exposure, counted already: it takes no {given[0]}")
        found = ranks
    else:
        if needing and reading.get("catalogue") is None:
            raise needs(needing, "catalogue")
        found = exposure(ranks, k, **reading)
    if needing and found.catalogue is None:
        raise needs(needing, "catalogue")
    n_items = 0 if found.catalogue is None else found.n_items
    return found, n_items, found.curves.down_to(found.depth(k))


def _ratio(above: NDArray[Any], below: NDArray[Any], curves: Curves) -> Floats:
    """Return the ratio: 0 for 0 / 0, NaN where nothing is listed."""
    out, some = np.zeros(len(curves.total)), below != 0
    out[some] = above[some] / below[some]
    out[curves.total == 0] = np.nan
    return out
