"""Systems side by side: the best, and what makes them not comparable."""

from dataclasses import replace

import numpy as np
import pytest
from doors import by_words

import toplist as tl

TRUTHS = {"ann": {2}, "bob": {3}, "cid": {9}}

GOOD = {"ann": [2, 1], "bob": [1, 3], "cid": [1]}

POOR = {"ann": [1, 2], "bob": [1, 5], "cid": [1]}


def evaluated(ranks=GOOD, truths=TRUTHS, **options):
    return by_words(ranks, truths, **{"k": 2, "metrics": ["mrr", "ndcg"], **options})


@pytest.fixture
def both():
    return tl.compare({"good": evaluated(), "poor": evaluated(POOR)})


def test_table(both):
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


def test_equal_comparisons_have_equal_results_and_baselines(both):
    results = {"good": evaluated(), "poor": evaluated(POOR)}
    assert both == tl.compare(results)
    assert both != tl.compare(results, baseline="good")
    assert both != tl.compare({"good": evaluated(), "poor": evaluated()})


def test_every_markup_marks_the_best(both):
    assert "| good | **0.5000** | **0.5436** |" in both.to_markdown()
    assert "**bold**: best of its column; not tested: .test() and topl" in both.to_markdown()
    latex = both.to_latex()  # three users show no difference: nothing is bold
    assert r"good & 0.5000 & 0.5436 \\" in latex and "poor & 0.1667 & 0.2103" in latex
    assert "no difference was found: paired t over 3 users" in latex and "textbf" not in latex
    page = both._repr_html_()
    assert "best of its column; not tested: .test() and toplist compare test" in page
    assert "<b>0.5000</b>" in page and "<b>0.1667</b>" not in page


def test_lower_may_be_better():
    mrr = tl.METRICS["mrr"]
    worst = replace(mrr, name="worst", higher_is_better=False)
    results = {name: evaluated(r, metrics=[mrr, worst]) for name, r in (("g", GOOD), ("p", POOR))}
    assert tl.compare(results).best() == {"mrr@2": ["g"], "worst@2": ["p"]}


def test_all_that_share_the_best_are_best():
    three = tl.compare({"a": evaluated(), "b": evaluated(POOR), "c": evaluated()})
    assert three.best()["mrr@2"] == ["a", "c"]
    assert repr(three).count("*0.5000") == 2


def test_nobody_is_best_alone_or_of_nobody():
    assert tl.compare({"a": evaluated()}).best() == {"mrr@2": [], "ndcg@2": []}
    nobody = evaluated(truths={"ann": set(), "bob": set()})
    assert "best" not in repr(tl.compare({"a": nobody, "b": nobody}))
    assert tl.compare({"a": nobody, "b": evaluated()}).best()["mrr@2"] == []


def test_many_columns_become_a_table_per_metric():
    results = {
        name: evaluated(ranks, k=[1, 2, 3, 4], metrics=["hit", "recall", "mrr", "cg", "f1"])
        for name, ranks in (("good", GOOD), ("poor", POOR))
    }
    blocks = repr(tl.compare(results)).split("\n\n")
    assert [block.split("  ")[0] for block in blocks[:-1]] == ["hit = recall = cg", "mrr", "f1"]
    assert [len(block.splitlines()) for block in blocks] == [3, 3, 3, 4]
    assert "no list has more than 2 items: k = 3 to 4 finds no more" in blocks[-1]
    assert {block.index("@1") for block in blocks[:-1]} == {blocks[0].index("@1")}
    assert blocks[0].splitlines()[0].split()[-4:] == ["@1", "@2", "@3", "@4"]
    assert tl.compare(results).to_latex().count(r"\begin{tabular}") == 3


