"""Holes of the judgements: listed items that nobody judged, and the hits if they were relevant."""

from dataclasses import replace

import numpy as np

from toplist.checks import Floats, Ints
from toplist.inputs.lists import offsets_of
from toplist.matching.hits import Hits


def filled(hits: Hits, users: Ints, ranks: Ints) -> Hits:
    """Return the hits if some holes were relevant: unjudged items at ranks of users (rows).

    Each gains as much as the best item of all ground truths, 1 without grades. R and the ideal grow
    by these items.

    Examples
    --------
    >>> from toplist import match
    >>> hits = match(["x", "a", "b", "y"], {"a": 2, "b": 0})
    >>> best = filled(hits, *holes(hits, 3))
    >>> best.ranks.tolist(), best.gains.tolist(), best.n_relevant.tolist()
    ([1, 2], [2.0, 2.0], [2])
    """
    judged = hits if hits.judged is None else hits.judged
    gains = np.full(len(users), _largest_gain(judged))
    more = None if hits.judged is None else _with(judged, users, ranks, gains)
    return replace(_with(hits, users, ranks, gains), judged=more)


def holes(hits: Hits, k: int) -> tuple[Ints, Ints]:
    """Return the users (rows) and ranks, down to k, of the listed items that have no grade."""
    judged = hits.every_judged
    depths = np.minimum(hits.n_listed, k)
    starts = offsets_of(depths)
    is_hole = np.ones(starts[-1], bool)
    users = np.repeat(np.arange(len(hits)), np.diff(judged.offsets))
    near = judged.ranks <= depths[users]
    is_hole[starts[users[near]] + judged.ranks[near] - 1] = False
    places = np.flatnonzero(is_hole)
    users = np.repeat(np.arange(len(hits)), depths)[places]
    return users, places - starts[users] + 1


def _largest_gain(judged: Hits) -> float:
    """Return the largest gain in the ground truths; 1 where nothing is judged relevant.

    Where items of grade 0 are relevant, and there are no others, they gain 0.
    """
    if judged.ideal_gains is None or not len(judged.ideal_gains):
        return 1.0
    largest = float(judged.ideal_gains.max())
    zero_is_relevant = judged.grading.relevant_from == 0
    return largest if largest > 0 or zero_is_relevant else 1.0


def _with(hits: Hits, users: Ints, ranks: Ints, gains: Floats) -> Hits:
    """Return hits with more of them, at ranks of some users that hold none."""
    n_more = np.bincount(users, minlength=len(hits))
    known = np.repeat(np.arange(len(hits)), np.diff(hits.offsets))
    order = np.lexsort((np.append(hits.ranks, ranks), np.append(known, users)))
    of_hits, of_ideal = hits.gains, hits.ideal_gains
    if of_hits is None or of_ideal is None:
        of_hits, of_ideal = np.ones(len(hits.ranks)), np.ones(int(hits.n_relevant.sum()))
    ideal = np.append(of_ideal, gains)
    whose = np.append(np.repeat(np.arange(len(hits)), hits.n_relevant), users)
    graded = hits.graded or bool(np.any(gains != 1))
    return replace(
        hits,
        offsets=hits.offsets + offsets_of(n_more),
        ranks=np.append(hits.ranks, ranks)[order].astype(np.int32),
        n_relevant=hits.n_relevant + n_more,
        gains=np.append(of_hits, gains)[order] if graded else None,
        ideal_gains=ideal[np.lexsort((-ideal, whose))] if graded else None,
        items=None,
    )
