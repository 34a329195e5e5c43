"""Encode ids of any kind as 64-bit integers that are equal exactly where the ids are.

Integers stay as they are. Strings are hashed, and the hits verified after the join (`hashed`,
`agree`). Everything else (bytes, other hashables, and strings that cannot be hashed so) is numbered
by one dictionary over both sides. Integers that int64 does not hold are refused.

What becomes of encoded lists before they are joined stands here, too: lists again, cut, without
padding or copies (`shaped`).
"""

from __future__ import annotations

import struct
from collections import defaultdict, deque
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain, count, repeat
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist import kernels, parallel
from toplist.checks import Ints, is_missing
from toplist.inputs.factorize import as_held, as_integers
from toplist.inputs.lists import Flat, RankedDict, offsets_of
from toplist.inputs.options import Joining

_NEVER_ID = (
    *(bool, np.bool_, float, np.floating, complex, type(None)),
    *(list, tuple, range, np.ndarray, Set, Mapping, Iterator),
)
_WAY_OUT = "give integers or strings"
# Users whose strings are joined at a time: half a megabyte of text for lists of 100.
CHUNK = 256
# Made once: to make them takes as long as to write the ids of ten users.
_WRITERS = [struct.Struct(f"{n}q").pack_into for n in range(257)]
# The kind of each type of ids seen so far, and an example with its side for messages.
Kinds = Mapping[type, tuple[Any, str]]
NOTHING: Mapping[Any, Any] = {}
NO_LIST = RankedDict({}, *np.empty((2, 0), np.int64))


def encode(ranked: Flat, truth: Flat, hashing: bool) -> tuple[Flat, Flat]:
    """Encode both sides alike as integers.

    With `hashing`, strings are hashed; then the hits have to be verified, by the source of the
    hashes. Lists that are dicts of scores by text stay as they are: the relevant ids are looked up.

    Raises
    ------
    TypeError
        For ids that are floats, bools, None or containers, or of two kinds.
    ValueError
        For integers that int64 does not hold.
    """

    def both(read: Any) -> tuple[Any, Any] | None:
        found = read(ranked), truth.once(read, partial(read, truth))
        return None if found[0] is None or found[1] is None else found

    with naming_missing(ranked, truth):
        if (integers := both(integers_of)) is not None:
            same = truth.once("integers", partial(replace, truth, ids=integers[1]))
            return replace(ranked, ids=integers[0]), same
        if hashing and _are_looked_up(ranked, truth):
            texts = truth.once(hashed, partial(hashed, truth))
            if texts is not None:
                return ranked, texts  # whose ids are looked up
        if hashing and (hashes := both(hashed)) is not None:
            return hashes
        truth, known, kinds = truth.once(_numbered, partial(_numbered, truth))
        return _numbered(ranked, known, kinds)[0], truth


@contextmanager
def naming_missing(*sides: Flat) -> Iterator[None]:
    """Let the error of what is no id be that of an item that is missing, if one is.

    A NaN among integers makes floats of all, of which any would be named else.
    """
    try:
        yield
    except TypeError:
        found = next(filter(None, map(_missing, sides)), None)
        if found is None:
            raise
        raise found from None


def _missing(flat: Flat) -> TypeError | None:
    """Return the error of the first item that is missing; None without one, and beside scores."""
    if flat.side not in ("ranks", "ground_truths"):  # a catalogue has no users
        return None
    for user, row in enumerate(flat.rows):
        for place, item in enumerate(row):
            if is_missing(item):
                where = f"at rank {place + 1}" if flat.side == "ranks" else "among its items"
                error = TypeError(
                    f"{flat.side}: {flat.name_user(user)} has {item!r} {where}: an item is "
                    "missing; leave it out, or write padding as an id and name it"
                )
                found: TypeError = flat.about(error, user)
                return found
            if isinstance(item, (float, np.floating)) and not float(item).is_integer():
                return None
    return None


