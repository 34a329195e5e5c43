"""A result: means and curves by name, values per user, spreads, intervals, bounds, other forms."""

import math
import re
import statistics

import numpy as np
import pytest
from doors import by_words
from systems import RANKS, TRUTHS

import toplist as tl
from toplist import top_k_eval
from toplist.stats.distributions import t_ppf

SIX = ("hit", "precision", "recall", "map", "ndcg", "mrr")
THREE = {"ann": [1, 2], "bob": [2, 3], "cid": [4]}, {"ann": {2}, "bob": {2}, "cid": {5}}
# What MLflow (validation.py, `_VALID_PARAM_AND_METRIC_NAMES`, on Windows) and W&B take.
MLFLOW, WANDB = re.compile(r"^[/\w.\- ]*$"), re.compile(r"^[_a-zA-Z][_a-zA-Z0-9]*$")


@pytest.fixture(scope="module")
def result():
    return top_k_eval(RANKS, TRUTHS, k=[1, 3, 5])


def evaluated(ranks=RANKS, truths=TRUTHS, k=3, **options):
    return by_words(ranks, truths, k, **options)


def test_iteration_follows_what_was_asked(result):
    arrays = list(result)
    assert [array.shape for array in arrays] == [(3,)] * 6
    assert arrays[2].tolist() == [result["recall@1"], result["recall@3"], result["recall@5"]]
    assert all(type(value) is float for value in evaluated())
    for ks in ([3], [5, 1]):
        (array,) = evaluated(k=ks, metrics=["recall"])
        assert array.tolist() == [result[f"recall@{k}"] for k in ks]
    mixed = list(evaluated(k=None, metrics=["recall@5", "ndcg@1", "recall@1"]))
    assert mixed == [result["recall@5"], result["ndcg@1"], result["recall@1"]]


WRONG_NAMES = [
    "nope",
    "ndcg@0",
    "ndcg@6",
    "ndcg@-1",
    "ndcg@x",
    "ndcg@",
    "@3",
    "ndcg@3@3",
    "dcg",
    "dcg@3",
]


@pytest.mark.parametrize("name", [*WRONG_NAMES, "ndcg@²", "", 3, None, ("ndcg", 3), ["ndcg"]])
def test_wrong_names(result, name):
    for ask in (result.__getitem__, result.std, result.interval, result.per_user, result.formula):
        with pytest.raises(KeyError) as caught:
            ask(name)
        message = caught.value.args[0]
        assert message.startswith(repr(name))
        assert all(valid in message for valid in (*SIX, "@1", "@5"))


def test_users_and_frames(result):
    assert list(top_k_eval(*THREE, k=1).users) == ["ann", "bob", "cid"]
    assert list(result.users) == [0, 1] and list(top_k_eval([1], {1}, k=1).users) == [0]
    pytest.importorskip("pandas")
    frame = result.to_pandas()
    assert list(frame.columns) == ["metric", "k", "mean", "std", "low", "high", "n", "rough"]
    row = frame.iloc[7]
    assert len(frame) == 18 and (row["metric"], row["k"], row["n"]) == ("recall", 3, 2)
    assert (row["mean"], row["std"]) == (result["recall@3"], result.std("recall@3"))
    assert (row["low"], row["high"]) == result.interval("recall@3")
    assert row["rough"] == "only 2 users" and set(frame[frame["metric"] == "hit"]["rough"]) == {""}
    frame = top_k_eval(*THREE, metrics=["mrr@2", "hit@1"]).to_pandas(per_user=True)
    assert frame.to_dict("list") == {
        "user_id": ["ann", "bob", "cid"],
        "mrr@2": [0.5, 1.0, 0.0],
        "hit@1": [0.0, 1.0, 0.0],
    }


def test_one_number_is_a_float_and_several_are_none():
    assert float(evaluated(metrics="ndcg")) == evaluated()["ndcg@3"]
    assert float(evaluated(k=None, metrics=["map@2"])) == evaluated()["map@2"]
    assert np.isnan(float(evaluated([], [], metrics="mrr")))
    assert sorted([evaluated(k=k, metrics="recall") for k in (3, 1)], key=float)[0].ks == (1,)
    words = "has 2 means, ndcg@1, ndcg@3: take one, result['ndcg@1']"
    with pytest.raises(TypeError, match=re.escape(words)):
        float(evaluated(metrics="ndcg", k=[1, 3]))
    with pytest.raises(TypeError, match=r"has 18 means, hit@1, .*, precision@3, \.\.\.: take one"):
        float(evaluated(k=[1, 2, 3]))


def test_means_as_a_dict_with_names_that_other_tools_take(result):
    values = result.to_dict()
    assert list(values) == [f"{name}@{k}" for name in SIX for k in (1, 3, 5)]
    assert values["recall@3"] == pytest.approx(7 / 12)
    assert all(type(value) is float for value in values.values())
    own = [tl.Metric(name, "each", "1", "k") for name in ("a.b (mine)", "Größe", "a.b", "a_b")]
    with_k = (name for name, metric in tl.METRICS.items() if metric.cut != "n")
    many = evaluated(metrics=[*with_k, "rbp(p=0.5)", "precision(rel=1)", *own[:2]], k=[1, 3])
    keys = many.to_dict(at="_at_")
    assert list(keys.values()) == list(many.to_dict().values())
    assert all(MLFLOW.match(key) and WANDB.match(key) for key in keys)
    assert {"ndcg_at_3", "rbp_p_0_5_at_3", "a_b_mine_at_1", "Gr_e_at_1"} <= set(keys)
    assert tl.compare({"mine": many}).to_dict(at="_at_") == {"mine": keys}
    with pytest.raises(ValueError, match=r"'a.b@3' and 'a_b@3' are both 'a_b_at_3': rename one"):
        evaluated(metrics=own[2:]).to_dict(at="_at_")
    with pytest.raises(TypeError, match="at=3: give the text"):
        result.to_dict(at=3)


