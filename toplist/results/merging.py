"""Results over different users put together, and without their users."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from toplist.averages import histograms
from toplist.matching.hits import Hits
from toplist.results.means import Means, has_keys
from toplist.results.terms import difference

if TYPE_CHECKING:
    from toplist.matching.fingerprints import Fingerprint

M = TypeVar("M", bound=Means)
T = TypeVar("T")


def merged(parts: Sequence[M], disjoint: bool = False) -> M:
    """Merge results over different users, in one step; see `toplist.merge`."""
    from toplist.matching import fingerprints

    parts = in_line(parts)
    first = parts[0]
    for part in parts:
        if part.terms != first.terms:
            raise ValueError(f"cannot merge: {difference(first.terms, part.terms)}")
    if not disjoint and not all(map(has_keys, parts)):
        in_pairs([fingerprints_of(part) for part in parts], fingerprints.merged)

    def joined(name: str, join: Callable[[list[Any]], Any]) -> Any:
        """Return what all parts have; None where one of them lacks it."""
        found = all_of([getattr(part, name) for part in parts])
        return join(found) if found else None

    hits = joined("hits", lambda found: in_pairs(_mergeable(found, disjoint), operator.add))
    if len({part.clusters is None for part in parts}) > 1:
        raise ValueError("cannot merge: some parts have clusters and others have none")
    how: dict[str, Callable[[list[Any]], Any]] = {
        "n_users n_missing n_extra": sum,
        "counted weights": np.concatenate,
        "lists scored exposed": partial(reduce, operator.add),
        "clusters": lambda found: [label for part in found for label in part],
        "longest": max,
        "graded": any,
        "notes": lambda found: tuple(dict.fromkeys(note for part in found for note in part)),
        "listed": _together,
    }
    added = {name: joined(name, join) for names, join in how.items() for name in names.split()}
    if hits is None:
        added |= {"counted": None, "weights": None}
    return type(first)(
        first.terms,
        histograms.merged([part.histograms for part in parts], first.terms.of_judged),
        hits,
        fingerprints=tuple(one for part in parts for one in fingerprints_of(part)),
        **added,
    )


def _together(words: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """Return the users of all parts, by their words; ValueError for a user who is in two."""
    found = np.concatenate(words)
    if len(np.unique(found)) < len(found):
        raise ValueError("cannot merge: a user has lists in two parts: a user counts once")
    return found


def without_users(result: M) -> M:
    """Return a result without hits and weights; see `TopKResult.without_users`."""
    from toplist.matching.fingerprints import together

    if result.clusters is not None:
        raise ValueError(
            "intervals by clusters follow from the rows, and nothing is left of these: save the "
            "result as it is, and to_dict() and to_pandas() give its figures"
        )
    prints = fingerprints_of(result)
    whole = (together(prints),) if prints else ()
    lists = None if result.lists is None else result.lists.without_users()
    bare = replace(result, hits=None, counted=None, weights=None, lists=lists)
    return replace(bare, fingerprints=whole)


def in_line(results: Sequence[M]) -> list[M]:
    """Return results with one k in the metrics of whole lists, that of the longest of all."""
    k = max((one.terms.longest for one in results), default=0)
    found = []
    for one in results:
        if one.terms.longest:  # of empty lists alone it is 1, where they are read to 0
            hits = None if one.hits is None else one.hits.of_part(k=k)
            one = replace(one, terms=one.terms.with_longest(k), hits=hits)
        found.append(one)
    return found


def all_of(found: Sequence[T | None]) -> list[T] | None:
    """Return the values if no part lacks its own, else None."""
    kept = [one for one in found if one is not None]
    return kept if len(kept) == len(found) else None


def in_pairs(parts: Sequence[T], join: Callable[[T, T], T]) -> T:
    """Join parts in their order, pair by pair: the first is copied log n times and not n times.

    Examples
    --------
    >>> in_pairs(["a", "b", "c"], operator.add)
    'abc'
    """
    while len(parts) > 1:
        pairs = (parts[i : i + 2] for i in range(0, len(parts), 2))
        parts = [join(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return parts[0]


def _mergeable(hits: Sequence[Hits], disjoint: bool) -> Sequence[Hits]:
    """Return hits that merge, of other users without a look at their ground truths."""
    if not disjoint:
        return hits
    return [one.of_part(fingerprints=()) if one.about.fingerprints else one for one in hits]


def fingerprints_of(result: Means) -> tuple[Fingerprint, ...]:
    """Return the fingerprints of a result; a part without truths to hash is a part all the same."""
    from toplist.matching.fingerprints import Fingerprint

    if result.fingerprints or result.hits is None:
        return result.fingerprints
    return result.hits.about.fingerprints or (Fingerprint(0, result.n_users, varied=False),)
