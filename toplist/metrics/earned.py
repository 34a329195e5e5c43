"""What a hit earns where that hangs on the user's other hits or judgements.

Each takes the relevant hits, `toplist.Hits.relevant`, and returns the gain of every hit, or with it
the gains of the ideal order; the metrics in `toplist.metrics.definitions` are sums of these.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from toplist import kernels
from toplist.checks import Floats, Ints


def complete(hits: Any) -> Any:
    """Return the hits that are the last relevant item of a user who has all."""
    last, n_hits = np.zeros(len(hits.ranks), bool), np.diff(hits.offsets)
    last[hits.offsets[1:][(n_hits == hits.n_relevant) & (n_hits > 0)] - 1] = True
    return hits.kept(last)


@dataclass(frozen=True)
class Preference:
    """What each hit earns in bpref (Buckley and Voorhees 2004), of at most 1.

    A hit with b judged items that are not relevant above it earns 1 - min(b, R) / min(N, R), of N
    such items in all; 1 where none stands above.
    """

    def __call__(self, hits: Any) -> Floats:
        """Return the gains of hits."""
        judged, n_hits = hits.judged, np.diff(hits.offsets)
        j = np.arange(len(hits.ranks)) - np.repeat(hits.offsets[:-1], n_hits)
        most = np.minimum(judged.n_relevant - hits.n_relevant, hits.n_relevant)
        most = np.repeat(most, n_hits)
        others = np.minimum(hits.places_among(judged) - 1 - j, most)
        gains: Floats = 1.0 - others / np.maximum(most, 1)
        return gains


@dataclass(frozen=True)
class Cascade:
    """What a hit earns in ERR: that its item satisfies the user, and no item before it did.

    The first has probability p = (2^grade - 1) / 2^max; `max` is the largest grade there is.
    """

    max: float | None = None

    def settled(self, hits: Any) -> Cascade:
        """Return the same with the largest grade of the ground truths, where none is given."""
        return self if self.max is not None else Cascade(hits.largest_grade or 1.0)

    def __call__(self, hits: Any) -> tuple[Floats, Floats]:
        """Return the gains of hits, and of the ideal order."""
        if self.max is None:
            raise ValueError(
                "err and nerr of lists that come in parts need the largest grade there is: write "
                "it, as in 'err(max=4)'"
            )
        largest = hits.largest_grade
        if largest > self.max:
            raise ValueError(
                f"a ground truth has grade {largest:g}, above max={self.max:g}: write "
                f"'err(max={largest:g})'"
            )
        found = []
        ends = np.concatenate([[0], np.cumsum(hits.n_relevant)])
        gains, ideal = hits.under("exponential").all_gains()
        for offsets, some in ((hits.offsets, gains), (ends, ideal)):
            p, earned = some / 2.0**self.max, np.empty(len(some))
            kernels.curves.cascade(offsets, p, earned)
            found.append(earned)
        return found[0], found[1]


@dataclass(frozen=True)
class Interpolated:
    """What a hit adds to the largest precision from where a share of the relevant items is found.

    That is at the hit of number ceil(recall R), exactly: the recall is read as it is written.
    """

    recall: float

    def __call__(self, hits: Any) -> Floats:
        """Return the gains of hits."""
        sizes = np.unique(hits.n_relevant)
        first = self.needed(sizes)[np.searchsorted(sizes, hits.n_relevant)]
        gains = np.empty(len(hits.ranks))
        kernels.curves.best_precision(hits.offsets, hits.ranks, first, gains)
        return gains

    def needed(self, sizes: Ints) -> Ints:
        """Return at which hit the recall is reached, for each number of relevant items."""
        from fractions import Fraction  # few ask for it, and imports are quick

        share = Fraction(str(self.recall))
        return np.array([max(1, ceil(share * int(R))) for R in sizes], np.int64)


@dataclass(frozen=True)
class TrecInterpolated(Interpolated):
    """The same from hit number int(recall R + .9) on, in floating point, as trec_eval counts.

    That is one less than recall R rounded up where .7 R + .9 is 2.99...96 (R = 3, 23, 33), and
    where the recall has more than one decimal.
    """

    def needed(self, sizes: Ints) -> Ints:
        """Return at which hit the recall is reached, for each number of relevant items."""
        found: Ints = np.maximum((self.recall * sizes + 0.9).astype(np.int64), 1)
        return found


@dataclass(frozen=True)
class Novelty:
    """What a hit earns in alpha-nDCG: less for each group that was found above."""

    alpha: float

    def __call__(self, hits: Any) -> Any:
        """Return the gains of hits, and of the ideal order, which is built greedily."""
        found = hits.novelty(self.alpha)
        return found.all_gains() if found.graded else found
