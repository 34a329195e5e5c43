"""Integers to numbers by a hash table; rows of long tables put in lists, rows of a log in order."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import generic, int64, uint64

from toplist.kernels import in_steps, kernel
from toplist.kernels.hashing import GOLDEN, most_probes_of_rows, order_of_rows


def number(codes: Any, table: Any, known: Any, n_known: int, rows: Any) -> int:
    """Fill `rows` with the number of each code, in order of appearance.

    Parameters
    ----------
    codes : int64
    table : int64 (a power of two, more than twice the distinct codes), -1 where free; written
        Open addressing: numbers of the known codes.
    known : int64, written
        The codes by number; `n_known` of them are there on entry.

    Returns
    -------
    int
        How many are known; or -1, given up, where so many codes share places of the table that it
        would take too long. The first `n_known` codes stay what they were, the table does not.
    """
    return int(_number(codes, table, known, n_known, rows, True))


def find(codes: Any, table: Any, known: Any, out: Any) -> bool:
    """Fill `out` with the number of each code, -1 for codes that have none.

    The table is as `number` leaves it. Return whether it was done: not where so
    many codes share places of the table that it would take too long.
    """
    return bool(_number(codes, table, known, 0, out, False) >= 0)


@kernel
def _number(codes: int64, table, known, n_known, rows, adding):
    """Do what `number` does; unless `adding`, what `find` does."""
    bits = 0
    while 1 << bits < len(table):
        bits += 1
    shift, last = uint64(64 - bits), uint64(len(table) - 1)
    previous, probes, most = -1, 0, most_probes_of_rows(len(codes))
    for i in range(len(codes)):
        code = codes[i]
        if previous >= 0 and known[previous] == code:  # a table sorted by user
            rows[i] = previous
            continue
        slot = (uint64(code) * GOLDEN) >> shift
        while table[slot] >= 0 and known[table[slot]] != code:
            slot = (slot + uint64(1)) & last
            probes += 1
            if probes > most:
                return -1
        if adding and table[slot] < 0:
            table[slot] = n_known
            known[n_known] = code
            n_known += 1
        previous = table[slot]
        rows[i] = previous
    return n_known


@kernel
def starts_of_runs(codes: int64, first, starts):
    """Fill `starts` with the rows whose code is not that of the row before; return how many.

    `first` is the row of the first code, which begins no run.
    """
    n = 0
    for i in range(1, len(codes)):
        starts[n] = first + i
        n += codes[i] != codes[i - 1]
    return n


@kernel
def gather(starts: int64, lengths: int64, targets: int64, entries: int64, out):
    """Copy lists of `lengths` from `starts` in `entries` to `targets` in `out`; int64 bits."""
    for row in range(len(starts)):
        shift = starts[row] - targets[row]
        for i in range(targets[row], targets[row] + lengths[row]):
            out[i] = entries[i + shift]


@kernel
def ranks_in_order(ranks: int64, offsets: int64):
    """Return whether the ranks of every list are 1, 2, ..., n in this order."""
    wrong = 0
    for row in range(len(offsets) - 1):
        before = offsets[row] - 1
        for i in range(offsets[row], offsets[row + 1]):
            wrong |= ranks[i] ^ (i - before)
    return wrong == 0


@kernel
def place_by_rank(rows: int64, ranks: int64, items: int64, offsets: int64, taken, out):
    """Put each item at its rank in the list of its row.

    Returns
    -------
    int
        The first entry whose rank is not 1..n of its row, or is taken; else -1.
    """
    for i in range(len(rows)):
        row, rank = rows[i], ranks[i]
        if rank < 1 or rank > offsets[row + 1] - offsets[row]:  # a sum with it may overflow
            return i
        place = offsets[row] + rank - 1
        if taken[place]:
            return i
        taken[place] = 1
        out[place] = items[i]
    return -1


@kernel
def place_in_order(rows: int64, items: int64, values: generic, ends, out, values_out):
    """Append each item, and its value if there are values, to the list of its row.

    The values are float64 or int64. `ends` holds where the lists start, on return where they end.
    """
    for i in range(len(rows)):
        row = rows[i]
        out[ends[row]] = items[i]
        if len(values):
            values_out[ends[row]] = values[i]
        ends[row] += 1


@kernel
def tied_in_order(scores: generic, offsets: int64):
    """Return how many places of the lists hold a score that another of the list has, too.

    Or -1, where the scores of a list rise, or one is NaN: `count_tied` counts then. Scores are
    float64 or int64 (`toplist.inputs.factorize.comparable`).
    """
    n = 0
    for row in range(len(offsets) - 1):
        start, end = offsets[row], offsets[row + 1]
        before = False
        for i in range(start, end):
            if not scores[i] <= scores[max(i - 1, start)]:
                return -1
            after = i + 1 < end and scores[i] == scores[i + 1]
            n += before or after
            before = after
    return n


def count_tied(scores: Any, offsets: Any) -> int:
    """Return what `tied_in_order` does, of scores in any order."""
    part = scores[offsets[0] : offsets[-1]]
    keys = part if part.dtype.kind == "i" else (part + 0.0).view(int64)  # -0.0 becomes 0.0
    _, again = order_of_rows(keys, offsets)
    # the first of each run of equal scores is not in `again`
    return len(again) + int(np.count_nonzero(np.diff(again, prepend=-1) > 1))


@in_steps
def sort_by_score(offsets: int64, scores: generic, items):
    """Order every list by score, highest first; equal scores keep their order.

    Scores are float64 or int64 (`toplist.inputs.factorize.comparable`).

    Returns
    -------
    int
        The position of the first NaN, or -1.
    """
    for row in range(len(offsets) - 1):
        start, end = offsets[row], offsets[row + 1]
        falling = True
        for i in range(start, end):
            if scores[i] != scores[i]:
                return i
            falling &= i == start or scores[i] <= scores[i - 1]
        if not falling:
            # rising from the last to the first, read backwards: equal scores keep their order
            rising = np.argsort(scores[start:end][::-1].copy(), kind="mergesort")
            items[start:end] = items[end - 1 - rising[::-1]]
    return -1


def sort_by_score_and_key(
    offsets: Any, scores: Any, keys_of: Callable[[Any], Any], items: Any
) -> None:
    """Order every list by score, highest first; equal scores by key, lowest first.

    ``keys_of(rows)`` returns the keys of some rows: those of equal scores, which are few in most
    lists. Items of equal score and key keep their order.
    """
    part = slice(offsets[0], offsets[-1])
    order, again = order_of_rows(~scores[part], offsets)
    if len(again):
        repeats = np.zeros(len(order), bool)
        repeats[again] = True
        tied = np.flatnonzero(repeats | np.append(repeats[1:], False))
        rows, starts = order[tied], np.append(np.flatnonzero(~repeats[tied]), len(tied))
        order[tied] = rows[order_of_rows(keys_of(rows + offsets[0]), starts)[0]]
    items[part] = items[part][order]


@kernel
def holds_twice(codes: int64, offsets: int64, lengths: int64, last):
    """Return whether one of the lists of a block holds an item twice.

    The items of user u are the `lengths[u]` from ``offsets[u] - offsets[0]`` on. `last` is int32
    (n_items,), -1; written: the last user whose list held the item.
    """
    twice = False
    for u in range(len(lengths)):
        begin = offsets[u] - offsets[0]
        for r in range(lengths[u]):
            code = uint64(codes[begin + r])
            twice |= last[code] == u
            last[code] = u
    return twice


@in_steps
def order_ties(offsets: int64, times: int64, numbers: int64, rows):
    """Order rows of one user and one time by their numbers.

    Parameters
    ----------
    offsets : int64 (n_users + 1,)
        User u's rows are ``rows[offsets[u]:offsets[u + 1]]``, by time.
    times, numbers : int64, by row
    rows : int64, written
        Of equal numbers too, the first stays the first.
    """
    for u in range(len(offsets) - 1):
        begin = offsets[u]
        for i in range(begin + 1, offsets[u + 1] + 1):
            if i == offsets[u + 1] or times[rows[i]] != times[rows[begin]]:
                if i - begin > 1:
                    part = rows[begin:i]
                    part[:] = part[np.argsort(numbers[part], kind="mergesort")]
                begin = i


@in_steps
def occurrences(offsets: int64, items: int64, rows: int64, room, nth, later):
    """Count how often the item of a row occurs in earlier and later rows of its user.

    Parameters
    ----------
    offsets, rows : int64, as `order_ties` leaves them
    items : int64, by row
    room : int64 (n_items,), -1, written
        ``offsets[u]`` and how often user u has had the item: no user before has come further.
    nth, later : int32, by row, written
    """
    for u in range(len(offsets) - 1):
        first = offsets[u]
        for i in range(first, offsets[u + 1]):
            item = items[rows[i]]
            room[item] = max(room[item], first) + 1
            nth[rows[i]] = room[item] - first - 1
        for i in range(first, offsets[u + 1]):
            later[rows[i]] = room[items[rows[i]]] - first - 1 - nth[rows[i]]
