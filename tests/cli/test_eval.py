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
from doors import by_words
from file_helpers import jsonl

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


@pytest.mark.parametrize("form", ["text", "markdown", "latex"])
def test_the_table_is_that_of_python(good, results, form):
    bare = {name: one.without_users() for name, one in results.items()}
    default = tl.top_k_eval(RANKED, RELEVANT, k=[1, 5, 10, 20])
    expected = (SYSTEMS, tl.compare(bare)), (ALONE, results["recs"]), (ALONE[:2], default)
    for arguments, shown in expected:
        how = () if form == "text" else ("--format", form)
        assert good("eval", *arguments, *how) == f"{getattr(shown, f'to_{form}')()}\n"


def test_json(good):
    content = content_of(good, "-k", 2, 1, "-m", "mrr")
    result = tl.top_k_eval(RANKED, RELEVANT, k=[2, 1], metrics="mrr")
    policies = {"empty": "skip", "missing": "zero", "relevant": "all", "ties": "order"}
    policies |= {"unjudged": "miss", "weighted": False, "pooled": [], "relevant_from": None}
    counts = {"n_users": 3, "n_evaluated": 3, "n_skipped": 0, "n_missing": 1, "n_extra": 1}
    expected = {
        "toplist": tl.__version__,
        "convention": "standard",
        "policies": policies | {"gains": "linear", "graded": False},
        "k": [1, 2],
        **counts,
        "values": {"mrr@2": 1 / 6, "mrr@1": 0.0},
        "std": {name: pytest.approx(result.std(name), rel=1e-12) for name in result.names()},
        "interval": {
            name: pytest.approx([*result.interval(name)], rel=1e-12) for name in result.names()
        },
        "n": {"mrr@2": 3, "mrr@1": 3},
        "formulas": {"mrr": "mrr@k = sum over r_j <= k of [j = 1] / r_j"},
    }
    assert content == expected and list(content) == list(expected)


def test_json_and_csv_by_system(good, results):
    content = json.loads(good("eval", *SYSTEMS, "--format", "json"))
    assert content["recs"] == json.loads(good("eval", *ALONE, "--format", "json"))
    assert content["more"]["values"] == results["more"].to_dict()
    out = good("eval", *SYSTEMS, "--format", "csv")
    assert not out.endswith("\n\n")
    alone = rows(good("eval", *ALONE, "--format", "csv"))
    assert [row for row in rows(out) if row.pop("system") == "recs"] == alone
    assert out.splitlines()[0] == "system,metric,k,mean,std,low,high,n"
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
    assert [(r["system"], r["user_id"]) for r in found] == [
        (system, user) for system in results for user in ("u1", "u2", "u4")
    ]
    values = [float(row["mrr@2"]) for row in found[3:]]
    assert values == results["more"].per_user("mrr@2").tolist()


@pytest.mark.parametrize(
    ("name", "arguments"), [("a.png", ALONE), ("a.svg", SYSTEMS), ("a.pdf", ALONE)]
)
def test_pictures(good, name, arguments):
    pytest.importorskip("matplotlib")
    assert "users evaluated" in good("eval", *arguments, "--plot", name)
    begin = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[name[2:]]
    assert Path(name).read_bytes().startswith(begin)


@pytest.mark.parametrize("step", ["os.replace", "matplotlib.figure.Figure.savefig"])
@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device", "x"), KeyboardInterrupt()]
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
    command = "eval", *ALONE, "--plot", "p.png", "--per-user", "users.csv", "-o", "out.txt"
    status, out, err = cli(*command)
    assert (status, out) == ((130, "") if isinstance(error, KeyboardInterrupt) else (1, ""))
    assert "interrupted" in err or err.endswith(": No space left on device\n")
    assert [Path(name).read_text() for name in ("p.png", "users.csv")] == ["old", "old"]
    assert sorted(os.listdir()) == before


def test_users_that_differ_are_told_though_their_number_is_the_same(good):
    for name, other in (("a", "u2"), ("b", "u4")):
        put(f"{name}.csv", f"user_id,item_id,rank\nu1,b,1\n{other},d,1\n")
    line = "DIFFERENT USERS: b is over 2, without 1 of the 2 of a and with 1 that are not in a"
    ask = "eval", "a.csv", "b.csv", "truth.csv", "-k", 1
    assert line in good(*ask, "--missing", "skip")
    assert line in good(*ask, "--convention", "lenskit")
    assert "DIFFERENT" not in good(*ask)


# Options of the evaluation


@pytest.mark.parametrize("options", [one for one in matrix.pairs() if one["k"] == [1, 3]], ids=str)
def test_every_option_gives_what_the_oracle_says(options):
    """Each option of an evaluation by itself; all pairs of them are among the slow tests."""
    if "clusters" in options:
        pytest.importorskip("pyarrow")
    assert not matrix.verdict(options, "command line", 3)


