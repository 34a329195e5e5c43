"""What stands beside tests: `Band` over k, `Power`, the `Lead` of the best, single `Movers`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import nsmallest
from typing import Any, NamedTuple, Self

import numpy as np

from toplist.checks import USERS, Bools, Floats, Ints, counted, readable, worded
from toplist.comparing.aligning import Aligned
from toplist.comparing.contrasts import SameUsers, TestPlan
from toplist.comparing.side_by_side import Question, SideBySide
from toplist.comparing.tests import cautioned, named, without
from toplist.metrics.names import Name, Names
from toplist.plots import axes, differences
from toplist.plots.axes import Axes
from toplist.results.markup import Display
from toplist.results.tables import LOOK, Column, Grid, Look, Page, Table, shortened
from toplist.stats import (
    FEW,
    Difference,
    Sums,
    cautions,
    difference,
    planning,
    randomization,
    simultaneous,
)
from toplist.stats.units import snap

# The k's of a band that are printed, as far as there are any.
SHOWN = (1, 5, 10, 20, 50, 100, 200, 500, 1000)
# With fewer users signs are too few for the normal limit: p below 0.05 in 6 to 13 % of samples.
FEW_FOR_LEAD = 50
# Ranks that are printed of each list, and letters of a user; the seed of users drawn at random.
RANKS, LETTERS, SEED = 5, 40, 0


@dataclass(frozen=True, eq=False, repr=False)
class Band(Display, simultaneous.BandValues):
    """A system less another at every k. Returned by `Comparison.band` and `inference.band`.

    Attributes
    ----------
    n : int
        Users.
    difference, std, error : (K,) float64
    low, high : (K,) float64
        The interval at each k; it holds at this k alone.
    critical : float
        Standard errors to either side of the simultaneous interval.
    low_all, high_all : (K,) float64
        The interval that holds at all k together.
    n_resamples : int
    name : str
        Of the metric.
    systems : (str, str)
        The system, and the baseline.
    level : float
        Of both intervals.
    higher_is_better : bool, or None
        None for metrics in which neither direction is better, such as novelty.
    differ : dict of int -> int
        The users who differ at each k that was asked for.
    unit : str
        What users are called.
    of_metrics : bool
        Whether it is known which direction is better; of your own values it is not.
    """

    name: str = "value"
    systems: tuple[str, str] = ("system", "baseline")
    level: float = 0.95
    higher_is_better: bool | None = True
    differ: Mapping[int, int] = field(default_factory=dict)
    unit: str = USERS
    of_metrics: bool = True

    @classmethod
    def of(cls, sums: Sums, plan: TestPlan, **known: Any) -> Band:
        """Return the band of the sums of differences over k."""
        found = vars(simultaneous.band(sums.estimate, level=plan.level, **plan.drawn))
        how: dict[str, Any] = {"level": plan.level, "unit": plan.rows}
        how["of_metrics"] = plan.of_metrics
        return cls(**found, **how, **known)

    @property
    def better(self) -> list[tuple[int, int]]:
        """The k's, from first to last, where the system is better at all of them together."""
        return self._beyond(self.higher_is_better)

    @property
    def worse(self) -> list[tuple[int, int]]:
        """The k's, from first to last, where it is worse."""
        return self._beyond(None if self.higher_is_better is None else not self.higher_is_better)

    def _beyond(self, above: bool | None) -> list[tuple[int, int]]:
        """Return the k's, from first to last, where the system is above, or below; None: none."""
        if above is None:
            return []
        return _ranges(self.low_all > 0 if above else self.high_all < 0)

    def _grid(self) -> Grid:
        """Return a row per k."""
        names = ("difference", "std", "error", "low", "high", "low_all", "high_all")
        columns = {name: getattr(self, name).tolist() for name in names}
        return Grid({"k": [*range(1, len(self.difference) + 1)], **columns})

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the difference over k with both intervals, and zero.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        matplotlib Axes
        """
        return differences.band(self, told=self._cautions, ax=ax)

    @property
    def _cautions(self) -> list[str]:
        """What makes intervals rough, a line each."""
        return [*cautioned({f"@{k}": cautions(n) for k, n in self.differ.items()}, self.unit)]

    def _page(self, look: Look = LOOK) -> Page:
        """Return the difference and both intervals, at some k's."""
        last, share = len(self.difference), f"{100 * self.level:.4g} %"
        rows = [row for row in self._grid().rows if row["k"] in (*SHOWN, last)]
        columns = (
            Column("difference", "signed"),
            Column(("low", "high"), "signed", f"{share} at this k"),
            Column(("low_all", "high_all"), "signed", f"{share} at all k"),
        )
        corner = f"{' - '.join(self.systems)} {self.name}"
        words = {"better": self.better, "worse": self.worse}
        if self.higher_is_better is None or not self.of_metrics:
            words = {"higher": self._beyond(True), "lower": self._beyond(False)}
        notes = [
            f"{word} at k = {_listed(runs)}, at all of them together with {share} confidence"
            for word, runs in words.items()
            if runs
        ]
        users = worded(counted(self.n, "user"), self.unit)
        alike = (self.error == 0) & (self.difference != 0)
        at_any = f"at any{' other' * bool(alike.any())} k, all k together, with {share} confidence"
        notes = notes or [f"neither {' nor '.join(words)} {at_any}"]
        notes[-1] += f" (sup-t, critical value {self.critical:.2f}; {users})"
        if alike.any():
            told = f"no interval at k = {_listed(_ranges(alike))}: all {users} differ by the same "
            told += "number; a test there is by sign flips"
            notes = [told] if alike.all() else [*notes, told]
        if self.critical != self.critical:
            notes = [f"no interval of so few: {users}"]
        notes += self._cautions
        return Page([Table.of(corner, "@{k}", columns, rows, look)], notes)


