"""`Tests`: the differences of systems, their intervals and p values, as a table and in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, overload

from toplist.checks import cached, counted, worded
from toplist.comparing.contrasts import MARKS, Contrast, TestPlan, each_of
from toplist.plots import differences
from toplist.results import markup
from toplist.results.display import Display
from toplist.results.markup import (
    Cell,
    Look,
    Page,
    Table,
    number,
    percent,
    probability,
    round_significant,
)
from toplist.results.segments import NO_LABEL
from toplist.stats import planning
from toplist.stats.estimates import CAUTIONS, FEW

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from toplist.metrics.names import Names

NAMES = {
    "t": "paired t",
    "randomization": "sign flips",
    "bootstrap": "studentised bootstrap",
    "wilcoxon": "Wilcoxon signed ranks",
    "sign": "sign test",
    "equivalence": "two one-sided t tests",
    "tukey": "Tukey's test",
}
CORRECTED = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "bh": "Benjamini-Hochberg",
    "maxt": "MaxT",
}
SIGNS = "† ‡ better, ▾ worse"
# The columns of effect sizes.
SIZES = "relative", "d_z"
# These have no interval of their own.
OTHER_INTERVALS = ("randomization", "wilcoxon", "sign")
# What these two test is no mean.
OF_RANKS = ("wilcoxon", "sign")
NO_MEAN = "does not test the mean"


@dataclass(frozen=True, eq=False, repr=False)
class Tests(Display, Sequence[Contrast]):
    """Comparisons of systems, as a table. Returned by `Comparison.test` and `paired_tests`.

    A sequence of `Contrast`; ``tests["ease", "ndcg@10"]`` finds one by its system and name.

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
        if isinstance(key, str):
            key = (key,)
        if isinstance(key, tuple):
            # a segment by its label, which may be no text
            first, *rest = key or [None]
            texts = repr(first), NO_LABEL if first is None else str(first)
            several = ([one for one in self if (text, *rest) in _keys(one)] for text in texts)
            found = next(filter(None, several), [])
            if len(found) != 1:
                some = [(c.segment, c.system, c.baseline, c.name) for c in self.contrasts[:6]]
                have = ", ".join(str(tuple(p for p in one if p is not None)) for one in some)
                what = "several have" if found else "no comparison has"
                raise KeyError(f"{what} {key!r}; there are {have}")
            return found[0]
        if isinstance(key, slice):
            return Tests(self.contrasts[key], self.plan)
        return self.contrasts[key]

    @property
    def names(self) -> list[str]:
        """The names that are compared."""
        return list(dict.fromkeys(one.name for one in self))

    @property
    def signs(self) -> dict[tuple[str, str], str]:
        """The sign of every (system, name): of several baselines, what holds against each."""
        signs: dict[tuple[str, str], list[str]] = {}
        for one in self:
            signs.setdefault((one.system, one.name), []).append(one.sign)
        common = {}
        for place, some in signs.items():
            common[place] = some[0] if len(set(some)) == 1 else ""
            if all(sign in MARKS for sign in some):  # the weaker mark
                common[place] = MARKS[min(map(MARKS.index, some))]
        return common

    @cached
    def n_family(self) -> int:
        """The number of comparisons that p is corrected for."""
        p = [one for one in self if one.p == one.p]
        if self.plan.family == "all":
            return len(p)
        names = {one.name for one in p}
        return max((sum(one.name == name for one in p) for name in names), default=0)

    def to_dict(self) -> list[dict[str, Any]]:
        """Return a dict per comparison: its fields, and how it was tested."""
        plan, level = self.plan, self.plan.level
        how: dict[str, Any] = {"method": plan.method, "alternative": plan.alternative}
        if plan.margin is not None:
            how, level = {"method": "equivalence", "alternative": "within"}, 2 * level - 1
        how |= {"correction": plan.correction, "n_family": self.n_family}
        how |= {"level": level, "margin": plan.margin}  # the level is that of low and high
        return [asdict(one) | how for one in self]

    def to_pandas(self) -> DataFrame:
        """Return a DataFrame with a row per comparison, and the keys of `to_dict` as columns."""
        import pandas

        return pandas.DataFrame(self.to_dict())

    def to_latex(
        self,
        every_metric: bool = False,
        *,
        names: Names | None = None,
        intervals: bool = True,
        digits: int | None = None,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        """Return the table in LaTeX (booktabs), the sentence for the text as a comment above it.

        Parameters
        ----------
        every_metric, names
            Without effect here, and refused: `Comparison.test` takes names.
        intervals, digits, caption, label
            As in `Comparison.to_latex`: of the differences and means.
        """
        if names is not None:
            self._only(names)
        page = _page(self, Look.of(digits, intervals))
        notes = (self.sentence(), *page.notes)
        return markup.latex(page._replace(notes=notes), caption, label)

    def sentence(self) -> str:
        """Return what a paper says of the tests: which test, over whom, corrected for what."""
        plan = self.plan
        if not self.n_family:
            return f"No difference could be tested over {_whom(self)}."
        if plan.margin is not None:
            return _equivalent(self)
        sided = "two-sided " if plan.alternative == "two-sided" else ""
        runs = ""
        if plan.runs:
            ends = " to ".join(map(str, sorted({*plan.n_runs[:1], *plan.n_runs[-1:]})))
            runs = f" and {ends} {plan.runs} runs of each system"
        together = _together(self) if plan.method == "tukey" else "one by one"
        head = (
            f"Differences were tested by {sided}{_test(plan)} over {_whom(self)}{runs}, "
            f"{_corrected(self)}; {'two-sided ' * (not sided)}intervals are "
            f"{100 * plan.level:.4g} % and hold {together}"
            f"{', by the t test' * (plan.method in OTHER_INTERVALS)}."
        )
        if plan.method in OF_RANKS:
            head += f" {NAMES[plan.method].capitalize()} {NO_MEAN}."
        if len(self) > 4:
            found = sum(bool(one.mark) for one in self)
            return f"{head} p is below 0.05 for {found} of {len(self)} differences."
        return " ".join([head, *(_said(one, plan.rows) for one in self)])

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the differences with their intervals: a line per comparison, zero, and the margin.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        matplotlib Axes
        """
        plan, how = self.plan, f"{_test(self.plan)} over {_whom(self)}{_after(self)}"
        told = [how, *[plan.rules] * bool(plan.rules)]
        return differences.forest(
            self.contrasts, level=plan.level, margin=plan.margin, told=told, ax=ax
        )

    def _page(self, every_metric: bool = False) -> Page:
        """Return the table of the comparisons."""
        return _page(self, Look(intervals=True))

    @property
    def _signed(self) -> bool:
        """Whether any comparison has a sign."""
        return any(one.sign for one in self)

    @property
    def _legend(self) -> str:
        """What the marks of a table of means say."""
        whose = each_of(self.plan.baselines)
        if not self.n_family:
            against = f" against {whose}" if whose else ""
            return f"nothing could be tested{against} over {_whom(self)}"
        said = f"no difference{f' from {whose}' * bool(whose)} was found"
        if any(one.segment is not None for one in self):  # all users together may show one
            said = f"no segment alone shows a difference{f' from {whose}' * bool(whose)}"
        if self._signed and whose:
            said = f"{SIGNS} than {whose}"
        elif any(one.mark for one in self):
            said = f"tested{f' against {whose}' * bool(whose)}"
        return "; ".join([f"{said}: {self._how}", *_undirected(self)])

    @property
    def _how(self) -> str:
        """Which test, over whom, at which p, corrected for what."""
        ends = "0.05, 0.01" if self.plan.baselines and self._signed else "0.05"
        return f"{_test(self.plan)} over {_whom(self)}, p < {ends}{_after(self)}"


def _keys(one: Contrast) -> set[tuple[str | None, ...]]:
    """Return what a comparison is found by."""
    pairs: set[tuple[str | None, ...]] = {
        (one.system, one.name),
        (one.system, one.baseline, one.name),
    }
    pairs |= {(one.segment, *pair) for pair in pairs}
    return pairs | {(one.system,), (one.baseline,), (one.name,)}


def p_is(p: float) -> str:
    """Return a p value as it stands in a sentence."""
    words = probability(p)
    return f"p {words}" if words[0] == "<" else f"p = {words}"


def _page(tests: Tests, look: Look) -> Page:
    """Return the table of the comparisons: one table, or one for each name, or name and pair."""
    pairs = list(dict.fromkeys((one.system, one.baseline) for one in tests))
    if any(one.segment is not None for one in tests):
        tables = [_of_pair(tests, pair, look, name) for name in tests.names for pair in pairs]
    elif len(pairs) == 1:
        tables = [_of_pair(tests, pairs[0], look)]
    else:
        tables = [_of_name(tests, name, look) for name in tests.names]
    notes = list(_notes(tests, pairs))
    return Page([*map(_without_unknown, tables)], notes, legend=notes[0])


def _without_unknown(table: Table) -> Table:
    """Return a table without effect sizes that no line has, as by Tukey's test."""
    kept = [
        i
        for i, column in enumerate(table.columns)
        if column not in SIZES or any(cells[i].mean not in ("", "-") for _, cells in table.rows)
    ]
    rows = [(label, [cells[i] for i in kept]) for label, cells in table.rows]
    return Table(table.corner, [table.columns[i] for i in kept], rows)


def _of_pair(tests: Tests, pair: tuple[str, str], look: Look, name: str = "") -> Table:
    """Return a table of two systems: a row per name, or of one name a row per segment."""
    some = [one for one in tests if (one.system, one.baseline) == pair]
    some = [one for one in some if name in ("", one.name)]
    rows = []
    for one, cells in zip(some, _cells(tests, some, look), strict=True):
        users = [Cell(f"{one.n:,}")] if name else []
        means = Cell(look.number(one.baseline_mean)), Cell(look.number(one.mean))
        rows.append((str(one.segment) if name else one.name, [*users, *means, *cells]))
    columns = [*[tests.plan.rows] * bool(name), pair[1], pair[0], *_headers(tests, look)]
    return Table(name, columns, rows)


def _of_name(tests: Tests, name: str, look: Look) -> Table:
    """Return a table of one name: a row per system, the baseline first, or per pair."""
    some = [one for one in tests if one.name == name]
    headers, baselines = _headers(tests, look), tests.plan.baselines
    cells = _cells(tests, some, look)
    if len(baselines) != 1:
        labels = [f"{one.system} - {one.baseline}" for one in some]
        return Table(name, headers, [*zip(labels, cells, strict=True)])
    first = baselines[0], [Cell(look.number(some[0].baseline_mean)), *[Cell()] * len(headers)]
    rows = [
        (one.system, [Cell(look.number(one.mean)), *of_one])
        for one, of_one in zip(some, cells, strict=True)
    ]
    return Table(name, ["mean", *headers], [first, *rows])


def _headers(tests: Tests, look: Look) -> list[str]:
    """Return the headers of what is said of a difference."""
    plan = tests.plan
    shown = f"{100 * (2 * plan.level - 1 if plan.margin else plan.level):.4g} % interval"
    shown += " (two-sided)" * (plan.alternative != "two-sided")
    last = ["p (equivalence)"] if plan.margin else ["p"]
    if plan.correction != "none":
        last.append(f"p ({CORRECTED[plan.correction]})")
    return ["difference", *[shown] * look.intervals, *SIZES, "win/tie/loss", *last]


def _cells(tests: Tests, some: Sequence[Contrast], look: Look) -> list[list[Cell]]:
    """Return the cells of some comparisons."""
    signed = any(one.sign for one in some) and tests.plan.margin is None
    floor = 1 / (tests.plan.n_resamples + 1) if tests.plan.n_resamples else 0.0
    rows = []
    for one in some:
        mark = (one.sign or " ") if signed else ""
        p = [probability(one.p, 0.0 if one.exact else floor)]
        if tests.plan.correction != "none":
            p.append(probability(one.p_adjusted, 0.0 if one.exact else floor))
        outcome = f"{one.wins}/{one.ties}/{one.losses}"
        size = "-" if one.d_z != one.d_z else f"{one.d_z:.2f}"
        ends = [f"[{look.signed(one.low)}, {look.signed(one.high)}]"] * look.intervals
        difference = look.signed(one.difference) + mark
        rows.append([*map(Cell, (difference, *ends, percent(one.relative), size, outcome, *p))])
    return rows


def _notes(tests: Tests, pairs: Sequence[tuple[str, str]]) -> Iterable[str]:
    """Yield the lines below the table."""
    plan = tests.plan
    whose = ", ".join(plan.baselines)
    what = f"against {whose}, " if whose and len(pairs) > 1 else ""
    if len(pairs) == 1:
        what = f"{pairs[0][0]} - {pairs[0][1]}, "
    yield f"{what}{_test(plan)} over {_whom(tests)}{_what_signs_say(tests)}"
    if plan.margin is not None:
        yield from (
            f"{one.system} - {one.baseline} {one.name}: {_within(one, plan)} within "
            f"±{plan.margin:g} (not worse p {probability(one.p_not_worse)}, not better p "
            f"{probability(one.p_not_better)})"
            for one in tests
        )
    if plan.alternative != "two-sided" and not plan.baselines:
        yield "one-sided, of later - earlier in the order given: baseline= says which is which"
    if plan.method == "tukey":
        yield f"p and intervals hold {_together(tests)}"
    elif len(pairs) > 1:
        yield "intervals hold one by one, not together"
    detectable = _detectable(tests)
    if detectable:
        yield f"detectable with 80 % power{_after(tests)}: {detectable}"
    if plan.runs is not None:
        yield from (
            f"{_label(one)}: for these trained models p {probability(one.p_users)}, standard error "
            f"{one.error_users:.4g}; for models trained anew p {probability(one.p)}, standard "
            f"error {one.error:.4g}"
            for one in tests
        )
    if plan.n_clusters:
        yield "win/tie/loss count rows; the interval and p are of clusters"
    if plan.method in OTHER_INTERVALS and plan.margin is None:
        yield "the intervals are those of the t test"
    if plan.method in OF_RANKS:
        yield f"{NAMES[plan.method]} {NO_MEAN}"
    yield from plan.notes
    for caution, meaning in CAUTIONS.items():
        where = [_label(one) for one in tests if caution in one.cautions]
        if where:
            few = f"({', '.join(where[:4])}{', ...' * (len(where) > 4)})"
            yield f"{caution}: {worded(meaning, plan.unit)} {few}"


def _what_signs_say(tests: Tests) -> str:
    """Return what the signs of a table of comparisons say, and what p is corrected for."""
    plan, after = tests.plan, _after(tests)
    if plan.margin is not None:
        return after
    if not tests.n_family:
        return ": too few to test"
    parts = []
    if tests._signed:
        signs = SIGNS if plan.of_metrics else "† ‡ higher, ▾ lower"
        parts = [f"{signs}: p < 0.05, 0.01{after}"]
    elif any(one.mark for one in tests):
        parts = [f"p{after}"]
    elif plan.correction != "none":
        parts = [f"no p below 0.05{after}"]
    return "".join(f"; {part}" for part in (*parts, *_undirected(tests)))


def _undirected(tests: Tests) -> list[str]:
    """Return which metrics have no signs, in a line; none if all have."""
    some = (one.name for one in tests if one.higher_is_better is None)
    names = dict.fromkeys(name.rpartition("@")[0] for name in some)
    return [f"no sign in {', '.join(names)}: more is neither good nor bad"] if names else []


def _test(plan: TestPlan) -> str:
    """Return the test in words."""
    words = NAMES["equivalence" if plan.margin is not None else plan.method]
    if plan.n_resamples and plan.method in ("randomization", "bootstrap"):
        words += f" ({plan.n_resamples:,}, seed {plan.seed})"
    if plan.alternative != "two-sided":
        words += f", one-sided ({plan.alternative})"
    return words


def _whom(tests: Tests) -> str:
    """Return over whom was tested."""
    sizes = sorted({one.n for one in tests})
    if not sizes:
        return f"no {tests.plan.rows}"
    several = f"{sizes[0]:,} to {sizes[-1]:,} users"
    words = counted(sizes[0], "user") if len(sizes) == 1 else several
    words = worded(words, tests.plan.rows)
    if tests.plan.n_clusters:
        most = "up to " * (len(sizes) > 1)
        words += f" in {most}{counted(tests.plan.n_clusters, 'cluster')}"
    return words + ", weighted" * tests.plan.weighted


def _corrected(tests: Tests) -> str:
    after = _after(tests)
    return "with uncorrected p" if after == ", uncorrected" else f"with p{after}"


def _after(tests: Tests) -> str:
    """Return what p was corrected for."""
    if tests.plan.method == "tukey":
        return f" after Tukey over {counted(len(tests), 'comparison')}"
    if tests.plan.correction == "none":
        return ", uncorrected"
    each = " of each name" if tests.plan.family == "metric" else ""
    n_segments = len({one.segment for one in tests if one.segment is not None})
    each += f" in {counted(n_segments, 'segment')}" if n_segments else ""
    how = CORRECTED[tests.plan.correction]
    return f" after {how} over {counted(tests.n_family, 'comparison')}{each}"


def _together(tests: Tests) -> str:
    """Return what Tukey's p and intervals hold for; of one pair, nothing is pooled."""
    return f"for all pairs together{', if these vary alike' * (len(tests) > 1)}"


def _within(one: Contrast, plan: TestPlan) -> str:
    return "equivalent" if one.p_adjusted < 1 - plan.level else "not shown to be equivalent"


def _label(one: Contrast) -> str:
    where = "" if one.segment is None else f" ({one.segment})"
    return f"{one.system} - {one.baseline} {one.name}{where}"


def _detectable(tests: Tests) -> str:
    """Return the differences that as many users detect, by name."""
    found: dict[str, list[float]] = {}
    plan = tests.plan
    if plan.method != "t" or plan.margin or plan.runs or plan.n_clusters or plan.weighted:
        return ""
    # Bonferroni's, which is Holm's first step; of the two-sided test at twice the level that of a
    # one-sided one, as the wrong side is never found where power is 80 %
    sides = 1 if plan.alternative == "two-sided" else 2
    each = 1 if plan.correction == "none" else max(tests.n_family, 1)
    alpha = sides * (1 - plan.level) / each
    for one in tests:
        if one.wins + one.losses >= FEW and one.std > 0 and alpha < 0.8:
            least = planning.detectable(one.std, one.n, level=1 - alpha)
            found.setdefault(one.name, []).append(least)
    ends = {name: (f"{min(some):.4f}", f"{max(some):.4f}") for name, some in found.items()}
    return ", ".join(
        f"{low if low == high else f'{low} to {high}'} ({name})"
        for name, (low, high) in ends.items()
    )


def _equivalent(tests: Tests) -> str:
    """Return what a paper says of tests of equivalence."""
    plan = tests.plan
    assert plan.margin is not None
    head = (
        f"Equivalence within ±{plan.margin:g} was tested by {_test(plan)} over {_whom(tests)}, "
        f"{_corrected(tests)}; intervals are {100 * (2 * plan.level - 1):.4g} %."
    )
    words = (
        f"{one.system} and {one.baseline} are {_within(one, plan)} in {one.name} (difference "
        f"{number(one.difference)}, interval [{number(one.low)}, {number(one.high)}], "
        f"{p_is(one.p_adjusted)})."
        for one in tests
    )
    return " ".join([head, *words])


def _said(one: Contrast, unit: str) -> str:
    change = "exceeds" if one.difference > 0 else "is below"
    if one.difference == 0:
        change = "equals"
    size = "" if one.d_z != one.d_z else f", d_z = {one.d_z:.2f}"
    by = "" if one.difference == 0 else f" by {round_significant(abs(one.difference)):.4f}"
    where = "" if one.segment is None else f" (segment {one.segment})"
    return (
        f"{one.system} {change} {one.baseline}{by} in {one.name}{where} "
        f"({round_significant(one.mean):.4f} against {round_significant(one.baseline_mean):.4f}, "
        f"interval [{number(one.low)}, {number(one.high)}], "
        f"{p_is(one.p_adjusted)}{size}; {worded(counted(one.wins, 'user'), unit)} higher, "
        f"{one.ties:,} equal, {one.losses:,} lower)."
    )
