"""Beyond accuracy: formulas, figures from outside, forms of input, errors, merging."""

import json
import math
import pickle
import sys

import cases
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from listwise import listwise
from oracle import beyond as oracle

import toplist as tl
from toplist import beyond

LISTS = [[5, 7, 3], [4, 5, 2], [2, 3, 5], [1, 4, 6], [5, 3, 7]]
EXPOSURE = beyond.exposure(LISTS, catalogue=8)
NAN = float("nan")


def same(found, expected, tolerance=1e-12):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


# Figures from outside


def test_the_matrix_that_libraries_disagree_about():
    assert listwise.item_coverage(LISTS, catalogue=8)[-1] == 0.875
    assert listwise.gini(LISTS, catalogue=8)[-1] == pytest.approx(0.341667, abs=5e-7)
    elliot = 1 - listwise.gini(LISTS, catalogue=8, divisor="n-1")[-1]
    assert elliot == pytest.approx(0.609524, abs=5e-7)
    evidently = listwise.gini(LISTS, over="recommended", divisor="n-1")[-1]
    assert evidently == pytest.approx(0.288889, abs=5e-7)
    assert listwise.shannon_entropy(LISTS)[-1] == pytest.approx(1.841390, abs=5e-7)
    assert listwise.shannon_entropy(LISTS, unit="bits")[-1] == pytest.approx(2.656565, abs=5e-7)
    recbole = listwise.shannon_entropy(LISTS, normalised="recbole")[-1]
    assert recbole == pytest.approx(0.263056, abs=5e-7)


PEERS = {  # of other projects' metrics: the function here, and its options for a case
    "item_coverage": (listwise.item_coverage, lambda c: {"catalogue": c["num_items"]}),
    "gini_index": (listwise.gini, lambda c: {"catalogue": c["num_items"]}),
    "shannon_entropy": (listwise.shannon_entropy, lambda c: {"normalised": "recbole"}),
    "average_popularity": (
        listwise.average_popularity,
        lambda c: {"counts": whole_keys(c["item_count"]), "unknown": 0},
    ),
    "tail_percentage": (
        listwise.tail_percentage,
        lambda c: (
            {"counts": whole_keys(c["item_count"]), "unknown": "head"} | {"share": c["tail_ratio"]}
        ),
    ),
    "avg_rec_popularity": (
        listwise.average_popularity,
        lambda c: {"counts": c["item_count"]},
    ),
    "mean_inv_user_freq": (
        listwise.novelty,
        lambda c: (
            {"counts": buyers(c["train"]), "total": len(c["train"]), "unknown": 1} | {"k": c["k"]}
        ),
    ),
    "intra_list_diversity": (
        listwise.intra_list_diversity,
        lambda c: {"features": c["features"], "distance": "hamming", "unknown": "nan"},
    ),
    "coverage": (listwise.item_coverage, lambda c: {"catalogue": c["catalog"], "unknown": "skip"}),
    "popularity": (
        listwise.average_popularity,
        lambda c: {"counts": {i: n / len(c["train"]) for i, n in buyers(c["train"]).items()}},
    ),
    "novelty": (
        listwise.novelty,
        lambda c: {"counts": whole_keys(c["item_count"]), "total": c["n_users"]},
    ),
}


def whole_keys(counts):
    return {int(item): count for item, count in counts.items()}


def buyers(train):
    counts = {}
    for items in train.values():
        for item in items:
            counts[item] = counts.get(item, 0) + 1
    return counts


def peer_cases():
    path = cases.FOLDER / "recsys_cases.json"
    sources = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return [source for source in sources if source["metric"] in PEERS]


@pytest.mark.skipif(not peer_cases(), reason="no cases beside the repository")
def test_there_are_cases_of_recbole_and_others():
    assert len(peer_cases()) >= 11
    assert {case["peer"] for case in peer_cases()} >= {"RecBole", "RecTools", "rs_metrics"}


