"""Scores past the last item, and columns that are left out."""

import pytest

import toplist as tl


@pytest.mark.parametrize(
    ("exclude", "message"),
    [
        ([[1.7]], r"user 0 has 1\.7: columns are whole numbers"),
        ([["1"]], "user 0 has '1': columns are whole numbers"),
        ([[True]], "user 0 has True: columns are whole numbers"),
        ({0: [1]}, "exclude is a dict: give one container of columns per user"),
        ([0], "user 0 has 0 instead of a container of columns"),
        ([None], "user 0 has None instead of a container of columns"),
    ],
)
def test_excluded_columns_are_checked(exclude, message):
    with pytest.raises(TypeError, match=message):
        tl.scores.top_k([[1.0, 2.0]], 2, exclude)


def test_scores_past_the_last_item():
    curve = tl.scores.ndcg([[3, 2, 1]], relevance=[[0, 1, 0]], k=5)
    assert curve.shape == (1, 5)
    assert curve[0, 2:].tolist() == [curve[0, 2]] * 3
