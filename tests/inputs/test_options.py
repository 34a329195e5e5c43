"""One table of the options of an evaluation: every source, the signature and the CLI read it."""

import dataclasses
import inspect
import itertools
import re

import pytest
from doors import by_words
from file_helpers import through_a_file
from shared_inputs import csv_of, library

import toplist as tl
from toplist.cli import main
from toplist.inputs.options import FILES, MEMORY, OPTIONS, SPARK, STREAM, Options


@pytest.mark.parametrize("bad", ["drop", "", False, 0])
def test_unknown_words_of_an_option(bad):
    for call in (tl.ndcg, tl.top_k_eval, tl.match):
        with pytest.raises(ValueError, match=f"duplicates={bad!r}: choose from 'raise', 'first'"):
            call([[1]], [{1}], 1, duplicates=bad)


@pytest.mark.parametrize("policy", ["empty", "missing", "relevant", "aggregate"])
@pytest.mark.parametrize("bad", ["drop", "", False, 0])
def test_unknown_words_of_a_policy(policy, bad):
    with pytest.raises(ValueError, match=f"{policy}={bad!r}: choose from "):
        tl.CONVENTIONS["standard"].replace(**{policy: bad})


@pytest.mark.parametrize("word", ["ties", "order", "format"])
def test_unknown_words_of_a_source(word):
    with pytest.raises(ValueError, match=f"{word}='wrong'.*: choose from "):
        tl.Ranks([[1]], **{word: "wrong"})


def test_a_convention_of_your_own_has_a_name_of_its_own():
    theirs = tl.CONVENTIONS["standard"]
    mine = dataclasses.replace(theirs, metrics={"hit": tl.METRICS["hit"]}, missing="skip")
    with pytest.raises(ValueError, match="'standard' is a library's, with other metrics"):
        tl.top_k_eval([[1]], [{1}], 1, convention=mine)
    mine = dataclasses.replace(mine, name="mine")
    found = tl.top_k_eval([[1], []], [{1}, {2}], 1, convention=mine)
    assert found.to_dict() == {"hit@1": 1.0} and "convention mine" in repr(found)
    assert through_a_file(found) == found


def test_metrics_are_those_of_the_usual_ones_that_the_convention_has():
    for name, convention in tl.CONVENTIONS.items():
        usual = ("hit", "precision", "recall", "map", "ndcg", "mrr")
        usual = [one for one in usual if one in convention.metrics]
        if usual:
            lists, truths = [[1, 2, 3]], [{1: 1, 4: 2}]
            assert list(tl.top_k_eval(lists, truths, 2, convention=name).terms.asked) == usual


