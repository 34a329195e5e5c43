"""What is drawn or flipped as one, `Units`; numbers that are equal but for rounding.

Units are rows, or clusters of rows, with weights. Of each, `pulls` says what it adds to the error
of a mean or a ratio (`toplist.stats`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from toplist import kernels
from toplist.checks import (
    HEAVIEST,
    Bools,
    Floats,
    Ints,
    cached,
    check_spread,
    choice,
    doubles,
    is_missing,
)
from toplist.stats.distributions import probability

Alternative = Literal["two-sided", "greater", "less"]
ALTERNATIVES: tuple[Alternative, ...] = get_args(Alternative)
# Numbers that differ by less than this share of the larger one are equal: .1 + .2 and .3 are.
TIE = 1e-12
# Numbers that stay in the cache: in parts of this size `snap` takes a third of the time.
CACHED = 1 << 14
# Below so many degrees of freedom, intervals and tests are rough.
FEW_DF = 20
# So are they below so many effective units, where these are so much fewer than the units: of values
# that go with the size of their unit, intervals held the mean in 85 to 93 % of samples.
FEW_EFFECTIVE, UNEQUAL = 200, 0.8


@dataclass(frozen=True, eq=False)
class Units:
    """What is drawn or flipped as one: n rows, or clusters of them, with weights.

    Attributes
    ----------
    n : int
        The number of rows.
    weights : (n,) float64, or None
        Positive, and not all equal: those are as none.
    clusters : (n,) int64, or None
        The number of the cluster of each row, from 0 on, without gaps.

    Examples
    --------
    >>> units = Units.of(3, clusters=["y", "x", "y"])
    >>> units.sums(np.array([1.0, 2.0, 4.0])), units.sizes, round(units.df, 2)
    (array([2., 5.]), array([1., 2.]), 1.0)
    """

    n: int
    weights: Floats | None = None
    clusters: Ints | None = None

    @classmethod
    def of(cls, n: int, weights: ArrayLike | None = None, clusters: Any = None) -> Units:
        """Return units of weights and of labels, one per row.

        Clusters come in the order of their labels, whatever the order of the rows; of one row each
        they are none.

        Raises
        ------
        TypeError, ValueError
            For another number of weights, weights that are not positive, and rows without a label.
        """
        w = None if weights is None else weights_of(weights, n)
        places = None if clusters is None else _without_gaps(numbered(clusters))
        alone = places is None or len(places) == 0 or places.max() + 1 == n
        return cls(n, _unequal(w), None if alone else places)

    def at(self, some: Bools) -> Units:
        """Return those of some rows."""
        w = None if self.weights is None else self.weights[some]
        places = None if self.clusters is None else _without_gaps(self.clusters[some])
        return Units(int(np.count_nonzero(some)), _unequal(w), places)

    @property
    def plain(self) -> bool:
        """Whether each row is a unit, and all count alike."""
        return self.weights is None and self.clusters is None

    @property
    def n_clusters(self) -> int:
        """The number of clusters; 0 without any."""
        return 0 if self.clusters is None else len(self.sizes)

    def sums(self, x: Floats) -> Floats:
        """Return w x, (n,), added up over each unit."""
        if self.weights is not None:
            x = x * self.weights
        if self.clusters is None:
            return x
        found: Floats = np.bincount(self.clusters, x).astype(np.float64, copy=False)
        return found

    @cached
    def sizes(self) -> Floats:
        """The weight of each unit."""
        return self.sums(np.ones(self.n))

    @cached
    def whole(self) -> float:
        """The weight of all of them."""
        return float(self.sizes.sum())

    @property
    def effective(self) -> float:
        """Kish's number of units of one size that are as certain, (Σ size)² / Σ size²."""
        if self.plain:
            return float(self.n or math.nan)
        return float(self.whole**2 / (self.sizes**2).sum()) if self.n else math.nan

    @property
    def rough(self) -> str:
        """Why intervals over these units are rough; "" where neither few nor unequal.

        Examples
        --------
        >>> Units.of(4, clusters=list("xxyz")).rough, Units(4).rough
        ('clusters so few or unequal leave 1.8 degrees of freedom', '')
        """
        n, effective = len(self.sizes), self.effective
        if self.plain or n < 2:
            return ""
        what = "weights" if self.clusters is None else "clusters"
        if self.df < FEW_DF:
            return f"{what} so few or unequal leave {self.df:.1f} degrees of freedom"
        if effective < min(FEW_EFFECTIVE, UNEQUAL * n):
            return f"{what} so unequal leave {effective:,.0f} of {n:,} effective"
        return ""

    @cached
    def df(self) -> float:
        """Satterthwaite's degrees of freedom; n - 1 of rows without weights."""
        sizes = self.sizes
        if len(sizes) < 2 or self.plain:
            return len(sizes) - 1.0
        shares = sizes / self.whole
        pulls = np.sort(shares * sizes / (self.whole - sizes))
        # (Σa)² - Σa² without loss of digits where one unit is nearly all
        pairs = 2 * float((pulls[1:] * np.cumsum(pulls)[:-1]).sum())
        return 1 / (float((shares**2).sum()) + pairs)

    def mean(self, x: Floats) -> float:
        """Return Σ w x / Σ w; NaN without rows."""
        return float(self.sums(x).sum()) / self.whole if self.n else math.nan

    def pulls(self, x: Floats, y: Floats | None = None) -> tuple[float, Floats]:
        """Return θ, and what each unit adds to its error; NaN for fewer than two units.

        Squares of what units add are error², and their products covariances.
        """
        sums = self.sums(x)
        n, sizes = len(sums), 1.0 if self.plain else self.sizes
        by = sizes if y is None else self.sums(y)
        total = self.whole if y is None else float(np.sum(by))
        if total == 0:
            if n and y is not None:
                raise ValueError("the divisors add up to 0: there is no ratio")
            return math.nan, np.full(n, math.nan)
        value = float(sums.sum()) / total
        if n < 2:
            return value, np.full(n, math.nan)
        left = sums - value * by
        left *= np.sqrt(self.whole / (self.whole - sizes)) / abs(total)
        return value, left

    def skewness(self, x: Floats) -> float:
        """Return the skewness of what units add to the error of the mean; NaN without spread."""
        pulls = self.pulls(x)[1]
        # by a power of 2, which rounds nothing: cubes of small numbers are 0, of large ones inf
        pulls = np.ldexp(pulls, -int(np.frexp(np.abs(pulls).max(initial=0.0))[1]))
        squares = pulls * pulls
        total = float(squares.sum())
        if not total > 0:
            return math.nan
        squares *= pulls  # numpy takes ten times as long for a power of 3
        return math.sqrt(len(pulls)) * float(squares.sum()) / math.pow(total, 1.5)

    def linearised(self, x: Floats) -> Floats:
        """Return a value per unit whose plain mean and standard error are those of Σ w x / Σ w.

            r + (x - r y) / mean y,  r = Σx / Σy

        of sums x and sizes y of units. (The delta method by its influence function; Särndal,
        Swensson, Wretman 1992, 5.6.) Its squared error is n / (n - 1) Σ (x - r y)² / (Σy)² over n
        units: without the correction of each for its size.

        Examples
        --------
        >>> values = Units(3, np.array([4.0, 1.0, 1.0])).linearised(np.array([0.5, 0.0, 1.0]))
        >>> values.round(3), float(values.mean().round(3))
        (array([0.5 , 0.25, 0.75]), 0.5)
        """
        if self.plain:
            return x
        ratio, sizes = self.mean(x), self.sizes
        values: Floats = ratio + (self.sums(x) - ratio * sizes) * (len(sizes) / self.whole)
        return values