def test_columns_are_one_only_where_all_systems_agree():
    """In one system hit is recall, in the other it is not."""
    more = {user: {*items, 77} for user, items in TRUTHS.items()}
    one_out, several = (
        evaluated(truths=some, metrics=["hit", "recall"]) for some in (TRUTHS, more)
    )
    assert "hit@2 = recall@2" in repr(tl.compare({"a": one_out, "b": one_out}))
    assert "=" not in repr(tl.compare({"a": one_out, "b": several})).splitlines()[0]


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
        [
            f"CONVENTIONS: {STANDARD}; b: convention neurec",
            f"POLICIES: a: {LEFT_OUT} without a list score 0; "
            "b: users without relevant items score 0; users without a list score 0",
            "FORMULAS: of map",
        ],
    ),
    (
        {"ranks": UNLISTED},
        {"ranks": UNLISTED, "missing": "skip"},
        [
            f"POLICIES: a: {LEFT_OUT} without a list score 0; "
            f"b: {LEFT_OUT} without a list are left out",
            WITHOUT_ONE,
        ],
    ),
    ({}, {"weights": [1, 2, 3]}, ["AVERAGES: a: mean over users; b: weighted mean over users"]),
    ({"k": [1, 2]}, {"k": 2}, ["METRICS OR K: a: mrr ndcg @1@2; b: mrr ndcg @2"]),
    (
        {"truths": GRADED},
        {"truths": GRADED, "relevant_from": 2},
        [f"CONVENTIONS: {STANDARD}; b: convention standard, relevant from grade 2"],
    ),
    (
        {},
        {"metrics": ["mrr", OWN]},
        [
            f"CONVENTIONS: {STANDARD}; b: convention standard (except ndcg: own definition)",
            "FORMULAS: of ndcg",
        ],
    ),
    ({}, {"truths": FEWER}, [WITHOUT_ONE]),
    ({"truths": FEWER}, {}, ["USERS: b is over 3, with 1 that are not in a"]),
    (
        {},
        {"truths": {**FEWER, "dan": {4}}},
        ["USERS: b is over 3, without 1 of the 3 of a and with 1 that are not in a"],
    ),
    (
        {},
        {"truths": {**TRUTHS, "ann": {2, 7}}},
        ["GROUND TRUTHS: 1 of 3 users have another number of relevant items in b than in a"],
    ),
    ({}, {"truths": dict(reversed(TRUTHS.items()))}, []),
    ({}, {"ranks": UNLISTED}, []),
]


@pytest.mark.parametrize(("first", "second", "lines"), DIFFERENT)
def test_what_differs_is_said(first, second, lines):
    assert said(evaluated(**first), evaluated(**second)) == [f"DIFFERENT {line}" for line in lines]


def test_what_differs_in_averages_and_metrics():
    pooled = evaluated(aggregate="pooled")
    assert said(evaluated(), pooled)[0].startswith("DIFFERENT AVERAGES: a: mean over users; b: ")
    comparison = tl.compare({"a": evaluated(metrics=["mrr"]), "b": evaluated(metrics=["hit"])})
    assert repr(comparison).splitlines()[:3] == [
        "    mrr@2   hit@2",
        "a  0.5000       -",
        "b       -  0.6667",
    ]


def test_results_without_hits_are_compared_by_number():
    bare, poor, fewer = (
        replace(one, hits=None, counted=None)
        for one in (evaluated(), evaluated(POOR), evaluated(truths={"ann": {2}}))
    )
    assert said(bare, fewer) == ["DIFFERENT USERS: a over 3, b over 1"]
    assert said(bare, poor) == []


def test_accounts_are_told_once_or_by_system():
    lines = repr(tl.compare({"a": evaluated(), "b": evaluated(UNLISTED)})).splitlines()
    assert lines[-2:] == [
        "a: 3 of 3 users evaluated",
        "b: 3 of 3 users evaluated, 1 without a list (counted as 0)",
    ]


def test_to_pandas(both):
    pytest.importorskip("pandas")
    frame = both.to_pandas()
    assert list(frame.columns) == ["system", "metric", "k", "mean", "std", "low", "high", "n"]
    assert frame["system"].tolist() == ["good", "good", "poor", "poor"]
    one = both.results["poor"].to_pandas()
    assert frame[2:].drop(columns="system").reset_index(drop=True).equals(one)
    frame = both.to_pandas(per_user=True)
    assert list(frame.columns) == ["system", "user_id", "mrr@2", "ndcg@2"]
    pairs = frame.pivot(index="user_id", columns="system", values="mrr@2")
    assert pairs.loc["ann"].to_dict() == {"good": 1.0, "poor": 0.5}


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ([1], TypeError, "dict of name -> result, not list"),
        ({}, ValueError, "empty"),
        ({"a": 1.0}, TypeError, "'a' is float"),
        ({(1,): evaluated()}, TypeError, "names are text or numbers"),
    ],
)
def test_what_is_not_a_dict_of_results(given, error, message):
    with pytest.raises(error, match=message):
        tl.compare(given)


