"""Figures of retrieval and RAG libraries, from their own tests, by their conventions and formulas.

The cases lie beside the repository (`../shared/cases`); without them there are none.
"""

import json

import pytest
from cases import FOLDER, flat, same, to_truth
from doors import by_words

import toplist as tl

PATH = FOLDER / "retrieval_cases.json"
CASES = json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else []

# What was not of three choices before: counts, discount, divisor, and the policies beside them
FORMULAS = {
    "h3-008": ("each", "r", "hits", {}),
    "h3-154": ("nth", "r", "hits", {}),
    "h3-596": ("nth", "r", "R", {"empty": "one"}),
}
# No sum over hits: a mean over groups of alternatives, each divided by its own hits
NOT_OURS = {"h3-129"}

# What a peer and its metrics are called here, where that is not their own name
PEERS = {"pytrec_eval-terrier": "trec_eval", "tfr": "tf-ranking"}
OWN_NAMES = {
    "CalibratedRecallK": "calibrated_recall",
    "retrieval_average_precision": "map",
}
# By other functions and options of the peer than the convention holds
OTHER_OPTIONS = {
    "h3-428": "IPSHitRateK: grades that are inverse propensities",
    "h3-566": "r_precision=True",
}


def evaluated(case, **asked):
    """Return the figures of a case, shaped as it expects them."""
    truths = [to_truth(truth, case["ranks"]) for truth in case["truths"]]
    policy = dict(case["policy"])
    if not any(isinstance(truth, dict) for truth in truths):
        policy.pop("relevant_from", None)
    options = {"duplicates": "first"} | policy | asked
    k = case["k"]
    result = by_words(case["ranks"], truths, k, **options)
    name = result.terms.names[0]
    return result[name] if case["aggregation"] == "mean" else result.per_user(name).tolist()


def check(case, found):
    pairs = list(zip(flat(case["expected"]), flat(found), strict=True))
    assert all(same(*pair, case["tolerance"]) for pair in pairs), (found, case["expected"])


def formula_of(case):
    """Return the metric of a case and its policies; None for a formula that is not offered."""
    name = case["metric"] or "of_the_case"
    if case["id"] in FORMULAS:
        *choices, policy = FORMULAS[case["id"]]
        return tl.Metric(name, *choices), policy
    if case["formula"] is None:
        return None
    graded = case["metric"] in ("cg", "dcg", "ndcg")
    return tl.Metric(name, *case["formula"].values(), graded=graded), {}


@pytest.mark.parametrize(
    "case", [case for case in CASES if formula_of(case)], ids=lambda case: case["id"]
)
def test_by_its_formula(case):
    metric, policy = formula_of(case)
    if case["id"] == "h3-x01":  # gains that do not read the threshold are trec_eval's
        policy = {"convention": "trec_eval"}
    check(case, evaluated(case, metrics=metric, **policy))


def by_a_peer(case):
    """Return the convention and the metric of the peer of a case; None if it has none here."""
    convention = tl.CONVENTIONS.get(PEERS.get(case["peer"], case["peer"]))
    name = OWN_NAMES.get(case["peer_metric"], case["metric"])
    if convention is None or name not in convention.metrics or case["id"] in OTHER_OPTIONS:
        return None
    return convention.name, name


@pytest.mark.parametrize(
    "case", [case for case in CASES if by_a_peer(case)], ids=lambda case: case["id"]
)
def test_by_the_convention_of_its_peer(case):
    convention, name = by_a_peer(case)
    check(case, evaluated(case, metrics=name, convention=convention))


@pytest.mark.skipif(not CASES, reason="no cases beside the repository")
def test_all_cases_but_one_are_expressible():
    assert {case["id"] for case in CASES if not formula_of(case)} == NOT_OURS
    assert len([case for case in CASES if by_a_peer(case)]) >= 25
