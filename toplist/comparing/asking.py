"""`Question`: which metrics of systems are tested, over which users, and what cannot be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from toplist.checks import cached, worded
from toplist.comparing.aligning import TESTABLE, Aligned, align
from toplist.comparing.contrasts import SameUsers, TestPlan
from toplist.comparing.samples import Moments, contrasted, pairs_of, refuse, together
from toplist.comparing.side_by_side import SideBySide
from toplist.comparing.tests import NotTestable, Tests, or_why
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.names import Names, listed
from toplist.plots.axes import rules_of
from toplist.results.means import Means, in_means_of_all

# Why a metric has no test, for any users.
TOGETHER = "one number of all lists together, no mean over users"
UNWEIGHTED = "a mean without weights, of users who have some: evaluate without weights to test it"
POOLED = "pooled, a ratio of sums over users: toplist.inference.ratio tests such ones"


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
        return {name: self._why(name) for name in self.compared._tested_as.values()}

    def _why(self, name: str) -> str:
        why, metric = self._never(name), self.compared._metric(name)
        if why or not isinstance(metric, ListMetric):
            return why
        return or_why(lambda: self._rows([name]).units)[1]

    def _never(self, name: str) -> str:
        """Return why ``name@k`` has no test for any users; "" if it may have one."""
        metric, results = self.compared._metric(name), self.compared.results.values()
        if any(name.partition("@")[0] in one.terms.pooled for one in results):
            return POOLED
        if not isinstance(metric, ListMetric):
            return ""
        if not metric.of_users:
            return TOGETHER
        return UNWEIGHTED if any(one.weights is not None for one in results) else ""

    def names(self, names: Names | None) -> list[str]:
        """Return the ``name@k`` to test; each must be one of every system.

        Raises
        ------
        KeyError
            For a name that a system does not have.
        ValueError
            For a whole curve, and a name that is there twice.
        NotTestable
            If they have no test.
        """
        results = self.compared.results
        if names is None:
            held = [one.names() for one in results.values()]
            common = [n for n in self.why_not if all(n in names for names in held)]
            some = [name for name in common if not self.why_not[name]]
            reasons = [(n, self.why_not[n]) for n in common if self._never(n) != TOGETHER]
            if not some and reasons:
                raise NotTestable("{} has no test: {}".format(*reasons[0]))
            if not some:
                raise NotTestable(
                    "nothing to test: no metric at one k is a mean over users in every system; "
                    f"they have {', '.join(self.why_not) or 'no metric at all'}"
                )
            return some
        first = next(iter(results.values())).terms
        some = [first.spelled(name) for name in listed(names)]
        for name in some:
            if some.count(name) > 1:
                raise ValueError(f"{name!r} is there twice: it would be corrected for twice")
            if None in [self.find(system, name) for system in results]:
                raise ValueError(f"{name!r} is a whole curve: give name@k, or band({name!r})")
            self.check_mean(name)
        return some

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

    def one(self, name: Names) -> str:
        """Return the one ``name@k`` that is asked for."""
        self.one_each("this")
        some = self.names(name)
        if len(some) != 1:
            raise ValueError(f"this is of one name@k, not of {', '.join(some)}")
        return some[0]

    def one_each(self, what: str) -> None:
        """Refuse several runs of a system."""
        if self.compared.runs:
            raise NotTestable(
                f"{what} is of one result of each system, and there are several runs: test() and "
                "equivalence() take runs"
            )

    def pair(self, system: str | None, baseline: str | None, of: str) -> tuple[str, str]:
        """Return the two systems of a band, or of what `of` names."""
        systems = list(self.compared.results)
        if baseline is None:
            baseline = (*self.compared.baselines, *systems)[0]
        if len(systems) == 1:
            raise ValueError(f"{of}: two systems are needed, and there is {systems[0]!r} alone")
        others = [one for one in systems if one != baseline]
        if system is None and len(others) > 1:
            what = "several systems: name one as system="
            raise ValueError(f"{of}: {what}; there are {', '.join(systems)}")
        pair = others[0] if system is None else system, baseline
        for one in pair:
            if one not in systems:
                raise ValueError(f"{of}: no system {one!r}; there are {', '.join(systems)}")
        if system == baseline:
            raise ValueError(f"{of}: {system!r} is both the system and its baseline")
        return pair

    def pairs(self) -> list[tuple[str, str]]:
        """Return the systems that are compared, each with its baseline."""
        return pairs_of(self.compared.systems, self.compared.baselines or None)

    def sample(self, names: list[str]) -> Aligned | Moments:
        """Return the values of the users that these names count, or their moments.

        Raises
        ------
        NotTestable
            For what makes the results not comparable.
        """
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
        return self._rows(names)

    def _check(self) -> None:
        for one in self.compared.differences:
            if one.kind not in TESTABLE:
                raise NotTestable(f"these systems cannot be tested: {one}")

    def _rows(self, names: list[str]) -> Aligned:
        compared = self.compared
        asked = compared.results, self.users, compared._alike, names
        return align(*asked, compared.runs, self.clusters)

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

    def tests(self, names: Names | None, plan: TestPlan) -> Tests:
        """Return the tests of some names between all pairs, or against the baselines."""
        compared = self.compared
        plan = replace(
            plan,
            runs=compared.runs_are if compared.runs else None,
            baselines=compared.baselines,
            unit=compared.unit,
            rules=rules_of([*compared.results.values()]),
        ).checked()
        by_policies: dict[Any, list[str]] = {}  # a convention may have two: then users are others
        for name in self.names(names):
            policies = tuple(_counting(one, name) for one in compared.results.values())
            by_policies.setdefault(policies, []).append(name)
        groups = list(by_policies.values())
        if len(groups) == 1:
            found = self._tests(groups[0], plan)
        elif plan.correction == "maxt":
            raise NotTestable(
                "correction='maxt' is over comparisons of the same users, and these metrics count "
                "others: give 'holm', or test them one by one"
            )
        else:
            alone = replace(plan, correction="none")
            found = together([self._tests(group, alone) for group in groups], plan)
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


def _counting(result: Means, name: str) -> Any:
    """Return what decides who is in the mean of ``name@k``; of a metric of the lists, who is."""
    metric = name.rpartition("@")[0]
    if metric not in result.terms.list_metrics or result.hits is None:
        return result.terms.counting.get(metric)
    return in_means_of_all(result, [name])[0].tobytes()
