"""`toplist.spark` beside the Spark evaluators of RePlay and recommenders, on 1,000,000 rows.

    python benchmarks/spark.py                         # all three, in temporary environments
    python benchmarks/spark.py replay --envs envs      # toplist and one peer; it is kept
    python benchmarks/spark.py --memory                # the largest worker at 1 x and 10 x the data
    python benchmarks/spark.py --smoke                 # toplist alone on little, checked

The work: 20,000 users with lists of 50 items, of whom 3 % have no list and 2 % no truth, as two
Parquet files. toplist gives six metrics at every k up to 50, a peer its own metrics at one k. Each
program runs in a process of its own, with one Spark and the same settings. "cold" is the first
evaluation of a fresh session, "warm" the least of some more, and "CPU" the least that all processes
used in one of these: on a busy machine it says more than wall time. "jobs" are Spark's jobs of one
evaluation; "memory" adds up the peaks of all processes: JVM, Python driver and workers, whose
shared pages count in each.

Below the table: the largest difference between the means of a peer and those of toplist under the
convention of that peer, and what this convention changes. Means of toplist must be those of a local
run to the last bit, else the exit code is 1. toplist runs in the interpreter that runs this file,
which needs pyspark, pandas and pyarrow; Java must be there, and Linux, whose /proc is read.
"""

import os
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from environments import called, interpreter, options_of, table_of
from workload import best_of, generate, timed

