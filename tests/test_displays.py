"""Whatever people get back can be read: short, aligned, within 80 columns; pickled and copied."""

import ast
import copy
import dataclasses
import inspect
import pickle
import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from doors import by_words
from shared_inputs import library

import toplist as tl
from toplist.beyond.results import ListResult
from toplist.results.markup import Display

PAGES = Path(__file__).parents[1] / ".ci" / "site" / "pages.py"
RNG = np.random.default_rng(5)
TRUTH = {f"u{u}": {int(i): int(g) for i, g in enumerate(RNG.integers(0, 3, 8))} for u in range(60)}
LISTS = [{user: RNG.permutation(12)[:5].tolist() for user in TRUTH} for _ in range(3)]
LABELS = {user: "ab"[i % 2] for i, user in enumerate(TRUTH)}


@cache
def compared(step=1):
    results = (tl.top_k_eval(one, TRUTH, k=5, metrics=["ndcg", "recall"]) for one in LISTS[::step])
    return tl.compare(dict(zip("xyz", results, strict=True)), baseline="x")


def gate():
    new, base = compared().results["y"], compared().results["x"]
    return tl.gate(new, base, {"ndcg@5": 0.01}, floors={"recall@5": 0.3}, by=LABELS)


def across():
    both = {"one": compared(), "two": compared(-1)}
    return tl.across(both, "ndcg@5")


def judged():
    people = {user: TRUTH[user] for user in list(TRUTH)[:20]}
    some = (tl.top_k_eval(LISTS[0], truth, k=5, metrics=["ndcg"]) for truth in (TRUTH, people))
    by_judge, by_people = some
    return tl.inference.judge_corrected(judged=by_judge, human=by_people, metric="ndcg@5")


def shown():
    return tl.show("u1", {"a": LISTS[0]}, TRUTH)


MADE = {
    "ItemsToJudge": lambda: tl.annotating.unjudged({"a": LISTS[0]}, TRUTH, 5),
    "ItemToJudge": lambda: tl.annotating.unjudged({"a": LISTS[0]}, TRUTH, 5)[0],
    "Shown": shown,
    "ListedItem": lambda: next(iter(shown().lists.values()))[0],
    "MissedItem": lambda: shown().missed[0],
    "Bounds": lambda: compared().results["x"].bounds("recall@5"),
    "Tests": lambda: compared().test(),
    "Contrast": lambda: compared().test()[0],
    "TestPlan": lambda: compared().test().plan,
    "Band": lambda: compared().band("ndcg", "y"),
    "Movers": lambda: compared().movers("ndcg@5", "y"),
    "Mover": lambda: compared().movers("ndcg@5", "y").rows[0],
    "Power": lambda: compared().power(),
    "GateRow": lambda: gate().rows[0],
    "Gate": gate,
    "OverDatasets": lambda: across().contrast("y", "x"),
    "Friedman": lambda: across().friedman,
    "Replicability": lambda: tl.inference.replicability([0.01, 0.02, 0.3]),
    "Segments": lambda: compared().results["x"].by(LABELS),
    "SegmentedComparison": lambda: compared().by(LABELS),
    "Heterogeneity": lambda: tl.inference.heterogeneity({"a": RNG.random(30), "b": RNG.random(30)}),
    "JudgeCorrected": judged,
    "Corrected": lambda: tl.inference.ppi(*RNG.random((2, 20)), RNG.random(50)),
    "TTest": lambda: tl.inference.over_datasets([0.1, 0.2, 0.4], of="sample"),
    "Convention": lambda: tl.CONVENTIONS["trec_eval"],
    "Across": across,
}


def test_all_that_is_returned_is_here():
    if not PAGES.is_file():
        pytest.skip("without the pages of the site")
    lines = ast.parse(PAGES.read_text("utf-8")).body
    named = (one for one in lines if isinstance(one, (ast.Assign, ast.AnnAssign)))
    (table,) = (one.value for one in named if ast.unparse(one).startswith("RETURNED"))
    known = {name: at for at, names in ast.literal_eval(table).items() for name in names}
    assert len(known) > 20 and {*known} <= {*MADE}
    assert [name for name, at in known.items() if not hasattr(import_module(at), name)] == []


@cache
def made(name):
    return FOUND[name]()


def tables(page):
    return [line for line in page.split("\n") if line.startswith("|")]


# What is no display: records, which are lines of names and values.
RECORDS = {
    *("ItemToJudge", "Shown", "ListedItem", "MissedItem", "Bounds", "Contrast", "TestPlan"),
    *("Mover", "GateRow", "OverDatasets", "Friedman", "Replicability", "Heterogeneity"),
    *("Corrected", "TTest", "Convention"),
}


@pytest.mark.parametrize("name", MADE)
def test_what_is_returned_can_be_read(name):
    found = made(name)
    assert type(found).__name__ == name and isinstance(found, Display) != (name in RECORDS)
    text = repr(found) if name in RECORDS else found.to_text(width=80)
    assert max(map(len, text.split("\n"))) <= (80 if name != "GateRow" else 140)
    assert not re.search(r"\d\.\d{6}|array\(|nan|float64|mappingproxy", text)
    assert len(text.split("\n")) < 60


