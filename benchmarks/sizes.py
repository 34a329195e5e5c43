"""How often tests at p < 0.05 reject a true null: of toplist, and by simpler formulas beside it.

    python benchmarks/sizes.py                       # all lines, some minutes
    python benchmarks/sizes.py --only clusters runs  # these alone
    python benchmarks/sizes.py --smoke               # few samples: does everything still run?

Samples are made up, from seeds. Of 1,000 samples a share of .050 is uncertain by .014. "Beside" is
G - 1 degrees of freedom for G clusters or weights, Satterthwaite's one number of degrees of freedom
for runs, Tukey's test beside MaxT, and the bootstrap beside the t test. Of sessions, which have a
rank of one held-out item each, it is how often 95 % intervals by clusters miss the mean, or tests
find a difference, by `toplist.top_k_eval` and `toplist.compare`; beside, those without clusters.
"""

import argparse
import math
from collections.abc import Callable, Iterator

import numpy as np

import toplist as tl
from toplist.stats.blocked import moments_of, tukey_hsd
from toplist.stats.clustered import linearised, units
from toplist.stats.distributions import t_sf
from toplist.stats.paired import paired, runs
from toplist.stats.randomization import bootstrap
from toplist.stats.simultaneous import Joint, maxt_t

SAMPLES = {"clusters": 2000, "weights": 2000, "runs": 1000, "tukey": 200, "bootstrap": 1000}
SAMPLES["sessions"] = 2000
# A title, and the p of toplist and of what stands beside it, from random numbers.
Draw = Callable[[np.random.Generator], tuple[float, float]]
Line = tuple[str, Draw]


def beside(sums: np.ndarray, sizes: np.ndarray) -> float:
    """Return p by the linearised values alone, with n - 1 degrees of freedom."""
    values = linearised(sums, sizes)
    n = len(values)
    return 2 * t_sf(abs(values.mean()) / (values.std(ddof=1) / math.sqrt(n)), n - 1)


def of_clusters(n_clusters: int, kind: str, shared: float) -> Draw:
    """Return clusters of geometric or Pareto sizes; a share of the variance is the clusters'."""

    def draw(rng: np.random.Generator) -> tuple[float, float]:
        sizes = rng.geometric(0.1, n_clusters)
        if kind == "pareto":
            sizes = np.minimum(np.ceil(5 + 5 * rng.pareto(1.2, n_clusters)), 5000).astype(int)
        labels = np.repeat(np.arange(n_clusters), sizes)
        d = math.sqrt(shared) * rng.normal(size=n_clusters)[labels]
        d += math.sqrt(1 - shared) * rng.normal(size=len(labels))
        test = paired(d, np.zeros(len(d)), clusters=labels, n_threads=1).test
        return test.p, beside(*units(d, clusters=labels))

    return draw


