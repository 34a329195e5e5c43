"""Completion in the shell: what argcomplete offers, and that nobody else pays for it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import toplist as tl
from toplist import METRICS
from toplist.cli import COMMANDS
from toplist.metrics.conventions import CONVENTION_CHOICES

HERE = os.environ | {"PYTHONPATH": str(Path(tl.__file__).parents[1])}


def offered(folder, line):
    """Return what is offered at the end of a line."""
    pytest.importorskip("argcomplete")
    found = folder / "offered.txt"
    asked = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(found),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "COMP_TYPE": "9",
    }
    command = [sys.executable, "-m", "toplist"]
    subprocess.run(command, env=HERE | asked, cwd=folder, capture_output=True, timeout=60)
    return {one.strip() for one in found.read_text().split("\n")} - {""}


def test_commands_and_options(tmp_path):
    assert offered(tmp_path, "toplist ") >= {*COMMANDS}
    assert offered(tmp_path, "toplist eval --conv") == {"--convention"}
    assert offered(tmp_path, "toplist split --va") == {"--validation"}


def test_names(tmp_path):
    assert offered(tmp_path, "toplist eval --convention ") == {*CONVENTION_CHOICES}
    assert offered(tmp_path, "toplist eval --format ma") == {"markdown"}
    assert offered(tmp_path, "toplist eval a.csv b.csv -m ") >= {*METRICS, "gini"}
    assert offered(tmp_path, "toplist eval a.csv b.csv -m ndcg rec") == {"recall"}
    assert offered(tmp_path, "toplist metrics nd") == {"ndcg"}
    assert offered(tmp_path, "toplist values f.csv -m log") == {"log_loss"}


def test_files(tmp_path):
    (tmp_path / "recs.csv").touch()
    assert offered(tmp_path, "toplist eval re") == {"recs.csv"}
    assert offered(tmp_path, "toplist eval a.csv --per-user re") == {"recs.csv"}


def test_scripts_say_that_they_complete():
    folder = Path(tl.__file__).parent
    for name in ("cli/__init__.py", "__main__.py"):
        assert "PYTHON_ARGCOMPLETE_OK" in (folder / name).read_text()[:1024]


def test_without_argcomplete_nothing_happens(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "argcomplete", None)
    monkeypatch.setenv("_ARGCOMPLETE", "1")
    assert tl.cli.main(["metrics", "ndcg"]) == 0
    assert "ndcg@k" in capsys.readouterr().out
