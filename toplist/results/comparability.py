"""What makes results of several systems not comparable: other users, rules, lengths of lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from toplist.averages import describe
from toplist.averages.means import Means

Results = Mapping[str, Means]

LENGTHS = "LISTS OF DIFFERENT LENGTH"


def differences(results: Results, alike: Sequence[Sequence[str]] = ()) -> list[str]:
    """Return what makes the numbers of some results not comparable, in a line each.

    `alike` are the names of the results that should be over the same users and ground truths;
    default: all of them.
    """
    whole = alike or [list(results)]
    pairs = [(some[0], other) for some in whole for other in some[1:]]
    lines = [
        _different("CONVENTIONS", results, describe.rules),
        _different("AVERAGES", results, describe.averaging),
        _different("POLICIES", results, describe.treatment),
        _different("CANDIDATES", results, lambda r: " ".join(describe.sampling(r)) or "all items"),
        _different("METRICS OR K", results, _metrics),
        *_formulas(results),
        *_lengths(results),
        *(_users(results, *pair) for pair in pairs),
    ]
    return [line for line in lines if line]


def _different(what: str, results: Results, describing: Callable[[Means], str]) -> str:
    """Return which systems have which description; nothing if all have the same."""
    systems: dict[str, list[str]] = {}
    for name, result in results.items():
        systems.setdefault(describing(result), []).append(name)
    if len(systems) == 1:
        return ""
    parts = (f"{', '.join(names)}: {text}" for text, names in systems.items())
    return f"DIFFERENT {what}: {'; '.join(parts)}"


def _metrics(result: Means) -> str:
    """Return the metrics and their k's; metrics with the same k's are together."""
    names: dict[str, list[str]] = {}
    for name, ks in result.terms.ks_of.items():
        names.setdefault("@".join(["", *map(str, ks)]), []).append(name)
    return ", ".join(f"{' '.join(some)} {ks}" for ks, some in names.items())


def _formulas(results: Results) -> list[str]:
    """Return the names that have several formulas, in a line."""
    found: dict[str, Any] = {}
    differ = {
        name: None
        for result in results.values()
        for name, metric in result.terms.metrics.items()
        if found.setdefault(name, metric.formula) != metric.formula
    }
    return [f"DIFFERENT FORMULAS: of {', '.join(differ)}"] if differ else []


def _longest(results: Results) -> dict[str, int]:
    """Return the length of the longest list of every system whose lists are known."""
    return {
        name: int(result.hits.n_listed.max(initial=0))
        for name, result in results.items()
        if result.hits is not None
    }


def unequal_ks(results: Results) -> list[int]:
    """Return the k's that all lists of some system do not reach, and lists of another do."""
    longest = _longest(results).values()
    ks = {k for result in results.values() for k in result.ks}
    if not longest or min(longest) == max(longest):
        return []
    return sorted(k for k in ks if min(longest) < k <= max(longest))


def _lengths(results: Results) -> list[str]:
    """Return which systems have lists that end before a k, in a line."""
    ks, longest = unequal_ks(results), _longest(results)
    if not ks:
        return []
    depth = {name: results[name].hits.k for name in longest}  # type: ignore[union-attr]
    parts = (
        f"{name} at {'least' if n == depth[name] else 'most'} {n:,}" for name, n in longest.items()
    )
    return [
        f"{LENGTHS}: {', '.join(parts)}: at k = {', '.join(map(str, ks))} the places below the end "
        "of a list are misses: no system is marked as the best there, and a test compares lengths"
    ]


def _same_users(one: Means, other: Means) -> bool:
    """Return whether two results count the same users in the same order: the usual case, fast."""
    if one.hits is None or other.hits is None:
        return False
    arrays = ((one.counted, other.counted), (one.hits.n_relevant, other.hits.n_relevant))
    same = all(np.array_equal(mine, theirs) for mine, theirs in arrays)  # type: ignore[arg-type]
    return same and list(one.users) == list(other.users)


def _users(results: Results, first: str, name: str) -> str:
    """Return how the users of two results differ, as far as they are known."""
    one, other = results[first], results[name]
    if _same_users(one, other) and not _other_truths(one, other):
        return ""
    mine, theirs = _counted(one), _counted(other)
    if mine is None or theirs is None:  # without hits, only their number is known
        if one.n_evaluated == other.n_evaluated:
            return ""
        return (
            f"DIFFERENT USERS: {first} over {one.n_evaluated:,}, {name} over {other.n_evaluated:,}"
        )
    if mine == theirs:
        if one.terms.relevant == "listed" or not _other_truths(one, other):
            return ""
        return (
            f"DIFFERENT GROUND TRUTHS: as many relevant items, but others, or other grades, in "
            f"{name} than in {first}"
        )
    less, more = len(mine.keys() - theirs.keys()), len(theirs.keys() - mine.keys())
    if less or more:
        parts = [f"without {less:,} of the {len(mine):,} of {first}"] if less else []
        parts += [f"with {more:,} that are not in {first}"] if more else []
        return f"DIFFERENT USERS: {name} is over {len(theirs):,}, {' and '.join(parts)}"
    changed = sum(theirs[user] != n_relevant for user, n_relevant in mine.items())
    return (
        f"DIFFERENT GROUND TRUTHS: {changed:,} of {len(mine):,} users have another number of "
        f"relevant items in {name} than in {first}"
    )


def _other_truths(one: Means, other: Means) -> bool:
    """Return whether the ground truths of the same users are known to be others."""
    return len({truths_of(one), truths_of(other)} - {None}) > 1


def truths_of(result: Means) -> int | None:
    """Return the sum of the hashes of all ground truths; None where it is unknown."""
    hits = result.hits
    prints = result.fingerprints or (() if hits is None else hits.fingerprints)
    return sum(one.total for one in prints) % 2**64 if prints else None


def _counted(result: Means) -> dict[Any, int | None] | None:
    """Return the users in the means with their numbers of relevant items; None if unknown."""
    if result.hits is None or result.counted is None:
        return None
    rows = np.flatnonzero(result.counted).tolist()
    users, n_relevant = result.users, result.hits.n_relevant.tolist()
    if result.terms.relevant == "listed":  # then R belongs to the list
        return dict.fromkeys(users[row] for row in rows)
    return {users[row]: n_relevant[row] for row in rows}
