"""tl.testing: assertions of gates."""

import pytest

import toplist as tl

TRUTH = {user: {user % 7} for user in range(700)}
BASE = tl.top_k_eval({u: [u % 7, 8] for u in TRUTH}, TRUTH, metrics=["mrr@2", "ndcg@2"])


def moved(n):
    """Return a result in which the item of n users is second."""
    lists = {u: [8, u % 7] if u < n else [u % 7, 8] for u in TRUTH}
    return tl.top_k_eval(lists, TRUTH, metrics=["mrr@2", "ndcg@2"])


def test_what_is_not_worse_passes():
    assert tl.testing.assert_not_worse(BASE, BASE, "mrr@2", margin=0.001) is None
    tl.testing.assert_not_worse(moved(40), BASE, ["mrr@2", "ndcg@2"], margin=0.05)


def test_what_is_worse_fails_with_the_printed_gate():
    new = moved(350)
    with pytest.raises(AssertionError) as caught:
        tl.testing.assert_not_worse(new, BASE, ["mrr@2", "ndcg@2"], margin=0.2, undecided="ok")
    found = tl.gate(new, BASE, {"mrr@2": 0.2, "ndcg@2": 0.2})
    assert str(caught.value) == found.to_text() and "worse than -0.2" in str(caught.value)
    assert caught.traceback[-1].frame.f_locals["__tracebackhide__"]


def test_undecided_fails_unless_it_may():
    new = moved(40)
    with pytest.raises(AssertionError, match="undecided at -0.03"):
        tl.testing.assert_not_worse(new, BASE, "mrr@2", margin=0.03)
    tl.testing.assert_not_worse(new, BASE, "mrr@2", margin=0.03, undecided="ok")


def test_segments_are_looked_at_too():
    by = {user: user < 60 for user in TRUTH}
    tl.testing.assert_not_worse(moved(60), BASE, "mrr@2", margin=0.1)
    with pytest.raises(AssertionError, match="mrr@2 of True"):
        tl.testing.assert_not_worse(moved(60), BASE, "mrr@2", margin=0.1, by=by)


def test_what_cannot_be_compared_is_no_assertion():
    with pytest.raises(ValueError, match="whole curve"):
        tl.testing.assert_not_worse(BASE, BASE, "mrr", margin=0.1)
    with pytest.raises(ValueError, match="undecided='maybe'"):
        tl.testing.assert_not_worse(BASE, BASE, "mrr@2", margin=0.1, undecided="maybe")
