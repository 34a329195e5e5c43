"""Slow, obvious twins of every metric in plain Python, for the tests to compare the library with.

Each function is the textbook definition of its metric, to be checked by reading; nothing here is
shared with the library. `ranked` is a list of ids, best first. `relevant` is a set of ids, or a
dict item -> grade, in which an item is relevant if its grade is above 0 (or at least
`relevant_from`, where that is given). Grades matter to `cg`, `dcg` and `ndcg` only, where the gain
of an item is its grade, or 2^grade - 1 if `exponential`; without grades every gain is 1.
A later copy of an item in a list earns nothing and keeps its place. 0 / 0 is 0.
"""

import math
from fractions import Fraction
from typing import NamedTuple

from oracle.population import mean, std

# What the definitions are made of


def ratio(numerator, denominator):
    """Divide; 0 / 0 is 0, anything else over 0 is an error."""
    return numerator / denominator if numerator else 0.0


def relevant_items(relevant, relevant_from=None):
    """Collect the ids that count as relevant, whatever their grade.

    >>> sorted(relevant_items({"a": 3, "b": 1, "c": 0}))
    ['a', 'b']
    >>> sorted(relevant_items({"a": 3, "b": 1, "c": 0}, relevant_from=2))
    ['a']
    """
    if not isinstance(relevant, dict):
        return set(relevant)
    if relevant_from is None:
        return {item for item, grade in relevant.items() if grade > 0}
    return {item for item, grade in relevant.items() if grade >= relevant_from}


def found(ranked, relevant, k, relevant_from=None):
    """Collect the relevant ids among the first k."""
    return set(ranked[:k]) & relevant_items(relevant, relevant_from)


def hit_ranks(ranked, relevant, k, relevant_from=None):
    """List the ranks, from 1 to k, at which a relevant item stands for the first time.

    >>> hit_ranks([5, 7, 5, 9, 3], {7, 3, 5}, 5)
    [1, 2, 5]
    """
    items = relevant_items(relevant, relevant_from)
    return [
        rank
        for rank, item in enumerate(ranked[:k], start=1)
        if item in items and item not in ranked[: rank - 1]
    ]


def gain(item, relevant, exponential=False):
    """Look up what finding a relevant item is worth."""
    grade = relevant[item] if isinstance(relevant, dict) else 1
    return 2.0**grade - 1.0 if exponential else float(grade)


# One user, one k, the convention "standard"


def hit(ranked, relevant, k, *, relevant_from=None):
    """Tell whether any of the first k is relevant: 1 or 0."""
    return 1.0 if found(ranked, relevant, k, relevant_from) else 0.0


def precision(ranked, relevant, k, *, relevant_from=None):
    """Share of the k places that hold a relevant item; the places past a short list are misses.

    >>> precision([5, 7, 8], {7, 3, 5}, 4)
    0.5
    """
    return len(found(ranked, relevant, k, relevant_from)) / k


def recall(ranked, relevant, k, *, relevant_from=None):
    """Share of the relevant items that stand among the first k.

    >>> recall([4, 6, 2, 1, 10], {4, 2, 8, 7}, 3)
    0.5
    """
    n_relevant = len(relevant_items(relevant, relevant_from))
    return ratio(len(found(ranked, relevant, k, relevant_from)), n_relevant)


def f1(ranked, relevant, k, *, relevant_from=None):
    """Harmonic mean of precision and recall.

    >>> round(f1([4, 6, 2, 1, 10], {4, 2, 8, 7}, 5), 6)  # of 2/5 and 2/4: 2 * 0.2 / 0.9
    0.444444
    """
    p = precision(ranked, relevant, k, relevant_from=relevant_from)
    r = recall(ranked, relevant, k, relevant_from=relevant_from)
    return ratio(2 * p * r, p + r)


def mrr(ranked, relevant, k, *, relevant_from=None):
    """One over the rank of the first relevant item, if it stands among the first k.

    >>> mrr([8, 9, 3, 5], {7, 3, 5}, 4) == 1 / 3
    True
    """
    ranks = hit_ranks(ranked, relevant, k, relevant_from)
    return 1.0 / ranks[0] if ranks else 0.0


