"""Tables with notes, written as text, HTML, Markdown and LaTeX; `Display` is what has them."""

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Cell(NamedTuple):
    """A printed number: the mean, half of its interval, and whether it is the best."""

    mean: str = ""
    half: str = ""
    best: bool = False


class Table(NamedTuple):
    """Rows of cells with labels, under a header; `corner` is the header of the labels."""

    corner: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]

    @property
    def marked(self) -> bool:
        """Whether a cell is marked as the best."""
        return any(cell.best for _, cells in self.rows for cell in cells)


class Page(NamedTuple):
    """Tables, notes below them, and warnings that come first.

    `formulas` are in HTML only, where they can be unfolded.
    """

    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    formulas: tuple[str, ...] = ()


class Display:
    """Base of what is displayed as a page: in a terminal, a notebook, Markdown and LaTeX."""

    def _page(self) -> Page:
        """Return what is displayed."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """Return the table for a terminal."""
        return text(self._page())

    def _repr_html_(self) -> str:
        """Return the table for a notebook, light or dark."""
        return html(self._page())

    def to_markdown(self) -> str:
        """Return the table in Markdown, for a README or an issue.

        Examples
        --------
        >>> from toplist import top_k_eval
        >>> print(top_k_eval([[1, 2], [3]], [{2}, {3}], k=[1, 2], metrics=["mrr"]).to_markdown())
        |  | @1 | @2 |
        | --- | ---: | ---: |
        | mrr | 0.5000 ±0.9800 | 0.7500 ±0.4900 |
        <BLANKLINE>
        convention standard: mean over users, ± half of the 95 % interval
        <BLANKLINE>
        2 of 2 users evaluated
        """
        return markdown(self._page())

    def to_latex(self) -> str:
        r"""Return the table in LaTeX (booktabs), for a paper.

        The convention and the users, which belong into the caption, are comments above the table.

        Examples
        --------
        >>> from toplist import top_k_eval
        >>> print(top_k_eval([[1, 2], [3]], [{2}, {3}], k=1, metrics=["mrr"]).to_latex())
        % convention standard: mean over users, ± half of the 95 % interval
        % 2 of 2 users evaluated
        % needs \usepackage{booktabs}
        <BLANKLINE>
        \begin{tabular}{lr}
        \toprule
         & @1 \\
        \midrule
        mrr & 0.5000 {\scriptsize$\pm$\,0.9800} \\
        \bottomrule
        \end{tabular}
        """
        return latex(self._page())


def aligned(rows: Sequence[Sequence[str]]) -> str:
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
        lines.append("  ".join([name.ljust(first), *padded]).rstrip())
    return "\n".join(lines)


def _grid(table: Table, write: Callable[[Cell], str]) -> list[list[str]]:
    """Return the cells of a table as strings, the header first."""
    return [
        [table.corner, *table.columns],
        *([label, *map(write, cells)] for label, cells in table.rows),
    ]


def text(page: Page) -> str:
    """Write a page for a terminal; a star marks the best."""

    def write(cell: Cell) -> str:
        star = "*" if cell.best else ""
        return star + (f"{cell.mean} ±{cell.half}" if cell.half else cell.mean)

    # labels are as wide as the widest of all tables, so that the tables are aligned
    width = max(len(label) for table in page.tables for label in _labels(table))
    blocks = []
    for table in page.tables:
        (corner, *columns), *rows = _grid(table, write)
        blocks.append(aligned([[corner.ljust(width), *columns], *rows]))
    best = ["* best of its column"] if any(table.marked for table in page.tables) else []
    notes = "\n".join([*page.warnings, *best, *page.notes])
    if len(blocks) == 1:
        return f"{blocks[0]}\n{notes}"
    return "\n\n".join([*blocks, notes])


def _labels(table: Table) -> list[str]:
    """Return the first column of a table, its header included."""
    return [table.corner, *(label for label, _ in table.rows)]


def markdown(page: Page) -> str:
    """Write a page as Markdown tables; the best is bold."""

    def write(cell: Cell) -> str:
        mean = f"**{cell.mean}**" if cell.best else cell.mean
        return f"{mean} ±{cell.half}" if cell.half else mean

    def line(cells: Sequence[str]) -> str:
        plain = (" ".join(cell.replace("|", r"\|").split()) for cell in cells)
        return "| " + " | ".join(cell.replace("<", "&lt;") for cell in plain) + " |"

    parts = []
    for table in page.tables:
        header, *rows = _grid(table, write)
        rule = ["---", *(["---:"] * len(table.columns))]
        parts.append("\n".join(map(line, [header, rule, *rows])))
    best = ["**bold**: best of its column"] if any(t.marked for t in page.tables) else []
    return "\n\n".join([*parts, *page.warnings, *best, *page.notes])


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    **{character: "\\" + character for character in "&%$#_{}"},
}


def latex(page: Page) -> str:
    r"""Write a page as LaTeX tables (booktabs); the best is bold, notes are comments."""

    def plain(words: str) -> str:
        return "".join(_LATEX.get(character, character) for character in words)

    def write(cell: Cell) -> str:
        mean = rf"\textbf{{{cell.mean}}}" if cell.best else cell.mean
        return rf"{mean} {{\scriptsize$\pm$\,{cell.half}}}" if cell.half else mean

    def line(label: str, cells: Sequence[str]) -> str:
        return " & ".join([plain(label), *cells]) + r" \\"

    comments = (*page.warnings, *page.notes, r"needs \usepackage{booktabs}")
    parts = ["\n".join(f"% {comment}" for comment in comments)]
    for table in page.tables:
        lines = [
            rf"\begin{{tabular}}{{l{'r' * len(table.columns)}}}",
            r"\toprule",
            line(table.corner, [plain(column) for column in table.columns]),
            r"\midrule",
            *(line(label, [write(cell) for cell in cells]) for label, cells in table.rows),
            r"\bottomrule",
            r"\end{tabular}",
        ]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


# Only opacity and currentColor are set, so that light and dark themes keep their colours.
_STYLES = {
    "table": "display:inline-table;table-layout:auto;border-collapse:collapse;"
    "margin:0 2.5em .8em 0;font-variant-numeric:tabular-nums",
    "left": "text-align:left;padding:.2em .9em .2em 0;white-space:nowrap;font-weight:normal",
    "right": "text-align:right;padding:.2em 0 .2em .9em;white-space:nowrap",
    "header": "border-bottom:1px solid currentColor",
    "half": "opacity:.7;font-size:85%",
    "note": "margin:.15em 0;opacity:.85;font-size:90%",
    "warning": "margin:.3em 0;padding-left:.6em;border-left:3px solid currentColor",
}


def html(page: Page) -> str:
    """Write a page as HTML for light and dark backgrounds: no script, no link, no class."""
    from html import escape  # its table of entities takes 5 % of the import of toplist

    parted = (warning.partition(":") for warning in page.warnings)
    warnings = [_tag("p", f"<b>{escape(a)}</b>{escape(b + c)}", "warning") for a, b, c in parted]
    notes = [_tag("p", escape(note), "note") for note in page.notes]
    if any(table.marked for table in page.tables):
        notes.insert(0, _tag("p", "<b>bold</b>: best of its column", "note"))
    formulas = "<br>".join(map(escape, page.formulas))
    more = f"<details><summary>formulas</summary>{formulas}</details>" if formulas else ""
    parts = [*map(_html_table, page.tables), *warnings, *notes]
    parts += [_tag("div", more, "note")] if more else []
    return '<div style="overflow-x:auto">\n' + "\n".join(parts) + "\n</div>"


def _html_table(table: Table) -> str:
    """Return a table as HTML."""
    from html import escape

    def write(cell: Cell) -> str:
        mean = f"<b>{escape(cell.mean)}</b>" if cell.best else escape(cell.mean)
        return f"{mean} {_tag('span', f'±{escape(cell.half)}', 'half')}" if cell.half else mean

    head = [_tag("th", escape(table.corner), "left")]
    head += [_tag("th", escape(column), "right") for column in table.columns]
    rows = [
        "<tr>"
        + _tag("th", escape(label), "left")
        + "".join(_tag("td", write(cell), "right") for cell in cells)
        + "</tr>"
        for label, cells in table.rows
    ]
    header = _tag("tr", "".join(head), "header")
    body = "\n".join(rows)
    return _tag("table", f"\n<thead>{header}</thead>\n<tbody>\n{body}\n</tbody>\n", "table")


def _tag(name: str, inside: str, style: str) -> str:
    """Return an element with its style."""
    return f'<{name} style="{_STYLES[style]}">{inside}</{name}>'
