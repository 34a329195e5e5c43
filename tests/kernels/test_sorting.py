import numpy as np
import pytest

from toplist.kernels.grouping import count_tied
from toplist.kernels.hashing import order_of_rows


@pytest.mark.parametrize("distinct", [1, 3, 1000, 2**62])
def test_rows_are_sorted_as_by_numpy(distinct):
    rng = np.random.default_rng(distinct % 7)
    offsets = 5 + np.cumsum([0, 0, 1, 2, 15, 16, 17, 31, 32, 33, 64, 65, 0, 700, 16 * 16])
    row = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    for keys in (rng.integers(-distinct, distinct, len(row)), np.arange(len(row)) // 2):
        for given in (keys, -keys):
            order, again = order_of_rows(given, offsets)
            assert (order == np.lexsort((given, row))).all()
            same = (np.diff(given[order]) == 0) & (np.diff(row) == 0)
            assert (again == 1 + np.flatnonzero(same)).all()


def test_ties_are_counted_in_any_order():
    lists = [[3.0, 1, 1], [0.0, 2, -0.0, 2, 2], [], [5], [1, 2], [2, 2, 1]]
    scores, offsets = np.concatenate(lists), np.cumsum([0, *map(len, lists)])
    assert count_tied(scores, offsets) == 9
    assert [count_tied(scores, offsets[u : u + 2]) for u in range(6)] == [2, 5, 0, 0, 0, 2]
    assert count_tied(scores.astype(int), offsets) == 9
