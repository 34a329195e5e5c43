"""Time what toplist does, beside yardsticks in the same process or run, a line each.

    python benchmarks/run.py                       # all lines, an hour
    python benchmarks/run.py arrays flips          # these groups alone
    python benchmarks/run.py top --size 10000      # another size
    python benchmarks/run.py --smoke               # tiny sizes: does everything still run?

A line of the table run.toml is a group, a title, a set-up and a size: of users, or of rows where it
counts rows. The set-up returns works by name: that of toplist first, then yardsticks, such as
reading the ids once. They take turns, after a round that compiles, and the least time of each
counts; ratios are of times per unit, so a slow yardstick may do less. "ns" is per unit: an id of
the lists, a row, a user times a resample. "MB" is what a process takes at its peak, or a split
beside its rows. What is not installed is left out. A slow line is printed like any other; only an
error, or another figure from a yardstick, ends with a non-zero exit code.
"""

import gzip
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from functools import cache, lru_cache, partial
from importlib.metadata import version
from importlib.util import find_spec
from itertools import chain, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from environments import called, options_of, table_of
from workload import Took, Workload, best_of, by_polars, figure, generate, ideal, timed

import toplist as tl
from toplist import loo, pointwise

METRICS = ["hit", "precision", "recall", "map", "ndcg", "mrr"]
K, N_ITEMS, FLIPS = 100, 50_000, 10_000
FOLDER = tempfile.TemporaryDirectory()
HERE = str(Path(__file__).resolve().parent)
TOPLIST = os.path.join(sysconfig.get_path("scripts"), "toplist")


class Work(NamedTuple):
    """A call, and how many units it does: none where it prepares the next call."""

    call: Callable[[], Any]
    units: float = 1.0


Works = dict[str, Work]


class Line(NamedTuple):
    """A line: its group and title, works by name of a size, the size, the most it should take."""

    group: str
    title: str
    works: Callable[[int], Works]
    n: int
    budget: str


def beside(call: Callable[[], Any], units: float, **others: Callable[[], Any]) -> Works:
    """Return a call of toplist and others that do as much."""
    works = {"toplist": call, **others}
    return {name: Work(one, float(units)) for name, one in works.items()}


# Processes

LAUNCH = """
import os, subprocess, sys, time
start = time.perf_counter()
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
status, used = os.wait4(child.pid, 0)[1:]
print(time.perf_counter() - start, used.ru_maxrss / 1000)
sys.exit(status != 0)
"""
POLARS = """
import sys
import polars
sys.path.append(sys.argv[1])
from workload import by_polars
read = getattr(polars, sys.argv[2])
print(by_polars(read(sys.argv[3]), read(sys.argv[4])))
"""


def process(*command: str, cache: str | None = None) -> Took:
    """Run a command below a small process, and return its wall time and its own peak memory."""
    env = os.environ | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    launch = sys.executable, "-S", "-c", LAUNCH, *command
    done = subprocess.run(launch, env=env, check=True, stdout=subprocess.PIPE, text=True)
    return Took(*map(float, done.stdout.split()[-2:]))


def python(code: str, *arguments: str) -> tuple[str, ...]:
    """Return the command of a fresh interpreter, which has the installed packages (-P)."""
    return sys.executable, "-P", "-c", code, *arguments


def cold(n: int, code: str, cached: bool = False) -> Works:
    """Return a process that compiles, or loads what is kept."""
    kept = tempfile.mkdtemp(dir=FOLDER.name)

    def call() -> Took:
        return process(*python(code), cache=kept if cached else tempfile.mkdtemp(dir=FOLDER.name))

    return {"toplist": Work(call)}


# Linux only. What is measured in a process of its own warms up first, and the peak starts again
# from the present size.


