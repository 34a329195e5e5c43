"""Read tables into lists keyed by user: long tables, and tables with a column of lists.

A long table (a row per user and item) needs no work if the rows of a user are together and in
order. Otherwise users are numbered, and one or two passes put each row in its place; nothing is
sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toplist import kernels, parallel
from toplist.checks import Bools, Ints, about, cached, no_columns, require
from toplist.inputs import columns as cols
from toplist.inputs.factorize import (
    Column,
    as_held,
    as_integers,
    blocks,
    comparable,
    in_runs,
    numbered,
    order_of_ids,
    starts_of_runs,
)
from toplist.inputs.ids import alone
from toplist.inputs.keyed import KeptTruths, align, check_not_counted, keyed, no_truths
from toplist.inputs.lists import Flat, Scored, flatten, is_frame, offsets_of
from toplist.inputs.options import GROUP, SIDES, ColumnNames, Joining, columns_of, named_in
from toplist.inputs.texts import IdTexts
from toplist.inputs.truths import check_ignored, score_in

# The line that lets scores rank what is left of ranks, in pandas; `toplist.spark` has its own.
WITHOUT_GAPS = "frame.assign(score=-frame['rank']).drop(columns='rank')"
SHARE = 1 << 18  # rows that a thread places at a time: of 5,000,000, in blocks of 2^20, one waited


def read_tables(ranks: Any, truths: Any, joining: Joining) -> tuple[Flat, Flat, int]:
    """Read two sides of which at least one is a table, and count users of ranks alone.

    Padding is only dropped from sets, or where ids become documents.
    """
    known = truths.texts if isinstance(truths, KeptTruths) else IdTexts()
    columns, padding = joining.columns, joining.padding
    ranked = lists_of(ranks, "ranks", columns, joining.ties, known)
    truth = lists_of(truths, "ground_truths", columns, known=known, padding=padding)
    rows = truths.rows if isinstance(truths, KeptTruths) else truths
    check_not_counted("ranks", ranks, "ground_truths", map(truth.users.decode, truth.users.codes))
    check_not_counted("ground_truths", rows, "ranks", map(ranked.users.decode, ranked.users.codes))
    listed = ranked.users.codes
    if len(listed) and not len(truth.users.codes) and not isinstance(truths, Flat):
        raise no_truths(ranked.users.decode(listed[0]))  # what was read may be a part of all
    if joining.items_as is not None:
        ranked, truth = joining.items_as.sides(ranked, truth, padding)
    return align(ranked, truth)


def by_column(frame: Any, name: str, side: str) -> Iterator[tuple[str, Any]]:
    """Yield each value of a column, as text in order of first appearance, and its rows."""
    require(side, [name], cols.names_of(frame))
    if not len(frame):
        raise ValueError(f"{side}: no rows")
    column = cols.read(frame, name, side).ids()
    numbers, distinct = numbered(column.codes)
    for number, value in enumerate(column.decoded(distinct)):
        yield str(value), cols.take(frame, np.flatnonzero(numbers == number))


def lists_of(
    value: Any,
    side: str,
    columns: ColumnNames,
    ties: str = "order",
    known: IdTexts | None = None,
    padding: Any = None,
) -> Flat:
    """Return one side as lists by user; it or the other side is a table.

    With `known`, users and items of a table that are text are numbered by these. `padding` is only
    dropped from sets.
    """
    if is_frame(value):
        frame = cols.readable(value)
        names = named_in(columns_of(columns, side), cols.names_of(frame), side)
        table = SideTable(frame, side, names, ties=ties, known=known or IdTexts())
        table.check(is_list=True)  # whether a rank is needed is seen where lists are read
        lists = read(table)
        if len(lists.lengths) == len(frame):  # there may be a list in each row
            _ = lists.places  # no user has two
        return lists
    if isinstance(value, Flat):
        return value
    if isinstance(value, KeptTruths) and value.users is not None:
        return value.lists if padding is None else value.listed(padding)
    if not isinstance(value, Mapping):
        other = "ground_truths" if side == "ranks" else "ranks"
        raise TypeError(
            f"{other} is a table keyed by user, {side} is a {type(value).__name__}: give both "
            "as tables or dicts"
        )
    return keyed(value, side, padding)


@dataclass(frozen=True, eq=False)
class SideTable:
    """One side of an evaluation as a frame, with its name in messages and its column names.

    With `order` of "file", ranked items are taken in the order of the table. If the frame is a
    part of a file, `first` is the number of its first row, and `in_file` returns the names of all
    columns of the file. `ties` is how items of equal scores are ordered. `known` are the texts by
    which users and items are numbered.
    """

    frame: Any
    side: str
    names: Mapping[str, Any]
    order: str | None = None
    first: int = 0
    in_file: Callable[[], list[str]] | None = None
    ties: str = "order"
    known: IdTexts = field(default_factory=IdTexts)

    @cached
    def columns(self) -> list[Any]:
        """Return the names of the columns."""
        return cols.names_of(self.frame)

    @property
    def all_columns(self) -> list[Any]:
        """The names of all columns: those of the file, of which some may not be read."""
        return self.in_file() if self.in_file else self.columns

    @property
    def _values(self) -> tuple[str, ...]:
        """The columns of values of the items; the first that is found is read."""
        return ("rank", "score") if self.side == "ranks" else ("relevance",)

    @cached
    def value(self) -> str | None:
        """Return the column of values of the items: a rank or score; of a truth, grades or groups.

        ValueError for a truth that has both.
        """
        if GROUP in self.names:
            columns, grades = list(self.all_columns), self.names["relevance"]
            found = grades if grades in columns else score_in(columns, self.names)
            if found is not None:
                raise ValueError(
                    f"{self.side} has grades, column {found!r}, beside groups, "
                    f"{self.names[GROUP]!r}: groups have no grades; leave out that column, and the "
                    "rows that are not relevant"
                )
            return self.one_of(GROUP)
        there = [name for name in self._values if self.names[name] in self.columns]
        if not there and self.side == "ground_truths" and not self.first:
            check_ignored(self.all_columns, self.names, self.in_file is not None)
        return there[0] if there and self.order is None else None

    def check(self, is_list: bool) -> str | None:
        """Raise ValueError for columns that are not there; return which of ours has the values.

        In a row per user, whose items are a list, these need no rank.
        """
        self.one_of("user_id")
        self.one_of("item_id")
        value = self.value
        for name in self._values:
            if self.names[name] != name and self.order is None and GROUP not in self.names:
                self.one_of(name)
        if self.side == "ranks" and self.order is None and not is_list:
            self.one_of("rank", "score")
        return value

    def parts(self, name: str) -> tuple[Any, ...]:
        """Return the names of the columns that make one of ours: of "user_id" maybe several."""
        theirs = self.names[name]
        return theirs if isinstance(theirs, tuple) else (theirs,)

    def column(self, name: Any) -> cols.Cells:
        """Return a column of the table."""
        return cols.read(self.frame, name, self.side, self.where)

    def has(self, name: str) -> bool:
        """Whether the table has one of our columns."""
        return not self._absent(name)

    def _absent(self, *wanted: str) -> list[Any]:
        """Return the names of columns that the table does not have."""
        parts = (part for name in wanted for part in self.parts(name))
        return [part for part in parts if part not in self.columns]

    def one_of(self, *wanted: str) -> str:
        """Return the first of the wanted columns that the table has; ValueError without one."""
        for name in wanted:
            if self.has(name):
                require(self.side, self.parts(name), self.columns)
                return name
        absent = self._absent(*wanted)
        index = getattr(self.frame, "index", None)  # of pandas
        if absent[0] in getattr(index, "names", ()):
            raise ValueError(
                f"{self.side}: {absent[0]!r} is the index, not a column: .reset_index() makes it "
                "one"
            )
        ids = "user_id", "item_id"
        more = [name for name in ids if name not in wanted and not self.has(name)]
        # one of a side, "rank" or "score", or ids, which both sides may call the same
        forms = [dict.fromkeys([name, *more], "NAME") for name in wanted]
        of_side: list[Any] = [
            {self.side: names} if self.side in SIDES else names for names in forms
        ]
        ways = " or ".join(f"columns={columns!r}" for columns in of_side)
        ways += f" names {'others' if more else 'another'}"
        if self.side in SIDES and wanted[0] in ids and wanted[0] in absent:
            ways += f" of this side, columns={forms[0]!r} of both sides"
        if "item_id" in (*wanted, *more) and {"1", "2"} <= {*map(str, self.columns)}:
            melted = "frame.melt('user_id', var_name='rank', value_name='item_id')"
            line = f"{melted}.dropna().astype({{'rank': int}})"
            ways += f", and columns of ranks become rows by {line}"
        if self.in_file is not None and "rank" in wanted:
            ways += ", toplist.Ranks(path, order='file') takes the items in the order of the file"
        if "rank" in wanted:
            ways += " (is this the ground truth?)"
        either = len(absent) if len(wanted) > 1 else 0
        side = "" if self.in_file else self.side  # its path is there
        raise no_columns(side, absent + self._absent(*more), self.all_columns, ways, either=either)

    def keys(self, columns: Sequence[cols.Cells]) -> Column:
        """Return the users, by their columns; where these are several, tuples."""
        if len(columns) == 1:
            return columns[0].ids(self.known.users)
        codes = np.zeros(len(self.frame), np.int64)
        parts = [column.ids() for column in columns]
        for part in parts:
            numbers, distinct = numbered(part.codes)
            codes = numbered(codes * len(distinct) + numbers)[0]
        first = np.unique(codes, return_index=True)[1]  # they are numbered as they appear
        keys = zip(*(part.decoded(part.codes[first]) for part in parts), strict=True)
        return Column("user_id", codes, list(keys))

    def where(self, row: int) -> str:
        """Return how messages name a row: by its number, and by its user, if it has one."""
        place = cols.in_row(self.first + row)
        if not self.has("user_id"):
            return place
        user = tuple(cols.cell(self.frame, part, row) for part in self.parts("user_id"))
        named = user if len(user) > 1 else user[0]
        return place + ("" if named is None else f" (user {named!r})")

    def places(self, rows: Ints) -> Ints:
        """Return the lines of rows in a file of text, else their numbers."""
        lines = getattr(self.frame, "lines", None)
        found: Ints = self.first + rows if lines is None else lines[rows]
        return found

    def is_of(self, user: Any) -> Bools:
        """Return which rows are of a user, compared as text."""
        wanted = tuple(map(str, user)) if isinstance(user, tuple) else (str(user),)
        columns = (map(str, self.column(part).objects()) for part in self.parts("user_id"))
        return np.array([one == wanted for one in zip(*columns, strict=True)], bool)

    def rows_of(self, item: Any, rows: Ints) -> Ints:
        """Return those of some rows that hold an item, compared as text, as often as they do."""
        cells, name = self.column(self.names["item_id"]).objects(), str(item)
        times = [
            sum(str(one) == name for one in (cell if isinstance(cell, list) else [cell]))
            for cell in map(cells.__getitem__, rows.tolist())
        ]
        found: Ints = np.repeat(rows, times)
        return found


def read(table: SideTable, in_runs: bool = False) -> Flat:
    """Return the lists of a table.

    Parameters
    ----------
    table : Table
        user_id and item_id; of ranks also rank (1..n) or score, of ground_truths with grades
        relevance. Or a row per user, whose item_id is its list of ids (and rank, score or
        relevance, if any, a list of the same length).
    in_runs : bool
        Whether every run of rows of one user is a list, as in a part of a file.

    Raises
    ------
    TypeError
        For columns of ids that are floats or of two kinds, or of numbers that are text.
    ValueError
        For a missing column, a null, ranks that are not 1..n, a NaN score.
    """
    side = table.side
    user, (item,) = (table.parts(table.one_of(wanted)) for wanted in ("user_id", "item_id"))
    whose, column = [*map(table.column, user)], table.column(item)
    rows = column.containers()
    lists = column.lists() if rows is None else None
    is_long = rows is None and lists is None
    if is_long and side == "ranks" and table.order is None:
        table.one_of("rank", "score")
    name = None if table.value is None else table.names[table.value]
    given = None if name is None else table.column(name)
    values: NDArray[Any] | None = None
    if is_long:
        runs = whose[0].runs(table.known.users) if len(whose) == 1 else None
        users, ends = (table.keys(whose), None) if runs is None else runs
        groups, items = grouped(users, in_runs, ends), column.ids(table.known.items)
    else:
        users = table.keys(whose)
        if lists is not None:
            offsets, column = lists
            items = column.ids(table.known.items)
        else:  # arrays, sets and dicts, too
            flat = alone(flatten(rows, None, side, users=users))
            offsets, items, values = flat.offsets, flat.items, flat.grades
        groups = Groups(users, offsets, None)
        if given is not None:
            found = given.lists()
            if found is None or not np.array_equal(found[0], offsets):
                odd = np.flatnonzero(() if found is None else np.diff(found[0]) != np.diff(offsets))
                at = f": not so in {table.where(int(odd[0]))}" if len(odd) else ""
                raise ValueError(
                    f"{side}: column {name!r} must hold a list per user, as long as the one in "
                    f"{item!r}{at}"
                )
            given = found[1]
    if given is not None and table.value == GROUP and len(given):
        values = numbered(given.ids().codes)[0]
    elif given is not None:  # an empty column is of any type
        values = given.numbers(table.value == "score")
    grades = None
    if values is not None and table.value == "score":
        return by_score(table, values, groups, items)
    if values is not None and table.value == "rank":
        items = by_rank(side, values, groups, items)
    else:
        grades = None if values is None else values.astype(np.float64)
        items, grades = groups.in_order(items, grades)
    of_groups = table.value == GROUP and grades is not None
    return Flat.of(side, groups.users, items, groups.offsets, grades=grades, grouped=of_groups)


@dataclass(frozen=True, eq=False)
class Groups:
    """The rows of a long table by user: the users, and where the list of each begins.

    `rows` holds the number of the user of each row; None if the rows of every user are together,
    so that nothing has to be moved.
    """

    users: Column
    offsets: Ints
    rows: Ints | None

    def error(self, side: str, row: Any, words: str, **more: Any) -> ValueError:
        """Return an error of the user of a number: words behind the side and the user."""
        user = self.users.decode(self.users.codes[row])
        return about(ValueError(f"{side}: user {user!r} has {words}"), side=side, user=user, **more)

    @property
    def every_row(self) -> Ints:
        """The number of the user of each row."""
        if self.rows is not None:
            return self.rows
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def in_order(self, items: Column, values: Any) -> tuple[Column, Any]:
        """Return items and values (float64 or int64) by user, in the order of the table."""
        if self.rows is None:
            return items, values
        out = np.empty(len(items.codes), np.int64)
        given = np.empty(0) if values is None else values
        moved, ends = np.empty(len(given), given.dtype), self.offsets[:-1].copy()
        kernels.grouping.place_in_order(self.rows, items.codes, given, ends, out, moved)
        items = replace(items, codes=out.astype(items.codes.dtype, copy=False))
        return items, None if values is None else moved


def grouped(users: Column, adjacent: bool = False, ends: Ints | None = None) -> Groups:
    """Group the rows of a table by user; if `adjacent`, every run of equal users is a group.

    With `ends`, `users` are those of runs, which begin at ``ends[:-1]``.
    """
    codes = users.codes
    if ends is None and (adjacent or in_runs(codes)):
        starts = starts_of_runs(codes)
        ends, codes = np.append(starts, len(codes)), codes[starts]
    if adjacent and ends is not None:
        return Groups(replace(users, codes=codes), ends, None)
    rows, distinct = numbered(codes)
    whose = replace(users, codes=distinct)
    if ends is not None:
        if len(distinct) == len(codes):
            return Groups(whose, ends, None)
        rows = np.repeat(rows, np.diff(ends))
    return Groups(whose, offsets_of(np.bincount(rows, minlength=len(distinct))), rows)


def by_rank(side: str, ranks: NDArray[Any], groups: Groups, items: Column) -> Column:
    """Return the items of every user by rank; ValueError for ranks that are not 1..n."""
    with np.errstate(invalid="ignore"):  # what no int64 holds is beyond every list
        given, ranks = ranks, ranks.astype(np.int64, copy=False)
        odd = given % 1 != 0 if given.dtype.kind == "f" else np.zeros(0, bool)
    for at in np.flatnonzero(odd)[:1].tolist():
        raise groups.error(side, groups.every_row[at], f"rank {given[at]}, which is not whole")
    offsets = groups.offsets
    if groups.rows is None and kernels.grouping.ranks_in_order(ranks, offsets):
        return items
    rows = groups.every_row
    out, taken = np.empty(len(ranks), np.int64), np.zeros(len(ranks), np.uint8)

    def place(lo: int, hi: int) -> int:
        part = slice(lo, hi)
        where = rows[part], ranks[part], items.codes[part]
        return int(kernels.grouping.place_by_rank(*where, offsets, taken, out))

    wrong = max(parallel.run(place, blocks(len(ranks), SHARE), None), default=-1) >= 0
    if wrong or not taken.all():  # two threads may have filled one place; then another one is free
        taken[:] = 0
        at = place(0, len(ranks))  # the first that is wrong
        found = np.sort(given[rows == rows[at]])
        shown = ", ".join(str(int(rank)) for rank in found[:8]) + ", ..." * (len(found) > 8)
        way_out = "; ranks start at 1" if found[0] == 0 else ""
        if found[0] > 0 and len(np.unique(found)) == len(found):  # gaps
            way_out = (
                ": where rows were left out, a column score = -rank in place of rank ranks the "
                f"rest, {WITHOUT_GAPS}"
            )
        words = f"ranks {shown} where 1 to {len(found)} belong, each once{way_out}"
        raise groups.error(side, rows[at], words)
    return replace(items, codes=out.astype(items.codes.dtype, copy=False))


def by_score(table: SideTable, scores: NDArray[Any], groups: Groups, items: Column) -> Flat:
    """Return the lists of every user by score, falling; equal scores as the ties of `table` say.

    "order": as they are; "item", "item_desc": by id, ascending or descending; "trec_eval":
    descending, where they are equal in float32.
    """
    side, offsets, by_id = table.side, groups.offsets, table.ties != "order"
    items, scores = groups.in_order(items, comparable(as_held(scores, table.ties)))
    if scores.dtype.kind == "f" and not np.isfinite(scores.sum()):  # or the sum is too large
        for at in np.flatnonzero(~np.isfinite(scores))[:1]:
            item, score = items.decode(items.codes[at]), float(scores[at])
            words = f"a score that is {'NaN' if score != score else score}, of item {item!r}"
            row = np.searchsorted(offsets, at, side="right") - 1
            raise groups.error(side, row, f"{words}: it has to be a finite number", item=item)
    tied = kernels.grouping.tied_in_order(scores, offsets)
    in_order = tied == 0 if by_id else tied >= 0  # by id equal ones are looked at
    if tied < 0:
        steps = kernels.steps(offsets)
        tied = sum(kernels.grouping.count_tied(scores, offsets[lo : hi + 1]) for lo, hi in steps)
    found = Flat.of(side, groups.users, items, offsets, scored=Scored(tied, len(scores)))
    if in_order:
        return found
    codes = items.codes.astype(np.int64)
    if by_id:
        places = as_integers(scores)

        def keys_of(rows: Ints) -> Ints:
            keys = order_of_ids(items.take(rows), side)
            return keys if table.ties == "item" else ~keys

        for lo, hi in kernels.steps(offsets):
            kernels.grouping.sort_by_score_and_key(offsets[lo : hi + 1], places, keys_of, codes)
    else:
        kernels.grouping.sort_by_score(offsets, scores, codes)
    return replace(found, ids=codes.astype(items.codes.dtype, copy=False))
