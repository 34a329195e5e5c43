"""What an evaluation returns, own metrics, and the containers that are made by hand."""

import dataclasses
import math
import pickle
import re
import statistics
import sys
from collections.abc import Mapping

import numba
import numpy as np
import pytest

import toplist as tl
from toplist import METRICS, Hits, Lists, Metric, match, top_k_eval
from toplist.kernels import join

RANKS = [[5, 7, 8, 9, 3], [4, 6, 2, 1, 10]]
TRUTHS = [{7, 3, 5}, {4, 2, 8, 7}]
SIX = ("hit", "precision", "recall", "map", "ndcg", "mrr")
THREE_USERS = {"ann": [1, 2], "bob": [2, 3], "cid": [4]}, {"ann": {2}, "bob": {2}, "cid": {5}}


@pytest.fixture
def result():
    return top_k_eval(RANKS, TRUTHS, k=[1, 3, 5])


def people(prefix, **options):
    """Evaluate two users whose keys begin with `prefix`."""
    ranks = {f"{prefix}1": [1, 2, 3], f"{prefix}2": [4, 5]}
    truths = {f"{prefix}1": {2, 3}, f"{prefix}2": {4, 9}}
    return top_k_eval(ranks, truths, **{"k": 3, "metrics": ["mrr", "map"], **options})


# Values


def test_six_floats_in_a_row():
    values = list(top_k_eval(RANKS, TRUTHS, k=3))
    assert all(type(value) is float for value in values)
    hit, precision, recall, map_, ndcg, mrr = values
    assert (hit, mrr) == (1.0, 1.0)
    assert precision == pytest.approx(2 / 3)
    assert recall == pytest.approx((2 / 3 + 2 / 4) / 2)
    assert map_ == pytest.approx((2 / 3 + (1 + 2 / 3) / 3) / 2)
    best = 1 + 1 / math.log2(3) + 1 / 2
    assert ndcg == pytest.approx(((1 + 1 / math.log2(3)) / best + 1.5 / best) / 2)


def test_iteration_follows_what_was_asked(result):
    arrays = list(result)
    assert [array.shape for array in arrays] == [(3,)] * 6
    assert arrays[2].tolist() == [result["recall@1"], result["recall@3"], result["recall@5"]]
    (array,) = top_k_eval(RANKS, TRUTHS, k=[3], metrics=["recall"])
    assert array.tolist() == [result["recall@3"]]
    mixed = list(top_k_eval(RANKS, TRUTHS, metrics=["recall@5", "ndcg@1", "recall@1"]))
    assert mixed == [result["recall@5"], result["ndcg@1"], result["recall@1"]]


def test_ks_come_in_the_order_asked(result):
    (array,) = top_k_eval(RANKS, TRUTHS, k=[5, 1], metrics="recall")
    assert array.tolist() == [result["recall@5"], result["recall@1"]]


def test_means_and_curves_by_name(result):
    assert type(result["ndcg@4"]) is float
    assert result["ndcg"].shape == (5,)
    for name in SIX:
        assert result[name].tolist() == [result[f"{name}@{k}"] for k in range(1, 6)]
        np.testing.assert_allclose(result[name], getattr(tl, name)(RANKS, TRUTHS).mean(axis=0))


def test_a_curve_may_be_written_to(result):
    before = result["ndcg@3"]
    result["ndcg"][:] = 0
    result.std("ndcg")[:] = 0
    assert result["ndcg@3"] == before
    assert result.std("ndcg@3") > 0


WRONG_NAMES = [
    "nope",
    "ndcg@0",
    "ndcg@6",
    "ndcg@-1",
    "ndcg@x",
    "ndcg@",
    "@3",
    "ndcg@3@3",
    "",
    "dcg",
]


@pytest.mark.parametrize("name", [*WRONG_NAMES, 3, None, ("ndcg", 3), ["ndcg"], "ndcg@²"])
def test_wrong_names(result, name):
    asking = (
        *(result.__getitem__, result.std, result.interval),
        *(result.per_user, result.formula),
    )
    for ask in asking:
        with pytest.raises(KeyError) as caught:
            ask(name)
        message = caught.value.args[0]
        assert message.startswith(repr(name))
        assert all(valid in message for valid in (*SIX, "@1", "@5"))


def test_it_is_no_mapping(result):
    assert not isinstance(result, Mapping)


def test_nothing_is_rounded():
    assert top_k_eval([[1, 2, 3]], [{1}], k=3)["precision@3"] == 1 / 3


# Spread


def test_std_and_interval_by_hand(result):
    for name in SIX:
        values = getattr(tl, name)(RANKS, TRUTHS)[:, 4].tolist()
        std = statistics.stdev(values)
        assert result.std(f"{name}@5") == pytest.approx(std, abs=1e-12)
        for level in (0.5, 0.95, 0.99):
            half = statistics.NormalDist().inv_cdf(0.5 + level / 2) * std / math.sqrt(2)
            wanted = statistics.mean(values) - half, statistics.mean(values) + half
            if name != "hit":  # a proportion, whose interval is Wilson's
                wanted = max(wanted[0], 0), min(wanted[1], 1)
                assert result.interval(f"{name}@5", level) == pytest.approx(wanted, abs=1e-12)


