"""toplist eval: two files in, a table out; what went wrong in one line, and an exit status."""

import csv
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
from doors import by_words
from file_helpers import jsonl, write_parquet

import toplist as tl
from toplist import CONVENTIONS
from toplist.cli import main

RANKED = {"u1": ["a", "b"], "u2": ["c"], "u3": ["a"]}
RELEVANT = {"u1": ["b"], "u2": ["d"], "u4": ["a", "e"]}


@pytest.fixture(autouse=True)
def folder(files, tmp_path):
    return tmp_path


def put(name, text):
    data = text.encode()
    Path(name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return name


def content_of(good, *arguments, recs="recs.csv", truth="truth.csv"):
    """Return the JSON of a run on two files."""
    return json.loads(good("eval", recs, truth, *arguments, "--format", "json"))


def evaluated(good, *arguments, **files):
    """Return mrr@2 of a run on two files."""
    return content_of(good, *arguments, "-k", 2, "-m", "mrr", **files)["values"]["mrr@2"]


# Output


def test_table(good):
    result = tl.top_k_eval(RANKED, RELEVANT, k=[1, 5, 10, 20])
    assert good("eval", "recs.csv", "truth.csv") == f"{result}\n"


def test_json(good):
    content = content_of(good, "-k", 2, 1, "-m", "mrr")
    result = tl.top_k_eval(RANKED, RELEVANT, k=[2, 1], metrics="mrr")
    policies = {"empty": "skip", "missing": "zero", "relevant": "all", "ties": "order"}
    policies |= {
        "unjudged": "miss",
        "weighted": False,
        "pooled": [],
        "relevant_from": None,
        "gains": "linear",
    }
    policies["graded"] = False
    expected = {
        "toplist": tl.__version__,
        "convention": "standard",
        "policies": policies,
        "k": [1, 2],
        "n_users": 3,
        "n_evaluated": 3,
        "n_skipped": 0,
        "n_missing": 1,
        "n_extra": 1,
        "values": {"mrr@2": 1 / 6, "mrr@1": 0.0},
        "std": {name: pytest.approx(result.std(name), rel=1e-12) for name in result.names()},
        "interval": {
            name: pytest.approx([*result.interval(name)], rel=1e-12) for name in result.names()
        },
        "n": {"mrr@2": 3, "mrr@1": 3},
        "formulas": {"mrr": "mrr@k = sum over r_j <= k of [j = 1] / r_j"},
    }
    assert content == expected
    assert list(content) == list(expected)


def test_csv(good):
    out = good("eval", "recs.csv", "truth.csv", "-k", 2, 1, "-m", "mrr", "hit", "--format", "csv")
    assert not out.endswith("\n\n")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == ["metric", "k", "mean", "std", "low", "high", "n"]
    assert [(row["metric"], row["k"]) for row in rows] == [
        *(("mrr", "2"), ("mrr", "1"), ("hit", "2"), ("hit", "1"))
    ]
    result = tl.top_k_eval(RANKED, RELEVANT, k=2, metrics=["mrr"])
    assert float(rows[0]["mean"]) == result["mrr@2"]
    assert float(rows[0]["std"]) == result.std("mrr@2")
    assert (float(rows[0]["low"]), float(rows[0]["high"])) == result.interval("mrr@2")
    assert rows[0]["n"] == "3"


def test_per_user(good):
    out = good(
        *("eval", "recs.csv", "truth.csv", "-k", 2, 1, "-m", "mrr", "hit"),
        *("--per-user", "users.csv"),
    )
    assert out.splitlines()[0].split() == ["@1", "@2"]
    assert Path("users.csv").read_text() == (
        "user_id,mrr@2,mrr@1,hit@2,hit@1\n"
        "u1,0.5,0.0,1.0,0.0\n"
        "u2,0.0,0.0,0.0,0.0\n"
        "u4,0.0,0.0,0.0,0.0\n"
    )


def test_per_user_of_users_left_out_is_empty(good):
    arguments = "-m", "mrr@2", "--missing", "skip", "--per-user", "users.csv"
    good("eval", "recs.csv", "truth.csv", *arguments)
    assert Path("users.csv").read_text() == "user_id,mrr@2\nu1,0.5\nu2,0.0\nu4,\n"


def test_per_user_quotes_and_packs(good):
    put("odd.csv", 'user_id,item_id,rank\n"a,""b",x,1\n')
    put("odd-truth.csv", 'user_id,item_id\n"a,""b",x\n')
    good("eval", "odd.csv", "odd-truth.csv", "-m", "hit@1", "--per-user", "users.csv.gz")
    text = gzip.decompress(Path("users.csv.gz").read_bytes()).decode()
    assert list(csv.reader(io.StringIO(text))) == [["user_id", "hit@1"], ['a,"b', "1.0"]]


# Options of the evaluation


LISTS = {"u": ["a", "b", "c"], "v": ["b", "x"], "w": ["a"]}
GRADES = {"u": {"b": 3, "a": 1, "d": 1, "e": 1}, "v": {"b": 0}, "z": {"a": 1}}
OPTIONS = [
    ("--convention neurec", {"convention": "neurec"}),
    ("--convention trec_eval", {"convention": "trec_eval"}),
    ("--convention trec_eval --missing zero", {"convention": "trec_eval", "missing": "zero"}),
    ("--missing skip", {"missing": "skip"}),
    ("--empty zero", {"empty": "zero"}),
    ("--gains exponential", {"gains": "exponential"}),
    ("--relevant-from 2", {"relevant_from": 2}),
]


@pytest.mark.parametrize(("arguments", "options"), OPTIONS)
def test_options_are_those_of_python(good, arguments, options):
    rows = [f"{u},{i},{rank}" for u, some in LISTS.items() for rank, i in enumerate(some, 1)]
    put("recs.csv", "\n".join(["user_id,item_id,rank", *rows]))
    rows = [f"{u},{i},{grade}" for u, some in GRADES.items() for i, grade in some.items()]
    put("truth.csv", "\n".join(["user_id,item_id,relevance", *rows]))
    asked = {"k": 3, "metrics": ["recall", "map", "ndcg", "cg"]}
    if "convention" in arguments:  # others have no cg
        asked["metrics"] = ["recall", "map"]
    content = content_of(good, "-k", 3, "-m", *asked["metrics"], *arguments.split())
    found, plain = (by_words(LISTS, GRADES, **asked, **some) for some in (options, {}))
    counts = "n_users", "n_evaluated", "n_skipped", "n_missing"
    assert content["values"] == pytest.approx(found.to_dict(), rel=1e-12)
    assert [content[name] for name in counts] == [getattr(found, name) for name in counts]
    assert content["values"] != pytest.approx(plain.to_dict(), rel=1e-12)  # the option matters


def test_policies_that_raise(bad):
    assert "user 'u4' has no ranked list" in bad(
        "eval", "recs.csv", "truth.csv", "--missing", "raise"
    )
    put("truth.csv", "user_id,item_id,relevance\nu1,b,1\nu2,c,0\n")
    line = bad("eval", "recs.csv", "truth.csv", "--empty", "raise")
    assert "user 'u2' has an empty ground truth" in line


def test_duplicates(good, bad):
    put("recs.csv", "user_id,item_id,rank\nu1,a,1\nu1,a,2\nu1,b,3\n")
    put("truth.csv", "user_id,item_id\nu1,b\n")
    assert "user 'u1' has item 'a' at ranks 1 and 2" in bad("eval", "recs.csv", "truth.csv")
    content = content_of(good, "--duplicates", "first", "-m", "mrr@3")
    assert content["values"] == {"mrr@3": 1 / 3}


def test_padding(bad, good):
    put("r.jsonl", '{"user_id": 1, "item_id": [5, -1, -1]}\n')
    put("t.jsonl", '{"user_id": 1, "item_id": [5]}\n')
    files = "eval", "r.jsonl", "t.jsonl", "-k", "3"
    line = bad(*files)
    assert "(if it fills up the list: --padding -1)" in line and "--duplicates first" in line
    assert bad(*files, "--padding", "x").endswith("not all ids here are")
    assert "recall     1.0000" in good(*files, "--padding=-1")


# Formats


def by_format(rows, *names, **more):
    """Return the texts of a table by format."""
    lines = [",".join(map(str, line)) for line in (names, *rows)]
    text = "\n".join([*lines, ""])
    records = (dict(zip(names, row, strict=True)) for row in rows)
    return {"csv": text, "tsv": text.replace(",", "\t"), "jsonl": jsonl(*records), **more}


ROWS = [(user, item, r) for user, items in RANKED.items() for r, item in enumerate(items, 1)]
PAIRS = [(user, item) for user, items in RELEVANT.items() for item in items]
RUN = "".join(f"{user} Q0 {item} 0 {-rank} tag\n" for user, item, rank in ROWS)
QRELS = "".join(f"{user} 0 {item} 1\n" for user, item in PAIRS)
RECS = by_format(ROWS, "user_id", "item_id", "rank", trec=RUN)
TRUTHS = by_format(PAIRS, "user_id", "item_id", trec=QRELS)


@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize("recs", RECS)
def test_formats_give_the_same_by_extension_and_by_name(good, recs, truth):
    expected = content_of(good)
    if recs == "trec":
        expected["policies"]["ties"] = "item_desc"  # trec_eval's; said, though no scores tie here
        expected["scores"] = {"tied": 0, "listed": 4}
    files = put(f"r.{recs}.gz", RECS[recs]), put(f"t.{truth}", TRUTHS[truth])
    assert content_of(good, recs=files[0], truth=files[1]) == expected
    files = put("r", RECS[recs]), put("t.txt", TRUTHS[truth])
    names = "--ranks-format", recs, "--ground-truths-format", truth
    assert content_of(good, *names, recs=files[0], truth=files[1]) == expected


# Columns and order


def test_columns(good):
    put("recs.csv", "rating,movieId,position,userId\n5,a,1,u1\n4,b,2,u1\n")
    put("truth.csv", "userId,movieId\nu1,b\nu1,c\n")
    columns = "--columns", "user_id=userId", "item_id=movieId"
    assert evaluated(good, *columns, "rank=position") == 0.5
    assert evaluated(good, *columns, "score=rating") == 0.5
    put("truth.csv", "userId,movieId,rating\nu1,b,2\nu1,c,0\n")
    content = content_of(good, *columns, "rank=position", "relevance=rating", "-m", "cg@2")
    assert content["values"] == {"cg@2": 2.0}


def test_missing_columns_of_parquet_and_the_way_out(bad):
    write_parquet("r.parquet", u=["a"], item_id=["x"], rank=[1])
    line = bad("eval", "r.parquet", "truth.csv")
    assert "no column 'user_id', --columns ranks:user_id=NAME" in line
    assert "columns found: ['u', 'item_id', 'rank']" in line
    write_parquet("r.parquet", user_id=["a"], item_id=["x"], position=[1])
    line = bad("eval", "r.parquet", "truth.csv")
    assert "'position'" in line and "--order file" in line


def test_order_file_and_users_in_pieces(good):
    put("recs.csv", "user_id,item_id,rank,score\nu1,a,2,0.1\nu2,c,1,1\nu1,b,1,0.9\n")
    assert evaluated(good) == pytest.approx(1 / 3)
    assert evaluated(good, "--order", "file") == pytest.approx(1 / 6)


def test_equal_scores(good):
    put("recs.csv", "user_id,item_id,score\nu1,a,1\nu1,b,1\n")
    assert evaluated(good, "--ties", "item") == pytest.approx(1 / 6)
    assert evaluated(good, "--ties", "item_desc") == pytest.approx(1 / 3)


# Status 1: bad input, in one line


def test_missing_files(bad):
    assert bad("eval", "none.csv", "truth.csv") == "none.csv: No such file or directory"
    assert bad("eval", "recs.csv", "none.csv") == "none.csv: No such file or directory"
    os.mkdir("a.csv")
    assert bad("eval", "a.csv", "truth.csv") == "a.csv: Is a directory"


def test_an_item_of_two_lines_is_told_in_one(bad):
    put("recs.csv", 'user_id,item_id,rank\nu,"a\nb",1\nu,"a\nb",2\n')
    put("truth.csv", "user_id,item_id\nu,c\n")
    assert "at ranks 1 and 2" in bad("eval", "recs.csv", "truth.csv")


@pytest.mark.skipif(sys.platform == "win32", reason="no such file names")
def test_a_file_name_of_two_lines_is_told_in_one(bad):
    put("re\ncs.csv", "")
    assert bad("eval", "re\ncs.csv", "truth.csv").endswith("cs.csv: no rows")
    assert bad("eval", "no\nne.csv", "truth.csv").endswith("ne.csv: No such file or directory")


# Writing


@pytest.mark.parametrize("name", ["old.csv", "new.csv", "none/users.csv", "a.csv"])
def test_bad_input_and_bad_targets_write_nothing(bad, folder, name):
    put("old.csv", "old")
    os.mkdir("a.csv")
    before = sorted(os.listdir(folder))
    if "/" in name or name == "a.csv":
        line = bad("eval", "recs.csv", "truth.csv", "--per-user", name)
        assert line.startswith(f"{name}: ")
    put("wrong.csv", "user_id,item_id,rank\nu1,a,2\n")
    bad("eval", "wrong.csv", "truth.csv", "--per-user", name)
    os.remove("wrong.csv")
    assert sorted(os.listdir(folder)) == before
    assert Path("old.csv").read_text() == "old"


@pytest.mark.parametrize("step", ["os.replace", "matplotlib.figure.Figure.savefig"])
def test_plot_and_per_user_are_written_both_or_not_at_all(good, bad, folder, monkeypatch, step):
    pytest.importorskip("matplotlib")
    command = "eval", "recs.csv", "truth.csv", "--plot", "p.png", "--per-user", "users.csv"
    good(*command)
    for name in ("p.png", "users.csv"):
        put(name, "old")
    before = sorted(os.listdir(folder))

    def full(_, path, **how):
        if step != "os.replace":
            Path(path).write_text("half")
        raise OSError(28, "No space left on device", path)

    monkeypatch.setattr(step, full)
    assert bad(*command).endswith(": No space left on device")
    assert [Path(name).read_text() for name in ("p.png", "users.csv")] == ["old", "old"]
    assert sorted(os.listdir(folder)) == before


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (MemoryError(), "not enough memory"),
        (MemoryError("Unable to allocate 16 GiB"), "not enough memory (Unable to allocate 16 GiB)"),
        (RuntimeError("can't start new thread"), "can't start new thread"),
        (RuntimeError("a fault of toplist itself"), None),
    ],
)
def test_a_lack_of_memory_or_threads_is_one_line(monkeypatch, bad, error, line):
    monkeypatch.setattr("toplist.cli.reading.top_k_eval", Mock(side_effect=error))
    if line is None:
        with pytest.raises(RuntimeError):
            bad("eval", "recs.csv", "truth.csv")
    else:
        assert bad("eval", "recs.csv", "truth.csv") == line


