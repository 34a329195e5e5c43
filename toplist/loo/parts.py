"""`Split`, the parts of a log, each of the log's own kind; `Report`, where its rows went.

`Histories` are what a split begins with: the rows of a log user by user, oldest first, without
repeats, and of its k-core. `split_of` ends it, from the number of the part of each of these rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from toplist import kernels
from toplist.checks import Bools, Ints, cached, check_positive_int, choice, counted, distinct
from toplist.inputs.lists import Lists, offsets_of
from toplist.inputs.texts import keys_of, random_numbers, seed_of
from toplist.loo.logs import Log, Times, instant, read_log

Part = Literal["train", "test", "validation", "history"]
PARTS: tuple[Part, ...] = get_args(Part)
# The numbers of the parts, and of rows after the horizon of a window, and of those left out.
TRAIN, TEST, VALIDATION, HISTORY, LATER, NOWHERE = range(6)
# Where the rows of users with too little history went.
_REST = {"train": "all in train", "drop": "left out", "test": "their test rows are left out"}
# Rules by which nothing is drawn at random.
FIXED = {"time": "a split by time", "basket": "a split by baskets"}
Repeats = Literal["first", "last", "keep"]
REPEATS: tuple[Repeats, ...] = get_args(Repeats)
# Rows that each user and each item needs: one number for both, or one each.
KCore = int | tuple[int, int]


class Core(NamedTuple):
    """What was left out of a log to get its k-core. Printed, it is a line of a report.

    Attributes
    ----------
    k_users, k_items : int
        The rows that each user and each item has at least.
    n_rows, n_users, n_items : int
        How many were left out.

    Examples
    --------
    >>> from toplist import loo
    >>> log = [1, 1, 2, 2, 3], [5, 6, 5, 6, 5], [1, 2, 3, 4, 5]
    >>> print(loo.leave_one_out(log, k_core=2).report.core)
    k-core (users 2, items 2): 1 row, 1 user and 0 items left out
    """

    k_users: int
    k_items: int
    n_rows: int
    n_users: int
    n_items: int

    def __str__(self) -> str:
        """Return what was left out, in words."""
        users, items = counted(self.n_users, "user"), counted(self.n_items, "item")
        left_out = f"{counted(self.n_rows, 'row')}, {users} and {items} left out"
        return f"k-core (users {self.k_users}, items {self.k_items}): {left_out}"


@dataclass(frozen=True, eq=False)
class Histories:
    """The rows of a log that are kept, user by user, oldest first.

    `rows` are their positions in the log, `users` the user of each. Of a k-core, `log` has these
    rows alone, and `core` says what was left out. `least` rows of a user must remain for training.
    """

    log: Log
    rows: Ints
    users: Ints
    n_repeats: int
    core: Core | None
    repeats: Repeats
    seed: int
    least: int

    @classmethod
    def of(
        cls,
        log: Any,
        by: str,
        columns: Mapping[str, str] | None,
        repeats: Repeats,
        seed: int,
        k_core: KCore | None,
        min_history: int,
    ) -> Histories:
        """Order the rows of a log by time, or all at random; without repeats, and of its k-core."""
        choice("repeats", repeats, REPEATS)
        least, seed = check_positive_int(min_history, "min_history", 0), seed_of(seed)
        if seed and by in FIXED:
            why = f"{FIXED[by]} draws nothing at random"
            raise ValueError(f"seed={seed!r} changes nothing: {why}: leave it out")
        found = read_log(log, columns, timed=by != "random")
        users, items = found.users.codes, found.items.codes
        words = (keys_of(ids.names)[ids.codes] for ids in (found.users, found.items))
        numbers = random_numbers(seed, *words)
        rows, offsets = _by_user(users, found.ordinals, numbers)
        nth, later = np.empty((2, len(rows)), np.int32)
        room = np.full(len(found.items.names), -1)
        kernels.grouping.occurrences(offsets, items, rows, room, nth, later)
        if repeats != "keep":
            rows = rows[(nth if repeats == "first" else later)[rows] == 0]
        n_repeats, core = len(found) - len(rows), None
        if k_core is not None:
            kept, core = core_of(users[rows], items[rows], k_core)
            rows = rows[kept]
        if by == "random":  # equal rows of a user need different numbers: count them
            kernels.hashing.mix_in(nth, numbers.view(np.uint64))
            rows = rows[_by_user(users[rows], np.zeros_like(rows), numbers[rows])[0]]
        if core is not None:
            kept = np.sort(rows)
            found, rows = found.only(kept), np.searchsorted(kept, rows)
        of_rows = found.users.codes[rows]
        return cls(found, rows, of_rows, n_repeats, core, repeats, seed, least)

    @cached
    def counts(self) -> Ints:
        """The number of rows of each user."""
        return self.n_of(slice(None))

    def n_of(self, some: Any) -> Ints:
        """Return the number of rows of each user among some rows."""
        return np.bincount(self.users[some], minlength=len(self.log.users.names))

    @property
    def from_the_end(self) -> Ints:
        """How many rows of its user come after each row."""
        last, places = np.empty(len(self.log.users.names), np.int64), np.arange(len(self.rows))
        last[self.users] = places  # of several places of a user the last stays
        found: Ints = last[self.users]
        found -= places
        return found

    def rules(self, by: str) -> str:
        """Say how rows of one time are ordered, and which repeats are kept."""
        ties = {"last": "ties in random order, ", "random": ""}
        seeded = f"{ties[by]}seed {self.seed}; " if by in ties else ""
        one = f"of repeats the {self.repeats} is kept"
        return seeded + ("repeats are kept" if self.repeats == "keep" else one)

    def newest(self, among: Any = slice(None)) -> Bools:
        """Flag the rows with the newest time of their user; of some rows if given."""
        found = np.zeros(len(self.rows), bool)
        found[among] = _newest(self.users[among], self.log.ordinals[self.rows[among]])
        return found

    def time(self, time: Any, option: str) -> int | float:
        """Read a time of the kind of the log's; `option` names it in messages."""
        given, times = instant(time), self.times
        if given is None or given.dated != times.dated:
            raise ValueError(f"{option}={time!r}: the timestamps of this log are {times.kind}")
        if given.dated and given.zoned != times.zoned:
            have, give = ("a", "one, as +00:00") if times.zoned else ("no", "none")
            words = f"the timestamps of this log have {have} time zone: give a time with {give}"
            raise ValueError(f"{option}={time!r}: {words}")
        return given.value

    def since(self, time: Any) -> Bools:
        """Flag the rows from a time on."""
        return self.times.since(time)[self.rows]

    @property
    def times(self) -> Times:
        """The times of the log, which has some."""
        assert self.log.times is not None
        return self.log.times


