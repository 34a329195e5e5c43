"""Exposures: of items and of groups of items, from lists and from counts; parts and their sums."""

import math
import pickle
import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from listwise import listwise
from oracle import beyond as oracle

from toplist import beyond
from toplist.metrics.definitions import DISCOUNTS

LISTS = [[5, 7, 3], [4, 5, 2], [2, 3, 5], [1, 4, 6], [5, 3, 7]]
LISTS_OF_IDS = st.lists(st.lists(st.sampled_from(range(7)), unique=True, max_size=6), max_size=6)
DEPTHS = st.none() | st.integers(1, 8)
GROUPS = st.dictionaries(st.sampled_from(range(7)), st.sampled_from("abc"), max_size=7)
PLAIN = {
    "log2(r+1)": lambda r: math.log2(r + 1),
    "1": lambda r: 1,
    "r": lambda r: r,
    "rbp(p=0.5)": lambda r: 2**r,
}
FIGURES = listwise.gini, listwise.item_coverage, listwise.shannon_entropy


def same(found, expected, tolerance=1e-12):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


def equal(one, other, figures=FIGURES):
    """Check that two exposures are the same to the last bit."""
    assert repr(one) == repr(other)
    for mine, theirs in zip(one.pairs, other.pairs, strict=True):
        assert np.array_equal(mine, theirs)
    for figure in figures:
        assert figure(one).tobytes() == figure(other).tobytes()
    if one.n_items < 1000:  # there is a number for each item
        assert one.discounted().tobytes() == other.discounted().tobytes()


def counted(lists, catalogue):
    """Return the exposure of what GROUP BY item_id, rank counts, in some order."""
    listed = [[int(item) for item in one] for one in lists]
    found = Counter((item, rank) for one in listed for rank, item in enumerate(one, 1))
    (items, ranks), counts = zip(*found, strict=True), list(found.values())
    users = sum(bool(one) for one in listed)
    return beyond.Exposure.from_counts(items, ranks, counts, n_users=users, catalogue=catalogue)


# Against plain Python


@settings(max_examples=12)
@given(LISTS_OF_IDS, DEPTHS, GROUPS, st.sampled_from(sorted(PLAIN)))
def test_exposures_of_items_and_ratios_of_groups_are_the_formulas(lists, k, groups, discount):
    found, plain = beyond.exposure(lists, k, catalogue=7), PLAIN[discount]
    depth = k or max(map(len, lists), default=0)
    ratios = found.ratios(groups or [None] * 7, discount=discount)
    sizes = Counter(groups.get(item) for item in range(7))
    assert set(ratios) == set(sizes) and {len(one) for one in ratios.values()} == {depth}
    for at in range(1, depth + 1):
        of_items = oracle.exposures(lists, at, plain)
        expected = [of_items.get(item, 0.0) for item in range(7)]
        same(found.discounted(at, discount=discount), expected)
        total = sum(expected)
        shares = [value / total if total else math.nan for value in expected]
        same(found.discounted(at, discount=discount, normalised=True), shares)
        of_groups = oracle.group_shares(lists, at, groups, plain)
        for group, n in sizes.items():
            same(ratios[group][at - 1], of_groups[group] / (n / 7))
    assert (found.discounted(discount="1") == found.counts()).all()


@settings(max_examples=12)
@given(LISTS_OF_IDS.filter(any))
def test_counts_of_a_database_are_those_of_the_lists(lists):
    for catalogue in (7, [6, 5, 4, 3, 2, 1, 0], np.arange(9)):
        expected, found = beyond.exposure(lists, catalogue=catalogue), counted(lists, catalogue)
        equal(found, expected)
        assert np.array_equal((found + expected).counts(), 2 * expected.counts())


# By hand


def test_an_own_discount_and_all_named_ones():
    found = beyond.exposure([[0, 1], [1, 0]], catalogue=2)
    same(found.discounted(discount=lambda r: 10 * r), [0.15, 0.15])
    for name in DISCOUNTS:
        same(found.discounted(1, discount=name), [1, 1])
    same(found.ratios(["a", "b"], discount=lambda r: r)["b"], [1, 1])
    for nothing in (None, float("nan")):
        assert list(found.ratios(["a", nothing])) == ["a", None]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_groups_of_a_series_and_of_a_table(library):
    module = pytest.importorskip(library)
    table = module.DataFrame({"item_id": [1, 0], "group": [None, "a"]})
    for groups in (module.Series(["a", None]), table):
        assert list(beyond.exposure([[0, 1]], catalogue=2).ratios(groups)) == ["a", None]


