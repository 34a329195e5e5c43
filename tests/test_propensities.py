"""Relevant items that count 1 / p: against an oracle, in every form and source; what is refused."""

import math
import pickle
from functools import partial

import numpy as np
import pytest
from doors import by_words
from file_helpers import through_a_file
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import intervals
from oracle import propensities as oracle
from shared_inputs import LIBRARIES, frame_of, library, said

import toplist as tl
from toplist.results.describe import content

IDS = range(8)
LISTS = st.lists(st.sampled_from(IDS), unique=True, max_size=6)
SEVERAL = st.lists(st.tuples(LISTS, st.sets(st.sampled_from(IDS))), min_size=1, max_size=7)
ALONE = st.lists(
    st.tuples(LISTS, st.sets(st.sampled_from(IDS), max_size=1)), min_size=1, max_size=7
)
P = st.lists(
    st.sampled_from([0.01, 0.2, 0.2, 0.5, 1.0]) | st.floats(0.01, 1), min_size=8, max_size=8
)
IPS = "cg", "dcg", "precision", "rbp(p=0.8)"

RANKS = {"u": ["a", "b", "c"], "v": ["b", "d"], "w": ["c", "a"], "x": ["d", "b", "a"]}
TRUTHS = {"u": {"a", "c"}, "v": {"d"}, "w": {"a", "b"}, "x": {"b", "c", "d"}}
GIVEN = {"a": 0.9, "b": 0.5, "c": 0.2, "d": 0.05}
SUMS = "recall", "dcg", "psp", "psndcg"
HOW = {"k": [1, 2], "metrics": SUMS, "propensities": GIVEN}
evaluate = partial(by_words, RANKS, TRUTHS)


def sides(users):
    lists, truths = map(list, zip(*users, strict=True))
    if not any(truths):
        truths[0] = {0}
    return lists, truths


@settings(max_examples=15)
@given(SEVERAL, P, st.integers(1, 8), st.sampled_from([None, 0.1]))
def test_sums_over_hits_are_the_definitions(users, p, k, clip):
    lists, truths = sides(users)
    p = dict(zip(IDS, p, strict=True))
    given, how = (lists, truths, oracle.weights(p, clip), k), {"propensities": p, "clip": clip}
    for weighting, names in (("snips", oracle.WORTH), ("ips", IPS)):
        asked = [*names, "psp", "psndcg"]
        found = by_words(lists, truths, k, metrics=asked, weighting=weighting, **how)
        expected = {name: getattr(oracle, weighting)(name, *given) for name in names}
        expected |= {name: getattr(oracle, name)(*given) for name in ("psp", "psndcg")}
        expected = {f"{name}@{k}": value for name, value in expected.items()}
        assert found.to_dict() == pytest.approx(expected, rel=1e-12, abs=1e-15)
        words = f"{oracle.effective(truths, given[2]):,.1f} of equal propensity"
        assert words in str(found)
        n_clipped = sum(p[item] < (clip or 0) for truth in truths for item in truth)
        assert found.exposed.clipped == n_clipped
        assert (f"{n_clipped} of them clipped at 0.1" in str(found)) == (clip is not None)


@settings(max_examples=12)
@given(ALONE, P, st.integers(1, 8))
def test_with_one_relevant_item_it_is_the_mean_of_users_with_its_weight(users, p, k):
    lists, truths = sides(users)
    p = dict(zip(IDS, p, strict=True))
    metrics = [*oracle.WORTH_ALONE, "precision", "f1"]
    found = tl.top_k_eval(lists, truths, k, metrics=metrics, propensities=p)
    for name in oracle.WORTH_ALONE:
        expected = oracle.snips(name, lists, truths, oracle.weights(p), k)
        assert found[f"{name}@{k}"] == pytest.approx(expected, rel=1e-12, abs=1e-15)
    weights = [1 / p[next(iter(truth))] if truth else 0 for truth in truths]
    plain = tl.top_k_eval(lists, truths, k, metrics=metrics, weights=weights)
    assert found.to_dict() == pytest.approx(plain.to_dict(), rel=1e-12, abs=1e-15)
    assert found.is_proportion("hit") and not found.graded
    hit, recall = found.interval(f"hit@{k}"), found.interval(f"recall@{k}")
    of_hit = plain.per_user(f"hit@{k}").tolist()
    rows = [intervals.Row(x, w=w) for x, w in zip(of_hit, weights, strict=True) if w]
    assert hit == pytest.approx(intervals.of_proportion(rows), rel=1e-9, nan_ok=True)
    assert recall == pytest.approx(found.interval(f"cg@{k}"), rel=1e-12, nan_ok=True)


