"""Beyond accuracy: formulas, figures from outside, forms of input, errors, merging."""

import json
import math
import pickle
import sys

import cases
import numpy as np
import oracle_beyond as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import toplist as tl
from toplist import beyond

LISTS = [[5, 7, 3], [4, 5, 2], [2, 3, 5], [1, 4, 6], [5, 3, 7]]
NAN = float("nan")


def same(found, expected, tolerance=1e-12):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


# Figures from outside


def test_the_matrix_that_libraries_disagree_about():
    assert beyond.item_coverage(LISTS, catalogue=8)[-1] == 0.875
    assert beyond.gini(LISTS, catalogue=8)[-1] == pytest.approx(0.341667, abs=5e-7)
    elliot = 1 - beyond.gini(LISTS, catalogue=8, divisor="n-1")[-1]
    assert elliot == pytest.approx(0.609524, abs=5e-7)
    evidently = beyond.gini(LISTS, over="recommended", divisor="n-1")[-1]
    assert evidently == pytest.approx(0.288889, abs=5e-7)
    assert beyond.shannon_entropy(LISTS)[-1] == pytest.approx(1.841390, abs=5e-7)
    assert beyond.shannon_entropy(LISTS, unit="bits")[-1] == pytest.approx(2.656565, abs=5e-7)
    recbole = beyond.shannon_entropy(LISTS, variant="recbole")[-1]
    assert recbole == pytest.approx(0.263056, abs=5e-7)


