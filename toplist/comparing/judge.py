"""`JudgeCorrected`: a mean by an automatic judge, corrected by the queries that people judged."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from toplist.checks import Floats, Ints, counted
from toplist.comparing.aligning import MINOR, Aligned, align
from toplist.comparing.samples import pairs_of
from toplist.comparing.side_by_side import Question, SideBySide
from toplist.metrics.definitions import Metric
from toplist.results.markup import Display
from toplist.results.means import in_line
from toplist.results.result import TopKResult
from toplist.results.tables import LOOK, Column, Grid, Look, Page, Table
from toplist.stats.distributions import t_ppf
from toplist.stats.planning import Corrected, ppi
from toplist.stats.units import Units, checked, numbered, snap

# With fewer queries of people an interval is called rough; or with fewer that the judge got wrong.
# Of judges who are wrong in so many of 100 or 200 it covered (t, 0 or 1 and grades, worst of means
# of .1 to .5) in 1 or 2: 88 to 93 %, 5: 87 to 93 %, 10: 91 to 94 %; of 50, 79, 82 and 88 %.
FEW, FEW_WRONG = 50, 10


@dataclass(frozen=True, eq=False, repr=False)
class JudgeCorrected(Display, Corrected):
    """A mean by an automatic judge, corrected by people. Returned by `inference.judge_corrected`.

    Attributes
    ----------
    estimate, error, low, high : float
        The corrected mean or difference, its standard error and its interval; NaN ends where the
        values of people and judge do not vary.
    lam : float
        The weight λ of the judge, from 0 (people alone) to 1.
    n, n_unlabelled : int
        The queries that people judged, and those that the judge alone did.
    n_effective : float
        How many queries judged by people alone would give this error: var(Y) / error².
    human, human_error : float
        The mean by people alone, and its standard error.
    judge, judge_error : float
        The mean by the judge over all queries. Its error does not include that the judge is wrong.
    differ : int
        The queries, or clusters of them, in which the judge differs from people.
    name : str
        ``"ndcg@10"``.
    pair : (str, str), or None
        Of a difference, the system and its baseline, which is subtracted.
    level : float
        Of the interval.
    df : float
        The degrees of freedom of the interval.
    n_clusters : int
        The clusters of the queries that people judged; 0 without clusters.
    """

    name: str = ""
    pair: tuple[str, str] | None = None
    level: float = 0.95
    df: float = math.nan
    n_clusters: int = 0

    def _grid(self) -> Grid:
        """Return the corrected figure, and those by people and by the judge alone."""
        return Grid(
            {
                "by": ["corrected", "people alone", "judge alone"],
                "difference" if self.pair else "mean": [self.estimate, self.human, self.judge],
                "low": [self.low, None, None],
                "high": [self.high, None, None],
                "error": [self.error, self.human_error, self.judge_error],
            }
        )

    def _page(self, look: Look = LOOK) -> Page:
        kind = "signed" if self.pair else "number"
        corner = f"{' - '.join(self.pair)} {self.name}" if self.pair else self.name
        clusters = f" of {counted(self.n_clusters, 'cluster')}" if self.n_clusters else ""
        certain = f"; as certain as {self.n_effective:,.1f} judged by people alone"
        certain *= self.n_effective == self.n_effective
        notes = [
            f"{self.n:,} queries{clusters} judged by people, {self.n_unlabelled:,} more by the "
            f"judge alone (lambda {self.lam:.3f}){certain}",
            f"interval: t, {self.df:.4g} degrees of freedom, PPI++ (Angelopoulos et al. 2023); the "
            "queries of people must be a random sample of all",
        ]
        what = "clusters" if self.n_clusters else "queries"
        notes += [f"rough: fewer than {FEW} {what} of people"] * (self.df + 1 < FEW)
        some = f"{self.differ} of {self.n_clusters or self.n:,} {what}"
        wrong = f"rough: the judge differs from people in only {some}, which say how wrong it is"
        notes += [wrong] * (self.differ < FEW_WRONG)
        columns = (
            Column("difference" if self.pair else "mean", kind),
            Column(("low", "high"), kind, f"{100 * self.level:.4g} % interval"),
            Column("error"),
        )
        return Page([Table.of(corner, "{by}", columns, self._grid().rows, look)], notes)


def judge_corrected(
    *,
    judged: TopKResult | Mapping[Any, TopKResult],
    human: TopKResult | Mapping[Any, TopKResult],
    metric: str,
    baseline: str | None = None,
    level: float = 0.95,
) -> JudgeCorrected:
    """Estimate a mean over all queries from an automatic judge and the few that people judged.

    A judge, such as a language model, labels all queries, and is wrong in its own way. People label
    a random sample of them. The difference of the two on the sample corrects the mean of the judge
    (prediction-powered inference, PPI++: Angelopoulos, Duchi, Zrnic 2023, arXiv 2311.01453; the
    formula is in `toplist.stats.planning.ppi`): the estimate is of what people would say
    of all queries, and the better the judge goes with people, the narrower its interval.

    Queries are matched by their keys. Of queries in clusters, such as those of users, the errors go
    by the clusters of `judged`, and the degrees of freedom are Satterthwaite's. Else the interval
    is that of t with n - 1 degrees of freedom, n queries of people. There must be ten of them, or
    of their clusters. In simulations of judges who are right in 90 to 97 % of values of 0 or 1 it
    covered 94 % with 200, 91 % with 50, 85 % with 20 and 74 % with 10 (of four grades 93, 87, 76
    and 69 %); of judges who are often wrong 95, 94, 93 and 91 %. How wrong a judge is must be seen
    in the sample: a line says where it differs from people in fewer than ten queries.

    Parameters
    ----------
    judged : TopKResult, or dict of two
        All queries, evaluated with the truth of the judge: also those that people judged. Of two
        systems, ``{"a": result, "b": result}``, the difference is corrected.
    human : TopKResult, or dict of two
        The same lists of the queries that people judged, with their truth.
    metric : str
        ``"ndcg@10"``; any k that both sides know.
    baseline : str, optional
        Of two systems, the one that is subtracted; default: the first, as in `toplist.compare`.
    level : float
        Of the interval, between 0 and 1.

    Returns
    -------
    JudgeCorrected

    Raises
    ------
    KeyError
        For a metric that one side does not have.
    TypeError, ValueError
        For queries without keys, or with weights; queries of people that are not among those of the
        judge; fewer than ten of people, or none without people; other conventions, policies or
        definitions; lists of other lengths; and a truth of people that leaves out items the judge
        graded (below).

    Notes
    -----
    People must have graded all items that the judge graded in a query: a part of a pool has too few
    relevant items, and its values are others. Where either truth has items of grade 0, this is
    checked by their number: in no query may people have graded fewer items than the judge. What
    cannot be seen: which items these are; what was judged where no grade 0 is given (sets of
    relevant items); whether lists of one length hold the same items; whether the sample is random.

    A query in which one side finds nothing relevant is left out of its mean by most conventions:
    ``empty="zero"`` keeps it, and is asked for where the sides do not agree on it.

    Examples
    --------
    >>> import toplist as tl
    >>> rng = np.random.default_rng(0)
    >>> lists = {f"q{i}": rng.permutation(20).tolist() for i in range(400)}
    >>> people = {q: {0: int(rng.integers(2)), 1: 1} for q in lists}
    >>> judge = {q: truth | {0: 1} for q, truth in people.items()}  # to it, 0 always is relevant
    >>> how = {"k": 10, "metrics": "ndcg@10"}
    >>> judged = tl.top_k_eval(lists, judge, **how)
    >>> sample = [f"q{i}" for i in range(100)]
    >>> some = ({q: side[q] for q in sample} for side in (lists, people))
    >>> human = tl.top_k_eval(*some, **how)
    >>> found = tl.inference.judge_corrected(judged=judged, human=human, metric="ndcg@10")
    >>> print(found.to_text(width=80))
    ndcg@10         mean     95 % interval   error
    corrected     0.2737  [0.2362, 0.3112]  0.0189
    people alone  0.2935                 -  0.0268
    judge alone   0.2928                 -  0.0118
    100 queries judged by people, 300 more by the judge alone (lambda 0.704); as
      certain as 201.9 judged by people alone
    interval: t, 99 degrees of freedom, PPI++ (Angelopoulos et al. 2023); the
      queries of people must be a random sample of all
    """
    checked("two-sided", level)
    given = {"judged": _read("judged", judged), "human": _read("human", human)}
    systems, others = (sorted(results) for results in given.values())
    if systems != others:
        names = [", ".join(some) or "one system" for some in (systems, others)]
        raise ValueError(f"judged is of {names[0]}, and human of {names[1]}: give both of the same")
    several = len(systems) > 1 or baseline is not None
    pair = pairs_of([*given["judged"]], baseline)[0] if several else None
    sides, name = _of_one_kind(given, pair or systems, metric)
    by_judge, by_people = (align(side, metrics=[name]) for side in sides.values())
    rows = _matched(by_judge, by_people)
    _check(by_judge, by_people, rows, int(name.rpartition("@")[2]))
    y_hat, n = _values(by_judge, name), len(rows)
    labels, clusters = by_judge.cluster_labels(), None
    if labels is None and by_people.cluster_labels() is not None:
        raise ValueError("human has clusters and judged has none: evaluate both with clusters=")
    if labels is not None:
        places = numbered(labels)
        clusters = places[rows], np.delete(places, rows)
    units = Units.of(n, None, clusters and clusters[0])
    rest = np.delete(y_hat, rows)
    found = ppi(_values(by_people, name), y_hat[rows], rest, level=level, clusters=clusters)
    half = t_ppf(0.5 + level / 2, units.df) * found.error
    if found.low == found.low:
        found = replace(found, low=found.estimate - half, high=found.estimate + half)
    known: dict[str, Any] = {"df": units.df, "n_clusters": units.n_clusters, **vars(found)}
    return JudgeCorrected(**known, name=name, pair=pair, level=level)


def _read(side: str, given: Any) -> dict[str, TopKResult]:
    """Return results by system: of one, the system has no name."""
    found = dict(given) if isinstance(given, Mapping) else {"": given}
    if len(found) not in (1, 2) or not all(isinstance(one, TopKResult) for one in found.values()):
        kind = f"a dict of {len(found)}" if isinstance(given, Mapping) else type(given).__name__
        raise TypeError(f"{side} is {kind}: give a result of top_k_eval, or a dict of two systems")
    return {str(name): one for name, one in found.items()}


def _of_one_kind(
    given: Mapping[str, Mapping[str, TopKResult]], systems: Sequence[str], name: str
) -> tuple[dict[str, dict[str, TopKResult]], str]:
    """Return the results of each side with one metric alone, and its ``name@k``, alike in all."""
    every = {f"{side} {one}".strip(): given[side][one] for side in given for one in systems}
    every = dict(zip(every, in_line([*every.values()]), strict=True))
    for label, one in every.items():
        one.held(f"the queries of {label} are unknown")
        if not one.has_keys or one.weights is not None:
            why = "have no keys: evaluate dicts or tables, or give users="
            why = "have weights: evaluate without" if one.has_keys else why
            raise ValueError(f"the queries of {label} {why}")
    # as runs that are paired, each may have a ground truth of its own
    whole = SideBySide(every, runs={"all": tuple(every)}, runs_are="paired")
    metric, k = one.terms.find(Question(whole).one(name, "judge_corrected"))
    if not isinstance(metric, Metric):
        raise ValueError(f"{name!r} is no mean over queries of what is relevant")
    compared = whole._only(metric.name)
    for what in compared.differences:
        if what.kind not in MINOR:
            raise ValueError(f"judged and human cannot be put together: {what}")
    return {
        side: {label: one for label, one in compared.results.items() if label.startswith(side)}
        for side in given
    }, f"{metric.name}@{k}"


def _values(side: Aligned, name: str) -> Floats:
    """Return the values of a system, or the differences of two."""
    first, *others = (side.values(label, name) for label in side.results)
    return snap(first, others[0]) if others else first


def _matched(judged: Aligned, human: Aligned) -> Ints:
    """Return the rows of people's queries among those of the judge."""
    ours, theirs = (next(iter(one.results.values())).users for one in (judged, human))
    known, labelled = set(ours), set(human.users or ())
    place = {user: row for row, user in enumerate(judged.users or ())}
    for user in theirs:
        if user not in known:
            raise ValueError(
                f"query {user!r} of human is not in judged, which has queries like {ours[0]!r}: "
                "judged is of all queries, also of those that people judged"
            )
        if (user in place) != (user in labelled):
            by, other = ("the judge", "people")[:: 1 if user in place else -1]
            raise ValueError(
                f"query {user!r} is in the mean by {by} and not in that by {other}, as nothing is "
                "relevant in it there: evaluate both sides with empty='zero'"
            )
    return np.array([place[user] for user in human.users or ()], np.int64)


