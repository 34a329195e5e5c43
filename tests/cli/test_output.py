"""`toplist eval` with several systems, reports in Markdown and LaTeX, and pictures."""

import csv
import io
import json
import sys
from dataclasses import replace

import pytest

import toplist as tl

TRUTH = {"u1": {"b"}, "u2": {"d"}, "u3": {"a"}}
GOOD = {"u1": ["b", "a"], "u2": ["c", "d"], "u3": ["a"]}
POOR = {"u1": ["a", "b"], "u2": ["c"], "u3": ["b"]}


def table(lists):
    rows = [f"{user},{item}" for user, items in lists.items() for item in sorted(items)]
    if isinstance(next(iter(lists.values())), list):
        rows = [f"{u},{item},{r}" for u, items in lists.items() for r, item in enumerate(items, 1)]
        return "\n".join(["user_id,item_id,rank", *rows, ""])
    return "\n".join(["user_id,item_id", *rows, ""])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in an empty folder with two systems and a truth."""
    monkeypatch.chdir(tmp_path)
    for name, lists in (("good", GOOD), ("poor", POOR), ("truth", TRUTH)):
        (tmp_path / f"{name}.csv").write_text(table(lists))
    return tmp_path


@pytest.fixture
def run(cli):
    """Run `toplist eval` and return (exit status, stdout, stderr)."""
    return lambda *arguments: cli("eval", *arguments)


@pytest.fixture
def results():
    systems = {"good": GOOD, "poor": POOR}
    return {name: tl.top_k_eval(lists, TRUTH, k=[1, 2]) for name, lists in systems.items()}


SYSTEMS = ("good.csv", "poor.csv", "truth.csv", "-k", 1, 2)
ALONE = ("good.csv", "truth.csv", "-k", 1, 2)


def test_a_row_per_system(run, results):
    assert run(*SYSTEMS) == (0, f"{tl.compare(results)}\n", "")


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_reports(run, results, form):
    streamed = {name: replace(one, hits=None, counted=None) for name, one in results.items()}
    alone, together = results["good"], tl.compare(streamed)
    for arguments, shown in ((ALONE, alone), (SYSTEMS, together)):
        expected = getattr(shown, f"to_{form}")()
        assert run(*arguments, "--format", form) == (0, f"{expected}\n", "")


def test_json_by_system(run, results):
    _, alone, _ = run(*ALONE, "--format", "json")
    _, together, _ = run(*SYSTEMS, "--format", "json")
    assert json.loads(together)["good"] == json.loads(alone)
    assert json.loads(together)["poor"]["values"] == results["poor"].to_dict()


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
    assert header == ["system", "user_id", *results["good"].names()]
    assert [row[:2] for row in rows] == [[s, u] for s in results for u in TRUTH]
    column = header.index("mrr@2")
    assert [float(row[column]) for row in rows[3:]] == results["poor"].per_user("mrr@2").tolist()


def test_names_that_are_alike_keep_their_folders(run, folder):
    for name in ("a", "b"):
        (folder / name).mkdir()
        (folder / name / "good.csv").write_text(table(GOOD))
    out = run("a/good.csv", "b/good.csv", "truth.csv", "-k", 1, "-m", "mrr")[1]
    assert [line.split()[0] for line in out.splitlines()[1:3]] == ["a/good.csv", "b/good.csv"]


def test_the_file_at_fault_is_named(run, folder):
    (folder / "twice.csv").write_text("user_id,item_id,rank\nu1,b,1\nu1,b,2\n")
    status, out, err = run("good.csv", "twice.csv", "truth.csv")
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


def test_a_plot_of_several_systems_has_a_picture_per_metric(results):
    pytest.importorskip("matplotlib")
    from toplist.plots.charts import panels

    figure = panels(results)
    assert [ax.get_ylabel() for ax in figure.axes] == [
        *("hit = recall@k", "precision@k", "map = mrr@k", "ndcg@k")
    ]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["good", "poor"]
    for ax in figure.axes:
        assert len(ax.lines) == 2 and ax.get_legend() is None and not ax.get_title(loc="left")


def test_plots_that_cannot_be(run, folder):
    assert "must end in .png, .svg, .pdf" in run(*ALONE, "--plot", "a.jpg")[2]
    (folder / "good.png").write_text(table(GOOD))
    recs = ("good.png", "truth.csv", "--ranks-format", "csv")
    status, _, err = run(*recs, "--plot", "good.png")
    assert status == 2 and "would overwrite an input file" in err
    assert (folder / "good.png").read_text() == table(GOOD)


def test_a_plot_without_matplotlib(run, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    status, out, err = run(*ALONE, "--plot", "a.png")
    assert (status, out) == (1, "")
    assert err == "toplist: plots need matplotlib: pip install 'toplist[plot]'\n"
    assert not (folder / "a.png").exists()


def test_a_plot_that_cannot_be_written(run):
    pytest.importorskip("matplotlib")
    status, out, err = run(*ALONE, "--plot", "nowhere/a.png")
    assert (status, out) == (1, "")
    assert err == "toplist: nowhere/a.png: No such file or directory\n"


def test_users_that_differ_are_told_though_their_number_is_the_same(run, folder):
    (folder / "a.csv").write_text(table({u: GOOD[u] for u in ("u1", "u2")}))
    (folder / "b.csv").write_text(table({u: GOOD[u] for u in ("u1", "u3")}))
    line = "DIFFERENT USERS: b is over 2, without 1 of the 2 of a and with 1 that are not in a"
    arguments = ("a.csv", "b.csv", "truth.csv", "-k", 1)
    assert line in run(*arguments, "--missing", "skip")[1]
    assert line in run(*arguments, "--convention", "lenskit")[1]
    assert "DIFFERENT" not in run(*arguments)[1]
