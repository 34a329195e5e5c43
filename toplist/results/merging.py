"""Results over different users, merged: the parts of one evaluation."""

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from toplist.averages import histograms
from toplist.checks import distinct
from toplist.matching.about import merged_fingerprints
from toplist.matching.hits import Hits
from toplist.results.means import Means
from toplist.results.terms import common

T = TypeVar("T")
R = TypeVar("R", bound=Means)


def merge(parts: Sequence[R], disjoint: bool = False) -> R:
    """Merge results over different users, in one step; see `toplist.merge`."""
    for part in parts:
        if not isinstance(part, Means):
            what = f"merge takes results of top_k_eval, not {type(part).__name__}"
            raise TypeError(f"{what}; beside parts, ground truths keyed by user: a dict, a table")
    if not parts:
        raise ValueError("merge: there is no part: give at least one result")
    parts = in_line(parts)
    terms = common([part.terms for part in parts])
    if not disjoint and not all(part.has_keys for part in parts):
        in_pairs([part.prints for part in parts], merged_fingerprints)

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
        "scored exposed": partial(reduce, operator.add),
        "lists": lambda found: _of_lists(found, parts),
        "clusters": lambda found: [label for part in found for label in part],
        "longest": max,
        "graded": any,
        "notes": lambda found: tuple(dict.fromkeys(note for part in found for note in part)),
        "listed": _together,
    }
    added = {name: joined(name, join) for names, join in how.items() for name in names.split()}
    return type(parts[0])(
        terms,
        histograms.merged([part.histograms for part in parts], terms.of_judged),
        fingerprints=tuple(one for part in parts for one in part.prints),
        **added,
    )


def _of_lists(found: Sequence[Any], parts: Sequence[Means]) -> Any:
    """Return metrics of the lists of all parts, with values of users where all have their hits."""
    if any(part.hits is None for part in parts):
        return reduce(operator.add, found)
    return type(found[0]).merged([(part.lists, part.users) for part in parts])


def _together(words: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """Return the users of all parts, by their words; ValueError for a user who is in two."""
    found = np.concatenate(words)
    if len(distinct(found)) < len(found):
        raise ValueError("cannot merge: a user has lists in two parts: a user counts once")
    return found


def in_line(results: Sequence[R]) -> list[R]:
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
