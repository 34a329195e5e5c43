"""Metrics of hits by their definitions: what earns, what counts, what they are over; of one's own.

That every metric is the oracle's under all options and doors is in tests/properties and in
test_golden_judgements.py.
"""

import dataclasses
import random
import sys
import time

import cases
import numba
import numpy as np
import pytest
from differential import ANY, COUNTS, DISCOUNTS, agree, columns
from doors import by_words, curve
from file_helpers import sent
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import hits as oracle
from systems import RANKS, TRUTHS

import toplist as tl
from toplist import METRICS, Metric, top_k_eval
from toplist.kernels import join
from toplist.metrics.declared import Earned

GRADES = {"a": 1, "b": 0, "c": 2, "d": 0, "e": 1, "z": 1}
RUN = list("xabycde")
ERR_GRADES = {"a": 3, "b": 2, "c": 0, "d": 1}


def evaluated(metrics, ranks=RUN, truth=GRADES, k=3, **options):
    return by_words({"q": ranks}, {"q": truth}, k, metrics=metrics, **options)


def over(known, divisor, **changes):
    """Return a metric of the library with another divisor."""
    return dataclasses.replace(METRICS[known], divisor=divisor, **changes)


def squared(r):
    """rank squared"""
    return r * r


SQUARES = Metric("squares", "each", squared, lambda k, R, n: k + R, text="hits at 1 / rank^2")
SO_FAR = over("map", "hits", name="so_far")
GAIN = Metric("gain", "each", lambda r: r, "1", graded=True)
CUT = Metric("own", "each", "r", "hits", cut="R")

# By hand: metric, list, truth, the values at k = 1, 2, ...
BY_HAND = [
    # torchmetrics retrieval_average_precision(top_k=3): 1.0; PyG's LinkPredMAP: 0.5
    (SO_FAR, [1, 2, 3], {1, 9}, [1, 1, 1]),
    ("map", [1, 2, 3], {1, 9}, [1, 0.5, 0.5]),
    (SO_FAR, [1, 2, 3, 4], {1, 4}, [1, 1, 1, 0.75]),  # a hit more, and a lower value
    (SO_FAR, [1, 2], {9}, [0, 0]),
    # RecTools Precision(r_precision=True), BEIR R_cap, CalibratedRecallK of RecPack
    (over("recall", "min(k,R)"), [1, 5, 6, 2], {1, 2}, [1, 0.5, 0.5, 1]),
    ("judged", ["a", "b", "c"], {"a": 1, "b": 0, "z": 0}, [1, 1, 2 / 3]),
    ("err", list("abcd"), ERR_GRADES, [0.875, 0.8984375, 0.8984375, 0.90087890625]),
    ("nerr", list("abd"), ERR_GRADES, [1, 1, 1]),
    (SQUARES, [5, 7, 8], {7, 3, 5}, [1 / 4, (1 + 1 / 4) / 5, (1 + 1 / 4) / 6]),
    ("rbp(p=0.5)", [5, 7, 8], {7, 3, 5}, [0.5, 0.75, 0.75]),
    ("rbp", [5, 7, 8], {7, 3, 5}, [0.2, 0.36, 0.36]),
    (GAIN, [1, 2], {2: 3, 1: 1}, [1, 1 + 3 / 2]),
    (CUT, [1, 9, 8, 2], {1, 2}, [1, 1, 1, 1]),
]


@pytest.mark.parametrize(("metric", "ranked", "truth", "values"), BY_HAND)
def test_by_hand(metric, ranked, truth, values):
    found = top_k_eval([ranked], [truth], len(values), metrics=[metric])
    assert found.per_user(found.terms.names[0].partition("@")[0])[0].tolist() == pytest.approx(
        values
    )


# What a hit earns


@pytest.mark.parametrize("metric", ["err", "precision(rel=2)", "precision(rel=1)"])
def test_grades_with_one_gain_are_told_apart(metric):
    alike = evaluated(metric, k=7, gains={1: 1, 2: 1})
    assert alike[metric].tolist() == evaluated(metric, k=7)[metric].tolist()


def test_gains_of_each_grade():
    result = evaluated("ndcg", gains={1: 1, 2: 4})
    assert "gains 1 of grade 1, 4 of grade 2" in str(result)
    assert sent(result) == result.without_users()
    rules = tl.CONVENTIONS["standard"].replace(gains={1: 1, 2: 4})
    assert tl.match(RUN, GRADES, convention=rules).relevant.gains.tolist() == [1, 4, 1]