def _ranges(found: Bools) -> list[tuple[int, int]]:
    """Return the k's, from first to last, at which something holds."""
    edges = np.flatnonzero(np.diff(np.pad(found.astype(np.int8), 1)))
    return [(int(first) + 1, int(last)) for first, last in edges.reshape(-1, 2)]


def _listed(ranges: list[tuple[int, int]]) -> str:
    return ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in ranges)


@dataclass(frozen=True, eq=False, repr=False)
class Power(Display):
    """What an experiment of this size detects. Returned by `Comparison.power`.

    Attributes
    ----------
    rows : tuple of dict
        name, system, baseline, n, std, cautions, detectable, and n_needed where a difference was
        given, both NaN where nobody differs or all by the same number, detectable also where fewer
        than 30 differ; of rows in clusters also n_clusters, and effective, the number of rows
        without clusters whose mean difference would be as certain.
    power, level : float
        The chance that a difference is found, and 1 - p below which it counts as found.
    difference : float or None
        The one that would matter.
    unit : str
        What rows are called in print.
    n_left_out : int
        The most rows that some of the systems count, and not all.
    """

    rows: tuple[dict[str, Any], ...]
    power: float
    level: float
    difference: float | None = None
    unit: str = USERS
    n_left_out: int = 0

    def _only(self, names: Names) -> Self:
        some = named(names, list(dict.fromkeys(row["name"] for row in self.rows)))
        return replace(self, rows=tuple(row for row in self.rows if row["name"] in some))

    def _grid(self) -> Grid:
        return Grid.of(self.rows)

    def _page(self, look: Look = LOOK) -> Page:
        clustered = any("n_clusters" in row for row in self.rows)
        columns = (
            Column("n", "count", self.unit),
            Column("n_clusters", "count", "clusters"),
            Column("effective", "count"),
            Column("std"),
            Column("detectable"),
            Column("n_needed", "count", f"{self.unit} for {self.difference or 0:g}"),
        )
        label = "{system} - {baseline} {name}"
        note = (
            f"detectable: the true difference that a two-sided paired t test at p < "
            f"{1 - self.level:.2g} finds with {100 * self.power:.4g} % power; from the spread of "
            "the differences, not from the difference that was seen; before any correction for "
            f"several comparisons; none where fewer than {FEW} users differ, or all alike"
        )
        notes = [worded(note, "clusters" if clustered else self.unit)]
        notes += [f"over {self.unit} in common{without(self.n_left_out)}"] * bool(self.n_left_out)
        if clustered:
            notes.append(
                f"effective: {self.unit} without clusters whose mean would be as certain; power is "
                "that of the error by clusters (CR2), more rows are more clusters like these"
            )
        where = {label.format_map(row): row["cautions"] for row in self.rows}
        notes += cautioned(where, self.unit)
        return Page([Table.of("", label, columns, self.rows, look)], notes)