def alone(flat: Flat) -> Flat:
    """Return one side as integers, or as codes with the distinct ids as names."""
    with naming_missing(flat):
        ids = integers_of(flat)
        return _numbered(flat)[0] if ids is None else replace(flat, ids=ids)


def integers_of(flat: Flat) -> NDArray[Any] | None:
    """Return the ids as one array of signed integers, or None if one of them is no int64.

    In rows, struct refuses floats and strings, which ``np.fromiter(ids, int64)`` turns into
    integers, and takes 1.4 x its time. It does not refuse bools; these are among the 0s and 1s.
    """
    if not isinstance(flat.ids, np.ndarray):
        ids = np.empty(flat.offsets[-1], np.int64)
        try:
            _write(ids, flat.ids)
        except struct.error:
            return None
        doubtful = np.flatnonzero(ids.view(np.uint64) <= 1)
        kinds: Kinds = NOTHING
        users = np.searchsorted(flat.offsets, doubtful, side="right") - 1
        for user in dict.fromkeys(users.tolist()):
            kinds = kinds_seen(flat.ids[user], flat.side, kinds)
        return ids
    kind = flat.ids.dtype.kind
    if kind in "iu":
        return signed(flat.ids, flat.side)
    if flat.ids.size == 0:
        return flat.ids.astype(np.int64)
    if kind in "USTO":
        return None
    if flat.side == "ground_truths" and kind in "bf":
        hint = "a users x items matrix of 0/1 or grades enters by Lists.from_matrix"
    else:
        hint = "scores enter by scores.top_k" if kind == "f" else _WAY_OUT
    raise TypeError(f"{flat.side} is an array of {flat.ids.dtype}, not of ids: {hint}")


def _write(ids: Ints, rows: Iterable[Collection[Any]]) -> None:
    """Write the integers of `rows` into `ids`, one row after another."""
    buffer, place = ids.data.cast("B"), 0
    for row in rows:
        n = len(row)
        write = _WRITERS[n] if n < len(_WRITERS) else struct.Struct(f"{n}q").pack_into
        write(buffer, place, *row)
        place += 8 * n


def _numbered(
    flat: Flat, known: Mapping[Any, int] = NOTHING, kinds: Kinds = NOTHING
) -> tuple[Flat, Mapping[Any, int], Kinds]:
    """Return a side with the number of each id, in order of appearance, all numbers, and kinds.

    Ids of one kind, with those that are `known`, whose `kinds` were seen.
    """
    numbers: dict[Any, int] = defaultdict(count(len(known)).__next__, known)
    offsets = offsets_of(flat.lengths)
    ids = np.empty(offsets[-1], np.int64)

    def rows() -> Iterator[list[int]]:
        nonlocal kinds
        for row in flat.rows:
            kinds = kinds_seen(row, flat.side, kinds)
            yield list(map(numbers.__getitem__, row))

    _write(ids, rows())
    return replace(flat, ids=ids, offsets=offsets, names=list(numbers)), numbers, kinds


def check_width(integers: Collection[int], side: str) -> None:
    """Raise ValueError for an integer that int64 does not hold.

    Examples
    --------
    >>> check_width([5, 2**63], "ranks")
    Traceback (most recent call last):
        ...
    ValueError: ranks: 9223372036854775808 is an id that int64 does not hold: \
give such ids as text, str(id)
    """
    if integers and (min(integers) < -(2**63) or max(integers) >= 2**63):
        wide = next(one for one in integers if not -(2**63) <= one < 2**63)
        words = "is an id that int64 does not hold: give such ids as text, str(id)"
        raise ValueError(f"{side}: {wide} {words}")


def signed(ids: NDArray[Any], side: str) -> NDArray[Any]:
    """Return an array of integers in this machine's byte order, those of uint64 as int64.

    ValueError for one that int64 does not hold; `side` is for messages.

    Examples
    --------
    >>> signed(np.array([7], np.uint64), "ranks").dtype, signed(np.array([7], ">i2"), "ranks").dtype
    (dtype('int64'), dtype('int16'))
    """
    ids = ids.astype(ids.dtype.newbyteorder("="), copy=False)
    if ids.dtype != np.uint64:
        return ids
    check_width(ids[ids >= 2**63].tolist(), side)
    return ids.view(np.int64)


