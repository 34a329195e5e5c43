"""Several runs of a system: users and runs are two sources of variance."""

import numpy as np
import pytest
from systems import TRUTH, N, system

import toplist as tl


def test_means_of_runs_are_the_means_of_their_means(runs):
    both = tl.compare(runs)
    expected = np.mean([run["ndcg@10"] for run in runs["a"]])
    assert both.to_dict()["a"]["ndcg@10"] == pytest.approx(expected, rel=1e-15)
    assert both.systems == ["a", "b"] and next(iter(both.results)) == "a, run 1"
    assert "means over 3 independent runs of each system" in str(both)
    pytest.importorskip("pandas")
    frame = both.to_pandas()
    assert frame["run"].tolist() == [1, 1, 2, 2, 3, 3] * 2


@pytest.mark.parametrize("kind", ["independent", "paired"])
def test_runs_are_tested_as_arrays_of_their_values(runs, kind):
    found = tl.compare(runs, baseline="a", runs=kind).test("ndcg@10")
    users = list(TRUTH)
    values = {
        name: [dict(zip(run.users, run.per_user("ndcg@10"), strict=True)) for run in some]
        for name, some in runs.items()
    }
    assert set(values["a"][0]) == set(users)
    expected = tl.inference.paired_tests(values, baseline="a", name="ndcg@10", runs=kind)
    for field in ("difference", "error", "df", "p", "low", "high", "error_users", "p_users", "n"):
        assert getattr(found[0], field) == getattr(expected[0], field)
    assert found[0].n == N  # never runs x users
    assert found[0].error >= found[0].error_users
    assert "for models trained anew" in str(found)


def test_runs_in_another_order_of_users_are_the_same(runs):
    users = list(TRUTH)[::-1]
    turned = runs | {"a": [system(0.2, s, users=users) for s in (1, 2, 3)]}
    one, other = (tl.compare(some, baseline="a").test("ndcg@10")[0] for some in (runs, turned))
    assert (one.p, one.low, one.high) == (other.p, other.low, other.high)


def test_paired_runs_may_be_of_several_splits():
    other = {user: {item + 1 for item in relevant} for user, relevant in TRUTH.items()}
    splits = {
        name: [system(q, 1), system(q, 2, truth=other)] for name, q in (("a", 0.2), ("b", 0.35))
    }
    paired = tl.compare(splits, baseline="a", runs="paired")
    assert paired.differences == [] and paired.test("ndcg@10")[0].n == N
    with pytest.raises(ValueError, match="other ground truths of the same sizes"):
        tl.compare(splits, baseline="a").test("ndcg@10")


def test_what_runs_cannot_be(runs):
    one = runs["a"][0]
    with pytest.raises(ValueError, match="as many runs of every system; there are a 3, b 1"):
        tl.compare({"a": runs["a"], "b": one}, runs="paired")
    with pytest.raises(TypeError, match="'a' is list"):
        tl.compare({"a": [one, 0.5]})
    with pytest.raises(ValueError, match="'a' has no runs"):
        tl.compare({"a": []})
    with pytest.raises(ValueError, match="'a, run 1': rename a system"):
        tl.compare({"a": [one, one], "a, run 1": one})
    both = tl.compare(runs)
    for call in (lambda: both.band("ndcg"), both.power, lambda: both.tukey("ndcg@10")):
        with pytest.raises(ValueError, match=r"several runs: test\(\) and equivalence\(\)"):
            call()
    mixed = tl.compare({"a": one, "b": runs["b"]}, baseline="a").test("ndcg@10")
    assert "ONE RUN" in str(mixed) and "says nothing of other seeds" in str(mixed)
    assert mixed[0].p != mixed[0].p


def test_clusters_are_counted_with_runs_too(runs):
    clusters = {user: number // 3 for number, user in enumerate(TRUTH)}
    found = tl.compare(runs, baseline="a").test("ndcg@10", clusters=clusters)
    assert "over 120 users in 40 clusters" in str(found)
    assert "and 3 independent runs of each system" in found.sentence()
    assert "clusters so few" not in str(found)
    few = {user: number // 20 for number, user in enumerate(TRUTH)}
    text = str(tl.compare(runs, baseline="a").test("ndcg@10", clusters=few))
    assert "clusters so few or unequal leave 5.0 degrees of freedom" in text


def test_few_runs_and_repeated_splits_are_said(runs):
    text = str(tl.compare(runs, baseline="a", runs="paired").test("ndcg@10"))
    assert "repeated splits, these overlap: their variance is a lower bound" in text
    assert "of 2 or 3 runs, p for models trained anew is cautious" in text
    many = {name: [*some, some[0]] for name, some in runs.items()}
    text = str(tl.compare(many, baseline="a").test("ndcg@10"))
    assert "these overlap" in text and "is cautious" not in text


@pytest.mark.parametrize("kind", ["independent", "paired"])
def test_equivalence_of_few_runs_agrees_with_the_interval_of_their_difference(kind):
    rng = np.random.default_rng(0)
    values = {name: list(rng.normal(np.array([[0.1], [-0.1]]), 1, (2, 300))) for name in "ab"}
    ends = tl.inference.paired_tests(values, baseline="b", runs=kind, level=0.9)[0]
    reach = max(-ends.low, ends.high)
    for margin, within in ((0.99 * reach, False), (1.01 * reach, True)):
        found = tl.inference.equivalence(values, baseline="b", runs=kind, margin=margin)[0]
        assert (found.p < 0.05) == within
        assert (found.low, found.high) == pytest.approx((ends.low, ends.high))