PEERS = {
    "item_coverage": lambda c: beyond.item_coverage(c["ranks"], catalogue=c["num_items"])[-1],
    "gini_index": lambda c: beyond.gini(c["ranks"], catalogue=c["num_items"])[-1],
    "shannon_entropy": lambda c: beyond.shannon_entropy(c["ranks"], variant="recbole")[-1],
    "average_popularity": lambda c: beyond.average_popularity(
        c["ranks"], item_counts=whole_keys(c["item_count"]), unknown=0
    ),
    "tail_percentage": lambda c: beyond.tail_percentage(
        c["ranks"],
        item_counts=whole_keys(c["item_count"]),
        share=c["tail_ratio"],
        unknown="head",
    ),
    "avg_rec_popularity": lambda c: beyond.average_popularity(
        c["ranks"], c["k"], item_counts=c["item_count"]
    )[:, -1],
    "mean_inv_user_freq": lambda c: beyond.novelty(
        c["ranks"], c["k"], item_counts=buyers(c["train"]), total=len(c["train"]), unknown=1
    )[:, -1],
    "intra_list_diversity": lambda c: beyond.intra_list_diversity(
        c["ranks"], c["k"], features=c["features"], distance="hamming", unknown="nan"
    )[:, -1],
    "coverage": lambda c: beyond.item_coverage(c["ranks"], catalogue=c["catalog"], unknown="skip")[
        -1
    ],
    "popularity": lambda c: beyond.average_popularity(
        c["ranks"],
        item_counts={i: n / len(c["train"]) for i, n in buyers(c["train"]).items()},
    )[:, 0].mean(),
    "novelty": lambda c: beyond.novelty(
        c["ranks"], item_counts=whole_keys(c["item_count"]), total=c["n_users"]
    )[:, -1].mean(),
    "distributional_coverage": lambda c: beyond.shannon_entropy(c["ranks"], unit="bits")[-1],
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
    same(PEERS[case["metric"]](case), expected, case["tolerance"])


# Against plain Python

IDS = range(7)
LISTS_OF_IDS = st.lists(st.lists(st.sampled_from(IDS), unique=True, max_size=6), max_size=6)
DEPTHS = st.one_of(st.none(), st.integers(1, 8))


def depth_of(lists, k):
    return k or max(map(len, lists), default=0)


def curve(function, lists, k, *rest):
    return [function(lists, one, *rest) for one in range(1, depth_of(lists, k) + 1)]


@settings(deadline=None)
@given(LISTS_OF_IDS, DEPTHS)
def test_population_metrics_are_the_formulas(lists, k):
    exposure = beyond.exposure(lists, k, catalogue=IDS)
    for source, options in ((exposure, {}), (lists, {"catalogue": 7})):
        depth = None if source is exposure else k
        found = beyond.item_coverage(source, depth, **options)
        assert found.tolist() == curve(oracle.item_coverage, lists, k, IDS)
        for divisor in ("n", "n-1"):
            same(
                beyond.gini(source, depth, divisor=divisor, **options),
                curve(oracle.gini, lists, k, IDS, divisor),
            )
            same(
                beyond.gini(source, depth, over="recommended", divisor=divisor, **options),
                curve(oracle.gini, lists, k, None, divisor),
            )
        same(
            beyond.shannon_entropy(source, depth, **options),
            curve(oracle.shannon_entropy, lists, k),
        )
        same(
            beyond.shannon_entropy(source, depth, unit="bits", **options),
            curve(oracle.shannon_entropy, lists, k, 2),
        )
        same(
            beyond.shannon_entropy(source, depth, variant="recbole", **options),
            curve(oracle.recbole_entropy, lists, k),
        )
        same(
            beyond.personalisation(source, depth, **options),
            curve(oracle.personalisation, lists, k),
        )


@settings(deadline=None)
@given(LISTS_OF_IDS, DEPTHS, st.lists(st.integers(0, 9), min_size=7, max_size=7))
def test_item_values_are_the_formulas(lists, k, numbers):
    counts = dict(zip(IDS, numbers, strict=True))
    del counts[6]
    depths = range(1, depth_of(lists, k) + 1)

    def users(value):
        return [[oracle.mean_of(one, at, value) for at in depths] for one in lists]

    shape = len(lists), len(depths)
    found = beyond.average_popularity(lists, k, item_counts=counts, unknown=0)
    same(found, np.reshape(users(lambda i: counts.get(i, 0)), shape))
    found = beyond.average_popularity(lists, k, item_counts=counts, unknown="skip")
    same(found, np.reshape(users(counts.get), shape))
    for tail, option in ((0.3, "share"), (4, "max_count")):
        items = oracle.recbole_tail(counts, tail)
        found = beyond.tail_percentage(
            lists, k, item_counts=counts, unknown="head", **{option: tail}
        )
        same(found, np.reshape(users(lambda i, items=items: i in items), shape))
    found = beyond.novelty(lists, k, item_counts=counts, total=10, unknown=1)
    same(found, np.reshape(users(lambda i: -math.log2((counts.get(i) or 1) / 10)), shape))


@settings(deadline=None)
@given(
    LISTS_OF_IDS,
    DEPTHS,
    st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3), min_size=7, max_size=7),
)
def test_diversity_is_the_formula(lists, k, rows):
    features = dict(zip(IDS, rows, strict=True))
    del features[6]
    shape = len(lists), depth_of(lists, k)
    distances = {"cosine": oracle.cosine_distance, "hamming": oracle.hamming_distance}
    distances["euclidean"] = math.dist
    for name, distance in distances.items():
        expected = [
            [
                oracle.intra_list_diversity(one, at, features, distance, single=0.25)
                for at in range(1, shape[1] + 1)
            ]
            for one in lists
        ]
        options = {"features": features, "distance": name, "single": 0.25, "unknown": "skip"}
        same(beyond.intra_list_diversity(lists, k, **options), np.reshape(expected, shape))


@settings(deadline=None)
@given(
    st.lists(st.tuples(*[st.lists(st.sampled_from(IDS), unique=True, max_size=5)] * 3), max_size=5)
)
def test_serendipity_is_the_formula(users):
    lists, truths, baselines = ([user[i] for user in users] for i in range(3))
    k = depth_of(lists, None)
    expected = [
        [oracle.serendipity(one, truth, at, base) if truth else NAN for at in range(1, k + 1)]
        for one, truth, base in zip(lists, truths, baselines, strict=True)
    ]
    found = beyond.serendipity(lists, truths, baseline=baselines)
    same(found, np.reshape(expected, (len(lists), k)))
    unexpected = beyond.unexpectedness(lists, baseline=baselines)
    for row, one, base in zip(unexpected, lists, baselines, strict=True):
        for at in range(1, k + 1):
            same(row[at - 1], oracle.mean_of(one, at, lambda item, base=base: item not in base))