def test_the_largest_grade_is_needed_where_truths_come_in_parts():
    alone = [
        top_k_eval({user: ["a"]}, {user: {"a": grade}}, 4, metrics="err")
        for user, grade in (("q", 3), ("r", 1))
    ]
    with pytest.raises(ValueError, match="err is defined differently"):
        sum(alone)
    pa = pytest.importorskip("pyarrow")
    tables = (
        pa.table({"user_id": ["q"], "item_id": ["a"], "rank": [1]}),
        pa.table({"user_id": ["q"], "item_id": ["a"], "relevance": [3]}),
    )
    with pytest.raises(ValueError, match=r"come in parts need .* 'err\(max=4\)'"):
        top_k_eval(*(t.to_reader() for t in tables), 4, metrics="err")
    found = top_k_eval(*(t.to_reader() for t in tables), 4, metrics="err(max=4)")
    assert found["err(max=4)@4"] == 7 / 16


def test_what_truths_lack_is_seen_over_all_parts_of_a_stream(monkeypatch):
    pa = pytest.importorskip("pyarrow")
    monkeypatch.setattr("toplist.files.batches.LEAST", 4)
    users = [f"u{n}" for n in range(40)]
    recs = pa.table({"user_id": users, "item_id": ["a"] * 40, "rank": [1] * 40})

    def in_batches(last, metric):
        grades = [1] * 39 + [last]
        truth = pa.table({"user_id": users, "item_id": ["a"] * 40, "relevance": grades})
        return top_k_eval(*(one.to_reader(3) for one in (recs, truth)), [1], metrics=metric)

    assert in_batches(0, "bpref")["bpref"] == 1
    assert in_batches(2, "hit(rel=2)").n_of("hit(rel=2)@1") == 1
    with pytest.raises(ValueError, match="bpref needs judged items that are not relevant"):
        in_batches(1, "bpref")
    with pytest.raises(ValueError, match="no ground truth has a grade of 2 or more"):
        in_batches(1, "hit(rel=2)")


def test_bpref_is_of_the_whole_list():
    """The longest lists of systems and parts differ; holes have no part."""
    assert evaluated("bpref", [*RUN, "w", "v"])["bpref"] == 0.375
    lists = {"q": ["a", "x"], "r": ["b", "c", "d", "y"]}
    truth = {"q": {"a": 1, "x": 0}, "r": {"y": 1, "b": 0, "c": 0}}
    whole = top_k_eval(lists, truth, 2, metrics=["bpref", "mrr"])
    parts = [top_k_eval({u: lists[u]}, {u: truth[u]}, 2, metrics=["bpref", "mrr"]) for u in lists]
    assert [part.terms.longest for part in parts] == [2, 4]
    merged = sum(parts)
    assert merged["bpref"] == whole["bpref"] == 0.5 and merged.names() == whole.names()
    short = top_k_eval({u: row[:2] for u, row in lists.items()}, truth, 2, metrics="bpref")
    both = tl.compare({"long": whole, "short": short})
    assert both.test("bpref").to_dict()[0]["difference"] == short["bpref"] - whole["bpref"] == 0
    assert "DIFFERENT METRICS" not in str(tl.compare({"a": whole, "b": merged}))
    with pytest.raises(KeyError, match="bpref@3"):
        whole["bpref@3"]
    plots = pytest.importorskip("matplotlib") and tl.plots
    assert len(plots.curves(whole).lines) == 1
    with pytest.raises(ValueError, match="'bpref' is of the whole list: it has no k, and no curve"):
        plots.curves(whole, "bpref")


# R, ranks of the hits, the interpolated precision of pytrec_eval-terrier 0.5.11, and that where
# recall times R is rounded up: .7 of 3 is 2.1, and .7 * 3 + .9 is 2.9999999999999996
LEVELS = [
    (3, [1, 2], 0.7, 1.0, 0.0),
    (3, [1, 2, 9], 0.7, 1.0, 1 / 3),
    (3, [1, 4, 9], 0.6, 0.5, 0.5),
    (23, [*range(1, 17)], 0.7, 1.0, 0.0),
    (33, [*range(2, 25)], 0.7, 23 / 24, 0.0),
    (33, [*range(2, 25)], 0.6, 23 / 24, 23 / 24),
    (2, [1, 4], 1, 0.5, 0.5),
    (2, [3], 0, 1 / 3, 1 / 3),
]


