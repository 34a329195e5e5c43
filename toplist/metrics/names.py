"""Reads names of metrics, ``"ndcg"``, ``"rbp(p=0.5)@10"``, and those of other libraries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from toplist.checks import LARGEST_INT, NAME, NONE, did_you_mean, plain, spellings
from toplist.metrics import beyond_accuracy, definitions
from toplist.metrics.beyond_accuracy import LIST_METRICS, ListMetric, ListMetricName
from toplist.metrics.conventions import Convention
from toplist.metrics.declared import Parameter, written
from toplist.metrics.definitions import METRICS, Metric, MetricName
from toplist.metrics.properties import SCORED

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

# What others call a metric: trec_eval, and with it pytrec_eval, BEIR and ir_measures; other names
# that mean one definition, and are read as ours; and those used for several, which are proposed.
# The last column names metrics of one convention alone, since its library has both: of ranx, hits
# counts the hits, hit_rate is 1 for any; of recommenders, map_at_k is over min(k, R), map over R.
# RecTools: HitRate, F1Beta, CatalogCoverage, MeanInvUserFreq; RecBole: GiniIndex, "hit ratio" in
# its documents; ranx: hit_rate; knowledge graphs: hits@k; torchmetrics: RetrievalHitRate,
# RetrievalNormalizedDCG, RetrievalRPrecision; Spark: meanAveragePrecision; sentence-transformers:
# accuracy@k; Elliot: ItemCoverage, ARP, APLT, F1. What is no metric by name is a function.
_SYNONYMS = """
hit | success | hits, hit_rate, hit_ratio, HR, retrieval_hit_rate | accuracy |
cg | | cumulative_gain | | ranx: hits
dcg | | discounted_cumulative_gain | |
precision | P | prec, retrieval_precision | |
recall | R | retrieval_recall | |
map | AP, map_cut | average_precision, mean_average_precision, retrieval_map | |
map_at_k | | | | recommenders: mapat
mrr | RR, recip_rank | reciprocal_rank, mean_reciprocal_rank, retrieval_mrr | |
ndcg | ndcg_cut | normalized_dcg, retrieval_normalized_dcg | |
ndcg | | normalized_discounted_cumulative_gain | |
f1 | | f1_score | F, f_score, f_measure, f1_beta |
rbp | | rank_biased_precision | |
r_precision | Rprec | r_prec, retrieval_r_precision | |
err | | expected_reciprocal_rank | |
nerr | | normalized_err | |
bpref | Bpref | binary_preference | |
iprec | | interpolated_precision | |
group_recall | | st_recall, subtopic_recall | |
psp | | psprecision, ps_precision, propensity_scored_precision | |
psndcg | | ps_ndcg, propensity_scored_ndcg | |
personalisation | | personalization | |
item_coverage | | | coverage, catalog_coverage, catalogue_coverage |
gini | | | gini_index |
shannon_entropy | | | entropy |
average_popularity | | | popularity, ARP |
tail_percentage | | | APLT |
novelty | | | mean_inv_user_freq |
intra_list_diversity | | | ILD, diversity |
calibration | | | miscalibration |
popularity_lift | | | PopLift |
toplist.pointwise.auc | | | auc, roc_auc |
toplist.pointwise.gauc | | | gauc |
toplist.pointwise.log_loss | | | log_loss |
toplist.pointwise.mae | | | mae |
toplist.pointwise.rmse | | | rmse |
"""
_ROWS = [[one.strip() for one in row.split("|")] for row in _SYNONYMS.strip().splitlines()]


def _ours(*columns: int) -> dict[str, str]:
    """Return ours by each of the others' names in some columns."""
    return {
        other: row[0] for at in columns for row in _ROWS for other in row[at].split(", ") if other
    }


METRIC_NAMES = _ours(1, 2, 3)
PACKAGE_NAMES = {"evaluate": "top_k_eval", "eval": "top_k_eval", "load": "TopKResult.load"}
_FUNCTIONS = {row[0] for row in _ROWS if "." in row[0]}
_OF_TREC_EVAL = {*map(plain, _ours(1))}
# By the plain spelling: of all conventions, and of those whose words are others.
_READ = spellings([*METRICS, *SCORED, *LIST_METRICS], _ours(1, 2))
_OF_CONVENTION: dict[str, dict[str, str]] = {}
for _own, _ours_of_it in _ours(4).items():
    _library, _, _word = _own.partition(": ")
    _OF_CONVENTION.setdefault(_library, {})[_word] = _ours_of_it