def test_formats_are_those_of_extensions_or_as_they_are_named(good):
    expected = content_of(good)
    run = "".join(
        f"{u} Q0 {one} 0 {-r} t\n" for u, row in RANKED.items() for r, one in enumerate(row)
    )
    put("r.run.gz", run)
    put("t", "".join(f"{user}\t0\t{item}\t1\n" for user, row in RELEVANT.items() for item in row))
    found = content_of(good, "--ground-truths-format", "trec", recs="r.run.gz", truth="t")
    assert found.pop("scores") == {"tied": 0, "listed": 4}  # none of which tie, though it is said
    assert found["policies"].pop("ties") == "item_desc" != expected["policies"].pop("ties")
    assert found == expected
    put("r", Path("recs.csv").read_text().replace(",", "\t"))
    assert content_of(good, "--ranks-format", "tsv", recs="r")["values"] == expected["values"]


# Labels of users and items, clusters, propensities


def test_segments_of_users(good):
    ask = "eval", *ALONE[:3], 2, "-m", "hit", "--segments"
    out = good(*ask, "users.csv:country")
    assert [line.split()[0] for line in out.splitlines()[1:5]] == ["FR", "UK", "(no", "all"]
    assert "1 label of users who are not in the result" in out
    content = json.loads(good(*ask, "users.csv:country", "--format", "json"))
    assert [(one["segment"], one["values"]["hit@2"]) for one in content["segments"]] == [
        *(("FR", 0), ("UK", 1), (None, 0))
    ]
    assert content["n_users"] == sum(one["n_users"] for one in content["segments"])
    found = rows(good(*ask, "users.csv:country", "--format", "csv"))
    assert [(row["segment"], row["n"]) for row in found] == [("FR", "1"), ("UK", "1"), ("", "1")]
    assert "all" in good(*ask, "more.csv:rank")  # of any file with a row by user
    put("items.csv", "item_id\na\nb\nc\nd\ne\n")
    asked = "-m", "item_coverage@2", "--catalogue", "items.csv"
    out = good(*ask, "users.csv:country", *asked)
    assert "of all lists together, left out: item_coverage" in out


def test_slices_of_items(good):
    ask = "-k", 2, "-m", "hit", "--item-segments"
    by_genre = *ask, "items.csv:genre"
    out = good("eval", *ALONE[:2], *by_genre, "--every-metric")
    assert [line.split()[:2] for line in out.splitlines()[1:5]] == [
        *(["x", "1"], ["y", "2"], ["(no", "label)"], ["all", "3"])
    ]
    assert "1 label of items that are relevant to no user (unused)" in out
    found = content_of(good, *by_genre)["segments"]
    assert [(one["segment"], one["values"]["hit@2"]) for one in found] == [
        *(("x", 0), ("y", 0.5), (None, 0))
    ]
    found = rows(good("eval", *SYSTEMS[:3], *by_genre, "--format", "csv"))
    assert [(row["system"], row["segment"], row["mean"]) for row in found][:4] == [
        *(("recs", "x", "0.0"), ("recs", "y", "0.5"), ("recs", "", "0.0"), ("more", "x", "1.0"))
    ]
    # items that are numbers in the lists are so in the labels
    out = good("eval", "n.jsonl", "n_truth.jsonl", *ask, "n.csv:genre", "--format", "csv")
    assert [line.split(",")[:4] for line in out.splitlines()[1:]] == [
        *(["x", "hit", "2", "1.0"], ["", "hit", "2", "0.0"])
    ]


KEYS = "--columns", "user_id=user,time"


def test_clusters_of_a_file_or_of_the_key(good):
    pytest.importorskip("pyarrow")
    ask = "eval", "keyed.csv", "keyed_truth.csv", "-k", 2, "-m", "mrr", *KEYS, "--clusters"
    text = good(*ask, "who.csv:person", "--unit", "sessions")
    assert "4 of 4 sessions evaluated, of 2 clusters" in text and "by clusters (CR2)" in text
    options = {"k": 2, "metrics": "mrr", "columns": {"user_id": ["user", "time"]}}
    users = by_words("keyed.csv", "keyed_truth.csv", **options, keep="users").users
    labels = [{"a": "ann"}.get(user, "bob") for user, _ in users]
    for asked, clusters, n in (("user", "user", 3), ("who.csv:person", labels, 2)):
        found = json.loads(good(*ask, asked, "--format", "json"))
        expected = by_words("keyed.csv", "keyed_truth.csv", clusters=clusters, **options)
        assert found["n_clusters"] == n
        assert found["interval"]["mrr@2"] == list(expected.interval("mrr@2"))


BY_KEYS = {("a", "1"): 1, ("a", "2"): 2, ("b", "1"): 0.5, ("c", "4"): 3}


