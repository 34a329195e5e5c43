"""Leave-one-out on real data: splits, two baselines, and what sampling candidates does to them.

    python benchmarks/leave_one_out.py --data ../shared/data    # ml-latest-small, online-retail
    python benchmarks/leave_one_out.py --smoke                  # the first 200 users of each

Prints for each data set the report of the split, and the figures of a popularity and of an item-kNN
baseline; then, as README.md here shows, sampled metrics and their corrections beside those of the
whole catalogue. Where the data are absent it says so and ends well. What splits cost is a group of
lines of `run.py`.
"""

import argparse
import warnings
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import toplist as tl
from toplist import loo
from toplist.files.tables import read_table

METRICS = ["hit", "ndcg", "mrr"]
NEIGHBOURS = 100
SEEDS = range(5)
SETS = {
    "ml-latest-small": ("ratings.csv", {"user_id": "userId", "item_id": "movieId"}),
    "online-retail": ("interactions.csv.gz", {}),
}


class Experiment(NamedTuple):
    """A split as arrays: who chose what in training, and the held-out column of each test user."""

    items: list
    trained: np.ndarray  # (n_users, n_items) bool, test users first
    held: np.ndarray

    @property
    def seen(self) -> np.ndarray:
        """What the test users chose in training."""
        return self.trained[: len(self.held)]


def first_users(table: dict[str, list], user: str, n: int) -> dict[str, list]:
    """Return the rows of the first users."""
    users = set(list(dict.fromkeys(table[user]))[:n])
    rows = [row for row, one in enumerate(table[user]) if one in users]
    return {name: [column[row] for row in rows] for name, column in table.items()}


def experiment(split: loo.Split) -> Experiment:
    """Turn the parts of a split into arrays."""
    users, items, held, seen = split.columns()
    place = {item: column for column, item in enumerate(items)}
    tested = set(users)
    others = [row for user, row in split.truths("train").items() if user not in tested]
    trained = np.zeros((len(users) + len(others), len(items)), bool)
    trained[np.repeat(np.arange(len(users)), np.diff(seen.offsets)), seen.items] = True
    for row, chosen in enumerate(others, start=len(users)):
        trained[row, [place[item] for item in chosen]] = True
    return Experiment(items, trained, held)


def popularity(data: Experiment) -> np.ndarray:
    """Score every item by how many users chose it in training."""
    counts = data.trained.sum(axis=0).astype(float)
    return np.broadcast_to(counts, data.seen.shape).copy()


def item_knn(data: Experiment) -> np.ndarray:
    """Score an item by its cosine to the user's items, those among its nearest neighbours."""
    chosen = data.trained.astype(np.float32)
    unit = chosen / np.maximum(np.linalg.norm(chosen, axis=0), 1)
    scores = np.empty(data.seen.shape)
    for lo in range(0, chosen.shape[1], 500):
        near = unit.T @ unit[:, lo : lo + 500]
        near[np.arange(lo, lo + near.shape[1]), np.arange(near.shape[1])] = 0
        least = np.partition(near, -NEIGHBOURS, axis=0)[-NEIGHBOURS]
        scores[:, lo : lo + 500] = chosen[: len(data.held)] @ np.where(near >= least, near, 0)
    return scores


def sampled_table(models: dict[str, np.ndarray], data: Experiment, n: int) -> list[str]:
    """Return a line per model and metric at 10: among all, raw, and corrected; means over seeds."""
    lines = [
        f"| model | metric | all items | {n} sampled | its bias | corrected | its bias |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, scores in models.items():
        ranks = loo.ranks_of(scores, data.held, exclude=data.seen)
        full = tl.top_k_eval(tl.Hits.from_ranks(ranks, len(data.items)), k=len(data.items))
        drawn = [
            loo.sampled_ranks(scores, data.held, n, exclude=data.seen, seed=seed) for seed in SEEDS
        ]
        raw = [one.evaluate(10, metrics=METRICS).to_dict() for one in drawn]
        better = [loo.corrected(one, 10, metrics=METRICS) for one in drawn]
        for metric in (f"{one}@10" for one in METRICS):
            true, plain = full[metric], np.mean([one[metric] for one in raw])
            mended = np.mean([one[metric].value for one in better])
            cells = (f"{true:.4f}", f"{plain:.4f}", f"{plain - true:+.4f}")
            cells = (*cells, f"{mended:.4f}", f"{mended - true:+.4f}")
            lines.append(f"| {name} | {metric} | {' | '.join(cells)} |")
        depth = drawn[0].sampled.depth(10)
        plain = np.mean([one["hit@10"] for one in raw])
        cells = (f"{full[f'hit@{depth}']:.4f}", f"{plain:.4f}")
        bias = f"{plain - full[f'hit@{depth}']:+.4f}"
        lines.append(f"| {name} | hit@{depth}, f(10) | {' | '.join(cells)} | {bias} | | |")
    return lines


def run(folder: Path, name: str, smoke: bool) -> None:
    """Print all of one data set."""
    file, columns = SETS[name]
    table: Any = read_table(folder / name / file)
    if smoke:
        table = first_users(table, columns.get("user_id", "user_id"), 200)
    start = perf_counter()
    split = loo.leave_one_out(table, columns=columns)
    print(f"\n## {name}\n{split.report}\nsplit in {perf_counter() - start:.2f} s")
    data = experiment(split)
    models = {"popularity": popularity(data), "item-kNN": item_knn(data)}
    for model, scores in models.items():
        lists = tl.scores.top_k(scores, 100, exclude=data.seen)
        print(f"\n{model}\n{tl.top_k_eval(lists, data.held, k=[1, 10, 100])}")
    if name == "ml-latest-small":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", loo.SampledMetricsWarning)
            print("", *sampled_table(models, data, 100), sep="\n")


def main() -> None:
    """Print all there is."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), metavar="DIR")
    parser.add_argument("--smoke", action="store_true", help="few users, a few seconds")
    options = parser.parse_args()
    for name, (file, _) in SETS.items():
        if (options.data / name / file).exists():
            run(options.data, name, options.smoke)
        else:
            print(f"{options.data / name / file} is absent: nothing to measure")


if __name__ == "__main__":
    main()
