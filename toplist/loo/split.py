"""Which rows of a log are for training, which for the test: of every user, by time, or by user.

A split by time may be at many cuts, `windows`, each with what comes before it as train, as in use.

Nothing depends on the order of the log's rows. Rows of one time (a basket has one timestamp) are
put in random order by a hash of seed, user and item, which belongs to the row itself.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args, overload

import numpy as np

from toplist.checks import Bools, Ints, check_positive_int, choice, counted
from toplist.inputs.texts import keys_of, random_numbers
from toplist.loo import parts
from toplist.loo.logs import UNITS, duration
from toplist.loo.parts import PARTS, Histories, KCore, Part, Repeats, Split, split_of

HeldOut = Literal["last", "random", "basket"]
WAYS: tuple[HeldOut, ...] = get_args(HeldOut)
ShareHeldOut = Literal["last", "random"]
SHARE_WAYS: tuple[ShareHeldOut, ...] = get_args(ShareHeldOut)
Short = Literal["train", "drop"]
SHORT: tuple[Short, ...] = get_args(Short)
# How rows are put in order, in words.
ORDERED = {"last": "the last by time", "random": "at random"}


def leave_one_out(
    log: Any,
    by: HeldOut = "last",
    *,
    validation: bool = False,
    min_history: int = 1,
    repeats: Repeats = "first",
    short: Short = "train",
    seed: int = 0,
    k_core: KCore | None = None,
    columns: Mapping[str, str] | None = None,
) -> Split:
    """Hold out one interaction of every user.

    Parameters
    ----------
    log : table, dict of columns, tuple (users, items, times), or path
        A table of pandas, polars or pyarrow, or a dict of arrays or lists, with user_id, item_id
        and timestamp (numbers, dates, or ISO 8601 text of them); a tuple of such columns; a CSV,
        TSV or Parquet file. In any order of rows.
    by : {"last", "random", "basket"}
        The newest interaction; one at random, each as likely; or all of the newest timestamp.
    validation : bool
        Hold out one more (or the basket before), for validation: leave two out. With min_history=0
        a user with one row has it in the test, and none for validation; in `holdout` not.
    min_history : int
        Interactions that must remain for training; users with fewer have no test row.
    repeats : {"first", "last", "keep"}
        Of a user's repeated choices of one item, the first or the last is kept, or all are: then
        the held-out item may be in the training part, too.
    short : {"train", "drop"}
        Users with too few interactions: all for training, or left out altogether.
    seed : int
        Of the random order of rows of one time. It is by hashes of seed, user and item, so that
        neither the order of rows nor the kind of the log matters. With baskets nothing is drawn:
        there a seed is an error.
    k_core : int, or (k_users, k_items), optional
        Leave out, before the split and after repeats, users with fewer than k rows and items with
        fewer than k, again and again until there are none. It looks at all times.
    columns : mapping, optional
        The log's own names of user_id, item_id and timestamp.

    Returns
    -------
    Split
        `train`, `test` and `validation` of the log's own kind with all its columns, rows in the
        log's order; `truths()` for an evaluation; `report`, which says who was left out and why.

    Raises
    ------
    ValueError
        Without timestamps, or with a missing one, unless ``by="random"``; for an unknown option; if
        the k-core is empty.
    TypeError
        For another kind of log, or values that cannot be ids, such as floats.

    Notes
    -----
    Of rows with the same user, item and time, the first one in the log counts as the first.

    Examples
    --------
    >>> log = ["ann", "ann", "bob", "ann"], ["tea", "jam", "jam", "fig"], [1, 3, 2, 2]
    >>> split = leave_one_out(log)
    >>> split.truths()
    {'ann': ['jam']}
    >>> split.train
    (['ann', 'bob', 'ann'], ['tea', 'jam', 'fig'], [1, 2, 2])
    >>> print(split.report)
    leave one out: the last by time (ties in random order, seed 0; of repeats the first is kept)
    4 rows of 2 users and 3 items
    train: 3 rows of 2 users; test: 1 row of 1 user
    1 user without a test row: too few interactions (min_history=1; all in train)
    """
    choice("by", by, WAYS)
    rows = Histories.of(log, by, columns, repeats, seed, k_core, min_history)
    if by == "basket":
        what, newest = "the last basket", rows.newest()
        held = [newest, rows.newest(~newest)]
    else:
        what = ORDERED[by] if by == "last" else "one at random"
        held = [rows.from_the_end < 1, rows.from_the_end < 2]
    how = f"leave {'two' if validation else 'one'} out: {what} ({rows.rules(by)})"
    return _held_out(rows, how, held[: 1 + validation], short)


def holdout(
    log: Any,
    ratio: float | None = None,
    *,
    time: Any = None,
    last: int | None = None,
    by: ShareHeldOut = "last",
    validation: Any = None,
    min_history: int | None = None,
    repeats: Repeats = "first",
    short: Short = "train",
    seed: int = 0,
    k_core: KCore | None = None,
    columns: Mapping[str, str] | None = None,
) -> Split:
    """Hold out a share of every user's interactions, the last n, or all from some time on.

    Parameters
    ----------
    log, repeats, short, seed, k_core, columns
        As in `leave_one_out`. With `time`, a user who has too little history keeps the training
        rows, and the test rows are dropped: they are too new for training. Nothing is drawn there,
        either: `by`, `short` and `seed` do not go with `time`.
    ratio : float
        Between 0 and 1: of n interactions, ⌊ratio · n⌋ are held out, in exact arithmetic.
    time : number, date, or text, instead of `ratio`
        Interactions from this time on are the test. In the units of the log's timestamps.
    last : int, instead of `ratio`
        The newest `last` rows of each user, never fewer: users with fewer rows than are held out
        and must remain (`last`, those of `validation`, and `min_history`) have no test row, also
        where ``leave_one_out(min_history=0)`` has one.
    by : {"last", "random"}
        With `ratio`: the newest ones, or ones at random.
    validation : float, a time, or int
        Another share to hold out before the test, the time where validation begins, or another
        number of rows: of the same kind as what is held out.
    min_history : int, optional
        Interactions that must remain for training. Default 1; with `time` 0.

    Returns
    -------
    Split

    Raises
    ------
    TypeError, ValueError
        As `leave_one_out`; unless exactly one of `ratio`, `time` and `last` is given; for an
        option that would change nothing.

    Examples
    --------
    >>> log = {"user_id": [1] * 5, "item_id": [10, 11, 12, 13, 14], "timestamp": [5, 4, 3, 2, 1]}
    >>> holdout(log, 0.4).test
    {'user_id': [1, 1], 'item_id': [10, 11], 'timestamp': [5, 4]}
    >>> holdout(log, time=3, validation=2).validation
    {'user_id': [1], 'item_id': [13], 'timestamp': [2]}
    >>> holdout(log, last=1, validation=2).truths("validation")
    {1: [11, 12]}
    """
    if (ratio is None) + (time is None) + (last is None) != 2:
        raise ValueError("holdout: give one of ratio=0.2, time=... and last=5")
    choice("by", by, SHARE_WAYS)
    reading = columns, repeats, seed, k_core
    least = int(time is None) if min_history is None else min_history
    if time is not None:
        for option, asked, usual in (("by", by, "last"), ("short", short, "train")):
            if asked != usual:
                raise ValueError(f"{option}={asked!r} does not go with time={time!r}")
        rows = Histories.of(log, "time", *reading, least)
        held = [rows.since(rows.time(time, "time"))]
        if validation is not None:
            held.append(rows.since(rows.time(validation, "validation")))
            if (held[0] & ~held[1]).any():
                raise ValueError(f"validation={validation!r} begins after the test, time={time!r}")
        how = f"hold out from time {time} on ({rows.rules('time')})"
        return _held_out(rows, how, held, "test")
    if last is not None and by == "random":
        raise ValueError(f"by={by!r} does not go with last={last!r}")
    amount = share_of if last is None else check_positive_int
    given = {"ratio" if last is None else "last": ratio if last is None else last}
    given |= {} if validation is None else {"validation": validation}
    amounts = [amount(one, option) for option, one in given.items()]
    rows = Histories.of(log, by, *reading, least)
    n_held = np.cumsum([held_of(one, rows.counts) for one in amounts], axis=0)
    held = [rows.from_the_end < n[rows.users] for n in n_held]
    words = "" if validation is None else f", {validation} for validation"
    if last is not None:
        how = f"hold out the last {last} of each user's rows{words} ({rows.rules(by)})"
        return _held_out(rows, how, held, short, n_held=last + (validation or 0))
    how = f"hold out {ratio} of each user's rows{words}: {ORDERED[by]} ({rows.rules(by)})"
    return _held_out(rows, how, held, short, by_share=True)


def held_out_users(
    log: Any,
    test: int | float,
    *,
    hold: int | float = 0.2,
    by: ShareHeldOut = "last",
    validation: int | float | None = None,
    min_history: int = 1,
    repeats: Repeats = "first",
    seed: int = 0,
    k_core: KCore | None = None,
    columns: Mapping[str, str] | None = None,
) -> Split:
    """Hold out users: the test is of users that the model was not trained on.

    Strong generalisation (Marlin 2004; Liang et al. 2018): of each held-out user some rows are the
    truth, and those before are the part "history", which the model is given at prediction (fold-in)
    and never in training.

    Parameters
    ----------
    log, repeats, seed, k_core, columns
        As in `leave_one_out`.
    test : int, or float
        How many test users, or which share (rounded down) of the users with enough rows. They are
        drawn among these by hashes of seed and user.
    hold : int, or float
        Of each, the last `hold` rows, or this share of them, rounded down as in `holdout`.
    by : {"last", "random"}
        The newest rows, or ones at random.
    validation : int, or float, optional
        Other users, drawn and held out alike, for validation.
    min_history : int
        Rows that a drawn user has beside those held out. Users without as many rows, or with
        nothing to hold out, are not drawn: they are in train.

    Returns
    -------
    Split
        With `history`, of the users of test and validation; the other users are in train.

    Raises
    ------
    TypeError, ValueError
        As `leave_one_out`; for more users than have enough rows, or none.

    Examples
    --------
    >>> log = [1, 1, 2, 2, 3, 3], [5, 6, 5, 7, 6, 7], [1, 2, 3, 4, 5, 6]
    >>> split = held_out_users(log, 1, hold=1)
    >>> split.truths("train"), split.truths("history"), split.truths()
    ({1: [5, 6], 2: [5, 7]}, {3: [6]}, {3: [7]})
    """
    choice("by", by, SHARE_WAYS)
    of_each = _amount(hold, "hold")
    given: dict[Part, int | float] = {"test": test}
    given |= {} if validation is None else {"validation": validation}
    amounts = [_amount(one, option) for option, one in given.items()]
    rows = Histories.of(log, by, columns, repeats, seed, k_core, min_history)
    n_held = held_of(of_each, rows.counts)
    enough = (n_held > 0) & (rows.counts - n_held >= rows.least)
    known = np.flatnonzero(enough)
    keys = keys_of(rows.log.users.names)[known]
    drawn = known[np.argsort(random_numbers(rows.seed, keys), kind="stable")]
    part_of = np.full(len(enough), parts.TRAIN)
    for (option, one), amount in zip(given.items(), amounts, strict=True):
        n = int(held_of(amount, np.array([len(known)]))[0])
        if not 0 < n <= len(drawn):
            users = counted(len(drawn), "user")
            raise ValueError(f"{option}={one!r}: {users} with enough rows to choose from")
        part_of[drawn[:n]], drawn = PARTS.index(option), drawn[n:]
    part = part_of[rows.users]
    part[(part != parts.TRAIN) & (rows.from_the_end >= n_held[rows.users])] = parts.HISTORY
    words = "" if validation is None else f", {validation} more for validation"
    how = f"hold out users, {test}{words}; {hold} of their rows: {ORDERED[by]} ({rows.rules(by)})"
    return split_of(rows, part, ["train", "history", *given], ~enough, how=how, short="train")


@dataclass(frozen=True, eq=False, repr=False)
class Windows(Sequence[Split]):
    """The splits of `windows`, the oldest first; each is made when it is asked for.

    Attributes
    ----------
    cuts : list of numbers or ISO text
        Where the test of each window begins.

    Examples
    --------
    >>> from toplist import loo
    >>> windows = loo.windows(([1, 2, 1, 2], [5, 5, 6, 7], [1, 2, 3, 4]), every=1)
    >>> windows.cuts, windows[0].truths(), windows[1].truths("train")
    ([3, 4], {1: [6]}, {1: [5, 6], 2: [5]})
    """

    cuts: list[Any]
    _lines: list[str]
    _bounds: list[tuple[Fraction, Fraction]]
    _rows: Histories

    def __len__(self) -> int:
        """Return the number of windows."""
        return len(self.cuts)

    @overload
    def __getitem__(self, at: int) -> Split: ...
    @overload
    def __getitem__(self, at: slice) -> list[Split]: ...
    def __getitem__(self, at: int | slice) -> Split | list[Split]:
        """Make the split of a window, or of some."""
        if isinstance(at, slice):
            return [self[place] for place in range(len(self))[at]]
        at, rows = range(len(self))[at], self._rows
        cut, end = map(rows.since, self._bounds[at])
        before, until = map(rows.times.written, self._bounds[at])
        how = f"window {at + 1} of {len(self)}: train before {before}, test before {until}"
        return _held_out(rows, f"{how} ({rows.rules('time')})", [cut], "test", later=end)

    def __repr__(self) -> str:
        """Return a line for each window."""
        return "\n".join([counted(len(self), "window"), *self._lines])


def windows(
    log: Any,
    every: Any,
    *,
    horizon: Any = None,
    start: Any = None,
    min_history: int = 0,
    repeats: Repeats = "first",
    k_core: KCore | None = None,
    columns: Mapping[str, str] | None = None,
) -> Windows:
    """Cut the log at several times: train is all before a cut, the test what follows it.

    Parameters
    ----------
    log, repeats, k_core, columns
        As in `leave_one_out`. Of repeats the last cannot be kept: it may be after the window.
    every : duration
        From one cut to the next: a timedelta of datetime, numpy or pandas, text such as "7d" (w, d,
        h, min, s, ms, us, ns), or where the times are numbers, a number in their unit.
    horizon : duration, optional
        How long the test of a window is; default: `every`.
    start : number, date, or text, optional
        The first cut. Default: the first time before which at least half of the rows lie.
    min_history : int
        As in `holdout` with a time: a test has the rows of users with so many rows before its cut.

    Returns
    -------
    Windows
        A sequence of `Split`, made one at a time. None ends after the unit of the newest row of the
        log: the largest of day, hour, minute and second, counted from `start`, that `every` and
        `horizon` consist of; where the times are numbers, 1 (or less, as they are).

    Raises
    ------
    TypeError, ValueError
        As `leave_one_out`; for durations and a start of another kind than the log's times; for a
        horizon beyond the newest row, and a window without a row in train or test, also by
        `min_history`.

    Notes
    -----
    The result of each window is one of several runs of a system, which `toplist.compare` takes as
    paired: run i of every system has the same ground truths, those of other windows are others. Its
    tests need users who are in all windows (``users="common"``), who may be few. For one test over
    all rows, name them (user, window), and say by ``clusters`` whose they are. It holds for these
    windows: how much windows differ, a handful of them does not tell.

    Examples
    --------
    >>> import toplist as tl
    >>> from toplist import loo
    >>> rows = range(60)
    >>> log = [i % 7 for i in rows], [i * i % 11 for i in rows], list(rows)
    >>> parts = loo.windows(log, every=15)
    >>> parts
    2 windows
    23: 20 rows before, 11 rows before 38
    38: 31 rows before, 6 rows before 53
    >>> runs = {
    ...     model.__name__: [
    ...         tl.top_k_eval(model(split.train, 2, users=split.truths()), split.truths(), k=2)
    ...         for split in parts
    ...     ]
    ...     for model in (loo.popular, loo.random)
    ... }
    >>> tl.compare(runs, runs="paired")
               hit@2  precision@2  recall@2    map@2   ndcg@2    mrr@2
    popular  *0.9167      *0.7083   *0.8472  *0.8750  *0.8844  *0.9167
    random    0.8333       0.5208    0.6319   0.5833   0.6317   0.7083
    * best of its column; not tested: .test() and toplist compare test the difference
    means over 2 paired runs of each system
    convention standard: mean over users
    popular, run 1, random, run 1: 6 of 6 users evaluated
    popular, run 2, random, run 2: 4 of 4 users evaluated
    >>> held_out = [split.truths() for split in parts]
    >>> truths = {(u, at): items for at, of in enumerate(held_out) for u, items in of.items()}
    >>> def evaluated(model):
    ...     found = (model(split.train, 2, users=split.truths()) for split in parts)
    ...     lists = {(u, at): items for at, of in enumerate(found) for u, items in of.items()}
    ...     more = {"metrics": "ndcg", "clusters": {row: row[0] for row in truths}}
    ...     return tl.top_k_eval(lists, truths, k=2, **more)
    >>> results = {"random": evaluated(loo.random), "popular": evaluated(loo.popular)}
    >>> tests = tl.compare(results).test("ndcg@2")
    >>> round(tests["popular", "ndcg@2"].difference, 4)
    0.2839
    """
    choice("repeats", repeats, ("first", "keep"))
    rows = Histories.of(log, "time", columns, repeats, 0, k_core, min_history)
    times, lengths = rows.times, dict[str, Fraction]()
    for option, given in (("every", every), ("horizon", every if horizon is None else horizon)):
        found = duration(given)
        if found is None or found.dated != times.dated or found.value <= 0:
            what = "a timedelta, or text such as '7d'" if times.dated else "a number in their unit"
            kind = f"the timestamps of this log are {times.kind}"
            raise ValueError(f"{option}={given!r}: {kind}: give {what}, above 0")
        lengths[option] = _exact(found.value)
    step, width = lengths.values()
    ordered = np.sort(times.values[rows.rows])
    if start is not None:
        first = _exact(rows.time(start, "start"))
    else:  # the first time before which at least half of the rows lie
        half = ordered[(len(rows.rows) - 1) // 2 :]
        later = half[half > half[:1]]
        if not len(later):
            why = "before no time lie half of the rows"
            raise ValueError(f"windows: {why}: give the first cut, start=")
        first = _exact(later[0].item())
    unit, newest = min(Fraction(1), step, width), first
    if times.dated:
        unit = next(Fraction(one) for one in (*UNITS, 1) if step % one == 0 and width % one == 0)
    if len(rows.rows):
        newest = _exact(times.values.max().item())
    end = first + ((newest - first) // unit + 1) * unit
    n = int((end - width - first) // step) + 1
    if n < 1:
        ends, last = map(times.written, (first + width, newest))
        why = f"the first ends at {ends}, beyond the newest row ({last})"
        raise ValueError(f"windows: {why}: give a shorter horizon or an earlier start")
    if n > len(rows.rows):
        few = counted(len(rows.rows), "row")
        raise ValueError(f"windows: {n:,} windows of {few}: give a longer every")
    bounds = [(first + place * step, first + place * step + width) for place in range(n)]
    cuts, lines = [times.written(cut) for cut, _ in bounds], []
    for cut, both in zip(cuts, bounds, strict=True):
        n_before, n_until = (bisect_left(ordered, times.limit(one)) for one in both)
        end = times.written(both[1])
        if n_before == 0:
            raise ValueError(f"windows: no row is before {cut}: give a later start")
        if n_until == n_before:
            what = f"no row is from {cut} on and before {end}"
            raise ValueError(f"windows: {what}: give a longer horizon or another start")
        if rows.least:
            since, beyond = map(rows.since, both)
            known = rows.n_of(~since)[rows.users[since & ~beyond]]
            if not (known >= rows.least).any():
                what = f"from {cut} on and before {end} the test part would be empty"
                why = f"none of its users has {counted(rows.least, 'row')} before"
                raise ValueError(f"windows: {what}: {why}: give a smaller min_history=")
        n_test = counted(n_until - n_before, "row")
        lines.append(f"{cut}: {counted(n_before, 'row')} before, {n_test} before {end}")
    return Windows(cuts, lines, bounds, rows)


def _exact(value: float) -> Fraction:
    """Return a number as it is written."""
    return Fraction(repr(value))


def _held_out(
    rows: Histories,
    how: str,
    held: Sequence[Bools],
    short: str,
    n_held: int = 0,
    later: Bools | None = None,
    **rules: Any,
) -> Split:
    """Return the split that holds out some rows of every user who has enough of them.

    `held` flags the rows of the test, and of the validation if there is one; `later` those after
    a horizon. Enough are `rows.least` in train, and `n_held` that can be held out. `short` says
    where the rows of other users go; "test": what would be held out is left out. `rules` are
    fields of the report.
    """
    if short != "test":
        choice("short", short, SHORT)
    part = np.select(held, [parts.TEST, parts.VALIDATION][: len(held)], parts.TRAIN)
    if later is not None:
        part[later] = parts.LATER
    n_train, n_test = rows.n_of(part == parts.TRAIN), rows.n_of(part == parts.TEST)
    lacks = (n_train < rows.least) | (rows.counts < n_held) | ((n_test == 0) & (short != "test"))
    lacking = (rows.counts > 0) & lacks
    moved = lacking[rows.users] & (part != parts.LATER)
    if short == "test":
        moved &= part != parts.TRAIN
    part[moved] = parts.TRAIN if short == "train" else parts.NOWHERE
    asked: tuple[Part, ...] = PARTS[: 1 + len(held)]
    return split_of(rows, part, asked, lacking, how=how, short=short, **rules)


def share_of(value: Any, option: str) -> Fraction:
    """Return a share as it is written, exactly."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1:
        raise ValueError(f"{option}={value!r}: a share between 0 and 1 is needed")
    return _exact(float(value))  # 0.29 of 100 is 29, in floats 28.999999999999996


def _amount(value: Any, option: str) -> int | Fraction:
    """Return a whole number from 1 on, or a share, by its type."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return check_positive_int(value, option)
    return share_of(value, option)


def held_of(amount: int | Fraction, counts: Ints) -> Ints:
    """Return how many of some counts are held out: the number itself, or the share of each."""
    if isinstance(amount, int):
        return np.full_like(counts, amount)
    few, place = np.unique(counts, return_inverse=True)  # few, and exact beyond 64 bits
    return np.array([int(amount * n) for n in few.tolist()], np.int64)[place]
