"""Figures that other projects print in their tests and documents, as cases for the metrics.

The files lie beside the repository (`../shared/cases`); without them there are no cases.
A source case becomes one `Case` for each formula that is said to give its number, so that a test
has only to compute `case.metric` by `case.convention` and `case.divisor` and call `case.check`.
Lists may hold duplicates: later copies earn nothing.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from oracle.hits import IDEAL_PLACES, METRICS, OVER, divisor_of, hit_ranks, relevant_items

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "cases"


@dataclass(frozen=True)
class Case:
    """One figure, and all that is needed to compute it."""

    id: str
    metric: str
    ranks: list
    truths: list  # of sets, or of dicts item -> grade
    k: int | list  # a list only with aggregation "mean"
    expected: Any  # by aggregation: a number or one per k; one per user; a row @1..@k per user
    aggregation: str  # "mean", "per_user" or "cumulative"
    tolerance: float
    convention: str = "standard"
    divisor: str | None = None  # None: the convention's own
    gain: str = "binary"  # or "linear", "exponential"
    parameters: Mapping = field(default_factory=dict)  # of the metric: p of rbp
    do_not_copy: bool = False  # `expected` is a defect, which this formula must not reproduce

    def check(self, actual):
        """Raise AssertionError unless `actual`, shaped like `expected`, is what it should be."""
        pairs = list(zip(flat(self.expected), flat(actual), strict=True))
        equal = all(same(wanted, got, self.tolerance) for wanted, got in pairs)
        assert equal != self.do_not_copy, f"{self.id}: {actual}, in the source {self.expected}"


def flat(values):
    """List the numbers of a number, a list or a list of lists; null is nan."""
    if isinstance(values, list):
        return [number for value in values for number in flat(value)]
    return [math.nan if values is None else float(values)]


def same(wanted, got, tolerance):
    """Compare two numbers; nan equals nan."""
    return (math.isnan(wanted) and math.isnan(got)) or abs(wanted - got) <= tolerance


# What the sources call the metrics and the divisors. A source case that names none of these, or
# only formulas that are not here, is no case of ours.

METRIC_NAMES = {name: name for name in METRICS} | {
    "hit_rate": "hit",
    "hits": "cg",
    "lrap": "map",  # AP of a whole ranking without ties
}

STANDARD_DIVISORS = {
    "precision": "k",
    "recall": "R",
    "map": "min(k,R)",
    "ndcg": "ideal(min(k,R))",
    "f1": "k",  # of its precision
}

LABELS = {  # of recsys_cases.json, "consistent_with"
    "k": "k",
    "R": "R",
    "len": "min(k,n)",
    "min(k,R)": "min(k,R)",
    "min(len,R)": "min(k,n,R)",
    "cumsum": "sum(min(i,R))",
    "hits": "hits",
}

STATED = {  # of ir_cases.json: the key of "convention" that says it, and what its values mean
    "precision": ("precision_den", {"k": "k", "n_retrieved": "min(k,n)"}),
    "f1": ("precision_den", {"k": "k", "n_retrieved": "min(k,n)"}),
    "recall": ("recall_den", {"R": "R", "min(R,k)": "min(k,R)"}),
    "map": (
        "ap_den",
        {"R": "R", "min(R,k)": "min(k,R)", "seed:sum_{i<=k} min(i,R)": "sum(min(i,R))"},
    ),
    "ndcg": (
        "idcg",
        {
            "truth@k": "ideal(min(k,R))",
            "truth@min(k,len)": "ideal(min(k,n,R))",
            "truth_all": "ideal(R)",
        },
    ),
}

GAINS = {"binary": "binary", "linear": "linear", "exp": "exponential"}

NEUREC_SOURCES = ("003_d7af331ef58b05bc", "evaluator/backend/python/metric.py")


class NotOursError(Exception):
    """Why a source case is not one of plain ranked lists by a formula that is offered."""


def read(folder=FOLDER):
    """Return (cases, left_out): every `Case`, and for each source case without one the reason."""
    cases, left_out = [], {}
    for name, convert in (("recsys_cases.json", from_recsys), ("ir_cases.json", from_ir)):
        path = Path(folder) / name
        sources = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
        for number, source in enumerate(sources):
            name_of_it = source.get("id", f"{source['peer']}-recsys-{number:03}")
            label = f"{name_of_it}-{source['metric']}"
            try:
                cases += convert(source, label)
            except NotOursError as reason:
                left_out[label] = str(reason)
    return cases, left_out


def from_recsys(source, label):
    """Convert a case that lists every divisor or ideal giving its number."""
    case = common_part(source, label, METRIC_NAMES.get(source["canonical_metric"]))
    case |= {"aggregation": source["aggregation"], "tolerance": source["tolerance"]}
    if "gains" in source:
        raise NotOursError("grades beside the truth")
    labels = source["consistent_with"]
    if case["metric"] in STANDARD_DIVISORS:
        prefix = "ideal({})" if case["metric"] == "ndcg" else "{}"
        divisors = [prefix.format(LABELS[name]) for name in labels if name in LABELS]
    else:
        divisors = [None] if labels else []
    found = variants(case, divisors, source)
    if source.get("do_not_copy"):
        found.append(Case(**case | {"id": f"{label}-not-by-default", "do_not_copy": True}))
    if not found:
        raise NotOursError(f"formulas not offered: {', '.join(labels) or 'none is known'}")
    return found


def from_ir(source, label):
    """Convert a case that states the convention under which its number holds."""
    if source["kind"] != "ranking":
        raise NotOursError("scores, not ranked lists")
    case = common_part(source, label, METRIC_NAMES.get(source["metric"]))
    aggregation = {"mean": "mean", "per_query": "per_user"}[source["aggregate"]]
    case |= {"aggregation": aggregation, "tolerance": source["tol"]}
    stated = source["convention"]
    if case["metric"] in ("cg", "dcg", "ndcg") and "gain" in stated:
        case["gain"] = GAINS[stated["gain"]]
    if "p" in stated:
        case["parameters"] = {"p": stated["p"]}
    divisor = None
    if case["metric"] in STATED:
        key, meanings = STATED[case["metric"]]
        if stated.get(key) not in meanings:
            raise NotOursError(f"formula not offered: {stated}")
        divisor = meanings[stated[key]]
    found = variants(case, [divisor], source)
    if not found:
        raise NotOursError(f"formula not offered: {stated}")
    return found


def common_part(source, label, metric):
    """Convert what the two files say alike."""
    if metric is None:
        raise NotOursError("another metric")
    ranks = source["ranks"]
    k = source["k"] or max(map(len, ranks))
    truths = [to_truth(truth, ranks) for truth in source["truths"]]
    case = {"id": label, "metric": metric, "ranks": ranks, "truths": truths, "k": k}
    return case | {"expected": source["expected"]}


def to_truth(truth, ranks):
    """Convert a list of ids to a set; the keys of a JSON object are strings, whatever they were."""
    if not isinstance(truth, dict):
        return set(truth)
    if all(isinstance(item, int) for ranked in ranks for item in ranked):
        return {int(item): grade for item, grade in truth.items()}
    return truth


def variants(case, divisors, source):
    """List one `Case` per divisor that can be asked for, the standard's own without a name."""
    own = STANDARD_DIVISORS.get(case["metric"])
    by_name = case["metric"] in OVER and case.get("gain", "binary") == "binary"
    found = []
    for divisor in divisors:
        if divisor == own or always_equal(divisor, own, case):
            found.append(Case(**case))
        if by_name and divisor != own:
            found.append(Case(**case | {"id": f"{case['id']}-{divisor}", "divisor": divisor}))
    if any(name in source["source"] for name in NEUREC_SOURCES):
        found.append(Case(**case | {"id": f"{case['id']}-neurec", "convention": "neurec"}))
    return unique(found)


def always_equal(one, other, case):
    """Tell whether two divisors agree for every user of the case who has a hit."""

    def places(name, k, ranked, truth):
        if name in IDEAL_PLACES:
            return IDEAL_PLACES[name](k, len(relevant_items(truth)), len(ranked))
        return divisor_of(name, ranked, truth, k)

    ks = case["k"] if isinstance(case["k"], list) else [case["k"]]
    if case["aggregation"] == "cumulative":
        ks = range(1, case["k"] + 1)
    return all(
        places(one, k, ranked, truth) == places(other, k, ranked, truth)
        for k in ks
        for ranked, truth in zip(case["ranks"], case["truths"], strict=True)
        if hit_ranks(ranked, truth, k)
    )


def unique(cases):
    """Drop the repetitions: two divisors that agree give the same case twice."""
    return list({case.id: case for case in cases}.values())
