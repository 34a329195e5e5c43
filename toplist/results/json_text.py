"""Results as JSON, which people and other programs read: what was asked, and every mean."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from toplist.metrics.definitions import Metric
from toplist.metrics.formulas import formula
from toplist.results.means import Means

COUNTS = ("n_users", "n_evaluated", "n_skipped", "n_missing", "n_extra")
POLICIES = ("empty", "missing", "relevant", "ties", "unjudged", "weighted", "pooled")


def content(result: Means) -> dict[str, Any]:
    """Return what JSON says of a result: what was asked, by which rules, of whom; every mean.

    Examples
    --------
    >>> from toplist import top_k_eval
    >>> found = content(top_k_eval([[1, 2], [3]], [{2}, {3}], k=[1, 2], metrics="mrr"))
    >>> found["convention"], found["k"], found["values"], found["n"]
    ('standard', [1, 2], {'mrr@1': 0.5, 'mrr@2': 0.75}, {'mrr@1': 2, 'mrr@2': 2})
    >>> found["formulas"]
    {'mrr': 'mrr@k = sum over r_j <= k of [j = 1] / r_j'}
    """
    version = import_module("toplist").__version__  # of the package, which imports all others
    names, terms = result.names(), result.terms
    weighing = {"weighting": terms.weighting, "clip": terms.clip}
    weighing |= result.exposed._asdict() if result.exposed else {}
    policies = {name: getattr(terms, name) for name in POLICIES} | vars(terms.grading)
    return {
        "toplist": version,
        "convention": terms.convention,
        "policies": policies | {"pooled": list(terms.pooled), "graded": result.graded},
        "k": list(result.ks),
        **({"sampled": vars(terms.sampled)} if terms.sampled else {}),
        **{name: getattr(result, name) for name in COUNTS},
        **({} if result.clusters is None else {"n_clusters": result.n_clusters}),
        **({"scores": result.scored._asdict()} if result.scored else {}),
        **({"propensities": weighing} if terms.weighting else {}),
        **_judged(result),
        "values": {name: result[name] for name in names},
        "std": {name: result.std(name) for name in names},
        "interval": {name: result.interval(name) for name in names},
        "n": {name: result.n_of(name) for name in names},
        "formulas": {
            name: formula(one) if isinstance(one, Metric) else one.formula
            for name, one in terms.asked.items()
        },
    }


def _judged(result: Means) -> dict[str, Any]:
    """Return how much was judged before the rest left the lists."""
    if result.terms.unjudged == "miss":
        return {}
    name, share = result.judged_share()
    return {"judged": {name: share}}


def text_of(found: Any) -> str:
    r"""Return JSON for readers: a line per field, and lists in one line.

    Examples
    --------
    >>> print(text_of({"k": [1, 2], "values": {"mrr@1": 0.5}}))
    {
     "k": [1, 2],
     "values": {
      "mrr@1": 0.5
     }
    }
    """
    # no text of JSON holds a line break: what begins and ends so is a list
    return re.sub(
        r"\[\n([^\[\]{}]*)\n *\]",
        lambda one: f"[{' '.join(map(str.strip, one[1].splitlines()))}]",
        json.dumps(_plain(found), indent=1),
    )


def _plain(found: Any) -> Any:
    """Return what JSON can hold: null for NaN and infinity."""
    if isinstance(found, Mapping):
        return {name: _plain(one) for name, one in found.items()}
    if isinstance(found, (list, tuple)):
        return list(map(_plain, found))
    return json_number(found) if isinstance(found, float) else found


def json_number(value: float) -> float | None:
    """Return a number as JSON can hold it: None (null) for NaN and infinity."""
    return float(value) if math.isfinite(value) else None
