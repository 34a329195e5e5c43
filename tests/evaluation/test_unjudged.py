"""unjudged="drop": items without a grade leave the lists, and ranks close up.

That every source and option takes it is said by the matrix.
"""

import numpy as np
import pytest
from differential import NOBODY_LEFT_OUT, agree, columns, expectations, twins_of
from doors import by_words, curve
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracle import hits as oracle
from shared_inputs import said
from strategies import graded_populations, has_misses

import toplist as tl

# a b c d e z are judged, x and y are not
GRADES = {"q": {"a": 1, "b": 0, "c": 2, "d": 0, "e": 1, "z": 1}}
LISTS = {"q": list("xabycde")}


@pytest.mark.parametrize(
    ("unjudged", "expected"),
    [("miss", (0.332143, 1 / 3, 0.25, 0.201515)), ("drop", (0.566667, 2 / 3, 0.5, 0.638788))],
)
def test_figures_of_trec_eval(unjudged, expected):
    asked = {"metrics": ["map", "precision", "recall", "ndcg", "judged"], "unjudged": unjudged}
    result = by_words(LISTS, GRADES, [3, 7], convention="trec_eval", **asked)
    names = "map@7", "precision@3", "recall@3", "ndcg@3"
    assert [result[name] for name in names] == pytest.approx(expected, abs=1e-6)
    assert result["judged@3"] == 2 / 3 and result["judged@7"] == 5 / 7


@settings(max_examples=60)
@given(
    graded_populations() | graded_populations(unique=False),
    st.integers(1, 15),
    st.sampled_from([None, 2]),
    st.sampled_from(["standard", "trec_eval", "ranx", "neurec", "lenskit", "torchmetrics"]),
)
def test_against_lists_of_judged_items(population, k, relevant_from, convention):
    join = {"relevant_from": relevant_from} if any(population[1]) else {}
    assume(has_misses(population[1], relevant_from))
    rules = {"convention": convention, "duplicates": "first", **NOBODY_LEFT_OUT, **join}
    metrics = tl.CONVENTIONS[convention].metrics.values()
    names = [one.name for one in metrics if one.of == "relevant" and one.earning is None]
    result = by_words(*population, k, metrics=names, unjudged="drop", **rules)
    closed = oracle.without_unjudged(*population), population[1]
    for name in names:
        twin, options = twins_of(convention)[name]
        expected = expectations(closed, k, twin, **options, **join, **NOBODY_LEFT_OUT)
        agree(result.per_user(name), columns(expected), name)
        agree(result[name], [one.mean for one in expected], name)
        if name in tl.METRICS:
            found = curve(name, *population, k, unjudged="drop", **rules)
            agree(found, columns(expected), f"tl.{name}")
    if convention in ("standard", "trec_eval"):
        found, before = (
            by_words(*population, k, metrics=["hit", "judged"], unjudged=one, **rules)
            for one in ("drop", "miss")
        )
        np.testing.assert_array_equal(found.per_user("judged"), before.per_user("judged"))
        name, share = found.judged_share()
        assert name == f"judged@{k}"
        np.testing.assert_equal(share, before[name])


def test_lists_are_read_whole():
    lists = {"q": [*map(str, range(100, 3000)), "a", "b"]}
    truth = {"q": {"a": 1, "b": 0}}
    assert tl.top_k_eval(lists, truth, 1, unjudged="drop")["hit@1"] == 1
    whole = tl.top_k_eval(lists, truth, unjudged="drop", metrics=["judged", "precision"])
    assert whole.ks == (2,) and whole["precision@2"] == 0.5
    deep = tl.top_k_eval(lists, truth, 5000, unjudged="drop", metrics="judged")
    assert deep["judged@5000"] == deep["judged@2902"] == 2 / 2902
    assert deep["judged@2901"] == 1 / 2901
    # a has a list, though no item of it is judged
    lists, truth = {"a": ["x"], "b": [], "c": ["r"]}, {"a": {"r": 1, "n": 0}, "b": {"r": 1}}
    for missing, mean, n in (("zero", 1 / 3, 3), ("skip", 1 / 2, 2)):
        asked = {"metrics": "hit", "unjudged": "drop", "missing": missing}
        found = by_words(lists, truth | {"c": {"r": 1}}, 1, **asked)
        assert (found["hit@1"], found.n_evaluated, found.n_missing) == (mean, n, 1)


def test_it_is_said():
    result = by_words(LISTS, GRADES, [3, 7], metrics="map", unjudged="drop")
    assert "convention standard, unjudged items leave the lists: mean over users" in str(result)
    assert "1 of 1 user evaluated, judged@7 0.7143 before unjudged items left" in str(result)
    assert '"unjudged": "drop"' in result.to_json() and '"judged@7"' in result.to_json()
    other = tl.top_k_eval({"p": ["a"]}, {"p": {"a": 1}}, [3, 7], metrics="map")
    said("unjudged is 'drop' in one and 'miss' in the other", lambda: result + other)
    words = "Hits of unjudged drop and of unjudged miss do not"
    said(words, lambda: result.hits + tl.match({"p": ["a"]}, {"p": {"a": 1}}, 7))
    same = tl.top_k_eval(LISTS, GRADES, [3, 7], metrics="map")
    compared = str(tl.compare({"a": result, "b": same}))
    assert "a: convention standard, unjudged items leave the lists; b: " in compared
