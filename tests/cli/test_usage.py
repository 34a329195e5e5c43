"""The command line as a newcomer types it: files anywhere, `-`, `--out`, help, wrong usage."""

import csv
import gzip
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import toplist as tl
from toplist import CONVENTIONS
from toplist.cli import COMMANDS as NAMES
from toplist.cli.options import Parser

RECS = "user_id,item_id,rank\nu1,a,1\nu1,b,2\nu2,c,1\nu3,a,1\n"
MORE = "user_id,item_id,rank\nu1,b,1\nu2,d,1\nu4,a,1\n"
TRUTH = "user_id,item_id\nu1,b\nu2,d\nu4,a\nu4,e\n"
USERS = "user_id,country\nu1,UK\nu2,FR\nu4,UK\n"
LOG = "user_id,item_id,timestamp\n1,a,1\n1,b,2\n2,a,3\n2,c,4\n"
FILES = {"recs.csv": RECS, "more.csv": MORE, "truth.csv": TRUTH, "users.csv": USERS, "log.csv": LOG}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    return tmp_path


@pytest.fixture
def piped(monkeypatch):
    """Put bytes on standard input."""

    def put(data):
        stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(data)))
        monkeypatch.setattr(sys, "stdin", stream)

    return put


# Files before, after and between options


@pytest.mark.parametrize(
    "line",
    [
        "-k 1 2 -m ndcg recs.csv truth.csv",
        "-k 1 2 recs.csv truth.csv -m ndcg",
        "-m ndcg recs.csv truth.csv -k 1 2",
        "recs.csv -k 1 2 -m ndcg truth.csv",
        "recs.csv -k 1 2 truth.csv -m ndcg",
        "recs.csv truth.csv -k 1 -k 2 -m ndcg",
        "-k1 -k2 -m ndcg -- recs.csv truth.csv",
        "-m ndcg -k 1 2 ./recs.csv truth.csv",
        "--metrics=ndcg -k 1 2 --every recs.csv truth.csv",
        "-k 1 2 --columns user_id=user_id item_id=item_id recs.csv truth.csv -m ndcg",
        "-k 1 2 --convention standard recs.csv truth.csv -m ndcg",
    ],
)
def test_files_may_stand_anywhere(good, line):
    expected = good("eval", "recs.csv", "truth.csv", "-k", "1", "2", "-m", "ndcg")
    assert good("eval", *shlex.split(line)) == expected


def test_files_of_several_systems_and_no_extension(good):
    expected = good("eval", "recs.csv", "more.csv", "truth.csv", "-k", 2, "-m", "map")
    assert good("eval", "recs.csv", "-k", 2, "more.csv", "-m", "map", "truth.csv") == expected
    Path("plain").write_text(RECS)
    out = good("eval", "-m", "map", "-k", 2, "plain", "truth.csv", "--ranks-format", "csv")
    assert out == good("eval", "recs.csv", "truth.csv", "-m", "map", "-k", 2)


def test_a_value_stays_one_where_a_file_has_its_name(good):
    expected = good("eval", "recs.csv", "truth.csv", "-k", "5", "10", "-m", "ndcg", "map")
    os.mkdir("map")
    Path("10").write_text("")
    assert good("eval", "recs.csv", "truth.csv", "-k", "5", "10", "-m", "ndcg", "map") == expected


def test_the_baseline_and_the_files(good):
    files = "recs.csv", "more.csv", "truth.csv"
    expected = good("compare", *files, "-m", "mrr@2", "--baseline", "more")
    assert good("compare", "--baseline", "more", *files, "-m", "mrr@2") == expected
    assert good("compare", *files, "-m", "mrr@2", "--baseline", "more.csv") == expected
    assert good("compare", *files, "-m", "mrr", "-k", "2", "--band", "--baseline", "more.csv")
    for name in ("a", "b"):
        os.mkdir(name)
        Path(name, "recs.csv").write_text(RECS if name == "a" else MORE)
    both = "a/recs.csv", "b/recs.csv"
    for arguments in (both, reversed(both)):  # paths name systems, where their names are alike
        good("compare", *both, "truth.csv", "-m", "mrr@2", "--baseline", *arguments)


def test_validation_takes_no_file(good):
    Path("log.csv").write_text(LOG + "2,b,5\n")
    good("split", "--validation", "log.csv", "--out", "parts", "--min-history", "0")
    assert sorted(os.listdir("parts")) == ["test.csv", "train.csv", "validation.csv"]