def summed_precision(ranked, relevant, k, relevant_from=None):
    """Sum of the precision at the rank of each hit among the first k."""
    return math.fsum(
        precision(ranked, relevant, rank, relevant_from=relevant_from)
        for rank in hit_ranks(ranked, relevant, k, relevant_from)
    )


def map_(ranked, relevant, k, *, relevant_from=None):
    """Average precision: the precision at each hit, over the hits a perfect list has by rank k.

    >>> round(map_([5, 7, 8, 9, 3], {7, 3, 5}, 5), 6)  # (1/1 + 2/2 + 3/5) / 3
    0.866667
    >>> map_([5, 7, 8, 9, 3], {7, 3, 5}, 2)  # (1/1 + 2/2) / 2
    1.0
    """
    n_relevant = len(relevant_items(relevant, relevant_from))
    return ratio(summed_precision(ranked, relevant, k, relevant_from), min(k, n_relevant))


def cg(ranked, relevant, k, *, relevant_from=None, exponential=False):
    """Cumulative gain: the gains of the relevant items among the first k.

    >>> cg([1, 2, 3, 4, 5], {2: 5, 4: 4, 5: 3, 10: 2}, 4)
    9.0
    """
    items = found(ranked, relevant, k, relevant_from)
    return math.fsum(gain(item, relevant, exponential) for item in items)


def dcg(ranked, relevant, k, *, relevant_from=None, exponential=False):
    """Discounted cumulative gain: each gain over log2(rank + 1).

    >>> round(dcg([1, 2, 3, 4, 5], {2: 5, 4: 4, 5: 3, 10: 2}, 10), 4)  # 3.1546 + 1.7227 + 1.1606
    6.0379
    """
    return math.fsum(
        gain(ranked[rank - 1], relevant, exponential) / math.log2(rank + 1)
        for rank in hit_ranks(ranked, relevant, k, relevant_from)
    )


def best_list(relevant, relevant_from=None):
    """Order the relevant items as a perfect recommender would: the highest grades first."""
    items = relevant_items(relevant, relevant_from)
    return sorted(items, key=lambda item: gain(item, relevant), reverse=True)


def ndcg(ranked, relevant, k, *, relevant_from=None, exponential=False):
    """DCG over the DCG of the best possible list, both at k.

    >>> round(ndcg([4, 6, 2], {4, 2, 8, 7}, 3), 4)  # (1 + 1/2) / (1 + 0.6309 + 1/2)
    0.7039
    >>> ndcg([1, 2], {1: 1, 2: 2}, 1), ndcg([1, 2], {1: 1, 2: 2}, 1, exponential=True) == 1 / 3
    (0.5, True)
    """
    options = {"relevant_from": relevant_from, "exponential": exponential}
    best = best_list(relevant, relevant_from)
    return ratio(dcg(ranked, relevant, k, **options), dcg(best, relevant, k, **options))


def trec_ndcg(ranked, relevant, k, *, relevant_from=None, exponential=False):
    """NDCG of trec_eval: the threshold (its option -l) decides what is relevant, gains are gains.

    >>> trec_ndcg([1, 2], {1: 1, 2: 2}, 1, relevant_from=2)
    0.5
    """
    return ndcg(ranked, relevant, k, exponential=exponential)


def trec_dcg(ranked, relevant, k, *, relevant_from=None, exponential=False):
    """DCG of gains that read no threshold either (Elasticsearch)."""
    return dcg(ranked, relevant, k, exponential=exponential)


def short_ndcg(ranked, relevant, k, *, relevant_from=None, exponential=False):
    """NDCG without threshold, of an ideal that is no longer than the list (Elasticsearch).

    >>> short_ndcg([1], {1: 1, 2: 1}, 2)
    1.0
    """
    return neurec_ndcg(ranked, relevant, k, exponential=exponential)


def rbp(ranked, relevant, k, *, p=0.8, relevant_from=None):
    """Rank-biased precision: what a reader sees who goes on to the next rank with probability p.

    >>> rbp([5, 8, 7], {7, 3, 5}, 3, p=0.5)  # 0.5 * (1 + 0.25)
    0.625
    """
    return (1 - p) * math.fsum(
        p ** (rank - 1) for rank in hit_ranks(ranked, relevant, k, relevant_from)
    )


