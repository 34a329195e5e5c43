"""Inverse-propensity-weighted hits: grades of 1 / propensity, against plain Python."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import beyond as oracle

import toplist as tl

IDS = range(7)
LISTS = st.lists(st.sampled_from(IDS), unique=True, max_size=6)
USERS = st.lists(st.tuples(LISTS, st.sets(st.sampled_from(IDS))), min_size=1, max_size=6)
PROPENSITIES = st.lists(st.floats(0.01, 1.0), min_size=7, max_size=7)
SNIPS = tl.Metric("snips", "each", "1", "ideal(R)", graded=True)


def log2(rank):
    return math.log2(rank + 1)


def one(rank):
    return 1


@settings(deadline=None)
@given(USERS, PROPENSITIES, st.integers(1, 8))
def test_weighted_hits_are_the_formulas(users, propensities, k):
    lists, truths = [ranked for ranked, _ in users], [truth for _, truth in users]
    propensity = dict(zip(IDS, propensities, strict=True))
    weighted = [{item: 1 / propensity[item] for item in truth} for truth in truths]
    given = lists, truths, k, propensity
    result = tl.top_k_eval(lists, weighted, k=k, metrics=["cg", "dcg", SNIPS])
    pooled = tl.top_k_eval(
        lists,
        weighted,
        k=k,
        metrics=[SNIPS],
        convention=tl.CONVENTIONS["standard"].replace(aggregate="pooled"),
    )
    # a list of the truth itself earns all weights: a user's dcg over these is SNIPS with a discount
    every = tl.curves("cg", [list(truth) for truth in truths], weighted, 7)[:, -1]
    with np.errstate(invalid="ignore"):
        ratio = tl.curves("dcg", lists, weighted, k)[:, -1] / every
    judged = ratio[np.array([bool(truth) for truth in truths])]
    for found, discount, normalised in (
        (result[f"cg@{k}"], one, None),
        (result[f"dcg@{k}"], log2, None),
        (result[f"snips@{k}"], one, "user"),
        (pooled[f"snips@{k}"], one, "pooled"),
        (judged.mean() if len(judged) else math.nan, log2, "user"),
    ):
        expected = oracle.inverse_propensity(*given, discount, normalised)
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)
