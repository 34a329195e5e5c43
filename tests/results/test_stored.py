"""Results without users, as bytes and back; many merged at once."""

import dataclasses
import tempfile
import tracemalloc
import zlib
from functools import reduce
from operator import add
from pathlib import Path

import numpy as np
import pytest
from doors import by_words
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import graded_populations, populations

import toplist as tl
from toplist.comparing.moments import of_results
from toplist.results import stored
from toplist.stats.systems import SystemRef

SPREAD = ["hit", "precision", "recall", "map", "ndcg", "mrr", "dcg", "f1", "rbp(p=0.5)"]


def same(one, other):
    """Check that two results say the same to the last bit."""
    assert one == other and one.terms == other.terms and one.to_bytes() == other.to_bytes()
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
    """Check that bytes, and a file of JSON, say what the result said."""
    bare = result.without_users()
    same(bare, tl.TopKResult.from_bytes(result.to_bytes()))
    with tempfile.TemporaryDirectory() as folder:
        result.save(path := Path(folder, "result.json"))
        again = tl.TopKResult.load(path)
    same(bare, again)
    assert repr(again) == repr(bare)
    for name in result.terms.metrics:
        np.testing.assert_array_equal(again[name], result[name])


@settings(deadline=None, max_examples=60)
@given(populations(), st.integers(1, 12), st.sampled_from(list(tl.CONVENTIONS)))
def test_bytes_and_files_say_what_the_result_said(population, k, convention):
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


def test_the_size_does_not_depend_on_the_users():
    def size(n):
        rng = np.random.default_rng(1)
        lists = rng.permuted(np.tile(np.arange(40), (n, 1)), axis=1)[:, :20]
        truths = [set(range(user % 5 + 1)) for user in range(n)]
        return len(tl.top_k_eval(lists, truths, 20, metrics=SPREAD).to_bytes())

    assert size(20_000) < 1.5 * size(500) < 15_000


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
    bare = tl.merge([tl.TopKResult.from_bytes(one.to_bytes()) for one in parts])
    same(whole.without_users(), bare)
    values = np.concatenate([one.per_user("ndcg@15") for one in parts])
    assert bare.std("ndcg@15") == pytest.approx(values.std(ddof=1), rel=1e-12)


def test_rows_beyond_64_bits_are_told_apart():
    one = part(5, 1).without_users()
    far = one.histograms
    huge = np.full_like(far.n_relevant, 2**61)
    moved = stored.replace(far, n_relevant=huge + np.arange(len(huge)))
    both = stored.replace(one, histograms=moved)
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
    """Those who hold Spark's results, bytes or counts of ranks have no files to keep hits of."""
    pytest.importorskip("pandas")
    plain = tl.loo.from_rank_counts({1: 2, None: 1}, 1)
    again = tl.TopKResult.from_bytes(plain.to_bytes())
    for one in (plain, again, part(30, 3).without_users()):
        with pytest.raises(ValueError, match=f"holds no hits, so .*{so}") as caught:
            ask(one)
        words = str(caught.value)
        assert "; of files and streams, keep='users' keeps them" in words
        assert f"; of Spark, {on_spark}" in words
        assert words.endswith(
            "; results saved as JSON, bytes and counts of ranks have no hits: save as .npz, or "
            "evaluate again"
        )
    truth = [{1}, {2}, {2}]
    systems = {name: tl.top_k_eval([[1], [2], [i]], truth, 1) for i, name in enumerate("ab", 1)}
    found = of_results(systems)
    of_spark = dataclasses.replace(systems["a"].without_users(), paired=SystemRef(found, "a"))
    with pytest.raises(
        ValueError, match=f"^this result of Spark holds .*{so}: {on_spark}"
    ) as caught:
        ask(of_spark)
    assert "files" not in str(caught.value)


def test_what_bytes_cannot_hold():
    cubic = tl.Metric("cubic", "each", lambda r: r**3, "k")
    result = tl.top_k_eval([[1]], [{1}], 1, metrics=[cubic])
    with pytest.raises(ValueError, match="'cubic' has a discount of its own"):
        result.to_bytes()
    lists = tl.top_k_eval(
        [[b"a"]], [{b"a"}], 1, metrics="gini", items=tl.Items(catalogue=[b"a", b"b"])
    )
    with pytest.raises(ValueError, match="a catalogue of integers or text only"):
        lists.to_bytes()


