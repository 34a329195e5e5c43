"""Frames whose ids are text, and frames in no order, beside what a user would write instead.

    python benchmarks/text.py                          # all lines, a minute
    python benchmarks/text.py --only polars-text       # this line alone
    python benchmarks/text.py --smoke                  # tiny sizes: does everything still run?

50,000 users with ranked lists of 100 items out of 65,536, and 20 relevant items each: mean nDCG@100
of a frame with ranks and a frame of truths. The yardstick is a join on user and item with a group
by user, in the library of the frames (polars, or pandas' merge) and in the same process, in turn;
both must give one figure. A ratio is that of the best rounds; the spread is the slowest round over
the best one.
"""

import argparse
from collections.abc import Callable
from functools import lru_cache, partial
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from timing import figure, timed

K = 100
N_ITEMS = 65_536
N_RELEVANT, N_LISTED = 20, 6  # relevant items of a user; how many of them are listed


class Rows(NamedTuple):
    """Numbers of users and items: a row per listed item, with its rank, and per relevant one."""

    users: np.ndarray
    items: np.ndarray
    ranks: np.ndarray
    truth_users: np.ndarray
    truth_items: np.ndarray


@lru_cache(maxsize=1)
def generate(n_users: int) -> Rows:
    """Return the rows, user by user; every list is a stretch of one shuffled catalogue."""
    rng = np.random.default_rng(7)
    catalogue = rng.permutation(N_ITEMS)
    starts = rng.integers(0, N_ITEMS, n_users)[:, None]
    lists = catalogue[(starts + 37 * np.arange(K)) % N_ITEMS]
    others = catalogue[(starts + 37 * np.arange(K, K + N_RELEVANT - N_LISTED)) % N_ITEMS]
    hits = np.argsort(rng.random((n_users, K)), axis=1)[:, :N_LISTED]
    truths = np.hstack([np.take_along_axis(lists, hits, axis=1), others])
    users = np.arange(n_users)
    return Rows(
        np.repeat(users, K),
        lists.ravel(),
        np.tile(np.arange(1, K + 1), n_users),
        np.repeat(users, N_RELEVANT),
        truths.ravel(),
    )


