"""Options of an evaluation: the signature, sides and systems of tables, conventions of your own."""

import dataclasses
import inspect

import pytest
from doors import by_words, match_by_words
from file_helpers import through_a_file
from listwise import listwise
from shared_inputs import AT, LIBRARIES, OF_TIMES, TIMES, csv_of, frame_of, library, said

import toplist as tl

RANKS, TRUTHS = {"ann": ["a", "b"], "bob": ["c"]}, {"ann": ["b"], "bob": ["c"]}
SIX = ("hit", "precision", "recall", "map", "ndcg", "mrr")


def test_every_option_is_documented_and_a_keyword():
    shown = inspect.signature(tl.top_k_eval).parameters
    text = inspect.getdoc(tl.top_k_eval)
    for name, one in shown.items():
        if name not in ("ranks", "ground_truths", "k"):
            assert one.kind is one.KEYWORD_ONLY and f"{name} : " in text
    assert len(shown) <= 3 + 15


def test_a_convention_of_your_own_has_a_name_of_its_own():
    theirs = tl.CONVENTIONS["standard"]
    mine = dataclasses.replace(theirs, metrics={"hit": tl.METRICS["hit"]}, missing="skip")
    words = "'standard' is a library's, with other metrics"
    said(words, tl.top_k_eval, [[1]], [{1}], 1, convention=mine)
    mine = dataclasses.replace(mine, name="mine")
    found = tl.top_k_eval([[1], []], [{1}, {2}], 1, convention=mine)
    assert found.to_dict() == {"hit@1": 1.0} and "convention mine" in repr(found)
    assert through_a_file(found) == found


@pytest.mark.parametrize("name", tl.CONVENTIONS)
def test_metrics_are_those_of_the_usual_ones_that_the_convention_has(name):
    usual = [one for one in SIX if one in tl.CONVENTIONS[name].metrics]
    if usual:
        found = tl.top_k_eval([[1, 2, 3]], [{1: 1, 4: 2}], 2, convention=name)
        assert [one.partition("@")[0] for one in found.names()] == usual


COLUMNS = [  # names in ranks, in truths, and what is said of them: for both, by side, in the source
    (("who", "what"), ("who", "what"), {"user_id": "who", "item_id": "what"}, {}, {}),
    (("who", "what"), ("who", "item_id"),
     {"user_id": "who", "ranks": {"item_id": "what"}}, {}, {}),
    (("who", "what"), ("person", "item_id"),
     {"user_id": "person", "ranks": {"user_id": "who", "item_id": "what"}}, {}, {}),
    (("who", "item_id"), ("user_id", "what"), {"item_id": "what"}, {"user_id": "who"}, {}),
    (("who", "item_id"), ("user_id", "what"), None, {"user_id": "who"}, {"item_id": "what"}),
]  # fmt: skip


@pytest.mark.parametrize(("of_ranks", "of_truths", "columns", "mine", "theirs"), COLUMNS)
@pytest.mark.parametrize("name", LIBRARIES)
def test_names_of_columns(name, of_ranks, of_truths, columns, mine, theirs):
    ranks = frame_of(
        name, dict(zip((*of_ranks, "rank"), (["u"] * 2, ["b", "a"], [1, 2]), strict=True))
    )
    truth = frame_of(name, dict(zip(of_truths, (["u"], ["a"]), strict=True)))
    ranks = tl.Ranks(ranks, columns=mine) if mine else ranks
    truth = tl.GroundTruths(truth, columns=theirs) if theirs else truth
    assert match_by_words(ranks, truth, columns=columns).ranks.tolist() == [2]
    assert tl.ndcg(ranks, truth, columns=columns)[0, 0] == 0
    listed = listwise.item_coverage(ranks, columns=columns, catalogue=["a", "b"])
    assert listed.tolist() == [0.5, 1.0]
    assert tl.beyond.exposure(ranks, columns=columns).counts(2).tolist() == [1, 1]
    assert tl.beyond.overlap(ranks, ranks, columns=columns).mean.tolist() == [1, 1]


def test_what_is_said_of_lists_holds_where_they_are_read_alone():
    by_score = tl.Ranks({"u": {"a": 1, "b": 1}}, ties="item_desc")
    assert tl.beyond.overlap(by_score, {"u": ["b", "a"]}).per_user.tolist() == [[1, 1]]
    named = tl.Ranks([["a"], ["c"]], users=["ann", "bob"])
    assert tl.beyond.overlap(RANKS, named).mean.tolist() == [1, 0.5]
    train, alone = {"bob": ["c"]}, {"ann": ["a"], "bob": ["c"]}
    checked = tl.audit.check(named, list(TRUTHS.values()), train)
    assert checked.counts["leaked"] == 1
    assert str(checked) == str(tl.audit.check(alone, TRUTHS, train))
    words = "users= names the rows of lists by position, but here are dicts"
    said(words, tl.beyond.exposure, tl.Ranks(RANKS, users=["ann", "bob"]))
    words = "order='file' is for files, not for lists in memory"
    said(words, tl.beyond.exposure, tl.Ranks(RANKS, order="file"))