def r_precision(ranked, relevant, k, *, relevant_from=None):
    """Share of the first R places that hold a relevant item, R of them; of the first k at most.

    >>> r_precision([5, 7, 8, 9, 3], {7, 3, 5}, 5), r_precision([5, 8, 7], {5, 7}, 1)
    (0.6666666666666666, 0.5)
    """
    n_relevant = len(relevant_items(relevant, relevant_from))
    return ratio(len(found(ranked, relevant, min(k, n_relevant), relevant_from)), n_relevant)


def judged(ranked, relevant, k, *, relevant_from=None):
    """Share of the items retrieved in the first k that have a judgement, of whatever grade.

    Users without any judgement have no value; all others have one.

    >>> judged([5, 7, 8, 9], {5: 0, 8: 2, 3: 1}, 4), judged([5, 7], {7}, 4)
    (0.5, 0.5)
    """
    retrieved = ranked[:k]
    return ratio(len({*retrieved} & {*relevant}), len(retrieved))


judged.of_judgements = True


def groups_of(relevant, relevant_from=None):
    """List the groups of a truth: a list of sets of ids; without groups, each id is one.

    >>> groups_of([{"a", "x"}, {"c"}]) == [{"a", "x"}, {"c"}], groups_of({"c": 2, "d": 0})
    (True, [{'c'}])
    """
    if isinstance(relevant, list):
        return relevant
    return [{item} for item in relevant_items(relevant, relevant_from)]


def group_recall(ranked, relevant, k, *, relevant_from=None):
    """Share of the groups of which the first k hold an id.

    >>> group_recall(["x", "a", "b"], [{"a", "x"}, {"c"}], 3)
    0.5
    """
    groups, first = groups_of(relevant, relevant_from), set(ranked[:k])
    return ratio(sum(not group.isdisjoint(first) for group in groups), len(groups))


def novelty(item, groups, above, alpha):
    """Sum (1 - alpha)^m over the groups of an item; m ids of the group stand above; exact.

    >>> novelty("a", [{"a", "b"}, {"a"}], ["b", "z"], 0.5)
    Fraction(3, 2)
    """
    left = 1 - Fraction(str(alpha))
    seen = [len(set(group) & set(above)) for group in groups if item in group]
    return sum((left**m for m in seen), Fraction(0))


def greedy(groups, alpha):
    """Order all ids: the one of the highest gain next, of equal ones that with the highest id.

    >>> greedy([{"a", "b"}, {"b", "c"}], 0.5)
    ['b', 'c', 'a']
    """
    left, order = set().union(*groups), []
    while left:
        order.append(max(left, key=lambda item: (novelty(item, groups, order, alpha), item)))
        left.remove(order[-1])
    return order


def alpha_dcg(ranked, groups, k, alpha):
    """Sum the gains of the first k, discounted; a later copy of an item earns nothing."""
    once = [item if item not in ranked[:rank] else None for rank, item in enumerate(ranked[:k])]
    return math.fsum(
        novelty(item, groups, once[:rank], alpha) / math.log2(rank + 2)
        for rank, item in enumerate(once)
    )


def alpha_ndcg(ranked, relevant, k, *, alpha=0.5, relevant_from=None, exponential=False):
    """Divide alpha-DCG by that of a greedy ideal order; grades do not matter.

    >>> round(alpha_ndcg(["d1", "x", "d0"], [{"d0", "d1"}, {"d0"}], 10), 7)
    0.7557878
    """
    if not isinstance(relevant, list):  # each id is a group of its own: every gain is 1
        return ndcg(ranked, relevant_items(relevant, relevant_from), k)
    groups = groups_of(relevant)
    ideal = greedy(groups, alpha)
    return ratio(alpha_dcg(ranked, groups, k, alpha), alpha_dcg(ideal, groups, k, alpha))