@pytest.mark.parametrize("case", peer_cases(), ids=lambda c: f"{c['peer']}-{c['metric']}")
def test_figures_of_other_projects(case):
    expected = np.array(case["expected"], float)  # null is NaN
    function, options = PEERS[case["metric"]]
    found = function(case["ranks"], **options(case))
    if found.ndim > expected.ndim:
        found = found[..., -1]  # at k
    same(found if found.ndim == expected.ndim else found.mean(), expected, case["tolerance"])


# Against plain Python

IDS = range(7)
LISTS_OF_IDS = st.lists(st.lists(st.sampled_from(IDS), unique=True, max_size=6), max_size=6)
DEPTHS = st.one_of(st.none(), st.integers(1, 8))


def depth_of(lists, k):
    return k or max(map(len, lists), default=0)


def curve(function, lists, k, *rest):
    return [function(lists, one, *rest) for one in range(1, depth_of(lists, k) + 1)]


POPULATION = [  # functions, options, formulas, and what these take after k
    (listwise.personalisation, {}, oracle.personalisation, ()),
    (listwise.shannon_entropy, {}, oracle.shannon_entropy, ()),
    (listwise.shannon_entropy, {"unit": "bits"}, oracle.shannon_entropy, (2,)),
    (listwise.shannon_entropy, {"normalised": "recbole"}, oracle.recbole_entropy, ()),
]


@settings(deadline=None)
@given(LISTS_OF_IDS, DEPTHS)
@example([], 2)
@example([[], []], 2)
@example([[1], [2, 3]], 5)
def test_population_metrics_are_the_formulas(lists, k):
    exposure = beyond.exposure(lists, k, catalogue=IDS)
    for source, at, options in ((exposure, None, {}), (lists, k, {"catalogue": 7})):
        found = listwise.item_coverage(source, at, **options)
        assert found.tolist() == curve(oracle.item_coverage, lists, k, IDS)
        for divisor in ("n", "n-1"):
            for over, items in (("catalogue", IDS), ("recommended", None)):
                found = listwise.gini(source, at, over=over, divisor=divisor, **options)
                same(found, curve(oracle.gini, lists, k, items, divisor))
        for function, more, formula, rest in POPULATION:
            same(function(source, at, **more, **options), curve(formula, lists, k, *rest))


def per_user(lists, k, value):
    """Return value(user, list, k) at every depth, as an array of users x depths."""
    depths = range(1, depth_of(lists, k) + 1)
    rows = [[value(user, one, at) for at in depths] for user, one in enumerate(lists)]
    return np.reshape(rows, (len(lists), len(depths)))


@settings(deadline=None)
@given(LISTS_OF_IDS, DEPTHS, st.lists(st.integers(0, 9), min_size=7, max_size=7))
@example([], 2, [1] * 7)
@example([[], [0]], 3, [1] * 7)
def test_item_values_are_the_formulas(lists, k, numbers):
    counts = dict(zip(IDS, numbers, strict=True))
    del counts[6]

    def means(value):
        return per_user(lists, k, lambda user, one, at: oracle.mean_of(one, at, value))

    options = {"counts": counts}
    found = listwise.average_popularity(lists, k, unknown=0, **options)
    same(found, means(lambda item: counts.get(item, 0)))
    if {item for one in lists for item in one[:k]} != {6}:  # no other is an error
        same(listwise.average_popularity(lists, k, unknown="skip", **options), means(counts.get))
    for tail in ({"share": 0.3}, {"max_count": 4}):
        items = oracle.recbole_tail(counts, *tail.values())
        found = listwise.tail_percentage(lists, k, unknown="head", **tail, **options)
        same(found, means(items.__contains__))
    found = listwise.novelty(lists, k, total=10, unknown=1, **options)
    same(found, means(lambda item: -math.log2((counts.get(item) or 1) / 10)))


DISTANCES = {
    "cosine": oracle.cosine_distance,
    "hamming": oracle.hamming_distance,
    "euclidean": math.dist,
}
VECTORS = st.lists(st.integers(-2, 2), min_size=3, max_size=3)


