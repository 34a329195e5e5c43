"""Systems side by side: their table, the best, what makes them not comparable, the lead."""

from dataclasses import replace
from functools import cache
from unittest.mock import Mock

import numpy as np
import pytest
from doors import by_words
from file_helpers import through_a_file
from systems import compared

import toplist as tl
from toplist.comparing import aligning

TRUTHS = {"ann": {2}, "bob": {3}, "cid": {9}}
GOOD = {"ann": [2, 1], "bob": [1, 3], "cid": [1]}
POOR = {"ann": [1, 2], "bob": [1, 5], "cid": [1]}
SYSTEMS = {"good": GOOD, "poor": POOR}
MRR = tl.METRICS["mrr"]
WORST = replace(MRR, name="worst", higher_is_better=False)


def evaluated(ranks=GOOD, truths=TRUTHS, **options):
    return by_words(ranks, truths, **{"k": 2, "metrics": ["mrr", "ndcg"], **options})


def of_ranks(*ranks, k=20, metrics=(MRR, WORST)):
    return tl.top_k_eval(tl.Hits.from_ranks([*ranks], k), k=k, metrics=[*metrics])


@pytest.fixture
def both():
    return tl.compare({"good": evaluated(), "poor": evaluated(POOR)})


def test_the_table(both):
    assert repr(both).splitlines() == [
        "        mrr@2   ndcg@2",
        "good  *0.5000  *0.5436",
        "poor   0.1667   0.2103",
        "* best of its column; not tested: .test() and toplist compare test the difference",
        "convention standard: mean over users",
        "3 of 3 users evaluated",
    ]
    assert both.differences == []
    assert both.to_dict()["poor"] == both.results["poor"].to_dict()


TEN = ["ndcg", "map", "recall", "precision", "mrr", "hit", "rbp", "err", "f1", "r_precision"]
# Systems, metrics, k's, and what heads the columns of the first table.
LAYOUTS = [
    (2, 4, [1, 2], "ndcg@1 ndcg@2 map@1 map@2"),
    (2, 9, [1, 2], "ndcg @1 @2"),
    (9, 10, [1, 2, 3], "ndcg @1 @2 @3"),
    (3, 10, [1, 2, 3], "s0 s1 s2"),
    (8, 10, [1, 2, 3], "s0 s1 s2 s3"),
    (2, 9, [1], "s0 s1"),
]


@pytest.mark.parametrize(("n", "n_metrics", "k", "heads"), LAYOUTS)
def test_many_means_are_a_table_per_metric_or_a_row_per_mean(n, n_metrics, k, heads):
    lists = {f"s{i}": GOOD for i in range(n)}
    text = compared(lists, TRUTHS, k, metrics=TEN[:n_metrics]).to_text(every_metric=True)
    assert " ".join(text.splitlines()[0].split()).startswith(heads)


def test_the_best():
    turned = compared(SYSTEMS, TRUTHS, 2, metrics=[MRR, WORST])
    assert turned.best() == {"mrr@2": ["good"], "worst@2": ["poor"]}
    three = tl.compare({"a": evaluated(), "b": evaluated(POOR), "c": evaluated()})
    assert three.best()["mrr@2"] == ["a", "c"] and repr(three).count("*0.5000") == 2
    # 1/5 + 1/10 and 1/4 + 1/20, whose halves differ by rounding alone
    tied = {name: of_ranks(*ranks) for name, ranks in {"a": (5, 10), "b": (4, 20)}.items()}
    assert tied["a"]["mrr@20"] != tied["b"]["mrr@20"]
    for order in (tied, dict(reversed(tied.items()))):
        assert tl.compare(order).best() == {"mrr@20": [*order], "worst@20": [*order]}
        assert tl.compare(order).sort("mrr@20").systems == [*order]
        sets = tl.across({"x": order, "y": order}, "mrr@20")
        assert str(sets).count("*0.1500") == 6 and sets.contrast("a", "b").sample.difference == 0
    nobody = evaluated(truths={"ann": set(), "bob": set()})
    others = evaluated(convention="trec_eval", metrics=["ndcg"])
    for alone in ({"a": evaluated()}, {"a": nobody, "b": nobody}, {"a": evaluated(), "b": others}):
        found = tl.compare(alone)
        assert not any(found.best().values()) and "*" not in repr(found)
    assert tl.compare({"a": nobody, "b": evaluated()}).best()["mrr@2"] == []
    more = tl.compare({"a": evaluated(), "b": evaluated(k=[1, 2])})
    assert more.comparable and more.best()["ndcg@2"] == ["a", "b"]
    lists = {"a": {1: [5, 6], 2: [5, 6]}, "b": {1: [5, 6], 2: [7, 8]}}
    asked = {"metrics": ["hit", "item_coverage"], "catalogue": 9}
    found = compared(lists, {1: [5], 2: [5]}, 2, **asked)  # coverage has no direction
    assert found.best() == {"hit@2": ["a"], "item_coverage@2": []}


