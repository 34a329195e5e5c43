"""Hashes of ids, 64 bits each and the same in every process, by two rules; codes never enter.

`hashes_of` is the rule of fingerprints, which say whether two results have the same ground truths:
17 and "17" are two ids there, since no evaluation takes one for the other. An integer is its own
word (modulo 2^64), a text is hashed by its bytes in UTF-8, anything else by its repr.

`keys_of` is the rule of seeded splits and samples: 17 and "17" are one id there, so that a log
gives the same split from a table of integers as from a text file.

Saved results hold fingerprints, and published splits depend on a seed. So both rules stay as they
are, to the bit.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist import kernels
from toplist.checks import Ints
from toplist.inputs.texts import joined

Words = NDArray[np.uint64]

_WORD = 1 << 64


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
    if len(ids) and type(ids[0]) is int:
        array = np.array(ids)
        if array.dtype == np.int64:  # all are integers: half the time of looking at their types
            return array.view(np.uint64)
    kinds = set(map(type, ids))
    if all(issubclass(kind, (int, np.integer)) for kind in kinds):
        try:
            return np.array(ids, np.int64).view(np.uint64)
        except OverflowError:
            return np.array(list(map(_word_of_integer, map(int, ids))), np.uint64)
    texts = [one if isinstance(one, str) else repr(one) for one in ids]
    return _hashes(texts)


def hashes_of_codes(names: Sequence[Any], codes: Ints) -> Words:
    """Return the words of names by code; only those that `codes` refer to need be right."""
    if len(names) <= 2 * len(codes) + 64:
        return hashes_of(names)
    used = np.unique(codes)
    words = np.zeros(len(names), np.uint64)
    words[used] = hashes_of([names[code] for code in used.tolist()])
    return words


def _word_of_integer(number: int) -> int:
    if -(2**63) <= number < 2**64:
        return number % 2**64
    return int(_hashes([f"{number:x}"])[0])


def _hashes(texts: Sequence[str]) -> Words:

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
    integers = isinstance(ids, list) and set(map(type, ids)) == {int}
    if integers and min(ids) >= -(1 << 63) and max(ids) < 1 << 63:  # the same keys, faster
        ids = np.array(ids, np.int64)
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
