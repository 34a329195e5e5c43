"""unjudged="drop": items without a grade leave the lists, and ranks close up."""

import pickle

import numpy as np
import pytest
from differential import NOBODY_LEFT_OUT, agree, columns, expectations, twins_of
from doors import by_words, curve, match_by_words
from file_helpers import sent
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracle import hits as oracle
from shared_inputs import csv_of
from strategies import graded_populations, has_misses

import toplist as tl
from toplist.cli import main

# a b c d e z are judged, x and y are not
GRADES = {"q": {"a": 1, "b": 0, "c": 2, "d": 0, "e": 1, "z": 1}}
LISTS = {"q": list("xabycde")}
ASKED = ["map", "precision", "recall", "ndcg", "judged"]


@pytest.mark.parametrize(
    ("unjudged", "expected"),
    [("miss", (0.332143, 1 / 3, 0.25, 0.201515)), ("drop", (0.566667, 2 / 3, 0.5, 0.638788))],
)
def test_figures_of_trec_eval(unjudged, expected):
    result = tl.top_k_eval(
        LISTS, GRADES, [3, 7], metrics=ASKED, convention="trec_eval", unjudged=unjudged
    )
    names = "map@7", "precision@3", "recall@3", "ndcg@3"
    assert [result[name] for name in names] == pytest.approx(expected, abs=1e-6)
    assert result["judged@3"] == 2 / 3 and result["judged@7"] == 5 / 7


def has_grades(population):
    return any(population[1])


@settings(deadline=None, max_examples=60)
@given(
    graded_populations() | graded_populations(unique=False),
    st.integers(1, 15),
    st.sampled_from([None, 2]),
    st.sampled_from(["standard", "trec_eval", "ranx", "neurec", "lenskit", "torchmetrics"]),
)
def test_against_lists_of_judged_items(population, k, relevant_from, convention):
    join = {"relevant_from": relevant_from} if has_grades(population) else {}
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


@settings(deadline=None, max_examples=30)
@given(graded_populations(unique=False), st.integers(1, 15), st.sampled_from([None, 2]))
def test_judged_is_counted_before(population, k, relevant_from):
    assume(has_misses(population[1], relevant_from))
    options = {"k": k, "metrics": ["hit", "judged"], "duplicates": "first"}
    if has_grades(population):
        options["relevant_from"] = relevant_from
    dropped = by_words(*population, unjudged="drop", **options)
    as_they_are = by_words(*population, **options)
    np.testing.assert_array_equal(dropped.per_user("judged"), as_they_are.per_user("judged"))
    np.testing.assert_array_equal(dropped["judged"], as_they_are["judged"])
    name, share = dropped.judged_share()
    assert name == f"judged@{k}"
    np.testing.assert_equal(share, as_they_are[name])


def test_lists_are_read_whole():
    lists = {"q": [*range(100, 3000), "a", "b"]}
    lists = {"q": list(map(str, lists["q"]))}
    truth = {"q": {"a": 1, "b": 0}}
    assert tl.top_k_eval(lists, truth, 1, unjudged="drop")["hit@1"] == 1
    whole = tl.top_k_eval(lists, truth, unjudged="drop", metrics=["judged", "precision"])
    assert whole.ks == (2,) and whole["precision@2"] == 0.5
    deep = tl.top_k_eval(lists, truth, 5000, unjudged="drop", metrics="judged")
    assert deep["judged@5000"] == 2 / 2902 and deep["judged@2902"] == 2 / 2902
    assert deep["judged@2901"] == 1 / 2901
    assert tl.curves("judged", lists, truth, unjudged="drop").tolist() == [[0, 0]]