def test_no_best_where_one_systems_lists_end_before_k():
    lists, asked = {"short": [[1, 2], [2, 3]], "long": [[*range(1, 31)]] * 2}, {"k": [1, 20]}
    both = compared(lists, [{11}, {2}], metrics="recall", **asked)
    (line,) = both.differences
    assert line.kind == "lengths" and line.systems == ("short", "long")
    assert line.text in repr(both) and line.text.startswith(
        "LISTS OF DIFFERENT LENGTH: short at most 2, long at least 20: at k = 20 "
    )
    assert both.best() == {"recall@1": ["short"], "recall@20": []}
    short, long = both.results.values()
    stream = replace(long, hits=None, counted=None)
    assert tl.compare({"short": short, "stream": stream}).differences == []
    equal = tl.compare({"a": short, "b": short})
    assert equal.differences == [] and equal.best()["recall@20"] == ["a", "b"]


# What makes systems not comparable


def said(first, second):
    """Return the lines about two results, which all tables must show."""
    comparison = tl.compare({"a": first, "b": second})
    lines = [one.text for one in comparison.differences]
    for line in lines:
        assert line in repr(comparison).splitlines()
        assert line in comparison.to_markdown()
        assert f"% {line}" in comparison.to_latex()
        assert f"<b>{line.split(':')[0]}</b>:" in comparison._repr_html_()
    return lines


FEWER = {user: items for user, items in TRUTHS.items() if user != "cid"}
UNLISTED = {user: items for user, items in GOOD.items() if user != "cid"}
GRADED = {user: dict.fromkeys(items, 3) for user, items in TRUTHS.items()}
OWN = replace(tl.METRICS["ndcg"], divisor="k")
STANDARD, LEFT_OUT = "a: convention standard", "users without relevant items are left out; users"
WITHOUT_ONE = "USERS: b is over 2, without 1 of the 3 of a"
DIFFERENT = [
    (
        {"metrics": ["map"]},
        {"metrics": ["map"], "convention": "neurec"},
        f"CONVENTIONS: {STANDARD}; b: convention neurec",
        f"POLICIES: a: {LEFT_OUT} without a list score 0; "
        "b: users without relevant items score 0; users without a list score 0",
        "FORMULAS: of map",
    ),
    (
        {"ranks": UNLISTED},
        {"ranks": UNLISTED, "missing": "skip"},
        f"POLICIES: a: {LEFT_OUT} without a list score 0; "
        f"b: {LEFT_OUT} without a list are left out",
        WITHOUT_ONE,
    ),
    ({}, {"weights": [1, 2, 3]}, "AVERAGES: a: mean over users; b: weighted mean over users"),
    ({}, {"aggregate": "pooled"}, "AVERAGES: a: mean over users; b: "),
    ({"k": [1, 2]}, {"k": 2}, "METRICS OR K: a: mrr ndcg @1@2; b: mrr ndcg @2"),
    (
        {"truths": GRADED},
        {"truths": GRADED, "relevant_from": 2},
        f"CONVENTIONS: {STANDARD}; b: convention standard, relevant from grade 2",
    ),
    (
        {},
        {"metrics": ["mrr", OWN]},
        f"CONVENTIONS: {STANDARD}; b: convention standard (except ndcg: own definition)",
        "FORMULAS: of ndcg",
    ),
    ({}, {"truths": FEWER}, WITHOUT_ONE),
    ({"truths": FEWER}, {}, "USERS: b is over 3, with 1 that are not in a"),
    (
        {},
        {"truths": {**FEWER, "dan": {4}}},
        "USERS: b is over 3, without 1 of the 3 of a and with 1 that are not in a",
    ),
    (
        {},
        {"truths": {**TRUTHS, "ann": {2, 7}}},
        "GROUND TRUTHS: 1 of 3 users have another number of relevant items in b than in a, "
        "user 'ann' first",
    ),
    ({}, {"truths": dict(reversed(TRUTHS.items()))}),
    ({}, {"ranks": UNLISTED}),
]


