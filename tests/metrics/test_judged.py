"""Judged@k, the share of the first k with a judgement."""

import cases
import numpy as np
import pytest
from doors import by_words, curve

import toplist as tl
from toplist import files

TREC = cases.FOLDER.parent / "data" / "trec_eval"


GRADED = {"a": {1: 2, 2: 0, 3: 1}, "b": {4: 1}, "c": {5: 0, 6: 1}}
LISTED = {"a": [2, 9, 1], "b": [8, 4], "c": [5, 7, 6]}


def test_judged_of_merged_segments_and_weighted_results():
    parts = [
        tl.top_k_eval({u: LISTED[u]}, {u: GRADED[u]}, 3, metrics=["judged"])
        for u in ("a", "b", "c")
    ]
    whole = tl.top_k_eval(LISTED, GRADED, 3, metrics=["judged"])
    assert sum(parts)["judged@3"] == pytest.approx(whole["judged@3"], rel=1e-15)
    assert sum(parts).std("judged@3") == pytest.approx(whole.std("judged@3"), rel=1e-12)
    assert whole.by({"b": "b"})["b"]["judged@3"] == 1 / 2  # of the two that b lists
    heavy = tl.top_k_eval(LISTED, GRADED, 3, metrics=["judged"], weights={"a": 1, "b": 2, "c": 1})
    assert heavy["judged@3"] == pytest.approx((2 / 3 + 2 * 1 / 2 + 2 / 3) / 4)


def test_judged_divides_by_what_was_retrieved():
    assert tl.curves("judged", ["a", "b", "c"], {"a": 1, "b": 0, "z": 0}, 10).tolist() == [
        1,
        1,
        *[2 / 3] * 8,
    ]


@pytest.mark.parametrize("empty", ["skip", "zero", "one", None])
@pytest.mark.parametrize("convention", ["standard", "trec_eval"])
def test_judged_is_over_all_with_a_judgement(convention, empty):
    lists = {"a": [1, 2, 3], "none": [4, 5], "zeros": [6, 7]}
    truths = {"a": {1: 1, 2: 0, 3: 0}, "none": {}, "zeros": {6: 0}}
    rules = {"convention": convention, "empty": empty}
    result = by_words(lists, truths, 10, metrics=["judged", "ndcg"], **rules)
    assert result["judged@10"] == (1 + 1 / 2) / 2 and result.n_of("judged") == 2
    assert result.std("judged@10") == pytest.approx(np.std([1, 1 / 2], ddof=1))
    np.testing.assert_array_equal(result.per_user("judged@10"), [1, np.nan, 1 / 2])
    np.testing.assert_array_equal(
        curve("judged", lists, truths, **rules)[:, -1], [1, np.nan, 1 / 2]
    )
    n = 1 if (empty or {"trec_eval": "zero"}.get(convention)) in ("skip", None) else 3
    assert result.n_of("ndcg") == result.n_evaluated == n
    assert "judged: over 2, those with a judgement" in str(result)
    assert "users without a judgement are left out" in result.formula("judged")


def test_judged_by_itself_raises_for_nobody_with_a_judgement():
    lists, truths = {"a": [1], "b": [2]}, {"a": {1: 1}, "b": {2: 0}}
    assert (
        tl.top_k_eval(
            lists,
            truths,
            1,
            metrics="judged",
            convention=tl.CONVENTIONS["standard"].replace(empty="raise"),
        )["judged@1"]
        == 1
    )
    with pytest.raises(ValueError, match="user 'b' has an empty ground truth"):
        tl.top_k_eval(
            lists,
            truths,
            1,
            metrics=["judged", "hit"],
            convention=tl.CONVENTIONS["standard"].replace(empty="raise"),
        )


def test_tests_of_judged_are_over_all_with_a_judgement():
    truths = {"a": {1: 1}, "b": {2: 0}, "c": {3: 2, 4: 0}}
    results = {
        name: tl.top_k_eval(dict.fromkeys("abc", ids), truths, 2, metrics=["hit", "judged"])
        for name, ids in {"x": [1, 2], "y": [4, 3]}.items()
    }
    tests = tl.compare(results).test(["hit@2", "judged@2"])
    assert {one.name: one.n for one in tests} == {"hit@2": 2, "judged@2": 3}


