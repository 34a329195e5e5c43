"""How the command line is typed and piped: files anywhere, standard input, outputs, the help."""

import gzip
import os
import re
import shlex
from pathlib import Path

import pytest
from cli.conftest import FILES, put

import toplist as tl
from toplist.cli import COMMANDS, parser_of

pytestmark = pytest.mark.usefixtures("files")
TWO = "recs.csv", "truth.csv"
THREE = "recs.csv", "more.csv", "truth.csv"


# Files before, after and between options


@pytest.mark.parametrize(
    "line",
    [
        "-k 1 2 -m ndcg recs.csv truth.csv",
        "recs.csv truth.csv -k 1 -k 2 -m ndcg",
        "-k1 -k2 -m ndcg -- recs.csv truth.csv",
        "--metrics=ndcg -k 1 2 --every recs.csv truth.csv",
        "recs.csv --every-metric truth.csv -k 1 2 -m ndcg",
        "--metr ndcg recs.csv -k 1 2 truth.csv",
        "-m ndcg -k 1 2 -- -recs.csv truth.csv",
        "-m ndcg -k 1 2 plain truth.csv --ranks-format csv",
        "recs.csv truth.csv -k 1 2 -m ndcg --padding -1",
    ],
)
def test_files_may_stand_anywhere(good, line):
    for name in ("-recs.csv", "plain"):
        put(name, FILES["recs.csv"])
    expected = good("eval", *TWO, "-k", "1", "2", "-m", "ndcg")
    assert good("eval", *shlex.split(line)) == expected
    Path("ndcg").mkdir()  # a value stays one where a file has its name
    put("2", "")
    assert good("eval", *shlex.split(line)) == expected


# Standard input


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("place", [0, 1])
def test_a_dash_is_standard_input(good, piped, place, packed):
    expected = good("eval", *TWO, "-k", 2)
    files = [*TWO]
    data = Path(files[place]).read_bytes()
    files[place] = "-"
    piped(gzip.compress(data) if packed else data)
    assert good("eval", "-k", 2, *files) == expected


def test_standard_input_of_other_formats_and_commands(good, piped, bad):
    expected = good("eval", *TWO, "-k", 2)
    data = Path("recs.csv").read_bytes()
    piped(data.replace(b",", b"\t"))
    assert good("eval", "-", "truth.csv", "-k", 2, "--ranks-format", "tsv") == expected
    piped(gzip.compress(data)[:-9])
    assert bad("eval", "-", "truth.csv").startswith("stdin.csv: not readable")
    piped(Path("more.csv").read_bytes())
    _, *rows = good("eval", "recs.csv", "-", "truth.csv", "-k", 1, "-m", "hit").splitlines()
    assert [row.split()[0] for row in rows[:2]] == ["recs", "stdin"]
    piped(gzip.compress(Path("log.csv").read_bytes()))
    good("split", "-", "--out", "parts")
    assert Path("parts/train.csv").read_text().startswith("user_id,item_id,timestamp")
    piped(Path("log.csv").read_bytes())
    assert "train: 2 users" in good("check", *TWO, "--train", "-")


def test_nothing_is_left_of_standard_input(cli, piped, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = sorted(os.listdir())
    for arguments in (["-", "none.csv"], ["-", "truth.csv", "-m", "nope"]):
        piped(Path("recs.csv").read_bytes())
        assert str(tmp_path) not in cli("eval", *arguments)[2]
    assert sorted(os.listdir()) == before


def test_what_is_written_does_not_tell_where_standard_input_lay(good, piped):
    pytest.importorskip("jinja2")
    data = Path("more.csv").read_bytes() + b"u1,e,2\n"  # so that the rows of u1 are apart
    written = set()
    for name in ("a", "b"):
        piped(data)
        good("eval", "-", "truth.csv", "-m", "mrr@2", "--save", f"{name}.npz", "-q")
        piped(data)
        good("report", "-", *TWO, "-m", "mrr@2", "-o", "page.html", "-q")
        page = Path("page.html").read_text()
        assert "the rows of users are apart in stdin.csv" in page and "<bdi>stdin.csv<" in page
        written.add((Path(f"{name}.npz").read_bytes(), page))
    assert len(written) == 1


# Outputs


EVAL, COMPARE = "eval recs.csv truth.csv", "compare recs.csv more.csv truth.csv -m mrr@2"


@pytest.mark.parametrize("line", [EVAL, COMPARE, "check recs.csv truth.csv", "metrics ndcg"])
def test_out_and_quiet(good, line):
    printed = good(*line.split())
    assert printed.endswith("\n")
    assert good(*line.split(), "-o", "out.txt") == ""
    assert Path("out.txt").read_text() == printed
    assert good(*line.split(), "--out", "-") == printed
    assert good(*line.split(), "-q") == ""


@pytest.mark.parametrize(
    ("line", "file", "format"),
    [
        (EVAL, "o.json", "json"),
        (EVAL, "o.CSV", "csv"),
        (COMPARE, "o.tex", "latex"),
        (EVAL, "o", "table"),
        ("conventions -m map", "o.tex", "table"),  # in a format that it lacks
    ],
)
def test_the_format_follows_the_extension_of_the_output(good, line, file, format):
    expected = good(*line.split(), "--format", format)
    assert good(*line.split(), "-o", file) == "" and Path(file).read_text() == expected
    if format == "json":
        good(*line.split(), "-o", file, "--format", "table")
        assert Path(file).read_text() == good(*line.split())


# Help


@pytest.mark.parametrize("columns", ["80", "200"])
@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_page_of_help_is_within_80_columns(good, monkeypatch, command, columns):
    monkeypatch.setenv("COLUMNS", columns)
    page = good(*command.split(), "--help")
    assert max(map(len, page.splitlines())) <= 80
    assert page == good(*command.split(), "-h")
    assert "{standard," not in page
    assert not re.search(r"\b(missing|empty|duplicates|padding|keep)=", page)
    words = ("CSV", "TSV", "JSONL", "TREC", ".gz", "user_id", "item_id", "relevance", "extension")
    assert all(word in page for word in words) or command != "eval"


def test_the_version(good):
    assert good("--version") == f"toplist {tl.__version__}\n"


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_the_examples_of_every_page_are_right(good, cli, command):
    page = good(*command.split(), "--help").replace("\\\n", " ")
    lines = re.findall(r"^  (?:\w+ \S+ \| )?toplist (.*?)(?:  .*| \|\| .*)?$", page, re.MULTILINE)
    assert len(lines) >= (3 if command else 5)
    for line in lines:
        name, *arguments = shlex.split(line)
        assert command in ("", name)
        parser = parser_of(name)
        options = parser.read(arguments)
        options.check(options)
    if not command:
        status, out, err = cli()
        assert (status, out) == (2, "") and all(f"\n    {name}" in err for name in COMMANDS)