@settings(deadline=None)
@given(LISTS_OF_IDS, DEPTHS, st.lists(VECTORS, min_size=7, max_size=7))
def test_diversity_is_the_formula(lists, k, vectors):
    features = dict(zip(IDS, vectors, strict=True))
    del features[6]
    options = {"features": features, "single": 0.25, "unknown": "skip"}
    if {item for one in lists for item in one[:k]} == {6}:
        with pytest.raises(ValueError, match="no item of ranks is in features: it has 0, ranks ha"):
            listwise.intra_list_diversity(lists, k, **options)
        return
    for name, distance in DISTANCES.items():

        def value(_, one, at, distance=distance):
            return oracle.intra_list_diversity(one, at, features, distance, single=0.25)

        found = listwise.intra_list_diversity(lists, k, distance=name, **options)
        same(found, per_user(lists, k, value))


@settings(deadline=None)
@given(
    st.lists(st.tuples(*[st.lists(st.sampled_from(IDS), unique=True, max_size=5)] * 3), max_size=5)
)
def test_serendipity_is_the_formula(users):
    lists, truths, baselines = ([user[i] for user in users] for i in range(3))

    def value(u, one, at):
        return oracle.serendipity(one, truths[u], at, baselines[u]) if truths[u] else NAN

    def unexpected(u, one, at):
        return oracle.mean_of(one, at, lambda item: item not in baselines[u])

    found = listwise.serendipity(lists, truths, expected=baselines)
    same(found, per_user(lists, None, value))
    found = listwise.unexpectedness(lists, expected=baselines)
    same(found, per_user(lists, None, unexpected))


def test_serendipity_by_other_divisors_and_keys():
    ranks, truths = {"a": [1, 2, 3], "b": [4]}, {"b": {4}, "a": {1, 3}}
    baseline = {"a": [1], "c": [9]}  # of b nothing was to be expected
    options = {"expected": baseline}
    assert listwise.serendipity(ranks, truths, **options).round(4).tolist() == [
        [1.0, 0.5, 0.3333],
        [0.0, 0.0, 0.3333],
    ]
    assert listwise.serendipity(ranks, truths, divisor="n", **options)[0].tolist() == [1, 1, 1]
    found = listwise.serendipity(ranks, truths, divisor="unexpected", **options)
    assert found.tolist() == [[1, 1, 1], [0, 0, 0.5]]
    everyone = listwise.serendipity(ranks, truths, expected={4})
    assert everyone[0].tolist() == [0, 0, 0]


# Relations


def random_lists(n_users=500, n_items=60, length=20, seed=0):
    rng = np.random.default_rng(seed)
    return np.argsort(rng.random((n_users, n_items)), axis=1)[:, :length]


def bits(exposure):
    curves = exposure.curves
    return [curve.tobytes() for curve in curves]


def test_neither_threads_nor_the_order_of_users_leave_a_trace(monkeypatch):
    from toplist import parallel

    lists = random_lists()
    whole = beyond.exposure(lists, catalogue=60, n_threads=1)
    shuffled = beyond.exposure(lists[::-1].copy(), catalogue=60, n_threads=1)
    monkeypatch.setattr(parallel, "BLOCK", 64)
    assert bits(whole) == bits(shuffled) == bits(beyond.exposure(lists, catalogue=60, n_threads=4))
    counts = np.arange(60)
    one, four = (listwise.average_popularity(lists, counts=counts, n_threads=n) for n in (1, 4))
    assert one.tobytes() == four.tobytes()


@settings(deadline=None)
@given(st.integers(0, 5), st.integers(0, 5))
def test_parts_add_up(a, b):
    lists = random_lists(a + b, 12, 5, seed=a)
    options = {"catalogue": 12, "k": 6}
    whole = beyond.exposure(lists, **options)
    parts = [beyond.exposure(part, **options) for part in (lists[:a], lists[a:])]
    assert bits(sum(parts)) == bits(whole)
    assert bits(pickle.loads(pickle.dumps(whole))) == bits(whole)
    assert bits(pickle.loads(pickle.dumps(parts[0])) + parts[1]) == bits(whole)


def test_large_counts_give_the_same_bits_as_small_ones(monkeypatch):
    module = sys.modules["toplist.beyond.exposure"]  # the function hides it

    lists = random_lists(40, 30, 10)
    parts = [beyond.exposure(lists[u::4], 12, catalogue=30) for u in range(4)]
    usual = bits(sum(parts))
    monkeypatch.setattr(module, "LARGE", 0)
    assert bits(sum(parts)) == usual