def test_trec_eval_orders_equal_scores_as_trec_eval_does():
    run, qrels = {"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1}}
    ranks = {
        name: tl.top_k_eval(run, qrels, 2, metrics="mrr", convention=name)["mrr@2"]
        for name in ("standard", "trec_eval")
    }
    assert ranks == {"standard": 1.0, "trec_eval": 0.5}
    by_order = tl.Ranks(run, ties="order")
    kept = tl.top_k_eval(by_order, qrels, 2, metrics="mrr", convention="trec_eval")
    assert kept["mrr@2"] == 1.0 and "equal scores as they come" in repr(kept)


def test_names_of_columns_of_a_side_leave_those_of_both_to_the_other():
    pandas = library("pandas")
    recs = pandas.DataFrame({"who": ["u"], "item_id": ["a"], "rank": [1]})
    truth = pandas.DataFrame({"user_id": ["u"], "what": ["a"]})
    lists = tl.Ranks(recs, columns={"user_id": "who"})
    assert tl.match(lists, truth, columns={"item_id": "what"}).ranks.tolist() == [1]
    truths = tl.GroundTruths(truth, columns={"item_id": "what"})
    assert tl.match(lists, truths).ranks.tolist() == [1]


def test_columns_by_side():
    pandas = library("pandas")
    recs = pandas.DataFrame({"userId": ["u"], "movieId": ["a"], "rank": [1]})
    truth = pandas.DataFrame({"user_id": ["u"], "item_id": ["a"]})
    columns = {"ranks": {"user_id": "userId", "item_id": "movieId"}}
    assert tl.match(recs, truth, columns=columns).ranks.tolist() == [1]
    back = truth.rename(columns={"user_id": "userId"})
    columns["user_id"] = "userId"  # of both sides, unless a side says otherwise
    assert tl.match(recs, back, columns=columns).ranks.tolist() == [1]
    assert tl.beyond.item_coverage(recs, columns=columns, catalogue=["a"]).tolist() == [1.0]
    columns["user_id"] = "person"
    assert tl.match(recs, truth.rename(columns={"user_id": "person"}), columns=columns).k == 1


def test_the_error_shows_the_side():
    pandas = library("pandas")
    recs = pandas.DataFrame({"userId": ["u"], "movieId": ["a"], "rank": [1]})
    truth = pandas.DataFrame({"user_id": ["u"], "item_id": ["a"]})
    for words, columns in {
        r"columns=\{'ranks': \{'user_id': 'NAME', 'it": None,
        r"columns=\{'ground_truths': \{'user_id': 'NAME'": {
            "user_id": "userId",
            "item_id": "movieId",
        },
        "columns: 'item' is none of user_id": {"ranks": {"item": "movieId"}},
        "columns: 'recs' is none of .*'ranks'": {"recs": {"item_id": "movieId"}},
        "columns: 'ranks' is a side: give a dict": {"ranks": "movieId"},
    }.items():
        with pytest.raises((ValueError, TypeError), match=words):
            tl.match(recs, truth, columns=columns)
    with pytest.raises(ValueError, match="columns: 'item' is none of user_id"):  # a side not read
        tl.beyond.item_coverage(recs, catalogue=["a"], columns={"ground_truths": {"item": "x"}})


SOURCES = MEMORY, FILES, STREAM, SPARK
RANKS, TRUTHS = {"ann": ["a", "b"], "bob": ["c"]}, {"ann": ["b"], "bob": ["c"]}


ELSEWHERE = {"users", "unit", "ties", "order", "ranks_format", "ground_truths_format"}
OF_SPARK = {"partitions", "paired"}


def test_the_signature_is_the_table():
    shown = inspect.signature(tl.top_k_eval).parameters
    own = {name: one for name, one in shown.items() if name not in ("ranks", "ground_truths", "k")}
    assert set(own) == set(OPTIONS) - ELSEWHERE - OF_SPARK
    for name, one in own.items():
        assert one.kind is one.KEYWORD_ONLY
        if name != "items":  # nothing is known of them
            assert one.default == OPTIONS[name].default, name
        assert f"{name} : " in inspect.getdoc(tl.top_k_eval)


OTHER = {
    "weights": {"ann": 2.0, "bob": 1.0},
    "clusters": {"ann": "x", "bob": "y"},
    "propensities": {"a": 0.5},
    "users": ["u", "v"],
    "system": "model",
    "items": tl.Items(catalogue=9),
    "n_threads": 1,
    "order": "file",
    "ranks_format": "csv",
    "partitions": 2,
}


@pytest.mark.parametrize(("name", "source"), [*itertools.product(OTHER, SOURCES)])
def test_an_option_is_taken_or_refused_by_every_source(name, source):
    options = dataclasses.replace(Options(), **{name: OTHER[name]})
    if source in OPTIONS[name].metadata["sources"]:
        options.check(source)
        return
    words = f"^{name}=.* is for .*, not for {source.partition('(')[0]}"
    with pytest.raises(TypeError, match=words):
        options.check(source)


FLAGS = {
    "--unit": "sessions",
    "--empty": "zero",
    "--missing": "skip",
    "--relevant": "listed",
    "--duplicates": "first",
    "--gains": "exponential",
    "--ties": "item",
    "--system": "item_id",
    "--unknown": "skip",
}


def written(folder):
    rows = [f"{user},{item},{r}" for user, row in RANKS.items() for r, item in enumerate(row, 1)]
    truths = [f"{user},{item}" for user, row in TRUTHS.items() for item in row]
    recs = csv_of(folder / "recs.csv", "user_id,item_id,rank", *rows)
    return recs, csv_of(folder / "truth.csv", "user_id,item_id", *truths)


@pytest.mark.parametrize(("flag", "value"), [*FLAGS.items()])
def test_the_command_line_has_the_option(tmp_path, flag, value, capsys):
    recs, truth = map(str, written(tmp_path))
    assert main(["eval", recs, truth, "-k", "2", "-m", "ndcg", flag, value, "--order", "file"]) == 0
    assert "ndcg" in capsys.readouterr().out


def test_paths_and_lists_in_memory_meet(tmp_path):
    recs, truth = written(tmp_path)
    expected = tl.top_k_eval(RANKS, TRUTHS, 2).to_dict()
    sides = (str(recs), str(truth)), (recs, truth), (RANKS, truth), (str(recs), TRUTHS)
    assert all(tl.top_k_eval(*both, 2).to_dict() == expected for both in sides)
    # beside lists in memory, a text is an id
    assert tl.top_k_eval(["a", str(truth)], str(truth), 2)["hit@2"] == 1.0


WRITERS = {"csv": "write_csv", "jsonl": "write_ndjson", "parquet": "write_parquet"}


@pytest.mark.parametrize("source", ["polars", "pandas", *WRITERS])
def test_systems_of_a_column(tmp_path, source):
    """As one evaluation for each; in order of first appearance; all over the users of the truth."""
    pl = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    lists = {"new": {"ann": ["b", "a"], "bob": ["c"]}, "base": {"ann": ["a", "b"]}}
    rows = [
        {"user_id": user, "item_id": item, "score": -rank, "model": name}
        for name, of_users in lists.items()
        for user, row in of_users.items()
        for rank, item in enumerate(row, 1)
    ]
    frame = pl.DataFrame([rows[1], *rows[:1], *rows[:1:-1]])
    ranks, truth = frame.to_pandas() if source == "pandas" else frame, TRUTHS
    if source in WRITERS:
        truth = written(tmp_path)[1]
        ranks = tmp_path / f"recs.{source}"
        getattr(frame, WRITERS[source])(ranks)
    found = tl.top_k_eval(ranks, truth, 2, system="model")
    assert list(found) == ["new", "base"]
    for name, result in found.items():
        alone = tl.top_k_eval(lists[name], TRUTHS, 2)
        assert result.to_dict() == alone.to_dict()
        assert result.n_users == 2 and result.n_missing == alone.n_missing
    assert float(tl.compare(found, baseline="base").test("mrr@2")["mrr@2"].difference) == 0.75


def test_systems_need_a_column(tmp_path):
    with pytest.raises(TypeError, match="^system='model' names a column of a table of ranks, whi"):
        tl.top_k_eval(RANKS, TRUTHS, 2, system="model")
    recs, truth = written(tmp_path)
    with pytest.raises(ValueError, match="recs.csv:1: no column 'model'.*'user_id', 'item_id'"):
        tl.top_k_eval(recs, truth, 2, system="model")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("A,ann,,1\n", ":2: empty item_id"),
        (",ann,a,1\n", ":2: empty model"),
        ("", ": no rows"),
        ("A,ann,a,1\nA,bob,b,x\n", ":3: rank 'x' is not a number"),
        ("A,ann,a,1\nB,ann,a,1\nB,ann,b,3\n", ":3: ranks: user 'ann' has ranks 1, 3"),
        ("A,ann,a,1\nB,ann,a,1\nA,ann,a,2\n", ":4: user 'ann' has item 'a' at ranks 1 and 2"),
    ],
)
def test_faults_of_a_file_of_systems_name_the_line(tmp_path, text, said):
    recs, truth = written(tmp_path)
    recs.write_text("model,user_id,item_id,rank\n" + text)
    with pytest.raises(ValueError, match=f"recs.csv{said}"):
        tl.top_k_eval(recs, truth, 2, system="model")


