"""Mistakes at the door are told with the way out."""

import os
import pathlib

import numpy as np
import pytest
from doors import by_words
from shared_inputs import DOORS, LIBRARIES, frame_of, library

import toplist as tl

RANKS, TRUTHS = [[1, 2, 3], [4, 5, 6]], [{1, 9}, {6}]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": 3}, "metrics=3: give names, or Metric objects"),
        ({"metrics": 5}, "metrics=5: give names, or Metric objects"),
        ({"weights": [1, "a"]}, "weights must be numbers, one per user"),
        ({"k": [5, 5]}, r"k=\[5, 5\] holds a cut-off twice"),
        ({"n_threads": 0}, "n_threads must be a whole number from 1 on, not 0"),
    ],
)
def test_options_are_told_in_words(options, message):
    with pytest.raises(ValueError, match=message):
        by_words(RANKS, TRUTHS, **{"k": 2, **options})


def test_hints():
    with pytest.raises(ValueError, match="padding=-1"):
        tl.match(np.array([[5, -1, -1]]), [[5]])
    with pytest.raises(TypeError, match="a masked array: fill it"):
        tl.match(np.ma.array([[1, 2]]), [[1]])
    with pytest.raises(ValueError, match=r"match\(\.\.\., k=9\) reads deeper"):
        tl.top_k_eval(tl.match(RANKS, TRUTHS), k=9)


def test_padding_in_a_set_has_no_place_to_stand_at():
    assert tl.match([[5, 7]], [{7, -1}], padding=-1).n_relevant.tolist() == [1]


@pytest.mark.parametrize(
    ("ranks", "truths", "said"),
    [
        ("knn.csv", "truth.csv", r"ranks looks .*\.top_k_eval\('knn.csv', 'truth.csv', k=10\)"),
        (pathlib.Path("knn.csv"), [[1]], r"ranks looks .*\.top_k_eval\('knn.csv', \.\.\., k=10"),
        ([[1]], pathlib.Path("t.csv"), r"ground_truths looks .*\.top_k_eval\(\.\.\., 't.csv'"),
        (os.curdir, [[1]], r"ranks looks like a path"),
        ("knn", [[1]], "ranks is a str, which has no ranking: are the arguments swapped"),
    ],
)
def test_paths_of_files_get_the_function_for_files(ranks, truths, said):
    for function in (tl.match, tl.ndcg):
        with pytest.raises(TypeError, match=said):
            function(ranks, truths, 10)
    if said.endswith("swapped"):
        with pytest.raises(TypeError, match=said):
            tl.top_k_eval(ranks, truths, 10)


@pytest.mark.parametrize("value", ["rank", "score"])
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables_in_each_others_place_are_told(library, value):
    module = pytest.importorskip(library)
    make = module.table if library == "pyarrow" else module.DataFrame
    ids = {"user_id": [1, 2], "item_id": [3, 4]}
    truths, ranks = make(ids), make(ids | {value: [1, 1]})
    assert tl.top_k_eval(ranks, truths, 1)["hit@1"] == 1
    words = r"ranks: no column 'rank' or 'score'.*\(is this the ground truth\?\)"
    with pytest.raises(ValueError, match=words):
        tl.top_k_eval(truths, ranks, 1)


def test_a_table_with_a_name_that_is_nearly_right_gets_a_hint():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"User ID": [1], "itemId": [2], "Rank": [1]})
    truth = pandas.DataFrame({"user_id": [1], "item_id": [2]})
    with pytest.raises(ValueError, match=r"\(did you mean 'User ID', 'itemId'\?\)"):
        tl.top_k_eval(table, truth, 1)
    with pytest.raises(ValueError, match=r"\(did you mean 'Rank'\?\)"):
        tl.top_k_eval(table.rename(columns={"User ID": "user_id", "itemId": "item_id"}), truth, 1)