def test_an_interrupt_leaves_nothing_half_written(folder, monkeypatch, capsys):
    before = sorted(os.listdir(folder))
    monkeypatch.setattr("toplist.cli.output.per_user_csv", Mock(side_effect=KeyboardInterrupt))
    assert main(["eval", "recs.csv", "truth.csv", "--per-user", "users.csv"]) == 130
    assert capsys.readouterr().err == "toplist: interrupted\n"
    assert sorted(os.listdir(folder)) == before


# Keywords of Python in messages: the command line writes its own options


NESTED = {"ranks": {"user_id": "uid"}, "ground_truths": {"item_id": "..."}}
KEYWORDS = [
    ("catalogue", None, "--catalogue"),
    ("every_metric", True, "--every-metric"),
    ("every_metric", False, "no --every-metric"),
    ("duplicates", "first", "--duplicates first"),
    ("padding", -1, "--padding -1"),
    ("padding", "no item", "--padding 'no item'"),
    ("relevant_from", 3.5, "--relevant-from 3.5"),
    ("k", 5, "-k 5"),
    ("metrics", ["hit", "mrr"], "--metrics hit mrr"),
    ("columns", {"user_id": "a", "item_id": "my b"}, "--columns user_id=a 'item_id=my b'"),
    ("columns", {"user_id": "..."}, "--columns user_id=NAME"),
    ("columns", NESTED, "--columns ranks:user_id=uid ground_truths:item_id=NAME"),
]


