"""Strong generalisation: the users of the test are not those of training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from toplist.checks import check_positive_int, choice, counted
from toplist.inputs import id_hashes
from toplist.loo.cores import KCore
from toplist.loo.histories import Histories, Repeats
from toplist.loo.split import SHARE_WAYS, ShareHeldOut, Split, at_least_0, held_of, share_of, taken

if TYPE_CHECKING:
    from fractions import Fraction


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
    least = at_least_0(min_history, "min_history")
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
    part, held = drawn_for[rows.users], rows.from_the_end < n_held[rows.users]
    masks = {"train": part == 0, "history": (part > 0) & ~held}
    masks |= {"test": (part == 1) & held, "validation": (part == 2) & held}
    asked = [*masks][: 2 + len(wanted)]
    words = "" if validation is None else f", {validation} more for validation"
    which = "the last by time" if by == "last" else "at random"
    how = f"hold out users, {test}{words}; {hold} of their rows: {which} ({rows.rules(by)})"
    rules = {"how": how, "min_history": least, "short": "train"}
    return taken(rows, masks, asked, ~enough, **rules)


def _amount(value: Any, option: str) -> int | Fraction:
    """Return a whole number from 1 on, or a share, by its type."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return check_positive_int(value, option)
    return share_of(value, option)
