"""`Groups`: ground truths made of groups; `Coverage`: the groups of relevant items and of hits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist import kernels
from toplist.checks import Bools, Floats, Ints, counted
from toplist.inputs.factorize import Column, Numbering, order_of_ids
from toplist.inputs.lists import (
    Flat,
    GroupedIds,
    GroupedRows,
    is_container,
    name_user,
    offsets_of,
)


class Groups(GroupedRows):
    """Ground truths made of groups: any id of a group will do, and all groups are wanted.

    Facts of an answer (nuggets), hops of a question, near-duplicates. It stands wherever
    `ground_truths` does. The metrics group_recall and alpha_ndcg are of the groups; all others are
    of the ids of all groups, each of which counts once.

    Parameters
    ----------
    groups : dict user -> list of groups, or list of these by position
        A group is a list, tuple, set or 1-D array of ids. An id may be in several groups, which it
        covers all. A user without groups has an empty ground truth.

    Raises
    ------
    TypeError
        For a user's groups that are no list, and a group that is none (a bare id, or grades).
    ValueError
        For a group without ids.

    Examples
    --------
    >>> import toplist as tl
    >>> truth = tl.Groups({"q1": [["a", "x"], ["c"]], "q2": [["b"]]})
    >>> truth
    Groups(2 users, 3 groups)
    >>> lists = {"q1": ["x", "a", "d"], "q2": ["b"]}
    >>> tl.curves("group_recall", lists, truth), tl.recall(lists, truth).round(4)
    (array([[0.5, 0.5, 0.5],
           [1. , 1. , 1. ]]), array([[0.3333, 0.6667, 0.6667],
           [1.    , 1.    , 1.    ]]))
    """

    def __init__(
        self, groups: Mapping[Any, Sequence[Sequence[Any]]] | Sequence[Sequence[Sequence[Any]]]
    ) -> None:
        if not isinstance(groups, (Mapping, list, tuple)):
            raise TypeError(
                f"Groups: give a dict user -> list of groups, or a list of these, not a "
                f"{type(groups).__name__}"
            )
        given = list(groups.values()) if isinstance(groups, Mapping) else groups
        users = list(groups) if isinstance(groups, Mapping) else None
        rows = list[GroupedIds]()
        for user, row in enumerate(given):
            name = name_user(users, user)
            if not isinstance(row, (list, tuple)):
                raise TypeError(
                    f"Groups: {name} has {row!r:.60} where a list of groups belongs: write "
                    "[[...], [...]], and [] for none"
                )
            if not set(map(type, row)) <= _PLAIN:
                row = [_ids(one, f"{name}, group {at}") for at, one in enumerate(row)]
            if not all(row):
                at = next(at for at, one in enumerate(row) if not one)
                raise ValueError(
                    f"Groups: {name}, group {at} has no id: leave it out, or write its ids"
                )
            rows.append(GroupedIds.of(row))
        self.rows = rows if users is None else dict(zip(users, rows, strict=True))
        self._n_groups = sum(map(len, given))

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self.rows)

    def __repr__(self) -> str:
        """Return the sizes."""
        return f"Groups({counted(len(self), 'user')}, {counted(self._n_groups, 'group')})"


_PLAIN = {list, tuple, set, frozenset, range}


def _ids(group: Any, name: str) -> Any:
    """Return the ids of one group; TypeError for what is none."""
    if is_container(group) or isinstance(group, Set):
        return group.tolist() if isinstance(group, np.ndarray) else group
    way = f"write [{group!r:.40}]"
    if isinstance(group, Mapping):
        way = "groups have no grades, write a list of what is relevant"
    raise TypeError(f"Groups: {name} is {group!r:.60}, no list of ids: {way}")


@dataclass(frozen=True, eq=False)
class Coverage:
    """The groups of the relevant items, user after user, and which of these the hits are.

    Attributes
    ----------
    items : (n_hits,) int32
        Which of the user's relevant items each hit is, from 0; empty before the join.
    sizes : (sum of n_relevant,) integers
        How many groups each relevant item is in, user after user.
    groups : (sum of sizes,) int32
        The groups of each relevant item, as numbers from 0 within the user.
    n_groups : (n_users,) integers
        How many groups each user has.
    order : (sum of n_relevant,) integers
        Numbers of the relevant items, in the order of their ids.
    """

    items: NDArray[np.int32]
    sizes: Ints
    groups: NDArray[np.int32]
    n_groups: Ints
    order: Ints

    @classmethod
    def of(cls, truth: Flat) -> tuple[Flat, Coverage]:
        """Return the distinct relevant items, and their groups: those in place of grades."""
        ids, offsets, labels = truth.graded_block(0, len(truth.lengths))
        order = _ranked(truth)
        numbers, n_groups = np.empty(len(ids), np.int64), np.empty(len(truth.lengths), np.int64)
        if not kernels.truths.number_runs(offsets, labels, numbers, n_groups):
            rows, _ = kernels.hashing.order_of_rows(labels.astype(np.int64), offsets)
            ids, order = ids[rows], order[rows]
            kernels.truths.number_runs(offsets, labels[rows], numbers, n_groups)
        items, places, sizes = np.empty((3, len(ids)), np.int64)
        groups = np.empty(len(ids), np.int32)
        lengths = np.empty(len(truth.lengths), np.int64)
        n = kernels.truths.by_item(offsets, ids, numbers, items, lengths, sizes, groups, places)
        if order is not truth.ids:
            order_of_items = np.empty(n, np.int64)
            order_of_items[places[places >= 0]] = order[places >= 0]
        else:
            order_of_items = items[:n]
        of_groups = cls(groups[:0], sizes[:n], groups[: sizes[:n].sum()], n_groups, order_of_items)
        offsets = offsets_of(lengths)
        items_alone = replace(truth, ids=items[:n], offsets=offsets, lengths=lengths, grades=None)
        return items_alone, of_groups

    def hashes(self, offsets: Ints, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return a hash of each user's groups, by the words of their ids."""
        found = np.empty(len(self.n_groups), np.uint64)
        starts = offsets_of(self.sizes)
        kernels.truths.hash_groups(offsets, words, starts, self.groups, self.n_groups, found)
        return found

    @classmethod
    def plain(cls, n_hits: int, n_relevant: Ints) -> Coverage:
        """Return the coverage of users without relevant items."""
        if n_hits or n_relevant.any():
            raise ValueError("Hits of truths made of groups and of plain ones do not merge")
        none, nothing = np.empty(0, np.int32), np.empty(0, np.int64)
        return cls(none, nothing, none, np.zeros(len(n_relevant), np.int64), nothing)

    def merged(self, other: Coverage) -> Coverage:
        """Return the coverage of both sets of users, one after the other."""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Coverage(*map(np.concatenate, pairs))

    def subset(
        self, rows: Ints, n_relevant: Ints, items: NDArray[np.int32], taken: Callable[..., Any]
    ) -> Coverage:
        """Return the coverage of some users, given the items of their hits."""
        ideal = offsets_of(n_relevant)
        groups = taken(offsets_of(self.sizes)[ideal], self.groups)
        sizes, order = taken(ideal, self.sizes), taken(ideal, self.order)
        return Coverage(items, sizes, groups, self.n_groups[rows], order)

    def hit(self, kept: Bools) -> Coverage:
        """Return the coverage of some of the hits."""
        return replace(self, items=self.items[kept])

    def listed(self, offsets: Ints, n_relevant: Ints, listed: Bools) -> Coverage:
        """Return the coverage of relevant items that are hit, and of users without a list.

        What no list has is in no group; a group of which no item is left is none, and the others
        are numbered again.
        """
        ideal, users = offsets_of(n_relevant), np.arange(len(n_relevant))
        places = ideal[np.repeat(users, np.diff(offsets))] + self.items
        kept = ~np.repeat(listed, n_relevant)
        kept[places] = True
        before = offsets_of(kept)
        items = before[places] - before[ideal[:-1]][np.repeat(users, np.diff(offsets))]
        groups = self.groups[np.repeat(kept, self.sizes)]
        sizes = self.sizes[kept]
        ends = offsets_of(sizes)[before[ideal]]
        whose = np.repeat(users, np.diff(ends))
        left, numbers = np.unique(whose << 32 | groups, return_inverse=True)
        n_groups = np.bincount(left >> 32, minlength=len(users))
        groups = (numbers - offsets_of(n_groups)[whose]).astype(np.int32)
        return Coverage(items.astype(np.int32), sizes, groups, n_groups, self.order[kept])

    def found(
        self, offsets: Ints, ranks: NDArray[np.int32], n_relevant: Ints
    ) -> tuple[Ints, NDArray[np.int32]]:
        """Return the ranks at which groups are first found, and where those of each user begin."""
        starts = offsets_of(self.sizes)
        # a hit finds the groups of its item, at most
        places = offsets_of(n_relevant)[:-1]
        most = self.sizes[np.repeat(places, np.diff(offsets)) + self.items].sum()
        found, n_found = np.empty(most, np.int32), np.empty(len(n_relevant), np.int64)
        n = kernels.truths.first_found(
            *(offsets, ranks, self.items, offsets_of(n_relevant), starts, self.groups),
            *(self.n_groups, found, n_found),
        )
        return offsets_of(n_found), found[:n]

    def novelty(self, offsets: Ints, n_relevant: Ints, alpha: float) -> tuple[Floats, Floats]:
        """Return the gains of hits and of a greedy ideal order, as `kernels.truths.novelty`."""
        gains, ideal = np.empty(len(self.items)), np.empty(len(self.sizes))
        best = offsets_of(n_relevant)
        order, _ = kernels.hashing.order_of_rows(~self.order, best)  # the highest id first
        kernels.truths.novelty(
            *(offsets, self.items, best, order, offsets_of(self.sizes), self.groups),
            *(1.0 - alpha, gains, ideal),
        )
        return gains, ideal


def _ranked(truth: Flat) -> Ints:
    """Return a number for each id, in the order of the ids as they were written."""
    column = Column("item_id", truth.ids, truth.names)
    if truth.source is not None:
        written = list(chain.from_iterable(truth.rows))
        numbering = Numbering()
        codes = numbering.number(truth.ids)
        places = np.empty(len(numbering), np.int64)
        places[codes[::-1]] = np.arange(len(codes))[::-1]  # the first of each
        column = Column("item_id", codes, [written[at] for at in places.tolist()])
    return order_of_ids(column, "ground_truths")
