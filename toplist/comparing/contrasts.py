"""What is asked of tests, a `TestPlan`, and what they find: a `Contrast`; or why none is tested."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar, get_args

from toplist.checks import USERS, choice, prefixed, readable
from toplist.results.tables import probability
from toplist.stats import RUNS, RunsAre, planning, randomization
from toplist.stats.units import Alternative

TestMethod = Literal["t", "randomization", "bootstrap", "wilcoxon", "sign"]
METHODS: tuple[TestMethod, ...] = get_args(TestMethod)
TestCorrection = Literal["holm", "maxt", "bh", "bonferroni", "none"]
CORRECTIONS: tuple[TestCorrection, ...] = get_args(TestCorrection)
TestFamily = Literal["all", "metric"]
FAMILIES: tuple[TestFamily, ...] = get_args(TestFamily)
# Which users are tested: those of all systems, which must be the same; or those that all count.
SameUsers = Literal["same", "common"]
USERS_OF: tuple[SameUsers, ...] = get_args(SameUsers)

# Of a system that is better, by p below 0.05 and 0.01.
MARKS = "†", "‡"
NAMES = {
    "t": "paired t",
    "randomization": "sign flips",
    "bootstrap": "studentised bootstrap",
    "wilcoxon": "Wilcoxon signed ranks",
    "sign": "sign test",
    "tukey": "Tukey's test",
}
# How often the tests that draw do so, unless they are asked otherwise.
DRAWN = {"randomization": randomization.FLIPS, "bootstrap": randomization.RESAMPLES}
# What is shown first where it was asked for.
USUAL, USUAL_K = "ndcg", 10
T = TypeVar("T")


class NotTestable(ValueError):  # noqa: N818 (an answer, which is printed where a table is asked for)
    """Systems, or one of their metrics, that cannot be tested; it says why in a line."""


def or_why(test: Callable[[], T]) -> tuple[T | None, str]:
    """Return tests, or None and why there are none."""
    try:
        return test(), ""
    except NotTestable as error:
        return None, str(error)


@contextmanager
def about(what: str) -> Iterator[None]:
    """Let an error say what it is about, such as a segment or a data set."""
    try:
        yield
    except KeyError as error:
        raise KeyError(f"{what}: {error.args[0]}") from None
    except (TypeError, ValueError) as error:
        raise prefixed(f"{what}: ", error) from None


def primary_of(names: Sequence[str]) -> str:
    """Return the ``name@k`` that is shown first: ndcg@10, or what is nearest.

    That is ndcg, or else the first metric, at its largest k up to 10; where every k is larger, at
    the least.

    Examples
    --------
    >>> primary_of(["map@5", "ndcg@5", "ndcg@20"]), primary_of(["map@5", "map@8", "mrr@5"])
    ('ndcg@5', 'map@8')
    """
    parts = [name.rpartition("@") for name in names]
    metric = USUAL if any(name == USUAL for name, _, _ in parts) else parts[0][0]
    ks = sorted(int(k) for name, _, k in parts if name == metric)
    return f"{metric}@{max((k for k in ks if k <= USUAL_K), default=ks[0])}"


def p_is(p: float) -> str:
    """Return a p value as it stands in a sentence."""
    words = probability(p)
    return f"p {words}" if words[0] == "<" else f"p = {words}"


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
        by flips the sum, by ranks their sum, by signs the number of larger ones.
    p, p_adjusted : float
        For this comparison alone, and corrected for all of its family.
    low, high : float
        The interval of the difference, two-sided whatever the alternative; it holds for this
        comparison alone. In a test of equivalence that of 2 level - 1.
    wins, ties, losses : int
        Users for whom the system is better, equal, worse; the larger or the smaller number where
        neither direction is better.
    relative : float
        mean / baseline_mean - 1.
    d_z : float
        The difference over the standard deviation of differences.
    exact : bool
        Whether p was counted over all patterns, not drawn or approximated.
    cautions : tuple of str
        ``"SKEWED"``, ``"UNEQUAL"``, ``"FEW DIFFER"``, ``"ONE RUN"``, ``"ALL ALIKE"``, and of tests
        of ranks and signs ``"OTHER SIDE"``.
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
    d_z: float = math.nan
    exact: bool = False
    cautions: tuple[str, ...] = ()
    error_users: float = math.nan
    p_users: float = math.nan
    p_not_worse: float = math.nan
    p_not_better: float = math.nan
    higher_is_better: bool | None = True
    segment: str | None = None

    def directed(self, higher: bool | None) -> Contrast:
        """Return the same of a measure of which more is better, or less (False), or neither."""
        if higher is not False:
            return replace(self, higher_is_better=higher)
        return replace(
            self,
            higher_is_better=False,
            wins=self.losses,
            losses=self.wins,
            p_not_worse=self.p_not_better,
            p_not_better=self.p_not_worse,
        )

    @property
    def mark(self) -> str:
        """† or ‡ where p, corrected, is below 0.05 or 0.01."""
        return MARKS[self.p_adjusted < 0.01] if self.p_adjusted < 0.05 else ""

    @property
    def sign(self) -> str:
        """The mark where the system is better, ▾ where it is worse; none without a direction."""
        if "OTHER SIDE" in self.cautions:
            return ""
        return self.mark if self.better else "▾" * (bool(self.mark) and self.worse)

    @property
    def better(self) -> bool:
        """Whether the system is better than the baseline, as a number."""
        return self._sense > 0

    @property
    def worse(self) -> bool:
        """Whether the system is worse than the baseline, as a number."""
        return self._sense < 0

    @property
    def _sense(self) -> float:
        """The difference, turned round where less is better; 0 where neither direction is."""
        directions = {None: 0.0, True: self.difference, False: -self.difference}
        return directions[self.higher_is_better]

    @property
    def label(self) -> str:
        """What is compared, in which measure and segment."""
        where = "" if self.segment is None else f" ({self.segment})"
        return f"{self.system} - {self.baseline} {self.name}{where}"


@readable
@dataclass(frozen=True)
class TestPlan:
    """How the comparisons were made.

    Attributes
    ----------
    method, correction, alternative, level, family, n_resamples, seed, n_threads
        What `Comparison.test` was given; no draws, `n_resamples` 0, where none were needed.
    margin : float, or None
        Of a test of equivalence.
    runs : {"independent", "paired"}, or None
        How several runs of a system belong together, and `n_runs`, the runs of each system.
    baselines : tuple of str
        The systems that the others were compared with.
    n_family : int
        The comparisons that p is corrected for.
    n_clusters : int
        Clusters of rows that were taken as units; 0 for none.
    weighted : bool
        Whether users have weights.
    n_left_out : int
        The users that some of the systems count, and not all.
    notes : tuple of str
        Lines that a table of these comparisons ends with.
    of_users : bool
        Whether the rows are users, or values without users.
    of_metrics : bool
        Whether it is known which direction is better; of your own values it is not.
    unit : str
        What users are called.
    rules : str
        The convention of the results, where they have one.
    """

    __test__ = False  # no test of pytest

    method: str = "t"
    correction: TestCorrection = "holm"
    alternative: Alternative = "two-sided"
    level: float = 0.95
    family: TestFamily = "all"
    n_resamples: int | None = None
    seed: int = 0
    n_threads: int | None = None
    margin: float | None = None
    runs: RunsAre | None = None
    baselines: tuple[str, ...] = ()
    n_family: int = 0
    n_runs: tuple[int, ...] = ()
    n_clusters: int = 0
    weighted: bool = False
    n_left_out: int = 0
    notes: tuple[str, ...] = ()
    of_users: bool = True
    of_metrics: bool = True
    unit: str = USERS
    rules: str = ""

    def checked(self) -> TestPlan:
        """Return the plan; ValueError for choices that there are not, before any value is read."""
        choice("method", self.method, METHODS)
        choice("correction", self.correction, CORRECTIONS)
        choice("family", self.family, FAMILIES)
        n = randomization.FEWEST if self.n_resamples is None else self.n_resamples
        randomization.How(n, self.alternative, self.level, self.seed)
        of_maxt, of_margin = self.correction == "maxt", self.margin is not None
        if of_margin:
            planning.check_margin(self.margin)
        if self.runs is not None:
            choice("runs", self.runs, RUNS)
        wrong = {
            f"level must be above 0.5, not {self.level!r}: the interval of two one-sided tests is "
            "that of 2 level - 1": of_margin and self.level <= 0.5,
            "correction='maxt' is of tests of a difference: choose another": of_margin and of_maxt,
            f"correction='maxt' is for the methods 't' and 'randomization', not {self.method!r}": (
                of_maxt and self.method not in ("t", "randomization")
            ),
            "several runs are tested by method='t', and not with correction='maxt'": (
                self.runs is not None and (self.method != "t" or of_maxt)
            ),
        }
        for words in (words for words, holds in wrong.items() if holds):
            raise ValueError(words)
        return self

    @property
    def drawn(self) -> dict[str, Any]:
        """What random tests are given; each has a default number of resamples."""
        some = {} if self.n_resamples is None else {"n_resamples": self.n_resamples}
        return {"seed": self.seed, "n_threads": self.n_threads, **some}

    @property
    def sided(self) -> dict[str, Any]:
        """What t tests are given."""
        return {"alternative": self.alternative, "level": self.level}

    @property
    def rows(self) -> str:
        """What the rows are called: users, or what these are called; "rows" where it is unknown."""
        return self.unit if self.of_users else "rows"

    @property
    def shown_level(self) -> float:
        """The level of the intervals that are printed."""
        return self.level if self.margin is None else 2 * self.level - 1

    @property
    def words(self) -> str:
        """The test in words."""
        words = NAMES[self.method] if self.margin is None else "two one-sided t tests"
        if self.n_resamples and self.method in DRAWN:
            words += f" ({self.n_resamples:,}, seed {self.seed})"
        if self.alternative != "two-sided":
            words += f", one-sided ({self.alternative})"
        return words