@pytest.mark.parametrize("name", [name for name in MADE if name not in RECORDS])
def test_displays_have_tables_of_as_many_decimals_as_are_asked_for(name):
    found = made(name)
    assert "<th" in found.to_html() or "<p" in found.to_html()
    some, more = ("\n".join(tables(found.to_markdown(digits=n))) for n in (2, 6))
    assert not re.search(r"\d\.\d{4}", some) and re.search(r"\d\.\d{6}\b", more)
    assert found.to_latex(digits=2) and found.to_html(digits=2) and found.to_text(digits=2)
    with pytest.raises(ValueError, match="digits must be a whole number from 0 to 15, not 16"):
        found.to_text(digits=16)


@pytest.mark.parametrize("ask", ["test", "power", "lead"])
def test_what_is_shown_of_some_names_is_as_it_is_of_all(ask):
    found = getattr(compared(), ask)()
    some = [line for line in tables(found.to_markdown()) if "ndcg" not in line]
    assert some[-1] == tables(found.to_markdown(names="recall@5"))[-1]
    assert found.to_dict()[-1]["name"] == "recall@5"
    with pytest.raises(KeyError, match="there are ndcg@5, recall@5"):
        found.to_text(names="mrr@5")
    pytest.importorskip("pandas")
    assert {*found.to_pandas(names="recall")["name"]} == {"recall@5"}


def test_intervals_are_left_out():
    for found in (
        compared().results["x"],
        compared().test(),
        compared().band("ndcg", "y"),
        judged(),
        made("Gate"),
    ):
        page = found.to_markdown(intervals=False)
        assert not re.search(r"[±\[]", "".join(tables(page))) and "± half" not in page
        assert re.search(r"[±\[]", "".join(tables(found.to_markdown())))
    assert "±" in compared().to_markdown(intervals=True)


def test_a_gate_says_its_verdicts_with_the_decimals_that_are_asked_for():
    more, fewer = (made("Gate").to_text(digits=n).split("\n")[0] for n in (7, 2))
    assert len(re.findall(r"\d\.\d{7}\b", more)) == 3 and not re.search(r"\d\.\d{7}", fewer)
    assert "[" not in made("Gate").to_text(intervals=False).split("\n")[0]


def test_records_leave_out_what_is_not_known_and_say_the_rest():
    tests = tl.inference.paired_tests({"a": [1.0, 2.0, 4.0, 3.0], "b": [2.0, 2.5, 4.0, 5.0]})
    told = repr(tests[0])
    assert told.startswith("Contrast\n") and "p_not_worse" not in told and "segment" not in told
    said = dict(re.findall(r"(\w+) +(\S+)", told))
    assert said["difference"] == f"{tests[0].difference:.4g}" and said["wins"] == "3"
    whole = made("OverDatasets")
    assert f"p {whole.sample.p:.4g}" in re.sub(" +", " ", repr(whole))  # of the record within


def test_headers_say_what_they_head():
    for made in (compared(), compared().test(), shown()):
        heads = re.findall(r"<th [^>]*>", made.to_html())
        assert heads and all(re.search(r' scope="(row|col)"', one) for one in heads)
    page = compared().test().to_html()
    rows = re.findall(r'<th scope="row"[^>]*>([^<]*)</th><td', page)
    assert rows[:3] == ["x", "y", "z"] and '<th scope="col"' in page


# Pickled and copied, it shows the same

RANKS = {"a": [5, 7, 8, 9, 3], "b": [4, 6, 2, 1, 10], "c": [1, 2, 3]}
TRUTHS = {"a": {7, 3, 5}, "b": {4, 2, 8, 7}, "c": {3}}
GRADES = {"a": {7: 3, 3: 1}, "b": {4: 2, 2: 0}, "c": {3: 1}}
COLUMNS = [7, 7, 8, 8, 9, 9, 9], list("ababcab"), [1, 2, 3, 4, 5, 6, 7]
GROUPS = tl.Groups({"a": [[1, 5], [3]], "b": [[2]], "c": [[3, 4]]})
NAMED = dict(zip(("user_id", "item_id", "timestamp"), COLUMNS, strict=True))


def evaluated(ranks=RANKS, truths=TRUTHS, **options):
    return by_words(ranks, truths, [1, 3], **options)


def of_lists():
    """A result with metrics of the lists themselves."""
    names = ["hit", "item_coverage", "novelty"]
    counts = {item: item + 1 for item in range(20)}
    return evaluated(metrics=names, catalogue=20, counts=counts)


def exposed():
    return tl.beyond.exposure(RANKS, 3, catalogue=20)


def sampled():
    return tl.loo.sampled_ranks(np.eye(4, 50), [3, 4, 5, 6], n=20, seed=0)