# "name(parameters)@k"; a label, any text, may be among the parameters.
_SPELLING = re.compile(r"(?P<name>[^@()]+)(\((?P<given>.*)\))?(@(?P<k>.+))?", re.DOTALL)
# How the k of another library is written, after a separator: "P_5", "recall_at_10".
_AT_K = re.compile(r"(?P<name>[^@]*?[^@_\-. ])(@|[_\-. ](at[_\-. ])?)(?P<k>\d+)", re.IGNORECASE)
# Numbers in names: "rbp.95" of ranx; "IPrec@0.1" of ir_measures, "iprec_at_recall_0.10" of
# trec_eval.
_NUMBERED = {
    "p": re.compile(r"(?P<name>rbp)(?P<value>\.\d+)(@(?P<k>\d+))?", re.IGNORECASE),
    "recall": re.compile(
        r"(?P<name>iprec)(_at_recall_|@)(?P<value>[01]?\.\d+)(?P<k>)", re.IGNORECASE
    ),
}


def _parts(entry: str, convention: str) -> tuple[str, list[tuple[str, str]], str] | None:
    """Return the name of an entry as it is here, its parameters and its k, as text; None for none.

    Under the convention of a library, a name means what it means there.
    """
    for parameter, pattern in _NUMBERED.items():
        if found := pattern.fullmatch(entry):
            return found["name"].lower(), [(parameter, found["value"])], found["k"] or ""
    own = _OF_CONVENTION.get(convention, {})
    read = _READ | own if own else _READ
    if "(" not in entry:
        if "@" not in entry and plain(entry) in read:
            return read[plain(entry)], [], ""
        found = _AT_K.fullmatch(entry)
        before = entry[: found.start("k")] if found else ""  # "map_at_" of "map_at_10"
        name = found and (own.get(plain(before)) or read.get(plain(found["name"])))
        if found and name:
            return name, [], found["k"]
    found = _SPELLING.fullmatch(entry)
    if not found:
        return None
    name = read.get(plain(found["name"]), found["name"])
    pairs = [one.partition("=") for one in (found["given"] or "").split(",") if found["given"]]
    if any(one.text for one in _takes(name).values()):
        pairs = [found["given"].partition("=")] if found["given"] else []
    if not all(equals for _, equals, _ in pairs) or found["given"] == "":
        return None
    return name, [(key.strip(), value.strip()) for key, _, value in pairs], found["k"] or ""


def _takes(name: str) -> Mapping[str, Parameter]:
    """Return the parameters that a metric takes in its name."""
    return beyond_accuracy.takes(name) if name in LIST_METRICS else definitions.takes(name)


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
    found = _parts(entry, convention)
    if found is None:
        return entry
    name, pairs, k = found
    takes, shown = _takes(name), []
    for key, word in pairs:  # numbers are written as here
        number = key in takes and not takes[key].text and re.fullmatch(r"\d*\.?\d+", word)
        shown.append(f"{key}={written(float(word)) if number else word}")
    name = f"{name}({','.join(shown)})" if shown else name
    return f"{name}@{k}" if k else name


