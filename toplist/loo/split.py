"""Which rows of a log are for training, which for the test: of every user, by time, or by user.

Nothing depends on the order of the log's rows. Rows of one time (a basket has one timestamp) are
put in random order by a hash of seed, user and item, which belongs to the row itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from toplist.checks import Bools, Ints, check_positive_int, choice, counted
from toplist.inputs import id_hashes
from toplist.inputs.lists import Lists
from toplist.loo.histories import Histories, KCore, Repeats
from toplist.loo.logs import Ids, Log
from toplist.loo.split_report import Report, report_of

if TYPE_CHECKING:
    from fractions import Fraction

HeldOut = Literal["last", "random", "basket"]
WAYS: tuple[HeldOut, ...] = get_args(HeldOut)
ShareHeldOut = Literal["last", "random"]
SHARE_WAYS: tuple[ShareHeldOut, ...] = get_args(ShareHeldOut)
Short = Literal["train", "drop"]
SHORT: tuple[Short, ...] = get_args(Short)
Part = Literal["train", "test", "validation", "history"]
PARTS: tuple[Part, ...] = get_args(Part)
# The numbers of the parts, and of rows after the horizon of a window, and of those left out.
TRAIN, TEST, VALIDATION, HISTORY, LATER, NOWHERE = range(6)


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
        Hold out one more (or the basket before), for validation: leave two out.
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
    least = check_positive_int(min_history, "min_history", 0)
    rows = Histories.of(log, columns, seed, repeats, by, k_core)
    if by == "basket":
        test = rows.newest()
        before = rows.newest(~test)
    else:
        later = rows.from_the_end
        test, before = later == 0, later == 1
    part = np.select([test, before & validation], [TEST, VALIDATION], TRAIN)
    what = {"last": "the last by time", "random": "one at random", "basket": "the last basket"}[by]
    how = f"leave {'two' if validation else 'one'} out: {what} ({rows.rules(by)})"
    return split_of(rows, how, part, validation, least, short)


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
        and must remain (`last`, those of `validation`, and `min_history`) have no test row.
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
    min_history = int(time is None) if min_history is None else min_history
    least = check_positive_int(min_history, "min_history", 0)
    if time is not None:
        for option, asked, usual in (("by", by, "last"), ("short", short, "train")):
            if asked != usual:
                raise ValueError(f"{option}={asked!r} does not go with time={time!r}")
        rows = Histories.of(log, columns, seed, repeats, "time", k_core)
        test = rest = rows.since(rows.time(time, "time"))
        if validation is not None:
            rest = rows.since(rows.time(validation, "validation"))
        if (test & ~rest).any():
            raise ValueError(f"validation={validation!r} begins after the test, time={time!r}")
        part = np.select([test, rest], [TEST, VALIDATION], TRAIN)
        how = f"hold out from time {time} on ({rows.rules('time')})"
        return split_of(rows, how, part, validation is not None, least, "test")
    amount, option = (share_of, "ratio") if last is None else (check_positive_int, "last")
    given = amount(ratio if last is None else last, option)
    more = None if validation is None else amount(validation, "validation")
    if last is not None and by == "random":
        raise ValueError(f"by={by!r} does not go with last={last!r}")
    rows = Histories.of(log, columns, seed, repeats, by, k_core)
    later, n_test = rows.from_the_end, held_of(given, rows.counts)
    n_held = n_test if more is None else n_test + held_of(more, rows.counts)
    held = later < n_test[rows.users], later < n_held[rows.users]
    part = np.select(held, [TEST, VALIDATION], TRAIN)
    words = "" if validation is None else f", {validation} for validation"
    what = "the last by time" if by == "last" else "at random"
    how = f"hold out {ratio} of each user's rows{words}: {what} ({rows.rules(by)})"
    if last is not None:
        how = f"hold out the last {last} of each user's rows{words} ({rows.rules(by)})"
    needed = 0 if last is None else last + (validation or 0)
    return split_of(
        rows, how, part, validation is not None, least, short, needed, by_share=last is None
    )


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
    least = check_positive_int(min_history, "min_history", 0)
    of_each = _amount(hold, "hold")
    wanted = {"test": test} | ({} if validation is None else {"validation": validation})
    amounts = {option: _amount(given, option) for option, given in wanted.items()}
    rows = Histories.of(log, columns, seed, repeats, by, k_core)
    n_held = held_of(of_each, rows.counts)
    enough = (n_held > 0) & (rows.counts - n_held >= least)
    known = np.flatnonzero(enough)
    keys = id_hashes.keys_of(rows.log.users.names)[known]
    drawn = known[np.argsort(id_hashes.random_numbers(rows.seed, keys), kind="stable")]
    drawn_for = np.zeros(len(enough), np.int8)
    for place, (option, amount) in enumerate(amounts.items(), start=1):
        n = int(held_of(amount, np.array([len(known)]))[0])
        if not 0 < n <= len(drawn):
            users = counted(len(drawn), "user")
            raise ValueError(
                f"{option}={wanted[option]!r}: {users} with enough rows to choose from"
            )
        drawn_for[drawn[:n]], drawn = place, drawn[n:]
    whose, held = drawn_for[rows.users], rows.from_the_end < n_held[rows.users]
    of = [whose == 0, ~held, whose == 1]
    part = np.select(of, [TRAIN, HISTORY, TEST], VALIDATION)
    words = "" if validation is None else f", {validation} more for validation"
    which = "the last by time" if by == "last" else "at random"
    how = f"hold out users, {test}{words}; {hold} of their rows: {which} ({rows.rules(by)})"
    asked = ["train", "history", *wanted]
    return taken(rows, part, asked, ~enough, how=how, min_history=least, short="train")


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
    rows: Histories,
    how: str,
    part: Ints,
    validation: bool,
    least: int,
    short: str,
    n_held: int = 0,
    by_share: bool = False,
) -> Split:
    """Take the parts from the log; users with too little history have no test.

    `part` is the number of the part that each row is of, if its user has enough: that is `least`
    rows in train, and `n_held` that can be held out. With `validation` there is such a part.
    """
    if short != "test":
        choice("short", short, SHORT)
    history, n_test = (
        np.bincount(rows.users[part == one], minlength=len(rows.log.users.names))
        for one in (TRAIN, TEST)
    )
    lacks = (history < least) | (rows.counts < n_held) | ((n_test == 0) & (short != "test"))
    too_short = (rows.counts > 0) & lacks
    rest = np.full(len(part), {"train": TRAIN}.get(short, NOWHERE))
    if short == "test":
        rest[part == TRAIN] = TRAIN
    n_later = int(np.count_nonzero(part == LATER))
    asked = ["train", "test", "validation"][: 2 + validation]
    return taken(
        rows,
        np.where(too_short[rows.users], rest, part),
        asked,
        too_short,
        how=how,
        min_history=least,
        short=short,
        n_later=n_later,
        by_share=by_share,
    )


def taken(rows: Histories, part: Ints, asked: list[str], lacking: Bools, **rules: Any) -> Split:
    """Take the parts of the rows from the log; those that were asked for are not None."""
    places: dict[str, Ints] = {
        name: np.sort(rows.rows[part == number]) for number, name in enumerate(PARTS)
    }
    report = report_of(rows, {name: places[name] for name in asked}, lacking, **rules)
    parts = {name: rows.log.take(places[name]) if name in asked else None for name in PARTS}
    return Split(**parts, report=report, log=rows.log, rows=places)


def share_of(value: Any, option: str) -> Fraction:
    """Return a share as it is written, exactly."""
    from fractions import Fraction

    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1:
        raise ValueError(f"{option}={value!r}: a share between 0 and 1 is needed")
    return Fraction(repr(float(value)))  # 0.29 of 100 is 29, in floats 28.999999999999996


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


def _sorted(ids: Ids) -> tuple[list[Any], Ints]:
    """Return the ids sorted, and the place of each code; unsorted if they cannot be compared."""
    try:
        order = sorted(range(len(ids.names)), key=ids.names.__getitem__)
    except TypeError:
        order = list(range(len(ids.names)))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return [ids.names[code] for code in order], place
