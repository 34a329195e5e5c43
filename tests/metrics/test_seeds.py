"""Worked examples of other systems, each with its own figures."""

import dataclasses

import numpy as np
import pytest
from doors import curve

import toplist as tl

# rectorch: score matrices, names with @k, arrays per user.


def test_rectorch_compute():
    scores = np.array([[4.0, 3.0, 2.0, 1.0, 0.0]])
    truth = np.array([[1.0, 1.0, 0.0, 0.0, 1.0]])
    metrics = ["recall@2", "recall@3", "ndcg@2"]
    result = tl.top_k_eval(
        tl.scores.top_k(scores, 10),
        tl.inputs.Lists.from_matrix(truth),
        metrics=metrics,
        convention="rectorch",
    )
    values = {name: result.per_user(name).round(8).tolist() for name in metrics}
    assert values == {"recall@2": [1.0], "recall@3": [0.66666667], "ndcg@2": [1.0]}


def test_rectorch_ndcg_of_a_late_hit():
    result = tl.top_k_eval(
        tl.scores.top_k([[4.0, 3.0, 2.0, 1.0]], 10),
        tl.inputs.Lists.from_matrix([[0, 0, 1.0, 1.0]]),
        metrics=["ndcg@10", "ndcg@3", "recall@3"],
        convention="rectorch",
    )
    assert result.per_user("ndcg@3").round(9).tolist() == [0.306573596]
    assert result.per_user("recall@3").tolist() == [0.5]


# scikit-learn's ndcg_score: all examples of its documentation.

RELEVANCE = [[10, 0, 0, 1, 5]]


@pytest.mark.parametrize(
    ("scores", "options", "expected"),
    [
        ([[0.1, 0.2, 0.3, 4, 70]], {}, 0.69),
        ([[0.05, 1.1, 1.0, 0.5, 0.0]], {}, 0.49),
        ([[0.05, 1.1, 1.0, 0.5, 0.0]], {"k": 4}, 0.35),
        (RELEVANCE, {"k": 4}, 1.0),
        ([[1, 0, 0, 0, 1]], {"k": 1}, 0.75),
        ([[1, 0, 0, 0, 1]], {"k": 1, "ties": "order"}, 0.5),
    ],
)
def test_sklearn_examples(scores, options, expected):
    value = tl.scores.ndcg(scores, relevance=RELEVANCE, **options)[0, -1]
    assert np.floor(value * 100) / 100 == expected


def test_sklearn_from_lists_without_ties():
    lists = tl.scores.top_k([[0.05, 1.1, 1.0, 0.5, 0.0]], 5)
    truth = tl.inputs.Lists.from_matrix(RELEVANCE)
    result = tl.top_k_eval(lists, truth, metrics=["ndcg@4", "ndcg@5"], convention="sklearn")
    assert [round(value, 3) for value in result] == [0.352, 0.494]


# RecBole: six cumulative arrays from its own inputs, pos_index and pos_len.

POS_INDEX = np.array([[0, 0, 0], [1, 1, 1], [1, 0, 1], [0, 0, 1]], bool)
POS_LEN = np.array([1, 3, 4, 2])
RECBOLE = {  # RecBole tests/metrics/test_topk_metrics.py:43-122
    "hit": [[0, 0, 0], [1, 1, 1], [1, 1, 1], [0, 0, 1]],
    "ndcg": [
        [0, 0, 0],
        [1, 1, 1],
        [1, 1 / (1 + 1 / np.log2(3)), (1 + 1 / 2) / (1 + 1 / np.log2(3) + 1 / 2)],
        [0, 0, (1 / 2) / (1 + 1 / np.log2(3))],
    ],
    "mrr": [[0, 0, 0], [1, 1, 1], [1, 1, 1], [0, 0, 1 / 3]],
    "map": [[0, 0, 0], [1, 1, 1], [1, 1 / 2, 5 / 9], [0, 0, 1 / 6]],
    "recall": [[0, 0, 0], [1 / 3, 2 / 3, 1], [1 / 4, 1 / 4, 1 / 2], [0, 0, 1 / 2]],
    "precision": [[0, 0, 0], [1, 1, 1], [1, 1 / 2, 2 / 3], [0, 0, 1 / 3]],
}


