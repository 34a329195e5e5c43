"""Tests of anybody's values: per user, per query or per session, from arrays or dicts.

`paired_tests` answers "is B better than A?" for values of any kind; `Comparison.test` asks it of
results. The rest is what stands beside a p value: `band` over k, `equivalence` within a margin,
`anova` and `tukey` over all systems, `power`, `detectable` and `n_needed` for the next experiment.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toplist.checks import choice
from toplist.results.bands import Band
from toplist.results.contrasts import FEW_FOR_FLIPS, FEW_FOR_T, Contrast, Plan
from toplist.results.tests import Tests
from toplist.stats import blocked, paired, planning, randomization, simultaneous
from toplist.stats.blocked import Anova
from toplist.stats.corrections import adjust as adjust
from toplist.stats.distributions import f_sf as f_sf
from toplist.stats.distributions import range_sf as range_sf
from toplist.stats.distributions import t_ppf as t_ppf
from toplist.stats.distributions import t_sf as t_sf
from toplist.stats.paired import RUNS, TTest, checked, snap
from toplist.stats.planning import detectable as detectable
from toplist.stats.planning import n_needed as n_needed
from toplist.stats.planning import power as power

Floats = NDArray[np.float64]

METHODS = ("t", "randomization", "bootstrap", "wilcoxon", "sign")
CORRECTIONS = ("holm", "maxt", "bh", "bonferroni", "none")
FAMILIES = ("all", "metric")
# The name of a measure that has none.
VALUE = "value"

__all__ = [
    "adjust",
    "anova",
    "band",
    "detectable",
    "equivalence",
    "f_sf",
    "family",
    "n_needed",
    "paired_tests",
    "power",
    "range_sf",
    "ratio",
    "t_ppf",
    "t_sf",
    "tukey",
]


@dataclass(frozen=True)
class Asked:
    """What is asked of the tests; checked before any value is looked at."""

    method: str = "t"
    correction: str = "holm"
    alternative: str = "two-sided"
    level: float = 0.95
    family: str = "all"
    n_resamples: int | None = None
    seed: int = 0
    n_threads: int | None = None
    margin: float | None = None
    runs: str | None = None

    def __post_init__(self) -> None:
        """Check the choices."""
        choice("method", self.method, METHODS)
        choice("correction", self.correction, CORRECTIONS)
        choice("family", self.family, FAMILIES)
        checked(self.alternative, self.level)
        if self.margin is not None:
            number = isinstance(self.margin, (int, float, np.number))
            if not number or not 0 < self.margin < math.inf:
                raise ValueError(f"margin must be a number above 0, not {self.margin!r}")
            if self.correction == "maxt":
                raise ValueError("correction='maxt' is of tests of a difference: choose another")
        if self.runs is not None:
            choice("runs", self.runs, RUNS)
        if self.correction == "maxt" and self.method not in ("t", "randomization"):
            raise ValueError(
                f"correction='maxt' is for the methods 't' and 'randomization', not {self.method!r}"
            )
        if self.runs is not None and (self.method != "t" or self.correction == "maxt"):
            raise ValueError(
                "several runs are tested by method='t', and not with correction='maxt'"
            )

    @property
    def resamples(self) -> dict[str, int]:
        """The number of resamples, where one was given."""
        return {} if self.n_resamples is None else {"n_resamples": self.n_resamples}

    @property
    def drawn(self) -> dict[str, Any]:
        """What random tests are given."""
        return {"seed": self.seed, "n_threads": self.n_threads, **self.resamples}


class Units(NamedTuple):
    """What belongs to the users, by row: their weights and clusters, if there are any."""

    weights: Floats | None = None
    clusters: Any = None

    @property
    def given(self) -> dict[str, Any]:
        """Both as keywords."""
        return {"weights": self.weights, "clusters": self.clusters}


# (system, name) -> the values (n,), or (n_runs, n) of several runs
Values = Callable[[str, str], Floats]
Pair = tuple[str, str]


def pairs_of(systems: Sequence[str], baseline: str | Sequence[str] | None) -> list[Pair]:
    """Return the (system, baseline) that are compared: all pairs, or each against the baselines.

    Examples
    --------
    >>> pairs_of(["a", "b", "c"], None), pairs_of(["a", "b", "c"], "b")
    ([('a', 'b'), ('a', 'c'), ('b', 'c')], [('a', 'b'), ('c', 'b')])
    """
    if len(systems) < 2:
        raise ValueError(f"two systems are needed, and there is {', '.join(systems) or 'none'}")
    if baseline is None:
        return [(a, b) for i, a in enumerate(systems) for b in systems[i + 1 :]]
    baselines = [baseline] if isinstance(baseline, str) else list(baseline)
    for one in baselines:
        if one not in systems:
            raise ValueError(f"baseline {one!r} is none of the systems: {', '.join(systems)}")
    if not baselines:
        raise ValueError("baseline is empty: give the name of a system, or None for all pairs")
    return [(a, b) for b in baselines for a in systems if a not in baselines] or [
        (a, b) for i, a in enumerate(baselines) for b in baselines[i + 1 :]
    ]


def contrasted(
    values: Values,
    pairs: Sequence[Pair],
    names: Sequence[str],
    asked: Asked,
    units: Units,
    higher: Callable[[str], bool] = lambda name: True,
    of_users: bool = True,
    baselines: Sequence[str] = (),
) -> Tests:
    """Return the comparisons of all pairs in all names, corrected."""
    rows: list[Contrast] = []
    columns: list[Floats] = []
    n_drawn = 0
    for name in names:
        found = {one: values(one, name) for pair in pairs for one in pair}
        for system, baseline in pairs:
            a, b = found[system], found[baseline]
            if asked.runs is None:
                row, drawn = _contrast(a, b, asked, units)
                n_drawn = max(n_drawn, drawn)
            else:
                row = _of_runs(a, b, asked, units)
            whose = {"name": name, "system": system, "baseline": baseline}
            rows.append(replace(row, **whose, higher_is_better=higher(name)))  # type: ignore[arg-type]
            if asked.correction == "maxt":
                columns.append(snap(a, b))
    plan = Plan(
        *(asked.method, asked.correction, asked.family, asked.alternative, asked.level),
        n_resamples=n_drawn,
        seed=asked.seed,
        margin=asked.margin,
        runs=asked.runs,
        clustered=units.clusters is not None,
        weighted=units.weights is not None,
        baselines=tuple(baselines),
        of_users=of_users,
    )
    return _corrected(rows, columns, plan, asked, units)


def _contrast(a: Floats, b: Floats, asked: Asked, units: Units) -> tuple[Contrast, int]:
    """Return one comparison without its names, and how many resamples it took."""
    both = paired.paired(
        *(a, b),
        **units.given,
        alternative=asked.alternative,
        level=asked.level,
        n_threads=asked.n_threads,
    )
    row = _row(both)
    if asked.margin is not None:
        return _equivalent(row, asked), 0
    if asked.method == "t":
        return row, 0
    d, drawn = snap(a, b), {**asked.drawn, **units.given, "alternative": asked.alternative}
    if asked.method == "randomization":
        flips = randomization.randomization(d, **drawn)
        return _by(row, flips), flips.n_resamples
    if asked.method == "bootstrap":
        boot = randomization.bootstrap(d, level=asked.level, **drawn)
        by = replace(row, statistic=boot.statistic, p=boot.p, low=boot.low, high=boot.high)
        return by, boot.n_resamples
    if units.weights is not None or units.clusters is not None:
        raise ValueError(f"method={asked.method!r} takes neither weights nor clusters")
    test = randomization.wilcoxon if asked.method == "wilcoxon" else randomization.sign
    return _by(row, test(d, alternative=asked.alternative)), 0


def _by(row: Contrast, outcome: randomization.Outcome) -> Contrast:
    return replace(row, statistic=outcome.statistic, p=outcome.p, exact=outcome.exact)


def _row(both: paired.Paired) -> Contrast:
    """Return a comparison by its t test, without names."""
    test = both.test._asdict()
    return Contrast("", "", "", **test, **both.effects._asdict(), cautions=tuple(both.cautions))


def _equivalent(row: Contrast, asked: Asked) -> Contrast:
    found = planning.tost(row.difference, row.error, row.df, asked.margin or 0.0, asked.level)
    numbers: dict[str, Any] = found._asdict()
    return replace(row, **numbers)


def _of_runs(a: Floats, b: Floats, asked: Asked, units: Units) -> Contrast:
    """Return a comparison of systems that were trained several times."""
    found = paired.runs(
        *(a, b, asked.runs or ""),
        **units.given,
        alternative=asked.alternative,
        level=asked.level,
        n_threads=asked.n_threads,
    )
    anew: dict[str, Any] = found.anew._asdict()
    row = replace(_row(found.trained), **anew, cautions=tuple(found.cautions))
    trained = found.trained.test
    row = replace(row, error_users=trained.error, p_users=trained.p)
    return row if asked.margin is None else _equivalent(row, asked)


def _corrected(
    rows: list[Contrast], columns: list[Floats], plan: Plan, asked: Asked, units: Units
) -> Tests:
    """Return the comparisons with p corrected within each family."""
    names = [one.name for one in rows]
    whole = [np.arange(len(rows))]
    if plan.family == "metric":
        whole = [np.flatnonzero([one == name for one in names]) for name in dict.fromkeys(names)]
    for places in whole:
        some = [rows[i] for i in places.tolist()]
        if plan.correction == "maxt":
            found = _maxt([columns[i] for i in places.tolist()], asked, units)
            adjusted, single = found.step_down, found.single_step
            plan = replace(plan, critical=found.critical)
            few = {"randomization": (200, FEW_FOR_FLIPS), "t": (50, FEW_FOR_T)}[asked.method]
            if some and some[0].n < few[0]:
                plan = replace(plan, notes=(few[1],))
        else:
            adjusted = adjust([one.p for one in some], plan.correction)
            single = np.full(len(some), math.nan)
        for i, p, q in zip(places.tolist(), adjusted.tolist(), single.tolist(), strict=True):
            own = rows[i].p  # of the same t, but rounded otherwise
            rows[i] = replace(rows[i], p_adjusted=own if p < own else p, p_single_step=q)
    return Tests(tuple(rows), plan)


def _maxt(columns: list[Floats], asked: Asked, units: Units) -> simultaneous.MaxT:
    """Return the adjusted p of some columns of differences."""
    options = {**asked.drawn, "alternative": asked.alternative, "level": asked.level}
    if asked.method == "randomization":
        return simultaneous.maxt_flips(columns, **options, **units.given)
    if units.weights is not None or units.clusters is not None:
        columns = [paired.linearised(*paired.units(d, *units)) for d in columns]
    joint = simultaneous.Joint.over(
        lambda first, last: np.stack([d[first:last] for d in columns], axis=1),
        *(len(columns[0]), len(columns)),
        n_threads=asked.n_threads,
    )
    return simultaneous.maxt_t(joint, **options)


class Given(NamedTuple):
    """Values as they were given, by system: (n,) each, or (n_runs, n)."""

    values: dict[str, Floats]
    units: Units
    of_users: bool


def read(values: Any, weights: Any = None, clusters: Any = None, runs: bool = False) -> Given:
    """Read values by system: arrays of equal length, or dicts user -> value with the same users.

    Raises
    ------
    TypeError, ValueError
        For what is no dict of systems, other users in one than in another, NaN.
    """
    if not isinstance(values, Mapping):
        raise TypeError(f"give a dict of system -> values, not {type(values).__name__}")
    if not values:
        raise ValueError("the dict of systems is empty: give system -> values")
    if runs:
        flat = {(name, i): one for name, some in values.items() for i, one in enumerate(some)}
        rows, users = _aligned(flat)
        found = {
            name: np.stack([rows[name, i] for i in range(len(some))])
            for name, some in values.items()
        }
    else:
        found, users = _aligned(values)
    n = next(iter(found.values())).shape[-1]
    units = Units(_by_user(weights, users, n, "weights"), _by_user(clusters, users, n, "clusters"))
    if units.weights is not None:
        units = units._replace(weights=np.asarray(units.weights, np.float64))
    return Given(found, units, users is not None)


def _aligned(values: Mapping[Any, Any]) -> tuple[dict[Any, Floats], list[Any] | None]:
    """Return the values of all systems in one order of users, and the users if they have keys."""
    from toplist.inputs.keyed import counts_rows, is_series

    read: dict[Any, Any] = {}
    for system, one in values.items():
        if is_series(one) and counts_rows(one.index):
            one = one.to_numpy()
        elif is_series(one):
            if not one.index.is_unique:
                twice = one.index[one.index.duplicated()].tolist()[0]
                raise ValueError(
                    f"the Series of {_named(system)} has user {twice!r} twice: one value per user, "
                    "or give .to_numpy() and the users as clusters"
                )
            one = one.to_dict()
        read[system] = one
    keyed = [isinstance(one, Mapping) for one in read.values()]
    first = next(iter(read))
    if all(keyed):
        users = _in_order(list(read[first]))
        for system, one in read.items():
            _same(first, users, system, one)
        lists = {s: [one[user] for user in users] for s, one in read.items()}
        return {s: _floats(s, one, users) for s, one in lists.items()}, users
    if any(keyed):
        raise TypeError("some systems have values by user and some by position: give all alike")
    arrays = {system: _floats(system, one, None) for system, one in read.items()}
    for system, array in arrays.items():
        if len(array) != len(arrays[first]):
            raise ValueError(
                f"{_named(first)} has {len(arrays[first]):,} values and {_named(system)} "
                f"{len(array):,}: give one per user, in one order, or dicts user -> value"
            )
    return arrays, None


def _in_order(users: list[Any]) -> list[Any]:
    """Return users in the order of the words of their keys: no figure depends on another order."""
    from toplist.inputs.words import words_of

    words = words_of(users).tolist() if users else []
    return [user for _, _, user in sorted(zip(words, map(repr, users), users, strict=True))]


def _same(first: Any, users: list[Any], system: Any, values: Mapping[Any, Any]) -> None:
    missing = [user for user in users if user not in values]
    more = len(values) - (len(users) - len(missing))
    if missing or more:
        example = missing[0] if missing else next(u for u in values if u not in set(users))
        raise ValueError(
            f"{_named(system)} has other users than {_named(first)}: {len(missing):,} are missing "
            f"and {more:,} are new, {example!r} first"
        )


def _named(system: Any) -> str:
    return f"run {system[1]} of {system[0]}" if isinstance(system, tuple) else str(system)


def _floats(system: Any, values: Any, users: list[Any] | None) -> Floats:
    """Return values as a float64 array; TypeError or ValueError where they are none."""
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"the values of {_named(system)} are no numbers") from None
    if array.ndim != 1:
        raise ValueError(
            f"the values of {_named(system)} have shape {array.shape}: one per user is needed"
        )
    bad = np.flatnonzero(~np.isfinite(array))
    if len(bad):
        row = int(bad[0])
        user = row if users is None else users[row]
        raise ValueError(f"the value of user {user!r} of {_named(system)} is {array[row]}")
    return array


def _by_user(values: Any, users: list[Any] | None, n: int, what: str) -> Any:
    """Return weights or clusters in the order of the users."""
    if values is None:
        return None
    from toplist.inputs.user_values import values_by_user

    found, _ = values_by_user(values, users, n, what)
    if any(one is None for one in found):
        row = next(i for i, one in enumerate(found) if one is None)
        raise ValueError(f"{what}: user {row if users is None else users[row]!r} has none")
    return found


def paired_tests(
    values: Mapping[str, Any],
    *,
    baseline: str | Sequence[str] | None = None,
    name: str = VALUE,
    method: str = "t",
    correction: str = "holm",
    alternative: str = "two-sided",
    level: float = 0.95,
    weights: Any = None,
    clusters: Any = None,
    runs: str | None = None,
    n_resamples: int | None = None,
    seed: int = 0,
    n_threads: int | None = None,
) -> Tests:
    """Test the differences of systems by anybody's values per user, query or session.

    Parameters
    ----------
    values : dict of system -> values
        Arrays of one value per user, in one order; or dicts and Series by user, which are matched
        by key. With `runs`, a list of these for each system.
    baseline : str or several, optional
        Each other system is compared with it: system - baseline. Default: all pairs, the first
        less the second in the order of the dict.
    name : str
        Of the measure, for the table.
    method : {"t", "randomization", "bootstrap", "wilcoxon", "sign"}
        The paired t test; sign flips (10,000, exact for few users); the studentised bootstrap
        (9,999); Wilcoxon's signed ranks and the sign test, which do not test the mean.
    correction : {"holm", "maxt", "bh", "bonferroni", "none"}
        Of p for all comparisons together. "maxt" takes their correlation into account.
    alternative : {"two-sided", "greater", "less"}
        Of system - baseline, as a number.
    level : float
        Of the intervals, between 0 and 1.
    weights, clusters : one per user, or dict user -> value
        Weights above 0; labels of rows that belong together, such as the sessions of a user.
    runs : {"independent", "paired"}, optional
        Several runs (seeds, splits) of each system: users are averaged over runs first, and both
        users and runs are sources of error; "paired" where run i of all systems is of one split.
    n_resamples, seed, n_threads
        Of sign flips, bootstrap and MaxT. The result does not depend on the threads.

    Returns
    -------
    Tests

    Raises
    ------
    TypeError, ValueError
        For systems over other users, values that are not finite, and bad options.

    Examples
    --------
    >>> import toplist as tl
    >>> knn = {"ann": 0.2, "bob": 0.1, "cid": 0.2, "dan": 0.1, "eve": 0.3}
    >>> ease = {"eve": 0.6, "dan": 0.4, "cid": 0.1, "bob": 0.9, "ann": 0.5}
    >>> tests = tl.paired_tests({"knn": knn, "ease": ease}, baseline="knn", name="ndcg@10")
    >>> print(tests.sentence())
    Differences were tested by two-sided paired t over 5 users, with p after Holm over 1 \