def _check(judged: Aligned, human: Aligned, rows: Ints, k: int) -> None:
    """Refuse other lists, and truths of people that leave out items that the judge graded."""
    users: Any = human.users
    for label, other in zip(judged.results, human.results, strict=True):
        of_both = [
            side.results[name].held("")[0] for side, name in ((judged, label), (human, other))
        ]
        chosen = judged.rows[label][rows], human.rows[other]
        n, m = (np.minimum(one.n_listed[at], k) for one, at in zip(of_both, chosen, strict=True))
        if not np.array_equal(n, m):
            row = int(np.argmax(n != m))
            raise ValueError(
                f"{label} lists {n[row]} items for query {users[row]!r} down to k = {k}, and "
                f"{other} {m[row]}: both must be of the same lists"
            )
        if all(np.array_equal(one.n_truth, one.n_relevant) for one in of_both):
            continue  # no grade 0: nothing says what was judged
        n, m = (one.n_truth[at] for one, at in zip(of_both, chosen, strict=True))
        if (m < n).any():
            row = int(np.argmax(m < n))
            raise ValueError(
                f"the truth of {other} grades {m[row]} items of query {users[row]!r}, that of "
                f"{label} {n[row]}: people must grade all that the judge graded there, 0 for what "
                "is not relevant; or leave the others out of the truth of the judge"
            )