@pytest.mark.parametrize("row", DIFFERENT)
def test_what_differs_is_said(row):
    first, second, *lines = row
    found = said(evaluated(**first), evaluated(**second))
    assert len(found) == len(lines)
    for one, line in zip(found, lines, strict=True):
        line = f"DIFFERENT {line}"
        assert one == line or (line.endswith(": ") and one.startswith(line))


# Other data of metrics of the lists

USERS = "abcdefgh"
LISTS = {user: [1, 2, 3] for user in USERS}
OTHER = {user: [3, 4 + i % 3, 1] for i, user in enumerate(USERS)}
OF_LISTS = {user: {1 + i % 3} for i, user in enumerate(USERS)}
LABELS = {item: ["odd", "even"][item % 2] for item in range(1, 7)}
SWAPPED = LABELS | {1: "odd", 2: "even"}
FACTS = {
    "counts": {item: item for item in range(1, 7)},
    "labels": LABELS,
    "history": {user: [1, 5] for user in USERS},
    "catalogue": range(1, 7),
    "metrics": ["ndcg", "novelty", "calibration", "item_coverage"],
}


def of_lists(lists=LISTS, truths=OF_LISTS, **given):
    return by_words(lists, truths, 3, **FACTS | given)


def differences(**systems):
    return [one.text for one in tl.compare(systems).differences]


def test_other_data_of_metrics_of_the_lists_are_told(monkeypatch):
    one, other, line = of_lists(), of_lists(OTHER, labels=SWAPPED), "DIFFERENT labels: a and b"
    assert differences(a=one, b=other) == [line] and set(one.lists.given) == {*FACTS} - {"metrics"}
    assert differences(a=one, b=other, c=one) == ["DIFFERENT labels: a, c; b"]
    assert str(tl.compare({"a": one, "b": other})).count(line) == 1
    same = of_lists(OTHER, labels=dict(reversed(LABELS.items())), catalogue=[*range(1, 7)])
    more = {"history": FACTS["history"] | {"a": [2]}, "catalogue": range(8), "counts": [1] * 9}
    assert differences(a=one, b=same) == []
    lines = [f"DIFFERENT {name}: a and b" for name in ("catalogue", "counts", "history")]
    assert differences(a=one, b=of_lists(OTHER, **more)) == lines
    # what no metric reads is no matter
    bare = [of_lists(metrics=["novelty"], labels=some) for some in (LABELS, SWAPPED)]
    assert differences(a=bare[0], b=bare[1]) == []
    assert differences(a=one, b=through_a_file(other)) == [line]
    parts = [{u: row for u, row in OF_LISTS.items() if (u < "d") == low} for low in (1, 0)]
    halves = [
        of_lists({user: OTHER[user] for user in part}, part, labels=labels)
        for part, labels in zip(parts, (LABELS, SWAPPED), strict=True)
    ]
    assert differences(a=one, b=sum(halves)) == []  # several, so that none is known
    monkeypatch.setitem(other.lists.given, "labels", "")
    assert differences(a=one, b=other) == []


