"""The command line: two files in, a table out; what went wrong in one line, and an exit status."""

import csv
import gzip
import io
import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

import toplist as tl
from toplist import CONVENTIONS, METRICS
from toplist.checks import OptionRef, choice, option_error, prefixed

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "notebooks" / "data"
SIX = ["hit", "precision", "recall", "map", "ndcg", "mrr"]

RANKED = {"u1": ["a", "b"], "u2": ["c"], "u3": ["a"]}
RELEVANT = {"u1": ["b"], "u2": ["d"], "u4": ["a", "e"]}
RECS = "user_id,item_id,rank\nu1,a,1\nu1,b,2\nu2,c,1\nu3,a,1\n"
TRUTH = "user_id,item_id\nu1,b\nu2,d\nu4,a\nu4,e\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in an empty folder with two good files."""
    monkeypatch.chdir(tmp_path)
    put("recs.csv", RECS)
    put("truth.csv", TRUTH)
    return tmp_path


@pytest.fixture
def bad(cli):
    """Run a command on bad input: status 1, one line on stderr; return what the line says."""

    def run(*arguments):
        status, out, err = cli(*arguments)
        assert (status, out) == (1, "")
        assert err.startswith("toplist: ")
        assert err.count("\n") == 1 and err.endswith("\n")
        assert "Traceback" not in err
        return err.removeprefix("toplist: ").rstrip("\n")

    return run


@pytest.fixture
def misused(cli):
    """Run a command that is wrong in itself: status 2, nothing on stdout; return stderr."""

    def run(*arguments):
        status, out, err = cli(*arguments)
        assert (status, out) == (2, "")
        assert "Traceback" not in err
        return err

    return run


