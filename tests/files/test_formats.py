"""Formats of files: their extensions, names and options, in Python and on the command line."""

import pathlib
import re

import pytest
from file_helpers import fault

import toplist as tl
from toplist import cli
from toplist.files import FORMATS, format_of, read_ranks, read_truths


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize(
    ("extension", "format"),
    [
        (".csv", "csv"),
        (".tsv", "tsv"),
        (".jsonl", "jsonl"),
        (".run", "trec"),
        (".qrels", "trec"),
        (".trec", "trec"),
        (".CSV", "csv"),
    ],
)
def test_extension_names_the_format(extension, format, packed):
    assert format_of(f"some.dir/a.b{extension}{packed}") == format
    assert format in FORMATS


@pytest.mark.parametrize("name", ["a.txt", "a.gz", "a", "csv", ".csv.zip", "a.csv.gz.gz"])
def test_unknown_extension(name):
    known = ".csv, .tsv, .jsonl, .run, .qrels, .trec (all of them also .gz), .parquet"
    expected = f"{name}: the extension names no format: use {known}"
    assert fault(format_of, name) == expected
    error = fault(read_truths, name)
    assert error == f"{expected}, or name it by format= (one of {', '.join(FORMATS)})"


def test_format_overrides_the_extension(put):
    path = put("lists.csv", "q1 Q0 d1 1 0.5 tag\n")
    assert read_ranks(path, format="trec") == {"q1": ["d1"]}


def test_wrong_options(put):
    path = put("lists.csv", "user_id,item_id\nann,tea\n")
    with pytest.raises(ValueError, match=r"^format='xml': choose from 'csv', 'tsv', 'jsonl'"):
        read_ranks(path, format="xml")
    with pytest.raises(ValueError, match=r"^order='rank': choose from 'file'$"):
        read_ranks(path, order="rank")
    with pytest.raises(ValueError, match=r"^columns: 'user' is none of user_id, item_id, rank"):
        read_truths(path, columns={"user": "user_id"})


def test_formats_are_checked_before_files_are_opened():
    with pytest.raises(ValueError, match="format='xml': choose from 'csv'.*'parquet'"):
        tl.top_k_eval(tl.Ranks("a", format="xml"), "b", 3)


def test_missing_file_stays_an_oserror(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_ranks(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("lists", "truth", "python", "option"),
    [
        ("a.txt", "b.csv", "ranks_format= (one of csv", "--ranks-format (one of csv"),
        ("a.csv", "b.txt", "ground_truths_format= (one", "--ground-truths-format (one"),
        ("a.csv", "b.csv", "columns={'ranks': {'item_id': 'NAME'}} names", "item_id=NAME names"),
        ("c.csv", "b.csv", "order='file' takes the items", "--order file takes the items"),
    ],
)
def test_keywords_are_options_on_the_command_line(put, capsys, lists, truth, python, option):
    put("a.csv", "user_id,thing,rank\nu,a,1\n")
    put("b.csv", "user_id,item_id\nu,a\n")
    put("c.csv", "user_id,item_id\nu,a\n")
    with pytest.raises(ValueError, match=re.escape(python)):
        tl.top_k_eval(lists, truth, 1)
    assert cli.main(["eval", lists, truth]) == 1
    assert option in capsys.readouterr().err


@pytest.mark.parametrize("packed", ["", ".gz"])
def test_text_files_of_6_and_4_columns_are_of_trec(put, packed):
    run = put(f"run.txt{packed}", "q1 Q0 d1 1 2.0 t\nq1 Q0 d2 2 1.0 t\n")
    qrels = put(f"qrels.txt{packed}", "q1 0 d2 1\nq1 0 d3 0\n")
    assert format_of(run) == format_of(qrels) == "trec"
    assert tl.top_k_eval(run, qrels, 2)["mrr@2"] == 0.5
    assert read_ranks(run) == {"q1": ["d1", "d2"]}
    assert cli.main(["eval", run, qrels]) == 0


def test_other_text_files_say_how_many_columns_they_have(put):
    for text, n in (("user_id,item_id,rank\na,b,1\n", 1), ("a b c\n", 3), ("", 0)):
        error = fault(tl.top_k_eval, put("a.txt", text), "t.csv", 1)
        assert error.startswith("a.txt: a .txt file is of TREC, 6 columns in a run and 4 in qrels")
        assert f"first line has {n}: name another format by ranks_format=" in error
    assert read_truths(put("a.txt", "user_id,item_id\na,b\n"), format="csv") == {"a": {"b"}}


def test_the_header_of_qrels_in_beir(put):
    qrels = put("test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td1\t1\n")
    assert read_truths(qrels) == {"q1": {"d1": 2.0, "d2": 0.0}, "q2": {"d1": 1.0}}
    lists = {"q1": ["d2", "d1"], "q2": ["d1"]}
    truths = {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 1}}
    assert tl.top_k_eval(lists, pathlib.Path(qrels), 2) == tl.top_k_eval(lists, truths, 2)
    run = put("run.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t3\n")
    assert read_ranks(run) == {"q1": ["d2", "d1"]}
    names = {"user_id": "query-id", "item_id": "corpus-id"}
    assert read_truths(qrels, columns=names) == read_truths(qrels)
