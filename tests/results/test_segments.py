"""Results split by an attribute of the users: everything adds up, nobody is dropped."""

import math

import numpy as np
import pytest
from doors import by_words
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import graded_populations, populations

import toplist as tl
from toplist.results.describe import COLUMNS

FEW = settings(deadline=None, max_examples=60)

METRICS = ["hit", "precision", "map", "ndcg", "rbp"]

LABELS = st.sampled_from(["new", "old", None, math.nan])

POPULATION = populations(max_users=9) | graded_populations(max_users=9)


def clean(label):
    return None if label is None or label != label else label


@FEW
@given(POPULATION, st.data(), st.sampled_from(["standard", "lenskit", "neurec", "trec_eval"]))
def test_a_segment_is_the_result_of_its_users_alone(population, data, convention):
    ranks, truths = population
    labels = data.draw(st.lists(LABELS, min_size=len(ranks), max_size=len(ranks)))
    weights = data.draw(st.none() | st.just([1.0 + u % 3 for u in range(len(ranks))]))
    own = tl.CONVENTIONS[convention].metrics
    options = {"k": [1, 5], "metrics": [name for name in METRICS if name in own]}
    options["convention"] = convention
    whole = by_words(ranks, truths, weights=weights, **options)
    found = whole.by(labels)
    assert set(found) == set(map(clean, labels))
    for label, part in found.items():
        users = [u for u, one in enumerate(labels) if clean(one) == label]
        alone = by_words(
            [ranks[u] for u in users],
            [truths[u] for u in users],
            weights=None if weights is None else [weights[u] for u in users],
            **options,
        )
        assert list(part.users) == users
        for name in part.names():
            assert np.array_equal(part[name], alone[name], equal_nan=True)
            assert np.allclose(part.std(name), alone.std(name), equal_nan=True, atol=1e-12)
            assert np.array_equal(part.per_user(name), whole.per_user(name)[users], equal_nan=True)
    for count in ("n_users", "n_evaluated", "n_skipped", "n_missing"):
        assert sum(getattr(part, count) for part in found.values()) == getattr(whole, count)


@FEW
@given(populations(max_users=9), st.data())
def test_the_segments_merge_to_the_whole(population, data):
    labels = data.draw(st.lists(LABELS, min_size=len(population[0]), max_size=len(population[0])))
    whole = tl.top_k_eval(*population, k=5)
    merged = sum(whole.by(labels).values())
    assert all(np.array_equal(whole[name], merged[name], equal_nan=True) for name in whole.names())


LISTS = {"ann": ["tea"], "bob": ["jam"], "eve": ["fig"], "zed": ["fig"]}

TRUTHS = {"eve": "fig", "ann": "tea", "bob": "fig", "joe": []}


@pytest.fixture
def result():
    return tl.top_k_eval(LISTS, TRUTHS, k=1, metrics=["hit", "mrr"])


def test_labels_by_key_absent_ones_and_unused_ones(result):
    found = result.by({"ann": "b", "bob": "a", "joe": "a", "kim": "a", "zed": "b"})
    assert list(found) == ["a", "b", None]
    assert [part["hit@1"] for part in found.values()] == [0.0, 1.0, 1.0]
    assert [list(part.users) for part in found.values()] == [["bob", "joe"], ["ann"], ["eve"]]
    assert (found["a"].n_users, found["a"].n_evaluated, found["a"].n_skipped) == (2, 1, 1)
    assert found.n_unused == 2
    assert repr(found) == (
        "            users  n                    hit@1                    mrr@1\n"
        "a               2  1  0.0000 [0.0000, 0.7935]  0.0000\n"
        "b               1  1  1.0000 [0.2065, 1.0000]  1.0000\n"
        "(no label)      1  1  1.0000 [0.2065, 1.0000]  1.0000\n"
        "all             4  3  0.6667 [0.2077, 0.9385]  0.6667 [0.0000, 1.0000]\n"
        "users: of the ground truth; n: in the means\n"
        "2 labels of users who are not in the result (unused)\n"
        "convention standard: mean over users\n"
        "95 % interval, ± half or [low, high]: Wilson for hit; Student's t for mrr "
        "(rough: only 3 users)\n"
        "3 of 4 users evaluated, 1 skipped (no relevant items), "
        "1 with a list but no ground truth (ignored)"
    )
    assert found.to_dict()[None] == {"hit@1": 1.0, "mrr@1": 1.0}


def test_labels_of_pandas(result):
    pandas = pytest.importorskip("pandas")
    series = pandas.Series({"ann": 1, "bob": 2, "eve": pandas.NA}, dtype="Int64")
    assert list(result.by(series)) == [1, 2, None]
    frame = result.by(series).to_pandas()
    assert frame.columns.tolist() == ["segment", *COLUMNS]
    assert frame["n"].tolist() == [1, 1, 1, 1, 1, 1]
    with pytest.raises(ValueError, match="user .* is in the index .* twice"):
        result.by(pandas.Series([1, 2], index=["ann", "ann"]))


def test_labels_of_several_kinds_keep_their_order(result):
    assert list(result.by(["x", 1, "x", 1])) == ["x", 1]
    assert list(result.by(np.array([3, 1, 3, 1]))) == [1, 3]


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        (["a"], ValueError, "1 labels for 4 users"),
        ("abcd", TypeError, "labels is a str"),
        ({1: "a"}, ValueError, "keyed by 1, the result has 'eve'"),
        ({"a", "b"}, TypeError, "labels is a set"),
        ([["a"]] * 4, TypeError, r"label \['a'\] is a list"),
    ],
)
def test_labels_that_do_not_fit_are_refused(result, labels, error, message):
    with pytest.raises(error, match=message):
        result.by(labels)