def put(name, text):
    data = text.encode()
    Path(name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return name


def means(out):
    return json.loads(out)["values"]


def evaluated(good, *arguments):
    """Return mrr@2 of a run on two files."""
    return means(good("eval", *arguments, "-k", 2, "-m", "mrr", "--format", "json"))["mrr@2"]


# Output


def test_table(good):
    result = tl.top_k_eval(RANKED, RELEVANT, k=[1, 5, 10, 20])
    assert good("eval", "recs.csv", "truth.csv") == f"{result}\n"


def test_k_and_metrics_by_default(good):
    header, *rows, _, _, account = good("eval", "recs.csv", "truth.csv").splitlines()
    assert header.split() == ["@1", "@5", "@10", "@20"]
    labels = [row.split("  ")[0] for row in rows]
    assert labels == ["hit", "precision", "recall", "map", "ndcg", "mrr"]
    assert account == (
        "3 of 3 users evaluated, 1 without a list (counted as 0), "
        "1 with a list but no ground truth (ignored)"
    )


def test_k_and_metrics_as_asked(good):
    out = good("eval", "recs.csv", "truth.csv", "-k", 3, 2, "-m", "ndcg", "recall")
    header, *rows = out.splitlines()
    assert header.split() == ["@2", "@3"]
    assert [row.split()[0] for row in rows[:2]] == ["ndcg", "recall"]


def test_metrics_with_their_own_k(good):
    arguments = "eval", "recs.csv", "truth.csv", "-m", "mrr@2", "rbp(p=0.5)@1", "--format", "json"
    assert list(means(good(*arguments))) == ["mrr@2", "rbp(p=0.5)@1"]


def test_json(good):
    out = good("eval", "recs.csv", "truth.csv", "-k", 2, 1, "-m", "mrr", "--format", "json")
    std = math.sqrt((2 / 6) ** 2 + 2 * (1 / 6) ** 2) / math.sqrt(2)
    half = 1.959963984540054 * std / math.sqrt(3)
    content = json.loads(out)
    assert list(content) == [
        *("toplist", "convention", "policies", "k"),
        *("n_users", "n_evaluated", "n_skipped", "n_missing", "n_extra"),
        *("values", "std", "interval", "n", "formulas"),
    ]
    policies = {"empty": "skip", "missing": "zero", "relevant": "all", "ties": "order"}
    policies |= {"weighted": False, "pooled": [], "relevant_from": None, "gains": "linear"}
    assert content == {
        "toplist": tl.__version__,
        "convention": "standard",
        "policies": policies,
        "k": [1, 2],
        "n_users": 3,
        "n_evaluated": 3,
        "n_skipped": 0,
        "n_missing": 1,
        "n_extra": 1,
        "values": {"mrr@2": pytest.approx(1 / 6), "mrr@1": 0.0},
        "std": {"mrr@2": pytest.approx(std), "mrr@1": 0.0},
        "interval": {
            "mrr@2": pytest.approx([0.0, 1 / 6 + half]),
            "mrr@1": [0.0, 0.0],
        },
        "n": {"mrr@2": 3, "mrr@1": 3},
        "formulas": {"mrr": "mrr@k = sum over r_j <= k of [j = 1] / r_j"},
    }


def test_nan_is_null_in_json(good):
    put("none.csv", "user_id,item_id,relevance\nu1,b,0\n")
    out = good("eval", "recs.csv", "none.csv", "-k", 2, "-m", "mrr", "--format", "json")
    content = json.loads(out, parse_constant=pytest.fail)
    assert content["values"] == content["std"] == {"mrr@2": None}
    assert content["interval"] == {"mrr@2": [None, None]}
    assert (content["n_users"], content["n_evaluated"], content["n_skipped"]) == (1, 0, 1)


def test_one_user_has_a_mean_and_no_interval(good):
    put("one.csv", "user_id,item_id\nu1,b\n")
    out = good("eval", "recs.csv", "one.csv", "-k", 2, "-m", "mrr", "--format", "json")
    content = json.loads(out)
    assert content["values"] == {"mrr@2": 0.5}
    assert (content["std"], content["interval"]) == ({"mrr@2": None}, {"mrr@2": [None, None]})


def test_json_has_full_precision(good):
    put("one.csv", "user_id,item_id\nu1,b\n")
    out = good("eval", "recs.csv", "one.csv", "-m", "precision@3", "--format", "json")
    assert means(out)["precision@3"] == 1 / 3


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


def test_convention(good):
    put("recs.csv", "user_id,item_id,rank\nu,a,1\nu,b,2\nu,c,3\n")
    put("truth.csv", "user_id,item_id\nu,a\nu,b\nu,d\nu,e\n")
    arguments = "eval", "recs.csv", "truth.csv", "-m", "map@3", "--format", "json"
    for name, divisor in (("standard", 3), ("neurec", 6), ("trec_eval", 4)):
        content = json.loads(good(*arguments, "--convention", name))
        assert content["convention"] == name
        assert content["values"]["map@3"] == pytest.approx(2 / divisor)


def test_policies(good):
    put("truth.csv", f"{TRUTH}u5,a\n")

    def counts(*policies):
        arguments = "eval", "recs.csv", "truth.csv", "-m", "mrr@2", "--format", "json"
        content = json.loads(good(*arguments, *policies))
        return [content[name] for name in ("n_users", "n_evaluated", "n_skipped", "n_missing")]

    assert counts() == [4, 4, 0, 2]
    assert counts("--missing", "skip") == [4, 2, 2, 2]
    assert counts("--convention", "trec_eval") == [4, 2, 2, 2]
    assert counts("--convention", "trec_eval", "--missing", "zero") == [4, 4, 0, 2]


def test_empty_truths(good, bad):
    put("truth.csv", "user_id,item_id,relevance\nu1,b,1\nu2,c,0\n")
    arguments = "eval", "recs.csv", "truth.csv", "-m", "mrr@2", "--format", "json"
    for policy, mean in (("skip", 0.5), ("zero", 0.25)):
        assert means(good(*arguments, "--empty", policy))["mrr@2"] == mean
    assert "user 'u2' has an empty ground truth" in bad(*arguments, "--empty", "raise")


def test_missing_lists_may_be_an_error(bad):
    arguments = "eval", "recs.csv", "truth.csv", "--missing", "raise"
    assert "user 'u4' has no ranked list" in bad(*arguments)


def test_duplicates(good, bad):
    put("recs.csv", "user_id,item_id,rank\nu1,a,1\nu1,a,2\nu1,b,3\n")
    line = bad("eval", "recs.csv", "truth.csv")
    assert "user 'u1' has item 'a' at ranks 1 and 2" in line
    put("one.csv", "user_id,item_id\nu1,b\n")
    arguments = "eval", "recs.csv", "one.csv", "--duplicates", "first", "-m", "mrr@3"
    assert means(good(*arguments, "--format", "json"))["mrr@3"] == 1 / 3


def test_grades(good):
    put("truth.csv", "user_id,item_id,relevance\nu1,a,1\nu1,b,3\n")
    arguments = "eval", "recs.csv", "truth.csv", "-m", "cg@2", "recall@1", "--format", "json"
    assert means(good(*arguments)) == {"cg@2": 4.0, "recall@1": 0.5}
    assert means(good(*arguments, "--gains", "exponential"))["cg@2"] == 1 + 7
    assert means(good(*arguments, "--relevant-from", 2)) == {"cg@2": 3.0, "recall@1": 0.0}


# Formats


def table(value, separator):
    rows = [("user_id", "item_id", value)]
    for user, items in RANKED.items():
        rows += [
            (user, item, rank if value == "rank" else -rank) for rank, item in enumerate(items, 1)
        ]
    return "".join(separator.join(map(str, row)) + "\n" for row in rows)


def objects(lists, value=None):
    """Write JSONL: a whole list per line, or a line per item with a `value`."""
    records = [{"user_id": user, "item_id": items} for user, items in lists.items()]
    if value:
        records = [
            {"user_id": user, "item_id": item, value: rank if value == "rank" else -rank}
            for user, items in lists.items()
            for rank, item in enumerate(items, 1)
        ]
    return "".join(json.dumps(record) + "\n" for record in records)


RUN = "".join(
    f"{user} Q0 {item} 0 {-rank} tag\n"
    for user, items in RANKED.items()
    for rank, item in enumerate(items)
)
QRELS = "".join(f"{user} 0 {item} 1\n" for user, items in RELEVANT.items() for item in items)
ALL_RECS = {
    "a.csv": RECS,
    "b.csv": table("score", ","),
    "a.tsv": table("rank", "\t"),
    "b.tsv": table("score", "\t"),
    "a.jsonl": objects(RANKED),
    "b.jsonl": objects(RANKED, "rank"),
    "c.jsonl": objects(RANKED, "score"),
    "a.run": RUN,
    "a.trec": RUN,
}
ALL_TRUTHS = {
    "t.csv": TRUTH,
    "t.tsv": TRUTH.replace(",", "\t"),
    "t.jsonl": objects(RELEVANT),
    "u.jsonl": "".join(
        json.dumps({"user_id": user, "item_id": item}) + "\n"
        for user, items in RELEVANT.items()
        for item in items
    ),
    "t.qrels": QRELS,
    "t.trec": QRELS,
}


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("truth", ALL_TRUTHS)
@pytest.mark.parametrize("recs", ALL_RECS)
def test_formats_give_the_same(good, recs, truth, packed):
    files = put(recs + packed, ALL_RECS[recs]), put(truth + packed, ALL_TRUTHS[truth])
    expected = json.loads(good("eval", "recs.csv", "truth.csv", "--format", "json"))
    if recs in ("a.run", "a.trec"):
        expected["policies"]["ties"] = "item_desc"  # trec_eval's; said, though no scores tie here
    assert json.loads(good("eval", *files, "--format", "json")) == expected


FORMATS = {"csv": "a.csv", "tsv": "a.tsv", "jsonl": "a.jsonl", "trec": "a.run"}
TRUTH_FORMATS = {"csv": "t.csv", "tsv": "t.tsv", "jsonl": "t.jsonl", "trec": "t.qrels"}


@pytest.mark.parametrize("truth", TRUTH_FORMATS)
@pytest.mark.parametrize("recs", FORMATS)
def test_formats_may_be_named(good, recs, truth):
    put("recs", ALL_RECS[FORMATS[recs]])
    put("truth.txt", ALL_TRUTHS[TRUTH_FORMATS[truth]])
    options = "--ranks-format", recs, "--ground-truths-format", truth
    assert evaluated(good, "recs", "truth.txt", *options) == pytest.approx(1 / 6)


def test_a_named_format_wins_over_the_extension(good):
    put("recs.csv", RUN)
    mean = evaluated(good, "recs.csv", "truth.csv", "--ranks-format", "trec")
    assert mean == pytest.approx(1 / 6)


@pytest.mark.parametrize("name", ["recs.txt", "recs", "recs.csv.zip"])
def test_unknown_extensions(bad, name):
    put(name, RECS)
    line = bad("eval", name, "truth.csv")
    assert line.startswith(f"{name}: ")
    assert all(known in line for known in (".csv", ".tsv", ".jsonl", ".run", ".qrels", ".trec"))
    assert "--ranks-format" in line


def test_trec_as_trec_eval(good):
    put("a.run", "q Q0 d1 1 0.5 t\nq Q0 d9 2 0.5 t\nq Q0 d#3 3 0.7 t\n")
    put("a.qrels", "q 0 d9 1\nq 0 d1 0\nr 0 d1 0\n")
    arguments = "eval", "a.run", "a.qrels", "-m", "mrr@3", "--format", "json"
    content = json.loads(good(*arguments))  # d#3, then d9 before d1
    assert content["values"]["mrr@3"] == 0.5
    assert (content["n_users"], content["n_skipped"]) == (2, 1)


# Columns and order


def test_columns(good):
    put("recs.csv", "rating,movieId,position,userId\n5,a,1,u1\n4,b,2,u1\n")
    put("truth.csv", "userId,movieId,rating\nu1,b,2\nu1,c,0\n")
    arguments = "recs.csv", "truth.csv", "--columns", "user_id=userId", "item_id=movieId"
    assert evaluated(good, *arguments, "rank=position") == 0.5
    assert evaluated(good, *arguments, "score=rating") == 0.5
    graded = "eval", *arguments, "rank=position", "relevance=rating"
    assert means(good(*graded, "-m", "cg@2", "--format", "json"))["cg@2"] == 2.0


def test_columns_that_are_missing(bad):
    put("recs.csv", "userId,item_id,rank\nu1,a,1\n")
    line = bad("eval", "recs.csv", "truth.csv")
    assert line.startswith("recs.csv:1: no column 'user_id'")
    assert "--columns user_id=NAME" in line
    assert "['userId', 'item_id', 'rank']" in line
    assert "'nope'" in bad("eval", "recs.csv", "truth.csv", "--columns", "user_id=nope")
    put("recs.csv", "userId,movie,place\nu1,a,1\n")
    assert bad("eval", "recs.csv", "truth.csv") == (
        "recs.csv:1: no columns 'user_id', 'item_id' (did you mean 'userId'?), "
        "neither rank nor score, --columns "
        "user_id=NAME item_id=NAME rank=NAME names others; "
        "columns found: ['userId', 'movie', 'place']"
    )


def test_all_missing_columns_of_tables_in_memory():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"who": [1], "what": [2]})
    with pytest.raises(ValueError, match=r"ranks has no columns 'user_id', 'item_id', only 'who'"):
        tl.match(table, {1: [2]})
    with pytest.raises(ValueError, match=r"no columns 'user_id', 'item_id'; it has 'who', 'what'"):
        tl.loo.leave_one_out(table)
    with pytest.raises(ValueError, match=r"no columns 'label', 'prediction', only 'who', 'what'"):
        tl.pointwise.auc(table)


