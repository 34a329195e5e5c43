"""`SegmentedComparison`: systems compared in every segment of the users, or slice of the items.

p is corrected for all of them. `Heterogeneity` says whether a difference of two systems differs
between segments of the users.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from toplist.checks import cached, readable, worded
from toplist.comparing import samples
from toplist.comparing.aligning import few_of
from toplist.comparing.contrasts import NotTestable, SameUsers, TestPlan, about, or_why, p_is
from toplist.comparing.side_by_side import SideBySide
from toplist.comparing.tests import CORRECTED, HasTests, Tests
from toplist.inputs.facts import categories
from toplist.inputs.keyed import values_by_user
from toplist.metrics.names import AnyName, Names
from toplist.plots.axes import Axes
from toplist.results.result import TopKResult
from toplist.results.segments import ON_SPARK, WHOSE, ByLabel, Segments, label_text
from toplist.results.segments import by as split_by
from toplist.results.tables import LOOK, Cell, Look, Page, Table
from toplist.stats import FEW, difference
from toplist.stats.datasets import welch
from toplist.stats.simultaneous import Correction, adjust

if TYPE_CHECKING:
    from pandas import DataFrame


S = TypeVar("S", bound=SideBySide)
_SEGMENTS = "users: those of the ground truth in the segment"
# So many lines about heterogeneity are printed below a table; of more tests, one line.
SHOWN = 4
ALONE = (
    "whether segments differ is not tested of several runs, nor of clusters: segments may share "
    "both, and their chances"
)


@dataclass(frozen=True, eq=False, repr=False)
class SegmentedComparison(ByLabel[S], HasTests):
    """Systems compared in every segment of the users, or slice of the items.

    Returned by `Comparison.by` and `Comparison.by_item`. A mapping label -> Comparison, sorted;
    users, or items, without a label are the last segment, None. A table when printed, with marks
    where there is a baseline: p is corrected for all segments together.

    Attributes
    ----------
    whole : Comparison
        The comparison that was split.
    parts : dict of label -> Comparison
        The segments.
    notes : tuple of str
        Who is counted in a segment, and what does not split.
    of_items : bool
        Whether these are slices of the items, which share users.
    """

    notes: tuple[str, ...] = (_SEGMENTS,)
    of_items: bool = False
    # Of which this shows some names alone: what is tested, and corrected for, is all of it.
    _shown_of: Self | None = None

    def _tests(self, names: Names | None, plan: TestPlan, users: SameUsers, clusters: Any) -> Tests:
        if plan.correction == "maxt":
            raise ValueError(
                "correction='maxt' is over comparisons of the same users, and segments have "
                "others: give 'holm', or test one segment"
            )
        parts, lost, told = [], [], dict[str, list[str]]()
        for label, part in self.parts.items():
            segment, n = label_text(label, self), [r.n_evaluated for r in part.results.values()]
            if not (all(n) if users == "common" else any(n)):
                lost.append(segment)
                continue
            asked = replace(part, _shown_of=self._every)
            with about(f"segment {segment}"):
                found = asked._tests(names, plan, users, clusters)
            named = tuple(replace(one, segment=segment) for one in found)
            parts.append(replace(found, contrasts=named))
            for note in found.plan.notes:
                told.setdefault(note, []).append(segment)
        if not parts:
            raise NotTestable("no user is counted in any segment: nothing to test")
        found = samples.together(parts, plan)
        notes = [] if self.of_items else lines(found)
        for note, some in told.items():
            notes.append(note if len(some) == len(parts) else f"in {few_of(some)}: {note}")
        if lost:
            notes.append(f"not tested, since nobody is counted: {few_of(lost)}")
        return found.with_plan(notes=tuple(notes))

    def heterogeneity(
        self,
        names: Names | None = None,
        *,
        correction: Correction = "holm",
        users: SameUsers = "same",
    ) -> dict[tuple[str, str, str], Heterogeneity]:
        """Test whether the differences of the systems differ between the segments: Welch's F.

        A difference that is found in one segment and not in another does not say that these two
        differ. Weights of the users are taken into account. Segments with fewer than two users, or
        where all have one difference, are left out; where fewer than two are left, there is no
        test. See `toplist.inference.heterogeneity`, which takes values of your own.

        Parameters
        ----------
        names, users
            As in `Comparison.test`.
        correction : {"holm", "bh", "bonferroni", "none"}
            Of p for all these tests together, one for each name and pair of systems.

        Returns
        -------
        dict of (system, baseline, name) -> Heterogeneity

        Raises
        ------
        ValueError
            For several runs of a system, rows in clusters, and slices of items: these share runs,
            clusters or users.

        Examples
        --------
        >>> import toplist as tl
        >>> truths = {user: {user % 3} for user in range(60)}
        >>> a = tl.top_k_eval({user: [0, 1, 2] for user in truths}, truths, k=2, metrics="mrr")
        >>> b = tl.top_k_eval({user: [2, 1, 0] for user in truths}, truths, k=2, metrics="mrr")
        >>> segments = {user: "new" if user < 20 else "old" for user in truths}
        >>> by_age = tl.compare({"a": a, "b": b}).by(segments)
        >>> found = by_age.heterogeneity("mrr@2")["b", "a", "mrr@2"]
        >>> round(found.f, 3), round(found.p, 3)
        (0.109, 0.743)
        """
        if self.of_items:
            raise ValueError("slices of items share users: whether they differ is not tested")
        return between(self.test(names, correction=correction, users=users))

    def plot(self, name: AnyName, *, level: float = 0.95, ax: Axes | None = None) -> Axes:
        """Draw one mean of each system in each segment, see `toplist.plots.segments`."""
        from toplist import plots

        systems = {
            system: {label: part.results[system] for label, part in self.parts.items()}
            for system in self.whole.results
        }
        return plots.segments(systems, name, level=level, ax=ax)

    def to_dict(self) -> dict[Any, dict[str, dict[str, float]]]:
        """Return the means, ``{label: {"mine": {"ndcg@10": 0.1, ...}, ...}, ...}``."""
        return {label: part.to_dict() for label, part in self.items()}

    def to_pandas(self, *, names: Names | None = None) -> DataFrame:
        """Return a DataFrame: the rows of `Comparison.to_pandas`, for every segment.

        Parameters
        ----------
        names : str or several, optional
            The means to show; default: all.
        """
        import pandas

        frames = {label: part.to_pandas(names=names) for label, part in self.items()}
        for label, frame in frames.items():
            frame.insert(0, "segment", label)
        return pandas.concat(list(frames.values()), ignore_index=True)

    @cached
    def _every(self) -> S:
        """The results of all segments, of all names: what is equal by definition is so in each."""
        if self._shown_of is not None:
            every: S = self._shown_of._every
            return every
        some = (part.results.values() for part in self.values())
        counted = chain(*(part for part in some if any(one.n_evaluated for one in part)))
        return replace(self.whole, results={str(i): one for i, one in enumerate(counted)})

    @cached
    def _tested(self) -> tuple[Tests | None, str]:
        """The tests that are marked, and why there are none though there is a baseline.

        They are of all names, also where some alone are shown.
        """
        if self._shown_of is not None:
            found: tuple[Tests | None, str] = self._shown_of._tested
            return found
        return or_why(self.test) if self.whole.baselines else (None, "")

    def _only(self, names: Names) -> Self:
        return replace(super()._only(names), _shown_of=self)

    def _page(self, look: Look = LOOK) -> Page:
        """Return a table per name: a row per segment, and one for all."""
        (tests, why), unit, tested_as = self._tested, self.whole.unit, self._every._tested_as
        signs = {} if tests is None else {(t.segment, t.system, t.name): t.sign for t in tests}
        names = [n for _, some in self.whole._layout(look.every_metric)[0] for n in some.values()]
        shown = [  # not coverage, which does not split
            self._table(name, signs, look)
            for name in names
            if any(part._has(one, name) for part in self.values() for one in part.systems)
        ]
        notes, legend = [worded(note, unit) for note in self.notes], ""
        if why:
            notes.insert(0, f"NOT TESTED against {', '.join(self.whole.baselines)}: {why}")
        if tests is not None:
            legend = tests._legend()
            of_all = f"the line of all {unit} is not among these tests{self._of_all(tests)}"
            known = [(name, tested_as[name]) for name in self.whole.names() if name in tested_as]
            cautions = tests._cautions_of_marks(known)
            differ = () if self.of_items else lines(tests, known)
            notes = [legend, *cautions, of_all, *differ, *notes]
        parts = {
            f"{system} in {label_text(label, self)}": result
            for label, part in self.items()
            for system, result in part.results.items()
        }
        notes += self.whole.rules(look, parts)
        best = "best of its line; not tested: .test() tests the difference in every segment"
        differences = [one.text for one in self.whole.differences]
        return Page(shown, notes, differences, legend=legend, best=best)

    def _of_all(self, tests: Tests) -> str:
        """Return what differs over all users, where no segment alone shows a difference."""
        if any(one.mark for one in tests):
            return ""
        everything = self if self._shown_of is None else self._shown_of
        whole, _ = or_why(everything.whole.test)
        shown = {*self.whole._tested_as.values()}
        found = [one.label for one in whole or () if one.mark and one.name in shown]
        return f"; by itself it shows a difference: {few_of(found)}" if found else ""

    def _table(self, name: str, signs: Mapping[tuple[Any, str, str], str], look: Look) -> Table:
        systems, rows, of = self.whole.systems, [], self._every._tested_as.get(name, name)
        blank = " " * any(sign for (_, _, one), sign in signs.items() if one == of)
        for label, part in [*self.items(), (None, self.whole)]:
            segment = label_text(label, self)
            marks = {s: signs.get((segment, s, of)) or blank for s in systems}
            if part is self.whole:
                segment, marks = "all", dict.fromkeys(systems, blank)
            best = [] if self.whole.baselines else part._best(name)
            n_users = max(result.n_users for result in part.results.values())
            cells = [part._cell(s, name, marks[s], s in best, look) for s in systems]
            rows.append((segment, [Cell(f"{n_users:,}"), *cells]))
        return Table(name, [self.whole.unit, *systems], rows)


def by(comparison: S, labels: Any) -> SegmentedComparison[S]:
    """Split a comparison; see `Comparison.by`."""
    first = next(iter(comparison.results.values()))
    by_key, order = labels, categories(getattr(labels, "dtype", None))
    if first.has_keys:  # labels in an order are in that of the first
        whose, _ = values_by_user(labels, first.users, first.n_users, "labels")
        by_key = dict(zip(first.users, whose, strict=True))

    def split(result: TopKResult) -> Segments[TopKResult]:
        return split_by(result, by_key if result.has_keys else labels, order)

    found, parts = _split(comparison, "by()", split)
    notes = _SEGMENTS, *next(iter(found.values()))._notes()
    whole = replace(comparison, results={name: one.whole for name, one in found.items()})
    return SegmentedComparison(whole, parts, notes)


def by_item(
    comparison: S, labels: Any, order: Iterable[Any] | None = None
) -> SegmentedComparison[S]:
    """Split the relevant items of a comparison; see `Comparison.by_item`."""
    from toplist.inputs.facts import ItemLabels  # what few need, so that imports are quick

    known, order = ItemLabels.of(labels, "labels"), None if order is None else list(order)
    found, parts = _split(comparison, "by_item()", lambda one: one.by_item(known, order=order))
    notes = f"users: {WHOSE[True]}", *next(iter(found.values()))._notes()
    return SegmentedComparison(comparison, parts, notes, of_items=True)


def _split(
    comparison: S, what: str, split: Callable[[TopKResult], Segments[TopKResult]]
) -> tuple[dict[str, Segments[TopKResult]], dict[Any, S]]:
    """Return the segments of every system, and the comparison of each label, None last."""
    if samples.Moments.of(comparison.results) is not None:
        raise samples.refuse(what, f"{ON_SPARK}, and compare its results")
    found, parts = {name: split(one) for name, one in comparison.results.items()}, {}
    order = dict.fromkeys(label for one in found.values() for label in one)
    for label in sorted(order, key=lambda label: label is None):
        lacking = [name for name, one in found.items() if label not in one]
        if lacking:
            raise ValueError(
                f"segment {label!r} has no user of {lacking[0]}: the systems have other users"
            )
        parts[label] = replace(comparison, results={n: one[label] for n, one in found.items()})
    return found, parts


# Whether segments differ


@readable
class Heterogeneity(NamedTuple):
    """Welch's test of whether a difference is the same in all segments of the users.

    Attributes
    ----------
    f, df1, df2, p : float
        Welch's F, its degrees of freedom and p; NaN where fewer than two segments are left.
    p_adjusted : float
        Corrected for all such tests of a table.
    pooled : float
        The mean of the segments' differences, each by its precision, 1 / error².
    left_out : tuple of labels
        The segments with fewer than two users, or where all have one difference.
    few : tuple of labels
        The segments where fewer than 30 users differ, which make F rough; of `Tests` alone.
    """

    f: float
    df1: float
    df2: float
    p: float
    p_adjusted: float
    pooled: float
    left_out: tuple[Any, ...]
    few: tuple[Any, ...] = ()

    @classmethod
    def of(cls, segments: Mapping[Any, tuple[float, float, float]]) -> Heterogeneity:
        """Return the test of segments, (mean, error, df) each; NaN errors are of one user."""
        left_out = tuple(label for label, (_, error, _) in segments.items() if not error > 0)
        kept = [one for label, one in segments.items() if label not in left_out]
        f, df1, df2, p, pooled = welch(*np.array(kept).reshape(-1, 3).T)
        return cls(f, df1, df2, p, p, pooled, left_out)

    def words(self, after: str) -> str:
        """Return F and p, and which segments are left out, or make them rough."""
        found = f"Welch F({self.df1:g}, {self.df2:,.1f}) = {self.f:.2f}, {p_is(self.p_adjusted)}"
        found += after
        if self.left_out:
            found += f"; without {few_of(self.left_out)}: fewer than two users, or all alike"
        if self.few:
            found += f"; rough, as fewer than {FEW} users differ in {few_of(self.few)}"
        return found


def heterogeneity(segments: Mapping[Any, ArrayLike]) -> Heterogeneity:
    """Test whether the mean of the users' differences differs between segments: Welch's F.

    A difference that is found in one segment and not in another does not say that these two
    differ: this test does. It needs no equal variances (Welch 1951; `toplist.stats.datasets.welch`
    has the formula). With 50 users and more in each segment a true null was rejected in 4 to 6 % of
    samples; in 1 to 9 % where fewer than 30 users of a segment differ (benchmarks/sizes.py).

    Parameters
    ----------
    segments : dict of label -> (n,) float
        The differences of the users of each segment; a user is in one segment.

    Returns
    -------
    Heterogeneity
        Segments with fewer than two users, or where all have one difference, are `left_out`.

    Raises
    ------
    TypeError, ValueError
        For what is no dict, and differences that are not finite.

    Examples
    --------
    >>> found = heterogeneity({"new": [0.3, 0.1, 0.4, 0.2], "old": [0.0, 0.1, -0.1], "one": [0.9]})
    >>> round(found.f, 3), round(found.df2, 2), round(found.p, 4), found.left_out
    (8.333, 4.96, 0.0346, ('one',))
    """
    found = {}
    for label, values in _checked(segments).items():
        with about(f"segment {label!r}"):
            both = difference(values, np.zeros(np.shape(values)))
        found[label] = both.difference, both.error, both.df
    return Heterogeneity.of(found)


def heterogeneity_of_moments(segments: Mapping[Any, tuple[float, float, float]]) -> Heterogeneity:
    """Test the same as `heterogeneity` where the number, mean and spread of the users are known.

    Parameters
    ----------
    segments : dict of label -> (n, mean, std)
        The number of users, the mean of their differences and its standard deviation (ddof = 1).
        Results without users have them: evaluate the truth of every segment by itself, and give
        ``(test.n, test.difference, test.std)`` of each.

    Examples
    --------
    >>> ages = {"new": (966, 0.0073, 0.135), "mid": (1260, 0.0058, 0.103), "old": (1106, 6e-4, 0.1)}
    >>> found = heterogeneity_of_moments(ages)
    >>> round(found.f, 4), found.df1, round(found.df2, 1), round(found.p, 4)
    (1.1196, 2, 2074.8, 0.3266)
    """
    found = {}
    for label, (n, mean, std) in _checked(segments).items():
        if n > 1 and not (std >= 0 and math.isfinite(mean + std)):
            raise ValueError(
                f"segment {label!r} has mean {mean} and std {std}: give finite numbers, std from 0"
            )
        found[label] = mean, std / math.sqrt(n) if n > 1 else math.nan, n - 1
    return Heterogeneity.of(found)


def _checked(segments: Any) -> Mapping[Any, Any]:
    if not isinstance(segments, Mapping):
        raise TypeError(f"give a dict of segment -> differences, not {type(segments).__name__}")
    return segments


def between(tests: Tests) -> dict[tuple[str, str, str], Heterogeneity]:
    """Return whether the segments of tests differ, by (system, baseline, name).

    Weights are in the errors of the tests and in their degrees of freedom.

    Raises
    ------
    NotTestable
        For tests of several runs, and of rows in clusters.
    """
    if tests.plan.runs is not None or tests.plan.n_clusters:  # which segments may share
        raise NotTestable(ALONE)
    by_pair: dict[tuple[str, str, str], dict[Any, Any]] = {}
    for one in tests:
        by_pair.setdefault((one.system, one.baseline, one.name), {})[one.segment] = one
    found = {}
    for pair, some in by_pair.items():
        test = Heterogeneity.of({s: (one.difference, one.error, one.df) for s, one in some.items()})
        few = (label for label, one in some.items() if "FEW DIFFER" in one.cautions)
        if test.p == test.p:
            found[pair] = test._replace(few=tuple(one for one in few if one not in test.left_out))
    correction: Any = tests.plan.correction
    adjusted = adjust([one.p for one in found.values()], correction).tolist()
    both = zip(found.items(), adjusted, strict=True)
    return {pair: one._replace(p_adjusted=p) for (pair, one), p in both}


def lines(tests: Tests, shown: Iterable[tuple[str, str]] | None = None) -> list[str]:
    """Return whether the segments of tests differ: a line for each pair and name, of many one.

    `shown` are the names to tell of, each with that under which it is tested; default: all.
    """
    every, why = or_why(lambda: between(tests))
    if every is None:
        return [why]
    several = len(tests.names) * len(tests._pairs) > 1
    corrected = len(every) > 1 and tests.plan.correction in CORRECTED
    after = f" after {CORRECTED[tests.plan.correction]} over {len(every)}" if corrected else ""
    names = {name: name for name in tests.names}
    if shown is not None:
        names = {as_name: name for name, as_name in reversed([*shown])}
    found = {pair: one for pair, one in every.items() if pair[2] in names}
    words = {pair: f"({one.words(after)})" for pair, one in found.items()}
    name = {pair: f"{pair[0]} - {pair[1]} {names[pair[2]]}" for pair in found}
    differ = [pair for pair, one in found.items() if one.p_adjusted < 0.05]
    if len(found) > SHOWN:
        first = sorted(differ or found, key=lambda pair: found[pair].p_adjusted)
        least = few_of([f"{name[pair]} {words[pair]}" for pair in first[: len(differ) or 1]])
        n = f"{len(differ) or 'none'} of {len(found)} differences"
        return [f"shown to differ between segments: {n}; least p: {least}"]
    return [
        f"{name[pair] + ': ' if several else ''}the difference "
        f"{'differs' if pair in differ else 'is not shown to differ'} between segments {said}"
        for pair, said in words.items()
    ]