def test_an_option_is_refused_where_its_source_has_no_use_for_it(tmp_path):
    for option, value in {"order": "file", "format": "csv"}.items():
        words = f"{option}='{value}' is for files, not for lists"
        said(words, tl.top_k_eval, tl.Ranks(RANKS, **{option: value}), TRUTHS, 2)
    words = "users=['u', 'v'] is for lists in memory, not for files"
    said(words, by_words, *written(tmp_path), 2, users=["u", "v"])


def written(folder):
    rows = [f"{user},{item},{r}" for user, row in RANKS.items() for r, item in enumerate(row, 1)]
    truths = [f"{user},{item}" for user, row in TRUTHS.items() for item in row]
    recs = csv_of(folder / "recs.csv", "user_id,item_id,rank", *rows)
    return recs, csv_of(folder / "truth.csv", "user_id,item_id", *truths)


def test_systems_of_a_column():
    """In order of first appearance; all over the users of the truth."""
    columns = {"user_id": ["ann", "ann", "bob", "ann", "ann"], "item_id": [*"baca", "b"],
               "rank": [1, 2, 1, 1, 2], "model": ["new"] * 3 + ["base"] * 2}  # fmt: skip
    found = tl.top_k_eval(frame_of("polars", columns), TRUTHS, 2, system="model")
    assert list(found) == ["new", "base"]
    assert [(one.n_users, one.n_missing) for one in found.values()] == [(2, 0), (2, 1)]
    test = tl.compare(found, baseline="base").test("mrr@2")["mrr@2"]
    assert float(test.difference) == 0.75


SYSTEMS = [
    ("csv", ",ann,a,1\n", "recs.csv:2: empty model"),
    ("csv", "A,ann,a,1\nA,bob,b,x\n", "recs.csv:3: rank 'x' is not a number"),
    ("csv", "A,ann,a,1\nB,ann,a,1\nB,ann,b,3\n", "recs.csv:3: ranks: user 'ann' has ranks 1, 3"),
    ("csv", "A,ann,a,1\nB,ann,a,1\nA,ann,a,2\n", "recs.csv:4: user 'ann' has item 'a' at ranks 1"),
    ("jsonl", '{"user_id": "ann", "item_id": ["b"]}\n', "recs.jsonl:1: no column 'model'; col"),
    ("jsonl", '{"model": "A", "user_id": "ann", "item_id": ["b"]}\n' * 2,
     "recs.jsonl:2: ranks: user 'ann' is in lines 1 and 2"),
]  # fmt: skip


@pytest.mark.parametrize(("end", "text", "words"), SYSTEMS)
def test_faults_of_a_file_of_systems_name_the_line(tmp_path, end, text, words):
    truth = written(tmp_path)[1]
    recs = tmp_path / f"recs.{end}"
    recs.write_text(("model,user_id,item_id,rank\n" if end == "csv" else "") + text)
    said(words, tl.top_k_eval, recs, truth, 2, system="model")


def test_what_is_wrong_with_keys_of_several_columns_of_files(tmp_path):
    recs, truth = tmp_path / "recs.csv", tmp_path / "truth.csv"
    for path, columns in ((recs, TIMES), (truth, OF_TIMES)):
        library("polars").DataFrame(columns).write_csv(path)
    gap = csv_of(tmp_path / "gap.csv", "user,time,item_id,rank", "a,1,x,1", "a,1,y,3")
    text = csv_of(tmp_path / "text.csv", "user,time,item_id,rank", "a,1,x,1", "a,1,y,z")
    for side, columns, words in (
        (recs, {"user_id": ["user", "tim"]}, "no column 'tim' (did you mean 'time'?), "),
        (tmp_path / "a.jsonl", AT, "files of jsonl have one column of users; tables"),
        (frame_of("pyarrow", TIMES).to_reader(), AT, "streams have one column of users"),
        (gap, AT, "gap.csv:2: ranks: user ('a', '1') has ranks 1, 3"),
        (text, AT, "text.csv:3: rank 'z' is not a number"),
    ):
        said(words, tl.top_k_eval, side, truth, 2, columns=columns)
