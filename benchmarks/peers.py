"""The same work by other libraries, each in its own environment and from its own natural input.

    python benchmarks/peers.py                       # every peer, in temporary environments
    python benchmarks/peers.py ranx --envs envs      # one peer; its environment is kept
    python benchmarks/peers.py toplist ranx --k 10   # another depth
    python benchmarks/peers.py --users 1000 --length 1000   # fewer users, longer lists

The work: mean nDCG@k and MAP@k of the first users of the workload. With k = 100, the length of the
lists, no library can skip part of them, and since no truth is longer the two usual divisors of MAP
agree; so do the printed values. A line is the
whole way to both means from what people hold, named there, whatever the library makes of it first;
lines that are set in are parts of that way. Lines of one name begin at the same objects, for
toplist and for the peer. "first" is the first call in the process, compiling included where no
compiled kernels are kept. "x sum" is the cost per ranked id over that of ``ids.sum()`` on the full
workload in the same process. toplist runs in the interpreter that runs this file.

A peer is one function, which yields steps (a name and a call; the first returns nDCG and MAP), and
one row of PEERS.
"""

import argparse
import json
import math
import platform
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from environments import interpreter, options_of, said
from workload import Workload, best_of, figure, generate, ideal, timed

Steps = Iterator[tuple[str, Callable[[], Any]]]


# What people hold whose ids are text: {query: {doc: score}} beside {query: {doc: grade}}, or lists
# beside sets.
SCORES, LISTS = "dicts of scores and grades", "dicts of lists and sets"
TREC = "TREC run and qrels"


def named_lists(work: Workload) -> tuple[dict[str, list[str]], dict[str, set[str]]]:
    """Return user -> list, and user -> set of relevant ids, all of them strings."""
    run, qrels = work.to_dicts()
    lists = {user: list(scores) for user, scores in run.items()}
    return lists, {user: set(grades) for user, grades in qrels.items()}


@contextmanager
def trec_files(work: Workload) -> Iterator[tuple[str, str]]:
    """Write the dicts as a run and as qrels; yield their paths."""
    run, qrels = work.to_dicts()
    with tempfile.TemporaryDirectory() as folder:
        paths = f"{folder}/lists.run", f"{folder}/truth.qrels"
        with open(paths[0], "w") as file:
            for user, scores in run.items():
                rows = enumerate(scores.items(), 1)
                file.writelines(f"{user} Q0 {item} {r} {score} tag\n" for r, (item, score) in rows)
        with open(paths[1], "w") as file:
            for user, grades in qrels.items():
                file.writelines(f"{user} 0 {item} {grade}\n" for item, grade in grades.items())
        yield paths


def scored(lists: dict[str, list[str]], truths: dict[str, set[str]]) -> tuple[Any, Any]:
    """Return lists and sets as dicts of scores, falling with the rank, and of grades, all 1."""
    run = {user: {item: -rank for rank, item in enumerate(ids)} for user, ids in lists.items()}
    return run, {user: dict.fromkeys(ids, 1) for user, ids in truths.items()}


def toplist(work: Workload, k: int) -> Steps:
    """Yield arrays, lists and sets of ints, dicts of strings, TREC files, and frames."""
    from toplist import top_k_eval
    from toplist.inputs import Lists

    def means(ranks: Any, truths: Any) -> list[float]:
        return list(top_k_eval(ranks, truths, k=k, metrics=["ndcg", "map"]))

    yield "arrays", lambda: means(work.lists, Lists(work.offsets, work.items))
    lists, truths = work.to_python()
    yield "Python lists and sets", lambda: means(lists, truths)
    run, qrels = work.to_dicts()
    yield SCORES, lambda: means(run, qrels)
    named, relevant = named_lists(work)
    yield LISTS, lambda: means(named, relevant)
    with trec_files(work) as paths:
        yield TREC, lambda: means(*paths)
    try:
        import pandas
        import polars
    except ImportError:
        return
    columns = work.to_columns()
    of_pandas = tuple(map(pandas.DataFrame, columns))
    of_polars = tuple(map(polars.DataFrame, columns))
    yield "pandas frames", lambda: means(*of_pandas)
    yield "polars frames", lambda: means(*of_polars)


def rectools(work: Workload, k: int) -> Steps:
    """Yield pandas frames, sorted by user and rank."""
    import pandas
    from rectools.metrics import MAP, NDCG, calc_metrics

    reco, interactions = map(pandas.DataFrame, work.to_columns())
    metrics = {"ndcg": NDCG(k), "map": MAP(k)}

    def means() -> list[float]:
        found = calc_metrics(metrics, reco=reco, interactions=interactions)
        return [found["ndcg"], found["map"]]

    yield "pandas frames", means