def without(lists, *users):
    return {user: items for user, items in lists.items() if user not in users}


NOVELTY, LACKING = {"metrics": ["ndcg", "novelty"]}, "b is over 7, without 1 of the"
OTHER_USERS = [
    ({}, "novelty@3, calibration@3", f"{LACKING} 8 of a", LISTS, without(OTHER, "h")),
    (
        *({}, "novelty@3, calibration@3"),
        f"{LACKING} 7 of a and with 1 that are not in a",
        *(without(LISTS, "a"), without(OTHER, "h")),
    ),
    (NOVELTY, "novelty@3", "b is over 9, with 1 that are not in a", LISTS, OTHER | {"z": [1, 2]}),
    (
        *(NOVELTY, "novelty@3", f"{LACKING} 8 of a; others than in a too: c, d"),
        *(LISTS, without(OTHER, "h"), without(OTHER, "a"), without(OTHER, "b")),
    ),
]


@pytest.mark.parametrize("row", OTHER_USERS)
def test_other_users_of_metrics_of_the_lists_are_told_and_none_is_the_best(row):
    given, names, words, *lists = row
    results = dict(zip("abcd", (of_lists(some, **given) for some in lists), strict=False))
    found = tl.compare(results)
    (line,) = found.differences
    assert line.text == f"DIFFERENT USERS of {names}: {words}" and line.text in repr(found)
    assert line.names == tuple(names.split(", ")) and not found.comparable
    best = found.best()
    assert best["ndcg@3"] and not any(best[name] for name in line.names)
    alone = tl.compare({name: one.without_users() for name, one in results.items()}).differences
    n = results["a"].n_of("novelty@3"), results["b"].n_of("novelty@3")
    assert [one.names for one in alone] == [line.names] * (n[0] != n[1])
    assert all(f": a over {n[0]}, b over {n[1]}" in one.text for one in alone)
    assert tl.compare({"a": results["b"], "b": results["b"]}).comparable


def test_as_many_users_may_be_others_in_one_metric_alone():
    """One of 12 has no list and another no known item; one has no history: 10 in every mean."""
    truths = {user: {0} for user in range(12)}
    a, b = ({user: [0, 1, item] for user in truths} for item in (2, 4))
    a[7], b[9] = [99], [99]
    del a[9], b[7]
    items = tl.Items(
        labels={**dict(zip(range(6), "xyxyxy", strict=True)), 99: "x"},
        history={user: [0, 1] for user in truths if user != 1},
        counts=dict.fromkeys(range(6), 2),
        unknown="skip",
    )
    asked = {"metrics": ["novelty", "calibration"], "items": items}
    found = tl.compare(
        {name: tl.top_k_eval(x, truths, 3, **asked) for name, x in (("a", a), ("b", b))}
    )
    assert {result.n_of(name) for result in found.results.values() for name in found.names()} == {
        10
    }
    assert [one.names for one in found.differences] == [("calibration@3",)]
    assert found.best()["calibration@3"] == []


def test_the_same_formula_in_which_less_is_better_is_another_metric():
    worst = replace(tl.METRICS["mrr"], name="worst", higher_is_better=False)
    truths = {user: {0} for user in range(40)}
    results = {
        name: tl.top_k_eval(
            {user: [0, 1] if user % n else [1, 0] for user in truths},
            truths,
            2,
            metrics=["mrr", worst],
        )
        for name, n in (("a", 2), ("b", 5))
    }
    assert tl.compare(results, baseline="a").test()["b", "worst@2"].sign == "▾"
    assert tl.compare(results).best() == {"mrr@2": ["b"], "worst@2": ["a"]}


def test_notes_of_results_stand_below_them():
    truths, lists = {"ann": {1, 2}, "bob": {3, 4}}, {"ann": [1, 5], "bob": [4, 3]}
    results = {name: tl.top_k_eval(lists, truths, 2, metrics="alpha_ndcg") for name in "ab"}
    assert str(tl.compare(results)).count("the ground truths name no groups") == 1


