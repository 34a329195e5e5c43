"""Metrics of one's own: checked when made, computed by hand, told by name when they fail."""

import dataclasses
import math
import statistics
import sys

import numba
import numpy as np
import pytest
from systems import RANKS, TRUTHS

import toplist as tl
from toplist import METRICS, Metric, top_k_eval
from toplist.kernels import join


def squared(r):
    """rank squared"""
    return r * r


SQUARES = Metric("squares", "each", squared, lambda k, R, n: k + R, text="hits at 1 / rank^2")


def test_own_metric_by_hand():
    result = top_k_eval(RANKS, TRUTHS, k=3, metrics=[SQUARES, "mrr"])
    values = [(1 + 1 / 4) / (3 + 3), (1 + 1 / 9) / (3 + 4)]
    assert result["squares@3"] == pytest.approx(statistics.mean(values))
    assert result.std("squares@3") == pytest.approx(statistics.stdev(values))
    assert result.per_user("squares@3") == pytest.approx(values)
    assert list(result) == [result["squares@3"], result["mrr@3"]]
    assert list(result.to_dict()) == ["squares@3", "mrr@3"]
    assert "squares" in repr(result)


def test_an_own_graded_metric():
    metric = Metric("gain", "each", lambda r: r, "1", graded=True)
    result = top_k_eval([[1, 2]], [{2: 3, 1: 1}], k=2, metrics=[metric])
    assert result["gain@2"] == 1 + 3 / 2


@pytest.mark.parametrize(
    "twins",
    [
        ["ndcg", Metric("ndcg", "each", "1", "1")],
        [Metric("mine", "each", "1", "1"), Metric("mine", "each", "1", "k")],
        [SQUARES, dataclasses.replace(SQUARES, divisor="1")],
    ],
)
def test_two_metrics_of_one_name(twins):
    name = twins[-1].name
    with pytest.raises(ValueError, match=rf"two metrics are named '{name}.*name='{name}_2'"):
        top_k_eval(RANKS, TRUTHS, k=3, metrics=twins)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("", "each", "1", "1"), "a name is needed, without '@'"),
        (("a@1", "each", "1", "1"), "'a@1': a name is needed, without '@'"),
        (("a", "all", "1", "1"), "counts='all': choose from 'each', 'nth', 'first'"),
        (("a", "each", "r^2", "1"), r"discount='r\^2': choose from '1', 'r', 'log2\(r\+1\)'"),
        (("a", "each", "1", "n"), "divisor='n': choose from '1', 'k', 'R'"),
        (("a", "each", None, "1"), "discount=None"),
        (("a", "each", "1", 2), "divisor=2"),
    ],
)
def test_a_metric_is_checked_when_it_is_made(arguments, message):
    with pytest.raises(ValueError, match=message):
        Metric(*arguments)


@pytest.mark.parametrize(
    "discount",
    [
        lambda r: r - 1,
        lambda r: -r,
        lambda r: r * math.nan,
        lambda r: np.where(r > 2, math.inf, r),
        lambda r: np.ones(7),
        lambda r: None,
    ],
)
@pytest.mark.parametrize("counts", ["each", "nth", "first"])
def test_discounts_that_cannot_be(counts, discount):
    with pytest.raises(ValueError, match=r"metric 'bad': its discount"):
        list(top_k_eval(RANKS, TRUTHS, k=3, metrics=[Metric("bad", counts, discount, "1")]))


def test_the_rank_of_a_wrong_discount_is_named():
    bad = Metric("bad", "each", lambda r: 3 - r, "1")
    with pytest.raises(ValueError, match=r"'bad': its discount at rank 3 is 0\.0; .*positive"):
        top_k_eval(RANKS, TRUTHS, k=5, metrics=[bad])
    assert top_k_eval(RANKS, TRUTHS, k=2, metrics=[bad])["bad@2"] > 0


@pytest.mark.parametrize(
    "divisor",
    [
        lambda k, R, n: k - 1,
        lambda k, R, n: -R,
        lambda k, R, n: math.nan,
        lambda k, R, n: math.inf,
        lambda k, R, n: R - 3,
        lambda k, R, n: np.ones(7),
        lambda k, R, n: None,
    ],
)
def test_divisors_that_cannot_be(divisor):
    with pytest.raises(ValueError, match=r"metric 'bad': its divisor"):
        list(top_k_eval(RANKS, TRUTHS, k=3, metrics=[Metric("bad", "each", "1", divisor)]))
    with pytest.raises(ValueError, match=r"metric 'recall': its divisor"):
        tl.curves(dataclasses.replace(tl.METRICS["recall"], divisor=divisor), RANKS, TRUTHS, 3)


def test_the_place_of_a_wrong_divisor_is_named():
    bad = Metric("bad", "each", "1", lambda k, R, n: 2 - k + 0 * R)
    with pytest.raises(ValueError, match=r"'bad': its divisor at k=2, R=3, n=3 is 0\.0"):
        list(top_k_eval(RANKS, TRUTHS, k=3, metrics=[bad]))


def test_a_divisor_may_be_zero_where_no_hit_is_possible():
    smallest = Metric("smallest", "each", "1", lambda k, R, n: np.minimum(R, n))
    result = top_k_eval(
        [[1], [], [1]],
        [{1}, {1}, set()],
        k=1,
        metrics=[smallest],
        convention=tl.CONVENTIONS["standard"].replace(empty="zero"),
    )
    assert result.per_user("smallest@1").tolist() == [1.0, 0.0, 0.0]


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


def test_own_metrics_compile_nothing():
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


