"""Measure the metrics beyond accuracy and those of predicted values, one line for each.

    python benchmarks/beyond.py            # about two minutes
    python benchmarks/beyond.py --smoke    # tiny sizes: does everything still run?

Lists are the workload of `run.py` with 50,000 items as indices of the catalogue; "x sum" is a
multiple of ``ids.sum()`` in the same process. Predictions are ten million rows of 100,000 users in
any order; scikit-learn, where it is installed, computes the AUC of a sample of the users, one after
another, and its time is scaled up by rows.
"""

import argparse
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from timing import best_of, figure, timed
from workload import generate

N_ITEMS = 50_000
SAMPLE = 2_000


def lists(n_users: int, repeats: int) -> None:
    """Measure the metrics of the lists themselves."""
    import toplist as tl
    from toplist import beyond
    from toplist.beyond.results import evaluate_lists
    from toplist.inputs.options import ItemData
    from toplist.metrics.beyond_accuracy import LIST_METRICS

    work = generate(n_users, n_items=N_ITEMS, wide=False)
    ids = work.lists
    counts = np.random.default_rng(0).pareto(1.0, N_ITEMS).astype(np.int64) + 1
    features = np.random.default_rng(0).random((N_ITEMS, 16))
    hashed = np.random.default_rng(1).permutation(2 * N_ITEMS)[:N_ITEMS] * 10**12
    options = {"duplicates": "raise", "n_threads": 2}

    def of_lists(name: str, lists: np.ndarray = ids, **facts: Any) -> np.ndarray:
        return tl.curves(name, lists, items=tl.Items(**facts), **options)

    def population() -> list[np.ndarray]:
        found = beyond.exposure(ids, catalogue=N_ITEMS, **options)
        return [tl.curves(name, found) for name in ("item_coverage", "gini", "shannon_entropy")]

    def items() -> list[np.ndarray]:
        return [of_lists(name, counts=counts) for name in ("average_popularity", "tail_percentage")]

    wide = hashed[ids]
    calls: dict[str, Callable[[], Any]] = {
        "coverage, Gini and entropy at every k": population,
        "the same, ids not the indices": lambda: of_lists("gini", wide, catalogue=hashed),
        "popularity and tail of every user at every k": items,
        "means and std of both, by name in top_k_eval": lambda: evaluate_lists(
            [LIST_METRICS[name] for name in ("average_popularity", "tail_percentage")],
            ids,
            ids.shape[1],
            ItemData({"counts": counts}, "raise", options, {}),
        ),
        "novelty of every user at every k": lambda: of_lists("novelty", counts=counts),
        "diversity of every user, cosine of 16 features": lambda: of_lists(
            "intra_list_diversity", features=features
        ),
        "counts at every rank, to merge": lambda: (
            beyond.exposure(ids, catalogue=N_ITEMS, **options).pairs
        ),
    }
    print(f"{n_users:,} users x {ids.shape[1]} ids, {N_ITEMS:,} items")
    for name, call in calls.items():
        call()
        seconds, reading = best_of(repeats, call, ids.sum)
        per_id = 1e9 * seconds / ids.size
        print(f"  {name:48}{figure(seconds / reading):>8} x sum{figure(per_id):>8} ns per id")


def predictions(n_rows: int, repeats: int) -> None:
    """Measure GAUC and the losses, beside scikit-learn's AUC of each user."""
    from toplist import pointwise

    rng = np.random.default_rng(0)
    n_users = max(n_rows // 100, 2)
    users, labels = rng.integers(0, n_users, n_rows), rng.integers(0, 2, n_rows)
    values = np.clip(rng.normal(0.4 + 0.2 * labels, 0.3), 0, 1)
    order = np.argsort(users, kind="stable")
    by_user = users[order], labels[order], values[order]
    calls: dict[str, Callable[[], Any]] = {
        "gauc, rows in any order": lambda: pointwise.gauc(users, labels, values, n_threads=2),
        "gauc, rows sorted by user": lambda: pointwise.gauc(*by_user, n_threads=2),
        "auc": lambda: pointwise.auc(labels, values),
        "log_loss": lambda: pointwise.log_loss(labels, values),
        "rmse": lambda: pointwise.rmse(labels, values),
    }
    print(f"{n_rows:,} rows of {n_users:,} users")
    seconds = {}
    for name, call in calls.items():
        call()
        (seconds[name],) = best_of(repeats, call)
        per_row = figure(1e9 * seconds[name] / n_rows)
        print(f"  {name:48}{figure(seconds[name]):>8} s    {per_row:>8} ns per row")
    try:
        from sklearn.metrics import roc_auc_score
    except ImportError:
        print("  scikit-learn is not installed")
        return
    _beside(roc_auc_score, by_user, seconds["gauc, rows in any order"], calls["auc"])


def _beside(theirs: Callable, by_user: tuple, ours: float, auc: Callable) -> None:
    """Compare with scikit-learn: the AUC of a sample of users, and that of all rows."""
    from toplist import pointwise

    users, labels, values = by_user
    edges = np.flatnonzero(np.diff(users, prepend=-1, append=-1))[: SAMPLE + 1]
    n = int(edges[-1])
    parts = [slice(*pair) for pair in pairwise(edges)]
    parts = [part for part in parts if 0 < labels[part].sum() < part.stop - part.start]
    took, found = timed(lambda: [theirs(labels[part], values[part]) for part in parts])
    weights = [labels[part].sum() for part in parts]
    apart = abs(np.average(found, weights=weights) - pointwise.gauc(*(c[:n] for c in by_user)))
    scaled = took * len(users) / n
    print(f"  scikit-learn, {len(parts):,} users one by one, scaled to all{figure(scaled):>10} s")
    print(f"  ratio {figure(scaled / ours)}, on the sample the results differ by {apart:.1e}")
    took, value = timed(lambda: theirs(labels, values))
    print(f"  scikit-learn, auc of all rows: {figure(took)} s; differs by {abs(value - auc()):.1e}")


def main() -> None:
    """Print every line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="tiny sizes")
    smoke = parser.parse_args().smoke
    lists(200 if smoke else 100_000, 1 if smoke else 7)
    predictions(20_000 if smoke else 10_000_000, 1 if smoke else 3)


if __name__ == "__main__":
    main()
