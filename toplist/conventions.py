"""Who computes what: per convention the metrics it has, its divisors, and its policies.

A convention is entries that differ from the standard table, plus the policies for empty ground
truths and missing lists, each with the place in the peer's source that says so. Nothing here
rounds, and nothing copies a defect (duplicates counted twice, ideals from the hits found).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from toplist.metrics import METRICS, Metric

EMPTY = ("skip", "zero", "raise")
MISSING = ("zero", "skip", "raise")


@dataclass(frozen=True)
class Convention:
    """A named set of metrics and policies.

    Parameters
    ----------
    name : str
    metrics : mapping of name to Metric
        The metrics the peer has, with its divisors.
    empty : {"skip", "zero", "raise"}
        A user with an empty ground truth.
    missing : {"zero", "skip", "raise"}
        A user with a ground truth but without a list.
    source : str
        Repository, version and lines.
    text : str
        What sets it apart, in a line or two.
    """

    name: str
    metrics: Mapping[str, Metric]
    empty: str = "skip"
    missing: str = "zero"
    source: str = ""
    text: str = ""


def _metrics(*names: str, **divisors: str) -> dict[str, Metric]:
    """Return the named standard metrics, some with another divisor."""
    return {
        name: replace(METRICS[name], divisor=divisors.get(name, METRICS[name].divisor))
        for name in names
    }


CONVENTIONS: dict[str, Convention] = {
    convention.name: convention
    for convention in (
        Convention(
            "standard",
            METRICS,
            source="the textbook forms; map as Spark's meanAveragePrecisionAt(k), ml_metrics apk",
            text="What most libraries and textbooks compute. map@k divides by min(k, R), so it "
            "may fall as k grows; trec_eval's, divided by R, does not.",
        ),
        Convention(
            "neurec",
            _metrics(
                "hit",
                "precision",
                "recall",
                "map",
                "ndcg",
                "mrr",
                precision="min(k,n)",
                map="sum(min(i,R))",
                ndcg="ideal(min(k,n,R))",
            ),
            empty="zero",
            source="wubinzzu/NeuRec@9e9391b evaluator/backend/python/metric.py:8-64",
            text="NeuRec's Python backend: lists end at min(k, n). Its map divides by a running "
            "sum, which gives a perfect list of three 0.5 (NeuRec issue 39).",
        ),
        Convention(
            "trec_eval",
            _metrics("hit", "precision", "recall", "map", "ndcg", "mrr", map="R"),
            empty="zero",
            missing="skip",
            source="usnistgov/trec_eval@f425365 m_success.c m_P.c m_recall.c m_map_cut.c "
            "m_ndcg_cut.c m_recip_rank.c",
            text="success, P, recall, map_cut (map when k covers the list), ndcg_cut, recip_rank. "
            "Users without a list are left out; missing='zero' is its option -c.",
        ),
    )
}
