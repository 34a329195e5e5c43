"""What was asked for, and by which rules: entries of `metrics`, each with its k's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal, get_args

from toplist import averages
from toplist.averages import Histograms, per_user
from toplist.checks import USERS, Bools, Floats, cached, did_you_mean
from toplist.inputs.options import Unjudged, Weighting
from toplist.inputs.truths import Grading
from toplist.matching.hits import Hits
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.conventions import CONVENTIONS, Convention, Missing, Relevant, Ties
from toplist.metrics.definitions import METRICS, PARAMETRIC, Empty, Metric, Of
from toplist.metrics.names import Names, canonical, listed, metric_meant
from toplist.metrics.properties import SCORED

Sampler = Literal["uniform", "popularity"]
SAMPLERS: tuple[Sampler, ...] = get_args(Sampler)


class SampledMetricsWarning(UserWarning):
    """A metric at a small k was computed among few sampled items.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", SampledMetricsWarning)  # once it has been read
    """


@dataclass(frozen=True)
class Sampled:
    """How the candidates of a result were drawn: it is comparable with no other draw.

    Attributes
    ----------
    n : int
        Negatives of each user, in addition to the held-out item.
    n_items : int
        Size of the catalogue.
    sampler : {"uniform", "popularity"}
    seed : int
    ties : str
        Where the held-out item is ranked among candidates of equal score.

    Examples
    --------
    >>> Sampled(100, 9066, "uniform", 0, "order").depth(10)
    816
    """

    n: int
    n_items: int
    sampler: Sampler
    seed: int
    ties: str

    def depth(self, k: int) -> int:
        """Return about which rank of the whole catalogue rank k of the sample corresponds to.

        f(k) = 1 + (k - 1) (N - 1) / n, rounded down, is the rank among all items whose mean rank
        among n sampled items is k: the linear mapping of Li, Jin, Gao and Liu, "On Sampling Top-K
        Recommendation Evaluation" (KDD 2020, doi 10.1145/3394486.3403262), for the hit rate, and
        approximately.
        """
        return min(self.n_items, 1 + (k - 1) * (self.n_items - 1) // self.n)

    @property
    def words(self) -> str:
        """Say how the candidates were drawn."""
        return (
            f"SAMPLED: ranked among {self.n:,} items of {self.n_items:,} ({self.sampler}, "
            f"seed {self.seed}; ties: {self.ties}), not comparable with rankings of all items"
        )

    def warning(self, k: int) -> str | None:
        """Return the text of `SampledMetricsWarning` for a metric at k; None where none is due.

        Where k is small against n, and n against the catalogue, the sample says nothing about the
        first k of all items.
        """
        if 2 * k > self.n or 2 * self.n > self.n_items:
            return None
        # An item that leads its sample may be at rank N / n of the catalogue, which is about the
        # rank of k = 2; the linear mapping says 1 for k = 1.
        depth = self.depth(max(k, 2))
        return (
            f"k={k} among {self.n:,} sampled items of {self.n_items:,} corresponds to about the "
            f"first {depth:,} of all items, and may order systems otherwise than k={k} among all "
            "does (Krichene and Rendle 2020): rank all items, or see toplist.loo.corrected"
        )


# How items of equal scores are ordered, in words.
TIE_WORDS = {
    "order": "as they come",
    "item": "by item id, ascending",
    "item_desc": "by item id, descending",
    "trec_eval": "by item id, descending, in float32",
}


@dataclass(frozen=True)
class Entry:
    """One entry of `metrics` as asked for; `scalar` if it has one k and gives a float.

    `written` is how it was written, in the words of another library.
    """

    metric: Metric | ListMetric
    ks: tuple[int, ...]
    scalar: bool
    written: str = field(default="", compare=False)

    @property
    def whole(self) -> bool:
        """Whether it is of whole lists, as bpref is."""
        return getattr(self.metric, "cut", "k") == "n"


@dataclass(frozen=True)
class Terms:
    """What two results must share to be merged: what was asked, and by which rules."""

    entries: tuple[Entry, ...]
    convention: str
    empty: Empty
    missing: Missing
    grading: Grading
    pooled: tuple[str, ...] = ()
    weighted: bool = False
    sampled: Sampled | None = None
    relevant: Relevant = "all"
    ties: Ties = "order"
    unjudged: Unjudged = "miss"
    weighting: Weighting | None = None
    clip: float | None = None
    propensities: str | None = None  # a digest
    unit: str = field(default=USERS, compare=False)
    known_as: str = field(default="", compare=False)  # a synonym of the convention, if asked by it
    # options that leave no other trace, and are not the usual ones: words, or digests
    made_by: Mapping[str, str] = field(default_factory=dict, compare=False)
    own: Convention | None = None  # the convention, where it is of the caller's making

    @property
    def known(self) -> Convention:
        """The convention, without policies that were changed."""
        return CONVENTIONS[self.convention] if self.own is None else self.own

    @property
    def threshold_in_gains(self) -> bool:
        """Whether items below `relevant_from` gain nothing in graded metrics."""
        return self.known.threshold_in_gains

    @cached
    def empty_of(self) -> dict[str, Empty]:
        """What is done with empty ground truths in each metric of hits, by name."""
        return {name: metric.empty or self.empty for name, metric in self.metrics.items()}

    @cached
    def counting(self) -> dict[str, tuple[Empty, Of, float | None]]:
        """What decides who is in the mean of each metric of hits, by name."""
        return {
            name: (self.empty_of[name], one.of, one.relevant_from)
            for name, one in self.metrics.items()
        }

    @property
    def of_judged(self) -> list[str]:
        """The metrics whose R counts others: judged items (also where gains count them), groups."""
        gains = not self.threshold_in_gains and self.grading.relevant_from is not None
        metrics = self.measured.items()
        return [name for name, one in metrics if one.counts_others or (one.graded and gains)]

    @cached
    def depth(self) -> int:
        """The largest k."""
        return max((k for entry in self.entries for k in entry.ks), default=0)

    def with_depth(self, depth: int, longest: int | None = None) -> Terms:
        """Return the same with the whole list as the k of entries without one.

        `longest` is the k of metrics of the lists themselves, which are of lists as they are given;
        default: the same.
        """
        if all(one.ks for one in self.entries):
            return self
        given = depth if longest is None else longest

        def of(one: Entry) -> tuple[int, ...]:
            return one.ks or (max(given if isinstance(one.metric, ListMetric) else depth, 1),)

        return replace(self, entries=tuple(replace(one, ks=of(one)) for one in self.entries))

    @cached
    def longest(self) -> int:
        """The k of the metrics of whole lists, which is that of the longest; 0 without such."""
        return max((k for one in self.entries if one.whole for k in one.ks), default=0)

    @cached
    def ks_of(self) -> dict[str, list[int]]:
        """The k's asked for, rising, of every metric by name."""
        ks: dict[str, set[int]] = {}
        for entry in self.entries:
            ks.setdefault(entry.metric.name, set()).update(entry.ks)
        return {name: sorted(some) for name, some in ks.items()}

    @cached
    def ks(self) -> tuple[int, ...]:
        """The k's asked for, rising."""
        return tuple(sorted({k for entry in self.entries for k in entry.ks}))

    @property
    def names(self) -> list[str]:
        """The ``name@k`` of every mean, in the order asked for."""
        return [f"{entry.metric.name}@{k}" for entry in self.entries for k in entry.ks]

    @cached
    def asked(self) -> dict[str, Metric | ListMetric]:
        """The metrics by name, each once."""
        return {entry.metric.name: entry.metric for entry in self.entries}

    @cached
    def metrics(self) -> dict[str, Metric]:
        """The metrics of hits, by name."""
        return {name: one for name, one in self.asked.items() if isinstance(one, Metric)}

    @cached
    def measured(self) -> dict[str, Metric]:
        """The metrics of hits, with that of judged items where others leave the lists."""
        more = {"judged": METRICS["judged"]} if self.unjudged == "drop" else {}
        return more | self.metrics

    @cached
    def list_metrics(self) -> dict[str, ListMetric]:
        """The metrics of the lists themselves, by name."""
        return {name: one for name, one in self.asked.items() if isinstance(one, ListMetric)}

    def count(
        self, hits: Hits, counted: Bools, weights: Floats | None, n_threads: int | None = None
    ) -> Histograms:
        """Return the histograms of what was asked, with every k."""
        return averages.count(
            hits,
            per_user.weighing(counted, weights),
            tuple(self.measured.values()),
            self.ks,
            weights,
            pooled=self.pooled,
            threshold_in_gains=self.threshold_in_gains,
            n_threads=n_threads,
        )

    def spelled(self, name: Any) -> Any:
        """Return a name as it is here, where it is written in the words of another library."""
        known = not isinstance(name, str) or name.rpartition("@")[0] in self.asked
        return name if known or name in self.asked else canonical(name, self.convention)

    def find(self, name: str) -> tuple[Metric | ListMetric, int | None]:
        """Return the metric and the k of ``"name"`` or ``"name@k"``; a KeyError has the names."""
        metrics, given = self.asked, name
        name = self.spelled(name)
        base, at, k = name.rpartition("@") if isinstance(name, str) else ("", "", "")
        if not at or name in metrics:  # a label may have an @
            base, at = name, ""
        known = base in metrics if isinstance(base, str) else False
        whole = known and getattr(metrics[base], "cut", "k") == "n"  # of the whole list alone
        if known and not at:
            return metrics[base], self.ks_of[base][-1] if whole else None
        if whole and k.isdigit() and int(k) not in self.ks_of[base]:
            raise KeyError(f"{given!r}: {base} has no k, it is of the whole list: {base!r}")
        if known and k.isascii() and k.isdigit() and 1 <= int(k) <= self.depth:
            return metrics[base], int(k)

        meant = None if known else metric_meant(given, metrics)
        near = did_you_mean(meant if meant and meant.partition("@")[0] in metrics else None)
        raise KeyError(
            f"{given!r}{near}: this result has {', '.join(metrics)}, without k or with @1 to "
            f"@{self.depth}"
        )

    def rules(self, metric: Metric | None = None) -> str:
        """Return the convention, and which definitions are not its own; of one metric, or all."""
        standard = self.known.metrics
        asked = list(self.metrics.values()) if metric is None else [metric]
        own = []
        for one in asked:
            name, parameter, _ = one.name.partition("(")
            # such as rbp(p=0.5) and precision(rel=2)
            of_tables = parameter and (name in PARAMETRIC or one.relevant_from is not None)
            its = standard.get(name)
            if its and its.earning and one.earning and its.earning.name == one.earning.name:
                its = replace(its, counts=one.counts)  # with the largest grade that was found
            same = its.formula == one.formula if its else name in SCORED
            same |= its is not None and self.weighting is not None
            own += [] if of_tables or same else [one.name]
        text = f"convention {self.convention}"
        if own and len(own) == len(asked):
            text = f"own definition, policies of {text}"
        elif own:
            text += f" (except {', '.join(own)}: own definition)"
        if self.weighting is not None:
            clipped = "" if self.clip is None else f", clipped at {self.clip:g}"
            text += f", relevant items count 1 / propensity ({self.weighting.upper()}{clipped})"
        if self.ties != (self.known.ties or "order"):
            text += f", equal scores {TIE_WORDS[self.ties]}"
        if self.relevant == "listed":
            text += ", R counts relevant items of the list only"
        if self.unjudged == "drop":
            text += ", unjudged items leave the lists"
        if self.grading.relevant_from is not None:
            text += f", relevant from grade {self.grading.relevant_from:g}"
        if self.grading.gains != "linear" and any(one.graded for one in asked):
            text += f", {self.grading.words}"
        for one in asked:
            largest = getattr(one.earning and one.earning.function, "max", None)
            if largest is not None and "(" not in one.name:
                text += f", {one.name}: largest grade {largest:g}"
        return text


