"""What others call the metrics and the conventions: errors offer ours, none is an alias."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

from toplist.checks import near, plain, spellings

# Case, hyphens and underscores do not matter: "Recip_Rank" is "recip rank".
_METRICS = {
    # trec_eval, and with it pytrec_eval, BEIR and ir_measures (AP, RR, P, R, Rprec, Success)
    # RecTools: HitRate, F1Beta, CatalogCoverage, MeanInvUserFreq; RecBole: GiniIndex, and "hit
    # ratio" in its documents; Elliot: HR, ItemCoverage, ARP, APLT, F1; ranx: hit_rate;
    # knowledge graphs: hits@k; sentence-transformers: accuracy@k; torchmetrics: RetrievalHitRate,
    # RetrievalNormalizedDCG, RetrievalRPrecision; Spark: meanAveragePrecisionAt; rs_metrics: mapr
    "hit": "success, hits, hit_rate, hit_ratio, HR, accuracy, retrieval_hit_rate",
    "cg": "cumulative_gain",
    "dcg": "discounted_cumulative_gain",
    "precision": "P, prec, retrieval_precision",
    "recall": "R, retrieval_recall",
    "map": "map_cut, AP, average_precision, mean_average_precision, MAPR, retrieval_map",
    "mrr": "recip_rank, RR, reciprocal_rank, mean_reciprocal_rank, retrieval_mrr",
    "ndcg": "ndcg_cut, normalized_dcg, normalized_discounted_cumulative_gain, "
    "retrieval_normalized_dcg",
    "f1": "F, f_score, f_measure, f1_score, f1_beta",
    "rbp": "rank_biased_precision",
    "r_precision": "Rprec, r_prec, retrieval_r_precision",
    "item_coverage": "coverage, catalog_coverage, catalogue_coverage",
    "gini": "gini_index",
    "shannon_entropy": "entropy",
    "average_popularity": "popularity, ARP",
    "tail_percentage": "APLT",
    "novelty": "mean_inv_user_freq",
    "intra_list_diversity": "ILD, diversity",
}
# What is no metric by name: its function.
_FUNCTIONS = {
    "toplist.pointwise.auc": "auc, roc_auc",
    "toplist.pointwise.gauc": "gauc",
    "toplist.pointwise.log_loss": "log_loss",
    "toplist.pointwise.mae": "mae",
    "toplist.pointwise.rmse": "rmse",
    "toplist.beyond.serendipity": "serendipity",
    "toplist.beyond.unexpectedness": "unexpectedness",
    "toplist.beyond.personalisation": "personalisation, personalization",
}


def _by_name(table: Mapping[str, str]) -> dict[str, str]:
    """Return ours by each of the others' names."""
    return {other: ours for ours, some in table.items() for other in some.split(", ")}


METRIC_NAMES = _by_name(_METRICS | _FUNCTIONS)
PACKAGE_NAMES = _by_name({"top_k_eval": "evaluate, eval", "TopKResult.load": "load"})
# pytrec_eval is trec_eval, and ir_measures asks it first; BEIR has mteb's metrics.
CONVENTION_NAMES = _by_name(
    {
        "trec_eval": "pytrec_eval, ir_measures, trec",
        "mteb": "beir",
        "sklearn": "scikit-learn",
        "tf-ranking": "tensorflow_ranking",
        "lenskit": "lkpy",
        "spark": "pyspark",
        "sentence-transformers": "sbert",
        "standard": "default",
    }
)

# "recall_at_10", "ndcg_cut_10", "map_cut.100", "P@5", "precisionAt", "map@k"; 0.5 holds no k.
_SPELLING = re.compile(
    r"(?P<name>.*?)[@_\-. ]*(at)?[@_\-. ]*((?<!\d)(?<!\d\.)(?P<k>\d+)|(?<=[@_\-. ])k)?",
    re.IGNORECASE,
)
# "RBP(p=0.8)@10" of ir_measures, "rbp.95" of ranx.
_PERSISTENCE = re.compile(r"rbp[^\d.]*(?P<p>0?\.\d+)\)?(?P<k>@\d+)?", re.IGNORECASE)


def metric_meant(entry: Any, valid: Iterable[str]) -> str | None:
    """Return the entry of `metrics` that was likely meant, with its k; None if none is near.

    Where the name is that of no metric here, but of a function elsewhere, that function.

    Examples
    --------
    >>> valid = ["hit", "recall", "ndcg", "f1", "rbp(p=0.5)"]
    >>> [metric_meant(one, valid) for one in ("hit_rate", "NDCG@10", "recall_at_10", "hr@5", "F1")]
    ['hit', 'ndcg@10', 'recall@10', 'hit@5', 'f1']
    >>> metric_meant("auc", valid), metric_meant("rbp@5", valid), metric_meant("nope", valid)
    ('toplist.pointwise.auc', 'rbp(p=0.5)@5', None)
    >>> metric_meant("rbp.95", ["rbp"]), metric_meant("RBP(p=0.8)@10", ["rbp"])
    ('rbp(p=0.95)', 'rbp(p=0.8)@10')
    """
    found = _SPELLING.fullmatch(entry) if isinstance(entry, str) else None
    if not found:
        return None
    valid, rbp = [*valid], _PERSISTENCE.fullmatch(entry)
    if rbp and "rbp" in valid:
        return f"rbp(p={float(rbp['p'])}){rbp['k'] or ''}"
    bases = {one.partition("(")[0]: one for one in reversed(valid)}
    valid, synonyms = [*valid, *_FUNCTIONS], METRIC_NAMES | bases
    whole = spellings(valid, synonyms).get(plain(entry))
    if whole is not None:  # "F1" is not F at 1
        return whole
    name = near(found["name"], valid, synonyms)
    return name if name in _FUNCTIONS or not (name and found["k"]) else f"{name}@{found['k']}"


def no_attribute(
    name: str, public: Iterable[str], modules: Iterable[ModuleType] = ()
) -> AttributeError:
    """Return the error of ``toplist.<name>``, with the public name that was likely meant.

    Parameters
    ----------
    public : names of the package
    modules : modules of the package, where the name may be public

    Examples
    --------
    >>> no_attribute("hit_rate", ["hit", "recall", "top_k_eval"])
    AttributeError("module 'toplist' has no attribute 'hit_rate' (did you mean toplist.hit?)")
    """
    places = [one.__name__ for one in modules if name in getattr(one, "__all__", ())]
    found = f"{places[0]}.{name}" if places else _meant_in_package(name, [*public])
    question = f" (did you mean {found}?)" if found and not name.startswith("_") else ""
    return AttributeError(f"module 'toplist' has no attribute {name!r}{question}")


def _meant_in_package(name: str, public: list[str]) -> str:
    other = spellings([*public, *PACKAGE_NAMES.values()], PACKAGE_NAMES).get(plain(name))
    found = other or metric_meant(name, public) or ""
    found = found.partition("@")[0]
    return found if not found or found in _FUNCTIONS else f"toplist.{found}"
