"""toplist gate: its exit status in every situation, what it prints, and what it refuses."""

import json
import sys
from pathlib import Path

import pytest
from doors import by_words
from systems import DATA

import toplist as tl
from toplist.cli import main

KNN, POP, TRUTH = (
    str(DATA / name) for name in ("itemknn.csv.gz", "popularity.csv.gz", "truth.csv")
)
NDCG = "-m ndcg@10 --margin 0.005"
USERS = 300


@pytest.fixture(autouse=True)
def texts(tmp_path, monkeypatch):
    """Write lists of 300 users and their truth, and what is wrong with others."""
    monkeypatch.chdir(tmp_path)

    def lists(name, hits, users=range(USERS)):
        rows = [f"u{u},{'a' if hits(u) else 'b'},1\nu{u},c,2\n" for u in users]
        Path(name).write_text("user_id,item_id,rank\n" + "".join(rows))

    lists("base.csv", lambda u: u % 4)
    lists("same.csv", lambda u: u % 4)
    lists("better.csv", lambda u: u % 8)
    lists("worse.csv", lambda u: u % 2)
    lists("close.csv", lambda u: u % 4 and u % 30 != 1)
    lists("hurt.csv", lambda u: u % 4 and u > 40)
    Path("empty.csv").write_text("")
    Path("truth.csv").write_text("user_id,item_id\n" + "".join(f"u{u},a\n" for u in range(USERS)))
    Path("fewer.csv").write_text("user_id,item_id\n" + "".join(f"u{u},a\n" for u in range(200)))
    labels = "".join(f"u{u},{'UK' if u <= 40 else 'FR'}\n" for u in range(USERS))
    Path("users.csv").write_text(f"user_id,country\n{labels}")


MRR = "-m mrr@2 --margin 0.05"
SITUATIONS = [
    ("better", f"better.csv base.csv truth.csv {MRR}", 0),
    ("worse", f"worse.csv base.csv truth.csv {MRR}", 1),
    ("a copy", f"same.csv base.csv truth.csv {MRR}", 0),
    ("the same file", f"base.csv base.csv truth.csv {MRR}", 0),
    ("undecided", f"close.csv base.csv truth.csv {MRR}", 3),
    ("undecided fails", f"close.csv base.csv truth.csv {MRR} --undecided fail", 3),
    ("undecided ok", f"close.csv base.csv truth.csv {MRR} --undecided ok", 0),
    ("worse is never ok", f"worse.csv base.csv truth.csv {MRR} --undecided ok", 1),
    ("a wider margin", "close.csv base.csv truth.csv -m mrr@2 --margin 0.2", 0),
    ("a margin each", "close.csv base.csv truth.csv --margin mrr@2=0.2 hit@2=0.2", 0),
    ("one of them worse", "worse.csv base.csv truth.csv --margin mrr@2=0.05 hit@2=0.7", 1),
    ("floor held", f"same.csv base.csv truth.csv {MRR} --floor hit@1=0.5", 0),
    ("floor missed", f"same.csv base.csv truth.csv {MRR} --floor hit@1=0.9", 1),
    ("floor undecided", f"same.csv base.csv truth.csv {MRR} --floor hit@1=0.75", 3),
    ("a floor alone", "same.csv base.csv truth.csv --floor hit@1=0.5", 0),
    ("nobody hurt", f"same.csv base.csv truth.csv {MRR} --segments users.csv:country", 0),
    (
        "a segment worse",
        "hurt.csv base.csv truth.csv -m mrr@2 --margin 0.2 --segments users.csv:country",
        1,
    ),
    ("hurt over all", "hurt.csv base.csv truth.csv -m mrr@2 --margin 0.2", 0),
    ("a missing file", f"none.csv base.csv truth.csv {MRR}", 2),
    ("no truth file", f"same.csv base.csv none.csv {MRR}", 2),
    ("an empty file", f"empty.csv base.csv truth.csv {MRR}", 2),
    ("no truth", f"same.csv base.csv {MRR}", 2),
    ("an unknown metric", "same.csv base.csv truth.csv -m mrrr@2 --margin 0.1", 2),
    ("no k", "same.csv base.csv truth.csv -m mrr --margin 0.1", 2),
    ("no margin", "same.csv base.csv truth.csv -m mrr@2", 2),
    ("margin below 0", "same.csv base.csv truth.csv -m mrr@2 --margin -0.1", 2),
    ("an unknown option", f"same.csv base.csv truth.csv {MRR} --margins 1", 2),
    ("a column that is not", f"same.csv base.csv truth.csv {MRR} --segments users.csv:age", 2),
    ("no folder to write to", f"same.csv base.csv truth.csv {MRR} -o none/out.md", 2),
]


