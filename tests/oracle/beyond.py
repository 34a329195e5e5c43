"""Slow, obvious twins of the metrics beyond accuracy and of predicted values, from the formulas.

RecBole's documented formulas (recbole.evaluator.metrics) are read here in plain Python, place by
place; nothing is shared with the library.
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


def recbole_entropy(lists, k):
    return shannon_entropy(lists, k) / len(listings(lists, k)) if listings(lists, k) else math.nan


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


def hamming_distance(a, b):
    return sum(x != y for x, y in zip(a, b, strict=True))


def intra_list_diversity(ranked, k, features, distance, single=0.0):
    items = [item for item in top(ranked, k) if item in features]
    if len(items) < 2:
        return single if items else math.nan
    pairs = list(combinations(items, 2))
    return sum(distance(features[i], features[j]) for i, j in pairs) / len(pairs)


def serendipity(ranked, truth, k, baseline):
    return sum(item in truth and item not in baseline for item in top(ranked, k)) / k


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


def rbo_of_endless(a, b, p):
    """Sum equation 4 down to where what is left cannot be seen; below their ends both go on alike.

    The lists have to be of one length.
    """
    assert len(a) == len(b)
    total, d = 0.0, 0
    while p**d > 1e-17:
        d += 1
        n = min(d, len(a))
        shared = len(set(a[:n]) & set(b[:n])) + d - n
        total += (1 - p) * p ** (d - 1) * shared / d
    return total


def exposures(lists, k, discount):
    """Return the exposure of each listed item: every list that has it adds 1 / discount(rank)."""
    found = {}
    for ranked in lists:
        for rank, item in enumerate(ranked[:k], start=1):
            found[item] = found.get(item, 0.0) + 1 / discount(rank)
    return found


def group_shares(lists, k, groups, discount):
    """Return each group's share of all exposure; None is the group of all other items."""
    found = dict.fromkeys([*groups.values(), None], 0.0)
    for item, value in exposures(lists, k, discount).items():
        found[groups.get(item)] += value
    total = sum(found.values())
    return {group: value / total if total else math.nan for group, value in found.items()}


def inverse_propensity(lists, truths, k, propensity, discount, normalised):
    """Yang et al. (2018): the mean over users of what the hits down to k earn, each over its p.

    Normalised, of each user over the sum of 1 / p of the relevant items; pooled, the sums are over
    all users. Users without relevant items are left out.
    """
    above, below = [], []
    for ranked, truth in zip(lists, truths, strict=True):
        if truth:
            parts = [
                1 / propensity[item] / discount(rank)
                for rank, item in enumerate(ranked[:k], start=1)
                if item in truth
            ]
            above.append(sum(parts))
            below.append(sum(1 / propensity[item] for item in truth))
    if not above:
        return math.nan
    if normalised == "pooled":
        return sum(above) / sum(below)
    if normalised == "user":
        return sum(a / b for a, b in zip(above, below, strict=True)) / len(above)
    return sum(above) / len(above)


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


def label_shares(weighted, labels):
    """Share weights of items equally among the labels of each; without those that have none."""
    found = Counter()
    for item, weight in weighted:
        for label in labels.get(item, ()):
            found[label] += weight / len(labels[item])
    total = sum(found.values())
    return {label: weight / total for label, weight in found.items()}


def calibration(ranked, k, history, labels, distance="kl", weights="equal", alpha=0.01):
    """Steck (2018), equations 2, 3, 6 and 7; by Hellinger's distance without smoothing."""
    places = [(item, ranked.index(item) + 1) for item in top(ranked, k)]
    p = label_shares([(item, 1) for item in history], labels)
    by_rank = weights == "rank"
    q = label_shares([(i, 1 / math.log2(r + 1) if by_rank else 1) for i, r in places], labels)
    if not p or not q:
        return math.nan
    if distance == "hellinger":
        apart = [math.sqrt(p.get(g, 0)) - math.sqrt(q.get(g, 0)) for g in {*p, *q}]
        return math.sqrt(sum(one**2 for one in apart) / 2)
    return sum(p[g] * math.log(p[g] / ((1 - alpha) * q.get(g, 0) + alpha * p[g])) for g in p)


def popularity_lift(ranked, k, history, counts):
    """Abdollahpouri et al. (2019): repeated items of the history count again."""
    known = [counts[item] for item in history if item in counts]
    mean = sum(known) / len(known) if known else 0
    return (mean_of(ranked, k, counts.get) - mean) / mean if mean else math.nan


def jaccard_distance(a, b):
    return 1 - len({*a} & {*b}) / len({*a} | {*b}) if {*a} | {*b} else 1.0


def label_exposure(ranked, k, labels, label):
    """Return the label's share of the exposure in one list, of an item by 1 / its labels."""
    weights = {item: 1 / math.log2(ranked.index(item) + 2) for item in top(ranked, k)}
    mine = [weights[i] / len(labels[i]) for i in weights if label in labels.get(i, ())]
    return sum(mine) / sum(weights.values()) if weights else math.nan


def label_hits(ranked, truth, k, labels, label):
    """Return the label's share of one user's hits."""
    hits = [item for item in top(ranked, k) if item in truth]
    mine = [1 / len(labels[item]) for item in hits if label in labels.get(item, ())]
    return sum(mine) / len(hits) if hits else math.nan
