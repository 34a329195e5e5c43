"""Windows of time: many cuts of one log, each with what comes before it as train, as in use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, overload

import numpy as np

from toplist.checks import check_positive_int, choice, counted
from toplist.loo.histories import Histories, KCore, Repeats
from toplist.loo.logs import UNITS, Times, duration
from toplist.loo.split import LATER, TEST, TRAIN, Split, split_of

Exact = int | Fraction


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
    _bounds: list[tuple[Exact, Exact]]
    _rows: Histories
    _least: int

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
        before, until = (_written(rows, bound) for bound in self._bounds[at])
        how = f"window {at + 1} of {len(self)}: train before {before}, test before {until}"
        how += f" ({rows.rules('time')})"
        part = np.select([end, cut], [LATER, TEST], TRAIN)
        return split_of(rows, how, part, False, self._least, "test")

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
    least = check_positive_int(min_history, "min_history", 0)
    rows = Histories.of(log, columns, 0, repeats, "time", k_core)
    step = _length(rows, every, "every")
    width = step if horizon is None else _length(rows, horizon, "horizon")
    ordered = replace(rows.times, values=np.sort(rows.times.values[rows.rows]))
    first = _half(ordered) if start is None else _exact(rows.time(start, "start"))
    cuts = [first + place * step for place in range(_number(rows, ordered, first, step, width))]
    lines, bounds = [], [(cut, cut + width) for cut in cuts]
    for both in bounds:
        n_before, n_until = map(ordered.n_before, both)
        cut, end = (_written(rows, bound) for bound in both)
        if n_before == 0:
            raise ValueError(f"windows: no row is before {cut}: give a later start")
        if n_until == n_before:
            what = f"no row is from {cut} on and before {end}"
            raise ValueError(f"windows: {what}: give a longer horizon or another start")
        if not _known(rows, *both, least):
            what = f"from {cut} on and before {end} the test part would be empty"
            why = f"none of its users has {counted(least, 'row')} before"
            raise ValueError(f"windows: {what}: {why}: give a smaller min_history=")
        n_test = counted(n_until - n_before, "row")
        lines.append(f"{cut}: {counted(n_before, 'row')} before, {n_test} before {end}")
    return Windows([_written(rows, cut) for cut in cuts], lines, bounds, rows, least)


def _known(rows: Histories, cut: Exact, end: Exact, least: int) -> bool:
    """Return whether a user with a row from a cut on and before the end has enough before it."""
    if not least:
        return True
    later, n_users = rows.since(cut), len(rows.log.users.names)
    n_before, n_test = (
        np.bincount(rows.users[some], minlength=n_users)
        for some in (~later, later & ~rows.since(end))
    )
    return bool(((n_before >= least) & (n_test > 0)).any())


def _length(rows: Histories, given: Any, option: str) -> Exact:
    """Return a duration in the unit of the log's times."""
    found, times = duration(given), rows.times
    if found is None or found.dated != times.dated or found.value <= 0:
        what = "a timedelta, or text such as '7d'" if times.dated else "a number in their unit"
        kind = f"the timestamps of this log are {times.kind}"
        raise ValueError(f"{option}={given!r}: {kind}: give {what}, above 0")
    return _exact(found.value)


def _half(ordered: Times) -> Exact:
    """Return the first time before which at least half of the rows lie."""
    values = ordered.values
    middle = values[(len(values) - 1) // 2 :][:1]
    at = np.searchsorted(values, middle, side="right")
    if not len(middle) or at[0] == len(values):
        raise ValueError("windows: before no time lie half of the rows: give the first cut, start=")
    return _exact(values[at[0]].item())


def _number(rows: Histories, ordered: Times, first: Exact, step: Exact, width: Exact) -> int:
    """Return how many windows end in the unit of the newest row."""
    unit: Exact = min(1, step, width)
    if ordered.dated:
        unit = next(one for one in (*UNITS, 1) if step % one == 0 and width % one == 0)
    newest = _exact(rows.times.values.max().item()) if len(ordered.values) else first
    end = first + ((newest - first) // unit + 1) * unit
    n = int((end - width - first) // step) + 1
    if n < 1:
        end, newest = (_written(rows, time) for time in (first + width, newest))
        why = f"the first ends at {end}, beyond the newest row ({newest})"
        raise ValueError(f"windows: {why}: give a shorter horizon or an earlier start")
    if n > len(ordered.values):
        n_rows = counted(len(ordered.values), "row")
        raise ValueError(f"windows: {n:,} windows of {n_rows}: give a longer every")
    return n


def _exact(value: int | float) -> Exact:
    return value if isinstance(value, int) else Fraction(repr(value))


def _written(rows: Histories, value: Exact) -> Any:
    """Return a time as it is printed: a number, or ISO text, which `holdout` reads as a time."""
    number = value.numerator if value.denominator == 1 else float(value)
    return rows.times.written(number)