def kinds_of(values: Collection[Any], side: str) -> set[Any]:
    """Return the kinds of ids in `values`, at most one.

    Raises
    ------
    TypeError
        For what is no id, and for a second kind.
    ValueError
        For an integer that int64 does not hold.
    """
    return {kind for kind, _ in kinds_seen(values, side).values()}


def kinds_seen(row: Collection[Any], side: str, kinds: Kinds = NOTHING) -> Kinds:
    """Return the kinds seen so far, with those of a row; errors as those of `kinds_of`.

    New types are looked at by name, so that an error is the same in every run.
    """
    for new in sorted(set(map(type, row)) - kinds.keys(), key=attrgetter("__name__")):
        example = next(item for item in row if type(item) is new)
        kind = _kind(new)
        if kind is None or example != example:
            shown = f"{' '.join(repr(example).split()):.80}"
            raise TypeError(
                f"{side}: {shown} is a {new.__name__}, never an id; {_way_out(example)}"
            )
        found = kind, f"{example!r} in {side}"
        known, other = next(iter(kinds.values()), found)
        if known is not kind:
            way_out = "write all as one kind, for example [str(i) for i in ids]"
            first, second = sorted((other, found[1]), key=lambda one: not one.endswith(" in ranks"))
            raise two_kinds("ids", first, second, way_out)
        kinds = {**kinds, new: found}
    if int in dict(kinds.values()):
        check_width(row, side)
    return kinds


def _way_out(example: Any) -> str:
    if isinstance(example, tuple) and len(example) == 2:
        return "of pairs (item, score), give [item for item, _ in pairs]"
    if isinstance(example, Mapping) and example:
        keys = ", ".join(map(repr, list(example)[:8]))
        return f"give one of its values, [one[KEY] for one in hits], by a key of {keys}"
    if isinstance(example, (float, np.floating)):
        return "scores enter by scores.top_k, whole numbers as int(id)"
    if isinstance(example, (bool, np.bool_)):
        return "a 0/1 matrix enters by Lists.from_matrix"
    if example is None:
        return "leave it out, or write padding as an id and name it"
    return _WAY_OUT


def _kind(type_: type) -> Any:
    """Return what ids of this type are compared as, or None for what is never an id."""
    if issubclass(type_, _NEVER_ID):
        return None
    for kind, types in ((int, (int, np.integer)), (str, (str,)), (bytes, (bytes,))):
        if issubclass(type_, types):
            return kind
    return type_ if issubclass(type_, Hashable) else None


def hashed(flat: Flat) -> Flat | None:
    """Return one side with the hashes of its strings; None if not all are strings without NUL.

    To number them by `toplist.inputs.texts.Texts`, which needs no verification, made an evaluation
    take 1.1 to 2 times as long.
    """
    if isinstance(flat.ids, np.ndarray) and flat.ids.dtype.kind == "S":
        return None
    offsets = offsets_of(flat.lengths)
    hashes = np.empty(offsets[-1], np.int64)
    rows = list(flat.rows)
    for first in range(0, len(rows), CHUNK):
        last = min(first + CHUNK, len(rows))
        n = int(offsets[last] - offsets[first])
        try:
            joined = "\0".join(chain.from_iterable(rows[first:last])) + "\0" if n else ""
        except TypeError:
            return None
        text = np.frombuffer(joined.encode("utf-8", "surrogatepass"), np.uint8)
        ends = np.flatnonzero(text == 0)
        if len(ends) != n:
            return None
        kernels.texts.hash_strings(text, ends, hashes[offsets[first] : offsets[last]])
    return replace(flat, ids=hashes, offsets=offsets, source=replace(flat))