def polars(work: Workload, k: int) -> Steps:
    """Yield polars frames, sorted by user and rank: a join and two sums, written by hand."""
    import polars as pl

    reco, relevant = map(pl.DataFrame, work.to_columns())
    ideal = pl.DataFrame(
        {
            "n": np.arange(1, k + 1, dtype=np.uint32),
            "ideal": np.cumsum(1 / np.log2(np.arange(2, k + 2))),
        }
    )
    users = (
        relevant.lazy()
        .group_by("user_id")
        .agg(pl.len().alias("R"))
        .with_columns(pl.min_horizontal("R", pl.lit(k)).cast(pl.UInt32).alias("n"))
        .join(ideal.lazy(), on="n")
    )
    hits = (
        reco.lazy()
        .filter(pl.col("rank") <= k)
        .join(relevant.lazy(), on=["user_id", "item_id"], maintain_order="left")
        .with_columns(pl.col("rank").cum_count().over("user_id").alias("j"))
        .group_by("user_id")
        .agg(
            (1 / (pl.col("rank") + 1).log(2)).sum().alias("dcg"),
            (pl.col("j") / pl.col("rank")).sum().alias("ap"),
        )
    )
    plan = (
        users.join(hits, on="user_id", how="left")
        .fill_null(0.0)
        .select((pl.col("dcg") / pl.col("ideal")).mean(), (pl.col("ap") / pl.col("n")).mean())
    )
    yield "polars frames", lambda: [float(value) for value in plan.collect().row(0)]


def ranx(work: Workload, k: int) -> Steps:
    """Yield dicts, made into Qrels and Run, building and evaluating also apart; lists; frames."""
    import pandas
    from ranx import Qrels, Run, evaluate

    run, qrels = work.to_dicts()
    reco, relevant = map(pandas.DataFrame, work.to_columns())
    for frame in (reco, relevant):  # it asks for texts of dtype object
        for name in ("user_id", "item_id"):
            frame[name] = frame[name].astype(str).astype(object)
    reco["score"], relevant["grade"] = -reco["rank"].astype(float), 1
    keys = {"q_id_col": "user_id", "doc_id_col": "item_id"}
    names = [f"ndcg@{k}", f"map@{k}"]

    def build(run: Any = run, qrels: Any = qrels) -> tuple[Qrels, Run]:
        return Qrels(qrels), Run(run)

    yield SCORES, lambda: list(evaluate(*build(), names).values())
    yield "  build Qrels and Run", build
    named = named_lists(work)
    yield LISTS, lambda: list(evaluate(*build(*scored(*named)), names).values())

    def of_frames() -> list[float]:
        made = (
            Qrels.from_df(relevant, score_col="grade", **keys),
            Run.from_df(reco, score_col="score", **keys),
        )
        return list(evaluate(*made, names).values())

    yield "pandas frames", of_frames


def pytrec_eval(work: Workload, k: int) -> Steps:
    """Yield dicts and TREC files; out come every user's values, of which we take the mean."""
    from pytrec_eval import RelevanceEvaluator, parse_qrel, parse_run

    run, qrels = work.to_dicts()

    def means(run: Any, qrels: Any, *names: str) -> list[float]:
        users = RelevanceEvaluator(qrels, {f"{name}.{k}" for name in names}).evaluate(run).values()
        return [float(np.mean([user[f"{name}_{k}"] for user in users])) for name in names]

    yield SCORES, lambda: means(run, qrels, "ndcg_cut", "map_cut")
    named = named_lists(work)
    yield LISTS, lambda: means(*scored(*named), "ndcg_cut", "map_cut")

    def of_files(run: str, qrels: str) -> list[float]:
        with open(run) as lists, open(qrels) as truth:
            return means(parse_run(lists), parse_qrel(truth), "ndcg_cut", "map_cut")

    with trec_files(work) as paths:
        yield TREC, lambda: of_files(*paths)


