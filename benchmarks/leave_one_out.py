"""Leave-one-out on ml-latest-small: what sampling candidates does to two baselines.

    python benchmarks/leave_one_out.py --data ../shared/data
    python benchmarks/leave_one_out.py --smoke                  # the first 200 users

Prints the report of the split, and the table of README.md here: metrics of a popularity and of an
item-kNN baseline among all items, among sampled ones, and corrected. Where the data are absent it
says so and ends well. What splits cost is a group of lines of `run.py`.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np

import toplist as tl
from toplist import loo
from toplist.files.tables import read_table

METRICS = ["hit", "ndcg", "mrr"]
NEIGHBOURS = 100
SEEDS = range(5)


def arrays_of(split: loo.Split) -> tuple[np.ndarray, np.ndarray]:
    """Return who chose what in training, test users first, and the held-out column of each."""
    users, items, held, seen = split.columns()
    place, tested = {item: column for column, item in enumerate(items)}, set(users)
    others = [row for user, row in split.truths("train").items() if user not in tested]
    trained = np.zeros((len(users) + len(others), len(items)), bool)
    trained[np.repeat(np.arange(len(users)), np.diff(seen.offsets)), seen.items] = True
    for row, chosen in enumerate(others, start=len(users)):
        trained[row, [place[item] for item in chosen]] = True
    return trained, held


def item_knn(trained: np.ndarray, n_users: int) -> np.ndarray:
    """Score an item by its cosine to the user's items, those among its nearest neighbours."""
    chosen = trained.astype(np.float32)
    unit = chosen / np.maximum(np.linalg.norm(chosen, axis=0), 1)
    scores = np.empty((n_users, chosen.shape[1]))
    for lo in range(0, chosen.shape[1], 500):
        near = unit.T @ unit[:, lo : lo + 500]
        near[np.arange(lo, lo + near.shape[1]), np.arange(near.shape[1])] = 0
        least = np.partition(near, -NEIGHBOURS, axis=0)[-NEIGHBOURS]
        scores[:, lo : lo + 500] = chosen[:n_users] @ np.where(near >= least, near, 0)
    return scores


def sampled_rows(name: str, scores: np.ndarray, seen: np.ndarray, held: np.ndarray) -> list[str]:
    """Return a line per metric at 10: among all, raw, and corrected; means over seeds."""
    lines, n_items = [], scores.shape[1]
    ranks = loo.ranks_of(scores, held, exclude=seen)
    full = tl.top_k_eval(tl.Hits.from_ranks(ranks, n_items), k=n_items)
    drawn = [loo.sampled_ranks(scores, held, 100, exclude=seen, seed=seed) for seed in SEEDS]
    raw = [one.evaluate(10, metrics=METRICS).to_dict() for one in drawn]
    better = [loo.corrected(one, 10, metrics=METRICS) for one in drawn]
    for metric in (f"{one}@10" for one in METRICS):
        true, plain = full[metric], np.mean([one[metric] for one in raw])
        mended = np.mean([one[metric].value for one in better])
        cells = f"{true:.4f} | {plain:.4f} | {plain - true:+.4f}"
        lines.append(f"| {name} | {metric} | {cells} | {mended:.4f} | {mended - true:+.4f} |")
    depth, plain = drawn[0].sampled.depth(10), np.mean([one["hit@10"] for one in raw])
    true = full[f"hit@{depth}"]
    cells = f"{true:.4f} | {plain:.4f} | {plain - true:+.4f}"
    return [*lines, f"| {name} | hit@{depth}, f(10) | {cells} | | |"]


def main() -> None:
    """Print all there is."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), metavar="DIR")
    parser.add_argument("--smoke", action="store_true", help="few users, a few seconds")
    options = parser.parse_args()
    path = options.data / "ml-latest-small" / "ratings.csv"
    if not path.exists():
        return print(f"{path} is absent: nothing to measure")
    table = read_table(path)
    if options.smoke:
        some = set([*dict.fromkeys(table["userId"])][:200])
        rows = [row for row, user in enumerate(table["userId"]) if user in some]
        table = {name: [column[row] for row in rows] for name, column in table.items()}
    split = loo.leave_one_out(table, columns={"user_id": "userId", "item_id": "movieId"})
    print(split.report)
    trained, held = arrays_of(split)
    popular = np.tile(trained.sum(axis=0).astype(float), (len(held), 1))
    print("\n| model | metric | all items | 100 sampled | its bias | corrected | its bias |")
    print("| --- " * 7 + "|")
    models = {"popularity": popular, "item-kNN": item_knn(trained, len(held))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", loo.SampledMetricsWarning)
        for name, scores in models.items():
            print(*sampled_rows(name, scores, trained[: len(held)], held), sep="\n")


if __name__ == "__main__":
    main()