def test_95_percent_is_the_default(result):
    assert result.interval("map@3") == result.interval("map@3", 0.95)
    assert result.interval("map@3") != result.interval("map@3", level=0.9)


def test_std_and_interval_of_a_curve(result):
    low, high = result.interval("map")
    assert result.std("map").tolist() == [result.std(f"map@{k}") for k in range(1, 6)]
    assert list(zip(low, high, strict=True)) == [result.interval(f"map@{k}") for k in range(1, 6)]


def test_one_number_is_a_float(result):
    assert type(result.std("map@3")) is float
    assert [type(end) for end in result.interval("map@3")] == [float, float]


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, math.nan])
def test_level(result, level):
    with pytest.raises(ValueError, match=f"level must be between 0 and 1, not {level}"):
        result.interval("map@3", level)


def test_who_is_not_counted_has_no_part_in_the_spread():
    result = top_k_eval([[1], [2], [3]], [{1}, {9}, set()], k=1, metrics=["dcg"])
    assert result["dcg@1"] == 0.5
    assert result.std("dcg@1") == pytest.approx(statistics.stdev([1, 0]))
    assert result.interval("dcg@1")[1] == pytest.approx(1.0)
    several = top_k_eval([[1, 4], [2], [3]], [{1, 4}, {9}, set()], k=2, metrics=["cg"])
    assert several.interval("cg@2")[1] == pytest.approx(1 + 1.959964 * math.sqrt(2 / 2))


def test_equal_users_have_no_spread():
    result = top_k_eval([[7, 8, 9]] * 30, [{8, 5, 6}] * 30, k=3, metrics=[*SIX, "dcg", "rbp"])
    assert [result.std(name) for name in result.names()] == [0.0] * 8


# Users


def test_per_user(result):
    assert result.per_user("ndcg").shape == (2, 5)
    assert result.per_user("recall@3").tolist() == [2 / 3, 0.5]
    for name in SIX:
        np.testing.assert_array_equal(result.per_user(name), getattr(tl, name)(RANKS, TRUTHS))
        np.testing.assert_array_equal(result.per_user(f"{name}@3"), result.per_user(name)[:, 2])


def test_users():
    assert list(top_k_eval(*THREE_USERS, k=1).users) == ["ann", "bob", "cid"]
    assert list(top_k_eval(RANKS, TRUTHS, k=1).users) == [0, 1]
    assert list(top_k_eval([1], {1}, k=1).users) == [0]


# Other forms


def test_to_dict(result):
    values = result.to_dict()
    assert list(values) == [f"{name}@{k}" for name in SIX for k in (1, 3, 5)]
    assert values["recall@3"] == pytest.approx(7 / 12)
    assert all(type(value) is float for value in values.values())
    assert list(top_k_eval(RANKS, TRUTHS, metrics=["map@5", "hit@2"]).to_dict()) == [
        "map@5",
        "hit@2",
    ]


def test_to_pandas(result):
    pytest.importorskip("pandas")
    frame = result.to_pandas()
    assert list(frame.columns) == ["metric", "k", "mean", "std", "low", "high", "n"]
    assert len(frame) == 18
    row = frame.iloc[7]
    assert (row["metric"], row["k"], row["n"]) == ("recall", 3, 2)
    assert row["mean"] == result["recall@3"]
    assert row["std"] == result.std("recall@3")
    assert (row["low"], row["high"]) == result.interval("recall@3")


def test_to_pandas_per_user():
    pytest.importorskip("pandas")
    frame = top_k_eval(*THREE_USERS, metrics=["mrr@2", "hit@1"]).to_pandas(per_user=True)
    assert list(frame.columns) == ["user_id", "mrr@2", "hit@1"]
    assert frame["user_id"].tolist() == ["ann", "bob", "cid"]
    assert frame["mrr@2"].tolist() == [0.5, 1.0, 0.0]
    assert frame["hit@1"].tolist() == [0.0, 1.0, 0.0]


def test_repr(result):
    assert repr(top_k_eval(RANKS, TRUTHS, k=[1, 3, 5], metrics=["recall", "map"])) == (
        "                    @1              @3                       @5\n"
        "recall  0.2917 ±0.0817  0.5833 ±0.1633  0.7500 [0.2600, 1.0000]\n"
        "map     1.0000 ±0.0000  0.6111 ±0.1089  0.6417 [0.2007, 1.0000]\n"
        "convention standard: mean over users\n"
        "95 % interval, ± half or [low, high]: normal (rough: only 2 users)\n"
        "2 of 2 users evaluated"
    )
    labels = [line.split("  ")[0] for line in repr(result).splitlines()[1:-3]]
    assert labels == ["hit", "precision", "recall", "map", "ndcg", "mrr"]