def columns(n_users: int, text: bool, shuffled: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the columns of both frames; texts as arrays of numpy."""
    rows = generate(n_users)
    ranks = {"user_id": rows.users, "item_id": rows.items, "rank": rows.ranks}
    truths = {"user_id": rows.truth_users, "item_id": rows.truth_items}
    if shuffled:
        rng = np.random.default_rng(0)
        orders = [rng.permutation(len(side["user_id"])) for side in (ranks, truths)]
        ranks, truths = (
            {name: column[order] for name, column in side.items()}
            for side, order in zip((ranks, truths), orders, strict=True)
        )
    if text:
        users = np.array([f"user-{number:07d}" for number in range(n_users)])
        items = np.array([f"SKU{number * 7919 % 1_000_003:07d}X" for number in range(N_ITEMS)])
        for side in (ranks, truths):
            side["user_id"], side["item_id"] = users[side["user_id"]], items[side["item_id"]]
    return ranks, truths


def polars_frames(n_users: int, dtype: str, shuffled: bool) -> tuple[Any, Any]:
    """Return both frames; ids are of a dtype of polars."""
    import polars

    frames = map(polars.DataFrame, columns(n_users, dtype != "Int64", shuffled))
    ids = polars.col("user_id", "item_id")
    ranks, truths = (frame.with_columns(ids.cast(getattr(polars, dtype))) for frame in frames)
    return ranks, truths


def pandas_frames(n_users: int, dtype: Any, shuffled: bool) -> tuple[Any, Any]:
    """Return both frames; ids are of a dtype of pandas."""
    import pandas

    def column(array: np.ndarray) -> Any:
        if array.dtype.kind != "U":
            return array
        # a string of its own in every row, as a reader of files makes them
        return pandas.Series(array.tolist(), dtype=object).astype(dtype)

    ranks, truths = (
        pandas.DataFrame({name: column(array) for name, array in side.items()})
        for side in columns(n_users, True, shuffled)
    )
    return ranks, truths


def by_polars(ranks: Any, truths: Any) -> float:
    """Return the mean nDCG@100 as a user of polars computes it."""
    import polars

    hits = ranks.join(truths, on=["user_id", "item_id"]).filter(polars.col("rank") <= K)
    gain = 1 / (polars.col("rank") + 1).log(2)
    dcg = hits.group_by("user_id").agg(gain.sum().alias("dcg"))
    relevant = truths.group_by("user_id").agg(polars.len().alias("n"))
    users = relevant.join(dcg, on="user_id", how="left").fill_null(0)
    return float((users["dcg"].to_numpy() / ideal()[users["n"].to_numpy()]).mean())


def by_pandas(ranks: Any, truths: Any) -> float:
    """Return the mean nDCG@100 as a user of pandas computes it."""
    hits = ranks.merge(truths, on=["user_id", "item_id"])
    hits = hits[hits["rank"] <= K]
    gain = 1 / np.log2(hits["rank"] + 1)
    dcg = gain.groupby(hits["user_id"], observed=True).sum()
    relevant = truths.groupby("user_id", observed=True).size()
    found = dcg.reindex(relevant.index, fill_value=0)
    return float((found.to_numpy() / ideal()[relevant.to_numpy()]).mean())


def ideal() -> np.ndarray:
    """Return the DCG of a list of n relevant items, for n from 0 to 100."""
    return np.concatenate([[0], np.cumsum(1 / np.log2(np.arange(2, K + 2)))])


class Line(NamedTuple):
    """One line: the frames, what a user writes instead, and the most it should take.

    The budget is a ratio, or where it is more than 2, nanoseconds per row.
    """

    title: str
    frames: Callable[[int], tuple[Any, Any]]
    instead: Callable[[Any, Any], float]
    budget: float = float("nan")


def polars_line(title: str, dtype: str, shuffled: bool, budget: float) -> Line:
    """Return a line of polars."""
    frames = partial(polars_frames, dtype=dtype, shuffled=shuffled)
    return Line(title, frames, by_polars, budget)


def pandas_line(title: str, dtype: Any, budget: float = float("nan")) -> Line:
    """Return a line of pandas."""
    return Line(title, partial(pandas_frames, dtype=dtype, shuffled=False), by_pandas, budget)


LINES = {
    "polars-text": polars_line("polars, text", "String", False, 0.8),
    "polars-categorical": polars_line("polars, Categorical", "Categorical", False, 0.6),
    "pandas-str": pandas_line("pandas, str", "str", 0.3),
    "pandas-object": pandas_line("pandas, object", object, 250),
    "pandas-category": pandas_line("pandas, category", "category"),
    "shuffled-integers": polars_line("polars, integers, shuffled", "Int64", True, 0.7),
    "shuffled-text": polars_line("polars, text, shuffled", "String", True, 0.9),
}

FORMAT = "{:<30}{:>8}{:>10}{:>9}{:>9}{:>9}"


def measured(name: str, n_users: int, rounds: int) -> list[float]:
    """Return the ratio, nanoseconds per row, the best seconds, the spread, and the budget."""
    import toplist as tl

    line = LINES[name]
    ranks, truths = line.frames(n_users)

    def mean() -> float:
        return float(tl.top_k_eval(ranks, truths, k=K, metrics="ndcg")[f"ndcg@{K}"])

    first = mean()  # compiles
    own, other = [], []
    for _ in range(rounds):
        own.append(timed(mean)[0])
        seconds, found = timed(partial(line.instead, ranks, truths))
        other.append(seconds)
        if abs(first - found) > 1e-9:
            raise ValueError(f"{line.title}: {first} here, {found} there")
    best = min(own)
    return [best / min(other), 1e9 * best / len(ranks), best, max(own) / best, line.budget]


def main() -> None:
    """Print the lines asked for, each as soon as it is measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, one round, a few seconds")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=LINES, default=LINES)
    options = parser.parse_args()
    packages = ("toplist", "polars", "pandas", "pyarrow", "numpy")
    print(", ".join(f"{package} {version(package)}" for package in packages))
    print(FORMAT.format("", "ratio", "ns / row", "best s", "spread", "budget"))
    size = (200, 1) if options.smoke else (50_000, 3)
    for name in options.only:
        figures = map(figure, measured(name, *size))
        print(FORMAT.format(LINES[name].title, *figures), flush=True)


if __name__ == "__main__":
    main()
