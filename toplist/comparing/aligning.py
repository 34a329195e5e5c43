"""Several results side by side: what makes them not comparable, and their users matched.

Tests of differences need the values of each user of several systems. Users are matched by key, and
put in the order of the hashes of their keys, so that no figure depends on the order in which they
came. Users by position are those of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from toplist.checks import Bools, Floats, Ints, choice
from toplist.inputs import items
from toplist.inputs.id_hashes import hashes_of
from toplist.matching.about import About
from toplist.matching.hits import Hits
from toplist.results import describe
from toplist.results.means import Means, has_keys, hits_of, in_means_of_all

M = TypeVar("M", bound=Means)

Results = Mapping[str, Means]
CountedBySystem = Mapping[str, Bools]  # whom each system counts

# Which users are tested: those of all systems, which must be the same; or those that all count.
SameUsers = Literal["same", "common"]
USERS: tuple[SameUsers, ...] = get_args(SameUsers)
# Where results without users may be tested: they know the moments of their differences.
TOGETHER = "evaluate all systems in one toplist.top_k_eval(..., system=...)"


@dataclass(frozen=True, eq=False)
class Aligned:
    """Several results over the same users.

    ``rows[system]`` are the rows of the users in this result; `users` are their keys, None where
    they are known by position. `n_left_out` users are counted by some of the systems only. Below
    the rows of a result are its lists without a ground truth, for metrics of all lists.
    """

    results: Results
    rows: Mapping[str, Ints]
    users: Sequence[Any] | None
    n_left_out: int = 0

    @property
    def n(self) -> int:
        """The number of users."""
        return len(next(iter(self.rows.values())))

    def values(self, system: str, name: str) -> Floats:
        """Return the values of a system, (n,) for ``"name@k"`` and (n, K) for ``"name"``."""
        values, _ = self.results[system].values_of_all(name)
        return np.ascontiguousarray(values[self.rows[system]])

    @property
    def has_others(self) -> bool:
        """Whether some have a list and no ground truth, in one result at least."""
        return any((rows >= self.results[s].n_users).any() for s, rows in self.rows.items())

    @property
    def weights(self) -> Floats | None:
        """The weights of the users; None without any."""
        first = next(iter(self.results))
        given = self.results[first].weights
        return None if given is None else given[self.rows[first]]

    @property
    def clusters(self) -> list[Any] | None:
        """The clusters of the users, the same in all results; None without any."""
        given = {system: result.clusters for system, result in self.results.items()}
        without = [system for system, labels in given.items() if labels is None]
        if len(without) == len(given):
            return None
        if without:
            other = next(system for system in given if system not in without)
            raise ValueError(
                f"{other} has clusters and {without[0]} has none: evaluate both with clusters=, or "
                "give them to test()"
            )
        if self.has_others:
            raise ValueError(
                "lists without a ground truth are in these means, and have no cluster: give those "
                "of all users to test(), as a dict user -> label"
            )
        found = {
            system: [labels[row] for row in self.rows[system].tolist()]  # type: ignore[index]
            for system, labels in given.items()
        }
        first, *others = found
        for other in others:
            if found[other] != found[first]:
                pairs = zip(found[first], found[other], strict=True)
                at, (a, b) = next((i, pair) for i, pair in enumerate(pairs) if pair[0] != pair[1])
                row = int(self.rows[first][at]) if self.users is None else self.users[at]
                raise ValueError(
                    f"{first} and {other} have other clusters of the same rows: of row {row!r}, "
                    f"{a!r} and {b!r}"
                )
        return found[first]


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
    ValueError
        If a result holds no hits, if the users are others or unknown, if a user has other relevant
        items or another weight in one result than in another.
    """
    choice("users", users, USERS)
    for system, result in results.items():
        hits_of(result, f"the users of {system} are unknown", f"{TOGETHER} with paired=True")
    keyed = {system: has_keys(result) for system, result in results.items()}
    if len(set(keyed.values())) > 1:
        one, other = (next(s for s in keyed if keyed[s] is kind) for kind in (True, False))
        raise ValueError(
            f"the users of {one} have keys, those of {other} are known by position: name them by "
            "users= where the lists are evaluated"
        )
    counted, keys = dict[str, Bools](), dict[str, Sequence[Any]]()
    for system, result in results.items():
        counted[system], others = in_means_of_all(result, metrics)
        keys[system] = [*result.users, *others] if others else result.users
    if all(keyed.values()):
        found = _by_key(results, counted, keys, users)
    else:
        found = _by_position(results, counted, users)
    if not found.n:
        nobody = [system for system, one in results.items() if not one.n_evaluated]
        what = f"no user of {nobody[0]} is in the means" if nobody else "no user is in all of them"
        raise ValueError(f"nobody to test: {what} ({', '.join(found.results)})")
    for first, *others in alike or [list(results)]:
        for other in others:
            _check(found, first, other)
    return found


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
        clusters = [
            *clusters,
            *(at if one.clusters is None else one.clusters[at] for one, at in sources),
        ]
    counts = np.full(n, result.terms.missing != "skip")
    depth = int(result.histograms.cuts[-1])
    whole = type(result).of(
        *(result.terms, of_all, np.append(counted, counts), weights), clusters=clusters, depth=depth
    )
    kept = "n_extra", "lists", "unmatched", "scored", "exposed"
    return replace(whole, **{name: getattr(result, name) for name in kept})


