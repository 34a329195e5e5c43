"""`Tests`: the differences of systems, their intervals, p values and effect sizes, as a table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

from toplist.checks import choice
from toplist.plots import charts
from toplist.results import wording
from toplist.results.contrasts import Contrast, Contrasts
from toplist.results.display import Display
from toplist.results.markup import Look, Page

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

Picture = Literal["forest", "matrix"]
PICTURES: tuple[Picture, ...] = get_args(Picture)


@dataclass(frozen=True, eq=False, repr=False)
class Tests(Display, Contrasts):
    """Comparisons of systems, as a table. Returned by `Comparison.test` and `paired_tests`.

    A sequence of `Contrast`; ``tests["ease", "ndcg@10"]`` finds one by its system and name.

    Attributes
    ----------
    contrasts : tuple of Contrast
    plan : Plan
        How they were tested and corrected: method, correction, level, seed and others.

    Examples
    --------
    >>> import toplist as tl
    >>> a, b = [0.5, 0.9, 0.1, 0.4, 0.6], [0.2, 0.1, 0.2, 0.1, 0.3]
    >>> tests = tl.paired_tests({"knn": b, "ease": a}, baseline="knn")
    >>> round(tests["ease", "value"].p, 4), tests[0].wins
    (0.0886, 4)
    """

    __test__ = False  # no test of pytest

    @overload
    def __getitem__(self, key: int | str | tuple[str, ...]) -> Contrast: ...
    @overload
    def __getitem__(self, key: slice) -> Tests: ...
    def __getitem__(self, key: Any) -> Any:
        """Return a comparison by its place, or by (segment,) system, (baseline,) and name."""
        if isinstance(key, str):
            key = (key,)
        if isinstance(key, tuple):
            found = [one for one in self if key in _keys(one)]
            if len(found) != 1:
                some = [(c.segment, c.system, c.baseline, c.name) for c in self.contrasts[:6]]
                have = ", ".join(str(tuple(p for p in one if p is not None)) for one in some)
                what = "several have" if found else "no comparison has"
                raise KeyError(f"{what} {key!r}; there are {have}")
            return found[0]
        if isinstance(key, slice):
            return Tests(self.contrasts[key], self.plan)
        return self.contrasts[key]

    def to_dict(self) -> list[dict[str, Any]]:
        """Return a dict per comparison: its fields, and how it was tested."""
        plan, level = self.plan, self.plan.level
        how: dict[str, Any] = {"method": plan.method, "alternative": plan.alternative}
        if plan.margin is not None:
            how, level = {"method": "equivalence", "alternative": "within"}, 2 * level - 1
        how |= {"correction": plan.correction, "n_family": self.n_family}
        how |= {"level": level, "margin": plan.margin}  # the level is that of low and high
        return [asdict(one) | how for one in self]

    def to_pandas(self) -> DataFrame:
        """Return a DataFrame with a row per comparison, and the keys of `to_dict` as columns."""
        import pandas

        return pandas.DataFrame(self.to_dict())

    def to_latex(
        self,
        every_metric: bool = False,
        *,
        intervals: bool = True,
        digits: int | None = None,
        percent: bool = False,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        """Return the table in LaTeX (booktabs), the sentence for the text as a comment above it.

        Parameters
        ----------
        every_metric
            Without effect here.
        intervals, digits, percent, caption, label
            As in `Comparison.to_latex`: of the differences and means.
        """
        from toplist.results import markup

        page = wording.page(self, Look.of(digits, percent, intervals))
        notes = (self.sentence(), *page.notes)
        legend = page.legend + "; means and differences in percent" * percent
        return markup.latex(page._replace(notes=notes, legend=legend), caption, label)

    def sentence(self) -> str:
        """Return what a paper says of the tests: which test, over whom, corrected for what."""
        return wording.sentence(self)

    def plot(self, kind: Picture = "forest", *, ax: Axes | None = None) -> Axes:
        """Draw the differences with their intervals, or the systems against each other.

        Parameters
        ----------
        kind : {"forest", "matrix"}
            "forest": a line per comparison, with zero and the margin. "matrix": p, corrected, of
            each system against each other; of one name.
        ax : matplotlib Axes, optional

        Returns
        -------
        matplotlib Axes
        """
        choice("kind", kind, PICTURES)
        draw = charts.forest if kind == "forest" else charts.matrix
        return draw(self.contrasts, level=self.plan.level, margin=self.plan.margin, ax=ax)

    def _page(self, every_metric: bool = False) -> Page:
        """Return the table of the comparisons."""
        return wording.page(self)


def _keys(one: Contrast) -> set[tuple[str | None, ...]]:
    """Return what a comparison is found by."""
    pairs: set[tuple[str | None, ...]] = {
        (one.system, one.name),
        (one.system, one.baseline, one.name),
    }
    pairs |= {(one.segment, *pair) for pair in pairs}
    return pairs | {(one.system,), (one.baseline,), (one.name,)}