def test_lazy_frames_are_collected_on_both_sides():
    polars = pytest.importorskip("polars")
    lazy = polars.LazyFrame({"user_id": [1], "item_id": [2], "rank": [1]})
    for sides, name in (((lazy, {1: [2]}), "ranks"), (({1: [2]}, lazy), "ground_truths")):
        with pytest.raises(TypeError, match=rf"is a LazyFrame: {name}\.collect\(\) makes a table"):
            tl.top_k_eval(*sides, 1)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_list_of_tables_gets_the_way_out(library):
    module = pytest.importorskip(library)
    make = module.table if library == "pyarrow" else module.DataFrame
    table = make({"user_id": [1], "item_id": [2], "rank": [1]})
    for sides, name in ((([table], [table]), "ranks"), ((table, [table]), "ground_truths")):
        with pytest.raises(TypeError, match=f"^{name} is a list of tables: give one table"):
            tl.top_k_eval(*sides, 1)


def test_integers_of_any_size_are_told_in_one_line():
    big = 10**400
    for k in (2**63, 10**30):
        for call in (tl.ndcg, tl.top_k_eval, tl.match):
            with pytest.raises(ValueError, match=f"k must be below 2\\^63, not {k}$"):
                call([[1]], [{1}], k)
        with pytest.raises(ValueError, match="k must be a whole number from 1 on, below 2"):
            tl.top_k_eval([[1]], [{1}], metrics=f"ndcg@{k}")
    for lists, weights in (([[1]], [big]), ({0: [1]}, {0: big})):
        with pytest.raises(ValueError, match="user 0 has weight inf: a number from 0"):
            tl.top_k_eval(lists, lists, 1, weights=weights)
    with pytest.raises(ValueError, match="user 0, item 1: grade inf"):
        tl.top_k_eval([[1]], [{1: big}], 1)
    with pytest.raises(ValueError, match="item 1: grade inf"):
        tl.top_k_eval([[1]], tl.inputs.Lists([0, 1], [1], [big]), 1)
    with pytest.raises(ValueError, match="relevant_from=1000.*: give a grade, 0 or more"):
        tl.top_k_eval([[1]], [{1: 1}], 1, relevant_from=big)
    with pytest.raises(ValueError, match="the value of user 0 of a is inf"):
        tl.inference.paired_tests({"a": [big, 1], "b": [1, 2]})


def test_a_weight_of_zero_counts_nothing_and_one_below_names_the_user_by_key():
    """u0 of weight 1 loses its hit, and u2 of weight 2 gets one: a third, whatever u1 does."""
    truths, users = {"u0": [1], "u1": [1], "u2": [2]}, ["u0", "u1", "u2"]
    weights = dict(zip(users, [1.0, 0.0, 2.0], strict=True))
    some = [{user: [row] for user in users} for row in (1, 2)]
    a, b = (tl.top_k_eval(one, truths, 1, weights=weights) for one in some)
    test = tl.compare({"a": a, "b": b}).test("hit@1")[0]
    assert test.n == 2 and test.difference == pytest.approx(1 / 3) == b["hit@1"] - a["hit@1"]
    values = {name: dict.fromkeys(users, 0.5) | {"u2": at} for at, name in enumerate("ab")}
    assert tl.inference.paired_tests(values, weights=weights)[0].n == 2
    with pytest.raises(ValueError, match=r"weight of user 'u1' is -1\.0: it must be 0 or more"):
        tl.inference.paired_tests(values, weights=weights | {"u1": -1.0})


NULL = float("nan"), None


