"""Lots drawn by hashing: seeded, and the same for any order of rows and any number of threads.

A lot is a hash of the seed, the user, the item and a counter, so that it belongs to the row itself,
not to its place. Ids are hashed by what they are, not by how they are kept: the integer 17 and
the text "17" of a file draw the same lot.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_WORD = 1 << 64


def keys_of(names: Sequence[Any] | NDArray[Any]) -> Words:
    """Return a 64-bit key of every id."""
    if isinstance(names, np.ndarray) and names.dtype.kind in "iu":
        wide = names.astype(np.uint64 if names.dtype.kind == "u" else np.int64)
        return wide.view(np.uint64)
    from hashlib import blake2b  # a tenth of the import of toplist

    return np.array([_key(name, blake2b) for name in names], np.uint64)


def _key(name: Any, digest: Any) -> int:
    text = name.decode("latin-1") if isinstance(name, bytes) else str(name)
    digits = text.removeprefix("-")
    if digits.isascii() and digits.isdigit() and len(digits) < 21 and str(int(text)) == text:
        number = int(text)
        if -(1 << 63) <= number < _WORD:
            return number % _WORD
    hashed: bytes = digest(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(hashed)


def lots(seed: int, *words: Words) -> NDArray[np.int64]:
    """Return one lot per row: a hash of the seed and of the row's words."""
    mixed = _mix(np.full(len(words[0]), seed % _WORD, np.uint64))
    for word in words:
        mixed = _mix(mixed ^ word)
    return mixed.view(np.int64)


def seed_of(seed: Any) -> int:
    """Return the seed if it is a whole number from 0 on; one word of 64 bits."""
    if isinstance(seed, (bool, np.bool_)) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed must be a whole number from 0 on, not {seed!r}")
    return int(seed) % _WORD


def _mix(words: Words) -> Words:
    """Scramble words: splitmix64 (Steele, Lea, Flood 2014)."""
    with np.errstate(over="ignore"):
        words = words + _GOLDEN
        words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