METRICS = {
    "hit": hit,
    "precision": precision,
    "recall": recall,
    "map": map_,
    "ndcg": ndcg,
    "mrr": mrr,
    "dcg": dcg,
    "cg": cg,
    "f1": f1,
    "rbp": rbp,
    "r_precision": r_precision,
    "judged": judged,
    "group_recall": group_recall,
    "alpha_ndcg": alpha_ndcg,
}


# The same metrics over another divisor: R relevant items, n ids in the list

DIVISORS = {
    "1": lambda k, R, n: 1.0,
    "k": lambda k, R, n: float(k),
    "R": lambda k, R, n: float(R),
    "min(k,R)": lambda k, R, n: float(min(k, R)),
    "min(k,n)": lambda k, R, n: float(min(k, n)),
    "min(n,R)": lambda k, R, n: float(min(n, R)),
    "min(k,n,R)": lambda k, R, n: float(min(k, n, R)),
    "R^2": lambda k, R, n: float(R * R),
    "sum(min(i,R))": lambda k, R, n: float(sum(min(i, R) for i in range(1, min(k, n) + 1))),
    "(k+R)/2": lambda k, R, n: (k + R) / 2,
}


def divisor_of(name, ranked, relevant, k, relevant_from=None):
    """Look up a divisor; "hits" is the number of relevant items among the first k.

    >>> divisor_of("hits", [5, 7, 8, 9, 3], {7, 3, 5}, 4), divisor_of("R", [5], {7, 3, 5}, 4)
    (2.0, 3.0)
    """
    if name == "hits":
        return float(len(found(ranked, relevant, k, relevant_from)))
    return DIVISORS[name](k, len(relevant_items(relevant, relevant_from)), len(ranked))


IDEAL_PLACES = {
    "ideal(k)": lambda k, R, n: k,
    "ideal(min(k,R))": lambda k, R, n: min(k, R),
    "ideal(min(k,n))": lambda k, R, n: min(k, n),
    "ideal(min(k,n,R))": lambda k, R, n: min(k, n, R),
    "ideal(R)": lambda k, R, n: R,
}


def log2_discount(rank):
    """Discount of nearly everybody's DCG: 1, 1.585, 2, 2.322, ..."""
    return math.log2(rank + 1)


def clipped_log2_discount(rank):
    """Discount in which ranks 1 and 2 weigh the same (LensKit): 1, 1, 1.585, ..."""
    return math.log2(max(rank, 2))


def ideal_dcg(places, discount=log2_discount):
    """DCG of a list with a relevant item at each of its first `places` ranks.

    >>> ideal_dcg(1), ideal_dcg(3) == 1 + 1 / math.log2(3) + 1 / 2
    (1.0, True)
    """
    total = 0.0
    for rank in range(1, places + 1):
        total += 1.0 / discount(rank)
    return total


def precision_over(divisor_name):
    """Define a metric: the number of hits over another divisor than k (precision) or R (recall).

    >>> round(precision_over("min(k,n)")([1, 0, 150], {0, 1, 2, 3}, 5), 6)  # 2 of the 3 listed
    0.666667
    """

    def metric(ranked, relevant, k, *, relevant_from=None):
        divisor = divisor_of(divisor_name, ranked, relevant, k, relevant_from)
        return ratio(len(found(ranked, relevant, k, relevant_from)), divisor)

    return metric


def map_over(divisor_name):
    """Define a metric: average precision over another divisor.

    >>> round(map_over("R")([1, 2, 3, 4], {1, 3, 4}, 1), 6)
    0.333333
    """

    def metric(ranked, relevant, k, *, relevant_from=None):
        divisor = divisor_of(divisor_name, ranked, relevant, k, relevant_from)
        return ratio(summed_precision(ranked, relevant, k, relevant_from), divisor)

    return metric


def ndcg_over(ideal_places_name, discount=log2_discount):
    """Define a metric: nDCG without grades, over the ideal of another number of places.

    >>> round(ndcg_over("ideal(k)")([5, 1, 6, 7], {1}, 4), 4)  # 0.6309 / 2.5616
    0.2463
    """

    def metric(ranked, relevant, k):
        if isinstance(relevant, dict):
            raise TypeError("ndcg_over has no grades: what fills the places past the last item?")
        places = IDEAL_PLACES[ideal_places_name](k, len(relevant), len(ranked))
        total = math.fsum(1.0 / discount(rank) for rank in hit_ranks(ranked, relevant, k))
        return ratio(total, ideal_dcg(places, discount))

    return metric