def test_a_file_that_begins_with_a_dash(good):
    Path("-recs.csv").write_text(RECS)
    out = good("eval", "-m", "map@2", "--", "-recs.csv", "truth.csv")
    assert out == good("eval", "-m", "map@2", "recs.csv", "truth.csv")


def test_numbers_are_values(good):
    text = "user_id,item_id,rank\nu1,b,1\nu1,-1,2\n"
    Path("padded.csv").write_text(text)
    assert "@1" in good("eval", "--padding", "-1", "padded.csv", "truth.csv", "-k", 1)


def test_arranged():
    parser = Parser()
    add = parser.group("options")
    add("-k", nargs="+", type=int)
    add("--quiet", action="store_true")
    add("--by", choices=["a", "b"])
    add("--time", nargs="?")
    for given, expected in (
        ("a.csv", "-- a.csv"),
        ("-k 5 a.csv 6", "-k 5 -- a.csv 6"),
        ("-k 5 six a.csv", "-k 5 six -- a.csv"),
        ("--qu a.csv", "--qu -- a.csv"),
        ("--by a.csv b.csv", "--by a.csv -- b.csv"),
        ("--time a.csv", "--time -- a.csv"),
        ("--time 5 6", "--time 5 -- 6"),
        ("--time=5 -", "--time=5 -- -"),
        ("-k -1 -", "-k -1 -- -"),
        ("-- --quiet", "-- --quiet"),
        ("--quiet", "--quiet"),
    ):
        assert parser.arranged(given.split()) == expected.split()


# Wrong usage, in one line below the usage


WRONG = [
    ("", "a COMMAND is required"),
    ("nope", "no command 'nope': choose from eval, compare, "),
    ("evaluate recs.csv truth.csv", "no command 'evaluate': did you mean eval? choose from"),
    ("--quiet eval recs.csv truth.csv", "the command comes first: toplist eval --quiet ..."),
    ("-k 5 recs.csv truth.csv", "the command comes first: toplist COMMAND -k ..."),
    ("recs.csv truth.csv", "recs.csv is a file: write toplist eval recs.csv truth.csv"),
    ("eval", "the following arguments are required: RECS, TRUTH"),
    ("eval -k 5 recs.csv", "the following arguments are required: TRUTH"),
    ("eval -k recs.csv truth.csv", "-k: 'recs.csv' is no whole number"),
    ("eval -k 5 1O recs.csv truth.csv", "-k: '1O' is no whole number"),
    ("eval -k 5,10 recs.csv truth.csv", "'5,10': write -k 5 10"),
    ("eval -m ndcg,map@5 recs.csv truth.csv", "write -m ndcg map@5"),
    ("eval -m ndcg nodcg recs.csv truth.csv", "'nodcg'"),
    ("eval recs.csv truth.csv --metrik ndcg", "--metrik: did you mean --metrics?"),
    ("eval recs.csv truth.csv ndcg@5", "ndcg@5 is a metric, no file: write -m ndcg@5"),
    ("eval recs.csv truth.csv 10", "10 is a number, no file: write -k 10"),
    ("eval recs.csv truth.csv --convention RecBol", "'RecBol' (did you mean recbole? choose from"),
    ("eval recs.csv truth.csv --convention beir", "'beir' (did you mean mteb? choose from"),
    ("eval recs.csv truth.csv --xyz", "--xyz: see toplist eval --help"),
    (
        "eval recs.csv truth.csv --columns nope:user_id=x",
        "no side: ranks, ground_truths, recs, recs.csv",
    ),
    ("eval recs.csv truth.csv --columns user=x", "'user' is not a column to rename"),
    ("eval recs.csv truth.csv -o recs.csv", "--out recs.csv would overwrite an input file"),
    ("eval recs.csv truth.csv -o ./truth.csv", "--out ./truth.csv would overwrite an input file"),
    ("eval recs.csv truth.csv -o a.csv --per-user ./a.csv", "--out and --per-user both write"),
    ("eval recs.csv truth.csv --segments users.csv:country -o users.csv", "overwrite an input"),
    ("eval - -", "- is standard input: it can be one of the files, not two"),
    ("eval recs.csv recs.csv truth.csv", "named twice; the last file is the ground truth"),
    ("compare recs.csv truth.csv", "two systems are needed, and there is recs"),
    ("check recs.csv truth.csv --columns user_id:x=y", "'x' is not a column to rename"),
    ("check recs.csv truth.csv --columns log:user_id=y", "no side: ranks, ground_truths, train"),
    ("check recs.csv truth.csv --train log.csv -o log.csv", "overwrite an input file"),
    ("split log.csv", "required: -o/--out"),
    ("split log.csv -o users.csv", "--out users.csv is a file: give a folder"),
    ("metrics ndcg map", "unrecognized arguments: map"),
    ("conventions -m mapp", "unknown metric 'mapp': choose from hit"),
]


