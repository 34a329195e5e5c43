"""Tests of results: their users matched, their values tested by `toplist.comparing.inference`."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from toplist.averages import per_user
from toplist.checks import USERS, Floats, worded
from toplist.comparing import aligning, inference, moments
from toplist.comparing.aligning import Aligned, align
from toplist.comparing.bands import Band
from toplist.comparing.inference import banded
from toplist.comparing.pairwise import TestSpec, contrasted, corrected, pairs_of
from toplist.comparing.side_by_side import SideBySide
from toplist.comparing.tests import Tests
from toplist.comparing.values import clusters_by_user
from toplist.inputs.keyed import is_series
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.definitions import Metric
from toplist.metrics.names import listed
from toplist.plots.axes import rules_of
from toplist.results.display import Display
from toplist.results.markup import Cell, Page, Table
from toplist.results.means import Means, OwnerlessError, hits_of, in_means_of_all
from toplist.stats import estimates, planning
from toplist.stats.estimates import FEW, Difference, Sums, Units, numbered, snap, weights_of

if TYPE_CHECKING:
    from pandas import DataFrame


Names = str | Sequence[str] | None
# Differences of this kind are no reason not to test: names are asked of every system, and users are
# matched.
ALLOWED = (
    *("DIFFERENT METRICS OR K", "LISTS OF DIFFERENT LENGTH"),
    *("DIFFERENT USERS", "DIFFERENT GROUND TRUTHS"),
)


# Why a metric of the lists is not tested.
UNLIKE = "the systems have no values of the same users (common ones may be tested)"
UNWEIGHTED = "they have no weights"
NO_CLUSTER = "lists without a ground truth are in their means, and have no cluster"
OF_NOBODY = "nothing says whose the lists without a ground truth are, which are in their means"


def tests(compared: SideBySide, names: Names, asked: TestSpec) -> Tests:
    """Return the tests of some names between all pairs, or against the baselines."""
    runs = compared.runs_are if compared.runs else None
    asked = replace(asked, runs=runs, baselines=compared.baselines, unit=compared.unit)
    asked = replace(asked, rules=rules_of([*compared.results.values()]))
    by_policies: dict[Any, list[str]] = {}  # a convention may have two: then users are others
    for name in _names(compared, names, asked.users, asked.clusters):
        policies = (_counting(one, name) for one in compared.results.values())
        by_policies.setdefault(tuple(policies), []).append(name)
    groups = list(by_policies.values())
    if len(groups) == 1:
        found = _tests(compared, groups[0], asked)
        return found if names is not None else _with_equal(compared, found, asked)
    if asked.correction == "maxt":
        raise ValueError(
            "correction='maxt' is over comparisons of the same users, and these metrics count "
            "others: give 'holm', or test them one by one"
        )
    alone = replace(asked, correction="none")
    found = together([_tests(compared, group, alone) for group in groups], asked)
    return found if names is not None else _with_equal(compared, found, asked)


def _counting(result: Means, name: str) -> Any:
    """Return what decides who is in the mean of ``name@k``; of a metric of the lists, who is."""
    metric = name.rpartition("@")[0]
    if metric not in result.terms.list_metrics or result.hits is None:
        return result.terms.counting.get(metric)
    return in_means_of_all(result, [name])[0].tobytes()


def _with_equal(compared: SideBySide, found: Tests, asked: TestSpec) -> Tests:
    """Return tests with a note about names that are equal and tested once, or not tested."""
    same: dict[str, list[str]] = {name: [] for name in found.names}
    pooled, left_out = [], dict[str, list[str]]()
    for name, tested in compared._tested_as.items():
        if tested in same:
            same[tested].append(name)
        elif isinstance(compared._metric(name), ListMetric) and not _of_all_lists(compared, name):
            why = _why_untested(compared, name, asked.users, asked.clusters) or UNLIKE
            left_out.setdefault(why, []).append(name)
        elif _is_pooled(compared, name):
            pooled.append(name)
    equal = [" = ".join(some) for some in same.values() if len(some) > 1]
    notes = list(found.plan.notes)
    if equal:
        notes.append(f"equal by definition, and tested once: {'; '.join(equal)}")
    if pooled:
        notes.append(f"not tested, as they are ratios of sums over users: {', '.join(pooled)}")
    notes += [f"not tested, as {why}: {', '.join(some)}" for why, some in left_out.items()]
    return replace(found, plan=replace(found.plan, notes=tuple(notes)))


def together(parts: Sequence[Tests], asked: TestSpec) -> Tests:
    """Return tests over different users, uncorrected so far, corrected for all of them."""
    rows = [one for part in parts for one in part]
    plan = replace(
        parts[0].plan,
        correction=asked.correction,
        family=asked.family,
        n_resamples=max(part.plan.n_resamples for part in parts),
        n_clusters=max(part.plan.n_clusters for part in parts),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.plan.notes)),
    )
    return corrected(rows, plan)


def _tests(compared: SideBySide, some: Sequence[str], asked: TestSpec) -> Tests:
    """Return the tests of names that are over the same users."""
    pairs = pairs_of(compared.systems, compared.baselines or None)
    source, higher = _source(compared, some, asked), functools.partial(_higher, compared)
    if isinstance(source, moments.SharedMoments):
        if asked.clusters is not None:
            raise moments.refuse("clusters=", "test() without them works")
        return moments.contrasted(source, pairs, some, asked, higher)

    def of_runs(system: str, name: str) -> Floats:
        return np.stack([source.values(run, name) for run in compared.runs[system]])

    values = of_runs if compared.runs else source.values
    units = _units(source.found, asked.clusters)
    found = contrasted(values, pairs, some, asked, units, higher)
    notes = *found.plan.notes, *_of_lists(compared, found)
    return replace(found, plan=replace(found.plan, notes=notes))


def _of_lists(compared: SideBySide, found: Tests) -> Iterator[str]:
    """Yield of which other data metrics of the lists are, and whose means are over others."""
    metrics = {name: compared._metric(name) for name in found.names}
    needs = [one for metric in metrics.values() for one in getattr(metric, "needs", ())]
    yield from (line for line in compared.differences if aligning.is_of_data(line, needs))
    others: dict[tuple[str, str], list[str]] = {}
    for name, metric in metrics.items():
        if isinstance(metric, ListMetric):
            tested = {one.n for one in found if one.name == name}
            over = {result.n_of(name) for result in compared.results.values()}
            if over != tested:
                few, all_of = (
                    " or ".join(f"{n:,}" for n in sorted(some)) for some in (tested, over)
                )
                others.setdefault((few, all_of), []).append(name)
    for (few, all_of), names in others.items():
        words = f"over {few} users who have a value in every system; in other tables, over {all_of}"
        yield f"{', '.join(names)}: tested {worded(words, compared.unit)}"


@dataclass(frozen=True)
class _Matched:
    """The values of results over the same users; `moments.SharedMoments` does without them."""

    found: Aligned
    n_threads: int | None

    def values(self, system: str, name: str) -> Floats:
        """Return the values of a system in ``name@k``, which each of the users has."""
        found, values = self.found, self.found.values(system, name)
        lacking = np.flatnonzero(np.isnan(values))
        if len(lacking):
            row = int(lacking[0])
            user = row if found.users is None else found.users[row]
            raise ValueError(
                f"{system} has no {name} for {len(lacking):,} of {found.n:,} users, {user!r} first "
                "(without a list): test another metric, or evaluate the users who have lists"
            )
        return values

    def difference(self, system: str, baseline: str, name: str, asked: TestSpec) -> Difference:
        """Return the difference of two results in ``name@k``."""
        both = self.values(system, name), self.values(baseline, name)
        return estimates.difference(*both, _units(self.found, asked.clusters), **asked.of_users)

    def curve(self, system: str, baseline: str, metric: str) -> Sums:
        """Return the sums of the difference of two results over k, made block by block."""
        pair = system, baseline
        depth = min(self.found.results[one].terms.depth for one in pair)
        fills = [_filler(self.found, one, metric, depth) for one in pair]

        def differences(lo: int, hi: int) -> Floats:
            a, b = (fill(lo, hi) for fill in fills)
            return snap(a.ravel(), b.ravel()).reshape(a.shape)

        return Sums.over(differences, self.found.n, depth, self.n_threads)


def _source(
    compared: SideBySide, names: Sequence[str], asked: TestSpec
) -> moments.SharedMoments | _Matched:
    """Return the moments of results without users, or the values of the users these names count.

    Raises
    ------
    ValueError
        For what makes the results not comparable.
    """
    known = moments.known(compared.results, asked.users)
    if known is not None:
        _check_one_each(compared, "a test of results without users")
    for line in compared.differences:
        if not (line.startswith(ALLOWED) or aligning.is_of_data(line)):
            raise ValueError(f"these systems cannot be tested: {line}")
    if known is not None:
        return known
    found = align(compared.results, asked.users, compared._alike, names)
    return _Matched(found, asked.n_threads)


def _plain(compared: SideBySide, name: str, asked: TestSpec) -> Any:
    """Return the moments or values of one name; the users have neither weights nor clusters."""
    source = _source(compared, [name], asked)
    if isinstance(source, _Matched) and not _units(source.found, asked.clusters).plain:
        what = "users have weights" if source.found.weights is not None else "rows are in clusters"
        raise ValueError(
            f"the {what}: test(), equivalence(), power() and lead() take them, this does not"
        )
    return source


def tukey(compared: SideBySide, name: str, level: float, asked: TestSpec) -> Tests:
    """Return Tukey's test of all pairs of systems at ``name@k``."""
    one = _one(compared, name)
    source = _plain(compared, one, asked)
    pairs = [*combinations(compared.results, 2)]
    found = [source.difference(*pair, one, asked) for pair in pairs]
    return inference.all_pairs(pairs, found, name, level)


