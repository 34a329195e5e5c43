"""How often tests at p < 0.05 reject a true null: of toplist, and by simpler formulas beside it.

    python benchmarks/sizes.py                       # all lines, some minutes
    python benchmarks/sizes.py clusters runs         # these alone
    python benchmarks/sizes.py --smoke               # few samples: does everything still run?

Samples are made up, from seeds. Of 1,000 samples a share of .050 is uncertain by .014. "Beside" is
G - 1 degrees of freedom for G clusters or weights, Satterthwaite's one number of degrees of freedom
for runs, and Tukey's test beside MaxT. Of ranks over data sets it
is how often the 95 % interval of a system's mean rank misses the true one (coverage is 1 less
that), beside quantiles of resampled ranks; and how often a system is called behind the first that
is not, beside the same without Bonferroni. Of segments it is beside the F test of one variance (of
weighted ones n - 1 degrees of freedom), and of a judge corrected by people, whose 95 % interval
covers as often as p is not below 0.05, beside the judge alone.

The lines of the gate are of users drawn from those of notebook 6, where the true difference is just
-margin: how often it is called worse, or not worse, at p < 0.025; beside is the t test alone. Users
who do not differ stay as they are: either the others are shifted by one number, or the winners (or
the losers) are drawn less often, "thinned".

"Losses" are of users of whom a share loses the one item that is found, or who differ by noise
around -margin; "power" is how often a system that loses nothing passes.

Of means, skewed differences and judges by clusters it is how often 95 % intervals miss without a
caution; beside, how often they miss at all.

Of sessions, which have a
rank of one held-out item each, it is how often 95 % intervals by clusters miss the mean, or tests
find a difference, by `toplist.top_k_eval` and `toplist.compare`; beside, those without clusters.

Of propensities it is how often 95 % intervals (SNIPS) miss the mean if every relevant item were
observed; beside, those without propensities. Item i of 1,000 is observed with p = i^-0.5, and a
system finds popular ones more often. "One item": one observed item of each user; "several": those
observed of 8.
"""

import functools
import math
from collections.abc import Callable, Iterator
from itertools import combinations, product
from pathlib import Path

import numpy as np
from environments import options_of, table_of

import toplist as tl
from toplist import files
from toplist.stats import Difference, datasets, difference, estimate, runs
from toplist.stats.datasets import welch
from toplist.stats.distributions import f_sf, normal_sf, t_sf
from toplist.stats.planning import not_worse, ppi
from toplist.stats.simultaneous import maxt_t, tukey
from toplist.stats.units import Units

SAMPLES = {"runs": 1000, "tukey": 200, "judge": 10_000}  # else 2,000
RETAIL = Path(__file__).parents[1] / "notebooks" / "retail"
MARGIN = 0.005
# The p of toplist and of what stands beside it, from random numbers.
Rng = np.random.Generator
Pair = tuple[float, float]
Draw = Callable[[Rng], Pair]


def draws(of: Callable[..., Pair]) -> Callable[..., Draw]:
    """Turn a function of random numbers and what a line is about into one of the latter."""
    return functools.wraps(of)(lambda *given, **more: lambda rng: of(rng, *given, **more))


def against_0(
    d: np.ndarray, weights: np.ndarray | None = None, clusters: np.ndarray | None = None
) -> Difference:
    """Return the t test of differences."""
    return difference(d, np.zeros(len(d)), Units.of(len(d), weights, clusters))


def beside(d: np.ndarray, units: Units) -> float:
    """Return p by the linearised values alone, with n - 1 degrees of freedom."""
    values = units.linearised(d)
    n = len(values)
    return 2 * t_sf(abs(values.mean()) / (values.std(ddof=1) / math.sqrt(n)), n - 1)


@draws
def of_clusters(rng: Rng, n_clusters: int, kind: str, shared: float) -> Pair:
    """Return clusters of geometric or Pareto sizes; a share of the variance is the clusters'."""
    sizes = rng.geometric(0.1, n_clusters)
    if kind == "pareto":
        sizes = np.minimum(np.ceil(5 + 5 * rng.pareto(1.2, n_clusters)), 5000).astype(int)
    labels = np.repeat(np.arange(n_clusters), sizes)
    d = math.sqrt(shared) * rng.normal(size=n_clusters)[labels]
    d += math.sqrt(1 - shared) * rng.normal(size=len(labels))
    return against_0(d, None, labels).p, beside(d, Units.of(len(d), None, labels))