def test_serendipity_by_other_divisors_and_keys():
    ranks, truths = {"a": [1, 2, 3], "b": [4]}, {"b": {4}, "a": {1, 3}}
    baseline = {"a": [1], "c": [9]}  # of b nothing was to be expected
    options = {"baseline": baseline}
    assert beyond.serendipity(ranks, truths, **options).round(4).tolist() == [
        [1.0, 0.5, 0.3333],
        [0.0, 0.0, 0.3333],
    ]
    assert beyond.serendipity(ranks, truths, divisor="n", **options)[0].tolist() == [1, 1, 1]
    found = beyond.serendipity(ranks, truths, divisor="unexpected", **options)
    assert found.tolist() == [[1, 1, 1], [0, 0, 0.5]]
    everyone = beyond.serendipity(ranks, truths, baseline={4})
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
    one, four = (beyond.average_popularity(lists, item_counts=counts, n_threads=n) for n in (1, 4))
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


def test_counts_beyond_32_and_53_bits_add_up():
    """Doubled 57 times, no count wraps: shares, Gini's index and entropy stay what they are."""
    once = beyond.exposure(LISTS, catalogue=8)
    found = once
    for doubled in range(1, 58):
        found = found + found
        assert found.n_users == 5 * 2**doubled
        if doubled in (24, 31, 53, 57):
            expected = [count << doubled for count in once.counts().tolist()]
            assert found.counts().tolist() == expected  # as integers
            assert found.curves.total.tolist() == [5 << doubled, 10 << doubled, 15 << doubled]
            same(beyond.item_coverage(found), beyond.item_coverage(once), 0)
            same(beyond.gini(found), beyond.gini(once))
            same(beyond.gini(found, over="recommended"), beyond.gini(once, over="recommended"))
            same(beyond.shannon_entropy(found), beyond.shannon_entropy(once))
            x, n = once.curves.spread * 2.0 ** (2 * doubled), found.n_users
            shared = (x - found.curves.total) / (n * (n - 1.0)) / [1, 2, 3]
            same(beyond.personalisation(found), 1 - shared)


def test_large_counts_give_the_same_bits_as_small_ones(monkeypatch):
    module = sys.modules["toplist.beyond.exposure"]  # the function hides it

    lists = random_lists(40, 30, 10)
    parts = [beyond.exposure(lists[u::4], 12, catalogue=30) for u in range(4)]
    usual = bits(sum(parts))
    monkeypatch.setattr(module, "LARGE", 0)
    assert bits(sum(parts)) == usual


def test_what_does_not_add_up():
    one = beyond.exposure([[1, 2]], catalogue=4)
    with pytest.raises(ValueError, match="read to k=2 and to k=1 do not merge"):
        one + beyond.exposure([[1, 2]], k=1, catalogue=4)
    with pytest.raises(ValueError, match="over two catalogues do not merge"):
        one + beyond.exposure([[1, 2]], catalogue=5)
    with pytest.raises(ValueError, match="stated catalogue only: give catalogue="):
        beyond.exposure([[1, 2]]) + beyond.exposure([[2, 1]])
    with pytest.raises(TypeError):
        one + 1


def test_an_array_is_a_loop_and_a_slice_is_the_metric_at_k():
    lists = random_lists(30, 40, 8)
    counts, features = np.arange(40), np.random.default_rng(0).random((40, 3))
    for function, options in (
        (beyond.average_popularity, {"item_counts": counts}),
        (beyond.novelty, {"item_counts": counts + 1}),
        (beyond.tail_percentage, {"item_counts": counts}),
        (beyond.intra_list_diversity, {"features": features}),
        (beyond.unexpectedness, {"baseline": {1, 2, 3}}),
    ):
        whole = function(lists, **options)
        assert whole.shape == (30, 8)
        same(function(lists, 5, **options), whole[:, :5], 0)
        for ranked, row in zip(lists, whole, strict=True):
            same(function(ranked, **options), row, 0)  # one bare user: (K,)
    for function in (beyond.item_coverage, beyond.gini, beyond.shannon_entropy):
        whole = function(lists, catalogue=40)
        same(function(lists, 5, catalogue=40), whole[:5], 0)


# Forms of input