def kilobytes(field: str) -> int:
    """Return what /proc says of this process."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field))


def peak_of(call: Callable[[], Any]) -> Took:
    """Return the seconds and the peak of a call."""
    with open("/proc/self/clear_refs", "w") as reset:
        reset.write("5")
    took, _ = timed(call)
    return took._replace(megabytes=kilobytes("VmHWM") / 1000)


def arrays_inside(*files: str) -> Took:
    """Evaluate arrays; the peak is beside what the process held before."""

    def evaluate(lists: np.ndarray, offsets: np.ndarray, items: np.ndarray) -> Any:
        return tl.top_k_eval(lists, tl.inputs.Lists(offsets, items), k=lists.shape[1], n_threads=2)

    lists, offsets, items = map(np.load, files)
    evaluate(lists[:2], offsets[:3], items[: offsets[2]])
    size = kilobytes("VmRSS") / 1000
    seconds, peak = peak_of(lambda: evaluate(lists, offsets, items))
    return Took(seconds, peak - size)


def files_inside(*paths: str) -> Took:
    """Evaluate two files after two small ones."""
    tl.top_k_eval(*paths[2:], k=K)
    return peak_of(lambda: tl.top_k_eval(*paths[:2], k=K))


def inside(function: str, *paths: str) -> Took:
    """Call one of these in a process of its own."""
    return Took(*called(sys.executable, __file__, function, *paths))


# Arrays, lists and frames: the workload. One at a time: the largest takes 800 MB.

workload = lru_cache(maxsize=1)(generate)


def beside_sum(call: Callable[[], Any], work: Workload) -> Works:
    """Return a call beside reading its ids once."""
    return beside(call, work.lists.size, sum=work.lists.sum)


def arrays(n: int, duplicates: str, one_each: bool = False, values: bool = False) -> Works:
    """Return arrays in, means and deviations of six metrics at every k out, or `values` of one."""
    work = workload(n, mean_relevant=1) if one_each else workload(n)
    truths = work.items if one_each else tl.inputs.Lists(work.offsets, work.items)
    options = {"duplicates": duplicates, "n_threads": 2}

    def six() -> list[Any]:
        result = tl.top_k_eval(work.lists, truths, K, metrics=METRICS, **options)
        return [(result[name], result.std(name)) for name in METRICS]

    one = partial(tl.curves, "ndcg", work.lists, truths, **options)
    return beside_sum(one if values else six, work)


def memory(n: int) -> Works:
    """Return what an evaluation of arrays takes beside them, in a process that has read them."""
    files = []
    for name, array in vars(workload(n)).items():
        files.append(os.path.join(FOLDER.name, f"{name}.npy"))
        np.save(files[-1], array)
    return {"toplist": Work(partial(inside, "arrays_inside", *files))}


def ints(n: int) -> Works:
    """Return lists and sets of ints in, beside ``np.fromiter`` over the ids of both."""
    work = workload(n)
    lists, truths = work.to_python()

    def converted() -> Any:
        return np.fromiter(chain.from_iterable(chain(lists, truths)), np.int64)

    call = partial(tl.top_k_eval, lists, truths, k=K)
    return beside(call, work.lists.size, sum=work.lists.sum, fromiter=converted)


def strings(n: int) -> Works:
    """Return lists and sets of strings in, new ones each time: a string keeps its hash."""
    work, fresh = workload(n), {}
    works = beside_sum(lambda: tl.top_k_eval(*fresh["ids"], k=K), work)
    return {"strings": Work(lambda: fresh.update(ids=work.to_strings()), 0.0), **works}


def columns(n: int, text: bool = False, shuffled: bool = False) -> list[dict[str, np.ndarray]]:
    """Return two long tables: lists by rank, and relevant items, of a catalogue of 65,536."""
    work = workload(n, n_items=65_536, wide=False)
    sides = [*work.to_columns()]
    for side in sides:
        if text:
            for name, first, last in (("user_id", "user-", ""), ("item_id", "SKU", "X")):
                numbers = np.char.zfill(side[name].astype(str), 7)
                side[name] = np.char.add(np.char.add(first, numbers), last)
        if shuffled:
            order = np.random.default_rng(0).permutation(len(side["user_id"]))
            side.update({name: column[order] for name, column in side.items()})
    return sides


def scores(n: int, shuffled: bool = False) -> Works:
    """Return a pandas frame with scores in, six metrics at every k out."""
    import pandas

    ranks, truths = map(pandas.DataFrame, columns(n, shuffled=shuffled))
    ranks["score"] = -ranks.pop("rank").astype(float)
    options = {"metrics": METRICS, "n_threads": 2}
    return beside_sum(lambda: tl.top_k_eval(ranks, truths, K, **options), workload(n))


def frames(n: int, library: str, dtype: str, shuffled: bool = False) -> Works:
    """Return mean nDCG of two frames, beside a join and a group by user in their library."""
    sides = columns(n, dtype != "Int64", shuffled)
    if library == "polars":
        import polars

        ids = polars.col("user_id", "item_id").cast(getattr(polars, dtype))
        made = [polars.DataFrame(side).with_columns(ids) for side in sides]
    else:
        import pandas

        made = [pandas.DataFrame(side) for side in sides]
        for frame in made:  # a string of its own in every row, as a reader of files makes them
            for name in ("user_id", "item_id"):
                frame[name] = pandas.Series(frame[name].tolist(), dtype=object).astype(dtype)
    by = {"polars": by_polars, "pandas": by_pandas}[library]
    mean = partial(tl.top_k_eval, *made, k=K, metrics="ndcg")
    apart = abs(float(mean()[f"ndcg@{K}"]) - by(*made))
    if apart > 1e-9:
        raise ValueError(f"nDCG by {library} is {apart} apart")
    return beside(mean, len(made[0]), **{library: partial(by, *made)})


def by_pandas(ranks: Any, truths: Any) -> float:
    """Return the mean nDCG@100 as a user of pandas computes it."""
    hits = ranks.merge(truths, on=["user_id", "item_id"])
    hits = hits[hits["rank"] <= K]
    dcg = (1 / np.log2(hits["rank"] + 1)).groupby(hits["user_id"], observed=True).sum()
    relevant = truths.groupby("user_id", observed=True).size()
    found = dcg.reindex(relevant.index, fill_value=0)
    return float((found.to_numpy() / ideal(K)[relevant.to_numpy()]).mean())


def checkpoint(n: int, text: bool) -> Works:
    """Return lists of one item of a table, beside ground truths that are kept, and reading them."""
    import pandas

    from toplist.inputs.tables import lists_of

    rng = np.random.default_rng(0)
    users, items = rng.permutation(n), rng.integers(0, N_ITEMS, (4, n))
    if text:
        users, items = (
            np.char.add("id-", some.astype(str)).astype(object) for some in (users, items)
        )
    order = rng.permutation(n)
    ranks = pandas.DataFrame({"user_id": users[order], "item_id": items[0], "rank": 1})
    truths = pandas.DataFrame({"user_id": np.tile(users, 3), "item_id": items[1:].ravel()})
    kept = tl.GroundTruths(truths)
    call = partial(tl.top_k_eval, ranks, kept, 1, metrics=["hit", "ndcg"])
    return beside(call, n, reading=partial(lists_of, ranks, "ranks", None, known=kept.texts))


def top(n: int) -> Works:
    """Return the top 100 of 50,000 scores per user, beside numpy's argpartition and argsort."""
    given = np.random.default_rng(0).standard_normal((n, N_ITEMS), dtype=np.float32)

    def by_numpy() -> Any:
        best = np.argpartition(-given, 100, axis=1)[:, :100]
        order = np.argsort(-np.take_along_axis(given, best, 1), axis=1)
        return np.take_along_axis(best, order, 1)

    return beside(partial(tl.scores.top_k, given, 100), given.size, numpy=by_numpy)


