"""`Segments`: a result split by an attribute of its users, or of the relevant items (slices).

`Bounds`: what a mean can be, whatever the unjudged items of the lists are.

Every user is in one segment; a user may be in several slices, an item is in one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeVar

import numpy as np

from toplist import parallel
from toplist.averages import per_user
from toplist.checks import Bools, Floats, Ints, is_missing, readable, worded
from toplist.checks import counted as in_words
from toplist.inputs.facts import ItemLabels, categories, ordered
from toplist.inputs.keyed import values_by_user
from toplist.inputs.lists import offsets_of
from toplist.matching import slices
from toplist.matching.hits import Hits
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.declared import Cascade, Geometric, Interpolated, Novelty, Preference, complete
from toplist.metrics.definitions import DISCOUNTS, DIVISORS, Metric
from toplist.metrics.names import AnyName, Names
from toplist.results import describe
from toplist.results.markup import Display
from toplist.results.means import Means
from toplist.results.tables import LOOK, Cell, Grid, Look, Page, Table
from toplist.results.terms import Entry

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# What does for results without users.
ON_SPARK = "evaluate the truth of every segment by itself"


# In segments of users, and in slices of items: who is counted, and whose labels are not used.
WHOSE = "of the ground truth", "with relevant items of the slice, which are the truth there"
UNKNOWN = "users who are not in the result", "items that are relevant to no user"

# How the users, or items, without a label are called.
NO_LABEL = "(no label)"

T = TypeVar("T")
R = TypeVar("R", bound=Means)


@dataclass(frozen=True, eq=False, repr=False)
class ByLabel(Display, Mapping[Any, T], Generic[T]):
    """What was split by an attribute of the users: the whole, and a part for every label."""

    whole: T
    parts: Mapping[Any, T]

    def _only(self, names: Names) -> Self:
        whole: Any = self.whole
        parts: dict[Any, Any] = dict(self)
        parts = {label: part._only(names) for label, part in parts.items()}
        return replace(self, whole=whole._only(names), parts=parts)

    def __getitem__(self, label: Any) -> T:
        """Return one segment; a KeyError names the labels."""
        if label not in self.parts:
            raise KeyError(f"{label!r}: the segments are {', '.join(map(repr, self.parts))}")
        return self.parts[label]

    def __iter__(self) -> Iterator[Any]:
        """Yield the labels."""
        return iter(self.parts)

    def _ipython_key_completions_(self) -> list[Any]:
        """Return what IPython and Jupyter complete after a bracket: the labels."""
        return list(self.parts)

    def __len__(self) -> int:
        """Return the number of segments."""
        return len(self.parts)


@dataclass(frozen=True, eq=False, repr=False)
class Segments(ByLabel[R]):
    """Results by label, sorted; users, or items, without a label are the last segment, None.

    A table when printed. Of users, n_users, n_evaluated, n_skipped and n_missing of the segments
    add up to those of the whole result; lists without a ground truth (`n_extra`) belong to no
    segment.

    Attributes
    ----------
    whole : TopKResult
        The result that was split.
    parts : dict of label -> TopKResult
        The segments.
    n_unused : int
        Labels keyed by users who are not in the result; by items that are in no ground truth.
    of_items : bool
        Whether these are slices of the items, `TopKResult.by_item`: then a user is in each slice
        of which a relevant item is.
    left_out : tuple of str
        The metrics that do not split so.
    """

    n_unused: int = 0
    of_items: bool = False
    left_out: tuple[str, ...] = ()

    def _page(self, look: Look = LOOK) -> Page:
        """Return the tables with their notes; they have every metric as it is."""
        names = self.whole.names()
        if len(names) <= describe.WIDE:
            shown = [self._table("", {name: name for name in names}, look)]
        else:
            shown = [
                self._table(metric, {f"@{k}": f"{metric}@{k}" for k in ks}, look)
                for metric, ks in self.whole.terms.ks_of.items()
            ]
        parts = {label_text(label, self): part for label, part in self.items()}
        of_all = describe.rule_lines(self.whole, look, parts)
        unit = self.whole.terms.unit
        users = worded(f"users: {WHOSE[self.of_items]}; n: in the means", unit)
        return Page(shown, [users, *self._notes(), *of_all])

    def _notes(self) -> list[str]:
        """Return what does not split so, and how many labels are not used."""
        why = "not split by item" if self.of_items else "of all lists together"
        lines = [f"{why}, left out: {', '.join(self.left_out)}"] if self.left_out else []
        if self.n_unused:
            unused, whose = in_words(self.n_unused, "label"), UNKNOWN[self.of_items]
            lines.append(worded(f"{unused} of {whose} (unused)", self.whole.terms.unit))
        return lines

    def _table(self, corner: str, columns: Mapping[str, str], look: Look) -> Table:
        """Return a table with a mean per column, and the numbers of users of every row."""
        rows = []
        for label, part in [*self.items(), ("all", self.whole)]:
            n = [part.n_of(name) for name in columns.values()]  # by metric, and by k
            least = f"{min(n):,} to " * (min(n) < max(n))
            counts = [Cell(f"{part.n_users:,}"), Cell(f"{least}{max(n):,}")]
            means = [describe.cell(part, name, look) for name in columns.values()]
            name = "all" if part is self.whole else label_text(label, self)
            rows.append((name, counts + means))
        return Table(corner, [self.whole.terms.unit, "n", *columns], rows)

    def plot(self, name: AnyName, *, level: float = 0.95, ax: Axes | None = None) -> Axes:
        """Draw one mean of each segment with its interval, see `toplist.plots.segments`."""
        from toplist import plots

        return plots.segments(self.parts, name, level=level, ax=ax)

    def to_dict(self) -> dict[Any, dict[str, float]]:
        """Return the means asked for, ``{label: {"ndcg@10": 0.1, ...}}``."""
        return {label: {name: part[name] for name in part.names()} for label, part in self.items()}

    def _grid(self) -> Grid:
        """Return a row per segment, metric and k, with mean, std, interval and n."""
        return Grid.stacked("segment", {label: describe.grid(part) for label, part in self.items()})


def by(result: R, labels: Any, order: Sequence[Any] | None = None) -> Segments[R]:
    """Split a result; see `TopKResult.by`. `order` is that of labels that have lost it."""
    hits, counted = result.held("it cannot be split", ON_SPARK)
    lists = None if result.lists is None else result.lists.of_rows(result.users)
    known = () if lists is None else lists.names
    entries = tuple(
        e for e in result.terms.entries if isinstance(e.metric, Metric) or e.metric.name in known
    )
    if not entries:
        raise ValueError("this result has only metrics of all lists together: they do not split")
    whole = replace(result, terms=replace(result.terms, entries=entries), lists=lists)
    left_out = tuple(name for name in result.terms.list_metrics if name not in known)
    members, n_unused = rows_by_label(result, labels, order)
    parts = {}
    for label, some in members.items():
        part = _of_rows(whole, some, hits.subset(some), counted[some])
        parts[label] = part if lists is None else replace(part, lists=lists.subset(some))
    return Segments(whole, parts, n_unused, left_out=left_out)


def _of_rows(whole: R, rows: Ints, hits: Hits, counted: Bools) -> R:
    """Return the result of some rows, of whom these hits are."""
    weights = None if whole.weights is None else whole.weights[rows]
    clusters = whole.clusters and [whole.clusters[row] for row in rows.tolist()]
    return whole.of(whole.terms, hits, counted, weights, clusters=clusters)


def rows_by_label(
    result: Means, labels: Any, order: Sequence[Any] | None = None
) -> tuple[dict[Any, Ints], int]:
    """Return the rows of the users of every label, in order, and how many labels are of no user.

    They are in the order that is given, or that of an ordered type, else sorted. The rows without
    a label come last, as None.
    """
    keys = result.users if result.has_keys else None
    of_user, n_unused = values_by_user(labels, keys, result.n_users, "labels")
    members: dict[Any, list[int]] = {}
    for row, label in enumerate(of_user):
        try:
            members.setdefault(label, []).append(row)
        except TypeError:
            kind = type(label).__name__
            raise TypeError(f"label {label!r} is a {kind}: give text or numbers") from None
    if nothing := [label for label in members if is_missing(label)]:
        members[None] = sorted(row for label in nothing for row in members.pop(label))
    known = categories(getattr(labels, "dtype", None)) if order is None else order
    named = ordered((label for label in members if label is not None), known)
    rows = {label: np.array(members[label], np.int64) for label in named if label in members}
    return rows, n_unused


def label_text(label: Any, labels: Collection[Any]) -> str:
    """Return a label as it is printed among others: that of each segment is another."""
    if label is None:
        return NO_LABEL
    alike = [one for one in labels if str(one) == str(label)]
    return repr(label) if len(alike) > 1 or str(label) in ("all", NO_LABEL) else str(label)


def by_item(result: R, labels: Any, order: Iterable[Any] | None = None) -> Segments[R]:
    """Split the relevant items of a result; see `TopKResult.by_item`."""
    hits, counted = result.held("it cannot be split by item", ON_SPARK)
    if result.terms.weighting is not None:
        raise ValueError(
            "a result with propensities is not split by item, as users weigh what all their "
            "relevant items do: evaluate ground truths of these items alone"
        )
    entries = tuple(e for e in result.terms.entries if _of_relevant(e.metric))
    left_out = tuple(name for name, one in result.terms.asked.items() if not _of_relevant(one))
    if not entries:
        raise ValueError(f"not split by item: {', '.join(left_out)}; ask for ndcg, recall, ...")
    terms = replace(result.terms, entries=entries)
    whole = replace(result, terms=terms, lists=None)
    found, n_unused = slices.sliced(hits, ItemLabels.of(labels, "labels"), order)

    several = list(found.values())
    # one metric of those that leave the same users out
    deciding = {terms.counting[name]: one for name, one in terms.metrics.items()}.values()

    def part(at: int, _: int) -> R:
        rows, own = several[at]()
        mine = counted.take(rows)
        some = [per_user.counted_in(own, mine, one) for one in deciding]
        return _of_rows(whole, rows, own, np.logical_or.reduce(some))

    parts = parallel.run(part, [(at, at + 1) for at in range(len(several))], None)
    named = dict(zip(found, parts, strict=True))
    return Segments(whole, named, n_unused, of_items=True, left_out=left_out)


def _of_relevant(metric: Metric | ListMetric) -> bool:
    """Whether a metric is of relevant items alone: not of lists, nor of what else was judged."""
    if isinstance(metric, ListMetric) or metric.of == "judged":
        return False
    return metric.earning is None or not isinstance(metric.earning.function, Preference)


# What unjudged items can do to a mean

# Divisors that no judgement changes; and those that grow by at most 1 with each relevant item.
FIXED = "1", "k", "min(k,n)"
OF_R = "R", "min(k,R)", "min(k,n,R)", "(k+R)/2"


@readable
class Bounds(NamedTuple):
    """The least and the largest mean, whatever the judgements of the unjudged items would be.

    Attributes
    ----------
    low : float
        Often the mean as it is, where all are misses; below it where a relevant item that nobody
        judged makes R grow.
    high : float
        Often that if all are relevant.
    """

    low: float
    high: float


def bounds(result: Means, name: str) -> Bounds:
    """Return both ends of a mean; see `TopKResult.bounds`."""
    terms = result.terms
    metric, k = terms.find(name)
    if isinstance(metric, ListMetric) or metric.of == "judged":
        raise ValueError(
            f"{metric.name} has no bounds: it does not read which items are relevant; bounds are "
            "of precision, recall, ndcg and the like"
        )
    if terms.unjudged == "drop":
        raise ValueError(
            "unjudged items have left the lists of this result, so it has no bounds: evaluate "
            "with unjudged='miss'"
        )
    if terms.weighting is not None:
        raise ValueError("bounds need the propensities of unjudged items: evaluate without any")
    ks = terms.ks_of[metric.name]
    if k is None and len(ks) > 1:
        names = ", ".join(f"{metric.name}@{one}" for one in ks)
        raise ValueError(f"bounds are of a mean at one k: give one of {names}")
    k = ks[0] if k is None else k
    hits, _ = result.held("it has no bounds")
    if hits.coverage is not None:
        raise ValueError(
            "ground truths of groups have no bounds: no item is judged not relevant, and an "
            "unjudged one may be of any group"
        )
    at, counted = f"{metric.name}@{k}", result.in_means([metric.name])
    mean = result[at]
    users, ranks = slices.holes(hits, k)
    pooled = tuple(one for one in terms.pooled if one == metric.name)
    # the grades are read, whatever a hit earns
    plain = metric if metric.earning is None else replace(metric, counts="each")
    graded = metric.graded and per_user.gains_of(hits, plain, terms.threshold_in_gains).graded
    if metric.empty != "one" and _rises(metric):
        asked = replace(terms, entries=(Entry(metric, (k,), scalar=True),), pooled=pooled)
        best = type(result).of(asked, slices.filled(hits, users, ranks), counted, result.weights)
        return Bounds(mean, best[at])
    if pooled or graded or not _gains_by_rank(metric, k):
        what = "ratios of sums over users" if pooled else "ground truths with grades" * graded
        what += " where users without relevant items score 1" * (metric.empty == "one")
        raise ValueError(
            f"{metric.name} has no bounds{' of ' * bool(what)}{what}: an unjudged item that is "
            "relevant may lower it; bounds of any ground truths have hit, precision, recall, mrr, "
            "f1, rbp, cg, dcg and err, without grades also map, ndcg, r_precision and the like"
        )
    n_of = np.bincount(users, minlength=len(hits))
    first = np.arange(len(users)) - offsets_of(n_of)[users]  # its place, from above
    last = n_of[users] - 1 - first

    def values(chosen: Bools) -> Floats:
        read = slices.filled(hits, users[chosen], ranks[chosen])
        mine = per_user.read_by(metric, read, counted, terms.threshold_in_gains)
        return per_user.values(*mine, metric, k)

    # of each user, for every number of items that are relevant: if they are the first, and the last
    given = low = high = values(np.zeros(len(users), bool))
    for n in range(1, int(n_of.max(initial=0)) + 1):
        some = n_of[users] >= n
        for place in (first, last):
            found = np.where(n_of >= n, values(some & (place < n)), given)
            low, high = np.fmin(low, found), np.fmax(high, found)
    weights = None if result.weights is None else result.weights[counted]
    ends = []
    for end in (low, high):
        same = np.array_equal(end[counted], given[counted]) or not counted.any()
        ends.append(mean if same else float(np.average(end[counted], weights=weights)))
    return Bounds(*ends)


def _rises(metric: Metric) -> bool:
    """Return whether every item that becomes relevant raises a metric, or leaves it as it is."""
    divisor, earning = metric.dividing.name, metric.earning
    known = isinstance(metric.discounting.function, Geometric)
    named = divisor in DIVISORS and (known or metric.discounting in DISCOUNTS.values())
    if earning is not None:
        return isinstance(earning.function, Cascade) and (divisor, metric.cut) == ("1", "k")
    if not named or metric.cut != "k" or metric.counts == "nth":
        return False
    if divisor in FIXED:
        return metric.counts == "each" or not metric.graded
    # h + 1 of R + 1 is not less than h of R, as h <= R
    plain = metric.discounting == DISCOUNTS["1"] and not metric.graded
    return plain and metric.counts == "each" and divisor in OF_R


def _gains_by_rank(metric: Metric, k: int) -> bool:
    """Return whether, of so many relevant items, a metric is best if they stand at the first ranks.

    Then only the number of unjudged items that are relevant is tried, not each of them.
    """
    if metric.earning is not None:
        known = metric.earning.function
        rising = known is complete or isinstance(known, (Cascade, Interpolated, Novelty))
        return rising and metric.cut != "n"
    return bool(np.all(np.diff(metric.discounts(k)) >= 0)) and metric.of != "judged"