def sessions_of(skill: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> tl.Hits:
    """Return sessions whose item is among 20 with the chance of their user, at any of the ranks."""
    listed = rng.random(len(labels)) < skill[labels]
    return tl.Hits.from_ranks(np.where(listed, rng.integers(1, 21, len(labels)), 0), 20)


def of_sessions(n_users: int) -> Draw:
    """Return whether intervals hold the mean nDCG@10 of sessions of users: 0 where they miss it."""
    truth = 0.4 * sum(1 / math.log2(rank + 1) for rank in range(1, 11)) / 20

    def draw(rng: np.random.Generator) -> tuple[float, float]:
        labels = np.repeat(np.arange(n_users), rng.geometric(0.1, n_users))
        hits = sessions_of(rng.beta(2, 3, n_users), labels, rng)
        found = []
        for clusters in (labels, None):
            result = tl.top_k_eval(hits, k=10, metrics="ndcg", clusters=clusters, n_threads=1)
            low, high = result.interval("ndcg@10")
            found.append(float(low <= truth <= high))
        return found[0], found[1]

    return draw


def of_two_systems(n_users: int) -> Draw:
    """Return p of equal systems over sessions; each is good for other users than the other."""

    def draw(rng: np.random.Generator) -> tuple[float, float]:
        labels = np.repeat(np.arange(n_users), rng.geometric(0.1, n_users))
        both = rng.beta(2, 3, n_users)
        hits = [sessions_of(both + rng.normal(0, 0.2, n_users), labels, rng) for _ in range(2)]
        options = {"k": 10, "metrics": "ndcg", "n_threads": 1}
        found = []
        for clusters in (labels, None):
            pair = [tl.top_k_eval(one, clusters=clusters, **options) for one in hits]
            found.append(tl.compare(dict(zip("ab", pair, strict=True))).test()[0].p)
        return found[0], found[1]

    return draw


def of_weights(n: int, kind: str) -> Draw:
    """Return users with lognormal or Pareto weights."""

    def draw(rng: np.random.Generator) -> tuple[float, float]:
        w = rng.lognormal(size=n) if kind == "lognormal" else 1 + rng.pareto(1.2, n)
        d = rng.normal(size=n)
        return paired(d, np.zeros(n), weights=w, n_threads=1).test.p, beside(w * d, w)

    return draw


def of_runs(kind: str, n_runs: int, share: float, fixed: bool = False) -> Draw:
    """Return runs of two systems that differ by as much; a share of the variance is the runs'."""

    def draw(rng: np.random.Generator) -> tuple[float, float]:
        n = 200
        a, b = math.sqrt((1 - share) / 2) * rng.normal(size=(2, n))
        seeds = math.sqrt(share * n_runs / n) * rng.normal(size=(2, n_runs, 1))
        seeds[1] *= not fixed
        seeds /= math.sqrt(1 if fixed else 2)
        found = runs(a + seeds[0], b + seeds[1], kind, n_threads=1).anew
        return found.p, 2 * t_sf(abs(found.statistic), found.df)

    return draw


def of_tukey(n_twins: int, n_others: int, n: int = 100) -> Draw:
    """Return near twins among the systems: the least p of MaxT, and of Tukey."""

    def draw(rng: np.random.Generator) -> tuple[float, float]:
        twins = rng.normal(size=n) + 0.02 * rng.normal(size=(n_twins, n))
        table = np.vstack([twins, rng.normal(size=(n_others, n))])
        first, second = np.triu_indices(len(table), 1)
        joint = Joint.of((table[first] - table[second]).T, n_threads=1)
        largest = maxt_t(joint, n_resamples=999, n_threads=1)
        return largest.step_down.min(), tukey_hsd(moments_of(table.T)).p.min()

    return draw


def of_bootstrap(n: int, differ: float) -> Draw:
    """Return skewed differences of few users: p of the t test, and of the bootstrap."""

    def draw(rng: np.random.Generator) -> tuple[float, float]:
        d = rng.exponential(size=n) * np.where(rng.random(n) < 0.25, 3.0, -1.0)
        d[rng.random(n) >= differ] = 0
        test = paired(d, np.zeros(n), n_threads=1).test
        return test.p, bootstrap(d, n_resamples=499, n_threads=1).p

    return draw


def lines() -> Iterator[tuple[str, Line]]:
    """Yield the name of a group, and a line of it."""
    for n_clusters in (5, 10, 20, 50):
        for kind in ("geometric", "pareto"):
            for shared in (0.0, 0.3, 1.0):
                title = f"{n_clusters} clusters, {kind}, {shared:g} of the variance theirs"
                yield "clusters", (title, of_clusters(n_clusters, kind, shared))
    for n_users in (20, 200):
        yield "sessions", (f"sessions of {n_users} users, a mean", of_sessions(n_users))
        yield "sessions", (f"sessions of {n_users} users, a difference", of_two_systems(n_users))
    for n, kind in ((20, "lognormal"), (50, "lognormal"), (50, "pareto"), (200, "pareto")):
        yield "weights", (f"{n} users, {kind} weights", of_weights(n, kind))
    for n_runs in (2, 3, 5):
        for share in (0.5, 0.95):
            what = f"{n_runs} runs, {share:g} of the variance theirs"
            yield "runs", (f"{what}, paired", of_runs("paired", n_runs, share))
            yield "runs", (f"{what}, independent", of_runs("independent", n_runs, share))
            fixed = of_runs("independent", n_runs, share, fixed=True)
            yield "runs", (f"{what}, one fixed", fixed)
    for twins, others in ((0, 5), (8, 2), (18, 2)):
        yield "tukey", (f"{twins} near twins, {others} others", of_tukey(twins, others))
    for n, differ in ((50, 0.2), (100, 0.2), (200, 0.2), (1000, 0.2)):
        yield "bootstrap", (f"{n} users, {differ:g} of them differ", of_bootstrap(n, differ))


def sizes(draw: Draw, n_samples: int, seed: int = 0) -> tuple[float, float]:
    """Return the shares of samples with p < 0.05, of toplist and beside it."""
    rng = np.random.default_rng(seed)
    p = np.array([draw(rng) for _ in range(n_samples)])
    own, other = (p < 0.05).mean(axis=0).tolist()
    return own, other


def main() -> None:
    """Print the lines asked for, each as soon as it is done."""
    groups = list(dict.fromkeys(group for group, _ in lines()))
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="few samples")
    parser.add_argument("--only", nargs="+", choices=groups, default=groups)
    options = parser.parse_args()
    print(f"{'':<52}{'toplist':>9}{'beside':>9}")
    for group, (title, draw) in lines():
        if group in options.only:
            n_samples = 20 if options.smoke else SAMPLES[group]
            own, other = sizes(draw, n_samples)
            print(f"{title:<52}{own:>9.3f}{other:>9.3f}", flush=True)


if __name__ == "__main__":
    main()
