"""Systems that several test files compare."""

from pathlib import Path

import numpy as np
from doors import by_words

import toplist as tl

DATA = Path(__file__).parents[1] / "notebooks" / "data"


RANKS = [[5, 7, 8, 9, 3], [4, 6, 2, 1, 10]]
TRUTHS = [{7, 3, 5}, {4, 2, 8, 7}]


def compared(lists, truths, k=None, baseline=None, **words):
    """Evaluate the lists of several systems by one truth, alike, and put them side by side."""
    found = {name: by_words(some, truths, k, **words) for name, some in lists.items()}
    return tl.compare(found, baseline=baseline)


def results(n=60, seed=0, k=(1, 2, 3), metrics=("mrr", "ndcg"), order=None, **options):
    """Return two results over users with keys, in the order of their numbers or another."""
    rng = np.random.default_rng(seed)
    truths = {f"u{user}": {int(rng.integers(5))} for user in range(n)}
    lists = [{user: rng.permutation(5).tolist() for user in truths} for _ in range(3)]
    users = list(truths) if order is None else [f"u{user}" for user in order]
    given = {user: truths[user] for user in users}
    return {
        name: by_words({user: some[user] for user in users}, given, k=k, metrics=metrics, **options)
        for name, some in zip("abc", lists, strict=True)
    }


N = 120

TRUTH = {f"user {i}": set(np.random.default_rng(i).integers(0, 60, 5).tolist()) for i in range(N)}
SHARES = {"a": (0.2, 1), "b": (0.25, 2), "c": (0.5, 3)}


def system(share, seed, truth=TRUTH, users=None, metrics="ndcg"):
    """Return the result of lists that begin with about a share of the relevant items."""
    draw = np.random.default_rng(seed)
    lists = {}
    for user, relevant in truth.items():
        found = [item for item in sorted(relevant) if draw.random() < share]
        lists[user] = list(dict.fromkeys([*found, *draw.integers(0, 60, 12).tolist()]))[:10]
    if users is not None:
        lists = {user: lists[user] for user in users}
        truth = {user: truth[user] for user in users}
    return tl.top_k_eval(lists, truth, k=[5, 10], metrics=metrics)


def segment(user):
    return "new" if int(user.split()[1]) % 3 == 0 else "old"


def cells(text, system):
    line = next(line for line in text.splitlines() if line.startswith(f"{system} &"))
    return line.removesuffix(r" \\").split(" & ")[1:]