@pytest.mark.parametrize("null", NULL, ids=repr)
@pytest.mark.parametrize("ids", [("a", "b"), (7, 8), (1019.0, 8.0)], ids=repr)
def test_an_item_that_is_missing_is_named_with_its_user_and_place(ids, null):
    """Integers beside a NaN are floats: these are not what is wrong."""
    one, other = ids
    whole = [int(i) if isinstance(i, float) else i for i in ids]
    lists = {"v": [other], "u": [one, null]}
    truths = {"v": {whole[1]}, "u": {whole[0]}}
    by_place = list(lists.values()), list(truths.values())
    said = f"ranks: user {{}} has {null!r} at rank 2: an item is missing"
    pandas = library("pandas")
    table = pandas.DataFrame({"user_id": ["v", "u"], "item_id": by_place[0]})
    sides = [
        ((lists, truths), "'u'"),
        (by_place, 1),
        ((pandas.Series(lists), truths), "'u'"),
        ((table, truths), "'u'"),
        (([np.array(row, object) for row in by_place[0]], by_place[1]), 1),
    ]
    for pair, user in sides:
        for door in DOORS:
            with pytest.raises(TypeError, match=said.format(user)):
                door(*pair)
    with pytest.raises(TypeError, match=said.format("'u'")):
        tl.beyond.shannon_entropy(lists)
    shown = f"ground_truths: user 'u' has {null!r} among its items: an item is missing"
    for truth in ({"u": [one, null]}, {"u": {null}}, {"u": {one: 1, null: 2}}, {"u": null}):
        for door in DOORS:
            with pytest.raises(TypeError, match=shown):
                door({"u": [whole[1]]}, truth)


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("items", [["a", None], [7, None], [7.0, float("nan")]], ids=repr)
def test_an_item_that_is_missing_in_a_table_is_named_with_its_row(name, items):
    columns = {"user_id": ["u", "u"], "item_id": items}
    said = r"column 'item_id' is null in row 1 \(user 'u'\): the id is missing"
    with pytest.raises(ValueError, match=f"ranks: {said}"):
        tl.match(frame_of(name, columns | {"rank": [1, 2]}), {"u": ["a"]})
    with pytest.raises(ValueError, match=f"ground_truths: {said}"):
        tl.match({"u": ["a"]}, frame_of(name, columns))
    if name != "pandas":  # its lists are those of Python
        lists = frame_of(name, {"user_id": ["v", "u"], "item_id": [items[:1], items]})
        said = r"holds a null in the list of row 1 \(user 'u'\), at place 2: the id is missing"
        with pytest.raises(ValueError, match=said):
            tl.match(lists, {"u": ["a"]})


def test_scores_beside_a_nan_are_not_items_that_are_missing():
    with pytest.raises(TypeError, match=r"0\.5 is a float.*scores enter by scores\.top_k"):
        tl.match([[0.5, float("nan")]], [{1}])


def test_a_null_in_a_list_of_jsonl(tmp_path):
    (tmp_path / "run.jsonl").write_text('{"user_id": "u", "item_id": ["a", null]}\n')
    (tmp_path / "truth.jsonl").write_text('{"user_id": "u", "item_id": ["a"]}\n')
    with pytest.raises(ValueError, match='run.jsonl:1: user "u" has null at place 2: an item is'):
        tl.top_k_eval(tmp_path / "run.jsonl", tmp_path / "truth.jsonl", 2)


@pytest.mark.parametrize("form", ["dict", "kept", *LIBRARIES])
@pytest.mark.parametrize("door", DOORS)
def test_ground_truths_without_a_user_are_refused(form, door):
    empty = {} if form in ("dict", "kept") else frame_of(form, {"user_id": [], "item_id": []})
    empty = tl.GroundTruths(empty) if form == "kept" else empty
    sides = [{"u": ["a"]}]
    if form in LIBRARIES:
        sides.append(frame_of(form, {"user_id": ["u"], "item_id": ["a"], "rank": [1]}))
    for ranks in sides:
        with pytest.raises(ValueError, match="ground_truths has no user, ranks has 'u'"):
            door(ranks, empty)


def test_empty_truths_of_users_and_no_user_on_either_side_are_accepted():
    for truth in ({"u": []}, {"u": {}}, {"u": set()}):
        result = tl.top_k_eval({"u": ["a"]}, truth, 2, metrics="mrr")
        assert (result.n_users, result.n_skipped) == (1, 1)
    assert tl.top_k_eval({}, {}, 2, metrics="mrr").n_users == 0
    assert tl.top_k_eval(["a"], {}, 2, metrics="mrr").n_skipped == 1  # the truth of one user