def test_the_scale_of_propensities_is_none_of_snips_and_all_of_ips():
    half = {item: p / 2 for item, p in GIVEN.items()}
    one, other = (evaluate(**HOW | {"propensities": p}) for p in (GIVEN, half))
    assert one.to_dict() == pytest.approx(other.to_dict(), rel=1e-12)
    how = {"k": 2, "metrics": "dcg", "weighting": "ips"}
    one, other = (evaluate(propensities=p, **how) for p in (GIVEN, half))
    assert 2 * one["dcg@2"] == pytest.approx(other["dcg@2"], rel=1e-12)


def test_the_order_of_relevant_items_is_no_part_of_a_result():
    some = {f"i{at}": 1 / (at + 3) for at in range(40)}
    one = tl.top_k_eval([[*some]], [[*some]], k=7, metrics=SUMS, propensities=some)
    other = tl.top_k_eval([[*some]], [[*some][::-1]], k=7, metrics=SUMS, propensities=some)
    assert one == other and np.array_equal(one.weights, other.weights)
    hashes = (found.hits.about.truth_hashes for found in (one, other))
    assert np.array_equal(*hashes)


def test_what_is_relevant_twice_counts_once_and_what_is_judged_not_relevant_never():
    for weighting, metrics in (("snips", SUMS), ("ips", IPS)):
        how = {"k": 2, "metrics": metrics, "weighting": weighting, "propensities": GIVEN}
        plain = by_words([["a", "b"]], [["b", "c"]], **how)
        assert by_words([["a", "b"]], [["b", "c", "b"]], **how) == plain
        judged = by_words([["a", "b"]], [{"a": 0, "b": 1, "c": 1}], **how)
        assert judged.to_dict() == plain.to_dict()


@pytest.mark.parametrize("form", [*LIBRARIES, "Series"])
def test_forms_of_propensities(form):
    """That lists and truths are read in every form, file and part is in tests/properties."""
    if form == "Series":
        given = library("pandas").Series(GIVEN)
    else:
        given = frame_of(form, {"item_id": [*GIVEN], "p": [*GIVEN.values()]})
    assert evaluate(**HOW | {"propensities": given}) == evaluate(**HOW)


def test_places_of_an_array_or_a_list_are_the_ids():
    number, p = {item: at for at, item in enumerate(GIVEN)}, [*GIVEN.values()]
    sides = [{u: [number[i] for i in row] for u, row in one.items()} for one in (RANKS, TRUTHS)]
    expected = by_words(*sides, **HOW | {"propensities": dict(enumerate(p))})
    assert expected.to_dict() == evaluate(**HOW).to_dict()
    for form in (np.array(p), p):
        assert by_words(*sides, **HOW | {"propensities": form}) == expected


