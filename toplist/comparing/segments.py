"""`SegmentedComparison`: systems compared in every segment of the users, or slice of the items.

p is corrected for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from toplist.checks import cached, prefixed, worded
from toplist.comparing import moments, pairwise, testing
from toplist.comparing.aligning import SameUsers, few_of
from toplist.comparing.heterogeneity import Heterogeneity, between, lines
from toplist.comparing.pairwise import TestFamily, TestMethod
from toplist.comparing.side_by_side import SideBySide, tested
from toplist.comparing.tests import Tests
from toplist.inputs.facts import categories
from toplist.inputs.user_values import values_by_user
from toplist.metrics.names import Names
from toplist.results.markup import Cell, Page, Table
from toplist.results.means import has_keys
from toplist.results.segments import ON_SPARK, WHOSE, ByLabel, Segments, label_text
from toplist.results.segments import by as split_by
from toplist.stats.corrections import Correction
from toplist.stats.estimates import Alternative

if TYPE_CHECKING:
    from typing import Self

    from matplotlib.axes import Axes
    from pandas import DataFrame

    from toplist.metrics.names import AnyName
    from toplist.results.result import TopKResult


S = TypeVar("S", bound=SideBySide)
_SEGMENTS = "users: those of the ground truth in the segment"


@dataclass(frozen=True, eq=False, repr=False)
class SegmentedComparison(ByLabel[S]):
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
    _shown_of: ClassVar[Any] = None

    def test(
        self,
        names: Names | None = None,
        *,
        method: TestMethod = "t",
        correction: Correction = "holm",
        alternative: Alternative = "two-sided",
        level: float = 0.95,
        family: TestFamily = "all",
        users: SameUsers = "same",
        n_resamples: int | None = None,
        seed: int = 0,
        n_threads: int | None = None,
    ) -> Tests:
        """Test the differences of the systems in every segment.

        Parameters
        ----------
        names, method, alternative, level, users, n_resamples, seed, n_threads
            As in `Comparison.test`.
        correction : {"holm", "bh", "bonferroni", "none"}
            Of p for the comparisons of all segments together.
        family : {"all", "metric"}
            What p is corrected for: all comparisons in all segments, or those of one name.

        Returns
        -------
        Tests
            ``tests["new", "ease", "ndcg@10"]`` is that of one segment. Segments in which no user
            is counted, with ``users="common"`` by one of the systems, have none, which is said.
            A line below the table says of each pair and name whether the
            difference differs between segments (`heterogeneity`).

        Examples
        --------
        >>> import toplist as tl
        >>> truths = {user: {user % 3} for user in range(60)}
        >>> a = tl.top_k_eval({user: [0, 1, 2] for user in truths}, truths, k=2, metrics="mrr")
        >>> b = tl.top_k_eval({user: [2, 1, 0] for user in truths}, truths, k=2, metrics="mrr")
        >>> segments = {user: "new" if user < 20 else "old" for user in truths}
        >>> tests = tl.compare({"a": a, "b": b}, baseline="a").by(segments).test()
        >>> tests["old", "b", "mrr@2"].n, tests.n_family
        (40, 2)
        """
        if correction == "maxt":  # type: ignore[comparison-overlap]
            raise ValueError(
                "correction='maxt' is over comparisons of the same users, and segments have "
                "others: give 'holm', or test one segment"
            )
        how = method, correction, alternative, level, family
        asked = pairwise.TestSpec(*how, n_resamples, seed, n_threads, users=users)
        alone = replace(asked, correction="none", family="all")
        parts, lost = [], []
        for label, part in self.parts.items():
            segment, n = label_text(label, self), [r.n_evaluated for r in part.results.values()]
            if not (all(n) if users == "common" else any(n)):
                lost.append(segment)
                continue
            try:
                found = testing.tests(part, names, alone)
            except ValueError as error:
                raise prefixed(f"segment {segment}: ", error) from None
            named = tuple(replace(one, segment=segment) for one in found)
            parts.append(replace(found, contrasts=named))
        if not parts:
            raise ValueError("no user is counted in any segment: nothing to test")
        found = testing.together(parts, asked)
        notes = *(() if self.of_items else lines(found)), *found.plan.notes
        if lost:
            some = ", ".join([*lost[:5], *["..."] * (len(lost) > 5)])
            notes = *notes, f"not tested, since nobody is counted: {some}"
        return replace(found, plan=replace(found.plan, notes=notes))

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
    def _tested(self) -> tuple[Tests | None, str]:
        """The tests that are marked, and why there are none though there is a baseline.

        They are of all names, also where some alone are shown.
        """
        if self._shown_of is not None:
            found: tuple[Tests | None, str] = self._shown_of._tested
            return found
        return tested(self.test) if self.whole.baselines else (None, "")

    def _only(self, names: Names) -> Self:
        found = super()._only(names)
        object.__setattr__(found, "_shown_of", self)
        return found

    def _page(self, every_metric: bool = False) -> Page:
        """Return a table per name: a row per segment, and one for all."""
        tests, why = self._tested
        marks = {} if tests is None else {(t.segment, t.system, t.name): t.sign for t in tests}
        names = [n for _, some in self.whole._columns(every_metric) for n in some.values()]
        shown = [  # not coverage, which does not split
            self._table(name, marks)
            for name in names
            if any(part._has(one, name) for part in self.values() for one in part.systems)
        ]
        unit = self.whole.unit
        notes = [worded(note, unit) for note in self.notes]
        if why:
            notes.insert(0, f"NOT TESTED against {', '.join(self.whole.baselines)}: {why}")
        legend = "" if tests is None else tests._legend
        if tests is not None and legend:
            of_all = f"the line of all {unit} is not among these tests{self._of_all(tests)}"
            notes = [legend, of_all, *(() if self.of_items else lines(tests)), *notes]
        notes += self.whole._accounts()
        best = "best of its line; not tested: .test() tests the difference in every segment"
        return Page(shown, notes, self.whole.differences, legend=legend, best=best)

    def _of_all(self, tests: Tests) -> str:
        """Return what differs over all users, where no segment alone shows a difference."""
        if any(one.mark for one in tests):
            return ""
        everything = (self if self._shown_of is None else self._shown_of).whole
        whole, _ = tested(lambda: testing.tests(everything, None, pairwise.TestSpec()))
        shown = {*self.whole._tested_as.values()}
        marked = [one for one in whole or () if one.mark and one.name in shown]
        found = [f"{one.system} - {one.baseline} {one.name}" for one in marked]
        return f"; by itself it shows a difference: {few_of(found)}" if found else ""

    def _table(self, name: str, marks: Mapping[tuple[Any, str, str], str]) -> Table:
        systems = self.whole.systems
        tested = {part._tested_as.get(name, name) for part in self.values()}
        blank = " " * any(mark for (_, _, of), mark in marks.items() if of in tested)
        rows = []
        for label, part in [*self.items(), (None, self.whole)]:
            segment = "all" if part is self.whole else label_text(label, self)
            n_users = max(result.n_users for result in part.results.values())
            best = [] if self.whole.baselines else part._best(name)
            cells = [Cell(f"{n_users:,}")]
            for system in systems:
                of = part._tested_as.get(name, name)
                mark = "" if part is self.whole else marks.get((segment, system, of), "")
                cells.append(part._marked(system, name, mark or blank, system in best))
            rows.append((segment, cells))
        return Table(name, [self.whole.unit, *systems], rows)


def by(comparison: S, labels: Any) -> SegmentedComparison[S]:
    """Split a comparison; see `Comparison.by`."""
    if moments.known(comparison.results) is not None:
        raise moments.refuse("by()", f"{ON_SPARK}, and compare its results")
    first, found = next(iter(comparison.results.values())), {}
    for name, result in comparison.results.items():
        own, order = labels, categories(getattr(labels, "dtype", None))
        if has_keys(first) and has_keys(result):  # labels in an order are in that of the first
            whose, _ = values_by_user(labels, first.users, first.n_users, "labels")
            own = dict(zip(first.users, whose, strict=True))
        found[name] = split_by(result, own, order)
    whole = {name: one.whole for name, one in found.items()}
    notes = _SEGMENTS, *next(iter(found.values()))._notes()
    split = replace(comparison, results=whole)
    return SegmentedComparison(split, _parts(comparison, found), notes)


def by_item(
    comparison: S, labels: Any, order: Iterable[Any] | None = None
) -> SegmentedComparison[S]:
    """Split the relevant items of a comparison; see `Comparison.by_item`."""
    if moments.known(comparison.results) is not None:
        raise moments.refuse("by_item()", f"{ON_SPARK}, and compare its results")
    from toplist.inputs.facts import ItemLabels  # what few need, so that imports are quick

    known, order = ItemLabels.of(labels, "labels"), None if order is None else list(order)
    found = {name: one.by_item(known, order=order) for name, one in comparison.results.items()}
    notes = f"users: {WHOSE[True]}", *next(iter(found.values()))._notes()
    return SegmentedComparison(comparison, _parts(comparison, found), notes, of_items=True)


def _parts(comparison: S, found: Mapping[str, Segments[TopKResult]]) -> dict[Any, S]:
    """Return the comparison of each label, None last, of the parts of all systems."""
    parts, order = {}, dict.fromkeys(label for one in found.values() for label in one)
    for label in sorted(order, key=lambda label: label is None):
        lacking = [name for name, one in found.items() if label not in one]
        if lacking:
            raise ValueError(
                f"segment {label!r} has no user of {lacking[0]}: the systems have other users"
            )
        results = {name: one[label] for name, one in found.items()}
        parts[label] = replace(comparison, results=results)
    return parts
