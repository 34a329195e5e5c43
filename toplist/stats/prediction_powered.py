"""Prediction-powered inference: a mean of few labels by people and many by an automatic judge."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from toplist.checks import Floats, Ints, readable
from toplist.stats.distributions import normal_ppf
from toplist.stats.units import TIE, Units, checked, numbered, pair


@readable
@dataclass(frozen=True)
class Corrected:
    """A mean by a judge, corrected by the labels of people; and what either says alone.

    `n` values have labels of people, `n_unlabelled` only those of the judge. `estimate` has the
    standard error `error` and the interval from `low` to `high`; `lam` is the weight λ of the
    judge. `n_effective` is how many labels of people alone would give this error. `human` is the
    mean of people alone, with `human_error`, and `judge`, with `judge_error`, that of the judge
    over all values.
    """

    estimate: float
    error: float
    low: float
    high: float
    lam: float
    n: int
    n_unlabelled: int
    n_effective: float
    human: float
    human_error: float
    judge: float
    judge_error: float


def ppi(
    y: ArrayLike,
    y_hat: ArrayLike,
    u_hat: ArrayLike,
    *,
    lam: float | None = None,
    level: float = 0.95,
    clusters: tuple[Any, Any] | None = None,
) -> Corrected:
    """Return the mean of what people would say of all values: PPI++.

        estimate = λ mean(Ũ) + mean(Y - λ Ŷ)
        error² = λ² var(Ũ) / N + var(Y - λ Ŷ) / n
        λ = cov(Y, Ŷ) / ((1 + n/N) var(Ŷ and Ũ)),  cut to [0, 1]
        interval: estimate ± z error,  n_effective = var(Y) / error²

    (Angelopoulos, Duchi, Zrnic 2023, PPI++, arXiv 2311.01453.) Variances and the covariance divide
    by their number, but var(Ŷ and Ũ) by one less, as in ppi_py. A judge may be wrong everywhere by
    as much, or on another scale: the n values with both labels correct it. One that goes with
    people in nothing gets λ = 0, and the mean of people alone is left.

    Of values in clusters, the error is that of sums over clusters (CR2, `stats.estimates`), which
    may have values of both kinds; λ is then the one with the smallest such error.

    The n values must be a random sample of all. The interval is normal: it covered 93, 94 and 95 %
    with n = 30, 50 and 200 (benchmarks/sizes.py). It is NaN where the values do not vary.

    Parameters
    ----------
    y, y_hat : (n,) float
        Labels of people, and of the judge, of the same values; at least two.
    u_hat : (N,) float
        Labels of the judge of all others; at least one.
    lam : float, optional
        λ, from 0 (people alone) to 1 (PPI); default: the one with the smallest error.
    level : float
        Of the interval, between 0 and 1.
    clusters : (n labels, N labels), optional
        Of the values with both labels, and of all others, such as whose query each is.

    Raises
    ------
    ValueError
        For fewer than two labels of people, no label of the judge alone, other lengths of `y` and
        `y_hat`, and values that are not finite.

    Examples
    --------
    >>> people, judge = [0.5, 1, 0, 0.3, 0.8], [0.6, 0.9, 0.2, 0.3, 1]
    >>> found = ppi(people, judge, [0.4, 0.9, 0.1, 0.7, 0.5, 0.6, 1, 0, 0.3, 0.8])
    >>> [round(one, 4) for one in (found.estimate, found.low, found.high, found.lam)]
    [0.4744, 0.2761, 0.6726, 0.652]
    >>> round(found.human, 4), round(found.judge, 4), round(found.n_effective, 1)
    (0.52, 0.5533, 12.3)
    """
    checked("two-sided", level)
    (values, own), (others, _) = pair(y, y_hat), pair(u_hat, u_hat)
    n, n_others = len(values), len(others)
    if n < 2:
        raise ValueError(f"at least two labels of people are needed, and there are {n}")
    if not n_others:
        raise ValueError("nothing is judged by the judge alone: take the mean of people as it is")
    every = np.append(own, others)
    if lam is not None and (not isinstance(lam, (int, float, np.number)) or not 0 <= lam <= 1):
        raise ValueError(f"lam must be a number from 0 to 1, not {lam!r}")
    # What each cluster adds to the errors of mean Y, of mean Ŷ, and of mean Ũ.
    labels = None if clusters is None else numbered([*clusters[0], *clusters[1]])
    sides = (values, slice(None, n)), (own, slice(None, n)), (others, slice(n, None))
    human, with_human, alone = (_pulls(x, some, n + n_others, labels) for x, some in sides)
    judge = with_human - alone
    if lam is None:
        together, spread = float((human * judge).sum()), float((judge**2).sum())
        if labels is None:  # as in ppi_py
            spread = (1 / n + 1 / n_others) * float(every.var(ddof=1))
        lam = min(max(together / spread, 0.0), 1.0) if spread else 0.0
    of_all = _pulls(every, slice(None), len(every), labels)
    human_error, error, judge_error = (
        math.sqrt(float((one**2).sum())) for one in (human, human - lam * judge, of_all)
    )
    estimate = lam * float(others.mean()) + float((values - lam * own).mean())
    known = error > TIE * float(np.abs(values).max())
    half = normal_ppf(0.5 + level / 2) * error if known else math.nan
    return Corrected(
        *(estimate, error, estimate - half, estimate + half, float(lam), n, n_others),
        *(n * (human_error / error) ** 2 if known else math.nan, float(values.mean()), human_error),
        *(float(every.mean()), judge_error),
    )


def _pulls(x: Floats, some: slice, n: int, labels: Ints | None) -> Floats:
    """Return what n rows, or their clusters, add to the error of the mean of x, which some have.

    Of rows alone the squares add up to var(x) / n: variances divide by their number here.
    """
    if labels is None:
        pulls = np.zeros(n)
        pulls[some] = (x - x.mean()) / len(x)
        return pulls
    there, places = np.unique(labels[some], return_inverse=True)
    pulls = np.zeros(int(labels.max()) + 1)
    pulls[there] = Units(len(x), None, places).pulls(x)[1]
    return pulls