@pytest.mark.parametrize("name", RECBOLE)
def test_recbole_arrays(name):
    hits = tl.Hits.from_matrix(POS_INDEX, POS_LEN)
    from_matrix = getattr(tl, name)(hits, convention="recbole")
    assert from_matrix == pytest.approx(np.array(RECBOLE[name]), abs=1e-12)
    ids = [[1, 2, 3]] * 4, [{9}, {1, 2, 3}, {1, 3, 8, 9}, {3, 9}]
    assert np.array_equal(getattr(tl, name)(*ids, convention="recbole"), from_matrix)


# The Chinese note: gains in rank order, the Airbnb scoring, the pooled hit ratio, MRR.


def earned(metric, grades, k, **options):
    """Evaluate gains that stand in rank order: a list of positions, each with its own gain."""
    return curve(metric, list(range(len(grades))), dict(enumerate(grades)), k, **options)[k - 1]


GAINS = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]


def test_note_cumulative_gain():
    assert [earned("cg", GAINS, k) for k in (1, 2, 10)] == [3, 5, 16]


@pytest.mark.parametrize(
    ("k", "method_0", "method_1"),
    [
        (1, 3.0, 3.0),
        (2, 5.0, 4.2618595071429155),
        (10, 9.6051177391888114, None),
        (11, 9.6051177391888114, None),
    ],
)
def test_note_dcg_with_both_discounts(k, method_0, method_1):
    clipped = dataclasses.replace(tl.METRICS["dcg"], name="dcg_0", discount="log2(max(r,2))")
    result = tl.top_k_eval(
        [list(range(10))], [dict(enumerate(GAINS))], k=k, metrics=[clipped, "dcg"]
    )
    assert result[f"dcg_0@{k}"] == pytest.approx(method_0, abs=1e-13)
    if method_1:
        assert result[f"dcg@{k}"] == pytest.approx(method_1, abs=1e-13)


def test_note_ndcg_over_the_best_order_of_what_was_listed():
    clipped = dataclasses.replace(tl.METRICS["ndcg"], name="ndcg_0", discount="log2(max(r,2))")
    case = [[0, 1, 2, 3]], [dict(enumerate([2, 1, 2, 0]))]
    result = tl.top_k_eval(*case, k=4, metrics=[clipped, "ndcg"])
    assert result["ndcg_0@4"] == pytest.approx(0.9203032077642922, abs=1e-15)
    assert result["ndcg@4"] == pytest.approx(0.96519546960144276, abs=1e-15)
    assert earned("ndcg", GAINS, 1) == 1.0
    assert earned("ndcg", [0], 1, empty="zero") == 0.0
    assert earned("ndcg", [1], 2) == 1.0


def test_note_airbnb_scores():
    """Five places, one true label per row; the third row lists FR twice."""
    lists = np.array([["US", "FR", "CN"], ["FR", "US", "CN"], ["FR", "FR", "CN"]])
    labels = np.array(["US", "CN", "FR"])
    assert tl.ndcg(lists, labels, 5, duplicates="first")[:, -1].tolist() == [1.0, 0.5, 1.0]


def test_note_hit_ratio_is_a_pooled_recall():
    lists = [list(range(10))] * 3
    truths = [
        {*range(found), *range(100, 100 + size - found)}
        for found, size in [(6, 10), (5, 12), (4, 8)]
    ]
    result = tl.top_k_eval(
        lists,
        truths,
        k=10,
        metrics="recall",
        convention=tl.CONVENTIONS["standard"].replace(aggregate="pooled"),
    )
    assert result["recall@10"] == (6 + 5 + 4) / (10 + 12 + 8) == 0.5
