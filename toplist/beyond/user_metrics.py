"""A metric of each user's list: how its lists are read, and who writes its curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from toplist import kernels, parallel
from toplist.beyond.indexing import (
    IndexedLists,
    Indexing,
    ReadLists,
    indexed,
    read_lists,
    strangers,
)
from toplist.checks import Floats
from toplist.inputs.options import Reading
from toplist.matching.hits import Hits

# Writes the curves of the users lo..hi into an array (hi - lo, K).
Fill = Callable[[int, int, Floats], None]


class OfUser:
    """A metric of each user's list, by what is known of items; `items` says how these are found."""

    items: Indexing

    @property
    def key(self) -> tuple[str, int]:
        """What is equal for metrics whose lists are the same indices."""
        return self.items.name, len(self.items.ids)

    def index(self, lists: ReadLists, reading: Reading, whole: bool = True) -> IndexedLists:
        """Return the lists as indices of the items that something is known of.

        `whole` says that these are all lists, of several users, so that one of their items should
        be known.
        """
        rules = self.items.reading(reading)
        listed = indexed(lists, rules)
        whole = whole and not lists.single
        if whole and rules.unknown == -1 and listed.lengths.any() and listed.codes.max() < 0:
            raise strangers(lists.flat, rules)
        return listed

    def fills(self, listed: IndexedLists, hits: Hits | None, whole: bool) -> tuple[int, Fill]:
        """Return the number of users, and what writes their curves.

        `hits` are those of the truth, where one is given; `whole` says that these are all users.
        """
        return len(listed), partial(self.fill, listed)

    def fill(self, listed: IndexedLists, lo: int, hi: int, out: Floats) -> None:
        """Write the curves of the users ``lo..hi`` into an array (hi - lo, K)."""
        raise NotImplementedError

    def of_all(
        self,
        lists: ReadLists,
        reading: Reading,
        hits: Hits | None = None,
        whole: bool = True,
    ) -> tuple[Floats, Sequence[Any] | None]:
        """Return the metric of every user at every k, (n_users, K), and the users' keys.

        With `hits`, of the users of the truth in their order.
        """
        listed = self.index(lists, reading, whole)
        n, fill = self.fills(listed, hits, whole)
        out = np.empty((n, listed.depth))
        bounds = parallel.bounds(np.arange(n + 1) * max(listed.depth, 1))
        parallel.each(lambda lo, hi: fill(lo, hi, out[lo:hi]), bounds, reading.get("n_threads"))
        return out, listed.users if hits is None else None

    def curves(self, ranks: Any, k: int | None, reading: Reading) -> Floats:
        """Return the same, and (K,) of one bare user."""
        lists = read_lists(ranks, k, reading)
        out, _ = self.of_all(lists, reading)
        return out[0] if lists.single else out


def of_hits(
    listed: IndexedLists, hits: Hits | None, above: Floats, below: Floats, over: int
) -> tuple[int, Fill]:
    """Return what `OfUser.fills` does, for sums over hits, as `kernels.labels.shares_of_hits`.

    NaN of users without relevant items.
    """
    assert hits is not None
    read = hits.given.relevant
    starts, lengths = listed.offsets[:-1], listed.lengths
    if listed.users is not None and hits.users is not None:
        place = {user: row for row, user in enumerate(listed.users)}
        rows = np.array([place.get(user, -1) for user in hits.users], np.int64)
        starts, lengths = (np.append(one, 0)[rows] for one in (starts, lengths))
    nobody = read.n_relevant == 0

    def fill(lo: int, hi: int, out: Floats) -> None:
        offsets, ranks, _ = read.block(lo, hi)
        given = listed.codes, starts[lo:hi], lengths[lo:hi], offsets, ranks
        kernels.labels.shares_of_hits(*given, above, below, over, out)
        out[nobody[lo:hi]] = np.nan

    return len(hits), fill