def _newest(users: Ints, times: Ints) -> Bools:
    """Flag the rows with the newest time of their user; users are numbers from 0 on."""
    last = np.full(int(users.max(initial=-1)) + 1, np.iinfo(np.int64).min)
    np.maximum.at(last, users, times)
    found: Bools = times == last[users]
    return found


def _by_user(users: Ints, times: Ints, numbers: Ints) -> tuple[Ints, Ints]:
    """Return the rows user by user, and where those of each user start.

    They are ordered by time, and by random number where the times are equal.
    """
    offsets = offsets_of(np.bincount(users))
    rows, nothing = np.empty(len(users), np.int64), np.empty(0)
    places = np.argsort(times, kind="stable")
    of_user, next_of = users[places], offsets[:-1].copy()
    kernels.grouping.place_in_order(of_user, places, nothing, next_of, rows, nothing)
    kernels.grouping.order_ties(offsets, times, numbers, rows)
    return rows, offsets


def core_of(users: Ints, items: Ints, k: Any) -> tuple[Ints, Core]:
    """Return the rows of the k-core, ascending, and what was left out.

    The k-core is the largest set of rows of which every user has k_users and every item k_items;
    the order of removal does not matter.

    Raises
    ------
    ValueError
        For another k than a whole number or two, or if nothing is left.
    """
    both = k if isinstance(k, (tuple, list)) else (k, k)
    if len(both) != 2:
        raise ValueError(f"k_core={k!r}: give k, or (k_users, k_items)")
    of_users, of_items = (check_positive_int(one, "k_core") for one in both)
    before, rows, few = _sizes(users, items), np.arange(len(users)), np.ones(1, bool)
    while few.any():
        few = np.bincount(users)[users] < of_users
        few |= np.bincount(items)[items] < of_items
        rows, users, items = (one[~few] for one in (rows, users, items))
    if before[0] and not len(rows):
        raise ValueError(f"k_core={k!r} leaves nothing of {counted(before[0], 'row')}")
    left_out = (b - a for b, a in zip(before, _sizes(users, items), strict=True))
    return rows, Core(of_users, of_items, *left_out)


