"""`Across`: systems over several data sets, by their means and ranks, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from toplist.checks import Bools, Floats, cached, counted, readable
from toplist.comparing import aligning
from toplist.comparing.comparison import Comparison
from toplist.comparing.side_by_side import tested
from toplist.comparing.tests import Tests
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.definitions import Metric
from toplist.plots import ranks as pictures
from toplist.results.display import Display
from toplist.results.json_text import json_number
from toplist.results.markup import Cell, Look, Page, Table, probability
from toplist.stats import datasets as statistics
from toplist.stats.datasets import DatasetsAre, Friedman, Replicability
from toplist.stats.estimates import Alternative, TTest

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

# In print, fewer data sets say nothing of sets like these.
FEW = 6
WORDS = {"these": "these data sets", "sample": "sets like these"}


@readable
class OverDatasets(NamedTuple):
    """A system less another over the data sets that have both. Returned by `Across.contrast`.

    `these` is about these data sets, whose users are a sample; None where the users are unknown.
    `sample` is about sets like these, of which these are a sample; both are named tuples with
    mean, baseline_mean, difference, error, df, statistic, p, low and high. `better` are the
    one-sided p values of the first system being better, by data set, and `replicated` in how many
    of them at least it is (Bonferroni).
    """

    these: TTest | None
    sample: TTest
    better: Mapping[str, float]
    replicated: Replicability | None

    def of(self, what: DatasetsAre) -> TTest | None:
        """Return the one of both."""
        return self.sample if what == "sample" else self.these


def differences(comparisons: Mapping[str, Comparison]) -> list[str]:
    """Return what differs between the rules of data sets, in a line each."""
    firsts = {dataset: next(iter(one.results.values())) for dataset, one in comparisons.items()}
    lines = aligning.differences(firsts, [[dataset] for dataset in firsts])
    return [line for line in lines if not line.startswith(aligning.LENGTHS)]


@dataclass(frozen=True, eq=False, repr=False)
class Across(Display):
    """Systems over several data sets. Returned by `toplist.across`; a table when printed.

    Every data set counts the same, whatever its number of users. Arrays have the systems in the
    order of `systems`, the best mean rank first.

    Attributes
    ----------
    name : str
        The measure, ``"ndcg@10"``, and its `metric`.
    systems : tuple of str
    comparisons : dict of data set -> Comparison
        With this metric alone.
    means : (J, S) float64
        A row per data set, NaN where it lacks the system.
    rank_low, rank_high : (S,) float64, or None
        The 95 % interval of the mean rank, see `toplist.inference.rank_intervals`; None where users
        are unknown, and `why` says of which data sets.
    behind : (S,) bool, or None
        Whether a system is behind the first in mean rank by more than the chance of users.
    n_resamples, seed : int
        Of the users drawn again.
    baseline : str, or None
    of : {"these", "sample"}
        What the printed interval of differences is about.

    Examples
    --------
    >>> import toplist as tl
    >>> good, poor = (tl.top_k_eval([some], [{1}], k=1, metrics="hit") for some in ([1], [2]))
    >>> sets = {"one": {"a": poor, "b": good}, "two": {"a": poor, "b": good}}
    >>> found = tl.across(sets, "hit@1")
    >>> found.systems, found.macro.tolist(), found.mean_ranks.tolist()
    (('b', 'a'), [1.0, 0.0], [1.0, 2.0])
    """

    name: str
    metric: Metric | ListMetric
    systems: tuple[str, ...]
    comparisons: Mapping[str, Comparison]
    means: Floats
    baseline: str | None
    of: DatasetsAre
    n_resamples: int
    seed: int
    rank_low: Floats | None = None
    rank_high: Floats | None = None
    behind: Bools | None = None
    why: str = ""

    @property
    def datasets(self) -> tuple[str, ...]:
        """The names of the data sets."""
        return tuple(self.comparisons)

    @property
    def _higher(self) -> bool:
        return bool(self.metric.higher_is_better)

    @property
    def macro(self) -> Floats:
        """The mean over data sets of every system, (S,); NaN where it lacks one."""
        found: Floats = self.means.mean(axis=0)
        return found

    @cached
    def friedman(self) -> Friedman:
        """Friedman's test of the ranks, see `toplist.inference.friedman`."""
        return statistics.friedman(self.means, higher_is_better=self._higher)

    @property
    def mean_ranks(self) -> Floats:
        """The mean rank of every system, (S,)."""
        return self.friedman.mean_ranks

    @property
    def borda(self) -> Floats:
        """Borda's votes of every system, (S,), see `toplist.inference.borda`."""
        return statistics.borda(self.means, higher_is_better=self._higher)

    def contrast(
        self, system: str, baseline: str | None = None, *, level: float = 0.95
    ) -> OverDatasets:
        """Return a system less another, over these data sets and over sets like these.

        Parameters
        ----------
        system, baseline : str
            The baseline may be left out where there is one.
        level : float
            Of the intervals, and 1 - p of a finding that holds.

        Returns
        -------
        OverDatasets

        Raises
        ------
        ValueError
            For a system that there is not, and fewer than two data sets that have both.

        Examples
        --------
        >>> import toplist as tl
        >>> truths = {user: user % 3 for user in range(90)}
        >>> def lists(share):
        ...     return {user: [user % 3] if user < share else [9] for user in truths}
        >>> shares = {"one": (30, 42), "two": (33, 51), "three": (40, 60)}
        >>> datasets = {
        ...     name: {s: tl.top_k_eval(lists(n), truths, k=1) for s, n in zip("ab", of)}
        ...     for name, of in shares.items()
        ... }
        >>> found = tl.across(datasets, "hit@1").contrast("b", "a")
        >>> [(round(one.difference, 4), round(one.p, 4)) for one in (found.these, found.sample)]
        [(0.1852, 0.0), (0.1852, 0.0202)]
        >>> found.replicated.k
        3
        """
        baseline = self.baseline if baseline is None else baseline
        for one in (system, baseline):
            if one not in self.systems:
                raise ValueError(f"{one!r} is none of the systems: {', '.join(self.systems)}")
        if system == baseline:
            raise ValueError(f"{system!r} is both the system and its baseline")
        places = [self.systems.index(one) for one in (system, str(baseline))]
        both = self.means[:, places]
        there = np.flatnonzero(~np.isnan(both).any(axis=1))
        if len(there) < 2:
            n = counted(len(there), "data set")
            raise ValueError(f"{system} and {baseline} are both in {n} alone: two are needed")
        means = dict(zip(("mean", "baseline_mean"), both[there].mean(axis=0).tolist(), strict=True))
        differences = both[there, 0] - both[there, 1]
        sample = statistics.over_datasets(differences, of="sample", level=level)._replace(**means)
        names = [self.datasets[place] for place in there]
        tests = [self._tested(self.comparisons[one], system, str(baseline)) for one in names]
        rows = [one[0] for one in tests if one is not None]
        if len(rows) < len(tests):
            return OverDatasets(None, sample, {}, None)
        errors, df = ([getattr(row, field) for row in rows] for field in ("error", "df"))
        these = statistics.over_datasets(differences, errors, df, level=level)._replace(**means)
        better = {dataset: row.p for dataset, row in zip(names, rows, strict=True)}
        p = np.nan_to_num([*better.values()], nan=1.0)  # one user, or one run, shows nothing
        return OverDatasets(these, sample, better, statistics.replicability(p, level=level))

    def _tested(self, one: Comparison, system: str, baseline: str) -> Tests | None:
        """Return the one-sided test of two systems in one data set; None where it has none."""
        runs = {name: one.runs[name] for name in (baseline, system)} if one.runs else {}
        names = [run for some in runs.values() for run in some] or [baseline, system]
        results = {name: one.results[name] for name in names}
        pair = replace(one, results=results, runs=runs, baselines=(baseline,))
        side: Alternative = "greater" if self._higher else "less"
        return tested(lambda: pair.test(self.name, correction="none", alternative=side))[0]

    @cached
    def _contrasts(self) -> dict[str, OverDatasets]:
        """The contrasts of all systems with the baseline, but where too few data sets have both."""
        found = {}
        for system in self.systems if self.baseline is not None else ():
            with suppress(ValueError):  # the baseline itself, and where too few data sets have both
                found[system] = self.contrast(system)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON has it; None for what is unknown.

        Examples
        --------
        >>> import toplist as tl
        >>> good, poor = (tl.top_k_eval([some], [{1}], k=1, metrics="hit") for some in ([1], [2]))
        >>> sets = {"one": {"a": good, "b": poor}, "two": {"a": good, "b": poor}}
        >>> tl.across(sets, "hit@1").to_dict()["systems"]["a"]["means"]
        {'one': 1.0, 'two': 1.0}
        """
        found, names = self.friedman, ("statistic", "p", "f", "p_f", "critical_difference")
        systems = {}
        for place, row in enumerate(self._rows()):
            values = zip(self.datasets, self.means[:, place].tolist(), strict=True)
            means = {"means": {dataset: json_number(value) for dataset, value in values}}
            system = row.pop("system")
            systems[system] = means | row
        return {
            **{one: getattr(self, one) for one in ("name", "baseline", "of", "seed")},
            "n_resamples": self.n_resamples,
            "datasets": [*self.datasets],
            "systems": systems,
            "friedman": {one: json_number(getattr(found, one)) for one in names},
        }

    def to_pandas(self) -> DataFrame:
        """Return a DataFrame with a row per system: means, their mean, rank, votes, differences."""
        import pandas

        means = pandas.DataFrame(self.means.T, columns=[*self.datasets])
        rows = pandas.DataFrame(self._rows())
        return pandas.concat([rows[["system"]], means, rows.drop(columns="system")], axis=1)

    def _rows(self) -> list[dict[str, Any]]:
        """Return what is known of every system beside its means."""
        rows = []
        for place, system in enumerate(self.systems):
            columns: dict[str, Floats | None]
            columns = {"mean": self.macro, "mean_rank": self.mean_ranks, "borda": self.borda}
            columns |= {"rank_low": self.rank_low, "rank_high": self.rank_high}
            row: dict[str, Any] = {"system": system}
            row |= {
                key: None if values is None else json_number(values[place])
                for key, values in columns.items()
            }
            row["behind_first"] = None if self.behind is None else bool(self.behind[place])
            if self.baseline is not None:
                found = self._contrasts.get(system)
                test = None if found is None else found.of(self.of)
                row["difference"] = None if found is None else found.sample.difference
                for key in ("low", "high", "p"):
                    row[key] = None if test is None else json_number(getattr(test, key))
                replicated = None if found is None else found.replicated
                row["better_in"] = None if replicated is None else replicated.k
            rows.append(row)
        return rows

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the mean ranks, and join what Nemenyi's test does not tell apart.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        matplotlib Axes
        """
        ranks = dict(zip(self.systems, self.mean_ranks.tolist(), strict=True))
        return pictures.critical_difference(
            ranks, self.friedman.critical_difference, n_datasets=len(self.datasets), ax=ax
        )

    def _page(self, every_metric: bool = False) -> Page:
        look, n = Look(), len(self.datasets)
        better = np.max if self._higher else np.min
        tops = [better(row[~np.isnan(row)]) for row in (*self.means, self.macro)]
        interval = self.of == "these" or n >= FEW
        table = []
        for place, row in enumerate(self._rows()):
            values = [*self.means[:, place].tolist(), self.macro[place]]
            cells = [
                Cell("-" if value != value else look.number(value), best=value == top)
                for value, top in zip(values, tops, strict=True)
            ]
            ends = [row[one] for one in ("rank_low", "rank_high")]
            ends = [] if None in ends else [f"{one:.2f}" for one in ends]
            cells.append(Cell(f"{row['mean_rank']:.2f}", ends=tuple(ends)))
            cells.append(Cell(f"{row['borda']:g}"))
            if self.baseline is not None:
                low, high = (row[one] if interval else None for one in ("low", "high"))
                half = "" if low is None or high is None else look.number((high - low) / 2)
                d = row["difference"]
                cells.append(Cell("-" if d is None else look.signed(d), half=half))
                cells.append(Cell("-" if row["better_in"] is None else str(row["better_in"])))
            table.append((row["system"], cells))
        columns = [*self.datasets, "mean", "rank", "Borda"]
        columns += [] if self.baseline is None else [f"less {self.baseline}", "better in"]
        notes = [*self._of_ranks(), *self._of_differences(interval), *self._accounts()]
        best = "best of its column"
        return Page([Table(self.name, columns, table)], notes, self._warnings(), best=best)

    def _warnings(self) -> list[str]:
        """Return what the reader must know first."""
        lines = differences(self.comparisons)
        for system, column in zip(self.systems, self.means.T, strict=True):
            lacking = [d for d, mean in zip(self.datasets, column, strict=True) if mean != mean]
            if lacking:
                where = aligning.few_of(lacking)
                lines.append(f"MISSING: {system} in {where}: last there, without votes; no mean")
        return lines

    def _of_ranks(self) -> Iterator[str]:
        """Yield what is to be said of ranks and votes."""
        found, first = self.friedman, self.systems[0]
        yield "rank: mean over data sets, 1 is the best; Borda: systems beaten, ties half"
        if self.behind is None:
            yield f"no intervals of ranks: {self.why} (saved without them, or of Spark)"
        else:
            yield (
                "[low, high]: 95 % interval of the rank, for these data sets: who is surely ahead "
                f"or behind, by users drawn again ({self.n_resamples:,} resamples, seed "
                f"{self.seed})"
            )
            both = zip(self.systems[1:], self.behind[1:], strict=True)
            near = [system for system, behind in both if not behind]
            words = f"not separable from {first}: {', '.join(near)}"
            yield words if near else f"all others are separable from {first}"
        f = f"; Iman-Davenport F {found.f:.2f}, p {probability(found.p_f)}"
        yield (
            f"Friedman χ² {found.statistic:.2f}, df {found.df}, p {probability(found.p)}"
            f"{f * isfinite(found.f)}; Nemenyi: ranks less than {found.critical_difference:.2f} "
            "apart do not differ at 0.05 (for sets like these)"
        )

    def _of_differences(self, interval: bool) -> Iterator[str]:
        """Yield what is to be said of differences from the baseline."""
        if self.baseline is None:
            return
        words = f"less {self.baseline}: difference of the means over the data sets that have both"
        known = any(one.of(self.of) is not None for one in self._contrasts.values())
        if not interval:
            yield f"{words}; no interval for {WORDS[self.of]}: fewer than {FEW} data sets"
        elif known:
            yield f"{words}, ± half of the 95 % interval, for {WORDS[self.of]}"
        else:
            why = self.why or "two data sets must have both"
            yield f"{words}; no interval for {WORDS[self.of]}: {why}"
        yield (
            f"better in: better than {self.baseline} in so many data sets at least (one-sided p "
            "below 0.05, partial conjunction by Bonferroni)"
        )

    def _accounts(self) -> Iterator[str]:
        """Yield by which rules the means are, and over how many users."""
        firsts = {d: next(iter(one.results.values())) for d, one in self.comparisons.items()}
        rules = next(iter(firsts.values())).terms.rules()
        yield f"{rules}: mean over users; mean: over data sets, which count the same"
        if any(one.runs for one in self.comparisons.values()):
            yield "several runs of a system are averaged; intervals of ranks are for these runs"
        users = ", ".join(f"{d} {one.n_of(self.name):,}" for d, one in firsts.items())
        yield f"users: {users}"
