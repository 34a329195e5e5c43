"""`gate`: is a new result not worse than its base? Verdicts by metric, floor and segment."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from numbers import Real
from typing import Any, Literal

import numpy as np

from toplist.checks import USERS, Floats, counted, equal, worded
from toplist.comparing.comparison import compare
from toplist.comparing.contrasts import SameUsers, p_is
from toplist.comparing.side_by_side import Question, SideBySide
from toplist.metrics.definitions import Metric
from toplist.plots import axes
from toplist.results.markup import Display
from toplist.results.result import TopKResult
from toplist.results.segments import NO_LABEL, label_text, rows_by_label
from toplist.results.tables import LOOK, Column, Grid, Look, Page, Table
from toplist.stats import FEW, difference
from toplist.stats.distributions import normal_ppf, probability
from toplist.stats.planning import Verdict, check_margin, n_to_decide, not_worse, unseen_beside
from toplist.stats.simultaneous import adjust
from toplist.stats.units import Units, over

FloorVerdict = Literal["above", "below", "undecided"]
FAILS = ("worse", "below")


@dataclass(frozen=True)
class GateRow:
    """One verdict of a gate: of a metric against its margin, or of a mean against its floor.

    Attributes
    ----------
    name : str
        ``"ndcg@10"``.
    verdict : {"not worse", "worse", "undecided"}, of floors {"above", "below", "undecided"}
    mean, base_mean, difference : float
        New, base, and new - base; a floor has the first alone.
    low, high : float
        The interval of the difference, by the t test; of a floor that of the mean.
    n, differ : int
        Users, and how many of them (or of their clusters) have a difference that is not 0.
    margin, floor : float, or None
        What it is held against: one of the two.
    segment : str, or None
        The segment of the users; None for all of them.
    p_not_worse, p_worse, p_adjusted : float
        One-sided, see `toplist.stats.planning.not_worse`; in a segment `p_adjusted` is
        `p_worse` corrected by Holm for all segments and metrics.
    bound : float
        Above 0 where few differ, or losses or gains are skewed: `p` is at least this, which allows
        for users who lose all, or gain all, and were not drawn. Of floors: where values are skewed,
        what is below (1 - level) / 2 of a mean that is above, or below.
    n_needed : float
        Over so many users like these it would be decided, with 80 % power if the true difference
        is the one seen. NaN where that is decided alone, before the correction for segments;
        infinite where no number of users would do.
    higher_is_better : bool
        Else a difference above +margin is worse.
    unit : str
        What users are called.
    clustered : bool
        Whether `differ` counts clusters.
    """

    name: str
    verdict: Verdict | FloorVerdict = "undecided"
    mean: float = math.nan
    base_mean: float = math.nan
    difference: float = math.nan
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    differ: int = 0
    margin: float | None = None
    floor: float | None = None
    segment: str | None = None
    p_not_worse: float = math.nan
    p_worse: float = math.nan
    p_adjusted: float = math.nan
    bound: float = 0.0
    n_needed: float = math.nan
    higher_is_better: bool = True
    unit: str = USERS
    clustered: bool = False

    @property
    def p(self) -> float:
        """The one-sided p of the side on which the difference lies."""
        return min(self.p_not_worse, self.p_worse)

    @property
    def _title(self) -> str:
        return self.name if self.segment is None else f"{self.name} of {self.segment}"

    @property
    def _limit(self) -> float:
        """What the ends of the interval are held against."""
        if self.margin is None:
            return self.floor or 0.0
        return -self.margin if self.higher_is_better else self.margin

    def _decimals(self, least: int = LOOK.digits) -> int:
        """Return with how many decimals both ends of the interval are on their own side."""
        limit, ends = self._limit, (self.low, self.high)
        for digits in range(least, 15):
            if all((round(end, digits) < limit) == (end < limit) for end in ends):
                return digits
        return 15

    def _ends(self, look: Look) -> str:
        """Return the interval, which has signs where it is that of a difference; "" without one."""
        sign = "+" if self.floor is None else ""
        return "" if self.low != self.low else look.ends(self.low, self.high, sign)

    @property
    def _found(self) -> str:
        """The verdict with what it is about: ``not worse than -0.005``."""
        at = " at" * (self.verdict == "undecided")
        if self.floor is not None:
            return f"{self.verdict}{at} the floor {self.floor:g}"
        return f"{self.verdict}{at or ' than'} {self._limit:+g}"

    def __str__(self) -> str:
        """Return the verdict as a person would say it."""
        return self._said(LOOK)

    def _said(self, look: Look) -> str:
        """Return the verdict as a person would say it, with at least so many decimals."""
        look = look._replace(digits=self._decimals(look.digits))
        value = look.signed(self.difference) if self.floor is None else look.number(self.mean)
        ends = "" if look.intervals is False else self._ends(look)
        found = " ".join(filter(None, (self._title, value, ends)))
        needed = f"; {self._needed}" * bool(self._needed)
        return f"{found}: {self._found}{self._reason}{needed}"

    __repr__ = __str__

    @property
    def _reason(self) -> str:
        if self.floor is not None:
            words = " (as few lie far to one side, users who were not drawn are allowed for)"
            return worded(words, self.unit) if self.bound else ""
        if not self.differ:
            return worded(" (no user differs)", self.unit)
        said = [p_is(self.p), "one-sided"]
        n = self.differ
        only = f"as only {counted(n, 'cluster') if self.clustered else n} differ{'s' * (n == 1)}"
        if self.segment is not None and self.verdict == "worse":
            said[0] = f"{p_is(self.p_adjusted)} after Holm"
        side = "losses" if self.p_not_worse < self.p_worse else "gains"
        if self.low != self.low:  # no t test
            why = only if n == 1 else "as all differences are the same"
            said.append(f"by a bound of {side} not drawn, {why}")
        elif self.bound:
            why = only if self.differ < FEW else f"as {side} are skewed"
            said.append(f"by t and a bound of {side} not drawn, {why}")
        return f" ({', '.join(said)})"

    @property
    def _needed(self) -> str:
        if math.isinf(self.n_needed):
            return worded("no number of users would decide at this difference", self.unit)
        if self.n_needed == self.n_needed:
            return worded(f"about {self.n_needed:,.0f} users like these would decide", self.unit)
        return ""


@dataclass(frozen=True, eq=False, repr=False)
class Gate(Display):
    """Whether a new result may pass: a verdict, and those it is made of. Returned by `gate`.

    Printed, it says each verdict in a line; `to_markdown` is a table for a comment on a change.
    ``bool(found)`` is `passed`: an undecided gate has not passed.

    Attributes
    ----------
    rows : tuple of GateRow
        The metrics, the floors, and then the segments, by metric.
    level : float
        Of the intervals: each side is tested at (1 - level) / 2.
    notes, warnings : tuple of str
        How it was tested, by which rules and over whom; what to look at.

    Examples
    --------
    >>> import toplist as tl
    >>> truth = {user: {user % 3} for user in range(100)}
    >>> base = tl.top_k_eval({user: [0, 1, 2] for user in truth}, truth, metrics="mrr@3")
    >>> new = tl.top_k_eval({user: [2, 0, 1] for user in truth}, truth, metrics="mrr@3")
    >>> print(tl.gate(new, base, {"mrr@3": 0.2}, by={user: user % 3 for user in truth}))
    mrr@3 -0.0050 [-0.1029, +0.0929]: not worse than -0.2 (p <0.001, one-sided)
    mrr@3 of 0 -0.5000: worse than -0.2 (p = 0.002 after Holm, one-sided, by a bound of \
gains not drawn, as all differences are the same)
    gate: worse: mrr@3 of 0
    segments: 3 tests, 1 worse by p < 0.025 after Holm over all of them, 1 undecided, which fail \