def test_the_count_of_compiled_kernels_can_rise(monkeypatch):
    extra = numba.njit(lambda x: x)
    monkeypatch.setattr(join, "extra", extra, raising=False)
    before = compiled()
    extra(1)
    assert compiled() == before + 1


def test_rbp_takes_its_parameter_in_the_name():
    result = top_k_eval(RANKS, TRUTHS, metrics=["rbp(p=0.5)@1", "rbp(p=0.5)@3", "rbp@3"])
    values = [0.5 * (1 + 0.5), 0.5 * (1 + 0.25)]
    assert result["rbp(p=0.5)@3"] == pytest.approx(statistics.mean(values))
    assert result["rbp@3"] == pytest.approx(0.2 * (1 + 0.8 + 1 + 0.64) / 2)
    assert list(result.to_dict()) == ["rbp(p=0.5)@1", "rbp(p=0.5)@3", "rbp@3"]
    assert next(iter(result)) == result["rbp(p=0.5)@1"] == 0.5
    assert result.per_user("rbp(p=0.5)").shape == (2, 3)
    assert "0.5" in result.formula("rbp(p=0.5)")
    several = top_k_eval([[1]], [{1}], k=1, metrics=["rbp(p=0.5)", "rbp(p=0.25)", "rbp"])
    assert list(several) == pytest.approx([0.5, 0.75, 0.2])
    assert top_k_eval([[1]], [{1}], metrics=["rbp(p=0.8)@1"])["rbp(p=0.8)@1"] == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rbp(p=0)", "'rbp': p must be above 0 and below 1, not 0"),
        ("rbp(p=1)", "'rbp': p must be above"),
        ("rbp(p=-0.5)", "'rbp': p must be above"),
        ("rbp(p=nan)", "'rbp': p must be above"),
        ("rbp(p=half)", r"rbp.*'half'"),
        ("rbp(q=0.5)", "'rbp' takes p, rel, not q"),
        ("ndcg(p=0.5)", "'ndcg' takes rel, not p"),
        ("rbp()", r"'rbp\(\)' \(did you mean 'rbp'\?\): write a name"),
        ("rbp(0.5)", r"'rbp\(0\.5\)' \(did you mean 'rbp\(p=0\.5\)'\?\): write a name"),
        ("rbp(p=0.5", r"'rbp\(p=0\.5' \(did you mean 'rbp\(p=0\.5\)'\?\): write a name"),
        ("nope(p=0.5)", r"'nope\(p=0\.5\)': choose from hit"),
    ],
)
def test_spellings_that_are_refused(name, message):
    with pytest.raises(ValueError, match=message):
        top_k_eval(RANKS, TRUTHS, k=3, metrics=[name])
    with pytest.raises(ValueError, match=name.partition("(")[0]):
        top_k_eval(RANKS, TRUTHS, metrics=[f"{name}@3"])


@pytest.mark.parametrize(
    "table",
    [tl.METRICS, tl.metrics.definitions.DIVISORS, tl.metrics.definitions.DISCOUNTS, tl.CONVENTIONS],
)
def test_the_tables_are_read_only(table):
    name = next(iter(table))
    with pytest.raises(TypeError, match="does not support item assignment"):
        table[name] = 3


def test_own_functions_are_told_by_name_when_they_fail():
    metric = tl.Metric("mine", "each", "1", lambda k, R, n: min(k, R))
    with pytest.raises(ValueError, match="metric 'mine': its divisor failed: .*use np.minimum"):
        tl.top_k_eval(RANKS, TRUTHS, k=3, metrics=[metric])


def test_nth_over_an_ideal_is_refused():
    for name in tl.metrics.definitions.DIVISORS:
        if name.startswith("ideal"):
            with pytest.raises(ValueError, match="'x': counts='nth'.*passes 1.*counts='each'"):
                tl.Metric("x", "nth", "r", name)
    tl.Metric("x", "first", "r", "ideal(k)")


def test_gains_of_judged_items_are_those_of_the_user():
    gain = tl.Metric("gain", "each", "1", "1", graded=True, of="judged")
    for grade in (0, 1, 5):
        truths = {"ann": {1: 3, 3: 0}, "bob": {2: grade}}
        result = tl.top_k_eval({"ann": [1], "bob": [2]}, truths, 1, metrics=[gain])
        assert result.per_user("gain@1").tolist() == [3, grade]


def test_one_user_has_the_same_mean_pooled():
    for counts in ("each", "first"):
        own = tl.Metric("own", counts, "1", "ideal(min(k,R))", graded=True)
        mean, pooled = (
            tl.top_k_eval(
                [[1, 2, 3]],
                [{1: 1, 2: 2}],
                2,
                metrics=[own],
                convention=tl.CONVENTIONS["standard"].replace(aggregate=how),
            )["own@2"]
            for how in ("mean", "pooled")
        )
        assert mean == pooled == {"each": 1, "first": 1 / 3}[counts]
    assert "divided by the sum of gain_j over hits at all ranks up to min(k,R)" in tl.top_k_eval(
        [[1]], [{1: 2}], metrics=[own]
    ).formula("own")


def test_a_formula_counts_the_hits_of_the_divisor_as_far_as_the_metric_does():
    own = tl.Metric("own", "each", "r", "hits", cut="R")
    result = tl.top_k_eval([[1, 9, 8, 2]], [{1, 2}], 4, metrics=[own])
    assert result["own@4"] == 1
    words = "over r_j <= min(k,R) of 1 / r_j, divided by the number of hits with r_j <= min(k,R)"
    assert words in result.formula("own")
    assert result.formula("own", "latex").count(r"r_j \le \min(k, R)") == 2
