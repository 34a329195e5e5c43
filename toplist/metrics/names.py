"""Reads names of metrics: ``"ndcg"``, ``"ndcg@10"``, ``"rbp(p=0.5)@10"``, ``"gini@10"``."""

import re
from collections.abc import Iterable
from typing import Any, Literal

from toplist.checks import did_you_mean
from toplist.metrics.beyond_accuracy import LIST_METRICS, ListMetric, ListMetricName
from toplist.metrics.conventions import Convention
from toplist.metrics.definitions import METRICS, PARAMETRIC, Metric, MetricName

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
# An entry of `metrics`, and what `metrics` is.
Spec = AnyName | Metric
Metrics = Spec | Iterable[Spec]

_SPELLING = re.compile(
    r"(?P<name>[^@()]+)(\((?P<parameter>\w+)=(?P<value>[^@()=]+)\))?(@(?P<k>.+))?"
)


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
    found = _SPELLING.fullmatch(entry) if isinstance(entry, str) else None
    if not found:
        meant = _did_you_mean(entry, convention)
        raise ValueError(f"metric {entry!r}{meant}: write a name, 'name@k', or give a Metric")
    name = found["name"]
    if name not in convention.metrics:
        if name in METRICS:
            what = f"metric {name!r} is not in convention {convention.name!r}"
        else:
            what = f"metric {entry!r}{_did_you_mean(entry, convention)}"
        raise ValueError(f"{what}: choose from {', '.join(convention.metrics)}")
    k = None if found["k"] is None else _k_of(entry, found["k"])
    metric = convention.metrics[name]
    if found["parameter"]:
        metric = _with_parameter(name, found["parameter"], found["value"])
    return metric, k


def _did_you_mean(entry: Any, convention: Convention) -> str:
    from toplist.metrics.synonyms import metric_meant  # imported late: only for errors

    return did_you_mean(metric_meant(entry, [*convention.metrics, *LIST_METRICS]))


def named(entry: Any) -> tuple[ListMetric, int | None] | None:
    """Return the metric of the lists that an entry of `metrics` names, and its k; None for others.

    Examples
    --------
    >>> metric, k = named("item_coverage@10")
    >>> metric.name, k, named("ndcg@10")
    ('item_coverage', 10, None)
    """
    name, at, k = entry.partition("@") if isinstance(entry, str) else ("", "", "")
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
    if not (k.isascii() and k.isdigit() and int(k) > 0):
        raise ValueError(f"metric {entry!r}: k must be a whole number from 1 on, not {k!r}")
    return int(k)


def _with_parameter(name: str, parameter: str, value: str) -> Metric:
    """Return a metric with its parameter, such as rbp with p."""
    if name not in PARAMETRIC:
        takes = ", ".join(PARAMETRIC)
        raise ValueError(f"metric {name!r} takes no parameter; only {takes} does")
    try:
        number = float(value)
    except ValueError:
        raise ValueError(f"metric {name!r}: {parameter}={value!r} is not a number") from None
    try:
        return PARAMETRIC[name](**{parameter: number})
    except TypeError:
        raise ValueError(f"metric {name!r} takes no parameter {parameter!r}") from None