def _by_position(results: Results, counted: CountedBySystem, users: str) -> Aligned:
    """Return the rows that all results count, in their order."""
    first, *_ = results
    n = {system: result.n_users for system, result in results.items()}
    for system, n_users in n.items():
        if n_users != n[first]:
            raise ValueError(
                f"{first} has {n[first]:,} users and {system} {n_users:,}, by position: without "
                "keys, users= where they are evaluated, they cannot be matched"
            )
    every = np.array(list(counted.values()), bool)
    rows = np.flatnonzero(every.all(axis=0))
    n_left_out = int(every.any(axis=0).sum()) - len(rows)
    if users == "same" and n_left_out:
        raise other_users(results, n_left_out)
    return Aligned(results, dict.fromkeys(results, rows), None, n_left_out)


def _by_key(
    results: Results, counted: CountedBySystem, known: Mapping[str, Sequence[Any]], users: str
) -> Aligned:
    """Return the rows of the users that all results count, in the order of their words.

    `known` are the keys of the rows.
    """
    first, *others = results
    rows = {first: np.flatnonzero(counted[first])}
    keys = [known[first][row] for row in rows[first].tolist()]
    n_all = len(keys)
    one = known[first], counted[first]
    if all(_same_rows(*one, known[other], counted[other]) for other in others):
        rows |= dict.fromkeys(others, rows[first])
        kept = np.arange(len(keys))
    else:
        places = {}
        for system in others:
            theirs = known[system]
            places[system] = {theirs[row]: row for row in np.flatnonzero(counted[system]).tolist()}
        kept = np.array([i for i, key in enumerate(keys) if all(key in p for p in places.values())])
        kept = kept.astype(np.int64)
        n_all = len(set(keys).union(*places.values()))
        rows[first] = rows[first][kept]
        keys = [keys[i] for i in kept.tolist()]
        rows |= {
            system: np.array([p[key] for key in keys], np.int64) for system, p in places.items()
        }
    kinds = {type(result.users[0]): s for s, result in results.items() if len(result.users)}
    if len(kinds) == 2 and not len(kept) and str in kinds:
        shown = " and ".join(f"{s} has {results[s].users[0]!r}" for s in kinds.values())
        raise ValueError(
            f"users are text in one result and numbers in another, which are never equal: {shown}; "
            "evaluate both from files, or both from memory"
        )
    if users == "same" and n_all > len(kept):
        raise other_users(results, n_all - len(kept))
    words = hashes_of(keys)
    order = np.argsort(words, kind="stable")
    if np.any(np.diff(words[order]) == 0):  # two keys of one word
        order = np.array(sorted(range(len(keys)), key=lambda i: (int(words[i]), repr(keys[i]))))
    sorted_rows = {system: some[order] for system, some in rows.items()}
    return Aligned(results, sorted_rows, [keys[i] for i in order.tolist()], n_all - len(kept))


