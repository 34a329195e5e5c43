"""`Lead`: the best of many systems on the same users, and how much of its lead is chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toplist.checks import USERS, counted
from toplist.comparing import moments, testing
from toplist.comparing.pairwise import TestSpec
from toplist.comparing.side_by_side import SideBySide
from toplist.metrics.names import Names
from toplist.results.display import Display
from toplist.results.markup import Cell, Look, Page, Table, probability
from toplist.stats.best_of_many import FLIPS, Best, best_of_many

if TYPE_CHECKING:
    from pandas import DataFrame


# With fewer users signs are too few for the normal limit: p below 0.05 in 6 to 13 % of samples.
FEW = 50


@dataclass(frozen=True, eq=False, repr=False)
class Lead(Display):
    """How far the best of many leads, and how far by chance alone. Returned by `Comparison.lead`.

    Attributes
    ----------
    rows : dict of ``name@k`` -> Best
        ``lead.rows["ndcg@10"].by_chance``, and its mean, mean_of_all, lead, share, p and n.
    systems : list of str
        ``lead.systems[best.place]`` is the best.
    n_resamples, seed : int
        Of the sign flips.
    """

    rows: Mapping[str, Best]
    systems: list[str]
    n_resamples: int
    seed: int
    unit: str = USERS

    def to_pandas(self) -> DataFrame:
        """Return a DataFrame with a row per name."""
        import pandas

        found = pandas.DataFrame([*self.rows.values()])
        found.insert(0, "name", [*self.rows])
        found["place"] = [self.systems[place] for place in found["place"]]
        found["share"] = [one.share for one in self.rows.values()]
        return found.rename(columns={"place": "system"})

    def _page(self, every_metric: bool = False) -> Page:
        look, floor, rows = Look(), 1 / (self.n_resamples + 1), []
        for name, one in self.rows.items():
            share = "-" if one.share != one.share else f"{100 * one.share:.0f} %"
            means = look.number(one.mean), look.number(one.mean_of_all)
            ahead = look.signed(one.lead), look.signed(one.by_chance)
            cells = [*map(Cell, (*means, *ahead, share, probability(one.p, floor)))]
            rows.append((f"{self.systems[one.place]} {name}", cells))
        n, users = len(self.systems), sorted({one.n for one in self.rows.values()})
        over = " or ".join(f"{some:,}" for some in users)
        notes = [
            f"best of {counted(n, 'system')} on the same {over} {self.unit}, chosen by the mean "
            "shown; lead: over the mean of all",
            f"by chance: mean lead of the best of {n} with equal means ({self.n_resamples:,} sign "
            f"flips, seed {self.seed}); by at most so much is the mean of the best too high, on "
            "average; p: of a lead as long by chance",
        ]
        notes += [f"rough: fewer than {FEW} {self.unit}"] * (min(users, default=FEW) < FEW)
        columns = ["mean", "mean of all", "lead", "by chance", "share", "p"]
        return Page([Table("best", columns, rows)], notes)


def lead(compared: SideBySide, names: Names | None, asked: TestSpec) -> Lead:
    """Return how far the best system leads in some names, and how far by chance."""
    testing._check_one_each(compared, "the lead of the best")
    some, rows, n_flips = testing._names(compared, names), {}, asked.n_resamples or FLIPS
    if names is None:
        some = [name for name in some if testing._higher(compared, name) is not None]
    for given in some:
        name, metric = compared._directed(given)
        source = testing._source(compared, [name], asked)
        if isinstance(source, moments.SharedMoments):
            raise moments.refuse("lead()", "test() works")
        rows[name] = best_of_many(
            [source.values(system, name) for system in compared.systems],
            testing._units(source.found, None),
            higher_is_better=bool(metric.higher_is_better),
            n_resamples=n_flips,
            seed=asked.seed,
            n_threads=asked.n_threads,
        )
    return Lead(rows, compared.systems, n_flips, asked.seed, compared.unit)
