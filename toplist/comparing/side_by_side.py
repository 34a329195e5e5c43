"""`SideBySide`: the results of several systems, their means, the best of each, and their rules."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from toplist.checks import cached
from toplist.comparing import aligning
from toplist.comparing.aligning import FEW_NAMES, MINOR, Difference, few_of
from toplist.comparing.tests import ForPapers
from toplist.inputs.items import ITEMS
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.definitions import Metric
from toplist.metrics.names import AnyName, Names, keys_of
from toplist.metrics.properties import equal_names
from toplist.results import describe
from toplist.results.markup import LOOK, Cell, Look, Table
from toplist.results.result import TopKResult
from toplist.results.terms import chosen
from toplist.stats.estimates import RunsAre

if TYPE_CHECKING:
    from typing import Self

    from pandas import DataFrame


# From so many systems on it is said that the best is the best of many: that of 10 equal ones leads
# their mean by 1.5 standard errors; in 40 % of samples one is beyond its one-sided 95 % interval.
MANY = 10
# Tables of more lines than this are one table of all means instead.
SCREEN = 40
# What stands at a (system, name): a mark against the baseline. And the best systems of a name.
Marks = Mapping[tuple[str, str], str]
Best = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False, repr=False)
class SideBySide(ForPapers):
    """The results of several systems, by name; see `toplist.comparing.comparison.Comparison`."""

    results: Mapping[str, TopKResult]
    baselines: tuple[str, ...] = ()
    runs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    runs_are: RunsAre = "independent"
    # Of which this shows some names alone: what is tested, and corrected for, is all of it.
    _shown_of: Self | None = None

    @property
    def systems(self) -> list[str]:
        """The names of the systems."""
        return list(self.runs or self.results)

    @property
    def unit(self) -> str:
        """What users are called."""
        return next(iter(self.results.values())).terms.unit

    @cached
    def differences(self) -> list[Difference]:
        """What makes the systems not comparable; empty if nothing does. Printed, each is a line."""
        return aligning.differences(self.results, self._alike)

    @property
    def _alike(self) -> list[list[str]]:
        """The names of results that are over one ground truth: all, or those of paired runs."""
        if self.runs and self.runs_are == "paired":
            return [list(some) for some in zip(*self.runs.values(), strict=True)]
        return [list(self.results)]

    def _of(self, system: str) -> list[TopKResult]:
        """Return the results of a system: one, or those of its runs."""
        return [self.results[name] for name in self.runs.get(system, (system,))]

    def _metric(self, name: str) -> Metric | ListMetric | None:
        """Return what the first of the systems that has it means by ``name@k``."""
        metric = name.rpartition("@")[0]
        asked = (one.terms.asked for one in self.results.values())
        return next((some[metric] for some in asked if metric in some), None)

    def _higher(self, name: str) -> bool | None:
        """Return whether more of ``name@k`` is better; None where neither direction is."""
        metric = self._metric(name)
        return None if metric is None else metric.higher_is_better

    def _has(self, system: str, name: str) -> bool:
        return all(name in result.names() for result in self._of(system))

    def _mean(self, system: str, name: str) -> float:
        """Return the mean of a system: of several runs, the mean of theirs."""
        means = [result[name] for result in self._of(system)]
        return means[0] if len(means) == 1 else math.fsum(means) / len(means)

    def names(self) -> list[str]:
        """Return every ``name@k`` that at least one of the systems has."""
        return list(dict.fromkeys(name for one in self.results.values() for name in one.names()))

    @property
    def comparable(self) -> bool:
        """Whether the systems differ in nothing except metrics, k, and the lengths of lists."""
        return self._is_comparable()

    def _is_comparable(self, needs: Iterable[str] = ITEMS) -> bool:
        """Return whether nothing else differs for metrics that read the data of these keywords."""
        return all(
            one.kind in MINOR or (one.kind == "data" and one.keyword not in needs)
            for one in self.differences
        )

    def best(self) -> dict[str, list[str]]:
        """Return the systems with the best mean of every ``name@k``: several if they are equal.

        ``Metric.higher_is_better`` decides. A mean of NaN is never the best; none is if the
        systems are not `comparable`, if only one of them has this mean, or if all lists of some
        system end before k, and those of others do not.
        """
        return {name: self._best(name) for name in self.names()}

    def _best(self, name: str) -> list[str]:
        """Return the systems with the best mean; none if there are no two to compare."""
        asked, k = self._metric(name), int(name.rpartition("@")[2])
        alike = self._is_comparable(getattr(asked, "needs", ()))
        if not alike or k in aligning.unequal_ks(self.results):
            return []
        means = {s: self._mean(s, name) for s in self.systems if self._has(s, name)}
        means = {system: mean for system, mean in means.items() if mean == mean}
        # more coverage or novelty is not better in itself
        if len(means) < 2 or asked is None or asked.higher_is_better is None:
            return []
        top = max(means.values()) if asked.higher_is_better else min(means.values())
        return [system for system, mean in means.items() if mean == top]

    def to_dict(self, at: str = "@") -> dict[str, dict[str, float]]:
        """Return the means of every system, ``{"mine": {"ndcg@10": 0.1, ...}, ...}``.

        Of several runs, the mean of their means.

        Parameters
        ----------
        at : str
            What stands between the name and k, as in `TopKResult.to_dict`.
        """
        keys = keys_of(self.names(), at)
        return {
            system: {key: self._mean(system, n) for n, key in keys.items() if self._has(system, n)}
            for system in self.systems
        }

    def __eq__(self, other: object) -> bool:
        """Return whether both have equal results of the same systems, in one order, and baselines.

        As results, comparisons are not hashable.
        """
        if not isinstance(other, SideBySide):
            return NotImplemented
        mine, theirs = (
            ([*one.results.items()], one.baselines, dict(one.runs), one.runs_are)
            for one in (self, other)
        )
        return mine == theirs

    def _only(self, names: Names) -> Self:
        terms = chosen({name: result.terms for name, result in self.results.items()}, names)
        results = {name: replace(one, terms=terms[name]) for name, one in self.results.items()}
        return replace(self, results=results, _shown_of=self)

    def sort(self, name: AnyName) -> Self:
        """Return the same with the systems sorted by a mean, the best first.

        Lower is better where the metric says so. Equal systems stay in their order; those without
        this mean, or with NaN, come last. Without a baseline, tests are of each system against
        those before it.

        Parameters
        ----------
        name : str
            ``"ndcg@10"``; any k up to the largest.

        Raises
        ------
        KeyError
            For a name that no system has.
        ValueError
            For a curve, and for metrics in which neither direction is better, such as novelty.

        Examples
        --------
        >>> import toplist as tl
        >>> truths, lists = [{2}, {3}], {500: [[1, 2], [3, 4]], 1000: [[2, 1], [3, 4]]}
        >>> results = {step: tl.top_k_eval(some, truths, k=2) for step, some in lists.items()}
        >>> print(tl.compare(results).sort("mrr@2").to_text(names=["mrr@2", "precision@2"]))
                mrr@2  precision@2
        1000  *1.0000      *0.5000
        500    0.7500      *0.5000
        * best of its column; not tested: .test() and toplist compare test the difference
        convention standard: mean over users
        2 of 2 users evaluated
        """
        at, metric = self._directed(name)

        def place(system: str) -> tuple[bool, float]:
            known = all(at in result for result in self._of(system))
            mean = self._mean(system, at) if known else math.nan
            return mean != mean, -mean if metric.higher_is_better else mean

        order = sorted(self.systems, key=place)
        runs = {system: self.runs[system] for system in order} if self.runs else {}
        every = (run for system in order for run in runs.get(system, (system,)))
        return replace(self, results={run: self.results[run] for run in every}, runs=runs)

    def _directed(self, name: AnyName) -> tuple[str, Metric | ListMetric]:
        """Return a ``name@k`` as it is here, and its metric, which says what is better."""
        first = max(self.results.values(), key=lambda one: name in one)  # the first that has it
        metric, k = first.terms.find(name)
        if k is None:
            k = first.terms.ks_of[metric.name][-1]
            raise ValueError(f"{name!r} is a whole curve: give one k, such as '{name}@{k}'")
        if metric.higher_is_better is None:
            some = [one for one in self.names() if self._higher(one) is not None]
            raise ValueError(
                f"{name!r}: neither more nor less of it is better; others are "
                f"{', '.join(some) or 'none'}"
            )
        return f"{metric.name}@{k}", metric

    def to_pandas(self, per_user: bool = False, *, names: Names | None = None) -> DataFrame:
        """Return a DataFrame: the rows of `TopKResult.to_pandas`, for every system.

        ``.pivot(index="system", columns=["metric", "k"], values="mean")`` has one row per system;
        ``.pivot(index="user_id", columns="system", values="ndcg@10")`` has one row per user.

        Parameters
        ----------
        per_user : bool
            False: a row per system, metric and k. True: a row per system and user. With several
            runs, a row for each, numbered in a column ``run``.
        names : str or several, optional
            The means to show; default: all.
        """
        import pandas

        frames, shown = [], self if names is None else self._only(names)
        for system in self.systems:
            for run, result in enumerate(shown._of(system), start=1):
                frame = result.to_pandas(per_user)
                frame.insert(0, "system", system)
                if self.runs:
                    frame.insert(1, "run", run)
                frames.append(frame)
        return pandas.concat(frames, ignore_index=True)

    # The table

    def _tables(
        self, every_metric: bool, marks: Marks, best: Best, look: Look = LOOK
    ) -> list[Table]:
        """Return one table of all means, a row per system; of many means a table per metric.

        Of few systems whose tables have one k, or fill a screen, it is one table, a row per mean.
        """

        def cells(places: Iterable[tuple[str, str]]) -> list[Cell]:
            return [self._cell(system, name, marks, best, look) for system, name in places]

        tables, systems = self._columns(every_metric), self.systems
        if self._turned(tables):
            names = {corner + k: name for corner, of_k in tables for k, name in of_k.items()}
            rows = [(one, cells((system, names[one]) for system in systems)) for one in names]
            return [Table("", systems, rows, systems)]
        return [
            Table(
                corner,
                list(columns),
                [(system, cells((system, one) for one in columns.values())) for system in systems],
            )
            for corner, columns in tables
        ]

    def _turned(self, tables: Sequence[tuple[str, dict[str, str]]]) -> bool:
        """Return whether many means stand in rows, with the systems as columns."""
        if len(tables) == 1 or len(self.systems) > describe.WIDE:
            return False
        each_one = all(len(columns) == 1 for _, columns in tables)
        return each_one or len(tables) * (len(self.systems) + 2) > SCREEN

    def _cell(self, system: str, name: str, marks: Marks, best: Best, look: Look = LOOK) -> Cell:
        """Return the mean of a system as it is printed, with its mark."""
        found = Cell("-")
        if self._has(system, name):
            found = Cell(look.number(self._mean(system, name)))
            if look.intervals and not self.runs:  # of several runs there is none
                found = describe.cell(self.results[system], name, look)
        mark = marks.get((system, name), "")
        return found._replace(mean=found.mean + mark, best=system in best.get(name, ()))

    def _columns(self, every_metric: bool) -> list[tuple[str, dict[str, str]]]:
        """Return the corner of each table, and what its headers are of: ``name@k``."""
        groups = self._groups(every_metric)
        if sum(len(ks) for ks in groups.values()) > describe.WIDE:
            return [
                (" = ".join(names), {f"@{k}": f"{names[0]}@{k}" for k in ks})
                for names, ks in groups.items()
            ]
        columns = {
            " = ".join(f"{name}@{k}" for name in names): f"{names[0]}@{k}"
            for names, ks in groups.items()
            for k in ks
        }
        return [("", columns)]

    def _groups(self, every_metric: bool) -> dict[tuple[str, ...], list[int]]:
        """Return the metrics, equal ones together, with the k's of all systems."""
        ks: dict[str, set[int]] = {}
        for result in self.results.values():
            for name, some in result.terms.ks_of.items():
                ks.setdefault(name, set()).update(some)
        alone = [(name,) for name in ks]
        groups = alone if every_metric else equal_names(list(self.results.values()), list(ks))
        return {group: sorted(ks[group[0]]) for group in groups}

    @cached
    def _tested_as(self) -> dict[str, str]:
        """The name under which each ``name@k`` is tested: one of those equal by definition."""
        if self._shown_of is not None:
            return {name: self._shown_of._tested_as[name] for name in self.names()}
        groups = self._groups(every_metric=False).items()
        found = {f"{one}@{k}": f"{some[0]}@{k}" for some, ks in groups for one in some for k in ks}
        at_one = equal_names(list(self.results.values()), [n for n in found if n.endswith("@1")])
        return found | {name: some[0] for some in at_one for name in some}

    def _of_many(self, tables: Sequence[Table]) -> list[str]:
        """Return that the best of many systems, which is marked, leads by chance too."""
        if len(self.systems) < MANY or not any(table.marked for table in tables):
            return []
        words = f"best of {len(self.systems)} on the same {self.unit}: part of the lead is chance"
        how_much = ", .lead() and toplist compare --lead say how much"
        return [words if self.runs else words + how_much]

    def _accounts(self) -> list[str]:
        """Return by which rules, over how many runs and over whom the means are."""
        return [*[self._of_runs()] * bool(self.runs), *self.rules()]

    def _of_runs(self) -> str:
        """Return how many runs each system has."""
        counts = [len(some) for some in self.runs.values()]
        if len(set(counts)) == 1:
            return f"means over {counts[0]} {self.runs_are} runs of each system"
        words = ", ".join(f"{n} of {s}" for n, s in zip(counts, self.runs, strict=True))
        return f"means over {self.runs_are} runs: {words}"

    def rules(self) -> tuple[str, ...]:
        """Return the lines that say by which rules and over whom the means are."""
        results = self.results.values()
        samples = {tuple(describe.sampling(result)) for result in results}
        return (
            *self._once([f"{describe.rules(r)}: {describe.averaging(r)}" for r in results]),
            *(samples.pop() if len(samples) == 1 else ()),  # several are among the differences
            *describe.deeper(list(results)),
            *self._once([describe.account(r) for r in results]),
        )

    def _once(self, lines: list[str]) -> list[str]:
        """Return one line if all are equal, else those of the systems; of many others, the first.

        None is left out that says that nobody has a hit.
        """
        if len(set(lines)) == 1:
            return lines[:1]
        systems: dict[str, list[str]] = {}
        for name, line in zip(self.results, lines, strict=True):
            systems.setdefault(line, []).append(name)
        found = {names[0]: f"{few_of(names)}: {line}" for line, names in systems.items()}
        if len(found) <= MANY:
            return [*found.values()]
        kept = [
            line
            for i, (system, line) in enumerate(found.items())
            if i < FEW_NAMES or not self.results[system].histograms.each.any()
        ]
        return [*kept, f"{len(found) - len(kept):,} more lines like these, of other systems"]
