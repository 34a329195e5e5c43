"""`Texts`: distinct texts by number, 0, 1, ..., and the numbering of columns of text by it.

No Python object is made per row, nor per distinct text. What is known is looked up on all cores, a
part of the column after another; what is new in a part is added by one thread before the next part.
Parts grow, so that the first ones, which may hold all there is, are small.

A column is given as `Views` or `Spans` of bytes in UTF-8; texts are compared by these, exactly.

Where texts were chosen to share places of the table, or hashes, which would take quadratic time, a
dictionary of their bytes takes its place, once and for all.

Hashes of ids, of text and of all else, are at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toplist import kernels, parallel
from toplist.checks import Ints
from toplist.inputs.factorize import (
    blocks,
    in_runs,
    numbered_by,
    recoded,
    starts_by,
    starts_of_runs,
)
from toplist.inputs.lists import offsets_of

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]

SMALLEST = 1 << 12  # slots of the first table
FIRST = 1 << 16  # texts of the first part; each part has four times as many as the one before
# Texts that a thread looks up at a time: their keys are 4 MB. A block of a file is not shared out,
# as the next one is read meanwhile.
BLOCK = 1 << 18
_LOW = np.uint64(2**32 - 1)
_WORD = 1 << 64


@dataclass(frozen=True, eq=False)
class Keys:
    """Texts as `toplist.kernels.texts` looks them up.

    The bytes of the longer ones, if there are any, are in `text`, from `starts` on.
    """

    words: Words
    text: Bytes
    starts: NDArray[Any]
    longer: bool

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.words) // 2

    def copied(self, numbers: Ints) -> tuple[Bytes, Ints]:
        """Return some texts one after another, a NUL after each, and the places of these."""
        sizes = self.words[2 * np.asarray(numbers, np.int64)] & _LOW
        data = np.empty(int(sizes.sum()) + len(numbers), np.uint8)
        ends = np.empty(len(numbers), np.int64)
        kernels.texts.copy_texts(self.words, self.starts, self.text, numbers, data, ends)
        return data, ends

    def bytes_of(self, numbers: Ints) -> list[bytes]:
        """Return the bytes of some texts."""
        data, ends = self.copied(numbers)
        whole, starts = data.tobytes(), [0, *(ends + 1).tolist()]
        return [whole[a:b] for a, b in zip(starts, ends.tolist(), strict=False)]


@dataclass(frozen=True, eq=False)
class Views:
    """Texts as in Arrow's string_view: two words for each; buffer b begins at ``bases[b]``."""

    words: Words
    text: Bytes
    bases: Ints

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.words) // 2

    def keys(self, lo: int, hi: int) -> Keys:
        """Return the keys of some of the texts."""
        words = self.words[2 * lo : 2 * hi]
        if (words[::2] & _LOW).max(initial=0) <= kernels.texts.HERE:
            return Keys(words, self.text, np.empty(0, np.int64), False)
        keys, starts = np.empty(2 * (hi - lo), np.uint64), np.empty(hi - lo, np.int64)
        kernels.texts.spans_of_views(words, self.text, self.bases, keys, starts)
        return Keys(keys, self.text, starts, True)

    def take(self, rows: Ints) -> Views:
        """Return the texts of some rows."""
        return Views(self.words.reshape(-1, 2)[rows].ravel(), self.text, self.bases)


@dataclass(frozen=True, eq=False)
class Spans:
    """Texts ``text[starts[i]:ends[i]]``."""

    text: Bytes
    starts: NDArray[Any]
    ends: NDArray[Any]

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.starts)

    def keys(self, lo: int, hi: int) -> Keys:
        """Return the keys of some of the texts."""
        words, starts = np.empty(2 * (hi - lo), np.uint64), self.starts[lo:hi]
        longer = kernels.texts.keys_of_spans(self.text, starts, self.ends[lo:hi], words)
        return Keys(words, self.text, starts, longer)

    def take(self, rows: Ints) -> Spans:
        """Return the texts of some rows."""
        return Spans(self.text, self.starts[rows], self.ends[rows])


def joined(texts: Sequence[str]) -> Spans:
    """Return texts as spans of one text, a NUL after each; TypeError if one of them is no text."""
    data = np.frombuffer("\0".join([*texts, ""]).encode("utf-8", "surrogatepass"), np.uint8)
    ends = np.flatnonzero(data == 0)
    if len(ends) != len(texts):  # one has a NUL itself
        sizes = [len(text.encode("utf-8", "surrogatepass")) for text in texts]
        ends = offsets_of(sizes)[1:] + np.arange(len(texts))
    return Spans(data, np.concatenate([[0], ends + 1])[:-1], ends)


