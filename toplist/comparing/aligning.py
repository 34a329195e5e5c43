"""Several results side by side: what makes them not comparable, and their users matched.

Tests of differences need the values of each user of several systems. Users are matched by key, and
put in the order of the hashes of their keys, so that no figure depends on the order in which they
came. Users by position are those of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toplist.averages import per_user
from toplist.checks import Bools, Floats, Ints, cached, choice
from toplist.comparing.contrasts import USERS_OF, NotTestable
from toplist.comparing.samples import (
    TOGETHER,
    Rows,
    by_user,
    common_rows,
    order_of,
    other_users,
)
from toplist.inputs.options import ITEMS as FACTS
from toplist.matching.about import About
from toplist.matching.hits import Hits
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.definitions import Metric
from toplist.results import describe
from toplist.results.result import TopKResult
from toplist.stats import Sums
from toplist.stats.units import Units, numbered, snap, weights_of

Results = Mapping[str, TopKResult]

Kind = Literal[
    "conventions",
    "averages",
    "propensities",
    "policies",
    "candidates",
    "metrics",
    "formulas",
    "lengths",
    "data",
    "users",
    "truths",
]
# What does not make means of one name@k incomparable, and what is no reason not to test: names are
# asked of every system, users are matched, and of data a line says it.
MINOR = frozenset[Kind](["metrics", "lengths"])
TESTABLE = frozenset[Kind]([*MINOR, "users", "truths", "data"])
# Bytes of values of users that are kept for another look; beyond them, those of one name are.
KEPT = 1 << 28


class Difference(NamedTuple):
    """What makes the numbers of some systems not comparable.

    `kind` is one of "conventions", "averages", "propensities", "policies", "candidates", "metrics",
    "formulas", "lengths", "data", "users" and "truths", `systems` are the names of the results, and
    `text` says it in a line. Of "data", `keyword` is the one that gave them other data. `names` are
    the means that it is about, where these are metrics of the lists; else it is about all.
    """

    kind: Kind
    systems: tuple[str, ...]
    text: str
    keyword: str = ""
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the line."""
        return self.text


