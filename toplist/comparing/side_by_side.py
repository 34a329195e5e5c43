"""`SideBySide`: systems, their means, the best of each, their rules; a `Question` asks of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

from toplist.checks import cached, worded
from toplist.comparing import aligning
from toplist.comparing.aligning import FEW_NAMES, MINOR, TESTABLE, Aligned, Difference, few_of
from toplist.comparing.contrasts import NotTestable, SameUsers, TestPlan, or_why
from toplist.comparing.samples import Moments, contrasted, name_of, pairs_of, refuse, together
from toplist.comparing.tests import HasTests, Tests
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.definitions import Metric
from toplist.metrics.names import AnyName, Names, keys_of, listed
from toplist.metrics.properties import equal_names
from toplist.plots.axes import rules_of
from toplist.results import describe
from toplist.results.markup import Display
from toplist.results.result import TopKResult
from toplist.results.tables import LOOK, Cell, Look
from toplist.results.terms import chosen
from toplist.stats import RunsAre
from toplist.stats.datasets import mid_ranks
from toplist.stats.units import snap

if TYPE_CHECKING:
    from pandas import DataFrame

R = TypeVar("R", bound=Aligned | Moments)
# Why a metric has no test, for any users.
TOGETHER = "one number of all lists together, no mean over users"
POOLED = "pooled, a ratio of sums over users: toplist.inference.ratio tests such ones"


# From so many systems on it is said that the best is the best of many: that of 10 equal ones leads
# their mean by 1.5 standard errors; in 40 % of samples one is beyond its one-sided 95 % interval.
MANY = 10
# Tables of more lines than this are one table of all means instead.
SCREEN = 40


@dataclass(frozen=True, eq=False, repr=False)
class SideBySide(Display, HasTests):
    """The results of several systems, by name; see `toplist.comparing.comparison.Comparison`."""

    results: Mapping[str, TopKResult]
    baselines: tuple[str, ...] = ()
    runs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    runs_are: RunsAre = "independent"
    # Of which this shows some names alone: what is tested, and corrected for, is all of it.
    _shown_of: Self | None = None

    def _tests(self, names: Names | None, plan: TestPlan, users: SameUsers, clusters: Any) -> Tests:
        return Question(self, users, clusters).tests(names, plan)

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
        return math.fsum(means) / len(means)

    def names(self) -> list[str]:
        """Return every ``name@k`` that at least one of the systems has."""
        return list(dict.fromkeys(name for one in self.results.values() for name in one.names()))

    @property
    def comparable(self) -> bool:
        """Whether the systems differ in nothing except metrics, k, and the lengths of lists."""
        return all(one.kind in MINOR for one in self.differences)

    def best(self) -> dict[str, list[str]]:
        """Return the systems with the best mean of every ``name@k``: several if they are equal.

        ``Metric.higher_is_better`` decides. A mean of NaN is never the best; none is if the
        systems are not comparable in it (`differences`), if only one of them has this mean, or if
        all lists of some system end before k, and those of others do not.
        """
        return {name: self._best(name) for name in self.names()}

    def _best(self, name: str) -> list[str]:
        """Return the systems with the best mean; none if there are no two to compare."""
        asked, k = self._metric(name), int(name.rpartition("@")[2])
        about = [one for one in self.differences if not one.names or name in one.names]
        means = {s: self._mean(s, name) for s in self.systems if self._has(s, name)}
        means = {system: mean for system, mean in means.items() if mean == mean}
        # more coverage or novelty is not better in itself
        if asked is None or asked.higher_is_better is None or len(means) < 2:
            return []
        if any(one.kind not in MINOR for one in about) or k in aligning.unequal_ks(self.results):
            return []
        top = max(means.values()) if asked.higher_is_better else min(means.values())
        return [system for system, mean in means.items() if not snap(mean, top)]

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
        results = [*self.results.items()] == [*other.results.items()]
        mine, theirs = ((one.baselines, one.runs, one.runs_are) for one in (self, other))
        return results and mine == theirs

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

        def mean(system: str) -> float:
            known = all(at in result for result in self._of(system))
            return self._mean(system, at) if known else math.nan

        means, higher = [*map(mean, self.systems)], bool(metric.higher_is_better)
        ranks = mid_ranks(means, higher_is_better=higher).tolist()
        rank = dict(zip(self.systems, ranks, strict=True))
        return self._with(sorted(self.systems, key=rank.__getitem__))

    def _with(self, systems: Sequence[str]) -> Self:
        """Return the same with these systems alone, in this order."""
        runs = {system: self.runs[system] for system in systems} if self.runs else {}
        every = (run for system in systems for run in runs.get(system, (system,)))
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

    def _layout(self, every_metric: bool) -> tuple[list[tuple[str, dict[str, str]]], bool]:
        """Return the corner of each table, with the ``name@k`` of its headers; and what rows are.

        It is one table of all means, a row per system; of many means a table per metric. Of few
        systems whose tables have one k, or fill a screen, it is one table, a row per mean: True.
        """
        groups, n_systems = self._groups(every_metric).items(), len(self.systems)
        if sum(len(ks) for _, ks in groups) <= describe.WIDE:
            columns = {
                " = ".join(f"{name}@{k}" for name in names): f"{names[0]}@{k}"
                for names, ks in groups
                for k in ks
            }
            return [("", columns)], False
        tables = [
            (" = ".join(names), {f"@{k}": f"{names[0]}@{k}" for k in ks}) for names, ks in groups
        ]
        long = all(len(ks) == 1 for _, ks in groups) or len(tables) * (n_systems + 2) > SCREEN
        return tables, long and len(tables) > 1 and n_systems <= describe.WIDE

    def _cell(self, system: str, name: str, mark: str, best: bool, look: Look = LOOK) -> Cell:
        """Return the mean of a system as it is printed, with its mark against the baseline."""
        found = Cell("-")
        if self._has(system, name):
            found = Cell(look.number(self._mean(system, name)))
            if look.intervals and not self.runs:  # of several runs there is none
                found = describe.cell(self.results[system], name, look)
        return found._replace(mean=found.mean + mark, best=best)

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

    def _of_runs(self) -> str:
        """Return how many runs each system has."""
        counts = [len(some) for some in self.runs.values()]
        if len(set(counts)) == 1:
            return f"means over {counts[0]} {self.runs_are} runs of each system"
        words = ", ".join(f"{n} of {s}" for n, s in zip(counts, self.runs, strict=True))
        return f"means over {self.runs_are} runs: {words}"

    def rules(
        self, look: Look = LOOK, parts: Mapping[str, TopKResult] | None = None
    ) -> tuple[str, ...]:
        """Return by which rules, over how many runs and over whom the means are.

        And which intervals they have, where these are shown; `parts` are results of segments.
        """
        results, shown = self.results.values(), look.intervals and not self.runs
        samples = {tuple(describe.sampling(result)) for result in results}
        return (
            *[self._of_runs()] * bool(self.runs),
            *self._once([f"{describe.rules(r)}: {describe.averaging(r)}" for r in results]),
            *(describe.intervals({**self.results, **(parts or {})}) if shown else ()),
            *(samples.pop() if len(samples) == 1 else ()),  # several are among the differences
            *dict.fromkeys(note for result in results for note in result.notes),
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


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of systems side by side: over which users, and in which clusters of them."""

    compared: SideBySide
    users: SameUsers = "same"
    clusters: Any = None

    @cached
    def why_not(self) -> dict[str, str]:
        """Why a ``name@k`` that was asked for is not tested; "" for those that are.

        A metric of the lists is not where some have no list, or no cluster.
        """

        def why(name: str) -> str:
            said = self._never(name)
            if said or not isinstance(self.compared._metric(name), ListMetric):
                return said
            return or_why(lambda: self.rows([name]).units)[1]

        return {name: why(name) for name in self.compared._tested_as.values()}

    def _never(self, name: str) -> str:
        """Return why ``name@k`` has no test for any users; "" if it may have one."""
        metric, results = self.compared._metric(name), self.compared.results.values()
        if any(name.partition("@")[0] in one.terms.pooled for one in results):
            return POOLED
        return TOGETHER if isinstance(metric, ListMetric) and not metric.of_users else ""

    def names(self, names: Names | None) -> list[str]:
        """Return the ``name@k`` to test: means that every system has, each once."""
        results = self.compared.results
        if names is None:
            held = [one.names() for one in results.values()]
            why = {n: said for n, said in self.why_not.items() if all(n in some for some in held)}
            if found := [name for name, said in why.items() if not said]:
                return found
            for name in (name for name in why if self._never(name) != TOGETHER):
                raise NotTestable(f"{name} has no test: {why[name]}")
            raise NotTestable(
                "nothing to test: no metric at one k is a mean over users in every system; they "
                f"have {', '.join(self.why_not) or 'no metric at all'}"
            )
        first = next(iter(results.values())).terms
        some = [first.spelled(name) for name in listed(names)]
        for name in some:
            if some.count(name) > 1:
                raise ValueError(f"{name!r} is there twice: it would be corrected for twice")
            if None in [self.find(system, name) for system in results]:
                raise ValueError(
                    f"{name!r} is a whole curve: give name@k; .band({name!r}) has all k"
                )
            self.check_mean(name)
        return some

    def groups(self, names: Iterable[str]) -> list[list[str]]:
        """Return names by who is in their means: a convention may have two policies for that."""
        found: dict[Any, list[str]] = {}
        for name in names:
            policies = tuple(aligning.counting(one, name) for one in self.compared.results.values())
            found.setdefault(policies, []).append(name)
        return [*found.values()]

    def of_each(self, names: Sequence[str], read: Callable[[list[str]], R]) -> dict[str, R]:
        """Return what `rows` or `sample` have of each name; users are matched once for a group."""
        found: dict[str, R] = {}
        for group in self.groups(names):
            found |= dict.fromkeys(group, read(group))
        return {name: found[name] for name in names}

    def check_mean(self, name: str) -> None:
        """Refuse a ``name@k`` that has no test for any users."""
        if why := self._never(name):
            raise NotTestable(f"{name} has no test: {why}")

    def find(self, system: str, name: str) -> int | None:
        """Return the k of a name, None for a curve; KeyError with the names that a system has."""
        try:
            return self.compared.results[system].terms.find(name)[1]
        except KeyError as error:
            raise KeyError(f"{system}: {error.args[0]}") from None

    def one(self, name: Names, what: str) -> str:
        """Return the one ``name@k`` that is asked for."""
        some = self.names(name)
        if len(some) != 1:
            raise ValueError(f"{what} is of one name@k, not of {', '.join(some)}")
        return some[0]

    def one_each(self, what: str) -> None:
        """Refuse several runs of a system."""
        if self.compared.runs:
            first = next(iter(self.compared.results))
            raise NotTestable(
                f"{what} is of one result of each system, and there are several runs: test() and "
                f"equivalence() take runs, this one of each, comparison.results[{first!r}]"
            )

    def pair(self, system: str | None, baseline: str | None, of: str) -> tuple[str, str]:
        """Return the two systems of a band, or of what `of` names."""
        systems, system = list(self.compared.results), name_of(system)
        baseline = (*self.compared.baselines, *systems)[0] if baseline is None else baseline
        pairs = {pair[0]: pair for pair in pairs_of(systems, baseline)}
        if system is None and len(pairs) == 1:
            [system] = pairs
        if system not in pairs:
            what = "name one as system=" if system is None else f"{system!r} is none of them"
            raise ValueError(f"{of}: beside {baseline} there are {', '.join(pairs)}: {what}")
        return pairs[system]

    def pairs(self) -> list[tuple[str, str]]:
        """Return the systems that are compared, each with its baseline."""
        return pairs_of(self.compared.systems, self.compared.baselines or None)

    def sample(self, names: list[str]) -> Aligned | Moments:
        """Return the values of the users that these names count, or their moments."""
        known = Moments.of(self.compared.results, self.users)
        if known is None:
            return self.rows(names)
        self.one_each("a test of results without users")
        self._check()
        if self.clusters is not None:
            raise refuse("clusters=", "test() without them works")
        return known

    def rows(self, names: list[str], what: str = "") -> Aligned:
        """Return the values of the users that these names count, which `what` needs."""
        if what and Moments.of(self.compared.results, self.users) is not None:
            raise refuse(what, "test() works")
        self._check()
        asked = self.compared.results, self.users, self.compared._alike, names
        return aligning.align(*asked, self.compared.runs, self.clusters)

    def _check(self) -> None:
        for one in self.compared.differences:
            if one.kind not in TESTABLE:
                raise NotTestable(f"these systems cannot be tested: {one}")

    def plain(self, name: str) -> Aligned | Moments:
        """Return the values or moments of one name; the users have neither weights nor clusters."""
        source = self.sample([name])
        if isinstance(source, Aligned) and not source.units.plain:
            weighted = source.units.weights is not None
            what = "users have weights" if weighted else "rows are in clusters"
            raise NotTestable(
                f"the {what}: test(), equivalence(), power() and lead() take them, this does not"
            )
        return source

    def told(self, plan: TestPlan) -> TestPlan:
        """Return a plan that knows the systems, checked."""
        compared = self.compared
        return replace(
            plan,
            runs=compared.runs_are if compared.runs else None,
            baselines=compared.baselines,
            unit=compared.unit,
            rules=rules_of([*compared.results.values()]),
        ).checked()

    def tests(self, names: Names | None, plan: TestPlan) -> Tests:
        """Return the tests of some names between all pairs, or against the baselines."""
        plan = self.told(plan)
        groups = self.groups(self.names(names))
        if len(groups) > 1 and plan.correction == "maxt":
            raise NotTestable(
                "correction='maxt' is over comparisons of the same users, and these metrics count "
                "others: give 'holm', or test them one by one"
            )
        parts = [self._tests(group, plan) for group in groups]
        found = together(parts, plan) if len(parts) > 1 else parts[0]
        if names is not None:
            return found
        return found.with_plan(notes=(*found.plan.notes, *self._other_names(found)))

    def _tests(self, names: list[str], plan: TestPlan) -> Tests:
        """Return the tests of names that are over the same users."""
        source = self.sample(names)
        found = contrasted(source, self.pairs(), names, plan, self.compared._higher)
        if isinstance(source, Moments):
            return found
        return found.with_plan(notes=(*found.plan.notes, *self._of_lists(found)))

    def _of_lists(self, found: Tests) -> Iterator[str]:
        """Yield of which other data metrics of the lists are, and whose means are over others."""
        compared, others = self.compared, dict[tuple[str, str], list[str]]()
        metrics = {name: compared._metric(name) for name in found.names}
        needs = {one for metric in metrics.values() for one in getattr(metric, "needs", ())}
        yield from (one.text for one in compared.differences if one.keyword in needs)
        for name in (name for name, one in metrics.items() if isinstance(one, ListMetric)):
            n_tested = {one.n for one in found if one.name == name}
            n_means = {result.n_of(name) for result in compared.results.values()}
            if n_means != n_tested:
                few, all_of = (
                    " or ".join(f"{n:,}" for n in sorted(some)) for some in (n_tested, n_means)
                )
                others.setdefault((few, all_of), []).append(name)
        for (few, all_of), names in others.items():
            words = f"over {few} users who have a value in every system; in other tables, over "
            yield f"{', '.join(names)}: tested {worded(words + all_of, compared.unit)}"

    def _other_names(self, found: Tests) -> Iterator[str]:
        """Yield which names are equal and tested once, and which are not tested, and why."""
        same: dict[str, list[str]] = {name: [] for name in found.names}
        left_out = dict[str, list[str]]()
        for name, as_name in self.compared._tested_as.items():
            if as_name in same:
                same[as_name].append(name)
            elif why := self.why_not[as_name]:
                left_out.setdefault(why, []).append(name)
        equal = [" = ".join(some) for some in same.values() if len(some) > 1]
        if equal:
            yield f"equal by definition, and tested once: {'; '.join(equal)}"
        for why, names in left_out.items():
            yield f"not tested: {', '.join(names)}: {why}"
