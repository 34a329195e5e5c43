"""Reads names of metrics, ``"ndcg"``, ``"rbp(p=0.5)@10"``, and those of other libraries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any, Literal

from toplist.checks import LARGEST_INT, did_you_mean, plain, spellings
from toplist.metrics.beyond_accuracy import (
    LIST_METRICS,
    ListMetric,
    ListMetricName,
    parameters_of,
    variant,
)
from toplist.metrics.conventions import Convention
from toplist.metrics.definitions import (
    METRICS,
    PARAMETRIC,
    Metric,
    MetricName,
    with_parameters,
)

# Propensity-scored metrics, in `toplist.metrics.weighing`.
SCORED_NAMES = "psp", "psndcg"
# What type checkers and editors know of names: these are completed, and any other text is taken,
# since names with another k, with a parameter, and those of own metrics cannot all be listed.
Name = Literal[MetricName, ListMetricName]
NameAtK = Literal[
    "hit@1", "hit@3", "hit@5", "hit@10", "hit@20", "hit@50", "hit@100",
    "precision@1", "precision@3", "precision@5", "precision@10", "precision@20", "precision@50",
    "precision@100",
    "recall@1", "recall@3", "recall@5", "recall@10", "recall@20", "recall@50", "recall@100",
    "map@1", "map@3", "map@5", "map@10", "map@20", "map@50", "map@100",
    "ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "ndcg@20", "ndcg@50", "ndcg@100",
    "mrr@1", "mrr@3", "mrr@5", "mrr@10", "mrr@20", "mrr@50", "mrr@100",
]  # fmt: skip
AnyName = Name | NameAtK | str
# What chooses means: one ``"ndcg@10"``, or several.
Names = AnyName | Sequence[AnyName]
# An entry of `metrics`, and what `metrics` is.
Spec = AnyName | Metric
Metrics = Spec | Iterable[Spec]

_SPELLING = re.compile(
    r"(?P<name>[^@()]+)(\((?P<given>\w+=[^@()=,]+(,\s*\w+=[^@()=,]+)*)\))?(@(?P<k>.+))?"
)
# Of metrics of the lists: a label, any text, may be among the parameters.
_WITH_PARAMETERS = re.compile(r"(?P<name>[^@()]+)\((?P<given>.*)\)(@(?P<k>[^@]*))?", re.DOTALL)


def listed(names: Names) -> list[str]:
    """Return names as a list, which is not empty.

    Examples
    --------
    >>> listed("ndcg@10"), listed(("mrr", "ndcg"))
    (['ndcg@10'], ['mrr', 'ndcg'])
    """
    if not isinstance(names, (str, list, tuple)):
        raise TypeError(f"names is {names!r}: give 'ndcg@10', or a list of such names")
    if not len(names):
        raise ValueError("names is empty: give 'ndcg@10', a list of such names, or nothing for all")
    return [names] if isinstance(names, str) else list(names)


def parse(entry: str | Metric, convention: Convention) -> tuple[Metric, int | None]:
    """Return the metric of hits that an entry of `metrics` names, and its k, None without one.

    Parameters
    ----------
    entry : str or Metric
        A `Metric` is returned as it is.
    convention : Convention
        Whose metrics the names mean.

    Raises
    ------
    ValueError
        If the convention does not have the metric, the metric does not take the parameter, or
        k is not a whole number from 1 on.

    Examples
    --------
    >>> from toplist.metrics.conventions import CONVENTIONS
    >>> metric, k = parse("rbp(p=0.5)@10", CONVENTIONS["standard"])
    >>> metric.name, k
    ('rbp(p=0.5)', 10)
    """
    if isinstance(entry, Metric):
        return entry, None
    found = None
    if isinstance(entry, str):
        found = _SPELLING.fullmatch(canonical(entry, convention.name))
    if not found:
        meant = _did_you_mean(entry, convention)
        raise ValueError(f"metric {entry!r}{meant}: write a name, 'name@k', or give a Metric")
    name = found["name"]
    if name not in convention.metrics and name not in SCORED_NAMES:
        if name in METRICS:
            what = f"metric {name!r} is not in convention {convention.name!r}"
        else:
            what = f"metric {entry!r}{_did_you_mean(entry, convention)}"
        raise ValueError(f"{what}: choose from {', '.join(convention.metrics)}")
    k = None if found["k"] is None else _k_of(entry, found["k"])
    if name in SCORED_NAMES:
        from toplist.metrics.weighing import SCORED  # what few need, so that imports are quick

        metric = SCORED[name]
    else:
        metric = convention.metrics[name]
    if found["given"]:
        metric = _with_parameters(metric, found["given"])
    if metric.cut == "n" and k is not None:
        raise ValueError(f"metric {entry!r}: {name} has no k, it is of the whole list: {name!r}")
    return metric, k


def _did_you_mean(entry: Any, convention: Convention) -> str:
    return did_you_mean(metric_meant(entry, [*convention.metrics, *SCORED_NAMES, *LIST_METRICS]))


def named(entry: Any) -> tuple[ListMetric, int | None] | None:
    """Return the metric of the lists that an entry of `metrics` names, and its k; None for others.

    Examples
    --------
    >>> metric, k = named("item_coverage@10")
    >>> metric.name, k, named("ndcg@10")
    ('item_coverage', 10, None)
    >>> named("calibration(weights=rank)@5")[0].given
    (('weights', 'rank'),)
    """
    found = _WITH_PARAMETERS.fullmatch(entry) if isinstance(entry, str) else None
    base = _READ.get(plain(found["name"]), "") if found else ""
    if found and base in LIST_METRICS:
        pairs = [one.partition("=") for one in found["given"].split(",")]
        if "label" in parameters_of(base):  # any text, also with commas
            pairs = [found["given"].partition("=")]
        given = {key.strip(): value.strip() for key, _, value in pairs}
        return variant(base, given), None if found["k"] is None else _k_of(entry, found["k"])
    name, at, k = canonical(entry).partition("@") if isinstance(entry, str) else ("", "", "")
    if name not in LIST_METRICS:
        return None
    return LIST_METRICS[name], _k_of(entry, k) if at else None


def keys_of(names: Iterable[str], at: str = "@") -> dict[str, str]:
    """Return the key of each ``name@k``; with another `at`, of letters, digits and ``_`` alone.

    MLflow 3.17 takes letters, digits, ``_ - . / :`` and space (mlflow/utils/validation.py), W&B
    sorts and filters by names of letters, digits and ``_`` (its document on the naming of
    metrics), so a key with neither ``@`` nor parentheses nor dots suits both.

    Raises
    ------
    TypeError, ValueError
        If `at` is no text; if two names have one key.

    Examples
    --------
    >>> list(keys_of(["ndcg@10", "rbp(p=0.5)@10"], "_at_").values())
    ['ndcg_at_10', 'rbp_p_0_5_at_10']
    """
    if not isinstance(at, str):
        raise TypeError(f"at={at!r}: give the text that stands between the name and k, '_at_'")
    keys: dict[str, str] = {}
    names_of: dict[str, str] = {}
    for name in names:
        metric, _, k = name.rpartition("@")
        word = re.sub(r"[^A-Za-z0-9_]+", "_", metric).rstrip("_")
        keys[name] = key = name if at == "@" else f"{word}{at}{k}"
        other = names_of.setdefault(key, name)
        if other != name:
            raise ValueError(f"{other!r} and {name!r} are both {key!r}: rename one of the metrics")
    return keys


def _k_of(entry: Any, k: str) -> int:
    """Return the k that is written in an entry of `metrics`."""
    if not (k.isascii() and k.isdigit() and 0 < int(k) <= LARGEST_INT):
        raise ValueError(
            f"metric {entry!r}: k must be a whole number from 1 on, below 2^63, not {k!r}"
        )
    return int(k)


def _with_parameters(metric: Metric, given: str) -> Metric:
    """Return a metric with its parameters: rbp with p, any with rel, its least relevant grade."""
    name, numbers = metric.name, {}
    for one in given.split(","):
        parameter, _, value = (part.strip() for part in one.partition("="))
        if parameter in numbers:
            raise ValueError(f"metric {name!r}: {parameter} is given twice")
        if parameter != "rel" and name not in PARAMETRIC:
            takes = ", ".join(PARAMETRIC)
            raise ValueError(f"metric {name!r} takes no parameter but rel; only {takes} do")
        try:
            numbers[parameter] = float(value)
        except ValueError:
            raise ValueError(f"metric {name!r}: {parameter}={value!r} is not a number") from None
    rel = numbers.pop("rel", None)
    if numbers:
        try:
            metric = with_parameters(metric, **numbers)
        except TypeError:
            wrong = ", ".join(map(repr, numbers))
            raise ValueError(f"metric {name!r} takes no parameter {wrong}") from None
    if rel is None:
        return metric
    if not 0 <= rel < LARGEST_INT:
        raise ValueError(f"metric {name!r}: rel={rel:g}: give a grade, 0 or more, and finite")
    written = f"{metric.name.removesuffix(')')}{',' if numbers else '('}rel={rel:g})"
    return replace(metric, name=written, relevant_from=rel)


# Case, hyphens and underscores do not matter: "Recip_Rank" is "recip rank".
# Names of others that mean one definition, and are read as ours. First those of trec_eval, and with
# it of pytrec_eval, BEIR and ir_measures; then RecTools: HitRate; RecBole: "hit ratio" in its
# documents; ranx: hit_rate; knowledge graphs: hits@k; torchmetrics: RetrievalHitRate,
# RetrievalNormalizedDCG, RetrievalRPrecision; Spark: meanAveragePrecision.
_OF_TREC_EVAL = {
    "hit": "success",
    "precision": "P",
    "recall": "R",
    "map": "AP, map_cut",
    "mrr": "RR, recip_rank",
    "ndcg": "ndcg_cut",
    "r_precision": "Rprec",
    "bpref": "Bpref",
}
_SAME = {
    "hit": "hits, hit_rate, hit_ratio, HR, retrieval_hit_rate",
    "cg": "cumulative_gain",
    "dcg": "discounted_cumulative_gain",
    "precision": "prec, retrieval_precision",
    "recall": "retrieval_recall",
    "map": "average_precision, mean_average_precision, retrieval_map",
    "mrr": "reciprocal_rank, mean_reciprocal_rank, retrieval_mrr",
    "ndcg": "normalized_dcg, normalized_discounted_cumulative_gain, retrieval_normalized_dcg",
    "f1": "f1_score",
    "rbp": "rank_biased_precision",
    "r_precision": "r_prec, retrieval_r_precision",
    "err": "expected_reciprocal_rank",
    "nerr": "normalized_err",
    "bpref": "binary_preference",
    "iprec": "interpolated_precision",
    "group_recall": "st_recall, subtopic_recall",
    "personalisation": "personalization",
    "psp": "psprecision, ps_precision, propensity_scored_precision",
    "psndcg": "ps_ndcg, propensity_scored_ndcg",
}
# Names that mean another metric of a convention, since its library has both. ranx: hits counts the
# hits, hit_rate is 1 for any; recommenders: map_at_k is over min(k, R), map over R.
_OF_CONVENTION = {
    "ranx": {"hits": "cg"},
    "recommenders": {"mapat": "map_at_k"},
}
# Names that others use for more than one definition: proposed, not read. sentence-transformers:
# accuracy@k; RecTools: F1Beta, CatalogCoverage, MeanInvUserFreq; RecBole: GiniIndex; Elliot:
# ItemCoverage, ARP, APLT, F1.
_ALIKE = {
    "hit": "accuracy",
    "f1": "F, f_score, f_measure, f1_beta",
    "item_coverage": "coverage, catalog_coverage, catalogue_coverage",
    "gini": "gini_index",
    "shannon_entropy": "entropy",
    "average_popularity": "popularity, ARP",
    "tail_percentage": "APLT",
    "novelty": "mean_inv_user_freq",
    "intra_list_diversity": "ILD, diversity",
    "calibration": "miscalibration",
    "popularity_lift": "PopLift",
}
# What is no metric by name: its function.
_FUNCTIONS = {
    "toplist.pointwise.auc": "auc, roc_auc",
    "toplist.pointwise.gauc": "gauc",
    "toplist.pointwise.log_loss": "log_loss",
    "toplist.pointwise.mae": "mae",
    "toplist.pointwise.rmse": "rmse",
}


def _by_name(table: Mapping[str, str]) -> dict[str, str]:
    """Return ours by each of the others' names."""
    return {other: ours for ours, some in table.items() for other in some.split(", ")}