@dataclass(frozen=True, eq=False)
class Aligned(Rows):
    """Several results over the same users.

    ``rows[system]`` are the rows of the users in this result; `users` are their keys, None where
    they are known by position. Below the rows of a result are its lists without a ground truth,
    for metrics of all lists. `runs` are the results of each system, where these are several, and
    `clusters` those that are given for the users, in place of those of the results. `metrics` are
    those whose means count the users. `n_left_out` more are counted by some results alone.
    """

    results: Results
    rows: Mapping[str, Ints]
    users: Sequence[Any] | None
    runs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    n_runs: tuple[int, ...] = ()
    clusters: Any = None
    metrics: Sequence[str] = ()
    n_left_out: int = 0
    _kept: dict[tuple[str, str], Floats] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """The number of users."""
        return len(next(iter(self.rows.values())))

    def values(self, system: str, name: str) -> Floats:
        """Return the values of a system, (n,) for ``"name@k"`` and (n, K) for ``"name"``.

        Of several runs they are stacked.

        Raises
        ------
        NotTestable
            If a user has no value at k.
        """
        if (system, name) not in self._kept:
            if sum(one.nbytes for one in self._kept.values()) > KEPT:
                for other in [one for one in self._kept if one[1] != name]:
                    del self._kept[other]
            found = [self._values_of(one, name) for one in self.runs.get(system, [system])]
            self._kept[system, name] = np.stack(found) if self.runs else found[0]
        return self._kept[system, name]

    def _values_of(self, result: str, name: str) -> Floats:
        values, _ = self.results[result].values_of_all(name)
        found = np.ascontiguousarray(values[self.rows[result]])
        if found.ndim == 1 and np.isnan(found).any():
            lacking = np.flatnonzero(np.isnan(found))
            row = int(lacking[0])
            user = row if self.users is None else self.users[row]
            raise NotTestable(
                f"{result} has no {name} for {len(lacking):,} of {self.n:,} users, {user!r} first "
                "(without a list): test another metric, or evaluate the users who have lists"
            )
        return found

    @cached
    def units(self) -> Units:
        """The weights of the users, and their clusters."""
        first, rows = next(iter(self.rows.items()))
        w, labels = self.results[first].weights_of(self.metrics), self.cluster_labels()
        if w is not None:
            w = weights_of(w[rows], self.n, self.users)
        return Units.of(self.n, w, None if labels is None else numbered(labels, self.users))

    def cluster_labels(self) -> Sequence[Any] | None:
        """Return the clusters of the users, given or the same in all results; None without any."""
        first, rows = next(iter(self.rows.items()))
        known = {s: one.clusters for s, one in self.results.items() if one.clusters is not None}
        if self.clusters is not None and self.users is None:
            of_all = by_user(self.clusters, None, self.results[first].n_users, "clusters")
            return [of_all[row] for row in rows.tolist()]
        given = by_user(self.clusters, self.users, self.n, "clusters")
        if given is None and not known:
            return None
        # who has a list and no ground truth, in one result at least
        extra = [of_one >= self.results[system].n_users for system, of_one in self.rows.items()]
        others = np.flatnonzero(np.any(extra, axis=0)).tolist()
        if given is not None:
            others = [row for row in others if given[row] is None]
        elif len(known) < len(self.results):
            without = next(system for system in self.results if system not in known)
            raise NotTestable(
                f"{next(iter(known))} has clusters and {without} has none: evaluate both with "
                "clusters=, or give them to test()"
            )
        if others:
            raise NotTestable(
                "lists without a ground truth are in these means, and have no cluster: give those "
                "of all users to test(), as a dict user -> label"
            )
        if given is not None:
            return list(given)
        labels = {s: [some[row] for row in self.rows[s].tolist()] for s, some in known.items()}
        mine = labels[first]
        for other, theirs in labels.items():
            if mine != theirs:
                at = next(i for i, label in enumerate(mine) if label != theirs[i])
                row = int(rows[at]) if self.users is None else self.users[at]
                raise NotTestable(
                    f"{first} and {other} have other clusters of the same rows: of row {row!r}, "
                    f"{mine[at]!r} and {theirs[at]!r}"
                )
        return mine

    def curve(self, system: str, baseline: str, metric: str, n_threads: int | None) -> Sums:
        """Return the sums of the difference of two results over k, made block by block."""
        pair = system, baseline
        depth = min(self.results[one].terms.depth for one in pair)
        fills = [self._filler(one, metric, depth) for one in pair]
        return Sums.over(lambda lo, hi: snap(*(f(lo, hi) for f in fills)), self.n, depth, n_threads)

    def _filler(self, system: str, name: str, depth: int) -> Callable[[int, int], Floats]:
        """Return what fills the curves of some users."""
        result, rows = self.results[system], self.rows[system]
        metric, _ = result.terms.find(name)
        if not isinstance(metric, Metric):
            curves = self.values(system, name)
            return lambda lo, hi: curves[lo:hi, :depth]
        hits, counted = result.held("it has no values per user")
        if not np.array_equal(rows, np.arange(len(hits))):  # what metrics read is of these users
            hits, counted = hits.subset(rows), counted[rows]
        read, counted = per_user.read_by(metric, hits, counted, result.terms.threshold_in_gains)
        return per_user.filler(read, counted, metric, np.arange(1, depth + 1))


