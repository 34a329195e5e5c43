"""Propensities: IPS, SNIPS, psp and psndcg of users with ten listed ids, propensities of counts.

pyxclib, which keeps psndcg in 32 bits, is on no package index. It has no estimates of metrics under
propensities: there the definitions answer alone, and toplist must give their values to 1e-12.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from oracle import propensities as oracle
from questions import Peer, Question

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
    def single(self) -> bool:
        """Whether nobody has more than one relevant item."""
        return max(map(len, self.truths)) == 1

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
        found = tl.propensities.of_counts(given.counts, max(given.counts) + 3)
        inverse = {str(item): 1 / found[item] for item in range(len(given.counts))}
        return dict.fromkeys(given.ks, inverse)
    if question.given.get("single") and not given.single:
        return {k: {} for k in given.ks}
    weighting, _, name = question.ours.rpartition(" ")
    p: Any = dict(enumerate(given.levels))
    p = tl.Propensities(p, weighting=weighting) if weighting else p
    sides = given.lists, [*map(set, given.truths)], given.ks
    means = tl.top_k_eval(*sides, metrics=[name], propensities=p)
    return {k: {"": means[f"{name}@{k}"]} for k in given.ks}


def by_oracle(given: Population, question: Question) -> Found:
    """Return the same by the definitions."""
    if question.ours == "propensities.of_counts":
        counts = dict(enumerate(given.counts))
        found = oracle.of_counts(counts, max(given.counts) + 3, 0.55, 1.5)
        inverse = {str(item): 1 / one for item, one in found.items()}
        return dict.fromkeys(given.ks, inverse)
    if question.given.get("single") and not given.single:
        return {k: {} for k in given.ks}
    weighting, _, name = question.ours.rpartition(" ")
    sides = given.lists, [*map(set, given.truths)], oracle.weights(dict(enumerate(given.levels)))
    named = [name] if weighting else []
    value = getattr(oracle, weighting or name)
    return {k: {"": value(*named, *sides, k)} for k in given.ks}


def definitions(given: Population) -> Callable[[Question, int], dict[str, float]]:
    """Return the oracle's values."""
    return lambda question, k: by_oracle(given, question)[k]


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
        users = range(max(given.counts) + 3)  # of whom as many have each item
        log = csr_matrix([[user < n for n in given.counts] for user in users], dtype=float)
        weights = xc_metrics.compute_inv_propesity(log, 0.55, 1.5)
        return {str(item): float(weight) for item, weight in enumerate(weights)}

    return at


def exactly(ours: str, **given: Any) -> Question:
    """Ask for the oracle's own value."""
    return Question(ours, ours, given, group=ours.partition(" ")[0], tolerance=1e-12)


XCLIB = ("numpy", "scipy", "six", "scikit-learn", "numba", "Cython", "setuptools<70", "wheel")
SOURCE = "git+https://github.com/kunaldahiya/pyxclib@5d130862df91a06d03b296ad264c89b037c33db7"
PEERS = {
    "definitions": Peer(
        "definitions",
        (),
        [
            *map(exactly, ("psp", "psndcg")),
            *(exactly(f"snips {name}") for name in oracle.WORTH),
            *(
                exactly(f"snips {name}", single=True)
                for name in oracle.WORTH_ALONE
                if name not in oracle.WORTH
            ),
            *(exactly(f"ips {name}") for name in ("cg", "dcg", "precision", "rbp(p=0.8)")),
        ],
        definitions,
    ),
    "pyxclib": Peer(
        "xclib",
        (XCLIB, ("--no-deps", "--no-build-isolation", SOURCE)),
        [
            Question("psprecision", "psp", tolerance=1e-6),
            Question("psndcg", "psndcg", tolerance=1e-6),
            Question("compute_inv_propesity", "propensities.of_counts", tolerance=1e-6),
        ],
        pyxclib,
    ),
}