def test_repr_says_who_was_counted():
    ranks = {"ann": [1, 2], "bob": [2], "eve": [3]}
    truths = {"ann": {2}, "bob": {1}, "cid": {1}, "dan": set()}
    lines = repr(top_k_eval(ranks, truths, metrics=["mrr@2", "hit@1", "mrr@1"])).splitlines()
    assert lines == [
        "                          @1                       @2",
        "mrr  0.0000 ±0.0000           0.1667 [0.0000, 0.4933]",
        "hit  0.0000 [0.0000, 0.5615]",
        "convention standard: mean over users",
        "95 % interval, ± half or [low, high]: normal for mrr; Wilson for hit "
        "(rough: only 3 users)",
        "3 of 4 users evaluated, 1 skipped (no relevant items), 1 without a list (counted as 0), "
        "1 with a list but no ground truth (ignored)",
    ]
    # each user is told once: without relevant items, or else without a list
    more = {"ann": ["1"], "bob": ["1"]}, {"ann": ["1"], "bob": [], "cid": [], "dan": ["2"]}
    for empty, told in (
        ("skip", "1 of 4 users evaluated, 2 skipped (no relevant items), 1 without a list"),
        ("zero", "1 skipped (no relevant items), 1 without a list (left out)"),
    ):
        assert told in repr(top_k_eval(*more, 1, empty=empty, missing="skip"))
    only = repr(top_k_eval({"ann": ["1"]}, {"ann": ["1"], "dan": ["2"]}, 1, missing="skip"))
    assert "1 of 2 users evaluated, 1 without a list (left out)" in only
    options = {"k": 1, "convention": "neurec", "empty": "skip", "missing": "skip"}
    skipping = repr(top_k_eval(ranks, truths, **options)).splitlines()
    assert skipping[-3].startswith("convention neurec: mean over users")
    assert skipping[-1] == (
        "2 of 4 users evaluated, 1 skipped (no relevant items), "
        "1 without a list (left out), 1 with a list but no ground truth (ignored); NO HIT AT ALL: "
        "the lists hold items such as '1', the ground truths '2'; "
        "are the item ids of both sides written in the same way?"
    )


def test_repr_of_one_user_and_of_nobody():
    assert repr(top_k_eval([1, 2], {2}, k=2, metrics="mrr")) == (
        "         @2\nmrr  0.5000\nconvention standard: mean over users\n1 of 1 user evaluated"
    )
    assert repr(top_k_eval([], [], k=2, metrics="mrr")) == (
        "      @2\nmrr  nan\nconvention standard: mean over users\n0 of 0 users evaluated"
    )


# Formulas


def test_formula_as_text(result):
    first, *others = result.formula("map@3").splitlines()
    assert first == "map@k = sum over r_j <= k of j / r_j, divided by min(k,R)"
    for words in ("rank of the user's j-th hit", "convention standard", "2 of 2 users evaluated"):
        assert any(words in line for line in others)
    assert result.formula("map").splitlines()[0] == first


def test_formula_as_latex(result):
    lines = result.formula("map@3", "latex").splitlines()
    assert lines[0] == r"\mathrm{map}@k = \frac{\sum_{j : r_j \le k} \frac{j}{r_j}}{\min(k, R)}"


def test_formula_is_the_convention_s_own():
    for convention, words in (("neurec", "sum(min(i,R))"), ("trec_eval", "R")):
        text = top_k_eval(RANKS, TRUTHS, k=3, convention=convention).formula("map")
        assert text.splitlines()[0].endswith(f"divided by {words}")
        assert f"convention {convention}" in text


def test_formula_names_an_own_function_as_it_is():
    result = top_k_eval(RANKS, TRUTHS, k=3, metrics=[SQUARES])
    assert "rank squared" in result.formula("squares")


@pytest.mark.parametrize("style", ["text", "latex"])
def test_every_metric_has_a_formula(style):
    result = top_k_eval(RANKS, TRUTHS, k=3, metrics=METRICS)
    formulas = [result.formula(name, style).splitlines()[0] for name in METRICS]
    assert len(set(formulas)) == len(METRICS)
    for name, formula in zip(METRICS, formulas, strict=True):
        assert formula.startswith(
            rf"\mathrm{{{name}}}@k = " if style == "latex" else f"{name}@k = "
        )
        assert formula.count("{") == formula.count("}")


def test_formula_counts_the_users():
    result = top_k_eval([[1], [], [2]], [{1}, {1}, set()], k=1)
    account = "2 of 3 users evaluated, 1 skipped (no relevant items), 1 without a list"
    assert account in result.formula("hit@1")


def test_formula_style(result):
    with pytest.raises(ValueError, match="style='html': choose from 'text', 'latex'"):
        result.formula("map", "html")


def test_own_latex_is_printed_as_it_is():
    metric = Metric("mine", "each", "1", "1", latex=r"\mu@k")
    result = top_k_eval(RANKS, TRUTHS, k=3, metrics=[metric])
    assert result.formula("mine", "latex").splitlines()[0] == r"\mu@k"
    assert result.formula("mine").startswith("mine@k = sum over")


# Merging