def align(
    results: Results,
    users: str = "same",
    alike: Sequence[Sequence[str]] = (),
    metrics: Sequence[str] = (),
    runs: Mapping[str, Sequence[str]] | None = None,
    clusters: Any = None,
) -> Aligned:
    """Match the users that the results count.

    Parameters
    ----------
    results : dict of system -> result
        With hits; with one set of rules (`differences`).
    users : {"same", "common"}
        "same": the systems must count the same users. "common": those that all of them count.
    alike : sequence of sequences of names, optional
        Whose ground truths and weights must be the same; default: those of all.
    metrics : sequence of str, optional
        The metrics, as ``name@k`` or without ``@``, whose means must count a user: those of the
        lists also count users without a ground truth.
    runs, clusters
        Of `Aligned`.

    Raises
    ------
    NotTestable
        If a result holds no hits, if the users are others or unknown, if a user has other relevant
        items or another weight in one result than in another.
    """
    choice("users", users, USERS_OF)
    counted, known = dict[str, Bools](), dict[str, Sequence[Any]]()
    for system, result in results.items():
        try:
            result.held("its users are unknown", f"{TOGETHER} with paired=True")
            counted[system], more = result.in_means_of_all(metrics)
        except ValueError as error:
            raise NotTestable(f"{system}: {error}") from None
        known[system] = [*result.users, *more] if more else result.users
    first, keyed = next(iter(results)), {one.has_keys: s for s, one in results.items()}
    if len(keyed) > 1:
        raise NotTestable(
            f"the users of {keyed[True]} have keys, those of {keyed[False]} are known by position: "
            "name them by users= where the lists are evaluated"
        )
    by_key, n = True in keyed, results[first].n_users
    other = next((system for system, one in results.items() if one.n_users != n), first)
    if not by_key and other != first:
        raise NotTestable(
            f"{first} has {n:,} users and {other} {results[other].n_users:,}, by position: "
            "without keys, users= where they are evaluated, they cannot be matched"
        )
    rows, keys, n_all = common_rows(known, counted)
    kinds = {type(one.users[0]): s for s, one in results.items() if len(one.users)}
    if len(kinds) == 2 and not keys and str in kinds:
        shown = " and ".join(f"{s} has {results[s].users[0]!r}" for s in kinds.values())
        raise NotTestable(
            f"users are text in one result and numbers in another, which are never equal: {shown}; "
            "CSV and TREC files hold text, Parquet what its columns are: write both in one way"
        )
    if users == "same" and n_all > len(keys):
        skips = any(one.terms.missing == "skip" for one in results.values())
        raise other_users(results, n_all - len(keys), skips=skips)
    if not keys:
        nobody = [system for system, one in results.items() if not one.n_evaluated]
        what = f"no user of {nobody[0]} is in the means" if nobody else "no user is in all of them"
        raise NotTestable(f"nobody to test: {what} ({', '.join(results)})")
    if by_key:  # in the order of the words of their keys
        order = order_of(keys)
        each = {id(some): some for some in rows.values()}  # the same of many systems, once
        each = {one: some[order] for one, some in each.items()}
        rows = {system: each[id(some)] for system, some in rows.items()}
        keys = [keys[i] for i in order.tolist()]
    n_runs, n_left_out = tuple(map(len, (runs or {}).values())), n_all - len(keys)
    given = runs or {}, n_runs, clusters, metrics, n_left_out
    aligned = Aligned(results, rows, keys if by_key else None, *given)
    for name, *others in alike or [list(results)]:
        for other in others:
            _check(aligned, name, other)
    return aligned


def _check(found: Aligned, first: str, system: str) -> None:
    """Refuse other ground truths and weights of the same users."""
    one, other = found.results[first], found.results[system]
    rows, others = found.rows[first], found.rows[system]
    both = (rows < one.n_users) & (others < other.n_users)  # of whom both have a ground truth
    if changed := _other_truths({first: one, system: other}, rows[both], others[both]):
        raise NotTestable(f"{first} and {system} have other ground truths: {changed}")
    mine, theirs = one.weights_of(found.metrics), other.weights_of(found.metrics)
    alike = mine is theirs
    if mine is not None and theirs is not None:
        alike = np.array_equal(mine[rows], theirs[others])
    if not alike:
        raise NotTestable(f"{first} and {system} have other weights of the same users")


def united(results: Results) -> dict[str, TopKResult]:
    """Return results under IPS over the users of all, where these are known; others as they are.

    Every user with a list counts, so that two systems count different users. In a system that has
    no list for a user without an observed item, the value is 0, or as its policy for missing lists
    says.
    """
    found = dict(results)
    known = (
        one.hits is not None and one.has_keys and one.terms.weighting == "ips"
        for one in found.values()
    )
    if len(found) < 2 or not all(known):
        return found
    every: dict[Any, tuple[TopKResult, int]] = {}
    for one in found.values():
        hits, counted = one.held("")
        for row in np.flatnonzero(counted & (hits.n_relevant == 0)).tolist():
            every.setdefault(one.users[row], (one, row))
    for system, one in found.items():
        rows, counted = {user: row for row, user in enumerate(one.users)}, one.held("")[1]
        absent = {user: source for user, source in every.items() if user not in rows}
        idle = [rows[user] for user in every if user in rows and not counted[rows[user]]]
        found[system] = _with_users(one, absent, idle) if absent or idle else one
    return found


