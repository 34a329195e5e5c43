"""The metric functions `hit`, `ndcg` and others: the values of each user at every k."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import FunctionType
from typing import Any, Concatenate, ParamSpec

import numpy as np
from numpy.typing import NDArray

from toplist.averages import per_user
from toplist.checks import check_positive_int
from toplist.evaluation.evaluate import hits_of, ruled
from toplist.evaluation.plan import counted_users, rules_of
from toplist.inputs.options import Duplicates, Joining, Ties
from toplist.metrics.conventions import ConventionName, Missing, Relevant
from toplist.metrics.definitions import METRICS, Divisor, DivisorName, Empty, Gains
from toplist.metrics.formulas import formula
from toplist.metrics.names import parse

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
    A name in `DIVISORS`, or a function ``f(k, R, n)``, in place of the convention's. "hits" is
    the number of hits in the first k.
empty, missing, relevant, duplicates, padding, relevant_from, gains, ties, columns, n_threads
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

# The arguments of every metric function.
Call = ParamSpec("Call")


def _curves(
    name: str,
    ranks: Any,
    ground_truths: Any = None,
    k: int | None = None,
    *,
    convention: ConventionName = "standard",
    divisor: DivisorName | Divisor | Callable[..., Any] | None = None,
    empty: Empty | None = None,
    missing: Missing | None = None,
    relevant: Relevant | None = None,
    duplicates: Duplicates = "raise",
    padding: Any = None,
    relevant_from: float | None = None,
    gains: Gains | None = None,
    ties: Ties = "order",
    columns: Mapping[str, Any] | None = None,
    n_threads: int | None = None,
) -> NDArray[np.float64]:
    """Return a metric of the convention at every k: (K,) for one user, (n_users, K) for many."""
    rules = rules_of(convention, empty, missing, relevant)
    metric, _ = parse(name, rules)
    if divisor is not None:
        metric = replace(metric, divisor=divisor)
    metric = replace(metric, empty=rules.policy_of(metric))
    depth = None if k is None else check_positive_int(k, "k")
    joining = Joining(
        *(duplicates, padding, relevant_from, gains, columns, n_threads, ties),
        fingerprints=False,
    )
    hits, single = hits_of(ranks, ground_truths, depth, ruled(ranks, joining, rules))
    counted = counted_users(hits, rules, [rules.policy_of(metric)])
    hits = per_user.gains_of(hits, metric, rules.threshold_in_gains)
    out = per_user.curves(hits, counted, metric, depth or hits.k, n_threads)
    return out[0] if single else out


def _metric_function(
    curves: Callable[Concatenate[str, Call], NDArray[np.float64]], name: str, example: list[float]
) -> Callable[Call, NDArray[np.float64]]:
    """Return the function of a metric, with the signature of `curves`, documented by its row."""
    own: Any = FunctionType(curves.__code__, globals(), name, curves.__defaults__)
    own.__kwdefaults__, own.__qualname__ = curves.__kwdefaults__, name  # errors name the metric

    def function(*arguments: Call.args, **keywords: Call.kwargs) -> NDArray[np.float64]:
        found: NDArray[np.float64] = own(name, *arguments, **keywords)
        return found

    signature = inspect.signature(curves)
    parameters = list(signature.parameters.values())[1:]
    metric = METRICS[name]
    function.__name__ = function.__qualname__ = name
    function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    function.__doc__ = _DOCUMENTATION.format(
        name=name,
        text=f"{metric.text[0].upper()}{metric.text[1:]}.",
        formula=formula(metric),
        example=example,
    )
    return function


hit = _metric_function(_curves, "hit", [1.0, 1.0, 1.0, 1.0, 1.0])
precision = _metric_function(_curves, "precision", [1.0, 1.0, 0.6667, 0.5, 0.6])
recall = _metric_function(_curves, "recall", [0.3333, 0.6667, 0.6667, 0.6667, 1.0])
map_ = _metric_function(_curves, "map", [1.0, 1.0, 0.6667, 0.6667, 0.8667])
ndcg = _metric_function(_curves, "ndcg", [1.0, 1.0, 0.7654, 0.7654, 0.9469])
mrr = _metric_function(_curves, "mrr", [1.0, 1.0, 1.0, 1.0, 1.0])
dcg = _metric_function(_curves, "dcg", [1.0, 1.6309, 1.6309, 1.6309, 2.0178])
cg = _metric_function(_curves, "cg", [1.0, 2.0, 2.0, 2.0, 3.0])
f1 = _metric_function(_curves, "f1", [0.5, 0.8, 0.6667, 0.5714, 0.75])
rbp = _metric_function(_curves, "rbp", [0.2, 0.36, 0.36, 0.36, 0.4419])
judged = _metric_function(_curves, "judged", [1.0, 1.0, 0.6667, 0.5, 0.6])
r_precision = _metric_function(_curves, "r_precision", [0.3333, 0.6667, 0.6667, 0.6667, 0.6667])