def test_merged_is_as_if_evaluated_at_once():
    # the same truths in two parts would be the same users
    more = [[[item + 100 for item in row] for row in rows] for rows in (RANKS, TRUTHS)]
    ranks, truths = [*RANKS, *more[0], [1], []], [*TRUTHS, *map(set, more[1]), set(), {1}]
    whole = top_k_eval(ranks, truths, k=[1, 4])
    parts = [top_k_eval(ranks[i : i + 2], truths[i : i + 2], k=[1, 4]) for i in (0, 2, 4)]
    merged = tl.merge(parts, disjoint=True)  # two of the parts have the same ground truths
    assert merged.to_dict() == whole.to_dict()
    for name in whole.names():
        assert merged.std(name) == pytest.approx(whole.std(name), abs=1e-12)
        np.testing.assert_array_equal(merged.per_user(name), whole.per_user(name))
    assert repr(merged) == f"{whole}, merged by position from 3 parts"
    assert (merged.n_users, merged.n_evaluated, merged.n_skipped, merged.n_missing) == (6, 5, 1, 1)


def test_merging_leaves_the_parts_alone():
    one, other = people("a"), people("b")
    before = repr(one), repr(other)
    one + other
    assert (repr(one), repr(other)) == before


def test_merged_users_and_counts():
    ranks, truths = {"x": [1], "extra": [1]}, {"x": {1}, "lost": {2}, "blank": set()}
    merged = people("a") + top_k_eval(ranks, truths, k=3, metrics=["mrr", "map"])
    assert list(merged.users) == ["a1", "a2", "x", "lost", "blank"]
    assert (merged.n_users, merged.n_evaluated, merged.n_extra, merged.n_missing) == (5, 4, 1, 1)
    assert merged.per_user("mrr@3")[:4].tolist() == [0.5, 1.0, 1.0, 0.0]


def test_merging_with_nobody():
    nobody = top_k_eval({}, {}, k=3, metrics=["mrr", "map"])
    for merged in (people("a") + nobody, nobody + people("a")):
        assert merged.to_dict() == people("a").to_dict()
        assert merged.std("map@3") == pytest.approx(people("a").std("map@3"))


@pytest.mark.parametrize("gains", ["linear", "exponential"])
def test_merging_graded(gains):
    def part(grade, key):
        truths = {key: {1: grade, 2: 1, 3: 1}, f"{key}2": {9: 1, 2: grade}}
        ranks = {key: [2, 1], f"{key}2": [5, 2]}
        metrics = ["ndcg@2", "cg@2", "map@2"]
        return top_k_eval(ranks, truths, metrics=metrics, gains=gains)

    merged = part(3, "a") + part(1, "b")  # the second has gains of 1 only
    for name in ("ndcg@2", "cg@2", "map@2"):
        values = [*part(3, "a").per_user(name), *part(1, "b").per_user(name)]
        assert merged[name] == pytest.approx(statistics.mean(values))
        assert merged.std(name) == pytest.approx(statistics.stdev(values))
        assert merged.per_user(name).tolist() == values


DIFFERENT = [
    ({"metrics": ["mrr", "hit"]}, r"one has mrr@3, map@3, the other mrr@3, hit@3"),
    ({"metrics": ["map", "mrr"]}, r"one has mrr@3, map@3, the other map@3, mrr@3"),
    ({"metrics": ["mrr"]}, r"one has mrr@3, map@3, the other mrr@3$"),
    ({"k": 2}, r"one has mrr@3, map@3, the other mrr@2, map@2"),
    ({"k": [1, 3]}, r"one has mrr@3, map@3, the other mrr@1, mrr@3, map@1, map@3"),
    ({"convention": "neurec"}, r"convention is 'standard' in one and 'neurec' in the other"),
    ({"empty": "zero"}, r"empty is 'skip' in one and 'zero' in the other"),
    ({"missing": "skip"}, r"missing is 'zero' in one and 'skip' in the other"),
    ({"gains": "exponential"}, r"gains is 'linear' in one and 'exponential'"),
    ({"aggregate": "pooled"}, r"pooled .*'mrr', 'map'"),
    ({"weights": [1, 2]}, r"weighted is False in one and True in the other"),
]


@pytest.mark.parametrize(("options", "message"), DIFFERENT, ids=lambda value: str(value)[:30])
def test_different_results_do_not_merge(options, message):
    with pytest.raises(ValueError, match=f"cannot merge: {message}"):
        people("a") + people("b", **options)


def test_different_thresholds_do_not_merge():
    one, other = (
        top_k_eval({user: [1]}, {user: {1: 1}}, k=1, relevant_from=least)
        for user, least in (("a", None), ("b", 1))
    )
    with pytest.raises(ValueError, match=r"cannot merge: relevant_from is None in one and 1"):
        one + other


def test_the_message_says_what_differs():
    own = [Metric("mine", "each", "1", divisor) for divisor in ("k", "R")]
    pairs = (
        [people("a", metrics=[metric]) for metric in own],
        [people("a", k=3), people("b", k=[3])],
    )
    for one, other in pairs:
        with pytest.raises(ValueError, match="cannot merge") as caught:
            one + other
        said = re.search("one has (.*), the other (.*)", str(caught.value))
        assert said is None or said[1] != said[2]


