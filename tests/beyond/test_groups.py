"""Exposure discounted by rank, of items and of groups of items: formulas, merging, errors."""

import math
import pickle
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from listwise import listwise
from oracle import beyond as oracle

from toplist import beyond
from toplist.metrics.definitions import DISCOUNTS

IDS = range(7)
LISTS_OF_IDS = st.lists(st.lists(st.sampled_from(IDS), unique=True, max_size=6), max_size=6)
DEPTHS = st.one_of(st.none(), st.integers(1, 8))
GROUPS = st.dictionaries(st.sampled_from(IDS), st.sampled_from("abc"), max_size=7)
PLAIN = {
    "log2(r+1)": lambda r: math.log2(r + 1),
    "1": lambda r: 1,
    "r": lambda r: r,
    "rbp(p=0.5)": lambda r: 2**r,
}
DISCOUNTED = st.sampled_from(sorted(PLAIN))


def same(found, expected, tolerance=1e-12):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


def depth_of(lists, k):
    return k or max(map(len, lists), default=0)


# Against plain Python


@settings(deadline=None)
@given(LISTS_OF_IDS, DEPTHS, DISCOUNTED)
def test_exposure_of_items_is_the_formula(lists, k, discount):
    found = beyond.exposure(lists, k, catalogue=7)
    for at in range(1, depth_of(lists, k) + 1):
        of_items = oracle.exposures(lists, at, PLAIN[discount])
        expected = [of_items.get(item, 0.0) for item in IDS]
        same(found.discounted(at, discount=discount), expected)
        total = sum(expected)
        shares = [value / total if total else math.nan for value in expected]
        same(found.discounted(at, discount=discount, normalised=True), shares)
    assert (found.discounted(discount="1") == found.counts()).all()


def ratios(lists, groups, k=None, catalogue=7, **options):
    return beyond.exposure(lists, k, catalogue=catalogue).ratios(groups, **options)


@settings(deadline=None)
@given(LISTS_OF_IDS, DEPTHS, GROUPS, DISCOUNTED)
def test_ratios_of_groups_are_the_formula(lists, k, groups, discount):
    found = ratios(lists, groups, k, discount=discount) if groups else ratios(lists, [None] * 7, k)
    sizes = Counter(groups.get(item) for item in IDS)
    assert set(found) == set(sizes) and {len(one) for one in found.values()} == {depth_of(lists, k)}
    for at in range(1, depth_of(lists, k) + 1):
        shares = oracle.group_shares(lists, at, groups, PLAIN[discount if groups else "log2(r+1)"])
        for group, n in sizes.items():
            same(found[group][at - 1], shares[group] / (n / 7))


# Figures by hand


def test_one_list_of_two_groups():
    """Singh and Joachims 2018: ranks 1 to 3 are seen by 1, 1 / log2(3) and 1/2."""
    found = ratios([[1, 2, 3]], {1: "m", 2: "f", 3: "f"}, catalogue=[1, 2, 3])
    second = 1 / math.log2(3)
    assert list(found) == ["m", "f"]
    ends = [one[-1] for one in found.values()]
    same(ends, np.array([3, 1.5 * (second + 0.5)]) / (1.5 + second))


def test_ratios_are_1_where_all_items_are_shown_alike():
    lists = [[1, 2], [2, 1], [3, 4], [4, 3]]
    for groups in ({1: "a", 2: "b", 3: "b", 4: "b"}, dict.fromkeys(range(1, 5), "all")):
        found = ratios(lists, groups, catalogue=[1, 2, 3, 4])
        assert all((one == 1).all() for one in found.values())


def test_items_without_a_group_are_the_group_none():
    found = ratios([[1, 2, 3]], {1: "a", 2: None, 3: float("nan")}, catalogue=[1, 2, 3])
    assert list(found) == ["a", None] and found[None][0] == 0


def test_an_own_discount_and_all_named_ones():
    found = beyond.exposure([[0, 1], [1, 0]], catalogue=2)
    same(found.discounted(discount=lambda r: 10 * r), [0.15, 0.15])
    for name in DISCOUNTS:
        same(found.discounted(1, discount=name), [1, 1])
    same(found.ratios(["a", "b"], discount=lambda r: r)["b"], [1, 1])


# Relations


def random_lists(n_users=400, n_items=60, length=20):
    rng = np.random.default_rng(0)
    return np.argsort(rng.random((n_users, n_items)), axis=1)[:, :length]


def test_threads_order_and_sharding_leave_no_trace(monkeypatch):
    lists, groups = random_lists(), [f"g{item % 7}" for item in range(60)]
    whole = beyond.exposure(lists, catalogue=60, n_threads=1)
    monkeypatch.setattr(sys.modules["toplist.parallel"], "BLOCK", 256)
    others = [
        beyond.exposure(lists[::-1].copy(), catalogue=60, n_threads=4),
        sum(beyond.exposure(lists[u::3], catalogue=60) for u in range(3)),
        pickle.loads(pickle.dumps(whole)),
        counted(lists, 60),
    ]
    for other in others:
        assert other.n_users == 400 and list(other.ratios(groups)) == list(whole.ratios(groups))
        for group, ratio in other.ratios(groups).items():
            assert ratio.tobytes() == whole.ratios(groups)[group].tobytes()
        for k in (1, 7, 20):
            assert other.discounted(k).tobytes() == whole.discounted(k).tobytes()


