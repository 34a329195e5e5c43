"""The seeded workload of the benchmarks: ranked lists and ground truths as integer arrays.

By default 100,000 users with lists of 100 distinct ids each, and truths of 1 + Poisson(19) ids of
which about 30 % are listed. The ids are arbitrary int64 values, so nothing can profit from a small
or dense range. Needs numpy alone: the peers' environments import this file too.

    from workload import generate

    work = generate()                                # work.lists, work.offsets, work.items
    work.head(1_000).to_dicts()                      # the first users, as others take them
    generate(1_000_000, mean_relevant=1)             # leave-one-out: one relevant id per user
    generate(wide=False, n_items=1_000)              # ids 0..999

Timing is by the best of several rounds, subject and yardstick in turn. The yardstick is
``ids.sum()``: reading every ranked id once. A machine that is busy or throttled slows both, so
their ratio holds where seconds do not.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

BLOCK = 100_000


@dataclass(frozen=True)
class Workload:
    """Lists and truths of ``n_users`` users.

    Attributes
    ----------
    lists : ndarray of int64, (n_users, length)
        Ranked ids, distinct within a row.
    offsets : ndarray of int64, (n_users + 1,)
        The truth of user ``u`` is ``items[offsets[u]:offsets[u + 1]]``.
    items : ndarray of int64
        Relevant ids, distinct within a user.
    """

    lists: np.ndarray
    offsets: np.ndarray
    items: np.ndarray

    def head(self, n_users: int) -> "Workload":
        """Return the first users alone, without a copy."""
        offsets = self.offsets[: n_users + 1]
        return Workload(self.lists[:n_users], offsets, self.items[: offsets[-1]])

    def to_python(self) -> tuple[list[list[int]], list[set[int]]]:
        """Return the lists as lists of ints and the truths as sets of ints."""
        flat = self.items.tolist()
        truths = [set(flat[start:stop]) for start, stop in pairwise(self.offsets.tolist())]
        return self.lists.tolist(), truths

    def to_strings(self) -> tuple[list[list[str]], list[set[str]]]:
        """Return the same with the ids as decimal text: new strings, as a file would yield them."""
        lists, truths = self.to_python()
        return [list(map(str, ids)) for ids in lists], [set(map(str, ids)) for ids in truths]

    def to_columns(self) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Return the columns of two long tables, users 0..n-1: lists by rank, relevant items."""
        n_users, length = self.lists.shape
        ranks = {
            "user_id": np.repeat(np.arange(n_users), length),
            "item_id": self.lists.reshape(-1),
            "rank": np.tile(np.arange(1, length + 1), n_users),
        }
        users = np.repeat(np.arange(n_users), np.diff(self.offsets))
        return ranks, {"user_id": users, "item_id": self.items}

    def to_dicts(self) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]]:
        """Return run, user -> {item: score} falling with the rank, and qrels, user -> {item: 1}."""
        lists, truths = self.to_strings()
        scores = np.arange(self.lists.shape[1], 0.0, -1.0).tolist()
        run = {f"u{user}": dict(zip(ids, scores, strict=True)) for user, ids in enumerate(lists)}
        qrels = {f"u{user}": dict.fromkeys(ids, 1) for user, ids in enumerate(truths)}
        return run, qrels


