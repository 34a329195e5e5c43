"""All systems at once, users as blocks: analysis of variance, and Tukey's test of all pairs.

The model is x_ui = mean + user u + system i + rest: what makes some users easier for all systems
is taken out first. The rest of all systems is pooled, so two systems that are nearly twins make
the others look more alike than they are.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from toplist import kernels
from toplist.checks import Floats, Ints, readable
from toplist.parallel import bounds, run
from toplist.stats.distributions import f_sf, probability, range_ppf, range_sf
from toplist.stats.paired import over
from toplist.stats.pairs import TIE, snap
from toplist.stats.randomization import resamples, seeded

# Users in one block of the moments.
USERS = 4096
# Values in one call of a kernel: at most a second of work, since Ctrl-C is heard between calls.
STEP = 1 << 18
# Permutations in one block: their sums stay in a cache.
PERMUTATIONS = 1024
# Up to this many systems all orders of a user's values are tabulated.
TABULATED = 6
# Of an analysis of variance.
ASSUMES = (
    "all pairs of systems vary alike: with near twins or unequal variances a true null was "
    'rejected in 7 to 25 % of samples; correction="maxt" of pairwise tests does not need it'
)


@dataclass(frozen=True, eq=False)
class BlockMoments:
    """What the analysis of variance needs of n users' values; moments of parts can be added.

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
    def squares(self) -> tuple[float, float, float]:
        """The sums of squares of systems, users and residual; 0 where that is rounding."""
        between = self.n * float(((self.means - self.means.mean()) ** 2).sum())
        parts = between, self.users, self.residual
        # about the sum of all squared values
        total = self.users + self.residual + self.n * float((self.means**2).sum())
        first, second, third = (0.0 if one <= TIE**2 * total else one for one in parts)
        return first, second, third

    @property
    def df(self) -> int:
        """The degrees of freedom of the residual, (S - 1) (n - 1)."""
        return (len(self.means) - 1) * max(self.n - 1, 0)

    @property
    def variance(self) -> float:
        """The pooled variance, residual / df; NaN for fewer than two users."""
        return self.squares[2] / self.df if self.df else math.nan


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


@readable
@dataclass(frozen=True)
class Anova:
    """A two-way analysis of variance without interaction: sums of squares, F and p.

    Attributes
    ----------
    ss_systems, ss_users, ss_residual : float
        Sums of squares between systems, between users, and what is left.
    df_systems, df_users, df_residual : int
        Their degrees of freedom.
    ms_residual : float
        ss_residual / df_residual.
    f_systems, f_users, p_systems, p_users : float
        F of systems and of users, and the p of each.
    assumes : str
        What p takes for granted.
    """

    ss_systems: float
    ss_users: float
    ss_residual: float
    df_systems: int
    df_users: int
    df_residual: int
    ms_residual: float
    f_systems: float
    f_users: float
    p_systems: float
    p_users: float
    assumes: str = ASSUMES

    def to_dict(self) -> dict[str, float]:
        """Return all numbers by name."""
        numbers = asdict(self)
        del numbers["assumes"]
        return numbers


def anova(moments: BlockMoments) -> Anova:
    """Test whether any two systems differ, and any two users (Fisher's analysis of variance).

        F = (SS / df) / (SS_residual / df_residual)

    with df S - 1 for systems, n - 1 for users and (S - 1) (n - 1) for the residual. Without any
    residual, F is infinite, or 0 where nothing differs; NaN for fewer than two users.

    Examples
    --------
    >>> result = anova(moments_of([[0.0, 1.0], [1.0, 1.0], [2.0, 4.0]]))
    >>> result.f_systems, round(result.p_systems, 4), result.f_users, round(result.p_users, 4)
    (3.0, 0.2254, 7.0, 0.125)
    """
    squares = moments.squares if moments.n else (math.nan,) * 3
    df_systems, df_users, df = len(moments.means) - 1, max(moments.n - 1, 0), moments.df
    f_systems = over(squares[0] / df_systems, moments.variance) if df else math.nan
    f_users = over(squares[1] / df_users, moments.variance) if df else math.nan
    p = f_sf(f_systems, df_systems, df), f_sf(f_users, df_users, df)
    return Anova(*(*squares, df_systems, df_users, df), moments.variance, f_systems, f_users, *p)


