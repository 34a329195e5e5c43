"""toplist eval: files in, a table out; its options are those of Python."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import matrix
import pytest
from cli.conftest import RANKED, RELEVANT, put, rows

import toplist as tl

pytestmark = pytest.mark.usefixtures("files")
SYSTEMS = "recs.csv", "more.csv", "truth.csv", "-k", 1, 2
ALONE = "recs.csv", "truth.csv", "-k", 1, 2


def content_of(good, *arguments, recs="recs.csv", truth="truth.csv"):
    """Return the JSON of a run on two files."""
    return json.loads(good("eval", recs, truth, *arguments, "--format", "json"))


@pytest.fixture
def results(files):
    return {
        name: tl.top_k_eval(f"{name}.csv", "truth.csv", k=[1, 2], keep="users")
        for name in ("recs", "more")
    }


# Formats


def test_the_table_is_that_of_python(good, results):
    both = tl.compare({name: one.without_users() for name, one in results.items()})
    default = tl.top_k_eval(RANKED, RELEVANT, k=[1, 5, 10, 20])
    assert good("eval", *SYSTEMS) == f"{both.to_text()}\n"
    assert good("eval", *ALONE, "--format", "markdown") == f"{results['recs'].to_markdown()}\n"
    assert good("eval", *ALONE[:2], "--format", "latex") == f"{default.to_latex()}\n"


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_names_above_segments_and_below_tests_are_what_the_format_needs(form, good):
    shown = {"table": r"\x1b_x_", "markdown": r"**\\x1b_x\_**", "latex": r"% system \x1b_x_"}
    shutil.copy("recs.csv", "\x1b_x_.csv")
    files = "\x1b_x_.csv", *SYSTEMS[1:]
    out = good("eval", *files, "--segments", "users.csv:country", "--format", form)
    below = good("compare", *files, "--format", form)
    name = re.sub(r"\*\*|% system ", "", shown[form])
    assert shown[form] in out and f"{name}: 3 of 3 users" in below
    assert "\x1b" not in out + below


@pytest.mark.parametrize("names", ["recs.csv more.csv truth.csv", "models.csv truth.csv"])
def test_latex_of_several_systems_is_tested_whatever_else_is_written(good, names):
    more = ["--system", "model"] if "models" in names else []
    line = "eval", *names.split(), *more, "-k", 1, 2, "-m", "mrr", "--format", "latex"
    text = good(*line)
    assert text == good(*line, "--per-user", "users.csv")
    assert "paired t over 3 users" in text


def test_json(good):
    out = good("eval", *ALONE[:3], 2, 1, "-m", "mrr", "--format", "json")
    assert out == f"{tl.top_k_eval(RANKED, RELEVANT, k=[2, 1], metrics='mrr').to_json()}\n"
    content = json.loads(out)
    assert content["values"] == {"mrr@2": 1 / 6, "mrr@1": 0.0}
    assert content["rough"] == {"mrr@2": "only 3 users", "mrr@1": ""}


def test_json_and_csv_by_system(good, results):
    content = json.loads(good("eval", *SYSTEMS, "--format", "json"))
    assert content["recs"] == json.loads(good("eval", *ALONE, "--format", "json"))
    assert content["more"]["values"] == results["more"].to_dict()
    out = good("eval", *SYSTEMS, "--format", "csv")
    assert not out.endswith("\n\n")
    alone = rows(good("eval", *ALONE, "--format", "csv"))
    assert [row for row in rows(out) if row.pop("system") == "recs"] == alone
    assert out.splitlines()[0] == "system,metric,k,mean,std,low,high,n,rough"
    for row in rows(out):
        result, name = results[row["system"]], f"{row['metric']}@{row['k']}"
        found = [float(row[one]) for one in ("mean", "std", "low", "high", "n")]
        assert found == [result[name], result.std(name), *result.interval(name), 3]


def test_per_user(good, results):
    out = good("eval", *ALONE[:3], 2, 1, "-m", "mrr", "hit", "--per-user", "out.csv")
    assert out.splitlines()[0].split() == ["@1", "@2"]
    assert Path("out.csv").read_text() == (
        "user_id,mrr@2,mrr@1,hit@2,hit@1\n"
        "u1,0.5,0.0,1.0,0.0\nu2,0.0,0.0,0.0,0.0\nu4,0.0,0.0,0.0,0.0\n"
    )
    good("eval", *ALONE[:2], "-m", "mrr@2", "--missing", "skip", "--per-user", "out.csv")
    assert Path("out.csv").read_text() == "user_id,mrr@2\nu1,0.5\nu2,0.0\nu4,\n"
    good("eval", *SYSTEMS, "--per-user", "out.csv")
    found = rows(Path("out.csv").read_text())
    assert list(found[0]) == ["system", "user_id", *results["recs"].names()]
    values = [float(row["mrr@2"]) for row in found[3:]]
    assert values == results["more"].per_user("mrr@2").tolist()


@pytest.mark.parametrize(
    ("line", "key", "columns", "values"),
    [
        ("eval k.csv t.csv", "user,time", "user,time", "mrr@1"),
        ("eval k.csv l.csv t.csv", "user,time", "user,time", "mrr@1"),
        ("compare k.csv l.csv t.csv", "user,time", "user,time", "k mrr@1"),
        # a result does not know their names
        ("eval k.npz", "user,time", "user_id_1,user_id_2", "mrr@1"),
        # names of other columns of the file
        ("eval k.csv l.csv t.csv", "user,system", "user_id_1,user_id_2", "mrr@1"),
        ("eval k.csv t.csv", "user,mrr@1", "user_id_1,user_id_2", "mrr@1"),
        ("compare k.csv l.csv t.csv", "user,k mrr@1", "user_id_1,user_id_2", "k mrr@1"),
    ],
)
def test_keys_of_several_columns_stay_apart(good, line, key, columns, values):
    put("t.csv", f"{key},item_id\na b,c,x\na,b c,y\n")
    for name in ("k.csv", "l.csv"):
        put(name, f"{key},item_id,rank\na b,c,x,1\na,b c,x,1\n")
    how = "-m", "mrr@1", "--columns", f"user_id={key}"
    good("eval", "k.csv", "t.csv", *how, "--save", "k.npz")
    good(*line.split(), *(() if "npz" in line else how), "--per-user", "out.csv")
    found = rows(Path("out.csv").read_text())[-2:]
    user, time = columns.split(",")
    keyed = [(row[user], row[time], row[values]) for row in found]
    assert keyed == [("a b", "c", "1.0"), ("a", "b c", "0.0")]


@pytest.mark.parametrize(
    ("step", "error"),
    [
        ("os.replace", OSError(28, "No space left on device", "x")),
        ("matplotlib.figure.Figure.savefig", KeyboardInterrupt()),
    ],
)
def test_files_are_written_all_or_none(cli, monkeypatch, step, error):
    pytest.importorskip("matplotlib")
    for name in ("p.png", "users.csv"):
        put(name, "old")
    before = sorted(os.listdir())

    def full(_, path, **how):
        if step != "os.replace":
            Path(path).write_text("half")
        raise error

    monkeypatch.setattr(step, full)
    outputs = "--plot", "p.png", "--per-user", "users.csv", "-o", "out.txt"
    status, out, err = cli("eval", *ALONE, "-m", "hit", *outputs)
    assert (status, out) == ((130, "") if isinstance(error, KeyboardInterrupt) else (1, ""))
    assert "interrupted" in err or err.endswith(": No space left on device\n")
    assert [Path(name).read_text() for name in ("p.png", "users.csv")] == ["old", "old"]
    assert sorted(os.listdir()) == before


# Options of the evaluation


@pytest.mark.parametrize("options", [one for one in matrix.pairs() if one["k"] == [1, 3]], ids=str)
def test_every_option_gives_what_the_oracle_says(options):
    """Each option of an evaluation by itself; all pairs of them are among the slow tests."""
    if "clusters" in options:
        pytest.importorskip("pyarrow")
    assert not matrix.verdict(options, "command line", 3)


# Labels of users and items, clusters, propensities


def test_segments_of_users(good):
    ask = "eval", *ALONE[:3], 2, "-m", "hit", "--segments"
    labels = {"u1": "UK", "u2": "FR", "u4": None, "u9": "UK"}
    result = tl.top_k_eval(RANKED, RELEVANT, k=2, metrics="hit")
    assert good(*ask, "users.csv:country") == f"{result.by(labels)}\n"
    content = json.loads(good(*ask, "users.csv:country", "--format", "json"))
    assert [(one["segment"], one["values"]["hit@2"]) for one in content["segments"]] == [
        *(("FR", 0), ("UK", 1), (None, 0))
    ]
    assert content["n_users"] == sum(one["n_users"] for one in content["segments"])
    found = rows(good(*ask, "users.csv:country", "--format", "csv"))
    assert [(row["segment"], row["n"]) for row in found] == [("FR", "1"), ("UK", "1"), ("", "1")]
    put("items.csv", "item_id\na\nb\nc\nd\ne\n")
    asked = "-m", "item_coverage@2", "--catalogue", "items.csv"
    out = good(*ask, "users.csv:country", *asked)
    assert "of all lists together, left out: item_coverage" in out


def test_slices_of_items(good):
    ask = "-k", 2, "-m", "hit", "--item-segments"
    by_genre = *ask, "items.csv:genre"
    labels = {"a": "x", "b": "y", "d": None, "e": "y", "q": "x"}
    expected = tl.top_k_eval(RANKED, RELEVANT, k=2, metrics="hit").by_item(labels)
    assert good("eval", *ALONE[:2], *by_genre) == f"{expected}\n"
    found = content_of(good, *by_genre)["segments"]
    assert [(one["segment"], one["values"]["hit@2"]) for one in found] == [
        *(("x", 0), ("y", 0.5), (None, 0))
    ]
    found = rows(good("eval", *SYSTEMS[:3], *by_genre, "--format", "csv"))
    assert [row["system"] for row in found] == ["recs"] * 3 + ["more"] * 3
    assert [row["mean"] for row in found][2:4] == ["0.0", "1.0"]


KEYS = "--columns", "user_id=user,time"


def test_clusters_of_a_file_or_of_the_key(good):
    pytest.importorskip("pyarrow")
    ask = "eval", "keyed.csv", "keyed_truth.csv", "-k", 2, "-m", "mrr", *KEYS, "--clusters"
    text = good(*ask, "who.csv:person", "--unit", "sessions")
    assert "4 of 4 sessions evaluated, of 2 clusters" in text and "by clusters (CR2)" in text


# The installed command, and the module


def script():
    found = shutil.which("toplist", path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip("the command is not installed beside this interpreter")
    return [found]


def test_the_command_in_a_process_of_its_own(good):
    here = os.environ | {"PYTHONPATH": str(Path(tl.__file__).parents[1])}
    how = {"capture_output": True, "text": True, "env": here}
    module = sys.executable, "-m", "toplist"
    run = subprocess.run([*module, "eval", "recs.csv", "truth.csv"], timeout=600, **how)
    assert (run.returncode, run.stderr, run.stdout) == (0, "", good("eval", *ALONE[:2]))


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_a_reader_that_has_left(monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    reader, writer = os.pipe()
    os.close(reader)
    run = subprocess.run(
        [*script(), "metrics"], stdout=writer, stderr=subprocess.PIPE, text=True, timeout=600
    )
    os.close(writer)
    assert run.stderr == ""


# toplist metrics and conventions


def test_one_metric_and_all(good):
    every = good("metrics")
    for name in (*tl.METRICS, "rbp(p=0.5)"):
        out, written = good("metrics", name), name.replace("_", r"\_")
        assert f"{name}@k = sum over" in out and rf"\mathrm{{{written}}}@k = " in out
        if name in tl.METRICS:
            assert f"{name}@k = " in every and tl.METRICS[name].text in every
    for name, words in (
        ("gini", "needs --catalogue\n"),
        ("intra_list_diversity", "needs --features\n"),
        ("psp", "; under SNIPS users without relevant items are left out"),
        ("recall", "; users without relevant items are left out"),
    ):
        assert words in good("metrics", name)


@pytest.mark.parametrize("convention", tl.CONVENTIONS)
def test_no_keyword_of_python_in_what_is_printed_of_a_convention(good, convention):
    names = tl.CONVENTIONS[convention].metrics
    printed = good("metrics", "--convention", convention)
    assert re.findall(r"^(\S+)", printed, re.MULTILINE) == list(names)
    printed += good("metrics", next(iter(names)), "--convention", convention)
    assert not re.search(r"\b(missing|empty|duplicates|padding|keep)=", printed)


def test_conventions_stand_with_their_value(good):
    case = "conventions", "--list", "a", "b", "--truth", "b", "-k", 2
    known, out = tl.audit.conformance([["a", "b"]], [{"b"}], 2), good(*case)
    assert max(map(len, out.splitlines())) < 80
    words = out.split()
    for name, values in known.items():
        assert any(word.rstrip(",") == name for word in words)
        assert all(f"{value:.4f}" in words for value in values.values())
    case = *case, "-m", "map", "ndcg"
    some = {c: {"map@2": v.get("map"), "ndcg@2": v.get("ndcg")} for c, v in known.items()}
    assert json.loads(good(*case, "--format", "json")) == some
    header, first, *others = good(*case, "--format", "csv").splitlines()
    assert (header, first) == (
        "convention,map@2,ndcg@2",
        f"standard,0.5,{some['standard']['ndcg@2']}",
    )
    assert len(others) == len(known) - 1