nothing
    new - base, paired t over 100 users; intervals are 95 %, each side is tested at p < 0.025
    where fewer than 30 users differ, or few lie far to one side, p allows for users who lose or \
gain all and were not drawn
    convention standard: mean over users
    100 of 100 users evaluated
    """

    rows: tuple[GateRow, ...]
    level: float
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """*worse* if any row fails, else *undecided* if a metric or floor of all users is."""
        if any(one.verdict in FAILS for one in self.rows):
            return "worse"
        undecided = any(one.verdict == "undecided" for one in self._whole)
        return "undecided" if undecided else "not worse"

    @property
    def passed(self) -> bool:
        """Whether the verdict is *not worse*."""
        return self.verdict == "not worse"

    def __bool__(self) -> bool:
        """Return whether it is passed."""
        return self.passed

    def to_dict(self) -> dict[str, Any]:
        """Return verdict, passed, level and notes, and a dict for each of the rows."""
        whole = {"verdict": self.verdict, "passed": self.passed, "level": self.level}
        return whole | {"rows": self._grid().rows, "notes": [*self.warnings, *self.notes]}

    def _grid(self) -> Grid:
        """Return a row for each verdict."""
        return Grid.of(asdict(one) | {"p": one.p} for one in self.rows)

    @property
    def _whole(self) -> list[GateRow]:
        return [one for one in self.rows if one.segment is None]

    @property
    def _summary(self) -> list[str]:
        """What the verdict of the whole is made of."""
        verdict, whole = self.verdict, self._whole
        parts = [one for one in self.rows if one.segment is not None]
        at_fault = FAILS if verdict == "worse" else ("undecided",)
        among = self.rows if verdict == "worse" else whole
        some = ", ".join(dict.fromkeys(one._title for one in among if one.verdict in at_fault))
        lines = [f"gate: {verdict}{f': {some}' * bool(some)}"]
        if parts:
            n = {word: sum(one.verdict == word for one in parts) for word in ("worse", "undecided")}
            lines.append(
                f"segments: {counted(len(parts), 'test')}, {n['worse']} worse by p < "
                f"{(1 - self.level) / 2:.3g} after Holm over all of them, {n['undecided']} "
                "undecided, which fail nothing"
            )
        if n_without := max((one.n for one in parts if one.segment == NO_LABEL), default=0):
            users = worded(counted(n_without, "user"), parts[0].unit)
            lines.append(f"{users} without a label: a segment of their own, {NO_LABEL}")
        return lines

    def _page(self, look: Look = LOOK) -> Page:
        """Return sentences for a terminal, else tables; Markdown begins with the verdict."""
        if look.form == "text":
            rows = (one for one in self.rows if one.segment is None or one.verdict in FAILS)
            said = [one._said(look) for one in rows]
            return Page([], [*said, *self._summary, *self.notes], self.warnings)
        of_segments: dict[str, list[GateRow]] = {}
        for one in self.rows[len(self._whole) :]:
            of_segments.setdefault(one.name, []).append(one)
        tables = {"metric": self._whole, **of_segments}
        needed = [f"{one._title}: {one._needed}" for one in self._whole if one._needed]
        notes = [*self._summary, *needed, *self.notes]
        shown = [self._table(*table, look) for table in tables.items()]
        head = f"Gate: {self.verdict}"
        return Page(shown, notes, self.warnings, best="fails the gate", heading=head)

    def _table(self, corner: str, rows: Sequence[GateRow], look: Look) -> Table:
        """Return a table with a row for each verdict: of all users, or of one metric's segments."""
        look = look._replace(digits=max(one._decimals(look.digits) for one in rows))
        users = [Column("n", "count", one.unit) for one in rows[:1] if one.segment is not None]
        ends = [Column("ends", "text", f"{100 * self.level:.4g} % interval")]
        ends = [] if look.intervals is False else ends
        columns = (
            *users,
            Column("base_mean", title="base"),
            Column("mean", title="new"),
            Column("difference", "signed"),
            *ends,
            Column("found", "text", "verdict", best="fails"),
        )
        shown = [
            {
                **vars(one),
                "title": one.segment or one._title,
                "ends": one._ends(look) or "-",
                "found": one._found,
                "fails": one.verdict in FAILS,
            }
            for one in rows
        ]
        return Table.of(corner, "{title}", columns, shown, look)


