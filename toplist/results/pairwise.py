"""Pairwise comparisons of systems: each tested as it was asked, p corrected for all together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from toplist.checks import Floats, choice
from toplist.results.contrasts import FEW_FOR_FLIPS, FEW_FOR_T, Contrast, Plan
from toplist.results.tests import Tests
from toplist.results.values import Units
from toplist.stats import paired, planning, randomization, simultaneous
from toplist.stats.corrections import adjust
from toplist.stats.paired import RUNS, Alternative, RunsAre, checked, snap

TestMethod = Literal["t", "randomization", "bootstrap", "wilcoxon", "sign"]
METHODS: tuple[TestMethod, ...] = get_args(TestMethod)
TestCorrection = Literal["holm", "maxt", "bh", "bonferroni", "none"]
CORRECTIONS: tuple[TestCorrection, ...] = get_args(TestCorrection)
TestFamily = Literal["all", "metric"]
FAMILIES: tuple[TestFamily, ...] = get_args(TestFamily)


@dataclass(frozen=True)
class Asked:
    """What is asked of the tests; checked before any value is looked at."""

    method: TestMethod = "t"
    correction: TestCorrection = "holm"
    alternative: Alternative = "two-sided"
    level: float = 0.95
    family: TestFamily = "all"
    n_resamples: int | None = None
    seed: int = 0
    n_threads: int | None = None
    margin: float | None = None
    runs: RunsAre | None = None

    def __post_init__(self) -> None:
        """Check the choices."""
        choice("method", self.method, METHODS)
        choice("correction", self.correction, CORRECTIONS)
        choice("family", self.family, FAMILIES)
        checked(self.alternative, self.level)
        if self.margin is not None:
            number = isinstance(self.margin, (int, float, np.number))
            number &= not isinstance(self.margin, bool)
            if not number or not 0 < self.margin < math.inf:
                raise ValueError(f"margin must be a number above 0, not {self.margin!r}")
            if self.level <= 0.5:
                raise ValueError(
                    f"level must be above 0.5, not {self.level!r}: the interval of two one-sided "
                    "tests is that of 2 level - 1"
                )
            if self.correction == "maxt":
                raise ValueError("correction='maxt' is of tests of a difference: choose another")
        if self.n_resamples is not None:
            randomization.resamples(self.n_resamples)
        randomization.seeded(self.seed)
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
    def drawn(self) -> dict[str, Any]:
        """What random tests are given; each has a default number of resamples."""
        some = {} if self.n_resamples is None else {"n_resamples": self.n_resamples}
        return {"seed": self.seed, "n_threads": self.n_threads, **some}

    @property
    def of_users(self) -> dict[str, Any]:
        """What tests over users are given."""
        return {
            "alternative": self.alternative,
            "level": self.level,
            "n_threads": self.n_threads,
        }

    def plan(self, **more: Any) -> Plan:
        """Return how this is tested, with fields of `Plan` that are known later."""
        return Plan(
            *(self.method, self.correction, self.family, self.alternative, self.level),
            seed=self.seed,
            margin=self.margin,
            runs=self.runs,
            **more,
        )


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
    if not isinstance(baseline, (str, list, tuple)):
        raise TypeError(f"baseline is {baseline!r}: give the name of a system, or a list of names")
    baselines = [baseline] if isinstance(baseline, str) else list(baseline)
    for one in baselines:
        if baselines.count(one) > 1:
            raise ValueError(f"baseline {one!r} is given twice")
        if one not in systems:
            raise ValueError(f"baseline {one!r} is none of the systems: {', '.join(systems)}")
    if not baselines:
        raise ValueError("baseline is empty: give the name of a system, or None for all pairs")
    return [(a, b) for b in baselines for a in systems if a not in baselines] or [
        (a, b) for i, a in enumerate(baselines) for b in baselines[i + 1 :]
    ]


def with_margin(margin: Any) -> Any:
    """Return a margin; TypeError for None, which would ask for no test of equivalence."""
    if margin is None:
        raise TypeError(
            "margin is None: give the difference that does not matter, a number above 0"
        )
    return margin


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
    n_drawn, n_runs = 0, set[int]()
    for name in names:
        found = {one: values(one, name) for pair in pairs for one in pair}
        for system, baseline in pairs:
            a, b = found[system], found[baseline]
            if asked.runs is None:
                row, drawn = _contrast(a, b, asked, units)
                n_drawn = max(n_drawn, drawn)
            else:
                row = _of_runs(a, b, asked, units)
                n_runs |= {len(a), len(b)}
            whose = {"name": name, "system": system, "baseline": baseline}
            rows.append(replace(row, **whose, higher_is_better=higher(name)))  # type: ignore[arg-type]
            if asked.correction == "maxt":
                columns.append(snap(a, b))
    plan = asked.plan(
        n_resamples=n_drawn,
        n_runs=tuple(sorted(n_runs)),
        n_clusters=0 if units.clusters is None else len(set(units.clusters)),
        weighted=units.weights is not None,
        baselines=tuple(baselines),
        of_users=of_users,
    )

    def largest(places: Sequence[int]) -> simultaneous.MaxT:
        return maxt([columns[place] for place in places], asked, units)

    return corrected(rows, largest, plan, asked)


def _contrast(a: Floats, b: Floats, asked: Asked, units: Units) -> tuple[Contrast, int]:
    """Return one comparison without its names, and how many resamples it took."""
    row = row_of(paired.paired(a, b, **units.given, **asked.of_users))
    if asked.margin is not None:
        return equivalent(row, asked), 0
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


def row_of(both: paired.Paired) -> Contrast:
    """Return a comparison by its t test, without names."""
    test = both.test._asdict()
    return Contrast("", "", "", **test, **both.effects._asdict(), cautions=tuple(both.cautions))


def equivalent(row: Contrast, asked: Asked) -> Contrast:
    """Return a comparison with p and interval of the two one-sided tests."""
    found = planning.tost(row.difference, row.error, row.df, asked.margin or 0.0, asked.level)
    numbers: dict[str, Any] = found._asdict()
    return replace(row, **numbers)


def _of_runs(a: Floats, b: Floats, asked: Asked, units: Units) -> Contrast:
    """Return a comparison of systems that were trained several times."""
    found = paired.runs(a, b, asked.runs or "", **units.given, **asked.of_users)
    trained, anew = found.trained.test, found.anew._asdict()
    anew |= {"error_users": trained.error, "p_users": trained.p}
    row = replace(row_of(found.trained), **anew, cautions=tuple(found.cautions))
    return row if asked.margin is None else equivalent(row, asked)


# The places of comparisons in one family -> their p by the largest of their statistics
Largest = Callable[[Sequence[int]], simultaneous.MaxT]


def corrected(rows: list[Contrast], largest: Largest | None, plan: Plan, asked: Asked) -> Tests:
    """Return the comparisons with p corrected within each family; `largest` is for "maxt"."""
    names = [one.name for one in rows]
    whole = [np.arange(len(rows))]
    if plan.family == "metric":
        whole = [np.flatnonzero([one == name for one in names]) for name in dict.fromkeys(names)]
    for places in whole:
        some = [rows[i] for i in places.tolist()]
        if plan.correction == "maxt" and largest is not None:
            found = largest(places.tolist())
            adjusted, single = found.step_down, found.single_step
            few = {"randomization": (200, FEW_FOR_FLIPS), "t": (50, FEW_FOR_T)}[asked.method]
            if some and some[0].n < few[0]:
                plan = replace(plan, notes=(few[1],))
        else:
            correction: Any = plan.correction
            adjusted = adjust([one.p for one in some], correction)
            single = np.full(len(some), math.nan)
        for i, p, q in zip(places.tolist(), adjusted.tolist(), single.tolist(), strict=True):
            own = rows[i].p  # of the same t, but rounded otherwise
            rows[i] = replace(rows[i], p_adjusted=own if p < own else p, p_single_step=q)
    return Tests(tuple(rows), plan)


def maxt(columns: list[Floats], asked: Asked, units: Units) -> simultaneous.MaxT:
    """Return the adjusted p of some columns of differences."""
    options = asked.drawn | asked.of_users
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
