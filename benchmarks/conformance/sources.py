"""What libraries answer that are read and not installed: by steps written after them.

Each peer is a function of a list cut at k, the grades of a query and k; it returns values by
toplist's names, or None where the library leaves the query out. The steps are those of the source
that the convention names, in Python: servers, applications, scripts of a paper.
"""

import math
from collections.abc import Callable
from typing import Any

Grades = dict[Any, float]
Steps = Callable[[list[Any], Grades, int], dict[str, float] | None]


def of_queries(steps: Steps) -> Callable[[Any, str, int], dict[str, float]]:
    """Turn steps of a query into what a peer answers, NaN of queries that are left out."""

    def answer(case: Any, theirs: str, k: int) -> dict[str, float]:
        found = {user: steps(row[:k], case.truths[user], k) for user, row in case.lists.items()}
        return {user: row[theirs] if row else math.nan for user, row in found.items()}

    return answer


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


def best(grades: Grades, n: int | None = None) -> list[float]:
    """Return the highest grades, n at most."""
    return sorted(grades.values(), reverse=True)[:n]


def cascade(labels: list[float], largest: float) -> float:
    """Return the expected reciprocal rank of labels."""
    found, left = 0.0, 1.0
    for place, gain in enumerate(powers(labels), 1):
        p = gain / 2.0**largest
        found, left = found + left * p / place, left * (1 - p)
    return found


@of_queries
def longmemeval(listed: list[Any], grades: Grades, k: int) -> dict[str, float] | None:
    """Follow evaluate_retrieval; questions without a target are not reported."""
    correct = {item for item, grade in grades.items() if grade > 0}
    if not correct:
        return None
    labels = [float(item in correct) for item in listed]
    return {
        "hit": float(not correct.isdisjoint(listed)),
        "complete": float(correct <= {*listed}),
        "ndcg": over(dcg(labels, 1), dcg([1.0] * min(k, len(correct)), 1)),
    }


@of_queries
def autorag(listed: list[Any], grades: Grades, k: int) -> dict[str, float] | None:
    """Follow the functions of retrieval.py, each relevant id a group of its own."""
    correct = {item for item, grade in grades.items() if grade > 0}
    if not correct or not listed:
        return None
    labels = [float(item in correct) for item in listed]
    return {
        "precision": over(sum(labels), len(listed)),
        "recall": sum(labels) / len(correct),
        "ndcg": over(dcg(labels), dcg([1.0] * min(len(correct), len(listed)))),
    }


@of_queries
def elasticsearch(listed: list[Any], grades: Grades, k: int) -> dict[str, float]:
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


@of_queries
def opensearch(listed: list[Any], grades: Grades, k: int) -> dict[str, float] | None:
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


@of_queries
def quepid(listed: list[Any], grades: Grades, k: int) -> dict[str, float] | None:
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


@of_queries
def transformers4rec(listed: list[Any], grades: Grades, k: int) -> dict[str, float]:
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


def bwhite(case: Any, theirs: str, k: int) -> dict[str, float] | None:
    """Follow the gist, on labels of the list alone; its precision wants lists of k items."""
    lists = {user: case.labels().get(user, []) for user in case.truths}
    if theirs == "precision" and k > min(map(len, lists.values())):
        return None
    return {user: gist(row, k)[theirs] for user, row in lists.items()}


def gist(row: list[float], k: int) -> dict[str, float]:
    """Follow each metric of the gist, on labels of a list."""
    labels = row[:k]
    found, gain = precisions(labels), dcg(labels, 1)
    return {
        "map": over(sum(found), len(found)),
        "mrr": reciprocal(labels),
        "precision": len(found) / k,
        "dcg": gain,
        "ndcg": over(gain, dcg(sorted(row, reverse=True)[:k], 1)),
    }
