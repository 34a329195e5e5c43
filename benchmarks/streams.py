"""Time and peak memory of ``top_k_eval`` on two Parquet files, over users, k and truth size.

    python benchmarks/streams.py                              # the curves, some minutes
    python benchmarks/streams.py --users 10000000             # one point: 3 GB of disk
    python benchmarks/streams.py --smoke

Each point is a process of its own; its files are written first and removed afterwards. Lists of
`k` ids per user in a column of lists, one row per user, the users of both files in one order; the
truth has as many ids as said. Budget: 10,000,000 users x 100 within 1.5 GB, cost linear in users.
The last line has the CPU time of coverage, Gini and novelty beside nDCG, against nDCG alone: budget
1.5 times.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
from workload import generate

BLOCK = 20_000  # users written at a time: one row group
POINT = """
import json, sys, time
import toplist as tl
with open("/proc/self/clear_refs", "w") as reset:
    reset.write("5")
recs, truth, k, warm_recs, warm_truth = sys.argv[1:]
tl.top_k_eval(warm_recs, warm_truth, k=int(k))       # compiled or loaded here
start = time.perf_counter()
result = tl.top_k_eval(recs, truth, k=int(k))
seconds = time.perf_counter() - start
with open("/proc/self/status") as status:
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
print(json.dumps([seconds, peak / 1e6, result.n_evaluated, result["ndcg"][-1]]))
"""
LISTS = """
import sys, time
import toplist as tl
recs, truth, k, n_items = *sys.argv[1:3], *map(int, sys.argv[3:])
counts = {item: item % 97 + 1 for item in range(n_items)}
known = {"items": tl.Items(catalogue=n_items, counts=counts)}
asked = [{"metrics": "ndcg"}, {"metrics": ["ndcg", "item_coverage", "gini", "novelty"], **known}]
best = [float("inf")] * 2
for _ in range(4):                                   # the first compiles or loads
    for which, options in enumerate(asked):
        start = time.process_time()
        tl.top_k_eval(recs, truth, k=k, **options)
        best[which] = min(best[which], time.process_time() - start)
print(*best)
"""


def write(folder: str, n_users: int, k: int, n_relevant: int, shuffled: bool = False) -> list[str]:
    """Write the files of a point; return their paths."""
    import pyarrow
    import pyarrow.parquet

    work = generate(min(n_users, BLOCK), length=k, mean_relevant=min(n_relevant, k), wide=False)
    paths = [os.path.join(folder, f"{name}-{n_users}.parquet") for name in ("recs", "truth")]
    sides = (np.arange(len(work.lists) + 1) * k, work.lists.reshape(-1)), (work.offsets, work.items)
    for path, (offsets, items) in zip(paths, sides, strict=True):
        values = pyarrow.array(items)
        lists = pyarrow.LargeListArray.from_arrays(pyarrow.array(offsets), values)
        schema = pyarrow.schema({"user_id": pyarrow.int64(), "item_id": lists.type})
        starts = np.arange(0, n_users, BLOCK)
        if shuffled and "truth" in path:
            starts = np.random.default_rng(0).permutation(starts)
        with pyarrow.parquet.ParquetWriter(path, schema) as writer:
            for start in starts:
                n = min(BLOCK, n_users - int(start))
                users = pyarrow.array(np.arange(start, start + n))
                writer.write_table(pyarrow.table([users, lists.slice(0, n)], schema=schema))
    return paths


def point(n_users: int, k: int, n_relevant: int, shuffled: bool = False) -> None:
    """Measure one point and print it."""
    with tempfile.TemporaryDirectory() as folder:
        files = write(folder, n_users, k, n_relevant, shuffled)
        warm = write(folder, 10, k, n_relevant)
        command = [sys.executable, "-c", POINT, *files, str(k), *warm]
        found = subprocess.run(command, capture_output=True, text=True, check=True)
        size = sum(map(os.path.getsize, files)) / 1e9
    seconds, peak, n, ndcg = json.loads(found.stdout)
    order = "shuffled" if shuffled else "same order"
    print(
        f"{n:>12,} users  k = {k:<5} {n_relevant:>5} relevant  {order:10} "
        f"{size:6.2f} GB of files  {seconds:8.2f} s  {1e6 * seconds / n:7.2f} us/user  "
        f"{1e9 * seconds / n / k:6.1f} ns/id  peak {peak:5.2f} GB  ndcg {ndcg:.6f}",
        flush=True,
    )


def of_lists(n_users: int, k: int) -> None:
    """Measure the metrics of the lists beside nDCG, in one process, and print them."""
    with tempfile.TemporaryDirectory() as folder:
        files = write(folder, n_users, k, 5)
        n_items = 1 + int(generate(min(n_users, BLOCK), length=k, wide=False).lists.max())
        command = [sys.executable, "-c", LISTS, *files, str(k), str(n_items)]
        found = subprocess.run(command, capture_output=True, text=True, check=True)
    alone, all_four = map(float, found.stdout.split())
    print(
        f"{n_users:>12,} users  k = {k:<5} {n_items:,} items: coverage, Gini, novelty beside nDCG "
        f"{all_four:.2f} s of CPU, nDCG alone {alone:.2f} s: {all_four / alone:.2f} x",
        flush=True,
    )


def main() -> None:
    """Print the curves."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--users", type=int, nargs="+", default=[10**4, 10**5, 10**6])
    parser.add_argument("--smoke", action="store_true", help="tiny sizes")
    options = parser.parse_args()
    if options.smoke:
        point(50, 10, 5)
        point(50, 10, 5, shuffled=True)
        of_lists(50, 10)
        return
    for n_users in options.users:
        point(n_users, 100, 20)
    if max(options.users) > 10**6:
        return
    point(10**6, 100, 20, shuffled=True)
    for k in (10, 100, 1000):
        point(10**5, k, 20)
    for n_relevant in (2, 20, 100):
        point(10**5, 100, n_relevant)
    of_lists(5 * 10**5, 30)


if __name__ == "__main__":
    main()
