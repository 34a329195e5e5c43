"""Users with an empty ground truth: left out, 0 or 1, for all metrics or for some of them."""

from dataclasses import replace

import numpy as np
import pytest
from differential import agree, columns, expectations
from doors import by_words, curve
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


def test_one_in_every_metric():
    result = tl.top_k_eval(
        RANKS,
        TRUTHS,
        2,
        metrics=list(oracle.METRICS),
        convention=tl.CONVENTIONS["standard"].replace(empty="one"),
    )
    for name in oracle.METRICS:
        one = np.nan if name == "judged" else 1.0  # which is over users with a judgement
        np.testing.assert_array_equal(result.per_user(name)[[1, 3]], np.full((2, 2), one), name)
        np.testing.assert_array_equal(result.per_user(f"{name}@2")[[1, 3]], [one, one], name)
        assert np.array_equal(
            tl.top_k_eval(
                RANKS,
                TRUTHS,
                2,
                metrics=name,
                convention=tl.CONVENTIONS["standard"].replace(empty="one"),
            )[name],
            result[name],
        )
        values = curve(name, RANKS, TRUTHS, 2, empty="one")
        np.testing.assert_array_equal(values, result.per_user(name))
    assert result["recall@2"] == (0.5 + 1 + 1 + 1) / 4
    assert line(result, "evaluated") == (
        "4 of 4 users evaluated, 2 of them without relevant items (counted as 1), "
        "judged: over 2, those with a judgement"
    )
    assert "users without relevant items score 1" in result.formula("recall")


def test_zeros_are_in_the_account_too():
    result = tl.top_k_eval(
        RANKS, TRUTHS, 2, convention=tl.CONVENTIONS["standard"].replace(empty="zero")
    )
    assert "2 of them without relevant items (counted as 0)" in str(result)


@settings(deadline=None, max_examples=25)
@given(populations(), populations(), st.integers(1, 8), st.booleans())
def test_one_merges_splits_and_weighs(first, second, k, weighted):
    options = {"empty": "one", "duplicates": "first"}
    parts = [
        by_words(*part, k, users=[f"{i}-{u}" for u in range(len(part[0]))], **options)
        for i, part in enumerate((first, second))
    ]
    both = parts[0] + parts[1]
    whole = [one + other for one, other in zip(first, second, strict=True)]
    expected = by_words(*whole, k, **options)
    for name in tl.METRICS.keys() & set(expected.terms.metrics):
        agree(both[name], expected[name], name)
        agree(both.std(name), expected.std(name), name)
    labels = [i % 2 for i in range(len(whole[0]))]
    of_even = by_words(whole[0][::2], whole[1][::2], k, **options)
    agree(list(expected.by(labels)[0]), list(of_even), "segments")
    weights = np.arange(1, len(whole[0]) + 1)
    of_weights = by_words(*whole, k, weights=weights, **options)
    values = of_weights.per_user(f"recall@{k}")
    agree(of_weights[f"recall@{k}"], np.average(values, weights=weights), "weights")


@settings(deadline=None, max_examples=40)
@given(
    populations(max_truth=2),
    st.integers(1, 8),
    st.sampled_from(["skip", "zero", "one"]),
    st.sampled_from(["skip", "zero"]),
)
def test_a_policy_per_metric(population, k, empty, missing):
    options = {"missing": missing, "duplicates": "first"}
    result = by_words(
        *population,
        list(range(1, k + 1)),
        metrics=[replace(one, empty=one.empty or empty) for one in OWN],
        **options,
    )
    for metric in OWN:
        name, policy = metric.name, metric.empty or empty
        expected = expectations(population, k, oracle.METRICS[name], empty=policy, missing=missing)
        agree(result[name], [one.mean for one in expected], name)
        agree(result.std(name), [one.std for one in expected], name)
        agree(result.per_user(name), columns(expected), name)
        agree(result.per_user(f"{name}@{k}"), expected[-1].per_user, name)
        assert result.n_of(name) == expected[-1].n_evaluated
    parts = by_words(*population, k, metrics=OWN, **options).by([0] * len(population[0]))
    whole = by_words(*population, k, metrics=OWN, **options)
    agree(list(parts[0]), list(whole), "one segment of all")


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


def test_no_user_scores_one_in_a_ratio_of_sums():
    with pytest.raises(ValueError, match="recall is a ratio of sums over users, in which no user"):
        tl.top_k_eval(
            RANKS,
            TRUTHS,
            2,
            metrics="recall",
            convention=tl.CONVENTIONS["standard"].replace(aggregate="pooled", empty="one"),
        )


