"""The metric functions: the values of each user at every k."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from toplist.averages import per_user
from toplist.checks import whole
from toplist.evaluation.evaluate import hits_of
from toplist.evaluation.plan import counted_users, rules_of
from toplist.inputs.options import Joining
from toplist.metrics.definitions import METRICS
from toplist.metrics.formulas import formula
from toplist.metrics.names import parse


class MetricFunction(Protocol):
    """The call of every metric function; `toplist.ndcg` and the others document it."""

    __name__: str

    def __call__(
        self,
        ranks: Any,
        ground_truths: Any = None,
        k: int | None = None,
        *,
        convention: str = "standard",
        divisor: Any = None,
        empty: str | None = None,
        missing: str | None = None,
        duplicates: str = "raise",
        padding: Any = None,
        relevant_from: float | None = None,
        gains: str = "linear",
        columns: Mapping[str, str] | None = None,
        n_threads: int | None = None,
    ) -> NDArray[np.float64]:
        """Return the metric at every k: (K,) for one user, (n_users, K) for many."""


_DOCUMENTATION = """{text}

    {formula}

Parameters
----------
ranks, ground_truths : ids
    Ranked lists and relevant ids of one user, or of many in any form that `toplist.match`
    takes; or one `Hits` in place of both.
k : int, optional
    The largest k wanted; default the longest list. May exceed every list.
convention : str
    A name in `CONVENTIONS`: whose divisor and policies.
divisor : str or callable, optional
    A name in `DIVISORS`, or a function ``f(k, R, n)``, in place of the convention's.
empty, missing, duplicates, padding, relevant_from, gains, columns, n_threads
    As in `toplist.top_k_eval`. Users left out have NaN.

Returns
-------
(K,) or (n_users, K) float64
    The value at k = 1..K of one user, or a row per user: any k is a slice. Past the end of a
    short list the places are misses.

Raises
------
TypeError, ValueError
    As `toplist.top_k_eval`.

Examples
--------
>>> import toplist as tl
>>> tl.{name}([5, 7, 8, 9, 3], {{7, 3, 5}}).round(4).tolist()
{example}
"""


def _metric_function(name: str, example: list[float]) -> MetricFunction:
    """Return the function of a standard metric: the same call for all, documented by its row."""

    def function(
        ranks: Any,
        ground_truths: Any = None,
        k: int | None = None,
        *,
        convention: str = "standard",
        divisor: Any = None,
        empty: str | None = None,
        missing: str | None = None,
        duplicates: str = "raise",
        padding: Any = None,
        relevant_from: float | None = None,
        gains: str = "linear",
        columns: Mapping[str, str] | None = None,
        n_threads: int | None = None,
    ) -> NDArray[np.float64]:
        rules = rules_of(convention, empty, missing)
        metric, _ = parse(name, rules)
        if divisor is not None:
            metric = replace(metric, divisor=divisor)
        depth = None if k is None else whole(k, "k")
        options = Joining(duplicates, padding, relevant_from, gains, columns, n_threads)
        hits, single = hits_of(ranks, ground_truths, depth, options)
        counted = counted_users(hits, rules)
        out = per_user.curves(hits, counted, metric, depth or hits.k, n_threads)
        return out[0] if single else out

    function.__name__ = function.__qualname__ = name
    metric = METRICS[name]
    text = f"{metric.text[0].upper()}{metric.text[1:]}."
    function.__doc__ = _DOCUMENTATION.format(
        name=name, text=text, formula=formula(metric), example=example
    )
    return function


hit = _metric_function("hit", [1.0, 1.0, 1.0, 1.0, 1.0])
precision = _metric_function("precision", [1.0, 1.0, 0.6667, 0.5, 0.6])
recall = _metric_function("recall", [0.3333, 0.6667, 0.6667, 0.6667, 1.0])
map_ = _metric_function("map", [1.0, 1.0, 0.6667, 0.6667, 0.8667])
ndcg = _metric_function("ndcg", [1.0, 1.0, 0.7654, 0.7654, 0.9469])
mrr = _metric_function("mrr", [1.0, 1.0, 1.0, 1.0, 1.0])
dcg = _metric_function("dcg", [1.0, 1.6309, 1.6309, 1.6309, 2.0178])
cg = _metric_function("cg", [1.0, 2.0, 2.0, 2.0, 3.0])
f1 = _metric_function("f1", [0.5, 0.8, 0.6667, 0.5714, 0.75])
rbp = _metric_function("rbp", [0.2, 0.36, 0.36, 0.36, 0.4419])