def test_a_user_counts_once():
    with pytest.raises(ValueError, match=r"user 'a1' is in both parts"):
        people("a") + people("a")
    extra = top_k_eval({"z": [1], "a2": [1]}, {"z": {1}, "a2": {1}}, k=3, metrics=["mrr", "map"])
    with pytest.raises(ValueError, match=r"user 'a2' is in both parts"):
        people("a") + extra


def test_by_key_and_by_position_do_not_merge():
    by_position = top_k_eval([[1]], [{1}], k=3, metrics=["mrr", "map"])
    for one, other in ((people("a"), by_position), (by_position, people("a"))):
        with pytest.raises(ValueError, match="by key, the other by position"):
            one + other


@pytest.mark.parametrize("other", [3, None, "mrr", {"mrr@3": 0.5}, match(RANKS, TRUTHS)])
def test_only_results_merge(other):
    with pytest.raises(TypeError, match="unsupported operand"):
        people("a") + other


# Own metrics


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


@pytest.mark.parametrize(
    ("counts", "numerators"), [("each", [2, 2]), ("nth", [1 + 2, 1 + 2]), ("first", [1, 1])]
)
def test_what_counts(counts, numerators):
    metric = Metric("mine", counts, "1", lambda k, R, n: 2 * n)
    values = top_k_eval(RANKS, TRUTHS, k=3, metrics=[metric]).per_user("mine@3")
    assert values.tolist() == [number / 6 for number in numerators]


def test_a_divisor_knows_k_and_n():
    metric = Metric("mine", "each", "1", lambda k, R, n: np.minimum(k, n))
    values = top_k_eval([[1], [1, 2, 3]], [{1}, {1}], k=2, metrics=[metric]).per_user("mine")
    assert values.tolist() == [[1.0, 1.0], [1.0, 0.5]]


def test_a_standard_metric_with_another_divisor():
    map_R = dataclasses.replace(METRICS["map"], name="map_R", divisor="R")
    result = top_k_eval(RANKS, TRUTHS, k=3, metrics=[map_R, "map"])
    trec = top_k_eval(RANKS, TRUTHS, k=3, convention="trec_eval")
    assert result["map_R@3"] == trec["map@3"] < result["map@3"]
    np.testing.assert_array_equal(tl.map(RANKS, TRUTHS, 3, divisor="R"), result.per_user("map_R"))


def test_an_own_graded_metric():
    metric = Metric("gain", "each", lambda r: r, "1", graded=True)
    result = top_k_eval([[1, 2]], [{2: 3, 1: 1}], k=2, metrics=[metric])
    assert result["gain@2"] == 1 + 3 / 2


def test_own_metrics_merge():
    metrics = [SQUARES]
    merged = people("a", metrics=metrics) + people("b", metrics=metrics)
    assert merged["squares@3"] == people("a", metrics=metrics)["squares@3"]


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


WRONG_DISCOUNTS = [
    lambda r: r - 1,
    lambda r: -r,
    lambda r: r * math.nan,
    lambda r: np.where(r > 2, math.inf, r),
    lambda r: np.ones(7),
    lambda r: None,
]


@pytest.mark.parametrize("discount", WRONG_DISCOUNTS)
@pytest.mark.parametrize("counts", ["each", "nth", "first"])
def test_discounts_that_cannot_be(counts, discount):
    with pytest.raises(ValueError, match=r"metric 'bad': its discount"):
        list(top_k_eval(RANKS, TRUTHS, k=3, metrics=[Metric("bad", counts, discount, "1")]))


def test_the_rank_of_a_wrong_discount_is_named():
    bad = Metric("bad", "each", lambda r: 3 - r, "1")
    with pytest.raises(ValueError, match=r"'bad': its discount at rank 3 is 0\.0; .*positive"):
        top_k_eval(RANKS, TRUTHS, k=5, metrics=[bad])
    assert top_k_eval(RANKS, TRUTHS, k=2, metrics=[bad])["bad@2"] > 0


WRONG_DIVISORS = [
    lambda k, R, n: k - 1,
    lambda k, R, n: -R,
    lambda k, R, n: math.nan,
    lambda k, R, n: math.inf,
    lambda k, R, n: R - 3,
    lambda k, R, n: np.ones(7),
    lambda k, R, n: None,
]


@pytest.mark.parametrize("divisor", WRONG_DIVISORS)
def test_divisors_that_cannot_be(divisor):
    with pytest.raises(ValueError, match=r"metric 'bad': its divisor"):
        list(top_k_eval(RANKS, TRUTHS, k=3, metrics=[Metric("bad", "each", "1", divisor)]))
    with pytest.raises(ValueError, match=r"metric 'recall': its divisor"):
        tl.recall(RANKS, TRUTHS, 3, divisor=divisor)


def test_the_place_of_a_wrong_divisor_is_named():
    bad = Metric("bad", "each", "1", lambda k, R, n: 2 - k + 0 * R)
    with pytest.raises(ValueError, match=r"'bad': its divisor at k=2, R=3, n=3 is 0\.0"):
        list(top_k_eval(RANKS, TRUTHS, k=3, metrics=[bad]))


