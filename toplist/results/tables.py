"""What a table is: typed columns of values, cells as they are written, and notes below them.

`Grid` has plain values, for CSV, frames and JSON; `Page` has tables for `toplist.results.markup`.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pandas import DataFrame

# Stands for an interval that says nothing, as that of users who all have the same value.
NOTHING = "–"


class Cell(NamedTuple):
    """A printed value, its interval, such as ±0.0100 or [0.10, 0.12], and whether it is the best.

    `NOTHING` stands for an interval that says nothing.
    """

    mean: str = ""
    interval: str = ""
    best: bool = False


class Table(NamedTuple):
    """Rows of cells with labels, under a header; `corner` is the header of the labels.

    In a terminal that is too narrow for it, letters stand for the `systems` in headers and labels.
    """

    corner: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell]]]
    systems: Sequence[str] = ()

    @classmethod
    def of(
        cls,
        corner: str,
        label: str,
        columns: Iterable[Column],
        rows: Sequence[Mapping[str, Any]],
        look: Look,
        systems: Sequence[str] = (),
    ) -> Table:
        """Return rows as they are written; `label` is a template of the first column."""
        written = []
        for column in columns:
            if isinstance(column.field, tuple) and look.intervals is False:
                continue
            cells = [column.cell(row, look) for row in rows]
            held = {cell.mean for cell in cells}
            if held != {""} and not (column.kind in EFFECTS and held <= {"", "-"}):
                written.append((column.title or column.field, cells))
        labels = [label.format_map(row) for row in rows]
        by_row = zip(*(cells for _, cells in written), strict=True)
        named = list(zip(labels, by_row, strict=True))
        return cls(corner, [title for title, _ in written], named, systems)


class Page(NamedTuple):
    """Tables, notes below them, and warnings that come first.

    `formulas` are in HTML only, where they can be unfolded. `legend` is the note that says what
    marks in the cells are: it stands below the tables in LaTeX, where the notes are comments.
    `best` says what is marked as the best, and `heading` what Markdown begins with.
    """

    tables: Sequence[Table]
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()
    formulas: Sequence[str] = ()
    legend: str = ""
    best: str = "best of its column; not tested: .test() and toplist compare test the difference"
    heading: str = ""

    @property
    def marks(self) -> list[str]:
        """What is said of the cells that are marked as the best, if any is."""
        rows = (cells for table in self.tables for _, cells in table.rows)
        return [self.best] * any(cell.best for cells in rows for cell in cells)


class Look(NamedTuple):
    """How a page is written: decimals, with intervals or not, and for which form.

    `intervals` is None where that is left to what is shown. With `every_metric` metrics that are
    equal by definition have a line each. `form` is "text", "html", "markdown" or "latex".
    """

    digits: int = 4
    intervals: bool | None = None
    every_metric: bool = False
    form: str = "html"

    def number(self, value: float, sign: str = "") -> str:
        """Return a number as text, a dash for NaN; `sign` is "+" for one that always has its sign.

        Examples
        --------
        >>> LOOK.number(0.00378), LOOK.number(-0.00003, "+"), LOOK.number(math.nan)
        ('0.0038', '-0.0000', '-')
        """
        return "-" if value != value else f"{round_significant(value):{sign}.{self.digits}f}"

    def signed(self, value: float) -> str:
        """Return a difference, which always has its sign."""
        return self.number(value, "+")

    def ends(self, low: float, high: float, sign: str = "") -> str:
        """Return an interval."""
        return f"[{self.number(low, sign)}, {self.number(high, sign)}]"


LOOK = Look()


class Column(NamedTuple):
    """A column of a table: the field of each row that it has, a key of `KINDS`, and its header.

    Of two fields it has both ends of an interval. `mark` is the field of what stands behind a
    value, `best` that of whether it is the best. A p at its `floor` is known to be at most that.
    """

    field: Any
    kind: str = "number"
    title: str = ""
    mark: str = ""
    best: str = ""
    floor: float = 0.0

    def cell(self, row: Mapping[str, Any], look: Look) -> Cell:
        """Return a value as it is written: a dash for None and NaN, nothing where there is none."""
        fields = self.field if isinstance(self.field, tuple) else (self.field,)
        if not {*fields} <= row.keys():
            return Cell()
        values = [row[field] for field in fields]
        floor = 0.0 if row.get("exact") else self.floor
        words = "-"
        if not any(one is None or one != one for one in values):
            words = ", ".join(KINDS[self.kind](one, look, floor) for one in values)
            words = f"[{words}]" if len(values) > 1 else words
        return Cell(words + row.get(self.mark, ""), best=row.get(self.best, False))


# How the values of a column are written in a table: a value, the look, and the floor of a p.
KINDS: dict[str, Callable[[Any, Look, float], str]] = {
    "text": lambda value, look, floor: str(value),
    "count": lambda value, look, floor: f"{value:,.0f}",
    "number": lambda value, look, floor: look.number(value),
    "signed": lambda value, look, floor: look.signed(value),
    "relative": lambda value, look, floor: percent(value),
    "share": lambda value, look, floor: f"{100 * value:.0f} %",
    "size": lambda value, look, floor: f"{value:.2f}",
    "p": lambda value, look, floor: probability(value, floor),
}
# Columns of these are left out where no row has a value.
EFFECTS = "relative", "size"


class Grid(NamedTuple):
    """Columns of plain values by name: what CSV, frames and JSON have."""

    columns: Mapping[str, Sequence[Any]]

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> Grid:
        """Return the columns of some rows; None where a row lacks a field that another has."""
        held = list(rows)
        names = dict.fromkeys(itertools.chain.from_iterable(held))
        return cls({name: [row.get(name) for row in held] for name in names})

    @classmethod
    def stacked(cls, name: str, grids: Mapping[Any, Grid]) -> Grid:
        """Return grids below each other; their labels are a column before the others."""
        columns: dict[str, list[Any]] = {name: []}
        for label, one in grids.items():
            for title, values in one.columns.items():
                columns.setdefault(title, []).extend(values)
            columns[name] += [label] * len(next(iter(one.columns.values())))
        return cls(columns)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows by the names of their columns."""
        cells = zip(*self.columns.values(), strict=True)
        return [dict(zip(self.columns, row, strict=True)) for row in cells]

    def to_pandas(self) -> DataFrame:
        """Return a DataFrame."""
        import pandas

        return pandas.DataFrame(self.columns)

    def to_csv(self) -> str:
        r"""Return CSV: None and NaN are empty cells, several values are a text.

        Examples
        --------
        >>> Grid({"metric": ["auc", "gauc"], "value": [0.5, math.nan]}).to_csv()
        'metric,value\nauc,0.5\ngauc,\n'
        >>> Grid({"user": ["ann"], "hits": [(1, 4)]}).to_csv()
        'user,hits\nann,1 4\n'
        """

        def cell(value: Any) -> Any:
            if isinstance(value, tuple):
                return " ".join(map(str, value))
            return "" if value is None or value != value else value

        rows = zip(*self.columns.values(), strict=True)
        return csv_text(itertools.chain([self.columns], (map(cell, row) for row in rows)))