def chosen(several: Mapping[str, Terms], names: Names) -> dict[str, Terms]:
    """Return terms with the means of some names alone, in their order.

    Parameters
    ----------
    several : dict of system -> Terms
    names : str or several
        ``"ndcg@10"``, or ``"ndcg"`` for every k that was asked for.

    Raises
    ------
    KeyError
        For a name that no system has, and a system that has none of the names.
    """
    found: dict[str, list[Entry]] = {system: [] for system in several}
    for given in listed(names):
        before = sum(map(len, found.values()))
        for system, terms in several.items():
            name = terms.spelled(given)
            for one in terms.entries:
                ks = [k for k in one.ks if name in (one.metric.name, f"{one.metric.name}@{k}")]
                found[system] += [replace(one, ks=tuple(ks))] if ks else []
        if sum(map(len, found.values())) == before:
            held = dict.fromkeys(name for terms in several.values() for name in terms.names)
            raise KeyError(f"{given!r} is not shown here: there are {', '.join(held)}")
    left = {}
    for system, terms in several.items():
        if not found[system]:
            raise KeyError(f"{system} has none of these: it has {', '.join(terms.names)}")
        kept = {entry.metric.name for entry in found[system]}
        pooled = tuple(name for name in terms.pooled if name in kept)
        left[system] = replace(terms, entries=tuple(found[system]), pooled=pooled)
    return left