USERS, LENGTH, PARTITIONS = 20_000, 50, 8
SIDES = "recs", "truth"
SETTINGS = {
    "spark.driver.memory": "2g",
    "spark.sql.shuffle.partitions": str(PARTITIONS),
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
Means = dict[str, float]


# The data


def write(folder: Path, n_users: int) -> Path:
    """Write lists by rank and relevant items as Parquet files of some row groups, in no order."""
    import pyarrow
    import pyarrow.parquet

    work = generate(n_users, length=LENGTH, mean_relevant=10, n_items=20_000, wide=False)
    rng = np.random.default_rng(0)
    lacking = [rng.permutation(n_users)[: n_users * percent // 100] for percent in (3, 2)]
    for name, table, without in zip(SIDES, work.to_columns(), lacking, strict=True):
        order = rng.permutation(np.flatnonzero(~np.isin(table["user_id"], without)))
        rows = pyarrow.table({column: values[order] for column, values in table.items()})
        path, size = folder / f"{name}.parquet", len(rows) // PARTITIONS + 1
        pyarrow.parquet.write_table(rows, path, row_group_size=size)
    return folder


# The programs: two frames of Spark and a k in, means out


def toplist(recs: Any, truth: Any, k: int, **options: Any) -> Means:
    """Return six metrics at every k up to 50, by "ndcg@10"."""
    import toplist as tl

    recs = tl.spark.Ranks(recs, partitions=PARTITIONS)
    result = tl.top_k_eval(recs, truth, [*range(1, LENGTH + 1)], **options)
    return result.to_dict()


def replay(recs: Any, truth: Any, k: int) -> Means:
    """Return RePlay's six metrics."""
    from replay import metrics as theirs

    classes = {"hit": "HitRate", "precision": "Precision", "recall": "Recall", "map": "MAP"}
    classes |= {"ndcg": "NDCG", "mrr": "MRR"}
    asked = [getattr(theirs, name)(k) for name in classes.values()]
    names = {"query_column": "user_id", "item_column": "item_id", "rating_column": "rating"}
    scored = recs.select("user_id", "item_id", (-recs["rank"]).cast("double").alias("rating"))
    found = theirs.OfflineMetrics(asked, **names)(scored, truth)
    return {f"{ours}@{k}": float(found[f"{name}@{k}"]) for ours, name in classes.items()}


def recommenders(recs: Any, truth: Any, k: int) -> Means:
    """Return the four metrics that recommenders has at k."""
    from pyspark.sql import functions as F
    from recommenders.evaluation.spark_evaluation import SparkRankingEvaluation

    names = {"col_user": "user_id", "col_item": "item_id", "col_rating": "rating"}
    scored = recs.select("user_id", "item_id", (-recs["rank"]).cast("double").alias("prediction"))
    graded = truth.withColumn("rating", F.lit(1.0))
    found = SparkRankingEvaluation(graded, scored, k=k, **names, col_prediction="prediction")
    means = {"precision": found.precision_at_k(), "recall": found.recall_at_k()}
    means |= {"map_at_k": found.map_at_k(), "ndcg": found.ndcg_at_k()}
    return {f"{name}@{k}": float(value) for name, value in means.items()}


PROGRAMS = table_of(__file__)


# Measured in a process of its own


def descendants(root: int) -> list[dict[str, str]]:
    """Return what /proc says of a process, first, and of all below it."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = [line.split() for line in path.read_text().splitlines()]
        except OSError:  # it has ended
            continue
        words = {line[0].rstrip(":"): line[1] for line in lines if len(line) > 1}
        if "VmHWM" in words:
            found[words["Pid"]] = words
    tree = [found[str(root)]]
    for parent in tree:
        tree += [one for one in found.values() if one["PPid"] == parent["Pid"]]
    return tree


def peak_of(process: dict[str, str]) -> float:
    """Return the most memory that a process has had, in GB."""
    return int(process["VmHWM"]) / 1e6


def cpu_seconds() -> float:
    """Return the CPU time that this process and all below it have used."""
    ticks = 0
    for one in descendants(os.getpid()):
        with suppress(OSError):  # it has ended
            stat = Path("/proc", one["Pid"], "stat").read_text()
            ticks += sum(map(int, stat.rpartition(")")[2].split()[11:15]))  # its children's too
    return ticks / os.sysconf("SC_CLK_TCK")


def inside(name: str, data: str, k: int, rounds: int) -> dict[str, Any]:
    """Measure a program and return the figures, with the versions at work."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = SparkSession.builder.master("local[2]").config(map=SETTINGS).getOrCreate()
    context = spark.sparkContext
    context.setLogLevel("ERROR")
    recs, truth = (spark.read.parquet(f"{data}/{one}.parquet") for one in SIDES)
    program, cpu = globals()[name], []

    def again() -> None:
        start = cpu_seconds()
        program(recs, truth, k)
        cpu.append(cpu_seconds() - start)

    context.setJobGroup("cold", "")
    cold, means = timed(lambda: program(recs, truth, k))
    jobs = len(context.statusTracker().getJobIdsForGroup("cold"))
    context.setJobGroup("warm", "")
    (warm,) = best_of(rounds, again, patience=120)
    figures = {"cold": cold.seconds, "warm": warm.seconds, "cpu": min(cpu), "jobs": jobs}
    driver, *others = descendants(os.getpid())
    figures["total"] = sum(peak_of(one) for one in (driver, *others))
    workers = [peak_of(one) for one in others if one["Name"].startswith("python")]
    figures["worker"] = max(workers, default=0.0)
    under = conventions(recs, truth, k) if name == "toplist" else {}
    spark.stop()
    versions = {"version": version(PROGRAMS[name]["package"]), "pyspark": version("pyspark")}
    return {**figures, **versions, "means": means, "under": under}


def conventions(recs: Any, truth: Any, k: int) -> dict[str, Means]:
    """Return the means of toplist on Spark under the convention of each peer."""
    from toplist import CONVENTIONS

    asked = {one["convention"] for one in PROGRAMS.values() if one["installs"]}
    return {
        name: toplist(recs, truth, k, convention=name, metrics=list(CONVENTIONS[name].metrics))
        for name in asked
    }


# Side by side


def measure(name: str, data: Path, envs: Path, k: int, rounds: int) -> dict[str, Any]:
    """Measure a program in its environment."""
    installs = PROGRAMS[name]["installs"]
    if installs:
        installs = [*installs, [f"pyspark=={version('pyspark')}", "setuptools<82"]]
    python = interpreter(envs / name, *installs)
    return called(python, __file__, "inside", name, data, k, rounds)


def check(means: Mapping[str, float], data: Path) -> None:
    """End the run with exit code 1 where means are not those of a local run, bit for bit."""
    import pyarrow.parquet

    import toplist as tl

    tables = (pyarrow.parquet.read_table(data / f"{one}.parquet") for one in SIDES)
    local = tl.top_k_eval(*tables, [*range(1, LENGTH + 1)]).to_dict()
    if means != local:
        wrong = next(name for name in local if means.get(name) != local[name])
        raise SystemExit(f"{wrong} is {means.get(wrong)!r}, and {local[wrong]!r} in a local run")
    print(f"toplist: {len(local)} means, all bit for bit those of a local run")


def table(reports: Mapping[str, dict[str, Any]], k: int) -> None:
    """Print the table for README."""
    print("\n| | what | cold | warm | CPU | jobs | memory |")
    print("| --- " * 7 + "|")
    for name, one in reports.items():
        what, seconds = (
            PROGRAMS[name]["work"].format(k=k),
            f"{one['cold']:.1f} s | {one['warm']:.1f}",
        )
        cells = f"{what} | {seconds} s | {one['cpu']:.1f} s | {one['jobs']} | {one['total']:.1f} GB"
        print(f"| {name} {one['version']} | {cells} |")
    print()


def agreement(name: str, theirs: Means, ours: dict[str, Any]) -> None:
    """Print by how much a peer's means differ from toplist's under its convention, and why."""
    convention, stated = PROGRAMS[name]["convention"], PROGRAMS[name]["stated"]
    under, standard = ours["under"][convention], ours["means"]
    largest = max(abs(value - under[metric]) for metric, value in theirs.items())
    print(f"{name}: within {largest:.1e} of toplist under the convention {convention!r}")
    apart = [
        f"{metric} {value:.4f} ({standard[metric]:.4f})"
        for metric, value in theirs.items()
        if metric in standard and abs(value - standard[metric]) > 1e-9
    ]
    if apart:
        print(f"  not the standard (in brackets): {', '.join(apart)}: {stated}")


def side_by_side(names: list[str], data: Path, envs: Path, k: int, rounds: int) -> None:
    """Measure toplist and peers, and print what was found."""
    reports = {name: measure(name, data, envs, k, rounds) for name in names}
    check(reports["toplist"]["means"], data)
    settings = ", ".join(f"{name}={value}" for name, value in SETTINGS.items())
    print(f"Spark {reports['toplist']['pyspark']}, local[2], {settings}")
    table(reports, k)
    for name in names[1:]:
        agreement(name, reports[name]["means"], reports["toplist"])


def memory(folder: Path, k: int) -> None:
    """Print the peak of the largest worker, at 1 x and 10 x the data in as many partitions."""
    for times in (1, 10):
        data = folder / str(times)
        data.mkdir()
        found = measure("toplist", write(data, times * USERS), folder, k, 1)
        print(
            f"{times:>3} x, {times * USERS:>7,} users in {PARTITIONS} partitions: "
            f"largest worker {found['worker']:.2f} GB, all processes {found['total']:.1f} GB, "
            f"warm {found['warm']:.1f} s",
            flush=True,
        )


def main() -> None:
    """Run what was asked for."""
    options = options_of(
        __doc__,
        PROGRAMS,
        envs={"type": Path, "help": "folder to keep the environments in"},
        users={"type": int, "default": USERS, "help": "users of the data"},
        k={"type": int, "default": 10, "help": "depth of the peers' metrics"},
        rounds={"type": int, "default": 5, "help": "warm evaluations"},
        memory={"action": "store_true", "help": "the largest worker instead"},
        smoke={"action": "store_true", "help": "toplist alone, on 200 users"},
    )
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        envs = (options.envs or folder / "envs").resolve()
        if options.memory:
            return memory(folder, options.k)
        if options.smoke:
            return side_by_side(["toplist"], write(folder, 200), envs, options.k, 1)
        names = list(dict.fromkeys(["toplist", *options.names]))
        side_by_side(names, write(folder, options.users), envs, options.k, options.rounds)


if __name__ == "__main__":
    main()