@pytest.mark.parametrize(("R", "ranks", "recall", "theirs", "exact"), LEVELS)
def test_the_level_of_recall_under_trec_eval_is_its_own(R, ranks, recall, theirs, exact):
    truth = {f"hit{rank}": 1 for rank in ranks} | {f"left{i}": 1 for i in range(R - len(ranks))}
    lists = [f"hit{i}" if i in ranks else f"miss{i}" for i in range(1, 31)]
    for convention, expected in (("trec_eval", theirs), ("standard", exact)):
        found = evaluated([f"iprec(recall={recall})"], lists, truth, 30, convention=convention)
        assert float(found) == pytest.approx(expected, abs=1e-15), convention


def test_rel_is_of_one_metric_alone():
    found = evaluated(["precision", "P(rel=2)@5", "recall(rel=0)", "rbp(p=0.5,rel=2)@5"])
    assert list(found) == pytest.approx([1 / 3, 1 / 5, 2 / 6, 0.5**5])  # 0: all that was judged
    only_two = {item: grade for item, grade in GRADES.items() if grade >= 2}
    expected = evaluated("ndcg", truth=only_two, k=5)["ndcg"]
    assert evaluated("ndcg(rel=2)", k=5)["ndcg(rel=2)"].tolist() == expected.tolist()
    truths = {"q": GRADES, "r": {"a": 1}}
    two = top_k_eval({"q": RUN, "r": ["a"]}, truths, 5, metrics=["mrr", "mrr(rel=2)"])
    assert (two.n_of("mrr@5"), two.n_of("mrr(rel=2)@5")) == (2, 1)  # r has none of grade 2
    assert "mrr(rel=2): over 1, those with items of grade 2 or more" in str(two)
    assert np.isnan(two.per_user("mrr(rel=2)@5")).tolist() == [False, True]


# Groups


def test_grades_are_no_groups_and_groups_have_no_grades():
    truth = {"q": {"a": 3, "b": 1, "c": 0}}
    found = top_k_eval({"q": ["c", "b", "x"]}, truth, 3, metrics=["group_recall", "alpha_ndcg"])
    assert found["group_recall@3"] == 0.5
    assert found["alpha_ndcg@3"] == tl.ndcg(["c", "b", "x"], {"a", "b"})[2]
    of_groups = tl.Groups({"q": [["a"], ["b", "c"]]})
    for metric in ("bpref", "precision(rel=2)"):
        with pytest.raises(ValueError, match="reads grades, and ground truths of groups have none"):
            top_k_eval({"q": ["u", "a"]}, of_groups, 2, metrics=metric)
    for metric in ("complete", "alpha_ndcg", "group_recall", "recall"):
        result = top_k_eval({"q": ["u", "a"]}, of_groups, 2, metrics=metric)
        assert "gain = grade" not in str(result)
        with pytest.raises(ValueError, match="ground truths of groups have no bounds"):
            result.bounds(f"{metric}@2")


def test_ties_of_the_ideal_go_to_the_highest_id():
    """Items 2 and 10 are worth 1 at first, and 10 leaves more: by text "2" would come first."""
    groups = [{2, 3}, {10, 3}, {2, 5}]
    gains = tl.match([[3]], tl.Groups([groups])).relevant.novelty(0.5).ideal_gains
    above = []
    for item, gain in zip(oracle.greedy(groups, 0.5), gains, strict=True):
        assert gain == oracle.novelty(item, groups, above, 0.5)
        above.append(item)


def test_groups_of_parts_subsets_and_by_position():
    rng = random.Random(0)
    lists = {f"u{u}": [f"i{i}" for i in rng.sample(range(40), 12)] for u in range(20)}
    truth = {
        user: [[f"i{i}" for i in rng.sample(range(40), rng.randint(1, 5))] for _ in range(u % 6)]
        for u, user in enumerate(lists)
    }
    ranks, groups = list(lists.values()), list(truth.values())
    one = top_k_eval(ranks, tl.Groups(groups), 5)
    with pytest.raises(ValueError, match="the same ground truths"):
        one + top_k_eval(ranks, tl.Groups([some[::-1] for some in groups]), 5)
    plain = top_k_eval(ranks, [set().union(*some) for some in groups], 5)
    with pytest.raises(ValueError, match="of groups and of plain ones do not merge"):
        one + plain
    hits, rows = tl.match(lists, tl.Groups(truth)), np.array([7, 3, 12])
    for name in ("alpha_ndcg", "group_recall"):
        found = tl.curves(name, hits.subset(rows))
        assert np.array_equal(found, tl.curves(name, hits)[rows], equal_nan=True)
    at_four = hits.relevant.groups
    at_four = at_four.ranks[at_four.ranks <= 4]
    assert hits.relevant.down_to(np.full(20, 4)).groups.ranks.tolist() == at_four.tolist()


