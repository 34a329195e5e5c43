"""Who is counted, at which k, and `Hits` in place of both arguments."""

import math

import numpy as np
import pytest
from shared_inputs import NAN, evaluate, rows

import toplist as tl
from toplist import METRICS, match, top_k_eval


def test_one_key_may_hold_a_set_another_a_bare_id():
    truths = {"ann": {"x", "y"}, "bob": "x"}
    assert rows(match({"ann": ["x"], "bob": ["x"]}, truths)) == [([1], 2, 1), ([1], 1, 1)]


PEOPLE = (
    {"both": [1, 2], "blank": [1], "bare": [], "extra": [1]},
    {
        "both": {2},
        "blank": set(),
        "lost": {1},
        "bare": {1, 2},
        "none": set(),
    },
)


POLICIES = [
    # empty, missing, evaluated, the values of both, blank, lost, bare, none
    ("skip", "zero", 3, [0.5, NAN, 0, 0, NAN]),
    ("skip", "skip", 1, [0.5, NAN, NAN, NAN, NAN]),
    ("zero", "zero", 5, [0.5, 0, 0, 0, 0]),
    ("zero", "skip", 2, [0.5, 0, NAN, NAN, NAN]),  # "none" has no list either
]


@pytest.mark.parametrize(("empty", "missing", "n_evaluated", "values"), POLICIES)
def test_policies(empty, missing, n_evaluated, values):
    result = evaluate(*PEOPLE, empty=empty, missing=missing)
    np.testing.assert_array_equal(result.per_user("mrr@2"), values)
    assert result["mrr@2"] == 0.5 / n_evaluated
    assert result.n_users == 5
    assert result.n_evaluated == n_evaluated
    assert result.n_skipped == 5 - n_evaluated
    assert result.n_missing == 2
    assert result.n_extra == 1
    curves = tl.mrr(*PEOPLE, 2, empty=empty, missing=missing)
    np.testing.assert_array_equal(curves[:, 1], values)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(("empty", "missing", "n_evaluated", "values"), POLICIES)
def test_policies_are_the_same_for_every_metric(name, empty, missing, n_evaluated, values):
    result = top_k_eval(*PEOPLE, k=2, metrics=[name], empty=empty, missing=missing)
    found = result.per_user(f"{name}@2")
    assert np.isnan(found).tolist() == np.isnan(values).tolist()
    assert found[np.isnan(values) < 1][1:].tolist() == [0.0] * (n_evaluated - 1)
    assert result.n_evaluated == n_evaluated


def test_policies_that_raise():
    with pytest.raises(ValueError, match=r"user 'blank' has an empty ground truth \(2 such users"):
        evaluate(*PEOPLE, empty="raise")
    with pytest.raises(ValueError, match=r"user 'lost' has no ranked list \(2 such users"):
        evaluate(*PEOPLE, missing="raise")
    with pytest.raises(ValueError, match="user 1 has no ranked list"):
        tl.hit([[1], []], [{1}, {1}], missing="raise")
    assert evaluate([[1]], [{1}], empty="raise", missing="raise")["mrr@2"] == 1.0
    assert evaluate([[1], []], [{1}, []], empty="skip", missing="raise").n_evaluated == 1


@pytest.mark.parametrize(
    ("convention", "n_evaluated", "n_skipped"),
    [("standard", 3, 2), ("neurec", 5, 0), ("trec_eval", 2, 3)],
)
def test_policies_of_the_conventions(convention, n_evaluated, n_skipped):
    result = evaluate(*PEOPLE, convention=convention)
    assert (result.n_evaluated, result.n_skipped) == (n_evaluated, n_skipped)
    own = evaluate(*PEOPLE, convention=convention, empty="skip", missing="skip")
    assert (own.n_evaluated, own.n_skipped) == (1, 4)


def test_counts_by_position():
    result = evaluate([[1], [], [3]], [{1}, {2}, []])
    counts = (result.n_users, result.n_evaluated, result.n_skipped, result.n_missing)
    assert counts == (3, 2, 1, 1)
    assert result.n_extra == 0


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


def test_one_evaluated_has_a_mean_and_no_spread():
    result = evaluate([1, 2], {2})
    assert result["mrr@2"] == 0.5
    assert math.isnan(result.std("mrr@2"))


