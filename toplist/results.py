"""What an evaluation returns: means at every k, their spread, and who was counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from toplist import per_user, tables
from toplist.checks import choice
from toplist.formulas import STYLES
from toplist.hits import Hits
from toplist.list_metrics import ListMetric
from toplist.markup import Report
from toplist.population import Population
from toplist.shown import Shown
from toplist.terms import Terms, difference

if TYPE_CHECKING:
    from toplist.list_results import ListResult
    from toplist.segments import Segments

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class TopKResult(Shown):
    """Means of metrics over users, at every k up to the largest asked for.

    Made by `toplist.top_k_eval`. Iterating yields one value per entry of its `metrics`: a float
    where one k was asked for, else an array over the k's. ``result["ndcg@7"]`` is the mean at
    any k up to the largest, ``result["ndcg"]`` the whole curve. Nothing is rounded but in print.

    Attributes
    ----------
    n_users : int
        Users of the ground truth: `n_evaluated` + `n_skipped`.
    n_evaluated, n_skipped : int
        Users in the means, and users left out (an empty ground truth; or no list, where such
        users are skipped).
    n_missing : int
        Users with a ground truth but no list, or an empty one.
    n_extra : int
        Users with a list but no ground truth; they have no row.
    users : sequence
        The users' keys in the order of the rows; positions where none were given.
    hits, counted : Hits and (n_users,) bool, or None
        What per-user values are computed from: the hits, and whose are in the means.
    weights : (n_users,) float64, or None
        How much each user counts.
    lists : ListResult or None
        What follows from the lists alone: coverage, Gini, popularity and their like, where asked.

    Examples
    --------
    >>> from toplist import top_k_eval
    >>> a = top_k_eval([[1, 2]], [{2}], k=2, metrics=["mrr"])
    >>> b = top_k_eval([[1, 2], [3]], [{1}, {9}], k=2, metrics=["mrr"])
    >>> (a + b)["mrr@2"], (a + b).per_user("mrr@2").tolist()
    (0.5, [0.5, 1.0, 0.0])
    """

    terms: Terms
    population: Population
    hits: Hits | None
    counted: NDArray[np.bool_] | None
    n_users: int
    n_missing: int
    n_extra: int
    weights: Floats | None = None
    lists: ListResult | None = None

    @property
    def n_evaluated(self) -> int:
        """Number of users in the means."""
        return self.population.n_evaluated

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

    def formula(self, name: str, style: str = "text") -> str:
        """Return the exact formula behind a printed number, with its policies and counts.

        Parameters
        ----------
        name : str
            ``"name"`` or ``"name@k"``.
        style : {"text", "latex"}
        """
        choice("style", style, STYLES)
        return tables.explanation(self, self.terms.find(name)[0], style)

    def by(self, labels: Any) -> Segments:
        """Split the users by an attribute: a result for every label.

        Parameters
        ----------
        labels : one label per user, or dict user -> label
            An array or list in the order of `users`; or a dict or pandas Series keyed by user,
            where users may be absent. Labels that are absent, None or NaN are a segment of
            their own, None.

        Returns
        -------
        Segments
            A mapping label -> TopKResult, a table when printed. Its users add up to these.
            Metrics of the lists themselves (coverage and its like) are not in it.

        Raises
        ------
        ValueError
            For labels of another number, or keyed by other users; or without hits.

        Examples
        --------
        >>> from toplist import top_k_eval
        >>> result = top_k_eval({"a": [1], "b": [2], "c": [3]}, {"a": 1, "b": 9, "c": 3}, k=1)
        >>> {label: part["hit@1"] for label, part in result.by({"a": "new", "b": "new"}).items()}
        {'new': 0.5, None: 1.0}
        """
        from toplist import segments

        return segments.by(self, labels)

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

    def to_pandas(self, per_user: bool = False) -> Any:
        """Return a DataFrame: a row per metric and k, or per user.

        Parameters
        ----------
        per_user : bool
            False: columns metric, k, mean, std, low, high (95 % interval), n. True: a row per
            user, with user_id and one column per metric and k.
        """
        return tables.to_pandas(self, per_user)

    def _report(self) -> Report:
        """Return a table of metrics x k with 95 % intervals, and who was counted."""
        return tables.report(self)

    def plot(
        self, metrics: str | Sequence[str] | None = None, *, level: float = 0.95, ax: Any = None
    ) -> Any:
        """Draw metrics over k with their intervals; the picture says who was counted.

        Parameters
        ----------
        metrics : str or several, optional
            Names without ``@``; default: all of this result.
        level : float
            Of the bands.
        ax : matplotlib Axes, optional
            Where to draw; a new figure otherwise, which a notebook shows.

        Returns
        -------
        matplotlib Axes
            ``.figure.savefig("curves.pdf")`` writes it. More pictures: `toplist.plots`.
        """
        from toplist import plots

        return plots.curves(self, metrics, level=level, ax=ax)

    def __add__(self, other: TopKResult) -> TopKResult:
        """Merge two results over different users.

        Raises
        ------
        ValueError
            If metrics, k, convention or policies differ, or a user is in both.
        """
        if not isinstance(other, TopKResult):
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
        both = self.population + other.population
        n_users, n_missing = self.n_users + other.n_users, self.n_missing + other.n_missing
        counts = n_users, n_missing, self.n_extra + other.n_extra
        return TopKResult(self.terms, both, hits, counted, *counts, weights, lists)

    def __radd__(self, other: Any) -> TopKResult:
        """Let ``sum(results)`` start from 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def _pick(self, name: str, curve_of: Any) -> Any:
        metric, k = self.terms.find(name)
        curve = curve_of(metric.name)
        return curve.copy() if k is None else float(curve[k - 1])

    @cached_property
    def _moments(self) -> dict[str, Any]:
        of_lists = {} if self.lists is None else self.lists.averages()
        metrics = self.population.metrics
        return {metric.name: self.population.moments(metric) for metric in metrics} | of_lists
