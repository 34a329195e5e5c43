"""toplist show, and what toplist compare prints and writes of single users."""

import csv
from pathlib import Path

import pytest

import toplist as tl
from toplist.files import read_ranks, read_truths, write_text


@pytest.fixture(autouse=True)
def texts(files):
    Path("items.csv").write_text("item_id,title,year\na,An apple,1\nd,,2\ne,Egg,2\n")
    return files


BOTH = "recs.csv", "more.csv", "truth.csv"


def test_the_lists_of_one_user(good):
    lists = {name: read_ranks(f"{name}.csv") for name in ("recs", "more")}
    truth = read_truths("truth.csv")
    expected = tl.show("u1", lists, truth).to_text() + "\n"
    assert good("show", "u1", *BOTH) == expected
    assert good("show", "-k", 10, "u1", *BOTH, "-m", "ndcg", "recall", "mrr") == expected
    titles = {"a": "An apple", "e": "Egg"}
    some = tl.show("u4", lists, truth, titles, k=1, metrics=["rbp", "hit@1"]).to_text() + "\n"
    options = "--titles", "items.csv:title", "-k", 1, "-m", "rbp", "hit@1"
    assert good("show", "u4", *BOTH, *options) == some
    assert "a An apple" in some and "e Egg  recs: not listed, more: not listed" in some
    assert (
        good("show", "u1", *BOTH, "-o", "u1.txt") == "" and Path("u1.txt").read_text() == expected
    )


def test_other_columns_formats_and_numbers(good, monkeypatch):
    expected = good("show", "u1", *BOTH)
    renamed = {"recs.csv": "recs", "more.csv": "more", "truth.csv": "truth"}
    for name in renamed:
        Path(name).write_text(Path(name).read_text().replace("user_id", "uid"))
    assert good("show", "u1", *BOTH, "--columns", "user_id=uid") == expected
    Path("recs").write_text(Path("recs.csv").read_text())
    columns = "--columns", "user_id=uid", "titles:item_id=item_id"
    files = "recs", "more.csv", "truth.csv"
    assert good("show", "u1", *files, *columns, "--ranks-format", "csv") == expected
    write_text("n.jsonl", '{"user_id": 7, "item_id": [1, 2]}\n')
    write_text("t.jsonl", '{"user_id": 7, "item_id": [2]}\n')
    write_text("names.csv", "item_id,title\n2,Two\n")
    out = good("show", "7", "n.jsonl", "t.jsonl", "--titles", "names.csv:title")
    assert "  2 ✓ hit 2 Two" in out
    write_text("past.csv", "user_id,item_id\n7,2\n7,9\n8,1\n")
    write_text("items.csv", "item_id\n2\n")
    write_text("t.jsonl", '{"user_id": 7, "item_id": [2, 5]}\n')
    more = "--titles", "names.csv:title", "--history", "past.csv", "--catalogue", "items.csv"
    lines = good("show", "7", "n.jsonl", "t.jsonl", *more).splitlines()
    assert lines[1] == "2 items in the history: 2 Two, 9"
    assert lines[-1] == "  5  n: not in the catalogue"
    write_text("q.csv", "user_id,text\n7,first query\n")
    out = good("show", "7", "n.jsonl", "t.jsonl", "--user-titles", "q.csv:text")
    assert out.startswith("user 7 first query: 2 relevant items\n")


def test_ties_and_order(good):
    write_text("tied.csv", "user_id,item_id,score\nu1,b,1\nu1,a,1\nu1,c,2\n")
    for options, first in (((), "c"), (("--order", "file"), "b")):
        out = good("show", "u1", "tied.csv", "truth.csv", "-k", 1, *options)
        assert f" {first}\n---" in out
    out = good("show", "u1", "tied.csv", "truth.csv", "-k", 2, "--ties", "item")
    assert " a\n---" in out