def test_files(tmp_path):
    lists, truths = tmp_path / "ranks.jsonl", tmp_path / "truths.jsonl"
    lists.write_text("".join(f'{{"user_id": "{u}", "item_id": {r}}}\n' for u, r in RANKS.items()))
    truths.write_text(
        "".join(f'{{"user_id": "{u}", "item_id": {sorted(t)}}}\n' for u, t in TRUTHS.items())
    )
    found = tl.top_k_eval(
        lists, truths, 2, convention=tl.CONVENTIONS["standard"].replace(empty="one")
    )
    assert list(found) == list(
        tl.top_k_eval(RANKS, TRUTHS, 2, convention=tl.CONVENTIONS["standard"].replace(empty="one"))
    )
    assert "2 of them without relevant items (counted as 1)" in str(found)


def test_nothing_relevant_enough_scores_1_where_the_policy_says_so():
    """In trec_eval nDCG reads all grades, but the threshold says whose ground truth is empty."""
    ranks, truths = {"a": [1], "b": [5], "c": [9, 7]}, {"a": {1: 1}, "b": {6: 1}, "c": {7: 2, 9: 1}}
    how = {"k": 2, "metrics": ["ndcg", "recall"], "convention": "trec_eval", "relevant_from": 2}
    found = by_words(ranks, truths, empty="one", **how)
    alone = by_words({"c": [9, 7]}, {"c": {7: 2, 9: 1}}, **how)["ndcg@2"]
    assert found.per_user("ndcg@2").tolist() == [1, 1, alone]
    assert found.per_user("recall@2").tolist() == [1, 1, 1]
    assert found["ndcg@2"] == pytest.approx((2 + alone) / 3) and alone < 1


# a has both, b no list, c no relevant item, d neither; e has an empty list, f neither
BOTH = (
    {"a": [1, 2], "c": [2], "e": [], "f": []},
    {"a": {1}, "b": {1}, "c": set(), "d": set(), "e": {2}, "f": set()},
)
VALUES = {"zero": 0.0, "one": 1.0, "skip": np.nan}


def by_policies(user, empty, missing):
    """Return the reciprocal rank of a user: who is left out by either policy is left out."""
    lists, truths = BOTH
    if missing == "skip" and not lists.get(user):
        return np.nan
    return (1.0 if user == "a" else 0.0) if truths[user] else VALUES[empty]


def doors():
    lists, truths = BOTH
    users = [*truths]
    rows = [[*lists.get(user, [])] for user in users], [[*truths[user]] for user in users]
    yield "keys", lists, truths, {}
    yield "positions", *rows, {"users": users}
    yield "hits", tl.match(lists, truths), None, {}


@pytest.mark.parametrize("missing", ["zero", "skip"])
@pytest.mark.parametrize("empty", ["zero", "one", "skip"])
def test_who_is_left_out_by_either_policy_is_left_out(empty, missing):
    expected = {user: by_policies(user, empty, missing) for user in BOTH[1]}
    known = [value for value in expected.values() if not np.isnan(value)]
    for door, lists, truths, options in doors():
        options |= {"metrics": ["mrr@2", "hit@2"], "empty": empty, "missing": missing}
        whole = by_words(lists, truths, **options)
        for result in (whole, sum(whole.by({user: user for user in expected}).values())):
            for name in ("mrr@2", "hit@2"):
                assert result[name] == np.mean(known), door
                found = dict(zip(result.users, result.per_user(name), strict=True))
                np.testing.assert_equal(found, expected, door)
            assert (result.n_users, result.n_evaluated) == (6, len(known)), door
            assert result.n_skipped == 6 - len(known), door
            assert result.n_missing == 2, door
    if missing == "skip":
        assert "users without a list are left out" in whole.formula("mrr")


@pytest.mark.parametrize("missing", ["zero", "skip"])
@pytest.mark.parametrize("empty", ["zero", "one", "skip"])
def test_who_is_left_out_of_files_is_left_out(tmp_path, empty, missing):
    """A file has no empty list; a grade of 0 is a truth that is empty."""
    (tmp_path / "recs.csv").write_text("user_id,item_id,rank\na,1,1\na,2,2\nc,2,1\n")
    rows = "a,1,1\nb,1,1\nc,1,0\nd,1,0\n"
    (tmp_path / "truth.csv").write_text(f"user_id,item_id,relevance\n{rows}")
    expected = [by_policies(user, empty, missing) for user in "abcd"]
    known = [value for value in expected if not np.isnan(value)]
    for way in ({}, {"keep": "users"}):
        paths = str(tmp_path / "recs.csv"), str(tmp_path / "truth.csv")
        result = by_words(*paths, metrics="mrr@2", empty=empty, missing=missing, **way)
        assert result["mrr@2"] == np.mean(known)
        assert (result.n_users, result.n_evaluated, result.n_missing) == (4, len(known), 1)