@pytest.mark.parametrize(
    ("recs", "truth", "columns", "header", "known"),
    [
        ("n.jsonl", "both.jsonl", (), "user_id", {7: 2, 8: 0.5}),  # ids that are numbers
        ("keyed.csv", "keyed_truth.csv", KEYS, "user,time", BY_KEYS),
        ("recs.csv", "truth.csv", ("--columns", "weights:user_id=who"), "who",
         {"u1": 1, "u2": 4, "u4": 2}),
    ],
)  # fmt: skip
def test_weights_are_by_user_whatever_the_ids_are(good, recs, truth, columns, header, known):
    put("n.jsonl", jsonl(*({"user_id": user, "item_id": [user, 2]} for user in (7, 8))))
    put("both.jsonl", jsonl(*({"user_id": user, "item_id": [7]} for user in (7, 8))))
    keys = [key if isinstance(key, tuple) else (key,) for key in known]
    lines = (",".join(map(str, (*key, w))) for key, w in zip(keys, known.values(), strict=True))
    put("w.csv", "\n".join([f"{header},w", *lines, ""]))
    ask = "-k", 2, "-m", "mrr", "--weights", "w.csv:w", *columns
    found = content_of(good, *ask, recs=recs, truth=truth)
    names = {"columns": {"user_id": ["user", "time"]}} if columns == KEYS else {}
    expected = by_words(recs, truth, k=2, metrics="mrr", weights=known, **names)
    assert found["values"]["mrr@2"] == expected["mrr@2"]
    assert found["interval"]["mrr@2"] == pytest.approx(expected.interval("mrr@2"), nan_ok=True)


P = {"a": 0.9, "b": 0.5, "c": 0.2, "d": 0.05, "e": 0.4}


@pytest.mark.parametrize(
    ("given", "header", "more"), [("p.csv", "item_id,p", ""), ("ps.csv:p", "item_id,price,p", "1,")]
)
def test_propensities_are_of_the_one_column_or_of_the_one_that_is_named(good, given, header, more):
    rows = (f"{item},{more}{p}" for item, p in P.items())
    put(given.partition(":")[0], "\n".join([header, *rows]))
    how = {"k": [1, 2], "metrics": ("recall", "psndcg"), "propensities": P, "clip": 0.1}
    ask = "eval", *ALONE, "-m", "recall", "psndcg", "--propensities", given, "--clip", 0.1
    assert good(*ask) == f"{by_words('recs.csv', 'truth.csv', **how)}\n"


# The installed command, and the module


def script():
    found = shutil.which("toplist", path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip("the command is not installed beside this interpreter")
    return [found]


@pytest.mark.parametrize("command", [script, lambda: [sys.executable, "-m", "toplist"]])
def test_the_command_in_a_process_of_its_own(command, good):
    here = os.environ | {"PYTHONPATH": str(Path(tl.__file__).parents[1])}
    how = {"capture_output": True, "text": True, "env": here}
    run = subprocess.run([*command(), "eval", "recs.csv", "truth.csv"], timeout=600, **how)
    assert (run.returncode, run.stderr, run.stdout) == (0, "", good("eval", *ALONE[:2]))
    run = subprocess.run([*command(), "eval"], timeout=600, **how)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("usage: toplist eval ")


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


@pytest.mark.parametrize(
    ("name", "needs"),
    [("gini", "--catalogue"), ("novelty", "--counts"), ("intra_list_diversity", "--features")],
)
def test_what_a_metric_of_lists_needs(good, name, needs):
    assert f"needs {needs}\n" in good("metrics", name)


@pytest.mark.parametrize("name", [*tl.METRICS, "rbp(p=0.5)"])
def test_one_metric_and_all(good, name):
    out = good("metrics", name)
    assert f"{name}@k = sum over" in out
    written = name.replace("_", r"\_")
    assert rf"\mathrm{{{written}}}@k = " in out
    if name in tl.METRICS:
        every = good("metrics")
        assert f"{name}@k = " in every and tl.METRICS[name].text in every


@pytest.mark.parametrize("convention", tl.CONVENTIONS)
def test_no_keyword_of_python_in_what_is_printed_of_a_convention(good, convention):
    names = tl.CONVENTIONS[convention].metrics
    printed = good("metrics", "--convention", convention)
    assert re.findall(r"^(\S+)", printed, re.MULTILINE) == list(names)
    each = [good("metrics", name, "--convention", convention) for name in names]
    assert not re.search(r"\b(missing|empty|duplicates|padding|keep)=", "".join([printed, *each]))


CASE = "conventions", "--list", "a", "b", "--truth", "b", "-k", 2


def test_conventions_stand_with_their_value(good):
    known, out = tl.audit.conformance([["a", "b"]], [{"b"}], 2), good(*CASE)
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
        for name, values in known.items()
        for metric, value in values.items()
    }
    some = {c: {"map@2": v.get("map"), "ndcg@2": v.get("ndcg")} for c, v in known.items()}
    case = *CASE, "-m", "map", "ndcg"
    assert json.loads(good(*case, "--format", "json")) == some
    assert rows(good(*case, "--format", "csv")) == [
        {"convention": name, **{at: "" if v is None else str(v) for at, v in values.items()}}
        for name, values in some.items()
    ]
    lines = good(*case, "--format", "markdown").splitlines()
    assert lines[:3] == [
        "| convention | map@2 | ndcg@2 |",
        "| --- | ---: | ---: |",
        f"| standard | 0.5000 | {known['standard']['ndcg']:.4f} |",
    ]
    assert len(lines) == 2 + len(tl.CONVENTIONS)