@pytest.mark.parametrize(("line", "said"), WRONG)
def test_wrong_usage_is_one_line_below_the_usage(cli, line, said):
    status, out, err = cli(*line.split())
    assert (status, out) == (2, "")
    usage, *_, last = err.splitlines()
    assert usage.startswith("usage: toplist")
    assert re.match(r"toplist( \w+)?: error: ", last) and said in last
    assert {name: Path(name).read_text() for name in FILES} == FILES


def test_without_a_command_the_help_is_shown(cli):
    status, out, err = cli()
    assert (status, out) == (2, "")
    assert all(f"\n    {name}" in err for name in NAMES)


# Files in each other's place


def test_a_truth_that_comes_first(cli):
    for files in ("truth.csv recs.csv", "more.csv truth.csv recs.csv"):
        status, out, err = cli("eval", *files.split())
        assert (status, out) == (1, "")
        assert err == (
            "toplist: truth.csv has neither rank nor score, recs.csv has: is the ground truth "
            "given first? It is the last file, after the ranked lists\n"
        )


def test_a_truth_that_comes_first_in_check(cli):
    _, _, err = cli("check", "truth.csv", "recs.csv")
    assert err == (
        "toplist: truth.csv has neither rank nor score, recs.csv has: is the ground truth "
        "given first? It is the last file, after the ranked lists\n"
    )