def test_wrong_input_is_one_line(bad, cli):
    assert bad("show", "u9", *BOTH).startswith(
        "truth.csv: no user 'u9' in the ground truth of 3 us"
    )
    assert "no column 'name'" in bad("show", "u1", *BOTH, "--titles", "items.csv:name")
    assert "recs.npz" in bad("show", "u1", "recs.npz", "truth.csv")
    for arguments, said in (
        (("--titles", "items.csv"), "--titles 'items.csv': write FILE:COLUMN"),
        (("-o", "items.csv", "--titles", "items.csv:title"), "would overwrite an input file"),
        (("--columns", "x:user_id=uid"), "'x' is no side"),
        (("-k", 0), "k must be at least 1, not 0"),
        (("-m", "nope"), "'nope': choose from hit"),
        (("--relevant-from", -1), "--relevant-from -1.0"),
        (("recs.csv", "truth.csv"), "is named twice"),
    ):
        status, _, err = cli("show", "u1", *BOTH, *arguments)
        assert status == 2 and said in err
    status, _, err = cli("show", "u1", "recs.csv")
    assert status == 2 and "TRUTH" in err


# toplist compare


def test_movers_are_printed_below_the_tests(good):
    out = good("compare", *BOTH, "-m", "mrr@2", "recall@2", "--movers", 2)
    names = ("recs", "more")
    lists = {name: tl.top_k_eval(f"{name}.csv", "truth.csv", k=2, keep="users") for name in names}
    comparison = tl.compare(lists)
    for name in ("mrr@2", "recall@2"):
        assert comparison.movers(name, n=2).to_text() in out
    assert (
        good("compare", *BOTH, "-m", "mrr@2", "--movers", 2, "--format", "markdown").count("u4")
        == 1
    )


def test_movers_are_asked_for_in_words(cli):
    for arguments, said in (
        (("--movers", "0"), "--movers must be at least 1, not 0"),
        (("--movers", "2", "--format", "csv"), "--movers are tables of their own: not with csv"),
        (("--per-user", "recs.csv"), "--per-user recs.csv would overwrite an input file"),
    ):
        status, _, err = cli("compare", *BOTH, "-m", "mrr@2", *arguments)
        assert status == 2 and said in err


def test_values_and_differences_of_every_user(good):
    good("compare", *BOTH, "-m", "mrr@2", "recall@1", "--per-user", "users.out.csv")
    with open("users.out.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["user_id"] for row in rows] == ["u1", "u2", "u4"]
    assert list(rows[0])[1:] == [
        *("recs mrr@2", "recs recall@1", "more mrr@2", "more recall@1"),
        *("more - recs mrr@2", "more - recs recall@1"),
    ]
    for row in rows:
        for name in ("mrr@2", "recall@1"):
            values = [float(row[f"{system} {name}"]) for system in ("more", "recs")]
            assert float(row[f"more - recs {name}"]) == values[0] - values[1]
    result = tl.top_k_eval("recs.csv", "truth.csv", k=2, keep="users")
    assert {row["user_id"]: float(row["recs mrr@2"]) for row in rows} == result.per_user(
        "mrr@2", keyed=True
    )


def test_users_whom_a_system_does_not_count_have_empty_cells(good):
    how = "-m", "mrr@2", "--missing", "skip", "--users", "common"
    Path("recs.csv").write_text("user_id,item_id,rank\nu2,d,1\nu1,b,1\n")
    Path("more.csv").write_text("user_id,item_id,rank\nu1,a,1\nu4,a,1\n")
    good("compare", *BOTH, *how, "--per-user", "out.csv")
    assert Path("out.csv").read_text().splitlines()[1:] == [
        *("u1,1.0,0.0,-1.0", "u2,1.0,,", "u4,,1.0,"),
    ]


def test_a_synonym_of_a_convention(good):
    ask = "show", "u1", "recs.csv", "truth.csv", "-k", 2, "-m", "ndcg"
    assert good(*ask, "--convention", "kaggle") == good(*ask, "--convention", "spark")


def test_the_usual_metrics_are_those_that_the_convention_has(good):
    out = good("show", "u1", "recs.csv", "truth.csv", "-k", 2, "--convention", "spark")
    assert out.splitlines()[1].split() == ["ndcg@2", "recall@2"]