OVER = {
    "precision": precision_over,
    "recall": precision_over,
    "map": map_over,
    "ndcg": ndcg_over,
}


# Other conventions: a dict of metrics each


def neurec_precision(ranked, relevant, k, *, relevant_from=None):
    """Share of relevant items among those of the first k that exist; an empty list scores 0."""
    m = min(k, len(ranked))
    return precision(ranked, relevant, m, relevant_from=relevant_from) if m else 0.0


def neurec_map(ranked, relevant, k, *, relevant_from=None):
    """Sum the precision at each hit, over min(1,R) + min(2,R) + ... + min(m,R).

    >>> neurec_map([1, 2, 3], {1, 2, 3}, 3)  # (1 + 1 + 1) / (1 + 2 + 3)
    0.5
    """
    n_relevant = len(relevant_items(relevant, relevant_from))
    m = min(k, len(ranked))
    divisor = sum(min(i, n_relevant) for i in range(1, m + 1))
    return ratio(summed_precision(ranked, relevant, m, relevant_from), divisor)


def neurec_ndcg(ranked, relevant, k, *, relevant_from=None, exponential=False):
    """NDCG whose ideal is no longer than the list."""
    m = min(k, len(ranked))
    return ndcg(ranked, relevant, m, relevant_from=relevant_from, exponential=exponential)


# Whose gains read no threshold but one of its own: then it is this metric.
trec_ndcg.reads_no_threshold, trec_dcg.reads_no_threshold = ndcg, dcg
short_ndcg.reads_no_threshold = neurec_ndcg


def clipped_dcg(ranked, relevant, k, *, relevant_from=None, exponential=False):
    """Sum the gains, those at ranks 1 and 2 in full (LensKit).

    >>> clipped_dcg([1, 2, 3], {2, 3}, 3) == 1 + 1 / math.log2(3)
    True
    """
    items = found(ranked, relevant, k, relevant_from)
    return math.fsum(
        gain(item, relevant, exponential) / clipped_log2_discount(ranked.index(item) + 1)
        for item in items
    )


def clipped_ndcg(ranked, relevant, k, *, relevant_from=None, exponential=False):
    """NDCG with that discount, in the ideal list too."""
    options = {"relevant_from": relevant_from, "exponential": exponential}
    best = best_list(relevant, relevant_from)
    return ratio(
        clipped_dcg(ranked, relevant, k, **options), clipped_dcg(best, relevant, k, **options)
    )


def ungraded(metric):
    """Define a metric of a library that knows no grades: every relevant item is as good."""

    def plain(ranked, relevant, k, *, relevant_from=None, exponential=False):
        return metric(ranked, relevant_items(relevant, relevant_from), k)

    return plain


def taken(*names, **others):
    """Pick standard metrics by name, and others in their own form; none of them graded."""
    return {
        name: ungraded(metric) if name in ("cg", "dcg", "ndcg") else metric
        for name, metric in ({name: METRICS[name] for name in names} | others).items()
    }


def graded(*names, **others):
    """Pick standard metrics by name, and others in their own form, with grades."""
    return {name: METRICS[name] for name in names} | others


def listed(metric):
    """Define a metric of a library that knows the relevance of listed items only."""

    def of_the_list(ranked, relevant, k, **options):
        return metric(ranked, listed_truth(ranked, relevant), k, **options)

    of_the_list.of_listed = True
    return of_the_list


def listed_truth(ranked, relevant):
    """Keep what is known of the items of a list; without a list, the policy for that decides.

    >>> listed_truth([5, 7], {7, 9}), listed_truth([5, 7], {5: 0, 9: 3}), listed_truth([], {9})
    ({7}, {5: 0}, {9})
    """
    if not ranked:
        return relevant
    if isinstance(relevant, dict):
        return {item: grade for item, grade in relevant.items() if item in ranked}
    return set(relevant) & set(ranked)


