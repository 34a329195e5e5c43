"""Metrics of relevant items that count 1 / p, where p is how likely they were to be observed.

What becomes of an ordinary metric under ``propensities=``, and the two that need them by name. The
chapter is `toplist.propensities`.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from toplist.metrics.definitions import DIVISORS, Metric, table_of


def places(k: Any, R: Any, n: Any) -> Any:
    """Return how many places relevant items can take; by its name, results are stored."""
    return np.minimum(k, R)


_IDEAL = replace(DIVISORS["ideal(min(k,R))"], function=places, balanced=True)

#: Propensity-scored metrics by name: ratios of sums over users. Read-only.
SCORED = table_of(
    Metric(
        *("psp", "each", "1", "ideal(min(k,R))"),
        graded=True,
        text="propensity-scored precision: hits count 1 / p, over the best k relevant items by 1 / "
        "p (Jain, Prabhu, Varma 2016)",
    ),
    Metric(
        *("psndcg", "each", "log2(r+1)", _IDEAL),
        graded=True,
        text="propensity-scored nDCG: hits count 1 / p, over the best order by 1 / p; both are "
        "sums of users' DCG over the ideal one without weights (Jain, Prabhu, Varma 2016)",
    ),
)


class Exposed(NamedTuple):
    """How many relevant items count 1 / p, of how many p was clipped; Σ 1 / p, Σ 1 / p²."""

    n: int
    clipped: int
    weight: float
    weight2: float

    def __add__(self, other: Any) -> Any:
        """Return the numbers of the relevant items of both."""
        return Exposed(*(one + more for one, more in zip(self, other, strict=True)))

    def words(self, clip: float | None) -> str:
        """Return the numbers in a line, with Kish's effective number."""
        effective = self.weight**2 / self.weight2 if self.n else 0.0
        more = "" if clip is None else f"; {self.clipped:,} of them clipped at {clip:g}"
        of = f"{self.n:,} relevant item{'s' * (self.n != 1)} count{'s' * (self.n == 1)}"
        return f"{of} as much as {effective:,.1f} of equal propensity{more}"


# Divisors that do not hang on which relevant items were observed.
_FIXED = "1", "k", "min(k,n)"


def is_scored(metric: Any) -> bool:
    """Return whether a metric is one of `SCORED`, whatever is done with empty ground truths."""
    known = isinstance(metric, Metric) and metric.name in SCORED
    return known and metric.formula == SCORED[metric.name]


def weighed(metric: Any, weighting: str) -> Any:
    """Return what a metric is where relevant items count 1 / p; one of lists as it is.

    ValueError for a metric that has no such estimate.

    Examples
    --------
    >>> from toplist.metrics.definitions import METRICS
    >>> weighed(METRICS["recall"], "snips").divisor, weighed(METRICS["precision"], "ips").graded
    ('ideal(R)', True)
    """
    if is_scored(metric) or not isinstance(metric, Metric):
        return metric
    divisor = metric.dividing.name
    known = metric.of == "relevant" and metric.cut == "k" and metric.relevant_from is None
    if metric.earning is not None or not known:
        raise ValueError(
            f"{metric.name} takes no propensities, as a hit earns what other items leave it: "
            "give recall, dcg, psp or psndcg"
        )
    if weighting == "ips":
        if metric.counts == "each" and divisor in _FIXED:
            return replace(metric, graded=True)
        raise ValueError(
            f"{metric.name} has no IPS estimate: it hangs on how many relevant items there are, "
            "and only some were observed; give cg, dcg or precision, or weighting='snips'"
        )
    if metric.counts == "each" and divisor == "R" and metric.discounting.name == "1":
        return replace(metric, graded=True, divisor="ideal(R)")
    return replace(metric, graded=True) if metric.counts == "each" and divisor == "1" else metric


def needs_one_item(metric: Metric) -> bool:
    """Return whether the SNIPS estimate of a weighed metric is of users with one relevant item.

    Others are sums over hits, or ratios of such sums.
    """
    ways = ("1", metric.discounting.name), ("ideal(R)", "1")
    plain = (metric.dividing.name, metric.discounting.name) in ways
    return not is_scored(metric) and not (metric.graded and metric.counts == "each" and plain)
