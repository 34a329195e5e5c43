"""`across`: systems put side by side over several data sets, whose users are never merged."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, combinations
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from toplist.checks import USERS, Bools, Floats, cached, choice, counted, readable
from toplist.comparing import aligning
from toplist.comparing.aligning import few_of
from toplist.comparing.comparison import Comparison, Given, compare
from toplist.comparing.contrasts import Contrast, about, or_why
from toplist.comparing.samples import name_of, pairs_of
from toplist.comparing.side_by_side import Question
from toplist.comparing.tests import Tests, cautioned
from toplist.inputs.texts import hashes_of
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.definitions import Metric
from toplist.metrics.names import AnyName
from toplist.plots import differences as pictures
from toplist.plots.axes import Axes
from toplist.results.describe import averaging, json_number
from toplist.results.markup import Display
from toplist.results.tables import LOOK, Cell, Grid, Look, Page, Table, probability
from toplist.stats import TTest, difference, randomization
from toplist.stats import datasets as statistics
from toplist.stats.datasets import OF, DatasetsAre, Friedman, Replicability
from toplist.stats.units import snap

# What is done with a system that has no result in some data set.
MissingSystem = Literal["error", "last"]
MISSING: tuple[MissingSystem, ...] = get_args(MissingSystem)
RESAMPLES = 2000
# In print, fewer data sets say nothing of sets like these.
FEW = 6
# With fewer users in a data set, drawing them again says too little: of two equal systems one was
# said to be behind in 15 % of samples with 2 users, 6 % with 3, 2 % with 5.
FEW_USERS = 5
UNKNOWN = " (saved without them, or of Spark)"
WORDS = {"these": "these data sets", "sample": "sets like these"}


def across(
    datasets: Mapping[str, Comparison | Mapping[str, Given]],
    name: AnyName,
    *,
    baseline: str | None = None,
    missing: MissingSystem = "error",
    of: DatasetsAre = "these",
    n_resamples: int = RESAMPLES,
    seed: int = 0,
    n_threads: int | None = None,
) -> Across:
    """Put systems side by side over several data sets: means, ranks, votes, and what is chance.

    Parameters
    ----------
    datasets : dict of data set -> Comparison, or dict of system -> result
        As `compare` takes or returns it. Within a data set the systems have the same users;
        across data sets users have nothing to do with each other, even where their keys are equal.
    name : str
        The measure, ``"ndcg@10"``, by one convention in all data sets.
    baseline : str, optional
        The system that the others are compared with.
    missing : {"error", "last"}
        What is done with a system that some data set does not have: refused, or last there,
        without votes.
    of : {"these", "sample"}
        What the interval of the difference from the baseline is about: these data sets, or sets
        like these. The latter is printed from six data sets on; `Across.contrast` has both.
    n_resamples, seed, n_threads
        Of the users drawn again in each data set, for the intervals of ranks.

    Returns
    -------
    Across
        A table when printed: a row per system, the best mean rank first.

    Raises
    ------
    TypeError, ValueError
        For fewer than two data sets or systems, systems over other users or by other rules, other
        rules in one data set than in another, and a system that a data set lacks.
    KeyError
        For a name that a system does not have.

    Examples
    --------
    >>> import toplist as tl
    >>> rng = np.random.default_rng(0)
    >>> def evaluated(shift):
    ...     ranks = {name: rng.integers(1, 6 + at, 400) for at, name in enumerate("abc", shift)}
    ...     hits = {name: tl.Hits.from_ranks(some, n_listed=20) for name, some in ranks.items()}
    ...     return {name: tl.top_k_eval(one, k=5, metrics="mrr") for name, one in hits.items()}
    >>> found = tl.across(
    ...     {"ml": evaluated(0), "yelp": evaluated(4)}, "mrr@5", baseline="c"
    ... )
    >>> found.systems, found.borda.tolist()
    (('a', 'b', 'c'), [4.0, 2.0, 0.0])
    """
    choice("missing", missing, MISSING)
    choice("of", of, OF)
    randomization.How(n_resamples, seed=seed)
    if not isinstance(datasets, Mapping):
        kind = type(datasets).__name__
        raise TypeError(f"across takes a dict of data set -> comparison, not {kind}")
    if len(datasets) < 2:
        raise ValueError(f"across: two data sets are needed, and there is {len(datasets)}")
    found, names = dict[str, Comparison](), set[str]()
    for key, given in datasets.items():
        dataset = name_of(key)
        if not isinstance(dataset, str) or not dataset:
            raise TypeError(f"across: {key!r} is no name of a data set: give text or a number")
        with about(dataset):
            at, found[dataset] = _read(given, name)
            names.add(at)
    for what in _differences(found):
        if what.kind != "candidates":  # a note says so
            raise ValueError(f"these data sets cannot be put together: {what}")
    systems = list(dict.fromkeys(system for one in found.values() for system in one.systems))
    baseline = None if baseline is None else name_of(baseline)
    pairs_of(systems, None if baseline is None else [baseline])  # of one: a list is no name
    for system in systems if missing == "error" else ():
        lacking = [dataset for dataset, one in found.items() if system not in one.systems]
        if lacking:
            raise ValueError(
                f"{lacking[0]} has no result of {system}: leave {system} out, or give "
                "missing='last', by which it is last there, without votes"
            )

    at, first = names.pop(), next(iter(found.values()))
    metric = first._directed(at)[1]
    sign = 1.0 if metric.higher_is_better else -1.0
    means = np.array(
        [
            [one._mean(s, at) if s in one.systems else math.nan for s in systems]
            for one in found.values()
        ]
    )
    order = np.argsort(statistics.mid_ranks(sign * means).mean(axis=0), kind="stable")
    systems, means = [systems[place] for place in order], means[:, order]
    asked = baseline, of, n_resamples, seed
    table = Across(at, metric, tuple(systems), found, means, *asked)
    unknown = [d for d, c in found.items() if any(r.hits is None for r in c.results.values())]
    if unknown:
        return replace(table, why=f"the users of {few_of(unknown)} are unknown{UNKNOWN}")
    drawn, few, rough = [], list[str](), dict[str, tuple[str, ...]]()
    for dataset, one in found.items():
        # by its name, so that the order of data sets changes nothing
        own_seed = seed ^ int(hashes_of([dataset])[0])
        with about(dataset):
            source = Question(one).rows([at])
            if len(source.units.sizes) < FEW_USERS:
                few.append(dataset)
            values = [source.values(system, at) for system in one.systems]
            values = [some.mean(axis=0) for some in values] if one.runs else values
            how: dict[str, Any] = {"n_resamples": n_resamples, "seed": own_seed}
            again = statistics.resampled(values, source.units, **how, n_threads=n_threads)
            best = values[one.systems.index(min(one.systems, key=systems.index))]
            of_pairs = (difference(some, best, source.units).cautions for some in values)
            rough[dataset] = tuple(dict.fromkeys(chain(*of_pairs)))
        of_set = np.full((n_resamples, len(systems)), math.nan)
        of_set[:, [systems.index(system) for system in one.systems]] = sign * again
        drawn.append(of_set)
    if few:
        why = f"fewer than {FEW_USERS} users, or clusters of them, in {few_of(few)}"
        return replace(table, why=why, cautions=rough)
    low, high = statistics.rank_intervals(sign * means, drawn)
    behind = statistics.behind_first([statistics.mid_ranks(of_set) for of_set in drawn], 0)
    return replace(table, rank_low=low, rank_high=high, behind=behind, cautions=rough)


def _read(given: Comparison | Mapping[str, Given], name: str) -> tuple[str, Comparison]:
    """Return the ``name@k`` as it is spelled, and the systems of a data set with its metric."""
    whole = given if isinstance(given, Comparison) else compare(given)
    at = Question(whole).one(name, "across")
    one = whole._only(at.rpartition("@")[0])  # other metrics may have other rules
    if not one.comparable:
        raise ValueError(f"these systems cannot be compared: {one.differences[0]}")
    nobody = [system for system, result in one.results.items() if not result.n_evaluated]
    if nobody:
        raise ValueError(f"no user is in the mean of {nobody[0]}: leave it out")
    return at, replace(one, _shown_of=None)


def _differences(comparisons: Mapping[str, Comparison]) -> list[aligning.Difference]:
    """Return what differs between the rules of data sets."""
    firsts = {dataset: next(iter(one.results.values())) for dataset, one in comparisons.items()}
    found = aligning.differences(firsts, [[dataset] for dataset in firsts])
    return [one for one in found if one.kind != "lengths"]


@readable
class OverDatasets(NamedTuple):
    """A system less another over the data sets that have both. Returned by `Across.contrast`.

    `these` is about these data sets, whose users are a sample; None where the users are unknown.
    `sample` is about sets like these, of which these are a sample; both are named tuples with
    mean, baseline_mean, difference, error, df, statistic, p, low and high. `better` are the
    one-sided p values of the first system being better, by data set, and `replicated` in how many
    of them at least it is (Bonferroni). `cautions` are what makes p and intervals rough, by data
    set, and `why` says why these have no test.
    """

    these: TTest | None
    sample: TTest
    better: Mapping[str, float]
    replicated: Replicability | None
    why: str = ""
    cautions: Mapping[str, tuple[str, ...]] = {}

    def of(self, what: DatasetsAre) -> TTest | None:
        """Return the one of both."""
        return self.sample if what == "sample" else self.these


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
        are unknown, or fewer than 5, and `why` says of which data sets.
    behind : (S,) bool, or None
        Whether a system is behind the first in mean rank by more than the chance of users.
    cautions : dict of data set -> names of cautions, as of `Contrast`
        Of the differences there from the first system.
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
    cautions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

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
        system = name_of(system)
        baseline = self.baseline if baseline is None else name_of(baseline)
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
        a, b = both[there].T
        d = snap(a, b)
        means: dict[str, Any] = {"mean": float(a.mean()), "baseline_mean": float(b.mean())}
        sample = statistics.over_datasets(d, of="sample", level=level)._replace(**means)
        rows = dict[str, Contrast]()
        for dataset in (self.datasets[place] for place in there):
            # of all systems there, so that users are matched once; of this pair where these are not
            # all known
            tests, _ = self._tested(dataset, str(baseline))
            if tests is None:
                tests, why = self._tested(dataset, str(baseline), system)
            if tests is None:
                return OverDatasets(None, sample, {}, None, why)
            rows[dataset] = tests[system, self.name]
        errors, df = ([getattr(row, field) for row in rows.values()] for field in ("error", "df"))
        these = statistics.over_datasets(d, errors, df, level=level)._replace(**means)
        better = {dataset: row.p for dataset, row in rows.items()}
        p = np.nan_to_num([*better.values()], nan=1.0)  # one user, or one run, shows nothing
        replicated = statistics.replicability(p, level=level)
        rough = {dataset: row.cautions for dataset, row in rows.items()}
        return OverDatasets(these, sample, better, replicated, cautions=rough)

    def _tested(self, dataset: str, baseline: str, *some: str) -> tuple[Tests | None, str]:
        """Return the one-sided tests against a baseline in a data set, or why there are none."""
        asked = dataset, baseline, *some
        if asked not in self._tests:
            whole = self.comparisons[dataset]
            whole = whole._with([baseline, *some]) if some else whole
            side = "greater" if self._higher else "less"
            test = replace(whole, baselines=(baseline,)).test
            how: dict[str, Any] = {"correction": "none", "alternative": side}
            self._tests[asked] = or_why(partial(test, self.name, **how))
        return self._tests[asked]

    @cached
    def _tests(self) -> dict[tuple[str, ...], tuple[Tests | None, str]]:
        return {}

    @cached
    def _contrasts(self) -> dict[str, OverDatasets]:
        """The contrasts of all systems with the baseline, but where too few data sets have both."""
        if self.baseline is None:
            return {}
        place = self.systems.index(self.baseline)
        n_both = (~np.isnan(self.means + self.means[:, [place]])).sum(axis=0)
        both = zip(self.systems, n_both.tolist(), strict=True)
        return {s: self.contrast(s) for s, n in both if s != self.baseline and n > 1}

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
        return {
            **{one: getattr(self, one) for one in ("name", "baseline", "of", "seed")},
            "n_resamples": self.n_resamples,
            "datasets": [*self.datasets],
            "systems": dict(zip(self.systems, self._rows(), strict=True)),
            "friedman": {one: json_number(getattr(found, one)) for one in names},
            "cautions": self._rough,
        }

    @cached
    def _rough(self) -> dict[str, list[str]]:
        """What makes ranks and differences rough, by data set."""
        every = [self.cautions, *(one.cautions for one in self._contrasts.values())]
        return {
            d: [*dict.fromkeys(chain(*(one.get(d, ()) for one in every)))] for d in self.datasets
        }

    def _rows(self) -> list[dict[str, Any]]:
        """Return what is known of every system; None for what is unknown."""
        columns = {"mean": self.macro, "mean_rank": self.mean_ranks, "borda": self.borda}
        ends = {"rank_low": self.rank_low, "rank_high": self.rank_high}
        rows = []
        for place, system in enumerate(self.systems):
            values = map(json_number, self.means[:, place].tolist())
            row: dict[str, Any] = {"means": dict(zip(self.datasets, values, strict=True))}
            for key, known in (columns | ends).items():
                row[key] = None if known is None else json_number(known[place])
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

    def _grid(self) -> Grid:
        """Return a row per system: means, their mean, rank, votes, differences.

        A data set that is called as one of these is so with "data set" before its name.
        """
        rows = []
        for system, row in zip(self.systems, self._rows(), strict=True):
            own = {"system": system, **row}
            means = {
                f"data set {d}" if d in own else d: mean for d, mean in own.pop("means").items()
            }
            rows.append({"system": system, **means, **own})
        return Grid.of(rows)

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

    def _page(self, look: Look = LOOK) -> Page:
        shown = look.intervals is not False
        interval = self.of == "these" or len(self.datasets) >= FEW
        ranks = look._replace(digits=2)
        values, table = np.vstack([self.means, self.macro]), []
        places = statistics.mid_ranks(values, higher_is_better=self._higher)
        tops = (places == places.min(axis=1, keepdims=True)) & np.isfinite(values)
        for at, (system, row) in enumerate(zip(self.systems, self._rows(), strict=True)):
            means = zip(values[:, at].tolist(), tops[:, at].tolist(), strict=True)
            cells = [Cell(look.number(value), best=best) for value, best in means]
            known = shown and self.rank_low is not None
            ends = ranks.ends(row["rank_low"], row["rank_high"]) if known else ""
            cells.append(Cell(ranks.number(row["mean_rank"]), ends))
            cells.append(Cell(f"{row['borda']:g}"))
            if self.baseline is not None:
                d, low, high, better_in = map(row.get, ("difference", "low", "high", "better_in"))
                half = ""
                if shown and interval and low is not None and high is not None:
                    half = f"±{look.number((high - low) / 2)}"
                cells.append(Cell("-" if d is None else look.signed(d), half))
                cells.append(Cell("-" if better_in is None else str(better_in)))
            table.append((system, cells))
        columns = [*self.datasets, "mean", "rank", "Borda"]
        columns += [] if self.baseline is None else [f"less {self.baseline}", "better in"]
        notes = [*self._of_ranks(shown), *self._of_differences(interval, shown), *self._accounts()]
        notes += cautioned(self._rough, self._unit)
        best = "best of its column"
        return Page([Table(self.name, columns, table)], notes, self._warnings(), best=best)

    def _warnings(self) -> list[str]:
        """Return what the reader must know first."""
        lines = [one.text for one in _differences(self.comparisons)]
        for system, column in zip(self.systems, self.means.T, strict=True):
            lacking = [d for d, mean in zip(self.datasets, column, strict=True) if mean != mean]
            if lacking:
                where = few_of(lacking)
                lines.append(f"MISSING: {system} in {where}: last there, without votes; no mean")
        sets = zip(self.datasets, self.means, self._n_users.values(), strict=True)
        for (one, means, n), (other, others, m) in combinations(sets, 2):
            if n == m and np.array_equal(means, others, equal_nan=True):
                same = f"the same means over as many {self._unit}"
                lines.append(f"TWICE? {one} and {other} have {same}, and count as two data sets")
        return lines

    def _of_ranks(self, shown: bool) -> Iterator[str]:
        """Yield what is to be said of ranks and votes, of intervals if these are `shown`."""
        found, first = self.friedman, self.systems[0]
        yield "rank: mean over data sets, 1 is the best; Borda: systems beaten, ties half"
        if self.behind is None:
            yield f"no intervals of ranks: {self.why}"
        else:
            drawn = f"by users drawn again ({self.n_resamples:,} resamples, seed {self.seed})"
            ends = "[low, high]: 95 % interval of the rank, for these data sets: who is surely "
            if shown:
                yield f"{ends}ahead or behind, {drawn}"
            both = zip(self.systems[1:], self.behind[1:], strict=True)
            near = [system for system, behind in both if not behind]
            words = f"not shown to be behind {first} in mean rank: {', '.join(near)}"
            far = f"in mean rank all others are behind {first} by more than chance"
            told = "of all sets together"
            told += "; the intervals ask each set alone, and are wider" if shown else f", {drawn}"
            yield f"{words if near else far} ({told})"
        f = f"; Iman-Davenport F {found.f:.2f}, p {probability(found.p_f)}"
        yield (
            f"Friedman χ² {found.statistic:.2f}, df {found.df}, p {probability(found.p)}"
            f"{f * math.isfinite(found.f)}; Nemenyi (for sets like these): ranks less than "
            f"{found.critical_difference:.2f} apart are not shown to differ at 0.05"
        )

    def _of_differences(self, interval: bool, shown: bool) -> Iterator[str]:
        """Yield what is to be said of differences from the baseline, of intervals if `shown`."""
        if self.baseline is None:
            return
        words = f"less {self.baseline}: difference of the means over the data sets that have both"
        known = [test for one in self._contrasts.values() if (test := one.of(self.of)) is not None]
        without = any(test.low != test.low for test in known)
        if not shown:
            yield words
        elif not interval:
            yield f"{words}; no interval for {WORDS[self.of]}: fewer than {FEW} data sets"
        elif known:
            alike = "; without it where all differ by the same number" * without
            yield f"{words}, ± half of the 95 % interval, for {WORDS[self.of]}{alike}"
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
        how = averaging(next(iter(firsts.values())))
        yield f"{rules}: {how}; mean: over data sets, which count the same"
        if any(one.runs for one in self.comparisons.values()):
            yield "several runs of a system are averaged; intervals of ranks are for these runs"
        sizes = []
        for dataset, n in self._n_users.items():
            n_clusters = firsts[dataset].n_clusters_of(self.name)
            within = f" in {counted(n_clusters, 'cluster')}" if n_clusters else ""
            sizes.append(f"{dataset} {n:,}{within}")
        yield f"{self._unit}: {', '.join(sizes)}"

    @property
    def _unit(self) -> str:
        """What users are called, if alike in all data sets."""
        units = {one.unit for one in self.comparisons.values()}
        return units.pop() if len(units) == 1 else USERS

    @property
    def _n_users(self) -> dict[str, int]:
        """The users in the means of each data set."""
        every = self.comparisons.items()
        return {d: next(iter(one.results.values())).n_of(self.name) for d, one in every}