def sessions_of(skill: np.ndarray, labels: np.ndarray, rng: Rng) -> tl.Hits:
    """Return sessions whose item is among 20 with the chance of their user, at any of the ranks."""
    listed = rng.random(len(labels)) < skill[labels]
    return tl.Hits.from_ranks(np.where(listed, rng.integers(1, 21, len(labels)), 0), 20)


def held(truth: float, *results: tl.TopKResult) -> Pair:
    """Return whether the interval of the only metric of each result holds the truth."""
    ends = [one.interval(one.names()[0]) for one in results]
    return tuple(float(low <= truth <= high) for low, high in ends)


@draws
def of_sessions(rng: Rng, n_users: int) -> Pair:
    """Return whether intervals hold the mean nDCG@10 of sessions of users: 0 where they miss it."""
    truth = 0.4 * sum(1 / math.log2(rank + 1) for rank in range(1, 11)) / 20
    labels = np.repeat(np.arange(n_users), rng.geometric(0.1, n_users))
    hits = sessions_of(rng.beta(2, 3, n_users), labels, rng)
    options = {"k": 10, "metrics": "ndcg", "n_threads": 1}
    return held(truth, *(tl.top_k_eval(hits, clusters=c, **options) for c in (labels, None)))


@draws
def of_two_systems(rng: Rng, n_users: int) -> Pair:
    """Return p of equal systems over sessions; each is good for other users than the other."""
    labels = np.repeat(np.arange(n_users), rng.geometric(0.1, n_users))
    both = rng.beta(2, 3, n_users)
    sides = [(name, sessions_of(both + rng.normal(0, 0.2, n_users), labels, rng)) for name in "ab"]
    options = {"k": 10, "metrics": "ndcg", "n_threads": 1}

    def p(clusters: np.ndarray | None) -> float:
        pair = {name: tl.top_k_eval(one, clusters=clusters, **options) for name, one in sides}
        return tl.compare(pair).test()[0].p

    return p(labels), p(None)


# How likely each of 1,000 items is observed, and found by a system that prefers the popular.
EXPOSED = np.arange(1, 1001) ** -0.5
FOUND = 0.1 + 0.8 * np.sqrt(EXPOSED)


def exposed(n: int, single: bool, rng: Rng) -> tuple[np.ndarray, tl.inputs.Lists]:
    """Return lists of 10 items and the observed relevant items of n users, of 8, or one each."""
    users = np.arange(n)[:, np.newaxis]
    if single:
        items = rng.choice(1000, (n, 1), p=EXPOSED / EXPOSED.sum())
        seen = np.ones((n, 1), bool)
    else:
        items = rng.integers(1000, size=(n, 8))
        while (twice := (np.diff(np.sort(items)) == 0).any(axis=1)).any():
            items[twice] = rng.integers(1000, size=(twice.sum(), 8))
        seen = rng.random(items.shape) < EXPOSED[items]
    listed = rng.random(items.shape) < FOUND[items] * rng.uniform(0.5, 1, (n, 1))
    places = rng.permuted(np.tile(np.arange(10), (n, 1)), axis=1)[:, : items.shape[1]]
    lists = np.tile(np.arange(1000, 1010), (n, 1))
    lists[np.broadcast_to(users, items.shape)[listed], places[listed]] = items[listed]
    return lists, tl.inputs.Lists(np.append(0, seen.sum(axis=1).cumsum()), items[seen])


@functools.cache
def in_the_limit(name: str, single: bool) -> float:
    """Return the mean over 1,000,000 users with all items observed; of psp, by its estimate."""
    if name.startswith("psp"):
        parts = [exposed(20_000, single, np.random.default_rng(seed)) for seed in range(50)]
        how = {"metrics": name, "propensities": EXPOSED}
        return float(np.mean([tl.top_k_eval(*part, **how)[name] for part in parts]))
    worth = {"recall@10": np.ones(10), "mrr@10": 1 / np.arange(1, 11)}
    of_dcg = 1 / np.log2(np.arange(2, 12))
    return float(0.75 * FOUND.mean() * worth.get(name, of_dcg).mean())


