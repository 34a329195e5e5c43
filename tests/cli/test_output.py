"""`toplist eval` with several systems, reports in Markdown and LaTeX, and pictures."""

import csv
import io
import json
import sys

import pytest

import toplist as tl


@pytest.fixture(autouse=True)
def folder(files, tmp_path):
    return tmp_path


@pytest.fixture
def run(cli):
    """Run `toplist eval` and return (exit status, stdout, stderr)."""
    return lambda *arguments: cli("eval", *arguments)


@pytest.fixture
def results(files):
    return {
        name: tl.top_k_eval(f"{name}.csv", "truth.csv", k=[1, 2], keep="users")
        for name in ("recs", "more")
    }


SYSTEMS = ("recs.csv", "more.csv", "truth.csv", "-k", 1, 2)
ALONE = ("recs.csv", "truth.csv", "-k", 1, 2)


def test_a_row_per_system(run, results):
    streamed = {name: one.without_users() for name, one in results.items()}
    assert run(*SYSTEMS) == (0, f"{tl.compare(streamed)}\n", "")


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_reports(run, results, form):
    streamed = {name: one.without_users() for name, one in results.items()}
    alone, together = results["recs"], tl.compare(streamed)
    for arguments, shown in ((ALONE, alone), (SYSTEMS, together)):
        expected = getattr(shown, f"to_{form}")()
        assert run(*arguments, "--format", form) == (0, f"{expected}\n", "")


def test_json_by_system(run, results):
    _, alone, _ = run(*ALONE, "--format", "json")
    _, together, _ = run(*SYSTEMS, "--format", "json")
    assert json.loads(together)["recs"] == json.loads(alone)
    assert json.loads(together)["more"]["values"] == results["more"].to_dict()


def rows_of(text):
    header, *rows = csv.reader(io.StringIO(text))
    return header, rows


def test_csv_by_system(run, results):
    header, rows = rows_of(run(*SYSTEMS, "--format", "csv")[1])
    assert header == ["system", "metric", "k", "mean", "std", "low", "high", "n"]
    means = {(system, f"{m}@{k}"): float(mean) for system, m, k, mean, *_ in rows}
    assert means == {(s, n): v for s, one in results.items() for n, v in one.to_dict().items()}


def test_per_user_by_system(run, results, folder):
    assert run(*SYSTEMS, "--per-user", "users.csv")[0] == 0
    header, rows = rows_of((folder / "users.csv").read_text())
    assert header == ["system", "user_id", *results["recs"].names()]
    assert [row[:2] for row in rows] == [[s, u] for s in results for u in ("u1", "u2", "u4")]
    column = header.index("mrr@2")
    assert [float(row[column]) for row in rows[3:]] == results["more"].per_user("mrr@2").tolist()


def test_the_file_at_fault_is_named(run, folder):
    (folder / "twice.csv").write_text("user_id,item_id,rank\nu1,b,1\nu1,b,2\n")
    status, out, err = run("recs.csv", "twice.csv", "truth.csv")
    assert (status, out) == (1, "")
    assert err.startswith("toplist: twice.csv:3: ") and "'b'" in err


def test_segments_of_several_systems(files, good):
    alone = "-k", 1, "-m", "hit", "--segments", "users.csv:country"
    several = "eval", "recs.csv", "more.csv", "truth.csv", *alone
    parts = {name: good("eval", f"{name}.csv", "truth.csv", *alone) for name in ("recs", "more")}
    expected = "\n".join(f"system {name}\n{text}" for name, text in parts.items())
    assert good(*several) == expected
    content = json.loads(good(*several, "--format", "json"))
    for name in parts:
        one = good("eval", f"{name}.csv", "truth.csv", *alone, "--format", "json")
        assert content[name] == json.loads(one)
    rows = list(csv.DictReader(io.StringIO(good(*several, "--format", "csv"))))
    assert [(row["system"], row["segment"], float(row["mean"])) for row in rows] == [
        *(("recs", "FR", 0.0), ("recs", "UK", 0.0), ("more", "FR", 1.0), ("more", "UK", 1.0))
    ]
    for form, title in (("markdown", "**more**\n\n| "), ("latex", "% system more\n")):
        assert title in good(*several, "--format", form)


# Pictures


@pytest.mark.parametrize("arguments", [ALONE, SYSTEMS], ids=["one", "several"])
@pytest.mark.parametrize("name", ["a.png", "a.svg", "a.pdf"])
def test_plot(run, folder, arguments, name):
    pytest.importorskip("matplotlib")
    status, out, err = run(*arguments, "--plot", name)
    assert (status, err) == (0, "") and "users evaluated" in out
    begin = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[name[2:]]
    assert (folder / name).read_bytes().startswith(begin)


def test_a_plot_without_matplotlib_or_a_folder(bad, folder, monkeypatch):
    pytest.importorskip("matplotlib")
    line = bad("eval", *ALONE, "--plot", "nowhere/a.png")
    assert line == "nowhere/a.png: No such file or directory"
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    line = bad("eval", *ALONE, "--plot", "a.png")
    assert line == ("plots need matplotlib, which is not installed: pip install 'toplist[plot]'")
    assert not (folder / "a.png").exists()


def test_users_that_differ_are_told_though_their_number_is_the_same(run, folder):
    for name, other in (("a", "u2"), ("b", "u4")):
        text = f"user_id,item_id,rank\nu1,b,1\n{other},d,1\n"
        (folder / f"{name}.csv").write_text(text)
    line = "DIFFERENT USERS: b is over 2, without 1 of the 2 of a and with 1 that are not in a"
    arguments = ("a.csv", "b.csv", "truth.csv", "-k", 1)
    assert line in run(*arguments, "--missing", "skip")[1]
    assert line in run(*arguments, "--convention", "lenskit")[1]
    assert "DIFFERENT" not in run(*arguments)[1]