def test_an_unknown_segment_is_a_key_error_with_the_known_ones(result):
    with pytest.raises(KeyError, match="'c': the segments are 'a', None"):
        result.by({"ann": "a"})["c"]


def test_metrics_of_all_lists_together_do_not_split():
    ranks, truths = {1: [5, 6], 2: [6, 7]}, {1: [5], 2: [7]}
    result = tl.top_k_eval(
        ranks, truths, 2, metrics=["hit", "item_coverage"], items=tl.Items(catalogue=10)
    )
    split = result.by({1: "a", 2: "b"})
    assert [part.names() for part in split.values()] == [["hit@2"], ["hit@2"]]
    assert "of all lists together, left out: item_coverage" in repr(split)
    alone = tl.top_k_eval(ranks, truths, 2, metrics=["item_coverage"], items=tl.Items(catalogue=10))
    with pytest.raises(ValueError, match="they do not split"):
        alone.by({1: "a"})


def test_many_columns_make_a_table_per_metric():
    result = tl.top_k_eval([[1, 2], [2, 1]], [{1}, {1}], k=[1, 2], metrics=["hit", "mrr"])
    assert "hit@1" in repr(result.by(["a", "b"]))
    result = tl.top_k_eval([[1, 2], [2, 1]], [{1}, {1}], k=[1, 2])
    lines = repr(result.by(["a", "b"])).splitlines()
    assert lines[0].split() == ["hit", "users", "n", "@1", "@2"]
    assert [line.split()[0] for line in lines if line.endswith("@2")] == [
        *("hit", "precision", "recall", "map", "ndcg", "mrr")
    ]


def test_labels_of_a_series_go_by_key_or_are_refused():
    pandas = pytest.importorskip("pandas")
    ids, held = np.array([[1, 2], [3, 4], [5, 6]]), np.array([1, 4, 9])
    result = tl.top_k_eval(ids, held, k=1, metrics="hit")
    labels = pandas.Series({1: "A", 2: "B", 3: "C"})
    with pytest.raises(TypeError, match=r"an index of its own, .* by position: .*labels.to_numpy"):
        result.by(labels)
    found = result.by(labels.to_numpy())
    assert {label: part["hit@1"] for label, part in found.items()} == {"A": 1, "B": 0, "C": 0}
    keyed = tl.top_k_eval({"ann": [1], "bob": [2]}, {"ann": {1}, "bob": {9}}, k=1, metrics="hit")
    counting = pandas.Series(["A", "B"])
    with pytest.raises(
        TypeError,
        match=r"counts its rows, but the users have keys, like 'ann': give it by user, .*"
        r"labels\.set_axis\(users\) or a dict user -> value; or labels\.to_numpy\(\) if its order",
    ):
        keyed.by(counting)
    by_hand = keyed.by(counting.set_axis(["bob", "ann"]))
    assert {label: part["hit@1"] for label, part in by_hand.items()} == {"A": 0, "B": 1}
    parts = keyed.by(pandas.Series({"bob": "B"}))
    assert {label: part["hit@1"] for label, part in parts.items()} == {"B": 0, None: 1}


@pytest.mark.parametrize("kind", ["pandas by user", "pandas in order", "polars"])
def test_segments_keep_the_order_of_ordered_categories(kind):
    pandas = pytest.importorskip("pandas")
    order, labels = ["new", "mid", "old"], ["mid", "old", "new"]
    if kind == "polars":
        polars = pytest.importorskip("polars")
        ordered = polars.Series(labels, dtype=polars.Enum(order))
    else:
        ordered = pandas.Categorical(labels, order, ordered=True)
        if kind == "pandas by user":
            ordered = pandas.Series(ordered, ["a", "b", "c"])
    lists, truths = {user: [1] for user in "abc"}, {user: {1} for user in "abc"}
    systems = {name: tl.top_k_eval(lists, truths, k=1, metrics="hit") for name in "xy"}
    assert list(systems["x"].by(ordered)) == order
    assert list(tl.compare(systems).by(ordered)) == order
    assert list(systems["x"].by(dict(zip("abc", labels, strict=True)))) == ["mid", "new", "old"]
    if kind == "pandas by user":
        plain = pandas.Series(pandas.Categorical(labels, order), ["a", "b", "c"])
        assert list(systems["x"].by(plain)) == ["mid", "new", "old"]
        some = ordered[ordered != "mid"]
        assert list(systems["x"].by(some)) == ["new", "old", None]


def test_metrics_of_all_lists_are_left_out_by_name():
    lists, truths = {"a": ["x", "y"], "b": ["p", "x"]}, {"a": {"x"}, "b": {"z"}}
    known = {"catalogue": list("pxyz"), "counts": dict.fromkeys("pxyz", 1)}
    whole = ["item_coverage", "gini", "shannon_entropy", "personalisation"]
    result = by_words(lists, truths, 2, metrics=["mrr", *whole, "novelty"], **known)
    found = result.by({"a": "new", "b": "old"})
    assert found.left_out == (*whole,) and found["new"].names() == ["mrr@2", "novelty@2"]
    line = f"of all lists together, left out: {', '.join(whole)}"
    assert line in str(found)
    assert line in str(tl.compare({"one": result, "two": result}).by({"a": "new", "b": "old"}))
    halves = [
        by_words({u: lists[u]}, {u: truths[u]}, 2, metrics=["mrr", "gini", "novelty"], **known)
        for u in "ab"
    ]
    merged = sum(halves).by({"a": "new", "b": "old"})
    assert merged.left_out == ("gini", "novelty")
    assert "of all lists together, left out: gini" in str(merged)
    assert "no values of users, left out: novelty" in str(merged)