@pytest.mark.parametrize("kind", ["jsonl", "trec", "parquet"])
def test_a_truth_that_comes_first_in_other_formats(cli, kind):
    rows = [line.split(",") for line in RECS.splitlines()[1:]]
    pairs = [line.split(",") for line in TRUTH.splitlines()[1:]]
    if kind == "parquet":
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        users, items, ranks = zip(*rows, strict=True)
        table = {"user_id": users, "item_id": items, "rank": list(map(int, ranks))}
        parquet.write_table(pyarrow.table(table), "r.parquet")
        users, items = zip(*pairs, strict=True)
        parquet.write_table(pyarrow.table({"user_id": users, "item_id": items}), "t.parquet")
    elif kind == "trec":
        Path("r.trec").write_text("".join(f"{u} Q0 {i} {r} {-int(r)} x\n" for u, i, r in rows))
        Path("t.trec").write_text("".join(f"{u} 0 {i} 1\n" for u, i in pairs))
    else:
        keys = "user_id", "item_id", "rank"
        for name, lines in (("r", rows), ("t", pairs)):
            records = (dict(zip(keys, line, strict=False)) for line in lines)
            Path(f"{name}.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in records))
    _, _, err = cli("eval", f"t.{kind}", f"r.{kind}")
    assert f"t.{kind} has neither rank nor score, r.{kind} has: is the ground truth" in err


def test_other_faults_of_the_first_file_stay_as_they_are(cli):
    Path("odd.csv").write_text("user,item\nu1,a\n")
    assert "no columns 'user_id', 'item_id', neither" in cli("eval", "odd.csv", "recs.csv")[2]
    Path("empty.csv").write_text("")
    assert cli("eval", "empty.csv", "recs.csv")[2] == "toplist: empty.csv: no rows\n"
    Path("lists.jsonl").write_text('{"user_id": "u1", "item_id": ["a", "a"]}\n')
    assert "'a' at ranks 1 and 2" in cli("eval", "lists.jsonl", "recs.csv")[2]
    assert "neither rank nor score" in cli("eval", "truth.csv", "users.csv")[2]


def test_lists_as_the_ground_truth_are_noted(cli):
    status, out, err = cli("eval", "recs.csv", "more.csv", "-k", 1)
    assert status == 0 and "users evaluated" in out
    assert err.startswith("toplist: note: more.csv, the last file, is taken as the ground truth")
    assert cli("eval", "recs.csv", "more.csv", "-k", 1, "--quiet") == (0, "", "")


# Standard input


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("place", [0, 1])
def test_a_dash_is_standard_input(good, piped, place, packed):
    expected = good("eval", "recs.csv", "truth.csv", "-k", 2)
    files = ["recs.csv", "truth.csv"]
    data = Path(files[place]).read_bytes()
    files[place] = "-"
    piped(gzip.compress(data) if packed else data)
    assert good("eval", "-k", 2, *files) == expected


def test_standard_input_in_other_formats(good, piped, cli):
    expected = good("eval", "recs.csv", "truth.csv", "-k", 2)
    piped(RECS.replace(",", "\t").encode())
    assert good("eval", "-", "truth.csv", "-k", 2, "--ranks-format", "tsv") == expected
    piped(RECS.replace(",", "\t").encode())
    status, _, err = cli("eval", "-", "truth.csv", "-k", 2)
    assert status == 1 and err.startswith("toplist: stdin.csv:1: no columns")
    piped(gzip.compress(RECS.encode())[:-9])
    assert cli("eval", "-", "truth.csv")[2].startswith("toplist: stdin.csv: not readable")


def test_standard_input_has_a_name_among_several(good, piped):
    piped(MORE.encode())
    _, *rows = good("eval", "recs.csv", "-", "truth.csv", "-k", 1, "-m", "hit").splitlines()
    assert [row.split()[0] for row in rows[:2]] == ["recs", "stdin"]


def test_other_commands_read_standard_input(good, piped, monkeypatch):
    piped(LOG.encode())
    good("split", "-", "--out", "parts")
    assert Path("parts/train.csv").read_text().startswith("user_id,item_id,timestamp\n")
    piped(b"label,prediction\n1,0.9\n0,0.2\n")
    assert good("values", "-", "-m", "auc").split()[:2] == ["auc", "1.0000"]
    piped(LOG.encode())
    assert "train: 2 users" in good("check", "recs.csv", "truth.csv", "--train", "-")


def test_nothing_is_left_of_standard_input(cli, piped, folder, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    before = sorted(os.listdir())
    for arguments in (["-", "truth.csv"], ["-", "none.csv"], ["-", "truth.csv", "-m", "nope"]):
        piped(RECS.encode())
        _, _, err = cli("eval", *arguments)
        assert str(folder) not in err
    assert sorted(os.listdir()) == before


# --out, --quiet


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


def test_quiet_still_says_what_is_wrong(cli):
    assert cli("eval", "none.csv", "truth.csv", "-q")[::2] == (
        1, "toplist: none.csv: No such file or directory\n"
    )  # fmt: skip
    assert cli("check", "recs.csv", "truth.csv", "-q", "--strict")[0] == 1


# split


def test_split_replaces_nothing_without_force(cli, good):
    good("split", "log.csv", "-o", "parts")
    first = Path("parts/train.csv").read_text()
    again = "split", "log.csv", "-o", "parts", "--by", "random", "--seed", "3"
    os.unlink("parts/test.csv")
    assert cli(*again) == (1, "", "toplist: parts/train.csv exists: --force replaces it\n")
    assert Path("parts/train.csv").read_text() == first and os.listdir("parts") == ["train.csv"]
    assert "written: parts/train.csv, parts/test.csv" in good(*again, "--force")
    assert "parts/train.csv, parts/test.csv exist: --force replaces them" in cli(*again)[2]


# Columns


def test_columns_of_one_file(good, cli):
    expected = good("eval", "recs.csv", "more.csv", "truth.csv", "-k", 2)
    Path("recs.csv").write_text(RECS.replace("user_id,item_id", "who,what"))
    Path("truth.csv").write_text(TRUTH.replace("item_id", "movie"))
    of_truth = "ground_truths:item_id=movie"
    for name in ("recs", "recs.csv"):
        columns = f"{name}:user_id=who", f"{name}:item_id=what", of_truth
        if name == "recs":  # the side, not the system of that name
            assert cli("eval", "recs.csv", "truth.csv", "--columns", *columns)[0] == 0
            continue
        files = "recs.csv", "more.csv", "truth.csv"
        assert good("eval", *files, "-k", 2, "--columns", *columns) == expected


def test_columns_of_the_files_of_check(good):
    expected = good("check", "recs.csv", "truth.csv", "--train", "log.csv")
    Path("recs.csv").write_text(RECS.replace("user_id", "a"))
    Path("truth.csv").write_text(TRUTH.replace("user_id", "b"))
    Path("log.csv").write_text(LOG.replace("user_id", "c"))
    columns = "ranks:user_id=a", "ground_truths:user_id=b", "train:user_id=c"
    files = "recs.csv", "truth.csv", "--train", "log.csv"
    assert good("check", *files, "--columns", *columns) == expected
    Path("recs.csv").write_text(RECS.replace("user_id", "a").replace("rank", "place"))
    assert good("check", *files, "--columns", *columns, "rank=place") == expected
    Path("recs.csv").write_text("a\titem_id\nu1\ta\nu1\tb\nu2\tc\nu3\ta\n")
    reading = "--ranks-format", "tsv", "--order", "file"
    assert good("check", *reading, *files, "--columns", *columns) == expected


def test_all_missing_columns_are_named_at_once(cli):
    Path("odd.csv").write_text("userId,movie,place\nu1,a,1\n")
    found = "columns found: ['userId', 'movie', 'place']\n"
    assert cli("eval", "odd.csv", "truth.csv")[2] == (
        "toplist: odd.csv:1: no columns 'user_id', 'item_id' (did you mean 'userId'?), "
        "neither rank nor score, --columns "
        f"user_id=NAME item_id=NAME rank=NAME names others; {found}"
    )
    assert cli("eval", "recs.csv", "odd.csv")[2] == (
        "toplist: odd.csv:1: no columns 'user_id', 'item_id' (did you mean 'userId'?), "
        "--columns user_id=NAME item_id=NAME "
        f"names others; {found}"
    )
    assert cli("split", "odd.csv", "-o", "parts")[2] == (
        "toplist: odd.csv: no columns 'user_id', 'item_id', 'timestamp' (did you mean 'userId'?), "
        f"--columns user_id=NAME item_id=NAME timestamp=NAME names others; {found}"
    )
    assert (
        "no columns 'user_id', 'label', 'prediction' (did you mean 'userId'?); "
        in cli("values", "odd.csv")[2]
    )
    segments = "eval", "recs.csv", "truth.csv", "--segments", "odd.csv:country"
    assert (
        "odd.csv: no columns 'user_id', 'country' (did you mean 'userId'?); " in cli(*segments)[2]
    )
    Path("odd.jsonl").write_text('{"user": "u1", "items": ["a"]}\n')
    assert "no columns 'user_id', 'item_id', --columns" in cli("eval", "odd.jsonl", "truth.csv")[2]


# --segments of several systems


def test_segments_of_several_systems(good):
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


# toplist conventions


def test_conventions_stand_with_their_value(good):
    found = tl.evaluation.evaluate.conformance([["a", "b"]], [{"b"}], 2)
    case = "--list", "a", "b", "--truth", "b", "-k", 2
    out = good("conventions", *case)
    assert max(map(len, out.splitlines())) < 80
    metric, listed = "", {}
    for line in re.sub(r"\n {10}", " ", out).splitlines()[1:]:
        if line.startswith("  "):
            value, names = line.split(maxsplit=1)
            listed |= {(name, metric): value for name in names.split(", ")}
        else:
            metric = line.removesuffix("@2")
    assert listed == {
        (name, metric): f"{value:.4f}"
        for name, values in found.items()
        for metric, value in values.items()
    }


def test_conventions_in_whole(good):
    found = tl.evaluation.evaluate.conformance([["a", "b"]], [{"b"}], 2)
    case = "conventions", "--list", "a", "b", "--truth", "b", "-k", 2, "-m", "map", "ndcg"
    content = json.loads(good(*case, "--format", "json"))
    assert content == {
        name: {"map@2": values.get("map"), "ndcg@2": values.get("ndcg")}
        for name, values in found.items()
    }
    rows = list(csv.DictReader(io.StringIO(good(*case, "--format", "csv"))))
    assert [row["convention"] for row in rows] == list(CONVENTIONS)
    assert [row["map@2"] for row in rows] == [str(one.get("map", "")) for one in found.values()]
    lines = good(*case, "--format", "markdown").splitlines()
    assert lines[:3] == [
        "| convention | map@2 | ndcg@2 |",
        "| --- | ---: | ---: |",
        f"| standard | 0.5000 | {found['standard']['ndcg']:.4f} |",
    ]
    assert len(lines) == 2 + len(CONVENTIONS)


# Help


@pytest.mark.parametrize("columns", ["80", "200"])
@pytest.mark.parametrize("command", ["", *NAMES])
def test_every_page_of_help_is_within_80_columns(good, monkeypatch, command, columns):
    monkeypatch.setenv("COLUMNS", columns)
    page = good(*command.split(), "--help")
    assert max(map(len, page.splitlines())) <= 80
    assert page == good(*command.split(), "-h")
    assert "{standard," not in page


@pytest.mark.parametrize("command", ["", *NAMES])
def test_the_examples_of_every_page_are_right(good, command, monkeypatch):
    page = good(*command.split(), "--help").replace("\\\n", " ")
    lines = re.findall(r"^  (?:\w+ \S+ \| )?toplist (.*?)(?:  .*| \|\| .*)?$", page, re.MULTILINE)
    assert len(lines) >= (3 if command else 5)
    for line in lines:
        name, *arguments = shlex.split(line)
        assert command in ("", name)
        parser = tl.cli.parser_of(name)
        options = parser.read(arguments)
        options.check(options)


def test_python_m_toplist_is_toplist():
    command = [sys.executable, "-m", "toplist", "eval", "-k", "2", "recs.csv", "truth.csv"]
    here = os.environ | {"PYTHONPATH": str(Path(tl.__file__).parents[1])}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=here)
    assert "3 of 3 users evaluated" in done.stdout and done.stderr == ""
    done = subprocess.run([*command[:3], "eval"], capture_output=True, text=True, env=here)
    assert done.returncode == 2 and done.stderr.startswith("usage: toplist eval ")


def test_the_words_of_a_metric_name_its_divisor(good):
    map_ = "average precision: sum of the precision at each hit, over min(k, R)"
    assert good("metrics", "map").startswith(f"{map_}\n")
    assert good("metrics", "map", "--convention", "trec_eval").startswith(f"{map_}; here over R\n")
    lenskit = good("metrics", "--convention", "lenskit")
    assert "share of the first k ranks that are hits; here over min(k,n)\n" in lenskit
    assert "ideal order (Jarvelin, Kekalainen 2002)\n" in lenskit


def test_the_formula_of_rbp_is_as_people_write_it(good):
    lines = good("metrics", "rbp(p=0.5)").splitlines()
    assert lines[1] == "rbp(p=0.5)@k = sum over r_j <= k of 0.5 * 0.5^(r_j-1)"
    assert lines[2] == r"\mathrm{rbp(p=0.5)}@k = \sum_{j : r_j \le k} 0.5 \cdot 0.5^{r_j - 1}"


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
    Path("pairs.csv").write_text("user_id,label,prediction\nu,1,0.9\nu,0,0.1\n")
    good("values", "pairs.csv", "-o", "o.md")
    assert Path("o.md").read_text() == good("values", "pairs.csv")
    good("values", "pairs.csv", "-o", "o.json")
    assert Path("o.json").read_text() == good("values", "pairs.csv", "--format", "json")
    assert "by the extension of FILE" in " ".join(good("eval", "--help").split())


@pytest.mark.parametrize(
    ("header", "hint"),
    [
        ("User_ID,item_id ,rank", "no columns 'user_id', 'item_id' (did you mean 'User_ID', "
         "'item_id '?)"),
        ("userId,item_id,rank", "no column 'user_id' (did you mean 'userId'?)"),
        ("user_id,item_id,Rank", "neither rank nor score (did you mean 'Rank'?)"),
        ("user_id;item_id;rank", "(is the separator ';'? Commas are needed)"),
        ("user_id\titem_id\trank", "(is the separator a tab? Its format is tsv)"),
        ("who,item_id,rank", "no column 'user_id', --columns user_id=NAME names another"),
    ],
)  # fmt: skip
def test_a_header_that_is_nearly_right_gets_a_hint(cli, header, hint):
    mark = next(mark for mark in ",;\t" if mark in header)
    Path("odd.csv").write_text(f"{header}\n" + mark.join(["u1", "b", "1"]) + "\n")
    for options in ((), ("--in-memory",)):
        status, _, err = cli("eval", "odd.csv", "truth.csv", *options)
        assert status == 1 and hint in err


def test_a_log_and_values_get_the_hint_of_the_header(cli):
    for header in ("UserID,item_id,timestamp", "UserID,ItemID,timestamp"):
        Path("odd.csv").write_text(f"{header}\n1,a,1\n1,b,2\n")
        assert "(did you mean 'UserID'" in cli("split", "odd.csv", "-o", "parts")[2]
    Path("odd.csv").write_text("user_id;item_id;timestamp\n1;a;1\n1;b;2\n")
    assert "is the separator ';'" in cli("split", "odd.csv", "-o", "parts")[2]
    Path("odd.csv").write_text("user_id,Label,prediction\nu,1,0.9\n")
    assert "did you mean 'Label'" in cli("values", "odd.csv")[2]