def key_columns(
    users: Iterable[Any], names: Any = "user_id", beside: Iterable[str] = ()
) -> dict[str, list[Any]]:
    """Return the columns of users in files: user_id; of keys of several columns one for each.

    These have the `names` of the tables that they are from. They are numbered where there are none,
    or one of them is that of a column `beside` them.

    Examples
    --------
    >>> key_columns([("ann", 3), ("bob", 1)], ["user", "day"])
    {'user': ['ann', 'bob'], 'day': [3, 1]}
    >>> key_columns([("ann", 3)]), key_columns(["ann"])
    ({'user_id_1': ['ann'], 'user_id_2': [3]}, {'user_id': ['ann']})
    """
    keys, known = list(users), not isinstance(names, str)
    if not known and not (keys and isinstance(keys[0], tuple)):
        return {"user_id": keys}
    if not known or not {*beside}.isdisjoint(names):
        size = len(names if known else keys[0])
        names = [f"user_id_{number}" for number in range(1, size + 1)]
    return {name: [key[place] for key in keys] for place, name in enumerate(names)}


def as_text(user: Any) -> Any:
    """Return an id as text; of several columns, each of them."""
    return tuple(map(str, user)) if isinstance(user, tuple) else str(user)


def csv_text(rows: Iterable[Iterable[Any]], delimiter: str = ",") -> str:
    r"""Return rows as CSV, whose lines end in a line feed alone.

    Examples
    --------
    >>> csv_text([["item_id", "count"], ["a\r", 1]])
    'item_id,count\n"a\r",1\n'
    """
    out = _Lines()
    # Python 3.11 quotes of "\r" and "\n" those that are in the end of a line
    csv.writer(out, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    return out.getvalue()


class _Lines(io.StringIO):
    r"""Text of lines that are written one by one, ended by "\r\n", and kept with "\n"."""

    def write(self, line: str) -> int:
        return super().write(line.removesuffix("\r\n") + "\n")


def round_significant(value: float) -> float:
    """Return a number without its last digits, which follow from the order of its sum.

    A mean from counts and one from values may differ in the 16th digit, and would be printed as
    0.1047 and 0.1048 where they are 0.10475.

    Examples
    --------
    >>> round_significant(0.10474999999999998) == round_significant(0.10475000000000001)
    True
    """
    return float(f"{value:.12g}")


def probability(p: float, floor: float = 0.0) -> str:
    """Return a p value; one at the floor of its resamples is known to be at most that.

    Examples
    --------
    >>> probability(0.0483), probability(0.0004), probability(1e-4, 1e-4), probability(math.nan)
    ('0.048', '<0.001', '<=0.0001', '-')
    >>> probability(0.0499), probability(0.05)  # on its own side of 0.01, 0.025, 0.05 and 0.1
    ('0.0499', '0.050')
    """
    if p != p:
        return "-"
    if floor and p <= floor * (1 + 1e-9):
        return f"<={floor:.2g}"
    if p < 0.001:
        return "<0.001"
    written = (f"{p:.{digits}f}" for digits in range(3, 19))
    return next(one for one in written if all((float(one) < at) == (p < at) for at in LIMITS))


# What p is compared with; 0.025 on each side of a gate.
LIMITS = 0.01, 0.025, 0.05, 0.1


def percent(share: float) -> str:
    """Return a relative difference.

    Examples
    --------
    >>> percent(0.0391), percent(1.2), percent(math.nan)
    ('+3.9 %', '+120 %', '-')
    """
    if not math.isfinite(share):
        return "-"
    return f"{100 * share:+.1f} %" if abs(share) < 0.9995 else f"{100 * share:+.0f} %"


def shortened(words: str, most: int) -> str:
    """Return a text cut to so many letters, of which the last then says that it is cut.

    Examples
    --------
    >>> shortened("popularity", 6), shortened("knn", 6)
    ('popul…', 'knn')
    """
    return words if len(words) <= most else words[: most - 1] + "…"
