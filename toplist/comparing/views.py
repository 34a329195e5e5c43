"""What stands beside tests: `Band` over k, `Power`, the `Lead` of the best, and the `Movers`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import nsmallest
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from toplist.averages.per_user import truths_of
from toplist.checks import USERS, Bools, Floats, Ints, check_positive_int, counted, readable, worded
from toplist.comparing.aligning import Aligned
from toplist.comparing.contrasts import TestPlan
from toplist.comparing.side_by_side import Question
from toplist.comparing.tests import cautioned
from toplist.metrics.definitions import Metric
from toplist.metrics.names import Names
from toplist.plots import axes
from toplist.results.markup import Cell, Display, Look, Page, Table, number, probability, shortened
from toplist.stats import planning, randomization, simultaneous
from toplist.stats.estimates import FEW, Sums, cautions
from toplist.stats.units import snap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame


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
    """

    name: str = "value"
    systems: tuple[str, str] = ("system", "baseline")
    level: float = 0.95
    higher_is_better: bool | None = True
    differ: Mapping[int, int] = field(default_factory=dict)
    unit: str = USERS

    @classmethod
    def of(cls, sums: Sums, plan: TestPlan, **known: Any) -> Band:
        """Return the band of the sums of differences over k."""
        found = vars(simultaneous.band(sums.estimate, level=plan.level, **plan.drawn))
        return cls(**found, level=plan.level, unit=plan.unit, **known)

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
        found = self.low_all > 0 if above else self.high_all < 0
        return [] if above is None else _runs(found)

    def to_pandas(self) -> DataFrame:
        """Return a DataFrame with a row per k."""
        import pandas

        columns = ("difference", "std", "error", "low", "high", "low_all", "high_all")
        found = {name: getattr(self, name) for name in columns}
        return pandas.DataFrame({"k": np.arange(1, len(self.difference) + 1), **found})

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the difference over k with both intervals, and zero.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        matplotlib Axes
        """
        from toplist.plots import differences

        return differences.band(self, ax=ax)

    def _page(self, every_metric: bool = False) -> Page:
        """Return the difference and both intervals at some k's."""
        last = len(self.difference)
        ks = [k for k in SHOWN if k < last] + [last] * (last > 0)

        def ends(low: Floats, high: Floats) -> list[Cell]:
            return [Cell(f"[{number(low[k - 1])}, {number(high[k - 1])}]") for k in ks]

        share = f"{100 * self.level:.4g} %"
        rows = (
            ("difference", [Cell(number(self.difference[k - 1])) for k in ks]),
            (f"{share} at this k", ends(self.low, self.high)),
            (f"{share} at all k", ends(self.low_all, self.high_all)),
        )
        words = {"better": self.better, "worse": self.worse}
        if self.higher_is_better is None:
            words = {"higher": self._beyond(True), "lower": self._beyond(False)}
        notes = []
        for word, runs in words.items():
            where = ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in runs)
            told = f"{word} at k = {where}, at all of them together with {share} confidence"
            notes += [told] if runs else []
        nowhere = f"neither {' nor '.join(words)} at any k, all k together, with {share} confidence"
        notes = notes or [nowhere]
        users = worded(counted(self.n, "user"), self.unit)
        notes[-1] += f" (sup-t, critical value {self.critical:.2f}; {users})"
        if self.critical != self.critical:
            notes = [f"no interval: {users} are too few"]
        notes += cautioned({f"@{k}": cautions(n) for k, n in self.differ.items()}, self.unit)
        corner = f"{' - '.join(self.systems)} {self.name}"
        return Page([Table(corner, [f"@{k}" for k in ks], rows)], notes)


