"""README: its commands run, its words of other libraries are read, and its names are there.

Its lines of Python are run as doctests.
"""

import os
import re
import shlex
from pathlib import Path

import pytest

import toplist as tl

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
pytestmark = pytest.mark.skipif(not README.exists(), reason="run away from the project")
TEXT = README.read_text("utf-8") if README.exists() else ""
COMMANDS = [
    line
    for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("toplist ")
]
TABLE = TEXT[TEXT.index("| ir_measures") :].partition("\n\n")[0] if TEXT else ""
WORDS = [
    [re.findall(r"`([^`]+)`", cell) for cell in line.split("|")[1:-1]]
    for line in TABLE.splitlines()[2:]
]
RUNS = {"bm25": ("d1", "d7", "d4"), "dense": ("d7", "d1", "d9")}


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_run(line, cli, tmp_path, monkeypatch):
    pytest.importorskip("jinja2")
    os.symlink(ROOT / "notebooks", tmp_path / "notebooks")
    monkeypatch.chdir(tmp_path)
    for name, items in RUNS.items():
        rows = [f"q1 Q0 {item} 1 {-rank} x\n" for rank, item in enumerate(items)]
        Path(f"{name}.run").write_text("".join([*rows, *(row.replace("q1", "q2") for row in rows)]))
    Path("qrels.trec").write_text("q1 0 d7 2\nq1 0 d4 1\nq1 0 d3 0\nq2 0 d1 1\nq2 0 d8 2\n")
    status, out, err = cli(*shlex.split(line)[1:])
    assert status == 0, err
    assert out or Path("report.html").exists()


def test_it_is_short_has_commands_of_each_kind_and_links_that_lead_somewhere():
    paths = re.findall(r"\]\(([^)#:]+)\)", TEXT)
    assert len(TEXT.splitlines()) <= 200 and len(paths) > 20
    assert {line.split()[1] for line in COMMANDS} == {"eval", "compare", "show", "report", "gate"}
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_table_is_what_the_first_command_prints(good, monkeypatch):
    shown = r"```sh\n([^`]*?)```\n(?:[^`]*\n)?```text\n(.*?)```"
    [(code, out)] = re.findall(shown, TEXT, re.DOTALL)
    [command] = re.findall(r"/toplist (eval .*)", code)
    monkeypatch.chdir(ROOT)
    assert good(*shlex.split(command)) == out
    six = "hit", "precision", "recall", "map", "ndcg", "mrr"
    assert tuple(line.split()[0] for line in out.splitlines()[1:7]) == six


@pytest.mark.parametrize("row", WORDS[:-2], ids=lambda row: row[-1][0])
def test_words_of_other_libraries_mean_ours(row):
    run, qrels = {"q": {"a": 2.0, "b": 1.0}}, {"q": {"a": 2, "b": 0, "c": 1}}
    ours = row[-1]
    for theirs in row[:2]:
        for i, name in enumerate(theirs):
            found = tl.top_k_eval(run, qrels, 10, metrics=[name], convention="standard").terms
            metric = next(iter(found.asked))
            assert metric == ours[i].partition("@")[0]
            if "@" in ours[i] and name != "recip_rank":
                assert f"{metric}@{found.ks_of[metric][0]}" == ours[i]
    if row[2]:
        assert row[2][0] == "rbp.80" or tl.top_k_eval(run, qrels, 10, metrics=row[2][0])


def test_options_that_the_table_names_are_those_of_the_door():
    run, qrels = {"q": {"a": 2.0, "b": 1.0, "x": 0.5}}, {"q": {"a": 1, "b": 0, "c": 2}}
    assert [row[-1][0] for row in WORDS[-2:]] == ['unjudged="drop"', "relevant_from=2"]
    assert tl.top_k_eval(run, qrels, 3, unjudged="drop", relevant_from=2)["hit@3"] == 0


def test_names_in_the_text_are_there():
    names = re.findall(r"`tl\.([\w.]+)", TEXT)
    assert names
    for name in names:
        found = tl
        for part in name.split("."):
            found = getattr(found, part)
