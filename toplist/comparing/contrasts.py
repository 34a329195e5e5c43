"""A `Contrast` is a system less its baseline in one measure; `Contrasts` are many, with a plan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from toplist.checks import USERS, readable
from toplist.stats.estimates import FEW_DF

FEW_FOR_FLIPS = (
    "MaxT by flips with fewer than 200 users is liberal: of 12 true nulls one was rejected in 8 to "
    'in 12 % of samples; method="t" is not'
)
FEW_FOR_T = (
    "MaxT by t with fewer than 50 users is liberal: of 10 true nulls one was rejected in 7 to 13 % "
    "of samples of 5 to 20; Holm is not"
)
# Below so many users who differ, degrees of freedom (`FEW_DF`), and runs, what follows was seen.
FEW_DIFFER = 100
FEW_DIFFER_FOR_BOOTSTRAP = (
    f"the bootstrap is liberal where fewer than {FEW_DIFFER} users differ: true nulls were "
    'rejected in 7 to 21 % of samples of sparse differences; by method="t" in 1 to 9 %'
)
FEW_UNITS = (
    f"{{units}} so few or unequal leave {{df:.1f}} degrees of freedom: below {FEW_DF}, true nulls "
    "were rejected in 1 to 7 % of samples, in up to 12 % where differences are skewed"
)
ONE_UNIT = ", in up to 17 % where one unit is nearly all"
FEW_RUNS = (
    "of 2 or 3 runs, p for models trained anew is cautious: true nulls were rejected in 2 to 6 % "
    "of samples"
)
POOLED = (
    "the pairs do not vary alike (standard deviations of {low:.2g} to {high:.2g}): with near twins "
    "or unequal variances among the systems Tukey's test rejected a true null "
    'in 8 to 30 % of samples; correction="maxt" of pairwise tests in 4 to 8 %'
)
SPLITS = "where runs are repeated splits, these overlap: their variance is a lower bound"
MARKS = "†", "‡"


@readable
@dataclass(frozen=True)
class Contrast:
    """A system less its baseline, in one measure.

    Attributes
    ----------
    name, system, baseline : str
        The measure, ``"ndcg@10"``, and the two systems.
    n : int
        Users (or rows, without users) that both count.
    mean, baseline_mean, difference : float
    std, error : float
        Of the users' differences: the standard deviation, and the standard error of their mean.
    df, statistic : float
        The degrees of freedom (of several runs, p takes those of users and those of runs), and t;
        by flips the sum, by ranks their sum, by signs the wins.
    p, p_adjusted : float
        For this comparison alone, and corrected for all of its family.
    low, high : float
        The interval of the difference; it holds for this comparison alone.
    wins, ties, losses : int
        Users for whom the system is the larger number, equal, the smaller.
    relative : float
        mean / baseline_mean - 1, with its interval `relative_low` to `relative_high`.
    d_z : float
        The difference over the standard deviation of differences (`d_z_low` to `d_z_high`).
    exact : bool
        Whether p was counted over all patterns, not drawn or approximated.
    cautions : tuple of str
        ``"SKEWED"``, ``"FEW DIFFER"``, ``"ONE RUN"``, ``"ALL ALIKE"``.
    error_users, p_users : float
        Of several runs: for these trained models; `error` and `p` are for models trained anew.
    p_not_worse, p_not_better : float
        Of an equivalence test, the two halves.
    higher_is_better : bool, or None
        Whether a positive difference speaks for the system; None for measures in which neither
        direction is better, such as novelty.
    segment : str, or None
        The segment of the users, where they were split.
    """

    name: str
    system: str
    baseline: str
    n: int
    mean: float
    baseline_mean: float
    difference: float
    std: float = math.nan
    error: float = math.nan
    df: float = math.nan
    statistic: float = math.nan
    p: float = math.nan
    p_adjusted: float = math.nan
    low: float = math.nan
    high: float = math.nan
    wins: int = 0
    ties: int = 0
    losses: int = 0
    relative: float = math.nan
    relative_low: float = math.nan
    relative_high: float = math.nan
    d_z: float = math.nan
    d_z_low: float = math.nan
    d_z_high: float = math.nan
    exact: bool = False
    cautions: tuple[str, ...] = ()
    error_users: float = math.nan
    p_users: float = math.nan
    p_not_worse: float = math.nan
    p_not_better: float = math.nan
    higher_is_better: bool | None = True
    segment: str | None = None

    @property
    def mark(self) -> str:
        """† or ‡ where p, corrected, is below 0.05 or 0.01."""
        if not self.p_adjusted < 0.05:
            return ""
        return MARKS[self.p_adjusted < 0.01]

    @property
    def sign(self) -> str:
        """The mark where the system is better, ▾ where it is worse; none without a direction."""
        return self.mark if self.better else "▾" * (bool(self.mark) and self.worse)

    @property
    def better(self) -> bool:
        """Whether the system is better than the baseline, as a number."""
        return self._speaks(self.difference)

    @property
    def worse(self) -> bool:
        """Whether the system is worse than the baseline, as a number."""
        return self._speaks(-self.difference)

    def _speaks(self, difference: float) -> bool:
        if self.higher_is_better is None:
            return False
        return difference > 0 if self.higher_is_better else difference < 0


@readable
@dataclass(frozen=True)
class TestPlan:
    """How the comparisons were made.

    Attributes
    ----------
    method, correction, family, alternative, level, n_resamples, seed
        What `Comparison.test` was given; no draws, `n_resamples` 0, where none were needed.
    margin : float, or None
        Of a test of equivalence.
    runs : {"independent", "paired"}, or None
        How several runs of a system belong together, and `n_runs`, the runs of each system.
    n_clusters : int
        Clusters of rows that were taken as units; 0 for none.
    weighted : bool
        Whether users have weights.
    notes : tuple of str
        Lines that a table of these comparisons ends with.
    baselines : tuple of str
        The systems that the others were compared with.
    of_users : bool
        Whether the rows are users, or values without users.
    of_metrics : bool
        Whether it is known which direction is better; of your own values it is not.
    unit : str
        What users are called.
    rules : str
        The convention of the results, where they have one.
    """

    method: str = "t"
    correction: str = "holm"
    family: str = "all"
    alternative: str = "two-sided"
    level: float = 0.95
    n_resamples: int = 0
    seed: int = 0
    margin: float | None = None
    runs: str | None = None
    n_runs: tuple[int, ...] = ()
    n_clusters: int = 0
    weighted: bool = False
    notes: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()
    of_users: bool = True
    of_metrics: bool = True
    unit: str = USERS
    rules: str = ""

    @property
    def rows(self) -> str:
        """What the rows are called: users, or what these are called; "rows" where it is unknown."""
        return self.unit if self.of_users else "rows"


def each_of(names: Sequence[str]) -> str:
    """Return names in words.

    Examples
    --------
    >>> each_of(["a"]), each_of(["a", "b"])
    ('a', 'each of a, b')
    """
    return f"each of {', '.join(names)}" if len(names) > 1 else "".join(names)
