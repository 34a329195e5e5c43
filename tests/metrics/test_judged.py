"""Judged@k, the share of the first k with a judgement: precision from grade 0 on."""

import cases
import numpy as np
import pytest
from differential import agree
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import graded_populations

import toplist as tl

TREC = cases.FOLDER.parent / "data" / "trec_eval"


@settings(deadline=None, max_examples=40)
@given(graded_populations(max_truth=12), st.integers(1, 15))
def test_precision_from_grade_0_on(population, k):
    ranks, truths = population
    if not any(truths):
        return
    options = {"relevant_from": 0, "empty": "zero", "missing": "zero"}
    judged = tl.precision(ranks, truths, k, **options)
    expected = [
        [sum(item in truth for item in ranked[:cut]) / cut for cut in range(1, k + 1)]
        for ranked, truth in zip(ranks, truths, strict=True)
    ]
    agree(judged, expected, "judged")
    # what is listed and has no judgement: BEIR's hole, but for its judgements of other queries
    listed = np.minimum(np.array([len(ranked) for ranked in ranks])[:, None], np.arange(1, k + 1))
    holes = [
        [sum(item not in truth for item in ranked[:cut]) / cut for cut in range(1, k + 1)]
        for ranked, truth in zip(ranks, truths, strict=True)
    ]
    agree(listed / np.arange(1, k + 1) - judged, holes, "unjudged")


@pytest.mark.skipif(not TREC.exists(), reason="no trec_eval files beside the repository")
def test_it_is_what_trec_eval_does_not_call_unjudged():
    truths, ranks = {}, {}
    for line in (TREC / "qrels.test").read_text(encoding="utf-8").splitlines():
        query, _, document, grade = line.split()
        truths.setdefault(query, {})[document] = int(grade)
    for line in (TREC / "results.test").read_text(encoding="utf-8").splitlines():
        query, _, document, _, score = line.split()[:5]
        ranks.setdefault(query, []).append((float(score), document))
    lists = {query: [item for _, item in sorted(some)[::-1]] for query, some in ranks.items()}
    result = tl.top_k_eval(lists, truths, [5, 10, 20], metrics="precision", relevant_from=0)
    figures = [line.split() for line in (TREC / "out.test.aq").read_text().splitlines()]
    figures = {(name, query): figure for name, query, figure in figures if name.startswith("unj")}
    assert len(figures) == 12
    for k in result.ks:
        found = dict(zip(result.users, result.per_user(f"precision@{k}"), strict=True))
        found["all"] = result[f"precision@{k}"]
        for query, judged in found.items():
            assert f"{1 - judged:.4f}" == figures[f"unj_{k}", query]


GRADED = {"a": {1: 2, 2: 0, 3: 1}, "b": {4: 1}, "c": {5: 0, 6: 1}}
LISTED = {"a": [2, 9, 1], "b": [8, 4], "c": [5, 7, 6]}


def test_judged_stands_beside_the_others():
    result = tl.top_k_eval(LISTED, GRADED, [1, 3], metrics=["judged", "precision", "ndcg"])
    expected = {"a": [1, 0.5, 2 / 3], "b": [0, 0.5, 1 / 3], "c": [1, 0.5, 2 / 3]}
    agree(result.per_user("judged"), [expected[user] for user in result.users], "judged")
    assert result["judged@3"] == pytest.approx(5 / 9)
    alone = tl.top_k_eval(LISTED, GRADED, [1, 3], metrics=["precision", "ndcg"])
    for name in alone.names():
        assert result[name] == alone[name] and result.std(name) == alone.std(name)
    agree(tl.judged(LISTED, GRADED, 3), [expected[user] for user in GRADED], "judged")


def test_judged_needs_no_grade_and_knows_its_threshold():
    assert tl.judged([1, 2, 3], {2, 3}).tolist() == tl.precision([1, 2, 3], {2, 3}).tolist()
    high = tl.top_k_eval(LISTED, GRADED, 3, metrics=["judged", "recall"], relevant_from=2)
    assert (high["judged@3"], high["recall@3"]) == (2 / 3, 1.0)  # of a, the only one left


def test_judged_of_merged_segments_and_weighted_results():
    parts = [
        tl.top_k_eval({u: LISTED[u]}, {u: GRADED[u]}, 3, metrics=["judged"])
        for u in ("a", "b", "c")
    ]
    whole = tl.top_k_eval(LISTED, GRADED, 3, metrics=["judged"])
    assert sum(parts)["judged@3"] == pytest.approx(whole["judged@3"], rel=1e-15)
    assert sum(parts).std("judged@3") == pytest.approx(whole.std("judged@3"), rel=1e-12)
    assert whole.by({"b": "b"})["b"]["judged@3"] == pytest.approx(1 / 3)
    heavy = tl.top_k_eval(LISTED, GRADED, 3, metrics=["judged"], weights={"a": 1, "b": 2, "c": 1})
    assert heavy["judged@3"] == pytest.approx((2 / 3 + 2 / 3 + 2 / 3) / 4)


@pytest.mark.skipif(not TREC.exists(), reason="no trec_eval files beside the repository")
def test_judged_of_the_files_of_trec():
    figures = [line.split() for line in (TREC / "out.test.aq").read_text().splitlines()]
    all_of = {name: figure for name, query, figure in figures if query == "all"}
    result = tl.top_k_eval(
        TREC / "results.test",
        TREC / "qrels.test",
        [5, 10, 20],
        metrics=["judged", "ndcg", "map"],
        convention="trec_eval",
        ranks_format="trec",
        ground_truths_format="trec",
    )
    for k in result.ks:
        assert f"{1 - result[f'judged@{k}']:.4f}" == all_of[f"unj_{k}"]
        assert f"{result[f'ndcg@{k}']:.4f}" == all_of[f"ndcg_cut_{k}"]


def test_a_wrong_word_of_what_counts():
    with pytest.raises(ValueError, match="of='listed': choose from 'relevant', 'judged'"):
        tl.Metric("x", "each", "1", "k", of="listed")
