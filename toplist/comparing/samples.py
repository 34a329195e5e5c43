"""What is tested: `Rows` of values of systems, or the `Moments` that are left of them.

Rows are values of your own (`inference.OwnValues`), or those of results over the same users
(`aligning.Aligned`). Rows and moments both give the difference of two systems in a measure, and
many of them are tested alike: name by name, pair by pair, with p corrected for all of them. Where
several systems are evaluated together, each part of the users also makes the moments of their
differences (`toplist.stats.systems`); they are merged with the means, and every result knows them,
and which of the systems it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any

import numpy as np

from toplist.checks import Bools, Floats, Ints, choice, worded
from toplist.comparing.contrasts import DRAWN, USERS_OF, Contrast, NotTestable, TestPlan
from toplist.comparing.tests import Tests
from toplist.inputs.keyed import is_series, values_by_user
from toplist.inputs.lists import is_frame
from toplist.inputs.texts import hashes_of
from toplist.results.held import PER_USER
from toplist.results.result import TopKResult
from toplist.results.terms import Terms
from toplist.stats import (
    Difference,
    Sums,
    difference,
    estimate,
    planning,
    randomization,
    runs,
    simultaneous,
)
from toplist.stats.distributions import Parts
from toplist.stats.simultaneous import MaxT, adjust
from toplist.stats.systems import MOST, USERS_AT_A_TIME, MomentLayout, PairedMoments, difference_of
from toplist.stats.units import FEW_DF, Units, snap

# A system and its baseline; and these in one name@k.
Pair = tuple[str, str]
Column = tuple[str, str, str]

# Where results without users may be tested: they know the moments of their differences.
TOGETHER = "evaluate all systems in one toplist.top_k_eval(..., system=...)"
# Where p does not hold as printed. Below so many users who differ, degrees of freedom (`FEW_DF`),
# and runs, what follows was seen.
FEW_DIFFER = 100
FEW_DIFFER_FOR_BOOTSTRAP = (
    f"the bootstrap is liberal where fewer than {FEW_DIFFER} users differ: true nulls were "
    'rejected in 7 to 21 % of samples of sparse differences; by method="t" in 1 to 9 %'
)
MANY_SKEWED = (
    f'where {FEW_DIFFER} users or more differ, method="bootstrap" is less rough of what is SKEWED'
)
FEW_UNITS = (
    f"{{units}} so few or unequal leave {{df:.1f}} degrees of freedom: below {FEW_DF}, true nulls "
    "were rejected in 1 to 7 % of samples, in up to 12 % where differences are skewed"
)
ONE_UNIT = ", in up to 17 % where one unit is nearly all"
SPLITS = "where runs are repeated splits, these overlap: their variance is a lower bound"
FEW_RUNS = (
    "of 2 or 3 runs, p for models trained anew is cautious: true nulls were rejected in 2 to 6 % "
    "of samples"
)
# Of MaxT, by method: with fewer than so many users it is liberal.
FEW_FOR_MAXT = {
    "randomization": (
        200,
        "MaxT by flips with fewer than 200 users is liberal: of 12 true nulls one was rejected in "
        '8 to 12 % of samples; method="t" is not',
    ),
    "t": (
        50,
        "MaxT by t with fewer than 50 users is liberal: of 10 true nulls one was rejected in 7 to "
        "13 % of samples of 5 to 20; Holm is not",
    ),
}
POOLED = (
    "the pairs do not vary alike (standard deviations of {low:.2g} to {high:.2g}): with near twins "
    "or unequal variances among the systems Tukey's test rejected a true null "
    'in 8 to 30 % of samples; correction="maxt" of pairwise tests in 4 to 8 %'
)
# What a comparison has of a difference.
SHARED = {one.name for one in fields(Contrast)} & {*Difference._fields}


def name_of(given: Any) -> Any:
    """Return the name of a system; a number is a name, as it is written."""
    return str(given) if isinstance(given, Real) and not isinstance(given, bool) else given


def pairs_of(systems: Sequence[str], baseline: str | Sequence[str] | None) -> list[Pair]:
    """Return the (system, baseline) that are compared: all pairs, or each against the baselines.

    Without a baseline, the first of each pair is it.

    Examples
    --------
    >>> pairs_of(["a", "b", "c"], None), pairs_of(["a", "b", "c"], "b")
    ([('b', 'a'), ('c', 'a'), ('c', 'b')], [('a', 'b'), ('c', 'b')])
    """
    if len(systems) < 2:
        raise ValueError(f"two systems are needed, and there is {', '.join(systems) or 'none'}")
    if baseline is None:
        return [(b, a) for i, a in enumerate(systems) for b in systems[i + 1 :]]
    baseline = name_of(baseline)
    if not isinstance(baseline, (str, list, tuple)):
        raise TypeError(f"baseline is {baseline!r}: give the name of a system, or a list of names")
    baselines = [baseline] if isinstance(baseline, str) else [*map(name_of, baseline)]
    for one in baselines:
        if baselines.count(one) > 1:
            raise ValueError(f"baseline {one!r} is given twice")
        if one not in systems:
            raise ValueError(f"baseline {one!r} is none of the systems: {', '.join(systems)}")
    if not baselines:
        raise ValueError("baseline is empty: give the name of a system, or None for all pairs")
    return [(a, b) for b in baselines for a in systems if a not in baselines] or [
        (b, a) for i, a in enumerate(baselines) for b in baselines[i + 1 :]
    ]


def common_rows(
    known: Mapping[str, Sequence[Any]], counted: Mapping[str, Bools]
) -> tuple[dict[str, Ints], Sequence[Any], int]:
    """Return the rows of the users that all systems count, their keys, and how many some count.

    `known` are the keys of the rows, or their positions.
    """
    first, *others = known
    mine, some = known[first], counted[first]
    rows = {first: np.flatnonzero(some)}
    keys = mine if some.all() else [mine[row] for row in rows[first].tolist()]
    if all(
        np.array_equal(some, counted[other]) and _are_equal(mine, known[other]) for other in others
    ):  # the same users in one order
        return dict.fromkeys(known, rows[first]), keys, len(keys)
    places = {}
    for system in others:
        theirs = known[system]
        places[system] = {theirs[row]: row for row in np.flatnonzero(counted[system]).tolist()}
    n_all = len(set(keys).union(*places.values()))
    kept = [i for i, key in enumerate(keys) if all(key in p for p in places.values())]
    keys, rows[first] = [keys[i] for i in kept], rows[first][np.array(kept, np.int64)]
    for system, place in places.items():
        rows[system] = np.array([place[key] for key in keys], np.int64)
    return rows, keys, n_all


def _are_equal(keys: Sequence[Any], others: Sequence[Any]) -> bool:
    """Return whether keys, or positions, are equal; of lists and ranges no copies are made."""
    if type(keys) is type(others) and isinstance(keys, (list, range)):
        return keys == others
    return list(keys) == list(others)


def order_of(keys: Sequence[Any]) -> Ints:
    """Return the places of keys in the order of their words, so that no figure hangs on another."""
    words = hashes_of(keys) if keys else np.empty(0, np.uint64)
    order: Ints = np.argsort(words, kind="stable")
    if np.any(np.diff(words[order]) == 0):  # two keys of one word
        order = np.array(sorted(range(len(keys)), key=lambda i: (int(words[i]), repr(keys[i]))))
    return order


def by_user(values: Any, users: Sequence[Any] | None, n: int, what: str) -> Any:
    """Return weights or clusters in the order of the users."""
    if values is None:
        return None
    by_key = is_series(values) or is_frame(values) or isinstance(values, Mapping)
    if users is not None and not by_key:
        raise TypeError(
            f"{what} are by position, but the values are by user, like "
            f"{next(iter(users), 'none')!r}: give a dict user -> value"
        )
    return values_by_user(values, users, n, what)[0]


class Rows:
    """Values of systems over the same users, or rows.

    `units` are their weights and clusters, `n_runs` the runs of each system, where there are
    several, and `of_users` says whether the rows are known users. `n_left_out` more are counted by
    some of the systems, and not by all.
    """

    units: Units
    n_runs: tuple[int, ...] = ()
    of_users: bool = True
    n_left_out: int = 0

    def values(self, system: str, name: str) -> Floats:
        """Return (n,) float64, or (n_runs, n) of several runs."""
        raise NotImplementedError

    def left_out(self, name: str) -> int:
        """Return how many users some of the systems count in a measure, and not all."""
        return self.n_left_out

    def difference(self, system: str, baseline: str, name: str, plan: TestPlan) -> Difference:
        """Return the difference of two systems in a measure."""
        both = self.values(system, name), self.values(baseline, name)
        return difference(*both, self.units, **plan.sided)

    def contrast(self, system: str, baseline: str, name: str, plan: TestPlan) -> Contrast:
        """Return a comparison as the plan asks for it."""
        column = system, baseline, name
        both = self.values(system, name), self.values(baseline, name)
        if plan.runs is not None:
            found = runs(*both, plan.runs, self.units, **plan.sided)
            trained = contrast_of(column, found.trained, plan)
            row = contrast_of(column, found.anew, plan, found.parts)
            return replace(row, error_users=trained.error, p_users=trained.p)
        row = contrast_of(column, self.difference(*column, plan), plan)
        if plan.method == "t":
            return row
        test: Any = getattr(randomization, plan.method)
        if plan.method in DRAWN:
            outcome = test(snap(*both), self.units, **plan.sided, **plan.drawn)
        elif not self.units.plain:
            raise NotTestable(f"method={plan.method!r} takes neither weights nor clusters")
        else:
            outcome = test(snap(*both), alternative=plan.alternative)
            differ = row.wins + row.losses
            expected = differ / 2 if plan.method == "sign" else differ * (differ + 1) / 4
            if (outcome.statistic - expected) * row.difference < 0 and outcome.p < 0.05:
                row = replace(row, cautions=(*row.cautions, "OTHER SIDE"))
        return replace(row, **outcome._asdict())

    def largest(self, columns: Sequence[Column], plan: TestPlan) -> MaxT:
        """Return the comparisons of some columns, adjusted by the largest of their statistics."""
        d = [snap(self.values(a, name), self.values(b, name)) for a, b, name in columns]
        options = plan.drawn | plan.sided
        if plan.method == "randomization":
            return simultaneous.maxt_flips(d, self.units, **options)
        found = estimate(d, self.units, n_threads=plan.n_threads)
        return simultaneous.maxt_t(found, **options)

    def told(self, plan: TestPlan, rows: Sequence[Contrast]) -> dict[str, Any]:
        """Return what the rows add to a plan."""
        called = plan.unit if self.of_users else "rows"
        return {
            "n_runs": tuple(sorted({*self.n_runs})),
            "n_clusters": self.units.n_clusters,
            "weighted": self.units.weights is not None,
            "of_users": self.of_users,
            "n_left_out": self.n_left_out,
            "notes": tuple(worded(one, called) for one in self._cautions(rows, plan)),
        }

    def _cautions(self, rows: Sequence[Contrast], plan: TestPlan) -> Iterator[str]:
        """Yield where p does not hold as printed."""
        units = self.units
        if plan.runs is not None:
            yield SPLITS
            if 2 <= min(self.n_runs, default=0) <= 3:
                yield FEW_RUNS
        some = [one for one in rows if one.p == one.p and one.wins + one.losses]
        if plan.method == "bootstrap":
            differ = [one.wins + one.losses for one in some]
            if min([*differ, units.n_clusters or FEW_DIFFER]) < FEW_DIFFER:
                yield FEW_DIFFER_FOR_BOOTSTRAP
        by_t = plan.method == "t" and plan.margin is None and plan.runs is None
        skewed = [one.wins + one.losses for one in some if "SKEWED" in one.cautions]
        if by_t and min(max(skewed, default=0), units.n_clusters or FEW_DIFFER) >= FEW_DIFFER:
            yield MANY_SKEWED
        if plan.method == "t" and not units.plain and some and units.df < FEW_DF:
            words = "weights" if units.clusters is None else "clusters"
            yield FEW_UNITS.format(df=units.df, units=words) + ONE_UNIT * (units.df < 1.5)


def refuse(what: str, instead: str) -> NotTestable:
    """Return the error for what does not follow from moments."""
    return NotTestable(
        f"{what} needs the values of users, which these results are without: {instead}; or "
        f"{PER_USER}"
    )


def other_users(
    results: Iterable[str], n: int, known: str = "them", skips: bool = False
) -> NotTestable:
    """Return the error for systems that count other users; `known` are all that know of them.

    `skips` says that users without a list are left out.
    """
    zero = "; users without a list count as 0 under convention.replace(missing='zero')"
    return NotTestable(
        f"{', '.join(results)} count other users: {n:,} are in some of {known} only; "
        f"users='common' tests over those that all systems count{zero * skips}"
    )


@dataclass(frozen=True)
class Moments:
    """The moments of results without users, for tests of them.

    Attributes
    ----------
    moments : PairedMoments
    system_of : dict of name -> system
        Results may have other names than the systems of the moments.
    users : {"same", "common"}
    """

    moments: PairedMoments
    system_of: Mapping[str, str]
    users: str

    @classmethod
    def of(cls, results: Mapping[str, TopKResult], users: str = "same") -> Moments | None:
        """Return the moments of results without users; None where they hold users, or know none."""
        choice("users", users, USERS_OF)
        found = {name: getattr(one, "paired", None) for name, one in results.items()}
        known = [(name, one) for name, one in found.items() if one is not None]
        if not known or all(one.hits is not None for one in results.values()):
            return None
        first, where = known[0]
        for name, one in found.items():
            if one is None or not one.moments.same_as(where.moments):
                raise NotTestable(
                    f"{name} and {first} are not of one evaluation, so the differences of their "
                    f"users are unknown: {TOGETHER}"
                )
        return cls(where.moments, {name: one.system for name, one in known}, users)

    def left_out(self, name: str) -> int:
        """Return how many users some of the systems count in ``name@k``, and not all."""
        return self.moments.left_out[name]

    def difference(self, system: str, baseline: str, name: str, plan: TestPlan) -> Difference:
        """Return the difference of two results in ``name@k``."""
        self._check(name)
        found = self.moments.find(self.system_of[system], self.system_of[baseline], name)
        return difference_of(found, **plan.sided)

    def contrast(self, system: str, baseline: str, name: str, plan: TestPlan) -> Contrast:
        """Return a comparison by its t test; other methods need the values of users."""
        if plan.method != "t":
            raise refuse(f"method={plan.method!r}", "method='t' works")
        column = system, baseline, name
        return contrast_of(column, self.difference(*column, plan), plan)

    def curve(self, system: str, baseline: str, metric: str, n_threads: int | None) -> Sums:
        """Return the moments of the difference of two results over k."""
        shape = self.moments.shape
        if metric not in shape.depths:
            raise NotTestable(
                f"no band of {metric}: over all k, its moments for {len(shape.systems)} systems "
                f"would be too many to send (at most {MOST:,} numbers for all metrics together): "
                "evaluate fewer systems or metrics at a time, or to a smaller k"
            )
        self._check(next(name for name in shape.names if name.rpartition("@")[0] == metric))
        return self.moments.curve(self.system_of[system], self.system_of[baseline], metric)

    def largest(self, columns: Sequence[Column], plan: TestPlan) -> MaxT:
        """Return the comparisons of some columns, adjusted by the largest of their statistics."""
        shape = self.moments.shape
        if not all(map(shape.joined, shape.groups)):
            raise NotTestable(
                f"correction='maxt' needs the covariances of all names, which {len(shape.names)} "
                f"names of {len(shape.systems)} systems have too many of: give 'holm'"
            )
        for _, _, name in columns:
            self._check(name)
        named = [(self.system_of[a], self.system_of[b], name) for a, b, name in columns]
        return simultaneous.maxt_t(self.moments.joint(named).estimate, **plan.drawn, **plan.sided)

    def told(self, plan: TestPlan, rows: Sequence[Contrast]) -> dict[str, Any]:
        """Return what moments add to a plan."""
        return {"n_left_out": max((self.left_out(one.name) for one in rows), default=0)}

    def _check(self, name: str) -> None:
        """Refuse a name without moments, and users whom some of the systems do not count."""
        shape = self.moments.shape
        if name not in shape.names:
            raise NotTestable(
                f"{name} was not asked for where the users were, so its differences are unknown: "
                f"give its k to top_k_eval; known are {', '.join(shape.names)}"
            )
        left_out = self.moments.left_out[name]
        if left_out and self.users == "same":
            raise other_users(self.system_of, left_out, ", ".join(shape.systems))
        if left_out and {*self.system_of.values()} != {*shape.systems}:
            raise NotTestable(
                f"the users that are common to {', '.join(shape.systems)} are known, not those of "
                "fewer systems: compare all of them, or evaluate those of interest alone"
            )
        if not self.moments.pairs[name][0].any():
            raise NotTestable(f"nobody to test: no user is in all of {', '.join(shape.systems)}")


Sample = Rows | Moments


def contrast_of(
    column: Column, found: Difference, plan: TestPlan, parts: Parts | None = None
) -> Contrast:
    """Return a comparison by its t test, or the two of an equivalence.

    `parts` are the variances of users and runs, with their degrees of freedom.
    """
    system, baseline, name = column
    of = {key: getattr(found, key) for key in SHARED}
    row = Contrast(name, system, baseline, **of)
    if plan.margin is None:
        return row
    within = planning.tost(
        *(row.difference, row.error, parts or row.df, plan.margin, plan.level), found.n_bounded
    )
    if row.error == 0 and within.p != within.p:
        row = replace(row, cautions=(*row.cautions, "ALL ALIKE"))
    return replace(row, **within._asdict())


def contrasted(
    sample: Sample,
    pairs: Sequence[Pair],
    names: Sequence[str],
    plan: TestPlan,
    higher: Callable[[str], bool | None] = lambda name: True,
) -> Tests:
    """Return the comparisons of all pairs in all names, name by name, corrected."""
    rows = [
        sample.contrast(*pair, name, plan).directed(higher(name))
        for name in names
        for pair in pairs
    ]
    drawn = plan.method in DRAWN and not all(one.exact for one in rows)
    n_resamples = (plan.n_resamples or DRAWN[plan.method]) if drawn else 0
    how: dict[str, Any] = {"n_resamples": n_resamples, "n_threads": None}
    how |= sample.told(plan, rows)
    return corrected(rows, replace(plan, **how), lambda columns: sample.largest(columns, plan))


def corrected(
    rows: list[Contrast],
    plan: TestPlan,
    largest: Callable[[Sequence[Column]], MaxT] | None = None,
) -> Tests:
    """Return the comparisons with p corrected within each family; `largest` is for "maxt"."""
    families: dict[str, list[int]] = {}
    for place, one in enumerate(rows):
        families.setdefault(one.name * (plan.family == "metric"), []).append(place)
    known = [sum(rows[i].p == rows[i].p for i in places) for places in families.values()]
    plan = replace(plan, n_family=max(known, default=0))
    for places in families.values():
        some = [rows[i] for i in places]
        if plan.correction == "maxt" and largest is not None:
            adjusted = largest([(one.system, one.baseline, one.name) for one in some]).step_down
            least, words = FEW_FOR_MAXT[plan.method]
            if some[0].n < least:
                plan = replace(plan, notes=tuple(dict.fromkeys([*plan.notes, words])))
        else:
            correction: Any = plan.correction
            adjusted = adjust([one.p for one in some], correction)
        for i, p in zip(places, adjusted.tolist(), strict=True):
            own = rows[i].p  # of the same t, but rounded otherwise
            rows[i] = replace(rows[i], p_adjusted=own if p < own else p)
    return Tests(tuple(rows), plan)


def together(parts: Sequence[Tests], plan: TestPlan) -> Tests:
    """Return tests over different users, corrected for all of them together."""
    whole = replace(
        parts[0].plan,
        correction=plan.correction,
        family=plan.family,
        n_resamples=max(part.plan.n_resamples or 0 for part in parts),
        n_clusters=max(part.plan.n_clusters for part in parts),
        n_left_out=max(part.plan.n_left_out for part in parts),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.plan.notes)),
    )
    return corrected([one for part in parts for one in part], whole)


def tukey(
    sample: Sample, systems: Sequence[str], name: str, plan: TestPlan, higher: bool | None = True
) -> Tests:
    """Return Tukey's test of all pairs of systems, of each pair the first less the second."""
    pairs = [(a, b) for b, a in pairs_of(systems, None)]
    found = simultaneous.tukey([sample.difference(*pair, name, plan) for pair in pairs], plan.level)
    counts = "n", "mean", "baseline_mean", "difference", "wins", "ties", "losses"
    # what else there is is of a pair alone
    kept = *counts, "statistic", "df", "p", "low", "high", "cautions"
    rows = []
    for pair, one in zip(pairs, found, strict=True):
        own: dict[str, Any] = {key: getattr(one, key) for key in kept}
        rows.append(Contrast(name, *pair, **own, p_adjusted=one.p).directed(higher))
    low, high = min(one.std for one in found), max(one.std for one in found)
    told = sample.told(plan, rows) | {"baselines": ()}
    plan = replace(plan, method="tukey", correction="none", **told)
    notes = (POOLED.format(low=low, high=high),) if high > 1.5 * low else ()
    n_family = sum(one.p == one.p for one in rows)
    return Tests(tuple(rows), replace(plan, n_family=n_family, notes=notes))