def test_order(good, bad):
    put("recs.csv", "user_id,item_id\nu1,a\nu2,c\nu1,b\n")
    line = bad("eval", "recs.csv", "truth.csv")
    assert line.startswith("recs.csv:1: neither rank nor score")
    assert "--order file" in line
    line = bad("eval", "recs.csv", "truth.csv", "--order", "file")
    assert line.startswith("recs.csv: user 'u1' is in line 2 and again in line 4")
    mean = evaluated(good, "recs.csv", "truth.csv", "--order", "file", "--in-memory")
    assert mean == pytest.approx(1 / 6)


def test_order_file_wins_over_rank_and_score(good):
    put("recs.csv", "user_id,item_id,rank,score\nu1,a,2,0.1\nu1,b,1,0.9\n")
    put("truth.csv", "user_id,item_id\nu1,b\n")
    assert evaluated(good, "recs.csv", "truth.csv") == 1.0
    assert evaluated(good, "recs.csv", "truth.csv", "--order", "file") == 0.5


@pytest.mark.parametrize(
    ("rows", "best"),
    [
        ("u,a,2,0.9\nu,b,1,0.1\n", "b"),  # rank wins over score
        ("u,b,1,0.1\nu,a,2,0.9\n", "b"),
    ],
)
def test_rank_wins_over_score(good, rows, best):
    put("recs.csv", f"user_id,item_id,rank,score\n{rows}")
    put("truth.csv", f"user_id,item_id\nu,{best}\n")
    assert evaluated(good, "recs.csv", "truth.csv") == 1.0


