"""Tests of the difference of systems beside a loop of numpy, scipy, and ranx where it is installed.

    python benchmarks/inference.py                   # all lines, two minutes
    python benchmarks/inference.py --only flips band # these lines alone
    python benchmarks/inference.py --smoke           # tiny sizes: does everything still run?

Values of users are made up: three of four users do not differ. The work of a line is counted in
units, such as users times flips, and so is that of what stands beside it, which is given less of
it where it would take minutes. A ratio is that of the times per unit. One thread, but for lines
that say two; numpy's own threads are as they are. Goals in seconds are those of the specification
(2 shared cores).
"""

import argparse
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from timing import best_of, figure

K = 100
SYSTEMS = 5
# A bootstrap takes one less.
FLIPS = 10_000


class Work(NamedTuple):
    """A call, and how many units it does."""

    call: Callable[[], Any]
    units: float


class Line(NamedTuple):
    """One line: what is timed and what stands beside it, given a number of users."""

    title: str
    n_users: int
    goal: float
    own: Callable[[int], Work]
    beside: dict[str, Callable[[int], Work]]


def systems(n: int) -> np.ndarray:
    """Return the values (SYSTEMS, n) of users; a quarter of them differ from the first system."""
    rng = np.random.default_rng(7)
    base = rng.random(n)
    others = 0.75 * base + 0.25 * rng.random((SYSTEMS - 1, n))
    return np.vstack([base, np.where(rng.random((SYSTEMS - 1, n)) < 0.25, others, base)])


