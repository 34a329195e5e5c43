"""Propensities: psp and psndcg of users with ten listed ids, and propensities of counts.

pyxclib, which keeps psndcg in 32 bits, is on no package index. It has no estimates of metrics under
propensities: these are compared with the definitions in `tests/test_propensities.py`.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engine import Peer, Question
from oracle import propensities as oracle

SEED, DEPTH = 20_262, 10
Found = dict[int, dict[str, float]]


@dataclass(eq=False)
class Population:
    """Lists and truths of users, and of every item its propensity, and how many users have it."""

    ks: list[int]
    lists: list[list[int]]
    truths: list[list[int]]
    levels: list[float]
    counts: list[int]

    @property
    def n_users(self) -> int:
        """How many users the counts are of."""
        return max(self.counts) + 3

    def shown(self, user: str, k: int) -> str:
        """Say what a value was computed from."""
        return f"{self.lists}, {self.truths}, {self.levels}"


def drawn(peer: Peer, n_inputs: int) -> list[Population]:
    """Draw inputs of 1 to 12 users, some without a relevant item; in half, levels are equal."""
    source = random.Random(SEED)
    return [population(source) for _ in range(n_inputs)]


def population(source: random.Random) -> Population:
    """Draw lists, truths, and the propensity of every item."""
    n_items = source.randint(DEPTH, 40)
    levels = [source.uniform(0.01, 1) for _ in range(n_items)]
    if source.random() < 0.5:  # ties
        levels = [source.choice(levels[:3]) for _ in levels]
    n_users = source.randint(1, 12)
    most = source.choice([1, 3, n_items])
    truths = [source.sample(range(n_items), source.randint(0, most)) for _ in range(n_users)]
    truths[0] = truths[0] or [0]
    lists = [source.sample(range(n_items), DEPTH) for _ in range(n_users)]
    counts = [source.randint(0, 500) for _ in range(n_items)]
    return Population([1, 3, 5, 10], lists, truths, levels, counts)


def by_toplist(given: Population, question: Question) -> Found:
    """Return toplist's means, or 1 over the propensities of items."""
    import toplist as tl

    if question.ours == "propensities.of_counts":
        found = tl.propensities.of_counts(given.counts, given.n_users)
        return dict.fromkeys(given.ks, inverse(found, given))
    sides = given.lists, [*map(set, given.truths)], given.ks
    levels = dict(enumerate(given.levels))
    means = tl.top_k_eval(*sides, metrics=[question.ours], propensities=levels)
    return {k: {"": means[f"{question.ours}@{k}"]} for k in given.ks}


def by_oracle(given: Population, question: Question) -> Found:
    """Return the same by the definitions."""
    if question.ours == "propensities.of_counts":
        found = oracle.of_counts(dict(enumerate(given.counts)), given.n_users, 0.55, 1.5)
        return dict.fromkeys(given.ks, inverse(found, given))
    sides = given.lists, [*map(set, given.truths)], oracle.weights(dict(enumerate(given.levels)))
    return {k: {"": getattr(oracle, question.ours)(*sides, k)} for k in given.ks}


def inverse(found: Any, given: Population) -> dict[str, float]:
    """Return 1 over the propensity of each item."""
    return {str(item): 1 / found[item] for item in range(len(given.counts))}


def pyxclib(given: Population) -> Callable[[Question, int], dict[str, float] | None]:
    """Return its curves, and its inverse propensities."""
    import numpy as np
    from scipy.sparse import csr_matrix, lil_matrix
    from xclib.evaluation import xc_metrics

    truth: Any = lil_matrix((len(given.lists), len(given.levels)))
    for user, items in enumerate(given.truths):
        truth[user, items] = 1
    sides = np.array(given.lists), csr_matrix(truth), 1 / np.array(given.levels)

    def at(question: Question, k: int) -> dict[str, float] | None:
        if question.theirs != "compute_inv_propesity":
            curve = getattr(xc_metrics, question.theirs)(*sides, k=DEPTH, sorted=True)
            return {"": float(curve[k - 1])}
        if k != 1:
            return None
        # of which as many users have each item
        log = [[user < n for n in given.counts] for user in range(given.n_users)]
        weights = xc_metrics.compute_inv_propesity(csr_matrix(log, dtype=float), 0.55, 1.5)
        return {str(item): float(weight) for item, weight in enumerate(weights)}

    return at


XCLIB = ("numpy", "scipy", "six", "scikit-learn", "numba", "Cython", "setuptools<70", "wheel")
SOURCE = "git+https://github.com/kunaldahiya/pyxclib@5d130862df91a06d03b296ad264c89b037c33db7"
ASKED = {
    "psprecision": "psp",
    "psndcg": "psndcg",
    "compute_inv_propesity": "propensities.of_counts",
}
PEERS = {
    "pyxclib": Peer(
        "xclib",
        (XCLIB, ("--no-deps", "--no-build-isolation", SOURCE)),
        [Question(theirs, ours, tolerance=1e-6) for theirs, ours in ASKED.items()],
        pyxclib,
    ),
}
