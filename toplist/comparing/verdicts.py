"""`Gate` and its rows: the verdicts of a gate, in sentences and as tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from toplist.checks import counted
from toplist.comparing.tests import p_is
from toplist.results import markup
from toplist.results.display import Display
from toplist.results.markup import Cell, Look, Page, Table
from toplist.results.segments import NO_LABEL
from toplist.stats.estimates import FEW
from toplist.stats.noninferiority import Verdict

if TYPE_CHECKING:
    from pandas import DataFrame

    from toplist.metrics.names import Names

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
        One-sided, see `toplist.stats.noninferiority.not_worse`; in a segment `p_adjusted` is
        `p_worse` corrected by Holm for all segments and metrics.
    bound : float
        Above 0 where few differ, or losses are skewed: `p_not_worse` is at least this, which allows
        for users who lose all and were not drawn.
    n_needed : float
        Over so many users like these it would be decided, with 80 % power if the true difference
        is the one seen. NaN where it is decided, infinite where no number of users would do.
    higher_is_better : bool
        Else a difference above +margin is worse.
    """

    name: str
    verdict: Verdict | FloorVerdict
    mean: float
    base_mean: float
    difference: float
    low: float
    high: float
    n: int
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

    @property
    def _look(self) -> Look:
        """Decimals by which both ends of the interval, as printed, are on their own side."""
        limit, ends = self._limit, (self.low, self.high)
        enough = (
            digits
            for digits in range(4, 15)
            if all((round(end, digits) < limit) == (end < limit) for end in ends)
        )
        return Look(next(enough, 15))

    def _words(self, signed: bool) -> tuple[str, str]:
        """Return what is compared and its interval, with signs or without."""
        look = self._look
        write = look.signed if signed else look.number
        value = self.difference if signed else self.mean
        ends = "" if self.low != self.low else f"[{write(self.low)}, {write(self.high)}]"
        return write(value), ends

    @property
    def _found(self) -> str:
        """The verdict with what it is about: ``not worse than -0.005``."""
        at = " at" * (self.verdict == "undecided")
        if self.floor is not None:
            return f"{self.verdict}{at} the floor {self.floor:g}"
        return f"{self.verdict}{at or ' than'} {self._limit:+g}"

    def __str__(self) -> str:
        """Return the verdict as a person would say it."""
        found = " ".join(filter(None, (self._title, *self._words(self.floor is None))))
        return "; ".join([f"{found}: {self._found}{self._reason}", *self._needed])

    __repr__ = __str__

    @property
    def _reason(self) -> str:
        if self.floor is not None:
            return ""
        if not self.differ:
            return " (no user differs)"
        said = [p_is(self.p), "one-sided"]
        n, few = self.differ, self.differ < FEW
        if self.segment is not None and self.verdict == "worse":
            said[0] = f"{p_is(self.p_adjusted)} after Holm"
        if self.low != self.low:  # no t test
            said.append("by sign flips, as all differences are the same")
        elif self.bound and self.verdict != "worse":
            why = f"as only {n} differ{'s' * (n == 1)}" if few else "as losses are skewed"
            said.append(f"by t and a bound of losses not drawn, {why}")
        elif few:
            said.append(f"by t and sign flips, as only {n} differ{'s' * (n == 1)}")
        return f" ({', '.join(said)})"

    @property
    def _needed(self) -> Iterator[str]:
        if math.isinf(self.n_needed):
            yield "no number of users would decide at this difference"
        elif self.n_needed == self.n_needed:
            yield f"about {self.n_needed:,.0f} users like these would decide"


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
    mrr@3 of 0 -0.5000: worse than -0.2 (p <0.001 after Holm, one-sided, by sign flips, as all \
differences are the same)
    gate: worse: mrr@3 of 0
    segments: 3 tests, 1 worse by p < 0.025 after Holm over all of them, 1 undecided, which fail \
nothing
    new - base, paired t over 100 users; intervals are 95 %, each side is tested at p < 0.025
    where fewer than 30 users differ, or losses are skewed, p allows for users who lose all and \
were not drawn
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
        rows = [asdict(one) | {"p": one.p} for one in self.rows]
        return whole | {"rows": rows, "notes": [*self.warnings, *self.notes]}

    def to_pandas(self) -> DataFrame:
        """Return a DataFrame with a row for each verdict."""
        import pandas

        return pandas.DataFrame(self.to_dict()["rows"])

    @property
    def _whole(self) -> list[GateRow]:
        return [one for one in self.rows if one.segment is None]

    @property
    def _segments(self) -> list[GateRow]:
        return [one for one in self.rows if one.segment is not None]

    @property
    def _summary(self) -> list[str]:
        """What the verdict of the whole is made of."""
        verdict, parts = self.verdict, self._segments
        at_fault = FAILS if verdict == "worse" else ("undecided",)
        among = self.rows if verdict == "worse" else self._whole
        some = ", ".join(dict.fromkeys(one._title for one in among if one.verdict in at_fault))
        lines = [f"gate: {verdict}{f': {some}' * bool(some)}"]
        if parts:
            n = {word: sum(one.verdict == word for one in parts) for word in ("worse", "undecided")}
            lines.append(
                f"segments: {counted(len(parts), 'test')}, {n['worse']} worse by p < "
                f"{(1 - self.level) / 2:.3g} after Holm over all of them, {n['undecided']} "
                "undecided, which fail nothing"
            )
            n_without = max((one.n for one in parts if one.segment == NO_LABEL), default=0)
            if n_without:
                users = counted(n_without, "user")
                lines.append(f"{users} without a label: a segment of their own, {NO_LABEL}")
        return lines

    def _written(self, form: str, every_metric: bool, names: Names | None, *how: Any) -> str:
        """Write sentences for a terminal, else tables; Markdown begins with the verdict."""
        if form != "text":
            head = f"**Gate: {self.verdict}**\n\n" if form == "markdown" else ""
            return head + super()._written(form, every_metric, names, *how)
        if names is not None:
            self._only(names)
        said = [str(one) for one in self.rows if one.segment is None or one.verdict in FAILS]
        page = Page([], [*said, *self._summary, *self.notes], self.warnings)
        return markup.text(page, *how)

    def _page(self, every_metric: bool = False) -> Page:
        tables = [self._table("metric", self._whole)]
        for name in dict.fromkeys(one.name for one in self._segments):
            tables.append(self._table(name, [one for one in self._segments if one.name == name]))
        needed = [f"{one._title}: {words}" for one in self._whole for words in one._needed]
        notes = [*self._summary, *needed, *self.notes]
        return Page(tables, notes, self.warnings, best="fails the gate")

    def _table(self, corner: str, rows: Sequence[GateRow]) -> Table:
        """Return a table with a row for each verdict: of all users, or of one metric's segments."""
        columns = ["base", "new", "difference", f"{100 * self.level:.4g} % interval", "verdict"]
        lines = []
        for one in rows:
            look, (value, ends) = one._look, one._words(one.floor is None)
            means = [Cell("-"), Cell(value), Cell("-")]
            if one.floor is None:
                means = [*map(Cell, (look.number(one.base_mean), look.number(one.mean), value))]
            found = Cell(one._found, best=one.verdict in FAILS)
            users = [Cell(f"{one.n:,}")] * (one.segment is not None)
            lines.append((one.segment or one._title, [*users, *means, Cell(ends or "-"), found]))
        return Table(corner, [*["users"] * bool(rows and rows[0].segment), *columns], lines)
