"""Estimates of the metrics of the whole catalogue from ranks among sampled items.

They start from this: with n items drawn from the N - 1 others, the sampled rank of an item
of rank r in the catalogue is 1 + a hypergeometric number of mean n (r - 1) / (N - 1). The ranks
above the first drawn item cannot be seen, so no estimate is good at k far below N / n.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toplist.averages.moments import Moments
from toplist.checks import Floats, readable
from toplist.evaluation.plan import entries_of
from toplist.loo.sampling import SampledRanks
from toplist.metrics.conventions import CONVENTIONS
from toplist.metrics.definitions import Metric
from toplist.metrics.names import Metrics

# Ranks of the catalogue whose distributions are in memory at a time.
BLOCK = 1 << 12
# Standard errors on each side of the mean in an interval of 95 %.
Z = 1.959963984540054


@readable
class Estimate(NamedTuple):
    """An estimated mean, and its 95 % interval over users, which covers its noise, not its bias.

    Attributes
    ----------
    value, low, high : float
        The mean, and the ends of its interval.

    Examples
    --------
    >>> Estimate(0.5, 0.4, 0.6).value
    0.5
    """

    value: float
    low: float
    high: float


def corrected(
    ranks: SampledRanks,
    k: int | Iterable[int] | None = None,
    *,
    metrics: Metrics = ("hit", "ndcg", "mrr"),
    gamma: float = 0.1,
) -> dict[str, Estimate]:
    """Estimate metrics of the whole catalogue from sampled ranks: Krichene and Rendle 2020.

    Every sampled rank s has the value f(s) instead of metric(s), where f minimises

        Σ_r (E[f(s) | r] - metric(r))² + γ Var[f(s) | r]

    over the ranks r = 1..N of the catalogue, all equally likely: the bias-variance trade-off of
    "On Sampled Metrics for Item Recommendation" (KDD 2020, doi 10.1145/3394486.3403226,
    section 5), in closed form, with the distribution of samples without replacement.

    Parameters
    ----------
    ranks : SampledRanks
        Of `sampled_ranks`, drawn uniformly.
    k : int or several
    metrics : names or Metric objects
        As in `toplist.top_k_eval`, by the standard convention.
    gamma : float
        Above 0, at most 1. Small: less bias, more noise (0.01 and 0.1 in the paper).

    Returns
    -------
    dict name@k -> Estimate

    Raises
    ------
    ValueError
        For candidates drawn by popularity, for which this correction does not hold; for gamma
        out of range.

    Notes
    -----
    Limits. Where few users have their item at the first k ranks, the assumption that all ranks are
    equally likely is far off, and so are the estimates. They are means over users, not values of
    single users. They may lie outside [0, 1]. N is the mean number of candidates; users with long
    histories have fewer. Ranking all items needs none of this.

    Examples
    --------
    >>> from toplist import loo
    >>> scores = -np.tile(np.arange(1000.0), (50, 1))
    >>> sampled = loo.sampled_ranks(scores, np.arange(50), n=100)
    >>> estimate = corrected(sampled, 10, metrics="hit")["hit@10"]
    >>> 0.2 < estimate.value < 0.9    # 10 of 50 have a rank up to 10; among the sampled, all 50
    True
    """
    if not isinstance(ranks, SampledRanks):
        raise TypeError(
            f"ranks is a {type(ranks).__name__}: give the SampledRanks of loo.sampled_ranks"
        )
    if ranks.sampled.sampler != "uniform":
        raise ValueError("corrected: there is none for candidates drawn by popularity")
    if isinstance(gamma, bool) or not isinstance(gamma, (int, float)) or not 0 < gamma <= 1:
        raise ValueError(f"gamma={gamma!r}: above 0 and at most 1")
    entries = entries_of(metrics, k, CONVENTIONS["standard"])
    if not all(entry.ks for entry in entries):
        raise ValueError("k is missing: give k=10, or metrics such as 'ndcg@10'")
    wanted = [(e.metric, k) for e in entries for k in e.ks if isinstance(e.metric, Metric)]
    if not wanted or any(not isinstance(entry.metric, Metric) for entry in entries):
        raise ValueError(f"metrics={metrics!r}: only metrics of hits are estimated from ranks")
    n, n_items = ranks.sampled.n, max(round(ranks.n_candidates), ranks.sampled.n + 1)
    targets = np.column_stack([_curve(metric, k, n_items) for metric, k in wanted])
    values = np.vstack([np.zeros(len(wanted)), _least_squares(targets, n, n_items, gamma)])
    moments = Moments.of(values[ranks.ranks], None)  # rank 0, never listed, has value 0
    half = Z * moments.error
    rows = zip(wanted, moments.mean, half, strict=True)
    return {
        f"{metric.name}@{k}": Estimate(float(mean), float(mean - h), float(mean + h))
        for (metric, k), mean, h in rows
    }


def _curve(metric: Metric, k: int, n_items: int) -> Floats:
    """Return the metric at k of a user whose one relevant item has rank 1, 2, ..., n_items."""
    depth = max(k, n_items)
    divisor = metric.divisors(np.array([1]), np.array([n_items]), k)[0, -1]
    curve: Floats = 1.0 / metric.discounts(depth)[:n_items] / divisor
    curve[k:] = 0.0
    return curve


def _least_squares(targets: Floats, n: int, n_items: int, gamma: float) -> Floats:
    """Return the value f(s) of each sampled rank 1..n + 1, one column per target."""
    squares, mass = np.zeros((n + 1, n + 1)), np.zeros(n + 1)
    product = np.zeros((n + 1, targets.shape[1]))
    for lo, chance in _distributions(n, n_items):
        squares += chance.T @ chance
        mass += chance.sum(axis=0)
        product += chance.T @ targets[lo : lo + len(chance)]
    matrix = (1 - gamma) * squares + gamma * np.diag(mass)
    values: Floats = np.linalg.solve(matrix, product).astype(np.float64)
    return values


def _distributions(n: int, n_items: int) -> Iterator[tuple[int, Floats]]:
    """Yield blocks of ranks: the first, and the probabilities of sampled ranks 1..n + 1.

    The number of drawn items above an item is hypergeometric.
    """
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, n_items + 1)))])  # of factorials

    def choose(a: NDArray[Any], b: NDArray[Any]) -> Floats:
        possible = (b >= 0) & (b <= a)
        b = np.where(possible, b, 0)
        return np.where(possible, logs[a] - logs[b] - logs[a - b], -np.inf)

    drawn = np.arange(n + 1)
    total = choose(np.array(n_items - 1), np.array(n))
    for lo in range(0, n_items, BLOCK):
        above = np.arange(lo, min(lo + BLOCK, n_items))[:, np.newaxis]
        both = choose(above, drawn) + choose(n_items - 1 - above, n - drawn)
        yield lo, np.exp(both - total)
