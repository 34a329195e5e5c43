"""A divisor of the hits so far: the average precision of torchmetrics, LibRecommender, DocArray."""

import dataclasses
from dataclasses import replace

import numpy as np
import pytest
from differential import agree
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import hits as oracle
from strategies import graded_populations, populations

import toplist as tl

SO_FAR = replace(tl.METRICS["map"], name="so_far", divisor="hits")


def test_what_is_not_found_is_not_missed():
    # torchmetrics retrieval_average_precision(top_k=3): 1.0; PyG's LinkPredMAP: 0.5
    assert tl.curves(
        dataclasses.replace(tl.METRICS["map"], divisor="hits"), [1, 2, 3], {1, 9}
    ).tolist() == [1.0, 1.0, 1.0]
    assert tl.map([1, 2, 3], {1, 9}).tolist() == [1.0, 0.5, 0.5]
    # a hit more, and a lower value
    assert tl.curves(
        dataclasses.replace(tl.METRICS["map"], divisor="hits"), [1, 2, 3, 4], {1, 4}
    ).tolist() == [1.0, 1.0, 1.0, 0.75]
    assert tl.curves(
        dataclasses.replace(tl.METRICS["map"], divisor="hits"), [1, 2], {9}
    ).tolist() == [0.0, 0.0]


@settings(deadline=None, max_examples=25)
@given(populations(), st.integers(1, 15))
def test_it_weighs(population, k):
    weights = np.arange(1.0, len(population[0]) + 1)
    result = tl.top_k_eval(*population, k, metrics=SO_FAR, weights=weights)
    values = result.per_user("so_far")
    kept = ~np.isnan(values[:, 0])
    if kept.any():
        of_weights = np.average(values[kept], axis=0, weights=weights[kept])
        agree(result["so_far"], of_weights, "weighted")


@settings(deadline=None, max_examples=25)
@given(graded_populations(), st.integers(1, 15))
def test_grades_do_not_count_as_hits(population, k):
    metric = replace(tl.METRICS["cg"], name="mean_grade", divisor="hits")
    result = tl.top_k_eval(
        *population,
        k,
        metrics=metric,
        convention=tl.CONVENTIONS["standard"].replace(empty="zero", missing="zero"),
    )
    expected = [
        oracle.ratio(oracle.cg(ranked, truth, k), len(oracle.found(ranked, truth, k)))
        for ranked, truth in zip(*population, strict=True)
    ]
    agree(result.per_user(f"mean_grade@{k}"), expected, "mean grade of the hits")


def test_a_ratio_of_sums():
    result = tl.top_k_eval(
        [[1, 2, 3], [5, 6, 7]],
        [{1, 3}, {6}],
        3,
        metrics=SO_FAR,
        convention=tl.CONVENTIONS["standard"].replace(aggregate="pooled"),
    )
    assert result["so_far@3"] == pytest.approx((1 + 2 / 3 + 1 / 2) / 3)


def test_files(tmp_path):
    recs, truth = tmp_path / "recs.csv", tmp_path / "truth.csv"
    recs.write_text("user_id,item_id,rank\na,1,1\na,2,2\na,3,3\nb,4,1\nb,5,2\n")
    truth.write_text("user_id,item_id\na,3\na,9\nb,4\n")
    (found,) = tl.top_k_eval(recs, truth, [1, 3], metrics=SO_FAR)
    assert found.tolist() == [0.5, (1 / 3 + 1) / 2]


def test_the_formula():
    result = tl.top_k_eval([[1]], [{1}], 1, metrics=SO_FAR)
    assert result.formula("so_far").startswith(
        "so_far@k = sum over r_j <= k of j / r_j, divided by the number of hits with r_j <= k\n"
    )
    assert r"\left|\{j : r_j \le k\}\right|" in result.formula("so_far", "latex")
    assert tl.metrics.definitions.DIVISORS["hits"].by_hits


def test_in_leave_one_out_it_is_the_reciprocal_rank():
    result = tl.top_k_eval([[1, 2], [3, 4]], [{2}, {9}], 2, metrics=[SO_FAR, "mrr"])
    assert "so_far = mrr" in str(result)