def test_who_has_a_list_without_a_judged_item_has_a_list():
    lists, truth = {"a": ["x"], "b": [], "c": ["r"]}, {"a": {"r": 1, "n": 0}, "b": {"r": 1}}
    truth["c"] = {"r": 1}
    for missing, mean, n in (("zero", 1 / 3, 3), ("skip", 1 / 2, 2)):
        found = tl.top_k_eval(
            lists,
            truth,
            1,
            metrics="hit",
            unjudged="drop",
            convention=tl.CONVENTIONS["standard"].replace(missing=missing),
        )
        assert (found["hit@1"], found.n_evaluated, found.n_missing) == (mean, n, 1)


def test_it_is_said():
    result = tl.top_k_eval(LISTS, GRADES, [3, 7], metrics="map", unjudged="drop")
    assert "convention standard, unjudged items leave the lists: mean over users" in str(result)
    assert "1 of 1 user evaluated, judged@7 0.7143 before unjudged items left" in str(result)
    other = tl.top_k_eval({"p": ["a"]}, {"p": {"a": 1}}, [3, 7], metrics="map")
    with pytest.raises(ValueError, match="unjudged is 'drop' in one and 'miss' in the other"):
        result + other
    with pytest.raises(ValueError, match="Hits of unjudged drop and of unjudged miss do not"):
        result.hits + tl.match({"p": ["a"]}, {"p": {"a": 1}}, 7)
    same = tl.top_k_eval(LISTS, GRADES, [3, 7], metrics="map")
    assert "a: convention standard, unjudged items leave the lists; b: " in str(
        tl.compare({"a": result, "b": same})
    )
    with pytest.raises(ValueError, match="unjudged='keep': choose from 'miss', 'drop'"):
        tl.top_k_eval(LISTS, GRADES, 3, unjudged="keep")
    with pytest.raises(ValueError, match="unjudged='keep': choose from 'miss', 'drop'"):
        tl.curves("map", LISTS, GRADES, 3, unjudged="keep")


NO_MISS = "to drop unjudged items needs judged items that are not relevant, .* with grade 0"
PERFECT = [
    ({"a", "c"}, None),
    ({"a": 1, "c": 2}, None),
    ({"a": 1, "c": 2, "z": -1}, None),
    ({"a": 1, "b": 0, "z": -2}, 0),
    (tl.Groups({"q": [["a"], ["c"]]}), None),
]


@pytest.mark.parametrize(("truth", "least"), PERFECT)
def test_nothing_is_judged_not_relevant(truth, least):
    truths = truth if isinstance(truth, tl.Groups) else {"q": truth}
    asked = {"unjudged": "drop", "relevant_from": least}
    for metrics in ("precision", ["judged"], ["novelty", "hit"]):
        more = {"counts": dict.fromkeys(LISTS["q"], 1)} if "novelty" in metrics else {}
        with pytest.raises(ValueError, match=NO_MISS):
            by_words(LISTS, truths, 3, metrics=metrics, **asked, **more)
    with pytest.raises(ValueError, match=NO_MISS):
        tl.curves("map", LISTS, truths, 3, **asked)
    with pytest.raises(ValueError, match=NO_MISS):
        tl.top_k_eval(match_by_words(LISTS, truths, 3, **asked), k=3)


@pytest.mark.parametrize(
    ("grades", "least"), [({"a": 1, "z": -1}, None), ({"a": 1, "b": 0, "z": -2}, 0)]
)
def test_items_below_0_are_judged_and_are_no_misses(grades, least):
    lists, truths = {"q": ["x", "a", "z"]}, {"q": grades}
    result = tl.top_k_eval(lists, truths, 3, metrics=["precision", "judged"], relevant_from=least)
    assert list(result) == [1 / 3, 2 / 3]
    with pytest.raises(ValueError, match="bpref needs judged items that are not relevant"):
        tl.top_k_eval(lists, truths, 3, metrics="bpref", relevant_from=least)
    with pytest.raises(ValueError, match="bpref needs judged items that are not relevant"):
        tl.curves("bpref", lists, truths, relevant_from=least)


