"""toplist compare."""

import json
from pathlib import Path

import pytest
from systems import DATA

FILES = DATA / "itemknn.csv.gz", DATA / "popularity.csv.gz", DATA / "truth.csv"


def test_compare_of_the_command_line(cli, tmp_path, monkeypatch):
    names = ["-m", "ndcg@10", "map@20", "mrr@20", "precision@5"]
    options = "--baseline", "popularity", "--correction", "none", "--format", "json"
    status, out, _ = cli("compare", *FILES, *names, *options)
    rows = json.loads(out)
    assert status == 0 and [row["name"] for row in rows] == names[1:]
    first = rows[0]
    assert (first["wins"], first["ties"], first["losses"]) == (430, 430, 132)
    assert first["difference"] == pytest.approx(0.07376126380606653, rel=1e-9)
    assert first["statistic"] == pytest.approx(10.319330838967076, rel=1e-9)
    assert first["error_users"] is None
    _, table, _ = cli("compare", *FILES, "-m", "ndcg", "-k", "5", "10", "--band", "--power")
    assert "at all of them together" in table and "detectable" in table
    assert "992 of 992 users evaluated" in table
    _, margin, _ = cli("compare", *FILES, "-m", "ndcg@10", "--margin", "0.1")
    assert "equivalent within ±0.1" in margin
    _, text, _ = cli("compare", *FILES, "-m", "ndcg@10", "--format", "csv", "--test", "sign")
    header, row = text.splitlines()
    # without --baseline the first file is it: is popularity better than itemknn?
    greater = cli("compare", *FILES, "-m", "ndcg@10", "--alternative", "greater")[1]
    assert "popularity - itemknn, paired t" in greater and " 1.000" in greater
    assert header.startswith("name,system,baseline,n,mean")
    assert dict(zip(header.split(","), row.split(","), strict=True))["method"] == "sign"
    for form, sign in (("markdown", "| ndcg@10 |"), ("latex", r"\begin{tabular}")):
        assert sign in cli("compare", *FILES, "-m", "ndcg@10", "--format", form)[1]
    # a terminal gets its width, a file all of it
    names = "ndcg@10", "map@20", "mrr@20", "precision@5"
    whole = cli("compare", *FILES, "-m", *names)[1]
    monkeypatch.setattr("toplist.results.markup.terminal_width", lambda: 60)
    narrow = cli("compare", *FILES, "-m", *names)[1]
    assert max(map(len, narrow.splitlines())) <= 60 < max(map(len, whole.splitlines()))
    cli("compare", *FILES, "-m", *names, "-o", tmp_path / "table.txt")
    assert (tmp_path / "table.txt").read_text(encoding="utf-8") == whole
    pytest.importorskip("matplotlib")
    picture = tmp_path / "forest.png"
    assert cli("compare", *FILES, "-m", "ndcg@10", "--plot", picture)[0] == 0
    assert picture.read_bytes()[:4] == b"\x89PNG"


def test_systems_are_sorted_by_a_mean(cli):
    names = "-m", "ndcg@10", "mrr@10", "--format", "json"
    alone = json.loads(cli("compare", *FILES, *names)[1])
    again = json.loads(cli("compare", FILES[1], FILES[0], FILES[2], *names, "--sort", "ndcg@10")[1])
    assert again == alone  # itemknn is better, and so it is first
    assert "popularity - itemknn" in cli("compare", *FILES, "--sort", "mrr@10")[1]
    for wrong, words in (("ndcg", "is a whole curve"), ("hit@10", "this result has ndcg, mrr")):
        status, _, error = cli("compare", *FILES, *names, "--sort", wrong)
        assert status == 1 and words in error


def test_the_lead_of_the_best_is_said_where_it_is_asked_for(cli):
    out = cli("compare", *FILES, "-m", "ndcg@10", "--lead", "--resamples", "200", "--seed", "5")[1]
    assert "itemknn ndcg@10" in out and "(200 sign flips, seed 5)" in out
    assert "best of 2 systems on the same 992 users" in out


@pytest.mark.parametrize("margin", [(), ("--margin", "0.05")])
def test_a_family_is_of_a_metric_or_of_all(cli, margin):
    """Holm over two p is min(1, 2 p) of the lower one; of one p alone it is p itself."""
    ask = "compare", *FILES, "-m", "ndcg@10", "precision@5", "--format", "json", *margin
    of_all, of_each = (json.loads(cli(*ask, "--family", one)[1]) for one in ("all", "metric"))
    assert [row["p_adjusted"] for row in of_each] == [row["p"] for row in of_each]
    lower = min(of_all, key=lambda row: row["p"])
    assert lower["p_adjusted"] == pytest.approx(min(1, 2 * lower["p"])) and lower["p"] > 0
    assert [row["p"] for row in of_all] == [row["p"] for row in of_each]


def test_a_band_is_drawn_as_often_as_is_asked(cli):
    ask = "compare", *FILES, "-m", "ndcg", "-k", "5", "--band"
    some, more = (cli(*ask, "--resamples", n)[1] for n in (99, 5000))
    assert "at all of them together" in some and some != more


def test_systems_of_one_file_are_compared(files, good, cli):
    rows = "u1,a,1,x\nu1,b,2,x\nu2,d,1,x\nu1,b,1,y\nu2,c,1,y\nu4,a,1,y\n"
    Path("both.csv").write_text(f"user_id,item_id,rank,model\n{rows}")
    ask = "compare", "both.csv", "truth.csv", "-m", "mrr@2", "--system", "model"
    assert "y - x, paired t over 3 users" in good(*ask)
    assert "x - y" in good(*ask, "--baseline", "y")
    status, _, error = cli(*ask, "--baseline", "z")
    assert status == 1 and "baseline 'z' is none of the systems" in error
