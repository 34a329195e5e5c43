"""Holes of the judgements: listed items that nobody judged, and the hits if they were relevant."""

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
    >>> best = filled(hits, *holes(hits, 3)).relevant
    >>> best.ranks.tolist(), best.gains.tolist(), best.n_relevant.tolist()
    ([1, 2], [2.0, 2.0], [2])
    """
    grade = _largest_grade(hits)
    n_more = np.bincount(users, minlength=len(hits))
    rows = np.arange(len(hits))
    known = np.repeat(rows, np.diff(hits.offsets))
    order = np.lexsort((np.append(hits.ranks, ranks), np.append(known, users)))
    graded: dict[str, Floats] = {}
    if hits.grades is not None or grade != 1:
        grades, best = hits.all_grades()
        more = np.full(len(users), grade)
        best, whose = np.append(best, more), np.append(np.repeat(rows, hits.n_truth), users)
        graded["grades"] = np.append(grades, more)[order]
        graded["truth_grades"] = best[np.lexsort((-best, whose))]
    return hits.of_part(
        offsets=hits.offsets + offsets_of(n_more),
        ranks=np.append(hits.ranks, ranks)[order].astype(np.int32),
        n_truth=hits.n_truth + n_more,
        items=None,
        **graded,
    )


def holes(hits: Hits, k: int) -> tuple[Ints, Ints]:
    """Return the users (rows) and ranks, down to k, of the listed items that have no grade."""
    depths = np.minimum(hits.n_listed, k)
    starts = offsets_of(depths)
    is_hole = np.ones(starts[-1], bool)
    users = np.repeat(np.arange(len(hits)), np.diff(hits.offsets))
    near = hits.ranks <= depths[users]
    is_hole[starts[users[near]] + hits.ranks[near] - 1] = False
    places = np.flatnonzero(is_hole)
    users = np.repeat(np.arange(len(hits)), depths)[places]
    return users, places - starts[users] + 1


def _largest_grade(hits: Hits) -> float:
    """Return the largest grade in the ground truths, and at least one that is relevant."""
    least, table = hits.grading.relevant_from, hits.grading.table
    largest = hits.largest_grade
    if largest > 0 if least is None else largest >= least:
        return largest
    return max(least or 0.0, 1.0) if table is None else float(table[0][-1])
