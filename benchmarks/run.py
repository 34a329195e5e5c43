"""Measure every budget of toplist and print one line for each.

    python benchmarks/run.py                              # all lines, some minutes
    python benchmarks/run.py --only arrays-raise memory   # these lines alone
    python benchmarks/run.py --smoke                      # tiny sizes: does everything still run?

toplist must be installed for the interpreter that runs this (``pip install -e .``). A slow line is
printed like any other; only an error ends with a non-zero exit code. "full check" looks for every
repeated id (duplicates="raise"), "first" needs not (duplicates="first"). "x sum" is a multiple of
``ids.sum()``; cost per id counts the ranked ids, not those of the truths.
"""

import argparse
import math
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from functools import lru_cache, partial
from importlib.metadata import version
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from timing import Measured, best_of, figure
from workload import Workload, generate

import toplist as tl

METRICS = ["hit", "precision", "recall", "map", "ndcg", "mrr"]
EXAMPLE = """
import toplist as tl
tl.top_k_eval([[5, 7, 8, 9, 3], [4, 6, 2, 1, 10]], [[7, 3, 5], [4, 2, 8, 7]], k=3)
"""
TREC_EXAMPLE = """
import tempfile
from pathlib import Path
import toplist as tl
with tempfile.TemporaryDirectory() as folder:
    run, qrels = Path(folder, "run.txt"), Path(folder, "qrels.txt")
    run.write_text("".join(f"q{r // 99} Q0 FR940104-0-{r} 1 {500 - r}.5 a\\n" for r in range(500)))
    qrels.write_text("".join(f"q{r // 99} 0 FR940104-0-{r} {r % 4}\\n" for r in range(0, 600, 7)))
    tl.top_k_eval(str(run), str(qrels), k=10)
"""
SMOKE_USERS = 200

# One workload at a time: the largest takes 800 MB, and lines on the same one follow each other.
workload = lru_cache(maxsize=1)(generate)


class Size(NamedTuple):
    """How much to run: users in the workload, rounds per timing."""

    n_users: int
    repeats: int


def curves(work: Workload, truths: Any, duplicates: str) -> list:
    """Return mean and deviation of the six metrics at every k, from arrays."""
    k = work.lists.shape[1]
    options = {"metrics": METRICS, "duplicates": duplicates, "n_threads": 2}
    result = tl.top_k_eval(work.lists, truths, k=k, **options)
    return [(result[name], result.std(name)) for name in METRICS]


def beside_sum(call: Callable[[], Any], work: Workload, repeats: int) -> Measured:
    """Measure a call as a multiple of reading its ids once."""
    seconds, reading = best_of(repeats, call, work.lists.sum)
    return cost(seconds / reading, seconds, reading, work)


def cost(value: float, seconds: float, reading: float, work: Workload) -> Measured:
    """Return a figure together with the cost per id behind it."""
    return Measured(value, seconds / reading, 1e9 * seconds / work.lists.size)


def arrays(size: Size, duplicates: str) -> Measured:
    """Measure arrays in, means and deviations of six metrics at every k out."""
    import toplist as tl

    work = workload(size.n_users)
    return beside_sum(
        lambda: curves(work, tl.inputs.Lists(work.offsets, work.items), duplicates),
        work,
        size.repeats,
    )


def one_each(size: Size, duplicates: str) -> Measured:
    """Measure the same in leave-one-out: every user has one relevant id."""
    work = workload(size.n_users, mean_relevant=1)
    return beside_sum(lambda: curves(work, work.items, duplicates), work, size.repeats)


def per_user(size: Size) -> Measured:
    """Measure arrays in, one metric of every user at every k out."""
    import toplist as tl

    work = workload(size.n_users)

    def call() -> np.ndarray:
        truths = tl.inputs.Lists(work.offsets, work.items)
        return tl.ndcg(work.lists, truths, duplicates="first", n_threads=2)

    return beside_sum(call, work, size.repeats)


def python_ints(size: Size) -> Measured:
    """Measure lists and sets of ints in, against ``np.fromiter`` over the ids of both."""
    import toplist as tl

    work = workload(size.n_users)
    lists, truths = work.to_python()
    seconds, converting, reading = best_of(
        size.repeats,
        lambda: tl.top_k_eval(lists, truths, k=work.lists.shape[1]),
        lambda: np.fromiter(chain.from_iterable(chain(lists, truths)), np.int64),
        work.lists.sum,
    )
    return cost(seconds / converting, seconds, reading, work)


def strings(size: Size) -> Measured:
    """Measure lists and sets of strings in, new ones each time: a string keeps its hash."""
    import toplist as tl

    work = workload(size.n_users)
    fresh: list[tuple] = []

    def renew() -> None:
        fresh.clear()
        fresh.append(work.to_strings())

    _, seconds, reading = best_of(
        size.repeats,
        renew,
        lambda: tl.top_k_eval(*fresh[0], k=work.lists.shape[1]),
        work.lists.sum,
        patience=60,
    )
    return cost(1e9 * seconds / work.lists.size, seconds, reading, work)


