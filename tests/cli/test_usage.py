"""How the command line is typed: files anywhere, wrong usage in one line, and the help."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from file_helpers import jsonl, write_parquet

import toplist as tl
from toplist.cli import COMMANDS


@pytest.fixture(autouse=True)
def texts(files):
    return files


def replaced(name, *changes):
    """Write a file anew with changes of its text."""
    text = Path(name).read_text()
    for old, new in changes:
        text = text.replace(old, new)
    Path(name).write_text(text)


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
        "recs.csv --every-metric truth.csv -k 1 2 -m ndcg",
        "--metr ndcg recs.csv -k 1 2 truth.csv",
    ],
)
def test_files_may_stand_anywhere(good, line):
    expected = good("eval", "recs.csv", "truth.csv", "-k", "1", "2", "-m", "ndcg")
    assert good("eval", *shlex.split(line)) == expected


def test_files_of_several_systems_and_no_extension(good):
    expected = good("eval", "recs.csv", "more.csv", "truth.csv", "-k", 2, "-m", "map")
    assert good("eval", "recs.csv", "-k", 2, "more.csv", "-m", "map", "truth.csv") == expected
    Path("plain").write_text(Path("recs.csv").read_text())
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
    for name, file in (("a", "recs.csv"), ("b", "more.csv")):
        os.mkdir(name)
        Path(name, "recs.csv").write_text(Path(file).read_text())
    both = "a/recs.csv", "b/recs.csv"
    for arguments in (both, reversed(both)):  # paths name systems, where their names are alike
        good("compare", *both, "truth.csv", "-m", "mrr@2", "--baseline", *arguments)


def test_validation_takes_no_file(good):
    Path("log.csv").write_text(Path("log.csv").read_text() + "2,b,5\n")
    good("split", "--validation", "log.csv", "--out", "parts", "--min-history", "0")
    assert sorted(os.listdir("parts")) == ["test.csv", "train.csv", "validation.csv"]


def test_a_file_that_begins_with_a_dash(good):
    Path("-recs.csv").write_text(Path("recs.csv").read_text())
    out = good("eval", "-m", "map@2", "--", "-recs.csv", "truth.csv")
    assert out == good("eval", "-m", "map@2", "recs.csv", "truth.csv")


def test_numbers_are_values(good):
    Path("padded.csv").write_text("user_id,item_id,rank\nu1,b,1\nu1,-1,2\n")
    assert "@1" in good("eval", "--padding", "-1", "padded.csv", "truth.csv", "-k", 1)


# Wrong usage, in one line below the usage


COMPARE = "compare recs.csv more.csv truth.csv -m mrr@2"
WRONG = [
    ("", "a COMMAND is required"),
    ("values predictions.csv", "gone since 0.4: toplist.pointwise has auc, user_auc"),
    ("nope", "no command 'nope': choose from eval, compare, "),
    ("evaluate recs.csv truth.csv", "no command 'evaluate': did you mean eval? choose from"),
    ("--quiet eval recs.csv truth.csv", "the command comes first: toplist eval --quiet ..."),
    ("-k 5 recs.csv truth.csv", "the command comes first: toplist COMMAND -k ..."),
    ("recs.csv truth.csv", "recs.csv is a file: write toplist eval recs.csv truth.csv"),
    ("eval", "the following arguments are required: RECS"),
    ("eval -k 5 recs.csv", "recs.csv is no saved result: TRUTH, the last file, is needed"),
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
    ("eval recs.csv truth.csv -k", "-k: expected at least one argument"),
    ("eval recs.csv truth.csv -k 1.5", "'1.5'"),
    ("eval recs.csv truth.csv -k all 5", "-k all is the whole list: give no other cut-off with it"),
    ("eval recs.csv truth.csv --ties no", "invalid choice: 'no'"),
    ("eval recs.csv truth.csv --plot a.jpg", "must end in .png, .svg, .pdf"),
    ("eval a.png truth.csv --plot ./a.png", "--plot ./a.png would overwrite an input file"),
    ("eval recs.csv truth.csv --per-user ./truth.csv", "would overwrite an input file"),
    ("eval recs.csv truth.csv -k 0", "k must be at least 1, not 0"),
    ("eval recs.csv truth.csv -m nope", "'nope': choose from hit, precision"),
    ("eval recs.csv truth.csv -m ndcg@0", "'ndcg@0'"),
    ("eval recs.csv truth.csv -m rbp(p=2)", "'rbp': p must be above 0 and below 1, not 2"),
    ("eval recs.csv truth.csv -m ndcg ndcg", "'ndcg@1'"),
    ("eval recs.csv truth.csv -m dcg --convention neurec", "'dcg'"),
    ("eval recs.csv truth.csv --relevant-from -1", "--relevant-from -1.0"),
    ("eval recs.csv truth.csv --format xml", "json"),
    ("eval recs.csv truth.csv --ranks-format xml", "jsonl"),
    ("eval recs.csv truth.csv --ground-truths-format xml", "trec"),
    ("eval recs.csv truth.csv --empty drop", "skip"),
    ("eval recs.csv truth.csv --missing drop", "skip"),
    ("eval recs.csv truth.csv --duplicates last", "first"),
    ("eval recs.csv truth.csv --gains square", "exponential"),
    ("eval recs.csv truth.csv --order rank", "file"),
    ("eval recs.csv truth.csv --columns userId", "'userId'"),
    ("eval recs.csv truth.csv --columns user_id=", "user_id="),
    ("metrics nope", "'nope': choose from hit, precision"),
    ("metrics --convention nope", "neurec"),
    (f"{COMPARE} --baseline nobody", "baseline 'nobody' is none of the systems"),
    (f"{COMPARE} --margin -1", "margin must be a number above 0, not -1.0"),
    (f"{COMPARE} --margin 0.1 --test sign", "--margin asks for two one-sided t tests"),
    (f"{COMPARE} --level 1", "level must be a number between 0 and 1"),
    (f"{COMPARE} --correction maxt --test sign", "--correction maxt is for the methods"),
    (f"{COMPARE} --band --format json", "--band, --power, --lead and --movers are tables of"),
    (f"{COMPARE} --lead --format csv", "--lead and --movers are tables of their own: not with csv"),
    (f"{COMPARE} --resamples 98", "n_resamples must be at least 99"),
    (f"{COMPARE} --seed -1", "seed must be a whole number from 0"),
    (f"{COMPARE} --seed 1", "--seed 1 changes nothing: --test t draws nothing"),
    (f"{COMPARE} --resamples 99 --test sign", "--resamples 99 changes nothing: --test sign draws"),
    (f"{COMPARE} --resamples 99 --margin 0.1 --power", "--resamples 99 changes nothing"),
    (f"{COMPARE} --family metric --correction none", "--family metric changes nothing without a"),
    ("eval recs.csv truth.csv --segments users.csv", "write FILE:COLUMN"),
    ("eval recs.csv truth.csv --segments users.txt:a", "names no format"),
]


@pytest.mark.parametrize(("line", "said"), WRONG)
def test_wrong_usage_is_one_line_below_the_usage(cli, texts, line, said):
    status, out, err = cli(*line.split())
    assert (status, out) == (2, "")
    usage, *_, last = err.splitlines()
    assert usage.startswith("usage: toplist")
    assert re.match(r"toplist( \w+)?: error: ", last) and said in last
    assert {name: Path(name).read_text() for name in texts} == texts


def test_without_a_command_the_help_is_shown(cli):
    status, out, err = cli()
    assert (status, out) == (2, "")
    assert all(f"\n    {name}" in err for name in COMMANDS)


# Columns


def test_columns_of_one_file(good, cli):
    files = "recs.csv", "more.csv", "truth.csv"
    expected = good("eval", *files, "-k", 2)
    replaced("recs.csv", ("user_id,item_id", "who,what"))
    replaced("truth.csv", ("item_id", "movie"))
    columns = [[f"{name}:user_id=who", f"{name}:item_id=what"] for name in ("recs", "recs.csv")]
    of_side, of_file = ([*some, "ground_truths:item_id=movie"] for some in columns)
    assert cli("eval", "recs.csv", "truth.csv", "--columns", *of_side)[0] == 0
    assert good("eval", *files, "-k", 2, "--columns", *of_file) == expected


def test_columns_of_the_files_of_check(good):
    files = "recs.csv", "truth.csv", "--train", "log.csv"
    expected = good("check", *files)
    for name, new in (("recs.csv", "a"), ("truth.csv", "b"), ("log.csv", "c")):
        replaced(name, ("user_id", new))
    columns = "ranks:user_id=a", "ground_truths:user_id=b", "train:user_id=c"
    assert good("check", *files, "--columns", *columns) == expected
    replaced("recs.csv", ("rank", "place"))
    assert good("check", *files, "--columns", *columns, "rank=place") == expected
    replaced("recs.csv", (",place", ""), (",1\n", "\n"), (",2\n", "\n"), (",", "\t"))
    reading = "--ranks-format", "tsv", "--order", "file"
    assert good("check", *reading, *files, "--columns", *columns) == expected


ODD = "userId,movie,place"
HEADERS = [
    ("eval odd.csv truth.csv", ODD, "csv:1: no columns 'user_id', 'item_id' (did you mean "
     "'userId'?), --columns ranks:user_id=NAME ranks:item_id=NAME names others; columns found: "
     "['userId', 'movie', 'place']"),
    ("eval recs.csv odd.csv", ODD, "csv:1: no columns 'user_id', 'item_id' (did you mean "
     "'userId'?), --columns ground_truths:user_id=NAME ground_truths:item_id=NAME names others"),
    ("split odd.csv -o parts", ODD, "csv: no columns 'user_id', 'item_id', 'timestamp' (did you "
     "mean 'userId'?), --columns user_id=NAME item_id=NAME timestamp=NAME names others; columns "),
    ("eval recs.csv truth.csv --segments odd.csv:country", ODD,
     "odd.csv: no columns 'user_id', 'country' (did you mean 'userId'?); "),
    ("eval odd.csv truth.csv", "User_ID,item_id ,rank",
     "no columns 'user_id', 'item_id' (did you mean 'User_ID', 'item_id '?)"),
    ("eval odd.csv truth.csv", "userId,item_id,rank", "no column 'user_id' (did you mean 'userId'"),
    ("eval odd.csv truth.csv", "user_id,item_id,Rank", "or 'score' (did you mean 'Rank'?)"),
    ("eval odd.csv truth.csv", "user_id;item_id;rank", "columns found: ['user_id;item_id;rank']"),
    ("eval odd.csv truth.csv", "who,item_id,rank",
     "no column 'user_id', --columns ranks:user_id=NAME names another"),
    ("split odd.csv -o parts", "UserID,item_id,timestamp", "(did you mean 'UserID'"),
    ("split odd.csv -o parts", "UserID,ItemID,timestamp", "(did you mean 'UserID'"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "header", "said"), HEADERS)
def test_missing_columns_are_named_at_once_with_a_hint(bad, line, header, said):
    mark = next(mark for mark in ",;\t" if mark in header)
    Path("odd.csv").write_text(f"{header}\n" + mark.join(["u1", "1", "1"]) + "\n")
    assert said in bad(*line.split())
    if line == "eval odd.csv truth.csv":
        assert said in bad(*line.split(), "--per-user", "users.csv")


def test_missing_names_of_jsonl_are_named_at_once(bad):
    Path("odd.jsonl").write_text('{"who": "u1", "items": ["a"]}\n')
    said = "no columns 'user_id', 'item_id' (did you mean 'items'?), --columns"
    assert said in bad("eval", "odd.jsonl", "truth.csv")


# Files in each other's place


@pytest.mark.parametrize(
    "line",
    [
        "eval truth.csv recs.csv",
        "eval more.csv truth.csv recs.csv",
        "check truth.csv recs.csv",
        "eval truth.jsonl recs.jsonl",
        "eval truth.trec recs.trec",
        "eval truth.parquet recs.parquet",
    ],
)
def test_a_truth_that_comes_first(bad, line):
    *_, truth, recs = line.split()
    if recs == "recs.parquet":
        write_parquet(recs, user_id=["u1"], item_id=["a"], rank=[1])
        write_parquet(truth, user_id=["u1"], item_id=["a"])
    Path("recs.trec").write_text("u1 Q0 a 1 -1 x\n")
    Path("truth.trec").write_text("u1 0 a 1\n")
    Path("recs.jsonl").write_text(jsonl({"user_id": "u1", "item_id": "a", "rank": 1}))
    Path("truth.jsonl").write_text(jsonl({"user_id": "u1", "item_id": "a"}))
    error = bad(*line.split())
    if truth.endswith(".trec"):  # which has no header; the truth is read first
        assert error.startswith(f"{recs}:1: 6 columns instead of 4: ['qid', 'iteration', ")
        return
    assert error.startswith(truth) and "no column 'rank' or 'score'" in error
    assert "(is this the ground truth?); columns found" in error


def test_other_faults_of_the_first_file_stay_as_they_are(cli):
    Path("odd.csv").write_text("who,what\nu1,a\n")
    assert "no columns 'user_id', 'item_id'" in cli("eval", "odd.csv", "recs.csv")[2]
    Path("empty.csv").write_text("")
    assert cli("eval", "empty.csv", "recs.csv")[2] == "toplist: empty.csv: no rows\n"
    Path("lists.jsonl").write_text('{"user_id": "u1", "item_id": ["a", "a"]}\n')
    assert "'a' at ranks 1 and 2" in cli("eval", "lists.jsonl", "recs.csv")[2]
    # the truth is read first
    assert "no column 'item_id'" in cli("eval", "truth.csv", "users.csv")[2]


def test_lists_as_the_ground_truth_are_noted(cli):
    status, out, err = cli("eval", "recs.csv", "more.csv", "-k", 1)
    assert status == 0 and "users evaluated" in out
    assert err.startswith("toplist: note: more.csv, the last file, is taken as the ground truth")
    assert cli("eval", "recs.csv", "more.csv", "-k", 1, "--quiet") == (0, "", "")


# Help


@pytest.mark.parametrize("columns", ["80", "200"])
@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_page_of_help_is_within_80_columns(good, monkeypatch, command, columns):
    monkeypatch.setenv("COLUMNS", columns)
    page = good(*command.split(), "--help")
    assert max(map(len, page.splitlines())) <= 80
    assert page == good(*command.split(), "-h")
    assert "{standard," not in page


@pytest.mark.parametrize("command", ["", *COMMANDS])
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


def test_help_names_every_format(good):
    out = good("eval", "--help")
    for word in ("CSV", "TSV", "JSONL", "TREC", ".gz", "user_id", "item_id", "relevance"):
        assert word in out


def test_python_m_toplist_is_toplist():
    command = [sys.executable, "-m", "toplist", "eval", "-k", "2", "recs.csv", "truth.csv"]
    here = os.environ | {"PYTHONPATH": str(Path(tl.__file__).parents[1])}
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=here, timeout=600
    )
    assert "3 of 3 users evaluated" in done.stdout and done.stderr == ""
    done = subprocess.run(
        [*command[:3], "eval"], capture_output=True, text=True, env=here, timeout=600
    )
    assert done.returncode == 2 and done.stderr.startswith("usage: toplist eval ")
    done = subprocess.run(
        [*command[:3], "--version"], capture_output=True, text=True, env=here, timeout=600
    )
    assert done.stdout == f"toplist {tl.__version__}\n"
