"""`Means`: the numbers of an evaluation, at every k; results over different users merge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Literal, Self, overload

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
from toplist.results.terms import Entry, Terms

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
        return plain(self._at(name, "mean", lambda one, _: one.mean))

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
        return plain(self._at(name, "std", lambda one, _: one.std))

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
        if isinstance(metric, ListMetric) and self.clusters is not None:
            self._check_known(metric, k, of_users=True)
        low, high = self._at(name, level, partial(self._ends, metric.name, level))
        return plain(low), plain(high)

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
        return self.lists.parted(metric.name, self.users)[0]

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

    def _ends(self, name: str, level: float, average: Any, cuts: Ints) -> Floats:
        """Return the ends (2, K) of the intervals of an average of a metric at some k's."""
        proportion = name not in self.terms.pooled and self.is_proportion(name)
        if proportion and not self.by_rows(name):
            from statistics import NormalDist  # a fifth of the import of toplist

            z = NormalDist().inv_cdf((1 + level) / 2)
            return np.stack(wilson(average.mean, average.effective, z))
        from toplist.stats.distributions import t_ppf

        error, df = self._errors(name, average, cuts)
        distinct, place = np.unique(np.maximum(np.nan_to_num(df), 1.0), return_inverse=True)
        t = np.array([t_ppf(0.5 + level / 2, one) for one in distinct.tolist()])[place]
        return np.stack(normal(average.mean, error, t, self.is_within_one(name)))

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
    def _cluster_of(self) -> Ints:
        """The number of the cluster of every row."""
        from toplist.stats.units import numbered

        return numbered(self.clusters, self.users)

    def _at(self, name: str, what: Any, of: Callable[[Any, Ints], Floats]) -> Floats:
        """Return what `of` makes of the average of ``"name@k"``, or at every k on the last axis.

        At the k's of `_cuts` it is kept, by the metric and `what`.
        """
        metric, k = self.terms.find(name)
        if isinstance(metric, ListMetric):
            self._check_known(metric, k)
        if (metric.name, what) not in self._kept:
            self._kept[metric.name, what] = of(self._moments[metric.name], self._cuts)
        near, depth = self._kept[metric.name, what], self.terms.depth
        n = near.shape[-1]
        if isinstance(metric, ListMetric):  # below the lists it stays as it is
            last = [min(k or depth, n) - 1] if k else np.minimum(np.arange(depth), n - 1)
            return near[..., last][..., 0] if k else near[..., last]
        if k is not None and k <= n:
            return near[..., k - 1]
        if n == depth:
            return near.copy()
        if k is not None:
            return of(self._average(metric, np.array([k])), np.array([k]))[..., 0]
        curve = per_user.empty((*near.shape[:-1], depth))
        curve[..., :n] = near
        for first in range(n, depth, per_user.PART):
            part = slice(first, min(first + per_user.PART, depth))
            cuts = np.arange(part.start, part.stop) + 1
            curve[..., part] = of(self._average(metric, cuts), cuts)
        return curve

    @cached
    def _kept(self) -> dict[tuple[str, Any], Floats]:
        """What was made of averages at the k's of `_cuts`."""
        return {}

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


def plain(found: Floats) -> Any:
    """Return an array, or a number as one of Python."""
    return found if found.ndim else float(found)


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


def has_keys(result: Means) -> bool:
    """Return whether the users of a result are known by key: then none is merged twice."""
    return result.listed is not None or (result.hits is not None and result.hits.users is not None)
