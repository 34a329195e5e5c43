"""Holes of the judgements: listed items that nobody judged, and the hits if they were relevant."""

from dataclasses import replace

import numpy as np

from toplist.checks import Floats, Ints
from toplist.inputs.lists import offsets_of
from toplist.matching.hits import Hits


def filled(hits: Hits, k: int) -> Hits:
    """Return the hits if every item of the first k that has no grade were relevant.

    It gains as much as the best item of the user's ground truth, 1 where that has no gain. Without
    grades, all items that are not in the truth have no grade. R and the ideal grow by these items.

    Examples
    --------
    >>> from toplist import match
    >>> best = filled(match(["x", "a", "b", "y"], {"a": 2, "b": 0}), 3)
    >>> best.ranks.tolist(), best.gains.tolist(), best.n_relevant.tolist()
    ([1, 2], [2.0, 2.0], [2])
    """
    users, ranks = holes(hits, k)
    judged = hits if hits.judged is None else hits.judged
    gains = _best_gains(judged)[users]
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


def _best_gains(judged: Hits) -> Floats:
    """Return the largest gain in the ground truth of each user; 1 where there is none above 0."""
    best = np.ones(len(judged))
    if judged.ideal_gains is not None:
        has = judged.n_relevant > 0
        best[has] = judged.ideal_gains[offsets_of(judged.n_relevant)[:-1][has]]
        best[best == 0] = 1.0
    return best


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
