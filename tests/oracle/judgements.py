"""Slow, obvious twins of the measures of judgements: groups, bpref, ERR, levels of recall.

As in `oracle`, each function is the definition of its measure for one user, to be checked by
reading, and nothing is shared with the library. `ranked` is a list of ids, best first. `relevant`
is a set of ids or a dict item -> grade, `grades` that dict, and `groups` a list of sets of ids, any
of which will do. Places past the end of a list are misses, an empty truth scores 0, and a later
copy of an item earns nothing and keeps its place.
"""

import math
from fractions import Fraction

from oracle import hits as oracle
from oracle.hits import alpha_dcg as alpha_dcg
from oracle.hits import alpha_ndcg, group_recall


def union(groups):
    """Collect the ids of all groups: the truth of precision, hit, mrr, map and ndcg.

    >>> sorted(union([{"a", "x"}, {"c"}]))
    ['a', 'c', 'x']
    """
    return set().union(*groups)


# Groups: any id of a group will do, all groups are wanted


def complete_groups(ranked, groups, k):
    """Tell whether the first k hold an id of every group: 1 or 0.

    >>> [complete_groups(["x", "b", "c"], [{"a", "x"}, {"c"}], k) for k in (2, 3)]
    [0.0, 1.0]
    """
    return float(bool(groups) and all(not {*group}.isdisjoint(ranked[:k]) for group in groups))


def complete(ranked, relevant, k, *, relevant_from=None):
    """Tell whether the first k hold every relevant item: 1 or 0; each is a group of its own.

    >>> [complete(["x", "b", "c"], {"x", "c"}, k) for k in (2, 3)], complete(["x"], set(), 1)
    ([0.0, 1.0], 0.0)
    """
    items = oracle.relevant_items(relevant, relevant_from)
    return complete_groups(ranked, [{item} for item in items], k)


# Incomplete judgements


def bpref(ranked, grades, *, relevant_from=None):
    """Sum 1 - min(n_r, R) / min(N, R) over the relevant items found in the whole list, over R.

    n_r judged items that are not relevant stand above the item, of N in all; none above: 1.

    >>> bpref(["x", "a", "b", "y", "c"], {"a": 1, "b": 0, "c": 2, "d": 0})  # (1 + 1/2) / 2
    0.75
    """
    relevant = oracle.relevant_items(grades, relevant_from)
    others = set(grades) - relevant
    R, N = len(relevant), len(others)
    total = Fraction(0)
    for rank in oracle.hit_ranks(ranked, relevant, len(ranked)):
        above = len(others & set(ranked[: rank - 1]))
        total += 1 - Fraction(min(above, R), min(N, R)) if above else 1
    return float(total / R) if R else 0.0


def bounds(metric, ranked, grades, k, **options):
    """Evaluate twice: every item without a grade is a miss, or those of the first k are relevant.

    >>> bounds(oracle.precision, ["x", "a", "b"], {"a": 1, "b": 0}, 2)
    (0.5, 1.0)
    """
    relevant = oracle.relevant_items(grades)
    unjudged = {item for item in ranked[:k] if item not in grades}
    return metric(ranked, relevant, k, **options), metric(ranked, relevant | unjudged, k, **options)


# Expected reciprocal rank


def err(ranked, grades, k, *, max):
    """Sum 1/r p_r (1 - p_1) ... (1 - p_{r-1}) up to k, where p = (2^grade - 1) / 2^max.

    >>> err(["a", "b"], {"a": 1, "b": 1}, 2, max=1)  # 1/2 + 1/2 * 1/2 * 1/2
    0.625
    """
    total, left = Fraction(0), Fraction(1)  # of the readers
    for rank, item in enumerate(ranked[:k], start=1):
        grade = 0 if item in ranked[: rank - 1] else grade_of(item, grades)
        if grade > max:
            raise ValueError(f"grade {grade} of {item!r} is above max={max}")
        p = Fraction(2.0**grade - 1) / Fraction(2.0**max)
        total += left * p / rank
        left *= 1 - p
    return float(total)


def grade_of(item, relevant):
    """Look up a grade; an item without one has 0, and one of a set has 1."""
    if isinstance(relevant, dict):
        return relevant.get(item, 0)
    return int(item in relevant)


def nerr(ranked, grades, k, *, max):
    """Divide ERR by that of all graded items in falling order, both at k.

    >>> nerr(["x", "a"], {"a": 1, "b": 1}, 2, max=1)  # (1/2 * 1/2) / (1/2 + 1/2 * 1/2 * 1/2)
    0.4
    """
    best = sorted(grades, key=lambda item: grade_of(item, grades), reverse=True)
    return oracle.ratio(err(ranked, grades, k, max=max), err(best, grades, k, max=max))


# Levels of recall


def needed(recall, n_relevant):
    """Round recall times R up, exactly, with the decimal as it is written; at least 1.

    >>> needed(0.7, 3), needed(0.1, 10), needed(0, 5)
    (3, 1, 1)
    """
    return max(1, math.ceil(Fraction(str(recall)) * n_relevant))


def trec_needed(recall, n_relevant):
    """Round as trec_eval does, in floating point: one short where .7 R + .9 is 2.99...96.

    >>> trec_needed(0.7, 3), trec_needed(0.1, 10), trec_needed(0.05, 5)
    (2, 1, 1)
    """
    return int(recall * n_relevant + 0.9)


def iprec(ranked, relevant, k, *, recall, relevant_from=None, needed=needed):
    """Find the largest precision at a rank r <= k from where needed(recall, R) relevant are found.

    >>> [iprec(["x", "a", "b"], {"a", "b"}, 3, recall=x) for x in (0.5, 1)]  # 2/3 at rank 3
    [0.6666666666666666, 0.6666666666666666]
    >>> iprec(["a", "x", "b"], {"a", "b"}, 2, recall=1)
    0.0
    """
    items = oracle.relevant_items(relevant, relevant_from)
    wanted = needed(recall, len(items))
    return max(
        (
            oracle.precision(ranked, items, rank)
            for rank in range(1, min(k, len(ranked)) + 1)
            if len(oracle.found(ranked, items, rank)) >= wanted
        ),
        default=0.0,
    )


# By name

OF_GROUPS = {"group_recall": group_recall, "complete": complete_groups, "alpha_ndcg": alpha_ndcg}
OF_ITEMS = {"complete": complete, "bpref": bpref, "err": err, "nerr": nerr, "iprec": iprec}
