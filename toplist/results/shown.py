"""What is shown alike of a result and of a comparison: one report, written four ways."""

from toplist.results import markup
from toplist.results.markup import Report


class Shown:
    """Something with a report: a table in a terminal, in a notebook, in a text."""

    def _report(self) -> Report:
        raise NotImplementedError

    def __repr__(self) -> str:
        """Return the table for a terminal."""
        return markup.text(self._report())

    def _repr_html_(self) -> str:
        """Return the table for a notebook, light or dark."""
        return markup.html(self._report())

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
        return markup.markdown(self._report())

    def to_latex(self) -> str:
        r"""Return the table in LaTeX with the rules of booktabs, for a paper.

        What the caption should say, the convention and the users, stands above as comments.

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
        return markup.latex(self._report())
