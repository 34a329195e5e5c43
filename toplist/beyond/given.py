"""What metrics of the lists were given, as short digests: two results tell whether it is the same.

A digest is a sum over rows, so that the order does not matter, nor the form: a dict, a table.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from toplist.beyond.user_items import UserItems
from toplist.inputs.facts import ItemLabels, distances_of, features_of, ids_of, values_of
from toplist.inputs.id_hashes import Words, hashes_of, total_of
from toplist.inputs.options import ItemData

# Makes the words of texts others than those of integers: that of "" is 0.
_TEXT = np.uint64(0x9E3779B97F4A7C15)


def digest_of(name: str, known: ItemData) -> str:
    """Return the digest of what a keyword of `toplist.Items` gave, once read.

    Examples
    --------
    >>> given = [{"a": 1, "b": 2.0}, {"b": 2, "a": 1}, {"a": 2, "b": 1}]
    >>> one, same, other = (
    ...     digest_of("counts", ItemData({"counts": counts}, "raise", {}, {}))
    ...     for counts in given
    ... )
    >>> one == same, one == other
    (True, False)
    """
    data: Any = known.items
    given = data[name]
    if name == "labels":
        labels = ItemLabels.of(given)
        items, n = _words(labels.ids), np.diff(labels.offsets)
        words = hashes_of(list(map(str, labels.labels)))  # as metrics are named by them
        return _digest(total_of(items), total_of(np.repeat(items, n), words[labels.codes]))
    if name in ("history", "expected"):
        own = UserItems.of(given, name, known.reading)
        flat, names = own.flat, own.flat.names
        users = _words(range(len(flat.lengths)) if own.users is None else own.users)
        if names is None:
            words = flat.ids.astype(np.int64).view(np.uint64)
        else:
            of_texts = hasattr(names, "hashes")
            words = names.hashes(flat.ids) ^ _TEXT if of_texts else _words(names)[flat.ids]
        kind = own.everyone + 2 * (own.users is None)
        return _digest(kind, total_of(users), total_of(np.repeat(users, flat.lengths), words))
    if name == "catalogue":
        ids = ids_of(given)
        words = np.sort(_words(() if isinstance(ids, range) else ids))
        if np.array_equal(words, np.arange(len(words))):  # 0..n-1, of any size
            return _digest(len(ids))
        return _digest(len(ids), total_of(words))
    if name == "distances":
        ids, numbers = distances_of(given)
        words = _words(ids)
        totals = np.array([total_of(words, row) for row in numbers], np.uint64)
        return _digest(total_of(words, totals))
    ids, numbers = (features_of if name == "features" else values_of)(given, name)
    return _digest(total_of(_words(ids), *np.atleast_2d(numbers.T)))


def _words(ids: Any) -> Words:
    """Return the words of ids, also of an array."""
    ids = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
    words = hashes_of(ids)
    return words ^ _TEXT if ids and isinstance(ids[0], str) else words


def _digest(*totals: int) -> str:
    return "-".join(f"{one:x}" for one in totals)
