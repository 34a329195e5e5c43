"""Groups, incomplete judgements, ERR, levels of recall: golden values, and toplist by the oracle.

The golden values are of the peers named beside them, by their own tests or computed with them.
"""

import math

import matrix
import numpy as np
import pytest
from oracle import hits
from oracle import judgements as twins
from sides import by_oracle, by_toplist, value
from world import draw

import toplist as tl

# Golden values, of the oracle and of toplist: name, list, truth, k, options, value.

# ir_measures, issue 61: d0 is of both subtopics, d1 of the first; values of pyndeval.
SUBTOPICS = [{"d0", "d1"}, {"d0"}]
# A run of which x, y and e have no grade; values of trec_eval, without and with -J.
GRADES = {"a": 1, "b": 0, "c": 2, "d": 0, "e": 1, "z": 1}
RUN = ["x", "a", "b", "y", "c", "d", "e"]
DROP = {"unjudged": "drop", "convention": "trec_eval"}
MISS = {"convention": "trec_eval"}
# Elasticsearch's test of ERR, with max 3.
ES = ["d1", "d2", "d3", "d4"], {"d1": 3, "d2": 2, "d3": 0, "d4": 1}

GOLDEN = [
    ("alpha_ndcg(alpha=0.5)", ["d0"], SUBTOPICS, 10, {}, 0.8637574337885664),
    ("alpha_ndcg(alpha=0.5)", ["d1"], SUBTOPICS, 10, {}, 0.4318787168942832),
    ("alpha_ndcg(alpha=0.5)", ["d1", "x", "d0"], SUBTOPICS, 10, {}, 0.7557877545649956),
    ("group_recall", ["d1", "x", "d0"], SUBTOPICS, 1, {}, 0.5),
    ("map", RUN, GRADES, 7, MISS, 0.332143),
    ("map", RUN, GRADES, 7, DROP, 0.566667),
    ("precision", RUN, GRADES, 3, MISS, 0.333333),
    ("precision", RUN, GRADES, 3, DROP, 0.666667),
    ("recall", RUN, GRADES, 3, MISS, 0.25),
    ("recall", RUN, GRADES, 3, DROP, 0.5),
    ("ndcg", RUN, GRADES, 3, MISS, 0.201515),
    ("ndcg", RUN, GRADES, 3, DROP, 0.638788),
    ("bpref", RUN, GRADES, None, MISS, 0.375),
    ("bpref", RUN, GRADES, None, DROP, 0.375),
    ("err(max=3)", *ES, 3, {}, 0.8984375),
    ("err(max=3)", *ES, 4, {}, 0.90087890625),
]


@pytest.mark.parametrize(("name", "ranked", "truth", "k", "options", "golden"), GOLDEN)
def test_golden_values_of_the_oracle_and_of_toplist(name, ranked, truth, k, options, golden):
    mine = by_toplist(name, {"u": ranked}, {"u": truth}, [k], **options)[k]["u"]
    for found in (value(name, ranked, truth, k, **options), mine):
        assert found == pytest.approx(golden, abs=5e-7 if round(golden, 6) == golden else 1e-15)


@pytest.mark.parametrize(
    ("metric", "options", "golden"),
    [("precision", {}, (1 / 3, 2 / 3)), ("rbp", {"p": 0.8}, (0.16, 0.36))],
)
def test_bounds_of_what_has_no_grade(metric, options, golden):
    theirs = twins.bounds(getattr(hits, metric), RUN, GRADES, 3, **options)
    result = tl.top_k_eval({"u": RUN}, {"u": GRADES}, 3, metrics=[metric])
    for found in (theirs, tuple(result.bounds(f"{metric}@3"))):
        assert found == pytest.approx(golden, abs=1e-15)


def test_copies_leave_and_ranks_close_up():
    ranked = ["d1", "d1", "d1", "d2", "d3"]
    assert value("mrr", ranked, {"d3"}, 3, duplicates="collapse") == 1 / 3
    assert value("mrr", ranked, {"d3"}, 3) == 0.0


def test_trec_eval_asks_for_one_relevant_document_less_at_some_levels_of_recall():
    differ = {
        (tenths / 10, R)
        for tenths in range(11)
        for R in range(1, 41)
        if twins.needed(tenths / 10, R) != max(1, twins.trec_needed(tenths / 10, R))
    }
    assert differ == {(0.7, 3), (0.7, 23), (0.7, 33)}


@pytest.mark.parametrize(
    ("name", "truth"),
    [
        ("group_recall", []),
        ("complete", []),
        ("complete", set()),
        ("alpha_ndcg", []),
        ("bpref", {}),
        ("bpref", {"a": 0}),
        ("err(max=2)", {}),
        ("err(max=2)", {"a": 0, "b": 0}),
        ("nerr(max=2)", {"a": 0, "b": 0}),
        ("iprec(recall=0)", {"a": 0}),
    ],
)
@pytest.mark.parametrize("ranked", [[], ["a"], ["a", "b"]])
def test_nothing_to_find_is_0(name, truth, ranked):
    assert value(name, ranked, truth, 5) == 0.0


