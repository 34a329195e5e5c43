"""The seeded workload of the benchmarks: ranked lists and ground truths as integer arrays.

By default 100,000 users with lists of 100 distinct ids each, and truths of 1 + Poisson(19) ids of
which about 30 % are listed. The ids are arbitrary int64 values, so nothing can profit from a small
or dense range. Needs numpy alone: the peers' environments import this file too.

    from workload import generate

    work = generate()                                # work.lists, work.offsets, work.items
    work.head(1_000).to_dicts()                      # the first users, as others take them
    generate(1_000_000, mean_relevant=1)             # leave-one-out: one relevant id per user
    generate(wide=False, n_items=1_000)              # ids 0..999
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

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