def other_users(results: Iterable[str], n: int, known: str = "them") -> ValueError:
    """Return the error for systems that count other users; `known` are all that know of them."""
    return ValueError(
        f"{', '.join(results)} count other users: {n:,} are in some of {known} only; "
        "users='common' tests over those that all systems count"
    )


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
        raise ValueError(
            f"{first} and {system} have other ground truths{same}: {int(changed.sum()):,} of "
            f"{found.n:,} users have {what}, user {user!r} first"
            + "; or ids are numbers in one and text in the other"
            * bool(changed.all())
        )
    mine, theirs = one.weights, other.weights
    if mine is None or theirs is None:
        alike = mine is theirs
    else:
        alike = np.array_equal(mine[rows], theirs[others])
    if not alike:
        raise ValueError(f"{first} and {system} have other weights of the same users")


def _same_rows(one: Sequence[Any], counted: Any, other: Sequence[Any], also: Any) -> bool:
    """Return whether the same users, in one order, are counted in both."""
    return np.array_equal(counted, also) and (one is other or list(one) == list(other))


FEW_NAMES = 4
LENGTHS = "LISTS OF DIFFERENT LENGTH"


def differences(results: Results, alike: Sequence[Sequence[str]] = ()) -> list[str]:
    """Return what makes the numbers of some results not comparable, in a line each.

    `alike` are the names of the results that should be over the same users and ground truths;
    default: all of them.
    """

    def metrics_by_ks(result: Means) -> str:
        names: dict[str, list[str]] = {}
        for name, ks in result.terms.ks_of.items():
            names.setdefault("@".join(["", *map(str, ks)]), []).append(name)
        return ", ".join(f"{' '.join(some)} {ks}" for ks, some in names.items())

    lines = [
        _different("CONVENTIONS", results, lambda r: r.terms.rules()),
        _different("AVERAGES", results, describe.averaging),
        _different("PROPENSITIES", results, lambda r: r.terms.propensities or "none"),
        _different("POLICIES", results, describe.treatment),
        _different("CANDIDATES", results, lambda r: " ".join(describe.sampling(r)) or "all items"),
        _different("METRICS OR K", results, metrics_by_ks),
    ]
    found: dict[str, Any] = {}
    several = {
        name: None
        for result in results.values()
        for name, metric in result.terms.metrics.items()
        if found.setdefault(name, metric.formula) != metric.formula
    }
    lines += [f"DIFFERENT FORMULAS: of {', '.join(several)}"] if several else []
    ks = ", ".join(map(str, unequal_ks(results)))
    if ks:
        ends: dict[str, list[str]] = {}
        for name, n in _longest(results).items():
            bound = "least" if n == results[name].hits.k else "most"  # type: ignore[union-attr]
            ends.setdefault(f"at {bound} {n:,}", []).append(name)
        found_ends = ", ".join(f"{few_of(some)} {end}" for end, some in ends.items())
        lines.append(
            f"{LENGTHS}: {found_ends}: at k = {ks} the places below the end of a list are "
            "misses: no system is marked as the best there, and a test compares lengths"
        )
    for first, *others in alike or [list(results)]:
        lines += _other_data({name: results[name] for name in (first, *others)})
        lines += _briefly({other: _users(results, first, other) for other in others}, first)
    return [line for line in lines if line]


def _other_data(results: Results) -> Iterator[str]:
    """Yield a line for each keyword that gave some results other data than others, where known."""
    for keyword in items.ITEMS:
        systems: dict[str, list[str]] = {}
        for name, result in results.items():
            needed = any(keyword in one.needs for one in result.terms.list_metrics.values())
            if needed and result.lists and (digest := result.lists.given.get(keyword)):
                systems.setdefault(digest, []).append(name)
        if len(systems) > 1:
            between = " and " if len(systems) == sum(map(len, systems.values())) else "; "
            yield f"DIFFERENT {keyword}: {between.join(map(few_of, systems.values()))}"