def _one(compared: SideBySide, name: str) -> str:
    """Return the one ``name@k`` that is asked for."""
    _check_one_each(compared, "this")
    some = _names(compared, name)
    if len(some) != 1:
        raise ValueError(f"this is of one name@k, not of {', '.join(some)}")
    return some[0]


def band(
    compared: SideBySide, metric: str, system: str | None, baseline: str | None, asked: TestSpec
) -> Band:
    """Return the difference of two systems at every k."""
    _check_one_each(compared, "a band")
    pair = _pair(compared, system, baseline, "band")
    if not isinstance(metric, str) or "@" in metric:
        raise ValueError(f"a band is over all k: give a metric without @, not {metric!r}")
    metric = compared.results[pair[0]].terms.spelled(metric)
    for one in pair:
        _metric(compared, one, metric)
        _check_mean(compared, one, metric)
    source = _plain(compared, f"{metric}@1", asked)
    higher = _higher(compared, f"{metric}@1")
    differ = {}
    for name in compared.results[pair[0]].names():
        k = _metric(compared, pair[0], name)[1]
        if (
            name.rpartition("@")[0] == metric
            and k is not None
            and name in compared.results[pair[1]].names()
        ):
            differ[k] = source.difference(*pair, name, asked).differ
    asked = replace(asked, unit=compared.unit)
    return banded(source.curve(*pair, metric), asked, pair, metric, higher, differ)