@dataclass(frozen=True, eq=False, repr=False)
class Lead(Display):
    """How far the best of many leads, and how far by chance alone. Returned by `Comparison.lead`.

    Attributes
    ----------
    rows : dict of ``name@k`` -> Best
        ``lead.rows["ndcg@10"].by_chance``, and its mean, mean_of_all, lead, share, p and n.
    systems : list of str
        ``lead.systems[best.place]`` is the best.
    n_resamples, seed : int
        Of the sign flips.
    unit : str
        What rows are called in print.
    tests : dict of ``name@k`` -> Difference
        The best less the mean of all, with its cautions, as if it had not been chosen.
    n_left_out : int
        The most rows that some of the systems count, and not all.
    """

    rows: Mapping[str, randomization.Best]
    systems: list[str]
    n_resamples: int
    seed: int
    unit: str = USERS
    tests: Mapping[str, Difference] = field(default_factory=dict)
    n_left_out: int = 0

    def _only(self, names: Names) -> Self:
        return replace(self, rows={name: self.rows[name] for name in named(names, [*self.rows])})

    def _grid(self) -> Grid:
        """Return a row per name."""
        rows = []
        for name, one in self.rows.items():
            row = {"name": name, "system": self.systems[one.place], **one._asdict()}
            del row["place"]
            rows.append({**row, "share": one.share})
        return Grid.of(rows)

    def _page(self, look: Look = LOOK) -> Page:
        columns = (
            Column("mean"),
            Column("mean_of_all", title="mean of all"),
            Column("lead", "signed"),
            Column("by_chance", "signed", "by chance"),
            Column("share", "share"),
            Column("p", "p", floor=1 / (self.n_resamples + 1)),
        )
        table = Table.of("best", "{system} {name}", columns, self._grid().rows, look)
        n, units = len(self.systems), {one.n for one in self.rows.values()}
        tests = {name: self.tests[name] for name in self.rows}
        whom = axes.counted({one.n for one in tests.values()}, self.unit)
        clustered = any(self.rows[name].n != one.n for name, one in tests.items())
        whom += f" in {axes.counted(units, 'clusters')}" * clustered + without(self.n_left_out)
        notes = [
            f"best of {counted(n, 'system')} on the same {whom}, chosen "
            "by the mean shown; lead: over the mean of all",
            f"by chance: mean lead of the best of {n} with equal means ({self.n_resamples:,} sign "
            f"flips, seed {self.seed}); by at most so much is the mean of the best too good, on "
            "average; p: of a lead as long by chance",
        ]
        alike = [one for one in self.rows.values() if one.lead and one.by_chance != one.by_chance]
        if any(one.p == one.p for one in alike):
            words = "where the systems differ alike for all users, p is that of sign flips"
            notes.append(f"{worded(words, self.unit)}; by chance is not known")
        if min(units, default=FEW_FOR_LEAD) < FEW_FOR_LEAD:
            notes.append(
                f"rough: fewer than {FEW_FOR_LEAD} {'clusters' if clustered else self.unit}"
            )
        notes += cautioned({name: one.cautions for name, one in tests.items()}, self.unit)
        return Page([table], notes)


