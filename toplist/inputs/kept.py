"""`KeptTruths`: ground truths that are read, checked and encoded once, for many lists.

What follows from the truths alone is kept by the objects that it follows from: encoded ids,
relevant items, hashes, keys and places of users by `Flat.once`, the numbers of texts by `Texts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Any

import numpy as np

from toplist.checks import cached
from toplist.inputs.flatten import Flat, GroupedIds, flatten, is_truth_container
from toplist.inputs.keyed import encoded, keyed
from toplist.inputs.lists import Lists
from toplist.inputs.texts import Texts


class KeptTruths:
    """Ground truths in one of three forms: `rows` by position or by key, or read from a table.

    `texts` number the users and items of tables that are text, also those of the lists; `stream` is
    the file that they are from.
    """

    def __init__(self, rows: Any, texts: tuple[Texts, Texts], stream: Any = None) -> None:
        self.texts, self.stream = texts, stream
        self.rows = rows if isinstance(rows, Flat) else _copied(rows)

    def __len__(self) -> int:
        """Return the number of users."""
        rows = self.rows
        return len(rows.users.codes) if isinstance(rows, Flat) else len(rows)

    @cached
    def users(self) -> list[Any] | None:
        """The keys of the users; None where they are known by position."""
        if isinstance(self.rows, Flat):
            return self.rows.keys
        return list(self.rows) if isinstance(self.rows, Mapping) else None

    @cached
    def lists(self) -> Flat:
        """The truths in the form of a table, text by the numbers of `texts`."""
        return self.listed()

    def listed(self, padding: Any = None) -> Flat:
        """Return the truths in the form of a table, sets without `padding`."""
        if isinstance(self.rows, Flat):
            return self.rows
        found = keyed(self.rows, "ground_truths", padding)
        return found.under(
            *(
                encoded(one, known) if one.names and isinstance(one.names[0], str) else one
                for one, known in zip((found.users, found.items), self.texts, strict=True)
            )
        )

    @cached
    def flat(self) -> Flat:
        """The ids of all rows."""
        return self.flattened()

    def flattened(self, padding: Any = None) -> Flat:
        """Return the ids of all rows, sets without `padding`."""
        if isinstance(self.rows, Flat):
            return self.rows
        rows = list(self.rows.values()) if isinstance(self.rows, Mapping) else self.rows
        return replace(flatten(rows, None, "ground_truths", padding), users=self.users)


def _copied(rows: Any) -> Any:
    """Return rows that nobody else can change."""
    if isinstance(rows, Lists):
        gains = None if rows.gains is None else rows.gains.copy()
        return Lists(rows.offsets.copy(), rows.items.copy(), gains)
    if isinstance(rows, np.ndarray) and rows.dtype != object:
        return rows.copy()
    if isinstance(rows, Mapping):
        kind: Any = type(rows)  # a Series that counts its rows is known by it
        return kind(zip(rows, map(_row, rows.values()), strict=True))
    return list(map(_row, rows))


def _row(row: Any) -> Any:
    """Return a copy of a ground truth, one bare id in a list."""
    if isinstance(row, GroupedIds):
        return row
    if isinstance(row, Set):
        return frozenset(row)
    if isinstance(row, (Mapping, np.ndarray)):
        return row.copy()  # type: ignore[union-attr]
    return list(row) if is_truth_container(row) else [row]