def test_a_divisor_may_be_zero_where_no_hit_is_possible():
    smallest = Metric("smallest", "each", "1", lambda k, R, n: np.minimum(R, n))
    result = top_k_eval([[1], [], [1]], [{1}, {1}, set()], k=1, metrics=[smallest], empty="zero")
    assert result.per_user("smallest@1").tolist() == [1.0, 0.0, 0.0]


def compiled():
    """Count the compiled signatures of all kernels."""
    modules = [sys.modules[name] for name in sys.modules if name.startswith("toplist.kernels.")]
    kernels = {id(found): found for module in modules for found in vars(module).values()}.values()
    dispatchers = [getattr(kernel, "compiled", kernel) for kernel in kernels]
    return sum(len(one.signatures) for one in dispatchers if hasattr(one, "signatures"))


def evaluate_graded(metrics):
    for truths in (TRUTHS, [{7: 2, 3: 1}, {4: 3}]):
        result = top_k_eval(RANKS, truths, k=3, metrics=metrics)
        for name in result.terms.metrics:
            result.per_user(name)
            result.per_user(f"{name}@2")


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


# rbp(p)


def test_rbp_takes_its_parameter_in_the_name():
    result = top_k_eval(RANKS, TRUTHS, metrics=["rbp(p=0.5)@3", "rbp@3"])
    values = [0.5 * (1 + 0.5), 0.5 * (1 + 0.25)]
    assert result["rbp(p=0.5)@3"] == pytest.approx(statistics.mean(values))
    assert result["rbp@3"] == pytest.approx(0.2 * (1 + 0.8 + 1 + 0.64) / 2)
    assert list(result.to_dict()) == ["rbp(p=0.5)@3", "rbp@3"]
    assert result.per_user("rbp(p=0.5)").shape == (2, 3)
    assert "0.5" in result.formula("rbp(p=0.5)")
    assert (
        top_k_eval(RANKS, TRUTHS, k=3, metrics="rbp(p=0.5)")["rbp(p=0.5)@3"]
        == result["rbp(p=0.5)@3"]
    )


def test_rbp_at_two_k():
    result = top_k_eval(RANKS, TRUTHS, metrics=["rbp(p=0.5)@1", "rbp(p=0.5)@3"])
    assert next(iter(result)) == 0.5


def test_rbp_of_two_parameters():
    result = top_k_eval([[1]], [{1}], k=1, metrics=["rbp(p=0.5)", "rbp(p=0.25)", "rbp"])
    assert list(result) == pytest.approx([0.5, 0.75, 0.2])


def test_rbp_merges():
    merged = people("a", metrics=["rbp(p=0.5)"]) + people("b", metrics=["rbp(p=0.5)"])
    assert merged.n_users == 4


def test_rbp_is_found_by_the_name_that_was_asked():
    assert top_k_eval([[1]], [{1}], metrics=["rbp(p=0.8)@1"])["rbp(p=0.8)@1"] == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rbp(p=0)", r"rbp: p = 0\.0 must be .*above 0 and below 1"),
        ("rbp(p=1)", r"rbp: p = 1\.0 must be"),
        ("rbp(p=-0.5)", r"rbp: p = -0\.5 must be"),
        ("rbp(p=nan)", r"rbp: p = nan must be"),
        ("rbp(p=half)", r"rbp.*'half'"),
        ("rbp(q=0.5)", r"'rbp' takes no parameter 'q'"),
        ("ndcg(p=0.5)", r"'ndcg' takes no parameter; only rbp does"),
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


# Lists


def test_lists():
    lists = Lists([0, 3, 3, 5], [5, 7, 8, 4, 6])
    assert len(lists) == 3
    assert [row.tolist() for row in lists] == [[5, 7, 8], [], [4, 6]]
    assert lists[-1].tolist() == [4, 6]
    assert repr(lists) == "Lists(3 users, 5 ids of int64)"
    for user in (3, -4):
        with pytest.raises(IndexError, match=f"user {user} of 3"):
            lists[user]


def test_lists_are_fixed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Lists([0], []).items = np.zeros(1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [5]), r"offsets must begin with 0 and end with len\(items\) = 1"),
        (([0, 2], [5]), "offsets must begin with 0"),
        (([0], [5]), "offsets must begin with 0"),
        (([0, 2, 1, 3], [5, 7, 8]), "offsets fall after position 1"),
        (([0.0, 1.0], [5]), "offsets must be a 1-D array of integers"),
        (([[0, 1]], [5]), "offsets must be a 1-D array of integers"),
        (([], []), "offsets must be"),
        (([0, 1], [[5]]), "items a 1-D array"),
        (([0, 1], [5], [1, 2]), "2 gains for 1 items"),
    ],
)
def test_lists_are_checked(arguments, message):
    with pytest.raises(ValueError, match=message):
        Lists(*arguments)


@pytest.mark.parametrize("dtype", [bool, int, np.uint8, np.float32])
def test_lists_from_a_matrix(dtype):
    lists = Lists.from_matrix(np.array([[0, 0, 1, 1], [0, 1, 0, 0], [0, 0, 0, 0]], dtype))
    assert [row.tolist() for row in lists] == [[2, 3], [1], []]
    assert lists.gains is None