FOUND = MADE | {
    "result": evaluated,
    "result of grades": lambda: evaluated(truths=GRADES, relevant_from=2, weights=[1, 2, 3]),
    "pooled result": lambda: evaluated(aggregate="pooled"),
    "result of lists": of_lists,
    "groups": lambda: tl.Groups({"a": [[1, 5], [3]]}),
    "ranks": lambda: tl.Ranks(RANKS, ties="item"),
    "items": lambda: tl.Items(catalogue=9),
    "propensities": lambda: tl.Propensities({1: 0.5}),
    "result of groups": lambda: evaluated(truths=GROUPS, metrics=["group_recall", "alpha_ndcg"]),
    "comparison": compared,
    "comparison of runs": lambda: tl.compare({"x": [evaluated(), evaluated()], "y": evaluated()}),
    "equivalence": lambda: compared().equivalence(margin=0.1),
    "hits": lambda: tl.match(RANKS, GRADES),
    "lists": lambda: tl.inputs.Lists([0, 1, 3], [3, 4, 5]),
    "ground truths": lambda: tl.GroundTruths(TRUTHS),
    "metric": lambda: tl.METRICS["rbp"],
    "convention with a policy": lambda: tl.CONVENTIONS["standard"].replace(empty="zero"),
    "exposure": exposed,
    "agreement": lambda: tl.beyond.overlap(RANKS, {"a": [5], "b": [6], "c": [1]}, 3),
    "split of columns": lambda: tl.loo.leave_one_out(NAMED),
    "split of a tuple": lambda: tl.loo.leave_one_out(COLUMNS, validation=True),
    "split of arrays": lambda: tl.loo.holdout(tuple(map(np.array, COLUMNS)), 0.5),
    "split of pandas": lambda: tl.loo.holdout(library("pandas").DataFrame(NAMED), 0.5),
    "split of polars": lambda: tl.loo.holdout(library("polars").DataFrame(NAMED), 0.5),
    "split of Arrow": lambda: tl.loo.holdout(library("pyarrow").table(NAMED), 0.5),
    "windows": lambda: tl.loo.windows(COLUMNS, 1),
    "core": lambda: tl.loo.leave_one_out(COLUMNS, k_core=1).report.core,
    "split of a core": lambda: tl.loo.leave_one_out(NAMED, k_core=1),
    "report": lambda: tl.loo.leave_one_out(COLUMNS).report,
    "columns": lambda: tl.loo.leave_one_out(COLUMNS).columns(),
    "sampled ranks": sampled,
    "sampled": lambda: sampled().sampled,
    "result of sampled ranks": lambda: sampled().evaluate(20),
    "estimate": lambda: tl.loo.corrected(sampled(), metrics="ndcg@5")["ndcg@5"],
    "audit": lambda: tl.audit.check(RANKS, TRUTHS),
    "finding": lambda: tl.audit.check({**RANKS, "d": [1]}, TRUTHS).findings[0],
    "AUC of users": lambda: tl.pointwise.user_auc(["u", "u", "v"], [1, 0, 1], [0.3, 0.1, 0.2]),
}


def content(found):
    """Everything that an object holds, as lists of text; functions by their names."""
    if isinstance(found, tl.beyond.Exposure):  # without users it is a count of pairs
        return content([found.k, found.n_users, found.n_items, found.catalogue, *found.pairs])
    if isinstance(found, ListResult):  # a pickle leaves out the lists
        return content([found.names, found.exposure, found.spreads])
    if isinstance(found, np.ndarray):
        return repr(found.tolist())
    if dataclasses.is_dataclass(found):
        parts = {one.name: getattr(found, one.name) for one in dataclasses.fields(found)}
        return [type(found).__name__, content(parts)]
    if isinstance(found, Mapping):
        return [(repr(key), content(value)) for key, value in found.items()]
    if isinstance(found, (list, tuple)):
        return [type(found).__name__, *map(content, found)]
    return getattr(found, "__qualname__", repr(found))


@pytest.mark.parametrize("name", FOUND)
def test_the_way_there_and_back(name):
    found = made(name)
    shown = repr(found), content(found)
    for back in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert type(back) is type(found)
        assert (repr(back), content(back)) == shown


@pytest.mark.parametrize("name", [name for name in FOUND if name.startswith("split")])
def test_a_split_that_was_pickled_works_as_before(name):
    split = made(name)
    back = pickle.loads(pickle.dumps(split))
    assert back.truths("train") == split.truths("train") and back.truths() == split.truths()
    rows = np.array([2, 0])
    assert content(back.log.take(rows)) == content(split.log.take(rows))


def test_every_public_class_is_among_them():
    modules = tl, tl.audit, tl.beyond, tl.loo, tl.pointwise
    public = [getattr(one, name) for one in modules for name in one.__all__]
    classes = {one for one in public if inspect.isclass(one) and not issubclass(one, Exception)}
    assert classes - {type(made(name)) for name in FOUND} == set()