def test_later_changes_of_the_dict_do_not_reach_it():
    given = {"a": evaluated()}
    comparison = tl.compare(given)
    given["b"] = evaluated(POOR)
    assert list(comparison.results) == ["a"]
    assert np.isclose(comparison.results["a"]["mrr@2"], 0.5)


def test_metrics_of_the_lists_stand_side_by_side_without_a_best():
    options = {"metrics": ["hit", "item_coverage"], "catalogue": 9}
    a = by_words({1: [5, 6], 2: [5, 6]}, {1: [5], 2: [5]}, 2, **options)
    b = by_words({1: [5, 6], 2: [7, 8]}, {1: [5], 2: [5]}, 2, **options)
    found = tl.compare({"a": a, "b": b})
    assert found.best()["hit@2"] == ["a"]
    assert found.best()["item_coverage@2"] == []
    assert "0.4444" in repr(found)
    assert "0.4444" in found.to_markdown()


def test_none_is_best_where_systems_are_not_comparable():
    both = tl.compare({"a": evaluated(), "b": evaluated(convention="trec_eval", metrics=["ndcg"])})
    assert both.differences
    assert not both.comparable
    assert not any(both.best().values())
    assert "*" not in repr(both)
    more = tl.compare({"a": evaluated(), "b": evaluated(k=[1, 2])})
    assert more.comparable
    assert more.best()["ndcg@2"] == ["a", "b"]


def test_no_best_where_one_systems_lists_end_before_k():
    truths = [{11}, {2}]
    short = tl.top_k_eval([[1, 2], [2, 3]], truths, k=[1, 20], metrics="recall")
    long = tl.top_k_eval([list(range(1, 31))] * 2, truths, k=[1, 20], metrics="recall")
    both = tl.compare({"short": short, "long": long})
    (line,) = both.differences
    assert line.kind == "lengths" and line.systems == ("short", "long")
    assert line.text.startswith(
        "LISTS OF DIFFERENT LENGTH: short at most 2, long at least 20: at k = 20 "
    )
    assert line.text in repr(both)
    assert both.best() == {"recall@1": ["short"], "recall@20": []}
    stream = replace(long, hits=None, counted=None)
    assert tl.compare({"short": short, "stream": stream}).differences == []
    equal = tl.compare({"a": short, "b": short})
    assert equal.differences == [] and equal.best()["recall@20"] == ["a", "b"]


def test_many_systems_over_other_users_are_one_line():
    truths = {user: [user % 5] for user in range(12)}
    slices = {
        f"to {n}": tl.top_k_eval(
            {user: [0, 1] for user in range(n)}, {user: truths[user] for user in range(n)}, 2
        )
        for n in range(1, 13)
    }
    lines = [line for line in str(tl.compare(slices)).split("\n") if "DIFFERENT" in line]
    assert len(lines) == 1
    assert lines[0].startswith("DIFFERENT USERS: to 2 is over 2, with 1 that are not in to 1")
    assert lines[0].endswith(", to 11, to 12")


def of_ranks(*ranks, **options):
    asked = {"k": 5, "metrics": "mrr", **options}
    return by_words(tl.Hits.from_ranks(list(ranks), 5), **asked)


def test_sort_puts_the_best_first():
    mrr = tl.METRICS["mrr"]
    worst = replace(mrr, name="worst", higher_is_better=False)
    some = {"b": (2, 0), 7: (1, 1), "a": (0, 2), 0.5: (4, 4), "c": (1, 0)}
    results = {name: of_ranks(*ranks, metrics=[mrr, worst]) for name, ranks in some.items()}
    results["none"] = of_ranks(1, 1, metrics=["hit"])
    results["nobody"] = tl.top_k_eval([[1]], [set()], k=5, metrics=[mrr, worst])
    many = tl.compare(results, baseline=7)
    last = ["none", "nobody"]
    assert many.sort("mrr@5").systems == ["7", "c", "b", "a", "0.5", *last]  # equal: as they were
    assert many.sort("worst@5").systems == ["b", "a", "0.5", "c", "7", *last]
    assert many.sort("RR@5") == many.sort("mrr@5") != many
    assert many.sort("mrr@5").baselines == ("7",)
    runs = {"x": [results["a"]] * 2, "y": [results["c"], results[7]], "z": [results["none"]] * 2}
    assert list(tl.compare(runs).sort("mrr@5").to_dict()) == ["y", "x", "z"]
    assert tl.compare(runs).sort("hit@5").systems == ["z", "x", "y"]


