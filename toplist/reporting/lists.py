"""The lists, or relevant items, of some users, out of any form; what items and users are called."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from toplist.beyond.indexing import UserItems
from toplist.checks import is_missing, printable
from toplist.files.batches import Source, loaded
from toplist.inputs.facts import Fact, by_item, ids_of
from toplist.inputs.flatten import Flat, is_frame
from toplist.inputs.forms import side_to_builtin
from toplist.inputs.ids import two_kinds
from toplist.inputs.keyed import KeptTruths, is_series, keyed_rows
from toplist.inputs.options import ColumnNames
from toplist.inputs.tables import lists_of
from toplist.inputs.texts import Texts
from toplist.results.markup import shortened

# What gives the items of each of some users who have any, in their order; of a ground truth those
# that are relevant, where they have grades as a dict of these.
ItemsOf = Callable[[Sequence[Any]], dict[Any, Any]]


def items_of(
    side: Any,
    name: str,
    columns: ColumnNames = None,
    ties: str | None = None,
    relevant_from: float | None = None,
    padding: Any = None,
) -> ItemsOf:
    """Return what gives the items of users; a file, as a `Source`, is read again for them.

    Parameters
    ----------
    side : any form that `toplist.top_k_eval` takes of many users, or a Source
    name : {"ranks", "ground_truths"}
    columns, ties, relevant_from, padding : as in `toplist.top_k_eval`
    """

    def found(users: Sequence[Any]) -> dict[Any, Any]:
        rows = read(users)
        for user, row in rows.items() if padding is not None else ():
            if isinstance(row, dict):
                row.pop(padding, None)
            elif name == "ground_truths":
                rows[user] = [item for item in row if item != padding]
            else:  # lists are padded at their ends
                while row and row[-1] == padding:
                    row.pop()
        return rows

    def read(users: Sequence[Any]) -> dict[Any, Any]:
        given = side.rows if isinstance(side, KeptTruths) else side
        if isinstance(given, Source):
            given = loaded(given, (Texts(), Texts()))
        if not isinstance(given, Flat):
            given = side_to_builtin(given, name, (None, None, ties or "order"))
        if is_series(given):
            given = keyed_rows(given, name)
        if is_frame(given):
            given = lists_of(given, name, columns, ties or "order")
        if isinstance(given, Flat):
            return _of_table(given, users, relevant_from)
        if isinstance(given, Mapping):
            users = [user for user in users if user in given]
        return {user: _row(given[user], relevant_from) for user in users}

    return found


def catalogue_of(given: Any) -> Container[Any] | None:
    """Return what says whether an item is in the catalogue; None without one."""
    ids = None if given is None else ids_of(given)
    return ids if ids is None or isinstance(ids, range) else {*ids}


def history_of(
    given: Any, n_users: int | None = None, columns: ColumnNames = None, padding: Any = None
) -> ItemsOf:
    """Return what gives the items that users had before, each once.

    Parameters
    ----------
    given : items by user, or one set of items for everyone, as in `toplist.top_k_eval`
    n_users : int, optional
        How many there are, where users are known by position.
    columns, padding : as in `toplist.top_k_eval`

    Raises
    ------
    TypeError, ValueError
        For other forms, keys of another kind, and where nobody of several is there.
    """
    own = UserItems.of(given, "history", {"columns": columns, "padding": padding})

    def found(users: Sequence[Any]) -> dict[Any, list[Any]]:
        if n_users is None and own.flat.users and users:
            theirs, ours = own.flat.users[0], users[0]
            if isinstance(theirs, str) != isinstance(ours, str):
                sides = f"{theirs!r} in history", f"{ours!r} in ground_truths"
                raise two_kinds("users", *sides, "convert those of history")
        keys, n = (list(users), len(users)) if n_users is None else (None, n_users)
        rows = own.rows(keys, n, whole=len(users) > 1)
        places = zip(users, (rows if n_users is None else rows[list(users)]).tolist(), strict=True)
        return {user: [*dict.fromkeys(own.flat.row(row))] for user, row in places if row >= 0}

    return found


def _of_table(
    lists: Flat, users: Sequence[Any], relevant_from: float | None
) -> dict[Any, list[Any]]:
    """Return the items of some users of a table."""
    places = {user: place for place, user in enumerate(lists.keys)}
    there = [user for user in users if user in places]
    some = lists.take(np.array([places[user] for user in there], np.int64))
    items = some.items.decoded(some.items.codes)
    grades = None if some.grades is None else some.grades.tolist()
    rows = {}
    for user, (start, end) in zip(there, pairwise(some.offsets.tolist()), strict=True):
        row: Any = items[start:end]
        if grades is not None:
            row = dict(zip(row, grades[start:end], strict=True))
        rows[user] = _row(row, relevant_from)
    return rows


def _row(row: Any, relevant_from: float | None) -> Any:
    """Return the items of a row; of grades those that are relevant with theirs, of groups each."""
    if isinstance(row, Mapping):
        least = relevant_from
        return {item: g for item, g in row.items() if (g > 0 if least is None else g >= least)}
    if isinstance(row, np.ndarray):
        return list(np.atleast_1d(row).tolist())
    if isinstance(row, (str, bytes)) or not hasattr(row, "__iter__"):
        return [row]
    return list(dict.fromkeys(row)) if isinstance(row, (set, frozenset)) else list(row)


# What items and users are called


# What gives the title of an item, or None.
TitleOf = Callable[[Any], Any]
# Characters shown of an id and of a title, and those of an id in its tooltip.
OF_ID, OF_TITLE, OF_WHOLE = 80, 120, 400


def titles_of(given: Any, name: str = "titles", key: str = "item_id") -> TitleOf:
    """Return what gives the title of an item, or of a user, by a dict, a Series or a table."""
    if given is None:
        return lambda one: None
    facts = by_item(given, Fact("title", several=True), name, key)
    return dict(zip(facts.items, facts.values, strict=True)).get


def plain(value: Any) -> str:
    """Return a value as text that holds no control characters and no marks of direction."""
    text = value if isinstance(value, str) else str(value)
    return printable(shortened(text, 10_000))


@dataclass
class Words:
    """How items are called, and whether users are shown by their ids or numbered.

    Attributes
    ----------
    title_of, user_title_of : function
        The title of an item, or of a user, or None.
    named : bool
        Whether the ids of users are on the page.
    """

    title_of: TitleOf
    user_title_of: TitleOf
    named: bool
    _numbers: dict[Any, int] = field(default_factory=dict)

    def title(self, item: Any) -> str:
        """Return the title of an item, cut; "" without one."""
        return self._cut(self.title_of(item))

    def user_title(self, user: Any) -> str:
        """Return the title of a user, cut; "" without one, and where users are numbered."""
        return self._cut(self.user_title_of(user)) if self.named else ""

    def _cut(self, found: Any) -> str:
        return "" if is_missing(found) else shortened(plain(found), OF_TITLE)

    def user(self, user: Any) -> str:
        """Return what a user is called: the id, or a number of this page."""
        if self.named:
            return plain(user)
        return f"user {self._numbers.setdefault(user, len(self._numbers) + 1)}"
