"""Ranked lists without a ground truth, as indices of a catalogue: what `toplist.beyond` works on.

The lists enter in every form that `toplist.match` takes for ranks; ids of any kind become the
places 0..n_items-1 of the catalogue, exactly. Behind this door every code is such a place, or
below 0 where the place does not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist import parallel
from toplist.checks import choice, whole
from toplist.inputs.factorize import Numbering
from toplist.inputs.flatten import Flat, name_user
from toplist.inputs.forms import read_ranks
from toplist.inputs.ids import encode
from toplist.inputs.options import DUPLICATES
from toplist.matching.hits import Hits

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class IndexedLists:
    """Lists of many users as indices of `n_items` items; below 0 what does not count.

    User u's are the `lengths[u]` codes from ``offsets[u]`` on, at most `depth`. `users` are the
    keys of keyed inputs; `single` says that one user was given bare.
    """

    codes: Ints
    offsets: Ints
    lengths: Ints
    n_items: int
    depth: int
    users: Sequence[Any] | None
    single: bool

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self.lengths)

    def block(self, lo: int, hi: int) -> tuple[Ints, Ints, Ints]:
        """Return codes, offsets and lengths of the users ``lo..hi``, as kernels take them."""
        offsets = self.offsets[lo : hi + 1]
        codes = self.codes[offsets[0] : offsets[-1]]
        return codes, offsets, self.lengths[lo:hi]


@dataclass(frozen=True)
class Admission:
    """How lists are admitted: which items there are, and what becomes of others and of repeats.

    `name` is the keyword that gave the `ids` of the items (None: those that are listed).
    `unknown` is the code of items that are none of them: -1 where they are left out, `n_items`
    where they have a value of their own; None refuses them, and `way_out` says what else to do.
    """

    ids: Any
    name: str = "catalogue"
    unknown: int | None = None
    way_out: str = "unknown='skip' leaves such places out"
    duplicates: str = "raise"
    padding: Any = None
    columns: Mapping[str, str] | None = None
    n_threads: int | None = None


def admit_listed(ranks: Any, k: int | None, rules: Admission) -> IndexedLists:
    """Recognise ranked lists and write them as indices of a catalogue.

    Raises
    ------
    TypeError
        For forms and ids that are not accepted.
    ValueError
        For an id that is not in the catalogue, an id twice in a list, misplaced padding, a bad k.
    """
    choice("duplicates", rules.duplicates, DUPLICATES)
    k = None if k is None else whole(k, "k")
    if isinstance(ranks, Hits):
        raise TypeError("ranks is a Hits, which holds no ids: give the ranked lists themselves")
    users, flat, single = read_ranks(ranks, k, rules.columns)
    codes, offsets, lengths, n_items = _indices(flat, rules, users)
    depth = int(lengths.max(initial=0)) if k is None else k
    listed = IndexedLists(codes, offsets, lengths, n_items, depth, users, single)
    return _cleaned(listed, flat, rules)


def _indices(
    flat: Flat, rules: Admission, users: Sequence[Any] | None
) -> tuple[Ints, Ints, Ints, int]:
    """Return codes, offsets, lengths and the number of items; codes of no item are out of range."""
    keys = None if users is None else list(users)
    if flat.names is not None:  # the codes of a column: its few names are looked up
        n = len(flat.names)
        names = Flat("ranks", [flat.names], np.array([0, n]), np.array([n]))
        places, _, _, n_items = _indices(names, rules, None)
        return places[flat.ids], flat.offsets, flat.lengths, n_items
    size = 0 if rules.ids is None else len(rules.ids)
    ids = np.empty(0, np.int64) if rules.ids is None else rules.ids
    rows = ids if isinstance(ids, np.ndarray) else [ids]
    known = Flat(rules.name, rows, np.array([0, size]), np.array([size]))
    if rules.padding is not None and size and rules.padding in ids:
        raise ValueError(f"{rules.name} holds the padding id {rules.padding!r}")
    encoded = encode(flat, known, rules.padding, keys, hashing=False)
    ranked, catalogue = encoded.ranked, np.asarray(encoded.truth.items, np.int64)
    if rules.ids is None:
        numbering = Numbering()
        codes = numbering.number(ranked.items)
        return codes, ranked.offsets, encoded.lengths, len(numbering)
    if np.array_equal(catalogue, np.arange(size)):  # the ids are the indices
        return np.asarray(ranked.items, np.int64), ranked.offsets, encoded.lengths, size
    codes = _found(ranked.items, catalogue, rules)
    return codes, ranked.offsets, encoded.lengths, size


def _found(ids: NDArray[Any], catalogue: Ints, rules: Admission) -> Ints:
    """Return the place of each id in the catalogue, -1 where it has none."""
    numbering = Numbering()
    numbering.number(catalogue)
    bounds = [(lo, min(lo + parallel.BLOCK, len(ids))) for lo in range(0, len(ids), parallel.BLOCK)]
    parts = parallel.run(lambda lo, hi: numbering.find(ids[lo:hi]), bounds, rules.n_threads)
    return np.concatenate([np.empty(0, np.int64), *parts])


def _cleaned(listed: IndexedLists, flat: Flat, rules: Admission) -> IndexedLists:
    """Return the lists with -1 where a place does not count; raise for what is refused."""
    bounds = parallel.bounds(listed.offsets)
    found = list(parallel.run(partial(_inspect, listed), bounds, rules.n_threads))
    unknown, repeats = (
        (sum(part[at] for part in found), *_first(found, bounds, at)) for at in (0, 3)
    )
    if unknown[0] and rules.unknown is None:
        n, user, place = unknown
        raise ValueError(
            f"{name_user(listed.users, user)} lists item {_written(flat, user, place)!r} at rank "
            f"{place + 1}, which is not in {rules.name} ({n:,} such places); {rules.way_out}"
        )
    if repeats[0] and rules.duplicates == "raise":
        raise _repeated(listed, flat, repeats[1], repeats[2])
    if not (unknown[0] or repeats[0]):
        return listed
    out = np.empty(len(listed.codes), np.int64)
    for _ in parallel.run(partial(_clean, listed, rules, out), bounds, rules.n_threads):
        pass
    return IndexedLists(
        out,
        listed.offsets,
        listed.lengths,
        listed.n_items,
        listed.depth,
        listed.users,
        listed.single,
    )


def _inspect(listed: IndexedLists, lo: int, hi: int) -> tuple[int, ...]:
    from toplist.kernels import indexing

    last = np.full(listed.n_items, -1, np.int32)
    found: tuple[int, ...] = indexing.inspect(*listed.block(lo, hi), listed.n_items, last)
    return found


def _clean(listed: IndexedLists, rules: Admission, out: Ints, lo: int, hi: int) -> None:
    from toplist.kernels import indexing

    last, part = np.full(listed.n_items, -1, np.int32), slice(*listed.offsets[[lo, hi]])
    code = -1 if rules.unknown is None else rules.unknown
    indexing.clean(*listed.block(lo, hi), listed.n_items, code, last, out[part])


def _first(found: list[tuple[int, ...]], bounds: list[tuple[int, int]], at: int) -> tuple[int, int]:
    """Return user and place of the first of what the blocks found."""
    for part, (lo, _) in zip(found, bounds, strict=True):
        if part[at]:
            return lo + int(part[at + 1]), int(part[at + 2])
    return -1, -1


def _repeated(listed: IndexedLists, flat: Flat, user: int, place: int) -> ValueError:
    start = listed.offsets[user]
    row = listed.codes[start : start + place]
    first = int(np.flatnonzero(row == listed.codes[start + place])[0])
    item = _written(flat, user, place)
    return ValueError(
        f"{name_user(listed.users, user)} has item {item!r} at ranks {first + 1} and {place + 1}: "
        "a ranked list holds an item once; duplicates='first' counts the first place and ignores "
        f"the others (if it fills up the list: padding={item!r})"
    )


def _written(flat: Flat, user: int, place: int) -> Any:
    """Return an id as the caller wrote it."""
    return flat.row(user)[place]