def process(*command: str, cache: str | None = None) -> str:
    """Run a command to its end, with its own folder of compiled kernels if one is given."""
    env = os.environ | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    return subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, text=True).stdout


def python(code: str, *arguments: str, cache: str | None = None) -> str:
    """Run code in a fresh interpreter, by the installed packages (-P), and return its output."""
    return process(sys.executable, "-P", "-c", code, *arguments, cache=cache)


def cold(size: Size, cached: bool, code: str = EXAMPLE) -> Measured:
    """Measure a whole process that evaluates an example."""
    with tempfile.TemporaryDirectory() as folder:
        if cached:
            python(code, cache=folder)
            return Measured(best_of(size.repeats, lambda: python(code, cache=folder))[0])
        empty = (tempfile.mkdtemp(dir=folder) for _ in range(size.repeats))
        return Measured(best_of(size.repeats, lambda: python(code, cache=next(empty)))[0])


def importing(size: Size) -> Measured:
    """Measure what ``import toplist`` adds to ``import numpy``."""
    subject, numpy = best_of(
        3 * size.repeats, lambda: python("import toplist"), lambda: python("import numpy")
    )
    return Measured(subject - numpy)


def help_page(size: Size) -> Measured:
    """Measure the command line's help, interpreter included."""
    command = shutil.which("toplist", path=sysconfig.get_path("scripts"))
    if command is None:
        raise FileNotFoundError("no toplist command beside this interpreter: pip install -e .")
    return Measured(best_of(3 * size.repeats, lambda: process(command, "--help"))[0])


MEMORY = """
import sys
import numpy as np
import toplist as tl

def kilobytes(field):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field))

def evaluate(lists, offsets, items):
    return tl.top_k_eval(lists, tl.inputs.Lists(offsets, items), k=lists.shape[1], n_threads=2)

lists, offsets, items = map(np.load, sys.argv[1:])
evaluate(lists[:2], offsets[:3], items[:offsets[2]])   # kernels are compiled or loaded here
with open("/proc/self/clear_refs", "w") as reset:
    reset.write("5")                                   # the peak starts again from the present size
before = kilobytes("VmRSS")
evaluate(lists, offsets, items)
print(kilobytes("VmHWM") - before)
"""


def memory(size: Size) -> Measured:
    """Measure the growth of a process's peak memory, as a share of the ids' bytes; Linux only.

    Its own process reads the arrays from files, so that no memory freed before the call serves the
    call unseen. ``VmHWM``, since ``ru_maxrss`` of a child starts at the peak of its parent.
    """
    if sys.platform != "linux":
        return Measured(math.nan)
    work = workload(size.n_users)
    with tempfile.TemporaryDirectory() as folder:
        files = [os.path.join(folder, f"{name}.npy") for name in vars(work)]
        for file, array in zip(files, vars(work).values(), strict=True):
            np.save(file, array)
        return Measured(1024 * int(python(MEMORY, *files)) / work.lists.nbytes)


def frame(size: Size, shuffled: bool) -> Measured:
    """Measure a long table with scores in, six metrics at every k out, per row of the table."""
    import toplist as tl

    work = workload(size.n_users)
    n_users, length = work.lists.shape
    order = np.arange(work.lists.size)
    if shuffled:
        order = np.random.default_rng(0).permutation(order)
    ranks = long_table(
        user_id=np.repeat(np.arange(n_users), length)[order],
        item_id=work.lists.reshape(-1)[order],
        score=np.tile(-np.arange(float(length)), n_users)[order],
    )
    users = np.repeat(np.arange(n_users), np.diff(work.offsets))
    truths = long_table(user_id=users, item_id=work.items)
    call = partial(tl.top_k_eval, ranks, truths, length, metrics=METRICS, n_threads=2)
    seconds, reading = best_of(size.repeats, call, work.lists.sum)
    return cost(1e9 * seconds / work.lists.size, seconds, reading, work)


def checkpoint(size: Size, text: bool) -> Measured:
    """Measure lists of one item of a table, beside ground truths that are kept, against reading."""
    import toplist as tl
    from toplist.inputs.tables import lists_of

    rng, n = np.random.default_rng(0), size.n_users
    users, items = rng.permutation(n), rng.integers(0, 50_000, (4, n))
    if text:
        users, items = (
            np.char.add("id-", some.astype(str)).astype(object) for some in (users, items)
        )
    order = rng.permutation(n)
    ranks = long_table(user_id=users[order], item_id=items[0], rank=np.ones(n, int))
    truths = long_table(user_id=np.tile(users, 3), item_id=items[1:].ravel())
    kept = tl.GroundTruths(truths)
    seconds, reading = best_of(
        size.repeats,
        partial(tl.top_k_eval, ranks, kept, 1, metrics=["hit", "ndcg"]),
        partial(lists_of, ranks, "ranks", None, known=kept.texts),
    )
    return Measured(seconds / reading, math.nan, 1e9 * seconds / n)


