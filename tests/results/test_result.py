"""A result: means and curves by name, values per user, one number, and other forms."""

import re
from collections.abc import Mapping

import numpy as np
import pytest
from doors import by_words
from systems import RANKS, TRUTHS

import toplist as tl
from toplist import top_k_eval

SIX = ("hit", "precision", "recall", "map", "ndcg", "mrr")

THREE_USERS = {"ann": [1, 2], "bob": [2, 3], "cid": [4]}, {"ann": {2}, "bob": {2}, "cid": {5}}


@pytest.fixture
def result():
    return top_k_eval(RANKS, TRUTHS, k=[1, 3, 5])


def test_iteration_follows_what_was_asked(result):
    arrays = list(result)
    assert [array.shape for array in arrays] == [(3,)] * 6
    assert arrays[2].tolist() == [result["recall@1"], result["recall@3"], result["recall@5"]]
    assert all(type(value) is float for value in top_k_eval(RANKS, TRUTHS, k=3))
    for ks in ([3], [5, 1]):
        (array,) = top_k_eval(RANKS, TRUTHS, k=ks, metrics=["recall"])
        assert array.tolist() == [result[f"recall@{k}"] for k in ks]
    mixed = list(top_k_eval(RANKS, TRUTHS, metrics=["recall@5", "ndcg@1", "recall@1"]))
    assert mixed == [result["recall@5"], result["ndcg@1"], result["recall@1"]]


def test_means_and_curves_by_name(result):
    assert type(result["ndcg@4"]) is float
    assert result["ndcg"].shape == (5,)
    for name in SIX:
        assert result[name].tolist() == [result[f"{name}@{k}"] for k in range(1, 6)]
        np.testing.assert_allclose(result[name], tl.curves(name, RANKS, TRUTHS).mean(axis=0))


def test_a_curve_may_be_written_to(result):
    before = result["ndcg@3"]
    result["ndcg"][:] = 0
    result.std("ndcg")[:] = 0
    assert result["ndcg@3"] == before
    assert result.std("ndcg@3") > 0


WRONG_NAMES = ["nope", "ndcg@0", "ndcg@6", "ndcg@-1", "ndcg@x", "ndcg@", "@3", "ndcg@3@3", "dcg"]


@pytest.mark.parametrize("name", [*WRONG_NAMES, "ndcg@²", "", 3, None, ("ndcg", 3), ["ndcg"]])
def test_wrong_names(result, name):
    for ask in (result.__getitem__, result.std, result.interval, result.per_user, result.formula):
        with pytest.raises(KeyError) as caught:
            ask(name)
        message = caught.value.args[0]
        assert message.startswith(repr(name))
        assert all(valid in message for valid in (*SIX, "@1", "@5"))


def test_per_user(result):
    assert result.per_user("ndcg").shape == (2, 5)
    assert result.per_user("recall@3").tolist() == [2 / 3, 0.5]
    for name in SIX:
        np.testing.assert_array_equal(result.per_user(name), tl.curves(name, RANKS, TRUTHS))
        np.testing.assert_array_equal(result.per_user(f"{name}@3"), result.per_user(name)[:, 2])


def test_users():
    assert list(top_k_eval(*THREE_USERS, k=1).users) == ["ann", "bob", "cid"]
    assert list(top_k_eval(RANKS, TRUTHS, k=1).users) == [0, 1]
    assert list(top_k_eval([1], {1}, k=1).users) == [0]


def test_to_dict(result):
    values = result.to_dict()
    assert list(values) == [f"{name}@{k}" for name in SIX for k in (1, 3, 5)]
    assert values["recall@3"] == pytest.approx(7 / 12)
    assert all(type(value) is float for value in values.values())
    asked = ["map@5", "hit@2"]
    assert list(top_k_eval(RANKS, TRUTHS, metrics=asked).to_dict()) == asked


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
    frame = top_k_eval(*THREE_USERS, metrics=["mrr@2", "hit@1"]).to_pandas(per_user=True)
    assert list(frame.columns) == ["user_id", "mrr@2", "hit@1"]
    assert frame["user_id"].tolist() == ["ann", "bob", "cid"]
    assert frame["mrr@2"].tolist() == [0.5, 1.0, 0.0]
    assert frame["hit@1"].tolist() == [0.0, 1.0, 0.0]


# What MLflow (validation.py, `_VALID_PARAM_AND_METRIC_NAMES`, on Windows) and W&B take.
MLFLOW, WANDB = re.compile(r"^[/\w.\- ]*$"), re.compile(r"^[_a-zA-Z][_a-zA-Z0-9]*$")


def evaluated(ranks=RANKS, truths=TRUTHS, k=3, **options):
    return by_words(ranks, truths, k, **options)


def test_one_number_is_a_float():
    assert float(evaluated(metrics="ndcg")) == evaluated()["ndcg@3"]
    assert float(evaluated(k=None, metrics=["map@2"])) == evaluated()["map@2"]
    assert float(evaluated(k=[3], metrics="mrr")) == evaluated()["mrr@3"]
    assert np.isnan(float(evaluated([], [], metrics="mrr")))
    assert sorted([evaluated(k=k, metrics="recall") for k in (3, 1)], key=float)[0].ks == (1,)


@pytest.mark.parametrize("asked", [{}, {"metrics": "ndcg", "k": [1, 3]}])
def test_several_numbers_are_none(asked):
    names = evaluated(**asked).names()
    words = f"this result has {len(names)} means, {', '.join(names)}: take one, result['{names[0]}'"
    with pytest.raises(TypeError, match=re.escape(words)):
        float(evaluated(**asked))
    with pytest.raises(TypeError, match=r"has 18 means, hit@1, .*, precision@3, \.\.\.: take one"):
        float(evaluated(k=[1, 2, 3]))


OWN = [tl.Metric("a.b (mine)", "each", "1", "k"), tl.Metric("Größe", "each", "1", "k")]


def test_names_that_other_tools_take():
    with_k = (name for name, metric in tl.METRICS.items() if metric.cut != "n")
    names = [*with_k, "rbp(p=0.5)", "precision(rel=1)", *OWN]
    result = evaluated(metrics=names, k=[1, 3])
    keys = result.to_dict(at="_at_")
    assert list(keys.values()) == list(result.to_dict().values())
    assert all(MLFLOW.match(key) and WANDB.match(key) for key in keys)
    assert {"ndcg_at_3", "rbp_at_1", "rbp_p_0_5_at_3", "a_b_mine_at_1", "Gr_e_at_1"} <= set(keys)
    assert not any(MLFLOW.match(key) or WANDB.match(key) for key in result.to_dict())
    assert list(evaluated(metrics="rbp(p=0.5)").to_dict(at="/")) == ["rbp_p_0_5/3"]
    both = tl.compare({"mine": result}).to_dict(at="_at_")
    assert both == {"mine": keys}


def test_two_names_of_one_key_are_refused():
    names = [tl.Metric(name, "each", "1", "k") for name in ("a.b", "a_b")]
    with pytest.raises(ValueError, match=r"'a.b@3' and 'a_b@3' are both 'a_b_at_3': rename one"):
        evaluated(metrics=names).to_dict(at="_at_")
    with pytest.raises(TypeError, match="at=3: give the text"):
        evaluated().to_dict(at=3)


def test_names_are_in_a_result_that_has_them(result):
    assert "ndcg@3" in result and "ndcg" in result
    assert "ndcg@6" not in result and 3 not in result
    assert not isinstance(result, Mapping)
