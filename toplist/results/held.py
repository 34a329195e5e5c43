"""`Held`: what an evaluation holds: hits, weights and clusters of its users, and their values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray

from toplist.averages import Histograms, per_user
from toplist.checks import Bools, Floats, Ints, cached
from toplist.inputs.lists import Scored
from toplist.matching.about import Fingerprint, Unmatched
from toplist.matching.hits import Hits
from toplist.metrics import properties
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.definitions import Metric
from toplist.metrics.names import AnyName
from toplist.results.terms import Terms

if TYPE_CHECKING:  # what few need is imported by them, as `import toplist` must be quick
    from toplist.beyond.results import ListResult
    from toplist.stats.systems import SystemRef
    from toplist.stats.units import Units

# What there is on Spark instead of values per user in a result.
PER_USER = "collect the DataFrames (toArrow) where values of users are needed"


@dataclass(frozen=True, eq=False, repr=False)
class Held:
    """What `TopKResult` holds: see there."""

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

    @property
    def kept_lists(self) -> ListResult | None:
        """The metrics of the lists without these, with values of users at the k's asked for."""
        return None if self.lists is None else self.lists.kept(self.users, self.ks)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without the lists, as a file has the result."""
        return {**vars(self), "lists": self.kept_lists}

    def __copy__(self) -> Self:
        """Return the same with the lists, which are not copied."""
        found = object.__new__(type(self))
        vars(found).update(vars(self))
        return found

    def names(self) -> list[str]:
        """Return the ``name@k`` of every mean, in the order asked for."""
        return self.terms.names

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

    @cached
    def _cluster_of(self) -> Ints:
        """The number of the cluster of every row."""
        from toplist.stats.units import numbered

        return numbered(self.clusters, self.users)
