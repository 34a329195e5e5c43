"""`Tests`: the differences of systems, their intervals and p values, as a table and in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from typing import Any, Self, overload

from toplist.checks import cached, counted, worded
from toplist.comparing.contrasts import (
    MARKS,
    NAMES,
    Contrast,
    SameUsers,
    TestCorrection,
    TestFamily,
    TestMethod,
    TestPlan,
    p_is,
    primary_of,
)
from toplist.metrics.names import Names, listed
from toplist.plots import differences
from toplist.plots.axes import Axes
from toplist.results.markup import Display
from toplist.results.segments import NO_LABEL
from toplist.results.tables import LOOK, Column, Grid, Look, Page, Table, probability
from toplist.stats import CAUTIONS, FEW, planning
from toplist.stats.units import Alternative

CORRECTED = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "bh": "Benjamini-Hochberg",
    "maxt": "MaxT",
}
# These have no interval of their own; what these two test is no mean.
OTHER_INTERVALS = ("randomization", "wilcoxon", "sign")
OF_RANKS = ("wilcoxon", "sign")
NO_MEAN = "does not test the mean"
# With more comparisons in several names, those of one name are printed; with more in a table, fewer
# columns, so that they fit into a line.
LINES, MANY = 40, 12


@dataclass(frozen=True, eq=False, repr=False)
class Tests(Display, Sequence[Contrast]):
    """Comparisons of systems, as a table. Returned by `Comparison.test` and `paired_tests`.

    A sequence of `Contrast`; ``tests["ease", "ndcg@10"]`` finds one by its system and name.
    Printed, more than 40 in several measures are those of one, ndcg@10 or at the largest k below,
    else the first; a line counts the others. ``tests.to_text(names="map@10")`` shows those of
    another, and no p hangs on what is shown.

    Attributes
    ----------
    contrasts : tuple of Contrast
    plan : Plan
        How they were tested and corrected: method, correction, level, seed and others.

    Examples
    --------
    >>> import toplist as tl
    >>> a, b = [0.5, 0.9, 0.1, 0.4, 0.6], [0.2, 0.1, 0.2, 0.1, 0.3]
    >>> tests = tl.inference.paired_tests({"knn": b, "ease": a}, baseline="knn")
    >>> round(tests["ease", "value"].p, 4), tests[0].wins
    (0.0886, 4)
    """

    __test__ = False  # no test of pytest

    contrasts: tuple[Contrast, ...]
    plan: TestPlan = field(default_factory=TestPlan)

    def __len__(self) -> int:
        """Return the number of comparisons."""
        return len(self.contrasts)

    @overload
    def __getitem__(self, key: int | str | tuple[str, ...]) -> Contrast: ...
    @overload
    def __getitem__(self, key: slice) -> Tests: ...
    def __getitem__(self, key: Any) -> Any:
        """Return a comparison by its place, or by (segment,) system, (baseline,) and name."""
        if isinstance(key, slice):
            return Tests(self.contrasts[key], self.plan)
        if not isinstance(key, (str, tuple)):
            return self.contrasts[key]
        first, *rest = asked = (key,) if isinstance(key, str) else key or (None,)
        # a segment by its label, which may be no text
        found, text = list[Contrast](), NO_LABEL if first is None else str(first)
        for form in (repr(first), text):
            found = found or [one for one in self if (form, *rest) in _keys(one)]
        if len(found) != 1:
            some = [(c.segment, c.system, c.baseline, c.name) for c in self.contrasts[:6]]
            have = ", ".join(str(tuple(p for p in one if p is not None)) for one in some)
            what = "several have" if found else "no comparison has"
            raise KeyError(f"{what} {asked!r}; there are {have}")
        return found[0]

    def with_plan(self, **changes: Any) -> Tests:
        """Return the same comparisons with some of what their plan says changed."""
        return replace(self, plan=replace(self.plan, **changes))

    @property
    def names(self) -> list[str]:
        """The names that are compared."""
        return list(dict.fromkeys(one.name for one in self))

    @property
    def signs(self) -> dict[tuple[str, str], str]:
        """The sign of every (system, name): of several baselines, what holds against each."""
        signs: dict[tuple[str, str], set[str]] = {}
        for one in self:
            signs.setdefault((one.system, one.name), set()).add(one.sign)
        # of both marks the weaker
        return {
            place: MARKS[0] if some == {*MARKS} else "".join(some) * (len(some) == 1)
            for place, some in signs.items()
        }

    @property
    def n_family(self) -> int:
        """The number of comparisons that p is corrected for, shown or not."""
        return self.plan.n_family

    def _grid(self) -> Grid:
        """Return the fields of each comparison, and how it was tested."""
        plan = self.plan
        how: dict[str, Any] = {"method": plan.method, "alternative": plan.alternative}
        if plan.margin is not None:
            how = {"method": "equivalence", "alternative": "within"}
        how |= {"correction": plan.correction, "n_family": self.n_family}
        how |= {"level": plan.shown_level, "margin": plan.margin}  # that of low and high
        return Grid.of(asdict(one) | how for one in self)

    def sentence(self) -> str:
        """Return what a paper says of the tests: which test, over whom, corrected for what."""
        plan, tukey = self.plan, self.plan.method == "tukey"
        if not self.n_family:
            return f"No difference could be tested over {self._whom}."
        one_sided, of_margin = plan.alternative != "two-sided", plan.margin is not None
        what = f"Equivalence within ±{plan.margin:g} was" if of_margin else "Differences were"
        sided, other = "two-sided " * (not one_sided and not of_margin), "two-sided " * one_sided
        ends = " to ".join(map(str, sorted({*plan.n_runs[:1], *plan.n_runs[-1:]})))
        runs = f" and {ends} {plan.runs} runs of each system" * bool(plan.runs)
        uncorrected = plan.correction == "none" and not tukey
        head = (
            f"{what} tested by {sided}{plan.words} over {self._whom}{runs}{self._anew}, "
            f"{'with uncorrected p' if uncorrected else f'with p{self._after}'}; {other}intervals "
            f"are {100 * plan.shown_level:.4g} % and hold "
            f"{self._together if tukey else 'one by one'}"
            f"{', by the t test' * (plan.method in OTHER_INTERVALS)}."
        )
        if plan.method in OF_RANKS:
            head += f" {NAMES[plan.method].capitalize()} {NO_MEAN}."
        said = [*map(self._difference, self)]
        if len(self) > 4 and plan.margin is None:
            found = sum(bool(one.mark) for one in self)
            said = [f"p is below 0.05 for {found} of {len(self)} differences."]
        return " ".join([head, *said, *(f"{caution}." for caution in self._cautions)])

    def _difference(self, one: Contrast) -> str:
        """Return a sentence about a difference."""
        found = f"interval {LOOK.ends(one.low, one.high, '+')}, {p_is(one.p_adjusted)}"
        if self.plan.margin is not None:
            return (
                f"{one.system} and {one.baseline} are {self._within(one)} in {one.name} "
                f"(difference {LOOK.signed(one.difference)}, {found})."
            )
        change = f"equals {one.baseline}"
        if one.difference:
            change = f"exceeds {one.baseline}" if one.difference > 0 else f"is below {one.baseline}"
            change += f" by {LOOK.number(abs(one.difference))}"
            found += ", not shown to differ" * (not one.mark)
        size = "" if one.d_z != one.d_z else f", d_z = {one.d_z:.2f}"
        counts = one.wins, one.losses
        higher, lower = reversed(counts) if one.higher_is_better is False else counts
        where = "" if one.segment is None else f" (segment {one.segment})"
        return (
            f"{one.system} {change} in {one.name}{where} ({LOOK.number(one.mean)} against "
            f"{LOOK.number(one.baseline_mean)}, {found}{size}; "
            f"{worded(counted(higher, 'user'), self.plan.rows)} higher, {one.ties:,} equal, "
            f"{lower:,} lower)."
        )

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the differences with their intervals, zero, and the margin: a chart per metric.

        What is not shown to differ is hollow.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            For one metric.

        Returns
        -------
        matplotlib Axes
        """
        plan = self.plan
        held = {name for one in self for name in one.cautions}
        rough = [worded(words, plan.rows) for name, words in CAUTIONS.items() if name in held]
        told = [f"{plan.words} over {self._whom}{self._after}", *rough]
        told += [plan.rules] * bool(plan.rules)
        return differences.forest(
            self.contrasts, level=plan.level, margin=plan.margin, told=told, ax=ax
        )

    # What is said of all of them

    @cached
    def _segments(self) -> set[str]:
        """The segments of which the comparisons are."""
        return {one.segment for one in self if one.segment is not None}

    @property
    def _whom(self) -> str:
        """Over whom was tested."""
        plan, sizes = self.plan, sorted({one.n for one in self})
        if not sizes:
            return f"no {plan.rows}"
        several = f"{sizes[0]:,} to {sizes[-1]:,} users"
        words = worded(counted(sizes[0], "user") if len(sizes) == 1 else several, plan.rows)
        most = "up to " * (len(sizes) > 1)
        if plan.n_clusters:
            words += f" in {most}{counted(plan.n_clusters, 'cluster')}"
        return words + ", weighted" * plan.weighted + without(plan.n_left_out, most)

    @property
    def _anew(self) -> str:
        """What the difference of several runs is about."""
        return ", for models trained anew" * bool(self.plan.runs)

    @property
    def _cautions(self) -> list[str]:
        """What makes some of the p and intervals rough, a line each."""
        return [*cautioned({one.label: one.cautions for one in self}, self.plan.rows)]

    @property
    def _after(self) -> str:
        """What p was corrected for."""
        plan, each = self.plan, ""
        if not self.n_family:
            return ": too few to test"
        if plan.method == "tukey":
            return f" after Tukey over {counted(len(self), 'comparison')}"
        if plan.correction == "none":
            return ", uncorrected"
        if plan.family == "metric":
            each = " of each name"
        if self._segments:
            each += f" in {counted(len(self._segments), 'segment')}"
        how = CORRECTED[plan.correction]
        return f" after {how} over {counted(self.n_family, 'comparison')}{each}"

    @property
    def _together(self) -> str:
        """What Tukey's p and intervals hold for; of one pair, nothing is pooled."""
        return f"for all pairs together{', if these vary alike' * (len(self) > 1)}"

    def _legend(self, signed: bool = True) -> str:
        """Return what is tested, how and over whom, and what p is corrected for: the first line.

        `signed` tables have the signs of what is better or worse.
        """
        plan, pairs, whose = self.plan, self._pairs, ", ".join(self.plan.baselines)
        each = "each of " * (len(plan.baselines) > 1)
        what = f"against {each}{whose}, " if whose and len(pairs) > 1 else ""
        if len(pairs) == 1:
            what = f"{pairs[0][0]} - {pairs[0][1]}, "
        said = f"{what}{plan.words} over {self._whom}{self._anew}"
        if plan.margin is not None or not self.n_family:
            return said + self._after
        if signed and any(one.sign for one in self):
            signs = "† ‡ better, ▾ worse" if plan.of_metrics else "† ‡ higher, ▾ lower"
            said += f"; {signs}: p < 0.05, 0.01{self._after}"
        else:
            found = "differs: p <" if any(one.mark for one in self) else "no p below"
            said += f"; {found} 0.05{self._after}"
        some = (one.name for one in self if one.higher_is_better is None)
        names = ", ".join(dict.fromkeys(name.rpartition("@")[0] for name in some))
        return said + f"; no sign in {names}: more is neither good nor bad" * bool(names)

    def _within(self, one: Contrast) -> str:
        shown = one.p_adjusted < 1 - self.plan.level
        return "equivalent" if shown else "not shown to be equivalent"

    # The table

    def _only(self, names: Names) -> Self:
        """Return those of some names, ``"ndcg@10"`` or ``"ndcg"`` for every k; no p changes."""
        some = named(names, self.names)
        return replace(self, contrasts=tuple(one for one in self if one.name in some))

    def _shown(self, form: str, names: Names | None = None, **how: Any) -> Page:
        """Return all tables; for a terminal, of many in several names those of one, and a line."""
        several = len(self._parts) > 1 and len(self.names) > 1
        if names is not None or form != "text" or not several or len(self) <= LINES:
            return super()._shown(form, names, **how)
        first = primary_of(self.names)
        rest = [one for one in self if one.name != first]
        found = sum(bool(one.mark) for one in rest)
        line = (
            f"{counted(len(self.names) - 1, 'more name')}: p is below 0.05 in {found:,} of "
            f"{counted(len(rest), 'difference')}; .to_text(names={rest[0].name!r}) of Python shows "
            "one, to_pandas(), other formats and --format csv have all"
        )
        page = super()._shown(form, first, **how)
        return page._replace(notes=[*page.notes, line])

    def _page(self, look: Look = LOOK) -> Page:
        """Return all tables, with the lines below; in LaTeX with the sentence for a paper."""
        notes = list(self._notes(look))
        said = [self.sentence()] * (look.form == "latex")
        tables = [self._table(one, look) for one in self._parts]
        return Page(tables, [*said, *notes], legend="; ".join([notes[0], *self._cautions]))

    @cached
    def _pairs(self) -> list[tuple[str, str]]:
        """The pairs of systems that are compared."""
        return list(dict.fromkeys((one.system, one.baseline) for one in self))

    @cached
    def _parts(self) -> list[list[Contrast]]:
        """The comparisons of each table: all of one pair, else of a name, or name and pair."""
        parts: dict[Any, list[Contrast]] = {}
        one_pair = len(self._pairs) == 1 and not self._segments
        for one in self:
            pair = (one.system, one.baseline) if self._segments else ()
            key = () if one_pair else (self.names.index(one.name), *pair)
            parts.setdefault(key, []).append(one)
        return [some for _, some in sorted(parts.items(), key=lambda part: part[0][:1])]

    def _is_brief(self, some: Sequence[Contrast], look: Look) -> bool:
        """Return whether a table for a terminal has so many rows that each must fit into a line."""
        several = len(self._pairs) > 1 and len(some) > MANY
        return look.form == "text" and several and self.plan.correction != "none"

    def _table(self, some: Sequence[Contrast], look: Look) -> Table:
        """Return a table of one name: a row per system, pair or segment; of one pair, per name."""
        plan, first, of_segments = self.plan, some[0], bool(self._segments)
        of_pair, of_base = of_segments or len(self._pairs) == 1, len(plan.baselines) == 1
        mark = "sign" * (plan.margin is None and any(one.sign for one in some))
        ends = f"{100 * plan.shown_level:.4g} % interval"
        ends += " (two-sided)" * (plan.alternative != "two-sided")
        floor = 1 / (plan.n_resamples + 1) if plan.n_resamples else 0.0
        columns = [
            *[Column("n", "count", plan.rows)] * of_segments,
            *[Column("baseline_mean", title=first.baseline)] * of_pair,
            *[Column("mean", title=first.system if of_pair else "mean")] * (of_pair or of_base),
            Column("difference", "signed", mark=mark),
            Column(("low", "high"), "signed", ends),
            Column("relative", "relative"),
        ]
        if not self._is_brief(some, look):
            columns += [Column("d_z", "size"), Column("outcome", "text", "win/tie/loss")]
            title = "p (equivalence)" if plan.margin else "p"
            columns.append(Column("p", "p", title, floor=floor))
        if plan.correction != "none":
            title = f"p ({CORRECTED.get(plan.correction)})"
            columns.append(Column("p_adjusted", "p", title, floor=floor))
        rows = [
            {**vars(one), "sign": one.sign or " ", "outcome": f"{one.wins}/{one.ties}/{one.losses}"}
            for one in some
        ]
        label = "{system}" if of_base else "{system} - {baseline}"
        if of_pair:
            label = "{segment}" if of_segments else "{name}"
        elif of_base:  # the baseline first
            rows = [{"system": plan.baselines[0], "mean": first.baseline_mean}, *rows]
        corner = first.name if of_segments or not of_pair else ""
        systems = list(dict.fromkeys(chain(*(pair[::-1] for pair in self._pairs))))
        return Table.of(corner, label, columns, rows, look, systems)

    def _notes(self, look: Look) -> Iterator[str]:
        """Yield the lines below the table."""
        plan = self.plan
        yield self._legend()
        for one in self if plan.margin is not None else ():
            known = plan.of_metrics and one.higher_is_better is not None
            less, more = ("worse", "better") if known else ("lower", "higher")
            yield (
                f"{one.system} - {one.baseline} {one.name}: {self._within(one)} within "
                f"±{plan.margin:g} (not {less} p {probability(one.p_not_worse)}, not {more} p "
                f"{probability(one.p_not_better)})"
            )
        if plan.alternative != "two-sided" and not plan.baselines:
            yield "one-sided, of later - earlier in the order given: baseline= says which is which"
        if plan.method == "tukey":
            yield f"p and intervals hold {self._together}"
        elif len(self._pairs) > 1:
            yield "intervals hold one by one, not together"
        if detectable := self._detectable():
            after = self._after
            if plan.correction in ("bh", "maxt"):  # with which less is detectable, how much is open
                after = self.with_plan(correction="bonferroni")._after
            yield f"detectable with 80 % power at p < 0.05{after}: {detectable}"
        for one in self if plan.runs is not None else ():
            yield (
                f"{one.label}: for these trained models p {probability(one.p_users)}, standard "
                f"error {one.error_users:.4g}; for models trained anew p {probability(one.p)}, "
                f"standard error {one.error:.4g}"
            )
        few = "without d_z, win/tie/loss and p alone, which .to_pandas() and other formats have"
        same = "where all differ by the same number, p is that of sign flips, without an interval"
        if plan.method in OTHER_INTERVALS:
            same = "where all differ by the same number there is no interval"
        alike = any(
            math.inf in (abs(one.statistic), abs(one.d_z)) and one.p == one.p for one in self
        )
        lines = {
            same: alike and plan.margin is None,
            "win/tie/loss count rows; the interval and p are of clusters": plan.n_clusters,
            "the intervals are those of the t test": plan.method in OTHER_INTERVALS,
            f"{NAMES[plan.method]} {NO_MEAN}": plan.method in OF_RANKS,
            few: any(self._is_brief(some, look) for some in self._parts),
        }
        yield from (line for line, holds in lines.items() if holds)
        yield from plan.notes
        yield from self._cautions

    def _cautions_of_marks(self, tested_as: Iterable[tuple[str, str]]) -> Iterator[str]:
        """Yield what makes p rough of the marks of a table of means.

        `tested_as` are the names in the table, each with that under which it is tested; where
        several are tested as one, the first says where.
        """
        shown = {as_name: name for name, as_name in reversed([*tested_as])}
        some = [one for one in self if one.mark and one.name in shown]
        where = {replace(one, name=shown[one.name]).label: one.cautions for one in some}
        return cautioned(where, self.plan.unit)

    def _detectable(self) -> str:
        """Return the differences that as many users detect, by name."""
        plan, found = self.plan, dict[str, list[float]]()
        if plan.method != "t" or plan.margin or plan.runs or plan.n_clusters or plan.weighted:
            return ""
        # Bonferroni's, which is Holm's first step; of the two-sided test at twice the level that of
        # a one-sided one, as the wrong side is never found where power is 80 %
        sides = 1 if plan.alternative == "two-sided" else 2
        each = 1 if plan.correction == "none" else max(self.n_family, 1)
        alpha = sides * 0.05 / each
        for one in self:
            if one.wins + one.losses >= FEW and one.std > 0:
                least = planning.detectable(one.std, one.n, level=1 - alpha)
                found.setdefault(one.name, []).append(least)
        ends = {name: (f"{min(some):.4f}", f"{max(some):.4f}") for name, some in found.items()}
        return ", ".join(f"{' to '.join(dict.fromkeys(e))} ({name})" for name, e in ends.items())


