"""Weights of users, by key or by position."""

import numpy as np
import pytest

import toplist as tl


@pytest.mark.parametrize(
    "weights",
    [
        ["1", "2"],
        np.array(["2020-01-01", "2020-01-02"], "M8[D]"),
        np.array([1, 2], "m8[s]"),
        [1 + 2j, 1],
        np.ma.array([1.0, 2.0], mask=[0, 1]),
        *([1e308, 1e308], [1e101, 1.0], [1e-200, 1e-200]),  # means of 0 and spreads of NaN
    ],
)
def test_weights_are_numbers_that_do_not_overflow(weights):
    with pytest.raises((TypeError, ValueError), match="weights|weight "):
        tl.top_k_eval([[1], [2]], [{1}, {2}], k=1, weights=weights)


def test_weights_of_a_series_go_by_key():
    """A Series was read in the order of its rows."""
    pandas = pytest.importorskip("pandas")
    lists = {"ann": [1], "bob": [2], "eve": [3]}
    truth = {"ann": {1}, "bob": {9}, "eve": {9}}
    weights = {"eve": 100.0, "bob": 1.0, "ann": 1.0}
    by_dict = tl.top_k_eval(lists, truth, k=1, metrics="hit", weights=weights)["hit@1"]
    series = pandas.Series(weights)
    assert tl.top_k_eval(lists, truth, k=1, metrics="hit", weights=series)["hit@1"] == by_dict
    assert by_dict == 1 / 102
    with pytest.raises(TypeError, match=r"counts its rows.*\.set_index.*\.to_numpy\(\) if"):
        tl.top_k_eval(lists, truth, k=1, weights=pandas.Series([1.0, 2.0, 3.0]))


def test_weights_of_a_series_beside_positions():
    """By position only where the Series has no keys of its own."""
    pandas = pytest.importorskip("pandas")
    lists, truths = [[1], [2]], [{1}, {9}]
    plain = tl.top_k_eval(lists, truths, k=1, weights=pandas.Series([3.0, 1.0]))
    assert plain["hit@1"] == 0.75
    with pytest.raises(TypeError, match="users="):
        tl.top_k_eval(lists, truths, k=1, weights=pandas.Series({"a": 3.0, "b": 1.0}))
    table = pandas.DataFrame({"user_id": ["a", "b"], "weight": [3.0, 1.0]})
    with pytest.raises(TypeError, match=r"weights is a table: .*dict\(zip"):
        tl.top_k_eval(lists, truths, k=1, weights=table)