def forms():
    named = {f"u{u}": [f"i{item}" for item in ranked] for u, ranked in enumerate(LISTS)}
    offsets, items = np.arange(6) * 3, np.ravel(LISTS)
    return {
        "lists": (LISTS, 8),
        "tuples": (tuple(map(tuple, LISTS)), range(8)),
        "array": (np.array(LISTS), set(range(8))),
        "int32": (np.array(LISTS, np.int32), np.arange(8)),
        "wide": (
            [[10**15 + item for item in one] for one in LISTS],
            [10**15 + i for i in range(8)],
        ),
        "huge": ([[2**63 + item for item in one] for one in LISTS], [2**63 + i for i in range(8)]),
        "unsigned": (np.array(LISTS, np.uint64) + np.uint64(2**63), [2**63 + i for i in range(8)]),
        "Lists": (tl.Lists(offsets, items), dict.fromkeys(range(8))),
        "strings": (list(named.values()), {f"i{i}" for i in range(8)}),
        "dict": (named, [f"i{i}" for i in range(8)]),
        "text array": (np.array(list(named.values())), np.array([f"i{i}" for i in range(8)])),
        "a catalogue with repeats": (LISTS, [*range(8), 3, 5]),
    }


@pytest.mark.parametrize("form", forms())
def test_every_form_gives_the_same(form):
    ranks, catalogue = forms()[form]
    exposure = beyond.exposure(ranks, catalogue=catalogue)
    assert beyond.item_coverage(exposure).tolist() == [0.5, 0.75, 0.875]
    same(beyond.gini(exposure), [0.575, 0.425, 0.34166666666666667])
    same(beyond.shannon_entropy(ranks), beyond.shannon_entropy(LISTS), 0)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("kind", [int, str])
def test_tables(library, kind):
    module = pytest.importorskip(library)
    rows = [(u, kind(i), r) for u, one in enumerate(LISTS) for r, i in enumerate(one, 1)]
    users, items, ranks = map(list, zip(*rows[::-1], strict=True))
    table = {"who": users, "item_id": items, "rank": ranks}
    make = module.table if library == "pyarrow" else module.DataFrame
    options = {"columns": {"user_id": "who"}, "catalogue": list(map(kind, range(8)))}
    assert beyond.item_coverage(make(table), **options).tolist() == [0.5, 0.75, 0.875]
    counts = {kind(i): i for i in range(8)}
    popularity = beyond.average_popularity(
        make(table), 2, item_counts=counts, columns={"user_id": "who"}
    )
    assert popularity[:, 0].tolist() == [5, 1, 2, 4, 5]  # users as they first appear


def test_counts_of_a_series():
    pandas = pytest.importorskip("pandas")
    train = pandas.Series([3, 3, 5, 7, 7, 7])
    found = beyond.average_popularity([[5, 7, 3]], item_counts=train.value_counts())
    assert found.tolist() == [[1, 2, 2]]
    assert beyond.item_coverage([[5, 7]], catalogue=train)[-1] == pytest.approx(2 / 3)


def test_padding_and_repeats():
    padded = np.array([[3, 1, -1], [2, -1, -1]])
    same(beyond.item_coverage(padded, catalogue=4, padding=-1), [0.5, 0.75])
    named = [["c", "a", ""], ["b", "", ""]]
    same(
        beyond.item_coverage(named, catalogue=list("abcd"), padding=""),
        [0.5, 0.75],
    )
    options = {"item_counts": [4, 2, 1], "duplicates": "first"}
    assert beyond.average_popularity([[0, 0, 1]], **options).tolist() == [[4, 4, 3]]
    first = beyond.exposure([[0, 0, 1]], catalogue=2, duplicates="first")
    assert first.curves.total.tolist() == [1, 1, 2]


# Extreme inputs


