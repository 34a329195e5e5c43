"""Items of each user beside the lists: a history, or what could be expected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from toplist.beyond.indexing import Listed, ReadLists
from toplist.checks import Ints, cached, prefixed
from toplist.inputs import columns as cols
from toplist.inputs.flatten import CONTAINERS, Flat, flatten, is_frame, is_truth_container
from toplist.inputs.forms import side_to_builtin, truths_of_many
from toplist.inputs.ids import alone
from toplist.inputs.keyed import CountedItems
from toplist.inputs.lists import Lists, offsets_of
from toplist.inputs.options import Reading, columns_of, named_in
from toplist.inputs.shaping import compact, unpadded
from toplist.inputs.tables import SideTable, read


@dataclass(frozen=True, eq=False)
class UserItems:
    """Items of each user, by key or by position, or one set of items for everyone.

    Attributes
    ----------
    name : str
        The keyword that gave them, for messages.
    flat : Flat
        The items as integers or codes, without padding; an item counts as often as it is there.
    everyone : bool
        Whether the only row is for every user.
    """

    name: str
    flat: Flat
    everyone: bool = False

    @property
    def users(self) -> Any:
        """Whose they are; None by position."""
        return self.flat.users

    @classmethod
    def of(cls, given: Any, name: str, how: Reading, single: bool = False) -> UserItems:
        """Read items of users in the forms of ground truths.

        `single` says that they are beside the list of one bare user.

        Raises
        ------
        TypeError, ValueError
            For other forms, and ids that are none.

        Examples
        --------
        >>> UserItems.of({"ann": ["a", "b", "a"], "bob": "b"}, "history", {}).flat.lengths.tolist()
        [3, 1]
        """
        if isinstance(given, cls):
            return given
        try:
            flat, everyone = _read(given, name, how, single)
            flat = unpadded(alone(flat), how.get("padding"))
            lists = compact(flat)
            ids, offsets = lists.items, lists.offsets
            if lists.gains is not None and (lists.gains <= 0).any():  # grades: judged, not liked
                kept = lists.gains > 0
                ids, offsets = ids[kept], offsets_of(kept)[offsets]
            flat = replace(flat, ids=ids, offsets=offsets, lengths=np.diff(offsets), grades=None)
            if how.get("items_as") is not None:
                from toplist.inputs.documents import ItemMap  # few need it: imports stay quick

                flat = ItemMap.of(how["items_as"]).mapped(flat, repeats=True)
        except (TypeError, ValueError) as error:
            raise error if str(error).startswith(name) else prefixed(f"{name}: ", error) from None
        return cls(name, flat, everyone)

    def rows(self, lists: ReadLists | Listed, n: int, whole: bool = True) -> Ints:
        """Return the row of each of n users, -1 of those who have none.

        `whole` says that these are all users, so that one of them should have a row.

        Raises
        ------
        TypeError
            If one of both is by key and the other by position.
        ValueError
            For another number of users by position, or none in common.
        """
        users = lists.users
        if self.everyone:
            return np.zeros(n, np.int64)
        if (self.users is None) != (users is None):
            way = "give a dict user -> items" if self.users is None else "users= names the lists"
            which = "by position, ranks by key" if self.users is None else "by key, ranks is not"
            raise TypeError(f"{self.name} is {which}: {way}, or give both by position")
        if users is None:
            if len(self.flat.lengths) != n:
                raise ValueError(
                    f"{n:,} ranked lists but {len(self.flat.lengths):,} users in {self.name}: by "
                    "position each list needs one"
                )
            return np.arange(n)
        found = np.array([self._places.get(user, -1) for user in users], np.int64)
        if whole and n and self._places and not (found >= 0).any():
            raise ValueError(
                f"{self.name} has none of the users: it has {next(iter(self._places))!r}, ranks "
                f"has {users[0]!r}"
            )
        return found

    @cached
    def _places(self) -> dict[Any, int]:
        """The row of each user."""
        return {user: row for row, user in enumerate(self.users or ())}


def _read(given: Any, name: str, how: Reading, single: bool) -> tuple[Flat, bool]:
    """Return the items of users, and whether these are for everyone."""
    if isinstance(given, (set, frozenset)):
        return flatten([given], None, name, how.get("padding")), True
    value = side_to_builtin(given, "ground_truths")
    if is_frame(value):
        frame = cols.readable(value)
        names = columns_of(how.get("columns"), "ground_truths")
        names = named_in(names, cols.names_of(frame), "ground_truths")
        lists = read(SideTable(frame, name, names, order="file"))
        return replace(lists, users=lists.keys), False
    padding = how.get("padding")
    if isinstance(value, Mapping):
        rows = [row if is_truth_container(row) else [row] for row in value.values()]
        users = None if isinstance(value, CountedItems) else list(value)
        return replace(flatten(rows, None, name, padding), users=users), False
    if not isinstance(value, (Lists, np.ndarray, *CONTAINERS)):
        raise TypeError(
            f"{name} is a {type(given).__name__}: give a dict user -> items, a table of user_id "
            "and item_id, or a list of items for each list by position"
        )
    rows = truths_of_many(value)
    if single and rows is not value and all(map(len, rows)):  # bare ids, of one user then
        rows = [value]
    return flatten(rows, None, name, padding), False