# Intervals


@pytest.mark.parametrize("level", [0.5, 0.99])
def test_intervals_are_students_at_every_level(result, level):
    name = "ndcg"
    values = tl.curves(name, RANKS, TRUTHS)[:, 4].tolist()
    mean, half = statistics.mean(values), t_ppf(0.5 + level / 2, 1) * statistics.stdev(values)
    low, high = mean - half / math.sqrt(2), mean + half / math.sqrt(2)
    found = result.interval(f"{name}@5", level)
    assert found == pytest.approx((max(low, 0), min(high, 1)), abs=1e-12)
    for wrong in (0, 1, -0.5, 95, math.nan):
        with pytest.raises(ValueError, match=f"level must be between 0 and 1, not {wrong}"):
            result.interval(f"{name}@5", wrong)


# Those whose mean may pass 1; the ideal of alpha_ndcg is greedy, not the best
OPEN = {"dcg", "cg", "alpha_ndcg"}


@pytest.mark.parametrize("convention", tl.CONVENTIONS)
def test_only_metrics_that_cannot_leave_0_and_1_are_cut(convention):
    lists, truths = [[1, 2], [3, 4]], [{1, 2}, {8}]
    beyond = tl.Metric("beyond", "each", "1", lambda k, R, n: np.maximum(R - 1, 1))
    known = tl.CONVENTIONS[convention].metrics
    names = [name for name, metric in known.items() if metric.cut != "n"]
    found = tl.top_k_eval(lists, truths, 2, metrics=[*names, beyond], convention=convention)
    ends = {name: found.interval(f"{name}@2") for name in found.terms.metrics}
    past = {name for name, (_, high) in ends.items() if high > 1}  # NaN of one user is not
    assert past <= OPEN | {"beyond"} and (convention != "standard" or past == OPEN | {"beyond"})
    assert not any(low < 0 for name, (low, _) in ends.items() if name not in past)
    graded = tl.top_k_eval(lists, [{1: 3, 2: 1}, {8: 1}], 2, metrics=["ndcg", "cg"])
    assert graded.interval("ndcg@2")[1] == 1 < graded.interval("cg@2")[1]


def test_an_interval_does_not_hang_on_a_metric_beside_it():
    """In leave-one-out dcg is within 1, also where ERR is asked, whose gains are of its own."""
    lists = {"a": [1, 2], "b": [2, 3], "c": [3, 4], "d": [4, 1]}
    truths = {"a": 1, "b": 3, "c": 3, "d": 2}
    alone = tl.top_k_eval(lists, truths, 2, metrics="dcg")
    for other in ("err", "nerr", "ndcg", "judged"):
        beside = tl.top_k_eval(lists, truths, 2, metrics=["dcg", other])
        assert beside.interval("dcg@2") == alone.interval("dcg@2")
    assert alone.interval("dcg@2")[1] == 1


# Bounds: that they are the ends of the means of all judgements, is said by properties

GRADES = {"q": {"a": 1, "b": 0, "c": 2, "d": 0, "e": 1, "z": 1}, "p": {"a": 1, "n": 0, "m": 1}}
HOLED = {"q": list("xabycde"), "p": ["a", "n"], "e": ["x"]}


def holed(*users, k=3, metrics="recall", grades=GRADES, **options):
    users = users or ["q"]
    sides = ({user: side[user] for user in users} for side in (HOLED, grades | {"e": {"y": 0}}))
    return by_words(*sides, k, metrics=metrics, **options)


def test_bounds_at_any_k_of_the_users_of_the_mean_of_parts_and_segments():
    found = holed(metrics=["precision", "rbp", "recall"])
    assert found.bounds("precision@3") == pytest.approx((1 / 3, 2 / 3))
    assert found.bounds("rbp") == pytest.approx((0.16, 0.36))
    assert found.bounds("precision@2").high == 1
    assert holed("q", "e").bounds("recall") == found.bounds("recall@3") == (1 / 4, 2 / 5)
    both = holed("q", "p")
    assert both.by({"q": 1, "p": 2})[2].bounds("recall") == (0.5, 0.5)
    assert sum([holed("q"), holed("p")]).bounds("recall") == both.bounds("recall")


TREC = {"convention": "trec_eval", "relevant_from": 2, "metrics": ["ndcg", "bpref"]}
# (result, name, words of the error)
UNBOUNDED = [
    (lambda: holed(k=[1, 3], metrics="ndcg"), "ndcg", r"at one k: give one of ndcg@1, ndcg@3$"),
    (lambda: holed(metrics=["judged"]), "judged@3", "judged has no bounds"),
    (lambda: holed(metrics=["shannon_entropy"]), "shannon_entropy@3", "shannon_entropy has no b"),
    (lambda: holed().without_users(), "recall", "holds no hits, so it has no bounds; of files"),
    (lambda: holed(metrics="map", aggregate="pooled"), "map", "no bounds of ratios of sums"),
    (lambda: holed(unjudged="drop"), "recall", "no bounds: evaluate with unjudged='miss'"),
    # in trec_eval nDCG reads all grades, whatever is relevant
    *((lambda: holed(**TREC), one, "has no bounds.* have hit, prec") for one in TREC["metrics"]),
]  # fmt: skip


@pytest.mark.parametrize(("make", "name", "words"), UNBOUNDED)
def test_what_has_no_bounds(make, name, words):
    with pytest.raises(ValueError, match=words):
        make().bounds(name)
    with pytest.raises(KeyError, match="this result has recall"):
        holed().bounds("map@3")