def _runs(found: Bools) -> list[tuple[int, int]]:
    """Return the first and last k of every run that is true.

    Examples
    --------
    >>> _runs(np.array([True, False, True, True]))
    [(1, 1), (3, 4)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], found, [False]]).astype(np.int8)))
    return [(int(a) + 1, int(b)) for a, b in edges.reshape(-1, 2)]


def band(
    question: Question, metric: str, system: str | None, baseline: str | None, plan: TestPlan
) -> Band:
    """Return the difference of two systems at every k."""
    compared = question.compared
    question.one_each("a band")
    pair = question.pair(system, baseline, "band")
    if not isinstance(metric, str) or "@" in metric:
        raise ValueError(f"a band is over all k: give a metric without @, not {metric!r}")
    metric = compared.results[pair[0]].terms.spelled(metric)
    for one in pair:
        question.find(one, metric)
    question.check_mean(f"{metric}@1")
    source = question.plain(f"{metric}@1")
    ks, others = (compared.results[one].terms.ks_of[metric] for one in pair)
    both = (k for k in ks if k in others)
    differ = {k: source.difference(*pair, f"{metric}@{k}", plan).differ for k in both}
    higher, plan = compared._higher(f"{metric}@1"), replace(plan, unit=compared.unit)
    known = {"name": metric, "systems": pair, "higher_is_better": higher, "differ": differ}
    return Band.of(source.curve(*pair, metric, plan.n_threads), plan, **known)


@dataclass(frozen=True, eq=False, repr=False)
class Power(Display):
    """What an experiment of this size detects. Returned by `Comparison.power`.

    Attributes
    ----------
    rows : tuple of dict
        name, system, baseline, n, std, detectable, and n_needed where a difference was given; of
        rows in clusters also n_clusters, and effective, the number of rows without clusters whose
        mean difference would be as certain.
    power, level : float
        The chance that a difference is found, and 1 - p below which it counts as found.
    difference : float or None
        The one that would matter.
    unit : str
        What rows are called in print.
    """

    rows: tuple[dict[str, Any], ...]
    power: float
    level: float
    difference: float | None = None
    unit: str = USERS

    def to_pandas(self) -> DataFrame:
        """Return a DataFrame with a row for each of the rows."""
        import pandas

        return pandas.DataFrame(list(self.rows))

    def _page(self, every_metric: bool = False) -> Page:
        clustered = any("n_clusters" in row for row in self.rows)
        titles = {
            "n": (self.unit, ",.0f"),
            "n_clusters": ("clusters", ",.0f"),
            "effective": ("effective", ",.0f"),
            "std": ("std", ".4f"),
            "detectable": ("detectable", ".4f"),
            "n_needed": (f"{self.unit} for {self.difference or 0:g}", ",.0f"),
        }
        known = [key for key in titles if any(key in row for row in self.rows)]
        rows = []
        for row in self.rows:
            cells = [
                "-" if row[key] != row[key] else format(row[key], titles[key][1]) for key in known
            ]
            rows.append((f"{row['system']} - {row['baseline']} {row['name']}", [*map(Cell, cells)]))
        note = (
            f"detectable: the true difference that a two-sided paired t test at p < "
            f"{1 - self.level:.2g} finds with {100 * self.power:.4g} % power; from the spread of "
            "the differences, not from the difference that was seen; before any correction for "
            f"several comparisons; none where fewer than {FEW} users differ"
        )
        notes = [worded(note, "clusters" if clustered else self.unit)]
        if clustered:
            notes.append(
                f"effective: {self.unit} without clusters whose mean would be as certain; power is "
                "that of the error by clusters (CR2), more rows are more clusters like these"
            )
        return Page([Table("", [titles[key][0] for key in known], rows)], notes)


def power(
    question: Question, names: Names | None, power: float, difference: float | None, level: float
) -> Power:
    """Return the detectable differences, and the users that a given one needs."""
    question.one_each("power()")
    rows, plan = list[dict[str, Any]](), TestPlan(level=level).checked()
    for name in question.names(names):
        source = question.sample([name])
        n_clusters = source.units.n_clusters if isinstance(source, Aligned) else 0
        for system, baseline in question.pairs():
            found = source.difference(system, baseline, name, plan)
            row: dict[str, Any] = {"name": name, "system": system, "baseline": baseline}
            row |= {"n": found.n, "std": found.std}
            # as many units as there are degrees of freedom, and one
            n, std = found.df + 1, found.error * math.sqrt(found.df + 1)
            if n_clusters:
                effective = (found.std / found.error) ** 2 if found.error else math.nan
                row |= {"n_clusters": n_clusters, "effective": effective}
            least = planning.detectable(std, n, power, level)
            row["detectable"] = least if found.differ >= FEW else math.nan
            if difference is not None:
                needed = planning.n_needed(difference, std, power, level)
                row["n_needed"] = needed if n == found.n else needed * found.n / n
            rows.append(row)
    return Power(tuple(rows), power, level, difference, question.compared.unit)


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
    """

    rows: Mapping[str, randomization.Best]
    systems: list[str]
    n_resamples: int
    seed: int
    unit: str = USERS

    def to_pandas(self) -> DataFrame:
        """Return a DataFrame with a row per name."""
        import pandas

        rows = [one._asdict() | {"share": one.share} for one in self.rows.values()]
        found = pandas.DataFrame(rows).rename(columns={"place": "system"})
        found["system"] = [self.systems[place] for place in found["system"]]
        found.insert(0, "name", [*self.rows])
        return found

    def _page(self, every_metric: bool = False) -> Page:
        look, floor, rows = Look(), 1 / (self.n_resamples + 1), []
        for name, one in self.rows.items():
            share = "-" if one.share != one.share else f"{100 * one.share:.0f} %"
            means = look.number(one.mean), look.number(one.mean_of_all)
            ahead = look.signed(one.lead), look.signed(one.by_chance)
            cells = [*map(Cell, (*means, *ahead, share, probability(one.p, floor)))]
            rows.append((f"{self.systems[one.place]} {name}", cells))
        n, users = len(self.systems), {one.n for one in self.rows.values()}
        notes = [
            f"best of {counted(n, 'system')} on the same {axes.counted(users, self.unit)}, chosen "
            "by the mean shown; lead: over the mean of all",
            f"by chance: mean lead of the best of {n} with equal means ({self.n_resamples:,} sign "
            f"flips, seed {self.seed}); by at most so much is the mean of the best too high, on "
            "average; p: of a lead as long by chance",
        ]
        if min(users, default=FEW_FOR_LEAD) < FEW_FOR_LEAD:
            notes.append(f"rough: fewer than {FEW_FOR_LEAD} {self.unit}")
        columns = ["mean", "mean of all", "lead", "by chance", "share", "p"]
        return Page([Table("best", columns, rows)], notes)


