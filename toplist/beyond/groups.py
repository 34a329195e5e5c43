"""How exposure is shared among groups of items, beside their shares of the catalogue or merit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np

from toplist import kernels, parallel
from toplist.beyond.concentration import Counting, counted_already
from toplist.beyond.exposure import Exposure, discounts_of, exposure
from toplist.beyond.indexing import IndexedLists, ReadLists, indexed_together, read_lists
from toplist.checks import Floats, Ints, counted, is_missing, prefixed
from toplist.inputs.catalogues import values_of
from toplist.inputs.flatten import is_frame
from toplist.inputs.items import needs
from toplist.inputs.keyed import is_series
from toplist.inputs.options import Reading

Against = Literal["catalogue", "merit"]


@dataclass(frozen=True, eq=False)
class GroupExposure:
    """The exposure of groups of items at every k; made by `group_exposure`.

    Two parts over different users, of the same groups, can be added: counts are whole numbers, so
    the sum is exactly the exposure of all users. Rows follow `groups`.

    Attributes
    ----------
    groups : tuple
        The groups as they first appear; None, the last, is of items without a group, if any.
    counts : (n_groups, K) int64
        How many lists have an item of the group at each rank.
    target : (n_groups,) float64
        What exposure is compared with: the number of items in the group, or their merit.
    against : {"catalogue", "merit"}
        Which of these it is.
    discount : str or callable
        What a listing is divided by, as in `Exposure.discounted`.
    n_users : int
        Number of lists; an empty one is none.

    Examples
    --------
    >>> found = group_exposure([[1, 2, 3], [2, 1, 4]], groups={1: "a", 2: "a", 3: "b", 4: "b"})
    >>> found
    exposure of 2 groups in 2 lists at k=3, discounted by log2(r+1)
    group  exposure   share  of catalogue   ratio
    a        3.2619  0.7654        0.5000  1.5307
    b        1.0000  0.2346        0.5000  0.4693
    >>> found.share[:, -1].round(4).tolist(), found.parity.round(4).tolist()
    ([0.7654, 0.2346], [0.0, 0.0, 0.3066])
    """

    groups: tuple[Any, ...]
    counts: Ints
    target: Floats
    against: Against
    discount: Any
    n_users: int

    @property
    def k(self) -> int:
        """The largest k."""
        return int(self.counts.shape[1])

    @property
    def exposure(self) -> Floats:
        """Of each group, the sum over its listings down to k of 1 / discount, (n_groups, K)."""
        return np.cumsum(self.counts / discounts_of(self.discount, self.k), axis=1)

    @property
    def share(self) -> Floats:
        """Of each group, its share of all exposure, (n_groups, K); NaN where nothing is listed."""
        every = self.counts.sum(axis=0) / discounts_of(self.discount, self.k)
        return _divided(self.exposure, np.cumsum(every))

    @property
    def target_share(self) -> Floats:
        """Of each group, its share of the catalogue or of all merit, (n_groups,)."""
        return _divided(self.target, self.target.sum())

    @property
    def ratio(self) -> Floats:
        """Of each group, `share` / `target_share`, (n_groups, K): 1 is proportional.

        NaN of a group that has no share of the catalogue or of merit.
        """
        return _divided(self.share, self.target_share[:, np.newaxis])

    @property
    def parity(self) -> Floats:
        """The smallest ratio of a group over the largest, (K,): 1 if all are alike, 0 if none is.

        Without None, and without groups that have no ratio; NaN if none is left.
        """
        named = [row for row, group in enumerate(self.groups) if group is not None]
        ratios = self.ratio[named]
        ratios = ratios[self.target[named] > 0]
        if not len(ratios):
            return np.full(self.k, np.nan)
        return _divided(ratios.min(axis=0), ratios.max(axis=0))

    def __add__(self, other: GroupExposure) -> GroupExposure:
        """Return the exposure in both sets of lists.

        Raises
        ------
        ValueError
            If k, the discount, the groups or what they are compared with differ.
        """
        if not isinstance(other, GroupExposure):
            return NotImplemented
        for name in ("k", "discount", "against"):
            ours, theirs = getattr(self, name), getattr(other, name)
            if ours != theirs:
                raise ValueError(
                    f"exposures of groups with {name}={ours!r} and {name}={theirs!r} do not merge"
                )
        groups = _named({*self.groups, *other.groups}, (*self.groups, *other.groups))
        (counts, target), (more, same) = self._of(groups), other._of(groups)
        if not np.array_equal(target, same):
            row = int(np.flatnonzero(target != same)[0])
            raise ValueError(
                f"exposures of different groups do not merge: group {groups[row]!r} has "
                f"{target[row]:g} and {same[row]:g} of the {self.against}"
            )
        n_users = self.n_users + other.n_users
        return replace(self, groups=groups, counts=counts + more, target=target, n_users=n_users)

    def __radd__(self, other: Any) -> GroupExposure:
        """Let ``sum(parts)`` start from 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __repr__(self) -> str:
        """Return a table of the groups at the largest k."""
        called = getattr(self.discount, "name", self.discount)
        named = called if isinstance(called, str) else "a function of the rank"
        number = counted(sum(group is not None for group in self.groups), "group")
        lists = counted(self.n_users, "list")
        lines = [f"exposure of {number} in {lists} at k={self.k}, discounted by {named}"]
        columns = [self.exposure, self.share, self.target_share[:, np.newaxis], self.ratio]
        ends = [values[:, -1] if values.shape[1] else values.sum(axis=1) for values in columns]
        rows = [["group", "exposure", "share", f"of {self.against}", "ratio"]]
        for group, *values in zip(self.groups, *ends, strict=True):
            rows.append([str(group), *(f"{value:.4f}" for value in values)])
        first, *widths = (max(map(len, column)) for column in zip(*rows, strict=True))
        for name, *cells in rows:
            padded = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
            lines.append("  ".join([name.ljust(first), *padded]))
        return "\n".join(lines)

    def _of(self, groups: Sequence[Any]) -> tuple[Ints, Floats]:
        """Return counts and targets in the order of `groups`, 0 where there is no such group."""
        place = {group: row for row, group in enumerate(self.groups)}
        rows = [place.get(group, len(self.groups)) for group in groups]
        none = np.zeros((1, self.k), np.int64)
        return np.concatenate([self.counts, none])[rows], np.append(self.target, 0.0)[rows]