@pytest.mark.parametrize(("name", "value", "command_line"), KEYWORDS)
def test_keywords(bad, monkeypatch, name, value, command_line):
    python = "" if value is None else repr(value)
    error = ValueError(f"a.csv: as is, or {name}={python}.")
    monkeypatch.setattr("toplist.cli.reading.top_k_eval", Mock(side_effect=error))
    assert bad("eval", "recs.csv", "truth.csv") == f"a.csv: as is, or {command_line}."
    # with several systems the file is named before
    put("more.csv", Path("recs.csv").read_text())
    several = "eval", "recs.csv", "more.csv", "truth.csv"
    assert bad(*several) == f"recs.csv: a.csv: as is, or {command_line}."


WORDED = [
    ("gini needs toplist.Items(catalogue=...), say", "gini needs --catalogue FILE, say"),
    ("convention.replace(empty='skip') continues", "--empty skip continues"),
    ("give items=toplist.Items(unknown='skip')", "give --unknown skip"),
    ("grade 3 has no gain; add it, gains={3: ...}", "grade 3 has no gain; add it, --gains 3=..."),
    ("the user's item 'k=5' of part/k=5.csv", "the user's item 'k=5' of part/k=5.csv"),
    ("give weights={user: 2.0}, keep='users'", "give weights={user: 2.0}, keep='users'"),
]


