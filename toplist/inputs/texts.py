"""`Texts`: distinct texts by number, 0, 1, ..., and the numbering of columns of text by it.

No Python object is made per row, nor per distinct text. What is known is looked up on all cores, a
part of the column after another; what is new in a part is added by one thread before the next part.
Parts grow, so that the first ones, which may hold all there is, are small.

A column is given as `Views` or `Spans` of bytes in UTF-8; texts are compared by these, exactly.

Where texts were chosen to share places of the table, or hashes, which would take quadratic time, a
dictionary of their bytes takes its place, once and for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
    used_codes,
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
    ends = np.empty(len(texts), np.int64)
    if kernels.texts.ends_of_texts(data, ends) != len(texts):  # one has a NUL itself
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
        """Return the number of a text; ValueError if it has none."""
        keys = joined([text]).keys(0, 1)
        with self._lock:
            number = self._number_of(keys)
        if number < 0:
            raise ValueError(f"{text!r} is not one of the texts")
        return number

    def __contains__(self, text: object) -> bool:
        """Return whether a text has a number."""
        if not isinstance(text, str):
            return False
        with suppress(ValueError):
            return self.index(text) >= 0
        return False

    def _number_of(self, keys: Keys) -> int:
        """Return the number of one text, -1 if it has none; the others are not read for it."""
        if self._slow is None:
            found = np.full(1, kernels.texts.UNKNOWN, np.int64)
            n = kernels.texts.find_texts(keys.words, self._table, self._keys, found)
            if n >= 0 and self._agree(keys, found):
                return int(found[0])
        slow = self._slow  # else its hash, or its place of the table, is that of others
        if slow is None:
            known = self._known.bytes_of(np.arange(self._n))
            slow = {text: number for number, text in enumerate(known)}
        return slow.get(keys.bytes_of(np.arange(1))[0], -1)

    def decoded(self, numbers: Ints) -> list[str]:
        """Return the texts of many numbers."""
        data, _ = self._known.copied(numbers)
        if len(numbers) and np.count_nonzero(data == 0) == len(numbers):
            return data[:-1].tobytes().decode("utf-8", "surrogatepass").split("\0")
        found = self._known.bytes_of(numbers)  # one has a NUL itself
        return [text.decode("utf-8", "surrogatepass") for text in found]

    def hashes(self, numbers: Ints) -> Words:
        """Return the words of the texts of numbers, see `toplist.inputs.id_hashes`."""
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
        with self._lock:
            return self._encoded(source)

    def _encoded(self, source: Views | Spans) -> Ints:
        codes, known = np.empty(len(source), np.int64), self._n
        lo, size = 0, FIRST
        while lo < len(codes):
            hi = min(lo + size, len(codes))
            if self._n and self._slow is None:
                self._encode(source, codes, lo, hi)
            else:
                codes[lo:hi] = self.number(source.take(np.arange(lo, hi)))
            lo, size = hi, 4 * size
        if self._n > known:
            data, _ = self._known.copied(np.arange(known, self._n))
            data.tobytes().decode("utf-8", "surrogatepass")
        return codes

    def _encode(self, source: Views | Spans, codes: Ints, lo: int, hi: int) -> None:
        """Fill the codes of a part: look all texts up, add those that are new."""
        parts = [slice(lo + first, lo + last) for first, last in blocks(hi - lo, BLOCK)]
        look_up = partial(self._look_up, source, codes)
        unknown = list(parallel.run(look_up, [(part.start, part.stop) for part in parts], None))
        if any(map(len, unknown)):
            new = np.concatenate(unknown)
            codes[new] = self.number(source.take(new))
            for part, found in zip(parts, unknown, strict=True):
                if len(found):
                    kernels.texts.repeat_same(codes[part])

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
            if at < len(keys):
                if not self._grow():
                    return False
                rows = _longer(rows, len(self._table) // 2)
        if self._n > known:
            self._keep(keys, rows[known : self._n])
        return self._agree(keys, codes)

    def _grow(self) -> bool:
        """Make room for more texts; return whether it was done."""
        self._table = np.zeros(4 * len(self._table), np.uint64)
        self._keys = _longer(self._keys, len(self._table))
        self._places = _longer(self._places, len(self._table) // 2)
        return bool(kernels.texts.place_texts(self._keys[: 2 * self._n], self._table))

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


class TextColumn(NamedTuple):
    """A column of texts: `texts` themselves, or `codes` of these.

    Or codes of texts that only the library knows: ``texts_at(rows)`` returns those of some rows.
    """

    texts: Views | Spans | None = None
    codes: NDArray[Any] | None = None
    texts_at: Callable[[Ints], Views | Spans] | None = None

    def encode(self, known: Texts) -> Ints:
        """Return the number of each row's text, as `Texts.encode` does."""
        if self.texts_at is not None and self.codes is not None:
            used, rows = used_codes(self.codes)
            numbers = np.zeros(int(used[-1]) + 1, np.int64)
            numbers[used] = known.encode(self.texts_at(rows))
        else:
            assert self.texts is not None
            numbers = known.encode(self.texts)
        return numbers if self.codes is None else recoded(self.codes, numbers)

    def runs(self) -> tuple[TextColumn, Ints] | None:
        """Return the texts of runs of equal rows, and where each begins; None if there are few."""
        if self.codes is not None:
            if not len(self.codes) or not in_runs(self.codes):
                return None
            starts, at = starts_of_runs(self.codes), self.texts_at
            of_runs = None if at is None else lambda rows: at(starts[rows])
            return TextColumn(self.texts, self.codes[starts], of_runs), starts
        assert self.texts is not None
        found = _starts_of_runs(self.texts)
        return None if found is None else (TextColumn(self.texts.take(found)), found)


def _starts_of_runs(source: Views | Spans) -> Ints | None:
    """Return where each run of equal texts begins; None if there are few."""

    def find(lo: int, hi: int, out: Ints) -> int:
        keys = source.keys(lo, hi)
        return int(kernels.texts.starts_of_runs(keys.words, keys.text, keys.starts, lo, out))

    first = min(len(source), FIRST)
    if not first or 2 * find(0, first, np.empty(first, np.int64)) > first:
        return None
    return starts_by(find, len(source), BLOCK)


def _longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return an array of at least a size that begins as the given one."""
    if size <= len(array):
        return array
    longer = np.empty(max(size, 2 * len(array)), array.dtype)
    longer[: len(array)] = array
    return longer