def test_sort_refuses_what_has_no_order():
    both = tl.compare(
        {
            name: evaluated(lists, metrics=["mrr", "novelty"], counts={1: 3, 2: 1, 3: 1, 5: 1})
            for name, lists in (("good", GOOD), ("poor", POOR))
        }
    )
    with pytest.raises(ValueError, match="'novelty@2': neither more nor less of it is better"):
        both.sort("novelty@2")
    with pytest.raises(ValueError, match="'mrr' is a whole curve: give one k, such as 'mrr@2'"):
        both.sort("mrr")
    with pytest.raises(KeyError, match="'hit@2': this result has mrr, novelty, without k or with"):
        both.sort("hit@2")


def test_numbers_are_names_of_systems():
    steps = tl.compare({np.int64(1000): evaluated(POOR), 2000: evaluated()}, baseline=[1000])
    assert steps.systems == ["1000", "2000"] and steps.baselines == ("1000",)
    assert tl.compare({0.1: evaluated()}).systems == ["0.1"]
    with pytest.raises(ValueError, match="two results are called '1'"):
        tl.compare({1: evaluated(), "1": evaluated()})
    for wrong in (None, True, (1,)):
        with pytest.raises(TypeError, match="names are text or numbers"):
            tl.compare({wrong: evaluated()})


def checkpoints(n, n_users=120):
    rng = np.random.default_rng(0)
    truths = {user: {user % 9} for user in range(n_users)}
    return {
        step: tl.top_k_eval(
            dict(zip(truths, rng.permuted([range(9)] * n_users, axis=1).tolist(), strict=True)),
            truths,
            k=[3, 5],
            metrics=["ndcg", "mrr", "hit", "average_popularity"],
            items=tl.Items(counts=dict.fromkeys(range(9), 2)),
        )
        for step in range(1000, 1000 * (n + 1), 1000)
    }


def test_the_best_of_many_is_said_to_be_that():
    words = "best of 10 on the same users: part of the lead is chance, .lead() and toplist compare"
    some = checkpoints(10)
    many = tl.compare(some)
    for output in (repr(many), many.to_html(), many.to_markdown()):
        assert words in output
    assert words not in repr(tl.compare(some, baseline=1000))  # tested, with p after Holm
    del some[1000]
    assert "best of 9" not in repr(tl.compare(some))
    assert not any("lead" in name for name in vars(many))  # nothing is drawn for it


def test_the_lead_of_the_best_says_what_chance_gives():
    many = tl.compare(checkpoints(12))
    found = many.lead("nDCG@3", seed=7)
    one = found.rows["ndcg@3"]
    values = [result.per_user("ndcg@3") for result in many.results.values()]
    assert found.systems[one.place] == many.best()["ndcg@3"][0]
    assert one.mean == pytest.approx(max(np.mean(some) for some in values))
    assert one.lead == pytest.approx(one.mean - np.mean(values))
    assert (one.n, one.n_systems) == (120, 12) and one.share == one.by_chance / one.lead
    label = f"{found.systems[one.place]} ndcg@3"
    cells = [f"{one.mean:.4f}", f"{one.mean_of_all:.4f}", f"{one.lead:+.4f}"]
    assert f"{label}  {'       '.join(cells[:2])}" in repr(found) and cells[2] in repr(found)
    assert "best of 12 systems on the same 120 users, chosen by the mean shown" in repr(found)
    assert "rough" not in repr(found)
    every = many.lead()  # not of average_popularity: neither direction is better
    assert list(every.rows) == ["ndcg@3", "ndcg@5", "mrr@3", "mrr@5", "hit@3", "hit@5"]
    assert many.lead("ndcg@3", n_threads=1, seed=7).rows == found.rows
    assert "rough: fewer than 50 users" in repr(tl.compare(checkpoints(2, 30)).lead("mrr@3"))
    pytest.importorskip("pandas")
    assert found.to_pandas().loc[0, "system"] == found.systems[one.place]