def test_an_array_is_a_loop_and_a_slice_is_the_metric_at_k():
    lists = random_lists(30, 40, 8)
    counts, features = np.arange(40), np.random.default_rng(0).random((40, 3))
    for function, options in (
        (listwise.average_popularity, {"counts": counts}),
        (listwise.novelty, {"counts": counts + 1}),
        (listwise.tail_percentage, {"counts": counts}),
        (listwise.intra_list_diversity, {"features": features}),
        (listwise.unexpectedness, {"expected": {1, 2, 3}}),
    ):
        whole = function(lists, **options)
        assert whole.shape == (30, 8)
        same(function(lists, 5, **options), whole[:, :5], 0)
        for ranked, row in zip(lists, whole, strict=True):
            same(function(ranked, **options), row, 0)  # one bare user: (K,)
    for function in (listwise.item_coverage, listwise.gini, listwise.shannon_entropy):
        whole = function(lists, catalogue=40)
        same(function(lists, 5, catalogue=40), whole[:5], 0)


# Extreme inputs


def test_nobody_and_one_user_with_one_item():
    assert listwise.gini({}, catalogue=3).shape == (0,)
    assert listwise.item_coverage([[0]], catalogue=1).tolist() == [1.0]
    assert listwise.gini([[0]], catalogue=1).tolist() == [0.0]
    assert listwise.gini([[0]], catalogue=1, divisor="n-1").tolist() == [0.0]
    assert listwise.shannon_entropy([[0]]).tolist() == [0.0]
    for over in ("catalogue", "recommended"):
        assert listwise.shannon_entropy([[0]], catalogue=1, normalised=over).tolist() == [0.0]
    assert listwise.tail_percentage([[0]], counts=[5]).tolist() == [[1.0]]


def test_all_users_the_same_list():
    lists = np.tile(np.arange(4), (1000, 1))
    assert listwise.gini(lists, over="recommended").tolist() == [0, 0, 0, 0]
    assert listwise.gini(lists, catalogue=4, divisor="n-1").tolist()[0] == 1.0
    assert listwise.personalisation(lists).tolist() == [0, 0, 0, 0]
    found = listwise.shannon_entropy(lists, catalogue=8, normalised="recommended")
    assert found.tolist() == [0, 1, pytest.approx(1, abs=1e-15), 1]


def test_one_long_list_among_many_short_ones():
    lists = [list(range(20_000)), *([u] for u in range(5_000))]
    exposure = beyond.exposure(lists, catalogue=20_000)
    assert exposure.curves.total[[0, -1]].tolist() == [5_001, 25_000]
    assert exposure.curves.covered[[0, 4_999, -1]].tolist() == [5_000, 5_000, 20_000]
    x = np.sort(np.where(np.arange(20_000) < 5_000, 2, 1))
    i = np.arange(1, 20_001)
    same(listwise.gini(exposure)[-1], ((2 * i - 20_001) * x).sum() / (20_000 * x.sum()))


# Errors


