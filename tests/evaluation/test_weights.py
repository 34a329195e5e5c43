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


def test_users_of_weight_0_are_counted_nowhere(tmp_path):
    """Of four users with a truth, two weigh something; every metric says so."""
    lists = {"a": ["x"], "b": ["y"], "c": ["x"], "d": []}
    truths = {"a": {"x": 2}, "b": {"x": 1}, "c": {"z": 0, "x": 1}, "d": {"y": 1}}
    names = ["hit", "ndcg", "judged", "complete", "recall(rel=1)", "group_recall"]
    weights = {"a": 0.0, "b": 1.0, "c": 3.0, "d": 0.0}
    result = tl.top_k_eval(lists, truths, 1, metrics=names, weights=weights)
    assert {name: result.n_of(name) for name in names} == dict.fromkeys(names, 2)
    assert (result.n_evaluated, result.n_skipped) == (2, 2)
    assert "2 of 4 users evaluated, 2 skipped (no relevant items, or a weight of 0)" in str(result)
    assert result["hit@1"] == 3 / 4 and result.per_user("hit@1").tolist() == [1, 0, 1, 0]
    some = {user: weight for user, weight in weights.items() if weight}
    alone = tl.top_k_eval(lists, {u: truths[u] for u in some}, 1, metrics=names, weights=some)
    for name in names:
        assert result.interval(f"{name}@1") == alone.interval(f"{name}@1")
    result.save(tmp_path / "kept.npz")
    assert tl.TopKResult.load(tmp_path / "kept.npz") == result