def test_columns_of_arrow():
    array = pytest.importorskip("pyarrow").array
    found = beyond.exposure([["x"]], catalogue=array(["x", "y"])).ratios(array(["a", None]))
    assert {group: ratio.tolist() for group, ratio in found.items()} == {"a": [2], None: [0]}


def test_nobody_and_nothing():
    for lists, k, n in (([], 2, 2), ([[]], None, 0)):
        (ratio,) = beyond.exposure(lists, k, catalogue=[1]).ratios({1: "a"}).values()
        assert ratio.shape == (n,) and np.isnan(ratio).all()
    assert np.isnan(beyond.exposure([[]], 1, catalogue=2).discounted(normalised=True)).all()


# Parts


def test_threads_order_and_sharding_leave_no_trace(monkeypatch):
    rng = np.random.default_rng(0)
    lists = np.argsort(rng.random((400, 60)), axis=1)[:, :20]
    whole = beyond.exposure(lists, catalogue=60, n_threads=1)
    monkeypatch.setattr("toplist.parallel.BLOCK", 256)
    others = [
        beyond.exposure(lists[::-1].copy(), catalogue=60, n_threads=4),
        sum(beyond.exposure(lists[u::3], catalogue=60) for u in range(3)),
        pickle.loads(pickle.dumps(whole)),
        counted(lists, 60),
    ]
    groups = [f"g{item % 7}" for item in range(60)]
    for other in others:
        equal(other, whole)
        for group, ratio in other.ratios(groups).items():
            assert ratio.tobytes() == whole.ratios(groups)[group].tobytes()


def test_parts_add_up_to_the_whole():
    """Of 2^61 items too, whose places times ranks pass 2^63."""
    rng = np.random.default_rng(8)
    lists = [rng.permutation(30)[: rng.integers(0, 9)].tolist() for _ in range(40)]
    for catalogue in (30, list(range(29, -1, -1)), 10**7, 2**61):
        options = {"catalogue": catalogue, "unknown": "skip"}
        whole = beyond.exposure(lists, 8, **options)
        parts = [beyond.exposure(lists[at : at + 7], 8, **options) for at in range(0, 40, 7)]
        before = pickle.dumps(parts[0])
        added = sum(parts)
        assert added.n_users == sum(map(bool, lists)) < 40
        travelled = sum(pickle.loads(pickle.dumps(parts)))
        for found in (added, travelled, pickle.loads(pickle.dumps(added)), added.without_lists()):
            equal(found, whole)
        assert pickle.dumps(parts[0]) == before  # nothing was added to the first part itself


SAME = [["z", "a", "m"], ("m", "z", "a"), {"a", "m", "z"}, np.array(["m", "a", "z"])]
SAME += [np.array(["z", "m", "a"], object), dict.fromkeys("amz")]


@pytest.mark.parametrize("one", range(len(SAME)))
@pytest.mark.parametrize("other", range(len(SAME)))
def test_exposures_over_the_same_items_merge_whatever_their_order(one, other):
    """An array is sorted where it is read, a list is not: each comes from another way to read."""
    parts = [
        beyond.exposure(lists, 2, catalogue=SAME[given])
        for lists, given in (([["z", "a"], ["m"]], one), ([["a", "m"]], other))
    ]
    for merged in (parts[0] + parts[1], parts[0].without_lists() + parts[1].without_lists()):
        for k, n in ((None, {"z": 1, "a": 2, "m": 2}), (1, {"z": 1, "a": 1, "m": 1})):
            assert dict(zip(merged.catalogue, merged.counts(k), strict=True)) == n
        assert listwise.gini(merged)[-1] == pytest.approx(2 / 15, rel=1e-15)


# Sizes


def doubled(exposure, times):
    for _ in range(times):
        exposure = exposure + exposure
    return exposure


