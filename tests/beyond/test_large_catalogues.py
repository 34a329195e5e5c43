"""Catalogues of any size, shares and vectors of extreme numbers."""

import pickle
import tracemalloc

import numpy as np
import pytest
from listwise import listwise
from shared_inputs import library

import toplist as tl


def test_a_share_is_what_is_written():
    def tail(share):
        lists = [list(range(100))]
        found = listwise.tail_percentage(lists, counts=list(range(100)), share=share)
        return round(float(found[0, -1] * 100))

    shares = [0.29, 0.57, 0.1, 0.295, 1]
    assert list(map(tail, shares)) == [29, 57, 10, 29, 100]


def test_cosines_of_extreme_vectors():
    def diversity(a, b, **options):
        features = {"a": a, "b": b}
        return listwise.intra_list_diversity([["a", "b"]], features=features, **options)[0, 1]

    for size in (1e200, 1e308, 1e-155, 1e-170, 1e-308):
        assert diversity([size, 0], [size, 0]) == 0.0
        assert diversity([size, 0], [0, size]) == 1.0
        assert diversity([size, size], [3.0, 3.0]) == pytest.approx(0, abs=1e-15)
    assert diversity([0, 0], [1, 0]) == 1.0
    with pytest.raises(ValueError, match=r"item 'a' has a number beyond 3e\+135"):
        diversity([1e200, 0], [0, 1], distance="euclidean")


def test_a_large_catalogue_costs_what_the_lists_cost():
    lists, n = [[5, 999_999_999, 3], [4, 5, 2], [2, 3, 5]], 10**9
    tracemalloc.start()
    found = tl.beyond.exposure(lists, catalogue=n)
    coverage, gini = listwise.item_coverage(found), listwise.gini(found)
    again = pickle.loads(pickle.dumps(found))
    part = tl.beyond.exposure(lists[:1], catalogue=n) + tl.beyond.exposure(lists[1:], catalogue=n)
    assert tracemalloc.get_traced_memory()[1] < 1 << 24
    tracemalloc.stop()
    small = tl.beyond.exposure([[5, 7, 3], [4, 5, 2], [2, 3, 5]], catalogue=8)
    assert np.array_equal(coverage * n, listwise.item_coverage(small) * 8)
    for other in (again, part):
        assert np.array_equal(listwise.gini(other), gini)
        assert np.array_equal(listwise.shannon_entropy(other), listwise.shannon_entropy(small))
        assert other.n_items == n and repr(other) == repr(found)
    assert gini[-1] == pytest.approx(1, abs=1e-8)
    assert len(found.pairs.items) == len(small.pairs.items)
    assert found.pairs.items.max() == 999_999_999


@pytest.mark.parametrize("n", [8, pytest.param(1_100_000, marks=pytest.mark.slow)])
def test_same_numbers_at_any_size(n):
    lists = [[5, 7, 3], [4, 5, 2], [2, 3, 5], [1, 4, 6], [5, 3, 7]]
    ids = np.arange(n)
    for metric in (listwise.item_coverage, listwise.gini, listwise.shannon_entropy):
        assert np.array_equal(metric(lists, catalogue=n), metric(lists, catalogue=ids))
    assert tl.beyond.exposure(lists, catalogue=n).counts()[:8].tolist() == [0, 1, 2, 3, 2, 4, 1, 2]


def test_unknown_items_and_repeats_of_a_large_catalogue():
    n = 10**9
    for lists, words in (
        ([[1], [2, n]], "user 1 lists item 1000000000 at rank 2"),
        ([[-1]], "user 0 lists item -1 at rank 1"),
        ([[1, 1]], "item 1 at ranks 1 and 2"),
    ):
        with pytest.raises(ValueError, match=words):
            listwise.item_coverage(lists, catalogue=n)
    found = tl.beyond.exposure([[1, 1, n, 7]], catalogue=n, unknown="skip", duplicates="first")
    assert found.curves.total.tolist() == [1, 1, 1, 2]
    with pytest.raises(TypeError, match="ids of two kinds, 'a' in ranks and 0 in catalogue"):
        listwise.item_coverage([["a"]], catalogue=n)
    assert listwise.item_coverage([[1, 2]], catalogue=10**12).tolist() == [1e-12, 2e-12]
    found = tl.beyond.exposure([[2**63 - 1, -1, 5]], catalogue=n, unknown="skip")
    assert found.curves.total.tolist() == [0, 0, 1]
    table = library("pandas").DataFrame({"user_id": [1, 1], "item_id": [5, 7], "rank": [1, 2]})
    assert listwise.item_coverage(table, catalogue=n).tolist() == [1e-9, 2e-9]
