"""`Band`: the difference of two systems at every k, with intervals that hold at all k together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from toplist.checks import USERS, Floats, counted, worded
from toplist.results.display import Display
from toplist.results.markup import Cell, Page, Table, number
from toplist.stats import simultaneous
from toplist.stats.estimates import CAUTIONS, cautions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame


# The k's that are printed, as far as there are any.
SHOWN = (1, 5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True, eq=False, repr=False)
class Band(Display, simultaneous.BandValues):
    """A system less another at every k. Returned by `Comparison.band` and `inference.band`.

    Attributes
    ----------
    n : int
        Users.
    difference, std, error : (K,) float64
    low, high : (K,) float64
        The interval at each k; it holds at this k alone.
    critical : float
        Standard errors to either side of the simultaneous interval.
    low_all, high_all : (K,) float64
        The interval that holds at all k together.
    n_resamples : int
    name : str
        Of the metric.
    systems : (str, str)
        The system, and the baseline.
    level : float
        Of both intervals.
    higher_is_better : bool, or None
        None for metrics in which neither direction is better, such as novelty.
    differ : dict of int -> int
        The users who differ at each k that was asked for.
    unit : str
        What users are called.
    """

    name: str = "value"
    systems: tuple[str, str] = ("system", "baseline")
    level: float = 0.95
    higher_is_better: bool | None = True
    differ: Mapping[int, int] = field(default_factory=dict)
    unit: str = USERS

    @property
    def better(self) -> list[tuple[int, int]]:
        """The k's, from first to last, where the system is better at all of them together."""
        return [] if self.higher_is_better is None else self._beyond(self.higher_is_better)

    @property
    def worse(self) -> list[tuple[int, int]]:
        """The k's, from first to last, where it is worse."""
        return [] if self.higher_is_better is None else self._beyond(not self.higher_is_better)

    def _beyond(self, above: bool) -> list[tuple[int, int]]:
        """Return the k's, from first to last, where the system is above, or below."""
        return _runs(self.low_all > 0 if above else self.high_all < 0)

    def to_pandas(self) -> DataFrame:
        """Return a DataFrame with a row per k."""
        import pandas

        columns = ("difference", "std", "error", "low", "high", "low_all", "high_all")
        found = {name: getattr(self, name) for name in columns}
        return pandas.DataFrame({"k": np.arange(1, len(self.difference) + 1), **found})

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the difference over k with both intervals, and zero.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        matplotlib Axes
        """
        from toplist.plots import differences

        return differences.band(self, ax=ax)

    def _page(self, every_metric: bool = False) -> Page:
        """Return the difference and both intervals at some k's."""

        def ends(low: Floats, high: Floats) -> list[str]:
            return [f"[{number(low[k - 1])}, {number(high[k - 1])}]" for k in ks]

        last = len(self.difference)
        ks = [k for k in SHOWN if k < last] + [last] * (last > 0)
        share = f"{100 * self.level:.4g} %"
        lines = (
            ("difference", [number(self.difference[k - 1]) for k in ks]),
            (f"{share} at this k", ends(self.low, self.high)),
            (f"{share} at all k", ends(self.low_all, self.high_all)),
        )
        rows = [(label, [*map(Cell, cells)]) for label, cells in lines]
        corner = " - ".join(self.systems) + f" {self.name}"
        notes = []
        words = {"better": self.better, "worse": self.worse}
        if self.higher_is_better is None:
            words = {"higher": self._beyond(True), "lower": self._beyond(False)}
        for word, runs in words.items():
            where = ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in runs)
            told = f"{word} at k = {where}, at all of them together with {share} confidence"
            notes += [told] if runs else []
        nowhere = f"neither {' nor '.join(words)} at any k, all k together, with {share} confidence"
        notes = notes or [nowhere]
        users = worded(counted(self.n, "user"), self.unit)
        notes[-1] += f" (sup-t, critical value {self.critical:.2f}; {users})"
        if self.critical != self.critical:
            notes = [f"no interval: {users} are too few"]
        for caution, meaning in CAUTIONS.items():
            places = [f"@{k}" for k, some in self.differ.items() if caution in cautions(some)]
            if places:
                where = f"({', '.join(places[:4])}{', ...' * (len(places) > 4)})"
                notes.append(f"{caution}: {worded(meaning, self.unit)} {where}")
        return Page([Table(corner, [f"@{k}" for k in ks], rows)], notes)


def _runs(found: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the first and last k of every run that is true.

    Examples
    --------
    >>> _runs(np.array([True, False, True, True]))
    [(1, 1), (3, 4)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], found, [False]]).astype(np.int8)))
    return [(int(a) + 1, int(b)) for a, b in edges.reshape(-1, 2)]
