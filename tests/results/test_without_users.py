"""Results without users, saved and loaded; many merged at once."""

import dataclasses
from functools import reduce
from operator import add

import numpy as np
import pytest
from doors import by_words
from file_helpers import sent
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import graded_populations, populations

import toplist as tl
from toplist.comparing.samples import moments_of
from toplist.stats.systems import SystemRef

SPREAD = ["hit", "precision", "recall", "map", "ndcg", "mrr", "dcg", "f1", "rbp(p=0.5)"]


def same(one, other):
    """Check that two results say the same to the last bit."""
    assert one == other and one.terms == other.terms
    for name in [*one.names(), *one.terms.asked]:
        for a, b in (
            (one[name], other[name]),
            (one.std(name), other.std(name)),
            *zip(one.interval(name), other.interval(name), strict=True),
        ):
            np.testing.assert_array_equal(a, b)
    counts = "n_users", "n_evaluated", "n_skipped", "n_missing", "n_extra"
    assert all(getattr(one, name) == getattr(other, name) for name in counts)


def check_both_ways(result):
    """Check that a file without users says what the result said."""
    bare = result.without_users()
    again = sent(result)
    same(bare, again)
    assert repr(again) == repr(bare)
    for name in result.terms.metrics:
        np.testing.assert_array_equal(again[name], result[name])


@settings(deadline=None, max_examples=60)
@given(populations(), st.integers(1, 12), st.sampled_from(list(tl.CONVENTIONS)))
def test_files_say_what_the_result_said(population, k, convention):
    metrics = tl.CONVENTIONS[convention].metrics
    names = [name for name, metric in metrics.items() if metric.cut != "n"]  # of sets, too
    policy = {"convention": convention, "empty": "zero", "missing": "zero"}
    check_both_ways(by_words(*population, sorted({1, k}), metrics=names, **policy))


@settings(deadline=None, max_examples=40)
@given(graded_populations(), st.integers(1, 8), st.sampled_from([None, 2]), st.booleans())
def test_grades_weights_and_pooling_travel_too(population, k, relevant_from, pooled):
    if not any(population[1]):
        return
    options = {"relevant_from": relevant_from, "aggregate": "pooled" if pooled else None}
    options["weights"] = np.random.default_rng(0).random(len(population[0])) + 0.5
    names = ["ndcg", "recall", "map", "rbp(p=0.5)"]
    check_both_ways(by_words(*population, k, metrics=names, empty="zero", **options))


def test_the_size_does_not_depend_on_the_users(tmp_path):
    def size(n):
        rng = np.random.default_rng(1)
        lists = rng.permuted(np.tile(np.arange(40), (n, 1)), axis=1)[:, :20]
        truths = [set(range(user % 5 + 1)) for user in range(n)]
        result = tl.top_k_eval(lists, truths, 20, metrics=SPREAD)
        result.without_users().save(tmp_path / "bare.npz")
        return (tmp_path / "bare.npz").stat().st_size

    assert size(20_000) < 1.5 * size(500) < 20_000


def part(rows, seed):
    rng = np.random.default_rng(seed)
    lists = rng.permuted(np.tile(np.arange(60), (rows, 1)), axis=1)[:, :15]
    truths = [set(rng.choice(60, rng.integers(1, 9), replace=False).tolist()) for _ in range(rows)]
    users = [f"{seed}-{row}" for row in range(rows)]
    return tl.top_k_eval(tl.Ranks(lists, users=users), truths, 15, metrics=SPREAD)


def test_many_parts_merge_at_once_as_one_after_another():
    parts = [part(rows, seed) for seed, rows in enumerate((40, 1, 7, 90, 2, 33))]
    whole, stepwise = tl.merge(parts), reduce(add, parts)
    for name in whole.names():
        assert whole[name] == stepwise[name]
        assert whole.std(name) == pytest.approx(stepwise.std(name), rel=1e-12)
    bare = tl.merge(map(sent, parts))
    same(whole.without_users(), bare)
    values = np.concatenate([one.per_user("ndcg@15") for one in parts])
    assert bare.std("ndcg@15") == pytest.approx(values.std(ddof=1), rel=1e-12)


