"""toplist compare, gate and across: what Python gives, in every format; the status of a gate."""

import json
from pathlib import Path

import numpy as np
import pytest
from cli.conftest import put, rows
from systems import DATA

import toplist as tl

FILES = DATA / "itemknn.csv.gz", DATA / "popularity.csv.gz", DATA / "truth.csv"
COMPARE = "compare", *FILES
PNG = b"\x89PNG"


def test_compare_is_that_of_python(good):
    names = "ndcg@10", "map@20", "mrr@20", "precision@5"
    ask = *COMPARE, "-m", *names
    systems = {
        path.name.partition(".")[0]: tl.top_k_eval(path, FILES[2], metrics=names, keep="users")
        for path in FILES[:2]
    }
    known = tl.compare(systems, baseline="popularity")
    found = json.loads(good(*ask, "--baseline", "popularity", "--format", "json"))
    assert [row["name"] for row in found] == list(names)
    first = found[0]
    assert (first["wins"], first["ties"], first["losses"]) == (430, 430, 132)
    assert first["difference"] == pytest.approx(0.07376126380606653, rel=1e-9)
    assert first["statistic"] == pytest.approx(10.319330838967076, rel=1e-9)
    options = "--baseline", "popularity", "--test", "sign", "--family", "metric"
    tests = known.test(method="sign", family="metric")
    assert good(*ask, *options).startswith(tests.to_text() + "\n\nconvention standard")
    assert good(*ask, *options, "--format", "latex").startswith(tests.to_latex() + "\n\n% ")
    of_csv = rows(good(*ask, *options, "--format", "csv"))
    assert [float(row["p"]) for row in of_csv] == [one.p for one in tests]
    assert of_csv[0]["method"] == "sign" and list(of_csv[0])[:5] == [
        *("name", "system", "baseline", "n", "mean")
    ]
    margin = good(*ask, "--baseline", "popularity", "--margin", "0.1", "--correction", "none")
    assert margin.startswith(known.equivalence(margin=0.1, correction="none").to_text())
    # without --baseline the first file is it: is popularity better than itemknn?
    greater = good(*COMPARE, "-m", "ndcg@10", "--alternative", "greater")
    assert "popularity - itemknn, paired t" in greater and " 1.000" in greater


def test_more_tables_below_the_tests(good):
    table = good(*COMPARE, "-m", "ndcg", "-k", 5, "--band", "--power", "--resamples", 99)
    assert "at all of them together" in table and "detectable" in table
    assert "992 of 992 users evaluated" in table
    assert good(*COMPARE, "-m", "ndcg", "-k", 5, "--band", "--resamples", 5000) not in table
    out = good(*COMPARE, "-m", "ndcg@10", "--lead", "--resamples", 200, "--seed", 5)
    assert "itemknn ndcg@10" in out and "(200 sign flips, seed 5)" in out
    assert "best of 2 systems on the same 992 users" in out


def test_more_tables_in_formats_for_programs(good):
    ask = *COMPARE, "-m", "ndcg@2", "--movers", 1, "--power", "--band"
    found = json.loads(good(*ask, "--format", "json"))
    pair = "popularity - itemknn"
    assert list(found) == ["tests", f"band ndcg {pair}", "power", f"movers ndcg@2 {pair}"]
    tables = [rows(one) for one in good(*ask, "--format", "csv").split("\n\n")]
    assert [some[0]["table"] for some in tables] == list(found)
    assert [*map(len, tables)] == [*map(len, found.values())] == [1, 2, 1, 2]
    assert float(tables[0][0]["p"]) == found["tests"][0]["p"]


def test_a_terminal_gets_its_width_and_a_file_all_of_it(good, tmp_path, monkeypatch):
    ask = *COMPARE, "-m", "ndcg@10", "map@20", "mrr@20", "precision@5"
    whole = good(*ask)
    monkeypatch.setattr("toplist.results.markup.terminal_width", lambda: 60)
    assert max(map(len, good(*ask).splitlines())) <= 60 < max(map(len, whole.splitlines()))
    good(*ask, "-o", tmp_path / "table.txt")
    assert (tmp_path / "table.txt").read_text(encoding="utf-8") == whole
    pytest.importorskip("matplotlib")
    good(*ask[:-3], "--plot", tmp_path / "forest.png")
    assert (tmp_path / "forest.png").read_bytes()[:4] == PNG


