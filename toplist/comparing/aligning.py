"""Several results side by side: what makes them not comparable, and their users matched.

Tests of differences need the values of each user of several systems. Users are matched by key, and
put in the order of the hashes of their keys, so that no figure depends on the order in which they
came. Users by position are those of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from toplist.checks import Bools, Floats, Ints, choice
from toplist.comparing.values import clusters_by_user, order_of
from toplist.inputs import items
from toplist.inputs.keyed import is_series
from toplist.matching.about import About
from toplist.matching.hits import Hits
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.results import describe
from toplist.results.means import Means, OwnerlessError, has_keys, hits_of, in_means_of_all
from toplist.stats.units import Units, numbered, weights_of

M = TypeVar("M", bound=Means)
T = TypeVar("T")

Results = Mapping[str, Means]

# Which users are tested: those of all systems, which must be the same; or those that all count.
SameUsers = Literal["same", "common"]
USERS: tuple[SameUsers, ...] = get_args(SameUsers)
# Where results without users may be tested: they know the moments of their differences.
TOGETHER = "evaluate all systems in one toplist.top_k_eval(..., system=...)"

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


class NotTestable(ValueError):  # noqa: N818 (an answer, which is printed where a table is asked for)
    """Systems, or one of their metrics, that cannot be tested; `why` says it in a line."""

    @property
    def why(self) -> str:
        """The reason."""
        return str(self.args[0])


def or_why(test: Callable[[], T]) -> tuple[T | None, str]:
    """Return tests, or None and why there are none."""
    try:
        return test(), ""
    except NotTestable as error:
        return None, error.why


class Difference(NamedTuple):
    """What makes the numbers of some systems not comparable.

    `kind` is one of "conventions", "averages", "propensities", "policies", "candidates", "metrics",
    "formulas", "lengths", "data", "users" and "truths", `systems` are the names of the results, and
    `text` says it in a line. Of "data", `keyword` is the one that gave them other data.
    """

    kind: Kind
    systems: tuple[str, ...]
    text: str
    keyword: str = ""

    def __str__(self) -> str:
        """Return the line."""
        return self.text


@dataclass(frozen=True, eq=False)
class Aligned:
    """Several results over the same users.

    ``rows[system]`` are the rows of the users in this result; `users` are their keys, None where
    they are known by position. Below the rows of a result are its lists without a ground truth,
    for metrics of all lists.
    """

    results: Results
    rows: Mapping[str, Ints]
    users: Sequence[Any] | None

    @property
    def n(self) -> int:
        """The number of users."""
        return len(next(iter(self.rows.values())))

    def values(self, system: str, name: str) -> Floats:
        """Return the values of a system, (n,) for ``"name@k"`` and (n, K) for ``"name"``.

        Raises
        ------
        NotTestable
            If a user has no value at k.
        """
        values, _ = self.results[system].values_of_all(name)
        found = np.ascontiguousarray(values[self.rows[system]])
        if found.ndim == 1 and np.isnan(found).any():
            lacking = np.flatnonzero(np.isnan(found))
            row = int(lacking[0])
            user = row if self.users is None else self.users[row]
            raise NotTestable(
                f"{system} has no {name} for {len(lacking):,} of {self.n:,} users, {user!r} first "
                "(without a list): test another metric, or evaluate the users who have lists"
            )
        return found

    def units(self, clusters: Any = None) -> Units:
        """Return the weights of the users, and their clusters: those given, or of the results."""
        first, w = next(iter(self.results)), None
        given = self.results[first].weights
        if given is not None:
            w = weights_of(given[self.rows[first]], self.n, self.users)
        if clusters is None:
            labels = self.cluster_labels()
            places = None if labels is None else numbered(labels, self.users)
        elif self.users is None:
            of_all = clusters_by_user(clusters, None, self.results[first].n_users)
            places = None if of_all is None else of_all[self.rows[first]]
        elif not isinstance(clusters, Mapping) and not is_series(clusters):
            raise TypeError("the users have keys: give clusters as a dict or Series user -> label")
        else:
            others = np.flatnonzero(self._without_truth).tolist()
            self._check_labels(all(self.users[row] in clusters for row in others))
            places = clusters_by_user(clusters, self.users, self.n)
        return Units.of(self.n, w, places)

    @property
    def _without_truth(self) -> Bools:
        """Who has a list and no ground truth, in one result at least."""
        found: Bools = np.any(
            [rows >= self.results[s].n_users for s, rows in self.rows.items()], axis=0
        )
        return found

    def _check_labels(self, known: bool) -> None:
        if not known:
            raise NotTestable(
                "lists without a ground truth are in these means, and have no cluster: give those "
                "of all users to test(), as a dict user -> label"
            )

    def cluster_labels(self) -> list[Any] | None:
        """Return the clusters of the users, the same in all results; None without any."""
        given = {system: result.clusters for system, result in self.results.items()}
        without = [system for system, labels in given.items() if labels is None]
        if len(without) == len(given):
            return None
        if without:
            other = next(system for system in given if system not in without)
            raise NotTestable(
                f"{other} has clusters and {without[0]} has none: evaluate both with clusters=, or "
                "give them to test()"
            )
        self._check_labels(not self._without_truth.any())
        (first, mine), *others = (
            (system, [labels[row] for row in self.rows[system].tolist()])
            for system, labels in given.items()
            if labels is not None
        )
        for other, theirs in others:
            at = next((i for i, label in enumerate(mine) if label != theirs[i]), None)
            if at is not None:
                row = int(self.rows[first][at]) if self.users is None else self.users[at]
                raise NotTestable(
                    f"{first} and {other} have other clusters of the same rows: of row {row!r}, "
                    f"{mine[at]!r} and {theirs[at]!r}"
                )
        return mine


def align(
    results: Results,
    users: str = "same",
    alike: Sequence[Sequence[str]] = (),
    metrics: Sequence[str] = (),
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

    Raises
    ------
    NotTestable
        If a result holds no hits, if the users are others or unknown, if a user has other relevant
        items or another weight in one result than in another.
    """
    choice("users", users, USERS)
    so, on_spark = "the users of {} are unknown", f"{TOGETHER} with paired=True"
    for system, result in results.items():
        try:
            hits_of(result, so.format(system), on_spark)
        except ValueError as error:
            raise NotTestable(str(error)) from None
        for name in metrics:
            metric = result.terms.asked.get(name) or result.terms.asked.get(name.rpartition("@")[0])
            if isinstance(metric, ListMetric) and getattr(result.lists, "values", None) is None:
                raise NotTestable(
                    f"{system} is merged, or loaded without its lists, so {name} has no values per "
                    "user: evaluate again"
                )
    keyed = {system: has_keys(result) for system, result in results.items()}
    first, sizes = next(iter(results)), {s: result.n_users for s, result in results.items()}
    if len(set(keyed.values())) > 1:
        one, other = (next(s for s in keyed if keyed[s] is kind) for kind in (True, False))
        raise NotTestable(
            f"the users of {one} have keys, those of {other} are known by position: name them by "
            "users= where the lists are evaluated"
        )
    other = next((system for system, n in sizes.items() if n != sizes[first]), first)
    if not keyed[first] and other != first:
        raise NotTestable(
            f"{first} has {sizes[first]:,} users and {other} {sizes[other]:,}, by position: "
            "without keys, users= where they are evaluated, they cannot be matched"
        )
    counted, known = dict[str, Bools](), dict[str, Sequence[Any]]()
    for system, result in results.items():
        try:
            counted[system], more = in_means_of_all(result, metrics)
        except OwnerlessError as error:
            raise NotTestable(str(error)) from None
        known[system] = [*result.users, *more] if more else result.users
    rows, keys, n_all = _common(known, counted)
    kinds = {type(result.users[0]): s for s, result in results.items() if len(result.users)}
    if len(kinds) == 2 and not keys and str in kinds:
        shown = " and ".join(f"{s} has {results[s].users[0]!r}" for s in kinds.values())
        raise NotTestable(
            f"users are text in one result and numbers in another, which are never equal: {shown}; "
            "evaluate both from files, or both from memory"
        )
    if users == "same" and n_all > len(keys):
        raise other_users(results, n_all - len(keys))
    if not keys:
        nobody = [system for system, one in results.items() if not one.n_evaluated]
        what = f"no user of {nobody[0]} is in the means" if nobody else "no user is in all of them"
        raise NotTestable(f"nobody to test: {what} ({', '.join(results)})")
    aligned = Aligned(results, rows, None)
    if keyed[first]:  # in the order of the words of their keys
        order = order_of(keys)
        in_order = {system: some[order] for system, some in rows.items()}
        aligned = Aligned(results, in_order, [keys[i] for i in order.tolist()])
    for name, *others in alike or [list(results)]:
        for other in others:
            _check(aligned, name, other)
    return aligned


