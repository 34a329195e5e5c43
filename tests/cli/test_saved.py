"""Saved results where lists stand: `--save`, and options beside them, of which none is ignored."""

import json
import os
from pathlib import Path

import pytest
from cli.conftest import put, refused

import toplist as tl
from toplist.cli import parser_of
from toplist.cli.reading import EVALUATING

METRICS = "-m", "ndcg@2", "recall@2"


@pytest.fixture
def base(files, good):
    """Save the result of the first lists."""
    good("eval", "recs.csv", "truth.csv", *METRICS, "--save", "base.npz", "-q")
    return tl.TopKResult.load("base.npz")


def test_several_systems_are_saved_in_a_folder(base, good):
    expected = tl.top_k_eval("recs.csv", "truth.csv", metrics=METRICS[1:], keep="users")
    assert base == expected and base.users == expected.users == ["u1", "u2", "u4"]
    os.mkdir("runs")
    good("eval", "recs.csv", "more.csv", "truth.csv", "--save", "runs", "-q")
    good("eval", "models.csv", "truth.csv", "--system", "model", "--save", "runs", "-q")
    assert sorted(os.listdir("runs")) == ["more.npz", "recs.npz", "x.npz", "y.npz"]
    assert tl.TopKResult.load("runs/more.npz").hits is not None
    assert tl.TopKResult.load("runs/y.npz").n_users == 3


def test_a_saved_result_stands_where_its_lists_do(good, base):
    ask = "more.csv", "truth.csv", *METRICS, "--format", "json"
    wanted = json.loads(good("compare", "recs.csv", *ask))
    found = json.loads(good("compare", "base.npz", *ask))
    assert found == [row | {"baseline": "base"} for row in wanted]


@pytest.mark.usefixtures("base")
def test_values_per_user_of_saved_results_with_other_metrics(good):
    good("eval", "more.csv", "truth.csv", "-m", "map@2", "--save", "new.npz", "-q")
    good("eval", "base.npz", "new.npz", "--per-user", "out.csv", "-q")
    header, *rows = (line.split(",") for line in Path("out.csv").read_text().splitlines())
    assert header == ["system", "user_id", "ndcg@2", "recall@2", "map@2"]
    given = {row[0]: [cell != "" for cell in row[2:]] for row in rows}
    assert given == {"base": [True, True, False], "new": [False, False, True]}


def test_saved_results_alone_need_no_truth(good, base):
    assert good("eval", "base.npz") == good("eval", "recs.csv", "truth.csv", *METRICS)
    good("eval", "more.csv", "truth.csv", *METRICS, "--save", "new.npz", "-q")
    put("new.csv", Path("more.csv").read_text())
    expected = good("compare", "base.npz", "new.csv", "truth.csv", *METRICS)
    assert good("compare", "base.npz", "new.npz") == expected
    recall = good("compare", "base.npz", "new.npz", "-m", "recall", "-k", "1")
    assert "recall@1" in recall and "ndcg" not in recall
    both = good("compare", "base.npz", "new.npz", "-k", "1")
    assert "recall@1" in both and "ndcg@1" in both and "@2" not in both
    shown = good("eval", "base.npz", "new.npz", "-m", "recall", "--format", "json")
    assert json.loads(shown)["base"]["values"] == {"recall@2": base["recall@2"]}


# Every option of an evaluation, beside a saved result

# What is read beside the lists, in two versions: the second has other last rows.
TABLES = {
    "counts": ("item_id,count a,5 b,4 c,3 d,2 e,1", "e,9"),
    "weights": ("user_id,w u1,1 u2,2 u4,3", "u4,5"),
    "items_as": ("item_id,document a,b c,c d,d e,e", "e,b"),
    "propensities": ("item_id,p a,0.5 b,0.25 c,1 d,0.5 e,0.5", "e,1"),
}
VALUES = {
    "unit": ("sessions", "queries"),
    "clip": ("0.3", "0.4"),
    "relevant_from": ("2", "3"),
    "padding": ("none", "nothing"),
    "system": ("model", "model"),
    "columns": ("user_id=user_id", "item_id=item_id"),
    "weights": ("weights.csv:w", "other/weights.csv:w"),
    "clusters": ("day", "user_id"),
    "propensities": ("propensities.csv:p", "other/propensities.csv:p"),
    "ranks_format": ("csv", "csv"),
    "ground_truths_format": ("csv", "csv"),
    "convention": ("trec_eval", "sklearn"),
    "gains": ("exponential", "1=1,2=5,3=6"),
}
OF_FILES = {"columns", "ranks_format", "ground_truths_format", "padding", "system", "order"}
OBSERVED = "-m dcg@2 --propensities propensities.csv:p"
# A metric that an option is for, and what else it needs.
NEEDS = {
    "counts": "-m novelty@2",
    "unknown": "-m novelty@2 --counts counts.csv",
    "propensities": "-m dcg@2",
    "weighting": OBSERVED,
    "clip": OBSERVED,
    "clusters": "-m ndcg@2 --columns user_id=user_id,day",
}