def packed(data, change):
    """Return bytes of which what is packed was changed."""
    return data[:8] + zlib.compress(change(zlib.decompress(data[8:])))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: b"", "no result of toplist"),
        (lambda data: b"toplist", "no result of toplist"),
        (lambda data: b"PK\x03\x04" + data, "no result of toplist"),
        (lambda data: data[:7] + b"\x07" + data[8:], "of format 7, and this toplist knows 1 to 3"),
        (lambda data: data[:7] + b"\x00" + data[8:], "of format 0, and this toplist knows 1 to 3"),
        (lambda data: data + b"z", "damaged.*they go on behind the end"),
        (lambda data: data + data, "damaged.*they go on behind the end"),
        (lambda data: data[:-1], "damaged.*or are cut there"),
        (lambda data: packed(data, lambda text: text[:-1]), "damaged.*they are cut"),
        (lambda data: data[: len(data) // 2], "damaged"),
        (lambda data: data[:30] + b"\x00" + data[31:], "damaged"),
        (lambda data: packed(data, lambda text: text + b"x"), "damaged"),
        (lambda data: packed(data, lambda text: b"\xff" * 40), "damaged"),
        (lambda data: packed(data, lambda text: (2).to_bytes(8, "little") + b"{}"), "damaged"),
        (
            lambda data: packed(data, lambda text: text.replace(b'"standard"', b'"stundard"')),
            "convention 'stundard' is not known here",
        ),
    ],
)
def test_other_bytes_are_refused_in_a_line(change, words):
    data = part(5, 0).to_bytes()
    with pytest.raises(ValueError, match=words) as caught:
        tl.TopKResult.from_bytes(change(data))
    assert "\n" not in str(caught.value)
    with pytest.raises(TypeError, match="from_bytes takes bytes, not str"):
        tl.TopKResult.from_bytes("toplist")


def rewritten(result, header=None, **tables):
    """Return bytes of a result whose header or tables were changed."""
    made = {key: one if type(one) is dict else np.array(one) for key, one in tables.items()}
    histograms = dataclasses.replace(result.histograms, **made)
    data = dataclasses.replace(result.without_users(), histograms=histograms).to_bytes()

    def change(text):
        end = 8 + int.from_bytes(text[:8], "little")
        words = text[8:end]
        for old, new in (header or {}).items():
            assert old.encode() in words
            words = words.replace(old.encode(), new.encode())
        return len(words).to_bytes(8, "little") + words + text[end:]

    return packed(data, change)


