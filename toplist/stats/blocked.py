"""Tukey's test of all pairs of several systems, users as blocks.

The model is x_ui = mean + user u + system i + rest: what makes some users easier for all systems
is taken out first. The rest of all systems is pooled, so two systems that are nearly twins make
the others look more alike than they are.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from toplist.checks import Floats, Ints
from toplist.stats.distributions import probability, range_ppf, range_sf
from toplist.stats.paired import over
from toplist.stats.pairs import TIE, snap

# Users in one block of the moments.
USERS = 4096


@dataclass(frozen=True, eq=False)
class BlockMoments:
    """What Tukey's test needs of n users' values; moments of parts can be added.

    `means` are those of the systems, (S,). `users` is S times the sum of (user's mean - mean)²,
    and `residual` the sum of (value - user's mean - system's mean + mean)². These two are kept
    instead of all products of systems, since their difference would be lost to rounding where
    systems are nearly equal.
    """

    n: int
    means: Floats
    users: float
    residual: float

    def __add__(self, other: "BlockMoments") -> "BlockMoments":
        """Return the moments of both sets of users together (Chan, Golub, LeVeque 1979)."""
        if not (self.n and other.n):
            return self if self.n else other
        n = self.n + other.n
        apart = other.means - self.means
        shared, factor = apart.mean(), self.n * (other.n / n)
        return BlockMoments(
            n,
            self.means + apart * (other.n / n),
            self.users + other.users + float(factor * len(apart) * shared**2),
            self.residual + other.residual + float(factor * ((apart - shared) ** 2).sum()),
        )

    @classmethod
    def of_pairs(cls, n: int, means: ArrayLike, own: ArrayLike, apart: ArrayLike) -> "BlockMoments":
        """Return them from sums of squares: of each system's values, of each pair's differences.

        residual = sum over pairs of D_ij / S, users = sum of C_ii less that. No digits of the
        residual are lost where systems are nearly equal.

        Parameters
        ----------
        n : int
        means, own : (S,) float
            Means, and sums of squared deviations from them.
        apart : float
            Sums of squared deviations of the differences from their means, one per pair.

        Examples
        --------
        >>> BlockMoments.of_pairs(3, [1.0, 2.0], [2.0, 6.0], [2.0])
        BlockMoments(n=3, means=array([1., 2.]), users=7.0, residual=1.0)
        """
        averages = np.asarray(means, np.float64)
        residual = float(np.sum(apart)) / len(averages)
        return cls(n, averages, max(float(np.sum(own)) - residual, 0.0), residual)

    @property
    def df(self) -> int:
        """The degrees of freedom of the residual, (S - 1) (n - 1)."""
        return (len(self.means) - 1) * max(self.n - 1, 0)

    @property
    def variance(self) -> float:
        """The pooled variance, residual / df, 0 where it is rounding; NaN of fewer than 2 users."""
        if not self.df:
            return math.nan
        # about the sum of all squared values
        total = self.users + self.residual + self.n * float((self.means**2).sum())
        return 0.0 if self.residual <= TIE**2 * total else self.residual / self.df


def moments_of(values: ArrayLike) -> BlockMoments:
    """Return the moments of values (n_users, S), summed in blocks of `USERS` users.

    Examples
    --------
    >>> moments_of([[0.0, 1.0], [1.0, 1.0], [2.0, 4.0]])
    BlockMoments(n=3, means=array([1., 2.]), users=7.0, residual=1.0)
    """
    table = _checked(values)
    total = BlockMoments(0, np.full(table.shape[1], np.nan), 0.0, 0.0)
    for start in range(0, len(table), USERS):
        part = table[start : start + USERS]
        means, easiness = part.mean(axis=0), part.mean(axis=1)
        mean = easiness.mean()
        rest = part - easiness[:, np.newaxis] - (means - mean)
        users = part.shape[1] * float(((easiness - mean) ** 2).sum())
        total += BlockMoments(len(part), means, users, float((rest**2).sum()))
    return total


@dataclass(frozen=True, eq=False)
class TukeyPairs:
    """Tukey's test of every pair of systems; each array has one entry per pair.

    `first` and `second` are the systems, by their places; `difference` is first - second, `low` to
    `high` intervals that hold for all pairs at once. `df` are the degrees of freedom, `critical`
    the quantile of the studentised range.
    """

    first: Ints
    second: Ints
    difference: Floats
    statistic: Floats
    p: Floats
    low: Floats
    high: Floats
    df: int
    critical: float


def tukey_hsd(moments: BlockMoments, level: float = 0.95) -> TukeyPairs:
    """Compare all pairs of systems by Tukey's studentised range (1953), users as blocks.

        q = |x_i - x_j| / √(V / n),   p = P(Q > q),   x_i - x_j ± q(level) √(V / n)

    of Q for S systems and (S - 1) (n - 1) degrees of freedom, V the pooled variance: the chance
    that any p of a pair that does not differ is below 1 - level is at most that.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> pairs = tukey_hsd(moments_of(rng.random((50, 3)) + [0.0, 0.0, 0.3]))
    >>> pairs.difference.round(2), pairs.p.round(3)
    (array([-0.05, -0.27, -0.22]), array([0.674, 0.   , 0.003]))
    """
    probability(level, "level")
    n_systems, variance = len(moments.means), moments.variance
    first, second, difference = _pairs(moments.means)
    df, error = moments.df, math.sqrt(variance / max(moments.n, 1))
    statistic = np.array([over(abs(float(one)), error) for one in difference])
    critical = range_ppf(level, n_systems, df)
    p = np.array([range_sf(q, n_systems, df) for q in statistic.tolist()])
    low, high = difference - critical * error, difference + critical * error
    return TukeyPairs(first, second, difference, statistic, p, low, high, df, critical)


def _checked(values: ArrayLike) -> Floats:
    """Return values as float64 (n_users, S), or raise."""
    table = np.asarray(values, np.float64)
    if table.ndim != 2 or table.shape[1] < 2:
        raise ValueError(
            f"values must have a row per user and a column for each of 2 or more systems, not "
            f"shape {table.shape}"
        )
    if not np.isfinite(table).all():
        raise ValueError("values must be finite: leave out users without a value")
    return table


def _pairs(means: Floats) -> tuple[Ints, Ints, Floats]:
    """Return both places of every pair, and first - second; 0 where that is rounding."""
    first, second = np.triu_indices(len(means), 1)
    return first, second, snap(means[first], means[second])
