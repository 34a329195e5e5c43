"""One table of the options of an evaluation: every source, the signature and the CLI read it."""

import dataclasses
import inspect
import itertools
import re

import pytest
from shared_inputs import csv_of, library

import toplist as tl
from toplist.cli import main
from toplist.inputs.options import FILES, MEMORY, OPTIONS, SPARK, STREAM, Options


@pytest.mark.parametrize("option", ["empty", "missing", "duplicates", "gains"])
@pytest.mark.parametrize("bad", ["drop", "", False, 0])
def test_unknown_words_of_an_option(option, bad):
    valid = ", ".join(map(repr, OPTIONS[option].metadata["choices"]))
    for call in (tl.ndcg, tl.top_k_eval, tl.match)[: 2 if option in ("empty", "missing") else 3]:
        with pytest.raises(ValueError, match=f"{option}={bad!r}: choose from {valid}"):
            call([[1]], [{1}], 1, **{option: bad})


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


# A value that is not the default, for each option that has no choices.
OTHER = {
    "metrics": "ndcg",
    "convention": "neurec",
    "weights": {"ann": 2.0, "bob": 1.0},
    "clusters": {"ann": "x", "bob": "y"},
    "unit": "sessions",
    "propensities": {"a": 0.5},
    "clip": 0.1,
    "items_as": {"a": "b"},
    "padding": "x",
    "relevant_from": 1.0,
    "columns": {"user_id": "user_id"},
    "users": ["u", "v"],
    "system": "model",
    "catalogue": 9,
    "item_counts": {"a": 1},
    "features": {"a": [1.0]},
    "item_labels": {"a": "x"},
    "item_distances": [[0.0]],
    "history": {"ann": ["a"]},
    "baseline": {"a"},
    "n_threads": 1,
    "ranks_format": "csv",
    "ground_truths_format": "csv",
    "part": True,
    "paired": False,
    "partitions": 2,
}


def other(name):
    choices = OPTIONS[name].metadata["choices"]
    return next((one for one in choices if one != OPTIONS[name].default), OTHER.get(name))


def test_the_signature_is_the_table():
    shown = inspect.signature(tl.top_k_eval).parameters
    own = {name: one for name, one in shown.items() if name not in ("ranks", "ground_truths", "k")}
    assert list(own) == list(OPTIONS)
    for name, one in own.items():
        assert one.kind is one.KEYWORD_ONLY
        assert one.default == OPTIONS[name].default, name
        types = OPTIONS[name].type, "Mapping[str, Any] | None"
        assert one.annotation.replace("Columns", "") in types, name
        assert f"{name}" in inspect.getdoc(tl.top_k_eval)


@pytest.mark.parametrize(("name", "source"), [*itertools.product(OPTIONS, SOURCES)])
def test_an_option_is_taken_or_refused_by_every_source(name, source):
    options = dataclasses.replace(Options(), **{name: other(name)})
    if source in OPTIONS[name].metadata["sources"]:
        options.check(source)
        return
    words = f"^{name}=.* is for .*, not for {source.partition('(')[0]}"
    with pytest.raises(TypeError, match=words):
        options.check(source)


@pytest.mark.parametrize("name", [name for name, row in OPTIONS.items() if row.metadata["choices"]])
def test_a_wrong_word_is_refused_with_the_valid_ones(name):
    valid = OPTIONS[name].metadata["choices"]
    source = OPTIONS[name].metadata["sources"][0]
    with pytest.raises(ValueError, match=f"{name}='wrong'.*{valid[0]}"):
        Options(**{name: "wrong"}).check(source)


def written(folder):
    rows = [f"{user},{item},{r}" for user, row in RANKS.items() for r, item in enumerate(row, 1)]
    truths = [f"{user},{item}" for user, row in TRUTHS.items() for item in row]
    recs = csv_of(folder / "recs.csv", "user_id,item_id,rank", *rows)
    return recs, csv_of(folder / "truth.csv", "user_id,item_id", *truths)


@pytest.mark.parametrize("name", [name for name, row in OPTIONS.items() if row.metadata["help"]])
def test_the_command_line_has_the_option(tmp_path, name, capsys):
    recs, truth = map(str, written(tmp_path))
    grades = dict.fromkeys(("relevant_from", "weighting", "clip", "unjudged"))
    alone = {"system": "item_id", **grades}
    value = alone.get(name, other(name))
    if value is None:
        pytest.skip("needs grades, or propensities")
    flag = "--" + name.replace("_", "-")
    assert main(["eval", recs, truth, "-k", "2", "-m", "ndcg", flag, value, "--order", "file"]) == 0
    assert "ndcg" in capsys.readouterr().out


def test_names_of_an_earlier_version_say_what_to_write():
    for name, line in {
        "top_k_eval_files": r"toplist\.top_k_eval\('recs\.csv', 'truth\.csv', k=10\)$",
        "top_k_eval_batches": r"toplist\.top_k_eval\(recs, truth, k=10\)$",
    }.items():
        with pytest.raises(AttributeError, match=line):
            getattr(tl, name)


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
        tl.top_k_eval(RANKS, TRUTHS, 5, **{option: given})


@pytest.mark.parametrize(
    ("keyword", "meant"),
    [("convetion", "convention"), ("metric", "metrics"), ("weight", "weights")],
)
def test_keywords(keyword, meant):
    words = rf"unexpected keyword argument '{keyword}' \(did you mean '{meant}'\?\)$"
    with pytest.raises(TypeError, match=rf"^top_k_eval\(\) got an {words}"):
        tl.top_k_eval(RANKS, TRUTHS, 5, **{keyword: "x"})