def test_scores_descend_and_ties_keep_the_order_of_the_file(good):
    put("recs.csv", "user_id,item_id,score\nu,a,1e-3\nu,d,0.5\nu,c,0.5\n")
    put("truth.csv", "user_id,item_id\nu,c\n")
    assert evaluated(good, "recs.csv", "truth.csv") == 0.5


@pytest.mark.parametrize("ranks", ["012", "112", "124", "13", "2"])
def test_ranks_that_are_not_1_to_n(bad, ranks):
    rows = "".join(f"u1,{item},{rank}\n" for item, rank in zip("abc", ranks, strict=False))
    put("recs.csv", f"user_id,item_id,rank\n{rows}")
    line = bad("eval", "recs.csv", "truth.csv")
    assert line.startswith("recs.csv:2: ranks: user 'u1' has rank")
    assert ("ranks start at 1" in line) == ("0" in ranks)


# Text beside types


def ints(lists):
    return {int(user[1:]): [ord(item) for item in items] for user, items in lists.items()}


def decimal(text):
    """Write the letters of a table as the numbers that `ints` makes of them."""
    header, *rows = text.splitlines()
    cells = [row.split(",") for row in rows]
    texts = [",".join([user[1:], str(ord(item)), *rest]) for user, item, *rest in cells]
    return "\n".join([header, *texts]) + "\n"


