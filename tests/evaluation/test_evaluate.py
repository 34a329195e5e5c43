"""Who is counted, at which k, and `Hits` in place of both arguments."""

import math

import numpy as np
import pytest
from shared_inputs import NAN, evaluate

import toplist as tl
from toplist import match, top_k_eval

PEOPLE = (
    {"both": [1, 2], "blank": [1], "bare": [], "extra": [1]},
    {"both": {2}, "blank": set(), "lost": {1}, "bare": {1, 2}, "none": set()},
)


@pytest.mark.parametrize(
    ("convention", "n_evaluated", "n_skipped"),
    [("standard", 3, 2), ("neurec", 5, 0), ("trec_eval", 2, 3)],
)
def test_policies_of_the_conventions(convention, n_evaluated, n_skipped):
    result = evaluate(*PEOPLE, convention=convention)
    assert (result.n_evaluated, result.n_skipped) == (n_evaluated, n_skipped)
    assert (result.n_missing, result.n_extra) == (2, 1)
    own = evaluate(*PEOPLE, convention=convention, empty="skip", missing="skip")
    assert (own.n_evaluated, own.n_skipped) == (1, 4)
    assert evaluate(match(*PEOPLE), None, empty="zero").n_evaluated == 5


@pytest.mark.parametrize(
    ("ranks", "truths"),
    [([], []), ({}, {}), ([1], set()), ([[1], [2]], [[], []]), ({"a": [1]}, {"a": []})],
)
def test_nobody_evaluated_is_nan_without_a_warning(ranks, truths):
    result = top_k_eval(ranks, truths, k=2)
    assert all(math.isnan(value) for value in result)
    assert math.isnan(result.std("ndcg@2"))
    assert all(map(math.isnan, result.interval("ndcg@2")))
    assert result.n_evaluated == 0
    assert "nan" in repr(result)
    assert np.isnan(result.per_user("map")).all()


@pytest.mark.parametrize("bad", [0, -1, True, 2.0, "3", NAN, np.float64(1), np.True_])
def test_k_is_a_whole_number_from_1_on(bad):
    message = rf"k must be .* not {bad!r}".replace("(", r"\(").replace(")", r"\)")
    for call in (match, tl.ndcg, top_k_eval):
        with pytest.raises(ValueError, match=message):
            call([[1, 2]], [{2}], bad)
    for call in (match, tl.ndcg):  # where all come back
        with pytest.raises(ValueError, match=r"k must be a whole number from 1 on, not \[1, 2\]"):
            call([[1, 2]], [{2}], [1, 2])
    for several in ([1, bad], (bad,)):
        with pytest.raises(ValueError, match=message):
            top_k_eval([[1, 2]], [{2}], several)


@pytest.mark.parametrize("several", [[1, 2], (1, 2), range(1, 3), np.array([1, 2]), iter([1, 2])])
def test_several_k_and_one(several):
    assert list(top_k_eval([[1, 2]], [{2}], np.uint8(2), metrics="mrr")) == [0.5]
    result = top_k_eval([[1, 2]], [{2}], several, metrics="mrr")
    assert result.to_dict() == {"mrr@1": 0.0, "mrr@2": 0.5}


def test_no_k_is_the_whole_list_and_a_metrics_own_k_wins():
    whole = top_k_eval([[1, 2, 3], [4]], [{3}, {4}], metrics=["hit", "mrr"])
    assert whole.to_dict() == {"hit@3": 1.0, "mrr@3": (1 / 3 + 1) / 2}
    cut = top_k_eval(match([[1, 2, 3]], [{3}], 2), metrics=["ndcg@1", "mrr"])
    assert cut.names() == ["ndcg@1", "mrr@2"]
    assert top_k_eval([[]], [{1}]).names()[0] == "hit@1"
    own = top_k_eval([[1, 2, 3]], [{3}], k=3, metrics=["map", "ndcg@2"])
    assert own.names() == ["map@3", "ndcg@2"]
    with pytest.raises(ValueError, match=r"k is empty"):
        top_k_eval([[1]], [{1}], k=[])


def test_hits_stand_for_both_arguments():
    hits = match(*PEOPLE)
    np.testing.assert_array_equal(tl.ndcg(hits), tl.ndcg(*PEOPLE))
    np.testing.assert_array_equal(tl.ndcg(hits, k=2), tl.ndcg(*PEOPLE, 2))
    assert top_k_eval(hits, k=2).to_dict() == top_k_eval(*PEOPLE, k=2).to_dict()


def test_hits_know_their_depth():
    hits = match([[1, 2, 3]], [{3}], 2)
    message = "k=3 is deeper than the lists of this Hits were read, k=2"
    too_deep = {"k": 3}, {"k": [1, 3]}, {"metrics": "hit@3"}
    for call, asked in zip((tl.hit, top_k_eval, top_k_eval), too_deep, strict=True):
        with pytest.raises(ValueError, match=message):
            call(hits, **asked)


@pytest.mark.parametrize("call", [tl.hit, top_k_eval])
def test_hits_take_nothing_that_belongs_to_the_join(call):
    hits = match([[1]], [{1}])
    with pytest.raises(TypeError, match="Hits, joined already: it takes no ground_truths"):
        call(hits, [{1}], 1)
    with pytest.raises(TypeError, match="ground_truths"):
        call([[1]], hits)
    for option, value in {"duplicates": "first", "padding": -1}.items():
        with pytest.raises(TypeError, match=rf"joined already: give {option} to match"):
            call(hits, k=1, **{option: value})
    with pytest.raises(TypeError, match="joined already: give relevant_from to match"):
        top_k_eval(hits, k=1, relevant_from=1)
    with pytest.raises(TypeError, match="joined already: give ties to match"):
        call(tl.Ranks(hits, ties="item"), k=1)


@pytest.mark.parametrize("n", [2, 11, 22, 45, 199])
def test_values_that_are_all_0_do_not_vary(n):
    """The std of rbp was 2.4e-9 where nobody has a hit."""
    metrics = ["rbp", "rbp(p=0.1)", "mrr", "ndcg", "map", "hit"]
    result = tl.top_k_eval([[7]] * n, [{1}] * n, k=1, metrics=metrics)
    assert [result.std(name) for name in result.names()] == [0.0] * len(metrics)