@readable
class Mover(NamedTuple):
    """A user whose values differ.

    Attributes
    ----------
    user_id : key, or position
    baseline, system : float
        The values.
    difference : float
        system - baseline.
    n_relevant : int
        What the metric counts as relevant.
    baseline_ranks, system_ranks : tuple of int
        Where these stand in both lists, as deep as the lists were read.
    """

    user_id: Any
    baseline: float
    system: float
    difference: float
    n_relevant: int
    baseline_ranks: tuple[int, ...]
    system_ranks: tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Movers(Display):
    """The users with the largest differences, worst first. Returned by `Comparison.movers`.

    Iterating yields `Mover`, a named tuple.

    Attributes
    ----------
    rows : tuple of Mover
    name : str
        ``"ndcg@10"``.
    systems : (str, str)
        The system, and the baseline.
    values : (2, n) float64
        Those of the system and the baseline, of all users.
    higher_is_better : bool, or None
        None for metrics in which neither direction is better: there lower is taken for worse.
    unit : str
        What users are called.
    drawn : tuple of Mover
        Others, at random, on the page of `toplist.report`.
    """

    rows: tuple[Mover, ...]
    name: str
    systems: tuple[str, str]
    values: Floats
    higher_is_better: bool | None
    unit: str
    drawn: tuple[Mover, ...] = ()

    def __iter__(self) -> Iterator[Mover]:
        """Yield the users, worst first."""
        return iter(self.rows)

    @property
    def differences(self) -> Floats:
        """Those of all users, (n,), the worst first."""
        found: Floats = np.sort(snap(*self.values))
        return found[::-1] if self.higher_is_better is False else found

    @property
    def counts(self) -> dict[str, int]:
        """How many users are worse, equal and better; lower, equal and higher."""
        words = ("lower", "higher") if self.higher_is_better is None else ("worse", "better")
        d = self.differences * (-1 if self.higher_is_better is False else 1)
        n_worse, n_better = int((d < 0).sum()), int((d > 0).sum())
        return {words[0]: n_worse, "equal": len(d) - n_worse - n_better, words[1]: n_better}

    def _grid(self) -> Grid:
        """Return the columns of `Mover`."""
        return Grid({name: [getattr(row, name) for row in self.rows] for name in Mover._fields})

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the sorted differences of all users, and on new axes both values beside them."""
        return differences.movers([self], ax=ax)

    def _page(self, look: Look = LOOK) -> Page:
        system, baseline = self.systems

        def hits(ranks: tuple[int, ...]) -> str:
            return " ".join([*map(str, ranks[:RANKS]), *["..."] * (len(ranks) > RANKS)]) or "-"

        rows = [
            {
                **row._asdict(),
                "user_id": shortened(str(row.user_id), LETTERS),
                "baseline_ranks": hits(row.baseline_ranks),
                "system_ranks": hits(row.system_ranks),
            }
            for row in self.rows
        ]
        columns = (
            Column("baseline", title=baseline),
            Column("system", title=system),
            Column("difference", "signed"),
            Column("n_relevant", "count", "relevant"),
            Column("baseline_ranks", "text", f"hits {baseline}"),
            Column("system_ranks", "text", f"hits {system}"),
        )
        counts = ", ".join(f"{n:,} {word}" for word, n in self.counts.items())
        notes = [
            "extremes are chosen because they are extreme: do not estimate from them",
            f"{system} - {baseline} {self.name}: of {self.values.shape[1]:,} {self.unit}, {counts}",
            "hits: their ranks; of equal differences, more relevant items first",
        ]
        return Page([Table.of(self.name, "{user_id}", columns, rows, look)], notes)


def extremes(d: Floats, n_relevant: Ints, users: Sequence[Any], n: int) -> list[int]:
    """Return the n lowest rows below 0 and the n highest above, lowest first; ties as `movers`.

    Examples
    --------
    >>> extremes(np.array([0.1, -0.2, 0.3]), np.array([1, 1, 1]), ["a", "b", "c"], 1)
    [1, 2]
    """
    d = d.round(12)  # what differs by rounding is a tie

    def order(row: int) -> tuple[float, int, float, str]:
        number = users[row] if isinstance(users[row], (int, float)) else 0
        return sign * d[row], -n_relevant[row], number, str(users[row])

    found = []
    for sign in (-1, 1):
        rows = np.flatnonzero(sign * d < 0)
        if len(rows) > n:  # those of the n lowest values; a few, but for ties
            rows = rows[sign * d[rows] <= np.partition(sign * d[rows], n - 1)[n - 1]]
        found += nsmallest(n, rows.tolist(), key=order)
    return sorted(found, key=order)


class HasViews(SideBySide):
    """Systems side by side, with what stands beside their tests: bands, power, leads."""

    def band(
        self,
        metric: Name | str,
        system: str | None = None,
        baseline: str | None = None,
        *,
        level: float = 0.95,
        users: SameUsers = "same",
        n_resamples: int | None = None,
        seed: int = 0,
        n_threads: int | None = None,
    ) -> Band:
        """Return the difference of two systems at every k, with intervals for all k together.

        Parameters
        ----------
        metric : str
            Without ``@``.
        system, baseline : str, optional
            Default: the only other system, and the baseline; without one, the first system.
        level, users, n_resamples, seed, n_threads
            As in `test`.
        """
        drawn: dict[str, Any] = {"n_resamples": n_resamples, "seed": seed, "n_threads": n_threads}
        plan = TestPlan(level=level, **drawn).checked()
        question = Question(self, users)
        question.one_each("a band")
        pair = question.pair(system, baseline, "band")
        if not isinstance(metric, str) or "@" in metric:
            raise ValueError(f"a band is over all k: give a metric without @, not {metric!r}")
        metric = self.results[pair[0]].terms.spelled(metric)
        for one in pair:
            question.find(one, metric)
        question.check_mean(f"{metric}@1")
        source = question.plain(f"{metric}@1")
        ks, others = (self.results[one].terms.ks_of[metric] for one in pair)
        both = (k for k in ks if k in others)
        differ = {k: source.difference(*pair, f"{metric}@{k}", plan).differ for k in both}
        higher, plan = self._higher(f"{metric}@1"), replace(plan, unit=self.unit)
        known = {"name": metric, "systems": pair, "higher_is_better": higher, "differ": differ}
        return Band.of(source.curve(*pair, metric, plan.n_threads), plan, **known)

    def power(
        self,
        names: Names | None = None,
        *,
        power: float = 0.8,
        difference: float | None = None,
        level: float = 0.95,
        users: SameUsers = "same",
    ) -> Power:
        """Return what these users can detect, and how many would detect a given difference.

        Of results with clusters, by the error of these: more rows are more clusters of their kind.

        Parameters
        ----------
        names, users
            As in `test`.
        power : float
            The chance that the test finds a difference that is there.
        difference : float, optional
            One that would matter, above 0, in units of the metric: how many users would detect it?
        level : float
            1 - p below which a difference counts as found.
        """
        question = Question(self, users)
        question.one_each("power()")
        if difference is not None:
            planning.check_margin(difference, "difference")
        rows, plan = list[dict[str, Any]](), TestPlan(level=level).checked()
        n_left_out = 0
        for name, source in question.of_each(question.names(names), question.sample).items():
            n_left_out = max(n_left_out, source.left_out(name))
            n_clusters = source.units.n_clusters if isinstance(source, Aligned) else 0
            for system, baseline in question.pairs():
                found = source.difference(system, baseline, name, plan)
                row: dict[str, Any] = {"name": name, "system": system, "baseline": baseline}
                row |= {"n": found.n, "std": found.std, "cautions": found.cautions}
                # as many units as there are degrees of freedom, and one
                n, std = found.df + 1, found.error * math.sqrt(found.df + 1)
                if n_clusters:
                    effective = (found.std / found.error) ** 2 if found.error else math.nan
                    row |= {"n_clusters": n_clusters, "effective": effective}
                std = std if std > 0 else math.nan  # of differences that are all the same
                known = std if found.differ >= FEW else math.nan
                row["detectable"] = planning.detectable(known, n, power, level)
                if difference is not None:
                    needed = planning.n_needed(difference, std, power, level)
                    row["n_needed"] = needed if n == found.n else needed * found.n / n
                rows.append(row)
        return Power(tuple(rows), power, level, difference, self.unit, n_left_out)

    def lead(
        self,
        names: Names | None = None,
        *,
        users: SameUsers = "same",
        n_resamples: int | None = None,
        seed: int = 0,
        n_threads: int | None = None,
    ) -> Lead:
        """Return how far the best of the systems leads, and how much of that chance alone gives.

        The highest of many means on the same users is partly luck: the best of 40 equal systems
        leads their mean by about 2.2 standard errors. Here it is drawn by sign flips, see
        `toplist.stats.randomization.best_of_many`: values are centred by the user's own mean over
        the systems and by each system's mean, a flip changes the signs of a user's values in all
        systems, and the mean of the largest mean is what chance gives.

        Parameters
        ----------
        names, users, seed, n_threads
            As in `test`; default: all names in which one direction is better.
        n_resamples : int, optional
            Flips; default 1,000. 40 systems over 300,000 users take about a second.

        Examples
        --------
        >>> import random
        >>> import toplist as tl
        >>> truths, draw = {user: {user % 9} for user in range(900)}, random.Random(0).sample
        >>> lists = {step: {user: draw(range(9), 3) for user in truths} for step in range(12)}
        >>> results = {step: tl.top_k_eval(some, truths, k=3) for step, some in lists.items()}
        >>> print(tl.compare(results).lead("ndcg@3").to_text(width=80))
        best         mean  mean of all     lead  by chance  share      p
        10 ndcg@3  0.2552       0.2390  +0.0162    +0.0198  122 %  0.697
        best of 12 systems on the same 900 users, chosen by the mean shown; lead: over
          the mean of all
        by chance: mean lead of the best of 12 with equal means (1,000 sign flips, seed
          0); by at most so much is the mean of the best too good, on average; p: of a
          lead as long by chance
        """
        plan = TestPlan(n_resamples=n_resamples, seed=seed, n_threads=n_threads).checked()
        question = Question(self, users)
        question.one_each("the lead of the best")
        rows, tests, n_left_out = dict[str, randomization.Best](), dict[str, Difference](), 0
        n_flips = plan.n_resamples or randomization.LEAD_FLIPS
        asked = question.names(names)
        if names is None:
            asked = [name for name in asked if self._higher(name) is not None]
        metrics = dict(map(self._directed, asked))
        read = partial(question.rows, what="lead()")
        for name, source in question.of_each([*metrics], read).items():
            n_left_out = max(n_left_out, source.n_left_out)
            values = [source.values(system, name) for system in self.systems]
            rows[name] = randomization.best_of_many(
                values,
                source.units,
                higher_is_better=bool(metrics[name].higher_is_better),
                n_resamples=n_flips,
                seed=plan.seed,
                n_threads=plan.n_threads,
            )
            best = values[rows[name].place]
            tests[name] = difference(best, sum(values) / len(values), source.units)
        return Lead(rows, self.systems, n_flips, plan.seed, self.unit, tests, n_left_out)
