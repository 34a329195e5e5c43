"""Lists of ids made by hand."""

import dataclasses
import math

import numpy as np
import pytest

import toplist as tl
from toplist.inputs import Lists


def test_lists():
    lists = Lists([0, 3, 3, 5], [5, 7, 8, 4, 6])
    assert len(lists) == 3
    assert [row.tolist() for row in lists] == [[5, 7, 8], [], [4, 6]]
    assert lists[-1].tolist() == [4, 6]
    assert repr(lists) == "Lists(3 users, 5 ids of int64)"
    with pytest.raises(dataclasses.FrozenInstanceError):
        lists.items = np.zeros(1)
    for user in (3, -4):
        with pytest.raises(IndexError, match=f"user {user} of 3"):
            lists[user]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Lists([1, 2], [5]), r"offsets must begin with 0 and end with len\(items\) = 1"),
        (lambda: Lists([0, 2], [5]), "offsets must begin with 0"),
        (lambda: Lists([0], [5]), "offsets must begin with 0"),
        (lambda: Lists([0, 2, 1, 3], [5, 7, 8]), "offsets fall after position 1"),
        (lambda: Lists([0.0, 1.0], [5]), "offsets must be a 1-D array of integers"),
        (lambda: Lists([[0, 1]], [5]), "offsets must be a 1-D array of integers"),
        (lambda: Lists([], []), "offsets must be"),
        (lambda: Lists([0, 1], [[5]]), "items a 1-D array"),
        (lambda: Lists([0, 1], [5], [1, 2]), "2 gains for 1 items"),
        (lambda: Lists.from_matrix([[0, -math.inf]]), r"entry -inf of user 0, item 1.*finite"),
        (lambda: Lists.from_matrix([[0.0, 1], [math.nan, 0]]), r"entry nan of user 1, item 0"),
        (lambda: Lists.from_matrix([[math.inf]]), r"entry inf of user 0, item 0"),
        (lambda: Lists.from_matrix([0, 1]), r"2-D array of numbers is needed .*not 1-D of int64"),
        (lambda: Lists.from_matrix([["a"]]), r"Lists\.from_matrix: a 2-D .*not 2-D of <U1"),
        (
            lambda: Lists.from_matrix([[None]]),
            r"2-D array of numbers .*not 2-D of object",
        ),
    ],
)
def test_lists_are_checked(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("dtype", [bool, int, np.uint8, np.float32])
def test_lists_from_a_matrix(dtype):
    lists = Lists.from_matrix(np.array([[0, 0, 1, 1], [0, 1, 0, 0], [0, 0, 0, 0]], dtype))
    assert [row.tolist() for row in lists] == [[2, 3], [1], []]
    assert lists.gains is None
    graded = Lists.from_matrix([[0, 0.5, 3], [1, 0, 0]])
    assert [row.tolist() for row in graded] == [[1, 2], [0]]
    assert graded.gains.tolist() == [0.5, 3.0, 1.0]
    assert tl.curves("cg", [[2, 1], [0, 1]], graded)[:, 1].tolist() == [3.5, 1.0]


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (["a", "b", 3], "several kinds, int, str"),
        ([True, 2, 5], "several kinds, bool, int"),
        ([0.5, 1.0, 2.0], "items are float64"),
        (np.array([True, False, True]), "items are bool"),
    ],
)
def test_lists_do_not_coerce_ids(items, message):
    with pytest.raises(TypeError, match=message):
        tl.inputs.Lists([0, 3], items)