def _are_looked_up(ranked: Flat, truth: Flat) -> bool:
    """Whether lists are dicts of scores whose items are text, beside sets, or dicts of grades.

    Users without a list have ().
    """
    if ranked.is_array or truth.is_array:
        return False
    if RankedDict not in (kinds := set(map(type, ranked.ids))) or not kinds <= {RankedDict, tuple}:
        return False
    if not set(map(type, truth.ids)) <= {dict, set, frozenset}:
        return False
    try:  # that all are text is seen at half the cost of a set of their types
        deque(map("".join, (row.scores for row in ranked.ids if type(row) is RankedDict)), 0)
    except TypeError:
        return False
    return True


def looked_up(
    rows: Sequence[Any], truths: Sequence[Any], lengths: Ints
) -> tuple[NDArray[np.int32], Ints, NDArray[np.int32]]:
    """Return the hits of lists that are dicts of scores, by looking up the relevant items.

    As the join does: the ranks, the number of hits of each user, and which of the relevant items
    each hit is. No list is put in order, but those in which a relevant item shares its score.

    Examples
    --------
    >>> keys = ~as_integers(np.array([0.5, 0.2]))
    >>> rows = [RankedDict({"a": 0.2, "b": 0.5}, np.array([1, 0]), keys), ()]
    >>> truths = {"c": 1, "a": 1}, {"a": 1}
    >>> [found.tolist() for found in looked_up(rows, truths, np.array([2, 0]))]
    [[2], [1, 0], [1]]
    """
    listed = [row if type(row) is RankedDict else NO_LIST for row in rows]
    offsets = offsets_of(np.fromiter(map(len, truths), np.int64, len(truths)))
    of_lists, absent = [row.scores.get for row in listed], repeat(repeat(np.nan))
    found = chain.from_iterable(map(map, of_lists, truths, absent))
    scores = np.fromiter(found, np.float64, int(offsets[-1]))
    keys = [row.keys for row in listed]
    ends = offsets_of(np.fromiter(map(len, keys), np.int64, len(keys)))
    ranks = np.empty(len(scores), np.int64)
    ties = next((row.ties for row in listed if row is not NO_LIST), "order")
    sought = ~as_integers(as_held(scores, ties))
    kernels.hashing.find_in_rows(sought, offsets, np.concatenate(keys), ends, ranks)
    ranks[np.isnan(scores)] = 0
    users = np.repeat(np.arange(len(rows)), np.diff(offsets))
    for user in np.unique(users[ranks < 0]).tolist():
        rank_of = dict(zip(rows[user], count(1), strict=False))
        part = slice(offsets[user], offsets[user + 1])
        ranks[part] = [rank_of.get(item, 0) for item in truths[user]]
    hits = np.flatnonzero((ranks > 0) & (ranks <= lengths[users]))
    hits = hits[np.lexsort((ranks[hits], users[hits]))]
    users = users[hits]
    n_hits = np.bincount(users, minlength=len(rows))
    return ranks[hits].astype(np.int32), n_hits, (hits - offsets[users]).astype(np.int32)


def agree(ranked: Flat, truth: Flat, offsets: Ints, ranks: NDArray[Any], n_relevant: Ints) -> bool:
    """Return whether the hits of hashes are hits of the strings themselves."""

    def sets() -> list[Any]:
        return [row if isinstance(row, (set, frozenset, dict)) else {*row} for row in truth.rows]

    relevant = truth.once(agree, sets)
    if not np.array_equal(np.fromiter(map(len, relevant), np.int64, len(relevant)), n_relevant):
        return False
    listed, users = list(ranked.rows), np.flatnonzero(np.diff(offsets))
    places, ends = (ranks - 1).tolist(), offsets.tolist()
    return all(
        all(
            map(relevant[u].__contains__, map(listed[u].__getitem__, places[ends[u] : ends[u + 1]]))
        )
        for u in users.tolist()
    )


