"""Which k, whose values, what weighs: what is not said of every option by the matrix."""

import math
import time
import tracemalloc

import numpy as np
import pytest
from doors import DOORS, by_words, call, installed
from file_helpers import sent
from shared_inputs import csv_of
from world import draw

import toplist as tl
from toplist import top_k_eval

NOBODY = [([], []), ({}, {}), ([1], set()), ([[1], [2]], [[], []]), ({"a": [1]}, {"a": []})]


@pytest.mark.parametrize(("ranks", "truths"), NOBODY)
def test_nobody_evaluated_is_nan_without_a_warning(ranks, truths):
    result = top_k_eval(ranks, truths, k=2)
    assert all(math.isnan(value) for value in result) and math.isnan(result.std("ndcg@2"))
    assert all(map(math.isnan, result.interval("ndcg@2"))) and result.n_evaluated == 0
    assert repr(result).count(" -\n") == 6 and np.isnan(result.per_user("map")).all()


@pytest.mark.parametrize("n", [2, 11, 22, 45, 199])
def test_values_that_are_all_0_do_not_vary(n):
    """The std of rbp was 2.4e-9 where nobody has a hit."""
    metrics = ["rbp", "rbp(p=0.1)", "mrr", "ndcg", "map", "hit"]
    result = top_k_eval([[7]] * n, [{1}] * n, k=1, metrics=metrics)
    assert [result.std(name) for name in result.names()] == [0.0] * len(metrics)


# Which k

RANKS = {"a": [5, 7, 8, 9, 3], "b": [4, 6, 2, 1, 10], "c": [1, 2, 3]}
TRUTHS = {"a": [7, 3, 5], "b": [4, 2, 8, 7], "c": [3]}
MIXED = ["ndcg@2", "recall", "rbp(p=0.5)@4"]
NAMES = ["ndcg@2", "recall@1", "recall@3", "rbp(p=0.5)@4"]


@pytest.mark.parametrize("door", DOORS)
def test_own_and_common_k_at_every_door(door):
    world = draw(0, odd=False).of_whole_grades()
    alone = [call(world, {"metrics": [name], "k": 9}, "dicts").means for name in NAMES]
    found = call(world, {"metrics": MIXED, "k": [1, 3]}, installed(door)).means
    assert list(found) == NAMES
    for one in alone:
        assert found.items() >= {name: pytest.approx(one[name], rel=1e-14) for name in one}.items()


def files_of(folder, *sides):
    """Write lists and truths; return their paths."""
    for n, side in enumerate(sides):
        rows = (f"{u},{i},{r}" for u, some in side.items() for r, i in enumerate(some, 1))
        yield csv_of(folder / f"{n}.csv", "user_id,item_id,rank", *rows)


@pytest.mark.parametrize("unjudged", ["miss", "drop"])
@pytest.mark.parametrize("beside", [[], ["bpref"], ["mrr@4"], ["bpref", "ndcg@1"]])
def test_lists_are_read_to_their_k_whatever_is_asked_beside(unjudged, beside, tmp_path):
    """Of 10 items, 7 are among the first 4 of both lists, which are cut before others leave."""
    judged = {"a": {"x": 1, "n": 0}, "b": {"y": 1, "x": 0}}
    lists = {"a": ["s", "t", "x", "n", "z"], "b": ["u", "y", "x", "w", "v"]}
    known = {"catalogue": [*"rnstuvwxyz"], "unjudged": unjudged}
    found = by_words(lists, judged, metrics=["item_coverage@4", *beside], **known)
    assert found["item_coverage@4"] == 7 / 10
    found = by_words({"u": [*"abcd"]}, {"u": {"a": 1, "e": 0}},
                     metrics=["serendipity@10", *beside], expected={"u": ["b"]})  # fmt: skip
    assert found["serendipity@10"] == 0.1  # of shorter lists it is over k
    paths = files_of(tmp_path, RANKS, TRUTHS)
    with pytest.raises(ValueError, match="bpref: metrics of the lists, .* need a k"):
        by_words(*paths, metrics=["item_coverage@2", "bpref"], catalogue=[*map(str, range(11))])