class HasTests:
    """Base of what is tested: systems side by side, over all users or in every segment."""

    def _tests(self, names: Names | None, plan: TestPlan, users: SameUsers, clusters: Any) -> Tests:
        """Return the tests of some names, by default of all."""
        raise NotImplementedError

    def test(
        self,
        names: Names | None = None,
        *,
        method: TestMethod = "t",
        correction: TestCorrection = "holm",
        alternative: Alternative = "two-sided",
        level: float = 0.95,
        family: TestFamily = "all",
        users: SameUsers = "same",
        clusters: Any = None,
        n_resamples: int | None = None,
        seed: int = 0,
        n_threads: int | None = None,
    ) -> Tests:
        """Test the differences of the systems, user by user; of segments, in each of them.

        Of segments, ``tests["new", "ease", "ndcg@10"]`` is that of one, p is corrected for all of
        them together ("maxt" is refused), and a line says of each pair and name whether the
        difference differs between them (`heterogeneity`). Those in which no user is counted, with
        ``users="common"`` by one of the systems, have no tests, which is said.

        Parameters
        ----------
        names : str or several, optional
            ``"ndcg@10"``; default: every ``name@k`` that was asked for.
        method, correction, alternative, level, clusters, n_resamples, seed, n_threads
            As in `toplist.inference.paired_tests`; `clusters` by default those of the results.
        family : {"all", "metric"}
            What p is corrected for: all comparisons in the table, or those of one name.
        users : {"same", "common"}
            "same": all systems must count the same users. "common": those that all of them count.

        Returns
        -------
        Tests

        Raises
        ------
        KeyError
            For a name that a system does not have.
        ValueError
            For systems with other users, ground truths or rules, and for results without hits.

        Examples
        --------
        >>> import toplist as tl
        >>> truths = {user: {user % 3} for user in range(40)}
        >>> a = tl.top_k_eval({user: [0, 1, 2] for user in truths}, truths, k=2, metrics="mrr")
        >>> b = tl.top_k_eval({user: [2, 1, 0] for user in truths}, truths, k=2, metrics="mrr")
        >>> test = tl.compare({"a": a, "b": b}, baseline="a").test("mrr@2")["b", "mrr@2"]
        >>> round(test.difference, 3), round(test.p, 3), test.wins, test.ties, test.losses
        (-0.025, 0.85, 13, 13, 14)
        """
        how = method, correction, alternative, level, family, n_resamples, seed, n_threads
        return self._tests(names, TestPlan(*how).checked(), users, clusters)