THREE = "recs.csv", "more.csv", "truth.csv"


def test_values_and_differences_of_every_user(files, good):
    good("compare", *THREE, "-m", "mrr@2", "recall@1", "--per-user", "out.csv")
    found = rows(Path("out.csv").read_text())
    assert [row["user_id"] for row in found] == ["u1", "u2", "u4"]
    assert list(found[0])[1:] == [
        *("recs mrr@2", "recs recall@1", "more mrr@2", "more recall@1"),
        *("more - recs mrr@2", "more - recs recall@1"),
    ]
    assert [row["recs mrr@2"] for row in found] == ["0.5", "0.0", "0.0"]
    assert [row["more - recs mrr@2"] for row in found] == ["0.5", "1.0", "1.0"]
    # users whom a system does not count have empty cells
    how = "-m", "mrr@2", "--missing", "skip", "--users", "common"
    put("recs.csv", "user_id,item_id,rank\nu2,d,1\nu1,b,1\n")
    put("more.csv", "user_id,item_id,rank\nu1,a,1\nu4,a,1\n")
    good("compare", *THREE, *how, "--per-user", "out.csv")
    lines = Path("out.csv").read_text().splitlines()[1:]
    assert lines == ["u1,1.0,0.0,-1.0", "u2,1.0,,", "u4,,1.0,"]


# toplist gate

