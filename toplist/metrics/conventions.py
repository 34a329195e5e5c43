"""The conventions: which metrics other libraries have, with their divisors and policies.

A convention has the entries that differ from the standard table, and the policies for empty ground
truths, missing lists and averaging, with the place in the library's source that shows them. None
rounds, and none copies a defect (repeated items that count twice, ideals made from the hits found).
Only libraries that have grades use them: the others count every relevant item as 1.

Not of this form, and therefore not included: means of precisions (Elliot's MAP), bpref.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Literal, cast, get_args

from toplist.checks import choice, did_you_mean, near, readable
from toplist.metrics.definitions import (
    EMPTY,
    GAINS,
    METRICS,
    TREC_IPREC,
    DivisorName,
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
# How items of equal scores are ordered: as they come, or by item id.
Ties = Literal["order", "item", "item_desc"]
TIES: tuple[Ties, ...] = get_args(Ties)

# The names of `CONVENTIONS`, and of `SYNONYMS`, for type checkers and editors.
ConventionName = Literal[
    "standard", "neurec", "neurec-cpp", "rectorch", "recbole", "sklearn", "trec_eval", "ranx",
    "rectools", "lenskit", "recommenders", "implicit", "irspack", "spark", "llamaindex", "mlflow",
    "haystack", "haystack-2025", "sentence-transformers", "mteb", "ragas", "replay", "evidently",
    "tf-ranking", "lightgbm", "torchmetrics", "elliot", "recpack", "cornac", "longmemeval",
    "xgboost", "catboost", "autorag", "pytorch-metric-learning", "elasticsearch", "opensearch",
    "quepid", "transformers4rec", "bwhite",
    "pyvespa", "torch_geometric", "lightfm", "keras-rs", "rax", "kaggle",
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
        What is done with a user who has no list. Whom `empty` or `missing` leaves out is left out.
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
        of every metric (`pooled` names some alone). Ratios of sums have no std.
    ties : {"order", "item", "item_desc"}, optional
        How items of equal scores are ordered, unless ``toplist.Ranks(ties=...)`` says otherwise.
        Default: as the source has them.
    replaced : tuple of str
        The policies that `replace` was given.

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
        """Check the policies."""
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
        given: dict[str, Any] = {
            "empty": empty,
            "missing": missing,
            "relevant": relevant,
            "aggregate": aggregate,
            "gains": gains,
        }
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


def _metrics(names: str, *others: Metric, graded: bool = False) -> dict[str, Metric]:
    """Return the standard metrics of these names, some with another divisor after ``/``."""
    chosen = []
    for word in names.split():
        name, _, divisor = word.partition("/")
        row = METRICS[name]
        divided = cast(DivisorName, divisor) or row.divisor
        chosen.append(replace(row, divisor=divided, graded=graded and row.graded))
    return {metric.name: metric for metric in (*chosen, *others)}


MAR = Metric("mar", "nth", "1", "R^2", text="average recall: sum of the recall at each hit, over R")
NCRR = Metric(
    "ncrr",
    "each",
    "r",
    "ideal(min(k,n,R))",
    text="sum of reciprocal ranks of the hits over that of the ideal order",
)
R_CAP = Metric(
    "r_cap",
    "each",
    "1",
    "min(k,R)",
    text="recall capped at k: hits over the most that k places can hold",
)
_CALIBRATED = replace(
    R_CAP, name="calibrated_recall", text="hits over the most that k places can hold"
)
_MAP_AT_R = replace(
    METRICS["map"],
    name="map_at_r",
    divisor="R",
    cut="R",
    text="average precision of the first R ranks, over R (Musgrave et al. 2020)",
)
_N_HITS = replace(METRICS["cg"], graded=False)
_CLIPPED = [replace(METRICS[name], discount="log2(max(r,2))") for name in ("ndcg", "dcg")]

#: The conventions by name: whose divisors and policies. Read-only, since it is shared.
CONVENTIONS: Mapping[str, Convention] = table_of(
    Convention(
        "standard",
        METRICS,
        text="What most libraries and textbooks compute. map@k divides by min(k, R), so it "
        "may fall as k grows; trec_eval's, divided by R, does not.",
    ),
    Convention(
        "neurec",
        _metrics("hit precision/min(k,n) recall map/sum(min(i,R)) ndcg/ideal(min(k,n,R)) mrr"),
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
        _metrics("hit recall/min(k,R) ndcg mrr"),
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
        _metrics(
            "hit precision recall map/R ndcg mrr r_precision judged complete err nerr bpref "
            "group_recall alpha_ndcg",
            TREC_IPREC,
            graded=True,
        ),
        empty="zero",
        missing="skip",
        threshold_in_gains=False,
        ties="item_desc",
        source="usnistgov/trec_eval@f425365 m_success.c m_P.c m_recall.c m_map_cut.c "
        "m_ndcg_cut.c m_recip_rank.c m_Rprec.c m_bpref.c m_iprec_at_recall.c; err, nerr and "
        "complete are those of ir_measures, which asks gdeval",
        text="success, P, recall, map_cut (map when k covers the list), ndcg_cut, recip_rank, and "
        "Rprec when k covers R. iprec reads from hit number int(recall R + .9) on, in floating "
        "point: of .7 and R = 3 that is 2, where the standard one rounds up to 3. Users without a "
        "list are left out; its option -c counts them as 0.",
    ),
    Convention(
        "ranx",
        _metrics("hit precision recall f1 map/R mrr dcg ndcg rbp", _N_HITS, graded=True),
        empty="zero",
        source="AmenRa/ranx@2cae52f ranx/metrics/*.py",
        text="cg is its hits, and hits is read as cg. It wants the same users on both sides, or "
        "make_comparable=True, which counts missing lists as 0. Not copied: repeated items that "
        "count twice, and grades in rbp, which then exceeds 1.",
    ),
    Convention(
        "rectools",
        _metrics("hit precision recall f1 map/R ndcg/ideal(k) mrr"),
        source="MobileTeleSystems/RecTools@41a5a63 rectools/metrics/ranking.py:281-572, "
        "classification.py:290-316",
        text="Its defaults: nDCG's ideal fills all k places whatever R is "
        "(divide_by_achievable=False). Repeated items that count twice are not copied.",
    ),
    Convention(
        "lenskit",
        _metrics("hit precision/min(k,n) recall/min(k,R) map/min(k,n,R) mrr", *_CLIPPED),
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
            "precision recall map/R ndcg", replace(METRICS["map"], name="map_at_k"), graded=True
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
        _metrics("precision/min(k,R) map ndcg"),
        pooled=("precision",),
        source="benfred/implicit@8a95dbe implicit/evaluation.pyx:428-471",
        text="What it calls precision is a recall capped at k and pooled over users.",
    ),
    Convention(
        "irspack",
        _metrics("hit precision/min(k,n) recall map/R ndcg/ideal(min(k,n,R))"),
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
    Convention(
        "llamaindex",
        _metrics("hit precision/min(k,n) recall map/R ndcg/ideal(R) mrr"),
        empty="raise",
        missing="raise",
        source="run-llama/llama_index 0.14.25 llama-index-core/llama_index/core/evaluation/"
        "retrieval/metrics.py:214,332,421",
        text="Its lists are read whole: k covers them. Before its PR #17126 the ideal of nDCG was "
        "as long as the list. Its granular MRR divides by the hits so far. Not copied: repeated "
        "ids that count twice in AP and nDCG.",
    ),
    Convention(
        "mlflow",
        _metrics("precision/min(k,n) recall ndcg/ideal(min(k,n,R))"),
        empty="zero",
        source="mlflow/mlflow 3.17.2 mlflow/metrics/metric_definitions.py:399,491,520",
        text="nDCG's ideal is no longer than the list, which a short list gains by (its open "
        "defect #24541). Not copied: recall and nDCG of 1 where truth and list are both empty "
        "(here 0), and repeated ids that count again in precision and lengthen the truth in nDCG.",
    ),
    Convention(
        "haystack",
        _metrics("hit recall map/R ndcg/ideal(R) mrr", graded=True),
        empty="zero",
        source="deepset-ai/haystack@c7cb46c haystack/components/evaluators/document_map.py:141 "
        "document_ndcg.py:203 document_mrr.py document_recall.py",
        text="Since its PR #12255 (2026-08); before, see haystack-2025. hit is its recall of "
        "single hits. Its lists are read whole: k covers them.",
    ),
    Convention(
        "haystack-2025",
        _metrics("hit recall map/hits ndcg/ideal(R) mrr", graded=True),
        empty="zero",
        source="deepset-ai/haystack before PR #12255 haystack/components/evaluators/"
        "document_map.py",
        text="Haystack before 2026-08: map is divided by the hits found, so that a list may score "
        "1 with half of the relevant documents missing.",
    ),
    Convention(
        "sentence-transformers",
        _metrics("hit precision recall map ndcg mrr"),
        source="huggingface/sentence-transformers@cad2119 sentence_transformers/"
        "sentence_transformer/evaluation/information_retrieval.py:159,508-539",
        text="InformationRetrievalEvaluator; hit is its accuracy. Equal scores go by ascending id: "
        "the policy 'item' for ties. Not copied: repeated ids that count twice.",
    ),
    Convention(
        "mteb",
        _metrics("hit precision recall map/R ndcg mrr", R_CAP, graded=True),
        empty="zero",
        missing="skip",
        empty_of={"r_cap": "skip"},
        threshold_in_gains=False,
        source="embeddings-benchmark/mteb@a905523 mteb/_evaluators/retrieval_metrics.py:40,78; "
        "beir-cellar/beir@ef83d29 beir/retrieval/custom_metrics.py:55",
        text="pytrec_eval (equal scores by descending id), and R_cap; rounded to 5 decimals there. "
        "BEIR has the same, but its MRR is divided by the queries of the qrels, which is the "
        "policy 'zero' for missing lists, and its R_cap fails for a query without relevant "
        "documents.",
    ),
    Convention(
        "ragas",
        _metrics("precision/min(k,n) recall"),
        empty_of={"precision": "zero"},
        source="explodinggradients/ragas@3e28e9d src/ragas/metrics/_context_precision.py:290-304 "
        "_context_recall.py:262-272",
        text="Context precision and recall by ids. Its lists are read whole: k covers them. "
        "Without a list its recall is 0 and its precision NaN; here both are 0. Its context "
        "precision by a language model is average precision divided by the hits so far.",
    ),
    Convention(
        "replay",
        _metrics("hit precision recall map ndcg mrr"),
        source="sb-ai-lab/RePlay@b4e051e replay/metrics/map.py:64-78",
        text="Of tables; of dicts, a user without relevant items counts as 0, the policy 'zero'. "
        "Not copied: repeated items that count twice in map and ndcg.",
    ),
    Convention(
        "evidently",
        _metrics("hit precision/min(k,n) recall map/R ndcg mrr", MAR, graded=True),
        missing="skip",
        relevant="listed",
        source="evidentlyai/evidently@a4aa4c2 src/evidently/legacy/metrics/recsys/"
        "precision_recall_k.py:62-107",
        text="Relevance is known for listed items only. no_feedback_users=True is the policy "
        "'zero' for empty truths. Its F is that of the means. Not copied: at every k past the end "
        "of a short list its last hit is added again.",
    ),
    Convention(
        "tf-ranking",
        _metrics("hit precision/min(k,n) recall map/R ndcg dcg mrr", graded=True),
        empty="zero",
        missing="skip",
        relevant="listed",
        gains="exponential",
        source="tensorflow/ranking@5b1d133 tensorflow_ranking/python/metrics_impl.py:31-33,202,620",
        text="Relevance is known for listed items only; relevant are labels from 1 on.",
    ),
    Convention(
        "lightgbm",
        _metrics("map/min(k,n,R) ndcg", graded=True),
        empty="one",
        missing="skip",
        relevant="listed",
        gains="exponential",
        source="microsoft/LightGBM@bae0b7b src/metric/map_metric.hpp:73-107 rank_metric.hpp:86-147",
        text="Relevance is known for listed items only. A query without relevant items scores 1, "
        "as in XGBoost and in scikit-learn's label_ranking_average_precision_score.",
    ),
    Convention(
        "torchmetrics",
        _metrics("hit precision recall map/hits ndcg mrr r_precision", graded=True),
        empty="zero",
        missing="skip",
        relevant="listed",
        source="Lightning-AI/torchmetrics@dab0333 src/torchmetrics/functional/retrieval/"
        "average_precision.py:62",
        text="Relevance is known for listed items only. map with top_k is divided by the hits in "
        "the first k, so that it may be 1 with half of the relevant items missing. "
        "empty_target_action 'pos' is the policy 'one', 'skip' and 'error' are 'skip' and 'raise'. "
        "nDCG averages ties: toplist.scores.ndcg. Not copied: scores of 0 or less that are left "
        "out.",
    ),
    Convention(
        "elliot",
        _metrics("hit precision recall f1 ndcg mrr", graded=True),
        missing="skip",
        gains="exponential",
        source="sisinflab/elliot@fc27efe elliot/evaluation/metrics/accuracy/*/*.py",
        text="The gain is 2^(grade - threshold + 1) - 1, which is that of grades less the "
        "threshold plus 1. Its MAP and MAR are means of precision and recall over 1..k, which is "
        "no sum over hits: not here. Not copied: repeated items that count twice.",
    ),
    Convention(
        "recpack",
        _metrics("precision recall ndcg dcg mrr", _N_HITS, _CALIBRATED),
        source="LienM/recpack@d429977 recpack/metrics/recall.py:83 dcg.py:121",
        text="cg is its HitK, the number of hits. CalibratedRecallK is what BEIR calls R_cap.",
    ),
    Convention(
        "cornac",
        _metrics("hit precision recall f1 ndcg mrr", NCRR),
        source="PreferredAI/cornac@4db147d cornac/metrics/ranking.py:172,272",
        text="Its MRR reads the whole list: k covers it. NCRR is nDCG with the discount r. Not "
        "copied: repeated items that count twice.",
    ),
    Convention(
        "longmemeval",
        _metrics("hit complete", replace(_CLIPPED[0], graded=False)),
        source="xiaowu0162/LongMemEval@9e0b455 src/retrieval/eval_utils.py:4-29 "
        "run_retrieval.py:389-409",
        text="recall_any is hit, recall_all is complete, and ndcg_any is nDCG with the discount "
        "log2(max(rank, 2)). Its reports leave out questions without a target, as here; its "
        "functions alone give these 0, 1 and 0.",
    ),
    Convention(
        "xgboost",
        _metrics("precision/min(k,n) map ndcg", graded=True),
        empty="one",
        empty_of={"precision": "zero"},
        missing="skip",
        relevant="listed",
        gains="exponential",
        source="dmlc/xgboost@379b29f src/metric/rank_metric.cc:288-462 "
        "src/common/ranking_utils.cc:95-109",
        text="Relevance is known for listed items only; map and pre, which is precision, refuse "
        "grades. A query without relevant items scores 1, in pre 0; the suffix '-', as in ndcg@5-, "
        "is the policy 'zero' for empty truths. ndcg_exp_gain=False is gains 'linear'.",
    ),
    Convention(
        "catboost",
        _metrics("precision/min(k,n) recall map/min(k,n,R) ndcg dcg mrr", graded=True),
        empty="zero",
        empty_of={"recall": "one", "ndcg": "one"},
        missing="skip",
        relevant="listed",
        source="catboost/catboost@8992ed3 catboost/libs/metrics/precision_recall_at_k.cpp:49-84; "
        "@7ab73e6 catboost/libs/metrics/dcg.cpp CalcNdcg; MRR as in catboost 1.2.10",
        text="Relevance is known for listed items only; relevant are labels above its border 0.5. "
        "A query without relevant items scores 1 in RecallAt and NDCG, and 0 in the others. "
        "NDCG:type=Exp is gains 'exponential'. Its ERR reads labels as probabilities: not here.",
    ),
    Convention(
        "autorag",
        _metrics(
            "precision/min(k,n) ndcg/ideal(min(k,n,R))",
            replace(METRICS["group_recall"], name="recall"),
        ),
        missing="skip",
        source="Marker-Inc-Korea/AutoRAG@a35d321 legacy/autorag/evaluation/metric/"
        "retrieval.py:24-70",
        text="Its truths are toplist.Groups: recall is the share of groups found, in precision and "
        "nDCG any id of a group is relevant. Its lists are read whole: k covers them. Its MRR and "
        "MAP are means over groups, each with ranks of its own, and its F1 is of hits and of "
        "groups: not here. Not copied: in nDCG, repeated ids that count twice, and in its ideal "
        "ids of two groups that do.",
    ),
    Convention(
        "pytorch-metric-learning",
        _metrics("precision map/R mrr r_precision/min(k,R)", _MAP_AT_R),
        source="KevinMusgrave/pytorch-metric-learning@216a792 src/pytorch_metric_learning/utils/"
        "accuracy_calculator.py:53-147,170-192",
        text="AccuracyCalculator: a query's relevant items are the references of its label, and "
        "lone queries, which have none, are left out. Of precision it has precision_at_1; "
        "map_at_r is its mean_average_precision_at_r, right from k = R on, as its r_precision. "
        "avg_of_avgs, means of the labels' means, is not here.",
    ),
    Convention(
        "elasticsearch",
        _metrics("precision/min(k,n) recall mrr dcg ndcg/ideal(min(k,n,R)) err", graded=True),
        empty="zero",
        gains="exponential",
        threshold_in_gains=False,
        source="elastic/elasticsearch@d04e400 modules/rank-eval/src/main/java/org/elasticsearch/"
        "index/rankeval/DiscountedCumulativeGain.java evaluate; PrecisionAtK.java@e8b3041, "
        "RecallAtK.java@82f5de8, MeanReciprocalRank.java@0066a27, ExpectedReciprocalRank.java"
        "@0991027",
        text="The _rank_eval API. nDCG's ideal is no longer than the list, which a short list "
        "gains by. relevant_rating_threshold is relevant_from, which dcg and err do not read; "
        "maximum_relevance of err is err(max=3). Not here: ignore_unlabeled, unknown_doc_rating.",
    ),
    Convention(
        "opensearch",
        _metrics("precision/min(k,n) map/R ndcg", graded=True),
        empty="zero",
        missing="skip",
        gains="exponential",
        source="opensearch-project/search-relevance@d8be5d1 src/main/java/org/opensearch/"
        "searchrelevance/metrics/calculator/Evaluation.java:23-113 MetricsHelper.java:399-404",
        text="The plugin Search Relevance. It stores no value of a query without hits. Not copied: "
        "every query's value is rounded to 2 decimals there, and repeated ids count twice.",
    ),
    Convention(
        "quepid",
        _metrics("precision/min(k,n) map/R ndcg/ideal(R) dcg mrr err", graded=True),
        empty="zero",
        missing="skip",
        gains="exponential",
        source="o19s/quepid@f80322f db/scorers/{p,ap,ndcg,dcg,rr,err}@10.js "
        "app/assets/javascripts/services/queriesSvc.js:1201-1210",
        text="nDCG's ideal has all rated documents, whatever k. Queries without hits are left out; "
        "so are those without any rating, which the policy 'zero' counts. The max of its err is "
        "that of the scale: err(max=3). Its cg adds grades, not gains: not here. Not copied: an AP "
        "of NaN where nothing is relevant, a dcg of NaN where a listed document has no rating.",
    ),
    Convention(
        "transformers4rec",
        _metrics("precision recall map dcg mrr"),
        empty="zero",
        source="NVIDIA-Merlin/Transformers4Rec@8bf122f transformers4rec/torch/"
        "ranking_metric.py:73-319",
        text="Not here: the ideal of its nDCG is made from the hits down to the largest k asked "
        "for, so that one k changes another. With one relevant item it is dcg.",
    ),
    Convention(
        "bwhite",
        _metrics("precision map/hits mrr", *_CLIPPED, graded=True),
        empty="zero",
        relevant="listed",
        source="gist.github.com/bwhite/3726239 rank_metrics.py, as copied to razi-rechan/boostNsift"
        "@90253b7 rank_metrics.py",
        text="The gist that many papers copied: labels of the list alone. average_precision is "
        "divided by the hits found. nDCG is its method 0, where ranks 1 and 2 weigh the same; "
        "method 1 is that of torchmetrics. Its r_precision, the precision at the last hit, is not "
        "here; its precision_at_k refuses a list shorter than k.",
    ),
)

#: Other libraries with the formulas and policies of a convention, which may be named instead.
#: Read-only. Their sources: vespa-engine/pyvespa@42b584a vespa/evaluation/_base.py:616-752 (of
#: grades it has nDCG alone), pyg-team/pytorch_geometric@5c6461b torch_geometric/metrics/
#: link_pred.py:442-616 (LinkPred...; not weighted=True of recall), lyst/lightfm@0c9c31e
#: lightfm/evaluation.py:14-327 (preserve_rows=False), keras-team/keras-rs@812d35b keras_rs/src/
#: metrics/*.py, google/rax@af92de1 rax/_src/metrics.py:148-846, benhamner/Metrics@9a637ae
#: Python/ml_metrics/average_precision.py:3-65 (mapk of Kaggle).
SYNONYMS: Mapping[str, str] = MappingProxyType(
    {
        "pyvespa": "standard",
        "torch_geometric": "standard",
        "lightfm": "standard",
        "keras-rs": "tf-ranking",
        "rax": "tf-ranking",
        "kaggle": "spark",
    }
)


# Names that others use. pytrec_eval is trec_eval, and ir_measures asks it first; BEIR has mteb's
# metrics.
OTHER_NAMES = {
    "pytrec_eval": "trec_eval",
    "ir_measures": "trec_eval",
    "trec": "trec_eval",
    "beir": "mteb",
    "scikit-learn": "sklearn",
    "tensorflow_ranking": "tf-ranking",
    "lkpy": "lenskit",
    "pyspark": "spark",
    "sbert": "sentence-transformers",
    "default": "standard",
}


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
    return (
        KNOWN
        if metric.relevant_from is None
        else f"items of grade {metric.relevant_from:g} or more"
    )


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
