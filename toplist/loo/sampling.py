"""Sampled candidates: the held-out item ranked among a few drawn items, marked as such.

Ranking a sample is cheap, but it is another metric than ranking the catalogue: sampled metrics
may order systems differently (Krichene and Rendle, KDD 2020). A result made here says how its
candidates were drawn wherever it is shown, and merges only with results of the same draw.

`corrected` estimates the metrics of the whole catalogue. It starts from this: with n items drawn
from the N - 1 others, the sampled rank of an item of rank r in the catalogue is 1 + a
hypergeometric number of mean n (r - 1) / (N - 1). The ranks above the first drawn item cannot be
seen, so no estimate is good at k far below N / n.

Lists of the items that are chosen most, and of items drawn at random, are for a first comparison.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, compress
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toplist import kernels, parallel
from toplist.averages.moments import Moments
from toplist.checks import Floats, Ints, check_positive_int, choice, distinct, no_mask
from toplist.evaluation import evaluate, in_memory
from toplist.evaluation.plan import plan_of
from toplist.inputs.ids import kinds_of, kinds_seen
from toplist.inputs.keyed import is_series, keyed_rows
from toplist.inputs.lists import Lists, offsets_of
from toplist.inputs.objects import array
from toplist.inputs.options import DEFAULT_METRICS, MEMORY, Options
from toplist.inputs.texts import keys_of, seed_of
from toplist.loo.logs import read_log
from toplist.loo.ranks import columns_of, rank_among
from toplist.matching.hits import Hits
from toplist.metrics.names import Metrics
from toplist.results.result import TopKResult
from toplist.results.terms import SAMPLERS, Sampled, SampledMetricsWarning
from toplist.scores import check_no_nan, columns_to_leave_out

CandidateTies = Literal["order", "best", "worst"]
# Ranks of the catalogue whose distributions are in memory at a time.
RANKS = 1 << 12
# Standard errors on each side of the mean in an interval of 95 %.
Z = 1.959963984540054
# Candidates in a block, and so the most scores that a scoring function returns at once.
BLOCK = 1 << 20
# How integers are written.
_INTEGER = re.compile("-?(0|[1-9][0-9]{0,18})")


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
        The items every user has beside the held-out one, in train and in the other parts, in any
        form that `toplist.scores.top_k` takes. The held-out item is never drawn.
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
    no_mask(popularity, "popularity")
    weights = np.ones(n_items) if popularity is None else np.asarray(popularity, np.float64)
    if weights.shape != (n_items,) or not np.all((weights >= 0) & (weights < np.inf)):
        needed = f"one finite number of 0 or more per item is needed, {n_items}"
        raise ValueError(f"popularity has shape {weights.shape}: {needed}")
    with np.errstate(over="ignore"):
        cumulative = np.cumsum(weights)
    if cumulative[-1] == np.inf:  # a power of two changes no share
        cumulative = np.cumsum(np.ldexp(weights, -np.frexp(weights.max())[1]))
    if users is not None and len(users) != n_users:
        raise ValueError(f"{len(users)} users for {n_users} held-out items")
    keys = keys_of(np.arange(n_users) if users is None else users)
    word, out = np.uint64(seed_of(seed)), np.empty((n_users, n), np.int64)

    def block(lo: int, hi: int) -> None:
        items, offsets, _ = excluded.block(lo, hi)
        room = np.zeros(n_items, np.uint8), np.empty(n_items)
        user, lacking = lo, False
        while user < hi and not lacking:
            part, own = slice(user, hi), offsets[user - lo :]
            n_done, lacking = kernels.chance.draw(
                *(keys[part], word, held[part], items[own[0] - offsets[0] :], own),
                *(weights, cumulative, *room, out[part]),
            )
            user += n_done
        if lacking:
            name = user if users is None else repr(users[user])
            less = "without excluded items, the held-out item and items of weight 0"
            few = f"user {name} has fewer than n={n} items left to draw of {n_items:,}"
            raise ValueError(f"{few}, {less}")

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

        Raises
        ------
        TypeError, ValueError
            As `toplist.top_k_eval` of a `Hits`; for a k deeper than the n + 1 candidates.

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
        plan, n_ranked = plan_of(asked, k), self.sampled.n + 1
        if (plan.depth or 0) > n_ranked:
            raise ValueError(
                f"k={plan.depth} is deeper than the {n_ranked} candidates of every user: "
                f"sampled_ranks(..., n={plan.depth}) ranks more"
            )
        result = in_memory(hits, None, plan)
        assert isinstance(result, TopKResult)  # systems are of tables, and refused
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
        As in `negatives`. A held-out item that is in `exclude` is never listed: its rank is 0.
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
    choice("ties", ties, get_args(CandidateTies))
    score = scores
    if not callable(score):
        no_mask(scores, "scores")
        table = array(scores)
        if not isinstance(table, np.ndarray) or table.ndim != 2 or table.dtype.kind not in "biuf":
            raise TypeError("scores must be a 2-D array of numbers (users x items), or a function")
        if n_items is not None:
            raise TypeError(f"n_items={n_items!r} goes with a function: an array has its own")
        n_items, score = table.shape[1], lambda rows, items: table[rows, items]
    n_items = check_positive_int(n_items, "n_items")
    held = columns_of(held_out, len(np.asarray(held_out)), n_items)
    excluded = columns_to_leave_out(exclude, len(held), n_items)
    how: dict[str, Any] = {"popularity": popularity, "seed": seed, "users": users}
    drawn = negatives(held, n, n_items=n_items, exclude=excluded, n_threads=n_threads, **how)
    ranks = np.empty(len(held), np.int64)
    for lo, hi in parallel.bounds(np.arange(len(held) + 1) * (n + 1), BLOCK):
        items = np.column_stack([held[lo:hi], drawn[lo:hi]])
        found = score(np.arange(lo, hi)[:, np.newaxis], items)
        no_mask(found, "scores")
        found = np.asarray(array(found))
        if found.shape != items.shape:
            raise ValueError(f"scores: {found.shape} scores for {items.shape} candidates")
        if found.dtype.kind == "f" and np.isnan(found).any():
            row, column = np.argwhere(np.isnan(found))[0]
            check_no_nan((row, items[row, column]), lo)
        own, others = found[:, :1], found[:, 1:]
        equal, listed = others == own, own[:, 0] > -np.inf
        before = equal & (items[:, 1:] > items[:, :1])
        above = np.where(listed, np.sum(others > own, axis=1), -1)
        ranks[lo:hi] = rank_among([above, equal.sum(axis=1), before.sum(axis=1)], ties)
    owner = np.repeat(np.arange(len(held)), np.diff(excluded.offsets))
    ranks[owner[excluded.items == held[owner]]] = 0
    sampler = SAMPLERS[popularity is not None]
    n_seen = len(distinct(owner * n_items + excluded.items))  # a log may have an item twice
    marked = Sampled(int(n), n_items, sampler, seed_of(seed), ties)
    keys = None if users is None else list(users)
    return SampledRanks(ranks, marked, n_items - n_seen / max(len(held), 1), keys)


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
        kind = type(ranks).__name__
        raise TypeError(f"ranks is a {kind}: give the SampledRanks of loo.sampled_ranks")
    if ranks.sampled.sampler != "uniform":
        raise ValueError("corrected: there is none for candidates drawn by popularity")
    if isinstance(gamma, bool) or not isinstance(gamma, (int, float)) or not 0 < gamma <= 1:
        raise ValueError(f"gamma={gamma!r}: above 0 and at most 1")
    plan = plan_of(Options(metrics=metrics), k)
    if plan.depth is None:
        raise ValueError("k is missing: give k=10, or metrics such as 'ndcg@10'")
    if plan.list_metrics:
        raise ValueError(f"metrics={metrics!r}: only metrics of hits are estimated from ranks")
    n, n_items = ranks.sampled.n, max(round(ranks.n_candidates), ranks.sampled.n + 1)
    # users whose one relevant item has rank 1, 2, ..., N
    at_each = Hits.from_ranks(np.arange(n_items) + 1, n_items)
    known = evaluate(plan, at_each.of_part(k=max(n_items, plan.depth or 0)), None)
    targets = np.column_stack([known.per_user(name) for name in known.names()])
    squares, mass = np.zeros((n + 1, n + 1)), np.zeros(n + 1)
    product = np.zeros((n + 1, targets.shape[1]))
    for lo, chance in _distributions(n, n_items):
        squares += chance.T @ chance
        mass += chance.sum(axis=0)
        product += chance.T @ targets[lo : lo + len(chance)]
    best = np.linalg.solve((1 - gamma) * squares + gamma * np.diag(mass), product)
    values = np.vstack([np.zeros_like(best[:1]), best])
    moments = Moments.of(values[ranks.ranks], None)  # rank 0, never listed, has value 0
    half = Z * moments.error
    rows = zip(known.names(), moments.mean, half, strict=True)
    return {name: Estimate(float(mean), float(mean - h), float(mean + h)) for name, mean, h in rows}


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


# Baselines


def popular(
    train: Any,
    k: int,
    *,
    users: Iterable[Any] | None = None,
    exclude: Any = "train",
    columns: Mapping[str, str] | None = None,
) -> dict[Any, list[Any]]:
    """List the k items with the most rows, of each user those not seen yet.

    Parameters
    ----------
    train : table, dict of columns, tuple (users, items), or path
        The training part, in any form of a log; times are not needed.
    k : int
        Length of the lists; where fewer items are left, they are shorter.
    users : iterable of ids, optional
        Whose lists, such as ``split.truths()``; users who are new have seen nothing. Default: those
        of `train`.
    exclude : "train", mapping user -> items, pandas Series by user, or None
        What a user is not given: the user's items in `train`, other ones (or one), or nothing.
    columns : mapping, optional
        The log's own names of user_id and item_id.

    Returns
    -------
    dict user -> list of items
        Of items chosen as often, integers (text of them, too) come first by number, then text by
        code point: neither the order of rows nor the kind of the log matters.

    Raises
    ------
    TypeError, ValueError
        For other forms, and users of another kind than those of the log.

    Examples
    --------
    >>> from toplist import loo
    >>> loo.popular(([1, 1, 2, 3], ["tea", "jam", "jam", "fig"]), 2)
    {1: ['fig'], 2: ['fig', 'tea'], 3: ['jam', 'tea']}
    >>> loo.popular(([1, 1, 2], [5, 6, 6]), 1, users=[1, 9], exclude={1: [6]})
    {1: [5], 9: [6]}
    """
    k = check_positive_int(k, "k")
    given, items, offsets, owner, seen = _read(train, users, exclude, columns, by_popularity=True)
    k = min(k, len(items))
    # Seen place s of a user, the i-th, stands before the unseen ones from number s - i on.
    number = seen - np.arange(len(seen)) + offsets[owner]
    cells = (owner * k + number)[number < k]
    before = np.bincount(cells, minlength=len(given) * k).reshape(len(given), k)
    places = np.arange(k) + np.cumsum(before, axis=1)
    return {
        user: [items[place] for place in row if place < len(items)]
        for user, row in zip(given, places.tolist(), strict=True)
    }


def random(
    train: Any,
    k: int,
    *,
    seed: int = 0,
    users: Iterable[Any] | None = None,
    exclude: Any = "train",
    columns: Mapping[str, str] | None = None,
) -> dict[Any, list[Any]]:
    """List k items at random, all of the training part as likely, of each user those not seen yet.

    Parameters
    ----------
    train, k, users, exclude, columns
        As in `popular`.
    seed : int
        A user's list follows from seed, user and the items, whatever the other users are.

    Returns
    -------
    dict user -> list of items
        Shorter where fewer than k items are left.

    Raises
    ------
    TypeError, ValueError
        As `popular`.

    Examples
    --------
    >>> from toplist import loo
    >>> loo.random(([1, 1, 2, 3], ["tea", "jam", "jam", "fig"]), 1)
    {1: ['fig'], 2: ['fig'], 3: ['tea']}
    """
    k = check_positive_int(k, "k")
    given, items, offsets, owner, seen = _read(train, users, exclude, columns, by_popularity=False)
    n, found = len(items), {user: list[Any]() for user in given}
    # There is no held-out item: one more, of weight 0, stands for it.
    draw = partial(negatives, n_items=n + 1, popularity=np.arange(n + 1) < n, seed=seed)
    n_seen = np.diff(offsets)
    left = np.minimum(k, n - n_seen)
    for size in distinct(left[left > 0]).tolist():
        rows = left == size
        own = Lists(offsets_of(n_seen[rows]), seen[rows[owner]])
        some = list(compress(given, rows.tolist()))
        drawn = draw(np.full(len(some), n), size, exclude=own, users=some)
        for user, row in zip(some, drawn.tolist(), strict=True):
            found[user] = [items[place] for place in row]
    return found


def _read(
    train: Any,
    users: Iterable[Any] | None,
    exclude: Any,
    columns: Mapping[str, str] | None,
    by_popularity: bool,
) -> tuple[list[Any], list[Any], Ints, Ints, Ints]:
    """Return the users; the items by popularity or id; and where their seen items are.

    These are offsets, the row of the user and the place of the item, by user and place.
    """
    log = read_log(train, columns, where="train")
    names, n = log.items.names, max(1, len(log.items.names))
    counts = np.bincount(log.items.codes, minlength=n) * by_popularity
    order = sorted(range(len(names)), key=lambda code: (-counts[code], *_by_id(names[code])))
    place = np.argsort(order)
    if users is not None and _is_one(users):
        raise TypeError(f"users={users!r:.60}: give ids, of one user [{users!r:.60}]")
    given = log.users.names if users is None else list(dict.fromkeys(users))
    kinds_of([*log.users.names[:1], *given], "users")
    row_of = {user: row for row, user in enumerate(given)}
    pairs = np.empty(0, np.int64)
    exclude = keyed_rows(exclude, "exclude") if is_series(exclude) else exclude
    if isinstance(exclude, Mapping):
        kinds_seen(exclude, "exclude", kinds_seen(given[:1], "users"))
        some = {
            row_of[user]: [seen] if _is_one(seen) else list(seen)
            for user, seen in exclude.items()
            if user in row_of
        }
        kinds_of([*names[:1], *chain(*some.values())], "exclude")
        places = {names[code]: at for at, code in enumerate(order)}
        found = (
            row * n + places[item] for row, seen in some.items() for item in seen if item in places
        )
        pairs = np.fromiter(found, np.int64)
    elif exclude is not None:
        choice("exclude", exclude, ("train",))
        rows = np.array([row_of.get(user, -1) for user in log.users.names], np.int64)
        pairs = (rows[log.users.codes] * n + place[log.items.codes])[rows[log.users.codes] >= 0]
    pairs = distinct(pairs)
    offsets = offsets_of(np.bincount(pairs // n, minlength=len(given)))
    return given, [names[code] for code in order], offsets, pairs // n, pairs % n


def _is_one(ids: Any) -> bool:
    """Whether this is one id, and not several."""
    return isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable)


def _by_id(item: Any) -> tuple[bool, int, str]:
    """Return the key by which items are sorted: integers, also as text, then other text."""
    text = str(item)
    return (False, int(text), "") if _INTEGER.fullmatch(text) else (True, 0, text)
