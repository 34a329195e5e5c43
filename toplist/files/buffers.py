"""Lists whose users have not come on the other side yet, kept by the number of the user."""

import numpy as np
from numpy.typing import NDArray

from toplist.inputs.keyed import Keyed
from toplist.inputs.lists import offsets_of


class Waiting:
    """Lists of one side of a join of two streams: added in parts, taken by user, then forgotten."""

    def __init__(self) -> None:
        self._parts: list[Keyed | None] = []  # None: all its lists were taken
        self._starts = np.empty(0, np.int64)  # the row of each part's first list
        self._left = np.empty(0, np.int64)  # lists not yet taken, of each part
        self._rows = np.empty(0, np.int64)  # of each user's list, by number; -1: none
        self._n_rows = 0
        self.n_ids = 0

    @property
    def reached(self) -> bool:
        """Whether any list of the last part was taken, or there is none."""
        if not len(self._parts):
            return True
        return bool(self._left[-1] < self._n_rows - self._starts[-1])

    def users(self) -> NDArray[np.int64]:
        """Return the numbers of the users whose lists are here."""
        return np.flatnonzero(self._rows >= 0)

    def has(self, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say which users' lists are here."""
        known = np.minimum(numbers, len(self._rows))
        return np.append(self._rows, -1)[known] >= 0

    def add(self, numbers: NDArray[np.int64], lists: Keyed, n_users: int) -> None:
        """Keep lists of users who have none here; `n_users` are numbered so far."""
        if not len(numbers):
            return
        if len(self._rows) < n_users:
            rows = np.full(max(n_users, 2 * len(self._rows)), -1)
            rows[: len(self._rows)] = self._rows
            self._rows = rows
        self._rows[numbers] = self._n_rows + np.arange(len(numbers))
        self._starts = np.append(self._starts, self._n_rows)
        self._left = np.append(self._left, len(numbers))
        self._parts.append(lists)
        self._n_rows += len(numbers)
        self.n_ids += int(lists.offsets[-1])

    def take(
        self, numbers: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64] | None]:
        """Return the lists of users (offsets, ids, grades), and forget them."""
        rows = self._rows[numbers]
        self._rows[numbers] = -1
        of_part = np.searchsorted(self._starts, rows, side="right") - 1
        groups = [(int(part), np.flatnonzero(of_part == part)) for part in np.unique(of_part)]
        lengths = np.empty(len(numbers), np.int64)
        for part, these in groups:
            lengths[these] = np.diff(self._part(part).offsets)[rows[these] - self._starts[part]]
        offsets = offsets_of(lengths)
        graded = any(self._part(part).grades is not None for part, _ in groups)
        items = np.empty(offsets[-1], np.int64)
        grades = np.empty(offsets[-1]) if graded else None
        for part, these in groups:
            places = rows[these] - self._starts[part]
            self._part(part).copy_to(places, offsets[these], items, grades)
            self._left[part] -= len(these)
            if self._left[part] == 0:
                self._parts[part] = None
        self.n_ids -= int(offsets[-1])
        return offsets, items, grades

    def _part(self, part: int) -> Keyed:
        found = self._parts[part]
        assert found is not None  # no user of a forgotten part is asked for
        return found