def loop(work: Workload, k: int) -> Steps:
    """Yield lists and sets, in a loop over users and ranks, written by hand."""
    ranks, truths = work.to_python()
    best = ideal(k)

    def of_user(rank: list[int], truth: set[int]) -> tuple[float, float]:
        n_hits, dcg, precisions = 0, 0.0, 0.0
        for place, item in enumerate(rank[:k], start=1):
            if item in truth:
                n_hits += 1
                dcg += 1 / math.log2(place + 1)
                precisions += n_hits / place
        n_places = min(k, len(truth))
        return dcg / best[n_places], precisions / n_places

    def means() -> list[float]:
        values = [of_user(*both) for both in zip(ranks, truths, strict=True)]
        return [float(mean) for mean in np.mean(values, axis=0)]

    yield "Python lists and sets", means


class Peer(NamedTuple):
    """How to run a peer: its steps, what to install, and the package whose version is told."""

    steps: Callable[[Workload, int], Steps]
    requirements: tuple[str, ...] = ()  # none: this interpreter, as it is
    package: str = "numpy"


PEERS = {
    "toplist": Peer(toplist, package="toplist"),
    "ranx": Peer(ranx, ("ranx",), "ranx"),
    "rectools": Peer(rectools, ("rectools",), "rectools"),
    "polars": Peer(polars, ("polars", "numpy"), "polars"),
    "pytrec_eval": Peer(pytrec_eval, ("pytrec-eval-terrier", "numpy"), "pytrec-eval-terrier"),
    "loop": Peer(loop, ("numpy",)),
}
LINE = "{:<32}{:>9}{:>11}{:>10}  {}"


def measure(name: str, n_users: int, length: int, k: int) -> list[dict[str, Any]]:
    """Time a peer's steps, inside its own environment."""
    full = generate(10_000_000 // length, length=length)
    work = full.head(n_users)
    lines = []
    for step, call in PEERS[name].steps(work, k):
        first, result = timed(call)
        seconds, reading = best_of(5, call, full.lists.sum, patience=10)
        ns_per_id = 1e9 * seconds / work.lists.size
        per_sum = ns_per_id / (1e9 * reading / full.lists.size)
        lines.append({"step": step, "first": first, "ns_per_id": ns_per_id, "per_sum": per_sum})
        if isinstance(result, list):
            lines[-1]["means"] = result
    return lines


def inside(name: str, n_users: int, length: int, k: int) -> None:
    """Measure a peer and print the lines as JSON, with the versions at work."""
    lines = measure(name, n_users, length, k)
    packages = dict.fromkeys([PEERS[name].package, "numpy"])
    versions = [f"{package} {version(package)}" for package in packages]
    versions.append(f"Python {platform.python_version()}")
    print(json.dumps({"versions": ", ".join(versions), "lines": lines}))


def run(name: str, folder: Path, n_users: int, length: int, k: int) -> list[dict[str, Any]]:
    """Measure a peer in its environment, print the lines and return them."""
    installs = filter(None, [PEERS[name].requirements])
    python = interpreter(folder / name, *installs)
    sizes = "--users", n_users, "--length", length, "--k", k
    report = said(python, __file__, "--inside", name, *sizes)
    print(f"{name}: {report['versions']}")
    for line in report["lines"]:
        figures = [f"{line['first']:.2f} s", *map(figure, (line["ns_per_id"], line["per_sum"]))]
        means = [f"{mean:.6f}" for mean in line.get("means", ())]
        print(LINE.format(f"  {line['step']}", *figures, " ".join(means)), flush=True)
    return report["lines"]


def compare(reports: dict[str, list[dict[str, Any]]]) -> None:
    """Print how long each peer takes beside toplist from the same objects."""
    ours = {line["step"]: line["ns_per_id"] for line in reports.pop("toplist", [])}
    for name, lines in reports.items():
        for line in lines:
            if line["step"] in ours:
                ratio = figure(line["ns_per_id"] / ours[line["step"]])
                print(f"{name} from {line['step']}: {ratio} x as long as toplist from the same")


def main() -> None:
    """Run the peers asked for, one after the other."""
    options = options_of(
        __doc__,
        PEERS,
        envs={"type": Path, "help": "folder to keep the environments in"},
        users={"type": int, "default": 10_000, "help": "users of the workload"},
        length={"type": int, "default": 100, "help": "ids of a list"},
        k={"type": int, "default": 100, "help": "depth of the metrics"},
        inside={"choices": PEERS, "help": argparse.SUPPRESS},
    )
    sizes = options.users, options.length, options.k
    if options.inside:
        return inside(options.inside, *sizes)

    print(LINE.format("", "first", "ns / id", "x sum", f"nDCG and MAP @{options.k}"))
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.envs or Path(temporary)).resolve()
        compare({name: run(name, folder, *sizes) for name in options.names})


if __name__ == "__main__":
    main()