# A k beyond the lists

LISTS = [[1, 2, 3], [4, 5], [], [7]]
RELEVANT = [{2, 9}, {4}, {1}, {8, 7, 6}]
METRICS = ["hit", "precision", "recall", "map", "ndcg", "mrr", "f1", "dcg", "cg", "rbp"]


def test_a_k_of_a_billion_costs_what_the_lists_cost():
    top_k_eval([[1, 2, 3]], [{2, 9}], k=3)  # compiles
    start = time.process_time()
    tracemalloc.start()
    result = top_k_eval([[1, 2, 3]], [{2, 9}], k=10**9)
    assert "ndcg" in repr(result) and len(result.per_user("ndcg@1000000000")) == 1
    assert all(len(result.interval(name)) == 2 for name in result.names())
    assert tracemalloc.get_traced_memory()[1] < 50_000_000
    tracemalloc.stop()
    assert time.process_time() - start < 2


@pytest.mark.parametrize("convention", ["standard", "rectools", "neurec"])
def test_values_below_the_lists_are_those_of_padded_lists(convention):
    """At any k, as if every list went on with irrelevant items."""
    k = 1200
    padded = [[*row, *range(n, n + k)] for n, row in enumerate(LISTS, start=10_000)]
    metrics = tl.CONVENTIONS[convention].metrics
    have = [name for name in METRICS if name in metrics]
    asked = {"metrics": have, "convention": convention, "missing": "zero", "empty": "zero"}
    long, short = (by_words(lists, RELEVANT, k, **asked) for lists in (padded, LISTS))
    for name in have:
        last = short.per_user(name)[:, -1]
        assert last.tolist() == short.per_user(f"{name}@{k}").tolist()
        if "n" in str(metrics[name].divisor):
            continue
        assert short[name] == pytest.approx(long[name], rel=1e-13)
        for one in (f"{name}@{at}" for at in (1, 3, 4, 1023, 1024, 1025, 1199, 1200)):
            assert short[one] == pytest.approx(long[one], rel=1e-13), one
            assert short.std(one) == pytest.approx(long.std(one), rel=1e-9), one
            assert short.per_user(one) == pytest.approx(long.per_user(one))


WEIGHTS = {"a": 1, "b": 3, "c": 2}
AVERAGES = {
    "plain": {"metrics": ["hit", "precision", "recall", "map", "ndcg", "mrr"]},
    "grades": {"metrics": ["ndcg", "dcg", "recall"]},
    "weights": {"metrics": ["ndcg", "precision", "map", "mrr"], "weights": WEIGHTS},
    "pooled": {"metrics": ["recall", "precision", "map"], "aggregate": "pooled"},
    "harmonic": {"metrics": ["f1", "ndcg"], "weights": WEIGHTS},
    "threshold": {"metrics": ["precision", "ndcg"], "convention": "trec_eval", "relevant_from": 2},
}


