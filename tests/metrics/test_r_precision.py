"""R-precision: cut at R where k is deep enough, and at k before."""

import dataclasses
from dataclasses import replace

import pytest
from differential import ANY, COUNTS, DISCOUNTS, agree, columns
from doors import by_words
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import hits as oracle

import toplist as tl


def test_others_call_recall_over_min_k_r_so():
    # RecTools Precision(r_precision=True), BEIR R_cap, CalibratedRecallK of RecPack
    assert tl.curves(
        dataclasses.replace(tl.METRICS["recall"], divisor="min(k,R)"), [1, 5, 6, 2], {1, 2}
    ).tolist() == [1.0, 0.5, 0.5, 1.0]


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("discount", DISCOUNTS)
@settings(deadline=None, max_examples=8)
@given(population=ANY, k=st.integers(1, 15), divisor=st.sampled_from(["1", "R", "k", "hits"]))
def test_any_metric_may_be_cut_at_r(counts, discount, population, k, divisor):
    metric = tl.Metric("own", counts, discount, divisor, cut="R")

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
    n = len(population[0])
    of_weights = by_words(*population, k, weights=[2] * n, **options)
    agree(of_weights["own"], result["own"], "equal weights")
    if n > 1:
        parts = [[side[:1] for side in population], [side[1:] for side in population]]
        results = [by_words(*part, k, **options) for part in parts]
        agree(tl.merge(results, disjoint=True)["own"], result["own"], "merged")


def test_words():
    result = tl.top_k_eval([[1, 2]], [{1}], 2, metrics=["r_precision", "recall", "hit"])
    assert result.formula("r_precision").startswith(
        "r_precision@k = sum over r_j <= min(k,R) of 1, divided by R\n"
    )
    assert r"r_j \le \min(k, R)" in result.formula("r_precision", "latex")
    assert "r_precision = " not in str(result)  # one relevant item, and another cut
    metric = replace(tl.METRICS["recall"], name="same", cut="R")
    both = tl.top_k_eval([[1, 2, 3]] * 2, [{1, 3}] * 2, 2, metrics=["r_precision", metric])
    assert "r_precision = same" in str(both)
    with pytest.raises(ValueError, match="cut='x': choose from 'k', 'R', 'n'"):
        tl.Metric("own", "each", "1", "k", cut="x")