WRONG_VALUES = [
    (lambda: listwise.item_coverage(LISTS), r"item_coverage needs toplist.Items\(catalogue="),
    (lambda: listwise.gini(LISTS), r"gini needs toplist.Items\(catalogue="),
    (
        lambda: listwise.shannon_entropy(LISTS, normalised="catalogue"),
        r"=catalogue\) needs toplist.Items\(catalogue=",
    ),
    (
        lambda: listwise.item_coverage({"ann": [1, 9], "bob": [9]}, catalogue=8),
        r"user 'ann' lists item 9 at rank 2, .* in catalogue \(2 such places\); unknown='skip'",
    ),
    (
        lambda: listwise.average_popularity([["a", "z"]], counts={"a": 1}),
        "user 0 lists item 'z' at rank 2, which is not in counts .*; unknown='skip'",
    ),
    (
        lambda: listwise.novelty([["a"]], counts={"a": 0, "b": 1}),
        "item 'a' at rank 1, .* unknown='skip' .* a count of 0 is none",
    ),
    (
        lambda: listwise.intra_list_diversity([[5]], features={1: [1]}),
        "item 5 at rank 1, which is not in features .*unknown=nan.* gives NaN",
    ),
    (
        lambda: listwise.gini([[1, 2], [3, 4, 3]], catalogue=8),
        "user 1 has item 3 at ranks 1 and 3: .*duplicates='first'",
    ),
    (lambda: listwise.item_coverage(LISTS, catalogue=True), "catalogue must be"),
    (lambda: listwise.item_coverage(LISTS, catalogue=0), "catalogue must be at least 1"),
    (lambda: listwise.gini(LISTS, catalogue=8, over="all"), "over='all': choose from"),
    (lambda: listwise.gini(LISTS, catalogue=8, divisor="N"), "divisor='N'"),
    (lambda: listwise.gini(LISTS, catalogue=8, unknown="zero"), "takes over, divisor, not unknown"),
    (lambda: listwise.gini(LISTS, catalogue=8, k=0), "k must be at least 1"),
    (lambda: listwise.shannon_entropy(LISTS, unit="dits"), "unit='dits'"),
    (lambda: listwise.gini(EXPOSURE, 4), "k=4 is deeper than this Exposure was read to, k=3"),
    (lambda: listwise.average_popularity(LISTS, counts={5: -1}), "counts: item 5 has -1"),
    (
        lambda: listwise.average_popularity(LISTS, counts=[1], unknown=-1),
        "unknown must be a finite number from 0 on, not -1",
    ),
    (
        lambda: listwise.tail_percentage(LISTS, counts=[1], share=0.1, max_count=3),
        "the tail is given twice",
    ),
    (lambda: listwise.tail_percentage(LISTS, counts=[1], share=2), "share must"),
    (lambda: listwise.tail_percentage(LISTS, counts=[1], n_items=0), "n_items"),
    (
        lambda: listwise.tail_percentage(LISTS, counts=[1], unknown="zero"),
        "choose from 'tail', 'head'",
    ),
    (lambda: listwise.novelty(LISTS, counts=[1], total=0), "total must be"),
    (
        lambda: listwise.novelty(LISTS, counts=[1], unknown=0),
        "unknown must be .* above 0, not 0",
    ),
    (
        lambda: listwise.intra_list_diversity(LISTS, features={1: [1], 2: [1, 2]}),
        "item 1 has 1 numbers, item 2 2",
    ),
    (lambda: listwise.intra_list_diversity(LISTS, features=[[NAN]]), "item 0 .* is not finite"),
    (lambda: listwise.intra_list_diversity(LISTS, features=[[1]], distance="L3"), "distance='L3'"),
    (lambda: listwise.serendipity(LISTS, LISTS, expected=LISTS, divisor="R"), "divisor='R'"),
    (lambda: listwise.item_coverage(LISTS, catalogue=[1, -1], padding=-1), "the padding id -1"),
    (lambda: EXPOSURE + beyond.exposure(LISTS, 1, catalogue=8), "to k=3 and to k=1 do not merge"),
    (lambda: EXPOSURE + beyond.exposure(LISTS, catalogue=9), "two catalogues do not merge"),
    (
        lambda: beyond.exposure(LISTS) + beyond.exposure(LISTS),
        "stated catalogue only: give catalogue=",
    ),
]
WRONG_TYPES = [
    (lambda: listwise.item_coverage([["a"]], catalogue=3), "'a' in ranks and 0 in catalogue"),
    (lambda: listwise.item_coverage([[0.5]], catalogue=3), "0.5 is a float, never an id"),
    (lambda: listwise.item_coverage(LISTS, catalogue="abc"), "catalogue is a str: give"),
    (
        lambda: listwise.item_coverage(tl.match([[1]], [[1]]), catalogue=8),
        "a Hits holds no ids",
    ),
    (lambda: listwise.item_coverage({1, 2}, catalogue=8), "has no ranking"),
    (lambda: listwise.gini(EXPOSURE, catalogue=9), "it takes no items"),
    (lambda: listwise.average_popularity(LISTS, counts="abc"), "give a dict item -> number"),
    (lambda: listwise.average_popularity(LISTS, counts={5: "1"}), "must hold numbers"),
    (
        lambda: listwise.intra_list_diversity(LISTS, features=[1, 2]),
        "item -> vector, .* or a 2-D",
    ),
    (lambda: EXPOSURE + 1, "Exposure"),
]


