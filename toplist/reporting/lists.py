"""The lists, or relevant items, of some users, out of any form; what items and users are called."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toplist.beyond.indexing import UserItems
from toplist.checks import is_missing, printable
from toplist.files.batches import Source, loaded, stream_of
from toplist.inputs.facts import Fact, by_item, ids_of
from toplist.inputs.flatten import Flat
from toplist.inputs.forms import read_sides
from toplist.inputs.ids import two_kinds
from toplist.inputs.keyed import KeptTruths
from toplist.inputs.options import ColumnNames, Joining, of_source
from toplist.metrics.conventions import CONVENTIONS, Convention
from toplist.results.markup import shortened

STANDARD = CONVENTIONS["standard"]
# What gives the items of each of some users who have any, in their order; of a ground truth those
# that are relevant, where they have grades as a dict of these.
ItemsOf = Callable[[Sequence[Any]], dict[Any, Any]]


def ranked(
    given: Any,
    kept: KeptTruths,
    rules: Convention,
    columns: ColumnNames,
    padding: Any,
    read: Callable[[Source], Any],
) -> Flat:
    """Return the lists of the users of ground truths, in their order; `read` reads a file."""
    given, said = of_source(given, columns, rules)
    if isinstance(given, (str, os.PathLike)):
        how: Any = (said.get(one) for one in ("ranks_format", "columns", "order", "ties"))
        given = read(stream_of(given, "ranks", *how))
    how = {one: said[one] for one in ("columns", "users") if one in said}
    joining = Joining(padding=padding, ties=said["ties"] or "order", **how)
    return read_sides(given, kept, None, joining)[0]


def row_of(lists: Flat, place: int) -> list[Any]:
    """Return a ranked list."""
    return [*lists.row(place)][: int(lists.lengths[place])]


def truth_of(lists: Flat, place: int, padding: Any = None) -> Any:
    """Return the ground truth of one user: a list, of groups their items; or a dict of grades."""
    items = lists.row(place)
    if lists.grades is None or lists.grouped:
        return [one for one in items if padding is None or one != padding]
    start = int(lists.offsets[place])
    pairs = zip(items, lists.grades[start : start + len(items)].tolist(), strict=True)
    return {one: grade for one, grade in pairs if padding is None or one != padding}


def items_of(
    kept: KeptTruths,
    given: Any = None,
    rules: Convention = STANDARD,
    columns: ColumnNames = None,
    padding: Any = None,
    relevant_from: float | None = None,
    users: Any = None,
) -> ItemsOf:
    """Return what gives the items of users: of lists, for which a file is read again, or truths.

    Parameters
    ----------
    kept : KeptTruths
    given : any form that `toplist.top_k_eval` takes of many users; None for the truths themselves
    rules : Convention
    columns, padding, relevant_from : as in `toplist.top_k_eval`
    users : keys, optional
        Of the rows, where they have none of their own.
    """

    def found(some: Sequence[Any]) -> dict[Any, Any]:
        keys: Any = users if users is not None else kept.users
        places = {key: row for row, key in enumerate(range(len(kept)) if keys is None else keys)}
        known = [user for user in some if user in places]
        if given is not None:
            lists = ranked(given, kept, rules, columns, padding, lambda s: loaded(s, kept.texts))
            rows = {user: row_of(lists, places[user]) for user in known}
            return {user: row for user, row in rows.items() if row}
        truths = {user: truth_of(kept.flat, places[user], padding) for user in known}
        return {user: _relevant(row, relevant_from) for user, row in truths.items()}

    return found


def _relevant(row: Any, least: float | None) -> Any:
    """Return the items of a row once; of grades those that are relevant, with theirs."""
    if isinstance(row, Mapping):
        return {item: g for item, g in row.items() if (g > 0 if least is None else g >= least)}
    return list(dict.fromkeys(row))


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
