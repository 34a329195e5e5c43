"""What libraries answer that are read and not installed: one query, by steps written after them.

Each function takes a list cut at k, the grades of a query and k, and returns values by toplist's
names, or None where the library leaves the query out. The steps are those of the source that the
convention names, in Python: servers, applications, scripts of a paper.
"""

import math
from collections.abc import Callable, Iterator

from case import Answer, Case, averaged

Query = Callable[[list[int], dict[int, float], int], dict[str, float] | None]


def dcg(gains: list[float], first: int = 2) -> float:
    """Add gains, each over the logarithm of its place, which counts from `first`; not below 1."""
    return sum(gain / max(1.0, math.log2(place)) for place, gain in enumerate(gains, first))


def over(value: float, best: float) -> float:
    """Divide by what is best, or say 0 where that is 0."""
    return value / best if best else 0.0


def precisions(labels: list[float]) -> list[float]:
    """Return the precision at each relevant label."""
    places = [place for place, label in enumerate(labels, 1) if label > 0]
    return [j / place for j, place in enumerate(places, 1)]


def reciprocal(labels: list[float]) -> float:
    """Return 1 over the first place with a relevant label."""
    return next((1 / place for place, label in enumerate(labels, 1) if label > 0), 0.0)


def powers(labels: list[float]) -> list[float]:
    """Return the gain of each label."""
    return [2.0**label - 1 for label in labels]


def best(grades: dict[int, float], n: int | None = None) -> list[float]:
    """Return the highest grades, n at most."""
    return sorted(grades.values(), reverse=True)[:n]


def cascade(labels: list[float], largest: float) -> float:
    """Return the expected reciprocal rank of labels."""
    found, left = 0.0, 1.0
    for place, gain in enumerate(powers(labels), 1):
        p = gain / 2.0**largest
        found, left = found + left * p / place, left * (1 - p)
    return found


def longmemeval(listed: list[int], grades: dict[int, float], k: int) -> dict[str, float] | None:
    """Follow evaluate_retrieval; questions without a target are not reported."""
    correct = {item for item, grade in grades.items() if grade > 0}
    if not correct:
        return None
    labels = [float(item in correct) for item in listed]
    ideal = [1.0] * min(k, len(correct))
    return {
        "hit": float(any(item in listed for item in correct)),
        "complete": float(all(item in listed for item in correct)),
        "ndcg": over(dcg(labels, 1), dcg(ideal, 1)),
    }


def autorag(listed: list[int], grades: dict[int, float], k: int) -> dict[str, float] | None:
    """Follow the functions of retrieval.py, each relevant id a group of its own."""
    groups = [{item} for item, grade in grades.items() if grade > 0]
    if not groups or not listed:
        return None
    return of_groups(listed, groups)


def of_groups(listed: list[int], groups: list[set[int]]) -> dict[str, float]:
    """Return recall of groups, and precision and nDCG of their ids."""
    labels = [float(any(item in group for group in groups)) for item in listed]
    n_ids = sum(map(len, groups))
    return {
        "precision": sum(labels) / len(listed),
        "recall": sum(not group.isdisjoint(listed) for group in groups) / len(groups),
        "ndcg": over(dcg(labels), dcg([1.0] * min(n_ids, len(listed)))),
    }


def elasticsearch(listed: list[int], grades: dict[int, float], k: int) -> dict[str, float]:
    """Follow PrecisionAtK, RecallAtK, MeanReciprocalRank, DiscountedCumulativeGain."""
    labels = [grades.get(item, 0.0) for item in listed]
    relevant = [label >= 1 for label in labels]
    gain = dcg(powers(labels))
    return {
        "precision": over(sum(relevant), len(listed)),
        "recall": over(sum(relevant), sum(grade >= 1 for grade in grades.values())),
        "mrr": reciprocal(labels),
        "dcg": gain,
        "ndcg": over(gain, dcg(powers(best(grades, len(listed))))),
        "err(max=4)": cascade(labels, 4),
    }


def opensearch(listed: list[int], grades: dict[int, float], k: int) -> dict[str, float] | None:
    """Follow Evaluation.java, without its rounding; no value is stored without hits."""
    if not listed:
        return None
    labels = [grades.get(item, 0.0) for item in listed]
    found = precisions(labels)
    return {
        "precision": len(found) / min(k, len(listed)),
        "map": over(sum(found), sum(grade > 0 for grade in grades.values())),
        "ndcg": over(dcg(powers(labels)), dcg(powers(best(grades, k)))),
    }


def quepid(listed: list[int], grades: dict[int, float], k: int) -> dict[str, float] | None:
    """Follow the scorers of db/scorers; queries without hits have no part in a case's score."""
    if not listed:
        return None
    labels = [grades.get(item, 0.0) for item in listed]
    found = precisions(labels)
    return {
        "precision": len(found) / len(listed),
        "map": over(sum(found), sum(grade > 0 for grade in grades.values())),
        "ndcg": over(dcg(powers(labels)), dcg(powers(best(grades)))),
        "dcg": dcg(powers(labels)),
        "mrr": reciprocal(labels),
        "err(max=4)": cascade(labels, 4),
    }


def transformers4rec(listed: list[int], grades: dict[int, float], k: int) -> dict[str, float]:
    """Follow the classes of ranking_metric.py, on labels of 1."""
    n_relevant = sum(grade > 0 for grade in grades.values())
    labels = [float(grades.get(item, 0.0) > 0) for item in listed]
    return {
        "precision": sum(labels) / k,
        "recall": over(sum(labels), n_relevant),
        "map": sum(precisions(labels)) / min(max(n_relevant, 1), k),
        "dcg": dcg(labels),
        "mrr": reciprocal(labels),
    }


def peer(name: str, of_query: Query) -> Callable[[Case], Iterator[Answer]]:
    """Return the peer that asks for the values of every query at every k."""

    def answers(case: Case) -> Iterator[Answer]:
        for k in case.ks:
            found = {
                user: of_query(case.ranks.get(user, [])[:k], truth, k)
                for user, truth in case.truths.items()
            }
            for metric in next(filter(None, found.values())):
                values = {user: one[metric] if one else math.nan for user, one in found.items()}
                yield averaged(metric, k, values)

    answers.__name__ = name
    return answers


def bwhite(case: Case) -> Iterator[Answer]:
    """Follow the gist, on labels of the list alone; its precision wants lists of k items."""
    lists = {user: case.judged_lists().get(user, []) for user in case.truths}
    shortest = min(map(len, lists.values()))
    for k in case.ks:
        for metric in ("map", "mrr", "dcg", "ndcg", *["precision"] * (k <= shortest)):
            yield averaged(metric, k, {user: _gist(metric, row, k) for user, row in lists.items()})


def _gist(metric: str, row: list[float], k: int) -> float:
    labels = row[:k]
    found = precisions(labels)
    if metric == "map":
        return over(sum(found), len(found))
    if metric == "mrr":
        return reciprocal(labels)
    if metric == "precision":
        return len(found) / k
    gain = dcg(labels, 1)
    return gain if metric == "dcg" else over(gain, dcg(sorted(row, reverse=True)[:k], 1))


OF_QUERIES: dict[str, Query] = {
    one.__name__: one
    for one in (longmemeval, autorag, elasticsearch, opensearch, quepid, transformers4rec)
}
PEERS = {name: peer(name, one) for name, one in OF_QUERIES.items()} | {"bwhite": bwhite}
