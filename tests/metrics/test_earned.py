"""Metrics whose hits earn what others leave: err, bpref, iprec, complete; rel= and gains=."""

import re
from dataclasses import replace

import numpy as np
import pytest
from doors import by_words
from file_helpers import sent

import toplist as tl
from toplist.cli import main
from toplist.files import batches
from toplist.metrics.definitions import Earned

GRADES = {"a": 1, "b": 0, "c": 2, "d": 0, "e": 1, "z": 1}
RUN = list("xabycde")
ERR_GRADES = {"a": 3, "b": 2, "c": 0, "d": 1}


def evaluated(metrics, ranks=RUN, truth=GRADES, k=3, **options):
    return by_words({"q": ranks}, {"q": truth}, k, metrics=metrics, **options)


def test_err_of_the_test_of_elasticsearch():
    found = tl.curves("err", list("abcd"), ERR_GRADES)
    assert found[2:].tolist() == [0.8984375, 0.90087890625]
    stated = evaluated("err(max=3)", list("abcd"), ERR_GRADES, 4)
    assert stated["err(max=3)@4"] == 0.90087890625
    assert evaluated("err(max=4)", list("abcd"), ERR_GRADES, 4)["err(max=4)@4"] < 0.9
    ideal = tl.curves("err", list("abdc"), ERR_GRADES)
    np.testing.assert_allclose(
        tl.curves("nerr", list("abcd"), ERR_GRADES), found / ideal, rtol=1e-15
    )
    assert tl.curves("nerr", list("abd"), ERR_GRADES).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "gains", ["linear", "exponential", {1: 1, 2: 4, 3: 9}, {3: 1, 2: 0.5, 1: 0.2}]
)
def test_err_reads_grades_whatever_they_gain(gains):
    same = evaluated(["err", "nerr"], list("abcd"), ERR_GRADES, 4, gains=gains)
    np.testing.assert_allclose(same["err"][3], 0.90087890625, rtol=1e-14)
    assert "err: largest grade 3" in str(same)


def test_the_largest_grade_is_needed_where_truths_come_in_parts():
    parts = [evaluated("err(max=3)", list("abcd"), ERR_GRADES, 4)]
    parts += [tl.top_k_eval({"r": ["a"]}, {"r": {"a": 1}}, 4, metrics="err(max=3)")]
    whole = tl.top_k_eval(
        {"q": list("abcd"), "r": ["a"]}, {"q": ERR_GRADES, "r": {"a": 1}}, 4, metrics=["err(max=3)"]
    )
    assert sum(parts)["err(max=3)@4"] == pytest.approx(whole["err(max=3)@4"], rel=1e-15)
    alone = [
        tl.top_k_eval({user: ["a"]}, {user: {"a": grade}}, 4, metrics="err")
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
        tl.top_k_eval(*(t.to_reader() for t in tables), 4, metrics="err")
    found = tl.top_k_eval(*(t.to_reader() for t in tables), 4, metrics="err(max=4)")
    assert found["err(max=4)@4"] == 7 / 16


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("err(max=1)", "a ground truth has grade 2, above max=1: write 'err\\(max=2\\)'"),
        ("err(max=0)", "'err': max must be a grade above 0"),
        ("iprec(recall=2)", "'iprec': recall must be from 0 to 1, not 2"),
        ("bpref@10", "bpref has no k, it is of the whole list: 'bpref'"),
        ("precision(rel=3)", "no ground truth has a grade of 3 or more, the largest is 2"),
        ("precision(rel=-1)", "rel must be a grade, 0 or more"),
        ("precision(rel=2,rel=1)", "rel is given twice"),
        ("rbp(q=2)", "'rbp' takes p, rel, not q"),
    ],
)
def test_what_is_refused(metric, words):
    with pytest.raises(ValueError, match=words):
        evaluated(metric)


