"""`Movers`: the users who gain or lose most from one system to another, with their lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any, NamedTuple

import numpy as np

from toplist.checks import Floats, Ints, readable
from toplist.plots.axes import Axes
from toplist.results.markup import Display
from toplist.results.tables import LOOK, Column, Grid, Look, Page, Table, shortened
from toplist.stats.units import snap

# Ranks that are printed of each list, and letters of a user; the seed of users drawn at random.
RANKS, LETTERS, SEED = 5, 40, 0


@readable
class Mover(NamedTuple):
    """A user whose values differ.

    Attributes
    ----------
    user_id : key, or position
    baseline, system : float
        The values.
    difference : float
        system - baseline.
    n_relevant : int
        What the metric counts as relevant.
    baseline_ranks, system_ranks : tuple of int
        Where these stand in both lists, as deep as the lists were read.
    """

    user_id: Any
    baseline: float
    system: float
    difference: float
    n_relevant: int
    baseline_ranks: tuple[int, ...]
    system_ranks: tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Movers(Display):
    """The users with the largest differences, worst first. Returned by `Comparison.movers`.

    Iterating yields `Mover`, a named tuple.

    Attributes
    ----------
    rows : tuple of Mover
    name : str
        ``"ndcg@10"``.
    systems : (str, str)
        The system, and the baseline.
    values : (2, n) float64
        Those of the system and the baseline, of all users.
    higher_is_better : bool, or None
        None for metrics in which neither direction is better: there lower is taken for worse.
    unit : str
        What users are called.
    drawn : tuple of Mover
        Others, at random, on the page of `toplist.report`.
    """

    rows: tuple[Mover, ...]
    name: str
    systems: tuple[str, str]
    values: Floats
    higher_is_better: bool | None
    unit: str
    drawn: tuple[Mover, ...] = ()

    def __iter__(self) -> Iterator[Mover]:
        """Yield the users, worst first."""
        return iter(self.rows)

    @property
    def differences(self) -> Floats:
        """Those of all users, (n,), the worst first."""
        found: Floats = np.sort(snap(*self.values))
        return found[::-1] if self.higher_is_better is False else found

    @property
    def counts(self) -> dict[str, int]:
        """How many users are worse, equal and better; lower, equal and higher."""
        words = ("lower", "higher") if self.higher_is_better is None else ("worse", "better")
        d = self.differences * (-1 if self.higher_is_better is False else 1)
        n_worse, n_better = int((d < 0).sum()), int((d > 0).sum())
        return {words[0]: n_worse, "equal": len(d) - n_worse - n_better, words[1]: n_better}

    def _grid(self) -> Grid:
        """Return the columns of `Mover`."""
        return Grid({name: [getattr(row, name) for row in self.rows] for name in Mover._fields})

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the sorted differences of all users, and on new axes both values beside them."""
        from toplist.plots import differences

        return differences.movers([self], ax=ax)

    def _page(self, look: Look = LOOK) -> Page:
        system, baseline = self.systems

        def hits(ranks: tuple[int, ...]) -> str:
            return " ".join([*map(str, ranks[:RANKS]), *["..."] * (len(ranks) > RANKS)]) or "-"

        rows = [
            {
                **row._asdict(),
                "user_id": shortened(str(row.user_id), LETTERS),
                "baseline_ranks": hits(row.baseline_ranks),
                "system_ranks": hits(row.system_ranks),
            }
            for row in self.rows
        ]
        columns = (
            Column("baseline", title=baseline),
            Column("system", title=system),
            Column("difference", "signed"),
            Column("n_relevant", "count", "relevant"),
            Column("baseline_ranks", "text", f"hits {baseline}"),
            Column("system_ranks", "text", f"hits {system}"),
        )
        counts = ", ".join(f"{n:,} {word}" for word, n in self.counts.items())
        notes = [
            "extremes are chosen because they are extreme: do not estimate from them",
            f"{system} - {baseline} {self.name}: of {self.values.shape[1]:,} {self.unit}, {counts}",
            "hits: their ranks; of equal differences, more relevant items first",
        ]
        return Page([Table.of(self.name, "{user_id}", columns, rows, look)], notes)


def extremes(d: Floats, n_relevant: Ints, users: Sequence[Any], n: int) -> list[int]:
    """Return the n lowest rows below 0 and the n highest above, lowest first; ties as `movers`.

    Examples
    --------
    >>> extremes(np.array([0.1, -0.2, 0.3]), np.array([1, 1, 1]), ["a", "b", "c"], 1)
    [1, 2]
    """
    d = d.round(12)  # what differs by rounding is a tie

    def order(row: int) -> tuple[float, int, float, str]:
        number = users[row] if isinstance(users[row], (int, float)) else 0
        return sign * d[row], -n_relevant[row], number, str(users[row])

    found = []
    for sign in (-1, 1):
        rows = np.flatnonzero(sign * d < 0)
        if len(rows) > n:  # those of the n lowest values; a few, but for ties
            rows = rows[sign * d[rows] <= np.partition(sign * d[rows], n - 1)[n - 1]]
        found += nsmallest(n, rows.tolist(), key=order)
    return sorted(found, key=order)