def _with_users(
    result: TopKResult, absent: Mapping[Any, tuple[TopKResult, int]], idle: list[int]
) -> TopKResult:
    """Return a result with more users in its means, who have no relevant item and no list.

    `absent` are their rows in another result, whose weights and clusters are theirs: they come
    after the others. `idle` are rows of the result that were in no mean.
    """
    hits, counted = result.held("")
    counted = counted.copy()
    counted[idle] = result.terms.missing != "skip"
    n, sources = len(absent), list(absent.values())
    hashes = [one.held("")[0].about.truth_hashes for one, _ in sources]
    known = [rows[at] for rows, (_, at) in zip(hashes, sources, strict=True) if rows is not None]
    more = Hits(
        np.zeros(n + 1, np.int64),
        *(np.empty(0, np.int32), np.zeros(n, np.int64), np.zeros(n, np.int64)),
        k=hits.k,
        grading=hits.grading,
        listed_only=hits.listed_only,
        users=list(absent),
        about=About(truth_hashes=np.array(known, np.uint64) if len(known) == n else None),
    )
    of_all = hits.merged(more, disjoint=True).of_part(fingerprints=hits.about.fingerprints)
    weights, clusters = result.weights, result.clusters
    if weights is not None:
        theirs = [1.0 if one.weights is None else one.weights[at] for one, at in sources]
        weights = np.concatenate([weights, theirs])
    if clusters is not None:
        labels = (at if one.clusters is None else one.clusters[at] for one, at in sources)
        clusters = [*clusters, *labels]
    counts = np.full(n, result.terms.missing != "skip")
    depth = int(result.histograms.cuts[-1])
    whole = type(result).of(
        *(result.terms, of_all, np.append(counted, counts), weights), clusters=clusters, depth=depth
    )
    kept = "n_extra", "lists", "unmatched", "scored", "exposed"
    return replace(whole, **{name: getattr(result, name) for name in kept})


FEW_NAMES = 4


def few_of(names: Sequence[str]) -> str:
    """Return names in a line; of many, the first, and how many more there are.

    Examples
    --------
    >>> few_of(["a", "b"]), few_of("abcdefg")
    ('a, b', 'a, b, c, d and 3 more')
    """
    more = len(names) - FEW_NAMES
    return ", ".join(names) if more < 2 else f"{', '.join(names[:FEW_NAMES])} and {more:,} more"


def _metrics_by_ks(result: TopKResult) -> str:
    names: dict[str, list[str]] = {}
    for name, ks in result.terms.ks_of.items():
        names.setdefault("@".join(["", *map(str, ks)]), []).append(name)
    return ", ".join(f"{' '.join(some)} {ks}" for ks, some in names.items())


# What is described in words, which must be the same of all systems.
DESCRIBED: Mapping[Kind, Callable[[TopKResult], str]] = {
    "conventions": lambda result: result.terms.rules(),
    "averages": describe.averaging,
    "propensities": lambda result: result.terms.propensities or "none",
    "policies": describe.treatment,
    "candidates": lambda result: " ".join(describe.sampling(result)) or "all items",
    "metrics": _metrics_by_ks,
}


