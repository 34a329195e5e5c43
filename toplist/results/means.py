"""`Means`: the numbers of an evaluation, at every k, and how sure they are; results merged."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from toplist import averages
from toplist.averages import moments, per_user
from toplist.averages.moments import Errors
from toplist.checks import Floats, Ints, cached, counted, distinct, worded
from toplist.matching.about import merged_fingerprints
from toplist.matching.hits import Hits
from toplist.metrics import properties
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.definitions import Metric
from toplist.metrics.names import AnyName, Name, NameAtK
from toplist.results.held import Held
from toplist.results.terms import Entry, common

# With fewer users an interval by t is called rough; under propensities so is every interval, with
# fewer by Kish: of hit, it held the mean in 82 to 92 % of samples of 9 to 14, in 93.5 % of 26, and
# in 95 % of 66.
FEW_USERS = 30
FAR = "few users lie far to one side"


class Means(Held):
    """Every number that follows from what `TopKResult` holds: see there.

    What is said of a result, its segments and its files need no more than this.
    """

    def judged_share(self) -> tuple[str, float]:
        """Return "judged@k" of the largest k, and its mean, before unjudged items left."""
        k = self.terms.depth
        average = self.histograms.moments(self.terms.measured["judged"], np.array([k]))
        return f"judged@{k}", float(average.mean[0])

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
        self._find(name, of_users=self.terms.find(name)[0].name in self.by_rows)
        low, high = self._at(name, partial(self._ends, level))
        return low, high

    def n_of(self, name: AnyName) -> int:
        """Return the number of users in a mean; for a metric of all lists, the number of lists."""
        metric, k = self.terms.find(name)
        if isinstance(metric, ListMetric):
            self._find(f"{metric.name}@{k or self.terms.depth}")
            return int(self._moments[metric.name].n_at(k))
        return self.histograms.n_of(metric.empty, metric)

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
        return key, metric.empty, metric.higher_is_better, 1 in ks if at_one else ks

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
        each, place = np.unique(np.maximum(np.nan_to_num(df), 1.0), return_inverse=True)
        t = np.array([t_ppf(0.5 + level / 2, one) for one in each.tolist()])[place]
        return np.stack(moments.normal(average.mean, error, t, self.is_within_one(name)))

    def roughness(self, name: str) -> tuple[float, str]:
        """Return how many times too few users the interval of ``name@k`` has, and why it is rough.

        That is "" where it is not, or says nothing.
        """
        metric, k = self._find(name)
        if not says(*self.interval(name)):
            return 0.0, ""
        n_users = self.n_of(name)
        n: float = n_users
        if metric.name in self.by_rows:
            # where units are of very different size, values often go with it, and intervals cover
            # less
            units = self.units_of(name)
            if why := units.rough:
                return FEW_USERS / units.df, why
        elif self.terms.weighting is not None:  # Kish's
            n = round(float(self._errors(metric, np.array([k])).df[0]) + 1, 9)
        elif self.interval_kind(metric.name) == "Wilson":
            return 0.0, ""
        unit = self.terms.unit
        if n < FEW_USERS:
            few = counted(n_users, "user") if n == n_users else f"{n:.1f} users of equal propensity"
            return FEW_USERS / n, worded(f"only {few}", unit)
        times = self.skewed(name)
        return (times, worded(FAR, unit)) if times > 1 else (0.0, "")

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
        from toplist.stats import SKEWED

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
        units, weights = self._units(mine, self.weights), self.weights
        more = self._average(metric, cuts), units, weights, self.terms.threshold_in_gains
        return moments.of_rows(self.hits, mine, metric, cuts, *more)

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


def says(low: float, high: float) -> bool | None:
    """Return whether an interval says something: not of equal values; None where there is none."""
    return None if low != low else high - low > 1e-12 * abs(high)


# Results over different users, merged: the parts of one evaluation

T = TypeVar("T")
R = TypeVar("R", bound=Means)


def merge(parts: Sequence[R], disjoint: bool = False) -> R:
    """Merge results over different users, in one step; see `toplist.merge`."""
    for part in parts:
        if not isinstance(part, Means):
            what = f"merge takes results of top_k_eval, not {type(part).__name__}"
            raise TypeError(f"{what}; beside parts, ground truths keyed by user: a dict, a table")
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

    def of_lists(found: Sequence[Any]) -> Any:
        """Return metrics of the lists, with values of users where all parts have their hits."""
        if any(part.hits is None for part in parts):
            return reduce(operator.add, found)
        return type(found[0]).merged([(part.lists, part.users) for part in parts])

    def together(words: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
        """Return the users by their words; ValueError for a user who is in two parts."""
        found = np.concatenate(words)
        if len(distinct(found)) < len(found):
            raise ValueError("cannot merge: a user has lists in two parts: a user counts once")
        return found

    if len({part.clusters is None for part in parts}) > 1:
        raise ValueError("cannot merge: some parts have clusters and others have none")
    how: dict[str, Callable[[list[Any]], Any]] = {
        "hits": partial(in_pairs, join=partial(Hits.merged, disjoint=disjoint)),
        "n_users n_missing n_extra": sum,
        "counted weights": np.concatenate,
        "scored exposed": partial(reduce, operator.add),
        "lists": of_lists,
        "clusters": lambda found: [label for part in found for label in part],
        "longest": max,
        "graded": any,
        "notes": lambda found: tuple(dict.fromkeys(note for part in found for note in part)),
        "listed": together,
    }
    added = {name: joined(name, join) for names, join in how.items() for name in names.split()}
    return type(parts[0])(
        terms,
        averages.merged([part.histograms for part in parts], terms.of_judged),
        fingerprints=tuple(one for part in parts for one in part.prints),
        **added,
    )


def in_line(results: Sequence[R]) -> list[R]:
    """Return results with one k in the metrics of whole lists, that of the longest of all."""
    k = max((one.terms.longest for one in results), default=0)
    found = []
    for one in results:
        if one.terms.longest:  # of empty lists alone it is 1, where they are read to 0
            hits = None if one.hits is None else one.hits.of_part(k=k)
            given = one.terms.entries
            entries = tuple(replace(each, ks=(k,)) if each.whole else each for each in given)
            one = replace(one, terms=replace(one.terms, entries=entries), hits=hits)
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
