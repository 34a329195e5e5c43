"""Slow, obvious twins of the metrics of lists and of predicted values, from the formulas.

Each function is the definition of its metric, to be checked by reading, and nothing is shared with
the library. `ranked` is one user's list of ids, best first, `history` the ids that the user
interacted with, each as often as it did; `labels` gives each item's labels, one or several. A later
place of an item in a list is left out and ranks do not close up. What cannot be said (nothing is
listed, no history, no label) is NaN. RecBole's formulas are those of its documents.
"""

import math
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations


def top(ranked, k):
    """Return the distinct items among the first k, in order."""
    return list(dict.fromkeys(ranked[:k]))


def listings(lists, k):
    """Count in how many lists each item stands within k."""
    return Counter(item for ranked in lists for item in top(ranked, k))


def item_coverage(lists, k, catalogue):
    return len(set().union(*(top(ranked, k) for ranked in lists))) / len(catalogue)


def gini(lists, k, catalogue=None, divisor="n"):
    """Gini over a catalogue, or over the items that are recommended."""
    counts = listings(lists, k)
    x = sorted(counts[item] for item in (counts if catalogue is None else catalogue))
    n, total = len(x), sum(x)
    if total == 0:
        return math.nan
    above = sum((2 * i - n - 1) * x_i for i, x_i in enumerate(x, start=1))
    below = (n if divisor == "n" else n - 1) * total
    return float(Fraction(above, below)) if below else 0.0


def shannon_entropy(lists, k, base=math.e):
    counts = listings(lists, k)
    total = sum(counts.values())
    if total == 0:
        return math.nan
    return -sum(c / total * math.log(c / total, base) for c in counts.values())


def personalisation(lists, k):
    listed = [one for one in lists if len(one)]  # an empty list is none
    shared = [len(set(top(a, k)) & set(top(b, k))) for a, b in combinations(listed, 2)]
    return 1 - sum(shared) / len(shared) / k if shared else math.nan


def mean_of(ranked, k, value):
    """Average a value over the first k items; None is left out."""
    values = [value(item) for item in top(ranked, k)]
    values = [v for v in values if v is not None]
    return sum(values) / len(values) if values else math.nan


def recbole_tail(counts, tail_ratio):
    """Return RecBole's long-tail items."""
    if tail_ratio > 1:
        return {item for item, count in counts.items() if count <= tail_ratio}
    by_count = sorted(counts, key=lambda item: (counts[item], item))
    return set(by_count[: max(int(len(counts) * tail_ratio), 1)])


def cosine_distance(a, b):
    lengths = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(x * x for x in b))
    return 1 - (sum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0.0)


def euclidean_distance(a, b):
    return math.dist(a, b)


def hamming_distance(a, b):
    return sum(x != y for x, y in zip(a, b, strict=True))


def intra_list_diversity(ranked, k, features, distance, single=0.0):
    items = [item for item in top(ranked, k) if item in features]
    if len(items) < 2:
        return single if items else math.nan
    pairs = list(combinations(items, 2))
    return sum(distance(features[i], features[j]) for i, j in pairs) / len(pairs)


def recbole_auc(labels, predictions):
    """RecBole's documented AUC: descending ranks, of ties the mean rank; exactly."""
    positives = [p for label, p in zip(labels, predictions, strict=True) if label]
    m, n = len(positives), len(labels)
    if m in (0, n):
        return None
    ranks = [
        sum(p > one for p in predictions) + Fraction(1 + predictions.count(one), 2)
        for one in positives
    ]
    return (m * (n + 1) - Fraction(m * (m + 1), 2) - sum(ranks)) / (m * (n - m))


def recbole_gauc(users, labels, predictions):
    """RecBole's documented GAUC; users with one kind of label are removed."""
    above, below = Fraction(0), 0
    for user in dict.fromkeys(users):
        rows = [i for i, one in enumerate(users) if one == user]
        mine = [labels[i] for i in rows]
        value = recbole_auc(mine, [predictions[i] for i in rows])
        if value is not None:
            above += sum(mine) * value
            below += sum(mine)
    return float(above / below) if below else math.nan


def log_loss(labels, predictions, clip):
    total = 0.0
    for label, p in zip(labels, predictions, strict=True):
        p = min(max(p, clip), 1 - clip)
        total -= label * math.log(p) + (1 - label) * math.log(1 - p)
    return total / len(labels)


def overlap(a, b, k):
    return len(set(a[:k]) & set(b[:k])) / k if a or b else math.nan


def jaccard(a, b, k):
    either = set(a[:k]) | set(b[:k])
    return len(set(a[:k]) & set(b[:k])) / len(either) if either else math.nan


