"""`Means`: the numbers of an evaluation, at every k, and whose they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray

from toplist.averages import moments, per_user
from toplist.averages.histograms import Histograms
from toplist.averages.moments import Errors
from toplist.checks import Bools, Floats, Ints, cached, distinct
from toplist.matching.about import Fingerprint, Unmatched
from toplist.matching.hits import Hits
from toplist.metrics import properties
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.definitions import Metric
from toplist.results.terms import Entry, Terms

if TYPE_CHECKING:  # what few need is imported by them, as `import toplist` must be quick
    from toplist.beyond.results import ListResult
    from toplist.inputs.lists import Scored
    from toplist.metrics.names import AnyName, Name, NameAtK
    from toplist.stats.systems import SystemRef
    from toplist.stats.units import Units

# What there is on Spark instead of values per user in a result.
PER_USER = "collect the DataFrames (toArrow) where values of users are needed"


@dataclass(frozen=True, eq=False, repr=False)
class Means:
    """What `TopKResult` holds, and every number that follows: see there.

    What is said of a result, its segments and its files need no more than this.
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
    exposed: properties.Exposed | None = None
    longest: int | None = None  # of the lists; None where it is unknown
    notes: tuple[str, ...] = ()
    listed: NDArray[np.uint64] | None = None
    paired: SystemRef | None = None

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
        found = asked.count(hits, counted, weights, n_threads)
        missing = per_user.weighing((hits.n_relevant > 0) & (hits.n_listed == 0), weights)
        n_missing = int(np.count_nonzero(missing))
        sizes = len(hits), n_missing, hits.about.n_extra
        given = terms, found, hits, counted, *sizes, weights, clusters
        # whether ground truths have grades, or a metric reads such; ERR has gains always
        usual = (one for one in terms.metrics.values() if one.graded and one.earning is None)
        read = (per_user.gains_of(hits, one, terms.threshold_in_gains) for one in usual)
        graded = hits.graded or any(one.graded for one in read)
        return cls(*given, graded=graded, scored=hits.about.scored, longest=hits.deepest)

    @property
    def n_evaluated(self) -> int:
        """The number of users in the means; `n_of` has that of a metric that counts others."""
        return self.histograms.n_of(self.terms.empty)

    @property
    def n_skipped(self) -> int:
        """The number of users of the ground truth left out of the means, of weight 0 too."""
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

    @overload
    def __getitem__(self, name: Name) -> Floats: ...
    @overload
    def __getitem__(self, name: NameAtK) -> float: ...
    @overload
    def __getitem__(self, name: str) -> Any: ...
    def __getitem__(self, name: str) -> Any:
        """Return the mean at ``"name@k"``, or the curve (K,) of ``"name"``."""
        return self._at(name, lambda *which: self._average(*which).mean)

    @overload
    def std(self, name: Name) -> Floats: ...
    @overload
    def std(self, name: NameAtK) -> float: ...
    @overload
    def std(self, name: str) -> Any: ...
    def std(self, name: str) -> Any:
        """Return the standard deviation over users (ddof = 1), at ``"name@k"`` or of ``"name"``.

        With weights w it is √(Σ w (x - mean)² / (Σ w - Σ w² / Σ w)); NaN of ratios of sums.
        """
        return self._at(name, lambda *which: self._average(*which).std)

    @overload
    def interval(self, name: Name, level: float = ...) -> tuple[Floats, Floats]: ...
    @overload
    def interval(self, name: NameAtK, level: float = ...) -> tuple[float, float]: ...
    @overload
    def interval(self, name: str, level: float = ...) -> tuple[Any, Any]: ...
    def interval(self, name: str, level: float = 0.95) -> tuple[Any, Any]:
        """Return the ends of the confidence interval of a mean.

        It is mean ± t · error, cut to [0, 1] where the metric cannot leave it: cg and dcg where no
        user has several relevant items and all gains are 1, and under SNIPS. Of n users without
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

        Equal weights of those in the mean are as none. So are clusters, where every row is one by
        itself, also the rows left out of the mean.

        Under ``propensities=``, with other weights too, but not in clusters, units count as Kish's
        effective number of users n' = (Σ w)² / Σ w², of ratios (Σ w y)² / Σ (w y)², but as 2 where
        it is less; df is n' - 1. Wilson's n is that of as many users without weights as would be as
        certain, p (1 - p) (Σ w)² / Σ w² (x - p)²::

            error² = Σ w² (x - mean)² / (Σ w)² · n' / (n' - 1)

        NaN for fewer than two rows or clusters, but for Wilson's; and with weights or clusters, of
        a result that holds no hits, as its rows are gone. So for metrics of the lists themselves by
        clusters where there are lists without a ground truth, which have none.

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
        self._find(name, of_users=self.clusters is not None)
        low, high = self._at(name, partial(self._ends, level))
        return low, high

    @overload
    def per_user(self, name: AnyName, *, keyed: Literal[False] = ...) -> Floats: ...
    @overload
    def per_user(self, name: AnyName, *, keyed: Literal[True]) -> dict[Any, Any]: ...
    def per_user(self, name: AnyName, *, keyed: bool = False) -> Any:
        """Return the values of each user: (n_users,) for ``"name@k"``, (n_users, K) for ``"name"``.

        Users left out of the means have NaN; those of weight 0 keep their values. The rows are in
        the order of ``users``, that of the ground truths; with `keyed`, a dict user -> value, or
        -> array (K,), of which no order is ever mistaken.

        Raises
        ------
        ValueError
            If the result does not hold its hits.
        """
        values = self.values_of_all(name)[0][: self.n_users]
        if not keyed:
            return values
        rows = values.tolist() if values.ndim == 1 else values
        return dict(zip(self.users, rows, strict=True))

    def values_of_all(self, name: AnyName) -> tuple[Floats, Sequence[Any] | None]:
        """Return the values of each user, then those of lists without a ground truth.

        And whose these lists are, where that is known. Only metrics of the lists have such.
        """
        metric, k = self.terms.find(name)
        if getattr(metric, "of_users", True):  # others have none, kept or not, and say so
            hits, counted = self.held("it has no values per user")
        if isinstance(metric, ListMetric):
            assert self.lists is not None
            own, others, keys = self.lists.parted(metric.name, self.users)
            self.lists.check_known(metric.name, k, of_users=True)
            curves, depth = np.concatenate([own, others]), self.terms.depth
            if k is not None:
                return metric.at(curves, np.array([k]))[:, 0], keys
            per_user.empty((len(curves), depth))
            return metric.at(curves, np.arange(1, depth + 1)), keys
        read, counted = per_user.read_by(metric, hits, counted, self.terms.threshold_in_gains)
        if k is None:
            return per_user.curves(read, counted, metric, self.terms.depth), None
        return per_user.values(read, counted, metric, k), None

    @property
    def has_keys(self) -> bool:
        """Whether the users are known by key: then none is merged twice."""
        return self.listed is not None or (self.hits is not None and self.hits.users is not None)

    @property
    def prints(self) -> tuple[Fingerprint, ...]:
        """The fingerprints; a part without truths to hash is a part all the same."""
        if self.fingerprints or self.hits is None:
            return self.fingerprints
        return self.hits.about.fingerprints or (Fingerprint(0, self.n_users, varied=False),)

    def held(self, so: str, on_spark: str = PER_USER) -> tuple[Hits, Bools]:
        """Return the hits and whose are in the means; ValueError if the result does not hold them.

        The error says `so`, what does not follow without hits, and what to do, by where the result
        may be from; only Spark makes results that know the moments of their differences (`paired`).
        """
        if self.hits is not None and self.counted is not None:
            return self.hits, self.counted
        if self.paired is not None:
            raise ValueError(f"this result of Spark holds no hits, so {so}: {on_spark}")
        raise ValueError(
            f"this result holds no hits, so {so}; of files and streams, keep='users' keeps them; "
            f"of Spark, {on_spark}; what without_users() left and counts of ranks have no hits: "
            "save the result as it is, or evaluate again"
        )

    def in_means(self, names: Iterable[str]) -> Bools:
        """Return the users in the mean of every one of some metrics, by ``name@k`` or name.

        A weight of 0 counts nothing. Of a metric of the lists, those who have a value, at k or at
        every k, whatever their truth.
        """
        names = list(names)
        hits, counted = self.held("its users are not known")
        asked, weights = self._over_users(names), self.weights_of(names)
        if asked and all(isinstance(metric, ListMetric) for metric in asked.values()):
            counted = np.ones(len(hits), bool)
        counted = per_user.weighing(counted, None if weights is None else weights[: len(hits)])
        for given, metric in asked.items():
            if isinstance(metric, Metric):
                counted = per_user.counted_in(hits, counted, metric)
            else:
                counted = np.logical_and(counted, per_user.have_values(self.per_user(given)))
        return counted

    def in_means_of_all(self, names: Sequence[str]) -> tuple[Bools, Sequence[Any]]:
        """Return `in_means`, then who else is, with a list and no ground truth; and their keys.

        Nobody else is in means of hits, nor of metrics of the lists that read the ground truth.

        Raises
        ------
        ValueError
            If nobody knows whose the lists are that have no ground truth.
        """
        asked = self._over_users(names)
        if not asked or any(isinstance(one, Metric) or one.of_truth for one in asked.values()):
            return self.in_means(names), ()
        n = len(self.held("its users are not known")[0])
        values, keys = zip(*map(self.values_of_all, asked), strict=True)
        counted = reduce(np.logical_and, map(per_user.have_values, values))
        counted = per_user.weighing(counted, self.weights_of(names))
        if keys[0] is None and counted[n:].any():
            raise ValueError(
                f"the means of {', '.join(asked)} are also over {np.count_nonzero(counted[n:]):,} "
                "lists without a ground truth, and nothing says whose they are: evaluate again"
            )
        return (counted[:n], ()) if keys[0] is None else (counted, keys[0])

    def weights_of(self, names: Sequence[str]) -> Floats | None:
        """Return the weights of users in the means of some metrics; None without weights.

        Of metrics of the lists alone these are given weights of users, without what their relevant
        items weigh: of the rows, then of lists without a ground truth.
        """
        asked = self._over_users(names)
        if not asked or any(isinstance(one, Metric) for one in asked.values()):
            return self.weights
        if self.lists is None or self.hits is None:
            return None
        return self.lists.weights_of(self.users)

    def _over_users(self, names: Iterable[str]) -> dict[str, Metric | ListMetric]:
        """Return the metrics of some names, with ``@k`` or without, that are means over users."""
        known = self.terms.asked
        found = ((one, known.get(one) or known.get(one.rpartition("@")[0])) for one in names)
        return {name: one for name, one in found if one and getattr(one, "of_users", True)}

    def _find(self, name: str, of_users: bool = False) -> tuple[Metric | ListMetric, int | None]:
        """Return the metric and the k of a name; ValueError where a loaded result lacks them."""
        metric, k = self.terms.find(name)
        if self.lists is not None:
            self.lists.check_known(metric.name, k, of_users)
        return metric, k

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
        several = [f"{one.name}@{k}" if k else one.name for one, k in found]
        return self._units(self.in_means(several), self.weights_of(several))

    def _units(self, counted: Bools, weights: Floats | None) -> Units:
        """Return the units of some rows, of all whose weights these are."""
        from toplist.stats.units import Units

        clusters = None if self.clusters is None else self._cluster_of
        own = None if weights is None else weights[: len(counted)]
        return Units(len(counted), own, clusters).at(counted)

    def n_of(self, name: AnyName) -> int:
        """Return the number of users in a mean; for a metric of all lists, the number of lists."""
        metric, k = self.terms.find(name)
        if isinstance(metric, ListMetric):
            self._find(f"{metric.name}@{k or self.terms.depth}")
            return int(self._moments[metric.name].n_at(k))
        return self.histograms.n_of(metric.empty, metric)

    def names(self) -> list[str]:
        """Return the ``name@k`` of every mean, in the order asked for."""
        return self.terms.names

    def _population_of(self, metric: Metric) -> properties.Population:
        """Return what is known of the users of a metric, which may count more items."""
        n_relevant = self.histograms.n_relevant[self.histograms.n_users > 0]
        single = 0 <= n_relevant.max(initial=-1) <= 1
        least, usual = metric.relevant_from, self.terms.grading.relevant_from
        fewer = least is None or (least > 0 if usual is None else least >= usual)
        counts_no_more = fewer and metric.of != "judged"
        return properties.Population(bool(single and counts_no_more), self.graded)

    def identity(self, name: str) -> Any:
        """Return a key that is equal for metrics that are equal by definition.

        They are equal at the same k; of ``name@1``, at that k alone.
        """
        name, _, k = name.partition("@")
        metric, at_one = self.terms.asked.get(name), k == "1"
        if not isinstance(metric, Metric):
            return metric, name
        ks, pooled = self.terms.ks_of[name], name in self.terms.pooled
        key = properties.identity(metric, self._population_of(metric), pooled, at_one=at_one)
        return key, metric.empty, 1 in ks if at_one else ks

    def interval_kind(self, name: str) -> str:
        """Return the kind of the interval of a metric, without ``@``, in a word."""
        if name in self.by_rows:
            return "Student's t, weighted (CR2)" if self.clusters is None else "by clusters (CR2)"
        if name in self.terms.pooled:
            return "delta method"
        return "Wilson" if self.is_proportion(name) else "Student's t"

    def is_proportion(self, name: str) -> bool:
        """Return whether the mean of a metric, without ``@``, is a proportion by definition."""
        return self._bounds.get(name) == "0 or 1"

    def is_within_one(self, name: str) -> bool:
        """Return whether a metric, without ``@``, is from 0 to 1 by definition."""
        return self._bounds[name] != ""

    @cached
    def _bounds(self) -> dict[str, str]:
        """What a user's value is by definition: "0 or 1", "within 1" or "" for any number."""

        def bound(metric: Metric | ListMetric) -> str:
            if isinstance(metric, ListMetric):
                return "within 1" * metric.within_one
            if properties.is_proportion(metric):
                return "0 or 1"
            users = self._population_of(metric)
            if self.terms.weighting == "snips":  # a mean over relevant items, each by itself
                users = properties.Population(single=True, graded=False)
            return "within 1" * properties.is_within_one(metric, users)

        return {name: bound(metric) for name, metric in self.terms.asked.items()}

    def _ends(self, level: float, metric: Metric | ListMetric, cuts: Ints) -> Floats:
        """Return the ends (2, K) of the intervals of a metric at some k's."""
        from toplist.stats.distributions import normal_ppf, t_ppf

        name, average = metric.name, self._average(metric, cuts)
        if self.interval_kind(name) == "Wilson":
            return np.stack(
                moments.wilson(average.mean, average.effective, normal_ppf((1 + level) / 2))
            )
        error, df, _ = self._errors(metric, cuts)
        distinct, place = np.unique(np.maximum(np.nan_to_num(df), 1.0), return_inverse=True)
        t = np.array([t_ppf(0.5 + level / 2, one) for one in distinct.tolist()])[place]
        return np.stack(moments.normal(average.mean, error, t, self.is_within_one(name)))

    def df_of(self, name: str) -> float:
        """Return the degrees of freedom of Student's t at ``name@k``."""
        metric, k = self._find(name)
        return float(self._errors(metric, np.array([k])).df[0])

    def skewed(self, name: str) -> float:
        """Return how many times more users Student's t needs at ``name@k``, as values are skewed.

        Above 1 its interval is printed as rough: n users are few below 25 skewness², as in tests.
        In simulations such intervals covered 60 to 93 %, and others 93 to 96 (benchmarks/sizes.py).
        With weights, of clusters and of ratios of sums it is the skewness of what users add to the
        error. Of others, and of ratios where users are gone, it is the least that values of this
        mean and spread have.

        Examples
        --------
        >>> import toplist as tl
        >>> few = tl.Hits.from_ranks([1] * 5 + [0] * 95, n_listed=10)
        >>> round(tl.top_k_eval(few, k=10, metrics="mrr").skewed("mrr@10"), 1)
        4.3
        """
        from toplist.stats.estimates import SKEWED

        metric, k = self._find(name)
        if k is None or self.interval_kind(metric.name) == "Wilson":
            return 0.0
        at_k, of_ratio = np.array([k]), metric.name in self.terms.pooled
        if metric.name in self.by_rows:
            return float(np.nan_to_num(SKEWED * self._errors(metric, at_k).skew[0]))
        average, error = self._average(metric, at_k), float(self._errors(metric, at_k).error[0])
        # a ratio r is the mean of r + (x - r y) / mean y, which has its error (`Units.linearised`)
        std = error * average.n**0.5 if of_ratio else float(average.std[0])
        mean = float(average.mean[0])
        within_one = self.is_within_one(metric.name)
        if not std > 0 or not (isinstance(metric, Metric) or within_one):  # others may be below 0
            return 0.0
        if of_ratio and self.hits is not None:
            return float(SKEWED * self._known_errors(metric, at_k).skew[0])
        cubes = self.histograms.cubes(metric, k) if isinstance(metric, Metric) else 0.0
        return SKEWED * (moments.least_skewness(mean, std, cubes, within_one) * error / std) ** 2

    @cached
    def by_rows(self) -> frozenset[str]:
        """The metrics whose errors go by rows, with weights or in clusters: not by sums alone.

        Equal weights of those in the mean, and clusters of one row each, are as none. Weights of
        relevant items (``propensities=``) are no such weights.
        """
        terms = self.terms
        if self.clusters is not None and len(distinct(self._cluster_of)) < self.n_users:
            return frozenset(terms.asked)
        return frozenset(name for name, one in terms.asked.items() if self._weighs_apart(one))

    def _weighs_apart(self, metric: Metric | ListMetric) -> bool:
        """Return whether a mean has weights of users that differ, or are not known any more."""
        weights = self.weights_of([metric.name])
        if isinstance(metric, ListMetric):
            weighted = getattr(self._moments[metric.name], "weight", None) is not None
            some = None if weights is None else weights > 0
        else:
            weighted, some = self.terms.weighted and self.terms.weighting is None, None
            if weighted and self.hits is not None and self.counted is not None:
                mine = per_user.weighing(self.counted, weights)
                some = per_user.counted_in(self.hits, mine, metric)
        if not weighted:
            return False
        return weights is None or some is None or len(np.unique(weights[some])) > 1

    def _errors(self, metric: Metric | ListMetric, cuts: Ints) -> Errors:
        """Return the standard errors of a mean at some k's, and degrees of freedom."""
        if metric.name not in self.by_rows:
            average = self._average(metric, cuts)
            if self.terms.weighting is not None and isinstance(metric, Metric):
                return moments.by_kish(average)
            # of lists, n is another at each k
            return Errors(average.error, getattr(average, "users", average.n) - 1.0)
        if isinstance(metric, ListMetric):  # below the lists there is nothing new
            known = len(self._moments[metric.name].mean)
            columns, place = np.unique(np.minimum(cuts, known), return_inverse=True)
            error, df, skew = self._known_errors(metric, columns)
            return Errors(error[place] * metric.share(known, cuts), df[place], skew[place])
        return self._known_errors(metric, cuts)

    def _known_errors(self, metric: Metric | ListMetric, cuts: Ints) -> Errors:
        """Return the errors at some k's; down to the last of `_cuts` rows are read once."""
        near = min(len(self._moments[metric.name].mean), len(self._cuts))
        if cuts[-1] > near:
            return self._of_rows(metric, cuts)
        if metric.name not in self._row_errors:
            self._row_errors[metric.name] = self._of_rows(metric, np.arange(near) + 1)
        return Errors(*(one[cuts - 1] for one in self._row_errors[metric.name]))

    @cached
    def _row_errors(self) -> dict[str, Errors]:
        return {}

    def _of_rows(self, metric: Metric | ListMetric, cuts: Ints) -> Errors:
        if isinstance(metric, ListMetric):
            values, clusters = np.empty((0, len(cuts))), None
            weights = self.weights_of([metric.name])
            lists = self.lists if metric.of_users and self.hits is not None else None
            if lists is not None and lists.values:
                own, others, _ = lists.parted(metric.name, self.users)
                values = np.concatenate([own, others])[:, cuts - 1]
            if self.clusters is not None:
                clusters = self._cluster_of
                # of lists without a ground truth none is known
                values = values[: len(clusters) if metric.of_truth or not self.n_extra else 0]
            return moments.of_values(
                values, None if weights is None else weights[: len(values)], clusters
            )
        if self.hits is None or self.counted is None:
            return Errors(*np.full((3, len(cuts)), np.nan))
        mine = per_user.counted_in(self.hits, per_user.weighing(self.counted, self.weights), metric)
        units = self._units(mine, self.weights)
        more = self._average(metric, cuts), units, self.terms.threshold_in_gains
        return moments.of_rows(self.hits, mine, metric, cuts, *more)

    @cached
    def _cluster_of(self) -> Ints:
        """The number of the cluster of every row."""
        from toplist.stats.units import numbered

        return numbered(self.clusters, self.users)

    def _at(self, name: str, of: Callable[[Any, Ints], Floats]) -> Any:
        """Return what `of` makes of a metric and some k's: numbers at ``"name@k"``, or curves."""
        metric, k = self._find(name)
        if k is not None:
            return of(metric, np.array([k]))[..., 0].tolist()
        near, depth = len(self._cuts), self.terms.depth
        first = of(metric, self._cuts)
        curve = per_user.empty((*first.shape[:-1], depth))
        curve[..., :near] = first
        for start in range(near, depth, per_user.PART):
            cuts = np.arange(start, min(start + per_user.PART, depth)) + 1
            curve[..., cuts - 1] = of(metric, cuts)
        return curve

    def _average(self, metric: Metric | ListMetric, cuts: Ints) -> Any:
        """Return the average of a metric at some k's, which rise."""
        if isinstance(metric, ListMetric):
            return self._moments[metric.name].at(metric, cuts)
        if cuts[-1] <= len(self._cuts):
            return moments.at(self._moments[metric.name], cuts - 1)
        kept = self.histograms
        if metric.name in kept.gathered and self.hits is not None and self.counted is not None:
            asked = replace(self.terms, entries=(Entry(metric, tuple(cuts.tolist()), False),))
            kept = asked.count(self.hits, self.counted, self.weights)
        return kept.moments(metric, cuts)

    @property
    def _cuts(self) -> Ints:
        """Every k down to which the hits are counted: below it, an average costs its own time."""
        return np.arange(1, min(self.terms.depth, self.histograms.near) + 1)

    @cached
    def _moments(self) -> dict[str, Any]:
        """The averages of every metric by name: of hits at the k's of `_cuts`."""
        of_lists = {} if self.lists is None else dict(self.lists.averages())
        kept, asked = self.histograms, self.terms.asked
        of_hits = {one.name: kept.moments(one, self._cuts) for one in self.terms.metrics.values()}
        return of_hits | {name: one for name, one in of_lists.items() if name in asked}