def parse(entry: Any, convention: Convention) -> tuple[Metric | ListMetric, int | None]:
    """Return the metric that an entry of `metrics` names, and its k, None without one.

    Parameters
    ----------
    entry : str or Metric
        A `Metric` is returned as it is.
    convention : Convention
        Whose metrics of hits the names mean.

    Raises
    ------
    ValueError
        If the convention does not have the metric, the metric does not take the parameter, or
        k is not a whole number from 1 on.

    Examples
    --------
    >>> from toplist.metrics.conventions import CONVENTIONS
    >>> for name in ("rbp(p=0.5)@10", "calibration(weights=rank)", "gini@5"):
    ...     metric, k = parse(name, CONVENTIONS["standard"])
    ...     print(metric.name, k)
    rbp(p=0.5) 10
    calibration(weights=rank) None
    gini 5
    """
    if isinstance(entry, Metric):
        return entry, None
    found = _parts(entry, convention.name) if isinstance(entry, str) else None
    if not found:
        meant = _did_you_mean(entry, convention)
        words = f"metric {entry!r:.60}{meant}: write a name, 'name@k', or give a Metric"
        raise ValueError(words)
    name, pairs, at = found
    tables: tuple[Mapping[str, Any], ...] = LIST_METRICS, convention.metrics, SCORED
    metric = next((table[name] for table in tables if name in table), None)
    if metric is None:
        valid, what = ", ".join(convention.metrics), f"metric {entry!r}"
        if name in METRICS:
            what = f"metric {name!r} is not in convention {convention.name!r}"
        else:
            what += _did_you_mean(entry, convention)
            valid += f"; of the lists themselves: {', '.join(LIST_METRICS)}"
        raise ValueError(f"{what}: choose from {valid}")
    if at and not (at.isascii() and at.isdigit() and 0 < int(at) <= LARGEST_INT):
        raise ValueError(
            f"metric {entry!r}: k must be a whole number from 1 on, below 2^63, not {at!r}"
        )
    keys = [key for key, _ in pairs]
    if twice := [key for key in keys if keys.count(key) > 1]:
        raise ValueError(f"metric {name!r}: {twice[0]} is given twice")
    if isinstance(metric, ListMetric):
        metric = beyond_accuracy.variant(name, dict(pairs))
    elif pairs:
        metric = definitions.with_parameters(metric, dict(pairs))
    if at and getattr(metric, "cut", "k") == "n":
        raise ValueError(f"metric {entry!r}: {name} has no k, it is of the whole list: {name!r}")
    return metric, int(at) if at else None


def _did_you_mean(entry: Any, convention: Convention) -> str:
    return did_you_mean(metric_meant(entry, [*convention.metrics, *SCORED, *LIST_METRICS]))


def hangs_on_convention(entry: str) -> bool:
    """Return whether an entry of `metrics` is another metric under some convention.

    Examples
    --------
    >>> hangs_on_convention("hits@10"), hangs_on_convention("hit_rate@10")
    (True, False)
    """
    return any(canonical(entry, one) != canonical(entry) for one in _OF_CONVENTION)


def of_trec_eval(entry: Any) -> str:
    """Return the name in an entry of `metrics` if trec_eval and ir_measures have it, else "".

    Examples
    --------
    >>> of_trec_eval("AP@10"), of_trec_eval("map@10")
    ('AP', '')
    """
    found = _AT_K.fullmatch(entry) if isinstance(entry, str) else None
    name: str = found["name"] if found else entry
    return name if isinstance(name, str) and plain(name) in _OF_TREC_EVAL else ""


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
    """
    from difflib import get_close_matches  # imported late: only for errors

    if not isinstance(entry, str) or len(entry) > NAME:
        return None
    given, valid = entry.partition("(")[0], [*valid]
    found = _AT_K.fullmatch(given)
    bases = {one.partition("(")[0]: one for one in reversed(valid)}
    names = spellings([*valid, *_FUNCTIONS], METRIC_NAMES | bases)
    word, k = (plain(found["name"]), f"@{found['k']}") if found else (plain(given), "")
    # the first letter is right, and a short name has as many: "err" is no "rr", "mape" no "map"
    alike = [
        one for one in names if one[:1] == word[:1] and (len(word) > 4 or len(one) == len(word))
    ]
    close = get_close_matches(word, alike, 1, cutoff=0.75)
    name = names[close[0]] if close else None
    return name if name is None or name in _FUNCTIONS else name + k


def no_attribute(
    name: str, public: Iterable[str], modules: Mapping[str, Any] = NONE
) -> AttributeError:
    """Return the error of ``toplist.<name>``, with the public name that was likely meant.

    Parameters
    ----------
    public : names of the package
    modules : modules of the package by name, where the name may be public

    Examples
    --------
    >>> no_attribute("hit_rate", ["hit", "recall", "top_k_eval"])
    AttributeError("module 'toplist' has no attribute 'hit_rate' (did you mean toplist.hit?)")
    """
    there = (one for one, module in modules.items() if name in getattr(module, "__all__", ()))
    found = next((f"toplist.{one}.{name}" for one in there), "")
    if not found and not name.startswith("_"):
        public = [*public]
        other = spellings([*public, *PACKAGE_NAMES.values()], PACKAGE_NAMES).get(plain(name))
        found = (other or metric_meant(name, public) or "").partition("@")[0]
        found = found if not found or found in _FUNCTIONS else f"toplist.{found}"
    question = f" (did you mean {found}?)" if found else ""
    return AttributeError(f"module 'toplist' has no attribute {name!r}{question}")