def test_one_user_one_item():
    assert beyond.item_coverage([[0]], catalogue=1).tolist() == [1.0]
    assert beyond.gini([[0]], catalogue=1).tolist() == [0.0]
    assert beyond.gini([[0]], catalogue=1, divisor="n-1").tolist() == [0.0]
    assert beyond.shannon_entropy([[0]]).tolist() == [0.0]
    for over in ("catalogue", "recommended"):
        assert beyond.shannon_entropy([[0]], catalogue=1, normalised=over).tolist() == [0.0]
    assert np.isnan(beyond.personalisation([[0]])).all()
    assert beyond.novelty([[0]], item_counts=[5]).tolist() == [[0.0]]
    assert beyond.tail_percentage([[0]], item_counts=[5]).tolist() == [[1.0]]
    assert beyond.intra_list_diversity([[0]], features=[[1.0]]).tolist() == [[0.0]]


def test_all_users_the_same_list():
    lists = np.tile(np.arange(4), (1000, 1))
    assert beyond.item_coverage(lists, catalogue=8).tolist() == [0.125, 0.25, 0.375, 0.5]
    assert beyond.gini(lists, over="recommended").tolist() == [0, 0, 0, 0]
    assert beyond.gini(lists, catalogue=4, divisor="n-1").tolist()[0] == 1.0
    assert beyond.shannon_entropy(lists, unit="bits").tolist() == [
        0,
        1,
        pytest.approx(np.log2(3)),
        2,
    ]
    assert beyond.personalisation(lists).tolist() == [0, 0, 0, 0]
    found = beyond.shannon_entropy(lists, catalogue=8, normalised="recommended")
    assert found.tolist() == [0, 1, pytest.approx(1, abs=1e-15), 1]


def test_k_beyond_the_lists():
    assert beyond.item_coverage([[1], [2, 3]], 5, catalogue=4).tolist() == [0.5, *[0.75] * 4]
    assert beyond.average_popularity([[1]], 3, item_counts=[0, 7]).tolist() == [[7, 7, 7]]
    assert beyond.personalisation([[1], [1]], 4).tolist() == [0, 0.5, pytest.approx(2 / 3), 0.75]


def test_nobody_and_nothing():
    assert beyond.item_coverage([], 2, catalogue=4).tolist() == [0, 0]
    assert np.isnan(beyond.gini([[], []], 2, catalogue=4)).all()
    assert np.isnan(beyond.shannon_entropy([[]], 1)).all()
    assert beyond.average_popularity([], 2, item_counts=[1]).shape == (0, 2)
    assert np.isnan(beyond.average_popularity([[], [0]], item_counts=[1])).tolist() == [
        [True],
        [False],
    ]
    assert beyond.gini({}, catalogue=3).shape == (0,)


def test_one_long_list_among_many_short_ones():
    lists = [list(range(20_000)), *([u] for u in range(5_000))]
    exposure = beyond.exposure(lists, catalogue=20_000)
    assert exposure.curves.total[[0, -1]].tolist() == [5_001, 25_000]
    assert exposure.curves.covered[[0, 4_999, -1]].tolist() == [5_000, 5_000, 20_000]
    x = np.sort(np.where(np.arange(20_000) < 5_000, 2, 1))
    i = np.arange(1, 20_001)
    same(beyond.gini(exposure)[-1], ((2 * i - 20_001) * x).sum() / (20_000 * x.sum()))


