"""What is wrong is one line, and nothing is written: tables of command lines and what is said."""

import os
import re
import shlex
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
from cli.conftest import FILES, KEYED, put, refused
from file_helpers import jsonl

import toplist as tl
from toplist.cli import COMMANDS, main, parser_of

BASE = ["ndcg@2", "recall@2"]
EIGHT = [f"{user},{item},{user * 8 + item}" for user in range(10) for item in range(8)]
ODD = {
    "ungraded.csv": "user_id,item_id,relevance\nu1,b,1\nu2,c,0\n",
    "fewer.csv": "user_id,item_id\nu1,b\nu2,d\n",
    "pad.jsonl": jsonl({"user_id": 1, "item_id": [5, -1, -1]}),
    "pad_truth.jsonl": jsonl({"user_id": 1, "item_id": [5]}),
    "labels.csv": "user_id,country\nu1,UK\nu1,FR\n",
    "less.csv": "user,time,person\na,1,ann\na,2,ann\nb,1,\nc,4,bob\n",
    "nobody.csv": "user,time,person\nz,1,ann\n",
    "odd.csv": "userId,movie,place\nu1,1,1\n",
    "high.csv": "user_id,item_id,Rank\nu1,1,1\n",
    "semicolons.csv": "user_id;item_id;rank\nu1;1;1\n",
    "list.json": "[1, 2]",
    "none.json": "{}",
    "sets.json": '{"x": {"a": "a.npz"}, "x": {"a": "b.npz"}}',
    "short.csv": "user_id,item_id,timestamp\n1,2,3\n1,2\n",
    "eight.csv": "\n".join(["user_id,item_id,timestamp", *EIGHT, ""]),
    "weights.csv": "user_id,w,less\nu1,1,-1\nu2,0.5,1\nu4,,1\n",
    "slash.csv": FILES["models.csv"].replace(",y\n", ",a/b\n"),
    "blank.csv": "item_id,document,count\na,x,1\n,y,2\nc,,3\n",
    "undocumented.csv": "item_id,document\na,x\nb,\n",
    "blank_users.csv": "user_id,item_id\nu1,a\nu1,\n",
    "ps.csv": "item_id,price,p\na,1.5,0.9\nb,1,0.5\nc,1,0.2\nd,1,0.05\n",
}


@pytest.fixture(scope="module", autouse=True)
def world(tmp_path_factory):
    """Work in a folder of good and odd files, which no row of the tables changes."""
    folder = tmp_path_factory.mktemp("world")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, text in (FILES | KEYED | ODD).items():
            put(name, text)
        for name in ("a.csv", "full", "ml"):
            os.mkdir(name)
        how = {
            "base": {"metrics": BASE, "keep": "users"},
            "ml/base": {"metrics": BASE, "keep": "users"},
            "ml/new": {"metrics": BASE, "keep": "users"},
            "bare": {"metrics": BASE},
            "neurec": {"metrics": BASE[1:], "keep": "users", "convention": "neurec"},
        }
        for name, options in how.items():
            tl.top_k_eval("recs.csv", "truth.csv", **options).save(f"{name}.npz")
        tl.top_k_eval("recs.csv", "fewer.csv", metrics=BASE, keep="users").save("fewer.npz")
        tl.top_k_eval("more.csv", "truth.csv", metrics=BASE, keep="users").save("new.npz")
        Path("old.json").write_text(tl.TopKResult.load("base.npz").to_json())
        yield folder


def listing():
    return {str(path): path.stat().st_mtime_ns for path in Path(".").rglob("*")}


TWO = "recs.csv truth.csv"
THREE = "recs.csv more.csv truth.csv"
COMPARE = f"compare {THREE} -m mrr@2"
SHOW = f"show u1 {THREE}"
GATE = "gate more.csv recs.csv truth.csv"
REPORT = f"report {THREE} -o x.html"
ACROSS = "across ml/base.npz ml/new.npz -m recall@1"
SPLIT = "split log.csv -o parts"
SOME = "split eight.csv -o parts"

