"""What follows from the definition of a metric, whatever its values: bounds, and identities.

Some of it follows only where no user has more than one relevant item, or where the ground truth has
no grades: that is the `Population`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from toplist.metrics.definitions import DISCOUNTS, DIVISORS, Metric

# Cut-offs 1 to DEPTH, numbers of relevant items and lengths at which a bound is looked for.
DEPTH = 64
_SIZES = np.array([1, 2, 3, 5, 8, 13, 30, DEPTH])


@dataclass(frozen=True)
class Population:
    """What is known of the users before any value.

    Attributes
    ----------
    single : bool
        Whether no user has more than one relevant item, as in leave-one-out.
    graded : bool
        Whether the ground truth has grades.
    """

    single: bool
    graded: bool


def is_proportion(metric: Metric) -> bool:
    """Return whether every user's value is 0 or 1 by definition, so that the mean is a proportion.

    These are metrics that count the first hit as 1 at every rank. Others may be 0 or 1 for every
    user of a population, as recall in leave-one-out; they are no proportions, so that the interval
    of a segment is of the same kind as that of all. A metric with functions of its own is none.

    Examples
    --------
    >>> from toplist.metrics.definitions import METRICS
    >>> [name for name in METRICS if is_proportion(METRICS[name])]
    ['hit', 'complete']
    """
    if metric.earning is not None:
        return metric.earning.most == "0 or 1"
    if metric.counts != "first" or metric.graded:
        return False
    if metric.discounting != DISCOUNTS["1"] or metric.dividing not in DIVISORS.values():
        return False
    return _divides_by_one(metric)


@lru_cache(maxsize=256)
def _divides_by_one(metric: Metric) -> bool:
    return bool(np.all(_divisors(metric, _SIZES) == 1))


def is_within_one(metric: Metric, population: Population) -> bool:
    """Return whether no value passes 1 by definition: even a perfect list does not.

    Examples
    --------
    >>> from toplist.metrics.definitions import METRICS
    >>> [name for name in METRICS if not is_within_one(METRICS[name], Population(False, False))]
    ['dcg', 'cg', 'alpha_ndcg']
    """
    if metric.earning is not None:
        return metric.earning.most != ""
    if metric.graded and population.graded and not metric.dividing.ideal:
        return False
    if isinstance(metric.discount, str) and isinstance(metric.divisor, str):
        return _known_within_one(metric, population.single)
    return _within_one(metric, population.single)  # a user's own function may change


def _within_one(metric: Metric, single: bool) -> bool:
    """Return whether a perfect list does not pass 1, at any size that is looked at."""
    sizes = np.ones(1, np.int64) if single else _SIZES
    try:
        discounts = metric.discounts(DEPTH)
        divisors = _divisors(metric, sizes)
    except ValueError:  # functions that are not meant for all sizes
        return False
    if np.any(np.diff(discounts) < 0):
        return False  # then hits at the first ranks are not the best
    j = np.arange(1, DEPTH + 1)
    counts = {"each": j > 0, "nth": j, "first": j == 1}[metric.counts]  # type: ignore[index]
    perfect = np.concatenate([[0.0], np.cumsum(counts / discounts)])
    R, n = _pairs(sizes)
    n_hits = np.minimum(np.minimum(R, n)[:, np.newaxis], j)
    return bool(np.all(perfect[n_hits] <= divisors * (1 + 1e-12)))


_known_within_one = lru_cache(maxsize=256)(_within_one)


def identity(metric: Metric, population: Population, pooled: bool) -> tuple[Any, ...]:
    """Return a key that is equal for metrics that are equal for every user by definition.

    These have the same three choices; or no user has more than one relevant item, and discount and
    divisor are the same there, as those of hit and recall in leave-one-out. `pooled` is whether
    the metric is a ratio of sums, in which users without relevant items have a part.

    Examples
    --------
    >>> from toplist.metrics.definitions import METRICS
    >>> keys = [identity(METRICS[m], Population(True, False), False) for m in ("map", "mrr", "hit")]
    >>> keys[0] == keys[1], keys[0] == keys[2]
    (True, False)
    """
    graded = metric.graded and population.graded
    dividing = metric.dividing
    if not population.single:
        return metric.counts, metric.discounting, dividing, graded, pooled, *_reading(metric)
    if dividing not in DIVISORS.values():
        return metric.discounting, dividing, graded, pooled, *_reading(metric)
    sizes = np.array([0, 1] if pooled else [1])
    ideal = graded and dividing.ideal  # then the divisor has the user's grade
    by_hits = pooled and dividing.by_hits  # then a user without a hit has no part in the ratio
    of_divisors = _divisors(metric, sizes).tobytes(), ideal, by_hits
    return metric.discounting, of_divisors, graded, pooled, *_reading(metric)


def _reading(metric: Metric) -> tuple[Any, ...]:
    """Return which hits a metric reads, and what they earn where that is no count."""
    return metric.cut, metric.of, metric.relevant_from, metric.earning


def identity_at_one(metric: Metric, population: Population, pooled: bool) -> tuple[Any, ...]:
    """Return a key that is equal for metrics that are equal by definition at k = 1.

    There is one place, so that each, the nth and the first hit count alike.

    Examples
    --------
    >>> from toplist.metrics.definitions import METRICS
    >>> several = Population(False, False)
    >>> names = "hit", "precision", "map", "ndcg", "mrr", "recall"
    >>> keys = [identity_at_one(METRICS[name], several, False) for name in names]
    >>> [key == keys[0] for key in keys]
    [True, True, True, True, True, False]
    """
    dividing = metric.dividing
    if metric.discounting not in DISCOUNTS.values() or dividing not in DIVISORS.values():
        return identity(metric, population, pooled)
    sizes = np.ones(1, np.int64) if population.single else _SIZES
    R, n = _pairs(np.concatenate([[0] * pooled, sizes]).astype(np.int64))
    numbers = metric.discounts(1).tobytes(), metric.divisors(R, n, 1).tobytes()
    graded = metric.graded and population.graded
    of_hits = graded and dividing.ideal, dividing.by_hits
    return *numbers, graded, *of_hits, pooled, *_reading(metric)


def equal_names(
    results: Sequence[Any], names: Sequence[str], intervals: bool = False
) -> list[tuple[str, ...]]:
    """Group the metrics that are equal by definition in all of the results, and asked at equal k.

    In leave-one-out, hit equals recall, and map equals mrr. Values that happen to agree do not
    make metrics equal. With `intervals`, those have to be equal too: a proportion, as hit, has one
    of its own.

    Examples
    --------
    >>> from toplist import top_k_eval
    >>> metrics = ["hit", "map", "recall"]
    >>> equal_names([top_k_eval([[1], [2]], [{1}, {9}], k=1, metrics=metrics)], metrics)
    [('hit', 'recall'), ('map',)]
    """
    groups: list[tuple[Any, list[str]]] = []  # keys hold functions, which need not be hashable
    for name in names:
        key: list[Any] = [result.identity(name) for result in results]
        key += [intervals and result.is_proportion(name) for result in results]
        equal = next((group for other, group in groups if other == key), None)
        if equal is None:
            groups.append((key, [name]))
        else:
            equal.append(name)
    return [tuple(group) for _, group in groups]


def _pairs(sizes: Any) -> tuple[Any, Any]:
    """Return every R of some sizes with every length of a list, flat."""
    return np.repeat(sizes, len(_SIZES)), np.tile(_SIZES, len(sizes))


def _divisors(metric: Metric, sizes: Any) -> Any:
    """Return the divisors of these R with every length of a list, at k = 1 to `DEPTH`."""
    return metric.divisors(*_pairs(sizes), DEPTH)
