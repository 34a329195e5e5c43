"""Slow, obvious twins of the metrics of lists that need a history, labels, distances or a truth.

As in `oracle.beyond`, each function is the definition of its metric, to be checked by reading, and
nothing is shared with the library. `ranked` is one user's list of ids, best first, `history` the
ids that the user interacted with, each as often as it did; `labels` gives each item's labels, one
or several. A later place of an item in a list is left out and ranks do not close up. What cannot
be said (nothing is listed, no history, no label) is NaN.
"""

import math
from collections import Counter

from oracle.beyond import mean_of, top


def discount(rank):
    return math.log2(rank + 1)


def places(ranked, k):
    """Return the rank of each item within k, of the first place where it stands.

    >>> places(["a", "b", "a", "c"], 4)
    {'a': 1, 'b': 2, 'c': 4}
    """
    return {item: ranked.index(item) + 1 for item in top(ranked, k)}


def mean_over_users(values):
    """Average the users that have a value; return how many these are too.

    >>> mean_over_users([1.0, math.nan, 2.0])
    (1.5, 2)
    """
    values = [value for value in values if not math.isnan(value)]
    return (sum(values) / len(values) if values else math.nan), len(values)


# Calibration: Steck, "Calibrated recommendations", RecSys 2018


def shares(weighted, labels):
    """Share weights among labels, each item's equally among its own; without one it is left out.

    >>> shares([("a", 1), ("b", 1), ("x", 1)], {"a": ["war"], "b": ["war", "drama"]})
    {'war': 0.75, 'drama': 0.25}
    """
    found = Counter()
    for item, weight in weighted:
        for label in labels.get(item, ()):
            found[label] += weight / len(labels[item])
    total = sum(found.values())
    return {label: weight / total for label, weight in found.items()}


def history_shares(history, labels):
    """p(g), equation 2: every interaction weighs as much."""
    return shares([(item, 1) for item in history], labels)


def list_shares(ranked, k, labels, by_rank=False):
    """q(g), equation 3: every item weighs as much, or 1 / log2(rank + 1)."""
    found = places(ranked, k).items()
    return shares([(item, 1 / discount(rank) if by_rank else 1) for item, rank in found], labels)


def kl_divergence(p, q):
    """KL(p || q) by natural logarithms; labels without a share of p add nothing.

    >>> kl_divergence({"a": 1.0}, {"a": 0.5, "b": 0.5}) == math.log(2)
    True
    """
    return sum(share * math.log(share / q[label]) for label, share in p.items() if share)


def smoothed(p, q, alpha):
    """Mix p into q, equation 7, so that no label of p has no share."""
    return {g: (1 - alpha) * q.get(g, 0.0) + alpha * p.get(g, 0.0) for g in {*p, *q}}


def hellinger(p, q):
    """Hellinger's distance, from 0 to 1.

    >>> hellinger({"a": 1.0}, {"b": 1.0}), hellinger({"a": 1.0}, {"a": 1.0})
    (1.0, 0.0)
    """
    total = sum((math.sqrt(p.get(g, 0.0)) - math.sqrt(q.get(g, 0.0))) ** 2 for g in {*p, *q})
    return math.sqrt(total / 2)


def calibration_kl(ranked, history, k, labels, alpha=0.01, by_rank=False):
    """KL(p || (1 - alpha) q + alpha p), equation 6: 0 is calibrated, -log(alpha) nothing shared."""
    p, q = history_shares(history, labels), list_shares(ranked, k, labels, by_rank)
    return kl_divergence(p, smoothed(p, q, alpha)) if p and q else math.nan


def calibration_hellinger(ranked, history, k, labels, by_rank=False):
    """Hellinger's distance of p and q, which needs no smoothing."""
    p, q = history_shares(history, labels), list_shares(ranked, k, labels, by_rank)
    return hellinger(p, q) if p and q else math.nan


def entropy(p, base=math.e):
    """Shannon's entropy of shares.

    >>> entropy({"a": 0.5, "b": 0.5, "c": 0.0}, base=2)
    1.0
    """
    return -sum(share * math.log(share, base) for share in p.values() if share)


# Popularity


def popularity_lift(ranked, history, k, counts):
    """(GAP of the list - GAP of the history) / GAP of the history, of one user.

    GAP is the mean count of the items, without those that have none: Abdollahpouri, Mansoury,
    Burke, Mobasher, "The unfairness of popularity bias in recommendation", RMSE 2019, where GAP is
    averaged over a group of users first: `group_popularity_lift`.
    """
    listed, known = mean_of(ranked, k, counts.get), mean_count(history, counts)
    return (listed - known) / known if known else math.nan


