"""What metrics of the lists were given, as short digests: two results tell whether it is the same.

A digest is a sum over rows, so that the order does not matter, nor the form: a dict, a table.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from toplist.beyond.listed import Fact
from toplist.beyond.user_items import UserItems
from toplist.inputs.id_hashes import Words, hashes_of, total_of

# Makes the words of texts others than those of integers: that of "" is 0.
_TEXT = np.uint64(0x9E3779B97F4A7C15)


def digest_of(given: Fact | UserItems) -> str:
    """Return the digest of what a keyword of `toplist.Items` gave, once read.

    Examples
    --------
    >>> given = [{"a": 1, "b": 2.0}, {"b": 2, "a": 1}, {"a": 2, "b": 1}]
    >>> one, same, other = (digest_of(Fact.of("counts", counts)) for counts in given)
    >>> one == same, one == other
    (True, False)
    """
    if isinstance(given, UserItems):
        flat, names = given.flat, given.flat.names
        users = _words(range(len(flat.lengths)) if given.users is None else given.users)
        if names is None:
            words = flat.ids.astype(np.int64).view(np.uint64)
        else:
            of_texts = hasattr(names, "hashes")
            words = names.hashes(flat.ids) ^ _TEXT if of_texts else _words(names)[flat.ids]
        kind = given.everyone + 2 * (given.users is None)
        return _digest(kind, total_of(users), total_of(np.repeat(users, flat.lengths), words))
    ids, data = given.ids, given.data
    if given.name == "catalogue":
        words = np.sort(_words(() if isinstance(ids, range) else ids))
        if np.array_equal(words, np.arange(len(words))):  # 0..n-1, of any size
            return _digest(len(ids))
        return _digest(len(ids), total_of(words))
    items = _words(ids)
    if given.name == "labels":
        n = np.diff(data.offsets)
        words = hashes_of(list(map(str, data.labels)))  # as metrics are named by them
        return _digest(total_of(items), total_of(np.repeat(items, n), words[data.codes]))
    if given.name == "distances":
        totals = np.array([total_of(items, row) for row in data], np.uint64)
        return _digest(total_of(items, totals))
    return _digest(total_of(items, *np.atleast_2d(data.T)))


def _words(ids: Any) -> Words:
    """Return the words of ids, also of an array."""
    ids = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
    words = hashes_of(ids)
    return words ^ _TEXT if ids and isinstance(ids[0], str) else words


def _digest(*totals: int) -> str:
    return "-".join(f"{one:x}" for one in totals)
