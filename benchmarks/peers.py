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

A peer is one function of a k and one row of peers.toml. It returns steps by name: calls of lists
and truths in the form that the step is called after, or in that of the step before it. They return
nDCG and MAP, or nothing that counts.
"""

import importlib
import math
import platform
import tempfile
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from environments import called, interpreter, options_of, table_of
from workload import Workload, best_of, figure, generate, ideal, timed

Steps = dict[str, Callable[[Any, Any], Any]]
FOLDER = tempfile.TemporaryDirectory()


# What people hold


def frames(work: Workload, library: str) -> Any:
    """Return two long frames, sorted by user and rank."""
    make = importlib.import_module(library).DataFrame
    return map(make, work.to_columns())


def named_lists(work: Workload) -> tuple[dict[str, list[str]], dict[str, set[str]]]:
    """Return user -> list, and user -> set of relevant ids, all of them strings."""
    run, qrels = work.to_dicts()
    lists = {user: list(scores) for user, scores in run.items()}
    return lists, {user: set(grades) for user, grades in qrels.items()}


def trec_files(work: Workload) -> tuple[str, str]:
    """Write the dicts as a run and as qrels; return their paths."""
    run, qrels = work.to_dicts()
    paths = f"{FOLDER.name}/lists.run", f"{FOLDER.name}/truth.qrels"
    with open(paths[0], "w") as file:
        for user, scores in run.items():
            rows = enumerate(scores.items(), 1)
            file.writelines(f"{user} Q0 {item} {r} {score} tag\n" for r, (item, score) in rows)
    with open(paths[1], "w") as file:
        for user, grades in qrels.items():
            file.writelines(f"{user} 0 {item} {grade}\n" for item, grade in grades.items())
    return paths


INTEGERS, PANDAS, POLARS = "Python lists and sets", "pandas frames", "polars frames"
# Those whose ids are text: {query: {doc: score}} and {query: {doc: grade}}, or lists and sets.
SCORES, LISTS, TREC = "dicts of scores and grades", "dicts of lists and sets", "TREC run and qrels"
FORMS: dict[str, Callable[[Workload], Any]] = {
    "arrays": lambda work: (work.lists, (work.offsets, work.items)),
    INTEGERS: Workload.to_python,
    SCORES: Workload.to_dicts,
    LISTS: named_lists,
    TREC: trec_files,
    PANDAS: partial(frames, library="pandas"),
    POLARS: partial(frames, library="polars"),
}


def scored(lists: dict[str, list[str]], truths: dict[str, set[str]]) -> tuple[Any, Any]:
    """Return lists and sets as dicts of scores, falling with the rank, and of grades, all 1."""
    run = {user: {item: -rank for rank, item in enumerate(ids)} for user, ids in lists.items()}
    return run, {user: dict.fromkeys(ids, 1) for user, ids in truths.items()}


# The peers


def toplist(k: int) -> Steps:
    """Evaluate all forms."""
    from toplist import top_k_eval
    from toplist.inputs import Lists

    def means(ranks: Any, truths: Any) -> list[float]:
        return list(top_k_eval(ranks, truths, k=k, metrics=["ndcg", "map"]))

    def of_arrays(lists: Any, truths: Any) -> list[float]:
        return means(lists, Lists(*truths))

    absent = [form for form in (PANDAS, POLARS) if find_spec(form.split()[0]) is None]
    return {form: means for form in FORMS if form not in absent} | {"arrays": of_arrays}


def rectools(k: int) -> Steps:
    """Evaluate pandas frames."""
    from rectools.metrics import MAP, NDCG, calc_metrics

    def means(reco: Any, interactions: Any) -> list[float]:
        metrics = {"ndcg": NDCG(k), "map": MAP(k)}
        found = calc_metrics(metrics, reco=reco, interactions=interactions)
        return [found["ndcg"], found["map"]]

    return {PANDAS: means}


def polars(k: int) -> Steps:
    """Evaluate polars frames: a join and two sums, written by hand."""
    import polars as pl

    def means(reco: Any, relevant: Any) -> list[float]:
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
        users = relevant.lazy().group_by("user_id").agg(pl.len().clip(upper_bound=k).alias("n"))
        found = users.join(hits, on="user_id", how="left").collect()
        n, dcg, ap = (found[name].fill_null(0).to_numpy() for name in ("n", "dcg", "ap"))
        return [float(mean) for mean in ((dcg / ideal(k)[n]).mean(), (ap / n).mean())]

    return {POLARS: means}


def ranx(k: int) -> Steps:
    """Evaluate dicts, made into Qrels and Run, building also apart; lists; frames."""
    from ranx import Qrels, Run, evaluate

    def build(run: Any, qrels: Any) -> tuple[Qrels, Run]:
        return Qrels(qrels), Run(run)

    def means(*made: Any) -> list[float]:
        return list(evaluate(*made, [f"ndcg@{k}", f"map@{k}"]).values())

    def of_frames(reco: Any, relevant: Any) -> list[float]:
        keys = {"q_id_col": "user_id", "doc_id_col": "item_id"}
        run = Run.from_df(reco, score_col="score", **keys)
        return means(Qrels.from_df(relevant, score_col="grade", **keys), run)

    return {
        SCORES: lambda run, qrels: means(*build(run, qrels)),
        "  build Qrels and Run": build,
        LISTS: lambda lists, truths: means(*build(*scored(lists, truths))),
        PANDAS: of_frames,
    }


def text_with_scores(reco: Any, relevant: Any) -> tuple[Any, Any]:
    """Return the frames that ranx asks for: texts of dtype object, scores and grades."""
    for frame in (reco, relevant):
        for name in ("user_id", "item_id"):
            frame[name] = frame[name].astype(str).astype(object)
    reco["score"], relevant["grade"] = -reco["rank"].astype(float), 1
    return reco, relevant


def pytrec_eval(k: int) -> Steps:
    """Evaluate dicts and TREC files; out come every user's values, of which we take the mean."""
    from pytrec_eval import RelevanceEvaluator, parse_qrel, parse_run

    names = "ndcg_cut", "map_cut"

    def means(run: Any, qrels: Any) -> list[float]:
        users = RelevanceEvaluator(qrels, {f"{name}.{k}" for name in names}).evaluate(run).values()
        return [float(np.mean([user[f"{name}_{k}"] for user in users])) for name in names]

    def of_files(run: str, qrels: str) -> list[float]:
        with open(run) as lists, open(qrels) as truth:
            return means(parse_run(lists), parse_qrel(truth))

    return {SCORES: means, LISTS: lambda *given: means(*scored(*given)), TREC: of_files}


