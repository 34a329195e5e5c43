"""toplist show, report and check: what is behind the numbers."""

import json
from pathlib import Path

import pytest
from cli.conftest import put
from file_helpers import jsonl
from reporting.pages import Reader
from systems import DATA

import toplist as tl
from toplist.files import read_ranks, read_truths

pytestmark = pytest.mark.usefixtures("files")
THREE = "recs.csv", "more.csv", "truth.csv"


def test_the_lists_of_one_user(good):
    lists, truth = {n: read_ranks(f"{n}.csv") for n in ("recs", "more")}, read_truths("truth.csv")
    expected = tl.show("u1", lists, truth).to_text() + "\n"
    assert good("show", "u1", *THREE) == expected
    assert good("show", "-k", 10, "u1", *THREE, "-m", "ndcg", "recall", "mrr") == expected
    good("show", "u1", *THREE, "-o", "u1.txt")
    assert Path("u1.txt").read_text() == expected
    titles = {"a": "An apple", "e": "Egg <1>"}
    some = tl.show("u4", lists, truth, titles, k=1, metrics=["rbp", "hit@1"]).to_text() + "\n"
    options = "--titles", "items.csv:title", "-k", 1, "-m", "rbp", "hit@1"
    assert good("show", "u4", *THREE, *options) == some
    assert "a An apple" in some and "e Egg <1>  recs: not listed, more: not listed" in some
    spark = good("show", "u1", "recs.csv", "truth.csv", "-k", 2, "--convention", "spark")
    assert spark.splitlines()[1].split() == ["ndcg@2", "recall@2"]  # which has no mrr


def test_ids_that_are_numbers_in_the_lists(good):
    put("names.csv", "item_id,title\n2,Two\n")
    put("past.csv", "user_id,item_id\n7,2\n7,9\n8,1\n")
    put("ids.csv", "item_id\n2\n")
    put("q.csv", "user_id,text\n7,first query\n")
    ask = "show", "7", "n.jsonl", "n_truth.jsonl", "--titles", "names.csv:title"
    beside = "--history", "past.csv", "--catalogue", "ids.csv", "--user-titles", "q.csv:text"
    lines = good(*ask, *beside).splitlines()
    assert lines[:2] == [
        *("user 7 first query: 2 relevant items", "2 items in the history: 2 Two, 9")
    ]
    assert any(one.startswith("  1 ✓ hit 1") for one in lines)
    assert lines[-1] == "  3  n: not in the catalogue"
    put("ids.csv", "item_id\n3\n")
    assert good(*ask, "--catalogue", "ids.csv").endswith("  3  n: not listed\n")


# toplist report


@pytest.fixture
def page(cli):
    """Write a page; return what is on it, and the note on stderr."""
    pytest.importorskip("jinja2")

    def write(*arguments, files=THREE):
        status, out, err = cli("report", *files, *arguments, "-o", "page.html")
        assert (status, out) == (0, ""), err
        return Reader(Path("page.html").read_text()), err

    return write


def people(read):
    return [one for one in read.by_tag["summary"] if "relevant" in one]


def test_the_page_of_the_example_data(cli, page):
    files = DATA / "popularity.csv.gz", DATA / "itemknn.csv.gz", DATA / "truth.csv"
    options = "-m", "ndcg", "-k", "5", "10"
    read, err = page(*options, "--titles", f"{DATA / 'items.csv.gz'}:topic", files=files)
    assert "itemknn is better than popularity: ndcg@10 " in read.shown
    (row,) = json.loads(cli("compare", *files, "-m", "ndcg@10", "--format", "json")[1])
    assert f"{row['difference']:+.4f}‡[{row['low']:+.4f}, {row['high']:+.4f}]" in read.shown
    said = "toplist: note: the page holds ids of users, without --pseudonyms or --no-users\n"
    assert err == said and Path("page.html").stat().st_size < 500_000
    few = "--users", "2", "--depth", "3", "--stamp", "day one", "--pseudonyms"
    read, err = page(*options, *few, files=files)
    assert err == "" and len(people(read)) == 7 and "user 1" in read.shown
    assert "The first 3 of each list are shown" in read.shown and ", day one" in read.shown


def test_labels_and_titles_of_files(page):
    named = "--segments", "users.csv:country", "--titles", "items.csv:title"
    read, _ = page("-m", "mrr@2", *named)
    assert "e Egg <1>" in read.shown and "FR" in str(read.tables["mrr@2"])
    read, err = page("-m", "mrr@2", "--no-users")
    assert err == "" and not people(read)
    read, _ = page("-m", "mrr@2", "--duplicates", "collapse")  # whose lists are others
    assert "hits are told by their ranks alone" in read.shown


def test_saved_results_have_no_lists(page, good):
    good("eval", "recs.csv", "truth.csv", "-m", "mrr@2", "--save", "recs.npz", "-q")
    read, _ = page(files=("recs.npz",))
    assert "saved results hold the ranks of hits alone" in read.shown
    mixed, _ = page("-m", "mrr@2", files=("recs.npz", "more.csv", "truth.csv"))
    assert "hits are told by their ranks alone" in mixed.shown


def test_history_and_catalogue(page):
    for name, of_1, of_2 in (("a", [5, 6], [6]), ("b", [7], [8]), ("t", [7, 9], [6])):
        lists = ({"user_id": user, "item_id": row} for user, row in ((1, of_1), (2, of_2)))
        put(f"{name}.jsonl", jsonl(*lists))
    put("past.csv", "user_id,item_id\n1,8\n1,5\n")
    put("ids.csv", "item_id\n5\n6\n7\n8\n")
    put("q.csv", "qid,text\n1,first query\n")
    beside = "--history", "past.csv", "--catalogue", "ids.csv"
    beside = *beside, "--user-titles", "q.csv:text", "--columns", "user_titles:user_id=qid"
    read, _ = page("-m", "ndcg@2", *beside, files=("a.jsonl", "b.jsonl", "t.jsonl"))
    first, second = sorted(t for t in read.by_tag["details"] if t[0] in "12")
    assert first.startswith("1 first query ") and second.startswith("2 ndcg@2")
    assert "2 items in the history: 8, 5" in first
    assert "9 a: not in the catalogue; b: not in the catalogue" in first
    ((_, *files),) = read.tables["Files"]
    assert {row[0] for row in files} >= {"a.jsonl", "t.jsonl", "ids.csv", "past.csv", "q.csv"}