def test_parts_and_files():
    whole = evaluate(clip=0.1, **HOW)
    parts = [
        by_words(*({u: some[u] for u in half} for some in (RANKS, TRUTHS)), clip=0.1, **HOW)
        for half in ("uv", "wx")
    ]
    for merged in (sum(parts), sum(part.without_users() for part in parts)):
        assert merged.to_dict() == pytest.approx(whole.to_dict(), rel=1e-12)
        assert merged.exposed == pytest.approx(whole.exposed)
    for again in (through_a_file(whole), pickle.loads(pickle.dumps(whole))):
        assert again == whole and str(again) == str(whole) and again.exposed == whole.exposed
    assert content(whole)["propensities"]["weighting"] == "snips"
    assert content(whole)["propensities"]["clipped"] == 2
    for weighting, empty, words in (
        ("snips", "skip", "weighted is False in one and True"),
        ("ips", "zero", "weighting is None in one and 'ips' in the other"),
    ):
        how = {"k": [1, 2], "metrics": ["dcg"]}
        more = {"weighting": weighting, "propensities": GIVEN}
        pair = evaluate(empty=empty, **how), by_words({"z": ["a"]}, {"z": {"a"}}, **how, **more)
        said(words, sum, pair)


def test_weights_and_clusters():
    """That segments are evaluations of their users is in tests/properties."""
    twice = {**RANKS, "y": RANKS["x"]}, {**TRUTHS, "y": TRUTHS["x"]}
    weights = {"u": 1, "v": 1, "w": 1, "x": 2}
    weighed = evaluate(weights=weights, **HOW)
    assert weighed.to_dict() == pytest.approx(by_words(*twice, **HOW).to_dict(), rel=1e-12)
    own = {user: user for user in RANKS}
    by_rows, plain = (evaluate(clusters=one, **HOW) for one in (own, None))
    assert by_rows.to_dict() == plain.to_dict()
    assert by_rows.interval("psndcg@2") == plain.interval("psndcg@2")
    labels = {"u": "A", "v": "A", "w": "B", "x": "C"}
    clustered = evaluate(clusters=labels, **HOW)
    w, rows = oracle.weights(GIVEN), []
    both = 1 / math.log2(2) + 1 / math.log2(3)
    for user, truth in TRUTHS.items():
        ideal = 1.0 if len(truth) == 1 else both
        best = sorted((w[item] for item in truth), reverse=True)[:2]
        x = sum(w[i] / math.log2(r + 1) for r, i in oracle.hits(RANKS[user], truth, 2))
        y = sum(one / math.log2(r + 1) for r, one in enumerate(best, 1))
        weight = sum(w[item] for item in truth)
        rows.append(intervals.Row(x / ideal / weight, y / ideal / weight, weight, labels[user]))
    expected = intervals.of_clusters(rows)
    assert clustered.interval("psndcg@2") == pytest.approx(expected, rel=1e-9)
    many = by_words([*RANKS.values()] * 20, [*TRUTHS.values()] * 20, **HOW)
    low, high = intervals.of_estimate(rows * 20)
    assert 0 < low < high < 1 and many.interval("psndcg@2") == pytest.approx((low, high), rel=1e-9)


def test_comparing():
    how, other = HOW | {"k": 2}, {user: row[::-1] for user, row in RANKS.items()}
    pair = {"a": evaluate(**how), "b": by_words(other, TRUTHS, **how)}
    [test] = tl.compare(pair).test("recall@2")
    mean = pair["b"]["recall@2"] - pair["a"]["recall@2"]
    assert test.difference == pytest.approx(mean, rel=1e-9)
    said("psp@2 has no test: pooled, a ratio of sums", tl.compare(pair).test, "psp@2")
    near = GIVEN | {"a": 0.8}
    for weighting, metric in (("snips", "recall"), ("ips", "dcg")):
        how = {"k": 2, "metrics": metric, "weighting": weighting}
        pair = {name: evaluate(propensities=p, **how) for name, p in (("a", GIVEN), ("b", near))}
        said("cannot be tested: DIFFERENT PROPENSITIES: a: ", tl.compare(pair).test)
    how = {"k": 2, "metrics": "recall"}
    pair = {"plain": evaluate(**how), "weighed": evaluate(propensities=GIVEN, **how)}
    said("DIFFERENT CONVENTIONS", tl.compare(pair).test)


