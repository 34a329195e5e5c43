"""Grades of a truth: gains, the threshold, and what no grade can be."""

import math

import numpy as np
import pytest
from shared_inputs import DOORS, NAN, rows

import toplist as tl
from toplist import Lists, match


def test_a_truth_is_a_set():
    for truth in ([7, 7, 5], (7, 5, 7), np.array([5, 7, 7]), np.array([7, 5, 7], np.uint8)):
        assert rows(match([[7, 5]], [truth])) == [([1, 2], 2, 2)]
    graded = Lists([0, 3], [7, 5, 7], gains=[2, 1, 2])
    assert rows(match([[7, 5]], graded)) == [([1, 2], 2, 2)]
    assert match([[7, 5]], graded).ideal_gains.tolist() == [2.0, 1.0]


@pytest.mark.parametrize(
    ("gains", "options"),
    [([1, 2], {}), ([1, 0], {}), ([0, 1], {}), ([1, 3], {"relevant_from": 2}), ([0.5, 1], {})],
)
def test_two_grades_for_one_item(gains, options):
    truths = Lists([0, 1, 5], [4, 3, 3, 7, 7], gains=[1, 1, 1, *gains])
    with pytest.raises(ValueError, match=r"user 1 has item 7 twice.*different grades"):
        match([[4], [7]], truths, **options)


@pytest.mark.parametrize("bad", [-1, -0.5, NAN, math.inf, -math.inf, np.float32(-2)])
def test_impossible_grades(bad):
    number = str(float(bad))
    for ranks, truths, named in (
        ([[7, 8]], [{7: 1, 8: bad}], "user 0, item 8"),
        (["x"], {"x": bad}, "user 0, item 'x'"),
        ({"ann": ["x"]}, {"ann": {"y": 1, "x": bad}}, "user 'ann', item 'x'"),
        ([[1], [2]], Lists([0, 1, 2], [1, 2], gains=[1, bad]), "user 1, item 2"),
    ):
        with pytest.raises(ValueError, match=rf"{named}: grade {number}; .*finite"):
            match(ranks, truths)


@pytest.mark.parametrize("bad", ["a", None, [1], {1}])
def test_grades_that_are_no_numbers(bad):
    with pytest.raises(TypeError, match=r"ground_truths: grade .* not a number"):
        match([[7]], [{7: bad}])


@pytest.mark.parametrize("door", DOORS)
def test_relevant_from_needs_grades(door):
    for ranks, truths in (([7], {7}), ([[7]], [[7]]), ([[7]], [7]), ({"a": [7]}, {"a": [7]})):
        with pytest.raises(ValueError, match="relevant_from=2 needs ground truths with grades"):
            door(ranks, truths, relevant_from=2)


@pytest.mark.parametrize("bad", [-1, NAN, "2", [1]])
def test_relevant_from_is_a_grade(bad):
    with pytest.raises(ValueError, match=r"relevant_from=.*: give a grade, 0 or more"):
        match([[7]], [{7: 1}], relevant_from=bad)


def test_grades_whose_squares_overflow():
    for ranks, truths, gains, words in (
        ([["a", "b"]], [{"a": 1, "b": 1e308}], "linear", r"user 0, item 'b': grade 1e\+308 is too"),
        (
            {"u": ["b"]},
            {"u": {"b": 1e200}},
            "linear",
            "user 'u', item 'b': grade 1e.200 is too large",
        ),
        (["a"], {"a": 600}, "exponential", r"2\^grade of grade 600 is too large.*gains='linear'"),
        ([[7]], [{7: 1, 8: 2000}], "exponential", "user 0, item 8.*2000"),
    ):
        with pytest.raises(ValueError, match=words):
            tl.ndcg(ranks, truths, gains=gains)
    with pytest.raises(ValueError, match="Hits: gains must be 0 or more, and at most 1e.140"):
        tl.Hits([0, 1], [1], [1], [1], gains=[1e200], ideal_gains=[1e200])
    result = tl.top_k_eval([["a"], ["b"]], [{"a": 1e140}, {"c": 1e140}], 1, metrics="dcg")
    assert np.isfinite(result.std("dcg@1")) and result["dcg@1"] == 5e139


@pytest.mark.parametrize("grade", [1e-17, 5e-324, 1e-4])
def test_exponential_gains_of_small_grades(grade):
    assert tl.ndcg(["a"], {"a": grade}, gains="exponential").tolist() == [1.0]
    gain = tl.match(["a"], {"a": grade}, gains="exponential").gains[0]
    assert gain == pytest.approx(grade * np.log(2), rel=1e-3) or grade == 5e-324


def test_ordinary_gains_keep_their_bits():
    for grade in (0.001, 0.01, 0.5, 1.5, 3.0, 10.0):
        gain = tl.match(["a"], {"a": grade}, gains="exponential").gains[0]
        assert gain == np.exp2(grade) - 1


def test_a_negative_grade_gets_the_way_out_in_every_form(tmp_path):
    pandas = pytest.importorskip("pandas")
    lists, table = {"q": ["a"]}, {"user_id": ["q"] * 2, "item_id": ["a", "b"], "relevance": [1, -1]}
    csv, lines = tmp_path / "t.csv", tmp_path / "t.jsonl"
    pandas.DataFrame(table).to_csv(csv, index=False)
    pandas.DataFrame(table).to_json(lines, orient="records", lines=True)
    forms = {"q": {"a": 1, "b": -1}}, pandas.DataFrame(table), csv, lines
    for truths in forms:
        with pytest.raises(ValueError, match=r"-1.*: write 0 for an item that was judged"):
            tl.top_k_eval(lists, truths, 1)
    with pytest.raises(ValueError, match=r"-1.*: write 0 for an item"):
        tl.Lists.from_matrix([[1, -1]])
    qrels = tmp_path / "t.qrels"
    qrels.write_text("q 0 a 1\nq 0 b -1\n")
    assert tl.top_k_eval(lists, qrels, 1)["recall@1"] == 1  # as in trec_eval