def other_users(results: Iterable[str], n: int, known: str = "them") -> NotTestable:
    """Return the error for systems that count other users; `known` are all that know of them."""
    return NotTestable(
        f"{', '.join(results)} count other users: {n:,} are in some of {known} only; "
        "users='common' tests over those that all systems count"
    )


def _common(
    known: Mapping[str, Sequence[Any]], counted: Mapping[str, Bools]
) -> tuple[dict[str, Ints], list[Any], int]:
    """Return the rows of the users that all systems count, their keys, and how many some count.

    `known` are the keys of the rows, or their positions.
    """
    first, *others = known
    rows = {first: np.flatnonzero(counted[first])}
    keys = [known[first][row] for row in rows[first].tolist()]
    one = known[first], counted[first]
    if all(_same_rows(*one, known[other], counted[other]) for other in others):
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


def _check(found: Aligned, first: str, system: str) -> None:
    """Refuse other ground truths and weights of the same users."""
    one, other = found.results[first], found.results[system]
    rows, others = found.rows[first], found.rows[system]
    both = (rows < one.n_users) & (others < other.n_users)  # of whom both have a ground truth
    rows, others = rows[both], others[both]
    changed, what = _other_truths(one, rows, other, others)
    if changed.any():
        row = int(np.flatnonzero(changed)[0])
        user = int(rows[row])
        user = user if found.users is None else one.users[user]
        same = "" if what == NUMBER else " of the same sizes"
        kinds = "; or ids are numbers in one and text in the other" * bool(changed.all())
        raise NotTestable(
            f"{first} and {system} have other ground truths{same}: {int(changed.sum()):,} of "
            f"{found.n:,} users have {what}, user {user!r} first{kinds}"
        )
    mine, theirs = one.weights, other.weights
    alike = mine is theirs
    if mine is not None and theirs is not None:
        alike = np.array_equal(mine[rows], theirs[others])
    if not alike:
        raise NotTestable(f"{first} and {system} have other weights of the same users")