# Status 2, below the usage, before a file is read.
USAGE = [
    ("", "a COMMAND is required"),
    ("values predictions.csv", "gone since 0.4: toplist.pointwise has auc, user_auc"),
    (f"evaluate {TWO}", "no command 'evaluate', which comes first: did you mean eval? choose from"),
    (f"--quiet eval {TWO}", "no command '--quiet', which comes first: choose from eval, "),
    (f"-k 5 {TWO}", "no command '-k', which comes first: choose from eval, "),
    (TWO, "recs.csv is a file: write toplist eval recs.csv truth.csv"),
    ("eval", "the following arguments are required: RECS"),
    ("eval -k 5 recs.csv", "recs.csv is no saved result: TRUTH, the last file, is needed"),
    ("eval -k recs.csv truth.csv", "-k: 'recs.csv' is no whole number"),
    (f"eval -k 5,10 {TWO}", "'5,10': write -k 5 10"),
    (f"eval -m ndcg,map@5 {TWO}", "write -m ndcg map@5"),
    (f"eval {TWO} --metrik ndcg", "--metrik: did you mean --metrics?"),
    (f"eval {TWO} ndcg@5", "ndcg@5 is a metric, no file: write -m ndcg@5"),
    (f"eval {TWO} 10", "10 is a number, no file: write -k 10"),
    (f"eval {TWO} --convention RecBol", "'RecBol' (did you mean recbole? choose from"),
    (f"eval {TWO} --columns nope:user_id=x", "no side: ranks, ground_truths, recs, recs.csv"),
    (f"eval {TWO} --columns user=x", "'user' is not a column to rename"),
    (f"eval {TWO} --columns user_id=", "user_id="),
    (f"eval {TWO} --columns user_id=a user_id=b", "--columns names user_id twice, 'a' and 'b'"),
    (
        f"eval {TWO} --columns truth.csv:rank=a ground_truths:rank=b",
        "names rank twice, 'a' and 'b'",
    ),
    (f"eval {TWO} --columns recs.csv:rank=a recs:rank=b", "names rank twice, 'a' and 'b'"),
    (f"eval {TWO} -m psp --clip 0.1", "--clip 0.1 needs --propensities FILE"),
    (f"{GATE} -m mrr@2 --margin 0.1 --weighting ips", "--weighting ips needs --propensities FILE"),
    (f"eval {TWO} -o recs.csv", "--out recs.csv would overwrite an input file"),
    (f"eval {TWO} -o a.txt --per-user ./a.txt", "--per-user and --out both write"),
    (f"eval {TWO} --plot a.jpg", "must end in .png, .svg, .pdf"),
    (f"eval {TWO} --per-user -", "--per-user -: the table goes to standard output"),
    ("eval recs.csv recs.csv truth.csv", "named twice; the last file is the ground truth"),
    (f"eval {TWO} -k 0", "k must be at least 1, not 0"),
    (f"eval {TWO} -k all 5", "-k all is the whole list: give no other cut-off with it"),
    (f"eval {TWO} --segments users.csv", "--segments 'users.csv': write FILE:COLUMN"),
    (f"eval {TWO} --segments users.txt:a", "names no format"),
    (f"eval {TWO} --clusters who.csv:", "--clusters 'who.csv:': write FILE:COLUMN"),
    (f"eval {TWO} --item-segments n.csv:genre --segments users.csv:country", "splits the users, "),
    (f"eval {THREE} --save x.npz", "--save x.npz: of several systems, name a folder that is there"),
    ("eval models.csv truth.csv --system model --save x.npz", "name a folder that is there"),
    (f"eval {TWO} --save recs.csv", "--save recs.csv: a result is saved as .npz, such as recs.npz"),
    (f"eval {TWO} --save x.json", "JSON is for readers, and not read back"),
    ("eval base.npz more.csv truth.csv --save x.npz", "a saved result is among the files"),
    ("eval base.npz -k all", "-k all: base.npz is a saved result, which has its own k"),
    ("eval base.npz --conv trec_eval", "--convention trec_eval changes nothing of"),
    ("compare base.npz more.csv truth.csv --columns base:rank=r", "'base' is no side: ranks, "),
    ("compare base.npz truth.csv", "truth.csv: saved results alone need no ground truth"),
    ("compare recs.csv base.npz", "base.npz is a saved result: the last file is the truth"),
    (f"compare {TWO}", "two systems are needed, and there is recs"),
    (f"{COMPARE} --baseline nobody", "baseline 'nobody' is none of the systems"),
    (f"{COMPARE} --margin 0.1 --test sign", "--margin asks for two one-sided t tests"),
    (f"{COMPARE} --margin 0.1 --alternative less", "--margin asks for both sides: it goes without"),
    (f"{COMPARE} --correction maxt --test sign", "--correction maxt is for the methods"),
    (f"{COMPARE} --movers 0", "--movers must be at least 1, not 0"),
    (f"{COMPARE} --resamples 98", "n_resamples must be at least 99"),
    (f"{COMPARE} --seed 1", "--seed 1 changes nothing: --test t draws nothing"),
    (f"{COMPARE} --family metric --correction none", "--family metric changes nothing without a"),
    ("gate new.npz base.npz bare.npz -m recall@2 --margin 0.1", "a gate is of two, NEW and BASE"),
    (f"{GATE} -m mrr@2 --margin 0.1 0.2", "give one number for all, or one for each name@k"),
    (f"{GATE} --margin 0.2", "--margin: of which metric? write -m ndcg@10"),
    (f"{GATE} -m mrr@2", "--margin is needed: the loss of mrr@2 that does not matter"),
    (f"{GATE} -m mrr@2 --margin x", "'x': write a number in units of the metric, or name@k"),
    (f"{GATE} --floor 0.1", "--floor: write name@k=number, once for each name"),
    (f"{GATE} --floor hit@1=0.1 hit@1=0.2", "--floor: write name@k=number, once for each name"),
    (GATE, "nothing to test: write -m ndcg@10 --margin 0.005"),
    (f"{GATE} -m mrr --margin 0.1", "mrr: at which k? write mrr@10"),
    (f"{ACROSS} --of sample", "--of sample is of differences from a baseline: add --baseline"),
    ("across none.json recall@10 -m ndcg@10", "recall@10 is no file; across is of one metric"),
    ("show u1 recs.csv", "TRUTH"),
    (f"report {THREE}", "where to write the page? add -o report.html"),
    (f"{REPORT} --users -1", "--users must be at least 0, not -1"),
    (f"{REPORT} --system model", "--system: give a file for each system"),
    (f"{REPORT} --columns clusters:user_id=a", "'clusters' is no side"),
    ("report base.npz -o x.html --depth 2", "--depth 2 is of lists, and saved results have none"),
    (f"check {TWO} --columns user_id:x=y", "'x' is not a column to rename"),
    (f"check {TWO} --train log.csv -o log.csv", "overwrite an input file"),
    (f"check {TWO} -k 0", "k must be at least 1, not 0"),
    ("unjudged truth.csv", "give the files of ranked lists, and the ground truth last"),
    (f"unjudged --judged judge.csv {TWO}", "--judged goes beside the truth alone"),
    ("unjudged --judged judge.csv truth.csv -n 5", "-n does not go with --judged"),
    (
        "unjudged --judged judge.csv truth.csv --columns ranks:user_id=a",
        "'ranks' is no side: ground_truths, titles, user_titles, truth.csv",
    ),
    (
        "unjudged --judged judge.csv truth.csv -o all.trec",
        "-o all.trec: the truth is written as CSV",
    ),
    (f"unjudged {TWO} --user-titles a.csv:x", "--user-titles goes into a file: add -o"),
    (f"unjudged {TWO} -p 2", "p must be above 0 and below 1, not 2"),
    ("metrics ndcg map", "unrecognized arguments: map"),
    ("conventions -m mapp", "'mapp' (did you mean map? choose from hit"),
    ("split log.csv", "required: -o/--out"),
    ("split log.csv -o users.csv", "--out users.csv is a file: give a folder"),
    ("split log.txt -o parts", "log.txt: the extension names no format: use .csv"),
    (f"{SPLIT} --columns who=x", "'who' is not a column to rename: user_id"),
    (f"{SPLIT} --validation 0.2", "only with --ratio, --time, --last or --held"),
    (f"{SPLIT} --last 2 --ratio 0.1 --time 1", "give one of --ratio, --time, --last"),
    (f"{SPLIT} --windows 2d --short drop", "--short drop does not go with --windows"),
    (f"{SPLIT} --held-out-users x", "--held-out-users: invalid number value: 'x'"),
]


