"""The joined lists: what is read, repeats, judged items, and a truth in which nothing is found."""

import pickle

import numpy as np
import pytest
from shared_inputs import DOORS, csv_of, frame_of, library, rows

import toplist as tl
from toplist import match
from toplist.inputs import Lists


def test_a_repeat_below_k_is_not_read():
    for ranks in ([[1, 2, 1]], np.array([[1, 2, 1]]), Lists([0, 3], [1, 2, 1]), {0: [1, 2, 1]}):
        truths = {0: [1]} if isinstance(ranks, dict) else [[1]]
        assert rows(match(ranks, truths, 2)) == [([1], 1, 2)]
        with pytest.raises(ValueError, match="item 1 at ranks 1 and 3"):
            match(ranks, truths, 3)


REPEATS = [
    ([[1], [5, 7, 9, 7]], [{1}, {7}], "user 1 has item 7 at ranks 2 and 4"),
    ([[8, 8]], [set()], "user 0 has item 8 at ranks 1 and 2"),
    (np.array([[3, 2, 3]], np.int8), [2], "user 0 has item 3 at ranks 1 and 3"),
    ({"ann": ["a", "b", "a"]}, {"ann": "b"}, "user 'ann' has item 'a' at ranks 1 and 3"),
    ({7: ["a"], 8: ["b", "b"]}, {8: "a", 7: "a"}, "user 8 has item 'b' at ranks 1 and 2"),
    ([[-1, -(2**63), -(2**63)]], [[1]], f"user 0 has item {-(2**63)} at ranks 2 and 3"),
    (np.array([["x", "y", "y"]]), ["x"], "user 0 has item 'y' at ranks 2 and 3"),
]


@pytest.mark.parametrize("door", DOORS[:2])
@pytest.mark.parametrize(("ranks", "truths", "message"), REPEATS)
def test_an_item_twice_in_a_list(door, ranks, truths, message):
    with pytest.raises(ValueError, match=rf"{message}: .*duplicates='first'"):
        door(ranks, truths)
    door(ranks, truths, duplicates="first")


GRADED = {"a": 1, "b": 3, "c": 2}


def test_hits_are_of_all_judged_items():
    ranks, truths = [["a", "b", "c"], ["z", "y"]], [GRADED | {"d": -1}, {"y": 1}]
    hits = tl.match(ranks, truths, relevant_from=2)
    assert hits.ranks.tolist() == [1, 2, 3, 2] and hits.n_truth.tolist() == [4, 1]
    assert hits.grades.tolist() == [1, 3, 2, 1] and hits.truth_grades.tolist() == [3, 2, 1, -1, 1]
    assert hits.relevant.ranks.tolist() == [2, 3] and hits.n_relevant.tolist() == [2, 0]
    assert hits.relevant.gains.tolist() == [3, 2] and hits.relevant.ideal_gains.tolist() == [3, 2]
    judged = hits.judged
    assert judged.ranks.tolist() == [1, 2, 3, 2] and judged.n_relevant.tolist() == [3, 1]
    assert hits.every_judged.n_relevant.tolist() == [4, 1]
    assert hits.from_grade(3).ranks.tolist() == [2] and not hits.from_grade(3).n_relevant[1]
    exponential = tl.match(
        ranks,
        truths,
        relevant_from=2,
        convention=tl.CONVENTIONS["standard"].replace(gains="exponential"),
    ).judged
    assert exponential.gains.tolist() == [1, 7, 3, 1]


@pytest.mark.parametrize("least", [None, 0, 1])
def test_where_all_is_relevant_hits_are_not_copied(least):
    for truth in (GRADED, {"a": 1, "b": 1}):
        hits = tl.match([["a", "b", "c"]], [truth], relevant_from=least)
        assert hits.judged is hits.relevant and hits.every_judged is hits.relevant
        assert np.shares_memory(hits.relevant.ranks, hits.ranks)
        assert (hits.grades is None) == (truth is not GRADED)


def test_judged_hits_of_tables_go_along():
    table = library("pandas").DataFrame(
        {"user_id": ["u"] * 3 + ["v"], "item_id": ["a", "b", "c", "a"], "relevance": [1, 3, 2, 5]}
    )
    ranks = {"u": ["a", "b", "c"], "v": ["b", "a"]}
    hits = tl.match(ranks, table, relevant_from=2)
    assert hits.users == ["u", "v"] and hits.judged.ranks.tolist() == [1, 2, 3, 2]
    assert pickle.loads(pickle.dumps(hits)).judged.ranks.tolist() == [1, 2, 3, 2]
    assert hits.subset([1, 0]).judged.ranks.tolist() == [2, 1, 2, 3]
    all_relevant = tl.match({"w": ["x"]}, {"w": {"x": 4}}, 3, relevant_from=2)
    deep = tl.match(ranks, table, 3, relevant_from=2)
    for both in (deep + all_relevant, all_relevant + deep):
        assert sorted(both.users) == ["u", "v", "w"] and len(both.judged.ranks) == 5
        assert len(both.relevant.ranks) == 4