def difference(a: Terms, b: Terms) -> str:
    """Return the first term that differs, with both values, in words."""
    mine, theirs = ({**vars(one), **asdict(one.grading)} for one in (a, b))
    for name in (*(one.name for one in fields(Terms) if one.compare), *asdict(a.grading)):
        if mine[name] != theirs[name] and name not in ("entries", "grading"):
            return f"{name} is {mine[name]!r} in one and {theirs[name]!r} in the other"
    names = [terms.names for terms in (a, b)]
    if names[0] == names[1]:
        metrics = [name for name in a.asked if a.asked[name] != b.asked[name]]
        return f"{', '.join(metrics) or 'k'} is defined differently in one and in the other"
    return f"one has {', '.join(names[0])}, the other {', '.join(names[1])}"


def common(several: Sequence[Terms]) -> Terms:
    """Return the terms of results that are merged into one; ValueError for what differs.

    What is refused by "raise" is in no list: beside another word the numbers are those of that.
    """
    first = several[0]
    made_by = {name: word for terms in several for name, word in terms.made_by.items()}
    for terms in several:
        if terms != first:
            raise ValueError(f"cannot merge: {difference(first, terms)}")
        for name, word in made_by.items():
            own = terms.made_by.get(name, None if name == "items_as" else word)
            if own != word:
                raise ValueError(f"cannot merge: {name} is {own!r} in one and {word!r} in another")
    return replace(first, made_by=made_by)
