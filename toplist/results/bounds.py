"""`Bounds`: what a mean can be, whatever the unjudged items of the lists are."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from toplist.averages import per_user
from toplist.averages.per_user import read_by
from toplist.checks import Bools, Floats, readable
from toplist.inputs.lists import offsets_of
from toplist.matching.slices import filled, holes
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.definitions import DISCOUNTS, DIVISORS, Geometric, Metric
from toplist.metrics.earned import Cascade, Interpolated, Novelty, complete
from toplist.results.means import Means, hits_of, in_means
from toplist.results.terms import Entry

# Divisors that no judgement changes; and those that grow by at most 1 with each relevant item.
FIXED = "1", "k", "min(k,n)"
OF_R = "R", "min(k,R)", "min(k,n,R)", "(k+R)/2"


@readable
class Bounds(NamedTuple):
    """The least and the largest mean, whatever the judgements of the unjudged items would be.

    Attributes
    ----------
    low : float
        Often the mean as it is, where all are misses; below it where a relevant item that nobody
        judged makes R grow.
    high : float
        Often that if all are relevant.
    """

    low: float
    high: float


def bounds(result: Means, name: str) -> Bounds:
    """Return both ends of a mean; see `TopKResult.bounds`."""
    terms = result.terms
    metric, k = terms.find(name)
    if isinstance(metric, ListMetric) or metric.of == "judged":
        raise ValueError(
            f"{metric.name} has no bounds: it does not read which items are relevant; bounds are "
            "of precision, recall, ndcg and the like"
        )
    if terms.unjudged == "drop":
        raise ValueError(
            "unjudged items have left the lists of this result, so it has no bounds: evaluate "
            "with unjudged='miss'"
        )
    if terms.weighting is not None:
        raise ValueError("bounds need the propensities of unjudged items: evaluate without any")
    ks = terms.ks_of[metric.name]
    if k is None and len(ks) > 1:
        names = ", ".join(f"{metric.name}@{one}" for one in ks)
        raise ValueError(f"bounds are of a mean at one k: give one of {names}")
    k = ks[0] if k is None else k
    hits, _ = hits_of(result, "it has no bounds")
    if hits.coverage is not None:
        raise ValueError(
            "ground truths of groups have no bounds: no item is judged not relevant, and an "
            "unjudged one may be of any group"
        )
    at, counted = f"{metric.name}@{k}", in_means(result, [metric.name])
    mean = result[at]
    users, ranks = holes(hits, k)
    pooled = tuple(one for one in terms.pooled if one == metric.name)
    # the grades are read, whatever a hit earns
    plain = metric if metric.earning is None else replace(metric, counts="each")
    graded = metric.graded and per_user.gains_of(hits, plain, terms.threshold_in_gains).graded
    if metric.empty != "one" and _rises(metric, bool(pooled)):
        asked = replace(terms, entries=(Entry(metric, (k,), scalar=True),), pooled=pooled)
        best = type(result).of(asked, filled(hits, users, ranks), counted, result.weights)
        return Bounds(mean, best[at])
    if pooled or graded or not _gains_by_rank(metric, k):
        what = "ratios of sums over users" if pooled else "ground truths with grades" * graded
        what += " where users without relevant items score 1" * (metric.empty == "one")
        raise ValueError(
            f"{metric.name} has no bounds{' of ' * bool(what)}{what}: an unjudged item that is "
            "relevant may lower it; bounds of any ground truths have hit, precision, recall, mrr, "
            "f1, rbp, cg, dcg and err, without grades also map, ndcg, r_precision and the like"
        )
    n_of = np.bincount(users, minlength=len(hits))
    first = np.arange(len(users)) - offsets_of(n_of)[users]  # its place, from above
    last = n_of[users] - 1 - first

    def values(chosen: Bools) -> Floats:
        read = filled(hits, users[chosen], ranks[chosen])
        mine = read_by(metric, read, counted, terms.threshold_in_gains)
        return per_user.values(*mine, metric, k)

    # of each user, for every number of items that are relevant: if they are the first, and the last
    given = low = high = values(np.zeros(len(users), bool))
    for n in range(1, int(n_of.max(initial=0)) + 1):
        some = n_of[users] >= n
        for place in (first, last):
            found = np.where(n_of >= n, values(some & (place < n)), given)
            low, high = np.fmin(low, found), np.fmax(high, found)
    weights = None if result.weights is None else result.weights[counted]
    ends = []
    for end in (low, high):
        same = np.array_equal(end[counted], given[counted]) or not counted.any()
        ends.append(mean if same else float(np.average(end[counted], weights=weights)))
    return Bounds(*ends)


def _rises(metric: Metric, pooled: bool) -> bool:
    """Return whether every item that becomes relevant raises a metric, or leaves it as it is."""
    divisor, earning = metric.dividing.name, metric.earning
    known = isinstance(metric.discounting.function, Geometric)
    named = divisor in DIVISORS and (known or metric.discounting in DISCOUNTS.values())
    if earning is not None:
        return isinstance(earning.function, Cascade) and (divisor, metric.cut) == ("1", "k")
    if not named or metric.cut != "k" or metric.counts == "nth":
        return False
    if divisor in FIXED:
        return metric.counts == "each" or not metric.graded
    # h + 1 of R + 1 is not less than h of R, as h <= R
    plain = metric.discounting == DISCOUNTS["1"] and not metric.graded
    return plain and metric.counts == "each" and divisor in OF_R


def _gains_by_rank(metric: Metric, k: int) -> bool:
    """Return whether, of so many relevant items, a metric is best if they stand at the first ranks.

    Then only the number of unjudged items that are relevant is tried, not each of them.
    """
    if metric.earning is not None:
        known = metric.earning.function
        rising = known is complete or isinstance(known, (Cascade, Interpolated, Novelty))
        return rising and metric.cut != "n"
    return bool(np.all(np.diff(metric.discounts(k)) >= 0)) and metric.of != "judged"
