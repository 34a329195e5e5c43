"""unjudged="drop": items without a grade leave the lists, and ranks close up.

That every source and option takes it is said by the matrix.
"""

import pickle

import numpy as np
import pytest
from differential import NOBODY_LEFT_OUT, agree, columns, expectations, twins_of
from doors import by_words, curve
from file_helpers import sent
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracle import hits as oracle
from shared_inputs import frame_of, said
from strategies import graded_populations, has_misses
from world import draw

import toplist as tl

# a b c d e z are judged, x and y are not
GRADES = {"q": {"a": 1, "b": 0, "c": 2, "d": 0, "e": 1, "z": 1}}
LISTS = {"q": list("xabycde")}
NO_MISS = "to drop unjudged items needs judged items that are not relevant"


@pytest.mark.parametrize(
    ("unjudged", "expected"),
    [("miss", (0.332143, 1 / 3, 0.25, 0.201515)), ("drop", (0.566667, 2 / 3, 0.5, 0.638788))],
)
def test_figures_of_trec_eval(unjudged, expected):
    asked = {"metrics": ["map", "precision", "recall", "ndcg", "judged"], "unjudged": unjudged}
    result = by_words(LISTS, GRADES, [3, 7], convention="trec_eval", **asked)
    names = "map@7", "precision@3", "recall@3", "ndcg@3"
    assert [result[name] for name in names] == pytest.approx(expected, abs=1e-6)
    assert result["judged@3"] == 2 / 3 and result["judged@7"] == 5 / 7


@settings(max_examples=60)
@given(
    graded_populations() | graded_populations(unique=False),
    st.integers(1, 15),
    st.sampled_from([None, 2]),
    st.sampled_from(["standard", "trec_eval", "ranx", "neurec", "lenskit", "torchmetrics"]),
)
def test_against_lists_of_judged_items(population, k, relevant_from, convention):
    join = {"relevant_from": relevant_from} if any(population[1]) else {}
    assume(has_misses(population[1], relevant_from))
    rules = {"convention": convention, "duplicates": "first", **NOBODY_LEFT_OUT, **join}
    metrics = tl.CONVENTIONS[convention].metrics.values()
    names = [one.name for one in metrics if one.of == "relevant" and one.earning is None]
    result = by_words(*population, k, metrics=names, unjudged="drop", **rules)
    closed = oracle.without_unjudged(*population), population[1]
    for name in names:
        twin, options = twins_of(convention)[name]
        expected = expectations(closed, k, twin, **options, **join, **NOBODY_LEFT_OUT)
        agree(result.per_user(name), columns(expected), name)
        agree(result[name], [one.mean for one in expected], name)
        if name in tl.METRICS:
            found = curve(name, *population, k, unjudged="drop", **rules)
            agree(found, columns(expected), f"tl.{name}")
    if convention in ("standard", "trec_eval"):
        found, before = (
            by_words(*population, k, metrics=["hit", "judged"], unjudged=one, **rules)
            for one in ("drop", "miss")
        )
        np.testing.assert_array_equal(found.per_user("judged"), before.per_user("judged"))
        name, share = found.judged_share()
        assert name == f"judged@{k}"
        np.testing.assert_equal(share, before[name])


def test_lists_are_read_whole():
    lists = {"q": [*map(str, range(100, 3000)), "a", "b"]}
    truth = {"q": {"a": 1, "b": 0}}
    assert tl.top_k_eval(lists, truth, 1, unjudged="drop")["hit@1"] == 1
    whole = tl.top_k_eval(lists, truth, unjudged="drop", metrics=["judged", "precision"])
    assert whole.ks == (2,) and whole["precision@2"] == 0.5
    deep = tl.top_k_eval(lists, truth, 5000, unjudged="drop", metrics="judged")
    assert deep["judged@5000"] == deep["judged@2902"] == 2 / 2902
    assert deep["judged@2901"] == 1 / 2901
    # a has a list, though no item of it is judged
    lists, truth = {"a": ["x"], "b": [], "c": ["r"]}, {"a": {"r": 1, "n": 0}, "b": {"r": 1}}
    for missing, mean, n in (("zero", 1 / 3, 3), ("skip", 1 / 2, 2)):
        asked = {"metrics": "hit", "unjudged": "drop", "missing": missing}
        found = by_words(lists, truth | {"c": {"r": 1}}, 1, **asked)
        assert (found["hit@1"], found.n_evaluated, found.n_missing) == (mean, n, 1)