TABLES = {name: [[2, 1, 0]] for name in ("each", "nth", "first")}


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"first": [[9, 0, 0]]}, "counts of hits contradict"),
        ({"each": [[9, 0, 0]], "nth": [[9, 0, 0]], "first": [[9, 0, 0]]}, "hits contradict"),
        ({"first": [[2, 2, 0]], "each": [[2, 2, 0]], "nth": [[2, 2, 0]]}, "hits contradict"),
        ({"nth": [[3, 1, 0]]}, "counts of hits contradict"),  # a second hit at rank 1
        ({"each": [[1, 1, 1]], "nth": [[1, 2, 3]], "first": [[1, 0, 0]]}, "hits contradict"),
        ({"n_relevant": [0]}, "counts of hits contradict"),
        ({"n_relevant": [-1]}, "table n_relevant"),
        ({"n_users": [2, 1]}, "table n_users"),
        ({"n_users": [5]}, "5 users in the means, of 3"),
        ({"first": [[2, 1]]}, "table first"),
        ({"spreads": [[[np.nan, 0, 0]]]}, "table spreads"),
        ({"spreads": [[[0.0, -1, 0]]]}, "table spreads"),
        ({"spreads": [[[0.0, 1, 0]], [[0.0, 1, 0]]]}, "table spreads"),
        ({"cuts": [3, 2, 1]}, "k do not rise"),
        ({"cuts": np.zeros(0, np.int64)}, "k do not rise"),
    ],
)
def test_counts_that_cannot_be_are_refused(tables, words):
    result = tl.top_k_eval(tl.Hits.from_ranks([1, 1, 2], 3), k=3, metrics=["hit", "ndcg"])
    assert tl.TopKResult.from_bytes(rewritten(result, **TABLES)) == result
    with pytest.raises(ValueError, match=f"damaged, or not written by to_bytes.*{words}"):
        tl.TopKResult.from_bytes(rewritten(result, **tables))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"counts":[3,0,0]', '"counts":[2,0,0]', "3 users in the means, of 2"),
        ('"counts":[3,0,0]', '"counts":[3,4,0]', "of 3"),
        ('"counts":[3,0,0]', '"counts":[3,-1,0]', "-1 where a whole number from 0 on"),
        ('"counts":[3,0,0]', '"counts":[3.5,0,0]', "3.5 where a whole number"),
        ('"counts":[3,0,0]', '"counts":[1e400,0,0]', "inf where a whole number"),
        ('"counts":[3,0,0]', '"counts":[Infinity,0,0]', "Infinity is no number of JSON"),
        ('"counts":[3,0,0]', '"counts":[3,0]', "not enough values"),
        ('"terms"', '"term"', "there is no 'terms'"),
        ('"|u1"', '"i8,("', "an array of 'i8,\\('"),
        ('"|u1"', '"O"', "an array of 'O'"),
        ('["each",', '["first",', "an array is there twice"),
        ('["each",', '["other",', "keyword argument 'other'"),
        ('[1,3]', "[99999999,99999999]", "9,999,999.*numbers, at most"),
        ('"missing":"zero"', '"missing":"zerro"', "missing='zerro'"),
        ('"ks":[3]', '"ks":[0]', "0 where a whole number from 1 on"),
        ('"ks":[3]', '"ks":[9223372036854775808]', "whole number from 1 on is needed"),
        ('"pooled":[]', '"pooled":["hit"]', "there are no averages of hit"),
        ('"weighted":false', '"weighted":true', "there are no averages of"),
        ('"name":"ndcg"', '"name":"hit"', "two of one name"),
    ],
)  # fmt: skip
def test_headers_that_cannot_be_are_refused(old, new, words):
    result = tl.top_k_eval(tl.Hits.from_ranks([1, 1, 2], 3), k=3, metrics=["hit", "ndcg"])
    with pytest.raises(ValueError, match=f"damaged, or not written by to_bytes.*{words}"):
        tl.TopKResult.from_bytes(rewritten(result, {old: new}))


@pytest.mark.parametrize(
    "changes",
    [{"n": 9}, {"weight": 0.0}, {"weight2": 9.0}, {"weight2": 0.0}, {"mean": [0.0, 2.0]},
     {"mean": [0.0]}, {"deviation": [-1.0, 0.0]}, {"mean2": [np.inf, 0.0]}],
    ids=str,
)  # fmt: skip
def test_averages_that_cannot_be_are_refused(changes):
    result = tl.top_k_eval([[1, 2], [3, 4]], [{1}, {4}], 2, metrics="mrr", weights=[1, 1])
    changes = {name: np.array(one) if type(one) is list else one for name, one in changes.items()}
    wrong = {"mrr": dataclasses.replace(result.histograms.gathered["mrr"], **changes)}
    with pytest.raises(ValueError, match="the averages of mrr contradict the counts"):
        tl.TopKResult.from_bytes(rewritten(result, gathered=wrong))


def test_bytes_of_zeros_take_no_memory():
    zeros = zlib.compress(bytes(1 << 28))
    huge = b'{"arrays":[["each","|u1",[16384,16384]]]}'
    announced = zlib.compress(len(huge).to_bytes(8, "little") + huge + bytes(1 << 28))
    tracemalloc.start()
    for data in (zeros, announced):
        with pytest.raises(ValueError, match="a header of 0 bytes|268,435,456 numbers, at most"):
            tl.TopKResult.from_bytes(b"toplist\2" + data)
    assert tracemalloc.get_traced_memory()[1] < 1 << 22
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("metric", "options"),
    [
        ("cg", {"weights": np.arange(1.0, 13.0)}),
        ("dcg", {"weights": np.arange(1.0, 13.0)}),
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
    for other in (result.without_users(), tl.TopKResult.from_bytes(result.to_bytes()), whole):
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
        assert tl.TopKResult.from_bytes(bare.to_bytes()) == result
    assert len(sizes) == 1