@draws
def of_propensities(rng: Rng, n: int, name: str, single: bool) -> Pair:
    """Return whether intervals hold what would be if all were observed: 0 where they miss it."""
    sides = exposed(n, single, rng)
    plain = name.replace("psp", "recall").replace("dcg", "ndcg")
    asked = (name, EXPOSED), (plain, None)
    return held(
        in_the_limit(name, single),
        *(tl.top_k_eval(*sides, metrics=one, propensities=p, n_threads=1) for one, p in asked),
    )


@draws
def of_weights(rng: Rng, n: int, kind: str) -> Pair:
    """Return users with lognormal or Pareto weights."""
    w = rng.lognormal(size=n) if kind == "lognormal" else 1 + rng.pareto(1.2, n)
    d = rng.normal(size=n)
    return against_0(d, w).p, beside(d, Units.of(n, w))


@draws
def of_runs(
    rng: Rng, kind: str, n_runs: int, share: float, fixed: bool = False, noise: float = 0.0
) -> Pair:
    """Return runs of two systems that differ by as much; a share of the variance is the runs'.

    `noise` is that of each user in each run, in standard deviations of the users.
    """
    n = 200
    a, b = math.sqrt((1 - share) / 2) * rng.normal(size=(2, n))
    seeds = math.sqrt(share * n_runs / n) * rng.normal(size=(2, n_runs, 1))
    seeds[1] *= not fixed
    seeds /= math.sqrt(1 if fixed else 2)
    each = noise * rng.normal(size=(2, n_runs, n))
    found = runs(a + seeds[0] + each[0], b + seeds[1] + each[1], kind).anew
    return found.p, 2 * t_sf(abs(found.statistic), found.df)


@draws
def of_tukey(rng: Rng, n_twins: int, n_others: int, n: int = 100) -> Pair:
    """Return near twins among the systems: the least p of MaxT, and of Tukey."""
    twins = rng.normal(size=n) + 0.02 * rng.normal(size=(n_twins, n))
    table = np.vstack([twins, rng.normal(size=(n_others, n))])
    pairs = [*combinations(table, 2)]
    found = estimate([a - b for a, b in pairs], Units(n), n_threads=1)
    largest = maxt_t(found, n_resamples=999, n_threads=1)
    together = tukey([difference(*pair) for pair in pairs])
    return largest.step_down.min(), min(one.p for one in together)