def without_unjudged(ranks, truths):
    """Keep the judged items of every list, once.

    >>> without_unjudged([["x", "a", "y", "b"], ["y"]], [{"a": 1, "b": 0}, {}])
    [['a', 'b'], []]
    """
    return [
        list(dict.fromkeys(item for item in ranked if item in judged))
        for ranked, judged in zip(ranks, truths, strict=True)
    ]


def to_judge(systems, truths, k, p=0.8):
    """List (user, item, best rank, systems, weight) of every unjudged item, most valuable first.

    >>> to_judge({"s": [["x", "a"]], "t": [["a", "x"]]}, [{"a"}], 2, p=0.5)
    [(0, 'x', 1, ('s', 't'), 0.75)]
    """
    found = {}
    for user, truth in enumerate(truths):
        for name, lists in systems.items():
            for rank, item in enumerate(lists[user][:k], start=1):
                if item not in truth:
                    found.setdefault((user, item), []).append((rank, name))
    rows = []
    for (user, item), places in found.items():
        weight = sum((1 - p) * p ** (rank - 1) for rank in sorted(rank for rank, _ in places))
        names = tuple(name for _, name in places)
        rows.append((user, item, min(places)[0], names, weight))
    return sorted(rows, key=lambda row: -round(row[-1], 12))


def all_listed(metrics):
    """Define the metrics of such a library."""
    return {name: listed(metric) for name, metric in metrics.items()}


def mar(ranked, relevant, k, *, relevant_from=None):
    """Sum the recall at each hit, over the relevant items.

    >>> mar([1, 2, 3], {1, 3}, 3)  # (1/2 + 2/2) / 2
    0.75
    """
    ranks = hit_ranks(ranked, relevant, k, relevant_from)
    total = sum(recall(ranked, relevant, rank, relevant_from=relevant_from) for rank in ranks)
    return ratio(total, len(relevant_items(relevant, relevant_from)))


def ncrr(ranked, relevant, k, *, relevant_from=None):
    """Sum the reciprocal ranks of the hits, over those of as many hits at the top.

    >>> ncrr([1, 2, 3], {1, 3}, 3) == (1 + 1 / 3) / (1 + 1 / 2)
    True
    """
    ranks = hit_ranks(ranked, relevant, k, relevant_from)
    best = min(k, len(ranked), len(relevant_items(relevant, relevant_from)))
    total = 0.0
    for rank in range(1, best + 1):
        total += 1 / rank
    return ratio(math.fsum(1 / rank for rank in ranks), total)


def whole_ndcg(ranked, relevant, k, *, relevant_from=None, exponential=False):
    """NDCG whose ideal has all relevant items, whatever k."""
    options = {"relevant_from": relevant_from, "exponential": exponential}
    best = best_list(relevant, relevant_from)
    ideal = dcg(best, relevant, len(best), **options)
    return ratio(dcg(ranked, relevant, k, **options), ideal)


def map_at_r(ranked, relevant, k, *, relevant_from=None):
    """Sum the precision at each hit of the first R places, of k at most, over R.

    >>> map_at_r([1, 5, 2], {1, 2}, 3)  # the hit at rank 3 is below R = 2
    0.5
    """
    n_relevant = len(relevant_items(relevant, relevant_from))
    total = summed_precision(ranked, relevant, min(k, n_relevant), relevant_from)
    return ratio(total, n_relevant)


def r_precision_at_k(ranked, relevant, k, *, relevant_from=None):
    """Share of hits in the first R places, or in the first k where these are fewer.

    >>> r_precision_at_k([1, 5, 2], {1, 2, 3}, 2), r_precision_at_k([1, 5, 2], {1, 2, 3}, 3)
    (0.5, 0.6666666666666666)
    """
    m = min(k, len(relevant_items(relevant, relevant_from)))
    return ratio(len(found(ranked, relevant, m, relevant_from)), m)