def test_lists_from_a_matrix_of_grades():
    lists = Lists.from_matrix([[0, 0.5, 3], [1, 0, 0]])
    assert [row.tolist() for row in lists] == [[1, 2], [0]]
    assert lists.gains.tolist() == [0.5, 3.0, 1.0]
    assert tl.cg([[2, 1], [0, 1]], lists)[:, 1].tolist() == [3.5, 1.0]


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, -1]], r"entry -1 of user 0, item 1.*finite"),
        ([[0.0, 1], [math.nan, 0]], r"entry nan of user 1, item 0"),
        ([[math.inf]], r"entry inf of user 0, item 0"),
        ([0, 1], r"2-D array of numbers is needed .*not 1-D of int64"),
        ([["a"]], r"2-D array of numbers is needed .*not 2-D of <U1"),
        ([[None]], r"2-D array of numbers is needed .*not 2-D of object"),
    ],
)
def test_matrices_that_are_refused(matrix, message):
    with pytest.raises(ValueError, match=rf"Lists\.from_matrix: .*{message}"):
        Lists.from_matrix(matrix)


# Hits


def test_hits_by_hand_are_those_of_the_join():
    hits = Hits([0, 3, 5], [1, 2, 5, 1, 3], [3, 4], [5, 5])
    joined = match(RANKS, TRUTHS)
    assert repr(hits) == repr(joined) == "Hits(2 users, 5 hits, lists read to k=5)"
    assert len(hits) == 2
    assert top_k_eval(hits, k=3).to_dict() == top_k_eval(joined, k=3).to_dict()


def test_hits_with_keys():
    hits = Hits([0, 1, 1], [2], [1, 1], [2, 0], k=4, users=["ann", "bob"], n_extra=3)
    result = top_k_eval(hits, k=4, metrics="mrr")
    assert list(result.users) == ["ann", "bob"]
    assert (result["mrr@4"], result.n_missing, result.n_extra) == (0.25, 1, 3)
    with pytest.raises(ValueError, match="user 'bob' has no ranked list"):
        tl.hit(hits, missing="raise")


def test_hits_with_gains():
    hits = Hits([0, 1], [2], [2], [2], gains=[1], ideal_gains=[3, 1])
    assert tl.cg(hits).tolist() == [[0.0, 1.0]]
    best = 3 + 1 / math.log2(3)
    assert tl.ndcg(hits)[0, 1] == pytest.approx(1 / math.log2(3) / best)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0], [1], [1]), r"user 0: ranks \[0\].*rise from 1"),
        (([0, 1], [3], [1], [2]), r"user 0: ranks \[3\] of 1 relevant items in a list of 2"),
        (([0, 2], [2, 1], [2], [3]), r"ranks \[2, 1\]"),
        (([0, 2], [2, 2], [2], [3]), r"ranks \[2, 2\]"),
        (([0, 0, 2], [1, 2], [1, 1], [3, 3]), r"user 1: ranks \[1, 2\] of 1 relevant"),
        (([0, 0], [], [1], [-1]), r"list of -1"),
        (([0, 1], [1], [1, 1], [1]), "disagree on the number of users"),
        (([0, 1], [1], [1], [1, 1]), "disagree on the number of users"),
        (([0], [1], [], []), "offsets must rise from 0 to the number of ranks"),
        (([1, 1], [1], [1], [1]), "offsets must rise from 0"),
        (([0, 2, 1], [1], [1, 1], [1, 1]), "offsets must rise from 0"),
        (([0, 1], [1.5], [1], [2]), "ranks must be whole numbers"),
        (([0, 1], [1], [math.nan], [2]), "n_relevant must be whole numbers"),
    ],
)
def test_hits_are_checked(arguments, message):
    with pytest.raises(ValueError, match=message):
        Hits(*arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 1}, r"user 0: ranks \[2\].*list of 2 read to k=1"),
        ({"k": 2.5}, "k must be a whole number"),
        ({"users": ["ann"]}, "1 users for 2 rows"),
        ({"users": ["ann", "ann"]}, "user 'ann'"),
        ({"gains": [1]}, "ideal_gains|ideal gains"),
        ({"ideal_gains": [1]}, "gains"),
        ({"gains": [1, 2], "ideal_gains": [3]}, "2 gains and 1 ideal gains for 1 hits and 1"),
    ],
)
def test_options_of_hits_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        Hits([0, 1, 1], [2], [1, 0], [2, 1], **options)


def test_large_ranks_do_not_wrap_around():
    far = 2**32 + 1
    for make in (
        lambda: Hits([0, 1], [far], [1], [2 * far]),
        lambda: Hits.from_ranks([far], 2 * far),
    ):
        assert tl.hit(make(), k=1).tolist() == [[0.0]]


@pytest.mark.parametrize("dtype", [bool, int, np.float64])
def test_hits_from_a_matrix(dtype):
    hits = Hits.from_matrix(np.array([[0, 1, 1], [0, 0, 0]], dtype), [3, 1])
    assert hits.ranks.tolist() == [2, 3]
    assert hits.offsets.tolist() == [0, 2, 2]
    assert (hits.k, hits.n_listed.tolist()) == (3, [3, 3])
    assert tl.recall(hits)[0].tolist() == [0, 1 / 3, 2 / 3]