@pytest.mark.parametrize(("line", "status"), [row[1:] for row in SITUATIONS], ids=[
    row[0] for row in SITUATIONS
])  # fmt: skip
def test_the_exit_status(cli, line, status):
    found, out, err = cli("gate", *line.split())
    assert found == status
    assert (out == "") == (status == 2) and bool(err) == (status == 2)
    assert "Traceback" not in err
    if status != 2:
        verdict = {0: "not worse", 1: "worse", 3: "undecided"}[status]
        verdict = "undecided" if status == 0 and "--undecided" in line else verdict
        assert f"\ngate: {verdict}" in out


def saved(name, lists, truth="truth.csv", keep="users", **options):
    by_words(f"{lists}.csv", truth, metrics="mrr@2", keep=keep, **options).save(name)
    return name


def test_a_saved_result_without_users_is_refused(cli):
    saved("bare.npz", "base", keep=None)
    for files in ("same.csv bare.npz truth.csv", "bare.npz bare.npz"):
        status, out, err = cli("gate", *files.split(), *MRR.split())
        assert (status, out) == (2, "") and err.startswith("toplist: bare.npz: without users")
        assert "keep='users'" in err
    status, _, err = cli("gate", "same.csv", "base.csv", *MRR.split())
    assert "same.csv is no saved result: TRUTH, the last file, is needed" in err


@pytest.mark.parametrize("more", ["", "--floor mrr@2=0.1", "--segments users.csv:group"])
def test_results_saved_with_their_users_stand_where_lists_do(cli, more):
    Path("users.csv").write_text("user_id,group\n" + "".join(f"u{i},{i % 2}\n" for i in range(60)))
    for name in ("base", "worse"):
        saved(f"{name}.npz", name)
    line = *MRR.split(), *more.split()
    expected = cli("gate", "worse.csv", "base.csv", "truth.csv", *line)
    assert expected[0] == 1 and "worse" in expected[1]
    assert cli("gate", "worse.npz", "base.npz", *line) == expected
    mixed = cli("gate", "worse.csv", "base.npz", "truth.csv", *line)
    assert mixed == expected
    assert cli("gate", "base.npz", "base.npz", *MRR.split())[0] == 0
    status, _, err = cli("gate", "worse.npz", "base.npz", "truth.csv", *MRR.split())
    assert status == 2 and "saved results alone need no ground truth" in err
    saved("third.npz", "base")
    status, _, err = cli("gate", "worse.npz", "base.npz", "third.npz", *MRR.split())
    assert status == 2 and "a gate is of two, NEW and BASE" in err


def test_an_error_that_nobody_has_foreseen_is_no_verdict(cli, monkeypatch):
    def fail(*given, **options):
        raise LookupError("a bug")

    monkeypatch.setattr("toplist.cli.compare.gate", fail)
    status, out, err = cli("gate", *f"same.csv base.csv truth.csv {MRR}".split())
    assert (status, out) == (2, "") and err.endswith("LookupError: a bug\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is of Linux")
def test_a_full_disk_is_an_error(monkeypatch):
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert main(["gate", "same.csv", "base.csv", "truth.csv", *MRR.split()]) == 2