def test_it_is_said():
    result = by_words(LISTS, GRADES, [3, 7], metrics="map", unjudged="drop")
    assert "convention standard, unjudged items leave the lists: mean over users" in str(result)
    assert "1 of 1 user evaluated, judged@7 0.7143 before unjudged items left" in str(result)
    assert '"unjudged": "drop"' in result.to_json() and '"judged@7"' in result.to_json()
    other = tl.top_k_eval({"p": ["a"]}, {"p": {"a": 1}}, [3, 7], metrics="map")
    said("unjudged is 'drop' in one and 'miss' in the other", lambda: result + other)
    words = "Hits of unjudged drop and of unjudged miss do not"
    said(words, lambda: result.hits + tl.match({"p": ["a"]}, {"p": {"a": 1}}, 7))
    same = tl.top_k_eval(LISTS, GRADES, [3, 7], metrics="map")
    compared = str(tl.compare({"a": result, "b": same}))
    assert "a: convention standard, unjudged items leave the lists; b: " in compared


def test_parts_of_which_one_has_no_miss():
    asked = {"k": 3, "metrics": "mrr", "unjudged": "drop"}
    lists = {"q": ["x", "a", "z"], "p": ["a", "y", "b"]}
    truths = {"q": {"a": 1, "z": -1}, "p": {"a": -1, "y": 1, "b": 0}}
    said(NO_MISS, by_words, {"q": lists["q"]}, {"q": truths["q"]}, **asked)
    one, other = (tl.match({u: lists[u]}, {u: truths[u]}, 3, unjudged="drop") for u in lists)
    whole = by_words(lists, truths, **asked)
    for found in (by_words(one + other, **asked), by_words(other + one, **asked), whole):
        assert found["mrr@3"] == 1
        assert found.by({"q": "one", "p": "other"})["one"]["mrr@3"] == 1
    lists, truths = [["b", "a"]], [{"a": 2, "b": 1}]  # what its own threshold leaves out
    assert tl.top_k_eval(lists, truths, metrics="bpref(rel=2)")["bpref(rel=2)@2"] == 0


def test_judged_of_parts_is_of_the_lists_as_they_were_given():
    lists, truths = {93: [3, 1], 113: [1, 8]}, {93: {1: 1, 4: 0, 3: 1}, 113: {1: 0, 4: 1}}
    asked = {"metrics": "bpref", "unjudged": "drop"}
    parts = [by_words({one: lists[one]}, {one: truths[one]}, **asked) for one in lists]
    merged, whole = tl.merge(parts), by_words(lists, truths, **asked)
    assert merged.to_dict() == whole.to_dict() == {"bpref@2": 0.5}
    # 2 of 2 items of one list, 1 of 2 of the other
    assert "judged@2 0.7500 before unjudged items left" in str(merged)
    assert str(merged) == str(whole) and sent(merged).to_dict() == whole.to_dict()


def test_from_hits():
    hits = tl.match(LISTS, GRADES, 3, unjudged="drop")
    assert hits.relevant.ranks.tolist() == [1, 3] and hits.k == 3
    expected = tl.top_k_eval(LISTS, GRADES, 3, unjudged="drop")
    for found in (hits, pickle.loads(pickle.dumps(hits))):
        assert tl.top_k_eval(found, k=3) == tl.top_k_eval(found, k=3, unjudged="drop") == expected
    assert tl.match(LISTS, GRADES).judged_only(3).relevant.ranks.tolist() == [1, 3]
    asked = {"metrics": "recall", "relevant": "listed"}
    direct = by_words(LISTS, GRADES, 3, unjudged="drop", **asked)
    assert by_words(hits, k=3, **asked)["recall@3"] == direct["recall@3"] == 2 / 3  # a, c and e
    named = tl.match([LISTS["q"]], [GRADES["q"]], 3, unjudged="drop")
    more = tl.top_k_eval({"p": ["a"]}, {"p": {"a": 1, "b": 0}}, 3, unjudged="drop")
    both = by_words(named, k=3, users=["q"]) + more
    assert both.per_user("hit@3", keyed=True) == {"q": 1, "p": 1}