def _same_rows(one: Sequence[Any], counted: Any, other: Sequence[Any], also: Any) -> bool:
    """Return whether the same users, in one order, are counted in both."""
    return np.array_equal(counted, also) and (one is other or list(one) == list(other))


def united(results: Mapping[str, M]) -> dict[str, M]:
    """Return results under IPS over the users of all, where these are known; others as they are.

    Every user with a list counts, so that two systems count different users. In a system that has
    no list for a user without an observed item, the value is 0, or as its policy for missing lists
    says.
    """
    found = dict(results)
    known = [one.hits is not None and has_keys(one) for one in found.values()]
    if len(found) < 2 or not all(known):
        return found
    if any(one.terms.weighting != "ips" for one in found.values()):
        return found
    every: dict[Any, tuple[M, int]] = {}
    for one in found.values():
        hits, counted = hits_of(one, "")
        for row in np.flatnonzero(counted & (hits.n_relevant == 0)).tolist():
            every.setdefault(one.users[row], (one, row))
    for system, one in found.items():
        rows, counted = {user: row for row, user in enumerate(one.users)}, hits_of(one, "")[1]
        absent = {user: source for user, source in every.items() if user not in rows}
        idle = [rows[user] for user in every if user in rows and not counted[rows[user]]]
        found[system] = _with_users(one, absent, idle) if absent or idle else one
    return found


def _with_users(result: M, absent: Mapping[Any, tuple[Means, int]], idle: list[int]) -> M:
    """Return a result with more users in its means, who have no relevant item and no list.

    `absent` are their rows in another result, whose weights and clusters are theirs: they come
    after the others. `idle` are rows of the result that were in no mean.
    """
    hits, counted = hits_of(result, "")
    counted = counted.copy()
    counted[idle] = result.terms.missing != "skip"
    n, sources = len(absent), list(absent.values())
    hashes = [hits_of(one, "")[0].about.truth_hashes for one, _ in sources]
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


def _metrics_by_ks(result: Means) -> str:
    names: dict[str, list[str]] = {}
    for name, ks in result.terms.ks_of.items():
        names.setdefault("@".join(["", *map(str, ks)]), []).append(name)
    return ", ".join(f"{' '.join(some)} {ks}" for ks, some in names.items())