comparison; intervals are 95 % and hold one by one. ease exceeds knn by 0.3200 in ndcg@10 (0.5000 \
against 0.1800, interval [-0.0766, +0.7166], p = 0.089, d_z = 1.00; 4 users higher, 0 equal, 1 \
lower).
    """
    asked = Asked(
        *(method, correction, alternative, level),
        n_resamples=n_resamples,
        seed=seed,
        n_threads=n_threads,
        runs=runs,
    )
    return _asked_of(values, baseline, name, asked, weights, clusters)


def _asked_of(
    values: Any, baseline: Any, name: str, asked: Asked, weights: Any = None, clusters: Any = None
) -> Tests:
    given = read(values, weights, clusters, runs=asked.runs is not None)
    pairs = pairs_of(list(given.values), baseline)
    baselines = [baseline] if isinstance(baseline, str) else list(baseline or ())
    return contrasted(
        lambda system, _: given.values[system],
        *(pairs, [name], asked, given.units),
        of_users=given.of_users,
        baselines=baselines,
    )


def equivalence(
    values: Mapping[str, Any],
    *,
    margin: float,
    baseline: str | Sequence[str] | None = None,
    name: str = VALUE,
    correction: str = "none",
    level: float = 0.95,
    weights: Any = None,
    clusters: Any = None,
    runs: str | None = None,
) -> Tests:
    """Test whether differences are within a margin that does not matter: two one-sided t tests.

    Parameters
    ----------
    values, baseline, name, weights, clusters, runs
        As in `paired_tests`.
    margin : float
        Above 0, in units of the values.
    correction : {"none", "holm", "bh", "bonferroni"}
    level : float
        Of each one-sided test; the interval is that of 2 level - 1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, noise = rng.random(400), rng.normal(0, 0.01, 400)
    >>> test = equivalence({"a": a, "b": a + noise}, margin=0.005)[0]
    >>> test.p < 0.001, test.p_not_worse < 0.001, -0.005 < test.low < test.high < 0.005
    (True, True, True)
    """
    asked = Asked(correction=correction, level=level, margin=margin, runs=runs)
    return _asked_of(values, baseline, name, asked, weights, clusters)


class Family(NamedTuple):
    """Many comparisons at once, as arrays in the order given."""

    names: tuple[str, ...]
    statistic: Floats
    p: Floats
    p_adjusted: Floats
    p_single_step: Floats
    critical: float


def family(
    pairs: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    method: str = "t",
    alternative: str = "two-sided",
    level: float = 0.95,
    n_resamples: int | None = None,
    seed: int = 0,
    n_threads: int | None = None,
) -> Family:
    """Correct many comparisons over the same users by the largest of their statistics (MaxT).

    Parameters
    ----------
    pairs : dict of name -> (values, values of the baseline)
        The same users in the same order everywhere.
    method : {"t", "randomization"}

    Returns
    -------
    Family
        `p_adjusted` is step-down; `critical` times a standard error makes intervals that hold for
        all together.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.random(200), rng.random(200)
    >>> found = family({"one": (a + 0.2, b), "two": (a, b), "again": (a, b)})
    >>> (found.p_adjusted >= found.p).all(), found.p_adjusted[0] < 0.05
    (np.True_, np.True_)
    """
    asked = Asked(
        *(method, "maxt", alternative, level),
        n_resamples=n_resamples,
        seed=seed,
        n_threads=n_threads,
    )
    columns = [snap(*map(np.asarray, both)) for both in pairs.values()]
    found = _maxt(columns, asked, Units())
    return Family(
        tuple(pairs), found.statistic, found.p, found.step_down, found.single_step, found.critical
    )


def band(
    values: ArrayLike,
    baseline: ArrayLike,
    *,
    level: float = 0.95,
    n_resamples: int | None = None,
    seed: int = 0,
    n_threads: int | None = None,
    names: tuple[str, str] = ("system", "baseline"),
    name: str = VALUE,
) -> Band:
    """Return the difference of two systems at every k: intervals for each k, and for all together.

    Parameters
    ----------
    values, baseline : (n_users, K) float
        The curve of each user; the same users in the same order.
    level : float
    n_resamples, seed, n_threads
        Of the draws that the simultaneous interval takes.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = band(rng.random((50, 10)) + 0.5, rng.random((50, 10)))
    >>> found.better
    [(1, 10)]
    """
    a, b = (np.asarray(one, np.float64) for one in (values, baseline))
    if a.shape != b.shape or a.ndim != 2:
        raise ValueError(f"curves have shapes {a.shape} and {b.shape}: both are users x k")
    joint = simultaneous.Joint.over(
        lambda lo, hi: snap(a[lo:hi].ravel(), b[lo:hi].ravel()).reshape(hi - lo, -1),
        *(a.shape[0], a.shape[1]),
        n_threads=n_threads,
    )
    return banded(joint, level, n_resamples, seed, n_threads, names, name)


def banded(
    joint: simultaneous.Joint,
    level: float,
    n_resamples: int | None,
    seed: int,
    n_threads: int | None,
    names: tuple[str, str],
    name: str,
    higher: bool = True,
) -> Band:
    """Return the band of merged moments."""
    some = {} if n_resamples is None else {"n_resamples": n_resamples}
    found = simultaneous.band(joint, level=level, seed=seed, n_threads=n_threads, **some)
    return Band(*found, name=name, systems=names, level=level, higher_is_better=higher)


def ratio(
    system: tuple[ArrayLike, ArrayLike],
    baseline: tuple[ArrayLike, ArrayLike],
    *,
    alternative: str = "two-sided",
    level: float = 0.95,
) -> TTest:
    """Test the difference of two ratios of sums, such as pooled precision (the delta method).

    Parameters
    ----------
    system, baseline : (numerators, divisors)
        Each (n,): of every user.

    Examples
    --------
    >>> round(ratio(([2, 0, 1], [4, 1, 1]), ([1, 0, 1], [4, 1, 1])).difference, 4)
    0.1667
    """
    return paired.ratio(*system, *baseline, alternative=alternative, level=level)


def anova(values: Mapping[str, Any]) -> Anova:
    """Test whether any two of several systems differ: two-way, users as blocks.

    Examples
    --------
    >>> round(anova({"a": [0.0, 1.0, 2.0], "b": [1.0, 1.0, 4.0]}).p_systems, 4)
    0.2254
    """
    found = read(values).values
    return blocked.anova(blocked.moments_of(np.stack(list(found.values()), axis=1)))


def tukey(
    values: Mapping[str, Any],
    *,
    method: str = "t",
    name: str = VALUE,
    level: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 0,
    n_threads: int | None = None,
) -> Tests:
    """Compare all pairs of systems by Tukey's test: one pooled variance, users as blocks.

    Near twins among the systems distort the pooled variance; ``correction="maxt"`` of
    `paired_tests` does not need it.

    Parameters
    ----------
    values : dict of system -> values
        As in `paired_tests`.
    method : {"t", "randomization"}
        The studentised range; or permutations of each user's values.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> systems = {"a": rng.random(50), "b": rng.random(50), "c": rng.random(50) + 0.3}
    >>> [f"{one.system} - {one.baseline}: {one.p_adjusted:.3f}" for one in tukey(systems)]
    ['a - b: 0.739', 'a - c: 0.000', 'b - c: 0.000']
    """
    choice("method", method, ("t", "randomization"))
    found = read(values).values
    systems, table = list(found), np.stack(list(found.values()), axis=1)
    if len(systems) < 2:
        raise ValueError(f"two systems are needed, and there is {systems[0]}")
    all_pairs = blocked.tukey_hsd(blocked.moments_of(table), level)
    p = all_pairs.p
    if method == "randomization":
        p = blocked.randomized_tukey(table, n_resamples, seed, n_threads)
    means = table.mean(axis=0)
    rows = []
    for place, (i, j) in enumerate(zip(all_pairs.first, all_pairs.second, strict=True)):
        numbers: dict[str, Any] = {
            field: float(getattr(all_pairs, field)[place])
            for field in ("difference", "statistic", "low", "high", "effect")
        }
        sizes = paired.Pairs.of(table[:, i], table[:, j])
        numbers |= {"wins": sizes.wins, "ties": sizes.ties, "losses": sizes.losses}
        numbers |= {"p": float(p[place]), "p_adjusted": float(p[place]), "df": all_pairs.df}
        both = float(means[i]), float(means[j])
        rows.append(Contrast(name, systems[i], systems[j], len(table), *both, **numbers))
    drawn = n_resamples if method == "randomization" else 0
    plan = Plan("tukey", "none", level=level, n_resamples=drawn, seed=seed)
    return Tests(tuple(rows), plan)