def test_bpref_of_the_table_and_of_sets():
    found = evaluated(["bpref", "map"], convention="trec_eval")
    assert found["bpref"] == 0.375 and found["map@3"] < 0.34
    assert found.names() == ["bpref@7", "map@3"] and found.to_dict()["bpref@7"] == 0.375
    assert evaluated("bpref", [*RUN, "w", "v"])["bpref"] == 0.375  # holes have no part
    with pytest.raises(ValueError, match="bpref needs judged items .* grade 0"):
        tl.top_k_eval([[1, 2]], [{2}], metrics="bpref")
    with pytest.raises(KeyError, match="bpref@3"):
        found["bpref@3"]


def test_rel_is_of_one_metric_alone():
    found = evaluated(
        ["precision", "precision(rel=2)", "P(rel=2)@5", "recall(rel=0)", "ndcg(rel=2)"]
    )
    assert found["precision@3"] == pytest.approx(1 / 3) and found["precision(rel=2)@3"] == 0
    assert found["precision(rel=2)@5"] == 0.2
    assert found["recall(rel=0)@3"] == pytest.approx(2 / 6)  # all that was judged
    only_two = {item: grade for item, grade in GRADES.items() if grade >= 2}
    assert found["ndcg(rel=2)"].tolist() == evaluated("ndcg", truth=only_two, k=5)["ndcg"].tolist()
    two = tl.top_k_eval(
        {"q": RUN, "r": ["a"]}, {"q": GRADES, "r": {"a": 1}}, 5, metrics=["mrr", "mrr(rel=2)"]
    )
    assert (two.n_of("mrr@5"), two.n_of("mrr(rel=2)@5")) == (2, 1)  # r has none of grade 2
    assert "mrr(rel=2): over 1, those with items of grade 2 or more" in str(two)
    assert np.isnan(two.per_user("mrr(rel=2)@5")).tolist() == [False, True]
    assert two.formula("mrr(rel=2)").startswith(
        "mrr(rel=2)@k = sum over r_j <= k of [j = 1] / r_j (relevant: from grade 2 on)"
    )
    assert evaluated("rbp(p=0.5,rel=2)", k=5)["rbp(p=0.5,rel=2)@5"] == 0.5**5


def test_gains_of_each_grade():
    table = {1: 1, 2: 4}
    mapped = {item: table.get(grade, 0) for item, grade in GRADES.items()}
    for metric in ("ndcg", "dcg", "cg"):
        found = evaluated(metric, gains=table, k=7)[metric]
        assert found.tolist() == evaluated(metric, truth=mapped, k=7)[metric].tolist()
    result = evaluated("ndcg", gains=table)
    assert "gains 1 of grade 1, 4 of grade 2" in str(result)
    assert sent(result) == result.without_users()
    assert tl.match(
        RUN, GRADES, convention=tl.CONVENTIONS["standard"].replace(gains=table)
    ).relevant.gains.tolist() == [1, 4, 1]


