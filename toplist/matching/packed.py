"""`Hits` as plain arrays and back: what contradicts itself, or kernels would trip on, is refused.

Their users are no part of it.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.checks import Ints, whole
from toplist.inputs.flatten import Scored
from toplist.inputs.grades import Grading
from toplist.inputs.lists import offsets_of
from toplist.matching.coverage import Coverage
from toplist.matching.fingerprints import from_plain
from toplist.matching.hits import Hits

Arrays = dict[str, NDArray[Any]]

# How many hits and relevant items there may be in all: sums of them do not overflow.
MOST = 2.0**62
_SIZES = ("n_hits", "ranks", "n_relevant", "n_listed")
_GAINS = ("gains", "ideal_gains")
_GROUPS = ("items", "sizes", "groups", "n_groups", "order")


def pack(hits: Hits, prefix: str = "hits") -> tuple[dict[str, Any], Arrays]:
    """Return what JSON can hold of hits, and their arrays by name.

    Where unjudged items left the lists, these are the hits of before: the others follow.
    """
    given = hits.given
    columns = {"n_hits": np.diff(given.offsets)}
    columns |= {name: getattr(given, name) for name in (*_SIZES[1:], *_GAINS, "truth_hashes")}
    if given.coverage is not None:
        columns |= vars(given.coverage)
    arrays = {f"{prefix}.{name}": one for name, one in columns.items() if one is not None}
    plain: dict[str, Any] = {
        "k": int(given.k),
        "closed_up_to": None if hits.before is None else int(hits.k),
        "grading": asdict(given.grading),
        "n_extra": int(given.n_extra),
        "fingerprints": [asdict(one) for one in given.fingerprints],
        "judged": None,
        **{name: getattr(given, name) for name in ("examples", "cause", "scored")},
    }
    if given.judged is not None:
        plain["judged"], more = pack(given.judged, f"{prefix}.judged")
        arrays |= more
    return plain, arrays


def unpack(plain: Any, arrays: Arrays, prefix: str = "hits") -> Hits:
    """Return the hits that `pack` packed, and take their arrays out of `arrays`.

    Raises
    ------
    ValueError, TypeError, KeyError, IndexError
        For arrays that are missing, of another type, or contradict each other.
    """

    def has(name: str) -> bool:
        return f"{prefix}.{name}" in arrays

    def column(name: str, kinds: str = "iu", dtype: Any = np.int64) -> Any:
        return take(arrays, f"{prefix}.{name}", kinds, dtype)

    n_hits, ranks, n_relevant, n_listed = map(column, _SIZES)
    for sizes in (n_hits, n_relevant):
        if sizes.min(initial=0) < 0 or sizes.sum(dtype=float) > MOST:
            raise ValueError("it counts more hits, or relevant items, than can be")
    graded = any(map(has, _GAINS))
    hits = Hits(
        *(offsets_of(n_hits), ranks, n_relevant, n_listed),
        *(column(name, "iuf", np.float64) if graded else None for name in _GAINS),
        k=whole(plain["k"]),
        grading=Grading(**plain["grading"]),
        n_extra=whole(plain["n_extra"]),
        fingerprints=from_plain(plain["fingerprints"]),
        truth_hashes=column("truth_hashes", "u", np.uint64) if has("truth_hashes") else None,
        judged=unpack(plain["judged"], arrays, f"{prefix}.judged") if plain["judged"] else None,
        examples=None if plain["examples"] is None else _pair(*plain["examples"]),
        cause=str(plain["cause"]),
        scored=None if plain["scored"] is None else Scored(*map(whole, plain["scored"])),
        coverage=_coverage(*map(column, _GROUPS)) if has("items") else None,
    )
    _check(hits)
    closed_up_to = plain["closed_up_to"]
    return hits if closed_up_to is None else hits.judged_only(whole(closed_up_to))


def take(arrays: Arrays, name: str, kinds: str = "iu", dtype: Any = np.int64) -> NDArray[Any]:
    """Take an array out of `arrays`, with a type of its own; ValueError for one of other kinds.

    Examples
    --------
    >>> take({"ranks": np.array([1, 2], np.uint8)}, "ranks")
    array([1, 2])
    """
    if name not in arrays:
        raise ValueError(f"there is no array {name}")
    array = arrays.pop(name)
    if array.dtype.kind not in kinds:
        raise ValueError(f"array {name} is of {array.dtype}")
    return array.astype(dtype)


def _pair(listed: Any, relevant: Any) -> tuple[str, str]:
    return str(listed), str(relevant)


def _coverage(items: Ints, sizes: Ints, groups: Ints, n_groups: Ints, order: Ints) -> Coverage:
    for numbers in (items, groups):
        if numbers.min(initial=0) < 0 or numbers.max(initial=0) > np.iinfo(np.int32).max:
            raise ValueError("numbers of groups, or of their items, are out of range")
    return Coverage(items.astype(np.int32), sizes, groups.astype(np.int32), n_groups, order)


def _check(hits: Hits) -> None:
    """Raise ValueError for what `Hits` takes on trust from the join."""
    if hits.truth_hashes is not None and len(hits.truth_hashes) != len(hits):
        raise ValueError(f"{len(hits.truth_hashes):,} hashes for {len(hits):,} ground truths")
    judged, coverage = hits.judged, hits.coverage
    if judged is not None:
        same = np.array_equal(judged.n_listed, hits.n_listed)
        if not same or (judged.n_relevant < hits.n_relevant).any() or not _include(judged, hits):
            raise ValueError("the hits are not among those of all judged items")
    if coverage is not None and not _fits(coverage, hits):
        raise ValueError("the groups are not those of the hits")


def _include(judged: Hits, hits: Hits) -> bool:
    """Return whether all hits are among others of the same lists."""
    keys, among = (np.repeat(np.arange(len(one)), np.diff(one.offsets)) for one in (hits, judged))
    keys, among = keys << 32 | hits.ranks, among << 32 | judged.ranks
    places = np.searchsorted(among, keys)
    return bool((places < len(among)).all() and (among[places] == keys).all())


def _fits(coverage: Coverage, hits: Hits) -> bool:
    """Return whether groups are numbers within the users, and items are those of the users."""
    n_items, n_hits = hits.n_relevant.sum(), np.diff(hits.offsets)
    sizes, n_groups = coverage.sizes, coverage.n_groups
    lengths = len(sizes) == len(coverage.order) == n_items and len(n_groups) == len(hits)
    if not lengths or sizes.min(initial=0) < 0 or sizes.sum(dtype=float) != len(coverage.groups):
        return False
    # how many groups the items of each user name, at most
    named = np.diff(offsets_of(sizes)[offsets_of(hits.n_relevant)])
    fits = len(coverage.items) == len(hits.ranks) and (n_groups >= 0).all()
    fits = fits and (n_groups <= named).all()
    fits = fits and (coverage.items < np.repeat(hits.n_relevant, n_hits)).all()
    return bool(fits and (coverage.groups < np.repeat(n_groups, named)).all())
