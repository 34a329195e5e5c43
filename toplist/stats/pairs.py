"""`Pairs`: moments of the values of two systems, user by user, which can be merged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from toplist import parallel
from toplist.checks import Floats
from toplist.stats.clustered import weights_of

# Numbers that differ by less than this share of the larger one are equal: .1 + .2 and .3 are.
TIE = 1e-12
# Users are added up in blocks of this size, and so many blocks are one task of a thread.
BLOCK = 1 << 12
TASK = 16 * BLOCK
# Numbers that stay in the cache: in parts of this size `snap` takes a third of the time.
CACHED = 1 << 14


@dataclass(frozen=True)
class Pairs:
    """Moments of pairs that can be merged; a, b and d = a - b are a user's values.

    Parameters
    ----------
    n, wins, losses : int
        All users, those with d > 0, and those with d < 0.
    weight, weight2 : float
        The sum of the weights and of their squares; without weights both are n.
    mean_a, mean_b, mean : float
        Weighted means of a, b and d.
    aa, bb, dd, db : float
        Weighted sums of products of deviations from these means: of a with itself, of d with b.
    """

    n: int
    wins: int
    losses: int
    weight: float
    weight2: float
    mean_a: float
    mean_b: float
    mean: float
    aa: float
    bb: float
    dd: float
    db: float

    @classmethod
    def of(
        cls,
        a: ArrayLike,
        b: ArrayLike,
        weights: ArrayLike | None = None,
        n_threads: int | None = None,
    ) -> Pairs:
        """Return the moments of the values of two systems, user by user.

        Blocks of 4,096 users are merged in their order: the same bits for any number of threads.

        Examples
        --------
        >>> pairs = Pairs.of([0.3, 0.5, 0.1 + 0.2], [0.1, 0.6, 0.3])
        >>> pairs.wins, pairs.ties, pairs.losses, round(pairs.mean, 4), round(pairs.std, 4)
        (1, 1, 1, 0.0333, 0.1528)
        """
        x, y = pair(a, b)
        w = None if weights is None else weights_of(weights, len(x))

        def moments(first: int, last: int) -> list[Floats]:
            full = last - (last - first) % BLOCK
            return [block(lo, hi) for lo, hi in ((first, full), (full, last)) if lo < hi]

        def block(low: int, high: int) -> Floats:
            shape = -1, min(BLOCK, high - low)
            a, b, c = (None if v is None else v[low:high].reshape(shape) for v in (x, y, w))
            return moments_of(a, b, c)  # type: ignore[arg-type]

        tasks = parallel.bounds(np.arange(-(-len(x) // BLOCK) + 1), TASK // BLOCK)
        users = [(lo * BLOCK, min(hi * BLOCK, len(x))) for lo, hi in tasks]
        parts = [part for task in parallel.run(moments, users, n_threads) for part in task]
        return merged_columns(np.hstack([*parts, np.empty((FIELDS, 0))]))

    @classmethod
    def merged(cls, parts: Sequence[Pairs]) -> Pairs:
        """Return the moments of all users together (Chan, Golub, LeVeque 1979, for many parts).

        Examples
        --------
        >>> parts = Pairs.of([1, 0], [0, 0]), Pairs.of([0, 3], [1, 0])
        >>> Pairs.merged(parts) == Pairs.of([1, 0, 0, 3], [0, 0, 1, 0])
        True
        """
        return merged_columns(np.array([astuple(part) for part in parts]).reshape(-1, FIELDS).T)

    @classmethod
    def of_column(cls, column: Floats) -> Pairs:
        """Return the moments whose fields are the numbers of a column (12,)."""
        n, wins, losses, *others = column.tolist()
        return cls(int(n), int(wins), int(losses), *others)

    def __add__(self, other: Pairs) -> Pairs:
        """Return the moments of both sets of users together."""
        return Pairs.merged([self, other])

    @property
    def reversed(self) -> Pairs:
        """The moments of b and a: of -d."""
        counts = self.n, self.losses, self.wins, self.weight, self.weight2
        means = self.mean_b, self.mean_a, 0.0 - self.mean
        products = self.bb, self.aa, self.dd, 0.0 - (self.db + self.dd)
        return Pairs(*counts, *means, *products)

    @property
    def own(self) -> Pairs:
        """The moments of a and a, which differ in nothing."""
        a, aa = self.mean_a, self.aa
        return Pairs(self.n, 0, 0, self.weight, self.weight2, a, a, 0.0, aa, aa, 0.0, 0.0)

    @property
    def bounded(self) -> bool:
        """Whether all values may lie in [0, 1]: their variance is at most mean (1 - mean)."""
        most = [(m * (1 - m) + TIE) * self.weight for m in (self.mean_a, self.mean_b)]
        return self.aa <= most[0] and self.bb <= most[1]

    @property
    def ties(self) -> int:
        """The number of users with d = 0."""
        return self.n - self.wins - self.losses

    @property
    def std(self) -> float:
        """The standard deviation of d (ddof = 1): NaN for fewer than two users."""
        if self.n < 2:
            return math.nan
        return settled(self.dd, self.weight - self.weight2 / self.weight, self.mean)

    @property
    def error(self) -> float:
        """The standard error of the mean of d, s / √n; without weights only."""
        return self.std / math.sqrt(self.n) if self.n else math.nan


# The numbers of a column that has all fields of `Pairs`.
FIELDS = len(fields(Pairs))


def snap(a: ArrayLike, b: ArrayLike) -> Floats:
    """Return a - b, and exactly 0 where |a - b| <= 1e-12 max(|a|, |b|).

    What differs by rounding only is a tie, not a win.

    Examples
    --------
    >>> snap([0.1 + 0.2, 0.5], [0.3, 0.4]).round(3)
    array([0. , 0.1])
    """
    x, y = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(b, np.float64))
    d = np.empty(x.shape)
    x, y, flat = x.reshape(-1), y.reshape(-1), d.reshape(-1)
    for low in range(0, len(flat), CACHED):
        part = slice(low, low + CACHED)
        np.subtract(x[part], y[part], out=flat[part])
        most = np.maximum(np.abs(x[part]), np.abs(y[part]))
        np.copyto(flat[part], 0.0, where=np.abs(flat[part]) <= TIE * most)
    return d


def pair(a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
    """Return the values of two systems as float64; they are as many, and all are finite.

    Examples
    --------
    >>> pair([1, 0], [0.5, 0])
    (array([1., 0.]), array([0.5, 0. ]))
    """
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"values of shape {x.shape} and {y.shape}: one per user in both is needed")
    for values in (x, y):
        if not np.isfinite(values).all():
            user = int(np.argmin(np.isfinite(values)))
            raise ValueError(f"the value of user {user} is {values[user]}: it must be finite")
    return x, y


def moments_of(a: Floats, b: Floats, w: Floats | None = None) -> Floats:
    """Return the fields of `Pairs` of each row of a and b, (rows, users), a column (12,) per row.

    Examples
    --------
    >>> rows = moments_of(np.array([[0.5, 1.0], [1.0, 1.0]]), np.zeros((2, 2)))
    >>> Pairs.of_column(rows[:, 0]) == Pairs.of([0.5, 1.0], [0.0, 0.0])
    True
    """
    d = snap(a, b)
    ones = np.ones(len(d))
    counts = [ones * d.shape[1], (d > 0).sum(axis=1), (d < 0).sum(axis=1)]
    if w is None:
        weight = weight2 = counts[0]
        means = [values.sum(axis=1) / weight for values in (a, b, d)]
    else:
        weight, weight2 = w.sum(axis=1), (w * w).sum(axis=1)
        means = [(w * values).sum(axis=1) / weight for values in (a, b, d)]
    a, b, d = (values - mean[:, None] for values, mean in zip((a, b, d), means, strict=True))
    wd = d if w is None else w * d
    squares = (a * a, b * b) if w is None else (w * a * a, w * b * b)
    products = [part.sum(axis=1) for part in (*squares, wd * d, wd * b)]
    return np.array([*counts, weight, weight2, *means, *products])


def merged_columns(parts: Floats) -> Pairs:
    """Return the moments of parts that are given as columns (12,) with the fields of `Pairs`."""
    parts = parts[:, parts[0] > 0]
    n, wins, losses, weight, weight2 = parts[:5].sum(axis=1)
    if n == 0:
        return Pairs(0, 0, 0, 0.0, 0.0, *[math.nan] * 7)
    w = parts[3]
    means = (parts[5:8] * w).sum(axis=1) / weight
    a, b, d = parts[5:8] - means[:, None]
    aa, bb, dd, db = parts[8:]
    products = [aa + w * a * a, bb + w * b * b, dd + w * d * d, db + w * d * b]
    sums = [float(part.sum()) for part in products]
    counts = int(n), int(wins), int(losses)
    return Pairs(*counts, float(weight), float(weight2), *map(float, means), *sums)


def settled(squares: float, spread: float, mean: float) -> float:
    """Return the standard deviation, and 0 where it is rounding.

    s <= 1e-12 max |d| says so, and as then max |d| = |mean| to 12 digits, so does the mean.
    """
    std = math.sqrt(squares / spread)
    return 0.0 if std <= TIE * abs(mean) else std