USERS = 300
MRR = "-m mrr@2 --margin 0.05"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write lists of 300 users and their truth; each also as a result that was saved."""
    found = tmp_path_factory.mktemp("gate")
    hits = {
        "base": lambda u: u % 4,
        "same": lambda u: u % 4,
        "better": lambda u: u % 8,
        "worse": lambda u: u % 2,
        "close": lambda u: u % 4 and u % 30 != 1,
        "hurt": lambda u: u % 4 and u > 40,
    }
    put(found / "truth.csv", "user_id,item_id\n" + "".join(f"u{u},a\n" for u in range(USERS)))
    labels = "".join(f"u{u},{'UK' if u <= 40 else 'FR'}\n" for u in range(USERS))
    put(found / "users.csv", f"user_id,country\n{labels}")
    for name, hit in hits.items():
        lines = [f"u{u},{'a' if hit(u) else 'b'},1\nu{u},c,2\n" for u in range(USERS)]
        put(found / f"{name}.csv", "user_id,item_id,rank\n" + "".join(lines))
        result = tl.top_k_eval(
            found / f"{name}.csv", found / "truth.csv", metrics="mrr@2", keep="users"
        )
        result.save(found / f"{name}.npz")
    return found


@pytest.fixture
def lists(folder, monkeypatch):
    """Work in the folder of these lists."""
    monkeypatch.chdir(folder)


BY = "--segments users.csv:country"
SITUATIONS = [  # what is held against the lists of base.csv, and the exit status
    (f"better {MRR}", 0),
    (f"worse {MRR}", 1),
    (f"close {MRR}", 3),
    (f"close {MRR} --undecided fail", 3),
    (f"close {MRR} --undecided ok", 0),
    (f"worse {MRR} --undecided ok", 1),
    ("close -m mrr@2 --margin 0.2", 0),
    ("worse --margin mrr@2=0.05 mrr@1=0.7", 1),
    (f"same {MRR} --floor mrr@2=0.9", 1),
    (f"same {MRR} --floor mrr@2=0.75", 3),
    ("same --floor mrr@2=0.5", 0),
    (f"hurt -m mrr@2 --margin 0.2 {BY}", 1),
    ("hurt -m mrr@2 --margin 0.2", 0),
]


@pytest.mark.parametrize(("line", "status"), SITUATIONS)
def test_the_exit_status_of_lists_and_of_saved_results(cli, lists, line, status):
    new, *options = line.split()
    found, out, err = cli("gate", f"{new}.csv", "base.csv", "truth.csv", *options)
    assert (found, err) == (status, "")
    verdict = {0: "not worse", 1: "worse", 3: "undecided"}[status]
    verdict = "undecided" if status == 0 and "--undecided" in line else verdict
    assert f"\ngate: {verdict}" in out
    assert cli("gate", f"{new}.csv", "base.npz", "truth.csv", *options) == (status, out, "")
    assert cli("gate", f"{new}.npz", "base.npz", *options) == (status, out, "")
    assert cli("gate", f"{new}.npz", "base.npz", *options, "-q") == (status, "", "")


def test_it_is_the_gate_of_python(cli):
    knn, pop, truth = FILES
    metrics = "--margin", "nDCG@10=0.005", "recall@20=0.01", "--floor", "recall@20=0.1"
    line = "gate", *metrics[:3], pop, knn, *metrics[3:], "--format", "table", truth
    new, base = (
        tl.top_k_eval(path, truth, metrics=["ndcg@10", "recall@20"], keep="users")
        for path in (pop, knn)
    )
    found = tl.gate(new, base, {"ndcg@10": 0.005, "recall@20": 0.01}, floors={"recall@20": 0.1})
    assert cli(*line) == (1, f"{found.to_text()}\n", "")
    whole, known = json.loads(cli(*line, "--format", "json")[1]), found.to_dict()
    for row, expected in zip(whole["rows"], known["rows"], strict=True):  # null for NaN
        assert row == {name: one if one == one else None for name, one in expected.items()}
    assert whole["verdict"] == "worse" and whole["rows"][2]["difference"] is None


# toplist across


@pytest.fixture
def saved(tmp_path, monkeypatch):
    """Save the results of three systems on two data sets; return them by data set and system."""
    monkeypatch.chdir(tmp_path)
    rng, found = np.random.default_rng(0), {}
    for dataset in ("ml", "yelp"):
        Path(dataset).mkdir()
        for at, system in enumerate(("knn", "ease", "als")):
            ranks = rng.integers(1, 12 + 8 * at, 200)
            hits = tl.Hits.from_ranks(np.where(ranks <= 10, ranks, 0), n_listed=10)
            one = tl.top_k_eval(hits, k=10, metrics=["ndcg", "mrr"])
            one.save(f"{dataset}/{system}.npz")
            found.setdefault(dataset, {})[system] = one
    names = {d: {s: f"{d}/{s}.npz" for s in some} for d, some in found.items()}
    put("table.json", json.dumps(names))
    return found


SAVED = [f"{d}/{s}.npz" for d in ("ml", "yelp") for s in ("knn", "ease", "als")]


def test_a_table_and_the_files_themselves(saved, good, tmp_path, monkeypatch):
    expected = tl.across(saved, "ndcg@10").to_text() + "\n"
    assert good("across", *SAVED, "-m", "ndcg@10") == expected
    files = [one for one in SAVED if one != "yelp/als.npz"]
    assert "MISSING: als in yelp" in good("across", *files, "-m", "ndcg@10", "--missing", "last")
    monkeypatch.chdir("/")  # names of files are relative to the table
    assert good("across", tmp_path / "table.json", "-m", "ndcg@10") == expected


def test_across_in_every_format(saved, good):
    found = tl.across(saved, "mrr@5", baseline="knn", of="sample", seed=3)
    line = "across", "table.json", "-m", "mrr@5", "--baseline", "knn", "--of", "sample", "--seed", 3
    assert json.loads(good(*line, "--format", "json")) == found.to_dict()
    assert good(*line, "--format", "latex") == found.to_latex() + "\n"
    table = rows(good(*line, "--format", "csv"))
    assert list(table[0])[:4] == ["system", "ml", "yelp", "mean"] and len(table) == 3
    (ease,) = (row for row in table if row["system"] == "ease")
    assert float(ease["ml"]) == saved["ml"]["ease"]["mrr@5"]
    assert float(ease["low"]) == found.contrast("ease").sample.low and float(ease["rank_low"]) == 2
    pytest.importorskip("matplotlib")
    good(*line, "--plot", "ranks.png")
    assert Path("ranks.png").read_bytes()[:4] == PNG
