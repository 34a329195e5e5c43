"""Results over different users put together, and without their users."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from toplist.averages import histograms
from toplist.matching.about import Fingerprint, merged_fingerprints, together
from toplist.matching.hits import Hits
from toplist.results.means import Means, has_keys
from toplist.results.terms import difference

M = TypeVar("M", bound=Means)
T = TypeVar("T")


def merge(parts: Sequence[M], disjoint: bool = False) -> M:
    """Merge results over different users, in one step; see `toplist.merge`."""
    for part in parts:
        if not isinstance(part, Means):
            kind = type(part).__name__
            raise TypeError(f"merge takes results of top_k_eval, not {kind}")
    if not parts:
        raise ValueError("merge: there is no part: give at least one result")
    parts = in_line(parts)
    first = parts[0]
    for part in parts:
        if part.terms != first.terms:
            raise ValueError(f"cannot merge: {difference(first.terms, part.terms)}")
    if not disjoint and not all(map(has_keys, parts)):
        in_pairs([fingerprints_of(part) for part in parts], merged_fingerprints)

    def joined(name: str, join: Callable[[list[Any]], Any]) -> Any:
        """Return what all parts have; None where one of them lacks it."""
        found = [getattr(part, name) for part in parts]
        return None if any(one is None for one in found) else join(found)

    if len({part.clusters is None for part in parts}) > 1:
        raise ValueError("cannot merge: some parts have clusters and others have none")
    how: dict[str, Callable[[list[Any]], Any]] = {
        "hits": partial(in_pairs, join=partial(Hits.merged, disjoint=disjoint)),
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
    return type(first)(
        first.terms,
        histograms.merged([part.histograms for part in parts], first.terms.of_judged),
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
    if result.clusters is not None:
        raise ValueError(
            "intervals by clusters follow from the rows, and nothing is left of these: save the "
            "result as it is, and to_dict() and to_pandas() give its figures"
        )
    prints = fingerprints_of(result)
    whole = (together(prints),) if prints else ()
    lists = None if result.lists is None else result.lists.without_users()
    return replace(result, hits=None, counted=None, weights=None, lists=lists, fingerprints=whole)


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


def fingerprints_of(result: Means) -> tuple[Fingerprint, ...]:
    """Return the fingerprints of a result; a part without truths to hash is a part all the same."""
    if result.fingerprints or result.hits is None:
        return result.fingerprints
    return result.hits.about.fingerprints or (Fingerprint(0, result.n_users, varied=False),)
