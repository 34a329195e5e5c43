"""The conventions: which metrics other libraries have, with their divisors and policies.

A convention has the entries that differ from the standard table, and the policies for empty ground
truths, missing lists and averaging, with the place in the library's source that shows them. None
rounds, and none copies a defect (repeated items that count twice, ideals made from the hits found).
Only libraries that have grades use them: the others count every relevant item as 1.

Not of this form, and therefore not included: means of precisions (Elliot's MAP), bpref.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from toplist.metrics.definitions import METRICS, Metric

MISSING = ("zero", "skip", "raise")
# Which relevant items are known, and counted as R: all, or those in the list.
RELEVANT = ("all", "listed")


@dataclass(frozen=True)
class Convention:
    """A named set of metrics and policies.

    Parameters
    ----------
    name : str
    metrics : mapping of name to Metric
        The metrics that the library has, with its divisors.
    empty : {"skip", "zero", "one", "raise"}
        What is done with a user whose ground truth is empty: left out of the means, 0, 1, or an
        error.
    missing : {"zero", "skip", "raise"}
        What is done with a user who has a ground truth but no list.
    pooled : tuple of str
        Metrics that are a ratio of sums over users, instead of a mean of ratios.
    source : str
        Repository, version and lines.
    text : str
        What is special about it, and which defects are not copied.
    relevant : {"all", "listed"}
        Whether the ground truth is that of the user, or is known for listed items only, as labels
        beside scores are: R is then the number of hits in the whole list.
    empty_of : mapping of name to policy
        The metrics that do otherwise with such a user.
    threshold_in_gains : bool
        Whether items below `relevant_from` gain nothing in graded metrics. In trec_eval the
        threshold decides what is relevant, and nDCG does not read it.

    Examples
    --------
    >>> lenskit = CONVENTIONS["lenskit"]
    >>> lenskit.metrics["precision"].divisor, lenskit.missing
    ('min(k,n)', 'skip')
    """

    name: str
    metrics: Mapping[str, Metric]
    empty: str = "skip"
    missing: str = "zero"
    pooled: tuple[str, ...] = ()
    source: str = ""
    text: str = ""
    threshold_in_gains: bool = True
    relevant: str = "all"
    empty_of: Mapping[str, str] = field(default_factory=dict)

    def policy_of(self, metric: Metric) -> str:
        """Return what is done in a metric with users whose ground truth is empty."""
        return metric.empty or self.empty_of.get(metric.name, self.empty)


def _metrics(
    names: str, *others: Metric, graded: bool = False, **divisors: str
) -> dict[str, Metric]:
    """Return the standard metrics of these names, some with another divisor, and the others."""
    rows = [METRICS[name] for name in names.split()]
    chosen = [
        replace(row, divisor=divisors.get(row.name, row.divisor), graded=graded and row.graded)
        for row in rows
    ]
    return {metric.name: metric for metric in (*chosen, *others)}


_CLIPPED = [replace(METRICS[name], discount="log2(max(r,2))") for name in ("ndcg", "dcg")]

_ROWS = (
    Convention(
        "standard",
        METRICS,
        text="What most libraries and textbooks compute. map@k divides by min(k, R), so it "
        "may fall as k grows; trec_eval's, divided by R, does not.",
    ),
    Convention(
        "neurec",
        _metrics(
            "hit precision recall map ndcg mrr",
            precision="min(k,n)",
            map="sum(min(i,R))",
            ndcg="ideal(min(k,n,R))",
        ),
        empty="zero",
        source="wubinzzu/NeuRec@9e9391b evaluator/backend/python/metric.py:8-64",
        text="NeuRec's Python backend: a list ends at min(k, n). Its map divides by a running "
        "sum, which gives a perfect list of three 0.5 (NeuRec issue 39).",
    ),
    Convention(
        "neurec-cpp",
        _metrics("precision recall map ndcg mrr"),
        source="wubinzzu/NeuRec@9e9391b evaluator/backend/cpp/include/metric.h:17-108",
        text="NeuRec's C++ backend, chosen silently where it is built; sums in float32 there.",
    ),
    Convention(
        "rectorch",
        _metrics("hit recall ndcg mrr", recall="min(k,R)"),
        source="makgyver/rectorch@f4292d6 rectorch/metrics.py:136-285",
        text="recall divides by min(k, R). A user without relevant items is NaN there.",
    ),
    Convention(
        "recbole",
        _metrics("hit precision recall map ndcg mrr"),
        source="RUCAIBox/RecBole@7b02be5 recbole/evaluator/metrics.py:62-227",
        text="The standard divisors; RecBole rounds its means to 4 decimals.",
    ),
    Convention(
        "sklearn",
        _metrics("dcg ndcg", graded=True),
        empty="zero",
        source="scikit-learn/scikit-learn@000ab8a sklearn/metrics/_ranking.py dcg_score, "
        "ndcg_score",
        text="Grades are linear gains. Ties in scores are averaged: toplist.scores.ndcg.",
    ),
    Convention(
        "trec_eval",
        _metrics("hit precision recall map ndcg mrr", graded=True, map="R"),
        empty="zero",
        missing="skip",
        threshold_in_gains=False,
        source="usnistgov/trec_eval@f425365 m_success.c m_P.c m_recall.c m_map_cut.c "
        "m_ndcg_cut.c m_recip_rank.c",
        text="success, P, recall, map_cut (map when k covers the list), ndcg_cut, recip_rank. "
        "Users without a list are left out; its option -c counts them as 0.",
    ),
    Convention(
        "ranx",
        _metrics(
            "hit precision recall f1 map mrr dcg ndcg rbp",
            replace(METRICS["cg"], graded=False),
            graded=True,
            map="R",
        ),
        empty="zero",
        source="AmenRa/ranx@2cae52f ranx/metrics/*.py",
        text="cg is its hits. It wants the same users on both sides, or make_comparable=True, "
        "which counts missing lists as 0. Not copied: repeated items that count twice, and grades "
        "in rbp, which then exceeds 1.",
    ),
    Convention(
        "rectools",
        _metrics("hit precision recall f1 map ndcg mrr", map="R", ndcg="ideal(k)"),
        source="MobileTeleSystems/RecTools@41a5a63 rectools/metrics/ranking.py:281-572, "
        "classification.py:290-316",
        text="Its defaults: nDCG's ideal fills all k places whatever R is "
        "(divide_by_achievable=False). Repeated items that count twice are not copied.",
    ),
    Convention(
        "lenskit",
        _metrics(
            "hit precision recall map mrr",
            *_CLIPPED,
            precision="min(k,n)",
            recall="min(k,R)",
            map="min(k,n,R)",
        ),
        missing="skip",
        source="lenskit/lkpy@3bd1c17 src/lenskit/metrics/ranking/_pr.py:38-71 _map.py:30-44 "
        "_dcg.py _weighting.py:103-122 _recip.py:40-50",
        text="Ranks 1 and 2 weigh the same in DCG: the discount is log2(max(rank, 2)). Its "
        "list_summary counts an empty list, and a list without truth, as 0; here both are left "
        "out, as a missing list is there.",
    ),
    Convention(
        "recommenders",
        _metrics(
            "precision recall map ndcg",
            replace(METRICS["map"], name="map_at_k"),
            graded=True,
            map="R",
        ),
        missing="skip",
        source="recommenders-team/recommenders@b02c95e recommenders/evaluation/"
        "python_evaluation.py:496-834",
        text="nDCG as with score_type='raw', where there are grades. Has two functions, map "
        "(divided by R) and map_at_k (by min(k, R)). Only its nDCG counts users without a "
        "list as 0, which is the policy 'zero' for missing lists. Repeated items that count twice "
        "are not copied.",
    ),
    Convention(
        "implicit",
        _metrics("precision map ndcg", precision="min(k,R)"),
        pooled=("precision",),
        source="benfred/implicit@8a95dbe implicit/evaluation.pyx:428-471",
        text="What it calls precision is a recall capped at k and pooled over users.",
    ),
    Convention(
        "irspack",
        _metrics(
            "hit precision recall map ndcg",
            precision="min(k,n)",
            map="R",
            ndcg="ideal(min(k,n,R))",
        ),
        missing="skip",
        source="tohtsky/irspack@1877e70 cpp_source/evaluator.cpp:137-165",
        text="Short lists are not penalized in precision and nDCG.",
    ),
    Convention(
        "spark",
        _metrics("precision recall map ndcg"),
        empty="zero",
        source="apache/spark@075aa42 mllib/evaluation/RankingMetrics.scala",
        text="precisionAt, recallAt, meanAveragePrecisionAt, ndcgAt. Not copied: repeated items "
        "that count twice, and ideals in the order given.",
    ),
)

# read-only, since it is shared
CONVENTIONS: Mapping[str, Convention] = MappingProxyType({row.name: row for row in _ROWS})


def same_formula(metric: Metric) -> list[str]:
    """Return the conventions that have a metric of this name with the same three choices.

    Examples
    --------
    >>> same_formula(METRICS["map"])
    ['standard', 'neurec-cpp', 'recbole', 'implicit', 'spark']
    """
    return [
        name
        for name, convention in CONVENTIONS.items()
        if convention.metrics.get(metric.name) == metric.formula
    ]


_POLICY_WORDS = {
    "skip": "are left out",
    "zero": "score 0",
    "one": "score 1",
    "raise": "are an error",
}


def policies(empty: str, missing: str, empty_of: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the two policies in words, with the metrics that do otherwise.

    Examples
    --------
    >>> policies("skip", "zero")
    'users without relevant items are left out; users without a list score 0'
    >>> policies("skip", "zero", {"precision": "zero", "map": "skip"})
    'users without relevant items are left out (precision: score 0); users without a list score 0'
    """
    words = _POLICY_WORDS
    others = [f"{name}: {words[policy]}" for name, policy in empty_of.items() if policy != empty]
    of_some = f" ({', '.join(others)})" if others else ""
    return (
        f"users without relevant items {words[empty]}{of_some}; users without a list "
        f"{words[missing]}"
    )
