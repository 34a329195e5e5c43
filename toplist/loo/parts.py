"""`Split`, the parts of a log, each of the log's own kind; `Report`, where its rows went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from toplist.checks import Bools, Ints, choice, counted
from toplist.inputs.lists import Lists
from toplist.loo.histories import Core, Histories
from toplist.loo.logs import Ids, Log, newest

Part = Literal["train", "test", "validation", "history"]
PARTS: tuple[Part, ...] = get_args(Part)
# The numbers of the parts, and of rows after the horizon of a window, and of those left out.
TRAIN, TEST, VALIDATION, HISTORY, LATER, NOWHERE = range(6)
# Where the rows of users with too little history went.
_REST = {"train": "all in train", "drop": "left out", "test": "their test rows are left out"}


@dataclass(frozen=True)
class Report:
    """Where the rows and users of a log went; some lines of text when printed.

    Attributes
    ----------
    how : str
        The rule, with its seed.
    n_rows, n_users, n_items : int
        Of the log. `n_rows` = the rows of the parts + `n_repeats` + `n_dropped` + `n_later` + those
        that `core` left out.
    rows, users : dict part -> int
        Rows of "train", "test" and so on, and the users who have some.
    n_repeats : int
        Rows left out as repeated choices of an item by its user.
    n_dropped : int
        Rows left out because their user has too little history.
    n_short : int
        Users without a test row for that reason.
    min_history : int
        Interactions that had to stay for training.
    short : str
        Where the rows of such users went: "train", "drop" or "test" (only the test is dropped).
    n_tied : int or None
        Users with several items at their newest timestamp: which is the last is random. None
        where there are no times.
    n_cold : int
        Test items (distinct) that are not in train.
    n_cold_users : int
        Users with a test row and none in train.
    n_older : int or None
        Test rows older than the newest row of train: a model may know their future.
    by_share : bool
        Whether a share of each user's rows was held out: then the shares of all rows are printed,
        which are below it, since whole rows of each user are held out.
    n_later : int
        Rows after the horizon of a window.
    core : Core or None
        What was left out with ``k_core=``.

    Examples
    --------
    >>> from toplist import loo
    >>> report = loo.leave_one_out(([7, 7, 7], ["a", "b", "a"], [1, 2, 3])).report
    >>> report.n_rows, report.rows, report.n_repeats
    (3, {'train': 1, 'test': 1}, 1)
    """

    how: str
    n_rows: int
    n_users: int
    n_items: int
    rows: Mapping[str, int]
    users: Mapping[str, int]
    n_repeats: int
    n_dropped: int
    n_short: int
    min_history: int
    short: str
    n_tied: int | None
    n_cold: int
    n_cold_users: int
    n_older: int | None
    by_share: bool = False
    n_later: int = 0
    core: Core | None = None

    def __str__(self) -> str:
        """Return the report in words."""
        parts = (
            f"{part}: {counted(n, 'row')} of {counted(self.users[part], 'user')}"
            for part, n in self.rows.items()
        )
        total, n_test = max(1, sum(self.rows.values())), max(1, self.rows["test"])
        shares = (f"{part} {100 * n / total:.1f} %" for part, n in self.rows.items())
        dropped = f": {counted(self.n_dropped, 'row')}" if self.n_dropped else ""
        tied = 100 * (self.n_tied or 0) / max(1, self.n_users)
        of = max(1, self.users["test"])
        why = "given their history" if "history" in self.rows else "new to any model"
        lines = {
            self.how: True,
            f"{counted(self.n_rows, 'row')} of {counted(self.n_users, 'user')} and "
            f"{counted(self.n_items, 'item')}": True,
            "; ".join(parts): True,
            f"shares of the rows: {', '.join(shares)}": self.by_share,
            str(self.core): self.core is not None,
            f"{counted(self.n_repeats, 'row')} left out: repeated choices of an item": (
                self.n_repeats
            ),
            f"{counted(self.n_later, 'row')} left out: after the horizon": self.n_later,
            f"{counted(self.n_short, 'user')} without a test row: too few interactions "
            f"(min_history={self.min_history}; {_REST[self.short]}{dropped})": self.n_short,
            f"{counted(self.n_tied or 0, 'user')} ({tied:.1f} %) with several items at their "
            "newest timestamp": self.n_tied,
            f"{counted(self.n_cold, 'test item')} {'is' if self.n_cold == 1 else 'are'} not in "
            "train: unknown to any model": self.n_cold,
            f"{counted(self.n_cold_users, 'user')} of {of:,} in the test "
            f"({100 * self.n_cold_users / of:.1f} %) {'has' if self.n_cold_users == 1 else 'have'} "
            f"no row in train: {why}": self.n_cold_users,
            f"{counted(self.n_older or 0, 'test row')} ({100 * (self.n_older or 0) / n_test:.1f} %)"
            " older than the newest row of train: a model may know their future": self.n_older,
        }
        return "\n".join(line for line, is_said in lines.items() if is_said)

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class Split:
    """The parts of a log, each of the log's own kind, rows in the log's order.

    Attributes
    ----------
    train, test : as the log
    validation : as the log, or None
    history : as the log, or None
        Of held-out users, what the model is given at prediction, and not in training.
    report : Report
    log, rows : Log and mapping
        The log that was split, and the rows of each part in it.

    Examples
    --------
    >>> from toplist import loo
    >>> split = loo.leave_one_out({"user_id": [7, 7], "item_id": [1, 2], "timestamp": [5, 4]})
    >>> split.test
    {'user_id': [7], 'item_id': [1], 'timestamp': [5]}
    """

    train: Any
    test: Any
    validation: Any
    report: Report
    log: Log = field(repr=False)
    rows: Mapping[str, Ints] = field(repr=False)
    history: Any = None

    def __repr__(self) -> str:
        """Return the report."""
        return repr(self.report)

    def truths(self, part: Part = "test") -> dict[Any, list[Any]]:
        """Return the held-out items of every user who has some: ground truths for `top_k_eval`.

        Parameters
        ----------
        part : {"test", "validation", "train", "history"}
            With "train", what each user is known to have chosen.

        Examples
        --------
        >>> from toplist import loo
        >>> split = loo.leave_one_out(([7, 7, 8], ["a", "b", "a"], [1, 2, 3]))
        >>> split.truths(), split.truths("train")
        ({7: ['b']}, {7: ['a'], 8: ['a']})
        """
        choice("part", part, PARTS)
        return self.log.by_user(self.rows[part])

    def columns(self) -> Columns:
        """Return the split as rows and columns of scores: for `ranks_of` and `sampled_ranks`.

        Raises
        ------
        ValueError
            If a user has several test items.

        Examples
        --------
        >>> from toplist import loo
        >>> split = loo.leave_one_out(([7, 7, 8], ["b", "a", "c"], [1, 2, 3]))
        >>> users, items, held_out, seen = split.columns()
        >>> users, items, held_out.tolist(), seen[0].tolist()
        ([7], ['a', 'b', 'c'], [0], [1])
        """
        test = self.rows["test"]
        of_test = self.log.users.codes[test]
        row = np.full(len(self.log.users.names), -1)
        row[of_test] = np.arange(len(test))
        if len(np.unique(of_test)) < len(test):
            raise ValueError("columns: a user has several test items, one each is needed")
        items, column = _sorted(self.log.items)
        known = np.concatenate([self.rows[part] for part in PARTS if part != "test"])
        owner = row[self.log.users.codes[known]]
        known, owner = known[owner >= 0], owner[owner >= 0]
        # With repeats="keep" the held-out item may be in train: it is not among the seen ones.
        held = self.log.items.codes[test][owner]
        other = self.log.items.codes[known] != held
        known, owner = known[other], owner[other]
        order = np.argsort(owner, kind="stable")
        offsets = np.searchsorted(owner[order], np.arange(len(test) + 1))
        seen = Lists(offsets, column[self.log.items.codes[known[order]]])
        users = [self.log.users.names[code] for code in of_test.tolist()]
        return Columns(users, items, column[self.log.items.codes[test]], seen)


class Columns(NamedTuple):
    """A split as positions in an array of scores: users are rows, items are columns.

    `users` are the test users, `items` all items of the log, sorted; `held_out` is the column of
    each user's test item, `seen` the columns of each user's items in the other parts.

    Examples
    --------
    >>> from toplist import loo
    >>> loo.leave_one_out(([7, 7], ["b", "a"], [1, 2])).columns().held_out.tolist()
    [0]
    """

    users: list[Any]
    items: list[Any]
    held_out: NDArray[np.int64]
    seen: Lists


def split_of(
    rows: Histories, part: Ints, asked: Sequence[Part], lacking: Bools, **rules: Any
) -> Split:
    """Take the parts of a log, and count its rows and users.

    `part` is the number of the part of each row; parts that were not `asked` for are None.
    `lacking` flags users with too little history; `rules` are fields of the report that are not
    counted.
    """
    log, core = rows.log, rows.core
    places: dict[str, Ints] = {
        name: np.sort(rows.rows[part == number]) for number, name in enumerate(PARTS)
    }
    users, items = (
        {name: _has(ids, places[name]) for name in asked} for ids in (log.users, log.items)
    )
    train, test = places["train"], places["test"]
    n_tied = n_older = None
    if log.known_times is not None:
        times = log.known_times
        n_tied = _n_tied(log, times.ordinals)
        n_older = int(np.sum(times.values[test] < times.values[train].max())) if len(train) else 0
    left_out = (0, 0, 0) if core is None else core[2:]
    report = Report(
        n_rows=len(rows.rows) + rows.n_repeats + left_out[0],
        n_users=len(log.users.names) + left_out[1],
        n_items=len(log.items.names) + left_out[2],
        rows={name: len(places[name]) for name in asked},
        users={name: int(users[name].sum()) for name in asked},
        n_repeats=rows.n_repeats,
        n_dropped=int(np.sum(part == NOWHERE)),
        n_short=int(np.sum(lacking)),
        n_tied=n_tied,
        n_cold=int(np.sum(items["test"] & ~items["train"])),
        n_cold_users=int(np.sum(users["test"] & ~users["train"])),
        n_older=n_older,
        n_later=int(np.sum(part == LATER)),
        core=core,
        **rules,
    )
    parts = {name: log.take(places[name]) if name in asked else None for name in PARTS}
    return Split(**parts, report=report, log=log, rows=places)


def _has(ids: Ids, rows: Ints) -> Bools:
    """Flag the codes of ids that some rows have."""
    found = np.zeros(len(ids.names), bool)
    found[ids.codes[rows]] = True
    return found


def _n_tied(log: Log, times: Ints) -> int:
    """Count users with several items at their newest time, before repeats are left out."""
    users, items, n_items = log.users.codes, log.items.codes, max(1, len(log.items.names))
    last = newest(users, times)
    pairs = np.unique(users[last] * n_items + items[last])
    return int(np.sum(np.bincount(pairs // n_items) > 1))


def _sorted(ids: Ids) -> tuple[list[Any], Ints]:
    """Return the ids sorted, and the place of each code; unsorted if they cannot be compared."""
    try:
        order = sorted(range(len(ids.names)), key=ids.names.__getitem__)
    except TypeError:
        order = list(range(len(ids.names)))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return [ids.names[code] for code in order], place