def test_nobody_and_nothing():
    found = ratios([], {1: "a"}, 2, catalogue=[1])
    assert np.isnan(found["a"]).all() and len(found["a"]) == 2
    assert ratios([[]], {1: "a"}, catalogue=[1])["a"].shape == (0,)
    assert np.isnan(beyond.exposure([[]], 1, catalogue=2).discounted(normalised=True)).all()


# Counts of a database


def rows_of(lists):
    """Return items, ranks and counts as GROUP BY item_id, rank makes them, in some order."""
    found = Counter((item, rank) for one in lists for rank, item in enumerate(one, 1))
    (items, ranks), counts = zip(*found, strict=True), list(found.values())
    return items, ranks, counts


def counted(lists, catalogue):
    users = sum(map(len, lists)) and sum(bool(len(one)) for one in lists)
    listed = [[int(item) for item in one] for one in lists]
    return beyond.Exposure.from_counts(*rows_of(listed), n_users=users, catalogue=catalogue)


@settings(deadline=None)
@given(LISTS_OF_IDS.filter(any))
def test_counts_of_a_database_are_those_of_the_lists(lists):
    for catalogue in (7, [6, 5, 4, 3, 2, 1, 0], np.arange(9)):
        expected, found = beyond.exposure(lists, catalogue=catalogue), counted(lists, catalogue)
        assert repr(found) == repr(expected)
        for mine, theirs in zip(found.pairs, expected.pairs, strict=True):
            assert np.array_equal(mine, theirs)
        for figure in (listwise.gini, listwise.item_coverage, listwise.shannon_entropy):
            assert figure(found).tobytes() == figure(expected).tobytes()
        assert np.array_equal((found + expected).counts(), 2 * expected.counts())


def test_more_lists_than_a_machine_holds():
    n = 4_000_000_000
    found = beyond.Exposure.from_counts(
        ["a", "b", "a"], [1, 1, 2], [n, n // 4, n // 2], n_users=2 * n, catalogue=list("abcd")
    )
    assert listwise.item_coverage(found).tolist() == [0.5, 0.5]
    expected = oracle.gini_of_counts({n * 3 // 2: 1, n // 4: 1}, 4)
    assert listwise.gini(found)[1] == expected


def test_more_items_than_a_dict_holds():
    n = 10**12
    found = beyond.Exposure.from_counts([n - 1, 0], [1, 1], [3, 1], n_users=4, catalogue=n)
    assert found.n_items == n and found.pairs.items.tolist() == [0, n - 1]


# Errors


ITEMS = beyond.exposure([[1]], catalogue=2)
ROWS = {"n_users": 2, "catalogue": 3}


def from_counts(items=(0,), ranks=(1,), counts=(1,), **options):
    return beyond.Exposure.from_counts(items, ranks, counts, **(ROWS | options))


WRONG_VALUES = [
    (lambda: ITEMS.discounted(discount="log"), r"choose from '1', .*'rbp\(p=0.8\)'"),
    (lambda: ITEMS.discounted(discount="rbp(p=2)"), "p must be above 0 and below 1"),
    (lambda: ITEMS.discounted(discount=lambda r: r - 1), "its discount at rank 1 is 0.0"),
    (lambda: ITEMS.discounted(2), "k=2 is deeper than this Exposure"),
    (lambda: ITEMS.ratios({"1": "a"}), "no item in common: groups has '1', the catalogue 0"),
    (lambda: ITEMS.ratios(["a"]), "groups has 1 places, the catalogue 2 items"),
    (lambda: beyond.exposure([[1]]).ratios({1: "a"}), "ratios of groups needs .*catalogue="),
    (lambda: from_counts([3]), "items: 3 is not in the catalogue"),
    (lambda: from_counts(["0"]), "items: '0' is not in the catalogue"),
    (lambda: from_counts([True]), "items: True is not in the catalogue"),
    (lambda: from_counts(ranks=[0]), "ranks: whole numbers from 1 on"),
    (lambda: from_counts(counts=[1.0]), "counts: whole numbers from 1 on"),
    (lambda: from_counts(counts=[1, 1]), "counts: one of each of the 1 items"),
    (lambda: from_counts([0, 0], [1, 1], [1, 1]), "item 0 is there twice at rank 1"),
    (lambda: from_counts(counts=[3]), "3 items at rank 1, but there are 2 lists"),
]


@pytest.mark.parametrize(("call", "words"), WRONG_VALUES)
def test_what_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_groups_of_another_form_are_refused():
    with pytest.raises(TypeError, match=r"item 1 has \['a', 'b'\]: an item has one group"):
        ITEMS.ratios({1: ["a", "b"]})
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="groups is a table: give groups=dict"):
        ITEMS.ratios(pandas.DataFrame({"a": [1]}))


@pytest.mark.parametrize("name", ["group_exposure", "from_counts_of_counts"])
def test_names_that_are_gone_say_what_to_write(name):
    with pytest.raises(AttributeError, match=f"{name} is gone since 0.4: .*xposure"):
        getattr(beyond, name)
