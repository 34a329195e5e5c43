"""What the command line writes: all files or none, faults in one line, options in words."""

import subprocess
import sys

import pytest

import toplist as tl
from toplist.checks import OptionRef
from toplist.cli import main, output
from toplist.cli.options import option


def test_plot_and_per_user_are_written_both_or_not_at_all(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    for name in ("r.csv", "t.csv"):
        (tmp_path / name).write_text("user_id,item_id,rank\nu,a,1\n")
    for name in ("p.png", "u.csv"):
        (tmp_path / name).write_text("old")
    command = ["eval", "r.csv", "t.csv", "-k", "1", "--plot", "p.png", "--per-user", "u.csv"]

    def full(results, path):
        with open(path, "wb") as stream:
            stream.write(b"half")
        raise OSError(28, "No space left on device", path)

    with monkeypatch.context() as patch:
        patch.setattr(output, "draw", full)
        assert main(command) == 1
    assert capsys.readouterr().err == "toplist: p.png: No space left on device\n"
    assert [(tmp_path / name).read_text() for name in ("p.png", "u.csv")] == ["old", "old"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.png", "r.csv", "t.csv", "u.csv"]
    assert main(command) == 0
    assert (tmp_path / "u.csv").read_text().startswith("user_id,hit@1")
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (MemoryError(), "not enough memory"),
        (MemoryError("Unable to allocate 16 GiB"), "not enough memory (Unable to allocate 16 GiB)"),
        (RuntimeError("can't start new thread"), "can't start new thread"),
    ],
)
def test_a_lack_of_memory_or_threads_is_one_line(monkeypatch, cli, error, line):
    def fail(*_):
        raise error

    monkeypatch.setattr("toplist.cli.eval._evaluate", fail)
    assert cli("eval", "r.csv", "t.csv", "-k", 1) == (1, "", f"toplist: {line}\n")
    error = RuntimeError("a fault of toplist itself")
    with pytest.raises(RuntimeError):
        main(["eval", "r.csv", "t.csv", "-k", "1"])


def test_columns_of_one_side(monkeypatch):
    asked = {}

    def keep(recs, truth, **options):
        asked.update(options)
        return tl.top_k_eval([[1]], [{1}], 1, metrics="hit")

    monkeypatch.setattr("toplist.cli.eval.top_k_eval", keep)
    columns = ["item_id=movie", "ranks:user_id=uid", "ground_truths:user_id=user"]
    assert (
        main(["eval", "r.csv", "t.csv", "-k", "all", "--columns", *columns, "--ties", "item"]) == 0
    )
    assert asked["columns"] == {
        "ranks": {"item_id": "movie", "user_id": "uid"},
        "ground_truths": {"item_id": "movie", "user_id": "user"},
    }
    assert (asked["k"], asked["ties"]) == (None, "item")
    main(["eval", "r.csv", "t.csv", "-k", "1", "--columns", "user_id=uid"])
    assert asked["columns"] == {"user_id": "uid"}
    nested = OptionRef(
        "columns", {"ranks": {"user_id": "uid"}, "ground_truths": {"item_id": "..."}}
    )
    assert option(nested) == "--columns ranks:user_id=uid ground_truths:item_id=NAME"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-k", "all", "5"], "-k all is the whole list: give no other cut-off with it"),
        (["-k", "ten"], "'ten' is no whole number: give cut-offs, or all"),
        (["--columns", "side:user_id=x"], "'side' is no side: ranks, ground_truths"),
        (["--ties", "no"], "invalid choice: 'no'"),
    ],
)
def test_wrong_options_are_refused_in_words(cli, arguments, message):
    assert message in cli("eval", "r.csv", "t.csv", *arguments)[2]


def test_python_m_toplist():
    command = [sys.executable, "-m", "toplist", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"toplist {tl.__version__}\n"


def test_per_user_never_overwrites_an_input(tmp_path, monkeypatch, cli):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.csv").write_text("user_id,item_id,rank\nu,a,1\n")
    (tmp_path / "t.csv").write_text("user_id,item_id\nu,a\n")
    for name in ("r.csv", "./t.csv"):
        status, _, err = cli("eval", "r.csv", "t.csv", "--per-user", name)
        assert status == 2 and "would overwrite an input file" in err
    assert (tmp_path / "r.csv").read_text().startswith("user_id,item_id,rank")
