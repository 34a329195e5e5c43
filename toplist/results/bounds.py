"""`Bounds`: what a mean can be, whatever the unjudged items of the lists are."""

from dataclasses import replace
from typing import NamedTuple

from toplist.checks import OptionRef, option_error, readable
from toplist.matching.holes import filled
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.results.means import Means, hits_of, in_means
from toplist.results.terms import Entry


@readable
class Bounds(NamedTuple):
    """The mean if all unjudged items of the first k are misses, and if all are relevant.

    Attributes
    ----------
    low : float
        All are misses: the mean as it is.
    high : float
        All are relevant.
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
        raise option_error(
            ValueError,
            "unjudged items have left the lists of this result, so it has no bounds: evaluate ",
            *("with ", OptionRef("unjudged", "miss")),
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
    pooled = tuple(one for one in terms.pooled if one == metric.name)
    asked = replace(terms, entries=(Entry(metric, (k,), scalar=True),), pooled=pooled)
    counted = in_means(result, [metric.name])
    best = type(result).of(asked, filled(hits, k), counted, result.weights)
    at = f"{metric.name}@{k}"
    return Bounds(result[at], best[at])