@pytest.mark.parametrize(("line", "said"), USAGE)
def test_wrong_usage(cli, line, said):
    before = listing()
    status, out, err = cli(*shlex.split(line))
    assert (status, out, listing()) == (2, "", before)
    usage, *_, last = err.splitlines()
    assert usage.startswith("usage: toplist")
    assert re.match(r"toplist( \w+)?: error: ", last) and said in last


def test_every_option_refuses_another_word_or_what_is_no_number(cli):
    n = 0
    for name in COMMANDS:
        for action in parser_of(name)._actions:
            number = action.type in (int, float)
            if not action.option_strings or not (action.choices or number):
                continue
            flag, said = action.option_strings[-1], [*(action.choices or ["invalid"]), "'nope'"]
            status, _, err = cli(name, "x.csv", "y.csv", flag, "nope")
            assert status == 2 and flag in err and all(word in err for word in said), flag
            n += 1
    assert n > 80


BY_KEYS = "eval keyed.csv keyed_truth.csv -k 2 -m mrr --columns user_id=user,time --clusters"
# Status 1, of a gate 2: bad input.
INPUT = [
    ("eval none.csv truth.csv --quiet", "none.csv: No such file or directory"),
    ("eval a.csv truth.csv", "a.csv: Is a directory"),
    ("eval a.dat truth.csv", "name it by --ranks-format FORMAT (one of csv"),
    ("eval recs.csv a.dat", "name it by --ground-truths-format FORMAT (one of csv"),
    ("check recs.csv a.dat", "name it by --ground-truths-format FORMAT (one of csv"),
    ("eval recs.csv ungraded.csv --empty raise", "user 'u2' has an empty ground truth"),
    ("eval pad.jsonl pad_truth.jsonl -k 3", "(if it fills up the list: --padding -1)"),
    ("eval truth.csv recs.csv", "(is this the ground truth?); columns found"),
    (
        "eval odd.csv truth.csv",
        "odd.csv:1: no columns 'user_id', 'item_id' (did you mean 'userId'?)",
    ),
    ("eval odd.csv truth.csv", "--columns ranks:user_id=NAME ranks:item_id=NAME names others of t"),
    ("eval odd.csv odd.csv", "'place']; odd.csv:1: no columns 'user_id', 'item_id' (did you mean "),
    ("eval recs.csv odd.csv", "--columns ground_truths:user_id=NAME ground_truths:item_id=NAME na"),
    ("split odd.csv -o parts", "--columns user_id=NAME item_id=NAME timestamp=NAME names "),
    ("eval high.csv truth.csv", "or 'score' (did you mean 'Rank'?)"),
    ("eval semicolons.csv truth.csv", "columns found: ['user_id;item_id;rank']"),
    (f"eval {TWO} --plot no/a.png", "no/a.png: No such file or directory"),
    (f"eval {TWO} -m psp", "psp needs --propensities: give {item: p}, how likely"),
    (f"eval {TWO} -m gini", "gini needs --catalogue FILE: items (CSV, TSV: item_id)"),
    (f"eval {TWO} -m psp --propensities ps.csv", "2 columns besides 'item_id'"),
    (f"eval {TWO} --items-as blank.csv", "blank.csv:3: empty item_id"),
    (f"eval {TWO} --items-as undocumented.csv", "undocumented.csv:3: empty document"),
    (f"eval {TWO} -m novelty --counts blank.csv", "blank.csv:3: empty item_id"),
    (f"eval {TWO} -m novelty --counts blank_users.csv", "blank_users.csv:3: empty item_id"),
    (f"eval {TWO} -m item_coverage --catalogue blank.csv", "blank.csv:3: empty item_id"),
    (f"eval {TWO} -m intra_list_diversity --labels blank.csv:count", "blank.csv:3: empty item_id"),
    (f"eval {TWO} -m unexpectedness --expected blank_users.csv", "blank_users.csv:3: empty item_"),
    (f"eval {TWO} --segments users.csv:age", "users.csv: no column 'age'; columns found: ['user"),
    (f"eval {TWO} --segments labels.csv:country", "user 'u1' has two labels, 'UK' and 'FR'"),
    (f"eval {TWO} --item-segments n.csv:genre", "n.csv: no relevant item has a label: there is"),
    (f"eval {TWO} --weights users.csv:country", "users.csv: user 'u1' has weight 'UK': give a"),
    (f"eval {TWO} --weights weights.csv:w", "--weights has no entry for user 'u4' (1 such)"),
    ("eval slash.csv truth.csv --system model --save full", "'a/b' is no name of a file: evaluate"),
    (f"{BY_KEYS} who.csv:age", "who.csv: no column 'age'; columns found: ['user', 'time', 'perso"),
    (
        f"{BY_KEYS} site",
        "--clusters site is no column of the keys of the rows, ('user', 'time'); --c",
    ),
    (f"{BY_KEYS} less.csv:person", "less.csv: has no cluster of row ('b', '1')"),
    (f"{BY_KEYS} nobody.csv:person", "has none of the users of the result; it has ('z', '1')"),
    (f"{COMPARE} --sort hit@10", "this result has mrr"),
    ("compare base.npz more.csv truth.csv", "base.npz: 'hit': this result has ndcg, recall"),
    ("compare base.npz old.json", "JSON is for readers, "),
    (f"compare base.npz more.csv fewer.csv -m {' '.join(BASE)}", "count other users"),
    ("compare neurec.npz more.csv truth.csv -m recall@2", "DIFFERENT CONVENTIONS"),
    ("gate none.csv recs.csv truth.csv -m mrr@2 --margin 0.1", "none.csv: No such file"),
    ("gate models.csv slash.csv truth.csv --floor mrr@2=0 --system model", "a gate is of two sys"),
    ("gate recs.csv bare.npz truth.csv -m ndcg@2 --margin 0.1", "bare.npz: without users"),
    ("across list.json -m ndcg@10", "here 'list.json' has no systems"),
    ("across none.json -m ndcg@10", "across: two data sets are needed, and there is 0"),
    ("across sets.json -m ndcg@10", "the key 'x' twice in an object"),
    ("across ml/base.npz -m recall@1", "give several saved results"),
    ("across ml/base.npz base.npz ./ml/base.npz -m ndcg@2", "both system base of one data set"),
    ("across ml/base.npz ml/new.npz base.npz new.npz -m map@5", "ml: base: 'map@5'"),
    ("across ml/base.npz ml/new.npz base.npz -m ndcg@2", " has no result of new: "),
    (SHOW.replace("u1", "u9"), "truth.csv: no user 'u9' in the ground truth of 3 us"),
    (f"{REPORT} --titles users.csv:nothing", "no columns 'item_id', 'nothing'"),
    (f"check {TWO} --train odd.csv", "--columns train:user_id=NAME train:item_id=NAME names "),
    ("eval bare.npz --segments users.csv:country", "holds no hits, so its users are unknown"),
    ("eval bare.npz --clusters users.csv:country", "holds no hits, so its users are unknown"),
    ("check truth.csv recs.csv", "truth.csv:1: no column 'rank' or 'score'"),
    ("split short.csv -o parts", "short.csv:3: 2 columns instead of 3"),
    (f"{SPLIT} --columns timestamp=when", "log.csv: no column 'when', --columns timestamp=NAME"),
    (f"{SPLIT} --last 2", "the test part would be empty: no user has enough rows"),
    (f"{SPLIT} --k-core 1 2 3", "--k-core 1 2 3: give k, or (k_users, k_items)"),
    (f"{SPLIT} --windows 7", "log.csv: --windows 7: the timestamps of this log are dates"),
    (f"{SOME} --ratio 0.1", "the test part would be empty: --ratio 0.1 of 8 rows"),
    (f"{SOME} --ratio 0.2 --validation 0.1", "is less than one row: give at least --validation"),
    (f"{SOME} --min-history 8 --short drop", "no user has enough rows for all parts"),
    (f"{SOME} --ratio 0.8 --validation 0.3 --min-history 0", "nothing is left for it"),
]


