"""Tables with notes, written as text, HTML, Markdown and LaTeX; `Display` is what is shown so."""

from __future__ import annotations

import itertools
import re
import string
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack

from toplist.checks import in_latex, printable
from toplist.metrics.names import Names
from toplist.results.tables import LOOK, NOTHING, Cell, Grid, Look, Page, Table

if TYPE_CHECKING:
    from pandas import DataFrame


def aligned(rows: Sequence[Sequence[str]], gap: str = "  ") -> str:
    """Return rows as text: the first column aligned to the left, the others to the right.

    Examples
    --------
    >>> print(aligned([["", "@1"], ["map", "0.5000"]]))
             @1
    map  0.5000
    """
    first, *widths = (max(map(len, column)) for column in zip(*rows, strict=True))
    lines = []
    for name, *cells in rows:
        padded = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        lines.append(gap.join([name.ljust(first), *padded]).rstrip())
    return "\n".join(lines)


def terminal_width() -> int | None:
    """Return the columns of the terminal; None where standard output is none."""
    if sys.stdout is None or not sys.stdout.isatty():  # None without a console
        return None
    from shutil import get_terminal_size  # what it loads takes a tenth of the import of toplist

    return get_terminal_size().columns


def _within(rows: Sequence[Sequence[str]], width: int) -> Iterable[str]:
    """Yield rows as text no wider than `width`: in tables that each have the first column."""
    first, *widths = (max(map(len, column)) for column in zip(*rows, strict=True))
    start, room = 1, first
    if first + sum(widths) + len(widths) <= width < first + sum(widths) + 2 * len(widths):
        yield aligned(rows, gap=" ")
        return
    for i, column in enumerate(widths, start=1):
        room += 2 + column
        if room > width and i > start:
            yield aligned([[row[0], *row[start:i]] for row in rows])
            start, room = i, first + 2 + column
    yield aligned([[row[0], *row[start:]] for row in rows])