@pytest.mark.parametrize(
    ("gains", "words"),
    [
        ({1: 1}, "user 'q', item 'c': grade 2 has no gain; add it, gains={2: ...}"),
        ({1: 2, 2: 1}, "a higher grade must not have a lower gain"),
        ({}, "give 'linear', 'exponential', or {grade: gain}"),
        ({1: "a"}, "give 'linear', 'exponential', or {grade: gain}"),
        ({1: -1}, "grades and gains are 0 or more, and finite"),
        ("cubic", "gains='cubic': choose from 'linear', 'exponential'"),
        (3, "gains=3: choose from 'linear', 'exponential'"),
    ],
)
def test_gains_that_cannot_be(gains, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        evaluated("ndcg", gains=gains)


@pytest.mark.parametrize("metric", ["err", "precision(rel=2)", "precision(rel=1)"])
def test_grades_with_one_gain_are_told_apart(metric):
    alike = evaluated(metric, k=7, gains={1: 1, 2: 1})
    assert alike[metric].tolist() == evaluated(metric, k=7)[metric].tolist()


def test_complete_is_a_proportion():
    lists, truths = [[1, 2, 3]] * 4, [{1}, {1, 2}, {1, 2, 3}, {1, 9}]
    found = tl.top_k_eval(lists, truths, 3, metrics="complete")
    assert found["complete"].tolist() == [0.25, 0.5, 0.75]
    assert "Wilson" in str(found)
    assert found.interval("complete@3")[1] < 1
    alone = tl.top_k_eval([[1], [2]], [{1}, {3}], 1, metrics=["complete", "hit"])
    assert alone["complete@1"] == alone["hit@1"]


def test_a_metric_of_ones_own_can_earn_so():
    def halved(hits):
        """1 for the first hit, half of that for each next"""
        j = np.arange(len(hits.ranks)) - np.repeat(hits.offsets[:-1], np.diff(hits.offsets))
        return 0.5**j

    own = tl.Metric("halved", halved, "1", "1")
    found = evaluated([own, "hit"], k=7)
    assert found["halved"].tolist() == [0, 1, 1, 1, 1.5, 1.5, 1.75]
    assert "halved@k = sum over r_j <= k of 1 for the first hit" in found.formula("halved")
    parts = [tl.top_k_eval({u: RUN}, {u: GRADES}, 7, metrics=own) for u in "qr"]
    assert sum(parts)["halved@7"] == 1.75 and found.per_user("halved@5").tolist() == [1.5]
    ideal = replace(
        own, counts=Earned("g", lambda hits: (halved(hits), np.ones(4))), divisor="ideal(R)"
    )
    assert evaluated(ideal, k=7)["halved@7"] == 1.75 / 4
    with pytest.raises(ValueError, match=r"of shape \(2,\): one number for each of 3 hits"):
        evaluated(tl.Metric("bad", lambda hits: np.ones(2), "1", "1"), k=7)
    with pytest.raises(ValueError, match="metric 'halved'/counts is .* no function of your own"):
        sent(found)


def test_what_truths_lack_is_seen_over_all_parts_of_a_stream(monkeypatch):
    pa = pytest.importorskip("pyarrow")
    monkeypatch.setattr(batches, "LEAST", 4)
    users = [f"u{n}" for n in range(40)]
    recs = pa.table({"user_id": users, "item_id": ["a"] * 40, "rank": [1] * 40})

    def evaluated_in_batches(last, metric):
        grades = [1] * 39 + [last]
        truth = pa.table({"user_id": users, "item_id": ["a"] * 40, "relevance": grades})
        sides = (table.to_reader(3) for table in (recs, truth))
        return tl.top_k_eval(*sides, [1], metrics=metric)

    assert evaluated_in_batches(0, "bpref")["bpref"] == 1
    assert evaluated_in_batches(2, "hit(rel=2)").n_of("hit(rel=2)@1") == 1
    with pytest.raises(ValueError, match="bpref needs judged items that are not relevant"):
        evaluated_in_batches(1, "bpref")
    with pytest.raises(ValueError, match="no ground truth has a grade of 2 or more"):
        evaluated_in_batches(1, "hit(rel=2)")


def test_the_whole_list_is_one_k_for_all_results():
    """The longest lists of systems and parts differ."""
    lists = {"q": ["a", "x"], "r": ["b", "c", "d", "y"]}
    truth = {"q": {"a": 1, "x": 0}, "r": {"y": 1, "b": 0, "c": 0}}
    whole = tl.top_k_eval(lists, truth, 2, metrics=["bpref", "mrr"])
    parts = [
        tl.top_k_eval({u: lists[u]}, {u: truth[u]}, 2, metrics=["bpref", "mrr"]) for u in lists
    ]
    assert [part.terms.longest for part in parts] == [2, 4]
    merged = sum(parts)
    assert merged["bpref"] == whole["bpref"] == 0.5 and merged.names() == whole.names()
    short = tl.top_k_eval({u: row[:2] for u, row in lists.items()}, truth, 2, metrics="bpref")
    both = tl.compare({"long": whole, "short": short})
    assert both.test("bpref").to_dict()[0]["difference"] == short["bpref"] - whole["bpref"] == 0
    assert "DIFFERENT METRICS" not in str(tl.compare({"a": whole, "b": merged}))


def test_bpref_beside_metrics_with_a_k_on_the_command_line(tmp_path, capsys):
    (tmp_path / "r.csv").write_text("user_id,item_id,rank\nq,a,1\nq,b,2\n")
    (tmp_path / "t.csv").write_text("user_id,item_id,relevance\nq,b,1\nq,a,0\n")
    files = [str(tmp_path / "r.csv"), str(tmp_path / "t.csv")]
    assert main(["eval", *files, "-m", "bpref", "ndcg@2"]) == 0
    out = capsys.readouterr().out
    assert "bpref" in out and "@1 " not in out


def test_groups_have_no_grades_and_no_bounds():
    truth = tl.Groups({"q": [["a"], ["b", "c"]]})
    for metric in ("bpref", "precision(rel=2)"):
        with pytest.raises(ValueError, match="reads grades, and ground truths of groups have none"):
            tl.top_k_eval({"q": ["u", "a"]}, truth, 2, metrics=metric)
    for metric in ("complete", "alpha_ndcg", "group_recall", "recall"):
        result = tl.top_k_eval({"q": ["u", "a"]}, truth, 2, metrics=metric)
        with pytest.raises(ValueError, match="ground truths of groups have no bounds"):
            result.bounds(f"{metric}@2")
    with pytest.raises(ValueError, match="duplicates='collapse': choose from 'raise', 'first'"):
        tl.annotating.unjudged({"s": {"q": ["a", "a"]}}, {"q": {"z"}}, 3, duplicates="collapse")


def test_what_has_no_curve_is_not_drawn():
    plots = pytest.importorskip("matplotlib") and tl.plots
    result = evaluated(["bpref", "mrr"])
    assert len(plots.curves(result).lines) == 1
    with pytest.raises(ValueError, match="'bpref' is of the whole list: it has no k, and no curve"):
        plots.curves(result, "bpref")


def test_formulas_in_latex():
    found = evaluated(["alpha_ndcg", "group_recall", "nerr"])
    assert r"\mathrm{alpha\_ndcg}@k = \frac{\sum_{j : r_j \le k}" in found.formula(
        "alpha_ndcg", "latex"
    )
    assert r"\nl" not in found.formula("alpha_ndcg", "latex")
    assert r"\mathrm{group\_recall}" in found.formula("group_recall", "latex")


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
    name = f"iprec(recall={recall})"
    for convention, expected in (("trec_eval", theirs), ("standard", exact)):
        found = evaluated([name], lists, truth, 30, convention=convention)
        assert float(found) == pytest.approx(expected, abs=1e-15), convention


def test_the_formula_of_a_level_of_recall_says_which_hit_reaches_it(tmp_path, capsys):
    rules = {"trec_eval": ("int(0.5 R + .9)", r"\lfloor 0.5 R + 0.9 \rfloor")}
    rules["standard"] = ("ceil(0.5 R)", r"\lceil 0.5 R \rceil")
    for convention, (words, latex) in rules.items():
        result = evaluated(["iprec(recall=0.5)", "iprec"], convention=convention)
        assert f"[j >= {words}]" in result.formula("iprec(recall=0.5)")
        assert latex in result.formula("iprec(recall=0.5)", "latex")
        assert "own definition" not in str(result)
        result.save(tmp_path / "kept.npz")
        again = tl.TopKResult.load(tmp_path / "kept.npz")
        assert again == result == sent(result)
        assert again.formula("iprec") == result.formula("iprec")
        assert main(["metrics", "iprec(recall=0.5)", "--convention", convention]) == 0
        assert words in capsys.readouterr().out