def test_what_the_result_says():
    found = evaluate(clip=0.1, **HOW)
    words = "relevant items count 1 / propensity (SNIPS, clipped at 0.1): weighted mean"
    assert words in str(found)
    words = found.formula("dcg")
    assert "gain_j: 1 / propensity of the j-th hit, over the sum of" in words
    assert "own definition" not in words and "the same in" not in words
    words = found.formula("psndcg")
    assert "ratio of weighted sums over users" in words
    assert "of each user both over the sum of 1 / log2(i+1) for i up to min(k,R)" in words
    how = {"k": 2, "metrics": "precision", "weighting": "ips"}
    words = evaluate(propensities=GIVEN, **how).formula("precision")
    assert "gain_j: 1 / propensity of the j-th hit\n" in words and "(IPS)" in words


def test_users_without_relevant_items_or_lists():
    ranks, truths = [["a"], ["b"], []], [{"a"}, set(), {"b"}]
    for empty in ("skip", "zero"):
        how = {"k": 1, "metrics": ["recall", "psp"], "propensities": GIVEN, "empty": empty}
        found = by_words(ranks, truths, **how)
        expected = (1 / 0.9) / (1 / 0.9 + 1 / 0.5)
        assert found.to_dict() == pytest.approx({"recall@1": expected, "psp@1": expected})
    nobody = tl.top_k_eval([["a"]], [set()], 1, metrics="recall", propensities=GIVEN)
    assert math.isnan(nobody["recall@1"]) and nobody.exposed.n == 0
    assert "0 relevant items count as much as 0.0" in str(nobody)


@pytest.mark.parametrize("weighting", ["ips", "snips"])
@pytest.mark.parametrize("weights", [None, [1, 2]])
def test_a_ratio_without_an_observed_item_is_nan(weighting, weights):
    p = tl.Propensities({"a": 0.5}, weighting=weighting)
    ranks, how = [["b"], ["a"]], {"metrics": ["psp", "psndcg"], "propensities": p}
    nobody = tl.top_k_eval(ranks, [set(), set()], 1, weights=weights, **how)
    assert all(map(math.isnan, nobody.to_dict().values()))
    found = tl.top_k_eval(ranks, [set(), {"a"}], 1, weights=weights, **how)
    assert found.to_dict() == {"psp@1": 1.0, "psndcg@1": 1.0}
    parts = found.by(["none", "one"])
    assert math.isnan(parts["none"]["psp@1"]) and parts["one"]["psp@1"] == 1.0
    assert tl.merge([nobody, found])["psp@1"] == 1.0


def test_propensities_of_counts():
    counts = {"a": 0, "b": 7, "c": 1000}
    for n, a, b in ((1000, 0.55, 1.5), (10**6, 0.5, 0.4), (1001, 0.6, 2.6)):
        found = tl.propensities.of_counts(counts, n, a=a, b=b)
        assert found == pytest.approx(oracle.of_counts(counts, n, a, b), rel=1e-14)
    assert tl.propensities.of_counts([0, 7], 50)[1] == tl.propensities.of_counts({1: 7}, 50)[1]
    for items, n, more, words in (
        ({"a": -1}, 9, {}, "counts: item 'a' has -1"),
        (counts, 2, {}, "n_users=2: log n - 1 must be positive"),
        (counts, 9, {}, "item 'c' has 1000 users of n_users=9"),
        ({"a": 1}, 9, {"a": 0}, "a=0, b=1.5: give positive numbers"),
    ):
        said(words, tl.propensities.of_counts, items, n, **more)