def test_text_beside_types(good):
    put("ints.jsonl", objects(ints(RANKED)))
    put("ints-truth.jsonl", objects(ints(RELEVANT)))
    put("ints.csv", decimal(RECS))
    put("ints-truth.csv", decimal(TRUTH))
    for recs in ("ints.jsonl", "ints.csv"):
        for truth in ("ints-truth.jsonl", "ints-truth.csv"):
            assert evaluated(good, recs, truth) == pytest.approx(1 / 6)


def test_text_beside_types_with_grades(good):
    put("truth.jsonl", '{"user_id": 1, "item_id": [98], "relevance": [3]}\n')
    put("ints.csv", decimal(RECS))
    out = good("eval", "ints.csv", "truth.jsonl", "-m", "cg@2", "--format", "json")
    assert means(out)["cg@2"] == 3.0


def test_two_typed_files_keep_their_types(bad, good):
    put("ints.jsonl", objects(ints(RANKED)))
    put("texts.jsonl", objects({str(user): items for user, items in ints(RELEVANT).items()}))
    line = bad("eval", "ints.jsonl", "texts.jsonl")
    assert "'user_id' holds ids of two kinds, '1' in texts.jsonl and 1 in ints.jsonl" in line
    put("mixed.jsonl", '{"user_id": 1, "item_id": ["98"]}\n')
    assert "two kinds" in bad("eval", "ints.jsonl", "mixed.jsonl")


def test_leading_zeros_are_text(bad):
    put("recs.csv", "user_id,item_id,rank\n01,a,1\n")
    put("truth.csv", "user_id,item_id\n1,a\n")
    assert "no user is in both" in bad("eval", "recs.csv", "truth.csv")


def test_users_that_become_one_as_text_are_not_lost(bad):
    """An integer and its text are two users of a typed file; beside a text file they are one."""
    lines = '{"user_id": 1, "item_id": [97]}\n{"user_id": "1", "item_id": [98]}\n'
    put("ints.csv", decimal(RECS))
    put("twice.jsonl", lines)
    for files in (("ints.csv", "twice.jsonl"), ("twice.jsonl", "ints.csv")):
        assert "'1'" in bad("eval", *files, "--order", "file")


# Status 1: bad input, in one line


def test_missing_files(bad):
    assert bad("eval", "none.csv", "truth.csv") == "none.csv: No such file or directory"
    assert bad("eval", "recs.csv", "none.csv") == "none.csv: No such file or directory"


def test_a_folder_is_no_file(bad):
    os.mkdir("a.csv")
    assert bad("eval", "a.csv", "truth.csv") == "a.csv: Is a directory"


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("recs.csv", "user_id,item_id,rank\nu1,a,1\nu1\n", "recs.csv:3: 1 columns instead of 3"),
        ("recs.csv", "user_id,item_id,rank\nu1,a,one\n", "recs.csv:2: rank 'one' is not a number"),
        ("recs.csv", "", "recs.csv: no rows"),
        ("recs.csv", 'user_id,item_id,rank\nu1,"a\n', "recs.csv:2: not readable"),
        ("truth.csv", "user_id,item_id\n,a\n", "truth.csv:2: empty user_id"),
        ("truth.csv", "user_id,item_id,relevance\nu1,a,-1\n", "truth.csv:2: relevance '-1'"),
        ("truth.jsonl", '{"user_id": 1, "item_id": 2}\n{\n', "truth.jsonl:2: not valid JSON"),
        ("truth.qrels", "q 0 d\n", "truth.qrels:1: 3 columns instead of 4"),
    ],
)
def test_damaged_files(bad, name, text, line):
    put(name, text)
    files = ("recs.csv", name) if name.startswith("truth") else (name, "truth.csv")
    assert bad("eval", *files).startswith(line)