@pytest.mark.parametrize("times", [24, 31, 57])
def test_merged_exposures_beyond_31_bits_are_exact(times):
    """As Python's integers and fractions say it."""
    found = doubled(beyond.exposure(LISTS, catalogue=9), times)
    counts = {
        k: {c << times: n for c, n in Counter(oracle.listings(LISTS, k).values()).items()}
        for k in (1, 2, 3)
    }  # each list 2^times times
    assert found.n_users == 5 << times
    listed = beyond.exposure(LISTS, catalogue=8).counts()
    assert found.counts().tolist() == [count << times for count in listed] + [0]
    assert found.curves.total.tolist() == [5 << times, 10 << times, 15 << times]
    coverage = [oracle.coverage_of_counts(one, 9) for one in counts.values()]
    assert listwise.item_coverage(found).tolist() == coverage
    gini = [oracle.gini_of_counts(one, 9) for one in counts.values()]
    assert listwise.gini(found).tolist() == gini
    entropy = [oracle.entropy_of_counts(one) for one in counts.values()]
    np.testing.assert_allclose(listwise.shannon_entropy(found), entropy, rtol=4e-15)
    shared = [oracle.personalisation_of_counts(one, k, 5 << times) for k, one in counts.items()]
    np.testing.assert_allclose(listwise.personalisation(found), shared, rtol=4e-15)


def test_many_lists_with_few_listings_of_an_item_at_each_rank():
    """An item is in 2^24 lists at each rank, and in 2^31 in all: the sum of squares is 2^69."""
    n = 128
    rotated = [[(u + r) % n for r in range(n)] for u in range(n)]
    found = doubled(beyond.exposure(rotated, catalogue=n), 24)
    assert found.n_users == 2**31 and found.counts().tolist() == [2**31] * n
    np.testing.assert_array_equal(listwise.gini(found), 0.0)
    expected = [oracle.personalisation_of_counts({k << 24: n}, k, 2**31) for k in range(1, n + 1)]
    same(listwise.personalisation(found), expected, 4e-16)


def test_more_lists_and_items_than_a_machine_holds():
    n = 4_000_000_000
    found = beyond.Exposure.from_counts(
        ["a", "b", "a"], [1, 1, 2], [n, n // 4, n // 2], n_users=2 * n, catalogue=list("abcd")
    )
    assert listwise.item_coverage(found).tolist() == [0.5, 0.5]
    assert listwise.gini(found)[1] == oracle.gini_of_counts({n * 3 // 2: 1, n // 4: 1}, 4)
    found = beyond.Exposure.from_counts(
        [10**12 - 1, 0], [1, 1], [3, 1], n_users=4, catalogue=10**12
    )
    assert found.n_items == 10**12 and found.pairs.items.tolist() == [0, 10**12 - 1]


def test_a_large_catalogue_costs_what_the_lists_cost():
    lists, n = [[5, 999_999_999, 3], [4, 5, 2], [2, 3, 5]], 10**9
    tracemalloc.start()
    found = beyond.exposure(lists, catalogue=n)
    coverage, gini = listwise.item_coverage(found), listwise.gini(found)
    again = pickle.loads(pickle.dumps(found))
    part = beyond.exposure(lists[:1], catalogue=n) + beyond.exposure(lists[1:], catalogue=n)
    assert tracemalloc.get_traced_memory()[1] < 1 << 24
    tracemalloc.stop()
    small = beyond.exposure([[5, 7, 3], [4, 5, 2], [2, 3, 5]], catalogue=8)
    assert np.array_equal(coverage * n, listwise.item_coverage(small) * 8)
    for other in (again, part):
        equal(other, found, [listwise.gini, listwise.item_coverage])
        assert np.array_equal(listwise.shannon_entropy(other), listwise.shannon_entropy(small))
    assert gini[-1] == pytest.approx(1, abs=1e-8)
    assert len(found.pairs.items) == len(small.pairs.items)
    assert found.pairs.items.max() == 999_999_999
    assert listwise.item_coverage([[1, 2]], catalogue=10**12).tolist() == [1e-12, 2e-12]
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"user_id": [1, 1], "item_id": [5, 7], "rank": [1, 2]})
    assert listwise.item_coverage(table, catalogue=n).tolist() == [1e-9, 2e-9]


@pytest.mark.parametrize("lists", [[[1, 1, 10**9, 7]], [[-1, 7, 2**63 - 1, 5]]])
def test_unknown_items_and_repeats_of_a_large_catalogue(lists):
    how = {"unknown": "skip", "duplicates": "first"}
    (known,) = ([item if 0 <= item < 10**9 else -1 for item in row] for row in lists)
    total = [len({item for item in known[:k] if item >= 0}) for k in range(1, 5)]
    assert beyond.exposure(lists, catalogue=10**9, **how).curves.total.tolist() == total