def group_exposure(
    ranks: Any,
    k: int | None = None,
    *,
    groups: Any,
    merit: Any = None,
    discount: Any = "log2(r+1)",
    **reading: Unpack[Counting],
) -> GroupExposure:
    """Return how much exposure each group of items gets, discounted by rank, at every k.

        exposure@k of a group = sum over its listings within k of 1 / discount(rank)
        share = exposure / exposure of all items
        ratio = share / the group's share of the catalogue, or of merit

    A ratio of 1 for all groups is exposure parity: every group's items have the same mean exposure
    (demographic parity), or exposure in proportion to merit (disparate treatment; Singh, Joachims
    2018, "Fairness of Exposure in Rankings", with the position bias 1 / log2(rank + 1)).

    Parameters
    ----------
    ranks, k
        As in `toplist.beyond.exposure`; or what it returned, of a stated catalogue.
    groups : dict item -> group, Series, or array
        One group of each item: anything hashable; an array's places are the ids 0..n-1. An item
        with None or NaN, and one that is not there, has no group: such items are the group None.
    merit : dict item -> number, or array, optional
        What the exposure of an item should be proportional to: its relevance, or interactions.
        Default: 1 for each item of the catalogue.
    discount : str or callable
        As in `Exposure.discounted`: ``"log2(r+1)"``, ``"1"``, ``"rbp(p=0.8)"``, ...
    **reading
        catalogue (default: the items of `groups`), unknown, duplicates, padding, columns,
        n_threads, items_as: as in `toplist.beyond.exposure`.

    Returns
    -------
    GroupExposure
        Counts, exposure, shares and ratios, a row per group and a column per k.

    Raises
    ------
    TypeError, ValueError
        As `toplist.beyond.exposure`; and for groups that are a table or of items with several
        groups, an unknown discount, merit of none of these items.

    Examples
    --------
    >>> found = group_exposure([["x", "y"], ["z", "x"]], groups={"x": "new", "y": "old"})
    >>> found
    exposure of 2 groups in 2 lists at k=2, discounted by log2(r+1)
    group  exposure   share  of catalogue   ratio
    new      1.6309  0.5000        0.5000  1.0000
    old      0.6309  0.1934        0.5000  0.3869
    None     1.0000  0.3066        0.0000     nan
    """
    discounts_of(discount, 1)
    valid = (*Counting.__annotations__, *Reading.__annotations__)
    for name in reading:
        if name not in valid:
            known = ", ".join(dict.fromkeys(("groups", "merit", "discount", *valid)))
            raise TypeError(f"group_exposure has no keyword {name!r}: it has {known}")
    if "unknown" in reading and reading.get("catalogue") is None:
        raise TypeError(
            "unknown= is about items that are not in a catalogue: give catalogue=, else items "
            "without a group are the group None"
        )
    items = _labels_of(groups)
    labels = items.groups
    if isinstance(ranks, Exposure) or reading.get("catalogue") is not None:
        counts, sizes, n_users = _of_exposure(ranks, k, items, reading)
    else:
        how: Any = {name: one for name, one in reading.items() if name in Reading.__annotations__}
        counts, n_users = _of_lists(ranks, k, items, how)
        sizes = np.bincount(items.codes, minlength=len(labels))
    target = sizes.astype(np.float64) if merit is None else _merits(merit, items)
    labelled = np.array([label is not None for label in labels])
    kept = np.flatnonzero(labelled | counts.any(axis=1) | (sizes > 0) | (target > 0))
    against: Against = "catalogue" if merit is None else "merit"
    named = tuple(labels[row] for row in kept)
    return GroupExposure(named, counts[kept], target[kept], against, discount, n_users)