def _sizes(*ids: Ints) -> list[int]:
    """Return the number of rows, of users and of items."""
    return [len(ids[0]), *(int(np.count_nonzero(np.bincount(one))) for one in ids)]


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

        def part_of(n: int, what: str, whole: int) -> str:
            return f"{counted(n, what)} ({100 * n / max(1, whole):.1f} %)"

        n_cold, n_new, of = self.n_cold, self.n_cold_users, self.users["test"]
        total = max(1, sum(self.rows.values()))
        shares = (f"{part} {100 * n / total:.1f} %" for part, n in self.rows.items())
        items, users = counted(self.n_items, "item"), counted(self.n_users, "user")
        dropped = f": {counted(self.n_dropped, 'row')}" if self.n_dropped else ""
        why = "given their history" if "history" in self.rows else "new to any model"
        lines = {
            self.how: True,
            f"{counted(self.n_rows, 'row')} of {users} and {items}": True,
            "; ".join(
                f"{part}: {counted(n, 'row')} of {counted(self.users[part], 'user')}"
                for part, n in self.rows.items()
            ): True,
            f"shares of the rows: {', '.join(shares)}": self.by_share,
            f"{self.core}": self.core is not None,
            f"{counted(self.n_repeats, 'row')} left out: repeated choices of an item": (
                self.n_repeats
            ),
            f"{counted(self.n_later, 'row')} left out: after the horizon": self.n_later,
            f"{counted(self.n_short, 'user')} without a test row: too few interactions "
            f"(min_history={self.min_history}; {_REST[self.short]}{dropped})": self.n_short,
            f"{part_of(self.n_tied or 0, 'user', self.n_users)} with several items at their newest "
            "timestamp": self.n_tied,
            f"{counted(n_cold, 'test item')} {'is' if n_cold == 1 else 'are'} not in train: "
            "unknown to any model": n_cold,
            f"{counted(n_new, 'user')} of {max(1, of):,} in the test "
            f"({100 * n_new / max(1, of):.1f} %) {'has' if n_new == 1 else 'have'} no row in "
            f"train: {why}": n_new,
            f"{part_of(self.n_older or 0, 'test row', self.rows['test'])} older than the newest "
            "row of train: a model may know their future": self.n_older,
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

        Raises
        ------
        ValueError
            For a part that this split does not have.

        Examples
        --------
        >>> from toplist import loo
        >>> split = loo.leave_one_out(([7, 7, 8], ["a", "b", "a"], [1, 2, 3]))
        >>> split.truths(), split.truths("train")
        ({7: ['b']}, {7: ['a'], 8: ['a']})
        """
        choice("part", part, PARTS)
        if part not in self.report.rows:
            raise ValueError(f"part={part!r}: this split has {', '.join(self.report.rows)} alone")
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
        test, (users, items) = self.rows["test"], (self.log.users, self.log.items)
        row = np.full(len(users.names), -1)
        row[users.codes[test]] = np.arange(len(test))
        if np.count_nonzero(row >= 0) < len(test):
            n_held = np.bincount(users.codes[test])
            several = f"user {users.names[n_held.argmax()]!r} has {n_held.max():,} test items"
            way = (
                "holdout(last=1) holds out one of each, top_k_eval(lists, split.truths()) takes all"
            )
            raise ValueError(f"columns: {several}, one each is needed: {way}")
        names = items.names
        with suppress(TypeError):  # ids that cannot be compared stay unsorted
            names = sorted(names)
        place = {name: at for at, name in enumerate(names)}
        column = np.array([place[name] for name in items.names], np.int64)
        known = np.concatenate([self.rows[part] for part in PARTS if part != "test"])
        owner = row[users.codes[known]]
        # with repeats="keep" the held-out item may be in train: it is not among the seen ones
        held = items.codes[test]
        seen = np.flatnonzero(owner >= 0)
        seen = seen[items.codes[known[seen]] != held[owner[seen]]]
        seen = seen[np.argsort(owner[seen], kind="stable")]
        offsets = np.searchsorted(owner[seen], np.arange(len(test) + 1))
        lists = Lists(offsets, column[items.codes[known[seen]]])
        rows = [users.names[code] for code in users.codes[test].tolist()]
        return Columns(rows, names, column[held], lists)


class Columns(NamedTuple):
    """A split as positions in an array of scores: users are rows, items are columns.

    `users` are the test users, `items` all items of the log, sorted; `held_out` is the column of
    each user's test item, `seen` the columns of each user's items in the other parts, but for the
    test item, which may be there, too, with ``repeats="keep"``.

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
        {name: np.bincount(ids.codes[places[name]], minlength=len(ids.names)) > 0 for name in asked}
        for ids in (log.users, log.items)
    )
    train, test = places["train"], places["test"]
    n_tied = n_older = None
    if log.known_times is not None:
        times, n_items = log.known_times.values, max(1, len(log.items.names))
        last = _newest(log.users.codes, log.ordinals)  # before repeats are left out
        pairs = distinct(log.users.codes[last] * n_items + log.items.codes[last])
        n_tied = int(np.sum(np.bincount(pairs // n_items) > 1))
        n_older = int(np.sum(times[test] < times[train].max())) if len(train) else 0
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
        min_history=rows.least,
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