@pytest.mark.parametrize("seed", range(5))
def test_grades_below_0_stand_last_in_the_truth(seed):
    rng = np.random.default_rng(seed)
    grades = rng.choice([-2.5, -1, -0.0, 0, 0.5, 3], 40)
    hits = tl.match([list(range(40))], [dict(enumerate(grades.tolist()))])
    assert hits.truth_grades.tolist() == sorted(grades.tolist(), reverse=True)


@pytest.mark.parametrize(
    ("listed", "relevant", "cause"),
    [
        ("1172.0", "1172", "a trailing .0"),
        ("1172", "1172.0", "a trailing .0"),
        (" tt7", "tt7", "blanks"),
        ("TT7", "tt7", "upper and lower case"),
        ("007", "7", "leading zeros"),
        ("xyz", "abc", ""),
    ],
)
def test_examples_of_ids_that_differ_in_spelling(listed, relevant, cause):
    ranks, truths = [["p", "q"], ["r", listed]], [["s", "t"], ["u", relevant]]
    keyed = dict(zip("vw", ranks, strict=True)), dict(zip("vw", truths, strict=True))
    for hits in (tl.match(ranks, truths), tl.match(*keyed)):
        ids = (listed, relevant) if cause else ("p", "s")
        assert hits.about.unmatched == (*ids, cause)
    table = library("pandas").DataFrame({"user_id": ["w"], "item_id": [listed], "rank": [1]})
    assert tl.match(table, {"w": {relevant}}).about.unmatched.cause == cause


def unmatched(ranks, truths, k=None):
    return tl.match(ranks, truths, k).about.unmatched


def test_only_without_a_hit():
    assert unmatched([["a", "1.0"]], [{"a", "1"}]) is None
    assert unmatched([["a"], ["1.0"]], [{"b"}, {"1"}]).cause == "a trailing .0"
    # an id on both sides: they are written alike, nobody has a hit
    assert unmatched([["a"], ["1.0"]], [{"1"}, {"a"}]) == ("a", "1", "")
    assert unmatched([[5, 6]], [{7}]) == ("5", "7", "")
    assert unmatched([["a"]], [{"a": 0, "b": 1}]) == ("a", "a", "")  # it is judged not relevant
    assert unmatched([[]], [{7}]) is None and unmatched([[1]], [[]]) is None
    both = tl.match([["a"]], [{"b"}], 1) + tl.match([["1.0"]], [{"1"}], 1)
    assert both.about.unmatched == ("1.0", "1", "a trailing .0")
    assert (both + tl.match([["a"]], [{"a"}], 1)).about.unmatched is None


@pytest.mark.parametrize("form", ["array", "lists", "Lists", "dict", "table"])
def test_a_matrix_of_integers_as_truth(form):
    matrix, ranks = [[0, 1, 1, 0], [1, 0, 0, 1]], [[3, 0, 1], [2, 1, 0]]
    truth = {"array": np.array(matrix), "lists": matrix}.get(form, dict(enumerate(matrix)))
    if form == "Lists":
        truth = tl.inputs.Lists([0, 4, 8], np.ravel(matrix))
    elif form in ("dict", "table"):
        ranks = dict(enumerate(ranks))
    if form == "table":
        truth = frame_of("polars", {"user_id": [0, 1], "item_id": matrix})
    with pytest.raises(ValueError, match=r"user 0 has 1 twice.*Lists\.from_matrix\(matrix\).*sets"):
        tl.recall(ranks, truth)


def test_ids_0_and_1_are_ids_where_no_row_repeats_one():
    assert tl.recall([[3, 0, 1]], [[0, 1]]).tolist() == [[0, 0.5, 1]]
    assert tl.recall([[3, 0, 1]], [{0, 1}]).tolist() == [[0, 0.5, 1]]
    assert tl.match([[3, 0]], np.array([[1, 0, 0]]), padding=0).n_relevant.tolist() == [1]
    with pytest.raises(ValueError, match="user 0 has 1 twice"):
        tl.match([[3, 0]], np.array([[1, 1, -1]]), padding=-1)
    assert tl.match([[3, 0]], [[1, 1, 2]]).n_relevant.tolist() == [2]
    assert tl.match([["0", "1"]], [["0", "1", "1"]]).n_relevant.tolist() == [2]


def test_files_without_any_hit_name_the_likely_cause(tmp_path):
    """Numbers that a data frame wrote as 1172.0."""
    recs = csv_of(tmp_path / "recs.csv", "user_id,item_id,rank", "ann,1172.0,1", "bob,7.0,1")
    truth = csv_of(tmp_path / "truth.csv", "user_id,item_id", "ann,1172", "bob,7")
    for keep in (None, "users"):
        text = repr(tl.top_k_eval(recs, truth, k=1, metrics="hit", keep=keep))
        assert "NO HIT AT ALL: the lists hold items such as '1172.0', the ground truths" in text
        assert "likely cause: a trailing .0" in text
