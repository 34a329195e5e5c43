"""Encode ids of any kind as 64-bit integers that are equal exactly where the ids are.

Integers stay as they are. Strings are hashed, and the hits verified after the join (`hashed`,
`agree`). Everything else (bytes, other hashables, and strings that cannot be hashed so) is numbered
by one dictionary over both sides. Integers that int64 does not hold are refused.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist import kernels
from toplist.checks import Ints, is_missing
from toplist.inputs.flatten import Flat
from toplist.inputs.lists import offsets_of

_NEVER_ID = (
    *(bool, np.bool_, float, np.floating, complex, type(None)),
    *(list, tuple, range, np.ndarray, Set, Mapping, Iterator),
)
_WAY_OUT = "give integers or strings"
# Users whose strings are joined at a time: half a megabyte of text for lists of 100.
CHUNK = 256
# Made once: to make them takes as long as to write the ids of ten users.
_WRITERS = [struct.Struct(f"{n}q").pack_into for n in range(257)]


def encode(ranked: Flat, truth: Flat, hashing: bool) -> tuple[Flat, Flat]:
    """Encode both sides alike as integers.

    With `hashing`, strings are hashed; then the hits have to be verified, by the source of the
    hashes.

    Raises
    ------
    TypeError
        For ids that are floats, bools, None or containers, or of two kinds.
    ValueError
        For integers that int64 does not hold.
    """
    with naming_missing(ranked, truth):
        return _encode(ranked, truth, hashing)


def _encode(ranked: Flat, truth: Flat, hashing: bool) -> tuple[Flat, Flat]:
    """Do what `encode` does; its errors of ids that are missing name a type."""
    integers = integers_of(ranked), truth.once(integers_of, partial(integers_of, truth))
    as_integers = integers[0] is not None and integers[1] is not None
    if not as_integers and hashing:
        hashes = hashed(ranked), truth.once(hashed, partial(hashed, truth))
        if hashes[0] is not None and hashes[1] is not None:
            return hashes[0], hashes[1]
    if not as_integers:
        truth, known = truth.once(_Numbers, partial(_Numbers.of, truth))
        numbers = known.copy()
        ranked = replace(numbers.encode(ranked), names=list(numbers.codes))
    else:
        ranked = replace(ranked, ids=integers[0])
        truth = truth.once("integers", partial(replace, truth, ids=integers[1]))
    return ranked, truth


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
        if ids is not None:
            return flat if ids is flat.ids else replace(flat, ids=ids)
        numbers = _Numbers()
        return replace(numbers.encode(flat), names=list(numbers.codes))


def integers_of(flat: Flat) -> NDArray[Any] | None:
    """Return the ids as one array of signed integers, or None if one of them is no int64."""
    if not isinstance(flat.ids, np.ndarray):
        return _packed(flat)
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


def _packed(flat: Flat) -> Ints | None:
    """Return the integers in rows as an array, or None if one of them is no int64.

    struct refuses floats and strings, which ``np.fromiter(ids, int64)`` turns into integers,
    and takes 1.4 x its time. It does not refuse bools; these are among the 0s and 1s.
    """
    ids = np.empty(flat.offsets[-1], np.int64)
    try:
        _write(ids, flat.ids)
    except struct.error:
        return None
    doubtful = np.flatnonzero(ids.view(np.uint64) <= 1)
    kinds = _Kinds()
    users = np.searchsorted(flat.offsets, doubtful, side="right") - 1
    for user in dict.fromkeys(users.tolist()):
        kinds.check(flat.ids[user], flat.side)
    return ids


def _write(ids: Ints, rows: Iterable[Collection[Any]]) -> None:
    """Write the integers of `rows` into `ids`, one row after another."""
    buffer, place = ids.data.cast("B"), 0
    for row in rows:
        n = len(row)
        write = _WRITERS[n] if n < len(_WRITERS) else struct.Struct(f"{n}q").pack_into
        write(buffer, place, *row)
        place += 8 * n


class _Numbers:
    """Distinct ids of any one kind as numbers 0, 1, ... in order of appearance."""

    def __init__(self) -> None:
        self.kinds = _Kinds()
        self.codes: dict[Any, int] = defaultdict(count().__next__)

    @classmethod
    def of(cls, truth: Flat) -> tuple[Flat, _Numbers]:
        """Return the truth with the number of each id, and these numbers."""
        numbers = cls()
        found = numbers.encode(truth)
        return replace(found, names=list(numbers.codes)), numbers

    def copy(self) -> _Numbers:
        """Return numbers that go on where these end."""
        numbers = _Numbers()
        numbers.kinds = self.kinds.copy()
        numbers.codes = defaultdict(count(len(self.codes)).__next__, self.codes)
        return numbers

    def encode(self, flat: Flat) -> Flat:
        """Return a side with the number of each id."""
        offsets = offsets_of(flat.lengths)
        ids = np.empty(offsets[-1], np.int64)

        def numbers() -> Iterator[list[int]]:
            for row in flat.rows:
                self.kinds.check(row, flat.side)
                yield list(map(self.codes.__getitem__, row))

        _write(ids, numbers())
        return replace(flat, ids=ids, offsets=offsets)


class WideIdError(ValueError):
    """An integer that int64 does not hold."""


def check_width(integers: Collection[int], side: str) -> None:
    """Raise WideIdError for an integer that int64 does not hold.

    Examples
    --------
    >>> check_width([5, 2**63], "ranks")
    Traceback (most recent call last):
        ...
    toplist.inputs.ids.WideIdError: ranks: 9223372036854775808 is an id that int64 does not hold: \