def _filler(found: Aligned, system: str, name: str, depth: int) -> Callable[[int, int], Floats]:
    """Return what fills the curves of some users."""
    result, rows = found.results[system], found.rows[system]
    metric, _ = result.terms.find(name)
    if not isinstance(metric, Metric):
        curves = found.values(system, name)
        return lambda lo, hi: curves[lo:hi, :depth]
    hits, counted = hits_of(result, "it has no values per user")
    if not np.array_equal(rows, np.arange(len(hits))):  # what metrics read is of these users
        hits, counted = hits.subset(rows), counted[rows]
    read, counted = per_user.read_by(metric, hits, counted, result.terms.threshold_in_gains)
    return per_user.filler(read, counted, metric, np.arange(1, depth + 1))


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
        """Return a DataFrame with a row per compared."""
        import pandas

        return pandas.DataFrame(list(self.rows))

    def _page(self, every_metric: bool = False) -> Page:
        clustered = any("n_clusters" in row for row in self.rows)
        headers, rows = [self.unit, *["clusters", "effective"] * clustered], []
        headers += ["std", "detectable"]
        headers += [] if self.difference is None else [f"{self.unit} for {self.difference:g}"]
        for row in self.rows:
            least = row["detectable"]
            least = "-" if least != least else f"{least:.4f}"
            cells = [f"{row['n']:,}"]
            cells += [f"{row['n_clusters']:,}", f"{row['effective']:,.0f}"] if clustered else []
            cells += [f"{row['std']:.4f}", least]
            cells += [f"{row['n_needed']:,.0f}"] if "n_needed" in row else []
            label = f"{row['system']} - {row['baseline']} {row['name']}"
            rows.append((label, [*map(Cell, cells)]))
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
        return Page([Table("", headers, rows)], notes)