def test_lists_close_up_where_another_part_has_a_miss():
    asked = {"k": 3, "metrics": "mrr", "unjudged": "drop"}
    lists = {"q": ["x", "a", "z"], "p": ["a", "y", "b"]}
    truths = {"q": {"a": 1, "z": -1}, "p": {"a": -1, "y": 1, "b": 0}}
    with pytest.raises(ValueError, match=NO_MISS):
        by_words({"q": lists["q"]}, {"q": truths["q"]}, **asked)
    one, other = (
        tl.match({user: lists[user]}, {user: truths[user]}, 3, unjudged="drop") for user in lists
    )
    whole = by_words(lists, truths, **asked)
    for found in (by_words(one + other, **asked), by_words(other + one, **asked), whole):
        assert found["mrr@3"] == 1
        assert found.by({"q": "one", "p": "other"})["one"]["mrr@3"] == 1


def test_bpref_reads_as_misses_what_its_own_threshold_leaves_out():
    lists, truths = [["b", "a"]], [{"a": 2, "b": 1}]
    assert tl.top_k_eval(lists, truths, metrics="bpref(rel=2)")["bpref(rel=2)@2"] == 0
    with pytest.raises(ValueError, match="bpref needs judged items that are not relevant"):
        tl.top_k_eval(lists, [{"a": 1, "b": 0}], metrics="bpref(rel=0)")


def test_judged_of_parts_is_of_the_lists_as_they_were_given(tmp_path):
    lists = {93: [3, 1], 113: [1, 8]}
    truths = {93: {1: 1, 4: 0, 3: 1}, 113: {1: 0, 4: 1}}
    asked = {"metrics": "bpref", "unjudged": "drop"}
    parts = [by_words({one: lists[one]}, {one: truths[one]}, **asked) for one in lists]
    merged, whole = tl.merge(parts), by_words(lists, truths, **asked)
    assert merged.to_dict() == whole.to_dict() == {"bpref@2": 0.5}
    # 2 of 2 items of one list, 1 of 2 of the other
    assert "judged@2 0.7500 before unjudged items left" in str(merged)
    assert str(merged) == str(whole)
    merged.save(tmp_path / "merged.npz")
    assert tl.TopKResult.load(tmp_path / "merged.npz").to_dict() == whole.to_dict()


def test_from_hits():
    hits = tl.match(LISTS, GRADES, 3, unjudged="drop")
    assert hits.relevant.ranks.tolist() == [1, 3] and hits.k == 3
    expected = tl.top_k_eval(LISTS, GRADES, 3, unjudged="drop")
    for found in (tl.top_k_eval(hits, k=3), tl.top_k_eval(hits, k=3, unjudged="drop")):
        assert found == expected
    with pytest.raises(TypeError, match=r"joined already: give unjudged to match\(\)"):
        tl.top_k_eval(tl.match(LISTS, GRADES), k=3, unjudged="drop")
    whole = tl.match(LISTS, GRADES)
    assert whole.judged_only(3).relevant.ranks.tolist() == [1, 3]
    again = pickle.loads(pickle.dumps(hits))
    assert tl.top_k_eval(again, k=3, metrics=ASKED) == tl.top_k_eval(hits, k=3, metrics=ASKED)
    named = tl.top_k_eval(
        tl.Ranks(tl.match([LISTS["q"]], [GRADES["q"]], 3, unjudged="drop"), users=["q"]), k=3
    )
    more = tl.top_k_eval({"p": ["a"]}, {"p": {"a": 1, "b": 0}}, 3, unjudged="drop")
    assert (named + more).per_user("hit@3", keyed=True) == {"q": 1, "p": 1}
    listed = tl.top_k_eval(
        hits,
        k=3,
        metrics="recall",
        convention=tl.CONVENTIONS["standard"].replace(relevant="listed"),
    )
    direct = tl.top_k_eval(
        LISTS,
        GRADES,
        3,
        metrics="recall",
        unjudged="drop",
        convention=tl.CONVENTIONS["standard"].replace(relevant="listed"),
    )
    assert listed["recall@3"] == direct["recall@3"] == 2 / 3  # of a, c and e