def test_invalid_utf8_and_broken_gzip(bad):
    Path("recs.csv").write_bytes(b"user_id,item_id,rank\nu,\xff,1\n")
    assert bad("eval", "recs.csv", "truth.csv").startswith("recs.csv:2: not readable: ")
    Path("recs.csv.gz").write_bytes(gzip.compress(RECS.encode())[:-9])
    assert bad("eval", "recs.csv.gz", "truth.csv").startswith("recs.csv.gz:")


def test_no_user_in_common(bad):
    put("truth.csv", "user_id,item_id\nz,a\n")
    assert bad("eval", "recs.csv", "truth.csv") == (
        "no user is in both: recs.csv has 'u1', truth.csv has 'z'"
    )


def test_an_item_of_two_lines_is_told_in_one(bad):
    put("recs.csv", 'user_id,item_id,rank\nu,"a\nb",1\nu,"a\nb",2\n')
    put("truth.csv", "user_id,item_id\nu,c\n")
    assert "at ranks 1 and 2" in bad("eval", "recs.csv", "truth.csv")


@pytest.mark.skipif(sys.platform == "win32", reason="no such file names")
def test_a_file_name_of_two_lines_is_told_in_one(bad):
    put("re\ncs.csv", "")
    assert bad("eval", "re\ncs.csv", "truth.csv").endswith("cs.csv: no rows")
    assert bad("eval", "no\nne.csv", "truth.csv").endswith("ne.csv: No such file or directory")


# Status 2: wrong usage


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "required"),
        (["eval"], "RECS"),
        (["eval", "recs.csv"], "TRUTH"),
        (["nope"], "nope"),
        (["eval", "recs.csv", "recs.csv", "truth.csv"], "named twice"),
        (["eval", "recs.csv", "truth.csv", "--nope"], "--nope"),
        (["eval", "recs.csv", "truth.csv", "-k"], "-k"),
        (["eval", "recs.csv", "truth.csv", "-k", "x"], "'x'"),
        (["eval", "recs.csv", "truth.csv", "-k", "1.5"], "'1.5'"),
        (["eval", "recs.csv", "truth.csv", "--convention", "nope"], "neurec"),
        (["eval", "recs.csv", "truth.csv", "--format", "xml"], "json"),
        (["eval", "recs.csv", "truth.csv", "--ranks-format", "xml"], "jsonl"),
        (["eval", "recs.csv", "truth.csv", "--ground-truths-format", "xml"], "trec"),
        (["eval", "recs.csv", "truth.csv", "--empty", "drop"], "skip"),
        (["eval", "recs.csv", "truth.csv", "--missing", "drop"], "skip"),
        (["eval", "recs.csv", "truth.csv", "--duplicates", "last"], "first"),
        (["eval", "recs.csv", "truth.csv", "--gains", "square"], "exponential"),
        (["eval", "recs.csv", "truth.csv", "--order", "rank"], "file"),
        (["eval", "recs.csv", "truth.csv", "--columns", "userId"], "'userId'"),
        (["eval", "recs.csv", "truth.csv", "--columns", "user_id="], "user_id="),
        (["metrics", "ndcg", "map"], "map"),
        (["metrics", "--convention", "nope"], "neurec"),
    ],
)
def test_wrong_usage(misused, arguments, said):
    err = misused(*arguments)
    assert err.startswith("usage: toplist")
    assert said in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["eval", "recs.csv", "truth.csv", "-k", "0"], "k must be at least 1, not 0"),
        (["eval", "recs.csv", "truth.csv", "-m", "nope"], "'nope': choose from hit, precision"),
        (["eval", "recs.csv", "truth.csv", "-m", "ndcg@0"], "'ndcg@0'"),
        (["eval", "recs.csv", "truth.csv", "-m", "rbp(p=2)"], "rbp: p = 2.0"),
        (["eval", "recs.csv", "truth.csv", "-m", "ndcg", "ndcg"], "'ndcg@1'"),
        (["eval", "recs.csv", "truth.csv", "--relevant-from", "-1"], "--relevant-from -1.0"),
        (["eval", "recs.csv", "truth.csv", "--columns", "user=userId"], "'user'"),
        (["eval", "recs.csv", "truth.csv", "-m", "dcg", "--convention", "neurec"], "'dcg'"),
        (["metrics", "nope"], "'nope': choose from hit, precision"),
    ],
)
def test_wrong_values_of_options_are_usage_not_input(misused, arguments, said):
    assert said in misused(*arguments)