def test_the_oracle_by_hand():
    assert twins.iprec(["x", "a", "b", "y", "c"], {"a", "b", "c"}, 5, recall=0.34) == 2 / 3
    assert twins.iprec(["x", "a", "b", "y", "c"], {"a", "b", "c"}, 5, recall=0.67) == 3 / 5
    assert twins.iprec(["a"], {"a"}, 100, recall=1) == 1.0
    assert twins.err(["a"], {"a"}, 9, max=1) == 0.5 and twins.nerr(["a"], {"a"}, 9, max=1) == 1.0
    with pytest.raises(ValueError, match="grade 3 of 'd1' is above max=2"):
        twins.err(*ES, 4, max=2)
    best = {"a", "b", "c"}
    assert twins.alpha_ndcg(["c", "b", "a"], [best], 3) == 1.0
    assert twins.alpha_dcg(["c", "c", "b"], [best], 3, alpha=1) == 1.0
    assert twins.alpha_dcg(["c", "b"], [best], 2, alpha=0) == 1 + 1 / math.log2(3)
    assert value("ndcg", ["a", "b"], {"a": 1, "b": 2}, 1, gains={1: 1, 2: 4}) == 0.25


# toplist by the oracle, in drawn worlds: what the matrix does not ask for

JUDGED = ["err(max=4)", "err(max=5)", "nerr(max=4)", "bpref", "complete"]
JUDGED += [f"iprec(recall={x})" for x in (0, 0.1, 0.5, 0.7, 1)] + ["iprec(recall=0.5,rel=2)"]
FROM_2 = [f"{one}(rel=2)" for one in ("hit", "precision", "recall", "map", "mrr", "f1", "bpref")]
PLAIN = ["precision", "recall", "map", "ndcg", "mrr"]
GROUPS = ["group_recall", "complete", "precision", "recall", "map", "ndcg"]
GROUPS += [f"alpha_ndcg(alpha={alpha})" for alpha in (0, 0.25, 0.5, 1)]
OF_THE_ORACLE = [
    ([*JUDGED, *FROM_2, "complete(rel=2)"], {}),
    (["dcg", "ndcg"], {"gains": {0.5: 0.25, 1: 1, 2: 4, 3: 9}}),
    ([*PLAIN, "bpref", "err(max=4)", "iprec(recall=0.5)", "map(rel=2)"], {"unjudged": "drop"}),
    (["precision", "map", "ndcg", "nerr(max=4)"], {"duplicates": "collapse"}),
    (["map", "nerr(max=4)"], {"duplicates": "collapse", "unjudged": "drop"}),
    (["precision", "recall", "map", "complete"], {"items_as": True}),
    (GROUPS, {"groups": True}),
    (GROUPS[-2:-1], {"groups": True, "duplicates": "collapse"}),
    (["group_recall", "complete"], {"groups": True, "items_as": True}),
]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("names", "options"), OF_THE_ORACLE)
def test_toplist_by_the_oracle(names, options, seed):
    options = {"metrics": names, "k": [1, 2, 5, 20], "empty": "zero", **options}
    world = draw(seed, graded="groups" not in options, longest=12)
    assert not matrix.differences(world, options, "dicts")


def test_the_largest_grade_is_the_maximum_of_err():
    lists, truths = {"u": ["a", "b"], "v": ["c"]}, {"u": {"a": 1, "b": 3}, "v": {"c": 2}}
    found = by_toplist("err", lists, truths, [1, 2])
    expected = by_oracle("err(max=3)", lists, truths, [1, 2])
    assert found == {k: pytest.approx(values, abs=1e-12) for k, values in expected.items()}


# Measures of ir_measures 0.4.3 that benchmarks/README.md writes as a `Metric`; its own values, by
# cwl_eval and pytrec_eval, of two queries.
S = sum(1 / (rank + 1) ** 2 for rank in range(1, 1001))
WRITTEN = {
    "SetF": (tl.Metric("f", "each", "1", lambda k, R, n: (n + R) / 2), [4 / 7, 1 / 2]),
    "SetRelP": (tl.Metric("rel_p", "each", "1", "min(k,n,R)"), [2 / 3, 1 / 2]),
    "INSQ(max_rel=4)": (
        tl.Metric("insq", "each", lambda r: S * (r + 1) ** 2, lambda k, R, n: 4.0, graded=True),
        [0.14558910105535985, 0.12941253427143096],
    ),
    "SDCG(max_rel=4)@3": (
        tl.Metric(
            *("sdcg", "each", "log2(r+1)"),
            lambda k, R, n: np.cumsum(4 / np.log2(np.arange(2, 9)))[np.asarray(k) - 1],
            graded=True,
        ),
        [0.23463936301137828, 0.22206143322439897],
    ),
}


@pytest.mark.parametrize("theirs", WRITTEN)
def test_measures_of_ir_measures_that_are_written_as_a_metric(theirs):
    metric, golden = WRITTEN[theirs]
    lists = {"u": ["b", "x", "a", "y"], "v": ["c", "d"]}
    grades = {"u": {"a": 2, "b": 1, "c": 1}, "v": {"d": 3, "e": 1}}
    k = 3 if theirs.endswith("@3") else 4
    found = tl.top_k_eval(lists, grades, k, metrics=metric).per_user(metric.name)[:, -1]
    assert found.tolist() == pytest.approx(golden, rel=1e-12)