def gate(
    new: TopKResult,
    base: TopKResult,
    margins: Mapping[str, float],
    *,
    floors: Mapping[str, float] | None = None,
    by: Any = None,
    level: float = 0.95,
    users: SameUsers = "same",
    clusters: Any = None,
) -> Gate:
    """Say whether a new result is not worse than its base, by more than margins that do not matter.

    Each metric is tested user by user (`toplist.stats.planning.not_worse`). With new - base
    and its 95 % interval, by a paired t test: *worse* where the interval lies below -margin, *not
    worse* where it lies above, else *undecided*, with the number of users that would decide. Where
    fewer than 30 users differ, or losses or gains are skewed, p allows for users who lose, or gain,
    all and were not drawn. So either false verdict has a chance of 2.5 % where the true difference
    is just -margin, of users who weigh what those drawn do. One thing passes untested: the same
    hits at the same ranks for all users, as the same lists have. Where lower is better, all is
    turned round.

    The gate is *worse* if any metric, floor or segment is, else *undecided* if any metric or floor
    is, else *not worse*. Every metric has to pass, so *not worse* needs no correction for several;
    each more metric or floor is one more chance of a false *worse*.

    Parameters
    ----------
    new, base : TopKResult
        With their users; by the same rules, over the same users and ground truths. Each is an
        error where it is not so, never a verdict.
    margins : dict of ``name@k`` -> float
        ``{"ndcg@10": 0.005}``: the loss that does not matter, above 0.
    floors : dict of ``name@k`` -> float, optional
        The least mean of `new`, by its interval: *below* (which fails) where all of it is below
        the floor, *above* where none of it is, else *undecided*. Of all users of `new`. Where few
        values lie far to one side, users who were not drawn are allowed for, as above. Where all
        values are the same number m, it allows for users who were not drawn and have 0, or 1: of
        n, with α = (1 - level) / 2, it is from m α^(1/n) to 1 - (1 - m) α^(1/n), and has no upper
        end where the metric may be above 1.
    by : labels, optional
        As in `TopKResult.by`: every metric is tested in every segment too, where only harm counts.
        A segment is *worse* if its one-sided p is below (1 - level) / 2 after Holm over all
        segments and metrics; undecided segments are counted, and fail nothing.
    level : float
        Of the two-sided intervals.
    users : {"same", "common"}
        "common" takes the users that both count.
    clusters : labels, optional
        As in `toplist.inference.paired_tests`; then floors go by them too, over the users of both.

    Returns
    -------
    Gate
        ``found.verdict``, ``found.passed``, ``found.rows``; sentences when printed.

    Raises
    ------
    TypeError, ValueError
        For what cannot be compared, results without users, and names that one of them lacks.

    Examples
    --------
    >>> import toplist as tl
    >>> truth = {user: {user % 7} for user in range(2000)}
    >>> lists = {user: [(user * user + i) % 7 for i in range(5)] for user in truth}
    >>> base = tl.top_k_eval(lists, truth, k=5, metrics=["ndcg", "recall"])
    >>> lists |= {user: [8, 9, *lists[user][:3]] for user in range(0, 2000, 100)}
    >>> new = tl.top_k_eval(lists, truth, k=5, metrics=["ndcg", "recall"])
    >>> found = tl.gate(new, base, {"ndcg@5": 0.01}, floors={"recall@5": 0.5})
    >>> print(found)
    ndcg@5 -0.0022 [-0.0035, -0.0009]: not worse than -0.01 (p <0.001, one-sided, by t \
and a bound of losses not drawn, as only 14 differ)
    recall@5 0.7145 [0.6947, 0.7343]: above the floor 0.5
    gate: not worse
    new - base, paired t over 2,000 users; intervals are 95 %, each side is tested at p < 0.025
    where fewer than 30 users differ, or few lie far to one side, p allows for users who lose or \
gain all and were not drawn
    convention standard: mean over users
    2,000 of 2,000 users evaluated
    >>> found.passed
    True
    """
    floors = {} if floors is None else floors
    _check(new, base, margins, floors)
    compared = compare({"new": new, "base": base}, baseline="base")
    question = Question(compared, users, clusters)
    probability(level, "level")
    results = compared.results
    try:
        names = question.names([*margins]) if margins else []
        for name in floors:
            question.find("new", name)
    except KeyError as error:
        raise ValueError(error.args[0]) from None
    segments = {} if by is None else rows_by_label(results["new"], by)[0]
    whole, parts, alike = list[GateRow](), list[GateRow](), have_the_same_hits(compared)
    roughly: list[str] = []
    for name, margin in zip(names, margins.values(), strict=True):
        at, metric = compared._directed(name)
        higher, most = bool(metric.higher_is_better), results["base"][at]
        if not higher:
            most = 1 - most if results["base"].is_within_one(metric.name) else math.inf
        if margin >= most >= 0:
            raise ValueError(
                f"the margin of {at}, {margin:g}, is not below {most:.4g}, all that base can lose: "
                "no loss would be worse; give the loss that does not matter, in the metric's units"
            )
        source = question.rows([at])
        both, units = [source.values(one, at) for one in ("new", "base")], source.units
        row = GateRow(at, margin=float(margin), higher_is_better=higher, unit=compared.unit)
        if units.rough:
            roughly.append(f"{at}: rough, {units.rough}")
        same = alike and isinstance(metric, Metric)  # of metrics of the lists, hits say nothing
        whole.append(_decided(row, both, units, level, same))
        for label, members in segments.items():
            some = np.isin(source.rows["new"], members)
            if some.any():
                part = replace(row, segment=label_text(label, segments))
                of_some = [one[some] for one in both]
                parts.append(_decided(part, of_some, units.at(some), level, same))
    notes, sizes = list[str](), {one.n for one in whole}
    if sizes:
        whom = axes.counted(sizes, compared.unit)
        weighted = ", weighted" * (results["new"].weights is not None)
        clustered = whole[0].clustered
        notes.append(
            f"new - base, paired t over {whom}{weighted}{', by clusters' * clustered}; intervals "
            f"are {100 * level:.4g} %, each side is tested at p < {(1 - level) / 2:.3g}"
        )
    if any(one.bound for one in (*whole, *parts)):
        few = f"fewer than {FEW} {'clusters' if whole[0].clustered else 'users'} differ"
        words = f"where {few}, or few lie far to one side, p allows for users "
        as_drawn = ", of those drawn by weight" * (results["new"].weights is not None)
        words += f"who lose or gain all and were not drawn{as_drawn}"
        notes.append(worded(words, compared.unit))
    if alike and whole:
        words = "new and base have the same hits at the same ranks for every user: "
        notes.append(worded(words, compared.unit) + "metrics of these are equal, and pass untested")
    of_floors = [_of_floor(question, level, *one) for one in floors.items()]
    whole += of_floors
    for row in of_floors:  # where a bound holds, it is said there
        if not row.bound and (why := results["new"].roughness(row.name)[1]):
            roughly.append(f"{row.name}: rough, {why}")
    notes += dict.fromkeys(roughly)
    # worse are the segments that are it after Holm over all of them
    for row, p in zip(parts, adjust([one.p_worse for one in parts]).tolist(), strict=True):
        alone = "undecided" if row.verdict == "worse" else row.verdict
        verdict = "worse" if p < (1 - level) / 2 else alone
        whole.append(replace(row, verdict=verdict, p_adjusted=p))
    warnings = tuple(
        one.text
        for one in compared.differences
        if one.kind != "metrics" and (not one.names or {*one.names} & {*margins, *floors})
    )
    return Gate(tuple(whole), level, (*notes, *compared.rules()), warnings)


