"""`TopKResult.bounds`: figures, and what has none.

That bounds are the ends of the means of all judgements, is said by properties.
"""

import pytest
from doors import by_words

import toplist as tl

GRADES = {"q": {"a": 1, "b": 0, "c": 2, "d": 0, "e": 1, "z": 1}}
LISTS = {"q": list("xabycde")}


def test_figures():
    result = tl.top_k_eval(LISTS, GRADES, 3, metrics=["precision", "rbp", "ndcg", "recall"])
    assert result.bounds("precision@3") == pytest.approx((1 / 3, 2 / 3))
    assert result.bounds("rbp") == pytest.approx((0.16, 0.36))
    assert result.bounds("recall@3") == pytest.approx((1 / 4, 2 / 5))
    assert result.bounds("precision@2").high == 1  # at any k down to the largest
    more = tl.top_k_eval(LISTS | {"e": ["x"]}, GRADES | {"e": {"y": 0}}, 3, metrics="recall")
    assert more.bounds("recall@3") == result.bounds("recall@3")  # of the users of the mean


def test_what_an_unjudged_item_may_lower_has_bounds_without_grades_alone():
    """In trec_eval nDCG reads all grades, whatever is relevant."""
    rules = {"convention": "trec_eval", "relevant_from": 2}
    result = by_words(LISTS, GRADES, 3, metrics=["ndcg", "map", "precision", "bpref"], **rules)
    for name in ("ndcg@3", "bpref"):
        with pytest.raises(ValueError, match="has no bounds.* have hit, precision, recall, mrr"):
            result.bounds(name)
    assert result.bounds("precision") == pytest.approx((0, 1 / 3))
    assert result.bounds("map") == pytest.approx((0, 1 / 2))  # x is relevant, as c below k is


def test_weights_pooling_and_segments():
    lists = LISTS | {"p": ["a", "n"]}
    grades = GRADES | {"p": {"a": 1, "n": 0, "m": 1}}
    asked = {"k": 2, "metrics": ["recall", "precision"]}
    weighted = by_words(lists, grades, weights={"q": 3, "p": 1}, **asked)
    assert weighted.bounds("recall") == pytest.approx(
        ((3 / 4 + 1 / 2) / 4, (3 * 2 / 5 + 1 / 2) / 4)
    )
    pooled = by_words(lists, grades, aggregate="pooled", **asked)
    assert pooled.bounds("recall") == pytest.approx((2 / 6, 3 / 7))
    parts = by_words(lists, grades, **asked).by({"q": "long", "p": "short"})
    assert parts["short"].bounds("precision") == (0.5, 0.5)
    two = [by_words({u: lists[u]}, {u: grades[u]}, **asked) for u in lists]
    assert sum(two).bounds("recall") == by_words(lists, grades, **asked).bounds("recall")


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
    with pytest.raises(ValueError, match="holds no hits, so it has no bounds; of files"):
        bare.bounds("ndcg")
    pooled = tl.top_k_eval(
        LISTS,
        GRADES,
        3,
        metrics="map",
        convention=tl.CONVENTIONS["standard"].replace(aggregate="pooled"),
    )
    with pytest.raises(ValueError, match="map has no bounds of ratios of sums over users"):
        pooled.bounds("map")
    dropped = tl.top_k_eval(LISTS, GRADES, 3, metrics="ndcg", unjudged="drop")
    with pytest.raises(ValueError, match="so it has no bounds: evaluate with unjudged='miss'"):
        dropped.bounds("ndcg")