class Labelled(NamedTuple):
    """Ids of items, the number of the group of each, and the groups, None last."""

    ids: Any
    codes: Ints
    groups: tuple[Any, ...]

    def by_index(self, items: IndexedLists) -> Ints:
        """Return the group of every item by its index; the last of items that have none."""
        groups = np.full(items.n_items, len(self.groups) - 1)
        groups[items.codes] = self.codes
        return groups


def _labels_of(groups: Any) -> Labelled:
    """Read the groups of items in any form."""
    if is_frame(groups):
        raise TypeError(
            "groups is a table: give groups=dict(zip(table['item_id'], table['GROUP'])), by the "
            "names of its columns"
        )
    if is_series(groups):
        if not groups.index.is_unique:
            twice = groups.index[groups.index.duplicated()].tolist()[0]
            raise ValueError(f"groups: item {twice!r} is in the index of the Series twice")
        groups = groups.to_dict()
    if isinstance(groups, Mapping):
        ids, given = list(groups), list(groups.values())
    else:
        array = groups.to_numpy() if hasattr(groups, "to_numpy") else groups
        if not isinstance(array, (list, tuple, np.ndarray)) or np.ndim(array) != 1:
            raise TypeError(
                f"groups is a {type(groups).__name__}: give a dict item -> group, or an array "
                "whose places are the ids 0..n-1"
            )
        given = array.tolist() if isinstance(array, np.ndarray) else list(array)
        ids = list(range(len(given)))
    given = [None if is_missing(group) else group for group in given]
    try:
        labels = _named(set(given) | {None}, given)
    except TypeError:
        row = next(i for i, group in enumerate(given) if getattr(group, "__hash__", 0) is None)
        raise TypeError(
            f"groups: item {ids[row]!r} has {given[row]!r}: an item has one group"
        ) from None
    place = {label: row for row, label in enumerate(labels)}
    return Labelled(ids, np.array([place[group] for group in given], np.int64), labels)