@pytest.mark.parametrize(("line", "said"), INPUT)
def test_bad_input(cli, line, said):
    needed = {"keyed.csv": "pyarrow", "--plot": "matplotlib", "report": "jinja2"}
    for words, library in needed.items():
        if words in line:
            pytest.importorskip(library)
    before = listing()
    found = refused(cli(*shlex.split(line)), 2 if line.startswith("gate") else 1)
    assert said in found
    assert listing() == before


def test_lists_as_the_ground_truth_are_noted(cli):
    status, out, err = cli("eval", "recs.csv", "more.csv", "-k", 1)
    assert status == 0 and "users evaluated" in out
    assert err.startswith("toplist: note: more.csv, the last file, is taken as the ground truth")
    assert cli("eval", "recs.csv", "more.csv", "-k", 1, "--quiet") == (0, "", "")


@pytest.mark.parametrize("line", ["eval - truth.csv", "split - -o parts", "check - truth.csv"])
def test_a_closed_standard_input_is_told(bad, monkeypatch, line):
    monkeypatch.setattr(sys, "stdin", None)
    assert bad(*line.split()) == "-: standard input is closed"


@pytest.mark.skipif(sys.platform == "win32", reason="no such file names")
def test_a_file_name_of_two_lines_is_told_in_one(bad):
    put("re\ncs.csv", "")
    assert bad("eval", "re\ncs.csv", "truth.csv").endswith("cs.csv: no rows")
    assert bad("eval", "no\nne.csv", "truth.csv").endswith("ne.csv: No such file or directory")