def loop(k: int) -> Steps:
    """Evaluate lists and sets in a loop over users and ranks, written by hand."""
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

    def means(ranks: list[list[int]], truths: list[set[int]]) -> list[float]:
        values = [of_user(*both) for both in zip(ranks, truths, strict=True)]
        return [float(mean) for mean in np.mean(values, axis=0)]

    return {INTEGERS: means}


PEERS = table_of(__file__)
# What is made of a form before time is taken.
PREPARED = {("ranx", PANDAS): text_with_scores}
LINE = "{:<32}{:>9}{:>11}{:>10}  {}"


def measure(name: str, n_users: int, length: int, k: int) -> dict[str, Any]:
    """Time a peer's steps, inside its own environment; tell the versions at work."""
    full = generate(10_000_000 // length, length=length)
    work, lines = full.head(n_users), []
    for step, call in globals()[name](k).items():
        if step in FORMS:
            given = [*FORMS[step](work)]
        if (name, step) in PREPARED:
            given = PREPARED[name, step](*given)
        timed_call = partial(call, *given)
        first, result = timed(timed_call)
        own, reading = best_of(5, timed_call, full.lists.sum, patience=10)
        per_id, of_sum = own.seconds / work.lists.size, reading.seconds / full.lists.size
        figures = {"first": first.seconds, "ns_per_id": 1e9 * per_id, "per_sum": per_id / of_sum}
        lines.append({"step": step, **figures})
        if isinstance(result, list):
            lines[-1]["means"] = result
    packages = dict.fromkeys([PEERS[name]["package"], "numpy"])
    versions = [f"{package} {version(package)}" for package in packages]
    versions.append(f"Python {platform.python_version()}")
    return {"versions": ", ".join(versions), "lines": lines}


def run(name: str, folder: Path, *sizes: int) -> list[dict[str, Any]]:
    """Measure a peer in its environment, print the lines and return them."""
    python = interpreter(folder / name, *PEERS[name]["installs"])
    report = called(python, __file__, "measure", name, *sizes)
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
    )
    sizes = options.users, options.length, options.k
    print(LINE.format("", "first", "ns / id", "x sum", f"nDCG and MAP @{options.k}"))
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.envs or Path(temporary)).resolve()
        compare({name: run(name, folder, *sizes) for name in options.names})


if __name__ == "__main__":
    main()
