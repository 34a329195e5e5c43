"""Hits made by hand, from matrices and from ranks: checked, merged and shipped."""

import math

import numpy as np
import pytest
from systems import RANKS, TRUTHS

import toplist as tl
from toplist import Hits, match, top_k_eval


def test_hits_by_hand_are_those_of_the_join():
    hits = Hits([0, 3, 5], [1, 2, 5, 1, 3], [3, 4], [5, 5])
    joined = match(RANKS, TRUTHS)
    assert repr(hits) == repr(joined) == "Hits(2 users, 5 hits, lists read to k=5)"
    assert len(hits) == 2
    assert top_k_eval(hits, k=3).to_dict() == top_k_eval(joined, k=3).to_dict()


def test_hits_with_keys():
    hits = Hits([0, 1, 1], [2], [1, 1], [2, 0], k=4, users=["ann", "bob"])
    hits = hits.of_part(n_extra=3)
    result = top_k_eval(hits, k=4, metrics="mrr")
    assert list(result.users) == ["ann", "bob"]
    assert (result["mrr@4"], result.n_missing, result.n_extra) == (0.25, 1, 3)
    with pytest.raises(ValueError, match="user 'bob' has no ranked list"):
        tl.curves("hit", hits, convention=tl.CONVENTIONS["standard"].replace(missing="raise"))


def test_hits_with_grades():
    hits = Hits([0, 1], [2], [2], [2], grades=[1], truth_grades=[3, 1])
    assert tl.curves("cg", hits).tolist() == [[0.0, 1.0]]
    best = 3 + 1 / math.log2(3)
    assert tl.ndcg(hits)[0, 1] == pytest.approx(1 / math.log2(3) / best)


def two_users(**options):
    return Hits([0, 1, 1], [2], [1, 0], [2, 1], **options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Hits([0, 1], [0], [1], [1]), r"user 0: ranks \[0\].*rise from 1"),
        (
            lambda: Hits([0, 1], [3], [1], [2]),
            r"ranks \[3\] of 1 items of the truth in a list of 2",
        ),
        (lambda: Hits([0, 2], [2, 1], [2], [3]), r"ranks \[2, 1\]"),
        (lambda: Hits([0, 2], [2, 2], [2], [3]), r"ranks \[2, 2\]"),
        (lambda: Hits([0, 0, 2], [1, 2], [1, 1], [3, 3]), r"user 1: ranks \[1, 2\] of 1 items"),
        (lambda: Hits([0, 0], [], [1], [-1]), r"list of -1"),
        (lambda: Hits([0, 1], [1], [1, 1], [1]), "disagree on the number of users"),
        (lambda: Hits([0, 1], [1], [1], [1, 1]), "disagree on the number of users"),
        (lambda: Hits([0], [1], [], []), "offsets must rise from 0 to the number of ranks"),
        (lambda: Hits([1, 1], [1], [1], [1]), "offsets must rise from 0"),
        (lambda: Hits([0, 2, 1], [1], [1, 1], [1, 1]), "offsets must rise from 0"),
        (lambda: Hits([0, 1], [1.5], [1], [2]), "ranks must be whole numbers"),
        (lambda: Hits([0, 1], [1], [math.nan], [2]), "n_truth must be whole numbers"),
        (lambda: two_users(k=1), r"user 0: ranks \[2\].*list of 2 read to k=1"),
        (lambda: two_users(k=2.5), "k must be a whole number"),
        (lambda: two_users(users=["ann"]), "1 users for 2 rows"),
        (lambda: two_users(users=["ann", "ann"]), "user 'ann'"),
        (lambda: two_users(grades=[1]), "one of them is missing"),
        (lambda: two_users(truth_grades=[1]), "one of them is missing"),
        (lambda: two_users(grades=[1, 2], truth_grades=[3]), "2 grades and 1 of truths for 1 hits"),
        (lambda: two_users(grades=[math.nan], truth_grades=[3]), "grades must be finite"),
        (lambda: two_users(grades=[1], truth_grades=[1e200]), "truth_grades must be finite"),
        (lambda: Hits([0, 0], [], [2], [0], [], [1, 3]), "truth_grades must not rise"),
        (lambda: Hits.from_matrix([0, 1], [1]), "2-D array of 0 and 1"),
        (lambda: Hits.from_matrix([[0, 2]], [1]), "2-D array of 0 and 1"),
        (lambda: Hits.from_matrix([[0, math.nan]], [1]), "2-D array of 0 and 1"),
        (lambda: Hits.from_matrix([[1, 1]], [1]), r"user 0: ranks \[1, 2\] of 1 items"),
        (lambda: Hits.from_matrix([[1, 1]], [2, 2]), "disagree on the number of users"),
        (
            lambda: Hits.from_ranks([1, 11], 10),
            r"user 1: rank 11 in a list of 10; .*0 means not listed",
        ),
        (lambda: Hits.from_ranks([-1], 10), r"user 0: rank -1"),
        (lambda: Hits.from_ranks([1.5], 10), "rank_of_the_item must be whole numbers"),
        (lambda: Hits.from_ranks([1, 2], [3, 3, 3]), "n_listed"),
    ],
)
def test_hits_are_checked(make, message):
    with pytest.raises(ValueError, match=message):
        make()


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


def test_hits_from_ranks():
    for n_listed in (10, [10, 10, 10], np.array([10, 10, 10])):
        hits = Hits.from_ranks([1, 0, 3], n_listed)
        assert hits.ranks.tolist() == [1, 3]
        assert hits.n_relevant.tolist() == [1, 1, 1]
        assert tl.mrr(hits, k=3)[:, 2].tolist() == [1.0, 0.0, 1 / 3]
    assert Hits.from_ranks([1, 0], [1, 0]).n_listed.tolist() == [1, 0]


def test_hits_merge():
    one, other = (match({user: [1, 2], "extra": []}, {user: {2}, f"{user}2": {1}}) for user in "ab")
    both = one + other
    assert list(both.users) == ["a", "a2", "b", "b2"]
    assert both.about.n_extra == 2
    assert both.offsets.tolist() == [0, 1, 1, 2, 2]
    assert both.ranks.tolist() == [2, 2]
    with pytest.raises(ValueError, match="user 'a' is in both parts"):
        one + one
    with pytest.raises(ValueError, match="Hits of k 2 and of k 3 do not merge"):
        one + match({"c": [1, 2, 3]}, {"c": {2}})
    with pytest.raises(TypeError, match="unsupported operand"):
        one + 1
