"""Several runs of a system: users and runs are two sources of variance."""

import numpy as np
import pytest
from systems import TRUTH, N, segment, system

import toplist as tl

USERS = list(TRUTH)


def test_means_of_runs_are_the_means_of_their_means(runs):
    both = tl.compare(runs)
    expected = np.mean([run["ndcg@10"] for run in runs["a"]])
    assert both.to_dict()["a"]["ndcg@10"] == pytest.approx(expected, rel=1e-15)
    assert both.systems == ["a", "b"] and next(iter(both.results)) == "a, run 1"
    assert "means over 3 independent runs of each system" in str(both)
    by = both.by({user: segment(user) for user in TRUTH})
    assert "whether segments differ is not tested of several runs" in str(by.test("ndcg@10"))
    pytest.importorskip("pandas")
    assert both.to_pandas()["run"].tolist() == [1, 1, 2, 2, 3, 3] * 2


@pytest.mark.parametrize("kind", ["independent", "paired"])
def test_runs_are_tested_as_arrays_of_their_values_in_any_order(runs, kind):
    found = tl.compare(runs, baseline="a", runs=kind).test("ndcg@10")
    turned = runs | {"a": [system(0.2, s, users=USERS[::-1]) for s in (1, 2, 3)]}
    other = tl.compare(turned, baseline="a", runs=kind).test("ndcg@10")
    values = {name: [run.per_user("ndcg@10", keyed=True) for run in runs[name]] for name in runs}
    expected = tl.inference.paired_tests(values, baseline="a", name="ndcg@10", runs=kind)
    for field in ("difference", "error", "df", "p", "low", "high", "error_users", "p_users", "n"):
        assert len({getattr(one[0], field) for one in (found, other, expected)}) == 1
    assert found[0].n == N  # never runs x users
    assert found[0].error >= found[0].error_users and "for models trained anew" in str(found)


def test_paired_runs_may_be_of_several_splits():
    other = {user: {item + 1 for item in relevant} for user, relevant in TRUTH.items()}
    splits = {
        name: [system(q, 1), system(q, 2, truth=other)] for name, q in (("a", 0.2), ("b", 0.35))
    }
    paired = tl.compare(splits, baseline="a", runs="paired")
    assert paired.differences == [] and paired.test("ndcg@10")[0].n == N
    with pytest.raises(ValueError, match="other ground truths of the same sizes"):
        tl.compare(splits, baseline="a").test("ndcg@10")


def test_one_run_says_nothing_of_other_seeds(runs):
    given = {"a": runs["a"][0], "b": runs["b"]}
    mixed = tl.compare(given, baseline="a").test("ndcg@10")
    assert "ONE RUN" in str(mixed) and "says nothing of other seeds" in str(mixed)
    assert mixed[0].p != mixed[0].p


def test_clusters_are_counted_with_runs_too(runs):
    both = tl.compare(runs, baseline="a")
    found, few = (
        both.test("ndcg@10", clusters={user: i // size for i, user in enumerate(USERS)})
        for size in (3, 20)
    )
    assert "over 120 users in 40 clusters" in str(found)
    assert "and 3 independent runs of each system" in found.sentence()
    assert "clusters so few" not in str(found)
    assert "clusters so few or unequal leave 5.0 degrees of freedom" in str(few)


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