def fitted(lines: Iterable[str], width: int | None) -> list[str]:
    """Return lines, each in several that are no wider than `width`; long words stay whole.

    Examples
    --------
    >>> fitted(["95 % interval, normal"], 14)
    ['95 % interval,', '  normal']
    """
    if width is None:
        return list(lines)
    wrap = textwrap.TextWrapper(
        width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    return [part for line in lines for part in wrap.wrap(line) or [""]]


def text(page: Page, width: int | None = None) -> str:
    """Write a page for a terminal, at most `width` columns wide; a star marks the best."""
    tables = [_relabelled(table, printable) for table in page.tables]
    blocks, key = [*map(aligned, _grids(tables))], list[str]()
    if width is not None and any(len(line) > width for one in blocks for line in one.splitlines()):
        letters = _letters(tables)
        key = [", ".join(f"{letter} = {name}" for name, letter in letters.items())] * bool(letters)
        short = letters | {
            f"{one} - {other}": f"{letters[one]} - {letters[other]}"
            for one, other in itertools.permutations(letters, 2)
        }
        grids = _grids([_relabelled(table, lambda name: short.get(name, name)) for table in tables])
        blocks = [block for grid in grids for block in _within(grid, width)]
    best = [f"* {words}" for words in page.marks]
    lines = [*map(printable, page.warnings), *key, *best, *map(printable, page.notes)]
    notes = "\n".join(fitted(lines, width))
    if len(blocks) == 1:
        return f"{blocks[0]}\n{notes}"
    return "\n\n".join([*blocks, notes])


def _grids(tables: Sequence[Table]) -> list[list[list[str]]]:
    """Return the rows of tables as text, labels of one width, in each column the means in line."""
    labels = [label for table in tables for label in (table.corner, *dict(table.rows))]
    of_labels = max(map(len, labels), default=0)
    grids = []
    for table in tables:
        grid = [[table.corner.ljust(of_labels), *table.columns]]
        columns = zip(*(cells for _, cells in table.rows), strict=True)
        widths = [max(len(cell.interval) for cell in column) for column in columns]
        for label, cells in table.rows:
            row = [label]
            for cell, room in zip(cells, widths, strict=True):
                mean = f"*{cell.mean}" if cell.best else cell.mean
                row.append(f"{mean} {cell.interval.ljust(room)}" if room else mean)
            grid.append(row)
        grids.append(grid)
    return grids


def _letters(tables: Sequence[Table]) -> dict[str, str]:
    """Return a letter for each system of tables that are too wide; none of short names, or many."""
    systems = list(dict.fromkeys(name for table in tables for name in table.systems))
    if len(systems) > len(string.ascii_lowercase) or max(map(len, systems), default=0) < 4:
        return {}
    return dict(zip(systems, string.ascii_lowercase, strict=False))


def _relabelled(table: Table, write: Callable[[str], str]) -> Table:
    """Return a table with its labels, headers and systems written anew."""
    corner, columns, rows, systems = table
    rows = [(write(label), cells) for label, cells in rows]
    return Table(write(corner), [*map(write, columns)], rows, [*map(write, systems)])


def markdown(page: Page) -> str:
    """Write a page as Markdown tables; the best is bold."""

    def write(cell: Cell) -> str:
        mean = f"**{in_markdown(cell.mean)}**" if cell.best else in_markdown(cell.mean)
        return f"{mean} {cell.interval}".strip()

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"

    parts = [f"**{page.heading}**"] * bool(page.heading)
    for table in page.tables:
        header = [*map(in_markdown, (table.corner, *table.columns))]
        rule = ["---", *(["---:"] * len(table.columns))]
        rows = ([in_markdown(label), *map(write, cells)] for label, cells in table.rows)
        parts.append("\n".join(map(line, [header, rule, *rows])))
    best = [f"**bold**: {in_markdown(words)}" for words in page.marks]
    # a note is a paragraph: no heading, list, quotation or table
    plain = ([in_markdown(one) for one in some] for some in (page.warnings, page.notes))
    marks = tuple("#>+-=|")
    warnings, notes = (["\\" * one.startswith(marks) + one for one in some] for some in plain)
    return "\n\n".join([*parts, *warnings, *best, *notes])


def in_markdown(words: str) -> str:
    """Return words in one line that are no HTML, no link, no entity, no math and no emphasis."""
    plain = printable(" ".join(words.split()))
    # an underscore within a word is none
    plain = re.sub(r"[\\`*~$]|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", plain)
    return plain.replace("<", "&lt;").replace("](", r"]\(")


def latex(page: Page, caption: str | None = None, label: str | None = None) -> str:
    r"""Write a page as LaTeX tables (booktabs); the best is bold, notes are comments.

    With a caption or a label, all of it is one floating table.
    """
    best = [f"bold: {words}" for words in page.marks]
    parts = [*map(_latex_table, page.tables)]
    below = [line for line in (page.legend, *best) if line]
    if below:
        parts.append(rf"{{\footnotesize {in_latex('; '.join(below))}}}")
    marks = any("blacktriangledown" in part for part in parts)
    needs = r"needs \usepackage{booktabs}" + r" and \usepackage{amssymb}" * marks
    comments = (*page.warnings, *best, *page.notes, needs)
    lines = (line for comment in comments for line in comment.splitlines())
    above = "\n".join(f"% {printable(line)}" for line in lines)
    if caption is None and label is None:
        return "\n\n".join([above, *parts])
    for option, words in (("caption", caption), ("label", label)):
        if words is not None and not isinstance(words, str):
            raise TypeError(f"{option} must be text, not {words!r}")
    head = [r"\begin{table}", r"\centering"]
    head += [] if caption is None else [rf"\caption{{{in_latex(caption)}}}"]
    if label is not None:
        if set(label) & set("\\{}%#~^&$ ,\n\t") or not label:  # what LaTeX cannot refer to
            raise ValueError(f"label {label!r}: letters, digits and : . - _ only")
        head.append(rf"\label{{{label}}}")
    whole = "\n".join(head) + "\n" + "\n\n".join(parts)
    return f"{above}\n\n{whole}\n" + r"\end{table}"


def _latex_table(table: Table) -> str:
    """Return a table as a tabular."""
    # two columns for a mean and its interval where some intervals are of another width
    columns = zip(*(cells for _, cells in table.rows), strict=True)
    split = [len({cell.interval[:1] == "[" for cell in column}) > 1 for column in columns]

    def line(label: str, cells: Iterable[str]) -> str:
        first = in_latex(label)
        if first.startswith(("[", "*")):  # no optional argument of the line break before it
            first = f"{{{first[0]}}}{first[1:]}"
        return " & ".join([first, *cells]) + r" \\"

    def minus(number: str) -> str:  # a hyphen is none; that of 1e-05 is
        return re.sub(r"(?<!e)-(?=\d)", "$-$", number)

    def write(cell: Cell, two: bool) -> str:
        mean = minus(in_latex(cell.mean))
        mean = rf"\textbf{{{mean}}}" if cell.best else mean
        interval = minus(cell.interval.replace("±", r"$\pm$\,").replace(NOTHING, "--"))
        small = rf"{{\scriptsize{interval}}}" if interval else ""
        return f"{mean} & {small}" if two else f"{mean} {small}".strip()

    headers = (
        rf"\multicolumn{{2}}{{r}}{{{in_latex(column)}}}" if two else in_latex(column)
        for column, two in zip(table.columns, split, strict=True)
    )
    lines = [
        rf"\begin{{tabular}}{{l{''.join('r@{ }l' if two else 'r' for two in split)}}}",
        r"\toprule",
        line(table.corner, headers),
        r"\midrule",
        *(line(label, map(write, cells, split)) for label, cells in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines)


# Only opacity and currentColor are set, so that light and dark themes keep their colours.
_STYLES = {
    "table": "display:inline-table;table-layout:auto;border-collapse:collapse;"
    "margin:0 2.5em .8em 0;font-variant-numeric:tabular-nums",
    "left": "text-align:left;padding:.2em .9em .2em 0;white-space:nowrap;font-weight:normal",
    "right": "text-align:right;padding:.2em 0 .2em .9em;white-space:nowrap",
    "header": "border-bottom:1px solid currentColor",
    "half": "opacity:.7;font-size:85%",
    "words": "white-space:normal;overflow-wrap:anywhere",
    "beside": "display:flex;align-items:flex-start",
    "note": "margin:.15em 0;opacity:.85;font-size:90%",
    "warning": "margin:.3em 0;padding-left:.6em;border-left:3px solid currentColor",
}


def html(page: Page) -> str:
    """Write a page as HTML for light and dark backgrounds: no script, no link, no class."""
    from html import escape  # its table of entities takes 5 % of the import of toplist

    parted = (printable(warning).partition(":") for warning in page.warnings)
    warnings = [tag("p", f"<b>{escape(a)}</b>{escape(b + c)}", "warning") for a, b, c in parted]
    notes = [tag("p", f"<b>bold</b>: {escape(words)}", "note") for words in page.marks]
    notes += [tag("p", escape(printable(note)), "note") for note in page.notes]
    formulas = "<br>".join(map(escape, page.formulas))
    more = f"<details><summary>formulas</summary>{formulas}</details>" if formulas else ""
    tables = (_relabelled(table, printable) for table in page.tables)
    parts = [*map(_html_table, tables), *warnings, *notes]
    parts += [tag("div", more, "note")] if more else []
    return '<div style="overflow-x:auto">\n' + "\n".join(parts) + "\n</div>"


def _html_table(table: Table) -> str:
    """Return a table as HTML."""
    from html import escape

    def write(cell: Cell) -> str:
        mean = f"<b>{escape(cell.mean)}</b>" if cell.best else escape(cell.mean)
        return f"{mean} {tag('span', escape(cell.interval), 'half')}" if cell.interval else mean

    head = [tag("th", escape(table.corner), "left")]
    head += [tag("th", escape(column), "right") for column in table.columns]
    rows = [
        "<tr>"
        + tag("th", escape(label), "left", "row")
        + "".join(tag("td", write(cell), "right") for cell in cells)
        + "</tr>"
        for label, cells in table.rows
    ]
    header, body = tag("tr", "".join(head), "header"), "\n".join(rows)
    return tag("table", f"\n<thead>{header}</thead>\n<tbody>\n{body}\n</tbody>\n", "table")


def tag(name: str, inside: str, style: str, scope: str = "col") -> str:
    """Return an element with its style; a header says what it heads."""
    heads = f' scope="{scope}"' * (name == "th")
    return f'<{name}{heads} style="{_STYLES[style]}">{inside}</{name}>'


class How(TypedDict, total=False):
    """What every display takes: which means are shown, with how many decimals and intervals."""

    names: Names | None
    digits: int
    intervals: bool | None


class Display:
    """Base of what is displayed as a page: in a terminal, a notebook, Markdown and LaTeX."""

    def _page(self, look: Look = LOOK) -> Page:
        """Return what is displayed."""
        raise NotImplementedError

    def _grid(self) -> Grid:
        """Return all that is known of each row."""
        raise NotImplementedError

    def _only(self, names: Names) -> Self:
        """Return the same with the means of some names alone."""
        raise ValueError(
            "names= chooses among the means of results and comparisons: this has the names that "
            "were asked for"
        )

    def _shown(self, form: str, names: Names | None = None, **how: Any) -> Page:
        """Return what is displayed of some names; ValueError for decimals that cannot be."""
        look = Look(form=form, **how)
        digits: Any = look.digits
        if isinstance(digits, bool) or not isinstance(digits, int) or not 0 <= digits <= 15:
            raise ValueError(f"digits must be a whole number from 0 to 15, not {digits!r}")
        return (self if names is None else self._only(names))._page(look)

    def __repr__(self) -> str:
        """Return the table for a terminal."""
        return self.to_text(width=terminal_width())

    def to_text(
        self, every_metric: bool = False, *, width: int | None = None, **how: Unpack[How]
    ) -> str:
        """Return the table as it is printed.

        Parameters
        ----------
        every_metric : bool
            Whether metrics that are equal by definition have a line each.
        names : str or several, optional
            The means to show, in this order: ``"ndcg@10"``, or ``"ndcg"`` for every k that was
            asked for. Default: all. What is tested, and what p is corrected for, are all means of
            a comparison, shown or not.
        digits : int
            Decimals of means and differences.
        intervals : bool, optional
            Whether means and differences have their intervals. Default: they do, but for the means
            of several systems.
        width : int, optional
            How many columns there are: wider tables have their columns below each other, and
            notes are wrapped. Default: as wide as it is; a terminal gets its own width.

        Examples
        --------
        >>> from toplist import top_k_eval
        >>> result = top_k_eval([[1, 2], [3]], [{2}, {3}], k=[1, 2], metrics=["map", "mrr"])
        >>> print(result.to_text(every_metric=True))
                         @1                       @2
        map  0.5000 ±0.5000  0.7500 [0.0000, 1.0000]
        mrr  0.5000 ±0.5000  0.7500 [0.0000, 1.0000]
        convention standard: mean over users
        95 % interval, ± half or [low, high]: Student's t (rough: only 2 users)
        2 of 2 users evaluated
        >>> print(result.to_text(names="mrr@2"))
                                  @2
        mrr  0.7500 [0.0000, 1.0000]
        convention standard: mean over users
        95 % interval, ± half or [low, high]: Student's t (rough: only 2 users)
        2 of 2 users evaluated
        """
        return text(self._shown("text", every_metric=every_metric, **how), width)

    def _repr_html_(self) -> str:
        """Return the table for a notebook, light or dark."""
        return self.to_html()

    def to_html(self, every_metric: bool = False, **how: Unpack[How]) -> str:
        """Return the table as a notebook shows it: HTML without scripts, light or dark.

        Parameters
        ----------
        every_metric, names, digits, intervals
            As in `to_text`.
        """
        return html(self._shown("html", every_metric=every_metric, **how))

    def to_markdown(self, every_metric: bool = False, **how: Unpack[How]) -> str:
        """Return the table in Markdown, for a README or an issue.

        Parameters
        ----------
        every_metric, names, digits, intervals
            As in `to_text`.

        Examples
        --------
        >>> from toplist import top_k_eval
        >>> print(top_k_eval([[1, 2], [3]], [{2}, {3}], k=[1, 2], metrics=["mrr"]).to_markdown())
        |  | @1 | @2 |
        | --- | ---: | ---: |
        | mrr | 0.5000 ±0.5000 | 0.7500 [0.0000, 1.0000] |
        <BLANKLINE>
        convention standard: mean over users
        <BLANKLINE>
        95 % interval, ± half or [low, high]: Student's t (rough: only 2 users)
        <BLANKLINE>
        2 of 2 users evaluated
        """
        return markdown(self._shown("markdown", every_metric=every_metric, **how))

    def to_latex(
        self,
        every_metric: bool = False,
        *,
        caption: str | None = None,
        label: str | None = None,
        **how: Unpack[How],
    ) -> str:
        r"""Return the table in LaTeX (booktabs), for a paper.

        The convention and the users, which belong into the caption, are comments above the table.

        Of a comparison the sentence for the text is a comment, too. With a baseline, † and ‡ mark
        what is better, ▾ what is worse; without one, all pairs are tested. The best of a column is
        bold where it differs after the correction; systems that do not differ from it share it.

        Parameters
        ----------
        every_metric, names, digits, intervals
            As in `to_text`.
        caption, label : str, optional
            With either of them the table is a floating one, ``\begin{table}``.

        Examples
        --------
        >>> from toplist import top_k_eval
        >>> print(top_k_eval([[1, 2], [3]], [{2}, {3}], k=1, metrics=["mrr"]).to_latex())
        % convention standard: mean over users
        % 95 % interval, ± half or [low, high]: Student's t (rough: only 2 users)
        % 2 of 2 users evaluated
        % needs \usepackage{booktabs}
        <BLANKLINE>
        \begin{tabular}{lr}
        \toprule
         & @1 \\
        \midrule
        mrr & 0.5000 {\scriptsize$\pm$\,0.5000} \\
        \bottomrule
        \end{tabular}
        >>> import toplist as tl
        >>> truths = {user: {user % 3} for user in range(90)}
        >>> a = tl.top_k_eval({user: [0, 1, 2] for user in truths}, truths, k=2, metrics="mrr")
        >>> b = tl.top_k_eval({user: [user % 3, 9] for user in truths}, truths, k=2, metrics="mrr")
        >>> both = tl.compare({"a": a, "b": b}, baseline="a")
        >>> print(both.to_latex(digits=1))  # doctest: +ELLIPSIS
        % bold: best of its column, and different from a
        % Differences were tested by two-sided paired t over 90 users, ...
        \begin{tabular}{lr}
        \toprule
         & mrr@2 \\
        \midrule
        a & 0.5 \\
        b & \textbf{1.0$^{\ddagger}$} \\
        \bottomrule
        \end{tabular}
        <BLANKLINE>
        ...
        """
        return latex(self._shown("latex", every_metric=every_metric, **how), caption, label)

    def to_dict(self) -> Any:
        """Return a dict for each row, with all that is known of it."""
        return self._grid().rows

    def to_pandas(self, *, names: Names | None = None) -> DataFrame:
        """Return a DataFrame: the rows of `to_dict`.

        Parameters
        ----------
        names : str or several, optional
            As in `to_text`.
        """
        return (self if names is None else self._only(names))._grid().to_pandas()