# Files of items that are read, kept and compared as counts are.
LIKE_COUNTS = {"catalogue", "features", "labels", "distances", "history", "expected"}


def values_of(action):
    """Return the flag of an option of an evaluation with two of its values."""
    flag, name = action.option_strings[-1], action.dest
    if name in VALUES:
        return tuple([flag, one] for one in VALUES[name])
    if action.choices:
        return tuple([flag, [*action.choices][at]] for at in (-1, 0))
    if action.nargs == 0:
        return [flag], [flag]
    assert name in {*TABLES, *LIKE_COUNTS}, f"give two values of {flag} here"
    return [flag, f"{name}.csv"], [flag, f"other/{name}.csv"]


ACTIONS = (one for one in parser_of("eval")._actions if one.dest in EVALUATING)
KNOWN = {one.dest: values_of(one) for one in ACTIONS}


# What is read is the same code.
OTHERS = {"compare": (), "gate": ("--margin", "0.5"), "report": ("-o", "page.html")}


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Write lists of two systems, their truth without and with grades, and both versions."""
    monkeypatch.chdir(tmp_path)
    os.mkdir("other")
    for name, (text, last) in TABLES.items():
        lines, others = text.split(), last.split()
        put(f"{name}.csv", "\n".join([*lines, ""]))
        put(f"other/{name}.csv", "\n".join([*lines[: -len(others)], *others, ""]))
    users = ("u1", 1), ("u2", 2), ("u4", 1)
    for system, lists in {"a": ("ab", "dc", "ea"), "b": ("cb", "ed", "ae")}.items():
        found = [
            f"{user},{day},{item},{rank},1"
            for (user, day), items in zip(users, lists, strict=True)
            for rank, item in enumerate(items, 1)
        ]
        put(f"{system}.csv", "\n".join(["user_id,day,item_id,rank,model", *found, ""]))
    found = "u1,1,b,1", "u1,1,a,0", "u2,2,d,2", "u4,1,a,3", "u4,1,e,1"
    put("graded.csv", "\n".join(["user_id,day,item_id,relevance", *found, ""]))
    found = "u1,1,b", "u1,1,a", "u2,2,d", "u4,1,a", "u4,1,e"
    put("truth.csv", "\n".join(["user_id,day,item_id", *found, ""]))


@pytest.mark.usefixtures("world")
def test_saved_results_alone_refuse_every_option(good, cli):
    assert {"convention", "relevant_from", "missing", "clusters", "columns"} <= {*KNOWN}
    for system in "ab":
        good("eval", f"{system}.csv", "truth.csv", "-m", "ndcg@2", "--save", f"{system}.npz", "-q")
    lines = [("eval", given) for given, _ in KNOWN.values()]
    for name, given in [*lines, *((other, ["--missing", "skip"]) for other in OTHERS)]:
        line = name, "b.npz", "a.npz", *OTHERS.get(name, ()), *given
        status, out, error = cli(*line, "-m", "ndcg@2")
        assert (status, out) == (2, "") and f"{given[0]}" in error.splitlines()[-1]
        assert "changes nothing of b.npz, a saved result" in error
    assert not Path("page.html").exists()


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("option", [one for one in KNOWN if one not in {*LIKE_COUNTS, "order"}])
def test_a_saved_result_beside_lists_has_the_same_options(good, cli, option):
    if option == "clusters":
        pytest.importorskip("pyarrow")
    given, other = KNOWN[option]
    needs = NEEDS.get(option, "-m ndcg@2").split()
    truth = "truth.csv" if "dcg@2" in needs else "graded.csv"  # dcg has grades of 1 alone
    save = "eval", "a.csv", truth, *needs, "--save", "a.npz", "-q"
    good(*save, *([] if option in OF_FILES else given))
    line = "eval", "b.csv", "a.npz", truth, *needs, *given
    assert cli(*line)[0] == 0
    if option in OF_FILES:
        return
    for options in [other] if option == "counts" else [[], other]:
        if options != given:
            good(*save, *options)
            said = refused(cli(*line))
            assert options == other or f"{given[0]} " in said
            assert options == other or "not go with a.npz" in said


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("name", OTHERS)
def test_the_other_commands_look_at_options_in_the_same_way(name, good, cli):
    if name == "report":
        pytest.importorskip("jinja2")
    good("eval", "a.csv", "graded.csv", "-m", "ndcg@2", "--save", "a.npz", "-q")
    line = "b.csv", "a.npz", "graded.csv", "-m", "ndcg@2", "--missing", "skip"
    said = refused(cli(name, *line, *OTHERS[name]), 2 if name == "gate" else 1)
    assert "--missing skip does not go with a.npz" in said