def _unequal(weights: Floats | None) -> Floats | None:
    """Return weights; None where all are equal."""
    return None if weights is None or (weights == weights[:1]).all() else weights


def _without_gaps(places: Ints) -> Ints:
    """Return numbers of clusters of which each is there."""
    there = np.bincount(places) > 0
    return places if there.all() else (np.cumsum(there) - 1)[places]


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
    x, y = doubles(a), doubles(b)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"values of shape {x.shape} and {y.shape}: one per user in both is needed")
    for values in (x, y):
        if not np.isfinite(values).all():
            user = int(np.argmin(np.isfinite(values)))
            raise ValueError(f"the value of user {user} is {values[user]}: it must be finite")
    return x, y


def over(number: float, divisor: float) -> float:
    """Return a ratio: 0 for 0 / 0, infinite for all else over 0.

    Examples
    --------
    >>> over(0.0, 0.0), over(-1.0, 0.0), over(1.0, 2.0)
    (0.0, -inf, 0.5)
    """
    if divisor or math.isnan(divisor):
        return number / divisor
    return math.copysign(math.inf, number) if number else 0.0


def product(a: Floats, b: Floats | None = None) -> Floats:
    """Return a @ b.T, by default a @ a.T, to the same bits for any number of threads.

    A BLAS with several threads cuts matrices by their number, and sums each part in another order;
    its threads wait by spinning, beside those that compute the blocks.

    Examples
    --------
    >>> rows = np.array([[1.0, 2.0, 3.0]])
    >>> product(rows), product(rows, 2 * rows)
    (array([[14.]]), array([[28.]]))
    """
    left = _padded(a)
    right = left if b is None else _padded(b)
    out = np.empty((len(left), len(right)))
    kernels.chance.product(left, right, b is None, out)
    return out[: len(a), : len(a if b is None else b)]


