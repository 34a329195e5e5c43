"""Judged@k, the share of the first k with a judgement: precision from grade 0 on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import graded_populations
from test_against_oracle import agree
from test_figures import TREC

import toplist as tl


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