CONVENTIONS = {
    "standard": METRICS,
    "neurec": taken(
        "hit", "recall", "mrr", precision=neurec_precision, map=neurec_map, ndcg=neurec_ndcg
    ),
    "neurec-cpp": taken("precision", "recall", "map", "ndcg", "mrr"),
    "rectorch": taken("hit", "ndcg", "mrr", recall=precision_over("min(k,R)")),
    "recbole": taken("hit", "precision", "recall", "map", "ndcg", "mrr"),
    "sklearn": graded("dcg", "ndcg"),
    "trec_eval": graded(
        *("hit", "precision", "recall", "mrr", "r_precision", "judged"),
        map=map_over("R"),
        ndcg=trec_ndcg,
    ),
    "ranx": graded(
        *("hit", "precision", "recall", "f1", "mrr", "dcg", "ndcg", "rbp"),
        cg=ungraded(cg),
        map=map_over("R"),
    ),
    "rectools": taken(
        "hit", "precision", "recall", "f1", "mrr", map=map_over("R"), ndcg=ndcg_over("ideal(k)")
    ),
    "lenskit": graded(
        "hit",
        "mrr",
        precision=neurec_precision,
        recall=precision_over("min(k,R)"),
        map=map_over("min(k,n,R)"),
        dcg=clipped_dcg,
        ndcg=clipped_ndcg,
    ),
    "recommenders": graded("precision", "recall", "ndcg", map=map_over("R"), map_at_k=map_),
    "implicit": taken("map", "ndcg", precision=precision_over("min(k,R)")),
    "irspack": taken(
        "hit", "recall", precision=neurec_precision, map=map_over("R"), ndcg=neurec_ndcg
    ),
    "spark": taken("precision", "recall", "map", "ndcg"),
    "llamaindex": taken(
        *("hit", "recall", "mrr"),
        precision=neurec_precision,
        map=map_over("R"),
        ndcg=whole_ndcg,
    ),
    "mlflow": taken("recall", precision=neurec_precision, ndcg=neurec_ndcg),
    "haystack": graded("hit", "recall", "mrr", map=map_over("R"), ndcg=whole_ndcg),
    "haystack-2025": graded("hit", "recall", "mrr", map=map_over("hits"), ndcg=whole_ndcg),
    "sentence-transformers": taken("hit", "precision", "recall", "map", "ndcg", "mrr"),
    "mteb": graded(
        *("hit", "precision", "recall", "mrr"),
        map=map_over("R"),
        ndcg=trec_ndcg,
        r_cap=precision_over("min(k,R)"),
    ),
    "ragas": taken("recall", precision=neurec_precision),
    "replay": taken("hit", "precision", "recall", "map", "ndcg", "mrr"),
    "evidently": all_listed(
        graded(
            *("hit", "recall", "ndcg", "mrr"),
            precision=neurec_precision,
            map=map_over("R"),
            mar=mar,
        )
    ),
    "tf-ranking": all_listed(
        graded("hit", "recall", "ndcg", "dcg", "mrr", precision=neurec_precision, map=map_over("R"))
    ),
    "lightgbm": all_listed(graded("ndcg", map=map_over("min(k,n,R)"))),
    "torchmetrics": all_listed(
        graded("hit", "precision", "recall", "ndcg", "mrr", "r_precision", map=map_over("hits"))
    ),
    "elliot": graded("hit", "precision", "recall", "f1", "ndcg", "mrr"),
    "recpack": taken(
        *("precision", "recall", "ndcg", "dcg", "cg", "mrr"),
        calibrated_recall=precision_over("min(k,R)"),
    ),
    "cornac": taken("hit", "precision", "recall", "f1", "ndcg", "mrr", ncrr=ncrr),
    "longmemeval": {"hit": hit, "ndcg": ungraded(clipped_ndcg)},
    "xgboost": all_listed(graded("map", "ndcg", precision=neurec_precision)),
    "catboost": all_listed(
        graded("recall", "ndcg", "dcg", "mrr", precision=neurec_precision, map=map_)
    ),
    "autorag": {
        "precision": neurec_precision,
        "ndcg": ungraded(neurec_ndcg),
        "recall": group_recall,
    },
    "pytorch-metric-learning": taken(
        "precision", "mrr", map=map_over("R"), map_at_r=map_at_r, r_precision=r_precision_at_k
    ),
    "elasticsearch": graded(
        "recall", "mrr", precision=neurec_precision, dcg=trec_dcg, ndcg=short_ndcg
    ),
    "opensearch": graded("ndcg", precision=neurec_precision, map=map_over("R")),
    "quepid": graded("dcg", "mrr", precision=neurec_precision, map=map_over("R"), ndcg=whole_ndcg),
    "transformers4rec": taken("precision", "recall", "map", "dcg", "mrr"),
    "bwhite": all_listed(
        graded("precision", "mrr", map=map_over("hits"), dcg=clipped_dcg, ndcg=clipped_ndcg)
    ),
}