def rbo_ext(a, b, k, p):
    """Equation 32 of Webber, Moffat and Zobel (2010), of lists cut at k."""
    short, long = sorted((a[:k], b[:k]), key=len)
    s, n = len(short), len(long)
    if n == 0:
        return math.nan
    if s == 0:
        return 0.0

    def x(d):
        return len(set(short[:d]) & set(long[:d]))

    total = sum(x(d) / d * p**d for d in range(1, n + 1))
    total += sum(x(s) * (d - s) / (s * d) * p**d for d in range(s + 1, n + 1))
    return (1 - p) / p * total + ((x(n) - x(s)) / n + x(s) / s) * p**n


def coverage_of_counts(counts, catalogue):
    """From counts of counts, count -> number of items, as are the next three; exactly."""
    return float(Fraction(sum(n for count, n in counts.items() if count), catalogue))


def gini_of_counts(counts, catalogue=None, divisor="n"):
    """Add up the ranks i of all items with one count: they follow each other."""
    counts = {count: n for count, n in counts.items() if count}
    if catalogue is not None:
        counts[0] = catalogue - sum(counts.values())
    n, total = sum(counts.values()), sum(count * m for count, m in counts.items())
    above = before = 0
    for count, m in sorted(counts.items()):
        above += count * (m * (2 * before + m + 1) - m * (n + 1))
        before += m
    if total == 0:
        return math.nan
    below = (n if divisor == "n" else n - 1) * total
    return float(Fraction(above, below)) if below else 0.0


def entropy_of_counts(counts):
    total = sum(count * n for count, n in counts.items())
    if total == 0:
        return math.nan
    with localcontext(prec=60):
        return float(
            -sum(n * Decimal(c) / total * (Decimal(c) / total).ln() for c, n in counts.items() if c)
        )


def personalisation_of_counts(counts, k, n_users):
    pairs = sum(n * count * (count - 1) for count, n in counts.items())
    return float(1 - Fraction(pairs, n_users * (n_users - 1) * k))


def label_hits(ranked, truth, k, labels, label):
    """Return the label's share of one user's hits."""
    hits = [item for item in top(ranked, k) if item in truth]
    mine = [1 / len(labels[item]) for item in hits if label in labels.get(item, ())]
    return sum(mine) / len(hits) if hits else math.nan


def discount(rank):
    return math.log2(rank + 1)


def places(ranked, k):
    """Return the rank of each item within k, of the first place where it stands.

    >>> places(["a", "b", "a", "c"], 4)
    {'a': 1, 'b': 2, 'c': 4}
    """
    return {item: ranked.index(item) + 1 for item in top(ranked, k)}


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


def calibration(ranked, k, history, labels, distance="kl", weights="equal", alpha=0.01):
    """KL(p || (1 - alpha) q + alpha p), equation 6: 0 is calibrated, -log(alpha) nothing shared.

    Or Hellinger's distance of p and q, which needs no smoothing.
    """
    p, q = history_shares(history, labels), list_shares(ranked, k, labels, weights == "rank")
    if not p or not q:
        return math.nan
    return hellinger(p, q) if distance == "hellinger" else kl_divergence(p, smoothed(p, q, alpha))


def entropy(p, base=math.e):
    """Shannon's entropy of shares.

    >>> entropy({"a": 0.5, "b": 0.5, "c": 0.0}, base=2)
    1.0
    """
    return -sum(share * math.log(share, base) for share in p.values() if share)


# Popularity


def popularity_lift(ranked, k, history, counts):
    """(GAP of the list - GAP of the history) / GAP of the history, of one user.

    GAP is the mean count of the items, without those that have none: Abdollahpouri, Mansoury,
    Burke, Mobasher, "The unfairness of popularity bias in recommendation", RMSE 2019, where GAP is
    averaged over a group of users first.
    """
    listed, known = mean_of(ranked, k, counts.get), mean_count(history, counts)
    return (listed - known) / known if known else math.nan


def mean_count(history, counts):
    """Return the mean count of all interactions of a user; repeated ones count again."""
    known = [counts[item] for item in history if item in counts]
    return sum(known) / len(known) if known else math.nan


# Distances of items for `intra_list_diversity`


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


# Exposure of items, and of groups of these: providers


def exposures(lists, k, discount=discount):
    """Return the exposure of each listed item: every list that has it adds 1 / discount(rank)."""
    found = {}
    for ranked in lists:
        for item, rank in places(ranked, k).items():
            found[item] = found.get(item, 0.0) + 1 / discount(rank)
    return found


def group_shares(lists, k, groups, discount=discount):
    """Return each group's share of all exposure; None is the group of all other items.

    >>> group_shares([["a", "b"]], 2, {"a": "own", "c": "other"}, discount=lambda rank: 1)
    {'own': 0.5, 'other': 0.0, None: 0.5}
    """
    found = dict.fromkeys([*groups.values(), None], 0.0)
    for item, value in exposures(lists, k, discount).items():
        found[groups.get(item)] += value
    total = sum(found.values())
    return {group: value / total if total else math.nan for group, value in found.items()}