def pair(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of the first two systems."""
    a, b = systems(n)[:2]
    return a, b


def difference(n: int) -> np.ndarray:
    """Return the differences of these two."""
    from toplist.stats.units import snap

    return snap(*pair(n))


def curves(n_systems: int) -> Callable[[int, int], np.ndarray]:
    """Return what makes differences over k of users from the first to the last, by blocks.

    Curves of 65,536 users are made once and used again, as a million of them need gigabytes.
    """
    from toplist.stats.units import snap

    rng = np.random.default_rng(7)
    n = 1 << 16
    made = [
        (rng.random((n, K)) < 0.02).cumsum(axis=1) / (1 + np.arange(K)) for _ in range(n_systems)
    ]

    def fill(first: int, last: int) -> np.ndarray:
        rows = slice(first % (n - 4096), first % (n - 4096) + last - first)
        return np.hstack([snap(made[i][rows], made[0][rows]) for i in range(1, n_systems)])

    return fill


# ---- toplist


def flips(n: int, n_columns: int = 1, n_threads: int = 1) -> Work:
    """Return sign flips of one difference, or of several jointly."""
    from toplist.stats.randomization import randomization
    from toplist.stats.simultaneous import maxt_flips
    from toplist.stats.units import snap

    options = {"n_resamples": FLIPS, "n_threads": n_threads}
    values = systems(n)
    columns = [snap(values[i], values[0]) for i in range(1, n_columns + 1)]
    call = partial(randomization, columns[0]) if n_columns == 1 else partial(maxt_flips, columns)
    return Work(partial(call, **options), float(n) * n_columns * FLIPS)


def band(n: int, n_systems: int = 2, n_threads: int = 1) -> Work:
    """Return one pass over users, then the band of each system, and MaxT over all if many."""
    from toplist.stats.estimates import Sums
    from toplist.stats.simultaneous import band as banded
    from toplist.stats.simultaneous import maxt_t

    fill, n_columns = curves(n_systems), K * (n_systems - 1)

    def call() -> None:
        found = Sums.over(fill, n, n_columns, n_threads).estimate
        for first in range(0, n_columns, K):
            banded(found.at(np.arange(first, first + K)), n_threads=n_threads)
        if n_systems > 2:
            maxt_t(found, n_threads=n_threads)

    return Work(call, float(n) * n_columns)


def curve_flips(n: int) -> Work:
    """Return joint flips of every column, where draws of t say the same in a hundredth."""
    from toplist.stats.simultaneous import maxt_flips

    columns = curves(2)(0, min(n, 4096)).T
    columns = [np.resize(column, n) for column in columns]
    return Work(partial(maxt_flips, columns, n_resamples=FLIPS), float(n) * K * FLIPS)


def bootstrap(n: int) -> Work:
    """Return the studentised bootstrap of one difference."""
    from toplist.stats.randomization import bootstrap

    d = difference(n)
    return Work(partial(bootstrap, d, n_resamples=FLIPS - 1, n_threads=1), float(n) * (FLIPS - 1))


def t_tests(n: int) -> Work:
    """Return the t tests and effect sizes of 12 metrics and 4 comparisons."""
    from toplist.stats import estimates

    values = systems(n)

    def call() -> None:
        for _ in range(12):
            for system in values[1:]:
                estimates.difference(system, values[0])

    return Work(call, 48.0 * n)


# ---- what a user would write instead, given less of it


def numpy_flips(n: int, n_flips: int = 100) -> Work:
    """Return a loop over flips."""
    d, rng = difference(n), np.random.default_rng(0)

    def call() -> float:
        observed = abs(d.sum())
        flipped = (abs(((rng.random(n) < 0.5) * 2 - 1) @ d) for _ in range(n_flips))
        return (1 + sum(one >= observed for one in flipped)) / (n_flips + 1)

    return Work(call, float(n) * n_flips)


def scipy_flips(n: int, n_flips: int = 100) -> Work:
    """Return scipy's permutation test of paired samples."""
    from scipy.stats import permutation_test

    def statistic(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
        return np.mean(x, axis=axis) - np.mean(y, axis=axis)

    options = {"permutation_type": "samples", "vectorized": True, "n_resamples": n_flips}
    call = partial(permutation_test, pair(n), statistic, rng=0, batch=10, **options)
    return Work(call, float(n) * n_flips)


def ranx_flips(n: int, n_flips: int = 100) -> Work:
    """Return ranx's Fisher test, which takes all threads."""
    from ranx.statistical_tests.fisher_randomization_test import fisher_randomization_test

    return Work(partial(fisher_randomization_test, *pair(n), n_flips), float(n) * n_flips)


def numpy_bootstrap(n: int, n_resamples: int = 100) -> Work:
    """Return a loop over resamples."""
    d, rng = difference(n), np.random.default_rng(0)

    def call() -> list[float]:
        out = []
        for _ in range(n_resamples):
            drawn = d[rng.integers(0, n, n)]
            out.append((drawn.mean() - d.mean()) / (drawn.std(ddof=1) / np.sqrt(n)))
        return out

    return Work(call, float(n) * n_resamples)


def scipy_bootstrap(n: int, n_resamples: int = 100) -> Work:
    """Return scipy's percentile bootstrap of the mean, which is not studentised."""
    from scipy.stats import bootstrap

    options = {"method": "percentile", "n_resamples": n_resamples, "batch": 10}
    call = partial(bootstrap, (difference(n),), np.mean, rng=0, **options)
    return Work(call, float(n) * n_resamples)


def numpy_band(n: int, n_draws: int = 20) -> Work:
    """Return a loop of multiplier bootstraps over users; its units are those of all the draws."""
    n = min(n, 1 << 15)
    x, rng = curves(2)(0, 4096), np.random.default_rng(0)
    x = np.resize(x, (n, K))

    def call() -> list[float]:
        centred = x - x.mean(axis=0)
        error = x.std(axis=0, ddof=1) * np.sqrt(n)
        return [
            float(np.abs(rng.standard_normal(n) @ centred / error).max()) for _ in range(n_draws)
        ]

    return Work(call, float(n) * K * n_draws / FLIPS)


def scipy_t(n: int) -> Work:
    """Return scipy's paired t test, alone."""
    from scipy.stats import ttest_rel

    return Work(partial(ttest_rel, *pair(n)), float(n))


LOOPS = {"numpy": numpy_flips, "scipy": scipy_flips, "ranx": ranx_flips}
LINES = {
    "flips": Line("10,000 flips", 10**6, 1.0, flips, LOOPS),
    "flips-small": Line("the same, fewer users", 10**5, 0.1, flips, LOOPS),
    "flips-jointly": Line("4 systems jointly", 10**6, 3.0, partial(flips, n_columns=4), LOOPS),
    "band": Line("band of 100 k", 10**6, 1.5, band, {"numpy": numpy_band}),
    "band-all": Line(
        "4 bands and MaxT (t) of 400, 2 threads",
        10**6,
        10.0,
        partial(band, n_systems=SYSTEMS, n_threads=2),
        {"numpy": numpy_band},
    ),
    "band-flips": Line("MaxT (flips) of 100 k", 10**5, float("nan"), curve_flips, LOOPS),
    "bootstrap": Line(
        "studentised bootstrap",
        10**5,
        2.0,
        bootstrap,
        {"numpy": numpy_bootstrap, "scipy": scipy_bootstrap},
    ),
    "t": Line("48 t tests with effect sizes", 10**6, 3.0, t_tests, {"scipy": scipy_t}),
}

FORMAT = "{:<42}{:>11}{:>9}{:>8}{:>11}{:>20}{:>20}{:>20}"
PEERS = ("numpy", "scipy", "ranx")


def measured(line: Line, n_users: int, rounds: int) -> list[str]:
    """Return seconds, goal, nanoseconds per unit, and the same of the peers with the ratio."""
    own = line.own(n_users)
    own.call()  # compiles
    per_unit = 1e9 * best_of(rounds, own.call)[0] / own.units
    row = [f"{n_users:,}", figure(per_unit * own.units / 1e9), figure(line.goal), figure(per_unit)]
    for peer in PEERS:
        if peer not in line.beside or find_spec(peer) is None:
            row.append("-")
            continue
        work = line.beside[peer](min(n_users, 100_000))
        work.call()
        theirs = 1e9 * best_of(1, work.call)[0] / work.units
        row.append(f"{figure(theirs)} ({figure(theirs / per_unit)} x)")
    return row


def main() -> None:
    """Print the lines asked for, each as soon as it is measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, one round, a few seconds")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=LINES, default=LINES)
    options = parser.parse_args()
    packages = [name for name in ("toplist", "numba", *PEERS) if find_spec(name)]
    print(", ".join(f"{package} {version(package)}" for package in packages))
    print(
        FORMAT.format(
            "", "users", "best s", "goal s", "ns / unit", *(f"{p}, ns (x)" for p in PEERS)
        )
    )
    for name in options.only:
        line = LINES[name]
        n_users = line.n_users // 1000 if options.smoke else line.n_users
        print(
            FORMAT.format(line.title, *measured(line, n_users, 1 if options.smoke else 3)),
            flush=True,
        )


if __name__ == "__main__":
    main()