# Metrics of the lists, and of predictions


def beyond(n: int, metrics: str, fact: str) -> Works:
    """Return metrics of the lists of every user at every k, or of all lists, by a fact of items.

    Those of all lists, by the catalogue, are of one exposure.
    """
    work, rng = workload(n, n_items=N_ITEMS, wide=False), np.random.default_rng(0)
    items = tl.Items(counts=rng.pareto(1.0, N_ITEMS).astype(np.int64) + 1)

    def curves() -> list[Any]:
        if fact == "counts":
            how: dict[str, Any] = {"ranks": work.lists, "items": items, "n_threads": 2}
        else:
            how = {"ranks": tl.beyond.exposure(work.lists, catalogue=N_ITEMS, n_threads=2)}
        return [tl.curves(name, **how) for name in metrics.split()]

    return beside_sum(curves, work)


def gauc(n: int, ordered: bool) -> Works:
    """Return GAUC of rows of a hundredth as many users, beside scikit-learn for some users."""
    rng = np.random.default_rng(0)
    users, labels = rng.integers(0, max(n // 100, 2), n), rng.integers(0, 2, n)
    values = np.clip(rng.normal(0.4 + 0.2 * labels, 0.3), 0, 1)
    by_user = [column[np.argsort(users, kind="stable")] for column in (users, labels, values)]
    given = by_user if ordered else (users, labels, values)
    works = beside(lambda: pointwise.gauc(*given, n_threads=2), n)
    if find_spec("sklearn") is None:
        return works
    from sklearn.metrics import roc_auc_score

    edges = np.flatnonzero(np.diff(by_user[0], prepend=-1, append=-1))[:2_001]
    parts = [[column[lo:hi] for column in by_user[1:]] for lo, hi in pairwise(edges)]
    parts = [part for part in parts if 0 < part[0].mean() < 1]
    return {**works, "sklearn": Work(lambda: [roc_auc_score(*one) for one in parts], edges[-1])}


# Files


@cache
def files(n: int, text: bool, kind: str) -> list[str]:
    """Write lists by rank and relevant items as files of a format, and return their paths."""
    import polars as pl

    paths = []
    for name, side in zip(("recs", "truth"), columns(n, text), strict=True):
        frame = pl.DataFrame(side)
        path = os.path.join(FOLDER.name, f"{name}-{n}-{text}.{kind}")
        paths.append(path)
        if kind == "csv.gz":
            plain = files(n, text, "csv")[len(paths) - 1]
            with open(plain, "rb") as source, gzip.open(path, "wb", 1) as packed:
                shutil.copyfileobj(source, packed)
        elif kind == "trec":
            zero, value = pl.lit("Q0").alias("q"), pl.col("rank") if name == "recs" else pl.lit(1)
            score = [((1000 - value.cast(pl.Float64)) / 7).alias("s"), pl.lit("t").alias("t")]
            row = ["user_id", zero, "item_id", value.alias("r"), *score * (name == "recs")]
            frame.select(row).write_csv(path, separator=" ", include_header=False)
        else:
            writers = {"csv": "write_csv", "jsonl": "write_ndjson", "parquet": "write_parquet"}
            getattr(frame, writers[kind])(path)
    return paths


def evaluated(n: int, text: bool, kind: str) -> Works:
    """Return the process of ``toplist eval``, beside polars scripts that read CSV and join it."""
    how = ["--ranks-format", "trec", "--ground-truths-format", "trec"] if kind == "trec" else []
    command = TOPLIST, "eval", *files(n, text, kind), "-m", "ndcg", "-k", "100", *how
    scripts = {
        read: partial(process, *python(POLARS, HERE, read, *files(n, text, "csv")))
        for read in ("read_csv", "scan_csv")
    }
    return beside(partial(process, *command), n * K, **scripts)


def parquet(n: int, shuffled: bool = False) -> list[str]:
    """Write two Parquet files with a list per row; row groups of the truth may be shuffled."""
    import pyarrow
    import pyarrow.parquet

    block = min(n, 20_000)
    work = generate(block, wide=False)
    both = (np.arange(block + 1) * K, work.lists.reshape(-1)), (work.offsets, work.items)
    paths = [os.path.join(FOLDER.name, f"{name}-{n}.parquet") for name in ("lists", "truths")]
    for path, parts in zip(paths, both, strict=True):
        lists = pyarrow.LargeListArray.from_arrays(*map(pyarrow.array, parts))
        schema = pyarrow.schema({"user_id": pyarrow.int64(), "item_id": lists.type})
        starts = np.arange(0, n, block)
        if shuffled and path == paths[1]:
            starts = np.random.default_rng(0).permutation(starts)
        with pyarrow.parquet.ParquetWriter(path, schema) as writer:
            for start in starts.tolist():
                size = min(block, n - start)
                users = pyarrow.array(np.arange(start, start + size))
                writer.write_table(pyarrow.table([users, lists.slice(0, size)], schema=schema))
    return paths


def stream(n: int, shuffled: bool = False) -> Works:
    """Return the evaluation of two Parquet files in a process of its own."""
    paths = *parquet(n, shuffled), *parquet(10)
    return {"toplist": Work(partial(inside, "files_inside", *paths), float(n * K))}


def scattered(n: int) -> Works:
    """Return mean nDCG of files with a row per item, shuffled, beside a join by polars."""
    import polars

    paths = [os.path.join(FOLDER.name, f"{name}-{n}.parquet") for name in ("rows", "relevant")]
    for path, side in zip(paths, columns(n, text=True, shuffled=True), strict=True):
        polars.DataFrame(side).write_parquet(path)
    call = partial(tl.top_k_eval, *paths, k=K, metrics="ndcg")
    return beside(call, n * K, polars=lambda: by_polars(*map(polars.read_parquet, paths)))


# Splits

QUARTER = 94_608_000 // 12


def splits(n: int, of: str, **options: Any) -> Works:
    """Return a split of rows beside ``np.lexsort`` by user and time.

    Some users have many rows, most a few; times are seconds of three years.
    """
    source = np.random.default_rng(0)
    users = source.zipf(1.5, n) % max(1, n // 50)
    items, times = source.integers(0, max(9, n // 200), n), source.integers(0, 12 * QUARTER, n)
    log = users, items, times

    def first_window() -> Any:
        return loo.windows(log, QUARTER)[0]

    if of == "windows":
        call = first_window
    elif of == "one more window":
        call = partial(itemgetter(-1), loo.windows(log, QUARTER))
    else:
        call = partial(getattr(loo, of), log, **options)
    return beside(call, n, lexsort=lambda: np.lexsort((times, users)))


# Tests: values of users are made up, three of four users do not differ


@cache
def differences(n: int) -> np.ndarray:
    """Return the differences of four systems to a fifth."""
    rng = np.random.default_rng(7)
    base = rng.random(n)
    others = 0.25 * (rng.random((4, n)) - base)
    return np.where(rng.random((4, n)) < 0.25, others, 0.0)


def flips(n: int, n_columns: int = 1) -> Works:
    """Return sign flips of one difference beside others, or of several jointly; one thread."""
    from toplist.stats.randomization import randomization
    from toplist.stats.simultaneous import maxt_flips

    options, some = {"n_resamples": FLIPS, "n_threads": 1}, [*differences(n)[:n_columns]]
    if n_columns > 1:
        return beside(partial(maxt_flips, some, **options), n * n_columns * FLIPS)

    def by_numpy(d: np.ndarray) -> int:
        rng, observed = np.random.default_rng(0), abs(d.sum())
        flipped = (((rng.random(len(d)) < 0.5) * 2 - 1) @ d for _ in range(100))
        return sum(abs(one) >= observed for one in flipped)

    def by_scipy(d: np.ndarray) -> Any:
        from scipy.stats import permutation_test

        how = {"permutation_type": "samples", "vectorized": True, "n_resamples": 100, "batch": 10}
        sides = d, np.zeros(len(d))
        return permutation_test(sides, lambda x, y, axis: np.mean(x - y, axis=axis), rng=0, **how)

    def by_ranx(d: np.ndarray) -> Any:  # which takes all threads
        from ranx.statistical_tests import fisher_randomization_test as fisher

        return fisher.fisher_randomization_test(d, np.zeros(len(d)), 100)

    works = beside(partial(randomization, some[0], **options), n * FLIPS)
    d, others = some[0][:100_000], {"numpy": by_numpy, "scipy": by_scipy, "ranx": by_ranx}
    calls = {name: partial(call, d) for name, call in others.items() if find_spec(name)}
    return works | {name: Work(call, 100.0 * len(d)) for name, call in calls.items()}


def made_curves(n_systems: int) -> Callable[[int, int], np.ndarray]:
    """Return what makes differences over k of users from the first to the last, by blocks.

    Curves of 65,536 users are used again, as a million of them need gigabytes.
    """
    rng, size = np.random.default_rng(7), 1 << 16
    made = [
        (rng.random((size, K)) < 0.02).cumsum(axis=1) / (1 + np.arange(K)) for _ in range(n_systems)
    ]

    def fill(first: int, last: int) -> np.ndarray:
        start = first % (size - 4096)
        rows = slice(start, start + last - first)
        return np.hstack([one[rows] - made[0][rows] for one in made[1:]])

    return fill


def bands(n: int, n_systems: int, n_threads: int) -> Works:
    """Return one pass over curves of users, then a band of each system; MaxT over all if many."""
    from toplist.stats import Sums
    from toplist.stats.simultaneous import band, maxt_t

    fill = made_curves(n_systems)

    def call() -> None:
        found = Sums.over(fill, n, K * (n_systems - 1), n_threads).estimate
        for first in range(0, K * (n_systems - 1), K):
            band(found.at(np.arange(first, first + K)), n_threads=n_threads)
        if n_systems > 2:
            maxt_t(found, n_threads=n_threads)

    return beside(call, n * K * (n_systems - 1))


def bootstraps(n: int) -> Works:
    """Return the studentised bootstrap of one difference."""
    from toplist.stats.randomization import bootstrap

    call = partial(bootstrap, differences(n)[0], n_resamples=FLIPS - 1, n_threads=1)
    return beside(call, n * (FLIPS - 1))


def t_tests(n: int) -> Works:
    """Return the t tests of 12 metrics and 4 comparisons."""
    from toplist.stats import difference

    zero, every = np.zeros(n), [*differences(n)] * 12
    return beside(lambda: [difference(d, zero) for d in every], 48 * n)


# The table


def lines() -> Iterator[Line]:
    """Yield the lines of run.toml."""
    for group, rows in table_of(__file__).items():
        for title, row in rows.items():
            sizes, budget = row.pop("n", [100_000]), row.pop("budget", "")
            works = partial(globals()[row.pop("works")], **row)
            for n in sizes if isinstance(sizes, list) else [sizes]:
                yield Line(group, title, works, n, budget)


def measured(line: Line, n: int, rounds: int) -> str:
    """Time the works of a line in turn, and return it with the least of each."""
    works = line.works(n)
    calls = {name: work.call for name, work in works.items()}
    least = {name: timed(call)[0] for name, call in calls.items()}  # which compiles
    if rounds:
        least = dict(zip(calls, best_of(rounds, *calls.values(), patience=60), strict=True))
    seconds, peak = least["toplist"]
    if line.group == "splits":
        tracemalloc.start()
        calls["toplist"]()
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
    timings = {name: work for name, work in works.items() if work.units}
    per_unit = {name: least[name].seconds / work.units for name, work in timings.items()}
    own = per_unit.pop("toplist")
    ns = figure(1e9 * own) if works["toplist"].units > 1 else "-"
    others = [f"{figure(own / other)} x {name}" for name, other in per_unit.items()]
    title = f"{line.group}: {line.title}"
    cells = f"{figure(seconds):>9} s {ns:>8} ns {figure(peak):>8} MB"
    return f"{title:<54}{n:>12,}{cells}  {line.budget:<14}{', '.join(others)}"


def main() -> None:
    """Print the lines asked for, each as soon as it is measured."""
    options = options_of(
        __doc__,
        [line.group for line in lines()],
        size={"type": int, "help": "another size, of users or of rows"},
        smoke={"action": "store_true", "help": "tiny sizes, one round"},
    )
    print(", ".join(f"{name} {version(name)}" for name in ("toplist", "numpy", "numba")))
    print(f"{'':<54}{'size':>12}{'least':>11}{'per unit':>12}{'peak':>12}  budget        x others")
    measured_already = set()  # lines of several sizes, where one is asked for
    for line in lines():
        n = options.size or line.n
        if options.smoke:  # splits have rows enough for their cores
            n = 20_000 if line.group == "splits" else 200
        if line.group in options.names and (line.title, n) not in measured_already:
            measured_already.add((line.title, n))
            print(measured(line, n, 0 if options.smoke else 5), flush=True)


if __name__ == "__main__":
    main()