@pytest.mark.skipif(not TREC.exists(), reason="no trec_eval files beside the repository")
def test_judged_is_what_trec_eval_does_not_call_unjudged():
    rows = [line.split() for line in (TREC / "out.test.aq").read_text().splitlines()]
    figures = {(name, query): figure for name, query, figure in rows if name.startswith("unj")}
    assert len(figures) == 12
    files = TREC / "results.test", TREC / "qrels.test", [5, 10, 20]
    options = {"metrics": "judged", "convention": "trec_eval"}
    options |= {"ranks_format": "trec", "ground_truths_format": "trec"}
    result = by_words(*files, keep="users", **options)
    assert by_words(*files, **options).to_dict() == result.to_dict()
    for k in result.ks:
        found = dict(zip(result.users, result.per_user(f"judged@{k}"), strict=True))
        found["all"] = result[f"judged@{k}"]
        for query, judged in found.items():
            assert f"{1 - judged:.4f}" == figures[f"unj_{k}", query]


def test_a_wrong_word_of_what_counts():
    with pytest.raises(ValueError, match="of='listed': choose from 'relevant', 'judged'"):
        tl.Metric("x", "each", "1", "k", of="listed")


def doors(tmp_path):
    """Yield judged@2 of a run and qrels of TREC, by every way in."""
    run, qrels = tmp_path / "a.run", tmp_path / "a.qrels"
    run.write_text("q1 Q0 a 1 2.0 t\nq1 Q0 b 2 1.0 t\n")
    qrels.write_text("q1 0 a 1\nq1 0 b 0\nq1 0 c -1\n")
    lists, truths = files.read_ranks(run), files.read_truths(qrels)
    for sides in (lists, truths), (run, truths), (lists, qrels), (run, qrels):
        yield tl.top_k_eval(*sides, 2, metrics="judged")["judged@2"]
    yield tl.top_k_eval(run, qrels, 2, metrics="judged", keep="users")["judged@2"]
    yield tl.top_k_eval(run, qrels, 2, metrics="judged", relevant_from=1)["judged@2"]


def test_grade_0_of_qrels_is_judged_by_every_way_in(tmp_path):
    assert list(doors(tmp_path)) == [1] * 6


def test_judged_of_parts_where_a_user_has_no_relevant_item(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    ranks, truths = tmp_path / "ranks.csv", tmp_path / "truths.csv"
    ranks.write_text("user_id,item_id,rank\na,5,1\nb,6,1\n")
    truths.write_text("user_id,item_id,relevance\na,5,1\nb,6,0\n")
    tables = (
        arrow.table({"user_id": ["a", "b"], "item_id": [5, 6], name: [1, one]})
        for name, one in (("rank", 1), ("relevance", 0))
    )
    batches = [table.to_reader(1) for table in tables]
    for sides, how in (((ranks, truths), {}), (batches, {})):
        result = by_words(*sides, 1, metrics="judged", **how)
        assert result["judged@1"] == 1 and result.n_of("judged") == 2


def test_judged_is_over_who_was_judged_where_r_counts_listed_items():
    """Both of a's two are judged and none of b's, who was judged too."""
    lists, truths = {"a": ["x", "y"], "b": ["p", "q"]}, {"a": {"x": 1, "y": 0}, "b": {"z": 1}}
    asked = {"k": 2, "metrics": ["judged", "hit"], "relevant": "listed"}
    result = by_words(lists, truths, **asked)
    assert result["judged@2"] == 0.5 and result.n_of("judged") == 2
    assert result["hit@2"] == 1 and result.n_of("hit") == 1
    assert result.per_user("judged@2").tolist() == [1, 0]
    account = "1 of 2 users evaluated, 1 skipped (no relevant items), judged: over 2, those with"
    assert account in str(result)
    assert tl.curves(
        "judged", lists, truths, 2, convention=tl.CONVENTIONS["standard"].replace(relevant="listed")
    )[:, 1].tolist() == [1, 0]
    nobody = by_words(lists, truths | {"b": {}}, **asked)
    assert nobody["judged@2"] == 1 and nobody.n_of("judged") == 1
