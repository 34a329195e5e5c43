"""toplist eval --segments FILE:COLUMN."""

import csv
import io
import json

import pytest

from toplist.cli import main


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recs.csv").write_text("user_id,item_id,rank\nu1,a,1\nu2,b,1\nu3,c,1\n")
    (tmp_path / "truth.csv").write_text("user_id,item_id\nu1,a\nu2,a\nu3,c\n")
    (tmp_path / "users.csv").write_text("user_id,country\nu1,UK\nu2,FR\nu3,\nu9,UK\n")

    def run(*arguments):
        status = main(["eval", "recs.csv", "truth.csv", "-k", "1", "-m", "hit", *arguments])
        return status, *capsys.readouterr()

    return run


def test_segments_on_the_command_line(cli):
    status, out, _ = cli("--segments", "users.csv:country")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()[1:5]] == ["FR", "UK", "(no", "all"]
    assert "1 label of users who are not in the result" in out
    _, out, _ = cli("--segments", "users.csv:country", "--format", "json")
    content = json.loads(out)
    assert [(one["segment"], one["values"]["hit@1"]) for one in content["segments"]] == [
        ("FR", 0), ("UK", 1), (None, 1)
    ]  # fmt: skip
    assert content["n_users"] == sum(one["n_users"] for one in content["segments"])
    _, out, _ = cli("--segments", "users.csv:country", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["segment"], row["n"]) for row in rows] == [("FR", "1"), ("UK", "1"), ("", "1")]


@pytest.mark.parametrize(
    ("option", "status", "message"),
    [
        ("users.csv", 2, "write FILE:COLUMN"),
        ("users.txt:a", 2, "names no format"),
        ("users.csv:age", 1, "users.csv: no column 'age'; columns found: ['user_id', 'country']"),
        ("none.csv:age", 1, "none.csv: No such file"),
        ("recs.csv:rank", 0, ""),
        ("other.csv:country", 1, "other.csv: has none of the users of the result; it has 'x'"),
        ("twice.csv:country", 1, "user 'u1' has two labels, 'UK' and 'FR'"),
    ],
)
def test_bad_segments_are_one_line(cli, tmp_path, capsys, option, status, message):
    (tmp_path / "other.csv").write_text("user_id,country\nx,UK\n")
    (tmp_path / "twice.csv").write_text("user_id,country\nu1,UK\nu1,FR\n")
    try:
        found, _, err = cli("--segments", option)
    except SystemExit as stop:
        found, err = stop.code, capsys.readouterr().err
    assert found == status and message in err
    assert status == 0 or "Traceback" not in err