TREC_EVAL_NAMES = _by_name(_OF_TREC_EVAL)
METRIC_NAMES = TREC_EVAL_NAMES | _by_name(_SAME)
_READ = spellings([*METRICS, *SCORED_NAMES, *LIST_METRICS], METRIC_NAMES)
_OF_TREC_EVAL_PLAIN = {*map(plain, TREC_EVAL_NAMES)}
METRIC_NAMES |= _by_name(_ALIKE) | _by_name(_FUNCTIONS)
PACKAGE_NAMES = _by_name({"top_k_eval": "evaluate, eval", "TopKResult.load": "load"})
# "recall_at_10", "ndcg_cut_10", "map_cut.100", "P@5", "precisionAt", "map@k"; 0.5 holds no k.
_FOREIGN_SPELLING = re.compile(
    r"(?P<name>.*?)[@_\-. ]*(at)?[@_\-. ]*((?<!\d)(?<!\d\.)(?P<k>\d+)|(?<=[@_\-. ])k)?",
    re.IGNORECASE,
)
# "RBP(p=0.8)@10" of ir_measures, "rbp.95" of ranx; and what is near one of them.
_RBP = re.compile(r"rbp(\(p=)?(?P<p>(?(1)0?)\.\d+)(?(1)\))(?P<k>@\d+)?", re.IGNORECASE)
# "IPrec@0.1" of ir_measures, "iprec_at_recall_0.10" of trec_eval.
_IPREC = re.compile(r"iprec(_at_recall_|@)(?P<recall>[01]?\.\d+)", re.IGNORECASE)
_NUMBER = re.compile(r"(?<==)\d*\.?\d+(?=,|$)")
_PERSISTENCE = re.compile(r"rbp[^\d.]*(?P<p>0?\.\d+)\)?(?P<k>@\d+)?", re.IGNORECASE)


