"""Whether results may be put side by side: what differs between them beside the lists."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from toplist.averages.describe import asked, averaging, rules, sampling
from toplist.averages.means import Means
from toplist.metrics.conventions import policies

Results = Mapping[str, Means]


def differences(results: Results) -> list[str]:
    """Say in a line each what makes the numbers of some results not comparable."""
    (first, one), *others = results.items()
    lines = [
        _split("CONVENTIONS", results, rules),
        _split("AVERAGES", results, averaging),
        _split("POLICIES", results, lambda r: policies(r.terms.empty, r.terms.missing)),
        _split("CANDIDATES", results, lambda r: " ".join(sampling(r)) or "all items"),
        _split("METRICS OR K", results, _shown),
        *_formulas(results),
        *(_users(first, one, name, other) for name, other in others if not _same_users(one, other)),
    ]
    return [line for line in lines if line]


def _split(what: str, results: Results, word: Callable[[Means], str]) -> str:
    """Say who goes by which word, if they do not all go by one."""
    who: dict[str, list[str]] = {}
    for name, result in results.items():
        who.setdefault(word(result), []).append(name)
    if len(who) == 1:
        return ""
    return f"DIFFERENT {what}: " + "; ".join(f"{', '.join(by)}: {told}" for told, by in who.items())


def _shown(result: Means) -> str:
    """Return the metrics and their k's in few words: metrics of the same k's together."""
    names: dict[str, list[str]] = {}
    for name, ks in asked(result).items():
        names.setdefault("@".join(["", *map(str, ks)]), []).append(name)
    return ", ".join(f"{' '.join(some)} {ks}" for ks, some in names.items())


def _formulas(results: Results) -> list[str]:
    """Name the metrics that are one name for several formulas."""
    found: dict[str, Any] = {}
    differ = {
        name: None
        for result in results.values()
        for name, metric in result.terms.metrics.items()
        if found.setdefault(name, metric) != metric
    }
    return [f"DIFFERENT FORMULAS: of {', '.join(differ)}"] if differ else []


def _same_users(one: Means, other: Means) -> bool:
    """Whether two results count the same users in the same order: the usual case, and quick."""
    if one.hits is None or other.hits is None:
        return False
    arrays = ((one.counted, other.counted), (one.hits.n_relevant, other.hits.n_relevant))
    same = all(np.array_equal(mine, theirs) for mine, theirs in arrays)  # type: ignore[arg-type]
    return same and list(one.users) == list(other.users)


def _users(first: str, one: Means, name: str, other: Means) -> str:
    """Say how the users of two results differ, as far as they are known."""
    mine, theirs = _counted(one), _counted(other)
    if mine is None or theirs is None:  # results without hits know their number alone
        if one.n_evaluated == other.n_evaluated:
            return ""
        return (
            f"DIFFERENT USERS: {first} over {one.n_evaluated:,}, {name} over {other.n_evaluated:,}"
        )
    if mine == theirs:
        return ""
    less, more = len(mine.keys() - theirs.keys()), len(theirs.keys() - mine.keys())
    if less or more:
        apart = [f"without {less:,} of the {len(mine):,} of {first}"] if less else []
        apart += [f"with {more:,} that {first} has not"] if more else []
        return f"DIFFERENT USERS: {name} is over {len(theirs):,}, {' and '.join(apart)}"
    changed = sum(theirs[user] != n_relevant for user, n_relevant in mine.items())
    return (
        f"DIFFERENT GROUND TRUTHS: {changed:,} of {len(mine):,} users have another number of "
        f"relevant items in {name} than in {first}"
    )


def _counted(result: Means) -> dict[Any, int] | None:
    """Return the users in the means with their numbers of relevant items; None if unknown."""
    if result.hits is None or result.counted is None:
        return None
    rows = np.flatnonzero(result.counted).tolist()
    users, n_relevant = result.users, result.hits.n_relevant.tolist()
    return {users[row]: n_relevant[row] for row in rows}
