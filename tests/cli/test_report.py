"""toplist report."""

import json
from pathlib import Path

import pytest
from reporting.pages import Reader
from systems import DATA

pytest.importorskip("jinja2")
FILES = DATA / "popularity.csv.gz", DATA / "itemknn.csv.gz", DATA / "truth.csv"


def page(cli, *arguments, files=FILES):
    """Write a page and return what is on it, and the note on stderr."""
    status, out, err = cli("report", *files, *arguments, "-o", "page.html")
    assert (status, out) == (0, ""), err
    return Reader(Path("page.html").read_text()), err


def test_the_page_of_the_example_data(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = "-m", "ndcg", "-k", "5", "10", "--users", "25"
    titles = f"{DATA / 'items.csv.gz'}:topic"
    read, err = page(cli, *options, "--titles", titles)
    assert "itemknn is better than popularity: ndcg@10 " in read.shown
    (row,) = json.loads(cli("compare", *FILES, "-m", "ndcg@10", "--format", "json")[1])
    assert f"{row['difference']:+.4f}‡[{row['low']:+.4f}, {row['high']:+.4f}]" in read.shown
    assert f"{row['wins']}/{row['ties']}/{row['losses']}" in read.shown
    assert err == (
        "toplist: note: the page holds ids of users, without --pseudonyms or --no-users\n"
    )
    assert len([one for one in read.by_tag["summary"] if "relevant" in one]) == 53
    assert Path("page.html").stat().st_size < 500_000
    first = Path("page.html").read_bytes()
    page(cli, *options, "--titles", titles)
    assert Path("page.html").read_bytes() == first
    few, _ = page(cli, *options, "--users", "2", "--depth", "3", "--stamp", "day one")
    people = [one for one in few.by_tag["details"] if "hit" in one and "relevant" in one]
    assert len([one for one in few.by_tag["summary"] if "relevant" in one]) == 7
    assert "The first 3 of each list are shown" in few.shown and ", day one" in few.shown
    assert max(text.count("only here") for text in people) <= 6
    for option in ("--no-users", "--pseudonyms"):
        read, err = page(cli, *options, option)
        assert err == ""


def test_labels_and_titles_of_files(cli, files, monkeypatch):
    Path("items.csv").write_text("item_id,name\na,Tea <tin>\nb,\n")
    three = "recs.csv", "more.csv", "truth.csv"
    named = "--segments", "users.csv:country", "--titles", "items.csv:name"
    read, _ = page(cli, "-m", "mrr@2", *named, files=three)
    assert "a Tea <tin>" in read.shown and "FR" in str(read.tables["mrr@2"])
    own = "--columns", "titles:item_id=a"
    status, _, err = cli("report", *three, *named, *own, "-o", "x.html")
    assert status == 1 and "items.csv: no column 'a'" in err
    own = "--columns", "clusters:user_id=a"
    status, _, err = cli("report", *three, *named, *own, "-o", "x.html")
    assert status == 2 and "'clusters' is no side" in err
    assert cli("report", *three, *named, "-o", "items.csv")[0] == 2
    assert "Tea" in Path("items.csv").read_text()


def test_saved_results_alone(cli, files):
    for name in ("recs", "more"):
        cli("eval", f"{name}.csv", "truth.csv", "-m", "mrr@2", "--save", f"{name}.npz")
    read, _ = page(cli, files=("recs.npz", "more.npz"))
    assert "saved results hold the ranks of hits alone" in read.shown
    mixed, _ = page(cli, "-m", "mrr@2", files=("recs.npz", "more.csv", "truth.csv"))
    assert "hits are told by their ranks alone" in mixed.shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "where to write the page? add -o report.html"),
        (["-o", "x.html", "--titles", "items.csv"], "--titles 'items.csv': write FILE:COLUMN"),
        (["-o", "x.html", "--users", "-1"], "--users must be at least 0, not -1"),
        (["-o", "x.html", "--depth", "0"], "--depth must be at least 1, not 0"),
        (["-o", "x.html", "--system", "model"], "--system: give a file for each system"),
    ],
)
def test_wrong_usage_is_told_before_any_file_is_read(cli, files, arguments, said):
    status, out, err = cli("report", "recs.csv", "more.csv", "truth.csv", *arguments)
    assert (status, out) == (2, "") and said in err
    assert not Path("x.html").exists()


def test_wrong_input_leaves_nothing(bad, files):
    three = "recs.csv", "more.csv", "truth.csv", "-o", "x.html"
    assert "primary: 'map@3'" in bad("report", *three, "-m", "mrr@2", "--primary", "map@3")
    assert "no columns 'item_id', 'nothing'" in bad(
        "report", *three, "--titles", "users.csv:nothing"
    )
    assert "no column 'nothing'" in bad("report", *three, "--segments", "users.csv:nothing")
    assert not Path("x.html").exists()


def test_history_and_catalogue(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text(
        '{"user_id": 1, "item_id": [5, 6]}\n{"user_id": 2, "item_id": [6]}\n'
    )
    Path("b.jsonl").write_text('{"user_id": 1, "item_id": [7]}\n{"user_id": 2, "item_id": [8]}\n')
    Path("t.jsonl").write_text(
        '{"user_id": 1, "item_id": [7, 9]}\n{"user_id": 2, "item_id": [6]}\n'
    )
    Path("past.csv").write_text("user_id,item_id\n1,8\n1,5\n")
    Path("items.csv").write_text("item_id\n5\n6\n7\n8\n")
    Path("q.csv").write_text("qid,text\n1,first query\n")
    beside = "--history", "past.csv", "--catalogue", "items.csv"
    beside = *beside, "--user-titles", "q.csv:text", "--columns", "user_titles:user_id=qid"
    read, _ = page(cli, "-m", "ndcg@2", *beside, files=("a.jsonl", "b.jsonl", "t.jsonl"))
    first, second = sorted(t for t in read.by_tag["details"] if t[0] in "12")
    assert "2 items in the history: 8, 5" in first and "0 items in the history" in second
    assert "9 a: not in the catalogue; b: not in the catalogue" in first
    assert "not in the catalogue" not in second
    ((_, *files),) = read.tables["Files"]
    named = "a.jsonl", "b.jsonl", "t.jsonl", "items.csv", "past.csv", "q.csv"
    assert sorted(row[0] for row in files) == sorted(named)
    assert first.startswith("1 first query ") and second.startswith("2 ndcg@2")