def test_k_by_default_and_by_one_metric(good):
    """What was not typed is not held against the user."""
    out = good("eval", "recs.csv", "truth.csv", "-m", "recall", "ndcg@10", "--format", "json")
    assert list(means(out)) == ["recall@1", "recall@5", "recall@10", "recall@20", "ndcg@10"]


# Writing


def test_bad_input_writes_nothing(bad, folder):
    put("old.csv", "old")
    put("recs.csv", "user_id,item_id,rank\nu1,a,2\n")
    before = sorted(os.listdir(folder))
    bad("eval", "recs.csv", "truth.csv", "--per-user", "old.csv")
    bad("eval", "recs.csv", "truth.csv", "--per-user", "new.csv")
    assert sorted(os.listdir(folder)) == before
    assert Path("old.csv").read_text() == "old"


def test_a_file_that_cannot_be_written(bad, folder):
    before = sorted(os.listdir(folder))
    line = bad("eval", "recs.csv", "truth.csv", "--per-user", "none/users.csv")
    assert line.startswith("none/users.csv: ")
    os.mkdir("a.csv")
    line = bad("eval", "recs.csv", "truth.csv", "--per-user", "a.csv")
    assert line.startswith("a.csv: ")
    assert sorted(os.listdir(folder)) == sorted([*before, "a.csv"])


def test_a_write_that_breaks_off(good, bad, folder, monkeypatch):
    good("eval", "recs.csv", "truth.csv")  # compiled code is in its own files by now
    put("users.csv", "old")
    before = sorted(os.listdir(folder))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    assert "No space left" in bad("eval", "recs.csv", "truth.csv", "--per-user", "users.csv")
    assert Path("users.csv").read_text() == "old"
    assert sorted(os.listdir(folder)) == before


def test_files_that_are_read_stay_as_they_are(good):
    good("eval", "recs.csv", "truth.csv", "--per-user", "users.csv")
    assert (Path("recs.csv").read_text(), Path("truth.csv").read_text()) == (RECS, TRUTH)


# Keywords of Python in messages: the command line writes its own options


@pytest.mark.parametrize(
    ("keyword", "python", "command_line"),
    [
        (OptionRef("catalogue"), "catalogue=", "--catalogue"),
        (OptionRef("in_memory", True), "in_memory=True", "--in-memory"),
        (OptionRef("in_memory", False), "in_memory=False", "no --in-memory"),
        (OptionRef("duplicates", "first"), "duplicates='first'", "--duplicates first"),
        (OptionRef("padding", -1), "padding=-1", "--padding -1"),
        (OptionRef("padding", "no item"), "padding='no item'", "--padding 'no item'"),
        (OptionRef("relevant_from", 3.5), "relevant_from=3.5", "--relevant-from 3.5"),
        (OptionRef("k", 5), "k=5", "-k 5"),
        (OptionRef("metrics", ["hit", "mrr"]), "metrics=['hit', 'mrr']", "--metrics hit mrr"),
        (
            OptionRef("columns", {"user_id": "uid", "item_id": "my item"}),
            "columns={'user_id': 'uid', 'item_id': 'my item'}",
            "--columns user_id=uid 'item_id=my item'",
        ),
        (
            OptionRef("columns", {"user_id": "..."}),
            "columns={'user_id': '...'}",
            "--columns user_id=NAME",
        ),
    ],
)
def test_keywords(bad, monkeypatch, keyword, python, command_line):
    error = prefixed("a.csv: ", option_error(ValueError, "as is, or ", keyword, "."))
    assert str(error) == f"a.csv: as is, or {python}."
    monkeypatch.setattr("toplist.cli.eval.top_k_eval", Mock(side_effect=error))
    assert bad("eval", "recs.csv", "truth.csv") == f"a.csv: as is, or {command_line}."
    # with several systems the file is named before
    put("more.csv", RECS)
    several = "eval", "recs.csv", "more.csv", "truth.csv"
    assert bad(*several) == f"recs.csv: a.csv: as is, or {command_line}."