def _padded(a: Floats) -> Floats:
    """Return a matrix with rows of 0 below it, so that their number is a multiple of 4."""
    out = np.zeros((len(a) + -len(a) % 4, a.shape[1]))
    out[: len(a)] = a
    return out


def checked(alternative: str, level: float) -> None:
    """Raise ValueError for an unknown alternative, or a level that is not between 0 and 1.

    Examples
    --------
    >>> checked("greater", 95)
    Traceback (most recent call last):
    ValueError: level must be a number between 0 and 1, not 95
    """
    choice("alternative", alternative, ALTERNATIVES)
    probability(level, "level")


def p_of(above: float, below: float, alternative: str) -> float:
    """Return p from the chances of a statistic at least as high, and at least as low.

    Examples
    --------
    >>> [p_of(0.1, 0.95, side) for side in ALTERNATIVES]
    [0.2, 0.1, 0.95]
    """
    both = min(2 * min(above, below), 1.0)
    return {"two-sided": both, "greater": above, "less": below}[alternative]


def numbered(labels: Any, users: Sequence[Any] | None = None) -> Ints:
    """Return a number from 0 on for each label, in the order of the labels.

    Labels are equal where Python says so. In an array of numpy 1 and "1" would be, too. What is
    numbered already is returned as it is; `users` are for the message where one has no label.

    Examples
    --------
    >>> numbered(["b", "a", "b"]), numbered([1, "1"])
    (array([1, 0, 1]), array([1, 0]))
    """
    if isinstance(labels, np.ndarray) and labels.dtype == np.int64 and labels.ndim == 1:
        dense = len(labels) == 0 or (labels.min() >= 0 and labels.max() < 2 * len(labels))
        return labels if dense else np.unique(labels, return_inverse=True)[1]
    given: Sequence[Any] = labels.tolist() if hasattr(labels, "tolist") else list(labels)
    if {*map(type, given)} == {int} and (array := np.array(given)).dtype == np.int64:
        return np.unique(array, return_inverse=True)[1]  # a third of the time
    try:
        found = dict.fromkeys(given)
    except TypeError as error:
        raise TypeError(f"clusters: a label cannot be compared: {error}") from None
    if any(map(is_missing, found)):
        row = next(i for i, one in enumerate(given) if is_missing(one))
        user = row if users is None else users[row]
        raise ValueError(f"clusters: user {user!r} has none, {given[row]!r}")
    try:
        order = sorted(found)
    except TypeError:  # of several kinds
        order = sorted(found, key=repr)
    places = {label: place for place, label in enumerate(order)}
    return np.fromiter(map(places.__getitem__, given), np.int64, len(given))


def weights_of(
    weights: ArrayLike, n: int, users: Sequence[Any] | None = None, zeros: bool = False
) -> Floats:
    """Return weights as float64, one per user, all positive; with `zeros`, 0 or more.

    Examples
    --------
    >>> weights_of([2, 1], 2)
    array([2., 1.])
    """
    w = doubles(weights)
    if w.shape != (n,):
        raise ValueError(f"weights has shape {w.shape}: one per user is needed, ({n},)")
    good = ((w >= 0) if zeros else (w > 0)) & (w <= HEAVIEST)
    if not good.all():
        row = int(np.argmin(good))
        user = row if users is None else repr(users[row])
        least = "0 or more" if zeros else "positive"
        bound = f"{least}, and at most {HEAVIEST:g}"
        raise ValueError(f"the weight of user {user} is {w[row]}: it must be {bound}")
    check_spread(w[w > 0])
    return w
