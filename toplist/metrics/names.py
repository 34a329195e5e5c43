"""How metrics are written: ``"ndcg"``, ``"ndcg@10"``, ``"rbp(p=0.5)@10"``."""

import re
from typing import Any

from toplist.metrics.beyond_accuracy import LIST_METRICS, ListMetric
from toplist.metrics.conventions import Convention
from toplist.metrics.definitions import METRICS, PARAMETRIC, Metric

_SPELLING = re.compile(
    r"(?P<name>[^@()]+)(\((?P<parameter>\w+)=(?P<value>[^@()=]+)\))?(@(?P<k>.+))?"
)


def parse(entry: str | Metric, convention: Convention) -> tuple[Metric, int | None]:
    """Read one entry of `metrics` into (metric, k); a `Metric` stands for itself.

    Raises
    ------
    ValueError
        For a name that the convention lacks (with the names it has), a parameter the metric
        does not take, or a k that is no whole number from 1 on.

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
        raise ValueError(f"metric {entry!r}: write a name, 'name@k', or give a Metric")
    name, k = found["name"], found["k"]
    if name not in convention.metrics:
        lacks = f" is not in convention {convention.name!r}" if name in METRICS else ""
        raise ValueError(f"metric {name!r}{lacks}: choose from {', '.join(convention.metrics)}")
    if k is not None and not (k.isascii() and k.isdigit() and int(k) > 0):
        raise ValueError(f"metric {entry!r}: k must be a whole number from 1 on, not {k!r}")
    metric = convention.metrics[name]
    if found["parameter"]:
        metric = _with_parameter(name, found["parameter"], found["value"])
    return metric, None if k is None else int(k)


def _with_parameter(name: str, parameter: str, value: str) -> Metric:
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


def named(entry: Any) -> tuple[ListMetric, int | None] | None:
    """Return the list metric that an entry of `metrics` names, if any, and its k."""
    name, at, k = entry.partition("@") if isinstance(entry, str) else ("", "", "")
    if name not in LIST_METRICS:
        return None
    if at and not (k.isascii() and k.isdigit() and int(k) > 0):
        raise ValueError(f"metric {entry!r}: k must be a whole number from 1 on, not {k!r}")
    return LIST_METRICS[name], int(k) if at else None