def power(
    compared: SideBySide, names: Names, power: float, difference: float | None, asked: TestSpec
) -> Power:
    """Return the detectable differences, and the users that a given one needs."""
    _check_one_each(compared, "power()")
    rows, level = list[dict[str, Any]](), asked.level
    for name in _names(compared, names):
        source = _source(compared, [name], asked)
        clusters = _units(source.found, None).n_clusters if isinstance(source, _Matched) else 0
        for system, baseline in pairs_of(list(compared.results), compared.baselines or None):
            found = source.difference(system, baseline, name, asked)
            row: dict[str, Any] = {"name": name, "system": system, "baseline": baseline}
            row |= {"n": found.n, "std": found.std}
            # as many units as there are degrees of freedom, and one
            n, std = found.df + 1, found.error * math.sqrt(found.df + 1)
            if clusters:
                effective = (found.std / found.error) ** 2 if found.error else math.nan
                row |= {"n_clusters": clusters, "effective": effective}
            least = planning.detectable(std, n, power, level)
            row["detectable"] = least if found.differ >= FEW else math.nan
            if difference is not None:
                needed = planning.n_needed(difference, std, power, level)
                row["n_needed"] = needed if n == found.n else needed * found.n / n
            rows.append(row)
    return Power(tuple(rows), power, level, difference, compared.unit)


def _pair(
    compared: SideBySide, system: str | None, baseline: str | None, of: str
) -> tuple[str, str]:
    """Return the two systems of a band, or of what `of` names."""
    systems = list(compared.results)
    if baseline is None:
        baseline = compared.baselines[0] if compared.baselines else systems[0]
    if len(systems) == 1:
        raise ValueError(f"{of}: two systems are needed, and there is {systems[0]!r} alone")
    others = [one for one in systems if one != baseline]
    if system is None and len(others) == 1:
        system = others[0]
    for one in (system, baseline):
        if one not in systems:
            what = "several systems: name one as system=" if one is None else f"no system {one!r}"
            raise ValueError(f"{of}: {what}; there are {', '.join(systems)}")
    if system == baseline:
        raise ValueError(f"{of}: {system!r} is both the system and its baseline")
    return str(system), str(baseline)