def lead(question: Question, names: Names | None, plan: TestPlan) -> Lead:
    """Return how far the best system leads in some names, and how far by chance."""
    question.one_each("the lead of the best")
    compared, rows = question.compared, {}
    n_flips = plan.n_resamples or randomization.LEAD_FLIPS
    for given in question.names(names):
        if names is None and compared._higher(given) is None:
            continue
        name, metric = compared._directed(given)
        source = question.rows([name], "lead()")
        rows[name] = randomization.best_of_many(
            [source.values(system, name) for system in compared.systems],
            source.units,
            higher_is_better=bool(metric.higher_is_better),
            n_resamples=n_flips,
            seed=plan.seed,
            n_threads=plan.n_threads,
        )
    return Lead(rows, compared.systems, n_flips, plan.seed, compared.unit)


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

    def to_dict(self) -> list[dict[str, Any]]:
        """Return a dict per user: the fields of `Mover`."""
        return [row._asdict() for row in self.rows]

    def to_pandas(self) -> DataFrame:
        """Return a DataFrame with the columns of `Mover`."""
        import pandas

        return pandas.DataFrame(self.to_dict(), columns=list(Mover._fields))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the sorted differences of all users, and on new axes both values beside them."""
        from toplist.plots import differences

        return differences.movers([self], ax=ax)

    def _page(self, every_metric: bool = False) -> Page:
        look, (system, baseline) = Look(), self.systems
        rows = []
        for one in self.rows:
            values = look.number(one.baseline), look.number(one.system), look.signed(one.difference)
            ranks = (
                " ".join([*map(str, some[:RANKS]), *["..."] * (len(some) > RANKS)]) or "-"
                for some in (one.baseline_ranks, one.system_ranks)
            )
            cells = [*map(Cell, (*values, f"{one.n_relevant:,}", *ranks))]
            rows.append((shortened(str(one.user_id), LETTERS), cells))
        columns = [baseline, system, "difference", "relevant", f"hits {baseline}", f"hits {system}"]
        counts = ", ".join(f"{n:,} {word}" for word, n in self.counts.items())
        notes = [
            "extremes are chosen because they are extreme: do not estimate from them",
            f"{system} - {baseline} {self.name}: of {self.values.shape[1]:,} {self.unit}, {counts}",
            "hits: their ranks; of equal differences, more relevant items first",
        ]
        return Page([Table(self.name, columns, rows)], notes)


def movers(
    question: Question, name: str, system: str | None, baseline: str | None, n: int, n_drawn: int
) -> Movers:
    """Return the users with the largest differences, and `n_drawn` others at random."""
    n, compared = check_positive_int(n, "n"), question.compared
    if compared.runs:
        first, *more = compared.results
        raise ValueError(
            f"movers: a system has several runs: take one of each, tl.compare({{{first!r}: "
            f"comparison.results[{first!r}], {more[-1]!r}: ...}})"
        )
    pair = question.pair(system, baseline, "movers")
    both = replace(compared._with(pair), baselines=())
    asked = replace(question, compared=both)
    name = asked.one(name, "this")
    source = asked.rows([name], "movers()")
    values = np.array([source.values(one, name) for one in pair])
    ranks, n_counted = dict[str, list[tuple[int, ...]]](), []
    for one in pair:  # hits that the metric counts, of the truth for one of the lists
        hits, _ = both.results[one].held("the ranks of its hits are unknown")
        metric, _ = both.results[one].terms.find(name)
        found = truths_of(hits, metric) if isinstance(metric, Metric) else hits.relevant
        # rows below all rows, without a ground truth, have none
        at, offsets = np.minimum(source.rows[one], len(found)), [*found.offsets, found.offsets[-1]]
        ranks[one] = [tuple(found.ranks[offsets[i] : offsets[i + 1]].tolist()) for i in at]
        n_counted.append(np.append(found.n_relevant, 0)[at])
    keys = source.rows[pair[0]].tolist() if source.users is None else source.users
    n_relevant = np.maximum(*n_counted)
    higher = both._higher(name)
    d = snap(*values)

    def mover(row: int) -> Mover:
        ours, theirs = (ranks[one][row] for one in pair)
        a, b = values[:, row].tolist()
        return Mover(keys[row], b, a, float(d[row]), int(n_relevant[row]), theirs, ours)

    chosen = extremes(-d if higher is False else d, n_relevant, keys, n)
    most = min(len(d), n_drawn + len(chosen))
    draw = np.random.default_rng(SEED).choice(len(d), most, replace=False).tolist()
    others = [row for row in draw if row not in chosen][:n_drawn]
    rows, drawn = (tuple(map(mover, some)) for some in (chosen, others))
    return Movers(rows, name, pair, values, higher, compared.unit, drawn)


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
