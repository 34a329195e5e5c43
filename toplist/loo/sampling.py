"""Sampled candidates: the held-out item ranked among a few drawn items, marked as such.

Ranking a sample is cheap, but it is another metric than ranking the catalogue: sampled metrics
may order systems differently (Krichene and Rendle, KDD 2020). A result made here says how its
candidates were drawn wherever it is shown, and merges only with results of the same draw.

`corrected` estimates the metrics of the whole catalogue. It starts from this: with n items drawn
from the N - 1 others, the sampled rank of an item of rank r in the catalogue is 1 + a
hypergeometric number of mean n (r - 1) / (N - 1). The ranks above the first drawn item cannot be
seen, so no estimate is good at k far below N / n.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toplist import kernels, parallel
from toplist.averages.moments import Moments
from toplist.checks import Floats, check_positive_int, choice
from toplist.evaluation.evaluate import evaluate
from toplist.evaluation.plan import entries_of, plan_of
from toplist.inputs import id_hashes
from toplist.inputs.flatten import array
from toplist.inputs.options import DEFAULT_METRICS, MEMORY, Options
from toplist.loo.ranks import columns_of, rank_among
from toplist.matching.hits import Hits
from toplist.metrics.conventions import CONVENTIONS
from toplist.metrics.definitions import Metric
from toplist.metrics.names import Metrics
from toplist.results.result import TopKResult
from toplist.results.terms import SAMPLERS, Sampled, SampledMetricsWarning
from toplist.scores import check_no_nan, columns_to_leave_out

CandidateTies = Literal["order", "best", "worst"]
CANDIDATE_TIES: tuple[CandidateTies, ...] = get_args(CandidateTies)
# Ranks of the catalogue whose distributions are in memory at a time.
RANKS = 1 << 12
# Standard errors on each side of the mean in an interval of 95 %.
Z = 1.959963984540054
# Candidates in a block, and so the most scores that a scoring function returns at once.
BLOCK = 1 << 20


def negatives(
    held_out: ArrayLike,
    n: int,
    *,
    n_items: int,
    exclude: Any = None,
    popularity: ArrayLike | None = None,
    seed: int = 0,
    users: Sequence[Any] | None = None,
    n_threads: int | None = None,
) -> NDArray[np.int64]:
    """Draw n items for every user that the user does not have, each once.

    Parameters
    ----------
    held_out : (n_users,) integers
        The held-out item of every user, 0..n_items - 1.
    n : int
        Items to draw, without replacement.
    n_items : int
        Size of the catalogue.
    exclude : optional
        The items every user has, in train and in every other part, in any form that
        `toplist.scores.top_k` takes. The held-out item is never drawn.
    popularity : (n_items,) numbers, optional
        Weights of the items, 0 or more: items are drawn one by one in proportion to them, among
        those not drawn yet. Default: all equally likely.
    seed : int
    users : sequence, optional
        The users' ids. A user's draw depends only on seed and id, not on the other users, their
        order, or the number of threads. Default: the position is the id.
    n_threads : int, optional

    Returns
    -------
    (n_users, n) int64
        In the order drawn.

    Raises
    ------
    ValueError
        For a user with fewer than n items left, naming the user; weights that are negative, NaN
        or infinite; items that do not exist.

    Examples
    --------
    >>> drawn = negatives([3, 0], 2, n_items=5, exclude=[{0, 1}, {1, 2}])
    >>> sorted(drawn[0].tolist()), sorted(drawn[1].tolist())
    ([2, 4], [3, 4])
    """
    n, n_items = check_positive_int(n, "n"), check_positive_int(n_items, "n_items")
    n_users = len(np.asarray(held_out))
    held = columns_of(held_out, n_users, n_items)
    excluded = columns_to_leave_out(exclude, n_users, n_items)
    weights = np.ones(n_items) if popularity is None else np.asarray(popularity, np.float64)
    if weights.shape != (n_items,) or not np.all((weights >= 0) & (weights < np.inf)):
        raise ValueError(
            f"popularity has shape {weights.shape}: one finite number of 0 or more per item is "
            f"needed, {n_items}"
        )
    with np.errstate(over="ignore"):
        cumulative = np.cumsum(weights)
    if cumulative[-1] == np.inf:  # a power of two changes no share
        cumulative = np.cumsum(np.ldexp(weights, -np.frexp(weights.max())[1]))
    if users is not None and len(users) != n_users:
        raise ValueError(f"{len(users)} users for {n_users} held-out items")
    keys = id_hashes.keys_of(np.arange(n_users) if users is None else users)
    word, out = np.uint64(id_hashes.seed_of(seed)), np.empty((n_users, n), np.int64)

    def block(lo: int, hi: int) -> None:
        items, offsets, _ = excluded.block(lo, hi)
        room = np.zeros(n_items, np.uint8), np.empty(n_items)
        user, lacking = lo, False
        while user < hi and not lacking:
            part, own = slice(user, hi), offsets[user - lo :]
            n_done, lacking = kernels.sampling.draw(
                *(keys[part], word, held[part], items[own[0] - offsets[0] :], own),
                *(weights, cumulative, *room, out[part]),
            )
            user += n_done
        if lacking:
            name = user if users is None else repr(users[user])
            raise ValueError(
                f"user {name} has fewer than n={n} items left to draw of {n_items:,}, without "
                "excluded items, the held-out item and items of weight 0"
            )

    parallel.each(block, parallel.bounds(np.arange(n_users + 1) * n, BLOCK), n_threads)
    return out


@dataclass(frozen=True, eq=False)
class SampledRanks:
    """The rank of every user's held-out item among the sampled ones, 1..n + 1.

    0 where it is never listed, as in `ranks_of`: excluded, or scored -inf.

    Attributes
    ----------
    ranks : (n_users,) int64
    sampled : Sampled
        How they were drawn.
    n_candidates : float
        How many items a user's item competes with in the whole catalogue, itself included, on
        average: `n_items` without the excluded items.
    users : list of keys, or None
        Of the rows, as given to `sampled_ranks`: their results know them.

    Examples
    --------
    >>> sampled = sampled_ranks(np.array([[0.9, 0.1, 0.2, 0.3]]), [0], n=2)
    >>> print(sampled.ranks, sampled.sampled.words)
    [1] SAMPLED: ranked among 2 items of 4 (uniform, seed 0; ties: order), not comparable with
    rankings of all items
    """

    ranks: NDArray[np.int64]
    sampled: Sampled
    n_candidates: float
    users: Sequence[Any] | None = None

    def evaluate(
        self,
        k: int | Iterable[int] | None = None,
        *,
        metrics: Metrics = DEFAULT_METRICS,
        users: Sequence[Any] | None = None,
        **options: Any,
    ) -> TopKResult:
        """Evaluate the ranks: a result that is marked as sampled.

        Parameters
        ----------
        k, metrics, **options
            As in `toplist.top_k_eval`, those of who is averaged and how: convention, weights,
            clusters, n_threads.
        users : sequence, optional
            The users' keys; default: those given to `sampled_ranks`.

        Warns
        -----
        SampledMetricsWarning
            Where the smallest k is at most n / 2, and n at most half of the catalogue.
        """
        hits = Hits.from_ranks(self.ranks, self.sampled.n + 1)
        users = self.users if users is None else users
        if users is not None:
            hits = replace(hits, users=list(users))
        asked = Options(metrics=metrics, **options)
        asked.check(MEMORY)
        result = evaluate(plan_of(asked, k), hits, None)
        text = self.sampled.warning(min(result.ks))
        if text:
            warnings.warn(text, SampledMetricsWarning, stacklevel=2)
        return replace(result, terms=replace(result.terms, sampled=self.sampled))


def sampled_ranks(
    scores: NDArray[Any] | Callable[[NDArray[np.int64], NDArray[np.int64]], Any],
    held_out: ArrayLike,
    n: int,
    *,
    n_items: int | None = None,
    exclude: Any = None,
    popularity: ArrayLike | None = None,
    seed: int = 0,
    users: Sequence[Any] | None = None,
    ties: CandidateTies = "order",
    n_threads: int | None = None,
) -> SampledRanks:
    """Rank every user's held-out item among n drawn items that the user does not have.

    Parameters
    ----------
    scores : (n_users, n_items) array, or function
        The scores; or ``scores(rows, items)``, given the users' positions (b, 1) and their
        candidates (b, n + 1), the held-out item first, returns the scores (b, n + 1).
    held_out, n, exclude, popularity, seed, users, n_threads
        As in `negatives`.
    n_items : int
        Size of the catalogue, where `scores` is a function.
    ties : {"order", "best", "worst"}
        Where the item is ranked among candidates of equal score, as in `ranks_of`.

    Returns
    -------
    SampledRanks
        Its ``evaluate(k)`` returns a result marked as sampled; see also `corrected`.

    Raises
    ------
    ValueError
        As `negatives`; for a NaN score, or scores of another shape.

    Examples
    --------
    >>> scores = np.array([[0.9, 0.1, 0.2, 0.3], [0.1, 0.2, 0.3, 0.4]])
    >>> sampled_ranks(scores, [0, 1], n=2, exclude=[{1}, {0}]).ranks.tolist()
    [1, 3]
    """
    choice("ties", ties, CANDIDATE_TIES)
    score = scores
    if not callable(score):
        table = array(scores)
        if not isinstance(table, np.ndarray) or table.ndim != 2 or table.dtype.kind not in "biuf":
            raise TypeError("scores must be a 2-D array of numbers (users x items), or a function")
        if n_items is not None:
            raise TypeError(f"n_items={n_items!r} goes with a function: an array has its own")
        n_items, score = table.shape[1], lambda rows, items: table[rows, items]
    n_items = check_positive_int(n_items, "n_items")
    held = columns_of(held_out, len(np.asarray(held_out)), n_items)
    excluded = columns_to_leave_out(exclude, len(held), n_items)
    drawn = negatives(
        held,
        n,
        n_items=n_items,
        exclude=excluded,
        popularity=popularity,
        seed=seed,
        users=users,
        n_threads=n_threads,
    )
    ranks = np.empty(len(held), np.int64)
    for lo, hi in parallel.bounds(np.arange(len(held) + 1) * (n + 1), BLOCK):
        items = np.column_stack([held[lo:hi], drawn[lo:hi]])
        found = np.asarray(array(score(np.arange(lo, hi)[:, np.newaxis], items)))
        if found.shape != items.shape:
            raise ValueError(f"scores: {found.shape} scores for {items.shape} candidates")
        ranks[lo:hi] = _ranked(found, items, lo, ties)
    owner = np.repeat(np.arange(len(held)), np.diff(excluded.offsets))
    ranks[owner[excluded.items == held[owner]]] = 0
    sampler = SAMPLERS[popularity is not None]
    seen = np.diff(excluded.offsets).mean() if len(held) else 0.0
    marked = Sampled(int(n), n_items, sampler, id_hashes.seed_of(seed), ties)
    keys = None if users is None else list(users)
    return SampledRanks(ranks, marked, n_items - float(seen), keys)


def _ranked(
    scores: NDArray[Any], items: NDArray[np.int64], lo: int, ties: CandidateTies
) -> NDArray[Any]:
    """Return the rank of the first of each row's candidates."""
    if scores.dtype.kind == "f" and np.isnan(scores).any():
        row, column = np.argwhere(np.isnan(scores))[0]
        check_no_nan((row, items[row, column]), lo)
    own, others = scores[:, :1], scores[:, 1:]
    equal = others == own
    above = np.sum(others > own, axis=1)
    before = np.sum(equal & (items[:, 1:] > items[:, :1]), axis=1)
    counts = np.stack([np.where(own[:, 0] == -np.inf, -1, above), equal.sum(axis=1), before])
    return rank_among(counts, ties)


class Estimate(NamedTuple):
    """An estimated mean, and its 95 % interval over users, which covers its noise, not its bias.

    Attributes
    ----------
    value, low, high : float
        The mean, and the ends of its interval.

    Examples
    --------
    >>> Estimate(0.5, 0.4, 0.6)
    Estimate(0.5, [0.4, 0.6] by noise alone, its bias is not known)
    """

    value: float
    low: float
    high: float

    def __repr__(self) -> str:
        """Return the mean, and that its interval says nothing of its bias."""
        ends = f"[{self.low:.4g}, {self.high:.4g}]"
        return f"Estimate({self.value:.4g}, {ends} by noise alone, its bias is not known)"


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
    for lo in range(0, n_items, RANKS):
        above = np.arange(lo, min(lo + RANKS, n_items))[:, np.newaxis]
        both = choose(above, drawn) + choose(n_items - 1 - above, n - drawn)
        yield lo, np.exp(both - total)
