"""A 64-bit word for each id, the same in every process: what fingerprints are made of.

Integers are their own word (modulo 2^64), text is hashed by its bytes in UTF-8, whatever form it
came in, and everything else by its repr. Codes never enter.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]


def words_of(ids: Sequence[Any]) -> Words:
    """Return the word of each id.

    Examples
    --------
    >>> words_of([7, -1]).tolist()
    [7, 18446744073709551615]
    >>> words_of(["7", "b"])[1:] == words_of(["b"])
    array([ True])
    """
    if hasattr(ids, "words"):
        return ids.words()  # type: ignore[no-any-return]
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


def words_of_codes(names: Sequence[Any], codes: NDArray[np.int64]) -> Words:
    """Return the words of names by code; only those that `codes` refer to need be right."""
    if len(names) <= 2 * len(codes) + 64:
        return words_of(names)
    used = np.unique(codes)
    words = np.zeros(len(names), np.uint64)
    words[used] = words_of([names[code] for code in used.tolist()])
    return words


def _word_of_integer(number: int) -> int:
    if -(2**63) <= number < 2**64:
        return number % 2**64
    return int(_hashes([f"{number:x}"])[0])


def _hashes(texts: Sequence[str]) -> Words:
    from toplist.kernels import strings

    text = np.frombuffer("\0".join([*texts, ""]).encode("utf-8", "surrogatepass"), np.uint8)
    ends = np.flatnonzero(text == 0)
    hashes = np.empty(len(texts), np.int64)
    if len(ends) == len(texts):
        strings.hash_strings(text, ends, hashes)
        return hashes.view(np.uint64)
    # a text with a NUL of its own
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)) + 1) - 1
    strings.hash_strings(np.frombuffer(b"\0".join([*encoded, b""]), np.uint8), ends, hashes)
    return hashes.view(np.uint64)