def test_rows_beyond_64_bits_are_told_apart():
    one = part(5, 1).without_users()
    far = one.histograms
    huge = np.full_like(far.n_relevant, 2**61)
    moved = dataclasses.replace(far, n_relevant=huge + np.arange(len(huge)))
    both = dataclasses.replace(one, histograms=moved)
    merged = tl.merge([both, both], disjoint=True)
    assert merged.histograms.n_relevant.tolist() == moved.n_relevant.tolist()
    assert merged.n_evaluated == 2 * one.n_evaluated


@pytest.mark.parametrize(
    ("ask", "so", "on_spark"),
    [
        (lambda one: one.per_user("hit@1"), "no values per user", "collect the DataFrames"),
        (lambda one: one.to_pandas(per_user=True), "no values per user", "collect the DataFrames"),
        (lambda one: one.by({0: "new"}), "it cannot be split", "evaluate the truth of every seg"),
    ],
)
def test_what_to_do_without_hits_is_said_for_each_origin(ask, so, on_spark):
    """Those who hold results of Spark or counts of ranks have no files to keep hits of."""
    pytest.importorskip("pandas")
    plain = tl.loo.from_rank_counts({1: 2, None: 1}, 1)
    again = sent(plain)
    for one in (plain, again, part(30, 3).without_users()):
        with pytest.raises(ValueError, match=f"holds no hits, so .*{so}") as caught:
            ask(one)
        words = str(caught.value)
        assert "; of files and streams, keep='users' keeps them" in words
        assert f"; of Spark, {on_spark}" in words
        assert words.endswith(
            "; what without_users() left and counts of ranks have no hits: save the result as it "
            "is, or evaluate again"
        )
    truth = [{1}, {2}, {2}]
    systems = {name: tl.top_k_eval([[1], [2], [i]], truth, 1) for i, name in enumerate("ab", 1)}
    found = moments_of(systems)
    of_spark = dataclasses.replace(systems["a"].without_users(), paired=SystemRef(found, "a"))
    with pytest.raises(
        ValueError, match=f"^this result of Spark holds .*{so}: {on_spark}"
    ) as caught:
        ask(of_spark)
    assert "files" not in str(caught.value)


@pytest.mark.parametrize(
    ("metric", "options"),
    [
        (tl.Metric("own", "each", "1", "1", graded=True), {"aggregate": "pooled"}),
        (tl.Metric("own", "nth", "r", "hits", graded=True), {}),
        (tl.Metric("own", "each", "1", "R", graded=True, cut="R"), {}),
    ],
    ids=str,
)
@pytest.mark.parametrize("graded", [False, True])
def test_intervals_without_users_are_those_with_users(metric, options, graded):
    """One relevant item each: without grades, the values are 0 or 1, and intervals Wilson's."""
    truths = [{user: 2} if graded else {user} for user in range(12)]
    lists = [[user, 99] if user % 3 else [99] for user in range(12)]
    result = by_words(lists, truths, 2, metrics=["hit", metric], **options)
    whole = tl.merge(
        by_words(
            [lists[u]],
            [truths[u]],
            2,
            metrics=["hit", metric],
            **{name: one[[u]] if name == "weights" else one for name, one in options.items()},
        ).without_users()
        for u in range(12)
    )
    check_both_ways(result)
    for other in (result.without_users(), sent(result), whole):
        assert repr(other).splitlines()[:-1] == repr(result).splitlines()[:-1]
        for name in result.names():
            assert other.interval(name) == pytest.approx(result.interval(name), abs=1e-12)
    assert result.graded is graded and result != dataclasses.replace(result, graded=not graded)


def test_what_is_listed_is_kept_as_counts_whose_size_does_not_depend_on_the_users():
    sizes, names = set(), ["hit", "item_coverage", "gini", "shannon_entropy"]
    for n in (2_000, 20_000):
        lists = np.random.default_rng(n).permuted(np.tile(np.arange(30), (n, 1)), axis=1)[:, :10]
        truths = lists[::-1, :1].copy()
        result = tl.top_k_eval(lists, truths, 10, metrics=names, items=tl.Items(catalogue=30))
        bare = result.without_users()
        for name in names:
            assert bare[name].tobytes() == result[name].tobytes()
        assert bare.lists.values is None
        assert tl.merge([bare, bare], disjoint=True)["gini"].tobytes() == result["gini"].tobytes()
        sizes.add(sum(part.nbytes for part in bare.lists.exposure.source))
        assert sent(bare) == result
    assert len(sizes) == 1