def _check(new: Any, base: Any, margins: Any, floors: Any) -> None:
    """Raise for what is no result, and for margins and floors that are none."""
    for name, one in (("new", new), ("base", base)):
        if not isinstance(one, TopKResult):
            raise TypeError(f"{name} is {type(one).__name__}: give what top_k_eval returned")
    for what, given in (("margins", margins), ("floors", floors)):
        if not isinstance(given, Mapping):
            raise TypeError(f"{what} is {given!r}: give a dict, {{'ndcg@10': 0.005}}")
    if not margins and not floors:
        raise ValueError("nothing to test: give margins, {'ndcg@10': 0.005}, or floors")
    for name, margin in margins.items():
        check_margin(margin, f"the margin of {name}")
    for name, floor in floors.items():
        number = isinstance(floor, Real) and not isinstance(floor, bool)
        if not number or not math.isfinite(floor):
            raise ValueError(f"the floor of {name} must be a number, not {floor!r}")


def have_the_same_hits(compared: SideBySide) -> bool:
    """Return whether the hits of both have the same ranks and grades, in lists as long."""
    new, base = (compared.results[one].held(f"{one} cannot be gated")[0] for one in ("new", "base"))
    if new.coverage is not None or base.coverage is not None:  # which groups a hit is of
        return new is base
    arrays = "offsets", "ranks", "n_listed", "n_truth", "grades"
    keys = [None if one.users is None else [*one.users] for one in (new, base)]
    return keys[0] == keys[1] and all(equal(getattr(new, a), getattr(base, a)) for a in arrays)