def test_the_lead_is_refused_where_it_says_nothing():
    some = checkpoints(2)
    with pytest.raises(ValueError, match="neither more nor less of it is better"):
        tl.compare(some).lead("average_popularity@3")
    with pytest.raises(ValueError, match="the lead of the best is of one result of each system"):
        tl.compare({"a": [*some.values()], "b": some[1000]}).lead("mrr@3")
    other = tl.compare({1: some[1000], 2: checkpoints(1, 99)[1000]})
    with pytest.raises(ValueError, match="count other users"):
        other.lead("mrr@3")
    assert other.lead("mrr@3", users="common").rows["mrr@3"].n == 99


def test_notes_about_many_systems_are_short():
    """Systems of one line share it; of many lines the first are there, and all warnings."""
    truths = {user: {user % 3} for user in range(30)}
    some = {}
    for step in range(40):
        lists = {user: [user % 3, 7, 8, 9][: 4 - step % 2] for user in truths if user >= step % 20}
        lists = {user: [5, 6] for user in truths} if step == 33 else lists
        some[step] = tl.top_k_eval(lists, truths, k=4, metrics="mrr")
    lines = repr(tl.compare(some)).splitlines()[41:]
    lengths, rules, *accounts = lines
    assert "0, 2, 4, 6 and 16 more at least 4, 1, 3, 5, 7 and 15 more at most 3, 33" in lengths
    assert rules == "convention standard: mean over users" and len(accounts) == 6
    assert accounts[:2] == [
        "0, 20: 30 of 30 users evaluated",
        "1, 21: 30 of 30 users evaluated, 1 without a list (counted as 0)",
    ]
    assert accounts[4].startswith("33: 30 of 30 users evaluated; NO HIT AT ALL")
    assert accounts[5] == "16 more lines like these, of other systems"
    few = repr(tl.compare({step: some[step] for step in (0, 1, 20)})).splitlines()
    assert few[-2].startswith("0, 20: ") and few[-1].startswith("1: ")


@pytest.fixture(scope="module")
def five_metrics():
    """Two systems of 60 users: each metric's p is low, and of all five together none is."""
    rng = np.random.default_rng(3)
    truth = {f"u{i}": {int(x) for x in rng.choice(30, 4, replace=False)} for i in range(60)}
    a = {user: rng.permutation(30)[:10].tolist() for user in truth}
    b = {
        user: sorted(row, key=lambda item: rng.random() - 0.14 * (item in truth[user]))
        for user, row in a.items()
    }
    metrics = ["ndcg", "mrr", "map", "recall", "precision"]
    systems = {"a": a, "b": b}
    return {name: tl.top_k_eval(one, truth, 5, metrics=metrics) for name, one in systems.items()}


@pytest.mark.parametrize("form", ["to_text", "to_html", "to_markdown", "to_latex"])
@pytest.mark.parametrize("baseline", ["a", None])
def test_what_is_shown_changes_nothing_that_is_tested(five_metrics, form, baseline):
    compared = tl.compare(five_metrics, baseline=baseline)
    alone, among = compared.test("mrr@5")[0], compared.test()["b", "a", "mrr@5"]
    assert alone.mark and not among.mark and among.p == alone.p
    shown = getattr(compared, form)(names="mrr@5")
    assert not any(mark in shown for mark in ("†", "‡", "dagger", "textbf"))
    if baseline or form == "to_latex":
        assert "5 comparisons" in shown or "5 differences" in shown
    assert "recall" not in shown


def test_what_is_shown_of_segments_changes_nothing_that_is_tested(five_metrics):
    split = tl.compare(five_metrics, baseline="a").by({f"u{i}": i % 2 for i in range(60)})
    text = split.to_text(names="mrr@5")
    assert "after Holm over 10 comparisons in 2 segments" in text and "recall" not in text


def test_a_name_that_is_equal_to_another_keeps_its_mark():
    """Of one relevant item, hit is recall: it is tested once, and marked wherever it is shown."""
    truth = {user: {user % 3} for user in range(60)}
    lists = {"a": {user: [7, user % 3] for user in truth}, "b": {u: [u % 3, 7] for u in truth}}
    results = {
        s: tl.top_k_eval(one, truth, 1, metrics=["hit", "recall"]) for s, one in lists.items()
    }
    compared = tl.compare(results, baseline="a")
    assert "1.0000‡" in compared.to_text(names="recall") and "1 comparison" in str(compared)
