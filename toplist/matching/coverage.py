"""`Coverage`: which groups the hits are in, where ground truths are made of groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist import kernels
from toplist.checks import Bools, Floats, Ints
from toplist.inputs.lists import offsets_of


@dataclass(frozen=True, eq=False)
class Coverage:
    """The groups of the hits, and of all relevant items.

    Attributes
    ----------
    items : (n_hits,) int32
        Which of the user's relevant items each hit is, from 0.
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
        n = kernels.coverage.first_found(
            *(offsets, ranks, self.items, offsets_of(n_relevant), starts, self.groups),
            *(self.n_groups, found, n_found),
        )
        return offsets_of(n_found), found[:n]

    def novelty(self, offsets: Ints, n_relevant: Ints, alpha: float) -> tuple[Floats, Floats]:
        """Return the gains of hits and of a greedy ideal order, as `kernels.coverage.novelty`."""
        gains, ideal = np.empty(len(self.items)), np.empty(len(self.sizes))
        best = offsets_of(n_relevant)
        order, _ = kernels.sorting.order_of_rows(~self.order, best)  # the highest id first
        kernels.coverage.novelty(
            *(offsets, self.items, best, order, offsets_of(self.sizes), self.groups),
            *(1.0 - alpha, gains, ideal),
        )
        return gains, ideal