# How the k of one of these is written, after a separator: "P_5", "recall_at_10".
_AT_K = re.compile(r"(?P<name>[^@]*?[^@_\-. ])(@|[_\-. ](at[_\-. ])?)(?P<k>\d+)", re.IGNORECASE)


def canonical(entry: str, convention: str = "standard") -> str:
    """Return an entry of `metrics` by its name here, if another library's name means just that.

    Under the convention of a library, a name means what it means there.

    Examples
    --------
    >>> [canonical(one) for one in ("nDCG@10", "P_5", "AP", "RR@10", "map_cut_10", "recall_at_5")]
    ['ndcg@10', 'precision@5', 'map', 'mrr@10', 'map@10', 'recall@5']
    >>> [canonical(one) for one in ("RBP(p=0.8)@10", "ndcg@10", "F1", "ERR@10", "coverage")]
    ['rbp(p=0.8)@10', 'ndcg@10', 'f1', 'err@10', 'coverage']
    >>> canonical("hits@10"), canonical("hits@10", "ranx")
    ('hit@10', 'cg@10')
    """
    rbp = _RBP.fullmatch(entry)
    if rbp:
        return f"rbp(p={float(rbp['p'])}){rbp['k'] or ''}"
    recall = _IPREC.fullmatch(entry)
    if recall:
        return f"iprec(recall={float(recall['recall'])})"
    own = _OF_CONVENTION.get(convention, {})
    read = _READ | own if own else _READ
    if "(" in entry:  # with parameters, whose numbers are written as here
        before, _, rest = entry.partition("(")
        given, end, k = rest.partition(")")
        given = _NUMBER.sub(lambda one: _written(float(one[0])), given)
        return f"{read.get(plain(before), before)}({given}{end}{k}"
    whole = read.get(plain(entry)) if "@" not in entry else None
    found = _AT_K.fullmatch(entry)
    if whole is not None or not found:
        return whole or entry
    with_at = own.get(plain(entry[: found.start("k")]))  # "map_at" of "map_at_10"
    name = with_at or read.get(plain(found["name"]))
    return entry if name is None else f"{name}@{found['k']}"


