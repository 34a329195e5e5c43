"""`Keyed`: lists keyed by a column of users, and `align`: two such sides, user by user.

Every table takes this form, and so does a dict if the other side is a table. The rows of two
aligned sides follow the order in which users first appear in the truth.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist.inputs.errors import no_common_user, two_kinds, user_in_two_rows
from toplist.inputs.factorize import Column, Numbering
from toplist.inputs.flatten import Flat, flatten, is_truth_container
from toplist.inputs.ids import encode_alone, kinds_of, seeded
from toplist.inputs.lists import offsets_of


@dataclass(frozen=True, eq=False)
class Keyed:
    """Lists of ids, each under its user: list i is ``items.codes[offsets[i]:offsets[i + 1]]``."""

    side: str
    users: Column
    items: Column
    offsets: NDArray[np.int64]
    grades: NDArray[np.float64] | None = None

    def take(self, places: NDArray[np.int64]) -> "Keyed":
        """Return the lists at `places` (-1: an empty one); the column of users is unchanged."""
        starts, ends = (
            np.append(part, 0)[places] for part in (self.offsets[:-1], self.offsets[1:])
        )
        offsets = offsets_of(ends - starts)
        items = np.empty(offsets[-1], np.int64)
        grades = None if self.grades is None else np.empty(offsets[-1])
        self.copy_to(places, offsets[:-1], items, grades)
        return replace(self, items=replace(self.items, codes=items), offsets=offsets, grades=grades)

    def copy_to(
        self,
        places: NDArray[np.int64],
        targets: NDArray[np.int64],
        items: NDArray[np.int64],
        grades: NDArray[np.float64] | None,
    ) -> None:
        """Copy the lists at `places` into `items`, and their grades, each from its target on."""
        from toplist.kernels import grouping

        starts = np.append(self.offsets[:-1], 0)[places]
        lengths = np.append(np.diff(self.offsets), 0)[places]
        where = starts, lengths, targets
        grouping.gather(*where, self.items.codes, items)
        if grades is not None and self.grades is not None:
            grouping.gather(*where, self.grades.view(np.int64), grades.view(np.int64))

    def flat(self) -> Flat:
        """Return the lists, in their order."""
        lengths = np.diff(self.offsets)
        return Flat(
            self.side, self.items.codes, self.offsets, lengths, self.grades, self.items.names
        )


def keyed(rows: Mapping[Any, Any], side: str) -> Keyed:
    """Return a dict user -> ids in the form of a table."""
    flat = flatten([r if is_truth_container(r) else [r] for r in rows.values()], None, side)
    items = Column("item_id", *encode_alone(flat))
    users = list(rows)
    keys = np.array(users) if users and kinds_of(users, side) == {int} else None
    if keys is None or keys.dtype.kind not in "iu":  # text, or integers beyond 64 bits
        column = Column("user_id", np.arange(len(users)), users)
    else:
        column = Column("user_id", keys)
    return Keyed(side, column, items, flat.offsets, flat.grades)


def align(ranked: Keyed, truth: Keyed) -> tuple[list[Any], Flat, Flat, int]:
    """Align two sides by user: users, their ranked and relevant ids, and how many are left over.

    Raises
    ------
    TypeError
        For ids of two kinds.
    ValueError
        For a user who is twice on a side, or no user on both sides.
    """
    ranked, truth = _alike(ranked, truth)
    numbering = Numbering()
    numbers = [numbering.number(truth.users.codes)]
    n_users = len(numbering)
    numbers.append(numbering.number(ranked.users.codes))
    known = numbering.codes
    for side, found in ((truth, numbers[0]), (ranked, numbers[1])):
        _refuse_twice(side, found)
    users = truth.users.decoded(known[:n_users])
    if len(numbers[1]) and n_users and int(numbers[1].min()) >= n_users:
        other = ranked.users.decode(known[n_users])
        raise no_common_user(other, users[0])
    places = np.full(len(known), -1)
    places[numbers[1]] = np.arange(len(numbers[1]))
    places = places[:n_users]
    if len(numbers[1]) != n_users or not np.array_equal(places, np.arange(n_users)):
        ranked = ranked.take(places)
    return users, ranked.flat(), truth.flat(), len(known) - n_users


def _refuse_twice(side: Keyed, numbers: NDArray[np.int64]) -> None:
    counts = np.bincount(numbers)
    if len(numbers) and counts.max() > 1:
        first, second = np.flatnonzero(numbers == np.argmax(counts > 1))[:2].tolist()
        user = side.users.decode(side.users.codes[first])
        raise user_in_two_rows(side.side, user, first, second)


def _alike(ranked: Keyed, truth: Keyed) -> tuple[Keyed, Keyed]:
    """Return two sides whose codes are equal exactly where the ids are."""
    users = alike(ranked.users, truth.users)
    items = alike(ranked.items, truth.items)
    sides = zip((ranked, truth), users, items, strict=True)
    ranked, truth = (replace(side, users=user, items=item) for side, user, item in sides)
    return ranked, truth


def alike(a: Column, b: Column) -> tuple[Column, Column]:
    """Return columns of both sides, ranks first, whose codes are equal where the ids are."""
    if not len(a.codes):  # an empty column is of any kind
        return Column(a.name, np.empty(0, np.int64), b.names), b
    if not len(b.codes):
        return a, Column(b.name, np.empty(0, np.int64), a.names)
    if (a.names is None) != (b.names is None) and (_wide(a) or _wide(b)):
        a, b = (column if column.names is not None else _named(column) for column in (a, b))
    if (a.names is None) != (b.names is None):
        raise two_kinds(
            f"column {b.name!r} holds ids",
            f"{_example(a)} in ranks",
            f"{_example(b)} in ground_truths",
            "convert one side",
        )
    if a.names is None or b.names is None:
        return _same_width(a, b)
    ranked, truth = (seeded(names) if _wide(a) else names for names in (a.names, b.names))
    place = {key: code for code, key in enumerate(truth)}
    codes = np.array([place.setdefault(key, len(place)) for key in ranked], np.int64)
    new = [name for name, code in zip(a.names, codes.tolist(), strict=True) if code >= len(b.names)]
    names = [*b.names, *new]
    return Column(a.name, codes[a.codes], names), Column(b.name, b.codes, names)


def _wide(column: Column) -> bool:
    """Whether a column has names that are integers: some are beyond 64 bits."""
    return column.names is not None and all(isinstance(name, int) for name in column.names)


def _named(column: Column) -> Column:
    values, codes = np.unique(column.codes, return_inverse=True)
    return Column(column.name, codes, values.tolist())


def _example(column: Column) -> str:
    return repr(column.decode(column.codes[0]))


def _same_width(a: Column, b: Column) -> tuple[Column, Column]:
    """Bring integers to int64; beyond it, to codes."""
    top = np.iinfo(np.int64).max
    if all(c.codes.dtype != np.uint64 or c.codes.max(initial=0) <= top for c in (a, b)):
        return tuple(Column(c.name, c.codes.astype(np.int64, copy=False)) for c in (a, b))  # type: ignore[return-value]
    return alike(_named(a), _named(b))