# Frames, names, orders


def test_sort_puts_the_best_first():
    some = {"b": (2, 0), 7: (1, 1), "a": (0, 2), 0.5: (4, 4), "c": (1, 0)}
    results = {name: of_ranks(*ranks, k=5) for name, ranks in some.items()}
    results["none"] = of_ranks(1, 1, k=5, metrics=["hit"])
    results["nobody"] = tl.top_k_eval([[1]], [set()], k=5, metrics=[MRR, WORST])
    many = tl.compare(results, baseline=7)
    last = ["none", "nobody"]
    assert many.sort("mrr@5").systems == ["7", "c", "b", "a", "0.5", *last]  # equal: as they were
    assert many.sort("worst@5").systems == ["b", "a", "0.5", "c", "7", *last]
    assert many.sort("RR@5") == many.sort("mrr@5") != many
    runs = {"x": [results["a"]] * 2, "y": [results["c"], results[7]], "z": [results["none"]] * 2}
    assert list(tl.compare(runs).sort("mrr@5").to_dict()) == ["y", "x", "z"]


# The best of many


@cache
def checkpoints(n, n_users=120):
    rng = np.random.default_rng(0)
    truths = {user: {user % 9} for user in range(n_users)}
    lists = {
        step: dict(zip(truths, rng.permuted([range(9)] * n_users, axis=1).tolist(), strict=True))
        for step in range(1000, 1000 * (n + 1), 1000)
    }
    metrics = ["ndcg", "mrr", "hit", "average_popularity"]
    counts = dict.fromkeys(range(9), 2)
    return compared(lists, truths, [3, 5], metrics=metrics, counts=counts).results


def test_the_best_of_many_is_said_to_be_that():
    words = "best of 10 on the same users: part of the lead is chance, .lead() and toplist compare"
    some = dict(checkpoints(10))
    many = tl.compare(some)
    for output in (repr(many), many.to_html(), many.to_markdown()):
        assert words in output
    assert words not in repr(tl.compare(some, baseline="1000"))  # tested, with p after Holm
    del some["1000"]
    assert "best of 9" not in repr(tl.compare(some))


def test_the_lead_of_the_best_says_what_chance_gives(monkeypatch):
    many = tl.compare(checkpoints(10))
    found = many.lead("nDCG@3", seed=7)
    one = found.rows["ndcg@3"]
    values = [result.per_user("ndcg@3") for result in many.results.values()]
    assert found.systems[one.place] == many.best()["ndcg@3"][0]
    assert one.mean == pytest.approx(max(np.mean(some) for some in values))
    assert one.lead == pytest.approx(one.mean - np.mean(values))
    assert (one.n, one.n_systems) == (120, 10) and one.share == one.by_chance / one.lead
    label = f"{found.systems[one.place]} ndcg@3"
    text = repr(found)
    assert f"{label}  {one.mean:.4f}       {one.mean_of_all:.4f}" in text
    assert f"{one.lead:+.4f}" in text and "rough" not in text
    assert "best of 10 systems on the same 120 users, chosen by the mean shown" in text
    every = many.lead()  # not of average_popularity: neither direction is better
    assert list(every.rows) == ["ndcg@3", "ndcg@5", "mrr@3", "mrr@5", "hit@3", "hit@5"]
    matched = Mock(wraps=aligning.align)  # of all names that count the same users, once
    monkeypatch.setattr(aligning, "align", matched)
    some = ["ndcg@3", "mrr@3", "mrr@5"]
    assert [*many.lead(some).rows] == some and many.power(some).rows and matched.call_count == 2
    assert "rough: fewer than 50 users" in repr(tl.compare(checkpoints(2, 30)).lead("mrr@3"))
    other = {1: checkpoints(1)["1000"], 2: checkpoints(1, 99)["1000"]}
    assert tl.compare(other).lead("mrr@3", users="common").rows["mrr@3"].n == 99
    pytest.importorskip("pandas")
    assert found.to_pandas().loc[0, "system"] == found.systems[one.place]