def _decided(
    row: GateRow, both: Sequence[Floats], units: Units, level: float, same: bool
) -> GateRow:
    """Return the verdict of one metric over some users."""
    better, worse = both if row.higher_is_better else both[::-1]
    found = not_worse(better, worse, row.margin or 0.0, units, level=level)
    if same and not found.differ:
        found = found._replace(verdict="not worse", n_needed=math.nan, bound=0.0)
    test, kept = found.test, ("verdict", "differ", "p_not_worse", "p_worse", "bound", "n_needed")
    means = [test.mean, test.baseline_mean, test.difference, test.low, test.high]
    if not row.higher_is_better:  # 0 - 0 is 0, and -0.0 would be printed with its sign
        ends = (0.0 - one for one in (test.difference, test.high, test.low))
        means = [test.baseline_mean, test.mean, *ends]
    given: dict[str, Any] = {one: getattr(found, one) for one in kept}
    given |= zip(("mean", "base_mean", "difference", "low", "high"), means, strict=True)
    return replace(row, n=test.n, clustered=units.clusters is not None, **given)


def _of_floor(question: Question, level: float, given: str, floor: float) -> GateRow:
    """Return the verdict of a mean against its floor, by its interval."""
    new = question.compared.results["new"]
    metric, k = new.terms.find(given)
    if k is None:
        raise ValueError(f"{given!r} is a whole curve: a floor is of name@k")
    if metric.higher_is_better is False:
        raise ValueError(f"{given!r}: lower is better, and a floor is a least mean")
    name = f"{metric.name}@{k}"
    if new.is_within_one(metric.name) and not 0 < floor <= 1:
        raise ValueError(f"the floor of {name}, {floor:g}, is not from 0 to 1, as its mean is")
    mean, n, (low, high) = new[name], new.n_of(name), new.interval(name, level)
    units, values = new.units_of(name), np.empty(0)
    source = None if question.clusters is None else question.rows([name])
    if source is not None and source.units.clusters is not None:
        values, units = source.values("new", name), source.units
        test = difference(values, np.zeros(len(values)), units, level=level)
        mean, n, low, high = test.mean, test.n, test.low, test.high
        if test.error == 0:
            low = high = mean
    alpha, equal = (1 - level) / 2, low == high
    if equal:  # others may not have been drawn, as in `not_worse`
        least, most = min(mean, 0.0), math.inf
        if new.is_within_one(metric.name):
            most = max(mean, 1.0)
        missed = 1 - alpha ** (1 / units.effective)
        low, high = mean - missed * (mean - least), mean + missed * (most - mean)
    if low != low:
        raise ValueError(f"{name} has no interval over these users, which a floor is held against")
    verdict: FloorVerdict = "below" if high < floor else "above" if low >= floor else "undecided"
    bound, needed = 0.0, math.nan
    ratio = metric.name in new.terms.pooled or new.terms.weighting is not None
    if not len(values) and not ratio:  # which has sums over users, and no values
        values = new.per_user(name)[new.in_means([name])]
    if len(values) and not equal:
        ends = min(0.0, float(values.min())), max(1.0, float(values.max()))
        bound = unseen_beside(values, floor, units, ends)[mean < floor]
        verdict = "undecided" if bound >= alpha else verdict
    if verdict == "undecided" and equal:  # with more users, those missed do not reach the floor
        missed = over(floor - mean, (least if mean > floor else most) - mean)
        needed = over(n * math.log(alpha) / units.effective, math.log1p(-missed))
        needed = float(np.ceil(abs(needed)))
    elif verdict == "undecided":
        error = (high - low) / 2 / normal_ppf(0.5 + level / 2)
        needed = max(n_to_decide(mean - floor, error * math.sqrt(n), level), n + 1.0)
        if alpha <= bound < 1:  # it falls by as much with every user
            needed = max(needed, math.ceil(n * math.log(alpha) / math.log(bound)))
    means = mean, math.nan, math.nan, low, high
    row = GateRow(name, verdict, *means, n, floor=float(floor), bound=bound, n_needed=needed)
    return replace(row, unit=question.compared.unit)