@pytest.mark.parametrize("ks", [5000, [3, 1500]])
@pytest.mark.parametrize("way", AVERAGES)
def test_parts_with_lists_of_different_length_are_the_whole(way, ks):
    """The users of the part with short lists differ: they do so below its histograms, too."""
    truth = {1: 1, 7: 3, 900: 2, 1090: 1, 1900: 2}
    truth = dict.fromkeys(truth, 1) if way == "plain" else truth
    lists = {"a": list(range(1100)), "b": [7, 8, 1], "c": list(range(2000))}
    weighted = "weights" in AVERAGES[way]

    def evaluate(users, k=ks, held=lists):
        own = AVERAGES[way] | ({"weights": {u: WEIGHTS[u] for u in users}} if weighted else {})
        return by_words({u: held[u] for u in users}, dict.fromkeys(users, truth), k, **own)

    parts, whole = [evaluate("ab"), evaluate("c")], evaluate("abc")
    for found in (parts[0] + parts[1], sum(one.without_users() for one in parts)):
        for name in whole.names():
            assert found[name] == pytest.approx(whole[name], rel=1e-14)
            ends = found.interval(name)
            if weighted and found.hits is None:  # these intervals need the rows
                assert np.isnan(ends).all()
            else:
                np.testing.assert_allclose(ends, whole.interval(name), rtol=1e-12)
        one = f"{AVERAGES[way]['metrics'][0]}@1400"
        if way != "harmonic":  # whose divisors change otherwise for each user
            assert found[one] == pytest.approx(whole[one], rel=1e-14)
            padded = {u: row + [9_000 + i for i in range(1500)] for u, row in lists.items()}
            own = evaluate("abc", [1400], padded)  # as in lists that reach down to it
            assert whole[one] == pytest.approx(own[one], rel=1e-13)


@pytest.mark.parametrize("k", [2**20, 2**20 + 1, 2**21 + 5])
def test_ideals_of_a_k_beyond_a_million(k):
    """The ideal list is summed part by part, without a break between the parts."""
    result = top_k_eval([[1]], [{1}], k=k, metrics="ndcg", convention="rectools")
    expected = 1 / np.sum(1 / np.log2(np.arange(2, k + 2)))
    assert result[f"ndcg@{k}"] == pytest.approx(expected, rel=1e-10)


def test_what_cannot_fit_names_its_shape():
    """One line, before any memory is taken."""
    result = top_k_eval(LISTS, RELEVANT, k=10**13)
    assert result["hit@10000000000000"] == 0.75
    with pytest.raises(MemoryError, match=r"an array of shape \(10000000000000,\) needs 80,000 GB"):
        result["ndcg"]
    for curves in (lambda: result.per_user("ndcg"), lambda: tl.ndcg(LISTS, RELEVANT, k=10**13)):
        with pytest.raises(MemoryError, match=r"shape \(4, 10000000000000\)"):
            curves()
    lists, known = ([[5, 7, 3], [4, 5]], [{5}, {9}]), {"counts": [1] * 8, "catalogue": 8}
    asked = {"metrics": ["item_coverage", "gini", "novelty"], **known}
    near, huge = (by_words(*lists, [2, k], **asked) for k in (50, 10**9))
    for name in ("item_coverage", "gini"):
        assert huge[f"{name}@1000000000"] == near[f"{name}@50"]
    assert huge.per_user("novelty@1000000000").tolist() == [3.0, 3.0]


# Weights


def test_users_of_weight_0_are_counted_nowhere():
    """Of four users with a truth, two weigh something; every metric says so."""
    lists = {"a": ["x"], "b": ["y"], "c": ["x"], "d": []}
    truths = {"a": {"x": 2}, "b": {"x": 1}, "c": {"z": 0, "x": 1}, "d": {"y": 1}}
    names = ["hit", "ndcg", "judged", "complete", "recall(rel=1)", "group_recall"]
    weights = {"a": 0.0, "b": 1.0, "c": 3.0, "d": 0.0}
    result = top_k_eval(lists, truths, 1, metrics=names, weights=weights)
    assert {name: result.n_of(name) for name in names} == dict.fromkeys(names, 2)
    assert (result.n_evaluated, result.n_skipped, result.n_missing) == (2, 2, 0)
    assert str(result).endswith(
        " 4 users evaluated, 2 skipped (no relevant items, or a weight of 0)"
    )
    assert result["hit@1"] == 3 / 4 and result.per_user("hit@1").tolist() == [1, 0, 1, 0]
    some = {user: weight for user, weight in weights.items() if weight}
    alone = top_k_eval(lists, {u: truths[u] for u in some}, 1, metrics=names, weights=some)
    assert all(result.interval(f"{name}@1") == alone.interval(f"{name}@1") for name in names)
    assert sent(result).to_dict() == result.to_dict()
