"""``toplist eval`` of text files as whole processes, beside a polars script on the same files.

    python benchmarks/text_files.py                 # 5,000,000 and 20,000,000 rows, some minutes
    python benchmarks/text_files.py --users 50000   # 5,000,000 rows alone
    python benchmarks/text_files.py --smoke

Lists of 100 items per user and some 20 relevant items, of a catalogue of 65,536; ids are integers,
or texts such as user-0000042 and SKU0012345X. Every line is the minimum of three rounds, in which
the processes alternate; start-up, imports and the loading of compiled code are in it. The polars
script reads both files, joins them and prints one mean nDCG@100 (``scan_csv``: its lazy form).
Beside the time stands the peak memory of a process, and the ratio to the polars script (to its read
of CSV where the line is about another format).
"""

import argparse
import gzip
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

LENGTH, CATALOGUE = 100, 65_536
POLARS = """
import sys
import numpy as np
import polars as pl
K = 100
read = getattr(pl, sys.argv[1])
recs, truth = read(sys.argv[2]), read(sys.argv[3])
hits = recs.join(truth, on=["user_id", "item_id"]).filter(pl.col("rank") <= K)
gain = (1 / (pl.col("rank") + 1).log(2)).sum().alias("dcg")
users = truth.group_by("user_id").agg(pl.len().alias("R"))
found = users.join(hits.group_by("user_id").agg(gain), on="user_id", how="left").fill_null(0)
found = found.lazy().collect()
ideal = np.concatenate([[0], np.cumsum(1 / np.log2(np.arange(2, K + 2)))])
dcg, relevant = found["dcg"].to_numpy(), found["R"].to_numpy()
print((dcg / ideal[np.minimum(relevant, K)]).mean())
"""


def tables(n_users, text):
    """Return recs and truth as polars frames."""
    import polars as pl

    rng = np.random.default_rng(0)
    items = np.argsort(rng.random((min(n_users, 500), CATALOGUE)), axis=1)[:, :LENGTH]
    items = np.ascontiguousarray(items[rng.integers(0, len(items), n_users)])
    counts = 1 + rng.poisson(19, n_users)
    of_user = np.repeat(np.arange(n_users), counts)
    listed = items[of_user, rng.integers(0, LENGTH, len(of_user))]
    relevant = np.where(
        rng.random(len(of_user)) < 0.3, listed, rng.integers(0, CATALOGUE, len(listed))
    )
    ranks = np.tile(np.arange(1, LENGTH + 1), n_users)
    recs = {"user_id": np.repeat(np.arange(n_users), LENGTH), "item_id": items.ravel()}
    truth = pl.DataFrame({"user_id": of_user, "item_id": relevant}).unique(maintain_order=True)
    sides = pl.DataFrame(recs | {"rank": ranks}), truth
    if not text:
        return sides
    names = pl.format("user-{}", pl.col("user_id").cast(pl.String).str.zfill(7)).alias("user_id")
    codes = pl.format("SKU{}X", pl.col("item_id").cast(pl.String).str.zfill(7)).alias("item_id")
    return tuple(side.with_columns(names, codes) for side in sides)


def write(folder, n_users, text, formats):
    """Write the files, those in CSV first; return their paths, by format."""
    import polars as pl

    paths = {}
    for side, frame in zip(("recs", "truth"), tables(n_users, text), strict=True):
        for name in formats:
            path = Path(folder, f"{side}-{n_users}-{text}.{name}")
            value = pl.col("rank") if side == "recs" else pl.lit(1)
            score = ((1000 - value.cast(pl.Float64)) / 7).alias("score")
            if name == "csv":
                frame.write_csv(path)
            elif name == "csv.gz":
                with open(path.with_suffix(""), "rb") as plain, gzip.open(path, "wb", 1) as packed:
                    shutil.copyfileobj(plain, packed)
            elif name == "jsonl":
                frame.write_ndjson(path)
            elif name == "parquet":
                frame.write_parquet(path)
            else:  # trec
                run = ["user_id", pl.lit("Q0").alias("q"), "item_id", value.alias("r"), score]
                run = [*run, pl.lit("t").alias("t")] if side == "recs" else [*run[:3], run[3]]
                frame.select(run).write_csv(path, separator=" ", include_header=False)
            paths.setdefault(name, []).append(str(path))
    return paths


def process(command):
    """Return seconds and peak memory (MB) of a command."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"failed: {' '.join(map(str, command))}")
    child.returncode = 0
    return time.perf_counter() - start, usage.ru_maxrss / 1000


def measure(n_users, text, formats, rounds):
    """Print a line for each format, and two for the polars script."""
    toplist = os.path.join(sysconfig.get_path("scripts"), "toplist")
    with tempfile.TemporaryDirectory() as folder:
        # by another process: the peak of a process includes that of the one that started it
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            paths = pool.submit(write, folder, n_users, text, formats).result()
        lines = {
            "polars, read_csv": [sys.executable, "-c", POLARS, "read_csv", *paths["csv"]],
            "polars, scan_csv": [sys.executable, "-c", POLARS, "scan_csv", *paths["csv"]],
        }
        for name, both in paths.items():
            ending = (
                ["--ranks-format", "trec", "--ground-truths-format", "trec"]
                if name == "trec"
                else []
            )
            lines[name] = [toplist, "eval", *both, "-m", "ndcg", "-k", "100", *ending]
        for command in lines.values():  # kernels compiled, files in the page cache
            process(command)
        found = {name: [] for name in lines}
        for _ in range(rounds):
            for name, command in lines.items():
                found[name].append(process(command))
    yardstick = min(found["polars, read_csv"])[0]
    rows = n_users * LENGTH
    print(f"\n{rows:,} rows, ids are {'text' if text else 'integers'}")
    for name, runs in found.items():
        seconds, memory = min(runs)[0], max(peak for _, peak in runs)
        spread = max(runs)[0] / seconds
        print(
            f"{name:20} {seconds:6.2f} s  {seconds / yardstick:5.2f} x  spread {spread:4.2f}  "
            f"{1e9 * seconds / rows:6.0f} ns per row  {memory:6.0f} MB",
            flush=True,
        )


def main():
    """Measure what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--users", type=int, nargs="+", default=[50_000, 200_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    for n_users in [200] if options.smoke else options.users:
        for text in (False, True):
            formats = ["csv", "csv.gz", "jsonl", "trec", "parquet"]
            formats = formats if n_users <= 50_000 else ["csv", "parquet"]
            measure(n_users, text, formats, 1 if options.smoke else options.rounds)


if __name__ == "__main__":
    main()