# Errors


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: beyond.item_coverage(LISTS), ValueError, "item_coverage needs catalogue="),
        (lambda: beyond.gini(LISTS), ValueError, "gini over the catalogue needs catalogue="),
        (
            lambda: beyond.shannon_entropy(LISTS, normalised="catalogue"),
            ValueError,
            "normalised by the catalogue needs catalogue=",
        ),
        (
            lambda: beyond.item_coverage({"ann": [1, 9], "bob": [9]}, catalogue=8),
            ValueError,
            r"user 'ann' lists item 9 at rank 2, which is not in catalogue \(2 such places\); "
            "unknown='skip'",
        ),
        (
            lambda: beyond.average_popularity([["a", "z"]], item_counts={"a": 1}),
            ValueError,
            "user 0 lists item 'z' at rank 2, which is not in item_counts .*; unknown='skip'",
        ),
        (
            lambda: beyond.novelty([["a"]], item_counts={"a": 0, "b": 1}),
            ValueError,
            "item 'a' at rank 1, .* with a count above 0; unknown='skip'",
        ),
        (
            lambda: beyond.intra_list_diversity([[5]], features={1: [1]}),
            ValueError,
            "item 5 at rank 1, which is not in features .* 'nan' gives NaN",
        ),
        (
            lambda: beyond.gini([[1, 2], [3, 4, 3]], catalogue=8),
            ValueError,
            "user 1 has item 3 at ranks 1 and 3: .*duplicates='first'",
        ),
        (
            lambda: beyond.item_coverage([["a"]], catalogue=3),
            TypeError,
            "ids of two kinds, 'a' in ranks and 0 in catalogue",
        ),
        (
            lambda: beyond.item_coverage([[0.5]], catalogue=3),
            TypeError,
            "0.5 is a float, never an id",
        ),
        (lambda: beyond.item_coverage(LISTS, catalogue=True), ValueError, "catalogue must be"),
        (
            lambda: beyond.item_coverage(LISTS, catalogue="abc"),
            TypeError,
            "catalogue is a str: give",
        ),
        (
            lambda: beyond.item_coverage(LISTS, catalogue=0),
            ValueError,
            "catalogue must be at least 1",
        ),
        (
            lambda: beyond.item_coverage(tl.match([[1]], [[1]]), catalogue=8),
            TypeError,
            "a Hits, which holds no ids",
        ),
        (lambda: beyond.item_coverage({1, 2}, catalogue=8), TypeError, "has no ranking"),
        (
            lambda: beyond.gini(LISTS, catalogue=8, over="all"),
            ValueError,
            "over='all': choose from",
        ),
        (lambda: beyond.gini(LISTS, catalogue=8, divisor="N"), ValueError, "divisor='N'"),
        (lambda: beyond.gini(LISTS, catalogue=8, unknown="zero"), ValueError, "unknown='zero'"),
        (lambda: beyond.gini(LISTS, catalogue=8, k=0), ValueError, "k must be at least 1"),
        (lambda: beyond.shannon_entropy(LISTS, unit="dits"), ValueError, "unit='dits'"),
        (
            lambda: beyond.shannon_entropy(LISTS, normalised="recommended", variant="recbole"),
            ValueError,
            "is for variant='shannon'",
        ),
        (
            lambda: beyond.gini(beyond.exposure(LISTS, catalogue=8), 4),
            ValueError,
            "k=4 is deeper than this Exposure was read to, k=3",
        ),
        (
            lambda: beyond.gini(beyond.exposure(LISTS, catalogue=8), catalogue=9),
            TypeError,
            "it takes no catalogue",
        ),
        (
            lambda: beyond.average_popularity(LISTS, item_counts={5: -1}),
            ValueError,
            "item_counts: item 5 has -1",
        ),
        (
            lambda: beyond.average_popularity(LISTS, item_counts="abc"),
            TypeError,
            "give a dict item -> number",
        ),
        (
            lambda: beyond.average_popularity(LISTS, item_counts={5: "1"}),
            TypeError,
            "item_counts must hold numbers",
        ),
        (
            lambda: beyond.average_popularity(LISTS, item_counts=[1], unknown=-1),
            ValueError,
            "unknown=-1: give 'raise', 'skip', or a count",
        ),
        (
            lambda: beyond.tail_percentage(LISTS, item_counts=[1], share=0.1, max_count=3),
            ValueError,
            "the tail is given twice",
        ),
        (lambda: beyond.tail_percentage(LISTS, item_counts=[1], share=2), ValueError, "share must"),
        (lambda: beyond.tail_percentage(LISTS, item_counts=[1], n_items=0), ValueError, "n_items"),
        (
            lambda: beyond.tail_percentage(LISTS, item_counts=[1], unknown="zero"),
            ValueError,
            "choose from 'raise', 'skip', 'tail', 'head'",
        ),
        (lambda: beyond.novelty(LISTS, item_counts=[1], total=0), ValueError, "total must be"),
        (
            lambda: beyond.novelty(LISTS, item_counts=[1], unknown=0),
            ValueError,
            "unknown=0: a count",
        ),
        (
            lambda: beyond.intra_list_diversity(LISTS, features={1: [1], 2: [1, 2]}),
            ValueError,
            "item 1 has 1 numbers, item 2 2",
        ),
        (
            lambda: beyond.intra_list_diversity(LISTS, features=[[NAN]]),
            ValueError,
            "item 0 has a number that is not finite",
        ),
        (
            lambda: beyond.intra_list_diversity(LISTS, features=[1, 2]),
            TypeError,
            "give a dict item -> vector, or a 2-D array",
        ),
        (
            lambda: beyond.intra_list_diversity(LISTS, features=[[1]], distance="L3"),
            ValueError,
            "distance='L3'",
        ),
        (
            lambda: beyond.serendipity(LISTS, LISTS, baseline=LISTS, divisor="R"),
            ValueError,
            "divisor='R'",
        ),
        (
            lambda: beyond.item_coverage(LISTS, catalogue=range(-1, 8), padding=-1),
            ValueError,
            "catalogue holds the padding id -1",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_inputs_are_not_changed():
    lists = np.array(LISTS)
    lists.flags.writeable = False
    beyond.gini(lists, catalogue=6, unknown="skip", duplicates="first")
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
        assert beyond.item_coverage(exposure)[k - 1] == oracle.item_coverage(lists, k, range(60))
        same(beyond.gini(exposure)[k - 1], oracle.gini(lists, k, range(60)))
        same(beyond.shannon_entropy(exposure)[k - 1], oracle.shannon_entropy(lists, k))
        same(beyond.gini(half)[k - 1], oracle.gini(lists, k, known))
    same(beyond.personalisation(exposure)[19], oracle.personalisation(lists, 20))
    merged = sum(beyond.exposure(lists[u::3], depth, catalogue=60) for u in range(3))
    assert bits(merged) == bits(exposure)


def test_ids_that_outgrow_their_first_table():
    rng = np.random.default_rng(0)
    ids = rng.integers(-(2**62), 2**62, 300_000)
    found = beyond.exposure(ids.reshape(3_000, 100))
    assert found.curves.covered[-1] == found.n_items == len(np.unique(ids))


def test_ties_of_the_tail_fall_alike_for_numbers_and_their_text():
    counts, lists = {1: 5, 2: 1, 10: 1}, [[2, 10], [10, 1]]
    numbers = tl.beyond.tail_percentage(lists, item_counts=counts, n_items=1)
    text = tl.beyond.tail_percentage(
        [list(map(str, row)) for row in lists],
        item_counts={str(item): count for item, count in counts.items()},
        n_items=1,
    )
    assert numbers.tolist() == text.tolist() == [[1.0, 0.5], [0.0, 0.0]]


def test_padding_of_text_in_a_table():
    """Padding ends each list; among the names of the column it may come anywhere."""
    polars = pytest.importorskip("polars")
    lists = [["a", "b", ""], ["b", "c", ""]]
    table = polars.DataFrame({"user_id": [1, 2], "item_id": lists})
    for found in (lists, table):
        entropy = beyond.shannon_entropy(found, padding="")
        np.testing.assert_array_equal(entropy, beyond.shannon_entropy([["a", "b"], ["b", "c"]]))


def test_repeats_of_unknown_items_are_left_out_or_refused():
    lists, first = [["a", "z", "z", "y"]], {"duplicates": "first"}
    counts = {"item_counts": {"a": 6}}
    popularity = tl.beyond.average_popularity(lists, **counts, unknown=0, **first)
    assert popularity.tolist() == [[6, 3, 3, 2]]
    numbers = tl.beyond.average_popularity([[0, 7, 7, 9]], item_counts=[6], unknown=0, **first)
    assert numbers.tolist() == [[6, 3, 3, 2]]
    novelty = tl.beyond.novelty(lists, item_counts={"a": 8, "z": 0}, total=8, unknown=1, **first)
    assert novelty.tolist() == [[0, 1.5, 1.5, 2]]
    options = {"item_counts": {"a": 9, "b": 1}, "n_items": 1, "unknown": "tail"}
    tail = tl.beyond.tail_percentage(lists, **options, **first)
    assert tail.tolist() == [[0, 1 / 2, 1 / 2, 2 / 3]]
    for unknown in (0, "skip"):
        with pytest.raises(ValueError, match="user 0 has item 'z' at ranks 2 and 3"):
            tl.beyond.average_popularity(lists, **counts, unknown=unknown)
