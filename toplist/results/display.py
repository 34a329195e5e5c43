"""`Display`: what is shown as a table in a terminal, a notebook, Markdown and LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Self

    from toplist.metrics.names import Names
    from toplist.results.markup import Page


class Display:
    """Base of what is displayed as a page: in a terminal, a notebook, Markdown and LaTeX."""

    def _page(self, every_metric: bool = False) -> Page:
        """Return what is displayed; metrics that are equal by definition share a line, or not."""
        raise NotImplementedError

    def _only(self, names: Names) -> Self:
        """Return the same with the means of some names alone."""
        raise ValueError(
            "names= chooses among the means of results and comparisons: this has the names that "
            "were asked for"
        )

    def _written(self, form: str, every_metric: bool, names: Names | None, *how: Any) -> str:
        from toplist.results import markup  # a twentieth of the import of toplist

        page = (self if names is None else self._only(names))._page(every_metric)
        return str(getattr(markup, form)(page, *how))

    def __repr__(self) -> str:
        """Return the table for a terminal."""
        from toplist.results import markup  # a twentieth of the import of toplist

        return self.to_text(width=markup.terminal_width())

    def to_text(
        self, every_metric: bool = False, *, names: Names | None = None, width: int | None = None
    ) -> str:
        """Return the table as it is printed.

        Parameters
        ----------
        every_metric : bool
            Whether metrics that are equal by definition have a line each.
        names : str or several, optional
            The means to show, in this order: ``"ndcg@10"``, or ``"ndcg"`` for every k that was
            asked for. Default: all.
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
        return self._written("text", every_metric, names, width)

    def _repr_html_(self) -> str:
        """Return the table for a notebook, light or dark."""
        return self.to_html()

    def to_html(self, every_metric: bool = False, *, names: Names | None = None) -> str:
        """Return the table as a notebook shows it: HTML without scripts, light or dark.

        Parameters
        ----------
        every_metric, names
            As in `to_text`.
        """
        return self._written("html", every_metric, names)

    def to_markdown(self, every_metric: bool = False, *, names: Names | None = None) -> str:
        """Return the table in Markdown, for a README or an issue.

        Parameters
        ----------
        every_metric, names
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
        return self._written("markdown", every_metric, names)

    def to_latex(
        self,
        every_metric: bool = False,
        *,
        names: Names | None = None,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        r"""Return the table in LaTeX (booktabs), for a paper.

        The convention and the users, which belong into the caption, are comments above the table.

        Parameters
        ----------
        every_metric, names
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
        """
        return self._written("latex", every_metric, names, caption, label)