def refusals():
    """Yield options, or (ranks, truths) before them, with the one line that they are refused by."""
    one_of = "give a probability above 0, 1 at most, as {item: 0.2}"
    for wrong in (0, 1.5, -0.1, math.nan, math.inf, 1e-60):
        yield {"propensities": GIVEN | {"b": wrong}}, f"item 'b' has {wrong:g}: {one_of}"
    lacks = "propensities= lacks item 'c', relevant to user 'u': add {'c': p}"
    yield {"propensities": dict.fromkeys("abd", 1)}, lacks
    yield {"propensities": {1: 0.5}}, "ids of two kinds, 1 in propensities and ' ... ' in"
    yield {"propensities": {1: 0.5, "a": 1}}, "propensities"
    yield {"propensities": {}}, "propensities= is empty: give {item: p}"
    yield {"propensities": np.ma.array([0.5, 0.5])}, "propensities is a masked array"
    yield {"propensities": 0.5}, "propensities is a float: give a dict item -> number"
    for wrong in ("x", None):
        words = f"propensities must hold numbers: item 'a' has {wrong!r}"
        yield {"propensities": {"b": 0.5, "a": wrong}}, words
    yield {"clip": 0.0}, "clip=0.0: give the least p"
    yield {"clip": "a"}, "clip='a': give the least p"
    yield {"weighting": "dr"}, "weighting"
    yield {"propensities": None}, "psp needs propensities=: give {item: p}"
    pooled, one = "convention.replace(aggregate='pooled')", "convention.replace(empty='one')"
    yield {"aggregate": "pooled"}, f"propensities= does not go with {pooled}: leave it out"
    yield {"empty": "one"}, f"propensities= does not go with {one}: leave it out"
    yield {"unjudged": "drop"}, "propensities= does not go with unjudged='drop': leave it out"
    ways = "has no SNIPS estimate where a user has several relevant items, as user 'u'"
    for name in ("hit", "mrr", "map", "ndcg", "precision", "f1"):
        yield {"metrics": [name]}, f"{name} {ways}"
        if name != "precision":
            yield {"metrics": [name], "weighting": "ips"}, f"{name} has no IPS estimate"
    yield {"metrics": "recall", "weighting": "ips"}, "recall has no IPS estimate: it hangs on how"
    for name in ("err", "bpref", "r_precision", "judged", "alpha_ndcg", "recall(rel=2)"):
        yield {"metrics": name}, f"{name.partition('(')[0]} ... takes no propensities"


@pytest.mark.parametrize(("wrong", "words"), list(refusals()))
def test_refused(wrong, words):
    said(words, evaluate, **HOW | {"metrics": ["recall", "psp"]} | wrong)


def test_refused_truths_and_results():
    how = {"k": 2, "metrics": "recall", "propensities": GIVEN}
    graded = {user: dict.fromkeys(truth, 2) for user, truth in TRUTHS.items()}
    words = "does not go with grades other than 1:  ... gains={grade"
    said(words, by_words, RANKS, graded, **how)
    expected = evaluate(**how)
    assert by_words(RANKS, graded, gains={2: 1}, **how).to_dict() == expected.to_dict()
    for truths in (tl.Groups([[["a"]]]), None):
        sides = ([["a"]], truths) if truths else (tl.Hits.from_ranks([1], 2),)
        said("give weights={user: 1 / p}", by_words, *sides, **how)
    said("is not split by item", expected.by_item, {"a": "A"})
    said("bounds need the propensities of unjudged items", expected.bounds, "recall@2")
    for columns, words in (
        ({"item_id": ["a", "a"], "p": [1, 1]}, "item 'a' has two rows"),
        ({"item": ["a"], "p": [1]}, "item_id"),
        ({"item_id": ["a"], "p": [1], "q": [1]}, "found: ['item_id', 'p'"),
    ):
        said(words, evaluate, **how | {"propensities": frame_of("pandas", columns)})


def test_other_propensities_are_neither_compared_nor_merged():
    """Also where the sums of 1 / p of every user are the same."""
    lists, truths = {"u1": ["a"], "u2": ["d"]}, {"u1": {"a", "c"}, "u2": {"d"}}
    given = {"a": 0.8, "c": 0.25, "d": 0.1}
    other = given | {"a": 0.25, "c": 0.8}

    def evaluated(p, lists=lists, truths=truths):
        return tl.top_k_eval(lists, truths, 2, metrics=["recall", "psp"], propensities=p)

    one, two = evaluated(given), evaluated(other)
    words = "cannot be tested: DIFFERENT PROPENSITIES: a: "
    said(words, tl.compare({"a": one, "b": two}).test, "recall@2")
    more = evaluated(other, {"z": ["a"]}, {"z": {"a"}})
    said("cannot merge: propensities is ", tl.merge, one, more)
    same = evaluated(dict(reversed(given.items())))
    tests = tl.compare({"a": one, "b": same}).test()
    assert tests.names == ["recall@2"]
    assert "not tested: psp@2: pooled, a ratio of sums over users" in str(tests)
    assert "DIFFERENT" not in str(tl.compare({"a": one, "b": same}))


