"""`Hits` as plain arrays and back: what contradicts itself, or kernels would trip on, is refused.

Their users are no part of it.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.checks import choice, whole
from toplist.inputs.flatten import Scored
from toplist.inputs.grades import Grading
from toplist.inputs.lists import offsets_of
from toplist.inputs.options import UNJUDGED
from toplist.matching.about import About, Unmatched
from toplist.matching.coverage import Coverage
from toplist.matching.fingerprints import from_plain
from toplist.matching.hit_arrays import check
from toplist.matching.hits import Hits, trusted

Arrays = dict[str, NDArray[Any]]

# How many hits and relevant items there may be in all: sums of them do not overflow.
MOST = 2.0**62
_SIZES = ("n_hits", "n_truth", "n_listed")
_GRADES = ("grades", "truth_grades")
_HASHES = ("truth_hashes", "judged_hashes")
_GROUPS = {
    **{"items": np.int32, "sizes": np.int64, "groups": np.int32},
    **{"n_groups": np.int64, "order": np.int64},
}


def pack(hits: Hits) -> tuple[dict[str, Any], Arrays]:
    """Return what JSON can hold of hits, and their arrays by name."""
    columns: dict[str, Any] = {"n_hits": np.diff(hits.offsets)}
    columns |= {name: getattr(hits, name) for name in (*_SIZES[1:], "ranks", *_GRADES)}
    columns |= {name: getattr(hits.about, name) for name in _HASHES}
    if hits.coverage is not None:
        columns |= vars(hits.coverage)
    arrays = {f"hits.{name}": one for name, one in columns.items() if one is not None}
    about = hits.about
    plain: dict[str, Any] = {
        "k": int(hits.k),
        "grading": asdict(hits.grading),
        "unjudged": hits.unjudged,
        "listed_only": hits.listed_only,
        "n_extra": int(about.n_extra),
        "fingerprints": [asdict(one) for one in about.fingerprints],
        "unmatched": about.unmatched,
        "scored": about.scored,
    }
    return plain, arrays


def unpack(plain: Any, arrays: Arrays) -> Hits:
    """Return the hits that `pack` packed, and take their arrays out of `arrays`.

    Raises
    ------
    ValueError, TypeError, KeyError, IndexError
        For arrays that are missing, of another type, or contradict each other.
    """

    def has(name: str) -> bool:
        return f"hits.{name}" in arrays

    def column(name: str, kinds: str = "iu", dtype: Any = np.int64) -> Any:
        return take(arrays, f"hits.{name}", kinds, dtype)

    n_hits, n_truth, n_listed = map(column, _SIZES)
    for sizes in (n_hits, n_truth):
        if sizes.min(initial=0) < 0 or sizes.sum(dtype=float) > MOST:
            raise ValueError("it counts more hits, or items of ground truths, than can be")
    choice("unjudged", plain["unjudged"], UNJUDGED)
    graded, unmatched = any(map(has, _GRADES)), plain["unmatched"]
    about = About(
        n_extra=whole(plain["n_extra"]),
        fingerprints=from_plain(plain["fingerprints"]),
        unmatched=None if unmatched is None else Unmatched(*map(str, unmatched)),
        scored=None if plain["scored"] is None else Scored(*map(whole, plain["scored"])),
        **{name: column(name, "u", np.uint64) if has(name) else None for name in _HASHES},
    )
    hits = trusted(
        offsets=offsets_of(n_hits),
        ranks=column("ranks", dtype=np.int32),
        n_truth=n_truth,
        n_listed=n_listed,
        **{name: column(name, "iuf", np.float64) if graded else None for name in _GRADES},
        k=whole(plain["k"]),
        grading=Grading(**plain["grading"]),
        unjudged=plain["unjudged"],
        listed_only=bool(plain["listed_only"]),
        coverage=Coverage(*(column(name, dtype=kind) for name, kind in _GROUPS.items()))
        if has("items")
        else None,
        about=about,
    )
    check(hits)
    _check(hits)
    return hits


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
    for hashes in (getattr(hits.about, name) for name in _HASHES):
        if hashes is not None and len(hashes) != len(hits):
            raise ValueError(f"{len(hashes):,} hashes for {len(hits):,} ground truths")
    if hits.coverage is not None and not _fits(hits.coverage, hits):
        raise ValueError("the groups are not those of the hits")


def _fits(coverage: Coverage, hits: Hits) -> bool:
    """Return whether groups are numbers within the users, and items are those of the users."""
    n_items, n_hits = hits.n_truth.sum(), np.diff(hits.offsets)
    sizes, n_groups = coverage.sizes, coverage.n_groups
    numbers = n_groups, coverage.items, coverage.groups
    if sizes.min(initial=1) < 1 or any(one.min(initial=0) < 0 for one in numbers):
        return False
    lengths = len(sizes) == len(coverage.order) == n_items and len(n_groups) == len(hits)
    if not lengths or sizes.sum(dtype=float) != len(coverage.groups):
        return False
    # how many groups the items of each user name, at most
    named = np.diff(offsets_of(sizes)[offsets_of(hits.n_truth)])
    fits = len(coverage.items) == len(hits.ranks) and (n_groups <= named).all()
    fits = fits and (coverage.items < np.repeat(hits.n_truth, n_hits)).all()
    return bool(fits and (coverage.groups < np.repeat(n_groups, named)).all())