# Moments, made where the users are


def shape_of(systems: Sequence[str], terms: Terms) -> MomentLayout:
    """Return what the moments of systems are of: every ``name@k`` asked for, and curves over k."""
    groups: dict[Any, list[str]] = {}
    for name in dict.fromkeys(terms.names):
        metric = name.rpartition("@")[0]
        if metric in terms.metrics and metric not in terms.pooled:
            groups.setdefault(terms.counting[metric], []).append(name)
    metrics = dict.fromkeys(name.rpartition("@")[0] for group in groups.values() for name in group)
    k, n_pairs = terms.depth, len(systems) * (len(systems) - 1) // 2
    fits = n_pairs * len(metrics) * k * (k + 1) // 2 <= MOST
    depths = dict.fromkeys(metrics, k) if fits else {}
    return MomentLayout(tuple(systems), tuple(map(tuple, groups.values())), depths)


def moments_of(results: Mapping[str, TopKResult]) -> PairedMoments:
    """Return the moments of systems over the same ground truths; the results hold their hits.

    Only users whom all systems count are in them; the others are counted as left out.

    Examples
    --------
    >>> import toplist as tl
    >>> truths = [{user % 3} for user in range(9)]
    >>> lists = {"a": [[0, 1, 2]] * 9, "b": [[2, 1, 0]] * 9}
    >>> results = {name: tl.top_k_eval(some, truths, k=2) for name, some in lists.items()}
    >>> both = difference_of(moments_of(results).find("a", "b", "mrr@2"))
    >>> both.n, both.wins, both.losses, both.difference
    (9, 3, 3, 0.0)
    """
    shape = shape_of(list(results), next(iter(results.values())).terms)
    users = {system: one.users for system, one in results.items()}

    def parts() -> Iterator[PairedMoments]:
        yield PairedMoments(shape, {}, {}, {})  # of no metric of users there is no other
        for group in shape.groups:
            metrics = list(dict.fromkeys(name.rpartition("@")[0] for name in group))
            counted = {system: one.in_means(metrics) for system, one in results.items()}
            rows, keys, n_all = common_rows(users, counted)
            names = [*group, *(one for one in metrics if one in shape.depths)]
            for low in range(0, max(len(keys), 1), USERS_AT_A_TIME):
                few = []  # for their values; the means stay those of all
                for system, one in results.items():
                    own = rows[system][low : low + USERS_AT_A_TIME]
                    hits, some = one.held("its users are not known")
                    few.append(replace(one, hits=hits.subset(own), counted=some[own]))
                values = {name: np.array([one.per_user(name) for one in few]) for name in names}
                left_out = 0 if low else n_all - len(keys)
                yield PairedMoments.of(shape, group, values, left_out)

    return PairedMoments.merged(parts())