def two_kinds(what: str, first: str, second: str, way_out: str) -> TypeError:
    """Return the error of ids of two kinds, such as 1 and "1"; an example of each is given."""
    return TypeError(f"{what} of two kinds, {first} and {second}: they are never equal; {way_out}")


# What becomes of lists before they are joined


def shaped(lists: Flat, k: int | None, joining: Joining) -> Flat:
    """Return ranked lists cut at k, without padding at their ends, and without later copies.

    Lists that collapse are cut when they are rid of repeats, which takes ids or codes: two texts
    may have one hash. (What ``joining.items_as`` maps is mapped already, and without padding.)
    """
    collapses, mapped = joining.collapses, joining.items_as is not None
    if k is not None and not collapses:
        lists = lists.cut(k)
    lists = lists if mapped else unpadded(lists, joining.padding)
    if not collapses:
        return lists
    lists = collapsed(lists, joining.n_threads, own=mapped)
    return lists if k is None else lists.cut(k)


def unpadded(lists: Flat, padding: Any) -> Flat:
    """Return lists of integers, or codes, without the padding at their ends; None is no padding.

    Raises
    ------
    TypeError
        For padding that is no id of their kind.
    ValueError
        For padding before a real id.
    """
    if padding is None or not lists.lengths.any():
        return lists
    names, code = lists.names, None
    if names is None:
        if isinstance(padding, (bool, np.bool_)) or not isinstance(padding, (int, np.integer)):
            raise TypeError(f"padding is {padding!r}, but the ids are integers")
        limits = np.iinfo(lists.ids.dtype)
        code = int(padding) if limits.min <= padding <= limits.max else None
    elif names and _kind(type(padding)) is not _kind(type(names[0])):
        # of a part of a file, the names are of the whole file, and of the other side
        like = f"the ids of {lists.side} are like {next(chain.from_iterable(lists.rows))!r}"
        raise TypeError(f"padding is {padding!r}, but {like}")
    elif padding in names:  # of a part of a file, the texts of the whole file: it is looked up
        code = names.index(padding)
    if code is None:
        return lists
    lengths, user, place = kernels.join.trim(lists.ids, lists.offsets, lists.lengths, code)
    if user >= 0:
        error = ValueError(
            f"{lists.side}: {lists.name_user(user)} has padding at rank {place + 1}, "
            "before a real id: padding is only dropped from the end"
        )
        raise lists.about(error, user)
    return replace(lists, lengths=lengths)


def collapsed(flat: Flat, n_threads: int | None, *, own: bool = False) -> Flat:
    """Return lists of integers, or codes, that hold each id once: its first place counts.

    `own` says that nobody else has the ids, which are written then.

    Examples
    --------
    >>> from toplist.inputs.lists import flatten
    >>> lists = collapsed(flatten(np.array([[7, 7, 5, 7], [1, 2, 3, 4]]), None, "ranks"), 1)
    >>> list(lists.rows)
    [[7, 5], [1, 2, 3, 4]]
    """
    ids = flat.ids
    n_kept, bounds = np.empty(len(flat.lengths), np.int64), parallel.bounds(flat.offsets)

    def collapse(out: Ints, lo: int, hi: int) -> None:
        part, lengths = slice(flat.offsets[lo], flat.offsets[hi]), flat.lengths[lo:hi]
        rows = ids[part], flat.offsets[lo : hi + 1], lengths
        kernels.join.collapse(*rows, out[part], n_kept[lo:hi])

    if not own:  # most lists have no repeats, and need no copy: the first block often tells
        count_kept = partial(collapse, np.empty(0, np.int64))
        count_kept(*bounds[0])
        first = slice(*bounds[0])
        if np.array_equal(n_kept[first], flat.lengths[first]):
            parallel.each(count_kept, bounds[1:], n_threads)
            if np.array_equal(n_kept, flat.lengths):
                return flat
    out = ids if own else ids.astype(np.int64)
    parallel.each(partial(collapse, out), bounds, n_threads)
    return replace(flat, ids=out, lengths=n_kept)
