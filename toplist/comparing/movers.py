"""`Movers`: the users between whose values two systems differ most, and the ranks of their hits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from toplist.averages.per_user import truths_of
from toplist.checks import Floats, Ints, check_positive_int, readable
from toplist.comparing import moments, testing
from toplist.comparing.aligning import SameUsers
from toplist.comparing.pairwise import TestSpec
from toplist.comparing.side_by_side import SideBySide
from toplist.metrics.definitions import Metric
from toplist.results.display import Display
from toplist.results.markup import Cell, Look, Page, Table, shortened
from toplist.results.means import Means, hits_of
from toplist.stats.estimates import snap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame


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

    def to_dict(self) -> list[dict[str, Any]]:
        """Return a dict per user: the fields of `Mover`."""
        return [row._asdict() for row in self.rows]

    def to_pandas(self) -> DataFrame:
        """Return a DataFrame with the columns of `Mover`."""
        import pandas

        return pandas.DataFrame(self.to_dict(), columns=list(Mover._fields))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the sorted differences of all users, and on new axes both values beside them."""
        from toplist.plots import differences

        return differences.movers([self], ax=ax)

    def _page(self, every_metric: bool = False) -> Page:
        look, (system, baseline) = Look(), self.systems
        rows = []
        for one in self.rows:
            values = look.number(one.baseline), look.number(one.system), look.signed(one.difference)
            words = *values, f"{one.n_relevant:,}", *map(_words, one[-2:])
            rows.append((shortened(str(one.user_id), LETTERS), [*map(Cell, words)]))
        columns = [baseline, system, "difference", "relevant", f"hits {baseline}", f"hits {system}"]
        counts = ", ".join(f"{n:,} {word}" for word, n in self.counts.items())
        notes = [
            "extremes are chosen because they are extreme: do not estimate from them",
            f"{system} - {baseline} {self.name}: of {self.values.shape[1]:,} {self.unit}, {counts}",
            "hits: their ranks; of equal differences, more relevant items first",
        ]
        return Page([Table(self.name, columns, rows)], notes)


def _words(ranks: Sequence[int]) -> str:
    return " ".join([*map(str, ranks[:RANKS]), *["..."] * (len(ranks) > RANKS)]) or "-"


def movers(
    compared: SideBySide,
    name: str,
    system: str | None = None,
    baseline: str | None = None,
    n: int = 20,
    users: SameUsers = "same",
    n_drawn: int = 0,
) -> Movers:
    """Return the users with the largest differences; see `Comparison.movers`.

    Beside them `n_drawn` others at random.
    """
    n = check_positive_int(n, "n")
    if compared.runs:
        first, *more = compared.results
        raise ValueError(
            f"movers: a system has several runs: take one of each, tl.compare({{{first!r}: "
            f"comparison.results[{first!r}], {more[-1]!r}: ...}})"
        )
    pair = testing._pair(compared, system, baseline, "movers")
    both = replace(compared, results={one: compared.results[one] for one in pair}, baselines=())
    name = testing._one(both, name)
    source = testing._source(both, [name], TestSpec(users=users))
    if isinstance(source, moments.SharedMoments):
        raise moments.refuse("movers()", "test() works")
    found = source.found
    values = np.array([source.values(one, name) for one in pair])
    hits = [_hits(both.results[one], name, found.rows[one]) for one in pair]
    keys = found.rows[pair[0]].tolist() if found.users is None else found.users
    n_relevant = np.maximum(*(n for _, n in hits))
    higher = testing._higher(both, name)
    d = snap(*values)

    def mover(row: int) -> Mover:
        ours, theirs = (ranks[row] for ranks, _ in hits)
        a, b = values[:, row].tolist()
        return Mover(keys[row], b, a, float(d[row]), int(n_relevant[row]), theirs, ours)

    chosen = _extremes(-d if higher is False else d, n_relevant, keys, n)
    most = min(len(d), n_drawn + len(chosen))
    draw = np.random.default_rng(SEED).choice(len(d), most, replace=False).tolist()
    others = [row for row in draw if row not in chosen][:n_drawn]
    rows, drawn = (tuple(map(mover, some)) for some in (chosen, others))
    return Movers(rows, name, pair, values, higher, compared.unit, drawn)


def _hits(result: Means, name: str, rows: Ints) -> tuple[list[tuple[int, ...]], Ints]:
    """Return the ranks of the hits of some rows, and how many items count as relevant there.

    Those that a metric counts, of the truth for one of the lists. Rows below all rows, without a
    ground truth, have none.
    """
    hits, _ = hits_of(result, "the ranks of its hits are unknown")
    metric, _ = result.terms.find(name)
    found = truths_of(hits, metric) if isinstance(metric, Metric) else hits.relevant
    offsets = np.append(found.offsets, found.offsets[-1])  # and where nothing is
    at = np.minimum(rows, len(found))
    ends = zip(offsets[at].tolist(), offsets[at + 1].tolist(), strict=True)
    ranks = [tuple(found.ranks[first:last].tolist()) for first, last in ends]
    return ranks, np.append(found.n_relevant, 0)[at]


def _extremes(d: Floats, n_relevant: Ints, users: Sequence[Any], n: int) -> list[int]:
    """Return the n lowest rows below 0 and the n highest above, lowest first; ties as `movers`."""
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