@pytest.mark.parametrize(
    ("library", "line", "extra"),
    [
        ("pyarrow", "split log.parquet -o parts", "io"),
        ("matplotlib", f"eval {TWO} --plot a.png", "plot"),
    ],
)
def test_without_a_library(bad, monkeypatch, library, line, extra):
    monkeypatch.setitem(sys.modules, library, None)
    assert f"{library}, which is not installed: pip install 'toplist[{extra}]'" in bad(
        *line.split()
    )


# What nobody has foreseen


def raising(monkeypatch, error):
    monkeypatch.setattr("toplist.cli.reading.top_k_eval", Mock(side_effect=error))


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (MemoryError("Unable to allocate 16 GiB"), "not enough memory (Unable to allocate 16 GiB)"),
        (RuntimeError("can't start new thread"), "can't start new thread"),
    ],
)
def test_a_lack_of_memory_or_threads_is_one_line(monkeypatch, bad, error, line):
    raising(monkeypatch, error)
    assert bad("eval", "recs.csv", "truth.csv") == line


def test_a_bug_is_no_verdict_and_an_interrupt_no_result(monkeypatch, cli):
    raising(monkeypatch, LookupError("a bug"))
    with pytest.raises(LookupError):
        main(["eval", *TWO.split()])
    status, out, err = cli(*GATE.split(), "-m", "mrr@2", "--margin", 0.1)
    assert (status, out) == (2, "") and err.endswith("LookupError: a bug\n")
    raising(monkeypatch, KeyboardInterrupt)
    assert cli("eval", *TWO.split()) == (130, "", "toplist: interrupted\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is of Linux")