@pytest.mark.parametrize("shape", ["many groups", "one group", "all in all"])
def test_a_huge_truth_takes_no_time(shape):
    """20,000 ids in 5,000 groups, in one, or 2,000 that are each in the same 50."""
    ids = np.random.default_rng(0).permutation(20_000).tolist()
    groups = {
        "many groups": [ids[at : at + 5] for at in range(0, 19_996, 4)],
        "one group": [ids],
        "all in all": [ids[:2_000]] * 50,
    }[shape]
    tl.curves("alpha_ndcg", [[0]], tl.Groups([[[0, 1]]]))  # compiled
    start = time.process_time()
    value = tl.curves("alpha_ndcg", [ids[:100]], tl.Groups([groups]))[0, -1]
    assert 0 < value <= 1.01
    assert time.process_time() - start < 2  # 0.1 on an idle machine


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="means that are sums of floats follow the order of the users, which sources differ in",
)
def test_the_order_of_users_changes_no_bit_of_a_mean():
    rng = np.random.default_rng(3)
    lists = {user: rng.permutation(12)[:6].tolist() for user in range(50)}
    groups = {user: [rng.permutation(12)[:2].tolist() for _ in range(3)] for user in lists}
    orders = [[*groups], [*groups][::-1], rng.permutation(50).tolist()]
    found = {
        top_k_eval(
            lists, tl.Groups({user: groups[user] for user in order}), 5, metrics="alpha_ndcg"
        )["alpha_ndcg@5"]
        for order in orders
    }
    assert len(found) == 1


# What is counted, and what the sum is over


@pytest.mark.parametrize("divisor", ["1", "R", "k", "hits"])
@settings(max_examples=8)
@given(ANY, st.integers(1, 15), st.sampled_from(sorted(COUNTS)), st.sampled_from(sorted(DISCOUNTS)))
def test_any_metric_may_be_cut_at_r(divisor, population, k, counts, discount):
    metric = Metric("own", counts, discount, divisor, cut="R")

    def twin(ranked, relevant, k):
        ranks = oracle.hit_ranks(ranked, relevant, min(k, len(relevant)))
        total = sum(COUNTS[counts](j) / DISCOUNTS[discount](r) for j, r in enumerate(ranks, 1))
        last = min(k, len(relevant)) if divisor == "hits" else k
        return oracle.ratio(total, oracle.divisor_of(divisor, ranked, relevant, last))

    policies = {"empty": "zero", "missing": "zero"}
    options = {"metrics": metric, "duplicates": "first"} | policies
    expected = [oracle.evaluate(*population, one, twin, **policies) for one in range(1, k + 1)]
    result = by_words(*population, k, **options)
    agree(result["own"], [one.mean for one in expected], "mean")
    agree(result.std("own"), [one.std for one in expected], "std")
    agree(result.per_user("own"), columns(expected), "per user")
    if len(population[0]) > 1:
        parts = [[side[:1] for side in population], [side[1:] for side in population]]
        results = [by_words(*part, k, **options) for part in parts]
        agree(tl.merge(results, disjoint=True)["own"], result["own"], "merged")


def test_ratios_of_sums_and_one_user():
    pooled = tl.CONVENTIONS["standard"].replace(aggregate="pooled")
    sides = [[1, 2, 3], [5, 6, 7]], [{1, 3}, {6}]
    result = top_k_eval(*sides, 3, metrics=SO_FAR, convention=pooled)
    assert result["so_far@3"] == pytest.approx((1 + 2 / 3 + 1 / 2) / 3)
    for counts, value in (("each", 1), ("first", 1 / 3)):
        own = Metric("own", counts, "1", "ideal(min(k,R))", graded=True)
        for rules in ("standard", pooled):
            found = top_k_eval([[1, 2, 3]], [{1: 1, 2: 2}], 2, metrics=[own], convention=rules)
            assert found["own@2"] == value


