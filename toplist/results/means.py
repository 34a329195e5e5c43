"""`Means`: the numbers of an evaluation, at every k; results over different users merge."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from toplist.averages import histograms, per_user
from toplist.averages.histograms import Histograms
from toplist.averages.moments import normal, wilson
from toplist.checks import Bools, Floats, Ints, cached, equal
from toplist.matching.about import Unmatched
from toplist.matching.hits import Hits
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.definitions import Metric
from toplist.metrics.names import keys_of
from toplist.results.terms import Entry, Terms, difference

# What only intervals and merging need is imported by them, as `import toplist` must be quick.
if TYPE_CHECKING:
    from toplist.averages.moments import Errors
    from toplist.beyond.results import ListResult
    from toplist.inputs.flatten import Scored
    from toplist.matching.fingerprints import Fingerprint
    from toplist.metrics.names import AnyName, Name, NameAtK
    from toplist.metrics.properties import Population
    from toplist.metrics.weighing import Exposed
    from toplist.stats.units import Units

M = TypeVar("M", bound="Means")
T = TypeVar("T")


@dataclass(frozen=True, eq=False, repr=False)
class Means:
    """Means, standard deviations, intervals and values per user, without any display.

    `toplist.TopKResult` is this with a display, and documents the attributes.
    """

    terms: Terms
    histograms: Histograms
    hits: Hits | None
    counted: Bools | None
    n_users: int
    n_missing: int
    n_extra: int
    weights: Floats | None = None
    clusters: Sequence[Any] | None = None
    lists: ListResult | None = None
    fingerprints: tuple[Fingerprint, ...] = ()
    unmatched: Unmatched | None = None
    graded: bool = False
    scored: Scored | None = None
    exposed: Exposed | None = None
    longest: int | None = None  # of the lists; None where it is unknown
    notes: tuple[str, ...] = ()
    listed: NDArray[np.uint64] | None = None

    @classmethod
    def of(
        cls,
        terms: Terms,
        hits: Hits,
        counted: Bools,
        weights: Floats | None = None,
        *,
        clusters: Sequence[Any] | None = None,
        depth: int = 1,
        n_threads: int | None = None,
    ) -> Self:
        """Return the means of the users in `counted`, from the hits of all.

        Where the terms have no k, averages that need the users' curves are kept down to `depth`, or
        the longest list.
        """
        asked = terms.with_depth(max(depth, hits.k))
        found = _counted(hits, counted, asked, weights, n_threads)
        sizes, scored = (len(hits), n_missing_of(hits), hits.about.n_extra), hits.about.scored
        given = terms, found, hits, counted, *sizes, weights, clusters
        graded = is_graded(terms, hits)
        return cls(*given, graded=graded, scored=scored, longest=hits.deepest)

    @property
    def n_evaluated(self) -> int:
        """The number of users in the means; `n_of` has that of a metric that counts others."""
        return self.histograms.n_of(self.terms.empty)

    @property
    def n_skipped(self) -> int:
        """The number of users of the ground truth that are left out of the means."""
        return self.n_users - self.n_evaluated

    def judged_share(self) -> tuple[str, float]:
        """Return "judged@k" of the largest k, and its mean, before unjudged items left."""
        k = self.terms.depth
        average = self.histograms.moments(self.terms.measured["judged"], np.array([k]))
        return f"judged@{k}", float(average.mean[0])

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
            means = [self[f"{entry.metric.name}@{k}"] for k in entry.ks]
            yield means[0] if entry.scalar else np.array(means)

    @overload
    def __getitem__(self, name: Name) -> Floats: ...
    @overload
    def __getitem__(self, name: NameAtK) -> float: ...
    @overload
    def __getitem__(self, name: str) -> Any: ...
    def __getitem__(self, name: str) -> Any:
        """Return the mean at ``"name@k"``, or the curve (K,) of ``"name"``."""
        metric, k = self.terms.find(name)
        return self._pick(metric, k, self._moments[metric.name].mean, lambda one, _: one.mean)

    def _ipython_key_completions_(self) -> list[str]:
        """Return what IPython and Jupyter complete after ``result["``: means, then curves."""
        return [*self.names(), *self.terms.asked]

    def __contains__(self, name: object) -> bool:
        """Return whether ``result[name]`` exists."""
        try:
            self.terms.find(name)  # type: ignore[arg-type]
        except KeyError:
            return False
        return True

    @overload
    def std(self, name: Name) -> Floats: ...
    @overload
    def std(self, name: NameAtK) -> float: ...
    @overload
    def std(self, name: str) -> Any: ...
    def std(self, name: str) -> Any:
        """Return the standard deviation over users (ddof = 1), at ``"name@k"`` or of ``"name"``."""
        metric, k = self.terms.find(name)
        return self._pick(metric, k, self._moments[metric.name].std, lambda one, _: one.std)

    @overload
    def interval(self, name: Name, level: float = ...) -> tuple[Floats, Floats]: ...
    @overload
    def interval(self, name: NameAtK, level: float = ...) -> tuple[float, float]: ...
    @overload
    def interval(self, name: str, level: float = ...) -> tuple[Any, Any]: ...
    def interval(self, name: str, level: float = 0.95) -> tuple[Any, Any]:
        """Return the ends of the confidence interval of a mean.

        It is mean ± t · error, cut to [0, 1] where the metric cannot leave it. Of n users without
        weights and clusters, error is std / √n, and t that of Student with n - 1 degrees of
        freedom; for a pooled metric, the error is that of the delta method. Where every user's
        value is 0 or 1 by the definition of the metric, as that of hit, the mean p is a proportion,
        and the interval is Wilson's (1927)::

            (p + z²/2n ± z √(p (1 - p) / n + z²/4n²)) / (1 + z²/n)

        Where all values are equal, both ends are the mean, and none is printed.

        With weights w, and of rows in clusters, error and degrees of freedom are those of tests of
        the same values. π is the share of a row, or of a cluster, of all weights (CR2: Bell and
        McCaffrey 2002, Satterthwaite 1946), for proportions and ratios of sums
        (x - ratio · y in place of x - mean) too::

            error² = Σ_c (Σ_{rows of c} w (x - mean))² / (1 - π_c) / (Σ w)²
            df = 1 / (Σπ² + (Σa)² - Σa²),  a = π² / (1 - π)

        Under ``propensities=``, units count as Kish's effective number of users
        n' = (Σ w)² / Σ w², of ratios (Σ w y)² / Σ (w y)²; df is n' - 1, and Wilson's n that of as
        many users without weights as would be as certain, p (1 - p) (Σ w)² / Σ w² (x - p)²::

            error² = Σ w² (x - mean)² / (Σ w)² · n' / (n' - 1)

        NaN for fewer than two rows or clusters; and with weights or clusters, of a result that
        holds no hits, as its rows are gone. Of metrics of the lists themselves, the rows are those
        of the ground truth: NaN where there are other lists, and in merged results.

        Parameters
        ----------
        name : str
            ``"name@k"``, or ``"name"`` for two curves.
        level : float
            Between 0 and 1.

        Examples
        --------
        >>> from toplist import top_k_eval
        >>> result = top_k_eval([[1], [2], [3]], [{1}, {2}, {3}], k=1, metrics="hit")
        >>> [round(end, 4) for end in result.interval("hit@1")]
        [0.4385, 1.0]
        """
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, not {level!r}")
        metric, k = self.terms.find(name)
        ends = partial(self._ends, metric.name, level)
        if (metric.name, level) not in self._near_ends:
            near = ends(self._moments[metric.name], self._cuts)
            self._near_ends[metric.name, level] = near
        if isinstance(metric, ListMetric) and self.clusters is not None:
            self._check_known(metric, k, of_users=True)
        low, high = self._near_ends[metric.name, level]
        low = self._pick(metric, k, low, lambda *one: ends(*one)[0])
        return low, self._pick(metric, k, high, lambda *one: ends(*one)[1])

    @overload
    def per_user(self, name: AnyName, *, keyed: Literal[False] = ...) -> Floats: ...
    @overload
    def per_user(self, name: AnyName, *, keyed: Literal[True]) -> dict[Any, Any]: ...
    def per_user(self, name: AnyName, *, keyed: bool = False) -> Any:
        """Return the values of each user: (n_users,) for ``"name@k"``, (n_users, K) for ``"name"``.

        Users left out of the means have NaN. The rows are in the order of ``users``, that of the
        ground truths; with `keyed`, a dict user -> value, or -> array (K,), of which no order is
        ever mistaken.

        Raises
        ------
        ValueError
            If the result does not hold its hits.
        """
        values = self._values(name)
        if not keyed:
            return values
        rows = values.tolist() if values.ndim == 1 else values
        return dict(zip(self.users, rows, strict=True))

    def _list_values(self, metric: ListMetric) -> Floats:
        assert self.lists is not None
        return self.lists.per_user(metric.name, self.users)

    def _check_known(self, metric: ListMetric, k: int | None, of_users: bool = False) -> None:
        if self.lists is not None:
            self.lists.check_known(metric.name, k, of_users)

    def _values(self, name: AnyName) -> Floats:
        metric, k = self.terms.find(name)
        if isinstance(metric, ListMetric):
            return self._of_curves(metric, k, self._list_values(metric))
        hits, counted = hits_of(self, "it has no values per user")
        read, counted = per_user.read_by(metric, hits, counted, self.terms.threshold_in_gains)
        if k is None:
            return per_user.curves(read, counted, metric, self.terms.depth)
        return per_user.values(read, counted, metric, k)

    def _of_curves(self, metric: ListMetric, k: int | None, curves: Floats) -> Floats:
        """Return the values of lists at k, or at every k, from their curves."""
        self._check_known(metric, k, of_users=True)
        width = curves.shape[1]  # below the lists it stays as it is
        if k is not None:
            return curves[:, min(k, width) - 1]
        per_user.empty((len(curves), self.terms.depth))
        return np.pad(curves, ((0, 0), (0, self.terms.depth - width)), "edge")

    def values_of_all(self, name: AnyName) -> tuple[Floats, Sequence[Any] | None]:
        """Return the values of each user, then those of lists without a ground truth.

        And whose these lists are, where that is known. Only metrics of the lists have such.
        """
        metric, k = self.terms.find(name)
        if not isinstance(metric, ListMetric) or self.lists is None:
            return self._values(name), None
        own, others, keys = self.lists.parted(metric.name, self.users)
        return self._of_curves(metric, k, np.concatenate([own, others])), keys

    @property
    def n_clusters(self) -> int:
        """The number of clusters with a row in the means; 0 without clusters."""
        return self.n_clusters_of()

    def n_clusters_of(self, *names: AnyName) -> int:
        """Return the number of clusters with a row in the mean of a metric; 0 without clusters."""
        return 0 if self.clusters is None else self.units_of(*names).n_clusters

    def units_of(self, *names: AnyName) -> Units:
        """Return whose errors that of a mean is made of: rows or clusters, with their weights.

        Raises
        ------
        ValueError
            If the result does not hold its hits.
        """
        found = (self.terms.find(name) for name in names)
        counted = in_means(self, [f"{one.name}@{k}" if k else one.name for one, k in found])
        return self._units(counted)

    def _units(self, counted: Bools) -> Units:
        """Return the units of some rows."""
        from toplist.stats.units import Units

        clusters = None if self.clusters is None else self._cluster_of
        return Units(len(counted), self.weights, clusters).at(counted)

    def n_of(self, name: AnyName) -> int:
        """Return the number of users in a mean; for a metric of all lists, the number of lists."""
        metric, k = self.terms.find(name)
        if isinstance(metric, ListMetric):
            self._check_known(metric, k or self.terms.depth)
            return int(self._moments[metric.name].n_at(k))
        return self.histograms.n_of(metric.empty, metric)

    def to_dict(self, at: str = "@") -> dict[str, float]:
        """Return the means asked for, ``{"ndcg@10": 0.1, ...}``.

        Parameters
        ----------
        at : str
            What stands between the name and k. With another one than ``"@"``, all that is no
            letter, digit or underscore in the name becomes an underscore: such keys are taken by
            MLflow, which refuses ``@`` and parentheses, and by W&B.

        Raises
        ------
        ValueError
            If two names have one key, as those of metrics named "a.b" and "a_b".

        Examples
        --------
        >>> from toplist import top_k_eval
        >>> result = top_k_eval([[1, 2]], [{2}], k=2, metrics=["mrr", "rbp(p=0.5)"])
        >>> result.to_dict()
        {'mrr@2': 0.5, 'rbp(p=0.5)@2': 0.25}
        >>> result.to_dict(at="_at_")    # mlflow.log_metrics(...), run.log(...)
        {'mrr_at_2': 0.5, 'rbp_p_0_5_at_2': 0.25}
        """
        return {key: self[name] for name, key in keys_of(self.names(), at).items()}

    def __float__(self) -> float:
        """Return the mean of a result that has exactly one, as a scorer or an optimizer wants it.

        Raises
        ------
        TypeError
            If there are several.

        Examples
        --------
        >>> from toplist import top_k_eval
        >>> float(top_k_eval([[1, 2]], [{2}], metrics="mrr@2"))
        0.5
        """
        names = self.names()
        if len(names) == 1:
            return float(self[names[0]])
        shown = ", ".join(names[:6]) + ", ..." * (len(names) > 6)
        raise TypeError(
            f"this result has {len(names)} means, {shown}: take one, result[{names[0]!r}], or ask "
            f"for one alone, metrics={names[0]!r}"
        )

    def __eq__(self, other: object) -> bool:
        """Return whether both say the same to the last bit; users are no part of it."""
        if not isinstance(other, Means):
            return NotImplemented
        mine, theirs = (
            (
                *(one.terms, one.n_users, one.n_missing, one.n_extra, one.graded, one.histograms),
                None if one.clusters is None else one._cluster_of,
                None if one.lists is None else one.lists.averages(),
            )
            for one in (self, other)
        )
        return equal(mine, theirs)

    def names(self) -> list[str]:
        """Return the ``name@k`` of every mean, in the order asked for."""
        return self.terms.names

    def __add__(self, other: Self) -> Self:
        """Merge two results over different users.

        Raises
        ------
        ValueError
            If metrics, k, convention or policies differ, or a user is in both; of users by
            position, if both parts have the same ground truths.
        """
        return merged([self, other]) if isinstance(other, Means) else NotImplemented

    def __radd__(self, other: Any) -> Self:
        """Let ``sum(results)`` start from 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    @cached
    def population(self) -> Population:
        """What is known of the users in the means before any value."""
        from toplist.metrics.properties import Population

        n_relevant = self.histograms.n_relevant[self.histograms.n_users > 0]
        single = len(n_relevant) > 0 and int(n_relevant.max()) <= 1
        return Population(single, self.graded)

    def _population_of(self, metric: Metric) -> Population:
        """Return what is known of the users of a metric, which may count more items."""
        least, usual = metric.relevant_from, self.terms.grading.relevant_from
        fewer = least is None or (least > 0 if usual is None else least >= usual)
        if fewer and metric.of != "judged":
            return self.population
        return replace(self.population, single=False)

    def identity(self, name: str) -> Any:
        """Return a key that is equal for metrics that are equal by definition.

        They are equal at the same k; of ``name@1``, at that k alone.
        """
        name, _, k = name.partition("@")
        metric, terms = self.terms.asked.get(name), self.terms
        if not isinstance(metric, Metric):
            return metric, name
        from toplist.metrics.properties import identity, identity_at_one

        ks = terms.ks_of[name]
        of, where = (identity_at_one, 1 in ks) if k == "1" else (identity, ks)
        return of(metric, self._population_of(metric), name in terms.pooled), metric.empty, where

    def is_proportion(self, name: str) -> bool:
        """Return whether the mean of a metric, without ``@``, is a proportion by definition."""
        return self._bounds.get(name) == "0 or 1"

    def is_within_one(self, name: str) -> bool:
        """Return whether a metric, without ``@``, is from 0 to 1 by definition."""
        return self._bounds[name] != ""

    @cached
    def _bounds(self) -> dict[str, str]:
        """What a user's value is by definition: "0 or 1", "within 1" or "" for any number."""
        from toplist.metrics.properties import is_proportion, is_within_one

        def bound(metric: Metric | ListMetric) -> str:
            if isinstance(metric, ListMetric):
                return "within 1" if metric.within_one else ""
            if is_proportion(metric):
                return "0 or 1"
            population = self._population_of(metric)
            if self.terms.weighting == "snips":  # a mean over relevant items, each by itself
                population = replace(population, single=True, graded=False)
            return "within 1" if is_within_one(metric, population) else ""

        return {name: bound(metric) for name, metric in self.terms.asked.items()}

    def _ends(self, name: str, level: float, average: Any, cuts: Ints) -> tuple[Floats, Floats]:
        """Return the ends of the intervals of an average of a metric at some k's."""
        proportion = name not in self.terms.pooled and self.is_proportion(name)
        if proportion and not self.by_rows(name):
            from statistics import NormalDist  # a fifth of the import of toplist

            return wilson(average.mean, average.effective, NormalDist().inv_cdf((1 + level) / 2))
        from toplist.stats.distributions import t_ppf

        error, df = self._errors(name, average, cuts)
        distinct, place = np.unique(np.maximum(np.nan_to_num(df), 1.0), return_inverse=True)
        t = np.array([t_ppf(0.5 + level / 2, one) for one in distinct.tolist()])[place]
        return normal(average.mean, error, t, self.is_within_one(name))

    def by_rows(self, name: str) -> bool:
        """Whether the error of a mean goes by rows, with weights or in clusters: not by sums alone.

        Equal weights of those in the mean, and clusters of one row each, are as none. Weights of
        relevant items (``propensities=``) are no such weights.
        """
        metric, alike = self.terms.asked[name], True
        if self.terms.weighted and self.terms.weighting is None:
            alike = False
            if self.counted is not None and self.weights is not None:
                mine = weighing(self.counted, self.weights)
                if self.hits is not None and isinstance(metric, Metric):
                    mine = per_user.counted_in(self.hits, mine, metric)
                weights = self.weights[mine]
                alike = len(weights) == 0 or bool((weights == weights[0]).all())
        if self.clusters is not None:
            alike &= len(np.unique(self._cluster_of)) == self.n_users
        return not alike

    def _errors(self, name: str, average: Any, cuts: Ints) -> Errors:
        """Return the standard errors of an average at some k's, and their degrees of freedom."""
        from toplist.averages import moments

        metric, terms = self.terms.asked[name], self.terms
        if isinstance(metric, ListMetric):  # which have no weights
            if self.clusters is None:
                n = getattr(average, "users", np.full(average.mean.shape, np.nan))
                return moments.Errors(average.error, n - 1.0)
            clusters, values = self._cluster_of, np.empty((0, len(average.mean)))
            known = metric.of_truth or not self.n_extra  # of lists without a truth none is known
            if metric.of_users and known and getattr(self.lists, "values", None):
                values = self._list_values(metric)
            return moments.of_values(values, clusters[: len(values)])
        if self.by_rows(name) and self.hits is None:
            return moments.Errors.none(len(average.mean))
        if self.by_rows(name):
            hits, counted = hits_of(self, "it has no intervals")
            mine = per_user.counted_in(hits, weighing(counted, self.weights), metric)
            more = self._units(mine), terms.threshold_in_gains
            return moments.of_rows(hits, mine, metric, cuts, average, *more)
        if terms.weighting is not None:
            return moments.by_kish(average)
        return moments.Errors(average.error, np.full(average.mean.shape, average.n - 1.0))

    @cached
    def _near_ends(self) -> dict[tuple[str, float], tuple[Floats, Floats]]:
        """The ends of intervals at the k's of `_cuts`, by metric and level, once asked for."""
        return {}

    @cached
    def _cluster_of(self) -> Ints:
        """The number of the cluster of every row."""
        from toplist.stats.units import numbered

        return numbered(self.clusters, self.users)

    def _pick(
        self,
        metric: Metric | ListMetric,
        k: int | None,
        near: Floats,
        curve_of: Callable[[Any, Ints], Floats],
    ) -> Any:
        """Return the curve of a metric, or its value at k, of which the part `near` is known."""
        if isinstance(metric, ListMetric):  # below the lists it stays as it is
            self._check_known(metric, k)
            last = len(near) if k is None else min(k, len(near))
            more = self.terms.depth - len(near)
            return np.pad(near, (0, more), "edge") if k is None else float(near[last - 1])
        if k is not None and k <= len(near):
            return float(near[k - 1])
        if len(near) == self.terms.depth:
            return near.copy()
        if k is not None:
            at = np.array([k])
            return float(curve_of(self._average(metric, at), at)[0])
        curve = per_user.empty((self.terms.depth,))
        curve[: len(near)] = near
        for first in range(len(near), len(curve), per_user.PART):
            part = slice(first, min(first + per_user.PART, len(curve)))
            cuts = np.arange(part.start, part.stop) + 1
            curve[part] = curve_of(self._average(metric, cuts), cuts)
        return curve

    def _average(self, metric: Metric, cuts: Ints) -> Any:
        """Return the average of a metric at some k's below the lists; from the hits if need be."""
        kept = self.histograms
        if metric.name in kept.gathered and self.hits is not None and self.counted is not None:
            asked = replace(self.terms, entries=(Entry(metric, tuple(cuts.tolist()), False),))
            kept = _counted(self.hits, self.counted, asked, self.weights)
        return kept.moments(metric, cuts)

    @property
    def _cuts(self) -> Ints:
        """Every k down to which the hits are counted: below it, an average costs its own time."""
        return np.arange(1, min(self.terms.depth, self.histograms.near) + 1)

    @cached
    def _moments(self) -> dict[str, Any]:
        """The mean, std and error of every metric at the k's of `_cuts`, by name."""
        of_lists = {} if self.lists is None else dict(self.lists.averages())
        kept, asked = self.histograms, self.terms.asked
        of_hits = {one.name: kept.moments(one, self._cuts) for one in self.terms.metrics.values()}
        return of_hits | {name: one for name, one in of_lists.items() if name in asked}


def _counted(
    hits: Hits, counted: Bools, asked: Terms, weights: Floats | None, n_threads: int | None = None
) -> Histograms:
    """Return the histograms of what was asked, with every k."""
    return histograms.count(
        hits,
        weighing(counted, weights),
        tuple(asked.measured.values()),
        asked.ks,
        weights,
        pooled=asked.pooled,
        threshold_in_gains=asked.threshold_in_gains,
        n_threads=n_threads,
    )


def weighing(counted: Bools, weights: Floats | None) -> Bools:
    """Return the users in `counted` who weigh something: a weight of 0 counts nothing."""
    return counted if weights is None else counted & (weights > 0)


def n_missing_of(hits: Hits) -> int:
    """Return the number of users with relevant items but without a list."""
    return int(np.count_nonzero((hits.n_relevant > 0) & (hits.n_listed == 0)))


def is_graded(terms: Terms, hits: Hits) -> bool:
    """Return whether ground truths have grades, or a metric reads such."""
    threshold, metrics = terms.threshold_in_gains, terms.metrics.values()
    usual = (one for one in metrics if one.graded and one.earning is None)  # ERR has gains always
    read = (per_user.gains_of(hits, one, threshold) for one in usual)
    return hits.graded or any(one.graded for one in read)


class OwnerlessError(ValueError):
    """Lists that have no ground truth, and of which nothing says whose they are."""


def in_means(result: Means, names: Iterable[str]) -> Bools:
    """Return the users who are in the mean of every one of some metrics, by ``name@k`` or name.

    A weight of 0 counts nothing. Of a metric of the lists, which have no weights, those who have a
    value, at k or at every k, whatever their truth.
    """
    hits, counted = hits_of(result, "its users are not known")
    if result.weights is not None:
        counted = np.logical_and(counted, result.weights > 0)
    asked = _asked_of(result, names)
    if asked and all(isinstance(metric, ListMetric) for metric in asked.values()):
        counted = np.ones(len(hits), bool)
    for given, metric in asked.items():
        if isinstance(metric, Metric):
            counted = per_user.counted_in(hits, counted, metric)
        else:
            counted = np.logical_and(counted, _have_values(result.per_user(given)))
    return counted


def in_means_of_all(result: Means, names: Sequence[str]) -> tuple[Bools, Sequence[Any]]:
    """Return `in_means`, then who else is, with a list and no ground truth; and their keys.

    Nobody else is in means of hits, nor of metrics of the lists that read the ground truth.

    Raises
    ------
    OwnerlessError
        If nobody knows whose the lists are that have no ground truth.
    """
    asked = _asked_of(result, names)
    if not asked or any(isinstance(one, Metric) or one.of_truth for one in asked.values()):
        return in_means(result, names), ()
    n = len(hits_of(result, "its users are not known")[0])
    values, keys = zip(*map(result.values_of_all, asked), strict=True)
    counted = reduce(np.logical_and, map(_have_values, values))
    if keys[0] is None and counted[n:].any():
        raise OwnerlessError(
            f"the means of {', '.join(asked)} are also over {np.count_nonzero(counted[n:]):,} "
            "lists without a ground truth, and nothing says whose they are: evaluate again"
        )
    return (counted[:n], ()) if keys[0] is None else (counted, keys[0])


def _asked_of(result: Means, names: Iterable[str]) -> dict[str, Metric | ListMetric]:
    """Return the metrics of some names, with ``@k`` or without, that are means over users."""
    known = result.terms.asked
    found = {one: known.get(one) or known.get(one.rpartition("@")[0]) for one in names}
    return {
        name: one
        for name, one in found.items()
        if isinstance(one, Metric) or (one is not None and one.of_users)
    }


def _have_values(values: Floats) -> Bools:
    """Return who has a value, of values at one k, or at every k."""
    known = np.isfinite(values).reshape(len(values), -1)
    return np.asarray(known.all(axis=1), bool)


# What there is on Spark instead of values per user in a result.
PER_USER = "collect the DataFrames (toArrow) where values of users are needed"


def hits_of(result: Means, so: str, on_spark: str = PER_USER) -> tuple[Hits, Bools]:
    """Return the hits and whose are in the means; ValueError if the result does not hold them.

    The error says `so`, what does not follow without hits, and what to do, by where the result may
    be from; only Spark makes results that know the moments of their differences (`paired`).
    """
    if result.hits is not None and result.counted is not None:
        return result.hits, result.counted
    if getattr(result, "paired", None) is not None:
        raise ValueError(f"this result of Spark holds no hits, so {so}: {on_spark}")
    raise ValueError(
        f"this result holds no hits, so {so}; of files and streams, keep='users' keeps them; "
        f"of Spark, {on_spark}; what without_users() left and counts of ranks have no hits: "
        "save the result as it is, or evaluate again"
    )


def merged(parts: Sequence[M], disjoint: bool = False) -> M:
    """Merge results over different users, in one step; see `toplist.merge`."""
    from toplist.matching import fingerprints

    parts = in_line(parts)
    first = parts[0]
    for part in parts:
        if part.terms != first.terms:
            raise ValueError(f"cannot merge: {difference(first.terms, part.terms)}")
    if not disjoint and not all(map(has_keys, parts)):
        in_pairs([fingerprints_of(part) for part in parts], fingerprints.merged)
    hits = all_of([part.hits for part in parts])
    if hits and disjoint:
        hits = [_without_fingerprints(one) for one in hits]
    weights = all_of([part.weights for part in parts]) if hits else None
    clusters = all_of([part.clusters for part in parts])
    if clusters is None and any(part.clusters is not None for part in parts):
        raise ValueError("cannot merge: some parts have clusters and others have none")
    lengths = all_of([part.longest for part in parts])
    added = "lists", "scored", "exposed"
    lists, scored, exposed = (all_of([getattr(part, one) for part in parts]) for one in added)
    return type(first)(
        first.terms,
        histograms.merged([part.histograms for part in parts], first.terms.of_judged),
        in_pairs(hits, operator.add) if hits else None,
        np.concatenate([part.counted for part in parts]) if hits else None,
        n_users=sum(part.n_users for part in parts),
        n_missing=sum(part.n_missing for part in parts),
        n_extra=sum(part.n_extra for part in parts),
        weights=np.concatenate(weights) if weights else None,
        clusters=[label for part in clusters for label in part] if clusters else None,
        lists=reduce(operator.add, lists) if lists else None,
        fingerprints=tuple(one for part in parts for one in fingerprints_of(part)),
        graded=any(part.graded for part in parts),
        scored=reduce(operator.add, scored) if scored else None,
        exposed=reduce(operator.add, exposed) if exposed else None,
        longest=None if lengths is None else max(lengths),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        listed=_together([part.listed for part in parts]),
    )


def _together(words: Sequence[NDArray[np.uint64] | None]) -> NDArray[np.uint64] | None:
    """Return the users of all parts, by their words; ValueError for a user who is in two."""
    known = all_of(words)
    if known is None:
        return None
    found = np.concatenate(known)
    if len(np.unique(found)) < len(found):
        raise ValueError("cannot merge: a user has lists in two parts: a user counts once")
    return found


def without_users(result: M) -> M:
    """Return a result without hits and weights; see `TopKResult.without_users`."""
    from toplist.matching.fingerprints import together

    if result.clusters is not None:
        raise ValueError(
            "intervals by clusters follow from the rows, and nothing is left of these: save the "
            "result as it is, and to_dict() and to_pandas() give its figures"
        )
    prints = fingerprints_of(result)
    whole = (together(prints),) if prints else ()
    lists = None if result.lists is None else result.lists.without_users()
    bare = replace(result, hits=None, counted=None, weights=None, lists=lists)
    return replace(bare, fingerprints=whole)


def in_line(results: Sequence[M]) -> list[M]:
    """Return results with one k in the metrics of whole lists, that of the longest of all."""
    k = max((one.terms.longest for one in results), default=0)
    found = []
    for one in results:
        if one.terms.longest:  # of empty lists alone it is 1, where they are read to 0
            hits = None if one.hits is None else one.hits.of_part(k=k)
            one = replace(one, terms=one.terms.with_longest(k), hits=hits)
        found.append(one)
    return found


def all_of(found: Sequence[T | None]) -> list[T] | None:
    """Return the values if no part lacks its own, else None."""
    kept = [one for one in found if one is not None]
    return kept if len(kept) == len(found) else None


def in_pairs(parts: Sequence[T], join: Callable[[T, T], T]) -> T:
    """Join parts in their order, pair by pair: the first is copied log n times and not n times.

    Examples
    --------
    >>> in_pairs(["a", "b", "c"], operator.add)
    'abc'
    """
    while len(parts) > 1:
        pairs = (parts[i : i + 2] for i in range(0, len(parts), 2))
        parts = [join(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return parts[0]


def _without_fingerprints(hits: Hits) -> Hits:
    """Return hits that merge without a look at their ground truths."""
    return hits.of_part(fingerprints=()) if hits.about.fingerprints else hits


def has_keys(result: Means) -> bool:
    """Return whether the users of a result are known by key: then none is merged twice."""
    return result.listed is not None or (result.hits is not None and result.hits.users is not None)


def fingerprints_of(result: Means) -> tuple[Fingerprint, ...]:
    """Return the fingerprints of a result; a part without truths to hash is a part all the same."""
    from toplist.matching.fingerprints import Fingerprint

    if result.fingerprints or result.hits is None:
        return result.fingerprints
    return result.hits.about.fingerprints or (Fingerprint(0, result.n_users, varied=False),)