# A population


class Evaluation(NamedTuple):
    """One metric at one k: a value per user of the truth (nan if skipped), and who was counted."""

    per_user: list
    mean: float
    std: float
    n_users: int
    n_evaluated: int
    n_skipped: int
    n_missing: int


def rows(ranks, truths):
    """Pair each user's list with the user's truth, in the order of the truth."""
    if isinstance(truths, dict):
        return [(ranks.get(user, []), truth) for user, truth in truths.items()]
    return list(zip(ranks, truths, strict=True))


def evaluate(ranks, truths, k, metric_function, empty="skip", missing="zero", **options):
    """Compute a metric for every user and its mean over the users who count.

    `ranks` and `truths` are lists by position, or dicts by user. `empty` says what becomes of a
    user without a relevant item, `missing` of one with relevant items but no list, or an empty one:
    "skip" or "zero", or "one" for `empty`; a user with neither is left out if one of them says so,
    and else scores as `empty` says. Options such as
    `relevant_from` are handed on to the metric.

    >>> ranks = [[5, 7, 8, 9, 3], [4, 6, 2, 1, 10]]
    >>> truths = [{7, 3, 5}, {4, 2, 8, 7}]
    >>> round(evaluate(ranks, truths, 3, map_).mean, 4)  # (2/3 + (1 + 2/3) / 3) / 2
    0.6111
    >>> round(evaluate(ranks, truths, 3, neurec_map).mean, 4)  # (2/6 + (1 + 2/3) / 6) / 2
    0.3056
    >>> evaluate({"ann": [1, 2]}, {"ann": {1}, "bob": {2}, "cid": set()}, 2, precision)
    Evaluation(per_user=[0.5, 0.0, nan], mean=0.25, std=0.3535533905932738, n_users=3, \
n_evaluated=2, n_skipped=1, n_missing=1)
    """
    if empty not in ("skip", "zero", "one") or missing not in ("skip", "zero"):
        raise ValueError(f"{empty!r}, {missing!r}: no such policies")
    instead = {"skip": math.nan, "zero": 0.0, "one": 1.0}

    per_user = []
    n_missing = 0
    judged = empty != "skip" and getattr(metric_function, "reads_no_threshold", False)
    for ranked, relevant in rows(ranks, truths):
        if getattr(metric_function, "of_listed", False):
            relevant = listed_truth(ranked, relevant)
        listless = not ranked and bool(relevant_items(relevant, options.get("relevant_from")))
        n_missing += listless
        if getattr(metric_function, "of_judgements", False) and not relevant:
            per_user.append(math.nan)
        elif getattr(metric_function, "of_judgements", False):
            per_user.append(metric_function(ranked, relevant, k) if ranked else instead[missing])
        elif judged and ranked and relevant_items(relevant):
            per_user.append(metric_function(ranked, relevant, k, **options))
        elif not relevant_items(relevant, options.get("relevant_from")):
            per_user.append(math.nan if missing == "skip" and not ranked else instead[empty])
        elif listless:
            per_user.append(instead[missing])
        else:
            per_user.append(metric_function(ranked, relevant, k, **options))

    counted = [value for value in per_user if not math.isnan(value)]
    return Evaluation(
        per_user=per_user,
        mean=mean(counted),
        std=std(counted),
        n_users=len(per_user),
        n_evaluated=len(counted),
        n_skipped=len(per_user) - len(counted),
        n_missing=n_missing,
    )