@pytest.mark.parametrize("grade", [0, 1, 5])
def test_gains_of_judged_items_are_those_of_the_user(grade):
    gain = Metric("gain", "each", "1", "1", graded=True, of="judged")
    truths = {"ann": {1: 3, 3: 0}, "bob": {2: grade}}
    result = top_k_eval({"ann": [1], "bob": [2]}, truths, 1, metrics=[gain])
    assert result.per_user("gain@1").tolist() == [3, grade]


TREC = cases.FOLDER.parent / "data" / "trec_eval"


@pytest.mark.skipif(not TREC.exists(), reason="no trec_eval files beside the repository")
def test_judged_is_what_trec_eval_does_not_call_unjudged():
    rows = [line.split() for line in (TREC / "out.test.aq").read_text().splitlines()]
    figures = {(name, query): figure for name, query, figure in rows if name.startswith("unj")}
    assert len(figures) == 12
    files = TREC / "results.test", TREC / "qrels.test", [5, 10, 20]
    options = {"metrics": "judged", "convention": "trec_eval", "keep": "users"}
    result = by_words(*files, ranks_format="trec", ground_truths_format="trec", **options)
    for k in result.ks:
        found = dict(zip(result.users, result.per_user(f"judged@{k}"), strict=True))
        found["all"] = result[f"judged@{k}"]
        for query, judged in found.items():
            assert f"{1 - judged:.4f}" == figures[f"unj_{k}", query]


# Metrics of one's own


def test_a_metric_of_ones_own_can_earn():
    def halved(hits):
        """1 for the first hit, half of that for each next"""
        j = np.arange(len(hits.ranks)) - np.repeat(hits.offsets[:-1], np.diff(hits.offsets))
        return 0.5**j

    own = Metric("halved", halved, "1", "1")
    found = evaluated([own, "hit"], k=7)
    assert found["halved"].tolist() == [0, 1, 1, 1, 1.5, 1.5, 1.75]
    assert "halved@k = sum over r_j <= k of 1 for the first hit" in found.formula("halved")
    parts = [top_k_eval({u: RUN}, {u: GRADES}, 7, metrics=own) for u in "qr"]
    assert sum(parts)["halved@7"] == 1.75 and found.per_user("halved@5").tolist() == [1.5]
    earned = Earned("g", lambda hits: (halved(hits), np.ones(4)))
    ideal = dataclasses.replace(own, counts=earned, divisor="ideal(R)")
    assert evaluated(ideal, k=7)["halved@7"] == 1.75 / 4
    with pytest.raises(ValueError, match=r"of shape \(2,\): one number for each of 3 hits"):
        evaluated(Metric("bad", lambda hits: np.ones(2), "1", "1"), k=7)
    with pytest.raises(ValueError, match="metric 'halved'/counts is .* no function of your own"):
        sent(found)


def test_a_divisor_may_be_zero_where_no_hit_is_possible():
    smallest = Metric("smallest", "each", "1", lambda k, R, n: np.minimum(R, n))
    sides = [[1], [], [1]], [{1}, {1}, set()]
    result = by_words(*sides, k=1, metrics=[smallest], empty="zero")
    assert result.per_user("smallest@1").tolist() == [1.0, 0.0, 0.0]
    bad = Metric("bad", "each", lambda r: 3 - r, "1")
    assert top_k_eval(RANKS, TRUTHS, k=2, metrics=[bad])["bad@2"] > 0  # it is 0 at rank 3


def compiled():
    """Count the compiled signatures of all kernels."""
    modules = [sys.modules[name] for name in sys.modules if name.startswith("toplist.kernels.")]
    kernels = {id(found): found for module in modules for found in vars(module).values()}.values()
    dispatchers = [getattr(kernel, "compiled", kernel) for kernel in kernels]
    return sum(len(one.signatures) for one in dispatchers if hasattr(one, "signatures"))


def evaluate_graded(metrics):
    for truths in ([{**dict.fromkeys(t, 1), -1: 0} for t in TRUTHS], [{7: 2, 3: 1}, {4: 3, 5: 0}]):
        result = top_k_eval(RANKS, truths, k=3, metrics=metrics)
        for name in result.terms.metrics:
            result.per_user(name)
            result.per_user(f"{name}@{result.terms.ks_of[name][-1]}")