def named(names: Names, known: Sequence[str]) -> list[str]:
    """Return which of the names of a table are asked for; KeyError where none is."""
    asked = listed(names)
    some = [one for one in known if {one, one.rpartition("@")[0]} & {*asked}]
    if not some:
        raise KeyError(f"{asked[0]!r} is not tested here: there are {', '.join(known)}")
    return some


def without(n: int, most: str = "") -> str:
    """Return how many are left out that not all systems count, after over whom something is."""
    return f", without {most}{n:,} that not all systems count" if n else ""


def cautioned(cautions: Mapping[str, Sequence[str]], unit: str) -> Iterator[str]:
    """Yield what each of `CAUTIONS` means, once, with the first places where it holds."""
    for caution, meaning in CAUTIONS.items():
        where = [place for place, some in cautions.items() if caution in some]
        if where:
            few = f"({', '.join(where[:4])}{', ...' * (len(where) > 4)})"
            yield f"{caution}: {worded(meaning, unit)} {few}"


def _keys(one: Contrast) -> set[tuple[str | None, ...]]:
    """Return what a comparison is found by."""
    pairs = [(one.system, one.name), (one.system, one.baseline, one.name)]
    of_segment = {(one.segment, *pair) for pair in pairs}
    return {*pairs, *of_segment, (one.system,), (one.baseline,), (one.name,)}
