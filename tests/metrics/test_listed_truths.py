"""Ground truths that are known for listed items only: R is the number of hits in the list."""

import numpy as np
import pytest
from differential import agree, columns, expectations
from doors import by_words, curve, match_by_words
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import hits as oracle
from strategies import graded_populations, populations

import toplist as tl

RANKS = {"a": [5, 7, 8, 9], "b": [1, 2], "c": [4], "d": []}
TRUTHS = {"a": {8, 9, 100}, "b": {3}, "c": {4, 5}, "d": {1}}


def listed(population):
    """Return the truths of the items that are in the list."""
    return population[0], [*map(oracle.listed_truth, *population)]


@settings(deadline=None, max_examples=40)
@given(populations() | graded_populations(), st.integers(1, 15), st.sampled_from([None, 2]))
def test_against_the_truth_that_is_listed(population, k, relevant_from):
    graded = any(isinstance(truth, dict) and truth for truth in population[1])
    join = {"relevant_from": relevant_from} if graded else {}
    policies = {"empty": "zero", "missing": "zero"}
    result = by_words(
        *population, k, metrics=list(oracle.METRICS), relevant="listed", **policies, **join
    )
    whole = listed(population)
    for name, twin in oracle.METRICS.items():
        known = population if name == "judged" else whole  # judged or not does not hang on the list
        expected = expectations(known, k, twin, **policies, **join)
        agree(result[name], [one.mean for one in expected], name)
        agree(result.std(name), [one.std for one in expected], name)
        agree(result.per_user(name), columns(expected), name)
        function = curve(name, *population, k, relevant="listed", **policies, **join)
        agree(function, columns(expected), f"tl.{name}")
    hits = match_by_words(*population, **join)
    if hits.k >= k:
        of_hits = by_words(hits, k=k, relevant="listed", **policies)
        assert of_hits["ndcg"].tolist() == result["ndcg"].tolist()
        assert by_words(hits.listed(), k=k, **policies)["map"].tolist() == of_hits["map"].tolist()


def test_it_is_said():
    result = tl.top_k_eval(
        RANKS,
        TRUTHS,
        2,
        metrics="recall",
        convention=tl.CONVENTIONS["standard"].replace(relevant="listed"),
    )
    assert result["recall@2"] == 1 / 3  # of a, c and d, who has no list
    assert "convention standard, R counts relevant items of the list only: mean" in str(result)
    assert "3 of 4 users evaluated, 1 skipped (no relevant items), 1 without a list" in str(result)
    everything = tl.top_k_eval(RANKS, TRUTHS, 2, metrics="recall")
    with pytest.raises(ValueError, match="relevant is 'listed' in one and 'all' in the other"):
        result + everything
    assert "DIFFERENT CONVENTIONS" in str(tl.compare({"a": result, "b": everything}))
    with pytest.raises(ValueError, match="relevant='some': choose from 'all', 'listed'"):
        tl.curves(
            "recall", RANKS, TRUTHS, convention=tl.CONVENTIONS["standard"].replace(relevant="some")
        )


def test_results_merge_and_are_tested():
    parts = [
        tl.top_k_eval(
            *({u: side[u] for u in users} for side in (RANKS, TRUTHS)),
            2,
            convention=tl.CONVENTIONS["standard"].replace(relevant="listed"),
        )
        for users in ("ab", "cd")
    ]
    whole = tl.top_k_eval(
        RANKS, TRUTHS, 2, convention=tl.CONVENTIONS["standard"].replace(relevant="listed")
    )
    assert list(parts[0] + parts[1]) == pytest.approx(list(whole), nan_ok=True)
    rng = np.random.default_rng(0)
    truths = [{0, 1, 2}] * 40
    results = {
        name: tl.top_k_eval(
            np.argsort(rng.random((40, 9))),
            truths,
            3,
            convention=tl.CONVENTIONS["standard"].replace(relevant="listed"),
        )
        for name in "ab"
    }
    assert 0 < tl.compare(results).test()["recall@3"].p <= 1


def test_files(tmp_path):
    recs, truth = tmp_path / "recs.csv", tmp_path / "truth.csv"
    recs.write_text(
        "user_id,item_id,rank\n"
        + "".join(f"{u},{i},{n}\n" for u, items in RANKS.items() for n, i in enumerate(items, 1))
    )
    truth.write_text(
        "user_id,item_id\n" + "".join(f"{u},{i}\n" for u, items in TRUTHS.items() for i in items)
    )
    expected = list(
        tl.top_k_eval(
            RANKS, TRUTHS, 2, convention=tl.CONVENTIONS["standard"].replace(relevant="listed")
        )
    )
    for options in ({}, {"keep": "users"}):
        found = by_words(recs, truth, 2, relevant="listed", **options)
        assert list(found) == expected


@pytest.mark.parametrize("graded", [False, True])
def test_users_without_a_list_go_by_the_policy_for_them(graded):
    lists = {"a": ["x"], "d": []}
    truth = {"a": {"x": 2, "z": 3}, "d": {"y": 2, "w": 1}} if graded else {"a": {"x"}, "d": {"y"}}
    options = {"k": 1, "relevant": "listed", "metrics": ["ndcg", "recall"]}
    zero = by_words(lists, truth, missing="zero", empty="one", **options)
    assert (zero["ndcg@1"], zero["recall@1"], zero.n_missing, zero.n_evaluated) == (0.5, 0.5, 1, 2)
    skip = by_words(lists, truth, missing="skip", **options)
    assert (skip["ndcg@1"], skip.n_missing, skip.n_evaluated) == (1.0, 1, 1)
    with pytest.raises(ValueError, match="no ranked list"):
        by_words(lists, truth, missing="raise", **options)