def drawn(seed, n=60, least=1):
    """Return lists and grades of users, some of whom have no item that is judged not relevant."""
    rng = np.random.default_rng(seed)
    lists = {
        f"u{u}": [f"i{i}" for i in rng.permutation(40)[: rng.integers(0, 25)]] for u in range(n)
    }
    truths = {
        user: {
            f"i{i}": int(rng.integers(0 if u % 3 else least, 4)) for i in rng.permutation(40)[:12]
        }
        for u, user in enumerate(lists)
    }
    return lists, truths


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
    assert shares[0][0] == shares[1][0]
    assert shares[0][1] == pytest.approx(shares[1][1], rel=1e-12)
    assert (one.n_evaluated, one.n_missing) == (other.n_evaluated, other.n_missing)


@pytest.mark.parametrize("relevant_from", [None, 2])
@pytest.mark.parametrize("convention", ["standard", "trec_eval"])
def test_parts_merge_to_the_whole(convention, relevant_from):
    lists, truths = drawn(1, least=relevant_from or 1)
    options = OPTIONS | {"convention": convention, "relevant_from": relevant_from}
    options["metrics"] = [*(tl.CONVENTIONS[convention].metrics.keys() & WITH_K), "err(max=4)"]
    users = [list(lists)[at::20] for at in range(20)]  # in each of three, some have no grade 0
    parts = [
        by_words({u: lists[u] for u in some}, {u: truths[u] for u in some}, **options)
        for some in users
    ]
    order = [user for some in users for user in some]
    lists = {user: lists[user] for user in order}
    whole = by_words(lists, {user: truths[user] for user in order}, **options)
    merged = tl.merge(parts)
    same(merged, whole)
    np.testing.assert_array_equal(merged.per_user("map"), whole.per_user("map"))
    same(tl.merge(part.without_users() for part in parts), whole)
    same(tl.merge(sent(part) for part in parts), whole)
    same(sum(pickle.loads(pickle.dumps(parts))), whole)
    alone = {user: int(user[1:]) % 3 == 0 for user in order}  # nothing is judged not relevant
    values = whole.per_user("precision@5")[list(alone.values())]
    np.testing.assert_array_equal(whole.by(alone)[True].per_user("precision@5"), values)


def test_weights_pooling_and_comparisons():
    lists, truths = drawn(3)
    weights = {user: 1 + at % 4 for at, user in enumerate(lists)}
    options = OPTIONS | {"metrics": ["recall", "ndcg"]}
    whole = by_words(lists, truths, weights=weights, **options)
    values = whole.per_user("recall@5")
    counted = ~np.isnan(values)
    by = np.array(list(weights.values()))[counted]
    assert whole["recall@5"] == pytest.approx(np.average(values[counted], weights=by))
    assert sent(whole) == whole
    closed = oracle.without_unjudged(lists.values(), truths.values())
    ratio = by_words(lists, truths, aggregate="pooled", **options)
    alike = dict(zip(lists, closed, strict=True))
    expected = tl.top_k_eval(
        alike,
        truths,
        k=[1, 5, 10],
        metrics=["recall"],
        convention=tl.CONVENTIONS["standard"].replace(aggregate="pooled"),
    )
    assert ratio["recall@5"] == expected["recall@5"]
    other = by_words({u: row[::-1] for u, row in lists.items()}, truths, **options)
    one = by_words(lists, truths, **options)
    test = tl.compare({"a": one, "b": other}).test()["recall@5"]
    difference = np.nanmean(other.per_user("recall@5") - one.per_user("recall@5"))
    assert abs(test.difference) == pytest.approx(abs(difference))


