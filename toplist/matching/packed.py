"""`Hits` as plain arrays and back: what contradicts itself, or kernels would trip on, is refused.

Their users are no part of it.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.checks import whole
from toplist.inputs.flatten import Scored
from toplist.inputs.grades import Grading
from toplist.inputs.lists import offsets_of
from toplist.matching.coverage import Coverage
from toplist.matching.fingerprints import from_plain
from toplist.matching.hit_arrays import check
from toplist.matching.hits import Hits, trusted

Arrays = dict[str, NDArray[Any]]

# How many hits and relevant items there may be in all: sums of them do not overflow.
MOST = 2.0**62
_SIZES = ("n_hits", "n_relevant", "n_listed")
_GAINS = ("gains", "ideal_gains")
_GROUPS = {
    **{"items": np.int32, "sizes": np.int64, "groups": np.int32},
    **{"n_groups": np.int64, "order": np.int64},
}


def pack(hits: Hits, prefix: str = "hits") -> tuple[dict[str, Any], Arrays]:
    """Return what JSON can hold of hits, and their arrays by name.

    Where unjudged items left the lists, these are the hits of before: the others follow.
    """
    given = hits.given
    columns = {"n_hits": np.diff(given.offsets)}
    names = (*_SIZES[1:], "ranks", *_GAINS, "truth_hashes", "n_judged")
    columns |= {name: getattr(given, name) for name in names}
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
        "no_miss": given.no_miss,
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

    n_hits, n_relevant, n_listed = map(column, _SIZES)
    for sizes in (n_hits, n_relevant):
        if sizes.min(initial=0) < 0 or sizes.sum(dtype=float) > MOST:
            raise ValueError("it counts more hits, or relevant items, than can be")
    graded, examples = any(map(has, _GAINS)), plain["examples"]
    hits = trusted(
        offsets=offsets_of(n_hits),
        ranks=column("ranks", dtype=np.int32),
        n_relevant=n_relevant,
        n_listed=n_listed,
        **{name: column(name, "iuf", np.float64) if graded else None for name in _GAINS},
        k=whole(plain["k"]),
        grading=Grading(**plain["grading"]),
        n_extra=whole(plain["n_extra"]),
        fingerprints=from_plain(plain["fingerprints"]),
        truth_hashes=column("truth_hashes", "u", np.uint64) if has("truth_hashes") else None,
        judged=unpack(plain["judged"], arrays, f"{prefix}.judged") if plain["judged"] else None,
        no_miss=bool(plain.get("no_miss")),  # files of before 0.4 do not say it
        n_judged=column("n_judged") if has("n_judged") else None,
        examples=None if examples is None else (str(examples[0]), str(examples[1])),
        cause=str(plain["cause"]),
        scored=None if plain["scored"] is None else Scored(*map(whole, plain["scored"])),
        coverage=Coverage(*(column(name, dtype=kind) for name, kind in _GROUPS.items()))
        if has("items")
        else None,
    )
    check(hits)
    _check(hits)
    closed_up_to = plain["closed_up_to"]
    return hits if closed_up_to is None else hits.judged_only(whole(closed_up_to))


def take(arrays: Arrays, name: str, kinds: str = "iu", dtype: Any = np.int64) -> NDArray[Any]:
    """Take an array out of `arrays`, as one of a type; ValueError if this cannot hold it.

    Examples
    --------
    >>> take({"ranks": np.array([1, 2], np.uint8)}, "ranks")
    array([1, 2])
    """
    if name not in arrays:
        raise ValueError(f"there is no array {name}")
    array = arrays.pop(name)
    with np.errstate(invalid="ignore", over="ignore"):  # the numbers are compared
        found = array.astype(dtype)
    if array.dtype.kind not in kinds or not np.array_equal(found, array):
        raise ValueError(f"array {name} is of {array.dtype}, or has numbers that cannot be")
    return found


def _check(hits: Hits) -> None:
    """Raise ValueError for what `Hits` takes on trust from the join."""
    if hits.truth_hashes is not None and len(hits.truth_hashes) != len(hits):
        raise ValueError(f"{len(hits.truth_hashes):,} hashes for {len(hits):,} ground truths")
    judged, coverage, n_judged = hits.judged, hits.coverage, hits.n_judged
    listed = hits.n_relevant if judged is None else judged.n_relevant
    if n_judged is not None and (len(n_judged) != len(hits) or (n_judged < listed).any()):
        raise ValueError("fewer items were judged than are relevant")
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
    numbers = n_groups, coverage.items, coverage.groups
    if sizes.min(initial=1) < 1 or any(one.min(initial=0) < 0 for one in numbers):
        return False
    lengths = len(sizes) == len(coverage.order) == n_items and len(n_groups) == len(hits)
    if not lengths or sizes.sum(dtype=float) != len(coverage.groups):
        return False
    # how many groups the items of each user name, at most
    named = np.diff(offsets_of(sizes)[offsets_of(hits.n_relevant)])
    fits = len(coverage.items) == len(hits.ranks) and (n_groups <= named).all()
    fits = fits and (coverage.items < np.repeat(hits.n_relevant, n_hits)).all()
    return bool(fits and (coverage.groups < np.repeat(n_groups, named)).all())