def differences(results: Results, alike: Sequence[Sequence[str]] = ()) -> list[Difference]:
    """Return what makes the numbers of some results not comparable.

    `alike` are the names of the results that should be over the same users and ground truths;
    default: all of them.
    """
    found, everybody = list[Difference](), tuple(results)
    for kind, describing in DESCRIBED.items():
        systems = _grouped(results, describing)
        if len(systems) > 1:
            parts = (f"{few_of(names)}: {text}" for text, names in systems.items())
            title = "METRICS OR K" if kind == "metrics" else kind.upper()
            found.append(Difference(kind, everybody, f"DIFFERENT {title}: {'; '.join(parts)}"))
    asked = [one for result in results.values() for one in result.terms.metrics.items()]
    known = {(name, metric.formula): name for name, metric in asked}
    several = [name for name in dict(asked) if [*known.values()].count(name) > 1]
    if several:
        text = f"DIFFERENT FORMULAS: of {', '.join(several)}"
        found.append(Difference("formulas", everybody, text))
    ks = ", ".join(map(str, unequal_ks(results)))
    if ks:
        ends = _grouped(results, _end).items()
        where = ", ".join(f"{few_of(some)} {end}" for end, some in ends)
        text = (
            f"LISTS OF DIFFERENT LENGTH: {where}: at k = {ks} the places below the end of a list "
            "are misses: no system is marked as the best there, and a test compares lengths"
        )
        found.append(Difference("lengths", everybody, text))
    for first, *others in alike or [list(results)]:
        some = {name: results[name] for name in (first, *others)}
        found += _other_data(some)
        of_all = _users(some)
        found += _other_users(of_all, first) if any(of_all) else _users_of_lists(some)
    return found


def _grouped(results: Results, describing: Callable[[TopKResult], str]) -> dict[str, list[str]]:
    """Return the systems by their description; without those of which there is nothing to say."""
    systems: dict[str, list[str]] = {}
    for name, result in results.items():
        if said := describing(result):
            systems.setdefault(said, []).append(name)
    return systems


def _end(result: TopKResult) -> str:
    """Return where the longest list of a result ends."""
    if result.hits is None:
        return ""
    n = result.hits.deepest
    return f"at {'least' if n == result.hits.k else 'most'} {n:,}"


def unequal_ks(results: Results) -> list[int]:
    """Return the k's that all lists of some system do not reach, and lists of another do."""
    longest = [result.hits.deepest for result in results.values() if result.hits is not None]
    ks = {k for result in results.values() for k in result.ks}
    if not longest or min(longest) == max(longest):
        return []
    return sorted(k for k in ks if min(longest) < k <= max(longest))


def _of_lists(results: Results) -> dict[str, ListMetric]:
    """Return the metrics of the lists that some of the results have, by ``name@k``."""
    return {
        name: one.terms.list_metrics[metric]
        for one in results.values()
        for name in one.terms.names
        if (metric := name.rpartition("@")[0]) in one.terms.list_metrics
    }


def counting(result: TopKResult, name: str) -> Any:
    """Return what decides who is in the mean of ``name@k``, and what they weigh.

    Of a metric of the lists it is who is in it; without hits only their number is known.
    """
    metric = name.rpartition("@")[0]
    if metric not in result.terms.list_metrics:
        return result.terms.counting.get(metric)
    if result.hits is None:
        return result.n_of(name)
    weighing = result.terms.weighting is not None  # then hits have weights of their own
    return result.in_means_of_all([name])[0].tobytes(), weighing


def _other_data(results: Results) -> Iterator[Difference]:
    """Yield each keyword that gave some results other data than others, where known."""
    metrics = _of_lists(results).items()

    def digest(result: TopKResult, keyword: str) -> str:
        needed = any(keyword in one.needs for one in result.terms.list_metrics.values())
        return result.lists.given.get(keyword, "") if needed and result.lists else ""

    for keyword in FACTS:
        several = list(_grouped(results, partial(digest, keyword=keyword)).values())
        if len(several) > 1:
            between = " and " if len(several) == sum(map(len, several)) else "; "
            text = f"DIFFERENT {keyword}: {between.join(map(few_of, several))}"
            names = tuple(name for name, one in metrics if keyword in one.needs)
            yield Difference("data", tuple(chain(*several)), text, keyword, names)


def _users_of_lists(results: Results) -> Iterator[Difference]:
    """Yield how means of the lists differ in their users: those who have a list, and a value."""
    groups: dict[tuple[tuple[str, Any], ...], list[str]] = {}
    for name, metric in _of_lists(results).items():
        having = {s: one for s, one in results.items() if name in one.terms.names}
        if metric.of_users and len(having) > 1:
            whom = tuple((system, counting(one, name)) for system, one in having.items())
            groups.setdefault(whom, []).append(name)
    for of_systems, names in groups.items():
        some = {system: results[system] for system, _ in of_systems}
        yield from _other_users(_users(some, names[0]), next(iter(some)), tuple(names))


