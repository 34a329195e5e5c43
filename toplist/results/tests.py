"""`Tests`: the differences of systems, their intervals, p values and effect sizes, as a table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from toplist.checks import choice
from toplist.plots import differences
from toplist.results import wording
from toplist.results.contrasts import Contrasts
from toplist.results.display import Display
from toplist.results.markup import Page


@dataclass(frozen=True, eq=False, repr=False)
class Tests(Display, Contrasts):
    """Comparisons of systems, as a table. Returned by `Comparison.test` and `paired_tests`.

    A sequence of `Contrast`; ``tests["ease", "ndcg@10"]`` finds one by its system and name.

    Examples
    --------
    >>> import toplist as tl
    >>> a, b = [0.5, 0.9, 0.1, 0.4, 0.6], [0.2, 0.1, 0.2, 0.1, 0.3]
    >>> tests = tl.paired_tests({"knn": b, "ease": a}, baseline="knn")
    >>> round(tests["ease", "value"].p, 4), tests[0].wins
    (0.0886, 4)
    """

    __test__ = False  # no test of pytest

    def __getitem__(self, key: Any) -> Any:
        """Return a comparison by its place, or by system and name, or by system, baseline, name."""
        if isinstance(key, str):
            key = (key,)
        if isinstance(key, tuple):
            found = [one for one in self if {*key} <= {one.system, one.baseline, one.name}]
            if len(key) > 1:
                found = [one for one in found if one.system == key[0] and one.name == key[-1]]
            if len(found) != 1:
                have = ", ".join(f"({one.system!r}, {one.name!r})" for one in self.contrasts[:6])
                what = "several have" if found else "no comparison has"
                raise KeyError(f"{what} {key!r}; there are {have}")
            return found[0]
        if isinstance(key, slice):
            return Tests(self.contrasts[key], self.plan)
        return self.contrasts[key]

    def to_dict(self) -> list[dict[str, Any]]:
        """Return a dict per comparison: its fields, and how it was tested."""
        plan: dict[str, Any] = {"method": self.plan.method, "alternative": self.plan.alternative}
        plan |= {"correction": self.plan.correction, "n_family": self.n_family}
        return [asdict(one) | plan | {"level": self.plan.level} for one in self]

    def to_pandas(self) -> Any:
        """Return a DataFrame with a row per comparison, and the keys of `to_dict` as columns."""
        import pandas

        return pandas.DataFrame(self.to_dict())

    def sentence(self) -> str:
        """Return what a paper says of the tests: which test, over whom, corrected for what."""
        return wording.sentence(self)

    def plot(self, kind: str = "forest", *, ax: Any = None) -> Any:
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
        choice("kind", kind, ("forest", "matrix"))
        draw = differences.forest if kind == "forest" else differences.matrix
        return draw(self.contrasts, level=self.plan.level, margin=self.plan.margin, ax=ax)

    def _page(self, every_metric: bool = False) -> Page:
        """Return the table of the comparisons."""
        return wording.page(self)