def test_own_metrics_compile_nothing(monkeypatch):
    evaluate_graded(METRICS)
    before = compiled()
    assert before >= 5
    evaluate_graded(
        [
            Metric(f"{counts}{graded:d}", counts, squared, divisor, graded=graded)
            for counts in ("each", "nth", "first")
            for graded in (False, True)
            for divisor in [lambda k, R, n: 1.5 * k + n]
        ]
    )
    evaluate_graded(["rbp(p=0.5)"])
    assert compiled() == before
    extra = numba.njit(lambda x: x)  # the count can rise
    monkeypatch.setattr(join, "extra", extra, raising=False)
    extra(1)
    assert compiled() == before + 1


# Words


FIRST = Metric("own", "first", "1", "ideal(min(k,R))", graded=True)
FORMULAS = [
    (SO_FAR, "text", "so_far@k = sum over r_j <= k of j / r_j, divided by the number of hits with"),
    (SO_FAR, "latex", r"\left|\{j : r_j \le k\}\right|"),
    ("r_precision", "text", "r_precision@k = sum over r_j <= min(k,R) of 1, divided by R\n"),
    ("r_precision", "latex", r"r_j \le \min(k, R)"),
    ("mrr(rel=2)", "text", "sum over r_j <= k of [j = 1] / r_j (relevant: from grade 2 on)"),
    ("alpha_ndcg", "latex", r"\mathrm{alpha\_ndcg}@k = \frac{\sum_{j : r_j \le k}"),
    ("alpha_ndcg(alpha=0.3)", "text", "0.7^m"),
    ("alpha_ndcg(alpha=0.3)", "latex", "0.7^{m_g}"),
    ("group_recall", "text", "hits: groups, R of them"),
    ("group_recall", "latex", r"\mathrm{group\_recall}"),
    ("judged", "text", "users without a judgement are left out"),
    ("rbp(p=0.5)", "text", "0.5"),
    (FIRST, "text", "divided by the sum of gain_j over hits at all ranks up to min(k,R)"),
    (CUT, "text", "over r_j <= min(k,R) of 1 / r_j, divided by the number of hits with r_j <= min"),
    (CUT, "latex", r"r_j \le \min(k, R)\}\right|"),
]


@pytest.mark.parametrize(("metric", "style", "words"), FORMULAS)
def test_formulas(metric, style, words):
    found = evaluated([metric]).formula(getattr(metric, "name", metric), style)
    assert words in found and r"\nl" not in found


@pytest.mark.parametrize(
    ("convention", "words", "latex"),
    [
        ("trec_eval", "int(0.5 R + .9)", r"\lfloor 0.5 R + 0.9 \rfloor"),
        ("standard", "ceil(0.5 R)", r"\lceil 0.5 R \rceil"),
    ],
)
def test_the_formula_of_a_level_of_recall_says_which_hit_reaches_it(convention, words, latex, good):
    result = evaluated(["iprec(recall=0.5)", "iprec"], convention=convention)
    assert f"[j >= {words}]" in result.formula("iprec(recall=0.5)")
    assert latex in result.formula("iprec(recall=0.5)", "latex")
    assert "own definition" not in str(result)
    again = sent(result)
    assert again == result.without_users() and again.formula("iprec") == result.formula("iprec")
    assert words in good("metrics", "iprec(recall=0.5)", "--convention", convention)


def test_what_is_equal_is_said():
    result = top_k_eval([[1, 2], [3, 4]], [{2}, {9}], 2, metrics=[SO_FAR, "mrr"])
    assert "so_far = mrr" in str(result)
    both = over("recall", "hits", name="found"), over("recall", "min(k,n,R)", name="capped")
    for how in ("mean", "pooled"):  # who has no hit is not in the divisor of a ratio of sums
        result = by_words([[1, 2], [3, 4]], [{2}, {9}], 2, metrics=list(both), aggregate=how)
        assert ("found = capped" in str(result)) is (how == "mean")
    result = top_k_eval([[1, 2]], [{1}], 2, metrics=["r_precision", "recall", "hit"])
    assert "r_precision = " not in str(result)  # one relevant item, and another cut
    same = over("recall", "R", name="same", cut="R")
    both = top_k_eval([[1, 2, 3]] * 2, [{1, 3}] * 2, 2, metrics=["r_precision", same])
    assert "r_precision = same" in str(both)
    assert curve("judged", {"a": [1]}, {"a": {1: 0}}, empty="zero").tolist() == [[1]]
