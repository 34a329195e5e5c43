"""Who is counted: users with an empty truth, without a list, without a judgement; what is said.

That means, errors and numbers of users are the oracle's under every policy, merged, weighed, split
and read from files, is in tests/properties.
"""

from dataclasses import replace

import pytest
from differential import agree, columns, expectations
from doors import by_words
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import hits as oracle
from strategies import populations

import toplist as tl

RANKS = {"a": [1, 2, 3], "b": [4, 5], "c": [6], "d": [1]}
TRUTHS = {"a": {1, 3}, "b": set(), "c": {6}, "d": set()}
OWN = [
    replace(tl.METRICS["precision"], empty="zero"),
    replace(tl.METRICS["recall"], empty="one"),
    replace(tl.METRICS["map"], empty="skip"),
    tl.METRICS["mrr"],
]


def line(result, word):
    """Return the line below the table that holds a word."""
    return next(line for line in str(result).splitlines() if word in line)


@pytest.mark.parametrize("value", [0, 1])
def test_a_value_in_every_metric(value):
    empty = ("zero", "one")[value]
    result = by_words(RANKS, TRUTHS, 2, metrics=["judged", "recall"], empty=empty)
    assert line(result, "evaluated") == (
        f"4 of 4 users evaluated, 2 of them without relevant items (counted as {value}), "
        "judged: over 2, those with a judgement"
    )
    assert f"users without relevant items score {value}" in result.formula("recall")


@settings(max_examples=15)
@given(
    populations(max_truth=2),
    st.integers(1, 8),
    st.sampled_from(["skip", "zero", "one"]),
    st.sampled_from(["skip", "zero"]),
)
def test_a_policy_per_metric(population, k, empty, missing):
    options = {"missing": missing, "duplicates": "first"}
    metrics = [replace(one, empty=one.empty or empty) for one in OWN]
    result = by_words(*population, list(range(1, k + 1)), metrics=metrics, **options)
    for metric in metrics:
        name = metric.name
        how = {"empty": metric.empty, "missing": missing}
        expected = expectations(population, k, oracle.METRICS[name], **how)
        agree(result[name], [one.mean for one in expected], name)
        agree(result.std(name), [one.std for one in expected], name)
        agree(result.per_user(name), columns(expected), name)
        agree(result.per_user(f"{name}@{k}"), expected[-1].per_user, name)
        assert result.n_of(name) == expected[-1].n_evaluated


def test_the_account_says_which_metrics_count_whom():
    result = tl.top_k_eval(RANKS, TRUTHS, 2, metrics=OWN)
    assert result.n_evaluated == 2
    assert [result.n_of(metric.name) for metric in OWN] == [4, 4, 2, 2]
    assert line(result, "evaluated") == (
        "2 of 4 users evaluated, 2 skipped (no relevant items), precision: over 4, as 2 without "
        "relevant items count as 0, recall: over 4, as 2 without relevant items count as 1"
    )
    assert "users without relevant items score 1" in result.formula("recall")
    nobody = tl.top_k_eval([[1]], [{1}], 1, metrics=OWN)
    assert line(nobody, "evaluated") == "1 of 1 user evaluated"
    pytest.importorskip("pandas")
    assert result.to_pandas().set_index("metric").n.tolist() == [4, 4, 2, 2]


def test_policies_of_metrics_are_compared_and_not_merged_with_others():
    one = tl.top_k_eval(RANKS, TRUTHS, 2, metrics=OWN)
    plain = tl.top_k_eval(RANKS, TRUTHS, 2, metrics=["precision", "recall", "map", "mrr"])
    table = str(tl.compare({"own": one, "plain": plain}))
    assert "DIFFERENT POLICIES" in table and "recall: score 1" in table
    assert "DIFFERENT FORMULAS" not in table
    with pytest.raises(ValueError, match="precision, recall is defined differently"):
        one + plain
    test = tl.compare({"own": one, "again": tl.top_k_eval(RANKS, TRUTHS, 2, metrics=OWN)}).test()
    assert [one.n for one in test] == [4, 4, 2, 2]  # whom the metric itself counts


# Truths that are known for listed items only: R is the number of hits in the list


def test_what_is_said_of_listed_truths():
    ranks, truths = {"a": [5, 7, 8, 9], "b": [1, 2], "c": [4], "d": []}, {"a": {8, 9, 100}}
    truths |= {"b": {3}, "c": {4, 5}, "d": {1}}
    result, everything = (
        by_words(ranks, truths, 2, metrics="recall", relevant=one) for one in ("listed", "all")
    )
    assert result["recall@2"] == 1 / 3  # of a, c and d, who has no list
    assert "convention standard, R counts relevant items of the list only: mean" in str(result)
    assert "3 of 4 users evaluated, 1 skipped (no relevant items), 1 without a list" in str(result)
    with pytest.raises(ValueError, match="relevant is 'listed' in one and 'all' in the other"):
        result + everything
    assert "DIFFERENT CONVENTIONS" in str(tl.compare({"a": result, "b": everything}))