class Texts(Sequence[str]):
    """Distinct texts, by number.

    Examples
    --------
    >>> texts = Texts()
    >>> texts.encode(joined(["b", "a", "b"])).tolist(), texts.encode(joined(["c", "a"])).tolist()
    ([0, 1, 0], [2, 1])
    >>> list(texts), texts[1], "c" in texts, texts.index("c")
    (['b', 'a', 'c'], 'a', True, 2)
    """

    def __init__(self) -> None:
        self._n = 0
        self._used = 0  # bytes of the arena
        self._table = np.zeros(SMALLEST, np.uint64)
        self._keys = np.empty(SMALLEST, np.uint64)
        self._places = np.empty(SMALLEST // 2, np.int64)
        self._arena = np.empty(SMALLEST, np.uint8)
        self._slow: dict[bytes, int] | None = None  # in place of the table
        self._words = np.empty(0, np.uint64)  # those that were asked for, by number
        self._lock = Lock()  # kept truths may meet lists in several threads

    def __getstate__(self) -> dict[str, Any]:
        """Return all but the lock, which belongs to the process."""
        return vars(self) | {"_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what another process knows."""
        vars(self).update(state, _lock=Lock())

    def __len__(self) -> int:
        """Return how many distinct texts there are."""
        return self._n

    def __getitem__(self, number: Any) -> Any:
        """Return the text of a number."""
        if isinstance(number, slice):
            return self.decoded(np.arange(self._n)[number])
        if not -self._n <= number < self._n:
            raise IndexError(number)
        return self.decoded(np.array([number % self._n]))[0]

    def __iter__(self) -> Iterator[str]:
        """Return all texts, by number."""
        return iter(self.decoded(np.arange(self._n)))

    def index(self, text: Any, *_: Any) -> int:
        """Return the number of a text, without reading the others; ValueError if it has none."""
        keys, found = joined([text]).keys(0, 1), np.full(1, kernels.texts.UNKNOWN, np.int64)
        with self._lock:
            slow, n = self._slow, -1
            if slow is None:
                n = kernels.texts.find_texts(keys.words, self._table, self._keys, found)
            if n < 0 or not self._agree(keys, found):  # its hash, or its place, is that of others
                if slow is None:
                    known = self._known.bytes_of(np.arange(self._n))
                    slow = {text: number for number, text in enumerate(known)}
                found[0] = slow.get(keys.bytes_of(np.arange(1))[0], -1)
        if found[0] < 0:
            raise ValueError(f"{text!r} is not one of the texts")
        return int(found[0])

    def __contains__(self, text: object) -> bool:
        """Return whether a text has a number."""
        if not isinstance(text, str):
            return False
        with suppress(ValueError):
            return self.index(text) >= 0
        return False

    def decoded(self, numbers: Ints) -> list[str]:
        """Return the texts of many numbers."""
        data, _ = self._known.copied(numbers)
        if len(numbers) and np.count_nonzero(data == 0) == len(numbers):
            return data[:-1].tobytes().decode("utf-8", "surrogatepass").split("\0")
        found = self._known.bytes_of(numbers)  # one has a NUL itself
        return [text.decode("utf-8", "surrogatepass") for text in found]

    def hashes(self, numbers: Ints) -> Words:
        """Return the words of the texts of numbers, see `hashes_of`."""
        words = self._words  # each text is hashed once, for all rows that have it
        if len(words) < self._n:
            data, ends = self._known.copied(np.arange(len(words), self._n))
            hashes = np.empty(len(ends), np.int64)
            kernels.texts.hash_strings(data, ends, hashes)
            self._words = words = np.concatenate([words, hashes.view(np.uint64)])
        return words[numbers]

    def encode(self, source: Views | Spans) -> Ints:
        """Return the number of each text; new ones follow the last.

        Raises
        ------
        UnicodeDecodeError
            If a new text is no UTF-8.
        """
        codes = np.empty(len(source), np.int64)
        with self._lock:
            known, lo, size = self._n, 0, FIRST
            while lo < len(codes):
                hi = min(lo + size, len(codes))
                if not self._n or self._slow is not None:
                    codes[lo:hi] = self.number(source.take(np.arange(lo, hi)))
                else:  # look all texts up, add those that are new
                    parts = [(lo + first, lo + last) for first, last in blocks(hi - lo, BLOCK)]
                    look_up = partial(self._look_up, source, codes)
                    unknown = list(parallel.run(look_up, parts, None))
                    new = np.concatenate(unknown)
                    if len(new):
                        codes[new] = self.number(source.take(new))
                    for part, found in zip(parts, unknown, strict=True):
                        if len(found):
                            kernels.texts.repeat_same(codes[slice(*part)])
                lo, size = hi, 4 * size
            if self._n > known:
                data, _ = self._known.copied(np.arange(known, self._n))
                data.tobytes().decode("utf-8", "surrogatepass")
        return codes

    def _look_up(self, source: Views | Spans, codes: Ints, lo: int, hi: int) -> Ints:
        """Fill the codes of texts that are known; return the rows of the others."""
        keys, part = source.keys(lo, hi), codes[lo:hi]
        n = kernels.texts.find_texts(keys.words, self._table, self._keys, part)
        if n < 0 or not self._agree(keys, part):
            return np.arange(lo, hi)
        return lo + np.flatnonzero(part == kernels.texts.UNKNOWN) if n else np.empty(0, np.int64)

    def _agree(self, keys: Keys, codes: Ints) -> bool:
        """Return whether longer texts are equal where their keys are."""
        return not keys.longer or bool(
            kernels.texts.agree(
                keys.words, keys.text, keys.starts, self._arena, self._places, codes
            )
        )

    def number(self, source: Views | Spans) -> Ints:
        """Return the number of each text; new ones, of UTF-8, follow the last. In one thread."""
        codes = np.empty(len(source), np.int64)
        for lo, hi in blocks(len(source), BLOCK):
            keys, known = source.keys(lo, hi), self._n
            if self._slow is None and self._number(keys, codes[lo:hi]):
                continue
            self._n = known
            if self._slow is None:  # from now on in place of the table
                numbers = np.arange(known)
                self._slow = dict(zip(self._known.bytes_of(numbers), numbers.tolist(), strict=True))
            codes[lo:hi], new = numbered_by(self._slow, keys.bytes_of(np.arange(len(keys))))
            self._n += len(new)
            self._keys = _longer(self._keys, 2 * self._n)
            self._places = _longer(self._places, self._n)
            self._keys[2 * known : 2 * self._n].reshape(-1, 2)[:] = keys.words.reshape(-1, 2)[new]
            self._keep(keys, new)
        return codes

    def _number(self, keys: Keys, codes: Ints) -> bool:
        """Fill the codes of texts; return whether it was done."""
        at, known = 0, self._n
        rows = np.empty(len(self._table) // 2, np.int64)
        while at < len(keys):
            at, self._n = kernels.texts.number_texts(
                *(keys.words, at, self._table, self._keys, self._n, rows, codes)
            )
            if at < 0:
                return False
            if at < len(keys):  # make room for more
                self._table = np.zeros(4 * len(self._table), np.uint64)
                self._keys = _longer(self._keys, len(self._table))
                self._places = _longer(self._places, len(self._table) // 2)
                if not kernels.texts.place_texts(self._keys[: 2 * self._n], self._table):
                    return False
                rows = _longer(rows, len(self._table) // 2)
        if self._n > known:
            self._keep(keys, rows[known : self._n])
        return self._agree(keys, codes)

    def _keep(self, keys: Keys, rows: Ints) -> None:
        """Keep the bytes of new texts: those of `rows`."""
        first = self._n - len(rows)
        sizes = keys.words[2 * rows] & _LOW
        self._arena = _longer(
            self._arena, self._used + int(sizes[sizes > kernels.texts.HERE].sum())
        )
        if keys.longer:
            self._used = kernels.texts.keep_texts(
                *(keys.words, keys.text, keys.starts, rows, self._used),
                *(self._arena, self._places[first : self._n]),
            )

    @property
    def _known(self) -> Keys:
        """All texts, by number."""
        return Keys(self._keys[: 2 * self._n], self._arena, self._places, True)


class IdTexts:
    """The texts by which the users and the items of both sides are numbered."""

    def __init__(self) -> None:
        self.users, self.items = Texts(), Texts()


class TextColumn(NamedTuple):
    """A column of texts: `texts` themselves, or `codes` of these."""

    texts: Views | Spans
    codes: NDArray[Any] | None = None

    def encode(self, known: Texts) -> Ints:
        """Return the number of each row's text, as `Texts.encode` does."""
        numbers = known.encode(self.texts)
        return numbers if self.codes is None else recoded(self.codes, numbers)

    def runs(self) -> tuple[TextColumn, Ints] | None:
        """Return the texts of runs of equal rows, and where each begins; None if there are few."""
        codes, texts = self.codes, self.texts
        if codes is not None:
            if not len(codes) or not in_runs(codes):
                return None
            starts = starts_of_runs(codes)
            return TextColumn(texts, codes[starts]), starts

        def find(lo: int, hi: int, out: Ints) -> int:
            keys = texts.keys(lo, hi)
            return int(kernels.texts.starts_of_runs(keys.words, keys.text, keys.starts, lo, out))

        first = min(len(texts), FIRST)
        if not first or 2 * find(0, first, np.empty(first, np.int64)) > first:
            return None
        starts = starts_by(find, len(texts), BLOCK)
        return TextColumn(texts.take(starts)), starts


def _longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return an array of at least a size that begins as the given one."""
    if size <= len(array):
        return array
    longer = np.empty(max(size, 2 * len(array)), array.dtype)
    longer[: len(array)] = array
    return longer


# Hashes of ids, 64 bits each and the same in every process, by two rules; codes never enter.
#
# `hashes_of` is the rule of fingerprints, which say whether two results have the same ground
# truths: 17 and "17" are two ids there, since no evaluation takes one for the other. An integer is
# its own word (modulo 2^64), a text is hashed by its bytes in UTF-8, anything else by its repr.
#
# `keys_of` is the rule of seeded splits and samples: 17 and "17" are one id there, so that a log
# gives the same split from a table of integers as from a text file.
#
# Saved results hold fingerprints, and published splits depend on a seed. So both rules stay as they
# are, to the bit.


def hashes_of(ids: Sequence[Any]) -> Words:
    """Return the word of each id.

    Examples
    --------
    >>> hashes_of([7, -1]).tolist()
    [7, 18446744073709551615]
    >>> hashes_of(["7", "b"])[1:] == hashes_of(["b"])
    array([ True])
    """
    if hasattr(ids, "hashes"):
        words = ids.hashes()
        if words is not None:
            return words  # type: ignore[no-any-return]
    if len(ids) and isinstance(ids[0], (int, np.integer)):
        array = np.array(ids)  # half the time of looking at their types
        if array.dtype.kind in "biu" and array.max() < 2**63:  # labels may be wider
            return array.astype(np.int64, copy=False).view(np.uint64)
    texts = [one if isinstance(one, str) else repr(one) for one in ids]
    found, hashes = joined(texts), np.empty(len(texts), np.int64)
    kernels.texts.hash_strings(found.text, found.ends, hashes)
    return hashes.view(np.uint64)


def keys_of(ids: Sequence[Any] | NDArray[Any]) -> Words:
    """Return a 64-bit key of every id: an integer itself, a hash of the text of anything else.

    A text that an integer is written as has the key of this integer.

    Examples
    --------
    >>> keys_of([17, -2]).tolist() == keys_of(["17", "-2"]).tolist()
    True
    """
    if isinstance(ids, list) and set(map(type, ids)) == {int}:
        with suppress(OverflowError):
            ids = np.array(ids, np.int64)  # the same keys, faster
    if isinstance(ids, np.ndarray) and ids.dtype.kind in "iu":
        wide = ids.astype(np.uint64 if ids.dtype.kind == "u" else np.int64)
        return wide.view(np.uint64)
    from hashlib import blake2b  # a tenth of the import of toplist

    return np.array([_key(one, blake2b) for one in ids], np.uint64)


def _key(one: Any, digest: Any) -> int:
    text = one.decode("latin-1") if isinstance(one, bytes) else str(one)
    digits = text.removeprefix("-")
    if digits.isascii() and digits.isdigit() and len(digits) < 21 and str(int(text)) == text:
        number = int(text)
        if -(1 << 63) <= number < _WORD:
            return number % _WORD
    hashed: bytes = digest(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(hashed)


def seed_of(seed: Any) -> int:
    """Return a whole number from 0 on as one word of 64 bits; ValueError for anything else."""
    if isinstance(seed, (bool, np.bool_)) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed must be a whole number from 0 on, not {seed!r}")
    return int(seed) % _WORD


def random_numbers(seed: int, *words: Words) -> Ints:
    """Return a random number per row: a hash of the seed and of the row's words.

    They belong to the row itself, not to its place, so they are the same for any order of rows and
    any number of threads.

    Examples
    --------
    >>> random_numbers(7, keys_of(["ann", "bob"]), keys_of([1, "-2"])).tolist()
    [6569632781302755664, -1739117178626306073]
    """
    hashes = np.zeros(len(words[0]), np.uint64)
    for word in (np.full(len(hashes), seed % _WORD, np.uint64), *words):
        kernels.hashing.mix_in(word, hashes)
    return hashes.view(np.int64)


def total_of(*columns: NDArray[Any]) -> int:
    """Return the sum of a hash of each row of words and numbers; 0.0 and -0.0 are one number.

    The order of the rows does not matter, so that it tells whether two tables hold the same.
    """
    words = (one if one.dtype == np.uint64 else (one + 0.0).view(np.uint64) for one in columns)
    return int(random_numbers(0, *words).view(np.uint64).sum(dtype=np.uint64))
