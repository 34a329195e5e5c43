"""`Histories`: the rows of a log user by user, oldest first, without repeats."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from toplist import kernels
from toplist.checks import Bools, Ints, choice
from toplist.inputs import id_hashes
from toplist.inputs.lists import offsets_of
from toplist.loo.cores import Core, KCore, core_of
from toplist.loo.logs import Log, Times, instant, newest, read_log

# Rules by which nothing is drawn at random.
FIXED = {"time": "a split by time", "basket": "a split by baskets"}
Repeats = Literal["first", "last", "keep"]
REPEATS: tuple[Repeats, ...] = get_args(Repeats)


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