def _other_users(
    found: Sequence[Difference | None], first: str, names: tuple[str, ...] = ()
) -> Iterator[Difference]:
    """Yield how the users of some systems differ from those of the first; of many, one line."""
    for kind, what in {"users": "USERS", "truths": "GROUND TRUTHS"}.items():
        alike = [one for one in found if one is not None and one.kind == kind]
        head = f"DIFFERENT {what}{' of ' * bool(names)}{few_of(names)}: "
        if len(alike) > 2:
            systems = [one.systems[1] for one in alike]
            rest = f"; others than in {first} too: {', '.join(systems[1:])}"
            both, text = (first, *systems), alike[0].text + rest
            alike = [alike[0]._replace(systems=both, text=text)]
        for one in alike:
            yield one._replace(text=head + one.text, names=names)


def _users(results: Results, *mean: str) -> list[Difference | None]:
    """Return how the users of each other system differ from those of the first, as far as known.

    They are those of all means of hits, or of one mean of the lists.
    """
    counted, known = dict[str, Bools](), dict[str, Sequence[Any]]()
    for system, result in results.items():
        try:
            counted[system], more = result.in_means_of_all(mean)
        except ValueError:  # without hits, only their number is known
            continue
        known[system] = [*result.users, *more] if more else result.users
    first, *others = results

    def less_first(name: str) -> Difference | None:
        both = first, name
        some = {system: results[system] for system in both}
        if not {*both} <= {*known}:
            n, m = (one.n_of(*mean) if mean else one.n_evaluated for one in some.values())
            text = f"{first} over {n:,}, {name} over {m:,}"
            return None if n == m else Difference("users", both, text)
        rows, keys, _ = common_rows({s: known[s] for s in both}, {s: counted[s] for s in both})
        n, m = (int(np.count_nonzero(counted[system])) for system in both)
        parts = [f"without {n - len(keys):,} of the {n:,} of {first}"] * (n > len(keys))
        parts += [f"with {m - len(keys):,} that are not in {first}"] * (m > len(keys))
        if parts:
            return Difference("users", both, f"{name} is over {m:,}, {' and '.join(parts)}")
        changed = "" if mean else _other_truths(some, rows[first], rows[name])
        return Difference("truths", both, changed) if changed else None

    return [*map(less_first, others)]


def _other_truths(results: Results, rows: Ints, others: Ints) -> str:
    """Return how the ground truths of the users in these rows of two results differ; "" if not."""
    (first, one), (system, other) = results.items()
    a, b = (result.held("its users are unknown")[0] for result in (one, other))
    changed: Bools = a.n_relevant[rows] != b.n_relevant[others]
    what = "another number of relevant items"
    # of listed items only, R belongs to the list
    if not changed.any() or other.terms.relevant == "listed":
        changed, what = np.zeros(len(rows), bool), "other relevant items or grades"
        for mine, theirs in zip(_truth_hashes(one), _truth_hashes(other), strict=False):
            if mine is not None and theirs is not None:
                changed |= mine[rows] != theirs[others]
    if not changed.any():
        return ""
    kinds = "; or ids are numbers in one and text in the other" * bool(changed.all())
    user = one.users[int(rows[changed][0])]
    return (
        f"{int(changed.sum()):,} of {len(rows):,} users have {what} in {system} than in {first}, "
        f"user {user!r} first{kinds}"
    )


def _truth_hashes(result: TopKResult) -> Iterator[NDArray[np.uint64] | None]:
    """Yield the hashes of the ground truths, and of all judged items where a metric reads them."""
    (hits, _), terms = result.held("its users are unknown"), result.terms
    yield hits.about.truth_hashes
    threshold = hits.grading.relevant_from is not None and not terms.threshold_in_gains
    if any(one.counts_others or (one.graded and threshold) for one in terms.metrics.values()):
        yield hits.about.of_judged
