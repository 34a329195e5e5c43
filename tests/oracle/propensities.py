"""Metrics of relevant items that count 1 / p, in plain Python from their definitions alone.

A list is a list of ids, a truth a set of them, `p` the propensity of every relevant id. Means are
over users with a relevant item. Nothing here is imported from toplist.
"""

from math import log, log2


def weights(p: dict, clip: float | None = None) -> dict:
    """Return 1 / p of every item, of which none is below `clip`."""
    return {item: 1 / (one if clip is None else max(one, clip)) for item, one in p.items()}


def known(lists: list, truths: list) -> list:
    """Return the users who have a relevant item, each with list and truth."""
    return [(listed, truth) for listed, truth in zip(lists, truths, strict=True) if truth]


def hits(listed: list, truth: set, k: int) -> list:
    """Return the hits down to k as pairs of rank and item."""
    return [(r, item) for r, item in enumerate(listed[:k], start=1) if item in truth]


# What a hit at rank r is worth in metrics that are sums over hits.
WORTH = {
    "recall": lambda r: 1.0,
    "cg": lambda r: 1.0,
    "dcg": lambda r: 1 / log2(r + 1),
    "rbp(p=0.8)": lambda r: 0.2 * 0.8 ** (r - 1),
}
# Of users with one relevant item, what it is worth at rank r down to k.
WORTH_ALONE = {
    **WORTH,
    "hit": lambda r: 1.0,
    "mrr": lambda r: 1 / r,
    "map": lambda r: 1 / r,
    "ndcg": lambda r: 1 / log2(r + 1),
}


def snips(name: str, lists: list, truths: list, w: dict, k: int) -> float:
    """Return the sum over hits of w times worth, over the sum of w of all relevant items."""
    found = total = 0.0
    for listed, truth in known(lists, truths):
        found += sum(w[item] * WORTH_ALONE[name](r) for r, item in hits(listed, truth, k))
        total += sum(w[item] for item in truth)
    return found / total


def ips(name: str, lists: list, truths: list, w: dict, k: int) -> float:
    """Return the mean over users of the sum over hits of w times worth; over k for precision.

    These are all who have a list or an observed item; without the latter they count 0.
    """
    total = 0.0
    for listed, truth in known(lists, truths):
        worth = WORTH.get(name, lambda r: 1 / k)
        total += sum(w[item] * worth(r) for r, item in hits(listed, truth, k))
    return total / sum(bool(listed or truth) for listed, truth in zip(lists, truths, strict=True))


def psp(lists: list, truths: list, w: dict, k: int) -> float:
    """Return propensity-scored precision: found weights over the k largest of each user."""
    found = best = 0.0
    for listed, truth in known(lists, truths):
        found += sum(w[item] for _, item in hits(listed, truth, k))
        best += sum(sorted((w[item] for item in truth), reverse=True)[:k])
    return found / best


def psndcg(lists: list, truths: list, w: dict, k: int) -> float:
    """Return propensity-scored nDCG: sums of users' DCG over the plain ideal."""
    found = best = 0.0
    for listed, truth in known(lists, truths):
        plain = sum(1 / log2(i + 1) for i in range(1, min(k, len(truth)) + 1))
        order = sorted((w[item] for item in truth), reverse=True)[:k]
        dcg = sum(w[item] / log2(r + 1) for r, item in hits(listed, truth, k))
        found += dcg / plain
        best += sum(one / log2(i + 1) for i, one in enumerate(order, start=1)) / plain
    return found / best


def effective(truths: list, w: dict) -> float:
    """Return Kish's effective number of relevant items."""
    every = [w[item] for truth in truths for item in truth]
    return sum(every) ** 2 / sum(one * one for one in every)


def of_counts(counts: dict, n: int, a: float, b: float) -> dict:
    """Return the propensities of Jain, Prabhu and Varma (2016)."""
    c = (log(n) - 1) * (b + 1) ** a
    return {item: 1 / (1 + c * (one + b) ** -a) for item, one in counts.items()}
