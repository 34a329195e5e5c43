"""`TopKResult.bounds`: all unjudged items are misses, or all are relevant."""

import numpy as np
import oracle
import pytest
from differential import agree
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import graded_populations, populations

import toplist as tl

GRADES = {"q": {"a": 1, "b": 0, "c": 2, "d": 0, "e": 1, "z": 1}}
LISTS = {"q": list("xabycde")}


def test_figures():
    result = tl.top_k_eval(LISTS, GRADES, 3, metrics=["precision", "rbp", "ndcg", "recall"])
    assert result.bounds("precision@3") == pytest.approx((1 / 3, 2 / 3))
    assert result.bounds("rbp") == pytest.approx((0.16, 0.36))
    assert result.bounds("recall@3") == pytest.approx((1 / 4, 2 / 5))
    low, high = result.bounds("ndcg@3")  # x gains 2, as c does, also in the ideal list
    dcg, ideal = 2 + 1 / np.log2(3), 2 + 2 / np.log2(3) + 1 / 2
    assert (low, high) == pytest.approx((result["ndcg@3"], dcg / ideal))
    assert result.bounds("precision@2").high == 1  # at any k down to the largest


@settings(deadline=None, max_examples=60)
@given(graded_populations() | populations(), st.integers(1, 15), st.sampled_from(["skip", "zero"]))
def test_against_the_definition(population, k, empty):
    names = ["hit", "precision", "recall", "map", "ndcg", "mrr", "rbp", "dcg", "f1", "r_precision"]
    result = tl.top_k_eval(*population, k, metrics=names, empty=empty)
    rows = oracle.rows(*population)
    kept = [row for row in rows if empty == "zero" or oracle.relevant_items(row[1])]
    best = [(ranked, oracle.with_all_relevant(ranked, truth, k)) for ranked, truth in kept]
    for name in names:
        low, high = result.bounds(name)
        agree(low, result[f"{name}@{k}"], name)
        twin = oracle.METRICS[name]
        agree(high, oracle.mean_of([twin(*row, k) for row in best]), name)
        if name in ("hit", "precision", "recall", "mrr", "rbp", "dcg") and kept:
            assert high >= low - 1e-12


def test_gains_without_the_threshold_read_the_holes_too():
    """In trec_eval nDCG reads all grades: the ideal has those below the threshold."""
    result = tl.top_k_eval(
        LISTS, GRADES, 3, metrics=["ndcg", "precision"], convention="trec_eval", relevant_from=2
    )
    plain = tl.top_k_eval(LISTS, GRADES, 3, metrics="ndcg", convention="trec_eval")
    assert result.bounds("ndcg") == plain.bounds("ndcg")
    assert result.bounds("precision") == pytest.approx((0, 1 / 3))


def test_weights_pooling_and_segments():
    lists = LISTS | {"p": ["a", "n"]}
    grades = GRADES | {"p": {"a": 1, "n": 0, "m": 1}}
    asked = {"k": 2, "metrics": ["recall", "precision"]}
    weighted = tl.top_k_eval(lists, grades, weights={"q": 3, "p": 1}, **asked)
    assert weighted.bounds("recall") == pytest.approx(
        ((3 / 4 + 1 / 2) / 4, (3 * 2 / 5 + 1 / 2) / 4)
    )
    pooled = tl.top_k_eval(lists, grades, aggregate="pooled", **asked)
    assert pooled.bounds("recall") == pytest.approx((2 / 6, 3 / 7))
    parts = tl.top_k_eval(lists, grades, **asked).by({"q": "long", "p": "short"})
    assert parts["short"].bounds("precision") == (0.5, 0.5)
    two = [tl.top_k_eval({u: lists[u]}, {u: grades[u]}, **asked) for u in lists]
    assert sum(two).bounds("recall") == tl.top_k_eval(lists, grades, **asked).bounds("recall")


def test_what_has_no_bounds():
    result = tl.top_k_eval(LISTS, GRADES, [1, 3], metrics=["ndcg", "judged", "shannon_entropy"])
    with pytest.raises(ValueError, match=r"at one k: give one of ndcg@1, ndcg@3$"):
        result.bounds("ndcg")
    for name in ("judged@3", "shannon_entropy@3"):
        with pytest.raises(ValueError, match=f"{name[:-2]} has no bounds"):
            result.bounds(name)
    with pytest.raises(KeyError, match="this result has ndcg"):
        result.bounds("map@3")
    bare = tl.top_k_eval(LISTS, GRADES, 3, metrics="ndcg").without_users()
    with pytest.raises(ValueError, match="holds no hits, so it has no bounds; of files, keep="):
        bare.bounds("ndcg")
    dropped = tl.top_k_eval(LISTS, GRADES, 3, metrics="ndcg", unjudged="drop")
    with pytest.raises(ValueError, match="so it has no bounds: evaluate with unjudged='miss'"):
        dropped.bounds("ndcg")