@dataclass(frozen=True, eq=False)
class TukeyPairs:
    """Tukey's test of every pair of systems; each array has one entry per pair.

    `first` and `second` are the systems, by their places; `difference` is first - second, `effect`
    the same in pooled standard deviations, `low` and `high` intervals that hold for all pairs at
    once. `df` are the degrees of freedom, `critical` the quantile of the studentised range.
    """

    first: Ints
    second: Ints
    difference: Floats
    statistic: Floats
    p: Floats
    low: Floats
    high: Floats
    effect: Floats
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
    effect = np.array([over(float(one), math.sqrt(variance)) for one in difference])
    return TukeyPairs(first, second, difference, statistic, p, low, high, effect, df, critical)


def randomized_tukey(
    values: ArrayLike, n_resamples: int = 10_000, seed: int = 0, n_threads: int | None = None
) -> Floats:
    """Return Tukey's p of every pair of systems by permutations within users (Carterette 2012).

    If the systems did not differ at all, each user's values could come in any order. For each of B
    permutations the range R of the systems' means is compared with every difference:

        p = (1 + #(R >= |x_i - x_j|)) / (B + 1)

    where what differs by 1e-12 of the values counts as equal. Pairs are in the order of
    `tukey_hsd`. No normal distribution is assumed, but that no pair varies more than another: the
    range of all systems is compared with each difference.

    Parameters
    ----------
    values : (n_users, S)
    n_resamples : int
        The number B of permutations.
    seed : int
        The random numbers are hashes of seed, user (by its row) and permutation.
    n_threads : int, optional
        All cores by default. The result is the same for any number.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> randomized_tukey(rng.random((50, 3)) + [0.0, 0.0, 0.3], n_resamples=999)
    array([0.728, 0.001, 0.004])
    """
    table = _checked(values)
    n_resamples, key = resamples(n_resamples), seeded(seed)
    if not len(table):
        return np.full(len(_pairs(np.zeros(table.shape[1]))[2]), np.nan)
    # users whose systems are all equal change nothing, and are many where lists miss
    users = np.flatnonzero((table != table[:, :1]).any(axis=1))
    centred = table[users] - table[users].mean(axis=1, keepdims=True)
    blocks = bounds(np.arange(n_resamples + 1), PERMUTATIONS)
    sums = run(partial(_permuted_sums, centred, users, int(key)), blocks, n_threads)
    ranges = np.sort(np.concatenate([np.ptp(part, axis=0) for part in sums]))
    observed = np.abs(_pairs(centred.sum(axis=0))[2])
    tolerance = TIE * float(np.abs(table).max(axis=1).sum())
    reached = len(ranges) - np.searchsorted(ranges, observed - tolerance)
    return np.asarray((1.0 + reached) / (len(ranges) + 1.0), np.float64)


def _permuted_sums(centred: Floats, users: Ints, seed: int, lo: int, hi: int) -> Floats:
    """Return the sums (S, hi - lo) of the systems in the permutations from `lo` on."""
    n_systems = centred.shape[1]
    sums = np.zeros((n_systems, hi - lo))
    add, step = _adder(n_systems, hi - lo), STEP // n_systems
    for start in range(0, len(users), step):
        part = slice(start, start + step)
        add(centred[part], users[part], np.uint64(seed), np.uint64(lo), sums)
    return sums


def _adder(n_systems: int, n_permutations: int) -> Callable[..., None]:
    """Return the kernel that adds permuted values to sums, with the room that it needs."""
    if n_systems > TABULATED:
        row = np.empty(n_systems)
        return lambda *given: kernels.randomization.add_shuffled(*given, row)
    orders = np.array(list(itertools.permutations(range(n_systems))))
    table, places = np.empty(orders.shape[::-1]), np.empty(n_permutations, np.int32)
    return lambda *given: kernels.randomization.add_arranged(*given, orders, table, places)


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
