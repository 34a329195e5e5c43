"""Standard input, --out and --quiet: what the command line reads and writes."""

import gzip
import io
import os
import sys
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def folder(files, tmp_path):
    return tmp_path


@pytest.fixture
def piped(monkeypatch):
    """Put bytes on standard input."""

    def put(data):
        stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(data)))
        monkeypatch.setattr(sys, "stdin", stream)

    return put


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("place", [0, 1])
def test_a_dash_is_standard_input(good, piped, place, packed):
    expected = good("eval", "recs.csv", "truth.csv", "-k", 2)
    files = ["recs.csv", "truth.csv"]
    data = Path(files[place]).read_bytes()
    files[place] = "-"
    piped(gzip.compress(data) if packed else data)
    assert good("eval", "-k", 2, *files) == expected


def test_standard_input_in_other_formats(good, piped, bad):
    expected = good("eval", "recs.csv", "truth.csv", "-k", 2)
    data = Path("recs.csv").read_bytes()
    piped(data.replace(b",", b"\t"))
    assert good("eval", "-", "truth.csv", "-k", 2, "--ranks-format", "tsv") == expected
    piped(data.replace(b",", b"\t"))
    assert bad("eval", "-", "truth.csv", "-k", 2).startswith("stdin.csv:1: no columns")
    piped(gzip.compress(data)[:-9])
    assert bad("eval", "-", "truth.csv").startswith("stdin.csv: not readable")


def test_standard_input_has_a_name_among_several(good, piped):
    piped(Path("more.csv").read_bytes())
    _, *rows = good("eval", "recs.csv", "-", "truth.csv", "-k", 1, "-m", "hit").splitlines()
    assert [row.split()[0] for row in rows[:2]] == ["recs", "stdin"]


def test_other_commands_read_standard_input(good, piped, monkeypatch):
    piped(Path("log.csv").read_bytes())
    good("split", "-", "--out", "parts")
    assert Path("parts/train.csv").read_text().startswith("user_id,item_id,timestamp\n")
    piped(Path("log.csv").read_bytes())
    assert "train: 2 users" in good("check", "recs.csv", "truth.csv", "--train", "-")


def test_nothing_is_left_of_standard_input(cli, piped, folder, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    before = sorted(os.listdir())
    for arguments in (["-", "truth.csv"], ["-", "none.csv"], ["-", "truth.csv", "-m", "nope"]):
        piped(Path("recs.csv").read_bytes())
        _, _, err = cli("eval", *arguments)
        assert str(folder) not in err
    assert sorted(os.listdir()) == before


COMMANDS = {
    "eval": "eval recs.csv truth.csv",
    "several": "eval recs.csv more.csv truth.csv --format csv",
    "compare": "compare recs.csv more.csv truth.csv -m ndcg@2",
    "check": "check recs.csv truth.csv",
    "metrics": "metrics ndcg",
    "conventions": "conventions",
}


@pytest.mark.parametrize("line", COMMANDS.values(), ids=COMMANDS)
def test_out_and_quiet(good, line):
    printed = good(*line.split())
    assert printed.endswith("\n")
    assert good(*line.split(), "-o", "out.txt") == ""
    assert Path("out.txt").read_text() == printed
    assert good(*line.split(), "--out", "-") == printed
    assert good(*line.split(), "-q") == ""


def test_out_is_written_whole_or_not_at_all(cli):
    Path("old.txt").write_text("old")
    before = sorted(os.listdir())
    arguments = "eval", "recs.csv", "truth.csv", "-o", "old.txt", "--per-user", "no/users.csv"
    status, out, err = cli(*arguments)
    assert (status, out, err) == (1, "", "toplist: no/users.csv: No such file or directory\n")
    assert cli("eval", "none.csv", "truth.csv", "-o", "old.txt")[0] == 1
    assert Path("old.txt").read_text() == "old"
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize("option", ["--per-user", "--plot"])
def test_a_dash_is_no_file_to_write(cli, option):
    status, out, err = cli("eval", "recs.csv", "truth.csv", option, "-")
    assert (status, out) == (2, "") and f"{option} -: the" in err
    assert not os.path.exists("-")


def test_quiet_still_says_what_is_wrong(cli):
    assert cli("eval", "none.csv", "truth.csv", "-q")[::2] == (
        1, "toplist: none.csv: No such file or directory\n"
    )  # fmt: skip
    assert cli("check", "recs.csv", "truth.csv", "-q", "--strict")[0] == 1


def test_split_replaces_nothing_without_force(cli, good):
    good("split", "log.csv", "-o", "parts")
    first = Path("parts/train.csv").read_text()
    again = "split", "log.csv", "-o", "parts", "--by", "random", "--seed", "3"
    os.unlink("parts/test.csv")
    assert cli(*again) == (1, "", "toplist: parts/train.csv exists: --force replaces it\n")
    assert Path("parts/train.csv").read_text() == first and os.listdir("parts") == ["train.csv"]
    assert "written: parts/train.csv, parts/test.csv" in good(*again, "--force")
    assert "parts/train.csv, parts/test.csv exist: --force replaces them" in cli(*again)[2]


@pytest.mark.parametrize(
    ("file", "format"),
    [("o.json", "json"), ("o.CSV", "csv"), ("o.md", "markdown"), ("o.tex", "latex"),
     ("o.txt", "table"), ("o", "table")],
)  # fmt: skip
@pytest.mark.parametrize("command", [("eval",), ("compare", "more.csv", "-m", "mrr@2")])
def test_the_format_follows_the_extension_of_the_output(good, command, file, format):
    command = *command[:1], "recs.csv", *command[1:2], "truth.csv", *command[2:]
    expected = good(*command, "--format", format)
    assert good(*command, "-o", file) == "" and Path(file).read_text() == expected
    good(*command, "-o", file, "--format", "table")
    assert Path(file).read_text() == good(*command)


def test_a_format_that_a_command_lacks_is_the_table(good):
    good("conventions", "-o", "o.tex")
    assert Path("o.tex").read_text() == good("conventions")
    good("conventions", "-o", "o.json")
    assert Path("o.json").read_text() == good("conventions", "--format", "json")
    assert "by the extension of FILE" in " ".join(good("eval", "--help").split())