def test_it_is_the_gate_of_python(cli):
    metrics = "--margin", "ndcg@10=0.005", "recall@20=0.01", "--floor", "recall@20=0.1"
    status, out, err = cli("gate", POP, KNN, TRUTH, *metrics)
    new, base = (
        tl.top_k_eval(path, TRUTH, metrics=["ndcg@10", "recall@20"], keep="users")
        for path in (POP, KNN)
    )
    found = tl.gate(new, base, {"ndcg@10": 0.005, "recall@20": 0.01}, floors={"recall@20": 0.1})
    assert (status, err, out) == (1, "", f"{found.to_text()}\n")
    assert cli("gate", POP, KNN, TRUTH, *metrics, "--format", "markdown")[1] == (
        f"{found.to_markdown()}\n"
    )
    status, out, _ = cli("gate", POP, KNN, TRUTH, *metrics, "--format", "json")
    whole = json.loads(out)
    assert (status, whole["verdict"], whole["rows"][1]["margin"]) == (1, "worse", 0.01)
    assert whole["rows"][2]["difference"] is None and whole["rows"][2]["floor"] == 0.1


def test_names_of_other_libraries_and_files_anywhere(cli):
    expected = cli("gate", POP, KNN, TRUTH, *NDCG.split())
    assert cli("gate", "--margin", "nDCG@10=0.005", POP, KNN, TRUTH) == expected
    assert cli("gate", POP, *["-m", "ndcg@10"], KNN, "--margin", "0.005", TRUTH) == expected


def test_the_format_by_the_extension(cli):
    assert cli("gate", *f"same.csv base.csv truth.csv {MRR} -o out.md".split())[:2] == (0, "")
    assert Path("out.md").read_text().startswith("**Gate: not worse**\n\n| metric |")
    assert cli("gate", *f"worse.csv base.csv truth.csv {MRR} -q".split()) == (1, "", "")


def test_lists_by_standard_input(cli, monkeypatch):
    with open("same.csv") as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert cli("gate", *f"- base.csv truth.csv {MRR}".split())[0] == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("-m mrr@2 --margin 0.1 0.2", "give one number for all, or one for each name@k"),
        ("-m mrr@2 --margin mrr@2=0.1 0.2", "one number for all of -m, or name@k=number for each"),
        ("--margin 0.2", "--margin: of which metric? write -m ndcg@10"),
        ("-m mrr@2 hit@2 --margin mrr@2=0.1", "name the same metrics, and hit@2 is in one alone"),
        ("-m mrr@2 --margin hit@2=0.1 mrr@2=0.1", "and hit@2 is in one alone"),
        ("-m mrr@2", "--margin is needed: the loss of mrr@2 that does not matter"),
        ("-m mrr@2 --margin x", "'x': write a number, or name@k=number"),
        ("-m mrr@2 --margin 0", "--margin of mrr@2 must be a number above 0, not 0.0"),
        ("--floor 0.1", "--floor: write name@k=number, once for each name"),
        ("--floor hit@1=0.1 hit@1=0.2", "--floor: write name@k=number, once for each name"),
        ("", "nothing to test: write -m ndcg@10 --margin 0.005"),
        ("-m mrr --margin 0.1", "mrr: at which k? write mrr@10"),
        ("-m mrr@2 --margin 0.1 --level 95", "level must be a number between 0 and 1"),
        ("-m mrr@2 --margin 0.1 --segments users.csv", "write FILE:COLUMN"),
        ("-m mrr@2 --margin 0.1 --undecided no", "invalid choice: 'no'"),
        ("-m mrr@2 --margin 0.1 -o base.csv", "--out base.csv would overwrite an input file"),
    ],
)
def test_wrong_usage_is_one_line(cli, line, said):
    status, out, err = cli("gate", "same.csv", "base.csv", "truth.csv", *line.split())
    assert (status, out) == (2, "") and said in err.splitlines()[-1]


def test_several_systems_in_a_file_are_refused(cli):
    rows = [f"u{u},a,1,{name}\n" for name in "xy" for u in range(9)]
    Path("both.csv").write_text("user_id,item_id,rank,model\n" + "".join(rows))
    arguments = f"both.csv base.csv truth.csv {MRR} --system model".split()
    assert cli("gate", *arguments)[0] == 2
