"""Exposure discounted by rank, of items and of groups of items: formulas, merging, errors."""

import math
import pickle
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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


@settings(deadline=None)
@given(LISTS_OF_IDS, DEPTHS, GROUPS, DISCOUNTED)
def test_exposure_of_groups_is_the_formula(lists, k, groups, discount):
    by_lists = beyond.group_exposure(lists, k, groups=groups, discount=discount)
    stated = beyond.group_exposure(lists, k, groups=groups, discount=discount, catalogue=7)
    exposure = beyond.exposure(lists, k, catalogue=7)
    again = beyond.group_exposure(exposure, groups=groups, discount=discount)
    sizes = {group: list(groups.values()).count(group) for group in groups.values()}
    for found, n_items in ((by_lists, len(groups)), (stated, 7), (again, 7)):
        assert found.k == depth_of(lists, k) and found.n_users == sum(map(bool, lists))
        of = {**sizes, None: n_items - len(groups)}
        expected = [of[group] / n_items if n_items else math.nan for group in found.groups]
        same(found.target_share, expected)
        for at in range(1, found.k + 1):
            expected = oracle.group_shares(lists, at, groups, PLAIN[discount])
            same(found.share[:, at - 1], [expected[group] for group in found.groups])
            missing = set(expected) - set(found.groups)
            assert all(not expected[group] or math.isnan(expected[group]) for group in missing)
            ratios = [
                expected[group] / (of[group] / n_items) if of[group] else math.nan
                for group in found.groups
            ]
            same(found.ratio[:, at - 1], ratios)


@settings(deadline=None)
@given(LISTS_OF_IDS, GROUPS, st.lists(st.integers(0, 5), min_size=7, max_size=7))
def test_ratios_to_merit(lists, groups, merits):
    merit = dict(zip(IDS, merits, strict=True))
    found = beyond.group_exposure(lists, groups=groups, merit=merit)
    of = dict.fromkeys([*groups.values(), None], 0)
    for item, value in merit.items():
        of[groups.get(item)] += value
    assert found.target.tolist() == [of[group] for group in found.groups]
    assert set(of) - set(found.groups) <= {None} and found.against == "merit"
    if found.k:
        shares = oracle.group_shares(lists, found.k, groups, PLAIN["log2(r+1)"])
        total = sum(merits)
        ratios = [
            shares[group] / (of[group] / total) if of[group] else math.nan for group in found.groups
        ]
        same(found.ratio[:, -1], ratios)


# Figures by hand


def test_one_list_of_two_groups():
    """Singh and Joachims 2018: ranks 1 to 3 are seen by 1, 1 / log2(3) and 1/2."""
    found = beyond.group_exposure([1, 2, 3], groups={1: "m", 2: "f", 3: "f"})
    second = 1 / math.log2(3)
    assert found.groups == ("m", "f")
    same(found.exposure, [[1, 1, 1], [0, second, second + 0.5]])
    same(found.share[:, -1], np.array([1, second + 0.5]) / (1.5 + second))
    same(found.ratio[:, -1], np.array([3, 1.5 * (second + 0.5)]) / (1.5 + second))
    same(found.parity, np.array([0, second, second + 0.5]) / 2)


def test_parity_is_1_where_all_items_are_shown_alike():
    lists = [[1, 2], [2, 1], [3, 4], [4, 3]]
    found = beyond.group_exposure(lists, groups={1: "a", 2: "b", 3: "b", 4: "b"})
    assert (found.parity == 1).all() and (found.ratio == 1).all()
    one = beyond.group_exposure(lists, groups=dict.fromkeys(range(1, 5), "all"))
    assert (one.share == 1).all() and (one.parity == 1).all()


def test_a_group_without_merit_has_no_ratio_and_no_part_in_parity():
    groups = {1: "a", 2: "b", 3: "c"}
    found = beyond.group_exposure([[1, 2, 3]], groups=groups, discount="1", merit={1: 2, 2: 1})
    assert found.target.tolist() == [2, 1, 0]
    np.testing.assert_array_equal(found.ratio[:, -1], [0.5, 1, math.nan])
    assert found.parity.tolist() == [0, 0.5, 0.5]


def test_items_without_a_group_are_the_group_none():
    found = beyond.group_exposure([[1, 2, 9]], groups={1: "a", 2: None, 3: float("nan")})
    assert found.groups == ("a", None)
    assert found.counts.tolist() == [[1, 0, 0], [0, 1, 1]] and found.target.tolist() == [1, 2]
    assert repr(found).splitlines()[-1].startswith("None")
    nobody = beyond.group_exposure([[1, 2]], groups={})
    assert nobody.groups == (None,) and np.isnan(nobody.parity).all()


def test_an_own_discount_and_all_named_ones():
    found = beyond.exposure([[0, 1], [1, 0]], catalogue=2)
    same(found.discounted(discount=lambda r: 10 * r), [0.15, 0.15])
    for name in DISCOUNTS:
        same(found.discounted(1, discount=name), [1, 1])
    groups = beyond.group_exposure(found, groups=["a", "b"], discount=lambda r: r)
    assert "discounted by a function of the rank" in repr(groups)


# Relations


def random_lists(n_users=400, n_items=60, length=20):
    rng = np.random.default_rng(0)
    return np.argsort(rng.random((n_users, n_items)), axis=1)[:, :length]


