"""Whatever people get back can be read: short, aligned, within 80 columns."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import toplist as tl
from toplist.results.display import Display

PAGES = Path(__file__).parents[1] / ".ci" / "site" / "pages.py"
RNG = np.random.default_rng(5)
TRUTH = {f"u{u}": {int(i): int(g) for i, g in enumerate(RNG.integers(0, 3, 8))} for u in range(60)}
LISTS = [{user: RNG.permutation(12)[:5].tolist() for user in TRUTH} for _ in range(3)]
LABELS = {user: "ab"[i % 2] for i, user in enumerate(TRUTH)}


def compared(several=LISTS):
    results = (tl.top_k_eval(lists, TRUTH, k=5, metrics=["ndcg", "recall"]) for lists in several)
    return tl.compare(dict(zip("xyz", results, strict=True)), baseline="x")


def gate():
    new, base = compared().results["y"], compared().results["x"]
    return tl.gate(new, base, {"ndcg@5": 0.01}, floors={"recall@5": 0.3}, by=LABELS)


def across():
    both = {"one": compared(), "two": compared(LISTS[::-1])}
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
    "Family": lambda: tl.inference.family({"a": RNG.random((2, 30)), "b": RNG.random((2, 30))}),
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
    known = {name for names in ast.literal_eval(table).values() for name in names}
    assert len(known) > 20 and known <= {*MADE}


@pytest.mark.parametrize("name", MADE)
def test_what_is_returned_can_be_read(name):
    found = MADE[name]()
    assert type(found).__name__ == name
    text = found.to_text(width=80) if isinstance(found, Display) else repr(found)
    assert max(map(len, text.split("\n"))) <= (80 if name != "GateRow" else 140)
    assert not re.search(r"\d\.\d{6}|array\(|nan|float64|mappingproxy", text)
    assert len(text.split("\n")) < 60
    if isinstance(found, Display):
        assert "<th" in found.to_html() or "<p" in found.to_html()


def test_records_leave_out_what_is_not_known_and_say_the_rest():
    tests = tl.inference.paired_tests({"a": [1.0, 2.0, 4.0, 3.0], "b": [2.0, 2.5, 4.0, 5.0]})
    told = repr(tests[0])
    assert told.startswith("Contrast\n") and "p_not_worse" not in told and "segment" not in told
    said = dict(re.findall(r"(\w+) +(\S+)", told))
    assert said["difference"] == f"{tests[0].difference:.4g}" and said["wins"] == "3"
    assert repr(tl.inference.replicability([0.01])) == "Replicability(k=1, p=[0.01])"
    whole = across().contrast("y", "x")
    assert f"p {whole.sample.p:.4g}" in re.sub(" +", " ", repr(whole))  # of the record within
    assert repr(gate().rows[0]) == str(gate().rows[0])


def test_headers_say_what_they_head():
    for made in (compared(), compared().test(), shown()):
        heads = re.findall(r"<th [^>]*>", made.to_html())
        assert heads and all(re.search(r' scope="(row|col)"', one) for one in heads)
    page = compared().test().to_html()
    rows = re.findall(r'<th scope="row"[^>]*>([^<]*)</th><td', page)
    assert rows[:3] == ["x", "y", "z"] and '<th scope="col"' in page