give such ids as text, str(id)
    """
    if integers and (min(integers) < -(2**63) or max(integers) >= 2**63):
        raise _wide(next(one for one in integers if not -(2**63) <= one < 2**63), side)


def _wide(integer: int, side: str) -> WideIdError:
    words = "is an id that int64 does not hold: give such ids as text, str(id)"
    return WideIdError(f"{side}: {integer} {words}")


def signed(ids: NDArray[Any], side: str) -> NDArray[Any]:
    """Return an array of integers in this machine's byte order, those of uint64 as int64.

    WideIdError for one that int64 does not hold; `side` is for messages.

    Examples
    --------
    >>> signed(np.array([7], np.uint64), "ranks").dtype, signed(np.array([7], ">i2"), "ranks").dtype
    (dtype('int64'), dtype('int16'))
    """
    ids = ids.astype(ids.dtype.newbyteorder("="), copy=False)
    if ids.dtype != np.uint64:
        return ids
    if ids.max(initial=0) >= 2**63:
        raise _wide(int(ids[np.argmax(ids >= 2**63)]), side)
    return ids.view(np.int64)


def padding_code(padding: Any, flat: Flat) -> int | None:
    """Return the code of padding among the encoded ids of one side; None if it is not there."""
    if flat.names is None:
        if isinstance(padding, (bool, np.bool_)) or not isinstance(padding, (int, np.integer)):
            raise TypeError(f"padding is {padding!r}, but the ids are integers")
        limits = np.iinfo(flat.ids.dtype)
        return int(padding) if limits.min <= padding <= limits.max else None
    if flat.names and _kind(type(padding)) is not _kind(type(flat.names[0])):
        raise TypeError(
            f"padding is {padding!r}, but the ids of {flat.side} are like {flat.names[0]!r}"
        )
    # of a part of a file, the names are the texts of the whole file: they are looked up
    return flat.names.index(padding) if padding in flat.names else None


def kinds_of(values: Collection[Any], side: str) -> set[Any]:
    """Return the kinds of ids in `values`, at most one.

    Raises
    ------
    TypeError
        For what is no id, and for a second kind.
    WideIdError
        For an integer that int64 does not hold.
    """
    kinds = _Kinds()
    kinds.check(values, side)
    return kinds.found


class _Kinds:
    """The kinds of ids seen so far; refuses what is no id, and a second kind."""

    def __init__(self) -> None:
        self._types: set[type] = set()
        self._examples: dict[Any, tuple[bool, str, str]] = {}  # ranks come first in messages

    def copy(self) -> _Kinds:
        """Return the same kinds, to which others may be added."""
        kinds = _Kinds()
        kinds._types, kinds._examples = self._types.copy(), self._examples.copy()
        return kinds

    @property
    def found(self) -> set[Any]:
        """The kinds, at most one."""
        return set(self._examples)

    def check(self, row: Collection[Any], side: str) -> None:
        """Raise TypeError for a type in a row that is no id, or of another kind.

        And WideIdError for an integer that int64 does not hold.
        """
        for new in set(map(type, row)) - self._types:
            example = next(item for item in row if type(item) is new)
            kind = _kind(new)
            if kind is None or example != example:
                raise TypeError(
                    f"{side}: {_short(example)} is a {new.__name__}, never an id; "
                    + _way_out(example)
                )
            words = side != "ranks", side, f"{example!r} in {side}"
            self._examples.setdefault(kind, words)
            if len(self._examples) > 1:
                way_out = "write all as one kind, for example [str(i) for i in ids]"
                first, second = sorted(self._examples.values(), key=lambda words: words[:2])
                raise two_kinds("ids", first[2], second[2], way_out)
            self._types.add(new)
        if int in self._examples:
            check_width(row, side)


def _short(value: Any) -> str:
    """Return a repr that fits into a line."""
    return f"{' '.join(repr(value).split()):.80}"


def _way_out(example: Any) -> str:
    type_ = type(example)
    if issubclass(type_, tuple) and len(example) == 2:
        return "of pairs (item, score), give [item for item, _ in pairs]"
    if issubclass(type_, Mapping) and example:
        keys = ", ".join(map(repr, list(example)[:8]))
        return f"give one of its values, [one[KEY] for one in hits], by a key of {keys}"
    if issubclass(type_, (float, np.floating)):
        return "scores enter by scores.top_k, whole numbers as int(id)"
    if issubclass(type_, (bool, np.bool_)):
        return "a 0/1 matrix enters by Lists.from_matrix"
    if issubclass(type_, type(None)):
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
