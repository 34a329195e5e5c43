"""`Means`: means at every k, their spread and intervals, and who was counted; parts merge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from toplist.averages import per_user
from toplist.averages.histograms import Histograms
from toplist.averages.moments import ListAverages
from toplist.averages.terms import Terms, difference
from toplist.matching.hits import Hits
from toplist.metrics.beyond_accuracy import ListMetric

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Means:
    """The numbers of an evaluation: what `toplist.TopKResult` shows.

    Attributes
    ----------
    terms : Terms
        What was asked, and by which rules.
    histograms : Histograms
        The histograms that the means follow from.
    hits, counted : Hits and (n_users,) bool, or None
        What per-user values are computed from: the hits, and whose are in the means.
    n_users, n_missing, n_extra : int
        Users of the ground truth; those without a list; lists without a ground truth.
    weights : (n_users,) float64, or None
        How much each user counts.
    lists : ListAverages or None
        What follows from the lists alone.
    """

    terms: Terms
    histograms: Histograms
    hits: Hits | None
    counted: NDArray[np.bool_] | None
    n_users: int
    n_missing: int
    n_extra: int
    weights: Floats | None = None
    lists: ListAverages | None = None

    @property
    def n_evaluated(self) -> int:
        """Number of users in the means."""
        return self.histograms.n_evaluated

    @property
    def n_skipped(self) -> int:
        """Number of users of the ground truth left out of the means."""
        return self.n_users - self.n_evaluated

    @property
    def users(self) -> Sequence[Any]:
        """The users' keys, or their positions."""
        if self.hits is None or self.hits.users is None:
            return range(self.n_users)
        return self.hits.users

    @property
    def ks(self) -> tuple[int, ...]:
        """The k's asked for, rising."""
        return self.terms.ks

    def __iter__(self) -> Iterator[Any]:
        """Yield one value per entry of `metrics`: a float, or an array over the k's."""
        for entry in self.terms.entries:
            at = self._moments[entry.metric.name].mean[np.array(entry.ks) - 1]
            yield float(at[0]) if entry.scalar else at

    def __getitem__(self, name: str) -> Any:
        """Return the mean at ``"name@k"``, or the curve (K,) of ``"name"``."""
        return self._pick(name, lambda metric: self._moments[metric].mean)

    def __contains__(self, name: object) -> bool:
        """Return whether ``result[name]`` is there."""
        try:
            self.terms.find(name)  # type: ignore[arg-type]
        except KeyError:
            return False
        return True

    def std(self, name: str) -> Any:
        """Return the standard deviation over users (ddof = 1), as ``[]`` returns the mean."""
        return self._pick(name, lambda metric: self._moments[metric].std)

    def interval(self, name: str, level: float = 0.95) -> tuple[Any, Any]:
        """Return the ends of the normal confidence interval, mean ± z · std / √n.

        With weights, n is Kish's effective number of users, (Σw)² / Σw²; of a pooled metric,
        the standard error is that of the delta method.

        Parameters
        ----------
        name : str
            ``"name@k"``, or ``"name"`` for two curves.
        level : float
            Between 0 and 1.
        """
        from statistics import NormalDist  # a fifth of the import of toplist

        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, not {level!r}")
        z = NormalDist().inv_cdf((1 + level) / 2)
        half = z * self._pick(name, lambda metric: self._moments[metric].error)
        return self[name] - half, self[name] + half

    def per_user(self, name: str) -> Floats:
        """Return the values of each user: (n_users,) for ``"name@k"``, (n_users, K) for ``"name"``.

        Users left out of the means have NaN.

        Raises
        ------
        ValueError
            If the result does not hold its hits.
        """
        metric, k = self.terms.find(name)
        if isinstance(metric, ListMetric):
            assert self.lists is not None
            of_lists = self.lists.per_user(metric.name, self.users)
            return of_lists if k is None else of_lists[:, k - 1]
        if self.hits is None or self.counted is None:
            raise ValueError(
                "this result holds no hits, so it has no values per user; of files, "
                "in_memory=True (--in-memory) keeps them"
            )
        if k is None:
            return per_user.curves(self.hits, self.counted, metric, self.terms.depth)
        return per_user.values(self.hits, self.counted, metric, k)

    def n_of(self, name: str) -> int:
        """Return how many users a mean is over (for a metric of all lists together, how many)."""
        metric, _ = self.terms.find(name)
        return self._moments[metric.name].n if isinstance(metric, ListMetric) else self.n_evaluated

    def to_dict(self) -> dict[str, float]:
        """Return the means asked for, ``{"ndcg@10": 0.1, ...}``."""
        return {name: self[name] for name in self.names()}

    def names(self) -> list[str]:
        """Return the ``name@k`` of every mean asked for, in that order."""
        return self.terms.names

    def __add__(self, other: Self) -> Self:
        """Merge two results over different users.

        Raises
        ------
        ValueError
            If metrics, k, convention or policies differ, or a user is in both.
        """
        if not isinstance(other, Means):
            return NotImplemented
        if self.terms != other.terms:
            raise ValueError(f"cannot merge: {difference(self.terms, other.terms)}")
        held = None
        if self.hits is not None and other.hits is not None:
            held = self.hits + other.hits, np.concatenate([self.counted, other.counted])
        hits, counted = held or (None, None)
        weights = None
        if held and self.weights is not None and other.weights is not None:
            weights = np.concatenate([self.weights, other.weights])
        lists = self.lists + other.lists if self.lists and other.lists else None
        both = self.histograms + other.histograms
        n_users, n_missing = self.n_users + other.n_users, self.n_missing + other.n_missing
        counts = n_users, n_missing, self.n_extra + other.n_extra
        return type(self)(self.terms, both, hits, counted, *counts, weights, lists)

    def __radd__(self, other: Any) -> Self:
        """Let ``sum(results)`` start from 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def _pick(self, name: str, curve_of: Any) -> Any:
        metric, k = self.terms.find(name)
        curve = curve_of(metric.name)
        return curve.copy() if k is None else float(curve[k - 1])

    @cached_property
    def _moments(self) -> dict[str, Any]:
        of_lists = {} if self.lists is None else dict(self.lists.averages())
        metrics = self.histograms.metrics
        return {metric.name: self.histograms.moments(metric) for metric in metrics} | of_lists
