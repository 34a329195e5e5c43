"""`Lists`: one list of item ids per user, kept as two flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toplist.checks import Floats, Ints, doubles


@dataclass(frozen=True, eq=False)
class Lists:
    """Lists of ids of many users: user u's ids are ``items[offsets[u]:offsets[u + 1]]``.

    For ranked lists (best first) and ground truths alike; no Python object per id is needed.

    Parameters
    ----------
    offsets : (n_users + 1,) integers
        Where each list starts; begins with 0, never falls, ends with ``len(items)``.
    items : (n_ids,) array
        The ids, one list after another: integers of any width, or strings.
    gains : (n_ids,) floats, optional
        Grades of the ids (ground truths only).

    Raises
    ------
    ValueError
        If the offsets do not describe `items`, or `gains` has another length.

    Examples
    --------
    >>> lists = Lists([0, 3, 3, 5], [5, 7, 8, 4, 6])
    >>> len(lists), lists[0].tolist(), lists[1].tolist()
    (3, [5, 7, 8], [])
    """

    offsets: Ints
    items: NDArray[Any]
    gains: Floats | None = None

    def __post_init__(self) -> None:
        """Check and normalise the arrays."""
        for name in ("offsets", "items", "gains"):
            if np.ma.isMaskedArray(getattr(self, name)):
                raise TypeError(f"Lists: {name} is a masked array: leave out what is masked")
        offsets, items = np.asarray(self.offsets), np.asarray(self.items)
        _check_no_coercion(self.items, items)
        if offsets.ndim != 1 or items.ndim != 1 or offsets.dtype.kind not in "iu":
            raise ValueError("Lists: offsets must be a 1-D array of integers, items a 1-D array")
        if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(items):
            raise ValueError(
                f"Lists: offsets must begin with 0 and end with len(items) = {len(items)}"
            )
        falls = np.flatnonzero(offsets[1:] < offsets[:-1])
        if len(falls):
            raise ValueError(f"Lists: offsets fall after position {falls[0]}")
        if self.gains is not None and np.shape(self.gains) != items.shape:
            raise ValueError(f"Lists: {np.size(self.gains)} gains for {len(items)} items")
        set_ = object.__setattr__  # frozen: normalised once, here
        set_(self, "offsets", np.ascontiguousarray(offsets, np.int64))
        set_(self, "items", np.ascontiguousarray(items))
        if self.gains is not None:
            set_(self, "gains", np.ascontiguousarray(doubles(self.gains)))

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self.offsets) - 1

    def __getitem__(self, user: int) -> NDArray[Any]:
        """Return the ids of the user at position `user`."""
        if not -len(self) <= user < len(self):
            raise IndexError(f"user {user} of {len(self)}")
        user %= len(self)
        return self.items[self.offsets[user] : self.offsets[user + 1]]

    def block(self, lo: int, hi: int) -> tuple[NDArray[Any], Ints, NDArray[Any]]:
        """Return items, offsets and gains of the users ``lo..hi``, as kernels take them.

        The offsets are those among all items; the gains are empty where there are none.
        """
        offsets = self.offsets[lo : hi + 1]
        part = slice(offsets[0], offsets[-1])
        return self.items[part], offsets, np.empty(0) if self.gains is None else self.gains[part]

    def __repr__(self) -> str:
        """Return the sizes."""
        return f"Lists({len(self):,} users, {len(self.items):,} ids of {self.items.dtype})"

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Lists:
        """Return, per row, the columns whose entry is not zero, with the entries as grades.

        Parameters
        ----------
        matrix : (n_users, n_items) array or sparse matrix
            Relevance of every item to every user: 0/1, bool, or grades. A sparse matrix (scipy's,
            of any format) is never made dense; an item that is stored as 0 is not relevant. One
            below 0 was judged, and is not relevant either.

        Returns
        -------
        Lists
            Item ids are column numbers; `gains` is None when every entry is 0 or 1.

        Raises
        ------
        ValueError
            For an array that is not 2-D, or an entry that is NaN or infinite.

        Examples
        --------
        >>> truth = Lists.from_matrix([[0, 0, 1, 1], [0, 2, 0, 0]])
        >>> truth[0].tolist(), truth[1].tolist(), truth.gains.tolist()
        ([2, 3], [1], [1.0, 1.0, 2.0])
        """
        n_users, users, items, gains = _entries(matrix)
        bad = np.flatnonzero(~np.isfinite(gains))
        if len(bad):
            raise ValueError(
                f"Lists.from_matrix: entry {gains[bad[0]]:g} of user {users[bad[0]]}, item "
                f"{items[bad[0]]}: a grade is finite"
            )
        offsets = offsets_of(np.bincount(users, minlength=n_users))
        return cls(offsets, items.astype(np.int64), None if np.all(gains == 1) else gains)


def _entries(matrix: Any) -> tuple[int, NDArray[Any], NDArray[Any], Floats]:
    """Return the rows of a matrix, and row, column and value of each entry that is not 0."""
    sparse = hasattr(matrix, "tocsr")
    entries: Any = matrix.tocsr() if sparse else np.asarray(matrix)
    if entries.ndim != 2 or entries.dtype.kind not in "biuf":
        raise ValueError(
            "Lists.from_matrix: a 2-D array of numbers is needed (users x items), "
            f"not {entries.ndim}-D of {entries.dtype}"
        )
    n_users = entries.shape[0]
    if not sparse:
        users, items = np.nonzero(entries)
        return n_users, users, items, entries[users, items].astype(np.float64)
    if not entries.has_canonical_format:  # an entry stored twice is the sum of both
        entries = entries.copy()  # not the caller's
        entries.sum_duplicates()
    stored = entries.data != 0
    users = np.repeat(np.arange(n_users), np.diff(entries.indptr))
    return n_users, users[stored], entries.indices[stored], entries.data[stored].astype(np.float64)


def _check_no_coercion(given: Any, items: NDArray[Any]) -> None:
    """Raise for items that are no ids, or that numpy had to make alike."""
    if items.size and items.dtype.kind in "fbc":
        raise TypeError(f"Lists: items are {items.dtype}: ids are integers or strings")
    if not isinstance(given, np.ndarray) and items.ndim == 1:
        kinds = set(map(type, given))
        if bool in kinds or (str in kinds and len(kinds) > 1):
            names = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise TypeError(f"Lists: items are of several kinds, {names}: ids are of one")


def offsets_of(counts: Sequence[int] | NDArray[Any]) -> Ints:
    """Return where each user's part starts, given the sizes of the parts."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, dtype=np.int64, out=offsets[1:])
    return offsets


def places_of(offsets: Ints, rows: Ints) -> Ints:
    """Return the places of the values of some rows, one row after another.

    Examples
    --------
    >>> places_of(np.array([0, 2, 5]), np.array([1, 0])).tolist()
    [2, 3, 4, 0, 1]
    """
    sizes = np.diff(offsets)[rows]
    starts = np.repeat(offsets[rows] - offsets_of(sizes)[:-1], sizes)
    places: Ints = starts + np.arange(len(starts))
    return places