def long_table(**columns: np.ndarray) -> Any:
    """Return a pandas frame."""
    import pandas

    return pandas.DataFrame(columns)


def selecting(size: Size) -> Measured:
    """Measure the top 100 of 50,000 scores per user, against numpy's argpartition and argsort."""
    import toplist as tl

    scores = np.random.default_rng(0).standard_normal((size.n_users, 50_000), dtype=np.float32)

    def by_numpy() -> Any:
        best = np.argpartition(-scores, 100, axis=1)[:, :100]
        order = np.argsort(-np.take_along_axis(scores, best, 1), axis=1)
        return np.take_along_axis(best, order, 1)

    seconds, other = best_of(size.repeats, partial(tl.scores.top_k, scores, 100), by_numpy)
    return Measured(seconds / other, math.nan, 1e9 * seconds / scores.size)


class Budget(NamedTuple):
    """One line: what is measured, how, in which unit, and the most it should be."""

    title: str
    measure: Callable[[Size], Measured]
    unit: str
    budget: float
    stretch: float = math.nan
    n_users: int = 100_000
    repeats: int = 7


BUDGETS = {
    "arrays-raise": Budget(
        "arrays, full check", partial(arrays, duplicates="raise"), "x sum", 5.5, 4
    ),
    "arrays-first": Budget('arrays, "first"', partial(arrays, duplicates="first"), "x sum", 5.2, 4),
    "per-user": Budget("ndcg of each user at every k", per_user, "x sum", 12, 8),
    "memory": Budget("extra memory on arrays", memory, "of the ids", 0.25),
    "ints": Budget("lists and sets of Python ints", python_ints, "x fromiter", 2, 1.5, repeats=3),
    "strings": Budget("lists and sets of strings", strings, "ns per id", 150, 70, repeats=3),
    "frame-sorted": Budget(
        "frame with scores, sorted", partial(frame, shuffled=False), "ns per row", 15, 8, repeats=3
    ),
    "frame-shuffled": Budget(
        "frame with scores, shuffled",
        partial(frame, shuffled=True),
        "ns per row",
        120,
        60,
        repeats=3,
    ),
    "checkpoint-text": Budget(
        "a checkpoint, kept truths, text",
        partial(checkpoint, text=True),
        "x reading",
        1.2,
        n_users=300_000,
    ),
    "checkpoint": Budget(
        "the same, integers", partial(checkpoint, text=False), "x reading", 1.2, n_users=300_000
    ),
    "top-k": Budget(
        "top 100 of 50,000 scores", selecting, "x numpy", math.nan, n_users=1_000, repeats=3
    ),
    "loo-raise": Budget(
        "leave-one-out, full check", partial(one_each, duplicates="raise"), "x sum", 2.7, 2, 10**6
    ),
    "loo-first": Budget(
        'leave-one-out, "first"', partial(one_each, duplicates="first"), "x sum", 2.3, 1.5, 10**6
    ),
    "cold": Budget("new process, kernels not cached", partial(cold, cached=False), "s", 3, 2),
    "cold-trec": Budget(
        "the same, graded run of TREC", partial(cold, cached=False, code=TREC_EXAMPLE), "s", 4
    ),
    "cached": Budget("new process, kernels cached", partial(cold, cached=True), "s", 0.9, 0.6),
    "import": Budget("import toplist, over numpy", importing, "s", 0.05),
    "help": Budget("toplist --help", help_page, "s", 0.25),
}

LINE = "{:<37}{:>8} {:<11}{:>9}{:>10}{:>8}{:>9}"


def line(name: str, smoke: bool) -> str:
    """Measure one budget and return its printed line."""
    title, measure, unit, budget, stretch, n_users, repeats = BUDGETS[name]
    size = Size(SMOKE_USERS, 1) if smoke else Size(n_users, repeats)
    figures = [figure(value) for value in (*measure(size), budget, stretch)]
    return LINE.format(title, figures[0], unit, *figures[1:])


def main() -> None:
    """Print the lines asked for, each as soon as it is measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, one round, a few seconds")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=BUDGETS, default=BUDGETS)
    options = parser.parse_args()
    print(", ".join(f"{package} {version(package)}" for package in ("toplist", "numpy", "numba")))
    print(LINE.format("", "measured", "", "x sum", "ns / id", "budget", "stretch"))
    for name in options.only:
        print(line(name, options.smoke), flush=True)


if __name__ == "__main__":
    main()
