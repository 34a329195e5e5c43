"""`Histories`: the rows of a log user by user, oldest first, without repeats, and of its k-core."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from toplist import kernels
from toplist.checks import Bools, Ints, check_positive_int, choice, counted
from toplist.inputs import id_hashes
from toplist.inputs.lists import offsets_of
from toplist.loo.logs import Log, Times, instant, newest, read_log

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
    rows alone, and `core` says what was left out.
    """

    log: Log
    rows: Ints
    users: Ints
    n_repeats: int
    core: Core | None
    repeats: Repeats
    seed: int

    @classmethod
    def of(
        cls,
        log: Any,
        columns: Mapping[str, str] | None,
        seed: int,
        repeats: Repeats,
        by: str,
        k_core: KCore | None,
    ) -> "Histories":
        """Order the rows of a log by time, or all at random; without repeats, and of its k-core."""
        choice("repeats", repeats, REPEATS)
        seed = id_hashes.seed_of(seed)
        if seed and by in FIXED:
            why = f"{FIXED[by]} draws nothing at random"
            raise ValueError(f"seed={seed!r} changes nothing: {why}: leave it out")
        found = read_log(log, columns)
        times = _times_of(found, by)
        users, items = found.users, found.items
        words = (id_hashes.keys_of(ids.names)[ids.codes] for ids in (users, items))
        numbers = id_hashes.random_numbers(seed, *words)
        offsets = _offsets(users.codes)
        rows = _by_user(users.codes, offsets, times, numbers)
        nth, later = np.empty((2, len(rows)), np.int32)
        room = np.full(len(items.names), -1)
        kernels.sampling.occurrences(offsets, items.codes, rows, room, nth, later)
        if repeats != "keep":
            rows = rows[(nth if repeats == "first" else later)[rows] == 0]
        n_repeats, core = len(found) - len(rows), None
        if k_core is not None:
            kept, core = core_of(users.codes[rows], items.codes[rows], k_core)
            rows = rows[kept]
        if by == "random":  # equal rows of a user need different numbers: count them
            kernels.hashing.mix_in(nth, numbers.view(np.uint64))
            of_user = users.codes[rows]
            none = np.zeros_like(rows)
            rows = rows[_by_user(of_user, _offsets(of_user), none, numbers[rows])]
        if core is not None:
            kept = np.sort(rows)
            found, rows = found.only(kept), np.searchsorted(kept, rows)
        return cls(found, rows, found.users.codes[rows], n_repeats, core, repeats, seed)

    @property
    def counts(self) -> Ints:
        """The number of rows of each user."""
        return np.bincount(self.users, minlength=len(self.log.users.names))

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

    def newest(self, among: Bools | None = None) -> Bools:
        """Flag the rows with the newest time of their user; of some rows if given."""
        found = np.zeros(len(self.rows), bool)
        some = slice(None) if among is None else among
        found[some] = newest(self.users[some], _ordinals(self.log)[self.rows[some]])
        return found

    def time(self, time: Any, option: str) -> int | float:
        """Read a time of the kind of the log's; `option` names it in messages."""
        given, times = instant(time), self.times
        if given is None or given.dated != times.dated:
            raise ValueError(f"{option}={time!r}: the timestamps of this log are {times.kind}")
        if given.dated and given.zoned != times.zoned:
            have, lacks = ("a", "one") if times.zoned else ("no", "none")
            example = "2011-11-01T00:00" + ("+00:00" if times.zoned else "")
            raise ValueError(
                f"{option}={time!r}: the timestamps of this log have {have} time zone: give a time "
                f"with {lacks}, such as {example!r}"
            )
        return given.value

    def since(self, time: Any) -> Bools:
        """Flag the rows from a time on."""
        return self.times.since(time)[self.rows]

    @property
    def times(self) -> Times:
        """The times of the log, which has some."""
        assert self.log.times is not None
        return self.log.times


def _times_of(log: Log, by: str) -> Ints:
    """Return the time of every row; all rules except "random" need every one."""
    times = log.times
    if by == "random" and log.known_times is None:
        return _ordinals(log)
    if times is None:
        raise ValueError(
            "log has no column 'timestamp' (other names: columns={'timestamp': '...'}); "
            "by='random' needs none"
        )
    if times.missing.any():
        row = int(np.flatnonzero(times.missing)[0])
        user = log.users.names[log.users.codes[row]]
        raise ValueError(
            f"log: row {row}, of user {user!r}, has no timestamp ({times.missing.sum():,} such "
            "rows): leave them out, or hold out with by='random'"
        )
    return times.ordinals


def _ordinals(log: Log) -> Ints:
    return np.zeros(len(log), np.int64) if log.known_times is None else log.known_times.ordinals


def _offsets(users: Ints) -> Ints:
    """Return where the rows of each user start."""
    return offsets_of(np.bincount(users))


def _by_user(users: Ints, offsets: Ints, times: Ints, numbers: Ints) -> Ints:
    """Return the rows user by user, by time, and by random number where the times are equal."""
    rows, nothing = np.empty(len(users), np.int64), np.empty(0)
    places = np.argsort(times, kind="stable")
    of_user = users[places]
    kernels.grouping.place_in_order(of_user, places, nothing, offsets[:-1].copy(), rows, nothing)
    kernels.sampling.order_ties(offsets, times, numbers, rows)
    return rows


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
    before, rows = _sizes(users, items), np.arange(len(users))
    while True:
        few = np.bincount(users)[users] < of_users
        few |= np.bincount(items)[items] < of_items
        if not few.any():
            break
        rows, users, items = (one[~few] for one in (rows, users, items))
    if before[0] and not len(rows):
        raise ValueError(f"k_core={k!r} leaves nothing of {counted(before[0], 'row')}")
    left_out = (b - a for b, a in zip(before, _sizes(users, items), strict=True))
    return rows, Core(of_users, of_items, *left_out)


def _sizes(*ids: Ints) -> list[int]:
    """Return the number of rows, of users and of items."""
    return [len(ids[0]), *(int(np.count_nonzero(np.bincount(one))) for one in ids)]