# Who counts under IPS

OBSERVED = {"u": ["a"], "y": ["b"]}  # of w, z and v nothing was observed, y has no list
LISTED = {"u": ["a", "d"], "v": ["b"], "w": ["c", "a"], "z": ["d"]}
EVERYBODY = {"k": 2, "metrics": ["cg", "dcg", "precision"], "weighting": "ips"} | {
    "propensities": {"a": 0.5, "b": 0.25, "c": 1.0, "d": 0.2}
}


def test_under_ips_systems_are_compared_over_the_users_of_all():
    """b has lists for u, y and o: 1 / .5 and 1 / .25 among the six users of both."""
    lists = {"u": ["d", "a"], "y": ["b"], "o": ["a"]}
    results = {"a": LISTED, "b": lists}
    results = {name: by_words(one, OBSERVED, **EVERYBODY) for name, one in results.items()}
    both = tl.compare(results)
    assert "DIFFERENT USERS" not in str(both)
    assert both.results["a"]["cg@2"] == pytest.approx(2 / 6)
    assert both.results["b"]["cg@2"] == pytest.approx(6 / 6)
    row = both.test("cg@2")[0]
    assert (row.n, row.difference) == (6, pytest.approx(4 / 6))
    assert results["a"]["cg@2"] == pytest.approx(2 / 5)  # as it was


def test_what_cannot_know_who_counts_under_ips_is_refused():
    words = "weighting='ips') does not go with  ... empty='skip'"
    said(words, by_words, LISTED, OBSERVED, **EVERYBODY, empty="skip")
    words = "counts the users with a list alone,  ...  its 3: give the lists"
    said(words, by_words, tl.match(LISTED, OBSERVED), **EVERYBODY)


def test_ips_is_unbiased_where_few_are_observed():
    """Over samples of what is observed, by more than four standard errors where users are lost."""
    rng = np.random.default_rng(3)
    p = {item: float(one) for item, one in enumerate(np.linspace(0.5, 0.1, 40))}
    relevant = {user: rng.choice(40, 2, replace=False).tolist() for user in range(60)}
    lists = {user: rng.choice(40, 5, replace=False).tolist() for user in range(60)}
    truth = tl.top_k_eval(lists, relevant, metrics="precision@5")["precision@5"]
    often = [(user, n) for n in range(300) for user in relevant]
    seen = {key: [i for i in relevant[key[0]] if rng.random() < p[i]] for key in often}
    seen = {key: row for key, row in seen.items() if row}  # rows of what was observed
    given = {key: lists[key[0]] for key in often}
    how = {"propensities": p, "weighting": "ips", "metrics": "precision@5"}
    values = by_words(given, seen, **how).per_user("precision@5", keyed=True)
    found = np.array([values[key] for key in often]).reshape(300, 60).mean(axis=1)
    error = np.std(found, ddof=1) / len(found) ** 0.5
    assert abs(np.mean(found) - truth) < 4 * error
    assert error < truth / 20


def test_intervals_of_snips_are_cut_where_no_relevant_item_counts_more_than_its_weight():
    lists = {"a": [1, 2], "b": [2, 3], "c": [3, 4], "d": [4, 1]}
    truths, p = {"a": [1, 2], "b": [3, 2], "c": [3], "d": [2]}, {1: 0.5, 2: 0.1, 3: 0.25, 4: 0.3}
    found = tl.top_k_eval(lists, truths, 2, metrics=["recall", "cg", "dcg"], propensities=p)
    assert found.interval("cg@2") == found.interval("recall@2") == (0, 1)
    assert found.interval("dcg@2") == (0, 1)