@pytest.fixture
def files(tmp_path):
    lists, truths = drawn(4)
    recs = [f"{u},{i},{r}" for u, row in lists.items() for r, i in enumerate(row, 1)]
    rows = [f"{u},{i},{g}" for u, row in truths.items() for i, g in row.items()]
    return (
        csv_of(tmp_path / "recs.csv", "user_id,item_id,rank", *recs),
        csv_of(tmp_path / "truth.csv", "user_id,item_id,relevance", *rows),
    )


def streams(lists, truths):
    """Return both sides in record batches of a few rows."""
    pa = pytest.importorskip("pyarrow")
    recs = [(user, item, at) for user, row in lists.items() for at, item in enumerate(row, 1)]
    graded = [(user, item, float(g)) for user, row in truths.items() for item, g in row.items()]
    for rows, last in ((recs, "rank"), (graded, "relevance")):
        columns = zip(["user_id", "item_id", last], zip(*rows, strict=True), strict=True)
        yield pa.table({name: list(values) for name, values in columns}).to_reader(7)


@pytest.mark.parametrize("k", [[1, 5, 10], None])
def test_files_and_streams_of_small_batches(files, k):
    lists, truths = drawn(4)
    asked = OPTIONS | {"k": k}
    whole = by_words(lists, truths, **asked)
    for options in ({}, {"keep": "users"}):
        same(by_words(*files, **asked, **options), whole)
    lone = tl.GroundTruths(files[1])
    same(by_words(files[0], lone, **asked), whole)
    for keep in (None, "users"):
        found = by_words(*streams(lists, truths), keep=keep, **asked)
        same(found, whole)
        if keep:
            values = found.per_user("ndcg", keyed=True)
            for user, row in whole.per_user("ndcg", keyed=True).items():
                np.testing.assert_array_equal(values[user], row)


@pytest.mark.parametrize("keep", [None, "users"])
def test_a_stream_without_a_grade_0(keep):
    lists, truths = drawn(4)
    truths = {user: {i: g for i, g in row.items() if g} for user, row in truths.items()}
    with pytest.raises(ValueError, match=NO_MISS):
        by_words(*streams(lists, truths), keep=keep, **OPTIONS)


def test_parts_of_a_stream():
    """Users of every part alone: parts without a grade 0 are what they are in the whole."""
    pa = pytest.importorskip("pyarrow")
    lists, truths = drawn(5)
    parts = []
    for user, row in lists.items():
        recs = {"user_id": [user] * len(row), "item_id": row, "rank": range(1, len(row) + 1)}
        grades = truths[user]
        truth = {"user_id": [user] * len(grades), "item_id": list(grades)}
        truth["relevance"] = [float(grade) for grade in grades.values()]
        kinds = {"user_id": pa.string(), "item_id": pa.string()}
        sides = []
        for side, last in ((recs, "rank"), (truth, "relevance")):
            kind = pa.int64() if last == "rank" else pa.float64()
            sides.append(
                pa.table({n: pa.array(list(v), kinds.get(n, kind)) for n, v in side.items()})
            )
        parts.append(by_words(*(one.to_reader() for one in sides), keep="part", **OPTIONS))
    merged = tl.merge(map(sent, parts), disjoint=True)
    same(merged, by_words(lists, truths, **OPTIONS))


def test_command_line_and_saved_results(files, capsys, tmp_path):
    arguments = ["eval", *map(str, files), "-k", "5", "-m", "ndcg"]
    expected = tl.top_k_eval(*drawn(4), 5, metrics="ndcg", unjudged="drop")
    assert main([*arguments, "--unjudged", "drop"]) == 0
    share = f"judged@5 {expected.judged_share()[1]:.4f} before unjudged items left"
    out = capsys.readouterr().out
    assert share in out and f"{expected['ndcg@5']:.4f}" in out
    expected.save(tmp_path / "result.npz")
    assert tl.TopKResult.load(tmp_path / "result.npz") == expected
    text = expected.to_json()
    assert '"unjudged": "drop"' in text and '"judged@5"' in text
