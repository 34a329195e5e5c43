"""Pairwise comparisons of systems: each tested as it was asked, p corrected for all together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, get_args

import numpy as np

from toplist.checks import USERS, Floats, choice, worded
from toplist.comparing.contrasts import (
    FEW_DIFFER,
    FEW_DIFFER_FOR_BOOTSTRAP,
    FEW_FOR_FLIPS,
    FEW_FOR_T,
    FEW_RUNS,
    FEW_UNITS,
    ONE_UNIT,
    SPLITS,
    Contrast,
    TestPlan,
)
from toplist.comparing.tests import Tests
from toplist.stats import estimates, planning, randomization, simultaneous
from toplist.stats.corrections import adjust
from toplist.stats.distributions import Parts
from toplist.stats.estimates import (
    FEW_DF,
    RUNS,
    Alternative,
    Difference,
    RunsAre,
    Units,
    checked,
    snap,
)

TestMethod = Literal["t", "randomization", "bootstrap", "wilcoxon", "sign"]
METHODS: tuple[TestMethod, ...] = get_args(TestMethod)
TestCorrection = Literal["holm", "maxt", "bh", "bonferroni", "none"]
CORRECTIONS: tuple[TestCorrection, ...] = get_args(TestCorrection)
TestFamily = Literal["all", "metric"]
FAMILIES: tuple[TestFamily, ...] = get_args(TestFamily)


@dataclass(frozen=True)
class TestSpec:
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
    baselines: Sequence[str] = ()
    users: str = "same"
    weights: Any = None
    clusters: Any = None
    unit: str = USERS
    rules: str = ""

    def __post_init__(self) -> None:
        """Check the choices."""
        choice("method", self.method, METHODS)
        choice("correction", self.correction, CORRECTIONS)
        choice("family", self.family, FAMILIES)
        checked(self.alternative, self.level)
        if self.margin is not None:
            planning.check_margin(self.margin)
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
        return {"alternative": self.alternative, "level": self.level}

    def plan(self, rows: Sequence[Contrast], **more: Any) -> TestPlan:
        """Return how these comparisons were tested, with fields that are known later."""
        drawn = {"randomization": randomization.FLIPS, "bootstrap": randomization.RESAMPLES}
        n_resamples = 0
        if self.method in drawn and not all(one.exact for one in rows):
            n_resamples = self.n_resamples or drawn[self.method]
        return TestPlan(
            *(self.method, self.correction, self.family, self.alternative, self.level),
            *(n_resamples, self.seed, self.margin, self.runs),
            baselines=tuple(self.baselines),
            unit=self.unit,
            rules=self.rules,
            **more,
        )


# (system, name) -> the values (n,), or (n_runs, n) of several runs
Values = Callable[[str, str], Floats]
Pair = tuple[str, str]
# A system, its baseline and a name; and their MaxT, for those of one family
Column = tuple[str, str, str]
Largest = Callable[[Sequence[Column]], simultaneous.MaxT]


def pairs_of(systems: Sequence[str], baseline: str | Sequence[str] | None) -> list[Pair]:
    """Return the (system, baseline) that are compared: all pairs, or each against the baselines.

    Without a baseline, the first of each pair is it.

    Examples
    --------
    >>> pairs_of(["a", "b", "c"], None), pairs_of(["a", "b", "c"], "b")
    ([('b', 'a'), ('c', 'a'), ('c', 'b')], [('a', 'b'), ('c', 'b')])
    """
    if len(systems) < 2:
        raise ValueError(f"two systems are needed, and there is {', '.join(systems) or 'none'}")
    if baseline is None:
        return [(b, a) for i, a in enumerate(systems) for b in systems[i + 1 :]]
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
        (b, a) for i, a in enumerate(baselines) for b in baselines[i + 1 :]
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
    asked: TestSpec,
    units: Units,
    higher: Callable[[str], bool | None] = lambda name: True,
    of_users: bool = True,
) -> Tests:
    """Return the comparisons of all pairs in all names, corrected."""
    systems = {one for pair in pairs for one in pair}
    kept = lru_cache(maxsize=len(systems))(values)  # those of one name
    differences: dict[Column, Floats] = {}
    n_runs = set[int]()

    def contrast(system: str, baseline: str, name: str) -> Contrast:
        a, b = kept(system, name), kept(baseline, name)
        if asked.correction == "maxt":
            differences[system, baseline, name] = snap(a, b)
        if asked.runs is None:
            return _contrast(a, b, asked, units)
        n_runs.update((len(a), len(b)))
        return _of_runs(a, b, asked, units)

    rows = named(contrast, pairs, names, higher)
    plan = asked.plan(
        rows,
        n_runs=tuple(sorted(n_runs)),
        n_clusters=units.n_clusters,
        weighted=units.weights is not None,
        of_users=of_users,
        notes=tuple(worded(one, asked.unit) for one in _notes(rows, asked, units, n_runs)),
    )
    return corrected(
        rows, plan, lambda some: maxt([differences[one] for one in some], asked, units)
    )


def _notes(
    rows: Sequence[Contrast], asked: TestSpec, units: Units, n_runs: Iterable[int]
) -> Iterator[str]:
    """Yield where p does not hold as printed."""
    if asked.runs is not None:
        yield SPLITS
        if 2 <= min(n_runs, default=0) <= 3:
            yield FEW_RUNS
    some = [one for one in rows if one.p == one.p and one.wins + one.losses]
    if asked.method == "bootstrap":
        differ = [one.wins + one.losses for one in some]
        if min([*differ, units.n_clusters or FEW_DIFFER]) < FEW_DIFFER:
            yield FEW_DIFFER_FOR_BOOTSTRAP
    if asked.method == "t" and not units.plain and some and units.df < FEW_DF:
        words = "weights" if units.clusters is None else "clusters"
        yield FEW_UNITS.format(df=units.df, units=words) + ONE_UNIT * (units.df < 1.5)


def named(
    contrast: Callable[[str, str, str], Contrast],
    pairs: Sequence[Pair],
    names: Sequence[str],
    higher: Callable[[str], bool | None],
) -> list[Contrast]:
    """Return the comparisons of all pairs in all names, name by name, with their names."""
    rows = []
    for name in names:
        for system, baseline in pairs:
            row = contrast(system, baseline, name)
            whose: dict[str, Any] = {"name": name, "system": system, "baseline": baseline}
            rows.append(replace(row, **whose, higher_is_better=higher(name)))
    return rows


def _contrast(a: Floats, b: Floats, asked: TestSpec, units: Units) -> Contrast:
    """Return one comparison without its names."""
    row = row_of(estimates.difference(a, b, units, **asked.of_users), asked)
    if asked.method == "t":
        return row
    d, drawn = snap(a, b), {**asked.drawn, "alternative": asked.alternative}
    if asked.method == "randomization":
        return _by(row, randomization.randomization(d, units, **drawn))
    if asked.method == "bootstrap":
        boot = randomization.bootstrap(d, units, level=asked.level, **drawn)
        return replace(row, statistic=boot.statistic, p=boot.p, low=boot.low, high=boot.high)
    if not units.plain:
        raise ValueError(f"method={asked.method!r} takes neither weights nor clusters")
    test = randomization.wilcoxon if asked.method == "wilcoxon" else randomization.sign
    return _by(row, test(d, alternative=asked.alternative))


def _by(row: Contrast, outcome: randomization.Outcome) -> Contrast:
    return replace(row, statistic=outcome.statistic, p=outcome.p, exact=outcome.exact)


def row_of(found: Difference, asked: TestSpec, parts: Parts | None = None, **more: Any) -> Contrast:
    """Return a comparison by its t test, or the two of an equivalence, without names."""
    fields = found._asdict() | more
    n_bounded, _ = fields.pop("n_bounded"), fields.pop("differ")
    row = Contrast("", "", "", **fields)
    if asked.margin is None:
        return row
    within = planning.tost(
        *(row.difference, row.error, parts or row.df, asked.margin, asked.level), n_bounded
    )
    if row.error == 0 and within.p != within.p:
        row = replace(row, cautions=(*row.cautions, "ALL ALIKE"))
    return replace(row, **within._asdict())


def _of_runs(a: Floats, b: Floats, asked: TestSpec, units: Units) -> Contrast:
    """Return a comparison of systems that were trained several times."""
    found = estimates.runs(a, b, asked.runs or "", units, **asked.of_users)
    trained = row_of(found.trained, asked)
    return row_of(found.anew, asked, found.parts, error_users=trained.error, p_users=trained.p)


def corrected(rows: list[Contrast], plan: TestPlan, largest: Largest | None = None) -> Tests:
    """Return the comparisons with p corrected within each family; `largest` is for "maxt"."""
    names = [one.name for one in rows]
    whole = [np.arange(len(rows))]
    if plan.family == "metric":
        whole = [np.flatnonzero([one == name for one in names]) for name in dict.fromkeys(names)]
    for places in whole:
        some = [rows[i] for i in places.tolist()]
        if plan.correction == "maxt" and largest is not None:
            found = largest([(one.system, one.baseline, one.name) for one in some])
            adjusted = found.step_down
            few = {"randomization": (200, FEW_FOR_FLIPS), "t": (50, FEW_FOR_T)}[plan.method]
            if some and some[0].n < few[0]:
                plan = replace(plan, notes=tuple(dict.fromkeys([*plan.notes, few[1]])))
        else:
            correction: Any = plan.correction
            adjusted = adjust([one.p for one in some], correction)
        for i, p in zip(places.tolist(), adjusted.tolist(), strict=True):
            own = rows[i].p  # of the same t, but rounded otherwise
            rows[i] = replace(rows[i], p_adjusted=own if p < own else p)
    return Tests(tuple(rows), plan)


def maxt(columns: list[Floats], asked: TestSpec, units: Units) -> simultaneous.MaxT:
    """Return the adjusted p of some columns of differences."""
    options = asked.drawn | asked.of_users
    if asked.method == "randomization":
        return simultaneous.maxt_flips(columns, units, **options)
    found = estimates.estimate(columns, units, n_threads=asked.n_threads)
    return simultaneous.maxt_t(found, **options)