def test_a_wrong_choice_keeps_its_keyword():
    for value, text in (("never", "ties='never'"), (None, "ties=None"), (0, "ties=0")):
        with pytest.raises(ValueError, match=f"{text}: choose from 'order', 'average'"):
            choice("ties", value, ["order", "average"])


def test_a_prefix_keeps_the_type_of_an_error():
    assert type(prefixed("a: ", TypeError("b"))) is TypeError
    broken = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")
    assert str(prefixed("a: ", broken)).startswith("a: 'utf-8' codec")


@pytest.mark.parametrize(
    ("name", "needs"),
    [("gini", "--catalogue"), ("novelty", "--item-counts"), ("intra_list_diversity", "--features")],
)
def test_what_a_metric_of_lists_needs(good, name, needs):
    assert good("metrics", name).endswith(f"needs {needs}\n")


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_no_keyword_of_python_in_what_is_printed(good, convention):
    printed = [good(command, "--help") for command in ("eval", "check", "split", "values")]
    printed += [good("conventions")]
    names = CONVENTIONS[convention].metrics
    printed += [good("metrics", name, "--convention", convention) for name in names]
    assert not re.search(r"\b(missing|empty|duplicates|padding|in_memory)=", "".join(printed))


# toplist metrics, help


def test_metrics(good):
    out = good("metrics")
    for name, metric in METRICS.items():
        assert f"{name}@k = " in out
        assert metric.text in out


@pytest.mark.parametrize("name", [*METRICS, "rbp(p=0.5)"])
def test_one_metric(good, name):
    out = good("metrics", name)
    assert f"{name}@k = sum over" in out
    assert rf"\mathrm{{{name}}}@k = " in out


def test_metrics_of_a_convention(good):
    assert "divided by min(k,R)" in good("metrics", "map")
    assert "divided by sum(min(i,R))" in good("metrics", "map", "--convention", "neurec")
    for convention, rules in CONVENTIONS.items():
        out = good("metrics", "--convention", convention)
        assert re.findall(r"^(\S+)", out, re.MULTILINE) == list(rules.metrics)


@pytest.mark.parametrize("arguments", [["--help"], ["eval", "--help"], ["metrics", "--help"]])
def test_help(good, arguments):
    assert good(*arguments).startswith("usage: toplist")


def test_help_names_every_format(good):
    out = good("eval", "--help")
    for word in ("CSV", "TSV", "JSONL", "TREC", ".gz", "user_id", "item_id", "relevance"):
        assert word in out


# The example data


@pytest.mark.skipif(not DATA.exists(), reason="an installed package has no example data")
def test_example_data(good):
    def content(name):
        out = good("eval", DATA / f"{name}.csv.gz", DATA / "truth.csv", "--format", "json")
        return json.loads(out)

    popularity, itemknn = content("popularity"), content("itemknn")
    assert list(itemknn["values"]) == [f"{name}@{k}" for name in SIX for k in (1, 5, 10, 20)]
    assert itemknn["n_users"] == popularity["n_users"] > 900
    assert itemknn["n_missing"] == 12
    assert itemknn["n_extra"] == 8
    for name, value in itemknn["values"].items():
        assert value > 1.2 * popularity["values"][name] > 0
    assert itemknn["interval"]["ndcg@10"][0] > popularity["interval"]["ndcg@10"][1]


# The installed command


def script():
    found = shutil.which("toplist", path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip("the command is not installed beside this interpreter")
    return found


def test_the_installed_command():
    run = subprocess.run([script(), "eval", "recs.csv", "truth.csv"], capture_output=True)
    result = tl.top_k_eval(RANKED, RELEVANT, k=[1, 5, 10, 20])
    assert (run.returncode, run.stderr) == (0, b"")
    assert run.stdout.decode().splitlines() == repr(result).splitlines()


def test_the_status_reaches_the_shell():
    for arguments, status in ((["eval", "none.csv", "truth.csv"], 1), (["eval"], 2)):
        run = subprocess.run([script(), *arguments], capture_output=True, text=True)
        assert (run.returncode, run.stdout) == (status, "")
        assert "Traceback" not in run.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_a_reader_that_has_left(monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    reader, writer = os.pipe()
    os.close(reader)
    run = subprocess.run([script(), "metrics"], stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert run.stderr == ""