# bpref has no k, and ERR of parts needs the largest grade.
WITH_K = [name for name in tl.METRICS if name not in ("bpref", "err", "nerr")]
OPTIONS = {"k": [1, 5, 10], "metrics": [*WITH_K, "err(max=4)", "rbp(p=0.5)"], "unjudged": "drop"}


def same(one, other):
    """Say that two results have the same figures: floats of merged parts to the last digits."""
    assert one.names() == other.names()
    for name in one.names():
        assert one[name] == pytest.approx(other[name], rel=1e-12), name
        assert one.std(name) == pytest.approx(other.std(name), rel=1e-9), name
    shares = [result.judged_share() for result in (one, other)]
    assert shares[0] == (shares[1][0], pytest.approx(shares[1][1], rel=1e-12))
    assert (one.n_evaluated, one.n_missing) == (other.n_evaluated, other.n_missing)


def evaluated(world, **options):
    return by_words(world.lists, world.truths, **OPTIONS | options)


@pytest.mark.parametrize("relevant_from", [None, 2])
@pytest.mark.parametrize("convention", ["standard", "trec_eval"])
def test_parts_merge_to_the_whole(convention, relevant_from):
    """Some users have no item that is judged not relevant."""
    world = draw(1, users=50, odd=False)
    users, order = world.users, [user for at in range(3) for user in world.users[at::3]]
    options = {"convention": convention, "relevant_from": relevant_from}
    options["metrics"] = [*(tl.CONVENTIONS[convention].metrics.keys() & WITH_K), "err(max=4)"]
    parts = [evaluated(world.only(users[at::3]), **options) for at in range(3)]
    truths = {user: world.truths[user] for user in order}
    whole = by_words(world.lists, truths, **OPTIONS | options)
    same(tl.merge(parts), whole)
    assert np.array_equal(tl.merge(parts).per_user("map"), whole.per_user("map"), equal_nan=True)
    same(tl.merge(sent(part) for part in parts), whole)
    same(sum(pickle.loads(pickle.dumps(parts))), whole)
    alone = {user: min(truths[user].values()) > 0 for user in order}
    values = whole.per_user("precision@5")[list(alone.values())]
    np.testing.assert_array_equal(whole.by(alone)[True].per_user("precision@5"), values)


@pytest.mark.parametrize("size", [1, 7])
def test_streams_of_small_batches_and_of_parts(size):
    """Users of every part alone: parts without a grade 0 are what they are in the whole."""
    world = draw(5, users=50, odd=False)
    whole = evaluated(world)

    def streams(users, without=()):
        rows = [(u, i, at) for u in users for at, i in enumerate(world.lists[u], 1)]
        grades = ((u, i, float(g)) for u in users for i, g in world.truths[u].items())
        graded = [row for row in grades if row[2] not in without]
        for table, last in ((rows, "rank"), (graded, "relevance")):
            names = "user_id", "item_id", last
            held = dict(zip(names, map(list, zip(*table, strict=True)), strict=True))
            yield frame_of("pyarrow", held).to_reader(size)

    for keep in (None, "users"):
        same(by_words(*streams(world.users), keep=keep, **OPTIONS), whole)
        said(NO_MISS, by_words, *streams(world.users, [0]), keep=keep, **OPTIONS)
    parts = [by_words(*streams([user]), keep="part", **OPTIONS) for user in world.users]
    same(tl.merge(map(sent, parts), disjoint=True), whole)