def hangs_on_convention(entry: str) -> bool:
    """Return whether an entry of `metrics` is another metric under some convention.

    Examples
    --------
    >>> hangs_on_convention("hits@10"), hangs_on_convention("hit_rate@10")
    (True, False)
    """
    return any(canonical(entry, one) != canonical(entry) for one in _OF_CONVENTION)


def _written(number: float) -> str:
    """Return a parameter as it is in the name of a metric: a whole number without a point."""
    return str(int(number) if number == int(number) else number)


def of_trec_eval(entry: Any) -> str:
    """Return the name in an entry of `metrics` if trec_eval and ir_measures have it, else "".

    Examples
    --------
    >>> of_trec_eval("AP@10"), of_trec_eval("map@10")
    ('AP', '')
    """
    found = _AT_K.fullmatch(entry) if isinstance(entry, str) else None
    name: str = found["name"] if found else entry
    return name if isinstance(name, str) and plain(name) in _OF_TREC_EVAL_PLAIN else ""


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
    found = _FOREIGN_SPELLING.fullmatch(entry) if isinstance(entry, str) else None
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
    name = _misspelt(plain(found["name"]), spellings(valid, synonyms))
    return name if name in _FUNCTIONS or not (name and found["k"]) else f"{name}@{found['k']}"


def _misspelt(given: str, names: Mapping[str, str]) -> str | None:
    """Return the name that is the one given, or that with a letter wrong, two of a long one.

    No more, and not the first letter: "err" is no "rr", "iprec" no "prec", "mape" no "map".
    """
    if given in names:
        return names[given]
    from difflib import SequenceMatcher  # imported late: only for errors

    best: tuple[float, str | None] = (0, None)
    for name, ours in names.items():
        longest, wrong = max(len(given), len(name)), 1 if len(given) < 8 else 2
        apart = abs(len(given) - len(name))
        if given[:1] != name[:1] or apart > (wrong if len(given) > 4 else 0) or longest < 4:
            continue
        alike = SequenceMatcher(None, given, name).ratio()
        if alike > 1 - (wrong + 0.01) / longest:
            best = max(best, (alike, ours))
    return best[1]


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