def mean_count(history, counts):
    """Return the mean count of all interactions of a user; repeated ones count again."""
    known = [counts[item] for item in history if item in counts]
    return sum(known) / len(known) if known else math.nan


def group_popularity_lift(lists, histories, k, counts):
    """Lift of the means over the users who have both a list and a history."""
    pairs = [
        (mean_of(ranked, k, counts.get), mean_count(history, counts))
        for ranked, history in zip(lists, histories, strict=True)
    ]
    pairs = [pair for pair in pairs if not any(map(math.isnan, pair))]
    listed, known = (sum(side) for side in zip(*pairs, strict=True)) if pairs else (math.nan, 1)
    return (listed - known) / known if known else math.nan


# Distances of items for `oracle.beyond.intra_list_diversity`


def jaccard_distance(a, b):
    """One minus shared labels over all labels of two items; items without any are unlike.

    >>> jaccard_distance({"war", "drama"}, {"war"}), jaccard_distance(set(), set())
    (0.5, 1.0)
    """
    either = {*a} | {*b}
    return 1 - len({*a} & {*b}) / len(either) if either else 1.0


# What a baseline does not recommend: Ge, Delgado-Battenfeld, Jannach, RecSys 2010


def unexpectedness(ranked, k, baseline):
    return mean_of(ranked, k, lambda item: item not in baseline)


def serendipity(ranked, truth, k, baseline, divisor="k"):
    """Count relevant items that are not in the baseline, over k, those listed, or unexpected."""
    if not truth:
        return math.nan
    listed = top(ranked, k)
    unexpected = [item for item in listed if item not in baseline]
    below = {"k": k, "n": len(listed), "unexpected": len(unexpected)}[divisor]
    return sum(item in truth for item in unexpected) / below if below else 0.0


# Users beside each other


def personalisation_by_cosine(lists, k):
    """One minus the mean cosine of two users' lists as sets; of those who have one."""
    sets = [set(top(ranked, k)) for ranked in lists if top(ranked, k)]
    cosines = [
        len(a & b) / math.sqrt(len(a) * len(b)) for i, a in enumerate(sets) for b in sets[:i]
    ]
    return 1 - sum(cosines) / len(cosines) if cosines else math.nan


def gini_of_exposure(lists, k, catalogue, discount=discount):
    """Gini's index over a catalogue of the exposure that all lists give to each item."""
    found = dict.fromkeys(catalogue, 0.0)
    for ranked in lists:
        for item, rank in places(ranked, k).items():
            found[item] += 1 / discount(rank)
    x, n = sorted(found.values()), len(found)
    above = sum((2 * i - n - 1) * x_i for i, x_i in enumerate(x, start=1))
    return above / (n * sum(x)) if sum(x) else math.nan


# Groups of items: providers


def exposure_of_groups(ranked, k, groups, discount=discount):
    """Return each group's share of the exposure in one list; None is the group of other items.

    >>> exposure_of_groups(["a", "b"], 2, {"a": "own", "c": "other"}, discount=lambda rank: 1)
    {'own': 0.5, 'other': 0.0, None: 0.5}
    """
    found = dict.fromkeys([*groups.values(), None], 0.0)
    for item, rank in places(ranked, k).items():
        found[groups.get(item)] += 1 / discount(rank)
    return _over_total(found)


def ratio_of_exposure(lists, k, groups, group, discount=lambda rank: 1):
    """Return a group's share of all lists' exposure over its share of the grouped items."""
    found = [
        (groups[item], 1 / discount(rank))
        for ranked in lists
        for item, rank in places(ranked, k).items()
    ]
    share = sum(w for one, w in found if one == group) / sum(w for _, w in found)
    return share / (sum(one == group for one in groups.values()) / len(groups))


def hits_of_groups(ranked, truth, k, groups):
    """Return each group's share of one user's hits; NaN where there are none.

    >>> hits_of_groups(["a", "b", "c"], {"a", "c"}, 3, {"a": "own", "b": "own", "c": "other"})
    {'own': 0.5, 'other': 0.5, None: 0.0}
    """
    found = dict.fromkeys([*groups.values(), None], 0.0)
    for item in top(ranked, k):
        found[groups.get(item)] += item in truth
    return _over_total(found)


def _over_total(found):
    total = sum(found.values())
    return {group: value / total if total else math.nan for group, value in found.items()}


def mean_of_groups(users):
    """Average each group's share over the users that have one; return how many these are too."""
    return {group: mean_over_users([user[group] for user in users]) for group in users[0]}