@pytest.mark.parametrize(("line", "status"), [("eval recs.csv truth.csv", 1), (GATE, 2)])
def test_a_full_disk_is_an_error(monkeypatch, line, status):
    more = ["-m", "mrr@2", "--margin", "0.1"] if status == 2 else []
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert main([*line.split(), *more]) == status


# Keywords of Python in messages: the command line writes its own options


@pytest.mark.parametrize(
    ("python", "command_line"),
    [
        ("every_metric=True", "--every-metric"),
        ("k=5", "-k 5"),
        ("columns={'user_id': 'a', 'item_id': 'my b'}", "--columns user_id=a 'item_id=my b'"),
        (
            "columns={'ranks': {'user_id': 'uid'}, 'ground_truths': {'item_id': '...'}}",
            "--columns ranks:user_id=uid ground_truths:item_id=NAME",
        ),
        ("gini needs toplist.Items(catalogue=...), say", "gini needs --catalogue FILE, say"),
        ("convention.replace(empty='skip') continues", "--empty skip continues"),
        ("add it, convention.replace(gains={3: ...})", "add it, --gains 3=..."),
        ("toplist.Ranks(path, order='file') takes the items", "--order file takes the items"),
        ("the user's item 'k=5' of part/k=5.csv", "the user's item 'k=5' of part/k=5.csv"),
        ("give weights={user: 2.0}, keep='users'", "give weights={user: 2.0}, keep='users'"),
    ],
)
def test_keywords(bad, monkeypatch, python, command_line):
    raising(monkeypatch, ValueError(f"a.csv: as is, or {python}."))
    said = f"a.csv: as is, or {command_line}."
    assert bad("eval", "recs.csv", "truth.csv") == said
    # with several systems the file is named before
    assert bad("eval", "recs.csv", "more.csv", "truth.csv") == f"recs.csv: {said}"