def is_of_data(line: str, needs: Sequence[str] = tuple(items.ITEMS)) -> bool:
    """Return whether a line of `differences` is of the data that one of these keywords gave."""
    return line.startswith(tuple(f"DIFFERENT {keyword}:" for keyword in needs))


def _briefly(lines: Mapping[str, str], first: str) -> list[str]:
    """Return the lines of systems whose users are not those of the first; of many, one line."""
    kinds: dict[str, list[str]] = {}
    for name, line in lines.items():
        kinds.setdefault(line.partition(":")[0], []).append(name)
    found = []
    for names in kinds.values():
        one, *more = names
        if len(more) > 1 and lines[one]:
            rest = f"; others than in {first} too: {', '.join(more)}"
            found.append(lines[one] + rest)
        else:
            found += [lines[name] for name in names]
    return found


def few_of(names: Sequence[str]) -> str:
    """Return names in a line; of many, the first, and how many more there are.

    Examples
    --------
    >>> few_of(["a", "b"]), few_of("abcdefg")
    ('a, b', 'a, b, c, d and 3 more')
    """
    more = len(names) - FEW_NAMES
    return ", ".join(names) if more < 2 else f"{', '.join(names[:FEW_NAMES])} and {more:,} more"


def _different(what: str, results: Results, describing: Callable[[Means], str]) -> str:
    """Return which systems have which description; nothing if all have the same."""
    systems: dict[str, list[str]] = {}
    for name, result in results.items():
        systems.setdefault(describing(result), []).append(name)
    if len(systems) == 1:
        return ""
    parts = (f"{few_of(names)}: {text}" for text, names in systems.items())
    return f"DIFFERENT {what}: {'; '.join(parts)}"


def _longest(results: Results) -> dict[str, int]:
    """Return the length of the longest list of every system whose lists are known."""
    return {
        name: result.hits.deepest for name, result in results.items() if result.hits is not None
    }


def unequal_ks(results: Results) -> list[int]:
    """Return the k's that all lists of some system do not reach, and lists of another do."""
    longest = _longest(results).values()
    ks = {k for result in results.values() for k in result.ks}
    if not longest or min(longest) == max(longest):
        return []
    return sorted(k for k in ks if min(longest) < k <= max(longest))


def _users(results: Results, first: str, name: str) -> str:
    """Return how the users of two results differ, as far as they are known."""
    one, other = results[first], results[name]
    mine, theirs = _rows(one), _rows(other)
    if mine is None or theirs is None:  # without hits, only their number is known
        if one.n_evaluated == other.n_evaluated:
            return ""
        return (
            f"DIFFERENT USERS: {first} over {one.n_evaluated:,}, {name} over {other.n_evaluated:,}"
        )
    if not _same_rows(one.users, one.counted, other.users, other.counted):
        row_of = [
            dict(zip((result.users[row] for row in rows.tolist()), rows.tolist(), strict=True))
            for result, rows in ((one, mine), (other, theirs))
        ]
        less, more = (len(a.keys() - b.keys()) for a, b in (row_of, row_of[::-1]))
        if less or more:
            parts = [f"without {less:,} of the {len(mine):,} of {first}"] if less else []
            parts += [f"with {more:,} that are not in {first}"] if more else []
            return f"DIFFERENT USERS: {name} is over {len(theirs):,}, {' and '.join(parts)}"
        theirs = np.array([row_of[1][user] for user in row_of[0]], np.int64)
    changed, what = _other_truths(one, mine, other, theirs)
    if not changed.any():
        return ""
    return (
        f"DIFFERENT GROUND TRUTHS: {int(changed.sum()):,} of {len(mine):,} users have {what} in "
        f"{name} than in {first}"
    )


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


def _rows(result: Means) -> Ints | None:
    """Return the rows of the users in the means; None if they are unknown."""
    if result.hits is None or result.counted is None:
        return None
    return np.flatnonzero(result.counted)
