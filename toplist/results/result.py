"""`TopKResult`: what an evaluation returns, displayed as a table; `merge` of several."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from toplist.averages import histograms, per_user
from toplist.averages.histograms import Histograms
from toplist.averages.moments import Errors, at, by_kish, normal, of_rows, of_values, wilson
from toplist.checks import Bools, Floats, Ints, cached, choice, equal, prefixed
from toplist.matching.about import Fingerprint, Unmatched, merged_fingerprints, together
from toplist.matching.hits import Hits
from toplist.metrics import properties
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.definitions import Metric
from toplist.metrics.names import keys_of, metric_meant
from toplist.results.markup import Display, Grid
from toplist.results.terms import Entry, Terms, chosen, common

# What few need is imported by them, as `import toplist` must be quick.
if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from toplist.beyond.results import ListResult
    from toplist.inputs.lists import Scored
    from toplist.metrics.names import AnyName, Name, NameAtK, Names
    from toplist.results.markup import Page
    from toplist.results.saved import PathLike
    from toplist.results.segments import Bounds, Segments
    from toplist.stats.systems import SystemRef
    from toplist.stats.units import Units

T = TypeVar("T")

# What there is on Spark instead of values per user in a result.
PER_USER = "collect the DataFrames (toArrow) where values of users are needed"


@dataclass(frozen=True, eq=False, repr=False)
class TopKResult(Display):
    """Means of metrics over users, at every k up to the largest asked for.

    Returned by `toplist.top_k_eval`. Iterating yields one value per entry of its `metrics`: a
    float for one k or ``"ndcg@10"``, else an array over the k's. ``result["ndcg@7"]`` is the mean
    at any k up to the largest, ``result["ndcg"]`` the whole curve. Values are rounded only in
    print. ``a + b`` merges two results over different users, `toplist.merge` many.

    ``a == b`` is True where both say the same to the last bit: what was asked, by which rules, of
    how many users, and every mean and spread at every k; NaN equals NaN. The users themselves are
    no part of it, so that a result equals itself without users. (Parts that were merged have the
    means of the whole to the last bit, but standard deviations may differ in the last digits.)
    Results are not hashable: keep them in a dict by the name of the system.

    Attributes
    ----------
    ks : tuple of int
        The k's asked for, rising.
    n_users : int
        Users of the ground truth: `n_evaluated` + `n_skipped`.
    n_evaluated, n_skipped : int
        Users in the means, and users left out: those with an empty ground truth, and those
        without a list under the policy ``missing="skip"``.
    n_missing : int
        Users with relevant items but without a list, or with an empty one; none of weight 0.
    n_extra : int
        Users with a list but without a ground truth; they have no row.
    users : sequence
        The users' keys in the order of the rows; their positions where there are no keys.
    weights : (n_users,) float64, or None
        The weight of each user in the means.
    clusters : sequence, or None
        The cluster of each row, such as the user of a session; intervals and tests are by these.
    n_clusters : int
        Clusters with a row in the means; ``n_clusters_of("bpref")`` of one metric. 0 without any.
    hits, counted : Hits and (n_users,) bool, or None
        The hits, and whose are in the means; values per user and segments follow from them.
    terms : Terms
        What was asked, and by which rules.
    histograms : Histograms
        The counts of hits that the means follow from.
    lists : ListResult or None
        The metrics of the lists themselves (coverage, Gini, popularity), where asked for.
    fingerprints : tuple of Fingerprint
        The ground truths, one per part: by them, parts over the same users are refused.
    unmatched : Unmatched or None
        Of files read in parts, examples of ids where nobody has a hit.
    graded : bool
        Whether ground truths had grades, other than 1 for all that is relevant.
    longest : int or None
        The length of the longest list, as deep as lists were read; None where it is unknown.
    scored : Scored or None
        Of lists with scores, how many items share theirs with a neighbour, of how many.
    listed : (n_users,) uint64 or None
        Of ``keep="part"``, words of the users, by which `toplist.merge` knows who is in no part.
    notes : tuple of str
        What was done to read the lists, a line each: that a file was sorted, say.
    exposed : Exposed or None
        Under ``propensities=``, how many relevant items count 1 / p, and their effective number.
    paired : SystemRef or None
        Of several systems in one evaluation on Spark, the moments of their differences, by
        which they are tested without users. Neither ``+`` nor `save` keeps them.

    Examples
    --------
    >>> from toplist import top_k_eval
    >>> a = top_k_eval([[1, 2]], [{2}], k=2, metrics=["mrr"])
    >>> b = top_k_eval([[1, 2], [3]], [{1}, {9}], k=2, metrics=["mrr"])
    >>> (a + b)["mrr@2"], (a + b).per_user("mrr@2").tolist()
    (0.5, [0.5, 1.0, 0.0])
    >>> a == a.without_users(), a == b
    (True, False)
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
    ) -> TopKResult:
        """Return the means of the users in `counted`, from the hits of all.

        Where the terms have no k, averages that need the users' curves are kept down to `depth`, or
        the longest list.
        """
        asked = terms.with_depth(max(depth, hits.k))
        found = _counted(hits, counted, asked, weights, n_threads)
        missing = weighing((hits.n_relevant > 0) & (hits.n_listed == 0), weights)
        n_missing = int(np.count_nonzero(missing))
        sizes = len(hits), n_missing, hits.about.n_extra
        given = terms, found, hits, counted, *sizes, weights, clusters
        # whether ground truths have grades, or a metric reads such; ERR has gains always
        usual = (one for one in terms.metrics.values() if one.graded and one.earning is None)
        read = (per_user.gains_of(hits, one, terms.threshold_in_gains) for one in usual)
        graded = hits.graded or any(one.graded for one in read)
        return cls(*given, graded=graded, scored=hits.about.scored, longest=hits.deepest)

    if not TYPE_CHECKING:  # a type checker is to find wrong names itself

        def __getattr__(self, name: str) -> Any:
            """Raise AttributeError; for ``result.ndcg`` it says ``result["ndcg"]``."""
            text = f"{type(self).__name__!r} object has no attribute {name!r}"
            # "terms" is absent while a result is unpickled
            private = name.startswith("_") or name == "terms"
            if name == "to_bytes":
                text += ": save(path) writes a file, and pickle.dumps(result) gives bytes"
            meant = None if private else metric_meant(name, self.terms.asked)
            if meant is None or meant not in self:
                raise AttributeError(text, name=name, obj=self)
            raise AttributeError(f"{text} (did you mean result[{meant!r}]?)")

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
        return self._at(name, lambda *which: self._average(*which).mean)

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
        return self._at(name, lambda *which: self._average(*which).std)

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
        self._find(name, of_users=self.clusters is not None)
        low, high = self._at(name, partial(self._ends, level))
        return low, high

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
        if isinstance(metric, ListMetric):
            assert self.lists is not None
            own, others, keys = self.lists.parted(metric.name, self.users)
            self.lists.check_known(metric.name, k, of_users=True)
            curves, depth = np.concatenate([own, others]), self.terms.depth
            width = curves.shape[1]  # below the lists it stays as it is
            if k is not None:
                return curves[:, min(k, width) - 1], keys
            per_user.empty((len(curves), depth))
            return np.pad(curves, ((0, 0), (0, depth - width)), "edge"), keys
        hits, counted = self.held("it has no values per user")
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

        A weight of 0 counts nothing. Of a metric of the lists, which have no weights, those who
        have a value, at k or at every k, whatever their truth.
        """
        hits, counted = self.held("its users are not known")
        counted, asked = weighing(counted, self.weights), self._over_users(names)
        if asked and all(isinstance(metric, ListMetric) for metric in asked.values()):
            counted = np.ones(len(hits), bool)
        for given, metric in asked.items():
            if isinstance(metric, Metric):
                counted = per_user.counted_in(hits, counted, metric)
            else:
                counted = np.logical_and(counted, _have_values(self.per_user(given)))
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
        counted = reduce(np.logical_and, map(_have_values, values))
        if keys[0] is None and counted[n:].any():
            raise ValueError(
                f"the means of {', '.join(asked)} are also over {np.count_nonzero(counted[n:]):,} "
                "lists without a ground truth, and nothing says whose they are: evaluate again"
            )
        return (counted[:n], ()) if keys[0] is None else (counted, keys[0])

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
        counted = self.in_means([f"{one.name}@{k}" if k else one.name for one, k in found])
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
            self._find(f"{metric.name}@{k or self.terms.depth}")
            return int(self._moments[metric.name].n_at(k))
        return self.histograms.n_of(metric.empty, metric)

    def __eq__(self, other: object) -> bool:
        """Return whether both say the same to the last bit; users are no part of it."""
        if not isinstance(other, TopKResult):
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

    def _population_of(self, metric: Metric) -> properties.Population:
        """Return what is known of the users of a metric, which may count more items."""
        n_relevant = self.histograms.n_relevant[self.histograms.n_users > 0]
        least, usual = metric.relevant_from, self.terms.grading.relevant_from
        fewer = least is None or (least > 0 if usual is None else least >= usual)
        single = fewer and metric.of != "judged" and 0 <= n_relevant.max(initial=-1) <= 1
        return properties.Population(bool(single), self.graded)

    def identity(self, name: str) -> Any:
        """Return a key that is equal for metrics that are equal by definition.

        They are equal at the same k; of ``name@1``, at that k alone.
        """
        name, _, k = name.partition("@")
        metric, terms = self.terms.asked.get(name), self.terms
        if not isinstance(metric, Metric):
            return metric, name
        ks, population = terms.ks_of[name], self._population_of(metric)
        key = properties.identity(metric, population, name in terms.pooled, at_one=k == "1")
        return key, metric.empty, 1 in ks if k == "1" else ks

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
                return "within 1" if metric.within_one else ""
            if properties.is_proportion(metric):
                return "0 or 1"
            population = self._population_of(metric)
            if self.terms.weighting == "snips":  # a mean over relevant items, each by itself
                population = replace(population, single=True, graded=False)
            return "within 1" if properties.is_within_one(metric, population) else ""

        return {name: bound(metric) for name, metric in self.terms.asked.items()}

    def _ends(self, level: float, metric: Metric | ListMetric, cuts: Ints) -> Floats:
        """Return the ends (2, K) of the intervals of a metric at some k's."""
        from toplist.stats.distributions import normal_ppf, t_ppf

        name, average = metric.name, self._average(metric, cuts)
        if self.interval_kind(name) == "Wilson":
            return np.stack(wilson(average.mean, average.effective, normal_ppf((1 + level) / 2)))
        if name in self.by_rows:
            error, df = self._errors(metric, cuts)
        elif self.terms.weighting is not None and isinstance(metric, Metric):
            error, df = by_kish(average)
        else:  # of lists, n is another at each k
            error, df = average.error, getattr(average, "users", average.n) - 1.0
        distinct, place = np.unique(np.maximum(np.nan_to_num(df), 1.0), return_inverse=True)
        t = np.array([t_ppf(0.5 + level / 2, one) for one in distinct.tolist()])[place]
        return np.stack(normal(average.mean, error, t, self.is_within_one(name)))

    @cached
    def by_rows(self) -> frozenset[str]:
        """The metrics whose errors go by rows, with weights or in clusters: not by sums alone.

        Equal weights of those in the mean, and clusters of one row each, are as none. Weights of
        relevant items (``propensities=``) are no such weights.
        """
        terms, weights = self.terms, self.weights
        if self.clusters is not None and len(np.unique(self._cluster_of)) < self.n_users:
            return frozenset(terms.asked)
        if not terms.weighted or terms.weighting is not None:
            return frozenset()
        if self.hits is None or self.counted is None or weights is None:
            return frozenset(terms.metrics)
        mine = weighing(self.counted, weights)
        of = {n: per_user.counted_in(self.hits, mine, one) for n, one in terms.metrics.items()}
        return frozenset(name for name, rows in of.items() if len(np.unique(weights[rows])) > 1)

    def _errors(self, metric: Metric | ListMetric, cuts: Ints) -> Errors:
        """Return the standard errors of a mean at some k's by its rows, and degrees of freedom."""
        known = len(self._moments[metric.name].mean)
        if isinstance(metric, Metric) and cuts[-1] > known:
            return self._of_rows(metric, cuts)
        if metric.name not in self._row_errors:  # rows are read once for all k's
            self._row_errors[metric.name] = self._of_rows(metric, np.arange(known) + 1)
        return Errors(*(one[np.minimum(cuts, known) - 1] for one in self._row_errors[metric.name]))

    @cached
    def _row_errors(self) -> dict[str, Errors]:
        return {}

    def _of_rows(self, metric: Metric | ListMetric, cuts: Ints) -> Errors:
        if isinstance(metric, ListMetric):  # which have no weights
            values = np.empty((0, len(cuts)))
            known = metric.of_truth or not self.n_extra  # of lists without a truth none is known
            if metric.of_users and known and self.lists is not None and self.lists.values:
                values = self.lists.parted(metric.name, self.users)[0]
            return of_values(values, self._cluster_of[: len(values)])
        if self.hits is None or self.counted is None:
            return Errors(*np.full((2, len(cuts)), np.nan))
        mine = per_user.counted_in(self.hits, weighing(self.counted, self.weights), metric)
        more = self._average(metric, cuts), self._units(mine), self.terms.threshold_in_gains
        return of_rows(self.hits, mine, metric, cuts, *more)

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
        if isinstance(metric, ListMetric):  # below the lists it stays as it is
            known = self._moments[metric.name]
            return at(known, np.minimum(cuts, len(known.mean)) - 1)
        if cuts[-1] <= len(self._cuts):
            return at(self._moments[metric.name], cuts - 1)
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
        """The averages of every metric by name: of hits at the k's of `_cuts`."""
        of_lists = {} if self.lists is None else dict(self.lists.averages())
        kept, asked = self.histograms, self.terms.asked
        of_hits = {one.name: kept.moments(one, self._cuts) for one in self.terms.metrics.values()}
        return of_hits | {name: one for name, one in of_lists.items() if name in asked}

    def _ipython_key_completions_(self) -> list[str]:
        """Return what IPython and Jupyter complete after ``result["``: means, then curves."""
        return [*self.names(), *self.terms.asked]

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

    def __add__(self, other: TopKResult) -> TopKResult:
        """Merge two results over different users.

        Raises
        ------
        ValueError
            If metrics, k, convention or policies differ, or a user is in both; of users by
            position, if both parts have the same ground truths.
        """
        return merge([self, other]) if isinstance(other, TopKResult) else NotImplemented

    def __radd__(self, other: Any) -> TopKResult:
        """Let ``sum(results)`` start from 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def formula(self, name: AnyName, style: properties.Style = "text") -> str:
        """Return the exact formula of a metric, with its policies and the number of users.

        Parameters
        ----------
        name : str
            ``"name"`` or ``"name@k"``.
        style : {"text", "latex"}
        """
        choice("style", style, properties.STYLES)
        from toplist.results import describe

        return describe.explanation(self, self.terms.find(name)[0], style)

    def bounds(self, name: AnyName) -> Bounds:
        """Return the least and the largest mean for all judgements of the unjudged items.

        Each unjudged item of the first k may be not relevant, or relevant with a gain up to the
        largest of all ground truths (1 where no grade is above 0; of listed items, where R counts
        these). R grows by those that are, and so does nDCG's ideal list. Both ends are reached by
        some judgement. The width shows what the holes of the judgements can hide (Moffat and Zobel
        2008 call it the residual of RBP).

        Where no relevant item lowers a metric, `low` is the mean as it is, and `high` that if all
        unjudged items are relevant: of hit, precision, recall, mrr, f1, rbp, cg, dcg and err. Of
        map, ndcg, r_precision and the like it is not so: one more relevant item makes R grow, and
        may stand below the hits. Their bounds are of users one by one; with grades, ndcg and nerr
        have none.

        An item is judged that has a grade, 0 included. Where no truth has a grade 0, as with sets,
        every item that is not in the truth counts as unjudged. So do later copies of an item
        (``duplicates="first"``), which no judgement makes relevant: `high` may then be too high.
        The users are those of the mean.

        Parameters
        ----------
        name : str
            ``"precision@3"``; without k where the metric was asked for at one k.

        Returns
        -------
        Bounds
            A named tuple (low, high) of floats.

        Raises
        ------
        KeyError
            For a name that the result does not have.
        ValueError
            For metrics that do not read what is relevant (of the lists themselves, and judged),
            bpref and functions of your own, of grades also ndcg and nerr, with ``empty="one"`` also
            cg, dcg and err, and as pooled ratios; for ground truths of groups; for results of
            ``unjudged="drop"``, with propensities, and without hits.

        Examples
        --------
        >>> from toplist import top_k_eval
        >>> grades = {"a": 1, "b": 0, "c": 2}
        >>> result = top_k_eval(["x", "a", "b", "c"], grades, 3, metrics=["precision", "rbp"])
        >>> [round(end, 4) for end in result.bounds("precision@3")]
        [0.3333, 0.6667]
        >>> [round(end, 4) for end in result.bounds("rbp@3")]
        [0.16, 0.36]
        """
        from toplist.results import segments

        return segments.bounds(self, name)

    def without_users(self) -> TopKResult:
        """Return the same means, spreads, intervals and counts without anything of single users.

        Its size does not depend on the number of users; it has no values per user, no segments and
        no keys, and still merges with others.

        Examples
        --------
        >>> from toplist import top_k_eval
        >>> result = top_k_eval([[1, 2], [3]], [{2}, {3}], k=2, metrics=["mrr"])
        >>> bare = result.without_users()
        >>> bare["mrr@2"], bare.hits is None, bare.n_evaluated
        (0.75, True, 2)
        """
        if self.clusters is not None:
            raise ValueError(
                "intervals by clusters follow from the rows, and nothing is left of these: save "
                "the result as it is, and to_dict() and to_pandas() give its figures"
            )
        whole = (together(self.prints),) if self.prints else ()
        lists = None if self.lists is None else self.lists.without_users()
        return replace(self, hits=None, counted=None, weights=None, lists=lists, fingerprints=whole)

    def to_json(self) -> str:
        """Return what people and other programs read of the result, as JSON.

        It has the means, standard deviations, intervals and numbers of users at the k's asked for,
        the convention, the policies and the formulas, as ``toplist eval --format json`` prints
        them. It is not read back: `save` keeps a result. ``result.to_pandas(per_user=True)`` has
        values of users to read, for ``.to_parquet(path)`` or ``.to_csv(path)``.

        Examples
        --------
        >>> import json
        >>> from toplist import top_k_eval
        >>> found = json.loads(top_k_eval([[1, 2], [3]], [{2}, {3}], k=2).to_json())
        >>> found["values"]["mrr@2"], found["n_evaluated"]
        (0.75, 2)
        """
        from toplist.results import describe

        return describe.text_of(describe.content(self))

    def save(self, path: PathLike) -> None:
        """Write the result to a file that `load` reads, with its users if it has them.

        The file is numpy's npz, without pickle and with a version; files of 0.4 are read by all of
        0.x. The result that is loaded is this one to the last bit: values per user, tests,
        segments, bounds and merging work; but not the ids of relevant items, for `by_item`. Of
        metrics of the lists it has the values of users at the k's asked for, 8 bytes each at most,
        and the means at every k; of several systems in one evaluation on Spark, not the moments of
        their differences (`paired`). ``result.without_users().save(path)`` keeps no user.

        Parameters
        ----------
        path : str or path
            ``"base.npz"``. A file that is there is replaced. It is written whole or not at all.

        Raises
        ------
        ValueError
            For another name; for metrics with functions of their own, as these have no way back;
            for users or clusters that are neither text nor numbers, nor tuples of these.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import os, tempfile
        >>> from toplist import TopKResult, top_k_eval
        >>> result = top_k_eval({"ann": [1, 2], "bob": [3]}, {"ann": {2}, "bob": {3}}, k=2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     base = os.path.join(folder, "base.npz")
        ...     result.save(base)
        ...     again = TopKResult.load(base)
        >>> again == result, again.users, again.per_user("mrr@2").tolist()
        (True, ['ann', 'bob'], [0.5, 1.0])
        """
        from toplist.results import saved

        saved.check_name("save: ", path)
        saved.write_all({path: saved.dump(self)})

    @staticmethod
    def load(path: PathLike) -> TopKResult:
        """Return the result that `save` wrote, with its users if it has them.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        OSError
            If there is no such file.
        ValueError
            For a file that `save` did not write, a damaged or changed one, and one of another
            version of the format; for JSON, which is written for readers.
        """
        from toplist.results import saved

        with open(path, "rb") as stream:
            data = stream.read()
        try:
            return saved.read(data)
        except ValueError as error:
            raise prefixed(f"{os.fsdecode(path)}: ", error) from None

    def by(self, labels: Any) -> Segments:
        """Split the users by an attribute: a result for every label.

        Parameters
        ----------
        labels : one label per user, or dict user -> label
            An array or list in the order of `users`; or a dict or pandas Series keyed by user,
            where users may be absent. Users whose label is absent, None or NaN are a segment of
            their own, None. A Series with an index of its own is refused where users are known by
            position, and a default index where they have keys. Segments are in the order of ordered
            categories (a Categorical of pandas, an Enum of polars), else sorted.

        Returns
        -------
        Segments
            A mapping label -> TopKResult, a table when printed. Every user of this result is
            in one segment. Metrics of the lists that are means over users split too, over the
            users of the ground truth. Those of all lists together, such as coverage, are left out,
            and all of them where the values of users are not held (parts that were merged).

        Raises
        ------
        TypeError, ValueError
            If there is not one label per user, if the labels are keyed by other users or by none
            where users have keys, or if the result does not hold its hits.

        Examples
        --------
        >>> from toplist import top_k_eval
        >>> result = top_k_eval({"a": [1], "b": [2], "c": [3]}, {"a": 1, "b": 9, "c": 3}, k=1)
        >>> {label: part["hit@1"] for label, part in result.by({"a": "new", "b": "new"}).items()}
        {'new': 0.5, None: 1.0}
        """
        from toplist.results import segments

        return segments.by(self, labels)

    def by_item(self, labels: Any, *, order: Iterable[Any] | None = None) -> Segments:
        """Split the relevant items by an attribute: a result for every label, one pass over all.

        The ground truth of a slice are the relevant items of its label. Lists stay as they are, and
        so do ranks: each slice is what an evaluation of the same lists with such truths says, of
        the users who have any. So R, and the ideal of nDCG, are of the slice; precision is the
        slice's share of the k places. Users without a relevant item of a slice are not in it.

        Parameters
        ----------
        labels : dict item -> label, pandas Series, or table
            One label per item, keyed by item: the index of a Series; the column item_id of a table
            (pandas, polars, pyarrow), which has one more. Items whose label is absent, None, NaN or
            "" are a slice of their own, None. With `items_as`, items are documents.
        order : labels, optional
            In the order of the slices. Default: that of ordered categories (a Categorical of
            pandas, an Enum of polars), else sorted.

        Returns
        -------
        Segments
            A mapping label -> TopKResult, a table when printed. Metrics of the lists themselves,
            `judged` and `bpref` are left out. No slice is empty.

        Raises
        ------
        TypeError
            For other forms, and items of another kind than those of the ground truths (text,
            integers).
        ValueError
            If no relevant item has a label, if an item has two or `order` lacks one, for two that
            are written alike (1 and "1"), for ground truths of groups and ``unjudged="drop"``, and
            if the result does not hold its hits and their items: hits made by hand, saved results,
            those of files read in parts, of Spark.

        Examples
        --------
        >>> from toplist import top_k_eval
        >>> lists = {"ann": ["a", "b", "c"], "bob": ["b", "a", "d"]}
        >>> truth = {"ann": {"b", "c"}, "bob": {"d"}}
        >>> result = top_k_eval(lists, truth, k=3, metrics=["recall", "mrr"])
        >>> slices = result.by_item({"a": "head", "b": "head", "c": "tail", "d": "tail"})
        >>> {label: (part.n_users, round(part["mrr@3"], 4)) for label, part in slices.items()}
        {'head': (1, 0.5), 'tail': (2, 0.3333)}
        """
        from toplist.results import segments

        return segments.by_item(self, labels, order)

    def to_pandas(self, per_user: bool = False, *, names: Names | None = None) -> DataFrame:
        """Return a DataFrame: a row per metric and k, or per user.

        Parameters
        ----------
        per_user : bool
            False: columns metric, k, mean, std, low, high (95 % interval), n. True: a row per
            user, with user_id and one column per metric and k.
        names : str or several, optional
            The means to show; default: all.
        """
        from toplist.results import describe

        shown = self if names is None else self._only(names)
        if per_user:
            return Grid({"user_id": list(shown.users), **describe.of_users(shown)}).to_pandas()
        return describe.grid(shown).to_pandas()

    def _only(self, names: Names) -> TopKResult:
        return replace(self, terms=chosen({"this result": self.terms}, names)["this result"])

    def _page(self, every_metric: bool = False) -> Page:
        """Return a table of metrics x k with 95 % intervals, and who was counted."""
        from toplist.results import describe

        return describe.page(self, every_metric)

    def plot(
        self,
        metrics: Name | str | Sequence[Name | str] | None = None,
        *,
        level: float = 0.95,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw metrics over k with their confidence bands; the caption says who was counted.

        Parameters
        ----------
        metrics : str or several, optional
            Names without ``@``; default: all of this result.
        level : float
            Of the bands, between 0 and 1.
        ax : matplotlib Axes, optional
            Where to draw; a new figure otherwise, which a notebook shows.

        Returns
        -------
        matplotlib Axes
            ``.figure.savefig("curves.pdf")`` writes a file. More charts: `toplist.plots`.
        """
        from toplist import plots

        return plots.curves(self, metrics, level=level, ax=ax)


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


def _have_values(values: Floats) -> Bools:
    """Return who has a value, of values at one k, or at every k."""
    known = np.isfinite(values).reshape(len(values), -1)
    return np.asarray(known.all(axis=1), bool)


def merge(parts: Sequence[TopKResult], disjoint: bool = False) -> TopKResult:
    """Merge results over different users, in one step; see `toplist.merge`."""
    for part in parts:
        if not isinstance(part, TopKResult):
            kind = type(part).__name__
            raise TypeError(f"merge takes results of top_k_eval, not {kind}")
    if not parts:
        raise ValueError("merge: there is no part: give at least one result")
    parts = in_line(parts)
    terms = common([part.terms for part in parts])
    if not disjoint and not all(part.has_keys for part in parts):
        in_pairs([part.prints for part in parts], merged_fingerprints)

    def joined(name: str, join: Callable[[list[Any]], Any]) -> Any:
        """Return what all parts have; None where one of them lacks it."""
        found = [getattr(part, name) for part in parts]
        return None if any(one is None for one in found) else join(found)

    if len({part.clusters is None for part in parts}) > 1:
        raise ValueError("cannot merge: some parts have clusters and others have none")
    how: dict[str, Callable[[list[Any]], Any]] = {
        "hits": partial(in_pairs, join=partial(Hits.merged, disjoint=disjoint)),
        "n_users n_missing n_extra": sum,
        "counted weights": np.concatenate,
        "lists scored exposed": partial(reduce, operator.add),
        "clusters": lambda found: [label for part in found for label in part],
        "longest": max,
        "graded": any,
        "notes": lambda found: tuple(dict.fromkeys(note for part in found for note in part)),
        "listed": _together,
    }
    added = {name: joined(name, join) for names, join in how.items() for name in names.split()}
    return TopKResult(
        terms,
        histograms.merged([part.histograms for part in parts], terms.of_judged),
        fingerprints=tuple(one for part in parts for one in part.prints),
        **added,
    )


def _together(words: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """Return the users of all parts, by their words; ValueError for a user who is in two."""
    found = np.concatenate(words)
    if len(np.unique(found)) < len(found):
        raise ValueError("cannot merge: a user has lists in two parts: a user counts once")
    return found


def in_line(results: Sequence[TopKResult]) -> list[TopKResult]:
    """Return results with one k in the metrics of whole lists, that of the longest of all."""
    k = max((one.terms.longest for one in results), default=0)
    found = []
    for one in results:
        if one.terms.longest:  # of empty lists alone it is 1, where they are read to 0
            hits = None if one.hits is None else one.hits.of_part(k=k)
            one = replace(one, terms=one.terms.with_longest(k), hits=hits)
        found.append(one)
    return found


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
