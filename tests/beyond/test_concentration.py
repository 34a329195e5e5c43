"""Concentration of merged exposures: counts of any size are exact, parts add up to the whole."""

import pickle
from collections import Counter

import numpy as np
import pytest
from doors import by_words
from listwise import listwise
from oracle import beyond as oracle

import toplist as tl
from toplist import beyond

LISTS = [[5, 7, 3], [4, 5, 2], [2, 3, 5], [1, 4, 6], [5, 3, 7]]
CATALOGUE = 9
LISTED = beyond.exposure(LISTS, catalogue=8).counts()


def counted(lists, k):
    return dict(Counter(oracle.listings(lists, k).values()))


def doubled(exposure, times):
    for _ in range(times):
        exposure = exposure + exposure
    return exposure


@pytest.mark.parametrize("times", [20, 24, 31, 40, 53, 57])
def test_merged_exposures_beyond_31_bits_are_exact(times):
    """As Python's integers and fractions say it."""
    found = doubled(beyond.exposure(LISTS, catalogue=CATALOGUE), times)
    counts = {
        k: {c << times: n for c, n in counted(LISTS, k).items()} for k in (1, 2, 3)
    }  # each list 2^times times
    assert found.n_users == 5 << times
    assert found.counts().tolist() == [count << times for count in LISTED] + [0]
    assert found.curves.total.tolist() == [5 << times, 10 << times, 15 << times]
    coverage = [oracle.coverage_of_counts(one, CATALOGUE) for one in counts.values()]
    assert listwise.item_coverage(found).tolist() == coverage
    gini = [oracle.gini_of_counts(one, CATALOGUE) for one in counts.values()]
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
    np.testing.assert_allclose(listwise.personalisation(found), expected, rtol=0, atol=4e-16)


def test_parts_add_up_to_the_whole():
    """Of 2^61 items too, whose places times ranks pass 2^63."""
    rng = np.random.default_rng(8)
    lists = [rng.permutation(30)[: rng.integers(0, 9)].tolist() for _ in range(40)]
    for catalogue in (30, list(range(29, -1, -1)), 10**7, 2**61):
        options = {"catalogue": catalogue, "unknown": "skip"}
        whole = tl.beyond.exposure(lists, 8, **options)
        parts = [tl.beyond.exposure(lists[at : at + 7], 8, **options) for at in range(0, 40, 7)]
        before = pickle.dumps(parts[0])
        added = sum(parts)
        for found in (added, pickle.loads(pickle.dumps(added)), added.without_lists()):
            assert found.n_users == sum(map(bool, lists)) < 40
            for mine, theirs in zip(found.pairs, whole.pairs, strict=True):
                assert np.array_equal(mine, theirs)
            assert np.array_equal(listwise.gini(found), listwise.gini(whole))
            assert np.array_equal(listwise.item_coverage(found), listwise.item_coverage(whole))
            entropies = listwise.shannon_entropy(found), listwise.shannon_entropy(whole)
            assert np.array_equal(*entropies)
        assert pickle.dumps(parts[0]) == before  # nothing was added to the first part itself


# What is a list, and which exposures merge


@pytest.mark.parametrize("nothing", [{}, {"c": []}, {"c": [-1, -1]}])
def test_an_empty_list_is_no_list(nothing):
    """Two lists of two items share one: their overlap is a half."""
    lists = {"a": [1, 2], "b": [1, 3], **nothing}
    known = {"catalogue": 4, "padding": -1}
    names = ["personalisation", "item_coverage", "gini"]
    result = by_words(lists, {"a": {1}, "c": {2}}, 2, metrics=names, **known)
    assert [result[f"{name}@2"] for name in names] == [0.5, 0.75, 0.375]
    assert [result.n_of(name) for name in names] == [2, 2, 2]
    assert listwise.personalisation(lists, 2, padding=-1).tolist() == [0, 0.5]
    assert beyond.exposure(lists, 2, **known).n_users == 2


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
        assert dict(zip(merged.catalogue, merged.counts(), strict=True)) == {"z": 1, "a": 2, "m": 2}
        assert dict(zip(merged.catalogue, merged.counts(1), strict=True)) == {
            "z": 1,
            "a": 1,
            "m": 1,
        }
        assert listwise.gini(merged)[-1] == pytest.approx(2 / 15, rel=1e-15)
    with pytest.raises(ValueError, match="over two catalogues"):
        parts[0] + beyond.exposure([["a"]], 2, catalogue=["a", "m", "y"])
