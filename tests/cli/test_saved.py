"""Saved results on the command line: `eval --save`, and results where lists stand."""

import json
import re
from pathlib import Path

import pytest

import toplist as tl

METRICS = "-m", "ndcg@2", "recall@2"


@pytest.fixture(autouse=True)
def folder(files, tmp_path):
    return tmp_path


@pytest.fixture
def base(good):
    """Save the result of the first lists."""
    good("eval", "recs.csv", "truth.csv", *METRICS, "--save", "base.npz", "-q")
    return tl.TopKResult.load("base.npz")


def test_a_result_is_saved_with_its_users(good, base):
    expected = tl.top_k_eval("recs.csv", "truth.csv", metrics=METRICS[1:], keep="users")
    assert base == expected and base.users == expected.users == ["u1", "u2", "u4"]
    assert base.per_user("ndcg@2").tolist() == expected.per_user("ndcg@2").tolist()


def test_several_systems_are_saved_in_a_folder(good, cli, folder):
    status, out, error = cli("eval", "recs.csv", "more.csv", "truth.csv", "--save", "both.npz")
    assert (status, out) == (2, "")
    assert "--save both.npz: of several systems, name a folder that is there" in error
    (folder / "runs").mkdir()
    good("eval", "recs.csv", "more.csv", "truth.csv", "--save", "runs", "-q")
    assert sorted(path.name for path in (folder / "runs").iterdir()) == ["more.npz", "recs.npz"]
    assert tl.TopKResult.load("runs/more.npz").hits is not None
    good("eval", "recs.csv", "truth.csv", "--save", "runs", "-q")  # one system, too


def test_systems_of_one_table(good, cli, folder):
    rows = [f"{name},u{i},{item},1" for name in ("x", "a/b") for i, item in ((1, "b"), (2, "a"))]
    Path("all.csv").write_text("model,user_id,item_id,rank\n" + "\n".join(rows[:2]) + "\n")
    line = "eval", "all.csv", "truth.csv", "--system", "model"
    assert cli(*line, "--save", "one.npz")[0] == 2
    good(*line, "--save", ".", "-q")
    assert tl.TopKResult.load("x.npz").n_users == 3
    Path("all.csv").write_text("model,user_id,item_id,rank\n" + "\n".join(rows) + "\n")
    status, _, error = cli(*line, "--save", ".")
    assert status == 1 and "'a/b' is no name of a file: evaluate it alone" in error


@pytest.mark.parametrize("line", [("recs.csv", "more.csv"), ("base.npz", "more.csv")])
def test_a_saved_result_stands_where_its_lists_do(good, base, line):
    out = good("compare", *line, "truth.csv", *METRICS, "--format", "json")
    expected = good("compare", "recs.csv", "more.csv", "truth.csv", *METRICS, "--format", "json")
    found, wanted = json.loads(out), json.loads(expected)
    for row in wanted:
        row["baseline"] = line[0].partition(".")[0]
    assert found == wanted


def test_saved_results_alone_need_no_truth(good, base):
    good("eval", "more.csv", "truth.csv", *METRICS, "--save", "new.npz", "-q")
    Path("new.csv").write_bytes(Path("more.csv").read_bytes())
    expected = good("compare", "base.npz", "new.csv", "truth.csv", *METRICS)
    assert good("compare", "base.npz", "new.npz") == expected
    recall = good("compare", "base.npz", "new.npz", "-m", "recall", "-k", "1")
    assert "recall@1" in recall and "ndcg" not in recall
    both = good("compare", "base.npz", "new.npz", "-k", "1")
    assert "recall@1" in both and "ndcg@1" in both and "@2" not in both
    shown = good("eval", "base.npz", "new.npz", "-m", "recall", "--format", "json")
    assert json.loads(shown)["base"]["values"] == {"recall@2": base["recall@2"]}


def test_one_saved_result_is_shown_alone(good, cli, base):
    asked = good("eval", "base.npz"), good("eval", "recs.csv", "truth.csv", *METRICS)
    assert asked[0] == asked[1]
    status, out, error = cli("eval", "recs.csv")
    assert (status, out) == (2, "")
    assert "recs.csv is no saved result: TRUTH, the last file, is needed" in error


def test_whole_lists_have_no_k(good):
    judged = "user_id,item_id,relevance\nu1,b,1\nu1,a,0\nu2,d,1\n"
    Path("judged.csv").write_text(judged)
    for name in ("recs", "more"):
        good("eval", f"{name}.csv", "judged.csv", "-m", "bpref", "--save", f"{name}.npz", "-q")
    assert "bpref" in good("compare", "recs.npz", "more.npz")
    assert "bpref" in good("compare", "recs.npz", "more.npz", "-m", "bpref")


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        (("base.npz", "more.csv", "truth.csv"), 1, "base.npz: 'hit': this result has ndcg, recall"),
        (("base.npz", "base.npz", "-m", "ndcg@9"), 2, "named twice"),
        (("base.npz", "new.npz", "-m", "ndcg@9"), 1, "'ndcg@9': this result has ndcg, recall,"),
        (("base.npz", "new.npz", "-m", "map"), 1, "'map': this result has ndcg, recall,"),
        (("base.npz", "truth.csv"), 2, "truth.csv: saved results alone need no ground truth"),
        (("recs.csv", "base.npz"), 2, "base.npz is a saved result: the last file is the truth"),
        (("base.npz", "none.npz"), 1, "none.npz: No such file"),
        (("base.npz", "odd.npz"), 1, "odd.npz: is no npz, as which results are saved"),
        (
            ("base.npz", "more.csv", "truth.csv", *METRICS, "--convention", "trec_eval"),
            *(1, "--convention trec_eval does not go with base.npz: it was saved by an evaluation"),
        ),
        (("base.npz", "more.csv", "other.csv", *METRICS), 1, "count other users"),
        (("base.npz", "old.json"), 1, "old.json: is no npz, .*JSON is for readers, .* --save "),
        (("old.json", "more.csv", "truth.csv"), 1, "evaluate again and save it, result.save"),
    ],
)
def test_what_does_not_fit_is_told_in_a_line(cli, base, line, status, words):
    base.save("new.npz")
    Path("odd.npz").write_text("user_id,item_id\n")
    Path("old.json").write_text(base.to_json())
    Path("other.csv").write_text("user_id,item_id\nu1,b\nu2,d\n")
    found, out, error = cli("compare", *line)
    assert (found, out) == (status, "")
    assert re.search(words.replace("(", r"\("), error.splitlines()[-1])


def test_a_saved_result_is_not_saved_again(cli, base):
    status, _, error = cli("eval", "base.npz", "more.csv", "truth.csv", "--save", "new.npz")
    assert status == 2 and "a saved result is among the files" in error


def test_a_file_that_is_read_is_not_replaced(cli):
    before = Path("recs.csv").read_bytes()
    status, _, error = cli("eval", "recs.csv", "truth.csv", "--save", "recs.csv")
    assert status == 2 and "--save recs.csv: a result is saved as .npz, such as recs.npz" in error
    status, _, error = cli("eval", "recs.csv", "truth.csv", "--save", "base.json")
    assert status == 2 and "JSON is for readers, and not read back" in error
    assert Path("recs.csv").read_bytes() == before