@pytest.mark.parametrize("bad", [0, -1, True, 2.0, "3", NAN, np.float64(1), np.True_])
def test_k_is_a_whole_number_from_1_on(bad):
    message = rf"k must be .* not {bad!r}".replace("(", r"\(").replace(")", r"\)")
    for call in (match, tl.ndcg, top_k_eval):
        with pytest.raises(ValueError, match=message):
            call([[1, 2]], [{2}], bad)
    for several in ([1, bad], (bad,)):
        with pytest.raises(ValueError, match=message):
            top_k_eval([[1, 2]], [{2}], several)


@pytest.mark.parametrize("call", [match, tl.ndcg])
def test_one_k_where_all_come_back(call):
    with pytest.raises(ValueError, match=r"k must be a whole number from 1 on, not \[1, 2\]"):
        call([[1, 2]], [{2}], [1, 2])


@pytest.mark.parametrize("several", [[1, 2], (1, 2), range(1, 3), np.array([1, 2]), iter([1, 2])])
def test_several_k(several):
    result = top_k_eval([[1, 2]], [{2}], several, metrics="mrr")
    assert result.to_dict() == {"mrr@1": 0.0, "mrr@2": 0.5}


@pytest.mark.parametrize("k", [2, np.int64(2), np.uint8(2)])
def test_one_k(k):
    assert list(top_k_eval([[1, 2]], [{2}], k, metrics="mrr")) == [0.5]


def test_no_k_is_the_whole_list_and_a_metrics_own_k_wins():
    whole = top_k_eval([[1, 2, 3], [4]], [{3}, {4}], metrics=["hit", "mrr"])
    assert whole.to_dict() == {"hit@3": 1.0, "mrr@3": (1 / 3 + 1) / 2}
    assert top_k_eval([[1, 2]], [{2}], metrics=["ndcg@1", "mrr"]).names() == [
        "ndcg@1",
        "mrr@2",
    ]
    own = top_k_eval([[1, 2, 3]], [{3}], k=3, metrics=["map", "ndcg@2"])
    assert own.names() == ["map@3", "ndcg@2"]
    with pytest.raises(ValueError, match=r"k is empty"):
        top_k_eval([[1]], [{1}], k=[])


def test_hits_stand_for_both_arguments():
    hits = match(*PEOPLE)
    np.testing.assert_array_equal(tl.ndcg(hits), tl.ndcg(*PEOPLE))
    np.testing.assert_array_equal(tl.ndcg(hits, k=2), tl.ndcg(*PEOPLE, 2))
    assert top_k_eval(hits, k=2).to_dict() == top_k_eval(*PEOPLE, k=2).to_dict()


def test_hits_of_one_user_are_many_of_one():
    assert tl.hit(match([5, 7], {7})).shape == (1, 2)


def test_hits_know_their_depth():
    hits = match([[1, 2, 3]], [{3}], 2)
    message = "k=3 is deeper than the lists of this Hits were read, k=2"
    with pytest.raises(ValueError, match=message):
        tl.hit(hits, k=3)
    with pytest.raises(ValueError, match=message):
        top_k_eval(hits, k=[1, 3])
    with pytest.raises(ValueError, match=message):
        top_k_eval(hits, metrics=["hit@3"])


@pytest.mark.parametrize("call", [tl.hit, top_k_eval])
def test_hits_take_nothing_that_belongs_to_the_join(call):
    hits = match([[1]], [{1}])
    with pytest.raises(TypeError, match="Hits, joined already: it takes no ground_truths"):
        call(hits, [{1}], 1)
    for option, value in (
        ("duplicates", "first"),
        ("padding", -1),
        ("relevant_from", 1),
        ("gains", "exponential"),
    ):
        with pytest.raises(TypeError, match=rf"joined already: give {option} to match"):
            call(hits, k=1, **{option: value})


def test_hits_take_policies():
    hits = match(*PEOPLE)
    assert top_k_eval(hits, k=2, empty="zero").n_evaluated == 5
    assert top_k_eval(hits, k=2, missing="skip").n_evaluated == 1


def test_hits_are_no_ground_truths():
    with pytest.raises(TypeError):
        match([[1]], match([[1]], [{1}]))


@pytest.mark.parametrize("n", [2, 11, 22, 45, 199])
def test_values_that_are_all_0_do_not_vary(n):
    """The std of rbp was 2.4e-9 where nobody has a hit."""
    metrics = ["rbp", "rbp(p=0.1)", "mrr", "ndcg", "map", "hit"]
    result = tl.top_k_eval([[7]] * n, [{1}] * n, k=1, metrics=metrics)
    assert [result.std(name) for name in result.names()] == [0.0] * len(metrics)
