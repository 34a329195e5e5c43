"""Reproducible random numbers: hashes of seed, user, item and a counter.

They belong to the row itself, not to its place, so they are the same for any order of rows and any
number of threads. Ids are hashed by what they are, not by how they are stored: the integer 17 and
the text "17" of a file give the same numbers.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

_WORD = 1 << 64


def random_numbers(seed: int, *words: Words) -> NDArray[np.int64]:
    """Return a random number per row: a hash of the seed and of the row's words.

    Examples
    --------
    >>> random_numbers(7, keys_of(["ann", "bob"]), keys_of([1, "-2"])).tolist()
    [6569632781302755664, -1739117178626306073]
    """
    from toplist.kernels import hashing as kernels

    hashes = np.zeros(len(words[0]), np.uint64)
    for word in (np.full(len(hashes), seed % _WORD, np.uint64), *words):
        kernels.mix_in(word, hashes)
    return hashes.view(np.int64)


def keys_of(ids: Sequence[Any] | NDArray[Any]) -> Words:
    """Return a 64-bit key of every id: an integer itself, a hash of the text of anything else."""
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