def test_threads_order_and_sharding_leave_no_trace(monkeypatch):
    parallel = sys.modules["toplist.parallel"]
    lists, groups = random_lists(), [f"g{item % 7}" for item in range(60)]
    whole = beyond.group_exposure(lists, groups=groups, n_threads=1)
    items = beyond.exposure(lists, catalogue=60)
    monkeypatch.setattr(parallel, "BLOCK", 256)
    others = [
        beyond.group_exposure(lists[::-1].copy(), groups=groups, n_threads=4),
        sum(beyond.group_exposure(lists[u::3], groups=groups) for u in range(3)),
        beyond.group_exposure(items, groups=groups),
        pickle.loads(pickle.dumps(whole)),
    ]
    for other in others:
        assert other.groups == whole.groups and other.n_users == 400
        assert other.counts.dtype == np.int64
        assert other.share.tobytes() == whole.share.tobytes()
        assert other.ratio.tobytes() == whole.ratio.tobytes()
    merged = sum(beyond.exposure(lists[u::3], catalogue=60) for u in range(3))
    for k in (1, 7, 20):
        assert merged.discounted(k).tobytes() == items.discounted(k).tobytes()


def test_parts_with_and_without_ungrouped_items_add_up():
    groups = {1: "a", 2: "b"}
    parts = [beyond.group_exposure(part, groups=groups) for part in ([[1, 2]], [[9, 1]])]
    assert (parts[0] + parts[1]).counts.tolist() == [[1, 1], [0, 1], [1, 0]]
    assert (parts[1] + parts[0]).counts.tolist() == [[1, 1], [0, 1], [1, 0]]


def test_nobody_and_nothing():
    found = beyond.group_exposure([], 2, groups={1: "a"})
    assert np.isnan(found.share).all() and np.isnan(found.parity).all()
    assert found.exposure.tolist() == [[0, 0]]
    empty = beyond.group_exposure([[]], groups={1: "a"})
    assert empty.share.shape == (1, 0) and "at k=0" in repr(empty)
    assert np.isnan(beyond.exposure([[]], 1, catalogue=2).discounted(normalised=True)).all()


# Errors


ITEMS = beyond.exposure([[1]], catalogue=2)
OPTIONS = {"groups": {1: "a", 2: "b"}}
ONE = beyond.group_exposure([[1, 2]], **OPTIONS)


def exposure(ranks, groups=OPTIONS["groups"], **options):
    return beyond.group_exposure(ranks, groups=groups, **options)


WRONG_VALUES = [
    (lambda: ITEMS.discounted(discount="log"), r"choose from '1', .*'rbp\(p=0.8\)'"),
    (lambda: ITEMS.discounted(discount="rbp(p=2)"), "p = 2.0 must be"),
    (lambda: ITEMS.discounted(discount=lambda r: r - 1), "its discount at rank 1 is 0.0"),
    (lambda: ITEMS.discounted(2), "k=2 is deeper than this Exposure"),
    (lambda: exposure([[1]], merit={"1": 3}), "in common: merit has '1', groups has 1"),
    (lambda: exposure([[1]], merit={1: -1}), "merit: item 1 has -1"),
    (lambda: exposure([[1, 7, 7]]), "ranks: user 0 has item 7 at ranks 2 and 3"),
    (lambda: exposure([[1, 9]], catalogue=[1, 2]), "item 9 at rank 2, which is not in catalogue"),
    (lambda: exposure(beyond.exposure([[1]])), "of an Exposure needs catalogue="),
    (lambda: exposure([[1]], {1: "a", -1: "b"}, padding=-1), "groups holds the padding id -1"),
    (lambda: ONE + exposure([[1]]), "k=2 and k=1 do not merge"),
    (lambda: ONE + exposure([[1, 2]], discount="1"), "discount='1' do not merge"),
    (lambda: ONE + exposure([[1, 2]], merit={1: 1, 2: 1}), "'catalogue' and against='merit'"),
    (lambda: ONE + exposure([[1, 2]], {1: "a", 2: "a"}), "group 'a' has 1 and 2 of the catalogue"),
    (
        lambda: exposure([[1]], series(["a", "b"], [1, 1])),
        "item 1 is in the index of the Series twice",
    ),
]
WRONG_TYPES = [
    (lambda: exposure([[1]], {1: ["a", "b"]}), r"item 1 has \['a', 'b'\]: an item has one group"),
    (lambda: exposure([[1]], "ab"), "groups is a str: give a dict item -> group"),
    (lambda: exposure([["x"]]), "two kinds, 'x' in ranks and 1 in groups"),
    (lambda: exposure([[1]], {0.5: "a"}), "groups: .*0.5 is a float, never an id"),
    (lambda: exposure(ITEMS, {1: "a"}, padding=0), "counted already: it takes no padding"),
    (lambda: exposure([[1]], series(["a"], [1]).to_frame()), "groups is a table: give groups=dict"),
    (lambda: exposure([[1]], discuont="1"), "no keyword 'discuont': it has groups"),
    (
        lambda: exposure([[9]], unknown="skip"),
        "unknown= is about items that are not in a catalogue",
    ),
    (lambda: ONE + 1, "GroupExposure"),
]


def series(values, index):
    return pytest.importorskip("pandas").Series(values, index=index)


@pytest.mark.parametrize(("call", "words"), WRONG_VALUES + WRONG_TYPES)
def test_what_is_refused(call, words):
    error = TypeError if (call, words) in WRONG_TYPES else ValueError
    with pytest.raises(error, match=words):
        call()
