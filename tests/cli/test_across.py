"""toplist across."""

import json
from pathlib import Path

import numpy as np
import pytest

import toplist as tl


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
    return found


@pytest.fixture
def table(saved):
    names = {d: {s: f"{d}/{s}.npz" for s in some} for d, some in saved.items()}
    Path("table.json").write_text(json.dumps(names))
    return names


FILES = [f"{d}/{s}.npz" for d in ("ml", "yelp") for s in ("knn", "ease", "als")]


def test_a_table_and_the_files_themselves(saved, table, good, tmp_path, monkeypatch):
    expected = tl.across(saved, "ndcg@10").to_text() + "\n"
    assert good("across", "table.json", "-m", "ndcg@10") == expected
    assert good("across", *FILES, "-m", "ndcg@10") == expected
    monkeypatch.chdir("/")  # names of files are relative to the table
    assert good("across", tmp_path / "table.json", "-m", "ndcg@10") == expected


def test_every_format(saved, table, good):
    found = tl.across(saved, "mrr@5", baseline="knn", of="sample", seed=3)
    line = "across", "table.json", "-m", "mrr@5", "--baseline", "knn", "--of", "sample", "--seed", 3
    assert json.loads(good(*line, "--format", "json")) == found.to_dict()
    assert good(*line, "--format", "markdown") == found.to_markdown() + "\n"
    assert good(*line, "--format", "latex") == found.to_latex() + "\n"
    header, *rows = good(*line, "--format", "csv").splitlines()
    columns = header.split(",")
    assert columns[:4] == ["system", "ml", "yelp", "mean"] and len(rows) == 3
    ease = dict(zip(columns, next(r for r in rows if r.startswith("ease")).split(","), strict=True))
    assert float(ease["ml"]) == saved["ml"]["ease"]["mrr@5"]
    assert float(ease["low"]) == found.contrast("ease").sample.low and float(ease["rank_low"]) == 2


def test_a_system_that_is_missing(saved, bad, good):
    files = [one for one in FILES if one != "yelp/als.npz"]
    said = bad("across", *files, "-m", "ndcg@10")
    assert said.startswith("yelp has no result of als: ")
    assert "MISSING: als in yelp" in good("across", *files, "-m", "ndcg@10", "--missing", "last")


def test_a_picture(saved, table, good):
    pytest.importorskip("matplotlib")
    good("across", "table.json", "-m", "ndcg@10", "--plot", "ranks.png")
    assert Path("ranks.png").read_bytes()[:4] == b"\x89PNG"


def test_folders_of_one_name_are_two_data_sets(saved, good):
    for run in ("a", "b"):
        Path(run).mkdir()
    Path("ml").rename("a/same")
    Path("yelp").rename("b/same")
    files = [f"{run}/same/{system}.npz" for run in "ab" for system in ("knn", "ease")]
    out = good("across", *files, "-m", "ndcg@10")
    assert str(Path("a/same").resolve()) in out and str(Path("b/same").resolve()) in out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1, 2]", "here 'bad.json' has no systems"),
        ("{}", "across: two data sets are needed, and there is 0"),
        ('{"ml": {}}', "here 'ml' has no systems"),
        ('{"ml": {"knn": 3}}', "here 'knn' of 'ml' is no file: 3"),
        (
            "{",
            'a table of them, {"data set": {"system": "file", ...}, ...}: it is not read as such',
        ),
    ],
)
def test_tables_that_are_none(saved, bad, text, said):
    Path("bad.json").write_text(text)
    assert said in bad("across", "bad.json", "-m", "ndcg@10")


def test_errors_name_the_file_or_what_to_write(saved, table, bad, cli):
    assert bad("across", "none.json", "-m", "mrr@5").startswith("none.json: No such file")
    Path("ml/knn.npz").write_text("{}")
    assert bad("across", *FILES, "-m", "mrr@5").startswith("ml/knn.npz: is no npz")
    assert "give several saved results" in bad("across", "ml/ease.npz", "-m", "mrr@5")
    twice = ["ml/ease.npz", "yelp/ease.npz", "./ml/ease.npz"]
    assert "both system ease of one data set" in bad("across", *twice, "-m", "mrr@5")
    others = "ml/ease.npz", "ml/als.npz", "yelp/ease.npz", "yelp/als.npz"
    assert bad("across", *others, "-m", "map@5").startswith("ml: ease: 'map@5'")
    for wrong, said in (
        (["--plot", "a.txt"], "the name must end in"),
        (["--resamples", "3"], "at least 99"),
        (["--of", "sample"], "--of sample is of differences from a baseline: add --baseline"),
        (["-o", "ml/als.npz"], "would overwrite an input file"),
    ):
        status, out, err = cli("across", *others, "-m", "mrr@5", *wrong)
        assert (status, out) == (2, "") and said in err


def test_a_name_that_is_twice_in_a_table_is_refused(cli, tmp_path):
    sets = '{"x": {"a": "a.npz"}, "x": {"a": "b.npz"}}'
    systems = '{"x": {"a": "a.npz", "a": "b.npz"}}'
    for table in (sets, systems):
        (tmp_path / "table.json").write_text(table)
        status, out, err = cli("across", str(tmp_path / "table.json"), "-m", "ndcg@10")
        assert (status, out) == (1, "") and "is there twice" in err


def test_a_second_metric_is_no_file(cli, tmp_path):
    (tmp_path / "table.json").write_text("{}")
    status, _, err = cli("across", str(tmp_path / "table.json"), "recall@10", "-m", "ndcg@10")
    assert status == 2 and "recall@10 is no file; across is of one metric" in err