def drawn_sets(
    rng: Rng, n_systems: int, n_sets: int, gap: float, alike: bool, n: int
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Return true ranks, means and resampled means of data sets; `gap` in errors of a difference.

    Systems come in one order in all data sets, the hardest case, or in another in each.
    """
    true, seen, drawn = [], [], []
    for _ in range(n_sets):
        order = np.arange(n_systems) if alike else rng.permutation(n_systems)
        users = rng.exponential(size=n) + rng.normal(size=(n_systems, n)) / math.sqrt(2)
        users -= gap / math.sqrt(n) * order[:, np.newaxis]
        how = {"seed": int(rng.integers(1 << 32)), "n_threads": 1}
        drawn.append(datasets.resampled(users, n_resamples=999, **how))
        true.append(order + 1.0)
        seen.append(users.mean(axis=1))
    return np.mean(true, axis=0), np.array(seen), drawn


@draws
def of_ranks(rng: Rng, n_systems: int, n_sets: int, gap: float, alike: bool, n: int = 200) -> Pair:
    """Return 0 where the interval of a system's mean rank misses the true one, else 1."""
    true, seen, drawn = drawn_sets(rng, n_systems, n_sets, gap, alike, n)
    some = rng.integers(n_systems)
    low, high = datasets.rank_intervals(seen, drawn)
    ranks = np.mean([datasets.mid_ranks(one) for one in drawn], axis=0)[:, some]
    ends = np.quantile(ranks, (0.025, 0.975))
    return tuple(
        float(a - 1e-9 <= true[some] <= b + 1e-9) for a, b in ((low[some], high[some]), ends)
    )


@draws
def of_segments(rng: Rng, sizes: tuple[int, ...], kind: str) -> Pair:
    """Return segments of equal means, the smaller the more they spread, of up to twice as much."""
    spreads = np.linspace(2, 1, len(sizes))
    tests, groups = [], []
    for n, spread in zip(sizes, spreads.tolist(), strict=True):
        d = rng.normal(0, spread, n)
        if kind != "normal":  # 20 % of the users differ; "skewed": to one side thrice as far
            far = np.where(rng.random(n) < 0.25, 3.0, -1.0)
            d = far * spread * rng.exponential(size=n) if kind == "skewed" else d
            d[rng.random(n) >= 0.2] = 0
        groups.append(d)
        tests.append(against_0(d))
    known = [(one.difference, one.error, one.df) for one in tests if one.error > 0]
    found = welch(*np.array(known).reshape(-1, 3).T)
    every = np.concatenate(groups)
    within = sum(((d - d.mean()) ** 2).sum() for d in groups)
    df1, df2 = len(groups) - 1, len(every) - len(groups)
    f = (((every - every.mean()) ** 2).sum() - within) / df1 / (within / df2)
    return found.p, f_sf(f, df1, df2)


@draws
def of_first(rng: Rng, n_systems: int, n_sets: int, gap: float, alike: bool, n: int = 200) -> Pair:
    """Return 0 where a system is called behind the first, and its true rank is not, else 1."""
    true, seen, drawn = drawn_sets(rng, n_systems, n_sets, gap, alike, n)
    ranks = [datasets.mid_ranks(one) for one in drawn]
    first = int(np.argmin(datasets.mid_ranks(seen).mean(axis=0)))
    others = np.flatnonzero(true <= true[first])
    every = np.mean(ranks, axis=0)
    alone = (every <= every[:, [first]]).mean(axis=0) <= 0.025
    behind = datasets.behind_first(ranks, first)
    return tuple(float(not one[others].any()) for one in (behind, alone))


@draws
def of_weighted_segments(rng: Rng, sizes: tuple[int, ...]) -> Pair:
    """Return segments of users with lognormal weights."""
    own, beside = [], []
    for n in sizes:
        d, w = rng.normal(size=n), rng.lognormal(size=n)
        test = against_0(d, w)
        values = Units.of(n, w).linearised(d)
        own.append((test.difference, test.error, test.df))
        beside.append((values.mean(), values.std(ddof=1) / math.sqrt(n), n - 1))
    return welch(*np.array(own).T).p, welch(*np.array(beside).T).p


@draws
def of_judge(rng: Rng, n: int, correlation: float, n_others: int = 2000) -> Pair:
    """Return queries of a judge who is .2 too high; 40 % are 0 to people, the mean is .3."""
    own = rng.random(n + n_others)
    people = np.maximum(own - 0.4, 0) / 0.6
    judge = np.where(rng.random(len(own)) < correlation / 0.953, own, rng.random(len(own)))
    found = ppi(people[:n], judge[:n], judge[n:])
    alone = abs(found.judge - 0.3) / found.judge_error
    t = abs(found.estimate - 0.3) / found.error
    return 2 * t_sf(t, n - 1), 2 * normal_sf(alone)


@functools.cache
def retail(system: str, name: str) -> np.ndarray:
    """Return the values of the users of notebook 6."""
    truth = files.read_truths(RETAIL / "truth.jsonl.gz")
    lists = files.read_ranks(RETAIL / f"{system}.jsonl.gz")
    return np.asarray(tl.top_k_eval(lists, truth, metrics=name).per_user(name))


def at_margin(d: np.ndarray, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return differences and the chances to be drawn, by which their mean is -MARGIN."""
    chances, differ = np.full(len(d), 1 / len(d)), d != 0
    excess = d.mean() + MARGIN
    if kind == "shifted":
        return d - differ * (excess / differ.mean()), chances
    side = d > 0 if excess > 0 else d < 0  # of whom there are too many
    chances[side] *= -((d + MARGIN)[~side].sum() / (d + MARGIN)[side].sum())
    return d, chances / chances.sum()


@functools.cache
def drawn_gate(system: str, name: str, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the differences to itemknn, moved to the margin, and their chances to be drawn."""
    return at_margin(retail(system, name) - retail("itemknn", name), kind)


@draws
def of_gate(rng: Rng, system: str, name: str, kind: str, n: int, side: str) -> Pair:
    """Return users whose true difference to itemknn is just -MARGIN; p is doubled, as of 0.025."""
    d, chances = drawn_gate(system, name, kind)
    drawn = rng.choice(len(d), n, p=chances)
    base = retail("itemknn", name)[drawn]
    found = not_worse(base + d[drawn], base, MARGIN)
    t = (found.test.difference + MARGIN) / (found.test.error or math.nan)
    p = t_sf(t if side == "not worse" else -t, n - 1)
    return 1.0 - (found.verdict == side), 2 * p


def missed(low: float, high: float, truth: float, warned: bool) -> Pair:
    """Return 0 where an interval misses without a caution, and where it misses at all; else 1."""
    holds = low <= truth <= high
    return float(holds or warned), float(holds)


@draws
def of_losses(rng: Rng, n: int, kind: str) -> Pair:
    """Return users of whom 3 % lose their item, or 30 %, or all differ; the loss is the margin.

    85 % find an item at one of ten ranks, by nDCG.
    """
    worth = 1 / np.log2(np.arange(2, 12))
    margin = 0.03 * 0.85 * worth.mean()
    base = np.where(rng.random(n) < 0.85, rng.choice(worth, n), 0.0)
    new = np.where(rng.random(n) < 0.03, 0.0, base)
    if kind != "3 %":
        share = 1.0 if kind == "all" else 0.3
        differ = rng.random(n) < share
        base = np.full(n, 0.5)
        new = base + differ * np.clip(rng.normal(-margin / share, 0.15, n), -0.5, 0.5)
    return called("not worse", new, base, margin)


def called(verdict: str, new: np.ndarray, base: np.ndarray, margin: float) -> Pair:
    """Return 0 where new values are called so, and p of that by t alone."""
    found = not_worse(new, base, margin)
    own = 1.0 - (found.verdict == verdict)
    if found.test.error == 0:  # by t alone nobody loses
        return own, 0.0
    t = (found.test.difference + margin) / found.test.error
    return own, 2 * t_sf(t if verdict == "not worse" else -t, len(new) - 1)


@draws
def of_gains(rng: Rng, n: int, share: float) -> Pair:
    """Return users of whom few gain .9 and most of the others lose .1; the loss is the margin."""
    d = np.where(rng.random(n) < share, 0.9, np.where(rng.random(n) < 0.9, -0.1, 0.0))
    return called("worse", d + 0.1, np.full(n, 0.1), 0.09 - share * 0.99)


@draws
def of_power(rng: Rng, n: int, errors: float) -> Pair:
    """Return users of whom 30 % differ, and none loses: a margin of so many standard errors."""
    base = np.full(n, 0.5)
    new = base + (rng.random(n) < 0.3) * np.clip(rng.normal(0, 0.15, n), -0.5, 0.5)
    margin = errors * 0.15 * math.sqrt(0.3 / n)
    return called("not worse", new, base, margin)


@draws
def of_weighted_mean(rng: Rng, n: int, sigma: float) -> Pair:
    """Return a mean reciprocal rank that goes with lognormal weights."""
    worth = 1 / np.arange(1, 11)
    truth = normal_sf(-0.8 * sigma) * worth.mean()
    of_user = rng.normal(size=n)
    found = 0.8 * of_user + 0.6 * rng.normal(size=n) > 0
    units = Units.of(n, np.exp(sigma * of_user))
    test = difference(found * rng.choice(worth, n), np.zeros(n), units)
    return missed(test.low, test.high, truth, bool(units.rough))


@draws
def of_clustered_mean(rng: Rng, n_clusters: int, kind: str) -> Pair:
    """Return a mean of rows in clusters of 1 to 150; "with size": large ones have higher values."""
    rows = np.exp(np.linspace(0, math.log(150), 20_001))
    rows = np.ceil((rows[1:] + rows[:-1]) / 2)
    truth = 0.4
    if kind == "with size":
        truth = float((rows * (0.2 + 0.6 * rows / 150)).sum() / rows.sum())
    sizes = rng.choice(rows, n_clusters).astype(int)
    skill = rng.beta(2, 3, n_clusters)
    if kind == "with size":
        skill = 0.2 + 0.6 * sizes / 150 + rng.uniform(-0.15, 0.15, n_clusters)
    labels = np.repeat(np.arange(n_clusters), sizes)
    x = (rng.random(len(labels)) < skill[labels]).astype(float)
    units = Units.of(len(x), None, labels)
    found = difference(x, np.zeros(len(x)), units)
    return missed(found.low, found.high, truth, bool(units.rough))


@draws
def of_skewed_mean(rng: Rng, n: int, name: str, share: float) -> Pair:
    """Return users of whom a share finds the held-out item, at any of the ranks."""
    k = int(name.rpartition("@")[2])
    ranks = np.where(rng.random(n) < share, rng.integers(1, k + 1, n), 0)
    every = tl.Hits.from_ranks(np.arange(1, k + 1), k)
    truth = share * tl.top_k_eval(every, k=k, metrics=name)[name]
    result = tl.top_k_eval(tl.Hits.from_ranks(ranks, k), k=k, metrics=name)
    low, high = result.interval(name)
    return missed(low, high, truth, low == high or result.skewed(name) > 1)


@draws
def of_skewed(rng: Rng, n: int, share: float) -> Pair:
    """Return differences of users of whom a share gains much and the others lose little."""
    gains = rng.random(n) < share
    if not gains.any():  # nothing shows that there are such
        return math.nan, math.nan
    d = np.where(gains, 0.5, -0.5 * share / (1 - share)) * rng.uniform(0.5, 1.5, n)
    found = against_0(d)
    return missed(found.low, found.high, 0.0, bool(found.cautions))


@draws
def of_judge_in_clusters(rng: Rng, n_clusters: int, n_others: int, shared: bool) -> Pair:
    """Return queries of users, whom people judge whole, or in part; beside without clusters."""
    total = n_clusters + n_others
    labels = np.repeat(np.arange(total), rng.geometric(0.2, total))
    own = np.clip(0.3 * rng.normal(size=total)[labels] + 0.2 * rng.normal(size=len(labels)), -1, 1)
    judge = own + 0.2 + 0.15 * rng.normal(size=total)[labels] + 0.1 * rng.normal(size=len(labels))
    some = labels < n_clusters
    if shared:
        some = rng.random(len(labels)) < n_clusters / total
    sides = own[some], judge[some], judge[~some]
    of_people = labels[some]
    found = ppi(*sides, clusters=(of_people, labels[~some]))
    df = Units.of(len(of_people), None, of_people).df
    alone = ppi(*sides)
    p = 2 * t_sf(abs(found.estimate) / found.error, df)
    return p, 2 * t_sf(abs(alone.estimate) / alone.error, len(of_people) - 1)


def lines() -> Iterator[tuple[str, str, Draw]]:
    """Yield group, title and draw of the lines of sizes.toml."""
    for group, blocks in table_of(__file__).items():
        for block in blocks:
            of = globals()[f"of_{block['of']}"]
            axes = (
                axis.items() if isinstance(axis, dict) else zip(axis, axis, strict=True)
                for axis in block["axes"]
            )
            for line in product(*axes):
                names, given = zip(*line, strict=True)
                yield group, block["title"].format(*names), of(*given, **block.get("given", {}))


def sizes(draw: Draw, n_samples: int, seed: int = 0) -> Pair:
    """Return the shares of samples with p < 0.05, of toplist and beside it; NaN is no sample."""
    rng = np.random.default_rng(seed)
    p = np.array([draw(rng) for _ in range(n_samples)])
    own, other = (p[~np.isnan(p[:, 0])] < 0.05).mean(axis=0).tolist()
    return own, other


def main() -> None:
    """Print the lines asked for, each as soon as it is done."""
    smoke = {"action": "store_true", "help": "few samples"}
    options = options_of(__doc__, [group for group, *_ in lines()], smoke=smoke)
    print(f"{'':<54}{'toplist':>9}{'beside':>9}")
    for group, title, draw in lines():
        if group in options.names:
            n_samples = 2 if options.smoke else SAMPLES.get(group, 2000)
            own, other = sizes(draw, n_samples)
            print(f"{title:<54}{own:>9.3f}{other:>9.3f}", flush=True)


if __name__ == "__main__":
    main()