def generate(
    n_users: int = 100_000,
    *,
    length: int = 100,
    mean_relevant: float = 20,
    listed: float = 0.3,
    n_items: int = 50_000,
    wide: bool = True,
    seed: int = 0,
) -> Workload:
    """Draw a workload; the same arguments give the same arrays.

    Parameters
    ----------
    n_users, length : int
        Shape of the lists.
    mean_relevant : float
        A truth has 1 + Poisson(mean_relevant - 1) ids, ``length`` at most.
    listed : float
        Probability that a relevant id is in its user's list, where every rank is as likely.
    n_items : int
        Size of the catalogue, at least ``2 * length``.
    wide : bool
        Ids from the whole range of int64, or else 0..n_items-1.
    seed : int
        Seed of the generator.

    Returns
    -------
    Workload
    """
    if n_items < 2 * length:
        raise ValueError(f"n_items must be at least {2 * length}, got {n_items}")
    rng = np.random.default_rng(seed)
    catalogue = _wide_ids(rng, n_items) if wide else np.arange(n_items)

    # A user walks through the catalogue: the first `length` steps are the list, the rest is not.
    item_at = _walks(rng, n_users, n_items)
    lists = np.empty((n_users, length), dtype=np.int64)
    for start in range(0, n_users, BLOCK):
        users = np.arange(start, min(start + BLOCK, n_users))[:, None]
        lists[start : start + BLOCK] = catalogue[item_at(users, np.arange(length))]

    n_relevant = np.minimum(1 + rng.poisson(mean_relevant - 1, n_users), length)
    offsets = np.concatenate([[0], np.cumsum(n_relevant)])
    user = np.repeat(np.arange(n_users), n_relevant)
    nth = np.arange(offsets[-1]) - offsets[user]
    rank_at = _walks(rng, n_users, length)
    step = np.where(rng.random(len(user)) < listed, rank_at(user, nth), length + nth)
    return Workload(lists, offsets, catalogue[item_at(user, step)])


def _wide_ids(rng: np.random.Generator, n: int) -> np.ndarray:
    bounds = np.iinfo(np.int64)
    # Twice as many as needed: a repeat among 64-bit draws is rare, a shortage never happens.
    ids = np.unique(rng.integers(bounds.min, bounds.max, 2 * n, endpoint=True))
    return rng.permutation(ids)[:n]


def _walks(rng: np.random.Generator, n_users: int, size: int) -> Callable:
    """Return ``at(user, step)``: a user's steps 0..size-1 visit every number below size once.

    A stride coprime to ``size`` returns to its start only after ``size`` steps, so ids are distinct
    without a look at the ones drawn before.
    """
    coprime = np.flatnonzero(np.gcd(np.arange(size), size) == 1)
    start, stride = rng.integers(size, size=n_users), rng.choice(coprime, n_users)
    return lambda user, step: (start[user] + stride[user] * step) % size


def ideal(most: int) -> np.ndarray:
    """Return the DCG of a list of n relevant items, for n from 0 on."""
    return np.concatenate([[0], np.cumsum(1 / np.log2(np.arange(2, most + 2)))])


def by_polars(ranks: Any, truths: Any, k: int = 100) -> float:
    """Return the mean nDCG as a user of polars computes it, of frames or of files to scan."""
    import polars

    hits = ranks.join(truths, on=["user_id", "item_id"]).filter(polars.col("rank") <= k)
    gain = 1 / (polars.col("rank") + 1).log(2)
    dcg = hits.group_by("user_id").agg(gain.sum().alias("dcg"))
    relevant = truths.group_by("user_id").agg(polars.len().alias("n"))
    users = relevant.join(dcg, on="user_id", how="left").fill_null(0).lazy().collect()
    best = ideal(k)[np.minimum(users["n"].to_numpy(), k)]
    return float((users["dcg"].to_numpy() / best).mean())


# Timing


class Took(NamedTuple):
    """What a call takes: seconds, and the peak memory in MB of a process that says so."""

    seconds: float
    megabytes: float = math.nan


def timed(call: Callable[[], Any]) -> tuple[Took, Any]:
    """Return what one call takes, or what its process says, and what it returned."""
    start = perf_counter()
    result = call()
    seconds = perf_counter() - start
    return result if isinstance(result, Took) else Took(seconds), result


def best_of(repeats: int, *calls: Callable[[], Any], patience: float = 20.0) -> list[Took]:
    """Return what each call takes in its fastest round, the calls taking turns.

    Parameters
    ----------
    repeats : int
        Rounds, each of which makes every call once.
    *calls : callable
        What to time. A call that only prepares the next one may stand among them.
    patience : float
        Seconds after which no further round begins.

    Returns
    -------
    list of Took
    """
    least = [Took(math.inf)] * len(calls)
    start = perf_counter()
    for _ in range(repeats):
        least = [min(t, timed(call)[0]) for t, call in zip(least, calls, strict=True)]
        if perf_counter() - start > patience:
            break
    return least


def figure(value: float) -> str:
    """Return a number with three digits that count, and a dash for none."""
    if math.isnan(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