def _names(
    compared: SideBySide, names: Names, users: str = "same", clusters: Any = None
) -> list[str]:
    """Return the ``name@k`` to test; each must be one of every system."""
    if names is None:
        held = [one.names() for one in compared.results.values()]
        known = dict.fromkeys(compared._tested_as.values())
        some = [n for n in known if all(n in names for names in held)]
        some = [name for name in some if not _of_all_lists(compared, name)]
        some = [name for name in some if not _is_pooled(compared, name)] or some
        why = {name: _why_untested(compared, name, users, clusters) for name in some}
        some = [name for name in some if not why[name]] or some
    else:
        first = next(iter(compared.results.values())).terms
        some = [first.spelled(name) for name in listed(names)]
        twice = [name for name in some if some.count(name) > 1]
        if twice:
            raise ValueError(f"{twice[0]!r} is there twice: it would be corrected for twice")
    for name in some:
        for system in compared.results:
            if _metric(compared, system, name)[1] is None:
                raise ValueError(f"{name!r} is a whole curve: give name@k, or band({name!r})")
            if _of_all_lists(compared, name):
                raise ValueError(
                    f"{name} is one number of all lists, not a mean over users: it has no test"
                )
            _check_mean(compared, system, name)
        if isinstance(compared._metric(name), ListMetric) and _are_weighted(compared):
            raise ValueError(
                f"{name} has no weights, and the users have: evaluate without weights to test it"
            )
    if not some:
        raise ValueError(
            "nothing to test: no metric at one k is a mean over users in every system; they have "
            f"{', '.join(dict.fromkeys(compared._tested_as.values())) or 'no metric at all'}"
        )
    return some


def _metric(compared: SideBySide, system: str, name: str) -> tuple[Any, int | None]:
    try:
        return compared.results[system].terms.find(name)
    except KeyError as error:
        raise KeyError(f"{system}: {error.args[0]}") from None


def _is_pooled(compared: SideBySide, name: str) -> bool:
    return any(name.partition("@")[0] in one.terms.pooled for one in compared.results.values())


def _check_mean(compared: SideBySide, system: str, name: str) -> None:
    """Raise ValueError for a metric that is no mean over users, whose differences say nothing."""
    if name.partition("@")[0] in compared.results[system].terms.pooled:
        raise ValueError(
            f"{name} is pooled, a ratio of sums: toplist.inference.ratio tests such ones"
        )


def _of_all_lists(compared: SideBySide, name: str) -> bool:
    metric = compared._metric(name)
    return isinstance(metric, ListMetric) and not metric.of_users


def _why_untested(compared: SideBySide, name: str, users: str, clusters: Any = None) -> str:
    """Return why a metric of the lists cannot be tested over these users; "" if it can.

    As where some have no list, where a loaded result has no values, or where users have weights.
    """
    if not isinstance(compared._metric(name), ListMetric):
        return ""
    if _are_weighted(compared):
        return UNWEIGHTED
    try:
        found = align(compared.results, users, compared._alike, [name])
    except OwnerlessError:
        return OF_NOBODY
    except ValueError:
        return UNLIKE
    if found.has_others:  # for users with a ground truth, what is wrong with clusters is an error
        try:
            _units(found, clusters)
        except ValueError:
            return NO_CLUSTER
    return ""


def _are_weighted(compared: SideBySide) -> bool:
    return any(one.weights is not None for one in compared.results.values())


def _higher(compared: SideBySide, name: str) -> bool | None:
    metric = compared._metric(name)
    return None if metric is None else metric.higher_is_better


def _check_one_each(compared: SideBySide, what: str) -> None:
    if compared.runs:
        raise ValueError(
            f"{what} is of one result of each system, and there are several runs: test() and "
            "equivalence() take runs"
        )


def _units(found: Aligned, clusters: Any) -> Units:
    """Return the weights and clusters of the users."""
    w = found.weights
    if w is not None:
        w = weights_of(w, found.n, found.users)
    if clusters is None:
        labels = found.clusters
        places = None if labels is None else numbered(labels, found.users)
    elif found.users is not None:
        if not isinstance(clusters, Mapping) and not is_series(clusters):
            raise TypeError("the users have keys: give clusters as a dict or Series user -> label")
        places = clusters_by_user(clusters, found.users, found.n)
    else:
        first = next(iter(found.results))
        places = clusters_by_user(clusters, None, found.results[first].n_users)
        places = None if places is None else places[found.rows[first]]
    return Units.of(found.n, w, places)
