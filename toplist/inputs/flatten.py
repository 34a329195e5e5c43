"""`Flat`: the ids of one side of an evaluation, before they are encoded."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.inputs.lists import Lists


@dataclass(frozen=True, eq=False)
class Flat:
    """The ids of one side: user u's are the `lengths[u]` from `offsets[u]` on.

    `ids` is an array, or (before encoding) the rows as Python containers. `grades`, if any, has
    a place for each id. With `names`, the ids are codes of these.
    """

    side: str
    ids: Any
    offsets: NDArray[np.int64]
    lengths: NDArray[np.int64]
    grades: NDArray[np.float64] | None = None
    names: list[Any] | None = None

    def cut(self, depth: int) -> "Flat":
        """Keep the first `depth` ids of every list."""
        return replace(self, lengths=np.minimum(self.lengths, depth))

    @property
    def rows(self) -> Iterable[Sequence[Any]]:
        """The ids as Python objects, user by user."""
        if not isinstance(self.ids, np.ndarray):
            return self.ids  # type: ignore[no-any-return]
        return map(self.row, range(len(self.lengths)))

    def row(self, user: int) -> Sequence[Any]:
        """Return the ids of one user as Python objects, as they were written."""
        if not isinstance(self.ids, np.ndarray):
            return list(self.ids[user])
        start = self.offsets[user]
        ids: list[Any] = self.ids[start : start + self.lengths[user]].tolist()
        return ids if self.names is None else [self.names[code] for code in ids]


def name_user(users: Sequence[Any] | None, position: int) -> str:
    """Name a user in a message: by key, or by position."""
    return f"user {position}" if users is None else f"user {users[position]!r}"


def trim(flat: Flat, padding: int | None, users: Sequence[Any] | None) -> Flat:
    """Shorten the lists by the padding at their ends."""
    if padding is None:
        return flat
    from toplist.kernels import join as kernels
    from toplist.kernels import readonly

    ids = readonly(flat.ids)
    lengths, user, place = kernels.trim(ids, flat.offsets, flat.lengths, padding)
    if user >= 0:
        raise ValueError(
            f"{flat.side}: {name_user(users, user)} has padding at rank {place + 1}, "
            "before a real id: padding is only dropped from the end"
        )
    return replace(flat, lengths=lengths)


def compact(flat: Flat) -> Lists:
    """Close the gaps that padding left."""
    if flat.lengths.sum() == len(flat.ids):
        return Lists(flat.offsets, flat.ids, flat.grades)
    offsets = np.concatenate([[0], np.cumsum(flat.lengths)])
    kept = np.arange(offsets[-1]) + np.repeat(flat.offsets[:-1] - offsets[:-1], flat.lengths)
    return Lists(offsets, flat.ids[kept], None if flat.grades is None else flat.grades[kept])