@pytest.mark.parametrize(("python", "command_line"), WORDED)
def test_what_takes_a_keyword_and_what_is_none(bad, monkeypatch, python, command_line):
    monkeypatch.setattr("toplist.cli.reading.top_k_eval", Mock(side_effect=ValueError(python)))
    assert bad("eval", "recs.csv", "truth.csv") == command_line


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_no_keyword_of_python_in_what_is_printed(good, convention):
    printed = [good(command, "--help") for command in ("eval", "check", "split")]
    printed += [good("conventions")]
    names = CONVENTIONS[convention].metrics
    printed += [good("metrics", name, "--convention", convention) for name in names]
    assert not re.search(r"\b(missing|empty|duplicates|padding|keep)=", "".join(printed))


# The installed command


def script():
    found = shutil.which("toplist", path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip("the command is not installed beside this interpreter")
    return found


def test_the_installed_command():
    run = subprocess.run(
        [script(), "eval", "recs.csv", "truth.csv"], capture_output=True, timeout=600
    )
    result = tl.top_k_eval(RANKED, RELEVANT, k=[1, 5, 10, 20])
    assert (run.returncode, run.stderr) == (0, b"")
    assert run.stdout.decode().splitlines() == repr(result).splitlines()
    for arguments, status in ((["eval", "none.csv", "truth.csv"], 1), (["eval"], 2)):
        run = subprocess.run([script(), *arguments], capture_output=True, text=True, timeout=600)
        assert (run.returncode, run.stdout) == (status, "")
        assert "Traceback" not in run.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_a_reader_that_has_left(monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    reader, writer = os.pipe()
    os.close(reader)
    run = subprocess.run(
        [script(), "metrics"], stdout=writer, stderr=subprocess.PIPE, text=True, timeout=600
    )
    os.close(writer)
    assert run.stderr == ""
