"""What a newcomer stumbled over: each told, or mended."""

import os
import pathlib
import pickle

import numpy as np
import pytest

import toplist as tl
from toplist import cli

RANKS, TRUTHS = [[1, 2, 3], [4, 5, 6]], [{1, 9}, {6}]


def test_a_table_of_zeros_asks_about_the_ids():
    result = tl.top_k_eval([["2.0", "3.0"]], [{"3"}], k=2)
    assert "NO HIT AT ALL: the lists hold items such as" in repr(result)
    assert "NO HIT" not in repr(tl.top_k_eval(RANKS, TRUTHS, k=2))


def test_an_own_metric_is_not_said_to_be_of_the_convention():
    standard = tl.METRICS["map"]
    result = tl.top_k_eval(RANKS, TRUTHS, k=3, convention="neurec", metrics=["mrr", standard])
    assert "convention neurec (except map: own definition)" in repr(result)
    assert "own definition, policies of convention neurec" in result.formula("map")
    assert "convention neurec; the same in" in result.formula("mrr")
    tuned = tl.top_k_eval(RANKS, TRUTHS, k=3, metrics=["rbp(p=0.5)"])
    assert "own definition" not in repr(tuned)


def test_grading_is_printed():
    truths = [{1: 5, 2: 3}, {6: 4}]
    options = {"relevant_from": 4, "gains": "exponential"}
    result = tl.top_k_eval(RANKS, truths, k=3, metrics=["ndcg", "recall"], **options)
    for told in (repr(result), result.formula("ndcg")):
        assert "relevant from grade 4, gain 2^grade - 1" in told
    assert "the same in" not in result.formula("ndcg")
    assert "relevant from grade 4; the same in" in result.formula("recall")


def test_per_user_never_overwrites_an_input(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in (
        ("r.csv", "user_id,item_id,rank\nu,a,1\n"),
        ("t.csv", "user_id,item_id\nu,a\n"),
    ):
        (tmp_path / name).write_text(text)
    for name in ("r.csv", "./t.csv"):
        with pytest.raises(SystemExit) as stopped:
            cli.main(["eval", "r.csv", "t.csv", "--per-user", name])
        assert stopped.value.code == 2
        assert "would overwrite an input file" in capsys.readouterr().err
    assert (tmp_path / "r.csv").read_text().startswith("user_id,item_id,rank")


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
        tl.Lists([0, 3], items)


@pytest.mark.parametrize("table", [tl.METRICS, tl.DIVISORS, tl.DISCOUNTS, tl.CONVENTIONS])
def test_the_tables_are_read_only(table):
    name = next(iter(table))
    with pytest.raises(TypeError, match="does not support item assignment"):
        table[name] = 3


def test_in_and_sum():
    result = tl.top_k_eval(RANKS, TRUTHS, k=3)
    assert "ndcg@3" in result
    assert "ndcg" in result
    assert "ndcg@4" not in result
    assert 3 not in result
    parts = [tl.top_k_eval([r], [t], k=3) for r, t in zip(RANKS, TRUTHS, strict=True)]
    assert sum(parts).to_dict() == result.to_dict()


def test_results_travel_between_processes():
    result = tl.top_k_eval(RANKS, TRUTHS, k=3, metrics=["ndcg", "rbp", "rbp(p=0.5)"])
    copy = pickle.loads(pickle.dumps(result))
    with pytest.raises(ValueError, match="the same users"):
        copy + result
    assert tl.merge([copy, result], disjoint=True).n_users == 4
    assert copy.to_dict() == result.to_dict()


def test_own_functions_are_told_by_name_when_they_fail():
    metric = tl.Metric("mine", "each", "1", lambda k, R, n: min(k, R))
    with pytest.raises(ValueError, match="metric 'mine': its divisor failed: .*use np.minimum"):
        tl.top_k_eval(RANKS, TRUTHS, k=3, metrics=[metric])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": None}, "metrics=None: give names, or Metric objects"),
        ({"metrics": 5}, "metrics=5: give names, or Metric objects"),
        ({"weights": [1, "a"]}, "weights must be numbers, one per user"),
        ({"k": [5, 5]}, r"k=\[5, 5\] holds a cut-off twice"),
        ({"n_threads": 0}, "n_threads must be a whole number from 1 on, not 0"),
    ],
)
def test_options_are_told_in_words(options, message):
    with pytest.raises(ValueError, match=message):
        tl.top_k_eval(RANKS, TRUTHS, **{"k": 2, **options})


def test_hints():
    with pytest.raises(ValueError, match="padding=-1"):
        tl.match(np.array([[5, -1, -1]]), [[5]])
    with pytest.raises(TypeError, match="a masked array: fill it"):
        tl.match(np.ma.array([[1, 2]]), [[1]])
    with pytest.raises(ValueError, match=r"match\(\.\.\., k=9\) reads deeper"):
        tl.top_k_eval(tl.match(RANKS, TRUTHS), k=9)


def test_padding_in_a_set_has_no_place_to_stand_at():
    assert tl.match([[5, 7]], [{7, -1}], padding=-1).n_relevant.tolist() == [1]


def test_scores_past_the_last_item():
    curve = tl.scores.ndcg([[3, 2, 1]], relevance=[[0, 1, 0]], k=5)
    assert curve.shape == (1, 5)
    assert curve[0, 2:].tolist() == [curve[0, 2]] * 3


def test_version(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"toplist {tl.__version__}\n"


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
    with pytest.raises(ValueError, match="ground_truths has: are the arguments swapped"):
        tl.top_k_eval(truths, ranks, 1)
    with pytest.raises(ValueError, match="ranks has no column 'rank' or 'score'"):
        tl.top_k_eval(truths, truths, 1)


def test_a_table_with_a_name_that_is_nearly_right_gets_a_hint():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"User ID": [1], "itemId": [2], "Rank": [1]})
    truth = pandas.DataFrame({"user_id": [1], "item_id": [2]})
    with pytest.raises(ValueError, match=r"\(did you mean 'User ID', 'itemId'\?\)"):
        tl.top_k_eval(table, truth, 1)
    with pytest.raises(ValueError, match=r"\(did you mean 'Rank'\?\)"):
        tl.top_k_eval(table.rename(columns={"User ID": "user_id", "itemId": "item_id"}), truth, 1)