@pytest.mark.parametrize(("call", "words"), WRONG_VALUES + WRONG_TYPES)
def test_what_is_refused(call, words):
    error = TypeError if (call, words) in WRONG_TYPES else ValueError
    with pytest.raises(error, match=words):
        call()


def test_inputs_are_not_changed():
    lists = np.array(LISTS)
    lists.flags.writeable = False
    listwise.gini(lists, catalogue=6, unknown="skip", duplicates="first")
    assert lists.tolist() == LISTS


@pytest.mark.parametrize("n_threads", [1, 2])
def test_long_ragged_lists_are_the_formulas(n_threads):
    rng = np.random.default_rng(3)
    popular = 1 / np.arange(1, 61)
    lists = [
        rng.choice(60, size, replace=False, p=popular / popular.sum()).tolist()
        for size in rng.integers(0, 41, 120)
    ]
    exposure = beyond.exposure(lists, catalogue=60, n_threads=n_threads)
    depth = max(map(len, lists))
    assert exposure.k == depth > 30
    known = range(0, 60, 2)
    half = beyond.exposure(lists, catalogue=known, unknown="skip", n_threads=n_threads)
    for k in range(1, depth + 1):
        assert listwise.item_coverage(exposure)[k - 1] == oracle.item_coverage(lists, k, range(60))
        same(listwise.gini(exposure)[k - 1], oracle.gini(lists, k, range(60)))
        same(listwise.shannon_entropy(exposure)[k - 1], oracle.shannon_entropy(lists, k))
        same(listwise.gini(half)[k - 1], oracle.gini(lists, k, known))
    same(listwise.personalisation(exposure)[19], oracle.personalisation(lists, 20))
    merged = sum(beyond.exposure(lists[u::3], depth, catalogue=60) for u in range(3))
    assert bits(merged) == bits(exposure)


def test_ids_that_outgrow_their_first_table():
    rng = np.random.default_rng(0)
    ids = rng.integers(-(2**62), 2**62, 300_000)
    found = beyond.exposure(ids.reshape(3_000, 100))
    assert found.curves.covered[-1] == found.n_items == len(np.unique(ids))


def test_ties_of_the_tail_fall_alike_for_numbers_and_their_text():
    counts, lists = {1: 5, 2: 1, 10: 1}, [[2, 10], [10, 1]]
    numbers = listwise.tail_percentage(lists, counts=counts, n_items=1)
    text = listwise.tail_percentage(
        [list(map(str, row)) for row in lists],
        counts={str(item): count for item, count in counts.items()},
        n_items=1,
    )
    assert numbers.tolist() == text.tolist() == [[1.0, 0.5], [0.0, 0.0]]


def test_repeats_of_unknown_items_are_left_out_or_refused():
    lists, first = [["a", "z", "z", "y"]], {"duplicates": "first"}
    counts = {"counts": {"a": 6}}
    popularity = listwise.average_popularity(lists, **counts, unknown=0, **first)
    assert popularity.tolist() == [[6, 3, 3, 2]]
    numbers = listwise.average_popularity([[0, 7, 7, 9]], counts=[6], unknown=0, **first)
    assert numbers.tolist() == [[6, 3, 3, 2]]
    novelty = listwise.novelty(lists, counts={"a": 8, "z": 0}, total=8, unknown=1, **first)
    assert novelty.tolist() == [[0, 1.5, 1.5, 2]]
    options = {"counts": {"a": 9, "b": 1}, "n_items": 1, "unknown": "tail"}
    tail = listwise.tail_percentage(lists, **options, **first)
    assert tail.tolist() == [[0, 1 / 2, 1 / 2, 2 / 3]]
    for unknown in (0, "skip"):
        with pytest.raises(ValueError, match="user 0 has item 'z' at ranks 2 and 3"):
            listwise.average_popularity(lists, **counts, unknown=unknown)
