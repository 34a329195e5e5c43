"""unjudged="drop": items without a grade leave the lists, and ranks close up.

That every source and option takes it is said by the matrix.
"""

import pytest
from doors import by_words
from shared_inputs import said

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


def test_an_item_below_0_has_no_part_in_bpref_nor_where_unjudged_items_leave():
    # trec_eval takes what is below 0 for unjudged: "in pool, but unjudged", form_res_rels.c and
    # m_bpref.c of usnistgov/trec_eval
    lists, truth = {"q": [*"bcaxd"]}, {"q": {"a": 1, "b": -2, "c": 0, "d": 2, "e": 0}}
    options = {"k": 5, "metrics": ["bpref", "precision", "judged"]}
    found, closed = (by_words(lists, truth, unjudged=one, **options) for one in ("miss", "drop"))
    # c is above both hits, and one of N = 2 items judged 0; b is none of them
    assert found["bpref"] == pytest.approx((1 - 1 / 2 + 1 - 1 / 2) / 2)
    assert found["judged@5"] == closed["judged@5"] == 0.8 and closed["precision@5"] == 2 / 5
