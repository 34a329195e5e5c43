"""`Histories`: the rows of a log user by user, oldest first, without repeats."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from toplist import kernels
from toplist.checks import Bools, Ints, OptionRef, choice, option_error
from toplist.inputs import id_hashes
from toplist.inputs.lists import offsets_of
from toplist.loo.logs import Log, instant, newest, read_log

Repeats = Literal["first", "last", "keep"]
REPEATS: tuple[Repeats, ...] = get_args(Repeats)


@dataclass(frozen=True, eq=False)
class Histories:
    """The rows of a log that are kept, user by user, oldest first.

    `rows` are their positions in the log. The other arrays have one value per row in this order:
    the user, the time, the number of rows of this user, and how many of them come later.
    """

    log: Log
    rows: Ints
    users: Ints
    times: Ints
    n_of_user: Ints
    from_the_end: Ints
    repeats: Repeats
    seed: int

    @classmethod
    def of(
        cls, log: Any, columns: Mapping[str, str] | None, seed: int, repeats: Repeats, by: str
    ) -> "Histories":
        """Order the rows of a log by time, or all at random; without repeats."""
        choice("repeats", repeats, REPEATS)
        seed = id_hashes.seed_of(seed)
        found = read_log(log, columns)
        times = _times_of(found, by)
        users, items = found.users, found.items
        words = [id_hashes.keys_of(ids.names)[ids.codes] for ids in (users, items)]
        offsets = offsets_of(np.bincount(users.codes, minlength=len(users.names)))
        rows = _by_user(users.codes, offsets, times, id_hashes.random_numbers(seed, *words))
        nth, later = np.empty((2, len(rows)), np.int64)
        kernels.sampling.occurrences(offsets, items.codes, rows, nth, later)
        if repeats != "keep":
            rows = rows[(nth if repeats == "first" else later)[rows] == 0]
        if by == "random":  # equal rows of a user need different numbers: count them
            numbers = id_hashes.random_numbers(seed, *words, nth.astype(np.uint64))
            kept = offsets_of(np.bincount(users.codes[rows], minlength=len(users.names)))
            rows = rows[_by_user(users.codes[rows], kept, np.zeros_like(rows), numbers[rows])]
        of_user = users.codes[rows]
        counts = np.bincount(of_user, minlength=len(users.names))
        place = np.cumsum(counts)[of_user] - 1 - np.arange(len(rows))
        return cls(found, rows, of_user, times[rows], counts[of_user], place, repeats, seed)

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
        found[some] = newest(self.users[some], self.times[some])
        return found

    def since(self, time: Any, option: str) -> Bools:
        """Flag the rows from a time on; `option` names the time in messages."""
        given, times = instant(time), self.log.times
        assert times is not None
        if given is None or given.dated != times.dated:
            kind = "dates" if times.dated else "numbers"
            raise option_error(
                ValueError, OptionRef(option, time), f": the timestamps of this log are {kind}"
            )
        if given.dated and given.zoned != times.zoned:
            have, lacks = ("a", "one") if times.zoned else ("no", "none")
            example = "2011-11-01T00:00" + ("+00:00" if times.zoned else "")
            raise option_error(
                ValueError,
                OptionRef(option, time),
                f": the timestamps of this log have {have} time zone: give a time with {lacks}, "
                f"such as {example!r}",
            )
        return times.since(given)[self.rows]


def _times_of(log: Log, by: str) -> Ints:
    """Return the time of every row; all rules except "random" need every one."""
    times = log.times
    if by == "random" and log.known_times is None:
        return np.zeros(len(log), np.int64)
    if times is None:
        raise option_error(
            ValueError,
            "log has no column 'timestamp' (other names: ",
            OptionRef("columns", {"timestamp": "..."}),
            "); ",
            OptionRef("by", "random"),
            " needs none",
        )
    if times.missing.any():
        row = int(np.flatnonzero(times.missing)[0])
        user = log.users.names[log.users.codes[row]]
        raise option_error(
            ValueError,
            f"log: row {row}, of user {user!r}, has no timestamp ({times.missing.sum():,} such "
            "rows): leave them out, or hold out with ",
            OptionRef("by", "random"),
        )
    return times.ordinals


def _by_user(users: Ints, offsets: Ints, times: Ints, numbers: Ints) -> Ints:
    """Return the rows user by user, by time, and by random number where the times are equal."""
    rows, nothing = np.empty(len(users), np.int64), np.empty(0)
    places = np.arange(len(users))
    kernels.grouping.place_in_order(users, places, nothing, offsets[:-1].copy(), rows, nothing)
    kernels.sampling.order_within(offsets, times, numbers, rows)
    return rows