@pytest.mark.parametrize(
    ("matrix", "n_relevant", "message"),
    [
        ([0, 1], [1], "2-D array of 0 and 1"),
        ([[0, 2]], [1], "2-D array of 0 and 1"),
        ([[0, math.nan]], [1], "2-D array of 0 and 1"),
        ([[1, 1]], [1], r"user 0: ranks \[1, 2\] of 1 relevant items"),
        ([[1, 1]], [2, 2], "disagree on the number of users"),
    ],
)
def test_hit_matrices_that_are_refused(matrix, n_relevant, message):
    with pytest.raises(ValueError, match=message):
        Hits.from_matrix(matrix, n_relevant)


def test_hits_from_ranks():
    for n_listed in (10, [10, 10, 10], np.array([10, 10, 10])):
        hits = Hits.from_ranks([1, 0, 3], n_listed)
        assert hits.ranks.tolist() == [1, 3]
        assert hits.n_relevant.tolist() == [1, 1, 1]
        assert tl.mrr(hits, k=3)[:, 2].tolist() == [1.0, 0.0, 1 / 3]
    assert Hits.from_ranks([1, 0], [1, 0]).n_listed.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("ranks", "n_listed", "message"),
    [
        ([1, 11], 10, r"user 1: rank 11 in a list of 10; .*0 means not listed"),
        ([-1], 10, r"user 0: rank -1"),
        ([1.5], 10, "rank_of_the_item must be whole numbers"),
        ([1, 2], [3, 3, 3], "n_listed"),
    ],
)
def test_ranks_that_are_refused(ranks, n_listed, message):
    with pytest.raises(ValueError, match=message):
        Hits.from_ranks(ranks, n_listed)


def test_hits_merge():
    one, other = (match({user: [1, 2], "extra": []}, {user: {2}, f"{user}2": {1}}) for user in "ab")
    both = one + other
    assert list(both.users) == ["a", "a2", "b", "b2"]
    assert both.n_extra == 2
    assert both.offsets.tolist() == [0, 1, 1, 2, 2]
    assert both.ranks.tolist() == [2, 2]
    with pytest.raises(ValueError, match="user 'a' is in both parts"):
        one + one
    with pytest.raises(ValueError, match="Hits of k 2 and of k 3 do not merge"):
        one + match({"c": [1, 2, 3]}, {"c": {2}})
    with pytest.raises(TypeError, match="unsupported operand"):
        one + 1


def test_hits_are_cheap_to_ship():
    hits = match({"ann": [1, 2]}, {"ann": {2: 3.0, 7: 1}})
    shipped = pickle.loads(pickle.dumps(hits))
    assert top_k_eval(shipped, k=2).to_dict() == top_k_eval(hits, k=2).to_dict()
    assert list(shipped.users) == ["ann"]


def test_a_result_says_how_equal_scores_were_ordered():
    truth = {"ann": {"a": 1}}
    ranks = {"ann": {"b": 1.5, "a": 1.5}}
    shown = [
        tl.top_k_eval(ranks, truth, 1, metrics=["hit"], ties=ties) for ties in ("item", "item_desc")
    ]
    assert [one["hit@1"] for one in shown] == [1.0, 0.0]
    assert "equal scores by item id, ascending" in str(shown[0])
    assert "equal scores by item id, descending" in shown[1].formula("hit")
    assert "equal scores" not in str(tl.top_k_eval(ranks, truth, 1))
    again = tl.TopKResult.from_bytes(shown[0].to_bytes())
    assert "equal scores by item id, ascending" in str(again)
    with pytest.raises(ValueError, match="ties"):
        tl.merge([shown[0], shown[1]])


def test_merge_takes_several_results_and_no_flag_by_place():
    parts = [tl.top_k_eval({u: [1, 2]}, {u: {2 - u % 2}}, 2, metrics="mrr") for u in range(3)]
    assert tl.merge(*parts) == tl.merge(parts) == sum(parts[1:], parts[0])
    with pytest.raises(ValueError, match="user 0 is in both"):
        tl.merge(parts[0], parts[0])
    with pytest.raises(TypeError, match="merge takes results of top_k_eval, not bool"):
        tl.merge(parts, True)


def test_tables_and_tests_print_one_mean_alike():
    """0.10475 is 0.10474999999999998 from counts, and 0.10475000000000001 from values."""
    rng = np.random.default_rng(2)
    truth = {u: set(rng.permutation(60)[:9].tolist()) for u in range(200)}
    results = {
        name: tl.top_k_eval(
            {u: rng.permutation(60)[:20].tolist() for u in truth},
            truth,
            [5, 10, 20],
            metrics=["precision", "recall"],
        )
        for name in "ab"
    }
    table = tl.compare(results).to_text()
    for test in tl.compare(results).test():
        shown = str(tl.compare(results).test(test.name)).split()
        for mean in (test.mean, test.baseline_mean):
            text = f"{float(f'{mean:.12g}'):.4f}"
            assert text in table and text in shown