def test_a_system_in_jsonl_is_read_as_other_lines(tmp_path):
    recs, truth = tmp_path / "recs.jsonl", written(tmp_path)[1]
    line = '{"model": "A", "user_id": "ann", "item_id": ["b"], "note": %s}\n'
    recs.write_text(line % 2**70 + line.replace("ann", "bob") % '"\\ud800"')
    assert tl.top_k_eval(recs, truth, metrics="hit@1", system="model")["A"]["hit@1"] == 0.5
    recs.write_text(line % 1 + line.replace("A", "B") % 1 + line % 1)
    with pytest.raises(ValueError, match="recs.jsonl:3: user .* has a list already, in line 1"):
        tl.top_k_eval(recs, truth, metrics="hit@1", system="model")
    recs.write_text('{"user_id": "ann", "item_id": ["b"]}\n')
    with pytest.raises(ValueError, match="recs.jsonl:1: no 'model' that names a system"):
        tl.top_k_eval(recs, truth, metrics="hit@1", system="model")


@pytest.mark.parametrize(
    ("option", "given", "said"),
    [
        ("duplicates", "frist", "(did you mean 'first'?): choose from 'raise', 'first'"),
        ("empty", "Skip", "(did you mean 'skip'?): choose from 'skip', 'zero', 'one', 'raise'"),
        ("ties", "item-desc", "(did you mean 'item_desc'?): choose from 'order', 'item'"),
        ("gains", "lineer", "(did you mean 'linear'?): choose from 'linear', 'exponential'"),
    ],
)
def test_words_of_options(option, given, said):
    with pytest.raises(ValueError, match=re.escape(f"{option}={given!r} {said}")):
        by_words(RANKS, TRUTHS, 5, **{option: given})


@pytest.mark.parametrize(
    ("keyword", "meant"),
    [("convetion", "convention"), ("metric", "metrics"), ("weight", "weights")],
)
def test_keywords(keyword, meant):
    words = rf"unexpected keyword argument '{keyword}' \(did you mean '{meant}'\?\)$"
    with pytest.raises(TypeError, match=rf"^top_k_eval\(\) got an {words}"):
        by_words(RANKS, TRUTHS, 5, **{keyword: "x"})
