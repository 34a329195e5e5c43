"""Two baselines for a first comparison: what is chosen most, and items at random."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import chain, compress
from typing import Any

import numpy as np

from toplist.checks import Ints, check_positive_int, choice
from toplist.inputs.ids import kinds_of
from toplist.inputs.lists import Lists, offsets_of
from toplist.loo.logs import read_log
from toplist.loo.sampling import negatives

# How integers are written.
_INTEGER = re.compile("-?(0|[1-9][0-9]{0,18})")


def popular(
    train: Any,
    k: int,
    *,
    users: Iterable[Any] | None = None,
    exclude: Any = "train",
    columns: Mapping[str, str] | None = None,
) -> dict[Any, list[Any]]:
    """List the k items with the most rows, of each user those not seen yet.

    Parameters
    ----------
    train : table, dict of columns, tuple (users, items), or path
        The training part, in any form of a log; times are not needed.
    k : int
        Length of the lists; where fewer items are left, they are shorter.
    users : iterable of ids, optional
        Whose lists, such as ``split.truths()``; users who are new have seen nothing. Default: those
        of `train`.
    exclude : "train", mapping user -> items, or None
        What a user is not given: the user's items in `train`, other ones, or nothing.
    columns : mapping, optional
        The log's own names of user_id and item_id.

    Returns
    -------
    dict user -> list of items
        Of items chosen as often, integers (text of them, too) come first by number, then text by
        code point: neither the order of rows nor the kind of the log matters.

    Raises
    ------
    TypeError, ValueError
        For other forms, and users of another kind than those of the log.

    Examples
    --------
    >>> from toplist import loo
    >>> loo.popular(([1, 1, 2, 3], ["tea", "jam", "jam", "fig"]), 2)
    {1: ['fig'], 2: ['fig', 'tea'], 3: ['jam', 'tea']}
    >>> loo.popular(([1, 1, 2], [5, 6, 6]), 1, users=[1, 9], exclude={1: [6]})
    {1: [5], 9: [6]}
    """
    k = check_positive_int(k, "k")
    given, items, offsets, owner, seen = _read(train, users, exclude, columns, by_popularity=True)
    k = min(k, len(items))
    # Seen place s of a user, the i-th, stands before the unseen ones from number s - i on.
    number = seen - np.arange(len(seen)) + offsets[owner]
    cells = (owner * k + number)[number < k]
    before = np.bincount(cells, minlength=len(given) * k).reshape(len(given), k)
    places = np.arange(k) + np.cumsum(before, axis=1)
    return {
        user: [items[place] for place in row if place < len(items)]
        for user, row in zip(given, places.tolist(), strict=True)
    }


def random(
    train: Any,
    k: int,
    *,
    seed: int = 0,
    users: Iterable[Any] | None = None,
    exclude: Any = "train",
    columns: Mapping[str, str] | None = None,
) -> dict[Any, list[Any]]:
    """List k items at random, all of the training part as likely, of each user those not seen yet.

    Parameters
    ----------
    train, k, users, exclude, columns
        As in `popular`.
    seed : int
        A user's list follows from seed, user and the items, whatever the other users are.

    Returns
    -------
    dict user -> list of items
        Shorter where fewer than k items are left.

    Raises
    ------
    TypeError, ValueError
        As `popular`.

    Examples
    --------
    >>> from toplist import loo
    >>> loo.random(([1, 1, 2, 3], ["tea", "jam", "jam", "fig"]), 1)
    {1: ['fig'], 2: ['fig'], 3: ['tea']}
    """
    k = check_positive_int(k, "k")
    given, items, offsets, owner, seen = _read(train, users, exclude, columns, by_popularity=False)
    n, found = len(items), {user: list[Any]() for user in given}
    # There is no held-out item: one more, of weight 0, stands for it.
    draw = partial(negatives, n_items=n + 1, popularity=np.arange(n + 1) < n, seed=seed)
    n_seen = np.diff(offsets)
    left = np.minimum(k, n - n_seen)
    for size in np.unique(left[left > 0]).tolist():
        rows = left == size
        own = Lists(offsets_of(n_seen[rows]), seen[rows[owner]])
        some = list(compress(given, rows.tolist()))
        drawn = draw(np.full(len(some), n), size, exclude=own, users=some)
        for user, row in zip(some, drawn.tolist(), strict=True):
            found[user] = [items[place] for place in row]
    return found


def _read(
    train: Any,
    users: Iterable[Any] | None,
    exclude: Any,
    columns: Mapping[str, str] | None,
    by_popularity: bool,
) -> tuple[list[Any], list[Any], Ints, Ints, Ints]:
    """Return the users; the items by popularity or id; and where their seen items are.

    These are offsets, the row of the user and the place of the item, by user and place.
    """
    log = read_log(train, columns)
    names, n = log.items.names, max(1, len(log.items.names))
    counts = np.bincount(log.items.codes, minlength=n) * by_popularity
    order = sorted(range(len(names)), key=lambda code: (-counts[code], *_by_id(names[code])))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    given = log.users.names if users is None else list(dict.fromkeys(users))
    kinds_of([*log.users.names[:1], *given], "users")
    row_of = {user: row for row, user in enumerate(given)}
    pairs = np.empty(0, np.int64)
    if isinstance(exclude, Mapping):
        some = {row_of[user]: list(seen) for user, seen in exclude.items() if user in row_of}
        kinds_of([*names[:1], *chain(*some.values())], "exclude")
        places = {names[code]: at for at, code in enumerate(order)}
        found = (
            row * n + places[item] for row, seen in some.items() for item in seen if item in places
        )
        pairs = np.fromiter(found, np.int64)
    elif exclude is not None:
        choice("exclude", exclude, ("train",))
        rows = np.array([row_of.get(user, -1) for user in log.users.names], np.int64)
        pairs = (rows[log.users.codes] * n + place[log.items.codes])[rows[log.users.codes] >= 0]
    pairs = np.unique(pairs)
    offsets = offsets_of(np.bincount(pairs // n, minlength=len(given)))
    return given, [names[code] for code in order], offsets, pairs // n, pairs % n


def _by_id(item: Any) -> tuple[bool, int, str]:
    """Return the key by which items are sorted: integers, also as text, then other text."""
    text = str(item)
    return (False, int(text), "") if _INTEGER.fullmatch(text) else (True, 0, text)
