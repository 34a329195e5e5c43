"""`Report`: where the rows and users of a log went in a split."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from toplist.checks import Bools, Ints, counted
from toplist.loo.histories import Core, Histories
from toplist.loo.logs import Ids, Log, Times, newest

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


def report_of(
    kept: Histories, parts: Mapping[str, Ints], lacking: Bools, n_later: int = 0, **rules: Any
) -> Report:
    """Count the rows and users of a split.

    `parts` are those that were asked for; `lacking` flags users with too little history; `rules`
    are the fields of the report that are not counted.
    """
    log, core = kept.log, kept.core
    left_out = core[2:] if core is not None else (0, 0, 0)
    users, items = log.users, log.items
    train, test = parts["train"], parts["test"]
    n_tied = n_older = None
    if log.known_times is not None:
        times = log.known_times.values
        n_tied = _n_tied(log, log.known_times)
        n_older = int(np.sum(times[test] < times[train].max())) if len(train) else 0
    return Report(
        n_rows=len(kept.rows) + kept.n_repeats + left_out[0],
        n_users=len(users.names) + left_out[1],
        n_items=len(items.names) + left_out[2],
        rows={name: len(rows) for name, rows in parts.items()},
        users={name: int(np.sum(_has(users, rows))) for name, rows in parts.items()},
        n_repeats=kept.n_repeats,
        n_dropped=len(kept.rows) - n_later - sum(map(len, parts.values())),
        n_short=int(np.sum(lacking)),
        n_tied=n_tied,
        n_cold=int(np.sum(_has(items, test) & ~_has(items, train))),
        n_cold_users=int(np.sum(_has(users, test) & ~_has(users, train))),
        n_older=n_older,
        n_later=n_later,
        core=core,
        **rules,
    )


def _has(ids: Ids, rows: Ints) -> Bools:
    """Flag the codes of ids that some rows have."""
    found = np.zeros(len(ids.names), bool)
    found[ids.codes[rows]] = True
    return found


def _n_tied(log: Log, times: Times) -> int:
    """Count users with several items at their newest time, before repeats are left out."""
    users, items, n_items = log.users.codes, log.items.codes, max(1, len(log.items.names))
    last = newest(users, times.ordinals)
    pairs = np.unique(users[last] * n_items + items[last])
    return int(np.sum(np.bincount(pairs // n_items) > 1))