# What is described in words, which must be the same of all systems.
DESCRIBED: Mapping[Kind, Callable[[Means], str]] = {
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
    formulas: dict[str, Any] = {}
    several = {
        name: None
        for result in results.values()
        for name, metric in result.terms.metrics.items()
        if formulas.setdefault(name, metric.formula) != metric.formula
    }
    if several:
        text = f"DIFFERENT FORMULAS: of {', '.join(several)}"
        found.append(Difference("formulas", everybody, text))
    ks = ", ".join(map(str, unequal_ks(results)))
    if ks:
        ends = _grouped({s: one for s, one in results.items() if one.hits is not None}, _end)
        where = ", ".join(f"{few_of(some)} {end}" for end, some in ends.items())
        text = (
            f"LISTS OF DIFFERENT LENGTH: {where}: at k = {ks} the places below the end of a list "
            "are misses: no system is marked as the best there, and a test compares lengths"
        )
        found.append(Difference("lengths", everybody, text))
    for first, *others in alike or [list(results)]:
        found += _other_data({name: results[name] for name in (first, *others)})
        found += _other_users([_users(results, first, other) for other in others], first)
    return found


def _grouped(results: Results, describing: Callable[[Means], str]) -> dict[str, list[str]]:
    """Return the systems by their description."""
    systems: dict[str, list[str]] = {}
    for name, result in results.items():
        systems.setdefault(describing(result), []).append(name)
    return systems


def _end(result: Means) -> str:
    """Return where the longest list of a result ends."""
    assert result.hits is not None
    n = result.hits.deepest
    return f"at {'least' if n == result.hits.k else 'most'} {n:,}"


def unequal_ks(results: Results) -> list[int]:
    """Return the k's that all lists of some system do not reach, and lists of another do."""
    longest = [result.hits.deepest for result in results.values() if result.hits is not None]
    ks = {k for result in results.values() for k in result.ks}
    if not longest or min(longest) == max(longest):
        return []
    return sorted(k for k in ks if min(longest) < k <= max(longest))


def _other_data(results: Results) -> Iterator[Difference]:
    """Yield each keyword that gave some results other data than others, where known."""
    for keyword in items.ITEMS:
        systems: dict[str, list[str]] = {}
        for name, result in results.items():
            needed = any(keyword in one.needs for one in result.terms.list_metrics.values())
            if needed and result.lists and (digest := result.lists.given.get(keyword)):
                systems.setdefault(digest, []).append(name)
        if len(systems) > 1:
            between = " and " if len(systems) == sum(map(len, systems.values())) else "; "
            text = f"DIFFERENT {keyword}: {between.join(map(few_of, systems.values()))}"
            yield Difference(
                "data", tuple(name for some in systems.values() for name in some), text, keyword
            )


def _other_users(found: Sequence[Difference | None], first: str) -> Iterator[Difference]:
    """Yield how the users of some systems differ from those of the first; of many, one line."""
    for kind in ("users", "truths"):
        alike = [one for one in found if one is not None and one.kind == kind]
        if len(alike) > 2:
            systems = [one.systems[1] for one in alike]
            rest = f"; others than in {first} too: {', '.join(systems[1:])}"
            yield Difference(alike[0].kind, (first, *systems), alike[0].text + rest)
        else:
            yield from alike


def _users(results: Results, first: str, name: str) -> Difference | None:
    """Return how the users of two results differ, as far as they are known."""
    one, other, both = results[first], results[name], (first, name)
    if one.counted is None or other.counted is None:  # without hits, only their number is known
        n, m = one.n_evaluated, other.n_evaluated
        text = f"DIFFERENT USERS: {first} over {n:,}, {name} over {m:,}"
        return None if n == m else Difference("users", both, text)
    counted = {first: one.counted, name: other.counted}
    rows, keys, _ = _common({first: one.users, name: other.users}, counted)
    n, m = (int(np.count_nonzero(some)) for some in counted.values())
    parts = [f"without {n - len(keys):,} of the {n:,} of {first}"] * (n > len(keys))
    parts += [f"with {m - len(keys):,} that are not in {first}"] * (m > len(keys))
    if parts:
        text = f"DIFFERENT USERS: {name} is over {m:,}, {' and '.join(parts)}"
        return Difference("users", both, text)
    changed, what = _other_truths(one, rows[first], other, rows[name])
    text = (
        f"DIFFERENT GROUND TRUTHS: {int(changed.sum()):,} of {n:,} users have {what} in {name} "
        f"than in {first}"
    )
    return Difference("truths", both, text) if changed.any() else None


# How ground truths differ.
NUMBER = "another number of relevant items"
ITEMS = "other relevant items or grades"


def _other_truths(one: Means, rows: Ints, other: Means, others: Ints) -> tuple[Bools, str]:
    """Return whose ground truths are others, of the users in these rows of both, and how."""
    a, b = (hits_of(result, "its users are unknown")[0] for result in (one, other))
    changed: Bools = a.n_relevant[rows] != b.n_relevant[others]
    # of listed items only, R belongs to the list
    if changed.any() and other.terms.relevant != "listed":
        return changed, NUMBER
    changed = np.zeros(len(rows), bool)
    for first, second in zip(_truth_hashes(one), _truth_hashes(other), strict=False):
        if first is not None and second is not None:
            changed |= first[rows] != second[others]
    return changed, ITEMS


def _truth_hashes(result: Means) -> Iterator[NDArray[np.uint64] | None]:
    """Yield the hashes of the ground truths, and of all judged items where a metric reads them."""
    (hits, _), terms = hits_of(result, "its users are unknown"), result.terms
    yield hits.about.truth_hashes
    threshold = hits.grading.relevant_from is not None and not terms.threshold_in_gains
    if any(one.counts_others or (one.graded and threshold) for one in terms.metrics.values()):
        yield hits.about.of_judged