def _named(found: set[Any], order: Sequence[Any]) -> tuple[Any, ...]:
    """Return the groups found as they first appear, None last."""
    last = (None,) if None in found else ()
    return (*(group for group in dict.fromkeys(order) if group is not None), *last)


def _of_lists(ranks: Any, k: int | None, known: Labelled, how: Reading) -> tuple[Ints, int]:
    """Return the listings of each group at each rank, (n_groups, K), and the number of lists."""
    lists = read_lists(ranks, k, how)
    listed, items = indexed_together((lists, _as_list(known.ids, how)), ("ranks", "groups"), how)
    groups, n_groups = known.by_index(items), len(known.groups)

    def count(lo: int, hi: int) -> Ints:
        out = np.zeros((n_groups, listed.depth), np.int64)
        kernels.exposure.count_groups(*listed.block(lo, hi), groups, out)
        return out

    total = np.zeros((n_groups, listed.depth), np.int64)
    bounds = parallel.bounds(listed.offsets, max(parallel.BLOCK, 4 * total.size))
    for part in parallel.run(count, bounds, how.get("n_threads")):
        total += part
    return total, int(np.count_nonzero(listed.lengths))


def _of_exposure(
    ranks: Any, k: int | None, known: Labelled, how: Counting
) -> tuple[Ints, Ints, int]:
    """Return the same with the number of items in each group, of a stated catalogue."""
    if isinstance(ranks, Exposure):
        counted_already("an Exposure", how)
    found = ranks if isinstance(ranks, Exposure) else exposure(ranks, k, **how)
    if found.catalogue is None:
        raise needs("group_exposure of an Exposure", "catalogue")
    catalogue = _as_list(found.catalogue, {})
    both = indexed_together((catalogue, _as_list(known.ids, {})), ("catalogue", "groups"), {})
    groups, n_groups = known.by_index(both[1])[both[0].codes], len(known.groups)
    depth = found.depth(k)
    pairs = found.pairs.down_to(depth)
    total = np.zeros((n_groups, depth), np.int64)
    np.add.at(total, (groups[pairs.items], pairs.ranks), pairs.counts)
    return total, np.bincount(groups, minlength=n_groups), found.n_users


def _as_list(ids: Any, how: Reading) -> ReadLists:
    """Return ids of items as one list, to be numbered together with others."""
    padding = how.get("padding") if how.get("items_as") is None else None
    if padding is not None and padding in ids:
        raise ValueError(f"groups holds the padding id {padding!r}")
    try:
        return read_lists([np.asarray(ids) if isinstance(ids, range) else ids], None, {})
    except TypeError as error:
        raise prefixed("groups: ", error) from None


def _merits(merit: Any, known: Labelled) -> Floats:
    """Return the sum of the merit of each group's items."""
    items, values = values_of(merit, "merit")
    items = items.tolist() if isinstance(items, np.ndarray) else items
    place = dict(zip(known.ids, known.codes.tolist(), strict=True))
    n_groups = len(known.groups)
    if len(items) and place and not any(item in place for item in items):
        raise ValueError(
            f"merit and groups have no item in common: merit has {items[0]!r}, groups has "
            f"{next(iter(place))!r}"
        )
    rows = np.array([place.get(item, n_groups - 1) for item in items], np.int64)
    return np.bincount(rows, values, n_groups).astype(np.float64)


def _divided(above: Floats, below: Any) -> Floats:
    """Return the ratio, NaN where it is divided by 0."""
    out = np.full(np.broadcast_shapes(np.shape(above), np.shape(below)), np.nan)
    np.divide(above, below, out=out, where=np.asarray(below) > 0)
    return out
